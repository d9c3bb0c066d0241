# SPDX-License-Identifier: GPL-2.0
"""scripts/bench SUITE: files, plans, estimates; nothing is booted."""

import importlib
import pathlib
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

suite = importlib.import_module("suite")
suitecase = importlib.import_module("suitecase")
suitehost = importlib.import_module("suitehost")
suiteplan = importlib.import_module("suiteplan")
suitereport = importlib.import_module("suitereport")
suitetime = importlib.import_module("suitetime")

parsed = suitecase.parsed
plan = suitecase.plan
GOOD = suitecase.GOOD


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


def test_only_one_cell_or_those_that_fit():
    def cells(*patterns):
        return [run["cell"] for run in suiteplan.chosen(
            [{"cell": name} for name in ("a.k2-8.e", "a.k2-8.e-fs", "b.k2-8.e.x1", "b.k2-8.e")],
            patterns)]
    assert cells("a.k2-8.e") == ["a.k2-8.e"]
    assert cells("b.k2-8.e", "a.*-fs") == ["a.k2-8.e-fs", "b.k2-8.e"]
    assert cells("k2-8.e") == ["a.k2-8.e", "a.k2-8.e-fs", "b.k2-8.e.x1", "b.k2-8.e"]
    assert cells("*.k2-8.e") == ["a.k2-8.e", "b.k2-8.e"]
    assert not cells("c")


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
    assert jobs["rt"]["log_entries"] == str(suiteplan.LOG_ENTRIES)
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
