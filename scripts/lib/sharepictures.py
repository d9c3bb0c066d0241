# SPDX-License-Identifier: GPL-2.0
"""Pictures of docs/share-results.md."""

import claims
import pageplots
import piqclaims
import shareclaims
from plotting import Nothing

DRIVES = {"c": "SATA drive (C)", "d": "NVMe drive (D)"}
PAPER = ("cfq", "bfq", "acfq-paper", "hbfq-paper")
OURS = ("none", "bfq", "bfq-noidle", "iocost-c", "iocost-d", "acfq", "hbfq")


def groups(cells, variant, workloads, labels, metric):
    """Input of bars(): for each workload the labels that have the metric."""
    found = piqclaims.Table(cells)
    return {name: [(cell, "", cell["metrics"][metric]) for label in labels
                   if (cell := found.get(name, label, variant))
                   and claims.figure(cell, metric) is not None]
            for name in workloads}


def tenants(cells, variant, workload, labels, key):
    """Input of bars(): for each tenant the labels that have its latency."""
    found, rows = piqclaims.Table(cells), {}
    for label in labels:
        cell = found.get(workload, label, variant)
        for name, value in shareclaims.tenants(cell, f"latency_{key}_s").items():
            if value is not None:
                rows.setdefault(name, []).append(
                    (cell, "", cell["metrics"][f"{name}_latency_{key}_s"]))
    return rows


def paper(cells):
    """(file, title, claims that it belongs to, groups, how) of the paper's figures."""
    yield ("paper-pv.svg", "Figures 1, 14, 18, 23: PV by bytes, lower is better",
           ("Fig 1, 2", "Fig 14", "Fig 18a, b", "Fig 23"),
           groups(cells, "c", ("ycsb-a", "fileserver", *shareclaims.TRACES,
                               *shareclaims.MIXES), PAPER, "pv_sectors"),
           {"unit": "PV", "scale": 1, "log": True})
    for key, what, claim in (("stddev", "standard deviation", "Fig 20c"),
                             ("max", "longest", "Fig 20d")):
        yield (f"paper-budgets-{key}.svg", "Figure 20: H+BFQ's budgets, latency of "
               f"the tenant that has the worst, {what}", (claim,),
               worst(cells, ("bfq", "hbfq-paper", *(
                   f"hbfq-{size}" for size in shareclaims.BUDGETS)), key),
               {"unit": "ms", "scale": 1e3})


def worst(cells, labels, key):
    """Input of bars(): for the load of each trace the tenant with the largest value."""
    found = piqclaims.Table(cells)
    rows = {}
    for name in shareclaims.TRACES:
        for label in labels:
            cell = found.get(name, label, "c")
            value = shareclaims.worst(cell, f"latency_{key}_s") if cell else None
            if value is not None:
                rows.setdefault(name, []).append(
                    (cell, "", {"median": value, "min": value, "max": value}))
    return rows


def default(cells):
    """Like paper(), for the default modes."""
    for variant, drive in DRIVES.items():
        yield (f"pv-{variant}.svg", f"{drive}: PV in the unit charged, while all send; "
               "0.1 is asked for", ("PV",),
               groups(cells, variant, shareclaims.SAME + shareclaims.MIXES,
                      OURS[1:], "pv_sending_charged"),
               {"unit": "PV", "scale": 1, "log": True})
        yield (f"throughput-{variant}.svg", f"{drive}: bandwidth of all, the same load "
               "in all tenants", ("Throughput",),
               groups(cells, variant, shareclaims.SAME, OURS, claims.BANDWIDTH), {})
        for key in ("p99_9", "p99"):
            rows = tenants(cells, variant, "mix-111", OURS, key)
            if rows:
                yield (f"tail-{variant}.svg", f"{drive}: "
                       f"{key.replace('_', '.')} of each tenant, mix-111",
                       ("Tails",), rows, {"unit": "ms", "scale": 1e3})
                break


def draw(folder, *results):
    """[[(file, title, claims)]] for the results of both suites."""
    drawn = []
    for data, make in zip(results, (paper, default)):
        drawn.append([])
        for file, title, about, rows, how in make(data["cells"]) if data else ():
            try:
                folder.mkdir(parents=True, exist_ok=True)
                pageplots.bars(folder / file, rows, title, **how)
            except Nothing:
                continue
            drawn[-1].append((file, title, about))
    return drawn
