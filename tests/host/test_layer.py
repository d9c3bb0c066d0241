# SPDX-License-Identifier: GPL-2.0
"""Suites with files, PostMark, and what is concluded of layer_read."""

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
layerclaims = importlib.import_module("layerclaims")
layerlimits = importlib.import_module("layerlimits")
layerresults = importlib.import_module("layerresults")
resultspage = importlib.import_module("resultspage")
suite = importlib.import_module("suite")
suitecase = importlib.import_module("suitecase")
suitedata = importlib.import_module("suitedata")
suitefs = importlib.import_module("suitefs")
suitehost = importlib.import_module("suitehost")
suiteplan = importlib.import_module("suiteplan")
suitetime = importlib.import_module("suitetime")

GOOD = """
[suite]
title = a suite
device = flashsim
[device]
profile = B
time_scale = 8
[workload seq-read]
job = layer_read-files
fs = ext4
files = 16
file_mb = 64
order_log = 5000
RW = read
SIZES = 4k/30:128k/40:512k/30
START = 0
RUNTIME = 10
IOS = 20
[workload mix]
job = layer_read-mix
fs = ext4
files = 1
file_mb = 1024
memory = 2G
latency = mix
SIZE = 512k
READ_PCT = 50
DEPTH = 16
RUNTIME = 10
IOS = 400
[workload mail]
job = layer_read-postmark
fs = ext4
memory = 3G
FILES = 500
TRANSACTIONS = 1000
[workload raw]
job = layer_read-pure
latency = pure
RW = read
SIZE = 16k
DEPTH = 4
RUNTIME = 10
IOS = 100
[schedulers]
list =
    none
    none read_ahead_kb=16,512
    layer_read mode=paper chips=0 read_expire_ms=0 sort=fifo as fifo
    layer_read
    layer_read layout=right as map
[form short]
seeds = 101
IOS@mix.* = 200
"""


def plan(text=GOOD):
    """The runs by cell."""
    return suitecase.by_cell(text)


# --- the suite ---------------------------------------------------------------

@pytest.mark.parametrize("old, new, said", [
    ("fs = ext4\nfiles = 16\n", "files = 16\n", "ext4"),
    ("fs = ext4\nfiles = 16", "fs = xfs\nfiles = 16", "one of ext4"),
    ("files = 16\nfile_mb = 64", "files = 16", "file_mb"),
    ("files = 16\nfile_mb = 64", "file_mb = 64", "files"),
    ("files = 16", "files = 65", "from 1 to 64"),
    ("memory = 2G", "memory = much", "a size such as 2G"),
    ("order_log = 5000", "order_log = 0", "from 1"),
    ("job = layer_read-pure", "job = layer_read-pure\nfs = ext4",
     "a job file that uses ${MOUNT}"),
    ("TRANSACTIONS = 1000", "", "layer_read-postmark.postmark wants it"),
    ("TRANSACTIONS = 1000", "TRANSACTIONS = 1\nDEPTH = 2", "does not use it"),
    ("sort=fifo", "sort=best", "sector, fifo, small, big"),
    ("chips=0", "chips=129", "from 0 to 128"),
    ("read_ahead_kb=16", "read_ahead_kb=x", "from 0 to 65536"),
])
def test_what_is_wrong_is_said(old, new, said):
    assert said in suitecase.refusal(GOOD, old, new)


def test_a_run_with_files():
    run = plan()["seq-read.none.device"]
    assert run["fs"] == {"type": "ext4", "files": 16, "file_mb": 64}
    assert run["params"]["log_len"] == "5000"
    files = suite.run_files(run)
    assert files["fs"] == "16 64 8\n" and files["order"] == ""
    assert "job.postmark" not in files and "${MOUNT}" in files["job.fio"]
    # 16 jobs of 20 requests: 30 % of 4, 40 % of 128, 30 % of 512 KiB
    assert run["expects"] == [320, 320 * 206 * 1024]
    assert json.loads(json.dumps(run)) == run
    assert "memory" not in run
    assert any("200 ms" in text for text in run["unscaled"])
    assert not any("200 ms" in text for text in
                   plan()["raw.none.device"]["unscaled"])


def test_a_run_with_postmark():
    run = plan()["mail.layer_read.device"]
    files = suite.run_files(run)
    assert files["job.postmark"].splitlines() == [
        "set location /mnt/suite", "set seed 101", "set size 10240 51200",
        "set number 500", "set transactions 1000", "set report verbose",
        "run", "quit"]
    assert "job.fio" not in files and files["fs"] == "0 0 8\n"
    machine = suite.Machine(0, None, "6.1")
    machine.runs = [run]
    command = machine.command(100)
    assert command[command.index("--memory") + 1] == "3G"
    machine.runs = [plan()["raw.none.device"]]
    assert "--memory" not in machine.command(100)
    # Half an hour of a device that is eight times slower, and more
    assert "LIMIT=9720\n" in files["env"]


