# SPDX-License-Identifier: GPL-2.0
"""Suites with tenants: plans, conclusions, claims; nothing is booted."""

import importlib
import json
import pathlib
import re
import subprocess
import sys

import numpy
import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

claims = importlib.import_module("claims")
shareresults = importlib.import_module("shareresults")
shareclaims = importlib.import_module("shareclaims")
sharecost = importlib.import_module("sharecost")
sharedata = importlib.import_module("sharedata")
suite = importlib.import_module("suite")
suitecase = importlib.import_module("suitecase")
suitedata = importlib.import_module("suitedata")
suitehost = importlib.import_module("suitehost")
suiteplan = importlib.import_module("suiteplan")
suiteshare = importlib.import_module("suiteshare")
suitetime = importlib.import_module("suitetime")

GOOD = """
[suite]
title = a suite
device = flashsim
optional = acfq hbfq
[device]
profile = D
time_scale = 32
[workload same]
job = share-same
tenants = grp1:100@one grp2:200 grp4:400 grp5:500
nomerges = 2
READS = 51
SIZES = 4k/50:8k/50
DEPTH = 8
RUNTIME_MS = 300
[workload one]
job = share-alone
tenants = alone:100
READS = 51
SIZES = 4k/50:8k/50
DEPTH = 8
RUNTIME_MS = 300
[schedulers]
list =
    none
    bfq
    acfq
    acfq mode=cfq charge=time anticipation=0 as cfq-time
    acfq tenant_by=task as acfq-task
    hbfq
    hbfq mode=paper as hbfq-paper
    io.cost rlat=5000 wlat=9000 rbps=800000000 rseqiops=160000 \
rrandiops=140000 wbps=400000000 wseqiops=100000 wrandiops=80000 as iocost
[form short]
seeds = 101
RUNTIME_MS@one.* = 100
"""


def plan(text=GOOD, form="short"):
    """The runs of a form by cell."""
    return suitecase.by_cell(text, form)


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
    # Who is not done is built on demand only.
    (tmp_path / "acfq" / "experimental").write_text("")
    monkeypatch.delenv("EXPERIMENTAL", raising=False)
    assert len(suiteshare.present(runs, ("acfq",), tmp_path)[1]) == 1
    monkeypatch.setenv("EXPERIMENTAL", "1")
    assert not suiteshare.present(runs, ("acfq",), tmp_path)[1]


class Arguments:
    """What a session wants of the options."""
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
    """Of fio's bssplit."""
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


# --- a run -------------------------------------------------------------------

SIZE_MB = 1024
RANGE_NS = 10**9


def requests(turns=300, sizes=(8, 8, 8, 8), weights=(1, 2, 4, 5)):
    """(tenant, ns of arrival, of completion, a write, sector, sectors)."""
    now, found = 0, []
    for turn in range(turns):
        for tenant, weight in enumerate(weights):
            for _ in range(weight):
                found.append((tenant, now, now + 320000, turn % 2,
                              tenant * (SIZE_MB << 11) // 4 + turn * 64,
                              sizes[tenant]))
                now += 32000
    return found


def raw_files(rows, names=("grp1", "grp2", "grp4", "grp5"), **more):
    """What a guest leaves of such a run; 32 times slower than the device."""
    reads = sum(not row[3] for row in rows)
    jobs, logs = [], {}
    span = (rows[-1][2] - rows[0][1]) // 10**6
    for number, name in enumerate(names, 1):
        mine = [row for row in rows if row[0] == number - 1]
        ways = {}
        for way, write in (("read", 0), ("write", 1)):
            own = [row for row in mine if row[3] == write]
            ways[way] = {
                "total_ios": len(own), "runtime": span if own else 0,
                "io_bytes": sum(row[5] for row in own) * 512,
                "lat_ns": {"N": len(own), "mean": 4e5, "max": 5e5}}
        jobs.append({"jobname": name, "error": 0, **ways})
        logs[f"{name}_lat.{number}.log"] = "".join(
            f"{row[2] // 10**6}, {row[2] - row[1]}, {row[3]}, 4096, 0, 0\n"
            for row in mine)
    moved = sum(row[5] for row in rows) * 512
    ranges = "".join(
        f"range{n}_read_ns {(n // 2 + 1) * RANGE_NS * 32}\n"
        f"range{n}_write_ns {2 * (n // 2 + 1) * RANGE_NS * 32}\n"
        for n in range(8))
    return {
        "fio": json.dumps({"jobs": jobs}), **logs,
        "log": "arrival_ns,done_ns,op,sector,sectors\n" + "".join(
            f"{begin},{end},{'RW'[way]},{sector},{sectors}\n"
            for _, begin, end, way, sector, sectors in rows),
        "device-stats": f"profile D\nsize_bytes {SIZE_MB << 20}\n"
        f"reads {reads}\nwrites {len(rows) - reads}\nread_bytes {moved}\n"
        f"write_bytes 0\noutstanding 0\noutstanding_max 10\n{ranges}",
        "settings": "", "inflight": "0 0\n", "dmesg": "", "status": "0\n",
        "cpu": "100.00 5000\n108.00 5600\n", **more}


