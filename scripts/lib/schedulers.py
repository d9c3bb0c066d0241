# SPDX-License-Identifier: GPL-2.0
"""Which schedulers there are: by what the modules say of themselves."""

import os
import re
import subprocess

# A kernel's own schedulers; modprobe's names of those that are modules.
STOCK = {"none": "", "mq-deadline": "mq-deadline", "kyber": "kyber-iosched",
         "bfq": "bfq"}
# It only measures what any scheduler costs, and has none of their tunables.
NOT_TESTED = ("fifo",)


def of_aliases(text):
    """Names among modinfo's aliases, in their order."""
    found = re.findall(r"^([\w-]+)-iosched$", text, re.M)
    return [name for name in found if name not in NOT_TESTED]


def built(folder):
    """The schedulers among the modules of a directory, sorted."""
    files = sorted(folder.glob("*.ko"))
    if not files:
        return []
    done = subprocess.run(["modinfo", "-F", "alias", *files], check=True,
                          text=True, stdout=subprocess.PIPE)
    return sorted(set(of_aliases(done.stdout)))


def experimental():
    """Does make build modules that are experimental?"""
    return os.environ.get("EXPERIMENTAL", "0") not in ("", "0")


def choose(parser, wanted, stock, repo, always=()):
    """Those of `stock` and of a source tree that --schedulers names, or all; and `always`."""
    known = [*stock, *in_source(repo)]
    bad = next((name for name in wanted or () if name not in known), None)
    if bad:
        parser.error(f"argument --schedulers: '{bad}': want one or more of " + ",".join(known))
    return [name for name in known if not wanted or name in wanted or name in always]


def in_source(repo):
    """The schedulers that make builds of a source tree, without building it."""
    found = []
    for path in sorted(repo.glob("*/*.c")):
        if (path.parent / "experimental").exists() and not experimental():
            continue
        if path.stem == path.parent.name:
            text = path.read_text(encoding="utf-8")
            names = re.findall(r'^MODULE_ALIAS\("(.*)"\)', text, re.M)
            found += of_aliases("\n".join(names))
    return sorted(set(found))
