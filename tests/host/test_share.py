# SPDX-License-Identifier: GPL-2.0
"""Suites with tenants: plans and claims; nothing is booted."""

import importlib
import json
import pathlib
import re
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

claims = importlib.import_module("claims")
shareclaims = importlib.import_module("shareclaims")
sharecase = importlib.import_module("sharecase")
sharepictures = importlib.import_module("sharepictures")
shareresults = importlib.import_module("shareresults")
sharewords = importlib.import_module("sharewords")
suite = importlib.import_module("suite")
suitecase = importlib.import_module("suitecase")
suitedata = importlib.import_module("suitedata")
suitehost = importlib.import_module("suitehost")
suiteplan = importlib.import_module("suiteplan")
suiteshare = importlib.import_module("suiteshare")
suitetime = importlib.import_module("suitetime")

GOOD = sharecase.GOOD
plan = sharecase.plan


# --- the suite ---------------------------------------------------------------

@pytest.mark.parametrize("old, new, said", [
    ("grp1:100@one", "grp1", "JOB:WEIGHT"),
    ("grp1:100@one", "grp1:0", "from 1 to 1000"),
    ("grp1:100@one", "grp1:1001", "from 1 to 1000"),
    ("grp1:100@one", "grp3:100", "grp1, grp2, grp4, grp5"),
    ("grp1:100@one", "", "all jobs of that file"),
    ("grp1:100@one", "grp1:100@two", "a workload of this suite"),
    ("grp2:200", "grp2:200 grp2:300", "each job once"),
    ("nomerges = 2", "nomerges = 2\ntenants_by = uid", "cgroup, ioprio"),
    ("tenants = alone:100", "tenants = alone:110\ntenants_by = ioprio",
     "multiples of 25 from 25 to 200"),
    ("optional = acfq hbfq", "optional = bfq", "k2, piq, layer_read, acfq, hbfq"),
])
def test_what_is_wrong_is_said(old, new, said):
    assert said in suitecase.refusal(GOOD, old, new)


@pytest.mark.parametrize("section, want", [
    ({"offset": "25%", "size": "25%"}, (25, 50)), ({"size": "10%"}, (0, 10)),
    ({"offset": "90%", "size": "20%"}, None), ({"offset": "1g"}, None)])
def test_span(section, want):
    assert suiteshare.span(section) == want


def test_parts_of_the_device_must_not_overlap():
    sections = {"a": {"offset": "0%", "size": "30%"},
                "b": {"offset": "25%", "size": "25%"}}
    with pytest.raises(ValueError, match="do not overlap"):
        suiteshare.parse("a:1 b:2", sections, "cgroup")
    sections["b"]["offset"] = "30%"
    assert len(suiteshare.parse("a:1 b:2", sections, "cgroup")) == 2


def test_a_run_says_who_is_who():
    run = plan()["same.none.device"]
    assert run["tenants"][1] == {"name": "grp2", "weight": 200, "alone": None,
                                 "span_pct": [25, 50], "depth": 8}
    assert run["latency"] == ["grp1", "grp2", "grp4", "grp5"]
    assert run["params"]["log_len"] == str(suiteshare.LOG_ROWS)
    jobs = suiteplan.job_sections(run["job_text"])
    assert {name: (job["cgroup"], job["cgroup_nodelete"])
            for name, job in jobs.items()} == {
                name: (name, "1") for name in run["latency"]}
    assert jobs["grp4"]["write_lat_log"] == suiteplan.GUEST_OUT + "/grp4"
    # Times are the guest's.
    assert run["env"]["RUNTIME_MS"] == "9600"
    assert json.loads(json.dumps(run)) == run


@pytest.mark.parametrize("label, where, lines", [
    ("none", "-", []), ("bfq", "io.bfq.weight", []),
    ("iocost", "io.weight", []),
    ("acfq", "weights", ["set queue/iosched/tenant_by cgroup"]),
    ("hbfq", "weights", ["set queue/iosched/tenant_by cgroup"]),
    ("acfq-task", "weights", ["set queue/iosched/tenant_by task"])])
def test_each_scheduler_is_told_the_weights_its_way(label, where, lines):
    run = plan()[f"same.{label}.device"]
    assert run["groups"] == [f"grp{n} {n}00 {where}" for n in (1, 2, 4, 5)]
    assert [line for line in run["setup"] if "tenant_by" in line] == lines
    assert suite.run_files(run)["groups"].splitlines() == run["groups"]


