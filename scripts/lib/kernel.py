# SPDX-License-Identifier: GPL-2.0
"""Debian's newest kernel of a series, unpacked into the cache.

`scripts/kernel SERIES` prints key=value lines: series, release, version,
vmlinuz, root (has lib/modules/RELEASE), kdir (for make -C), btf. Nothing is
installed: packages are downloaded through a private apt root and unpacked.
"""

import contextlib
import fcntl
import functools
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from dataclasses import dataclass

import aptroot


# depmod and others live where a plain user's PATH does not go.
os.environ["PATH"] = os.environ.get("PATH", "/usr/bin:/bin") + \
    ":/usr/sbin:/sbin"


class Unavailable(Exception):
    """The archive has no such kernel, or does not answer."""


class Broken(RuntimeError):
    """The kernel is there, and this machine cannot unpack it: no skip."""


@dataclass(frozen=True)
class Series:
    """How Debian names the packages of one kernel series."""
    name: str
    # Matches a RELEASE (uname -r); flavours other than plain amd64 must not.
    release: str
    image: str = "linux-image-"
    headers: str = "linux-headers-"


SERIES = {s.name: s for s in (
    Series("6.1", r"6\.1\.0-\d+-amd64"),
    # +deb12 is the security archive's and later backports', +bpo older ones.
    Series("6.12", r"6\.12\.\d+\+(?:deb\d+|bpo)-amd64"),
)}

# Who is speaking: scripts/vm puts its own name here.
SPEAKER = "kernel"

# A kernel update comes every few weeks; asking once a day is enough.
FRESH_SECONDS = 24 * 3600
# After an attempt that failed: a machine that is offline is not to wait for
# the network on every run.
RETRY_SECONDS = 1800


def say(text):
    """One line of progress, on stderr: stdout is for the result."""
    print(f"{SPEAKER}: {text}", file=sys.stderr, flush=True)


def cache_dir():
    """Where everything that is fetched or built once is kept."""
    own = os.environ.get("FLASH_IOSCHED_CACHE")
    if own:
        return pathlib.Path(own).absolute()
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base).absolute() / "flash-iosched"


