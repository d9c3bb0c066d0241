# SPDX-License-Identifier: GPL-2.0
"""scripts/weights-sync, on directories that look like control groups."""

import errno
import importlib
import pathlib
import random
import re
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

weights = importlib.import_module("weights")

NUMBER = "8:0"


def add(root, name, io=None, bfq=None, populated=True):
    """A control group with weight files; what is None is not there."""
    group = root / name
    group.mkdir(parents=True)
    for file, text in (("io.weight", io), ("io.bfq.weight", bfq)):
        if text is not None:
            text = f"default {text}\n" if isinstance(text, int) else text
            (group / file).write_text(text)
    (group / "cgroup.events").write_text(
        f"populated {int(populated)}\nfrozen 0\n")
    return group


def ino(path):
    """The number of a control group."""
    return path.stat().st_ino


def systemd(root, name, weight, bfq):
    """A service with IOWeight=, where the bfq module is loaded or not."""
    squeezed = weight if weight <= 100 else 100 + (weight - 100) * 900 // 9900
    return add(root, name, io=weight, bfq=squeezed if bfq else None)


class Fake(weights.Disk):
    """A disk with an attribute that behaves like the kernel's, some lines a page."""

    # Parameters: entries at first, entries that fit, {number: errno of a write}
    def __init__(self, have=(), room=1024, errors=None, page=2):
        # pylint: disable=super-init-not-called
        self.number, self.have, self.page = NUMBER, dict(have), page
        self.room, self.errors = room, errors or {}
        self.start, self.written, self.path = 0, [], self

    def write(self, entry):
        who, what = entry.split()
        if who == "more":
            self.start = int(what)
            return
        self.written.append(entry)
        if int(who) in self.errors:
            code = self.errors[int(who)]
            raise OSError(code, "an error of the test")
        if what == "default":
            self.have.pop(int(who), None)
            return
        assert 1 <= int(what) <= 1000
        if int(who) not in self.have and len(self.have) == self.room:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.have[int(who)] = int(what)

    def read_text(self, encoding):
        """The text that fairshare_weights_show() prints."""
        assert encoding
        end = self.start + self.page
        lines = [f"{n} {w}" for n, w in sorted(self.have.items())]
        rest = [f"more {end}"] if end < len(lines) else []
        return "".join(f"{line}\n" for line in lines[self.start:end] + rest)


@pytest.fixture(name="run")
def _run(monkeypatch, tmp_path, capsys):
    """run(disk, rounds) -> (status, lines on stderr) of weights-sync x"""
    def run(disk, rounds=1, before_round=lambda nth: None):
        count = []

        def slept(_):
            count.append(1)
            if len(count) == rounds:
                raise KeyboardInterrupt
            before_round(len(count))
        monkeypatch.setattr(weights, "Disk", lambda *_: disk)
        monkeypatch.setattr(weights.time, "sleep", slept)
        argv = ["x", "--cgroups", str(tmp_path)]
        status = weights.main(argv + ["--every", "1"] * (rounds > 1))
        return status, capsys.readouterr().err.splitlines()
    return run


# --- which weight counts ---------------------------------------------------

@pytest.mark.parametrize("bfq", [False, True])
def test_systemd_squeezes_for_bfq(tmp_path, bfq):
    """Shares are those of IOWeight=, whether or not bfq is loaded."""
    a = systemd(tmp_path, "a.service", 1000, bfq)
    b = systemd(tmp_path, "b.service", 100, bfq)
    flat = weights.flat(tmp_path, NUMBER)
    assert flat[ino(a)] == 10 * flat[ino(b)]


@pytest.mark.parametrize("io, bfq, weight", [
    (None, None, None), (250, None, 250), (None, 250, 250), ("75\n", None, 75),
    ("", "", 100),
    # systemd's values at both ends, and one that is not systemd's
    (10000, 1000, 10000), (1, 1, 1), (1000, 181, 1000), (1000, 182, 182),
    # written by a container manager to bfq's file only
    (100, 500, 500),
    # bfq was loaded after the weight was set: its file has the default
    (1000, 100, 1000),
    # lines of the disk win over defaults, those of other disks do not count
    ("default 1000\n8:0 30\n", 181, 30),
    ("default 1000\n8:1 30\n", 181, 1000),
    (1000, "default 181\n8:0 40\n", 40),
    ("default 50\n8:0 1000\n", "default 50\n8:0 181\n", 1000),
    ("default 50\n8:0 1000\n", "default 50\n8:0 100\n", 100),
    ("default 50\n8:0 1000\n", 300, 1000),
    ("default 100\n8:0 33\n8:16 44\n", None, 33),
    ("default x\n", None, 100)])
