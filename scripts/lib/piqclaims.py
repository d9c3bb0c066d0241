# SPDX-License-Identifier: GPL-2.0
"""The claims about PIQ, compared with measured cells. Pure functions.

paper(): the PIQ paper's sections II and V, on suite piq-paper. Its means are
against RWS, over the inputs; an uncalibrated stand-in is shown and not
counted. pieces(): the same gains on pieces of real traces, at each load. default(): what mode
auto has to do, on suite piq.
"""

import math
import re
import statistics

import claims
import standin
from claims import figure

IN_ORDER, FIFO, READ_FIRST = "in-order", "chip-fifo", "read-first"
SCHEMES = ("noop", "rws", "piq_r", "piq_w", "piq")
# The paper's gains of PIQ over RWS, means over its inputs
GAINS = {
    "read_latency_mean_s": ("mean read latency", -0.197),
    "write_latency_mean_s": ("mean write latency", -0.470),
    "read_wait_mean_s": ("reads' waiting by conflicts", -0.225),
    "write_wait_mean_s": ("writes' waiting by conflicts", -0.484),
    "utilisation_milli": ("busy chips", 0.242),
}
# Reads' and writes' latency, in the mean, as the paper's conclusion has them
CONCLUSION = (-0.156, -0.286)
# The paper's gains of its half schemes
HALVES = {
    "piq_r": {"read_latency_mean_s": -0.196, "read_wait_mean_s": -0.210,
              "utilisation_milli": 0.147},
    "piq_w": {"write_latency_mean_s": -0.470, "write_wait_mean_s": -0.484,
              "utilisation_milli": 0.119}}
# Those of Figures 8 and 12
SIZES = ("read_latency_mean_s", "write_latency_mean_s", "utilisation_milli")
# How the two sets count conflicts; only the model sees the second
IN_CONFLICT = {"": "conflict_share", standin.HEAD: "blocked_share"}
# "Within a few per cent"
FEW = 0.05
# The paper's 13 of 15
MOST = 13 / 15
# An input "barely gains" below this; what it loses is no gain either.
BARELY = 0.05
# Largest difference of the fit from Table I, of a share, and of the chips
NEAR_SHARE, NEAR_CHIPS = 0.05, 0.10
# Inputs without calibration, which may not decide a claim
WITHOUT = tuple(name + end for name in standin.UNCALIBRATED
                for end in ("", standin.HEAD))

# A load is another one if the drive does this much more
FASTER_LOAD = 1.05

# 95 % of Student's t, by degrees of freedom
STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)


def percent(value):
    """A ratio's distance from 1 as people read it."""
    return f"{value * 100:+.1f} %"


class Table:
    """The cells by input, variant and label."""

    def __init__(self, cells):
        self.cells = {}
        for cell in cells:
            if not cell["cell"].endswith(".x1"):
                self.cells[cell["workload"], cell["variant"],
                           cell["label"]] = cell
        self.workloads = list(dict.fromkeys(key[0] for key in self.cells))

    def get(self, workload, label, variant=IN_ORDER):
        """A cell, or None."""
        return self.cells.get((workload, variant, label))

    def change(self, metric, label, base, workload, variant=IN_ORDER):
        """(relative change, the two cells); None without a figure of both."""
        pair = [self.get(workload, one, variant) for one in (label, base)]
        values = [figure(cell, metric) for cell in pair]
        if None in values or not values[1]:
            return None
        return values[0] / values[1] - 1, pair

    def changes(self, metric, label, base, variant=IN_ORDER):
        """({input: change}, cells) of all inputs that have it."""
        found, cells = {}, []
        for workload in self.workloads:
            one = self.change(metric, label, base, workload, variant)
            if one:
                found[workload] = one[0]
                cells += one[1]
        return found, cells


