# SPDX-License-Identifier: GPL-2.0
"""Suites with tenants as jobs: the suite's settings, and the guest's.

A tenant is a job of the job file with a weight, in a separate control group (or
with an I/O priority), on a separate part of the device: the place of a request
in the device's log identifies its tenant. Jobs NAME.ONE and NAME.OTHER, and the
clones of numjobs, belong to one tenant NAME.
"""

import re

import schedulers
from suitetables import SCHEDULERS, Int

# Rows of the device's log; what is beyond them is not judged.
LOG_ROWS = 400000
WEIGHT = Int(1, 1000)
# Weights that best-effort levels 0 to 7 stand for with acfq and hbfq
LEVEL_WEIGHTS = {25 * (8 - level): level for level in range(8)}
WAYS = ("cgroup", "ioprio")
# Requests in a second of the device, about, for the estimate of how long a run
# takes as long as none was made: a SATA drive's, and others'.
IOPS_GUESS = {"C": 20000}
IOPS_OTHERS = 100000


# --- the suite ---------------------------------------------------------------

def tenant_of(job):
    """The tenant that a job belongs to."""
    return job.partition(".")[0]


def by_tenant(sections):
    """{tenant: [its jobs' options]}."""
    found = {}
    for name, options in sections.items():
        found.setdefault(tenant_of(name), []).append(options)
    return found


def parse(text, sections, way, files=False):
    """[{"name", "weight", "alone"}] of "JOB:WEIGHT[@WORKLOAD] ...".

    files: each tenant has a file system, so its jobs need no offset and size.
    ValueError with what is wanted.
    """
    found = []
    jobs = by_tenant(sections)
    for word in text.split():
        match = re.fullmatch(r"([\w-]+):(\d+)(?:@([\w-]+))?", word)
        if not match or not WEIGHT.accepts(match[2]):
            raise ValueError("JOB:WEIGHT or JOB:WEIGHT@WORKLOAD, weights "
                             "from 1 to 1000")
        if match[1] not in jobs:
            raise ValueError("jobs of that file: " + ", ".join(jobs))
        if match[1] in [one["name"] for one in found]:
            raise ValueError("each job once")
        if way == "ioprio" and int(match[2]) not in LEVEL_WEIGHTS:
            raise ValueError("with ioprio multiples of 25 from 25 to 200")
        found.append({"name": match[1], "weight": int(match[2]),
                      "alone": match[3]})
    if found and set(jobs) != {one["name"] for one in found}:
        raise ValueError("all jobs of that file: " + ", ".join(jobs))
    if files:
        return found
    spans = [set(map(span, jobs[one["name"]])) for one in found]
    if any(None in one or len(one) > 1 for one in spans):
        raise ValueError("jobs with offset and size in per cent, the same for "
                         "all of a tenant")
    spans = sorted(one for (one,) in spans)
    if any(one[1] > other[0] for one, other in zip(spans, spans[1:])):
        raise ValueError("jobs whose parts of the device do not overlap")
    return found


def span(section):
    """(begin, end) of a job's part of the device in per cent, or None."""
    match = [re.fullmatch(r"(\d+)%", section.get(key, default))
             for key, default in (("offset", "0%"), ("size", "100%"))]
    if None in match:
        return None
    begin, size = (int(one[1]) for one in match)
    return (begin, begin + size) if begin + size <= 100 else None


def filled(text, env):
    """A job file's value with its variables filled in."""
    return re.sub(r"\$\{(\w+)\}", lambda m: str(env.get(m[1], m[0])), text)


def outstanding(section, env):
    """How many requests a job keeps outstanding; None if it does not."""
    if section.get("thinktime") or section.get("rate_iops") or \
            "fsync_on_close" in section:
        return None
    depth = filled(section.get("iodepth", "1"), env)
    count = filled(section.get("numjobs", "1"), env)
    return int(depth) * int(count) \
        if depth.isdigit() and count.isdigit() else None


def described(workload, sections, env, region):
    """The tenants of a run as stored in the plan."""
    found = []
    for number, one in enumerate(workload.tenants):
        # A database has no job of fio's.
        mine = by_tenant(sections).get(one["name"], [])
        # The guest makes the file systems equally large, in this order.
        begin, end = span(mine[0]) if not workload.files.get("fs") else (
            100 * turn / len(workload.tenants)
            for turn in (number, number + 1))
        each = [outstanding(section, env) for section in mine]
        found.append({**one, "span_pct": [begin * region / 100,
                                          end * region / 100],
                      "depth": None if None in each or not each else sum(each)})
    return found


def of_tenants(jobs, samples, tenants, summary):
    """(jobs, {tenant: samples}): the jobs of each tenant as one.

    samples: the raw latencies of each job, s; summary: what a list of them says.
    """
    found, together = [], {}
    for one in tenants:
        mine = [(job, raw) for job, raw in zip(jobs, samples)
                if tenant_of(job["name"]) == one["name"]]
        together[one["name"]] = [value for _, raw in mine for value in raw]
        found.append({
            "name": one["name"],
            **{key: sum(job[key] for job, _ in mine) for key in
               ("ios", "bytes", "bandwidth_bytes_per_s")},
            "latency_s": summary(together[one["name"]])})
    return found, together


