# SPDX-License-Identifier: GPL-2.0
"""Weights of control groups for acfq and hbfq.

Container and service managers write io.weight (1 to 10000) or io.bfq.weight (1
to 1000) of a control group. acfq and hbfq have no file there, but an attribute
`weights` for each disk, with entries from 1 to 1000. This tool reads the files
of all control groups and writes the attribute of one disk. It owns the
attribute: it takes back entries of other writers.

Which file counts. A line for the disk wins over the default of either file. Of
two values of the same kind io.weight counts, unless io.bfq.weight was set
separately: it is neither its default (100) nor what systemd derives from io.weight.
systemd writes IOWeight= to both files and maps 1..10000 to 1..1000 for bfq, so
that 1000 and 100 become 181 and 100.

From nested weights to flat ones. A group's share is the share of its parent,
divided by weight among the parent's children. Groups without processes have no
share. Entries are for groups without children, as only they have tasks. A group
with children gets the mean of the groups below it: what removed children left in
the page cache is charged to their parent.

Scale. The mean weight is 100, like the weight of tenants without entry: tasks of
the root group, and groups younger than the last run. If the smallest weight would
be under 20 the scale is finer, and the largest weight is never above 1000.
Precision: a weight of N is off by 50/N % at most, which is 2.5 % as long as the
largest share is up to 50 times the smallest; ratios above 1000 to 1 become 1000
to 1. If a disk has no room for all entries, the most common weight becomes 100 as
far as the range allows, and then those closest to 100 are left out.
"""

import argparse
import collections
import errno
import pathlib
import re
import sys
import time

import options
import toolname

DEFAULT = 100
LEAST, MOST = 1, 1000
# The smallest weight where the range allows it: limits rounding errors
FINE = 20
# Entries of a disk, FLASH_WEIGHTS of common/share/tenant.h
ENTRIES = 1024
FILES = ("io.weight", "io.bfq.weight")
# Errors of files of a removed control group or disk
GONE = (errno.ENOENT, errno.ENODEV)


def of_file(text, number):
    """(line for the disk, default) of a weight file; None: no such line."""
    device = default = None
    for line in text.splitlines():
        match = re.fullmatch(r"(?:(default|\d+:\d+)\s+)?(\d+)", line.strip())
        if not match:
            continue
        if match[1] == number:
            device = int(match[2])
        elif match[1] in (None, "default"):
            default = int(match[2])
    return device, default


def squeezed(weight):
    """The io.bfq.weight that systemd writes for an io.weight."""
    return weight if weight <= 100 else 100 + (weight - 100) * 900 // 9900


def meant(io, bfq):
    """The weight that the user meant, of one kind of line; None: neither has it."""
    if None in (io, bfq):
        return bfq if io is None else io
    return io if bfq == squeezed(io) else bfq


def read(path):
    """Text of a file of a control group; None if the group was removed."""
    try:
        return path.read_text(encoding="ascii")
    except OSError as err:
        if err.errno in GONE:
            return None
        raise


def own(group, number):
    """A control group's weight for a disk; None if the group was removed."""
    texts = [read(group / name) for name in FILES]
    if texts == [None, None]:
        return None
    (io_device, io), (bfq_device, bfq) = (
        of_file(text or "", number) for text in texts)
    device = meant(io_device, bfq_device)
    if device is not None:
        return device
    # A group older than the bfq module has bfq's default, whatever io.weight says.
    if bfq == DEFAULT and io is not None:
        return io
    weight = meant(io, bfq)
    return DEFAULT if weight is None else weight


def populated(group):
    """Does a control group, or one below it, have processes?"""
    text = read(group / "cgroup.events")
    return text is None or "populated 0" not in text.splitlines()


def children(group, number):
    """{control group below one: weight}, of those that have both processes and
    weights."""
    try:
        paths = sorted(path for path in group.iterdir()
                       if path.is_dir() and not path.is_symlink())
    except OSError as err:
        if err.errno in GONE:
            return {}
        raise
    found = {path: own(path, number) for path in paths if populated(path)}
    return {path: weight for path, weight in found.items() if weight is not None}


def shares(group, number, share=1.0):
    """({group without children: share}, {other group: mean share}), below one"""
    below = children(group, number)
    leaves, parents = {}, {}
    for child, weight in below.items():
        part = share * weight / sum(below.values())
        inner, outer = shares(child, number, part)
        if inner:
            parents[child] = part / len(inner)
        leaves |= inner or {child: part}
        parents |= outer
    return leaves, parents


def scaled(found, scale):
    """{group: weight} of {group: share}"""
    return {group: min(MOST, max(LEAST, round(share * scale)))
            for group, share in found.items()}


