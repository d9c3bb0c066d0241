# SPDX-License-Identifier: GPL-2.0
"""The claims about Layer_Read, compared with measured cells. Pure functions.

paper(): the Layer_Read paper's sections III and V, on suite layer_read-paper.
default(): what mode auto has to do, on suite layer_read. cost(): what it may
cost the CPU, on a summary of scripts/bench-cost.
"""

import re
from dataclasses import dataclass

import claims
from claims import BANDWIDTH, NOISE, figure
from piqclaims import Table, percent, ratio, told

DRIVE = "b"
PURE = ("seq-read", "rand-read", "seq-write", "rand-write")
DEPTHS = (8, 16, 32)
FILES = (5000, 10000, 20000)
KERNELS = ("none", "mq-deadline", "deadline-no-fm", "bfq")
SORTS = ("sector", "fifo", "small", "big")
BATCHES = (8, 16, 32, 64)
READ, WRITE = "read_" + BANDWIDTH, "write_" + BANDWIDTH
METRIC = {"read": READ, "write": WRITE}
# (workload, direction, base): the paper's gain of Layer_Read over it
GAINS = {
    ("seq-read", "read", "none"): 0.157,
    ("seq-read", "read", "mq-deadline"): 0.047,
    # "1.5 to 2.1 %", whichever belongs to which
    ("rand-read", "read", "none"): 0.015,
    ("rand-read", "read", "mq-deadline"): 0.015,
    ("mix-50", "read", "none"): 0.096,
    ("mix-50", "read", "mq-deadline"): 0.053,
    ("mix-50", "write", "none"): 0.066,
    ("mix-50", "write", "mq-deadline"): 0.029,
    ("mix-70", "read", "none"): 0.024,
    ("mix-70", "write", "none"): 0.025,
}
# "No improvement", "no gap", "does not improve"
ALIKE = 0.02
# "No big difference"
NEAR = 0.05
HALF = 0.5
KEPT = 0.97
COST_1 = 0.45


def way_of(workload):
    """The direction of a workload with one direction."""
    return "write" if "write" in workload else "read"


def compared(table, text, workload, metric, one, base, verdict,
             variant=DRIVE, form=percent, paper_=""):
    """Part: verdict() of the ratio (mean, low, high) of two labels."""
    cells = [table.get(workload, label, variant) for label in (one, base)]
    part = claims.Part(text, cells, paper_)
    found = ratio(*cells, metric)
    if not found:
        return part
    mean, low, high = (value - 1 for value in found)
    ours = form(mean) + (f" ({form(low)} to {form(high)})" if low < high
                         else " (one seed)")
    return part.judge(verdict(found), ours)


# --- the paper ---------------------------------------------------------------

def gained(table, key):
    """Part: as much as in the paper."""
    workload, way, base = key
    least = GAINS[key]
    return compared(
        table, f"{workload}: {way}s over {base}'s", workload, METRIC[way],
        "paper", base, lambda found: found[0] >= 1 + least,
        paper_=percent(least))


def ahead(table, key):
    """Part: more at all, beyond what a run repeats within."""
    workload, way, base = key
    return compared(
        table, f"{workload}: more {way}s than {base}", workload, METRIC[way],
        "paper", base, lambda found: found[1] > 1 + NOISE)


def alike(table, text, workload, metric, one, base, limit=ALIKE):
    """Part: two labels differ by no more than a limit."""
    return compared(table, f"{workload}: {text} within {limit:.0%}", workload,
                    metric, one, base,
                    lambda found: abs(found[0] - 1) <= limit)


def poorest(table, workload):
    """Part: bfq in CFQ's place has the least throughput of all."""
    cells = {label: table.get(workload, label, DRIVE) for label in KERNELS}
    part = claims.Part(f"{workload}: bfq has the least of all",
                       list(cells.values()))
    values = {label: figure(cell, METRIC[way_of(workload)])
              for label, cell in cells.items()}
    if None in values.values():
        return part
    return part.judge(
        values["bfq"] < min(value for label, value in values.items()
                            if label != "bfq") * (1 - NOISE),
        megabytes(values))


