# SPDX-License-Identifier: GPL-2.0
"""Tables of the report, and the lines below its pictures."""

import collections

import claims
import reportshare
from reportdata import PERCENTILES, Stat, made_by, stat
from reporthtml import Html, join, table, tag
from reporttext import (
    DASH, figure, number, numbers, part, ranges, text, unique)

UP = "\N{BLACK UP-POINTING TRIANGLE}"
DOWN = "\N{BLACK DOWN-POINTING TRIANGLE}"
TIMES = "\N{MULTIPLICATION SIGN}"


Column = collections.namedtuple("Column", "key head scale better")


def columns(group):
    """The columns of a group's table: [Column]."""
    smallest = [one.median for cell in group.cells
                for one in map(cell.stat, ("mean", *PERCENTILES))
                if one and one.median > 0]
    unit, scale = ("ms", 1e3) if smallest and min(smallest) >= 1e-3 else \
        ("µs", 1e6)
    found = [Column("bandwidth", "bandwidth MB/s", 1e-6, max),
             Column("iops", "IOPS", 1, max)]
    found += [Column(key, f"{key.replace('_', '.')} {unit}", scale, min)
              for key in ("mean", *PERCENTILES)]
    # Busy chips are neither good nor bad by themselves.
    found += [Column("utilisation", "chips busy %", 1, None),
              Column("cpu_ns", "CPU per I/O µs", 1e-3, min),
              Column("cpu_share", "CPU busy %", 100, None)]
    if any(cell.stat("wa") for cell in group.cells):
        found.append(Column("wa", "write amplifi\N{SOFT HYPHEN}cation", 1,
                            min))
    return found


def marks(group, column):
    """{label: "best" or "worst"} of the cells with passed checks."""
    known = {cell.label: cell.stat(column.key).median
             for cell in group.cells
             if not cell.failed and cell.stat(column.key)}
    if column.better is None or len(set(known.values())) < 2:
        return {}
    worse = min if column.better is max else max
    best, worst = column.better(known.values()), worse(known.values())
    return {label: "best" if value == best else "worst"
            for label, value in known.items() if value in (best, worst)}


def value_cell(found, column, mark, runs):
    """A <td> of a Stat."""
    if found is None:
        return tag("td", DASH)
    # A sign too: colours alone are lost on some readers and in print.
    sign = {"best": f"{UP}\N{NO-BREAK SPACE}",
            "worst": f"{DOWN}\N{NO-BREAK SPACE}", None: ""}[mark]
    low, middle, high = (figure(v * column.scale) for v in
                         (found.low, found.median, found.high))
    small = []
    if found.count > 1 and low != high:
        small.append(f"{low}{DASH}{high}")
    if found.count < runs:
        small.append(f"{found.count} of {runs} runs")
    return tag("td", sign + middle, *(tag("small", one) for one in small),
               class_=mark)


def ratio_cell(found, base):
    """Ratio of two medians, which a reader can check against the table."""
    if not found or not base or not base.median:
        return tag("td", DASH)
    return tag("td", figure(found.median / base.median) + TIMES)


def group_table(group, tail, anchor):
    """The figures of all schedulers, one a row."""
    shown_ = columns(group)
    marked = {column.key: marks(group, column) for column in shown_}
    base = group.base if len(group.cells) > 1 else None
    head = ["scheduler", "checks"]
    for column in shown_:
        head.append(column.head)
        if base and column.key in ("bandwidth", tail):
            head.append(f"{column.head.rsplit(' ', 1)[0]} / none")
    rows = []
    for cell in group.cells:
        runs = len(cell.counted)
        name = tag("td", cell.label, title=text(cell.tunables) or None)
        verdict = tag("td", f"ok {len(cell.runs)}") if not cell.failed else \
            tag("td", tag("a", f"FAIL {cell.failed} of {len(cell.runs)}",
                          class_="fail", href=f"#{anchor}"))
        row = [name, verdict]
        for column in shown_:
            found = cell.stat(column.key)
            row.append(value_cell(found, column,
                                  marked[column.key].get(cell.label), runs))
            if base and column.key in ("bandwidth", tail):
                row.append(ratio_cell(found, base.stat(column.key)))
        rows.append(row)
    return table(head, rows)