def test_what_has_no_tenants_is_as_before():
    found = suiteplan.runs(suiteplan.load("k2"), "short")[0]
    assert "tenants" not in found and "groups" not in suite.run_files(found)
    assert "log_len" not in found["params"]


def test_priorities():
    text = GOOD.replace("alone:100", "alone:75\ntenants_by = ioprio")
    run = plan(text)["one.acfq.device"]
    assert run["groups"] == [] and "groups" not in suite.run_files(run)
    job = suiteplan.job_sections(run["job_text"])["alone"]
    # Best-effort level n has weight 25 * (8 - n).
    assert (job["prioclass"], job["prio"]) == ("2", "5")
    assert "cgroup" not in job
    assert "set queue/iosched/tenant_by ioprio" in run["setup"]


def test_times_of_ours_are_scaled():
    setup = plan()["same.acfq.device"]["setup"]
    for name in suiteplan.TIMES["acfq"]:
        assert f"times queue/iosched/{name} 32" in setup


@pytest.mark.parametrize("label, unit", [
    ("none", "sectors"), ("bfq", "sectors"), ("acfq", "sectors"),
    ("cfq-time", "cost"), ("hbfq", "cost"), ("hbfq-paper", "sectors"),
    ("iocost", "model")])
def test_unit(label, unit):
    assert suiteshare.unit_of(plan()[f"same.{label}.device"]) == unit


def test_what_is_not_built_is_left_out_with_a_line(tmp_path, monkeypatch):
    runs = list(plan().values())
    (tmp_path / "acfq").mkdir()
    (tmp_path / "acfq" / "acfq.c").write_text(
        'MODULE_ALIAS("acfq-iosched");\n')
    kept, told = suiteshare.present(runs, ("acfq", "hbfq"), tmp_path)
    assert told == ["hbfq: not built here, 4 runs left out"]
    assert {run["scheduler"] for run in kept} == {"none", "bfq", "acfq"}
    assert suiteshare.present(runs, (), tmp_path) == (runs, [])
    # An experimental scheduler is built on demand only.
    (tmp_path / "acfq" / "experimental").write_text("")
    monkeypatch.delenv("EXPERIMENTAL", raising=False)
    assert len(suiteshare.present(runs, ("acfq",), tmp_path)[1]) == 1
    monkeypatch.setenv("EXPERIMENTAL", "1")
    assert not suiteshare.present(runs, ("acfq",), tmp_path)[1]


class Arguments:
    """Stands in for the parsed options of scripts/bench."""
    form, kernel, seeds, only, repeat = "short", "6.1", None, [], 1
    vms, keep, resume = 2, False, None


def test_what_is_left_out_does_not_count_as_made(tmp_path, capsys):
    one = suiteplan.parse(GOOD, "x.suite", "x")
    runs = suiteplan.runs(one, "short")[:1]
    lines = ["hbfq: not built here, 4 runs left out"]
    found = suite.Session(one, Arguments(), tmp_path / "out", runs,
                          absent=lines)
    found.speeds.path = tmp_path / "speed.json"
    found.announce()
    found.save_plan()
    assert lines[0] in capsys.readouterr().out
    assert json.loads((tmp_path / "out/plan").read_text())["absent"] == lines
    assert found.conclude(0) == 1
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert summary["left_out"] == lines and summary["runs_planned"] == 1


def test_no_control_groups_on_a_real_device():
    found, left = suitehost.convert(list(plan().values()))
    assert not found and left


def test_longer_runs_are_estimated_longer():
    runs = plan()
    assert suitetime.units(runs["same.none.device"]) == pytest.approx(
        3 * suitetime.units(runs["one.none.device"]))


# --- the two suites ----------------------------------------------------------

def mean_kib(sizes):
    """Mean size of fio's bssplit, in KiB."""
    parts = [re.fullmatch(r"(\d+)k/(\d+)", one).groups()
             for one in sizes.split(":")]
    assert sum(int(share) for _, share in parts) == 100
    return sum(int(size) * int(share) for size, share in parts) / 100


# Table 2: read ratio, mean size
TABLE_2 = {"ycsb-a": (0.99, 132), "ycsb-d": (0.99, 133),
           "fileserver": (0.5, 6.17), "msn": (0.51, 40.4), "prj": (0.13, 30),
           "prn": (0.79, 17.6)}


