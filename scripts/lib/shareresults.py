# SPDX-License-Identifier: GPL-2.0
"""scripts/share-results: writes docs/share-results.md from what was measured.

Takes the directories of results that it is given, suites share-paper and
share; without one, the newest of each form below build/results and what is published in
docs/results. Of a cell that several have the last one's figure counts, of several forms
that with most requests. No figure and no verdict on that page is typed. Tables of all
cells and pictures are in the folder docs/share-results.
"""

import itertools
import sys

import options
import claims
import piqclaims
import resultspage
import shareclaims
import sharewords
from resultspage import DASH, claim_list, facts, table

fairness = options.later("fairness")

PAGE = resultspage.REPO / "docs" / "share-results.md"
NAME = "share-results"
SUITES = ("share-paper", "share")
PARTS = {"share-paper": ("The paper's schedulers", shareclaims.paper),
         "share": ("Default modes", shareclaims.default)}
# Where we differ from the paper, and why an aim may be out of reach; which one is, the
# figures above it say.
CAUSES = (
    "Figures 1, 2, 10, 18: all tenants of a figure have one load here, which never "
    "pauses. Whatever a turn is charged in, time, requests or sectors, is then the same "
    "for all of them, and CFQ's shares are right after some tens of turns, as are A+CFQ's "
    "and H+BFQ's. Only where loads differ (Figure 23) does it matter what is charged. The "
    "paper's loads are databases and traces that pause; [tenants that do]("
    "share-living-results.md) have a page of their own, and there Figures 1 and 2 appear.",
    "Figure 7: one request at a time makes every request a turn, and CFQ serves tenants "
    "that have nothing waiting behind it equally.",
    "Figures 19, 20, 24: a latency is the wait for one's next turn, and scatters by that. "
    "CFQ and A+CFQ serve everybody once a round, heavier tenants for longer; H+BFQ's "
    "budgets do not depend on weights, so the lightest tenant's turns are furthest apart. "
    "With small budgets turns are short, latencies scatter less than under any other, and "
    "shares are lost: the drive takes all that a tenant has outstanding in one turn, so "
    "nothing of it waits when its next one is due.",
    "Figure 25: such a window is shorter than a round of turns, so it shows whose turn it "
    "was.")
REASONS = (
    "PV: shares are of those who have something waiting. A tenant all of whose "
    "requests are in the drive, on chips that are busy with other things, misses what "
    "the others send meanwhile, and up to 64 requests of that are due to it later. With "
    "10 of 13 parts of a SATA drive it soon misses more (mix-1210). And the first tenant "
    "that sends has up to 64 requests in the drive before there are others.",
    "Windows: one of 50 requests of weight 1 has 200 of weight 4 and 250 of weight 5, and "
    "32 of all these are in a SATA drive at once, of as much as 1 MiB each: which of two "
    "such neighbours has more of a window can change.",
    "Throughput: a drive serves a tenant by how many of its requests it has, "
    "so who has n outstanding and is due a part p of the drive is behind as "
    "soon as more than n / p are in there. Shares hold the others back then, "
    "and what is missing is what this drive does less with so few (in "
    "brackets: the mean). No order of requests makes up for that, unless it "
    "is known which chip holds what ([sharing.md](sharing.md#how-many-requests-are-in-the-device)). Where "
    "more is outstanding than there are scheduler tags (deep-4k), these are "
    "shared by weight and size, too, and some are kept free; at equal shares "
    "(even-4k) the bound on what is in the drive is all that holds anybody "
    "back. bfq with slice_idle=0 fills the drive, whatever becomes of "
    "shares.",
    "Chips: unlike loads keep more or fewer chips busy. Where Prn, of small reads, is due "
    "most of a drive that has 32 requests at most, these are small reads; a drive "
    "without a scheduler that has as many of each load in it (like-125, like-1210, "
    "their bytes in brackets) has as many chips idle.",
    "Tails: whoever keeps n outstanding has a mean latency of n over its "
    "requests a second, and its p99.9 is hardly ever less than that. Where "
    "the mean that its share leaves a tenant (in brackets: hbfq's, as a part of "
    "the other's tail) is above the limit, no scheduler that gives this share meets "
    "it. Bytes a second of unlike loads depend on who gets how much: with hbfq each has "
    "the same part of the drive's time, whose loads move more or less with it "
    "than those of bfq's favourites. How busy the chips are does not.")
