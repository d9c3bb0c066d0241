# SPDX-License-Identifier: GPL-2.0
"""scripts/bench-cost without a virtual machine: plan, parsing, arithmetic."""

import importlib
import io
import json
import pathlib
import re
import subprocess
import sys

import pytest
from rich.console import Console

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

benchcost = importlib.import_module("benchcost")

OWN = ["k2", "piq"]


def arguments(*argv):
    return benchcost.parse(list(argv))


@pytest.mark.parametrize("argv,words", [
    (["--kernel", "5.10"], ["'5.10'", "6.1, 6.12"]),
    (["--depths", "0"], ["'0'", "1 to 256"]),
    (["--depths", "1,257"], ["'257'", "1 to 256"]),
    (["--depths", ","], ["','", "1 to 256"]),
    (["--disks", "nvme"], ["'nvme'", "null,flashsim"]),
    (["--disks", ""], ["''", "null,flashsim"]),
    (["--ios", "10"], ["'10'", "1000 to 1000000"]),
    (["--repeats", "0"], ["'0'", "1 to 10"]),
    (["--tenants", "4,257"], ["'257'", "1 to 256"]),
    (["--tenants", ","], ["','", "1 to 256"]),
    (["--batch", "0"], ["'0'", "1 to 256"]),
    (["--depths", "8,32", "--batch", "9"], ["'9'", "1 to 8"]),
    (["--seed", "-1"], ["'-1'", "1 to 2147483648"]),
    (["--schedulers", ","], ["','", "mq-deadline"]),
    (["--frobnicate"], ["--frobnicate"]),
])
def test_bad_options_are_refused(argv, words, capsys):
    with pytest.raises(SystemExit) as ending:
        benchcost.parse(argv)
    assert ending.value.code == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert said.err.startswith("bench-cost: ")
    for word in words:
        assert word in said.err


def test_results_never_go_among_others(tmp_path, capsys):
    (tmp_path / "x").write_text("")
    with pytest.raises(SystemExit):
        arguments("--out", str(tmp_path))
    assert "empty directory" in capsys.readouterr().err
    assert arguments("--out", str(tmp_path / "new")).out == tmp_path / "new"


def test_own_schedulers_are_found_in_what_was_built():
    assert benchcost.own_schedulers({
        "k2.ko": b"x\0license=GPL\0alias=k2-iosched\0depends=\0",
        "piq.ko": b"\0alias=piq-iosched\0",
        "fifo.ko": b"\0alias=fifo-iosched\0",
        "flashsim.ko": b"\0alias=flashsim\0noalias=x-iosched\0",
    }) == OWN
    assert benchcost.own_schedulers({}) == []


def test_schedulers_are_known_or_refused():
    assert benchcost.choose(None, OWN) == (
        "none", "fifo", "mq-deadline", "kyber", "bfq", "k2", "piq")
    # There is no "more than with none" without none.
    assert benchcost.choose(("k2", "bfq"), OWN) == ("none", "bfq", "k2")
    with pytest.raises(ValueError) as error:
        benchcost.choose(("k2", "hbfq"), OWN)
    assert "'hbfq'" in str(error.value) and "bfq,k2,piq" in str(error.value)


def test_plan_has_each_cell_once():
    args = arguments()
    schedulers = benchcost.choose(None, OWN)
    cells = benchcost.plan(args, schedulers, OWN)
    ids = [cell["id"] for cell in cells]
    assert len(set(ids)) == len(ids)
    for disk in ("null", "flashsim"):
        for depth in (1, 32, 256):
            for name in schedulers:
                assert f"{disk}-{depth}.{name}" in ids
    # The words of a line are what the guest reads; none may be missing.
    for line in benchcost.plan_text(cells).splitlines():
        assert len(line.split(maxsplit=5)) == 6


def test_tenants_share_a_depth():
    args = arguments("--tenants", "1,4,256", "--disks", "null")
    assert args.depths == (32,) and args.no_locks
    cells = benchcost.plan(args, ("none", "k2"), OWN)
    assert [cell["label"] for cell in cells] == [
        f"{name} {tenants}" for tenants in ("1 tenant", "4 tenants", "256 tenants")
        for name in ("none", "k2")]
    words = [line.split() for line in benchcost.plan_text(cells).splitlines()]
    assert [line[3] for line in words[::2]] == ["32x1", "32x4", "32x256"]
    # Each of 256 processes has a read in flight.
    assert cells[4]["options"] == benchcost.disk_options("null", 256, 2)
    assert cells[4]["options"].count("/") == 1
    assert (args.ios, arguments().ios) == (40000, 10000)
    lines = benchcost.table(cells, {
        cell["id"]: [{"busy_ns_per_io": cell["tenants"] + 10 * (cell["scheduler"] == "k2"),
                      "busy_share": 1, "ios_per_s": 1, "switches_per_io": 1}]
        for cell in cells}, {})
    assert [line["over_none_ns"] for line in lines] == [0, 10] * 3
    assert [row[2] for row in benchcost.rows(lines, [32])] == ["-", "+10"] * 3
    assert lines[3]["tenants"] == 4


