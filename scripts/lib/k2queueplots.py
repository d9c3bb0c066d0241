# SPDX-License-Identifier: GPL-2.0
"""The picture of K2 beside a short device queue: percentiles over the bound and the jobs."""

import re

import matplotlib
from matplotlib import ticker

from claims import figure, percentile_name
from k2queueclaims import BOUND, BOUNDS, LOADS
from pageplots import save
from plotting import BASE, FONT, Nothing, frame, legend_below

# The jobs beside which x varies
MANY = 16
PERCENTILES = ("p50", "p95", "p99", "p99_9")
MAP_COLOR = "#56b4e9"
# (name, pattern of its labels, colour, marker, line): the group in the pattern is x
LINES = (("K2-x", r"k2-(\d+)", BASE["k2"][0], "o", "-"),
         ("K2-x with a map", r"k2-(\d+)-map", MAP_COLOR, "D", "-"),
         ("none, device queue of x", r"none-q(\d+)", *BASE["none"]),
         ("mq-deadline, device queue of x", r"mq-deadline-q(\d+)", *BASE["mq-deadline"]))


JOBS = {load: jobs for jobs, load in LOADS.items()}
# (title, value of what stays, name of what varies, its values)
ROWS = ((f"{MANY} jobs", MANY, "x", BOUNDS),
        (f"x = {BOUND}", BOUND, "best-effort jobs", tuple(LOADS)))


def points(cells, pattern, name, row):
    """[(x or number of jobs, us)] of the cells of a row and of a label's pattern, in order."""
    found = []
    for cell in cells:
        match = re.fullmatch(pattern, cell["label"])
        value = figure(cell, f"latency_{name}_s")
        if not match or value is None or cell["workload"] not in JOBS:
            continue
        varies, stays = int(match[1]), JOBS[cell["workload"]]
        if row == 1:
            varies, stays = stays, varies
        if stays == ROWS[row][1]:
            found.append((varies, value * 1e6))
    return sorted(found)


def draw(path, cells, title):
    """A row of panels over x and one over the jobs, in each a panel for each percentile."""
    panels = [name for name in PERCENTILES if any(
        points(cells, line[1], name, row) for line in LINES for row in range(len(ROWS)))]
    if not panels:
        raise Nothing("no percentile")
    with matplotlib.rc_context(FONT):
        fig = frame(2.6 * len(panels) + 0.8, 6.2)
        rows = fig.subplots(len(ROWS), len(panels), sharex="row", sharey=True,
                            squeeze=False, gridspec_kw={"hspace": 0.45})
        for row, (row_title, _, varies, values) in enumerate(ROWS):
            for axis, name in zip(rows[row], panels):
                axis.set_xscale("log", base=2)
                axis.set_yscale("log")
                for label, pattern, color, marker, line in LINES:
                    found = points(cells, pattern, name, row)
                    axis.plot([x for x, _ in found], [y for _, y in found], label=label,
                              color=color, marker=marker, markersize=5, linestyle=line)
                axis.set_xticks(values)
                axis.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:g}"))
                axis.xaxis.set_minor_locator(ticker.NullLocator())
                axis.yaxis.set_major_locator(ticker.LogLocator(10, subs=(1, 2, 5)))
                axis.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:g}"))
                axis.yaxis.set_minor_locator(ticker.NullLocator())
                axis.set_title(f"{percentile_name(name)}, {row_title}", loc="left")
                axis.set_xlabel(varies)
            rows[row][0].set_ylabel("latency, us")
        fig.suptitle(title, x=0.02, ha="left", fontsize=11, y=0.97)
        legend_below(fig, rows[-1][len(panels) // 2],
                     *rows[0][0].get_legend_handles_labels(), columns=2)
        save(fig, path)
