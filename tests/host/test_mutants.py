# SPDX-License-Identifier: GPL-2.0
"""tests/mutants and scripts/mutants, without booting anything."""

import importlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import types

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

checkcases = importlib.import_module("checkcases")
mutantlab = importlib.import_module("mutantlab")
mutantlist = importlib.import_module("mutantlist")
mutants = importlib.import_module("mutants")
options = importlib.import_module("options")
sources = importlib.import_module("sources")

ALL = mutantlist.all_mutants()
EACH = pytest.mark.parametrize("mutant", ALL, ids=[m.name for m in ALL])


# The patches


def test_there_are_enough_and_half_of_them_are_real_bugs():
    # Mutants from 100 on break code that is ours alone and has no history of bugs.
    common = [m for m in ALL if len(m.name.split("-", 1)[0]) == 2]
    assert len(common) >= 20
    real = [m for m in common if m.recreates != "nothing known"]
    assert 2 * len(real) >= len(common)


def test_numbers_are_unique():
    numbers = [m.name.split("-", 1)[0] for m in ALL]
    assert all(re.fullmatch(r"\d{2,3}", n) for n in numbers)
    assert len(set(numbers)) == len(numbers)


@EACH
def test_head_names_a_test_that_there_is(mutant):
    assert mutantlab.exists(mutant.job), mutant.caught_by
    if mutant.room == "vm":
        assert mutant.kernel in ("6.1", "6.12", "7.3", "debug")


@pytest.fixture(name="copy", scope="module")
def _copy(tmp_path_factory):
    tree = mutantlab.Tree(tmp_path_factory.mktemp("copy"))
    tree.sync()
    return tree


@EACH
def test_patch_applies_to_the_code_as_it_is(mutant, copy):
    assert copy.apply(mutant.path) == ""
    copy.sync()


def test_the_page_has_them():
    text = (REPO / "docs/mutants.md").read_text(encoding="utf-8")
    assert text == mutantlist.page(text, ALL), \
        "scripts/mutants --table makes the table anew"


# Heads

HEAD = """SPDX-License-Identifier: GPL-2.0

Broken: something
  or other
Re-creates: nothing known
Caught-by: vm 010-alias
Shows: fail: in brackets is
Shows: hang
Kernel: 6.1

--- a/x
+++ b/x
"""


def head(tmp_path, *changes):
    """The mutant of HEAD with these changes."""
    text = HEAD
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "01-x.patch"
    path.write_text(text)
    return mutantlist.read(path)


def test_head_is_read(tmp_path):
    mutant = head(tmp_path)
    assert mutant.broken == "something or other"
    assert mutant.job == ("vm", "6.1", "010-alias")
    assert mutant.shows == (("fail", "in brackets is"), ("hang", ""))
    assert mutant.expects() == 'fails "in brackets is" or hangs'
    report = head(tmp_path, ("vm 010-alias", "kernel debug: KASAN in vm "
                             "010-alias"), ("6.1", "debug"),
                  ("Shows: fail: in brackets is\nShows: hang\n", ""))
    assert report.report == "KASAN"
    assert report.job == ("vm", "debug", "010-alias")
    assert report.caught_by == "kernel debug: KASAN in vm 010-alias"


