# SPDX-License-Identifier: GPL-2.0
"""scripts/layer_read-results: writes docs/layer_read-results.md.

Takes the directories of results that it is given, of suites layer_read-paper and
layer_read and of scripts/bench-cost; without one, the newest of each form below
build/results and what is published in docs/results. Of a cell that several have the last
one's figure counts, of several forms that with most requests. Pictures go into a
directory beside the page, named as it. No figure and no verdict there is typed but
what the paper says.

With --estimate FORM it says how long `make bench-layer_read` takes.
"""

import sys

import claims
import layerclaims
import layerlimits
import options
import resultspage
from claims import BANDWIDTH, figure
from layerclaims import CURVES, DRIVE, GAINS, METRIC, PURE
from piqclaims import Table, percent, ratio
from resultspage import DASH, claim_list, facts, plain, table

NAME = "layer_read-results"
PAGE = resultspage.REPO / "docs" / f"{NAME}.md"
SUITES = ("layer_read-paper", "layer_read")
MIXES = ("mix-50", "mix-70")
# The Makefile's own, measured on two cores without KVM; what it takes
COST_COMMAND = "scripts/bench-cost --schedulers none,mq-deadline,layer_read " \
    "--disks null --depths 1,32 --no-locks"
COST_SECONDS = 60


def text(value, form="{:.1f}", scale=1.0):
    """A figure, or a dash."""
    return DASH if value is None else form.format(value * scale)


def chosen(args):
    """(results of each suite, costs with layer_read) of what args name, or of all.

    None where there are none. ValueError.
    """
    found = resultspage.all_of(args, SUITES)
    return [resultspage.together(found, name) for name in SUITES], next(
        (one for one in reversed(found)
         if claims.over_none(one, "null", "layer_read", 32) is not None), None)


# --- tables ------------------------------------------------------------------

def gains(cells):
    """The paper's gains beside ours."""
    found = Table(cells)
    rows = []
    for (workload, way, base), paper in GAINS.items():
        pair = [found.get(workload, label, DRIVE) for label in ("paper",
                                                                base)]
        ours = ratio(*pair, METRIC[way])
        rows.append([
            workload, f"{way}s", base,
            "+1.5 to 2.1 %" if workload == "rand-read" else percent(paper),
            DASH if not ours else percent(ours[0] - 1),
            DASH if not ours or ours[1] == ours[2] else
            f"{percent(ours[1] - 1)} to {percent(ours[2] - 1)}",
            *(text(figure(cell, METRIC[way]), scale=1e-6) for cell in pair)])
    yield from table(["load", "of", "over", "paper", "here", "95 %",
                      "paper mode, MB/s", "the other, MB/s"], rows)


def labels_of(cells, workloads, end=""):
    """Labels that were measured on these, in the order of the suite.

    Points of curves are none, but for those with this end.
    """
    return list(dict.fromkeys(
        cell["label"] for cell in cells
        if cell["workload"] in workloads and cell["variant"] == DRIVE and
        (cell["label"].endswith(end) if end else not on_curve(cell))))


def on_curve(cell):
    """Is it a point of a curve over readahead or queue depth?"""
    return bool({"read_ahead_kb", "queue_depth"} & set(cell["tunables"]))


def one_way(cells, names, prefix=""):
    """Throughput of workloads of one direction, a row a label."""
    found = Table(cells)
    labels = labels_of(cells, [prefix + name for name in names])
    yield from table(["MB/s", *names], [[label] + [
        text(figure(found.get(prefix + name, label, DRIVE),
                    METRIC[layerclaims.way_of(name)]), scale=1e-6)
        for name in names] for label in labels])


def both_ways(cells, names, end=""):
    """Reads and writes, a row a label."""
    found = Table(cells)
    yield from table(
        ["MB/s", *(f"{name}, {way}s" for name in names for way in METRIC)],
        [[label] + [text(figure(found.get(name, label, DRIVE), METRIC[way]),
                         scale=1e-6) for name in names for way in METRIC]
         for label in labels_of(cells, names, end)])


def files(cells):
    """PostMark."""
    found = Table(cells)
    names = [f"postmark-{count}" for count in layerclaims.FILES]
    yield from table(
        ["transactions a second",
         *(f"{count} files" for count in layerclaims.FILES)],
        [[label] + [text(figure(found.get(name, label, DRIVE),
                                "transactions_per_s"), "{:.0f}")
                    for name in names] for label in labels_of(cells, names)])