def flat(root, number):
    """{number of a control group: weight}"""
    leaves, parents = shares(root, number)
    if not leaves:
        return {}
    both = leaves | parents
    most = MOST / max(leaves.values())
    finest = FINE / min(leaves.values())
    scale = min(most, max(DEFAULT * len(leaves), finest))
    wanted = scaled(both, scale)
    if len(entries(wanted)) > ENTRIES:
        # The most common share needs no entries at a weight of 100.
        common = collections.Counter(both.values()).most_common(1)[0][0]
        fewer = scaled(both, min(most, DEFAULT / common))
        wanted = min(wanted, fewer, key=lambda want: len(entries(want)))
    result = {}
    for group, weight in wanted.items():
        try:
            result[group.stat().st_ino] = weight
        except OSError as err:
            if err.errno not in GONE:
                raise
    return result


def entries(want):
    """The weights that need an entry."""
    return {number: weight for number, weight in want.items()
            if weight != DEFAULT}


def fitting(want):
    """The entries that a disk has room for: those farthest from the default."""
    far = sorted(entries(want).items(),
                 key=lambda entry: (-abs(entry[1] - DEFAULT), entry[0]))
    return dict(far[:ENTRIES])


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
    """{number: new value} that turns the entries of a disk into others, in order."""
    # Removals make room for additions.
    result = {number: "default" for number in sorted(have)
              if number not in want}
    return result | {number: weight for number, weight in sorted(want.items())
                     if weight != have.get(number)}


def sync(disk, root, dry_run=False):
    """Once. Returns (entries written, {number: errno of an entry not set})."""
    want = flat(root, disk.number)
    fit = fitting(want)
    failed = dict.fromkeys(entries(want).keys() - fit.keys(), errno.ENOSPC)
    lines = []
    for number, value in changes(disk.read(), fit).items():
        line = f"{number} {value}"
        try:
            if dry_run:
                print(line)
            else:
                disk.write(line)
            lines.append(line)
        except OSError as err:
            if err.errno in GONE and err.filename:
                # The attribute itself was removed.
                raise
            failed[number] = err.errno
    if failed:
        # Without its group an entry makes no difference.
        alive = flat(root, disk.number)
        failed = {number: code for number, code in failed.items()
                  if number in alive}
    return lines, failed


def parse(argv):
    """The command line."""
    parser = options.Parser(
        "weights-sync", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Status: 0 all weights are set; 1 some, or all, are not; 2 bad "
        "options; 130 Ctrl-C.")
    parser.add_argument("disk", metavar="DISK", help="its name in /sys/block, "
                        "such as nvme0n1; it has acfq or hbfq")
    parser.add_argument("--every", type=float, metavar="SECONDS",
                        help="repeat at this interval until stopped; an error "
                        "is printed once and tried again, but ends the command "
                        "if the first run sets nothing")
    parser.add_argument("--dry-run", action="store_true",
                        help="print entries instead of writing them")
    parser.add_argument("--cgroups", type=pathlib.Path, metavar="DIRECTORY",
                        default=pathlib.Path("/sys/fs/cgroup"),
                        help="the top of the control groups (%(default)s)")
    parser.add_argument("--sysfs", type=pathlib.Path, help=argparse.SUPPRESS,
                        default=pathlib.Path("/sys"))
    args = parser.parse_args(argv)
    if args.every is not None and not 0 < args.every <= 86400:
        parser.error(f"argument --every: '{args.every}': want seconds, more "
                     "than 0 and up to 86400")
    return args


def trouble(error, disk):
    """Why nothing was set."""
    if error.errno == errno.ENOENT and str(error.filename).endswith("/dev"):
        return f"no disk '{disk}' in /sys/block"
    if error.errno == errno.ENOENT and str(error.filename).endswith("/weights"):
        return f"{error}: does {disk} have acfq or hbfq?"
    return f"{disk}: {error}"


def not_set(failed, disk):
    """Which entries were not set, and why."""
    kinds = collections.Counter(failed.values())
    why = ", ".join(f"{errno.errorcode.get(code, code)} {count}"
                    for code, count in sorted(kinds.items()))
    text = f"{disk}: {len(failed)} weights not set ({why})"
    if errno.ENOSPC in kinds:
        text += (f"; a disk has {ENTRIES} entries, groups without one have "
                 f"{DEFAULT}: limit the groups with --cgroups")
    return text


def main(argv=None):
    """Returns the status."""
    args = parse(argv)
    said, done = set(), False

    def say(kind, text):
        # The same trouble would else be printed in each round.
        if kind not in said:
            print(f"{toolname.prefix('weights-sync')}: {text}",
                  file=sys.stderr, flush=True)
        said.add(kind)

    try:
        while True:
            failed = {}
            try:
                _, failed = sync(Disk(args.disk, args.sysfs), args.cgroups,
                                 args.dry_run)
                done = True
            except OSError as err:
                # Such as another scheduler for a while: the next round may work.
                say(str(err), trouble(err, args.disk))
                if not args.every or not done:
                    return 1
            if failed:
                say(tuple(sorted(set(failed.values()))),
                    not_set(failed, args.disk))
            if not args.every:
                return 1 if failed else 0
            time.sleep(args.every)
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
