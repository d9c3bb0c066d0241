# SPDX-License-Identifier: GPL-2.0
"""scripts/blktests: the block layer's own tests, with our schedulers.

Runs an unmodified checkout in virtual machines: once with a stock scheduler
and without our modules, then with each of ours. What fails in both is not
ours. docs/blktests.md says what it needs and what was found.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import children
import initramfs
import kernel
import options
import schedulers
import vm

REPO = pathlib.Path(__file__).resolve().parents[2]
SOURCES = REPO / "tests" / "blktests"
RESULTS = REPO / "build" / "blktests"

# Those that have to do with schedulers: what they loop over, or what runs with
# one below it. In block/ only; the other groups test drivers.
SUBSET = tuple(f"block/{number:03d}" for number in (
    1, 4, 5, 6, 8, 10, 14, 15, 17, 18, 20, 21, 22, 27, 29, 30, 31, 35, 38, 40,
    47))

# Programs that a guest of the lab lacks; awk shall be the one they ask for.
TOOLS = ("gawk", "getconf", "column", "getopt", "findmnt", "logger")
# Modules of the kernel that the guest of the lab does not have.
MODULES = ("sr_mod",)
STOCK_MODULES = tuple(name for name in schedulers.STOCK.values() if name)

# One of them takes 84 times 8 MB for its buffers.
MACHINE = ("--cpus", "2", "--nvme-queues", "2", "--memory", "4G",
           "--disk", "2G")
# Seconds of one test on two quiet cores, for the estimate, and the most.
EACH, LIMIT = 20, 420
BOOTS_MAX = 8

WORDS = {"passed": "ok", "failed": "FAIL", "not run": "skip"}


def say(text):
    """One line of progress."""
    print(f"blktests: {text}", file=sys.stderr, flush=True)


def parse(argv):
    """The options."""
    parser = options.Parser(
        "blktests", usage="scripts/blktests DIR [TEST...] [options]",
        description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 no test fails with one of ours that passes without; "
        "1 one does, or a machine failed; 2 bad options; 77 no such kernel; "
        "130 interrupted.")
    add = parser.add_argument
    add("folder", metavar="DIR", type=pathlib.Path,
        help="a checkout of blktests; nothing is written there")
    add("tests", metavar="TEST", nargs="*", default=[],
        help="such as block/005 (default: those that concern schedulers)")
    options.add_kernel(add)
    add("--scheduler", action="append", metavar="NAME",
        help="may be repeated (default: each one of ours)")
    add("--baseline", choices=tuple(schedulers.STOCK), default="mq-deadline",
        metavar="NAME", help="the stock scheduler to compare with, one of "
        f"{', '.join(schedulers.STOCK)} (default mq-deadline)")
    add("--seconds", type=options.number(1, 3600), default=10, metavar="N",
        help="TIMEOUT of blktests: how long a test may go on (default 10)")
    args = parser.parse_intermixed_args(argv)
    for name in ("check", "common/rc", "tests/block"):
        if not (args.folder / name).exists():
            parser.error(f"argument DIR: '{args.folder}': want a checkout of "
                         f"blktests, this has no {name}; git clone one")
    for name in args.tests:
        if not re.fullmatch(r"\w+/\d{3}", name) or \
                not (args.folder / "tests" / name).exists():
            parser.error(f"argument TEST: '{name}': want a test of the "
                         "checkout, such as block/005")
    args.tests = args.tests or [
        name for name in SUBSET if (args.folder / "tests" / name).exists()]
    return args


def loops(text):
    """Does a test (its text) choose schedulers itself?"""
    return bool(re.search(r"_io_schedulers|queue(_path)?\"?/scheduler", text))


# --- what a guest said ------------------------------------------------------

class Reader:
    """Understands the output of guest.sh."""

    def __init__(self):
        self.results = {}       # {test: {"verdict", "seconds", "why"}}
        self.schedulers = []
        self.trouble = ""
        self.current = None
        self._verdicts = []
        self._why = []
        self._files = False

    def line(self, line):
        """Takes one line; the test that it ended, or None."""
        words = line.split()
        if words[:1] == ["BLKTEST"] and len(words) > 1:
            return self._own(words)
        if not self.current or self._files:
            return None
        match = re.match(r"\S+/\d{3}.*\[(passed|failed|not run)\]$", line)
        if match:
            self._verdicts.append(WORDS[match[1]])
            self._why = [] if match[1] == "passed" else self._why
        elif self._verdicts and self._verdicts[-1] != "ok" and \
                line.startswith("    ") and not \
                re.match(r" +(runtime|\w+ iops|IOPS) .*\t?\.\.\.", line):
            self._why.append(line.strip())
        return None

    def _own(self, words):
        kind = words[1]
        if kind == "schedulers":
            self.schedulers = words[2:]
        elif kind == "trouble":
            self.trouble = " ".join(words[2:])
        elif kind == "begin":
            self.current, self._verdicts, self._why = words[2], [], []
            self._files = False
        elif kind == "file":
            self._files = True
        elif kind == "end":
            self.results[self.current] = self._verdict(int(words[3]),
                                                       int(words[4]))
            ended, self.current = self.current, None
            return ended
        return None

    def _verdict(self, status, seconds):
        why = self._why
        if status == 124:
            verdict, why = "FAIL", [f"not done after {seconds} s"]
        elif "FAIL" in self._verdicts:
            verdict = "FAIL"
        elif not self._verdicts:
            verdict, why = "FAIL", [f"no result, status {status}"]
        elif set(self._verdicts) == {"skip"}:
            verdict = "skip"
        else:
            verdict = "ok" if status == 0 else "FAIL"
        return {"verdict": verdict, "seconds": seconds,
                "why": "; ".join(why[:3])[:300] if verdict != "ok" else ""}

    def died(self, why):
        """The guest ended in the middle of a test."""
        self.results[self.current] = {"verdict": "FAIL", "seconds": 0,
                                      "why": why}
        self.current = None


# --- what is compared -------------------------------------------------------

def judge(test, baseline, ours):
    """The verdict on a test: "", "skip", "not ours", "OURS", ..."""
    verdicts = [found[test]["verdict"] for found in ours if test in found]
    stock = baseline.get(test, {}).get("verdict")
    if "FAIL" in verdicts:
        if stock == "FAIL":
            return "fails without us, too"
        return "OURS" if stock == "ok" else "OURS? (stock: " \
            f"{stock or 'not run'})"
    if stock == "FAIL":
        return "fails only without us"
    return "not run here" if verdicts and set(verdicts) == {"skip"} else ""


def table(tests, columns, baseline):
    """Lines: a row a test, a column a run; {name: results}."""
    ours = [found for name, found in columns.items() if name != baseline]
    rows = [["test", *columns, ""]]
    for test in tests:
        cells = []
        for found in columns.values():
            result = found.get(test)
            cells.append("" if not result else result["verdict"] + (
                f" {result['seconds']} s" if result["verdict"] != "skip"
                else ""))
        rows.append([test, *cells, judge(test, columns[baseline], ours)])
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return ["  ".join(f"{cell:{width}}" for cell, width in
                      zip(row, widths)).rstrip() for row in rows]


# --- what the guest gets ----------------------------------------------------

def add_tool(root, name, path):
    """A program of this machine with its libraries.

    In a separate folder: the lab's guest has other programs of some names.
    """
    real = os.path.realpath(path)
    files = {f"usr/local/bin/{name}": real}
    # pylint: disable-next=protected-access
    for library in initramfs.libraries(real):
        place = os.path.realpath(os.path.dirname(library)).lstrip("/")
        files[f"{place}/{os.path.basename(library)}"] = library
    for inside, source in files.items():
        target = root / inside
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(source), target)
        target.chmod(0o755)


def add_modules(root, facts):
    """Modules of the kernel that the lab's guest lacks."""
    for name in MODULES:
        done = subprocess.run(
            ["modprobe", "-C", "/dev/null", "-d", facts["root"], "-S",
             facts["release"], "--show-depends", name], check=False,
            text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for path in re.findall(r"^insmod (\S+)", done.stdout, re.M):
            inside = path.split(f"/{facts['release']}/", 1)[1]
            target = root / "usr/lib/modules" / facts["release"] / \
                re.sub(r"\.(xz|zst)$", "", inside)
            target.parent.mkdir(parents=True, exist_ok=True)
            # pylint: disable-next=protected-access
            target.write_bytes(initramfs._unpacked(path))


def kernel_config(facts):
    """The configuration of a kernel."""
    for path in (pathlib.Path(facts["root"], "boot",
                              f"config-{facts['release']}"),
                 pathlib.Path(facts["kdir"], ".config")):
        if path.exists():
            return path
    raise RuntimeError(f"{facts['release']} has no file with its "
                       "configuration, which blktests asks for")


def prepare(args, facts, share):
    """Fills the directory that the guest sees."""
    root = share / "root"
    for name in TOOLS:
        path = shutil.which(name)
        if path:
            add_tool(root, name, path)
    local = root / "usr/local/bin"
    (local / "awk").symlink_to("gawk")
    shutil.copy(SOURCES / "udevadm", local)
    shutil.copy(SOURCES / "guest.sh", share)
    add_modules(root, facts)
    shutil.copy(kernel_config(facts), share / "config-kernel")
    copy = share / "blktests"
    shutil.copytree(args.folder, copy, symlinks=True,
                    ignore=shutil.ignore_patterns(".git", "results",
                                                  "config"))
    done = subprocess.run(
        ["make", "-k", "-s", "-C", copy / "src", "CC=gcc", "CXX=g++"],
        check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, env=children.environment())
    if done.returncode:
        say("not all of src/ builds here; tests that want the rest are "
            "skipped: " + done.stdout.strip().split("\n")[-1])


# --- running ----------------------------------------------------------------

class Runner:
    """Runs lists of tests, in as many guests as it takes."""

    def __init__(self, args, share):
        self.args = args
        self.share = share
        self.child = None
        self.retried = 0
        self.schedulers = {}
        self.bad = []           # reports of guests with our modules
        self.slow = kernel.SERIES[args.kernel].slow

    def close(self):
        """Ends what still runs."""
        if self.child and self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGTERM)
            self.child.wait()

    def boot(self, name, rule, modules, tests, number):
        """One guest; {test: result} of those that it got to, and trouble."""
        reader = Reader()
        limit = LIMIT * self.slow
        folder = RESULTS / self.args.kernel
        folder.mkdir(parents=True, exist_ok=True)
        loaded = [*STOCK_MODULES, *(f"{module}-iosched"
                                    for module in modules)]
        command = [
            REPO / "scripts" / "vm", "--kernel", self.args.kernel, *MACHINE,
            "--timeout", str(min(86400, 120 + limit * len(tests))),
            "--share", self.share, *([] if modules else ["--no-modules"]),
            "--", f"TIMEOUT={self.args.seconds} bash /share/guest.sh {rule} "
            f"{limit} '{' '.join(loaded)}' "
            + " ".join(tests)]
        with open(folder / f"{name}-{number}.log", "w", encoding="utf-8") \
                as log, tempfile.TemporaryFile("w+", errors="replace") as said:
            self.child = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=said, text=True,
                errors="replace", start_new_session=True)
            for line in self.child.stdout:
                log.write(line)
                log.flush()
                ended = reader.line(line.rstrip("\n"))
                if ended:
                    result = reader.results[ended]
                    print(f"{result['verdict']:4} {name} {ended} "
                          f"({result['seconds']} s)"
                          + (f": {result['why']}" if result["why"] else ""),
                          flush=True)
            status = self.child.wait()
            said.seek(0)
            text = said.read()
            log.write(text)
        self.schedulers[name] = reader.schedulers
        self.retried += vm.boots_retried(text)
        reports = re.findall(r"^vm: the kernel reported: (.*)$", text, re.M)
        if status == 77:
            raise kernel.Unavailable(text.strip().split("\n")[-1])
        if reader.current:
            test = reader.current
            reader.died("the guest ended: " + (
                ", ".join(reports) or f"status {status} of scripts/vm"))
            print(f"FAIL {name} {test}: {reader.results[test]['why']}",
                  flush=True)
        elif not reader.results or (reader.trouble and
                                    "new guest" not in reader.trouble):
            raise RuntimeError(
                f"{name}: " + (reader.trouble or f"status {status}")
                + f", see {options.shown(folder)}/{name}-{number}.log")
        elif reports or status not in (0, 1, 3):
            # blktests looks for most reports itself and names the test; this
            # one was printed between two tests, or after the last.
            text = ", ".join(reports) or f"status {status} of scripts/vm"
            say(f"{name}: the kernel reported: {text}")
            if modules:
                self.bad.append(f"{name}: {text}")
        return reader.results

    def run(self, name, rule, modules, tests):
        """All of them; {test: result}"""
        results, left = {}, list(tests)
        if not tests:
            return results
        for number in range(1, BOOTS_MAX + 1):
            found = self.boot(name, rule, modules, left, number)
            results.update(found)
            left = [test for test in left if test not in found]
            if not left:
                break
            say(f"{name}: a new guest for the other {len(left)}")
        for test in left:
            results[test] = {"verdict": "FAIL", "seconds": 0,
                             "why": "not run, too many guests died"}
        return results


