# SPDX-License-Identifier: GPL-2.0
"""scripts/bench SUITE: plans, conclusions, claims; nothing is booted."""

import base64
import copy
import gzip
import importlib
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tarfile

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

claims = importlib.import_module("claims")
options = importlib.import_module("options")
suite = importlib.import_module("suite")
suitedata = importlib.import_module("suitedata")
suitehost = importlib.import_module("suitehost")
suiteplan = importlib.import_module("suiteplan")
suitereport = importlib.import_module("suitereport")
suitescale = importlib.import_module("suitescale")
suitetime = importlib.import_module("suitetime")

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


# --- the file ----------------------------------------------------------------

@pytest.mark.parametrize("old, new, said", [
    ("time_scale = 8", "time_scale = 7",
     ["[device] time_scale = '7'", "a power of two from 1 to 4096"]),
    ("time_scale = 8", "time_scale = 8192", ["from 1 to 4096"]),
    ("fill_pct = 50", "fill_pct = 101", ["[variant half] fill_pct", "to 100"]),
    ("fill_pct = 50", "region_pct = 0", ["region_pct", "from 1 to 100"]),
    ("fill_pct = 50", "fill_prc = 50", ["[variant half] fill_prc", "no such",
                                        "fill_pct"]),
    ("profile = E", "profile = Z", ["'Z'", "A, B, C"]),
    ("device = flashsim", "device = floppy", ["'floppy'", "flashsim"]),
    ("title = a suite", "", ["title"]),
    ("scale1 = rand-read.k2-2.half", "scale1 = rand-raed.k2-2.half",
     ["scale1", "rand-raed"]),
    ("scale1 = rand-read.k2-2.half", "claims = k3", ["claims", "'k3'", "k2"]),
    ("job = k2-rand-read", "job = nothing", ["'nothing'", "k2-rand-read"]),
    ("latency = rt", "latency = tr", ["latency = 'tr'", "rt, be0"]),
    ("THINKTIME_US = 2000", "THINKTIME_US = soon", ["THINKTIME_US", "'soon'"]),
    ("THINKTIME_US = 2000", "", ["THINKTIME_US: missing"]),
    ("THINKTIME_US = 2000", "THINKTIME_US = 1\nDEPTH = 3",
     ["DEPTH", "does not use"]),
    ("warmup = 20", "warmup = 0", ["warmup = '0'", "from 1"]),
    ("series_ms = 10", "series_ms = 2000", ["series_ms", "1000"]),
    ("variants = full", "variants = empty", ["variants = 'empty'", "half"]),
    ("    mq-deadline", "    deadline", ["'deadline'", "mq-deadline"]),
    ("k2 max_inflight=1,2", "k2 max_inflight=0", ["max_inflight=0", "65535"]),
    ("k2 max_inflight=1,2", "k2 inflight=1", ["inflight=1", "max_inflight"]),
    ("k2 max_inflight=1,2", "k2 max_inflight=1,1", ["k2-1", "twice"]),
    ("as bfq-noidle", "as bfq {idle}", ["label"]),
    ("wlat=9000", "", ["wlat"]),
    ("seeds = 101-105", "seeds = 5-1", ["seeds = '5-1'", "4294967295"]),
    ("seeds = 101\n", "seeds = 101\nminutes = 0\n", ["minutes", "from 1"]),
    ("RT_IOS = 100", "RT_IOS = x", ["RT_IOS = 'x'"]),
    ("RT_IOS = 100", "THINK = 100", ["THINK", "RT_IOS"]),
    ("RT_IOS@rand-read.none.*", "RT_IOS@seq-read.*", ["seq-read.*"]),
    ("cells = rand-*.none.*", "cells = x-*", ["cells = 'x-*'"]),
    ("[form full]", "[shape full]", ["shape full", "form NAME"]),
    ("[form full]", "[form Full!]", ["Full!", "small letters"]),
    ("[variant half]", "[variant half]\n[variant half]", ["variant half"]),
    ("[schedulers]", "[schedulers]\nother = 1", ["other", "list"]),
    ("[device]\n", "[device]\nno equals sign\n", ["no equals sign"]),
])
def test_what_is_wrong_is_said_in_one_line(old, new, said):
    assert old in GOOD
    with pytest.raises(suiteplan.Bad) as error:
        parsed(GOOD.replace(old, new))
    text = str(error.value)
    assert "\n" not in text and "x.suite" in text
    for part in said:
        assert part in text


@pytest.mark.parametrize("section", ["suite", "device", "schedulers"])
def test_sections_must_be_there(section):
    with pytest.raises(suiteplan.Bad, match=section):
        parsed(GOOD.replace(f"[{section}]", "[variant other]"))


def test_suites_of_the_project():
    assert {"k2", "smoke"} <= set(suiteplan.names())
    for name in suiteplan.names():
        one = suiteplan.load(name)
        for form in one.forms:
            assert suiteplan.runs(one, form)
    with pytest.raises(suiteplan.Bad, match="k2"):
        suiteplan.load("../k2")


def test_flashsims_documentation_has_the_same_ranges():
    text = (REPO / "docs/flashsim.md").read_text()
    for name, kind in suiteplan.DEVICE.items():
        row = next((line for line in text.splitlines()
                    if line.startswith("|") and f"`{name}`" in
                    line.split("|")[1]), None)
        assert row, f"{name} is no parameter of flashsim"
        if type(kind) is suiteplan.Int and kind.high < 10**9 and \
                kind.high < 2**31:
            assert str(kind.high) in row, name


# --- the plan ----------------------------------------------------------------

def test_cells_and_labels():
    cells = {run["cell"] for run in plan().values()}
    labels = {"none", "none-qd1", "none-qd4", "none-nr64", "k2-1", "k2-2",
              "mq-deadline", "kyber-readlatnsec500000-writelatnsec1000000",
              "bfq", "bfq-noidle", "iocost"}
    assert {cell.split(".")[1] for cell in cells} == labels
    assert "rand-write.none.half" not in cells
    assert "rand-read.k2-2.half.x1" in cells
    assert len(plan()) == 5 * (2 * 11 + 11 + 1)


def test_short_form():
    runs = plan("short")
    assert all(run["seed"] == 101 and run["seed_use"] == "report"
               for run in runs.values())
    assert "rand-read.mq-deadline.half.s101" not in runs
    assert runs["rand-read.none.half.s101"]["env"]["RT_IOS"] == "50"
    assert runs["rand-read.k2-1.half.s101"]["env"]["RT_IOS"] == "100"
    assert not any(".x1" in name for name in runs)


