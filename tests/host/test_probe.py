# SPDX-License-Identifier: GPL-2.0
"""scripts/probe-layout on modelled devices, and what surrounds it."""

import errno
import importlib
import os
import pathlib
import re
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.path.insert(0, str(REPO / "tests" / "host"))
sys.dont_write_bytecode = True

layoutprobe = importlib.import_module("layoutprobe")
probe = importlib.import_module("probe")
probetest = importlib.import_module("probetest")
flashmodel = importlib.import_module("flashmodel")
Device, Log = flashmodel.Device, flashmodel.Log
Static = flashmodel.Static


def look(device, seed=1, seconds=60):
    """The probe's result."""
    return layoutprobe.Probe(device, seconds, seed).run()


def right(device, found):
    """Does what is printed say of all pairs what is so?"""
    return probetest.same(
        probetest.Layout.parse(found.layout, found.offset), device.place,
        device.sectors, pairs=6000)


# --- the two figures that count -----------------------------------------------

def test_maps_are_found():
    good, others = 0, []
    for seed in range(20):
        device = flashmodel.random_static(seed)
        try:
            found = look(device, seed)
        except layoutprobe.NoMap as why:
            others.append((seed, str(why)))
            continue
        if right(device, found):
            good += 1
        else:
            others.append((seed, found))
    assert good >= 19, others


def test_where_there_is_none_none_is_found():
    false = []
    for seed in range(20):
        try:
            false.append((seed, look(flashmodel.random_other(seed), seed)))
        except layoutprobe.NoMap:
            pass
    assert len(false) <= 1, false


# --- maps -------------------------------------------------------------------

@pytest.mark.parametrize("place, layout, offset", [
    (Static(8, [(1, 16, 1)]), "page=4096 chips=16", 0),
    (Static(8, [(1, 15, 1)], 3), "page=4096 chips=15", 3),
    (Static(4, [(1, 2, 1)], 5), "page=2048 chips=2", 1),
    (Static(32, [(1, 256, 1)], 7), "page=16384 chips=256", 7),
    # Equivalent layouts with other names: a larger page, the order of ways.
    (Static(8, [(4, 6, 1)], 40), "page=16384 chips=6", 8),
    (Static(8, [(4, 2, 1), (1, 4, 2)]), "page=4096 chips=8", 0),
    (Static(8, [(3, 5, 1)], 25), "page=4096 terms=3:5:1", 1),
    (Static(8, [(1, 4, 1), (32, 4, 4)], 100),
     "page=4096 terms=1:4:1,32:4:4", 100),
    (Static(16, [(1, 3, 1), (6, 2, 3), (48, 2, 6)], 70),
     "page=8192 terms=1:3:1,6:2:3,48:2:6", 70),
    # 32 is no whole number of rounds of three.
    (Static(8, [(1, 3, 1), (32, 5, 3)]), "page=4096 terms=1:3:1,32:5:3", 0),
])
def test_descriptor(place, layout, offset):
    device = Device(place, 1)
    found = look(device)
    assert right(device, found)
    assert (found.layout, found.offset) == (layout, offset)
    assert found.confidence > 0.9 and found.chips == place.dies


@pytest.mark.parametrize("manners", [
    {"vary": 0.1, "jitter": 8000, "spikes": 0.02},
    {"hits": 0.05}, {"spikes": 0.1}, {"jitter": 20000},
    # A bus that takes nearly as long as the array.
    {"sense": 20000, "sector_ns": 12000},
    # Neighbours say nothing: blocks as large as pages; a page register.
    {"block": 8}, {"register": True},
], ids=["noise", "hits", "spikes", "jitter", "bus", "4Kn", "register"])
@pytest.mark.parametrize("seed", [1, 2])
def test_manners(manners, seed):
    device = Device(Static(8, [(1, 12, 1)]), seed, **manners)
    found = look(device, seed)
    assert found.layout == "page=4096 chips=12" and found.offset == 0


