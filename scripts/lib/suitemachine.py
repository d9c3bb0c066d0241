# SPDX-License-Identifier: GPL-2.0
"""Virtual machines of a suite: the plan as input, results over the console."""

import base64
import gzip
import io
import os
import pathlib
import shlex
import subprocess
import tarfile
import threading
import zlib

import suitedb
import suitefs
import suiteplan
import suitetarget
import suitetrace

REPO = pathlib.Path(__file__).resolve().parents[2]

DATA = "="


# --- a machine ---------------------------------------------------------------

def run_files(run):
    """{name: text} of a run, for the guest."""
    limit = int(run["env"].get("RUNTIME") or 600) * 2 + 120
    if run.get("postmark"):
        limit = 600 * run["time_scale"] * 2 + 120
    if "TRACE" in run["env"]:
        # The guest's seconds: as long as the trace, and it must be so.
        limit = suitetrace.LIMIT_S * run["time_scale"]
    env = {**run["env"], "SEED": run["seed"], "LIMIT": limit,
           "REGION": run["region_pct"]}
    if "TRACE" in run["env"]:
        env["TRACE_LOG"] = suiteplan.GUEST_LOG
    if run["warmup"]:
        env["WARMUP"] = run["warmup"]
    env.update(suitetarget.guest_env(run))
    params = {**run["params"], "seed": run["seed"]}
    files = {
        "params": " ".join(f"{k}={v}" for k, v in params.items()) + "\n",
        "setup": "".join(line + "\n" for line in run["setup"]),
        "env": "".join(f"{k}={shlex.quote(str(v))}\n"
                       for k, v in env.items()),
        **({} if run.get("postmark") or run.get("database") else
           {"job.fio": run["job_text"]}),
        **suitefs.run_files(run), **suitedb.run_files(run),
    }
    if run.get("groups"):
        files["groups"] = "".join(f"{line}\n" for line in run["groups"])
    if run["iocost"]:
        files["iocost"] = "".join(f"{line}\n" for line in run["iocost"])
    return files


def slots(runs):
    """{name in the guest: id}: a repetition is to look the same in there."""
    return {f"r{n:02d}": run["id"] for n, run in enumerate(runs)}


def pack(runs):
    """The guest's plan as text: the same runs are the same text."""
    names = slots(runs)
    files = {"plan": "".join(f"{name}\n" for name in names)}
    for slot, run in zip(names, runs):
        for name, text in run_files(run).items():
            files[f"{slot}/{name}"] = text
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return base64.encodebytes(gzip.compress(packed.getvalue(),
                                            mtime=0)).decode()


def unpack(text):
    """{name: text} of what the guest has packed; ValueError if damaged."""
    try:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(
                base64.b64decode(text)))) as archive:
            return {os.path.basename(entry.name):
                    archive.extractfile(entry).read().decode(
                        errors="replace")
                    for entry in archive if entry.isfile()}
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise ValueError(f"damaged on its way: {error}") from None


class Machine:
    """A place for virtual machines, one after the other; one a batch."""

    def __init__(self, number, events, series, traces=None):
        self.number = number
        # A suitetrace.Store, for workloads that replay one
        self.traces = traces
        self.files = None
        self.trace = {}
        self.events = events
        self.series = series
        self.process = None
        self.runs, self.names = [], {}
        self.under_way = ""
        self.made = 0
        self.data = []
        self.facts = {}
        self.accelerator = ""

    def command(self, limit):
        """scripts/vm with everything.

        The plan and the results are transferred over the console: a file system
        of the host would answer in the host's time.
        """
        return [
            str(REPO / "scripts" / "vm"), "--kernel", self.series,
            "--virtual-time", "--timeout", str(limit),
            *(("--files", str(self.files)) if self.files else ()),
            # All runs of a boot are of one workload.
            *(("--memory", self.runs[0]["memory"])
              if self.runs and "memory" in self.runs[0] else ()),
            "--",
            "mkdir -p /run/suite; base64 -d <<'END' | gzip -d | "
            f"tar -xC /run/suite\n{pack(self.runs)}END\n"
            "bash /tests/vm/lib/suite-guest.sh"]

    def start(self, runs, limit):
        """Boots for these runs."""
        self.runs, self.made, self.data = list(runs), 0, []
        self.names = slots(runs)
        self.files, self.trace = None, {}
        if self.traces and "TRACE" in runs[0]["env"]:
            # All runs of a boot are of one workload and seed: one log.
            self.files, self.trace = self.traces.get(runs[0])
        if runs[0].get("database"):
            self.files = suitedb.tools()
        # A separate session: this process receives Ctrl-C and ends it.
        self.process = subprocess.Popen(
            self.command(limit), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        threading.Thread(target=self._follow, daemon=True,
                         args=(self.process,)).start()

    def _follow(self, process):
        for line in process.stdout:
            self.events.put((self, line.decode(errors="replace").rstrip()))
        process.wait()
        self.events.put((self, None))

    def stop(self):
        """Asks it to end."""
        if self.process and self.process.poll() is None:
            self.process.terminate()

    def join(self):
        """Waits until it has ended."""
        if self.process:
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