def of_counts(jobs, latencies):
    """of_tenants() where each tenant is a job, without raw latencies.

    latencies: {tenant: the latency_s of its requests}.
    """
    return [{**{key: job[key] for key in
                ("name", "ios", "bytes", "bandwidth_bytes_per_s")},
             "latency_s": latencies[job["name"]]} for job in jobs], \
        dict.fromkeys(latencies)


def job_lines(workload, name):
    """The settings of a tenant's job."""
    name = tenant_of(name)
    one = next((t for t in workload.tenants if t["name"] == name), None)
    if not one:
        return []
    if workload.tenants_by == "ioprio":
        return ["prioclass=2", f"prio={LEVEL_WEIGHTS[one['weight']]}"]
    return [f"cgroup={name}", "cgroup_nodelete=1"]


def setup(scheduler, workload):
    """Lines for the guest: settings that name this scheduler's tenants."""
    if not workload.tenants or \
            "tenant_by" not in SCHEDULERS[scheduler.name] or \
            "tenant_by" in scheduler.tunables:
        return []
    return [f"set queue/iosched/tenant_by {workload.tenants_by}"]


def groups(scheduler, workload):
    """Lines "NAME WEIGHT FILE": control groups, and the file for each weight.

    FILE: `weights`, the scheduler's own; a file of the group; - for none.
    """
    if workload.tenants_by != "cgroup":
        return []
    where = "weights" if "tenant_by" in SCHEDULERS[scheduler.name] else \
        "io.bfq.weight" if scheduler.name == "bfq" else \
        "io.weight" if scheduler.iocost else "-"
    return [f"{one['name']} {one['weight']} {where}"
            for one in workload.tenants]


def unit_of(run):
    """The unit that a run's scheduler charges.

    A scheduler without a charge is judged in sectors.
    """
    tunables = run["tunables"]
    if run["iocost"]:
        return "model"
    if "charge" not in SCHEDULERS[run["scheduler"]]:
        return "sectors"
    charge = tunables.get("charge", "auto")
    if charge == "auto":
        charge = "time" if run["scheduler"] == "hbfq" and \
            tunables.get("mode") != "paper" else "sectors"
    # Time as it counts it: what it says it has charged
    return "cost" if charge == "time" else charge


def each_charged(run):
    """Is each request charged, or a whole turn when it is over?"""
    return run["tunables"].get("mode", "auto") == "auto"


def present(runs, optional, repo):
    """(runs that can be made, lines about schedulers that are not built)."""
    there = set(schedulers.in_source(repo))
    absent = [name for name in optional if name not in there]
    kept = [run for run in runs if run["scheduler"] not in absent]
    told = []
    for name in absent:
        count = sum(run["scheduler"] == name for run in runs)
        if count:
            told.append(f"{name}: not built here, {count} runs left out")
    return kept, told


def units(run):
    """Estimated number of requests of a run, for the estimate of its time."""
    env = run["env_device"]
    seconds = int(env["RUNTIME_MS"]) / 1000 if "RUNTIME_MS" in env else \
        float(env.get("RUNTIME", 1))
    return int(seconds * IOPS_GUESS.get(run["profile"], IOPS_OTHERS))


# --- over runs ---------------------------------------------------------------

def metrics(record):
    """{metric: value or None} of a record; {} where it has no tenants."""
    found = {}
    data = record.get("fairness")
    if not data:
        return found
    for name in ("charged", "sectors", "requests", "chip", "model"):
        one = data["by_unit"].get(data["unit"] if name == "charged" else name)
        if one is None:
            continue
        rows = one.get("windows") or []
        first = rows[0] if rows else {}
        found.update({
            f"pv_{name}": one.get("pv"), f"jain_{name}": one.get("jain"),
            f"pv_sending_{name}": one.get("pv_sending"),
            f"inversions_{name}": first.get("inversions"),
            f"windows_{name}": first.get("windows"),
            f"window_pv_median_{name}": first.get("pv_median"),
            f"window_pv_max_{name}": first.get("pv_max"),
            f"service_ratio_{name}": one.get("service_ratio"),
            f"outstanding_ratio_{name}": one.get("outstanding_ratio")})
    one = data["by_unit"].get("cost", {})
    if data["unit"] == "cost":
        found["windows_by_charge"] = float(one.get("windows_by") == "charge")
        off = one.get("replay_off") or [None]
        found["replay_off"] = None if None in off else max(map(abs, off))
    if data.get("depths"):
        found["in_device_mean"] = sum(
            int(count) * part for count, part in data["depths"].items())
    for one in record["tenants"]:
        name, latency = one["name"], one["latency_s"]
        found.update({
            f"{name}_bandwidth_bytes_per_s": one["bandwidth_bytes_per_s"],
            f"{name}_inter_dispatch_s": one["inter_dispatch_s"],
            **{f"{name}_latency_{key}_s": latency[key] for key in
               ("mean", "stddev", "p99", "p99_9", "max")}})
    return found
