# SPDX-License-Identifier: GPL-2.0
"""scripts/lock-holds: how long schedulers hold their own locks, in instructions.

In virtual time (1 ns = 1 instruction), while many requests of many processes wait in the
scheduler. A plugin of QEMU counts the instructions from each call that takes a lock to
the call that releases it, interrupts apart, and sections of code with interrupts off. The
figures depend on the kernel and the modules, not on this machine.
"""

import collections
import pathlib
import re
import shlex
import sys
import tempfile
import time

import children
import costprofile
import options
import schedulers
import vm

REPO = pathlib.Path(__file__).resolve().parents[2]
STOCK = ("mq-deadline", "kyber", "bfq")
EXAMPLE = "mq-deadline,acfq"
# Requests in the device, and its time for one: slower than the CPU submits, so that the
# others wait.
INFLIGHT, DEVICE_NS = 64, 4000000
DISK = f"irqmode=2,completion_nsec={DEVICE_NS},hw_queue_depth={INFLIGHT}"
# Scheduler tags of the disk: the most that the block layer allows.
TAGS = 2048
# The claim, in instructions: the longest hold of our lock.
MOST = 20000
# Functions of the longest section in the output
SHOWN = 5
KINDS = ("lock", "wall", "off", "cli")
# Seconds of the host: for a boot, for a cell without its reads, for a read.
BOOT, CELL, IO = 20, 8, 4e-4


class HoldsError(ValueError):
    """An error in the counts, one line."""