def labels(*about):
    return {label for label, _, _ in benchcost.variants(*about, OWN)}


def test_variants_of_the_projects_schedulers():
    assert labels("bfq", "null", 32) == {"bfq"}
    assert labels("k2", "null", 256) == {"k2"}
    assert labels("k2", "flashsim", 1) == {"k2", "k2 layout set"}
    # On null_blk the result would depend on the rhythm it falls into.
    assert "k2 bound 4" not in labels("k2", "null", 32)
    assert labels("k2", "flashsim", 256) == {"k2", "k2 bound 4"}
    k2 = {label: (settings, most) for label, settings, most in
          benchcost.variants("k2", "flashsim", 32, OWN)}
    assert k2["k2"] == ("max_inflight=1024", 32)
    assert k2["k2 bound 4"] == ("max_inflight=4", 4)
    assert k2["k2 stats read"][0].endswith("if-stats,read-stats")
    assert "if-layout,layout=" in k2["k2 layout set"][0]
    assert labels("piq", "flashsim", 32) == {
        "piq", "piq stats read", "piq layout set", "piq by chips"}
    # At depth 1 piq learns before the cell that the layout is right (warm).
    one = {label: (settings, most) for label, settings, most in
           benchcost.variants("piq", "flashsim", 1, OWN)}
    assert one["piq by chips"] == (
        f"layout={benchcost.LAYOUT},chip_depth=1,warm", 1)
    assert "piq by chips" not in labels("piq", "null", 1)


def test_disks_are_as_fast_as_they_should_be():
    assert "completion_nsec=100000," in benchcost.disk_options("null", 1)
    # Where the CPU is never idle one time would be one rhythm.
    for parallel, least in ((32, 100000), (256, 800000)):
        times = re.search(r"completion_nsec=([\d/]+),",
                          benchcost.disk_options("null", parallel))[1].split("/")
        assert len(set(times)) == 8 and min(map(int, times)) == least
    for parallel, scale in ((1, 1), (4, 4), (7, 4), (32, 32), (256, 32)):
        assert f"time_scale={scale}," in \
            benchcost.disk_options("flashsim", parallel)


def test_locks_are_counted_where_there_are_some():
    cells = benchcost.plan(arguments(), benchcost.choose(None, OWN), OWN)
    counted = [c for c in cells if benchcost.counts_locks(c)]
    assert {c["label"] for c in counted if c["disk"] == "null"} >= {
        "fifo", "bfq", "k2", "piq"}
    assert {c["label"] for c in counted if c["disk"] == "flashsim"} == {
        "k2 bound 4"}
    assert "none" not in {c["scheduler"] for c in counted}
    assert not any("read-stats" in c["settings"] for c in counted)


SHORT = "short 1000 400000000 300000000 100"
LONG = "long 11000 600000000 380000000 20100"


def test_cost_is_what_the_longer_run_took_more():
    found = dict(benchcost.part(text) for text in (SHORT, LONG))
    result = benchcost.cost(found["short"], found["long"])
    # 200 ms more, of which 80 idle, for 10000 I/Os.
    assert result["ios"] == 10000
    assert result["busy_ns_per_io"] == pytest.approx(12000)
    assert result["busy_share"] == pytest.approx(0.6)
    assert result["ios_per_s"] == pytest.approx(50000)
    assert result["switches_per_io"] == pytest.approx(2)


def test_what_a_cell_took_on_several_disks_is_added():
    _, one = benchcost.part("short 125 4000 1000 7")
    _, other = benchcost.part("short 125 6000 1500 5")
    assert benchcost.added(None, one) == one
    assert benchcost.added(one, other) == {
        "ios": 250, "elapsed_ns": 10000, "idle_ns": 2500, "switches": 12}


@pytest.mark.parametrize("text", [
    "", "short 1 2 3", "middle 1 2 1 0", "short 1 2 x 0", "short 0 2 1 0",
    # More idle than there was time, as from a clock that stands.
    "short 1000 100 101 0", "short 1000 -1 0 0", "short 1000 5 4 3 2"])
