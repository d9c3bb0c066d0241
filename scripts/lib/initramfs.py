# SPDX-License-Identifier: GPL-2.0
"""The guest's initramfs: newc cpio archives, one after the other.

Three parts, as they change at different rates: the base tools (with the
host's packages), a kernel's modules (with its release) and the project's own
(on every run). Nothing is compressed: under TCG unpacking would cost more
than it saves.
"""

import hashlib
import io
import lzma
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent

# Taken from the host with their libraries, over busybox' applets of the same
# names: tests may rely on what the manual pages of these say.
TOOLS = """
    bash fio postmark nvme blktrace blkparse mawk grep sed find xargs cmp diff
    kmod modprobe insmod rmmod lsmod depmod modinfo
    dmsetup
    mke2fs mkfs.ext4 e2fsck fsck.ext4 tune2fs dumpe2fs
    mount umount mountpoint mkswap swapon swapoff losetup blkdiscard blockdev fallocate
    lsblk dmesg
    ps pgrep pkill
    ionice chrt taskset setpriv unshare flock setsid fsfreeze
    cat cp cut date dd df env head ln ls md5sum mkdir mktemp mv nice nproc od
    printf readlink rm seq sha256sum shuf sleep sort stat stdbuf sync tail tee
    timeout tr truncate uniq wc
""".split()
# A useful guest cannot do without these; the rest is left out where absent.
NEEDED = ("bash", "fio", "kmod", "modprobe", "setsid", "pkill", "cat")

# Modules of the kernel that the guest has, with all that they depend on.
# Names that a kernel has built in or lacks are passed over.
MODULES = """
    nvme null_blk scsi_debug scsi_mod sd_mod virtio_pci virtio_blk virtio_scsi
    virtio_console ahci libata loop dm-mod dm-flakey dm-delay dm-linear
    dm-error ext4 crc32c_generic crc32c_intel crc32c 9p 9pnet_virtio
    bfq kyber-iosched mq-deadline zram brd configfs
    dm-crypt xts ecb aes_generic aes
    nvmet nvme-loop nvmet-tcp nvme-fabrics nvme-tcp
""".split()

_SEARCH = "/usr/sbin:/usr/bin:/sbin:/bin"


class Archive:
    """Writes one newc cpio archive in memory."""

    def __init__(self):
        self.out = io.BytesIO()
        self.known = {""}
        self.inode = 0

    def _entry(self, name, mode, data=b"", rdev=(0, 0)):
        self.inode += 1
        encoded = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0,
                  rdev[0], rdev[1], len(encoded), 0)
        self.out.write(b"070701" + b"".join(b"%08x" % f for f in fields))
        self.out.write(encoded)
        self._pad()
        self.out.write(data)
        self._pad()

    def _pad(self):
        self.out.write(b"\0" * (-self.out.tell() % 4))

    def _parents(self, name):
        parent = os.path.dirname(name)
        if parent not in self.known:
            self.directory(parent)

    def directory(self, name, mode=0o755):
        """Adds a directory, and those above it."""
        name = name.strip("/")
        if name not in self.known:
            self._parents(name)
            self.known.add(name)
            self._entry(name, stat.S_IFDIR | mode)

    def file(self, name, data, mode=0o644):
        """Adds a file with these bytes."""
        name = name.strip("/")
        self._parents(name)
        self.known.add(name)
        self._entry(name, stat.S_IFREG | mode, data)

    def symlink(self, name, target):
        """Adds a symbolic link."""
        name = name.strip("/")
        self._parents(name)
        self.known.add(name)
        self._entry(name, stat.S_IFLNK | 0o777, target.encode())

    def device(self, name, major, minor):
        """Adds a character device."""
        self._parents(name)
        self._entry(name, stat.S_IFCHR | 0o600, rdev=(major, minor))

    def tree(self, source, name):
        """Adds a directory of the host with all that is in it."""
        source = pathlib.Path(source)
        self.directory(name)
        for path in sorted(source.rglob("*")):
            inside = f"{name}/{path.relative_to(source)}"
            if path.is_dir():
                self.directory(inside)
            elif path.is_file():
                mode = 0o755 if os.access(path, os.X_OK) else 0o644
                self.file(inside, path.read_bytes(), mode)

    def close(self):
        """The finished archive, ready to have another one behind it."""
        self._entry("TRAILER!!!", 0)
        self.out.write(b"\0" * (-self.out.tell() % 512))
        return self.out.getvalue()


