# SPDX-License-Identifier: GPL-2.0
"""scripts/piq-results: writes docs/piq-results.md from what was measured.

Takes the directories of results of suites piq-paper and piq-pieces that it is given;
without one, the newest of each form below build/results and what is published in docs/results.
The figures of a model (tests/traces/piq15-model.json) stand beside them. Verdicts, and
figures in tables, are never typed.
"""

import json
import statistics
import sys

import claims
import options
import piqclaims
import piqconditions
import piqmodel
import resultspage
import standin
from resultspage import DASH, claim_list, facts, table

NAME = "piq-results"
PAGE = resultspage.REPO / "docs" / f"{NAME}.md"
SUITES = ("piq-paper", "piq-pieces")
SETS = (("", "first set"), (standin.HEAD, "second set, counted at the head"))


def cells_of_model(data):
    """The model's figures as cells of suite piq-paper."""
    found = []

    def add(name, variant, label, one):
        metrics = {key: {"median": value, "min": value, "max": value}
                   for key, value in one.items() if value is not None}
        metrics["utilisation_milli"] = {
            key: one["busy_chips"] * 1000 for key in ("median", "min", "max")}
        found.append({
            "cell": f"{name}.{label}.{variant}", "workload": name,
            "variant": variant, "label": label, "tunables": {},
            "scheduler": "none" if label == "none" else "piq",
            "metrics": metrics, "by_seed": {}})
    for name, schemes in data["inputs"].items():
        for label, one in schemes.items():
            add(name, piqclaims.IN_ORDER, label, one)
    for name, schemes_ in data.get("begins", {}).get(OVERLAP, {}).items():
        add(name, piqclaims.IN_ORDER, "piq-overlap", schemes_["piq"])
    for name, lengths in data.get("queue_lengths", {}).items():
        for length, one in lengths.items():
            if length != "64":
                add(name, piqclaims.IN_ORDER, f"piq-ql{length}", one)
    for order, inputs in data.get("orders", {}).items():
        for name, schemes in inputs.items():
            for label, one in schemes.items():
                if order != "in_order":
                    add(name, order.replace("_", "-"), label, one)
    return found


def begun(data, begin):
    """The results of the same inputs with another rule for the begin of a batch."""
    return {**data, "queue_lengths": {}, "orders": {}, "inputs": {
        name: {**schemes, **data["begins"][begin][name]}
        for name, schemes in data["inputs"].items()}}


# Other rules for the begin of a batch, in the order shown
BEGINS = {
    "closed": "when nothing else is out, and no request joins it from then on",
    "alone": "when nothing else is out",
    "list": "**default**: when the one before it in its list has ended and "
            "all of its chips are free",
    "whole": "when those before it are dispatched and all of its chips are free",
    "turn": "as with `batch_overlap`, but a turn is over when all of it has "
            "ended",
    "free": "**`batch_overlap` = 1**: each request when those of the batches "
            "before are dispatched and its own chips are free; a turn is over when "
            "all of it is dispatched",
    "issued": "when those before it are dispatched, whatever its chips do",
}
OVERLAP = "free"
WHEN = """\
The paper does not say when the next batch may begin, and the gain depends on that. Its
text has these rules. Outstanding requests take part in the detection of conflicts, and
new requests are checked against outstanding batches. Algorithm 1 issues the head of a
list and nothing else. Batches are dispatched in the order of their creation. Writes get
their turn when the read batches have been serviced.

So the default is: a batch ends before the next one of its list begins, and other requests
in flight matter only if they share a chip. A rule that waits for an idle device is stricter
than the text, and gives other results only for piq_r and piq_w. With `batch_overlap` = 1 a
request may be dispatched before the previous batch has ended, and a turn ends when
its last request is dispatched."""
SHORT = """\
Mean latency under piq against rws: on the second set of inputs reads {head_read}, writes
{head_write}; on the first set {first_read} and {first_write} (paper -19.7 and -47.0 %). The
drive serves one queue in order. Over none piq gains next to nothing there: in the model
reads have {none_read}, writes {none_write} (second set), because the drive starts a request as
soon as its chips are idle, and a scheduler only when the request before has completed.
(Measured times of none omit the wait for one of its 64 tags.) On a drive with a queue for each
chip batches lose (claim *Orders*), and in [another model](traces.md#results-of-mqsim) PIQ's
order alone gains 8 % at most."""
INTRO = """\
Paper: C. Gao et al., *Exploiting Parallelism in I/O Scheduling for Access Conflict
Minimization in Flash-based Solid State Drives*, MSST 2014. Its schemes: noop serves in
order of arrival, rws reads first. piq_r puts reads into batches of requests that share no
flash chip, piq_w writes, piq both. A conflict: two requests need one chip.

Inputs are [stand-ins for the paper's traces](piq-inputs.md). There are two sets of them,
because the paper does not define when a conflict is counted. The first set counts it when a
request arrives. The second set (-head) counts it when a request blocks the head of noop's
queue; only the model can count these. The second set was also fitted to Figures 2(b) and 9,
so these test its fit. Both sets were fitted under noop, the second under rws too, and [committed
before any scheme of PIQ ran on them](piq-inputs.md#order-of-work), but after results of earlier
inputs.

Form hour replays 20 000 requests of each input of the second set, as many as the model has of
both. Other forms, and so the first set and Figure 11, have 2000. The stand-ins for wdev_0 and
usr_0 are not calibrated, so no verdict counts them.

In brackets: figures of a model (`tests/model/piqmodel.c`). `–`: not measured. The drive is
profile A: 8 channels of 8 chips, 2 KiB pages, 20 us a read, 200 us a program; the address
determines the chip, and there is no garbage collection. Times are the drive's. In the column
*here*, bold marks a part that does not hold. A mean gain holds if it is at least the paper's.
Figure 11 holds within a factor of 2 from 1 to 512, and 5 % from 32 to 512. [Mode
auto](piq-auto-results.md) is on another page."""
WORDS = """\
Words in the tables:

- *none*: no scheduler. *piq-overlap*: piq with `batch_overlap` = 1, a setting of ours:
  a batch does not wait for the end of the one before
  ([why](figures.md#when-a-batch-begins-model-alone)).
  *queue_length*: the number of requests that piq sorts into batches.
- *hm_0*, *prn_0* and so on: an input of the first set. *hm_0-head*: the input of the
  second set. *At the head*: the claim is judged on the second set.
- *Wait for conflicts*: the time from a conflict until the request is dispatched, in the
  mean over all requests. *Busy chips*: the mean number of chips at work while the drive
  has requests.
- *Model, 5 seeds*: the mean of seeds 101 to 105, with its 95 % interval. All else is of seed 101.
- *calibrated*: all inputs but wdev_0 and usr_0. *Turn*: a list of piq, of reads or of writes,
  is served until the other one's turn.
- *chip-fifo*, *read-first*: the drive has a queue for each chip, and serves it in order of
  arrival, or reads first. All other rows are of a drive that serves one
  queue in order."""
