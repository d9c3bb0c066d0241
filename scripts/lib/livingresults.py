# SPDX-License-Identifier: GPL-2.0
"""scripts/share-living-results: writes docs/share-living-results.md from what was measured.

Takes the directories of results of suite share-living that it is given; without one, the
newest of each form below build/results and what is published in docs/results. No
figure and no verdict on that page is typed.
"""

import sys

import livingclaims
import resultspage
from claims import BANDWIDTH, figure
from resultspage import DASH, claim_list, facts, table

NAME = "share-living-results"
PAGE = resultspage.REPO / "docs" / f"{NAME}.md"
SUITES = ("share-living",)
INTRO = """\
The tenants of [the other page](share-results.md) never pause, and then CFQ's shares are
right, so several of the paper's figures cannot appear there. Its own tenants were
databases, file servers and traces, which think, wait for an fsync, and come in bursts.
Here tenants do: clients of a database with one request each, which think between two
(ycsb-a, ycsb-d); bursts as in the traces with gaps between them (msn, prj, prn); a
file server's create, append, fsync and delete on an ext4 for each tenant (direct,
buffered). The number after a name is the load in percent: what the tenants ask for
without a scheduler, of what the drive gives to tenants that never pause. Pauses were set
with seed 1 under `none` before any scheduler ran; claims were written before, too.
[tests/suites/share-living.suite](../tests/suites/share-living.suite) has the details."""
READING = """\
A figure's direction has appeared if it is *reproduced* on one load. It is looked for
on three loads at least before it counts as absent. *Exact shares*: the PV that remains
if each tenant gets its share by weight or what it asks for, whichever is less."""
FOUND = """\
- Where tenants pause, CFQ gives each about the same (Figures 1 and 2): a queue that is empty
  when its turn comes loses it, however heavy it is.
- H+BFQ keeps the weights of database clients (Figure 18), and misses those of bursts,
  probably as a tenant's finish time counts a budget of 16384 sectors, and its queue is empty
  long before.
- A+CFQ is CFQ on these loads: it hardly ever waits. Its average dispatch interval is probably
  that of requests within a burst, as the gaps between bursts are above `antic_max_us`."""


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
    yield from table(["load", "", *labels], rows)


def page(data):
    """The lines of docs/share-living-results.md."""
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
    yield from claim_list(livingclaims.claims_of(data["cells"]))
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
