# SPDX-License-Identifier: GPL-2.0
"""scripts/abi-check: it passes the kernels it should, and it can fail.

Most cases are negative controls: a copy of common/elevator/compat.h is made wrong in
one place, and the check has to name that place. They run on the kernels that
scripts/kernel has fetched; without them they are skipped.
"""

import functools
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
CHECK = TOP / "scripts/abi-check"
COMPAT = (TOP / "common/elevator/compat.h").read_text(encoding="utf-8")
LAYOUT = (TOP / "common/elevator/abi.c").read_text(encoding="utf-8")
SERIES = {"6.1": 601, "6.12": 612, "7.3": 703, "rt": 601}
# Those of which compat.h can be made never to have seen the version.
VERSIONS = pytest.mark.parametrize("series", ["6.1", "7.3"])
# What a series restates less than the others.
LESS = {"7.3": {"elevator_alloc"}}
ALL = pytest.mark.parametrize("series", SERIES)


@functools.lru_cache(maxsize=None)
def fetched():
    """{series: whether scripts/kernel has it}: no test downloads a kernel."""
    run = subprocess.run([TOP / "scripts/kernel", "--list"], check=False,
                         text=True, stdout=subprocess.PIPE)
    assert run.returncode == 0, "scripts/kernel --list failed"
    return {line.split()[0]: line.split()[1] != "-"
            for line in run.stdout.splitlines() if len(line.split()) > 1}


@functools.lru_cache(maxsize=None)
def facts(series):
    """What scripts/kernel says of a series."""
    if not fetched().get(series):
        pytest.skip(f"kernel {series} is not here: scripts/kernel {series}")
    run = subprocess.run([TOP / "scripts/kernel", series], check=False,
                         text=True, stdout=subprocess.PIPE)
    if run.returncode == 77:
        pytest.skip(f"scripts/kernel {series}: cannot be had")
    assert run.returncode == 0, f"scripts/kernel {series} failed"
    return dict(line.split("=", 1) for line in run.stdout.splitlines())


