# SPDX-License-Identifier: GPL-2.0
"""Kernels of the lab that Debian does not ship, built here once.

Debian's source (kernelsource.py), tinyconfig and the fragments that a series
names (in tests/vm/kernels) make a kernel that lies in the cache like a fetched
one. What it was made from is part of its release, so two of them never share a
module.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import time

import aptroot
import children
import kernel
import kernelsource

REPO = pathlib.Path(__file__).resolve().parents[2]
FRAGMENTS = kernel.KERNELS
# The first that this machine has: the compiler of Debian's own 6.1, or the
# release's. scripts/deps installs them in this order.
COMPILERS = ("gcc-12", "gcc")
# To be raised when what is kept, or how it is built, changes.
RECIPE = 2

# One CPU's minutes and GB of disk of a build, to announce it; debug information
# of all objects (for BTF) adds to both.
CPU_MINUTES = 14
BUILD_GB = 2.5
BTF_CPU_MINUTES = 22
BTF_BUILD_GB = 3
KEPT_MB = 120
PROGRESS_SECONDS = 20

# What nobody here compiles makes up half of the source. Kconfig reads all
# files of its own.
_LEFT_OUT = (
    "*/arch/[a-wyz]*/*.[chS]", "*/arch/[a-wyz]*/*.dts*",
    "*/Documentation/*/*", "*/tools/testing/*",
    "*/drivers/gpu/*.[ch]", "*/drivers/media/*.[ch]",
    "*/drivers/staging/*.[ch]", "*/drivers/infiniband/*.[ch]",
    "*/drivers/net/*/*.[ch]", "*/sound/*.[ch]",
)

# Lines for makefiles of the source, unless all of it gets debug information.
# Types of the block layer are for scripts/abi-check; debug information of all the
# rest would double time and disk.
_ADDED = (
    ("block/Makefile", "ccflags-y += -g"),
)

# The stack filter of fault injection is not offered on x86-64, as frame pointers
# were not to be relied on there. Here they are.
_STRUCK = (("CONFIG_FAULT_INJECTION", "lib/Kconfig.debug",
            "\tdepends on !X86_64\n"),)
# Their instrumented code runs before it can: not entered by PVH.
_INSTRUMENTED = ("CONFIG_KASAN", "CONFIG_KCSAN")

# The part of a built kernel tree that modules are built against.
_KEPT = (
    "Makefile", ".config", ".kernelvariables", "Module.symvers", "include",
    "scripts", "arch/x86/Makefile", "arch/x86/Makefile_32.cpu",
    "arch/x86/include", "tools/objtool/objtool",
)

_OPTION = re.compile(r"(CONFIG_\w+)=(.*)|# (CONFIG_\w+) is not set")


# --- configuration --------------------------------------------------------

def parse_config(text):
    """{option: value} of a .config or a fragment; "n" for one not set."""
    found = {}
    for line in text.splitlines():
        match = _OPTION.fullmatch(line.strip())
        if match:
            found[match[1] or match[3]] = match[2] if match[1] else "n"
        elif line.strip() and not line.startswith("#"):
            raise kernel.Broken(f"'{line}' is no line of a configuration: "
                                "want CONFIG_X=VALUE or '# CONFIG_X is not "
                                "set'")
    return found


def asked(fragments):
    """{option: value} of several fragments; the last word counts."""
    wanted = {}
    for text in fragments:
        wanted.update(parse_config(text))
    return wanted


def merged(base, wanted):
    """A .config with `wanted` in place of what `base` says of the same."""
    kept = []
    for line in base.splitlines():
        match = _OPTION.fullmatch(line)
        if not match or (match[1] or match[3]) not in wanted:
            kept.append(line)
    kept += [f"# {name} is not set" if value == "n" else f"{name}={value}"
             for name, value in wanted.items()]
    return "\n".join(kept) + "\n"


def unset(wanted, config):
    """["CONFIG_X=y (is not set)", ...] of what the configuration lacks."""
    have = parse_config(config)
    return [f"{name}={value} (is {have.get(name, 'n')})"
            .replace("(is n)", "(is not set)")
            for name, value in wanted.items() if have.get(name, "n") != value]


def check_config(series, wanted, config):
    """Kconfig drops without a word what cannot be: nothing may be dropped."""
    bad = unset(wanted, config)
    if bad:
        raise kernel.Broken(
            f"{series.name}: the configuration did not take "
            f"{', '.join(bad)}. Kconfig of the source says what each depends "
            f"on; they are asked for in {' and '.join(series.fragments)} in "
            f"{FRAGMENTS.relative_to(REPO)}")


# --- names ----------------------------------------------------------------

def fragments(series):
    """The texts of a series' fragments."""
    try:
        return [(FRAGMENTS / name).read_text(encoding="utf-8")
                for name in series.fragments]
    except OSError as error:
        raise kernel.Broken(f"{series.name}: {error}") from error