def test_what_has_no_files_is_as_before():
    run = plan()["raw.none.device"]
    assert not {"fs", "order_log", "postmark", "memory"} & set(run)
    assert "log_len" not in run["params"]
    files = suite.run_files(run)
    assert "fs" not in files and "order" not in files


def test_what_layer_read_is_told():
    runs = plan()
    lines = runs["seq-read.fifo.device"]["setup"]
    assert "times queue/iosched/write_expire_ms 8" in lines
    assert "times queue/iosched/read_expire_ms 8" not in lines
    for line in ("mode paper", "chips 0", "read_expire_ms 0", "sort fifo"):
        assert f"set queue/iosched/{line}" in lines
    assert "times queue/iosched/read_expire_ms 8" in \
        runs["seq-read.layer_read.device"]["setup"]
    assert "set queue/iosched/layout page=16384 terms=1:8:1,8:2:8" in \
        runs["raw.map.device"]["setup"] or \
        "set queue/iosched/layout page=16384 chips=16" in \
        runs["raw.map.device"]["setup"]
    assert "set queue/read_ahead_kb 512" in \
        runs["seq-read.none-ra512.device"]["setup"]


def test_deadlines_can_be_scaled():
    """The kernel accepts the largest value that a suite computes."""
    source = (REPO / "layer_read/layer_read.c").read_text()
    for name in suiteplan.TIMES["layer_read"]:
        high, usual = map(int, re.search(
            rf"X\({name}, 0, (\d+), (\d+),", source).groups())
        assert suiteplan.SCHEDULERS["layer_read"][name].high == high
        for one in ("layer_read", "layer_read-paper"):
            for run in suiteplan.runs(suiteplan.load(one), "full"):
                assert usual * run["time_scale"] <= high, run["id"]


@pytest.mark.parametrize("cell, want", [
    ("mix.none.device", [200, 200 * 512 * 1024]),
    ("raw.none.device", [100, 100 * 16 * 1024]),
    ("mail.none.device", [10000, 2000 * 30720])])
def test_what_a_run_comes_to(cell, want):
    run = plan()[cell]
    if cell.startswith("raw"):
        # Nothing else is known of it, and its time is estimated as before.
        assert "expects" not in run
        run["expects"] = suitefs.expected(
            suiteplan.job_sections(run["job_text"]), run["env_device"], False)
    assert run["expects"] == want
    assert suitetime.units(run) > want[0] * suitetime.UNITS_IO


def test_the_short_form_takes_ten_minutes(tmp_path):
    seconds = {form: sum(suitetime.total_seconds(
        suiteplan.runs(suiteplan.load(name), form),
        suitetime.Speeds(tmp_path / "none"), suite.MACHINES)
        for name in layerresults.SUITES) + layerresults.COST_SECONDS
        for form in ("short", "full")}
    assert seconds["short"] <= 600 and seconds["full"] <= 3600


def test_a_real_device_gets_no_file_system():
    found, left = suitehost.convert(list(plan().values()))
    assert {run["workload"] for run in found} == {"raw"}
    assert any("file system" in line for line in left)


# --- the guest ---------------------------------------------------------------

def guest(name):
    """A function of the guest's script."""
    text = (REPO / "tests/vm/lib/suite-guest.sh").read_text()
    return re.search(rf"^{name}\(\) {{.*?^}}\n", text, re.S | re.M)[0]


def test_both_sides_know_the_names():
    text = (REPO / "tests/vm/lib/suite-guest.sh").read_text()
    assert f"MOUNT={suitefs.MOUNT}\n" in text
    for name in ("fs", "order", "job.postmark"):
        assert f"$WORK/{name}" in text
    for name in ("postmark", "order", "stats-before"):
        assert f"$OUT/{name}" in text
    tools = (REPO / "scripts/lib/initramfs.py").read_text()
    assert "postmark" in tools and "mountpoint" in tools
    assert re.search(r"\bpostmark\b", (REPO / "scripts/deps").read_text())