PIECE_WORDS = """\
*hm10k*: 10 000 requests of the volume HM, 20 % of them reads. *hm1k*: 1000 requests of HM.
*msnfs*: 10 000 requests of a disk of the MSN file server, 154 of them writes. *burst*: one
second of a server, 10 000 requests, 17 % of them writes. *Load*: the
factor by which times are divided; times without a request are cut to 20 ms. From load 10
(msnfs) and 1 (burst) on, rws cannot keep up. *Chips*: busy chips."""
WHY = """\
A batch has no conflicts among its requests, but its end costs time: the next batch of a
list waits for the slowest request, while the chips that it needs are idle."""
SIZES = """\
The distribution of sizes is [assumed](../piq-inputs.md): powers of two from 4 KiB. Their
weights form a geometric series with the volume's mean. Here requests have two sizes, 4
and 64 KiB (or more, if the mean is too large), with the same mean. The inputs were fitted
again, under noop with tuning seeds; the number that says how much clusters differ was not. In
public pieces of such volumes the standard deviation of sizes is 1.0 to 1.8 of the mean; with a
mean of 11 KiB it is 1.2 for powers of two, and 1.8 for two sizes. Reads gain more here than in
the paper, and src2_2 has {chips:.1f} busy chips under noop (Table I 25.0, powers of two
{before:.1f})."""
SPREAD = """\
Second set, but 19 of 20 requests, not 49 of 50, have the direction of the one before, and
the mean number of requests in a cluster differs more: the number is the deviation of its
logarithm, 0.8 in the second set. The input was fitted again, under noop with tuning seeds; the
last column has what became of Table I's {chips} busy chips."""
WAITS = """\
The gain also depends on how long requests wait for conflicts. The next table sorts all
calibrated inputs of both sets, and all pieces of real traces at all loads, by the wait
under rws, as a multiple of the rest of the latency. Loads at which rws
does no more than at a lower one are left out. Reads gain more with longer waits, and so do
writes up to 10 times the rest."""
# Ends of the classes of waits, in multiples of the rest of the latency
CLASSES = (1, 3, 10)
HINDERS = """\
Obstacles to the parts that do not hold:

- Writes in Figures 8 and 10: the paper's figures hardly fit together. By Figures 8 and 11 batches
  of one request are 10 to 16 % faster than rws; in the model they have {single}. By Figure 2(b)
  the wait is 10.1/11.1 of a write's latency, so 48.4 % less wait are 44 % less latency; 47 % needs
  the rest to fall by a third. Section VI has 28.6 %, and does not say against what; it is judged
  against rws. Here the paper's sizes appear where batches are large and most requests are
  writes, under overload (burst), and at 100 times its speed (hm10k). In the model writes have
  {head}, and {sized} if requests have two sizes.
- Figure 12: one input of the second set (prn_0) and some pieces have the size.
- Figure 2(b): how much clusters differ, one number for all, was chosen so that reads wait as in
  the paper; writes then wait less. More load makes waits longer in the model, but gains of
  latency hardly larger.
- src1_2: the paper's writes have 43.5 % less latency (Figure 8), but only 39.6 % less wait for
  conflicts (Figure 10), so the rest has to fall by more.
- src2_0: a stand-in has the mean sizes of its volume, but not their distribution or addresses.
  With two sizes, in the model, reads under piq_r have {latency} latency, at best {best} (times
  divided by 4).
- Figure 9, prxy_0: no read finds an older write. Under noop, in the model, reads wait {read} times
  the rest of their latency (paper 11.6), writes {write} times (paper 1 to 3). [With directions that
  change more often and clusters that differ
  more](figures.md#prxy_0-if-its-clusters-differ-more-model-alone) enough do."""
