# SPDX-License-Identifier: GPL-2.0
"""scripts/publish-results: results below build/results into docs/results/.

Takes what scripts/bench-all has made (all of its parts that are finished), single runs
of scripts/bench, scripts/bench-cost, or files of scripts/locks. Each gets into a file
of its own, PART-FORM.json; a run of only some cells replaces these there and leaves
the others, and each cell stays with the run that it is of: commit, kernel, command.
The report of a whole run is kept as index.html.

Then the pages are made again, of all published files: in docs/results README.md, the
list of files, summary.md, the figures and verdicts, and k2-tail.svg, the picture in the
project's README.md; and the short table in that README.md, unless --out is given.
Without DIR only these pages are made again. The verdicts are those of the pages
docs/*-results.md, so run it without DIR after one of these has changed.

The cells of an interrupted suite that have all their seeds
count. Refused is what was made with changes that are in no commit or at several commits,
other runs that were interrupted, what is of seeds for tuning, and what is of a real device:
what the documents claim must lead back to sources.
"""

import collections
import datetime
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import benchall
import kernel
import options
import readmetable
import resultspage
import suiteplan
import summary

REPO = pathlib.Path(__file__).resolve().parents[2]
OUT = REPO / "docs" / "results"
SPDX = "<!-- SPDX-License-Identifier: GPL-2.0 -->"
MADE = "Made by `scripts/publish-results`"
PAGE_OF = "<!-- publish-results: "
# Of no use elsewhere, or only the runs' own business; claims follow from cells, and
# those of one run from its own alone.
DROPPED = ("vm_command", "vm_statuses", "claims", "repeats", "passed")
KEPT_OF_RUNS = ("id", "cell", "seed", "passed")
PICTURE, PICTURE_OF = "k2-tail.svg", "k2-auto-baselines"
PAGES = ("README.md", "summary.md", "index.html", PICTURE)
# Begins the line in the report that names the summary
NOTE = "<!-- verdicts -->"
WHAT = {"cost": "what schedulers cost the CPU",
        "locks": "how often schedulers take locks"}


class Refused(ValueError):
    """Why something cannot be published, one line."""


# --- what a run has ----------------------------------------------------------

def read(path):
    """The object in a JSON file; Refused."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Refused(f"'{path}': {error}") from None
    if not isinstance(data, dict):
        raise Refused(f"'{path}': no JSON object")
    return data


def kind_of(path, data):
    """suite, cost or locks; Refused."""
    if data.get("kind") in ("suite", "locks"):
        return data["kind"]
    if resultspage.is_cost(data):
        return "cost"
    raise Refused(f"'{path}': no results of scripts/bench, scripts/bench-cost or "
                  "scripts/locks")


def key_of(kind, run, cell):
    """A cell's name among all runs in a file."""
    if kind == "suite":
        return cell["cell"]
    # One cost on two kernels is two.
    return (run.get("kernel"), *(cell.get(key) for key in
                                 ("id", "scheduler", "cpus")))


def files_of(folder):
    """The files with figures that a directory has, or the file itself; Refused."""
    if folder.is_file():
        return [folder]
    if (folder / benchall.STATE).is_file():
        try:
            parts = benchall.State.load(folder).data["parts"]
        except ValueError as error:
            raise Refused(str(error)) from None
        found = [source(folder, name) for name, part in parts.items()
                 if part["status"] != benchall.NO_KERNEL]
        if not found:
            raise Refused(f"'{folder}': no part of it is finished")
        return found
    for name in ("summary.json", "locks.json"):
        if (folder / name).is_file():
            return [folder / name]
    raise Refused(f"'{folder}': want a directory of scripts/bench-all, or one with "
                  "summary.json or locks.json; is it finished?")


def source(folder, name):
    """The file that a part of a run of scripts/bench-all has its figures in."""
    return folder / name / ("locks.json" if name == "locks"
                            else "summary.json")


def command_of(path, kind, data):
    """The command that made it, without parts that hold on one machine only; Refused."""
    words = str(data.get("bench_command") or data.get("command") or "")
    if kind != "suite" or "--resume" not in words:
        return resultspage.bare(words)
    # The command names the folder of the resumed rest; the plan has the original options.
    plan = read(path.with_name("plan"))
    return shlex.join([
        "scripts/bench", data["suite"], "--form", data["form"],
        *(["--seeds", ",".join(map(str, plan["seeds"]))]
          if plan.get("seeds") else []),
        *(["--repeat", str(plan["repeat"])] if plan.get("repeat", 1) > 1
          else []),
        *(["--kernel", plan["kernel"]]
          if plan.get("kernel", kernel.USUAL) != kernel.USUAL
          else []),
        *(word for one in plan.get("only") or () for word in ("--only", one))])


