# SPDX-License-Identifier: GPL-2.0
"""scripts/k2-results: writes docs/k2-results.md from what was measured.

Takes the directories of results that it is given, suites k2, k2-auto and k2-queue,
several forms of each; without one, the newest of each form below build/results and what is
published in docs/results. If several runs of a form have a cell, the last one counts; of
several forms, the one with most requests. Tail against bandwidth is on a page beside it,
k2-front.md, with pictures. All figures and verdicts are computed from results.
"""

import sys

import claims
import k2autoclaims
import k2front
import k2queueclaims
import options
import resultspage
from claims import figure
from k2autoclaims import Cells
from k2front import mb, told, us
from resultspage import DASH, claim_list, table

NAME = "k2-results"
PAGE = resultspage.REPO / "docs" / f"{NAME}.md"
FRONT = "k2-front.md"
SUITES = ("k2", "k2-auto", "k2-queue")
# The paper's figures: what is done, how full the drive is
FIGURES = (("4", "reads, half full", ("seq-read", "rand-read"), "half"),
           ("5", "writes, half full", ("seq-write", "rand-write"), "half"),
           ("7", "reads, full", ("seq-read", "rand-read"), "full"),
           ("8", "writes, full", ("seq-write", "rand-write"), "full"))
QUEUE_TAILS = ("p50", "p95", "p99", "p99_9")
BOUNDS = (float("inf"), 64, 32, 16, 8, 4, 2, 1)
PAPER_WORDS = """\
*seq-read*, *rand-write* and so on: three best-effort jobs and one real-time job, in sequence
or at random. *Half*, *full*: the share of the drive that is written. *K2-x*: at most x
requests in the drive (`max_inflight`); x is the bound. *Tail*: the furthest percentile
of real-time latency that all cells of a row have. The paper has p99.9, which needs 50 000
requests in each cell; claim *Layout, random reads* has it for K2-1 and none."""
AUTO_WORDS = """\
Words in the table:

- *k2-x*: a static bound of x. *k2-latN*: policy `latency` with a target of N % of the
  tail without a bound. *k2-bwN*: policy `bandwidth` with a floor of N % of the bandwidth.
  *-map*: with the layout of the drive.
- *k2-lat-60us*: a target of 60 us, less than one read takes; *-half*: with a floor of 50 %
  of the bandwidth. *k2-lat-2x*: a target of 1500 us. *-cost*: the bound counts cost
  instead of requests. *-open*: the bound is lifted after 50 ms without real-time requests.
- *.e*, *.d*: profile E, K2's own drive, and profile D. *-write*: as much of it is erased as
  the run writes.
- *rand-read*: random reads of 4 KiB. *step-more*: one best-effort job becomes three.
  *step-larger*: requests grow from 4 to 64 KiB. *big-read*, *big-write*: best-effort jobs
  use 64 KiB. *alone*: no real-time task. *infeasible*: rand-read with a target that no
  bound holds.
- *Best static bound*: the best of a scan of bounds under the same load, picked afterwards.
  *Late*: above the target. *Flagged*: `infeasible` is 1."""
SCALED = """\
Times are the drive's: the guest's time divided by the time scale, 16 for drive e and 32
for d. K2's own clock is not scaled. Its periods of 50 ms and of one second are 3 and 62 ms
of e's time, 1.6 and 31 ms of d's, with a 16th or a 32nd of the requests. So K2 works as on
a drive of 4000 to 12 000 requests a second. Windows of so few requests scatter more.
Policy `bandwidth` aims above its floor by three times that scatter, so its tail
is longer here than on a drive with thousands of requests in each window. "A second of the
drive" is 16 or 32 seconds of K2's clock. Runs are only a few such windows long, so the
windows overlap; one begins every 31 ms. "10 s of traffic" are of K2's clock, and K2 has
checked the target ten times by then."""

WRITES = """\
Writes with a map cannot have both K2-1's tail and none's bandwidth. With a bound of one,
the drive's write buffer has room when a real-time write arrives, and the write completes
as soon as it is in the buffer. The buffer has room because the jobs send a tenth less than
the flash can take. If the flash gets all the writes that it can take, the buffer is full, and
each write waits for room, in any order of the writes. A map does not help, because data in the
buffer are on no chip yet."""

