# SPDX-License-Identifier: GPL-2.0
"""Stand-ins for the PIQ paper's fifteen inputs.

The published figures of each are in tests/traces/piq15.csv, the fitted ones in
piq15-fit.csv beside it (scripts/fit-standins). Numbers of reads and of writes
are exact.

Three properties are those of public pieces of such volumes (HM's, of 1,000 and
10,000 requests), alike for all inputs of a set:

- Requests come in clusters, with microseconds within one. Half of the clusters
  are a single request; the others have `cluster` requests in the mean, which is
  fitted. In HM's pieces half are one or two, and the mean of longer ones is 8 to
  14. How much longer some are than others is `spread`. No time is compressed: the
  rate is the published one.
- A share `persistence` of the requests has the direction of the request before, read
  or write: in the pieces 90 to 98 %.
- One request in five begins where one of the 64 before it of its kind began.

Other addresses have two parts. The MiB is drawn with Zipf weights, as in all
stand-ins; the number of MiBs decides how much writes rewrite. The place within
128 KiB, once around the 64 chips of a device that is striped page by page, is
drawn by `lean`, a number for reads and one for writes, also fitted: it decides
which requests conflict. Above 0: the share that begins on the chip that the
request before began on. Below 0: the share that begins behind the chip that the
request before ended on. The rest begins anywhere.

There are two sets, as Table I's "requests enrolled in conflicts" can be counted
in two ways. First set: at arrival, a request that is not done needs one of its
chips. Second set: it is the first in noop's queue, and one of its chips is busy.

The second set also has the waits of Figure 2(b), 6.5 times the service for reads and
10.1 times for writes in the mean of the inputs, and Figure 9's few reads before older
writes: `spread` and `persistence` are chosen for that. The spread is the deviation of
the logarithm of the mean from which a cluster's size is drawn. In HM's pieces the
sizes of clusters, 5 ms apart, deviate by 2.5 times their mean in the longer piece, and by
1.0 in the other; with a spread of 0 and of SHAPES they do by 1.0 and by 1.7.
"""

import array
import collections
import csv
import itertools
import math
import pathlib
import random
from bisect import bisect

REPO = pathlib.Path(__file__).resolve().parents[2]
TRACES = REPO / "tests" / "traces"
PUBLISHED, FITTED = TRACES / "piq15.csv", TRACES / "piq15-fit.csv"

SECTOR, BLOCK, REGION = 512, 4096, 1 << 20
# Once around the 64 chips of the paper's device
ROUND = 64 * 2048
# Zipf weights of the MiBs; the same as synthetic.py has for MSR volumes
SKEW = 0.85
# The second set of inputs
HEAD = "-head"
# Share of requests that keep the direction whatever is left; the spread of clusters
SHAPES = {"": {"persistence": 0.95, "spread": 0.0},
          HEAD: {"persistence": 0.98, "spread": 0.8}}
# Share of requests that repeat a place, and the number of recent places to choose from
REPEATED, RECENT = 0.2, 64
# Share of clusters that are one request. Seconds within a cluster: median, and
# the deviation of the logarithm, which makes the mean 7 times the median
SINGLE = 0.5
WITHIN, WITHIN_DEVIATION = 8e-6, 2.0
# For which nothing but Table I's row is published: sizes, rate and what was
# fitted are the medians of the others.
UNCALIBRATED = ("wdev_0", "usr_0")
# Its cell is the paper's slip; what is fitted instead is the others' median.
NO_WRITE_CONFLICTS = ("stg_0",)


def _rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return {row.pop("name"): row for row in csv.DictReader(lines)}


def published():
    """{name: {column: number or None}} of piq15.csv, in its order."""
    return {name: {key: float(text) if "." in text else int(text)
                   if text else None for key, text in row.items()}
            for name, row in _rows(PUBLISHED).items()}


def fitted():
    """{name: {column: number}} of piq15-fit.csv; {} if there is none."""
    if not FITTED.exists():
        return {}
    return {name: {key: float(text) for key, text in row.items() if text}
            for name, row in _rows(FITTED).items()}


