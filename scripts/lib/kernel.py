# SPDX-License-Identifier: GPL-2.0
"""Debian's newest kernel of a series, unpacked into the cache.

`scripts/kernel SERIES` prints key=value lines: series, release, version,
vmlinuz, root (has lib/modules/RELEASE), kdir (for make -C), btf, make (words
that make wants besides), tools. Nothing is installed: packages are downloaded
through a private apt root and unpacked.
"""

import contextlib
import fcntl
import functools
import importlib
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
import toolchain


REPO = pathlib.Path(__file__).resolve().parents[2]

# depmod and others are in directories that a plain user's PATH does not name.
os.environ["PATH"] = os.environ.get("PATH", "/usr/bin:/bin") + \
    ":/usr/sbin:/sbin"

# Run as a script, this is still the module that others import.
sys.modules.setdefault("kernel", sys.modules[__name__])


class Unavailable(Exception):
    """The archive has no such kernel, or does not answer."""


class Broken(RuntimeError):
    """The kernel is there, and this machine cannot unpack it: no skip."""


@dataclass(frozen=True)
class Series:
    """How Debian names the packages of one kernel series.

    A kernel that does not come from the archive has a `maker` instead: a
    module of scripts/lib whose function get(store, series, refresh) returns
    the facts of the kernel, as Store.keep() wrote them, or raises Unavailable
    or Broken.
    """
    name: str
    # Matches a RELEASE (uname -r); flavours other than the one meant must not.
    release: str = ""
    image: str = "linux-image-"
    headers: str = "linux-headers-"
    # The prefix of every RELEASE.
    begin: str = ""
    # Further packages of a kernel, without RELEASE at the end.
    parts: tuple = ()
    # The Debian release that it is from: "" is the machine's. Headers of another
    # one may need its compiler and libraries, see toolchain.py.
    codename: str = ""
    # Takes kernels newer than its name says, as long as common/elevator/compat.h knows
    # their layout.
    moves_on: bool = False
    maker: str = ""
    # For sourcekernel.py: files of tests/vm/kernels that it is configured with,
    # and the binary package that has the source. "": of Debian's source package
    # linux the newest version that begins with `begin`, or this very version if
    # no dot ends it.
    fragments: tuple = ()
    package: str = ""
    # scripts/check --all runs the core cases on it, not all of them.
    core_only: bool = False
    # Limits of time are multiplied by it: how much slower a guest runs.
    slow: int = 1
    # Whether sparse can read its headers.
    sparse: bool = True
    # MB to download and in the cache, for the message before it.
    download: int = 0
    disk: int = 0


# The series as data, and beside it what built kernels are configured with.
KERNELS = REPO / "tests" / "vm" / "kernels"


def load_series(path):
    """({name: Series}, names of the default ones) of a TOML file.

    Installed tools use this module without the lab: nothing there, no series.
    """
    if not path.exists():
        return {}, ()
    # Distributions with an older Python build modules, but have no lab.
    import tomllib  # pylint: disable=import-outside-toplevel
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    found = {}
    for name, fields in data["series"].items():
        try:
            found[name] = Series(name, **{
                key: tuple(value) if isinstance(value, list) else value
                for key, value in fields.items()})
        except TypeError as error:
            raise ValueError(f"{path}: series {name}: {error}") from error
    return found, tuple(data["default"])


# DEFAULT: those that are meant where none is named; USUAL: where it can be only one.
SERIES, DEFAULT = load_series(KERNELS / "series.toml")
USUAL = next(iter(DEFAULT), None)

# For headers that are newer than this machine's sparse.
_SPARSE = """\
#!/bin/sh
# Lets sparse 0.6.4 read these headers: it lacks __typeof_unqual__, which here
# differs in nothing that it checks, and takes no string's length for constant.
exec sparse -D__typeof_unqual__=__typeof__ \\
	'-D__builtin_strlen(s)=(sizeof(s) - 1)' "$@"
"""
# The headers' Makefile asks for this file, and the packages lack it.
_CHECKER_VALID = """\
#!/bin/sh
echo 1
"""

