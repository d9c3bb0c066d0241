# SPDX-License-Identifier: GPL-2.0
"""docs/adding-a-scheduler.md: its policy builds, and the files that it names exist."""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
PAGE = (REPO / "docs" / "adding-a-scheduler.md").read_text("utf-8")
NAME = "readfirst"
# The first one that this machine has headers of
SERIES = ("6.12", "6.1", "7.3")


def code():
    """The policy, as the page has it."""
    blocks = re.findall(r"^```c\n(.*?)^```$", PAGE, re.M | re.S)
    assert len(blocks) == 1
    return blocks[0]


def build_c():
    """Its build.c."""
    blocks = re.findall(r"^```\n(#include .*?)^```$", PAGE, re.M | re.S)
    assert len(blocks) == 1
    return blocks[0]


def kernel():
    """Facts of a kernel that scripts/kernel has fetched; otherwise a skip."""
    done = subprocess.run([REPO / "scripts/kernel", "--list"], check=False, text=True,
                          stdout=subprocess.PIPE)
    there = [line.split()[0] for line in done.stdout.splitlines()
             if len(line.split()) > 1 and line.split()[1] != "-"]
    for series in SERIES:
        if series not in there:
            continue
        done = subprocess.run([REPO / "scripts/kernel", series], check=False, text=True,
                              stdout=subprocess.PIPE)
        if done.returncode == 0:
            return dict(line.split("=", 1) for line in done.stdout.splitlines())
    pytest.skip("no headers of any kernel are here: scripts/kernel 6.12")
    return None


def make(tree, *arguments):
    """Output of a build that succeeds."""
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "KDIR", "KVER",
                                  "BTF", "EXPERIMENTAL")}
    done = subprocess.run(["make", *arguments], cwd=tree, check=False, text=True,
                          env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """The sources of the build, with the policy of the page."""
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("common", "scripts"):
        shutil.copytree(REPO / name, tree / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(REPO / "Makefile", tree)
    shutil.copy(REPO / "Kbuild", tree)
    (tree / NAME).mkdir()
    (tree / NAME / f"{NAME}.c").write_text(code(), "utf-8")
    (tree / NAME / "build.c").write_text(build_c(), "utf-8")
    return tree


def test_the_example_builds(tree):
    """Without a warning, and as an experimental scheduler only on request."""
    facts = kernel()
    words = [f"KDIR={facts['kdir']}", f"BTF={facts['btf']}", *facts["make"].split()]
    (tree / NAME / "experimental").touch()
    listed = subprocess.run(["make", "-pn", *words], cwd=tree, check=False, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    assert re.search(rf"^left-out :?= *{NAME}$", listed, re.M)
    text = make(tree, *words, "W=1", "EXPERIMENTAL=1")
    assert not re.search(r"\bwarning: ", text), text
    module = tree / "build/modules" / facts["release"] / f"{NAME}.ko"
    alias = subprocess.run(["modinfo", "-F", "alias", module], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    assert alias == f"{NAME}-iosched\n"


def test_the_example_has_every_hook_that_is_not_optional():
    """Hooks that the contract does not call optional, and that need no watching."""
    header = (REPO / "common/elevator/iosched.h").read_text("utf-8")
    table = header.split("\nstruct flash_policy {")[1].split("\n};")[0]
    hooks = set(re.findall(r"\(\*(\w+)\)\(", table))
    said = header.split("struct flash_policy - ")[1].split("*/")[0]
    optional = {name for name in hooks if re.search(
        rf"\* @{name}: (?:(?! \* @).)*?\bOptional\b", said, re.S)}
    has = set(re.findall(r"^\t\.(\w+) = rf_", code(), re.M))
    assert optional and has >= hooks - optional - {"started", "completed"}
    assert has <= hooks


def test_the_files_exist():
    """The files of the tables, with layer_read for NAME."""
    found = [name for row in re.findall(r"^\| (`.*?) \|", PAGE, re.M)
             for name in re.findall(r"`([^`]+)`", row)]
    assert len(found) > 15
    for name in found:
        assert list(REPO.glob(name.replace("NAME", "layer_read").rstrip("/"))), name


def test_the_lists_exist():
    """Names in the table of suites are those of the scripts."""
    for row in re.findall(r"^\| (`scripts/lib/.*) \|$", PAGE, re.M):
        files, _, names = row.partition(" | ")
        text = "".join((REPO / name).read_text("utf-8")
                       for name in re.findall(r"`([^`]+)`", files))
        for name in re.findall(r"`([A-Z_]+)`", names):
            assert re.search(rf"^{name}\b", text, re.M), f"{files}: {name}"
