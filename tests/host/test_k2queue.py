# SPDX-License-Identifier: GPL-2.0
"""K2 beside a short device queue: the suite, its claims, the section of the page."""

import importlib
import json
import pathlib
import re
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

benchdata = importlib.import_module("benchdata")
claims = importlib.import_module("claims")
k2queueclaims = importlib.import_module("k2queueclaims")
k2queueplots = importlib.import_module("k2queueplots")
k2results = importlib.import_module("k2results")
suitecase = importlib.import_module("suitecase")
suiteplan = importlib.import_module("suiteplan")
suitetime = importlib.import_module("suitetime")

# Latencies in us and MB/s: what a suite could come to
FIGURES = {
    ("reads-3", "k2-8"): (105, 200, 265, 300), ("reads-3", "none-q8"): (140, 230, 270, 300),
    ("reads-3", "mq-deadline-q8"): (165, 270, 340, 240),
    ("reads-3", "k2-8-map"): (105, 140, 150, 380),
    ("reads-16", "k2-8"): (106, 201, 266, 300), ("reads-16", "none-q8"): (300, 400, 450, 300),
    ("reads-16", "mq-deadline-q8"): (170, 280, 350, 240),
    ("reads-16", "k2-8-map"): (105, 140, 150, 380),
    ("reads-16", "k2-16"): (137, 340, 460, 410), ("reads-16", "none-q16"): (280, 480, 600, 410),
    ("reads-16", "k2-16-map"): (148, 200, 230, 500),
    ("reads-64", "k2-8"): (106, 201, 266, 300), ("reads-64", "none-q8"): (900, 1000, 1100, 300),
    ("reads-64", "mq-deadline-q8"): (170, 280, 350, 240),
    ("reads-64", "k2-8-map"): (105, 140, 150, 380),
    ("writeback", "k2-2-alone"): (40, 70, 80, 49), ("writeback", "none-q2"): (90, 120, 150, 50),
    ("writeback", "mq-deadline-q2"): (35, 70, 80, 50),
    **{(load, label): (90 + more, 120 + more, 150, 50)
       for load in k2queueclaims.WRITERS
       for label, more in (("k2-8", 0), ("none-q8", 10), ("mq-deadline-q8", 20))}}


def cells(**changed):
    """Cells with these figures; changed: {load_label: figures}."""
    found = []
    for (load, label), figures in FIGURES.items():
        figures = changed.get(f"{load}_{label}".replace("-", "_"), figures)
        metrics = {**{f"latency_{name}_s": value / 1e6
                      for name, value in zip(("p50", "p95", "p99"), figures)},
                   claims.BANDWIDTH: figures[3] * 1e6, "latency_count": 5000}
        found.append({"cell": f"{load}.{label}.e", "workload": load, "variant": "e",
                      "label": label, "scheduler": label.split("-q")[0].split("-8")[0],
                      "tunables": {}, "metrics": {
                          key: dict.fromkeys(("median", "min", "max"), value)
                          for key, value in metrics.items()}})
    return found


def verdicts(found):
    """{claim: holds}."""
    return {row["id"].removeprefix("Queue "): row["holds"]
            for row in claims.evaluate("k2-queue", found)}


# --- claims ------------------------------------------------------------------

def test_without_cells_there_is_no_verdict():
    assert set(verdicts([]).values()) == {None}


def test_all_hold():
    assert set(verdicts(cells()).values()) == {True}