def test_only_seeds_repeat():
    runs = plan("short", seed_list=[3, 900], only=["k2-1.half"], repeat=2)
    assert sorted(runs) == [
        "rand-read.k2-1.half.s3", "rand-read.k2-1.half.s3.r2",
        "rand-read.k2-1.half.s900", "rand-read.k2-1.half.s900.r2"]
    assert [run["seed_use"] for run in runs.values()] == \
        ["tuning", "free"] * 2
    with pytest.raises(suiteplan.Bad, match="nothing"):
        plan("short", only=["nothing"])
    with pytest.raises(suiteplan.Bad, match="short, full"):
        plan("long")


@pytest.mark.parametrize("text, found", [
    ("1", [1]), ("101-103", [101, 102, 103]), ("1,2 7,1", [1, 2, 7]),
    ("", None), ("x", None), ("2-1", None), ("4294967296", None),
    ("-3", None), ("1-100000", None)])
def test_seeds(text, found):
    assert suiteplan.seeds(text) == found


def test_times_are_scaled():
    run = plan()["rand-read.none.half.s101"]
    assert run["env"] == {"RUNTIME": "80", "RT_IOS": "500",
                          "THINKTIME_US": "16000"}
    assert run["env_device"]["THINKTIME_US"] == "2000"
    assert run["params"]["time_scale"] == "8"
    assert run["params"]["series_ms"] == "80"
    again = plan()["rand-read.k2-2.half.x1.s101"]
    assert again["env"]["THINKTIME_US"] == "2000"
    assert again["params"]["time_scale"] == "1"
    assert again["unscaled"] == [] and run["unscaled"]


def test_scaling_table():
    """Every time constant of a competitor, and no other."""
    runs = plan()

    def lines(label):
        return [line for line in runs[f"rand-read.{label}.half.s101"]["setup"]
                if "wbt" not in line]
    assert lines("none") == ["select queue/scheduler none"]
    assert lines("mq-deadline") == [
        "select queue/scheduler mq-deadline",
        "times queue/iosched/read_expire 8",
        "times queue/iosched/write_expire 8",
        "times queue/iosched/prio_aging_expire 8"]
    assert lines("kyber-readlatnsec500000-writelatnsec1000000") == [
        "select queue/scheduler kyber",
        "set queue/iosched/read_lat_nsec 4000000",
        "set queue/iosched/write_lat_nsec 8000000"]
    assert lines("bfq") == [
        "select queue/scheduler bfq",
        "times queue/iosched/slice_idle_us 8",
        "times queue/iosched/fifo_expire_sync 8",
        "times queue/iosched/fifo_expire_async 8",
        "times queue/iosched/timeout_sync 8"]
    noidle = lines("bfq-noidle")
    assert "set queue/iosched/slice_idle 0" in noidle
    assert "set queue/iosched/low_latency 0" in noidle
    # The other name of what was just set to 0.
    assert not any("slice_idle_us" in line for line in noidle)
    assert lines("k2-2") == ["select queue/scheduler k2",
                             "set queue/iosched/max_inflight 2"]
    assert lines("none-nr64")[1:] == ["set queue/nr_requests 64"]
    assert runs["rand-read.none-qd4.half.s101"]["params"]["queue_depth"] == "4"
    for name, times in suiteplan.TIMES.items():
        known = suiteplan.SCHEDULERS.get(name, suiteplan.IOCOST)
        assert set(times) <= set(known)
    assert any("100 ms" in text for text in
               runs["rand-read.kyber-readlatnsec500000-writelatnsec1000000"
                    ".half.s101"]["unscaled"])
    assert all("3 ms" in run["unscaled"][0] for run in runs.values()
               if ".x1" not in run["id"])


def test_nothing_is_scaled_at_scale_one():
    runs = plan(text=GOOD.replace("time_scale = 8", "time_scale = 1"))
    assert not any(line.startswith("times") for run in runs.values()
                   for line in run["setup"])


def test_io_cost():
    run = next(run for run in plan().values() if run["iocost"])
    qos, model, weight = run["iocost"]
    # Targets are times, the model's figures are rates.
    assert "rlat=40000" in qos and "wlat=72000" in qos and "rpct=95" in qos
    assert "rbps=100000000" in model and "rrandiops=17500" in model
    assert weight == "5000"
    assert "cgroup=critical" in run["job_text"]
    assert run["job_text"].count("cgroup=other") == 3


def test_job_text():
    run = plan()["rand-read.none.half.s101"]
    jobs = suiteplan.job_sections(run["job_text"])
    assert jobs["rt"]["write_lat_log"] == suiteplan.GUEST_OUT + "/rt"
    assert not any("write_lat_log" in jobs[name]
                   for name in ("be0", "be1", "be2"))
    assert "cgroup" not in run["job_text"]
    original = (REPO / "tests/fio/k2-rand-read.fio").read_text()
    assert [line for line in run["job_text"].splitlines()
            if not line.startswith(("write_lat_log", "log_entries"))] == \
        original.splitlines()


def test_a_region():
    text = GOOD.replace("fill_pct = 50", "fill_pct = 50\nregion_pct = 50")
    run = plan(text=text)["rand-read.none.half.s101"]
    jobs = suiteplan.job_sections(run["job_text"])
    assert jobs["rt"]["offset"] == "${PCT_75}"
    assert jobs["be0"]["size"] == "${PCT_25}"
    # It is none of flashsim's parameters.
    assert "region_pct" not in run["params"] and run["region_pct"] == 50
    whole = plan(text=text)["rand-read.none.full.s101"]
    assert "PCT_" not in whole["job_text"] and whole["region_pct"] == 100
    real, _ = suitehost.convert([run])
    assert real[0]["region_pct"] == 100


def test_batches_depend_on_the_plan_alone():
    runs = list(plan().values())
    batches = suiteplan.batches(runs)
    assert sorted(run["id"] for batch in batches for run in batch) == \
        sorted(run["id"] for run in runs)
    for batch in batches:
        assert 1 <= len(batch) <= suiteplan.BATCH_RUNS
        assert len({(run["seed"], run["workload"], run["variant"],
                     run["time_scale"]) for run in batch}) == 1
    # Eleven runs of a kind are six and five.
    assert {len(batch) for batch in batches} == {6, 5, 1}
    again = plan(repeat=2)
    first = [run for run in again.values() if run["repeat"] == 1]
    assert [[run["id"] for run in batch] for batch in
            suiteplan.batches(list(again.values()))][:len(batches)] == \
        [[run["id"] for run in batch] for batch in suiteplan.batches(first)]