def _stored(path, build):
    """Content of a cache file, made by build() where there is none yet."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        pass
    data = build()
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as new:
        new.write(data)
    os.replace(new.name, path)
    # Older ones of the same kind: other checkouts may still use them today.
    for other in path.parent.glob(path.name.split("@")[0] + "@*"):
        try:
            if other != path and time.time() - other.stat().st_mtime > 86400:
                other.unlink()
        except OSError:
            pass
    return data


def _digest(*parts):
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:16]


def _stamp(path):
    try:
        info = os.stat(path)
    except OSError:
        return f"{path} -"
    return f"{path} {info.st_size} {info.st_mtime_ns}"


def libraries(program):
    """The files that the dynamic loader maps for a program, [] for a static one."""
    done = subprocess.run(["ldd", program], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          env={**os.environ, "LC_ALL": "C"})
    return re.findall(r"(?:=> |^\s+)(/\S+) \(0x", done.stdout, re.M)


def _build_base(tools):
    archive = Archive()
    for name in ("usr/bin", "usr/sbin", "usr/lib", "usr/lib64", "etc", "dev",
                 "proc", "sys", "run", "mnt", "var", "root", "out"):
        archive.directory(name)
    archive.directory("tmp", 0o1777)
    # The kernel opens it for init's stdio before devtmpfs is mounted.
    archive.device("dev/console", 5, 1)
    for name in ("bin", "sbin", "lib", "lib64"):
        archive.symlink(name, "usr/" + name)
    archive.symlink("etc/mtab", "/proc/self/mounts")
    archive.file("etc/passwd", b"root:x:0:0:root:/root:/bin/bash\n"
                 b"nobody:x:65534:65534:nobody:/:/bin/sh\n")
    archive.file("etc/group", b"root:x:0:\nnogroup:x:65534:\n")

    found, placed = {}, set()
    for path in tools.values():
        real = os.path.realpath(path)
        inside = real if real.startswith("/usr/") else "/usr" + real
        if inside not in placed:
            placed.add(inside)
            archive.file(inside, pathlib.Path(real).read_bytes(), 0o755)
        for library in libraries(real):
            found[os.path.realpath(os.path.dirname(library)) + "/"
                  + os.path.basename(library)] = library
    for name, path in tools.items():
        folder = "usr/sbin" if "/sbin/" in path else "usr/bin"
        real = os.path.realpath(path)
        real = real if real.startswith("/usr/") else "/usr" + real
        if f"/{folder}/{name}" not in placed:
            archive.symlink(f"{folder}/{name}", real)
    if "mawk" in tools:
        archive.symlink("usr/bin/awk", "mawk")
    for inside, library in sorted(found.items()):
        data = pathlib.Path(library).read_bytes()
        archive.file(inside, data, 0o755)

    busybox = shutil.which("busybox", path=_SEARCH)
    archive.file("usr/bin/busybox", pathlib.Path(busybox).read_bytes(), 0o755)
    applets = subprocess.run([busybox, "--list"], check=True, text=True,
                             stdout=subprocess.PIPE).stdout.split()
    for applet in applets:
        if applet not in tools and applet not in ("busybox", "awk"):
            archive.symlink(f"usr/bin/{applet}", "busybox")
    return archive.close()


def base(cache):
    """The tools part."""
    tools = {}
    for name in TOOLS:
        path = shutil.which(name, path=_SEARCH)
        if path:
            tools[name] = path
    absent = [name for name in NEEDED if name not in tools]
    if absent:
        raise RuntimeError(f"this machine has no {' '.join(absent)}: "
                           "run scripts/deps vm")
    key = _digest(*(_stamp(p) for p in tools.values()), _stamp(__file__),
                  _stamp("/etc/ld.so.cache"), _stamp("/usr/bin/busybox"))
    return _stored(cache / "initramfs" / f"base@{key}",
                   lambda: _build_base(tools))


def _module_files(kernel):
    """Paths below lib/modules/RELEASE of the guest's modules."""
    release, root = kernel["release"], kernel["root"]
    files = {}
    for name in MODULES:
        # -C: what the host's modprobe.d says is not for the guest.
        done = subprocess.run(
            ["modprobe", "-C", "/dev/null", "-d", root, "-S", release,
             "--show-depends", name], check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for path in re.findall(r"^insmod (\S+)", done.stdout, re.M):
            files[path.split(f"/{release}/", 1)[1]] = path
    return files


def _unpacked(path):
    """Bytes of a module; guests get plain ones, which load fastest."""
    data = pathlib.Path(path).read_bytes()
    if path.endswith(".xz"):
        return lzma.decompress(data)
    if path.endswith(".zst"):
        return subprocess.run(["zstd", "-dc"], input=data, check=True,
                              stdout=subprocess.PIPE).stdout
    return data


def kernel_tree(cache, kernel):
    """A directory lib/modules/RELEASE/... with just the guest's modules."""
    release = kernel["release"]
    key = _digest(release, kernel["version"], *MODULES)
    final = cache / "initramfs" / f"tree-{release}@{key}"
    if final.is_dir():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp(dir=final.parent))
    below = work / "lib/modules" / release
    for inside, path in _module_files(kernel).items():
        target = below / re.sub(r"\.(xz|zst)$", "", inside)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_unpacked(path))
    for name in ("modules.builtin", "modules.builtin.modinfo",
                 "modules.order"):
        source = pathlib.Path(kernel["root"], "lib/modules", release, name)
        if source.exists():
            shutil.copy(source, below / name)
    work.chmod(0o755)
    try:
        work.rename(final)
    except OSError:
        # Another run was faster.
        shutil.rmtree(work, ignore_errors=True)
    return final