def compiler_name():
    """The compiler's command."""
    return next((name for name in COMPILERS if shutil.which(name)),
                COMPILERS[-1])


def compiler():
    """The compiler in one line, "" if there is none."""
    try:
        done = subprocess.run([compiler_name(), "--version"], text=True, check=False,
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE)
    except OSError:
        return ""
    return done.stdout.split("\n")[0]


def key(version, texts, cc):
    """Short name of everything that a kernel is made from."""
    # Comments change nothing.
    wanted = json.dumps(asked(texts), sort_keys=True)
    parts = (str(RECIPE), version, cc, wanted)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def local_version(series, version, texts, cc):
    """The suffix of 6.1.N in the kernel's release."""
    return f"-flash-{series.name}-{key(version, texts, cc)}"


def have(store, series, version=None):
    """Facts of a kernel made from today's fragments, or None."""
    texts, cc = fragments(series), compiler()
    return next((f for f in store.cached(series.name)
                 if version in (None, f["version"]) and f["release"].endswith(
                     local_version(series, f["version"], texts, cc))), None)


# --- commands -------------------------------------------------------------

def _environment():
    """Of a build of a kernel."""
    return {**children.environment("M", "O", "ARCH", "CROSS_COMPILE",
                                   "KBUILD_OUTPUT"),
            "LC_ALL": "C", "KBUILD_BUILD_USER": "flash",
            "KBUILD_BUILD_HOST": "lab"}


def _end(child):
    """Ends a child and its children; make removes what is half done."""
    for number, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(patience)
            return


def _run(command, log, cwd=None, progress=None):
    """Runs a command, output into `log`; progress(text so far, seconds)."""
    started = told = time.monotonic()
    with open(log, "ab") as out:
        out.write(f"+ {shlex.join(map(str, command))}\n".encode())
        out.flush()
        begin = out.tell()
        child = subprocess.Popen(
            [str(word) for word in command], cwd=cwd, env=_environment(),
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=children.tied())
        try:
            while True:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(1)
                    break
                if progress and time.monotonic() - told >= PROGRESS_SECONDS:
                    told = time.monotonic()
                    with open(log, encoding="utf-8", errors="replace") as file:
                        file.seek(begin)
                        progress(file.read(), told - started)
        finally:
            if child.poll() is None:
                _end(child)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)


def objects(text):
    """How many objects kbuild's output so far tells of."""
    return len(re.findall(r"^  (?:CC|AS)(?: \[M\])? ", text, re.M))


def jobs():
    """The CPUs that a build uses: those that this process may run on."""
    return len(os.sched_getaffinity(0))


def _make(tree, log, *words, progress=None):
    _run(["nice", "-n", "10", "make", f"-j{jobs()}", "-C", tree,
          # Without LOCALVERSION= a tree in somebody's git gets a "+".
          f"CC={compiler_name()}", f"HOSTCC={compiler_name()}",
          "LOCALVERSION=", *words],
         log, progress=progress)


# --- from source to cache -------------------------------------------------

