# SPDX-License-Identifier: GPL-2.0
"""scripts/blktests: what is understood, compared and put together."""

import importlib
import pathlib
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

blktests = importlib.import_module("blktests")

OUTPUT = """\
BLKTEST schedulers none mq-deadline k2
BLKTEST begin block/004
block/004 => nvme0n1 (run lots of flushes)                  \n\
block/004 => nvme0n1 (run lots of flushes)                   [passed]
    runtime        ...  3.1s
    write iops     ...  400
BLKTEST end block/004 0 4
BLKTEST begin block/014
block/014 (run null-blk with timeouts)                       [not run]
    module null_blk does not have parameter timeout
BLKTEST end block/014 0 1
BLKTEST begin block/020
block/020 (one hardware tag)                                 \n\
block/020 (one hardware tag)                                 [failed]
    runtime    ...  31.0s
    --- tests/block/020.out
    +Device or resource busy
BLKTEST file nodev/block/020.full
block/020 (looks like a result)                              [passed]
    this is of a log
BLKTEST end block/020 1 33
BLKTEST begin block/027
BLKTEST end block/027 124 420
BLKTEST begin block/031
block/031 (a dir) [passed]
"""


def read(text):
    """(Reader, the tests that it says have ended)"""
    reader = blktests.Reader()
    return reader, [ended for line in text.split("\n")
                    if (ended := reader.line(line))]


def test_output_of_a_guest():
    reader, ended = read(OUTPUT)
    assert ended == ["block/004", "block/014", "block/020", "block/027"]
    assert reader.schedulers == ["none", "mq-deadline", "k2"]
    found = reader.results
    assert found["block/004"] == {"verdict": "ok", "seconds": 4, "why": ""}
    assert found["block/014"]["verdict"] == "skip"
    assert "no" in found["block/014"]["why"]
    assert found["block/020"]["verdict"] == "FAIL"
    assert found["block/020"]["why"] == \
        "--- tests/block/020.out; +Device or resource busy"
    assert found["block/027"] == {"verdict": "FAIL", "seconds": 420,
                                  "why": "not done after 420 s"}
    # The guest ended here: that it said "passed" is not the end of it.
    assert reader.current == "block/031"
    reader.died("oops")
    assert reader.results["block/031"]["verdict"] == "FAIL"


def test_a_test_without_a_result_has_failed():
    reader, _ = read("BLKTEST begin block/001\nno group or test named x\n"
                     "BLKTEST end block/001 0 1\n")
    assert reader.results["block/001"]["verdict"] == "FAIL"
    reader, _ = read("BLKTEST begin block/001\nblock/001 (x) [passed]\n"
                     "BLKTEST end block/001 1 1\n")
    assert reader.results["block/001"]["verdict"] == "FAIL"


def test_trouble():
    reader, _ = read("BLKTEST trouble no NVMe disk\n")
    assert reader.trouble == "no NVMe disk" and not reader.results


def result(verdict, seconds=1):
    """A test's result in a Reader's format."""
    return {"verdict": verdict, "seconds": seconds, "why": ""}


@pytest.mark.parametrize("stock,ours,word", [
    ("ok", ["ok", "ok"], ""), ("ok", ["ok", "FAIL"], "OURS"),
    ("FAIL", ["FAIL", "ok"], "fails without us, too"),
    ("FAIL", ["ok", "ok"], "fails only without us"),
    ("skip", ["skip"], "not run here"), ("skip", ["FAIL"], "OURS?"),
    ("ok", ["skip"], "not run here")])
def test_whose_it_is(stock, ours, word):
    found = blktests.judge("t", {"t": result(stock)},
                           [{"t": result(v)} for v in ours])
    assert found.startswith(word) and bool(found) == bool(word)


def test_what_fails_with_ours_and_was_not_tried_without():
    assert blktests.judge("t", {}, [{"t": result("FAIL")}]).startswith("OURS")


def test_table():
    lines = blktests.table(["block/001", "block/014"], {
        "mq-deadline": {"block/001": result("ok", 9),
                        "block/014": result("skip")},
        "k2": {"block/001": result("FAIL", 7), "block/014": result("skip")},
        "x": {"block/001": result("ok", 8)}}, "mq-deadline")
    assert lines[0].split() == ["test", "mq-deadline", "k2", "x"]
    assert lines[1].split() == ["block/001", "ok", "9", "s", "FAIL", "7", "s",
                                "ok", "8", "s", "OURS"]
    assert lines[2].split()[:3] == ["block/014", "skip", "skip"]


