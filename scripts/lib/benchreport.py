# SPDX-License-Identifier: GPL-2.0
"""How scripts/bench shows what it does and what it has found."""

import sys
import time

from rich import box
from rich.progress import MofNCompleteColumn
from rich.table import Table

from benchprogress import Bar, Lines, log_console

NOT_COMPARABLE = "wall clock, emulated: not comparable"
CAPTION = ("Counts are exact, whatever the machine was doing. Wall-clock times "
           "(grey, behind the bar) are those of an EMULATED machine and "
           "compare nothing: neither schedulers with each other nor with other "
           "machines. '-': does not apply, or too few samples (a percentile "
           "wants 50 beyond it).")
COLUMNS = (
    "scheduler", "check", "RT\ndone", "all\ndone", "order\nbroken",
    "over-\ntook RT\nmax", "ahead\nof RT\nmean", "ahead\nof RT\nmax",
    "in\nflight\nmax", "bound", "pause\nmax s")
WALL_COLUMNS = ("RT mean\nms", "RT p99\nms", "RT p99.9\nms", "total\nMB/s")
# Below this the wall-clock columns get a table of their own.
ONE_TABLE_WIDTH = 106
LEGEND = (
    "order broken: best-effort requests that k2 chose while a real-time one "
    "was queued",
    "overtook RT: best-effort requests issued between insert and issue of one "
    "real-time request",
    "ahead of RT: requests that were in the device when a real-time one got "
    "there",
    "pause: longest time without a completion while requests were "
    "outstanding, guest time",
)


# --- progress ---------------------------------------------------------------

def _left(seconds):
    seconds = int(seconds + 0.5)
    return f"{seconds // 60}:{seconds % 60:02d} left"


class _Clock:
    """Time left, from the runs made so far."""

    def __init__(self, total):
        self.total = total
        self.done = 0
        self.first = None
        self.begun = None

    def begin(self):
        """A run begins."""
        self.begun = time.monotonic()
        self.first = self.first or self.begun

    def end(self):
        """Counts a run that has ended; returns its seconds."""
        self.done += 1
        return time.monotonic() - self.begun

    def left(self):
        """Seconds for what remains; None before there is an experience."""
        if not self.done:
            return None
        each = (time.monotonic() - self.first) / self.done
        return each * (self.total - self.done)


class PlainProgress(Lines):
    """A line for each run: for logs."""

    def __init__(self, total):
        self.clock = _Clock(total)
        self.console = log_console(160)

    def begin(self, name):
        """Run `name` begins."""
        del name
        self.clock.begin()

    def left_out(self, text):
        """A run that will not be made."""
        self.clock.total -= 1
        self.say(text)

    def done(self, name, passed, text):
        """Run `name` has ended."""
        del passed
        took = self.clock.end()
        left = self.clock.left()
        self.say(f"[{self.clock.done:2d}/{self.clock.total}] {name}: {text}, "
                 f"{took:.1f} s; {_left(left)}")


class LiveProgress(Bar, PlainProgress):
    """A bar at the bottom: for terminals."""

    def __init__(self, total):
        super().__init__(total)
        self.open(total, MofNCompleteColumn())

    def begin(self, name):
        super().begin(name)
        self.bar.update(self.task, description=name)

    def left_out(self, text):
        super().left_out(text)
        self.bar.update(self.task, total=self.clock.total)

    def done(self, name, passed, text):
        took = self.clock.end()
        left = self.clock.left()
        self.bar.update(self.task, advance=1, left=_left(left))
        self.console.print(f"{name}: {text}, {took:.1f} s",
                           style="green" if passed else "bold red",
                           markup=False)


def progress(total):
    """The form that suits the output: a terminal or a log."""
    return (LiveProgress if sys.stdout.isatty() else PlainProgress)(total)


# --- figures ----------------------------------------------------------------

def _text(value, scale=1.0, digits=0):
    return "-" if value is None else f"{value * scale:.{digits}f}"


def row(record):
    """A run's cells, those of COLUMNS and those of WALL_COLUMNS."""
    checks, exact, wall = (record["checks"], record["exact"],
                           record["wall_clock"])
    completed = checks["completed"]
    failed = [name for name, check in checks.items() if not check["passed"]]
    ordered = checks.get("order_kept")
    cells = [
        record["label"], "ok" if not failed else "FAIL",
        f"{completed['rt_completed']}/{completed['rt_requested']}",
        str(completed["completed"])
        + ("" if completed["completed"] == completed["issued"]
           else f"/{completed['issued']}"),
        str(ordered["violations"]) if ordered else "-",
        _text(exact["rt_overtaken_max"]),
        _text(exact["rt_ahead_in_device_mean"], digits=1),
        _text(exact["rt_ahead_in_device_max"]),
        _text(exact["inflight_max"]),
        _text(record["bound"]),
        _text(checks["no_stall"]["longest_pause_s"], digits=1),
    ]
    walls = [
        _text(wall["rt_latency_mean_s"], 1e3, 2),
        _text(wall["rt_latency_p99_s"], 1e3, 2),
        _text(wall["rt_latency_p99_9_s"], 1e3, 2),
        _text(wall["bandwidth_bytes_per_s"], 1e-6, 1),
    ]
    return cells, walls


def summary(records, circumstances):
    """The summary: what all have in common, a line a run, what failed."""
    return {
        "schema": 1,
        **circumstances,
        "runs_done": len(records),
        "passed": bool(records) and all(r["passed"] for r in records),
        "failed": {
            r["id"]: [name for name, check in r["checks"].items()
                      if not check["passed"]]
            for r in records if not r["passed"]},
        "wall_clock_comparable": False,
        "runs": [{
            **{key: r[key] for key in
               ("id", "workload", "scheduler", "bound", "passed")},
            "exact": r["exact"], "wall_clock": r["wall_clock"],
        } for r in records],
    }


