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
On a full profile D no order that was tried meets the aim *Tails*, not even an order that
sees the drive's internal state. These figures are not measured like the rest of the page,
but computed on the drive's model in user space: `build/unit/layer_limit` prints
them ([tests/unit/test_layer_limit.c](../tests/unit/test_layer_limit.c)).

- A read waits in the drive. D collects garbage: it programs 10 pages for each page that
  the host writes. That is most of its dies' work, and they are busy 99 % of the
  time. A read of 512 KiB needs pages of all 16 dies, and ends with the last one. With
  mq-deadline, as with none, it takes {mean} ms in the mean; {work} of these are {progs}
  programs that are ahead of it on one die, {gc} of them collection.
- These programs are of the write buffer, which is full under any order: it has 32
  programs, 2 a die. The drive chooses the die of each; the worst die has more than twice
  its share.
- So a read has fewer programs ahead of it only if the buffer holds less. But a write adds
  16 programs at once, which take some 4 ms each, and longer if a block is erased. While
  the last ones run, other dies are idle. The dies limit D, so that costs throughput.

The table shows what a scheduler would reach that knows how many programs run in the
drive. It dispatches reads at once. It dispatches a write if no other write is in flight
and at most the given number of programs run. All figures are relative to mq-deadline,
512 KiB at depth 16, of 3000 requests; another seed changes a p99 by up to a tenth or two."""
END = """\
- On the full drive half of the p99 costs {lost50:.0f} % of the throughput with 50 % reads,
  {lost70:.0f} % with 70 %. At 0.97 of the throughput, the p99 is 0.8 or more of
  mq-deadline's. Phases of one direction cost more than a third of the throughput, because
  dies wait for the last program of each phase.
- On the half-full drive nothing is collected. There, in this model, a limit in the host lowers
  the p99 by more than the throughput. Measured, that holds with 70 % reads; with 50 % a limit of
  4 costs 10 % of the throughput, and the p99 is 9 % longer.
- A drive that serves reads first gains nothing: only programs that have begun are ahead of
  a read.
- If the address determines the die, each write has one program on each die, and no die
  falls behind: half of the p99 costs {lost_static:.0f} % of the throughput.
- F differs. Its buffer of 16 MiB is not full, its dies are idle for a third of their time,
  and reads limit the throughput. Writes at even intervals would meet the aim, but the
  interval has to be right within some percent, each mix needs another one, and completions
  of writes do not show it.

So mode auto delays writes only while that costs no throughput, which is not long on these
drives. `max_inflight` trades throughput for a shorter tail on some mixes: measure yours."""
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
