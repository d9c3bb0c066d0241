# SPDX-License-Identifier: GPL-2.0
"""scripts/bench --device DEV --read-only SUITE: on this machine, real time.

No virtual machine, no simulated device, and nothing is written: only those
workloads of the suite run that read. Scheduler and tunables of the device are
put back, however it ends.
"""

import contextlib
import datetime
import os
import pathlib
import platform
import re
import shlex
import stat
import subprocess
import sys
import tempfile
import time

import options
import suite as engine
import suitedata
import suiteplan
import suitereport
import suitetime


class Refused(Exception):
    """This device, or this machine, cannot be used; one line."""


class Device:
    """A block device with its queue."""

    def __init__(self, path, sysfs="/sys", mounts="/proc/self/mountinfo"):
        self.path = os.path.realpath(path)
        self.mounts = mounts
        try:
            mode = os.stat(self.path)
        except OSError as error:
            raise Refused(f"--device {path}: {error.strerror}") from None
        if not stat.S_ISBLK(mode.st_mode):
            raise Refused(f"--device {path}: want a block device")
        number = f"{os.major(mode.st_rdev)}:{os.minor(mode.st_rdev)}"
        self._find(pathlib.Path(sysfs) / "dev" / "block" / number)

    def _find(self, link):
        """Finds the queue: a partition uses its disk's."""
        folder = pathlib.Path(os.path.realpath(link))
        self.disk = folder.parent if (folder / "partition").exists() \
            else folder
        self.queue = self.disk / "queue"
        if not (self.queue / "scheduler").exists():
            raise Refused(f"--device {self.path}: has no queue/scheduler; "
                          "want a disk")

    def read(self, name):
        """A file of the queue, "" if there is none."""
        try:
            return (self.queue / name).read_text().strip()
        except OSError:
            return ""

    def write(self, name, value):
        """Writes one."""
        (self.queue / name).write_text(str(value))

    def scheduler(self):
        """The scheduler in use."""
        match = re.search(r"\[(\S+)\]", self.read("scheduler"))
        return match[1] if match else "none"

    def users(self):
        """Where the disk or a part of it is mounted or otherwise in use."""
        numbers = {(self.disk / "dev").read_text().strip(): self.disk.name}
        for part in self.disk.iterdir():
            if (part / "partition").exists():
                numbers[(part / "dev").read_text().strip()] = part.name
        found = []
        for line in pathlib.Path(self.mounts).read_text().splitlines():
            words = line.split()
            if len(words) > 4 and words[2] in numbers:
                found.append(f"{numbers[words[2]]} at {words[4]}")
        for name in numbers.values():
            holders = (self.disk / "holders" if name == self.disk.name
                       else self.disk / name / "holders")
            if holders.is_dir():
                found += [f"{name} by {holder.name}"
                          for holder in holders.iterdir()]
        return found

    @contextlib.contextmanager
    def kept(self):
        """Restores the queue at the end, whatever happens inside."""
        scheduler = self.scheduler()
        before = {}
        for name in ("nr_requests", "read_ahead_kb", "wbt_lat_usec"):
            if self.read(name):
                before[name] = self.read(name)
        folder = self.queue / "iosched"
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if os.stat(path).st_mode & stat.S_IWUSR:
                    before[f"iosched/{path.name}"] = self.read(
                        f"iosched/{path.name}")
        try:
            yield
        finally:
            options.ignore_signals()
            failed = []
            # The scheduler first: its tunables exist only while it is selected.
            for name, value in (("scheduler", scheduler), *before.items()):
                try:
                    now = self.scheduler() if name == "scheduler" \
                        else self.read(name)
                    if now != value:
                        self.write(name, value)
                except OSError as error:
                    failed.append(f"{name} = {value} ({error.strerror})")
            if failed:
                print(f"bench: could not put back below {self.queue}: "
                      + ", ".join(failed), file=sys.stderr)

    def apply(self, lines):
        """The setup of a run; [(file, value)] of what settings() reads."""
        wanted = []
        for line in lines:
            verb, name, value = line.split(" ", 2)
            name = name.split("/", 1)[1]
            if verb == "off":
                if self.read(name):
                    with contextlib.suppress(OSError):
                        self.write(name, value)
                continue
            if verb == "select":
                with contextlib.suppress(OSError):
                    self.write(name, value)
                if self.scheduler() != value:
                    raise Refused(f"this kernel has no {value}, or refused "
                                  "it; for ours: make, sudo make install")
                continue
            self.write(name, value)
            wanted.append((name, value))
        return wanted

    def settings(self, wanted):
        """Its present values in sysfs; lines "name wanted got", with tabs."""
        return "".join(f"{name.rsplit('/', 1)[-1]}\t{value}\t"
                       f"{self.read(name)}\n" for name, value in wanted)