class Build:
    """One kernel on its way into the cache."""

    def __init__(self, store, series, version, source):
        self.store, self.series = store, series
        self.version, self.source = version, source
        self.texts = fragments(series)
        self.wanted = asked(self.texts)
        self.local = local_version(series, version, self.texts, compiler())
        self.work = store.kernels / f".build-{series.name}"
        self.tree = self.work / "tree"
        self.log = self.work / "build.log"

    def say(self, text):
        """A line of progress that names the series."""
        kernel.say(f"{self.series.name}: {text}")

    def announce(self):
        """The cost, before it begins."""
        free = shutil.disk_usage(self.store.kernels).free / 1e9
        space = BTF_BUILD_GB if self.has_btf() else BUILD_GB
        if free < space:
            raise kernel.Broken(
                f"{self.series.name}: building it takes {space} GB in "
                f"{self.store.kernels}, and {free:.1f} GB are free")
        count = jobs()
        minutes = (BTF_CPU_MINUTES if self.has_btf() else CPU_MINUTES) / count
        name = kernelsource.source_of(self.series).name
        self.say(f"building it from {name} {self.version}, once: about "
                 f"{minutes + 1:.0f} minutes on {count} CPUs, {space} GB in "
                 f"{self.store.kernels} meanwhile, {KEPT_MB} MB of them "
                 "to stay; Ctrl-C ends it, the next run goes on")

    def has_btf(self):
        """Does the kernel have BTF of its own, with debug information of all?"""
        return self.wanted.get("CONFIG_DEBUG_INFO_BTF") == "y"

    def run(self):
        """The kernel's facts."""
        started = time.monotonic()
        self.announce()
        self.work.mkdir(exist_ok=True)
        self.log.write_bytes(b"")
        try:
            self._unpack()
            self._configure()
            _make(self.tree, self.log, "bzImage", "modules",
                  progress=lambda text, seconds: self.say(
                      f"{objects(text)} objects, {seconds:.0f} s"))
            facts = self._arrange()
        except (OSError, subprocess.CalledProcessError) as error:
            raise kernel.Broken(
                f"{self.series.name} cannot be built: {self._why(error)}; "
                f"all it said is in {self.log}") from error
        shutil.rmtree(self.work)
        self.say(f"{facts['release']} is ready after "
                 f"{time.monotonic() - started:.0f} s")
        return facts

    def _why(self, error):
        """The first complaint of the log, or else its last line."""
        try:
            lines = self.log.read_text(errors="replace").strip().split("\n")
        except OSError:
            return str(error)
        bad = [line for line in lines
               if re.search(r"\b(?:fatal )?error: |\*\*\* ", line, re.I)]
        return (bad or lines)[0 if bad else -1].strip() or str(error)

    def _unpack(self):
        """The source, unless an earlier run has left all of it."""
        done = self.work / "unpacked"
        what = f"{self.version} {RECIPE}"
        if done.exists() and done.read_text() == what:
            return
        done.unlink(missing_ok=True)
        shutil.rmtree(self.tree, ignore_errors=True)
        self.tree.mkdir()
        self.say("unpacking the source")
        unwanted = " ".join(f"--exclude={shlex.quote(p)}" for p in _LEFT_OUT)
        _run(["bash", "-c", "set -o pipefail; " + kernelsource.source_of(
            self.series).unpack(self.source, self.tree, unwanted)], self.log)
        # Debian's Makefile reads it, and modules will be built with the same.
        (self.tree / ".kernelvariables").write_text(
            f"CC = $(CROSS_COMPILE){compiler_name()}\n"
            f"HOSTCC = {compiler_name()}\n")
        for name, lines in () if self.has_btf() else _ADDED:
            with open(self.tree / name, "a", encoding="utf-8") as makefile:
                makefile.write(f"\n{lines}\n")
        for option, name, line in _STRUCK:
            if self.wanted.get(option) != "y":
                continue
            path = self.tree / name
            text = path.read_text(encoding="utf-8")
            if text.count(line) != 1:
                raise kernel.Broken(
                    f"Linux {self.version}: {name} has {line.strip()!r} "
                    f"{text.count(line)} times, want once: see _STRUCK in "
                    "scripts/lib/sourcekernel.py")
            path.write_text(text.replace(line, ""), encoding="utf-8")
        done.write_text(what)

    def _configure(self):
        """tinyconfig and the fragments; nothing is touched if all is so."""
        config = self.tree / ".config"
        stamp = self.work / "configured"
        if stamp.exists() and stamp.read_text() == self.local and \
                config.exists():
            return
        stamp.unlink(missing_ok=True)
        _make(self.tree, self.log, "tinyconfig")
        wanted = {**self.wanted, "CONFIG_LOCALVERSION": f'"{self.local}"'}
        config.write_text(merged(config.read_text(), wanted))
        _make(self.tree, self.log, "olddefconfig")
        check_config(self.series, wanted, config.read_text())
        stamp.write_text(self.local)

    def _arrange(self):
        """Puts what is needed into place; returns the facts."""
        tree = self.tree
        release = (tree / "include/config/kernel.release").read_text().strip()
        final = self.store.directory(release, self.version)
        new = self.work / "new"
        shutil.rmtree(new, ignore_errors=True)
        root = new / "root"
        kdir = root / "usr/src" / f"linux-headers-{release}"
        boot = root / "boot"
        boot.mkdir(parents=True)
        # With depmod and the lists of what is built in.
        _make(tree, self.log, "modules_install", f"INSTALL_MOD_PATH={root}",
              "INSTALL_MOD_STRIP=1")
        for name in ("build", "source"):
            link = root / "lib/modules" / release / name
            link.unlink(missing_ok=True)
            link.symlink_to(f"../../../usr/src/linux-headers-{release}")
        vmlinuz = boot / f"vmlinuz-{release}"
        shutil.copy(tree / "arch/x86/boot/bzImage", vmlinuz)
        shutil.copy(tree / "System.map", boot / f"System.map-{release}")
        for name in _KEPT:
            target = kdir / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (tree / name).is_dir():
                shutil.copytree(tree / name, target, symlinks=True,
                                ignore=shutil.ignore_patterns("*.o", "*.cmd"))
            else:
                shutil.copy(tree / name, target)
        btf = self._types(kdir)
        vmlinux = vmlinuz
        if not any(self.wanted.get(name) == "y" for name in _INSTRUMENTED):
            # Boots faster: it need not unpack itself.
            vmlinux = new / "vmlinux"
            vmlinux.write_bytes(
                kernel.decompress(kernel.payload(vmlinuz.read_bytes())))
        place = lambda path: str(final / path.relative_to(new))
        facts = {
            "series": self.series.name, "release": release,
            "version": self.version, "vmlinuz": place(vmlinuz),
            "root": place(root), "kdir": place(kdir), "btf": place(btf),
            "vmlinux": place(vmlinux), "make": self._words(), "tools": "",
        }
        self.store.keep(facts, new, final)
        return facts

    def _types(self, kdir):
        """The file with the BTF: scripts/abi-check looks there first."""
        btf = kdir / "vmlinux"
        if self.has_btf():
            # An ELF file with nothing else, as in Debian's newer headers
            _run(["objcopy", "--only-section=.BTF", self.tree / "vmlinux",
                  btf], self.log)
        else:
            _run(["pahole", "-J", f"--btf_encode_detached={btf}",
                  "--skip_encoding_btf_vars", self.tree / "vmlinux"],
                 self.log)
        # pahole keeps it to itself.
        btf.chmod(0o644)
        return btf

    def _words(self):
        """Words for make: only Debian's Makefile reads .kernelvariables."""
        return "" if self.series.package else f"CC={compiler_name()}"


