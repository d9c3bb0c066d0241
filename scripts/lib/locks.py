# SPDX-License-Identifier: GPL-2.0
"""scripts/locks: acquisitions, contention and hold times of schedulers' own locks.

On the debug kernel, which counts each lock (LOCK_STAT), with 1 to 8 virtual CPUs:
random reads from a disk that takes no time. Hold times are microseconds of the guest's
clock. Without KVM that is the host's time, and a debug kernel is several times slower
than others. They include times in which the host ran no virtual CPU. Compare them
only with each other.
"""

import json
import pathlib
import re
import shlex
import sys
import time

import children
import options
import schedulers
import vm

REPO = pathlib.Path(__file__).resolve().parents[2]

# Each scheduler's own locks, by lockdep's names. The locks of the block layer
# and the driver are taken for every scheduler.
OWN = {
    "none": (),
    "mq-deadline": ("&dd->lock", "&dd->zone_lock"),
    "kyber": ("&khd->lock", "&kcq->lock"),
    "bfq": ("&bfqd->lock",),
}
OURS = ("&fq->lock",)
# Most acquisitions an I/O that ours should need: on one CPU; on several, where it is half
# of mq-deadline's 3.
MOST, MOST_SEVERAL = 1.05, 1.5
EXAMPLE = "none,mq-deadline,k2"
COLUMNS = ("con_bounces", "contentions", "wait_min", "wait_max", "wait_total",
           "wait_avg", "acq_bounces", "acquisitions", "hold_min", "hold_max",
           "hold_total", "hold_avg")
# Seconds on two quiet cores: a boot; an I/O of a cell; the rest of a cell.
BOOT, IO, CELL = 60, 0.004, 15


class LocksError(Exception):
    """The error in counts, one line."""


def class_of(name):
    """The class of locks with this name.

    Of locks that are called the same: #2 is another one, /1 a level of nesting, -R and -W
    the two sides.
    """
    return re.sub(r"(-[RW])?(#\d+)?(/\d+)?(-[RW])?$", "", name)


def line_of(text):
    """(class of locks, its counts) of a line of /proc/lock_stat, or None.

    Lines without twelve figures are headings, or say where it was waited for.
    """
    match = re.match(r"\s*(\S.*?):((?:\s+[0-9.]+){12})\s*$", text)
    if not match:
        return None
    figures = match[2].split()
    return class_of(match[1]), {key: float(figure) if "." in figure else int(figure)
                  for key, figure in zip(COLUMNS, figures)}


def counts(lines):
    """{class: [acquisitions, contentions, total hold time, longest]} of /proc/lock_stat."""
    found = {}
    for text in lines:
        known = line_of(text)
        if not known:
            continue
        total = found.setdefault(known[0], [0, 0, 0.0, 0.0])
        total[0] += int(known[1]["acquisitions"])
        total[1] += int(known[1]["contentions"])
        total[2] += known[1]["hold_total"]
        total[3] = max(total[3], known[1]["hold_max"])
    return found


def use_of(text):
    """(class of locks, was it ever taken in an interrupt?) of "LETTERS: CLASS" of /proc/lockdep.

    A letter is - or ? if the lock was taken in an interrupt, hard or soft.
    """
    letters, _, name = text.strip().partition(": ")
    return class_of(name.strip()), bool(set(letters) & set("-?"))


def in_interrupts(name, uses):
    """Was an own lock of a scheduler ever taken in an interrupt? None: lockdep has none."""
    found = [known[1] for known in map(use_of, uses) if known[0] in own_of(name)]
    return any(found) if found else None


def own_of(name):
    """The locks of a scheduler."""
    return OWN.get(name, OURS)


def cell(name, cpus, ios, lines, uses=()):
    """The locks that one scheduler took for an I/O."""
    found = counts(lines)
    if ios <= 0:
        raise LocksError(f"{name} on {cpus} CPUs: no reads")
    if not found:
        raise LocksError(f"{name} on {cpus} CPUs: no line of counts")
    own = [found.get(lock, [0, 0, 0.0, 0.0]) for lock in own_of(name)]
    taken, waited, held = (sum(lock[n] for lock in own) for n in (0, 1, 2))
    if own and not taken:
        raise LocksError(f"{name} on {cpus} CPUs: its locks "
                         f"({', '.join(own_of(name))}) were never taken")
    everything = sum(lock[0] for lock in found.values())
    return {"scheduler": name, "cpus": cpus, "ios": ios, "own_taken": taken,
            "own_contended": waited, "own_per_io": taken / ios,
            "contended_per_io": waited / ios,
            "hold_mean_us": held / taken if taken else None,
            "hold_max_us": max(lock[3] for lock in own) if taken else None,
            "in_interrupts": in_interrupts(name, uses),
            "all_per_io": everything / ios}