KINDS = """\
The next table sorts the calibrated inputs of the second set by the mean number of requests
in a batch of piq, and by the direction of most requests; both were chosen after the results.
Batches are small if requests need many chips, as in src1_2 (22 of 64 for a write), or if few
wait, as in prxy_0."""
# An input that the paper names: HINDERS has its gains in the model.
NAMED = "src2_0-head"
# From this mean number of requests in a batch on, a batch has others to run beside
PAIR = 2


# --- tables ------------------------------------------------------------------

def model_gain(inputs_, metric, label="piq"):
    """The mean change from rws to a scheme over the model's inputs, as text."""
    cells = piqclaims.Replays(cells_of_model({"inputs": inputs_}))
    return piqclaims.percent(statistics.fmean(
        cells.changes(metric, label, "rws")[0].values()))


def noop_waits(inputs_, way):
    """The mean over the model's inputs of piqclaims.over_rest() under noop, as text."""
    return "{:.1f}".format(statistics.fmean(
        piqclaims.over_rest(cell, way) for cell in cells_of_model({"inputs": inputs_})
        if cell["label"] == "noop"))


def by_model(loads):
    """Gains and waits on the second set by the model. loads: {load: {input: {scheme:
    figures}}}.
    """
    rows = [["the paper", *(piqclaims.percent(paper)
                            for _, paper in piqclaims.GAINS.values()), "6.5", "10.1"]]
    for load, inputs_ in loads.items():
        rows.append([load, *(model_gain(inputs_, metric) for metric in piqclaims.GAINS)])
        rows[-1] += [noop_waits(inputs_, way) for way in ("read", "write")]
    yield from table(["times divided by", *(name for name, _ in piqclaims.GAINS.values()),
                      "reads longer by, times", "writes longer by, times"], rows)


def value(cells, name, label, metric, form, variant=piqclaims.IN_ORDER):
    """A figure as text."""
    found = claims.figure(cells.get(name, label, variant), metric) \
        if cells else None
    return DASH if found is None else form(found)


def pair(measured, model, *what, **more):
    """Measured, and the model's in brackets."""
    one, other = (value(cells, *what, **more) for cells in (measured, model))
    return DASH if one == other == DASH else \
        f"{one} ({other})" if other != DASH else one


def us(number):
    """Seconds as microseconds."""
    return f"{number * 1e6:.0f}"


def share(number):
    """A share in per cent."""
    return f"{number:.1%}"


def chips(number):
    """Thousandths of a chip."""
    return f"{number / 1000:.1f}"


def marked(name):
    """An input's name; those that were not fitted are marked."""
    return name + ("*" if standin.base(name) in standin.UNCALIBRATED else "")


def inputs(end):
    """The names of a set."""
    return [name + end for name in standin.published()]


def table_1(measured, model, end):
    """Table I, Figures 1 and 2."""
    rows = []
    published = standin.published()
    for name in inputs(end):
        row = published[standin.base(name)]
        rows.append([
            marked(name), str(row["reads"]), str(row["writes"]),
            share(row["read_conflicts"] / row["reads"]),
            pair(measured, model, name, "noop",
                 f"read_{piqclaims.IN_CONFLICT[end]}", share),
            share(row["write_conflicts"] / row["writes"]),
            pair(measured, model, name, "noop",
                 f"write_{piqclaims.IN_CONFLICT[end]}", share),
            f"{row['busy_chips']:.1f}",
            pair(measured, model, name, "noop", "utilisation_milli", chips),
            longer(measured, model, name, "read"),
            longer(measured, model, name, "write")])
    yield from table(
        ["input", "reads", "writes", "reads in conflict, paper", "here",
         "writes in conflict, paper", "here", "busy chips, paper", "here",
         "reads longer by, times; those in conflict",
         "writes longer by, times; those in conflict"], rows)