def median(values):
    """The upper one of two, so that it is one of them."""
    values = sorted(values)
    return values[len(values) // 2]


def known(row):
    """Is more published than Table I's row?"""
    return row["read_sectors"] is not None


def filled():
    """published(), with medians where there is nothing."""
    rows = published()
    for key in ("read_sectors", "write_sectors", "rewritten_share", "gap_ms"):
        middle = median(row[key] for row in rows.values()
                        if row[key] is not None)
        for row in rows.values():
            if row[key] is None:
                row[key] = middle
    return rows


def sizes(mean):
    """A mix of powers of two from 4 KiB up with this mean, in sectors.

    As synthetic.py's for these volumes, with 64 KiB as the largest unless the
    mean wants more: on an idle device requests that are longer keep more chips
    busy than Table I has.
    """
    count = 5
    while 0.75 * (8 << count - 1) < mean:
        count += 1
    known_sizes = [8 << n for n in range(count)]
    low, high = 0.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        mix = tuple((size, middle**n) for n, size in enumerate(known_sizes))
        have = sum(size * share for size, share in mix) / \
            sum(share for _, share in mix)
        low, high = (middle, high) if have < mean else (low, middle)
    return mix


def two_sizes(mean):
    """A mix of 4 and 64 KiB with this mean, in sectors, for what sizes do to PIQ.

    The larger size is doubled until a tenth of the requests, or more, is small.
    """
    small, large = 8, 128
    while 0.9 * large + 0.1 * small < mean:
        large *= 2
    share = (mean - small) / (large - small)
    return (small, 1 - share), (large, share)


def targets(name):
    """(share of reads in conflict, of writes, busy chips) of Table I."""
    rows = published()
    name = base(name)
    row = rows[name]
    writes = row["write_conflicts"] / row["writes"]
    if name in NO_WRITE_CONFLICTS:
        writes = median(other["write_conflicts"] / other["writes"]
                        for key, other in rows.items()
                        if known(other) and key not in NO_WRITE_CONFLICTS)
    return (row["read_conflicts"] / row["reads"], writes, row["busy_chips"])


def rewritten(writes, sectors, regions):
    """The share of `writes` requests' sectors that rewrite others.

    Places within a MiB are even enough to count as such: of a MiB that gets n
    written blocks 1 - exp(-n / 256) is covered.
    """
    blocks = writes * sectors * SECTOR / BLOCK
    per_region = REGION // BLOCK
    weights = [(n + 1) ** -SKEW for n in range(regions)]
    total = sum(weights)
    # A repeat rewrites what the shorter one of the two has.
    mix = sizes(sectors)
    again = sum(min(one, other) * p * q for one, p in mix
                for other, q in mix) / sectors / sum(p for _, p in mix)**2
    new = (1 - REPEATED * again) * blocks
    covered = sum(per_region * (1 - math.exp(-new * weight / total /
                                             per_region))
                  for weight in weights)
    return 1 - covered / blocks


def base(name):
    """The input that a stand-in of either set is for."""
    return name.removesuffix(HEAD)


def set_of(name):
    """The end of the names of a stand-in's set: "" or HEAD."""
    return HEAD if name.endswith(HEAD) else ""


def shape(name):
    """The properties that are alike for a stand-in's set."""
    return SHAPES[set_of(name)]


def footprint(row):
    """MiB, so that a million requests rewrite the share that they should."""
    writes = row["first_writes"] or \
        1e6 * row["writes"] / (row["reads"] + row["writes"])
    low, high = 1, 1 << 18
    while low < high:
        middle = (low + high) // 2
        if rewritten(writes, row["write_sectors"], middle) > \
                row["rewritten_share"]:
            low = middle + 1
        else:
            high = middle
    return low


def arrivals(kind, count, rng):
    """Times in seconds from 0, with the mean rate exactly as stated."""
    mean, spread = max(kind.calibrated["cluster"], 1.0), kind.calibrated["spread"]
    # Apart, so that other clusters do not change all times
    inner = random.Random(rng.random())
    # The first set draws none, as its times must not change.
    sizes_of = random.Random(inner.random()) if spread else None
    # The time before each request; 0: it begins a cluster
    within = []
    while len(within) < count:
        within.append(0.0)
        if mean > 1 and rng.random() >= SINGLE:
            this = mean
            if spread:
                # The mean of all stays what it is.
                this = 1.0001 + (mean - 1) * sizes_of.lognormvariate(
                    -spread**2 / 2, spread)
            more = int(math.log(1 - rng.random()) / math.log(1 - 1 / this))
            within += (inner.lognormvariate(math.log(WITHIN), WITHIN_DEVIATION)
                       for _ in range(more))
    within = within[1:count]
    between = [0.0 if gap else rng.expovariate(1) for gap in within]
    stretch = max(count / kind.iops - sum(within), 0) / (sum(between) or 1)
    return array.array("d", itertools.accumulate(
        (gap + stretch * lull for gap, lull in zip(within, between)),
        initial=0.0))


def requests(kind, times, seed, name):
    """(ns, device, is a read, offset, length) of a stand-in.

    kind: a synthetic.StandIn with `calibrated`; times: seconds, one a request.
    """
    rng = random.Random(f"{name} {seed} chips")
    values = kind.calibrated
    regions = kind.footprint_mib
    weights = list(itertools.accumulate(
        (n + 1) ** -SKEW for n in range(regions)))
    parts = {}
    for read, sizes in ((True, kind.read_sizes), (False, kind.write_sizes)):
        order = list(range(regions))
        rng.shuffle(order)
        parts[read] = ([size * SECTOR for size, _ in sizes],
                       list(itertools.accumulate(w for _, w in sizes)),
                       order, values["lean_read" if read else "lean_write"])
    left = len(times)
    reads = round(left * values["reads"] /
                  (values["reads"] + values["writes"]))
    begin = end = 0
    recent = {way: collections.deque(maxlen=RECENT) for way in parts}
    draw, total = rng.random, weights[-1]
    read = None
    for at in times:
        # Draws without putting back: the number of reads is exact.
        if read is None or draw() >= values["persistence"] or \
                not (reads if read else left - reads):
            read = draw() * left < reads
        left -= 1
        reads -= read
        lengths, shares, order, lean = parts[read]
        length = lengths[bisect(shares, draw() * shares[-1])]
        place = int(draw() * (ROUND // BLOCK)) * BLOCK
        if draw() < abs(lean):
            place = begin if lean > 0 else end
        offset = order[bisect(weights, draw() * total)] * REGION + \
            int(draw() * (REGION // ROUND)) * ROUND + place
        if recent[read] and draw() < REPEATED:
            offset = rng.choice(recent[read])
        while offset + length > regions * REGION:
            offset -= ROUND
        recent[read].append(offset)
        begin, end = offset % ROUND, (offset + length) % ROUND
        yield int(at * 1e9), "0", read, offset, length
