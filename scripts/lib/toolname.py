# SPDX-License-Identifier: GPL-2.0
"""The name under which a script runs, in the tree or installed.

A module apart from options.py, which needs more of Python than the probe's guest has.
"""

import pathlib

REPO = pathlib.Path(__file__).resolve().parents[2]


def command(name):
    """The command that runs a script: scripts/NAME, or flash-NAME if installed.

    `make install-tools` installs no Makefile.
    """
    return f"scripts/{name}" if (REPO / "Makefile").exists() else f"flash-{name}"


def prefix(name):
    """The name at the beginning of a script's messages."""
    return command(name).removeprefix("scripts/")
