# SPDX-License-Identifier: GPL-2.0
"""scripts/trace2fio: block traces, or stand-ins for them, as logs for fio.

Reads a trace (MSR Cambridge CSV, SSDsim ASCII, plain CSV, or what a tracer or
flashsim has recorded of requests that a driver got), fits it to a device, and
writes an iolog that fio replays, or what the simulator MQSim reads. Where no
trace is at hand, a stand-in with stated statistics can be made; it is marked as
one everywhere.
"""

import argparse
import fractions
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import mqsim
import options
from synthetic import REGION, STAND_INS, mean_of, synthesize
from tracefile import FORMATS, LONGEST, Reader, SECTOR, TraceError
from tracelog import Output, Spool
import toolname

NAME = toolname.prefix("trace2fio")

STAND_IN_REQUESTS = 100000
MOST = 10**9


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
            ("out_of_order", "other_device", "outside", "realigned", "moved",
             "shifted", "split", "skipped", "cut"), 0)
        # The earliest of all requests, --range or not
        self.earliest = None
        self.devices = {}
        self.kept = []
        self.notes = []

    def source(self):
        """The requests, one by one."""
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
        """Reads the source and writes the wanted requests to the spool, aligned."""
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
            self.earliest = min(self.earliest or 0, when - base)
            if args.range and not args.range[0] <= offset < args.range[1]:
                counts["outside"] += 1
                continue
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
        if self.counts["outside"]:
            raise TraceError(
                f"{reader.label}: none of {self.counts['outside']} requests "
                f"begins in --range {range_text(self.args.range)}")
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
        if args.range:
            # Parts of one trace keep their times to each other.
            first = dict.fromkeys((main, warm), self.earliest)
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
        """The fields of a log's first line."""
        args, parts = self.args, []
        if args.range:
            parts.append(f"bytes {range_text(args.range)} only")
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
        if args.xml:
            mqsim.write(args.xml, args.out, args.geometry,
                        self.reader.label if self.reader else
                        args.stand_in, note)
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
        if reader and reader.handed_back:
            self.notes.append(
                f"{reader.handed_back} requests handed back by the driver: "
                "each is there as often as it was issued")
        if reader and reader.lost:
            self.notes.append(f"the tracer lost {reader.lost} events: "
                              "requests are missing")
        if args.to == "iolog" and main.largest > REGION and \
                not args.max_length:
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
            "range_bytes": args.range,
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


def range_text(value):
    """A range as it could be typed."""
    return f"{value[0]}-{value[1]}"


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
            ("outside", "requests outside --range left out"),
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
        raise TraceError("--verify: fio is not installed: apt-get install fio")
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


def byte_range(text):
    """An argparse type: (from, to), bytes, `to` not included."""
    low, _, high = text.partition("-")
    try:
        found = size(0, 1 << 50)(low), size(1, 1 << 50)(high)
    except argparse.ArgumentTypeError:
        found = (1, 0)
    if found[0] >= found[1]:
        raise argparse.ArgumentTypeError(
            f"'{text}': want FROM-TO, bytes from 0 to {1 << 50}, the first "
            "smaller, such as 0-64M")
    return found


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
        "trace2fio", usage=f"{toolname.command('trace2fio')} [options] TRACE",
        description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 written; 1 the trace, or what was asked of it, "
        "does not do; 2 bad options; 130 interrupted. More in "
        "docs/traces.md.")
    add = parser.add_argument
    add("trace", nargs="?", metavar="TRACE",
        help="a file, plain, gzip or xz; - for standard input")
    add("--format", type=one_of(("auto", *FORMATS)), default="auto",
        metavar="F", help=", ".join(FORMATS) + " (default: by the first line)")
    add("--out", type=_target, metavar="FILE",
        help="what to write (default: only look)")
    add("--to", type=one_of(("iolog", "csv", "mqsim")), default="iolog",
        metavar="F", help="iolog, csv or mqsim (default iolog)")
    add("--xml", type=_target, metavar="FILE",
        help="with --to mqsim: write the workload that names --out, too")
    add("--geometry", type=mqsim.geometry, metavar="CxWxDxP",
        help="of MQSim's device: channels, chips a channel, dies a chip, "
        f"planes a die, 1 to {mqsim.MOST} each (default "
        + "x".join(map(str, mqsim.GEOMETRY)) + ", that of its ssdconfig.xml)")
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
        help="only these devices of the trace, such as 5, hm_0 or 259:0")
    add("--range", type=byte_range, metavar="FROM-TO", help="only requests "
        "that begin in these bytes, such as 0-64M; their times stay those "
        "of the whole trace")
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
    if args.to == "mqsim":
        if args.closed:
            parser.error("argument --closed: MQSim has nothing but times to "
                         "go by")
        if not args.out:
            parser.error("argument --to: 'mqsim': want --out, too")
    elif args.xml or args.geometry:
        parser.error(f"argument --{'xml' if args.xml else 'geometry'}: only "
                     "with --to mqsim")
    if args.geometry and not args.xml:
        parser.error("argument --geometry: want --xml FILE, where it goes")
    args.geometry = args.geometry or mqsim.GEOMETRY
    files = [os.path.realpath(path) for path in
             (args.trace, args.out, args.warmup, args.summary, args.xml)
             if path not in (None, "-")]
    if len(set(files)) < len(files):
        parser.error("TRACE, --out, --warmup, --summary and --xml: want "
                     "different files")
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

    Its name begins with the stand-in's name, or another that is known for it,
    followed by something else than a digit: proj_1 is not proj_10.
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
    says, if it does. `wanted`: long options, _ for -. requests and seed are for
    the stand-in alone; max_requests holds for both. Returns the summary; its
    "stand_in" is true for a stand-in. Raises TraceError and ValueError.
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
    options.catch_signals()
    try:
        if args.list:
            print("\n".join(listing()), flush=True)
            return 0
        summary = convert(args)
        for line in summary["bad_lines_first"]:
            print(f"{NAME}: {line} (left out)", file=sys.stderr)
        print("\n".join(report(summary)))
        if args.verify:
            print("  " + verify(args.out, summary))
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our lines has enough of them.
        return options.reader_gone()
    except TraceError as error:
        print(f"{NAME}: {error}", file=sys.stderr)
        return 1
    except options.Interrupted as stop:
        print(f"{NAME}: interrupted", file=sys.stderr)
        return 128 + stop.number
    return 0


if __name__ == "__main__":
    sys.exit(main())
