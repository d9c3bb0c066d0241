# SPDX-License-Identifier: GPL-2.0
"""Tenants that are databases: settings of a suite, files for the guest, and results.

A job file NAME.db_bench has options of db_bench, RocksDB's benchmark, in two sections:
[fill] makes a tenant's database before the run, [run] is the measured load. Latencies
are those of the tenant's requests to its part of the drive, counted by the kernel
(dm-stats) in narrow classes: db_bench's own include the time that its rate limiter holds
a read back, which is the pause.
"""

import math
import os
import pathlib
import re
import shutil

import initramfs
import kernel
from suitefs import MOUNT
from suitetables import Int

SUFFIX = ".db_bench"
PHASES = ("fill", "run")
TOOL = "db_bench"
# Variables of a job file that are numbers with a range
VARIABLES = {"RUNTIME": Int(1, 600), "CLIENTS": Int(1, 64),
             "BURST_KB": Int(64, 65536), "PERIOD_US": Int(0, 1000000)}
# Variables that the engine fills in
GIVEN = {"MOUNT", "TENANT", "SEED", "READ_RATE"}
# Seconds of the device that filling, or the run beyond its time, may take
SPARE_S = 60
# Upper ends of the classes of latencies, ns of the guest: from 0.1 ms to 160 s. With a
# time scale of 16 that is 6 us to 10 s of the device.
EDGE_FIRST, EDGE_LAST, EDGE_STEP = 1e5, 1.6e11, 1.02


class NoResult(ValueError):
    """A run without figures; the message is one line that says what to do."""


# --- the suite ---------------------------------------------------------------

def check(found, env):
    """A setting that does not fit: (key, what is wanted), or None."""
    if not found.get("tenants"):
        return "tenants", "NAME:WEIGHT ..., as each tenant has a database"
    if "latency" in found:
        return "latency", "none, as db_bench keeps no raw latencies"
    for key, kind in VARIABLES.items():
        if key in env and not kind.accepts(env[key]):
            return key, kind
    return None


def sections(tenants):
    """{tenant: {}}, as if each tenant were one of fio's jobs."""
    return {name: {} for name in re.findall(r"([\w-]+):", tenants)}


# --- the guest ---------------------------------------------------------------

def missing(runs):
    """One line if db_bench is needed and not installed; "" otherwise."""
    if any(run.get("database") for run in runs) and not shutil.which(TOOL):
        return f"this machine has no {TOOL}: run scripts/deps bench"
    return ""


def tools(folder=None):
    """A directory for scripts/vm --files: links to db_bench and its libraries.

    Only guests with databases get them: unpacking takes time in each boot.
    """
    folder = folder or kernel.cache_dir() / "database"
    folder.mkdir(parents=True, exist_ok=True)
    program = shutil.which(TOOL)
    for path in (program, *initramfs.libraries(program)):
        link = folder / pathlib.Path(path).name
        if not link.is_symlink() or os.readlink(link) != path:
            new = folder / f".{link.name}.{os.getpid()}"
            new.symlink_to(path)
            new.replace(link)
    return folder


def edges():
    """The upper ends of the classes of latencies, ns of the guest."""
    count = math.ceil(math.log(EDGE_LAST / EDGE_FIRST) / math.log(EDGE_STEP))
    return [round(EDGE_FIRST * EDGE_STEP ** n) for n in range(count + 1)]


def read_rate(env):
    """Bytes that a tenant may read in a second of the guest; 0: any number."""
    period = int(env["PERIOD_US"])
    return int(env["BURST_KB"]) * 1024 * 10**6 // period if period else 0


def run_files(run):
    """{name: text} for the guest."""
    if not run.get("database"):
        return {}
    found = {"database": f"{limit(run)}\n", "edges": ",".join(map(str, edges()))}
    for number, one in enumerate(run["tenants"]):
        env = {**run["env"], "MOUNT": MOUNT, "TENANT": one["name"],
               "SEED": run["seed"] * 100 + number, "READ_RATE": read_rate(run["env"])}
        for phase in PHASES:
            found[f"db.{one['name']}.{phase}"] = "".join(
                re.sub(r"\$\{(\w+)\}", lambda m, env=env: str(env[m[1]]),
                       f"{key}={value}\n") for key, value in run["database"][phase].items())
    return found


