# SPDX-License-Identifier: GPL-2.0
"""scripts/bench: schedulers on a simulated flash device in virtual time.

    scripts/bench                  the main job: correctness on an emulated
                                   NVMe device, then suite k2, short form
    scripts/bench SUITE            one suite (tests/suites)
    scripts/bench nvme [options]   correctness alone; see nvme --help

A suite is workloads x schedulers x device variants. Times are those of a
clock that counts the guest's instructions, so they do not depend on this
machine, and are comparable. docs/lab.md has more.
"""

import argparse
import contextlib
import datetime
import json
import pathlib
import queue
import shlex
import signal
import sys
import time

import bench
import claims
import kernel
import options
import suitedata
import suitedb
import suitefs
import suiteplan
import suiteshare
import suitetrace
from suitemachine import DATA, Machine, run_files, unpack
from suitetime import Speeds, total_seconds

suitereport = options.later("suitereport")
REPO = pathlib.Path(__file__).resolve().parents[2]

MAIN_SUITE, SMOKE_SUITE = "k2", "smoke"
# The main job shares its ten minutes between two parts.
MAIN_NVME = ["--requests", "100", "--bounds", "1,2,8,64"]

KB_RUN = 120
MACHINES = 2
# A boot that died is made up for by another one, so often in all.
EXTRA_BOOTS = 5


def load_records(folder):
    """The records in a directory."""
    found = []
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            continue
        if isinstance(record, dict) and record.get("kind") == "suite" and \
                "id" in record:
            found.append(record)
    return found


# --- a suite -----------------------------------------------------------------

