# SPDX-License-Identifier: GPL-2.0
"""The short table in README.md: what each scheduler gains and costs.

Every figure is read from docs/results; only the words are typed. A row without any
published figure is left out. scripts/publish-results writes the table between BEGIN
and END; tests/host/test_readme.py fails if README.md has another one.

`published` is {name of a file in docs/results: its content}, see summary.py.
"""

import re

import summary

BEGIN = "<!-- results: made by scripts/publish-results; change that, not this -->"
END = "<!-- end of results -->"
NOTHING = "Not published yet."
# Kernels, and the depths of their figures
SERIES = {"6.12": (1, 32), "7.3": (32,), "6.1": (32,)}


MEDIAN = ("median of real-time requests, us", "latency_p50_s", summary.us, True)
# Each of four tenants has the same load.
LIKE_LOADS = ("same-4k", "deep-4k", "even-4k", "same-prn", "cost-4k")


def percent(share):
    """A share as text."""
    return f"{share * 100:.0f} %"


class Missing(Exception):
    """A figure that a row needs is not published."""


def value(published, suite, place, label, what):
    """A figure of the longest published form of a suite; Missing.

    The form is chosen as summary.row() does it, so both tables agree.
    """
    found = [(summary.rank(suite, one, place, label), figure)
             for one in summary.sources(suite, published)
             if (figure := summary.figure(one[2], place, label, what)) is not None]
    if not found:
        raise Missing(f"{suite} {place} {label}")
    return max(found, key=lambda one: one[0])[1]


class Figures:
    """Formatted figures of what is published."""

    def __init__(self, published):
        self.published = published

    def get(self, suite, place, label, what):
        """A figure; Missing."""
        return value(self.published, suite, place, label, what)

    def text(self, suite, place, label, what):
        """A figure as text."""
        return what[2](self.get(suite, place, label, what))

    def share(self, suite, place, labels, what):
        """The first label's figure over the second's."""
        ours, other = (self.get(suite, place, label, what) for label in labels)
        return ours / other

    def cost(self, label):
        """A table column for each kernel: instructions an I/O at each depth."""
        columns = []
        for series, depths in SERIES.items():
            found = []
            for depth in depths:
                try:
                    found.append(self.text("cost", f"{series}/null.{depth}",
                                           label, summary.COST))
                except Missing:
                    found.append("–")
            columns.append(", ".join(found))
        return columns


def _k2(figures, label):
    """(gain, bandwidth left) of k2 with a bound."""
    place = "k2-auto", "pareto.e"
    tail = [figures.text(*place, name, summary.SETTLED)
            for name in ("none", label)]
    rate = figures.share(*place, (label, "none"), summary.SETTLED_BANDWIDTH)
    return f"real-time read p99 {tail[0]} to {tail[1]} us", \
        f"{percent(rate)}"


def k2_bound(figures):
    """k2 with a bound of 8 requests."""
    return _k2(figures, "k2-8")


def k2_map(figures):
    """k2 with a bound of 16 requests and the map of the chips."""
    return _k2(figures, "k2-16-map")


def _shares(figures, label):
    """(gain, bandwidth left) of a scheduler that keeps shares."""
    off = [figures.text("share", "mix-125.d", name, summary.PV)
           for name in ("bfq-noidle", label)]
    rates = [figures.share("share", f"{load}.d", (label, "none"),
                           summary.BANDWIDTH) for load in LIKE_LOADS]
    return f"share error {off[0]} (bfq) to {off[1]}", \
        f"{min(rates) * 100:.0f} to {percent(max(rates))}"


def acfq(figures):
    """acfq with three tenants, and with four equal ones."""
    return _shares(figures, "acfq")


def hbfq(figures):
    """hbfq with the same loads."""
    return _shares(figures, "hbfq")


def layer_read(figures):
    """layer_read with as many reads as writes, beside mq-deadline."""
    place = "layer_read", "mix-50.d"
    tail = [figures.get(*place, name, summary.READS) * 1e3
            for name in ("mq-deadline", "layer_read")]
    rate = figures.share(*place, ("layer_read", "mq-deadline"),
                         summary.BANDWIDTH)
    return f"read p99 {tail[0]:.1f} (mq-deadline) to {tail[1]:.1f} ms", \
        f"{percent(rate)}"


def piq(figures):
    """piq with the map of the chips."""
    both = [figures.text("piq", "mixed.chip-bound", name, summary.BANDWIDTH)
            for name in ("none", "piq")]
    rate = figures.share("piq", "tail.chip-bound", ("piq", "none"),
                         summary.BANDWIDTH)
    return f"70/30 reads and writes {both[0]} to {both[1]} MB/s", \
        f"{percent(rate)} (deep reads)"


def queue(figures):
    """k2 beside the same bound set as the device's queue, which needs no scheduler."""
    place = "k2-auto", "pareto.e"
    tail = figures.text(*place, "none-qd8", summary.SETTLED)
    middle = [figures.text(*place, name, MEDIAN) for name in ("none-qd8", "k2-8")]
    return f"Without k2, a drive limited to 8 requests has p99 {tail} us and median " \
        f"{middle[0]} us (k2: {middle[1]}), beside three jobs."


# (first column, figures of gain and bandwidth, label of the costs)
ROWS = (
    ("k2, bound 8", k2_bound, "k2"),
    ("k2, bound 16, chip map", k2_map, None),
    ("acfq", acfq, "acfq"),
    ("hbfq", hbfq, "hbfq"),
    ("layer_read", layer_read, "layer_read"),
    ("piq, chip map", piq, "piq layout set"),
    ("piq, no map", None, "piq"),
    ("mq-deadline", None, "mq-deadline"),
    ("bfq", None, "bfq"),
)


def table(published):
    """The lines between BEGIN and END."""
    figures = Figures(published)
    rows = []
    for name, words, label in ROWS:
        both = ("", "")
        if words:
            try:
                both = words(figures)
            except Missing:
                both = ("–", "–")
        costs = figures.cost(label) if label else [""] * len(SERIES)
        if set("".join((*both, *costs))) & set("0123456789"):
            rows.append("| " + " | ".join((name, *both, *costs)) + " |")
    if not rows:
        yield NOTHING
        return
    yield "| | gain | bandwidth left | CPU, " + " | CPU, ".join(SERIES) + " |"
    yield "|---|---|---|" + "---|" * len(SERIES)
    yield from rows
    try:
        said = queue(figures)
    except Missing:
        return
    yield ""
    yield said


def put(text, lines):
    """README's text with these lines; ValueError if it has no place for them."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or \
            text.index(BEGIN) > text.index(END):
        raise ValueError(f"README.md: want one line '{BEGIN}', and one "
                         f"'{END}' after it")
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: "\n".join(
        (BEGIN, "", *lines, "", END)), text, flags=re.S)
