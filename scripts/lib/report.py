# SPDX-License-Identifier: GPL-2.0
"""scripts/report: one page of everything that was measured.

Reads all results below the given directories (build/results/ without one) and
writes index.html, which holds its pictures and needs no other file, and the
pictures as plots/*.png. Nothing is left out for how it looks: each run is in a
table, or is named among what was skipped, with the reason.

What counts as a result: runs of suites (schema 2) and the summary.json beside
them; runs of the correctness bench (schema 1), of which only the verdicts and
plot.png are shown; summaries of cost measurements (kind "cost"); rows of the
model's physics (kind "physics"). Directories named raw are not looked into.
"""

# How things hang together: read() turns directories into Folders; a Folder
# has Runs, a Setting is what makes runs comparable, a Group is one workload
# in one setting, a Cell one scheduler in a group with a run for each seed.
# page() turns Folders into HTML, reportplots Groups into pictures.

import argparse
import base64
import collections
import datetime
import html
import json
import math
import os
import pathlib
import re
import statistics
import struct
import sys

import options
import reportshare

REPO = pathlib.Path(__file__).resolve().parents[2]
GENERATOR = "flash-iosched scripts/report"
DASH = "\N{EN DASH}"
UP = "\N{BLACK UP-POINTING TRIANGLE}"
DOWN = "\N{BLACK DOWN-POINTING TRIANGLE}"
TIMES = "\N{MULTIPLICATION SIGN}"

# Measured with 480 runs on two cores.
SECONDS_PLOT = 0.5


class Bad(ValueError):
    """A file that is no result; the text says why."""


# --- reading ----------------------------------------------------------------

Stat = collections.namedtuple("Stat", "median low high count")

# What makes runs comparable. The use of a seed is part of it: what was tuned
# on a draw must not be reported on that draw.
FIELDS = ("suite", "form", "profile", "variant", "order", "alloc", "map",
          "time_scale", "clock", "seed_use")
Setting = collections.namedtuple("Setting", FIELDS)

PERCENTILES = ("p50", "p90", "p95", "p99", "p99_9", "p99_99")
KNOWN_ORDER = ("none", "mq-deadline", "kyber", "bfq", "io.cost", "k2", "piq",
               "layer_read", "acfq", "hbfq")


