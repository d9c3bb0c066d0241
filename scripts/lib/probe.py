# SPDX-License-Identifier: GPL-2.0
"""scripts/probe-layout: which addresses of a device share a chip?

Reads small blocks, two at a time, and takes the time of each pair. Two reads
that want the same chip wait for each other. What it finds is printed as the
descriptor that the attribute `layout` takes, with the LBA offset and how far
it can be relied on. It writes nothing to the device. Where it finds no map, it
says so and why.
"""

import argparse
import ctypes
import fcntl
import gc
import mmap
import os
import pathlib
import platform
import re
import signal
import stat
import struct
import sys
import time

import layoutprobe
import toolname

NAME = toolname.prefix("probe-layout")

# From linux/fs.h.
BLKGETSIZE64, BLKSSZGET = 0x80081272, 0x1268
# io_setup, io_destroy, io_getevents, io_submit.
SYSCALLS = {"x86_64": (206, 207, 208, 209), "aarch64": (0, 1, 4, 2)}
# Reads at once.
DEPTH = 8

FOUND, TROUBLE, BAD_OPTIONS, NO_MAP, INTERRUPTED = 0, 1, 2, 3, 128


class Trouble(Exception):
    """Why it could not be tried, or not be applied."""


class Iocb(ctypes.Structure):
    """struct iocb of linux/aio_abi.h, on little-endian machines."""
    _fields_ = [("data", ctypes.c_uint64), ("key", ctypes.c_uint32),
                ("rw_flags", ctypes.c_uint32), ("opcode", ctypes.c_uint16),
                ("reqprio", ctypes.c_int16), ("fildes", ctypes.c_uint32),
                ("buf", ctypes.c_uint64), ("nbytes", ctypes.c_uint64),
                ("offset", ctypes.c_int64), ("reserved", ctypes.c_uint64),
                ("flags", ctypes.c_uint32), ("resfd", ctypes.c_uint32)]


class IoEvent(ctypes.Structure):
    """struct io_event of linux/aio_abi.h."""
    _fields_ = [("data", ctypes.c_uint64), ("obj", ctypes.c_uint64),
                ("res", ctypes.c_int64), ("res2", ctypes.c_int64)]


class AioReads:
    """A file, as layoutprobe wants a device.

    The kernel's asynchronous I/O submits several reads in one call, from one
    task and therefore to one hardware queue, without threads whose wake-ups
    would be part of the time.
    """

    def __init__(self, fd, size, block):
        if platform.machine() not in SYSCALLS:
            raise Trouble(f"not done for {platform.machine()} machines: want "
                          + " or ".join(SYSCALLS))
        self.fd = fd
        self.block = block // 512
        self.sectors = size // block * self.block
        self.buffer = mmap.mmap(-1, DEPTH * max(block, mmap.PAGESIZE))
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.buffer))
        self.iocbs = (Iocb * DEPTH)()
        self.pointers = (ctypes.POINTER(Iocb) * DEPTH)()
        self.events = (IoEvent * DEPTH)()
        for i, iocb in enumerate(self.iocbs):
            iocb.fildes = fd
            # IOCB_CMD_PREAD is 0: there is no way to write from here.
            iocb.opcode = 0
            iocb.nbytes = block
            iocb.buf = address + i * max(block, mmap.PAGESIZE)
            self.pointers[i] = ctypes.pointer(iocb)
        setup, self.destroy, getevents, submit = map(
            ctypes.c_long, SYSCALLS[platform.machine()])
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.context = ctypes.c_uint64(0)
        self.call(setup, ctypes.c_long(DEPTH), ctypes.byref(self.context))
        self.submit, self.getevents = submit, getevents
        self.counts = [ctypes.c_long(i) for i in range(DEPTH + 1)]

    def call(self, *args):
        """A system call; what it returns, or OSError."""
        result = self.libc.syscall(*args)
        if result < 0:
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error))
        return result

    def close(self):
        """Gives the kernel's context back."""
        self.call(self.destroy, self.context)

    @staticmethod
    def clock():
        """ns."""
        return time.monotonic_ns()

    def time(self, sectors):
        """ns that these reads take together."""
        number = len(sectors)
        for iocb, sector in zip(self.iocbs, sectors):
            iocb.offset = sector * 512
        count = self.counts[number]
        begin = time.monotonic_ns()
        sent = self.call(self.submit, self.context, count, self.pointers)
        if sent != number:
            raise Trouble(f"the device took {sent} of {number} reads")
        got = 0
        while got < number:
            try:
                got += self.call(
                    self.getevents, self.context, self.counts[number - got],
                    self.counts[number - got],
                    ctypes.byref(self.events, got * ctypes.sizeof(IoEvent)),
                    None)
            except InterruptedError:
                continue
        end = time.monotonic_ns()
        for event in self.events[:number]:
            if event.res != self.iocbs[0].nbytes:
                raise OSError(-event.res if event.res < 0 else 5,
                              "a read failed: "
                              + os.strerror(-event.res if event.res < 0
                                            else 5))
        return end - begin


def open_device(path):
    """The device's file, its size and its logical block, in bytes."""
    try:
        if not stat.S_ISBLK(os.stat(path).st_mode):
            raise Trouble(f"'{path}' is no block device")
        fd = os.open(path, os.O_RDONLY | os.O_DIRECT | os.O_CLOEXEC)
    except OSError as error:
        raise Trouble(f"'{path}': {error.strerror}") from None
    size, block = bytearray(8), bytearray(4)
    fcntl.ioctl(fd, BLKGETSIZE64, size)
    fcntl.ioctl(fd, BLKSSZGET, block)
    return fd, struct.unpack("Q", size)[0], struct.unpack("I", block)[0]