def test_a_file_system_with_files(tmp_path):
    """Blocks are allocated, count as written, and have not been written."""
    (tmp_path / "fs").write_text("3 8 4\n")
    (tmp_path / "vm").mkdir()
    image = tmp_path / "image"
    done = subprocess.run(["bash", "-euc", f"""
        WORK={tmp_path} VM={tmp_path}/vm DISK=nothing MOUNT={tmp_path}/mnt
        WRITEBACK=500 EXPIRE=3000
        PATH=$PATH:/usr/sbin:/sbin
        truncate -s 256M {image}
        mke2fs() {{ command mke2fs "${{@:1:$#-1}}" {image}; }}
        mount() {{ printf '%s ' "$@" >$WORK/mounted; }}
        sync() {{ :; }}
        {guest("mount_fs")}
        {guest("make_fs")}
        make_fs"""], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "vm/dirty_expire_centisecs").read_text() == "12000\n"
    assert (tmp_path / "vm/dirty_bytes").read_text() == "53687091\n"
    assert "commit=20 " in (tmp_path / "mounted").read_text()
    assert (tmp_path / "vm/drop_caches").read_text() == "3\n"
    for n in range(3):
        said = subprocess.run(
            ["/usr/sbin/debugfs", "-R", f"stat /file.{n}", image],
            capture_output=True, text=True, check=True).stdout
        assert "Size: 8388608" in said
        assert "(0-2047):" in said and "[u]" not in said
    # mke2fs writes metadata only.
    assert image.stat().st_blocks * 512 < 1 << 20
    subprocess.run(["/usr/sbin/e2fsck", "-fn", image], check=True,
                   capture_output=True)


def test_the_order_of_issue(tmp_path):
    """By arrival, reads and writes apart; other operations are left out."""
    (tmp_path / "log").write_text(
        "arrival_ns,begin_ns,done_ns,op,sector,sectors,chip,chips\n"
        "30,0,0,W,100,8,0,1\n10,0,0,R,0,8,0,1\n40,0,0,R,16,8,0,1\n"
        "20,0,0,R,8,8,0,1\n35,0,0,D,0,8,0,1\n50,0,0,W,108,8,0,1\n")
    done = subprocess.run(
        ["bash", "-euc", f"DEBUG={tmp_path}\n{guest('order')}\norder"],
        capture_output=True, text=True, check=True)
    # R R W R W: three turns; 8, 16 and 108 follow on.
    assert suitefs.issue(done.stdout) == {"requests": 5, "turns": 3,
                                          "adjacent": 3}
    assert suitefs.issue("") is None


# --- a run -------------------------------------------------------------------

SAID = """PostMark v1.51 : 8/14/01
pm>Creating files...Done
Time:
\t26 seconds total
\t20 seconds of transactions (50 per second)

Files:
\t1006 created (1006 per second)
\t\tCreation alone: 500 files (500 per second)
\t\tMixed with transactions: 506 files (506 per second)
\t504 read (504 per second)
\t496 appended (496 per second)
\t1006 deleted (1006 per second)
\t\tDeletion alone: 512 files (512 per second)

Data:
\t16.00 megabytes read (16.16 megabytes per second)
\t512.00 kilobytes written (33.82 kilobytes per second)
pm>"""
STAT = "{} 5 0 0 {} 7 0 0 0 0 0"
LAYER = ("layers 16\nserved_reads {}\nserved_writes {}\nexpired_reads 3\n"
         "expired_writes 0\nswitches {}\nmoves 40\nrebuilt 0\nread_pieces 0\n")


def raw_mix(**more):
    """Raw files of a guest's mix of 200 requests."""
    size = 512 * 1024
    parts = {way: {"total_ios": 100, "io_bytes": 100 * size, "runtime": 8000,
                   "lat_ns": {"N": 100, "mean": 8e6, "max": 9e6}}
             for way in ("read", "write")}
    return {
        "fio": json.dumps({"jobs": [{"jobname": "mix", "error": 0, **parts}]}),
        "mix_lat.1.log": "".join(
            f"{n}, {(n % 2 + 1) * 8000000}, {n % 2}, {size}, 0\n"
            for n in range(200)),
        "device-stats": f"reads 100\nwrites 104\nread_bytes {100 * size}\n"
        f"write_bytes {101 * size}\noutstanding 0\noutstanding_max 16\nwait_read_ns 8000000000\n"
        "active_ns 2000000000\n"
        "wait_write_ns 0\nutilisation_milli 5000\n",
        "stat-before": STAT.format(10, 20), "stat-after": STAT.format(
            110, 124).replace(" 5 ", " 30 "),
        "settings": "", "inflight": "0 0\n", "dmesg": "",
        "cpu": "100.00 5000\n108.00 5600\n", "status": "0\n",
        "stats-before": LAYER.format(11, 22, 5),
        "stats-after": LAYER.format(111, 126, 25), "tunables": "",
        "order": "204 20 50\n", **more}


def evaluated(cell="mix.layer_read.device", **more):
    """A run with these raw files."""
    run = {**plan()[cell], "seed": 101, "order_log": 100}
    return suitedata.evaluate(raw_mix(**more), run, {"cpus": "1"})


