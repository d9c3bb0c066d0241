# SPDX-License-Identifier: GPL-2.0
"""The pictures of scripts/report.

Each function draws one picture of one group (a workload in a setting, see
report.py) into a file, or raises Nothing with the reason why there is none.
"""

import collections
import math

import matplotlib
from matplotlib import ticker
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
import numpy

from plotting import (
    BASE, FONT, RED, SPARE, Nothing, binned, clock, family, frame, legend_below,
    named, outer_labels, panel_frame, save, shade)

TAILS = ("p99_9", "p99", "p95", "p90", "p50", "mean")
TIME_BINS = 240
# Writes beside reads.
DOTS = (0, (1.5, 0.8))


def percentile_name(key):
    """p99_9 as people write it."""
    return key.replace("_", ".") if key != "mean" else "mean"


# --- colours ----------------------------------------------------------------

Style = collections.namedtuple("Style", "color marker line")


def styles(pairs):
    """{label: Style} for all (scheduler, label) of the page.

    Made once for all pictures: a label looks the same in each of them, and
    the labels of a scheduler are shades of one colour, in the order given.
    """
    families = {}
    for scheduler, label in pairs:
        families.setdefault(family(scheduler, label), {})[label] = None
    unknown = sorted(name for name in families if name not in BASE)
    found = {}
    for name, labels in families.items():
        color, marker, line = BASE[name] if name in BASE else \
            SPARE[unknown.index(name) % len(SPARE)]
        for n, label in enumerate(labels):
            # Two need not be as far apart as seven.
            reach = min(1.0, 0.25 * (len(labels) - 1))
            place = 0 if not reach else \
                reach * (2 * n / (len(labels) - 1) - 1)
            found[label] = Style(shade(color, place), marker, line)
    return found


# --- axes -------------------------------------------------------------------

def _duration(value, _=None):
    """Seconds as a tick says them."""
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")):
        if value * factor >= 0.9995:
            return f"{value * factor:.3g} {unit}"
    return "0"


def _time_axis(axis, low, high):
    """A log axis of latencies; `axis` is an XAxis or a YAxis."""
    decades = math.log10(high / low)
    # One decade, or less, would show a single label at the powers alone.
    subs = (1.0,) if decades > 3 else (1.0, 3.0) if decades > 1.3 else \
        (1.0, 2.0, 5.0) if decades > 0.5 else (1.0, 1.5, 2, 3, 4, 5, 6, 8)
    axis.set_major_locator(ticker.LogLocator(10, subs=subs, numticks=20))
    axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(ticker.FuncFormatter(_duration))


def _time_range(values):
    """Limits around latencies for a log axis. Never narrow: differences of a
    few percent shall look like that."""
    middle = math.sqrt(min(values) * max(values))
    reach = max(1.4, math.sqrt(max(values) / min(values)) * 1.2)
    return middle / reach, middle * reach


def tail_key(group):
    """The farthest percentile that every scheduler has."""
    for key in TAILS:
        has = [cell.stat(key) is not None for cell in group.cells]
        if any(has) and all(
                found or cell.stat("mean") is None
                for found, cell in zip(has, group.cells)):
            return key
    return None


def _errors(stats, scale=1.0):
    """Distances for errorbar()."""
    return numpy.array([[(s.median - s.low) * scale for s in stats],
                        [(s.high - s.median) * scale for s in stats]])


def _overlap(a, b):
    """Area that two boxes (x0, y0, x1, y1) share."""
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    return width * height if width > 0 and height > 0 else 0.0


def _distances(points, others):
    """The distance of each point to the nearest of the others."""
    if not len(points) or not len(others):
        return numpy.full(len(points), math.inf)
    return numpy.sqrt(((points[:, None, :] - others[None, :, :]) ** 2)
                      .sum(axis=2)).min(axis=1)


# Pixels between the points that stand for a line.
STEP = 5.0