# The loads in the order of the table
QUEUE_ORDER = {load: place for place, load in enumerate(
    (*k2queueclaims.LOADS.values(), *k2queueclaims.WRITERS))}
QUEUE = """\
A device queue of x holds as many requests in the drive as K2-x does. `none-qx` and
`mq-deadline-qx` have such a queue; `none` and `mq-deadline` the drive's own, of 256.
The real-time task reads 4 KiB at random and pauses for 0.1 ms. Beside it are 3, 16 or 64
best-effort jobs with 32 random reads outstanding each (reads-N), or three tasks that write
through the page cache (writeback), create 4 KiB files and call fsync (commits), or
overwrite 4 KiB and call fsync (fsync). The last three are on ext4 with writeback throttling
at 2 ms. *Requests*: of the real-time task; p99 needs 5000.

A read's latency has two parts: the wait until it is one of the x requests in the drive,
and its time there. K2 shortens only the first. Under `none` the real-time task
sleeps until a tag (a place in the queue) is free. mq-deadline dispatches no best-effort
request while a real-time one is waiting or in the drive, which costs bandwidth. Nor does K2
with `rt_alone` (`k2-x-alone`), but for metadata. The second part depends on how many of the other
x - 1 requests are for the same chip. K2 with a map (`k2-x-map`) prefers requests for idle
chips, which shortens it.

With 3 jobs the wait for a tag is short. The second part then decides p99, which is similar
under K2 and `none`. With 16 and 64 jobs the wait decides it under `none`.

*Mean in the drive*: x over the rate (Little's law), where random reads keep x
requests in the drive. Under `none` the wait is longest with x = 2, and the time in the drive
with large x.

A write completes when it is in the drive's buffer, so no bound limits how many programs wait
for a chip. Beside writeback the buffer is full, and a read waits for the programs of its
chip. With `rt_alone` or mq-deadline the drive gets new writes only in the task's pauses, at
most x at once. mq-deadline-q2 has a shorter median than K2-2 with `rt_alone`, and less
bandwidth."""


# --- the paper's -------------------------------------------------------------

def over_bound(sweep, operations, occupancy):
    """Tail and bandwidth over the bound, both operations."""
    rows = []
    for operation in operations:
        cells = sweep.all(operation, occupancy)
        tail = claims.percentile_of(list(cells.values()))
        for what, metric, form in (
                (f"{claims.percentile_name(tail)}, us" if tail else "tail, us",
                 f"latency_{tail}_s", us),
                ("MB/s", claims.BANDWIDTH, mb)):
            rows.append([operation, what, *(
                form(figure(cells.get(bound), metric)) for bound in BOUNDS)])
    yield from table(["operation", "", *(
        "none" if bound == float("inf") else f"K2-{bound}"
        for bound in BOUNDS)], rows)


# --- a short device queue ----------------------------------------------------

def time_in_drive(cell):
    """The mean, in seconds, where the jobs keep the drive full; else None."""
    if int(cell["tunables"].get("rt_alone") or 0):
        return None
    limit = cell["tunables"].get("queue_depth") or cell["tunables"].get("max_inflight")
    rate = figure(cell, "iops")
    if not limit or not rate or not cell["workload"].startswith("reads-") or \
            cell["scheduler"] not in ("none", "k2"):
        return None
    return int(limit) / rate


def queue(data, pictures):
    """The section about K2 beside a short device queue."""
    yield "## A short device queue instead of K2"
    yield ""
    yield from told(data)
    yield QUEUE
    yield ""
    for file, caption in pictures:
        yield f"![{caption}]({file})"
        yield ""
    yield from claim_list(k2queueclaims.claims_of(cells_of(data)), data=data)
    if not data:
        return
    yield from table(
        ["load", "", "requests", *(f"{claims.percentile_name(name)}, us"
                                   for name in QUEUE_TAILS),
         "mean in the drive, us", "MB/s"],
        [[cell["workload"], cell["label"],
          DASH if figure(cell, "latency_count") is None
          else f"{figure(cell, 'latency_count'):.0f}",
          *(us(figure(cell, f"latency_{name}_s")) for name in QUEUE_TAILS),
          us(time_in_drive(cell)), mb(figure(cell, claims.BANDWIDTH))]
         for cell in sorted(cells_of(data), key=lambda cell: QUEUE_ORDER.get(
             cell["workload"], len(QUEUE_ORDER)))])


