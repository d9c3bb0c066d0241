# SPDX-License-Identifier: GPL-2.0
"""A disk with a volatile write cache, for QEMU, and what a power cut leaves.

QEMU has no such disk: what a guest has written survives QEMU's end in the
host's page cache, flushed or not. This one is an NBD server (QEMU is the
client) that keeps every write to itself until a flush, or FUA, asks for it.
cut() leaves an image as it would be found after a power cut at this moment:
what was promised, and of the rest what chance has it.
"""

import heapq
import os
import selectors
import socket
import struct
import subprocess
import threading
import time
from dataclasses import dataclass

# The cache keeps or loses whole blocks; they are the disk's logical blocks.
BLOCK = 4096

# How long the device takes for a request, in seconds: long enough that
# requests pile up above it and that it finishes them in another order.
SLOWEST = 0.004

_OPTION_MAGIC = b"IHAVEOPT"
_OPTION_REPLY = 0x3e889045565a9
_EXPORT_NAME, _ABORT, _INFO, _GO = 1, 2, 6, 7
_REPLY_ACK, _REPLY_INFO, _REPLY_UNSUPPORTED = 1, 3, (1 << 31) + 1
_INFO_EXPORT, _INFO_BLOCK_SIZE = 0, 3
# has flags, flush, FUA
_FLAGS = 1 | 1 << 2 | 1 << 3
_REQUEST_MAGIC, _SIMPLE_REPLY = 0x25609513, 0x67446698
READ, WRITE, DISCONNECT, FLUSH = 0, 1, 2, 3
FUA = 1
_EINVAL = 22
_LONGEST = 32 << 20


