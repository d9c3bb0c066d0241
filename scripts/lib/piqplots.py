# SPDX-License-Identifier: GPL-2.0
"""Pictures of docs/piq-results.md."""

import statistics

import matplotlib
from matplotlib import ticker
from matplotlib.lines import Line2D

import piqclaims
import standin
from pageplots import GREY, save
from plotting import BASE, FONT, SPARE, frame, legend_below, shade

PIQ = BASE["piq"][0]
# Of a piece's figures those that the paper has
LOADED = (("read_latency_mean_s", "mean read latency"),
          ("write_latency_mean_s", "mean write latency"),
          ("busy_chips", "busy chips"))


def mean(cells, metric, label, end):
    """The mean change against rws over a set of inputs; None if there is none."""
    found = [change for name, change in piqclaims.counted(
        cells.changes(metric, label, "rws")[0]).items()
        if standin.set_of(name) == end]
    return statistics.fmean(found) if found else None


def means(path, cells, sets):
    """The paper's five means beside ours."""
    bars = [("the paper", GREY, lambda metric: piqclaims.GAINS[metric][1])]
    for number, (end, title) in enumerate(sets):
        for place, (label, text) in enumerate((
                ("piq", ""), ("piq-overlap", ", batch_overlap"))):
            bars.append((title + text, shade(SPARE[0][0] if number else PIQ,
                                             place - 0.5),
                         lambda metric, label=label, end=end:
                         mean(cells, metric, label, end)))
    with matplotlib.rc_context(FONT):
        fig = frame(9, 3.6)
        axis = fig.subplots()
        for number, (_, color, of) in enumerate(bars):
            known = [(at, value) for at, metric in enumerate(piqclaims.GAINS)
                     if (value := of(metric)) is not None]
            axis.bar([at + (number - len(bars) / 2) * 0.16 for at, _ in known],
                     [value for _, value in known], 0.15, color=color, align="edge")
        axis.axhline(0, color=GREY, linewidth=0.8)
        axis.yaxis.set_major_formatter(ticker.PercentFormatter(1.0, decimals=0))
        axis.set_xticks(range(len(piqclaims.GAINS)), [
            name.replace(" by ", "\nby ") for name, _ in piqclaims.GAINS.values()])
        axis.grid(axis="x", visible=False)
        axis.set_ylabel("change against rws")
        legend_below(fig, axis, [Line2D([], [], color=color, lw=6)
                                 for _, color, _ in bars],
                     [text for text, _, _ in bars])
        save(fig, path)


def loads(path, pieces):
    """Pieces of real traces at rising load, a panel a figure of the paper."""
    with matplotlib.rc_context(FONT):
        fig = frame(10, 3.8)
        panels = fig.subplots(1, len(LOADED))
        paper = dict(zip(LOADED, (piqclaims.GAINS[key][1] for key in (
            "read_latency_mean_s", "write_latency_mean_s", "utilisation_milli"))))
        styles = [(PIQ, "P"), *(one[:2] for one in SPARE)]
        for panel, (key, title) in zip(panels, LOADED):
            for (name, found), (color, marker) in zip(pieces.items(), styles):
                panel.plot([int(load) for load in found],
                           [one["piq"][key] / one["rws"][key] - 1
                            for one in found.values()],
                           color=color, marker=marker, label=name)
            panel.axhline(paper[key, title], color=GREY, linestyle="--",
                          label="the paper")
            panel.axhline(0, color=GREY, linewidth=0.8)
            panel.set_xscale("log")
            panel.xaxis.set_major_formatter(ticker.FormatStrFormatter("%d"))
            panel.yaxis.set_major_formatter(ticker.PercentFormatter(1.0, decimals=0))
            panel.set_title(title, loc="left")
            panel.set_xlabel("times the trace's speed")
        fig.tight_layout()
        legend_below(fig, panels[1], *panels[0].get_legend_handles_labels())
        save(fig, path)


def draw(folder, measured, pieces, sets):
    """[(file, caption)] of what could be drawn."""
    made = []
    folder.mkdir(parents=True, exist_ok=True)
    if measured:
        means(folder / "means.svg", measured, sets)
        made.append(("means.svg", "The paper's means, and ours on both sets of inputs"))
    if pieces:
        loads(folder / "loads.svg", pieces)
        made.append(("loads.svg", "Pieces of real traces at rising load"))
    return made