def like_table_2(name, reads, sizes):
    """Are these the paper's figures, within a hundredth of the size?"""
    ways = [mean_kib(one) for one in sizes.split(",")]
    share, mean = TABLE_2[name]
    assert int(reads) == share * 100
    assert share * ways[0] + (1 - share) * ways[-1] == \
        pytest.approx(mean, rel=0.012)
    if name == "prj":
        assert ways[0] < ways[1] / 4


def test_loads_are_those_of_table_2():
    for name in ("share", "share-paper"):
        for workload in suiteplan.load(name).workloads.values():
            key = re.sub("^(same|alone)-", "", workload.name)
            if key in TABLE_2:
                like_table_2(key, workload.env["READS"],
                             workload.env["SIZES"])
    jobs = suiteplan.job_sections(
        (REPO / "tests/fio/share-mixed.fio").read_text())
    for key, job in jobs.items():
        like_table_2(key, job["rwmixread"], job["bssplit"])


@pytest.mark.parametrize("name, form, wanted", [
    ("share", "short", ["same-4k.acfq.d", "mix-125.hbfq.d", "mix-111.bfq.d",
                        "mix-111.iocost-d.d", "alone-prn.none.d"]),
    ("share", "full", ["same-4k.mq-deadline.c", "mix-1210.bfq-noidle.c",
                       "mix-521.iocost-c.c", "alone-msn.hbfq.d"]),
    ("share-paper", "short", ["prn.acfq-paper.c", "mix-125.cfq.c"]),
    ("share-paper", "full", [
        "ycsb-a.cfq.c-1ch", "ycsb-a.cfq-qd1.c", "fileserver-w.cfq.c-nocache",
        "rand-256k-w.cfq-time.c", "fileserver.cfq-sectors.c",
        "prn.hbfq-128.c", "prj.hbfq-2048.c", "prj.acfq-noantic.c",
        "mix-1210.hbfq-paper.d", "mix-521.iocost-d.d",
        "msn-disk5.hbfq-paper.c"]),
])
def test_plans(name, form, wanted):
    found = suiteplan.load(name)
    runs = suiteplan.runs(found, form)
    cells = {run["cell"] for run in runs}
    assert set(wanted) <= cells
    for run in runs:
        assert run["seed_use"] == "report"
        if run["workload"] == "msn-disk5":
            assert run["env"]["TRACE"] == "msn" and "tenants" not in run
            continue
        # A model of one drive is not used on the other.
        assert not run["cell"].endswith(("iocost-c.d", "iocost-d.c"))
        # Chips' time is kept for each tenant apart.
        count = int(run["params"].get("ranges", 8))
        assert all(edge * count / 100 == round(edge * count / 100)
                   for one in run["tenants"] for edge in one["span_pct"])
        if run["label"] == "cfq-qd1":
            assert run["params"]["queue_depth"] == "1"