def test_makespan():
    assert suiteplan.makespan([8, 4, 1, 1, 1, 1], 2) == 8
    assert suiteplan.makespan([3, 3, 3], 2) == 6
    assert suiteplan.makespan([3, 3], 5) == 3
    assert suiteplan.makespan([], 2) == 0


# --- estimates ---------------------------------------------------------------

def test_speeds_follow_what_is_measured(tmp_path):
    path = tmp_path / "cache" / "speed.json"
    run = plan()["rand-read.k2-1.half.s101"]
    other = plan()["rand-read.k2-2.half.s101"]
    speeds = suite.Speeds(path)
    first = speeds.seconds(run)
    assert first == pytest.approx(suitetime.SECONDS_RUN
                                  + 500 * suitetime.SECONDS_UNIT)
    speeds.learn(run, suitetime.SECONDS_RUN + 500)
    assert speeds.seconds(run) == pytest.approx(suitetime.SECONDS_RUN + 500)
    # A cell that is not known is taken to be like its workload's.
    assert speeds.seconds(other) == pytest.approx(suitetime.SECONDS_RUN + 500)
    speeds.learn(run, suitetime.SECONDS_RUN + 1000)
    assert 500 < speeds.seconds(run) < 1003
    speeds.save()
    assert suite.Speeds(path).seconds(run) == speeds.seconds(run)
    path.write_text("no json")
    assert suite.Speeds(path).seconds(run) == pytest.approx(first)


def test_clock():
    now = [0.0]
    clock = suitereport.Clock(lambda: now[0])
    clock.plan({"a": 100, "b": 100, "c": 150}, 2)
    assert clock.left() == pytest.approx(175)
    clock.begin(0, "a")
    clock.begin(1, "c")
    now[0] = 50
    assert clock.left() == pytest.approx(125)
    now[0] = 230
    clock.end(0, "a")
    # It took twice as long as expected, nearly.
    assert 100 < clock.left() <= 200
    clock.end(1, "c")
    clock.begin(0, "b")
    clock.end(0, "b")
    assert clock.left() == 0


@pytest.mark.parametrize("kind", [suitereport.Log, suitereport.Live])
def test_progress(capsys, kind):
    shown = kind(3)
    shown.clock.plan({"a": 10, "b": 10, "c": 10}, 2)
    with shown:
        shown.say("[bold]as it is")
        shown.begin(0, "a")
        shown.begin(1, "b")
        assert shown.done(0, "a", True, "fine") < 5
        shown.left_out(1, "b", "not today")
        shown.begin(0, "c")
        shown.done(0, "c", False, "FAILED: x")
    text = capsys.readouterr().out
    for part in ("[bold]as it is", "[1/3] a: fine", "b: not today",
                 "[2/2] c: FAILED: x", "0:00 left"):
        assert part in text
    assert not shown.clock.ahead


# --- percentiles -------------------------------------------------------------

@pytest.mark.parametrize("count, share, enough", [
    (100, 0.5, True), (99, 0.5, False), (500, 0.9, True), (499, 0.9, False),
    (5000, 0.99, True), (4999, 0.99, False), (50000, 0.999, True),
    (49999, 0.999, False), (500000, 0.9999, True), (0, 0.5, False)])
def test_a_percentile_wants_fifty_samples_beyond(count, share, enough):
    assert suitedata.given(count, share) is enough


def test_latency():
    found = suitedata.latency([n / 1000 for n in range(5000, 0, -1)])
    assert found["count"] == 5000 and found["max"] == 5.0
    assert found["p50"] == 2.5 and found["p99"] == 4.95
    assert found["p99_9"] is None and found["p99_99"] is None
    assert suitedata.tail_of(found) == ("p99", 4.95)
    few = suitedata.latency([1.0] * 10)
    assert few["mean"] == 1.0 and few["p50"] is None
    assert suitedata.tail_of(few) == (None, None)
    none = suitedata.latency([])
    assert none["count"] == 0 and none["mean"] is None


def test_intervals():
    found = suitedata.latency([n / 1000 for n in range(1, 1001)])
    low, high = found["intervals"]["p90"]
    # 900 and 1.96 * sqrt(1000 * 0.9 * 0.1) = 18.6 to both sides
    assert (low, high) == (0.881, 0.919)
    assert "p99" not in found["intervals"]


def test_cdf_ends_where_samples_do():
    points = suitedata.cdf([n / 1000 for n in range(1, 1001)])
    assert points[0] == [0.005, 0.005]
    assert points[-1] == [0.95, 0.95]
    assert all(a[1] <= b[1] for a, b in zip(points, points[1:]))
    assert suitedata.cdf([1.0] * 40) is None


# --- a run -------------------------------------------------------------------

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
    """What a guest leaves of a run of k2-2."""
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


def test_a_good_run():
    found = evaluated()
    assert found["passed"], found["checks"]
    rt, be = found["jobs"][0], found["jobs"][1]
    assert (rt["role"], be["role"]) == ("latency", "throughput")
    # Eight seconds of the guest are one of the device.
    assert rt["runtime_s"] == 1.0 and rt["iops"] == 500
    assert be["bandwidth_bytes_per_s"] == 9000 * 4096
    assert found["total"]["bandwidth_bytes_per_s"] == 27500 * 4096
    assert found["total"]["write_bandwidth_bytes_per_s"] == 0
    assert rt["latency_s"]["p50"] == pytest.approx(250e-6)
    assert rt["latency_s"]["p90"] == pytest.approx(450e-6)
    assert rt["latency_s"]["p95"] is None
    assert be["latency_s"]["mean"] == pytest.approx(200e-6)
    # fio's own percentiles come from buckets.
    assert be["latency_s"]["p50"] is None and be["cdf"] is None
    assert found["device_stats"]["elapsed_ns"] == 1000000000
    assert found["device_stats"]["profile"] == "E"
    # 8 s, 6 of them idle; a CPU time stays as it is.
    assert found["cpu"] == {"busy_share": 0.25, "busy_ns_per_io": 72727}
    assert found["series"]["t_s"] == [0.01, 0.02]
    assert found["series"]["read_iops"] == [10000, 20000]
    assert found["series"]["gc_copies"] == [0, 7]
    assert found["chips"] == {"period_s": 0.01,
                              "busy_permille": [[500, 1000], [0, 250]]}
    assert "latency_us" not in found["fio"]["jobs"][0]
    json.dumps(found)


