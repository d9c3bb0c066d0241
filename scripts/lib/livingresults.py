# SPDX-License-Identifier: GPL-2.0
"""scripts/share-living-results: writes docs/share-living-results.md from what was measured.

Takes the directories of results of suite share-living that it is given; without one, the
newest of each form below build/results and what is published in docs/results. No
figure and no verdict on that page is typed.
"""

import re
import sys

import claims
import livingclaims
import resultspage
import shareclaims
from claims import BANDWIDTH, figure
from resultspage import DASH, claim_list, facts, table

NAME = "share-living-results"
PAGE = resultspage.REPO / "docs" / f"{NAME}.md"
SUITES = ("share-living", "share-paper")
INTRO = """\
The tenants of [the other page](share-results.md) never pause, and CFQ's shares are mostly
right there. That page explains the paper and the drive. The paper's own tenants were
databases, file servers and traces: they have think times, wait for an fsync, and send
bursts. The tenants of this page pause. Their weights are 1:2:4:5, or those in the name of
a mix.

- *ycsb-a*, *ycsb-d*: clients of a database with one request each, and a think time between
  two requests.
- *db*: RocksDB under its benchmark db_bench, on an ext4 for each tenant: reads and
  updates 95:5, the n-th key requested 1/n as often as the first. db_bench has no think
  time; RocksDB's rate limiter makes the pauses. Latencies are those of requests to the
  drive, and do not include the limiter's.
- *msn*, *prj*, *prn*: bursts as in the traces, with gaps between them. *mix-*: one tenant
  of each.
- *direct*, *buffered*: a file server's create, append, fsync and delete, on an ext4 for
  each tenant.

The number after a name is the load: the tenants' bandwidth under `none`, in percent of
that of tenants that never pause. Before any scheduler ran, the pauses were set with
tuning seeds under `none`, and the claims were written. Four rules were changed after results:
one load suffices for a figure; Figures 14, 18 and 23 are judged beyond exact shares, as Figures
1 and 2 were; each seed must show it; no PV counts if tenants get more than under `none`. Figure
11 and more loads for Figures 7 and 10 were added before they ran.
[tests/suites/share-living.suite](../tests/suites/share-living.suite) has the details."""
READING = """\
Each part is a load. A claim is reproduced if one load shows the figure's direction, with each
of the load's seeds: of many loads one may show it by chance. It is not reproduced if none of
at least three loads shows it; with fewer it is not measured."""
WHERE = """\
On tenants that never pause a claim has to hold on all of the paper's loads, so it can be
missed there and here although some load shows the paper's direction. Here a load shows a
figure if all that its page compares on it holds, with each of its seeds. The pages differ:
between schedulers any difference counts without pauses; with them, PV has to differ by
{margin} beyond exact shares, and other measures by 5 % (18c, 19a: 7 % on both). Without pauses
Figure 20d needs the paper's size, and Figure 25 no inversion at all. The paper's Figures 9,
13, 16, 17 and 22 show causes (requests in the drive, times between dispatches, budgets, sizes),
not shares. Figure 21, each load alone and together with the others, was not run."""
WORDS = """\
Words in the tables:

- *none*: no scheduler. *bfq*: the kernel's BFQ. *cfq*: the paper's CFQ, a mode of acfq,
  which charges each turn by its requests; *cfq-time*: by the time of the turn;
  *cfq-sectors*: by its sectors; *cfq-qd1*: on a drive that takes one request at a time.
  *acfq-paper*, *hbfq-paper*: A+CFQ and H+BFQ as in the paper.
- *PV* (proportionality variation): the mean distance of the tenants' shares from their
  weights, both in multiples of the lightest tenant's. 0 is exact.
- *Window*: a period in which the tenant with the fewest requests ends 50 of them.
  *Inversion*: a pair of tenants in a window of which the heavier one got less.
- *c*: profile C. *Worst*: of the tenant with the largest value. *In the drive*: the mean
  number of requests in the drive, under the judged scheduler and under the other.
- *PV of exact shares*: the PV that remains if each tenant gets its share by weight, or its
  demand if that is less. *Beyond exact shares*: PV less that."""