def number(value):
    """A finite number as float, else None: files may hold anything."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        value = float(value)
    except OverflowError:
        return None
    return value if math.isfinite(value) else None


def numbers(value):
    """A list of finite numbers, or None."""
    if not isinstance(value, list) or not value:
        return None
    found = [number(one) for one in value]
    return None if None in found else found


def part(value, key):
    """value[key] if that is a dict, else {}."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def text(value):
    """Anything as a line of text; "" for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return figure(value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {text(one)}" for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(text(one) for one in value)
    return str(value)


def texts(value):
    """A list of lines of text; a lone text is one of them."""
    if value is None:
        return []
    if isinstance(value, dict):
        return [f"{key}: {text(one)}" for key, one in value.items()]
    return [text(one) for one in value] if isinstance(value, list) \
        else [text(value)]


def stat(values):
    """Stat of what is not None; None if nothing is."""
    values = [value for value in values if value is not None]
    if not values:
        return None
    return Stat(statistics.median(values), min(values), max(values),
                len(values))


def natural(label):
    """k2-8 before k2-16."""
    return [(0, int(one), "") if one.isdigit() else (1, 0, one)
            for one in re.split(r"(\d+)", label) if one]


class Run:
    """What the page needs of one schema 2 run."""

    def __init__(self, path, data):
        def want(key, kind=str):
            value = data.get(key)
            if not isinstance(value, kind) or not value:
                raise Bad(f'no "{key}" in it')
            return value
        self.path = path
        self.workload, self.scheduler = want("workload"), want("scheduler")
        self.id = text(data.get("id")) or path.stem
        self.label = text(data.get("label")) or self.scheduler
        self.seed = data.get("seed")
        self.cell = text(data.get("cell"))
        self.repeat = data.get("repeat", 1)
        self.tunables = {str(key): text(value) for key, value
                         in part(data, "tunables").items()}
        self.setting = Setting(*(text(data.get(key)) for key in FIELDS))
        self.facts = {key: text(data.get(key))
                      for key in ("commit", "kernel", "time")}
        self.command = command(data)
        self.device = part(data, "device")
        self.unscaled = texts(data.get("unscaled"))
        self.failed = [
            (str(name), text(check.get("text")))
            for name, check in part(data, "checks").items()
            if isinstance(check, dict) and not check.get("passed")]
        if data.get("passed") is not True and not self.failed:
            self.failed = [("passed", "the run says that it failed, but names "
                            "no check")]
        self.jobs = [job for job in want("jobs", list)
                     if isinstance(job, dict)]
        if not self.jobs:
            raise Bad('no "jobs" in it')
        self._measure(data)
        self.series = _series(data.get("series"))
        self.chips = _chips(data.get("chips"))
        self.share = reportshare.take(data)

    def _measure(self, data):
        total, stats = part(data, "total"), part(data, "device_stats")
        cpu = part(data, "cpu")
        chips = number(stats.get("chips"))
        busy = number(stats.get("utilisation_milli"))
        wrote = number(stats.get("host_units"))
        amplified = number(stats.get("wa_milli"))
        self.measures = {
            "bandwidth": number(total.get("bandwidth_bytes_per_s")),
            "iops": number(total.get("iops")),
            "cpu_ns": number(cpu.get("busy_ns_per_io")),
            "cpu_share": number(cpu.get("busy_share")),
            "utilisation": busy / 10 / chips if busy is not None and chips
            else None,
            # Without writes the device says 0, which would be the best of all.
            "wa": amplified / 1000 if amplified and wrote else None,
        }
        chosen = [job for job in self.jobs if job.get("role") == "latency"]
        self.latency_jobs = tuple(text(job.get("name")) for job in chosen)
        chosen = chosen or self.jobs
        for key in ("mean", *PERCENTILES):
            values = [number(part(job, "latency_s").get(key))
                      for job in chosen]
            # With several jobs it is the one that waited longest; if that is
            # unknown for one, then for all.
            self.measures[key] = None if None in values else max(values)
        counts = [number(part(job, "latency_s").get("count"))
                  for job in chosen]
        self.latency_count = None if None in counts else min(counts)
        self.cdf = _cdf(chosen[0].get("cdf"))
        self.bandwidths = {
            text(job.get("name")): number(job.get("bandwidth_bytes_per_s"))
            for job in self.jobs}


def command(data):
    """The command that made it, if the file says so."""
    return next((text(data[key]) for key in
                 ("command", "bench_command", "suite_command")
                 if data.get(key)), "")


def _cdf(value):
    found = []
    for point in value if isinstance(value, list) else ():
        pair = numbers(point)
        if pair and len(pair) == 2:
            found.append(tuple(pair))
    return found or None


def _series(value):
    """The series as lists of equal length, or None."""
    if not isinstance(value, dict):
        return None
    times = numbers(value.get("t_s"))
    if not times or len(times) < 2 or times[-1] <= times[0]:
        return None
    found = {"t_s": times,
             "period_s": (times[-1] - times[0]) / (len(times) - 1)}
    for key in ("read_bytes_per_s", "write_bytes_per_s", "gc_copies"):
        row = numbers(value.get(key)) or [0.0] * len(times)
        if len(row) != len(times):
            return None
        found[key] = row
    return found


def _chips(value):
    if not isinstance(value, dict):
        return None
    rows = value.get("busy_permille")
    period = number(value.get("period_s"))
    if not isinstance(rows, list) or not rows or not period or period <= 0:
        return None
    rows = [numbers(row) for row in rows]
    if None in rows or len({len(row) for row in rows}) != 1:
        return None
    return {"period_s": period, "busy_permille": rows}


class Cell:
    """A scheduler with its settings in a group: a run for each seed."""

    def __init__(self, run):
        self.label, self.scheduler = run.label, run.scheduler
        self.tunables = run.tunables
        self.runs = []
        self.series = self.chips = self.share = None

    def add(self, run):
        """One more seed. Time series are kept for the first one only: with
        all of them a full suite would fill the memory."""
        self.runs.append(run)
        if self.series is None:
            self.series = run.series and dict(run.series, seed=run.seed)
        if self.chips is None:
            self.chips = run.chips and dict(run.chips, seed=run.seed)
        if self.share is None:
            self.share = run.share and dict(run.share, seed=run.seed)
        run.series = run.chips = None
        if run.share:
            run.share = {**run.share, "rows": []}

    @property
    def counted(self):
        """Runs for the figures. A second run with a seed says how well a run
        repeats; among the seeds it would count this one twice."""
        return [run for run in self.runs if run.repeat == 1] or self.runs

    def stat(self, key):
        """Over the seeds."""
        return stat([run.measures[key] for run in self.counted])

    @property
    def failed(self):
        """How many of its runs failed a check."""
        return sum(bool(run.failed) for run in self.runs)

    @property
    def cdfs(self):
        """The latency distributions there are."""
        return [run.cdf for run in self.counted if run.cdf]

    @property
    def latency_count(self):
        """Samples of the run that has the fewest."""
        found = [run.latency_count for run in self.counted
                 if run.latency_count is not None]
        return min(found) if found else None


class Group:
    """One workload in one setting."""

    def __init__(self, setting, workload):
        self.setting, self.workload = setting, workload
        self.cells = []

    @property
    def runs(self):
        """All of them."""
        return [run for cell in self.cells for run in cell.runs]

    @property
    def latency_of(self):
        """Whose latency the figures are."""
        names = self.runs[0].latency_jobs
        if not names:
            return "latency of all jobs" if len(self.runs[0].jobs) == 1 else \
                "latency of the slowest job"
        return f"latency of job {names[0]}" if len(names) == 1 else \
            f"latency of the slowest of {len(names)} jobs"

    @property
    def base(self):
        """The cell that the others are measured by, if it is there."""
        return next((c for c in self.cells if c.label == "none"), None)


class Folder:
    """A directory with results."""

    def __init__(self, path):
        self.path = path
        self.shown = shown(path)
        self.summary = {}
        self.runs, self.checked = [], []
        self.cost_runs = 0
        self.physics = []
        self.groups = []
        self.notes = []

    @property
    def is_cost(self):
        """Does it hold a measurement of cost?"""
        return self.summary.get("kind") == "cost" or bool(
            cost_lines(self.summary))

    @property
    def empty(self):
        """Nothing of it can be shown."""
        return not (self.runs or self.checked or self.is_cost or
                    self.physics)

    def listed(self):
        """Ids of runs that the summary names, in its order."""
        runs = self.summary.get("runs")
        return [text(run.get("id")) for run in runs
                if isinstance(run, dict) and run.get("id")] \
            if isinstance(runs, list) else []

    def finish(self):
        """Groups the runs, notes what the summary says beyond them."""
        listed = self.listed()
        place = {name: n for n, name in enumerate(listed)}
        known = {name: n for n, name in enumerate(KNOWN_ORDER)}
        # Not by how well a scheduler did: a loser at the end of a long table
        # would be hidden.
        self.runs.sort(key=lambda run: (
            place.get(run.id, len(place)),
            known.get(run.scheduler, len(known)), natural(run.label),
            run.seed if isinstance(run.seed, int) else 0))
        groups = {}
        for run in self.runs:
            key = (run.setting, run.workload)
            group = groups.setdefault(key, {})
            group.setdefault(run.label, Cell(run)).add(run)
        for (setting, workload), cells in groups.items():
            group = Group(setting, workload)
            group.cells = list(cells.values())
            self.groups.append(group)
        first = [group.setting for group in self.groups]
        # Figures to be reported come before those they were tuned with.
        self.groups.sort(key=lambda group: (
            {"report": 0, "tuning": 2}.get(group.setting.seed_use, 1),
            first.index(group.setting)))
        have = {run.id for run in self.runs} | set(self.checked_ids())
        missing = [name for name in listed if name not in have]
        if missing:
            self.notes.append(
                f"summary.json names {len(missing)} runs whose files are not "
                f"there or were skipped: {', '.join(missing[:5])}"
                + (" ..." if len(missing) > 5 else ""))
        if self.summary.get("interrupted"):
            self.notes.append("interrupted: not all runs were made")
        if not self.summary and not self.physics:
            self.notes.append("no summary.json: it did not come to its end")
        planned = number(self.summary.get("runs_planned"))
        made = len(self.runs) + len(self.checked)
        if planned and made and planned != made:
            self.notes.append(f"{made} of {planned:.0f} planned runs")
        again = sum(run.repeat != 1 for run in self.runs)
        if again:
            self.notes.append(f"{plural(again, 'run')} repeated a seed; "
                              "checked, but not in the medians")
        self.notes += [f"left out: {line}"
                       for line in texts(self.summary.get("left_out"))]
        busy = texts(self.summary.get("cpu_too_busy"))
        if busy:
            self.notes.append(
                "the CPU of the machine was so busy that it may be what was "
                f"measured, in {', '.join(busy)}")

    def checked_ids(self):
        """Ids of the correctness runs."""
        return [text(run.get("id")) for run in self.checked]

    def settings(self):
        """[(Setting, [Group])] in order."""
        found = {}
        for group in self.groups:
            found.setdefault(group.setting, []).append(group)
        return list(found.items())


def shown(path):
    """A path as a user would type it from here."""
    path = pathlib.Path(os.path.abspath(path))
    for top in (pathlib.Path.cwd(), REPO):
        try:
            return str(path.relative_to(top))
        except ValueError:
            continue
    return str(path)


def load(path):
    """The object in a JSON file."""
    try:
        content = path.read_text(encoding="utf-8")
        if not content.strip():
            raise Bad("empty file")
        data = json.loads(content)
    except json.JSONDecodeError as error:
        raise Bad(f"broken JSON: {error.msg}, line {error.lineno}") from None
    except (UnicodeDecodeError, RecursionError):
        raise Bad("broken JSON: not text") from None
    except OSError as error:
        raise Bad(error.strerror or str(error)) from None
    if not isinstance(data, dict):
        raise Bad("no JSON object")
    return data


def _take(folder, path, data, ids):
    """Puts a file's content where it belongs."""
    schema, kind = data.get("schema"), data.get("kind")
    if path.name == "summary.json":
        if kind not in (None, "suite", "cost") or schema not in (None, 1, 2):
            raise Bad(f"summary of an unknown kind: schema {schema!r}, kind "
                      f"{kind!r}")
        folder.summary = data
        return
    if kind == "physics":
        rows = data.get("rows")
        rows = [row for row in rows if isinstance(row, dict)
                and row.get("name")] if isinstance(rows, list) else []
        rows += [{"name": line} for line in texts(data.get("trouble"))]
        if not rows:
            raise Bad("physics without a row")
        folder.physics = rows
        return
    if kind == "cost" or number(part(data, "result").get("busy_ns_per_io")):
        # The page shows what the summary makes of these.
        folder.cost_runs += 1
        return
    if schema == 2 and kind == "suite":
        run = Run(path, data)
        name, target, item = run.id, folder.runs, run
    elif schema == 1 and isinstance(data.get("checks"), dict) and \
            data.get("workload"):
        name, target = text(data.get("id")) or path.stem, folder.checked
        item = {key: data.get(key) for key in
                ("id", "workload", "scheduler", "passed", "checks", "commit",
                 "kernel", "time")}
    elif isinstance(kind, str) and kind != "suite":
        raise Bad(f"a result of kind {kind!r}, which this page does not show")
    elif schema in (1, 2):
        raise Bad(f"schema {schema}, but neither a run nor a summary")
    elif schema is None:
        raise Bad("no result of ours: it names no schema")
    else:
        raise Bad(f"unknown schema {schema!r}: this version knows 1 and 2")
    if name in ids:
        raise Bad(f"the same run as {ids[name]}: {name}")
    ids[name] = path.name
    target.append(item)


