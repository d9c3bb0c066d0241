# SPDX-License-Identifier: GPL-2.0
"""docs/results/summary.md: the figures and the verdicts of all results.

A row of the first table is one figure of one workload: under none, the kernel's
schedulers and one of ours. The tables after it list the verdict on each claim, see
scripts/lib/verdicts.py. Nothing is typed but the figures of the papers.
scripts/publish-results writes the page.

`published` is {name of a file in docs/results: its content}, where "made_of" has the
runs, see scripts/lib/publish.py.
"""

import pathlib
import re

import benchall
import claims
import resultspage
import verdicts

REPO = pathlib.Path(__file__).resolve().parents[2]
KERNELS = ("none", "mq-deadline", "kyber", "bfq")
# Longest text of a part that does not hold
LONGEST = 140


def _mb(value):
    return f"{value / 1e6:.0f}"


def us(value):
    return f"{value * 1e6:.0f}" if value >= 1e-5 else f"{value * 1e6:.1f}"


def _three(value):
    return f"{value:.3f}"


def _whole(value):
    return f"{value:.0f}"


# A figure: (words, metric of a cell, format, is less better?)
BANDWIDTH = ("MB/s", "bandwidth_bytes_per_s", _mb, False)
REAL_TIME = ("p99.9 of real-time requests, us", "latency_p99_9_s", us, True)
# Suite k2-auto: only the requests after the start-up, as in k2-front.md
SETTLED = ("p99 of real-time requests, us", "settled_tail_s", us, True)
SETTLED_BANDWIDTH = ("MB/s", "settled_bandwidth_bytes_per_s", _mb, False)
READS = ("p99 of reads, us", "read_latency_p99_s", us, True)
# Only while all tenants send, as in the claims
PV = ("PV while all send, how far shares are off", "pv_sending_charged", _three,
      True)
CPU = ("CPU ns an I/O, the submitter's included", "busy_ns_per_io", _whole, True)
# Of scripts/bench-cost, where a place is a kernel, a disk and a depth. One instruction
# takes 1 ns.
COST = ("CPU instructions an I/O over none", "over_none_ns", _whole, True)
# scripts/locks, where a place is a number of CPUs
LOCKS = ("own locks an I/O", "own_per_io", _three, True)
# No suites: runs of these are not put together
OTHERS = ("cost", "locks")

_BESIDE = "random readers beside real-time work"
# (suite, workload.variant, in words, figure, {column: label of its cell}, the paper)
# A column without an entry has its name as label.
ROWS = (
    ("k2-auto", "op-rand-read.e-op", f"{_BESIDE}, bound 1", REAL_TIME,
     {"ours": "k2-1"}, "none 3251, K2-1 217"),
    ("k2", "rand-read.half-read", f"{_BESIDE}, bound 1", BANDWIDTH,
     {"ours": "k2-1"}, "none 566, K2-1 44"),
    ("k2-auto", "pareto.e", f"{_BESIDE}, bound 1, 0.1 ms apart", SETTLED,
     {"ours": "k2-1"}, ""),
    ("k2-auto", "pareto.e", f"{_BESIDE}, bound 1, 0.1 ms apart",
     SETTLED_BANDWIDTH, {"ours": "k2-1"}, ""),
    ("k2-auto", "op-rand-read.e-op", f"{_BESIDE}, bound 12, map known", REAL_TIME,
     {"ours": "k2-12-map"}, ""),
    ("k2-auto", "op-rand-read.e-op", f"{_BESIDE}, bound 12, map known", BANDWIDTH,
     {"ours": "k2-12-map"}, ""),
    ("piq", "tail.chip-bound", "deep random reads, map known", BANDWIDTH,
     {"ours": "piq"}, ""),
    ("piq", "mixed.chip-bound", "70/30 reads and writes, map known", READS,
     {"ours": "piq"}, ""),
    ("piq", "mixed.chip-bound", "70/30 reads and writes, map known", BANDWIDTH,
     {"ours": "piq"}, ""),
    ("layer_read", "mix-50.d", "reads among as many writes, 512 KiB", READS,
     {"ours": "layer_read"}, ""),
    ("layer_read", "mix-50.d", "reads among as many writes, 512 KiB", BANDWIDTH,
     {"ours": "layer_read"}, ""),
    ("share", "mix-125.d", "acfq: three tenants, weights 1:2:5", PV,
     {"bfq": "bfq-noidle", "ours": "acfq"}, ""),
    ("share", "mix-125.d", "hbfq: three tenants, weights 1:2:5", PV,
     {"bfq": "bfq-noidle", "ours": "hbfq"}, ""),
    ("share", "same-4k.d", "acfq: four tenants, 4 KiB reads", BANDWIDTH,
     {"bfq": "bfq-noidle", "ours": "acfq"}, ""),
    ("share", "same-4k.d", "hbfq: four tenants, 4 KiB reads", BANDWIDTH,
     {"bfq": "bfq-noidle", "ours": "hbfq"}, ""),
    ("share", "cost-4k.d", "acfq: four tenants", CPU, {"ours": "acfq"}, ""),
    ("share", "cost-4k.d", "hbfq: four tenants", CPU, {"ours": "hbfq"}, ""),
    *(("cost", f"{kernel}/null.{depth}",
       f"4 KiB random reads, depth {depth}, Linux {kernel}", COST,
       {"ours": name}, "")
      for kernel in ("6.12", "6.1") for depth in (1, 32)
      for name in ("k2", "piq", "layer_read", "acfq", "hbfq")),
    *(("locks", "4", "4 KiB random reads, 4 emulated CPUs", LOCKS,
       {"ours": name}, "")
      for name in ("k2", "piq", "layer_read", "acfq", "hbfq")),
)