def countings(model):
    """Shares in conflict as the paper's Table I has them, and by both countings."""
    rows = []
    for end, _ in SETS:
        for name in inputs(end):
            row = standin.published()[standin.base(name)]
            rows.append([marked(name)])
            for way in ("read", "write"):
                rows[-1] += [share(row[f"{way}_conflicts"] / row[f"{way}s"]), *(
                    value(model, name, "noop", f"{way}_{metric}", share)
                    for metric in piqclaims.IN_CONFLICT.values())]
    yield from table(["input", *(head for way in ("reads", "writes") for head in (
        f"{way}: Table I", "at arrival", "at the head"))], rows)


def longer(measured, model, name, way):
    """Figure 2(b): waiting over the rest."""
    texts = []
    for cells in (measured, model):
        cell = cells.get(name, "noop") if cells else None
        times = piqclaims.over_rest(cell, way)
        met = claims.figure(cell, f"{way}_conflict_share")
        texts.append(DASH if times is None else f"{times:.1f}; " + (
            f"{times / met:.1f}" if met else DASH))
    return texts[0] if texts[1] == DASH else f"{texts[0]} ({texts[1]})"


def schemes(measured, model, metric, form, end):
    """A metric of all schemes."""
    rows = [[marked(name)] + [
        pair(measured, model, name, label, metric, form)
        for label in ("none", *piqclaims.SCHEMES)] for name in inputs(end)]
    yield from table(["input", "none", *piqclaims.SCHEMES], rows)


def mean_change(cells, metric, label, names, base="rws"):
    """The mean change against rws or another base over these inputs, as text."""
    found = [change[0] for name in names if cells and (
        change := cells.change(metric, label, base, name))]
    return piqclaims.percent(statistics.fmean(found)) if found else DASH


def both(measured, model, *what):
    """mean_change() of what was measured, and in brackets the model's."""
    one, other = (mean_change(cells, *what) for cells in (measured, model))
    return one if other == DASH else f"{one} ({other})"


def calibrated(end):
    """The names of a set without those that are not calibrated."""
    return [name for name in inputs(end) if name not in piqclaims.WITHOUT]


def by_seed(data):
    """The model's cells of rws and piq, a table for each seed."""
    return [piqclaims.Replays(cells_of_model({"inputs": inputs_}))
            for inputs_ in (data["inputs"], *data.get("seeds", {}).values())]


def over_seeds(tables, metric, names):
    """The model's mean change from rws to piq over these inputs, mean over seeds with its
    95 % interval; as text.
    """
    found = []
    for cells in tables:
        changes = [cells.change(metric, "piq", "rws", name) for name in names]
        if None not in changes:
            found.append(statistics.fmean(one[0] for one in changes))
    if len(found) < 2:
        return DASH
    mean, low, high = piqclaims.interval(found)
    return f"{piqclaims.percent(mean)} ({low * 100:+.1f} to {high * 100:+.1f})"


def means(measured, model, seeds, end):
    """The mean change against RWS, beside the paper's. seeds: by_seed()."""
    papers = {**piqclaims.HALVES, "piq": {
        metric: paper for metric, (_, paper) in piqclaims.GAINS.items()}}
    rows = []
    for metric, (name, _) in piqclaims.GAINS.items():
        rows.append([name])
        for label, paper in papers.items():
            rows[-1] += [piqclaims.percent(paper[metric]) if metric in paper else DASH,
                         both(measured, model, metric, label, calibrated(end))]
        rows[-1] += [over_seeds(seeds, metric, calibrated(end)),
                     both(measured, model, metric, "piq-overlap", calibrated(end))]
    yield from table(["against rws, mean over inputs", *(
        head for label in papers for head in (f"paper's {label}", label)),
        f"piq, model, {len(seeds)} seeds", "piq-overlap"], rows)


def reasons(measured, end):
    """Why an input gains or loses, from what was measured."""
    def of(label, name, metric, form):
        return value(measured, name, label, metric, form)

    def change(label, name, way):
        found = measured.change(f"{way}_latency_mean_s", label, "rws", name,
                                piqclaims.IN_ORDER)
        return piqclaims.percent(found[0]) if found else DASH
    rows = []
    for name in inputs(end):
        row = [of("rws", name, "read_conflict_share", share),
               of("rws", name, "write_conflict_share", share),
               of("piq", name, "batch_size", "{:.2f}".format),
               of("rws", name, "read_wait_mean_s", us),
               of("piq", name, "read_wait_mean_s", us),
               of("rws", name, "write_wait_mean_s", us),
               of("piq", name, "write_wait_mean_s", us),
               *(change(label, name, way) for way in ("read", "write")
                 for label in ("piq", "piq-overlap"))]
        if any(text != DASH for text in row):
            rows.append([marked(name), *row])
    yield from table(
        ["input", "reads in conflict", "writes in conflict",
         "requests a batch", "reads wait, us: rws", "piq",
         "writes wait, us: rws", "piq", "reads against rws: piq",
         "overlap", "writes against rws: piq", "overlap"], rows)