FOUND = """\
- A tenant with an empty queue loses its turn, whatever its weight. So under CFQ tenants
  that pause do not get their shares (Figures 1 and 2): on ycsb-a-60 all four get about
  the same bandwidth.
- H+BFQ has the lowest PV on ycsb-a, but less throughput than CFQ, so shares by weight are
  easier to keep. On prn-60 it has the highest PV. Probably a tenant's finish time counts a
  budget of 16384 sectors, and its queue is empty long before that.
- A+CFQ hardly ever waits for a tenant here, so its PV is close to CFQ's. Probably its
  average dispatch interval is that of requests within a burst, because the gaps between
  bursts are longer than `antic_max_us`.
- On file servers at 30 and 60 % H+BFQ is nearer to the weights than CFQ and BFQ by far (Figure
  18). A+CFQ is nearer than both on one of many loads, buffered-30 (Figure 14), maybe by chance.
  On buffered-60 counting sectors is nearer than counting requests with one seed of two (Figure 11).
  At 60 % every scheduler, BFQ included, moves less than half of what the drive does without one.
- On buffered-90 BFQ moves more than the drive does without a scheduler, so what tenants ask for
  is not known, and its PV is not judged.
- Slices of time are nearer to the weights than counted requests on msn, ycsb-a-90 and the
  buffered file server, and about as near on the other loads (Figure 10). At queue depth 1 all
  tenants get nearly the same, so windows are as far off or further (Figure 7).
- On db-60 the shares of CFQ, A+CFQ and H+BFQ are about equally near to those due. BFQ's are
  further off, and it has the lowest throughput."""


def shares(cells):
    """PV and throughput, a row a load."""
    labels = list(dict.fromkeys(cell["label"] for cell in cells))
    rows = []
    for load in dict.fromkeys(cell["workload"] for cell in cells):
        by = {cell["label"]: cell for cell in cells if cell["workload"] == load}
        for what, metric, form, scale in (("PV", livingclaims.PV, "{:.2f}", 1),
                                          ("MB/s", BANDWIDTH, "{:.0f}", 1e-6)):
            values = [figure(by.get(label), metric) for label in labels]
            rows.append([load, what, *(DASH if value is None else
                                       form.format(value * scale) for value in values)])
        values = [livingclaims.unavoidable(load, by.get(label), by.get("none"))
                  for label in labels]
        rows.append([load, "PV of exact shares", *(
            DASH if value is None else f"{value:.2f}" for value in values)])
    yield from table(["load", "", *labels], rows)


def appears(rows):
    """{figure: {load: does it show the figure}} of the paper's claims; see WHERE."""
    found = {}
    for row in rows:
        if claims.whose(row) != claims.PAPER:
            continue
        loads = found.setdefault(row["id"], {})
        for part in row["parts"]:
            if part["holds"] is not None:
                for load in dict.fromkeys(cell.split(".")[0] for cell in part["cells"]):
                    loads[load] = loads.get(load, True) and part["holds"] and \
                        "seeds" not in part
    return found


def where(endless, living):
    """The loads that show a figure, and those that do not. endless, living: appears()."""
    def loads(found, wanted):
        return ", ".join(load for load, shows in found.items() if shows == wanted) or DASH
    yield from table(
        ["figure", "never pause: shown by", "not by", "pause: shown by", "not by"],
        [[name.replace("Fig", "Figures" if "," in name else "Figure"), *(
            loads(found.get(name, {}), wanted) for found in (endless, living)
            for wanted in (True, False))] for name in sorted(
                {**endless, **living}, key=lambda name: int(re.search(r"\d+", name)[0]))])


def page(data, endless):
    """The lines of docs/share-living-results.md. endless: of tenants that never pause."""
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield f"<!-- Made by scripts/{NAME}; change that, not this. -->"
    yield "# Shares: tenants that pause"
    yield ""
    yield "    scripts/bench share-living              # short form"
    yield "    scripts/bench share-living --form full  # all loads at 30, 60 and 90 %"
    yield f"    scripts/{NAME}            # this page again"
    yield ""
    yield INTRO
    yield ""
    yield facts(data)
    yield ""
    if not data:
        return
    yield READING
    yield ""
    several = {load: max(len(cell["seeds"]) for cell in data["cells"]
                         if cell["workload"] == load)
               for load in dict.fromkeys(cell["workload"] for cell in data["cells"])}
    if max(several.values()) > 1:
        one = [load for load, seeds in several.items() if seeds == 1]
        yield resultspage.SEVERAL + (f" Of one seed: {', '.join(one)}." if one else "")
        yield ""
    yield WORDS
    yield ""
    rows = livingclaims.over_seeds(data["cells"])
    yield from claim_list(rows, data=data)
    if endless:
        yield "## Where each figure appears"
        yield ""
        yield WHERE.format(margin=shareclaims.PV_MAX)
        yield ""
        yield from where(appears(claims.with_seeds(shareclaims.paper, endless["cells"])),
                         appears(rows))
    yield "## Why"
    yield ""
    yield FOUND
    yield ""
    yield "## PV and throughput"
    yield ""
    yield from shares(data["cells"])


@resultspage.in_one_line(NAME)
def main(argv=None):
    """Command line."""
    return resultspage.run(
        NAME, __doc__, PAGE, SUITES, argv, lambda args, results: resultspage.write(
            NAME, args.out, page(*results), SUITES, results))


if __name__ == "__main__":
    sys.exit(main())
