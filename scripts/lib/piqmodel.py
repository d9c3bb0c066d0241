# SPDX-License-Identifier: GPL-2.0
"""scripts/piq-model: what the model expects of the PIQ paper's experiment.

Runs the schemes none, noop, rws, piq_r, piq_w and piq on the fifteen inputs of
both sets, or on a few, in tests/model/piqmodel.c and writes what came out to
tests/traces/piq15-model.json; scripts/piq-results puts it beside what virtual
machines measured. It takes the fitted numbers as they are committed.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time

import options
import standin
import standinfit
import synthetic
import trace2fio

REPO = pathlib.Path(__file__).resolve().parents[2]
RESULT = REPO / "tests" / "traces" / "piq15-model.json"
PIECES = REPO / "tests" / "traces" / "piq15-pieces.json"
LOADS = (1, 3, 10, 30, 100)
SCHEMES = ("none", "noop", "rws", "piq_r", "piq_w", "piq")
LENGTHS = (1, 2, 4, 8, 16, 32, 128, 512)
ORDERS = ("in_order", "chip_fifo", "read_first")
# The others than piq.ko's own, from the strictest to the loosest
BEGINS = ("closed", "alone", "whole", "turn", "free", "issued")
# By which the times of the second set are divided
CLOSER = (1, 2, 4, 8)
# In the paper more reads of this input pass older writes than here. The second constant:
# how much its clusters could differ; directions persist as in the first set.
PASSED, SPREADS = "prxy_0", (0.8, 1.4, 2.0, 2.6)
# Further seeds of the stand-ins, for the interval of the means
SEEDS = (102, 103, 104, 105)
SECONDS_MILLION = 15
# Runs of a fit, a seed counted
FIT_RUNS = 60


def trace(name, count, seed):
    """The text of a stand-in as the model reads it."""
    return standinfit.text_of(synthetic.synthesize(f"piq15-{name}", count, seed))


def figures(one):
    """The model's counts as the metrics that suites have; seconds."""
    def share(part, whole):
        return part / whole if whole else None
    result = {"busy_chips": one["busy_chips"],
              "prioritised_share": share(one["prioritised_reads"],
                                         one["reads"]),
              "batch_size": one["batch_size"]}
    for way in ("read", "write"):
        result[f"{way}s"] = one[f"{way}s"]
        result[f"{way}_latency_mean_s"] = one[f"{way}_latency_ns"] / 1e9
        result[f"{way}_wait_mean_s"] = share(
            one[f"{way}_conflict_wait_ns"] / 1e9, 1)
        result[f"{way}_wait_all_mean_s"] = one[f"{way}_wait_ns"] / 1e9
        result[f"{way}_service_mean_s"] = one[f"{way}_service_ns"] / 1e9
        for key, what in (("conflict", "conflicts"), ("blocked", "blocked")):
            result[f"{way}_{key}_share"] = share(one[f"{way}_{what}"],
                                                 one[f"{way}s"])
    return result


def run(name, count, seed, **more):
    """{scheme: figures} of an input."""
    return {scheme: figures(one) for scheme, one in standinfit.model(
        trace(name, count, seed), **more).items()}


def select(one, *more):
    """Those of a scheme's figures that the paper's means need, and those that end in more."""
    ends = ("_latency_mean_s", "_wait_mean_s", "busy_chips", *more)
    return {key: value for key, value in one.items() if key.endswith(ends)}


def with_overlap(text, schemes):
    """{scheme: figures} of a trace; piq-overlap is a scheme."""
    found = standinfit.model(text, schemes=schemes)
    found["piq-overlap"] = standinfit.model(text, schemes="piq", begin="free")["piq"]
    return {scheme: figures(one) for scheme, one in found.items()}


def refitted(name, count, seed, **more):
    """The requests of an input of the second set after another fit; more: Fit's."""
    fit = standinfit.Fit(name + standin.HEAD, standin.filled()[name], count, **more)
    fit.fit()
    return list(fit.trace(seed))