@pytest.mark.parametrize("device, reason", [
    (Device(Static(8, [(1, 16, 1)]), 1, alike=True), "no two reads wait"),
    (Device(Static(8, [(1, 1, 1)]), 1), "any two reads wait"),
    (Device(Static(8, [(1, 300, 1)]), 1), "no chip comes again within 256"),
    (Device(Static(8, [(1, 16, 1)], 0, (12,)), 1), "looked like"),
    # A Gray code: like 256 chips, and very few pairs speak against that.
    (Device(Static(8, [(1, 128, 1)], 0, (1,)), 1), "looked like"),
    (Device(Static(8, [(1, 16, 1)]), 1, exponential=True), ""),
    (Device(Log(8, 16, 1, 0.2), 1), ""),
    (Device(Log(8, 64, 1, 0.2), 1), ""),
    (Device(Static(8, [(1, 16, 1)]), 1, sectors=2048), "too small"),
])
def test_refused(device, reason):
    with pytest.raises(layoutprobe.NoMap, match=reason):
        look(device)


def test_time_is_bounded():
    device = Device(Static(8, [(1, 16, 1)]), 1, sense=10**7)
    with pytest.raises(layoutprobe.OutOfTime):
        look(device, seconds=5)
    assert device.now < 5.1 * 10**9


def test_same_seed_same_reads():
    def run():
        device = Device(Static(8, [(1, 16, 1)]), 1, jitter=3000)
        return look(device, 5), device.now
    assert run() == run()


# --- the proof ----------------------------------------------------------------

def prove(device, levels, phase=0):
    """The last step alone, with a map from elsewhere."""
    search = layoutprobe.Probe(device)
    search.calibrate()
    return search.prove(layoutprobe.Map(
        phase, [layoutprobe.Level(*level) for level in levels]))


def test_proof_takes_the_map_and_none_that_is_near():
    device = Device(Static(8, [(1, 16, 1)]), 1)
    assert prove(device, [(8, 16)]).layout == "page=4096 chips=16"
    for levels, phase in ([(8, 15)], 0), ([(8, 8)], 0), ([(8, 16)], 1), \
            ([(16, 16)], 0), ([(8, 16), (4096, 2)], 0):
        with pytest.raises(layoutprobe.NoMap, match="looked like"):
            prove(device, levels, phase)
    # Twice as many chips: all that should wait do, and a few others.
    with pytest.raises(layoutprobe.NoMap, match="100.0 % do"):
        prove(device, [(8, 32)])


def test_proof_wants_an_effect():
    # 20 us of a read that takes a millisecond are no useful gain.
    device = Device(Static(8, [(1, 16, 1)]), 1, sense=20000, delay=1000000)
    search = layoutprobe.Probe(device)
    search.limit = 1030000
    with pytest.raises(layoutprobe.NoMap, match="2 % of the time"):
        search.prove(layoutprobe.Map(0, [layoutprobe.Level(8, 16)]))


# --- the command --------------------------------------------------------------

def refused(capsys, *argv, status):
    """The one line of a refusal."""
    try:
        got = probe.main(list(argv))
    except SystemExit as stop:
        got = stop.code
    out, err = capsys.readouterr()
    assert got == status and not out, (out, err)
    assert err.startswith("probe-layout: ") and err.count("\n") == 1, err
    return err


def test_bad_options(capsys):
    for argv in ([], ["--seconds", "0", "x"], ["--seconds", "1h", "x"],
                 ["--seed", "-1", "x"], ["a", "b"], ["--app", "x"]):
        refused(capsys, *argv, status=2)


def test_no_block_device(capsys, tmp_path):
    for path in tmp_path / "none", tmp_path, "/dev/null":
        err = refused(capsys, "--quiet", str(path), status=1)
        assert "none" not in str(path) or "No such file" in err


@pytest.fixture(name="queue")
def _queue(tmp_path):
    folder = tmp_path / "queue"
    (folder / "iosched").mkdir(parents=True)
    return folder