def jobs_table(group):
    """Bandwidth of each job, where there are several."""
    names = unique(name for run in group.runs for name in run.bandwidths)
    if len(names) < 2 or len(names) > 12:
        return Html("")
    rows = []
    for cell in group.cells:
        runs = cell.counted
        row = [cell.label]
        for name in names:
            row.append(value_cell(
                stat([run.bandwidths.get(name) for run in runs]),
                Column(name, "", 1e-6, None), None, len(runs)))
        rows.append(row)
    return join([tag("p", "Bandwidth of each job, MB/s:", class_="note"),
                 table(["scheduler", *names], rows)])


def tenants_table(group):
    """The share of each tenant, where jobs are tenants."""
    rows, of_all = [], []
    for cell in group.cells:
        found = reportshare.figures(cell)
        if found is None:
            continue
        of_all.append([cell.label, found[0], *map(figure, found[1:])])
        for row in reportshare.rows(cell):
            rows.append([
                cell.label, row[0], figure(row[1]),
                *(figure(None if one is None else 100 * one)
                  for one in row[2:5]),
                *(figure(None if one is None else 1e6 * one)
                  for one in row[5:])])
    if not rows:
        return Html("")
    return join([
        tag("p", "Shares, in the unit that the scheduler charges; windows "
            "are of 50 requests of the tenant with fewest, handed over while "
            "all were there (unit cost: by chip time where it is not known "
            "what a request was charged); service over its "
            "bound (D + 1)(c/w + c/w) is the largest of all pairs:",
            class_="note"),
        table(["scheduler", "unit", "PV", "Jain", "service / bound",
               "inversions"], of_all),
        table(["scheduler", "tenant", "weight", "due %", "received %",
               "of the bytes %", "p99 µs", "p99.9 µs", "std dev µs"], rows)])


def ours(claim, source):
    """The measured result, part by part if the claim has several."""
    parts_ = [one for one in claim.get("parts") or ()
              if isinstance(one, dict)] \
        if isinstance(claim.get("parts"), list) else []
    if len(parts_) < 2:
        return text(claim.get("ours")) or DASH
    rows = []
    for one in parts_:
        holds = one["holds"] if isinstance(one.get("holds"), bool) else None
        paper = f"paper {text(one['paper'])}, here " if one.get("paper") else ""
        rows.append(tag("li", text(one.get("text")), ": ", paper, text(
            one.get("ours")), " ", tag("span", f"({claims.word(source, holds)})",
                                       class_={True: "yes", False: "fail",
                                               None: "open"}[holds])))
    return tag("ul", *rows)


def scale_row(pair):
    """Cells of a table: figures at two time scales and their ratio."""
    import reportplots
    group, cell, other_group, other = pair
    row = [group.workload, cell.label, group.setting.variant or DASH,
           f"{group.setting.time_scale}, {other_group.setting.time_scale}"]
    key = next((key for key in reportplots.TAILS
                if cell.stat(key) and other.stat(key)), None)
    for name, scale in (("bandwidth", 1e-6), (key, 1e6)):
        if scale == 1e6:
            row.append(reportplots.percentile_name(key) if key else DASH)
        one, two = (c.stat(name) if name else None for c in (cell, other))
        row.append(", ".join(figure(s.median * scale) if s else DASH
                             for s in (one, two)))
        row.append(ratio_cell(two, one))
    row.append(", ".join(
        figure(s.median * 100) if s else DASH
        for s in (cell.stat("cpu_share"), other.stat("cpu_share"))))
    return row


def setting_title(setting):
    """A heading."""
    words = [f"Profile {setting.profile or 'unknown'}"]
    if setting.variant:
        words.append(f"variant {setting.variant}")
    if setting.form:
        words.append(f"form {setting.form}")
    words.append(f"time scale {setting.time_scale or 'unknown'}")
    if setting.clock:
        words.append(f"{setting.clock} clock")
    if setting.seed_use:
        words.append(f"{setting.seed_use} seeds")
    return ", ".join(words)


