# SPDX-License-Identifier: GPL-2.0
"""scripts/bench nvme: schedulers on an emulated NVMe device.

Each workload runs under each scheduler, k2 with each bound, all in one boot.
What is exact (counts, orders, nothing lost) is checked and decides the exit
status. Times are printed too, but on an emulated machine they compare nothing.
"""

import datetime
import gzip
import json
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

import benchdata
import kernel
import options

benchreport = options.later("benchreport")
REPO = pathlib.Path(__file__).resolve().parents[2]

WORKLOADS = ("seq-read", "rand-read", "seq-write", "rand-write")
SCHEDULERS = ("none", "mq-deadline", "kyber", "bfq", "k2")
# The paper's sweep.
BOUNDS = (1, 2, 4, 8, 16, 32, 64)
SMOKE_SCHEDULERS = ("none", "mq-deadline", "k2")
SMOKE_BOUNDS = (1, 8, 64)

# A run ends with its N-th real-time request, not after a time: then what was
# asked for is a number that can be checked, each run has the same number of
# samples, and the load lasts exactly as long as the real-time job does.
REQUESTS, SMOKE_REQUESTS = 300, 60
# Far beyond what that takes, even on a busy host. Guest seconds.
RUNTIME = 60
THINKTIME_US = 2000

CPUS = QUEUES = 2
DISK = "1G"
# Measured on two cores under TCG: build and boot; a run; a request of it.
SECONDS_BOOT, SECONDS_RUN, SECONDS_REQUEST = 20, 2.0, 0.008
MB_RUN = 0.05

RAW_FILES = ("fio", "trace", "samples", "dmesg", "inflight", "stat-before",
             "stat-after", "stats-before", "stats-after", "tunables",
             "status")


# --- options --------------------------------------------------------------

def parse(argv):
    """The options."""
    parser = options.Parser(
        "bench", usage="scripts/bench nvme [options]",
        description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 all checks passed; 1 one failed, or a run could not "
        "be made; 2 bad options; 77 no such kernel to be had here; 130 "
        "interrupted. The files are described in docs/results-schema.md.")
    add = parser.add_argument
    options.add_kernel(add)
    add("--smoke", action="store_true",
        help="a short look: fewer schedulers, bounds and requests")
    add("--schedulers", type=options.words(SCHEDULERS), metavar="LIST",
        help="default " + ",".join(SCHEDULERS))
    add("--bounds", type=options.numbers(1, 65535, "1,8,64"), metavar="LIST",
        help="of k2, 1 to 65535; default " + ",".join(map(str, BOUNDS)))
    add("--workloads", type=options.words(WORKLOADS), default=WORKLOADS,
        metavar="LIST", help="default " + ",".join(WORKLOADS))
    add("--requests", type=options.number(10, 10000000), metavar="N",
        help="real-time requests a run, 10 to 10000000 (default "
        f"{REQUESTS}); p99 needs 5000, p99.9 50000")
    add("--seed", type=options.number(0, 2**32 - 1), default=1, metavar="N",
        help="of the offsets, 0 to 4294967295 (default 1)")
    add("--out", type=options.new_folder, metavar="DIR",
        help="for the results (default build/results/DATE-TIME-nvme)")
    add("--keep", action="store_true",
        help="keep raw files and traces of all runs, not only of failed ones")
    args = parser.parse_args(argv)
    args.given = list(argv)
    args.schedulers = args.schedulers or \
        (SMOKE_SCHEDULERS if args.smoke else SCHEDULERS)
    if args.bounds and "k2" not in args.schedulers:
        parser.error("argument --bounds: only k2 has them, and it is not "
                     "among --schedulers")
    args.bounds = args.bounds or (SMOKE_BOUNDS if args.smoke else BOUNDS)
    args.requests = args.requests or \
        (SMOKE_REQUESTS if args.smoke else REQUESTS)
    return args