def modules(cache, kernel):
    """The part with the kernel's modules, without any index."""
    tree = kernel_tree(cache, kernel)

    def build():
        archive = Archive()
        archive.tree(tree / "lib/modules", "usr/lib/modules")
        return archive.close()

    name = tree.name.replace("tree-", "modules-")
    return _stored(cache / "initramfs" / name, build)


def project(cache, kernel, own_modules, trees, command, environment):
    """The part that is built for every run."""
    release = kernel["release"]
    tree = kernel_tree(cache, kernel)
    archive = Archive()
    archive.file("init", (HERE / "guest-init.sh").read_bytes(), 0o755)
    archive.file("etc/lab/command", command.encode())
    archive.file("etc/lab/env", "".join(
        f"export {key}='{value}'\n" for key, value in environment.items()
    ).encode())
    for source, name in trees:
        if source.is_dir():
            archive.tree(source, name)
        elif source.is_file():
            archive.file(name, source.read_bytes(), 0o755)
    with tempfile.TemporaryDirectory() as scratch:
        # depmod has to see the kernel's modules and ours together.
        both = pathlib.Path(scratch, "lib/modules", release)
        both.mkdir(parents=True)
        source = tree / "lib/modules" / release
        for name in source.iterdir():
            (both / name.name).symlink_to(name)
        updates = both / "updates"
        updates.mkdir()
        for module, data in own_modules.items():
            (updates / module).write_bytes(data)
            archive.file(f"usr/lib/modules/{release}/updates/{module}", data)
        subprocess.run(["depmod", "-C", "/dev/null", "-b", scratch, release],
                       check=True)
        for path in both.glob("modules.*"):
            if not path.is_symlink():
                archive.file(f"usr/lib/modules/{release}/{path.name}",
                             path.read_bytes())
    return archive.close()
