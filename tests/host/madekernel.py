# SPDX-License-Identifier: GPL-2.0
"""Kernels of our own: BTF with the private elevator interface of any kernel.

tests/host/data/structs.h has the structures a second time, written from the kernels'
sources, so that nothing of common/elevator/compat.h is compared with itself. A kernel is
a file structs-*.c, or macros for structs.h, which is a 6.12 without any.
"""

import pathlib
import shutil
import subprocess

import pytest

DATA = pathlib.Path(__file__).resolve().parent / "data"
COMPILER = "gcc"

_OLD = "HAS_FEATURES CACHED_RQ_PTR"
_CORE = "CONST_ATTRS CORE_QUEUE QUEUE_TAGS"
_WORDS = "unsigned long " + ", ".join(f"rh_reserved{n}" for n in range(1, 5)) + ";"
# RH_KABI_RESERVE(1) to (4)
KABI = (f"OPS_TAIL={_WORDS}", f"TYPE_TAIL={_WORDS}")

# {kernel: (the features that are 1, and macros of structs.h; what else it has)}
KERNELS = {
    "6.1": (f"INSERT_BOOL QUEUE_REGISTERED {_OLD}", ()),
    "6.2": (f"INSERT_BOOL {_OLD}", ()),
    "6.6": (_OLD, ()),
    "6.11": ("CACHED_RQ_PTR", ()),
    "6.12": ("", ()),
    "6.14": ("CONST_ATTRS", ()),
    "6.16.12": (_CORE, ()),
    "6.17.8": (f"{_CORE} DEPTH_OF_QUEUE", ()),
    "6.18": (f"{_CORE} DEPTH_OF_QUEUE SCHED_DATA", ()),
    "7.0": (f"{_CORE} DEPTH_OF_QUEUE SCHED_DATA ASYNC_DEPTH", ()),
    "RHEL 10": (_CORE, KABI),
    "no debugfs": ("", ("NO_DEBUGFS",)),
}


def btf(folder, *macros, name=None):
    """A file with the BTF of structs-NAME.c, or of structs.h, with these macros."""
    for tool in (COMPILER, "pahole"):
        if not shutil.which(tool):
            pytest.skip(f"no {tool}")
    program = DATA / (f"structs-{name}.c" if name else "structs.h")
    out, found = folder / "structs.o", folder / "structs.btf"
    subprocess.run([COMPILER, "-g", "-c", "-Wall", "-Wextra", "-Werror", "-mno-sse",
                    *(f"-D{macro}" for macro in macros), "-x", "c", "-o", out, program],
                   check=True)
    subprocess.run(["pahole", "-J", f"--btf_encode_detached={found}", out], check=True)
    return found


def of_kernel(folder, kernel, *macros):
    """A file with the BTF of one of KERNELS, with these macros, too."""
    ones, more = KERNELS[kernel]
    return btf(folder, *ones.split(), *more, *macros)
