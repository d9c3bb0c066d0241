# SPDX-License-Identifier: GPL-2.0
"""Environment of programs that scripts start, and their end with the script."""

import importlib
import os
import pathlib
import select
import signal
import subprocess
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

children = importlib.import_module("children")


def test_settings_of_an_outer_make_are_left_out(monkeypatch):
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DESTDIR", "OTHER"):
        monkeypatch.setenv(name, "x")
    found = children.environment("DESTDIR")
    assert found == {key: value for key, value in os.environ.items()
                     if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL",
                                    "DESTDIR")}
    assert found["OTHER"] == "x"


def test_a_child_ends_with_its_parent():
    """Even if that is killed: the child's end of a pipe is closed."""
    reading, writing = os.pipe()
    text = ("import children, signal, subprocess, sys, time\n"
            "subprocess.Popen(['sleep', '60'], "
            f"pass_fds=[{writing}], preexec_fn=children.tied())\n"
            "print(flush=True)\n"
            "time.sleep(60)\n")
    with subprocess.Popen([sys.executable, "-B", "-c", text],
                          cwd=REPO / "scripts/lib", pass_fds=[writing],
                          stdout=subprocess.PIPE) as parent:
        os.close(writing)
        assert parent.stdout.readline() == b"\n"
        parent.send_signal(signal.SIGKILL)
        assert select.select([reading], [], [], 20)[0] == [reading]
    assert os.read(reading, 1) == b""
    os.close(reading)
