# SPDX-License-Identifier: GPL-2.0
"""The table of results in README.md, made of what is published.

A row is one figure of one workload: of none, the kernel's schedulers, ours, and the
paper. No figure is typed but what a paper says. Below it stands, suite by suite,
which claims hold and which do not. scripts/publish-results writes it between two
lines of README.md.
"""

import re

import claims

BEGIN = "<!-- results: made by scripts/publish-results; change that, not this -->"
END = "<!-- end of results -->"
KERNELS = ("none", "mq-deadline", "kyber", "bfq")


def _mb(value):
    return f"{value / 1e6:.0f}"


def _us(value):
    return f"{value * 1e6:.0f}" if value >= 1e-5 else f"{value * 1e6:.1f}"


def _three(value):
    return f"{value:.3f}"


def _whole(value):
    return f"{value:.0f}"


# What: (words, a metric of a cell, how it is written, is less better?)
BANDWIDTH = ("MB/s", "bandwidth_bytes_per_s", _mb, False)
REAL_TIME = ("p99.9 of real-time requests, us", "latency_p99_9_s", _us, True)
READS = ("p99 of reads, us", "read_latency_p99_s", _us, True)
PV = ("PV, how far shares are off", "pv_charged", _three, True)
CPU = ("CPU ns an I/O, the submitter's included", "busy_ns_per_io", _whole, True)
# Of scripts/bench-cost, where a place is a disk and a depth
COST = ("CPU ns an I/O over none", "over_none_ns", _whole, True)

# (suite, workload.variant, in words, what, {column: label of its cell}, the paper)
# A column that is not named has the cell of its own name.
ROWS = (
    ("k2", "rand-read.half-read", "random readers beside real-time work",
     REAL_TIME, {"ours": "k2-1"}, "none 3251, K2-1 217"),
    ("k2", "rand-read.half-read", "the same, at bound 1", BANDWIDTH,
     {"ours": "k2-1"}, "none 566, K2-1 44"),
    ("k2-auto", "op-rand-read.e-op", "the same on another drive, bound 16 and "
     "a map of its chips", REAL_TIME, {"ours": "k2-16-map"}, ""),
    ("k2-auto", "op-rand-read.e-op", "the same", BANDWIDTH,
     {"ours": "k2-16-map"}, ""),
    ("piq", "tail.chip-bound", "deep random reads, map known", BANDWIDTH,
     {"ours": "piq"}, ""),
    ("piq", "mixed.chip-bound", "70/30 reads and writes, map known", READS,
     {"ours": "piq"}, ""),
    ("piq", "mixed.chip-bound", "the same", BANDWIDTH, {"ours": "piq"}, ""),
    ("layer_read", "mix-50.d", "reads among as many writes, 512 KiB", READS,
     {"ours": "layer_read"}, ""),
    ("layer_read", "mix-50.d", "the same", BANDWIDTH, {"ours": "layer_read"},
     ""),
    ("share", "mix-125.d", "acfq: three tenants, weights 1:2:5", PV,
     {"bfq": "bfq-noidle", "ours": "acfq"}, ""),
    ("share", "mix-125.d", "hbfq: the same", PV,
     {"bfq": "bfq-noidle", "ours": "hbfq"}, ""),
    ("share", "same-4k.d", "acfq: four tenants, 4 KiB reads", BANDWIDTH,
     {"bfq": "bfq-noidle", "ours": "acfq"}, ""),
    ("share", "same-4k.d", "hbfq: the same", BANDWIDTH,
     {"bfq": "bfq-noidle", "ours": "hbfq"}, ""),
    ("share", "cost-4k.d", "acfq: four tenants", CPU, {"ours": "acfq"}, ""),
    ("share", "cost-4k.d", "hbfq: four tenants", CPU, {"ours": "hbfq"}, ""),
    *(("cost", f"null.{depth}", f"4 KiB random reads, depth {depth}", COST,
       {"ours": name}, "")
      for depth in (1, 32) for name in ("k2", "piq", "layer_read")),
)


def figure(summary, place, label, what):
    """A cell's figure; None if there is none."""
    workload, variant = place.split(".", 1)
    if what is COST:
        return claims.over_none(summary, workload, label, int(variant))
    for cell in (summary or {}).get("cells") or ():
        if (cell.get("workload"), cell.get("variant"), cell.get("label")) == (
                workload, variant, label) and \
                not cell["cell"].endswith(".x1"):
            return ((cell.get("metrics") or {}).get(what[1]) or {}).get(
                "median")
    return None


def row(spec, found, command):
    """A line of the table; None if we have no figure of it."""
    suite, place, words, what, labels, paper = spec
    values = {column: figure(found.get(suite), place,
                             labels.get(column, column), what)
              for column in (*KERNELS, "ours")}
    if values["ours"] is None:
        return None
    best = (min if what[3] else max)(
        value for value in values.values() if value is not None)
    shown = [("–" if value is None else what[2](value))
             for value in values.values()]
    # The best figure stands out, whoever's it is.
    shown = [f"**{text}**" if value == best else text
             for text, value in zip(shown, values.values())]
    name = labels["ours"]
    return "| " + " | ".join((
        words, what[0], *shown, f"`{name}`", paper,
        f"[{suite}](docs/results/{suite}.json), `{command}`")) + " |"


def verdicts(suite, summary, command):
    """A line of the table of claims; None if the suite has none."""
    rows = [claim for claim in (summary or {}).get("claims") or ()
            if isinstance(claim, dict)]
    if not rows:
        return None

    def names(verdict):
        return ", ".join(str(claim["id"]) for claim in rows
                         if claim.get("holds") is verdict) or "–"
    return "| " + " | ".join((
        suite, names(True), names(False), names(None),
        f"[{suite}](docs/results/{suite}.json), `{command}`")) + " |"


def table(found, command):
    """The lines between BEGIN and END.

    found: what publish.load() gives; command: a function, of a part's name.
    """
    rows = [line for spec in ROWS
            if (line := row(spec, found, command(spec[0])))]
    yield "Simulated drives, virtual time: the same command gives the same " \
        "figures. bfq of the rows on shares has `slice_idle` 0. **Bold**: " \
        "the best of a row, so a row without it under *ours* is one that we " \
        "lose. –: not measured. What the workloads are stands in " \
        "`tests/suites`, and with every other figure on " \
        "[the page](docs/results/index.html)."
    yield ""
    yield "| what | figure | none | mq-deadline | kyber | bfq | ours | who | " \
        "the paper's | file, command |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    yield from rows
    yield ""
    yield "What the papers claim and what we set ourselves, by the names " \
        "that the page gives it:"
    yield ""
    yield "| suite | holds | does not hold | not judged | file, command |"
    yield "|---|---|---|---|---|"
    for suite, summary in found.items():
        line = verdicts(suite, summary, command(suite))
        if line:
            yield line


def put(text, lines):
    """README's text with these lines; ValueError if it has no place for them."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or \
            text.index(BEGIN) > text.index(END):
        raise ValueError(f"README.md: want one line '{BEGIN}', and one "
                         f"'{END}' after it")
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: "\n".join(
        (BEGIN, "", *lines, "", END)), text, flags=re.S)
