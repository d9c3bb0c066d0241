# SPDX-License-Identifier: GPL-2.0
"""docs/cache-lines.md: what pahole finds in the modules, and rules for hot fields."""

import importlib
import os
import pathlib
import re
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

cachelines = importlib.import_module("cachelines")
PAGE = (REPO / "docs/cache-lines.md").read_text("utf-8")
IOSCHED = (REPO / "common/elevator/iosched.h").read_text("utf-8")

# Fields that each I/O writes, or each I/O that waits
EACH_IO = {
    "flash_queue": {"lock", "limit_changed", "out", "now", "seq", "fresh", "stats.inserted",
                    "stats.dispatched", "pending.list", "pending.ends", "pending.arrived",
                    "pending.ended", "inflight", "waits", "queued", "left", "changed"},
    "flash_hctx": {"queued"},
}
# Fields that every CPU reads without the lock, and that are seldom written
READ_BY_ALL = {
    "flash_queue": {"disk", "work", "nr_hctx", "bound", "hctx", "seams", "counts", "watches",
                    "held", "urgent_seen", "first.rq"},
    "flash_hctx": {"hctx", "recs", "nr_recs"},
}
# Fields that the dispatch of a lone request writes and that no reader without the lock needs
DISPATCH = {"lock", "limit_changed", "out", "now", "seq", "fresh", "stats.inserted",
            "stats.dispatched"}

# As pahole prints it: members of a union, an array, a pointer to a function, a bit field
PAHOLE = """struct inner {
\tint                        a;                    /*     0     4 */
\tlong int                   b[2];                 /*     8    16 */

\t/* size: 24, cachelines: 1, members: 2 */
\t/* last cacheline: 24 bytes */
};
struct outer {
\tstruct other *             to;                   /*     0     8 */
\tint                        (*call)(int, void *); /*     8     8 */
\tunsigned int               bit:1;                /*    16: 0  4 */

\t/* XXX 44 bytes hole, try to pack */

\tunion {
\t\tstruct other       one;                  /*    24     8 */
\t\tlong int           two;                  /*    24     8 */
\t};                                               /*    24     8 */
\t/* --- cacheline 1 boundary (64 bytes) was 8 bytes ago --- */
\tstruct inner               in __attribute__((__aligned__(64))); /*    64    24 */
\tunsigned int               last[11];             /*    88    44 */

\t/* size: 192, cachelines: 3, members: 6 */
} __attribute__((__aligned__(64)));
"""


def on_page(name):
    """{line: its fields} of a struct, as the page has it."""
    return {int(row[0]): re.findall(r"`([^`]+)`", row[2])
            for row in cachelines.rows_of(PAGE, name)}


def built():
    """measure() of the modules, or skips."""
    try:
        return cachelines.measure(cachelines.modules("6.12"))
    except cachelines.CacheError as error:
        return pytest.skip(str(error))


def lines_of(found, fields):
    """Lines of {line: fields} that have any of these fields; each field is in one."""
    at = {field: {line for line, here in found.items() if field in here} for field in fields}
    assert all(at.values()), [field for field, there in at.items() if not there]
    return set().union(*at.values())


def mixed(found, writes, reads):
    """Fields of `writes` on a line that has one of `reads`."""
    return [(field, other) for here in found.values() for field in here if field in writes
            for other in here if other in reads]


def test_the_page_is_what_is_built():
    """scripts/cache-lines --write changes nothing."""
    tables, records = built()
    new = cachelines.update(PAGE, tables, records)
    assert new == PAGE, "scripts/cache-lines --write, then read what has changed"


def test_each_line_is_described():
    """No line is left to be filled in; each struct has a table."""
    for _, name, *_ in cachelines.STRUCTS:
        for row in cachelines.rows_of(PAGE, name):
            assert len(row) == len(cachelines.HEAD), row
            assert cachelines.UNKNOWN not in row and all(row), row


@pytest.mark.parametrize("name", EACH_IO)
def test_what_all_read_is_not_on_a_line_that_each_io_writes(name):
    """Neither on the page nor, if it is there, in the module."""
    found = on_page(name)
    lines_of(found, EACH_IO[name] | READ_BY_ALL[name])
    assert not mixed(found, EACH_IO[name], READ_BY_ALL[name])


def test_arrivals_and_ends_are_on_different_lines():
    """Neither is on the line of the lock. An end also writes the counter of requests in flight."""
    found = on_page("flash_queue")
    places = [lines_of(found, {field}) for field in ("lock", "pending.list", "pending.ends")]
    assert len(set().union(*places)) == sum(map(len, places)) == 3
    assert len(lines_of(found, {"pending.ends", "inflight"})) == 1


