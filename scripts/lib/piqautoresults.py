# SPDX-License-Identifier: GPL-2.0
"""scripts/piq-auto-results: writes docs/piq-auto-results.md from what was measured.

Takes the directories of results that it is given, of suite piq and of
scripts/bench-cost; without one, the newest of each form below build/results and
what is published in docs/results. No figure and no verdict on that page is typed.
"""

import sys

import claims
import piqclaims
import resultspage
from resultspage import DASH, claim_list, facts, table

NAME = "piq-auto-results"
PAGE = resultspage.REPO / "docs" / f"{NAME}.md"
SUITES = ("piq",)
WORDS = """\
Words in the tables:

- *piq*: mode auto, with the layout of the drive. *piq-wrong*: with a wrong layout.
  *piq-nomap*: without one. *none-qd16*, *k2-16*: at most 16 requests in the drive, under
  no scheduler and under K2.
- *chip-bound*: a drive on which only chips take time. *-fw*: its firmware takes time, too.
  *-read-first*: it serves reads first. *-suspend*: a read may interrupt a program.
- *d*, *f*: profiles D and F. *-dynamic*: the drive puts pages where there is room.
  *-static*: the address determines the chip.
- *tail*: random reads of two jobs beside a real-time reader. *mixed*: 45 random reads and 19
  random writes outstanding. *even-rand*, *even-seq*: two jobs of equal reads, at random
  and in sequence.
- *Setting*: a scheduler with one value of each option. One setting *dominates* another if
  it has at least the bandwidth and at most the tail.
- *Ratios* are over the scheduler that the text names; in brackets is the 95 % interval
  over seeds."""


def costs(summaries):
    """CPU time over none, kernel by kernel, and as a part of mq-deadline's."""
    rows = []
    for summary in summaries:
        for line in dict.fromkeys(
                (one["disk"], one["label"]) for one in summary["cells"]
                if one["scheduler"] == "piq"):
            row = [summary["kernel"], *line]
            for depth in piqclaims.COST_MOST:
                mine, other = (claims.over_none(summary, line[0], label, depth)
                               for label in (line[1], "mq-deadline"))
                row += [DASH, DASH] if mine is None or not other else \
                    [f"{mine:.0f}", f"{mine / other:.2f}"]
            rows.append(row)
    yield from table(
        ["kernel", "disk", "piq", *(text for depth in piqclaims.COST_MOST for
                                    text in (f"depth {depth}, ns",
                                             "of mq-deadline's"))], rows)


def auto(defaults):
    """Results of mode auto, form by form."""
    if not defaults:
        yield facts(None)
        yield ""
        yield from claim_list(piqclaims.default([]))
    for default in defaults:
        yield f"### Form {default['form']}"
        yield ""
        yield facts(default)
        yield ""
        yield from claim_list(
            [row for row in piqclaims.default(default["cells"])
             if row["judged"]], data=default)


def page(defaults, cost):
    """The lines of docs/piq-auto-results.md."""
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield f"<!-- Made by scripts/{NAME}; change that, not this. -->"
    yield "# PIQ: mode auto"
    yield ""
    yield "    make bench-piq                   # short forms of both suites, " \
        "then their pages"
    yield "    scripts/bench piq --form full    # every baseline swept"
    yield "    scripts/bench piq --form harm    # no harm: five seeds"
    yield "    make bench-cost                  # CPU time of an I/O"
    yield "    scripts/piq-auto-results         # this page again"
    yield ""
    yield "[The paper's experiment](piq-results.md) has a page of its own. `–`: not " \
        "measured; times are the drive's."
    yield ""
    yield "## Mode auto"
    yield ""
    yield WORDS
    yield ""
    yield from auto(defaults)
    yield "## What an I/O costs the CPU"
    yield ""
    yield "`scripts/bench-cost --schedulers none,mq-deadline,piq --depths " \
        "1,32 --no-locks`: time an I/O takes beyond that under `none`. *null* is " \
        "null_blk. *Layout set*: piq knows the chips. *By chips*: with `chip_depth` = 1 " \
        "as well. *Stats read*: a task reads the statistics every 10 ms. " \
        "[lab.md](lab.md) describes the method."
    yield ""
    if not cost:
        yield facts(None)
        yield ""
        return
    yield "Commit " + ", ".join(dict.fromkeys(
        str(summary.get("commit")) for summary in cost)) + "."
    yield ""
    yield from claim_list(piqclaims.cost(cost))
    yield from costs(cost)


def collect(args, suites):
    """(the results of each form, the cost on each kernel); ValueError."""
    found = resultspage.all_of(args, suites)
    return resultspage.by_form(found, "piq"), resultspage.each(
        found, lambda one: resultspage.is_cost(one) and any(
            cell["scheduler"] == "piq" for cell in one["cells"]), "kernel")


@resultspage.in_one_line(NAME)
def main(argv=None):
    """Command line."""
    return resultspage.run(
        NAME, __doc__, PAGE, SUITES, argv, lambda args, results: resultspage.write(
            NAME, args.out, page(*results), SUITES, results[:1]), collect)


if __name__ == "__main__":
    sys.exit(main())
