# SPDX-License-Identifier: GPL-2.0
"""scripts/trace2fio: block traces, or stand-ins for them, as logs for fio.

Reads a trace (MSR Cambridge CSV, SSDsim ASCII, or plain CSV), fits it to a
device, and writes an iolog that fio replays. Where no trace is at hand, a
stand-in with stated statistics can be made; it is marked as one everywhere.
"""

import argparse
import array
import bisect
import collections
import fractions
import gzip
import heapq
import io
import itertools
import json
import lzma
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zlib

import options
import standin

FORMATS = ("msr", "ssdsim", "csv")
CSV_HEADER = "t_us,dev,op,sector,nsect"
SECTOR = 512
# The unit of --fold dense, of hot regions and of what is kept for each
# touched place; the resolution of footprints.
REGION, BLOCK = 1 << 20, 4096
# More are sorted in pieces of this size, in temporary files: under 130 MB of
# memory in all, whatever the length of the trace, and 29 bytes of disk a
# request. What grows is kept for each touched MiB: 300 bytes at most.
SORTED_IN_MEMORY = 250000
# fio reads a length into 32 bits; no block trace has such requests anyway.
LONGEST = 1 << 30
FARTHEST = 1 << 62
# One clock that was not set would leave the replay waiting for centuries.
YEAR_NS = 366 * 86400 * 10**9
LONGEST_LINE = 1 << 16
NAMED_BAD_LINES = 5
# A request that begins where one of the last so many of its kind ended
# counts as sequential: several runs may be under way side by side.
RUNS_SIDE_BY_SIDE = 64
PEAK_NS = 100000000
# fio takes a time of 0 for "none yet" and drops the wait after it. So times
# in an iolog begin with 1.
FIRST_US = 1
STAND_IN_REQUESTS = 100000
MOST = 10**9


class TraceError(Exception):
    """What is wrong with a trace or with what was asked of it, one line."""


# --- stand-ins --------------------------------------------------------------

class StandIn:
    """What a synthetic trace is made from. Sizes: ((sectors, weight), ...).

    Arrivals alternate between bursts, `burst_s` long in the mean with
    `burst_iops`, and what is between; the share `in_bursts` of the requests
    falls into bursts. Places: the share `sequential_...` begins where the one
    before of its kind ended; others fall into regions of 1 MiB, the i-th
    hottest of `footprint_mib` with a weight of i ** -skew.
    """

    def __init__(self, title, source, **values):
        self.title, self.source = title, source
        # How files of the real trace begin, in lower case, besides the name.
        self.files = values.pop("files", ())
        self.iops = values.pop("iops")
        self.read_share = values.pop("read_share")
        self.read_sizes = values.pop("read_sizes")
        self.write_sizes = values.pop("write_sizes")
        self.sequential_read_share = values.pop("sequential_read_share")
        self.sequential_write_share = values.pop("sequential_write_share")
        self.footprint_mib = values.pop("footprint_mib")
        self.skew = values.pop("skew")
        self.burst_iops = values.pop("burst_iops")
        self.in_bursts = values.pop("in_bursts")
        self.burst_s = values.pop("burst_s")
        # Of a million requests; None where it is not known.
        self.rewritten_share = values.pop("rewritten_share", None)
        # What standin.py draws places from; None: as described above.
        self.calibrated = values.pop("calibrated", None)
        assert not values, values

    def stated(self):
        """The statistics that a long enough stand-in has."""
        return {
            "mean_iops": self.iops, "read_share": self.read_share,
            "mean_read_bytes": SECTOR * mean_of(self.read_sizes),
            "mean_write_bytes": SECTOR * mean_of(self.write_sizes),
            "sequential_read_share": self.sequential_read_share,
            "sequential_write_share": self.sequential_write_share,
            "footprint_bytes_at_most": self.footprint_mib * REGION,
            "skew": self.skew, "burst_iops": self.burst_iops,
            "share_in_bursts": self.in_bursts, "burst_s": self.burst_s,
            "rewritten_share_of_a_million": self.rewritten_share,
        }


def mean_of(sizes):
    """The mean of ((size, weight), ...)."""
    return sum(size * weight for size, weight in sizes) / \
        sum(weight for _, weight in sizes)


def sizes_of_mean(mean):
    """A mix of powers of two from 4 KiB up with this mean, in sectors.

    Weights are a power of the rank: 4 KiB leads, as it does in the volumes
    of MSR Cambridge, whose largest request is 64 KiB but for some volumes
    with long means.
    """
    sectors = [8 << n for n in range(8 if mean > 64 else 5)]
    low, high = 0.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        mix = tuple((size, middle**n) for n, size in enumerate(sectors))
        low, high = (middle, high) if mean_of(mix) < mean else (low, middle)
    return mix


