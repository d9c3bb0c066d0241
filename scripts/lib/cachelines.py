# SPDX-License-Identifier: GPL-2.0
"""scripts/cache-lines: fields by cache line, as pahole finds them in a built module.

Prints the tables of docs/cache-lines.md, or updates them with --write. The last two columns
of the page's tables are written by hand. An update keeps them where the fields of a line are
the same, and else puts "?" there, which tests/host/test_cachelines.py refuses.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import kernel
import options

REPO = pathlib.Path(__file__).resolve().parents[2]
PAGE = REPO / "docs/cache-lines.md"
LINE = 64
# (module, struct, structs of which the members are shown, first member that is left out)
STRUCTS = (
    ("k2", "flash_queue", ("flash_first", "flash_stats", "flash_pending"), None),
    ("k2", "flash_rq", (), None),
    ("k2", "flash_hctx", (), None),
    ("acfq", "tenant", ("tenant_think", "tenant_place"), None),
    ("acfq", "fair_queue", (), "dev"),
)
# Records of requests, which begin with a flash_rq
RECORDS = (("k2", "k2_rq"), ("acfq", "fairshare_rq"), ("layer_read", "layer_rq"),
           ("piq", "piq_record"))
# Sources of these structs
HEADERS = ("common/elevator/iosched.h", "common/elevator/seam.h", "common/elevator/slot.h",
           "common/share/*.h", "common/flash/*.h", "common/estimate/*.h", "k2/*.[ch]",
           "layer_read/*.[ch]", "piq/*.[ch]")
HEAD = ("line", "bytes", "fields", "written by", "read by")
RECORDS_HEAD = ("record", "module", "bytes", "lines")
UNKNOWN = "?"


class CacheError(Exception):
    """Why there is no table, in one line."""


# --- pahole ---------------------------------------------------------------

def parse(text):
    """{struct: (size, [(name, type, offset, size)])} of what pahole prints."""
    found = {}
    for match in re.finditer(r"(?m)^struct (\w+) \{\n(.*?)^\}", text, re.S):
        members = []
        # A union or struct without a name is one member. A bit field is "16: 0  4".
        for line in re.finditer(r"(?m)^\t([^\t/\n][^\n]*?); +/\* +(\d+)(?:: *\d+)? +(\d+) \*/",
                                match[2]):
            what = re.sub(r"__attribute__\(\(.*?\)\)\)? *", "", line[1]).strip()
            name = re.search(r"\(\*(\w+)\)", what) or \
                re.search(r"(\w+)(?:\[\d+\])*(?::\d+)?$", what)
            kind = re.match(r"(?:struct|union|enum) (\w+)", what)
            members.append((name[1] if name else "(union)", kind[1] if kind else "",
                            int(line[2]), int(line[3])))
        size = re.search(r"/\* size: (\d+),", match[2])
        if size and members:
            found.setdefault(match[1], (int(size[1]), members))
    return found


def pahole(path, names):
    """parse() of these structs of a module."""
    if not shutil.which("pahole"):
        raise CacheError("no pahole, which reads the layout of structs: scripts/deps build")
    done = subprocess.run(["pahole", "-C", ",".join(names), path], check=False, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    found = parse(done.stdout)
    missing = [name for name in names if name not in found]
    if missing:
        said = done.stderr.strip().splitlines()
        raise CacheError(f"pahole finds no struct {missing[0]} in {options.shown(path)}"
                         + (f": {said[-1]}" if said else ""))
    return found


def folder(series):
    """Where the modules of a kernel series are built."""
    places = [REPO / "build/obj" / facts["release"]
              for facts in kernel.Store().cached(series)]
    for place in places:
        if (place / "k2.ko").exists():
            return place
    raise CacheError(f"no modules of kernel {series}: SERIES={series} make vm-modules")


def modules(series):
    """{module: path} of a kernel series; refuses modules older than the sources."""
    place = folder(series)
    names = {module for module, *_ in (*STRUCTS, *RECORDS)}
    newest = max((path for pattern in HEADERS for path in REPO.glob(pattern)),
                 key=lambda path: path.stat().st_mtime)
    found = {}
    for name in sorted(names):
        path = place / f"{name}.ko"
        if not path.exists():
            raise CacheError(f"no {options.shown(path)}: SERIES={series} make vm-modules")
        if path.stat().st_mtime < newest.stat().st_mtime:
            raise CacheError(f"{options.shown(path)} is older than {options.shown(newest)}: "
                             f"SERIES={series} make vm-modules")
        found[name] = path
    return found


# --- lines ----------------------------------------------------------------

def flatten(found, name, inner, end):
    """[(field, offset, size)] with the members of the structs `inner`; up to member `end`."""
    flat = []
    for member, kind, offset, size in found[name][1]:
        if member == end:
            break
        if kind in inner:
            flat += [(f"{member}.{field}", offset + at, length)
                     for field, _, at, length in found[kind][1]]
        else:
            flat.append((member, offset, size))
    return flat


def lines(fields):
    """[(line, first byte, last byte, names)]; a field of two lines is in both."""
    last = max((at + size - 1 for _, at, size in fields), default=-1) // LINE
    found = []
    for number in range(last + 1):
        here = [(max(at, number * LINE), min(at + size, (number + 1) * LINE), name)
                for name, at, size in fields
                if at < (number + 1) * LINE and at + size > number * LINE]
        if here:
            found.append((number, min(first for first, _, _ in here),
                          max(end for _, end, _ in here) - 1, [name for *_, name in here]))
    return found


def measure(paths):
    """({struct: lines()}, [(record, module, bytes, lines)]) of {module: path}."""
    tables, records = {}, []
    for module, name, inner, end in STRUCTS:
        found = pahole(paths[module], (name, *inner))
        tables[name] = lines(flatten(found, name, inner, end))
    for module, name in RECORDS:
        size = pahole(paths[module], (name,))[name][0]
        records.append((name, module, size, -(-size // LINE)))
    return tables, records


# --- the page -------------------------------------------------------------

def cells(row):
    """The cells of a row of a Markdown table."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def generated(line):
    """The first three cells of a row."""
    number, first, end, names = line
    return [str(number), f"{first}-{end}", " ".join(f"`{name}`" for name in names)]