def ablations(cells):
    """The paper's mode with one thing changed."""
    found = Table(cells)
    rows = []
    for workload, way in (("seq-read", "read"), ("mix-50", "read"),
                          ("mix-50", "write")):
        for label in labels_of(cells, [workload]):
            if not label.startswith("paper-"):
                continue
            pair = [found.get(workload, one, DRIVE)
                    for one in (label, "paper")]
            ours = ratio(*pair, METRIC[way])
            if ours:
                rows.append([label, workload, f"{way}s",
                             text(figure(pair[0], METRIC[way]), scale=1e-6),
                             percent(ours[0] - 1)])
    yield from table(["setting", "load", "of", "MB/s", "against paper"], rows)


def causes(cells, variants=(DRIVE,)):
    """The requests that reached the drive, and their order."""
    rows = []
    for cell in cells:
        if cell["variant"] not in variants or (
                on_curve(cell) and variants == (DRIVE,) and
                not cell["workload"].startswith("depth-")) or \
                figure(cell, "turns_per_1000") is None:
            continue
        rows.append([cell["workload"], *([cell["variant"]] if
                                         len(variants) > 1 else []),
                     cell["label"],
                     *(text(figure(cell, f"{way}_request_bytes"), "{:.0f}",
                            1 / 1024) for way in METRIC),
                     *(text(figure(cell, f"{way}_merged_share"), "{:.1%}")
                       for way in METRIC),
                     text(figure(cell, "outstanding_max"), "{:.0f}"),
                     text(figure(cell, "active_bytes_per_s"), scale=1e-6),
                     text(figure(cell, "turns_per_1000"), "{:.0f}"),
                     text(figure(cell, "adjacent_share"), "{:.1%}"),
                     text(figure(cell, "utilisation_milli"), "{:.1f}", 1e-3),
                     *(text(figure(cell, f"{way}_die_wait_s"), "{:.0f}", 1e6)
                       for way in METRIC),
                     *(text(figure(cell, f"{key}_per_1000"), "{:.0f}")
                       for key in ("moves", "expired_reads")),
                     text(figure(cell, "busy_share"), "{:.0%}")])
    yield from table(
        ["load", *(["drive"] if len(variants) > 1 else []), "scheduler",
         "KiB a read", "KiB a write", "reads merged", "writes merged",
         "most in the drive", "MB/s while busy", "turns of 1000", "adjacent", "busy chips", "a read waits for its "
         "dies, us", "a write", "sub-layers of 1000", "expired", "CPU"], rows)


CURVE_TEXT = {
    "read_ahead_kb": "readahead, KiB (the kernel's own is 512 here; "
                     "in the paper 128)",
    "queue_depth-reads": "what the drive holds at once (its own is 32)",
    "queue_depth": "what the drive holds at once (its own is 32)",
    "turn_ns": "what a change of direction costs the drive, ns (profile B: "
               "nothing)",
    "turn_ns-qd4": "the same on a drive that holds 4 requests at once"}


def curve_tables(cells):
    """The curves, and where on them the paper's gain is."""
    for name, one, way in ((name, one, way) for name, one in CURVES.items()
                           for way in one.ways):
        workload, knob = one.workload, one.knob
        found = layerclaims.curve(cells, name, way)
        yield f"#### {workload}, {way}s: {CURVE_TEXT[name]}"
        yield ""
        if len(found) < 2:
            yield "Not measured."
            yield ""
            continue
        yield from table(
            [knob, *(f"{label}, MB/s" for label in layerclaims.CURVED),
             "paper over none", "over mq-deadline"],
            [[str(at)] + [text(values.get(label), scale=1e-6)
                            for label in layerclaims.CURVED]
             + [percent(values["paper"] / values[base] - 1)
                if "paper" in values and values.get(base) else DASH
                for base in ("none", "mq-deadline")]
             for at, values in found.items()])
        for base in ("none", "mq-deadline"):
            wanted = GAINS.get((workload, way, base))
            points, first, best = layerclaims.appears(found, base, wanted)
            if points:
                yield f"Over {base} the paper's {percent(wanted)}: " + (
                    f"first at {first[0]} ({percent(first[1])})" if first
                    else "at none of these") + \
                    f"; most: {percent(best[1])} at {best[0]}."
                yield ""


