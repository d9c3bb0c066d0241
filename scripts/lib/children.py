# SPDX-License-Identifier: GPL-2.0
"""The common part of programs that scripts start."""

import ctypes
import os
import signal

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
