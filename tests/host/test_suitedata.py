# SPDX-License-Identifier: GPL-2.0
"""scripts/bench SUITE: what is concluded from runs, and claims."""

import copy
import importlib
import io
import json
import pathlib
import sys

import pytest
import rich.console

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

claims = importlib.import_module("claims")
options = importlib.import_module("options")
suite = importlib.import_module("suite")
suitecase = importlib.import_module("suitecase")
suitedata = importlib.import_module("suitedata")
suiteplan = importlib.import_module("suiteplan")
suitereport = importlib.import_module("suitereport")
suitescale = importlib.import_module("suitescale")

fio_text = suitecase.fio_text
evaluated = suitecase.evaluated
record = suitecase.record
STAT = suitecase.STAT


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
    # fio computes its own percentiles from buckets.
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


def test_a_log_that_is_full(monkeypatch):
    """fio waits for all requests of a job before it enlarges the job's log."""
    monkeypatch.setattr(suiteplan, "LOG_ENTRIES", 500)
    assert evaluated()["checks"]["unpaused"]["passed"]
    monkeypatch.setattr(suiteplan, "LOG_ENTRIES", 499)
    found = evaluated()
    assert not found["passed"]
    assert found["checks"]["unpaused"]["paused"] == ["rt"]


@pytest.mark.parametrize("more", [
    {"fio": ""}, {"fio": "{}"}, {"fio": "no json {"},
    {"rt_lat.1.log": "nonsense\n"}])
def test_nothing_to_conclude_from(more):
    with pytest.raises((ValueError, KeyError)):
        evaluated(**more)


@pytest.mark.parametrize("name", [*suitedata.MAY_BE_EMPTY,
                                  *suitedata.NOT_EMPTY])
def test_what_a_guest_always_leaves(name):
    """A check has nothing to find where its file is missing."""
    run = suitecase.plan()["rand-read.k2-2.half.s101"]
    raw = suitecase.raw_files()
    del raw[name]
    with pytest.raises(ValueError, match=f"^no {name}$"):
        suitedata.evaluate(raw, run, suitecase.MACHINE)


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

def test_cells_are_medians_and_ranges():
    records = [record(f"rand-read.k2-2.half.s{seed}", factor)
               for seed, factor in ((101, 1.0), (103, 1.5), (102, 3.0))]
    cell, = suitedata.cells(records)
    assert cell["cell"] == "rand-read.k2-2.half"
    assert cell["seeds"] == [101, 102, 103] and cell["runs"] == 3
    assert cell["metrics"]["iops"] == {
        "median": 27500 * 1.5, "min": 27500, "max": 27500 * 3,
        "values": [27500, 27500 * 3, 27500 * 1.5]}
    assert cell["metrics"]["latency_p95_s"] is None
    assert cell["metrics"]["latency_p90_s"]["median"] == \
        pytest.approx(675e-6)


def test_a_seed_whose_first_run_is_lost():
    """Each seed counts once, with the first repetition that there is."""
    records = [record(f"rand-read.k2-2.half.s{name}", factor) for name, factor in (
        ("101.r2", 1.0), ("102.r2", 4.0), ("102", 2.0))]
    cell, = suitedata.cells(records)
    assert cell["seeds"] == [101, 102]
    assert cell["metrics"]["iops"]["values"] == [27500, 55000]


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
    log.console = rich.console.Console(file=io.StringIO(), width=120)
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