def evaluated(label="none", rows=None, **more):
    """A record's figures of such a run."""
    run = plan()[f"same.{label}.device"]
    return suitedata.evaluate(raw_files(rows or requests(), **more), run,
                              {"cpus": 1})


def test_a_fair_run():
    found = evaluated()
    assert found["passed"], found["checks"]
    share = found["fairness"]
    assert share["unit"] == "sectors"
    assert share["due"] == pytest.approx([1 / 12, 2 / 12, 4 / 12, 5 / 12])
    one = share["by_unit"]["sectors"]
    assert one["shares"] == pytest.approx(share["due"])
    assert one["pv"] == pytest.approx(0) and one["jain"] == pytest.approx(1)
    assert one["received"] == [300 * 8 * n for n in (1, 2, 4, 5)]
    window = one["windows"][0]
    # The last nine of the smallest end while others have stopped.
    assert (window["requests"], window["windows"]) == (50, 5)
    assert window["inversions"] == 0
    # 50 turns of 12 requests, 1 us of the device apart
    assert window["window_s"] == pytest.approx(600e-6, rel=0.01)
    # Ten in the device, evenly: far within
    assert len(one["service"]) == 6 and one["service_ratio"] < 0.3
    tenant = found["tenants"][1]
    assert tenant["name"] == "grp2" and tenant["ios"] == 600
    assert tenant["latency_s"]["mean"] == pytest.approx(10e-6)
    assert tenant["latency_s"]["stddev"] == pytest.approx(0, abs=1e-12)
    assert tenant["mean_sectors"] == 8
    assert tenant["inter_dispatch_s"] == pytest.approx(6e-6, rel=0.01)
    assert sum(share["depths"].values()) == pytest.approx(1)
    assert share["depths"]["10"] > 0.9
    course = share["course"]
    assert len(course["bytes_per_s"]) == 4
    # All but what ended behind the last dispatch
    assert sum(course["bytes_per_s"][0]) * course["period_s"] == \
        pytest.approx(300 * 4096, rel=0.01)


def test_chip_time_is_of_the_tenants_ranges():
    found = evaluated()["fairness"]["by_unit"]["chip"]
    # Two ranges a tenant, 1 + 2, 2 + 4, ... s each
    assert found["received"] == pytest.approx([6, 12, 18, 24])
    assert found["pv"] == pytest.approx((0 + 0 + 1 + 1) / 4)
    assert evaluated(rows=[row for row in requests()])["fairness"][
        "by_unit"]["requests"]["received"] == [300, 600, 1200, 1500]


def test_without_ranges_of_their_own_there_is_no_chip_time():
    stats = {f"range{n}_{way}_ns": 1 for n in range(6)
             for way in ("read", "write")}
    tenants = plan()["same.none.device"]["tenants"]
    assert sharedata.chip_time(stats, tenants) is None
    assert sharedata.chip_time({}, tenants) is None


def test_units_differ():
    rows = requests(sizes=(40, 21, 11, 9))
    found = evaluated(rows=rows)["fairness"]["by_unit"]
    assert found["sectors"]["pv"] == pytest.approx(
        (0 + 0.95 + 2.9 + 3.875) / 4)
    assert found["requests"]["pv"] == pytest.approx(0)
    # In each window a heavier one got a little more.
    assert found["sectors"]["windows"][0]["inversions"] == 0
    rows = requests(sizes=(80, 20, 10, 8))
    found = evaluated(rows=rows)["fairness"]["by_unit"]
    assert found["sectors"]["windows"][0]["inversions"] == 3 * 5


