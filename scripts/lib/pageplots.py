# SPDX-License-Identifier: GPL-2.0
"""Pictures of pages of results; a file each, or Nothing.

SVG: text, so that a change shows, and the same figures make the same file.
"""

import io

import matplotlib
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from plotting import BASE, FONT, Nothing, frame, legend_below, shade

GREY = "0.35"
# Direction: how a bar is filled
HATCH = {"read": None, "write": "//"}


def save(fig, path):
    """Writes it."""
    raw = io.StringIO()
    with matplotlib.rc_context({**FONT, "svg.hashsalt": "flash-iosched"}):
        fig.savefig(raw, bbox_inches="tight", pad_inches=0.12, format="svg",
                    facecolor="white", metadata={"Date": None})
    head, _, rest = raw.getvalue().partition("\n")
    path.write_text(f"{head}\n<!-- SPDX-License-Identifier: GPL-2.0 -->\n"
                    f"{rest}", encoding="utf-8")


def color_of(cell, number, count):
    """A scheduler's colour; its settings are shades."""
    base = BASE.get(cell["scheduler"], (GREY,))[0]
    return base if count < 2 else shade(base, 2 * number / (count - 1) - 1)


def bars(path, groups, title, unit="MB/s", scale=1e-6, log=False):
    """A group of bars a workload, a bar a label and direction.

    groups: {name: [(cell, direction or "", {median, min, max})]}. log: a logarithmic axis.
    """
    groups = {name: rows for name, rows in groups.items() if rows}
    if not groups:
        raise Nothing("nothing measured")
    labels = {}
    for rows in groups.values():
        for cell, _, _ in rows:
            labels.setdefault(cell["label"], cell)
    by = {}
    for label, cell in labels.items():
        by.setdefault(cell["scheduler"], []).append(label)
    colors = {label: color_of(cell, by[cell["scheduler"]].index(label),
                              len(by[cell["scheduler"]]))
              for label, cell in labels.items()}
    with matplotlib.rc_context(FONT):
        fig = frame(max(6.0, 1.2 + 0.26 * sum(map(len, groups.values()))),
                    3.4)
        axis = fig.subplots()
        ticks, at = [], 0.0
        for name, rows in groups.items():
            first = at
            for cell, way, spread in rows:
                middle = spread["median"] * scale
                axis.bar(at, middle, 0.86, color=colors[cell["label"]],
                         hatch=HATCH.get(way), edgecolor="white", linewidth=0,
                         yerr=[[middle - spread["min"] * scale],
                               [spread["max"] * scale - middle]]
                         if spread["min"] < spread["max"] else None)
                at += 1
            ticks.append(((first + at - 1) / 2, name))
            at += 1
        axis.set_xticks([x for x, _ in ticks], [name for _, name in ticks])
        axis.grid(axis="x", visible=False)
        if log:
            axis.set_yscale("log")
        axis.set_ylabel(unit)
        axis.set_title(title, loc="left")
        handles = [Line2D([], [], color=colors[label], lw=6)
                   for label in labels]
        names = list(labels)
        if any(way == "write" for rows in groups.values()
               for _, way, _ in rows) and any(
                   way == "read" for rows in groups.values()
                   for _, way, _ in rows):
            handles.append(Patch(
                facecolor=GREY, hatch="//", edgecolor="white"))
            names.append("hatched: writes")
        legend_below(fig, axis, handles, names)
        save(fig, path)
