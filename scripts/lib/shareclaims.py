# SPDX-License-Identifier: GPL-2.0
"""The claims about acfq and hbfq, compared with measured cells. Pure.

default(): what the default modes have to do, on suite share. paper(): the
figures of the A+CFQ and H+BFQ paper, on suite share-paper; their direction,
and the paper's ratios beside ours. PV and inversions are in the unit that a
scheduler charges in the first, in sectors in the second, as the paper measures
bandwidth. If that is time it is known of the single requests only where what
they were charged could be computed again; by_chips() says where it is not.
"""

import claims
from claims import figure
from piqclaims import Table

OURS = ("acfq", "hbfq")
VARIANTS = ("c", "d")
MIXES = ("mix-111", "mix-125", "mix-521", "mix-1210")
SAME = ("same-4k", "deep-4k", "even-4k", "same-fileserver", "same-msn",
        "same-prj", "same-prn", "same-wide")
# A tenant with 10 of 13 parts has all of its requests in the drive, and few
# others are in there: shares cost throughput then, whatever scheduler keeps to
# them.
EVEN = tuple(name for name in SAME if name != "same-wide")
ALONE = ("alone-4k", "alone-fileserver", "alone-msn", "alone-prj",
         "alone-prn")
TRACES = ("msn", "prj", "prn")
PV_MAX = 0.1
KEPT = 0.95
ALONE_KEPT = 0.02
THIRD, HALF, LOSS = 1 / 3, 1 / 2, 0.04
COST_MAX = 1.3
# The paper's "similar", its largest loss of throughput
SIMILAR = 0.07
BANDWIDTH = "bandwidth_bytes_per_s"
BUDGETS = (128, 256, 512, 1024, 2048)
# Figure 20(d): longest latency, bfq's over hbfq's
LONGEST = {"msn": 3.1, "prj": 2.1, "prn": 5.5}


def rivals(variant):
    """Labels that stand beside ours."""
    return ("bfq", "bfq-noidle", f"iocost-{variant}")


# A PV below it is as good as 0.
LEAST = 0.001


def number(value):
    """A PV as people read it."""
    if value is None:
        return "none"
    return f"<{LEAST}" if 0 < value < LEAST else f"{value:.3g}"


def times_of(values):
    """Two times as people read them: us, or ms where they are long."""
    scale, unit = (1e3, "ms") if max(values) >= 10e-3 else (1e6, "us")
    return " against ".join(f"{value * scale:.0f}" if value * scale >= 100
                            else f"{value * scale:.3g}"
                            for value in values) + f" {unit}"


def rates_of(values):
    """Two rates, in MB/s."""
    return " against ".join(f"{value * 1e-6:.0f}" if value >= 100e6
                            else f"{value * 1e-6:.3g}"
                            for value in values) + " MB/s"


def between(values):
    """From the least to the largest, or the one that there is."""
    low, high = number(min(values)), number(max(values))
    return low if low == high else f"{low} to {high}"


def tenants(cell, metric):
    """{tenant: figure} of a metric that each tenant has."""
    end = "_" + metric
    return {name[:-len(end)]: figure(cell, name)
            for name in (cell["metrics"] if cell else ())
            if name.endswith(end) and not name.startswith("latency_")
            and name[:-len(end)] not in ("read", "write")}


def worst(cell, metric):
    """The largest of the tenants' figures; None if one is unknown."""
    values = list(tenants(cell, metric).values())
    return max(values) if values and None not in values else None


# --- default modes -----------------------------------------------------------

# Figures shown beside one in the unit charged
CONFIRMED = {"pv_sending_charged": (("pv_sending_chip", "by chip time"),
                                    ("pv_sending_sectors", "by bytes"))}


def by_chips(cell):
    """Are its windows and service by the chips' time?

    Though it charges another time, of which only sums are known.
    """
    value = cell["metrics"].get("windows_by_charge") if cell else None
    return bool(value) and value["min"] < 1


# Figures of the single requests
SINGLE = ("inversions_charged", "service_ratio_charged")