@pytest.mark.parametrize("more, check", [
    ({"status": "1"}, "completed"),
    ({"status": ""}, "completed"),
    ({"fio": fio_text(error=5)}, "completed"),
    ({"fio": fio_text(rt=499)}, "completed"),
    ({"rt_lat.1.log": "1, 8000, 0, 4096, 0\n"}, "completed"),
    ({"stat-after": STAT.format(reads=1000, writes=0, sectors=0)},
     "accounted"),
    ({"device-stats": "read_bytes 1\nwrite_bytes 0\noutstanding 0\n"},
     "device"),
    ({"settings": "max_inflight\t2\t32\n"}, "settings"),
    ({"settings": "max_inflight\t2\n"}, "settings"),
    ({"settings": "max_inflight\t2\t2\nmax_inflight\t2\t3\n"}, "settings"),
    ({"tunables": "max_inflight 1\n"}, "bound_kept"),
    ({"dmesg": "<3>[1.0] I/O error\n"}, "log_clean"),
    ({"inflight": "0 1\n"}, "drained"),
    ({"stats-after": "peak_inflight 3\n"}, "bound_kept"),
    ({"stats-after": "peak_inflight 0\n"}, "bound_kept"),
])
def test_what_a_run_is_judged_by(more, check):
    found = evaluated(**more)
    assert not found["passed"]
    assert not found["checks"][check]["passed"]


@pytest.mark.parametrize("more", [
    {"fio": ""}, {"fio": "{}"}, {"fio": "no json {"},
    {"rt_lat.1.log": "nonsense\n"}])
def test_nothing_to_conclude_from(more):
    with pytest.raises((ValueError, KeyError)):
        evaluated(**more)


def test_settings_may_round():
    assert suitedata.settings_kept("timeout_sync\t992\t1000\n") == []
    assert suitedata.settings_kept("timeout_sync\t992\t1100\n" * 2) == [
        "timeout_sync: 1100 instead of 992"]
    assert suitedata.settings_kept("x\ton\ton\n") == []


def test_no_series():
    assert suitedata.series("", 8) == (None, None)
    assert suitedata.series("t_ms,reads\n", 8) == (None, None)


def test_order_of():
    assert suitedata.order_of({}) == ("chip_fifo", "static", "CWD")
    assert suitedata.order_of({"alloc": "dynamic", "order": "in_order"}) == \
        ("in_order", "dynamic", "none")
    assert suitedata.order_of({"layout": "1:4:1", "xor": "3"})[2] == \
        "1:4:1 xor 3"


def test_scale_for():
    # 140 000 I/Os a second of 20 us keep 2.8 CPUs busy: 16 is 0.175.
    assert suitedata.scale_for(140000, 20000) == 16
    assert suitedata.scale_for(12500, 20000) == 1
    assert suitedata.scale_for(12501, 20000) == 2
    assert suitedata.scale_for(1e12, 1e9) == 4096


def test_find_scale_judges_by_the_worst():
    rows = suitescale.judge([
        {"workload": w, "total": {"iops": iops},
         "cpu": {"busy_ns_per_io": 20000}}
        for w, iops in (("read", 140000), ("write", 10000))])
    assert [row[4] for row in rows] == [16, 1]
    for profile in "ABCDEF":
        text = suitescale._TEXT.format(profile=profile, scale=64)
        assert len(suiteplan.runs(suiteplan.parse(text, "x", "x"),
                                  "probe")) == 3


# --- over runs ---------------------------------------------------------------

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


def test_cells_are_medians_and_ranges():
    records = [record(f"rand-read.k2-2.half.s{seed}", factor)
               for seed, factor in ((101, 1.0), (102, 3.0), (103, 1.5))]
    cell, = suitedata.cells(records)
    assert cell["cell"] == "rand-read.k2-2.half"
    assert cell["seeds"] == [101, 102, 103] and cell["runs"] == 3
    assert cell["metrics"]["iops"] == {"median": 27500 * 1.5, "min": 27500,
                                       "max": 27500 * 3}
    assert cell["metrics"]["latency_p95_s"] is None
    assert cell["metrics"]["latency_p90_s"]["median"] == \
        pytest.approx(675e-6)


def test_a_percentile_that_one_seed_lacks_is_none():
    one, other = record(), record("rand-read.k2-2.half.s102")
    other["jobs"][0]["latency_s"]["p90"] = None
    cell, = suitedata.cells([one, other])
    assert cell["metrics"]["latency_p90_s"] is None


def test_repeats_and_compare():
    one = record()
    other = record("rand-read.k2-2.half.s101.r2", 1.004)
    far = record("rand-read.k2-2.half.s101.r2", 1.01)
    found, = suitedata.repeats([one, other])
    assert found["iops"] == pytest.approx(0.004, rel=0.01)
    assert found["tail"] == pytest.approx(0.004, rel=0.01)
    assert found["percentile"] == "p90"
    log = suitereport.Log(0)
    log.console = suitereport.Console(file=io.StringIO(), width=120)
    assert suitereport.differences(log.console, [found], "x")
    assert not suitereport.differences(
        log.console, suitedata.repeats([one, far]), "x")
    assert not suitereport.differences(log.console, [], "x")
    text = log.console.file.getvalue()
    assert "0.398%" in text and "p90" in text
    # A repetition is no further sample of a cell.
    cell, = suitedata.cells([one, far])
    assert cell["metrics"]["iops"]["max"] == one["total"]["iops"]