def mixes(cells):
    """Reads among writes in mode auto."""
    rows = []
    for cell in cells:
        if cell["workload"] in MIXES:
            rows.append([cell["workload"], cell["variant"], cell["label"],
                         *(text(figure(cell, metric), "{:.0f}", 1e-6)
                           for metric in (BANDWIDTH, *METRIC.values())),
                         *(text(figure(cell, f"{way}_latency_{key}_s"),
                                "{:.2f}", 1e3) for way in METRIC
                           for key in ("p50", "p99", "max"))])
    yield from table(["load", "drive", "scheduler", "MB/s", "reads",
                      "writes", "read p50, ms", "p99", "longest",
                      "write p50, ms", "p99", "longest"], rows)


def pure(cells):
    """Patterns of one direction."""
    found = Table(cells)
    rows = []
    for workload, variant in layerclaims.pure_workloads(found):
        none = found.get(workload, "none", variant)
        for label in dict.fromkeys(cell["label"] for cell in cells):
            cell = found.get(workload, label, variant)
            if cell is None or label == "none":
                continue
            ours = ratio(cell, none, BANDWIDTH)
            rows.append([workload, variant, label,
                         *(text(figure(one, BANDWIDTH), scale=1e-6)
                           for one in (none, cell)),
                         text(ours and ours[0], "{:.1%}")])
    yield from table(["load", "drive", "scheduler", "none, MB/s", "MB/s",
                      "of none's"], rows)


def costs(summary):
    """CPU time over none."""
    rows = [[label, *(text(claims.over_none(summary, "null", label, depth),
                           "{:.0f}") for depth in (1, 32))]
            for label in ("mq-deadline", "layer_read")]
    yield from table(["ns an I/O over none", "depth 1", "depth 32"], rows)


# --- the page ----------------------------------------------------------------

INTRO = """\
The paper's gains are typed from it, all else is measured. Paper: NOOP, Deadline and
CFQ of Linux 2.6.34 on a Kingston V300 of 60 GB; here none, mq-deadline and bfq on
[flashsim](flashsim.md), in virtual time; rates and times are the drive's. `–`: not
measured."""
PAPER = """\
Profile B (16 dies of 16 KiB pages, chip_fifo, static CWD), half full. Each run has an
ext4 that was just made, with 16 files of 64 MiB or one of 1 GiB: a 16th of the paper's,
as the drive is. Figures 1, 2 and 7 go through the page cache with 16 processes, a
write until all is on the drive; Figures 3 and 8 past it with a depth.
[tests/suites/layer_read-paper.suite](../tests/suites/layer_read-paper.suite) says what
differs from the paper."""
CAUSE = """\
What reached the drive. Where the most that it held is all that a load keeps
outstanding, nothing waited in front of it, and no order could matter. While busy: all
that it moved, readahead that nobody wanted and the file system's own, too; 550 MB/s is
its link, and what reads in order have of it no order can raise. Turns: requests
that go the other way than the one before. Adjacent: those that begin where the one
before of their direction ended. What a request waits for its dies is the sum over its
pages. Sub-layers, expired: how often layer_read went on to another one, and reads that
went for their deadline."""
CURVES_INTRO = """\
The profile is frozen; here one number of it or of the kernel varies (form `full`)."""
DEFAULT = """\
Profiles D and F, `chip_fifo` and `read_first`, full and overwritten once; -half: half
full, written once; -static: pages by address, whose layout `layer_read-map` is told.
512 KiB at depth 16, half or 70 of 100 of them reads."""
def section(title, lines):
    """A table under its title; one without a row says so."""
    lines = list(lines)
    yield f"### {title}"
    yield ""
    yield from lines if len(lines) > 3 else ("Not measured.", "")