def load(path):
    """(name of its file in docs/results, the run as it is published); Refused."""
    data = read(path)
    kind = kind_of(path, data)
    commit = str(data.get("commit") or "unknown")
    if commit.endswith("-dirty") or commit == "unknown":
        raise Refused(f"'{path}': commit '{commit}': want results of sources "
                      "that are all in a commit")
    if data.get("clock") == "real":
        raise Refused(f"'{path}': of a real device, whose times are not "
                      "comparable with those of the lab")
    others = [one for one in data.get("commits") or () if one != commit]
    if others:
        raise Refused(f"'{path}': commit '{commit}', but runs of it are of "
                      f"{', '.join(map(str, others))}: want results of one "
                      "commit")
    if data.get("interrupted"):
        if kind != "suite":
            raise Refused(f"'{path}': interrupted, not all runs were made")
        data = {**data, "cells": whole(path, data["cells"])}
    if not data.get("cells"):
        raise Refused(f"'{path}': nothing was measured")
    if kind == "suite":
        if "tuning" in data.get("seed_uses", {}):
            raise Refused(
                f"'{path}': of seeds "
                f"{', '.join(map(str, data['seed_uses']['tuning']))}, which are "
                "for tuning")
        name = f"{data.get('suite')}-{data.get('form')}"
        try:
            suiteplan.load(str(data.get("suite")))
        except suiteplan.Bad as error:
            raise Refused(f"'{path}': {error}") from None
    else:
        name = kind
    return name, compact(data, command_of(path, kind, data))


def whole(path, cells):
    """The cells that have all the runs that were planned for them; Refused.

    Without a plan those that have as many as any has.
    """
    plan = path.with_name("plan")
    if plan.is_file():
        planned = collections.Counter(
            run["cell"] for run in read(plan).get("runs") or ())
        return [cell for cell in cells
                if cell["runs"] >= planned[cell["cell"]] > 0]
    most = max((cell["runs"] for cell in cells), default=0)
    return [cell for cell in cells if cell["runs"] == most]


def compact(data, command):
    """A run without what only its own machine needs."""
    kept = {key: value for key, value in data.items() if key not in DROPPED}
    kept["bench_command" if "bench_command" in kept else "command"] = command
    # Of scripts/locks, in seconds since 1970
    if "began" not in kept and isinstance(kept.get("when"), (int, float)):
        kept["began"] = datetime.datetime.fromtimestamp(
            kept["when"], datetime.timezone.utc).isoformat(timespec="seconds")
    if isinstance(kept.get("runs"), list):
        kept["runs"] = [{key: run.get(key) for key in KEPT_OF_RUNS}
                        for run in kept["runs"] if isinstance(run, dict)]
    return kept


# --- a published file --------------------------------------------------------

def add(old, run):
    """A file with one more run: of each cell the last one's figures are left."""
    kind = run["kind"] if run.get("kind") in ("suite", "locks") else "cost"
    # Where it is not known when one was begun: in the order of publishing.
    runs = sorted([*(old or {}).get("made_of", ()), run], key=age)
    last = {key_of(kind, one, cell): one for one in runs
            for cell in one["cells"]}
    made_of = [cut({**one, "cells": [
        cell for cell in one["cells"]
        if last[key_of(kind, one, cell)] is one]}) for one in runs]
    return {"schema": 1, "kind": kind,
            **({key: run[key] for key in ("suite", "form", "title")
                if key in run}),
            "made_of": [one for one in made_of if one["cells"]]}


def age(run):
    """Sort key of runs: the time of their begin."""
    return str(run.get("began") or "")


def has(data, run):
    """Is a cell of a run left in a file?"""
    return any((one["commit"], age(one), one.get("kernel")) == (
        run["commit"], age(run), run.get("kernel")) for one in data["made_of"])


def cut(run):
    """A suite's run without the details of cells that were removed."""
    if "runs" not in run:
        return run
    left = {cell["cell"] for cell in run["cells"]}
    runs = [one for one in run["runs"] if one["cell"] in left]
    ids = {one["id"] for one in runs}
    return {**run, "runs": runs, "failed": {
        name: checks for name, checks in (run.get("failed") or {}).items()
        if name in ids}}


def text_of(data):
    """JSON, a line a cell: so a change shows, and merges."""
    def line(value):
        return json.dumps(value, separators=(",", ":"))
    head = line({**data, "made_of": []})[:-2]
    runs = []
    for run in data["made_of"]:
        rest = {key: value for key, value in run.items() if key != "cells"}
        runs.append(line(rest)[:-1] + ',"cells":[\n'
                    + ",\n".join(map(line, run["cells"])) + "]}")
    return head + "\n" + ",\n".join(runs) + "]}\n"


