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
# {(workload, direction, base): the paper's gain of Layer_Read over it}
GAINS = {
    ("seq-read", "read", "none"): 0.157,
    ("seq-read", "read", "mq-deadline"): 0.047,
    # "1.5 to 2.1 %", whichever belongs to which
    ("rand-read", "read", "none"): 0.018,
    ("rand-read", "read", "mq-deadline"): 0.018,
    ("mix-50", "read", "none"): 0.096,
    ("mix-50", "write", "none"): 0.066,
    ("mix-50", "read", "mq-deadline"): 0.053,
    ("mix-50", "write", "mq-deadline"): 0.029,
    ("mix-70", "read", "none"): 0.024,
    ("mix-70", "write", "none"): 0.025,
}
BASES = ("none", "mq-deadline")
# Added to the conditions of the two claims that decided MIXED
CHOSEN = "; chosen by this figure"
# The seeds that MIXED was chosen with
TUNING = "1 and 2"
# So far apart a gain may be, in parts of the throughput
POINTS = 0.03
# "No improvement", "no gap", "does not improve"
ALIKE = 0.02
# "No big difference"
NEAR = 0.05
HALF = 0.5
KEPT = 0.97
COST_1 = 0.45


@dataclass(frozen=True)
class Point:
    """Where a figure is looked for: the drive, and what it holds at once.

    end: of the labels there; "" where the drive holds as many as its own queue has.
    """
    end: str
    variant: str
    text: str


OWN = Point("", DRIVE, "the drive holds 32 requests")
LIKE = Point("-qd2", "b-turn500", "the drive holds 2 requests, a turn costs 0.5 ms")
# The loads of both directions: of Figures 3, 8 and 9
MIXED = Point("-qd2", "b-turn600", "the drive holds 2 requests, a turn costs 0.6 ms")


def way_of(workload):
    """The direction of a workload with one direction."""
    return "write" if "write" in workload else "read"


def compared(table, text, workload, metric, one, base, verdict, at=OWN,
             gain=None):
    """Part: verdict() of the ratio (mean, low, high) of two labels.

    gain: the paper's.
    """
    cells = [table.get(workload, label + at.end, at.variant)
             for label in (one, base)]
    part = claims.Part(text, cells, percent(gain) if gain else "")
    found = ratio(*cells, metric)
    if not found:
        return part
    mean, low, high = (value - 1 for value in found)
    ours = percent(mean) + (f" ({percent(low)} to {percent(high)})"
                            if low < high else " (one seed)")
    return part.judge(verdict(found), ours, mean / gain if gain else None)


# --- the paper ---------------------------------------------------------------

def gained(table, at, keys):
    """Parts: a gain, beyond what a run repeats within, and the paper's within some
    points.
    """
    for workload, way, base in keys:
        paper_ = GAINS[workload, way, base]
        yield compared(
            table, f"{way}s over {base}", workload, METRIC[way], "paper", base,
            lambda found, want=paper_: found[0] > 1 + NOISE and
            abs(found[0] - 1 - want) <= POINTS,
            at, paper_)


def alike(table, text, workload, metric, one, base, at, limit=ALIKE):
    """Part: two labels differ by no more than a limit."""
    return compared(table, f"{workload}: {text} within {limit:.0%}", workload,
                    metric, one, base,
                    lambda found: abs(found[0] - 1) <= limit, at)


def poorest(table, workload, at):
    """Part: bfq in CFQ's place has the least throughput of all."""
    cells = {label: table.get(workload, label + at.end, at.variant)
             for label in KERNELS}
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


def by_sort(table, workload, at):
    """({label: cell}, {label: throughput}) of the paper's four orders."""
    cells = {sort: table.get(workload, f"deadline-{sort}{at.end}", at.variant)
             for sort in SORTS}
    return cells, {sort: figure(cell, METRIC[way_of(workload)])
                   for sort, cell in cells.items()}


def first_by_address(table, workload, at):
    """Part: order of address is the fastest."""
    cells, values = by_sort(table, workload, at)
    part = claims.Part(f"{workload}: order of address is the fastest",
                       list(cells.values()))
    if None in values.values():
        return part
    return part.judge(
        values["sector"] > max(value for sort, value in values.items()
                               if sort != "sector") * (1 + NOISE),
        megabytes(values))