class Session:
    """One invocation for one suite."""

    def __init__(self, suite, args, out, runs, done=(), absent=()):
        self.suite, self.args, self.out = suite, args, out
        self.runs = runs
        self.records = list(done)
        have = {record["id"] for record in self.records}
        self.todo = [run for run in runs if run["id"] not in have]
        self.by_id = {run["id"]: run for run in runs}
        self.raw = out / "raw"
        self.traces = suitetrace.Store(out / "traces")
        self.batches, self.extra_boots, self.made = [], 0, 0
        self.speeds = Speeds()
        self.events = queue.Queue()
        self.machines = []
        self.trouble, self.left_out = [], []
        # Lines about what the plan has no runs for
        self.absent = list(absent)
        self.progress = suitereport.progress(len(self.todo))
        self.began = datetime.datetime.now(datetime.timezone.utc)
        self.started = time.monotonic()
        self.commit = options.commit()
        self.qemu = options.output_of("qemu-system-x86_64",
                                    "--version").split("\n")[0]
        self.statuses = []

    def announce(self):
        """Says what will be done and what that costs."""
        say, args = self.progress.say, self.args
        seconds = total_seconds(self.todo, self.speeds, args.vms)
        cells = list(dict.fromkeys(run["cell"] for run in self.runs))
        seeds = list(dict.fromkeys(run["seed"] for run in self.runs))
        say(f"suite {self.suite.name}, form {args.form}: {self.suite.title}")
        say(f"  {len(cells)} cells, seeds " + ", ".join(
            f"{seed} ({suiteplan.seed_use(seed)})" for seed in seeds)
            + (f", each {args.repeat} times" if args.repeat > 1 else "")
            + f": {len(self.todo)} runs"
            + (f" of {len(self.runs)}, the rest is there"
               if len(self.todo) < len(self.runs) else ""))
        for text in self.absent:
            say(f"  {text}")
        count = min(args.vms, len(suiteplan.batches(self.todo)))
        say(f"about {options.minutes(seconds)} in {count} virtual "
            f"machine{'s' if count > 1 else ''} of kernel {args.kernel} with "
            "a virtual clock; "
            f"{max(1, len(self.todo) * KB_RUN // 1000)} MB in "
            f"{options.shown(self.out)}")
        limit = self.suite.forms[args.form].minutes
        if limit and seconds > limit * 60 and not args.resume:
            say(f"that is more than the {limit} minutes this form is meant "
                "to take: this machine is slow or busy")

    def save_plan(self):
        """The data that --resume needs."""
        self.out.mkdir(parents=True, exist_ok=True)
        args = self.args
        options.write_json(self.out / "plan", {
            "suite": self.suite.name, "form": args.form,
            "kernel": args.kernel, "commit": self.commit,
            "seeds": args.seeds, "only": args.only, "repeat": args.repeat,
            "vms": args.vms, "absent": self.absent, "runs": self.runs})

    def launch(self):
        """Starts the machines."""
        seconds = {run["id"]: self.speeds.seconds(run) for run in self.todo}
        have = {run["id"] for run in self.todo}
        # Batches of the whole plan, so that they are the same ones whatever
        # is left of them.
        self.batches = [
            left for batch in suiteplan.batches(self.runs)
            if (left := [run for run in batch if run["id"] in have])]
        self.batches.sort(key=lambda batch: -sum(
            seconds[run["id"]] for run in batch))
        count = min(self.args.vms, len(self.batches))
        self.progress.clock.plan(seconds, count)
        for number in range(count):
            self.machines.append(Machine(number, self.events,
                                         self.args.kernel, self.traces))
            self.next_batch(self.machines[-1])

    def next_batch(self, machine):
        """Gives a machine its next batch; False if there is none."""
        if not self.batches:
            return False
        batch = self.batches.pop(0)
        limit = 900 + 10 * sum(map(self.speeds.seconds, batch))
        machine.start(batch, int(min(limit, 86400)))
        return True

    def follow(self):
        """Until all machines have ended."""
        open_ = set(self.machines)
        while open_:
            machine, line = self.events.get()
            if line is not None:
                self.line(machine, line)
            elif not self.ended(machine):
                open_.discard(machine)

    def ended(self, machine):
        """A machine has ended; True if it was started again."""
        status = machine.process.returncode
        if machine.under_way:
            name = machine.under_way
            text = f"was under way when the machine ended (status {status})"
            self.trouble.append(f"{name}: {text}")
            self.progress.left_out(machine.number, name, text)
            self.drop(machine, name)
            machine.under_way = ""
        self.statuses.append(status)
        if machine.runs and machine.made and self.extra_boots < EXTRA_BOOTS \
                and status in (0, 1, 124, 125):
            self.extra_boots += 1
            self.progress.say(
                f"a machine ended with status {status} before its "
                f"{len(machine.runs)} last runs; they get another one")
            self.batches.insert(0, machine.runs)
        elif machine.runs:
            for run in machine.runs:
                self.progress.left_out(
                    machine.number, run["id"],
                    f"its machine ended with status {status}")
            # If no run has ended in any boot, no other one will.
            if not self.made:
                self.batches.clear()
        machine.runs = []
        return self.next_batch(machine)

    @staticmethod
    def drop(machine, name):
        """A run is not to be made again."""
        machine.runs = [run for run in machine.runs if run["id"] != name]

    def line(self, machine, text):
        """A line that a virtual machine printed."""
        if text.startswith(DATA):
            machine.data.append(text[len(DATA):])
            return
        if not text.startswith("suite: "):
            if text.startswith("vm: ") and ", TCG, " in text:
                machine.accelerator = "TCG"
                return
            if text.startswith(("vm: gave up", "vm: the kernel reported")):
                self.trouble.append(text)
            self.progress.say(text, plain=True)
            return
        word, _, rest = text[len("suite: "):].partition(" ")
        name, _, more = rest.partition(" ")
        name = machine.names.get(name, name)
        if word == "fact":
            machine.facts[name] = more
        elif word == "begin":
            machine.under_way = name
            machine.data = []
            self.progress.begin(machine.number, name)
        elif word == "done":
            self.finish(machine, name)
        elif word in ("unavailable", "failed"):
            self.not_made(machine, name, more, word == "failed")
        elif word == "trouble":
            self.trouble.append(rest)
            self.progress.say(rest)

    def not_made(self, machine, name, why, failed=False):
        """A run that the guest could not begin.

        failed: for another reason than a scheduler that its kernel lacks.
        """
        run = self.by_id[name]
        with contextlib.suppress(ValueError, KeyError):
            raw = unpack("".join(machine.data))
            said = raw.get("said", "") + " ".join(
                line for line in raw.get("dmesg", "").splitlines()
                if "flashsim" in line)[-300:]
            why = f"{why}: {' '.join(said.split())}" if said else why
        # That a kernel lacks a competitor is no fault; all else is.
        ours = failed or run["scheduler"] in suiteplan.OURS
        (self.trouble if ours else self.left_out).append(f"{name}: {why}")
        self.progress.left_out(machine.number, name, why)
        self.drop(machine, name)
        machine.under_way = ""

    def finish(self, machine, name):
        """Judges a run and writes its file."""
        run = self.by_id[name]
        machine.under_way = ""
        machine.made += 1
        self.made += 1
        self.drop(machine, name)
        raw = {}
        try:
            raw = unpack("".join(machine.data))
            result = suitedata.evaluate(raw, run, machine.facts,
                                        machine.trace)
        except suitedb.NoResult as error:
            self.trouble.append(f"{name}: " + str(error).replace(
                "raw/...", options.shown(self.raw / name)))
            self.keep_raw(name, raw)
            self.progress.done(machine.number, name, False, "no result")
            return
        except (ValueError, KeyError, IndexError, TypeError) as error:
            said = " ".join(raw.get("said", "").split())[:300]
            self.trouble.append(
                f"{name}: raw files not understood ({error!r})"
                + (f"; fio said: {said}" if said else ""))
            self.keep_raw(name, raw)
            self.progress.done(machine.number, name, False, "not understood")
            return
        record = self.record(machine, run, result)
        options.write_json(self.out / f"{name}.json", record)
        self.records.append(record)
        failed = [key for key, check in result["checks"].items()
                  if not check["passed"]]
        if failed or self.args.keep:
            self.keep_raw(name, raw)
        took = self.progress.done(machine.number, name, not failed,
                                  "FAILED: " + ", ".join(failed) if failed
                                  else headline(record))
        if not failed:
            self.speeds.learn(run, took)

    def keep_raw(self, name, raw):
        """Keeps what the guest left of a run."""
        folder = self.raw / name
        folder.mkdir(parents=True, exist_ok=True)
        for key, text in {**run_files(self.by_id[name]), **raw}.items():
            (folder / key).write_text(text)

    def record(self, machine, run, result):
        """A run's file."""
        stats = result["device_stats"]
        order, alloc, mapping = suitedata.order_of(
            {**run["params"], **{key: stats[key] for key in
                                 ("order", "alloc") if key in stats}})
        return {
            "schema": 2, "kind": "suite",
            **{key: run[key] for key in
               ("suite", "form", "id", "cell", "workload", "scheduler",
                "label", "tunables", "profile", "variant")},
            "iocost": run["iocost"],
            "device": run["params"], "region_pct": run["region_pct"],
            "nomerges": run.get("nomerges", 0),
            "wbt_lat_usec": run.get("wbt_lat_usec", 0),
            "order": order, "alloc": alloc,
            "map": mapping,
            **{key: run[key] for key in ("seed", "seed_use", "repeat",
                                         "time_scale")},
            "clock": "virtual",
            "time": datetime.datetime.now(
                datetime.timezone.utc).isoformat(timespec="seconds"),
            **self.circumstances(machine.facts, machine.accelerator),
            "fio_environment": {**run["env"], "SEED": run["seed"],
                                "DEV": "/dev/flashsim0"},
            "fio_command": f"postmark tests/fio/{run['job']}"
                           f"{suitefs.POSTMARK}" if run.get("postmark") else
                           f"db_bench, options of tests/fio/{run['job']}"
                           f"{suitedb.SUFFIX}" if run.get("database") else
                           f"fio --output-format=json tests/fio/"
                           f"{run['job']}.fio",
            **{key: run[key] for key in ("fs", "memory") if key in run},
            "unscaled": run["unscaled"],
            **({"trace": machine.trace} if machine.trace else {}),
            **result,
        }

    def circumstances(self, facts, accelerator):
        """The fields that all files of this invocation have in common."""
        return {
            "commit": self.commit,
            "kernel": facts.get("release", ""),
            "kernel_version": facts.get("version", ""),
            "fio_version": facts.get("fio", ""),
            "emulator": {"qemu": self.qemu, "accelerator": accelerator,
                         "cpus": int(facts.get("cpus", 1))},
            "bench_command": shlex.join(["scripts/bench", *sys.argv[1:]]),
            "vm_command": f"scripts/vm --kernel {self.args.kernel} "
                          "--virtual-time",
        }

    def measure(self):
        """Runs all that is to be run."""
        if self.todo:
            self.launch()
            self.follow()

    def stop(self):
        """Ends the machines."""
        for machine in self.machines:
            machine.stop()
        for machine in self.machines:
            machine.join()

    def conclude(self, stopped):
        """Summary, tables; the exit status."""
        say = self.progress.say
        self.speeds.save()
        place = {run["id"]: n for n, run in enumerate(self.runs)}
        records = sorted(self.records,
                         key=lambda record: place.get(record["id"], 0))
        first = next((m for m in self.machines if m.facts), None)
        summary = summarize(
            self.suite.name, self.suite.title, self.args.form,
            self.suite.claims, records, {
                **(self.circumstances(first.facts, first.accelerator)
                   if first else {key: records[0].get(key) for key in
                                  self.circumstances({}, "")}
                   if records else {}),
                "began": self.began.isoformat(timespec="seconds"),
                "seconds": round(time.monotonic() - self.started, 1),
                "runs_planned": len(self.runs),
                "interrupted": bool(stopped), "trouble": self.trouble,
                "left_out": self.absent + self.left_out,
                "vm_statuses": self.statuses})
        options.write_json(self.out / "summary.json", summary)
        suitereport.results(self.progress.console, summary)
        repeated = suitedata.repeats(records)
        same = True
        if repeated:
            same = suitereport.differences(
                self.progress.console, repeated,
                "the same runs again")
        where = options.shown(self.out)
        say(f"{len(records)} of {len(self.runs)} runs"
            f" in {options.minutes(time.monotonic() - self.started)}; "
            f"results: {where}/*.json, summary.json")
        if stopped:
            say("interrupted: finished runs are kept; go on with: "
                f"scripts/bench --resume {where}")
            return 128 + stopped
        for text in self.trouble:
            say(f"trouble: {text}")
        if not same:
            say("FAILED: repeated runs differ by more than the limit")
        if summary["failed"]:
            say("FAILED: " + "; ".join(
                f"{name} ({', '.join(names)})"
                for name, names in summary["failed"].items()))
            say(f"next: read \"checks\" in {where}/"
                f"{next(iter(summary['failed']))}.json; raw files are in "
                f"{where}/raw/")
        if 77 in self.statuses:
            say("next: try another --kernel, or run this once with a network")
            return 77
        bad = [status for status in self.statuses if status]
        if bad:
            say(f"a virtual machine ended with status {bad[0]}; next: read "
                "its report above, and the console log if one is named there "
                f"(build/vm/); then: scripts/bench --resume {where}")
        complete = len(records) + len(self.left_out) >= len(self.runs)
        if not complete and not bad:
            say(f"some runs are missing: scripts/bench --resume {where}")
        return 0 if complete and same and not bad and not self.trouble and \
            not summary["failed"] else 1


