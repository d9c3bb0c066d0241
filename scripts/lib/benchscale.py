# SPDX-License-Identifier: GPL-2.0
"""scripts/bench-scale: throughput of schedulers on several CPUs, as ratios.

Random 4 KiB reads from a disk that takes no time, a job on each virtual CPU, in the
host's time. Without KVM each virtual CPU is a thread of the host that translates code.
So CPUs do run at the same time and wait for each other's locks, but the absolute figures
say nothing about another machine. A boot has several rounds of short passes: the load runs
on while the disk gets one scheduler after another, in random order. Each round has a new
load, each boot other kernel addresses. Only passes of a round are compared. Use at most as
many CPUs as the host has idle.
"""

import os
import pathlib
import random
import re
import shlex
import statistics
import sys
import time

import children
import options
import schedulers
import vm

REPO = pathlib.Path(__file__).resolve().parents[2]
STOCK = ("none", "mq-deadline", "kyber", "bfq")
BASE = "mq-deadline"
EXAMPLE = ("none", "mq-deadline", "k2", "...")
# The aims of ours: (scheduler that they are compared with, least ratio).
AIMS = {"k2": (BASE, 1.0), "layer_read": (BASE, 1.0), "piq": (BASE, 1.0),
        "acfq": ("bfq", 1.5), "hbfq": ("bfq", 1.5)}
# Load of the host, in processes above the virtual CPUs, from which it counts as busy.
BUSY = 0.5
# Seconds of the host: for a boot; for each round and pass, in addition to the load measured.
BOOT, ROUND, PASS = 45, 2.5, 0.15


class ScaleError(Exception):
    """The error in a run, one line."""


def orders(names, rounds, seed):
    """A list of all names for each round, in random order."""
    drawn = random.Random(seed)
    return [drawn.sample(names, len(names)) for _ in range(rounds)]


def ratios(passes, name, base):
    """One ratio a round that has both; passes: {(round, scheduler): reads a second}."""
    return [passes[n, name] / passes[n, base]
            for n in sorted({n for n, _ in passes})
            if (n, name) in passes and (n, base) in passes]


def against(boots, name, base):
    """The medians of each boot, of scheduler `name` over `base`."""
    found = [ratios(passes, name, base) for passes in boots]
    return [statistics.median(one) for one in found if one]


def summary(boots, names):
    """A dict a scheduler."""
    found = []
    for name in names:
        rates = [rate for passes in boots for (_, who), rate in passes.items()
                 if who == name]
        each = against(boots, name, BASE)
        if rates:
            found.append({"scheduler": name, "iops": statistics.median(rates),
                          "ratio": statistics.median(each) if each else None,
                          "boots": each})
    return found


def verdicts(boots, names):
    """(claim, does it hold?) of each of ours: the median of the boots counts."""
    found = []
    for name in names:
        base, least = AIMS.get(name, (BASE, 1.0))
        each = [] if name in STOCK else against(boots, name, base)
        if each:
            middle = statistics.median(each)
            found.append((
                f"{name}: {middle:.3f} times the reads a second of {base} "
                f"({min(each):.3f} to {max(each):.3f} in {len(each)} "
                f"boot{'s' if len(each) > 1 else ''}): at least {least:g}",
                middle >= least))
    return found


def table(found, cpus, kernel):
    """Its lines."""
    lines = [f"{cpus} virtual CPUs, Linux {kernel}: ratio to {BASE}, median of the boots and "
             "their range;",
             "reads a second in the host's time, only to compare with each other",
             f"{'scheduler':<14}{'ratio':>8}{'least':>8}{'most':>8}{'reads/s':>10}"]
    for this in found:
        each = this["boots"]
        lines.append(f"{this['scheduler']:<14}" + "".join(
            f"{'-' if value is None else format(value, '.3f'):>8}" for value in
            (this["ratio"], min(each, default=None), max(each, default=None)))
            + f"{this['iops']:>10.0f}")
    return lines


# --- machines ---------------------------------------------------------------

class Machine:
    """The lines of one guest."""

    def __init__(self):
        self.passes, self.trouble = {}, []
        self.release, self.done = "", False

    def line(self, text):
        """The next line."""
        if text.startswith("vm: the kernel reported"):
            self.trouble.append(text)
        if not text.startswith("scale: "):
            return
        word, _, rest = text[len("scale: "):].partition(" ")
        if word == "pass":
            match = re.fullmatch(r"(\d+) (\S+) (\d+(\.\d+)?)", rest)
            if not match or not float(match[3]):
                raise ScaleError(f"the guest says '{text}'")
            self.passes[int(match[1]), match[2]] = float(match[3])
        elif word == "machine":
            self.release = rest.split()[0]
        elif word == "missing":
            self.trouble.append(f"{rest} cannot be selected on this kernel")
        elif word == "trouble":
            self.trouble.append(rest)
        elif word == "done":
            self.done = True


def seconds_of(args):
    """How long one boot takes."""
    return BOOT + args.rounds * (ROUND + len(args.chosen) * (args.ms / 1000 + PASS))