def convert(runs):
    """(runs for a real device, why others are left out).

    No variants, no time scale, nothing that writes or is not of the queue.
    """
    found, left = {}, {}
    for run in runs:
        what = f"{run['workload']}.{run['label']}"
        if not all(re.fullmatch(r"(rand)?read", op)
                   for op in run["operations"]):
            left[run["workload"]] = "it writes"
        elif run.get("fs"):
            left[run["workload"]] = "it makes a file system"
        elif "queue_depth" in run["tunables"]:
            left[what] = "a device's queue depth cannot be set"
        elif run["tunables"].get("layout", "none") != "none":
            left[what] = "its map of the chips is flashsim's"
        elif run.get("calibrate"):
            left[what] = "its measure of the device is made in the lab alone"
        elif run["iocost"] or run.get("tenants"):
            left[what] = "it would change this machine's control groups"
        elif not run["cell"].endswith(".x1"):
            scheduler = suiteplan.Scheduler(run["scheduler"], run["label"],
                                            run["tunables"])
            name = f"{what}.s{run['seed']}" + (
                f".r{run['repeat']}" if run["repeat"] > 1 else "")
            found.setdefault(name, {
                **run, "id": name, "cell": what, "variant": "real",
                "profile": "real", "time_scale": 1, "unscaled": [],
                "params": {}, "region_pct": 100, "warmup": 0,
                "env": run["env_device"],
                "setup": suiteplan.setup(scheduler, 1)})
    return list(found.values()), [f"{key}: {why}"
                                  for key, why in left.items()]


def cpu():
    """The input of suitedata.cpu(): uptime, ticks idled."""
    with open("/proc/uptime", encoding="ascii") as file:
        up = file.read().split()[0]
    with open("/proc/stat", encoding="ascii") as file:
        words = file.readline().split()
    return f"{up} {int(words[4]) + int(words[5])}"


