# SPDX-License-Identifier: GPL-2.0
"""The module's own headers, asked by lines of text: tests/unit/oracle_*.c."""

import pathlib
import subprocess

REPO = pathlib.Path(__file__).resolve().parents[2]


def made():
    """Builds the programs; ask(name, lines) -> the answers to these lines."""
    done = subprocess.run(
        ["make", "-s", "-C", REPO / "tests" / "unit", "oracles"], text=True,
        capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return ask


def ask(name, lines):
    """The answers of oracle_NAME to these lines."""
    said = subprocess.run([REPO / "build" / "unit" / f"oracle_{name}"],
                          input="\n".join(lines) + "\n", text=True,
                          capture_output=True, check=False, timeout=60)
    assert said.returncode == 0, said.stderr
    answers = said.stdout.split("\n")[:-1]
    assert len(answers) == len(lines)
    return answers
