# SPDX-License-Identifier: GPL-2.0
"""scripts/crash: the disk that forgets, the writers, and the verdicts."""

import argparse
import importlib
import os
import pathlib
import random
import shutil
import socket
import struct
import subprocess
import sys
import time

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

crash = importlib.import_module("crash")
kernel = importlib.import_module("kernel")
volatiledisk = importlib.import_module("volatiledisk")

BLOCK = volatiledisk.BLOCK


def block(letter):
    """A block full of it."""
    return letter.encode() * BLOCK


@pytest.fixture(name="image")
def an_image(tmp_path):
    """An empty disk of 64 blocks."""
    path = tmp_path / "image"
    path.write_bytes(bytes(64 * BLOCK))
    return path


class Always(random.Random):
    """Keeps this share of what is volatile."""

    def __init__(self, share):
        super().__init__(1)
        self.share = share

    def choice(self, seq):
        return self.share


def after_cut(cache, tmp_path, share, waiting=()):
    """(blocks that were lost, the image)"""
    path = tmp_path / "cut"
    lost = cache.cut(Always(share), path, waiting)
    return lost, path.read_bytes()


# --- the write cache --------------------------------------------------------

def test_what_was_not_flushed_is_lost(image, tmp_path):
    cache = volatiledisk.Cache(image)
    cache.write(0, block("a") + block("b"))
    assert cache.read(0, 3 * BLOCK) == block("a") + block("b") + block("\0")
    lost, data = after_cut(cache, tmp_path, 0)
    assert lost == 2 and data == bytes(64 * BLOCK)
    lost, data = after_cut(cache, tmp_path, 1)
    assert lost == 0 and data.startswith(block("a") + block("b"))


def test_a_flush_makes_permanent_what_came_before_it(image, tmp_path):
    cache = volatiledisk.Cache(image)
    cache.write(0, block("a"))
    mark = cache.number
    cache.write(0, block("b"))
    cache.write(BLOCK, block("c"))
    cache.flush(mark)
    assert cache.read(0, 2 * BLOCK) == block("b") + block("c")
    lost, data = after_cut(cache, tmp_path, 0)
    assert lost == 2 and data[:2 * BLOCK] == block("a") + block("\0")
    cache.flush(cache.number)
    assert after_cut(cache, tmp_path, 0)[0] == 0
    assert cache.count == {"write": 3, "fua": 0, "flush": 2}


def test_fua_is_permanent_and_nothing_older_comes_back(image, tmp_path):
    cache = volatiledisk.Cache(image)
    cache.write(0, block("a") + block("x"))
    cache.write(0, block("b"), fua=True)
    for share in (0, 1):
        assert after_cut(cache, tmp_path, share)[1][:BLOCK] == block("b")
    assert after_cut(cache, tmp_path, 0)[0] == 1
    assert cache.read(BLOCK, BLOCK) == block("x")


def test_any_version_may_remain(image, tmp_path):
    cache = volatiledisk.Cache(image)
    cache.write(0, block("a"))
    cache.write(0, block("b"))
    found = set()
    for seed in range(150):
        rng = random.Random(seed)
        cache.cut(rng, tmp_path / "cut", [(0, block("c"))])
        found.add((tmp_path / "cut").read_bytes()[:1])
    assert found == {b"\0", b"a", b"b", b"c"}


# --- over the socket --------------------------------------------------------

