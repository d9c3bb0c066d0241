# SPDX-License-Identifier: GPL-2.0
"""scripts/check: what it would run and how it counts, without running it."""

import dataclasses
import importlib
import json
import pathlib
import re
import sys
import threading
import time

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

check = importlib.import_module("check")
checkcases = importlib.import_module("checkcases")
checkvm = importlib.import_module("checkvm")
kernel = importlib.import_module("kernel")
matrix = importlib.import_module("matrix")
options = importlib.import_module("options")
earlier = importlib.import_module("earlier")
schedulers = importlib.import_module("schedulers")
sources = importlib.import_module("sources")

FIVE = ("a", "b", "c", "d", "k2")


@pytest.fixture(name="cases")
def some_cases(tmp_path, monkeypatch):
    """A folder of cases, and kernels that do not depend on the checkout."""
    for name, head in (
            ("010-plain", ""), ("020-core", "# core: yes\n# takes: 30 s\n"),
            ("030-k2-own", "# core: yes\n"), ("040-slow", "# fast: no\n"),
            ("050-both", "# machines: default wide\n"),
            ("060-lab", "# once: tests the lab\n# takes: 40 s\n")):
        (tmp_path / f"{name}.sh").write_text(
            f"# SPDX-License-Identifier: GPL-2.0\n{head}true\n")
    for module in (check, checkcases):
        monkeypatch.setattr(module, "CASES", tmp_path)
    series = {name: kernel.SERIES.get(name, kernel.SERIES["6.1"])
              for name in ("6.1", "6.12", "rt", "debug")}
    monkeypatch.setattr(kernel, "SERIES", series)


def legs(*argv):
    """{series: leg} of a command line."""
    return {leg.series: leg for leg in check.parse(list(argv)).legs}


def names(leg):
    """Names of a leg's cases."""
    return [case.name for case in leg.cases]


ALL = ["010-plain", "020-core", "030-k2-own", "040-slow", "050-both",
       "060-lab"]
CORE = ["020-core", "030-k2-own"]


def test_core_of_fast_and_slow_kernels(cases, monkeypatch, tmp_path):
    (tmp_path / "021-fast.sh").write_text("# core: fast\n")
    (tmp_path / "022-slow.sh").write_text("# core: slow\n")
    found = legs()
    assert names(found["6.1"]) == ["020-core", "021-fast", "030-k2-own"]
    assert names(found["debug"]) == ["020-core", "022-slow", "030-k2-own"]


def test_default(cases):
    found = legs()
    assert list(found) == ["6.12", "6.1", "debug"]
    assert names(found["6.12"]) == ALL
    assert names(found["6.1"]) == names(found["debug"]) == CORE
    assert [leg.build for leg in found.values()] == [True, True, False]
    assert [leg.which for leg in found.values()] == ["all", "core", "core"]


def test_default_without_a_debug_kernel(cases, monkeypatch):
    monkeypatch.delitem(kernel.SERIES, "debug")
    assert list(legs()) == ["6.12", "6.1"]


def test_all(cases):
    found = legs("--all")
    assert list(found) == ["6.1", "6.12", "rt", "debug"]
    assert all(names(leg) == ALL and leg.build for leg in found.values())


def test_all_takes_the_core_where_that_is_enough(cases, monkeypatch):
    monkeypatch.setitem(kernel.SERIES, "rt", dataclasses.replace(
        kernel.SERIES["rt"], core_only=True))
    found = legs("--all")
    assert names(found["rt"]) == CORE and found["rt"].which == "core"
    assert names(legs("--kernel", "rt")["rt"]) == ALL


def test_choices(cases):
    assert {s: names(leg) for s, leg in legs("--kernel", "rt").items()} == {
        "rt": ALL}
    assert {s: names(leg) for s, leg in legs("--case", "core").items()} == {
        "6.1": ["020-core"], "6.12": ["020-core"]}
    found = legs("--case", "core", "--case", "040-slow", "--kernel", "debug")
    assert names(found["debug"]) == ["020-core", "040-slow"]
    assert not found["debug"].build
    assert "040-slow" not in names(legs("--fast")["6.12"])
    assert names(legs("--core", "--kernel", "rt")["rt"]) == CORE


@pytest.mark.parametrize("argv,word", [
    (["--all", "--core"], "--core"), (["--all", "--kernel", "6.1"], "--all"),
    (["--case", "nothing"], "'nothing'"), (["--kernel", "5.0"], "'5.0'")])