def published(out):
    """{name: what is in it} of all files of figures there; Refused."""
    found = {}
    for path in sorted(out.glob("*.json")):
        data = read(path)
        if not data.get("made_of"):
            raise Refused(f"'{path}': holds what is not ours; want another "
                          "directory")
        found[path.stem] = data
    return found


# --- the index ---------------------------------------------------------------

def count(run):
    """(runs, what failed) in words."""
    if "runs_planned" in run:
        failed = run.get("failed") or {}
        trouble = run.get("trouble") or ()
        return f"{run.get('runs_done')} of {run['runs_planned']}", "; ".join(
            [f"{name}: {', '.join(checks)}" for name, checks in failed.items()]
            + ([f"{len(trouble)} not made or not understood"]
               if trouble else []))
    failed = [str(one) for one in run.get("trouble") or ()]
    failed += [f"missed: {one['claim']}" for one in run.get("verdicts") or ()
               if not one.get("holds")]
    return "–", "; ".join(failed)


def command_in(run):
    """The command that made it, a long one shortened: the file has all of it."""
    return resultspage.plain(run.get("bench_command") or run.get("command"))


def page_lines(index):
    """The kind of index.html, if it exists."""
    if index is None:
        return
    found = re.search(re.escape(PAGE_OF) + "(.*) -->", index)
    state = json.loads(found[1]) if found else {}
    yield "[index.html](index.html) is the report of one run, "
    yield f"`{state.get('again')}`, begun {state.get('began')}, of commit " \
        f"`{state.get('commit')}`. What was published since is not in there: " \
        "whatever in the table has another commit."
    yield ""


def escaped(text):
    """Text that may stand in a table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def readme(found, index):
    """The lines of README.md."""
    yield SPDX
    yield "# Published results"
    yield ""
    yield f"{MADE}; change that, not this. [summary.md](summary.md) has the figures " \
        "and the verdict on each claim. K2's pages and the figures of the summary are " \
        "made of these files; runs on the other pages " \
        "`docs/*-results.md` that are not listed here were measured before results " \
        "were published, and stand on their page alone. Each was " \
        "measured part by part: a line is a run, and *cells* is how many of its cells still " \
        "count; later ones have replaced the others. `Failed` names runs whose " \
        "checks failed. How to read the files: " \
        "[results-schema](../results-schema.md#published-results)."
    yield ""
    yield from page_lines(index)
    yield "| file | what | command | commit | kernel | when | runs | cells | failed |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, data in found.items():
        for run in data["made_of"]:
            made, failed = count(run)
            yield "| " + " | ".join((
                f"[{name}.json]({name}.json)",
                escaped(data.get("title") or WHAT.get(data["kind"], "")),
                f"`{escaped(command_in(run))}`",
                f"`{run['commit']}`", escaped(run.get("kernel")), age(run)[:10] or "–", made,
                str(len(run["cells"])), escaped(failed) or "–")) + " |"


# --- what is written ---------------------------------------------------------

def checkout(folder):
    """The checkout with the folder in its build/results, else the folder's parent."""
    folder = folder.absolute()
    return next((top for top in folder.parents
                 if top / "build" / "results" in folder.parents), folder.parent)


def page(folder, out):
    """Has scripts/report write its page; its text, which names no place but in there."""
    top = checkout(folder)
    done = subprocess.run(
        [sys.executable, "-B", str(REPO / "scripts" / "lib" / "report.py"),
         str(folder.absolute()), "--out", str(out)], cwd=top, check=False, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    if done.returncode:
        raise Refused(f"'{folder}': scripts/report ended with status "
                      f"{done.returncode}: {done.stdout.strip()[-200:]}")
    text = (out / "index.html").read_text(encoding="utf-8")
    return text.replace(f"{top}/", "")


def report_of(folders, old):
    """index.html: of the last whole run among these, or as it was; None: none.

    scripts/report wants what each run has left, and that is not published: single
    parts get no page.
    """
    for folder in reversed(folders):
        if not (folder / benchall.STATE).is_file():
            continue
        state = benchall.State.load(folder).data
        if state["finished"]:
            with tempfile.TemporaryDirectory() as scratch:
                text = page(folder, pathlib.Path(scratch, "page"))
            told = json.dumps({"commit": state["commit"],
                               "began": state["began"],
                               "again": benchall.again(state)})
            return f"{text.rstrip()}\n{PAGE_OF}{told} -->\n"
    return old


def noted(text):
    """The report with a line that says which verdicts count."""
    line = f'{NOTE}<p>One run, in the form named below. Its verdicts are of this ' \
        'form alone; those that count are in <a href="summary.md">summary.md</a>.</p>'
    text = re.sub(f"{NOTE}.*?</p>", "", text)
    return re.sub(r"<body[^>]*>", lambda found: found[0] + line, text, count=1)


def picture(found):
    """The text of the picture; None if its figures are not published."""
    if PICTURE_OF not in found:
        return None
    options.need("bench")
    # matplotlib may be installed only now.
    import plotting  # pylint: disable=import-outside-toplevel
    import tailplot  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch, PICTURE)
        try:
            tailplot.draw(path, tailplot.cells_of(found))
        except plotting.Nothing:
            return None
        return path.read_text(encoding="utf-8")


