# SPDX-License-Identifier: GPL-2.0
"""The common part of programs that scripts start."""

import ctypes
import os
import signal
import subprocess

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)


def environment(*more):
    """Ours without an outer make's settings, which are not for children.

    Nor are those that `more` names.
    """
    return {key: value for key, value in os.environ.items()
            if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", *more)}


def tied(number=signal.SIGTERM):
    """A preexec_fn: the child gets this signal when its parent dies.

    Even if that is killed, and also if it died just before.
    """
    parent = os.getpid()

    def tie():
        _LIBC.prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            os.kill(os.getpid(), number)
    return tie


def follow(command, folder, line, shown):
    """Runs a program in a folder and calls line() with each line of its output.

    Prints those that begin with one of `shown`. The program ends if line() raises an
    error. Returns its status.
    """
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, cwd=folder, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    try:
        for text in child.stdout:
            text = text.rstrip("\r\n")
            if text.startswith(shown):
                print(f"  {text}", flush=True)
            line(text)
        return child.wait()
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
            child.wait()
