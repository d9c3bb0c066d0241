# SPDX-License-Identifier: GPL-2.0
"""Events of requests, as ftrace, blkparse and babeltrace (of LTTng) print them."""

import re
import sys

FORMATS = ("ftrace", "blktrace", "lttng")
PRIOS = {"rt": "real-time", "be": "best effort", "none": "best effort",
         "idle": "idle"}
NUMBERED = {0: "best effort", 1: "real-time", 2: "best effort", 3: "idle"}
K2_META = 8
# Number of lines in which a format is recognized; a trace may begin with much else.
LOOKED_AT = 5000
LONGEST_LINE = 1 << 16
DAY_NS = 86400 * 10**9

# The events of a request, by the letters of blktrace where it has one.
KINDS = {
    "block_bio_queue": "Q", "block_rq_insert": "I", "block_rq_issue": "D",
    "block_rq_complete": "C", "block_rq_requeue": "R",
    "block_bio_backmerge": "M", "block_bio_frontmerge": "F",
    "block_rq_merge": "M",
    "flash_insert": "i", "flash_dispatch": "d", "flash_complete": "c",
}

FTRACE = re.compile(
    r"\s*(?P<task>.+)-(?P<pid>\d+)\s+(?:\([-\s\d]+\)\s+)?\[\d+\]\s+"
    r"(?:[^\s:]+\s+)?(?P<time>[\d.]+): (?P<event>\w+): (?P<rest>.*)")
BLOCK = re.compile(
    r"(?P<major>\d+),(?P<minor>\d+) (?P<rwbs>\S+) (?:\d+ )?(?:\([^)]*\) )?"
    r"(?P<sector>\d+) \+ (?P<sectors>\d+)(?: (?P<prio>[a-z]+),\d+,\d+)?"
    r" \[(?P<who>.*)\]")
FLASH = re.compile(
    r"(?P<major>\d+),(?P<minor>\d+) op \d+ (?P<sector>\d+) \+ (?P<sectors>\d+)"
    r" hctx (?P<hctx>\d+) tag (?P<tag>-?\d+) class (?P<class>-?\d+)"
    r" prio (?P<prio>\d+) .*\bwhy (?P<why>\w+)")
BLKPARSE = re.compile(
    r"\s*(?P<major>\d+),(?P<minor>\d+)\s+\d+\s+\d+\s+(?P<time>\d+\.\d+)\s+\d+\s+"
    r"(?P<kind>[A-Z]+)\s+(?P<rwbs>[A-Z]+)\s+(?P<sector>\d+) \+ (?P<sectors>\d+)"
    r"(?: \[(?P<who>.*)\])?")
LTTNG = re.compile(
    r"\[(?P<time>[-\d :.]+)\] (?:\(\+[^)]*\) )?(?:\S+ )?(?P<event>block_\w+): "
    r"(?P<rest>\{.*)")
FIELD = re.compile(r"(\w+) = (\"(?:[^\"\\]|\\.)*\"|-?(?:0x)?[0-9A-Fa-f]+)")
LOST = re.compile(r"CPU:\d+ \[LOST (\d+) EVENTS\]")
# The head of a saved ftrace, which has no such lines.
WRITTEN = re.compile(r"\s*# entries-in-buffer/entries-written: (\d+)/(\d+)\b")
# The form of a line, whatever its event.
LINES = {
    "ftrace": FTRACE,
    "blktrace": re.compile(r"\s*\d+,\d+\s+\d+\s+\d+\s+\d+\.\d+\s+\d+\s+[A-Z]"),
    "lttng": re.compile(r"\[[-\d :.]+\] .*\w: \{"),
}
# Of LTTng's rwbs.
LTTNG_WRITE, LTTNG_DISCARD, LTTNG_READ = 1, 2, 4


class TraceError(Exception):
    """The error in a trace or in a query of it, one line."""


class Event:
    """Something that happened to a bio or a request."""

    __slots__ = ("time", "kind", "dev", "sector", "sectors", "who", "label",
                 "tag", "why", "read")

    def __init__(self, time, kind, dev, sector, sectors):
        self.time, self.kind, self.dev = time, kind, dev
        self.sector, self.sectors = sector, sectors
        self.who = self.label = self.tag = self.why = None
        # False: a write; None: neither, or not known.
        self.read = None


# --- formats ----------------------------------------------------------------

def nanoseconds(text):
    """A decimal number of seconds, exactly."""
    whole, _, part = text.partition(".")
    return int(whole) * 10**9 + int((part + "000000000")[:9])


def is_read(rwbs):
    """The direction in a request's letters: R or W; None: a flush, a discard and so on."""
    # A flush before it is an F in front.
    match = re.match(r"F?([RW])", rwbs)
    return match[1] == "R" if match else None


