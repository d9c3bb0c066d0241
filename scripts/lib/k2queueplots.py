# SPDX-License-Identifier: GPL-2.0
"""The picture of K2 beside a short device queue: percentiles over the bound."""

import re

import matplotlib
from matplotlib import ticker

from claims import figure, percentile_name
from k2queueclaims import BOUNDS
from pageplots import save
from plotting import BASE, FONT, Nothing, frame, legend_below

PERCENTILES = ("p50", "p95", "p99", "p99_9")
MAP_COLOR = "#56b4e9"
# (name, pattern of its labels, colour, marker, line): the group in the pattern is x
LINES = (("K2-x", r"k2-(\d+)", BASE["k2"][0], "o", "-"),
         ("K2-x with a map", r"k2-(\d+)-map", MAP_COLOR, "D", "-"),
         ("none, device queue of x", r"none-q(\d+)", *BASE["none"]),
         ("mq-deadline, device queue of x", r"mq-deadline-q(\d+)", *BASE["mq-deadline"]))


def points(cells, pattern, name):
    """[(x, us)] of the cells whose label matches, by x."""
    found = [(int(match[1]), figure(cell, f"latency_{name}_s")) for cell in cells
             if (match := re.fullmatch(pattern, cell["label"]))]
    return sorted((x, value * 1e6) for x, value in found if value is not None)


def draw(path, cells, title):
    """A panel for each percentile that was measured, a line for each scheduler."""
    panels = [name for name in PERCENTILES
              if any(points(cells, line[1], name) for line in LINES)]
    if not panels:
        raise Nothing("no percentile")
    with matplotlib.rc_context(FONT):
        fig = frame(2.6 * len(panels) + 0.8, 3.2)
        axes = fig.subplots(1, len(panels), sharex=True, sharey=True, squeeze=False)[0]
        for axis, name in zip(axes, panels):
            axis.set_xscale("log", base=2)
            axis.set_yscale("log")
            for label, pattern, color, marker, line in LINES:
                found = points(cells, pattern, name)
                axis.plot([x for x, _ in found], [y for _, y in found], label=label,
                          color=color, marker=marker, markersize=5, linestyle=line)
            axis.set_xticks(BOUNDS)
            axis.xaxis.set_major_formatter(ticker.FuncFormatter(lambda x, _: f"{x:g}"))
            axis.yaxis.set_major_locator(ticker.LogLocator(10, subs=(1, 2, 5)))
            axis.yaxis.set_major_formatter(ticker.FuncFormatter(lambda y, _: f"{y:g}"))
            axis.yaxis.set_minor_locator(ticker.NullLocator())
            axis.set_title(percentile_name(name), loc="left")
            axis.set_xlabel("x")
        axes[0].set_ylabel("latency, us")
        fig.suptitle(title, x=0.02, ha="left", fontsize=11, y=1.02)
        legend_below(fig, axes[len(panels) // 2], *axes[0].get_legend_handles_labels(),
                     columns=2)
        save(fig, path)
