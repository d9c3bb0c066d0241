# SPDX-License-Identifier: GPL-2.0
"""docs/k2-front.md: tail against bandwidth, all that was measured under a load.

scripts/k2-results writes it beside docs/k2-results.md, of the same results.
"""

import k2autoclaims
import resultspage
from claims import figure
from k2autoclaims import rate
from resultspage import DASH, facts, table

# Loads that a front is made of, and where more of the same load was measured
FRONTS = ("rand-read", "big-read", "big-write", "op-rand-read", "op-seq-read",
          "op-seq-write", "op-rand-write")
SAME_LOAD = {"pareto": "rand-read"}
# Those that have a picture: every baseline was swept, or there is a map
DRAWN = ("rand-read", "op-rand-read")

INTRO = """\
`–`: not measured. K2-x: bound x. Tails are of real-time requests, beside whatever else
the load has; bandwidth is of all. The newest results of each form are put together, and
of a cell that several forms have those with most requests count. The verdicts on the
claims are in [k2-results.md](k2-results.md)."""
LEGEND = """\
In the pictures a drive's settings lie the better the further up and to the left they
are. The line joins those that nobody beats in both, and some of them have their names.
Circle: a bound that was set; square: with a map of the chips; triangle: a bound that
K2 finds itself; cross: any other scheduler."""


def text(number, form="{:.0f}", scale=1.0):
    """A figure, or a dash."""
    return DASH if number is None else form.format(number * scale)


def us(number):
    """Seconds as microseconds."""
    return text(number, scale=1e6)


def mb(number):
    """Bytes as megabytes."""
    return text(number, scale=1e-6)


def percent(number):
    """A share in per cent."""
    return text(number, "{:.2f} %", 100)


def interval(cell):
    """The interval of the tail, as text."""
    return f"{us(figure(cell, 'settled_tail_low_s'))} to " \
        f"{us(figure(cell, 'settled_tail_high_s'))}"


def loads(found):
    """{(load, drive): its cells by tail}."""
    groups = {}
    for (workload, variant, _), cell in found.named.items():
        load = SAME_LOAD.get(workload, workload)
        if load in FRONTS and figure(cell, "settled_tail_s") is not None:
            groups.setdefault((load, variant), []).append(cell)
    for place, cells in groups.items():
        # A label may have been measured under two names: the longer run.
        by_label = {}
        for cell in sorted(cells, key=lambda one: figure(
                one, "settled_requests") or 0):
            by_label[cell["label"]] = cell
        groups[place] = sorted(by_label.values(), key=lambda one: figure(
            one, "settled_tail_s"))
    return groups


def fronts(groups):
    """All cells that were measured under a load; those on the front are marked."""
    if not groups:
        yield "Not measured."
        yield ""
    for (load, variant), cells in groups.items():
        best = k2autoclaims.front(cells)
        full = next((rate(cell) for cell in cells if cell["label"] == "none"),
                    None)
        yield f"{load}, drive {variant}, by tail; bold: nobody has both a " \
            "shorter one and more bandwidth:"
        yield ""
        yield from table(
            ["", "p99, us", "95 %", "MB/s", "of none"],
            [[f"**{cell['label']}**" if cell in best else cell["label"],
              us(figure(cell, "settled_tail_s")), interval(cell),
              mb(rate(cell)),
              text(rate(cell) / full, "{:.0%}")
              if full and rate(cell) is not None else DASH]
             for cell in cells])


def scans(found):
    """Each static bound."""
    rows = []
    for workload, variant in found.scans:
        none = found.get(workload, variant, "none")
        for cell in [*found.scan(workload, variant), *([none] if none
                                                       else [])]:
            rows.append([
                workload, variant, cell["label"],
                text(figure(cell, "settled_requests")),
                us(figure(cell, "settled_tail_s")), interval(cell),
                mb(rate(cell))])
    if not rows:
        yield "Not measured."
        yield ""
        return
    yield from table(["load", "drive", "", "requests", "p99, us", "95 %",
                      "MB/s"], rows)


