# SPDX-License-Identifier: GPL-2.0
"""The explanations in docs/share-results.md before its figures.

The meanings of words are typed here. The descriptions of loads and of schedulers'
settings are read from the suite and from the cells, so they cannot differ from the
runs.
"""

import re

import claims
import options
import piqclaims
import shareclaims
from resultspage import SEVERAL, table

fairness = options.later("fairness")

# An example for PV
WEIGHTS = (1, 2, 4, 5)

LABELS = {
    "none": "no scheduler",
    "mq-deadline": "the kernel's, without tenants",
    "bfq": "the kernel's BFQ with its defaults, and the tenants' weights",
    "bfq-noidle": "bfq that never idles and never raises a weight",
    "iocost-c": "the kernel's io.cost with `none`; model of drive c",
    "iocost-d": "the kernel's io.cost with `none`; model of drive d",
    "cfq": "a mode of acfq after the paper's description of CFQ, not the kernel's old CFQ: "
           "one tenant after another, charged by requests",
    "cfq-time": "cfq, charged by the duration of a turn",
    "cfq-sectors": "cfq, charged by sectors",
    "cfq-qd1": "cfq on a drive with queue depth 1",
    "cfq-antic": "cfq that waits for a tenant that pauses",
    "acfq-paper": "the paper's A+CFQ: charges sectors, waits for a tenant that pauses",
    "acfq-noantic": "the paper's A+CFQ without that wait",
    "hbfq-paper": "the paper's H+BFQ: budgets of sectors",
    "hbfq-N": "the paper's H+BFQ with a budget of N sectors after a tenant has used up its "
              "budget",
    "acfq": "acfq with its defaults: charges sectors",
    "acfq-D": "acfq with at most D requests in the drive",
    "hbfq": "hbfq with its defaults: charges the drive's time, which it estimates",
    "hbfq-D": "hbfq with at most D requests in the drive",
}
DRIVES = {
    "c": "a SATA drive like the paper's",
    "d": "an NVMe drive",
    "c-1ch": "c with one channel",
    "c-nocache": "c without its write buffer",
}
LOADS = (
    (r"(ycsb-[ad]|fileserver)$", "four tenants; reads and sizes of the paper's Table 2"),
    (r"fileserver-[rw]$", "fileserver, one direction"),
    (r"(msn|prj|prn)$", "four tenants; a stand-in for the paper's trace of that name"),
    (r"rand-", "four tenants; one size, one direction"),
    (r"alone-", "one tenant"),
    (r"same-wide$", "four tenants, one with a large weight"),
    (r"same-", "four tenants, each with the load at the end of the name"),
    (r"deep-", "same-4k with more outstanding requests"),
    (r"even-", "same-4k with equal weights"),
    (r"cost-", "same-4k, for the CPU cost of a scheduler"),
    (r"mix-", "three tenants with the loads msn, prj and prn; the name ends in the weights"),
    (r"like-", "mix without a scheduler: numbers of outstanding requests that give each "
               "tenant about the share of these weights"),
    (r"msn-disk5$", "no tenants: a stand-in for another disk's trace, at its own times"),
)
# A suite's other parameters of a drive are the same for all drives.
OF_DRIVES = ("profile", "queue_depth", "channels", "wbuf_kb", "map_kb", "prog_pages")


# The meaning of the number at the end of a label, and the letter that stands for it
NUMBERS = {"exhausted_budget_sectors": "N", "max_inflight": "D"}


def kind(label, tunables):
    """(the label that LABELS explains, its settings)."""
    name, _, number = label.rpartition("-")
    for key, letter in NUMBERS.items():
        if name and key in tunables and tunables[key] == number:
            return f"{name}-{letter}", {**tunables, key: letter}
    return label, dict(tunables)


def drives(suite, cells):
    """A table of the drives that there are figures of."""
    seen = {cell["variant"] for cell in cells}
    yield from table(["drive", "is", "[flashsim](flashsim.md)'s settings"], [
        [name, DRIVES[name], " ".join(f"{key}={value}" for key in OF_DRIVES
                                      if (value := settings.get(key)))]
        for name, settings in suite.variants.items() if name in seen])


def schedulers(suite, cells):
    """A table of the labels that there are figures of."""
    seen = {cell["label"] for cell in cells}
    rows = {}
    for one in suite.schedulers:
        if one.label not in seen:
            continue
        name, settings = kind(one.label, dict(one.tunables))
        rows[name] = [name, LABELS[name], " ".join([
            "io.cost" if one.iocost else one.name,
            *(f"{key}={value}" for key, value in settings.items())])]
    yield from table(["scheduler", "is", "settings"], list(rows.values()))


def mean_kib(sizes):
    """Mean size of fio's bssplit; reads and writes apart where they differ."""
    means = []
    for way in sizes.split(","):
        parts = re.findall(r"(\d+)k/(\d+)", way)
        means.append(sum(int(size) * int(part) for size, part in parts) / 100)
    forms = [f"{mean:.0f}" if mean >= 10 or mean == int(mean) else f"{mean:.1f}"
             for mean in means]
    return forms[0] if len(forms) == 1 else "reads {}, writes {}".format(*forms)


def outstanding(workload):
    """How many requests each tenant keeps outstanding."""
    own = [value for key, value in workload.env.items() if key.endswith("_DEPTH")]
    if not own:
        return workload.env.get("DEPTH", "")
    return own[0] if len(set(own)) == 1 else ":".join(own)


def means(name):
    """The entry of a load in LOADS."""
    return next(said for pattern, said in LOADS if re.match(pattern, name))