def load(waiting, tenants):
    """DEPTHxPROCESSES of the guest: more than `waiting` and what the device takes.

    A quarter more, because some processes have reads that have completed.
    """
    each = -(-(waiting * 5 // 4 + INFLIGHT) // tenants)
    return f"{each * tenants}x{tenants}"


def plan(chosen, waiting, tenants):
    """A line a cell for the guest."""
    return "".join(
        f"{name} null {DISK} {load(waiting, tenants)} {name} "
        + ("" if name in STOCK else f"max_inflight={INFLIGHT},")
        + f"../nr_requests={TAGS}\n" for name in chosen)


def sections(lines):
    """{number of a mark: {kind: {instructions: sections}}} of the plugin's file.

    Kind "at": {address: instructions} of the longest section with the lock held.
    """
    found, number = {}, None
    for line in lines:
        match = re.fullmatch(r"mark (\d+)|at ([0-9a-f]+) (\d+)|(\w+) (\d+) (\d+)",
                             line.strip())
        if match and match[1]:
            number = int(match[1])
            found[number] = {"at": collections.Counter(), **{kind: {} for kind in KINDS}}
        elif match and match[2] and number is not None:
            found[number]["at"][int(match[2], 16)] += int(match[3])
        elif match and match[4] in KINDS and number is not None:
            found[number][match[4]][int(match[5])] = int(match[6])
        else:
            raise HoldsError(f"no line of sections: {line.strip()!r}")
    return found


def quantile(counts, part):
    """The smallest value that at least this part of {value: count} does not exceed."""
    left = part * sum(counts.values())
    for value in sorted(counts):
        left -= counts[value]
        if left <= 0:
            return value
    return max(counts, default=None)


def figures(counts):
    """Quantiles and mean of {instructions: sections}."""
    number = sum(counts.values())
    return {"sections": number,
            "mean": sum(v * n for v, n in counts.items()) / number if number else None,
            **{name: quantile(counts, part) if number else None for name, part in
               (("p50", 0.5), ("p99", 0.99), ("p999", 0.999), ("longest", 1))},
            "histogram": sorted(map(list, counts.items()))}


def functions(counts, symbols):
    """[[function, instructions], ...] of {address: instructions}, the largest first."""
    found = collections.Counter()
    for addr, count in counts.items():
        found[symbols.at(addr)[0]] += count
    return [list(pair) for pair in found.most_common()]


def cell(name, ios, waiting, found, symbols):
    """The figures of a scheduler."""
    if not found["lock"]:
        raise HoldsError(f"{name}: none of its locks was taken")
    return {"scheduler": name, "ios": ios, "waiting": waiting,
            **{kind: figures(found[kind]) for kind in KINDS},
            "longest_functions": functions(found["at"], symbols)}


def verdicts(cells):
    """(claim, does it hold?) of each of ours."""
    found = []
    for this in cells:
        if this["scheduler"] in STOCK:
            continue
        longest, begun = this["lock"]["longest"], this["cli"]["sections"]
        found.append((f"{this['scheduler']} holds its lock for {longest} instructions at "
                      f"most, {this['waiting']} requests waiting: at most {MOST}",
                      longest <= MOST))
        found.append((f"{this['scheduler']} turns interrupts off {begun} times: never",
                      not begun))
    return found


LEGEND = (
    "hold: instructions (ns of virtual time) for which the scheduler holds a lock of its "
    "own,",
    "interrupts apart; with irqs: the same sections with the interrupts that hit them",
    "irqs off: longest section that the scheduler begins, and how many; in others': most of "
    "its",
    "instructions within one section that other code began, such as one timer interrupt",
)


def table(cells):
    """Its lines."""
    found = [f"{'':<12}{'most':>8}{'holds':>7}{'hold':>8}{'':>8}{'':>8}{'':>8}"
             f"{'with irqs':>10}{'irqs off':>9}{'':>7}{'in':>8}",
             f"{'scheduler':<12}{'waiting':>8}{'an I/O':>7}{'p50':>8}{'p99':>8}{'p99.9':>8}"
             f"{'longest':>8}{'longest':>10}{'longest':>9}{'number':>7}{'others':>8}"]
    for this in cells:
        lock = this["lock"]
        found.append(
            f"{this['scheduler']:<12}{this['waiting']:>8}"
            f"{lock['sections'] / this['ios']:>7.2f}"
            + "".join(f"{lock[key]:>8}" for key in ("p50", "p99", "p999", "longest"))
            + f"{this['wall']['longest']:>10}{this['cli']['longest'] or 0:>9}"
            f"{this['cli']['sections']:>7}{this['off']['longest'] or 0:>8}")
    found += LEGEND
    for this in cells:
        longest = this["longest_functions"]
        found.append(f"longest hold of {this['scheduler']}: " + ", ".join(
            f"{name} {count}" for name, count in longest[:SHOWN]))
    return found


# --- the machine ------------------------------------------------------------

class Guest:
    """The lines of the guest."""

    def __init__(self):
        self.trouble, self.waiting = [], collections.defaultdict(int)
        # {scheduler: (I/Os, number of the mark at its end)}
        self.marks = {}
        self.done = False

    def line(self, text):
        """The next line."""
        if text.startswith(("vm: gave up", "vm: the kernel reported")):
            self.trouble.append(text)
        if not text.startswith("cost: "):
            return
        word, _, rest = text[len("cost: "):].partition(" ")
        name, _, rest = rest.partition(" ")
        if word == "mark":
            match = re.fullmatch(r"long (\d+) (\d+)", rest)
            if not match:
                raise HoldsError(f"the guest says {text!r}")
            self.marks[name] = int(match[1]), int(match[2])
        elif word == "waiting":
            if not re.fullmatch(r"-?\d+", rest):
                raise HoldsError(f"the guest says {text!r}")
            self.waiting[name] = max(self.waiting[name], int(rest))
        elif word in ("missing", "absent", "failed"):
            self.trouble.append(f"{name}: {rest}")
        elif word == "end":
            self.done = True

    def cells(self, lines, symbols):
        """The figures of all schedulers; symbols(name): the addresses of functions."""
        found = sections(lines)
        for name, (ios, mark) in self.marks.items():
            if mark not in found:
                raise HoldsError(f"{name}: no counts of mark {mark}")
            yield cell(name, ios, self.waiting[name], found[mark], symbols(name))


def estimate(args):
    """Seconds."""
    return BOOT + len(args.chosen) * (CELL + IO * args.ios)


def command(args, programs, folder):
    """scripts/vm for all cells."""
    values = {"COST_PLAN": plan(args.chosen, args.waiting, args.tenants),
              "COST_TASK": "holds", "COST_SHORT": 1000, "COST_LONG": args.ios,
              "COST_LOCKS": 0, "COST_SEED": args.seed,
              "COST_PROFILER": "/files/profile-mark"}
    words = " ".join(f"{key}={shlex.quote(str(value))}" for key, value in values.items())
    return [str(REPO / "scripts" / "vm"), "--kernel", args.kernel, "--virtual-time",
            "--timeout", str(int(600 + 8 * estimate(args))),
            *costprofile.vm_options(programs, folder / "counts", folder / "guest"), "--",
            words + " bash /tests/vm/lib/cost-guest.sh"]


def measure(args, folder):
    """(cells, trouble)"""
    programs = REPO / "build" / "profile"
    costprofile.build(programs)
    guest = Guest()
    status = children.follow(command(args, programs, folder), REPO, guest.line,
                             ("vm: ", "cost: begin"))
    if status == vm.NO_KERNEL:
        sys.exit(status)
    if status or not guest.done:
        guest.trouble.append(f"the machine ended with status {status}")

    def symbols(name):
        texts = [(folder / "guest" / file).read_text("ascii")
                 for file in ("symbols", f"symbols.{name}")]
        return costprofile.Symbols(*texts)
    with open(folder / "counts", encoding="ascii") as lines:
        return list(guest.cells(lines, symbols)), guest.trouble


# --- the command line -------------------------------------------------------

def parse(argv):
    """The options."""
    parser = options.Parser(
        "lock-holds", description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 everything was measured and all claims hold; 1 else; 2 bad "
        "options; 77 no such kernel. More in docs/lab.md.")
    add = parser.add_argument
    options.add_kernel(add)
    add("--schedulers", type=options.words((), (EXAMPLE,)), metavar="LIST",
        help="default: " + ", ".join(STOCK) + " and all of this project")
    add("--waiting", type=options.number(1, 1400), default=1024, metavar="N",
        help="requests that wait in the scheduler at some time at least, 1 to 1400 "
        "(default 1024)")
    add("--tenants", type=options.number(1, 256), default=256, metavar="N",
        help="processes that send them, 1 to 256 (default 256)")
    add("--ios", type=options.number(1000, 1000000), default=20000, metavar="N",
        help="reads, 1000 to 1000000 (default 20000)")
    add("--seed", type=options.number(1, 2**31), default=1, metavar="N",
        help="of the offsets, 1 to 2147483648 (default 1)")
    add("--out", type=options.new_file, metavar="FILE",
        help="write the figures and histograms, JSON")
    args = parser.parse_args(argv)
    args.chosen = schedulers.choose(parser, args.schedulers, STOCK, REPO)
    return args


def conclude(args, cells, trouble):
    """Prints and writes what was found; the status."""
    trouble = [*trouble, *(
        f"{this['scheduler']}: at most {this['waiting']} requests waited, want {args.waiting}"
        for this in cells
        if this["scheduler"] not in STOCK and this["waiting"] < args.waiting)]
    print("\n".join(table(cells)))
    claims = verdicts(cells)
    for text, kept in claims:
        print(f"{'holds ' if kept else 'MISSED'} {text}")
    for text in trouble:
        print(f"trouble: {text}")
    if args.out:
        options.write_json(pathlib.Path(args.out), {
            "schema": 1, "kind": "lock-holds", "commit": options.commit(),
            "command": shlex.join(["scripts/lock-holds", *sys.argv[1:]]),
            "kernel": args.kernel, "unit": "instructions", "cells": cells,
            "trouble": trouble, "when": int(time.time()),
            "verdicts": [{"claim": text, "holds": kept} for text, kept in claims]})
    return 0 if cells and not trouble and all(kept for _, kept in claims) else 1


def main(argv=None):
    """Returns the status."""
    args = parse(sys.argv[1:] if argv is None else argv)
    options.catch_signals()
    try:
        options.need("build", "vm", "bench")
        print(f"{', '.join(args.chosen)}, {args.waiting} requests of {args.tenants} "
              f"processes waiting: about {options.minutes(estimate(args))}", flush=True)
        with tempfile.TemporaryDirectory(prefix="lock-holds-") as folder:
            return conclude(args, *measure(args, pathlib.Path(folder)))
    except options.Interrupted as stop:
        return 128 + stop.number
    except (HoldsError, RuntimeError) as error:
        print(f"lock-holds: {error}", file=sys.stderr)
    except OSError as error:
        print(f"lock-holds: {error.filename}: {error.strerror}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
