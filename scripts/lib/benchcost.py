# SPDX-License-Identifier: GPL-2.0
"""scripts/bench-cost: what a scheduler costs the CPU, in virtual time.

For each scheduler, disk and depth: the time that the CPU is busy for a 4 KiB
random read, in a guest whose clock counts instructions (1 ns = 1 instruction),
and what that is more than with no scheduler. And how many spin locks the
scheduler takes for an I/O. The figures depend on the kernel and the modules,
not on this machine or what else runs on it.
"""

import collections
import datetime
import itertools
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import time

import costprofile
import kernel
import options
import schedulers as known_schedulers
import vm

benchreport = options.later("benchreport")
REPO = pathlib.Path(__file__).resolve().parents[2]

# The base of all comparisons: no scheduler, and one that does nothing.
BASE, FLOOR = "none", "fifo"
COMPETITORS = ("mq-deadline", "kyber", "bfq")
# Any scheduler may be named; a refusal says what some are.
EXAMPLE = (BASE, FLOOR, *COMPETITORS, "k2", "...")
DISKS = ("null", "flashsim")
DEPTHS = (1, 32, 256)
# With tenants: the depth of all together; I/Os, by default. Starting 256 processes takes as
# long as 100 000 I/Os, so the disks have fewer times (see NULL_TIMES) and more I/Os.
TENANTS_DEPTH, TENANTS_IOS, TENANTS_TIMES = (32,), 40000, 2
IOS = 10000
# The binding bound, and one that never binds. Where a bound binds the CPU idles, so
# that is for flashsim; see NULL.
BOUND, NO_BOUND = 4, 1024
# The cost of reading the statistics is measured here only, a layout at depth 1, too.
VARIANT_DEPTH = 32
# For schedulers with a setting for the layout of pages on chips: the default of
# flashsim, 16 dies in turn.
LAYOUT = "page=4096 chips=16"
CHIPS = 16

SHORT = 1000
LOCK_IOS = 250
# Most that two measurements of the same cell may differ by, for schedulers
# that are not ours.
SPREAD = 0.005

# At depth 32 and more null_blk is given times with which it serves more I/Os a
# second than this CPU can submit, so the CPU is never idle. A time that never varies
# still has a rhythm: I/Os complete one by one or several together, and the same I/Os
# cost 10 % more or less. So a cell is its mean over several such times, of half as
# many reads each as another cell has.
NULL = "irqmode=2,completion_nsec={},hw_queue_depth=256"
NULL_NS, NULL_LEAST_NS = 3125, 100000
NULL_BUSY = 32
NULL_TIMES = (1.0, 1.07, 1.15, 1.23, 1.31, 1.41, 1.5, 1.61)
# flashsim leaves the CPU idle most of the time: drawn times keep it out of step.
# Its 16 dies would serve 440 000 reads a second, divided by time_scale.
FLASHSIM = "time_scale={},service=exponential,data=none,queue_depth=256"
FLASHSIM_SLOWEST = 32

# Measured on two cores: a boot; starting fio twice; an I/O; a cell's locks; starting a
# process of fio twice.
SECONDS_BOOT, SECONDS_CELL, SECONDS_IO, SECONDS_LOCKS = 12, 1.2, 1.2e-4, 3.5
SECONDS_TENANT = 0.08


# --- options ----------------------------------------------------------------

