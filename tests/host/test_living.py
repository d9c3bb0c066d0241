# SPDX-License-Identifier: GPL-2.0
"""Suite share-living: its plan, its tenants with several jobs, its claims."""

import importlib
import pathlib
import re
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

fairness = importlib.import_module("fairness")
claims = importlib.import_module("claims")
livingclaims = importlib.import_module("livingclaims")
livingresults = importlib.import_module("livingresults")
suitedata = importlib.import_module("suitedata")
suiteplan = importlib.import_module("suiteplan")
suiteshare = importlib.import_module("suiteshare")

SUITE = suiteplan.load("share-living")
FULL = {run["cell"]: run for run in suiteplan.runs(SUITE, "full")}
# Variables of a pause: its length, or the time from one burst to the next
PAUSES = ("THINK_US", "PERIOD_US")


# --- tenants of several jobs -------------------------------------------------

JOBS = {"a.read": {"offset": "0%", "size": "50%", "iodepth": "2"},
        "a.write": {"offset": "0%", "size": "50%", "numjobs": "3"},
        "b": {"offset": "50%", "size": "50%"}}


def test_jobs_of_one_tenant():
    assert suiteshare.parse("a:100 b:200", JOBS, "cgroup") == [
        {"name": "a", "weight": 100, "alone": None},
        {"name": "b", "weight": 200, "alone": None}]
    apart = {**JOBS, "a.write": {"offset": "50%", "size": "50%"}}
    with pytest.raises(ValueError, match="the same for all"):
        suiteshare.parse("a:100 b:200", apart, "cgroup")
    # With a file system of its own a tenant has no offset.
    assert suiteshare.parse("a:1 b:2", {"a.read": {}, "a.write": {}, "b": {}},
                            "cgroup", files=True)


@pytest.mark.parametrize("more, depth", [
    ({}, 5), ({"thinktime": "5"}, None), ({"fsync_on_close": "1"}, None)])
def test_what_a_tenant_keeps_outstanding(more, depth):
    workload = SUITE.workloads["msn-30"]
    one = suiteplan.Workload(**{**vars(workload), "tenants": tuple(
        suiteshare.parse("a:100 b:200", JOBS, "cgroup"))})
    found = suiteshare.described(
        one, {**JOBS, "a.read": {**JOBS["a.read"], **more}}, {}, 100)
    assert [row["depth"] for row in found] == [depth, 1]


