# SPDX-License-Identifier: GPL-2.0
"""How a suite shows what it does and what it has found."""

import sys
import time

from rich import box
from rich.progress import TextColumn
from rich.table import Table

import claims
import suitedata
from benchprogress import Bar, Lines, log_console

LOG_WIDTH = 120


# --- progress ----------------------------------------------------------------

class Clock:
    """Time left, from estimates and from how they held so far."""

    def __init__(self, now=time.monotonic):
        self.now = now
        self.ahead = {}         # run: estimate
        self.machines = 1
        self.begun = {}         # machine: (run, when)
        self.expected = self.took = 0.0

    def plan(self, estimates, machines):
        """The work, {run: seconds}, for a number of machines."""
        self.ahead = dict(estimates)
        self.machines = max(1, machines)

    def begin(self, machine, run):
        """A run begins."""
        self.begun[machine] = (run, self.now())

    def end(self, machine, run):
        """Records the end of a run; returns the seconds it took."""
        _, when = self.begun.pop(machine, (run, self.now()))
        took = self.now() - when
        estimate = self.ahead.pop(run, 0.0)
        if estimate:
            self.expected += estimate
            self.took += took
        return took

    def left(self):
        """Seconds until all is done."""
        # Of little weight at first: one run says little about all others.
        pace = (self.took + 30) / (self.expected + 30)
        rest = {run: seconds * pace for run, seconds in self.ahead.items()}
        for run, when in self.begun.values():
            rest[run] = max(0.0, rest.get(run, 0.0) - (self.now() - when))
        return max(sum(rest.values()) / self.machines,
                   max(rest.values(), default=0.0))


class Log(Lines):
    """A line for each run."""

    def __init__(self, total):
        self.total, self.count = total, 0
        self.clock = Clock()
        self.console = log_console(LOG_WIDTH)

    def begin(self, machine, run):
        """A run begins."""
        self.clock.begin(machine, run)

    def left_out(self, machine, run, text):
        """A run that will not be made."""
        self.clock.end(machine, run)
        self.total -= 1
        self.say(f"{run}: {text}")

    def done(self, machine, run, passed, text):
        """A run has ended; the seconds it took."""
        took = self.clock.end(machine, run)
        self.count += 1
        left = int(self.clock.left() + 0.5)
        self.line(f"[{self.count:{len(str(self.total))}d}/{self.total}] "
                  f"{run}: {text}; {took:.0f} s, "
                  f"{left // 60}:{left % 60:02d} left", passed)
        return took

    def line(self, text, passed):
        """The line of a run that has ended."""
        del passed
        print(f"bench: {text}", flush=True)


class Live(Bar, Log):
    """A bar at the bottom."""

    def __init__(self, total):
        super().__init__(total)
        self.open(total, TextColumn("{task.completed:.0f}/{task.total:.0f}"))

    def _show(self):
        left = int(self.clock.left() + 0.5)
        self.bar.update(
            self.task, completed=self.count, total=self.total,
            left=f"{left // 60}:{left % 60:02d} left",
            description=" + ".join(run for run, _ in
                                   self.clock.begun.values()) or "booting")

    def begin(self, machine, run):
        super().begin(machine, run)
        self._show()

    def line(self, text, passed):
        self._show()
        self.console.print(text, markup=False,
                           style="green" if passed else "bold red")


def progress(total):
    """The form that suits the output: a terminal or a log."""
    return (Live if sys.stdout.isatty() else Log)(total)


# --- tables ------------------------------------------------------------------

def _number(value, scale=1.0):
    """Three digits that count."""
    if value is None:
        return "-"
    value *= scale
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f}"


def figure(spread, scale=1.0):
    """A metric's median; its range below, where there are several seeds."""
    if not spread:
        return "-"
    text = _number(spread["median"], scale)
    low, high = (_number(spread[key], scale) for key in ("min", "max"))
    return text if low == high else f"{text}\n{low}-{high}"


def furthest(cells):
    """The furthest percentile that any of these cells has."""
    for name in suitedata.TAILS:
        if any(cell["metrics"].get(f"latency_{name}_s") for cell in cells):
            return name
    return None


def too_busy(cell):
    """Is the CPU under none more than it may be at this time_scale?"""
    share = claims.figure(cell, "busy_share")
    return cell["scheduler"] == "none" and cell["profile"] != "real" and \
        share is not None and share > suitedata.CPU_SHARE_MAX


def _table(*columns):
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=0)
    for n, name in enumerate(columns):
        table.add_column(name, justify="right" if n else "left", no_wrap=True)
    return table


