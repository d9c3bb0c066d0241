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
from resultspage import table

fairness = options.later("fairness")

# An example for PV
WEIGHTS = (1, 2, 4, 5)

LABELS = {
    "none": "no scheduler",
    "mq-deadline": "the kernel's; knows no tenants",
    "bfq": "the kernel's BFQ, as it comes; told the weights",
    "bfq-noidle": "the same, which waits for nobody and raises no weights",
    "iocost-c": "the kernel's io.cost, no scheduler below; the model is drive c's",
    "iocost-d": "the same with drive d's model",
    "cfq": "what the paper says of CFQ, a mode of our module and not the kernel's old "
           "CFQ: one tenant after the other, charged by the request",
    "cfq-time": "the same, charged by the time of its turn",
    "cfq-sectors": "the same, charged by the sector",
    "cfq-qd1": "as cfq, on a drive that takes one request at a time",
    "cfq-antic": "as cfq; waits for a tenant that pauses",
    "acfq-paper": "A+CFQ as the paper has it: charged by the sector, waits for a tenant "
                  "that pauses",
    "acfq-noantic": "the same without waiting",
    "hbfq-paper": "H+BFQ as the paper has it: budgets of sectors",
    "hbfq-N": "the same; N sectors are the budget of who has used up its own",
    "acfq": "ours, as it comes: charges sectors",
    "acfq-D": "ours; at most D requests in the drive",
    "hbfq": "ours, as it comes: charges the drive's time, as it has learned it",
    "hbfq-D": "ours; at most D requests in the drive",
}
DRIVES = {
    "c": "a SATA drive, after the paper's",
    "d": "an NVMe drive",
    "c-1ch": "c with one channel",
    "c-nocache": "c without its write buffer",
}
LOADS = (
    (r"(ycsb-[ad]|fileserver)$", "four tenants; reads and sizes of the paper's Table 2"),
    (r"fileserver-[rw]$", "as fileserver, one direction"),
    (r"(msn|prj|prn)$", "four tenants; a stand-in for the paper's trace of that name"),
    (r"rand-", "four tenants; one size, one direction"),
    (r"alone-", "one tenant, by itself"),
    (r"same-wide$", "four tenants, one of much weight"),
    (r"same-", "four tenants, all with the load that the name ends in"),
    (r"deep-", "as same-4k, with more outstanding"),
    (r"even-", "as same-4k, with equal weights"),
    (r"cost-", "as same-4k, for what a scheduler costs the CPU"),
    (r"mix-", "three tenants with the loads msn, prj and prn; the weights are in the "
              "name"),
    (r"like-", "as mix, but without a scheduler: each has as many outstanding as bring "
               "it about the part that these weights ask for"),
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
    found = sorted({seed for data in results if data
                    for one in data.get("made_of", [data])
                    for each in one["seed_uses"].values() for seed in each})
    if not found:
        return
    if len(found) > 1:
        yield "- **Seeds**: " + ", ".join(map(str, found)) + "; a figure is the " \
            "median of those that its cell was run with."
        return
    yield f"- **One seed**: everything here is of seed {found[0]}. The lab repeats: " \
        "the same run at the same commit gives the same figures, bit for bit " \
        "([why](lab.md#virtual-time)); in another grouping of cells they differ " \
        "as another seed does. No error is given. " \
        "With another seed addresses, directions and sizes come in another order. " \
        "What that would change was not measured: where two figures are close, " \
        "their order may be that of this seed."


def together(results):
    """How figures of several runs are put together."""
    if any(data and data.get("made_of") for data in results):
        yield "- **Runs**: cells were not all run at one time, nor at one commit. Each " \
            "part lists its runs; of a cell that is in several of one form, the last " \
            "one listed counts, and of several forms the one with most requests."


def words(results):
    """The list of words."""
    example = fairness.pv(WEIGHTS, [1] * len(WEIGHTS))
    yield "- **Tenant**: a fio job in a control group of its own, with a weight, on " \
        "a part of the drive of its own. It always keeps as many requests " \
        "outstanding as the table of loads says, and never pauses."
    yield "- **PV**, proportionality variation, is the paper's measure: divide what " \
        "each tenant got by what the one of the smallest weight got (of several the " \
        "first), divide weights by that weight, and take the mean, over the tenants, " \
        "of how far the one is from the other. 0: everybody got just what its weight " \
        "says. 1: on average a tenant is off by as much as the lightest one got in all. " \
        "There is no largest value. With weights " + ":".join(map(str, WEIGHTS)) + \
        f" and the same for everybody it is {example:g}."
    yield "- **Got**, in which unit: *by bytes*, *by requests*; *by chip time*, for " \
        "which the drive's chips worked on a tenant's requests; *in the unit " \
        "charged*, by which the scheduler itself reckons: acfq by sectors, hbfq by " \
        "time, io.cost by its model. What reckons nothing, or does not say so, is " \
        "judged by sectors. The paper's figures are by bytes."
    yield "- **While all send**: from the last tenant's first request until the " \
        "first one has no more to send."
    yield f"- **Window**: so long that the tenant with the fewest requests ends " \
        f"{fairness.WINDOW_REQUESTS} of them. **Inversion**: a pair of tenants in a " \
        "window of which the one with more weight got less. *PV over windows* is " \
        "the median of those of all windows."
    yield "- **In the drive**, in brackets: how many requests the drive had on " \
        "average, first under the scheduler that is judged, then under the one that " \
        "is named."
    yield "- **Behind a semicolon**: the same in another unit, or of another " \
        "scheduler, from the least to the largest of these loads."
    yield "- **Reproduced** is a claim of a paper, **met** an aim of ours, if each of " \
        "its parts is. Of the paper's figures the order is judged (nearer, shorter, " \
        "more), and not the size, unless a part says so."
    yield "- **Units**: times and rates are the drive's. MB/s: 1 000 000 bytes a second."
    yield from seeds(results)
    yield from together(results)
    yield ""


def iocost(suite, cells):
    """How io.cost was set, if there is any."""
    if any(one.iocost and one.label in {cell["label"] for cell in cells}
           for one in suite.schedulers):
        yield "io.cost is not tuned, and nothing of it was swept: its model was " \
            "computed from the times of the drive's profile, its targets are those of " \
            "the table. Set otherwise it may do better."
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
    if missing or left:
        yield f"Alone: judged on drive {' and '.join(on)} with {', '.join(what)}" + (
            f"; not on drive {' and '.join(missing)}" if missing else "") + (
            f"; not with {', '.join(left)}" if left else "") + "."
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