MILLI = 1e3


def text(value, form="{:.3g}", scale=1.0):
    """A figure, or a dash."""
    return DASH if value is None else form.format(value * scale)


def labels(cells):
    """Labels of the cells, in the order of the suite."""
    return list(dict.fromkeys(cell["label"] for cell in cells))


def shares(cells):
    """PV, windows and bound of each cell."""
    rows = []
    for cell in cells:
        if claims.figure(cell, "jain_charged") is None:
            continue
        rows.append([cell["workload"], cell["variant"], cell["label"], *(
            text(claims.figure(cell, key)) for key in (
                "pv_sending_charged", "pv_charged", "pv_sectors",
                "pv_requests", "pv_chip",
                "jain_charged", "window_pv_median_charged",
                "window_pv_max_charged", "inversions_charged",
                "service_ratio_charged", "outstanding_ratio_charged")),
            "chip time" if shareclaims.by_chips(cell) else "what is charged"])
    yield from table(
        ["load", "drive", "scheduler", "PV, unit charged, while all send",
         "over the run", "by bytes", "by requests", "by chip time", "Jain",
         "PV of a window, median",
         "largest", "inversions", "service / bound", "with any outstanding",
         "windows and service in"],
        rows)


def tails(cells):
    """Bandwidth, chips and the tenants' latencies."""
    rows = []
    for cell in cells:
        names = list(shareclaims.tenants(cell, shareclaims.BANDWIDTH))
        chips = claims.figure(cell, "utilisation_milli")
        inside = claims.figure(cell, "in_device_mean")
        for n, name in enumerate(names):
            rows.append([
                *([cell["workload"], cell["variant"], cell["label"],
                   text(claims.figure(cell, shareclaims.BANDWIDTH),
                        "{:.0f}", 1e-6), text(chips, "{:.1f}", 1e-3),
                   text(inside, "{:.0f}")]
                  if not n else [""] * 6), name,
                text(claims.figure(cell, f"{name}_bandwidth_bytes_per_s"),
                     "{:.1f}", 1e-6),
                *(text(claims.figure(cell, f"{name}_latency_{key}_s"),
                       "{:.4g}", MILLI) for key in
                  ("mean", "stddev", "p99", "p99_9", "max"))])
    yield from table(["load", "drive", "scheduler", "MB/s", "busy chips",
                      "in the drive", "tenant", "MB/s", "mean, ms",
                      "std dev, ms", "p99, ms", "p99.9, ms", "longest, ms"], rows)


def slowdowns(suite, cells):
    """Each tenant beside its share of what its load gets alone."""
    import suiteplan  # pylint: disable=import-outside-toplevel
    found = piqclaims.Table(cells)
    rows = []
    for workload in suiteplan.load(suite).workloads.values():
        if not all(one["alone"] for one in workload.tenants):
            continue
        for cell in cells:
            if cell["workload"] != workload.name:
                continue
            alone, got = [], []
            for one in workload.tenants:
                other = next((here for label in (cell["label"], "none") if (
                    here := found.get(one["alone"], label,
                                      cell["variant"]))), None)
                alone.append(claims.figure(other, shareclaims.BANDWIDTH))
                got.append(claims.figure(
                    cell, f"{one['name']}_bandwidth_bytes_per_s"))
            if None in alone or None in got:
                continue
            each, index = fairness.slowdown(
                [one["weight"] for one in workload.tenants], got, alone)
            if each:
                rows.append([
                    cell["workload"], cell["variant"], cell["label"],
                    ", ".join(f"{one['name']} {value:.2f}" for one, value
                              in zip(workload.tenants, each)),
                    text(index)])
    yield from table(["load", "drive", "scheduler", "slowdown of each",
                      "Jain"], rows)