def test_a_tenant_that_is_served_late():
    """The service bound sees what the whole run does not."""
    even = requests()
    first = [row for row in even[12:-12] if row[0] == 0]
    rows = even[:12] + first + \
        [row for row in even[12:-12] if row[0] != 0] + even[-12:]
    # Seven in the device at most, of eight
    rows = [(row[0], n * 32000, n * 32000 + 224000, *row[3:])
            for n, row in enumerate(rows)]
    found = evaluated(rows=rows)["fairness"]["by_unit"]["sectors"]
    assert found["pv"] == pytest.approx(0)
    assert found["windows"][0]["inversions"] > 0
    # 298 of 8 sectors in a row, others with weight 500 wait
    assert found["service"][2]["tenants"] == ["grp1", "grp5"]
    assert found["service"][2]["completed"] >= 297 * 8
    assert found["service_ratio"] > 1
    assert evaluated(rows=rows, **{"device-stats": raw_files(rows)[
        "device-stats"].replace("outstanding_max 10", "outstanding_max 7")})[
            "fairness"]["depth"] == 7


def test_exclusive_service_has_nothing_that_waits():
    """All of a tenant's requests are in the device: only `outstanding` sees
    that the others wait meanwhile."""
    even = requests()
    rows = even[:12] + [row for row in even[12:-12] if row[0] == 0] + \
        [row for row in even[12:-12] if row[0] != 0] + even[-12:]
    rows = [(row[0], n * 32000, n * 32000 + 320000, *row[3:])
            for n, row in enumerate(rows)]
    found = evaluated(rows=rows)["fairness"]["by_unit"]["sectors"]
    assert found["outstanding_ratio"] > 1
    assert found["service_ratio"] < found["outstanding_ratio"]


def test_the_log_must_have_all_requests():
    rows = requests()
    raw = raw_files(rows)
    cut = {"log": "\n".join(raw["log"].splitlines()[:-1]) + "\n"}
    found = evaluated(**cut)
    assert not found["checks"]["traced"]["passed"] and not found["passed"]
    with pytest.raises(ValueError):
        evaluated(log="")
    run = plan()["same.none.device"]
    run["tenants"][3]["span_pct"] = [75.5, 100]
    checks = suitedata.evaluate(raw_files(rows), run, {"cpus": 1})["checks"]
    # 164 of its 300 turns begin before that.
    assert checks["traced"]["foreign"] == 5 * 164
    assert not checks["traced"]["passed"]


def test_the_depth_is_the_scheduler_s_bound_where_it_has_one():
    assert evaluated()["fairness"]["depth"] == 10
    found = evaluated("acfq", tunables="mode auto\nmax_inflight 64\n")
    assert found["fairness"]["depth"] == 64


def test_what_a_scheduler_says_it_has_charged():
    table = "".join(
        f"tenant cgroup:{n + 70} weight {n}00 cost {cost} vtime 7\n"
        for n, cost in ((1, 100), (2, 190), (4, 420), (5, 480))) + \
        "tenant cgroup:1 weight 100 cost 5\ntenant all weight 100 cost 9\n"
    groups = "".join(f"grp{n} {n + 70}\n" for n in (1, 2, 4, 5))
    found = evaluated("hbfq", tenants=table, groups=groups)["fairness"]
    # That is not what such requests come to.
    assert found["unit"] == "cost"
    assert found["by_unit"]["cost"]["pv"] == pytest.approx(0.125)
    assert found["by_unit"]["cost"]["windows_by"] == "chip"
    assert found["charged"]["grp4"] == {"weight": 400, "cost": 420,
                                        "vtime": 7}
    assert list(found["charged"]) == ["grp1", "grp2", "grp4", "grp5"]
    # Without its table: the chips' time
    found = evaluated("hbfq")["fairness"]
    assert found["by_unit"]["cost"]["pv"] == pytest.approx(0.5)
    assert found["by_unit"]["cost"]["windows_by"] == "chip"


def charged_files(costs):
    """What a scheduler leaves that says it has charged so much."""
    return {"tenants": "".join(
        f"tenant cgroup:{n} weight {n}00 cost {cost}\n"
        for n, cost in zip((1, 2, 4, 5), costs)),
        "groups": "".join(f"grp{n} {n}\n" for n in (1, 2, 4, 5))}


def replayed(rows, tenant):
    """What each of a tenant's requests is charged, computed again."""
    charges, _ = sharecost.replay(
        *([row[n] for row in rows] for n in (1, 2, 3, 5)))
    return [charge for charge, row in zip(charges, rows) if row[0] == tenant]


def replayed_sums(rows):
    """What each tenant's requests come to."""
    return [sum(replayed(rows, tenant)) for tenant in range(4)]