class Replays(Table):
    """Cells that replay a trace."""

    def change(self, metric, label, base, workload, variant=IN_ORDER):
        """None also if they replayed different numbers of requests."""
        found = super().change(metric, label, base, workload, variant)
        return found if found and alike(found[1]) else None

    def distinct(self):
        """Workloads, without loads at which rws does no more than at a lower one."""
        def place(workload):
            name, _, load = workload.rpartition("-")
            return (name, int(load)) if load.isdigit() else (workload, 0)
        found, rates = [], {}
        for workload in sorted(self.workloads, key=place):
            name, load = place(workload)
            rate = figure(self.get(workload, "rws"), "iops")
            if load and rate is not None:
                if rates.get(name) and rate < rates[name] * FASTER_LOAD:
                    continue
                rates[name] = rate
            found.append(workload)
        return found


def alike(cells):
    """Did all replay the same number of requests? Waits grow with it."""
    return len({figure(cell, "ios") for cell in cells}) < 2


def counted(found):
    """Without the uncalibrated."""
    return {name: value for name, value in found.items()
            if name not in WITHOUT}


def listed(found, form=percent):
    """Each input's figure; in brackets what is not counted."""
    return ", ".join(
        f"{name} {form(value)}" if name not in WITHOUT
        else f"({name} {form(value)})" for name, value in found.items())


# --- the paper ---------------------------------------------------------------

def mean_gain(table, metric, label="piq", paper_=None):
    """Part: the mean over the inputs is at least the paper's, that of GAINS or paper_."""
    name, known = GAINS[metric]
    paper_ = paper_ or known
    found, cells = table.changes(metric, label, "rws")
    part = claims.Part(f"{name}: mean change from rws to {label}", cells,
                       percent(paper_), mean=True)
    values = counted(found).values()
    if not values:
        return part
    mean = statistics.fmean(values)
    return part.judge(mean <= paper_ if paper_ < 0 else mean >= paper_,
                      f"{percent(mean)}, {mean / paper_:.3g} of the paper's, "
                      f"over {len(values)} inputs: " + listed(found), mean / paper_)


def pieces(cells):
    """Figures 8 and 12 on each piece of a real trace, at the load where its cells are."""
    table = Replays(cells)
    found = []
    for workload in table.workloads:
        parts = []
        name, load = workload.rsplit("-", 1)
        for metric in SIZES:
            what, paper_ = GAINS[metric]
            part = claims.Part(f"{what} from rws to piq", [], percent(paper_))
            change = table.change(metric, "piq", "rws", workload)
            if change:
                part.cells = [cell["cell"] for cell in change[1]]
                part.judge(change[0] <= paper_ if paper_ < 0 else change[0] >= paper_,
                           percent(change[0]), change[0] / paper_)
            parts.append(part)
        found.append(claims.claim(
            f"Fig 8, 12, {name} x{load}", "piq lowers both latencies and keeps more "
            "chips busy", "mean: reads -19.7 %, writes -47.0 %, chips +24.2 %",
            parts))
    return found


def rws_is_noop(table, way):
    """Part: RWS changes little."""
    metric = f"{way}_latency_mean_s"
    found, cells = table.changes(metric, "rws", "noop")
    part = claims.Part(f"{way}s: rws is within {FEW:.0%} of noop on most inputs",
                       cells)
    values = counted(found).values()
    if not values:
        return part
    near = sum(abs(value) <= FEW for value in values)
    return part.judge(near * 2 > len(values),
                      f"{near} of {len(values)}, mean "
                      f"{percent(statistics.fmean(values))}: " + listed(found))


def helps(table, label, way):
    """Part: it lowers this direction's latency on most inputs."""
    found, cells = table.changes(f"{way}_latency_mean_s", label, "rws")
    part = claims.Part(f"{label} lowers {way}s' mean latency on at least 13 "
                       f"of 15 inputs ({MOST:.0%})", cells)
    values = list(counted(found).values())
    if not values:
        return part
    good = sum(value < 0 for value in values)
    return part.judge(good >= MOST * len(values),
                      f"{good} of {len(values)}, mean "
                      f"{percent(statistics.fmean(values))}: "
                      + listed(found))


def barely(table, workload, way):
    """Part: an input that the paper names gains little."""
    one = table.change(f"{way}_latency_mean_s", "piq", "rws", workload)
    part = claims.Part(f"{workload}: its {way}s change by less than "
                       f"{BARELY:.0%}",
                       one[1] if one else [])
    if not one or workload in WITHOUT:
        if one:
            part.ours = f"not judged, uncalibrated: {percent(one[0])}"
        return part
    return part.judge(abs(one[0]) < BARELY, percent(one[0]))