def verdicts(cells):
    """(claim, does it hold?) of each of ours on each number of CPUs."""
    found = []
    for this in cells:
        if this["scheduler"] in OWN:
            continue
        most = MOST if this["cpus"] == 1 else MOST_SEVERAL
        found.append((
            f"{this['scheduler']} on {this['cpus']} "
            f"CPU{'s' if this['cpus'] > 1 else ''} takes its own lock "
            f"{this['own_per_io']:.3f} times an I/O: at most {most:g}",
            this["own_per_io"] <= most))
        if this.get("in_interrupts") is not None:
            found.append((f"{this['scheduler']} on {this['cpus']} "
                          f"CPU{'s' if this['cpus'] > 1 else ''}: lockdep has seen its own lock "
                          f"taken in an interrupt: {'yes' if this['in_interrupts'] else 'no'}, "
                          "wanted no",
                          not this["in_interrupts"]))
    return found


def table(cells):
    """Its lines."""
    found = ["own, waited, all: locks taken, own ones waited for, and all locks, for an I/O; "
             "%: of own;",
             "hold: mean and longest time of an own lock, us of the guest's clock, debug kernel;",
             "irq: has lockdep seen an own lock taken in an interrupt?",
             f"{'scheduler':<14}{'CPUs':>5}{'own':>9}{'waited':>9}{'%':>8}"
             f"{'hold us':>10}{'longest':>10}{'irq':>5}{'all':>9}"]
    for this in cells:
        share = 100 * this["own_contended"] / this["own_taken"] \
            if this["own_taken"] else 0
        hold, longest = ("-" if this[key] is None else f"{this[key]:.1f}"
                         for key in ("hold_mean_us", "hold_max_us"))
        found.append(
            f"{this['scheduler']:<14}{this['cpus']:>5}"
            f"{this['own_per_io']:>9.3f}{this['contended_per_io']:>9.4f}"
            f"{share:>8.2f}{hold:>10}{longest:>10}"
            f"{ {None: '-', True: 'yes', False: 'no'}[this['in_interrupts']]:>5}"
            f"{this['all_per_io']:>9.2f}")
    return found


# --- machines ---------------------------------------------------------------

class Machine:
    """The guest's output, line by line."""

    def __init__(self, cpus, cells):
        self.cpus, self.cells, self.trouble = cpus, cells, []
        self.name, self.ios, self.lines, self.uses = "", 0, [], []
        self.done = False

    def line(self, text):
        """The next one."""
        if not text.startswith("locks: "):
            if text.startswith("vm: the kernel reported"):
                self.trouble.append(text)
            return
        word, _, rest = text[len("locks: "):].partition(" ")
        if word == "line":
            self.lines.append(rest)
        elif word == "use":
            self.uses.append(rest)
        elif word == "begin":
            match = re.fullmatch(r"(\S+) (\d+)", rest)
            if not match:
                raise LocksError(f"the guest says '{text}'")
            self.name, self.ios, self.lines, self.uses = match[1], int(match[2]), [], []
        elif word == "end":
            if rest != self.name:
                raise LocksError(f"the guest says '{text}'")
            self.cells.append(cell(self.name, self.cpus, self.ios, self.lines, self.uses))
        elif word == "missing":
            self.trouble.append(f"{rest} cannot be had on this kernel")
        elif word == "trouble":
            self.trouble.append(rest)
        elif word == "done":
            self.done = True


def seconds_of(args, cpus):
    """How long one machine takes."""
    return BOOT + len(args.chosen) * (CELL + IO * args.ios * cpus)


def estimate(args):
    """How long all of them take."""
    return sum(seconds_of(args, cpus) for cpus in args.cpus)


def command(args, cpus, chosen):
    """scripts/vm with this number of CPUs."""
    seconds = seconds_of(args, cpus)
    return [str(REPO / "scripts" / "vm"), "--kernel", args.kernel,
            "--cpus", str(cpus), "--timeout", str(int(600 + 4 * seconds)), "--",
            f"LOCKS_SCHEDULERS='{' '.join(chosen)}' LOCKS_IOS={args.ios} "
            f"LOCKS_BOUND={args.bound} bash /tests/vm/lib/locks-guest.sh"]