def test_refusals(cases, capsys, argv, word):
    with pytest.raises(SystemExit) as error:
        check.parse(argv)
    said = capsys.readouterr().err
    assert error.value.code == 2 and said.count("\n") == 1 and word in said


def test_machines_and_time(cases):
    leg = legs("--kernel", "6.1")["6.1"]
    assert leg.machines(FIVE) == {"default": ALL, "wide": ["050-both"]}
    boots = 2 * checkcases.SECONDS["boot"] + checkcases.SECONDS["build"]
    # For each: 8, 30, 8 and twice 8; k2's own and the lab's once.
    assert leg.seconds(["k2"]) == boots + 62 + 8 + 40
    assert leg.seconds(FIVE) == boots + 5 * 62 + 8 + 40


def test_a_slow_kernel_takes_longer(cases):
    (check.CASES / "070-says-so.sh").write_text("# takes: 8 s, 99 s if slow\n")

    def leg(case, series):
        return legs("--case", case, "--kernel", series)[series]
    usual, slow = leg("010-plain", "rt"), leg("010-plain", "debug")
    assert slow.seconds(FIVE) == checkcases.PACE * usual.seconds(FIVE)
    assert slow.limit(FIVE) > 2 * usual.limit(FIVE)
    assert leg("070-says-so", "rt").seconds(FIVE) == usual.seconds(FIVE)
    assert leg("070-says-so", "debug").seconds(FIVE) == 5 * 99 + \
        checkcases.PACE * checkcases.SECONDS["boot"]


def test_estimate_counts_what_is_not_here_yet(cases):
    args = check.parse([])
    here = check.estimate(args, FIVE, lambda series: True)
    away = check.estimate(args, FIVE, lambda series: False)
    assert away - here >= 3 * checkcases.SECONDS["fetch"]


def test_listing(cases, capsys):
    check.listing(check.parse(["--all"]))
    lines = capsys.readouterr().out.split("\n")
    assert "rt crash" in lines and "6.1 wide 050-both" in lines
    check.listing(check.parse([]))
    assert "6.1 crash" not in capsys.readouterr().out


def test_dealing(cases, monkeypatch, capsys):
    monkeypatch.setattr(schedulers, "in_source", lambda repo: list(FIVE))
    args = check.parse([])
    whole = check.estimate(args, FIVE, lambda series: False)
    assert not any(leg.dealt for leg in args.legs)
    monkeypatch.setattr(check, "BUDGET", whole - 1)
    for argv in (["--all"], ["--core"], ["--kernel", "6.1"]):
        assert not any(leg.dealt for leg in check.parse(argv).legs)
    args = check.parse([])
    assert check.estimate(args, FIVE, lambda series: False) < whole
    first, second, slow = args.legs
    assert first.machines(FIVE) == {
        "default": ["010-plain.a", "020-core", "030-k2-own", "040-slow.b",
                    "050-both.c", "060-lab"], "wide": ["050-both.c"]}
    for leg in (second, slow):
        assert leg.machines(FIVE) == {"default": ["020-core.a", "030-k2-own"]}
    (check.CASES / "035-k2-more.sh").write_text("# takes: 8 s\n")
    (check.CASES / "037-fast.sh").write_text("# core: fast\n")
    found = {}
    for budget in range(2 * whole, 0, -5):
        monkeypatch.setattr(check, "BUDGET", budget)
        args = check.parse([])
        found.setdefault(args.legs[0].dealt, args)
    assert sorted(found) == [0, 1, 2, 3, 4, 5, 6]
    assert found[2].legs[0].machines(FIVE)["default"][:3] == [
        "010-plain.a", "020-core.b", "030-k2-own"]
    # The cases of one scheduler run last: on the other kernels, then those of
    # its cases that are not of the core.
    own = {dealt: ["030-k2-own" in leg.machines(FIVE).get("default", ())
                   for leg in args.legs] for dealt, args in found.items()}
    assert own[2] == [True, True, True] and own[3] == [True, False, False]
    assert "035-k2-more" in found[3].legs[0].machines(FIVE)["default"]
    assert own[4] == [True, False, False]
    assert "035-k2-more" not in found[4].legs[0].machines(FIVE)["default"]
    check.announce(found[4])
    said = capsys.readouterr().out
    assert "cases of one scheduler only on 6.12, and only of the core" in said
    assert "is left out" not in said
    # Last, what the debug kernel runs anyway.
    _, old, slow = found[4].legs
    assert names(old) == ["020-core", "037-fast"] and names(slow) == ["020-core"]
    _, old, slow = found[5].legs
    assert names(old) == ["037-fast"] and names(slow) == ["020-core"]
    check.announce(found[5])
    said = capsys.readouterr().out
    assert "what the debug kernel runs is left out on 6.1" in said
    assert "take longest" not in said
    # And what takes longest.
    assert "040-slow" in names(found[5].legs[0])
    assert "040-slow" not in names(found[6].legs[0])
    check.announce(found[6])
    assert "and the cases that take longest everywhere" in \
        capsys.readouterr().out
    monkeypatch.delitem(kernel.SERIES, "debug")
    assert names(check.parse([]).legs[1]) == ["020-core", "037-fast"]


