# SPDX-License-Identifier: GPL-2.0
"""scripts/weights-sync, on directories that look like control groups."""

import errno
import importlib
import pathlib
import re
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

weights = importlib.import_module("weights")


@pytest.fixture(name="tree")
def _tree(tmp_path):
    """root: a (300) with b and c (100, 100), d (100) alone, e without files"""
    for path, bfq, io in (("a", 300, 100), ("a/b", 100, 100),
                          ("a/c", None, 100), ("d", 100, 100)):
        group = tmp_path / path
        group.mkdir()
        if bfq:
            (group / "io.bfq.weight").write_text(f"default {bfq}\n")
        (group / "io.weight").write_text(f"default {io}\n")
    (tmp_path / "e").mkdir()
    return tmp_path


class Fake(weights.Disk):
    """A disk whose attribute behaves like the kernel's, some lines a page."""

    def __init__(self, have=(), page=2):  # pylint: disable=super-init-not-called
        self.number, self.have, self.page = "8:0", dict(have), page
        self.start, self.written, self.path = 0, [], self

    def write(self, entry):
        self.written.append(entry)
        who, what = entry.split()
        if who == "more":
            self.start = int(what)
        elif what == "default":
            self.have.pop(int(who), None)
        else:
            assert 1 <= int(what) <= 1000
            if int(who) not in self.have and len(self.have) == weights.ENTRIES:
                raise OSError(errno.ENOSPC, "No space left on device")
            self.have[int(who)] = int(what)

    def read_text(self, encoding):
        """As tenancy_weights_show() prints it."""
        assert encoding
        end = self.start + self.page
        lines = [f"{n} {w}" for n, w in sorted(self.have.items())]
        rest = [f"more {end}"] if end < len(lines) else []
        return "".join(f"{line}\n" for line in lines[self.start:end] + rest)


def ino(path):
    """The number of a control group."""
    return path.stat().st_ino


def test_words_of_files():
    assert weights.of_file("default 250\n", "8:0") == 250
    assert weights.of_file("75\n", "8:0") == 75
    assert weights.of_file("default 100\n8:0 33\n8:16 44\n", "8:16") == 44
    assert weights.of_file("default 100\n8:0 33\n", "8:1") == 100
    assert weights.of_file("", "8:0") == 100


def test_bfq_goes_before_io_if_it_was_changed(tree):
    assert weights.own(tree / "a", "8:0") == 300
    (tree / "d" / "io.weight").write_text("default 10000\n")
    assert weights.own(tree / "d", "8:0") == 10000
    assert weights.own(tree / "e", "8:0") == 100


def test_nested_weights_become_flat(tree):
    # a has 3/4, which b and c halve; d has 1/4; three without children.
    assert weights.flat(tree, "8:0") == {
        ino(tree / "a/b"): 112, ino(tree / "a/c"): 112, ino(tree / "d"): 75}


def test_equal_groups_have_the_default(tmp_path):
    for name in "abc":
        (tmp_path / name).mkdir()
        (tmp_path / name / "io.weight").write_text("default 500\n")
    assert set(weights.flat(tmp_path, "8:0").values()) == {100}


def test_limits(tmp_path):
    for name, weight in [("big", 10000)] + [(f"s{n}", 1) for n in range(30)]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "io.weight").write_text(f"default {weight}\n")
    flat = weights.flat(tmp_path, "8:0")
    assert flat.pop(ino(tmp_path / "big")) == 1000
    assert set(flat.values()) == {1}


def test_only_what_differs_is_written(tree):
    disk = Fake({ino(tree / "d"): 75, 1: 5, 2: 5, 3: 100})
    lines = weights.sync(disk, tree)
    assert lines[:3] == ["1 default", "2 default", "3 default"]
    assert disk.have == weights.flat(tree, "8:0")
    assert weights.sync(disk, tree) == []
    (tree / "a" / "io.bfq.weight").write_text("default 100\n")
    weights.sync(disk, tree)
    # b and c have a quarter each, d has half.
    assert sorted(disk.have.values()) == [75, 75, 150]


def test_a_group_at_the_default_has_no_entry(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "io.weight").write_text("default 100\n")
    disk = Fake({ino(tmp_path / "a"): 40})
    weights.sync(disk, tmp_path)
    assert disk.have == {}


def test_dry_run_writes_nothing(tree, capsys):
    disk = Fake({1: 5})
    weights.sync(disk, tree, dry_run=True)
    assert disk.have == {1: 5}
    assert all(line.startswith("more ") for line in disk.written)
    assert "1 default" in capsys.readouterr().out


def test_all_pages_are_read():
    disk = Fake({n: n for n in range(1, 100)}, page=7)
    assert disk.read() == disk.have
    assert disk.start == 0


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


def test_more_groups_than_entries(tmp_path, monkeypatch, capsys):
    limit = re.search(r"#define FLASH_WEIGHTS\s+(\d+)\n",
                      (REPO / "common/tenant.h").read_text())
    assert int(limit.group(1)) == weights.ENTRIES
    monkeypatch.setattr(weights, "ENTRIES", 5)
    for n in range(7):
        (tmp_path / str(n)).mkdir()
        (tmp_path / str(n) / "io.weight").write_text(f"default {1 + n}\n")
    disk = Fake()
    monkeypatch.setattr(weights, "Disk", lambda *_: disk)
    assert weights.main(["x", "--cgroups", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert "x keeps 5 weights" in told and "--cgroups" in told
    assert "acfq or hbfq?" not in told
    assert len(disk.have) == 5


def test_every_goes_on_after_trouble(tmp_path, monkeypatch, capsys):
    """Trouble is said once, unless it is there from the beginning."""
    rounds = []

    def attempt(fails):
        def once(*_):
            rounds.append(1)
            if len(rounds) in fails:
                raise OSError(errno.ENOENT, "No such file", "/weights")
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