def measure(args, cpus, chosen, cells):
    """Adds the cells of one machine; what was wrong."""
    machine = Machine(cpus, cells)
    status = children.follow(command(args, cpus, chosen), REPO, machine.line,
                             ("vm: ", "locks: begin"))
    if status == vm.NO_KERNEL:
        sys.exit(status)
    if status or not machine.done:
        machine.trouble.append(f"the machine with {cpus} CPUs ended with "
                               f"status {status}")
    return machine.trouble


# --- the command line -------------------------------------------------------

def parse(argv):
    """The options."""
    parser = options.Parser(
        "locks", description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 everything was counted and no claim is missed; 1 "
        "else; 2 bad options; 77 no such kernel. More in docs/lab.md.")
    add = parser.add_argument
    add("--kernel", type=options.series, default="debug", metavar="SERIES",
        help="one with LOCK_STAT (default debug)")
    add("--cpus", type=options.numbers(1, 16, "1,2"), default=[1, 2, 4, 8],
        metavar="LIST", help="virtual CPUs, 1 to 16; default 1,2,4,8")
    add("--schedulers", type=options.words((), EXAMPLE), metavar="LIST",
        help="default: " + ", ".join(OWN) + " and all of this project")
    add("--ios", type=options.number(100, 1000000), default=5000, metavar="N",
        help="reads for each CPU, 100 to 1000000 (default 5000)")
    add("--bound", type=options.number(1, 65535), default=32, metavar="N",
        help="max_inflight of ours (default 32)")
    add("--out", type=options.new_file, metavar="FILE",
        help="write the figures, JSON")
    add("--from", dest="source", metavar="FILE",
        help="starts no machine: a copy of /proc/lock_stat, of one of "
        "--schedulers and --cpus")
    add("--reads", type=options.number(1, 10**12 - 1), metavar="N",
        help="with --from: reads that it was made with")
    args = parser.parse_args(argv)
    args.chosen = schedulers.choose(parser, args.schedulers, OWN, REPO)
    if args.source and (len(args.chosen) != 1 or len(args.cpus) != 1
                        or not args.reads):
        parser.error("--from wants one of --schedulers, one of --cpus and "
                     "--reads")
    return args


def conclude(args, cells, trouble):
    """Prints what was found; the status."""
    print("\n".join(table(cells)))
    missed = False
    for text, kept in verdicts(cells):
        print(f"{'holds ' if kept else 'MISSED'} {text}")
        missed = missed or not kept
    for text in trouble:
        print(f"trouble: {text}")
    if args.out:
        facts = {"schema": 1, "kind": "locks", "commit": options.commit(),
                 "command": shlex.join(["scripts/locks", *sys.argv[1:]]),
                 "kernel": args.kernel, "bound": args.bound, "cells": cells,
                 "trouble": trouble, "when": int(time.time()),
                 "verdicts": [{"claim": text, "holds": kept}
                              for text, kept in verdicts(cells)]}
        pathlib.Path(args.out).write_text(json.dumps(facts, indent=1) + "\n",
                                          encoding="utf-8")
    return 1 if missed or trouble or not cells else 0


def main(argv=None):
    """Returns the status."""
    args = parse(sys.argv[1:] if argv is None else argv)
    cells, trouble = [], []
    options.catch_signals()
    try:
        if args.source:
            text = pathlib.Path(args.source).read_text(encoding="utf-8",
                                                       errors="replace")
            cells.append(cell(args.chosen[0], args.cpus[0], args.reads,
                              text.splitlines()))
            return conclude(args, cells, trouble)
        options.need("build", "vm", "bench")
        print(f"{', '.join(args.chosen)} on {', '.join(map(str, args.cpus))} "
              f"CPUs: about {options.minutes(estimate(args))}", flush=True)
        for cpus in args.cpus:
            trouble += measure(args, cpus, args.chosen, cells)
        return conclude(args, cells, trouble)
    except LocksError as err:
        print(f"locks: {err}", file=sys.stderr)
    except OSError as err:
        print(f"locks: {err.filename or args.source}: {err.strerror}",
              file=sys.stderr)
    except options.Interrupted as stop:
        options.ignore_signals()
        if cells:
            conclude(args, cells, [*trouble, "interrupted"])
        return 128 + stop.number
    return 1


if __name__ == "__main__":
    sys.exit(main())