def test_nonsense_of_the_guest_is_no_result(text):
    with pytest.raises(ValueError):
        benchcost.part(text)


def test_runs_that_cannot_be_compared():
    _, short = benchcost.part(SHORT)
    _, long = benchcost.part(LONG)
    with pytest.raises(ValueError):
        benchcost.cost(long, short)
    with pytest.raises(ValueError):
        benchcost.cost(short, short)
    with pytest.raises(ValueError):
        # As many more I/Os, all of the time idle.
        benchcost.cost(short, {**long, "idle_ns": 500000000})


def test_spread():
    assert benchcost.spread([1.0]) is None
    assert benchcost.spread([5.0, 5.0]) == 0
    assert benchcost.spread([99.0, 101.0, 100.0]) == pytest.approx(0.02)


def test_locks_by_function():
    found = benchcost.locks("500 20489 1500 dd_insert_requests=500 "
                            "dd_bio_merge=1000")
    assert found["own_per_io"] == 3
    assert found["all_per_io"] == pytest.approx(40.978)
    assert list(found["own_per_io_by_function"].items()) == [
        ("dd_bio_merge", 2), ("dd_insert_requests", 1)]
    assert benchcost.locks("500 20489 0")["own_per_io"] == 0
    for bad in ("", "0 5 0", "500 20489 1500 f=1", "500 3 4 f=4"):
        with pytest.raises(ValueError):
            benchcost.locks(bad)


def result(busy):
    return {"ios": 10000, "busy_ns_per_io": busy, "busy_share": 1.0,
            "ios_per_s": 1e9 / busy, "switches_per_io": 2.0}


def lines(results, counted=None):
    args = arguments("--disks", "null", "--depths", "32")
    cells = benchcost.plan(args, benchcost.choose(None, ["k2"]), ["k2"])
    return benchcost.table(cells, {
        f"null-32.{name}": [result(busy) for busy in costs]
        for name, costs in results.items()}, counted or {})


def test_table_compares_with_none_and_the_floor():
    found = {line["label"]: line for line in lines(
        {"none": [10000, 10010], "fifo": [16000], "k2": [12000, 12012]},
        {"null-32.k2": benchcost.locks("10 90 20 f=20")})}
    assert set(found) == {"none", "fifo", "k2"}
    k2 = found["k2"]
    assert k2["busy_ns_per_io"] == 12006
    assert k2["over_none_ns"] == pytest.approx(2001)
    assert k2["over_none"] == pytest.approx(12006 / 10005 - 1)
    assert k2["over_floor_ns"] == pytest.approx(-3994)
    assert k2["spread"] == pytest.approx(0.001, rel=0.01)
    assert k2["locks"]["own_per_io"] == 2
    assert found["fifo"]["spread"] is None and found["none"]["locks"] is None
    # Without none nothing can be said.
    (alone,) = lines({"k2": [12000]})
    assert alone["over_none_ns"] is None and alone["over_floor_ns"] is None


def test_only_foreign_schedulers_must_repeat_exactly():
    steady = lines({"none": [10000, 10040], "k2": [12000, 13000]})
    assert benchcost.unsteady(steady) == []
    shaky = lines({"none": [10000, 10000], "bfq": [12000, 12070]})
    assert [line["label"] for line in benchcost.unsteady(shaky)] == ["bfq"]


def bench(tmp_path, *argv):
    args = arguments("--disks", "null", "--depths", "32", "--out",
                     str(tmp_path / "out"), *argv)
    made = benchcost.BenchCost(args, benchcost.choose(("fifo",), []), [])
    made.out.mkdir()
    return made


def told(made, task, repeat, *texts):
    for text in texts:
        made.line("cost: " + text, task, repeat, 1)


def measured(made, name, repeat, busy):
    told(made, "time", repeat, f"begin {name}",
         f"part {name} short 1000 100000000 0 0",
         f"part {name} long 11000 {100000000 + 10000 * busy} 0 0",
         f"done {name}")


