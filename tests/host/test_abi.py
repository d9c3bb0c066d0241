# SPDX-License-Identifier: GPL-2.0
"""scripts/abi-check: it passes the kernels it should, and it can fail.

Most cases are negative controls: a copy of common/elevator/compat.h is made wrong in
one place, or a kernel of our own (madekernel.py), and the check has to name that place.
They run on the kernels that scripts/kernel has fetched; without them they are skipped.
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
import sys

import madekernel
import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
CHECK = TOP / "scripts/abi-check"
COMPAT = (TOP / "common/elevator/compat.h").read_text(encoding="utf-8")
LAYOUT = (TOP / "common/elevator/abi.c").read_text(encoding="utf-8")
# The features of each that are 1
SERIES = {"6.1": madekernel.KERNELS["6.1"][0], "6.12": "",
          "7.3": madekernel.KERNELS["7.0"][0],
          "rt": madekernel.KERNELS["6.1"][0]}
# What a series restates less than the others.
LESS = {"7.3": {"elevator_alloc"}}
ALL = pytest.mark.parametrize("series", SERIES)
sys.path.insert(0, str(TOP / "scripts/lib"))
elvfeatures = importlib.import_module("elvfeatures")


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


def check(*arguments, **environment):
    """Status and output of scripts/abi-check."""
    done = subprocess.run(
        [CHECK, *arguments], check=False, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, env={
            k: v for k, v in os.environ.items() if k != "ELV_UNTESTED"}
        | environment)
    return done.returncode, done.stdout


class Run:
    """One run of abi-check with files made for the occasion."""

    def __init__(self, tmp_path, series, *options, compat=COMPAT,
                 layout=LAYOUT, btf=None, **environment):
        kernel = facts(series)
        (tmp_path / "compat.h").write_text(compat, encoding="utf-8")
        (tmp_path / "layout.c").write_text(layout, encoding="utf-8")
        self.out = tmp_path / "abi.mk"
        self.status, self.text = check(
            "--kdir", kernel["kdir"], "--btf", btf or kernel["btf"],
            "--makefile", self.out, "--compat", tmp_path / "compat.h",
            "--layout-file", tmp_path / "layout.c", *options,
            *(f"--make={word}" for word in kernel.get("make", "").split()),
            **environment)

    def passed(self, ones, status=2):
        """It passed, and the module build is told exactly these features."""
        assert self.status == 0, self.text
        words = self.out.read_text().splitlines()[-1].split()
        assert words[:2] == ["ABI_CFLAGS", ":="]
        flags = dict(word[2:].split("=") for word in words[2:])
        assert flags.pop("ELV_STATUS") == str(status)
        assert set(elvfeatures.PUBLIC) <= set(flags)
        assert {f.macro for f in elvfeatures.FEATURES
                if f.reviewed and flags[f.macro] == "1"} == \
            {f"ELV_{name}" for name in ones.split()}

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


# What is passed

@ALL
def test_tested_series_pass(tmp_path, series):
    """Every tested kernel passes, and everything restated was compared."""
    run = Run(tmp_path, series, "--verbose")
    run.passed(SERIES[series])
    assert "features tested" in run.text
    names = re.findall(r"^(?:struct|enum) (\w+) \{", COMPAT, re.M) + \
        re.findall(r"^LAYOUT_FN\((\w+)\)", LAYOUT, re.M)
    assert len(names) >= 18
    for name in names:
        assert bool(re.search(rf"^  same .* {name}\b", run.text, re.M)) == \
            (name not in LESS.get(series, ())), name


@ALL
def test_btf_from_the_image(tmp_path, series):
    """A compressed kernel image is as good a source of BTF as any."""
    Run(tmp_path, series, btf=facts(series)["vmlinuz"]).passed(SERIES[series])


PROBES = {"6.1": {"CPU_IS_ISOLATED", "SHOULD_MERGE"},
          "6.12": {"CPU_IS_ISOLATED", "SHOULD_MERGE", "LIMITS_AT_ALLOC"},
          "7.3": {"CPU_IS_ISOLATED", "HRTIMER_SETUP", "LIMITS_AT_ALLOC"}}


@pytest.mark.parametrize("series", PROBES)
def test_features_of_public_headers(tmp_path, series):
    """They are found by compilation."""
    run = Run(tmp_path, series)
    run.passed(SERIES[series])
    text = run.out.read_text()
    assert {macro[4:] for macro in elvfeatures.PUBLIC if f"-D{macro}=1" in text} \
        == PROBES[series]


@pytest.mark.parametrize("series", [*SERIES, "debug"])
def test_btf_alone(series):
    """Without the kernel's headers: features, verdict, and what was not checked."""
    ones = SERIES.get(series, SERIES["6.1"]).split()
    status, text = check("--btf", facts(series)["btf"])
    assert status == 0, text
    shown = dict(re.findall(r"^  ELV_(\w+)=(\d+)$", text, re.M))
    for feature in elvfeatures.FEATURES:
        if feature.reviewed:
            name = feature.macro[4:]
            assert int(shown[name]) == (name in ones), name
    assert "features tested" in text and "not checked" in text