def command(data, run=None):
    """The command that makes a published file again, or one run of it."""
    if data["kind"] != "suite":
        return resultspage.plain((run or {}).get("command") or {
            "cost": "scripts/bench-cost",
            "locks": "scripts/locks"}[data["kind"]])
    return f"scripts/bench {data['suite']} --form {data['form']}"


def traced(name, data, run=None):
    """The file, and the command."""
    return f"[{name}]({name}.json), `{command(data, run)}`"


def of_series(run, series):
    """Was a run made on a kernel of this series?"""
    return f"{run.get('kernel')}.".startswith(f"{series}.")


def cell_of(summary, place, label):
    """A cell of a suite; None if there is none."""
    workload, variant = place.split(".", 1)
    return next((cell for cell in summary["cells"] if (
        cell.get("workload"), cell.get("variant"), cell.get("label")) == (
            workload, variant, label)
        and not cell["cell"].endswith(".x1")), None)


def figure(summary, place, label, what):
    """A cell's figure; None if there is none."""
    if what is COST:
        kernel, disk, depth = re.fullmatch(r"(.*)/(.*)\.(.*)", place).groups()
        return claims.over_none(summary, disk, label, int(depth)) \
            if of_series(summary, kernel) else None
    if what is LOCKS:
        return next((cell[what[1]] for cell in summary["cells"] if (
            cell["scheduler"], cell["cpus"]) == (label, int(place))), None)
    cell = cell_of(summary, place, label)
    return (((cell or {}).get("metrics") or {}).get(what[1]) or {}).get(
        "median")


def sources(suite, published):
    """[(name of a file, its content, its figures)] that a row can be made of.

    Each is one form of a suite, so all figures of a row have one length. Costs and
    counts of locks are compared within one run, which has one kernel.
    """
    for name, data in published.items():
        if data["kind"] == suite:
            for run in data["made_of"]:
                yield name, data, run
        elif data.get("suite") == suite:
            yield name, data, resultspage.together(data["made_of"], suite)


def rank(suite, source, place, label):
    """Sort key of the sources of a row: length, then age."""
    summary = source[2]
    return (0 if suite in OTHERS else resultspage.requests(
        cell_of(summary, place, label)), str(summary.get("began") or ""))


def row(spec, published):
    """A line of the table; None without a figure of ours.

    Of several forms of a suite the row uses the longest, in which our cell has most
    requests; of costs and locks the newest run. A column that this form lacks stays
    empty even if another file has it.
    """
    suite, place, words, what, labels, paper = spec
    name = labels["ours"]
    found = [one for one in sources(suite, published)
             if figure(one[2], place, name, what) is not None]
    if not found:
        return None
    file, data, summary = max(
        found, key=lambda one: rank(suite, one, place, name))
    values = {column: figure(summary, place, labels.get(column, column), what)
              for column in (*KERNELS, "ours")}
    least = (min if what[3] else max)(
        value for value in values.values() if value is not None)
    shown = [("–" if value is None else what[2](value))
             for value in values.values()]
    # Bold marks the best value of a row, unless most columns are empty.
    if sum(values[column] is None for column in KERNELS) <= 1:
        shown = [f"**{text}**" if text == what[2](least) else text
                 for text in shown]
    return "| " + " | ".join((
        words, what[0], *shown, f"`{name}`", paper,
        traced(file, data, summary))) + " |"


# --- verdicts ----------------------------------------------------------------

def pages():
    """{(suite, claim): its verdict} of all pages of results."""
    found = {}
    for page in benchall.PAGES:
        path = REPO / "docs" / f"{page}.md"
        for key, claim in verdicts.merged(verdicts.of_page(
                path.read_text(encoding="utf-8"))).items():
            # The cost of an I/O is judged on several pages.
            found[(page, *key)] = {**claim, "page": page}
    return found


def short(text):
    """Text of a table cell, cut to LONGEST characters."""
    text = text.replace("|", "\\|")
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip(' ,;:')} ..."


