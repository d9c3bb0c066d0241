# SPDX-License-Identifier: GPL-2.0
"""The A+CFQ and H+BFQ paper's figures on tenants that pause. Pure functions.

claims_of() judges suite share-living: each figure on each load. The direction that the
paper shows can depend on the load, so one load that shows it is enough, and it counts as
absent only after three. Of many loads one may show it by chance, so over_seeds() wants it
with each seed. The figures of shareclaims.paper() are compared, with a margin: two PVs
closer than PV_MAX, and two times or windows closer than claims.SAME, count as equal. A PV
counts from the PV that remains if shares are exact, see unavoidable().
"""

import claims
import options
from claims import figure
from piqclaims import Table
from shareclaims import (
    BANDWIDTH, ENDLESS, PV_MAX, SIMILAR, compared, number, tenants, times_of, worst)

fairness = options.later("fairness")

LEVELS = (30, 60, 90)
PV, WINDOWS, WINDOW_MAX = \
    "pv_sectors", "window_pv_median_sectors", "window_pv_max_sectors"
SPREAD, LONGEST = "latency_stddev_s", "latency_max_s"
# Tenants of one load, and what their names say of their weights
FOUR = ("ycsb-a", "ycsb-d", "db", "msn", "prj", "prn", "direct", "buffered")
TRACES = ("msn", "prj", "prn")
WEIGHTS = {"grp1": 1, "grp2": 2, "grp4": 4, "grp5": 5}
# The weights of their tenants, which are TRACES
MIXES = {"mix-111": (1, 1, 1), "mix-125": (1, 2, 5), "mix-521": (5, 2, 1),
         "mix-1210": (1, 2, 10)}
FILES = ("db", "direct", "buffered")
# Loads on which a direction is looked for before it counts as absent
ENOUGH = 3


def drive(load):
    """The variant of a load: file systems need a drive that keeps their data."""
    return "c-files" if load.startswith(FILES) else "c"


def weights_of(load):
    """{tenant: weight} of a load."""
    mix = next((name for name in MIXES if load.startswith(f"{name}-")), None)
    return dict(zip(TRACES, MIXES[mix])) if mix else WEIGHTS


def unavoidable(load, cell, free):
    """The PV of tenants that get what is due to them, if they ask for as much.

    A tenant asks for what it gets without a scheduler, the cell `free`; they share what
    the scheduler's cell has. None if something is not known: what tenants ask for is not if
    they get more with the scheduler, as a file server may.
    """
    weights = weights_of(load)
    asked, got = (tenants(one, BANDWIDTH) for one in (free, cell))
    if set(asked) != set(weights) or set(got) != set(weights) or \
            None in (*asked.values(), *got.values()) or \
            sum(got.values()) > (1 + claims.SAME) * sum(asked.values()):
        return None
    return fairness.pv(list(weights.values()), fairness.filled(
        list(weights.values()), [asked[name] for name in weights],
        sum(got.values())))


def excess(table, load, label):
    """([the cell, that of none], the cell's PV beyond what is unavoidable, or None)."""
    cell, free = pair = [table.get(load, one, drive(load)) for one in (label, "none")]
    value, least = figure(cell, PV), unavoidable(load, cell, free)
    return pair, None if None in (value, least) else value - least


def misses(table, load, label):
    """Part: the scheduler's PV is above what the pauses explain."""
    cells, value = excess(table, load, label)
    part = claims.Part(f"PV of {label} beyond exact shares above {PV_MAX}", cells)
    return part if value is None else part.judge(value > PV_MAX, number(value))


def nearer(table, load, label, others):
    """Parts: PV below that of each of the others, by more than PV_MAX."""
    parts = []
    cells, ours = excess(table, load, label)
    for other in others:
        beside, theirs = excess(table, load, other)
        part = claims.Part(f"PV of {label} beyond exact shares below {other}'s",
                           [*cells, *beside])
        if None not in (ours, theirs):
            part.judge(ours < theirs - PV_MAX, f"{number(ours)} against {number(theirs)}")
        parts.append(part)
    return parts


def turned(cell):
    """Pairs of tenants in the wrong order, for each window."""
    count, windows = (figure(cell, f"{name}_sectors") for name in
                      ("inversions", "windows"))
    return count / windows if count is not None and windows else None


def lower(table, load, label, others, what, read, told=None):
    """Parts: what read(cell) gives is clearly below the others'; told(values): its text."""
    told = told or (lambda values: " against ".join(map(number, values)))
    parts = []
    for other in others:
        pair = [table.get(load, one, drive(load)) for one in (label, other)]
        part = claims.Part(f"{what} of {label} below {other}'s by more than "
                           f"{claims.SAME:.0%}", pair)
        values = list(map(read, pair))
        if None not in values:
            part.judge(values[0] < (1 - claims.SAME) * values[1], told(values))
        parts.append(part)
    return parts


def lower_figure(table, load, label, others, metric, what):
    """lower() of a cell's figure."""
    return lower(table, load, label, others, what, lambda cell: figure(cell, metric))


def lower_time(table, load, label, others, metric, what):
    """lower() of the worst tenant's time."""
    return lower(table, load, label, others, what, lambda cell: worst(cell, metric),
                 times_of)


def fewer_inversions(table, load, label, others):
    """lower() of the inversions for each window."""
    return lower(table, load, label, others, "inversions for each window", turned)


