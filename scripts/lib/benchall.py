# SPDX-License-Identifier: GPL-2.0
"""scripts/bench-all: every suite, what schedulers cost, their locks; one page.

One part after the other, each into a folder of build/results/all-FORM-DATE-TIME/.
What has been made is kept: after Ctrl-C or a loss of power the same command goes
on with what is missing, as long as the project has not changed meanwhile. At the
end come the pages docs/*-results.md and scripts/report's page of all of it;
scripts/publish-results puts the figures into docs/results/. A page that has more
than this run, of other forms, stays.
"""

import datetime
import json
import pathlib
import shutil
import subprocess
import sys
import time

import benchcost
import kernel
import locks
import options
import resultspage
import schedulers
import suite
import suiteplan
import suiteshare
from suitetime import Speeds, total_seconds

REPO = pathlib.Path(__file__).resolve().parents[2]
RESULTS = REPO / "build" / "results"

SUITES = ("k2", "piq-paper", "piq", "layer_read-paper", "layer_read",
          "share-paper", "share", "share-living", "k2-auto", "k2-queue")
PARTS = (*SUITES, "cost", "locks")
# A machine that counts locks is slow; an average needs no more reads.
LOCKS = {"short": ["--ios", "1000"], "full": []}
# Forms that all suites have
FORMS = ("short", "full")
# Pages in docs/, and the suites that they are made from
PAGES = {"k2-results": ("k2", "k2-auto", "k2-queue"), "piq-results": ("piq-paper",),
         "piq-auto-results": ("piq",),
         "layer_read-results": ("layer_read-paper", "layer_read"),
         "share-results": ("share-paper", "share"),
         "share-living-results": ("share-paper", "share-living")}
# These say what a scheduler costs, too, if that was measured.
WITH_COST = ("piq-auto-results", "layer_read-results")
STATE = "parts"
NO_KERNEL = 77
# A part ends its machines, and writes down what it has.
SECONDS_TO_END = 120


def say(text):
    """One line."""
    print(f"bench-all: {text}", flush=True)


# --- what has been made ------------------------------------------------------

class State:
    """The file that says which parts of a run are done."""

    def __init__(self, folder, data):
        self.folder, self.data = folder, data

    @classmethod
    def new(cls, folder, form, full, parts):
        """The state of a run that begins."""
        return cls(folder, {
            "schema": 1, "form": form, "full": list(full),
            "commit": options.commit(),
            "began": now(), "wanted": list(parts), "parts": {},
            "finished": False})

    @classmethod
    def load(cls, folder):
        """The state of an earlier run; ValueError."""
        try:
            data = json.loads((folder / STATE).read_text(encoding="utf-8"))
            known = data["schema"] == 1 and "finished" in data and isinstance(data["parts"], dict) \
                and data["commit"] and data["form"] in FORMS \
                and set(data["wanted"]) <= set(PARTS) \
                and set(data["full"]) <= set(SUITES)
        except (OSError, ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise ValueError(f"'{folder}': want a directory that "
                             "scripts/bench-all has made")
        return cls(folder, data)

    def left(self):
        """Parts that are still to be made."""
        return [name for name in self.data["wanted"]
                if name not in self.data["parts"]]

    def form(self, name):
        """The form of a suite."""
        return form_of(self.data, name)

    def done(self, name, status, took):
        """A part has ended."""
        self.data["parts"][name] = {"status": status, "ended": now(),
                                    "seconds": round(took)}
        self.save()

    def save(self):
        """Writes it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        options.write_json(self.folder / STATE, self.data)


def form_of(data, name):
    """The form that a suite has in a run with these data."""
    return "full" if name in data["full"] else data["form"]


def again(data):
    """The command that makes such a run."""
    return f"make bench-all FORM={data['form']}" + (
        f" FULL={','.join(data['full'])}" if data["full"] else "")


def now():
    """The time, for people."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(
        timespec="seconds")