def queue_of(path, sysfs=pathlib.Path("/sys")):
    """The directory of a device's queue in sysfs."""
    try:
        device = os.stat(path).st_rdev
    except OSError as error:
        raise Trouble(f"'{path}': {error.strerror}") from None
    folder = sysfs / "dev" / "block" / \
        f"{os.major(device)}:{os.minor(device)}"
    if (folder / "partition").exists():
        raise Trouble(f"'{path}' is a partition: chips are a matter of the "
                      "whole disk")
    return folder / "queue"


def apply(queue, found):
    """Sets the scheduler's files. All of them or none."""
    iosched = queue / "iosched"
    layout, offset = iosched / "layout", iosched / "lba_offset_sectors"
    if not layout.exists() or not offset.exists():
        raise Trouble("the device's scheduler takes no layout; next: select "
                      f"one that does in {queue}/scheduler")
    before = offset.read_text()
    try:
        offset.write_text(f"{found.offset}\n")
        layout.write_text(f"{found.layout}\n")
    except OSError as error:
        # With the old map, the old offset.
        offset.write_text(before)
        raise Trouble(f"the scheduler refuses '{found.layout}': "
                      f"{error.strerror}") from None


class Progress:
    """A line on the terminal that is written over; lines elsewhere."""

    def __init__(self, quiet):
        self.quiet = quiet
        self.terminal = sys.stderr.isatty()
        self.begin = time.monotonic()

    def say(self, text):
        """Prints the present step."""
        if self.quiet:
            return
        text = f"{NAME}: {time.monotonic() - self.begin:4.0f} s {text}"
        print(f"\r{text:79}" if self.terminal else text,
              end="" if self.terminal else "\n", file=sys.stderr, flush=True)

    def done(self):
        """The following output is no progress."""
        if self.terminal and not self.quiet:
            print(file=sys.stderr)


def parse(argv):
    """The options."""
    parser = argparse.ArgumentParser(
        prog=toolname.command("probe-layout"), allow_abbrev=False,
        description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 found; 3 no map found; 1 it could not be tried or "
        "not be applied; 2 bad options; 130 interrupted.")

    def whole(low, high):
        def convert(text):
            if not re.fullmatch("[0-9]{1,10}", text) or \
                    not low <= int(text) <= high:
                raise argparse.ArgumentTypeError(
                    f"'{text}': want a whole number from {low} to {high}")
            return int(text)
        return convert

    def refuse(message):
        print(f"{NAME}: {message}", file=sys.stderr)
        sys.exit(BAD_OPTIONS)
    parser.error = refuse
    add = parser.add_argument
    add("device", metavar="DEVICE", help="the whole disk, such as "
        "/dev/nvme0n1; best with nothing else going on")
    add("--seconds", type=whole(1, 3600), default=60, metavar="N",
        help="take no longer than that (default 60)")
    add("--seed", type=whole(0, 2**32 - 1), default=1, metavar="N",
        help="of the addresses (default 1)")
    add("--apply", action="store_true", help="write what was found to the "
        "attributes layout and lba_offset_sectors of the device's scheduler")
    add("--quiet", action="store_true", help="no progress")
    return parser.parse_args(argv)


def report(found):
    """`key value` lines."""
    print(f"layout {found.layout}")
    print(f"lba_offset_sectors {found.offset}")
    print(f"chips {found.chips}")
    print(f"confidence {100 * found.confidence:.1f}")
    print(f"sigmas {min(found.sigmas, 9999):.1f}")
    print(f"effect {100 * found.effect:.0f}")
    print(f"reads {found.reads}", flush=True)


def search(args, progress):
    """Runs it; what was found. NoMap, Trouble or OSError if not."""
    queue = queue_of(args.device)
    fd, size, block = open_device(args.device)
    try:
        reads = AioReads(fd, size, block)
        # Everything on one CPU and so on one hardware queue.
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        gc.disable()
        try:
            found = layoutprobe.Probe(reads, args.seconds, args.seed,
                                      progress.say).run()
        finally:
            gc.enable()
            reads.close()
    finally:
        os.close(fd)
    return queue, found


class Interrupted(BaseException):
    """A signal asked for the end."""


def main(argv=None):
    """Command line of scripts/probe-layout."""
    args = parse(sys.argv[1:] if argv is None else argv)

    def on_signal(number, _):
        raise Interrupted(number)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    progress = Progress(args.quiet)
    progress.say(f"{args.device}: reads only, at most {args.seconds} s, "
                 "mostly far less")
    try:
        queue, found = search(args, progress)
        progress.done()
        report(found)
        if args.apply:
            apply(queue, found)
        return FOUND
    except layoutprobe.NoMap as why:
        progress.done()
        print("layout none")
        print(f"reason {why}", flush=True)
        return NO_MAP
    except Interrupted as error:
        progress.done()
        print(f"{NAME}: interrupted; nothing was written",
              file=sys.stderr)
        return INTERRUPTED + error.args[0]
    except (Trouble, OSError) as error:
        progress.done()
        print(f"{NAME}: {getattr(error, 'strerror', None) or error}",
              file=sys.stderr)
        return TROUBLE


if __name__ == "__main__":
    sys.exit(main())