def begins(data, end):
    """The results of each rule for the begin of a batch."""
    rows = [["the paper", *(piqclaims.percent(paper)
                            for _, paper in piqclaims.GAINS.values()),
             piqclaims.percent(-0.196), piqclaims.percent(-0.47), DASH]]
    for begin, text in BEGINS.items():
        cells = piqclaims.Replays(cells_of_model(
            begun(data, begin) if begin in data["begins"] else data))

        def mean(label, metric, cells=cells):
            found = piqclaims.counted(cells.changes(metric, label, "rws")[0])
            return statistics.fmean(
                one for key, one in found.items()
                if standin.set_of(key) == end)
        ours = {metric: mean("piq", metric) for metric in piqclaims.GAINS}
        away = statistics.fmean(abs(ours[metric] - paper) for metric,
                                (_, paper) in piqclaims.GAINS.items())
        rows.append([text, *map(piqclaims.percent, (
            *ours.values(), mean("piq_r", "read_latency_mean_s"),
            mean("piq_w", "write_latency_mean_s"))), f"{away * 100:.0f}"])
    yield from table(["a batch begins", *(name for name, _ in
                                          piqclaims.GAINS.values()),
                      "piq_r: reads", "piq_w: writes", "away"], rows)


def by_length(cells, end):
    """{queue_length: {way: (mean change from length 1, number of inputs)}} of a set."""
    found = {}
    for name in inputs(end) if cells else ():
        lengths = piqclaims.lengths(cells, name)
        if name in piqclaims.WITHOUT or 1 not in lengths:
            continue
        for length, cell in lengths.items():
            for way in ("read", "write"):
                one, base = (claims.figure(of, f"{way}_latency_mean_s")
                             for of in (cell, lengths[1]))
                if one and base:
                    found.setdefault(length, {}).setdefault(way, []).append(one / base - 1)
    return {length: {way: (statistics.fmean(changes), len(changes))
                     for way, changes in ways.items()}
            for length, ways in sorted(found.items())}


def queue_lengths(measured, model):
    """Figure 11."""
    rows = []
    for end, title in SETS:
        ours, expected = (by_length(cells, end) for cells in (measured, model))
        for length in sorted({*ours, *expected}):
            if length == 1:
                continue
            rows.append([title, str(length)])
            for way in ("read", "write"):
                for found in (ours, expected):
                    change = found.get(length, {}).get(way)
                    rows[-1].append(f"{piqclaims.percent(change[0])} ({change[1]})"
                                    if change else DASH)
    yield "Change of the mean latency from a `queue_length` of 1, mean over inputs. In " \
        "brackets: the number of inputs."
    yield ""
    yield from table(["set", "queue_length", "reads", "reads, model", "writes",
                      "writes, model"], rows)


PIECES = """\
The second picture shows pieces of real traces, at their own speed and with their times
divided by 3 to 100.{most}"""
MOST = """ Writes gain most on {name} at {load} times its speed: reads
{read_latency_mean_s}, writes {write_latency_mean_s}, busy chips {busy_chips}."""


def of_cells(data):
    """Measured pieces as piqmodel.PIECES has them; None without results."""
    found = {}
    for cell in data["cells"] if data else ():
        name, load = cell["workload"].rsplit("-", 1)
        one = {key: figure["median"] for key, figure in cell["metrics"].items() if figure}
        one["busy_chips"] = one["utilisation_milli"] / 1000
        found.setdefault(name, {}).setdefault(load, {})[cell["label"]] = one
    return {"pieces": found} if found else None


def loaded(data):
    """The text beside the picture, with the figures where writes gain most."""
    changes = [{"name": name, "load": load, **{
        key: found["piq"][key] / value - 1 for key, value in found["rws"].items()
        if value and key in found["piq"]}}
        for name, loads in data["pieces"].items() for load, found in loads.items()]
    written = [one for one in changes if "write_latency_mean_s" in one]
    if not written:
        return PIECES.format(most="")
    most = min(written, key=lambda one: one["write_latency_mean_s"])
    return PIECES.format(most=MOST.format(**{
        key: one if isinstance(one, str) else piqclaims.percent(one)
        for key, one in most.items()}))