def told(summary):
    """Lines about the runs and about the cells that were left out."""
    yield facts(summary)
    yield ""
    for line in (summary or {}).get("left_out") or ():
        yield f"Left out: {line}."
        yield ""
    busy = (summary or {}).get("cpu_too_busy")
    if busy:
        yield "The guest's CPU was busy for more than a quarter of the " \
            "time in " + ", ".join(busy) + "."
        yield ""


# --- searches ----------------------------------------------------------------

def searches(found, phase, policy):
    """The result of each search, beside the best limit of its scan."""
    rows = []
    for (workload, variant, label), cell in found.named.items():
        if cell["tunables"].get("policy") != policy or \
                figure(cell, f"{phase}_requests") is None:
            continue
        none = found.get(workload, variant, "none")
        full = rate(none) if none else None
        # Before its step a load is none that was scanned.
        scan = found.scan(k2autoclaims.AFTER.get(workload, workload)
                          if phase == "stepped" else workload, variant)
        target_s = figure(cell, "target_s")
        if policy == "latency":
            best = k2autoclaims.best_under(scan, target_s) \
                if target_s is not None else None
        else:
            good = [one for one in scan if full and
                    rate(one) >= k2autoclaims.floor_of(cell) * full]
            best = min(good, key=lambda one: figure(one, "settled_tail_s"),
                       default=None)
        moved = rate(cell, phase)
        rows.append([
            workload, variant, label, us(target_s),
            text(figure(cell, f"{phase}_requests")),
            percent(figure(cell, f"{phase}_miss_share")),
            us(figure(cell, f"{phase}_tail_s")), mb(moved),
            text(moved / full, "{:.0%}") if full and moved is not None
            else DASH,
            text(figure(cell, f"{phase}_bound")),
            text(figure(cell, f"{phase}_infeasible_share"), "{:.0%}"),
            best["label"] if best else DASH,
            us(figure(best, "settled_tail_s")), mb(rate(best) if best
                                                  else None)])
    if not rows:
        yield "Not measured."
        yield ""
        return
    yield from table(
        ["load", "drive", "", "target, us", "requests", "late", "p99, us",
         "MB/s", "of none", "bound", "flagged", "best of the scan", "p99, us",
         "MB/s"], rows)


# --- the page ----------------------------------------------------------------

def page(auto, found, pictures=()):
    """The lines of docs/k2-front.md.

    auto: what there is of suite k2-auto; found: its cells.
    """
    yield "<!-- SPDX-License-Identifier: GPL-2.0 -->"
    yield "<!-- Made by scripts/k2-results; change that, not this. -->"
    yield "# K2: tail against bandwidth"
    yield ""
    yield "    scripts/bench k2-auto --form full       # 10 000 requests, " \
        "the whole scan"
    yield "    scripts/bench k2-auto --form layout     # p99 with a map of " \
        "the chips"
    yield "    scripts/bench k2-auto --form baselines  # what else there " \
        "is, swept"
    yield "    scripts/k2-results                      # this page again"
    yield ""
    yield INTRO
    yield ""
    yield from told(auto)
    yield "## The Pareto front"
    yield ""
    if pictures:
        yield LEGEND
        yield ""
    for file, caption in pictures:
        yield f"![{caption}]({file})"
        yield ""
    yield from fronts(loads(found))
    yield "## The scan"
    yield ""
    yield from scans(found)
    for title, phase, policy in (
            ("O1: policy latency", "settled", "latency"),
            ("O2: policy bandwidth", "settled", "bandwidth"),
            ("After the load has changed", "stepped", "latency")):
        yield f"## {title}"
        yield ""
        yield from searches(found, phase, policy)


def draw(out, found):
    """Pictures of the page `out`; [(path for it, caption)]."""
    folder = resultspage.emptied(out)
    made = []
    for (load, variant), cells in loads(found).items():
        if load not in DRAWN:
            continue
        import frontplots  # pylint: disable=import-outside-toplevel
        folder.mkdir(parents=True, exist_ok=True)
        title = f"{load}, drive {variant}: tail and bandwidth"
        name = f"{load}-{variant}.svg"
        try:
            frontplots.draw(folder / name, cells, title)
        except frontplots.Nothing:
            continue
        made.append((f"{folder.name}/{name}", title))
    return made
