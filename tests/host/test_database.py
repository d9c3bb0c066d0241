# SPDX-License-Identifier: GPL-2.0
"""Tests of tenants that are databases. They boot no guest and run no db_bench."""

import importlib
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

initramfs = importlib.import_module("initramfs")
suite = importlib.import_module("suite")
suitecase = importlib.import_module("suitecase")
suitedata = importlib.import_module("suitedata")
suitedb = importlib.import_module("suitedb")
suitemachine = importlib.import_module("suitemachine")
suiteplan = importlib.import_module("suiteplan")

GOOD = """
[suite]
title = a suite
device = flashsim
[device]
profile = C
time_scale = 16
data = memory
[workload db]
job = share-database
tenants = one:100 other:300
fs = ext4
memory = 2G
CLIENTS = 8
BURST_KB = 512
PERIOD_US = 10000
RUNTIME = 3
[workload raw]
job = k2-rand-read
latency = rt
RUNTIME = 10
RT_IOS = 500
THINKTIME_US = 2000
[schedulers]
list =
    none
    acfq
[form short]
seeds = 101
"""


def plan():
    """The runs by cell."""
    return suitecase.by_cell(GOOD, "short")


def the_run(label="none"):
    """A run with databases."""
    return plan()[f"db.{label}.device"]


# --- the suite ---------------------------------------------------------------

@pytest.mark.parametrize("old, new, said", [
    ("PERIOD_US = 10000", "PERIOD_US = 1000001", "a whole number from 0 to 1000000"),
    ("PERIOD_US = 10000", "PERIOD_US = soon", "a whole number from 0"),
    ("PERIOD_US = 10000\n", "", "share-database.db_bench wants it"),
    ("BURST_KB = 512\n", "", "share-database.db_bench wants it"),
    ("BURST_KB = 512", "BURST_KB = 63", "a whole number from 64 to 65536"),
    ("CLIENTS = 8", "CLIENTS = 0", "a whole number from 1 to 64"),
    ("RUNTIME = 3", "RUNTIME = 0", "a whole number from 1 to 600"),
    ("RUNTIME = 3", "RUNTIME = 3\nREAD_RATE = 1", "does not use it"),
    ("tenants = one:100 other:300\n", "", "as each tenant has a database"),
    ("fs = ext4\n", "", "ext4, as the job file uses ${MOUNT}"),
    ("fs = ext4", "fs = ext4\nlatency = one", "no raw latencies"),
    ("tenants = one:100", "tenants = one:1001", "weights from 1 to 1000"),
    ("tenants = one:100", "tenants = other:100", "each job once")])
def test_what_is_wrong_is_said(old, new, said):
    assert said in suitecase.refusal(GOOD, old, new)


def test_a_form_has_its_own_time():
    run = suitecase.by_cell(GOOD + "RUNTIME = 1\n", "short")["db.none.device"]
    assert run["env_device"]["RUNTIME"] == "1"
    assert "--duration=16\n" in suite.run_files(run)["db.one.run"]


def test_a_run_with_databases():
    run = the_run()
    assert json.loads(json.dumps(run)) == run
    files = suite.run_files(run)
    assert "job.fio" not in files and files["fs"] == "0 0 16\n"
    one, other = (files[f"db.{name}.run"].splitlines() for name in ("one", "other"))
    assert [a for a, b in zip(one, other) if a != b] == [
        "--db=/mnt/suite/one/db", "--seed=10100"]
    assert "--seed=10101" in other
    # 512 KiB in each 10 ms of a device that is 16 times slower
    for line in ("--duration=48", "--threads=8", "--rate_limiter_bytes_per_sec=3276800",
                 "--rate_limiter_refill_period_us=160000", "--compression_type=none",
                 "--use_direct_reads=true"):
        assert line in one
    fill = files["db.one.fill"].splitlines()
    assert "--benchmarks=fillseq" in fill and "--compression_type=none" in fill
    assert not any(line.startswith("--duration") for line in fill)
    assert not re.search(r"\$\{", "".join(files[name] for name in files
                                          if name.startswith("db.")))
    # Its own time, and a minute of the device
    assert files["database"] == f"{48 + 960}\n"
    # No raw latencies, and a number outstanding that is not known
    assert run["latency"] == [] and [one["depth"] for one in run["tenants"]] == [None] * 2
    assert [one["span_pct"] for one in run["tenants"]] == [[0, 50], [50, 100]]
    assert "log_len" in run["params"]


def test_without_pauses_there_is_no_limit():
    assert suitedb.read_rate({"BURST_KB": "512", "PERIOD_US": "0"}) == 0


def test_the_classes_of_latencies_are_narrow_and_rise():
    ends = suitedb.edges()
    assert ends[0] == 100000 and ends[-1] >= 16 * 10**10
    assert all(low < high <= low * 1.0201 for low, high in zip(ends, ends[1:]))


