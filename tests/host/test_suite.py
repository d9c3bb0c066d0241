# SPDX-License-Identifier: GPL-2.0
"""scripts/bench SUITE: sessions, options, a real device; nothing is booted."""

import base64
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
import rich.console

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

options = importlib.import_module("options")
suite = importlib.import_module("suite")
suitecase = importlib.import_module("suitecase")
suitedata = importlib.import_module("suitedata")
suitehost = importlib.import_module("suitehost")
suitemachine = importlib.import_module("suitemachine")
suiteplan = importlib.import_module("suiteplan")
suitereport = importlib.import_module("suitereport")

parsed = suitecase.parsed
plan = suitecase.plan
raw_files = suitecase.raw_files
record = suitecase.record


# --- running -----------------------------------------------------------------

class Arguments:
    """Stands in for the parsed options of scripts/bench."""
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
    machine.names = suitemachine.slots(machine.runs)
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
    packed = suitemachine.pack(runs)
    assert suitemachine.pack(runs) == packed
    # An argument of a program has a limit of 128 KiB; runs of a boot fit.
    assert len(suitemachine.pack(
        list(plan().values())[:suiteplan.BATCH_RUNS])) \
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
    assert suitemachine.pack(first) == suitemachine.pack(again)
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
    # It dies again without any result: that is the end of that batch alone.
    found.batches = [found.todo[5:6]]
    assert found.ended(machine)
    assert started[1:] == [[found.todo[5]["id"]]]
    assert not found.ended(machine)
    assert found.statuses == [125] * 3
    assert found.conclude(0) == 1


def test_no_more_boots_where_the_first_makes_nothing(tmp_path):
    found = session(tmp_path)
    machine = machine_for(found, 3)
    found.batches = [found.todo[5:6]]
    machine.process = Ended(125)
    assert not found.ended(machine)
    assert not found.batches


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
    records = [record(commit="b"),
               record("rand-read.k2-2.half.s102", 2.0, commit="a")]
    records += [record("rand-read.none.half.s101", commit="b", cpu={
        "busy_share": 0.4, "busy_ns_per_io": 1})]
    summary = suite.summarize("x", "t", "full", "k2", records,
                              {"trouble": [], "left_out": ["y"]})
    assert summary["cpu_too_busy"] == ["rand-read.none.half"]
    assert summary["seed_uses"] == {"report": [101, 102]}
    assert summary["commits"] == ["a", "b"]
    out = io.StringIO()
    console = rich.console.Console(file=out, width=140, color_system=None)
    suitereport.results(console, summary)
    text = out.getvalue()
    assert "CPU!" in text and "p90" in text and "time scale 8" in text
    assert "report (101, 102)" in text and "not measured" in text
    assert "left out: y" in text and "not scaled: " in text
    lines = text.splitlines()
    row = next(n for n, line in enumerate(lines) if line.startswith("k2-2"))
    assert lines[row].split()[1] == "169"
    assert lines[row + 1].split()[0] == "113-225"
    narrow = rich.console.Console(file=io.StringIO(), width=80)
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
    (["--list", "--form", "full"], "only with a suite"),
    (["k2", "--list", "--kernel", "6.12"], "does nothing with a suite's --list"),
    (["--smoke", "--list"], "do not go together"),
    (["--smoke", "--seeds", "1"], "does nothing with --smoke"),
    (["--find-scale", "E", "--vms", "1"], "does nothing with --find-scale"),
    (["--compare", ".", ".", "--only", "x"], "does nothing with --compare"),
    (["--resume", ".", "--kernel", "6.12"], "takes that from the directory"),
    (["--device", "/dev/x", "--read-only", "k2", "--keep"],
     "does nothing with --device"),
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
    assert calls[0] == [*nvme, "--kernel", "6.12"] and len(calls) == made
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
    """A Device with a directory as its sysfs."""
    disk = tmp_path / "sys/block/sdx"
    for name, text in {
            "dev": "8:0", "sdx1/partition": "1", "sdx1/dev": "8:1",
            "queue/scheduler": "none [mq-deadline] k2",
            "queue/nr_requests": "256", "queue/wbt_lat_usec": "2000",
            "queue/read_ahead_kb": "128",
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
    monkeypatch.setattr(options, "ignore_signals", lambda: None)
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
            device.write("read_ahead_kb", 4)
            raise suite.options.Interrupted(2)
    assert device.scheduler() == "mq-deadline"
    assert device.read("nr_requests") == "256"
    assert device.read("wbt_lat_usec") == "2000"
    assert device.read("iosched/read_expire") == "500"
    assert device.read("read_ahead_kb") == "128"
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
    run = next(run for run in plan().values() if run["label"] == "k2-2"
               and run["workload"] == "rand-read")
    for layout, count in (("right", 0), ("wrong", 0), ("none", 1)):
        found, left = suitehost.convert([
            {**run, "tunables": {**run["tunables"], "layout": layout}}])
        assert len(found) == count
        assert left == ["rand-read.k2-2: its map of the chips is flashsim's"][
            count:]


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
