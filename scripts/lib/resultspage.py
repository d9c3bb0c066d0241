# SPDX-License-Identifier: GPL-2.0
"""What the pages of results of all schedulers have in common.

A page is made from the summaries of its suites, and from nothing else that is
a figure or a verdict.
"""

import argparse
import itertools
import json
import pathlib
import re
import shutil
import sys

import options

REPO = pathlib.Path(__file__).resolve().parents[2]
RESULTS = REPO / "build" / "results"
DASH = "\N{EN DASH}"
# Of a command with more than twice as many so many are shown
PATTERNS = 6
ONLY = r" --only[ =]\S+"
VERDICT = {True: "holds", False: "**does not hold**", None: "not measured"}


# --- what was measured -------------------------------------------------------

def summaries():
    """Each summary.json below build/results, as (when it began, it)."""
    found = []
    # Those of scripts/bench-all are one deeper.
    for path in (*RESULTS.glob("*/summary.json"),
                 *RESULTS.glob("all-*/*/summary.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(data, dict) and data.get("cells"):
            found.append((data.get("began") or "", str(path), data))
    return sorted(found, key=lambda one: one[:2])


def newest(suite):
    """The newest results of a suite, or None."""
    found = [data for *_, data in summaries() if data.get("suite") == suite]
    return found[-1] if found else None


def is_cost(data):
    """Was it made by scripts/bench-cost?"""
    cells = data.get("cells")
    return bool(cells) and "busy_ns_per_io" in cells[0]


def load(folder, suites, cost=False):
    """The summary of a directory; ValueError if it has none of these."""
    try:
        data = json.loads((folder / "summary.json").read_text(
            encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{folder}: no summary.json of a suite ({error})") \
            from None
    if cost and is_cost(data):
        return data
    if data.get("suite") not in suites:
        raise ValueError(f"{folder}: suite '{data.get('suite')}': want one "
                         "of " + ", ".join(suites))
    return data


# --- text --------------------------------------------------------------------

def table(head, rows):
    """Markdown."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def source(text):
    """Who says so: the scheduler's paper, another one ("other: ..."), or we.

    We want that much: "aim", "aim: ...".
    """
    if text == "aim":
        return "An aim of ours."
    if text.startswith("aim: "):
        return f"Our aim: {text[len('aim: '):]}."
    if text.startswith("other: "):
        return "From another paper, not the schedulers' own: " \
            f"{text[len('other: '):]}."
    return f"Paper: {text}."


def claim_list(rows, beside=None, every=False):
    """Claims with their parts.

    beside: {claim: what follows it}. every: of claims of which some parts were
    measured those that were not, too.
    """
    for row in rows:
        yield f"- {row['id']}: {row['text']}: {VERDICT[row['holds']]}" + (
            f" ({row['judged']} of {row['wanted']} judged)"
            if row["holds"] is not None and row["judged"] < row["wanted"]
            else "") + f". {source(row['paper'])}" + (
                f" {beside[row['id']]}" if row["id"] in (beside or {}) else "")
        for one in row["parts"]:
            if one["holds"] is None and one["ours"] == "not measured":
                if every and row["holds"] is not None:
                    yield f"  - not measured: {one['text']}"
            else:
                yield f"  - {VERDICT[one['holds']]}: {one['text']}: " \
                    f"{one['ours']}"
    yield ""


def plain(command):
    """A command without where its results went: that is of use there only.

    Nor with hundreds of cells that it was asked for.
    """
    words = re.sub(r" --(out|vms)[ =]\S+", "", str(command))
    count = itertools.count()
    some = len(re.findall(ONLY, words))
    if some <= 2 * PATTERNS:
        return words
    return re.sub(ONLY, lambda found: found[0] if next(count) < PATTERNS
                  else "", words) + f" ... # {some} in all"


def together(found, suite):
    """The results of a suite as one; None where there are none.

    Of a cell that several have the last one's counts.
    """
    own = [data for data in found if data.get("suite") == suite]
    if len(own) < 2:
        return own[0] if own else None
    cells = {cell["cell"]: cell for data in own for cell in data["cells"]}
    return {**own[0], "cells": list(cells.values()), "made_of": own}


def facts(summary):
    """How it was measured, a line for each time."""
    if not summary:
        return "**Not measured yet.**"
    return "\n\n".join(_facts(one) for one in summary.get("made_of", [summary]))


def _facts(summary):
    uses = "; ".join(f"{use} seeds " + ", ".join(map(str, seeds))
                     for use, seeds in summary["seed_uses"].items())
    command = plain(summary.get("bench_command"))
    return (f"Form {summary['form']}, {summary['runs_done']} of "
            f"{summary['runs_planned']} runs, {uses}; kernel "
            f"{summary.get('kernel')}, commit {summary.get('commit')}, "
            f"{summary.get('clock')} clock. `{command}`")


# --- the script --------------------------------------------------------------

def parser(name, doc, page, suites):
    """The options that all have."""
    found = options.Parser(
        name, formatter_class=argparse.RawDescriptionHelpFormatter,
        description=doc.split("\n", 1)[1].strip())
    found.add_argument("folders", nargs="*", type=pathlib.Path,
                       metavar="DIR", help="results of suites "
                       + ", ".join(suites))
    found.add_argument("--out", type=pathlib.Path, default=page,
                       metavar="FILE",
                       help=f"instead of {page.relative_to(REPO)}")
    return found


def chosen(args, suites):
    """The results of each suite, None where there are none.

    Of all directories that were named, or the newest; ValueError.
    """
    given = [load(folder, suites) for folder in args.folders]
    return [together(given, name) if given else newest(name)
            for name in suites]


def all_of(args, suites):
    """The results that were named, which may be of bench-cost, or all, by age."""
    if args.folders:
        return [load(folder, suites, cost=True) for folder in args.folders]
    return [data for *_, data in summaries()]


def each(found, sort, key):
    """The last of each data[key] among those for which sort(data) holds."""
    return list({data.get(key): data for data in found
                 if sort(data)}.values())


def emptied(out):
    """The folder of what belongs to a page, without what was made before."""
    folder = out.with_suffix("")
    if folder.is_dir() and all(path.suffix in (".svg", ".md")
                               for path in folder.iterdir()):
        shutil.rmtree(folder)
    return folder


def kept(name, args, page, results):
    """Was nothing measured at all? Then the project's page stays; says so."""
    if args.out != page or any(results):
        return False
    print(f"{name}: nothing was measured, {options.shown(page)} stays as it is; "
          f"next: make bench-{name.removesuffix('-results')}", file=sys.stderr)
    return True


def put(file, lines):
    """Writes a file of Markdown."""
    file.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def write(name, out, lines, suites, results):
    """Writes the page and says so."""
    put(out, lines)
    print(f"{name}: {out}: " + ", ".join(
        f"{suite} {'measured' if one else 'not measured'}"
        for suite, one in zip(suites, results)))


def main(name, doc, page_file, suites, page, argv=None):
    """Command line of a page that suites alone make."""
    args = parser(name, doc, page_file, suites).parse_args(
        sys.argv[1:] if argv is None else argv)
    try:
        results = chosen(args, suites)
    except ValueError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    write(name, args.out, page(*results), suites, results)
    return 0