# The name before messages: scripts/vm sets it to its own.
SPEAKER = "kernel"

# Kernel updates appear every few weeks; one query a day is enough.
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


def newest_first(found):
    """(release, version) pairs in this order."""
    order = functools.cmp_to_key(
        lambda x, y: newer(y[1], x[1]) - newer(x[1], y[1]))
    return sorted(found, key=order)


def choices(series, versions):
    """(release, version) of `series` in {package: version}, newest first."""
    pattern = re.compile(re.escape(series.image) + f"({series.release})")
    return newest_first(
        (match[1], version) for name, version in versions.items()
        if version and (match := pattern.fullmatch(name)))


def pick(series, versions):
    """The newest (release, version) of `series` among {package: version}."""
    return next(iter(choices(series, versions)), None)


def minor(release):
    """6.12 of 6.12.117+deb12-amd64."""
    return ".".join(release.split(".")[:2])


def dependencies(fields):
    """Names of the packages that a package depends on."""
    names = re.split(r"[,|]", fields.get("depends", ""))
    return [name.split()[0] for name in names if name.strip()]


def header_packages(fields):
    """The packages a headers package is built from (its kernel parts)."""
    return [name for name in dependencies(fields)
            if name.startswith(("linux-headers-", "linux-kbuild-"))]


def compiler_package(fields):
    """gcc-14 of headers that depend on it or on gcc-14-for-host, "" of others."""
    found = (re.fullmatch(r"(?:linux-compiler-)?(gcc-\d+)(?:-for-host|-x86)?", name)
             for name in dependencies(fields))
    return next((match[1] for match in found if match), "")


# Programs of linux-kbuild-* that a build of modules starts.
_KBUILD = ("fixdep", "modpost", "objtool", "objtool.real-x86", "resolve_btfids")


def lacking(root, compiler):
    """What this machine lacks for the headers below `root`, "" if nothing."""
    if not shutil.which(compiler):
        return compiler
    return next((path.name for path in toolchain.programs(
        root / "usr/lib") if path.name in _KBUILD
        and not toolchain.starts(path)), "")


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


def make_words(facts):
    """Arguments of make that build the project's modules for a kernel."""
    return [f"KDIR={facts['kdir']}", f"BTF={facts['btf']}",
            *facts.get("make", "").split()]


def has_btf(vmlinux):
    """Does an ELF file have a .BTF section (judged by the section names)?"""
    return b"\0.BTF\0" in vmlinux.read_bytes()


