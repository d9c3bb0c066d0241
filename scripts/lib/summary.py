# SPDX-License-Identifier: GPL-2.0
"""The table of results in README.md, made of what is published.

A row is one figure of one workload: of none, the kernel's schedulers, ours, and the
paper. No figure is typed but what a paper says. Below it stands, suite by suite,
which claims hold and which do not. scripts/publish-results writes it between two
lines of README.md. Of a suite of which nothing is published its page is named.

Everything here takes `published`: {name of a file in docs/results: what is in it},
where "made_of" has the runs, see scripts/lib/publish.py.
"""

import pathlib
import re

import benchall
import claims
import resultspage
import suiteplan

BEGIN = "<!-- results: made by scripts/publish-results; change that, not this -->"
END = "<!-- end of results -->"
NOTHING = "Not published yet."
KERNELS = ("none", "mq-deadline", "kyber", "bfq")
DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def _mb(value):
    return f"{value / 1e6:.0f}"


def _us(value):
    return f"{value * 1e6:.0f}" if value >= 1e-5 else f"{value * 1e6:.1f}"


def _three(value):
    return f"{value:.3f}"


def _whole(value):
    return f"{value:.0f}"


# What: (words, a metric of a cell, how it is written, is less better?)
BANDWIDTH = ("MB/s", "bandwidth_bytes_per_s", _mb, False)
REAL_TIME = ("p99.9 of real-time requests, us", "latency_p99_9_s", _us, True)
# Of suite k2-auto: of the requests that are judged, those of k2-front.md
SETTLED = ("p99 of real-time requests, us", "settled_tail_s", _us, True)
SETTLED_BANDWIDTH = ("MB/s", "settled_bandwidth_bytes_per_s", _mb, False)
READS = ("p99 of reads, us", "read_latency_p99_s", _us, True)
# As the claims take it: before and after, who sends alone gets all of it.
PV = ("PV while all send, how far shares are off", "pv_sending_charged", _three,
      True)
CPU = ("CPU ns an I/O, the submitter's included", "busy_ns_per_io", _whole, True)
# Of scripts/bench-cost, where a place is a disk and a depth
COST = ("CPU ns an I/O over none", "over_none_ns", _whole, True)
# Of scripts/locks, where a place is a number of CPUs
LOCKS = ("own locks an I/O", "own_per_io", _three, True)
# These have no workloads, and a run of them is not added to others.
OTHERS = ("cost", "locks")

_BESIDE = "random readers beside real-time work"
# (suite, workload.variant, in words, what, {column: label of its cell}, the paper)
# A column that is not named has the cell of its own name.
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
    *(("cost", f"null.{depth}", f"4 KiB random reads, depth {depth}", COST,
       {"ours": name}, "")
      for depth in (1, 32)
      for name in ("k2", "piq", "layer_read", "acfq", "hbfq")),
    *(("locks", "4", "4 KiB random reads, 4 emulated CPUs", LOCKS,
       {"ours": name}, "")
      for name in ("k2", "piq", "layer_read", "acfq", "hbfq")),
)


def command(data, run=None):
    """What makes all of a published file again; of a run that, if it is no suite's."""
    if data["kind"] != "suite":
        return resultspage.plain((run or {}).get("command") or {
            "cost": "scripts/bench-cost",
            "locks": "scripts/locks"}[data["kind"]])
    return f"scripts/bench {data['suite']} --form {data['form']}"


def traced(name, data, run=None):
    """The file, and the command."""
    return f"[{name}](docs/results/{name}.json), `{command(data, run)}`"


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
        disk, depth = place.split(".", 1)
        return claims.over_none(summary, disk, label, int(depth))
    if what is LOCKS:
        return next((cell[what[1]] for cell in summary["cells"] if (
            cell["scheduler"], cell["cpus"]) == (label, int(place))), None)
    cell = cell_of(summary, place, label)
    return (((cell or {}).get("metrics") or {}).get(what[1]) or {}).get(
        "median")


def sources(suite, published):
    """[(name of a file, it, its figures)] that a row may be made of.

    Each is one form of a suite: figures of a row are of one length. Costs of one
    kernel are compared with none of that kernel and of that run, counts of locks
    with those of their run.
    """
    for name, data in published.items():
        if data["kind"] == suite:
            for run in data["made_of"]:
                yield name, data, run
        elif data.get("suite") == suite:
            yield name, data, resultspage.together(data["made_of"], suite)


