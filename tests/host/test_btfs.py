# SPDX-License-Identifier: GPL-2.0
"""The private elevator interface in real kernels, and what scripts/abi-check says.

The list is tests/vm/kernels/btfs.toml. `scripts/kernel --btf-all` fetches all of
it, make check some; what is not in the cache is skipped. scripts/abi-check takes
two seconds each, so it is asked about those of make check, with ALL_BTFS=1 about
all. Kernels that cannot be fetched are made here from tests/host/data/structs-*.c.
A reader of BTF of our own finds the features, too: table and check cannot be wrong
alike.
"""

import functools
import importlib
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import madekernel
import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

aptroot = importlib.import_module("aptroot")
btfs = importlib.import_module("btfs")
kernel = importlib.import_module("kernel")

CHECK = REPO / "scripts/abi-check"
IMAGES, ROWS = btfs.read()


# --- a small reader of BTF --------------------------------------------------

_BEHIND = {1: (4, 0), 3: (12, 0), 4: (0, 12), 5: (0, 12), 6: (0, 8),
           13: (0, 8), 14: (4, 0), 15: (0, 12), 17: (4, 0), 19: (0, 12)}
INT, PTR, STRUCT, FWD, TYPEDEF, CONST, PROTO = 1, 2, 4, 7, 8, 10, 13


class Reader:
    """Types by number, structs by name."""

    def __init__(self, data):
        _, _, _, head, start, length, text, size = \
            struct.unpack_from("<HBBIIIII", data)
        self.data = data[head + start:head + start + length]
        self.text = data[head + text:head + text + size]
        self.at, self.structs = [None], {}
        place = 0
        while place < length:
            name, info, _ = struct.unpack_from("<III", self.data, place)
            kind, count = info >> 24 & 31, info & 0xffffff
            if kind == STRUCT and name:
                self.structs.setdefault(self.word(name), []).append(
                    len(self.at))
            self.at.append(place)
            fixed, each = _BEHIND.get(kind, (0, 0))
            place += 12 + fixed + each * count

    def word(self, offset):
        """A name."""
        return self.text[offset:self.text.index(b"\0", offset)].decode()

    def of(self, number):
        """(kind, name, type or size, elements) of a type."""
        if not number:
            return 0, "", 0, 0
        name, info, other = struct.unpack_from("<III", self.data,
                                               self.at[number])
        return info >> 24 & 31, self.word(name), other, info & 0xffffff

    def members(self, name):
        """{member: type} of the only struct of this name."""
        number, = self.structs[name]
        found = {}
        for index in range(self.of(number)[3]):
            text, kind, _ = struct.unpack_from(
                "<III", self.data, self.at[number] + 12 + 12 * index)
            found[self.word(text)] = kind
        return found

    def plain(self, number):
        """A type without the names that it has been given."""
        while self.of(number)[0] == TYPEDEF:
            number = self.of(number)[2]
        return number

    def target(self, number):
        """(kind, name) of what a pointer points to."""
        kind, _, other, _ = self.of(self.plain(number))
        assert kind == PTR
        return self.of(self.plain(other))[:2]

    def argument(self, pointer, index):
        """The type of an argument of the function that a pointer is of."""
        proto = self.of(self.plain(pointer))[2]
        assert self.of(proto)[0] == PROTO and index < self.of(proto)[3]
        return struct.unpack_from(
            "<II", self.data, self.at[proto] + 12 + 8 * index)[1]


def reserved(names):
    """Words that a struct's last members keep free."""
    count = 0
    for name in reversed(list(names)):
        if "reserved" not in name:
            break
        count += 1
    return count