def run_fio(device, run, folder):
    """One run; its raw files."""
    raw, wanted = {}, device.apply(run["setup"])
    raw["tunables"] = "\n".join(
        f"{path.name} {device.read('iosched/' + path.name)}"
        for path in sorted((device.queue / "iosched").glob("*"))
        if path.name not in ("stats", "inflight"))
    job = folder / "job.fio"
    job.write_text(re.sub(
        r"\$\{PCT_(\d+)\}", r"\1%", run["job_text"]).replace(
            suiteplan.GUEST_OUT, str(folder)))
    raw["settings"] = device.settings(wanted)
    begin = cpu()
    # --readonly: fio itself refuses a job that would write.
    done = subprocess.run(
        ["fio", "--readonly", "--output-format=json",
         f"--output={folder / 'fio'}", job],
        env={**os.environ, **run["env"], "SEED": str(run["seed"]),
             "DEV": device.path}, check=False, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    raw["settings"] += device.settings(wanted)
    raw.update(cpu=f"{begin}\n{cpu()}\n", status=str(done.returncode),
               said=done.stdout)
    for path in folder.iterdir():
        if path.name != "job.fio":
            raw[path.name] = path.read_text(errors="replace")
            path.unlink()
    return raw


def record(run, result, device, facts):
    """A run's file."""
    return {
        "schema": 2, "kind": "suite",
        **{key: run[key] for key in
           ("suite", "form", "id", "cell", "workload", "scheduler", "label",
            "tunables", "profile", "variant", "iocost")},
        "device": {"path": device.path,
                   "model": " ".join(_file(device.disk / "device" / "model")
                                     .split()),
                   "bytes": int(_file(device.disk / "size") or 0) * 512},
        "region_pct": 100, "order": "real", "alloc": "real", "map": "none",
        **{key: run[key] for key in ("seed", "seed_use", "repeat",
                                     "time_scale", "unscaled")},
        "clock": "real", "time": _now(), **facts,
        "fio_environment": {**run["env"], "SEED": run["seed"],
                            "DEV": device.path},
        "fio_command": "fio --readonly --output-format=json "
                       f"tests/fio/{run['job']}.fio", **result}


def _file(path):
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(
        timespec="seconds")


def main(suite, args, planned):
    """Runs a suite on a device; the exit status."""
    try:
        if os.geteuid():
            raise Refused("--device: choosing a scheduler needs root; try "
                          "sudo")
        device = Device(args.device)
        runs, left_out = convert(planned)
        if not runs:
            raise Refused(f"suite {suite.name} has no workload that only "
                          "reads and fits a real device")
    except Refused as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    out = args.out or engine.results_folder(f"{suite.name}-real")
    progress = suitereport.progress(len(runs))
    say = progress.say
    speeds = {run["id"]: 1 + suitetime.units(run) * 0.004 for run in runs}
    say(f"suite {suite.name} on {device.path}, THIS MACHINE, IN REAL TIME: "
        "other load shows in the figures, and load on the device shows in "
        "them most")
    say(f"  {len(runs)} runs, about "
        f"{options.minutes(sum(speeds.values()))}; reads only; "
        f"scheduler now {device.scheduler()}, to be put back")
    users = device.users()
    if users:
        say("  in use: " + ", ".join(users) + "; nothing is written to it")
    for text in left_out:
        say(f"  left out: {text}")
    out.mkdir(parents=True, exist_ok=True)
    facts = {"commit": options.commit(), "kernel": platform.release(),
             "kernel_version": platform.version(),
             "fio_version": options.output_of("fio", "--version"),
             "emulator": None,
             "bench_command": shlex.join(["scripts/bench", *sys.argv[1:]]),
             "vm_command": None}
    records, trouble, stopped = [], [], 0
    progress.clock.plan(speeds, 1)
    begun = time.monotonic()
    with engine.signals(), tempfile.TemporaryDirectory() as scratch:
        try:
            with device.kept(), progress:
                for run in runs:
                    _one(device, run, pathlib.Path(scratch), out, facts,
                         (records, trouble, left_out), progress)
        except options.Interrupted as stop:
            stopped = stop.number
    summary = engine.summarize(
        # Claims are about the variants of a simulated device.
        suite.name, suite.title, args.form, "", records, {
            **facts, "seconds": round(time.monotonic() - begun, 1),
            "runs_planned": len(runs), "interrupted": bool(stopped),
            "trouble": trouble, "left_out": left_out})
    options.write_json(out / "summary.json", summary)
    suitereport.results(progress.console, summary)
    for text in trouble:
        say(f"trouble: {text}")
    say(f"{len(records)} of {len(runs)} runs; results: {options.shown(out)}/")
    if stopped:
        return 128 + stopped
    return 0 if summary["passed"] and not trouble else 1


def _one(device, run, scratch, out, facts, lists, progress):
    """One run, from its setup to its file."""
    records, trouble, left_out = lists
    progress.begin(0, run["id"])
    try:
        raw = run_fio(device, run, scratch)
        result = suitedata.evaluate(raw, run, {"cpus": os.cpu_count()})
    except (Refused, OSError) as error:
        left_out.append(f"{run['id']}: {error}")
        progress.left_out(0, run["id"], str(error))
        return
    except (ValueError, KeyError) as error:
        said = " ".join(raw["said"].split())[:300]
        trouble.append(f"{run['id']}: {error!r}; fio said: {said}")
        progress.done(0, run["id"], False, "fio's output not understood")
        return
    made = record(run, result, device, facts)
    options.write_json(out / f"{run['id']}.json", made)
    records.append(made)
    progress.done(0, run["id"], made["passed"], engine.headline(made))
