# SPDX-License-Identifier: GPL-2.0
"""The files of the project, and whether they have changed."""

import hashlib
import os
import pathlib
import subprocess

import schedulers

REPO = pathlib.Path(__file__).resolve().parents[2]


def files():
    """Paths of the project's files, uncommitted changes included."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=REPO,
            check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        names = listed.stdout.decode().split("\0") \
            if listed.returncode == 0 else []
    except OSError:
        names = []
    if not any(names):
        # No repository, such as an archive of it
        names = [str(p.relative_to(REPO)) for p in REPO.rglob("*")]
        names = [n for n in names if "__pycache__" not in n and
                 n.split("/")[0] not in ("build", ".git")]
    return sorted(n for n in names if n and
                  (os.path.islink(REPO / n) or os.path.isfile(REPO / n)))


def key(aside):
    """All files as one word, but for those of which aside(name) is true."""
    digest = hashlib.sha256(b"all" if schedulers.experimental() else b"")
    for name in files():
        if aside(name):
            continue
        data = os.readlink(REPO / name).encode() \
            if os.path.islink(REPO / name) else (REPO / name).read_bytes()
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return digest.hexdigest()[:16]