def headline(record):
    """A run in a few words."""
    text = f"{record['total']['bandwidth_bytes_per_s'] / 1e6:.0f} MB/s"
    critical = [job for job in record["jobs"] if job["role"] == "latency"]
    tenants = record.get("tenants", critical)
    # A tenant may have many clients.
    for one in min(tenants, critical, key=len):
        name, value = suitedata.tail_of(one["latency_s"])
        if name:
            text += f", {claims.percentile_name(name)} {value * 1e6:.0f} us"
    share = record["cpu"]["busy_share"]
    for way, part in record.get("directions", {}).items():
        if part["latency_mean_s"] is not None and "trace" in record:
            text += f", {way}s {part['latency_mean_s'] * 1e6:.0f} us"
    if share is not None:
        text += f", CPU {share:.0%}"
    return text


def summarize(name, title, form, claims_, records, circumstances):
    """The content of summary.json."""
    cells = suitedata.cells(records)
    uses = {}
    for record in records:
        uses.setdefault(record["seed_use"], set()).add(record["seed"])
    return {
        "schema": 2, "kind": "suite", "suite": name, "title": title,
        "form": form, **circumstances,
        "clock": records[0]["clock"] if records else None,
        "runs_done": len(records),
        # More than one after --resume
        "commits": sorted({str(r["commit"]) for r in records
                           if r.get("commit")}),
        "passed": bool(records) and all(r["passed"] for r in records),
        "failed": {
            r["id"]: [key for key, check in r["checks"].items()
                      if not check["passed"]]
            for r in records if not r["passed"]},
        "seed_uses": {use: sorted(seeds) for use, seeds in uses.items()},
        "cells": cells,
        "cpu_too_busy": [cell["cell"] for cell in cells
                         if suitereport.too_busy(cell)],
        "claims": claims.evaluate(claims_, cells) if records else [],
        "repeats": suitereport.as_json(suitedata.repeats(records)),
        "unscaled": list(dict.fromkeys(
            text for r in records for text in r["unscaled"])),
        "runs": [{
            **{key: r[key] for key in ("id", "cell", "workload", "label",
                                       "variant", "seed", "passed")},
            "metrics": suitedata.metrics(r)} for r in records],
    }


