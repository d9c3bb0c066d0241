# SPDX-License-Identifier: GPL-2.0
"""A new series of kernels needs a change of three files at most: a dry run.

A copy of the project gets a made-up 7.4 with an interface that is known, as 7.3 had.
"""

import importlib
import pathlib
import re
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
schedulers = importlib.import_module("schedulers")

KERNELS = pathlib.Path("tests/vm/kernels")

SERIES = """
[series."7.4"]
release = '7\\.4\\.\\d+\\+deb13-amd64'
begin = "7.4."
codename = "trixie"
core_only = true
download = 190
disk = 400
"""
ROW = """
[[row]]
kernels = "7.4"
series = ["7.4"]
"""
SHOW = """
import check
for leg in check.parse(["--all"]).legs:
    print(leg.series, leg.which)
"""


def python(folder, *words):
    """The output of a program of the copy."""
    return subprocess.run([sys.executable, "-B", *words], cwd=folder, text=True, check=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout


@pytest.fixture(scope="module", name="copy")
def _copy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    names = [name for name in subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard", "scripts", "tests/vm", "tests/host",
         "docs/kernels*", *schedulers.in_source(REPO)],
        cwd=REPO, text=True, check=True, stdout=subprocess.PIPE).stdout.split("\0")
        if name and (REPO / name).exists()]
    subprocess.run(["cp", "--parents", "-t", folder, *names], cwd=REPO, check=True)
    (folder / KERNELS / "series.toml").open("a").write(SERIES)
    (folder / KERNELS / "table.toml").open("a").write(ROW)
    python(folder, "scripts/lib/kernelstable.py", "--write")
    return folder


def test_three_files_change(copy):
    changed = [str(path.relative_to(copy)) for path in sorted(copy.rglob("*"))
               if path.is_file() and "__pycache__" not in path.parts
               and path.read_bytes() != (REPO / path.relative_to(copy)).read_bytes()]
    assert changed == ["docs/kernels.md", str(KERNELS / "series.toml"),
                       str(KERNELS / "table.toml")]


def test_commands_know_it(copy):
    assert re.search(r"^7\.4\t", python(copy, "scripts/lib/kernel.py", "--list"), re.M)
    assert "7.4 core" in subprocess.run(
        [sys.executable, "-B", "-c", SHOW], cwd=copy / "scripts" / "lib", text=True,
        check=True, stdout=subprocess.PIPE).stdout
    assert "| 7.4 | – | – | – |" in (copy / "docs" / "kernels.md").read_text()


def test_the_tests_of_the_lists_pass(copy):
    python(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider",
           "tests/host/test_kernelstable.py")