def everywhere(table, label, variant, workloads, metric, limit, text):
    """Part: a metric is at most `limit` in all of these workloads."""
    cells, found, beside, few, chips = [], {}, {}, [], []
    for workload in workloads:
        cell = table.get(workload, label, variant)
        value = figure(cell, metric)
        if value is None:
            # A tenant that gets next to nothing fills no window.
            few += [workload] if cell else []
            continue
        cells.append(cell)
        found[workload] = value
        if metric in SINGLE and by_chips(cell):
            chips.append(workload)
        for unit, name in CONFIRMED.get(metric, ()):
            other = figure(cell, unit)
            if other is not None:
                beside.setdefault(name, []).append(other)
        for name in rivals(variant):
            other = figure(table.get(workload, name, variant), metric)
            if other is not None:
                beside.setdefault(name, []).append(other)
    part = claims.Part(f"{label}, {variant}: {text}", cells)
    if not found:
        return part
    far = [name for name, value in found.items() if value > limit]
    return part.judge(not far, ", ".join(
        f"{name} {number(value)}" for name, value in found.items()) + "".join(
        f"; {name} {between(values)}" for name, values in beside.items()) + (
            f"; too few requests: {', '.join(few)}" if few else "") + (
            f"; by chip time: {', '.join(chips)}" if chips else ""))


def in_device(pair, base):
    """How many requests the drive has had, and under base, in brackets."""
    counts = [figure(one, "in_device_mean") for one in pair]
    return "" if None in counts else \
        f" ({counts[0]:.0f} in the drive, {base} {counts[1]:.0f})"


def compared(table, label, base, variant, workloads, metric, low, high, text):
    """Part: a metric over another label's lies between low and high."""
    cells, found, beside = [], {}, {}
    for workload in workloads:
        one = table.change(metric, label, base, workload, variant)
        if one:
            found[workload] = one[0] + 1
            beside[workload] = in_device(one[1], base) \
                if metric == BANDWIDTH else ""
            cells += one[1]
    part = claims.Part(f"{label}, {variant}: {text}", cells)
    if not found:
        return part
    return part.judge(all(low <= ratio <= high for ratio in found.values()),
                      ", ".join(f"{name} {ratio:.3f}{beside[name]}"
                                for name, ratio in found.items()))


# Loads as large as the weights of the other ask for, without a scheduler
LIKE = {"mix-125": "like-125", "mix-1210": "like-1210"}


def by_bytes(cell):
    """The tenants' parts of what was moved, in %, in brackets."""
    parts = list(tenants(cell, BANDWIDTH).values())
    if not parts or None in parts:
        return ""
    return " (" + ":".join(f"{100 * part / sum(parts):.0f}"
                           for part in parts) + ")"


def alike(table, label, variant):
    """Part: chips are as busy as none's with loads in the same parts."""
    cells, found, told = [], [], []
    for workload, like in LIKE.items():
        pair = (table.get(workload, label, variant),
                table.get(like, "none", variant))
        ours, theirs = (figure(one, "utilisation_milli") for one in pair)
        if ours is None or not theirs:
            continue
        cells += pair
        found.append(ours / theirs)
        told.append(f"{workload}{by_bytes(pair[0])} {ours / theirs:.3f} of "
                    f"{like}'s{by_bytes(pair[1])}")
    part = claims.Part(f"{label}, {variant}: busy chips at least {KEPT:.0%} of "
                       "what none does with loads in about these parts",
                       cells)
    return part.judge(min(found) >= KEPT, ", ".join(told)) if found else part


ENDLESS = float("inf")


def tail(table, variant, base, limit):
    """Part: each tenant's p99.9 under hbfq at most this part of base's."""
    mine, other = (table.get("mix-111", label, variant)
                   for label in ("hbfq", base))
    part = claims.Part(f"mix-111, {variant}: each tenant's p99.9 under hbfq "
                       f"at most {limit:.2f} of {base}'s", [mine, other])
    for metric in ("latency_p99_9_s", "latency_p99_s"):
        ours, theirs = (tenants(cell, metric) for cell in (mine, other))
        known = {name: ours[name] / theirs[name] for name in ours
                 if ours[name] is not None and theirs.get(name)}
        if not known or len(known) < len(ours):
            continue
        # The part of it that no order of requests takes away
        means = tenants(mine, "latency_mean_s")
        told = ", ".join(
            f"{name} {ratio:.2f}" + (
                f" (its mean {means[name] / theirs[name]:.2f})"
                if means.get(name) else "")
            for name, ratio in known.items())
        if metric == "latency_p99_9_s":
            return part.judge(max(known.values()) <= limit, told)
        part.ours = f"too few requests for p99.9; p99: {told}"
        break
    return part


def under(tail_part, conditions):
    """A part and its conditions: of a tail that was not judged none counts."""
    if tail_part.holds is None:
        for part in conditions:
            part.holds, part.ours = None, "not measured"
    return [tail_part, *conditions]