def test_dealing_that_was_asked_for(cases, monkeypatch, capsys):
    monkeypatch.setattr(schedulers, "in_source", lambda repo: list(FIVE))
    args = check.parse(["--kernel", "rt", "--deal"])
    assert args.legs[0].machines(FIVE) == {
        "default": ["010-plain.a", "020-core.b", "030-k2-own", "040-slow.c",
                    "050-both.d", "060-lab"], "wide": ["050-both.d"]}
    check.announce(args)
    said = capsys.readouterr().out
    assert "one scheduler each, in turn\n" in said and "hour" not in said
    with pytest.raises(SystemExit):
        check.parse(["--deal", "--scheduler", "a"])
    assert "cannot be had with --scheduler" in capsys.readouterr().err


def test_kernels_that_are_built_share_their_source(monkeypatch, capsys):
    monkeypatch.setattr(schedulers, "in_source", lambda repo: ["k2"])
    def announced(*argv):
        check.announce(check.parse(argv))
        return re.search(r"([\d.]+) GB in the cache \((\d+) MB to download",
                         capsys.readouterr().out).groups()
    assert announced("--kernel", "debug") == ("0.4", "149")
    assert announced("--kernel", "debug", "--kernel", "kcsan") == ("0.5", "149")


def test_only_these_schedulers(cases, monkeypatch, capsys):
    monkeypatch.setattr(schedulers, "in_source", lambda repo: ["k2", "piq"])
    leg = legs("--kernel", "6.1", "--scheduler", "piq")["6.1"]
    assert leg.machines(["piq"]) == {
        "default": ["010-plain.piq", "020-core.piq", "040-slow.piq",
                    "050-both.piq"], "wide": ["050-both.piq"]}
    leg = legs("--case", "k2-own", "--case", "plain", "--scheduler", "k2")
    assert leg["6.1"].machines(["k2"])["default"] == [
        "010-plain.k2", "030-k2-own"]
    with pytest.raises(SystemExit):
        check.parse(["--scheduler", "bfq"])
    assert "'bfq', want one of k2, piq" in capsys.readouterr().err


def test_cases_of_a_scheduler_that_is_not_built(tmp_path, monkeypatch):
    (tmp_path / "010-plain.sh").write_text("# SPDX\n")
    (tmp_path / "020-k9-own.sh").write_text("# SPDX\n# for: k9\n")
    for module in (check, checkcases):
        monkeypatch.setattr(module, "CASES", tmp_path)
    for there, names in ((["k2"], ["010-plain"]),
                         (["k2", "k9"], ["010-plain", "020-k9-own"])):
        monkeypatch.setattr(schedulers, "in_source", lambda repo: there)
        cases = checkcases.all_cases()
        assert [case.name for case in cases] == names
    assert cases[1].single(["k9"])


def test_make_check_takes_an_hour_at_most():
    # Cold, on two cores: CI gives the whole of it 90 minutes.
    own = schedulers.in_source(REPO)
    for count in range(len(own), max(6, len(own) + 1)):
        args = check.parse([])
        names = [*own, "b", "c", "d", "e"][:count]
        check.deal(args, names)
        assert check.estimate(args, names, lambda series: False) <= 3600