def limit(run):
    """Seconds of the guest after which db_bench is ended."""
    return int(run["env"]["RUNTIME"]) + SPARE_S * run["time_scale"]


# --- a run -------------------------------------------------------------------

_ENDED = re.compile(r"^\w+ +: +[\d.]+ micros/op \d+ ops/sec ([\d.]+) seconds "
                    r"(\d+) operations", re.M)
_HISTOGRAM = r"Microseconds per {}:\nCount: (\d+) Average: ([\d.]+)  StdDev: ([\d.]+)\n" \
    r"Min: (\d+)  Median: ([\d.]+)  Max: (\d+)\n"


def said(text, scale):
    """The figures in db_bench's output for a tenant; an absent one is None."""
    ended = _ENDED.search(text)
    found = {"elapsed_s": float(ended[1]) / scale if ended else None,
             "operations": int(ended[2]) if ended else None}
    for way in ("read", "write"):
        match = re.search(_HISTOGRAM.format(way), text)
        found[way] = match and {
            "count": int(match[1]), **{
                key: float(match[number]) / 1e6 / scale for key, number in
                (("mean_s", 2), ("stddev_s", 3), ("min_s", 4), ("max_s", 6))}}
    return found


def counted(text):
    """({direction: {requests, bytes, ns}}, [requests of a class]) of dm-stats.

    A line: START+LENGTH, 13 counters, the classes.
    """
    words = text.split()
    if len(words) != 15:
        return None
    numbers = list(map(int, words[1:14]))
    ways = {way: {"requests": numbers[at], "bytes": numbers[at + 2] * 512,
                  "ns": numbers[at + 3]} for way, at in (("read", 0), ("write", 4))}
    return ways, list(map(int, words[14].split(":")))


def evaluate(raw, run):
    """{tenant: {"said": said()'s, "ways" and "classes": counted()'s}}; or NoResult."""
    statuses = dict(line.split() for line in raw.get("db-status", "").splitlines())
    found = {}
    for one in run["tenants"]:
        name = one["name"]
        status = statuses.get(name)
        if status != "0":
            last = [line for line in re.split(
                r"[\r\n]+", raw.get(f"db.{name}.said", "")) if line.strip()][-1:]
            raise NoResult(
                f"db_bench of {name} " + (
                    "did not run" if status is None else
                    f"took more than {limit(run)} s of the guest" if status == "124"
                    else f"ended with status {status}")
                + (f": {last[0].strip()[:200]}" if last else "")
                + f"; next: see raw/.../db.{name}.said, and [run] of "
                f"tests/fio/{run['job']}{SUFFIX}")
        own = said(raw.get(f"db.{name}", ""), run["time_scale"])
        absent = [key for key, value in own.items() if value is None]
        disk = counted(raw.get(f"latency.{name}", ""))
        if absent or disk is None or not sum(disk[1]):
            raise NoResult(
                f"{name}: " + (
                    f"db_bench does not say {', '.join(absent)}; next: see raw/.../"
                    f"db.{name}: has this version another output?" if absent else
                    "the kernel has counted no request; next: does this kernel have "
                    f"dm-stats? see raw/.../latency.{name}"))
        found[name] = {"said": own, "ways": disk[0], "classes": disk[1]}
    return found


def recorded(found):
    """The record's entry."""
    return {name: one["said"] for name, one in found.items()}


def as_fio(found, scale):
    """The databases' requests in fio's terms: a job for each tenant."""
    result, ends = [], edges()
    for name, one in found.items():
        job = {"jobname": name, "error": 0}
        top = max(n for n, count in enumerate(one["classes"]) if count)
        highest = ends[min(top, len(ends) - 1)]
        for way, counts in one["ways"].items():
            requests = counts["requests"]
            job[way] = {
                "total_ios": requests, "io_bytes": counts["bytes"],
                "runtime": round(one["said"]["elapsed_s"] * scale * 1000),
                "lat_ns": {"N": requests, "max": highest if requests else 0,
                           "mean": counts["ns"] / requests if requests else 0.0}}
        result.append(job)
    return {"jobs": result}


def latencies(one, scale):
    """(upper ends of the classes, s of the device; requests of each; their sum, s)."""
    ends = [edge / 1e9 / scale for edge in edges()]
    # The last class has no end.
    return (ends + ends[-1:], one["classes"],
            sum(counts["ns"] for counts in one["ways"].values()) / 1e9 / scale)