def cheap(table, label, variant):
    """Parts: CPU time of an I/O beyond none's."""
    cells = {name: table.get("cost-4k", name, variant)
             for name in (label, "none", "bfq", "mq-deadline")}
    costs = {name: figure(cell, "busy_ns_per_io")
             for name, cell in cells.items()}
    over = {name: cost - costs["none"] for name, cost in costs.items()
            if cost is not None and costs["none"] is not None}
    parts = []
    for name, most in (("bfq", 1.0), ("mq-deadline", COST_MAX)):
        part = claims.Part(
            f"cost-4k, {variant}: {label} costs "
            + (f"at most {most} times" if most != 1 else "less than")
            + f" what {name} does, beyond none",
            [cells[label], cells[name], cells["none"]])
        if label in over and name in over:
            part.judge(over[label] <= most * over[name]
                       if most != 1 else over[label] < over[name],
                       f"{over[label]:.0f} against {over[name]:.0f} ns")
        parts.append(part)
    return parts


def default(cells):
    """The aims for the default modes."""
    table = Table(cells)
    pairs = [(label, variant) for label in OURS for variant in VARIANTS]
    shared = SAME + MIXES
    return [
        claims.claim(
            "PV", "every weight set is kept, in the unit charged",
            f"aim: PV at most {PV_MAX}",
            [everywhere(table, *pair, shared, "pv_sending_charged", PV_MAX,
                        f"PV at most {PV_MAX} while all send")
             for pair in pairs]),
        claims.claim(
            "Windows", "no tenant is ahead of one with more weight in any "
            "window of 50 requests of the smallest, in the unit charged", "aim",
            [everywhere(table, *pair, shared, "inversions_charged", 0,
                        "no inversion") for pair in pairs]),
        claims.claim(
            "Bound", "the service of two backlogged tenants differs by at "
            "most (D + 1)(c_i/w_i + c_j/w_j), in the unit charged",
            "other: W. Jin, J. S. Chase, J. Kaur, Interposed Proportional Sharing "
            "for a Storage Service Utility, SIGMETRICS 2004, for start-time fair "
            "queueing. D: the most that the scheduler lets into the drive, or else "
            "that were there; c: the largest request of either tenant; w: its weight "
            "over 100. acfq is such a scheduler; hbfq is not, and is held against it "
            "all the same",
            [everywhere(table, *pair, shared, "service_ratio_charged", 1,
                        "largest difference over the bound")
             for pair in pairs]),
        claims.claim(
            "Throughput", "same load: as much as without a scheduler",
            "aim: 95 % of none, no less than bfq with slice_idle=0",
            [compared(table, *pair[:1], base, pair[1], EVEN, BANDWIDTH, low,
                      ENDLESS, f"bandwidth at least {low:.1%} of {base}'s")
             for pair in pairs
             for base, low in (("none", KEPT),
                               ("bfq-noidle", 1 - claims.NOISE))]),
        claims.claim(
            "Chips", "unlike loads: chips are as busy", "aim: 95 % of none",
            [compared(table, label, "none", variant, MIXES,
                      "utilisation_milli", KEPT, ENDLESS,
                      f"busy chips at least {KEPT:.0%} of none's")
             for label, variant in pairs] + [alike(table, "acfq", "c")]),
        claims.claim(
            "Tails", "hbfq's tails are well under bfq's, at equal shares",
            "aim: a third of bfq's p99.9, half of it with slice_idle=0, "
            "low_latency=0; at most 4 % of the throughput",
            [part for variant in VARIANTS
             for base, limit in (("bfq", THIRD), ("bfq-noidle", HALF))
             for part in under(tail(table, variant, base, limit), (
                 compared(table, "hbfq", base, variant, ("mix-111",),
                          BANDWIDTH, 1 - LOSS, ENDLESS, "bandwidth at least "
                          f"{1 - LOSS:.0%} of {base}'s"),
                 # Loads differ, so the shares of the tenants change the bytes.
                 compared(table, "hbfq", base, variant, ("mix-111",),
                          "utilisation_milli", 1 - LOSS, ENDLESS, "busy "
                          f"chips at least {1 - LOSS:.0%} of {base}'s")))]),
        claims.claim(
            "Alone", "one tenant alone loses nothing", "aim: within 2 %",
            [compared(table, label, "none", variant, ALONE, BANDWIDTH,
                      1 - ALONE_KEPT, ENDLESS,
                      f"bandwidth within {ALONE_KEPT:.0%} of none's")
             for label, variant in pairs]),
        claims.claim(
            "Cost", "CPU time over none's below bfq's and near mq-deadline's, four "
            "tenants of depth 32 (see also scripts/bench-cost)",
            "aim: 1.3 times mq-deadline's",
            [part for label in OURS for part in cheap(table, label, "d")]),
    ]