def pieces(data):
    """Real traces at each load, by the model or measured."""
    rows = []
    for name, loads in data["pieces"].items():
        for load, found in loads.items():
            base = found["rws"]
            rows.append([name, load, *(
                share(base[f"{way}_conflict_share"])
                for way in ("read", "write")), *(
                piqclaims.percent(found[scheme][key] / base[key] - 1)
                for scheme in ("piq", "piq-overlap")
                for key in ("read_latency_mean_s", "write_latency_mean_s",
                            "busy_chips"))])
    yield from table(
        ["piece", "load", "reads in conflict", "writes in conflict",
         "default: reads", "writes", "chips", "overlap: reads", "writes",
         "chips"], [["the paper, mean", DASH, DASH, DASH, *(
             piqclaims.percent(paper) for name, (_, paper) in
             piqclaims.GAINS.items() if name in (
                 "read_latency_mean_s", "write_latency_mean_s",
                 "utilisation_milli")), DASH, DASH, DASH], *rows])


def waits(cells):
    """Mean changes of inputs and pieces in each class of waits."""
    found = {}
    at = piqclaims.Replays(cells)
    for workload in at.distinct():
        if workload in piqclaims.WITHOUT:
            continue
        for way in ("read", "write"):
            rws = at.get(workload, "rws")
            change = at.change(f"{way}_latency_mean_s", "piq", "rws", workload)
            times = piqclaims.over_rest(rws, way)
            if change and times is not None:
                place = sum(times >= end for end in CLASSES)
                found.setdefault((way, place), []).append(change[0])
    rows = []
    for place in range(len(CLASSES) + 1):
        low, high = (CLASSES[n] if 0 <= n < len(CLASSES) else None
                     for n in (place - 1, place))
        rows.append([f"under {high}" if low is None else f"{low} and more"
                     if high is None else f"{low} to {high}"])
        for way in ("read", "write"):
            values = found.get((way, place), ())
            rows[-1] += [str(len(values)), piqclaims.percent(
                statistics.fmean(values)) if values else DASH]
    yield from table(["wait over rest", "reads: number", "mean change", "writes: number",
                      "mean change"], rows)


def kind(measured, name):
    """(batches are large, most requests are writes) of an input; None if not measured."""
    size = claims.figure(measured.get(name, "piq"), "batch_size")
    row = standin.published()[standin.base(name)]
    return None if size is None else (size >= PAIR, row["writes"] > row["reads"])


def kinds_of(measured):
    """{(batches are large, most requests are writes): inputs} of the second set."""
    found = {(large, writes): [] for large in (True, False) for writes in (True, False)}
    for name in calibrated(standin.HEAD):
        if kind(measured, name):
            found[kind(measured, name)].append(name)
    return found


def kinds(measured, model):
    """Mean changes of the second set's inputs of each kind."""
    rows = [["the paper, all", DASH] + [
        piqclaims.percent(piqclaims.GAINS[metric][1]) for metric in piqclaims.SIZES]]
    for (large, writes), own in kinds_of(measured).items():
        if own:
            rows.append([f"{f'{PAIR} or more' if large else f'fewer than {PAIR}'}, "
                         f"most are {'writes' if writes else 'reads'}",
                         ", ".join(map(standin.base, own)),
                         *(both(measured, model, metric, "piq", own)
                           for metric in piqclaims.SIZES)])
    yield from table(["requests a batch, and their direction", "inputs", "reads",
                      "writes", "busy chips"], rows)


def orders(measured, model):
    """The drive's other orders."""
    rows = []
    for variant in (piqclaims.FIFO, piqclaims.READ_FIRST):
        for end, _ in SETS:
            for name in inputs(end):
                row = [pair(measured, model, name, label,
                            f"{way}_latency_mean_s", us, variant=variant)
                       for way in ("read", "write")
                       for label in ("none", "noop", "piq")]
                if any(text != DASH for text in row):
                    rows.append([variant, marked(name), *row])
    yield from table(["order", "input", "reads: none", "noop", "piq",
                      "writes: none", "noop", "piq"], rows)