def test_two_works_at_the_same_time(capsys):
    suite, meet = check.Suite(), threading.Barrier(2, timeout=20)

    def work(suite, name):
        meet.wait()
        suite.note("pass", name)
    suite.together((work, "one"), (work, "other"))
    assert suite.count == {"pass": 2, "fail": 0, "skip": 0}

    def long(suite, seconds):
        meet.wait()
        status, _ = suite.run(["sleep", seconds])
        suite.note("fail", "long", f"status {status}")

    def interrupted(suite, number):
        meet.wait()
        while not suite.children:
            time.sleep(0.01)
        raise options.Interrupted(number)

    def late(suite, seconds):
        # A stopped suite starts no child.
        while not suite.stopped:
            time.sleep(0.01)
        suite.run(["sleep", seconds])
    with pytest.raises(options.Interrupted):
        suite.together((interrupted, 15), (long, "60"), (late, "61"))
    # A killed child is not a failure.
    assert suite.count["fail"] == 0 and not suite.children
    assert "long" not in capsys.readouterr().out


def test_retries_are_counted():
    suite = check.Suite()
    suite.look_for_retries("vm: boot died\nvm: retry 1 of 2\n"
                           "vm: boots retried: 1\nelse: 7\n")
    suite.look_for_retries("vm: gave up after 2 retries\n")
    suite.look_for_retries("boots retried: 3\nboots retried: none\n")
    assert suite.retried == 6


def rows(suite, text, status=0, **more):
    """check_rows with a script that prints this."""
    check.check_rows(suite, "x", ["sh", "-c", f"cat <<'END'\n{text}\nEND\n"
                                  f"exit {status}"], **more)
    return suite.count


def test_rows_of_a_script_are_counted(capsys):
    told = []
    suite = check.Suite()
    count = rows(suite, "hello\nok   one: fine\nFAIL two: not so\n"
                 "     | why\nskip three\nvm: boots retried: 1", 1,
                 on_row=lambda verdict, text: told.append((verdict, text)))
    assert count == {"pass": 1, "fail": 1, "skip": 1}
    assert suite.failures == ["x two: not so"] and suite.retried == 1
    assert told == [("pass", "one: fine"), ("fail", "two: not so"),
                    ("skip", "three")]
    out = capsys.readouterr().out
    assert "     | why" in out and "hello" not in out


def test_a_script_that_breaks_off_has_failed():
    assert rows(check.Suite(), "ok   one", 1)["fail"] == 1
    assert rows(check.Suite(), "nothing of use")["fail"] == 1
    assert rows(check.Suite(), "no such kernel", 77) == {
        "pass": 0, "fail": 0, "skip": 1}


MUTANTS = """\
mutants: 4 mutants
[1/4] caught  one: case 010 on 6.1: says no (9 s)
[2/4] MISSED  two: case 010 on 6.1: passes (9 s)
[3/4] skipped three: no kernel (0 s)
"""


def mutants(monkeypatch, tmp_path, text, status, resume=False):
    """Counts of a scripts/mutants that prints this."""
    script = tmp_path / "mutants"
    script.write_text(f"#!/bin/sh\necho \"$@\" >'{tmp_path}/options'\n"
                      f"cat <<'END'\n{text}END\nexit {status}\n")
    script.chmod(0o755)
    monkeypatch.setattr(check, "mutants", lambda: script)
    suite = check.Suite(resume)
    check.check_mutants(suite)
    return list(suite.count.values())


def test_mutants_are_counted(monkeypatch, tmp_path):
    count = lambda *args: mutants(monkeypatch, tmp_path, *args)
    assert count(MUTANTS, 1) == [1, 1, 1]
    assert count("mutants: 9 were caught before, with\n", 0) == [1, 0, 0]
    assert (tmp_path / "options").read_text() == "\n"
    # Some were caught before, and it broke off behind them.
    assert count("mutants: 9 were caught before, with\n", 1, True) == [1, 1, 0]
    assert (tmp_path / "options").read_text() == "--resume\n"
    assert count("mutants: no room\n", 1) == [0, 1, 0]
    assert count("", 0) == [0, 1, 0]


@pytest.fixture(name="steps")
def recorded_steps(monkeypatch):
    """The steps of scripts/check, by name, as they would have been made."""
    ready = {"release": "r", "kdir": "k", "btf": "b"}
    monkeypatch.setattr(kernel.Store, "get", lambda self, name: ready)
    done = []
    for name in [name for name in vars(check) if name.startswith("check_")]:
        monkeypatch.setattr(check, name,
                            lambda *_, name=name: done.append(name))
    return done