# Kernels of our own

@pytest.mark.parametrize("kernel", madekernel.KERNELS)
def test_features_of_each_kernel(tmp_path, kernel):
    """Found right, and their combination is reviewed."""
    ones, _ = madekernel.KERNELS[kernel]
    path = madekernel.of_kernel(tmp_path, kernel)
    found = elvfeatures.derive(loaded().Btf(path.read_bytes(), str(path)))
    assert not found.refusals
    assert found.ones() == {f"ELV_{name}" for name in ones.split()}
    assert found.combination()
    reserved = 4 if "RHEL" in kernel else 0
    assert found.values["ELV_RESERVED_OPS"] == reserved
    assert found.values["ELV_RESERVED_TYPE"] == reserved
    assert found.values["ELV_DEBUGFS_ATTRS"] == (kernel != "no debugfs")


def test_each_combination_has_a_kernel():
    """Each that is reviewed is checked above, and is there once."""
    ones = [known.ones for known in elvfeatures.REVIEWED]
    assert len(set(ones)) == len(ones)
    assert {frozenset(f"ELV_{name}" for name in text.split())
            for text, _ in madekernel.KERNELS.values()} == set(ones)


@pytest.mark.parametrize("kernel", ["6.1", "7.0", "no debugfs"])
def test_kernel_equals_what_is_restated(tmp_path, kernel):
    """Compared without its headers; test_btfs.py has more kernels."""
    facts("6.12")
    status, text = check("--btf", madekernel.of_kernel(tmp_path, kernel))
    assert status == 0 and "restated types equal" in text, text


def test_other_sizes_of_public_types(tmp_path):
    """A larger mutex moves what is behind it: by the kernel's own BTF."""
    facts("6.12")
    status, text = check("--btf", madekernel.btf(tmp_path, "MUTEX_WORDS=12"))
    assert status == 0 and "restated types equal" in text, text


UNKNOWN = {
    "a third type of the queue": (
        "INIT_ARG=struct gendisk",
        ("elevator_mq_ops", "'init_sched', parameter 2", "struct gendisk *",
         "struct elevator_type *", "struct elevator_queue *")),
    "a third type of flags": (
        "INSERT_ARG=int", ("'insert_requests', parameter 3", "'int'")),
    "one hook of two": (
        "ONLY_FREE",
        ("elevator_mq_ops", "free_sched_data", "alloc_sched_data", "neither")),
    "neither list of requests": (
        "CACHED=void *more", ("blk_mq_alloc_data", "cached_rqs")),
    "a hook that is gone": (
        "depth_updated=depth_changed",
        ("elevator_mq_ops", "'depth_updated'")),
    "a reserved member in the middle": (
        "RESERVED_FIRST",
        ("elevator_mq_ops", "rh_reserved1", "before 'allow_merge'",
         "at the end")),
    "a reserved bit field": (
        "TYPE_TAIL=unsigned long rh_reserved1:1;",
        ("elevator_type", "rh_reserved1")),
}


@pytest.mark.parametrize("what", UNKNOWN)
def test_unknown_value(tmp_path, what):
    """Refused: the member, what is known of it, and what to do."""
    macro, words = UNKNOWN[what]
    status, text = check("--btf", madekernel.btf(tmp_path, macro))
    assert status == 1 and "refused" in text, text
    for word in (*words, "known", "newer version"):
        assert word in text, f"no '{word}' in:\n{text}"