# --- the paper ---------------------------------------------------------------

def less(table, text, metric, one, other):
    """Part: of two (workload, label, variant) the first has less of it.

    metric: of a cell, or with "worst:" before it the worst tenant's.
    """
    cells = [table.get(*one), table.get(*other)]
    part = claims.Part(text, cells)
    if metric.startswith("worst:"):
        values = [worst(cell, metric[len("worst:"):]) for cell in cells]
    else:
        values = [figure(cell, metric) for cell in cells]
    if None in values:
        return part
    if metric == BANDWIDTH:
        told = rates_of(values)
    elif metric.endswith("_s"):
        told = times_of(values)
    else:
        told = " against ".join(map(number, values))
    return part.judge(values[0] < values[1], told)


def below(table, metric, workloads, variant, label, others, what):
    """Parts: less() for each workload and other label."""
    return [less(table, f"{workload}: {what} of {label} below {other}'s",
                 metric, (workload, label, variant),
                 (workload, other, variant))
            for workload in workloads for other in others]


def misses(table, label, workloads):
    """Parts: this scheduler does not give the shares."""
    parts = []
    for workload in workloads:
        cell = table.get(workload, label, "c")
        part = claims.Part(f"{workload}: PV of {label} above {PV_MAX}",
                           [cell])
        value = figure(cell, "pv_sectors")
        parts.append(part if value is None else
                     part.judge(value > PV_MAX, number(value)))
    return parts


def times(table, workload, paper_):
    """Part: the longest latency, bfq's over hbfq's best budget's."""
    base = table.get(workload, "bfq", "c")
    mine = [cell for cell in (table.get(workload, f"hbfq-{budget}", "c")
                              for budget in BUDGETS) if cell]
    part = claims.Part(f"{workload}: bfq's longest latency over that of hbfq's "
                       "best budget", [base, *mine], f"{paper_} times")
    known = [value for value in (worst(cell, "latency_max_s")
                                 for cell in mine) if value]
    first = worst(base, "latency_max_s")
    if not known or first is None:
        return part
    ratio = first / min(known)
    return part.judge(ratio >= paper_, f"{ratio:.1f} times")