# Three mixes as measured on public traces, rare sizes put together so that
# the mean stays: MSN storage file server (disk 5, 150,000 requests, 143 s);
# TPC-C (Microsoft Enterprise, 6,999 requests, 0.14 s, on 16 disks); Postmark
# (delivered with the SSD extension of DiskSim, 62,257 requests, 490 s).
# Shares of sizes, reads, sequential requests and the rate are those of the
# trace. Bursts: two states whose index of dispersion follows the trace's
# between 10 ms and 10 s. Footprint and skew: fitted to the number of regions
# touched and to what the hottest 1, 10 and 20 % of them get.
STAND_INS = {
    "msn": StandIn(
        "MSN storage file server",
        "measured on the public trace, disk 5",
        files=("msps_msnfs", "msnfs", "msnstoragefileserver"),
        iops=1048, read_share=0.870,
        read_sizes=((16, 826), (32, 16), (48, 7), (64, 7), (80, 6), (96, 7),
                    (112, 12), (128, 105), (256, 5), (320, 3), (640, 3),
                    (1024, 2)),
        write_sizes=((8, 2), (16, 966), (32, 24), (48, 2), (64, 1), (128, 2),
                     (512, 3)),
        sequential_read_share=0.049, sequential_write_share=0.001,
        footprint_mib=57344, skew=0.55,
        burst_iops=3500, in_bursts=0.667, burst_s=1.25),
    "tpcc": StandIn(
        "TPC-C, its disks put together to one",
        "measured on the public trace, 16 disks together",
        files=("ms_enterprise_tpcc", "tpcc-small", "tpc-c"),
        iops=51300, read_share=0.626,
        read_sizes=((16, 998), (120, 2)),
        write_sizes=((8, 22), (16, 916), (32, 47), (48, 4), (64, 4), (96, 2),
                     (120, 5)),
        sequential_read_share=0.0, sequential_write_share=0.033,
        footprint_mib=221952, skew=0.4,
        burst_iops=57500, in_bursts=0.56, burst_s=0.1),
    "postmark": StandIn(
        "Postmark",
        "measured on the trace that the SSD extension of DiskSim brings",
        files=("disksim_ssd_postmark", "ssd-postmark"),
        iops=127, read_share=0.832,
        read_sizes=((8, 12), (16, 22), (24, 11), (40, 14), (64, 160),
                    (80, 9), (128, 714), (192, 30), (512, 6), (2048, 10),
                    (8192, 8)),
        write_sizes=((8, 172), (16, 28), (32, 62), (64, 71), (96, 69),
                     (128, 48), (256, 33), (512, 68), (1024, 70), (2048, 192),
                     (4096, 84), (8192, 98)),
        sequential_read_share=0.88, sequential_write_share=0.296,
        footprint_mib=6050, skew=0.2,
        burst_iops=363, in_bursts=0.98, burst_s=0.38),
}

# The fifteen volumes of PIQ's Table I (MSR Cambridge). Reads and writes are
# Table I's, of its 500,000. Mean gap in ms, mean sectors of a read and of a
# write, and the share of written sectors that rewrite others, are published
# statistics of the first million requests of each volume. MiB: fitted, so
# that a million requests of the stand-in rewrite that share.
PIQ_TABLE_1 = """
hm_0     129066 370933  195.2  23.2  22.4  0.90   852
hm_1     484454  15445  528.0  36.3  45.7  0.70   304
prn_0     75305 424694  119.0  53.1  27.9  0.78  3403
prn_1    346001 153995   22.1  36.6  27.6  0.59  4670
proj_1   486780  13219   13.6  86.9  44.5  0.22 20998
proj_3   419058  80930  120.1  30.1  60.3  0.33 66129
proj_4   465194  34806  367.9  20.7  29.6  0.60   886
prxy_0    15385 484614   48.1  19.4  12.6  0.97   182
rsrch_0   49400 450596  441.1  31.4  25.4  0.98   222
src1_2    71500 428498  170.7  33.9  89.2  0.98   757
src2_0    97924 402069  481.0  25.3  22.0  0.95   435
src2_2    19469 480530  260.8 176.5 115.6 0.49 164256
stg_0    197403 302594  336.0  67.1  25.4  0.97   222
wdev_0    99000 400992      -     -     -     -     -
usr_0    148822 351165      -     -     -     -     -
"""
# For what no source states: the medians of the other thirteen.
ASSUMED = ("195.2", "33.9", "27.9", "0.78", "852")
# None of the sources says more about the single volumes. Three windows of
# 1,000 to 10,000 requests of such volumes have: 1 to 43 % of a kind
# sequential; bursts of some 1,500 IOPS and a few dozen requests in two of
# them; 50 to 86 % of the requests in the hottest 10 % of the regions.
MSR_SHAPE = {"sequential_read_share": 0.3, "sequential_write_share": 0.3,
             "skew": 0.85, "burst_iops": 1500, "in_bursts": 0.8,
             "burst_s": 0.04}


def _add_piq():
    for line in PIQ_TABLE_1.split("\n")[1:-1]:
        name, reads, writes, *rest = line.split()
        known = "-" not in rest
        gap, read_mean, write_mean, rewritten, mib = \
            map(float, rest if known else ASSUMED)
        STAND_INS[name] = StandIn(
            f"MSR Cambridge, volume {name}",
            "mix of reads and writes: PIQ, Table I; "
            + ("rate, sizes, footprint: from published statistics of its "
               "first million requests" if known else "rate, sizes, "
               "footprint: assumed, the medians of the other volumes")
            + "; bursts, skew, sequential share: assumed, alike for all",
            files=(f"msr_{name}", f"msr-cambridge_{name}"),
            iops=round(1000 / gap, 3),
            read_share=round(int(reads) / (int(reads) + int(writes)), 4),
            read_sizes=sizes_of_mean(read_mean),
            write_sizes=sizes_of_mean(write_mean),
            footprint_mib=int(mib),
            rewritten_share=rewritten if known else None, **MSR_SHAPE)


_add_piq()


def _add_calibrated():
    rows, fits = standin.filled(), standin.fitted()
    for name, fit in fits.items():
        volume = standin.base(name)
        row = rows[volume]
        kind = STAND_INS[f"piq15-{name}"] = StandIn(
            f"MSR Cambridge, volume {volume}, as PIQ's Table I has it"
            + ("; deep bursts" if name != volume else ""),
            "PIQ, Table I: reads, writes; "
            + ("conflicts" if name != volume else "conflicts and busy chips")
            + " under noop " + ("fitted" if fit["calibrated"]
                                else "not fitted")
            + ("; rate, sizes, rewritten share: published statistics of its "
               "first million requests" if standin.known(standin.published()[
                   volume]) else "; rate, sizes, rewritten share and what is "
               "fitted: the medians of the others")
            + "; bursts, skew: assumed, alike for all",
            files=(volume, f"msr_{volume}", f"msr-cambridge_{volume}"),
            iops=round(1000 / row["gap_ms"], 3),
            read_share=round(row["reads"] / (row["reads"] + row["writes"]), 4),
            read_sizes=standin.sizes(row["read_sectors"]),
            write_sizes=standin.sizes(row["write_sectors"]),
            footprint_mib=int(fit["footprint_mib"]),
            rewritten_share=row["rewritten_share"],
            calibrated={"reads": row["reads"], "writes": row["writes"],
                        **{key: fit[key] for key in
                           ("lean_read", "lean_write", "compress")}},
            **{**MSR_SHAPE, "in_bursts": fit.get("in_bursts", 0.8),
               "sequential_read_share": 0.0,
               "sequential_write_share": 0.0})
        assert kind.skew == standin.SKEW