def parse(argv):
    """The options."""
    parser = options.Parser(
        "bench-cost",
        description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 everything was measured and repeats; 1 something "
        "was not; 2 bad options; 77 no such kernel to be had here; 130 "
        "interrupted. More in docs/lab.md.")
    add = parser.add_argument
    options.add_kernel(add)
    add("--schedulers", type=options.words((), EXAMPLE), metavar="LIST",
        help="default: none, fifo, mq-deadline, kyber, bfq and all of this "
        "project that are built")
    add("--disks", type=options.words(DISKS), default=DISKS, metavar="LIST",
        help="default " + ",".join(DISKS))
    add("--depths", type=options.numbers(1, 256, "1,32"), metavar="LIST",
        help="1 to 256; default " + ",".join(map(str, DEPTHS))
        + ", with --tenants 32")
    add("--tenants", type=options.numbers(1, 256, "4,64,256"), default=(), metavar="LIST",
        help="1 to 256: reads from this number of processes, which share the depth (at "
        "least 1 each); without locks and variants (default: one job, a thread)")
    add("--batch", type=options.number(1, 256), default=1, metavar="N",
        help="reads that are submitted at once, and waited for, at most the least depth, "
        "1 to 256 (default 1)")
    add("--ios", type=options.number(1000, 1000000),
        metavar="N", help="measured I/Os, 1000 to 1000000 (default 10000, with --tenants "
        "40000)")
    add("--profile", action="store_true",
        help="print the instructions of each function for an I/O, and how many of them "
        "run with interrupts off; one boot, without locks and variants")
    add("--repeats", type=options.number(1, 10), metavar="N",
        help="boots, each with all cells and another seed, every other in "
        "reverse order, 1 to 10 (default 2; 1 with --profile)")
    add("--seed", type=options.number(1, 2**31), default=1, metavar="N",
        help="of the first boot's offsets, 1 to 2147483648 (default 1)")
    add("--no-locks", action="store_true", help="do not count locks")
    add("--out", type=options.new_folder, metavar="DIR",
        help="for the results (default build/results/cost-DATE-TIME)")
    args = parser.parse_args(argv)
    args.given = list(argv)
    if args.profile and args.repeats not in (None, 1):
        parser.error(f"argument --repeats: '{args.repeats}': want 1 with --profile, "
                     "whose counts are exact")
    args.repeats = args.repeats or (1 if args.profile else 2)
    args.no_locks = args.no_locks or args.profile or bool(args.tenants)
    args.ios = args.ios or (TENANTS_IOS if args.tenants else IOS)
    args.depths = args.depths or (TENANTS_DEPTH if args.tenants else DEPTHS)
    if args.batch > min(args.depths):
        parser.error(f"argument --batch: '{args.batch}': want 1 to {min(args.depths)}, the "
                     "least of --depths")
    # Before anything is built: what will be is known from the source.
    try:
        choose(args.schedulers, known_schedulers.in_source(REPO))
    except ValueError as error:
        parser.error(str(error))
    return args


# --- the plan ---------------------------------------------------------------

def own_schedulers(modules):
    """Names of the schedulers among {file name: bytes}, FLOOR not."""
    found = set()
    for data in modules.values():
        for match in re.finditer(rb"\0alias=([\w-]+)-iosched\0", data):
            found.add(match[1].decode())
    return sorted(found - {FLOOR})


def choose(wanted, own):
    """The schedulers to be measured, BASE first; ValueError if unknown."""
    known = (BASE, FLOOR, *COMPETITORS, *own)
    if not wanted:
        return known
    bad = next((name for name in wanted if name not in known), None)
    if bad:
        raise ValueError(f"argument --schedulers: '{bad}': want one or more "
                         f"of {','.join(known)}")
    return (BASE, *(name for name in known if name in wanted and name != BASE))


def _power(number):
    return 1 << (number.bit_length() - 1)


def disk_options(disk, parallel, times=len(NULL_TIMES)):
    """Parameters for the disk's speed with this number of I/Os in it.

    If a bound allows few I/Os, the disk is faster to match. Otherwise the same
    number of I/Os would take longer, and the guest's constant background work
    would be charged to them.
    """
    if disk == "null":
        least = max(NULL_NS * parallel, NULL_LEAST_NS)
        times = NULL_TIMES[:times if parallel >= NULL_BUSY else 1]
        return NULL.format("/".join(str(round(least * x)) for x in times))
    return FLASHSIM.format(min(_power(parallel), FLASHSIM_SLOWEST))


