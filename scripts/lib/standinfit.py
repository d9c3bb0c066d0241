# SPDX-License-Identifier: GPL-2.0
"""scripts/fit-standins: fits the PIQ paper's inputs to its Table I.

For each of the thirteen inputs three numbers: how many requests a cluster has,
where reads begin, and where writes begin (`cluster` and `lean`, see standin.py).
What they are fitted to is Table I: the shares of reads and of writes in conflict
and the busy chips, all under noop; the two sets count conflicts in two ways.
Beside it rws says how many reads go before an older write (Figure 9), which
decides how long directions persist, alike for all inputs of a set. The waits under noop
(Figure 2(b)) decide how much clusters differ in the second set. No other scheme is
run here. The fitted numbers and the figures they reach are written to
tests/traces/piq15-fit.csv.

The drive and noop are those of tests/model/piqmodel.c. Seeds are those for
tuning.
"""

import argparse
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys

import options
import standin
import synthetic

REPO = pathlib.Path(__file__).resolve().parents[2]
MODEL = REPO / "build" / "model" / "piqmodel"
SOURCES = ("tests/model/piqmodel.c", "tests/unit/flashsim.h",
           "tests/unit/tap.h", "tests/flashsim/env.h", "tests/flashsim/sim.h",
           "tests/flashsim/sim.c", "tests/flashsim/nand.h",
           "tests/flashsim/nand.c", "tests/flashsim/ftl.h",
           "tests/flashsim/ftl.c")

# The sizes of clusters vary more in the second set.
SEEDS = {"": (1, 2), standin.HEAD: (1, 2, 3, 4)}
REQUESTS = 20000
# At most, and without coming nearer
STEPS, PATIENCE = 20, 4
# Of log(cluster) and of the leans: to see what they do, and at most at once
WIDTHS, LONGEST = (0.1, 0.05, 0.05), (0.7, 0.4, 0.4)
SECONDS_INPUT = 40
# Good enough: as far as another seed is away.
NEAR_SHARE, NEAR_CHIPS = 0.003, 0.01
SMALLEST, LARGEST = 1.05, 2000.0
COLUMNS = ("cluster", "lean_read", "lean_write", "footprint_mib",
           "read_conflicts", "write_conflicts", "read_blocked",
           "write_blocked", "busy_chips", "reads_longer", "writes_longer",
           "prioritised", "calibrated")
# What is fitted to Table I, of COLUMNS: the first set, the second
FITTED_TO = {"": ("busy_chips", "read_conflicts", "write_conflicts"),
             standin.HEAD: ("busy_chips", "read_blocked", "write_blocked")}
HEAD = """# SPDX-License-Identifier: GPL-2.0
#
# Made by scripts/fit-standins; noop and rws alone were run for it. cluster,
# lean_read, lean_write: see scripts/lib/standin.py, which also says what -head
# is. From read_conflicts on: what noop came to with these numbers in the model,
# mean of the tuning seeds; Table I's are in piq15.csv. ..._conflicts: shares that
# meet a request at arrival; ..._blocked: shares that are first while a chip is
# busy. ..._longer: waiting by conflicts over service, Figure 2(b). prioritised:
# share of reads that go before an older write under rws, Figure 9. calibrated 0:
# medians of the others.
"""


def build(output=MODEL):
    """The model, compiled if a source is newer."""
    newest = max((REPO / name).stat().st_mtime for name in SOURCES)
    if output.exists() and output.stat().st_mtime >= newest:
        return output
    output.parent.mkdir(parents=True, exist_ok=True)
    new = output.with_suffix(f".{os.getpid()}")
    subprocess.run(
        ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o",
         str(new), str(REPO / SOURCES[0])], check=True)
    new.replace(output)
    return output


def text_of(requests):
    """Requests as the model reads them."""
    return "".join(
        f"{when} {'R' if read else 'W'} {offset // 512} {length // 512}\n"
        for when, _, read, offset, length in requests)


def model(text, **options_):
    """{scheme: figures} of a trace; options_ are piqmodel's."""
    done = subprocess.run(
        [str(build()), *(f"{key}={value}" for key, value in
                         options_.items())],
        input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or
                           f"piqmodel ended with {done.returncode}")
    found = map(json.loads, done.stdout.splitlines())
    return {one.pop("scheme"): one for one in found}


def kind_of(name, row, fit):
    """The stand-in with these numbers."""
    return synthetic.StandIn(
        name, "", iops=1000 / row["gap_ms"], read_share=0.5,
        read_sizes=fit.sizes(row["read_sectors"]),
        write_sizes=fit.sizes(row["write_sectors"]),
        footprint_mib=fit.regions, calibrated={
            "cluster": fit.cluster, "lean_read": fit.lean[0],
            "lean_write": fit.lean[1],
            "reads": row["reads"], "writes": row["writes"],
            **fit.shape},
        **synthetic.MSR_SHAPE)


