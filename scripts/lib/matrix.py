# SPDX-License-Identifier: GPL-2.0
"""The results of scripts/check by scheduler and kernel."""

import json
import sys
import time

import options

# Row for results of no scheduler: a guest that did not boot, for example.
MACHINE = "(machine)"

_COUNTS = {"pass": "passed", "fail": "failed", "skip": "skipped"}


class Matrix:
    """Counts of one run."""

    def __init__(self):
        self.series = {}

    def begin(self, series, cases, release):
        """This kernel will be tried, with such cases: all, core or some.

        ", dealt" behind it: most of them with one scheduler each.
        """
        self.series[series] = {
            "cases": cases, "release": release,
            "date": time.strftime("%Y-%m-%d"), "schedulers": {}}

    def absent(self, series, reason):
        """This kernel cannot be had."""
        self.series[series] = {"absent": reason}

    def add(self, series, scheduler, verdict, seconds=0):
        """One result: pass, fail or skip."""
        rows = self.series.setdefault(series, {}).setdefault("schedulers", {})
        cell = rows.setdefault(scheduler, {
            "passed": 0, "failed": 0, "skipped": 0, "seconds": 0})
        cell[_COUNTS[verdict]] += 1
        cell["seconds"] += seconds

    def save(self, path, commit):
        """Into the file; kernels that this run left out keep their results."""
        old = load(path)
        for name, entry in self.series.items():
            # That a kernel cannot be had today says nothing of yesterday.
            if "absent" in entry and "absent" not in old.get(name, entry):
                continue
            old[name] = {**entry, "commit": commit}
        path.parent.mkdir(parents=True, exist_ok=True)
        options.write_json(path, {"schema": 1, "series": old})


def load(path):
    """{series: entry} of a file, {} if there is none."""
    try:
        return json.loads(path.read_text())["series"]
    except (OSError, ValueError, KeyError):
        return {}


def _cell(entry, scheduler):
    if not entry:
        return "not run"
    if "absent" in entry:
        return "not to be had"
    counts = entry["schedulers"].get(scheduler)
    if not counts:
        return "-"
    return f"{counts['passed']} / {counts['failed']} / {counts['skipped']}, " \
        f"{counts['seconds']} s"


def table(found, names):
    """Markdown: a row a scheduler, a column a kernel."""
    rows = sorted({scheduler for entry in found.values()
                   for scheduler in entry.get("schedulers", ())})
    heads = [name + ("" if found.get(name, {}).get("cases", "all") == "all"
                     else f" ({found[name]['cases']})") for name in names]
    lines = ["| scheduler | " + " | ".join(heads) + " |",
             "|---" * (len(heads) + 1) + "|"]
    for scheduler in rows:
        lines.append(f"| {scheduler} | " + " | ".join(
            _cell(found.get(name), scheduler) for name in names) + " |")
    kernels = [f"{name}: {entry['release']}, {entry['date']}, "
               f"{entry['commit']}" for name in names
               if "release" in (entry := found.get(name, {}))]
    return "\n".join([*lines, "", *kernels])


def show(path, names):
    """Prints the table of a file; an exit status."""
    found = load(path)
    if not found:
        print("check: no run has ended yet that could be shown: make check, "
              "or make check-all", file=sys.stderr)
        return 1
    print("passed / failed / skipped, and how long the cases took\n")
    print(table(found, [*names, *(n for n in found if n not in names)]))
    return 0