def named_gain(table, workload, label, metric, paper_):
    """Part: an input's gain that the text names."""
    one = table.change(metric, label, "rws", workload)
    part = claims.Part(f"{workload}, {label}: change of "
                       f"{metric[:-2].replace('_', ' ')}",
                       one[1] if one else [], percent(paper_))
    return part.judge(one[0] <= paper_, percent(one[0]), one[0] / paper_) if one else part


def prioritised(table):
    """Part: how many reads rws takes before an older write."""
    found, cells = {}, []
    for workload in table.workloads:
        cell = table.get(workload, "rws")
        value = figure(cell, "prioritised_share")
        if value is not None:
            found[workload] = value
            cells.append(cell)
    part = claims.Part("rws: under 5 % of the reads go before an older write "
                       "on most inputs", cells)
    values = counted(found).values()
    if not values:
        return part
    low = sum(value < 0.05 for value in values)
    return part.judge(low * 2 > len(values), f"{low} of {len(values)}: "
                      + listed(found, lambda v: f"{v:.1%}"))


def often_prioritised(table, names):
    """Part: it does so more often on these inputs than on the median one."""
    shares = {workload: value for workload in table.workloads
              if (value := figure(table.get(workload, "rws"),
                                  "prioritised_share")) is not None}
    found = {workload: value for workload, value in shares.items()
             if standin.base(workload) in names}
    part = claims.Part(f"rws: on {', '.join(names)} more than on the median input",
                       [table.get(workload, "rws") for workload in found])
    if len(found) < len(names):
        return part
    median = statistics.median(counted(shares).values())
    return part.judge(min(found.values()) > median, f"median {median:.1%}; "
                      + listed(found, lambda v: f"{v:.1%}"))


def lengths(table, workload):
    """{queue_length: cell} of an input."""
    found = {}
    for (name, variant, label), cell in table.cells.items():
        match = re.fullmatch(r"piq-ql(\d+)", label)
        if name == workload and variant == IN_ORDER and match:
            found[int(match[1])] = cell
    default = table.get(workload, "piq")
    if found and default and alike([default, *found.values()]):
        found[64] = default
    return dict(sorted(found.items()))


def saturates(table, way, paper_):
    """Part: what a longer queue is worth, Figure 11."""
    first, last, used = [], [], []
    for workload in table.workloads:
        found = lengths(table, workload)
        values = {length: figure(cell, f"{way}_latency_mean_s")
                  for length, cell in found.items()}
        if workload not in WITHOUT and {1, 32, 512} <= set(values) and \
                None not in values.values():
            used += found.values()
            first.append(values[512] / values[1] - 1)
            last.append(values[512] / values[32] - 1)
    part = claims.Part(f"{way}s: change of latency with queue_length", used,
                       f"1 to 512 {percent(paper_)}, 32 to 512 -1 %")
    if not first:
        return part
    whole, rest = statistics.fmean(first), statistics.fmean(last)
    # The change is within a factor of two of the paper's, and none from 32 on.
    return part.judge(2 * paper_ <= whole <= paper_ / 2 and abs(rest) <= FEW,
                      f"1 to 512 {percent(whole)}, 32 to 512 "
                      f"{percent(rest)}, over {len(first)} inputs",
                      whole / paper_ if abs(rest) <= FEW else None)


def like_table_1(table, metric, column, limit):
    """Part: noop has the figures of Table I."""
    found, cells, far = {}, [], []
    known = standin.published()
    for workload in table.workloads:
        cell = table.get(workload, "noop")
        value = figure(cell, metric)
        # A piece of another trace has no row in Table I.
        if value is None or standin.base(workload) not in known:
            continue
        if metric == "utilisation_milli":
            value /= 1000
        paper_ = standin.targets(workload)[column]
        cells.append(cell)
        found[workload] = f"{value:.3g} (paper {paper_:.3g})"
        if workload not in WITHOUT and abs(value - paper_) > (
                limit if column < 2 else limit * paper_):
            far.append(workload)
    name = ("reads in conflict", "writes in conflict", "busy chips")[column]
    part = claims.Part(
        f"noop: {name} within {limit:.0%}"
        + ("" if column == 2 else " of the requests")
        + " of Table I", cells)
    if not found:
        return part
    return part.judge(not far, (f"not {', '.join(far)}; " if far else "")
                      + ", ".join(f"{key} {value}" if key not in WITHOUT else
                                  f"({key} {value})"
                                  for key, value in found.items()))