def megabytes(values):
    """{label: bytes a second} as people read it."""
    return ", ".join(f"{label} {value / 1e6:.1f}"
                     for label, value in values.items()) + " MB/s"


def by_sort(table, workload):
    """({label: cell}, {label: throughput}) of the paper's four orders."""
    cells = {sort: table.get(workload, f"deadline-{sort}", DRIVE)
             for sort in SORTS}
    return cells, {sort: figure(cell, METRIC[way_of(workload)])
                   for sort, cell in cells.items()}


def first_by_address(table, workload):
    """Part: order of address is the fastest."""
    cells, values = by_sort(table, workload)
    part = claims.Part(f"{workload}: order of address is the fastest",
                       list(cells.values()))
    if None in values.values():
        return part
    return part.judge(
        values["sector"] > max(value for sort, value in values.items()
                               if sort != "sector") * (1 + NOISE),
        megabytes(values))


def no_matter(table, workload):
    """Part: the order makes no difference."""
    cells, values = by_sort(table, workload)
    part = claims.Part(f"{workload}: all orders within {NEAR:.0%}",
                       list(cells.values()))
    if None in values.values():
        return part
    low, high = min(values.values()), max(values.values())
    return part.judge(low >= high * (1 - NEAR), megabytes(values))


def fewer_turns(table, depth):
    """Part: the longer the batches, the more gets done."""
    labels = ("none", *(f"fifo-{n}" for n in BATCHES[:3]))
    cells = {label: table.get(f"depth-{depth}", label, DRIVE)
             for label in labels}
    part = claims.Part(f"depth {depth}: none, batches of 8, 16 and 32: none "
                       "of them is below the one before, and the last is "
                       "above the first", list(cells.values()))
    values = {label: figure(cell, BANDWIDTH) for label, cell in cells.items()}
    if None in values.values():
        return part
    row = list(values.values())
    return part.judge(
        all(a <= b * (1 + NOISE) for a, b in zip(row, row[1:])) and
        row[-1] > row[0] * (1 + NOISE), megabytes(values))


def below(table, workload, way, base):
    """Part: a little inferior."""
    return compared(
        table, f"{workload}: {way}s below {base}'s, by at most {NEAR:.0%}",
        workload, METRIC[way], "paper", base,
        lambda found: 1 - NEAR <= found[0] <= 1 + NOISE)


def postmark(table, files, sign):
    """Part: more transactions than none, or fewer."""
    word = "more" if sign > 0 else "fewer"
    return compared(
        table, f"{files} files: {word} transactions a second than none",
        f"postmark-{files}", "transactions_per_s", "paper", "none",
        lambda found: (found[0] - 1) * sign > NOISE)


def kept(table, workload, label, variant, base="none"):
    """Part: 97 % of none's throughput on a pure pattern."""
    # The paper's own schedulers are called by what they are.
    name = f"mode {label}" if label in ("paper", "auto") else label
    return compared(
        table, f"{workload}, {variant}: {name} at least {KEPT:.0%} of {base}",
        workload, BANDWIDTH, label, base, lambda found: found[1] >= KEPT,
        variant)