def read(tops):
    """([Folder], [(path, why it was skipped)]) of all below `tops`."""
    folders, skipped, seen = [], [], set()
    for top in tops:
        for place, names, files in os.walk(top):
            names[:] = sorted(name for name in names
                              if name != "raw" and name[0] != ".")
            real = os.path.realpath(place)
            if real in seen:
                names.clear()
                continue
            seen.add(real)
            folder, ids = Folder(pathlib.Path(place)), {}
            for name in sorted(files, key=natural):
                if not name.endswith(".json"):
                    continue
                path = folder.path / name
                try:
                    _take(folder, path, load(path), ids)
                except Bad as error:
                    skipped.append((shown(path), str(error)))
            if not folder.empty:
                folder.finish()
                folders.append(folder)
                continue
            if folder.summary:
                skipped.append((shown(folder.path / "summary.json"),
                                "no run beside it that could be read"))
            if folder.cost_runs:
                skipped.append((folder.shown, plural(
                    folder.cost_runs, "cost run") + ", but no summary.json"))
    return folders, skipped


# --- figures as text --------------------------------------------------------

def figure(value):
    """Three significant digits, no exponent."""
    if value is None:
        return DASH
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    # Rounded first: 9.996 has one digit less behind the point than it seems.
    digits = 2 - math.floor(math.log10(abs(float(f"{value:.2e}"))))
    shown_ = f"{value:,.{min(max(digits, 0), 9)}f}"
    # A group of digits is kept together with a space that does not break.
    return shown_.replace(",", "\N{NARROW NO-BREAK SPACE}")


def ranges(values):
    """"1, 3 to 7" of whole numbers; others as they are."""
    whole = sorted({v for v in values if isinstance(v, int)})
    rest = sorted({text(v) for v in values if not isinstance(v, int)} - {""})
    found, n = [], 0
    while n < len(whole):
        last = n
        while last + 1 < len(whole) and whole[last + 1] == whole[last] + 1:
            last += 1
        found.append(str(whole[n]) if last == n else
                     f"{whole[n]}, {whole[last]}" if last == n + 1 else
                     f"{whole[n]} to {whole[last]}")
        n = last + 1
    return ", ".join(found + rest) or "unknown"


def unique(values):
    """Without what came before and without empty ones."""
    return list(dict.fromkeys(value for value in values if value))


def plural(count, word, many=None):
    """"1 run", "2 runs"."""
    return f"{count} {word if count == 1 else many or word + 's'}"


# --- HTML -------------------------------------------------------------------

class Html(str):
    """Text that is markup already; everything else is escaped."""


def esc(value):
    """Text for HTML; markup stays."""
    return value if isinstance(value, Html) else \
        Html(html.escape(text(value), quote=True))


def tag(name, *content, **attributes):
    """An element. class_ is class; None leaves an attribute out."""
    attrs = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{esc(value)}"'
        for key, value in attributes.items() if value is not None)
    inner = "".join(esc(one) for one in content)
    return Html(f"<{name}{attrs}>{inner}</{name}>")


def join(parts_, between="\n"):
    """Markup and text, one after the other."""
    return Html(between.join(esc(one) for one in parts_))