def over_rest(cell, way):
    """The wait for conflicts over the rest of the latency, as in Figure 2(b), or None."""
    latency, wait = (figure(cell, f"{way}_{key}_mean_s") for key in ("latency", "wait"))
    return None if None in (latency, wait) or wait >= latency else wait / (latency - wait)


def degraded(table, way, paper_):
    """Part: Figure 2(b): latency beside what it is without conflicts."""
    found, cells = {}, []
    for workload in table.workloads:
        cell = table.get(workload, "noop")
        times_ = over_rest(cell, way)
        if times_ is None:
            continue
        cells.append(cell)
        found[workload] = times_
    part = claims.Part(f"noop: {way}s' wait for conflicts, over the rest of their "
                       "latency, mean over inputs", cells, f"{paper_:g} times", mean=True)
    values = counted(found).values()
    if not values:
        return part
    mean = statistics.fmean(values)
    # A drive that is overloaded has waits of hundreds of times the rest.
    return part.judge(paper_ <= mean <= 2 * paper_, f"{mean:.2f} times: " + listed(
        found, lambda value: f"{value:.2f}"), mean / paper_)


def loses(table, variant, way):
    """Part: on a drive that overlaps without help, batches lose against none."""
    found, cells = table.changes(f"{way}_latency_mean_s", "piq", "none",
                                 variant)
    part = claims.Part(f"{variant}: {way}s take longer under piq than under "
                       "none", cells)
    values = list(found.values())
    return part.judge(statistics.fmean(values) > 0, listed(found)) \
        if values else part


def paper(cells):
    """The paper's claims, the fit of the inputs and our aims, for each set of inputs."""
    found = []
    for end in ("", standin.HEAD):
        own = [cell for cell in cells
               if standin.set_of(cell["workload"]) == end]
        if own or not end:
            found += of_a_set(own, end)
    return found