def paper(cells):
    """The paper's figures."""
    table = Table(cells)
    zero = [(name, base) for name in ("seq-write", "rand-write")
            for base in ("none", "mq-deadline")]
    return [
        claims.claim(
            "Gains", "gains are at least the paper's",
            "sequential reads +15.7 % over NOOP, +4.7 % over Deadline; random "
            "reads +1.5 to 2.1 %; half and half 512 KiB: reads +9.6 and "
            "+5.3 %, writes +6.6 and +2.9 %; 70/30 over NOOP: reads +2.4 %, "
            "writes +2.5 %", [gained(table, key) for key in GAINS]),
        claims.claim(
            "Signs", "where the paper has a gain there is one",
            "a gain in each of these",
            [ahead(table, key) for key in GAINS]),
        claims.claim(
            "Fig 7, writes", "writes gain nothing, and lose nothing",
            "no improvement",
            [alike(table, f"writes in mode paper and under {base}", name, WRITE,
                   "paper", base) for name, base in zero]),
        claims.claim(
            "Fig 8, 70/30", "a little below Deadline",
            "a little inferior", [below(table, "mix-70", way, "mq-deadline")
                                  for way in METRIC]),
        claims.claim(
            "Fig 1, CFQ", "CFQ, here bfq, is the poorest in each pattern",
            "the poorest of all", [poorest(table, name) for name in PURE]),
        claims.claim(
            "Fig 1, front merges", "front merges change nothing",
            "no gap between Deadline and Deadline_no_fm",
            [alike(table, "with and without front merges", name,
                   METRIC[way_of(name)], "deadline-no-fm", "mq-deadline")
             for name in PURE]),
        claims.claim(
            "Fig 2, reads in order", "order of address is best for "
            "sequential reads", "Deadline_add performs best",
            [first_by_address(table, "sizes-seq-read")]),
        claims.claim(
            "Fig 2, the rest", "elsewhere the order does not matter",
            "no big difference",
            [no_matter(table, f"sizes-{name}") for name in PURE[1:]]),
        claims.claim(
            "Fig 3", "the fewer changes of direction, the better",
            "the faster the switching, the worse",
            [fewer_turns(table, depth) for depth in DEPTHS]),
        claims.claim(
            "Fig 3, limit", "longer batches than 32 do not improve it",
            "no improvement from 32 on",
            [alike(table, "batches of 32 and 64", "depth-32", BANDWIDTH,
                   "fifo-64", "fifo-32")]),
        claims.claim(
            "Fig 9", "PostMark: good with few files, NOOP better with many",
            "as the number gets larger NOOP outperforms all others",
            [postmark(table, FILES[0], 1), postmark(table, FILES[-1], -1)]),
        claims.claim(
            "No harm", "on no pure pattern less than none",
            "aim: 97 % of none's throughput",
            [kept(table, name, label, DRIVE)
             for label in ("paper", "auto") for name in PURE]),
    ]


# --- curves ------------------------------------------------------------------

CURVED = ("none", "mq-deadline", "paper")


@dataclass(frozen=True)
class Curve:
    """The varied setting, and its value in a cell that does not name it.

    held: what else its cells have.
    """
    knob: str
    usual: int
    workload: str
    ways: tuple
    held: tuple = ()


# Where all that is outstanding fits into the drive, nothing waits in front of
# it that a scheduler could put in order: a turn matters behind a short queue.
CURVES = {
    # Two rounds of the drive's dies: io_opt is 256 KiB
    "read_ahead_kb": Curve("read_ahead_kb", 512, "seq-read", ("read",)),
    "queue_depth-reads": Curve("queue_depth", 32, "seq-read", ("read",)),
    "queue_depth": Curve("queue_depth", 32, "mix-50", ("read", "write")),
    "turn_ns": Curve("turn_ns", 0, "mix-50", ("read", "write")),
    "turn_ns-qd4": Curve("turn_ns", 0, "mix-50", ("read", "write"),
                         (("queue_depth", "4"),)),
}


def place(cell, one):
    """A cell's place on a curve; None if it is not on it."""
    tunables = {key: value for key, value in cell["tunables"].items()
                if key not in ("mode", one.knob)}
    match = re.fullmatch(DRIVE + r"(?:-turn(\d+))?", cell["variant"])
    if not match or tunables != dict(one.held):
        return None
    if one.knob == "turn_ns":
        return int(match[1] or 0) * 1000
    return None if match[1] else int(cell["tunables"].get(one.knob,
                                                          one.usual))


