# SPDX-License-Identifier: GPL-2.0
"""Compiler and libraries of another Debian release, usable where they lie.

Headers of a newer release want that release's compiler, and their host tools
(objtool, modpost) its C library. Both are unpacked into the cache, and in
place of every program there stands a script that starts it with the loader and
the libraries of its own release. That takes no root, no chroot and no user
namespace, and nothing gets installed.

Writing loader and library path into the programs instead (patchelf) is not
safe: the compiler proper is no position-independent program, and some orders
of doing it leave one that crashes.
"""

import hashlib
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

# What only those need who link ordinary programs with this compiler, or ask
# for more than compiling and linking.
_LEFT_OUT = ("libasan", "libhwasan", "liblsan", "libtsan", "libubsan",
             "libgomp", "libitm", "libquadmath", "libatomic", "libgprofng",
             "openssl-provider")
_USELESS = ("usr/share", "usr/bin/*lto-dump*", "usr/bin/gp*",
            "usr/libexec/gcc/*/*/lto1")
# Part of a folder's name: raise it when what is done below changes.
_FORMAT = 1

_TRIPLET = "x86_64-linux-gnu"
_LOADER = "usr/lib64/ld-linux-x86-64.so.2"
_LIBRARIES = f"usr/lib/{_TRIPLET}"

_SCRIPT = """\
#!/bin/sh
# Starts {name} of another Debian release, see scripts/lib/toolchain.py.
exec '{loader}' --library-path '{libraries}' --argv0 "$0" \\
	'{program}' "$@"
"""


class ToolsError(RuntimeError):
    """The tools are to be had, and do not work on this machine."""


def _wants_loader(data):
    """Does an ELF file ask for a dynamic loader?"""
    if data[:5] != b"\x7fELF\x02" or len(data) < 64:
        return False
    table, = struct.unpack_from("<Q", data, 0x20)
    size, count = struct.unpack_from("<HH", data, 0x36)
    pt_interp = 3
    return any(struct.unpack_from("<I", data, table + n * size)[0] == pt_interp
               for n in range(count)
               if table + n * size + 4 <= len(data))


def programs(folder):
    """Every program below `folder` that a dynamic loader starts.

    A library that could be started as well (libc.so.6) is none.
    """
    found = []
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink() and \
                ".so" not in path.suffixes and os.access(path, os.X_OK):
            with open(path, "rb") as file:
                if _wants_loader(file.read(4096)):
                    found.append(path)
    return found


def starts(program):
    """Does the machine have the libraries of a program, new enough?

    The loader looks them up, and does not start the program.
    """
    try:
        done = subprocess.run(
            [program], check=False, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"})
    except OSError:
        return False
    return done.returncode == 0 and "not found" not in done.stdout


class Tools:
    """The unpacked packages, below `root`."""

    def __init__(self, root):
        self.root = pathlib.Path(root)

    @property
    def prefix(self):
        """The value of CROSS_COMPILE."""
        return f"{self.root}/usr/bin/{_TRIPLET}-"

    def compiler(self, name):
        """Path of a compiler such as gcc-14."""
        return self.prefix + name

    def adopt(self, folder, final):
        """Lets programs below `folder` run with our loader and libraries.

        `final` is what the folder will be called: a script names the program
        that it starts by its whole path.
        """
        for path in programs(folder):
            program = path.with_name(f".{path.name}.elf")
            path.rename(program)
            path.write_text(_SCRIPT.format(
                name=path.name, loader=self.root / _LOADER,
                libraries=self.root / _LIBRARIES,
                program=final / program.relative_to(folder)))
            path.chmod(0o755)

    def check(self, compiler):
        """ToolsError unless it compiles and links."""
        with tempfile.TemporaryDirectory() as scratch:
            for command in ([self.compiler(compiler), "-x", "c", "-c", "-",
                             "-o", "a.o"],
                            [self.prefix + "ld", "-r", "a.o", "-o", "b.o"]):
                try:
                    done = subprocess.run(
                        command, check=False, cwd=scratch, text=True,
                        input="int answer(void) { return 42; }\n",
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                    trouble = done.returncode and done.stdout.strip()[-300:]
                except OSError as error:
                    trouble = str(error)
                if trouble:
                    raise ToolsError(f"{command[0]} does not work: {trouble}")


def _unpack(apt, packages, work, final, compiler):
    """The packages unpacked in `work`, ready to be moved to `final`."""
    debs = work / "debs"
    debs.mkdir()
    apt.download([f"{name}={version}" for name, version in packages.items()],
                 debs)
    root = work / "root"
    for deb in sorted(debs.iterdir()):
        subprocess.run(["dpkg", "-x", deb, root], check=True)
    shutil.rmtree(debs)
    for pattern in _USELESS:
        for path in root.glob(pattern):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
    # The compiler looks here before PATH, where the machine's own ones are.
    for folder in root.glob(f"usr/libexec/gcc/{_TRIPLET}/*/"):
        for name in ("as", "ld"):
            (folder / name).symlink_to(
                f"../../../../bin/{_TRIPLET}-{name}")
    Tools(final / "root").adopt(root, final / "root")
    if not (root / "usr/bin" / f"{_TRIPLET}-{compiler}").exists():
        raise ToolsError(f"the packages have no {_TRIPLET}-{compiler}")


def get(cache, apt, wanted, compiler, say):
    """Tools with `compiler` and what the packages `wanted` need.

    `apt` is an AptRoot of the release that they are from, `say` prints a line
    of progress. The folder's name says which versions are in it.
    """
    packages = {name: version for name, version in
                apt.resolve([compiler, *wanted]).items()
                if not name.startswith(_LEFT_OUT)}
    digest = hashlib.sha256(repr((_FORMAT, sorted(packages.items()))).encode())
    final = cache / "tools" / f"{compiler}@{digest.hexdigest()[:16]}"
    tools, place = Tools(final / "root"), final / "place"
    # The scripts know everything by its whole path.
    if place.exists() and place.read_text() == str(final):
        return tools
    fields = apt.show_all(packages).values()
    size = sum(int(f.get("size", 0)) for f in fields)
    disk = sum(int(f.get("installed-size", 0)) for f in fields)
    say(f"fetching {compiler} with the libraries that it and the kernel's "
        f"tools want ({len(packages)} packages): {size / 1e6:.0f} MB to "
        f"download, {disk / 1e3:.0f} MB in {final.parent}, half a minute")
    final.parent.mkdir(parents=True, exist_ok=True)
    work = pathlib.Path(tempfile.mkdtemp(prefix=".new-", dir=final.parent))
    try:
        work.chmod(0o755)
        _unpack(apt, packages, work, final, compiler)
        if final.exists():
            shutil.rmtree(final)
        work.rename(final)
        try:
            tools.check(compiler)
        except ToolsError:
            shutil.rmtree(final)
            raise
        place.write_text(str(final))
    except (OSError, subprocess.CalledProcessError) as error:
        raise ToolsError(f"{compiler} cannot be unpacked: {error}; is there "
                         f"room in {final.parent}?") from error
    finally:
        if work.exists():
            shutil.rmtree(work, ignore_errors=True)
    return tools