def test_the_jobs_of_a_tenant_count_together():
    jobs = [{"name": name, "ios": 2, "bytes": 8192, "bandwidth_bytes_per_s": 10.0}
            for name in ("a.read", "a.write", "a.write", "b")]
    found, samples = suiteshare.of_tenants(
        jobs, [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]],
        [{"name": "a"}, {"name": "b"}], suitedata.latency)
    assert samples == {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": [7.0, 8.0]}
    assert (found[0]["ios"], found[0]["bandwidth_bytes_per_s"]) == (6, 30.0)
    assert found[0]["latency_s"]["max"] == 6.0
    assert found[1]["name"] == "b" and found[1]["latency_s"]["mean"] == 7.5


def test_each_tenant_has_a_file_system():
    run = FULL["buffered-60.acfq-paper.c-files"]
    assert [one["span_pct"] for one in run["tenants"]] == [
        [0, 25], [25, 50], [50, 75], [75, 100]]
    sections = suiteplan.job_sections(run["job_text"])
    assert sections["grp4.write"]["cgroup"] == "grp4"
    assert sections["grp4.write"]["unlink_each_loop"] == "1"
    assert "unlink_each_loop" not in sections["grp4.read"]


def test_the_guest_makes_a_file_system_for_each_tenant(tmp_path):
    """In equal parts of the device, which do not overlap."""
    (tmp_path / "sys").mkdir()
    (tmp_path / "sys/size").write_text("4096\n")
    (tmp_path / "groups").write_text("grp1 100 -\ngrp2 200 -\n")
    guest = (REPO / "tests/vm/lib/suite-guest.sh").read_text()
    functions = "".join(re.search(rf"^{name}\(\) {{.*?^}}\n", guest, re.M | re.S)[0]
                        for name in ("tenants_fs", "leave_fs"))
    done = subprocess.run(["bash", "-euc", f"""
        WORK={tmp_path} SYS={tmp_path}/sys DISK=disk MOUNT={tmp_path}/mnt
        modprobe() {{ :; }}
        dmsetup() {{
                case $1 in
                info) echo "dm-${{@: -1}}" ;;
                *) printf '%s ' "$@"; echo ;;
                esac
        }}
        mkfs() {{ echo "mkfs $*"; }}
        mount_fs() {{ echo "mount $*"; }}
        each_fs() {{ echo "each $*"; }}
        {functions}
        tenants_fs 16 mkfs -q
        leave_fs"""], capture_output=True, text=True, check=True)
    assert [re.sub(r" +$", "", line) for line in done.stdout.splitlines()] == [
        "create --noudevsync --noudevrules grp1 --table 0 2048 linear /dev/disk 0",
        "mkfs -q /dev/dm-grp1", f"mount /dev/dm-grp1 {tmp_path}/mnt/grp1 16",
        "create --noudevsync --noudevrules grp2 --table 0 2048 linear /dev/disk 2048",
        "mkfs -q /dev/dm-grp2", f"mount /dev/dm-grp2 {tmp_path}/mnt/grp2 16",
        "each umount", "remove --noudevsync grp1", "remove --noudevsync grp2"]
    assert not list((tmp_path / "mnt").iterdir())


# --- the plan ----------------------------------------------------------------

def test_loads_differ_by_their_pause_alone():
    paper = suiteplan.load("share-paper")
    for name in (*livingclaims.FOUR, *livingclaims.MIXES):
        rows = [SUITE.workloads[f"{name}-{level}"] for level in livingclaims.LEVELS]
        pauses = [[int(value) for key, value in row.env.items()
                   if key in PAUSES] for row in rows]
        assert pauses[0] > pauses[1] > pauses[2]
        assert len({tuple((key, value) for key, value in row.env.items()
                          if key not in PAUSES) for row in rows}) == 1
        if name in paper.workloads and "SIZES" in rows[0].env:
            assert {key: rows[0].env[key] for key in ("READS", "SIZES")} == {
                key: paper.workloads[name].env[key] for key in ("READS", "SIZES")}
        weights = {one["name"]: one["weight"] // 100 for one in rows[0].tenants}
        if name in livingclaims.FOUR:
            assert weights == livingclaims.WEIGHTS
        else:
            assert [one["weight"] for one in rows[0].tenants] == [
                one["weight"] for one in paper.workloads[name].tenants]


def test_the_drive_and_the_schedulers_are_those_of_share_paper():
    paper = suiteplan.load("share-paper")
    assert SUITE.variants["c"] == paper.variants["c"]
    assert {**SUITE.variants["c-files"], "data": "none"} == paper.variants["c"]
    known = {one.label: one.tunables for one in paper.schedulers}
    assert all(known[one.label] == one.tunables for one in SUITE.schedulers)


def test_databases_are_on_the_drive_that_keeps_data():
    runs = [run for run in FULL.values() if run["workload"].startswith("db-")]
    assert {run["workload"] for run in runs} == {
        f"db-{level}" for level in livingclaims.LEVELS}
    assert {run["variant"] for run in runs} == {livingclaims.drive("db-60")} == {"c-files"}
    assert all(run["database"] and run["fs"]["type"] == "ext4" for run in runs)


def test_no_tenant_keeps_a_number_outstanding():
    assert all(one["depth"] is None for run in FULL.values()
               for one in run["tenants"])


# --- claims ------------------------------------------------------------------

@pytest.mark.parametrize("asked, total, want", [
    ([9, 9, 9, 9], 12, [1, 2, 4, 5]), ([3, 3, 3, 3], 12, [3, 3, 3, 3]),
    ([3, 3, 3, 3], 9, [1, 2, 3, 3]), ([0, 9, 9, 9], 11, [0, 2, 4, 5])])
def test_parts_that_are_asked_for(asked, total, want):
    assert fairness.filled([1, 2, 4, 5], asked, total) == pytest.approx(want)


def cell(name, rates=(), **metrics):
    """A measured cell; rates: of the four tenants."""
    workload, label, variant = name.split(".")
    metrics.update({f"{tenant}_bandwidth_bytes_per_s": rate for tenant, rate in
                    zip(livingclaims.WEIGHTS, rates)})
    return {"cell": name, "workload": workload, "label": label, "variant": variant,
            "metrics": {key: {"median": value} for key, value in metrics.items()}}


def verdicts(*cells):
    """{figure: the verdict of its first part}."""
    return {row["id"]: row["parts"][0]["holds"]
            for row in livingclaims.claims_of(cells)}


def test_throughput_of_runs_that_have_a_duration():
    # Their number of requests differs as their throughput does.
    def of(bandwidth):
        found = verdicts(*(
            cell(f"ycsb-a-60.{label}.c", ios=rate * 100, latency_mean_s=1e-3,
                 bandwidth_bytes_per_s=rate) for label, rate in
            (("bfq", 100), ("hbfq-paper", bandwidth))))
        return found["Fig 18c, 19a"]
    assert of(94) is True and of(92) is False


@pytest.mark.parametrize("asked, got, pv, want", [
    ((9, 9, 9, 9), (3, 3, 3, 3), 2, True),
    # Nobody asks for more than the others get.
    ((3, 3, 3, 3), (3, 3, 3, 3), 2, False),
    ((9, 9, 9, 9), (1, 2, 4, 5), 0, False)])
def test_a_share_that_is_not_asked_for_is_no_miss(asked, got, pv, want):
    assert verdicts(cell("prn-60.none.c", asked),
                    cell("prn-60.cfq.c", got, pv_sectors=pv))[
                        "Fig 1, 2"] is want


@pytest.mark.parametrize("claim, metric, values, want", [
    ("Fig 14", "pv_sectors", {"acfq-paper": 0.1, "cfq": 0.3, "bfq": 0.4}, True),
    ("Fig 14", "pv_sectors", {"acfq-paper": 0.1, "cfq": 0.15, "bfq": 0.4}, False),
    ("Fig 18a, b", "pv_sectors", {"hbfq-paper": 0.1, "cfq": 1, "bfq": 1}, True),
    ("Fig 10", "pv_sectors", {"cfq": 0.1, "cfq-time": 0.5}, True),
    ("Fig 11", "pv_sectors", {"cfq-sectors": 0.1, "cfq": 0.3}, True),
    ("Fig 11", "pv_sectors", {"cfq-sectors": 0.1, "cfq": 0.15}, False),
    ("Fig 7", "window_pv_median_sectors", {"cfq-qd1": 0.5, "cfq": 1}, True),
    ("Fig 7", "window_pv_median_sectors", {"cfq-qd1": 0.96, "cfq": 1}, False),
    ("Fig 15", "window_pv_max_sectors", {"acfq-paper": 1, "bfq": 2}, True),
    ("Fig 19b", "grp1_latency_stddev_s",
     {"hbfq-paper": 1, "cfq": 2, "bfq": 2, "acfq-paper": 2}, True),
    ("Fig 19b", "grp1_latency_stddev_s",
     {"hbfq-paper": 1, "cfq": 2, "bfq": 2, "acfq-paper": 1}, False),
    # The longest latency is compared, too.
    ("Fig 20", "grp1_latency_stddev_s", {"hbfq-128": 1, "hbfq-2048": 2}, None),
    ("Fig 20", "grp1_latency_max_s", {"hbfq-128": 2, "bfq": 1}, False)])
def test_figures_of_four_tenants(claim, metric, values, want):
    cells = [cell("prn-30.none.c", (9, 9, 9, 9)), *(
        cell(f"prn-30.{label}.c", (1, 2, 4, 5), **{metric: value})
        for label, value in values.items())]
    assert verdicts(*cells)[claim] is want


def test_budgets():
    cells = [cell("prn-30.none.c", (9, 9, 9, 9)), *(
        cell(f"prn-30.{label}.c", (1, 2, 4, 5), grp1_latency_stddev_s=value,
             grp1_latency_max_s=value)
        for label, value in (("hbfq-128", 1), ("hbfq-2048", 2), ("bfq", 2)))]
    assert verdicts(*cells)["Fig 20"] is True


@pytest.mark.parametrize("ours, want", [(10, True), (30, False)])
def test_inversions_count_for_each_window(ours, want):
    cells = [cell(f"mix-125-90.{label}.c", inversions_sectors=count,
                  windows_sectors=windows)
             for label, count, windows in (
                 ("acfq-paper", ours, 20), ("hbfq-paper", ours, 20),
                 ("cfq", 10, 10), ("bfq", 10, 10))]
    assert verdicts(*cells)["Fig 25"] is want
    assert "Fig 25" not in verdicts(cell("mix-111-90.cfq.c"))


def test_what_tenants_do_not_ask_for_is_no_ones_merit():
    """PVs of schedulers with unlike totals are compared beyond what is unavoidable."""
    free = cell("prn-60.none.c", (3, 3, 3, 3))
    # All that is asked for: PV 2 cannot be helped. Half of it could be exact.
    fast = cell("prn-60.cfq.c", (3, 3, 3, 3), pv_sectors=2.1)
    slow = cell("prn-60.hbfq-paper.c", (.5, 1, 2, 2.5), pv_sectors=0.5)
    assert verdicts(free, fast, slow)["Fig 18a, b"] is False
    # More than without a scheduler: what they would ask for is not known.
    for rate, want in ((3.1, pytest.approx(2)), (3.2, None)):
        assert livingclaims.unavoidable(
            "prn-60", cell("prn-60.bfq.c", (rate,) * 4), free) == want
    # A load shows a figure only if all that is compared on it was judged.
    more = cell("prn-60.bfq.c", (4, 4, 4, 4), pv_sectors=9)
    near = cell("prn-60.hbfq-paper.c", (3, 3, 3, 3), pv_sectors=2)
    far = cell("prn-60.cfq.c", (3, 3, 3, 3), pv_sectors=8)
    row = next(row for row in livingclaims.claims_of([free, more, near, far])
               if row["id"] == "Fig 18a, b")
    assert [part["holds"] for part in row["parts"]] == [None] and not row["cells"]
    mix = [cell("mix-125-60.none.c"), cell("mix-125-60.cfq.c", pv_sectors=1)]
    for one in mix:
        one["metrics"].update({f"{name}_bandwidth_bytes_per_s": {"median": rate}
                               for name, rate in (("msn", 1), ("prj", 2), ("prn", 5))})
    assert livingclaims.unavoidable("mix-125-60", *reversed(mix)) == 0


@pytest.mark.parametrize("held, want", [
    ((True,), True), ((False, False), None), ((False, False, False), False),
    ((False, False, False, True), True)])
def test_one_load_is_enough_and_three_are_for_absence(held, want):
    cells = []
    for load, holds in zip(("msn-30", "msn-60", "msn-90", "prn-60"), held):
        cells += [cell(f"{load}.none.c", (9, 9, 9, 9)),
                  cell(f"{load}.cfq.c", (1, 2, 4, 5), pv_sectors=1 if holds else 0)]
    found = {row["id"]: row for row in livingclaims.claims_of(cells)}["Fig 1, 2"]
    assert found["holds"] is want and len(found["parts"]) == len(held)


def test_loads_without_cells_have_no_claims():
    assert not livingclaims.claims_of([])
    assert set(verdicts(cell("msn-60.cfq.c")).values()) == {None}


@pytest.mark.parametrize("values, want, held", [
    ((1., 1., 1.), True, 1), ((1., 1., 0.), None, 0), ((0., 0., 1.), None, 0)])
def test_a_load_shows_it_with_each_of_its_seeds(values, want, held):
    """Of many loads one may show a direction by chance, with most of its seeds too."""
    cells = [cell("msn-30.none.c", (9, 9, 9, 9)),
             cell("msn-30.cfq.c", (1, 2, 4, 5), pv_sectors=1)]
    for one in cells:
        one["seeds"] = [101, 102, 103]
        for metric in one["metrics"].values():
            metric["values"] = [metric["median"]] * 3
    cells[1]["metrics"]["pv_sectors"] = {"median": sorted(values)[1], "values": list(values)}
    found = {row["id"]: row for row in livingclaims.over_seeds(cells)}["Fig 1, 2"]
    assert found["holds"] is want
    assert sum(part["holds"] is True for part in found["parts"]) == held
    assert ("seeds" in found["parts"][0]) is (len(set(values)) > 1)
    # The summary and the report of a run judge as the page does.
    assert claims.evaluate("share-living", cells) == livingclaims.over_seeds(cells)


def test_where_each_figure_appears():
    def part(holds, *cells, **more):
        return {"holds": holds, "cells": list(cells), **more}
    found = livingresults.appears([
        {"id": "Fig 14", "paper": "prj and prn", "parts": [
            part(True, "prj.a.c", "prj.b.c"), part(False, "prj.a.c", "prj.d.c"),
            part(True, "prn.a.c"), part(None, "msn.a.c"), part(True, "prj.e.c")]},
        {"id": "Fig 20c", "paper": "x", "parts": [part(True, "prj.a.c", "prn.a.c")]},
        {"id": "Fig 20d", "paper": "x", "parts": [part(True, "prn.b.c", seeds=[1, 2])]},
        {"id": "Bound", "paper": "aim: x", "parts": [part(True, "prj.a.c")]}])
    assert found == {"Fig 14": {"prj": False, "prn": True},
                     "Fig 20c": {"prj": True, "prn": True}, "Fig 20d": {"prn": False}}
    assert list(livingresults.where(found, {"Fig 15, 16": {"db-60": True}}))[2:4] == [
        "| Figure 14 | prn | prj | – | – |", "| Figures 15, 16 | – | – | db-60 | – |"]