def size(claim, owner):
    """Verdict and size: how many parts, of how many."""
    judged, wanted, missed = (claim[key] for key in ("judged", "wanted", "missed"))
    name = claim.get("said") or claims.WORDS[owner][claim["holds"]].capitalize()
    if claim["holds"] is None:
        return name
    text = f"{name}: {missed} of {judged}" if missed else f"{name}: {judged}"
    text += " part" if judged == 1 else " parts"
    text += " missed" if missed else ""
    return text if judged == wanted else f"{text}; {wanted - judged} not measured"


def forms_of(claim):
    """The forms that a verdict is of; where they disagree, what each says."""
    said = {one["holds"] for one in claim["all"] if one["holds"] is not None}
    if len(said) < 2:
        return ", ".join(dict.fromkeys(
            form for one in claim["all"] for form in one["forms"])) or "cost"
    return "; ".join(
        f"{', '.join(one['forms'])}: {'met' if one['holds'] else 'missed'}"
        for one in claim["all"] if one["holds"] is not None)


def verdict_table(found, owner):
    """A row a claim of one suite; nothing if the suite has no such claims."""
    rows = [claim for claim in found
            if claim["owner"] == owner]
    if not rows:
        return
    yield f"{claims.TITLES[owner]}:"
    yield ""
    yield "| claim | verdict | " \
        f"{claims.SOURCES[owner]} | first part missed | form |"
    yield "|---|---|---|---|---|"
    for claim in found:
        if claim not in rows:
            continue
        yield "| " + " | ".join((
            f"{claim['id']}: {short(claim['text'])}", size(claim, owner),
            short(claim["wants"]) or "–", short(claim["first"] or "–"),
            forms_of(claim))) + " |"
    yield ""


def differing(found, published):
    """Verdicts of single files that are not those of the pages."""
    by_key = {key[1:]: claim for key, claim in found.items()
              if key[1] != verdicts.COST}
    rows = verdicts.differing(by_key, published)
    if not rows:
        return
    yield "## Files whose form alone gives another verdict"
    yield ""
    yield "A form that judges fewer parts, or shorter runs, can miss what a longer " \
        "one meets, and the other way round. The verdict above counts. The " \
        "[report](index.html) shows single forms, so it has the verdicts here."
    yield ""
    yield "| suite | claim | above | file alone | the part that decides |"
    yield "|---|---|---|---|---|"
    for claim, name, row in rows:
        owner = claim["owner"]
        missed = [claims.observed(part) for part in row["parts"]
                  if part["holds"] is False]
        alone = {**row, "missed": len(missed), "first": (missed or [""])[0]}
        decides = claim if claim["holds"] is False else alone
        yield "| " + " | ".join((
            claim["suite"], claim["id"], size(claim, owner),
            f"[{name}]({name}.json): {size(alone, owner)}",
            short(decides["first"] or "–"))) + " |"
    yield ""


def page(published, found):
    """The lines of summary.md; found: the verdicts of pages()."""
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield "# Summary of the results"
    yield ""
    yield "Made by `scripts/publish-results`; change that, not this. Simulated " \
        "drives, virtual time: the same run at the same commit gives the same " \
        "figures. Another grouping of cells differs as another seed does. Workloads " \
        "are in `tests/suites`; commit, kernel and command of each run are in [the " \
        "list of files](README.md)."
    yield ""
    yield "## Figures"
    yield ""
    yield "**Bold** marks the best value of a row with at most one empty column of " \
        "the kernel's. –: not in that file. A row uses the longest form of its suite " \
        "that has our figure. In the rows on shares bfq has `slice_idle` 0. PV, the " \
        "share error: mean distance from the weights, in shares of the lightest " \
        "tenant; 0 is exact."
    yield ""
    rows = [line for spec in ROWS if (line := row(spec, published))]
    if rows:
        yield "| workload | figure | none | mq-deadline | kyber | bfq | ours " \
            "| scheduler | the paper | file, command |"
        yield "|---|---|---|---|---|---|---|---|---|---|"
        yield from rows
    else:
        yield "Nothing is published yet."
    yield ""
    yield "## Verdicts"
    yield ""
    yield "Each verdict is that of the linked page, which has all parts of the claim " \
        "with their figures. A claim of a paper is reproduced, an aim of ours is met, an " \
        "input is fitted, if all measured parts are, in each form on the page that " \
        "judges it. On [tenants that pause](../share-living-results.md) a part is a load, " \
        "and a figure is reproduced if one load shows it."
    yield ""
    for name, suites in benchall.PAGES.items():
        for suite in (*suites, verdicts.COST):
            own = [claim for key, claim in found.items()
                   if key[:2] == (name, suite)]
            if own:
                yield f"### {suite}: [{name}.md](../{name}.md)"
                yield ""
                for owner in claims.TITLES:
                    yield from verdict_table(own, owner)
    yield from differing(found, published)