@pytest.mark.parametrize("old,new,words", [
    ("Broken: something\n  or other\n", "", ["0 times 'Broken:'"]),
    ("Broken: something\n  or other", "Broken: x\nother", ["'other'"]),
    ("Kernel: 6.1", "Kernel: 6.1\nKernel: 6.12", ["2 times 'Kernel:'"]),
    ("Kernel: 6.1\n", "", ["0 times 'Kernel:'"]),
    ("Re-creates", "Recreates", ["'Recreates'", "Re-creates"]),
    ("vm 010-alias", "010-alias", ["'Caught-by: 010-alias'", "vm CASE"]),
    ("vm 010-alias", "unit slot", ["'Kernel:'", "unit slot"]),
    ("vm 010-alias", "kernel debug: KASAN in vm 010-alias",
     ["debug", "Kernel: 6.1"]),
    ("vm 010-alias", "kernel 6.1: KASAN in vm 010-alias", ["'Shows:'"]),
    ("Shows: hang\n", "Shows: hangs\n", ["'Shows: hangs'", "hang"]),
    ("Shows: fail: in brackets is\nShows: hang\n", "", ["'Shows:'"]),
])
def test_bad_head_is_refused(tmp_path, old, new, words):
    with pytest.raises(mutantlist.BadHead) as refusal:
        head(tmp_path, (old, new))
    assert str(refusal.value).startswith("01-x.patch: ")
    assert "\n" not in str(refusal.value)
    for word in words:
        assert word in str(refusal.value)


# Output of scripts/check

SAID = """check: 1 cases in virtual machines with 6.1, 1 boots each
{}

failed:
  6.1 060-bound-raise.k2: whatever
check: 20 s
0 passed, 1 failed, 0 skipped
"""


@pytest.mark.parametrize("line,kinds,way", [
    ("ok   6.1 060-bound-raise.k2 (20 s)", (), "pass"),
    ("skip 6.1 060-bound-raise.k2 (1 s): k2 has no such thing", (), "skip"),
    ("FAIL 6.1 060-bound-raise.k2 (20 s): in flight is '2', want '1'", (),
     "fail"),
    ("FAIL 6.1 060-bound-raise.k2 (120 s): hangs: not done after 120 s", (),
     "hang"),
    ("FAIL 6.1 060-bound-raise.k2 (90 s): the kernel reported: blocked for "
     "more than 60 seconds.", ("hung task",), "hang"),
    ("FAIL 6.1 060-bound-raise.k2 (9 s): the kernel reported: BUG: KASAN: x",
     ("KASAN",), "report"),
    ("FAIL 6.1 060-bound-raise.k2: the guest died or hung (status 124 of "
     "scripts/vm)", (), "hang"),
    ("FAIL 6.1 060-bound-raise.k2: the guest died or hung (status 125 of "
     "scripts/vm)", ("soft lockup",), "hang"),
    ("FAIL 6.1 060-bound-raise.k2: the guest died or hung (status 125 of "
     "scripts/vm)", ("oops", "panic"), "report"),
    ("FAIL 6.1 060-bound-raise.k2: the guest died or hung (status 125 of "
     "scripts/vm)", (), "died"),
    ("ok   6.1 060-bound-raise.k2 (20 s)\nFAIL 6.1 kernel: it reported "
     "something", ("kmemleak",), "report"),
    ("ok   6.1 060-bound-raise.k2 (20 s)\nok   6.1 wide 060-bound-raise.k2 (9 "
     "s)", (), "pass"),
    ("ok   6.1 060-bound-raise.k2 (20 s)\nFAIL 6.1 wide 060-bound-raise.k2 (9 "
     "s): peak is '4', want '2'", (), "fail"),
    ("FAIL 6.1 060-bound-raise.k2 (9 s): peak is '4', want '2'\nok   6.1 "
     "060-bound-raise.piq (9 s)", (), "fail"),
])
def test_outcome_of_a_case(line, kinds, way):
    found, _ = mutantlab.vm_outcomes(SAID.format(line), kinds)
    assert found["060-bound-raise"].way == way


def test_what_a_case_found_itself_counts_beside_a_report(tmp_path):
    """A case fails as wanted, and the kernel reports the tasks that it has left."""
    mutant = head(tmp_path, ("Shows: hang\n", ""))
    report = ("FAIL 6.1 060-bound-raise.k2 (16 s): the kernel reported: blocked for more than 61 "
              "seconds.\n     | 6.1 060-bound-raise.k2 (16 s):\n     | FAIL: {}")
    for text, wanted in (("in brackets is '1', want '0'", True), ("no such file", False)):
        found, _ = mutantlab.vm_outcomes(SAID.format(report.format(text)), ("hung task",))
        assert found["060-bound-raise"].way == "hang"
        assert text in found["060-bound-raise"].words()
        assert mutantlab.noticed(mutant, found["060-bound-raise"]) == wanted


