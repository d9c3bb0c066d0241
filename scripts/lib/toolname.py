# SPDX-License-Identifier: GPL-2.0
"""By which name a user runs a script of ours.

Apart from options.py, which loads much more than a probe in a virtual machine has.
"""

import pathlib

REPO = pathlib.Path(__file__).resolve().parents[2]


def command(name):
    """What a user types to run a script: scripts/NAME, or flash-NAME if installed.

    `make install-tools` installs no Makefile.
    """
    return f"scripts/{name}" if (REPO / "Makefile").exists() else f"flash-{name}"


def prefix(name):
    """What a script's messages begin with."""
    return command(name).removeprefix("scripts/")