def densified(points):
    """Points on the line through these pixels, STEP apart."""
    found = [points[:1]]
    for (x0, y0), (x1, y1) in zip(points[:-1], points[1:]):
        count = int(min(400, math.hypot(x1 - x0, y1 - y0) / STEP)) + 1
        found.append(numpy.column_stack([
            numpy.linspace(x0, x1, count + 1)[1:],
            numpy.linspace(y0, y1, count + 1)[1:]]))
    dense = numpy.vstack(found)
    # In places curves have far more points than pixels.
    kept = [dense[0]]
    for point in dense[1:]:
        if math.hypot(*(point - kept[-1])) >= STEP * 0.9:
            kept.append(point)
    return numpy.array(kept)


class Placer:
    """Finds room for texts among points and lines of one axes.

    matplotlib has nothing for this; the first free place in order of
    preference is good enough for two dozen texts.
    """

    def __init__(self, fig, axis, size):
        fig.draw_without_rendering()
        self.axis = axis
        self.unit = fig.dpi / 72
        self.size = size
        box = axis.get_window_extent()
        self.limits = (box.x0, box.y0, box.x1, box.y1)
        self.taken = []
        self.obstacles = numpy.empty((0, 2))

    def pixels(self, xs, ys):
        """Data to pixels."""
        return self.axis.transData.transform(
            numpy.column_stack([xs, ys]).astype(float))

    def data(self, x, y):
        """A pixel to data. Texts are placed in data: saving a figure without
        its margins moves all pixels."""
        return tuple(self.axis.transData.inverted().transform((x, y)))

    def avoid(self, points):
        """Pixels better left uncovered."""
        self.obstacles = numpy.vstack([self.obstacles, points])

    def avoid_line(self, points):
        """Pixels along a line through these points, better left uncovered."""
        self.avoid(densified(points))

    def extent(self, text):
        """Width and height in pixels."""
        longest = max(map(len, text.split("\n")))
        return ((0.62 * longest * self.size + 3) * self.unit,
                (1.25 * self.size * (text.count("\n") + 1)) * self.unit)

    def cost(self, x, y, text):
        """(how bad a text centred at this pixel is, its box)."""
        width, height = self.extent(text)
        box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
        inside = ((self.obstacles[:, 0] > box[0])
                  & (self.obstacles[:, 0] < box[2])
                  & (self.obstacles[:, 1] > box[1])
                  & (self.obstacles[:, 1] < box[3])).sum()
        shared = sum(_overlap(box, other) for other in self.taken)
        return 3 * inside + 2 * shared + 50 * self.beyond(box), box

    def beyond(self, box):
        """By how many pixels a box leaves the axes."""
        limits = self.limits
        return (max(0, limits[0] - box[0]) + max(0, box[2] - limits[2])
                + max(0, limits[1] - box[1]) + max(0, box[3] - limits[3]))

    def beside(self, x, y, text, color, weight="normal"):
        """A label near this pixel, with a line to it if it is not close."""
        width, height = self.extent(text)
        best = None
        for radius in (6, 9, 14, 21, 30, 42, 56):
            for step in range(16):
                angle = (step * 67.5 + 45) % 360 * math.pi / 180
                dx, dy = math.cos(angle), math.sin(angle)
                px = x + dx * (radius * self.unit + width / 2)
                py = y + dy * (radius * self.unit + height / 2)
                bad, box = self.cost(px, py, text)
                bad += 0.25 * radius
                if best is None or bad < best[0]:
                    best = (bad, px, py, box, radius)
        _, px, py, box, radius = best
        self.taken.append(box)
        self.axis.annotate(
            text, self.data(x, y), xytext=self.data(px, py),
            textcoords="data", ha="center", va="center",
            fontsize=self.size, color=color, fontweight=weight, zorder=9,
            arrowprops=None if radius < 14 else {
                "arrowstyle": "-", "color": color, "lw": 0.7,
                "shrinkA": 0, "shrinkB": 3, "alpha": 0.7}).set_in_layout(False)

    def on_line(self, points, text, color, others):
        """A label along the line through these pixels, where the points of
        `others` are far. Along it: lines of one bundle run side by side, and
        a level text would cover all of them."""
        own = densified(points)
        width, height = self.extent(text)
        reach = max(1, int(width / 2 / STEP))
        best = None
        for n in range(0, len(own), 3):
            first, last = own[max(0, n - reach)], own[min(len(own) - 1,
                                                          n + reach)]
            along = last - first
            length = math.hypot(*along)
            if length < 1:
                continue
            along = along / length
            middle = (first + last) / 2
            centres = middle + along * numpy.linspace(
                -width / 2, width / 2, 9)[:, None]
            near = _distances(others, centres) < 0.6 * height
            shared = sum((_distances(centres, other) < height).sum()
                         for other in self.taken)
            low, high = centres.min(axis=0), centres.max(axis=0)
            pad = height / 2
            bad = near.sum() + 20 * shared + 50 * self.beyond(
                (low[0] - pad, low[1] - pad, high[0] + pad, high[1] + pad))
            # Text is straight, the line perhaps not.
            away = own[n] - middle
            bad += 2 * abs(along[0] * away[..., 1] - along[1] * away[..., 0]) \
                + abs(width - length)
            # The upper half of the picture is where one looks first.
            bad += 4 * abs((middle[1] - self.limits[1])
                           / (self.limits[3] - self.limits[1]) - 0.65)
            if best is None or bad < best[0]:
                best = (bad, middle, along, centres)
        if best is None:
            return
        _, middle, along, centres = best
        self.taken.append(centres)
        angle = math.degrees(math.atan2(along[1], along[0]))
        self.axis.annotate(
            text, self.data(*middle), ha="center", va="center",
            rotation=(angle + 90) % 180 - 90, rotation_mode="anchor",
            fontsize=self.size, color=color, fontweight="bold", zorder=9,
            bbox={"boxstyle": "square,pad=0.05", "facecolor": "white",
                  "edgecolor": "none", "alpha": 0.9}).set_in_layout(False)