def queue_picture(out, cells):
    """The picture of that section, [(path for it, caption)]."""
    folder = resultspage.emptied(out)
    if not cells:
        return []
    import k2queueplots  # pylint: disable=import-outside-toplevel
    folder.mkdir(parents=True, exist_ok=True)
    title = "Real-time reads beside best-effort jobs"
    try:
        k2queueplots.draw(folder / "queue.svg", cells, title)
    except k2queueplots.Nothing:
        return []
    return [(f"{folder.name}/queue.svg", f"{title}: latency over x, and over their number")]


# --- the page ----------------------------------------------------------------

def cells_of(data):
    """The cells of a summary; an empty list without a summary."""
    return data["cells"] if data else []


def page(paper, auto, queued, pictures=()):
    """The lines of docs/k2-results.md, of what there is of the suites."""
    sweep, found = claims.Sweep(cells_of(paper)), Cells(cells_of(auto))
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield f"<!-- Made by scripts/{NAME}; change that, not this. -->"
    yield "# K2: results"
    yield ""
    yield "    make bench-k2                           # short forms of " \
        "the suites, then this page"
    yield "    scripts/bench k2 --form full            # all bounds, two " \
        "seeds"
    yield "    scripts/bench k2 --form competitors     # mq-deadline, kyber, " \
        "bfq, io.cost beside it"
    yield "    scripts/bench k2-auto --form full       # 10 000 requests, " \
        "the whole scan"
    yield "    scripts/bench k2-auto --form layout     # p99.9 with a map of " \
        "the chips"
    yield "    scripts/bench k2-auto --form baselines  # what else there " \
        "is, swept"
    yield "    scripts/bench k2-queue --form full      # beside a short " \
        "device queue, p99"
    yield "    scripts/k2-results                      # this page again"
    yield ""
    yield "`–`: not measured. The newest results of each form are combined. K2-x: " \
        f"bound x. [A second page]({FRONT}) has the tail and bandwidth of all settings " \
        "of a load, and the whole scan. The CPU time at depth 1 and the number of locks " \
        "taken are separate measurements: `make bench-cost`, `scripts/locks`."
    yield ""
    yield "## The paper's experiment"
    yield ""
    yield PAPER_WORDS
    yield ""
    yield from told(paper)
    for number, title, operations, occupancy in FIGURES:
        yield f"### Figure {number}: {title}"
        yield ""
        yield from over_bound(sweep, operations, occupancy)
    yield "### Its guidelines"
    yield ""
    yield from claim_list(claims.k2(cells_of(paper)), data=paper)
    yield "## A target instead of a bound"
    yield ""
    yield from told(auto)
    yield SCALED
    yield ""
    yield AUTO_WORDS
    yield ""
    yield from claim_list(k2autoclaims.claims_of(cells_of(auto)), data=auto)
    yield WRITES
    yield ""
    yield from queue(queued, pictures)


def collect(args, suites):
    """The results of each suite; ValueError if the second page has no place."""
    front = args.out.with_name(FRONT)
    if front == args.out:
        raise ValueError(f"--out {args.out}: that is the other page's name")
    if front.resolve() == PAGE.with_name(FRONT) and args.out.resolve() != PAGE:
        raise ValueError(f"--out {args.out}: {FRONT} beside it is the "
                         "project's: want another directory")
    return resultspage.chosen(args, suites)


def make(args, results):
    """Writes the page, the page of tail against bandwidth, and their pictures."""
    options.need("bench")
    front, found = args.out.with_name(FRONT), Cells(cells_of(results[1]))
    resultspage.put(front, k2front.page(results[1], found,
                                        k2front.draw(front, found)))
    pictures = queue_picture(args.out, cells_of(results[2]))
    resultspage.write(NAME, args.out, page(*results, pictures), SUITES, results)


@resultspage.in_one_line(NAME)
def main(argv=None):
    """Command line."""
    return resultspage.run(NAME, __doc__, PAGE, SUITES, argv, make, collect)


if __name__ == "__main__":
    sys.exit(main())