def of_a_set(cells, end):
    """The claims of paper() on one set of inputs."""
    table = Replays(cells)
    ways = ("read", "write")
    # The second set was fitted to Figures 2(b) and 9, too: see standin.py.
    fitted = "inputs: " if end else ""
    rows = [
        claims.claim("Table I", "under noop the inputs have the paper's "
                     "conflicts and busy chips",
                     "inputs: Table I, also shown in Figures 1 and 2(a)",
                     [like_table_1(table, f"{way}_{IN_CONFLICT[end]}", n,
                                   NEAR_SHARE) for n, way in enumerate(ways)]
                     + [like_table_1(table, "utilisation_milli", 2,
                                     NEAR_CHIPS)]),
        claims.claim("Fig 2b", "conflicts cause most of the latency",
                     fitted + "response times grow 6.5 (reads) and 10.1 times "
                     "(writes) in the mean",
                     [degraded(table, "read", 6.5),
                      degraded(table, "write", 10.1)]),
        claims.claim("Fig 8", "piq lowers read and write latency",
                     "mean against RWS: reads -19.7 %, writes -47.0 %",
                     [mean_gain(table, f"{way}_latency_mean_s")
                      for way in ways]),
        claims.claim("Section VI", "piq lowers read and write latency, in the words of "
                     "the conclusion", "mean: reads -15.6 %, writes -28.6 %",
                     [mean_gain(table, f"{way}_latency_mean_s", paper_=paper_)
                      for way, paper_ in zip(ways, CONCLUSION)]),
        claims.claim("Fig 8, overlap", "with batch_overlap, piq lowers read and "
                     "write latency as far as the paper's piq",
                     "aim: the paper's piq, mean against RWS: reads "
                     "-19.7 %, writes -47.0 %",
                     [mean_gain(table, f"{way}_latency_mean_s", "piq-overlap")
                      for way in ways]),
        claims.claim("Fig 8 RWS", "rws is within a few per cent of noop",
                     "little improvement for most applications",
                     [rws_is_noop(table, way) for way in ways]),
        claims.claim("Fig 8 R, W", "piq_r helps reads, piq_w helps writes",
                     "13 of 15 each; SRC2_0 reads -31.2 %, SRC1_2 writes "
                     "-43.5 %; PROJ_1's reads and USR_0's writes barely",
                     [helps(table, "piq_r", "read"),
                      helps(table, "piq_w", "write"),
                      named_gain(table, "src2_0" + end, "piq_r",
                                 "read_latency_mean_s", -0.312),
                      named_gain(table, "src1_2" + end, "piq_w",
                                 "write_latency_mean_s", -0.435),
                      barely(table, "proj_1" + end, "read"),
                      barely(table, "usr_0" + end, "write")]),
        claims.claim("Fig 9", "rws rarely finds an older write to pass",
                     fitted + "within 5 % for most; more for HM_0, PRXY_0, "
                     "SRC1_2",
                     [prioritised(table),
                      often_prioritised(table, ("hm_0", "prxy_0", "src1_2"))]),
        claims.claim("Fig 10", "piq shortens the wait for conflicts",
                     "mean against RWS: reads -22.5 %, writes -48.4 %; "
                     "SRC2_0 reads -37.1 %, SRC1_2 writes -39.6 %",
                     [*(mean_gain(table, f"{way}_wait_mean_s")
                        for way in ways),
                      named_gain(table, "src2_0" + end, "piq_r", "read_wait_mean_s",
                                 -0.371),
                      named_gain(table, "src1_2" + end, "piq_w", "write_wait_mean_s",
                                 -0.396)]),
        claims.claim("Fig 10, overlap", "with batch_overlap, piq shortens the wait "
                     "for conflicts as far as the paper's piq",
                     "aim: the paper's piq, mean against RWS: reads "
                     "-22.5 %, writes -48.4 %",
                     [mean_gain(table, f"{way}_wait_mean_s", "piq-overlap")
                      for way in ways]),
        claims.claim("Fig 11", "a longer queue helps, up to 32",
                     "1 to 512: reads -19 %, writes -37 %; 32 to 512: -1 %",
                     [saturates(table, "read", -0.19),
                      saturates(table, "write", -0.37)]),
        claims.claim("Fig 12", "piq keeps more chips busy",
                     "mean against RWS: +24.2 %",
                     [mean_gain(table, "utilisation_milli")]),
        claims.claim("Orders", "on a drive with a queue for each chip the "
                     "paper's batches lose",
                     "aim: our expectation; the paper does not study it",
                     [loses(table, variant, way)
                      for variant in (FIFO, READ_FIRST) for way in ways],
                     "profile A, a queue for each chip"),
    ]
    rows = claims.under(rows, f"{'second' if end else 'first'} set; profile A, served in order")
    return [{**row, "id": f"{row['id']}{', at the head' if end else ''}"}
            for row in rows]


# --- mode auto ---------------------------------------------------------------

BUSY = 0.90
FASTER = 1.5
HALF = 0.5
KEPT = 0.95
HARMLESS = 0.03
CHIPS = 16


def ratio(one, base, metric):
    """(ratio, low, high) of two cells over their seeds; None if unknown.

    By pairs of the same seed; with one seed there is no interval, low and high
    are the ratio.
    """
    if not one or not base:
        return None
    pairs = [(one["by_seed"][seed].get(metric),
              base["by_seed"][seed].get(metric))
             for seed in one.get("by_seed", {})
             if seed in base.get("by_seed", {})]
    values = [a / b for a, b in pairs if a is not None and b]
    if not values or len(values) < len(pairs):
        return None
    return interval(values)


def interval(values):
    """(mean, low, high) of figures of several seeds, 95 %; without one for one seed."""
    mean = statistics.fmean(values)
    if len(values) == 1:
        return mean, mean, mean
    reach = STUDENT[min(len(values) - 2, len(STUDENT) - 1)] * \
        statistics.stdev(values) / math.sqrt(len(values))
    return mean, mean - reach, mean + reach