def loads(suite, cells):
    """A table of the loads that there are figures of."""
    seen = {cell["workload"] for cell in cells}
    rows = []
    for one in suite.workloads.values():
        if one.name not in seen:
            continue
        sizes = one.env.get("SIZES")
        mixed = not sizes and one.tenants
        rows.append([
            one.name, means(one.name),
            ":".join(f"{tenant['weight'] / 100:g}" for tenant in one.tenants),
            "theirs" if mixed else one.env.get("READS", ""),
            "theirs" if mixed else mean_kib(sizes) if sizes else "",
            outstanding(one)])
    yield from table(["load", "is", "weights", "% reads", "mean size, KiB",
                      "outstanding of each"], rows)


def seeds(results):
    """The words that depend on the number of seeds."""
    results = [data for data in results if data]
    found = sorted({seed for data in results for one in data.get("made_of", [data])
                    for each in one["seed_uses"].values() for seed in each})
    if not found:
        return
    again = "The same run at the same commit repeats exactly ([why](lab.md#virtual-time)). " \
        "Another seed or another grouping of cells changes the order of addresses, " \
        "directions and sizes."
    if len(found) > 1:
        single = any(len(cell["seeds"]) == 1 for data in results for cell in data["cells"])
        yield "- **Seeds**: " + ", ".join(map(str, found)) + (
            ", but some cells were run with one seed only" if single else "") + \
            f". {again} {SEVERAL}"
        return
    yield f"- **One seed**: all figures are of seed {found[0]}, so no error is given. " \
        f"{again} That effect was not measured, so where two figures are close, another " \
        "seed may reverse their order."


def together(results):
    """How figures of several runs are put together."""
    if any(data and data.get("made_of") for data in results):
        yield "- **Runs**: cells are of several runs and commits, which each part lists. " \
            "If a cell is in several runs, the form with the most requests counts, and " \
            "of that form the last run."


def words(results):
    """The list of words."""
    example = fairness.pv(WEIGHTS, [1] * len(WEIGHTS))
    yield "- **Tenant**: a fio job in its own control group, with a weight and its own " \
        "part of the drive. It keeps a constant number of requests outstanding (table of " \
        "loads) and never pauses."
    yield "- **PV**, proportionality variation, is the paper's measure. Service and weight " \
        "of each tenant are divided by those of the tenant with the smallest weight (of " \
        "several, the first). PV is the mean absolute difference of the two quotients. At " \
        "0 all shares match the weights. At 1 the average error is as large as the " \
        "service of the lightest tenant. PV has no upper limit. Equal service with the " \
        "weights " + ":".join(map(str, WEIGHTS)) + f" gives {example:g}."
    yield "- **Units of service**: *by bytes*; *by requests*; *by chip time*, the time " \
        "that the drive's chips work for a tenant; *in the unit charged*, the unit in " \
        "which the scheduler accounts: acfq sectors, hbfq time, io.cost its model. A " \
        "scheduler without such a unit is judged by sectors. The paper's figures are by " \
        "bytes."
    yield "- **While all send**: from the first request of the tenant that starts last to " \
        "the last request of the tenant that ends first."
    yield f"- **Window**: the time in which the tenant with the fewest requests completes " \
        f"{fairness.WINDOW_REQUESTS} of them. **Inversion**: in a window, a pair of " \
        "tenants of which the one with the larger weight got less. *PV over windows* is " \
        "the median over all windows."
    yield "- **In the drive**, in brackets: the mean number of requests in the drive, " \
        "first under the judged scheduler, then under the named one."
    yield "- **After a semicolon**: the value in another unit, or of another scheduler, " \
        "from the smallest to the largest of these loads."
    yield "- **Reproduced** (a claim of a paper) or **met** (our own aim): all parts of " \
        "the claim hold. Of the paper's figures the order is judged (nearer, shorter, " \
        "more), not the size, unless a part says so."
    yield "- **Units**: times and rates are the drive's. 1 MB is 1 000 000 bytes."
    yield from seeds(results)
    yield from together(results)
    yield ""


def iocost(suite, cells):
    """How io.cost was set, if there is any."""
    if any(one.iocost and one.label in {cell["label"] for cell in cells}
           for one in suite.schedulers):
        yield "io.cost was not tuned: its model follows from the times of the drive's " \
            "profile, and its targets are in the table. Other settings may be better."
        yield ""


def alone(cells):
    """Where claim Alone was judged at all, and with what."""
    found = piqclaims.Table(cells)
    seen = [(variant, workload) for variant in shareclaims.VARIANTS
            for workload in shareclaims.ALONE
            if any(found.change(claims.BANDWIDTH, label, "none", workload, variant)
                   for label in shareclaims.OURS)]
    if not seen:
        return
    on = list(dict.fromkeys(variant for variant, _ in seen))
    what = list(dict.fromkeys(workload for _, workload in seen))
    missing = [one for one in shareclaims.VARIANTS if one not in on]
    left = [one for one in shareclaims.ALONE if one not in what]
    absent = ["drive " + " and ".join(missing)] * bool(missing) + left
    if absent:
        yield f"Claim Alone is judged on drive {' and '.join(on)} with " \
            f"{', '.join(what)}" + (f"; not measured: {', '.join(absent)}"
                                    if absent else "") + "."
        yield ""


def explained(name, cells):
    """Drives, schedulers and loads of a suite's cells."""
    import suiteplan  # pylint: disable=import-outside-toplevel
    suite = suiteplan.load(name)
    path = f"tests/suites/{name}.suite"
    yield f"What was run, from [{path}](../{path}):"
    yield ""
    yield from drives(suite, cells)
    yield from schedulers(suite, cells)
    yield from loads(suite, cells)
    yield from iocost(suite, cells)
