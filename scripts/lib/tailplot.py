# SPDX-License-Identifier: GPL-2.0
"""The picture in README.md: K2's tail against bandwidth, beside none's.

Drawn by scripts/publish-results from the form baselines of suite k2-auto in
docs/results: random readers at full speed and a real-time reader every 0.1 ms. The
`none` line has the same drive with a shorter device queue, which needs no scheduler.
"""

import re

import matplotlib
from matplotlib import ticker

from claims import figure
from k2autoclaims import rate
from pageplots import save
from plotting import BASE, FONT, Nothing, frame

SUITE, FORM, PLACE = "k2-auto", "baselines", ("pareto", "e")
MAP_COLOR = "#56b4e9"
# (label, pattern of its cells, colour, marker, line): the group in the pattern is the
# number at the point.
LINES = (
    ("none with a device queue of n", r"none(?:-qd(\d+))?", BASE["none"][0], "s",
     BASE["none"][2]),
    ("k2, bound n", r"k2-(\d+)", BASE["k2"][0], "o", "-"),
    ("k2, bound n, chip map", r"k2-(\d+)-map", MAP_COLOR, "D", "-"),
)
POINTS = (("mq-deadline, bfq", "mq-deadline"), ("kyber", "kyber"),
          ("bfq, slice_idle 0", "bfq-noidle"), ("io.cost, low targets", "iocost-e-low"))


def cells_of(published):
    """{label: cell} of the load; {} if the form is not published."""
    return {cell["label"]: cell
            for data in published.values()
            if (data.get("suite"), data.get("form")) == (SUITE, FORM)
            for run in data["made_of"] for cell in run["cells"]
            if (cell["workload"], cell["variant"]) == PLACE
            and figure(cell, "settled_tail_s") and rate(cell)}


def draw(path, cells):
    """Writes the picture; Nothing if a line has fewer than two points."""
    if "none" not in cells:
        raise Nothing("no cell of none")
    full = rate(cells["none"])

    def at(cell):
        return rate(cell) / full * 100, figure(cell, "settled_tail_s") * 1e6
    with matplotlib.rc_context(FONT):
        fig = frame(7.6, 4.2)
        axis = fig.subplots()
        axis.set_yscale("log")
        for label, pattern, color, marker, line in LINES:
            found = sorted(((at(cell), match[1] or "") for name, cell in
                            cells.items() if (match := re.fullmatch(pattern, name))),
                           key=lambda one: int(one[1] or 1024))
            if len(found) < 2:
                raise Nothing(f"{label}: fewer than two settings")
            axis.plot(*zip(*(place for place, _ in found)), color=color,
                      marker=marker, markersize=5, linestyle=line, label=label)
            below = marker == "o"
            for place, number in found:
                axis.annotate(number, place, xytext=(4, -11) if below else (-4, 5),
                              textcoords="offset points", fontsize=8, color=color,
                              ha="left" if below else "right")
        for label, name in POINTS:
            if name in cells:
                place = at(cells[name])
                axis.plot(*place, linestyle="", marker="X", markersize=7,
                          color=BASE["bfq"][0])
                left = place[0] < 50
                axis.annotate(label, place, xytext=(7 if left else -7, -3),
                              textcoords="offset points", fontsize=8,
                              ha="left" if left else "right",
                              va="top" if name == "bfq-noidle" else "baseline")
        axis.yaxis.set_major_locator(ticker.LogLocator(10, subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(
            ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_locator(ticker.NullLocator())
        axis.set_xlim(0, 110)
        axis.set_ylim(70, 4500)
        axis.set_xlabel("bandwidth of all requests, % of none's")
        axis.set_ylabel("p99 of real-time reads, us")
        axis.legend(loc="upper left", frameon=False)
        save(fig, path)
