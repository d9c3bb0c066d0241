# SPDX-License-Identifier: GPL-2.0
"""A paper's claims and our aims, compared with measured cells.

Pure functions. A claim is a list of parts. Each part is an observation that can
hold or fail, and reports its figures. A part without measured cells has no
verdict. A claim has a verdict if one of its parts has one.

A claim names its source: "aim: ..." is our own aim, "other: ..." a paper other than the
scheduler's, "inputs: ..." the published data that our stand-ins for a paper's inputs were
fitted to. Any other text is a quotation from the scheduler's paper.
"""

import re

# Relative difference below which two figures count as equal: ten times the
# difference between repeated runs, and about the paper's "almost the same"
SAME = 0.05
# The paper's flat write bandwidth: 256 to 288 MB/s.
FLAT = 0.12
# Relative difference between repeated runs; closer figures have no order
NOISE = 0.005
# Least share of the paper's change for the verdict DIRECTION
LEAST = 0.1
# "Mostly": share of the steps from one bound to the next that may have the wrong direction.
ASTRAY = 0.25

TAILS = ("p99_9", "p99", "p95", "p90", "p50")
BANDWIDTH = "bandwidth_bytes_per_s"


def percentile_name(name):
    """p99_9 as people write it."""
    return name.replace("_", ".")


def figure(cell, metric, which="median"):
    """A cell's figure over its seeds; None without a cell or a figure."""
    found = cell["metrics"].get(metric) if cell else None
    return found[which] if found else None


class Sweep:
    """The cells of K2's experiment, by workload, variant and bound."""

    def __init__(self, cells):
        self.none, self.k2 = {}, {}
        for cell in cells:
            # "full-overwritten" is a way of being full.
            place = (cell["workload"], cell["variant"].split("-")[0])
            # Cells at another time scale are a second look, not a part.
            if cell["cell"].endswith(".x1"):
                continue
            if cell["scheduler"] == "none" and not cell["tunables"]:
                self.none[place] = cell
            elif cell["scheduler"] == "k2" and \
                    set(cell["tunables"]) == {"max_inflight"}:
                self.k2.setdefault(place, {})[
                    int(cell["tunables"]["max_inflight"])] = cell

    def all(self, workload, variant):
        """{bound: cell}, infinity for none."""
        place = (workload, variant)
        found = dict(sorted(self.k2.get(place, {}).items()))
        if place in self.none:
            found[float("inf")] = self.none[place]
        return found


def percentile_of(cells):
    """The furthest percentile that all cells have, such as p95; or None."""
    for name in TAILS:
        if cells and all(figure(cell, f"latency_{name}_s") is not None
                         for cell in cells):
            return name
    return None


def _call(bound):
    return "none" if bound == float("inf") else f"K2-{bound}"


def _mb(value):
    return f"{value / 1e6:.0f}"


def _us(value):
    return f"{value * 1e6:.0f}"


def _row(values, form):
    return ", ".join(f"{_call(bound)} {form(value)}"
                     for bound, value in values.items())


class Part:
    """An observation of a claim.

    paper: the paper's figure, "" if the paper has none. share: the change here as a share
    of the paper's change, None if the part compares no change. mean: the part is a mean
    over inputs, so it can be judged on others.
    """

    def __init__(self, text, cells, paper="", mean=False):
        self.text = text
        self.mean = mean
        self.paper = paper
        self.cells = [cell["cell"] for cell in cells if cell]
        self.holds = None
        self.ours = "not measured"
        self.share = None

    def judge(self, holds, ours, share=None):
        """Its verdict."""
        self.holds = bool(holds)
        self.ours = ours
        self.share = share
        return self

    def as_dict(self):
        """The part as a dict, for JSON."""
        return {"text": self.text, "holds": self.holds, "ours": self.ours,
                "cells": self.cells,
                **({"paper": self.paper} if self.paper else {}),
                **({"mean": True} if self.mean else {}),
                **({} if self.share is None else {"share": self.share})}


def _relative(one, other):
    return abs(one - other) / max(one, other) if max(one, other) else 0.0


def _overlap(one, other, tail):
    """Do the percentile's confidence intervals (95 %) overlap?

    Without intervals they do not, so any difference counts.
    """
    ends = [figure(cell, f"latency_{tail}_{end}_s")
            for cell in (one, other) for end in ("low", "high")]
    if None in ends:
        return False
    return ends[0] <= ends[3] and ends[2] <= ends[1]