class Fit:
    """One input."""

    def __init__(self, name, row, count=REQUESTS, seeds=None, sizes=standin.sizes,
                 shape=None):
        self.name, self.row, self.count, self.sizes = name, row, count, sizes
        self.shape = shape or standin.shape(name)
        self.seeds = seeds or SEEDS[standin.set_of(name)]
        self.regions = min(standin.footprint(row), 131072)
        reads, writes, chips = standin.targets(name)
        self.targets = dict(zip(FITTED_TO[standin.set_of(name)], (chips, reads, writes)))
        self.cluster, self.lean = 12.0, [0.0, 0.0]
        self.runs = 0

    def trace(self, seed):
        """The requests with the numbers as they are."""
        kind = kind_of(self.name, self.row, self)
        times = standin.arrivals(kind, self.count, random.Random(
            f"{self.name} {seed} times"))
        return standin.requests(kind, times, seed, self.name)

    def measure(self):
        """{column: value} under noop, and what rws prioritises."""
        found = []
        for seed in self.seeds:
            both = model(text_of(self.trace(seed)), schemes="noop,rws")
            one, other = both["noop"], both["rws"]
            values = {"busy_chips": one["busy_chips"],
                      "prioritised": other["prioritised_reads"] /
                      other["reads"]}
            for way in ("read", "write"):
                for what in ("conflicts", "blocked"):
                    values[f"{way}_{what}"] = one[f"{way}_{what}"] / \
                        one[f"{way}s"]
                values[f"{way}s_longer"] = one[f"{way}_conflict_wait_ns"] / \
                    one[f"{way}_service_ns"]
            found.append(values)
            self.runs += 1
        return {key: statistics.fmean(one[key] for one in found)
                for key in found[0]}

    def values(self):
        """The fitted parameters, scaled so that steps of all three are of a size."""
        return [math.log(self.cluster), *self.lean]

    def take(self, values):
        """Sets the parameters from values(), limited to their ranges."""
        self.cluster = math.exp(min(max(
            values[0], math.log(SMALLEST)), math.log(LARGEST)))
        self.lean = [min(max(value, -1.0), 1.0) for value in values[1:]]

    def misses(self, found):
        """Differences from the targets, in units of the accepted difference; chips first."""
        return [(found[key] - want) / (
            NEAR_CHIPS * want if key == "busy_chips" else NEAR_SHARE)
            for key, want in self.targets.items()]

    def fit(self, said=lambda text: None):
        """Newton's method with Broyden's updates; what is reached.

        The best point that was seen is kept: at the end of a range, or where
        the target cannot be had, the last one need not be it.
        """
        best = slopes = old = None
        since = 0
        reach = 1.0
        for turn in range(STEPS):
            at = self.values()
            found = self.measure()
            off = self.misses(found)
            size = sum(x * x for x in off)
            if best is None or size < best[0]:
                best, since = (size, at, found, off), turn
            elif size > 4 * best[0]:
                # Too far: from the best point again, with half the step.
                at, off = best[1], best[3]
                reach /= 2
            said(f"{self.name} {turn}: {self.told(found)}")
            if max(map(abs, off)) <= 1 or turn - since == PATIENCE:
                break
            if slopes is None:
                slopes = self.slopes(at, off)
            else:
                change = [x - y for x, y in zip(at, old[0])]
                length = sum(x * x for x in change)
                if length < 1e-12:
                    slopes = self.slopes(at, off)
                else:
                    for row, now, was in zip(slopes, off, old[1]):
                        error = (now - was - dot(row, change)) / length
                        for n in range(3):
                            row[n] += error * change[n]
            old = (at, off)
            step = solve(slopes, [-x for x in off])
            self.take([x + reach * min(max(dx, -limit), limit)
                       for x, dx, limit in zip(at, step, LONGEST)])
        self.take(best[1])
        return best[2]

    def told(self, found):
        """The numbers and what they come to, in a line."""
        return (f"cluster {self.cluster:.2f}, lean {self.lean[0]:+.3f} "
                f"{self.lean[1]:+.3f}: " + ", ".join(
                    f"{key} {found[key]:.3f} ({want:.3f})"
                    for key, want in self.targets.items()))

    def slopes(self, at, off):
        """The effect of each number, by a small step of it."""
        columns = []
        for n, width in enumerate(WIDTHS):
            near = list(at)
            near[n] += width if near[n] + width <= 1 or not n else -width
            self.take(near)
            found = self.misses(self.measure())
            columns.append([(x - y) / (near[n] - at[n])
                            for x, y in zip(found, off)])
        return [list(row) for row in zip(*columns)]