@pytest.mark.parametrize("changed, missed", [
    ({"reads_16_k2_16": (170, 340, 460, 410)}, {"p50"}),
    ({"reads_16_none_q16": (280, 440, 600, 410)}, {"p95"}),
    ({"reads_64_none_q8": (420, 1000, 1100, 300)}, {"jobs"}),
    # Shares of 0.75, 0.35, 0.36: they do not fall
    ({"reads_64_none_q8": (296, 1000, 1100, 300)}, {"jobs"}),
    # As short a p99 as p50, in proportion
    ({"reads_3_none_q8": (140, 230, 352, 300)}, {"p99"}),
    ({"reads_16_k2_16_map": (148, 200, 330, 500)}, {"map"}),
    ({"reads_3_mq_deadline_q8": (130, 270, 340, 240)}, {"mq-deadline"}),
    ({"reads_64_mq_deadline_q8": (170, 280, 350, 280)}, {"mq-deadline"}),
    ({"fsync_k2_8": (90, 137, 150, 50)}, {"writers"}),
    ({"writeback_k2_2_alone": (61, 70, 80, 49)}, {"alone"}),
    ({"writeback_k2_2_alone": (40, 74, 80, 49)}, {"alone"}),
    ({"writeback_none_q2": (90, 115, 150, 50)}, {"alone"}),
    ({"writeback_mq_deadline_q2": (35, 70, 80, 52)}, {"alone"}),
    ({"writeback_k2_2_alone": (40, 70, 80, 47)}, {"alone"})])
def test_each_can_be_missed(changed, missed):
    found = verdicts(cells(**changed))
    assert {name for name, holds in found.items() if not holds} == missed


def test_a_part_says_its_size():
    row = next(row for row in claims.evaluate("k2-queue", cells())
               if row["id"] == "Queue p50")
    assert row["parts"][2]["ours"] == "106 against 300 us, 0.35"
    # Bounds 2 and 4 are not among the cells.
    assert (row["judged"], row["wanted"]) == (2, 4)


# --- the suite ---------------------------------------------------------------

def runs_of(form):
    """The cells of a form."""
    return {run["cell"]: run for run in suiteplan.runs(suiteplan.load("k2-queue"), form)}


@pytest.mark.parametrize("form, minutes", [
    ("short", 10), ("jobs", 10), ("full", 240), ("tail", 170)])
def test_forms_take_as_long_as_they_say(tmp_path, form, minutes):
    """On a machine that has measured nothing yet."""
    one = suiteplan.load("k2-queue")
    assert one.forms[form].minutes == minutes
    assert suitetime.total_seconds(suiteplan.runs(one, form), suitetime.Speeds(
        tmp_path / "none"), 2) <= minutes * 60
    assert form != "short" or len(runs_of(form)) <= 40


def test_form_jobs_has_p95():
    """Of each number of jobs."""
    found = runs_of("jobs")
    assert {run["workload"] for run in found.values()} == {"reads-3", "reads-16", "reads-64"}
    for run in found.values():
        assert benchdata.percentile({"N": int(run["env"]["RT_IOS"]),
                                     "percentile": {"95.000000": 1e6}}, 95) == 1e-3


def test_the_full_form_has_what_is_claimed():
    """All parts of all claims, with enough requests for p99."""
    found = runs_of("full")
    wanted = {name for row in claims.evaluate("k2-queue", [
        {**run, "metrics": {}} for run in found.values()]) for name in row["cells"]}
    assert {f"reads-16.{label}.e" for bound in (2, 4, 8, 16) for label in (
        f"k2-{bound}", f"none-q{bound}")} <= wanted <= set(found)
    assert {name for name, run in found.items() if run["env"]["RT_IOS"] == "5000"} == {
        *(name for name, run in found.items() if run["workload"] == "reads-16"
          and run["label"] not in ("none", "mq-deadline")),
        *(f"reads-{jobs}.{label}.e" for jobs in (3, 64) for label in (
            "none-q8", "mq-deadline-q8", "k2-8", "k2-8-map"))}
    assert {run["env"]["RT_IOS"] for run in found.values()} == {"1000", "5000"}
    assert suiteplan.load("k2-queue").forms["full"].seeds == [101, 102, 103, 104, 105]


def test_queues_and_bounds_are_alike():
    """The drive holds x; mq-deadline has more scheduler tags than that."""
    found = runs_of("full")
    for bound in k2queueclaims.BOUNDS:
        none, deadline, k2, mapped = (found[f"reads-16.{label}.e"] for label in (
            f"none-q{bound}", f"mq-deadline-q{bound}", f"k2-{bound}", f"k2-{bound}-map"))
        assert none["params"]["queue_depth"] == deadline["params"]["queue_depth"] == str(bound)
        assert "set queue/nr_requests 2048" in deadline["setup"]
        assert f"set queue/iosched/max_inflight {bound}" in k2["setup"]
        assert "queue_depth" not in k2["params"]
        assert any("layout page=" in line for line in mapped["setup"])