class Client:
    """The parts of an NBD client that these tests need."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10)
        self.socket.connect(str(address))
        assert self.take(18) == b"NBDMAGICIHAVEOPT\0\3"
        self.socket.sendall(struct.pack(">I", 3))
        # One that it does not know, and then the usual one.
        self.option(8)
        assert self.answer() == (8, (1 << 31) + 1, b"")
        self.option(7, struct.pack(">IH", 0, 0))
        option, kind, data = self.answer()
        assert (option, kind) == (7, 3)
        self.size = struct.unpack(">HQH", data)[1]
        assert self.answer()[1] == 3 and self.answer()[1] == 1

    def take(self, length):
        """Receives `length` bytes."""
        data = b""
        while len(data) < length:
            piece = self.socket.recv(length - len(data))
            assert piece
            data += piece
        return data

    def option(self, number, data=b""):
        """Asks for an option."""
        self.socket.sendall(b"IHAVEOPT" + struct.pack(">II", number, len(data))
                            + data)

    def answer(self):
        """(option, kind of answer, data)"""
        magic, option, kind, length = struct.unpack(">QIII", self.take(20))
        assert magic == 0x3e889045565a9
        return option, kind, self.take(length)

    def send(self, kind, handle, offset=0, data=b"", length=0, fua=False):
        """A request."""
        self.socket.sendall(struct.pack(
            ">IHHQQI", 0x25609513, int(fua), kind, handle, offset,
            len(data) or length) + data)

    def reply(self, length=0):
        """(handle, error, data) of the next one that is done."""
        magic, error, handle = struct.unpack(">IIQ", self.take(16))
        assert magic == 0x67446698
        return handle, error, self.take(length if not error else 0)


@pytest.fixture(name="disk")
def a_disk(image, tmp_path):
    """A served disk; `ignores` may still be set."""
    disk = volatiledisk.Disk(image, tmp_path / "socket", random.Random(1))
    disk.start()
    yield disk
    disk.stop()
    assert not disk.trouble


def test_disk_for_a_client(disk, tmp_path):
    client = Client(tmp_path / "socket")
    assert client.size == 64 * BLOCK
    client.send(volatiledisk.WRITE, 1, 0, block("a"))
    assert client.reply() == (1, 0, b"")
    client.send(volatiledisk.READ, 2, 0, length=2 * BLOCK)
    assert client.reply(2 * BLOCK) == (2, 0, block("a") + block("\0"))
    client.send(volatiledisk.WRITE, 3, BLOCK, block("b"), fua=True)
    assert client.reply() == (3, 0, b"")
    assert disk.cut(Always(0), tmp_path / "cut") == 1
    assert (tmp_path / "cut").read_bytes()[:2 * BLOCK] == \
        block("\0") + block("b")
    client.send(volatiledisk.FLUSH, 4)
    assert client.reply() == (4, 0, b"")
    assert disk.cut(Always(0), tmp_path / "cut") == 0
    # Requests outside the disk, or of no whole blocks, are refused.
    for number, (offset, length) in enumerate(
            ((64 * BLOCK, BLOCK), (512, BLOCK), (0, 512))):
        client.send(volatiledisk.READ, number, offset, length=length)
        assert client.reply()[1] == 22
    assert disk.cache.count == {"write": 2, "fua": 1, "flush": 1}


def test_a_flush_does_not_cover_what_had_not_ended(disk, tmp_path,
                                                   monkeypatch):
    monkeypatch.setattr(disk.rng, "uniform", lambda low, high: 0.1)
    client = Client(tmp_path / "socket")
    client.send(volatiledisk.WRITE, 1, 0, block("a"))
    client.send(volatiledisk.FLUSH, 2)
    assert [client.reply()[0], client.reply()[0]] == [1, 2]
    assert disk.cut(Always(0), tmp_path / "cut") == 1
    client.send(volatiledisk.FLUSH, 3)
    client.reply()
    assert disk.cut(Always(0), tmp_path / "cut") == 0


def test_requests_end_in_another_order(disk, tmp_path):
    client = Client(tmp_path / "socket")
    for number in range(16):
        client.send(volatiledisk.WRITE, number, number * BLOCK, block("a"))
    order = [client.reply()[0] for _ in range(16)]
    assert order != sorted(order) and sorted(order) == list(range(16))


def test_a_client_that_is_killed(disk, tmp_path, monkeypatch):
    monkeypatch.setattr(disk.rng, "uniform", lambda low, high: 9)
    client = Client(tmp_path / "socket")
    client.send(volatiledisk.WRITE, 1, 0, block("a"))
    end = time.monotonic() + 5
    while not disk.waiting and time.monotonic() < end:
        time.sleep(0.01)
    client.socket.close()
    # It had got that write, so it may be there.
    assert disk.cut(Always(1), tmp_path / "cut") == 0
    assert (tmp_path / "cut").read_bytes()[:BLOCK] == block("a")
    # As a boot that is tried again: nothing of the old one is in the way.
    Client(tmp_path / "socket")


@pytest.mark.parametrize("lies,lost", [(False, 0), (True, 2)])
def test_a_disk_that_lies(image, tmp_path, lies, lost):
    disk = volatiledisk.Disk(image, tmp_path / "socket", random.Random(1),
                             lies)
    disk.start()
    try:
        client = Client(tmp_path / "socket")
        client.send(volatiledisk.WRITE, 1, 0, block("a"))
        client.reply()
        client.send(volatiledisk.FLUSH, 2)
        client.reply()
        client.send(volatiledisk.WRITE, 3, BLOCK, block("b"), fua=True)
        client.reply()
        assert disk.cut(Always(0), tmp_path / "cut") == lost
        assert disk.cache.count["flush"] == 1
    finally:
        disk.stop()


# --- the writers ------------------------------------------------------------

@pytest.fixture(name="writers", scope="module")
def the_writers(tmp_path_factory):
    """The program."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc here")
    path = tmp_path_factory.mktemp("writers") / "writers"
    crash.build_writers(path)
    return path