# --- overview ---------------------------------------------------------------

Panel = collections.namedtuple("Panel", "key title unit scale bars")


def _panels(group):
    found = []
    if any(cell.stat("bandwidth") for cell in group.cells):
        found.append(Panel("bandwidth", "Bandwidth", "MB/s", 1e-6, True))
    key = tail_key(group)
    if key:
        found.append(Panel(key, f"Latency, {percentile_name(key)}",
                           group.latency_of, 1.0, False))
    if any(cell.stat("cpu_ns") for cell in group.cells):
        found.append(Panel("cpu_ns", "CPU per I/O", "µs", 1e-3, True))
    return found


def overview(path, group, style):
    """Bandwidth, tail latency and CPU time of all schedulers."""
    panels = _panels(group)
    if len(group.cells) < 2:
        raise Nothing("one scheduler only")
    if not panels:
        raise Nothing("no figures")
    cells = group.cells
    with matplotlib.rc_context(FONT):
        fig = frame(9, 1.5 + 0.3 * len(cells))
        axes = fig.subplots(1, len(panels), sharey=True, squeeze=False,
                            gridspec_kw={"wspace": 0.12})[0]
        places = numpy.arange(len(cells))
        for axis, panel in zip(axes, panels):
            _overview_panel(axis, group, panel, style)
            axis.set_ylim(len(cells) - 0.4, -0.6)
            axis.grid(axis="y", visible=False)
            axis.tick_params(axis="y", length=0)
        axes[0].set_yticks(places, [named(cell) for cell in cells])
        for text, cell in zip(axes[0].get_yticklabels(), cells):
            text.set_color(RED if cell.failed else "black")
        save(fig, path)