def test_writeback_throttling():
    """Off as everywhere; then on where the workload says so, scaled."""
    found = runs_of("full")
    for load in k2queueclaims.WRITERS:
        run = found[f"{load}.k2-8.e-fs"]
        assert run["setup"][0] == "off queue/wbt_lat_usec 0"
        assert run["setup"][-1] == f"set queue/wbt_lat_usec {2000 * run['time_scale']}"
        assert any("throttling" in text for text in run["unscaled"])
    assert not any("set queue/wbt_lat_usec" in line
                   for line in found["reads-16.k2-8.e"]["setup"])
    assert "from 1 to 1000000" in suitecase.refusal(
        suitecase.GOOD, "warmup = 20", "wbt_lat_usec = 0")


# --- the page ----------------------------------------------------------------

def summary(found):
    """A summary.json."""
    return {"suite": "k2-queue", "form": "short", "runs_done": len(found),
            "runs_planned": len(found), "seed_uses": {"report": [101]},
            "kernel": "6.12", "commit": "abc", "clock": "virtual",
            "bench_command": "scripts/bench k2-queue", "cells": found}


def test_the_section(tmp_path):
    """A picture, the claims, a row for each cell."""
    (tmp_path / "r").mkdir()
    (tmp_path / "r/summary.json").write_text(json.dumps(summary(cells())))
    out = tmp_path / "docs.md"
    assert k2results.main([str(tmp_path / "r"), "--out", str(out)]) == 0
    text = out.read_text().partition("## A short device queue instead of K2")[2]
    assert "| **Queue p50**: " in text and "commit abc" in text
    assert "| reads-16 | k2-8 | 5000 | 106 | 201 | 266 | – | – | 300 |" in text
    picture, = re.findall(r"!\[.*\]\((docs/[\w-]+\.svg)\)", text)
    drawn = (tmp_path / picture).read_text()
    for name in (">p50, 16 jobs<", ">p99, x = 8<", "K2-x with a map",
                 "mq-deadline, device queue of x"):
        assert name in drawn, name
    assert ">p99.9, " not in drawn
    assert len(k2results.QUEUE.split()) <= 350


@pytest.mark.parametrize("scheduler, workload, tunables, wanted", [
    ("none", "reads-16", {"queue_depth": "8"}, 80e-6),
    ("k2", "reads-3", {"max_inflight": "2", "layout": "right"}, 20e-6),
    # The drive's own queue, which has no limit of ours
    ("none", "reads-16", {}, None),
    # These do not keep the drive full.
    ("mq-deadline", "reads-16", {"queue_depth": "8"}, None),
    ("k2", "fsync", {"max_inflight": "8"}, None),
    ("k2", "reads-16", {"max_inflight": "8", "rt_alone": "1"}, None),
    ("k2", "reads-16", {"max_inflight": "8", "rt_alone": "0"}, 80e-6),
])
def test_the_time_in_the_drive(scheduler, workload, tunables, wanted):
    cell = {"scheduler": scheduler, "workload": workload, "tunables": tunables,
            "metrics": {"iops": dict.fromkeys(("median", "min", "max"), 1e5)}}
    assert k2results.time_in_drive(cell) == (wanted and pytest.approx(wanted))


def test_where_the_pictures_points_are():
    found = cells()
    none = next(line[1] for line in k2queueplots.LINES if line[0].startswith("none"))
    assert [k2queueplots.points(found, none, "p50", row) for row in (0, 1)] == [
        [(8, pytest.approx(300)), (16, pytest.approx(280))],
        [(3, pytest.approx(140)), (16, pytest.approx(300)), (64, pytest.approx(900))]]


def test_nothing_to_draw(tmp_path):
    with pytest.raises(k2queueplots.Nothing):
        k2queueplots.draw(tmp_path / "x.svg", [], "x")
