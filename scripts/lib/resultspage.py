# SPDX-License-Identifier: GPL-2.0
"""The common parts of all schedulers' pages of results.

A page is made from the summaries of its suites, and from nothing else that is
a figure or a verdict.
"""

import argparse
import contextlib
import functools
import itertools
import json
import pathlib
import re
import sys

import claims
import options

REPO = pathlib.Path(__file__).resolve().parents[2]
RESULTS = REPO / "build" / "results"
PUBLISHED = REPO / "docs" / "results"
DASH = "\N{EN DASH}"
# Number of patterns shown of a command with more than twice as many
PATTERNS = 6
# The status of a script that keeps a page which has more than the results
KEPT = 3
# The prefix of our files beside a page
MARKS = {".md": "<!-- Made by scripts/",
         ".svg": "<!-- SPDX-License-Identifier: GPL-2.0 -->"}
ONLY = r" --only[ =]\S+"
# Parts of a claim that its row shows, and characters of each
PARTS, LONGEST = 4, 160

# Text: the meaning of figures of several seeds
SEVERAL = "Each measure of a cell is its median over the cell's seeds; other figures are computed " \
    "from these medians. A part whose verdict is not that of each seed says with how many seeds " \
    "it holds."


# --- what was measured -------------------------------------------------------

def runs_of(data):
    """The runs that a file has figures of: itself, or what is published in it."""
    return data.get("made_of") or [data]