def paper(cells):
    """The paper's figures."""
    table = Table(cells)
    pv, spread = "pv_sectors", "worst:latency_stddev_s"
    moving, most = "window_pv_median_sectors", "window_pv_max_sectors"
    found = [
        claims.claim("Fig 1, 2", f"CFQ misses the weights on an SSD, by a PV above "
                     f"{PV_MAX}",
                     "all six loads, by factors at times",
                     misses(table, "cfq", ("ycsb-a", "ycsb-d", "fileserver",
                                           *TRACES))),
        claims.claim("Fig 4", "with one channel shares are nearer",
                     "ycsb-a and msn: much nearer, somewhat nearer",
                     [less(table, f"{name}: PV over windows with one channel "
                           "below that with all", moving,
                           (name, "cfq", "c-1ch"), (name, "cfq", "c"))
                      for name in ("ycsb-a", "msn")]),
        claims.claim("Fig 5, 6", "without the cache they are nearer",
                     "ycsb-a slightly, fileserver",
                     [less(table, f"{name}: PV over windows without the "
                           "cache below that with it", moving,
                           (name, "cfq", "c-nocache"), (name, "cfq", "c"))
                      for name in ("ycsb-a", "fileserver")]
                     + [less(table, "fileserver without the cache: writes "
                             "alone are nearer than reads alone", moving,
                             ("fileserver-w", "cfq", "c-nocache"),
                             ("fileserver-r", "cfq", "c-nocache"))]),
        claims.claim("Fig 7", "at queue depth 1 they are nearer",
                     "ycsb-a distinctly, msn slightly",
                     [less(table, f"{name}: PV over windows at depth 1 below "
                           "that at 32", moving, (name, "cfq-qd1", "c"),
                           (name, "cfq", "c")) for name in ("ycsb-a", "msn")]
                     ),
        claims.claim("Fig 8", "each of the three costs throughput",
                     "considerably on most; ycsb with the cache off little",
                     [less(table, f"{name}, {text}: less bandwidth",
                           BANDWIDTH, (name, label, variant),
                           (name, "cfq", "c"))
                      for text, label, variant, names in (
                          ("one channel", "cfq", "c-1ch",
                           ("ycsb-a", "fileserver", "msn")),
                          ("no cache", "cfq", "c-nocache",
                           ("fileserver", "msn")),
                          ("depth 1", "cfq-qd1", "c",
                           ("ycsb-a", "fileserver", "msn")))
                      for name in names]),
        claims.claim("Fig 10", "counting requests is nearer than slices of "
                     "time", "sizes of 32 and 256 KB, reads and writes",
                     [part for size in (32, 256) for way in "rw"
                      for part in below(table, pv, (f"rand-{size}k-{way}",),
                                        "c", "cfq", ("cfq-time",), "PV")]),
        claims.claim("Fig 11", "counting sectors is nearer than requests",
                     "fileserver", below(table, pv, ("fileserver",), "c",
                                         "cfq-sectors", ("cfq",), "PV")),
        claims.claim("Fig 14", "A+CFQ is nearer to the weights than CFQ and BFQ",
                     "prj and prn: it keeps to them, CFQ and BFQ do not; bfq's "
                     "throughput is slightly higher",
                     below(table, pv, ("prj", "prn"), "c", "acfq-paper",
                           ("cfq", "bfq"), "PV")),
        claims.claim("Fig 15", "A+CFQ's worst window is nearer than BFQ's",
                     "prn: it keeps to them over time",
                     below(table, most, ("prn",), "c", "acfq-paper",
                           ("bfq",), "largest PV of a window")),
        claims.claim("Fig 18a, b", "H+BFQ is nearer to the weights than CFQ "
                     "and BFQ", "significantly lower PV",
                     below(table, pv, ("prj", "prn"), "c", "hbfq-paper",
                           ("cfq", "bfq"), "PV")),
        claims.claim("Fig 18c, 19a", "H+BFQ has BFQ's throughput and mean "
                     "latency", "within 7 %",
                     [compared(table, "hbfq-paper", "bfq", "c", (load,), *what)
                      for load in TRACES for what in (
                          (BANDWIDTH, 1 - SIMILAR, ENDLESS,
                           "bandwidth no more than 7 % below bfq's"),
                          ("latency_mean_s", 0, 1 + SIMILAR,
                           "worst mean latency no more than 7 % above"))]),
        claims.claim("Fig 19b", "latency scatters less under H+BFQ than under "
                     "CFQ, BFQ and A+CFQ",
                     "lowest of all on all three",
                     below(table, spread, TRACES, "c", "hbfq-paper",
                           ("cfq", "bfq", "acfq-paper"),
                           "worst standard deviation")),
        claims.claim("Fig 20c", "and less with the smallest budget than with "
                     "the largest",
                     "128 sectors best",
                     [less(table, f"{name}: worst standard deviation with 128 "
                           "below that with 2048", spread,
                           (name, "hbfq-128", "c"), (name, "hbfq-2048", "c"))
                      for name in TRACES]),
        claims.claim("Fig 20d", "the longest latency is shorter than BFQ's by as "
                     "much as there",
                     "up to 3.1 (msn), 2.1 (prj), 5.5 times (prn)",
                     [times(table, name, ratio)
                      for name, ratio in LONGEST.items()]),
        claims.claim("Fig 23", "unlike loads: A+CFQ and H+BFQ are nearer than CFQ "
                     "at all four weight sets",
                     "they keep to the weights, cfq fails at all, bfq is partly "
                     "correct",
                     [part for label in ("acfq-paper", "hbfq-paper")
                      for part in below(table, pv, MIXES, "c", label,
                                        ("cfq",), "PV")]),
        claims.claim("Fig 24", "unlike loads: H+BFQ is steadier than CFQ and BFQ",
                     "standard deviation and longest latency",
                     below(table, spread, MIXES, "c", "hbfq-paper",
                           ("cfq", "bfq"), "worst standard deviation")
                     + below(table, "worst:latency_max_s", MIXES, "c",
                             "hbfq-paper", ("cfq", "bfq"),
                             "longest latency")),
        claims.claim("Fig 25", "unlike loads at 1:2:5: nobody overtakes a heavier "
                     "one in any window",
                     "cfq and at times bfq do, A+CFQ and H+BFQ do not",
                     [everywhere(table, label, "c", ("mix-125",),
                                 "inversions_sectors", 0, "no inversion")
                      for label in ("acfq-paper", "hbfq-paper")]),
    ]
    return claims.under(found, "profile C; each part names its load, which never pauses")