def test_no_outcome_when_nothing_was_run():
    found, others = mutantlab.vm_outcomes(
        SAID.format("FAIL 6.1 virtual machine: status 1"), ())
    assert found == {} and others == ["virtual machine: status 1"]


def outcome(way, text="", kinds=()):
    """Short for what a test said."""
    return mutantlab.Outcome(way, text, kinds)


def test_caught_only_in_the_way_that_is_wanted(tmp_path):
    mutant = head(tmp_path)
    assert mutantlab.noticed(mutant, outcome("fail", "in brackets is 'none'"))
    assert mutantlab.noticed(mutant, outcome("hang", "anything"))
    for other in (outcome("fail", "cannot unload"), outcome("pass"),
                  outcome("skip"), outcome("died"), outcome("report", "BUG"),
                  outcome("broken", "in brackets is")):
        assert not mutantlab.noticed(mutant, other)


def test_a_report_must_be_of_the_kind_that_is_wanted(tmp_path):
    mutant = head(tmp_path, ("vm 010-alias", "kernel debug: KASAN in vm "
                             "010-alias"), ("6.1", "debug"),
                  ("Shows: fail: in brackets is\nShows: hang\n", ""))
    assert mutantlab.noticed(mutant, outcome("report", "x", ("oops", "KASAN")))
    assert not mutantlab.noticed(mutant, outcome("report", "KASAN", ("oops",)))
    assert not mutantlab.noticed(mutant, outcome("hang", "KASAN", ()))


@pytest.mark.parametrize("test,folder,first", [
    ("vm 010-alias", "piq", "piq"), ("vm 010-alias", "common", "k2"),
    # For one scheduler, and for the lab
    ("vm 710-acfq-processes", "common", ""), ("vm 450-flashsim-faults", "tests", ""),
    ("unit layout", "common", ""),
])
def test_a_case_runs_first_with_one_scheduler(tmp_path, test, folder, first):
    mutant = head(tmp_path, ("vm 010-alias", test), *(
        () if test.startswith("vm") else (("Kernel: 6.1\n", ""),)))
    mutant.path.write_text(f"--- a/{folder}/x.c\n+++ b/{folder}/x.c\n")
    assert mutants.first_scheduler(mutant) == first


@pytest.mark.parametrize("ways,runs,word", [
    # Noticed with one; not noticed with one, but with all; never
    ([("hang", "")], ["k2"], "caught"),
    ([("pass", ""), ("hang", "")], ["k2", ""], "caught"),
    ([("pass", ""), ("pass", "")], ["k2", ""], "missed"),
])
def test_all_schedulers_only_if_one_does_not_notice(tmp_path, ways, runs, word):
    mutant = head(tmp_path)
    mutant.path.write_text("+++ b/common/x.c\n")
    run = mutants.Run.__new__(mutants.Run)
    run.logs, run.absent, run.kernels = tmp_path, {}, {}
    run.args = types.SimpleNamespace(dry_run=False)
    run.baseline = {mutant.job: outcome("pass")}
    run.keep_logs = lambda *_: None
    tree = types.SimpleNamespace(sync=lambda: None, apply=lambda _: "")
    seen = []

    def one(_tree, _job, _log, only=""):
        seen.append(only)
        return outcome(*ways[len(seen) - 1])
    run.lab = types.SimpleNamespace(build=lambda *_: "", test=one)
    assert run.verdict(mutant, tree)[0] == word
    assert seen == runs


# Copies

PATCH = """
--- a/src/file
+++ b/src/file
@@ -1,3 +1,3 @@
 one
-two
+2
 three
"""


