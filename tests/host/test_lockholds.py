# SPDX-License-Identifier: GPL-2.0
"""scripts/lock-holds without a virtual machine: plan, parsing, figures."""

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

lockholds = importlib.import_module("lockholds")

COUNTS = """\
mark 2
lock 100 9800
lock 400 199
lock 900 1
at ffffffff81000010 300
at ffffffff81000110 500
at ffffffff81000010 100
wall 100 9900
wall 5000 100
off 30 7
mark 4
lock 25000 1
wall 26000 1
cli 12 3
"""


SYMBOLS = lockholds.costprofile.Symbols(
    "ffffffff81000000 t fair_sort\nffffffff81000100 t fair_select\n")


def symbols(_):
    return SYMBOLS


def found():
    return lockholds.sections(COUNTS.splitlines(True))


def test_more_requests_than_the_device_takes():
    for waiting, tenants, load in ((1024, 256, "1536x256"), (1, 1, "65x1"),
                                   (1400, 256, "2048x256"), (1024, 1, "1344x1")):
        assert lockholds.load(waiting, tenants) == load
        depth, processes = map(int, load.split("x"))
        assert depth - lockholds.INFLIGHT >= waiting and depth <= lockholds.TAGS
        assert depth % processes == 0
    lines = lockholds.plan(["bfq", "k2"], 1024, 256).splitlines()
    assert [len(line.split()) for line in lines] == [6, 6]
    assert "max_inflight" not in lines[0] and "max_inflight=64," in lines[1]
    assert all(line.endswith("../nr_requests=2048") for line in lines)


def test_sections_of_each_mark():
    assert found()[2]["lock"] == {100: 9800, 400: 199, 900: 1}
    assert found()[2]["at"] == {0xffffffff81000010: 400, 0xffffffff81000110: 500}
    assert found()[2]["cli"] == {} and found()[4]["cli"] == {12: 3}
    assert lockholds.sections([]) == {}
    for bad in ("lock 1 2", "mark 1\nblock 1 2", "mark 1\nlock x 2", "mark x", "mark 1\n\n"):
        with pytest.raises(lockholds.HoldsError, match="no line of sections"):
            lockholds.sections(bad.splitlines(True))


def test_figures():
    lock = lockholds.figures(found()[2]["lock"])
    assert [lock[key] for key in ("p50", "p99", "p999", "longest", "sections")] == \
        [100, 400, 400, 900, 10000]
    assert lock["mean"] == pytest.approx(106.05)
    assert lock["histogram"][0] == [100, 9800]
    none = lockholds.figures({})
    assert none["sections"] == 0 and none["longest"] is None and none["mean"] is None
    with pytest.raises(lockholds.HoldsError, match="k2: none of its locks"):
        lockholds.cell("k2", 10, 1, {**found()[2], "lock": {}}, SYMBOLS)


def guest():
    made = lockholds.Guest()
    for text in ("cost: begin k2", "cost: waiting k2 5", "cost: waiting k2 1100",
                 "cost: waiting k2 9", "cost: mark k2 long 5000 2", "cost: done k2",
                 "cost: mark bfq long 1 4", "cost: missing acfq no scheduler acfq", "noise",
                 "cost: end "):
        made.line(text)
    return made


def test_the_guest():
    made = guest()
    assert made.done and made.trouble == ["acfq: no scheduler acfq"]
    k2, bfq = made.cells(COUNTS.splitlines(True), symbols)
    assert k2["longest_functions"] == [["fair_select", 500], ["fair_sort", 400]]
    assert (k2["waiting"], k2["ios"], k2["lock"]["longest"]) == (1100, 5000, 900)
    assert bfq["cli"]["longest"] == 12
    for bad in ("mark k2 short 1 2", "waiting k2 x"):
        with pytest.raises(lockholds.HoldsError, match="the guest says"):
            made.line("cost: " + bad)
    with pytest.raises(lockholds.HoldsError, match="no counts of mark"):
        list(made.cells(["mark 8\n"], symbols))


def test_claims_are_of_ours():
    cells = list(guest().cells(COUNTS.splitlines(True), symbols))
    assert [kept for _, kept in lockholds.verdicts(cells)] == [True, True]
    cells[1]["scheduler"] = "hbfq"
    assert [kept for _, kept in lockholds.verdicts(cells)] == [True, True, False, False]


def test_result(tmp_path, capsys):
    args = lockholds.parse(["--out", str(tmp_path / "x")])
    cells = list(guest().cells(COUNTS.splitlines(True), symbols))
    assert lockholds.conclude(args, cells, []) == 0
    said = capsys.readouterr().out
    assert "longest hold of k2: fair_select 500, fair_sort 400\n" in said
    rows = [line.split() for line in said.splitlines()]
    assert rows[2] == ["k2", "1100", "2.00", "100", "400", "400", "900", "5000", "0", "0", "30"]
    made = json.loads((tmp_path / "x").read_text())
    assert made["kind"] == "lock-holds" and made["cells"][0]["wall"]["longest"] == 5000
    assert lockholds.conclude(args, cells, ["x"]) == 1
    assert lockholds.conclude(args, [], []) == 1
    cells[0]["waiting"] = 1023
    capsys.readouterr()
    assert lockholds.conclude(args, cells, []) == 1
    assert "trouble: k2: at most 1023 requests waited, want 1024" in capsys.readouterr().out


@pytest.mark.parametrize("argv,words", [
    (["--waiting", "1401"], ["'1401'", "1 to 1400"]),
    (["--tenants", "0"], ["'0'", "1 to 256"]), (["--ios", "10"], ["'10'", "1000 to 1000000"]),
    (["--seed", "0"], ["'0'", "1 to 2147483648"]),
    (["--schedulers", "none"], ["'none'", "mq-deadline,kyber,bfq,acfq"]),
    (["--kernel", "5.1"], ["'5.1'", "6.12"]), (["--out", "/no/such/x"], ["'/no/such/x'"]),
])
def test_bad_options(argv, words, capsys):
    with pytest.raises(SystemExit) as ending:
        lockholds.parse(argv)
    said = capsys.readouterr().err
    assert ending.value.code == 2 and said.count("\n") == 1
    assert said.startswith("lock-holds: ") and all(word in said for word in words)


def test_words_of_the_guest_are_known_to_the_plugin(tmp_path):
    """Each word is an instruction of a separate function, and in both programs."""
    lockholds.costprofile.build(tmp_path)
    program = tmp_path / "files" / "profile-mark"
    text = subprocess.run(["objdump", "-d", program], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    plugin = (REPO / "scripts" / "lib" / "profile-plugin.c").read_text("utf-8")
    for word, code in re.findall(r'\[(\w+)\] = "((?:\\x\w\w){3})"', plugin):
        shown = code[2:].replace("\\x", " ")
        assert re.search(rf"<say_{word.lower()}>:\n\s*\w+:\s+{shown}\s.*\n\s*\w+:\s+c3", text)
        assert text.count(shown) == 1
    done = subprocess.run([program, "ffffffff81000000", "1"], check=False, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