@pytest.mark.parametrize("text,does", [
    ("for sched in $(_io_schedulers nullb1); do", True),
    ('scheds=($(sed "s/[][]//g" "$queue_path/scheduler"))', True),
    ('sched="$(< /sys/block/x/queue/scheduler)"', True),
    ("_test_dev_set_scheduler deadline", False),
    ("fio --name=x", False)])
def test_which_tests_choose_schedulers(text, does):
    assert blktests.loops(text) == does


@pytest.fixture(name="checkout")
def a_checkout(tmp_path):
    """Something that looks like blktests."""
    for name in ("check", "common/rc", "tests/block/005", "tests/block/020",
                 "tests/block/099"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("true\n")
    return tmp_path


def test_arguments(checkout):
    args = blktests.parse([str(checkout)])
    assert args.tests == ["block/005", "block/020"]
    args = blktests.parse([str(checkout), "block/099", "--kernel", "6.12",
                           "block/005"])
    assert args.tests == ["block/099", "block/005"]
    assert args.kernel == "6.12" and args.scheduler is None


@pytest.mark.parametrize("argv,word", [
    ([], "block/001"), (["../block/005"], "'../block/005'"),
    (["block/005;reboot"], "want a test"),
    (["--baseline", "deadline"], "'deadline'"), (["--seconds", "0"], "'0'")])
def test_refusals(checkout, capsys, argv, word):
    if not argv:
        argv = ["block/001"]
    with pytest.raises(SystemExit) as error:
        blktests.parse([str(checkout), *argv])
    said = capsys.readouterr().err
    assert error.value.code == 2 and said.count("\n") == 1 and word in said


def test_a_folder_that_is_no_checkout(tmp_path, capsys):
    with pytest.raises(SystemExit):
        blktests.parse([str(tmp_path)])
    assert "want a checkout" in capsys.readouterr().err


def settle(sys_dir, tmp_path):
    """Runs the guest's rule."""
    subprocess.run([REPO / "tests/blktests/udevadm", "settle"], check=True,
                   env={"PATH": "/usr/bin:/bin", "LAB_RULE": "k2",
                        "LAB_SYS": str(sys_dir),
                        "LAB_SEEN": str(tmp_path / "seen")})


def add_disk(sys_dir, name, number):
    """A disk that appears, with the kernel's own choice."""
    folder = sys_dir / "block" / name
    (folder / "queue").mkdir(parents=True, exist_ok=True)
    (folder / "diskseq").write_text(f"{number}\n")
    (folder / "queue" / "scheduler").write_text("none")
    return folder / "queue" / "scheduler"


def test_the_rule_for_new_disks(tmp_path):
    sys_dir = tmp_path / "sys"
    null, nvme = add_disk(sys_dir, "nullb1", 7), add_disk(sys_dir, "nvme0n1", 1)
    settle(sys_dir, tmp_path)
    assert null.read_text() == "k2\n" and nvme.read_text() == "none"
    # A scheduler that a test has chosen since stays.
    null.write_text("bfq")
    settle(sys_dir, tmp_path)
    assert null.read_text() == "bfq"
    # Another disk of that name gets it again.
    add_disk(sys_dir, "nullb1", 17)
    faulty = add_disk(sys_dir, "faultb0", 18)
    settle(sys_dir, tmp_path)
    assert null.read_text() == faulty.read_text() == "k2\n"


def test_a_scheduler_without_tests_boots_nothing(monkeypatch, tmp_path):
    """All tests choose schedulers themselves: the second one has none."""
    args = type("Args", (), {"kernel": "6.1"})
    runner = blktests.Runner(args, tmp_path)
    monkeypatch.setattr(runner, "boot", lambda *_: pytest.fail("booted"))
    assert runner.run("piq", "piq", ("piq",), []) == {}
    columns = {"none": {"block/004": {"verdict": "ok", "seconds": 1}},
               "k2": {"block/004": {"verdict": "ok", "seconds": 2}},
               "piq": {}}
    assert blktests.table(["block/004"], columns, "none")[1].split() == [
        "block/004", "ok", "1", "s", "ok", "2", "s"]
