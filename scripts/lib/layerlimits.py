# SPDX-License-Identifier: GPL-2.0
"""The gain of orders that know a drive's state, beside Layer_Read's.

tests/unit/test_layer_limit.c computes it, on flashsim's model in user space;
printed() runs that, lines() make it a part of docs/layer_read-results.md.
"""

import subprocess

from resultspage import DASH, REPO, table

PROGRAM = REPO / "build" / "unit" / "layer_limit"
TITLE = "Why tails gain little (computed)"
INTRO = """\
On a full profile D what *Tails* asks for was out of reach of every order that was
tried, even of those that see what no host can. This is not measured as the rest of
the page is, but on the drive's own model in user space: `build/unit/layer_limit` prints
it ([tests/unit/test_layer_limit.c](../tests/unit/test_layer_limit.c)).

- What a read waits for is in the drive. D collects, and programs 10 pages for each one
  that the host writes, which is most of what its dies do, and they are busy 99 % of the
  time. A read of 512 KiB needs pages of all 16 dies, and ends with the last one. With
  mq-deadline, as with none, it takes {mean} ms in the mean; {work} of these are {progs}
  programs that are ahead of it on one die, {gc} of them collection.
- These programs come from the write buffer: 32 of them, 2 a die, as it is full whatever
  goes first. Which die gets which is up to the drive; the worst has more than twice its
  share.
- So fewer are ahead only if the buffer is emptier. But a write brings 16 programs at
  once, which take some 4 ms each, and longer if a block is erased: while the last of
  them go on, other dies have nothing to do. Dies are what bounds D, so that is
  throughput lost.

A scheduler that sees how many programs are under way would reach this: reads go at once;
a write goes when no other one is on its way and so many programs, or fewer, are under
way. All against mq-deadline, 512 KiB at depth 16; of 3000 requests, so that another seed
changes a p99 by up to a tenth or two."""
END = """\
- On the full drive half of the p99 costs {lost50:.0f} % of the throughput if half are
  reads, {lost70:.0f} % if 70 of 100 are; with 0.97 of the throughput 0.8 of it or more is
  left. Phases of one direction cost more than a third, as dies wait for the last program
  of each.
- Half full, nothing is collected, and a bound of the host's takes more off the p99 than
  off the throughput.
- Where a drive reads first, nothing is gained: what has begun is all that is ahead.
- Pages by address give each die one program of each write, and no die falls behind:
  half of the p99 for {lost_static:.0f} % of the throughput.
- F is another case. Its buffer of 16 MiB is not full, its dies have a third of their
  time to spare, and reads are what is short. Writes in even steps would do, but the step
  has to be right within some percent, and each mix has another one; a write ends in
  74 us whatever is behind it, so its end says nothing of that.

So mode auto keeps writes back as long as that costs no throughput, which is not long on
these drives; `max_inflight` is for those who would pay."""
AT_14 = "a write at 14 programs or fewer"


class Failed(Exception):
    """The program could not be built, or did not print what it should."""


def parsed(text):
    """({(drive, order): {reads of 100: (throughput, p99)}}, facts) of a run.

    facts: of a read, in ms: mean, programs ahead (a number), their work, and
    the collection in it.
    """
    rows, facts = {}, {}
    for line in text.splitlines():
        words = [word.strip() for word in line.split("|")]
        if words[0] == "# row":
            drive, order, pct, *values = words[1:]
            rows.setdefault((drive, order), {})[int(pct)] = tuple(
                float(value) for value in values)
        elif words[0] == "# ahead":
            facts = dict(zip(("mean", "progs", "work", "gc"), words[1:],
                             strict=True))
    if not rows or not facts:
        raise Failed(f"{PROGRAM.name} printed no figures; run "
                     "`make -C tests/unit` to see why")
    return rows, facts


def printed():
    """The program's output; builds the program first if it is missing."""
    made = subprocess.run(
        ["make", "-s", "-C", str(REPO / "tests" / "unit"), str(PROGRAM)],
        capture_output=True, text=True, check=False)
    if made.returncode:
        raise Failed(f"cannot build {PROGRAM.name}: "
                     f"{made.stderr.strip().splitlines()[-1]}")
    return parsed(subprocess.run([str(PROGRAM)], capture_output=True,
                                 text=True, check=False).stdout)


def lost(rows, drive, pct):
    """Percent of the throughput that half of the p99 costs there."""
    return (1 - rows[drive, AT_14][pct][0]) * 100


def lines(found):
    """The section."""
    rows, facts = found
    mixed = sorted({pct for values in rows.values() for pct in values})
    yield f"### {TITLE}"
    yield ""
    yield INTRO.format(**facts)
    yield ""
    yield from table(
        ["drive", "who goes when",
         *(f"{what}, {pct} % reads" for pct in mixed
           for what in ("throughput", "read p99"))],
        [[drive, order, *(f"{value:.2f}" if value is not None else DASH
                          for pct in mixed
                          for value in values.get(pct, (None, None)))]
         for (drive, order), values in rows.items()])
    yield END.format(lost50=lost(rows, "D", 50), lost70=lost(rows, "D", 70),
                     lost_static=lost(rows, "D, pages by address", 50))
    yield ""