# --- options -----------------------------------------------------------------

def _seeds(text):
    found = suiteplan.seeds(text)
    if not found:
        raise argparse.ArgumentTypeError(
            f"'{text}': want {suiteplan.SEEDS_WANTED}")
    return found


def _folder(text):
    path = pathlib.Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(
            f"'{text}': want a directory of results that exists")
    return path


def parser():
    """The options of scripts/bench, all but nvme's."""
    found = options.Parser(
        "bench", usage="scripts/bench [SUITE] [options]\n"
        "       scripts/bench nvme [options]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__.split("\n", 1)[1].strip("\n"),
        epilog="Status: 0 all checks passed; 1 one failed, a run could not be "
        "made, or results\ndiffer (--repeat, --compare); 2 bad options; 77 no "
        "such kernel to be had here; 130\ninterrupted. Results are described "
        "in docs/results-schema.md.")
    add = found.add_argument
    add("suite", nargs="?", metavar="SUITE",
        help=", ".join(suiteplan.names()))
    add("--list", action="store_true",
        help="show the suites, or a suite's cells, and run nothing")
    add("--form", metavar="FORM", help="short (default) or full, or what else "
        "the suite has")
    add("--seeds", type=_seeds, metavar="LIST", help="instead of the form's: "
        "1 to 5 are for tuning, 101 to 105 for reports")
    add("--only", action="append", metavar="PATTERN", help="only cells that "
        "fit, such as 'rand-read.k2-*.half' or k2-8; may be given again")
    add("--repeat", type=options.number(1, 100), metavar="N",
        help="each run N times with the same seed; says what they differ by")
    add("--vms", type=options.number(1, 16), metavar="N",
        help=f"virtual machines at once, 1 to 16 (default {MACHINES})")
    add("--kernel", type=options.series, metavar="SERIES",
        help=", ".join(kernel.SERIES) + f" (default {kernel.USUAL})")
    add("--out", type=options.new_folder, metavar="DIR",
        help="for the results (default build/results/DATE-TIME-SUITE-FORM)")
    add("--keep", action="store_true",
        help="keep raw files of all runs, not only of failed ones")
    add("--resume", type=_folder, metavar="DIR",
        help="make what is missing in DIR")
    add("--compare", type=_folder, nargs=2, metavar="DIR",
        help="what the same runs in two directories differ by")
    add("--find-scale", metavar="PROFILE",
        help="measure the time scale that a flashsim profile wants")
    add("--smoke", action="store_true",
        help="a short look at everything, 3 minutes")
    add("--device", metavar="DEV", help="on this machine and device, in real "
        "time, without a virtual machine; only with --read-only; needs root")
    add("--read-only", action="store_true",
        help="run only the read workloads")
    return found


