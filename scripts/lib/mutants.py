# SPDX-License-Identifier: GPL-2.0
"""scripts/mutants: do the tests notice what they are there for?

Each patch of tests/mutants breaks the project in one way, and its head names
the test that has to notice and how. Here each is applied to a copy of the
project, built, and given to that test, which has passed without it. The last
line counts: `N caught, N missed, N stale, N skipped`.
"""

import contextlib
import ctypes
import datetime
import fnmatch
import hashlib
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree
from dataclasses import dataclass

import check
import kernel
import options
import sourcekernel
import sources

REPO = pathlib.Path(__file__).resolve().parents[2]

# What a test may say, and what a head may want of it.
FAIL, HANG, REPORT, DIED = "fail", "hang", "report", "died"

# Seconds on two quiet cores without KVM, for the estimate only.
SECONDS = {"build": 8, "boot": 15, "unit": 15, "host": 60, "reset": 70}
# How long a unit test or a host test may take; a case says that itself.
UNIT_LIMIT, HOST_LIMIT = 120, 900
# A guest that has not said anything so long after its case had to be over is
# stuck as a whole: boot, the end of what the case has left, and some more.
GRACE = 150
DISK_MB = 150

# What a kernel says of something that does not go on.
_STANDSTILL = ("hung task", "soft lockup", "hard lockup", "RCU stall",
               "workqueue lockup")
# Of no influence on what a test says, save on tests of the project's pages,
# which are those of tests/host and cheap.
_ASIDE = ("docs/", "tests/mutants/", "scripts/mutants",
          "scripts/lib/mutants.py", "tests/host/test_mutants.py")
# Cases say so when nothing has come in time: a busy machine, or a mutant.
_BUSY = "the machine is too slow"
# Longer ones are in the log.
_SAID = 110

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


class BadHead(Exception):
    """A patch whose head cannot be used; one line."""


class Trouble(RuntimeError):
    """Nothing can be said about any mutant; one line."""


def say(text):
    """One line about the run itself."""
    print(f"mutants: {text}", file=sys.stderr, flush=True)


# Patches


@dataclass(frozen=True)
class Mutant:
    """One patch, by its head."""
    name: str
    path: pathlib.Path
    broken: str
    recreates: str
    # "vm", "unit" or "host", and the case, program or test
    room: str
    test: str
    # What the kernel has to report, "" if any way of `shows` will do
    report: str
    # Ways to notice: pairs of a word and a part of what is said
    shows: tuple
    # Series, "" if none is booted
    kernel: str

    @property
    def caught_by(self):
        """The test as the head has it."""
        if self.report:
            return f"kernel {self.kernel}: {self.report} in vm {self.test}"
        return f"{self.room} {self.test}"

    @property
    def job(self):
        """What has to pass without the mutant: (room, kernel, test)."""
        return self.room, self.kernel, self.test

    def expects(self):
        """How it shows, in words."""
        if self.report:
            return f"the kernel reports {self.report}"
        words = {FAIL: "fails", HANG: "hangs", REPORT: "the kernel reports",
                 DIED: "the guest dies"}
        return " or ".join(words[way] + (f' "{text}"' if text else "")
                           for way, text in self.shows)


_FIELDS = ("Broken", "Re-creates", "Caught-by", "Shows", "Kernel")


def _head(text):
    """{field: [values]} of what stands above the first file."""
    found, last = {}, None
    for line in text.split("\n--- ", 1)[0].split("\n"):
        match = re.match(r"([A-Z][\w-]*): *(.*)$", line)
        if match:
            last = match[1]
            if last not in (*_FIELDS, "SPDX-License-Identifier"):
                raise BadHead(f"'{last}': want one of {', '.join(_FIELDS)}")
            found.setdefault(last, []).append(match[2].strip())
        elif line.startswith(" ") and last:
            found[last][-1] += " " + line.strip()
        elif line.strip():
            raise BadHead(f"'{line}': want a field such as 'Broken: TEXT', or "
                          "its next line, which begins with a blank")
    return found


def _one(found, field):
    if len(found.get(field, ())) != 1 or not found[field][0]:
        raise BadHead(f"{len(found.get(field, ()))} times '{field}:' with a "
                      "text, want it once")
    return found[field][0]


