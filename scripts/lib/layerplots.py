# SPDX-License-Identifier: GPL-2.0
"""Pictures of docs/layer_read-results.md; a file each, or Nothing.

SVG: text, so that a change shows, and the same figures make the same file.
"""

import io

import matplotlib
from matplotlib import ticker
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

import layerclaims
from claims import BANDWIDTH
from piqclaims import figure
from reportplots import (
    BASE, FONT, Nothing, _figure, _legend_below, _shade)

GREY = "0.35"
# Direction: how a bar is filled
HATCH = {"read": None, "write": "//"}
MARKS = "osD^vP*X"


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
    return base if count < 2 else _shade(base, 2 * number / (count - 1) - 1)


def bars(path, groups, title, unit="MB/s", scale=1e-6):
    """A group of bars a workload, a bar a label and direction.

    groups: {name: [(cell, direction or "", {median, min, max})]}.
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
        fig = _figure(max(6.0, 1.2 + 0.26 * sum(map(len, groups.values()))),
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
        _legend_below(fig, axis, handles, names)
        save(fig, path)


def curves(path, found, knob, title):
    """Throughput, and under it the gain of paper, over what is varied."""
    found = {at: values for at, values in found.items() if values}
    if len(found) < 2:
        raise Nothing("no curve was measured")
    cells = {"none": "none", "mq-deadline": "mq-deadline",
             "paper": "layer_read"}
    with matplotlib.rc_context(FONT):
        fig = _figure(7, 5)
        top, low = fig.subplots(2, 1, sharex=True,
                                height_ratios=[3, 2])
        places = list(range(len(found)))
        for label, scheduler in cells.items():
            color, marker, line = BASE[scheduler]
            known = [(x, values[label] * 1e-6) for x, values in
                     zip(places, found.values()) if label in values]
            if known:
                top.plot(*zip(*known), color=color, marker=marker,
                         linestyle=line, label=label)
        for base in ("none", "mq-deadline"):
            known = [(x, values["paper"] / values[base] - 1) for x, values in
                     zip(places, found.values())
                     if "paper" in values and values.get(base)]
            if known:
                low.plot(*zip(*known), color=BASE[base][0],
                         marker=BASE[base][1], linestyle=BASE[base][2])
        low.axhline(0, color=GREY, linewidth=0.8)
        low.yaxis.set_major_formatter(ticker.PercentFormatter(1.0))
        top.set_ylabel("MB/s")
        low.set_ylabel("paper over it")
        top.set_ylim(bottom=0)
        # Not to scale: values double, and zero is among them.
        low.set_xticks(places, [str(at) for at in found])
        low.set_xlabel(knob)
        top.set_title(title, loc="left")
        _legend_below(fig, low, *top.get_legend_handles_labels())
        save(fig, path)


def tails(path, cells, title):
    """The reads' tail against throughput, a point a setting."""
    known = [(cell, figure(cell, BANDWIDTH),
              figure(cell, "read_latency_p99_s")) for cell in cells]
    known = [row for row in known if None not in row]
    if not known:
        raise Nothing("no tail was measured")
    by = {}
    for cell, *_ in known:
        by.setdefault(cell["scheduler"], []).append(cell["label"])
    with matplotlib.rc_context(FONT):
        fig = _figure(8, 4.2)
        axis = fig.subplots()
        for cell, rate, wait in known:
            labels = by[cell["scheduler"]]
            number = labels.index(cell["label"])
            axis.plot(rate * 1e-6, wait * 1e3, linestyle="",
                      color=color_of(cell, number, len(labels)),
                      marker=MARKS[number % len(MARKS)], markersize=8,
                      label=cell["label"])
        axis.set_yscale("log")
        for which in (axis.yaxis.set_major_formatter,
                      axis.yaxis.set_minor_formatter):
            which(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_xlabel("MB/s, reads and writes")
        axis.set_ylabel("read p99, ms")
        axis.set_title(title, loc="left")
        _legend_below(fig, axis, *axis.get_legend_handles_labels())
        save(fig, path)


def draw(folder, paper, default):
    """[(file, caption)] of what could be drawn; folder is made if so."""
    made = []

    def picture(name, caption, function, *args):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            function(folder / f"{name}.svg", *args)
        except Nothing:
            return
        made.append((f"{name}.svg", caption))
    for name, title, groups in figures(paper["cells"]) if paper else ():
        unit = {"unit": "transactions a second", "scale": 1} \
            if name == "figure-9" else {}
        picture(name, title, lambda path, g=groups, t=title, u=unit:
                bars(path, g, t, **u))
    for name, one in layerclaims.CURVES.items():
        for way in one.ways if paper else ():
            title = f"{one.workload}: {way}s over {one.knob}" + "".join(
                f", {key} {value}" for key, value in one.held)
            picture(f"curve-{name}-{way}", title, curves,
                    layerclaims.curve(paper["cells"], name, way), one.knob,
                    title)
    places = list(dict.fromkeys(
        (cell["workload"], cell["variant"]) for cell in default["cells"]
        if cell["workload"].startswith("mix-"))) if default else ()
    for workload, variant in places:
        title = f"{workload}, {variant}: the reads' tail"
        picture(f"tail-{workload}-{variant}", title, tails, [
            cell for cell in default["cells"]
            if (cell["workload"], cell["variant"]) == (workload, variant)],
            title)
    return made


def figures(cells):
    """(file, title, groups for bars()) of the paper's figures."""
    table = layerclaims.Table(cells)

    def rows(workload, labels, ways, metric=None):
        found = []
        for label in labels:
            cell = table.get(workload, label, layerclaims.DRIVE)
            for way in ways:
                spread = cell and cell["metrics"].get(
                    metric or layerclaims.METRIC[way])
                if spread:
                    found.append((cell, way, spread))
        return found
    one = {name: (layerclaims.way_of(name),) for name in layerclaims.PURE}
    both = ("read", "write")
    yield "figure-1-7", "Figures 1 and 7", {
        name: rows(name, (*layerclaims.KERNELS, "paper", "auto"), ways)
        for name, ways in one.items()}
    yield "figure-2", "Figure 2: by what is sorted", {
        name: rows(f"sizes-{name}", [f"deadline-{sort}" for sort in
                                     layerclaims.SORTS], ways)
        for name, ways in one.items()}
    yield "figure-3", "Figure 3: batches", {
        f"depth {depth}": rows(f"depth-{depth}", (
            "none", "mq-deadline", *(f"fifo-{n}" for n in
                                     layerclaims.BATCHES), "paper"), both)
        for depth in layerclaims.DEPTHS}
    yield "figure-8", "Figure 8: 512 KiB, depth 16", {
        name: rows(name, (*layerclaims.KERNELS, "paper", "auto"), both)
        for name in ("mix-50", "mix-70")}
    yield "figure-9", "Figure 9: PostMark", {
        f"{files} files": rows(f"postmark-{files}", (
            *layerclaims.KERNELS, "paper"), ("",), "transactions_per_s")
        for files in layerclaims.FILES}