def no_matter(table, workload, at):
    """Part: the order makes no difference."""
    cells, values = by_sort(table, workload, at)
    part = claims.Part(f"{workload}: all orders within {NEAR:.0%}",
                       list(cells.values()))
    if None in values.values():
        return part
    low, high = min(values.values()), max(values.values())
    return part.judge(low >= high * (1 - NEAR), megabytes(values))


def fewer_turns(table, depth, at):
    """Part: the longer the batches, the more gets done."""
    labels = ("none", *(f"fifo-{n}" for n in BATCHES[:3]))
    cells = {label: table.get(f"depth-{depth}", label + at.end, at.variant)
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


def below(table, workload, way, base, at):
    """Part: a little inferior."""
    return compared(
        table, f"{way}s below {base}'s, by at most {NEAR:.0%}",
        workload, METRIC[way], "paper", base,
        lambda found: 1 - NEAR <= found[0] <= 1 + NOISE, at)


def postmark(table, files, sign):
    """Part: more transactions than none, or fewer."""
    word = "more" if sign > 0 else "fewer"
    return compared(
        table, f"{files} files: {word} transactions a second than none",
        f"postmark-{files}", "transactions_per_s", "paper", "none",
        lambda found: (found[0] - 1) * sign > NOISE, MIXED)


def kept(table, workload, label, variant, base="none"):
    """Part: 97 % of none's throughput on a pure pattern."""
    # The paper's own schedulers are called by what they are.
    name = f"mode {label}" if label in ("paper", "auto") else label
    return compared(
        table, f"{workload}, {variant}: {name} at least {KEPT:.0%} of {base}",
        workload, BANDWIDTH, label, base, lambda found: found[1] >= KEPT,
        Point("", variant, ""))


def paper(cells):
    """The paper's figures, each at the point where it is looked for."""
    table = Table(cells)

    def gains(name, text, told, workload, base, at, chosen=""):
        return claims.claim(name, text, told, gained(table, at, [
            key for key in GAINS if key[0] == workload and key[2] in base]), at.text + chosen)
    return [
        claims.claim(
            "Fig 1, CFQ", "CFQ, here bfq, is the poorest in each pattern",
            "the poorest of all",
            [poorest(table, name, LIKE) for name in PURE], LIKE.text),
        claims.claim(
            "Fig 1, front merges", "front merges change nothing",
            "no gap between Deadline and Deadline_no_fm",
            [alike(table, "with and without front merges", name,
                   METRIC[way_of(name)], "deadline-no-fm", "mq-deadline", LIKE)
             for name in PURE], LIKE.text),
        claims.claim(
            "Fig 2, reads in order", "order of address is best for "
            "sequential reads", "Deadline_add performs best",
            [first_by_address(table, "sizes-seq-read", LIKE)], LIKE.text),
        claims.claim(
            "Fig 2, the rest", "elsewhere the order does not matter",
            "no big difference",
            [no_matter(table, f"sizes-{name}", LIKE) for name in PURE[1:]],
            LIKE.text),
        claims.claim(
            "Fig 3", "the fewer changes of direction, the better",
            "the faster the switching, the worse",
            [fewer_turns(table, depth, MIXED) for depth in DEPTHS], MIXED.text),
        claims.claim(
            "Fig 3, limit", "longer batches than 32 do not improve it",
            "no improvement from 32 on",
            [alike(table, "batches of 32 and 64", "depth-32", BANDWIDTH,
                   "fifo-64", "fifo-32", MIXED)], MIXED.text),
        gains("Fig 7, reads in order", "more than NOOP and Deadline have",
              "+15.7 % over NOOP, +4.7 % over Deadline", "seq-read",
              ("none", "mq-deadline"), LIKE),
        gains("Fig 7, random reads", "a little more than NOOP and Deadline have",
              "+1.5 to 2.1 %", "rand-read", ("none", "mq-deadline"), LIKE),
        claims.claim(
            "Fig 7, writes", "writes gain nothing, and lose nothing",
            "no improvement",
            [alike(table, f"writes in mode paper and under {base}", name, WRITE,
                   "paper", base, LIKE)
             for name in ("seq-write", "rand-write")
             for base in ("none", "mq-deadline")], LIKE.text),
        gains("Fig 8, 50/50", "half reads gain over NOOP",
              "reads +9.6 %, writes +6.6 %", "mix-50", ("none",), MIXED, CHOSEN),
        gains("Fig 8, 50/50, Deadline", "and over Deadline",
              "reads +5.3 %, writes +2.9 %", "mix-50", ("mq-deadline",), MIXED),
        gains("Fig 8, 70/30", "with 70 of 100 reads they gain less",
              "reads +2.4 %, writes +2.5 %", "mix-70", ("none",), MIXED, CHOSEN),
        claims.claim(
            "Fig 8, 70/30, Deadline", "and are a little below Deadline",
            "a little inferior", [below(table, "mix-70", way, "mq-deadline", MIXED)
                                  for way in METRIC], MIXED.text),
        claims.claim(
            "Fig 9", "PostMark: good with few files, NOOP better with many",
            "as the number gets larger NOOP outperforms all others",
            [postmark(table, FILES[0], 1), postmark(table, FILES[-1], -1)],
            MIXED.text),
        claims.claim(
            "No harm", "on no pure pattern less than none",
            "aim: 97 % of none's throughput",
            [kept(table, name, label, DRIVE)
             for label in ("paper", "auto") for name in PURE], OWN.text),
    ]


# --- curves and grids --------------------------------------------------------

CURVED = ("none", "mq-deadline", "paper")


@dataclass(frozen=True)
class Curve:
    """The varied setting, and its value in a cell that does not name it."""
    knob: str
    usual: int
    workload: str
    ways: tuple


CURVES = {
    # Two rounds of the drive's dies: io_opt is 256 KiB
    "read_ahead_kb": Curve("read_ahead_kb", 512, "seq-read", ("read",)),
    "queue_depth": Curve("queue_depth", 32, "mix-50", ("read", "write")),
}


def place(cell, one):
    """A cell's place on a curve; None if it is not on it."""
    tunables = set(cell["tunables"]) - {"mode", "nr_requests", one.knob}
    if tunables or cell["variant"] != DRIVE:
        return None
    return int(cell["tunables"].get(one.knob, one.usual))


def base_of(cell):
    """The curve that a cell is a point of, such as none of none-qd4; or None."""
    return next((label for label in CURVED if re.fullmatch(
        label + r"(-(ra|qd)\d+)?", cell["label"])), None)


def curve(cells, name, way="read"):
    """{value: {label: throughput}}, rising; of what was measured."""
    one, found = CURVES[name], {}
    for cell in cells:
        base, value = base_of(cell), figure(cell, METRIC[way])
        at = place(cell, one)
        if cell["workload"] == one.workload and base and value is not None \
                and at is not None:
            found.setdefault(at, {})[base] = value
    return dict(sorted(found.items()))


def grid(cells, workload, knob, base, way):
    """{(requests in the drive, cost in us): gain of mode paper}; knob: turn, jump."""
    table, found = Table(cells), {}
    for cell in cells:
        end = re.fullmatch(r"paper(-qd(\d+))?", cell["label"])
        cost = re.fullmatch(rf"{DRIVE}(?:-{knob}(\d+))?", cell["variant"])
        if cell["workload"] != workload or not end or not cost:
            continue
        ours = ratio(cell, table.get(workload, base + (end[1] or ""),
                                     cell["variant"]), METRIC[way])
        if ours:
            found[int(end[2] or 32), int(cost[1] or 0)] = ours[0] - 1
    return dict(sorted(found.items()))


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
        lambda found: found[1] >= 1 - NOISE, Point("", variant, ""))


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
    """The largest cost of an I/O; the text names the kernel that it was measured on."""
    parts = []
    kernel = f", {claims.kernel_series(summary.get('kernel'))}" if summary else ""
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
    return [claims.claim("Cost", "an I/O costs no more CPU time than with mq-deadline, "
                         f"and less than half of it at depth 1{kernel}",
                         "aim: depth 32 not above mq-deadline's, depth 1 at "
                         f"most {COST_1} of it", parts)]