DIFFERENT = {
    "swapped": (
        "SWAPPED",
        ("elevator_mq_ops", "prepare_request: offset", "RANDSTRUCT")),
    "added": (
        "OPS_TAIL=void (*more)(struct request *);",
        ("elevator_mq_ops", "more: only in the kernel")),
    "retyped": ("LIMIT=int", ("blk_mq_alloc_data", "shallow_depth: type")),
    "prototype": ("PROTOTYPE", ("function elv_rb_find", "(prototype)")),
    "function gone": ("elevator_alloc=elevator_gone",
                      ("function elevator_alloc", "not in the kernel's BTF")),
    "unused member of another size": (
        "CACHED=struct request *cached_rqs[2]",
        ("blk_mq_alloc_data", "cached_rqs: size", "hctx: offset")),
}


@pytest.mark.parametrize("what", DIFFERENT)
def test_kernel_that_differs(tmp_path, what):
    """A kernel whose features are known and whose structures are not."""
    facts("6.12")
    macro, words = DIFFERENT[what]
    status, text = check("--btf", madekernel.btf(tmp_path, macro))
    assert status == 1 and "refused" in text, text
    for word in (*words, "newer version"):
        assert word in text, f"no '{word}' in:\n{text}"


def test_unused_member_of_another_type(tmp_path):
    """Its offset and size are enough."""
    facts("6.12")
    path = madekernel.btf(tmp_path, "CACHED=void *cached_rqs", "ICQ_ARG=int")
    status, text = check("--btf", path)
    assert status == 0 and "restated types equal" in text, text


# 6.12 with a member that 6.9 removed
UNREVIEWED = "HAS_FEATURES"


def test_combination_that_was_not_reviewed(tmp_path):
    """Refused, unless the user wants it; then the modules are marked."""
    path = madekernel.btf(tmp_path, UNREVIEWED)
    for no in ({}, {"ELV_UNTESTED": "0"}):
        Run(tmp_path, "6.12", btf=path, **no).refused(
            "not reviewed", "6.4 to 6.8", "ELV_CACHED_RQ_PTR",
            "ELV_UNTESTED=1")
    run = Run(tmp_path, "6.12", btf=path, ELV_UNTESTED="1")
    run.passed("HAS_FEATURES", status=0)
    assert "not reviewed" in run.text


def test_nothing_unknown_is_wanted(tmp_path):
    """ELV_UNTESTED=1 is for what was not reviewed, not for what differs."""
    Run(tmp_path, "6.12", ELV_UNTESTED="1", btf=madekernel.btf(
        tmp_path, "INIT_ARG=struct gendisk")).refused("struct gendisk *")
    Run(tmp_path, "6.12", ELV_UNTESTED="1", btf=madekernel.btf(
        tmp_path, "LIMIT=int")).refused("shallow_depth: type")


def test_reserved_members_are_padding(tmp_path):
    """At the end of the hooks they move all that is behind these."""
    run = Run(tmp_path, "6.12", btf=madekernel.btf(tmp_path, *madekernel.KABI))
    run.passed("")
    assert "-DELV_RESERVED_OPS=4 -DELV_RESERVED_TYPE=4" in run.out.read_text()


# Negative controls: compat.h wrong in one place

def test_btf_of_another_kernel(tmp_path):
    """The features of another kernel's BTF do not compile with these headers."""
    Run(tmp_path, "6.12", btf=facts("7.3")["btf"]).refused(
        "does not compile", "async_depth")


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
    "length of an array": (
        "#define ELV_HASH_BITS	6", "#define ELV_HASH_BITS	7",
        ("elevator_queue", "hash: size")),
    "store of an attribute": (
        "const char *page, size_t count);\n};",
        "const char *page, int count);\n};",
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
        ("LAYOUT_UNTOUCHED(elevator_queue, et)", "does not compile")),
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
    """The same for what older kernels do not have."""
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


def test_unreviewed_kernel_is_built_marked(tree, tmp_path):
    """Only if the user wants it, and the module says so."""
    kernel = facts("6.12")
    words = (f"KDIR={kernel['kdir']}",
             f"BTF={madekernel.btf(tmp_path, UNREVIEWED)}")
    status, text = make(*words, cwd=tree)
    assert status and "ELV_UNTESTED=1" in text, text
    assert not list(tree.rglob("*.ko"))
    status, text = make(*words, "ELV_UNTESTED=1", cwd=tree)
    assert status == 0 and "not reviewed" in text, text
    module = tree / "build/modules" / kernel["release"] / "k2.ko"
    assert b"layout=not reviewed\0" in module.read_bytes()
    status, text = make(*words, cwd=tree)
    assert status and "ELV_UNTESTED=1" in text, text