def features(data):
    """{feature: value} of a kernel's BTF."""
    btf = Reader(data)
    ops = btf.members("elevator_mq_ops")
    kind = btf.members("elevator_type")
    queue = btf.members("elevator_queue")
    more = btf.members("blk_mq_alloc_data")

    def given(hook, index):
        return btf.target(btf.argument(ops[hook], index))[1]
    insert = btf.of(btf.plain(btf.argument(ops["insert_requests"], 2)))[1]
    assert insert in ("_Bool", "unsigned int")
    assert given("init_sched", 1) in ("elevator_type", "elevator_queue")
    assert given("depth_updated", 0) in ("blk_mq_hw_ctx", "request_queue")
    assert ("registered" in queue) != ("flags" in queue)
    return {
        "ELV_INSERT_BOOL": insert == "_Bool",
        "ELV_HAS_FEATURES": "elevator_features" in kind,
        "ELV_QUEUE_REGISTERED": "registered" in queue,
        "ELV_CACHED_RQ_PTR": "cached_rq" in more,
        "ELV_CONST_ATTRS": btf.target(kind["elevator_attrs"])[0] == CONST,
        "ELV_CORE_QUEUE": given("init_sched", 1) == "elevator_queue",
        "ELV_QUEUE_TAGS": "et" in queue,
        "ELV_DEPTH_OF_QUEUE": given("depth_updated", 0) == "request_queue",
        "ELV_SCHED_DATA": "alloc_sched_data" in ops,
        "ELV_ASYNC_DEPTH": "async_depth" in btf.members("request_queue"),
        "ELV_DEBUGFS_ATTRS": "queue_debugfs_attrs" in kind,
        "ELV_RESERVED_OPS": reserved(ops),
        "ELV_RESERVED_TYPE": reserved(kind),
    }


# --- what scripts/abi-check says --------------------------------------------

def verdict(path, untested=""):
    """(status, {feature: value}, all that it says) of scripts/abi-check."""
    done = subprocess.run(
        [CHECK, "--btf", path], check=False, text=True,
        env={**os.environ, "ELV_UNTESTED": untested},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode == 2 and "no kernel build directory" in done.stdout:
        pytest.skip("this scripts/abi-check does not read a BTF alone")
    return done.returncode, {
        name: int(value) for name, value in
        re.findall(r"(?<![-\w])(ELV_\w+)=(\d+)\b", done.stdout)}, done.stdout


def accepts(path, row, untested=""):
    """abi-check finds these features and accepts the kernel."""
    status, found, text = verdict(path, untested)
    assert {name: found.get(name) for name in row} == row, text
    assert status == 0 and "refused" not in text, text


def refuses(path, untested=""):
    """abi-check refuses the kernel; what it says."""
    status, _, text = verdict(path, untested)
    assert status == 1 and "refused: " in text, text
    return text


# --- real kernels -----------------------------------------------------------

@functools.lru_cache(maxsize=None)
def real(release):
    """The BTF of an image, if it is in the cache."""
    collection = btfs.Collection(kernel.Store(), IMAGES)
    packed = collection.packed(IMAGES[release])
    if not packed.exists():
        pytest.skip(f"not fetched: scripts/kernel --btf {release}")
    return lzma.decompress(packed.read_bytes())


@pytest.mark.parametrize("release", IMAGES)
def test_the_table_is_right(release):
    """The list says what is in the kernel."""
    assert features(real(release)) == ROWS[IMAGES[release].features]


@pytest.mark.parametrize("release", [
    release for release, image in IMAGES.items()
    if image.telling or os.environ.get("ALL_BTFS", "0") not in ("", "0")])
def test_abi_check_finds_the_same(release, tmp_path):
    path = tmp_path / "btf"
    path.write_bytes(real(release))
    image = IMAGES[release]
    if image.refused:
        refuses(path)
    else:
        accepts(path, ROWS[image.features])


def test_the_list():
    """Enough images, of every series since 6.1, and not too many for make check."""
    releases = [release for release, image in IMAGES.items()
                if not image.refused]
    assert len(releases) >= 24
    assert {kernel.minor(release) for release in releases} >= {
        "6.1", "6.12", "6.16", "6.17", "6.18", "6.19", "7.0", "7.1", "7.2",
        "7.3"}
    telling = [image for image in IMAGES.values() if image.telling]
    assert len(telling) <= 6
    assert sum(image.download for image in telling) < 200
    for image in IMAGES.values():
        assert image.features in ROWS
        assert image.release.startswith(image.version.split(".")[0])


# --- kernels that cannot be fetched -----------------------------------------

# Row of the features, words reserved in ops and type
MADE = {
    "6.2": ("6.2", 0, 0),
    "6.6": ("6.4", 0, 0),
    "6.8": ("6.4", 0, 0),
    "6.11": ("6.9", 0, 0),
    "6.14": ("6.14", 0, 0),
    "6.17.0": ("6.16.4", 0, 0),
    "7.1": ("7.0", 0, 0),
    "rhel-10.0": ("6.12.25", 4, 4),
    "rhel-10.1": ("6.16.4", 4, 4),
    "openeuler-6.6": ("6.4", 8, 4),
    "android-6.6": ("6.4", 4, 2),
}
# What is wrong with a kernel that is refused
WRONG = ("SWAPPED", "ADDED", "RETYPED", "PROTOTYPE", "RESERVED_INSIDE",
         "ENUMERATOR")


def make(folder, name, *macros):
    """Path of the BTF of a made-up kernel."""
    return madekernel.btf(folder, *macros, name=name)


def row_of(name):
    """The features of a made-up kernel."""
    row, ops, kind = MADE[name]
    return {**ROWS[row], "ELV_RESERVED_OPS": ops, "ELV_RESERVED_TYPE": kind}


def test_every_file_is_used():
    assert {path.stem.removeprefix("structs-")
            for path in madekernel.DATA.glob("structs-*.c")} == set(MADE)


@pytest.mark.parametrize("name", MADE)
def test_made_kernels(name, tmp_path):
    """The reader finds in them what is meant."""
    assert features(make(tmp_path, name).read_bytes()) == row_of(name)


@pytest.mark.parametrize("name", MADE)
def test_abi_check_of_made_kernels(name, tmp_path):
    accepts(make(tmp_path, name), row_of(name))


def test_what_nobody_reviewed(tmp_path):
    """Each feature is known, their combination is not."""
    btf = make(tmp_path, "6.6", "CONST_ATTRS")
    assert "ELV_UNTESTED=1" in refuses(btf)
    accepts(btf, {**row_of("6.6"), "ELV_CONST_ATTRS": 1}, "1")


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ["7.1", "rhel-10.0"])
def test_wrong_kernels_are_refused(name, wrong, tmp_path):
    """ELV_UNTESTED does not help: such a kernel is not merely unreviewed."""
    refuses(make(tmp_path, name, wrong), "1")