class Run:
    """One run of abi-check with files made for the occasion."""

    def __init__(self, tmp_path, series, *options, compat=COMPAT,
                 layout=LAYOUT, btf=None):
        kernel = facts(series)
        (tmp_path / "compat.h").write_text(compat, encoding="utf-8")
        (tmp_path / "layout.c").write_text(layout, encoding="utf-8")
        self.out = tmp_path / "abi.mk"
        done = subprocess.run(
            [CHECK, "--kdir", kernel["kdir"], "--btf", btf or kernel["btf"],
             "--makefile", self.out, "--compat", tmp_path / "compat.h",
             "--layout-file", tmp_path / "layout.c", *options,
             *(f"--make={word}" for word in kernel.get("make", "").split())],
            check=False, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        self.status, self.text = done.returncode, done.stdout

    def passed(self, flags):
        """It passed, and the module build is told exactly `flags`."""
        assert self.status == 0, self.text
        assert self.out.read_text().splitlines()[-1] == \
            f"ABI_CFLAGS := {flags}".rstrip()

    def refused(self, *words):
        """It refused, in these words, and left nothing to build with."""
        assert self.status == 1, self.text
        assert "refused" in self.text
        for word in words:
            assert word in self.text, f"no '{word}' in:\n{self.text}"
        assert not self.out.exists()


def edited(text, old, new):
    """`text` with one place changed; fails if the place is not there."""
    assert text.count(old) == 1, f"{text.count(old)} times in file: {old}"
    return text.replace(old, new)


def of_version(text, version):
    """compat.h as the kernel of another version would see it."""
    include = "#include <linux/version.h>\n"
    return edited(text, include, include + "#undef LINUX_VERSION_CODE\n"
                  "#define LINUX_VERSION_CODE KERNEL_VERSION("
                  f"{version.replace('.', ', ')})\n")


# Never tested, with the meanings and the layout of a tested series.
UNTESTED = {"6.1": "6.0.19", "7.3": "7.1.13"}


def unverified(text, series):
    """compat.h as if the kernel's series had never been tested."""
    return of_version(text, UNTESTED[series])


# What is passed

@ALL
def test_tested_series_pass(tmp_path, series):
    """Every tested kernel passes, and everything restated was compared."""
    run = Run(tmp_path, series, "--verbose")
    run.passed("")
    assert "(tested series)" in run.text
    names = re.findall(r"^(?:struct|enum) (\w+) \{", COMPAT, re.M) + \
        re.findall(r"^LAYOUT_FN\((\w+)\)", LAYOUT, re.M)
    assert len(names) >= 19
    for name in names:
        assert bool(re.search(rf"^  same .* {name}\b", run.text, re.M)) == \
            (name not in LESS.get(series, ())), name


@ALL
def test_btf_from_the_image(tmp_path, series):
    """A compressed kernel image is as good a source of BTF as any."""
    Run(tmp_path, series, btf=facts(series)["vmlinuz"]).passed("")


@VERSIONS
def test_equal_but_untested_is_marked(tmp_path, series):
    """A version never tested builds if its BTF equals a layout, marked."""
    run = Run(tmp_path, series, compat=unverified(COMPAT, series))
    run.passed(f"-DELV_LAYOUT={SERIES[series]} -DELV_LAYOUT_FROM_BTF")
    assert "layout verified, not tested" in run.text


# Negative controls: what is refused

@pytest.mark.parametrize("series, layout, member",
                         [("6.12", "601", "elevator_features"),
                          ("6.1", "612", "registered"),
                          ("7.3", "612", "alloc_sched_data")])
def test_forced_layout_of_another_series(tmp_path, series, layout, member):
    """Another series' layout is refused, structure and member named."""
    Run(tmp_path, series, "--layout", layout).refused(
        "struct elevator_type differs", "struct elevator_queue differs",
        member, f"layout {layout}", "--- common/elevator/compat.h")


def test_newer_layout_on_an_older_kernel(tmp_path):
    """It may use what the older one's headers lack; that refuses it."""
    Run(tmp_path, "6.12", "--layout", "703").refused(
        "does not compile", "async_depth", "does not have layout 703")


def test_tested_version_with_other_btf(tmp_path):
    """A tested version does not help when its BTF is another one's."""
    Run(tmp_path, "6.1", btf=facts("6.12")["btf"]).refused(
        "is of a tested series", "struct elevator_type differs",
        "elevator_features: only in compat.h")


SWAP = ("	void (*prepare_request)(struct request *rq);\n"
        "	void (*finish_request)(struct request *rq);\n")
CHANGES = {
    # Two members of the same type: sizes and types alone would not show it.
    "swapped members": (
        SWAP, "".join(reversed(SWAP.splitlines(keepends=True))),
        ("elevator_mq_ops", "prepare_request: offset", "finish_request")),
    "added member": (
        SWAP, SWAP + "	void (*none_such)(struct request *rq);\n",
        ("elevator_mq_ops", "none_such: only in compat.h")),
    "removed member": (
        SWAP, SWAP.splitlines(keepends=True)[0],
        ("elevator_mq_ops", "finish_request: only in the kernel")),
    "parameter of a hook": (
        "bool (*has_work)(struct blk_mq_hw_ctx *hctx);",
        "bool (*has_work)(struct request_queue *hctx);",
        ("elevator_mq_ops", "has_work: type")),
    "result of a hook": (
        "bool (*has_work)(struct blk_mq_hw_ctx *hctx);",
        "int (*has_work)(struct blk_mq_hw_ctx *hctx);",
        ("elevator_mq_ops", "has_work: type")),
    # Same size, same offset, other signedness.
    "type of a member": (
        "	unsigned int shallow_depth;\n", "	int shallow_depth;\n",
        ("blk_mq_alloc_data", "shallow_depth: type")),
    "const of a member": (
        "	struct elv_fs_entry *elevator_attrs;",
        "	const struct elv_fs_entry *elevator_attrs;",
        ("elevator_type", "elevator_attrs: type")),
    "length of an array": (
        "#define ELV_HASH_BITS	6", "#define ELV_HASH_BITS	7",
        ("elevator_queue", "hash: type")),
    "mode of an attribute": (
        "	umode_t mode;\n", "	unsigned int mode;\n",
        ("blk_mq_debugfs_attr", "mode: type")),
    "store of an attribute": (
        "			 size_t count);\n};", "			 int count);\n};",
        ("elv_fs_entry", "store: type")),
    "value of an enum": (
        "	ELEVATOR_DISCARD_MERGE	= 3,", "	ELEVATOR_DISCARD_MERGE	= 4,",
        ("enum elv_merge", "ELEVATOR_DISCARD_MERGE: value is 4")),
    "parameter of a function": (
        "			    unsigned int nr_segs, struct request **merged);",
        "			    int nr_segs, struct request **merged);",
        ("function blk_mq_sched_try_merge", "(prototype)")),
    "result of a function": (
        "int elv_register(struct elevator_type *e);",
        "void elv_register(struct elevator_type *e);",
        ("function elv_register", "(prototype)")),
    "function that takes one more": (
        "void elv_unregister(struct elevator_type *e);",
        "void elv_unregister(struct elevator_type *e, int why);",
        ("function elv_unregister", "(prototype)")),
}


NEWER = {
    # Of the same size, so that nothing behind them moves.
    "swapped hooks": (
        "	void *(*alloc_sched_data)(struct request_queue *q);\n"
        "	void (*free_sched_data)(void *data);\n",
        "	void (*free_sched_data)(void *data);\n"
        "	void *(*alloc_sched_data)(struct request_queue *q);\n",
        ("elevator_mq_ops", "alloc_sched_data: offset")),
    "queue that init_sched gets": (
        "	int (*init_sched)(struct request_queue *q, compat_init_arg_t *arg);",
        "	int (*init_sched)(struct request_queue *q, "
        "struct elevator_type *arg);",
        ("elevator_mq_ops", "init_sched: type")),
    "queue that depth_updated gets": (
        "typedef struct request_queue compat_depth_arg_t;",
        "typedef struct blk_mq_hw_ctx compat_depth_arg_t;",
        ("elevator_mq_ops", "depth_updated: type")),
    "attributes that are not const": (
        "	const struct elv_fs_entry *elevator_attrs;",
        "	struct elv_fs_entry *elevator_attrs;",
        ("elevator_type", "elevator_attrs: type")),
    "no tags": (
        "	struct elevator_tags *et;\n", "",
        ("elevator_queue", "et: only in the kernel",
         "elevator_data: offset")),
    "tags of another type": (
        "	struct elevator_tags *et;\n", "	struct blk_mq_tags *et;\n",
        ("elevator_queue", "et: type")),
}


# All on one kernel, and on the others what shows that they are compared, too.
@pytest.mark.parametrize("series, change", [("6.12", c) for c in CHANGES] + [
    ("6.1", "swapped members"), ("6.1", "parameter of a function"),
    ("7.3", "swapped members"), ("7.3", "parameter of a function"),
    ("rt", "swapped members")])
def test_one_thing_wrong(tmp_path, series, change):
    """compat.h wrong in one place: refused, and the place is named."""
    old, new, words = CHANGES[change]
    Run(tmp_path, series, compat=edited(COMPAT, old, new)).refused(*words)


@pytest.mark.parametrize("change", NEWER)
def test_one_thing_wrong_in_what_only_7_3_has(tmp_path, change):
    """The same for the parts of layout 703 that no other layout has."""
    old, new, words = NEWER[change]
    Run(tmp_path, "7.3", compat=edited(COMPAT, old, new)).refused(*words)


@ALL
def test_function_the_kernel_does_not_have(tmp_path, series):
    """A function that is not there, or not exported, is refused."""
    name = "elv_rb_find_any"
    run = Run(tmp_path, series,
              compat=edited(COMPAT, "void elv_unregister(",
                            f"int {name}(int why);\nvoid elv_unregister("),
              layout=LAYOUT + f"\nLAYOUT_FN({name});\n")
    run.refused(f"function {name}", "not in the kernel's BTF",
                "not exported by the kernel")


@VERSIONS
def test_untested_and_different(tmp_path, series):
    """Never tested and equal to no layout: refused with the nearest."""
    old, new, words = CHANGES["type of a member"]
    run = Run(tmp_path, series,
              compat=edited(unverified(COMPAT, series), old, new))
    run.refused("nearest of 601, 612, 703", f"layout {SERIES[series]}",
                *words)


# BTF equal, and the unit of shallow_depth may be either: 6.12.43 changed it.
@pytest.mark.parametrize("version", ["6.12.25", "6.12.42", "6.12.0", "6.13.7",
                                     "6.18.15", "6.2.0"])
def test_meaning_that_btf_does_not_show(tmp_path, version):
    """A kernel whose unit of shallow_depth is unknown is refused."""
    Run(tmp_path, "6.12", compat=of_version(COMPAT, version)).refused(
        "meaning of a value", "shallow_depth", "6.12.43")


@pytest.mark.parametrize("series, version", [
    ("6.1", "6.1.0"), ("6.1", "6.1.104"), ("6.1", "6.1.255"),
    ("6.12", "6.12.43"), ("6.12", "6.12.255")])
def test_meaning_that_is_known(tmp_path, series, version):
    """Both sides of the refused versions still pass."""
    Run(tmp_path, series, compat=of_version(COMPAT, version)).passed("")


# What it cannot judge, it says so: status 2

@pytest.mark.parametrize("compat, layout, words", [
    (COMPAT, edited(LAYOUT, "LAYOUT_FN(elv_rb_find);\n", ""),
     "lacks LAYOUT_FN(elv_rb_find)"),
    (edited(COMPAT, "struct elv_fs_entry {",
            "struct elv_none { int x; };\nstruct elv_fs_entry {"), LAYOUT,
     "no instance of struct elv_none"),
    (COMPAT, edited(LAYOUT, "LAYOUT_FN(elv_rb_find);\n",
                    "#if 0\nLAYOUT_FN(elv_rb_find);\n#endif\n"),
     "leaves elv_rb_find out"),
], ids=["function", "struct", "function left out"])
def test_nothing_restated_goes_unchecked(tmp_path, compat, layout, words):
    """What compat.h restates and layout.c does not list is an error."""
    run = Run(tmp_path, "6.12", compat=compat, layout=layout)
    assert run.status == 2 and words in run.text, run.text


def btf(*kinds, layout=b""):
    """A BTF blob with these (kind, vlen, size, what follows) types."""
    types, text = b"", b"\0"
    for number, (name, kind, count, size, more) in enumerate(kinds):
        types += struct.pack("<III", len(text) if name else 0,
                             kind << 24 | count, size) + more
        text += (name.encode() + b"\0") if name else b""
    head = struct.pack("<HBBI", 0xeb9f, 1, 0, 32 if layout else 24)
    head += struct.pack("<IIII", 0, len(types), len(types), len(text))
    if layout:
        head += struct.pack("<II", len(types) + len(text), len(layout))
    return head + types + text + layout


def loaded():
    """scripts/abi-check as a module."""
    loader = importlib.machinery.SourceFileLoader("abi_check", str(CHECK))
    spec = importlib.util.spec_from_loader("abi_check", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


INT = ("int", 1, 0, 4, struct.pack("<I", 32))
# A kind that is not there yet, with 8 bytes and 3 times 4 more.
FUTURE = ("later", 25, 3, 0, bytes(20))


def member(name, kind, offset=0):
    """One member of a struct."""
    return struct.pack("<III", name, kind, offset)


def test_btf_kind_newer_than_this_check():
    """It is passed over where the BTF says how long it is."""
    check = loaded()
    types = (FUTURE, INT, ("thing", 4, 1, 4, member(7, 2)))
    sizes = bytes(4 * 25) + struct.pack("<BBH", 8, 4, 0)
    blob = check.Btf(btf(*types, layout=sizes), "made up")
    number, = blob.find("struct", "thing")
    assert [m["type"] for m in blob.layout(number).values()] == ["int"]
    assert "later" in blob.describe(1)
    with pytest.raises(check.Trouble, match="kind 25 is newer"):
        check.Btf(btf(*types), "made up")
    with pytest.raises(check.Trouble, match="kind 25 is newer"):
        check.Btf(btf(*types, layout=sizes[:-4]), "made up")


def test_btf_of_more_members_than_16_bits_count():
    """Newer BTF counts with 24 bits."""
    check = loaded()
    many = 70000
    blob = check.Btf(btf(INT, ("huge", 4, many, 4 * many,
                               member(0, 1) * many), INT), "made up")
    number, = blob.find("struct", "huge")
    assert sum(1 for _ in blob.members(number)) == many


def test_without_pahole():
    """Without pahole nothing is verified: says what to install."""
    done = subprocess.run([CHECK, "--kdir", facts("6.12")["kdir"]],
                          env={"PATH": "/nonexistent"}, check=False,
                          text=True, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert "apt-get install dwarves" in done.stderr


def test_without_btf():
    """Without the kernel's BTF nothing is verified: names the package."""
    # 6.1's headers have no BTF, and nobody runs or has this release.
    done = subprocess.run([CHECK, "--kdir", facts("6.1")["kdir"],
                           "--release", "6.1.0-0-none"], check=False,
                          text=True, stderr=subprocess.PIPE)
    assert done.returncode == 2
    assert "linux-image-6.1.0-0-none" in done.stderr


def test_unreadable_btf(tmp_path):
    """A file that is no BTF is an error, not a pass."""
    (tmp_path / "none").write_bytes(b"\x7fELF" + bytes(200))
    for btf in (tmp_path / "none", tmp_path / "missing", "/etc/passwd"):
        run = Run(tmp_path, "6.12", btf=btf)
        assert run.status == 2, run.text
        assert not run.out.exists()


# The Makefile's part

def make(*arguments, cwd=TOP):
    """Status and output of make."""
    environment = {k: v for k, v in os.environ.items()
                   if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "KDIR",
                                "KVER", "BTF")}
    done = subprocess.run(["make", *arguments], cwd=cwd, check=False,
                          env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """A copy of what a module build needs."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("common", "k2", "scripts"):
        shutil.copytree(TOP / name, tree / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "Kbuild"):
        shutil.copy(TOP / name, tree)
    return tree


def test_no_headers():
    """Without headers the package that has them is named."""
    status, text = make("KVER=9.9.9-none")
    assert status and "apt-get install linux-headers-9.9.9-none" in text


def test_refused_kernel_is_not_built(tree):
    """A layout that is wrong never becomes a module."""
    old, new, words = CHANGES["swapped members"]
    (tree / "common/elevator/compat.h").write_text(edited(COMPAT, old, new))
    status, text = make(f"KDIR={facts('6.12')['kdir']}", cwd=tree)
    assert status and words[0] in text, text
    assert not list(tree.rglob("*.ko"))


def test_build_leaves_sources_alone(tree):
    """Modules appear under build/ only; the second build does nothing."""
    before = sorted(p for p in tree.rglob("*") if p.is_file())
    kernel = facts("6.12")
    arguments = (f"KDIR={kernel['kdir']}", f"BTF={kernel['btf']}")
    status, text = make(*arguments, cwd=tree)
    assert status == 0, text
    module = tree / "build/modules" / kernel["release"] / "k2.ko"
    stamp = module.stat().st_mtime_ns
    after = sorted(p for p in tree.rglob("*") if p.is_file() and
                   tree / "build" not in p.parents)
    assert after == before
    status, text = make(*arguments, cwd=tree)
    assert status == 0 and "CC [M]" not in text, text
    assert module.stat().st_mtime_ns == stamp


def test_untested_kernel_is_built_marked(tree):
    """Equal but untested: built, and the compiler is told so."""
    (tree / "common/elevator/compat.h").write_text(unverified(COMPAT, "6.1"))
    kernel = facts("6.1")
    status, text = make(f"KDIR={kernel['kdir']}", f"BTF={kernel['btf']}",
                        cwd=tree)
    assert status == 0 and "layout verified, not tested" in text, text
    command = tree / "build/obj" / kernel["release"] / "k2/.build.o.cmd"
    assert "-DELV_LAYOUT=601 -DELV_LAYOUT_FROM_BTF" in command.read_text()


def test_kernels_in_the_cache_are_looked_at_only(tmp_path, monkeypatch):
    """An older one of a series has its BTF, and no archive is asked."""
    for version in (1, 2):
        folder = tmp_path / "kernels" / f"k{version}"
        folder.mkdir(parents=True)
        (folder / "facts.json").write_text(json.dumps({
            "series": "6.12", "release": f"6.12.{version}+deb12-amd64",
            "version": f"6.12.{version}-1", "btf": f"/btf{version}",
            **dict.fromkeys(("kdir", "vmlinuz", "vmlinux", "root"),
                            str(folder))}))
    monkeypatch.setenv("FLASH_IOSCHED_CACHE", str(tmp_path))
    found = loaded().fetched_btf
    assert found("6.12.1+deb12-amd64") == "/btf1"
    assert found("6.12.2+deb12-amd64") == "/btf2"
    assert found("6.12.3+deb12-amd64") is None