def _compare_variants(sweep, workload, changes):
    """Part: occupancy does (not) change a workload's figures."""
    half, full = (sweep.all(workload, v) for v in ("half", "full"))
    both = [bound for bound in half if bound in full]
    used = [side[bound] for bound in both for side in (half, full)]
    part = Part(f"{workload}: half and full differ by "
                + ("more than" if changes else "at most")
                + f" {SAME:.0%}", used)
    tail = percentile_of(used)
    known = [bound for bound in both
             if figure(half[bound], BANDWIDTH) is not None
             and figure(full[bound], BANDWIDTH) is not None]
    if not known:
        return part
    found = {"bandwidth": max(
        (_relative(figure(half[b], BANDWIDTH), figure(full[b], BANDWIDTH)),
         b) for b in known)}
    told = ""
    if tail:
        metric = f"latency_{tail}_s"
        # A difference within the error of a percentile does not count.
        apart = [b for b in known if not _overlap(half[b], full[b], tail)]
        told = f"; {percentile_name(tail)} within its error" + (
            " elsewhere" if apart else "") if len(apart) < len(known) else ""
        if apart:
            found[tail] = max(
                (_relative(figure(half[b], metric),
                           figure(full[b], metric)), b) for b in apart)
    ours = "; ".join(f"{percentile_name(name)} by up to {value:.1%} "
                     f"({_call(bound)})"
                     for name, (value, bound) in found.items()) + told
    largest = max(value for value, _ in found.values())
    return part.judge((largest > SAME) == changes, ours)


def _falling(values, tolerance):
    """(steps, steps astray) as the bound falls; values by rising bound."""
    ordered = list(values.values())
    steps = list(zip(ordered, ordered[1:]))
    astray = sum(low > high * (1 + tolerance) for low, high in steps)
    return len(steps), astray


def _values(cells, metric):
    return {bound: figure(cell, metric) for bound, cell in cells.items()
            if figure(cell, metric) is not None}


def _bandwidth_falls(sweep, workload, variant):
    cells = sweep.all(workload, variant)
    part = Part(f"{workload}, {variant}: bandwidth falls with every step of "
                "the bound, or stays", list(cells.values()))
    values = _values(cells, BANDWIDTH)
    if len(values) < 2 or len(values) < len(cells):
        return part
    _, astray = _falling(values, NOISE)
    ordered = list(values.values())
    return part.judge(not astray and ordered[0] < ordered[-1] * (1 - SAME),
                      _row(values, _mb) + " MB/s")


def _tail_falls(sweep, workload, variant, skip=()):
    cells = {bound: cell for bound, cell in
             sweep.all(workload, variant).items() if bound not in skip}
    part = Part(f"{workload}, {variant}: the tail falls with the bound, but "
                "for a quarter of the steps at most, beyond its error"
                + "".join(f" (without {_call(b)})" for b in skip),
                list(cells.values()))
    tail = percentile_of(list(cells.values()))
    if tail is None or len(cells) < 2:
        return part
    values = _values(cells, f"latency_{tail}_s")
    steps, rising = _falling(values, NOISE)
    # A step within the error of a percentile does not count. But from none to
    # the smallest bound the tail has to fall by more than its error.
    ordered = list(cells.values())
    astray = sum(
        low > high * (1 + NOISE) and not _overlap(cell, other, tail)
        for low, high, cell, other in zip(
            values.values(), list(values.values())[1:], ordered, ordered[1:]))
    ends = [values[bound] for bound in (min(values), max(values))]
    return part.judge(
        astray <= steps * ASTRAY and ends[0] < ends[1] * (1 - SAME) and
        not _overlap(ordered[0], ordered[-1], tail),
        f"{percentile_name(tail)}: " + _row(values, _us) + " us" + (
            f"; of {steps} steps {rising} rise, {astray} beyond the error"
            if rising else ""))


def _one_not_better(sweep, workload, variant):
    cells = sweep.all(workload, variant)
    used = [cells.get(1), cells.get(2)]
    part = Part(f"{workload}, {variant}: the tail of K2-1 is not below that "
                "of K2-2", used)
    if None in used:
        return part
    tail = percentile_of(used)
    if tail is None:
        return part
    one, two = (figure(cell, f"latency_{tail}_s") for cell in used)
    return part.judge(one >= two * (1 - NOISE),
                      f"{percentile_name(tail)}: {_us(one)} against "
                      f"{_us(two)} us")


def _flat(sweep, workload, variant):
    cells = {bound: cell for bound, cell in
             sweep.all(workload, variant).items() if bound != 1}
    part = Part(f"{workload}, {variant}: bandwidth from K2-2 up and under "
                f"none within {FLAT:.0%}", list(cells.values()))
    values = _values(cells, BANDWIDTH)
    if len(values) < 2 or len(values) < len(cells):
        return part
    width = _relative(min(values.values()), max(values.values()))
    return part.judge(width <= FLAT,
                      _row(values, _mb) + f" MB/s: {width:.1%}")


