# SPDX-License-Identifier: GPL-2.0
"""The claims about K2's search, compared with cells of suite k2-auto.

Pure functions. A search is compared with a scan: K2 with each static bound under
the same load, of which the best is picked afterwards. Where a run had fewer
requests than a claim wants, the interval of what was seen decides, and the text
says how many there were.
"""

import math

import claims
from claims import Part, claim, figure

# Least and largest share of late real-time requests, for a quantile of 0.99
MISS_LOW, MISS_HIGH = 0.0075, 0.0125
# Requests that a verdict about it takes
WHOLE = 10000
# A tail that 50 requests are beyond is taken as it stands.
TAIL_WHOLE = 5000
# Least ratio to the best static bound's bandwidth; largest to the best one's tail
BANDWIDTH_MIN, TAIL_MAX = 0.95, 1.10
FLAG_S = 10.0
# Largest share of samples that flag a target by mistake, if it can be held
FLAGGED_MAX = 0.05
ALONE_MIN = 0.98
# Known layouts: random reads, and the other operations
TENTH, HALF, READ_BANDWIDTH = 0.1, 0.5, 0.90
NEAR_ONE, OTHER_BANDWIDTH = 1.1, 0.95
DEFAULT_FLOOR = 10

BASE = "rand-read"
BIG = ("big-read", "big-write")
# Loads after their step: the workload with the scan for the comparison
AFTER = {"step-more": BASE, "step-larger": "big-read"}
OTHERS = ("seq-read", "seq-write", "rand-write")
TARGETS, FLOORS = (30, 50, 70), (50, 80, 90)


def mb(number):
    """Bytes a second as text, in MB/s."""
    return f"{number / 1e6:.0f} MB/s"


def us(number):
    """Seconds as text, in us."""
    return f"{number * 1e6:.0f} us"


class Cells:
    """The cells by workload and variant, static bounds apart."""

    def __init__(self, cells):
        self.named, self.scans = {}, {}
        for cell in cells:
            if cell["cell"].endswith(".x1"):
                continue
            place = (cell["workload"], cell["variant"])
            self.named[(*place, cell["label"])] = cell
            if cell["scheduler"] == "k2" and \
                    set(cell["tunables"]) == {"max_inflight"}:
                self.scans.setdefault(place, []).append(cell)

    def get(self, workload, variant, label):
        """One of them, or None."""
        return self.named.get((workload, variant, label))

    def scan(self, workload, variant):
        """Static bounds that were measured, from the smallest up."""
        return sorted((cell for cell in self.scans.get((workload, variant), ())
                       if rate(cell) is not None and
                       figure(cell, "settled_tail_s") is not None),
                      key=lambda cell: int(cell["tunables"]["max_inflight"]))

    def searches(self, workload, policy):
        """[(variant, cell)] of those that search, by policy.

        For the default quantile: what may be late of another is not known
        here.
        """
        return [(cell["variant"], cell) for cell in self.named.values()
                if cell["workload"] == workload and
                cell["tunables"].get("policy") == policy and
                "target_quantile" not in cell["tunables"]]

    def variants(self, workload):
        """Variants in which this workload was measured."""
        return list(dict.fromkeys(variant for name, variant, _ in self.named
                                  if name == workload))


def rate(cell, phase="settled"):
    """Bandwidth of a phase; of the whole run where no series was kept."""
    found = figure(cell, f"{phase}_bandwidth_bytes_per_s")
    return figure(cell, claims.BANDWIDTH) if found is None and \
        phase == "settled" else found


def wilson(late, count):
    """[low, high]: where a share is, with 95 %, by Wilson."""
    if not count:
        return 0.0, 1.0
    z = 1.96
    share = late / count
    middle = share + z * z / 2 / count
    reach = z * math.sqrt(share * (1 - share) / count
                          + z * z / 4 / count / count)
    return (max(0.0, (middle - reach) / (1 + z * z / count)),
            min(1.0, (middle + reach) / (1 + z * z / count)))


# --- O1 ----------------------------------------------------------------------

def missed(name, cell, phase, scan):
    """Part: as many are late as may be; of targets that a bound holds."""
    part = Part(f"{name}: {MISS_LOW:.2%} to {MISS_HIGH:.2%} of the real-time "
                "requests are late", [cell])
    count, late = (figure(cell, f"{phase}_{key}")
                   for key in ("requests", "late"))
    if count is None or late is None:
        return part
    low, high = (figure(cell, f"{phase}_miss_share", end)
                 for end in ("min", "max"))
    told = f"{late:.0f} of {count:.0f}" + (
        f", {low:.2%}" if low == high else
        f", {low:.2%} to {high:.2%} by seed") + (
        f", target {us(figure(cell, 'target_s'))}"
        if figure(cell, "target_s") is not None else "")
    if scan and figure(cell, "target_s") is not None and \
            best_under(scan, figure(cell, "target_s")) is None:
        part.ours = told + "; no bound of the scan holds it"
        return part
    if count >= WHOLE:
        return part.judge(low >= MISS_LOW and high <= MISS_HIGH, told)
    low, high = wilson(late, count)
    return part.judge(
        low <= MISS_HIGH and high >= MISS_LOW,
        f"{told}; of {WHOLE} that it takes there were {count:.0f}, so the "
        f"interval decides: {low:.2%} to {high:.2%}")