FOUND = layoutprobe.Found("page=4096 chips=15", 3, 15, 0.98, 50.0, 0.7, 1.0,
                          0.0, 4000)


def test_apply(queue):
    iosched = queue / "iosched"
    with pytest.raises(probe.Trouble, match="takes no layout"):
        probe.apply(queue, FOUND)
    (iosched / "layout").write_text("none\n")
    (iosched / "lba_offset_sectors").write_text("7\n")
    probe.apply(queue, FOUND)
    assert (iosched / "layout").read_text() == "page=4096 chips=15\n"
    assert (iosched / "lba_offset_sectors").read_text() == "3\n"


def test_apply_all_or_nothing(queue, monkeypatch):
    iosched = queue / "iosched"
    (iosched / "layout").write_text("none\n")
    (iosched / "lba_offset_sectors").write_text("7\n")
    write = pathlib.Path.write_text

    def broken(path, text, *args, **kwargs):
        if path.name == "layout":
            raise OSError(errno.EINVAL, "Invalid argument")
        return write(path, text, *args, **kwargs)
    monkeypatch.setattr(pathlib.Path, "write_text", broken)
    with pytest.raises(probe.Trouble, match="refuses"):
        probe.apply(queue, FOUND)
    assert (iosched / "layout").read_text() == "none\n"
    assert (iosched / "lba_offset_sectors").read_text() == "7\n"