# The other options that each kind of call accepts. None: the main job
OTHERS = ("form", "seeds", "only", "repeat", "vms", "kernel", "out", "keep")
TAKEN = {
    None: ("vms", "kernel", "keep"),
    "a suite": OTHERS,
    "a suite's --list": ("form", "seeds", "only", "repeat", "vms"),
    "--list": ("vms",),
    "--resume": ("vms", "keep"),
    "--compare": (),
    "--find-scale": ("kernel",),
    "--smoke": ("vms", "kernel", "keep"),
    "--device": ("form", "seeds", "only", "repeat", "out"),
}


def check_options(args, refuse):
    """Options that exclude each other."""
    given = [name for name, value in (
        ("--resume", args.resume), ("--compare", args.compare),
        ("--find-scale", args.find_scale), ("--smoke", args.smoke),
        ("--device", args.device), ("--list", args.list)) if value]
    if len(given) > 1:
        refuse(f"{' and '.join(given)} do not go together")
    if given and args.suite and given not in (["--device"], ["--list"]):
        refuse(f"'{args.suite}': {given[0]} takes no suite")
    if given == ["--device"] and not args.suite:
        refuse("--device: which suite? want one of "
               + ", ".join(suiteplan.names()))
    if args.device and not args.read_only:
        refuse(f"--device {args.device}: want --read-only with it: workloads "
               "that write would destroy what is on the device")
    if args.read_only and not args.device:
        refuse("--read-only: only with --device")
    if args.find_scale is not None and \
            not suiteplan.DEVICE["profile"].accepts(args.find_scale):
        refuse(f"argument --find-scale: '{args.find_scale}': want "
               f"{suiteplan.DEVICE['profile']}")
    way = given[0] if given else "a suite" if args.suite else None
    if args.list and args.suite:
        way = "a suite's --list"
    for name in OTHERS:
        if name in TAKEN[way] or getattr(args, name) in (None, False):
            continue
        refuse(f"--{name}: " + (
            "only with a suite, one of " + ", ".join(suiteplan.names())
            if way in (None, "--list") else
            f"{way} takes that from the directory"
            if way == "--resume" else f"does nothing with {way}"))


