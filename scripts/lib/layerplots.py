# SPDX-License-Identifier: GPL-2.0
"""Pictures of docs/layer_read-results.md; a file each, or Nothing."""

import matplotlib
from matplotlib import ticker

import layerclaims
from claims import BANDWIDTH, figure
from pageplots import GREY, bars, color_of, save
from plotting import BASE, FONT, Nothing, frame, legend_below

MARKS = "osD^vP*X"


def curves(path, found, knob, title):
    """Throughput, and under it the gain of paper, over what is varied."""
    found = {at: values for at, values in found.items() if values}
    if len(found) < 2:
        raise Nothing("no curve was measured")
    cells = {"none": "none", "mq-deadline": "mq-deadline",
             "paper": "layer_read"}
    with matplotlib.rc_context(FONT):
        fig = frame(7, 5)
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
        legend_below(fig, low, *top.get_legend_handles_labels())
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
        fig = frame(8, 4.2)
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
        legend_below(fig, axis, *axis.get_legend_handles_labels())
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
            title = f"{one.workload}: {way}s over {one.knob}"
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

    def rows(workload, labels, ways, at, metric=None):
        found = []
        for label in labels:
            cell = table.get(workload, label + at.end, at.variant)
            for way in ways:
                spread = cell and cell["metrics"].get(
                    metric or layerclaims.METRIC[way])
                if spread:
                    found.append((cell, way, spread))
        return found
    one = {name: (layerclaims.way_of(name),) for name in layerclaims.PURE}
    both = ("read", "write")
    own, like, mixed = layerclaims.OWN, layerclaims.LIKE, layerclaims.MIXED
    yield "figure-1-7", f"Figures 1 and 7: {like.text}", {
        name: rows(name, (*layerclaims.KERNELS, "paper"), ways, like)
        for name, ways in one.items()}
    yield "figure-2", f"Figure 2, by what is sorted: {like.text}", {
        name: rows(f"sizes-{name}", [f"deadline-{sort}" for sort in
                                     layerclaims.SORTS], ways, like)
        for name, ways in one.items()}
    yield "figure-3", f"Figure 3, batches: {mixed.text}", {
        f"depth {depth}": rows(f"depth-{depth}", (
            "none", *(f"fifo-{n}" for n in layerclaims.BATCHES)), both, mixed)
        for depth in layerclaims.DEPTHS}
    yield "figure-8", f"Figure 8, 512 KiB, depth 16: {mixed.text}, and as it is", {
        f"{name}, {at.text}": rows(name, (*layerclaims.KERNELS, "paper"), both, at)
        for name in ("mix-50", "mix-70") for at in (mixed, own)}
    yield "figure-9", f"Figure 9, PostMark: {mixed.text}, and as it is", {
        f"{files} files, {at.text}": rows(f"postmark-{files}", (
            *layerclaims.KERNELS, "paper"), ("",), at, "transactions_per_s")
        for at in (mixed, own) for files in layerclaims.FILES}
