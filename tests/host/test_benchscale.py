# SPDX-License-Identifier: GPL-2.0
"""scripts/bench-scale without a virtual machine: orders, ratios, verdicts."""

import importlib
import json
import pathlib
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

benchscale = importlib.import_module("benchscale")


def boot(**rates):
    """Passes of two rounds; in the second one the host is half as fast."""
    return {(n, name.replace("_", "-") if name == "mq_deadline" else name): rate / n
            for name, rate in rates.items() for n in (1, 2)}


BOOTS = [boot(none=300, mq_deadline=100, bfq=40, k2=110, acfq=70),
         boot(none=300, mq_deadline=100, bfq=40, k2=96, acfq=50),
         boot(none=300, mq_deadline=100, bfq=40, k2=104, acfq=56)]
NAMES = ["none", "mq-deadline", "bfq", "k2", "acfq", "piq"]


def test_each_round_has_all_in_another_order():
    names = list("abcdefghi")
    found = benchscale.orders(names, 5, 1)
    assert all(sorted(turn) == names for turn in found)
    assert len({tuple(turn) for turn in found}) == 5
    # The same again, and another one in each boot.
    assert benchscale.orders(names, 5, 1) == found != benchscale.orders(names, 5, 2)


def test_passes_of_one_round_are_compared():
    assert benchscale.ratios(BOOTS[0], "k2", "mq-deadline") == [1.1, 1.1]
    assert benchscale.ratios({(1, "k2"): 5, (2, "mq-deadline"): 4}, "k2", "mq-deadline") == []
    assert benchscale.against(BOOTS, "acfq", "bfq") == [1.75, 1.25, 1.4]


def test_claims_are_of_the_median_boot_and_name_the_range():
    found = benchscale.verdicts(BOOTS, NAMES)
    assert [kept for _, kept in found] == [True, False]
    assert "1.040 times" in found[0][0] and "0.960 to 1.100 in 3 boots" in found[0][0]
    assert "of bfq" in found[1][0] and "at least 1.5" in found[1][0]


def test_table():
    found = benchscale.summary(BOOTS, NAMES)
    assert [this["scheduler"] for this in found] == NAMES[:-1]
    rows = [line.split() for line in benchscale.table(found, 2, "6.12")]
    assert rows[3] == ["none", "3.000", "3.000", "3.000", "225"]
    assert rows[6] == ["k2", "1.040", "0.960", "1.100", "76"]
    alone = benchscale.summary([{(1, "none"): 7.0}], NAMES)
    assert benchscale.table(alone, 2, "6.12")[3].split() == ["none", "-", "-", "-", "7"]


def test_the_guest():
    machine = benchscale.Machine()
    for text in ("scale: machine 6.12.1 2", "scale: pass 1 k2 1234.5", "scale: missing kyber",
                 "other: pass", "scale: done"):
        machine.line(text)
    assert machine.passes == {(1, "k2"): 1234.5} and machine.release == "6.12.1"
    assert machine.done and machine.trouble == ["kyber cannot be selected on this kernel"]
    for bad in ("pass 1 k2", "pass x k2 1", "pass 1 k2 0"):
        with pytest.raises(benchscale.ScaleError, match="the guest says"):
            machine.line("scale: " + bad)


def test_the_command():
    args = benchscale.parse(["--schedulers", "k2,none", "--rounds", "2"])
    assert args.chosen == ["none", "mq-deadline", "k2"]
    line = benchscale.command(args, 3)
    assert line[line.index("--cpus") + 1] == "2" and "--virtual-time" not in line
    first = " ".join(benchscale.orders(args.chosen, 2, 3)[0])
    assert f"SCALE_ROUNDS='{first}\n" in line[-1]


def test_result(tmp_path, capsys):
    args = benchscale.parse(["--out", str(tmp_path / "x")])
    assert benchscale.conclude(args, BOOTS, "6.12.1", []) == 1
    said = capsys.readouterr().out
    assert "holds  k2: 1.040" in said and "MISSED acfq: 1.400" in said
    found = json.loads((tmp_path / "x").read_text())
    assert found["kind"] == "scale" and len(found["passes"]) == 3
    assert [one["holds"] for one in found["verdicts"]] == [False, True]
    assert benchscale.conclude(args, BOOTS[:1], "6.12.1", []) == 0
    assert benchscale.conclude(args, BOOTS[:1], "6.12.1", ["no fio"]) == 1
    assert benchscale.conclude(args, [], "", []) == 1
    capsys.readouterr()
    benchscale.conclude(args, BOOTS[:2], "6.12.1", [], [2.1, 4.0])
    assert "note: the host was busy in 1 of 2 boots, load up to 4.0" in capsys.readouterr().out


@pytest.mark.parametrize("argv,words", [
    (["--cpus", "17"], ["'17'", "1 to 16"]), (["--boots", "0"], ["'0'", "1 to 50"]),
    (["--rounds", "x"], ["'x'", "1 to 1000"]), (["--ms", "99"], ["'99'", "100 to 60000"]),
    (["--depth", "0"], ["'0'", "1 to 256"]), (["--bound", "0"], ["'0'", "1 to 65535"]),
    (["--schedulers", "cfq"], ["'cfq'", "none,mq-deadline"]),
    (["--schedulers", ","], ["','", "mq-deadline"]), (["--kernel", "5.1"], ["'5.1'", "6.12"]),
    (["--out", "/no/such/x"], ["'/no/such/x'"]),
])
def test_bad_options(argv, words, capsys):
    with pytest.raises(SystemExit) as ending:
        benchscale.parse(argv)
    said = capsys.readouterr().err
    assert ending.value.code == 2 and said.count("\n") == 1
    assert said.startswith("bench-scale: ") and all(word in said for word in words)