def tables(suite, title, data):
    """All cells of a suite, line by line."""
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield "<!-- Made by scripts/share-results; change that, not this. -->"
    yield f"# Shares: {title[0].lower()}{title[1:]}, all figures"
    yield ""
    yield "Times are the drive's. What the measures are: [results-schema.md](" \
        "../results-schema.md). `–`: not measured. Slowdown: 1 is just a " \
        "tenant's share of what its load gets alone, under the same scheduler, or under " \
        "none where that was not run."
    yield ""
    for name, make in (("Shares", shares), ("Latency and throughput", tails)):
        yield f"## {name}"
        yield ""
        yield from make(data["cells"])
    yield "## Slowdown"
    yield ""
    yield from slowdowns(suite, data["cells"])


def see(numbers):
    """Which pictures to look at."""
    return f"Picture{'s' if len(numbers) > 1 else ''} " + \
        " and ".join(map(str, numbers)) + "."


def page(results, pictures, folder):
    """The whole page, line by line."""
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield "<!-- Made by scripts/share-results; change that, not this. -->"
    yield "# Shares: results"
    yield ""
    yield "    make bench-share                        # short forms of " \
        "both suites, then this page"
    yield "    scripts/bench share-paper --form full   # all figures"
    yield "    scripts/bench share --form full         # all loads, both " \
        "drives"
    yield "    scripts/bench share --form tails        # p99.9 at equal shares"
    yield "    scripts/share-results                   # this page again"
    yield ""
    yield "The paper is J. Kim, E. Lee, S. H. Noh, *I/O Schedulers for Proportionality " \
        "and Stability on Flash-Based SSDs in Multi-Tenant Environments*, IEEE Access 8, " \
        "2020. Its drive was real; these are simulated ([flashsim](flashsim.md)). Its " \
        "loads were databases and traces; these are fio jobs after its Table 2, msn, prj " \
        "and prn stand-ins for its traces."
    yield ""
    yield "## What the words mean"
    yield ""
    yield from sharewords.words(results)
    count = itertools.count(1)
    for suite, data, shown in zip(SUITES, results, pictures):
        title, judge = PARTS[suite]
        yield f"## {title}"
        yield ""
        yield facts(data)
        yield ""
        if data:
            yield from sharewords.explained(suite, data["cells"])
        beside = {}
        for (file, caption, about), number in zip(shown, count):
            yield f"![Picture {number}: {caption}]({folder}/{file})"
            yield ""
            yield f"Picture {number}: {caption}."
            yield ""
            for claim in about:
                beside.setdefault(claim, []).append(number)
        rows = [resultspage.on_kernels(row, data) if row["id"] == "Cost" else row
                for row in judge(data["cells"] if data else [])]
        yield from claim_list(rows,
                              {claim: see(numbers)
                               for claim, numbers in beside.items()})
        if not data:
            continue
        if suite == "share":
            yield from sharewords.alone(data["cells"])
        for reason in REASONS if suite == "share" else CAUSES:
            yield reason
            yield ""
        for line in data.get("left_out") or ():
            yield f"Left out: {line}."
            yield ""
        yield f"Shares, latency and slowdown of all cells: [tables]({folder}/{suite}.md)."
        yield ""


def make(args, results):
    """Writes the page, its pictures and its tables."""
    options.need("bench")
    import sharepictures  # pylint: disable=import-outside-toplevel
    folder = resultspage.emptied(args.out)
    pictures = sharepictures.draw(folder, *results)
    for suite, data in zip(SUITES, results):
        if data:
            folder.mkdir(parents=True, exist_ok=True)
            resultspage.put(folder / f"{suite}.md",
                            tables(suite, PARTS[suite][0], data))
    resultspage.write(NAME, args.out, page(results, pictures, folder.name),
                      SUITES, results)


@resultspage.in_one_line(NAME)
def main(argv=None):
    """Command line."""
    return resultspage.run(NAME, __doc__, PAGE, SUITES, argv, make)


if __name__ == "__main__":
    sys.exit(main())