def page(paper, default, cost, limits, pictures=()):
    """The whole page, line by line.

    limits: what layerlimits.printed() gives.
    """
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield f"<!-- Made by scripts/{NAME}; change that, not this. -->"
    yield "# Layer_Read: results"
    yield ""
    yield "    make bench-layer_read                         # short forms, " \
        "cost, then this page"
    yield "    make bench-layer_read FORM=full               # ablations, " \
        "curves, every baseline swept"
    yield "    scripts/bench layer_read-paper --form seeds   # ranges, of " \
        "layer_read too"
    yield "    scripts/bench layer_read-paper --form postmark"
    yield f"    scripts/{NAME}                    # this page again"
    yield ""
    yield INTRO
    yield ""
    yield "## The paper's figures"
    yield ""
    yield PAPER
    yield ""
    yield facts(paper)
    yield ""
    cells = paper["cells"] if paper else []
    yield from claim_list(layerclaims.paper(cells))
    yield "### Gains, the paper's beside ours"
    yield ""
    yield from gains(cells)
    if paper:
        for title, lines in (
                ("Figures 1 and 7", one_way(cells, PURE)),
                ("Figure 2: by what is sorted",
                 one_way(cells, PURE, "sizes-")),
                ("Figure 3: 16 KiB, half reads", both_ways(
                    cells, [f"depth-{depth}" for depth in
                            layerclaims.DEPTHS])),
                ("Figure 3 on a drive that holds 4 requests at once",
                 both_ways(cells, ["depth-32"], "-qd4")),
                ("Figure 8: 512 KiB, depth 16", both_ways(cells, MIXES)),
                ("Figure 9: PostMark", files(cells)),
                ("Ablations", ablations(cells))):
            yield from section(title, lines)
        yield "### Why"
        yield ""
        yield CAUSE
        yield ""
        yield from causes(cells)
        yield "### What would make the gains appear"
        yield ""
        yield CURVES_INTRO
        yield ""
        yield from curve_tables(cells)
    yield "## Mode auto"
    yield ""
    yield DEFAULT
    yield ""
    yield facts(default)
    yield ""
    cells = default["cells"] if default else []
    yield from claim_list(layerclaims.default(cells))
    if default:
        for title, lines in (
                ("Reads among writes", mixes(cells)),
                ("Why", causes(cells, list(dict.fromkeys(
                    cell["variant"] for cell in cells)) + [""])),
                ("One direction", pure(cells))):
            yield from section(title, lines)
    yield from layerlimits.lines(limits)
    yield "## What an I/O costs the CPU"
    yield ""
    yield f"`{COST_COMMAND}`: 4 KiB random reads on null_blk, 1 ns an " \
        "instruction."
    yield ""
    yield f"Kernel {cost.get('kernel')}, commit {cost.get('commit')}. " \
        f"`{plain(cost.get('command'))}`" if cost else "**Not measured yet.**"
    yield ""
    yield from claim_list(layerclaims.cost(cost))
    if cost:
        yield from costs(cost)
    if pictures:
        yield "## Pictures"
        yield ""
        for file, caption in pictures:
            yield f"![{caption}]({file})"
            yield ""
    for one in (paper, default):
        for line in (one or {}).get("left_out") or ():
            yield f"Left out: {line}."
            yield ""


def estimate(form):
    """Lines about how long both suites and the cost take."""
    import suite as engine  # pylint: disable=import-outside-toplevel
    import suiteplan  # pylint: disable=import-outside-toplevel
    from suitetime import Speeds, total_seconds  # pylint: disable=C0415
    whole, parts = 0, []
    for name in SUITES:
        one = suiteplan.load(name)
        if form not in one.forms:
            raise ValueError(f"--estimate {form}: want one of "
                             + ", ".join(one.forms))
        runs = suiteplan.runs(one, form)
        seconds = total_seconds(runs, Speeds(), engine.MACHINES)
        whole += seconds
        parts.append(f"{name} {options.minutes(seconds)} "
                     f"({len(runs)} runs)")
    whole += COST_SECONDS
    return f"form {form}: about {options.minutes(whole)} in all: " \
        + ", ".join(parts) + f", bench-cost {COST_SECONDS} s"


def draw(out, paper, default):
    """Pictures of the page `out`; [(path for it, caption)]."""
    folder = resultspage.emptied(out)
    if not paper and not default:
        return []
    import layerplots  # pylint: disable=import-outside-toplevel
    return [(f"{folder.name}/{file}", caption) for file, caption in
            layerplots.draw(folder, paper, default)]


@resultspage.in_one_line(NAME)
def main(argv=None):
    """Command line."""
    parser = resultspage.parser(NAME, __doc__, PAGE, SUITES)
    parser.add_argument("--estimate", metavar="FORM",
                        help="say how long that form takes, and nothing else")
    args = parser.parse_args(sys.argv[1:] if argv is None else argv)
    try:
        if args.estimate:
            print(f"{NAME}: {estimate(args.estimate)}", flush=True)
            return 0
        results, cost = chosen(args)
    except ValueError as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 2
    status = resultspage.kept(NAME, args, PAGE, SUITES, results)
    if status:
        return status
    # A compiler, for the limits.
    options.need("unit", "bench")
    try:
        limits = layerlimits.printed()
    except layerlimits.Failed as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 1
    pictures = draw(args.out, *results)
    resultspage.write(NAME, args.out, page(*results, cost, limits, pictures),
                      SUITES, results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