def test_wrong_kernels_differ(tmp_path):
    """Each of the faults is in the BTF."""
    seen = {make(tmp_path, "6.6", word).read_bytes() for word in (*WRONG, "OK")}
    assert len(seen) == len(WRONG) + 1


# --- fetching ---------------------------------------------------------------

def elf(blob, name=b".BTF"):
    """A small ELF file with one section."""
    names = b"\0" + name + b"\0.shstrtab\0"
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, 0, 0,
                       64 + len(blob) + len(names), 0, 64, 0, 0, 64, 3, 2)
    rows = [bytes(64),
            struct.pack("<IIQQQQIIQQ", 1, 1, 0, 0, 64, len(blob), 0, 0, 1, 0),
            struct.pack("<IIQQQQIIQQ", 2 + len(name), 3, 0, 0, 64 + len(blob),
                        len(names), 0, 0, 1, 0)]
    return head + blob + names + b"".join(rows)


def bzimage(program):
    """A bzImage with this program, as far as its header counts."""
    packed = lzma.compress(program)
    image = bytearray(1024)
    image[0x1f1] = 1
    image[0x202:0x206] = b"HdrS"
    image[0x248:0x250] = struct.pack("<II", 0, len(packed))
    return bytes(image) + packed


class Archive:
    """Stands for an AptRoot with one package."""

    def __init__(self, known=True):
        self.known, self.calls = known, []

    def show_all(self, names):
        """Control fields."""
        return {name: {"package": name, "version": "1", "size": "2000000"}
                if self.known and name.startswith("linux-image-") else {}
                for name in names}

    def update(self):
        """The lists."""
        self.calls.append("update")
        return "", False

    def download(self, packages, folder):
        """Makes the package."""
        self.calls.append(packages)
        tree = pathlib.Path(folder) / "tree"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "boot").mkdir()
        (tree / "boot/vmlinuz-1").write_bytes(bzimage(elf(b"\x9f\xebtypes")))
        (tree / "DEBIAN/control").write_text(
            "Package: linux-image-1\nVersion: 1\nArchitecture: amd64\n"
            "Maintainer: nobody <nobody@example.org>\nDescription: none\n")
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree,
                        pathlib.Path(folder) / "a.deb"], check=True,
                       stdout=subprocess.DEVNULL)
        shutil.rmtree(tree)