def parse(argv):
    """The options, checked."""
    found = parser()
    args = found.parse_args(argv)
    check_options(args, found.error)
    return args


def defaults(args):
    """Options that were not given."""
    args.form = args.form or "short"
    args.kernel = args.kernel or kernel.USUAL
    args.only = args.only or []
    args.repeat = args.repeat or 1
    args.vms = args.vms or MACHINES
    return args


# --- commands ----------------------------------------------------------------

def results_folder(name):
    """A directory for new results."""
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    return REPO / "build" / "results" / f"{stamp}-{name}"


@contextlib.contextmanager
def signals():
    """Signals become options.Interrupted here."""
    old = options.catch_signals()
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def carry_out(session):
    """Runs a session; the exit status."""
    stopped = 0
    with signals():
        try:
            session.announce()
            session.save_plan()
            with session.progress:
                session.measure()
        except options.Interrupted as stop:
            stopped = stop.number
            options.ignore_signals()
        except OSError as error:
            print(f"bench: {error}; next: is there room on the disk, may "
                  "this user write here?", file=sys.stderr)
            return 1
        finally:
            session.stop()
        return session.conclude(stopped)


def run_suite(args):
    """scripts/bench SUITE."""
    defaults(args)
    suite = suiteplan.load(args.suite)
    runs = suiteplan.runs(suite, args.form, args.seeds, args.only,
                          args.repeat)
    runs, absent = suiteshare.present(runs, suite.optional, REPO)
    lacking = suitetrace.missing(runs) or suitedb.missing(runs)
    if lacking:
        raise suiteplan.Bad(lacking)
    if args.device:
        import suitehost  # pylint: disable=import-outside-toplevel
        return suitehost.main(suite, args, runs)
    out = args.out or results_folder(f"{suite.name}-{args.form}")
    return carry_out(Session(suite, args, out, runs, absent=absent))


def resume(args):
    """scripts/bench --resume DIR."""
    out = args.resume
    try:
        plan = json.loads((out / "plan").read_text(encoding="utf-8"))
        runs, name = plan["runs"], plan["suite"]
    except (OSError, ValueError, KeyError, TypeError):
        print(f"bench: {out}: no plan of a suite in there", file=sys.stderr)
        return 2
    for key in ("form", "kernel", "seeds", "only", "repeat"):
        setattr(args, key, plan[key])
    args.vms = args.vms or plan["vms"]
    if plan["commit"] != options.commit():
        print(f"bench: {out} was begun at commit {plan['commit']}, this is "
              f"{options.commit()}: its runs may not be comparable")
    return carry_out(Session(suiteplan.load(name), args, out, runs,
                             load_records(out), plan.get("absent", ())))


