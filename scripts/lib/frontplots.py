# SPDX-License-Identifier: GPL-2.0
"""Pictures of docs/k2-front.md: bandwidth over tail latency, the front marked."""

import matplotlib
from matplotlib import ticker
from matplotlib.lines import Line2D

from claims import figure
from k2autoclaims import front, rate
from pageplots import GREY, save
from plotting import BASE, FONT, SPARE, Nothing, family, frame, \
    legend_below

# Names of points closer than this, in points, would be written over each other.
APART, APART_HIGH = 56, 11


def mark(cell):
    """A point's shape: the origin of its bound."""
    if cell["scheduler"] != "k2":
        return "X"
    if "layout" in cell["tunables"]:
        return "s"
    return "^" if cell["tunables"].get("policy", "static") != "static" else "o"


def apart(axis, places):
    """Which of these places have room for a name, in this order."""
    taken = []
    for number, place in enumerate(places):
        x, y = axis.transData.transform(place) * 72 / axis.figure.dpi
        if all(abs(x - other) > APART or abs(y - high) > APART_HIGH
               for other, high in taken):
            taken.append((x, y))
            yield number


def draw(path, cells, title):
    """A point a setting, one colour a scheduler; the front is joined."""
    cells = [cell for cell in cells if rate(cell) is not None]
    best = front(cells)
    if len(cells) < 2:
        raise Nothing("not enough was measured")
    names = [family(cell["scheduler"], cell["label"].replace(
        "iocost", "io.cost")) for cell in cells]
    known = list(dict.fromkeys(names))
    unknown = [name for name in known if name not in BASE]
    color = {name: BASE[name][0] if name in BASE else
             SPARE[unknown.index(name) % len(SPARE)][0] for name in known}
    at = {id(cell): (figure(cell, "settled_tail_s") * 1e6, rate(cell) * 1e-6)
          for cell in cells}
    with matplotlib.rc_context(FONT):
        fig = frame(8, 4.6)
        axis = fig.subplots()
        axis.set_xscale("log")
        axis.plot(*zip(*sorted(at[id(cell)] for cell in best)), color=GREY,
                  linewidth=1.0, zorder=1)
        for cell, name in zip(cells, names):
            axis.plot(*at[id(cell)], linestyle="", marker=mark(cell),
                      markersize=7, markeredgecolor=color[name],
                      # Filled: on the front
                      markerfacecolor=color[name] if cell in best else "white",
                      zorder=3 if cell in best else 2)
        for which in (axis.xaxis.set_major_formatter,
                      axis.xaxis.set_minor_formatter):
            which(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        axis.xaxis.set_minor_locator(ticker.LogLocator(10, subs=(2, 3, 5)))
        axis.set_xlabel("p99 of real-time requests, us")
        axis.set_ylabel("MB/s, all requests")
        axis.set_ylim(bottom=0)
        # Names are to the left of their points.
        axis.set_xlim(left=axis.get_xlim()[0] * 0.75)
        axis.set_title(title, loc="left")
        # Limits stand from here on: names do not move them.
        places = [at[id(cell)] for cell in best]
        for number in apart(axis, places):
            axis.annotate(best[number]["label"], places[number],
                          xytext=(-4, 5), textcoords="offset points",
                          ha="right", fontsize=8)
        legend_below(
            fig, axis, [Line2D([], [], linestyle="", marker="o",
                               color=color[name]) for name in known], known)
        save(fig, path)