def test_flushes_count_as_writes_so_sectors_are_compared():
    size = 512 * 1024
    stats = raw_mix()["device-stats"] + "flushes 40\n"
    after = f"110 5 {100 * size // 512} 0 150 7 {{}} 0 0 0 0"
    for sectors, passed in ((101 * size // 512, True), (90 * size // 512, False)):
        check = evaluated(**{"device-stats": stats, "stat-after": after.format(
            sectors)})["checks"]["accounted"]
        assert check["passed"] is passed and "as many sectors" in check["text"]


def test_a_mix():
    found = evaluated()
    assert found["passed"], found["checks"]
    # Reads took 8 ms of the guest each, writes 16.
    assert found["directions"]["read"]["latency_s"]["p50"] == \
        pytest.approx(1e-3)
    assert found["directions"]["write"]["latency_s"]["p50"] == \
        pytest.approx(2e-3)
    assert found["directions"]["read"]["latency_s"]["p99"] is None
    assert found["scheduler_stats"]["served_reads"] == 100
    assert found["scheduler_stats"]["switches"] == 20
    assert found["scheduler_stats"]["layers"] == 16
    assert found["block_layer"] == {
        "read": {"requests": 100, "merged": 25, "sectors": 0},
        "write": {"requests": 104, "merged": 0, "sectors": 0}}
    metrics = suitedata.metrics({**found, "scheduler": "layer_read",
                                 "time_scale": 8})
    assert metrics["read_bandwidth_bytes_per_s"] == 100 * 512 * 1024
    assert metrics["read_request_bytes"] == 512 * 1024
    assert metrics["read_die_wait_s"] == pytest.approx(1e-2)
    assert metrics["read_merged_share"] == 0.2
    assert metrics["outstanding_max"] == 16
    # 201 requests in 2 s of the guest
    assert metrics["active_bytes_per_s"] == 201 * 512 * 1024 / 2 * 8
    assert metrics["turns_per_1000"] == pytest.approx(98.04, abs=0.01)
    assert metrics["switches_per_1000"] == pytest.approx(98.04, abs=0.01)
    assert metrics["read_latency_p50_s"] == pytest.approx(1e-3)


@pytest.mark.parametrize("more, check", [
    ({"stat-after": STAT.format(150, 124)}, "accounted"),
    ({"device-stats": "reads 100\nwrites 104\nread_bytes 9\nwrite_bytes "
      "999999999\noutstanding 0\n"}, "device"),
    ({"device-stats": raw_mix()["device-stats"].replace(
        "outstanding 0", "outstanding 1")}, "device"),
    ({"status": "124"}, "completed"),
    ({"settings": "read_ahead_kb\t16\t128\n"}, "settings"),
])
def test_what_a_run_with_files_is_judged_by(more, check):
    found = evaluated(**more)
    assert [name for name, one in found["checks"].items()
            if not one["passed"]] == [check]


def raw_mail(text=SAID):
    """Raw files of a guest's run of PostMark."""
    found = raw_mix(postmark=text)
    del found["fio"], found["mix_lat.1.log"]
    return found


def test_postmark():
    run = {**plan()["mail.layer_read.device"], "seed": 101}
    found = suitedata.evaluate(raw_mail(), run, {"cpus": "1"})
    assert found["passed"], found["checks"]
    mail = found["postmark"]
    # Eight seconds of the guest are one; its own clock has whole ones.
    assert mail["elapsed_s"] == 1.0 and mail["said_s"] == 26 / 8
    assert mail["transactions_per_s"] == 1000
    assert mail["created"] == 1006 and mail["read"] == 504
    assert mail["read_bytes"] == 16 << 20
    assert mail["written_bytes"] == 512 << 10
    assert found["total"]["read_bandwidth_bytes_per_s"] == 16 << 20
    metrics = suitedata.metrics({**found, "scheduler": "layer_read",
                                 "time_scale": 8})
    assert metrics["transactions_per_s"] == 1000


@pytest.mark.parametrize("text", ["", SAID.replace("seconds total", ""),
                                  SAID.split("Data")[0]])
def test_postmark_that_came_to_no_end(text):
    run = {**plan()["mail.layer_read.device"], "seed": 101}
    with pytest.raises(ValueError, match="PostMark does not say"):
        suitedata.evaluate(raw_mail(text), run, {"cpus": "1"})


def test_a_record_says_how_it_was_made(tmp_path):
    class Arguments:
        """Stands in for the parsed options of scripts/bench."""
        form, kernel, seeds, only, repeat = "short", "6.1", None, [], 1
        vms, keep, resume = 2, False, None
    one = suiteplan.parse(GOOD, "x.suite", "x")
    found = suite.Session(one, Arguments(), tmp_path,
                          suiteplan.runs(one, "short"))
    run = next(run for run in found.runs
               if run["cell"] == "mail.layer_read.device")
    machine = suite.Machine(0, found.events, "6.1")
    made = found.record(machine, run, suitedata.evaluate(
        raw_mail(), run, {"cpus": "1"}))
    assert made["fio_command"] == \
        "postmark tests/fio/layer_read-postmark.postmark"
    assert made["fs"]["type"] == "ext4" and made["memory"] == "3G"
    json.dumps(made)


# --- claims ------------------------------------------------------------------

def spread(value):
    """A metric of one seed."""
    return {"median": value, "min": value, "max": value}


def cell(name, scheduler=None, tunables=None, **figures):
    """A cell of one seed."""
    workload, label, variant = name.split(".")
    return {"cell": name, "workload": workload, "label": label,
            "variant": variant, "tunables": tunables or {},
            "scheduler": scheduler or
            (label if label in ("none", "mq-deadline", "bfq") else
             "layer_read"),
            "by_seed": {"101": dict(figures)},
            "metrics": {key: spread(value)
                        for key, value in figures.items()}}


def rates(name, read=0.0, write=0.0, **more):
    """A cell with throughput in both directions, MB/s."""
    return cell(name, read_bandwidth_bytes_per_s=read * 1e6,
                write_bandwidth_bytes_per_s=write * 1e6,
                bandwidth_bytes_per_s=(read + write) * 1e6, **more)


THERE, MIXED = (f"{at.end}.{at.variant}" for at in (layerclaims.LIKE, layerclaims.MIXED))


def paper_cells():
    """Cells with which all holds."""
    found, end = [], THERE
    for name, gains in (("seq-read", (1.16, 1.05)),
                        ("rand-read", (1.02, 1.016)),
                        ("seq-write", (1.0, 1.01)),
                        ("rand-write", (0.99, 1.0))):
        way = layerclaims.way_of(name)
        for label, rate in (("paper", 500), ("none", 500 / gains[0]),
                            ("mq-deadline", 500 / gains[1]),
                            ("deadline-no-fm", 499 / gains[1]),
                            ("bfq", 200)):
            found.append(rates(f"{name}.{label}{end}", **{way: rate}))
        for label, rate in (("paper", 500), ("none", 510), ("auto", 498)):
            found.append(rates(f"{name}.{label}.b", **{way: rate}))
        for sort, rate in zip(layerclaims.SORTS, (
                (500, 450, 470, 440) if name == "seq-read" else
                (500, 499, 490, 495))):
            found.append(rates(f"sizes-{name}.deadline-{sort}{end}",
                               **{way: rate}))
    for depth in layerclaims.DEPTHS:
        for label, rate in (("none", 100), ("fifo-8", 110), ("fifo-16", 120),
                            ("fifo-32", 130), ("fifo-64", 130)):
            found.append(rates(f"depth-{depth}.{label}{MIXED}", rate, rate))
    found += [rates(f"mix-50.paper{MIXED}", 110, 107),
              rates(f"mix-50.none{MIXED}", 100, 100),
              rates(f"mix-50.mq-deadline{MIXED}", 104, 103.9),
              rates(f"mix-70.paper{MIXED}", 102.5, 102.6),
              rates(f"mix-70.none{MIXED}", 100, 100),
              rates(f"mix-70.mq-deadline{MIXED}", 103, 103)]
    for count, mine in ((5000, 110), (20000, 90)):
        found += [cell(f"postmark-{count}.{label}{MIXED}", transactions_per_s=rate)
                  for label, rate in (("paper", mine), ("none", 100))]
    return found


def verdicts(rows):
    """{claim: verdict}."""
    return {row["id"]: row["holds"] for row in rows}


def changed(cells, name, **figures):
    """The cells, one of them with other figures."""
    assert any(one["cell"] == name for one in cells)
    return [rates(name, **figures) if one["cell"] == name else one
            for one in cells]


def test_all_of_the_paper_holds():
    found = claims.evaluate("layer_read-paper", paper_cells())
    assert set(verdicts(found).values()) == {True}
    assert all(row["judged"] == row["wanted"] for row in found)
    assert set(verdicts(claims.evaluate("layer_read-paper", [])).values()) \
        == {None}


@pytest.mark.parametrize("name, figures, fails", [
    (f"seq-read.none{THERE}", {"read": 445}, {"Fig 7, reads in order"}),
    # More than the paper's gain is not the paper's gain, either.
    (f"seq-read.none{THERE}", {"read": 400}, {"Fig 7, reads in order"}),
    # Nor is none at all, however small the paper's is.
    (f"rand-read.none{THERE}", {"read": 500}, {"Fig 7, random reads"}),
    (f"seq-write.none{THERE}", {"write": 480}, {"Fig 7, writes"}),
    ("seq-write.none.b", {"write": 520}, {"No harm"}),
    (f"mix-50.none{MIXED}", {"read": 104, "write": 100}, {"Fig 8, 50/50"}),
    (f"mix-50.mq-deadline{MIXED}", {"read": 109, "write": 104},
     {"Fig 8, 50/50, Deadline"}),
    (f"mix-70.none{MIXED}", {"read": 95, "write": 100}, {"Fig 8, 70/30"}),
    (f"mix-70.mq-deadline{MIXED}", {"read": 100, "write": 103},
     {"Fig 8, 70/30, Deadline"}),
    (f"rand-write.bfq{THERE}", {"write": 600}, {"Fig 1, CFQ"}),
    (f"seq-write.deadline-no-fm{THERE}", {"write": 470}, {"Fig 1, front merges"}),
    (f"sizes-seq-read.deadline-fifo{THERE}", {"read": 501},
     {"Fig 2, reads in order"}),
    (f"sizes-rand-write.deadline-big{THERE}", {"write": 400}, {"Fig 2, the rest"}),
    (f"depth-16.fifo-16{MIXED}", {"read": 90, "write": 90}, {"Fig 3"}),
    (f"depth-32.fifo-64{MIXED}", {"read": 140, "write": 140}, {"Fig 3, limit"}),
    ("rand-read.auto.b", {"read": 470}, {"No harm"}),
])
def test_what_does_not_hold(name, figures, fails):
    found = verdicts(claims.evaluate(
        "layer_read-paper", changed(paper_cells(), name, **figures)))
    assert {key for key, holds in found.items() if not holds} == fails


def test_what_chose_the_drive_says_so():
    where = {row["id"]: row["where"] for row in claims.evaluate(
        "layer_read-paper", paper_cells())}
    chosen = [name for name, text in where.items() if "chosen by this figure" in text]
    assert chosen == ["Fig 8, 50/50", "Fig 8, 70/30"] and all(where.values())
    rows = claims.under([{"where": ""}, {"where": "here"}], "else")
    assert [row["where"] for row in rows] == ["else", "here"]


@pytest.mark.parametrize("count", [5000, 20000])
def test_postmark_the_other_way(count):
    cells = [cell(one["cell"], transactions_per_s=100)
             if one["cell"] == f"postmark-{count}.paper{MIXED}" else one
             for one in paper_cells()]
    assert verdicts(claims.evaluate("layer_read-paper", cells))["Fig 9"] \
        is False


def default_cells(p99=0.4, rate=1.0, first=1.0, pure=0.98):
    """Cells of the default mode."""
    found = []
    for variant in ("d", "f", "d-half"):
        for mix in ("mix-50", "mix-70"):
            found += [
                rates(f"{mix}.mq-deadline.{variant}", 100, 100,
                      read_latency_p99_s=1e-2),
                rates(f"{mix}.layer_read.{variant}", 100 * rate, 100 * rate,
                      read_latency_p99_s=p99 * 1e-2),
                rates(f"{mix}.mq-deadline.{variant}-read-first", 100, 100,
                      read_latency_p99_s=1e-2),
                rates(f"{mix}.layer_read.{variant}-read-first", 100, 100,
                      read_latency_p99_s=first * 1e-2)]
        found += [rates(f"read-4k.none.{variant}", 100),
                  rates(f"read-4k.layer_read.{variant}", 100 * pure)]
    return found


@pytest.mark.parametrize("change, fails", [
    ({}, set()), ({"p99": 0.51}, {"Tails"}), ({"rate": 0.99}, {"Tails"}),
    ({"first": 1.01}, {"Read first"}), ({"pure": 0.96}, {"No harm"})])
def test_the_default_mode(change, fails):
    found = verdicts(claims.evaluate("layer_read", default_cells(**change)))
    assert {key for key, holds in found.items() if holds is False} == fails
    assert None not in found.values()


def cost_summary(one=0.4, many=0.9):
    """A summary of bench-cost."""
    return {"kernel": "6.1", "commit": "c",
            "command": "scripts/bench-cost --out /x/y",
            "cells": [
                {"disk": "null", "depth": depth, "label": label,
                 "over_none_ns": ns} for depth, label, ns in (
                    (1, "mq-deadline", 5000), (1, "layer_read", 5000 * one),
                    (32, "mq-deadline", 7000),
                    (32, "layer_read", 7000 * many),
                    (32, "layer_read layout set", 99999))]}


@pytest.mark.parametrize("one, many, holds", [
    (0.4, 0.9, True), (0.46, 0.9, False), (0.4, 1.01, False)])
def test_cost(one, many, holds):
    assert verdicts(layerclaims.cost(cost_summary(one, many))) == \
        {"Cost": holds}
    assert verdicts(layerclaims.cost(None)) == {"Cost": None}
    row, = layerclaims.cost({**cost_summary(one, many), "kernel": "6.12.117+deb12-amd64"})
    assert row["text"].endswith(", Linux 6.12")


def grid_cells():
    """The cost of a turn and what the drive holds; a curve over readahead."""
    found = []
    for variant, none in (("b", 100), ("b-turn200", 95), ("b-turn500", 50)):
        for end in ("", "-qd1"):
            found += [rates(f"mix-50.none{end}.{variant}", none, none),
                      rates(f"mix-50.paper{end}.{variant}", 100, 100)]
    for one in found:
        if "-qd1" in one["label"]:
            one["tunables"] = {"queue_depth": "1", **(
                {"mode": "paper", "nr_requests": "128"}
                if "paper" in one["label"] else {})}
    for label, kb in (("none", 0), ("none-ra128", 128)):
        one = rates(f"seq-read.{label}.b", 100 + kb)
        one["tunables"] = {"read_ahead_kb": str(kb)} if kb else {}
        one["scheduler"] = "none"
        found.append(one)
    # An ablation is no point of any.
    found.append({**rates("mix-50.paper-chips0.b", 1, 1),
                  "tunables": {"mode": "paper", "chips": "0"}})
    return found


def test_curves():
    assert layerclaims.curve(grid_cells(), "queue_depth") == {
        1: {"none": 100e6, "paper": 100e6}, 32: {"none": 100e6, "paper": 100e6}}
    assert layerclaims.curve(grid_cells(), "read_ahead_kb") == {
        128: {"none": 228e6}, 512: {"none": 100e6}}


def test_the_grid():
    found = layerclaims.grid(grid_cells(), "mix-50", "turn", "none", "write")
    assert {at: round(gain, 3) for at, gain in found.items()} == {
        (1, 0): 0, (1, 200): 0.053, (1, 500): 1,
        (32, 0): 0, (32, 200): 0.053, (32, 500): 1}
    assert not layerclaims.grid(grid_cells(), "mix-50", "turn", "mq-deadline", "read")
    assert set(layerclaims.grid(grid_cells(), "mix-50", "jump", "none", "read")) == \
        {(1, 0), (32, 0)}


# --- the page ----------------------------------------------------------------

def test_the_page_without_measurements(tmp_path, monkeypatch):
    monkeypatch.setattr(resultspage, "RESULTS", tmp_path / "nothing")
    monkeypatch.setattr(layerlimits, "printed", limits)
    out = tmp_path / "page.md"
    assert layerresults.main(["--out", str(out)]) == 0
    text = out.read_text()
    assert text.count("**Not measured yet.**") == 3
    assert "eproduced" not in text and "MB/s |" not in text
    rows = [line for line in text.splitlines() if line.startswith("| **")]
    assert len(rows) == sum(map(len, (
        layerclaims.paper([]), layerclaims.default([]), layerclaims.cost(None))))
    assert all(line.endswith("| Not measured |") for line in rows)
    assert not (tmp_path / "page").exists()
    # The page has the limits, whatever was measured.
    assert "takes 20.1 ms in the mean; 18.0 of these are 4.6\n" in text
    assert f"| D | {layerlimits.AT_14} | 0.92 | 0.53 | 0.95 | 0.49 |" in text
    assert "| F | a write each 2.2 ms | 0.84 | 0.35 | – | – |" in text
    assert "half of the p99 costs 8 % of the" in text


def test_what_is_out_of_reach_on_d():
    """The README links to it; a program that prints nothing is no table."""
    readme = (REPO / "layer_read" / "README.md").read_text()
    anchor = re.sub("[^a-z -]", "", layerlimits.TITLE.lower())
    assert f"layer_read-results.md#{anchor.replace(' ', '-')}" in readme
    with pytest.raises(layerlimits.Failed, match="printed no figures"):
        layerlimits.parsed("ok 1 - something\n")


def limits():
    """Output of the program of limits, from an earlier run."""
    rows = "".join(
        f"# row | {drive} | {order} | {pct} | {kept} | {tail}\n"
        for drive, order, pct, kept, tail in (
            ("D", layerlimits.AT_14, 50, 0.92, 0.53),
            ("D", layerlimits.AT_14, 70, 0.95, 0.49),
            ("D, pages by address", layerlimits.AT_14, 50, 0.97, 0.48),
            ("F", "a write each 2.2 ms", 50, 0.84, 0.35)))
    return layerlimits.parsed(rows + "ok 1 - x\n"
                              "# ahead | 20.1 | 4.6 | 18.0 | 13.3\n")


def summary(name, cells):
    """A summary.json of some cells."""
    return {"suite": name, "form": "short", "runs_done": len(cells),
            "runs_planned": len(cells), "seed_uses": {"report": [101]},
            "kernel": "6.1", "commit": "abc", "clock": "virtual",
            "bench_command": f"scripts/bench {name}", "cells": cells}


def test_the_page_with_measurements(tmp_path, monkeypatch):
    monkeypatch.setattr(resultspage, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(layerlimits, "printed", limits)
    cells = {"layer_read-paper": paper_cells() + [
        one for one in grid_cells() if one["cell"] not in {
            other["cell"] for other in paper_cells()}],
             "layer_read": default_cells()}
    cells["layer_read-paper"][0]["metrics"].update(
        turns_per_1000=spread(123), read_request_bytes=spread(262144))
    for name, data in (*((name, summary(name, found))
                         for name, found in cells.items()),
                       ("cost", cost_summary())):
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True)
        (folder / "summary.json").write_text(json.dumps(data))
    out = tmp_path / "page.md"
    assert layerresults.main(["--out", str(out)]) == 0
    text = out.read_text()
    assert "Not measured yet" not in text
    assert "reads over none: paper +15.7 %, here +16.0 % (one seed)" in text
    assert "| reads over none | 1 | +0.0 % | +5.3 % | +100.0 % |" in text
    assert "| reads over none | 32 | +0.0 % | +5.3 % | +100.0 % |" in text
    assert "| layer_read | 2000 | 6300 |" in text
    assert "`scripts/bench-cost`" in text and "/x/y" not in text
    assert "| **Fig 8, 50/50**: half reads gain over NOOP | reads +9.6 %, " in text
    assert "[tables](page/figures.md)" in text
    tables = (tmp_path / "page/figures.md").read_text()
    assert "| seq-read | b-turn500 | paper-qd2 | 256 | – |" in tables and " 123 |" in tables
    assert "### Figure 8: 512 KiB, depth 16, b-turn200" in tables
    pictures = re.findall(r"!\[.*\]\((page/[\w-]+\.svg)\)", text)
    assert len(pictures) >= 7
    for name in pictures:
        drawn = (tmp_path / name).read_text()
        assert "SPDX-License-Identifier: GPL-2.0" in drawn.splitlines()[1]
    # The same figures make the same files.
    assert layerresults.main(["--out", str(out)]) == 0
    assert (tmp_path / pictures[-1]).read_text() == drawn
    assert layerresults.main([str(tmp_path), "--out", str(out)]) == 2


def test_the_estimate(capsys):
    assert layerresults.main(["--estimate", "short"]) == 0
    said = capsys.readouterr().out
    assert "form short: about" in said and "layer_read-paper" in said
    assert layerresults.main(["--estimate", "postmark"]) == 2


def test_each_curve_and_grid_has_points():
    """Form full measures each point of them under all that are compared."""
    runs = suiteplan.runs(suiteplan.load("layer_read-paper"), "full")
    for name, one in layerclaims.CURVES.items():
        found = {}
        for run in runs:
            at = layerclaims.place(run, one)
            if run["workload"] == one.workload and at is not None and \
                    layerclaims.base_of(run):
                found.setdefault(at, set()).add(layerclaims.base_of(run))
        assert len(found) >= 5, name
        assert all(labels == set(layerclaims.CURVED)
                   for labels in found.values()), name
    names = {(run["workload"], run["label"], run["variant"]) for run in runs}
    for workload, ends, variants in (
            ("mix-50", ("", "-qd1", "-qd2"), ("-turn100", "-turn200", "-turn500")),
            ("seq-read", ("", "-qd2"), ("-jump100", "-jump200", "-jump500"))):
        for label in layerclaims.CURVED:
            assert {(workload, label + end, layerclaims.DRIVE + variant)
                    for end in ends for variant in ("", *variants)} <= names


def test_the_forms_have_what_the_claims_judge():
    """Form full has each cell; form seeds those of the gains."""
    for form, claim_ids in (("full", None), ("short", ("Fig 3", "Fig 8, 50/50")),
                            ("seeds", ("Fig 3", "Fig 8, 70/30", "Fig 7, writes"))):
        runs = suiteplan.runs(suiteplan.load("layer_read-paper"), form)
        cells = [cell(run["cell"], run["scheduler"], **{
            key: 1.0 for key in (claims.BANDWIDTH, *layerclaims.METRIC.values(),
                                 "transactions_per_s")}) for run in runs]
        for row in claims.evaluate("layer_read-paper", cells):
            if claim_ids is None or row["id"] in claim_ids:
                assert row["judged"] == row["wanted"], (form, row["id"])


def test_the_make_target():
    """It prints the estimate first, and runs what the page says it does."""
    text = (REPO / "Makefile").read_text()
    rule = re.search(r"^bench-layer_read: deps\n((?:\t.*\n)+)", text, re.M)[1]
    lines = " ".join(rule.replace("\\\n", " ").split())
    assert lines.index("--estimate") < lines.index("scripts/bench ")
    for name in layerresults.SUITES:
        assert f"scripts/bench {name} --form" in lines
    assert layerresults.COST_COMMAND in lines