def cell_tables(console, summary):
    """A table for each workload, variant and time scale."""
    groups = {}
    for cell in summary["cells"]:
        groups.setdefault((cell["workload"], cell["variant"],
                           cell["time_scale"]), []).append(cell)
    for (workload, variant, scale), cells in groups.items():
        tail = furthest(cells)
        critical = any(cell["metrics"]["latency_count"] for cell in cells)
        names = ["scheduler", "MB/s", "kIOPS"]
        if critical:
            names += ["mean\nus", f"{claims.percentile_name(tail or 'p50')}"
                      "\nus", "max\nus"]
        table = _table(*names, "CPU\n%", "WA", "chips\nbusy", "")
        for cell in cells:
            metrics = cell["metrics"]
            row = [cell["label"],
                   figure(metrics["bandwidth_bytes_per_s"], 1e-6),
                   figure(metrics["iops"], 1e-3)]
            if critical:
                row += [figure(metrics[f"latency_{name}_s"], 1e6)
                        for name in ("mean", tail or "p50", "max")]
            marks = ("" if cell["passed"] else "FAILED ") + \
                ("CPU!" if too_busy(cell) else "")
            table.add_row(*row, figure(metrics["busy_share"], 100),
                          figure(metrics["wa_milli"], 1e-3),
                          figure(metrics["utilisation_milli"], 1e-3),
                          marks, style=None if cell["passed"] else "red")
        first = cells[0]
        console.print(
            f"\n{workload}, {variant}: profile {first['profile']}, "
            f"{first['order']}, {first['alloc']}, time scale {scale}"
            if first["profile"] != "real" else
            f"\n{workload}: real device, real time",
            style="bold", markup=False)
        console.print(table)


def claim_table(console, rows):
    """The claims, each with its parts."""
    if not rows:
        return
    styles = {True: "green", False: "bold red", None: "dim"}
    title = None
    for row in sorted(rows, key=lambda row: list(claims.WORDS).index(
            claims.whose(row))):
        if title != claims.TITLES[claims.whose(row)]:
            title = claims.TITLES[claims.whose(row)]
            console.print(f"\n{title}", style="bold")
        console.print(f"{row['id']}: {claims.word(row, row['holds'])}: "
                      f"{row['text']}", style=styles[row["holds"]], markup=False)
        if row["judged"] < row["wanted"]:
            console.print(f"   judged by {row['judged']} of {row['wanted']} "
                          "observations", markup=False)
        if claims.wants(row):
            console.print(f"   {claims.SOURCES[claims.whose(row)]}: "
                          f"{claims.wants(row)}", markup=False)
        for part in row["parts"]:
            if part["holds"] is not None:
                console.print(f"   {claims.word(row, part['holds'])}: "
                              f"{claims.observed(part)}",
                              style=None if part["holds"] else "bold red",
                              markup=False)


def legend(console, summary):
    """Notes on all of the figures."""
    uses = sorted({f"{use} ({', '.join(map(str, seeds))})"
                   for use, seeds in summary["seed_uses"].items()})
    virtual = summary["clock"] == "virtual"
    console.print()
    console.print(
        f"seeds: {'; '.join(uses)}. Median (least-most) over seeds. '-': too "
        "few samples (a percentile wants 50 beyond it), or does not apply. "
        "Times are the device's" + (
            ": the guest's, divided by the time scale. " if virtual
            else ". ") + "CPU %: share of time the "
        + ("guest's one CPU, at 1 ns an instruction, was" if virtual
           else "machine's CPUs were") + " busy"
        + ("; 'CPU!': above 25 % under none, so the CPU shows in the figures."
           if virtual else "."), markup=False)
    if not virtual:
        console.print("REAL TIME on this machine: other load shows in the "
                      "figures.", markup=False)
    for text in summary["unscaled"]:
        console.print(f"not scaled: {text}", markup=False)
    for text in summary["left_out"]:
        console.print(f"left out: {text}", markup=False)


def results(console, summary):
    """Everything there is to print."""
    if not summary["cells"]:
        return
    cell_tables(console, summary)
    claim_table(console, summary["claims"])
    legend(console, summary)


def _percent(value):
    return "-" if value is None else f"{value * 100:.3f}"


def differences(console, found, what):
    """Prints the largest differences; are they within the limit?"""
    if not found:
        console.print(f"{what}: no run that both have", markup=False)
        return False
    table = _table("run", "IOPS %", "tail %", "which")
    worst = sorted(found, key=lambda d: -max(d["iops"] or 0, d["tail"] or 0))
    for one in worst:
        table.add_row(
            one["id"], _percent(one["iops"]), _percent(one["tail"]),
            claims.percentile_name(one["percentile"] or "-"))
    console.print(f"\n{what}: {len(found)} runs, furthest apart first",
                  style="bold", markup=False)
    console.print(table)
    largest = suitedata.largest(found)
    limit = suitedata.REPEAT_LIMIT
    good = all(value is not None and value <= limit
               for value, _ in largest.values() if value is not None)
    for key, name in (("iops", "IOPS"),
                      ("tail", "raw tail percentile, p99 at most")):
        value, run = largest[key]
        console.print(
            f"largest difference of {name}: "
            + (f"{value:.3%} ({run}), limit {limit:.1%}"
               if value is not None else "-"), markup=False)
    return good and largest["iops"][0] is not None


def as_json(found):
    """The part of the differences that summary.json has."""
    largest = suitedata.largest(found)
    return {"runs": len(found), "limit": suitedata.REPEAT_LIMIT,
            **{f"{key}_largest": value for key, (value, _)
               in largest.items()}}