def _ways(found, report):
    shows = []
    for line in found.get("Shows", ()):
        way, _, text = line.partition(":")
        if way not in (FAIL, HANG, REPORT, DIED):
            raise BadHead(f"'Shows: {line}': want {FAIL}, {HANG}, {REPORT} or "
                          f"{DIED}, and behind a colon what is said")
        shows.append((way, text.strip()))
    if bool(shows) == bool(report):
        raise BadHead("want 'Shows:' if 'Caught-by:' names no report of the "
                      "kernel, and only then")
    return tuple(shows)


def read(path):
    """The mutant that a patch is; BadHead if it cannot be used."""
    try:
        found = _head(path.read_text(encoding="utf-8"))
        caught = _one(found, "Caught-by")
        match = re.fullmatch(r"(vm|unit|host) (\S+)", caught)
        inside = re.fullmatch(r"kernel ([\w.]+): (.+) in vm (\S+)", caught)
        if not match and not inside:
            raise BadHead(
                f"'Caught-by: {caught}': want 'vm CASE', 'unit PROGRAM', "
                "'host FILE', 'host FILE::TEST' or 'kernel SERIES: KIND in vm "
                "CASE'")
        room = match[1] if match else "vm"
        series = _one(found, "Kernel") if room == "vm" else ""
        if room != "vm" and "Kernel" in found:
            raise BadHead(f"'Kernel:' for a test that boots none ({caught})")
        if inside and inside[1] != series:
            raise BadHead(f"'Caught-by: {caught}' and 'Kernel: {series}'")
        report = inside[2] if inside else ""
        return Mutant(path.stem, path, _one(found, "Broken"),
                      _one(found, "Re-creates"), room,
                      inside[3] if inside else match[2], report,
                      _ways(found, report), series)
    except BadHead as error:
        raise BadHead(f"{path.name}: {error}") from None


def all_mutants():
    """Every patch of tests/mutants, cheap tests first."""
    order = {"unit": 0, "host": 1, "vm": 2}
    found = [read(path) for path in sorted(
        (REPO / "tests" / "mutants").glob("*.patch"))]
    return sorted(found, key=lambda m: (order[m.room], m.kernel == "debug"))


# The page


_BEGIN, _END = "<!-- made by scripts/mutants --table -->", "<!-- end -->"


def table(mutants):
    """The mutants as a table, in the order of their numbers."""
    cell = lambda text: text.replace("|", "\\|")
    rows = ["| mutant | what is broken | real bug | caught by | how it shows "
            "|", "|---|---|---|---|---|"]
    for m in sorted(mutants, key=lambda m: m.name):
        real = "" if m.recreates == "nothing known" else m.recreates
        series = f" ({m.kernel})" if m.kernel and not m.report else ""
        rows.append(f"| {m.name} | {cell(m.broken)} | {cell(real)} | "
                    f"{m.caught_by}{series} | {cell(m.expects())} |")
    return "\n".join(rows)


def page(text, mutants):
    """docs/mutants.md with its table made anew."""
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise Trouble(f"docs/mutants.md: no lines '{_BEGIN}' and '{_END}' for "
                      "the table between them")
    real = sum(m.recreates != "nothing known" for m in mutants)
    return (f"{before}{begin}\n\n{len(mutants)} mutants, {real} of which "
            f"re-create a real bug.\n\n{table(mutants)}\n\n{end}{after}")


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
    """What a test said."""
    # "pass", "skip", "broken" (it could not be run), FAIL, HANG, REPORT, DIED
    way: str
    text: str = ""
    kinds: tuple = ()

    def words(self):
        """For a line."""
        kinds = ", ".join(k for k in self.kinds if k not in self.text)
        text = self.text + (f" [{kinds}]" if kinds else "")
        return f"{self.way}: {text}" if text else self.way