def from_ftrace(line):
    """The event of a line of the kernel's own trace, or None."""
    match = FTRACE.match(line)
    if not match or match["event"] not in KINDS:
        return None
    kind = KINDS[match["event"]]
    what = (FLASH if kind.islower() else BLOCK).match(match["rest"])
    if not what:
        return None
    if "." not in match["time"]:
        raise TraceError(
            "the trace's clock counts, it tells no time: "
            "echo mono >/sys/kernel/tracing/trace_clock and record it anew")
    event = Event(nanoseconds(match["time"]), kind,
                  (int(what["major"]), int(what["minor"])),
                  int(what["sector"]), int(what["sectors"]))
    if kind.islower():
        event.tag = (int(what["hctx"]), int(what["tag"]))
        event.why = what["why"]
        event.label = NUMBERED.get(int(what["prio"]))
        if event.label != "real-time" and int(what["class"]) == K2_META:
            event.label = "metadata"
    else:
        event.label = PRIOS.get(what["prio"])
        event.read = is_read(what["rwbs"])
        # At an end this is the error.
        if kind not in "CR":
            event.who = what["who"]
    return event


def from_blktrace(line):
    """The event of a line of blkparse, or None."""
    match = BLKPARSE.match(line)
    if not match or match["kind"] not in ("Q", "I", "D", "C", "R", "M", "F"):
        return None
    event = Event(nanoseconds(match["time"]), match["kind"],
                  (int(match["major"]), int(match["minor"])),
                  int(match["sector"]), int(match["sectors"]))
    event.read = is_read(match["rwbs"])
    if match["kind"] not in "CR":
        event.who = match["who"]
    return event


def clock(text):
    """A time of babeltrace: of the day, with or without it, or in seconds."""
    text = text.rsplit(" ", 1)[-1]
    if ":" not in text:
        return nanoseconds(text)
    hours, minutes, seconds = text.split(":")
    return (int(hours) * 3600 + int(minutes) * 60) * 10**9 + nanoseconds(seconds)


def from_lttng(line):
    """The event of a line of babeltrace, or None."""
    match = LTTNG.match(line)
    if not match or match["event"] not in KINDS:
        return None
    fields = dict(FIELD.findall(match["rest"]))
    try:
        dev = int(fields["dev"], 0)
        event = Event(clock(match["time"]), KINDS[match["event"]],
                      (dev >> 20, dev & 0xfffff), int(fields["sector"], 0),
                      int(fields["nr_sector"], 0))
        flags = int(fields.get("rwbs", "0"), 0)
    except (KeyError, ValueError):
        return None
    if not flags & LTTNG_DISCARD and flags & (LTTNG_READ | LTTNG_WRITE):
        event.read = not flags & LTTNG_WRITE
    if event.kind not in "CR":
        event.who = fields.get("comm", "").strip('"') or None
    return event


READERS = {"ftrace": from_ftrace, "blktrace": from_blktrace,
           "lttng": from_lttng}


class Days:
    """Times of the day, which start again from 0 at midnight."""

    def __init__(self):
        self.days, self.last = 0, None

    def put(self, event):
        """Adds whole days, so that the event is not before the last one."""
        event.time += self.days * DAY_NS
        if self.last is not None and self.last - event.time > DAY_NS // 2:
            self.days += 1
            event.time += DAY_NS
        self.last = event.time


def lost_by(line):
    """How many events a line says the tracer has lost."""
    if line.lstrip()[:1] == "#":
        match = WRITTEN.match(line)
        return max(0, int(match[2]) - int(match[1])) if match else 0
    match = LOST.search(line)
    return int(match[1]) if match else 0


def looks(line):
    """The format that a line is in, whatever event it is of, or None."""
    if LOST.match(line):
        return "ftrace"
    return next((form for form in FORMATS if LINES[form].match(line)), None)


def told(lines, name):
    """Which format these lines are."""
    for line in lines:
        for form in FORMATS:
            if READERS[form](line):
                return form
    raise TraceError(f"{name}: no event of a request in its first {LOOKED_AT} "
                      "lines: want the text of ftrace, blkparse or babeltrace")


class Source:
    """The events of a file, in its order."""

    def __init__(self, name, form="auto"):
        self.name, self.form, self.lost = name, form, 0

    def lines(self, file):
        """Its lines, as text."""
        while True:
            raw = file.readline(LONGEST_LINE)
            if not raw:
                return
            if b"\0" in raw:
                raise TraceError(
                    f"{self.name}: binary: want the text of ftrace, blkparse "
                    "or babeltrace")
            yield raw.decode(errors="replace").rstrip("\n")

    def events(self):
        """Each event of a request."""
        try:
            if self.name == "-":
                yield from self.parse(sys.stdin.buffer)
                return
            with open(self.name, "rb") as file:
                yield from self.parse(file)
        except OSError as err:
            raise TraceError(f"{self.name}: {err.strerror}") from None

    def parse(self, file):
        """Each event of a request in an open file."""
        lines, head = self.lines(file), []
        if self.form == "auto":
            for line in lines:
                head.append(line)
                if len(head) == LOOKED_AT:
                    break
            self.form = told(head, self.name)
        reader, days = READERS[self.form], Days()
        for part in (head, lines):
            for line in part:
                self.lost += lost_by(line)
                event = reader(line)
                if not event:
                    continue
                if self.form == "lttng":
                    days.put(event)
                yield event