@pytest.fixture(name="written")
def a_folder_full(writers, tmp_path):
    """Files, and the promises about them."""
    folder = tmp_path / "files"
    folder.mkdir()
    done = subprocess.run([writers, "write", "n", folder, "25"], text=True,
                          stdout=subprocess.PIPE, check=True, timeout=60)
    acks = [line for line in done.stdout.splitlines(True)
            if line.startswith("ack ")]
    assert "error" not in done.stdout
    return folder, acks


def look(writers, folder, acks):
    """(status, output) of a check for these promises."""
    path = folder.parent / "acks"
    path.write_text("".join(acks))
    done = subprocess.run([writers, "check", "n", folder, path], text=True,
                          stdout=subprocess.PIPE, check=False, timeout=60)
    return done.returncode, done.stdout


KINDS = ("file-rt", "file-be", "file-idle", "dsync", "append", "rename")


def test_what_was_written_is_there(writers, written):
    folder, acks = written
    assert {line.split()[2] for line in acks} == set(KINDS)
    status, out = look(writers, folder, acks)
    assert status == 0
    assert f"checked n: {len(acks)} promises, 0 broken" in out
    # Another disk's promises are not looked for here.
    assert look(writers, folder, ["ack v append 1999\n"])[0] == 0


@pytest.mark.parametrize("line", [
    "ack n file-rt 25\n", "ack n append 25\n", "ack n rename 25\n",
    "ack n dsync 30\n"])
def test_a_promise_that_was_not_kept(writers, written, line):
    folder, acks = written
    status, out = look(writers, folder, [*acks, line])
    assert status == 1 and f"lost n {line.split()[2]} " in out


@pytest.mark.parametrize("name,kind", [
    ("file-be.3", "file-be"), ("append", "append"), ("rename", "rename"),
    ("dsync", "dsync")])
def test_one_byte_is_noticed(writers, written, name, kind):
    folder, acks = written
    with open(folder / name, "r+b") as file:
        data = file.read()
        # A block that was never overwritten has no promise.
        at = next(n for n in range(len(data) - 1, 0, -1) if data[n])
        file.seek(at)
        file.write(bytes([data[at] ^ 1]))
    status, out = look(writers, folder, acks)
    assert status == 1 and f"lost n {kind} " in out


@pytest.mark.parametrize("name", ["file-idle.7", "append", "rename", "dsync"])
def test_what_is_gone_or_short_is_noticed(writers, written, name):
    folder, acks = written
    os.truncate(folder / name, (folder / name).stat().st_size - 1)
    assert look(writers, folder, acks)[0] == 1
    (folder / name).unlink()
    assert look(writers, folder, acks)[0] == 1


def test_what_was_never_promised_may_be_there(writers, written):
    folder, acks = written
    early = [line for line in acks if int(line.split()[3]) < 5]
    assert look(writers, folder, early)[0] == 0
    with open(folder / "append", "ab") as file:
        file.write(b"half a record")
    (folder / "rename.new").write_bytes(b"x")
    assert look(writers, folder, acks)[0] == 0


def test_a_list_of_promises_that_is_broken(writers, written):
    folder, _ = written
    status, out = look(writers, folder, ["ack n file-rt\n"])
    assert status == 1 and "error" in out and "checked" not in out


def test_a_writer_that_cannot_write(writers, tmp_path):
    done = subprocess.run([writers, "write", "n", tmp_path / "nowhere", "3"],
                          text=True, stdout=subprocess.PIPE, check=False,
                          timeout=60)
    assert done.returncode == 1 and "error n " in done.stdout


# --- verdicts ---------------------------------------------------------------

@pytest.fixture(name="one")
def a_round(tmp_path):
    """A round that has not begun."""
    args = argparse.Namespace(seed=1, kernel="6.1", cuts=2, control=False)
    return crash.Round(args, "k2", 1, tmp_path)


