# SPDX-License-Identifier: GPL-2.0
"""scripts/mutants: do the tests notice what they are there for?

Each patch of tests/mutants breaks the project in one way, and its head names
the test that has to notice and how. Here each is applied to a copy of the
project, built, and given to that test, which has passed without it. The last
line counts: `N caught, N missed, N stale, N skipped`.
"""

import contextlib
import datetime
import fnmatch
import hashlib
import json
import pathlib
import queue
import re
import signal
import sys
import threading
import time

import checkcases
import kernel
import options
import schedulers
import sources
from mutantlab import (
    DISK_MB, Lab, Outcome, Tree, aside, exists, job_text, kernel_facts,
    noticed, slowness, vm_limit)
from mutantlist import BadHead, HANG, Trouble, all_mutants, page

REPO = pathlib.Path(__file__).resolve().parents[2]

# Seconds on two quiet cores without KVM, for the estimate only.
SECONDS = {"build": 8, "boot": 15, "unit": 15, "host": 60, "reset": 70}
# A case fails with this text after a time-out: a busy machine, or a mutant.
_BUSY = "the machine is too slow"
# Longer ones are in the log.
_SAID = 110


def say(text):
    """One line about the run itself."""
    print(f"mutants: {text}", file=sys.stderr, flush=True)


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
        """The results of an earlier run, whatever it ran on; {} if none."""
        return self.old.get(what, {}).get(name, {})

    def note(self, what, name, entry):
        """Keeps one."""
        with self.lock:
            self.data[what][name] = entry
            self.save()

    def save(self):
        """Writes the file. Entries that this run did not touch are kept."""
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


def first_scheduler(mutant):
    """The scheduler that a case for all of them runs with first; "" for other tests.

    That of the folder that the patch changes; for other folders k2, the smallest.
    """
    if mutant.room != "vm":
        return ""
    names = schedulers.in_source(REPO)
    if any(case.name == mutant.test and case.single(names)
           for case in checkcases.all_cases()):
        return ""
    folders = re.findall(r"^\+\+\+ b/(\w+)/", mutant.path.read_text(encoding="utf-8"),
                         re.M)
    return next((name for name in names if name in folders), "k2")


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
        """The inputs of the outcome of a test without a mutant."""
        version = self.results.data["kernels"].get(job[1], "")
        return f"{self.results.data['tree']} {version}".strip()

    def key(self, mutant):
        """The inputs of the outcome of a test with this mutant."""
        patch = hashlib.sha256(mutant.path.read_bytes()).hexdigest()[:16]
        return f"{self.job_key(mutant.job)} {patch}"

    def known(self, mutant):
        """Has an earlier run caught exactly this one?"""
        old = self.results.before("mutants", mutant.name)
        return self.args.resume and mutant.room != "host" and \
            old.get("verdict") == "caught" and \
            old.get("key") == self.key(mutant)

    # Estimates of the time

    def job_seconds(self, job):
        """A test that passes."""
        room, series, test = job
        if room != "vm":
            return SECONDS[room]
        case = next((c for c in checkcases.all_cases() if c.name == test), None)
        if not case:
            return 0
        return case.takes(series)

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
        slow = slowness(mutant.kernel)
        return SECONDS["build"] + SECONDS["boot"] * slow + (
            vm_limit(mutant.test) + SECONDS["reset"] if hangs
            else self.job_seconds(mutant.job))

    def announce(self, todo, jobs):
        """The plan and its cost."""
        first = sum(map(self.job_seconds, jobs)) + sum(
            SECONDS["build"] + SECONDS["boot"] * slowness(series)
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
                print(f"without a mutant, first: {len(group)} cases on {series}, "
                      f"about {options.minutes(sum(map(self.job_seconds, group)))}"
                      f"; tail -f {options.shown(log)} follows them", flush=True)
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
        """(word, explanation)."""
        log = self.logs / f"{mutant.name}.log"
        log.unlink(missing_ok=True)
        tree.sync()
        why = tree.apply(mutant.path)
        room, series, test = mutant.job
        if series in self.absent and self.kernels:
            # Any kernel shows whether the mutant can be built at all.
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
        # Most are noticed with one scheduler; a hang takes minutes with each.
        first = first_scheduler(mutant)
        outcome = self.lab.test(tree, mutant.job, log, first)
        if first and not noticed(mutant, outcome):
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
        """Keeps the logs of the cases, which the next run would overwrite."""
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
        """Runs mutants one after the other, in a separate copy of the project."""
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
    options.catch_signals()
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
        options.need("build", "unit", "vm", "bench", "check")
        with kernel.locked(REPO / "build" / ".mutants.lock",
                           "waiting for another run in this tree"):
            run = Run(args, args.mutants)
            return run.all()
    except options.Interrupted as error:
        options.ignore_signals()
        say(f"ended by {signal.Signals(error.number).name}; --resume goes on")
        return 128 + error.number
    except BrokenPipeError:
        return options.reader_gone()
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
