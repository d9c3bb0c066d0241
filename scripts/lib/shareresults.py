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
# Differences from the paper, and reasons for aims that are missed. The figures above
# them say which claims these are.
CAUSES = (
    "Figures 1, 2, 14, 18: in each of these figures all tenants have one load, which never "
    "pauses. So each tenant uses its turns, and on most loads the shares of CFQ, A+CFQ and "
    "H+BFQ are near the weights. The paper's loads are databases and traces with pauses. "
    "[Tenants with pauses](share-living-results.md) are on another page, where Figures 1, "
    "2 and 18 appear.",
    "Figures 5, 6: 1 % of ycsb-a's requests are writes, so the drive's cache hardly matters "
    "to it. On fileserver, half of it writes, the figure appears.",
    "Figure 7: at queue depth 1 the tenants' parts do not depend on their weights: they are "
    "equal, or 4:3:3:2 in an order that changes with the seed. Probably the two scheduler tags "
    "of such a drive leave CFQ no tenant with a second waiting request.",
    "Figures 10, 11: all tenants of a load have the same sizes. Then requests, sectors and, "
    "for reads, times are in proportion, and each way of counting gives a PV below 0.2. "
    "Writes take different times, and there Figure 10 appears. Figure 11 was also looked for on "
    "[tenants that pause](share-living-results.md).",
    "Figures 19, 20, 24: a latency is the wait for the tenant's next turn, so its deviation "
    "is that of the wait. CFQ and A+CFQ serve each tenant once a round, and heavier tenants "
    "for longer. H+BFQ's budgets do not depend on weights, so the lightest tenant has the "
    "longest time between turns. Small budgets make turns short, and latencies deviate "
    "least, but shares are lost: the drive takes all outstanding requests of a tenant in "
    "one turn, so none waits when the tenant's next turn is due. On mix-111 weights are equal, "
    "and prj waits longest; the reason was not found.",
    "Figure 25: such a window is about as long as a round of turns, so it shows which tenant "
    "had more turns in it.")
REASONS = (
    "Throughput: the drive serves a tenant in proportion to the number of its requests in "
    "the drive. A tenant with n outstanding requests and a share p falls behind if more "
    "than n / p requests are in the drive. Then the scheduler holds the other tenants back, "
    "and the drive is slower with so few requests (in brackets: the mean number). Only "
    "knowledge of the chips can avoid that "
    "([sharing.md](sharing.md#how-many-requests-are-in-the-device)). If more requests are "
    "outstanding than scheduler tags exist (deep-4k), tags are shared by weight and size, "
    "too, and some stay free. With equal shares (even-4k) only the in-flight limit holds "
    "tenants back. bfq with slice_idle=0 keeps more requests in the drive than acfq, and is "
    "further from the weights. On drive c acfq misses by 0.5 % on same-prj, with a full drive; "
    "the reason was not found.",
    "Chips: different loads keep different numbers of chips busy. If prn, which has small "
    "reads, has most of a drive that holds 32 requests, most of these are small. Without a "
    "scheduler and with the same numbers of requests (like-125, like-1210, their bytes in "
    "brackets) as many chips are idle. On drive d acfq holds other tenants back for prn's share, "
    "and fewer requests keep fewer chips busy.",
    "Tails: a tenant with n outstanding requests has a mean latency of n divided by its "
    "requests a second, and its p99.9 is almost never shorter. Where the mean latency that "
    "follows from a tenant's share (in brackets: hbfq's mean, divided by the other's tail) "
    "exceeds the limit, no scheduler with these shares can meet it. With different loads, "
    "bytes a second depend on the shares: hbfq charges all tenants the same estimated time, "
    "and bfq does not. The number of busy chips does not depend on that.")
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
    yield "Times are the drive's. [results-schema.md](../results-schema.md) explains the " \
        "measures. `–`: not measured. Slowdown: at 1 a tenant has its share of the " \
        "bandwidth that its load has alone, under the same scheduler, or under `none` if " \
        "that was not run."
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
        "2020. The paper used a real drive, databases and traces. Here drives are simulated " \
        "([flashsim](flashsim.md)). Loads are fio jobs with the figures of the paper's " \
        "Table 2. msn, prj and prn are stand-ins for its traces."
    yield ""
    yield "## Terms"
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
                for row in claims.with_seeds(judge, data["cells"] if data else [])]
        yield from claim_list(rows,
                              {claim: see(numbers)
                               for claim, numbers in beside.items()}, data)
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