def test_a_core_without_cases_is_a_failure(cases, steps, tmp_path):
    for name in CORE:
        (tmp_path / f"{name}.sh").unlink()
    suite = check.Suite()
    check.everything(suite, check.parse([]))
    assert suite.count["fail"] == 2
    assert "core" in suite.failures[0]
    assert "check_stages" in steps


def test_host_tests_find_the_modules_that_are_built(cases, steps):
    check.everything(check.Suite(), check.parse([]))
    host = steps.index("check_host")
    assert "check_build" in steps[:host] and "check_build" not in steps[host:]


def test_host_tests_end_when_a_worker_dies(tmp_path, monkeypatch):
    """And what it died in is a failure."""
    folder = tmp_path / "tests/host"
    folder.mkdir(parents=True)
    for name in "abcd":
        (folder / f"test_{name}.py").write_text(
            "import os, signal\nimport pytest\n\n\n"
            "@pytest.mark.parametrize('n', range(5))\ndef test_it(n):\n"
            f"    if {name!r} == 'b' and n == 2:\n"
            "        os.kill(os.getpid(), signal.SIGKILL)\n")
    monkeypatch.setattr(check, "REPO", tmp_path)
    monkeypatch.setattr(check.os, "cpu_count", lambda: 2)
    suite = check.Suite()
    end = threading.Timer(60, suite.stop)
    end.start()
    check.check_host(suite)
    assert end.is_alive()
    end.cancel()
    assert suite.count["fail"] == 1
    assert "crashed while running 'tests/host/test_b.py::test_it[2]'" in suite.failures[0]


def test_kernels_that_cannot_be_had_are_skipped(cases, monkeypatch):
    def get(_, name):
        if name == "rt":
            raise kernel.Unavailable("nobody has it")
        if name == "debug":
            raise kernel.Broken("no room")
        return {"release": name}
    monkeypatch.setattr(kernel.Store, "get", get)
    suite = check.Suite()
    ready = check.kernels(suite, check.parse(["--all"]))
    assert list(ready) == ["6.1", "6.12"]
    assert suite.count == {"pass": 0, "fail": 1, "skip": 1}
    assert suite.matrix.series["rt"] == {"absent": "nobody has it"}
    args = check.parse([])
    for leg in args.legs:
        assert leg.which in ("all", "core")
        leg.dealt = 1
    monkeypatch.setattr(kernel.Store, "get", lambda _, name: {"release": name})
    check.kernels(suite, args)
    assert suite.matrix.series["6.12"]["cases"] == "all, dealt"
    assert suite.matrix.series["6.1"]["cases"] == "core, dealt"


GUEST = """\
CASES 010-a.k2 020-b.k2 030-c.x 040-d.x
CASE 010-a.k2 PASS 3
CASE 020-b.k2 FAIL 4 because
CASE 030-c.x SKIP 0 no such thing
"""


def test_a_guest_that_dies(cases, tmp_path, monkeypatch):
    for module in (check, checkvm):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    for name in ("010-a", "020-b", "030-c"):
        (tmp_path / f"{name}.sh").write_text("")
    script = tmp_path / "scripts" / "vm"
    script.parent.mkdir()
    script.write_text(f"#!/bin/sh\ncat <<'END'\n{GUEST}END\n"
                      "echo 'vm: boots retried: 1' >&2\nexit 125\n")
    script.chmod(0o755)
    for module in (check, checkvm):
        monkeypatch.setattr(module, "REPO", tmp_path)
    suite = check.Suite()
    suite.matrix.begin("6.1", "all", "r")
    suite.earlier.begin("6.1", "r")
    left = checkvm.boot(suite, "6.1", "default", ["010-a"], 1, 100)
    assert left == [] and suite.retried == 1
    assert suite.count == {"pass": 1, "fail": 2, "skip": 1}
    assert suite.matrix.series["6.1"]["schedulers"] == {
        "k2": {"passed": 1, "failed": 1, "skipped": 0, "seconds": 7},
        "x": {"passed": 0, "failed": 1, "skipped": 1, "seconds": 0}}
    # The next guest's files do not replace this one's.
    checkvm.boot(suite, "6.1", "default", ["010-a"], 2, 100)
    assert {p.name for p in tmp_path.glob("vm-*")} == {
        "vm-6.1-default-1", "vm-6.1-default-2"}


