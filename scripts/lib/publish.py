# SPDX-License-Identifier: GPL-2.0
"""scripts/publish-results: a finished run of scripts/bench-all into docs/results/.

Writes the page of scripts/report (index.html, with its pictures), for each part the
JSON that its figures come from, and README.md, which names the commit and the
commands; and the table of results in the project's README.md, unless --out is given. What was there of an earlier run is replaced as a whole. A run that is not
finished, lacks a part, or was made with changes that are in no commit is refused:
what the documents claim must lead back to sources.
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import benchall
import options
import readmetable

REPO = pathlib.Path(__file__).resolve().parents[2]
OUT = REPO / "docs" / "results"
SPDX = "<!-- SPDX-License-Identifier: GPL-2.0 -->"
MADE = "Made by `scripts/publish-results`"
# Of no use elsewhere, or only the runs' own business
DROPPED = ("vm_command", "vm_statuses")
KEPT_OF_RUNS = ("id", "cell", "seed", "passed")


class Refused(ValueError):
    """Why a run cannot be published, one line."""


# --- what a run has ----------------------------------------------------------

def source(folder, name):
    """The file that a part's figures come from."""
    return folder / name / ("locks.json" if name == "locks"
                            else "summary.json")


def load(folder):
    """(state, {part: its summary, None if it was left out}); Refused."""
    try:
        state = benchall.State.load(folder).data
    except ValueError as error:
        raise Refused(str(error)) from None
    missing = [name for name in benchall.PARTS if name not in state["parts"]]
    if missing or not state["finished"]:
        raise Refused(f"'{folder}': not finished, "
                      + (f"without {', '.join(missing)}" if missing
                         else "its pages are missing")
                      + f"; next: {benchall.again(state)}")
    if state["commit"].endswith("-dirty") or state["commit"] == "unknown":
        raise Refused(f"'{folder}': commit '{state['commit']}': want results "
                      "of sources that are all in a commit")
    found = {}
    for name in benchall.PARTS:
        if state["parts"][name]["status"] == benchall.NO_KERNEL:
            found[name] = None
            continue
        path = source(folder, name)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise Refused(f"'{path}': {error}") from None
        if data.get("commit") != state["commit"]:
            raise Refused(f"'{path}': of commit {data.get('commit')}, the "
                          f"run is of {state['commit']}")
        if data.get("interrupted"):
            raise Refused(f"'{path}': interrupted, not all runs were made")
        found[name] = data
    return state, found


# --- what is written ---------------------------------------------------------

def command(name, form):
    """What makes a part again."""
    return {"cost": "scripts/bench-cost",
            "locks": "scripts/locks"}.get(
                name, f"scripts/bench {name} --form {form}")


def compact(name, form, data):
    """A summary without what only its own machine needs, as text."""
    kept = {key: value for key, value in data.items() if key not in DROPPED}
    for key in ("command", "bench_command"):
        if key in kept:
            kept[key] = command(name, form)
    if isinstance(kept.get("runs"), list):
        kept["runs"] = [{key: run.get(key) for key in KEPT_OF_RUNS}
                        for run in kept["runs"] if isinstance(run, dict)]
    return json.dumps(kept, separators=(",", ":")) + "\n"


def count(data):
    """(runs, what failed) in words."""
    if data is None:
        return "left out: no such kernel", ""
    if "cells" in data and "runs_planned" in data:
        failed = data.get("failed") or {}
        return (f"{data.get('runs_done')} of {data['runs_planned']} runs",
                f"{len(failed)} runs failed a check" if failed else "")
    return (f"{len(data.get('cells') or ())} cells",
            "; ".join(map(str, data.get("trouble") or ())))


def readme(state, found):
    """The lines of README.md."""
    kernels = dict.fromkeys(str(data.get("kernel")) for data in found.values()
                            if data)
    yield SPDX
    yield "# Results of the last full run"
    yield ""
    yield f"{MADE} from a run of"
    yield ""
    yield f"    {benchall.again(state)}"
    yield ""
    yield f"begun at {state['began']}, commit `{state['commit']}`, kernels " \
        f"{', '.join(kernels)}. [The page](index.html) has every figure and " \
        "picture; it needs no other file. What the JSON files hold is in " \
        "[results-schema](../results-schema.md#summaryjson-1); of the runs " \
        "they have name and verdict."
    yield ""
    yield "| part | file | again | made | failed | took |"
    yield "|---|---|---|---|---|---|"
    for name, data in found.items():
        made, failed = count(data)
        yield "| " + " | ".join((
            name, f"[{name}.json]({name}.json)" if data else "",
            f"`{command(name, benchall.form_of(state, name))}`", made, failed,
            options.minutes(state["parts"][name]["seconds"]))) + " |"


def page(folder, out):
    """Has scripts/report write its page; its text."""
    done = subprocess.run(
        [sys.executable, "-B", str(REPO / "scripts" / "lib" / "report.py"),
         str(folder), "--out", str(out)], cwd=REPO, check=False, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    if done.returncode:
        raise Refused(f"'{folder}': scripts/report ended with status "
                      f"{done.returncode}: {done.stdout.strip()[-200:]}")
    return (out / "index.html").read_text(encoding="utf-8")


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
    names = {path.name for path in out.iterdir()}
    return not names or MADE in said and names <= {
        "README.md", "index.html", *(f"{name}.json"
                                     for name in benchall.PARTS)}


def write(out, files):
    """All files at once, in place of what was there."""
    if out.exists() and not (out.is_dir() and is_ours(out)):
        raise Refused(f"'{out}': holds what is not ours; want another "
                      "directory")
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


def publish(folder, out, front=None):
    """What scripts/publish-results does; the files written.

    front: a README that gets the table of results.
    """
    state, found = load(folder)
    try:
        text = front and readmetable.put(
            front.read_text(encoding="utf-8"), readmetable.table(
                found, lambda name: command(
                    name, benchall.form_of(state, name))))
    except ValueError as error:
        raise Refused(str(error)) from None
    with tempfile.TemporaryDirectory() as scratch:
        files = {"index.html": page(folder, pathlib.Path(scratch, "page"))}
    files["README.md"] = "\n".join(readme(state, found)) + "\n"
    for name, data in found.items():
        if data is not None:
            files[f"{name}.json"] = compact(
                name, benchall.form_of(state, name), data)
    files = {name: portable(name, text) for name, text in files.items()}
    write(out, files)
    if front:
        front.write_text(text, encoding="utf-8")
    return files


# --- the command line --------------------------------------------------------

def main(argv=None):
    """Command line of scripts/publish-results."""
    parser = options.Parser(
        "publish-results", description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 written; 1 refused, or it cannot be written; 2 bad "
        "options.")
    parser.add_argument("folder", type=pathlib.Path, metavar="DIR",
                        help="of scripts/bench-all, below build/results")
    parser.add_argument("--out", type=pathlib.Path, metavar="DIR",
                        help="instead of docs/results; README.md stays as it is")
    args = parser.parse_args(sys.argv[1:] if argv is None else argv)
    try:
        files = publish(args.folder, args.out or OUT,
                        None if args.out else REPO / "README.md")
    except (Refused, OSError) as error:
        print(f"publish-results: {error}", file=sys.stderr)
        return 1
    size = sum(len(text.encode()) for text in files.values())
    print(f"publish-results: {len(files)} files, {size / 1e6:.1f} MB, in "
          f"{options.shown(args.out or OUT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
