# SPDX-License-Identifier: GPL-2.0
"""scripts/locks: /proc/lock_stat, what the guest says, and the claims."""

import importlib
import json
import pathlib
import re
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

locks = importlib.import_module("locks")

# As kernel/locking/lockdep_proc.c prints it, with the lines that do not count.
HEAD = f"""lock_stat version 0.4
{'-' * 80}
                              class name    con-bounces    contentions   \
waittime-min   waittime-max waittime-total   waittime-avg    acq-bounces   \
acquisitions   holdtime-min   holdtime-max holdtime-total   holdtime-avg
{'-' * 80}

"""


def row(name, taken, waited):
    """The line of one class, and where it was waited for."""
    return (f"{name:>40}:{waited:>15}{waited:>15}           0.21          10.54"
            f"          40.20           5.02{taken // 2:>15}{taken:>15}"
            "           0.11          99.30       15371.53           1.20\n"
            f"{'-' * 20:>40}\n"
            f"{name:>40}{waited:>15}          [<000000003b6d0a3d>] "
            "elv_dispatch_request+0x2f/0x1c0 [k2]\n\n")


STAT = HEAD + row("&fq->lock", 20100, 7) + row("&fq->lock#2", 100, 1) + \
    row("&mm->mmap_lock-W", 500, 0) + row("&mm->mmap_lock-R", 70, 3) + \
    row("&rq->__lock/1", 30, 2) + row("(console_sem).lock", 5, 0) + \
    row("&dd->lock", 40000, 20) + row("&dd->zone_lock", 200, 0) + \
    row("kyber-cmd: x", 9, 0)


def test_counts():
    """Classes of one name are one, headings and places none."""
    found = locks.counts(STAT.splitlines())
    assert {name: counts[:2] for name, counts in found.items()} == {
        "&fq->lock": [20200, 8], "&mm->mmap_lock": [570, 3],
        "&rq->__lock": [30, 2], "(console_sem).lock": [5, 0],
        "&dd->lock": [40000, 20], "&dd->zone_lock": [200, 0],
        "kyber-cmd: x": [9, 0]}
    # The total of both classes, the longest of either.
    assert found["&fq->lock"][2:] == [2 * 15371.53, 99.30]
    known = locks.line_of(STAT.splitlines()[5])
    assert known[1]["hold_total"] == 15371.53
    assert known[1]["acq_bounces"] == 10050


def test_own_locks():
    """Per I/O, and of which scheduler."""
    found = locks.cell("k2", 2, 10000, STAT.splitlines())
    assert found["own_per_io"] == 2.02
    assert found["contended_per_io"] == 0.0008
    assert found["all_per_io"] == pytest.approx(6.1014)
    assert found["hold_mean_us"] == pytest.approx(2 * 15371.53 / 20200)
    assert found["hold_max_us"] == 99.30
    assert locks.cell("mq-deadline", 2, 10000, STAT.splitlines())[
        "own_per_io"] == 4.02
    none = locks.cell("none", 2, 10000, STAT.splitlines())
    assert (none["own_taken"], none["hold_mean_us"], none["hold_max_us"]) == (0, None, None)
    assert locks.table([none])[-1].split() == \
        ["none", "2", "0.000", "0.0000", "0.00", "-", "-", "-", "6.10"]
    with pytest.raises(locks.LocksError, match="never taken"):
        locks.cell("bfq", 2, 10000, STAT.splitlines())
    with pytest.raises(locks.LocksError, match="no line of counts"):
        locks.cell("k2", 2, 10000, HEAD.splitlines())
    with pytest.raises(locks.LocksError, match="no reads"):
        locks.cell("k2", 2, 0, STAT.splitlines())


def test_the_lock_is_called_so():
    """The name in our own code, and no other lock is on the way of a request."""
    text = (REPO / "common" / "elevator" / "elevator.c").read_text(encoding="utf-8")
    assert re.findall(r"spin_lock_init\((.*?)\)", text) == list(locks.OURS)
    for path in (REPO / "common").glob("*/*.c"):
        for name in re.findall(r"spin_lock\w*\(&?([\w>-]+)[,)]",
                               path.read_text(encoding="utf-8")):
            assert name in ("fq->lock", "flash_texts_lock", "flash_disks_lock",
                            "to_tenancy"), (path, name)


def guest(machine, *lines):
    """Lets the guest speak."""
    for text in lines:
        machine.line(text)
    return machine