def best_under(scan, target_s):
    """The cell of a scan with the most bandwidth among those that meet a target."""
    good = [cell for cell in scan
            if figure(cell, "settled_tail_s") <= target_s]
    return max(good, key=rate, default=None)


def scanned(scan):
    """The cells of a scan."""
    return f"a scan of {len(scan)} bound{'s' * (len(scan) > 1)}, " + (
        f"{figure(scan[0], 'settled_requests'):.0f} requests each"
        if figure(scan[0], "settled_requests") is not None else
        "which were short")


def against_scan(name, cell, phase, scan):
    """Part: nearly the bandwidth of the best static bound."""
    part = Part(f"{name}: at least {BANDWIDTH_MIN:.0%} of the best static "
                "bound's bandwidth", [cell, *scan])
    target_s, ours = figure(cell, "target_s"), rate(cell, phase)
    if not scan or target_s is None or ours is None:
        return part
    best = best_under(scan, target_s)
    if best is None:
        part.ours = f"no bound of the scan has a tail of {us(target_s)}: " \
            "nothing to compare with"
        return part
    bound = figure(cell, f"{phase}_bound")
    return part.judge(
        ours >= BANDWIDTH_MIN * rate(best),
        f"{mb(ours)}" + (f" with bounds about {bound:.0f}"
                         if bound is not None else "")
        + f"; {best['label']} {mb(rate(best))}: {ours / rate(best):.1%} "
        f"({scanned(scan)})")


def feasible(found, workloads):
    """Parts: what can be held is not said to be infeasible."""
    parts = []
    for workload in workloads:
        for variant, cell in found.searches(workload, "latency"):
            scan = found.scan(workload, variant)
            target_s = figure(cell, "target_s")
            share = figure(cell, "settled_infeasible_share", "max")
            part = Part(f"{cell['cell']}: not said to be infeasible", [cell, *scan])
            if target_s is not None and share is not None and \
                    best_under(scan, target_s) is not None:
                part.judge(share <= FLAGGED_MAX,
                           f"in {share:.0%} of the samples")
            parts.append(part)
    return parts


def steps(found, judge):
    """Parts of the loads that change, after the change."""
    parts = []
    for workload in AFTER:
        parts += [judge(cell, variant, workload) for variant, cell in
                  found.searches(workload, "latency")]
    return parts


# --- O2 ----------------------------------------------------------------------

def floor_of(cell):
    """The share that is to be kept, of 1."""
    return int(cell["tunables"].get("bw_floor_pct", DEFAULT_FLOOR)) / 100


def kept(cell, none):
    """Part: bandwidth of windows is above the floor."""
    share = floor_of(cell)
    part = Part(f"{cell['cell']}: at least {share:.0%} of none's bandwidth in "
                "95 % of the windows of one second", [cell, none])
    full = rate(none)
    whole, short = (figure(cell, f"settled_{name}_low_bytes_per_s", "min")
                    for name in ("window", "clock_window"))
    if not full or (whole is None and short is None):
        return part
    told = [f"{text} reach {mb(low)}, {low / full:.1%}" for text, low in (
        ("windows of a second of the drive", whole),
        ("those of a second of K2's clock", short)) if low is not None]
    if whole is None:
        told.append("the run was too short for others")
    return part.judge((short if whole is None else whole) >= share * full,
                      "; ".join(told))


def least_tail(cell, none, scan):
    """Part: a tail as short as the best bound's that keeps the floor."""
    share = floor_of(cell)
    part = Part(f"{cell['cell']}: the tail is within {TAIL_MAX - 1:.0%} of the "
                "best static bound's that keeps the floor",
                [cell, none, *scan])
    full = rate(none)
    ours = figure(cell, "settled_tail_s")
    good = [one for one in scan if full and rate(one) >= share * full]
    if ours is None or not full or not scan:
        return part
    if not good:
        part.ours = "no bound of the scan keeps it: nothing to compare with"
        return part
    best = min(good, key=lambda one: figure(one, "settled_tail_s"))
    theirs = figure(best, "settled_tail_s")
    told = f"{us(ours)}; {best['label']} {us(theirs)}: {ours / theirs:.1%} " \
        f"({scanned(scan)})"
    low = figure(cell, "settled_tail_low_s")
    high = figure(best, "settled_tail_high_s")
    few = any((figure(one, "settled_requests") or 0) < TAIL_WHOLE
              for one in (cell, best))
    if not few or low is None or high is None:
        return part.judge(ours <= TAIL_MAX * theirs, told)
    return part.judge(
        low <= TAIL_MAX * high, told + "; of few requests, so their intervals "
        f"decide: from {us(low)}, up to {us(high)}")


