# SPDX-License-Identifier: GPL-2.0
"""Tests of a mutant: copies of the project, and how tests are run there."""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import xml.etree.ElementTree
from dataclasses import dataclass, replace

import checkcases
import children
import kernel
import options
import sourcekernel
import sources
from mutantlist import DIED, FAIL, HANG, REPORT

REPO = pathlib.Path(__file__).resolve().parents[2]

# How long a unit test or a host test may take; a case says that itself.
UNIT_LIMIT, HOST_LIMIT = 120, 900
# A guest that has not said anything so long after its case had to be over is
# stuck as a whole: boot, the end of what the case has left, and some more.
GRACE = 150
DISK_MB = 150

# Messages of a kernel about a task that hangs.
_STANDSTILL = ("hung task", "soft lockup", "hard lockup", "RCU stall",
               "workqueue lockup")
# Of no influence on what a test says, save on tests of the project's pages,
# which are those of tests/host and cheap.
_ASIDE = ("docs/", "tests/mutants/", "scripts/mutants",
          "scripts/lib/mutant", "tests/host/test_mutants.py")


# Copies of the project


def aside(name):
    """Does no test of a mutant depend on this file?"""
    return name.startswith(_ASIDE) or "/" not in name and name.endswith(".md")


class Tree:
    """A copy of the project in which mutants are applied and built."""

    def __init__(self, top):
        top.mkdir(parents=True, exist_ok=True)
        self.top = top.resolve()

    def sync(self):
        """Makes it equal to the project; what was built stays.

        A file that differs gets a new time, never the original's: make must
        see that it is not the one that objects were made from.
        """
        wanted = set(sources.files())
        for path in self.top.rglob("*"):
            name = str(path.relative_to(self.top))
            if name.split("/")[0] == "build" or name in wanted or \
                    (path.is_dir() and not path.is_symlink()):
                continue
            path.unlink()
        for name in wanted:
            ours, theirs = REPO / name, self.top / name
            theirs.parent.mkdir(parents=True, exist_ok=True)
            if os.path.islink(ours):
                if not os.path.islink(theirs) or \
                        os.readlink(theirs) != os.readlink(ours):
                    theirs.unlink(missing_ok=True)
                    theirs.symlink_to(os.readlink(ours))
                continue
            data = ours.read_bytes()
            if not theirs.is_file() or theirs.read_bytes() != data:
                theirs.write_bytes(data)
            theirs.chmod(ours.stat().st_mode & 0o777)

    def apply(self, patch):
        """"" or why the patch cannot be applied."""
        # Below a repository git would take the paths for its own, find none
        # of them here, and be content.
        env = {k: v for k, v in os.environ.items()
               if not k.startswith("GIT_")}
        env["GIT_CEILING_DIRECTORIES"] = str(self.top.parent)
        done = subprocess.run(
            ["git", "apply", "--whitespace=nowarn", str(patch)],
            cwd=self.top, env=env, check=False, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        if done.returncode:
            return f"does not apply: {done.stdout.strip().splitlines()[-1]}" \
                if done.stdout.strip() else "does not apply"
        changed = re.findall(r"^\+\+\+ b/(.*)$",
                             patch.read_text(encoding="utf-8"), re.M)
        for name in changed:
            if (REPO / name).is_file() and (self.top / name).is_file() and \
                    (REPO / name).read_bytes() == \
                    (self.top / name).read_bytes():
                return f"changes nothing in {name}"
        return "" if changed else "names no file"


# Tests


@dataclass(frozen=True)
class Outcome:
    """The result of one test."""
    # "pass", "skip", "broken" (it could not be run), FAIL, HANG, REPORT, DIED
    way: str
    text: str = ""
    kinds: tuple = ()
    # The failure that a case noticed itself, if the kernel also reported something
    own: str = ""

    def words(self):
        """The outcome as text of one line."""
        kinds = ", ".join(k for k in self.kinds if k not in self.text)
        text = self.text + (f" [{kinds}]" if kinds else "") + \
            (f", after {self.own}" if self.own else "")
        return f"{self.way}: {text}" if text else self.way


def noticed(mutant, outcome):
    """Did the test fail in the way that the head wants?"""
    if outcome.way not in (FAIL, HANG, REPORT, DIED):
        return False
    if mutant.report:
        return mutant.report in outcome.kinds
    said = outcome.words()
    return any(way == outcome.way and text in said or
               way == FAIL and outcome.own and text in outcome.own
               for way, text in mutant.shows)


def vm_limit(case):
    """Seconds after which tests/vm/run gives a case up."""
    try:
        head = (REPO / "tests" / "vm" / f"{case}.sh").read_text(
            encoding="utf-8")[:4000]
    except OSError:
        return 120
    limit = re.search(r"^# limit: (\d+) s", head, re.M)
    return int(limit[1]) if limit else 120


def slowness(series):
    """Factor by which a kernel series is slower than others."""
    known = kernel.SERIES.get(series)
    return known.slow if known else 1


_CASE = re.compile(r"(ok  |FAIL|skip) (\S+) (?:(\w+) )?(\d\d\d-[\w-]+)\.\S+?"
                   r"(?: \((\d+) s\))?(?:: (.*))?$")
_OWN = re.compile(r"     \| FAIL: (.*)$")
_OTHER = re.compile(r"FAIL (\S+) (?:\w+ )?(kernel|virtual machine|everything)"
                    r"(?:: (.*))?$")


def _judge(reason, kinds):
    """The outcome of a case that failed, by scripts/check's reason."""
    died = re.match(r"the guest died or hung \(status (\d+)", reason)
    still = kinds and all(kind in _STANDSTILL for kind in kinds)
    if reason.startswith("hangs:") or (died and died[1] == "124"):
        return Outcome(HANG, reason, kinds)
    if reason.startswith("the kernel reported:"):
        way = HANG if still or "blocked for more" in reason else REPORT
        return Outcome(way, reason, kinds)
    if died:
        way = HANG if still else REPORT if kinds else DIED
        return Outcome(way, reason, kinds)
    return Outcome(FAIL, reason, kinds)


def vm_outcomes(said, kinds):
    """{case: Outcome} from what scripts/check has printed.

    A case may run on several machines and for several schedulers; the worst
    counts.
    """
    rank = {"pass": 1, "skip": 0}
    found, others, last = {}, [], None
    for line in said.split("\n"):
        match = _OWN.match(line)
        if match and last and found[last].text.startswith("the kernel reported:"):
            found[last] = replace(found[last], own=match[1])
        match = _CASE.match(line)
        if match:
            word, case, reason = match[1], match[4], match[6] or ""
            new = Outcome("pass") if word == "ok  " else \
                Outcome("skip", reason) if word == "skip" else \
                _judge(reason, kinds)
            old = found.get(case)
            last = None
            if not old or rank.get(new.way, 2) > rank.get(old.way, 2):
                found[case] = new
                last = case
            continue
        match = _OTHER.match(line)
        if match:
            others.append(f"{match[2]}: {match[3] or ''}")
    for other in others:
        for case, outcome in list(found.items()):
            if outcome.way == "pass":
                # Said after the case, as leaks are.
                found[case] = Outcome(REPORT, other, kinds) if kinds else \
                    Outcome("broken", other)
    return found, others


class Children:
    """Processes that do not outlive this one."""

    def __init__(self):
        self.lock = threading.Lock()
        self.running = set()
        self.stopped = False

    def run(self, command, log, limit=None, **more):
        """(status, or None after `limit` seconds; what it said)."""
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "a+", encoding="utf-8", errors="replace") as file:
            begin = file.tell()
            with self.lock:
                if self.stopped:
                    raise options.Interrupted(signal.SIGTERM)
                child = subprocess.Popen(
                    [str(c) for c in command], stdin=subprocess.DEVNULL,
                    stdout=file, stderr=subprocess.STDOUT,
                    env=children.environment(), start_new_session=True,
                    preexec_fn=children.tied(), **more)
                self.running.add(child)
            try:
                status = child.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
                self.end(child)
            except BaseException:
                self.end(child)
                raise
            finally:
                with self.lock:
                    self.running.discard(child)
            if self.stopped:
                raise options.Interrupted(signal.SIGTERM)
            file.seek(begin)
            return status, file.read()

    @staticmethod
    def end(child, wait=30):
        """Ends one with what it has started: scripts/check takes its guests
        along."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(wait)
                return

    def stop(self):
        """Ends all, and nothing new begins."""
        with self.lock:
            self.stopped = True
            running = list(self.running)
        for child in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGTERM)


class Lab:
    """Builds and tests in copies of the project."""

    def __init__(self, kernels):
        # {series: facts}
        self.kernels = kernels
        self.children = Children()

    def build(self, tree, job, log):
        """"" or why what the test needs cannot be built."""
        room, series, test = job
        if room == "host":
            return ""
        if room == "unit":
            command = ["make", "-s", "-C", tree.top / "tests" / "unit",
                       tree.top / "build" / "unit" / test]
        else:
            # As scripts/vm has it, which then finds nothing left to do.
            facts = self.kernels[series]
            command = ["make", "-s", "-C", tree.top, "modules",
                       f"KVER={facts['release']}", *kernel.make_words(facts)]
        status, said = self.children.run(command, log)
        if status == 0:
            return ""
        why = re.search(r".*\b(error|Error|refused)\b.*", said)
        return "does not build" + (f": {why[0].strip()}" if why else "")

    def unit(self, tree, test, log):
        """Runs one program of tests/unit."""
        program = tree.top / "build" / "unit" / test
        status, said = self.children.run([program], log, UNIT_LIMIT,
                                         cwd=tree.top)
        if status is None:
            return Outcome(HANG, f"not done after {UNIT_LIMIT} s")
        skipped = re.search(r"^1\.\.0 # SKIP (.*)$", said, re.M)
        if skipped:
            return Outcome("skip", skipped[1])
        bad = re.findall(r"^not ok \d+ - (.*)$", said, re.M)
        if bad:
            return Outcome(FAIL, "; ".join(bad))
        if status:
            found = re.search(r"(ERROR: \w+Sanitizer.*|runtime error.*|"
                              r"Bail out!.*)", said)
            return Outcome(REPORT if found else DIED,
                           found[0] if found else f"status {status}")
        return Outcome("pass") if re.search(r"^ok ", said, re.M) else \
            Outcome("broken", "it has no tests")

    def host(self, tree, test, log):
        """Runs a file of tests/host, or one test of it."""
        name, _, function = test.partition("::")
        report = tree.top / "build" / "mutant-host.xml"
        report.unlink(missing_ok=True)
        report.parent.mkdir(parents=True, exist_ok=True)
        status, _ = self.children.run(
            [sys.executable, "-B", "-m", "pytest", "-q", "-p",
             "no:cacheprovider", f"--junitxml={report}",
             f"tests/host/{name}.py" + (f"::{function}" if function else "")],
            log, HOST_LIMIT, cwd=tree.top)
        if status is None:
            return Outcome(HANG, f"not done after {HOST_LIMIT} s")
        try:
            tests = list(xml.etree.ElementTree.parse(report).iter("testcase"))
        except (OSError, xml.etree.ElementTree.ParseError):
            return Outcome("broken", f"pytest's status {status}")
        bad = [t.get("name") for t in tests if t.find("failure") is not None]
        if any(t.find("error") is not None for t in tests) and not bad:
            return Outcome("broken", "an error outside the tests")
        if bad:
            return Outcome(FAIL, "; ".join(bad))
        if status or not tests:
            return Outcome("broken", f"pytest's status {status}")
        if all(t.find("skipped") is not None for t in tests):
            return Outcome("skip", tests[0].find("skipped").get("message", ""))
        return Outcome("pass")

    def vm(self, tree, series, cases, log, only=""):
        """Runs cases with scripts/check; {case: Outcome}. only: with this scheduler."""
        machines = {c.name: len(c.machines) for c in checkcases.all_cases()}
        limit = sum(((vm_limit(c) + 60) * slowness(series) + GRACE)
                    * machines.get(c, 1) for c in cases)
        command = [tree.top / "scripts" / "check", "--kernel", series]
        for case in cases:
            command += ["--case", case]
        if only:
            command += ["--scheduler", only]
        for old in (tree.top / "build" / "check").glob("vm-*/vm.stderr"):
            old.unlink()
        status, said = self.children.run(command, log, limit, cwd=tree.top)
        kinds = []
        for path in sorted((tree.top / "build" / "check").glob(
                "vm-*/vm.stderr")):
            kinds += re.findall(r"^vm: the kernel reported: (.*)$",
                                path.read_text(errors="replace"), re.M)
        kinds = tuple(dict.fromkeys(kinds))
        found, others = vm_outcomes(said, kinds)
        for case in cases:
            if case in found:
                continue
            if status is None:
                found[case] = Outcome(HANG, "the guest no longer answers",
                                      kinds)
            else:
                found[case] = Outcome("broken", "; ".join(others) or
                                      f"status {status} of scripts/check")
        return found

    def test(self, tree, job, log, only=""):
        """Runs a single test; its Outcome. only: a case with this scheduler."""
        room, series, test = job
        if room == "unit":
            return self.unit(tree, test, log)
        if room == "host":
            return self.host(tree, test, log)
        return self.vm(tree, series, [test], log, only)[test]


# The tests to run


def exists(job):
    """Is there such a test?"""
    room, _, test = job
    if room == "vm":
        return any(case.name == test for case in checkcases.all_cases())
    if room == "unit":
        name = test.removesuffix("_tsan")
        return (REPO / "tests" / "unit" / f"test_{name}.c").exists()
    name, _, function = test.partition("::")
    path = REPO / "tests" / "host" / f"{name}.py"
    return path.exists() and (
        not function or f"def {function}(" in path.read_text(encoding="utf-8"))


def kernel_facts(series):
    """(facts, "") of a kernel, or (None, why it cannot be had)."""
    known = kernel.SERIES.get(series)
    if not known:
        return None, f"the lab has no kernel '{series}'"
    store = kernel.Store(kernel.cache_dir())
    # Building one takes long, which the user has not asked for here.
    if known.maker and not sourcekernel.have(store, known):
        return None, (f"kernel '{series}' has not been built here: "
                      f"scripts/kernel {series} does it")
    try:
        return store.get(series), ""
    except (kernel.Unavailable, kernel.Broken) as error:
        return None, f"kernel '{series}' cannot be had: {error}"


def job_text(job):
    """A job as a line has it, and as the results are filed by it."""
    room, series, test = job
    return f"{room} {test}" + (f" ({series})" if series else "")
