# SPDX-License-Identifier: GPL-2.0
"""scripts/deps: which packages are missing on one Debian and another."""

import os
import pathlib
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]

DPKG = """\
#!/bin/sh
for name in $INSTALLED; do echo "$name installed"; done
"""
APT_CACHE = """\
#!/bin/sh
case " $ARCHIVE " in *" $2 "*) echo "$2 | 1 | http://example.org" ;; esac
"""
OTHERS = "make libc6-dev bc bison flex libelf-dev xz-utils kmod zstd dwarves python3"


@pytest.fixture(name="missing")
def fixture_missing(tmp_path):
    """A function: what is missing of these groups, with this archive."""
    for name, text in (("dpkg-query", DPKG), ("apt-cache", APT_CACHE)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)

    def missing(groups, installed, archive):
        done = subprocess.run(
            [REPO / "scripts/deps", "--check", *groups.split()], text=True,
            check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}",
                 "INSTALLED": installed, "ARCHIVE": archive})
        assert done.returncode == (1 if done.stderr else 0), done.stderr
        line = done.stderr.partition("\n")[0]
        return line.partition(f"missing for {groups}: ")[2]
    return missing


@pytest.mark.parametrize("archive, wanted", [
    ("make gcc gcc-12 libelf1", "gcc gcc-12 libelf1"),
    ("make gcc gcc-12 libelf1t64", "gcc gcc-12 libelf1t64"),
    # A release whose archive has no such compiler any more.
    ("make gcc libelf1t64", "gcc libelf1t64"),
    # No package lists: apt-get update is needed, and these names say so.
    ("", "gcc gcc-12 libelf1"),
])
def test_names_that_the_archive_has(missing, archive, wanted):
    assert missing("build", OTHERS, archive) == wanted


@pytest.mark.parametrize("library", ["libelf1", "libelf1t64"])
def test_any_of_the_names_will_do(missing, library):
    installed = f"{OTHERS} gcc gcc-12 {library}"
    assert missing("build", installed, "make libelf1 libelf1t64 gcc-12") == ""


def test_one_compiler_does_not_stand_for_the_other(missing):
    installed = f"{OTHERS} gcc libelf1"
    assert missing("build kernel", installed, "make gcc-12") == "gcc-12"
    assert missing("build kernel", installed, "make") == ""


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