def row(spec, published):
    """A line of the table; None if we have no figure of it.

    Where several forms of the suite are published it is made of the one whose cell
    of ours has most requests: the longest. Of costs and locks the run is taken that
    was made last. What the other columns lack in there is left out, even if another file has
    it.
    """
    suite, place, words, what, labels, paper = spec
    name = labels["ours"]
    best, size = None, None
    for one in sources(suite, published):
        if figure(one[2], place, name, what) is None:
            continue
        mine = (0 if suite in OTHERS else resultspage.requests(
            cell_of(one[2], place, name)), str(one[2].get("began") or ""))
        if best is None or mine >= size:
            best, size = one, mine
    if best is None:
        return None
    file, data, summary = best
    values = {column: figure(summary, place, labels.get(column, column), what)
              for column in (*KERNELS, "ours")}
    least = (min if what[3] else max)(
        value for value in values.values() if value is not None)
    shown = [("–" if value is None else what[2](value))
             for value in values.values()]
    # The best figure stands out, whoever's it is; of few of them none is.
    if sum(values[column] is None for column in KERNELS) <= 1:
        shown = [f"**{text}**" if text == what[2](least) else text
                 for text in shown]
    return "| " + " | ".join((
        words, what[0], *shown, f"`{name}`", paper,
        traced(file, data, summary))) + " |"


def judged_of(claim):
    """A claim's name, and how much of it was judged if that is not all."""
    few = claim["holds"] is not None and claim["judged"] != claim["wanted"]
    return str(claim["id"]) + (
        f" ({claim['judged']} of {claim['wanted']} parts)" if few else "")


def verdicts(suite, published):
    """A line of the table of claims; None if the suite has none.

    Judged by all forms of it together, as its page does.
    """
    files = {name: data for name, data in published.items()
             if data.get("suite") == suite}
    runs = sorted((run for data in files.values() for run in data["made_of"]),
                  key=lambda run: str(run.get("began") or ""))
    rows = claims.evaluate(suiteplan.load(suite).claims,
                           resultspage.together(runs, suite)["cells"])
    if not rows:
        return None

    def names(verdict):
        # Names have commas.
        return "; ".join(judged_of(claim) for claim in rows
                         if claim["holds"] is verdict) or "–"
    return "| " + " | ".join((
        suite, names(True), names(False), names(None),
        "; ".join(traced(*one) for one in files.items()))) + " |"


def missing(published):
    """Lines of the table of claims for suites that have but a page."""
    there = {data.get("suite") for data in published.values()}
    for page, suites in benchall.PAGES.items():
        for suite in suites:
            if suite not in there and (DOCS / f"{page}.md").is_file():
                yield f"| {suite} | not published; see [docs/{page}.md]" \
                    f"(docs/{page}.md) | – | – | – |"


def table(published):
    """The lines between BEGIN and END."""
    rows = [line for spec in ROWS if (line := row(spec, published))]
    judged = [line for suite in dict.fromkeys(
        data["suite"] for data in published.values() if data.get("suite"))
              if (line := verdicts(suite, published))]
    if not published:
        yield NOTHING
        return
    yield "Simulated drives, virtual time: the same run at the same commit " \
        "gives the same figures; the commands here make them anew; in another " \
        "grouping of cells they differ as another seed does. bfq of the rows " \
        "on shares has `slice_idle` 0. **Bold**: the best of a row in which " \
        "at most one of the kernel's columns is empty; we lose those whose bold " \
        "figure is another's. –: not in that file. What the workloads are stands in " \
        "`tests/suites`; commit, kernel and command of each run are in " \
        "[docs/results](docs/results/README.md). A row is of the longest form " \
        "of its suite that has our figure."
    if rows:
        yield ""
        yield "| what | figure | none | mq-deadline | kyber | bfq | ours | who " \
            "| the paper's | file, command |"
        yield "|---|---|---|---|---|---|---|---|---|---|"
        yield from rows
    if judged:
        yield ""
        yield "What the papers claim and what we set ourselves, by the names " \
            "that the pages `docs/*-results.md` give it. Judged by what is " \
            "published, in brackets how much of a claim that is; the pages " \
            "have longer forms, and may say otherwise:"
        yield ""
        yield "| suite | holds | does not hold | not judged | file, command |"
        yield "|---|---|---|---|---|"
        yield from judged
        yield from missing(published)


def put(text, lines):
    """README's text with these lines; ValueError if it has no place for them."""
    if text.count(BEGIN) != 1 or text.count(END) != 1 or \
            text.index(BEGIN) > text.index(END):
        raise ValueError(f"README.md: want one line '{BEGIN}', and one "
                         f"'{END}' after it")
    return re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: "\n".join(
        (BEGIN, "", *lines, "", END)), text, flags=re.S)