def test_windows_of_what_each_request_was_charged():
    # Those with less weight move more bytes, but what each waits for, and so is
    # charged, is the same.
    rows = requests(sizes=(80, 20, 10, 8))
    costs = replayed_sums(rows)
    most = [max(replayed(rows, tenant)) for tenant in (0, 1)]
    found = evaluated("hbfq", rows=rows, **charged_files(costs))
    by_unit = found["fairness"]["by_unit"]
    one = by_unit["cost"]
    assert one["windows_by"] == "charge" and one["unit"] == "cost"
    assert one["received"] == one["replayed"] == costs
    assert one["replay_off"] == [0] * 4
    assert one["windows"][0]["inversions"] == 0
    # At first there is less in the device, and each has more of it.
    assert one["windows"][0]["pv_median"] < 0.1
    assert by_unit["sectors"]["windows"][0]["inversions"] > 0
    assert one["pv_sending"] == pytest.approx(one["pv"], abs=0.1)
    # ns of the guest's time, which is what the scheduler counts
    assert one["service"][0]["allowed"] == 11 * (most[0] + most[1] / 2)
    metrics = suitedata.metrics({**found, "time_scale": 32})
    assert metrics["windows_by_charge"] == 1 and metrics["replay_off"] == 0
    assert metrics["inversions_charged"] == 0


@pytest.mark.parametrize("tenant, factor, by", [
    (0, 1.09, "charge"), (0, 1.12, "chip"), (3, 0.92, "charge"),
    (3, 0.89, "chip"), (2, 0, "chip")])
def test_charges_that_do_not_come_to_the_sum_are_not_believed(tenant, factor,
                                                               by):
    rows = requests()
    costs = replayed_sums(rows)
    costs[tenant] = int(costs[tenant] * factor)
    found = evaluated("hbfq", rows=rows, **charged_files(costs))
    one, chip = (found["fairness"]["by_unit"][key]
                 for key in ("cost", "chip"))
    assert one["windows_by"] == by and one["received"] == costs
    assert (one["windows"] == chip["windows"]) is (by == "chip")
    assert (one["service"] == chip["service"]) is (by == "chip")
    off = one["replay_off"][tenant]
    assert off is None if not factor else \
        off == pytest.approx(1 / factor - 1, rel=1e-3)
    metrics = suitedata.metrics({**found, "time_scale": 32})
    assert metrics["windows_by_charge"] == (by == "charge")


def test_what_was_forgiven_is_in_no_window():
    """A direction's first end comes late: what was charged before is a guess."""
    rows = [(*row[:3], int(turn >= 1200), *row[4:])
            for turn, row in enumerate(requests())]
    costs = replayed_sums(rows)
    one = evaluated("hbfq", rows=rows, **charged_files(costs))[
        "fairness"]["by_unit"]["cost"]
    assert one["windows_by"] == "charge"
    # Two thirds of the run
    assert one["windows"] == [] or one["windows"][0]["windows"] < 5
    assert one["received"][0] == pytest.approx(200 * 32000, rel=0.05)
    assert one["service"][0]["both_backlogged_s"] < 0.7 * evaluated(
        rows=rows)["fairness"]["by_unit"]["sectors"]["service"][0][
            "both_backlogged_s"]


def test_of_a_turn_s_time_there_is_no_request_s():
    files = charged_files(replayed_sums(requests()))
    one = evaluated("cfq-time", **files)["fairness"]["by_unit"]["cost"]
    assert one["windows_by"] == "chip" and "replayed" not in one
    one = evaluated("hbfq-paper", **files)["fairness"]
    assert one["unit"] == "sectors" and "cost" not in one["by_unit"]


def test_what_ends_after_the_run_is_nobodys_share():
    """Two loops of 4, 1:3; then all that is outstanding ends, as much of each."""
    who = numpy.array([0, 1, 1, 1] * 50 + [0, 1] * 4)
    log = {"issued": numpy.arange(len(who), dtype=float),
           "done": numpy.arange(len(who)) + 0.5}
    tenants = [{"depth": 4}, {"depth": 4}]
    kept = sharedata.all_send(log, who, tenants)
    assert not kept[200:].any() and kept[1:195].all()
    # Of one that comes late the others' time alone does not count.
    log["issued"][who == 1] += 20
    assert not sharedata.all_send(log, who, tenants)[:20].any()
    # Nothing would be left: all of it
    few = {key: values[:6] for key, values in log.items()}
    assert sharedata.all_send(few, who[:6], tenants).all()