def _overview_panel(axis, group, panel, style):
    known = [(n, cell, cell.stat(panel.key))
             for n, cell in enumerate(group.cells) if cell.stat(panel.key)]
    for n, cell, stat in known:
        look = style[cell.label]
        middle = stat.median * panel.scale
        # One run has no range; a whisker of no length would claim one.
        error = _errors([stat], panel.scale) if stat.count > 1 else None
        if panel.bars:
            axis.barh(n, middle, 0.68, color=look.color,
                      hatch="///" if cell.failed else None,
                      edgecolor="white", linewidth=0)
            if error is None:
                continue
        axis.errorbar(middle, n, xerr=error, fmt="none" if panel.bars
                      else look.marker, color="0.15" if panel.bars
                      else look.color, markersize=6, elinewidth=1.4,
                      capsize=4)
    for n, cell in enumerate(group.cells):
        if not cell.stat(panel.key):
            axis.annotate("–", (0, n), xycoords=("axes fraction", "data"),
                          xytext=(6, 0), textcoords="offset points",
                          va="center", color="0.4")
    base = next((stat for _, cell, stat in known if cell.label == "none"),
                None)
    if base:
        axis.axvline(base.median * panel.scale, color="0.3", linewidth=1,
                     linestyle=(0, (4, 2)), zorder=0.9)
    axis.set_title(panel.title, loc="left", fontweight="bold")
    if panel.bars:
        axis.set_xlim(left=0)
        axis.xaxis.set_major_locator(ticker.MaxNLocator(4))
        axis.set_xlabel(panel.unit)
        return
    low, high = _time_range([s for _, _, stat in known
                             for s in (stat.low, stat.high) if s > 0] or [1])
    axis.set_xscale("log")
    axis.set_xlim(low, high)
    _time_axis(axis.xaxis, low, high)
    # Words such as "300 µs" are wide, and this is a third of the page.
    kept = []
    for tick in axis.xaxis.get_major_locator()():
        if low <= tick <= high and (not kept or math.log(tick / kept[-1])
                                    > 0.2 * math.log(high / low)):
            kept.append(tick)
    axis.xaxis.set_major_locator(ticker.FixedLocator(kept))
    axis.set_xlabel(f"{panel.unit}, log scale")


# --- latency distribution ---------------------------------------------------

def _curve(cell):
    """Median, low, high latency on a common grid of -log10(1 - q)."""
    curves = []
    for points in cell.cdfs:
        known = {}
        for quantile, latency in points:
            if 0 <= quantile < 1 and latency > 0:
                known[-math.log10(1 - quantile)] = math.log10(latency)
        if len(known) > 1:
            ys = sorted(known)
            curves.append((numpy.array(ys),
                           numpy.array([known[y] for y in ys])))
    if not curves:
        return None
    first = max(ys[0] for ys, _ in curves)
    last = min(ys[-1] for ys, _ in curves)
    grid = numpy.unique(numpy.concatenate([ys for ys, _ in curves]))
    grid = grid[(grid >= first) & (grid <= last)]
    if len(grid) < 2:
        return None
    rows = 10 ** numpy.array([numpy.interp(grid, ys, xs)
                              for ys, xs in curves])
    return (grid, numpy.median(rows, axis=0), rows.min(axis=0),
            rows.max(axis=0))


def cdf(path, group, style):
    """Latency against the share of requests that took longer."""
    known = [(cell, _curve(cell)) for cell in group.cells]
    known = [(cell, curve) for cell, curve in known if curve is not None]
    if not known:
        raise Nothing("no latency distribution was recorded")
    with matplotlib.rc_context(FONT):
        fig = frame(8, 5.2)
        axis = fig.subplots()
        axis.set_position([0.1, 0.1, 0.88, 0.82])
        for n, (cell, curve) in enumerate(known):
            _cdf_line(axis, cell, curve, style[cell.label],
                      n - (len(known) - 1) / 2)
        low, high = _time_range([x for _, curve in known for x in
                                 (curve[2].min(), curve[3].max())])
        axis.set_xscale("log")
        axis.set_xlim(low, high)
        _time_axis(axis.xaxis, low, high)
        top = max(curve[0][-1] for _, curve in known)
        axis.set_ylim(0, top * 1.04)
        ticks = [0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999]
        ticks = [q for q in ticks if -math.log10(1 - q) <= top * 1.04]
        axis.set_yticks([-math.log10(1 - q) for q in ticks],
                        [f"{100 * q:.6g} %" for q in ticks])
        axis.set_xlabel(f"{group.latency_of}, log scale")
        axis.set_ylabel("requests that were as fast, tail stretched")
        axis.set_title(f"Latency: {group.workload}", loc="left",
                       fontweight="bold")
        handles, labels = axis.get_legend_handles_labels()
        legend_below(fig, axis, handles, labels)
        placer = Placer(fig, axis, 8.5)
        lines = [placer.pixels(curve[1], curve[0]) for _, curve in known]
        dense = [densified(points) for points in lines]
        for n, (cell, _) in enumerate(known):
            others = dense[:n] + dense[n + 1:] or [numpy.empty((0, 2))]
            placer.on_line(lines[n], cell.label, style[cell.label].color,
                           numpy.vstack(others))
        save(fig, path)


