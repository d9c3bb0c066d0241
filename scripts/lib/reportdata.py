# SPDX-License-Identifier: GPL-2.0
"""The report's input: directories with results, their runs and groups.

read() turns directories into Folders; a Folder has Runs, a Setting is what makes
runs comparable, a Group is one workload in one setting, a Cell one scheduler in a
group with a run for each seed.
"""

import collections
import json
import os
import pathlib
import statistics

import reportshare
from reporttext import (
    natural, number, numbers, part, plural, text, texts, unique)

REPO = pathlib.Path(__file__).resolve().parents[2]


class Bad(ValueError):
    """A file that is no result; the text says why."""


Stat = collections.namedtuple("Stat", "median low high count")

# Fields that have to agree for a comparison. The use of a seed is one of them:
# a setting that was tuned on a draw must not be reported on that draw.
FIELDS = ("suite", "form", "profile", "variant", "order", "alloc", "map",
          "time_scale", "clock", "seed_use")
Setting = collections.namedtuple("Setting", FIELDS)

PERCENTILES = ("p50", "p90", "p95", "p99", "p99_9", "p99_99")
KNOWN_ORDER = ("none", "mq-deadline", "kyber", "bfq", "io.cost", "k2", "piq",
               "layer_read", "acfq", "hbfq")


def stat(values):
    """Stat of what is not None; None if nothing is."""
    values = [value for value in values if value is not None]
    if not values:
        return None
    return Stat(statistics.median(values), min(values), max(values),
                len(values))


class Run:
    """The part of a schema 2 run that the page needs."""

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
        """The jobs that the figures of latency are about."""
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
        self.locks = {}
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
                    self.physics or self.locks)

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
        # Figures to be reported precede those that settings were tuned with.
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
        if not (self.summary or self.physics or self.locks):
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
    if kind == "locks":
        rows = data.get("cells")
        rows = [row for row in rows if isinstance(row, dict) and number(
            row.get("own_per_io")) is not None] \
            if isinstance(rows, list) else []
        if not rows:
            raise Bad("locks without a count")
        folder.locks = {**data, "cells": rows}
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


def facts_of(folder, key):
    """The values of one circumstance in the runs and the summary."""
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


def number_of(word):
    """A text's number for sorting, 0 if it is none."""
    try:
        return float(word)
    except ValueError:
        return 0.0


def cost_lines(summary):
    """The cells of a cost summary that have a figure."""
    cells = summary.get("cells")
    return [cell for cell in cells if isinstance(cell, dict)
            and cell.get("label") and cell.get("disk")
            and number(cell.get("busy_ns_per_io")) is not None] \
        if isinstance(cells, list) else []
