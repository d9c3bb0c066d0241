# SPDX-License-Identifier: GPL-2.0
"""The claims about K2 beside a short device queue, compared with cells of suite k2-queue.

Pure functions. A bound of x and a device queue of x hold as many requests in the drive.
With the queue a real-time request waits for a tag among all tasks; K2 dispatches it next.
The claims expect the largest difference in the median. The far tail depends on requests
for one chip in the drive, which neither scheduler chooses; K2 with a map does. The claims
were written before the first run of the suite, but for Queue alone: it was written after
seed 1, and compared with a device queue of 2 only after the first run with seed 101.
"""

import claims
from claims import Part, claim, figure

LOADS = {3: "reads-3", 16: "reads-16", 64: "reads-64"}
WRITERS = ("writeback", "commits", "fsync")
BOUNDS = (2, 4, 8, 16, 32)
# The bound that all loads have
BOUND = 8
# Bounds at which all 16 jobs' tasks wait, with at least two waiting for each slot
SHORT = (2, 4, 8, 16)
# Largest share of the other's percentile
MEDIAN, P95, MANY, MAPPED, DEADLINE = 0.6, 0.75, 0.25, 0.7, 0.8
# Least difference of the shares that K2 has of p99 and p50
HIDDEN = 0.15
# Beside writeback, K2 with rt_alone and a small bound: largest share of none's percentiles,
# least of the bandwidth
ALONE_BOUND, ALONE, ALL = 2, 0.6, 0.95
# Least bandwidth, as a share of mq-deadline's; no worse: largest share of a percentile
FASTER, NO_WORSE = 1.1, 1.05


def cells_of(cells):
    """{(workload, label): cell}."""
    return {(cell["workload"], cell["label"]): cell for cell in cells}


def share(one, other, metric):
    """A figure of one cell as a share of another's; None if either is not known."""
    ours, theirs = figure(one, metric), figure(other, metric)
    return ours / theirs if ours is not None and theirs else None


def us(cell, name):
    """A percentile as text, in us."""
    return f"{figure(cell, f'latency_{name}_s') * 1e6:.0f}"


def at_most(found, load, name, labels, most):
    """Part: a percentile of the first label is at most a share of the second's."""
    one, other = used = [found.get((load, label)) for label in labels]
    part = Part(f"{load}: {claims.percentile_name(name)} of {labels[0]} is at most {most} "
                f"of {labels[1]}'s", used)
    ratio = share(one, other, f"latency_{name}_s")
    if ratio is None:
        return part
    return part.judge(ratio <= most, f"{us(one, name)} against {us(other, name)} us, "
                      f"{ratio:.2f}")


def bandwidth(found, load, labels, least=FASTER):
    """Part: the first label moves at least a share of what the second does."""
    one, other = used = [found.get((load, label)) for label in labels]
    part = Part(f"{load}: bandwidth of {labels[0]} is at least {least} of {labels[1]}'s",
                used)
    ratio = share(one, other, claims.BANDWIDTH)
    if ratio is None:
        return part
    ours, theirs = (figure(cell, claims.BANDWIDTH) / 1e6 for cell in used)
    return part.judge(ratio >= least, f"{ours:.0f} against {theirs:.0f} MB/s, {ratio:.2f}")


def medians_fall(found):
    """Part: K2's share of the short queue's median falls with each step of the jobs."""
    pairs = [[found.get((load, label)) for label in (f"k2-{BOUND}", f"none-q{BOUND}")]
             for load in LOADS.values()]
    part = Part(f"K2-{BOUND}'s share of none's p50 falls with the number of jobs",
                [cell for pair in pairs for cell in pair])
    ratios = [share(*pair, "latency_p50_s") for pair in pairs]
    if None in ratios:
        return part
    return part.judge(
        ratios[0] > ratios[1] > ratios[2], ", ".join(
            f"{ratio:.2f} with {jobs}" for jobs, ratio in zip(LOADS, ratios)))