def _one_drops(sweep, workloads, variant):
    used, drops, told = [], [], []
    for workload in workloads:
        cells = sweep.all(workload, variant)
        values = _values(cells, BANDWIDTH)
        if 1 in values and len(values) > 1:
            used += cells.values()
            rest = min(value for bound, value in values.items() if bound != 1)
            drops.append(values[1] < rest * (1 - SAME))
            told.append(f"{workload}: {_mb(values[1])} against at least "
                        f"{_mb(rest)} MB/s")
    part = Part(f"{variant}: K2-1 costs bandwidth in at least one workload",
                used)
    return part.judge(any(drops), "; ".join(told)) if drops else part


READS, WRITES = ("seq-read", "rand-read"), ("seq-write", "rand-write")
VARIANTS = ("half", "full")


def kernel_series(kernel):
    """The name of a kernel in a claim, such as Linux 6.12 of 6.12.117+deb12-amd64."""
    return "Linux " + ".".join(re.findall(r"\d+", str(kernel))[:2])


def over_none(summary, disk, label, depth):
    """The cost of an I/O beyond `none`'s, ns, by bench-cost; None if not measured."""
    for line in (summary or {}).get("cells", ()):
        if (line.get("disk"), line.get("label"), line.get("depth")) == \
                (disk, label, depth):
            return line.get("over_none_ns")
    return None


def claim(name, text, paper, parts, where=""):
    """A claim and its verdict. where: the conditions, if not those of all claims."""
    parts = list(parts)
    judged = [part.holds for part in parts if part.holds is not None]
    shares = [part.share for part in parts if part.holds is False]
    return {
        # The direction is the paper's if each part that fails has at least LEAST of the size.
        "shares": (min(shares), max(shares)) if shares and None not in shares and
        min(shares) >= LEAST else None,
        "id": name, "text": text, "paper": paper, "where": where,
        "ours": "; ".join(part.ours for part in parts
                          if part.holds is not None) or "not measured",
        "holds": all(judged) if judged else None,
        "judged": len(judged), "wanted": len(parts),
        "cells": sorted({cell for part in parts for cell in part.cells}),
        "parts": [part.as_dict() for part in parts],
    }


def under(rows, where):
    """The claims, with these conditions where a claim states none."""
    return [{**row, "where": row["where"] or where} for row in rows]


PAPER, OTHER, INPUTS, OURS = "paper", "other", "inputs", "ours"
REPRODUCED = {True: "reproduced", False: "not reproduced", None: "not measured"}
# Verdict on a claim that has the paper's direction, but not its size
DIRECTION = "direction only"
# Suffix of the verdict on a claim that holds, with fewer than half of its parts judged
IN_PART = " in part"
WORDS = {PAPER: REPRODUCED, OTHER: REPRODUCED,
         INPUTS: {True: "fitted", False: "not fitted", None: "not measured"},
         OURS: {True: "met", False: "missed", None: "not measured"}}

TITLES = {PAPER: "The paper's claims", OTHER: "Claims of other papers",
          INPUTS: "Fit of our inputs", OURS: "Our own aims"}
SOURCES = {PAPER: "paper", OTHER: "other paper", INPUTS: "fitted to", OURS: "aim"}
MARKED = {"aim": OURS, "other": OTHER, "inputs": INPUTS}
MARK = re.compile(rf"^({'|'.join(MARKED)})(: |$)")


def whose(row):
    """The source of a claim: PAPER, OTHER, INPUTS or OURS."""
    found = MARK.match(str(row["paper"]))
    return MARKED[found[1]] if found else PAPER


def wants(row):
    """The text of a claim's source, without the word that marks its kind."""
    return MARK.sub("", str(row["paper"]))


def observed(one):
    """A part as text: the paper's figure, if it has one, beside ours."""
    paper = f"paper {one['paper']}, " if one.get("paper") else ""
    return f"{one['text']}: {paper}here {one['ours']}"


def seeds(one):
    """Text: with how many seeds a part holds, if its verdict is not that of each seed."""
    return " (holds with {} of {} seeds)".format(*one["seeds"]) if "seeds" in one else ""


def word(row, holds):
    """A verdict on a claim, or on a part of it, in a word."""
    return WORDS[whose(row)][holds]