@pytest.mark.parametrize("status, known", [(0, True), (125, False),
                                           (7, False)])
def test_a_guest_in_trouble_proves_nothing(cases, tmp_path, monkeypatch,
                                           status, known):
    for module in (check, checkvm):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    (tmp_path / "010-a.sh").write_text("")
    script = tmp_path / "scripts" / "vm"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho CASES 010-a.k2\n"
                      f"echo CASE 010-a.k2 PASS 3\nexit {status}\n")
    script.chmod(0o755)
    for module in (check, checkvm):
        monkeypatch.setattr(module, "REPO", tmp_path)
    suite = check.Suite(resume=True)
    suite.matrix.begin("6.1", "all", "r")
    suite.earlier.begin("6.1", "r")
    checkvm.boot(suite, "6.1", "wide", ["010-a"], 1, 100)
    assert bool(suite.earlier.done("6.1", "wide", "010-a")) == known
    assert suite.count["fail"] == (not known)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "REPO", tmp_path)
    for name in ("tests/vm/010-a.sh", "tests/vm/020-b.sh", "common/x.c"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("as it was")

    def again(resume=True):
        store = earlier.Earlier(tmp_path / "build/earlier.json",
                                tmp_path / "tests/vm", resume)
        store.begin("6.1", "r")
        return store
    store = again()
    store.plan("6.1", "default", ["010-a", "020-b.k2"],
               ["010-a.k2", "010-a.piq", "020-b.k2"])
    return store, again, tmp_path


def test_what_passed_earlier(project):
    store, again, _ = project
    store.add("6.1", "default", "010-a.k2", "pass", 3)
    # Not all of it, so far.
    assert again().done("6.1", "default", "010-a") == []
    store.add("6.1", "default", "010-a.piq", "skip", 0, "no such thing")
    store.add("6.1", "default", "020-b.k2", "fail", 5)
    assert again().done("6.1", "default", "010-a") == [
        ("010-a.k2", "pass", 3, ""), ("010-a.piq", "skip", 0, "no such thing")]
    assert again().done("6.1", "default", "020-b.k2") == []
    assert again().done("6.1", "default", "030-c") == []
    assert again().done("6.1", "scsi", "010-a") == []
    # Other runs keep it.
    other = again(False)
    assert other.done("6.1", "default", "010-a") == []
    other.add("6.1", "default", "020-b.k2", "pass", 5)
    assert again().done("6.1", "default", "010-a")


@pytest.mark.parametrize("change", ["tests/vm/010-a.sh", "common/x.c",
                                    "release", "guest", "drop"])
def test_what_passed_earlier_is_tried_again(project, change):
    store, again, top = project
    for case in ("010-a.k2", "010-a.piq"):
        store.add("6.1", "default", case, "pass", 3)
    (top / "tests/vm/020-b.sh").write_text("changed")
    assert again().done("6.1", "default", "010-a")
    if "/" in change:
        (top / change).write_text("changed")
    elif change == "release":
        store.begin("6.1", "another")
        store.add("6.1", "default", "020-b.k2", "pass", 3)
    elif change == "guest":
        # It may have died since, or have failed the case.
        store.plan("6.1", "default", ["010-a"], ["010-a.k2", "010-a.piq"])
        store.add("6.1", "default", "010-a.k2", "pass", 3)
        store.add("6.1", "default", "010-a.piq", "fail", 3)
    else:
        store.drop("6.1", "default", ["010-a.k2"])
    assert again().done("6.1", "default", "010-a") == []


def test_resumed_cases_count(project, monkeypatch, tmp_path):
    store, again, _ = project
    store.add("6.1", "default", "020-b.k2", "pass", 3)
    booted = []
    monkeypatch.setattr(checkvm, "boot", lambda *args: booted.append(args[3]))
    for module in (check, checkvm):
        monkeypatch.setattr(module, "RESULTS", tmp_path / "none")
    suite = check.Suite()
    suite.earlier = again()
    suite.matrix.begin("6.1", "all", "r")
    leg = checkcases.Leg("6.1", [], "all")
    checkvm.check_vm(suite, leg, "default", ["010-a", "020-b.k2"], 9)
    assert booted == [["010-a"]] and suite.count["pass"] == 1
    assert suite.matrix.series["6.1"]["schedulers"]["k2"]["seconds"] == 3
    checkvm.check_vm(suite, leg, "default", ["020-b.k2"], 9)
    assert booted == [["010-a"]] and suite.count["pass"] == 2


def test_what_tries_mutants_is_aside_of_cases():
    aside = earlier._ASIDE.fullmatch  # pylint: disable=protected-access
    for name in ("scripts/mutants", "scripts/lib/mutants.py",
                 "scripts/lib/mutantlab.py", "scripts/lib/mutantlist.py"):
        assert aside(name)
    assert not aside("scripts/lib/vm.py") and not aside("tests/vm/run")


def test_matrix(tmp_path, capsys):
    path = tmp_path / "matrix.json"
    assert matrix.show(path, ["6.1"]) == 1
    first = matrix.Matrix()
    first.begin("6.1", "all", "6.1.0-1")
    first.begin("rt", "all", "6.1.0-1-rt")
    for verdict in ("pass", "pass", "fail", "skip"):
        first.add("6.1", "k2", verdict, 5)
    first.add("rt", "k2", "pass", 9)
    first.add("rt", matrix.MACHINE, "fail")
    first.save(path, "abc")
    second = matrix.Matrix()
    second.begin("6.12", "core", "6.12.1")
    second.add("6.12", "k2", "pass", 2)
    second.absent("rt", "no network")
    second.absent("7.3", "no network")
    second.save(path, "def")
    found = json.loads(path.read_text())["series"]
    assert found["rt"]["commit"] == "abc" and "absent" in found["7.3"]
    capsys.readouterr()
    assert matrix.show(path, ["6.1", "6.12", "7.3", "rt", "debug"]) == 0
    out = capsys.readouterr().out
    assert "| scheduler | 6.1 | 6.12 (core) | 7.3 | rt | debug |" in out
    assert "| k2 | 2 / 1 / 1, 20 s | 1 / 0 / 0, 2 s | not to be had | " \
        "1 / 0 / 0, 9 s | not run |" in out
    assert "| (machine) | - | - | not to be had | 0 / 1 / 0, 0 s | not run |" \
        in out
    assert "6.12: 6.12.1, " in out and "def" in out


def test_schedulers_are_found_in_the_source(tmp_path, monkeypatch):
    monkeypatch.delenv("EXPERIMENTAL", raising=False)
    for name, text in (("k9", 'MODULE_ALIAS("k9-iosched");'),
                       ("fifo", 'MODULE_ALIAS("fifo-iosched");'),
                       ("common", "int x;")):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.c").write_text(text + "\n")
    assert schedulers.in_source(tmp_path) == ["k9"]
    (tmp_path / "k9" / "experimental").touch()
    assert schedulers.in_source(tmp_path) == []
    monkeypatch.setenv("EXPERIMENTAL", "0")
    assert schedulers.in_source(tmp_path) == []
    usual = sources.key(lambda name: True)
    monkeypatch.setenv("EXPERIMENTAL", "1")
    assert schedulers.in_source(tmp_path) == ["k9"]
    assert sources.key(lambda name: True) != usual
    assert "k2" in schedulers.in_source(REPO)
    assert schedulers.of_aliases("mq-deadline-iosched\nfifo-iosched\npci:1\n") \
        == ["mq-deadline"]


def test_every_kernel_is_explained():
    text = (REPO / "docs" / "kernels.md").read_text(encoding="utf-8")
    for series in kernel.SERIES:
        assert f"\n| `{series}` |" in text, series


def test_sparse_is_left_out_where_it_cannot_read_the_headers(monkeypatch):
    monkeypatch.setattr(check, "scratch_tree", lambda series: "tree")
    made = []
    monkeypatch.setattr(check.Suite, "run", lambda self, words, *_, **__:
                        (made.append(words), (0, ""))[1])
    monkeypatch.setattr(check.shutil, "which", lambda name: "/bin/true")
    for able in (True, False):
        monkeypatch.setitem(kernel.SERIES, "6.12", dataclasses.replace(
            kernel.SERIES["6.12"], sparse=able))
        made.clear()
        suite = check.Suite()
        check.check_build(suite, "6.12", {"kdir": "k", "release": "r", "btf": "b",
                                          "make": "", "tools": ""})
        assert any("C=2" in words for words in made) == able
        assert bool(suite.count["skip"]) == (not able)