def _cdf_line(axis, cell, curve, look, place):
    grid, middle, low, high = curve
    # Beyond this fewer than 50 samples a run are left.
    solid = math.log10(max(cell.latency_count, 50) / 50) \
        if cell.latency_count else grid[-1]
    firm = grid <= solid
    firm[:1] = True
    axis.plot(middle[firm], grid[firm], color=look.color, linewidth=1.8,
              linestyle=look.line, label=cell.label)
    thin = ~firm
    if thin.any():
        thin[max(0, int(firm.sum()) - 1)] = True
        axis.plot(middle[thin], grid[thin], color=look.color, linewidth=1,
                  linestyle=":", alpha=0.8)
    for quantile in (0.5, 0.9, 0.99, 0.999):
        # A little apart, or the whiskers of all would be drawn as one.
        y = 0.022 * place - math.log10(1 - quantile)
        if not grid[0] <= y <= min(grid[-1], max(solid, grid[0])):
            continue
        x, x0, x1 = (10 ** numpy.interp(y, grid, numpy.log10(row))
                     for row in (middle, low, high))
        if x1 > x0:
            axis.errorbar(x, y, xerr=[[max(0, x - x0)], [max(0, x1 - x)]],
                          fmt="none", color=look.color, elinewidth=1.4,
                          capsize=2.5)


# --- trade-off --------------------------------------------------------------

def front(points):
    """The points (bandwidth, latency) that no other one beats in both."""
    best, found = math.inf, []
    for bandwidth, latency in sorted(points, key=lambda p: (-p[0], p[1])):
        if latency < best:
            found.append((bandwidth, latency))
            best = latency
    return found[::-1]


def tradeoff(path, group, style):
    """Tail latency against bandwidth; swept schedulers are lines."""
    key = tail_key(group)
    known = [(cell, cell.stat("bandwidth"), cell.stat(key))
             for cell in group.cells
             if key and cell.stat("bandwidth") and cell.stat(key)
             and cell.stat(key).low > 0]
    if len(known) < 2:
        raise Nothing("it takes two schedulers with bandwidth and latency")
    sweeps = {}
    for entry in known:
        cell = entry[0]
        sweeps.setdefault((family(cell.scheduler, cell.label),
                           tuple(sorted(cell.tunables))), []).append(entry)
    with matplotlib.rc_context(FONT):
        fig = frame(8, 5.4)
        axis = fig.subplots()
        axis.set_position([0.1, 0.1, 0.88, 0.82])
        axis.set_yscale("log")
        low, high = _time_range([v for _, _, s in known
                                 for v in (s.low, s.high) if v > 0])
        axis.set_ylim(low, high)
        _time_axis(axis.yaxis, low, high)
        widest = max(b.high for _, b, _ in known) * 1e-6
        narrow = min(b.low for _, b, _ in known) * 1e-6
        margin = 0.09 * (widest - narrow) or 0.1 * widest or 1
        axis.set_xlim(max(0, narrow - margin), widest + margin)
        for (name, tunables), sweep in sweeps.items():
            _sweep(axis, name, tunables, sweep, style)
        points = front([(b.median * 1e-6, s.median) for cell, b, s in known
                        if not cell.failed])
        if len(points) > 1:
            axis.plot([p[0] for p in points], [p[1] for p in points],
                      color="0.8", linewidth=8, zorder=0.95,
                      solid_capstyle="round", solid_joinstyle="round",
                      label="Pareto front")
        axis.set_xlabel("bandwidth of all jobs, MB/s (more is better)")
        axis.set_ylabel(f"{percentile_name(key)} of {group.latency_of}, log "
                        "scale\n(less is better)")
        axis.set_title(f"Trade-off: {group.workload}", loc="left",
                       fontweight="bold")
        handles, labels = axis.get_legend_handles_labels()
        legend_below(fig, axis, handles, labels)
        _tradeoff_labels(fig, axis, sweeps, style)
        save(fig, path)