def mark(name):
    """The line of the page that precedes the table of a struct."""
    return f"<!-- scripts/cache-lines: {name} -->"


def rows_of(page, name):
    """Rows of the table of a struct, without its head."""
    match = re.search(re.escape(mark(name)) + r"\n((?:\|.*\n)+)", page)
    if not match:
        raise CacheError(f"{options.shown(PAGE)} has no table after '{mark(name)}'")
    return [cells(row) for row in match[1].splitlines()[2:]]


def table(head, rows):
    """A Markdown table."""
    head, *rest = [f"| {' | '.join(row)} |\n" for row in (head, *rows)]
    return "".join((head, f"|{'---|' * (head.count('|') - 1)}\n", *rest))


def update(page, tables, records):
    """The page with these tables; columns written by hand are kept where they still hold."""
    new = page
    for name, found in tables.items():
        known = {row[2]: row[3:] for row in rows_of(page, name)}
        rows = [[*generated(line), *known.get(generated(line)[2], [UNKNOWN] * 2)]
                for line in found]
        new = replace(new, name, table(HEAD, rows))
    return replace(new, "records", table(RECORDS_HEAD, [
        [f"`{name}`", module, str(size), str(count)]
        for name, module, size, count in records]))


def replace(page, name, text):
    """The page with another table of a struct."""
    rows_of(page, name)
    return re.sub(re.escape(mark(name)) + r"\n(?:\|.*\n)+",
                  lambda _: f"{mark(name)}\n{text}", page)


def plain(tables, records):
    """The tables as text."""
    said = []
    for name, found in tables.items():
        said.append(f"struct {name}")
        for number, first, end, names in found:
            said.append(f"  {number:2} {f'{first}-{end}':>9}  {' '.join(names)}")
    said.append("records")
    said += [f"  {name:12} {size:4} bytes, {count} lines ({module})"
             for name, module, size, count in records]
    return "\n".join(said)


def parse_args(argv):
    """Command line."""
    parser = options.Parser(
        "cache-lines", description="Prints which fields of the structs that each I/O uses "
        "share a cache line, from the modules that were built for a kernel.",
        epilog="Status: 0; 1 no pahole, no modules, or older ones; 2 bad options. Build them "
        "with: SERIES=6.12 make vm-modules.")
    parser.add_argument("--kernel", type=options.series, default="6.12", metavar="SERIES",
                        help="default 6.12, which the page describes")
    parser.add_argument("--write", action="store_true",
                        help="update the tables of docs/cache-lines.md; columns written by "
                        "hand are '?' where fields of a line have changed")
    args = parser.parse_args(argv)
    if args.write and args.kernel != "6.12":
        parser.error("--write: the page describes kernel 6.12")
    return args


def main(argv=None):
    """Returns the status."""
    args = parse_args(sys.argv[1:] if argv is None else argv)
    try:
        tables, records = measure(modules(args.kernel))
        if not args.write:
            print(plain(tables, records))
            return 0
        new = update(PAGE.read_text(encoding="utf-8"), tables, records)
        PAGE.write_text(new, encoding="utf-8")
        unknown = sum(f"| {UNKNOWN} |" in row for row in new.splitlines())
        if unknown:
            print(f"cache-lines: {unknown} lines have other fields now: fill in who writes "
                  f"and reads them in {options.shown(PAGE)}", file=sys.stderr)
    except (CacheError, kernel.Broken) as error:
        print(f"cache-lines: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"cache-lines: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