@pytest.fixture(name="project")
def _project(tmp_path, monkeypatch):
    """A separate project, with a repository around it."""
    top = tmp_path / "project"
    for name, text in (("src/file", "one\ntwo\nthree\n"),
                       (".gitignore", "/build/\n"), ("README.md", "x\n"),
                       ("tests/mutants/01-x.patch", HEAD + PATCH)):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    subprocess.run(["git", "init", "-q", top], check=True)
    for module in (mutants, mutantlab, mutantlist):
        monkeypatch.setattr(module, "REPO", top)
    monkeypatch.setattr(sources, "REPO", top)
    return top


def patch_of(project, text):
    """A patch with this body."""
    path = project / "p.patch"
    path.write_text("Broken: x\n" + text)
    return path


def test_patches_go_into_the_copy_and_nowhere_else(project):
    tree = mutantlab.Tree(project / "build" / "tree")
    tree.sync()
    assert tree.apply(patch_of(project, PATCH)) == ""
    assert (tree.top / "src/file").read_text() == "one\n2\nthree\n"
    assert (project / "src/file").read_text() == "one\ntwo\nthree\n"


def test_a_copy_is_made_equal_again_with_a_new_time(project):
    old = time.time() - 1000
    os.utime(project / "src/file", (old, old))
    tree = mutantlab.Tree(project / "build" / "tree")
    tree.sync()
    tree.apply(patch_of(project, PATCH))
    (tree.top / "src/new").write_text("")
    (tree.top / "build").mkdir()
    (tree.top / "build/object").write_text("")
    os.utime(tree.top / "src/file", (old + 500, old + 500))
    tree.sync()
    assert (tree.top / "src/file").read_text() == "one\ntwo\nthree\n"
    # Objects of the mutant are older than what they have to be made from now.
    assert (tree.top / "src/file").stat().st_mtime > old + 600
    assert not (tree.top / "src/new").exists()
    assert (tree.top / "build/object").exists()
    before = (tree.top / "src/file").stat().st_mtime_ns
    tree.sync()
    assert (tree.top / "src/file").stat().st_mtime_ns == before


@pytest.mark.parametrize("old,new,words", [
    ("-two\n", "-twain\n", "does not apply"),
    ("-two\n+2\n", "-two\n+two\n", "changes nothing"),
    (PATCH, "\nno patch at all\n", "does not apply"),
])
def test_stale_patches_are_found(project, old, new, words):
    tree = mutantlab.Tree(project / "build" / "tree")
    tree.sync()
    assert words in tree.apply(patch_of(project, PATCH.replace(old, new)))


def test_key_follows_what_tests_depend_on(project):
    before = sources.key(mutantlab.aside)
    (project / "docs").mkdir()
    (project / "docs/page.md").write_text("x")
    (project / "README.md").write_text("y")
    (project / "tests/mutants/02-y.patch").write_text("y")
    assert sources.key(mutantlab.aside) == before
    (project / "src/file").write_text("one\n")
    assert sources.key(mutantlab.aside) != before


# All of it, with tests that look for a word in a file

CHECK = """#!/bin/bash
cd "$(dirname "$0")/.." || exit 1
while (($#)); do
	case $1 in
	--case)
		if [[ -e src/slow ]]; then sleep 60; fi
		if grep -q bad src/file; then
			echo "FAIL 6.1 $2.k2 (1 s): the file is bad"
		else
			echo "ok   6.1 $2.k2 (1 s)"
		fi ;;
	esac
	shift
done
"""

CASE = """# SPDX-License-Identifier: GPL-2.0
# limit: 1 s
# takes: 1 s
"""