def figures(measured, data, real):
    """The lines of the page with all figures."""
    model = piqclaims.Replays(cells_of_model(data))
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield "<!-- Made by scripts/piq-results; change that, not this. -->"
    yield "# PIQ: all figures of the paper's experiment"
    yield ""
    yield "What virtual machines measured, and in brackets what the model expects " \
        "(`tests/model/piqmodel.c`: the same drive, no CPU, no block layer, a " \
        "scheduler of its own). `–`: not measured. *: an input that is not " \
        "calibrated; no verdict counts it."
    yield ""
    for end, title in SETS:
        yield f"## Table I, Figures 1 and 2: {title}"
        yield ""
        yield from table_1(measured, model, end)
    yield "*Longer by*: Figure 2(b), the wait for conflicts as a multiple of the rest of the " \
        "latency; after the semicolon, of requests in conflict at their arrival alone."
    yield ""
    yield "## Both countings, by the model"
    yield ""
    yield "Under noop: at its arrival a request needs a chip of an uncompleted one, or it " \
        "is the first in the queue while one of its chips is busy."
    yield ""
    yield from countings(model)
    if measured:
        yield "## Why an input gains or loses (measured)"
        yield ""
        yield "The columns of waiting count the wait after a conflict, which is counted " \
            "at arrival. A wait for the end of a batch without a conflict is in the " \
            "latencies only. Overlap: with `batch_overlap` = 1."
        yield ""
        for end, title in SETS:
            yield f"{title}, waiting as in Figure 10:"
            yield ""
            yield from reasons(measured, end)
    yield "## When a batch begins (model alone)"
    yield ""
    yield WHEN
    yield ""
    yield "Last column: how many points the five means of `piq` are away from the " \
        "paper's, on average. The first rule and the last contradict the paper's text."
    yield ""
    for end, title in SETS:
        yield f"{title}, against rws, mean over inputs:"
        yield ""
        yield from begins(data, end)
    yield "## More load (model alone)"
    yield ""
    yield "Second set, against rws, mean over inputs; last two columns as in Figure " \
        "2(b), under noop."
    yield ""
    yield from by_model(data["loads"])
    yield "## Two sizes of requests (model alone)"
    yield ""
    yield SIZES.format(chips=data["two_sizes"]["1"]["src2_2-head"]["noop"]["busy_chips"],
                       before=data["inputs"]["src2_2-head"]["noop"]["busy_chips"])
    yield ""
    yield from by_model(data["two_sizes"])
    yield "## prxy_0, if its clusters differ more (model alone)"
    yield ""
    chips_ = standin.published()[piqmodel.PASSED]["busy_chips"]
    yield SPREAD.format(chips=chips_)
    yield ""
    yield from table(
        ["clusters differ by", "reads longer by, times", "writes longer by, times",
         "reads that pass an older write, rws", "busy chips"],
        [["the paper", "11.6", "1 to 3", "more than 5 %", f"{chips_:.1f}"],
         *([value, *(noop_waits({piqmodel.PASSED: one}, way) for way in ("read", "write")),
            share(one["rws"]["prioritised_share"]), f"{one['noop']['busy_chips']:.1f}"]
           for value, one in data["spreads"].items())])
    for end, title in SETS:
        for text, metric, form in (
                ("Figure 8(a): mean read latency, us", "read_latency_mean_s",
                 us),
                ("Figure 8(b): mean write latency, us",
                 "write_latency_mean_s", us),
                ("Figure 9: reads that went before an older write",
                 "prioritised_share", share),
                ("Figure 10(a): reads' waiting by conflicts, us",
                 "read_wait_mean_s", us),
                ("Figure 10(b): writes' waiting by conflicts, us",
                 "write_wait_mean_s", us),
                ("Figure 12: busy chips", "utilisation_milli", chips)):
            yield f"## {text}: {title}"
            yield ""
            yield from schemes(measured, model, metric, form, end)
    yield "## Figure 11: queue_length"
    yield ""
    yield from queue_lengths(measured, model)
    if real:
        yield "## Pieces of real traces, by the model"
        yield ""
        yield "By the names of their files: rw20_80 is hm10k, raw hm1k, randiops burst. At most " \
            f"{real['requests']} requests of each, as measured. fio has at most 512 of them " \
            "outstanding, the model all, so they differ where rws cannot keep up."
        yield ""
        yield from pieces(real)
    yield "## Other orders of the drive: mean latency, us"
    yield ""
    yield "Batches that wait for each other are expected to lose here."
    yield ""
    yield from orders(measured, model)
    yield "## The claims, by the model"
    yield ""
    yield from claim_list([row for row in piqclaims.paper(cells_of_model(data))
                           if ", overlap" not in row["id"]])
    yield "With `batch_overlap` = 1, which is not the paper's rule, so these are our aims:"
    yield ""
    yield from claim_list(
        [{**row, "paper": f"aim: {claims.wants(row)}"}
         for row in piqclaims.paper(cells_of_model(begun(data, OVERLAP)))
         if row["id"].split(",")[0] in ("Fig 8", "Fig 10", "Fig 12")
         and ", overlap" not in row["id"]])


def hinders(model, data, folder):
    """HINDERS with its figures."""
    sized, reads = data["two_sizes"], "read_latency_mean_s"
    passed = piqmodel.PASSED + standin.HEAD
    return HINDERS.replace("(figures.md", f"({folder}/figures.md").format(
        single=mean_change(model, "write_latency_mean_s", "piq-ql1", calibrated(standin.HEAD)),
        head=model_gain(data["loads"]["1"], "write_latency_mean_s"),
        sized=model_gain(sized["1"], "write_latency_mean_s"),
        latency=model_gain({NAMED: sized["1"][NAMED]}, reads, "piq_r"),
        best=model_gain({NAMED: sized["4"][NAMED]}, reads, "piq_r"),
        **{way: noop_waits({passed: data["inputs"][passed]}, way) for way in ("read", "write")})