def variants(name, disk, depth, own):
    """[(label, settings, most in the device)] of a scheduler."""
    if name not in own:
        return [(name, "-", depth)]
    usual = f"max_inflight={NO_BOUND}" if name == "k2" else "-"
    found = [(name, usual, depth)]
    prefix = "" if usual == "-" else usual + ","
    if name == "k2" and disk == "flashsim" and depth > BOUND:
        found.append((f"k2 bound {BOUND}", f"max_inflight={BOUND}", BOUND))
    if depth == VARIANT_DEPTH:
        found.append((f"{name} stats read", prefix + "if-stats,read-stats",
                      depth))
    if depth in (1, VARIANT_DEPTH):
        found.append((f"{name} layout set",
                      f"{prefix}if-layout,layout={LAYOUT}", depth))
        if name == "piq" and disk == "flashsim":
            # Each chip is given one at a time, and that binds. Reads one by one
            # never tell it that the layout is right.
            found.append(("piq by chips", f"layout={LAYOUT},chip_depth=1" +
                          (",warm" if depth == 1 else ""), min(depth, CHIPS)))
    return found


def plan(args, schedulers, own):
    """The cells, as dicts."""
    cells = []
    for disk, depth, tenants in itertools.product(args.disks, args.depths,
                                                  args.tenants or (None,)):
        for name in schedulers:
            for label, settings, parallel in variants(name, disk, depth, own):
                if (args.profile or tenants) and label != name:
                    continue
                cell = {"disk": disk, "depth": depth, "label": label,
                        "scheduler": name, "settings": settings,
                        "options": disk_options(disk, parallel)}
                if tenants:
                    cell.update(
                        label=tenants_label(name, tenants), tenants=tenants,
                        options=disk_options(disk, max(depth, tenants), TENANTS_TIMES))
                cells.append({"id": f"{disk}-{depth}."
                              + cell["label"].replace(" ", "-"), **cell})
    return cells


def tenants_label(name, tenants):
    """The label of a cell with reads from this number of processes."""
    return f"{name} {tenants} tenant{'s' if tenants > 1 else ''}"


def counts_locks(cell):
    """Are the locks of this cell counted?

    Schedulers do not know what disk they have, so one will do.
    """
    first = cell["disk"] == "null" or cell["label"].endswith(f" {BOUND}")
    return first and cell["scheduler"] != BASE and \
        "read-stats" not in cell["settings"]


def plan_text(cells):
    """The cells as the guest reads them."""
    return "".join(
        f"{c['id']} {c['disk']} {c['options']} {c['depth']}"
        + (f"x{c['tenants']}" if c.get("tenants") else "")
        + f" {c['scheduler']} {c['settings']}\n" for c in cells)


# --- arithmetic -------------------------------------------------------------

def part(text):
    """(which, its figures) of "WHICH IOS ELAPSED IDLE SWITCHES"."""
    which, *figures = text.split()
    if which not in ("short", "long") or len(figures) != 4 or \
            not all(re.fullmatch(r"\d+", figure) for figure in figures):
        raise ValueError(f"no part of a cell: {text!r}")
    ios, elapsed, idle, switches = map(int, figures)
    if not 0 <= idle <= elapsed or not ios:
        raise ValueError(f"cannot be: {text!r}")
    return which, {"ios": ios, "elapsed_ns": elapsed, "idle_ns": idle,
                   "switches": switches}


def added(some, more):
    """The sum of what part() found on several disks; some may be None."""
    return {key: more[key] + (some[key] if some else 0) for key in more}


def cost(short, long):
    """The cost of an I/O, from two runs that differ in their number.

    Starting fio, and all else that a run does once, is in both.
    """
    ios = long["ios"] - short["ios"]
    if ios <= 0:
        raise ValueError("the long run is not the longer one")
    elapsed = long["elapsed_ns"] - short["elapsed_ns"]
    busy = elapsed - (long["idle_ns"] - short["idle_ns"])
    if busy <= 0 or elapsed <= 0:
        raise ValueError("the long run did not take longer")
    return {
        "ios": ios,
        "busy_ns_per_io": busy / ios,
        "busy_share": busy / elapsed,
        "ios_per_s": ios / elapsed * 1e9,
        "switches_per_io": (long["switches"] - short["switches"]) / ios,
    }