def circumstances(folder, group, kind):
    """The common part of all captions."""
    setting = group.setting
    seeds = [run.seed for run in group.runs]
    if kind in ("course", "chips"):
        field = "series" if kind == "course" else "chips"
        seeds = [getattr(cell, field)["seed"] for cell in group.cells
                 if getattr(cell, field)]
    known = [f"Profile {setting.profile or 'unknown'}"
             + (f", variant {setting.variant}" if setting.variant else "")]
    known += [f"{name} {getattr(setting, key) or 'unknown'}" for key, name in (
        ("order", "order"), ("alloc", "alloc"), ("map", "map"),
        ("time_scale", "time scale"))]
    if setting.clock:
        known.append(f"{setting.clock} clock")
    use = f" ({setting.seed_use})" if setting.seed_use else ""
    known.append(f"{'seed' if len(set(map(text, seeds))) == 1 else 'seeds'} "
                 f"{ranges(seeds)}{use}")
    made = made_by(folder)
    again = [tag("code", f"scripts/report {folder.shown}")]
    if made:
        again = [tag("code", made), ", then ", *again]
    return join([", ".join(known) + ". To make it again: ", *again, "."], "")


def cost_range(line, base=0.0):
    """Stat of a cell: its mean, and the range of its boots."""
    mean = number(line.get("busy_ns_per_io"))
    boots = numbers(line.get("repeats")) or [mean]
    return Stat(mean - base, min(boots) - base, max(boots) - base, len(boots))


def cost_table(lines):
    """A row a label, three columns a depth."""
    depths = unique(text(line.get("depth")) for line in lines)
    head = ["scheduler"]
    for depth in depths:
        head += [f"depth {depth} ns", "more ns", "more %"]
    head += ["spread %", "locks"]
    rows = []
    for label in unique(text(line["label"]) for line in lines):
        at = {text(line.get("depth")): line for line in lines
              if text(line["label"]) == label}
        row = [label]
        for depth in depths:
            line = at.get(depth)
            if line is None:
                row += [DASH] * 3
                continue
            row.append(value_cell(cost_range(line), Column(
                "", "", 1, None), None, 1))
            share = number(line.get("over_none"))
            row += [figure(number(line.get("over_none_ns"))),
                    figure(share and 100 * share)]
        spreads = [number(line.get("spread")) for line in at.values()]
        spreads = [one for one in spreads if one is not None]
        row.append(figure(100 * max(spreads)) if spreads else DASH)
        locks = [number(part(at.get(depth), "locks").get("own_per_io"))
                 for depth in depths]
        row.append(", ".join(map(figure, locks)) if any(
            one is not None for one in locks) else DASH)
        rows.append(row)
    return table(head, rows)


def cost_panels(lines):
    """[(depth, ns of none or None, {label: Stat over none})]."""
    found = []
    for depth in unique(text(line.get("depth")) for line in lines):
        mine = [line for line in lines if text(line.get("depth")) == depth]
        base = next((number(line["busy_ns_per_io"]) for line in mine
                     if line["label"] == "none"), None)
        found.append((depth, base, {
            text(line["label"]): cost_range(line, base or 0.0)
            for line in mine if base is None or line["label"] != "none"}))
    return found


def cost_unknown(summary):
    """A cost summary of a form that this version does not know: as it is."""
    for value in summary.values():
        rows = [row for row in value if isinstance(row, dict)] \
            if isinstance(value, list) else []
        if rows:
            rows = [{str(k): v for k, v in row.items()
                     if isinstance(v, (str, int, float))} for row in rows]
            keys = unique(key for row in rows for key in row)
            return [table(keys, [[text(row.get(key)) or DASH for key in keys]
                                 for row in rows])]
    return [tag("p", "Its summary.json has no figures that this version "
                "understands.", class_="warn")]


def locks_table(found):
    """A row a scheduler and number of CPUs."""
    return table(
        ["scheduler", "CPUs", "own locks an I/O", "waited for", "all locks"],
        [[text(row.get("scheduler")) or DASH, text(row.get("cpus")),
          *(figure(number(row.get(key))) for key in (
              "own_per_io", "contended_per_io", "all_per_io"))]
         for row in found["cells"]])
