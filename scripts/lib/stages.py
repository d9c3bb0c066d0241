# SPDX-License-Identifier: GPL-2.0
"""scripts/stages: splits the life of requests into stages, by a trace.

Reads what ftrace, blkparse or babeltrace (of LTTng) print of the block layer's
events, and of our schedulers' own if they are there, and says how long requests
of each priority class spent in submission, queueing, dispatch, the device and
completion.
"""

import argparse
import json
import math
import os
import pathlib
import re
import sys

import options
import toolname
from blocktrace import FORMATS, Source, TraceError

STAGES = ("submission", "queueing", "dispatch", "device", "completion")
QUANTILES = (("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999))
CLASSES = ("real-time", "metadata", "best effort", "idle", "all")


# --- requests ---------------------------------------------------------------

class Request:
    """Times and names known for one request."""

    __slots__ = ("sector", "sectors", "queued", "inserted", "chosen", "issued",
                 "ended", "label", "back", "left")

    def __init__(self, sector, sectors):
        self.sector, self.sectors, self.left = sector, sectors, sectors
        self.queued = self.inserted = self.chosen = None
        self.issued = self.ended = self.label = None
        self.back = False

    def stages(self, done):
        """{stage: ns} of one that was done with then; None: not known."""
        first = self.inserted if self.inserted is not None else self.issued
        found = {}
        if self.queued is not None:
            found["submission"] = first - self.queued
        if self.inserted is not None:
            if self.chosen is not None:
                found["queueing"] = self.chosen - self.inserted
                found["dispatch"] = self.issued - self.chosen
            else:
                found["queueing"] = self.issued - self.inserted
        found["device"] = self.ended - self.issued
        if done is not None:
            found["completion"] = done - self.ended
        return found


class Tracker:
    """Follows requests from event to event."""

    def __init__(self, device=None, real_time=()):
        self.device, self.real_time = device, frozenset(real_time)
        self.bios = {}          # (dev, first sector) -> (time, task)
        self.waiting = {}       # (dev, first sector) -> Request
        self.ends_at = {}       # (dev, sector behind) -> Request
        self.out = {}           # (dev, first sector) -> Request
        self.tags = {}          # (dev, hctx, tag) -> Request
        self.done = []          # (label or None, {stage: ns}, total)
        self.devices = set()
        self.seen = set()
        self.count = {"requeued": 0, "absorbed": 0, "unfinished": 0,
                      "negative": 0}

    def add(self, event):
        """The next event."""
        self.devices.add(event.dev)
        if self.device and event.dev != self.device:
            return
        # Flushes have no place on the disk by which they could be found again.
        if not event.sectors and event.kind != "c":
            return
        self.seen.add(event.kind)
        getattr(self, {"Q": "queue", "I": "insert", "D": "issue", "C": "end",
                       "R": "requeue", "M": "merge", "F": "front",
                       "i": "told_insert", "d": "chosen", "c": "freed",
                       }[event.kind])(event, (event.dev, event.sector))

    def name(self, event, request, who=None):
        """Sets the class of a request, as far as this event knows."""
        if event.label:
            request.label = event.label
        elif not request.label and self.real_time:
            request.label = "real-time" if (who or event.who) in \
                self.real_time else "best effort"

    def park(self, event, key, request):
        """Records that a request waits in the scheduler."""
        self.waiting[key] = request
        self.ends_at[event.dev, event.sector + event.sectors] = request

    def unpark(self, key):
        """Removes a request from those that wait; returns it."""
        request = self.waiting.pop(key, None)
        if request:
            end = (key[0], request.sector + request.sectors)
            if self.ends_at.get(end) is request:
                del self.ends_at[end]
        return request

    def queue(self, event, key):
        """A bio is on its way."""
        self.bios[key] = (event.time, event.who)

    def made(self, event, key):
        """A request that is seen for the first time."""
        request = Request(event.sector, event.sectors)
        bio = self.bios.pop(key, None)
        if bio:
            request.queued = bio[0]
        # The task that submitted it, not the one that happens to insert it.
        self.name(event, request, bio[1] if bio else None)
        return request

    def insert(self, event, key):
        """A request waits in the scheduler."""
        if key in self.waiting:
            return
        request = self.out.get(key)
        if request and request.back:
            return
        request = self.made(event, key)
        request.inserted = event.time
        self.park(event, key, request)

    def told_insert(self, event, key):
        """The scheduler reports it itself, after the block layer has."""
        if event.why != "order":
            return
        self.insert(event, key)
        if key in self.waiting:
            self.name(event, self.waiting[key])

    def chosen(self, event, key):
        """The scheduler hands it to the block layer."""
        request = self.waiting.get(key)
        if not request:
            return
        request.chosen = event.time
        self.name(event, request)
        self.tags[(event.dev, *event.tag)] = request

    def issue(self, event, key):
        """The driver has it."""
        request = self.unpark(key) or self.out.get(key)
        if not request or request.ended is not None:
            request = self.made(event, key)
        request.issued = event.time
        request.sectors = request.left = event.sectors
        self.name(event, request)
        self.out[key] = request

    def end(self, event, key):
        """Handles the end of a request, or of a part of it."""
        request = self.out.get(key)
        if not request or request.issued is None:
            return
        del self.out[key]
        request.left -= event.sectors
        if request.left > 0:
            self.out[event.dev, event.sector + event.sectors] = request
            return
        request.ended = event.time
        # A request that was chosen with a tag is finished when freed() sees the tag.
        if request.chosen is None:
            self.finish(request, None)

    def freed(self, event, _):
        """The scheduler is done with it."""
        request = self.tags.pop((event.dev, *event.tag), None)
        if request and request.ended is not None:
            self.finish(request, event.time)
        elif request and event.why == "requeued":
            request.back = True

    def requeue(self, event, key):
        """The driver has handed it back: it is issued again, without being inserted."""
        request = self.out.get(key)
        if request:
            request.back = True
            request.chosen = None

    def merge(self, event, key):
        """A bio, or a request that waits, has joined the one before it."""
        # Both look alike in blkparse; a request's bio has been seen before.
        if not self.bios.pop(key, None) and self.unpark(key):
            self.count["absorbed"] += 1
        request = self.ends_at.pop(key, None)
        if request:
            request.sectors += event.sectors
            request.left = request.sectors
            self.ends_at[event.dev, request.sector + request.sectors] = request

    def front(self, event, key):
        """A bio has joined the request behind it, which begins with it now."""
        self.bios.pop(key, None)
        request = self.waiting.pop((event.dev, event.sector + event.sectors),
                                   None)
        if request:
            request.sector = event.sector
            request.sectors += event.sectors
            request.left = request.sectors
            self.waiting[key] = request

    def finish(self, request, done):
        """All of its stages are known."""
        if request.back:
            self.count["requeued"] += 1
            return
        stages = request.stages(done)
        if min(stages.values()) < 0:
            self.count["negative"] += 1
            return
        self.done.append((request.label, stages))

    def close(self):
        """The trace is over."""
        self.count["unfinished"] = len(self.waiting) + sum(
            request.ended is None for request in self.out.values())
        for request in self.tags.values():
            # Its end was seen, but not that it was freed.
            if request.ended is not None:
                self.finish(request, None)


def quantile(values, part):
    """The smallest of sorted values that so large a part is not above."""
    return values[max(0, math.ceil(len(values) * part) - 1)]


def line(values):
    """The figures of some times, ns."""
    values = sorted(values)
    found = {"requests": len(values), "mean_us": sum(values) / len(values) / 1e3,
             "max_us": values[-1] / 1e3}
    for name, part in QUANTILES:
        found[f"{name}_us"] = quantile(values, part) / 1e3
    return found


def summarise(tracker):
    """{class: {stage: figures}}, with "total", the sum of what is known."""
    groups = {}
    known = any(label for label, _ in tracker.done)
    for label, stages in tracker.done:
        group = groups.setdefault(
            (label or "best effort") if known else "all", {})
        for name, ns in stages.items():
            group.setdefault(name, []).append(ns)
        group.setdefault("total", []).append(sum(stages.values()))
    return {label: {name: line(groups[label][name])
                    for name in (*STAGES, "total") if name in groups[label]}
            for label in CLASSES if label in groups}


# --- output ------------------------------------------------------------------

def table(classes):
    """The table's lines."""
    columns = ["requests", "mean", *(name for name, _ in QUANTILES), "max", "%"]
    found = [f"{'class':<12} {'stage':<11}" +
             "".join(f"{name:>11}" for name in columns)]
    for label, stages in classes.items():
        total = stages["total"]["mean_us"] * stages["total"]["requests"]
        for name in (*STAGES, "total"):
            row = stages.get(name)
            if not row:
                found.append(f"{label:<12} {name:<11}" +
                             "".join(f"{'-':>11}" for _ in columns))
                continue
            share = 100 * row["mean_us"] * row["requests"] / total \
                if total else 0
            found.append(
                f"{label:<12} {name:<11}{row['requests']:>11}" + "".join(
                    f"{row[key]:>11.1f}" for key in
                    ("mean_us", *(f"{q}_us" for q, _ in QUANTILES), "max_us"))
                + f"{share:>11.1f}")
    return found


def notes(tracker, lost, classes):
    """Notes beside the table."""
    count, found = tracker.count, []
    if lost:
        found.append(f"{lost} events were lost: record with larger buffers")
    for key, text in (
            ("requeued", "requests left out: the driver had handed them back"),
            ("negative", "requests left out: their times go backwards"),
            ("absorbed", "requests that merged with another one while they "
             "waited"),
            ("unfinished", "requests without an end in the trace")):
        if count[key]:
            found.append(f"{count[key]} {text}")
    if "d" not in tracker.seen:
        found.append("no flash_dispatch events: queueing includes dispatch, "
                     "and completion is not known")
    if "Q" not in tracker.seen:
        found.append("no block_bio_queue events: submission is not known")
    if not tracker.seen & {"I", "i"}:
        found.append("nothing was inserted: no scheduler, or its events are "
                     "not in the trace")
    if "all" in classes:
        found.append("no priority is known: name real-time tasks by "
                     "--real-time")
    return found


def plot(path, classes, title):
    """Mean times, stacked, and quantiles of each stage."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        raise TraceError("--plot: no matplotlib; next: apt-get install "
                         "python3-matplotlib") from None

    colours = dict(zip(STAGES, ("#4477aa", "#ee6677", "#ccbb44", "#228833",
                                "#aa3377")))
    labels = list(classes)
    figure, (means, spread) = pyplot.subplots(
        1, 2, layout="constrained", figsize=(11, 2.2 + 0.9 * len(labels)))
    for place, label in enumerate(labels):
        left = 0.0
        for name in STAGES:
            row = classes[label].get(name)
            if not row:
                continue
            # Stages that only some requests have count with their part.
            mean = row["mean_us"] * row["requests"] / \
                classes[label]["total"]["requests"]
            means.barh(place, mean, left=left, color=colours[name], height=0.6)
            left += mean
        there = [name for name in STAGES if name in classes[label]]
        for n, name in enumerate(there):
            row = classes[label][name]
            at = place + 0.6 * ((n + 0.5) / len(there) - 0.5)
            low, high = (max(row[key], 0.1) for key in ("p50_us", "p99.9_us"))
            spread.plot([low, high], [at, at], color=colours[name],
                        linewidth=2)
            spread.plot([max(row["p99_us"], 0.1)], [at], marker="|",
                        color=colours[name], markersize=9)
    handles = [pyplot.Rectangle((0, 0), 1, 1, color=colours[name])
               for name in STAGES]
    means.legend(handles, STAGES, ncols=len(STAGES), frameon=False, fontsize=8,
                 loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0,
                 handlelength=1, columnspacing=1)
    spread.set_xscale("log")
    for axis, text in ((means, "mean, us"),
                       (spread, "p50 to p99.9, | at p99, us")):
        axis.set_yticks(range(len(labels)), labels)
        axis.invert_yaxis()
        axis.set_xlabel(text, fontsize=9)
        axis.grid(axis="x", color="0.9", linewidth=0.8)
        axis.set_axisbelow(True)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def device(text):
    """An argparse type: MAJOR:MINOR, as in /sys/block/*/dev."""
    match = re.fullmatch(r"(\d{1,4})[:,](\d{1,7})", text)
    if not match:
        raise argparse.ArgumentTypeError(
            f"'{text}': want MAJOR:MINOR, as in /sys/block/DISK/dev")
    return int(match[1]), int(match[2])


def names(text):
    """An argparse type: names of tasks, commas between."""
    found = text.split(",")
    if not all(found) or len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(
            f"'{text}': want names of tasks, commas between")
    # The kernel keeps 15 characters of a name.
    return [name[:15] for name in found]


def parse(argv):
    """The command line."""
    parser = options.Parser("stages", description=(
        "Splits the life of requests into submission, queueing, dispatch, "
        "device and completion, by priority class. docs/stages.md says how to "
        "record a trace."))
    parser.add_argument("trace", metavar="TRACE", help="what ftrace, blkparse or babeltrace "
                        "printed; - for standard input")
    parser.add_argument("--format", choices=("auto", *FORMATS), default="auto",
                        help="by its first lines, if it is not said")
    parser.add_argument("--device", type=device, metavar="MAJOR:MINOR",
                        help="of this disk only; wanted if there are several")
    parser.add_argument("--real-time", type=names, metavar="TASK,...",
                        default=[], help="requests of tasks of these names "
                        "are real-time, where the trace says no priority")
    parser.add_argument("--plot", metavar="FILE",
                        help="write a picture, .png, .svg or .pdf")
    parser.add_argument("--json", metavar="FILE", help="write the figures")
    args = parser.parse_args(argv)
    if args.plot and pathlib.Path(args.plot).suffix not in \
            (".png", ".svg", ".pdf"):
        parser.error(f"--plot '{args.plot}': want a name that ends in .png, "
                     ".svg or .pdf")
    return args


def measure(args):
    """The tracker of a trace, and how many events were lost."""
    source = Source(args.trace, args.format)
    tracker = Tracker(args.device, args.real_time)
    for event in source.events():
        tracker.add(event)
    tracker.close()
    if not tracker.devices:
        raise TraceError(f"{args.trace}: no event of a request that "
                          f"{source.form} would print")
    if args.device and args.device not in tracker.devices:
        raise TraceError(
            f"{args.trace}: no events of {args.device[0]}:{args.device[1]}; "
            "there are " + ", ".join(f"{a}:{b}" for a, b in
                                     sorted(tracker.devices)))
    if not args.device and len(tracker.devices) > 1:
        raise TraceError(
            f"{args.trace}: events of several devices: choose one by --device: "
            + ", ".join(f"{a}:{b}" for a, b in sorted(tracker.devices)))
    for kind, name in (("D", "block_rq_issue"), ("C", "block_rq_complete")):
        if kind not in tracker.seen:
            raise TraceError(f"{args.trace}: no {name} events")
    if not tracker.done:
        raise TraceError(f"{args.trace}: no request from its issue to its end")
    return tracker, source.lost


def write(path, how):
    """Calls how(temporary name), which appears as `path` when it is whole."""
    new = f"{path}.new{pathlib.Path(path).suffix}"
    try:
        how(new)
        os.replace(new, path)
    except OSError as err:
        raise TraceError(f"{path}: {err.strerror or err}") from None


def main(argv=None):
    """Prints the table; writes what else is wanted."""
    args = parse(argv)
    if args.plot:
        options.need("bench")
    try:
        tracker, lost = measure(args)
        classes = summarise(tracker)
        said = notes(tracker, lost, classes)
        print("us" + "\n" + "\n".join(table(classes)))
        for note in said:
            print(f"note: {note}")
        if args.json:
            write(args.json, lambda new: pathlib.Path(new).write_text(
                json.dumps({"classes": classes, "notes": said}, indent=1)
                + "\n", encoding="utf-8"))
        if args.plot:
            write(args.plot, lambda new: plot(
                new, classes, "Where the time of requests goes"))
    except TraceError as err:
        print(f"{toolname.prefix('stages')}: {err}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