def test_a_whole_run(tmp_path, capsys):
    made = bench(tmp_path)
    told(made, "time", 1, "machine release 6.1.0-x")
    for repeat in (1, 2):
        measured(made, "null-32.none", repeat, 10000 + repeat)
        measured(made, "null-32.fifo", repeat, 16000)
    told(made, "locks", 0, "begin null-32.fifo",
         "locks null-32.fifo 250 9000 500 fifo_insert_requests=500",
         "done null-32.fifo", "end")
    assert made.conclude(0) == 0
    out = capsys.readouterr().out
    assert "+5998" in out and "2.00" in out
    files = {path.name for path in made.out.iterdir()}
    assert files == {"null-32.none.1.json", "null-32.none.2.json",
                     "null-32.fifo.1.json", "null-32.fifo.2.json",
                     "summary.json", "plot.png"}
    record = json.loads((made.out / "null-32.none.2.json").read_text())
    assert record["result"]["busy_ns_per_io"] == 10002
    assert record["repeat"] == 2 and record["kernel"] == "6.1.0-x"
    summary = json.loads((made.out / "summary.json").read_text())
    assert summary["cells"][1]["over_none_ns"] == pytest.approx(5998.5)


@pytest.mark.parametrize("texts,words", [
    (["failed null-32.fifo fio: status 1"], "fio: status 1"),
    # A cell under way when the machine ended, and half a cell.
    (["begin null-32.fifo", "done null-32.fifo"], "short"),
    (["part null-32.fifo short 1000 5 x 0"], "no part of a cell"),
    (["locks null-32.fifo 250 1 2 f=2"], "cannot be"),
])
def test_trouble_is_told_and_decides_the_status(tmp_path, capsys, texts,
                                                words):
    made = bench(tmp_path)
    measured(made, "null-32.none", 1, 10000)
    made.progress.begin("x")
    told(made, "time", 1, *texts)
    assert made.conclude(0) == 1
    assert words in " ".join(capsys.readouterr().out.split())


def test_spread_decides_the_status(tmp_path, capsys):
    made = bench(tmp_path)
    measured(made, "null-32.none", 1, 10000)
    measured(made, "null-32.none", 2, 10100)
    assert made.conclude(0) == 1
    assert "repeats differ by 1.00%" in capsys.readouterr().out


def test_what_is_missing_is_counted_and_no_failure(tmp_path, capsys):
    made = bench(tmp_path)
    measured(made, "null-32.none", 1, 10000)
    told(made, "time", 1, "begin null-32.fifo",
         "missing null-32.fifo no module flashsim")
    total = made.progress.clock.total
    told(made, "time", 1, "absent null-32.none none has no layout")
    assert made.progress.clock.total == total - 1
    assert made.absent == {"null-32.fifo", "null-32.none"}
    assert made.conclude(0) == 0
    assert "left out: 1 cells, no module flashsim" in capsys.readouterr().out
    summary = json.loads((made.out / "summary.json").read_text())
    assert summary["left_out"] == {"no module flashsim": 1}


def test_nothing_measured_is_a_failure(tmp_path):
    assert bench(tmp_path).conclude(0) == 1


def test_an_interrupted_run_keeps_what_is_there(tmp_path, capsys):
    made = bench(tmp_path)
    measured(made, "null-32.none", 1, 10000)
    assert made.conclude(2) == 130
    assert json.loads((made.out / "summary.json").read_text())["interrupted"]
    assert "interrupted" in capsys.readouterr().out


def test_the_virtual_machine_is_told_what_to_do(tmp_path):
    made = bench(tmp_path, "--ios", "5000")
    line = made.command(made.cells, "time", 7)
    assert "--virtual-time" in line and line[-2] == "--"
    for word in ("COST_LONG=6000", "COST_SHORT=1000", "COST_SEED=7",
                 "COST_TASK=time", "null-32.fifo null irqmode=2"):
        assert word in line[-1]


def test_table_has_a_row_a_label():
    found = lines({"none": [10000, 10000], "k2": [12000, 12060]},
                  {"null-32.k2": benchcost.locks("10 90 20 f=20")})
    assert benchcost.rows(found, [1, 32]) == [
        ["none", "-", "-", "-", "10000", "-", "-", "0.00", "-"],
        ["k2", "-", "-", "-", "12030", "+2030", "+20.3", "0.50", "- 2.00"]]
    text = io.StringIO()
    benchcost.show(Console(file=text, width=120), {
        "cells": found, "kernel": "6.1.0-x", "commit": "abc"})
    assert "+2030" in text.getvalue() and "6.1.0-x" in text.getvalue()


def test_estimate_grows_with_the_work(tmp_path):
    less = bench(tmp_path)
    more = benchcost.BenchCost(arguments("--ios", "100000"), less.schedulers,
                               [])
    assert 20 < less.seconds() < more.seconds()


def test_script_refuses_in_one_line():
    done = subprocess.run(
        [sys.executable, REPO / "scripts/lib/benchcost.py", "--depths", "999"],
        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "1 to 256" in done.stderr


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