def slug(*words):
    """For file names and anchors."""
    found = re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(
        word for word in map(str, words) if word)).strip("-.")
    # File systems take 255; something will be put behind it.
    return found[:160] or "x"


def table(head, rows, class_=None):
    """A table that scrolls by itself where the screen is narrow. Rows are
    lists of cells or ready <tr>s, cells are contents or ready <td>s."""
    def cells(row, name):
        return Html("".join(
            cell if isinstance(cell, Html) and cell.startswith(f"<{name}")
            else tag(name, cell) for cell in row))
    body = Html("\n".join(
        row if isinstance(row, Html) else tag("tr", cells(row, "td"))
        for row in rows))
    top = [tag("thead", tag("tr", cells(head, "th")))] if head else []
    return tag("div", tag("table", *top, tag("tbody", body), class_=class_),
               class_="scroll")


def bullets(items):
    """An unordered list."""
    return tag("ul", *(tag("li", item) for item in items))


CSS = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1b1b1b;
  background: #fff; max-width: 74rem; margin: 0 auto; padding: 1rem;
  overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .5rem; padding-top: .8rem;
  border-top: 3px solid #0072b2; }
h3 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
h4 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
a { color: #00558a; }
code { font: .9em/1.4 ui-monospace, "DejaVu Sans Mono", monospace;
  background: #f3f4f5; padding: .05em .25em; border-radius: 3px;
  overflow-wrap: anywhere; }
nav ul { padding-left: 1.2rem; }
.scroll { overflow-x: auto; margin: .6rem 0 1rem; }
table { border-collapse: collapse; font-size: .875rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #dcdcdc;
  text-align: right; vertical-align: top; white-space: nowrap; }
thead th { border-bottom: 2px solid #555; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0;
  background: #fff; }
table.text th, table.text td { text-align: left; white-space: normal;
  min-width: 6rem; }
table.facts td:first-child { white-space: nowrap; color: #555; }
td small { display: block; color: #666; font-size: .75rem; }
td.best { background: #e2eff8; font-weight: 600; }
td.worst { background: #fbeedb; }
.fail { color: #b3261e; font-weight: 600; }
.yes { color: #00558a; font-weight: 600; }
.open { color: #666; }
.note { color: #444; font-size: .9rem; max-width: 48rem; }
.warn { border-left: 4px solid #d55e00; background: #fdf3ec;
  padding: .5rem .8rem; max-width: 48rem; }
figure { margin: 1rem 0 2rem; }
img { max-width: 100%; height: auto; display: block; }
figcaption { font-size: .85rem; color: #444; max-width: 56rem;
  margin-top: .3rem; }
footer { margin-top: 3rem; color: #666; font-size: .85rem; }
@media (max-width: 40rem) { body { padding: .6rem; }
  table { font-size: .8rem; } th, td { padding: .25rem .4rem; } }
@media print { body { max-width: none; font-size: 10pt; padding: 0; }
  .scroll { overflow: visible; } table { font-size: 7pt; }
  th, td { padding: .1rem .25rem; }
  td small { font-size: 6pt; } th:first-child, td:first-child {
  position: static; } figure, tr { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; } nav { display: none; } }
"""


# --- tables of figures ------------------------------------------------------

Column = collections.namedtuple("Column", "key head scale better")


def columns(group):
    """What the table of a group shows: [Column]."""
    smallest = [one.median for cell in group.cells
                for one in map(cell.stat, ("mean", *PERCENTILES))
                if one and one.median > 0]
    unit, scale = ("ms", 1e3) if smallest and min(smallest) >= 1e-3 else \
        ("µs", 1e6)
    found = [Column("bandwidth", "bandwidth MB/s", 1e-6, max),
             Column("iops", "IOPS", 1, max)]
    found += [Column(key, f"{key.replace('_', '.')} {unit}", scale, min)
              for key in ("mean", "p50", "p90", "p99", "p99_9", "p99_99")]
    # Busy chips are neither good nor bad by themselves.
    found += [Column("utilisation", "chips busy %", 1, None),
              Column("cpu_ns", "CPU per I/O µs", 1e-3, min),
              Column("cpu_share", "CPU busy %", 100, None)]
    if any(cell.stat("wa") for cell in group.cells):
        found.append(Column("wa", "write amplifi\N{SOFT HYPHEN}cation", 1,
                            min))
    return found


def marks(group, column):
    """{label: "best" or "worst"} of those whose checks passed."""
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
    """Who got what, where jobs are tenants."""
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
            "are of 50 requests of the tenant with fewest; service over its "
            "bound (D + 1)(c/w + c/w) is the largest of all pairs:",
            class_="note"),
        table(["scheduler", "unit", "PV", "Jain", "service / bound",
               "inversions"], of_all),
        table(["scheduler", "tenant", "weight", "due %", "received %",
               "of the bytes %", "p99 µs", "p99.9 µs", "std dev µs"], rows)])


# --- the page ---------------------------------------------------------------

class Page:
    """Collects markup and pictures."""

    def __init__(self, out, folders, skipped, said=lambda text_: None):
        self.out, self.folders, self.skipped = out, folders, skipped
        self.said = said
        self.plots = []
        self.total = 0
        self.style = {}
        self.started = datetime.datetime.now(datetime.timezone.utc)

    def picture(self, draw, name, alt, caption):
        """A <figure>, or a line that says why there is none."""
        from reportplots import Nothing
        self.said(len(self.plots))
        folder = self.out / "plots"
        taken, base, n = set(self.plots), name, 1
        while f"{name}.png" in taken:
            n += 1
            name = f"{base}-{n}"
        path = folder / f"{name}.png"
        folder.mkdir(parents=True, exist_ok=True)
        try:
            draw(path)
        except Nothing as reason:
            if not any(folder.iterdir()):
                folder.rmdir()
            return Html(""), str(reason)
        except (ValueError, ArithmeticError, LookupError) as error:
            # One picture less is better than no page.
            return Html(""), f"cannot be drawn: {error!r}"
        self.plots.append(path.name)
        return self.embed(path, alt, join(
            [caption, " File: ", tag("code", f"plots/{path.name}"), "."],
            "")), None

    @staticmethod
    def embed(path, alt, caption):
        """A PNG as a <figure>; the page has to work without the file."""
        data = path.read_bytes()
        if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < 24:
            return Html("")
        width, height = struct.unpack(">II", data[16:24])
        image = Html(
            f'<img src="data:image/png;base64,'
            f'{base64.b64encode(data).decode()}" alt="{esc(alt)}" '
            f'width="{width}" height="{height}">')
        return tag("figure", image, tag("figcaption", caption),
                   data_file=path.name)

    # Parts of the page, from top to bottom

    def head(self):
        """Title, and what one wants to know before all else."""
        suites = [f for f in self.folders if f.runs]
        runs = [run for folder in suites for run in folder.runs]
        checked = [run for f in self.folders for run in f.checked]
        failed = sum(bool(run.failed) for run in runs) + sum(
            run["passed"] is not True for run in checked)
        claims = [claim for f in suites for claim in claims_of(f)]
        facts = [
            ("made", self.started.isoformat(timespec="seconds")),
            ("read", counts(self.folders, self.skipped)),
            ("commit", unique(c for f in self.folders
                              for c in facts_of(f, "commit"))),
            ("kernel", unique(k for f in self.folders
                              for k in facts_of(f, "kernel"))),
        ]
        if claims:
            held = collections.Counter(
                claim.get("holds") if isinstance(claim.get("holds"), bool)
                else None for claim in claims)
            facts.append(("claims of the papers",
                          f"hold: {held[True]}, do not hold: {held[False]}, "
                          f"open: {held[None]}"))
        facts.append(("runs with a failed check", join(
            [tag("span", failed, class_="fail" if failed else None),
             *([" ", tag("a", "which", href="#failed")] if failed else [])],
            "")))
        parts_ = [tag("h1", "Flash I/O schedulers: results"),
                  table(None, facts, "text facts")]
        return join(parts_)

    def contents(self, sections):
        """Links to the sections."""
        return tag("nav", tag("ul", *(
            tag("li", tag("a", title, href=f"#{anchor}"))
            for anchor, title in sections)))

    def suite(self, folder, anchor):
        """Everything about one directory of suite runs."""
        names = unique(g.setting.suite for g in folder.groups)
        title = f"Suite {', '.join(names) or 'without a name'}"
        parts_ = [tag("h2", title, id=anchor)]
        if folder.summary.get("title"):
            parts_.append(tag("p", folder.summary["title"]))
        parts_.append(self.suite_facts(folder))
        if any(g.setting.clock == "real" for g in folder.groups):
            parts_.append(tag(
                "p", "Runs marked with the real clock took their times from "
                "the machine that emulated the device: they depend on what "
                "else it did and compare nothing.", class_="warn"))
        parts_ += self.claims(folder)
        parts_.append(tag(
            "p", "All times are in the device's time: the time scale is "
            "divided out; only those of the CPU are not. Figures are medians "
            "over the seeds, below them the range unless all agree. Of the "
            "schedulers whose checks passed, the best median of a column has "
            f"{UP} and the worst {DOWN}. Ratios are of medians. {DASH}: not "
            "measured, or fewer than 50 samples beyond the percentile. Rows "
            "keep the order of the suite.",
            class_="note"))
        for setting, groups in folder.settings():
            parts_.append(tag("h3", setting_title(setting)))
            if setting.seed_use == "tuning":
                parts_.append(tag(
                    "p", "These seeds served to tune; they are no result.",
                    class_="warn"))
            for group in groups:
                parts_ += self.group(folder, group)
        return join(parts_)

    @staticmethod
    def suite_facts(folder):
        """Circumstances of a directory."""
        when = sorted(unique(run.facts["time"] for run in folder.runs))
        facts = [
            ("directory", tag("code", folder.shown)),
            ("runs", plural(len(folder.runs), "run")),
            ("commit", facts_of(folder, "commit")),
            ("kernel", facts_of(folder, "kernel")),
            ("when", " to ".join(unique(when[:1] + when[-1:]))),
        ]
        made = made_by(folder)
        if made:
            facts.append(("made by", tag("code", made)))
        facts += [("note", note) for note in folder.notes]
        rows = []
        for setting, groups in folder.settings():
            seeds = ranges([run.seed for g in groups for run in g.runs])
            device = {}
            for group in groups:
                for run in group.runs:
                    device.update(run.device)
            rows.append([
                join([setting.profile or DASH, tag("small", setting.variant)],
                     ""),
                setting.order, setting.alloc, setting.map,
                setting.time_scale, setting.clock, seeds, setting.seed_use,
                str(sum(len(g.runs) for g in groups)),
                ", ".join(f"{k} {text(v)}" for k, v in device.items()
                          if k not in ("profile", "order", "alloc", "map",
                                       "time_scale", "seed"))])
        rows = [[tag("td", cell) for cell in row] for row in rows]
        return join([
            table(None, facts, "text facts"),
            table(["profile", "order", "alloc", "map", "time scale", "clock",
                   "seeds", "their use", "runs", "device"], rows, "text")])

    @staticmethod
    def claims(folder):
        """What the papers say beside what was found here."""
        claims = claims_of(folder)
        if not claims:
            return []
        rows = []
        for claim in claims:
            holds = claim.get("holds")
            verdict = tag("td", "holds", class_="yes") if holds is True else \
                tag("td", "does not hold", class_="fail") \
                if holds is False else tag("td", "open", class_="open")
            cells = texts(claim.get("cells"))
            more = [tag("small", "from " + ", ".join(cells[:6]) + (
                f" and {len(cells) - 6} more" if len(cells) > 6 else ""))] \
                if cells else []
            more += [tag("small", claim["note"])] if claim.get("note") else []
            wanted, judged = (number(claim.get(key))
                              for key in ("wanted", "judged"))
            if wanted and judged is not None and judged < wanted:
                more.append(tag("small", f"{judged:.0f} of {wanted:.0f} parts "
                                "were measured"))
            rows.append([
                text(claim.get("id")) or DASH,
                tag("td", claim.get("text"), *more),
                text(claim.get("paper")) or DASH,
                ours(claim), verdict])
        return [tag("h3", "Claims"), table(
            ["", "claim", "paper", "ours", "verdict"], rows, "text")]

    def group(self, folder, group):
        """Table and pictures of a workload."""
        import reportplots
        tail = reportplots.tail_key(group)
        setting = group.setting
        parts_ = [tag("h4", f"{group.workload}"),
                  group_table(group, tail, "failed"),
                  tag("p", f"Percentiles and mean: {group.latency_of}."
                      + (" They are those of the job that waited longest."
                         if "slowest" in group.latency_of else ""),
                      class_="note"),
                  jobs_table(group), tenants_table(group)]
        prefix = slug(folder.path.name, *setting[:4], f"x{setting.time_scale}"
                      if setting.time_scale != "1" else "",
                      setting.seed_use if setting.seed_use != "report" else "",
                      group.workload)
        left_out = []
        for kind, draw, what in self.kinds(group, tail):
            markup, reason = self.picture(
                lambda path, draw=draw: draw(path, group, self.style),
                f"{prefix}-{kind}", f"{kind} of {group.workload}",
                join([tag("b", f"{kind.capitalize()}, {group.workload}. "),
                      what + " ", circumstances(folder, group, kind)], ""))
            parts_.append(markup)
            if reason:
                left_out.append(f"{kind} ({reason})")
        # A lone scheduler has nothing to be compared with; no need to say.
        if left_out and len(group.cells) > 1:
            parts_.append(tag("p", "Pictures left out: "
                              + "; ".join(left_out) + ".", class_="note"))
        return parts_

    @staticmethod
    def kinds(group, tail):
        """(name, how to draw it, what it shows) of a group's pictures."""
        import reportplots
        bars = ("Bars and points are medians, whiskers the range over the "
                "seeds.")
        broken = " The broken line is none." if group.base else ""
        thin = (" Whiskers near 50, 90, 99 and 99.9 %: the range over the "
                "seeds. Dotted: fewer than 50 samples beyond.")
        front = (" Whiskers: the range over the seeds. The grey band, "
                 "the Pareto front, joins those that none beats in both. "
                 "Numbers are values of the tunable that was swept; the "
                 "legend names it. What failed a check is hollow and not on "
                 "the front.")
        panels = "All panels have the same axes."
        more = ()
        if any(cell.share for cell in group.cells):
            import shareplots
            more = (
                ("shares", shareplots.shares, "Shares received; broken "
                 "lines: where they are due. Medians over the seeds."),
                ("windows", shareplots.windows, "PV against the length of a "
                 "window that holds 50, 100, 200, ... requests of the tenant "
                 "with fewest, one seed; dotted: the worst window; broken "
                 "line: 0.1. Below 0.001 it is drawn there."),
                ("tenants", shareplots.course, "Bandwidth of each tenant "
                 "over time, one seed; the numbers are weights. " + panels))
        return (
            ("overview", reportplots.overview, bars + broken),
            ("latency", reportplots.cdf,
             "Median over the seeds of the latency at each quantile." + thin),
            ("trade-off", reportplots.tradeoff,
             (f"{reportplots.percentile_name(tail)} against bandwidth; right "
              "and down is better." if tail else "") + front),
            ("course", reportplots.series,
             "Bandwidth over time of one seed and, below it, what the "
             "device's garbage collection copied, in mapping units. "
             + panels),
            ("chips", reportplots.chips,
             "How busy each chip was over time, one seed; right above each "
             "panel the mean. " + panels),
            *more,
        )

    def cost(self, folder, anchor):
        """A measurement of cost."""
        parts_ = [tag("h2", "Cost", id=anchor)]
        summary = folder.summary
        facts = [("directory", tag("code", folder.shown)),
                 ("runs", plural(folder.cost_runs, "run"))]
        facts += [(key, text(summary[key])) for key in
                  ("commit", "kernel", "time", "began", "emulator")
                  if summary.get(key)]
        made = made_by(folder)
        if made:
            facts.append(("made by", tag("code", made)))
        facts += [("note", note) for note in folder.notes]
        parts_.append(table(None, facts, "text facts"))
        lines = cost_lines(summary)
        if not lines:
            parts_ += cost_unknown(summary)
            return join(parts_)
        parts_.append(tag(
            "p", "CPU time of an I/O, and what that is more than with no "
            "scheduler (none); means of the boots, each with another seed. "
            "The range of the boots is below them. Locks: spin locks that "
            "the scheduler's own functions take for an I/O.", class_="note"))
        import reportplots
        style = reportplots.styles(unique(
            (text(line.get("scheduler")), text(line["label"]))
            for line in lines))
        for disk in unique(text(line.get("disk")) for line in lines):
            mine = [line for line in lines if text(line.get("disk")) == disk]
            parts_ += [tag("h3", f"Disk {disk}"), cost_table(mine)]
            picture, reason = self.picture(
                lambda path, mine=mine, disk=disk: reportplots.cost(
                    path, disk, cost_panels(mine), style),
                slug(folder.path.name, "cost", disk), f"cost, {disk}",
                join([tag("b", f"Cost, {disk}. "), "Bars are means over the "
                      "boots, whiskers their range; broken line: fifo, what "
                      "any scheduler costs at least. Disk ", disk, ", "
                      "options ", tag("code", "; ".join(unique(
                          text(line.get("options")) for line in mine))),
                      ". To make it again: ", tag("code", made or
                                                  "scripts/bench-cost"),
                      ", then ", tag("code", f"scripts/report {folder.shown}"),
                      "."], ""))
            parts_.append(picture if not reason else
                          tag("p", f"No picture: {reason}.", class_="note"))
        return join(parts_)

    @staticmethod
    def physics(folders):
        """The model beside what it has to agree with."""
        parts_ = [tag("h2", "Physics of the simulated drive", id="physics"),
                  tag("p", "What flashsim's own stamps say beside closed "
                      "forms and an independent simulation "
                      "(scripts/physics). A figure that suites rest on is "
                      "worth what these rows are.", class_="note")]
        for folder in folders:
            parts_.append(tag("h3", tag("code", folder.shown)))
            rows = []
            for row in folder.physics:
                held = row.get("passed") is True
                error, most = (number(row.get(key))
                               for key in ("error", "tolerance"))
                rows.append([
                    text(row["name"]), figure(number(row.get("expected"))),
                    figure(number(row.get("measured"))),
                    text(row.get("unit")) or DASH,
                    figure(None if error is None else 100 * error),
                    figure(None if most is None else 100 * most),
                    tag("td", "holds" if held else "does not hold",
                        class_="yes" if held else "fail")])
            parts_.append(table(["", "expected", "measured", "unit", "off %",
                                 "allowed %", "verdict"], rows))
        return join(parts_)

    def correctness(self, folders):
        """Schema 1: verdicts, and a picture that exists already."""
        parts_ = [tag("h2", "Correctness", id="correctness"), tag(
            "p", "Runs on an emulated disk in the emulating machine's time: "
            "their counts and orders are exact, their times compare nothing.",
            class_="warn")]
        for folder in folders:
            parts_.append(tag("h3", tag("code", folder.shown)))
            parts_.append(tag("p", join(unique([
                "commit " + ", ".join(facts_of(folder, "commit")),
                "kernel " + ", ".join(facts_of(folder, "kernel")),
                made_by(folder), *folder.notes]), "; "), class_="note"))
            found = {}
            for run in folder.checked:
                found.setdefault(text(run["workload"]), []).append(run)
            parts_.append(table(
                ["workload", "runs", "passed", "failed", "failed runs"],
                [[name, str(len(runs)),
                  str(sum(run["passed"] is True for run in runs)),
                  tag("td", sum(run["passed"] is not True for run in runs),
                      class_="fail" if any(run["passed"] is not True
                                           for run in runs) else None),
                  ", ".join(text(run["id"]) for run in runs
                            if run["passed"] is not True) or DASH]
                 for name, runs in found.items()]))
            plot = folder.path / "plot.png"
            if plot.is_file():
                parts_.append(self.embed(
                    plot, f"counts of {folder.shown}", join(
                        ["Left: exact counts. Right, grey: times compare "
                         "nothing. ", "Made by ", tag("code", made_by(folder)
                                                      or "scripts/bench"),
                         "."], "")))
        return join(parts_)

    def unscaled(self):
        """What keeps the device's time from being exact."""
        found = {}
        for folder in self.folders:
            for run in folder.runs:
                for line in run.unscaled:
                    found.setdefault(line, []).append(run.label)
            for line in texts(folder.summary.get("unscaled")):
                found.setdefault(line, [])
        parts_ = [tag("h2", "What could not be scaled", id="unscaled")]
        if found:
            parts_.append(tag(
                "p", "Where the device runs slower by the time scale, every "
                "time constant of the system has to be slower by as much. "
                "These are not:", class_="note"))
            parts_.append(table(
                ["what", "runs", "of"],
                [[line, str(len(labels)) if labels else "the suite",
                  ", ".join(unique(labels)) or DASH]
                 for line, labels in found.items()], "text"))
        else:
            parts_.append(tag("p", "Nothing was reported."))
        rows = [row for folder in self.folders
                for row in map(scale_row, scale_pairs(folder))]
        if rows:
            parts_.append(tag(
                "p", "What the scaling changes: the same run with the device "
                "at its own speed (or at a smaller time scale).",
                class_="note"))
            parts_.append(table(
                ["workload", "scheduler", "variant", "time scales",
                 "bandwidth MB/s", "ratio", "latency", "µs", "ratio",
                 "CPU busy %"], rows))
        return join(parts_)

    def failures(self):
        """Each run with a failed check, and what went wrong besides."""
        rows = [[tag("code", folder.shown), run.id, name, said]
                for folder in self.folders for run in folder.runs
                for name, said in run.failed]
        for folder in self.folders:
            for run in folder.checked:
                bad = [(name, check) for name, check
                       in part(run, "checks").items()
                       if isinstance(check, dict) and not check.get("passed")]
                if run["passed"] is not True:
                    rows += [[tag("code", folder.shown), text(run["id"]),
                              name, text(check.get("text"))]
                             for name, check in bad or [("passed", {})]]
            rows += [[tag("code", folder.shown), "physics",
                      text(row["name"]),
                      f"off by {figure(100 * number(row['error']))} %"
                      if number(row.get("error")) is not None else ""]
                     for row in folder.physics if row.get("passed") is not True]
        troubles = [(folder.shown, line) for folder in self.folders
                    for line in texts(folder.summary.get("trouble"))]
        parts_ = [tag("h2", "Checks that failed", id="failed")]
        parts_.append(table(["directory", "run", "check", "what it says"],
                            rows, "text") if rows else
                      tag("p", "None."))
        if troubles:
            parts_ += [tag("h3", "Trouble"), bullets(
                join([tag("code", place), ": ", line], "")
                for place, line in troubles)]
        return join(parts_)

    def left_out(self):
        """Files that are not on the page."""
        parts_ = [tag("h2", "Files that were skipped", id="skipped")]
        parts_.append(table(
            ["file", "why"], [[tag("code", path), why]
                              for path, why in self.skipped], "text")
            if self.skipped else tag("p", "None."))
        return join(parts_)

    def render(self):
        """The whole page."""
        import reportplots
        self.style = reportplots.styles(sorted(
            {(run.scheduler, run.label) for f in self.folders
             for run in f.runs}, key=lambda pair: natural(pair[1])))
        sections, parts_ = [], []

        def add(anchor, title, markup):
            sections.append((anchor, title))
            parts_.append(markup)
        suites = [f for f in self.folders if f.runs]
        for n, folder in enumerate(suites, 1):
            anchor = f"suite-{n}"
            names = unique(g.setting.suite for g in folder.groups)
            add(anchor, f"Suite {', '.join(names)}, {folder.shown}",
                self.suite(folder, anchor))
        for n, folder in enumerate((f for f in self.folders if f.is_cost), 1):
            add(f"cost-{n}", f"Cost, {folder.shown}",
                self.cost(folder, f"cost-{n}"))
        physics = [f for f in self.folders if f.physics]
        if physics:
            add("physics", "Physics of the simulated drive",
                self.physics(physics))
        checked = [f for f in self.folders if f.checked]
        if checked:
            add("correctness", "Correctness", self.correctness(checked))
        add("unscaled", "What could not be scaled", self.unscaled())
        add("failed", "Checks that failed", self.failures())
        add("skipped", "Files that were skipped", self.left_out())
        head = join([
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, '
                 'initial-scale=1">'),
            Html(f'<meta name="generator" content="{GENERATOR}">'),
            tag("title", "Flash I/O schedulers: results"),
            tag("style", Html(CSS))])
        body = join([self.head(), self.contents(sections), *parts_,
                     tag("footer", "Made by ", tag("code", "scripts/report"),
                         "; docs/report.md says how to read it.")])
        return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>' \
            f"\n<body>\n{body}\n</body>\n</html>\n"


def facts_of(folder, key):
    """What the runs and the summary say about one circumstance."""
    return unique([run.facts.get(key) for run in folder.runs]
                  + [text(run.get(key)) for run in folder.checked]
                  + [text(folder.summary.get(key))])


def made_by(folder):
    """The command line behind a directory, if it was recorded."""
    return command(folder.summary) or next(
        (run.command for run in folder.runs if run.command), "")


def claims_of(folder):
    """The claims that the summary judges."""
    claims = folder.summary.get("claims")
    return [claim for claim in claims if isinstance(claim, dict)] \
        if isinstance(claims, list) else []


def ours(claim):
    """What was found, part by part if the claim has several."""
    parts_ = [one for one in claim.get("parts") or ()
              if isinstance(one, dict)] \
        if isinstance(claim.get("parts"), list) else []
    if len(parts_) < 2:
        return text(claim.get("ours")) or DASH
    words = {True: ("yes", "holds"), False: ("fail", "does not hold")}
    rows = []
    for one in parts_:
        holds = one.get("holds")
        style, word = words[holds] if isinstance(holds, bool) else \
            ("open", "open")
        rows.append(tag("li", text(one.get("text")), ": ", text(
            one.get("ours")), " ", tag("span", f"({word})", class_=style)))
    return tag("ul", *rows)


def scale_pairs(folder):
    """(group, cell, other) for cells that ran at two time scales."""
    found = {}
    for group in folder.groups:
        key = (group.setting._replace(time_scale=""), group.workload)
        for cell in group.cells:
            found.setdefault((*key, cell.label), []).append((group, cell))
    pairs = []
    for both in found.values():
        both.sort(key=lambda one: number_of(one[0].setting.time_scale))
        pairs += [(both[-1][0], both[-1][1], group, cell)
                  for group, cell in both[:-1]]
    return pairs


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


def number_of(word):
    """A text's number for sorting, 0 if it is none."""
    try:
        return float(word)
    except ValueError:
        return 0.0


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
    """What every caption says."""
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


def cost_lines(summary):
    """The cells of a cost summary that have a figure."""
    cells = summary.get("cells")
    return [cell for cell in cells if isinstance(cell, dict)
            and cell.get("label") and cell.get("disk")
            and number(cell.get("busy_ns_per_io")) is not None] \
        if isinstance(cells, list) else []


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


def counts(folders, skipped):
    """What was read, in words."""
    suites = [f for f in folders if f.runs]
    checked = [f for f in folders if f.checked]
    costs = sum(f.is_cost for f in folders)

    def places(found):
        return plural(len(found), "directory", "directories")
    said = []
    if suites:
        said.append(f"{plural(sum(len(f.runs) for f in suites), 'suite run')} "
                    f"in {places(suites)}")
    if checked:
        said.append(plural(sum(len(f.checked) for f in checked),
                           "correctness run") + f" in {places(checked)}")
    if costs:
        said.append(plural(costs, "cost measurement"))
    rows = sum(len(f.physics) for f in folders)
    if rows:
        said.append(plural(rows, "row") + " of physics")
    return (", ".join(said) or "nothing") + \
        (f"; {plural(len(skipped), 'file')} skipped" if skipped else "")


# --- command line -----------------------------------------------------------

def _folder(name):
    path = pathlib.Path(name)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(
            f"'{name}': want a directory with results, such as those below "
            "build/results")
    return path


def _target(name):
    path = pathlib.Path(name)
    page = path / "index.html"
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(
            f"'{name}': want a directory, or a name that is free")
    if page.exists() and GENERATOR not in page.read_text(
            encoding="utf-8", errors="replace")[:2000]:
        raise argparse.ArgumentTypeError(
            f"'{name}': holds an index.html that is not ours; want another "
            "directory")
    return path


def parse(argv):
    """The options."""
    parser = options.Parser(
        "report", usage="scripts/report [DIR...] [--out DIR]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 the page is written, whatever the results say; "
        "1 there is nothing\nto report, or the page cannot be written; 2 bad "
        "options. docs/report.md says\nhow to read the page.")
    add = parser.add_argument
    add("dirs", nargs="*", type=_folder, metavar="DIR",
        help="results, looked for in all below (default build/results)")
    add("--out", type=_target, metavar="DIR",
        default=REPO / "build" / "report",
        help="for the page (default build/report); an earlier page there is "
        "replaced")
    return parser.parse_args(argv)


def _clean(out):
    """Removes what an earlier report left; nothing but that."""
    try:
        page = (out / "index.html").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    for name in re.findall(r'<figure data-file="([\w.-]+\.png)">', page):
        (out / "plots" / name).unlink(missing_ok=True)


def _progress(total):
    if not sys.stdout.isatty():
        return lambda done: None
    return lambda done: print(
        f"\rreport: pictures, {done} of about {total} \x1b[K", end="",
        flush=True)


def say(line):
    """A message."""
    print(f"report: {line}", flush=True)


def write(page):
    """Writes the page of a Page; how many bytes."""
    page.out.mkdir(parents=True, exist_ok=True)
    _clean(page.out)
    content = page.render().encode()
    # At once or not at all: somebody may be reading the old one.
    new = page.out / "index.html.new"
    new.write_bytes(content)
    new.replace(page.out / "index.html")
    return len(content)


def run(args):
    """What scripts/report does; its status."""
    tops = args.dirs or [REPO / "build" / "results"]
    folders, skipped = read(tops)
    # The newest first: that is what one has come to see.
    folders.sort(key=lambda f: max(facts_of(f, "time")
                                   + facts_of(f, "began") + [""]),
                 reverse=True)
    say(f"read {counts(folders, skipped)}")
    for path, why in skipped[:20]:
        say(f"skipped {path}: {why}")
    if len(skipped) > 20:
        say(f"skipped {len(skipped) - 20} more"
            + ("; the page names all" if folders else ""))
    if not folders:
        print(f"report: no results in {', '.join(map(shown, tops))}; next: "
              "make bench", file=sys.stderr)
        return 1
    total = 5 * sum(len(f.groups) for f in folders) + \
        3 * sum(f.is_cost for f in folders)
    if total * SECONDS_PLOT > 10:
        say(f"up to {total} pictures, about "
            f"{max(1, round(total * SECONDS_PLOT / 60))} min")
    page = Page(args.out, folders, skipped, _progress(total))
    try:
        size = write(page)
    except OSError as error:
        print(f"report: {error}; next: is there room on the disk, may this "
              "user write here?", file=sys.stderr)
        return 1
    finally:
        if sys.stdout.isatty():
            print("\r\x1b[K", end="")
    say(f"{plural(len(page.plots), 'picture')}; the page: "
        f"{shown(args.out / 'index.html')} ({size / 1e6:.1f} MB, in one "
        "file)")
    return 0


def main(argv=None):
    """Command line of scripts/report."""
    args = parse(sys.argv[1:] if argv is None else argv)
    try:
        return run(args)
    except KeyboardInterrupt:
        print("report: interrupted, the page was not written",
              file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
