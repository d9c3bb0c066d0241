# SPDX-License-Identifier: GPL-2.0
"""Block traces: the formats that are known, and the requests of a file.

A request is (ns, device, is a read, offset, length), bytes.
"""

import gzip
import io
import lzma
import pathlib
import sys
import zlib

import blocktrace
from blocktrace import TraceError

# Formats behind csv were measured here: a tracer's events of requests that
# drivers got, and flashsim's log.
FORMATS = ("msr", "ssdsim", "csv", *blocktrace.FORMATS, "flashsim")
CSV_HEADER = "t_us,dev,op,sector,nsect"
FLASHSIM_HEADER = "arrival_ns,"
SECTOR = 512
# fio reads a length into 32 bits; no block trace has such requests anyway.
LONGEST = 1 << 30
FARTHEST = 1 << 62
# One clock that was not set would leave the replay waiting for centuries.
YEAR_NS = 366 * 86400 * 10**9
LONGEST_LINE = 1 << 16
NAMED_BAD_LINES = 5


# --- lines ------------------------------------------------------------------

def open_trace(name):
    """A binary stream of the trace, unpacked."""
    raw = sys.stdin.buffer if name == "-" else open(name, "rb")
    if not hasattr(raw, "peek"):
        raw = io.BufferedReader(raw)
    magic = raw.peek(6)[:6]
    if magic.startswith(b"\x1f\x8b"):
        return gzip.open(raw)
    if magic == b"\xfd7zXZ\0":
        return lzma.open(raw)
    return raw


def text_lines(stream):
    """Lines, None for one that is beyond any reason."""
    rest = b""
    while True:
        chunk = stream.read(1 << 20)
        parts = (rest + chunk).split(b"\n")
        rest = parts.pop()
        for part in parts:
            # No trace format knows more than ASCII; nothing fails here.
            yield part.decode("latin-1") if len(part) <= LONGEST_LINE else None
        if not chunk:
            if rest:
                yield rest.decode("latin-1") \
                    if len(rest) <= LONGEST_LINE else None
            return
        if len(rest) > LONGEST_LINE:
            rest = rest[:LONGEST_LINE + 1]


def _fields(parts, count):
    if len(parts) != count:
        raise ValueError(f"{len(parts)} fields, want {count}")
    return parts


def _whole(word, what):
    word = word.strip()
    if not (word.isascii() and word.isdigit() and len(word) < 20):
        raise ValueError(f"{what} '{word[:24]}', want a whole number")
    return int(word)


def parse_msr(text):
    """Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime."""
    when, host, disk, kind, offset, size, _ = _fields(text.split(","), 7)
    kind = kind.strip().lower()
    if kind not in ("read", "write"):
        raise ValueError(f"type '{kind[:24]}', want Read or Write")
    return (_whole(when, "timestamp") * 100, f"{host.strip()}_{disk.strip()}",
            kind == "read", _whole(offset, "offset"), _whole(size, "size"))


def parse_ssdsim(text):
    """arrival_ns device lsn size_in_sectors op, 0 is a write."""
    when, device, sector, count, kind = _fields(text.split(), 5)
    if kind not in ("0", "1"):
        raise ValueError(f"op '{kind[:24]}', want 0 (write) or 1 (read)")
    return (_whole(when, "time"), device, kind == "1",
            _whole(sector, "sector") * SECTOR,
            _whole(count, "size") * SECTOR)


def parse_csv(text):
    """t_us,dev,op,sector,nsect."""
    when, device, kind, sector, count = _fields(text.split(","), 5)
    kind = kind.strip().upper()
    if kind not in ("R", "W"):
        raise ValueError(f"op '{kind[:24]}', want R or W")
    whole, _, part = when.strip().partition(".")
    return (_whole(whole, "time") * 1000
            + (_whole((part + "000")[:3], "time") if part else 0),
            device.strip(), kind == "R", _whole(sector, "sector") * SECTOR,
            _whole(count, "length") * SECTOR)


def parse_flashsim(header):
    """A parser for the rows below this header."""
    names = header.split(",")
    try:
        when, kind, sector, count = map(names.index, (
            "arrival_ns", "op", "sector", "sectors"))
    except ValueError as error:
        raise ValueError(f"'{header[:60]}': want arrival_ns, op, sector and "
                         f"sectors; {error}") from None

    def parse(text):
        parts = _fields(text.split(","), len(names))
        if parts[kind] not in ("R", "W"):
            if parts[kind] in ("D", "F", "Z"):
                return None
            raise ValueError(f"op '{parts[kind][:24]}', want R, W, D, F or Z")
        # Requests under way at the reset arrived before time 0.
        early = parts[when].startswith("-")
        return ((-1 if early else 1) * _whole(parts[when][early:], "time"),
                "flashsim", parts[kind] == "R",
                _whole(parts[sector], "sector") * SECTOR,
                _whole(parts[count], "size") * SECTOR)
    return parse