def noticed(mutant, outcome):
    """Did the test fail in the way that the head wants?"""
    if outcome.way not in (FAIL, HANG, REPORT, DIED):
        return False
    if mutant.report:
        return mutant.report in outcome.kinds
    said = outcome.words()
    return any(way == outcome.way and text in said
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


def _slow(series):
    """How much longer everything takes on it."""
    known = kernel.SERIES.get(series)
    return known.slow if known else 1


_CASE = re.compile(r"(ok  |FAIL|skip) (\S+) (?:(\w+) )?(\d\d\d-[\w-]+)\.\S+?"
                   r"(?: \((\d+) s\))?(?:: (.*))?$")
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
    found, others = {}, []
    for line in said.split("\n"):
        match = _CASE.match(line)
        if match:
            word, case, reason = match[1], match[4], match[6] or ""
            new = Outcome("pass") if word == "ok  " else \
                Outcome("skip", reason) if word == "skip" else \
                _judge(reason, kinds)
            old = found.get(case)
            if not old or rank.get(new.way, 2) > rank.get(old.way, 2):
                found[case] = new
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
        env = {k: v for k, v in os.environ.items()
               if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(log, "a+", encoding="utf-8", errors="replace") as file:
            begin = file.tell()
            with self.lock:
                if self.stopped:
                    raise options.Interrupted(signal.SIGTERM)
                child = subprocess.Popen(
                    [str(c) for c in command], stdin=subprocess.DEVNULL,
                    stdout=file, stderr=subprocess.STDOUT, env=env,
                    start_new_session=True,
                    preexec_fn=lambda: _LIBC.prctl(_PR_SET_PDEATHSIG,
                                                   signal.SIGTERM), **more)
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

    def vm(self, tree, series, cases, log):
        """Runs cases with scripts/check; {case: Outcome}."""
        machines = {c.name: len(c.machines) for c in check.all_cases()}
        limit = sum(((vm_limit(c) + 60) * _slow(series) + GRACE)
                    * machines.get(c, 1) for c in cases)
        command = [tree.top / "scripts" / "check", "--kernel", series]
        for case in cases:
            command += ["--case", case]
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

    def test(self, tree, job, log):
        """Runs a single test; its Outcome."""
        room, series, test = job
        if room == "unit":
            return self.unit(tree, test, log)
        if room == "host":
            return self.host(tree, test, log)
        return self.vm(tree, series, [test], log)[test]


# The run


def exists(job):
    """Is there such a test?"""
    room, _, test = job
    if room == "vm":
        return any(case.name == test for case in check.all_cases())
    if room == "unit":
        return (REPO / "tests" / "unit" / f"test_{test}.c").exists()
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
    # Building one takes long, which nobody has asked for here.
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


class Results:
    """build/mutants/results.json: what is known, kept after each step."""

    def __init__(self, path, names):
        self.path = path
        self.names = names
        self.lock = threading.Lock()
        self.old = {}
        with contextlib.suppress(OSError, ValueError):
            self.old = json.loads(path.read_text(encoding="utf-8"))
        if self.old.get("schema") != 1:
            self.old = {}
        self.data = {"schema": 1, "commit": options.commit(),
                     "tree": sources.key(aside), "kernels": {}, "baseline": {},
                     "mutants": {}}

    def before(self, what, name):
        """What an earlier run found, whatever it ran on; {} if nothing."""
        return self.old.get(what, {}).get(name, {})

    def note(self, what, name, entry):
        """Keeps one."""
        with self.lock:
            self.data[what][name] = entry
            self.save()

    def save(self):
        """Writes the file. What this run did not touch is kept."""
        whole = dict(self.data)
        for what in ("baseline", "mutants"):
            whole[what] = {**self.old.get(what, {}), **self.data[what]}
        whole["mutants"] = {name: entry for name, entry in
                            sorted(whole["mutants"].items())
                            if name in self.names}
        whole["time"] = datetime.datetime.now(datetime.timezone.utc).strftime(
            "%Y-%m-%dT%H:%M:%SZ")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        options.write_json(self.path, whole)


WORDS = {"caught": "caught ", "missed": "MISSED ", "stale": "STALE  ",
         "skipped": "skipped"}


class Run:
    """All of it."""

    def __init__(self, args, mutants):
        self.args = args
        self.out = REPO / "build" / "mutants"
        self.logs = self.out / "logs"
        self.results = Results(self.out / "results.json",
                               {m.name for m in args.everyone})
        self.kernels, self.absent = {}, {}
        for series in sorted({m.kernel for m in mutants if m.kernel}):
            facts, why = kernel_facts(series)
            if facts:
                self.kernels[series] = facts
                self.results.data["kernels"][series] = facts["version"]
            else:
                self.absent[series] = why
        self.lab = Lab(self.kernels)
        self.baseline = {}
        self.count = dict.fromkeys(WORDS, 0)
        self.bad = []
        self.lock = threading.Lock()
        self.mutants = mutants
        self.done = 0

    # Keys: a result holds for what it was got with.

    def job_key(self, job):
        """What the outcome of a test without a mutant depends on."""
        version = self.results.data["kernels"].get(job[1], "")
        return f"{self.results.data['tree']} {version}".strip()

    def key(self, mutant):
        """The same for a mutant."""
        patch = hashlib.sha256(mutant.path.read_bytes()).hexdigest()[:16]
        return f"{self.job_key(mutant.job)} {patch}"

    def known(self, mutant):
        """Has an earlier run caught exactly this one?"""
        old = self.results.before("mutants", mutant.name)
        return self.args.resume and mutant.room != "host" and \
            old.get("verdict") == "caught" and \
            old.get("key") == self.key(mutant)

    # What it will cost

    def job_seconds(self, job):
        """A test that passes."""
        room, series, test = job
        if room != "vm":
            return SECONDS[room]
        case = next((c for c in check.all_cases() if c.name == test), None)
        if not case:
            return 0
        return case.seconds * len(case.machines) * _slow(series)

    def seconds(self, mutant):
        """A mutant, as it was before or by its test."""
        if mutant.kernel in self.absent or self.args.dry_run:
            return SECONDS["build"] if self.args.dry_run else 1
        old = self.results.before("mutants", mutant.name)
        if old.get("seconds") and old.get("verdict") == "caught":
            return old["seconds"]
        if mutant.room != "vm":
            return SECONDS[mutant.room]
        hangs = any(way == HANG for way, _ in mutant.shows[:1])
        slow = _slow(mutant.kernel)
        return SECONDS["build"] + SECONDS["boot"] * slow + (
            vm_limit(mutant.test) + SECONDS["reset"] if hangs
            else self.job_seconds(mutant.job))

    def announce(self, todo, jobs):
        """What is going to happen, and what it costs."""
        first = sum(map(self.job_seconds, jobs)) + sum(
            SECONDS["build"] + SECONDS["boot"] * _slow(series)
            for series in {job[1] for job in jobs if job[1]})
        if self.args.dry_run:
            total = len(todo) * SECONDS["build"]
        else:
            total = first + sum(map(self.seconds, todo)) / self.args.jobs
        boots = sum(m.room == "vm" for m in todo)
        tests = "none is tested" if self.args.dry_run else \
            f"{boots} with a virtual machine each"
        print(f"mutants: {len(todo)} mutants, {tests}; "
              f"{len(jobs)} tests without one first")
        for series, why in self.absent.items():
            skipped = sum(m.kernel == series for m in todo)
            print(f"mutants: left out: {skipped}, as {why}")
        print(f"mutants: about {options.minutes(total)} on two quiet cores "
              f"without KVM, {DISK_MB * self.args.jobs} MB in "
              f"{options.shown(self.out)}; Ctrl-C ends it, --resume goes on",
              flush=True)

    # The tests without any mutant

    def prove(self, jobs):
        """Runs each test once on the project as it is."""
        tree = Tree(self.out / "tree-1")
        tree.sync()
        groups = {}
        for job in jobs:
            groups.setdefault((job[0], job[1], job[2] if job[0] != "vm"
                               else ""), []).append(job)
        for (room, series, _), group in groups.items():
            log = self.logs / ("baseline-" + re.sub(
                r"\W+", "-", f"{room} {series or group[0][2]}") + ".log")
            log.unlink(missing_ok=True)
            started = time.monotonic()
            why = self.lab.build(tree, group[0], log)
            if why:
                raise Trouble(f"without a mutant {job_text(group[0])} {why}, "
                              f"see {options.shown(log)}")
            if room == "vm":
                found = self.lab.vm(tree, series, [j[2] for j in group], log)
                again = [case for case, outcome in found.items()
                         if outcome.way not in ("pass", "skip")]
                if again:
                    # Among other guests some cases do not get through.
                    print("without a mutant, once more: " + ", ".join(
                        f"{case} ({found[case].words()})" for case in again),
                          flush=True)
                    found.update(self.lab.vm(tree, series, again, log))
            else:
                found = {group[0][2]: self.lab.test(tree, group[0], log)}
            seconds = round(time.monotonic() - started)
            for job in group:
                outcome = found[job[2]]
                self.baseline[job] = outcome
                self.results.note("baseline", job_text(job), {
                    "way": outcome.way, "text": outcome.text,
                    "key": self.job_key(job)})
                if outcome.way != "pass":
                    print(f"without a mutant, {job_text(job)}: "
                          f"{outcome.words()}", flush=True)
            passed = sum(found[job[2]].way == "pass" for job in group)
            what = job_text(group[0]) if room != "vm" else \
                f"{passed} of {len(group)} cases ({series})"
            if passed:
                print(f"passes without a mutant: {what} ({seconds} s)",
                      flush=True)

    def baseline_jobs(self, todo):
        """The tests that have to be run without a mutant."""
        jobs = []
        for mutant in todo:
            job = mutant.job
            if job in self.baseline or job in jobs or not exists(job) or \
                    job[1] in self.absent:
                continue
            old = self.results.before("baseline", job_text(job))
            if self.args.resume and job[0] != "host" and \
                    old.get("way") == "pass" and \
                    old.get("key") == self.job_key(job):
                self.baseline[job] = Outcome("pass")
                continue
            jobs.append(job)
        return jobs

    # One mutant

    def verdict(self, mutant, tree):
        """(word, what is said of it)."""
        log = self.logs / f"{mutant.name}.log"
        log.unlink(missing_ok=True)
        tree.sync()
        why = tree.apply(mutant.path)
        room, series, test = mutant.job
        if series in self.absent and self.kernels:
            # Whether it can be built at all, any kernel tells.
            series = min(self.kernels)
        if not why and series not in self.absent:
            why = self.lab.build(tree, (room, series, test), log)
        if why:
            return "stale", why
        if not exists(mutant.job):
            return "missed", f"there is no {mutant.room} {mutant.test}"
        if mutant.kernel in self.absent:
            return "skipped", self.absent[mutant.kernel]
        if self.args.dry_run:
            return "skipped", "applies and builds"
        alone = self.baseline[mutant.job]
        if alone.way == "skip":
            return "skipped", f"its test is skipped here: {alone.text}"
        if alone.way != "pass":
            return "missed", f"without it, too: {alone.words()}"
        outcome = self.lab.test(tree, mutant.job, log)
        self.keep_logs(tree, mutant)
        if outcome.way == "skip":
            return "missed", f"its test is skipped with it: {outcome.text}"
        if noticed(mutant, outcome):
            if _BUSY in outcome.text and not self.control(mutant, tree, log):
                return "missed", ("cannot be told from a busy machine: "
                                  + outcome.words())
            return "caught", outcome.words()
        wanted = "" if outcome.way == "pass" else \
            f"; wanted: {mutant.expects()}"
        return "missed", outcome.words() + wanted

    def control(self, mutant, tree, log):
        """Does the test pass without the mutant right now?"""
        tree.sync()
        return not self.lab.build(tree, mutant.job, log) and \
            self.lab.test(tree, mutant.job, log).way == "pass"

    def keep_logs(self, tree, mutant):
        """What the cases have said, which the next one would overwrite."""
        if mutant.room != "vm":
            return
        with open(self.logs / f"{mutant.name}.log", "a",
                  encoding="utf-8") as log:
            for path in sorted((tree.top / "build" / "check").glob(
                    f"vm-{mutant.kernel}-*/*")):
                if path.suffix in (".log", ".stderr"):
                    log.write(f"\n--- {path.name}\n"
                              + path.read_text(errors="replace"))

    def left(self, todo):
        """Seconds for what is still to do."""
        return sum(self.seconds(m) for m in todo) / self.args.jobs

    def tell(self, mutant, word, text, seconds, todo):
        """The line of one result, its entry, and the count."""
        with self.lock:
            self.done += 1
            self.count[word] += 1
            where = job_text(mutant.job)
            short = text if len(text) <= _SAID else text[:_SAID - 3] + "..."
            rest = "" if self.done == len(self.mutants) else \
                f", {options.minutes(self.left(todo))} left"
            print(f"[{self.done}/{len(self.mutants)}] {WORDS[word]} "
                  f"{mutant.name}: {where}: {short} ({seconds:.0f} s{rest})",
                  flush=True)
            if word in ("missed", "stale"):
                self.bad.append(f"{mutant.name}: {text}")
        if not self.args.dry_run:
            self.results.note("mutants", mutant.name, {
                "verdict": word, "said": text, "seconds": round(seconds),
                "caught_by": mutant.caught_by, "kernel": mutant.kernel,
                "recreates": mutant.recreates, "key": self.key(mutant)})

    def work(self, number, todo, failed):
        """One after the other, in a copy of its own."""
        try:
            tree = Tree(self.out / f"tree-{number}")
            while True:
                try:
                    mutant = todo.get_nowait()
                except queue.Empty:
                    return
                started = time.monotonic()
                word, text = self.verdict(mutant, tree)
                self.tell(mutant, word, text, time.monotonic() - started,
                          list(todo.queue))
        except options.Interrupted:
            pass
        except BaseException as error:  # pylint: disable=broad-except
            failed.append(error)

    def all(self):
        """Everything; the exit status."""
        todo = [m for m in self.mutants if not self.known(m)]
        jobs = [] if self.args.dry_run else self.baseline_jobs(todo)
        for mutant in self.mutants:
            if mutant not in todo:
                self.baseline.setdefault(mutant.job, Outcome("pass"))
        self.announce(todo, jobs)
        for mutant in self.mutants:
            if mutant not in todo:
                self.done += 1
                self.count["caught"] += 1
        if len(todo) < len(self.mutants):
            print(f"mutants: {self.done} were caught before, with the same "
                  "sources", flush=True)
        self.prove(jobs)
        rest = queue.Queue()
        for mutant in todo:
            rest.put(mutant)
        failed = []
        workers = [threading.Thread(target=self.work, args=(n, rest, failed),
                                    daemon=True)
                   for n in range(1, self.args.jobs + 1)]
        for worker in workers:
            worker.start()
        while any(worker.is_alive() for worker in workers):
            for worker in workers:
                worker.join(0.2)
        if failed:
            raise failed[0]
        return self.end()

    def end(self):
        """The last lines; the exit status."""
        self.results.save()
        if self.bad:
            print(f"\nlogs are in {options.shown(self.logs)}:")
            for line in self.bad:
                print(f"  {line}")
        print(", ".join(f"{n} {word}" for word, n in self.count.items()),
              flush=True)
        if self.args.dry_run:
            return 1 if self.bad else 0
        return 1 if self.bad or not self.count["caught"] else 0


def _called(mutant, patterns):
    return not patterns or any(
        fnmatch.fnmatchcase(mutant.name, p) or p in mutant.name
        for p in patterns)


def parse(argv):
    """The options, with the chosen mutants as .mutants."""
    parser = options.Parser(
        "mutants", description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 all caught (what cannot be run here is skipped), 1 "
        "one is missed or stale, 2 bad options. docs/mutants.md says how a "
        "patch is written.")
    add = parser.add_argument
    add("--only", action="append", metavar="PATTERN",
        help="only mutants with such a name, or a part of it; may be repeated")
    add("--kernel", metavar="SERIES",
        help="only those that want this kernel, such as 6.1 or debug")
    add("--jobs", type=options.number(1, 2), default=1, metavar="N",
        help="virtual machines at once, 1 or 2 (default 1; with 2, cases that "
        "measure how long something takes may see a busy machine)")
    add("--resume", action="store_true",
        help="leave out what an earlier run with the same sources has caught")
    add("--dry-run", action="store_true",
        help="only see whether each one applies and builds")
    add("--list", action="store_true", help="print them and what they want")
    add("--table", action="store_true",
        help="make the table of docs/mutants.md anew")
    args = parser.parse_args(argv)
    try:
        everyone = all_mutants()
    except BadHead as error:
        parser.error(str(error))
    series = sorted({m.kernel for m in everyone if m.kernel})
    if args.kernel and args.kernel not in series:
        parser.error(f"argument --kernel: '{args.kernel}': want one of "
                     + ", ".join(series))
    args.mutants = [m for m in everyone if _called(m, args.only)
                    and args.kernel in (None, m.kernel)]
    if not args.mutants:
        parser.error(f"argument --only: no mutant '{args.only[-1]}', see "
                     "--list" if args.only else "no mutants in tests/mutants")
    args.everyone = everyone
    return args


def main(argv=None):
    """Command line of scripts/mutants."""
    args = parse(sys.argv[1:] if argv is None else argv)
    kernel.SPEAKER = "mutants"

    def on_signal(number, _):
        raise options.Interrupted(number)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    run = None
    try:
        if args.list:
            for mutant in args.mutants:
                print(f"{mutant.name}\t{job_text(mutant.job)}\t"
                      f"{mutant.expects()}")
            sys.stdout.flush()
            return 0
        if args.table:
            path = REPO / "docs" / "mutants.md"
            path.write_text(page(path.read_text(encoding="utf-8"),
                                 args.everyone), encoding="utf-8")
            print(f"mutants: {options.shown(path)} has a new table")
            return 0
        with kernel.locked(REPO / "build" / ".mutants.lock",
                           "waiting for another run in this tree"):
            run = Run(args, args.mutants)
            return run.all()
    except options.Interrupted as error:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        say(f"ended by {signal.Signals(error.number).name}; --resume goes on")
        return 128 + error.number
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 128 + signal.SIGPIPE
    except (Trouble, OSError) as error:
        say(str(error))
        return 1
    finally:
        if run:
            run.lab.children.stop()
            for child in list(run.lab.children.running):
                run.lab.children.end(child, 15)


if __name__ == "__main__":
    sys.exit(main())