class Cache:
    """An image file with a write cache in front of it."""

    def __init__(self, path):
        self.file = os.open(path, os.O_RDWR)
        self.path = path
        self.size = os.fstat(self.file).st_size
        # {block: [(number of the write, data), ...]}, oldest first
        self.volatile = {}
        self.number = 0
        self.count = {"write": 0, "fua": 0, "flush": 0}

    def close(self):
        """Closes the file; volatile blocks are lost."""
        os.close(self.file)

    def fits(self, offset, length):
        """Are these whole blocks of the disk?"""
        return offset % BLOCK == 0 == length % BLOCK and \
            0 < length and offset + length <= self.size

    def read(self, offset, length):
        """The newest data, wherever it is."""
        data = bytearray(os.pread(self.file, length, offset))
        for at in range(0, length, BLOCK):
            versions = self.volatile.get((offset + at) // BLOCK)
            if versions:
                data[at:at + BLOCK] = versions[-1][1]
        return bytes(data)

    def write(self, offset, data, fua=False):
        """Takes the data; with fua it is on the medium after that."""
        self.number += 1
        self.count["write"] += 1
        self.count["fua"] += fua
        for at in range(0, len(data), BLOCK):
            block, piece = (offset + at) // BLOCK, data[at:at + BLOCK]
            if fua:
                # Older versions must not reappear later.
                self.volatile.pop(block, None)
                os.pwrite(self.file, piece, block * BLOCK)
            else:
                self.volatile.setdefault(block, []).append(
                    (self.number, piece))

    def flush(self, number):
        """Makes the writes up to this number permanent."""
        self.count["flush"] += 1
        for block, versions in list(self.volatile.items()):
            old = [v for v in versions if v[0] <= number]
            if not old:
                continue
            os.pwrite(self.file, old[-1][1], block * BLOCK)
            if len(old) == len(versions):
                del self.volatile[block]
            else:
                self.volatile[block] = versions[len(old):]

    def cut(self, rng, path, waiting=()):
        """Leaves in `path` what a power cut leaves; counts lost blocks.

        `waiting` are writes, as (offset, data), that the device has got and
        not finished: they may be there, too.
        """
        versions = {block: [data for _, data in found]
                    for block, found in self.volatile.items()}
        for offset, data in waiting:
            for at in range(0, len(data), BLOCK):
                versions.setdefault((offset + at) // BLOCK, []).append(
                    data[at:at + BLOCK])
        # None of them: what a missing flush is found by soonest. Some: order.
        share = rng.choice((0, 0, 0, 0.5))
        lost = 0
        subprocess.run(["cp", "--sparse=always", "--reflink=auto", "--",
                        self.path, path], check=True)
        with open(path, "r+b", buffering=0) as image:
            for block in sorted(versions):
                found = versions[block]
                kept = rng.randrange(len(found)) if rng.random() < share \
                    else -1
                lost += kept != len(found) - 1
                if kept >= 0:
                    image.seek(block * BLOCK)
                    image.write(found[kept])
        return lost


@dataclass
class Request:
    """The client's request."""
    kind: int
    fua: bool
    handle: int
    offset: int
    length: int
    data: bytes
    covers: int     # of a flush: the last write that had ended when it arrived


class Disk(threading.Thread):
    """Serves one Cache on a Unix socket, to one client at a time.

    One that `lies` takes flushes and FUA, and does nothing about them.
    """

    def __init__(self, image, address, rng, lies=False):
        super().__init__(daemon=True)
        self.cache = Cache(image)
        self.rng = rng
        self.lies = lies
        self.lock = threading.Lock()
        self.ending = threading.Event()
        self.trouble = ""
        # (when it is due, order of arrival, request)
        self.waiting = []
        self.arrived = 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(address))
        self.listener.listen(1)
        self.listener.settimeout(0.2)

    def run(self):
        """Until stop()."""
        while not self.ending.is_set():
            try:
                connection, _ = self.listener.accept()
            except socket.timeout:
                continue
            except OSError:
                break
            with connection:
                try:
                    connection.settimeout(10)
                    if self._greet(connection):
                        self._serve(connection)
                except ConnectionError:
                    # The client was killed: that is what it is there for.
                    pass
                except (OSError, ValueError, struct.error) as error:
                    self.trouble = f"{self.cache.path}: {error}"

    def stop(self):
        """Ends the thread; a cut is possible before this only."""
        self.ending.set()
        self.join(15)
        self.listener.close()
        self.cache.close()

    def cut(self, rng, path):
        """The image that a power cut leaves now; counts lost blocks."""
        with self.lock:
            writes = [(r.offset, r.data) for _, __, r in sorted(
                self.waiting, key=lambda entry: entry[1]) if r.kind == WRITE]
            return self.cache.cut(rng, path, writes)

    # --- the protocol: fixed newstyle negotiation, simple replies ----------

    def _take(self, connection, length):
        data = bytearray()
        while len(data) < length:
            try:
                piece = connection.recv(min(length - len(data), 1 << 20))
            except socket.timeout:
                if self.ending.is_set():
                    raise ConnectionError("ending") from None
                continue
            if not piece:
                raise ConnectionError("the client has gone")
            data += piece
        return bytes(data)

    def _greet(self, connection):
        """True when requests follow."""
        connection.sendall(b"NBDMAGIC" + _OPTION_MAGIC + struct.pack(">H", 3))
        flags, = struct.unpack(">I", self._take(connection, 4))

        def answer(option, kind, data=b""):
            connection.sendall(struct.pack(">QIII", _OPTION_REPLY, option,
                                           kind, len(data)) + data)
        while True:
            magic, option, length = struct.unpack(
                ">8sII", self._take(connection, 16))
            if magic != _OPTION_MAGIC or length > 65536:
                raise ValueError("what the client says is not NBD")
            self._take(connection, length)
            if option == _EXPORT_NAME:
                connection.sendall(struct.pack(
                    ">QH", self.cache.size, _FLAGS)
                    + (b"" if flags & 2 else bytes(124)))
                return True
            if option in (_INFO, _GO):
                answer(option, _REPLY_INFO, struct.pack(
                    ">HQH", _INFO_EXPORT, self.cache.size, _FLAGS))
                answer(option, _REPLY_INFO, struct.pack(
                    ">HIII", _INFO_BLOCK_SIZE, BLOCK, BLOCK, _LONGEST))
                answer(option, _REPLY_ACK)
                if option == _GO:
                    return True
            elif option == _ABORT:
                answer(option, _REPLY_ACK)
                return False
            else:
                answer(option, _REPLY_UNSUPPORTED)

    def _serve(self, connection):
        with self.lock:
            self.waiting = []
        with selectors.DefaultSelector() as selector:
            selector.register(connection, selectors.EVENT_READ)
            while not self.ending.is_set():
                pause = 0.2
                if self.waiting:
                    pause = max(0, self.waiting[0][0] - time.monotonic())
                if selector.select(pause) and not self._receive(connection):
                    return
                while self.waiting and \
                        self.waiting[0][0] <= time.monotonic():
                    self._finish(connection)

    def _receive(self, connection):
        magic, flags, kind, handle, offset, length = struct.unpack(
            ">IHHQQI", self._take(connection, 28))
        if magic != _REQUEST_MAGIC or length > _LONGEST:
            raise ValueError("what the client asks for is not NBD")
        if kind == DISCONNECT:
            return False
        data = self._take(connection, length) if kind == WRITE else b""
        with self.lock:
            self.arrived += 1
            request = Request(kind, bool(flags & FUA), handle, offset, length,
                              data, self.cache.number)
            heapq.heappush(self.waiting, (
                time.monotonic() + self.rng.uniform(0, SLOWEST),
                self.arrived, request))
        return True

    def _finish(self, connection):
        # It has either happened or not when a cut looks.
        with self.lock:
            _, __, request = heapq.heappop(self.waiting)
            error, data = self._do(request)
        connection.sendall(struct.pack(">IIQ", _SIMPLE_REPLY, error,
                                       request.handle) + data)

    def _do(self, request):
        """(error, data of the answer)"""
        cache = self.cache
        if request.kind == FLUSH:
            # Writes that had not ended when the flush arrived are not part of it.
            cache.flush(0 if self.lies else request.covers)
        elif not cache.fits(request.offset, request.length):
            return _EINVAL, b""
        elif request.kind == READ:
            return 0, cache.read(request.offset, request.length)
        elif request.kind == WRITE:
            cache.write(request.offset, request.data,
                        request.fua and not self.lies)
        else:
            return _EINVAL, b""
        return 0, b""