# --- what cannot be had ------------------------------------------------------

def flagged(cell):
    """Part: it says so in time."""
    part = Part(f"{cell['cell']}: infeasible is 1 within {FLAG_S:.0f} s of "
                "traffic", [cell])
    after = figure(cell, "infeasible_after_clock_s", "max")
    if after is None:
        if figure(cell, "settled_infeasible_share") is None:
            return part
        return part.judge(False, "it never was")
    return part.judge(after <= FLAG_S, f"after {max(0.0, after):.1f} s of "
                      "K2's clock")


def not_collapsed(cell, none):
    """Part: and bandwidth does not fall below its floor."""
    share = floor_of(cell)
    part = Part(f"{cell['cell']}: {share:.0%} of none's bandwidth stay",
                [cell, none])
    full, ours = rate(none), rate(cell)
    if not full or ours is None:
        return part
    return part.judge(ours >= share * full, f"{mb(ours)}, {ours / full:.1%}")


# --- layouts, no real-time requests ------------------------------------------

def at_least(cell, tail):
    """(a cell's tail or less, the percentile that this is).

    Where a run has too few samples for it a nearer percentile stands in: the
    farther one is no shorter.
    """
    known = claims.TAILS[claims.TAILS.index(tail):]
    for name in known:
        found = figure(cell, f"latency_{name}_s")
        if found is not None:
            return found, name
    return 0.0, known[-1]


def points(cells, tail):
    """Cells as text: tail and bandwidth."""
    told = []
    for cell in cells:
        found, name = at_least(cell, tail)
        least = "" if name == tail else \
            f"at least its {claims.percentile_name(name)}, "
        told.append(f"{cell['label']} {least}{us(found)} "
                    f"{mb(figure(cell, claims.BANDWIDTH))}")
    return ", ".join(told)


def mapped(found, operation):
    """(cells of that operation, those with a map, none, K2-1, kyber's)."""
    cells = [cell for cell in found.named.values()
             if cell["workload"] == f"op-{operation}"]
    with_map = [cell for cell in cells
                if cell["tunables"].get("layout") == "right"]
    first = {label: next((cell for cell in cells if cell["label"] == label),
                         None) for label in ("none", "k2-1")}
    kyber = [cell for cell in cells if cell["scheduler"] == "kyber"]
    return cells, with_map, first["none"], first["k2-1"], kyber


def layout_part(text, used, with_map, limits, bandwidth):
    """Part: one with a map is below all limits, with that bandwidth.

    limits: [(factor, cells of which the best counts)]. kyber's tails may be of
    fewer requests than the others'.
    """
    part = Part(text, used)
    tail = claims.percentile_of([cell for cell in used
                                 if cell["scheduler"] != "kyber"])
    if not with_map or tail is None or not all(cells for _, cells in limits):
        return part
    most = min(factor * min(at_least(cell, tail)[0] for cell in cells)
               for factor, cells in limits)
    good = [cell for cell in with_map
            if figure(cell, f"latency_{tail}_s") <= most and
            figure(cell, claims.BANDWIDTH) >= bandwidth]
    rest = [cell for cell in used if cell not in with_map]
    return part.judge(
        good, f"{claims.percentile_name(tail)}, at most {us(most)} with "
        f"{mb(bandwidth)} wanted: {points(with_map, tail)}; without a map "
        f"and beside it: {points(rest, tail)}")


def random_reads(found):
    """Part: the four operations' random reads with a map."""
    cells, with_map, none, _, kyber = mapped(found, "rand-read")
    return layout_part(
        f"random reads: a tail of at most {TENTH:.0%} of none's and "
        f"{HALF:.0%} of kyber's best with {READ_BANDWIDTH:.0%} of none's "
        "bandwidth", cells, with_map,
        [(TENTH, [none] if none else []), (HALF, kyber)],
        READ_BANDWIDTH * (figure(none, claims.BANDWIDTH) or 0))


def other_operation(found, operation):
    """Part: and each of the other three."""
    cells, with_map, none, one, _ = mapped(found, operation)
    return layout_part(
        f"{operation}: at most {NEAR_ONE} times K2-1's tail with "
        f"{OTHER_BANDWIDTH:.0%} of none's bandwidth", cells,
        with_map if none else [], [(NEAR_ONE, [one] if one else [])],
        OTHER_BANDWIDTH * (figure(none, claims.BANDWIDTH) or 0))


