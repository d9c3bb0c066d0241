# SPDX-License-Identifier: GPL-2.0
"""Requests of a trace, put in order and written: for fio, as CSV, for MQSim."""

import heapq
import itertools
import struct
import tempfile

from synthetic import BLOCK, REGION
from tracefile import CSV_HEADER, SECTOR

# More are sorted in pieces of this size, in temporary files: under 130 MB of
# memory in all, whatever the length of the trace, and 29 bytes of disk a
# request. Only the figures for each touched MiB grow: 300 bytes at most.
SORTED_IN_MEMORY = 250000
# A request that begins where one of the last requests of its kind ended (this
# number of them) counts as sequential: several runs may be under way side by
# side.
RUNS_SIDE_BY_SIDE = 64
PEAK_NS = 100000000
# fio takes a time of 0 for "none yet" and drops the wait after it. So times
# in an iolog begin with 1.
FIRST_US = 1
# MQSim's own flows begin at 1 ns, when all of it has been set up.
FIRST_NS = 1


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
        elif form == "csv":
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
            elif self.form == "mqsim":
                # A blank more, or a line of another kind, ends the trace.
                line = (f"{FIRST_NS + when} 0 {offset // SECTOR} "
                        f"{length // SECTOR} {int(read)}\n")
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
        """Figures of the written requests."""
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