@contextlib.contextmanager
def locked(path, note=None):
    """Holds an exclusive lock on `path`; says `note` if it has to wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if note:
                say(note)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def newer(a, b):
    """Is Debian version `a` newer than `b`?"""
    return subprocess.run(["dpkg", "--compare-versions", a, "gt", b],
                          check=False).returncode == 0


def pick(series, versions):
    """The newest (release, version) of `series` among {package: version}."""
    pattern = re.compile(re.escape(series.image) + f"({series.release})")
    found = [(match[1], version) for name, version in versions.items()
             if (match := pattern.fullmatch(name))]
    if not found:
        return None
    order = functools.cmp_to_key(
        lambda x, y: newer(x[1], y[1]) - newer(y[1], x[1]))
    return max(found, key=order)


def header_packages(fields):
    """The packages a headers package is built from (its kernel parts)."""
    names = re.split(r"[,|]", fields.get("depends", ""))
    names = [name.split()[0] for name in names if name.strip()]
    return [name for name in names
            if name.startswith(("linux-headers-", "linux-kbuild-"))]


def payload(image):
    """The compressed kernel inside a bzImage, by its boot header."""
    if image[0x202:0x206] != b"HdrS":
        raise Broken("vmlinuz is no bzImage")
    setup = (image[0x1f1] or 4) + 1
    offset = int.from_bytes(image[0x248:0x24c], "little")
    length = int.from_bytes(image[0x24c:0x250], "little")
    start = setup * 512 + offset
    return image[start:start + length]


def decompress(data):
    """The ELF inside a kernel payload, whatever it was packed with.

    Behind the packed data stands its size (4 bytes): decompressors that take
    that for trailing garbage complain after they have written everything,
    so their output is judged, not their exit status.
    """
    if data.startswith(b"\xfd7zXZ"):
        elf = lzma.LZMADecompressor().decompress(data)
    elif data.startswith(b"\x1f\x8b"):
        elf = zlib.decompressobj(31).decompress(data)
    else:
        for magic, tool in ((b"\x28\xb5\x2f\xfd", "zstd"),
                            (b"\x02\x21\x4c\x18", "lz4")):
            if data.startswith(magic):
                break
        else:
            raise Broken(f"unknown compression {data[:4].hex()}")
        if not shutil.which(tool):
            raise Broken(f"no {tool} to unpack the kernel: install it")
        elf = subprocess.run([tool, "-dc"], input=data, check=False,
                             stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL).stdout
    if not elf.startswith(b"\x7fELF"):
        raise Broken("what vmlinuz unpacks to is no ELF file")
    return elf


def has_btf(vmlinux):
    """Does an ELF file have a .BTF section (judged by the section names)?"""
    return b"\0.BTF\0" in vmlinux.read_bytes()


class Store:
    """The kernels in the cache."""

    def __init__(self, cache=None):
        self.cache = cache or cache_dir()
        self.kernels = self.cache / "kernels"
        self.memory = self.kernels / "resolved.json"
        self.apt = aptroot.AptRoot(self.cache / "apt")

    def _memory(self):
        try:
            return json.loads(self.memory.read_text())
        except (OSError, ValueError):
            return {}

    def _remember(self, name, release, version, shift=0):
        memory = self._memory()
        memory[name] = {"release": release, "version": version,
                        "time": time.time() + shift}
        temporary = self.memory.with_suffix(".new")
        temporary.write_text(json.dumps(memory, indent=1))
        temporary.replace(self.memory)

    def directory(self, release, version):
        """Where a kernel is unpacked (':' would upset make)."""
        return self.kernels / f"{release}_{version.replace(':', '_')}"

    def cached(self, name):
        """Facts of every unpacked kernel of a series, newest first."""
        found = []
        for path in self.kernels.glob("*/facts.json"):
            with contextlib.suppress(OSError, ValueError, KeyError):
                facts = json.loads(path.read_text())
                if facts.get("series") == name and \
                        all(os.path.exists(facts[key]) for key in
                            ("kdir", "vmlinuz", "vmlinux", "root")):
                    found.append(facts)
        order = functools.cmp_to_key(lambda x, y:
                                     newer(y["version"], x["version"]) -
                                     newer(x["version"], y["version"]))
        return sorted(found, key=order)

    def _fresh(self, name):
        entry = self._memory().get(name)
        if not entry or not 0 <= time.time() - entry["time"] < FRESH_SECONDS:
            return None
        return next((f for f in self.cached(name)
                     if f["version"] == entry["version"]), None)

    def get(self, name, refresh=False):
        """Facts of the newest kernel of series `name`, fetched if needed."""
        if not refresh and (facts := self._fresh(name)):
            return facts
        with locked(self.kernels / ".lock",
                    "waiting for another run that fetches a kernel"):
            if not refresh and (facts := self._fresh(name)):
                return facts
            try:
                return self._resolve(SERIES[name])
            except (Unavailable, aptroot.AptError) as error:
                have = self.cached(name)
                if not have:
                    raise Unavailable(str(error)) from error
                say(f"{error}; using {have[0]['release']} from the cache")
                self._remember(name, have[0]["release"], have[0]["version"],
                               RETRY_SECONDS - FRESH_SECONDS)
                return have[0]

    def _resolve(self, series):
        codename = aptroot.codename()
        sources = aptroot.derive(aptroot.machine_sources(), codename)
        if not sources:
            raise Unavailable(
                f"no source for Debian '{codename}' among the machine's apt "
                "sources (/etc/apt)")
        self.apt.prepare(sources)
        say(f"looking up Debian's newest {series.name} kernel "
            "(about 10 MB of package lists, 5 to 30 s)")
        trouble, passing = self.apt.update()
        versions = {}
        for package in self.apt.names(series.image + series.name + "."):
            if re.fullmatch(series.image + series.release, package):
                versions[package] = self.apt.show(package).get("version", "")
        best = pick(series, {k: v for k, v in versions.items() if v})
        if not best:
            raise Unavailable(
                f"Debian '{codename}' as this machine sees it has no "
                f"{series.name} kernel" + (f" ({trouble})" if trouble else ""))
        if trouble:
            say(f"the archive could not be asked in full ({trouble}): "
                f"{best[0]} is the newest known")
        release, version = best
        facts = next((f for f in self.cached(series.name)
                      if f["version"] == version), None)
        if not facts:
            facts = self._fetch(series, release, version)
        self._remember(series.name, release, version,
                       RETRY_SECONDS - FRESH_SECONDS if passing else 0)
        return facts

    def _fetch(self, series, release, version):
        head = series.headers + release
        names = [series.image + release, head]
        names += header_packages(self.apt.show(head))
        packages = {name: self.apt.show(name) for name in names}
        absent = [name for name, fields in packages.items() if not fields]
        if absent or len(names) < 4:
            raise Unavailable(
                f"{release}: the archive lacks {' '.join(absent) or head}")
        size = sum(int(f.get("size", 0)) for f in packages.values())
        disk = sum(int(f.get("installed-size", 0)) for f in packages.values())
        say(f"fetching {release} ({version}): {size / 1e6:.0f} MB to download,"
            f" {disk / 1e3:.0f} MB in {self.kernels}, about a minute")
        started = time.monotonic()
        final = self.directory(release, version)
        work = pathlib.Path(tempfile.mkdtemp(prefix=".new-",
                                             dir=self.kernels))
        try:
            work.chmod(0o755)
            debs = work / "debs"
            debs.mkdir()
            self.apt.download([f"{name}={fields['version']}"
                               for name, fields in packages.items()], debs)
            for deb in sorted(debs.iterdir()):
                subprocess.run(["dpkg", "-x", deb, work / "root"], check=True)
            shutil.rmtree(debs)
            facts = self._arrange(series, release, version, work, final)
            if final.exists():
                shutil.rmtree(final)
            work.rename(final)
        except (OSError, subprocess.CalledProcessError) as error:
            raise Broken(f"{release} cannot be unpacked: {error}; is there "
                         f"room in {self.kernels}, and is everything there "
                         "that scripts/deps build installs?") from error
        finally:
            if work.exists():
                shutil.rmtree(work, ignore_errors=True)
        say(f"{release} is ready after {time.monotonic() - started:.0f} s")
        return facts

    @staticmethod
    def _arrange(series, release, version, work, final):
        """Makes an unpacked kernel usable in place; returns its facts."""
        root = work / "root"
        kdir = root / "usr/src" / (series.headers + release)
        # The headers believe that they live in /usr/src.
        makefile = kdir / "Makefile"
        makefile.write_text(makefile.read_text().replace(
            "/usr/src/", f"{final}/root/usr/src/"))
        for name in ("build", "source"):
            link = root / "lib/modules" / release / name
            if link.is_symlink():
                target = os.readlink(link)
                if target.startswith("/usr/src/"):
                    link.unlink()
                    link.symlink_to("../../.." + target)
        subprocess.run(["depmod", "-b", root, release], check=True)
        vmlinuz = root / "boot" / f"vmlinuz-{release}"
        # Boots faster than vmlinuz: under TCG the kernel unpacking itself
        # takes seconds.
        vmlinux = work / "vmlinux"
        vmlinux.write_bytes(decompress(payload(vmlinuz.read_bytes())))
        btf = kdir / "vmlinux"
        if not btf.exists():
            btf = vmlinux if has_btf(vmlinux) else None
        place = lambda path: str(final / path.relative_to(work))
        facts = {
            "series": series.name, "release": release, "version": version,
            "vmlinuz": place(vmlinuz), "root": place(root),
            "kdir": place(kdir), "btf": place(btf) if btf else "",
            "vmlinux": place(vmlinux),
        }
        (work / "facts.json").write_text(json.dumps(facts, indent=1))
        return facts


def main(argv=None):
    """Command line of scripts/kernel."""
    import options  # pylint: disable=import-outside-toplevel,cyclic-import
    parser = options.Parser(
        "kernel", description=__doc__.split("\n\n")[0],
        epilog="Status 77: this kernel cannot be had here.")
    parser.add_argument("series", nargs="?",
                        help="one of " + ", ".join(SERIES))
    parser.add_argument("--list", action="store_true",
                        help="list the series and what is cached")
    parser.add_argument("--refresh", action="store_true",
                        help="ask the archive even if that was done today")
    args = parser.parse_args(argv)
    store = Store()
    if args.list:
        for name in SERIES:
            have = [f["release"] for f in store.cached(name)]
            print(f"{name}\t{' '.join(have) or '-'}")
        return 0
    if args.series not in SERIES:
        say(f"unknown series '{args.series or ''}': want one of "
            + ", ".join(SERIES))
        return 2
    try:
        facts = store.get(args.series, args.refresh)
    except Unavailable as error:
        say(f"{args.series} cannot be had: {error}")
        return 77
    except Broken as error:
        say(str(error))
        return 1
    for key, value in facts.items():
        print(f"{key}={value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