def mutant_text(old, new, test="010-alias", shows="fail: is bad",
                kernel="6.1"):
    """A patch that changes a line of src/file."""
    lines = ["one", "two", "three"]
    body = "".join(f"-{l}\n+{new}\n" if l == old else f" {l}\n" for l in lines)
    return (f"Broken: x\nRe-creates: nothing known\nCaught-by: vm {test}\n"
            f"Shows: {shows}\nKernel: {kernel}\n\n--- a/src/file\n"
            f"+++ b/src/file\n@@ -1,3 +1,3 @@\n{body}")


@pytest.fixture(name="lab")
def _lab(project, monkeypatch):
    """The project with a Makefile, a scripts/check and cases."""
    shutil.rmtree(project / "tests")
    for name, text in (
            ("Makefile", "modules:\n\t@! grep -n syntax src/file\n"),
            ("scripts/check", CHECK), ("tests/vm/010-alias.sh", CASE),
            ("tests/vm/020-verify.sh", CASE),
            ("tests/mutants/01-caught.patch", mutant_text("two", "bad"))):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    (project / "scripts/check").chmod(0o755)
    monkeypatch.setattr(checkcases, "CASES", project / "tests/vm")
    monkeypatch.setattr(mutants, "kernel_facts", lambda series: (
        (None, "no such kernel") if series == "debug" else
        ({"release": "x", "kdir": "y", "btf": "", "version": "1"}, "")))
    # pytest keeps its own.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    return project


def add(lab, name, text):
    """One more mutant."""
    (lab / "tests/mutants" / f"{name}.patch").write_text(text)


def run(capsys, *argv):
    """(status, what was said)"""
    status = mutants.main(list(argv))
    return status, capsys.readouterr().out


def test_all_caught(lab, capsys):
    status, out = run(capsys)
    assert status == 0
    assert out.split("\n")[-2] == "1 caught, 0 missed, 0 stale, 0 skipped"
    assert "caught  01-caught: vm 010-alias (6.1): fail: the file is bad" \
        in out
    entry = json.loads((lab / "build/mutants/results.json").read_text())
    assert entry["mutants"]["01-caught"]["verdict"] == "caught"
    assert entry["baseline"]["vm 010-alias (6.1)"]["way"] == "pass"
    assert (lab / "src/file").read_text() == "one\ntwo\nthree\n"


@pytest.mark.parametrize("text,verdict,words", [
    (mutant_text("two", "good"), "missed", "pass"),
    (mutant_text("two", "bad", shows="hang"), "missed", "wanted: hangs"),
    (mutant_text("two", "bad", shows="fail: worse"), "missed", "the file is"),
    (mutant_text("two", "bad", test="099-none"), "missed", "there is no vm"),
    (mutant_text("four", "bad"), "stale", "does not apply"),
    (mutant_text("two", "syntax"), "stale", "does not build"),
    (mutant_text("two", "bad", kernel="debug"), "skipped", "no such kernel"),
], ids=["passes", "other way", "other text", "no test", "does not apply",
        "does not build", "no kernel"])
def test_not_caught(lab, capsys, text, verdict, words):
    if text.count("\n+") == 1:
        # Nothing of it fits.
        text = text.replace(" two", " 2")
    add(lab, "02-other", text)
    status, out = run(capsys)
    count = {"missed": "1 caught, 1 missed, 0 stale, 0 skipped",
             "stale": "1 caught, 0 missed, 1 stale, 0 skipped",
             "skipped": "1 caught, 0 missed, 0 stale, 1 skipped"}[verdict]
    assert out.split("\n")[-2] == count
    assert status == (0 if verdict == "skipped" else 1)
    line = next(l for l in out.split("\n") if "] " in l and "02-other" in l)
    assert words in line and verdict in line.lower()


def test_a_test_that_fails_by_itself_catches_nothing(lab, capsys):
    (lab / "src/file").write_text("one\ntwo\nthree\nbad\n")
    status, out = run(capsys)
    assert status == 1 and "0 caught, 1 missed" in out
    assert "without it, too: fail: the file is bad" in out