def test_the_seed_decides(tmp_path):
    args = argparse.Namespace(seed=1, kernel="6.1", cuts=2, control=False)
    draws = [crash.Round(args, name, number, tmp_path).rng.random()
             for name, number in (("k2", 1), ("k2", 1), ("k2", 2), ("x", 1))]
    assert draws[0] == draws[1] and len(set(draws)) == 3


@pytest.mark.parametrize("killed,status,said,other,word", [
    (True, 125, "vm: the kernel reported: KASAN\n", [], "KASAN"),
    (True, 125, "", ["error n append: write: No space\n"], "No space"),
    (False, 124, "vm: time-out\n", ["disk n nvme0n1\n"], "too few"),
])
def test_how_the_first_guest_must_not_end(one, killed, status, said, other,
                                          word):
    with pytest.raises(crash.Failed, match=word):
        one.judge_end(killed, status, said, other)


def test_how_the_first_guest_ends(one, tmp_path):
    log = tmp_path / "log"
    log.write_text("")
    one.judge_end(True, 125, f"vm: the guest died\nvm: console log: {log}\n",
                  [])
    assert not log.exists()
    with pytest.raises(kernel.Unavailable):
        one.judge_end(False, 77, "vm: kernel cannot be had\n", [])


def finished(one, verdicts, lost=5, flushes=1, control=False):
    """run() of a round with guests that found this."""
    class Pretended:
        """A disk that was used."""
        def __init__(self):
            self.cache = argparse.Namespace(
                count={"write": 9, "fua": 2, "flush": flushes})

        def stop(self):
            """Nothing."""
    one.args.control = control
    one.prepare = lambda: None
    one.write = lambda: None
    one.disks = {kind.tag: Pretended() for kind in crash.KINDS}
    one.cuts = [crash.Cut(0, acks={"n": ["ack n x 1\n"]}, lost=lost)]
    one.check = lambda: (verdicts, "lost n append 3: gone\n")
    return one.run()


GOOD = {"n0": "KEPT", "v0": "KEPT", "s0": "KEPT"}


def test_a_round_that_passes(one):
    assert "1 promises" in finished(one, GOOD)


@pytest.mark.parametrize("verdicts,more,word", [
    ({**GOOD, "v0": "LOST"}, {}, "virtio, cut 0: LOST"),
    ({**GOOD, "s0": "BAD e2fsck finds errors"}, {}, "e2fsck"),
    (GOOD, {"lost": 0}, "nothing was at stake"),
    (GOOD, {"flushes": 0}, "not one flush"),
    (GOOD, {"control": True}, "no promise was broken"),
    # That something is broken is not enough: it has to be a promise.
    ({**GOOD, "n0": "BAD status 2"}, {"control": True}, "no promise"),
])
def test_rounds_that_fail(one, verdicts, more, word):
    with pytest.raises(crash.Failed, match=word):
        finished(one, verdicts, **more)


def test_a_control_that_finds_something(one):
    assert "as they must" in finished(one, {**GOOD, "n0": "LOST"},
                                      control=True)


@pytest.mark.parametrize("argv,word", [
    (["--rounds", "0"], "'0'"), (["--cuts", "9"], "'9'"),
    (["--control", "x"], "x"), (["--kernel", "5.0"], "'5.0'")])
def test_refusals(capsys, argv, word):
    with pytest.raises(SystemExit) as error:
        crash.parse(argv)
    said = capsys.readouterr().err
    assert error.value.code == 2 and said.count("\n") == 1 and word in said


def test_what_vm_says_is_understood():
    said = ("vm: retry 1 of 2\nvm: the kernel reported: oops\n"
            "vm: the kernel reported: WARNING\nvm: console log: /a/b\n")
    assert crash.vm.boots_retried(said) == 1
    assert crash.reported(said) == "oops, WARNING"
    assert crash.console_log(said) == pathlib.Path("/a/b")
    assert crash.reported("") == "" and crash.console_log("") is None


def test_each_disk_is_cut_once_a_cut(one, tmp_path):
    class Pretended:
        """A disk that loses seven blocks."""
        def cut(self, _, path):
            """Leaves nothing."""
            assert path.parent == tmp_path
            return 7
    one.disks = {tag: Pretended() for tag in "nv"}
    for tag, acks in (("v", "a"), ("n", "ab"), ("n", "abc"), ("v", "abc")):
        one.cut(tag, acks)
    assert [(cut.number, cut.acks, cut.lost) for cut in one.cuts] == [
        (0, {"v": ["a"], "n": ["a", "b"]}, 14),
        (1, {"n": ["a", "b", "c"], "v": ["a", "b", "c"]}, 14)]
