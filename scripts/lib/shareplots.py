# SPDX-License-Identifier: GPL-2.0
"""The report's pictures of runs with tenants; see reportplots.

Bandwidth and windows are those of the first seed, shares medians.
"""

import matplotlib
from matplotlib import ticker
from matplotlib.lines import Line2D
import numpy

import reportshare
from plotting import (
    BASE, FONT, RED, SPARE, Nothing, binned, clock, frame, legend_below, named,
    outer_labels, panel_frame, save)

# Of tenants, in their order: what schedulers' colours are made of
COLORS = [look[0] for look in (*BASE.values(), *SPARE)][1:]
BINS = 120


def _known(group):
    found = [(cell, cell.share) for cell in group.cells if cell.share]
    if not found:
        raise Nothing("no tenants")
    if len({tuple(share["names"]) for _, share in found}) > 1:
        raise Nothing("tenants differ")
    return found


def windows(path, group, style):
    """PV against the length of a window, a line a scheduler."""
    known = [(cell, share) for cell, share in _known(group)
             if share["windows"]]
    if not known:
        raise Nothing("too few requests for windows")
    with matplotlib.rc_context(FONT):
        fig = frame(9, 4)
        axis = fig.subplots()
        factor, unit = clock(max(row["window_s"] for _, share in known
                                 for row in share["windows"]))
        for cell, share in known:
            look = style[cell.label]
            lengths = [row["window_s"] * factor for row in share["windows"]]
            for key, line in (("pv_median", "-"), ("pv_max", ":")):
                values = [numpy.nan if row[key] is None else
                          max(row[key], 1e-3) for row in share["windows"]]
                axis.plot(lengths, values, color=look.color, linestyle=line,
                          marker=look.marker, markersize=5,
                          label=named(cell) if line == "-" else None)
        axis.axhline(0.1, color="0.5", linewidth=1, linestyle=(0, (4, 2)))
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel(f"mean length of a window, {unit}")
        axis.set_ylabel("PV")
        legend_below(fig, axis, *axis.get_legend_handles_labels())
        save(fig, path)


def course(path, group, style):
    """Each tenant's bandwidth over time, a panel a scheduler."""
    known = [(cell, share) for cell, share in _known(group)
             if any(share["rows"]) and share["period"] > 0]
    if not known:
        raise Nothing("no course over time was recorded")
    columns = min(3, len(known))
    with matplotlib.rc_context(FONT):
        rows, fig, place = panel_frame(len(known), columns, 1.8)
        outer = fig.add_gridspec(rows, columns, hspace=0.42, wspace=0.1,
                                 **place)
        longest = max(share["period"] * len(share["rows"][0])
                      for _, share in known)
        most = max(binned(row, BINS).max() for _, share in known
                   for row in share["rows"])
        factor, unit = clock(longest)
        for n, (cell, share) in enumerate(known):
            axis = fig.add_subplot(outer[n // columns, n % columns])
            for color, row in zip(COLORS, share["rows"]):
                values = binned(row, BINS) * 1e-6
                times = numpy.linspace(0, share["period"] * len(row) * factor,
                                       len(values), endpoint=False)
                axis.plot(times, values, color=color, linewidth=1.2)
            axis.set_xlim(0, longest * factor)
            axis.set_ylim(0, most * 1.06e-6 or 1)
            axis.yaxis.set_major_locator(ticker.MaxNLocator(3))
            axis.set_title(named(cell), loc="left", fontsize=10,
                           fontweight="bold", pad=3, color=RED
                           if cell.failed else style[cell.label].color)
            outer_labels(axis, n, columns, len(known), "MB/s", unit)
        fig.legend(handles=[
            Line2D([], [], color=color, lw=1.4, label=f"{name}, {weight:g}")
            for color, name, weight in zip(
                COLORS, known[0][1]["names"], known[0][1]["weights"])],
            loc="lower left", frameon=False, ncol=6, borderaxespad=0,
            bbox_to_anchor=(0.08, place["top"] + 0.32
                            / fig.get_figheight()))
        save(fig, path)


def shares(path, group, _style):
    """Shares received, one bar a scheduler, and where they are due."""
    known = [(cell, reportshare.rows(cell)) for cell, _ in _known(group)]
    known = [(cell, rows) for cell, rows in known
             if all(row[3] is not None for row in rows)]
    if not known:
        raise Nothing("nobody got anything")
    first = known[0][1]
    with matplotlib.rc_context(FONT):
        fig = frame(9, 1.4 + 0.3 * len(known))
        axis = fig.subplots()
        for n, (_, rows) in enumerate(known):
            left = 0.0
            for color, row in zip(COLORS, rows):
                axis.barh(n, row[3], 0.7, left, color=color, linewidth=0)
                left += row[3]
        due = 0.0
        for row in first[:-1]:
            due += row[2]
            axis.axvline(due, color="black", linewidth=1.2,
                         linestyle=(0, (4, 2)))
        axis.set_yticks(range(len(known)), [named(cell) for cell, _ in known])
        axis.set_ylim(len(known) - 0.4, -0.6)
        axis.set_xlim(0, 1)
        axis.xaxis.set_major_formatter(ticker.PercentFormatter(1.0))
        axis.grid(axis="y", visible=False)
        axis.set_xlabel("share of the service, in the unit charged")
        legend_below(fig, axis, [
            Line2D([], [], color=color, lw=6) for color, _ in
            zip(COLORS, first)], [f"{row[0]}, {row[1]:g}" for row in first])
        save(fig, path)
