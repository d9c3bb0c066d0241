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
import time

import options
import standin
import standinfit
import suitetrace
import synthetic

REPO = pathlib.Path(__file__).resolve().parents[2]
RESULT = REPO / "tests" / "traces" / "piq15-model.json"
SCHEMES = ("none", "noop", "rws", "piq_r", "piq_w", "piq")
LENGTHS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
ORDERS = ("in_order", "chip_fifo", "read_first")
# The others than piq.ko's own, from the strictest to the loosest
BEGINS = ("closed", "alone", "whole", "turn", "free", "issued")
SECONDS_MILLION = 15


def trace(name, count, seed):
    """The text of a stand-in as the model reads it, with its own load."""
    compress = suitetrace.compression(f"piq15-{name}")
    found = synthetic.synthesize(f"piq15-{name}", count, seed)
    return standinfit.text_of((int(when / compress), *rest)
                              for when, *rest in found)


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
        result[f"{way}_conflict_share"] = share(one[f"{way}_conflicts"],
                                                one[f"{way}s"])
    return result


def run(name, count, seed, **more):
    """{scheme: figures} of an input."""
    return {scheme: figures(one) for scheme, one in standinfit.model(
        trace(name, count, seed), **more).items()}


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
    return found.parse_args(argv)


def main(argv=None):
    """Command line."""
    args = parse(sys.argv[1:] if argv is None else argv)
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
        len(names) * len(BEGINS) * 3 + len(LENGTH_INPUTS) * (
            len(LENGTHS) + len(ORDERS) * 3)))
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
    RESULT.write_text(json.dumps({
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
            name: {str(length): run(
                name, args.requests, args.seed, schemes="piq",
                queue=length)["piq"] for length in LENGTHS}
            for name in LENGTH_INPUTS}),
        "orders": rounded({
            order: {name: run(name, args.requests, args.seed,
                              schemes="none,noop,piq", order=order)
                    for name in LENGTH_INPUTS} for order in ORDERS})},
        indent=1) + "\n", encoding="utf-8")
    print(f"written: {RESULT.relative_to(REPO)}")
    return 0


# Inputs of Figure 11 and of the other orders: reads, a mix, writes
LENGTH_INPUTS = tuple(name + end for end in ("", standin.DEEP) for name in
                      ("hm_0", "prn_1", "src1_2", "src2_0"))


def rounded(value):
    """Six digits: what a file that is looked at needs."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return float(f"{value:.6g}") if isinstance(value, float) else value


if __name__ == "__main__":
    sys.exit(main())
