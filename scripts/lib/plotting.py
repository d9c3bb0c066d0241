# SPDX-License-Identifier: GPL-2.0
"""The common parts of all pages' pictures: colours, frames, legends."""

import io

import matplotlib
matplotlib.use("Agg")
# Not pyplot: it keeps each figure until it is closed, and there are many.
from matplotlib import colors, figure  # noqa: E402
import numpy  # noqa: E402
from PIL import Image  # noqa: E402

# Okabe and Ito's palette, its yellow darkened: that is for black ground.
BASE = {
    "none": ("#4d4d4d", "s", (0, (4, 2))),
    "mq-deadline": ("#e69f00", "^", (0, (6, 1.5, 1.5, 1.5))),
    "kyber": ("#009e73", "v", (0, (3, 1))),
    "bfq": ("#d55e00", "D", (0, (5, 1, 1, 1, 1, 1))),
    "k2": ("#0072b2", "o", "-"),
    "piq": ("#cc79a7", "P", "-"),
    "layer_read": ("#882255", "X", "-"),
    "acfq": ("#a89a00", "p", "-"),
    "hbfq": ("#7f4f24", "h", "-"),
    "io.cost": ("#7a5195", "*", (0, (2, 1))),
}
SPARE = (("#2f7f7f", ">", (0, (1, 1))), ("#b04a6a", "d", (0, (1, 1))),
         ("#6b6b00", "<", (0, (1, 1))), ("#5b6ea8", "H", (0, (1, 1))))
RED = "#b3261e"
FONT = {"font.size": 10, "axes.titlesize": 11, "axes.labelsize": 10,
        "xtick.labelsize": 9, "ytick.labelsize": 9, "legend.fontsize": 9,
        "axes.spines.top": False, "axes.spines.right": False,
        "axes.grid": True, "grid.color": "0.9", "grid.linewidth": 0.8,
        "axes.axisbelow": True, "svg.fonttype": "none"}
DPI = 120


class Nothing(Exception):
    """This picture would be empty; the text says why."""


def named(cell):
    """Its label; what failed a check has to show that everywhere."""
    return f"{cell.label} (failed)" if cell.failed else cell.label


def family(scheduler, label):
    """The scheduler with a label's colour; io.cost is no scheduler, but drawn as one."""
    if "io.cost" not in label:
        return scheduler
    return "io.cost" if scheduler == "none" else f"{scheduler} + io.cost"


def shade(color, place):
    """place from -1 (lighter) to 1 (darker)."""
    rgb = numpy.array(colors.to_rgb(color))
    # Not far: it has to stand out from white, and from black text.
    target, weight = (1.0, -0.5 * place) if place < 0 else (0.0, 0.5 * place)
    return colors.to_hex(rgb + (target - rgb) * weight)


def frame(width, height):
    with matplotlib.rc_context(FONT):
        return figure.Figure(figsize=(width, height), dpi=DPI)


def save(fig, path, palette=True):
    """A palette makes a third of the file, and the page holds dozens; a heat
    map uses up its 256 colours and would take those of the texts away."""
    raw = io.BytesIO()
    with matplotlib.rc_context(FONT):
        # Tight: what stands outside the axes is never cut.
        fig.savefig(raw, dpi=DPI, bbox_inches="tight", pad_inches=0.12,
                    facecolor="white", format="png")
    picture = Image.open(raw).convert("RGB")
    if palette:
        picture = picture.quantize(256, method=Image.Quantize.MEDIANCUT,
                                   dither=Image.Dither.NONE)
    picture.save(path, optimize=True)


def legend_below(fig, axis, handles, labels, gap=0.5, columns=4):
    """Legend under the axes; `gap` inches below them."""
    height = fig.get_figheight() * axis.get_position().height
    axis.legend(handles, labels, loc="upper center", frameon=False,
                bbox_to_anchor=(0.5, -gap / height), ncol=columns,
                borderaxespad=0, handlelength=2.6, columnspacing=1.4)


def binned(values, bins):
    """Means of `bins` equal parts of the rows, if there are more rows."""
    values = numpy.asarray(values, dtype=float)
    if len(values) <= bins:
        return values
    edges = numpy.linspace(0, len(values), bins + 1).astype(int)
    return numpy.array([values[a:b].mean(axis=0)
                        for a, b in zip(edges[:-1], edges[1:])])


def panel_frame(count, columns, row_inches):
    """(rows, figure, where its panels stand, as gridspec takes it)."""
    rows = -(-count // columns)
    height = rows * row_inches + 0.7
    return rows, frame(9.2, height), {
        "left": 0.08, "right": 0.98, "bottom": 0.1 / height,
        "top": 1 - 0.6 / height}


def outer_labels(axis, n, columns, count, down, across):
    """Panel n of `count` has labels only where no other one is in between."""
    axis.tick_params(labelleft=n % columns == 0,
                     labelbottom=n + columns >= count)
    if n % columns == 0:
        axis.set_ylabel(down)
    if n + columns >= count:
        axis.set_xlabel(across)


def clock(longest):
    """(factor, unit) for an axis of seconds."""
    return (1.0, "s") if longest >= 1 else (1e3, "ms")