def spread(values):
    """(largest - smallest) / mean; None for fewer than two."""
    if len(values) < 2:
        return None
    return (max(values) - min(values)) / statistics.fmean(values)


def locks(text):
    """Figures of "IOS ALL OWN FUNCTION=COUNT..."."""
    ios, everyone, own, *functions = text.split()
    counts = {}
    for word in functions:
        name, _, count = word.partition("=")
        counts[name] = int(count)
    if int(ios) <= 0 or int(own) != sum(counts.values()) or \
            int(own) > int(everyone):
        raise ValueError(f"counts of locks that cannot be: {text!r}")
    return {
        "ios": int(ios),
        "all_per_io": int(everyone) / int(ios),
        "own_per_io": int(own) / int(ios),
        "own_per_io_by_function": {
            name: count / int(ios) for name, count in
            sorted(counts.items(), key=lambda item: -item[1])},
    }


def table(cells, results, found_locks):
    """A line a cell: means, spreads, what it is more than BASE and FLOOR.

    results: {cell id: [cost() of each repeat]}.
    """
    mean = {name: statistics.fmean(r["busy_ns_per_io"] for r in runs)
            for name, runs in results.items() if runs}
    lines = []
    for cell in cells:
        if cell["id"] not in mean:
            continue
        runs = results[cell["id"]]
        costs = [run["busy_ns_per_io"] for run in runs]
        line = {key: cell[key] for key in (
            "id", "disk", "depth", "label", "scheduler", "settings",
            "options", "tenants") if key in cell}
        line.update(
            busy_ns_per_io=mean[cell["id"]], repeats=costs,
            spread=spread(costs),
            **{key: statistics.fmean(run[key] for run in runs) for key in
               ("busy_share", "ios_per_s", "switches_per_io")})
        for word, name in (("none", BASE), ("floor", FLOOR)):
            base = mean.get(costprofile.same_load(cell, name))
            line[f"over_{word}_ns"] = base and mean[cell["id"]] - base
            line[f"over_{word}"] = base and mean[cell["id"]] / base - 1
        line["locks"] = found_locks.get(cell["id"])
        lines.append(line)
    return lines


def unsteady(lines):
    """Cells that should have been repeated more exactly."""
    return [line for line in lines
            if line["scheduler"] in (BASE, *COMPETITORS) and
            line["spread"] is not None and line["spread"] > SPREAD]


# --- what is shown ----------------------------------------------------------

LEGEND = (
    "ns: CPU time of an I/O, 1 ns = 1 instruction; +ns, +%: more than with no "
    "scheduler",
    "spread: largest difference between boots (another seed, another order)",
    "locks: spin locks that the scheduler's own functions take for an I/O, at "
    "each depth",
    "null: null_blk, 100 us (depth 32: a mean over 100 to 161 us), so fast that at "
    "depth 32 and 256",
    "the CPU is never idle; flashsim: so slow that it is idle most of the time. fifo "
    "does nothing,",
    "and has its requests issued the block layer's usual way: on 6.1 by another task.",
)


def _text(value, style, scale=1):
    return "-" if value is None else format(value * scale, style)


def rows(lines, depths):
    """[cells of a row] of one disk's lines, one row a label."""
    found = []
    for label in dict.fromkeys(line["label"] for line in lines):
        at = {line["depth"]: line for line in lines if line["label"] == label}
        cells = [label]
        for depth in depths:
            line = at.get(depth, {})
            cells += [
                _text(line.get("busy_ns_per_io"), ".0f"),
                *(("-", "-") if line.get("scheduler") == BASE else
                  (_text(line.get("over_none_ns"), "+.0f"),
                   _text(line.get("over_none"), "+.1f", 100)))]
        spreads = [line["spread"] for line in at.values()
                   if line["spread"] is not None]
        cells.append(_text(max(spreads, default=None), ".2f", 100))
        counts = [_text((at.get(depth, {}).get("locks") or {}).get(
            "own_per_io"), ".2f") for depth in depths]
        cells.append(" ".join(counts) if set(counts) != {"-"} else "-")
        found.append(cells)
    return found