# --- which one ------------------------------------------------------------

def _offers(store, series):
    """([(version, fetch() -> path of its source)], may the lists be old?)"""
    return kernelsource.source_of(series).offers(store)


def _choose(store, series):
    """(version, facts or None, source if there are none, age to remember)"""
    again = kernel.RETRY_SECONDS - kernel.FRESH_SECONDS
    trouble = kernel.Unavailable(f"no source of {series.name}")
    try:
        offers, passing = _offers(store, series)
        age = again if passing else 0
        for version, fetch in offers:
            facts = have(store, series, version)
            try:
                return version, facts, None if facts else fetch(), age
            except aptroot.AptError as error:
                trouble = error
                kernel.say(f"{series.name}: {version} is listed and cannot be "
                           f"fetched ({error})")
        raise trouble
    except (kernel.Unavailable, aptroot.AptError) as error:
        facts = have(store, series)
        source = kernelsource.source_of(series)
        kept = source.kept(store)
        if not facts and not kept:
            raise kernel.Unavailable(str(error)) from error
        version = facts["version"] if facts else kernel.newest_first(
            (key, key) for key in kept)[0][0]
        kernel.say(f"{error}; using {source.name} {version} from the cache")
        return version, facts, kept.get(version), again


def _fresh(store, series):
    """What was found lately, if it is still what the fragments say."""
    # pylint: disable=protected-access
    entry = store._memory().get(series.name)
    if not entry or not \
            0 <= time.time() - entry["time"] < kernel.FRESH_SECONDS:
        return None
    return have(store, series, entry["version"])


def get(store, series, refresh=False):
    """Facts of the newest kernel of a series that has fragments."""
    if not refresh and (facts := _fresh(store, series)):
        return facts
    # A lock of its own: a build need not keep others from fetching kernels.
    fetching = store.kernels / ".lock"
    with kernel.locked(store.kernels / ".source.lock",
                       "waiting for another run that builds a kernel"):
        if not refresh and (facts := _fresh(store, series)):
            return facts
        if subprocess.run([REPO / "scripts/deps", "build", "kernel"],
                          stdin=subprocess.DEVNULL, check=False).returncode:
            raise kernel.Broken(f"{series.name}: what a kernel build needs "
                                "could not be installed, see above")
        with kernel.locked(fetching,
                           "waiting for another run that fetches a kernel"):
            version, facts, source, age = _choose(store, series)
        facts = facts or Build(store, series, version, source).run()
        with kernel.locked(fetching):
            # pylint: disable-next=protected-access
            store._remember(series.name, facts["release"], version, age)
        return facts
