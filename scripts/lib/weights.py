# SPDX-License-Identifier: GPL-2.0
"""Weights of control groups for acfq and hbfq.

Container and service managers write io.weight (1 to 10000) or io.bfq.weight (1
to 1000) of a control group. The schedulers of this project have no files there,
but an attribute `weights` for each disk. This reads the files of all groups and
writes the attribute of one disk.

Weights of control groups are nested, those of the schedulers are flat. A group's
share is its parent's times its part of the weights of all children of that
parent; only groups without children get a weight, as only they have tasks. It is
100 if all have the same share: share * number of such groups * 100, rounded,
from 1 to 1000. All of them count, whether or not they do anything.
"""

import argparse
import errno
import pathlib
import re
import sys
import time

import options
import toolname

DEFAULT = 100
LEAST, MOST = 1, 1000
# Entries of a disk, FLASH_WEIGHTS of common/tenant.h
ENTRIES = 1024
FILES = ("io.bfq.weight", "io.weight")


def of_file(text, number):
    """The weight that a file of a control group says, for a disk."""
    weight = DEFAULT
    for line in text.splitlines():
        words = line.split()
        if len(words) == 1 and words[0].isdigit():
            weight = int(words[0])
        elif len(words) == 2 and words[1].isdigit():
            if words[0] == number:
                return int(words[1])
            if words[0] == "default":
                weight = int(words[1])
    return weight


def own(group, number):
    """A control group's weight: the first that somebody has changed."""
    for name in FILES:
        try:
            text = (group / name).read_text(encoding="ascii")
        except OSError:
            continue
        weight = of_file(text, number)
        if weight != DEFAULT:
            return weight
    return DEFAULT


def children(group):
    """The control groups below one that have weights."""
    try:
        found = [path for path in group.iterdir()
                 if path.is_dir() and not path.is_symlink()
                 and any((path / name).exists() for name in FILES)]
    except OSError:
        # It has gone meanwhile.
        return []
    return sorted(found)


def shares(group, number, share=1.0):
    """{control group without children: its part of the disk}"""
    below = children(group)
    weights = [own(child, number) for child in below]
    found = {}
    for child, weight in zip(below, weights):
        part = share * weight / sum(weights)
        deeper = shares(child, number, part)
        found.update(deeper or {child: part})
    return found


def flat(root, number):
    """{number of a control group: weight}"""
    found, result = shares(root, number), {}
    for group, share in found.items():
        try:
            result[group.stat().st_ino] = min(MOST, max(LEAST, round(
                share * len(found) * DEFAULT)))
        except OSError:
            continue
    return result


class Disk:
    """A disk's attribute."""

    def __init__(self, name, sysfs):
        self.path = sysfs / "block" / name / "queue" / "iosched" / "weights"
        self.number = (sysfs / "block" / name / "dev").read_text(
            encoding="ascii").strip()

    def write(self, entry):
        """Writes one entry."""
        with open(self.path, "w", encoding="ascii") as file:
            file.write(f"{entry}\n")

    def read(self):
        """{number: weight}, page by page"""
        found, page = {}, "more 0"
        while page:
            self.write(page)
            page = ""
            for line in self.path.read_text(encoding="ascii").splitlines():
                if line.startswith("more "):
                    page = line
                elif re.fullmatch(r"\d+ \d+", line):
                    number, weight = line.split()
                    found[int(number)] = int(weight)
        self.write("more 0")
        return found


def changes(have, want):
    """What to write so that a disk has what it should have."""
    # What is gone first: there may be no room for more.
    lines = [f"{number} default" for number in sorted(have)
             if want.get(number, DEFAULT) == DEFAULT]
    return lines + [f"{number} {weight}"
                    for number, weight in sorted(want.items())
                    if weight not in (DEFAULT, have.get(number))]


def sync(disk, root, dry_run=False):
    """Once. Returns what was written."""
    lines = changes(disk.read(), flat(root, disk.number))
    for line in lines:
        if dry_run:
            print(line)
        else:
            disk.write(line)
    return lines


def parse(argv):
    """The command line."""
    parser = options.Parser(
        "weights-sync", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("disk", metavar="DISK", help="its name in /sys/block, "
                        "such as nvme0n1; it has acfq or hbfq")
    parser.add_argument("--every", type=float, metavar="SECONDS",
                        help="again after so long, until it is stopped; what "
                        "fails after the first time is said and tried again")
    parser.add_argument("--dry-run", action="store_true",
                        help="print what would be written")
    parser.add_argument("--cgroups", type=pathlib.Path, metavar="DIRECTORY",
                        default=pathlib.Path("/sys/fs/cgroup"),
                        help="where control groups are (%(default)s)")
    parser.add_argument("--sysfs", type=pathlib.Path, help=argparse.SUPPRESS,
                        default=pathlib.Path("/sys"))
    args = parser.parse_args(argv)
    if args.every is not None and not 0 < args.every <= 86400:
        parser.error(f"argument --every: '{args.every}': want seconds, more "
                     "than 0 and up to 86400")
    return args


def trouble(error, disk):
    """Why it is not done, and what can be."""
    if error.errno == errno.ENOSPC:
        return (f"{disk} keeps {ENTRIES} weights, and they are all taken: what "
                "is left of the groups has 100. Groups whose share is the mean "
                "need none: have fewer groups with io.weight, or name a part of "
                "them with --cgroups")
    if error.errno == errno.ENOENT and str(error.filename).endswith("/dev"):
        return f"no disk '{disk}' in /sys/block"
    return f"{error}: does {disk} have acfq or hbfq?"


def main(argv=None):
    """Returns the status."""
    args = parse(argv)
    said, done = set(), False
    try:
        while True:
            try:
                sync(Disk(args.disk, args.sysfs), args.cgroups, args.dry_run)
                done = True
            except OSError as err:
                # A group goes, or the scheduler is another one for a while:
                # the next time may do better. Each trouble is said once.
                text = trouble(err, args.disk)
                if text not in said:
                    said.add(text)
                    print(f"{toolname.prefix('weights-sync')}: {text}",
                          file=sys.stderr, flush=True)
                if not args.every or not done:
                    return 1
            if not args.every:
                return 0
            time.sleep(args.every)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