BUSY = """#!/bin/bash
cd "$(dirname "$0")/.." || exit 1
echo x >>"$COUNT"
if grep -q bad src/file || [[ $(wc -l <"$COUNT") == "$BUSY_AT" ]]; then
	echo "FAIL 6.1 010-alias.k2 (1 s): the machine is too slow for it"
else
	echo "ok   6.1 010-alias.k2 (1 s)"
fi
"""


@pytest.mark.parametrize("busy_at,count,words", [
    # Without the mutant, with it, and without it again
    (0, "1 caught, 0 missed", "caught  01-caught"),
    (3, "0 caught, 1 missed", "cannot be told from a busy machine"),
    # Without it; that is tried twice.
    (1, "1 caught, 0 missed", "without a mutant, once more: 010-alias"),
])
def test_a_busy_machine_is_no_mutant(lab, capsys, monkeypatch, busy_at, count,
                                     words):
    monkeypatch.setenv("COUNT", str(lab / "build/count"))
    monkeypatch.setenv("BUSY_AT", str(busy_at))
    (lab / "scripts/check").write_text(BUSY)
    add(lab, "01-caught", mutant_text("two", "bad", shows="fail: too slow"))
    _, out = run(capsys)
    assert count in out and words in out


def test_nothing_caught_is_no_success(lab, capsys):
    add(lab, "01-caught", mutant_text("two", "bad", kernel="debug"))
    status, out = run(capsys)
    assert status == 1 and "0 caught, 0 missed, 0 stale, 1 skipped" in out


def test_a_project_that_does_not_build_is_said(lab, capsys):
    (lab / "src/file").write_text("one\ntwo\nthree\nsyntax\n")
    assert mutants.main([]) == 1
    assert "without a mutant vm 010-alias (6.1) does not build" in \
        capsys.readouterr().err


def test_a_guest_that_says_nothing_hangs(lab, capsys, monkeypatch):
    monkeypatch.setattr(mutantlab, "GRACE", -60)
    add(lab, "01-caught", mutant_text("two", "bad", shows="hang").replace(
        "\n--- a/src/file", "\n--- /dev/null\n+++ b/src/slow\n@@ -0,0 +1 @@\n"
        "+x\n--- a/src/file"))
    status, out = run(capsys)
    assert status == 0, out
    assert "hang: the guest no longer answers" in out


def test_resume_leaves_out_what_is_known(lab, capsys):
    add(lab, "02-other", mutant_text("three", "bad", test="020-verify"))
    assert run(capsys, "--only", "01")[0] == 0
    status, out = run(capsys, "--resume")
    assert status == 0 and "2 caught, 0 missed" in out
    assert "1 were caught before" in out and "caught  02-other" in out
    assert "caught  01-caught" not in out
    # Another patch, other sources: nothing is known.
    add(lab, "02-other", mutant_text("one", "bad", test="020-verify"))
    assert "caught  02-other" in run(capsys, "--resume")[1]
    (lab / "src/more").write_text("")
    assert "caught  01-caught" in run(capsys, "--resume")[1]
    assert "caught before" not in run(capsys)[1]


def test_dry_run_tests_nothing(lab, capsys):
    (lab / "scripts/check").unlink()
    add(lab, "02-other", mutant_text("two", "syntax"))
    add(lab, "03-debug", mutant_text("two", "syntax", kernel="debug"))
    status, out = run(capsys, "--dry-run", "--only", "01")
    assert status == 0 and "0 caught, 0 missed, 0 stale, 1 skipped" in out
    status, out = run(capsys, "--dry-run")
    assert status == 1 and "0 caught, 0 missed, 2 stale, 1 skipped" in out
    assert not (lab / "build/mutants/results.json").exists() or \
        not json.loads((lab / "build/mutants/results.json").read_text())[
            "mutants"]