def told(found):
    """A ratio with its interval."""
    mean, low, high = found
    return f"{mean:.3f}" + (f" ({low:.3f} to {high:.3f})" if low < high
                            else " (one seed)")


def chip_bound(table):
    """Part: twice the throughput at the same bound, and busy chips."""
    mine = table.get("tail", f"piq-{CHIPS}", "chip-bound") or \
        table.get("tail", "piq", "chip-bound")
    parts = []
    for label in (f"none-qd{CHIPS}", f"k2-{CHIPS}"):
        other = table.get("tail", label, "chip-bound")
        part = claims.Part(f"chip-bound: IOPS at a bound of {CHIPS} at least "
                           f"{FASTER} times those of {label}", [mine, other])
        found = ratio(mine, other, "iops")
        parts.append(part.judge(found[1] >= FASTER, told(found))
                     if found else part)
    part = claims.Part(f"chip-bound: chips at least {BUSY:.0%} busy", [mine])
    busy = figure(mine, "utilisation_milli")
    parts.append(part.judge(busy >= BUSY * CHIPS * 1000,
                            f"{busy / CHIPS / 1000:.1%}") if busy else part)
    return parts


def dominates(table, where):
    """Part: no swept baseline has both more bandwidth and a shorter tail."""
    mine, others = [], []
    for (workload, variant, label), cell in table.cells.items():
        if workload == "tail" and variant == where:
            if cell["scheduler"] == "piq":
                if "wrong" not in label and "nomap" not in label:
                    mine.append(cell)
            else:
                others.append(cell)
    part = claims.Part(f"{where}: for every setting of the baselines one "
                       "of piq's has at least its bandwidth and at most its "
                       "tail", mine + others)
    tail = next((name for name in claims.TAILS if all(
        figure(cell, f"latency_{name}_s") is not None
        for cell in mine + others)), None)
    if not mine or not others or not tail:
        return part

    def at(cell):
        return (figure(cell, "bandwidth_bytes_per_s"),
                figure(cell, f"latency_{tail}_s"))
    beaten = [cell["label"] for cell in others if not any(
        at(one)[0] >= at(cell)[0] * (1 - claims.NOISE) and
        at(one)[1] <= at(cell)[1] * (1 + claims.NOISE) for one in mine)]
    return part.judge(not beaten, f"{claims.percentile_name(tail)}; "
                      f"{len(others) - len(beaten)} of {len(others)} "
                      "dominated" + (f", not {', '.join(beaten)}"
                                     if beaten else ""))


def mixed(table):
    """Parts: reads among writes."""
    parts, tail = [], "latency_p99_s"
    for suspend in ("", "-suspend"):
        variant = "chip-bound" + suspend
        mine = table.get("mixed", "piq", variant)
        for label in ("none", "mq-deadline"):
            part = claims.Part(f"mixed, {variant}: read p99 at most half of "
                               f"{label}'s",
                               [mine, table.get("mixed", label, variant)])
            found = ratio(mine, table.get("mixed", label, variant), tail)
            parts.append(part.judge(found[2] <= HALF, told(found))
                         if found else part)
        kyber = [cell for (workload, name, label), cell in table.cells.items()
                 if workload == "mixed" and name == variant and
                 cell["scheduler"] == "kyber" and
                 figure(cell, tail) is not None]
        part = claims.Part(f"mixed, {variant}: read p99 not above kyber's "
                           "best", [mine, *kyber])
        if kyber and figure(mine, tail) is not None:
            best = min(kyber, key=lambda cell: figure(cell, tail))
            found = ratio(mine, best, tail)
            if found:
                part.judge(found[1] <= 1, f"{told(found)} of {best['label']}")
        parts.append(part)
        rivals = [cell for (workload, name, _), cell in table.cells.items()
                  if workload == "mixed" and name == variant and
                  cell["scheduler"] != "piq" and figure(cell, "iops")]
        part = claims.Part(f"mixed, {variant}: throughput at least "
                           f"{KEPT:.0%} of the best", [mine, *rivals])
        if rivals and figure(mine, "iops"):
            best = max(rivals, key=lambda cell: figure(cell, "iops"))
            found = ratio(mine, best, "iops")
            if found:
                part.judge(found[2] >= KEPT,
                           f"{told(found)} of {best['label']}")
        parts.append(part)
    for suspend in ("", "-suspend"):
        variant = "chip-bound-read-first" + suspend
        parts += no_harm(table, "mixed", "piq", variant)
    return parts