def parse_events(form):
    """A parser for what a tracer prints: requests when a driver gets them."""
    read_line, days = blocktrace.READERS[form], blocktrace.Days()

    def parse(text):
        event = read_line(text)
        if not event:
            return None
        if form == "lttng":
            days.put(event)
        if event.kind != "D" or event.read is None or not event.sectors:
            return None
        return (event.time, "{}:{}".format(*event.dev), event.read,
                event.sector * SECTOR, event.sectors * SECTOR)
    return parse


PARSERS = {"msr": parse_msr, "ssdsim": parse_ssdsim, "csv": parse_csv}


def detect(text):
    """The format that a first line is in, or None."""
    if text.replace(" ", "").lower().startswith(CSV_HEADER):
        return "csv"
    if text.startswith(FLASHSIM_HEADER):
        return "flashsim"
    if blocktrace.looks(text):
        return blocktrace.looks(text)
    for name in ("msr", "ssdsim"):
        try:
            PARSERS[name](text)
        except ValueError:
            continue
        return name
    return None


def printable(text):
    """Text that is safe to print to a terminal."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)


class Reader:
    """The requests of a trace; counts what it left out."""

    def __init__(self, name, form, max_bad):
        self.name, self.form, self.max_bad = name, form, max_bad
        self.lines = self.bad = self.lost = self.handed_back = 0
        self.parse = None
        self.named = []
        self.stand_in = False
        self.label = "stdin" if name == "-" else pathlib.Path(name).name

    def _is_bad(self, reason):
        self.bad += 1
        if len(self.named) < NAMED_BAD_LINES:
            self.named.append(
                f"{self.label}:{self.lines}: {printable(reason)}")
        if self.bad > self.max_bad:
            raise TraceError(
                f"{self.label}: more than {self.max_bad} bad lines "
                f"(--max-bad), is this really {self.form}? The first: "
                + "; ".join(self.named))

    def _begin(self, text):
        """Settles the format; whether the line may be a request."""
        found = detect(text)
        if self.form in (None, "auto"):
            if not found:
                raise TraceError(
                    f"{self.label}:{self.lines}: "
                    f"'{printable(text[:60])}': no format "
                    f"that is known; want --format with one of "
                    f"{', '.join(FORMATS)} (csv begins with {CSV_HEADER})")
            self.form = found
        if self.form in blocktrace.FORMATS:
            self.parse = parse_events(self.form)
            return True
        heads = {"csv": CSV_HEADER, "flashsim": FLASHSIM_HEADER}
        if self.form in heads:
            if found != self.form:
                raise TraceError(f"{self.label}:{self.lines}: "
                                 f"'{printable(text[:60])}': {self.form} "
                                 f"wants {heads[self.form]} "
                                 "as its first line")
            try:
                self.parse = parse_csv if self.form == "csv" else \
                    parse_flashsim(text)
            except ValueError as error:
                raise TraceError(f"{self.label}:{self.lines}: "
                                 f"{printable(str(error))}") from None
            return False
        self.parse = PARSERS[self.form]
        return True

    def _count(self, text):
        """Counts the other events in the text of a tracer."""
        self.lost += blocktrace.lost_by(text)
        event = blocktrace.READERS[self.form](text)
        self.handed_back += bool(event) and event.kind == "R"

    def __iter__(self):
        try:
            stream = open_trace(self.name)
            with stream:
                yield from self._requests(stream)
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or error
            raise TraceError(f"{self.label}: {reason}") from None

    def _requests(self, stream):
        first = None
        for text in text_lines(stream):
            self.lines += 1
            if text is None:
                self._is_bad(f"longer than {LONGEST_LINE} characters")
                continue
            text = text.strip()
            if not text:
                continue
            if text[0] == "#":
                # Our own CSV: what is none must not become a trace.
                self.stand_in |= text.startswith("# stand-in")
                self.lost += blocktrace.lost_by(text)
                continue
            if self.parse is None and not self._begin(text):
                continue
            try:
                request = self.parse(text)
                if request is None:
                    if self.form in blocktrace.FORMATS:
                        self._count(text)
                    continue
                if request[4] == 0:
                    raise ValueError("a length of 0")
                if request[4] > LONGEST:
                    raise ValueError(f"a length of {request[4]} bytes, "
                                     f"want {LONGEST} at most")
                if first is None:
                    first = request[0]
                if abs(request[0] - first) > YEAR_NS:
                    raise ValueError("a time more than a year away from "
                                     "the first line's")
                if request[3] > FARTHEST:
                    raise ValueError(f"an offset of {request[3]} bytes")
            except ValueError as error:
                self._is_bad(str(error))
                continue
            yield request