def test_other_runs_are_as_before():
    run = plan()["raw.none.device"]
    assert "database" not in run
    files = suite.run_files(run)
    assert "job.fio" in files and not {"database", "edges"} & set(files)


# --- the machine -------------------------------------------------------------

def test_only_guests_with_databases_get_db_bench(tmp_path, monkeypatch):
    assert "db_bench" not in initramfs.TOOLS
    program = tmp_path / "bin/db_bench"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    library = tmp_path / "librocksdb.so.1"
    library.write_text("")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("FLASH_IOSCHED_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(initramfs, "libraries", lambda path: [str(library)])
    monkeypatch.setattr(suitemachine.subprocess, "Popen", lambda command, **_: (
        commands.append(command), subprocess.CompletedProcess(command, 0))[1])
    monkeypatch.setattr(suitemachine.threading, "Thread",
                        lambda **_: type("Thread", (), {"start": lambda self: None})())
    commands = []
    machine = suite.Machine(0, None, "6.12")
    # Twice: the links of an earlier run are used again.
    for _ in range(2):
        machine.start([the_run()], 100)
    machine.start([plan()["raw.none.device"]], 100)
    assert "--files" not in commands[2]
    folder = pathlib.Path(commands[1][commands[1].index("--files") + 1])
    assert {path.name: os.readlink(path) for path in folder.iterdir()} == {
        "db_bench": str(program), "librocksdb.so.1": str(library)}


def test_a_machine_without_db_bench_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "run scripts/deps bench" in suitedb.missing([the_run()])
    assert suitedb.missing([plan()["raw.none.device"]]) == ""
    assert re.search(r"\brocksdb-tools\b", (REPO / "scripts/deps").read_text())


# --- the guest ---------------------------------------------------------------

GUEST = (REPO / "tests/vm/lib/suite-guest.sh").read_text()


def guest(*names):
    """Functions of the guest's script."""
    return "".join(re.search(rf"^{name}\(\) {{.*?^}}\n", GUEST, re.S | re.M)[0]
                   for name in names)


def test_both_sides_know_the_names():
    for name in ("database", "edges", "db.$1.$2"):
        assert f"$WORK/{name}" in GUEST
    for name in ("db-status", "db.$name", "db.$name.said", "latency.$name"):
        assert f"$OUT/{name}" in GUEST
    for name in suitedb.PHASES:
        assert f'database "$name" {name}' in GUEST


def in_guest(tmp_path, body, *names):
    """Runs functions of the guest with two tenants."""
    for name in ("out", "cgroup/one", "cgroup/other"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    (tmp_path / "groups").write_text("one 100 -\nother 300 -\n")
    (tmp_path / "database").write_text("20\n")
    (tmp_path / "edges").write_text("10,20")
    return subprocess.run(["bash", "-uc", f"""
        WORK={tmp_path} OUT={tmp_path}/out CGROUP={tmp_path}/cgroup VM={tmp_path}
        {guest(*names)}
        {body}"""], capture_output=True, text=True, check=False)


def test_a_database_runs_in_its_tenants_group(tmp_path):
    done = in_guest(tmp_path, """
        timeout() { echo "$LD_LIBRARY_PATH $*"; }
        exec() { "$@"; }
        database one fill""", "database")
    assert done.stdout == (f"/files -k 5 20 /files/db_bench --flagfile={tmp_path}"
                           "/db.one.fill\n"), done.stderr
    assert re.fullmatch(r"\d+\n", (tmp_path / "cgroup/one/cgroup.procs").read_text())


@pytest.mark.parametrize("one, other, status", [
    (0, 0, 0), (3, 0, 3), (0, 134, 1), (124, 1, 124), (1, 137, 137)])
def test_each_databases_status_is_kept(tmp_path, one, other, status):
    """Of all that ran; 124 and more mean a hang, and an abort (134) is none."""
    done = in_guest(tmp_path, f"""
        dmsetup() {{ printf '%s ' "$@"; echo; }}
        database() {{ echo "$1 $2"; [[ $1 == one ]] && return {one}; return {other}; }}
        count_latencies
        run_databases""", "count_latencies", "latencies", "run_databases")
    assert done.returncode == status
    assert (tmp_path / "out/db-status").read_text() == f"one {one}\nother {other}\n"
    assert (tmp_path / "out/db.other").read_text() == "other run\n"
    assert (tmp_path / "out/latency.one").read_text() == "message one 0 @stats_print 0 \n"
    assert done.stdout.splitlines()[1].strip() == \
        "message other 0 @stats_create - /1 2 precise_timestamps histogram:10,20"


@pytest.mark.parametrize("status", [0, 1])
def test_all_databases_are_filled(tmp_path, status):
    done = in_guest(tmp_path, f"""
        each_fs() {{ echo "each $*"; }}
        database() {{ printf 'progress\\rno space\\n'; echo "$*" >>{tmp_path}/seen
                      return {status}; }}
        fill_databases""", "fill_databases")
    assert done.returncode == status
    seen = (tmp_path / "seen").read_text()
    if status:
        assert done.stdout == "progress\nno space\n" and seen == "one fill\n"
    else:
        assert done.stdout == "each sync -f\n" and seen == "one fill\nother fill\n"
        assert (tmp_path / "drop_caches").read_text() == "3\n"


# --- a run -------------------------------------------------------------------

# Of RocksDB 7.8; 9.10 has the same lines
SAID = """\
mixgraph     :   19336.425 micros/op 411 ops/sec 16.000 seconds 120 operations;    5.9 \
MB/s ( Gets:75 Puts:6 Seek:0, reads 75 in 75 found, avg size: 16384.0 value, -nan scan)

Microseconds per read:
Count: 110 Average: 16000.0000  StdDev: 1600.00
Min: 11  Median: 10196.5087  Max: 551118
Percentiles: P50: 10196.51 P75: 18546.06 P99: 310707.55 P99.9: 379693.40 P99.99: 550208.33
------------------------------------------------------
[      10,      15 ]     1338  21.408%  21.408% ####

Microseconds per write:
Count: 10 Average: 1770.7035  StdDev: 24910.28
Min: 176  Median: 212.8571  Max: 465100
Percentiles: P50: 212.86 P75: 234.29 P99: 3875.00 P99.9: 461700.00 P99.99: 465100.00
"""
SIZE = 1 << 30
REQUESTS, SECTORS = 100, 32
NS = 16 * 10**6


def raw_files(**more):
    """Raw files of a run of two tenants with 100 reads each, of 1 ms of the device."""
    ends = suitedb.edges()
    classes = [0] * (len(ends) + 1)
    classes[next(n for n, end in enumerate(ends) if end >= NS)] = REQUESTS
    rows = sorted((turn * NS * 2 + n, turn * NS * 2 + n + NS, "R",
                   n * (SIZE // 1024) + turn * SECTORS, SECTORS)
                  for turn in range(REQUESTS) for n in range(2))
    found = {
        "status": "0\n", "cpu": "1.0 0\n17.0 1000\n", "settings": "", "dmesg": "",
        "inflight": "0 0\n", "tenants": "", "groups": "one 7\nother 8\n",
        "db-status": "one 0\nother 0\n",
        "stat-before": " ".join(["0"] * 17),
        "stat-after": f"{2 * REQUESTS} 0 {2 * REQUESTS * SECTORS} " + " ".join(["0"] * 14),
        "device-stats": f"size_bytes {SIZE}\nreads {2 * REQUESTS}\nwrites 0\n"
                        f"read_bytes {2 * REQUESTS * SECTORS * 512}\nwrite_bytes 0\n"
                        "outstanding 0\noutstanding_max 2\n",
        "log": "arrival_ns,done_ns,op,sector,sectors\n" + "".join(
            ",".join(map(str, row)) + "\n" for row in rows)}
    for name in ("one", "other"):
        found[f"db.{name}"] = SAID
        found[f"db.{name}.said"] = "DB path\n... finished 100 ops   \r... finished 200 ops"
        found[f"latency.{name}"] = (
            f"0+2097152 {REQUESTS} 0 {REQUESTS * SECTORS} {REQUESTS * NS} 0 0 0 0 0 "
            f"{REQUESTS * NS} {REQUESTS * NS} {REQUESTS * NS} 0 "
            + ":".join(map(str, classes)) + "\n")
    return {**found, **more}


def evaluated(**more):
    """The record of a run with these files."""
    return suitedata.evaluate(raw_files(**more), {**the_run(), "seed": 101}, {"cpus": "1"})


def test_a_result():
    found = evaluated()
    assert found["passed"], found["checks"]
    for one in found["tenants"]:
        # A second of the device
        assert one["bandwidth_bytes_per_s"] == REQUESTS * SECTORS * 512
        assert one["ios"] == REQUESTS
        latency = one["latency_s"]
        assert latency["count"] == 100 and latency["mean"] == pytest.approx(1e-3)
        assert 1e-3 <= latency["max"] <= 1.02e-3 and latency["p50"] == latency["max"]
        # 50 requests have to lie beyond it.
        assert latency["p99"] is None and latency["stddev"] == 0
    assert found["fairness"]["by_unit"]["sectors"]["received"] == [REQUESTS * SECTORS] * 2
    own = found["database"]["one"]
    assert own["operations"] == 120 and own["elapsed_s"] == 1
    assert own["read"]["mean_s"] == pytest.approx(1e-3)
    assert own["read"]["stddev_s"] == pytest.approx(1e-4)
    assert own["write"]["count"] == 10
    record = {**found, "scheduler": "none", "time_scale": 16}
    metrics = suitedata.metrics(record)
    assert metrics["one_latency_mean_s"] == pytest.approx(1e-3)
    assert metrics["other_latency_stddev_s"] == 0
    assert metrics["read_latency_mean_s"] == pytest.approx(1e-3)
    # Of all tenants there are no raw latencies.
    assert metrics["latency_mean_s"] is None
    assert suite.headline(record).startswith("3 MB/s")


@pytest.mark.parametrize("more, said", [
    ({"db-status": "one 0\nother 1\n", "db.other.said": "IO error: No space left\n\n"},
     "db_bench of other ended with status 1: IO error: No space left; next: see"),
    ({"db-status": "one 124\nother 0\n"}, "took more than 1008 s of the guest"),
    ({"db-status": "one 0\n"}, "db_bench of other did not run"),
    ({"db.one": SAID.split("Microseconds per write")[0]},
     "one: db_bench does not say write; next"),
    ({"db.one": SAID.replace(" operations;", "")},
     "db_bench does not say elapsed_s, operations"),
    ({"db.other": ""}, "does not say elapsed_s, operations, read, write"),
    ({"latency.one": "0+2097152 1 0\n"}, "the kernel has counted no request"),
    ({"latency.other": ""}, "dm-stats")])
def test_what_a_run_lacks_is_said_in_one_line(more, said):
    with pytest.raises(suitedb.NoResult, match=re.escape(said)) as error:
        evaluated(**more)
    assert "\n" not in str(error.value) and "next: " in str(error.value)


def test_classes_give_what_samples_give():
    """Within the width of a class."""
    ends = [1e-4 * 1.02 ** n for n in range(400)]
    samples = [1e-3 * 1.003 ** n for n in range(1000)]
    counts = [0] * (len(ends) + 1)
    for value in samples:
        counts[next(n for n, end in enumerate(ends) if value <= end)] += 1
    found = suitedata.histogram(ends + ends[-1:], counts, sum(samples))
    exact = suitedata.latency(samples)
    assert found["count"] == 1000 and found["mean"] == pytest.approx(exact["mean"])
    for key in ("max", "p50", "p90", "p95"):
        assert exact[key] <= found[key] <= exact[key] * 1.0201
    assert found["p99"] is None and exact["p99"] is None
    mean = sum(samples) / 1000
    deviation = (sum((value - mean) ** 2 for value in samples) / 1000) ** 0.5
    assert found["stddev"] == pytest.approx(deviation, rel=0.02)
    nothing = suitedata.histogram(ends, [0] * 401, 0.0)
    assert nothing["count"] == 0 and nothing["mean"] is None


# --- the session -------------------------------------------------------------

class Arguments:
    """Stands in for the parsed options of scripts/bench."""
    form, kernel, seeds, only, repeat = "short", "6.12", None, [], 1
    vms, keep, resume = 1, False, None


@pytest.fixture(name="session")
def fixture_session(tmp_path):
    """A session with one machine that has begun a run with databases."""
    one = suiteplan.parse(GOOD, "x.suite", "x")
    found = suite.Session(one, Arguments(), tmp_path, suiteplan.runs(one, "short"))
    machine = suite.Machine(0, found.events, "6.12")
    machine.runs = [found.by_id["db.none.device.s101"]]
    machine.names = {"r00": "db.none.device.s101"}
    found.line(machine, "suite: begin r00")
    return found, machine


def test_a_run_without_figures_is_trouble(session, monkeypatch):
    found, machine = session
    monkeypatch.setattr(suite, "unpack", lambda text: raw_files(
        **{"db-status": "one 0\nother 1\n", "db.other.said": "IO error: x\n"}))
    found.line(machine, "suite: done r00")
    assert not found.records and len(found.trouble) == 1
    text, = found.trouble
    assert text.startswith("db.none.device.s101: db_bench of other ended with status 1: "
                           "IO error: x; next: see ")
    # That file is there.
    assert (found.raw / "db.none.device.s101/db.other.said").exists()
    assert f"{found.raw.name}/db.none.device.s101/db.other.said" in text


def test_databases_that_were_not_filled_are_trouble(session):
    """Also under a scheduler of the kernel's, which may be absent without a fault."""
    found, machine = session
    found.line(machine, "suite: failed r00 the databases could not be filled")
    assert found.trouble and not found.left_out


def test_a_record_says_how_it_was_made(session):
    found, machine = session
    run = found.by_id["db.none.device.s101"]
    made = found.record(machine, run, suitedata.evaluate(raw_files(), run, {"cpus": "1"}))
    assert made["fio_command"] == \
        "db_bench, options of tests/fio/share-database.db_bench"
    assert made["fs"]["type"] == "ext4" and made["memory"] == "2G"
    json.dumps(made)