def test_weight_of_a_group(tmp_path, io, bfq, weight):
    """The rule of weights.py's head, line by line."""
    assert weights.own(add(tmp_path, "a", io, bfq), NUMBER) == weight


# --- from nested weights to flat ones --------------------------------------

def test_nested_weights_become_flat(tmp_path):
    a = add(tmp_path, "a", 300)
    b, c = add(a, "b", 100), add(a, "c", 100)
    d = add(tmp_path, "d", 100)
    add(tmp_path, "no-controller")
    # a has 3/4 of the disk, which b and c halve; d has 1/4; the mean is 100.
    # a itself has the mean of b and c.
    assert weights.flat(tmp_path, NUMBER) == {
        ino(a): 112, ino(b): 112, ino(c): 112, ino(d): 75}


def test_equal_groups_have_the_default(tmp_path):
    for name in "abc":
        add(tmp_path, name, 500)
    assert set(weights.flat(tmp_path, NUMBER).values()) == {100}
    assert not weights.flat(tmp_path / "a", NUMBER)


@pytest.mark.parametrize("populated", [False, True])
def test_subgroups_of_a_third_change_no_ratio(tmp_path, populated):
    """250 subgroups of one user leave 5 to 1 between two others."""
    a, b = add(tmp_path, "a", 500), add(tmp_path, "b", 100)
    user = add(tmp_path, "user", 100)
    for n in range(250):
        add(user, str(n), 100, populated=populated)
    flat = weights.flat(tmp_path, NUMBER)
    assert flat[ino(a)] == pytest.approx(5 * flat[ino(b)], rel=0.025)
    assert max(flat.values()) <= 1000


def test_empty_groups_have_no_share(tmp_path):
    a, b = add(tmp_path, "a", 100), add(tmp_path, "b", 100)
    add(tmp_path / "a", "empty", 900, populated=False)
    add(tmp_path, "empty", 10000, populated=False)
    add(tmp_path / "empty", "below", 10000, populated=False)
    assert weights.flat(tmp_path, NUMBER) == {ino(a): 100, ino(b): 100}


@pytest.mark.parametrize("big, small, count, want", [
    # One scale serves all ratios up to 1000 to 1.
    (10000, 10, 1, (1000, 1)), (10000, 1, 1, (1000, 1)),
    (10000, 100, 1, (1000, 10)), (5000, 100, 1, (1000, 20)),
    (300, 100, 1, (150, 50)), (10000, 1, 30, (1000, 1)),
    # Here the mean of 100 would take the largest one to 1200.
    (300, 2, 10, (1000, 7))])
def test_ratios_beyond_the_range(tmp_path, big, small, count, want):
    """Weights keep their ratio, as far as 1 to 1000 can say it."""
    group = add(tmp_path, "big", big)
    others = [add(tmp_path, f"s{n}", small) for n in range(count)]
    flat = weights.flat(tmp_path, NUMBER)
    assert flat[ino(group)] == want[0]
    assert {flat[ino(other)] for other in others} == {want[1]}


@pytest.mark.parametrize("seed", range(20))
def test_random_trees(tmp_path, seed):
    """Flat weights have the ratios of the shares, within the stated precision."""
    rng = random.Random(seed)
    shares = {}

    def grow(root, share, depth):
        names = [str(n) for n in range(rng.randint(1, 6))]
        given = {name: rng.choice((1, 10, 100, 100, 100, 250, 1000, 10000))
                 for name in names}
        empty = {name for name in names[1:] if rng.random() < 0.3}
        total = sum(w for name, w in given.items() if name not in empty)
        for name, weight in given.items():
            group = systemd(root, name, weight, seed % 2)
            if name in empty:
                (group / "cgroup.events").write_text("populated 0\n")
            elif depth and rng.random() < 0.4:
                grow(group, share * weight / total, depth - 1)
            else:
                shares[ino(group)] = share * weight / total
    grow(tmp_path, 1.0, 3)
    flat = weights.flat(tmp_path, NUMBER)
    assert shares.keys() <= flat.keys()
    assert all(1 <= weight <= 1000 for weight in flat.values())
    largest = max(shares, key=shares.get)
    for number, share in shares.items():
        ideal = max(share / shares[largest] * flat[largest], 1)
        # Both this weight and the largest one are rounded.
        assert flat[number] == pytest.approx(
            ideal, abs=0.51 + ideal * 0.51 / flat[largest])
    if max(shares.values()) < 50 * min(shares.values()):
        assert min(flat[number] for number in shares) >= 20