def test_a_dispatch_writes_one_line_under_the_lock():
    """Not counting the lists and counts that others read."""
    assert len(lines_of(on_page("flash_queue"), DISPATCH)) == 1


def test_a_record_is_as_many_lines_as_it_says():
    """A flash_rq one; a record of a policy a whole number."""
    assert list(on_page("flash_rq")) == [0]
    rows = cachelines.rows_of(PAGE, "records")
    assert [row[0] for row in rows] == [f"`{name}`" for _, name in cachelines.RECORDS]
    for name, _, size, count in rows:
        assert int(size) == int(count) * cachelines.LINE, name
    assert re.search(r"\n} ____cacheline_aligned_in_smp;\n",
                     IOSCHED[IOSCHED.index("struct flash_rq {"):
                             IOSCHED.index("struct flash_hctx {")])


def test_the_rules_find_faults():
    """Each of two lines with a field too many."""
    good = {0: ["bound"], 1: ["lock", "seq"]}
    assert not mixed(good, {"lock", "seq"}, {"bound"})
    assert mixed({0: ["bound", "seq"], 1: ["lock"]}, {"lock", "seq"}, {"bound"}) == \
        [("seq", "bound")]
    with pytest.raises(AssertionError):
        lines_of(good, {"gone"})


def test_parse_and_lines():
    """Names without attributes; the holes of a line do not count, a long field counts twice."""
    found = cachelines.parse(PAHOLE)
    assert found["inner"] == (24, [("a", "", 0, 4), ("b", "", 8, 16)])
    size, members = found["outer"]
    assert size == 192
    assert [name for name, *_ in members] == ["to", "call", "bit", "(union)", "in",
                                            "last"]
    flat = cachelines.flatten(found, "outer", ("inner",), None)
    assert flat[4:] == [("in.a", 64, 4), ("in.b", 72, 16), ("last", 88, 44)]
    assert cachelines.lines(flat) == [
        (0, 0, 31, ["to", "call", "bit", "(union)"]), (1, 64, 127, ["in.a", "in.b", "last"]),
        (2, 128, 131, ["last"])]
    assert cachelines.flatten(found, "outer", (), "in") == flat[:4]


def test_columns_by_hand_are_kept():
    """Unless the line has other fields."""
    page = "".join(f"{cachelines.mark(name)}\n" + cachelines.table(cachelines.HEAD, [
        ["0", "0-7", "`a`", "end", "all"], ["1", "64-71", "`b`", "dispatch", "none"]]) + "\n"
        for name in ("s", "records"))
    new = cachelines.update(page, {"s": [(0, 0, 11, ["a"]), (1, 64, 71, ["b", "c"])]},
                            [("r", "k2", 64, 1)])
    assert cachelines.rows_of(new, "s") == [["0", "0-11", "`a`", "end", "all"],
                                            ["1", "64-71", "`b` `c`", "?", "?"]]
    assert cachelines.rows_of(new, "records") == [["`r`", "k2", "64", "1"]]
    with pytest.raises(cachelines.CacheError):
        cachelines.rows_of(page, "other")


def run(*args):
    """The script."""
    return subprocess.run([REPO / "scripts/cache-lines", *args], text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def test_it_says_what_is_missing(tmp_path, monkeypatch, capsys):
    """No kernel, no modules, old ones, no pahole: one line with what to do."""
    monkeypatch.setattr(cachelines, "REPO", tmp_path)
    monkeypatch.setattr(cachelines.kernel.Store, "cached", lambda *_: [{"release": "6.12.1"}])
    obj = tmp_path / "build/obj/6.12.1"
    obj.mkdir(parents=True)

    def said():
        assert cachelines.main([]) == 1
        out = capsys.readouterr()
        assert not out.out and out.err.startswith("cache-lines: ") and out.err.count("\n") == 1
        return out.err

    assert "no modules of kernel 6.12: SERIES=6.12 make vm-modules" in said()
    header = tmp_path / "common/share/tenant.h"
    header.parent.mkdir(parents=True)
    header.write_text("")
    (obj / "k2.ko").write_text("")
    assert "acfq.ko: SERIES=6.12 make vm-modules" in said()
    for name in ("acfq", "layer_read", "piq"):
        (obj / f"{name}.ko").write_text("")
    later = obj.stat().st_mtime + 60
    os.utime(header, (later, later))
    assert "older than" in said()
    os.utime(header, (1, 1))
    monkeypatch.setattr(cachelines.shutil, "which", lambda _: None)
    assert "scripts/deps build" in said()


def test_only_the_kernel_of_the_page_is_written():
    """The page describes 6.12."""
    done = run("--kernel", "6.1", "--write")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "cache-lines: --write: the page describes kernel 6.12\n"