def command(args, seed):
    """scripts/vm for one boot."""
    rounds = "\n".join(" ".join(turn) for turn in orders(args.chosen, args.rounds, seed))
    return [str(REPO / "scripts" / "vm"), "--kernel", args.kernel, "--cpus", str(args.cpus), "--kaslr",
            "--timeout", str(int(min(86400, 300 + 3 * seconds_of(args)))), "--",
            f"SCALE_ROUNDS={shlex.quote(rounds)} SCALE_SECONDS={args.ms / 1000} "
            f"SCALE_DEPTH={args.depth} SCALE_BOUND={args.bound} "
            "bash /tests/vm/lib/scale-guest.sh"]


def measure(args, seed):
    """The Machine of one boot."""
    machine = Machine()
    status = children.follow(command(args, seed), REPO, machine.line, "vm: ")
    if status == vm.NO_KERNEL:
        sys.exit(status)
    if status or not machine.done:
        machine.trouble.append(f"the machine ended with status {status}")
    return machine


# --- the command line -------------------------------------------------------

def parse(argv):
    """The options."""
    parser = options.Parser(
        "bench-scale", description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 everything was measured and all aims are reached; 1 else; 2 bad "
        "options; 77 no such kernel. More in docs/lab.md.")
    add = parser.add_argument
    options.add_kernel(add)
    add("--cpus", type=options.number(1, 16), default=2, metavar="N",
        help="virtual CPUs, 1 to 16 (default 2)")
    add("--schedulers", type=options.words((), EXAMPLE), metavar="LIST",
        help="default: " + ", ".join(STOCK) + " and all of this project; mq-deadline "
        "always runs")
    add("--boots", type=options.number(1, 50), default=5, metavar="N",
        help="1 to 50 (default 5)")
    add("--rounds", type=options.number(1, 1000), default=16, metavar="N",
        help="passes of each scheduler in a boot, 1 to 1000 (default 16)")
    add("--ms", type=options.number(100, 60000), default=400, metavar="MS",
        help="length of a pass, 100 to 60000 ms (default 400)")
    add("--depth", type=options.number(1, 256), default=32, metavar="N",
        help="reads that each CPU's job has outstanding, 1 to 256 (default 32)")
    add("--bound", type=options.number(1, 65535), default=1024, metavar="N",
        help="max_inflight of k2, 1 to 65535 (default 1024, which is no limit here)")
    add("--out", type=options.new_file, metavar="FILE", help="write the figures, JSON")
    args = parser.parse_args(argv)
    args.chosen = schedulers.choose(parser, args.schedulers, STOCK, REPO, (BASE,))
    return args


def conclude(args, boots, release, trouble, load=()):
    """Prints and writes what was found; load: of the host during each boot. The status."""
    found, claims = summary(boots, args.chosen), verdicts(boots, args.chosen)
    print("\n".join(table(found, args.cpus, release)))
    for text, kept in claims:
        print(f"{'holds ' if kept else 'MISSED'} {text}")
    for text in trouble:
        print(f"trouble: {text}")
    busy = [one for one in load if one > args.cpus + BUSY]
    if busy:
        print(f"note: the host was busy in {len(busy)} of {len(load)} boots, load up to "
              f"{max(busy):.1f}: ratios vary more than on an idle host")
    if args.out:
        options.write_json(pathlib.Path(args.out), {
            "schema": 1, "kind": "scale", "commit": options.commit(),
            "command": shlex.join(["scripts/bench-scale", *sys.argv[1:]]),
            "kernel": release, "cpus": args.cpus, "depth": args.depth, "bound": args.bound,
            "host_load": list(load), "schedulers": found, "trouble": trouble, "when": int(time.time()),
            "passes": [[{"round": n, "scheduler": name, "iops": rate}
                        for (n, name), rate in passes.items()] for passes in boots],
            "verdicts": [{"claim": text, "holds": kept} for text, kept in claims]})
    return 0 if found and not trouble and all(kept for _, kept in claims) else 1


def main(argv=None):
    """Returns the status."""
    args = parse(sys.argv[1:] if argv is None else argv)
    boots, load, trouble, release = [], [], [], ""
    options.catch_signals()
    try:
        options.need("build", "vm", "bench")
        print(f"{', '.join(args.chosen)} on {args.cpus} CPUs, {args.boots} boots: about "
              f"{options.minutes(args.boots * seconds_of(args))}", flush=True)
        for seed in range(args.boots):
            machine = measure(args, seed)
            boots.append(machine.passes)
            # The load of the last minute, while this guest ran: args.cpus on an idle host.
            load.append(os.getloadavg()[0])
            release = machine.release or release
            trouble += machine.trouble
        return conclude(args, boots, release, list(dict.fromkeys(trouble)), load)
    except ScaleError as error:
        print(f"bench-scale: {error}", file=sys.stderr)
    except OSError as error:
        print(f"bench-scale: {error.filename}: {error.strerror}", file=sys.stderr)
    except options.Interrupted as stop:
        return 128 + stop.number
    return 1


if __name__ == "__main__":
    sys.exit(main())