def k2(cells):
    """R1 to R3 and W1 to W3 of the K2 analysis paper, section 5.

    The paper's tail is p99.9. The tail here is the furthest percentile for which
    all cells of a comparison have enough samples; each part names it.
    """
    sweep = Sweep(cells)
    return under([
        claim("R1", "occupancy changes neither tail nor bandwidth of reads",
              "Figures 4 and 7: no meaningful difference",
              [_compare_variants(sweep, w, False) for w in READS]),
        claim("R2", "read bandwidth falls with the bound",
              "none to K2-1: seq 720 to 70, rand 566 to 44 MB/s",
              [_bandwidth_falls(sweep, w, v)
               for w in READS for v in VARIANTS]),
        claim("R3", "the read tail mostly falls with the bound, but random "
              "read K2-1 is not better than K2-2",
              "p99.9, none to K2-1: seq 1237 to 370, rand 3251 to 217 us; "
              "rand K2-2 197 us",
              [_tail_falls(sweep, w, v, (1,) if w == "rand-read" else ())
               for w in READS for v in VARIANTS]
              + [_one_not_better(sweep, "rand-read", v) for v in VARIANTS]),
        claim("W1", "occupancy changes tail or bandwidth of writes",
              "seq 430 MB/s half full, 256 to 288 full; rand 299 half full",
              [_compare_variants(sweep, w, True) for w in WRITES]),
        claim("W2", "the write tail mostly falls with the bound",
              "p99.9, none to K2-1: half seq 3131 to 471, rand 3848 to 1732; "
              "full seq 3247 to 1485, rand 3259 to 1689 us",
              [_tail_falls(sweep, w, v) for w in WRITES for v in VARIANTS]),
        claim("W3", "write bandwidth is flat over the bounds, but for K2-1 "
              "half full",
              "half: seq 419 to 438, K2-1 303; rand 297 to 302, K2-1 277; "
              "full: seq 256 to 288 MB/s",
              [_flat(sweep, w, v) for w in WRITES for v in VARIANTS]
              + [_one_drops(sweep, WRITES, "half")]),
    ], "profile E, half full and full; three best-effort jobs")


def _piq(name):
    def found(cells):
        # Imported here, because piqclaims imports this module.
        import piqclaims  # pylint: disable=import-outside-toplevel
        return getattr(piqclaims, name)(cells)
    return found


def _share(name):
    def found(cells):
        import shareclaims  # pylint: disable=import-outside-toplevel
        return getattr(shareclaims, name)(cells)
    return found


def _layer(name):
    def found(cells):
        import layerclaims  # pylint: disable=import-outside-toplevel
        return getattr(layerclaims, name)(cells)
    return found


def _k2auto(cells):
    import k2autoclaims  # pylint: disable=import-outside-toplevel
    return k2autoclaims.claims_of(cells)


def _k2queue(cells):
    import k2queueclaims  # pylint: disable=import-outside-toplevel
    return k2queueclaims.claims_of(cells)


def _living(cells):
    import livingclaims  # pylint: disable=import-outside-toplevel
    return livingclaims.over_seeds(cells)


# The values of `claims` in a suite.
SETS = {"k2": k2, "k2-auto": _k2auto, "k2-queue": _k2queue,
        "piq-paper": _piq("paper"), "piq-pieces": _piq("pieces"),
        "piq": _piq("default"),
        "share-paper": _share("paper"), "share": _share("default"),
        "share-living": _living,
        "layer_read-paper": _layer("paper"), "layer_read": _layer("default")}


def of_seed(cells, seed):
    """The cells with the figures of one seed; without the cells that have none of it."""
    found = []
    for cell in cells:
        seeds_ = cell.get("seeds") or []
        if seed not in seeds_:
            continue
        metrics = {name: one and (one.get("values") or [one["median"]])
                   for name, one in cell["metrics"].items()}
        # Of several seeds, but made before each one's values were kept
        if any(one and len(one) != len(seeds_) for one in metrics.values()):
            continue
        found.append({**cell, "seeds": [seed], "by_seed": {
            key: one for key, one in (cell.get("by_seed") or {}).items()
            if key == str(seed)}, "metrics": {
            name: one and dict.fromkeys(("median", "min", "max"), one[seeds_.index(seed)])
            for name, one in metrics.items()}})
    return found


def with_seeds(judge, cells):
    """The claims of judge(cells). A part has "seeds" if its verdict differs from a seed's.

    "seeds": [number of seeds with which the part holds, number of seeds]. A seed counts if
    all cells of the part were run with it.
    """
    def key(row, part):
        return (row["id"], part["text"], *sorted(part["cells"]))

    rows, alone = judge(cells), {}
    several = sorted({seed for cell in cells if len(cell.get("seeds") or ()) > 1
                      for seed in cell["seeds"]})
    for seed in several:
        for row in judge(of_seed(cells, seed)):
            for part in row["parts"]:
                if part["holds"] is not None:
                    alone.setdefault(key(row, part), []).append(part["holds"])
    for row in rows:
        for part in row["parts"]:
            found = alone.get(key(row, part), ())
            if len(found) > 1 and set(found) != {part["holds"]}:
                part["seeds"] = [sum(found), len(found)]
    return rows


def evaluate(name, cells):
    """The claims of a suite; [] where it makes none."""
    return SETS[name](cells) if name else []