def compare(args):
    """scripts/bench --compare DIR1 DIR2."""
    first, second = (load_records(folder) for folder in args.compare)
    for folder, records in zip(args.compare, (first, second)):
        if not records:
            print(f"bench: {folder}: no results of a suite in there",
                  file=sys.stderr)
            return 2
    found = suitedata.compare(first, second)
    if not found:
        print("bench: no run that both directories have", file=sys.stderr)
        return 2
    good = suitereport.differences(
        suitereport.Log(0).console, found,
        f"{args.compare[0]} and {args.compare[1]}")
    print("bench: " + ("within" if good else "FAILED: beyond")
          + f" {suitedata.REPEAT_LIMIT:.1%}")
    return 0 if good else 1


def show(args):
    """scripts/bench [SUITE] --list."""
    defaults(args)
    if not args.suite:
        for name in suiteplan.names():
            suite = suiteplan.load(name)
            print(f"{name}: {suite.title}")
            for form in suite.forms:
                runs, _ = suiteshare.present(
                    suiteplan.runs(suite, form), suite.optional, REPO)
                print(f"  {form}: {len(runs)} runs, about "
                      + options.minutes(total_seconds(
                          runs, Speeds(), args.vms)))
        return 0
    suite = suiteplan.load(args.suite)
    speeds = Speeds()
    runs = suiteplan.runs(suite, args.form, args.seeds, args.only,
                          args.repeat)
    runs, absent = suiteshare.present(runs, suite.optional, REPO)
    cells = {}
    for run in runs:
        cells.setdefault(run["cell"], []).append(run)
    for cell, group in cells.items():
        seconds = sum(map(speeds.seconds, group))
        print(f"{cell}  {len(group)} x, {seconds:.0f} s")
    for text in absent:
        print(text)
    print(f"{len(cells)} cells, {len(runs)} runs, about "
          + options.minutes(total_seconds(runs, speeds, args.vms)))
    return 0


def main_job(args):
    """scripts/bench: both parts, the estimate of both first."""
    nvme = bench.parse([*MAIN_NVME, "--kernel", args.kernel or kernel.USUAL])
    suite = suiteplan.load(MAIN_SUITE)
    runs = suiteplan.runs(suite, "short")
    first = bench.estimate(nvme)
    second = total_seconds(runs, Speeds(), args.vms or MACHINES)
    print(f"bench: two parts: correctness on an emulated NVMe device, about "
          f"{options.minutes(first)}; suite {MAIN_SUITE}, short form, "
          f"in virtual time, about {options.minutes(second)}; together "
          f"{options.minutes(first + second)}", flush=True)
    status = bench.main([*MAIN_NVME, "--kernel", args.kernel or kernel.USUAL])
    if status in (2, 77, 129, 130, 143):
        return status
    args.suite, args.form = MAIN_SUITE, "short"
    return max(status, run_suite(args))


def smoke(args):
    """scripts/bench --smoke."""
    status = bench.main(["--smoke", "--kernel", args.kernel or kernel.USUAL])
    if status in (2, 77, 129, 130, 143):
        return status
    args.suite, args.form = SMOKE_SUITE, "short"
    return max(status, run_suite(args))


def checked(args):
    """Is there such a suite, form, and cell? suiteplan.Bad if not."""
    if args.suite:
        suiteplan.runs(suiteplan.load(args.suite), args.form or "short",
                       args.seeds, args.only or [], args.repeat or 1)


def main(argv=None):
    """Command line of scripts/bench."""
    # A caller from Python has installed the packages.
    install = argv is None
    argv = sys.argv[1:] if argv is None else argv
    if argv[:1] == ["nvme"]:
        bench.parse(argv[1:])
        if install:
            options.need("build", "vm", "bench")
        return bench.main(argv[1:])
    args = parse(argv)
    try:
        checked(args)
        if install:
            options.need(*(("bench",) if args.list or args.compare else
                           ("build", "vm", "bench")))
        if args.list:
            return show(args)
        if args.resume:
            return resume(args)
        if args.compare:
            return compare(args)
        if args.find_scale is not None:
            import suitescale  # pylint: disable=import-outside-toplevel
            return suitescale.main(defaults(args))
        if args.smoke:
            return smoke(args)
        if args.suite:
            return run_suite(args)
        return main_job(args)
    except suiteplan.Bad as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return options.reader_gone()


if __name__ == "__main__":
    # Under the name that others import it by: one module, not two alike.
    import suite  # pylint: disable=import-self
    sys.exit(suite.main())