@pytest.fixture(name="collection")
def fixture_collection(tmp_path, monkeypatch):
    """An empty cache and an archive with one image."""
    image = btfs.Image("6.99.1+deb13-amd64", "6.99.1-1", "trixie", "7.0", 2)
    store = kernel.Store(tmp_path)
    made = btfs.Collection(store, {image.release: image})
    made.apt, made.image, made.said = Archive(), image, []
    monkeypatch.setattr(store, "apt_root", lambda name: (made.apt, name))
    monkeypatch.setattr(kernel, "say", made.said.append)
    return made


def test_only_the_btf_is_kept(collection):
    missing = collection.wanted(collection.images.values())
    assert "2 MB to download" in collection.said[0]
    for image in missing:
        collection.fetch(image)
    assert collection.cached() == [collection.image]
    assert sorted(path.name for path in collection.folder.iterdir()) == [
        ".lock", "6.99.1+deb13-amd64.btf.xz"]
    plain = collection.unpacked(collection.image)
    assert plain.read_bytes() == b"\x9f\xebtypes"
    # Once is enough.
    assert collection.wanted(collection.images.values()) == []
    collection.fetch(collection.image)
    assert collection.apt.calls == [
        ["linux-image-6.99.1+deb13-amd64=1"]]


def test_an_image_that_the_archive_lacks(collection):
    collection.apt.known = False
    with pytest.raises(kernel.Unavailable, match="no kernel 6.99.1"):
        collection.fetch(collection.image)
    with pytest.raises(kernel.Unavailable):
        collection.fetch(collection.image)
    # The lists are fetched once.
    assert collection.apt.calls == ["update"]


def test_offline_is_unavailable(collection, monkeypatch):
    def refuse(*_):
        raise aptroot.AptError("no network")
    monkeypatch.setattr(collection.apt, "download", refuse)
    with pytest.raises(kernel.Unavailable, match="no network"):
        collection.fetch(collection.image)
    assert collection.cached() == []


def test_a_kernel_of_the_lab_is_not_downloaded(collection, tmp_path,
                                               monkeypatch):
    btf = tmp_path / "vmlinux"
    btf.write_bytes(elf(b"\x9f\xeblab"))
    monkeypatch.setattr(collection.store, "cached", lambda name: [
        {"release": collection.image.release, "btf": str(btf)}])
    collection.fetch(collection.image)
    assert collection.unpacked(collection.image).read_bytes() == b"\x9f\xeblab"
    assert collection.apt.calls == []


def test_a_kernel_without_btf_is_broken():
    with pytest.raises(kernel.Broken, match="no BTF"):
        btfs.of_vmlinuz(bzimage(elf(b"x", b".BTX")))


def test_a_release_is_found_by_its_begin():
    assert btfs.find(IMAGES, "6.16.3").release == "6.16.3+deb13-cloud-amd64"
    assert btfs.find(IMAGES, "6.1.0-56-amd64").codename == "bookworm"
    assert btfs.find(IMAGES, "7.3.4") is None
    assert btfs.find(IMAGES, "9.9") is None


@pytest.mark.parametrize("words,status", [
    (["--btf", "9.9"], 2), (["--btf-list"], 0)])
def test_command_line(words, status, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FLASH_IOSCHED_CACHE", str(tmp_path))
    assert kernel.main(words) == status
    if words == ["--btf-list"]:
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == len(IMAGES)
        assert "50 MB to download" in next(
            line for line in lines if line.startswith("6.17.8"))


def test_what_cannot_be_had_is_status_77(monkeypatch, tmp_path):
    monkeypatch.setenv("FLASH_IOSCHED_CACHE", str(tmp_path))

    def refuse(*_):
        raise kernel.Unavailable("no network")
    monkeypatch.setattr(btfs.Collection, "_download", refuse)
    assert kernel.main(["--btf", "6.16.3"]) == 77
    assert kernel.main(["--btf-some"]) == 77


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