def _by_value(entry):
    """Sorts a sweep by the values of its tunables."""
    key = []
    for _, value in sorted(entry[0].tunables.items()):
        try:
            key.append((0, float(value), ""))
        except ValueError:
            key.append((1, 0.0, value))
    return key


def _sweep(axis, name, tunables, sweep, style):
    """Points that differ in the values of some tunables only: a line."""
    sweep.sort(key=_by_value)
    middle = style[sweep[len(sweep) // 2][0].label]
    label = sweep[0][0].label if len(sweep) == 1 else \
        f"{name}: {', '.join(tunables) or 'several'}"
    if len(sweep) > 1 and tunables:
        axis.plot([b.median * 1e-6 for _, b, _ in sweep],
                  [s.median for _, _, s in sweep], color=middle.color,
                  linewidth=1.6, linestyle=middle.line, zorder=2)
    for n, (cell, bandwidth, latency) in enumerate(sweep):
        look = style[cell.label]
        axis.errorbar(
            bandwidth.median * 1e-6, latency.median,
            xerr=_errors([bandwidth], 1e-6) if bandwidth.count > 1 else None,
            yerr=_errors([latency]) if latency.count > 1 else None,
            fmt=look.marker, color=look.color, markersize=7, capsize=2,
            elinewidth=1, zorder=3,
            markerfacecolor="white" if cell.failed else look.color,
            label=label if n == len(sweep) // 2 else None)


def short(name, cell):
    """The label of a point in a sweep: the limit of k2-8."""
    values = [str(value) for value in cell.tunables.values()]
    if len(values) == 1 and values[0] in cell.label:
        return values[0]
    rest = cell.label[len(name):].lstrip("-_ ") \
        if cell.label.startswith(name) else cell.label
    return rest or cell.label


def _tradeoff_labels(fig, axis, sweeps, style):
    placer = Placer(fig, axis, 8.5)
    texts = []
    for (name, tunables), sweep in sweeps.items():
        pixels = placer.pixels([b.median * 1e-6 for _, b, _ in sweep],
                               [s.median for _, _, s in sweep])
        if len(sweep) > 1 and tunables:
            placer.avoid_line(pixels)
        for (cell, bandwidth, latency), (x, y) in zip(sweep, pixels):
            placer.avoid_line(placer.pixels(
                [bandwidth.low * 1e-6, bandwidth.high * 1e-6],
                [latency.median] * 2))
            placer.avoid_line(placer.pixels(
                [bandwidth.median * 1e-6] * 2, [latency.low, latency.high]))
            around = numpy.array([(dx, dy) for dx in (-5, 0, 5)
                                  for dy in (-5, 0, 5)]) * placer.unit
            placer.avoid(around + (x, y))
            texts.append((x, y, cell.label if len(sweep) == 1
                          else short(name, cell),
                          style[cell.label].color, cell.failed))
    for x, y, text, color, failed in texts:
        placer.beside(x, y, text + (" (failed)" if failed else ""),
                      RED if failed else shade(color, 0.35), "bold")


# --- over time --------------------------------------------------------------

def series(path, group, style):
    """Bandwidth over time, a panel a scheduler, GC copies below it."""
    known = [(cell, cell.series) for cell in group.cells if cell.series]
    if not known:
        raise Nothing("no course over time was recorded")
    collects = any(max(s["gc_copies"], default=0) > 0 for _, s in known)
    columns = min(3, len(known))
    with matplotlib.rc_context(FONT):
        rows, fig, place = panel_frame(len(known), columns,
                                       2.6 if collects else 1.8)
        outer = fig.add_gridspec(rows, columns, hspace=0.3 if collects
                                 else 0.42, wspace=0.1, **place)
        base = next((s for cell, s in known if cell.label == "none"), None)
        limits = _series_limits(known)
        factor, unit = clock(limits[0])
        for n, (cell, data) in enumerate(known):
            inner = outer[n // columns, n % columns].subgridspec(
                2 if collects else 1, 1, height_ratios=[1.9, 1][:1 + collects],
                hspace=0.14)
            axes = [fig.add_subplot(inner[k]) for k in range(1 + collects)]
            _series_panel(axes, cell, data, base, style, factor)
            first, last = n % columns == 0, n + columns >= len(known)
            for axis, text, limit in zip(
                    axes, ("MB/s", "copies/s"), limits[1:]):
                axis.set_xlim(0, limits[0] * factor)
                axis.set_ylim(0, limit * 1.06 or 1)
                axis.yaxis.set_major_locator(ticker.MaxNLocator(3))
                axis.yaxis.set_major_formatter(ticker.FuncFormatter(_counts))
                axis.xaxis.set_major_locator(
                    ticker.MaxNLocator(4, prune="upper"))
                axis.tick_params(labelleft=first, labelbottom=False)
                if first:
                    axis.set_ylabel(text)
            fig.align_ylabels(axes)
            axes[-1].tick_params(labelbottom=last)
            if last:
                axes[-1].set_xlabel(unit)
        _series_legend(fig, known, base, collects, place["top"])
        save(fig, path)


def _counts(value, _=None):
    """A tick of copies or MB/s: 20k."""
    return f"{value / 1e6:g}M" if value >= 1e6 else \
        f"{value / 1e3:g}k" if value >= 1e4 else f"{value:g}"


def _total(data):
    return binned(numpy.asarray(data["read_bytes_per_s"]) * 1e-6
                   + numpy.asarray(data["write_bytes_per_s"]) * 1e-6,
                   TIME_BINS)


def _copies(data):
    """Copies a second."""
    return binned(data["gc_copies"], TIME_BINS) / data["period_s"]


def _series_limits(known):
    return (max(s["t_s"][-1] for _, s in known) or 1,
            max(_total(s).max() for _, s in known),
            max(_copies(s).max() for _, s in known))


def _series_panel(axes, cell, data, base, style, factor):
    look = style[cell.label]
    times = binned(data["t_s"], TIME_BINS) * factor
    if base is not None and base is not data:
        axes[0].plot(binned(base["t_s"], TIME_BINS) * factor, _total(base),
                     color="0.72", linewidth=1)
    for key, line in (("read_bytes_per_s", "-"), ("write_bytes_per_s", DOTS)):
        values = numpy.asarray(data[key]) * 1e-6
        if values.max() > 0:
            axes[0].plot(times, binned(values, TIME_BINS), color=look.color,
                         linewidth=1.4, linestyle=line)
    axes[0].set_title(named(cell),
                      loc="left", fontsize=10, fontweight="bold", pad=3,
                      color=RED if cell.failed else shade(look.color, 0.35))
    if len(axes) > 1:
        axes[1].fill_between(times, _copies(data), color=look.color,
                             alpha=0.75, linewidth=0)


def _series_legend(fig, known, base, collects, top):
    """The meaning of the kinds of lines; the panels carry the names."""
    handles = []
    for key, line, text in (("read_bytes_per_s", "-", "reads"),
                            ("write_bytes_per_s", DOTS, "writes")):
        if any(max(data[key]) > 0 for _, data in known):
            handles.append(Line2D([], [], color="0.2", lw=1.4, ls=line,
                                  label=text))
    if base is not None:
        handles.append(Line2D([], [], color="0.72", lw=1,
                              label="none, reads and writes"))
    if collects:
        handles.append(Patch(color="0.5", label="copies by the device's "
                             "garbage collection"))
    fig.legend(handles=handles, loc="lower left", frameon=False,
               ncol=len(handles), borderaxespad=0, bbox_to_anchor=(
                   0.08, top + 0.32 / fig.get_figheight()))


# --- chips ------------------------------------------------------------------

def chips(path, group, style):
    """How busy each chip was over time, a panel a scheduler."""
    known = [(cell, cell.chips) for cell in group.cells if cell.chips]
    if not known:
        raise Nothing("the chips were not recorded")
    columns = min(3, len(known))
    with matplotlib.rc_context(FONT):
        rows, fig, place = panel_frame(len(known), columns, 1.8)
        axes = fig.subplots(rows, columns, squeeze=False, gridspec_kw={
            "hspace": 0.42, "wspace": 0.1, **place})
        ends = [data["period_s"] * len(data["busy_permille"])
                for _, data in known]
        factor, unit = clock(max(ends))
        picture = None
        for n, axis in enumerate(axes.flat):
            if n >= len(known):
                axis.set_visible(False)
                continue
            cell, data = known[n]
            busy = binned(data["busy_permille"], TIME_BINS).T / 10
            picture = axis.imshow(
                busy, aspect="auto", origin="lower", cmap="cividis",
                vmin=0, vmax=100, interpolation="nearest",
                extent=(0, ends[n] * factor, -0.5, len(busy) - 0.5))
            axis.grid(False)
            axis.set_xlim(0, max(ends) * factor)
            axis.yaxis.set_major_locator(
                ticker.MaxNLocator(4, integer=True))
            axis.xaxis.set_major_locator(ticker.MaxNLocator(4, prune="upper"))
            axis.set_title(
                named(cell), loc="left", fontsize=10, fontweight="bold",
                pad=3, color=RED if cell.failed
                else shade(style[cell.label].color, 0.35))
            axis.set_title(f"{busy.mean():.0f} %", loc="right", fontsize=9,
                           pad=3, color="0.3")
            outer_labels(axis, n, columns, len(known), "chip", unit)
        # Of one size in inches, however many rows there are.
        height = fig.get_figheight()
        bar = fig.colorbar(picture, cax=fig.add_axes(
            [1.0, place["top"] - 1.5 / height, 0.016, 1.5 / height]))
        bar.set_label("busy share, %")
        bar.outline.set_visible(False)
        save(fig, path, palette=False)


# --- cost -------------------------------------------------------------------

def cost(path, disk, panels, style):
    """CPU time over none, a panel a depth: (depth, ns of none, {label:
    Stat}) each."""
    labels = list(dict.fromkeys(label for _, _, entries in panels
                                for label in entries))
    if not labels:
        raise Nothing("no scheduler beside none")
    with matplotlib.rc_context(FONT):
        fig = frame(9, 1.6 + 0.3 * len(labels))
        axes = fig.subplots(1, len(panels), sharey=True, squeeze=False,
                            gridspec_kw={"wspace": 0.12})[0]
        for axis, (depth, base, entries) in zip(axes, panels):
            for n, label in enumerate(labels):
                found = entries.get(label)
                if found is None:
                    axis.annotate(
                        "–", (0, n), xycoords=("axes fraction", "data"),
                        xytext=(6, 0), textcoords="offset points",
                        va="center", color="0.4")
                    continue
                axis.barh(n, found.median, 0.68, color=style[label].color)
                axis.errorbar(found.median, n, xerr=_errors([found]),
                              fmt="none", color="0.15", elinewidth=1.4,
                              capsize=3)
            if "fifo" in entries:
                axis.axvline(entries["fifo"].median, color="0.3",
                             linewidth=1, linestyle=(0, (4, 2)), zorder=0.9)
            axis.axvline(0, color="0.3", linewidth=1)
            axis.set_ylim(len(labels) - 0.4, -0.6)
            axis.tick_params(axis="y", length=0)
            axis.grid(axis="y", visible=False)
            axis.xaxis.set_major_locator(ticker.MaxNLocator(4))
            axis.set_title(f"depth {depth}" + (
                f", none: {base:.0f} ns" if base is not None else ""),
                loc="left", fontsize=10)
            axis.set_xlabel("ns an I/O over none" if base is not None
                            else "ns an I/O")
        axes[0].set_yticks(range(len(labels)), labels)
        axes[0].annotate(
            f"CPU time of an I/O: {disk}", (0, 1), xycoords="axes fraction",
            xytext=(0, 24), textcoords="offset points", fontsize=11,
            fontweight="bold")
        save(fig, path)