def about(summary_):
    """The circumstances in one line."""
    device, emulator = summary_["device"], summary_["emulator"]
    return (f"Linux {summary_['kernel']}, {emulator['accelerator']}, "
            f"{emulator['cpus']} CPUs; {device['model']}, "
            f"{device['hw_queues']} queues; commit {summary_['commit']}; seed "
            f"{summary_['seed']}, {summary_['requests']} RT requests a run")


def workloads(records):
    """{workload: its records}, in the order they were made."""
    found = {}
    for record in records:
        found.setdefault(record["workload"], []).append(record)
    return found


def _add_columns(shown, names, left, **style):
    for n, name in enumerate(names):
        shown.add_column(name, justify="left" if n < left else "right",
                         no_wrap=True, **style)


def _new_table():
    return Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 0))


def table(console, records, summary_):
    """Prints a table a workload."""
    together = console.width >= ONE_TABLE_WIDTH
    dim = {"style": "dim", "header_style": "dim"}
    for workload, group in workloads(records).items():
        exact = _new_table()
        _add_columns(exact, COLUMNS, 2)
        if together:
            _add_columns(exact, ("|",) + WALL_COLUMNS, 1, **dim)
        wall = _new_table()
        _add_columns(wall, COLUMNS[:1] + WALL_COLUMNS, 1, **dim)
        for record in group:
            cells, walls = row(record)
            exact.add_row(*cells, *(["|", *walls] if together else []),
                          style=None if record["passed"] else "red")
            wall.add_row(cells[0], *walls)
        # No table title: rich would wrap it to the table's width.
        console.print(f"\n{workload}: exact counts" + (
            f" | {NOT_COMPARABLE}" if together else ""), style="bold")
        console.print(exact)
        if not together:
            console.print(f"\n{workload}: {NOT_COMPARABLE}", style="dim")
            console.print(wall)
    console.print()
    for line in LEGEND:
        console.print(line, markup=False)
    console.print(about(summary_), markup=False)
    console.print(CAPTION, markup=False)


# --- plot -------------------------------------------------------------------

def plot(path, records, summary_):
    """Two panels a workload: exact counts, and wall-clock times in grey."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    groups = workloads(records)
    widest = max(len(group) for group in groups.values())
    figure, axes = pyplot.subplots(
        len(groups), 2, squeeze=False, layout="constrained",
        figsize=(max(9.0, 3.0 + 0.95 * widest), 1.6 + 2.9 * len(groups)))
    for (left, right), (workload, group) in zip(axes, groups.items()):
        _exact_panel(left, workload, group)
        _wall_panel(right, workload, group)
    handles, labels = axes[0][0].get_legend_handles_labels()
    axes[0][0].legend(handles, labels, fontsize=8, loc="lower left",
                      bbox_to_anchor=(0, 1.12), borderaxespad=0,
                      frameon=False)
    figure.suptitle("What a real-time request meets: three best-effort jobs "
                    "at depth 32", fontsize=13, fontweight="bold")
    figure.supxlabel(
        about(summary_) + "\nLeft: exact. Right, grey: wall-clock times of an "
        "emulated machine; they compare nothing.", fontsize=8)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _style(axis, labels):
    axis.set_xticks(range(len(labels)), labels, rotation=40, ha="right",
                    rotation_mode="anchor", fontsize=8)
    axis.tick_params(axis="y", labelsize=8)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    axis.grid(axis="y", color="0.9", linewidth=0.8)
    axis.set_axisbelow(True)


def _exact_panel(axis, workload, group):
    places = range(len(group))
    exact = [record["exact"] for record in group]
    axis.bar(places, [e["rt_ahead_in_device_max"] or 0 for e in exact],
             color="#b9d3ee", width=0.75,
             label="in the device before it, max")
    axis.bar(places, [e["rt_ahead_in_device_mean"] or 0 for e in exact],
             color="#2f6db3", width=0.45,
             label="in the device before it, mean")
    known = [(n, e["rt_overtaken_max"]) for n, e in zip(places, exact)
             if e["rt_overtaken_max"] is not None]
    axis.plot([n for n, _ in known], [value for _, value in known], "D",
              color="#c23b22", markersize=5,
              label="issued between its insert and its issue, max")
    for n, record in zip(places, group):
        if not record["passed"]:
            axis.annotate("check failed", (n, 0), (0, 4), rotation=90,
                          textcoords="offset points", ha="center",
                          fontsize=7, color="#c23b22")
    axis.set_title(f"{workload}: exact", fontsize=10, loc="left")
    axis.set_ylabel("requests", fontsize=8)
    _style(axis, [record["label"] for record in group])


def _wall_panel(axis, workload, group):
    places = range(len(group))
    wall = [record["wall_clock"] for record in group]
    axis.bar(places, [1e3 * (w["rt_latency_mean_s"] or 0) for w in wall],
             color="0.8", width=0.6)
    axis.set_ylabel("RT mean latency, ms (bars)", fontsize=8, color="0.45")
    axis.set_title(f"{workload}: {NOT_COMPARABLE}", fontsize=10, loc="left",
                   color="0.45")
    _style(axis, [record["label"] for record in group])
    other = axis.twinx()
    other.plot(places, [w["bandwidth_bytes_per_s"] / 1e6 for w in wall], "o",
               color="0.45", markersize=4)
    other.set_ylim(bottom=0)
    other.set_ylabel("total MB/s (dots)", fontsize=8, color="0.45")
    other.tick_params(labelsize=8, colors="0.45")
    for side in ("top", "left"):
        other.spines[side].set_visible(False)
    axis.tick_params(colors="0.45")