class Store:
    """The kernels in the cache."""

    def __init__(self, cache=None):
        self.cache = cache or cache_dir()
        self.kernels = self.cache / "kernels"
        self.memory = self.kernels / "resolved.json"
        self.refused = {}

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
                            ("kdir", "vmlinuz", "vmlinux", "root")) and \
                        os.path.exists(facts.get("tools") or "/"):
                    found.append(facts)
        order = functools.cmp_to_key(lambda x, y:
                                     newer(y["version"], x["version"]) -
                                     newer(x["version"], y["version"]))
        return sorted(found, key=order)

    def usable(self, series):
        """Those of cached() that have a layout which common/elevator/compat.h knows."""
        return [facts for facts in self.cached(series.name)
                if not series.moves_on or self.known(facts)]

    def known(self, facts):
        """Does common/elevator/compat.h know the layout of this kernel?

        The kernel's BTF decides, not its version.
        """
        release = facts["release"]
        if release not in self.refused:
            done = subprocess.run(
                [REPO / "scripts/abi-check", "--kdir", facts["kdir"],
                 *(("--btf", facts["btf"]) if facts["btf"] else ()),
                 *(f"--make={word}"
                   for word in facts.get("make", "").split())],
                check=False, text=True, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode not in (0, 1):
                raise Broken(f"{release}: {done.stdout.strip()}")
            self.refused[release] = done.returncode == 1
            if done.returncode:
                say(f"{release} is here, but common/elevator/compat.h does not know "
                    f"its layout: scripts/abi-check --kdir {facts['kdir']} "
                    "shows what differs")
        return not self.refused[release]

    def _fresh(self, name):
        entry = self._memory().get(name)
        if not entry or not 0 <= time.time() - entry["time"] < FRESH_SECONDS:
            return None
        return next((f for f in self.cached(name)
                     if f["version"] == entry["version"]), None)

    def get(self, name, refresh=False):
        """Facts of the newest kernel of series `name`, fetched if needed."""
        if SERIES[name].maker:
            return importlib.import_module(SERIES[name].maker).get(
                self, SERIES[name], refresh)
        if not refresh and (facts := self._fresh(name)):
            return facts
        with locked(self.kernels / ".lock",
                    "waiting for another run that fetches a kernel"):
            if not refresh and (facts := self._fresh(name)):
                return facts
            series = SERIES[name]
            try:
                return self._resolve(series)
            except (Unavailable, aptroot.AptError) as error:
                have = self.usable(series)
                if not have:
                    raise Unavailable(str(error)) from error
                say(f"{error}; using {have[0]['release']} from the cache")
                self._remember(name, have[0]["release"], have[0]["version"],
                               RETRY_SECONDS - FRESH_SECONDS)
                return have[0]

    def apt_root(self, codename="", kind="deb"):
        """(AptRoot, name) of a Debian release; "" is the machine's.

        kind: deb for packages, deb-src for their sources.
        """
        own = aptroot.codename()
        name = codename or own
        sources = aptroot.derive(aptroot.machine_sources(), own, name)
        if not sources:
            raise Unavailable(
                f"no source for Debian '{own}' among the machine's apt "
                "sources (/etc/apt)")
        apt = aptroot.AptRoot(
            self.cache / (("apt" if name == own else f"apt-{name}")
                          + ("" if kind == "deb" else "-source")))
        apt.prepare(sources, kind)
        return apt, name

    def _resolve(self, series):
        apt, codename = self.apt_root(series.codename)
        say(f"looking up Debian's newest {series.name} kernel "
            "(about 10 MB of package lists, 5 to 30 s)")
        trouble, passing = apt.update()
        names = [package for package in apt.names(series.image + series.begin)
                 if re.fullmatch(series.image + series.release, package)]
        found = choices(series, {
            package: fields.get("version", "")
            for package, fields in apt.show_all(names).items()})
        if not found:
            raise Unavailable(
                f"Debian '{codename}' as this machine sees it has no "
                f"{series.name} kernel" + (f" ({trouble})" if trouble else ""))
        if trouble:
            say(f"the archive could not be asked in full ({trouble}): "
                f"{found[0][0]} is the newest known")
        facts = self._newest_known(series, apt, found) if series.moves_on \
            else self._at_hand(series, apt, *found[0])
        self._remember(series.name, facts["release"], facts["version"],
                       RETRY_SECONDS - FRESH_SECONDS if passing else 0)
        return facts

    def _at_hand(self, series, apt, release, version):
        """Facts of one kernel, fetched if it is not in the cache."""
        return next((f for f in self.cached(series.name)
                     if f["version"] == version), None) or \
            self._fetch(series, apt, release, version)

    def _newest_known(self, series, apt, found):
        """Facts of the newest kernel that has a layout which common/elevator/compat.h knows.

        Of each series that is refused only the newest is downloaded. An older
        kernel in the cache, which the archive may have no more, counts, too.
        """
        here = [(f["release"], f["version"])
                for f in self.cached(series.name)]
        refused = set()
        for release, version in newest_first({*found, *here}):
            if minor(release) in refused and (release, version) not in here:
                continue
            facts = self._at_hand(series, apt, release, version)
            if self.known(facts):
                if minor(release) != series.name:
                    say(f"{release} is what {series.name} stands for by now: "
                        "Debian has moved on, and its layout is known")
                return facts
            refused.add(minor(release))
        raise Unavailable(
            f"Debian '{series.codename}' has moved on to {found[0][0]}, and "
            "common/elevator/compat.h knows the layout of no kernel from "
            f"{series.name} on that is to be had")

    def _fetch(self, series, apt, release, version):
        head = series.headers + release
        names = [series.image + release, head,
                 *(part + release for part in series.parts)]
        names += header_packages(apt.show(head))
        packages = apt.show_all(names)
        absent = [name for name, fields in packages.items() if not fields]
        if absent or len(names) < 4:
            raise Unavailable(
                f"{release}: the archive lacks {' '.join(absent) or head}")
        compiler = compiler_package(packages[head])
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
            apt.download([f"{name}={fields['version']}"
                          for name, fields in packages.items()], debs)
            for deb in sorted(debs.iterdir()):
                subprocess.run(["dpkg", "-x", deb, work / "root"], check=True)
            shutil.rmtree(debs)
            facts = self._arrange(series, release, version, work, final)
            words = self._checker(work, final, facts)
            if series.codename not in ("", aptroot.codename()) and \
                    self._lacks(work / "root", compiler):
                tools = self._tools(apt, release, compiler, packages)
                facts["tools"] = str(tools.root)
                words += self._adopt(tools, compiler, work, final, facts)
            facts["make"] = " ".join(words)
            self.keep(facts, work, final)
        except toolchain.ToolsError as error:
            raise Broken(f"{release}: {error}") from error
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
    def _lacks(root, compiler):
        """lacking(), once what scripts/deps can install is in place."""
        if lacking(root, compiler):
            subprocess.run([REPO / "scripts/deps", "build"], check=False,
                           stdin=subprocess.DEVNULL)
        return lacking(root, compiler)

    def _tools(self, apt, release, compiler, packages):
        """The compiler that headers ask for, and their tools' libraries."""
        if not compiler:
            raise Broken(f"{release}: its headers name no compiler package "
                         "that this script knows")
        wanted = [name for package, fields in packages.items()
                  if package.startswith("linux-kbuild-")
                  for name in dependencies(fields) if name.startswith("lib")]
        try:
            return toolchain.get(self.cache, apt, wanted, compiler, say)
        except toolchain.ToolsError as error:
            raise Broken(f"{release}: {error}") from error

    @staticmethod
    def _adopt(tools, compiler, work, final, facts):
        """Lets unpacked headers use `tools`; the words for make."""
        for folder in work.glob("root/usr/lib/linux-kbuild-*"):
            tools.adopt(folder, final / folder.relative_to(work))
        kdir = work / pathlib.Path(facts["kdir"]).relative_to(final)
        variables = kdir / ".kernelvariables"
        text, changed = re.subn(r"^(override CROSS_COMPILE = ).*$",
                                rf"\g<1>{tools.prefix}",
                                variables.read_text(), flags=re.M)
        if not changed:
            raise Broken(f"{facts['release']}: its headers' .kernelvariables "
                         "has no CROSS_COMPILE that could be set")
        variables.write_text(text)
        # Modules get no BTF: this machine's pahole is older than what the
        # headers expect, and nothing in the lab reads it. The version is the
        # one expected: kbuild warns of another, which it then does not run.
        return [f"CC={tools.compiler(compiler)}",
                "CONFIG_DEBUG_INFO_BTF_MODULES=",
                *re.findall(r"^CONFIG_(PAHOLE_VERSION=\d+)$",
                            (kdir / ".config").read_text(), re.M)]

    @staticmethod
    def _checker(work, final, facts):
        """Words for make that let sparse 0.6.4 read headers newer than it."""
        kdir = work / pathlib.Path(facts["kdir"]).relative_to(final)
        common = kdir.with_name(kdir.name.rpartition("-")[0] + "-common")
        valid = common / "scripts/checker-valid.sh"
        makefile = common / "Makefile"
        if not makefile.exists() or valid.name not in makefile.read_text():
            return []
        sparse = work / "sparse"
        for path, text in ((sparse, _SPARSE), (valid, _CHECKER_VALID)):
            if not path.exists():
                path.write_text(text)
                path.chmod(0o755)
        return [f"CHECK={final / sparse.name}"]

    @staticmethod
    def keep(facts, work, final):
        """Moves a kernel that is ready in `work` to `final`, facts with it."""
        (work / "facts.json").write_text(json.dumps(facts, indent=1))
        if final.exists():
            shutil.rmtree(final)
        work.rename(final)

    @staticmethod
    def _arrange(series, release, version, work, final):
        """Makes an unpacked kernel usable in place; returns its facts."""
        root = work / "root"
        kdir = root / "usr/src" / (series.headers + release)
        # The headers believe that they live in /usr/src.
        makefile = kdir / "Makefile"
        makefile.write_text(makefile.read_text().replace(
            "/usr/src/", f"{final}/root/usr/src/"))
        if not (root / "lib").exists():
            (root / "lib").symlink_to("usr/lib")
        for name in ("build", "source"):
            link = root / "lib/modules" / release / name
            if link.is_symlink():
                target = os.readlink(link)
                if target.startswith("/usr/src/"):
                    link.unlink()
                    link.symlink_to("../../.." + target)
        subprocess.run(["depmod", "-b", root, release], check=True)
        vmlinuz = next((p for p in (
            root / "boot" / f"vmlinuz-{release}",
            root / "lib/modules" / release / "vmlinuz.unsigned",
        ) if p.exists()), None)
        if not vmlinuz:
            raise Broken(f"{release}: its packages have no vmlinuz where this "
                         "script knows one")
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
            "vmlinux": place(vmlinux), "make": "", "tools": "",
        }
        return facts