def nobody(cell, none):
    """Part: no real-time task, no price."""
    part = Part(f"{cell['cell']}: at least {ALONE_MIN:.0%} of none's "
                "throughput", [cell, none])
    ours, full = (figure(one, claims.BANDWIDTH) for one in (cell, none))
    if ours is None or not full:
        return part
    return part.judge(ours >= ALONE_MIN * full,
                      f"{mb(ours)}, {ours / full:.1%}")


# --- the front ---------------------------------------------------------------

def front(cells, tail="settled_tail_s"):
    """Cells that no other cell beats in both tail and bandwidth."""
    known = [cell for cell in cells if figure(cell, tail) is not None and
             rate(cell) is not None]
    return [cell for cell in known if not any(
        figure(other, tail) <= figure(cell, tail) and
        rate(other) >= rate(cell) and
        (figure(other, tail) < figure(cell, tail) or rate(other) > rate(cell))
        for other in known)]


# --- all ---------------------------------------------------------------------

def placeholders(text, found):
    """A part that nothing was measured for, if there is none."""
    return found or [Part(text, [])]


def claims_of(cells):
    """The claims, with verdicts where there are cells."""
    found = Cells(cells)

    def base(policy, workload=BASE):
        return found.searches(workload, policy)

    def none(variant, workload=BASE):
        return found.get(workload, variant, "none")
    held = [(w, v, c) for w in (BASE, *BIG) for v, c in base("latency", w)]
    floors = [(w, v, c) for w in (BASE, *BIG) for v, c in base("bandwidth", w)]
    return [
        claim("O1", "policy latency holds the requested quantile",
              f"aim: {MISS_LOW:.2%} to {MISS_HIGH:.2%} of {WHOLE} requests late "
              "from the 2500th on, for a quantile of 0.99",
              placeholders("targets of 30, 50 and 70 %", [
                  missed(c["cell"], c, "settled", found.scan(w, v))
                  for w, v, c in held])),
        claim("O1 bandwidth", "policy latency has the most bandwidth that its target "
              "allows",
              f"aim: {BANDWIDTH_MIN:.0%} of the best static bound's (objective O1 "
              "of the paper, which picks the bound from a table)",
              placeholders("beside a scan", [
                  against_scan(c["cell"], c, "settled", found.scan(w, v))
                  for w, v, c in held])),
        claim("O1 steps", "policy latency does so after the load has changed",
              "aim: the same from 2000 real-time requests on",
              placeholders("more jobs, larger requests", [
                  *steps(found, lambda c, v, w: missed(
                      f"{c['cell']}, after", c, "stepped",
                      found.scan(AFTER[w], v))),
                  *steps(found, lambda c, v, w: against_scan(
                      f"{c['cell']}, after", c, "stepped",
                      found.scan(AFTER[w], v)))])),
        claim("O2", "policy bandwidth keeps its floor",
              "aim: in 95 % of windows of one second",
              placeholders("floors of 50, 80 and 90 %", [
                  kept(c, none(v, w)) for w, v, c in floors])),
        claim("O2 tail", "policy bandwidth has the shortest tail that its floor "
              "allows",
              f"aim: within {TAIL_MAX - 1:.0%} of the best static bound's (objective "
              "O2 of the paper, which picks the bound from a table)",
              placeholders("beside a scan", [
                  least_tail(c, none(v, w), found.scan(w, v))
                  for w, v, c in floors])),
        claim("Infeasible", "a target that no bound holds is flagged, and "
              "bandwidth does not collapse", f"aim: within {FLAG_S:.0f} s of traffic",
              placeholders("less than a read takes", [
                  one for v, c in base("latency", "infeasible")
                  for one in (flagged(c), not_collapsed(c, none(v)))])),
        claim("Feasible", "a target that a bound of the scan holds is not "
              "flagged", "aim: never",
              placeholders("targets of 30, 50 and 70 %",
                           feasible(found, (BASE, *BIG)))),
        claim("Layout, random reads", "best effort for idle chips first gives a "
              "short tail and the bandwidth", "aim: a tenth of none's p99.9 at "
              f"{READ_BANDWIDTH:.0%} of its bandwidth (the paper: none 3251 us, "
              "K2-1 217 us)",
              [random_reads(found)]),
        claim("Layout, others", "with a map the other three operations lose nothing",
              f"aim: {NEAR_ONE} times K2-1's tail",
              [other_operation(found, one) for one in OTHERS]),
        claim("Alone", "without a real-time task K2 costs no throughput",
              f"aim: {ALONE_MIN:.0%} of none's throughput",
              placeholders("latency and bandwidth, opened", [
                  nobody(c, none(v, "alone"))
                  for policy in ("latency", "bandwidth")
                  for v, c in base(policy, "alone")])),
    ]