def stranger(tmp_path, *options):
    """A build directory with these options, of a kernel that is not here."""
    for name in ("generated", "config"):
        (tmp_path / "kdir/include" / name).mkdir(parents=True)
    (tmp_path / "kdir/include/generated/utsrelease.h").write_text(
        '#define UTS_RELEASE "9.9.9-none"\n')
    (tmp_path / "kdir/include/config/auto.conf").write_text(
        "".join(f"CONFIG_{option}=y\n" for option in options))
    return tmp_path / "kdir"


def test_kernel_that_was_built_without_btf(tmp_path):
    """Refused, with the reason and what to do."""
    status, text = check("--kdir", stranger(tmp_path, "MODULES"))
    assert status == 1 and "refused: 9.9.9-none" in text
    assert "CONFIG_DEBUG_INFO_BTF" in text and "BTF=FILE" in text


def test_kernel_with_shuffled_structures(tmp_path):
    """Refused by its configuration, whatever its BTF."""
    status, text = check("--kdir", stranger(
        tmp_path, "DEBUG_INFO_BTF", "RANDSTRUCT", "RANDSTRUCT_FULL"))
    assert status == 1 and "CONFIG_RANDSTRUCT" in text


def test_order_of_the_sources(tmp_path, monkeypatch):
    """The running kernel's, the headers', the image beside the modules, /boot."""
    module = loaded()
    release = "9.9.9-none"
    kdir = stranger(tmp_path, "DEBUG_INFO_BTF")
    monkeypatch.setattr(module, "IMAGES", tmp_path / "modules")
    monkeypatch.setattr(module, "BOOT", tmp_path / "boot")
    monkeypatch.setattr(module, "fetched_btf", lambda release: None)
    places = [tmp_path / "boot" / f"vmlinuz-{release}",
              tmp_path / "modules" / release / "vmlinuz", kdir / "vmlinux"]
    args = type("Args", (), {"btf": None, "kdir": kdir, "release": release})
    with pytest.raises(module.Trouble, match="BTF=FILE"):
        module.kernel_btf(args, tmp_path)
    blob = btf(INT)
    for path in places:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(blob)
        assert module.kernel_btf(args, tmp_path)[0] == path
    # One without BTF is passed over.
    places[-1].write_bytes(b"\x7fELF" + bytes(200))
    assert module.kernel_btf(args, tmp_path)[0] == places[-2]
    args.btf = places[0]
    assert module.kernel_btf(args, tmp_path)[0] == places[0]


def test_kernel_that_clang_built(tmp_path):
    """It gets LLVM=1, unless the user chose a compiler."""
    module = loaded()
    kdir = stranger(tmp_path, "CC_IS_CLANG")
    args = type("Args", (), {"kdir": kdir, "make": []})
    assert module.built_by_clang(args)
    args.make = ["CC=clang-17"]
    assert not module.built_by_clang(args)
    (tmp_path / "other").mkdir()
    args = type("Args", (), {"make": [],
                             "kdir": stranger(tmp_path / "other", "CC_IS_GCC")})
    assert not module.built_by_clang(args)
    says = (f"KDIR={kdir}", "-f", "-", "all")
    text = f"include {TOP}/Makefile\n.PHONY: all\nall:\n\t@echo <$(llvm)> <$(compiler-wanted)>\n"
    text = text.replace("<$(llvm)> <$(compiler-wanted)>",
                        "'[$(llvm)] [$(compiler-wanted)] [$(abi-args)]'")
    done = subprocess.run(["make", "-s", *says], input=text, check=True, text=True,
                          cwd=TOP, stdout=subprocess.PIPE)
    assert "[LLVM=1] [clang]" in done.stdout and "--make LLVM=1" in done.stdout


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
    assert found("6.12.1+deb12-amd64") == pathlib.Path("/btf1")
    assert found("6.12.2+deb12-amd64") == pathlib.Path("/btf2")
    assert found("6.12.3+deb12-amd64") is None