def test_two_at_once(lab, capsys):
    for number in range(2, 8):
        add(lab, f"0{number}-more", mutant_text("two", "bad"))
    status, out = run(capsys, "--jobs", "2")
    assert status == 0 and "7 caught, 0 missed, 0 stale, 0 skipped" in out


def test_ended_by_a_signal(lab, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise options.Interrupted(signal.SIGINT)
    monkeypatch.setattr(mutants.Run, "prove", interrupted)
    assert mutants.main([]) == 128 + signal.SIGINT
    assert "ended by SIGINT; --resume goes on" in capsys.readouterr().err
    assert lab.exists()


def test_list_and_table(lab, capsys):
    assert run(capsys, "--list") == (
        0, '01-caught\tvm 010-alias (6.1)\tfails "is bad"\n')
    (lab / "docs").mkdir()
    page = lab / "docs/mutants.md"
    page.write_text("before\n<!-- made by scripts/mutants --table -->\nold\n"
                    "<!-- end -->\nafter\n")
    assert run(capsys, "--table")[0] == 0
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter\n")
    assert "old" not in text and "| 01-caught | x |  | vm 010-alias (6.1) |" \
        in text
    assert mutantlist.page(text, mutantlist.all_mutants()) == text


@pytest.mark.parametrize("argv,words", [
    (["--jobs", "3"], ["'3'", "1 to 2"]),
    (["--jobs", "0"], ["'0'", "1 to 2"]),
    (["--only", "nothing-like-it"], ["'nothing-like-it'", "--list"]),
    (["--kernel", "2.6"], ["'2.6'", "6.1"]),
    (["--frobnicate"], ["--frobnicate"]),
])
def test_bad_options_are_refused(argv, words, capsys):
    with pytest.raises(SystemExit) as ending:
        mutants.parse(argv)
    assert ending.value.code == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and said.startswith("mutants: ")
    for word in words:
        assert word in said


def test_a_bad_patch_is_named(lab, capsys):
    add(lab, "02-other", "Broken: x\n")
    with pytest.raises(SystemExit):
        mutants.main([])
    assert "02-other.patch: " in capsys.readouterr().err


# Unit tests and host tests


@pytest.fixture(name="tree")
def _tree(project):
    tree = mutantlab.Tree(project / "build" / "tree")
    (tree.top / "build/unit").mkdir(parents=True)
    return tree


@pytest.mark.parametrize("script,way,words", [
    ("echo ok 1 - fine", "pass", ""),
    ("echo ok 1 - fine; echo not ok 2 - other; exit 1", "fail", "other"),
    ("echo ok 1 - fine; exit 1", "died", "status 1"),
    ("echo '==1==ERROR: AddressSanitizer: heap'; exit 1", "report", "heap"),
    ("true", "broken", "no tests"),
    ("echo '1..0 # SKIP not here'", "skip", "not here"),
    ("sleep 60", "hang", "1 s"),
])
def test_outcome_of_a_unit_test(tree, monkeypatch, script, way, words):
    if way == "hang":
        monkeypatch.setattr(mutantlab, "UNIT_LIMIT", 1)
    program = tree.top / "build/unit/slot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    found = mutantlab.Lab({}).unit(tree, "slot", tree.top / "log")
    assert found.way == way and words in found.text


@pytest.mark.parametrize("text,name,way", [
    ("def test_a(): pass", "", "pass"),
    ("def test_a(): assert 0", "", "fail"),
    ("def test_a(): assert 0\ndef test_b(): pass", "::test_b", "pass"),
    ("import pytest\ndef test_a(): pytest.skip('no')", "", "skip"),
    ("this is no python", "", "broken"),
    ("import no_such_module", "", "broken"),
])
def test_outcome_of_a_host_test(tree, text, name, way):
    (tree.top / "tests/host").mkdir(parents=True)
    (tree.top / "tests/host/test_it.py").write_text(text + "\n")
    found = mutantlab.Lab({}).host(tree, f"test_it{name}", tree.top / "log")
    assert found.way == way