def dot(one, other):
    """Their product."""
    return sum(x * y for x, y in zip(one, other))


def solve(rows, right):
    """Three equations; a little is added where they say next to nothing."""
    rows = [[*row, value] for row, value in zip(rows, right)]
    for n in range(3):
        lead = max(range(n, 3), key=lambda m: abs(rows[m][n]))
        rows[n], rows[lead] = rows[lead], rows[n]
        if abs(rows[n][n]) < 1e-3:
            rows[n][n] = 1e-3 if rows[n][n] >= 0 else -1e-3
        for m in range(3):
            if m != n:
                part = rows[m][n] / rows[n][n]
                rows[m] = [x - part * y for x, y in zip(rows[m], rows[n])]
    return [rows[n][3] / rows[n][n] for n in range(3)]


def line(name, values):
    """A row of the file."""
    return ",".join([name, *(
        f"{values[key]:.4f}" if isinstance(values[key], float)
        else str(values[key]) for key in COLUMNS)]) + "\n"


def result(fit, found, calibrated):
    """The row of the file for an input."""
    return {"cluster": fit.cluster, "lean_read": fit.lean[0],
            "lean_write": fit.lean[1], "footprint_mib": fit.regions, **found,
            "calibrated": calibrated}


def medians(row, found, name):
    """An input that has no statistics: the others' medians."""
    fit = Fit(name, row)
    fit.cluster, *fit.lean = (
        standin.median(one[key] for other, one in found.items()
                       if standin.set_of(other) ==
                       standin.set_of(name) and one["calibrated"])
        for key in ("cluster", "lean_read", "lean_write"))
    return result(fit, fit.measure(), 0)


def parse(argv):
    """The options."""
    parser = options.Parser(
        "fit-standins", formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__.split("\n", 1)[1].strip())
    parser.add_argument("--only", metavar="NAME", action="append", default=[],
                        help="print what comes out for these, write nothing")
    parser.add_argument("--measure", action="store_true", help="keep what is "
                        "fitted, measure noop with it and write that")
    parser.add_argument("--verbose", action="store_true",
                        help="each step")
    return parser.parse_args(argv)


def work(args, name, row, old, said):
    """The fit of one input."""
    fit = Fit(name, row)
    if args.measure and name in old:
        fit.cluster, *fit.lean = (old[name][key] for key in (
            "cluster", "lean_read", "lean_write"))
        found = fit.measure()
    else:
        found = fit.fit(said)
    print(f"{name}: {fit.told(found)}; longer by {found['reads_longer']:.1f} "
          f"and {found['writes_longer']:.1f}; prioritised "
          f"{found['prioritised']:.1%}; {fit.runs} runs", flush=True)
    return result(fit, found, 1)


def main(argv=None):
    """Command line."""
    args = parse(sys.argv[1:] if argv is None else argv)
    rows, old = standin.filled(), standin.fitted()
    known = [name for name in rows if name not in standin.UNCALIBRATED]
    names = [name + end for end in ("", standin.HEAD) for name in known]
    for name in args.only:
        if name not in names:
            print(f"fit-standins: --only {name}: want one of "
                  + ", ".join(names), file=sys.stderr)
            return 2
    # A compiler, for the model.
    options.need("unit", "bench")
    print(f"fit-standins: {len(args.only or names)} inputs, about "
          f"{len(args.only or names) * SECONDS_INPUT // 60 + 1} minutes",
          flush=True)
    said = print if args.verbose else lambda text: None
    found = {name: work(args, name, rows[standin.base(name)], old, said)
             for name in args.only or names}
    if args.only:
        return 0
    for end, title in ("", "first set"), (standin.HEAD, "second set"):
        means = [statistics.fmean(one[f"{way}s_longer"] for name, one in found.items()
                                  if standin.set_of(name) == end)
                 for way in ("read", "write")]
        print(f"{title}: longer by {means[0]:.1f} and {means[1]:.1f} in the mean; "
              "Figure 2(b) has 6.5 and 10.1")
    order = [name + end for end in ("", standin.HEAD) for name in rows]
    for name in order:
        if name not in found:
            found[name] = medians(rows[standin.base(name)], found, name)
    text = HEAD + ",".join(("name", *COLUMNS)) + "\n" + "".join(
        line(name, found[name]) for name in order)
    standin.FITTED.write_text(text, encoding="utf-8")
    print(f"written: {standin.FITTED.relative_to(REPO)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