def unfinished(form, full, parts):
    """The newest run of these forms and this commit that is not finished.

    Where nothing is left but pages the commit does not matter: some of them are
    files of the project, so they change it.
    """
    for folder in sorted(RESULTS.glob(f"all-{form}-*"), reverse=True):
        try:
            found = State.load(folder)
        except ValueError:
            continue
        if found.data["form"] == form and not found.data["finished"] and \
                found.data["full"] == list(full) and \
                sorted(found.data["wanted"]) == sorted(parts) and (
                    found.data["commit"] == options.commit()
                    or not found.left()):
            return found
    return None


# --- parts -------------------------------------------------------------------

def seconds(name, folder, form):
    """The estimate for a part, without what is there already."""
    if name == "cost":
        own = schedulers.in_source(REPO)
        return benchcost.BenchCost(benchcost.parse([]), benchcost.choose(
            None, own), own).seconds()
    if name == "locks":
        return locks.estimate(locks.parse(LOCKS[form]))
    one = suiteplan.load(name)
    runs, _ = suiteshare.present(suiteplan.runs(one, form), one.optional, REPO)
    have = {record["id"] for record in suite.load_records(folder)}
    return total_seconds([run for run in runs if run["id"] not in have],
                         Speeds(), suite.MACHINES)


def command(name, folder, form):
    """The command that makes a part, or the rest of it."""
    if name == "cost":
        return ["scripts/bench-cost", "--out", options.shown(folder)]
    if name == "locks":
        return ["scripts/locks", *LOCKS[form],
                "--out", options.shown(folder / "locks.json")]
    if (folder / "plan").exists():
        return ["scripts/bench", "--resume", options.shown(folder)]
    return ["scripts/bench", name, "--form", form,
            "--out", options.shown(folder)]


def prepare(name, folder):
    """Makes room: only suites continue where they ended."""
    if name not in SUITES or not (folder / "plan").exists():
        shutil.rmtree(folder, ignore_errors=True)
    if name == "locks":
        folder.mkdir(parents=True)


def run(words):
    """Runs one of our scripts; its status."""
    # A separate session: this process receives Ctrl-C and ends it.
    with subprocess.Popen(
            [str(pathlib.Path(REPO, words[0])), *words[1:]],
            stdin=subprocess.DEVNULL, start_new_session=True) as child:
        try:
            return child.wait()
        except options.Interrupted:
            options.ignore_signals()
            options.end(child, SECONDS_TO_END)
            raise


def stopped(status):
    """Was a part ended by a signal, its own handling of it included?"""
    return status < 0 or status in (
        128 + number for number in options.SIGNALS)


WORDS = {0: "done", 1: "done, with something that failed",
         NO_KERNEL: "left out: its kernel cannot be had"}


def pages(state):
    """Makes the pages of what there is; the worst status."""
    worst = 0
    made = [name for name, part in state.data["parts"].items()
            if part["status"] in (0, 1)]
    for script, suites in PAGES.items():
        if all(name in made for name in suites):
            if script in WITH_COST and "cost" in made:
                suites = (*suites, "cost")
            status = run([f"scripts/{script}", *(
                options.shown(state.folder / name) for name in suites)])
            # No failure: it says so, and what it has was measured, too.
            worst = max(worst, 0 if status == resultspage.KEPT else status)
    return max(worst, run(["scripts/report", options.shown(state.folder)]))


def work(state):
    """Makes what is left; the exit status."""
    left = state.left()
    for number, name in enumerate(left, 1):
        folder = state.folder / name
        prepare(name, folder)
        words = command(name, folder, state.form(name))
        say(f"part {number} of {len(left)}: {' '.join(words)}")
        began = time.monotonic()
        status = run(words)
        if stopped(status):
            say(f"{name} was ended by a signal; the same command goes on")
            return status if status > 0 else 128 - status
        if status not in WORDS:
            say(f"{name} ended with status {status}; next: see above, then "
                "the same command goes on")
            return 1
        state.done(name, status, time.monotonic() - began)
    return conclude(state)