def test_the_guest():
    """A cell is what is between its begin and its end."""
    said = [f"locks: line {text}" for text in STAT.splitlines()]
    machine = guest(
        locks.Machine(3, []), "vm: booting", "locks: machine 6.1.192 3",
        "locks: begin mq-deadline 10000", *said, "locks: end mq-deadline",
        "locks: missing bfq", "locks: begin k2 10000", *said, "locks: use ...-: &dd->lock",
        "locks: use +.+.: &fq->lock#2", "locks: end k2", "locks: done")
    assert [this["scheduler"] for this in machine.cells] == ["mq-deadline", "k2"]
    assert machine.done and machine.trouble == ["bfq cannot be had on this kernel"]
    assert all(this["cpus"] == 3 for this in machine.cells)
    assert [this["in_interrupts"] for this in machine.cells] == [None, False]
    assert guest(locks.Machine(1, []), "locks: trouble no null_blk").trouble
    for bad in (["locks: begin k2"], ["locks: begin k2 10", "locks: end bfq"]):
        with pytest.raises(locks.LocksError, match="the guest says"):
            guest(locks.Machine(1, []), *bad)


def test_claims():
    """Verdicts are about our schedulers only, by the number of CPUs."""
    cells = [{"scheduler": name, "cpus": cpus, "own_per_io": taken}
             for name, cpus, taken in (
                 ("mq-deadline", 1, 4.0), ("kyber", 1, 1.0), ("k2", 1, 1.05),
                 ("piq", 1, 1.06), ("k2", 2, locks.MOST_SEVERAL),
                 ("hbfq", 8, locks.MOST_SEVERAL + 0.01))]
    assert [kept for _, kept in locks.verdicts(cells)] == [
        True, False, True, False]
    in_irq = [{**cells[2], "in_interrupts": seen} for seen in (True, False)]
    assert [kept for _, kept in locks.verdicts(in_irq)] == [True, False, True, True]


@pytest.mark.parametrize("letters, seen", [
    ("+.+.", False), ("....", False), ("-.-.", True), ("+.?.", True), ("..-.", True)])
def test_interrupts(letters, seen):
    """Of the scheduler's own locks only, whatever module they are of."""
    uses = ["-.-.: &rq->__lock", f"{letters}: &fq->lock#3"]
    assert locks.in_interrupts("k2", uses) is seen
    assert locks.in_interrupts("none", uses) is None


def test_from_a_file(tmp_path, capsys):
    """A table without a machine; figures; what is wrong in one line."""
    path = tmp_path / "stat"
    path.write_text(STAT)
    argv = ["--from", str(path), "--schedulers", "k2", "--cpus", "4", "--reads",
            "20000", "--out", str(tmp_path / "out")]
    assert locks.main(argv) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[4].split() == \
        ["k2", "4", "1.010", "0.0004", "0.04", "1.5", "99.3", "-", "3.05"]
    assert said[5] == "holds  k2 on 4 CPUs takes its own lock 1.010 times an I/O: " \
        f"at most {locks.MOST_SEVERAL:g}"
    found = json.loads((tmp_path / "out").read_text())
    assert found["cells"][0]["own_taken"] == 20200
    path.write_text("nothing\n")
    assert locks.main(argv) == 1
    assert capsys.readouterr().err.count("\n") == 1
    assert locks.main([argv[0], str(tmp_path / "no"), *argv[2:]]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_interrupted(tmp_path, capsys, monkeypatch):
    """Cells that were counted before a signal are written."""
    def measure(_, cpus, _chosen, cells):
        cells.append(locks.cell("k2", cpus, 20000, STAT.splitlines()))
        if cpus == 2:
            raise locks.options.Interrupted(2)
        return []
    monkeypatch.setattr(locks, "measure", measure)
    for name in ("need", "catch_signals", "ignore_signals"):
        monkeypatch.setattr(locks.options, name, lambda *_: None)
    assert locks.main(["--schedulers", "k2", "--out", str(tmp_path / "x")]) == 130
    assert "trouble: interrupted" in capsys.readouterr().out
    found = json.loads((tmp_path / "x").read_text())
    assert [this["cpus"] for this in found["cells"]] == [1, 2]


@pytest.mark.parametrize("argv", (
    ["--cpus", "0"], ["--schedulers", "cfq"], ["--ios", "x"], ["--bound", "0"],
    ["--from", "x"], ["--from", "x", "--schedulers", "k2", "--cpus", "1"],
    ["--kernel", "5.10"], ["--out", "/no/such/folder/x"], ["--out", "/"],
))
def test_bad_options(capsys, argv):
    """Refused in one line."""
    with pytest.raises(SystemExit) as stop:
        locks.parse(argv)
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