# --- what is written --------------------------------------------------------

def test_only_what_differs_is_written(tmp_path, run):
    a, b = add(tmp_path, "a", 300), add(tmp_path, "b", 100)
    disk = Fake({ino(b): 50, 1: 5, 2: 5, 3: 100})
    assert run(disk) == (0, [])
    assert disk.written == ["1 default", "2 default", "3 default",
                            f"{ino(a)} 150"]
    assert disk.have == {ino(a): 150, ino(b): 50}
    assert run(disk) == (0, []) and len(disk.written) == 4
    (b / "io.weight").write_text("default 300\n")
    assert run(disk) == (0, []) and disk.have == {}


def test_dry_run_writes_nothing(tmp_path, monkeypatch, capsys):
    add(tmp_path, "a", 100)
    disk = Fake({1: 5})
    monkeypatch.setattr(weights, "Disk", lambda *_: disk)
    assert weights.main(["x", "--cgroups", str(tmp_path), "--dry-run"]) == 0
    assert disk.have == {1: 5} and not disk.written
    assert capsys.readouterr().out == "1 default\n"


def test_all_pages_are_read():
    disk = Fake({n: n for n in range(1, 100)}, page=7)
    assert disk.read() == disk.have
    assert disk.start == 0


def test_more_groups_than_entries(tmp_path, run):
    """Each round sets the entries that fit; one line counts the others."""
    assert int(re.search(r"#define FLASH_WEIGHTS\s+(\d+)\n",
                         (REPO / "common/share/tenant.h").read_text())[1]) == 1024
    groups = [add(tmp_path, str(n), 1 + n) for n in range(1300)]
    disk = Fake(page=500)
    status, lines = run(disk)
    assert status == 1 and len(lines) == 1
    assert "x: " in lines[0] and "ENOSPC" in lines[0] and "1024" in lines[0]
    count = int(re.search(r"(\d+) weights not set", lines[0])[1])
    flat = weights.flat(tmp_path, NUMBER)
    wanted = [weight for weight in flat.values() if weight != 100]
    assert count == len(wanted) - 1024 and len(disk.have) == 1024
    # The group with the largest weight, which was the last one, has it.
    assert disk.have[ino(groups[-1])] == max(flat.values())
    # In a full table the entry farthest from 100 replaces another one.
    first = ino(groups[0])

    def change(_):
        (groups[0] / "io.weight").write_text("default 5000\n")
    status, lines = run(disk, rounds=3, before_round=change)
    assert status == 130 and len(lines) == 1
    assert disk.have[first] == max(disk.have.values())


def test_most_common_weight_needs_no_entry(tmp_path, run):
    """Groups of one weight do not fill a disk's table."""
    for n in range(1100):
        add(tmp_path, str(n), 100)
    others = [add(tmp_path, f"big{n}", 300) for n in range(200)]
    disk = Fake(page=500)
    assert run(disk) == (0, [])
    assert disk.have == {ino(other): 300 for other in others}


def test_less_room_than_expected(tmp_path, run):
    """The kernel says ENOSPC early: all that fits is set, the rest counted."""
    for n in range(9):
        add(tmp_path, str(n), 10 + 10 * n)
    disk = Fake(room=5)
    status, lines = run(disk)
    assert status == 1 and len(disk.have) == 5
    wanted = [w for w in weights.flat(tmp_path, NUMBER).values() if w != 100]
    assert lines[0].startswith(
        f"weights-sync: x: {len(wanted) - 5} weights not set (ENOSPC ")


@pytest.mark.parametrize("code", ["EIO", "EINVAL", "EBUSY"])
def test_an_error_in_the_middle(tmp_path, run, code):
    """One entry fails; the following ones are set, and the status is 1."""
    groups = sorted((add(tmp_path, str(n), w)
                     for n, w in enumerate((10, 40, 70, 300))), key=ino)
    flat = weights.flat(tmp_path, NUMBER)
    bad = ino(groups[1])
    disk = Fake(errors={bad: getattr(errno, code)})
    assert run(disk) == (1, [f"weights-sync: x: 1 weights not set ({code} 1)"])
    flat.pop(bad)
    assert disk.have == flat
    # Later rounds try again, and print nothing new.
    status, lines = run(disk, rounds=3)
    assert status == 130 and len(lines) == 1
    disk.errors.clear()
    assert run(disk) == (0, []) and bad in disk.have


# --- groups and disks that are removed ---------------------------------------