def hidden(found, jobs):
    """Part: K2's share of p99 is nearer to 1 than that of p50."""
    load = LOADS[jobs]
    used = [found.get((load, label)) for label in (f"k2-{BOUND}", f"none-q{BOUND}")]
    part = Part(f"{load}: K2-{BOUND}'s share of none's p99 is above that of p50 by at least "
                f"{HIDDEN}", used)
    near, far = (share(*used, f"latency_{name}_s") for name in ("p50", "p99"))
    if near is None or far is None:
        return part
    return part.judge(far - near >= HIDDEN, f"p50 {near:.2f}, p99 {far:.2f}")


def mapped(found, jobs, bound):
    """Parts: with a map p99 is below K2's without and below the short queue's."""
    return [at_most(found, LOADS[jobs], "p99", (f"k2-{bound}-map", other), MAPPED)
            for other in (f"k2-{bound}", f"none-q{bound}")]


def pairs_of(bound):
    """K2 with a bound beside both others with a queue of it."""
    return [(f"k2-{bound}", f"{name}-q{bound}") for name in ("none", "mq-deadline")]


def claims_of(cells):
    """The claims, with verdicts where there are cells."""
    found = cells_of(cells)
    none, deadline = pairs_of(BOUND)
    alone_none, alone_deadline = (
        (f"k2-{ALONE_BOUND}-alone", other) for _, other in pairs_of(ALONE_BOUND))
    return [
        claim("Queue p50", "16 jobs: the median of K2-x is below that of none with a device "
              "queue of x", f"aim: at most {MEDIAN} of it",
              [at_most(found, LOADS[16], "p50", pairs_of(x)[0], MEDIAN) for x in SHORT]),
        claim("Queue p95", "16 jobs: p95 of K2-x is below none's", f"aim: at most {P95} of it",
              [at_most(found, LOADS[16], "p95", pairs_of(x)[0], P95) for x in SHORT]),
        claim("Queue jobs", "the more jobs compete for tags, the larger the difference",
              f"aim: at most {MANY} of none's p50 with 64 jobs",
              [medians_fall(found), at_most(found, LOADS[64], "p50", none, MANY)]),
        claim("Queue p99", "K2's gain at p99 is smaller than at p50", "aim: K2's share of none's p99 is "
              f"{HIDDEN} above its share of p50, as requests of one chip that are in the "
              "drive decide p99", [hidden(found, jobs) for jobs in (3, 16)]),
        claim("Queue map", "a map of the chips shortens K2's p99 further",
              f"aim: at most {MAPPED} of K2's without a map, and of none's",
              [part for jobs, bound in ((3, 8), (16, 8), (16, 16), (64, 8))
               for part in mapped(found, jobs, bound)]),
        claim("Queue mq-deadline", "mq-deadline with a device queue of 8 has a longer median "
              "and less bandwidth than K2-8", f"aim: at most {DEADLINE} of its p50, at least "
              f"{FASTER} of its bandwidth",
              [part for load in LOADS.values() for part in (
                  at_most(found, load, "p50", deadline, DEADLINE),
                  bandwidth(found, load, deadline))]),
        claim("Queue writers", "beside writeback, a journal's commits and fsync K2-8 is no "
              "worse than either with a device queue of 8",
              f"aim: at most {NO_WORSE} of their p50 and p95",
              [at_most(found, load, name, pair, NO_WORSE) for load in WRITERS
               for name in ("p50", "p95") for pair in (none, deadline)]),
        claim("Queue alone", f"beside writeback rt_alone with a bound of {ALONE_BOUND} has much "
              f"shorter reads than none with a device queue of {ALONE_BOUND}, a tail as short "
              "as mq-deadline's, and the bandwidth of both",
              f"aim: at most {ALONE} of none's p50 and p95, at most {NO_WORSE} of "
              f"mq-deadline's p95, at least {ALL} of their bandwidth",
              [*(at_most(found, "writeback", name, alone_none, ALONE)
                 for name in ("p50", "p95")),
               at_most(found, "writeback", "p95", alone_deadline, NO_WORSE),
               *(bandwidth(found, "writeback", pair, ALL)
                 for pair in (alone_none, alone_deadline))]),
    ]