def conclude(state):
    """Pages, and the last lines; the exit status."""
    parts = state.data["parts"]
    status = pages(state)
    state.data["finished"] = True
    state.save()
    for name, part in parts.items():
        say(f"{name}: {WORDS[part['status']]}, "
            f"{options.minutes(part['seconds'])}")
    where = options.shown(state.folder)
    say(f"all of it is in {where}; next: scripts/publish-results {where}")
    found = {part["status"] for part in parts.values()}
    return 1 if 1 in found or status else NO_KERNEL if NO_KERNEL in found \
        else 0


# --- the command line --------------------------------------------------------

def parse(argv):
    """The options."""
    parser = options.Parser(
        "bench-all", usage="scripts/bench-all [--form FORM] [options]",
        description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 all checks passed; 1 one failed, or a part did not "
        "come to its end; 2 bad options; 77 a kernel cannot be had; 130 "
        "interrupted. More in docs/lab.md.")
    add = parser.add_argument
    add("--form", type=options.words(FORMS), default=("short",),
        metavar="FORM", help="short (default) or full")
    add("--full", type=options.words(SUITES), default=(), metavar="LIST",
        help="suites that are made in their full form, whatever the others are")
    add("--parts", type=options.words(PARTS), default=PARTS, metavar="LIST",
        help="what to make, in this order; default " + ",".join(PARTS))
    add("--new", action="store_true",
        help="begin anew, even if an earlier run has parts left")
    add("--list", action="store_true",
        help="show the parts and how long each takes, and run nothing")
    args = parser.parse_args(argv)
    if len(args.form) > 1:
        parser.error(f"argument --form: '{','.join(args.form)}': want one of "
                     + ", ".join(FORMS))
    args.form = args.form[0]
    # A suite named twice counts once; with --form full the option adds no run.
    args.full = [] if args.form == "full" else [
        name for name in SUITES if name in args.full]
    return args


def announce(state, goes_on):
    """The estimate, before anything is begun."""
    left = state.left()
    if goes_on:
        say(f"goes on with {options.shown(state.folder)}, which was begun at "
            f"{state.data['began']} and has {len(left)} of "
            f"{len(state.data['wanted'])} parts left")
    if state.data["commit"].endswith("-dirty"):
        say("there are changes that are in no commit: scripts/publish-results "
            "will refuse this run")
    whole = 0
    for name in left:
        each = seconds(name, state.folder / name, state.form(name))
        whole += each
        say(f"  {name}: about {options.minutes(each)}")
    say(f"{again(state.data)}, commit {state.data['commit']}: about "
        f"{options.minutes(whole)} in all, and what kernels take that are "
        f"still to be fetched or built; into {options.shown(state.folder)}")


def begin(args):
    """The run to be made or continued; prints what it needs."""
    earlier = None if args.new else unfinished(args.form, args.full,
                                                  args.parts)
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    state = earlier or State.new(
        RESULTS / f"all-{args.form}-{stamp}", args.form, args.full,
        args.parts)
    announce(state, bool(earlier))
    return state


def main(argv=None):
    """Command line of scripts/bench-all."""
    args = parse(sys.argv[1:] if argv is None else argv)
    options.catch_signals()
    kernel.SPEAKER = "bench-all"
    try:
        options.need(*(("bench",) if args.list else
                       ("build", "vm", "bench", "kernel")))
        if args.list:
            begin(args)
            return 0
        with kernel.locked(REPO / "build" / ".bench-all.lock",
                           "waiting for another run in this tree"):
            state = begin(args)
            state.save()
            return work(state)
    except options.Interrupted as stop:
        say("interrupted: what is finished is kept; the same command goes on")
        return 128 + stop.number
    except OSError as error:
        print(f"bench-all: {error}; next: is there room on the disk, may "
              "this user write here?", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