def collect(args):
    """The options that begin with --btf."""
    import btfs  # pylint: disable=import-outside-toplevel,cyclic-import
    try:
        if args.btf_list:
            return btfs.show_list()
        return btfs.show_one(args.btf) if args.btf else \
            btfs.fetch_all(telling=not args.btf_all)
    except Unavailable as error:
        say(str(error))
        return 77
    except (Broken, OSError) as error:
        say(str(error))
        return 1


def main(argv=None):
    """Command line of scripts/kernel."""
    import options  # pylint: disable=import-outside-toplevel,cyclic-import
    parser = options.Parser(
        "kernel", description=__doc__.split("\n\n")[0],
        epilog="Status 77: this kernel cannot be had here.")
    parser.add_argument("series", nargs="?", metavar="SERIES",
                        help="one of " + ", ".join(SERIES))
    parser.add_argument("--list", action="store_true",
                        help="list the series and what is cached")
    parser.add_argument("--refresh", action="store_true",
                        help="ask the archive even if that was done today")
    parser.add_argument("--btf", metavar="RELEASE",
                        help="fetch the BTF of a kernel that is compared, not "
                        "booted, and print its path; the begin of its release "
                        "will do if it is the only one")
    parser.add_argument("--btf-list", action="store_true",
                        help="list those kernels and what is cached")
    parser.add_argument("--btf-some", action="store_true",
                        help="fetch those that make check wants")
    parser.add_argument("--btf-all", action="store_true",
                        help="fetch all of them")
    args = parser.parse_args(argv)
    if args.btf or args.btf_list or args.btf_some or args.btf_all:
        return collect(args)
    store = Store()
    if args.list:
        for name in SERIES:
            have = [f["release"] for f in store.cached(name)]
            print(f"{name}\t{' '.join(have) or '-'}")
        return 0
    if args.series not in SERIES:
        say((f"unknown series '{args.series}'" if args.series
             else "no series named") + f": want one of {', '.join(SERIES)}")
        return 2
    try:
        facts = store.get(args.series, args.refresh)
    except Unavailable as error:
        say(f"{args.series} cannot be had: {error}")
        return 77
    except (Broken, OSError) as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("ended by SIGINT")
        return 130
    for key, value in facts.items():
        print(f"{key}={value}")
    return 0


if __name__ == "__main__":
    # The module that others import: its exceptions are the ones they raise.
    import kernel  # pylint: disable=import-self
    sys.exit(kernel.main())