def summaries():
    """Each run at hand, the oldest first: what is published, and the newest below
    build/results of each form of a suite, and all there of what is no suite.

    None of a real device (scripts/bench --device).
    """
    found = []
    # Those of scripts/bench-all are one deeper.
    for path in (*RESULTS.glob("*/summary.json"),
                 *RESULTS.glob("all-*/*/summary.json"),
                 *PUBLISHED.glob("*.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(data, dict):
            # Of one that is both here and published the file here counts.
            found += [(str(one.get("began") or ""), path.parent != PUBLISHED,
                       str(path), one) for one in runs_of(data)
                      if one.get("cells") and one.get("clock") != "real"]
    found.sort(key=lambda one: one[:3])
    newest = {(one.get("suite"), one.get("form")): one
              for _, own, _, one in found if own}
    return [one for _, own, _, one in found if not own or not one.get("suite")
            or newest[(one["suite"], one.get("form"))] is one]


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
    if not isinstance(data, dict):
        raise ValueError(f"{folder}: no summary.json of a suite")
    if cost and is_cost(data):
        return data
    if data.get("clock") == "real":
        raise ValueError(f"{folder}: of a real device; the pages are of simulated "
                         "ones, next: scripts/report")
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


def verdict(row):
    """A claim's verdict, and how many of its parts hold. Bold if it fails."""
    shares = row.get("shares")
    word = (claims.DIRECTION if shares else claims.word(row, row["holds"])).capitalize()
    word = f"**{word}**" if row["holds"] is False else word
    if row["holds"] and 2 * row["judged"] < row["wanted"]:
        word += claims.IN_PART
    if shares:
        word += ", " + " to ".join(dict.fromkeys(
            f"{share:.2f}" for share in shares)) + " of the size"
    if row["holds"] is None or row["wanted"] < 2:
        return word
    held = sum(one["holds"] is True for one in row["parts"])
    more = row["wanted"] - row["judged"]
    return f"{word} ({held} of {row['judged']} parts" + (
        f", {more} not measured)" if more else ")")


def cut(text, most):
    """A text of at most so many characters, cut before a list if it has one."""
    if len(text) <= most:
        return text
    at = max(text.rfind(mark, most // 2, most) for mark in (": ", "; "))
    return text[:at if at > 0 else most].rstrip(" ,;:") + " ..."


def observations(row):
    """The measured figures of a claim's parts. Parts that do not hold are first, and bold.
    If a part's seeds disagree, it is before the others of its kind.
    """
    parts = sorted((one for one in row["parts"] if one["holds"] is not None
                    or one["ours"] != "not measured"),
                   key=lambda one: (one["holds"] is not False, "seeds" not in one))
    shown = [cut(claims.observed(one), LONGEST) + claims.seeds(one)
             for one in parts[:PARTS]]
    shown = [f"**{text}**" if one["holds"] is False else text
             for text, one in zip(shown, parts)]
    if len(parts) > PARTS:
        seeds = sum("seeds" in one for one in parts[PARTS:])
        shown.append(f"{len(parts) - PARTS} more parts" + (
            f", {seeds} of them not with the same verdict for each seed" if seeds else ""))
    return "<br>".join(shown)


def claim_list(rows, beside=None, data=None):
    """Claims as tables: the papers' apart from our own aims. verdicts.of_page() reads
    them.

    beside: {claim: what follows its figures}. data: the results, for a column of commands.
    """
    if data:
        # Imported here: suites read the data of stand-ins, which other callers may lack.
        import claimcommands  # pylint: disable=import-outside-toplevel
        cells = counted(runs_of(data))
    for kind, title in claims.TITLES.items():
        own = [row for row in rows if claims.whose(row) == kind]
        if not own:
            continue
        yield f"{title}:"
        yield ""
        where = any(row.get("where") for row in own)
        yield from table(
            ["claim", claims.SOURCES[kind], "here",
             *(["conditions"] if where else []), *(["command"] if data else []),
             "verdict"],
            [[text.replace("|", "\\|") or DASH for text in (
                f"**{row['id']}**: {row['text']}", claims.wants(row),
                " ".join(filter(None, (observations(row),
                                       (beside or {}).get(row["id"])))),
                *([row.get("where", "")] if where else []),
                *([claimcommands.commands(row, data["suite"], cells)] if data else []),
                verdict(row))]
             for row in own])
        if any(row.get("shares") for row in own):
            yield "*Direction only*: each part that fails has the paper's sign, and at " \
                f"least {claims.LEAST:g} of its size."
            yield ""


def bare(command):
    """A command without what is of use on its own machine only."""
    return re.sub(r" --(out|vms)[ =]\S+| --keep\b", "", str(command))


def plain(command):
    """Like bare(), shortened for a page: without hundreds of patterns of --only."""
    words = bare(command)
    count = itertools.count()
    some = len(re.findall(ONLY, words))
    if some <= 2 * PATTERNS:
        return words
    return re.sub(ONLY, lambda found: found[0] if next(count) < PATTERNS
                  else "", words) + f" ... # {some} in all"


def requests(cell):
    """The size of a cell's sample, of all seeds: requests with a latency that counts,
    else all.
    """
    found = [(cell.get("metrics") or {}).get(key) for key in
             ("latency_count", "ios")]
    return next((one["median"] for one in found if one and one["median"]), 0) * \
        max(1, len(cell.get("by_seed") or ()))


def counted(runs):
    """{cell: (its figures, the run that they are of)} of runs of one suite.

    The runs in order of age. If several runs of one form have a cell, the last one
    counts: the others are of earlier states of the project. If several forms have
    it, the one with most requests counts, the later one if they are alike.
    """
    forms = {}
    for run in runs:
        # The form with the newest run is last.
        cells = forms[run.get("form")] = forms.pop(run.get("form"), {})
        cells.update({cell["cell"]: (cell, run) for cell in run["cells"]})
    found = {}
    for cells in forms.values():
        for name, one in cells.items():
            if name not in found or requests(one[0]) >= requests(
                    found[name][0]):
                found[name] = one
    return found


def together(found, suite):
    """The results of a suite as one; None where there are none.

    "made_of" has the runs of which a cell counts, see counted().
    """
    own = [data for data in found if data.get("suite") == suite]
    if len(own) < 2:
        return own[0] if own else None
    cells = counted(own)
    made_of = [run for run in own
               if any(one is run for _, one in cells.values())]
    busy = [name for name, (_, run) in cells.items()
            if name in (run.get("cpu_too_busy") or ())]
    return {**made_of[-1], "cells": [cell for cell, _ in cells.values()],
            "left_out": list(dict.fromkeys(
                line for run in made_of for line in run.get("left_out") or ())),
            "cpu_too_busy": busy, "made_of": made_of}


def on_kernels(row, data):
    """A claim about CPU time; its text names the kernels that its cells were measured on."""
    found = counted(runs_of(data)) if data else {}
    return {**row, "text": ", ".join([row["text"], *dict.fromkeys(
        claims.kernel_series(found[name][1].get("kernel"))
        for name in row["cells"] if name in found)])}


def by_form(found, suite):
    """The results of each form of a suite, the one measured last at the end."""
    forms = {}
    for data in found:
        if data.get("suite") == suite:
            runs = forms.pop(data.get("form"), [])
            forms[data.get("form")] = [*runs, data]
    return [together(runs, suite) for runs in forms.values()]


def facts(summary):
    """How it was measured, a line for each time."""
    if not summary:
        return "**Not measured yet.**"
    return "\n\n".join(map(_facts, runs_of(summary)))


def _facts(summary):
    uses = "; ".join(f"{use} seeds " + ", ".join(map(str, seeds))
                     for use, seeds in summary["seed_uses"].items())
    command = plain(summary.get("bench_command"))
    return (f"Form {summary['form']}, {summary['runs_done']} of "
            f"{summary['runs_planned']} runs, {uses}; kernel "
            f"{summary.get('kernel')}, commit {summary.get('commit')}, "
            f"{summary.get('clock')} clock. `{command}`")


# --- the script --------------------------------------------------------------

def page_name(text):
    """An argparse type: the name of a page; without .md it is the pictures' prefix."""
    path = pathlib.Path(text)
    if path.suffix != ".md":
        raise argparse.ArgumentTypeError(
            f"'{text}': want a name that ends in .md")
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(
            f"'{text}': want a directory that exists")
    return path


def in_one_line(name):
    """For the main() of a page: a failed write is reported in one line."""
    def wrap(main):
        @functools.wraps(main)
        def wrapped(argv=None):
            try:
                return main(argv)
            except OSError as error:
                print(f"{name}: {error}", file=sys.stderr)
                return 1
        return wrapped
    return wrap


def parser(name, doc, page, suites):
    """The options that all have."""
    found = options.Parser(
        name, formatter_class=argparse.RawDescriptionHelpFormatter,
        description=doc.split("\n", 1)[1].strip(),
        epilog="Status: 0 written; 1 nothing was measured, or it cannot be "
        f"written; 2 bad options;\n{KEPT} the page has more cells than the "
        "results, and stays.")
    found.add_argument("folders", nargs="*", type=pathlib.Path,
                       metavar="DIR", help="results of suites "
                       + ", ".join(suites))
    found.add_argument("--out", type=page_name, default=page,
                       metavar="FILE",
                       help=f"instead of {page.relative_to(REPO)}")
    found.add_argument("--fewer", action="store_true",
                       help="write it even if it has more cells now than these "
                       "results")
    return found


def all_of(args, suites):
    """The runs that were named, which may be of bench-cost, or all, by age.

    ValueError.
    """
    if args.folders:
        return sorted((load(folder, suites, cost=True)
                       for folder in args.folders),
                      key=lambda one: str(one.get("began") or ""))
    return summaries()


def chosen(args, suites):
    """The results of each suite, None where there are none; ValueError."""
    found = all_of(args, suites)
    return [together(found, name) for name in suites]


def each(found, sort, key):
    """The last of each data[key] among those for which sort(data) holds."""
    return list({data.get(key): data for data in found
                 if sort(data)}.values())


def made_here(path):
    """Is this file, beside a page, one that our scripts have made?"""
    if path.suffix not in MARKS or not path.is_file():
        return False
    with path.open(encoding="utf-8", errors="replace") as file:
        return MARKS[path.suffix] in file.read(300)


def emptied(out):
    """The folder of what belongs to a page, without what was made before.

    Other files there stay: --out may name a page in any directory.
    """
    folder = out.with_suffix("")
    if folder != out and folder.is_dir():
        for path in filter(made_here, list(folder.iterdir())):
            path.unlink()
        with contextlib.suppress(OSError):
            folder.rmdir()
    return folder


def covered(results):
    """How many cells of each suite some results have.

    If a suite's forms stand apart, the cells of each form count.
    """
    return [sum(len(one["cells"]) for one in (
        part if isinstance(part, (list, tuple)) else [part]) if one)
            for part in results]


def has(page, suites):
    """How many cells of each suite a page has; 0 where it does not say so."""
    try:
        said = page.read_text(encoding="utf-8")
    except OSError:
        return [0] * len(suites)
    found = re.search(r"^<!-- cells: (.*) -->$", said, re.M)
    if found:
        counts = dict(one.rsplit(" ", 1) for one in found[1].split(", "))
        return [int(counts.get(suite, 0)) for suite in suites]
    # Made before pages recorded it: a run is a cell and a seed. If a cell was
    # measured twice both count, so this may be too many, which costs nothing.
    counts = dict.fromkeys(suites, 0)
    for runs, seeds, suite in re.findall(
            r"^Form \S+, (\d+) of \d+ runs, (.*?); kernel .*`scripts/bench ([\w-]+)",
            said, re.M):
        if suite in counts:
            counts[suite] += int(runs) // (seeds.count(",") + 1)
    return list(counts.values())


def kept(name, args, page, suites, results):
    """The status if the project's page stays as it is, and says why; else 0.

    It does where nothing was measured, or less than what the page has: a clone
    in which one part was measured again must not lose all others.
    """
    if args.out.resolve() != page.resolve():
        return 0
    if not any(results):
        print(f"{name}: nothing was measured, {options.shown(page)} stays as it is; "
              f"next: make bench-{name.split('-')[0]}",
              file=sys.stderr)
        return 1
    less = [f"{suite} {ours} of {theirs}" for suite, ours, theirs in
            zip(suites, covered(results), has(page, suites)) if ours < theirs]
    if not less or args.fewer:
        return 0
    print(f"{name}: {options.shown(page)} stays as it is, of its cells these results "
          f"have fewer: {', '.join(less)}; next: --fewer, or --out FILE",
          file=sys.stderr)
    return KEPT


def run(name, doc, page, suites, argv, make, collect=chosen):
    """The main() of a page; the status. See run_parsed()."""
    args = parser(name, doc, page, suites).parse_args(
        sys.argv[1:] if argv is None else argv)
    return run_parsed(name, args, page, suites, make, collect)


def run_parsed(name, args, page, suites, make, collect=chosen):
    """Like run(), with parsed options.

    collect(args, suites): the results of each suite, then any others that make() needs;
    a ValueError is a bad option. make(args, results) writes the page, and returns a
    status other than 0 if it cannot.
    """
    try:
        results = collect(args, suites)
    except ValueError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return kept(name, args, page, suites, results[:len(suites)]) or \
        make(args, results) or 0


def put(file, lines):
    """Writes a file of Markdown."""
    file.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def write(name, out, lines, suites, results):
    """Writes the page and says so."""
    # See has().
    counts = ", ".join(f"{suite} {count}" for suite, count in
                       zip(suites, covered(results)))
    put(out, ["\n".join(lines).rstrip(), "", f"<!-- cells: {counts} -->"])
    print(f"{name}: {out}: " + ", ".join(
        f"{suite} {'measured' if one else 'not measured'}"
        for suite, one in zip(suites, results)))
