# SPDX-License-Identifier: GPL-2.0
"""Options are looked at before anything is installed or built."""

import os
import pathlib
import subprocess

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
# All that install something; abi-check speaks to make.
LATER = sorted({path.name for path in (REPO / "scripts").iterdir()
                if path.is_file() and "/deps" in path.read_text()}
               - {"abi-check", "bench", "bench-cost", "vm"})
# They want a word that is no option.
OF_ONE = ("blktests", "probe-layout", "publish-results", "stages",
          "weights-sync")


def fresh(folder):
    """The environment of a machine that has none of our packages.

    Commands that ask for a package, or build, are written to the file `done` in there.
    """
    (folder / "bin").mkdir()
    (folder / "lib").mkdir()
    for name, status in (("dpkg-query", 1), ("apt-get", 1), ("sudo", 1),
                         ("make", 1)):
        path = folder / "bin" / name
        path.write_text(f"#!/bin/sh\necho {name} >> {folder}/done\n"
                        f"exit {status}\n")
        path.chmod(0o755)
    for name in ("rich", "numpy", "matplotlib"):
        (folder / "lib" / f"{name}.py").write_text(
            f"raise ImportError('{name} is not installed')\n")
    return {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}",
            "PYTHONPATH": str(folder / "lib")}


def call(folder, script, *args):
    """(output, the packages and builds that it asked for)"""
    done = subprocess.run([REPO / "scripts" / script, *args], text=True,
                          env=fresh(folder), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    asked = folder / "done"
    return done, asked.read_text().split() if asked.exists() else []


@pytest.mark.parametrize("script, args, words", [
    ("vm", ["--cpus", "0", "--", "true"], ["'0'", "1 to 16"]),
    ("vm", ["--frob", "--", "true"], ["--frob"]),
    ("vm", [], ["no command"]),
    ("bench", ["--vms", "17"], ["'17'", "1 to 16"]),
    ("bench", ["nosuch"], ["'nosuch'", "share-paper"]),
    ("bench", ["share", "--form", "nosuch"], ["'nosuch'", "short, full"]),
    ("bench", ["share", "--only", "nosuch"], ["nosuch", "--list"]),
    ("bench", ["nvme", "--bounds", "0"], ["'0'", "1 to 65535"]),
    ("bench-cost", ["--depths", "0"], ["'0'", "1 to 256"]),
    ("bench-cost", ["--schedulers", "k2,nosuch"],
     ["'nosuch'", "none,fifo,mq-deadline,kyber,bfq,", "k2"]),
    *((script, ["--frob", *["x"] * (script in OF_ONE)],
       [] if script == "package" else ["--frob"]) for script in LATER),
])
def test_refused_first(tmp_path, script, args, words):
    done, asked = call(tmp_path, script, *args)
    assert (done.returncode, asked, done.stdout) == (2, [], "")
    assert done.stderr.startswith(f"{script}: ")
    assert done.stderr.count("\n") == 1
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize("script, args", [
    ("vm", ["--help"]), ("bench", ["--help"]), ("bench", ["nvme", "-h"]),
    ("bench-cost", ["--help"]), *((script, ["--help"]) for script in LATER)])
def test_helped_first(tmp_path, script, args):
    done, asked = call(tmp_path, script, *args)
    assert (done.returncode, asked, done.stderr) == (0, [], "")
    assert f"usage: scripts/{script}" in done.stdout


@pytest.mark.parametrize("script, args", [
    ("vm", ["--", "true"]), ("bench", []), ("bench", ["share"]),
    ("bench", ["share", "--list"]), ("bench", ["nvme"]),
    ("bench-cost", []), ("bench-all", []), ("bench-all", ["--list"]),
    ("check", []), ("mutants", []),
    ("locks", []), ("crash", []), ("physics", []), ("probe-test", []),
    ("stages-test", []), ("report", []), ("package", ["nosuch"])])
def test_what_is_missing_is_asked_for_then(tmp_path, script, args):
    done, asked = call(tmp_path, script, *args)
    assert done.returncode == 1 and "make" not in asked
    assert asked[0] == "dpkg-query" and "apt-get" in asked
    assert "deps: " in done.stderr and "Traceback" not in done.stderr
