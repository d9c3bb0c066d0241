# SPDX-License-Identifier: GPL-2.0
"""scripts/check: the whole test suite.

Cheap things first: scripts, unit tests, builds (warnings, sparse), the ABI
check and host tests; then the cases of tests/vm in virtual machines: on 6.12 as
many as an hour has room for, on 6.1 and on a debug kernel those of the core;
docs/kernels.md says how they are chosen. With --all, everything on every
kernel, power cuts and mutants too. The last line counts:
`N passed, N failed, N skipped`.
"""

import concurrent.futures
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree

import btfs
import children
import earlier
import kernel
import matrix
import options
import schedulers
import sourcekernel
from checkcases import CASES, Leg, PACE, SECONDS, all_cases
from checkvm import RESULTS, check_vm

REPO = pathlib.Path(__file__).resolve().parents[2]

# Kernels on which each change has to pass: all cases on the first, those of the
# core on the others. "debug" is built here.
STOCK = kernel.DEFAULT
CORE = ("6.1", "debug")
# The time of make check if its kernels still have to be fetched and built.
BUDGET = 3600

TAIL = 25


class Suite:
    """Runs things and keeps count."""

    def __init__(self, resume=False):
        self.count = {"pass": 0, "fail": 0, "skip": 0}
        self.failures = []
        self.lost = 0           # guests, to a fault of QEMU's
        self.children = set()
        self.lock = threading.RLock()   # of what is counted and printed
        self.stopped = False
        self.retried = 0
        self.matrix = matrix.Matrix()
        self.earlier = earlier.Earlier(RESULTS / "earlier.json", CASES, resume)

    @staticmethod
    def tell(verdict, name, reason=""):
        """The line of one result."""
        word = {"pass": "ok  ", "fail": "FAIL", "skip": "skip"}[verdict]
        print(f"{word} {name}" + (f": {reason}" if reason else ""), flush=True)

    def note(self, verdict, name, reason="", detail="", told=False):
        """Counts one result and prints it, unless it was already printed."""
        with self.lock:
            if self.stopped:
                return          # the child was killed
            self.count[verdict] += 1
            if not told:
                self.tell(verdict, name, reason)
            if verdict == "fail":
                self.failures.append(
                    f"{name}" + (f": {reason}" if reason else ""))
                if detail:
                    if told:
                        print(f"     | {name}:")
                    print("".join(f"     | {line}\n"
                                  for line in heart(detail)),
                          end="", flush=True)

    def start(self, command, **more):
        """A child that does not outlive this process."""
        with self.lock:
            if self.stopped:
                raise RuntimeError("the run has been stopped")
            child = subprocess.Popen(
                [str(c) for c in command], stdin=subprocess.DEVNULL, text=True,
                errors="replace", cwd=REPO, env=children.environment(),
                start_new_session=True,
                # Even if this process is killed: scripts/vm then ends its guest.
                preexec_fn=children.tied(), **more)
            self.children.add(child)
            return child

    def run(self, command):
        """(status, output) of a command."""
        child = self.start(command, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
        out, _ = child.communicate()
        self.children.discard(child)
        self.look_for_retries(out)
        return child.returncode, out

    def follow(self, command, on_line):
        """Like run(), for a long command: calls on_line(line) for each line of output."""
        child = self.start(command, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
        lines = []
        for line in child.stdout:
            lines.append(line)
            on_line(line.rstrip("\n"))
        status = child.wait()
        self.children.discard(child)
        out = "".join(lines)
        self.look_for_retries(out)
        return status, out

    def look_for_retries(self, said):
        """Counts boots that scripts/vm tried again."""
        for count in re.findall(
                r"^(?:vm: )?(?:boots retried: (?=\d+$)|gave up after "
                r"(?=\d+ retries$))(\d+)", said, re.M):
            self.retried += int(count)

    def together(self, *works):
        """Calls functions, two at a time, each with this suite and an argument."""
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            try:
                for done in [pool.submit(work, self, argument)
                             for work, argument in works]:
                    done.result()
            except options.Interrupted:
                pool.shutdown(wait=False, cancel_futures=True)
                self.stop()
                raise

    def stop(self):
        """Ends what still runs: scripts/vm takes its QEMU along."""
        with self.lock:
            self.stopped = True
        for child in list(self.children):
            if child.poll() is None:
                try:
                    os.killpg(child.pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass
        for child in list(self.children):
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)


def heart(detail):
    """The lines to show: the begin of the first report, or else the end."""
    lines = detail.strip().split("\n")
    report = next((i for i, line in enumerate(lines)
                   if line.startswith("vm: the kernel reported")), None)
    if report is None:
        return lines[-TAIL:]
    return lines[report:report + TAIL] + \
        [line for line in lines[report + TAIL:] if line.startswith("vm: ")]


def shell_files():
    """Our shell scripts, by their first line or name."""
    found = []
    for top in ("scripts", "tests", ".ci"):
        for path in sorted((REPO / top).rglob("*")):
            if not path.is_file() or path.suffix in (".py", ".pyc"):
                continue
            with open(path, "rb") as file:
                first = file.readline(80)
            if path.suffix == ".sh" or re.match(rb"#!.*\b(ba|da)?sh\b", first):
                found.append(path.relative_to(REPO))
    return found


def check_shell(suite):
    """shellcheck, a result for each script."""
    if not shutil.which("shellcheck"):
        suite.note("skip", "shellcheck", "not installed")
        return
    files = shell_files()
    status, out = suite.run(["shellcheck", "-f", "gcc", *files])
    told = False
    for path in files:
        mine = [l for l in out.split("\n") if l.startswith(f"{path}:")]
        told = told or bool(mine)
        suite.note("fail" if mine else "pass", f"shellcheck {path}",
                   mine[0] if mine else "", "\n".join(mine))
    if status and not told:
        suite.note("fail", "shellcheck", f"status {status}", out)


def check_host(suite):
    """tests/host with pytest, each test counted."""
    if not list((REPO / "tests" / "host").glob("test_*.py")):
        return
    missing = [name for name in ("pytest", "xdist")
               if importlib.util.find_spec(name) is None]
    if missing:
        suite.note("skip", "tests/host", f"no {missing[0]} installed")
        return
    with tempfile.TemporaryDirectory() as scratch:
        report = pathlib.Path(scratch, "report.xml")
        status, out = suite.run(
            [sys.executable, "-B", "-m", "pytest", "-q", "-p",
             "no:cacheprovider", "-n", str(os.cpu_count()), "--dist",
             # With a worker that stands in for one that died, pytest never ends.
             "loadfile", "--max-worker-restart=0", f"--junitxml={report}",
             "tests/host"])
        try:
            tests = list(xml.etree.ElementTree.parse(report).iter("testcase"))
        except (OSError, xml.etree.ElementTree.ParseError):
            tests = []
    failed = False
    for test in tests:
        name = f"{test.get('classname', '').replace('.', '/')} {test.get('name')}"
        bad = test.find("failure") if test.find("failure") is not None \
            else test.find("error")
        skipped = test.find("skipped")
        if bad is not None:
            failed = True
            suite.note("fail", name, bad.get("message", "").split("\n")[0],
                       bad.text or "")
        elif skipped is not None:
            suite.note("skip", name, skipped.get("message", ""))
        else:
            suite.note("pass", name)
    if status and not failed:
        suite.note("fail", "tests/host", f"pytest's status {status}", out)


def check_btfs(all_of_them):
    """BTF of kernels that are compared: the tests skip what cannot be had."""
    if all_of_them:
        os.environ["ALL_BTFS"] = "1"
    try:
        btfs.fetch_all(telling=not all_of_them)
    except (OSError, kernel.Broken) as error:
        print(f"check: {error}", flush=True)


def check_unit(suite):
    """make unit; its lines are TAP."""
    if not (REPO / "tests" / "unit" / "Makefile").exists():
        return
    status, out = suite.run(["make", "-s", "-j", str(os.cpu_count()), "-O",
                             "unit"])
    program, failed, seen = "unit", False, 0
    for line in out.split("\n"):
        heading = re.match(r"# (\w+)$", line)
        if heading:
            program = f"unit {heading[1]}"
        match = re.match(r"(not )?ok\b *(\d*) *-? *(.*)", line)
        if not match:
            continue
        seen += 1
        name = f"{program}: {match[3] or match[2]}"
        if re.search(r"# *skip", match[3], re.I):
            suite.note("skip", name)
        elif match[1]:
            failed = True
            suite.note("fail", name)
        else:
            suite.note("pass", name)
    if (status and not failed) or not seen:
        suite.note("fail", "make unit", f"status {status}, {seen} tests", out)


def check_physics(suite, series):
    """scripts/physics, each of its rows."""
    status, out = suite.run([REPO / "scripts" / "physics", "--kernel", series])
    rows = re.findall(r"^(ok  |FAIL) (.*)$", out, re.M)
    for word, text in rows:
        name, _, figures = re.sub(r" {2,}", "  ", text).partition("  ")
        suite.note("pass" if word == "ok  " else "fail", f"physics {name}",
                   "" if word == "ok  " else figures)
    if not rows or (status and all(word == "ok  " for word, _ in rows)):
        suite.note("fail", "physics", f"status {status}, {len(rows)} rows", out)


def check_repeat(suite, series):
    """One run in two machines side by side: what virtual time promises."""
    name = "virtual time: the same run twice is the same"
    out = RESULTS / "repeat"
    shutil.rmtree(out, ignore_errors=True)
    status, said = suite.run(
        [REPO / "scripts" / "bench", "smoke", "--only", "rand-read.k2-8.*",
         "--repeat", "2", "--out", out, "--kernel", series])
    try:
        found = json.loads((out / "summary.json").read_text())["repeats"]
        found = [found[key] for key in ("runs", "iops_largest",
                                        "tail_largest")]
    except (OSError, ValueError, KeyError, TypeError):
        found = []
    # Not merely close: to the last request.
    same = status == 0 and found == [1, 0, 0]
    suite.note("pass" if same else "fail", name, "" if same else
               f"status {status}; runs compared, and by how much their IOPS "
               f"and tails differ: {found}", "" if same else said)


def check_stages(suite, series):
    """Two tracers of the same load, which scripts/stages has to split alike."""
    status, out = suite.run([REPO / "scripts" / "stages-test", "--kernel",
                             series, "--out", RESULTS / "stages"])
    suite.note("fail" if status else "pass",
               "stages: ftrace and blktrace tell the same",
               "; ".join(re.findall(r"^stages-test: FAIL (.*)$", out, re.M)),
               out if status else "")


def check_rows(suite, name, command, on_row=None):
    """A script that prints results in this script's format, counted as printed.

    on_row(verdict, text) is called for each as well.
    """
    words = {"ok  ": "pass", "FAIL": "fail", "skip": "skip"}
    seen = {"pass": 0, "fail": 0, "skip": 0}

    def on_line(line):
        verdict = words.get(line[:4]) if line[4:5] == " " else None
        if not verdict:
            if line.startswith("     | "):
                print(line, flush=True)
            return
        seen[verdict] += 1
        title, _, reason = line[5:].partition(": ")
        suite.note(verdict, f"{name} {title}", reason)
        if on_row:
            on_row(verdict, line[5:])
    status, out = suite.follow(command, on_line)
    if status == 77 and not seen["fail"]:
        suite.note("skip", name, out.strip().split("\n")[-1])
    elif (status and not seen["fail"]) or not sum(seen.values()):
        suite.note("fail", name, f"status {status}, {sum(seen.values())} "
                   "results", out)


def check_crash(suite, series, control):
    """Power cuts for every scheduler, and the proof that they find things."""
    def on_row(verdict, text):
        # crash NAME round N: ... (S s)
        seconds = re.search(r"\((\d+) s\)$", text)
        suite.matrix.add(series, text.split()[1], verdict,
                         int(seconds[1]) if seconds else 0)
    crash = [REPO / "scripts" / "crash", "--kernel", series]
    check_rows(suite, series, crash, on_row)
    if control:
        check_rows(suite, f"{series} control:", [
            *crash, "--rounds", "1", "--control", "--scheduler", "none"])


def check_mutants(suite):
    """scripts/mutants; a mutant that no test noticed is a failure."""
    words = {"caught": "pass", "MISSED": "fail", "STALE": "fail",
             "skipped": "skip"}
    seen = []

    def on_line(line):
        match = re.match(r"\[\d+/\d+\] (\w+) +([^:]+): (.*)", line)
        if match and match[1] in words:
            seen.append(words[match[1]])
            suite.note(seen[-1], f"mutant {match[2]}",
                       match[3] if seen[-1] != "pass" else "")
    status, out = suite.follow(
        [mutants(), *(["--resume"] if suite.earlier.resume else [])], on_line)
    before = re.search(r"^mutants: (\d+) were caught before", out, re.M)
    if before:
        suite.note("pass", f"{before[1]} mutants that were caught before")
    if not (seen or before) or (status and "fail" not in seen):
        suite.note("fail", "mutants", f"status {status}, {len(seen)} tried",
                   out)


def scratch_tree(series):
    """A tree of links: its objects are apart from those of normal builds."""
    tree = RESULTS / f"tree-{series}"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for path in REPO.iterdir():
        if path.name not in ("build", ".git"):
            (tree / path.name).symlink_to(path)
    return tree


def check_build(suite, series, facts):
    """Builds without a warning, sparse without a word, equal layouts."""
    which = ["KVER=", *kernel.make_words(facts)]
    make = ["make", "-s", "-j", str(os.cpu_count()), "-O", "-C",
            scratch_tree(series), *which]
    status, out = suite.run([*make, "modules", "W=1"])
    warned = re.search(r"\b(warning|error): .*", out)
    if status or warned:
        suite.note("fail", f"{series} build with W=1",
                   warned[0] if warned else f"status {status}", out)
    else:
        suite.note("pass", f"{series} build with W=1")
    if not kernel.SERIES[series].sparse:
        suite.note("skip", f"{series} sparse", "it cannot read this kernel's headers")
    elif not shutil.which("sparse"):
        suite.note("skip", f"{series} sparse", "not installed")
    else:
        status, out = suite.run([*make, "modules", "C=2"])
        warned = re.search(r"\b(warning|error): .*", out)
        suite.note("fail" if status or warned else "pass", f"{series} sparse",
                   warned[0] if warned else "", out)
    status, out = suite.run(["make", "-s", *which, "abi-check"])
    suite.note("fail" if status else "pass", f"{series} abi-check",
               f"status {status}" if status else "", out)


def parse(argv):
    """The options."""
    parser = options.Parser(
        "check", description=__doc__.split("\n", 1)[1].strip())
    parser.add_argument("--kernel", type=options.series, action="append",
                        metavar="SERIES",
                        help="only this series, with all cases, one of "
                        f"{', '.join(kernel.SERIES)}; may be repeated")
    parser.add_argument("--all", action="store_true",
                        help="every kernel, every case, power cuts, mutants")
    parser.add_argument("--core", action="store_true",
                        help="only the cases of the core")
    parser.add_argument("--deal", action="store_true",
                        help="each case with one scheduler, in turn")
    parser.add_argument("--fast", action="store_true",
                        help="leave out the cases that take longest")
    parser.add_argument("--case", action="append", metavar="NAME",
                        help="only this case of tests/vm; may be repeated")
    parser.add_argument("--scheduler", action="append", metavar="NAME",
                        help="only the cases of this scheduler, and none of "
                        "the lab; may be repeated")
    parser.add_argument("--resume", action="store_true",
                        help="leave out the cases that earlier runs passed, "
                        "and the mutants that they caught, with the same "
                        "sources; their results count")
    parser.add_argument("--list", action="store_true",
                        help="print what would be run")
    parser.add_argument("--table", action="store_true",
                        help="print what the last runs on each kernel found, "
                        "as docs/kernels.md has it")
    args = parser.parse_args(argv)
    for one, other in (("all", "kernel"), ("all", "case"), ("core", "case"),
                       ("all", "core"), ("all", "scheduler"),
                       ("deal", "scheduler")):
        if getattr(args, one) and getattr(args, other):
            parser.error(f"argument --{one}: cannot be had with --{other}")
    there = schedulers.in_source(REPO)
    for name in args.scheduler or ():
        if name not in there:
            parser.error(f"argument --scheduler: no scheduler '{name}', want "
                         f"one of {', '.join(there)}"
                         + ("" if schedulers.experimental() else
                            "; EXPERIMENTAL=1 builds more"))
    args.schedulers = [name for name in there
                       if name in (args.scheduler or there)] or ["-"]
    # Not what is the same whatever cases and schedulers are chosen.
    args.some = bool(args.case or args.scheduler)
    cases = all_cases(there, args.scheduler)
    for name in args.case or ():
        if not any(case.called(name) for case in cases):
            parser.error(f"argument --case: no case '{name}', see --list")
    args.legs = legs(args, cases)
    for leg in args.legs:
        leg.chosen = bool(args.scheduler)
    deal(args, args.schedulers)
    return args


def legs(args, cases):
    """The work for each kernel."""
    everywhere = [c for c in cases if c.fast or not args.fast]

    def core(series):
        return [c for c in everywhere if c.of_core(series)]
    if args.case:
        some = [c for c in cases if any(map(c.called, args.case))]
        return [Leg(series, some, "some") for series in kernel.SERIES
                if series in (args.kernel or STOCK)]
    full = "some" if args.fast else "all"
    if args.core:
        return [Leg(series, core(series), "core", build=True)
                for series in kernel.SERIES
                if series in (args.kernel or (STOCK[0], *CORE))]
    if args.all or args.kernel:
        return [Leg(series, core(series), "core", build=True)
                if args.all and kernel.SERIES[series].core_only else
                Leg(series, everywhere, full, build=True)
                for series in kernel.SERIES
                if args.all or series in args.kernel]
    return [Leg(STOCK[0], everywhere, full, build=True),
            *(Leg(series, core(series), "core", build=series in STOCK)
              for series in CORE if series in kernel.SERIES)]


def deal(args, names):
    """Keeps make check within its budget, however many schedulers there are.

    Most cases test code that the schedulers share. So beyond the core on the
    first kernel each case runs with one of them, in turn. If that is still too
    slow, this holds for all cases; next, the cases of a single scheduler run on
    the first kernel only, then only those of them that belong to the core. Next,
    6.1 leaves out what the debug kernel, which is 6.1, runs anyway, and last, the
    cases that take longest are left out.
    """
    if args.deal:
        for leg in args.legs:
            leg.dealt = 2
        return
    if args.all or args.core or args.case or args.kernel \
            or args.scheduler:
        return
    for dealt in range(7):
        for leg in args.legs:
            leg.dealt = dealt
            # Steps up to 2 change only which scheduler runs a case.
            if dealt > 2:
                leg.cases = [
                    case for case in leg.cases
                    if case.once or not case.single(names) or
                    (leg is args.legs[0] and (dealt == 3 or case.core))]
            if dealt > 4 and leg.series == "6.1" and \
                    "debug" in kernel.SERIES:
                leg.cases = [case for case in leg.cases
                             if not case.of_core("debug")]
            if dealt > 5:
                leg.cases = [case for case in leg.cases if case.fast]
        if estimate(args, names, lambda series: False) <= BUDGET:
            return


def estimate(args, names, cached):
    """Seconds for everything, with these schedulers.

    cached(series): is that kernel here already?
    """
    total = sum(leg.seconds(names) for leg in args.legs)
    for leg in args.legs:
        if not cached(leg.series):
            # Programs without a package are built here.
            total += SECONDS["make kernel" if kernel.SERIES[leg.series].maker
                             else "fetch"]
        if args.all:
            total += SECONDS["crash"] * len(names) * (
                PACE if leg.slow > 1 else 1)
    if args.all:
        total += SECONDS["control"]
    if not args.some:
        # The two checks beside the physics end before it does.
        total += sum(SECONDS[name] for name in ("host", "unit", "physics"))
    return int(total)


def amount(count, what):
    """A number of things, in words."""
    return f"{count} {what}" + ("" if count == 1 else "s")


def announce(args):
    """The plan and its cost."""
    if not args.some:
        print("check: shell scripts, unit tests; builds, sparse, ABI for "
              + " and ".join(leg.series for leg in args.legs if leg.build)
              + "; host tests")
    names = args.schedulers
    store = kernel.Store(kernel.cache_dir())
    for leg in args.legs:
        print(f"check: {leg.series}: {amount(len(leg.cases), 'case')}"
              + (" of the core" if leg.which == "core" else "")
              + f" in {amount(len(leg.machines(names)), 'machine')}"
              + (", power cuts" if args.all else ""))
    if any(leg.dealt for leg in args.legs):
        print("check: most cases with one scheduler each, in turn"
              + ("" if args.deal else ", or this would take more than an "
                 "hour; make check-all does without"))
    if any(leg.dealt > 2 for leg in args.legs):
        print("check: cases of one scheduler only on "
              f"{args.legs[0].series}" + (
                  ", and only of the core" if args.legs[0].dealt > 3 else "")
              + ", for the same reason"
              + ("; what the debug kernel runs is left out on 6.1"
                 if args.legs[0].dealt > 4 else "")
              + (", and the cases that take longest everywhere"
                 if args.legs[0].dealt > 5 else ""))

    def here(series):
        entry = kernel.SERIES[series]
        return sourcekernel.have(store, entry) if entry.maker \
            else store.cached(series)
    total = estimate(args, names, here)
    needs = [kernel.SERIES[leg.series] for leg in args.legs]
    # Kernels that are built from one package share it.
    packages = [k for k in needs if k.package]
    shared = sum(k.download for k in packages) - sum(
        {k.package: k.download for k in packages}.values())
    disk = 160 + sum(k.disk for k in needs) - shared
    load = 10 + sum(k.download for k in needs) - shared
    print(f"check: about {(total + 59) // 60} minutes on two quiet cores "
          f"without KVM for {amount(len(names), 'scheduler')}"
          + (", and the mutants" if args.all and mutants() else "")
          + ("; 500 MB" if all(here(leg.series) for leg in args.legs if
                               kernel.SERIES[leg.series].maker) else "; 2.5 GB")
          + " of disk for a while, and for the first run "
          f"{disk / 1000:.1f} GB in the cache ({load} MB to download)",
          flush=True)


def mutants():
    """The script that tries whether the tests find faults, if there is one."""
    script = REPO / "scripts" / "mutants"
    return script if script.exists() else None


def listing(args):
    """The output of --list."""
    if not args.some:
        print("shellcheck\nunit\nhost\nphysics\nrepeat\nstages")
    for leg in args.legs:
        if leg.build:
            print(f"{leg.series} build\n{leg.series} sparse\n"
                  f"{leg.series} abi-check")
        for machine, names in leg.machines(args.schedulers).items():
            for name in names:
                print(f"{leg.series} {machine} {name}")
        if args.all:
            print(f"{leg.series} crash")
    if args.all and mutants():
        print("mutants")


def kernels(suite, args):
    """{series: facts} of those that can be had."""
    ready = {}
    for leg in args.legs:
        try:
            ready[leg.series] = kernel.Store(kernel.cache_dir()).get(
                leg.series)
            suite.matrix.begin(leg.series,
                               leg.which + (", dealt" if leg.dealt else ""),
                               ready[leg.series]["release"])
            suite.earlier.begin(leg.series, ready[leg.series]["release"])
        except kernel.Unavailable as error:
            suite.matrix.absent(leg.series, str(error))
            suite.note("skip", f"{leg.series} everything",
                       f"this kernel cannot be had: {error}")
        except kernel.Broken as error:
            suite.matrix.absent(leg.series, str(error))
            suite.note("fail", f"{leg.series} everything", str(error))
    return ready


def everything(suite, args):
    """Runs all that was asked for, the cheap parts first."""
    if not args.some:
        check_shell(suite)
        check_unit(suite)
    ready = kernels(suite, args)
    able = [leg for leg in args.legs if leg.series in ready]
    if not args.some:
        for leg in able:
            if leg.build:
                check_build(suite, leg.series, ready[leg.series])
        check_btfs(args.all)
        # After the kernels, which the tests of abi-check want, and the builds:
        # what modules say of themselves is compared with docs/ABI.
        check_host(suite)
        # The model is the same on every kernel, and a slow one shows no more. A
        # guest in virtual time leaves one of two cores idle.
        for leg in [leg for leg in able if leg.slow == 1][:1]:
            suite.together((check_physics, leg.series),
                           (check_stages, leg.series),
                           (check_repeat, leg.series))
    # One after the other: two guests at once leave each vCPU half a core, and
    # cases that measure how long something waits then take it for a hang.
    for leg in able:
        if not leg.cases:
            suite.note("fail", f"{leg.series} cases",
                       "no case of tests/vm has a line '# core: yes' for it")
        names = args.schedulers
        for machine, chosen in leg.machines(names).items():
            check_vm(suite, leg, machine, chosen, leg.limit(names))
    if args.all:
        for leg in able:
            check_crash(suite, leg.series, leg is able[0])
        if mutants():
            check_mutants(suite)


def main():
    """Command line of scripts/check."""
    args = parse(sys.argv[1:])
    if args.list:
        listing(args)
        return 0
    if args.table:
        return matrix.show(RESULTS / "matrix.json", kernel.SERIES)

    options.need("build", "unit", "vm", "bench", "check")
    kernel.SPEAKER = "check"
    options.catch_signals()
    started = time.monotonic()
    suite = Suite(args.resume)
    try:
        announce(args)
        with kernel.locked(REPO / "build" / ".check.lock",
                           "waiting for another run in this tree"):
            everything(suite, args)
    except options.Interrupted as error:
        options.ignore_signals()
        suite.stop()
        print(f"check: ended by {signal.Signals(error.number).name}; "
              "--resume goes on", file=sys.stderr)
        return 128 + error.number
    except BrokenPipeError:
        suite.stop()
        return options.reader_gone()
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        suite.note("fail", "check", f"{type(error).__name__}: {error}")
    finally:
        suite.stop()
    if suite.failures:
        print("\nfailed:")
        for failure in suite.failures:
            print(f"  {failure}")
    if not args.some and not args.fast:
        suite.matrix.save(RESULTS / "matrix.json", options.commit())
    print(f"boots retried: {suite.retried}")
    print(f"check: {time.monotonic() - started:.0f} s")
    count = suite.count
    print(f"{count['pass']} passed, {count['fail']} failed, "
          f"{count['skip']} skipped", flush=True)
    return 1 if count["fail"] else 0


if __name__ == "__main__":
    sys.exit(main())