def test_a_group_removed_while_it_is_read(tmp_path, run, monkeypatch):
    """Its share is the others': it does not count as a group of weight 100."""
    a, b = add(tmp_path, "a", 300), add(tmp_path, "b", 100)
    gone = add(tmp_path, "gone", 100)
    usual = pathlib.Path.read_text

    def removed(path, *args, **kwargs):
        if path.parent == gone:
            raise OSError(errno.ENODEV, "No such device", str(path))
        return usual(path, *args, **kwargs)
    monkeypatch.setattr(pathlib.Path, "read_text", removed)
    disk = Fake()
    assert run(disk) == (0, [])
    assert disk.have == {ino(a): 150, ino(b): 50}


def test_a_group_removed_before_it_is_written(tmp_path, run):
    """A write for a removed group may fail: that is no error."""
    a, b = add(tmp_path, "a", 300), add(tmp_path, "b", 100)
    gone, kept = ino(a), ino(b)

    class Removed(Fake):
        """The first group is removed between reading and writing."""

        def write(self, entry):
            if entry.startswith(f"{gone} "):
                a.rename(tmp_path.parent / "removed")
            super().write(entry)
    disk = Removed(errors={gone: errno.ENOENT})
    assert run(disk) == (0, [])
    assert disk.have == {kept: 50}
    # The next round has its share for the others.
    assert run(disk) == (0, []) and disk.have == {}


def test_a_disk_that_loses_its_scheduler(tmp_path):
    """Its attribute is removed while entries are written: one line on stderr."""
    add(tmp_path, "cg/a", 300)
    add(tmp_path, "cg/b", 100)
    folder = tmp_path / "block/x/queue/iosched"
    folder.mkdir(parents=True)
    (tmp_path / "block/x/dev").write_text("8:0\n")
    disk = weights.Disk("x", tmp_path)
    disk.read = lambda: {}
    with pytest.raises(OSError, match="weights") as error:
        disk.path = folder / "none" / "weights"
        weights.sync(disk, tmp_path / "cg")
    assert "does x have acfq or hbfq?" in weights.trouble(error.value, "x")


def test_an_unreadable_group(tmp_path, run, monkeypatch):
    """No share is known without it: nothing is set, and its file is named."""
    add(tmp_path, "a", 300)
    bad = add(tmp_path, "bad", 100)
    usual = pathlib.Path.read_text

    def unreadable(path, *args, **kwargs):
        if path.parent == bad:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return usual(path, *args, **kwargs)
    monkeypatch.setattr(pathlib.Path, "read_text", unreadable)
    disk = Fake()
    status, lines = run(disk)
    assert status == 1 and disk.written == []
    assert len(lines) == 1 and lines[0].startswith("weights-sync: x: ")
    assert "bad/" in lines[0] and "acfq" not in lines[0]


def test_a_disk_without_weights(tmp_path):
    (tmp_path / "block" / "x").mkdir(parents=True)
    (tmp_path / "block" / "x" / "dev").write_text("8:0\n")
    done = subprocess.run(
        [REPO / "scripts/weights-sync", "x", "--sysfs", tmp_path,
         "--cgroups", tmp_path], text=True, capture_output=True, check=False)
    assert done.returncode == 1
    assert "does x have acfq or hbfq?" in done.stderr
    done = subprocess.run(
        [REPO / "scripts/weights-sync", "y", "--sysfs", tmp_path],
        text=True, capture_output=True, check=False)
    assert done.returncode == 1 and "no disk 'y'" in done.stderr
    for argv in (["--every", "0", "x"], []):
        with pytest.raises(SystemExit):
            weights.parse(argv)


def test_every_goes_on_after_trouble(tmp_path, monkeypatch, capsys):
    """An error is printed once, unless it is there from the beginning."""
    rounds = []

    def attempt(fails):
        def once(*_):
            rounds.append(1)
            if len(rounds) in fails:
                raise OSError(errno.ENOENT, "No such file", "/weights")
            return [], {}
        return once

    def slept(_):
        if len(rounds) == 5:
            raise KeyboardInterrupt
    monkeypatch.setattr(weights, "Disk", lambda *_: Fake())
    monkeypatch.setattr(weights.time, "sleep", slept)
    monkeypatch.setattr(weights, "sync", attempt((2, 3)))
    argv = ["x", "--cgroups", str(tmp_path), "--every", "1"]
    assert weights.main(argv) == 130 and len(rounds) == 5
    assert capsys.readouterr().err.count("\n") == 1
    rounds.clear()
    monkeypatch.setattr(weights, "sync", attempt((1,)))
    assert weights.main(argv) == 1 and len(rounds) == 1
    assert capsys.readouterr().err.count("\n") == 1
