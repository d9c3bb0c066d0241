# SPDX-License-Identifier: GPL-2.0
"""A suite to try things with, and what its guests would leave."""

import copy
import importlib
import json
import pathlib
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

suitedata = importlib.import_module("suitedata")
suiteplan = importlib.import_module("suiteplan")

GOOD = """
[suite]
title = a suite
device = flashsim
scale1 = rand-read.k2-2.half
[device]
profile = E
time_scale = 8
[variant half]
fill_pct = 50
[variant full]
fill_pct = 100
[workload rand-read]
job = k2-rand-read
latency = rt
series_ms = 10
RUNTIME = 10
RT_IOS = 500
THINKTIME_US = 2000
[workload rand-write]
job = k2-rand-write
latency = rt
variants = full
warmup = 20
RUNTIME = 10
RT_IOS = 500
THINKTIME_US = 2000
[schedulers]
list =
    none
    none queue_depth=1,4
    none nr_requests=64
    k2 max_inflight=1,2
    mq-deadline
    kyber read_lat_nsec=500000 write_lat_nsec=1000000
    bfq
    bfq slice_idle=0 low_latency=0 as bfq-noidle
    io.cost rpct=95 rlat=5000 wpct=95 wlat=9000 rbps=800000000 \
rseqiops=160000 rrandiops=140000 wbps=400000000 wseqiops=100000 \
wrandiops=80000 lc_weight=5000
[form short]
seeds = 101
RT_IOS = 100
RT_IOS@rand-read.none.* = 50
cells = rand-*.none.* rand-*.k2-*
scale1 = no
[form full]
seeds = 101-105
"""


def parsed(text=GOOD):
    """A suite from its text."""
    return suiteplan.parse(text, "x.suite", "x")


def plan(form="full", text=GOOD, **more):
    """The runs of a form by id."""
    return {run["id"]: run for run in
            suiteplan.runs(parsed(text), form, **more)}


def by_cell(text, form="short"):
    """The runs of a form of any suite, one a cell."""
    return {run["cell"]: run for run in suiteplan.runs(
        suiteplan.parse(text, "x.suite", "x"), form)}


def refusal(text, old, new):
    """The one-line message that refuses a suite with `new` in place of `old`."""
    assert text.count(old)
    with pytest.raises(suiteplan.Bad) as error:
        suiteplan.parse(text.replace(old, new), "x.suite", "x")
    assert "\n" not in str(error.value)
    return str(error.value)


STAT = "{reads} 0 {sectors} 0 {writes} 0 0 0 0 0 0"


def fio_text(rt=500, be=9000, way="read", runtime=8000, error=0):
    """fio's JSON, warnings before it."""
    def job(name, ios, mean):
        parts = {
            one: {"total_ios": ios if one == way else 0,
                  "io_bytes": ios * 4096 if one == way else 0,
                  "runtime": runtime if one == way else 0,
                  "lat_ns": {"N": ios if one == way else 0, "mean": mean,
                             "max": mean * 3, "percentile": {"99.0": 1}}}
            for one in ("read", "write")}
        return {"jobname": name, "error": error if name == "rt" else 0,
                "latency_us": {"2": 1.0}, **parts}
    return "fio: a warning\n" + json.dumps({"jobs": [
        job("rt", rt, 800000.0), *(job(f"be{n}", be, 1600000.0)
                                   for n in range(3))]})


def raw_files(rt=500, be=9000, **more):
    """Raw files that a guest leaves of a run of k2-2."""
    ios = rt + 3 * be
    return {
        "fio": fio_text(rt, be),
        "rt_lat.1.log": "".join(f"{n}, {8000 * (n + 1)}, 0, 4096, 0, 0x1\n"
                                for n in range(rt)),
        "device-stats": f"profile E\norder chip_fifo\nalloc dynamic\n"
        f"elapsed_ns 8000000000\nread_bytes {ios * 4096}\nwrite_bytes 0\n"
        "outstanding 0\nwa_milli 1000\nutilisation_milli 5500\n",
        "series": "t_ms,reads,writes,read_bytes,write_bytes,gc_copies,"
        "outstanding,c0,c1\n80,100,0,409600,0,0,3,500,1000\n"
        "160,200,0,819200,0,7,3,0,250\n",
        "stat-before": STAT.format(reads=10, writes=0, sectors=0),
        "stat-after": STAT.format(reads=10 + ios, writes=0, sectors=0),
        "settings": "max_inflight\t2\t2\n" * 2, "inflight": "0 0\n",
        "dmesg": "",
        "cpu": "100.00 5000\n108.00 5600\n", "status": "0\n",
        "stats-after": "peak_inflight 2\n", "tunables": "max_inflight 2\n",
        **more}


MACHINE = {"cpus": "1", "release": "6.1.0"}


def evaluated(run="rand-read.k2-2.half.s101", **more):
    """A run of the suite with these raw files."""
    return suitedata.evaluate(raw_files(**more), plan()[run], MACHINE)


def record(name="rand-read.k2-2.half.s101", factor=1.0, **more):
    """A record as the engine writes it, its figures times a factor."""
    run = plan(repeat=2)[name]
    found = copy.deepcopy(evaluated(run["id"].removesuffix(".r2")))
    for key in found["total"]:
        found["total"][key] *= factor
    for key, value in found["jobs"][0]["latency_s"].items():
        if value is not None and key not in ("count", "intervals"):
            found["jobs"][0]["latency_s"][key] = value * factor
    return {**{key: run[key] for key in (
        "id", "cell", "workload", "scheduler", "label", "tunables", "profile",
        "variant", "seed", "seed_use", "repeat", "time_scale", "unscaled",
        "suite", "form")},
        "schema": 2, "kind": "suite", "clock": "virtual",
        "order": "chip_fifo", "alloc": "dynamic", "map": "none",
        **found, **more}