def curve(cells, name, way="read"):
    """{value: {label: throughput}}, rising; of what was measured."""
    one, found = CURVES[name], {}
    for cell in cells:
        base = next((label for label in CURVED if cell["label"] == label or
                     re.fullmatch(label + r"-(ra|qd)\d+", cell["label"])),
                    None)
        value = figure(cell, METRIC[way])
        if cell["workload"] != one.workload or not base or value is None:
            continue
        at = place(cell, one)
        if at is not None:
            found.setdefault(at, {})[base] = value
    return dict(sorted(found.items()))


def appears(found, base, wanted):
    """(points with both, the first at which the gain is there, the best).

    A point is (value, gain over base); None where there is none.
    """
    points = [(at, values["paper"] / values[base] - 1)
              for at, values in found.items()
              if "paper" in values and values.get(base)]
    first = next((point for point in points if point[1] >= wanted), None)
    return points, first, max(points, key=lambda one: one[1], default=None)


# --- mode auto ---------------------------------------------------------------

def tail(table, workload, label, variant, limit, text):
    """Part: the reads' p99 against mq-deadline's."""
    cells = [table.get(workload, one, variant)
             for one in (label, "mq-deadline")]
    part = claims.Part(f"{workload}, {variant}: read p99 of {label} {text} "
                       "mq-deadline's", cells)
    found = ratio(*cells, "read_latency_p99_s")
    return part.judge(found[2] <= limit, told(found)) if found else part


def throughput(table, workload, label, variant):
    """Part: at no less throughput."""
    return compared(
        table, f"{workload}, {variant}: {label} with no less throughput than "
        "mq-deadline", workload, BANDWIDTH, label, "mq-deadline",
        lambda found: found[1] >= 1 - NOISE, variant)


def mixes(table, variants, limit, text):
    """Parts: both mixes on these drives."""
    return [part for label, variant in variants
            for workload in ("mix-50", "mix-70") for part in (
                tail(table, workload, label, variant, limit, text),
                throughput(table, workload, label, variant))]


def pure_workloads(table):
    """[(workload, variant)] with one direction only."""
    return [key[:2] for key in table.cells
            if key[2] == "none" and not key[0].startswith("mix-")]


def default(cells):
    """The aims for mode auto."""
    table = Table(cells)
    pure = pure_workloads(table)
    return [
        claims.claim(
            "Tails", "reads among writes wait half as long, on drives that "
            "serve in order of arrival",
            "aim: read p99 at most half of mq-deadline's, no less throughput",
            mixes(table, (("layer_read", "d"), ("layer_read", "d-half"),
                          ("layer_read", "f"),
                          ("layer_read-map", "d-static"),
                          ("layer_read-map", "f-static")), HALF,
                  "at most half of")),
        claims.claim(
            "Read first", "no worse where the drive itself reads first",
            "aim: read p99 and throughput as mq-deadline's",
            mixes(table, (("layer_read", "d-read-first"),
                          ("layer_read", "f-read-first")), 1 + NOISE,
                  "not above")),
        claims.claim(
            "No harm", "on no pure pattern less than none",
            "aim: 97 % of none's throughput",
            [kept(table, workload, label, variant)
             for workload, variant in pure
             for label in (("layer_read-map",) if "static" in variant
                           else ("layer_read",))]
            or [claims.Part("no pure pattern", [])]),
    ]


# --- the CPU -----------------------------------------------------------------

def cost(summary):
    """The largest cost of an I/O."""
    parts = []
    for depth, most in ((32, 1.0), (1, COST_1)):
        part = claims.Part(
            f"depth {depth}: over none at most {most:g} of mq-deadline's", [])
        mine, other = (claims.over_none(summary, "null", label, depth)
                       for label in ("layer_read", "mq-deadline"))
        if mine is not None and other:
            part.judge(mine <= most * other,
                       f"{mine:.0f} against {other:.0f} ns: "
                       f"{mine / other:.2f}")
        parts.append(part)
    return [claims.claim("Cost", "an I/O costs the CPU no more than with "
                         "mq-deadline, and less than half of that one by one",
                         "aim: depth 32 not above mq-deadline's, depth 1 at "
                         f"most {COST_1} of it", parts)]