def direct(path):
    """A file without the page cache, or a skip."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECT)
    except OSError:
        pytest.skip("no O_DIRECT there")


def test_reads_are_what_is_asked_for(tmp_path):
    path = tmp_path / "disk"
    path.write_bytes(b"".join(i.to_bytes(512, "little") for i in range(256)))
    fd = direct(path)
    try:
        reads = probe.AioReads(fd, 256 * 512, 512)
    except OSError as error:
        pytest.skip(f"no asynchronous I/O: {error}")
    assert reads.sectors == 256 and reads.time((7, 200, 31)) > 0
    for i, sector in enumerate((7, 200, 31)):
        at = i * os.sysconf("SC_PAGESIZE")
        assert int.from_bytes(reads.buffer[at:at + 512], "little") == sector
    with pytest.raises(OSError, match="a read failed"):
        reads.time((1 << 30,))
    reads.close()
    os.close(fd)


@pytest.mark.parametrize("apply", [False, True])
def test_found_is_printed_and_nothing_else_opened(
        tmp_path, queue, monkeypatch, capsys, apply):
    device = Device(Static(8, [(1, 15, 1)], 3), 1)
    opened, watching = [], [False]
    path = tmp_path / "disk"
    path.write_bytes(bytes(4096))

    def open_device(name):
        assert name == str(path)
        watching[0] = True
        return os.open(path, os.O_RDONLY), 0, 0
    monkeypatch.setattr(probe, "open_device", open_device)
    monkeypatch.setattr(probe, "queue_of", lambda name: queue)
    device.close = lambda: None
    monkeypatch.setattr(probe, "AioReads", lambda *args: device)
    for name in "layout", "lba_offset_sectors":
        (queue / "iosched" / name).write_text("0\n")

    def hook(event, args):
        if watching[0] and event == "open":
            opened.append(args[0])
    sys.addaudithook(hook)
    status = probe.main([str(path), "--quiet"] + ["--apply"] * apply)
    watching[0] = False
    out = capsys.readouterr().out
    assert status == 0
    said = dict(line.split(" ", 1) for line in out.splitlines())
    assert said["layout"] == "page=4096 chips=15"
    assert said["lba_offset_sectors"] == "3"
    assert 90 < float(said["confidence"]) <= 100
    assert {str(o) for o in opened} == {str(path)} | ({
        str(queue / "iosched" / name)
        for name in ("layout", "lba_offset_sectors")} if apply else set())


def test_none_is_said(monkeypatch, capsys):
    def nothing(*_):
        raise layoutprobe.NoMap("why ever")
    monkeypatch.setattr(probe, "search", nothing)
    assert probe.main(["x", "--quiet"]) == 3
    assert capsys.readouterr().out == "layout none\nreason why ever\n"


def test_partition(tmp_path, monkeypatch):
    device = os.stat("/dev/null").st_rdev
    folder = tmp_path / "dev" / "block" / \
        f"{os.major(device)}:{os.minor(device)}"
    folder.mkdir(parents=True)
    assert probe.queue_of("/dev/null", tmp_path) == folder / "queue"
    (folder / "partition").write_text("1\n")
    with pytest.raises(probe.Trouble, match="is a partition"):
        probe.queue_of("/dev/null", tmp_path)


def test_the_probe_knows_of_no_simulation():
    for name in "layoutprobe", "probe":
        text = (REPO / "scripts" / "lib" / f"{name}.py").read_text()
        assert not re.search("flashsim|debugfs|/sys/kernel|/sys/module", text)


# --- scripts/probe-test -------------------------------------------------------

def test_guest_gets_a_python_that_runs(tmp_path):
    probetest.python_for_guest(tmp_path / "python")
    env = {"PYTHONHOME": str(tmp_path / "python"), "LC_ALL": "C",
           "LD_LIBRARY_PATH": str(tmp_path / "python" / "lib")}
    done = subprocess.run(
        [tmp_path / "python/bin/python3", "-B", "-S",
         tmp_path / "python/lib/probe.pyc", "--quiet", "/dev/null"],
        env=env, text=True, capture_output=True, check=False, timeout=60)
    assert done.returncode == 1, done
    # It stands alone there, as if it were installed.
    assert done.stderr == "flash-probe-layout: '/dev/null' is no block device\n"


def test_devices_of_the_guest():
    chosen = probetest.devices(1, 20)
    assert {k: v[0] for k, v in chosen.items()} == \
        {k: v[0] for k, v in probetest.devices(1, 20).items()}
    assert len(chosen) == 40
    odd = offsets = 0
    for name, (params, layout, _) in chosen.items():
        assert "|" not in params and name not in params
        assert (layout is not None) == name.startswith("static")
        if layout:
            odd += layout.dies % 2
            offsets += layout.offset > 0
            shape = re.search(r"channels=(\d+) ways=(\d+)", params)
            assert int(shape[1]) * int(shape[2]) == layout.dies
            assert 1 <= int(shape[1]) <= 64
    assert odd >= 3 and offsets >= 8


def test_judge():
    layout = Static(8, [(1, 15, 1)], 18)
    text = "layout page=4096 chips={}\nlba_offset_sectors {}\nstatus {}\n"
    for chips, offset, status, want in (
            (15, 2, 0, "found"), (15, 3, 0, "wrong"), (16, 2, 0, "wrong"),
            (15, 2, 1, "failed"), ("x", 2, 0, "failed")):
        assert probetest.judge(text.format(chips, offset, status), layout,
                               1 << 19)[1] == want
    assert probetest.judge(text.format(15, 2, 0), None, 1 << 19)[1] == "false"
    none = "layout none\nreason why\nstatus 3\n"
    for what in layout, None:
        assert probetest.judge(none, what, 1 << 19)[1] == "refused"
    assert probetest.judge("", layout, 1 << 19)[1] == "failed"


def test_passes():
    def counts(found, wrong, false, failed):
        return {"found": found, "wrong": wrong, "false": false,
                "failed": failed}
    assert probetest.passes(counts(19, 0, 1, 0), 20)
    assert not probetest.passes(counts(18, 0, 0, 0), 20)
    assert not probetest.passes(counts(20, 0, 2, 0), 20)
    assert not probetest.passes(counts(19, 1, 1, 0), 20)
    assert not probetest.passes(counts(20, 0, 0, 1), 20)