def test_weights_of_the_suites():
    for name in ("share", "share-paper"):
        found = suiteplan.load(name)
        weights = {key: tuple(one["weight"] // 100 for one in work.tenants)
                   for key, work in found.workloads.items()}
        assert all(key == "msn-disk5" or one for key, one in weights.items())
        assert weights["mix-111"] == (1, 1, 1)
        assert weights["mix-125"] == (1, 2, 5)
        assert weights["mix-521"] == (5, 2, 1)
        assert weights["mix-1210"] == (1, 2, 10)
        assert weights["same-msn" if name == "share" else "msn"] == \
            (1, 2, 4, 5)
        assert [one["alone"] for one in
                found.workloads["mix-125"].tenants] == [
                    "alone-msn", "alone-prj", "alone-prn"]


def test_the_plan_is_printed_without_a_run(capsys):
    assert suite.main(["share", "--form", "short", "--list"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^same-4k\.none\.d  1 x, \d+ s$", text, re.M)
    assert re.search(r"\d+ cells, \d+ runs, about", text)
    for name in ("acfq", "hbfq"):
        assert f"{name}: not built here" in text or f".{name}.d" in text


# --- the guest ---------------------------------------------------------------

def test_the_guest_makes_groups_and_tells_weights(tmp_path):
    for folder in ("cgroup", "work", "out", "sys/queue/iosched"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "work/groups").write_text("msn 100 weights\nprj 250 weights\n"
                                          "prn 500 -\n")
    guest = (REPO / "tests/vm/lib/suite-guest.sh").read_text()
    functions = "".join(re.search(rf"^{name}\(\) {{\n.*?^}}\n", guest,
                                  re.M | re.S)[0]
                        for name in ("groups", "weights"))
    subprocess.run(
        ["bash", "-euc", f"CGROUP={tmp_path}/cgroup WORK={tmp_path}/work "
         f"OUT={tmp_path}/out SYS={tmp_path}/sys\n{functions}groups\nweights"],
        check=True)
    assert sorted(path.name for path in (tmp_path / "cgroup").iterdir()
                  if path.is_dir()) == ["msn", "prj", "prn"]
    assert (tmp_path / "cgroup/cgroup.subtree_control").read_text() == "+io\n"
    # A file keeps what was written last, the kernel's keeps all, and shows
    # numbers; so here nothing reads back.
    assert (tmp_path / "sys/queue/iosched/weights").read_text() == \
        "/prj 250\n"
    settings = (tmp_path / "out/settings").read_text()
    assert settings == "weights/msn\t100\t\nweights/prj\t250\t\n"
    assert len(suitedata.settings_kept(settings)) == 2
    groups_ = dict(line.split() for line in (
        tmp_path / "out/groups").read_text().splitlines())
    assert {name: int(number) for name, number in groups_.items()} == {
        path.name: path.stat().st_ino for path in (
            tmp_path / "cgroup").iterdir() if path.is_dir()}


# --- claims ------------------------------------------------------------------

def cell(name, **metrics):
    """A measured cell."""
    workload, label, variant = name.split(".")
    return {"cell": name, "workload": workload, "label": label,
            "variant": variant, "tunables": {}, "scheduler": label,
            "metrics": {key: value if value is None else {
                "median": value, "min": value, "max": value}
                for key, value in metrics.items()}, "by_seed": {}}


def verdicts(which, cells):
    """{claim: verdict}."""
    return {row["id"]: row["holds"] for row in
            claims.evaluate(which, cells)}


@pytest.mark.parametrize("which", ["share", "share-paper"])
def test_without_cells_nothing_is_claimed(which):
    assert set(verdicts(which, []).values()) == {None}


@pytest.mark.parametrize("claim, cells, want", [
    ("PV", [cell("mix-125.acfq.d", pv_sending_charged=0.1)], True),
    ("PV", [cell("mix-125.acfq.d", pv_sending_charged=0.1),
            cell("same-4k.acfq.d", pv_sending_charged=0.11)], False),
    ("Windows", [cell("mix-125.hbfq.c", inversions_charged=0)], True),
    ("Windows", [cell("mix-125.hbfq.c", inversions_charged=1)], False),
    ("Bound", [cell("same-prn.acfq.d", service_ratio_charged=0.99)], True),
    ("Bound", [cell("same-prn.acfq.d", service_ratio_charged=1.01)], False),
    ("Throughput", [cell("same-4k.acfq.d", bandwidth_bytes_per_s=96),
                    cell("same-4k.none.d", bandwidth_bytes_per_s=100)], True),
    ("Throughput", [cell("same-4k.acfq.d", bandwidth_bytes_per_s=94),
                    cell("same-4k.none.d", bandwidth_bytes_per_s=100)],
     False),
    ("Throughput", [cell("same-4k.acfq.d", bandwidth_bytes_per_s=96),
                    cell("same-4k.none.d", bandwidth_bytes_per_s=100),
                    cell("same-4k.bfq-noidle.d", bandwidth_bytes_per_s=98)],
     False),
    ("Chips", [cell("mix-111.hbfq.d", utilisation_milli=950),
               cell("mix-111.none.d", utilisation_milli=1000)], True),
    ("Chips", [cell("mix-111.hbfq.d", utilisation_milli=940),
               cell("mix-111.none.d", utilisation_milli=1000)], False),
    ("Chips", [cell("mix-125.acfq.c", utilisation_milli=960),
               cell("like-125.none.c", utilisation_milli=1000)], True),
    ("Chips", [cell("mix-125.acfq.c", utilisation_milli=960),
               cell("like-125.none.c", utilisation_milli=1000),
               cell("mix-1210.acfq.c", utilisation_milli=940),
               cell("like-1210.none.c", utilisation_milli=1000)], False),
    ("Alone", [cell("alone-prn.hbfq.d", bandwidth_bytes_per_s=98),
               cell("alone-prn.none.d", bandwidth_bytes_per_s=100)], True),
    ("Alone", [cell("alone-prn.hbfq.d", bandwidth_bytes_per_s=97),
               cell("alone-prn.none.d", bandwidth_bytes_per_s=100)], False),
])
def test_default_claims(claim, cells, want):
    assert verdicts("share", cells)[claim] is want


def test_a_pv_is_confirmed_by_chip_time():
    rows = claims.evaluate("share", [
        cell("mix-125.acfq.d", pv_sending_charged=0.01,
             pv_sending_chip=0.2, pv_sending_sectors=0.3),
        cell("mix-111.acfq.d", pv_sending_charged=0.02,
             pv_sending_chip=0.1, pv_sending_sectors=0.4),
        cell("mix-111.bfq.d", pv_sending_charged=0.5)])
    assert rows[0]["parts"][1]["ours"] == (
        "mix-111 0.02, mix-125 0.01; by chip time 0.1 to 0.2; by bytes 0.3 "
        "to 0.4; bfq 0.5")


def test_a_tenant_that_fills_no_window_is_named():
    rows = claims.evaluate("share", [
        cell("mix-111.acfq.d", inversions_charged=0),
        cell("mix-125.acfq.d", inversions_charged=None)])
    part = rows[1]["parts"][1]
    assert part["holds"] and part["ours"].endswith(
        "too few requests: mix-125")


@pytest.mark.parametrize("part, metric", [
    ("Windows", "inversions_charged"), ("Bound", "service_ratio_charged")])
def test_a_part_says_where_it_goes_by_chip_time(part, metric):
    rows = claims.evaluate("share", [
        cell("mix-111.hbfq.d", windows_by_charge=1, **{metric: 0}),
        cell("mix-125.hbfq.d", windows_by_charge=0, **{metric: 0}),
        cell("mix-125.acfq.d", **{metric: 0})])
    told = [one["ours"] for row in rows if row["id"] == part
            for one in row["parts"]]
    assert told[3].endswith("; by chip time: mix-125")
    assert "chip" not in told[1]


def tails(**hbfq):
    """Cells of mix-111 with bfq's tail at 9 ms."""
    return [cell("mix-111.hbfq.d", bandwidth_bytes_per_s=97, **hbfq),
            cell("mix-111.bfq.d", bandwidth_bytes_per_s=100,
                 **dict.fromkeys(hbfq, 9e-3))]


def test_the_tail_of_each_tenant_counts():
    name = "{}_latency_p99_9_s"
    good = {name.format("msn"): 2.9e-3, name.format("prj"): 2e-3}
    assert verdicts("share", tails(**good))["Tails"] is True
    bad = {**good, name.format("prj"): 3.1e-3}
    assert verdicts("share", tails(**bad))["Tails"] is False
    # Too few samples: shown, not judged
    few = {**{key: None for key in good}, "msn_latency_p99_s": 1e-3,
           "prj_latency_p99_s": 2e-3}
    rows = claims.evaluate("share", tails(**few))
    part = next(row for row in rows if row["id"] == "Tails")["parts"][6]
    assert part["holds"] is None and "p99: msn 0.11, prj 0.22" in part["ours"]


def test_bytes_lost_to_other_loads_are_told_from_idle_chips():
    def parts(**tail):
        rows = claims.evaluate("share", [
            cell("mix-111.hbfq.d", bandwidth_bytes_per_s=93,
                 utilisation_milli=995, **tail),
            cell("mix-111.bfq.d", bandwidth_bytes_per_s=100,
                 utilisation_milli=1000, **dict.fromkeys(tail, 9e-3))])
        return next(row for row in rows if row["id"] == "Tails")
    found = parts(msn_latency_p99_9_s=2e-3)["parts"]
    assert [part["holds"] for part in found[6:9]] == [True, False, True]
    # Conditions of a tail that was not judged give no verdict.
    assert parts()["holds"] is None and parts()["judged"] == 0


def test_loads_in_like_parts_are_told():
    busy = {"utilisation_milli": 1000, "msn_bandwidth_bytes_per_s": 10,
            "prn_bandwidth_bytes_per_s": 30}
    rows = claims.evaluate("share", [cell("mix-125.acfq.c", **busy),
                                     cell("like-125.none.c", **busy)])
    part = next(row for row in rows if row["id"] == "Chips")["parts"][-1]
    assert part["ours"] == "mix-125 (25:75) 1.000 of like-125's (25:75)"


def test_a_tail_that_is_all_mean_says_so():
    rows = claims.evaluate("share", tails(msn_latency_p99_9_s=6e-3,
                                          msn_latency_mean_s=4.5e-3))
    part = next(row for row in rows if row["id"] == "Tails")["parts"][6]
    assert part["holds"] is False
    assert part["ours"] == "msn 0.67 (its mean 0.50)"


def test_throughput_stands_beside_what_is_in_the_drive():
    rows = claims.evaluate("share", [
        cell("same-4k.acfq.d", bandwidth_bytes_per_s=94, in_device_mean=76.8),
        cell("same-4k.none.d", bandwidth_bytes_per_s=100, in_device_mean=128),
        cell("same-prn.acfq.d", bandwidth_bytes_per_s=94),
        cell("same-prn.none.d", bandwidth_bytes_per_s=100)])
    part = next(row for row in rows if row["id"] == "Throughput")["parts"][2]
    assert part["ours"] == \
        "same-4k 0.940 (77 in the drive, none 128), same-prn 0.940"


@pytest.mark.parametrize("ours, want", [(5700, True), (5800, False),
                                        (9000, False)])
def test_cost(ours, want):
    cells = [cell(f"cost-4k.{name}.d", busy_ns_per_io=cost) for name, cost in
             (("none", 5000), ("mq-deadline", 5600), ("bfq", 8000),
              ("acfq", ours))]
    # 1.3 times 600 is 780; below bfq's 3000
    assert verdicts("share", cells)["Cost"] is (ours - 5000 <= 780) is want


@pytest.mark.parametrize("claim, metric, low, high", [
    ("Fig 4", "window_pv_median_sectors", "ycsb-a.cfq.c-1ch",
     "ycsb-a.cfq.c"),
    ("Fig 7", "window_pv_median_sectors", "msn.cfq-qd1.c", "msn.cfq.c"),
    ("Fig 8", "bandwidth_bytes_per_s", "msn.cfq.c-nocache", "msn.cfq.c"),
    ("Fig 10", "pv_sectors", "rand-32k-r.cfq.c", "rand-32k-r.cfq-time.c"),
    ("Fig 11", "pv_sectors", "fileserver.cfq-sectors.c",
     "fileserver.cfq.c"),
    ("Fig 14", "pv_sectors", "prn.acfq-paper.c", "prn.bfq.c"),
    ("Fig 18a, b", "pv_sectors", "prj.hbfq-paper.c", "prj.cfq.c"),
    ("Fig 19b", "grp1_latency_stddev_s", "msn.hbfq-paper.c", "msn.bfq.c"),
    ("Fig 20c", "grp1_latency_stddev_s", "prn.hbfq-128.c",
     "prn.hbfq-2048.c"),
    ("Fig 23", "pv_sectors", "mix-521.acfq-paper.c", "mix-521.cfq.c"),
    ("Fig 24", "msn_latency_max_s", "mix-125.hbfq-paper.c",
     "mix-125.bfq.c"),
])
def test_directions(claim, metric, low, high):
    for values, want in (((1.0, 2.0), True), ((2.0, 1.0), False)):
        cells = [cell(name, **{metric: value})
                 for name, value in zip((low, high), values)]
        assert verdicts("share-paper", cells)[claim] is want


def test_longest_latency_with_the_best_budget():
    cells = [cell("prn.bfq.c", grp1_latency_max_s=1.0,
                  grp5_latency_max_s=5.5),
             cell("prn.hbfq-2048.c", grp1_latency_max_s=3.0,
                  grp5_latency_max_s=1.0),
             cell("prn.hbfq-128.c", grp1_latency_max_s=1.0,
                  grp5_latency_max_s=0.5)]
    assert verdicts("share-paper", cells)["Fig 20d"] is True
    assert verdicts("share-paper", cells[:2])["Fig 20d"] is False


# --- the page ----------------------------------------------------------------

def summary(suite_name, cells, **more):
    """A summary.json of some cells."""
    return {"suite": suite_name, "form": "short", "runs_done": len(cells),
            "runs_planned": 9, "seed_uses": {"report": [101]},
            "kernel": "6.1", "commit": "abc", "clock": "virtual",
            "bench_command": "scripts/bench", "cells": cells, **more}


def test_results_page(tmp_path):
    got = {"msn": 40e6, "prj": 60e6, "prn": 150e6}
    rates = {f"{name}_bandwidth_bytes_per_s": rate
             for name, rate in got.items()}
    cells = [cell("mix-125.acfq.d", jain_charged=0.99, pv_charged=0.04,
                  pv_sending_charged=0.04,
                  inversions_charged=0, **rates),
             *(cell(f"mix-111.hbfq.{variant}", jain_charged=0.9,
                    windows_by_charge=known)
               for variant, known in (("c", 0), ("d", 1)))]
    cells += [cell(f"alone-{name}.none.d", bandwidth_bytes_per_s=alone)
              for name, alone in (("msn", 320e6), ("prj", 480e6),
                                  ("prn", 240e6))]
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "summary.json").write_text(json.dumps(summary(
        "share", cells, left_out=["hbfq: not built here, 6 runs left out"])))
    out, beside = tmp_path / "page.md", tmp_path / "page"
    beside.mkdir()
    (beside / "of-an-earlier-run.svg").write_text(
        shareresults.resultspage.MARKS[".svg"])
    assert shareresults.main([str(folder), "--out", str(out)]) == 0
    text = out.read_text()
    assert "| **PV**: every weight set is kept, in the unit charged | " in text
    assert "hbfq: not built here, 6 runs left out" in text
    assert {file.name for file in beside.iterdir()} == {
        "share.md", "pv-d.svg"}
    # The text refers to each picture, which says what it shows.
    assert " Picture 1. | " in text.split("| **PV**: ")[1].split("\n")[0]
    assert "\nPicture 1: NVMe drive (D): PV " in text
    assert "](page/pv-d.svg)\n" in text and "[tables](page/share.md)" in text
    assert text.count("**Not measured yet.**") == 1
    text = (beside / "share.md").read_text()
    # Due: 1/8 of 320, 2/8 of 480, 5/8 of 240
    assert "msn 1.00, prj 2.00, prn 1.00" in text
    assert [line.split(" | ")[1:3] + [line.split(" | ")[-1]]
            for line in text.splitlines() if line.endswith(
                ("chip time |", "what is charged |"))] == [
                    ["d", "acfq", "what is charged |"],
                    ["c", "hbfq", "chip time |"],
                    ["d", "hbfq", "what is charged |"]]
    assert shareresults.main([str(tmp_path)]) == 2
    # Files that the script did not make stay.
    (beside / "notes.txt").write_text("")
    assert shareresults.main([str(folder), "--out", str(out)]) == 0
    assert (beside / "notes.txt").exists()


# --- what the page explains --------------------------------------------------

@pytest.mark.parametrize("name", ["share", "share-paper"])
def test_all_that_a_page_names_is_explained(name):
    found = suiteplan.load(name)
    cells = [cell(run["cell"]) for form in found.forms
             for run in suiteplan.runs(found, form)]
    text = "\n".join(sharewords.explained(name, cells))
    for one in cells:
        for key in ("workload", "variant"):
            assert f"| {one[key]} | " in text
    for one in found.schedulers:
        assert f"| {sharewords.kind(one.label, one.tunables)[0]} | " in text
    # Not another thing than what was run
    assert "| hbfq mode=paper exhausted_budget_sectors=N |" in text if \
        name == "share-paper" else "| hbfq max_inflight=D |" in text
    assert "io.cost was not tuned" in text
    assert "1:2:5 | theirs" in text
    assert "io.cost" not in "\n".join(sharewords.explained(
        name, [cell("mix-111.none.c")]))
    assert "| mix-125 |" not in "\n".join(sharewords.explained(
        name, [cell("mix-111.none.c")]))


def test_the_example_of_pv_is_computed(monkeypatch):
    text = "\n".join(sharewords.words([None]))
    assert "weights 1:2:4:5 gives 2." in text
    monkeypatch.setattr(sharewords, "WEIGHTS", (1, 3))
    assert "weights 1:3 gives 1." in \
        "\n".join(sharewords.words([None]))


def test_one_seed_is_said_to_be_one():
    one = summary("share", [])
    other = {**one, "seed_uses": {"report": [101, 102]}}
    assert "of seed 101" in "".join(sharewords.seeds([None, one]))
    assert "- **Seeds**: 101, 102." in \
        "".join(sharewords.seeds([{**one, "made_of": [one, other]}]))
    assert "101, 102, but some cells were run with one seed only." in \
        "".join(sharewords.seeds([{**other, "cells": [{"seeds": [101]}]}]))
    assert "one seed only" not in \
        "".join(sharewords.seeds([{**other, "cells": [{"seeds": [101, 102]}]}]))
    assert not list(sharewords.seeds([None, None]))


@pytest.mark.parametrize("sizes, said", [
    ("4k/100", "4"), ("4k/74:8k/12:16k/14", "6.2"), ("128k/97:256k/3", "132"),
    ("4k/40:8k/40:16k/20,8k/33:16k/19:32k/19:64k/24:128k/5",
     "reads 8, writes 34")])
def test_mean_sizes(sizes, said):
    assert sharewords.mean_kib(sizes) == said


def test_where_alone_was_judged():
    def told(*names):
        return "".join(sharewords.alone([
            cell(name, bandwidth_bytes_per_s=1) for name in names]))
    assert told("alone-prn.acfq.d", "alone-prn.none.d") == (
        "Claim Alone is judged on drive d with alone-prn; not measured: drive c, "
        "alone-4k, alone-fileserver, alone-msn, alone-prj.")
    assert told("alone-prn.acfq.d") == ""
    assert told(*(f"{load}.{label}.{drive}" for load in shareclaims.ALONE
                  for label in ("acfq", "none") for drive in "cd")) == ""


def test_units_are_those_that_people_read():
    assert shareclaims.times_of((0.126777, 0.107449)) == "127 against 107 ms"
    assert shareclaims.times_of((0.001234, 0.0099)) == "1234 against 9900 us"
    assert shareclaims.rates_of((2.43e8, 3.8e8)) == "243 against 380 MB/s"
    assert shareclaims.rates_of((7.55e6, 3.68e7)) == "7.55 against 36.8 MB/s"
    assert [shareclaims.number(value) for value in (None, 0, 7e-5, 0.0123)] \
        == ["none", "0", "<0.001", "0.0123"]


def bars_of(cells, **wanted):
    """{file: {group: [label]}} of what would be drawn."""
    return {file: {name: [one["label"] for one, *_ in rows]
                   for name, rows in groups.items() if rows}
            for file, _, _, groups, _ in sharepictures.default(
                [cell(name, **wanted) for name in cells])}


def test_pictures_show_each_load_and_scheduler():
    names = ["same-prn.hbfq.d", "same-prn.bfq-noidle.d", "mix-111.acfq.c",
             "same-prn.mq-deadline.d"]
    found = bars_of(names, pv_sending_charged=0.1)
    assert found["pv-d.svg"] == {"same-prn": ["bfq-noidle", "hbfq"]}
    assert found["pv-c.svg"] == {"mix-111": ["acfq"]}
    # If a percentile has too few requests, the next one is drawn.
    tail = bars_of(["mix-111.hbfq.c"], msn_latency_p99_s=0.1)
    assert tail["tail-c.svg"] == {"msn": ["hbfq"]}
    assert "tail-d.svg" not in tail
    rows = sharepictures.worst(
        [cell("prn.hbfq-128.c", grp1_latency_max_s=2.0, grp5_latency_max_s=3.0)],
        ("bfq", "hbfq-128"), "max")
    assert [row[2]["median"] for row in rows["prn"]] == [3.0]


def test_a_part_for_each_load_in_figures_18c_and_19a():
    cells = [cell(f"{load}.{label}.c", bandwidth_bytes_per_s=rate, latency_mean_s=1)
             for load in ("msn", "prj", "prn") for label, rate in (
                 ("hbfq-paper", 90 if load == "prn" else 95), ("bfq", 100))]
    row = next(row for row in shareclaims.paper(cells) if row["id"] == "Fig 18c, 19a")
    judged = {part["cells"][0].split(".")[0]: part["holds"] for part in row["parts"]
              if "bandwidth" in part["text"]}
    assert judged == {"msn": True, "prj": True, "prn": False} and row["wanted"] == 6
