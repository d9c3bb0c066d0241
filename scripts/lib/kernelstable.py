# SPDX-License-Identifier: GPL-2.0
"""scripts/kernels: the table of kernels in docs/kernels.md.

Its rows are tests/vm/kernels/table.toml. What is known of a row: modules that were built
for a kernel of the lab; images whose BTF was compared, and synthetic structs, as
tests/host/test_btfs.py does; results of cases in docs/kernels.json, which --add takes from
the latest runs of scripts/check.
"""

import pathlib
import re
import sys
import tomllib
from dataclasses import dataclass

import btfs
import kernel
import matrix
import options
import schedulers

REPO = pathlib.Path(__file__).resolve().parents[2]
ROWS = kernel.KERNELS / "table.toml"
STRUCTS = REPO / "tests" / "host" / "data"
PAGE = REPO / "docs" / "kernels.md"
RESULTS = REPO / "docs" / "kernels.json"
LATEST = REPO / "build" / "check" / "matrix.json"

MARK = "<!-- scripts/kernels -->"
HEAD = ("kernels", "shipped by", "modules build", "boots: cases passed")
# Of a run: what it was to run; others are of single cases.
WHOLE = ("all", "core")


class TableError(Exception):
    """One line."""


@dataclass(frozen=True)
class Row:
    """Kernels that are equal for our modules."""
    kernels: str
    ships: str = ""
    series: tuple = ()
    btfs: tuple = ()
    structs: tuple = ()


def read(path=ROWS):
    """The rows of the list; TableError if one names what is not there."""
    images, _ = btfs.read()
    found = []
    for fields in tomllib.loads(path.read_text(encoding="utf-8"))["row"]:
        row = Row(**{key: tuple(value) if isinstance(value, list) else value
                     for key, value in fields.items()})
        for name in row.series:
            if name not in kernel.SERIES:
                raise TableError(f"{path.name}: '{name}' of row '{row.kernels}': want a "
                                 "series of series.toml")
        for begin in row.btfs:
            if not any(release.startswith(begin) for release in images):
                raise TableError(f"{path.name}: '{begin}' of row '{row.kernels}': no "
                                 "release in btfs.toml begins so")
        for name in row.structs:
            if not (STRUCTS / f"structs-{name}.c").exists():
                raise TableError(f"{path.name}: '{name}' of row '{row.kernels}': no "
                                 f"structs-{name}.c")
        found.append(row)
    return found


def left_out(rows):
    """Series, images and structs that no row has."""
    images, _ = btfs.read()
    begins = tuple(begin for row in rows for begin in row.btfs)
    named = {name for row in rows for name in row.series + row.structs}
    structs = [path.stem.partition("-")[2] for path in sorted(STRUCTS.glob("structs-*.c"))]
    return [*(name for name in (*kernel.SERIES, *structs) if name not in named),
            *(release for release, image in images.items()
              if not image.refused and not release.startswith(begins))]


# --- cells ------------------------------------------------------------------

def builds(row, images, results):
    """How far it is known that modules build and fit."""
    compiled = [name for name in row.series if name in results]
    count = sum(release.startswith(row.btfs) for release in images) if row.btfs else 0
    return "; ".join([
        *(["compiled"] if compiled else []),
        *([f"BTF of {count} {'image' if count == 1 else 'images'} equal"] if count else []),
        *(["by structs"] if row.structs else [])]) or "–"


def cases(row, results):
    """Results of the row's series."""
    found = []
    for name in row.series:
        entry = results.get(name)
        if not entry:
            continue
        counts = [entry["schedulers"].get(one, {}) for one in schedulers.in_source(REPO)]
        passed = "+".join(str(count.get("passed", 0)) for count in counts)
        failed = sum(count.get("failed", 0) for count in entry["schedulers"].values())
        found.append(f"{entry['release'] if len(row.series) == 1 else name}: {passed}"
                     + (f", {failed} failed" if failed else "")
                     + f" ({entry['cases']})")
    return "; ".join(found) or "–"


def table(rows, results):
    """Markdown."""
    images, _ = btfs.read()
    lines = [HEAD] + [(row.kernels, row.ships or "–", builds(row, images, results),
                       cases(row, results)) for row in rows]
    text = [f"| {' | '.join(cells)} |" for cells in lines]
    text.insert(1, "|---" * len(HEAD) + "|")
    who = "+".join(schedulers.in_source(REPO))
    runs = ", ".join(f"{name} {entry['commit']} {entry['date']}"
                     for name, entry in results.items())
    return "\n".join([*text, "", f"Cases: {who}. Runs (commit, date): {runs or 'none'}.", ""])


# --- results ----------------------------------------------------------------

def add(results, latest):
    """The results with those of the latest runs that count, and what was left out."""
    found, refused = dict(results), []
    for name, entry in latest.items():
        if "absent" in entry:
            continue
        if entry["cases"].partition(",")[0] not in WHOLE:
            refused.append(f"{name}: of some cases only")
        elif entry["commit"].endswith("-dirty"):
            refused.append(f"{name}: of sources that are not all in a commit")
        else:
            found[name] = {
                "release": entry["release"], "commit": entry["commit"],
                "date": entry["date"], "cases": entry["cases"],
                "schedulers": {who: {key: count for key, count in counts.items()
                                     if key != "seconds"}
                               for who, counts in sorted(entry["schedulers"].items())}}
    return {name: found[name] for name in kernel.SERIES if name in found}, refused


def update(page, text):
    """The page with another table."""
    found = re.sub(re.escape(MARK) + r"\n(?:\|.*\n|Cases: .*\n|\n(?=Cases: ))*",
                   lambda _: f"{MARK}\n{text}", page, count=1)
    if MARK not in page:
        raise TableError(f"{options.shown(PAGE)} has no line '{MARK}'")
    return found


def parse_args(argv):
    """Command line."""
    parser = options.Parser(
        "kernels", description="Prints the table of kernels: which distributions ship them, "
        "whether modules build for them, and the cases that have passed.",
        epilog="Status: 0; 1 a row or a file is wrong; 2 bad options.")
    parser.add_argument("--add", action="store_true",
                        help="first add the results of the latest scripts/check of each "
                        "kernel, all cases or the core, to docs/kernels.json")
    parser.add_argument("--write", action="store_true",
                        help="put the table into docs/kernels.md")
    return parser.parse_args(argv)


def main(argv=None):
    """Returns the status."""
    args = parse_args(sys.argv[1:] if argv is None else argv)
    try:
        rows, results = read(), matrix.load(RESULTS)
        if args.add:
            results, refused = add(results, matrix.load(LATEST))
            for line in refused:
                print(f"kernels: left out: {line}", file=sys.stderr)
            options.write_json(RESULTS, {"schema": 1, "series": results})
        text = table(rows, results)
        if args.write:
            PAGE.write_text(update(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")
        else:
            print(text, end="")
    except TableError as error:
        print(f"kernels: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"kernels: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