def no_harm(table, workload, label, variant):
    """Parts: within 3 % of none or better, IOPS and read p99."""
    mine, none = (table.get(workload, name, variant)
                  for name in (label, "none"))
    parts = []
    for metric, name, sign in (("iops", "IOPS", 1),
                               ("latency_p99_s", "read p99", -1)):
        part = claims.Part(f"{workload}, {variant}: {label} within "
                           f"{HARMLESS:.0%} of none or better, {name}",
                           [mine, none])
        found = ratio(mine, none, metric)
        # The whole interval has to be on the right side.
        if found:
            part.judge(found[1] >= 1 - HARMLESS if sign > 0
                       else found[2] <= 1 + HARMLESS, told(found))
        parts.append(part)
    return parts


HARM = (("piq", "chip-bound-fw"), ("piq", "d-dynamic"), ("piq", "f-dynamic"),
        ("piq-wrong", "chip-bound"), ("piq-wrong", "d-static"),
        ("piq-wrong", "f-static"), ("piq-nomap", "chip-bound"),
        ("piq-nomap", "d-dynamic"), ("piq-nomap", "f-dynamic"))


# Depth: what PIQ may cost, as a part of mq-deadline's, on the kernel that is judged.
COST_MOST = {1: 0.45, 32: 1.0}
COST_KERNEL = "6.12."
# With a layout, and where what it says binds; null_blk has no chips.
COST_LABELS = ("piq layout set", "piq by chips")


def cost(summaries):
    """The largest cost of an I/O, on COST_KERNEL."""
    parts = []
    for disk, label, depth in ((disk, label, depth) for depth in COST_MOST
                               for disk in ("null", "flashsim")
                               for label in COST_LABELS):
        if (disk, label) == ("null", "piq by chips"):
            continue
        part = claims.Part(f"{disk}, depth {depth}: {label} at most "
                           f"{COST_MOST[depth]:g} of mq-deadline's", [])
        for one in summaries:
            mine, other = (claims.over_none(one, disk, name, depth)
                           for name in (label, "mq-deadline"))
            if one["kernel"].startswith(COST_KERNEL) and other and \
                    mine is not None:
                part.judge(mine <= COST_MOST[depth] * other,
                           f"{mine:.0f} against {other:.0f} ns: "
                           f"{mine / other:.3f}")
        parts.append(part)
    return [claims.claim("Cost", "an I/O costs no more CPU time than with mq-deadline, "
                         "and less than half of it at depth 1, "
                         + claims.kernel_series(COST_KERNEL),
                         "aim: depth 32 not above mq-deadline's, depth 1 at "
                         f"most {COST_MOST[1]:g} of it", parts)]


def default(cells):
    """The aims for mode auto."""
    table = Table(cells)
    return [
        claims.claim("Chips", "at the same bound, free chips get work",
                     "aim: 1.5 times a FIFO, chips 90 % busy",
                     chip_bound(table)),
        claims.claim("Front", "it dominates every swept baseline, tail of a "
                     "real-time reader against bandwidth", "aim",
                     [dominates(table, where) for where in
                      ("chip-bound", "chip-bound-fw")]),
        claims.claim("Mixed", "reads do not wait behind writes, and both get "
                     "their work done", "aim: half of none's and "
                     "mq-deadline's p99, 95 % of the best throughput; with "
                     "reads first in the drive: no harm", mixed(table)),
        claims.claim("No harm", "with a wrong map, without one, and where "
                     "pages go where there is room",
                     "aim: within 3 % of none, 95 % intervals",
                     [part for label, variant in HARM
                      for workload in ("even-rand", "even-seq")
                      for part in no_harm(table, workload, label, variant)]),
    ]
