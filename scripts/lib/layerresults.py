# SPDX-License-Identifier: GPL-2.0
"""scripts/layer_read-results: writes docs/layer_read-results.md.

Takes the directories of results that it is given, of suites layer_read-paper and
layer_read and of scripts/bench-cost; without one, the newest of each form below
build/results and what is published in docs/results. If several runs of a form
have a cell, the last one counts; of several forms, the one with most requests. Pictures
are in a directory beside the page. All figures and verdicts are computed from results;
only the paper's own figures are constants.

With --estimate FORM it says how long `make bench-layer_read` takes.
"""

import sys

import claims
import layerclaims
import layerlimits
import options
import resultspage
from claims import BANDWIDTH, figure
from layerclaims import DRIVE, METRIC, PURE
from piqclaims import Table, percent, ratio
from resultspage import DASH, claim_list, facts, plain, table

NAME = "layer_read-results"
PAGE = resultspage.REPO / "docs" / f"{NAME}.md"
SUITES = ("layer_read-paper", "layer_read")
MIXES = ("mix-50", "mix-70")
# Costs are of this kernel if there are any of it
KERNEL = "6.12."
# The Makefile's own, measured on two cores without KVM; what it takes
COST_COMMAND = "scripts/bench-cost --schedulers none,mq-deadline,layer_read " \
    "--disks null --depths 1,32 --no-locks"
COST_SECONDS = 60


def text(value, form="{:.1f}", scale=1.0):
    """A figure, or a dash."""
    return DASH if value is None else form.format(value * scale)


def collect(args, suites):
    """The results of each suite, then the newest costs with layer_read, if possible those
    on KERNEL beside mq-deadline's.

    None where there are none. ValueError.
    """
    found = resultspage.all_of(args, suites)
    costs_ = [one for one in reversed(found)
              if claims.over_none(one, "null", "layer_read", 32) is not None]
    return [*(resultspage.together(found, name) for name in suites),
            max(costs_, default=None, key=lambda one: (
                str(one.get("kernel")).startswith(KERNEL),
                claims.over_none(one, "null", "mq-deadline", 32) is not None))]


# --- tables ------------------------------------------------------------------

def labels_of(cells, workloads, variant=DRIVE):
    """Labels that were measured on these, in the order of the suite."""
    return list(dict.fromkeys(
        cell["label"] for cell in cells
        if cell["workload"] in workloads and cell["variant"] == variant))


def one_way(cells, names, prefix="", variant=DRIVE):
    """Throughput of workloads of one direction, a row a label."""
    found = Table(cells)
    labels = labels_of(cells, [prefix + name for name in names], variant)
    yield from table(["MB/s", *names], [[label] + [
        text(figure(found.get(prefix + name, label, variant),
                    METRIC[layerclaims.way_of(name)]), scale=1e-6)
        for name in names] for label in labels])


def both_ways(cells, names, variant=DRIVE):
    """Reads and writes, a row a label."""
    found = Table(cells)
    yield from table(
        ["MB/s", *(f"{name}, {way}s" for name in names for way in METRIC)],
        [[label] + [text(figure(found.get(name, label, variant), METRIC[way]),
                         scale=1e-6) for name in names for way in METRIC]
         for label in labels_of(cells, names, variant)])


def files(cells, variant):
    """PostMark."""
    found = Table(cells)
    names = [f"postmark-{count}" for count in layerclaims.FILES]
    yield from table(
        ["transactions a second",
         *(f"{count} files" for count in layerclaims.FILES)],
        [[label] + [text(figure(found.get(name, label, variant),
                                "transactions_per_s"), "{:.0f}")
                    for name in names] for label in labels_of(cells, names, variant)])


