# SPDX-License-Identifier: GPL-2.0
"""scripts/bench-all: order, resuming, what is kept."""

import importlib
import json
import os
import pathlib
import signal
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

benchall = importlib.import_module("benchall")
options = importlib.import_module("options")

COMMIT = "0123456789ab"


@pytest.fixture(name="lab")
def fake_lab(tmp_path, monkeypatch):
    """A machine on which nothing is measured; what would have been run."""
    class Lab:
        """Pretends to run commands; a word of a command selects its exit status."""
        commands, status = [], {}

    def run(words):
        Lab.commands.append(words)
        return next((status for word, status in Lab.status.items()
                     if word in words), 0)
    Lab.commands, Lab.status = [], {}
    monkeypatch.setattr(benchall, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(benchall, "REPO", tmp_path)
    monkeypatch.setattr(benchall, "run", run)
    monkeypatch.setattr(benchall, "seconds", lambda *_: 60)
    monkeypatch.setattr(options, "commit", lambda: COMMIT)
    # pytest keeps its own.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return Lab


def parts_of(lab):
    """The parts that were begun, in order."""
    found = []
    for words in lab.commands:
        if words[0] == "scripts/bench":
            found.append(words[1] if words[1] != "--resume" else
                         "again " + pathlib.Path(words[2]).name)
        elif words[0] in ("scripts/bench-cost", "scripts/locks"):
            found.append(words[0].rpartition("-")[2].rpartition("/")[2])
    return found


def test_all_parts_in_order(lab, capsys):
    """The estimate is printed before any of them, and the pages are made after them."""
    assert benchall.main(["--form", "full"]) == 0
    assert parts_of(lab) == list(benchall.PARTS)
    said = capsys.readouterr().out
    assert said.index("about 12 min") < said.index("part 1 of 12")
    assert [words[0] for words in lab.commands[len(benchall.PARTS):]] == [
        *(f"scripts/{name}" for name in benchall.PAGES), "scripts/report"]
    assert all("full" in words for words in lab.commands[:10])
    assert {words[0].rpartition("/")[2] for words in lab.commands
            if words[-1].endswith("/cost") and "--out" not in words} == set(
                benchall.WITH_COST)
    assert "publish-results" in said


def test_locks_have_a_short_form(lab):
    """The estimate of bench-all counts on it."""
    for form, ios in (("short", ["--ios", "1000"]), ("full", [])):
        lab.commands.clear()
        assert benchall.main(["--new", "--form", form, "--parts", "locks"]) == 0
        assert lab.commands[0][:-2] == ["scripts/locks", *ios]


def test_some_in_full(lab, tmp_path, capsys):
    """Each suite has its form; the run says how it is made again."""
    argv = ["--full", "piq,k2", "--parts", "k2,piq,share"]
    lab.status = {"share": 130}
    assert benchall.main(argv) == 130
    forms = {words[1]: words[3] for words in lab.commands}
    assert forms == {"k2": "full", "piq": "full", "share": "short"}
    assert "make bench-all FORM=short FULL=k2,piq" in capsys.readouterr().out
    lab.status = {}
    lab.commands.clear()
    assert benchall.main(argv) == 0
    assert parts_of(lab) == ["share"]
    assert len(list((tmp_path / "results").iterdir())) == 1


def test_the_list_of_parts_is_all_there_is():
    """Each suite except smoke has a part, its forms and a page; not piq-pieces either,
    whose traces the project does not have.
    """
    suites = {path.stem for path in (REPO / "tests/suites").glob("*.suite")}
    assert set(benchall.SUITES) == suites - {"smoke", "piq-pieces"}
    for name in suites - {"smoke"}:
        assert set(benchall.FORMS) <= set(benchall.suiteplan.load(name).forms)
    assert {name for pair in benchall.PAGES.values() for name in pair} == \
        set(benchall.SUITES)


def test_estimates_of_the_real_parts(monkeypatch, tmp_path):
    """Each says something, and less when runs are there."""
    for name in ("k2", "cost", "locks"):
        assert benchall.seconds(name, tmp_path, "short") > 30
    whole = benchall.seconds("k2", tmp_path, "short")
    run = benchall.suiteplan.runs(benchall.suiteplan.load("k2"), "short")[0]
    (tmp_path / "x.json").write_text(json.dumps(
        {"kind": "suite", "id": run["id"]}))
    assert benchall.seconds("k2", tmp_path, "short") < whole


@pytest.mark.parametrize("status, want", [(130, 130), (143, 143), (-15, 143),
                                          (2, 1), (124, 1)])
def test_a_part_that_does_not_end_is_made_again(lab, tmp_path, status, want):
    """A suite is continued; parts before it are not run again."""
    lab.status = {"piq": status}
    assert benchall.main([]) == want
    assert parts_of(lab) == ["k2", "piq-paper", "piq"]
    folder, = (tmp_path / "results").iterdir()
    (folder / "piq").mkdir()
    (folder / "piq" / "plan").write_text("{}")
    lab.commands.clear()
    lab.status = {}
    assert benchall.main([]) == 0
    assert parts_of(lab) == ["again piq", *benchall.PARTS[3:]]
    assert list((tmp_path / "results").iterdir()) == [folder]


def test_what_cannot_go_on_begins_anew(lab, tmp_path):
    """Half a measurement of cost is none."""
    lab.status = {"scripts/bench-cost": 130}
    assert benchall.main(["--parts", "cost,k2"]) == 130
    folder, = (tmp_path / "results").iterdir()
    (folder / "cost").mkdir()
    (folder / "cost" / "x.json").write_text("{}")
    lab.status = {}
    assert benchall.main(["--parts", "k2,cost"]) == 0
    assert not (folder / "cost").exists()
    assert parts_of(lab) == ["cost", "cost", "k2"]


def test_parts_in_the_order_of_the_user(lab):
    """The named parts, in the order of the user; a part named twice runs once."""
    assert benchall.main(["--parts", "share,cost,k2,share"]) == 0
    assert parts_of(lab) == ["share", "cost", "k2"]


@pytest.mark.parametrize("how", ["commit", "new", "finished", "form", "full",
                                 "parts"])
def test_what_is_begun_anew(lab, tmp_path, monkeypatch, how):
    """Figures of two versions are no result."""
    lab.status = {} if how == "finished" else {"cost": 130,
                                               "scripts/bench-cost": 130}
    benchall.main(["--parts", "k2,cost"])
    if how == "commit":
        monkeypatch.setattr(options, "commit", lambda: "another")
    monkeypatch.setattr(benchall.datetime, "datetime", Later)
    argv = {"new": ["--new"], "form": ["--form", "full"],
            "full": ["--full", "k2"]}.get(how, [])
    lab.commands.clear()
    benchall.main([*argv, "--parts", "k2" if how == "parts" else "k2,cost"])
    assert parts_of(lab)[0] == "k2"
    assert len(list((tmp_path / "results").iterdir())) == 2


class Later(benchall.datetime.datetime):
    """A second on."""

    @classmethod
    def now(cls, tz=None):
        return benchall.datetime.datetime.__base__.now(tz) + \
            benchall.datetime.timedelta(seconds=5)


def test_failures_do_not_stop_it(lab, tmp_path, capsys):
    """Failures are printed, and decide the exit status."""
    lab.status = {"piq": 1, "scripts/locks": 77}
    assert benchall.main([]) == 1
    assert parts_of(lab) == list(benchall.PARTS)
    said = capsys.readouterr().out
    assert "piq: done, with something that failed" in said
    assert "locks: left out" in said
    lab.status = {"scripts/locks": 77}
    assert benchall.main(["--new", "--parts", "k2,locks"]) == 77
    # Without all of its suites a page is not made.
    assert "scripts/k2-results" not in [
        words[0] for words in lab.commands[-2:]]


def test_a_page_that_has_more_stays(lab):
    """Status 3 of a page's script is no failure; any other one is."""
    lab.status = {"scripts/k2-results": 3}
    assert benchall.main(["--parts", "k2,k2-auto,k2-queue"]) == 0
    assert "scripts/k2-results" in [words[0] for words in lab.commands]
    lab.status = {"scripts/k2-results": 1}
    assert benchall.main(["--new", "--parts", "k2,k2-auto,k2-queue"]) == 1


def test_pages_that_were_interrupted(lab, tmp_path, monkeypatch):
    """The run counts as finished only behind them; they change the project."""
    def interrupted(state):
        raise options.Interrupted(signal.SIGINT)
    kept = benchall.pages
    benchall.pages = interrupted
    try:
        assert benchall.main(["--parts", "k2"]) == 130
    finally:
        benchall.pages = kept
    monkeypatch.setattr(options, "commit", lambda: COMMIT + "-dirty")
    assert benchall.main(["--parts", "k2"]) == 0
    assert parts_of(lab) == ["k2"]
    assert len(list((tmp_path / "results").iterdir())) == 1


def test_list_runs_nothing(lab, tmp_path, capsys):
    assert benchall.main(["--list"]) == 0
    assert not lab.commands and not (tmp_path / "results").exists()
    assert "k2-auto: about 1 min" in capsys.readouterr().out


@pytest.mark.parametrize("argv, said", [
    (["--form", "huge"], "'huge': want one or more of short,full"),
    (["--form", "short,full"], "'short,full': want one of short, full"),
    (["--parts", "k3"], "'k3': want one or more of k2,"), (["k2"], "k2")])
def test_bad_options(lab, capsys, argv, said):
    with pytest.raises(SystemExit) as stop:
        benchall.main(argv)
    err = capsys.readouterr().err
    assert stop.value.code == 2 and said in err and err.count("\n") == 1
    assert not lab.commands


def test_a_signal_ends_the_part(tmp_path, monkeypatch):
    """The process that it has started is ended, too."""
    script = tmp_path / "scripts" / "slow"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho $$ >pid\nexec sleep 100\n")
    script.chmod(0o755)
    monkeypatch.setattr(benchall, "REPO", tmp_path)
    monkeypatch.chdir(tmp_path)
    before = {number: signal.getsignal(number) for number in
              (signal.SIGALRM, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def on_signal(number, _):
        raise options.Interrupted(number)
    signal.signal(signal.SIGALRM, on_signal)
    signal.alarm(3)
    try:
        with pytest.raises(options.Interrupted):
            benchall.run(["scripts/slow"])
    finally:
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