def page(paper, data, real, run, folder, pictures=()):
    """The lines of docs/piq-results.md; folder: where the other page is."""
    model = piqclaims.Replays(cells_of_model(data))
    measured = piqclaims.Replays(paper["cells"]) if paper else None
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield "<!-- Made by scripts/piq-results; change that, not this. -->"
    yield "# PIQ: the paper's experiment"
    yield ""
    yield "    scripts/bench piq-paper --form hour              # second set"
    yield "    scripts/bench piq-paper --form short             # first set"
    yield "    scripts/bench piq-paper --form rest              # more of both"
    yield "    TRACES=DIR scripts/bench piq-pieces --form full  # your traces"
    yield "    scripts/piq-model                                # what a model expects"
    yield "    scripts/piq-results                              # this page again"
    yield ""
    if measured:
        ways = ("read", "write")
        yield SHORT.format(
            **{f"{name}_{way}": both(measured, model, f"{way}_latency_mean_s", "piq",
                                     calibrated(end))
               for name, end in (("head", standin.HEAD), ("first", "")) for way in ways},
            **{f"none_{way}": mean_change(model, f"{way}_latency_mean_s", "piq",
                                          calibrated(standin.HEAD), "none") for way in ways})
        yield ""
    yield INTRO
    yield ""
    yield facts(paper)
    yield ""
    yield f"Model: seed {data['seed']}, {data['requests']} requests of each " \
        f"input, `{data['made_by'].strip()}`."
    yield ""
    yield "## The claims"
    yield ""
    yield WORDS.replace("(figures.md", f"({folder}/figures.md")
    yield ""
    yield from claim_list(piqclaims.paper(paper["cells"] if paper else []), data=paper)
    if measured:
        yield from (line.replace("(figures.md", f"({folder}/figures.md")
                    for line in piqconditions.conditions_table(
                        paper["cells"], run["cells"] if run else [],
                        kinds_of(measured)[True, True],
                        {"chips ignored": cells_of_model(begun(data, "issued"))},
                        {name: {load: cells_of_model({"inputs": inputs_})
                                for load, inputs_ in data[key].items()}
                         for name, key in (("more load", "loads"),
                                           ("two sizes", "two_sizes"))}))
        yield hinders(model, data, folder)
        yield ""
    for file, caption in pictures:
        yield f"![{caption}]({folder}/{file})"
        yield ""
    seeds = by_seed(data)
    for end, title in SETS:
        yield f"## Means: {title}"
        yield ""
        yield from means(measured, model, seeds, end)
    yield "## What decides a gain"
    yield ""
    yield WHY
    yield ""
    if measured:
        yield WAITS
        yield ""
        yield from waits(paper["cells"] + (run["cells"] if run else []))
        yield KINDS
        yield ""
        yield from kinds(measured, model)
    best = of_cells(run) or real
    if best:
        yield "## Pieces of real traces" + ("" if run else " (model alone)")
        yield ""
        if run:
            yield facts(run)
            yield ""
        yield loaded(best)
        yield ""
    if run:
        yield PIECE_WORDS
        yield ""
        yield "Against rws, with the default rule and with `batch_overlap` = 1 (overlap):"
        yield ""
        yield from pieces(of_cells(run))
    yield f"Each input and each scheme, and the claims by the model: [all figures](" \
        f"{folder}/figures.md)."
    yield ""


def make(args, results):
    """Writes the page, its pictures and the page of all figures."""
    paper, run = results
    data = json.loads(piqmodel.RESULT.read_text(encoding="utf-8"))
    real = json.loads(piqmodel.PIECES.read_text(encoding="utf-8")) \
        if piqmodel.PIECES.exists() else None
    options.need("bench")
    import piqplots  # pylint: disable=import-outside-toplevel
    folder = resultspage.emptied(args.out)
    measured = piqclaims.Replays(paper["cells"]) if paper else None
    best = of_cells(run) or real
    pictures = piqplots.draw(folder, measured, best and best["pieces"], SETS)
    resultspage.put(folder / "figures.md", figures(measured, data, real))
    resultspage.write(NAME, args.out, page(paper, data, real, run, folder.name, pictures),
                      SUITES, results)


@resultspage.in_one_line(NAME)
def main(argv=None):
    """Command line."""
    if not piqmodel.RESULT.exists():
        print(f"{NAME}: {piqmodel.RESULT}: missing; next: scripts/piq-model",
              file=sys.stderr)
        return 1
    return resultspage.run(NAME, __doc__, PAGE, SUITES, argv, make)


if __name__ == "__main__":
    sys.exit(main())