def same_load(table, load):
    """[(figure, claim, the paper's words, parts)] of four tenants of one load."""
    yield ("Fig 1, 2", "CFQ misses the weights on an SSD",
           "all six loads, by factors at times", [misses(table, load, "cfq")])
    yield ("Fig 7", "at queue depth 1 windows are nearer",
           "ycsb-a distinctly, msn slightly", lower_figure(
               table, load, "cfq-qd1", ("cfq",), WINDOWS, "median PV of a window"))
    yield ("Fig 10", "counting requests is nearer than slices of time",
           "sizes of 32 and 256 KB, reads and writes",
           nearer(table, load, "cfq", ("cfq-time",)))
    yield ("Fig 11", "counting sectors is nearer than requests", "fileserver",
           nearer(table, load, "cfq-sectors", ("cfq",)))
    yield ("Fig 14", "A+CFQ is nearer to the weights than CFQ and BFQ",
           "prj and prn: it keeps to them, CFQ and BFQ do not",
           nearer(table, load, "acfq-paper", ("cfq", "bfq")))
    yield ("Fig 15", "A+CFQ's worst window is nearer than BFQ's",
           "prn: it keeps to them over time", lower_figure(
               table, load, "acfq-paper", ("bfq",), WINDOW_MAX,
               "largest PV of a window"))
    yield ("Fig 18a, b", "H+BFQ is nearer to the weights than CFQ and BFQ",
           "significantly lower PV",
           nearer(table, load, "hbfq-paper", ("cfq", "bfq")))
    yield ("Fig 18c, 19a", "H+BFQ loses little throughput and mean latency against BFQ",
           "within 7 %", [
               compared(table, "hbfq-paper", "bfq", drive(load), (load,), BANDWIDTH,
                        1 - SIMILAR, ENDLESS,
                        "bandwidth no more than 7 % below bfq's"),
               compared(table, "hbfq-paper", "bfq", drive(load), (load,),
                        "latency_mean_s", 0, 1 + SIMILAR,
                        "worst mean latency no more than 7 % above")])
    yield ("Fig 19b", "latency scatters less under H+BFQ than under the others",
           "lowest of all on all three", lower_time(
               table, load, "hbfq-paper", ("cfq", "bfq", "acfq-paper"), SPREAD,
               "worst standard deviation"))
    if load.startswith(TRACES):
        yield ("Fig 20", "small budgets make latencies steadier, and the longest "
               "shorter than BFQ's", "128 sectors best; up to 5.5 times shorter", [
                   *lower_time(table, load, "hbfq-128", ("hbfq-2048",), SPREAD,
                               "worst standard deviation"),
                   *lower_time(table, load, "hbfq-128", ("bfq",), LONGEST,
                               "longest latency")])


def mixed(table, load):
    """The same of three tenants of different loads."""
    yield ("Fig 23", "A+CFQ and H+BFQ are nearer to the weights than CFQ",
           "at all four weight sets", [
               part for label in ("acfq-paper", "hbfq-paper")
               for part in nearer(table, load, label, ("cfq",))])
    yield ("Fig 24", "H+BFQ is steadier than CFQ and BFQ",
           "standard deviation and longest latency", [
               part for metric, what in ((SPREAD, "worst standard deviation"),
                                         (LONGEST, "longest latency"))
               for part in lower_time(table, load, "hbfq-paper", ("cfq", "bfq"), metric,
                                      what)])
    if load.startswith("mix-125"):
        yield ("Fig 25", "tenants with more weight are overtaken less often",
               "under CFQ often, under BFQ at times, else never", [
                   part for label in ("acfq-paper", "hbfq-paper")
                   for part in fewer_inversions(table, load, label,
                                                ("cfq", "bfq"))])


def on_loads(name, text, paper, found):
    """A figure's claim: a part a load; found: {load: the parts of the figure there}."""
    loads = []
    for load, parts in found.items():
        one = claims.claim(name, text, paper, parts)
        part = claims.Part(load, [])
        # A load shows a figure if all that is compared on it was judged.
        if one["holds"] is False or one["judged"] == one["wanted"] > 0:
            part.cells = one["cells"]
            part.judge(one["holds"], "; ".join(
                f"{sub['text']}: {sub['ours']}" for sub in sorted(
                    one["parts"], key=lambda sub: sub["holds"] is not False)
                if sub["holds"] is not None))
        loads.append(part)
    row = claims.claim(name, text, paper, loads)
    row["holds"] = shown([part.holds for part in loads])
    return row


def shown(held):
    """A figure's verdict, from those on the loads."""
    return True if True in held else False if held.count(False) >= ENOUGH else None


def claims_of(cells):
    """Each figure, with a part for each load that was measured."""
    table, figures = Table(cells), {}
    for names, judged in ((FOUR, same_load), (MIXES, mixed)):
        for load in (f"{name}-{level}" for name in names for level in LEVELS):
            if load in table.workloads:
                for name, text, paper, parts in judged(table, load):
                    figures.setdefault((name, text, paper), {})[load] = parts
    return claims.under([on_loads(*key, found) for key, found in figures.items()],
                        "profile C; each part is a load, whose tenants pause")


def over_seeds(cells):
    """claims_of(), where a load shows a figure only if it does with each seed."""
    rows = claims.with_seeds(claims_of, cells)
    for row in rows:
        for part in row["parts"]:
            part["holds"] = part["holds"] and "seeds" not in part
        row["holds"] = shown([part["holds"] for part in row["parts"]])
    return rows