def portable(name, text):
    """Text without paths of this machine; Refused."""
    text = text.replace(f"{REPO}/", "")
    home = re.escape(str(pathlib.Path.home()))
    found = re.search(rf"(?<![\w.]){home}/[\w./-]*", text)
    if found:
        raise Refused(f"{name}: names '{found[0]}', which is of this machine "
                      "only")
    return text


def is_ours(out):
    """Is there nothing but what an earlier call has written?"""
    try:
        said = (out / "README.md").read_text(encoding="utf-8")
    except OSError:
        said = ""
    names = [path.name for path in out.iterdir()]
    return not names or MADE in said and all(
        name in PAGES or name.endswith(".json")
        for name in names)


def write(out, files):
    """All files at once, in place of what was there."""
    out.parent.mkdir(parents=True, exist_ok=True)
    new = pathlib.Path(tempfile.mkdtemp(prefix=".results-", dir=out.parent))
    try:
        for name, text in files.items():
            (new / name).write_text(text, encoding="utf-8")
        new.chmod(0o755)
        shutil.rmtree(out, ignore_errors=True)
        new.rename(out)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def publish(folders, out, front=None):
    """The work of scripts/publish-results; (files written, names of the new ones).

    front: a README that gets the short table.
    """
    if out.exists() and not (out.is_dir() and is_ours(out)):
        raise Refused(f"'{out}': holds what is not ours; want another "
                      "directory")
    found = published(out)
    runs = [load(path) for folder in folders for path in files_of(folder)]
    for name, run in runs:
        found[name] = add(found.get(name), run)
    found = dict(sorted(found.items()))
    new = [name for name, run in runs if has(found[name], run)]
    if folders and not new:
        raise Refused("all cells of this are published, of later runs")
    try:
        text = front and readmetable.put(front.read_text(encoding="utf-8"),
                                         readmetable.table(found))
    except ValueError as error:
        raise Refused(str(error)) from None
    old = out / "index.html"
    files = {f"{name}.json": text_of(data) for name, data in found.items()}
    index = report_of(folders, old.read_text(encoding="utf-8")
                      if old.is_file() else None)
    if index is not None:
        files["index.html"] = noted(index)
    files["README.md"] = "\n".join(readme(found, index)) + "\n"
    files["summary.md"] = "\n".join(summary.page(
        found, summary.pages())).rstrip() + "\n"
    drawn = picture(found)
    if drawn is not None:
        files[PICTURE] = drawn
    files = {name: portable(name, text) for name, text in files.items()}
    write(out, files)
    if front:
        front.write_text(text, encoding="utf-8")
    return files, list(dict.fromkeys(new))


# --- the command line --------------------------------------------------------

def main(argv=None):
    """Command line of scripts/publish-results."""
    parser = options.Parser(
        "publish-results", description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 written; 1 refused, or it cannot be written; 2 bad "
        "options.")
    parser.add_argument("folders", type=pathlib.Path, metavar="DIR", nargs="*",
                        help="of scripts/bench-all, scripts/bench or "
                        "scripts/bench-cost, below build/results; or the FILE of "
                        "scripts/locks; none: only the pages are made again")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR",
                        help="instead of docs/results; README.md stays as it is")
    args = parser.parse_args(sys.argv[1:] if argv is None else argv)
    try:
        files, new = publish(args.folders, args.out or OUT,
                             None if args.out else REPO / "README.md")
    except (Refused, OSError) as error:
        print(f"publish-results: {error}", file=sys.stderr)
        return 1
    size = sum(len(text.encode()) for text in files.values())
    print(f"publish-results: {', '.join(new) or 'pages'}; {len(files)} files, "
          f"{size / 1e6:.1f} MB, in {options.shown(args.out or OUT)}")
    made = [script for script, suites in benchall.PAGES.items()
            if any(name.rpartition("-")[0] in suites for name in new)]
    if made:
        print("publish-results: next: " + ", ".join(
            f"scripts/{script}" for script in made)
            + ", then scripts/publish-results for the verdicts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