def causes(cells):
    """The requests that reached the drive, and their order."""
    rows = []
    for cell in cells:
        if figure(cell, "turns_per_1000") is None:
            continue
        rows.append([cell["workload"], cell["variant"], cell["label"],
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
        ["load", "drive", "scheduler", "KiB a read", "KiB a write", "reads merged", "writes merged",
         "most in the drive", "MB/s while busy", "turns of 1000", "adjacent", "busy chips", "a read waits for its "
         "dies, us", "a write", "sub-layers of 1000", "expired", "CPU"], rows)


def gain_grid(cells, workload, knob, unit):
    """The gain of mode paper, a row each number of requests in the drive."""
    rows, costs = [], sorted({cost for base in layerclaims.BASES for _, cost in
                              layerclaims.grid(cells, workload, knob, base, "read")})
    for way, base in ((way, base) for base in layerclaims.BASES for way in METRIC):
        found = layerclaims.grid(cells, workload, knob, base, way)
        for held in sorted({held for held, _ in found}):
            rows.append([f"{way}s over {base}", str(held), *(
                percent(found[held, cost]) if (held, cost) in found else DASH
                for cost in costs)])
    yield from table(["of", "requests in the drive",
                      *(f"{unit} {cost / 1000:g} ms" for cost in costs)], rows)


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
The paper compares NOOP, Deadline and CFQ of Linux 2.6.34 on a Kingston V300 of 60 GB. This
page compares none, mq-deadline and bfq on [flashsim](flashsim.md), in virtual time. Rates and
times are the drive's. `–`: not measured. In the column *here*, bold marks a part that does
not hold."""
PAPER = """\
Profile B (16 dies of 16 KiB pages, chip_fifo, static CWD), half full. Each run uses a new
ext4 with 16 files of 64 MiB or one of 1 GiB. Files and drive have a 16th of the paper's
size. In Figures 1, 2 and 7, 16 processes use the page cache, and a run of writes ends
when all data are on the drive. Figures 3 and 8 use direct I/O at a fixed depth.
[tests/suites/layer_read-paper.suite](../tests/suites/layer_read-paper.suite) says what
differs from the paper.

The paper does not say how many requests its drive held. Its Figures 3 and 8 show
differences at depths of 8 and 16. If a drive holds 31 requests, as SATA drives can, the
scheduler has none of these to order. So the paper's drive held fewer than 8; one and two
were tried. Figures 3 and 8 are judged where *{mixed}*, behind a queue of 128 requests as in
Linux 2.6.34. Profile B itself has no cost of turns. Turns of 0 to 0.5 ms were tried first,
but at best (2 requests, 0.5 ms) one of Figure 8's four gains over NOOP was 4 % of the
throughput too small with report seeds. So 0.6, 0.65 and 0.7 ms were tried with seeds
{tuning}, and 0.6 was chosen: all four differ from the paper's by at most {points:.0%} of the
throughput. So Figure 8 over NOOP shows only that such a drive is possible; Figure 3, and
Figure 8 over Deadline, test it. Figure 9 was missed where the drive holds 32 requests; then,
before it ran here, it was moved to this drive. Figures 1, 2 and 7 are of one direction, and
are judged where *{like}*."""
WORDS = """\
Words in the tables:

- *none*, *mq-deadline*, *bfq*: the kernel's, for the paper's NOOP, Deadline and CFQ.
  *deadline-no-fm*: mq-deadline with `front_merges` = 0. *Mode paper*: layer_read with
  `mode` = paper.
- *seq-read*, *rand-write* and so on: 16 KiB, one direction. *sizes-*: the same with 4,
  128 and 512 KiB. *depth-N*: 16 KiB, half of them reads, N requests outstanding. *mix-50*,
  *mix-70*: 512 KiB, 50 or 70 % reads, 16 requests outstanding.
- *sector*, *fifo*, *small*, *big*: layer_read without sub-layers dispatches by address, by
  arrival, the smallest or the largest first. *Batches of N*: at most N requests of one
  direction before it turns to the other.
- *b*: profile B as it is. *A turn*: a request of another direction than the one
  before. *A jump*: a request that does not continue the one before.
- *One seed*: no interval. Otherwise the brackets have the 95 % interval over seeds."""
DEFAULT_WORDS = """\
*layer_read*: mode auto. *layer_read-map*: with the drive's layout. *d*, *f*: profiles D and
F. *-read-first*: the drive serves reads first. *read-4k*, *randwrite-4k* and so on: one
direction, in sequence or at random. *A ratio* is over the scheduler that the text names."""
WHY = """\
- If the drive holds as many requests as are outstanding, the scheduler has none to order,
  so its order has no effect.
- A scheduler gains by avoiding turns. Where the figures are judged, mode paper turns at
  {turns_paper} of 1000 requests, mq-deadline at {turns_deadline}, none at {turns_none}.
  Each turn costs the same time, so the gain over none grows with that cost. Loads of one
  direction have few turns, apart from sequential writes.
- Without a cost of turns (first column), only a drive that holds two requests has a gain
  beyond 1 %: two reads, or two writes, overlap better than a read and a write."""
OTHERS = """\
Other parts that do not hold, by what [reached the drive]({folder}/figures.md#why):

- *Figure 2, reads in order*: in order of address most requests adjoin the one before, and
  reads wait longest for their dies; sorted by size few do, and they wait least. Nothing in
  this drive makes requests faster that adjoin.
- *Figure 7, random reads*: in any order a read waits equally short for its dies, and nothing
  in this drive depends on the distance between addresses.
- *Figure 7, writes at random*: with mode paper a write waits less for its dies than with
  none and mq-deadline, so it gains where the paper's drive did not.
- *Figure 8*: if the drive holds two requests, 70/30 gains over Deadline at each cost of
  turns. The paper does not say why it lost.
- *Figure 9*: mode paper merges more writes than none, with 5000 files (a write has
  {paper_5000} KiB, with none {none_5000}) and with 20 000 ({paper_20000}, {none_20000})."""
SEQUENTIAL = """\
Readahead merges sequential reads into large requests, and the drive reaches the rate of
its link in any order. Order can save only a cost of commands that do not continue the one
before, as on a drive that has to load its map. No profile has such a cost; this table
varies it. The paper's gains are {none} over NOOP and {deadline} over Deadline."""
DEFAULT = """\
Profiles D and F, `chip_fifo` and `read_first`, full and overwritten once. -half: half
full, written once. -static: the address determines the chip, and `layer_read-map` gets
that layout. Requests have 512 KiB, at depth 16; 50 or 70 % are reads."""
CAUSE = """\
The rows describe the requests that reached the drive. *MB/s while busy*: all data that the
drive moved, with unused readahead and the file system's own. *Turns*: requests of
another direction than the one before. *Adjacent*: requests that begin where the
last one of their direction ended. *A read waits for its dies*: the sum over its pages.
*Sub-layers*: how often layer_read changed to another one. *Expired*: reads that were
dispatched because of their deadline."""


def section(title, lines):
    """A table under its title; one without a row says so."""
    lines = list(lines)
    yield f"### {title}"
    yield ""
    yield from lines if len(lines) > 3 else ("Not measured.", "")


def figures(paper, default):
    """The page of all figures."""
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield f"<!-- Made by scripts/{NAME}; change that, not this. -->"
    yield "# Layer_Read: all figures"
    yield ""
    yield "Times are the drive's. -qdN: the drive holds N requests; b-turnN, b-jumpN: a " \
        "turn, or a command that does not continue the one before, costs N us. `–`: not " \
        "measured."
    yield ""
    cells = paper["cells"] if paper else []
    variants = list(dict.fromkeys(cell["variant"] for cell in cells))
    for title, lines in (
            *((f"Figures 1 and 7, {one}", one_way(cells, PURE, "", one))
              for one in (DRIVE, layerclaims.LIKE.variant)),
            *((f"Figure 2: by what is sorted, {one}", one_way(cells, PURE, "sizes-", one))
              for one in (DRIVE, layerclaims.LIKE.variant)),
            *((f"Figure 3: 16 KiB, half reads, {one}", both_ways(
                cells, [f"depth-{depth}" for depth in layerclaims.DEPTHS], one))
              for one in variants),
            *((f"Figure 8: 512 KiB, depth 16, {one}", both_ways(cells, MIXES, one))
              for one in variants),
            *((f"Figure 9: PostMark, {one}", files(cells, one)) for one in variants)):
        lines = list(lines)
        if len(lines) > 3:
            yield from section(title, lines)
    if default:
        yield from section("Mode auto: reads among writes", mixes(default["cells"]))
        yield from section("Mode auto: one direction", pure(default["cells"]))
    yield "### Why"
    yield ""
    yield CAUSE
    yield ""
    yield from causes([*cells, *(default["cells"] if default else ())])


def why(cells):
    """The reasons, with the turns that were counted."""
    found, at = Table(cells), layerclaims.MIXED
    return WHY.format(**{
        f"turns_{name}": text(figure(found.get("mix-50", label + at.end, at.variant),
                                     "turns_per_1000"), "{:.0f}")
        for name, label in (("none", "none"), ("deadline", "mq-deadline"),
                            ("paper", "paper"))})


def others(cells, folder):
    """OTHERS, with the sizes of PostMark's writes."""
    found, at = Table(cells), layerclaims.MIXED
    return OTHERS.format(folder=folder, **{
        f"{label}_{files_}": text(figure(
            found.get(f"postmark-{files_}", label + at.end, at.variant),
            "write_request_bytes"), "{:.0f}", 1 / 1024)
        for label in ("none", "paper") for files_ in (5000, 20000)})


def page(paper, default, cost, limits, folder, pictures=()):
    """The whole page, line by line.

    limits: what layerlimits.printed() gives; folder: where the other page is.
    """
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield f"<!-- Made by scripts/{NAME}; change that, not this. -->"
    yield "# Layer_Read: results"
    yield ""
    yield "    make bench-layer_read                         # short forms, " \
        "cost, then this page"
    yield "    make bench-layer_read FORM=full               # " \
        "every point, curves, every baseline swept"
    yield "    scripts/bench layer_read-paper --form seeds   # ranges, of " \
        "layer_read too"
    yield "    scripts/bench layer_read-paper --form postmark"
    yield f"    scripts/{NAME}                    # this page again"
    yield ""
    yield INTRO
    yield ""
    yield "## The paper's figures"
    yield ""
    yield PAPER.format(like=layerclaims.LIKE.text, mixed=layerclaims.MIXED.text,
                       tuning=layerclaims.TUNING,
                       points=layerclaims.POINTS)
    yield ""
    yield facts(paper)
    yield ""
    yield WORDS
    yield ""
    cells = paper["cells"] if paper else []
    yield from claim_list(layerclaims.paper(cells), data=paper)
    if paper:
        for title, lines in (
                ("Figure 8, half reads: the gain of mode paper",
                 gain_grid(cells, "mix-50", "turn", "a turn costs")),
                ("Figure 8, 70/30", gain_grid(cells, "mix-70", "turn", "a turn costs"))):
            yield from section(title, lines)
        yield why(cells)
        yield ""
        yield others(cells, folder)
        yield ""
        yield from section("Figure 7, sequential reads", gain_grid(
            cells, "seq-read", "jump", "a jump costs"))
        yield SEQUENTIAL.format(**{name: percent(layerclaims.GAINS[
            "seq-read", "read", base]) for name, base in (
                ("none", "none"), ("deadline", "mq-deadline"))})
        yield ""
    yield "## Mode auto"
    yield ""
    yield DEFAULT
    yield ""
    yield facts(default)
    yield ""
    yield DEFAULT_WORDS
    yield ""
    cells = default["cells"] if default else []
    yield from claim_list(layerclaims.default(cells), data=default)
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
    if paper or default:
        yield f"All figures: [tables]({folder}/figures.md)."
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


def make(args, results):
    """Writes the page, its pictures and the page of all figures; 1 without limits."""
    # A compiler, for the limits.
    options.need("unit", "bench")
    try:
        limits = layerlimits.printed()
    except layerlimits.Failed as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 1
    *measured, cost = results
    pictures = draw(args.out, *measured)
    folder = args.out.with_suffix("")
    if any(measured):
        folder.mkdir(parents=True, exist_ok=True)
        resultspage.put(folder / "figures.md", figures(*measured))
    resultspage.write(NAME, args.out, page(*measured, cost, limits, folder.name,
                                           pictures), SUITES, measured)
    return 0


@resultspage.in_one_line(NAME)
def main(argv=None):
    """Command line."""
    parser = resultspage.parser(NAME, __doc__, PAGE, SUITES)
    parser.add_argument("--estimate", metavar="FORM",
                        help="say how long that form takes, and nothing else")
    args = parser.parse_args(sys.argv[1:] if argv is None else argv)
    if not args.estimate:
        return resultspage.run_parsed(NAME, args, PAGE, SUITES, make, collect)
    try:
        print(f"{NAME}: {estimate(args.estimate)}", flush=True)
    except ValueError as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