def choose(args, facts):
    """(the schedulers to try, all of ours)"""
    vm.build_modules(facts)
    ours = schedulers.built(REPO / "build" / "modules" / facts["release"])
    if not ours:
        raise RuntimeError("no scheduler was built")
    for name in args.scheduler or ():
        if name not in ours:
            say(f"argument --scheduler: '{name}': want one of "
                + ", ".join(ours))
            sys.exit(2)
    return args.scheduler or ours, ours


def commit_of(folder):
    """The commit of a checkout."""
    done = subprocess.run(["git", "-C", folder, "rev-parse", "--short=12",
                           "HEAD"], check=False, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout.strip() or "unknown"


def everything(args, facts, share):
    """All runs; the exit status."""
    names, ours = choose(args, facts)
    looping = [t for t in args.tests if loops(
        (args.folder / "tests" / t).read_text(errors="replace"))]
    others = [t for t in args.tests if t not in looping]
    runs = len(args.tests) + len(looping) + len(names) * len(others)
    slow = kernel.SERIES[args.kernel].slow
    say(f"{facts['release']}, blktests {commit_of(args.folder)}: "
        f"{len(args.tests)} tests with {args.baseline} and without our "
        f"modules, {len(looping)} that choose schedulers themselves, "
        f"{len(others)} with each of {' '.join(names)}; about "
        f"{options.minutes(runs * EACH * slow)}, 100 MB of disk for a while")
    prepare(args, facts, share)
    runner = Runner(args, share)
    try:
        columns = {args.baseline: runner.run(args.baseline, args.baseline, (),
                                             args.tests)}
        for number, name in enumerate(names):
            # Tests that loop over all schedulers run once, with all of ours.
            tests = others + (looping if number == 0 else [])
            columns[name] = runner.run(name, name, ours, sorted(tests))
    finally:
        runner.close()
    absent = [name for name in ours if name not in
              runner.schedulers.get(names[0], ())]
    if absent:
        raise RuntimeError(f"the guest's disk offers no {' '.join(absent)}, "
                           "so nothing was tested with it")
    print("\n".join(["", *table(args.tests, columns, args.baseline)]))
    found = [found for name, found in columns.items() if name != args.baseline]
    bad = [test for test in args.tests
           if judge(test, columns[args.baseline], found).startswith("OURS")]
    place = RESULTS / f"{args.kernel}.json"
    place.write_text(json.dumps({
        "schema": 1, "kernel": facts["release"],
        "blktests": commit_of(args.folder), "commit": options.commit(),
        "baseline": args.baseline, "seconds": args.seconds,
        "looping": looping, "date": time.strftime("%Y-%m-%d"),
        "results": columns}, indent=1) + "\n")
    if runner.retried:
        print(f"boots retried: {runner.retried}")
    print(f"blktests: {len(bad)} of {len(args.tests)} fail with one of ours "
          f"only{': ' + ' '.join(bad) if bad else ''}; "
          f"{options.shown(place)}, logs beside it")
    if runner.bad:
        print("blktests: outside of the tests: " + "; ".join(runner.bad))
    return 1 if bad or runner.bad else 0


def main(argv=None):
    """Command line of scripts/blktests."""
    args = parse(sys.argv[1:] if argv is None else argv)
    options.need("build", "vm", "blktests")

    def body():
        facts = kernel.Store(kernel.cache_dir()).get(args.kernel)
        with tempfile.TemporaryDirectory(prefix="flash-blktests-") as folder:
            return everything(args, facts, pathlib.Path(folder))
    return vm.guarded("blktests", say, args.kernel, body,
                      "interrupted; logs of what was run are in "
                      + options.shown(RESULTS / args.kernel))


if __name__ == "__main__":
    sys.exit(main())