def closer(count, seed, sizes=standin.sizes):
    """{load: {input: {scheme: figures}}} of the second set's calibrated inputs, their
    times divided by each of CLOSER. With other sizes they are fitted again.
    """
    found = {str(load): {} for load in CLOSER}
    for name in standin.published():
        if name in standin.UNCALIBRATED:
            continue
        requests = list(synthetic.synthesize(f"piq15-{name}{standin.HEAD}", count, seed)) \
            if sizes == standin.sizes else refitted(name, count, seed, sizes=sizes)
        for load in CLOSER:
            text = standinfit.text_of((when // load, *rest) for when, *rest in requests)
            found[str(load)][name + standin.HEAD] = {
                scheme: select(one, "prioritised_share") for scheme, one in with_overlap(
                    text, "noop,rws,piq_r,piq_w,piq").items()}
    return found


def spread(count, seed):
    """{spread: {scheme: figures}} of PASSED, fitted again with clusters that differ by it."""
    found = {}
    for value in SPREADS:
        text = standinfit.text_of(refitted(PASSED, count, seed, shape={
            **standin.shape(PASSED), "spread": value}))
        found[str(value)] = {
            scheme: select(figures(one), "prioritised_share")
            for scheme, one in standinfit.model(text, schemes="noop,rws").items()}
    return found


def against_rws(names, count, seed):
    """{input: {scheme: figures}} of rws and piq; of each what the paper's means need."""
    return {name: {scheme: select(one) for scheme, one in run(
        name, count, seed, schemes="rws,piq").items()} for name in names}


def parse(argv):
    """The options."""
    found = options.Parser(
        "piq-model", description=__doc__.split("\n", 1)[1].strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = found.add_argument
    add("--only", metavar="NAME", action="append", default=[],
        help="these inputs; may be given again")
    add("--requests", type=options.number(100, 10**6), default=20000,
        metavar="N", help="of each input, 100 to 1000000 (default 20000)")
    add("--seed", type=options.number(0, 2**32 - 1), default=101, metavar="N",
        help="of the stand-ins (default 101)")
    add("--order", choices=ORDERS, help="the device's, instead of in_order "
        "alone, and nothing is written")
    add("--queue", type=options.number(1, 512), metavar="N",
        help="queue_length (default 64), and nothing is written")
    add("--begin", choices=(*BEGINS, "list"), help="when a batch begins "
        "(tests/model/piqmodel.c; default list), and nothing is written")
    add("--exact", action="store_true", help="the scheduler knows when each "
        "chip is free, and nothing is written")
    add("--gc", action="store_true", help="with the garbage collection of a "
        "64th of the device, and nothing is written")
    add("--trace", metavar="FILE", action="append", default=[],
        help="these real traces, in any format of scripts/trace2fio, at the "
        "loads 1, 3, 10, 30 and 100, for the page of PIQ's results; may be "
        "given again")
    return found.parse_args(argv)


def piece(path, load, count):
    """The text of a real trace as the model reads it, its times divided by `load`."""
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch, "trace")
        trace2fio.convert(trace2fio.parse([
            str(path), f"--out={out}", "--to=mqsim", "--fold=modulo",
            "--size=128G", f"--compress={load}", f"--max-requests={count}"]))
        rows = [line.split() for line in out.read_text(
            encoding="ascii").splitlines() if line[:1].isdigit()]
    return "".join(f"{when} {'WR'[int(way)]} {sector} {sectors}\n"
                   for when, _, sector, sectors, way in rows)


def at_loads(path, count):
    """{load: {scheme: figures}} of a real trace; piq-overlap is a scheme."""
    found = {}
    for load in LOADS:
        found[str(load)] = one = with_overlap(piece(path, load, count), "noop,rws,piq")
        base = one["rws"]
        print(f"{path.name} x{load}: " + "; ".join(
            f"{scheme} against rws " + ", ".join(
                f"{one[scheme][key] / base[key] - 1:+.1%}" for key in (
                    "read_latency_mean_s", "write_latency_mean_s",
                    "busy_chips") if base[key])
            for scheme in ("piq", "piq-overlap")), flush=True)
    return found


def lines_of(value, depth=2):
    """JSON with a line for each input."""
    if not depth or not isinstance(value, dict):
        return json.dumps(value)
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {lines_of(one, depth - 1)}"
                              for key, one in value.items()) + "\n}"


def pieces(args):
    """Writes what the model expects of real traces."""
    found = {}
    for path in map(pathlib.Path, args.trace):
        try:
            path.open("rb").close()
            found[path.name.split(".")[0]] = rounded(
                at_loads(path, args.requests))
        except (OSError, trace2fio.TraceError) as error:
            print(f"piq-model: --trace {path}: {error}", file=sys.stderr)
            return 2
    PIECES.write_text(lines_of({
        "SPDX-License-Identifier": "GPL-2.0", "requests": args.requests,
        "pieces": found}) + "\n", encoding="utf-8")
    print(f"written: {PIECES.relative_to(REPO)}")
    return 0


def main(argv=None):
    """Command line."""
    args = parse(sys.argv[1:] if argv is None else argv)
    if args.trace:
        options.need("unit", "bench")
        return pieces(args)
    rows = standin.fitted()
    for name in args.only:
        if name not in rows:
            print(f"piq-model: --only {name}: want one of " + ", ".join(rows),
                  file=sys.stderr)
            return 2
    if not rows:
        print("piq-model: no piq15-fit.csv; next: scripts/fit-standins",
              file=sys.stderr)
        return 1
    names = args.only or list(rows)
    more = {"schemes": ",".join(SCHEMES)}
    if args.order:
        more["order"] = args.order
    if args.queue:
        more["queue"] = args.queue
    if args.gc:
        more["gc"] = 1
    if args.exact:
        more["exact"] = 1
    if args.begin:
        more["begin"] = args.begin
    whole = not (more.keys() - {"schemes"} or args.only)
    total = args.requests * (len(names) * len(SCHEMES) + whole * (
        len(names) * (len(BEGINS) * 3 + len(LENGTHS)) +
        len(ORDER_INPUTS) * len(ORDERS) * 3 + len(standin.published()) *
        (len(CLOSER) * 6 * 2 + FIT_RUNS) + len(names) * len(SEEDS) * 2))
    # A compiler, for the model.
    options.need("unit", "bench")
    print(f"piq-model: {len(names)} inputs, {len(SCHEMES)} schemes, {total} "
          f"requests: about {total * SECONDS_MILLION // 10**6} s", flush=True)
    found = {}
    for name in names:
        begun = time.monotonic()
        found[name] = run(name, args.requests, args.seed,
                          **more)
        base = found[name]["rws"]
        print(f"{name}: {time.monotonic() - begun:.0f} s; reads us "
              + ", ".join(f"{scheme} {one['read_latency_mean_s'] * 1e6:.0f}"
                          for scheme, one in found[name].items())
              + "; writes " + ", ".join(
                  f"{one['write_latency_mean_s'] * 1e6:.0f}"
                  for one in found[name].values())
              + "; chips " + ", ".join(
                  f"{one['busy_chips']:.1f}" for one in found[name].values())
              + "; piq against rws "
              + ", ".join(f"{found[name]['piq'][key] / base[key] - 1:+.1%}"
                          for key in ("read_latency_mean_s",
                                      "write_latency_mean_s",
                                      "read_wait_mean_s", "write_wait_mean_s",
                                      "busy_chips") if base[key]),
              flush=True)
    if not whole:
        return 0
    RESULT.write_text(lines_of({
        "SPDX-License-Identifier": "GPL-2.0",
        "made_by": "scripts/piq-model " + " ".join(
            sys.argv[1:] if argv is None else argv),
        "seed": args.seed, "requests": args.requests, "order": "in_order",
        "queue_length": 64, "inputs": rounded(found),
        # Results of the other rules for the begin of a batch
        "begins": {begin: rounded({name: run(
            name, args.requests, args.seed, begin=begin,
            schemes="piq_r,piq_w,piq") for name in names})
            for begin in BEGINS},
        "queue_lengths": rounded({
            name: {str(length): of_length(run(
                name, args.requests, args.seed, schemes="piq",
                queue=length)["piq"]) for length in LENGTHS}
            for name in names}),
        "loads": rounded(closer(args.requests, args.seed)),
        "two_sizes": rounded(closer(args.requests, args.seed, standin.two_sizes)),
        "spreads": rounded(spread(args.requests, args.seed)),
        "seeds": rounded({str(seed): against_rws(names, args.requests, seed)
                          for seed in SEEDS}),
        "orders": rounded({
            order: {name: run(name, args.requests, args.seed,
                              schemes="none,noop,piq", order=order)
                    for name in ORDER_INPUTS} for order in ORDERS})})
        + "\n", encoding="utf-8")
    print(f"written: {RESULT.relative_to(REPO)}")
    return 0


# Inputs of the other orders: reads, a mix, writes
ORDER_INPUTS = tuple(name + end for end in ("", standin.HEAD) for name in
                      ("hm_0", "prn_1", "src1_2", "src2_0"))


def of_length(one):
    """The figures of a queue_length that are kept."""
    return {key: one[key] for key in
            ("read_latency_mean_s", "write_latency_mean_s", "busy_chips")}


def rounded(value):
    """Six digits: what a file that is looked at needs."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