@pytest.mark.parametrize("factor, status", [(1.0, 0), (1.003, 0), (1.02, 1)])
def test_compare_directories(tmp_path, capsys, factor, status):
    for name, value in (("a", 1.0), ("b", factor)):
        (tmp_path / name).mkdir()
        options.write_json(tmp_path / name / "x.json", record(factor=value))
        (tmp_path / name / "summary.json").write_text('{"kind": "suite"}')
        (tmp_path / name / "broken.json").write_text("{")
    argv = ["--compare", str(tmp_path / "a"), str(tmp_path / "b")]
    assert suite.main(argv) == status
    assert "largest difference of IOPS" in capsys.readouterr().out
    (tmp_path / "empty").mkdir()
    assert suite.main(["--compare", str(tmp_path / "a"),
                       str(tmp_path / "empty")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


# --- claims ------------------------------------------------------------------

def sweep(**figures):
    """Cells in which everything that the paper claims holds.

    figures: "workload/variant/bound/metric" with __ for / and - as in names,
    times a factor: {("rand-read", "half", 1, "tail"): 2.0}.
    """
    tails = {1: 210e-6, 2: 195e-6, 4: 250e-6, 64: 1500e-6, None: 3000e-6}
    reads = {1: 45e6, 2: 90e6, 4: 170e6, 64: 500e6, None: 560e6}
    found = []
    for workload in ("seq-read", "rand-read", "seq-write", "rand-write"):
        for variant in ("half", "full"):
            for bound in (None, 1, 2, 4, 64):
                tail = tails[bound]
                if workload != "rand-read" and bound == 1:
                    tail = 150e-6
                if "read" in workload:
                    speed = reads[bound]
                else:
                    speed = 300e6 if variant == "half" else 200e6
                    if bound == 1 and variant == "half":
                        speed = 250e6
                change = figures.get("change", {})
                tail *= change.get((workload, variant, bound, "tail"), 1)
                speed *= change.get((workload, variant, bound, "speed"), 1)
                found.append({
                    "cell": f"{workload}.{bound}.{variant}",
                    "workload": workload, "variant": variant,
                    "scheduler": "k2" if bound else "none",
                    "tunables": {"max_inflight": str(bound)} if bound else {},
                    "metrics": {
                        "bandwidth_bytes_per_s": {"median": speed},
                        "latency_p99_s": {"median": tail},
                        "latency_p95_s": {"median": tail / 2},
                        "latency_p99_9_s": None}})
    return found


def verdicts(cells):
    """{claim: holds}."""
    return {row["id"]: row["holds"] for row in claims.k2(cells)}


def test_claims_that_hold():
    rows = claims.k2(sweep())
    assert {row["id"]: row["holds"] for row in rows} == dict.fromkeys(
        ("R1", "R2", "R3", "W1", "W2", "W3"), True)
    for row in rows:
        assert set(row) >= {"id", "text", "paper", "ours", "holds", "cells"}
        assert row["judged"] == row["wanted"] and row["cells"]
    r3 = rows[2]
    assert "p99" in r3["ours"] and "p99.9" not in r3["ours"]
    assert "210 against 195" in r3["ours"]
    json.dumps(rows)


@pytest.mark.parametrize("fails, change", [
    # Occupancy changes a read's bandwidth, or its tail.
    ("R1", {("seq-read", "full", 4, "speed"): 1.06}),
    ("R1", {("rand-read", "full", None, "tail"): 0.9}),
    # Bandwidth rises where the bound falls; does not fall at all.
    ("R2", {("seq-read", v, 2, "speed"): 2.0 for v in ("half", "full")}),
    ("R2", {("rand-read", v, b, "speed"): 560 / {1: 45, 2: 90, 4: 170,
                                                 64: 500, None: 560}[b]
            for v in ("half", "full") for b in (1, 2, 4, 64, None)}),
    # Two of four steps up; K2-1 better than K2-2.
    ("R3", {("seq-read", v, b, "tail"): f for v in ("half", "full")
            for b, f in ((1, 3.0), (4, 20.0))}),
    ("R3", {("rand-read", v, 1, "tail"): 0.9 for v in ("half", "full")}),
    # Occupancy changes nothing in one of the workloads.
    ("W1", {("seq-write", "full", b, "speed"): 1.5 * (250 / 300 if b == 1
                                                      else 1)
            for b in (None, 1, 2, 4, 64)}),
    ("W2", {("rand-write", "full", b, "tail"): f
            for b, f in ((1, 30.0), (2, 25.0), (4, 20.0))}),
    ("W3", {("seq-write", "half", 4, "speed"): 0.8}),
    ("W3", {(w, "half", 1, "speed"): 1.2 for w in ("seq-write",
                                                   "rand-write")}),
])
def test_claims_that_fail(fails, change):
    found = verdicts(sweep(change=change))
    assert found[fails] is False
    # Nothing else falls with it, but for what says the same.
    assert sum(value is False for value in found.values()) <= 2


def test_noise_is_no_order():
    change = {("seq-read", v, 2, "speed"): 170 / 90 * 1.004
              for v in ("half", "full")}
    assert verdicts(sweep(change=change))["R2"] is True


def test_claims_without_cells():
    assert set(verdicts([]).values()) == {None}
    half = [cell for cell in sweep() if cell["variant"] == "half"]
    found = {row["id"]: row for row in claims.k2(half)}
    assert found["R1"]["holds"] is None and found["W1"]["holds"] is None
    assert found["R2"]["holds"] is True
    assert found["R2"]["judged"] < found["R2"]["wanted"]
    no_tail = sweep()
    for cell in no_tail:
        cell["metrics"] = {"bandwidth_bytes_per_s":
                           cell["metrics"]["bandwidth_bytes_per_s"]}
    assert verdicts(no_tail)["W2"] is None
    assert verdicts(no_tail)["R2"] is True


def test_claims_use_one_percentile_for_all():
    cells = sweep()
    cells[3]["metrics"]["latency_p99_s"] = None
    ours = next(row for row in claims.k2(cells) if row["id"] == "R3")["parts"]
    used = [part["ours"].split(":")[0] for part in ours]
    assert "p95" in used and "p99" in used


@pytest.mark.parametrize("width, holds", [(0.1, True), (0.01, False)])
def test_the_error_of_a_percentile_is_no_difference(width, holds):
    cells = sweep(change={("rand-read", "full", 4, "tail"): 1.15})
    for cell in cells:
        middle = cell["metrics"]["latency_p99_s"]["median"]
        for end, factor in (("low", 1 - width), ("high", 1 + width)):
            cell["metrics"][f"latency_p99_{end}_s"] = {
                "median": middle * factor}
    row = claims.k2(cells)[0]
    assert row["holds"] is holds and row["parts"][0]["holds"] is True
    assert ("within its error elsewhere" in row["ours"]) is not holds


@pytest.mark.parametrize("width, change, holds", [
    # Two of four steps rise: by 2 and 5 %, which may be error or not.
    (0.1, {1: 1.33, 4: 6.3}, True), (0.001, {1: 1.33, 4: 6.3}, False),
    # Where all is within the error, the tail does not fall either.
    (0.1, {1: 19.0, 2: 15.0, 4: 11.5, 64: 1.95}, False),
    # A rise beyond the error counts, twice it is too much.
    (0.1, {1: 3.0, 4: 20.0}, False), (0.1, {4: 20.0}, True),
])
def test_steps_within_the_error(width, change, holds):
    cells = sweep(change={("seq-read", v, b, "tail"): f
                          for v in ("half", "full")
                          for b, f in change.items()})
    for cell in cells:
        middle = cell["metrics"]["latency_p99_s"]["median"]
        for end, factor in (("low", 1 - width), ("high", 1 + width)):
            cell["metrics"][f"latency_p99_{end}_s"] = {
                "median": middle * factor}
    row = claims.k2(cells)[2]
    assert row["holds"] is holds, row["ours"]
    assert "beyond the error" in row["ours"]


def test_ways_of_being_full():
    cells = sweep()
    for cell in cells:
        if (cell["workload"], cell["variant"]) == ("rand-write", "full"):
            cell["variant"] = "full-overwritten"
    assert verdicts(cells) == verdicts(sweep())
    assert all(row["judged"] == row["wanted"] for row in claims.k2(cells))


def test_other_cells_do_not_count():
    cells = sweep()
    strange = copy.deepcopy(cells[0])
    strange.update(cell=strange["cell"] + ".x1")
    strange["metrics"]["bandwidth_bytes_per_s"] = {"median": 1.0}
    depth = copy.deepcopy(strange)
    depth.update(cell="seq-read.none-qd1.half", tunables={"queue_depth": "1"})
    assert verdicts(cells + [strange, depth]) == verdicts(cells)


# --- running -----------------------------------------------------------------

class Arguments:
    """What a session wants of the options."""
    form, kernel, seeds, only, repeat = "short", "6.1", None, [], 1
    vms, keep, resume = 2, False, None


def session(tmp_path, done=(), form="short"):
    """A session that has not booted anything."""
    one = parsed()
    found = suite.Session(one, Arguments(), tmp_path / "out",
                          suiteplan.runs(one, form), done)
    found.speeds.path = tmp_path / "speed.json"
    found.speeds.known = {}
    found.save_plan()
    return found


def machine_for(found, count=2):
    """A machine with the first runs of a session, as if it had booted."""
    machine = suite.Machine(0, found.events, "6.1")
    machine.runs = found.todo[:count]
    machine.names = suite.slots(machine.runs)
    found.machines.append(machine)
    found.progress.clock.plan({r["id"]: 1.0 for r in machine.runs}, 1)
    for fact in ("release 6.1.0-x", "version Linux version 6", "cpus 1",
                 "fio 3.33"):
        found.line(machine, f"suite: fact {fact}")
    return machine


def send(found, machine, files):
    """The guest packs files, as `tar | gzip | base64` does."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    text = base64.b64encode(gzip.compress(packed.getvalue())).decode()
    for n in range(0, len(text), 1000):
        found.line(machine, "=" + text[n:n + 1000])


def deliver(found, machine, name, **more):
    """The guest makes a run."""
    run = found.by_id[name]
    ios = int(run["env"]["RT_IOS"])
    slot = next(key for key, value in machine.names.items()
                if value == name)
    found.line(machine, f"suite: begin {slot}")
    assert machine.under_way == name
    send(found, machine, {**raw_files(rt=ios), **more})
    found.line(machine, f"suite: done {slot}")


def test_what_the_guest_gets():
    runs = list(plan("short").values())[:2]
    files = suite.run_files(runs[0])
    assert "seed=101" in files["params"] and "time_scale=8" in files["params"]
    assert "RT_IOS=50\n" in files["env"] and "REGION=100\n" in files["env"]
    packed = suite.pack(runs)
    assert suite.pack(runs) == packed
    # An argument of a program has a limit of 128 KiB; runs of a boot fit.
    assert len(suite.pack(list(plan().values())[:suiteplan.BATCH_RUNS])) \
        < 30000
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(
            base64.b64decode(packed)))) as archive:
        names = archive.getnames()
        assert archive.extractfile("plan").read().decode().split() == \
            ["r00", "r01"]
    assert "r01/job.fio" in names
    # A repetition looks the same in the guest, to the byte.
    twice = list(plan("short", repeat=2).values())
    first, again = (batch for batch in suiteplan.batches(twice)
                    if batch[0]["cell"] == "rand-read.none.half")
    assert first[0]["id"] != again[0]["id"]
    assert suite.pack(first) == suite.pack(again)
    machine = suite.Machine(0, None, "6.1")
    machine.runs = runs
    command = machine.command(100)
    assert "--virtual-time" in command and packed in command[-1]
    assert not any("-virtfs" in word for word in command)


def test_a_session(tmp_path, capsys):
    found = session(tmp_path)
    found.announce()
    machine = machine_for(found)
    first, second = (run["id"] for run in machine.runs)
    deliver(found, machine, first)
    made = json.loads((tmp_path / "out" / f"{first}.json").read_text())
    assert made["passed"] and made["schema"] == 2
    assert made["kernel"] == "6.1.0-x" and made["seed_use"] == "report"
    assert made["fio_version"] == "3.33"
    for key in ("suite", "form", "cell", "label", "device", "order", "alloc",
                "map", "clock", "jobs", "total", "device_stats", "series",
                "chips", "cpu", "unscaled", "checks", "fio"):
        assert key in made
    deliver(found, machine, second, dmesg="<3>[1.0] it burns\n")
    assert found.conclude(0) == 1
    said = capsys.readouterr().out
    assert "log_clean" in said and "about" in said
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert list(summary["failed"]) == [second]
    assert summary["runs_done"] == 2
    # Raw files of the failed run stay, those of the good one do not.
    assert "burns" in (found.raw / second / "dmesg").read_text()
    assert not (found.raw / first).exists()


def test_damaged_data(tmp_path):
    found = session(tmp_path)
    machine = machine_for(found)
    name = machine.runs[0]["id"]
    found.line(machine, f"suite: begin {name}")
    found.line(machine, "=AAAA")
    found.line(machine, f"suite: done {name}")
    assert any("damaged" in text for text in found.trouble)
    assert not found.records


def test_resume_makes_only_what_is_missing(tmp_path):
    found = session(tmp_path)
    machine = machine_for(found)
    name = machine.runs[0]["id"]
    deliver(found, machine, name)
    assert found.conclude(signal.SIGINT) == 130
    saved = json.loads((tmp_path / "out" / "plan").read_text())
    again = suite.Session(parsed(), Arguments(), tmp_path / "out",
                          saved["runs"],
                          suite.load_records(tmp_path / "out"))
    assert len(again.todo) == len(again.runs) - 1
    assert name not in [run["id"] for run in again.todo]
    assert again.runs == found.runs
    # With nothing left to do it still says what there is.
    again.todo = []
    again.measure()
    assert again.conclude(0) == 1
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["kernel"] == "6.1.0-x" and summary["runs_done"] == 1


def test_resume_of_nothing(tmp_path, capsys):
    assert suite.main(["--resume", str(tmp_path)]) == 2
    assert "no plan" in capsys.readouterr().err


class Ended:
    """A process that has ended."""

    def __init__(self, status):
        self.returncode = status

    def poll(self):
        """Ended."""
        return self.returncode


def test_a_machine_that_died_is_replaced(tmp_path, monkeypatch):
    found = session(tmp_path)
    machine = machine_for(found, 3)
    names = [run["id"] for run in machine.runs]
    started = []

    def start(runs, _):
        started.append([run["id"] for run in runs])
        machine.runs, machine.made = list(runs), 0
    monkeypatch.setattr(machine, "start", start)
    deliver(found, machine, names[0])
    found.line(machine, f"suite: begin {names[1]}")
    machine.process = Ended(125)
    assert found.ended(machine)
    # The one that was under way is not tried again: it may be the reason.
    assert started == [[names[2]]]
    assert any(names[1] in text for text in found.trouble)
    # It dies again without any result: that is the end of it.
    found.batches = [found.todo[5:6]]
    assert not found.ended(machine)
    assert found.statuses == [125, 125] and not found.batches
    assert found.conclude(0) == 1


def test_batches_are_handed_out(tmp_path, monkeypatch):
    found = session(tmp_path)
    started = []
    monkeypatch.setattr(suite.Machine, "start", lambda self, runs, _:
                        started.append((self.number, len(runs))))
    found.launch()
    assert len(started) == 2 and len(found.batches) == 1
    assert found.next_batch(found.machines[1])
    assert not found.next_batch(found.machines[0])


def test_what_the_guest_has_to_say(tmp_path):
    found = session(tmp_path)
    machine = machine_for(found, 4)
    names = [run["id"] for run in machine.runs]
    found.line(machine, f"suite: begin {names[0]}")
    send(found, machine, {"said": "modprobe: no\n",
                          "dmesg": "<3>[1.0] flashsim: size_mb: want\n"})
    for text in (f"failed {names[0]} flashsim could not be loaded",
                 f"begin {names[1]}", f"unavailable {names[1]} has no k2-1",
                 "trouble it is late"):
        found.line(machine, f"suite: {text}")
    assert any("modprobe: no" in text and "size_mb: want" in text
               for text in found.trouble)
    assert "it is late" in found.trouble
    # That ours is not there is no reason to leave it out.
    assert any("has no k2-1" in text for text in found.trouble)
    assert not found.left_out
    deliver(found, machine, names[2], fio="")
    assert any("not understood" in text for text in found.trouble)
    assert not (tmp_path / "out" / f"{names[2]}.json").exists()


def test_tables():
    records = [record(), record("rand-read.k2-2.half.s102", 2.0)]
    records += [record("rand-read.none.half.s101", cpu={
        "busy_share": 0.4, "busy_ns_per_io": 1})]
    summary = suite.summarize("x", "t", "full", "k2", records,
                              {"trouble": [], "left_out": ["y"]})
    assert summary["cpu_too_busy"] == ["rand-read.none.half"]
    assert summary["seed_uses"] == {"report": [101, 102]}
    out = io.StringIO()
    console = suitereport.Console(file=out, width=140, color_system=None)
    suitereport.results(console, summary)
    text = out.getvalue()
    assert "CPU!" in text and "p90" in text and "time scale 8" in text
    assert "report (101, 102)" in text and "not measured" in text
    assert "left out: y" in text and "not scaled: " in text
    lines = text.splitlines()
    row = next(n for n, line in enumerate(lines) if line.startswith("k2-2"))
    assert lines[row].split()[1] == "169"
    assert lines[row + 1].split()[0] == "113-225"
    narrow = suitereport.Console(file=io.StringIO(), width=80)
    suitereport.cell_tables(narrow, summary)
    assert "\N{HORIZONTAL ELLIPSIS}" not in narrow.file.getvalue()
    suitereport.results(console, suite.summarize(
        "x", "t", "full", "k2", [], {"trouble": [], "left_out": []}))
    json.dumps(summary)


# --- options -----------------------------------------------------------------

@pytest.mark.parametrize("argv, said", [
    (["--frobnicate"], "--frobnicate"),
    (["k2", "--seeds", "x"], "'x'"),
    (["k2", "--repeat", "0"], "1 to 100"),
    (["k2", "--vms", "99"], "1 to 16"),
    (["--only", "x"], "only with a suite"),
    (["--form", "full"], "only with a suite"),
    (["k2", "--smoke"], "takes no suite"),
    (["--smoke", "--find-scale", "E"], "do not go together"),
    (["--find-scale", "Q"], "A, B, C"),
    (["--device", "/dev/x", "k2"], "--read-only"),
    (["--device", "/dev/x", "--read-only"], "which suite"),
    (["--read-only", "k2"], "only with --device"),
    (["--resume", "/nowhere"], "exists"),
    (["--compare", "/nowhere", "/"], "exists"),
    (["k2", "--out", "/dev/null"], "empty directory"),
    (["nvme", "--seed", "x"], "'x'"),
])
def test_bad_options(capsys, argv, said):
    with pytest.raises(SystemExit) as stop:
        suite.main(argv)
    text = capsys.readouterr().err
    assert stop.value.code == 2
    assert said in text and text.count("\n") == 1


@pytest.mark.parametrize("argv, said", [
    (["nonsense"], "k2"), (["k2", "--form", "x"], "short, full"),
    (["k2", "--only", "zzz", "--list"], "zzz")])
def test_bad_suites(capsys, argv, said):
    assert suite.main(argv) == 2
    text = capsys.readouterr().err
    assert said in text and text.count("\n") == 1


@pytest.mark.parametrize("argv, name, nvme", [
    ([], "k2", suite.MAIN_NVME), (["--smoke"], "smoke", ["--smoke"])])
@pytest.mark.parametrize("first, second, status, made", [
    (0, 0, 0, 2), (1, 0, 1, 2), (0, 1, 1, 2), (130, 0, 130, 1),
    (77, 0, 77, 1)])
def test_the_main_job(monkeypatch, capsys, argv, name, nvme, first, second,
                      status, made):
    calls = []

    def run_nvme(options):
        calls.append(options)
        return first

    def run_suite(args):
        calls.append((args.suite, args.form))
        return second
    monkeypatch.setattr(suite.bench, "main", run_nvme)
    monkeypatch.setattr(suite, "run_suite", run_suite)
    assert suite.main(argv) == status
    assert calls[0] == [*nvme, "--kernel", "6.1"] and len(calls) == made
    assert calls[1:] == [(name, "short")][:made - 1]
    if not argv:
        # Before anything else, what both of them cost together.
        assert "together" in capsys.readouterr().out.splitlines()[0]


def test_list(capsys):
    assert suite.main(["--list"]) == 0
    assert "k2: " in capsys.readouterr().out
    assert suite.main(["k2", "--list", "--only", "rand-read.k2-1.half-read"]) == 0
    assert "rand-read.k2-1.half-read  1 x" in capsys.readouterr().out


# --- a real device -----------------------------------------------------------

def fake_device(tmp_path, monkeypatch):
    """A Device whose sysfs is a directory."""
    disk = tmp_path / "sys/block/sdx"
    for name, text in {
            "dev": "8:0", "sdx1/partition": "1", "sdx1/dev": "8:1",
            "queue/scheduler": "none [mq-deadline] k2",
            "queue/nr_requests": "256", "queue/wbt_lat_usec": "2000",
            "queue/iosched/read_expire": "500",
            "sdx1/holders/dm-0": ""}.items():
        (disk / name).parent.mkdir(parents=True, exist_ok=True)
        (disk / name).write_text(text + "\n")
    mounts = tmp_path / "mounts"
    mounts.write_text("29 1 8:1 / /home rw - ext4 /dev/sdx1 rw\n"
                      "30 1 9:9 / /other rw - ext4 /dev/y rw\n")
    monkeypatch.setattr(suitehost.stat, "S_ISBLK", lambda mode: True)
    (tmp_path / "sys/dev/block").mkdir(parents=True)
    there = os.stat("/dev/null").st_rdev
    (tmp_path / "sys/dev/block" /
     f"{os.major(there)}:{os.minor(there)}").symlink_to(disk)
    device = suitehost.Device("/dev/null", tmp_path / "sys", mounts)

    def write(name, value):
        path = device.queue / name
        if name == "scheduler":
            value = " ".join(f"[{word}]" if word == value else word
                             for word in ("none", "mq-deadline", "k2"))
        path.write_text(f"{value}\n")
    monkeypatch.setattr(device, "write", write)
    return device


def test_a_device_is_put_back(tmp_path, monkeypatch):
    device = fake_device(tmp_path, monkeypatch)
    assert device.users() == ["sdx1 at /home", "sdx1 by dm-0"]
    monkeypatch.setattr(suite, "ignore_signals", lambda: None)
    with pytest.raises(suite.options.Interrupted):
        with device.kept():
            told = device.apply(["off queue/wbt_lat_usec 0",
                                 "select queue/scheduler none",
                                 "set queue/nr_requests 64"])
            assert device.settings(told) == "nr_requests\t64\t64\n"
            device.write("nr_requests", 32)
            assert device.settings(told) == "nr_requests\t64\t32\n"
            assert device.scheduler() == "none"
            assert device.read("wbt_lat_usec") == "0"
            device.write("iosched/read_expire", 1)
            raise suite.options.Interrupted(2)
    assert device.scheduler() == "mq-deadline"
    assert device.read("nr_requests") == "256"
    assert device.read("wbt_lat_usec") == "2000"
    assert device.read("iosched/read_expire") == "500"
    with pytest.raises(suitehost.Refused, match="no bfq"):
        device.apply(["select queue/scheduler bfq"])


def test_a_device_gets_reads_only():
    runs, left = suitehost.convert(list(plan().values()))
    assert runs and all(run["workload"] == "rand-read" for run in runs)
    assert all(run["time_scale"] == 1 and run["params"] == {} and
               run["variant"] == "real" for run in runs)
    # Both variants are the one device; .x1 is what all of them are.
    assert len({run["id"] for run in runs}) == len(runs) == 5 * 8
    assert all(run["env"]["THINKTIME_US"] == "2000" for run in runs)
    assert not any("times" in line for run in runs for line in run["setup"])
    told = " ".join(left)
    assert "rand-write: it writes" in told
    assert "queue depth" in told and "control groups" in told


def test_what_is_no_device(tmp_path, capsys):
    for path in ("/dev/null", tmp_path / "none"):
        with pytest.raises(suitehost.Refused):
            suitehost.Device(str(path))
    if os.geteuid() == 0:
        assert suite.main(["--device", "/dev/null", "--read-only",
                           "k2"]) == 2
        assert capsys.readouterr().err.count("\n") == 1


# --- the guest's side --------------------------------------------------------

def test_guest_script():
    path = REPO / "tests/vm/lib/suite-guest.sh"
    subprocess.run(["bash", "-n", path], check=True)
    text = path.read_text()
    # Names that both sides have to know.
    for name in ("params", "setup", "env", "job.fio", "iocost", "settings",
                 "device-stats", "series", "stat-before", "stat-after",
                 "stats-after", "cpu", "status", "dmesg", "inflight",
                 "tunables"):
        assert name in text
    assert suiteplan.GUEST_OUT.rsplit("/", 1)[0] in text
    assert f"sed 's/^/{suite.DATA}/'" in text


def test_the_guest_tells_what_is_in_sysfs(tmp_path):
    """Its settings are read when it is asked, and may have blanks."""
    text = (REPO / "tests/vm/lib/suite-guest.sh").read_text()
    functions = "".join(
        re.search(rf"^{name}\(\) {{.*?^}}\n", text, re.S | re.M)[0]
        for name in ("setup", "settings"))
    (tmp_path / "queue/iosched").mkdir(parents=True)
    (tmp_path / "queue/iosched/layout").write_text("none\n")
    (tmp_path / "queue/iosched/max_wait_ms").write_text("50\n")
    (tmp_path / "setup").write_text(
        "set queue/iosched/layout page=2048 chips=64\n"
        "times queue/iosched/max_wait_ms 16\noff queue/nothing 0\n")
    done = subprocess.run(
        ["bash", "-uc", f"SYS={tmp_path} WORK={tmp_path} OUT={tmp_path}\n"
         f"{functions}\nsetup && settings && echo none "
         ">$SYS/queue/iosched/layout && settings"],
        check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == [
        "layout\tpage=2048 chips=64\tpage=2048 chips=64",
        "max_wait_ms\t800\t800", "layout\tpage=2048 chips=64\tnone",
        "max_wait_ms\t800\t800"]
    assert suitedata.settings_kept(done.stdout) == [
        "layout: none instead of page=2048 chips=64"]