def moved(rows, by):
    """The same requests later."""
    return [(row[0], row[1] + by, row[2] + by, *row[3:]) for row in rows]


def test_windows_begin_when_all_are_there():
    """What the device had before, the first tenant's, ends among theirs."""
    late = 10**6
    alone = [(0, n, late + n * 30000, 0, n * 8, 8) for n in range(200)]
    found = evaluated(rows=alone + moved(requests(), late))
    one = found["fairness"]["by_unit"]["sectors"]
    assert one["received"][0] == (300 + 200) * 8
    window = one["windows"][0]
    assert (window["windows"], window["inversions"]) == (5, 0)
    assert window["pv_max"] == pytest.approx(0, abs=0.1)


def test_windows_end_when_one_has_stopped():
    rows = requests()
    after = [(0, rows[-1][1] + n * 32000, rows[-1][2] + n * 32000, 0, n * 8,
              8) for n in range(1, 201)]
    window = evaluated(rows=rows + after)[
        "fairness"]["by_unit"]["sectors"]["windows"][0]
    assert (window["windows"], window["inversions"]) == (5, 0)


def test_windows_are_of_what_was_handed_over_while_all_were_there():
    who = numpy.array([0, 0, 0, 1, 0, 1, 0, 1, 0, 1])
    log = {"issued": numpy.arange(10.0), "done": numpy.arange(10.0) + 2.5}
    tenants = [{"depth": 1}, {"depth": 2}]
    # The second comes at 3, and at 7.5 (its second of four) it stops.
    assert sharedata.together(log, who, tenants) == (3, 7.5)
    assert numpy.flatnonzero(sharedata.chosen(log, who, tenants)).tolist() \
        == [3, 4, 5]
    # What was in the device before, but ended later, is sent by all's time.
    assert numpy.flatnonzero(sharedata.all_send(log, who, tenants)).tolist() \
        == [1, 2, 3, 4, 5]
    # Of the second nothing would be left: all of it
    assert sharedata.chosen({**log, "done": log["issued"] + [
        0.5 if one == 0 else 20 for one in who]}, who, tenants).all()


def test_metrics():
    run = evaluated()
    found = suitedata.metrics({**run, "time_scale": 32})
    assert found["pv_charged"] == found["pv_sectors"] == pytest.approx(0)
    assert found["inversions_charged"] == 0
    assert found["service_ratio_charged"] < 0.3
    depths = run["fairness"]["depths"]
    assert 0 < found["in_device_mean"] <= max(map(int, depths))
    assert found["grp5_bandwidth_bytes_per_s"] == \
        run["tenants"][3]["bandwidth_bytes_per_s"]
    assert found["grp1_latency_stddev_s"] == pytest.approx(0, abs=1e-12)
    assert "pv_model" not in found
    iocost = suitedata.metrics({**evaluated("iocost"), "time_scale": 32})
    assert iocost["pv_model"] == iocost["pv_charged"]


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
        "to 0.4; bfq 0.5 to 0.5")


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
    part = next(row for row in rows if row["id"] == "Tails")["parts"][4]
    assert part["holds"] is None and "p99: msn 0.11, prj 0.22" in part["ours"]


def test_a_tail_that_is_all_mean_says_so():
    rows = claims.evaluate("share", tails(msn_latency_p99_9_s=6e-3,
                                          msn_latency_mean_s=4.5e-3))
    part = next(row for row in rows if row["id"] == "Tails")["parts"][4]
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
        "same-4k 0.940 (77 in the drive, 128), same-prn 0.940"


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
    out = tmp_path / "page.md"
    assert shareresults.main([str(folder), "--out", str(out)]) == 0
    text = out.read_text()
    assert "- PV: every weight set is kept, in the unit charged: holds" in text
    assert "hbfq: not built here, 6 runs left out" in text
    # Due: 1/8 of 320, 2/8 of 480, 5/8 of 240
    assert "msn 1.00, prj 2.00, prn 1.00" in text
    assert [line.split(" | ")[1:3] + [line.split(" | ")[-1]]
            for line in text.splitlines() if line.endswith(
                ("chip time |", "what is charged |"))] == [
                    ["d", "acfq", "what is charged |"],
                    ["c", "hbfq", "chip time |"],
                    ["d", "hbfq", "what is charged |"]]
    assert text.count("**Not measured yet.**") == 1
    assert shareresults.main([str(tmp_path)]) == 2