_add_calibrated()


def arrivals(kind, count, rng):
    """Times in seconds from 0, with the mean rate exactly as stated."""
    busy = kind.in_bursts * kind.iops / kind.burst_iops
    lull_s = kind.burst_s * (1 - busy) / busy
    lull_iops = kind.iops * (1 - kind.in_bursts) / (1 - busy)
    times = array.array("d")
    now, burst = 0.0, rng.random() < busy
    while len(times) < count:
        end = now + rng.expovariate(1 / (kind.burst_s if burst else lull_s))
        rate = kind.burst_iops if burst else lull_iops
        while len(times) < count:
            now += rng.expovariate(rate)
            if now > end:
                break
            times.append(now)
        # Without memory, a new draw after the change is as good as the rest
        # of the old one.
        now, burst = min(now, end), not burst
    first, last = times[0], times[-1]
    stretch = count / kind.iops / (last - first) if last > first else 0.0
    for index, value in enumerate(times):
        times[index] = (value - first) * stretch
    return times


def synthesize(name, count, seed):
    """Requests of a stand-in: (ns, device, is a read, offset, length)."""
    kind = STAND_INS[name]
    # Two sources, so that a longer one begins as a shorter one does but for
    # the scale of its times.
    times = arrivals(kind, count, random.Random(f"{name} {seed} times"))
    if kind.calibrated:
        yield from standin.requests(kind, times, seed, name)
        return
    rng = random.Random(f"{name} {seed} places")
    regions = kind.footprint_mib
    weights = list(itertools.accumulate(
        (n + 1) ** -kind.skew for n in range(regions)))
    # Not the same order: in these traces what is read often is mostly not
    # what is written often.
    parts = {}
    for read, sizes, run in (
            (True, kind.read_sizes, kind.sequential_read_share),
            (False, kind.write_sizes, kind.sequential_write_share)):
        order = array.array("q", range(regions))
        rng.shuffle(order)
        parts[read] = ([size * SECTOR for size, _ in sizes],
                       list(itertools.accumulate(w for _, w in sizes)),
                       run, order)
    total, end_of_all = weights[-1], regions * REGION
    ends = {True: end_of_all, False: end_of_all}
    draw, find = rng.random, bisect.bisect
    for at in times:
        read = draw() < kind.read_share
        lengths, shares, run, order = parts[read]
        length = lengths[find(shares, draw() * shares[-1])]
        offset = ends[read]
        if draw() >= run or offset + length > end_of_all:
            offset = order[find(weights, draw() * total)] * REGION + \
                int(draw() * (REGION // BLOCK)) * BLOCK
            offset = min(offset, end_of_all - length)
        ends[read] = offset + length
        yield int(at * 1e9), "0", read, offset, length


# --- reading traces ---------------------------------------------------------

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


PARSERS = {"msr": parse_msr, "ssdsim": parse_ssdsim, "csv": parse_csv}


def detect(text):
    """The format that a first line is in, or None."""
    if text.replace(" ", "").lower().startswith(CSV_HEADER):
        return "csv"
    for name in ("msr", "ssdsim"):
        try:
            PARSERS[name](text)
        except ValueError:
            continue
        return name
    return None


def printable(text):
    """What may go to a terminal."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)


class Reader:
    """The requests of a trace; counts what it left out."""

    def __init__(self, name, form, max_bad):
        self.name, self.form, self.max_bad = name, form, max_bad
        self.lines = self.bad = 0
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
        """Settles the format; whether the line is a request."""
        found = detect(text)
        if self.form in (None, "auto"):
            if not found:
                raise TraceError(
                    f"{self.label}:{self.lines}: "
                    f"'{printable(text[:60])}': no format "
                    f"that is known; want --format with one of "
                    f"{', '.join(FORMATS)} (csv begins with {CSV_HEADER})")
            self.form = found
        if self.form == "csv":
            if found != "csv":
                raise TraceError(f"{self.label}:{self.lines}: "
                                 f"'{printable(text[:60])}': csv wants "
                                 f"{CSV_HEADER} "
                                 "as its first line")
            return False
        return True

    def __iter__(self):
        try:
            stream = open_trace(self.name)
            with stream:
                yield from self._requests(stream)
        except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or error
            raise TraceError(f"{self.label}: {reason}") from None

    def _requests(self, stream):
        parse = first = None
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
                continue
            if parse is None:
                is_request = self._begin(text)
                parse = PARSERS[self.form]
                if not is_request:
                    continue
            try:
                request = parse(text)
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


# --- sorting ----------------------------------------------------------------

class Spool:
    """Requests in order of time; equal times stay in the file's order."""

    # ns, number in the file, offset, length, 2 * device + is a read
    RECORD = struct.Struct("<qQQIB")

    def __init__(self, limit=None):
        self.limit = limit or SORTED_IN_MEMORY
        self.memory, self.runs = [], []
        self.count = self.disorder = 0
        self.latest = None

    def add(self, when, offset, length, tag):
        """One more."""
        if self.latest is None or when >= self.latest:
            self.latest = when
        else:
            self.disorder += 1
        self.memory.append((when, self.count, offset, length, tag))
        self.count += 1
        if len(self.memory) >= self.limit:
            self._spill()

    def _spill(self):
        self.memory.sort()
        run = tempfile.TemporaryFile()
        run.write(b"".join(itertools.starmap(self.RECORD.pack, self.memory)))
        self.runs.append(run)
        self.memory = []

    def _run(self, run):
        run.seek(0)
        while chunk := run.read(self.RECORD.size * 4096):
            yield from self.RECORD.iter_unpack(chunk)

    def __iter__(self):
        self.memory.sort()
        parts = [*map(self._run, self.runs), self.memory]
        return iter(heapq.merge(*parts) if self.disorder else
                    itertools.chain(*parts))

    def close(self):
        """Frees the disk."""
        for run in self.runs:
            run.close()
        self.runs, self.memory = [], []


# --- writing ----------------------------------------------------------------

class Output:
    """A log or CSV file, there at once or not at all, and what is in it."""

    def __init__(self, path, form, device, note):
        self.path, self.form, self.device = path, form, device
        self.file = self.last = None
        self.lines = []
        self.count = {True: 0, False: 0}
        self.bytes = {True: 0, False: 0}
        self.sequential = {True: 0, False: 0}
        self.ends = {True: {}, False: {}}
        self.touched, self.written = {}, {}
        self.rewritten = self.written_blocks = 0
        self.largest = self.end = self.gap = 0
        self.window = self.in_window = self.peak = 0
        if path is None:
            return
        self.new = path.with_name(path.name + ".new")
        self.file = open(self.new, "w", encoding="utf-8")
        if form == "iolog":
            # fio compares no more than the beginning of this line.
            self.file.write(f"fio version 3 iolog{note and '; ' + note}\n"
                            f"0 {device} add\n0 {device} open\n")
        else:
            for part in filter(None, note.split("; ")):
                self.file.write(f"# {part}\n")
            self.file.write(CSV_HEADER + "\n")

    def add(self, when, read, offset, length):
        """A request at `when` ns."""
        if self.file:
            if self.form == "iolog":
                line = (f"{FIRST_US + when // 1000 if when is not None else 0}"
                        f" {self.device} {'read' if read else 'write'} "
                        f"{offset} {length}\n")
            else:
                line = (f"{(when or 0) // 1000}.{(when or 0) % 1000:03d},0,"
                        f"{'R' if read else 'W'},{offset // SECTOR},"
                        f"{length // SECTOR}\n")
            self.lines.append(line)
            if len(self.lines) >= 8192:
                self._flush()
        number = self.count[read]
        self.count[read] = number + 1
        self.bytes[read] += length
        self.largest = max(self.largest, length)
        self.end = max(self.end, offset + length)
        ends = self.ends[read]
        if number - ends.get(offset, -RUNS_SIDE_BY_SIDE - 1) <= \
                RUNS_SIDE_BY_SIDE:
            self.sequential[read] += 1
        ends[offset + length] = number
        if len(ends) > 64 * RUNS_SIDE_BY_SIDE:
            self.ends[read] = dict(
                item for item in ends.items()
                if number - item[1] <= RUNS_SIDE_BY_SIDE)
        self._mark(read, offset // BLOCK, (offset + length - 1) // BLOCK)
        if when is not None:
            if self.last is not None:
                self.gap = max(self.gap, when - self.last)
            self.last = when
            if when // PEAK_NS != self.window:
                self.window, self.in_window = when // PEAK_NS, 0
            self.in_window += 1
            self.peak = max(self.peak, self.in_window)

    def _mark(self, read, block, last):
        per_region = REGION // BLOCK
        touched, written = self.touched, self.written
        while block <= last:
            region = block // per_region
            end = min(last, region * per_region + per_region - 1)
            bits = ((1 << (end - block + 1)) - 1) << (block % per_region)
            touched[region] = touched.get(region, 0) | bits
            if not read:
                old = written.get(region, 0)
                self.written_blocks += end - block + 1
                self.rewritten += (bits & old).bit_count()
                written[region] = old | bits
            block = end + 1

    def _flush(self):
        self.file.write("".join(self.lines))
        self.lines = []

    def finish(self):
        """Gives the file its name."""
        if self.file:
            if self.form == "iolog":
                at = 0 if self.last is None else FIRST_US + self.last // 1000
                self.lines.append(f"{at} {self.device} close\n")
            self._flush()
            self.file.close()
            self.file = None
            self.new.replace(self.path)

    def drop(self):
        """Leaves nothing behind, unless finished."""
        if self.file:
            self.file.close()
            self.file = None
            self.new.unlink(missing_ok=True)

    def statistics(self):
        """What was written."""
        reads, writes = self.count[True], self.count[False]
        total, size = reads + writes, sum(self.bytes.values())
        span = (self.last or 0) / 1e9

        def share(part, whole):
            return round(part / whole, 6) if whole else None
        return {
            "requests": total, "reads": reads, "writes": writes,
            "read_share": share(reads, total),
            "span_s": None if self.last is None else round(span, 6),
            "mean_iops": share(total, span),
            "peak_iops_in_100_ms": None if self.last is None
            else self.peak * 10**9 // PEAK_NS,
            "longest_gap_s": None if self.last is None
            else round(self.gap / 1e9, 6),
            "bytes": size, "read_bytes": self.bytes[True],
            "write_bytes": self.bytes[False],
            "mean_bytes": share(size, total),
            "mean_read_bytes": share(self.bytes[True], reads),
            "mean_write_bytes": share(self.bytes[False], writes),
            "largest_bytes": self.largest,
            "sequential_read_share": share(self.sequential[True], reads),
            "sequential_write_share": share(self.sequential[False], writes),
            "footprint_bytes": BLOCK * sum(
                map(int.bit_count, self.touched.values())),
            "written_footprint_bytes": BLOCK * sum(
                map(int.bit_count, self.written.values())),
            "rewritten_share": share(self.rewritten, self.written_blocks),
            "regions_of_1_mib": len(self.touched),
            "end_bytes": self.end,
        }


# --- the conversion ---------------------------------------------------------

def shown(size):
    """Bytes for people."""
    for unit, name in ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"),
                       (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.4g} {name}"
    return f"{size:.0f} B"


class Conversion:
    """One trace, or stand-in, with what was asked."""

    def __init__(self, args):
        self.args = args
        self.reader = None
        self.counts = dict.fromkeys(
            ("out_of_order", "other_device", "realigned", "moved", "shifted",
             "split", "skipped", "cut"), 0)
        self.devices = {}
        self.kept = []
        self.notes = []

    def source(self):
        """The requests as they come."""
        args = self.args
        if args.stand_in:
            count = args.requests or (
                args.skip + args.max_requests if args.max_requests
                else STAND_IN_REQUESTS)
            return synthesize(args.stand_in, count, args.seed)
        self.reader = Reader(args.trace, args.format, args.max_bad)
        return iter(self.reader)

    def _tag(self, device):
        """The number of a device that is wanted, else None."""
        wanted = self.args.device_filter
        if wanted and not wanted & {
                device, device.replace("_", ""), device.rpartition("_")[2]}:
            return None
        if len(self.kept) == 128:
            raise TraceError("more than 128 devices in one trace; want "
                             "--device-filter")
        self.kept.append(device)
        return len(self.kept) - 1

    def collect(self, spool):
        """Reads; what is wanted goes to the spool, aligned."""
        args, counts, devices = self.args, self.counts, self.devices
        limit = args.skip + args.max_requests if args.max_requests else None
        align = args.align
        tags, base = {}, None
        for when, device, read, offset, length in self.source():
            tag = tags.get(device, -1)
            if tag == -1:
                if len(tags) > 65536:
                    raise TraceError("more than 65536 names of devices; is "
                                     "this a trace?")
                tag = tags[device] = self._tag(device)
            if tag is None:
                counts["other_device"] += 1
                continue
            devices[device] = devices.get(device, 0) + 1
            if base is None:
                base = when
            begin = offset - offset % align
            end = offset + length
            end += -end % align
            if begin != offset or end != offset + length:
                counts["realigned"] += 1
                offset, length = begin, end - begin
            if args.max_length and args.long == "refuse" and \
                    length > args.max_length:
                raise TraceError(
                    f"a request of {length} bytes at {offset}: --max-length "
                    f"is {args.max_length}; want a larger one or --long "
                    "split")
            spool.add(when - base, offset, length, 2 * tag + read)
            if spool.count == limit:
                break
        counts["out_of_order"] = spool.disorder
        if self.reader:
            self._complain(tags, spool.count)

    def _complain(self, tags, count):
        """Says what was bad; an end if nothing was good."""
        reader = self.reader
        if count:
            return
        if self.counts["other_device"]:
            raise TraceError(
                f"{reader.label}: nothing of device "
                f"{','.join(sorted(self.args.device_filter))}; it has "
                + ", ".join(sorted(tags)[:20]))
        raise TraceError(
            f"{reader.label}: no request in {reader.lines} lines"
            + (": " + "; ".join(reader.named) if reader.named else ""))

    def mapping(self, spool):
        """A function that puts a request where it fits."""
        args, counts, size = self.args, self.counts, self.args.size
        if args.fold == "dense":
            regions = set()
            for _, _, offset, length, tag in itertools.islice(
                    spool, 0 if args.warmup else args.skip, None):
                device = tag >> 1 << 44
                regions.add(device + offset // REGION)
                regions.update(range(
                    device + offset // REGION + 1,
                    device + (offset + length - 1) // REGION + 1))
            # In order of addresses: neighbours stay neighbours, and a
            # request across a border stays in one piece.
            place = {region: index * REGION for index, region in
                     enumerate(sorted(regions))}
            if len(place) * REGION > size:
                raise TraceError(
                    f"--fold dense: {len(place)} regions of 1 MiB are "
                    f"touched, --size has {size // REGION}; want a larger "
                    "--size, fewer --max-requests, --device-filter, or "
                    "--fold modulo")

            def put_dense(offset, _, tag):
                new = place[((tag >> 1) << 44) + offset // REGION] + \
                    offset % REGION
                counts["moved"] += new != offset
                return new
            return put_dense

        def put(offset, length, _):
            if not size or offset + length <= size:
                return offset
            if not args.fold:
                raise TraceError(
                    f"a request at {offset}, {length} bytes long, is beyond "
                    f"--size {size}; want a larger one, or --fold with "
                    "modulo or dense")
            if length > size:
                raise TraceError(f"a request of {length} bytes is longer "
                                 f"than --size {size}")
            new = offset % size
            if new + length > size:
                counts["shifted"] += 1
                new = size - length
            counts["moved"] += 1
            return new
        return put

    def write(self, spool, main, warm):
        """From the spool to the outputs."""
        args, counts, put = self.args, self.counts, self.mapping(spool)
        scale = fractions.Fraction(args.time_scale) / args.compress
        up, down = scale.numerator, scale.denominator
        longest_gap = None if args.max_gap is None else int(
            args.max_gap * 1000 * args.time_scale)
        first, before, cut = {}, {}, {}
        last = 0
        longest = args.max_length or LONGEST * 2
        for number, (when, _, offset, length, tag) in enumerate(spool):
            out = main if number >= args.skip else warm
            if number < args.skip:
                counts["skipped"] += 1
            if out is None:
                continue
            start = first.setdefault(out, when)
            last = when - start
            at = None if args.closed else last * up // down
            if longest_gap is not None and at is not None:
                gap = at - before.get(out, at)
                before[out] = at
                if gap > longest_gap:
                    counts["cut"] += 1
                    cut[out] = cut.get(out, 0) + gap - longest_gap
                at -= cut.get(out, 0)
            offset = put(offset, length, tag)
            if length > longest:
                counts["split"] += 1
            while length > 0:
                out.add(at, bool(tag & 1), offset, min(length, longest))
                offset += longest
                length -= longest
        return last / 1e9

    def note(self):
        """What the first line of a log says about it."""
        args, parts = self.args, []
        if args.stand_in:
            parts.append(f"stand-in {args.stand_in} seed {args.seed}, "
                         "not a trace")
        elif self.reader and self.reader.stand_in:
            parts.append("stand-in, not a trace")
        if args.closed:
            parts.append("times dropped")
        if args.compress != 1:
            parts.append(f"times divided by {number_text(args.compress)}")
        if args.time_scale != 1:
            parts.append(f"times multiplied by "
                         f"{number_text(args.time_scale)}")
        if args.max_gap is not None:
            parts.append(f"gaps cut to {number_text(args.max_gap)} us")
        return "; ".join(parts)

    def run(self):
        """The summary, with the files written."""
        args = self.args
        spool, outputs = Spool(), []
        try:
            self.collect(spool)
            if spool.count <= args.skip:
                raise TraceError(f"--skip {args.skip}: the trace has only "
                                 f"{spool.count} requests")
            note = self.note()
            main = Output(args.out, args.to, args.device, note)
            outputs.append(main)
            warm = None
            if args.warmup:
                warm = Output(args.warmup, args.to, args.device, note)
                outputs.append(warm)
            span = self.write(spool, main, warm)
            for output in outputs:
                output.finish()
        except OSError as error:
            raise TraceError(f"{error.filename or 'output'}: "
                             f"{error.strerror}") from None
        finally:
            spool.close()
            for output in outputs:
                output.drop()
        return self.summary(main, warm, span)

    def summary(self, main, warm, span):
        """Everything, for people and for JSON."""
        args, reader = self.args, self.reader
        kind = STAND_INS.get(args.stand_in)
        if len(self.devices) > 1:
            self.notes.append(
                f"{len(self.devices)} devices put together"
                + ("" if args.fold == "dense" else
                   ", their addresses overlap: --device-filter takes one, "
                   "--fold dense keeps them apart"))
        if main.largest > REGION and not args.max_length:
            self.notes.append(
                f"largest request {shown(main.largest)}: fio takes so much "
                "memory for each in flight; --max-length splits")
        return {
            "schema": 1,
            "source": reader.label if reader else args.stand_in,
            "format": reader.form if reader else None,
            "stand_in": bool(kind or reader and reader.stand_in),
            "stand_in_seed": args.seed if kind else None,
            "stand_in_source": kind.source if kind else None,
            "stand_in_stated": kind.stated() if kind else None,
            "output": args.to if args.out else None,
            "device": args.device,
            **main.statistics(),
            "trace_span_s": round(span, 6),
            "time_scale": float(args.time_scale),
            "compress": float(args.compress), "closed": args.closed,
            "max_gap_us": None if args.max_gap is None
            else float(args.max_gap),
            "size_bytes": args.size, "fold": args.fold,
            "align_bytes": args.align, "max_length_bytes": args.max_length,
            "lines": reader.lines if reader else None,
            "bad_lines": reader.bad if reader else 0,
            "bad_lines_first": reader.named if reader else [],
            **self.counts,
            "devices": dict(sorted(self.devices.items())),
            "warmup": warm.statistics() if warm else None,
            "notes": self.notes,
        }


def number_text(value):
    """A fraction as it was typed."""
    return f"{float(value):.10g}"


def report(summary):
    """The summary as lines for people."""
    yield ("stand-in, not a trace: " if summary["stand_in"] else "") + \
        f"{summary['source']}" + (
            f" ({summary['format']})" if summary["format"] else "")
    for stats, title in ((summary, ""), (summary["warmup"], "warm-up: ")):
        if not stats:
            continue
        yield (f"  {title}{stats['requests']} requests: {stats['reads']} "
               f"reads, {stats['writes']} writes")
    if summary["span_s"] is None:
        yield (f"  times dropped; they spanned {summary['trace_span_s']:.6g} "
               "s")
    else:
        rate = "" if summary["mean_iops"] is None else \
            f", {summary['mean_iops']:.6g} IOPS mean"
        yield (f"  {summary['span_s']:.6g} s{rate}, "
               f"{summary['peak_iops_in_100_ms']} IOPS in the busiest 100 "
               f"ms, longest gap {summary['longest_gap_s']:.4g} s")
    means = [f"{shown(summary[key])} {word}" for key, word in (
        ("mean_bytes", "mean"), ("mean_read_bytes", "reads"),
        ("mean_write_bytes", "writes"), ("largest_bytes", "largest"))
        if summary[key] is not None]
    yield "  sizes: " + ", ".join(means)
    yield (f"  touches {shown(summary['footprint_bytes'])} in "
           f"{summary['regions_of_1_mib']} regions of 1 MiB, ends at "
           f"{shown(summary['end_bytes'])}; "
           f"{shown(summary['written_footprint_bytes'])} written"
           + ("" if summary["rewritten_share"] is None else
              f", {summary['rewritten_share']:.1%} of the writes rewrite"))
    if summary["compress"] != 1:
        yield f"  times divided by {number_text(summary['compress'])}"
    if summary["time_scale"] != 1:
        yield f"  times multiplied by {number_text(summary['time_scale'])}"
    for key, text in (
            ("moved", "requests folded to another place"),
            ("shifted", "of them shifted, to end with the target"),
            ("realigned", f"requests grown to multiples of "
             f"{summary['align_bytes']} bytes"),
            ("split", f"requests split at {summary['max_length_bytes']} "
             "bytes"),
            ("skipped", "requests skipped first"),
            ("cut", "times without a request cut"),
            ("other_device", "requests of other devices left out"),
            ("out_of_order", "times out of order, sorted"),
            ("bad_lines", "bad lines left out")):
        if summary[key]:
            yield f"  {summary[key]} {text}"
    for text in summary["notes"]:
        yield f"  note: {text}"


# --- fio --------------------------------------------------------------------

def verify(path, summary):
    """Has fio read the whole log; an error if it sees something else."""
    if not shutil.which("fio"):
        raise TraceError("--verify: no fio installed; next: scripts/deps vm")
    with tempfile.TemporaryDirectory() as folder:
        # The engine does nothing: what counts is what fio read.
        done = subprocess.run(
            ["fio", "--name=verify", f"--read_iolog={path.absolute()}",
             "--replay_redirect=nothing", "--replay_no_stall=1",
             "--ioengine=null", "--output-format=json"],
            cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False)
    try:
        job = json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]
        seen = [job["error"], job["read"]["total_ios"],
                job["write"]["total_ios"]]
    except (ValueError, KeyError, IndexError):
        seen = None
    said = (done.stderr.strip() or done.stdout[:200].strip()).split("\n")[0]
    if done.returncode or seen != [0, summary["reads"], summary["writes"]] \
            or "iolog" in done.stderr:
        raise TraceError(f"--verify: fio does not take {path}: status "
                         f"{done.returncode}, error, reads, writes {seen}: "
                         f"{said}")
    return (f"fio reads {summary['reads']} reads and {summary['writes']} "
            "writes from it")


# --- options ----------------------------------------------------------------

def size(low, high):
    """An argparse type: bytes, K M G T may follow."""
    def convert(text):
        match = re.fullmatch(r"([0-9]{1,15})([KMGT]?)", text)
        value = int(match[1]) << 10 * " KMGT".index(match[2] or " ") \
            if match else -1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(
                f"'{text}': want bytes from {low} to {high}, such as 4096, "
                "64K, 1G")
        return value
    return convert


def alignment(text):
    """An argparse type: a power of two."""
    value = size(SECTOR, REGION)(text)
    if value & (value - 1):
        raise argparse.ArgumentTypeError(
            f"'{text}': want a power of two from {SECTOR} to {REGION}")
    return value


def factor(text):
    """An argparse type: a decimal number."""
    if not re.fullmatch(r"[0-9]{1,7}(\.[0-9]{1,6})?", text) or \
            not 0.001 <= float(text) <= 1000000:
        raise argparse.ArgumentTypeError(
            f"'{text}': want a number from 0.001 to 1000000")
    return fractions.Fraction(text)


def one_of(known):
    """An argparse type: one of these words."""
    def convert(text):
        if text not in known:
            raise argparse.ArgumentTypeError(
                f"'{text}': want one of {', '.join(known)}")
        return text
    return convert


def _device(text):
    # fio reads it into 256 bytes, up to a blank.
    if not re.fullmatch(r"[!-~]{1,255}", text):
        raise argparse.ArgumentTypeError(
            f"'{text[:60]}': want 1 to 255 characters of ASCII, no blanks")
    return text


def _words(text):
    words = frozenset(filter(None, text.split(",")))
    if not words:
        raise argparse.ArgumentTypeError(
            f"'{text}': want a device of the trace, or several with commas")
    return words


def _target(text):
    path = pathlib.Path(text)
    # A new file takes the name; root must not lose /dev/null that way.
    if not text or text == "-" or path.exists() and not path.is_file() or \
            not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(
            f"'{text}': want the name of a plain file, in a directory that "
            "exists")
    return path


class _Quiet(options.Parser):
    """For callers in Python: raises instead of leaving."""

    def error(self, message):
        raise ValueError(message)


def parse(argv, kind=options.Parser):
    """The options."""
    parser = kind(
        "trace2fio", usage="scripts/trace2fio [options] TRACE",
        description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 written; 1 the trace, or what was asked of it, "
        "does not do; 2 bad options; 130 interrupted. More in "
        "docs/traces.md.")
    add = parser.add_argument
    add("trace", nargs="?", metavar="TRACE",
        help="a file, plain, gzip or xz; - for standard input")
    add("--format", type=one_of(("auto", *FORMATS)), default="auto",
        metavar="F", help="msr, ssdsim or csv (default: by the first line)")
    add("--out", type=_target, metavar="FILE",
        help="what to write (default: only look)")
    add("--to", type=one_of(("iolog", "csv")), default="iolog", metavar="F",
        help="iolog or csv (default iolog)")
    add("--device", type=_device, default="/dev/flashsim0", metavar="DEV",
        help="its name in the log (default /dev/flashsim0)")
    add("--time-scale", type=factor, default=fractions.Fraction(1),
        metavar="X", help="multiply times, 0.001 to 1000000, for a device "
        "slowed by as much (default 1)")
    add("--compress", type=factor, default=fractions.Fraction(1),
        metavar="X", help="divide times, 0.001 to 1000000: not the trace's "
        "load any more, and marked so (default 1)")
    add("--max-gap", type=factor, metavar="US",
        help="cut longer times without a request to that, 0.001 to 1000000 "
        "us before --time-scale: a device that has long been idle only waits")
    add("--closed", action="store_true",
        help="drop times: each request as soon as there is room for it")
    add("--size", type=size(REGION, 1 << 50), metavar="BYTES",
        help="of the target, 1M to 1024T (default: as the trace needs)")
    add("--fold", type=one_of(("modulo", "dense")), metavar="HOW",
        help="into --size: modulo: addresses wrap around; dense: only "
        "touched MiBs are kept, one behind the other")
    add("--align", type=alignment, default=SECTOR, metavar="BYTES",
        help="requests grow to multiples of it, 512 to 1M (default 512)")
    add("--max-length", type=size(SECTOR, LONGEST), metavar="BYTES",
        help="of a request, 512 to 1G (default: any)")
    add("--long", type=one_of(("split", "refuse")), default="split",
        metavar="HOW", help="what to do with longer ones: split or refuse "
        "(default split)")
    add("--skip", type=options.number(0, MOST), default=0, metavar="N",
        help=f"leave out the first N requests, 0 to {MOST} (default 0)")
    add("--warmup", type=_target, metavar="FILE",
        help="write those here")
    add("--max-requests", type=options.number(1, MOST), metavar="N",
        help=f"no more than N after those, 1 to {MOST} (default: all)")
    add("--device-filter", type=_words, metavar="LIST",
        help="only these devices of the trace, such as 5 or hm_0")
    add("--max-bad", type=options.number(0, MOST), default=100, metavar="N",
        help=f"stop after N bad lines, 0 to {MOST} (default 100)")
    add("--summary", type=_target, metavar="FILE",
        help="write the summary as JSON, too")
    add("--verify", action="store_true", help="have fio read the log")
    add("--stand-in", type=one_of(tuple(STAND_INS)), metavar="NAME",
        help="no TRACE: a synthetic one; --list shows them")
    add("--requests", type=options.number(1, 10**8), metavar="N",
        help="of the stand-in, 1 to 100000000 (default: --skip and "
        f"--max-requests together, else {STAND_IN_REQUESTS})")
    add("--seed", type=options.number(0, 2**32 - 1), metavar="N",
        help="of the stand-in, 0 to 4294967295 (default 1)")
    add("--list", action="store_true", help="show the stand-ins")
    args = parser.parse_args(argv)
    if args.list:
        return args
    if (args.trace is None) == (args.stand_in is None):
        parser.error("want a TRACE, or --stand-in NAME, and not both")
    for value, name in ((args.requests, "requests"), (args.seed, "seed")):
        if value is not None and not args.stand_in:
            parser.error(f"argument --{name}: '{value}': only a --stand-in "
                         "has it")
    args.seed = 1 if args.seed is None else args.seed
    if args.closed and args.max_gap is not None:
        parser.error("argument --closed: it drops the times that --max-gap "
                     "changes")
    if args.closed and (args.compress != 1 or args.time_scale != 1):
        parser.error("argument --closed: it drops the times that --compress "
                     "and --time-scale change")
    if args.fold and not args.size:
        parser.error(f"argument --fold: '{args.fold}': want --size, too")
    if args.size and args.size % args.align:
        parser.error(f"argument --size: '{args.size}': want a multiple of "
                     f"--align, {args.align}")
    if args.max_length and args.max_length % args.align:
        parser.error(f"argument --max-length: '{args.max_length}': want a "
                     f"multiple of --align, {args.align}")
    if args.warmup and not args.skip:
        parser.error("argument --warmup: want --skip N, the requests that "
                     "go there")
    if args.verify and (not args.out or args.to != "iolog"):
        parser.error("argument --verify: want --out with an iolog")
    if args.trace is not None and args.trace != "-" and \
            not os.path.exists(args.trace):
        parser.error(f"argument TRACE: '{args.trace}': no such file")
    files = [os.path.realpath(path) for path in
             (args.trace, args.out, args.warmup, args.summary)
             if path not in (None, "-")]
    if len(set(files)) < len(files):
        parser.error("TRACE, --out, --warmup and --summary: want different "
                     "files")
    return args


def convert(args):
    """Does it; the summary, written if asked for."""
    conversion = Conversion(args)
    summary = conversion.run()
    if args.summary:
        try:
            args.summary.write_text(json.dumps(summary, indent=1) + "\n")
        except OSError as error:
            raise TraceError(f"{args.summary}: {error.strerror}") from None
    return summary


# --- for other programs -----------------------------------------------------

def find(name, folder):
    """The file of a real trace in a folder, or None.

    Its name begins with the stand-in's name, or another that is known for
    it, and goes on with something else than a digit: proj_1 is not proj_10.
    """
    names = (name, *(STAND_INS[name].files if name in STAND_INS else ()))
    found = sorted(
        path for path in pathlib.Path(folder).iterdir() if path.is_file()
        and path.suffix.lower() not in (".md", ".json")
        and any(re.match(re.escape(begin) + r"(?![0-9])", path.name,
                         re.IGNORECASE) for begin in names))
    if len(found) > 1:
        raise TraceError(f"{name}: several files in {folder}: "
                         + ", ".join(path.name for path in found[:5])
                         + "; want one")
    return found[0] if found else None


def real(name, traces=None):
    """The file that provide() would take, or None: the stand-in."""
    folder = traces or os.environ.get("TRACES")
    return find(name, folder) if folder and os.path.isdir(folder) else None


def provide(name, traces=None, out=None, **wanted):
    """Writes the log of a trace to `out`, or of its stand-in.

    `traces`: a folder with real traces; None: as TRACES in the environment
    says, if it does. `wanted`: long options, _ for -. requests and seed are
    for the stand-in alone; max_requests holds for both. Returns the summary,
    whose "stand_in" tells which it was. TraceError, ValueError: see there.
    """
    folder = traces or os.environ.get("TRACES")
    if folder and not os.path.isdir(folder):
        raise TraceError(f"TRACES: '{folder}': want a directory")
    path = find(name, folder) if folder else None
    if not path and name not in STAND_INS:
        raise TraceError(f"'{name}': no trace of that name, and no stand-in; "
                         f"want one of {', '.join(STAND_INS)}")
    if path:
        wanted = {key: value for key, value in wanted.items()
                  if key not in ("requests", "seed")}
        argv = [str(path)]
    else:
        argv = [f"--stand-in={name}"]
    if out is not None:
        argv.append(f"--out={out}")
    for key, value in wanted.items():
        if value is not None and value is not False:
            option = "--" + key.replace("_", "-")
            argv.append(option if value is True else f"{option}={value}")
    args = parse(argv, _Quiet)
    summary = convert(args)
    if args.verify:
        verify(args.out, summary)
    return summary


def listing():
    """The stand-ins, lines."""
    form = "{:9} {:>8} {:>6} {:>9} {:>9} {:>10}  {}"
    yield form.format("name", "IOPS", "reads", "read", "write", "footprint",
                      "from")
    for name, kind in STAND_INS.items():
        yield form.format(
            name, f"{kind.iops:g}", f"{kind.read_share:.1%}",
            shown(SECTOR * mean_of(kind.read_sizes)),
            shown(SECTOR * mean_of(kind.write_sizes)),
            shown(kind.footprint_mib * REGION), kind.source)


def main(argv=None):
    """Command line of scripts/trace2fio."""
    args = parse(sys.argv[1:] if argv is None else argv)

    def on_signal(signum, _):
        raise options.Interrupted(signum)
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, on_signal)
    # The reader of our lines may have enough of them.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        if args.list:
            print("\n".join(listing()))
            return 0
        summary = convert(args)
        for line in summary["bad_lines_first"]:
            print(f"trace2fio: {line} (left out)", file=sys.stderr)
        print("\n".join(report(summary)))
        if args.verify:
            print("  " + verify(args.out, summary))
    except TraceError as error:
        print(f"trace2fio: {error}", file=sys.stderr)
        return 1
    except options.Interrupted as stop:
        print("trace2fio: interrupted", file=sys.stderr)
        return 128 + stop.number
    return 0


if __name__ == "__main__":
    sys.exit(main())