def show(console, summary):
    """Prints a table a disk."""
    from rich import box  # pylint: disable=import-outside-toplevel
    from rich.table import Table  # pylint: disable=import-outside-toplevel
    lines = summary["cells"]
    for disk in dict.fromkeys(line["disk"] for line in lines):
        own = [line for line in lines if line["disk"] == disk]
        depths = sorted({line["depth"] for line in own})
        shown_ = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0))
        shown_.add_column(disk, no_wrap=True)
        for depth in depths:
            for name in (f"depth {depth}\nns", "\n+ns", "\n+%"):
                shown_.add_column(name, justify="right", no_wrap=True)
        shown_.add_column("spread\n%", justify="right", no_wrap=True)
        shown_.add_column("locks", no_wrap=True)
        for cells in rows(own, depths):
            shown_.add_row(*cells)
        console.print()
        console.print(shown_)
    console.print()
    for line in LEGEND:
        console.print(line, markup=False)
    console.print(f"Linux {summary['kernel']}, virtual time, 1 CPU, 1 ns an "
                  f"instruction; commit {summary['commit']}", markup=False)


def plot(path, summary):
    """A panel a disk: bars of what is more than with no scheduler."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    lines = [line for line in summary["cells"]
             if line["scheduler"] != BASE and line["over_none_ns"] is not None]
    disks = list(dict.fromkeys(line["disk"] for line in lines))
    labels = list(dict.fromkeys(line["label"] for line in lines))
    depths = sorted({line["depth"] for line in lines})
    colours = pyplot.get_cmap("viridis")
    figure, axes = pyplot.subplots(
        len(disks), 1, squeeze=False, layout="constrained", sharex=True,
        figsize=(max(8.0, 2.0 + 0.9 * len(labels)), 1.4 + 2.7 * len(disks)))
    width = 0.8 / len(depths)
    for (axis,), disk in zip(axes, disks):
        for n, depth in enumerate(depths):
            found = {line["label"]: line for line in lines
                     if line["disk"] == disk and line["depth"] == depth}
            places = [at for at, label in enumerate(labels) if label in found]
            if not places:
                continue
            bars = [found[labels[at]] for at in places]
            axis.bar(
                [at + (n - (len(depths) - 1) / 2) * width for at in places],
                [bar["over_none_ns"] for bar in bars], width * 0.92,
                color=colours(0.15 + 0.6 * n / max(1, len(depths) - 1)),
                label=f"depth {depth}",
                yerr=[[(bar["busy_ns_per_io"] - min(bar["repeats"]))
                       for bar in bars],
                      [(max(bar["repeats"]) - bar["busy_ns_per_io"])
                       for bar in bars]],
                error_kw={"elinewidth": 1, "ecolor": "0.3"})
        axis.axhline(0, color="0.3", linewidth=0.8)
        axis.set_title(disk, fontsize=10, loc="left")
        axis.set_ylabel("ns an I/O over none", fontsize=8)
        axis.set_xticks(range(len(labels)), labels, rotation=35, ha="right",
                        rotation_mode="anchor", fontsize=8)
        axis.tick_params(axis="y", labelsize=8)
        axis.grid(axis="y", color="0.9", linewidth=0.8)
        axis.set_axisbelow(True)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    handles, names = max((axis.get_legend_handles_labels()
                          for (axis,) in axes), key=lambda pair: len(pair[1]))
    axes[0][0].legend(handles, names, fontsize=8, frameon=False,
                      ncols=len(depths), loc="lower right",
                      bbox_to_anchor=(1, 1), borderaxespad=0)
    figure.suptitle("What a scheduler costs the CPU: 4 KiB random reads",
                    fontsize=12, fontweight="bold")
    figure.supxlabel(
        f"Linux {summary['kernel']}, virtual time: 1 ns = 1 instruction; "
        f"commit {summary['commit']}", fontsize=8)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


# --- the bench --------------------------------------------------------------

class BenchCost:
    """One invocation."""

    def __init__(self, args, schedulers, own):
        self.args = args
        self.schedulers = schedulers
        self.cells = plan(args, schedulers, own)
        self.lock_cells = [] if args.no_locks else \
            list(filter(counts_locks, self.cells))
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        self.out = args.out or REPO / "build" / "results" / f"cost-{stamp}"
        self.results = collections.defaultdict(list)
        self.locks = {}
        self.profiler = costprofile.Profiler(self.out) if args.profile else None
        self.machine = {}
        self.trouble = []
        # {what is not there: cells that were left out for it}
        self.left_out = collections.Counter()
        self.absent = set()
        self.parts = {}
        self.under_way = ""
        self.vm = None
        self.vm_status = 0
        self.started = time.monotonic()
        self.began = datetime.datetime.now(datetime.timezone.utc)
        self.commit = options.commit()
        self.qemu = options.output_of("qemu-system-x86_64", "--version").split("\n")[0]
        self.progress = benchreport.progress(
            len(self.cells) * args.repeats + len(self.lock_cells))

    def seconds(self):
        """The estimated seconds of the whole bench."""
        args = self.args
        boots = args.repeats + bool(self.lock_cells)
        return boots * SECONDS_BOOT + len(self.lock_cells) * SECONDS_LOCKS + \
            args.repeats * sum(
                disks * (SECONDS_CELL + SECONDS_TENANT * cell.get("tenants", 0)) +
                SECONDS_IO * (args.ios + 2 * SHORT) * (disks + 1) / 2
                for cell in self.cells
                for disks in (cell["options"].count("/") + 1,))

    def announce(self):
        """Says what will be done and what that costs."""
        args, say = self.args, self.progress.say
        say(f"{', '.join(self.schedulers)}")
        say(f"  on {', '.join(args.disks)} at depth "
            f"{', '.join(map(str, args.depths))}: {len(self.cells)} cells of "
            f"{args.ios} reads, in each of {args.repeats} boots of kernel "
            f"{args.kernel}" + (f"; then {len(self.lock_cells)} with each lock "
                                "counted" if self.lock_cells else ""))
        say(f"about {options.minutes(self.seconds())} on an idle core, results in "
            f"{options.shown(self.out)}")

    def command(self, cells, task, seed):
        """scripts/vm with these cells."""
        values = {"COST_PLAN": plan_text(cells), "COST_TASK": task,
                  "COST_SHORT": SHORT, "COST_LONG": SHORT + self.args.ios,
                  "COST_LOCKS": LOCK_IOS, "COST_SEED": seed,
                  "COST_BATCH": self.args.batch}
        if self.profiler:
            values["COST_PROFILER"] = "/files/profile-mark"
        words_ = " ".join(f"{key}={shlex.quote(str(value))}"
                          for key, value in values.items())
        limit = 300 + len(cells) * (30 + self.args.ios // 100) * \
            (2 if self.profiler else 1)
        return [str(REPO / "scripts" / "vm"), "--kernel", self.args.kernel,
                "--virtual-time", "--timeout", str(min(limit, 86400)),
                *(self.profiler.vm_options() if self.profiler else ()), "--",
                words_ + " bash /tests/vm/lib/cost-guest.sh"]

    def circumstances(self):
        """The fields that all files of this invocation have in common."""
        return {
            "commit": self.commit,
            "kernel": self.machine.get("release", ""),
            "kernel_version": self.machine.get("version", ""),
            "fio_version": self.machine.get("fio", ""),
            "emulator": {"qemu": self.qemu, "accelerator": "TCG, icount",
                         "ns_per_instruction": 1, "cpus": 1},
            "command": shlex.join(["scripts/bench-cost", *self.args.given]),
        }

    def boot(self, cells, task, repeat, seed):
        """One virtual machine, from its start to its end; its status."""
        # A separate session: this process receives Ctrl-C and ends it.
        self.vm = subprocess.Popen(
            self.command(cells, task, seed), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        for line in self.vm.stdout:
            self.line(line.decode(errors="replace").rstrip("\r\n"),
                      task, repeat, seed)
        if self.under_way:
            self.trouble.append(f"{self.under_way} was under way when the "
                                "machine ended")
            self.under_way = ""
        return self.vm.wait()

    def measure(self):
        """All boots; the status of the first that failed."""
        args = self.args
        for repeat in range(1, args.repeats + 1):
            # The state before a cell must not matter.
            order = self.cells if repeat % 2 else self.cells[::-1]
            order = [cell for cell in order if cell["id"] not in self.absent]
            self.vm_status = self.boot(order, "time", repeat,
                                       args.seed + repeat - 1)
            if self.vm_status:
                return
        order = [cell for cell in self.lock_cells
                 if cell["id"] not in self.absent]
        if order:
            self.vm_status = self.boot(order, "locks", 0, args.seed)

    def line(self, text, task, repeat, seed):
        """A line that the virtual machine printed."""
        if not text.startswith("cost: "):
            if text.startswith(("vm: gave up", "vm: the kernel reported")):
                self.trouble.append(text)
            self.progress.say(text, plain=True)
            return
        word, _, rest = text[len("cost: "):].partition(" ")
        name, _, rest = rest.partition(" ")
        if word == "machine":
            self.machine[name] = rest
        elif word == "begin":
            self.under_way = name
            self.parts = {}
            self.progress.begin(name)
        elif word == "part":
            try:
                which, figures = part(rest)
                self.parts[which] = added(self.parts.get(which), figures)
            except ValueError as error:
                self.trouble.append(f"{name}: {error}")
        elif word == "mark" and self.profiler:
            try:
                self.profiler.mark(name, rest)
            except ValueError as error:
                self.trouble.append(f"{name}: {error}")
        elif word == "locks":
            try:
                self.locks[name] = locks(rest)
            except ValueError as error:
                self.trouble.append(f"{name}: {error}")
        elif word in ("done", "missing", "absent", "failed"):
            self.under_way = ""
            self.ended(word, name, rest, task, repeat, seed)

    def ended(self, word, name, rest, task, repeat, seed):
        """A cell has ended, one way or the other."""
        if word == "failed":
            self.trouble.append(f"{name}: {rest}")
            self.progress.done(name, False, "FAILED: " + rest)
        elif word == "missing":
            # Once is enough: it will not be there in the next boot either.
            self.absent.add(name)
            self.left_out[rest] += 1
            self.progress.left_out(f"{name}: {rest}; left out")
        elif word == "absent":
            self.absent.add(name)
            self.progress.clock.total -= 1
            if hasattr(self.progress, "bar"):
                self.progress.bar.update(
                    self.progress.task, total=self.progress.clock.total)
        elif task == "locks":
            found = self.locks.get(name)
            self.progress.done(name, bool(found), "no count" if not found
                               else f"{found['own_per_io']:.2f} locks an I/O")
        else:
            self.finish(name, repeat, seed)

    def finish(self, name, repeat, seed):
        """Both runs of a cell are there: computes, writes its file."""
        cell = next(c for c in self.cells if c["id"] == name)
        try:
            result = cost(self.parts["short"], self.parts["long"])
        except (KeyError, ValueError) as error:
            self.trouble.append(f"{name}: {error}")
            self.progress.done(name, False, f"not understood: {error}")
            return
        self.results[name].append(result)
        record = {
            "schema": 1, **cell, "repeat": repeat, "seed": seed,
            "time": datetime.datetime.now(
                datetime.timezone.utc).isoformat(timespec="seconds"),
            **self.circumstances(), **self.parts, "result": result}
        options.write_json(self.out / f"{name}.{repeat}.json", record)
        self.progress.done(
            name, True, f"{result['busy_ns_per_io']:.0f} ns an I/O")

    def stop_vm(self):
        """Ends scripts/vm, and with it the guest."""
        options.end(self.vm)

    def conclude_profile(self, lines):
        """Writes and prints the profiles of what was measured."""
        try:
            cells = self.profiler.cells(lines)
        except (OSError, ValueError) as error:
            self.trouble.append(f"no profile: {error}")
            return
        finally:
            self.profiler.discard()
        texts = costprofile.texts(cells)
        options.write_json(self.out / "profile.json",
                           {"schema": 1, "kind": "cost", **self.circumstances(), "cells": cells})
        (self.out / "profile.txt").write_text("\n\n".join(texts.values()) + "\n", "utf-8")
        for cell in cells:
            self.progress.console.print()
            self.progress.console.print(texts[cell["id"]], markup=False, highlight=False,
                                        soft_wrap=True)
            costprofile.plot(self.out / f"profile-{cell['id']}.png", cell,
                             self.circumstances())
        self.progress.say(f"profiles: {options.shown(self.out)}/profile.txt, "
                          "profile.json, profile-*.png")

    def conclude(self, stopped):
        """Table, summary, plot; the exit status."""
        say = self.progress.say
        lines = table(self.cells, self.results, self.locks)
        shaky = unsteady(lines)
        for line in shaky:
            self.trouble.append(
                f"{line['id']}: repeats differ by {line['spread']:.2%}, more "
                f"than {SPREAD:.1%}")
        summary = {
            "schema": 1, **self.circumstances(),
            "began": self.began.isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - self.started, 1),
            "interrupted": bool(stopped), "trouble": self.trouble,
            "left_out": dict(self.left_out), "cells": lines}
        plotted = any(line["over_none_ns"] is not None and
                      line["scheduler"] != BASE for line in lines)
        if plotted:
            try:
                plot(self.out / "plot.png", summary)
            except (OSError, ValueError, RuntimeError) as error:
                self.trouble.append(f"no plot: {error}")
        options.write_json(self.out / "summary.json", summary)
        if lines:
            show(self.progress.console, summary)
        if lines and self.profiler:
            self.conclude_profile(lines)
        runs = sum(map(len, self.results.values()))
        say(f"{runs} runs and {len(self.locks)} counts of locks in "
            f"{options.minutes(time.monotonic() - self.started)}; results: "
            f"{options.shown(self.out)}/*.json, summary.json"
            + (", plot.png" if plotted else ""))
        for why, count in self.left_out.items():
            say(f"left out: {count} cells, {why}")
        if stopped:
            say("interrupted: finished runs are kept, the rest was not made")
            return 128 + stopped
        for text in self.trouble:
            say(f"trouble: {text}")
        if self.vm_status:
            say(f"the virtual machine ended with status {self.vm_status}; "
                "next: read its report above, and the console log if one is "
                "named there (build/vm/)")
        if self.vm_status == vm.NO_KERNEL:
            return vm.NO_KERNEL
        return 1 if self.trouble or self.vm_status or not lines else 0


def main(argv=None):
    """Command line of scripts/bench-cost."""
    args = parse(sys.argv[1:] if argv is None else argv)
    # A caller from Python has installed the packages.
    if argv is None:
        options.need("build", "vm", "bench")

    kernel.SPEAKER = "bench-cost"
    options.catch_signals()
    bench, stopped = None, 0
    try:
        # Which schedulers there are is known when they have been built.
        own = own_schedulers(vm.build_modules(
            kernel.Store(kernel.cache_dir()).get(args.kernel)))
        try:
            schedulers = choose(args.schedulers, own)
        except ValueError as error:
            print(f"bench-cost: {error}", file=sys.stderr)
            return 2
        bench = BenchCost(args, schedulers, own)
        bench.announce()
        bench.out.mkdir(parents=True, exist_ok=True)
        if bench.profiler:
            bench.profiler.prepare()
        with bench.progress:
            bench.measure()
    except options.Interrupted as stop:
        stopped = stop.number
        options.ignore_signals()
    except kernel.Unavailable as error:
        print(f"bench-cost: kernel {args.kernel} cannot be had: {error}",
              file=sys.stderr)
        return vm.NO_KERNEL
    except (OSError, RuntimeError) as error:
        print(f"bench-cost: {error}", file=sys.stderr)
        return 1
    finally:
        if bench:
            bench.stop_vm()
    if not bench or not bench.out.is_dir():
        return 128 + stopped
    return bench.conclude(stopped)


if __name__ == "__main__":
    sys.exit(main())