def plan(args):
    """The runs, as dicts: id, workload, scheduler, bound (None but for k2)."""
    runs = []
    for workload in args.workloads:
        for scheduler in args.schedulers:
            for bound in args.bounds if scheduler == "k2" else (None,):
                label = f"k2-{bound}" if bound else scheduler
                runs.append({"id": f"{workload}.{label}", "label": label,
                             "workload": workload, "scheduler": scheduler,
                             "bound": bound})
    return runs


def estimate(args):
    """Seconds that it will take."""
    return SECONDS_BOOT + len(plan(args)) * (
        SECONDS_RUN + SECONDS_REQUEST * args.requests)


# --- the bench --------------------------------------------------------------

class Bench:
    """One invocation."""

    def __init__(self, args):
        self.args = args
        self.runs = plan(args)
        stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
        self.out = args.out or \
            REPO / "build" / "results" / f"{stamp}-nvme"
        self.raw = self.out / "raw"
        self.records = []
        self.machine = {}
        self.accelerator = ""
        self.trouble = []
        self.under_way = ""
        self.commit = options.commit()
        self.qemu = options.output_of("qemu-system-x86_64", "--version").split("\n")[0]
        self.started = time.monotonic()
        self.began = datetime.datetime.now(datetime.timezone.utc)
        self.vm = None
        self.progress = benchreport.progress(len(self.runs))

    def environment(self):
        """The variables of the environment that job files use."""
        return {"RUNTIME": RUNTIME, "RT_IOS": self.args.requests,
                "THINKTIME_US": THINKTIME_US, "SEED": self.args.seed}

    def command(self):
        """scripts/vm with everything."""
        args = self.args
        # QEMU takes two commas for one.
        raw = str(self.raw.absolute()).replace(",", ",,")
        limit = 300 + len(self.runs) * (RUNTIME + 40)
        return [
            str(REPO / "scripts" / "vm"), "--kernel", args.kernel,
            "--cpus", str(CPUS), "--nvme-queues", str(QUEUES),
            "--disk", DISK, "--timeout", str(min(limit, 86400)),
            # vm's --out is copied at the end only; an interrupted bench shall
            # keep what is finished.
            "--qemu", "-virtfs " + shlex.quote(
                f"local,path={raw},mount_tag=bench,security_model=none"),
            "--", "bash /tests/vm/lib/bench-guest.sh"]

    def announce(self):
        """Says what will be done and what that costs."""
        args, count = self.args, len(self.runs)
        labels = [run["label"] for run in self.runs
                  if run["workload"] == args.workloads[0]]
        seconds = estimate(args)
        say = self.progress.say
        say(f"{count} runs: {', '.join(args.workloads)}")
        say(f"  under {', '.join(labels)}")
        say(f"  each until its {args.requests}th real-time request, seed "
            f"{args.seed}, in one boot of kernel {args.kernel} with {CPUS} "
            f"CPUs, /dev/nvme0n1 with {QUEUES} hardware queues")
        say(f"about {options.minutes(seconds)} on two idle cores; disk: {DISK}B at "
            f"most while it runs, {max(1, count * MB_RUN):.0f} MB to stay in "
            f"{options.shown(self.out)}")
        if not kernel.Store().cached(args.kernel):
            say(f"the first time with kernel {args.kernel}: fetching it takes "
                "a minute or two and 1 GB more")

    def prepare(self):
        """Writes what the guest reads."""
        self.raw.mkdir(parents=True)
        (self.raw / "plan").write_text("".join(
            f"{run['id']} {run['workload']} {run['scheduler']} "
            f"{run['bound'] or '-'}\n" for run in self.runs))
        (self.raw / "env").write_text("".join(
            f"{key}={value}\n" for key, value in self.environment().items()))

    def line(self, text):
        """A line that the virtual machine printed."""
        if not text.startswith("bench: "):
            match = re.match(r"vm: \S+, (TCG|KVM), ", text)
            if match:
                self.accelerator = match[1]
            if text.startswith(("vm: gave up", "vm: the kernel reported")):
                self.trouble.append(text)
            self.progress.say(text, plain=True)
            return
        word, _, rest = text[len("bench: "):].partition(" ")
        if word == "ready":
            self.machine = dict(
                line.split(" ", 1) for line in
                (self.raw / "machine").read_text().splitlines())
        elif word == "begin":
            self.under_way = rest
            self.progress.begin(rest)
        elif word == "done":
            self.finish(rest)
            self.under_way = ""
        elif word == "unavailable":
            self.unavailable(rest)
            self.under_way = ""
        elif word == "note":
            self.progress.say(rest)
        elif word == "trouble":
            self.trouble.append(rest)
            self.progress.say(rest)

    def _run(self, name):
        return next(run for run in self.runs if run["id"] == name)

    def unavailable(self, name):
        """A scheduler that the guest could not select."""
        run = self._run(name)
        if run["scheduler"] == "k2":
            self.trouble.append(f"{name}: k2 cannot be selected, see the "
                                "kernel's log in raw/" + name + "/dmesg")
        self.runs = [other for other in self.runs if other is not run]
        self.progress.left_out(f"{name}: this kernel has no such scheduler, "
                               "or it refused; left out")

    def finish(self, name):
        """Judges a run and writes its file."""
        run = self._run(name)
        folder = self.raw / name
        raw = {}
        for file in RAW_FILES:
            path = folder / file
            if path.exists():
                raw[file] = path.read_text(errors="replace")
        try:
            result = benchdata.evaluate(
                raw, run["bound"], self.args.requests, self.machine)
        except (ValueError, KeyError, IndexError) as error:
            self.trouble.append(f"{name}: raw files not understood: {error!r}")
            self.progress.done(name, False, "not understood")
            return
        record = {
            "schema": 1,
            **{key: run[key] for key in
               ("id", "workload", "scheduler", "bound")},
            "time": datetime.datetime.now(
                datetime.timezone.utc).isoformat(timespec="seconds"),
            **self.circumstances(),
            "fio_command": "fio --output-format=json tests/fio/"
            f"k2-{run['workload']}.fio",
            "fio_environment": {"DEV": "/dev/nvme0n1", **self.environment()},
            **result,
        }
        try:
            record["fio"] = json.loads(raw["fio"][raw["fio"].index("{"):])
        except (KeyError, ValueError):
            record["fio"] = None
        options.write_json(self.out / f"{name}.json", record)
        record["label"] = run["label"]
        self.records.append(record)
        failed = [key for key, check in result["checks"].items()
                  if not check["passed"]]
        if failed or self.args.keep:
            self.evidence(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
        self.progress.done(name, not failed, "checks passed" if not failed
                           else "FAILED: " + ", ".join(failed))

    @staticmethod
    def evidence(folder):
        """Keeps a failed run's raw files, the trace packed."""
        trace = folder / "trace"
        if trace.exists():
            with gzip.open(folder / "trace.gz", "wb", 6) as packed:
                packed.write(trace.read_bytes())
            trace.unlink()

    def circumstances(self):
        """The fields that all files of this invocation have in common."""
        machine = self.machine
        return {
            "commit": self.commit,
            "kernel": machine.get("release", ""),
            "kernel_version": machine.get("version", ""),
            "fio_version": machine.get("fio", ""),
            "device": {
                "model": machine.get("model", "").strip(),
                "bytes": int(machine.get("bytes", 0)),
                "hw_queues": int(machine.get("hw_queues", 0)),
            },
            "emulator": {"qemu": self.qemu, "accelerator": self.accelerator,
                         "cpus": int(machine.get("cpus", 0))},
            "seed": self.args.seed,
            "requests": self.args.requests,
            "bench_command": shlex.join(
                ["scripts/bench", "nvme", *self.args.given]),
            "vm_command": shlex.join(
                ["scripts/vm", *self.command()[1:]]).replace(
                    str(self.raw.absolute()), options.shown(self.raw)),
        }

    def measure(self):
        """Boots and follows the guest; the status of scripts/vm."""
        # A separate session: this process receives Ctrl-C and ends it.
        self.vm = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True)
        for line in self.vm.stdout:
            self.line(line.decode(errors="replace").rstrip("\r\n"))
        return self.vm.wait()

    def stop_vm(self):
        """Ends scripts/vm, and with it the guest."""
        options.end(self.vm)

    def conclude(self, vm_status, stopped):
        """Table, summary, plot; the exit status."""
        say = self.progress.say
        records = self.records
        if self.under_way and not stopped:
            self.trouble.append(
                f"{self.under_way} was under way when the machine ended; what "
                f"there is of it is in {options.shown(self.raw / self.under_way)}")
        summary = benchreport.summary(
            records, self.circumstances() | {
                "began": self.began.isoformat(timespec="seconds"),
                "seconds": round(time.monotonic() - self.started, 1),
                "runs_planned": len(self.runs),
                "interrupted": bool(stopped),
                "trouble": self.trouble, "vm_status": vm_status})
        (self.out / "summary.json").write_text(
            json.dumps(summary, indent=1) + "\n")
        failed = summary["failed"]
        if records:
            benchreport.table(self.progress.console, records, summary)
            try:
                benchreport.plot(self.out / "plot.png", records, summary)
            except (OSError, ValueError, RuntimeError) as error:
                self.trouble.append(f"no plot: {error}")
        for name in ("plan", "env", "machine"):
            (self.raw / name).unlink(missing_ok=True)
        for path in self.raw.iterdir():
            # A run that a signal interrupted is no result.
            if stopped and not (path / "status").exists():
                shutil.rmtree(path, ignore_errors=True)
        if not any(self.raw.iterdir()):
            self.raw.rmdir()

        where = options.shown(self.out)
        say(f"{len(records)} of {len(self.runs)} runs in "
            f"{options.minutes(time.monotonic() - self.started)}; results: {where}/"
            "*.json, summary.json" + (", plot.png" if records else ""))
        if stopped:
            say("interrupted: finished runs are kept, the rest was not made")
            return 130 if stopped == signal.SIGINT else 128 + stopped
        if failed:
            say("FAILED: " + "; ".join(
                f"{name} ({', '.join(names)})"
                for name, names in failed.items()))
            first = next(r for r in records if not r["passed"])
            again = f"--workloads {first['workload']} --schedulers " \
                f"{first['scheduler']}" + (
                    f" --bounds {first['bound']}" if first["bound"] else "")
            say(f"next: read \"checks\" in {where}/{first['id']}.json; raw "
                f"files and traces of failed runs are in {where}/raw/; once "
                f"more, alone: scripts/bench nvme --kernel "
                f"{self.args.kernel} "
                f"{again} --requests {self.args.requests}")
        for text in self.trouble:
            say(f"trouble: {text}")
        if vm_status == 77:
            say("next: try another --kernel, or run this once with a network")
            return 77
        if vm_status:
            say(f"the virtual machine ended with status {vm_status}; next: "
                "read its report above, and the console log if one is named "
                "there (build/vm/)")
        elif not records:
            say("nothing was measured; next: scripts/vm --verbose -- true")
        complete = len(records) == len(self.runs) and records
        return 0 if complete and not failed and not self.trouble and \
            not vm_status else 1


def main(argv=None):
    """Command line of scripts/bench nvme."""
    args = parse(sys.argv[1:] if argv is None else argv)
    bench = Bench(args)
    options.catch_signals()
    stopped, status = 0, None
    try:
        bench.announce()
        bench.prepare()
        with bench.progress:
            status = bench.measure()
    except options.Interrupted as stop:
        stopped = stop.number
        options.ignore_signals()
    except OSError as error:
        print(f"bench: {error}; next: is there room on the disk, may this "
              "user write here?", file=sys.stderr)
        return 1
    finally:
        bench.stop_vm()
    if not bench.raw.is_dir():
        return 128 + stopped
    return bench.conclude(status, stopped)


if __name__ == "__main__":
    sys.exit(main())
