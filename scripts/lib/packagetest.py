# SPDX-License-Identifier: GPL-2.0
"""scripts/package-test: the life of the Debian packages.

A root of Debian 12 and one of Debian 13 are made once and kept in the cache, each with
its release's kernel and the packages of a newer one. In an overlay on each root,
`make dkms-install` and `make dkms-uninstall` run. Then the packages are installed, meet a
kernel that they have to refuse and a newer one that they know, are upgraded, removed
and purged; no file may be left. The modules are not loaded: that takes --vm, which
boots the first of both kernels with them in it.

Wants root, for chroot and mounts in a namespace of their own. Nothing is installed
on this machine but what scripts/deps says.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import aptroot
import children
import kernel
import options
import package
import sources
import vm

REPO = pathlib.Path(__file__).resolve().parents[2]
GUEST = REPO / "tests" / "package" / "guest.sh"

# Packages that dkms and the build of a module need but that theirs only
# recommend, and packages that a plain Debian has.
INCLUDE = ("dkms", "dwarves", "make", "libc6-dev", "kmod", "udev",
           "python3", "initramfs-tools", "ca-certificates", "openssl")
# Part of the root's name: raise it when what is done to it changes.
FORMAT = 1



@dataclass(frozen=True)
class Debian:
    """A release of Debian that the packages are installed on."""
    number: str
    codename: str
    # Series of the release's own kernel, and of a newer one with headers.
    first: str
    newer: str
    # The package that builds modules of both.
    compiler: str
    # MB to download, and on disk.
    download: int
    disk: int
    # The suite of the newer kernel; "" is one from which apt installs unasked.
    suite: str = ""


DEBIANS = {debian.number: debian for debian in (
    Debian("12", "bookworm", "6.1", "6.12", "gcc-12", 400, 1300),
    Debian("13", "trixie", "debian13", "7.3", "gcc-14", 400, 1100,
           "trixie-backports"))}

# A release that no kernel has, with type information of another kernel.
STRANGER = "6.1.0-99-stranger"
# The version of the packages to upgrade to.
NEXT = "9.9+next"
# The project's sources in the root: temporary, so not compared.
SOURCES = "/tmp/flash-iosched"
# Written by others than our packages, or different at each run.
PASSING = re.compile(
    r"/(proc|sys|dev|run|tmp)/|/var/(log|tmp)/|/var/cache/(apt|ldconfig|debconf)/"
    r"|/var/lib/(apt|dpkg/(lock|triggers|.*-old$)|systemd)"
    # The key with which dkms signs is this machine's, not a package's.
    r"|/var/lib/dkms/mok\.")


class Failed(Exception):
    """A step of the packages' life failed; the text says how."""


def say(text):
    """One line about the run."""
    print(f"package-test: {text}", file=sys.stderr, flush=True)


class Root:
    """A Debian in a directory, as commands see it that run in it."""

    def __init__(self, lower, upper=None):
        self.lower = pathlib.Path(lower)
        self.upper = pathlib.Path(upper) if upper else None
        if self.upper:
            for name in ("changes", "work", "root"):
                (self.upper / name).mkdir(parents=True, exist_ok=True)

    @property
    def top(self):
        """The root's path, in the mount namespace of its commands."""
        return self.upper / "root" if self.upper else self.lower

    def mounts(self):
        """Shell commands that put it together."""
        lines = ["set -e", "mount --make-rprivate /"]
        if self.upper:
            where = ",".join((f"lowerdir={self.lower}",
                              f"upperdir={self.upper / 'changes'}",
                              f"workdir={self.upper / 'work'}"))
            lines.append(f"mount -t overlay overlay -o {shlex.quote(where)} "
                         f"{shlex.quote(str(self.top))}")
        return "\n".join(lines) + "\n"

    def outside(self, command):
        """Runs a shell command that sees it from outside; the status."""
        return subprocess.run(
            ["unshare", "--mount", "--", "sh", "-c", self.mounts() + command],
            stdin=subprocess.DEVNULL, check=False).returncode

    def run(self, command, ok=(0,)):
        """Output, both kinds, of a shell command in it; Failed by its status."""
        top = shlex.quote(str(self.top))
        inside = (f"mount -t proc proc {top}/proc\n"
                  f"mount -t tmpfs tmpfs {top}/run\n"
                  f"mkdir -p {top}/dev/pts\n"
                  f"mount -t devpts devpts {top}/dev/pts\n"
                  f"exec chroot {top} /bin/bash -c \"$0\"")
        done = subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--",
             "sh", "-c", self.mounts() + inside,
             "export DEBIAN_FRONTEND=noninteractive LC_ALL=C HOME=/root "
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin\n" + command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
            env=children.environment("VERSION", "DESTDIR", "DKMS_DIR", "DKMS_SRC"))
        if done.returncode not in ok:
            raise Failed(f"status {done.returncode} of: {command}\n"
                         + "\n".join(done.stdout.splitlines()[-25:]))
        return done.stdout

    def files(self):
        """Everything in it but what passes."""
        listed = self.run("find / -xdev")
        return {name for name in listed.splitlines()
                if not PASSING.match(name + "/") and not PASSING.match(name)}


# --- the Debian that all begins with --------------------------------------

def base(cache, debian, first, newer):
    """The root with the first kernel, and with the newer one's packages."""
    name = cache / "roots" / f"{debian.codename}-{FORMAT}-{first}-{newer}"
    with kernel.locked(cache / "roots" / ".lock"):
        if name.exists():
            return name
        for old in (cache / "roots").glob(f"{debian.codename}-*"):
            shutil.rmtree(old)
        say(f"making a root of Debian {debian.number} (once; about {debian.download} MB "
            f"to download, {debian.disk / 1000:.1f} GB on disk, 5 to 10 minutes)")
        archives = aptroot.derive(aptroot.machine_sources(), aptroot.codename(),
                                  debian.codename)
        new = name.with_name(f"new-{name.name}")
        shutil.rmtree(new, ignore_errors=True)
        with tempfile.TemporaryDirectory() as scratch:
            listed = pathlib.Path(scratch, "debian.sources")
            listed.write_text(aptroot.render(archives), "utf-8")
            done = subprocess.run(
                ["mmdebstrap", "--variant=apt", "--mode=root",
                 "--format=directory",
                 f"--include={','.join((debian.compiler, *INCLUDE))}",
                 debian.codename, str(new), str(listed)],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            raise RuntimeError("mmdebstrap failed:\n" + "\n".join(
                done.stdout.splitlines()[-15:]))
        (new / "etc/resolv.conf").write_bytes(
            pathlib.Path("/etc/resolv.conf").read_bytes())
        # No daemons, and an initramfs that is made quickly and never booted.
        policy = new / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n", "ascii")
        policy.chmod(0o755)
        (new / "etc/initramfs-tools/conf.d/quick").write_text(
            "MODULES=list\n", "ascii")
        root = Root(new)
        try:
            root.run("apt-get update -q")
            root.run(apt_install(packages_of(first)))
            # The newer kernel may want newer versions of packages that are here. With
            # them the removal of that kernel restores the files of this moment.
            plan = root.run(apt_install("-s", packages_of(newer), suite=debian.suite))
            upgrades = re.findall(r"^Inst (\S+) \[", plan, re.M)
            if upgrades:
                root.run(apt_install(*upgrades, suite=debian.suite))
            root.run("apt-get clean")
            root.run(apt_install("--download-only", packages_of(newer),
                                 suite=debian.suite))
        except Failed as error:
            raise RuntimeError(str(error)) from error
        new.rename(name)
        return name


def apt_install(*words, suite=""):
    """A command that installs packages, of a suite that apt does not use unasked."""
    return " ".join(("apt-get install -q -y --no-install-recommends",
                     *((f"-t {suite}",) if suite else ()), *words))


def packages_of(release):
    """Debian's packages of a kernel."""
    return f"linux-image-{release} linux-headers-{release}"


# --- the steps ------------------------------------------------------------

def expect(true, text):
    """Failed unless it is true."""
    if not true:
        raise Failed(text)


class Life:
    """The packages' life in one root, step by step."""

    def __init__(self, root, debian, first, newer):
        self.root = root
        self.debian = debian
        self.first = first
        self.newer = newer
        self.version = ""
        self.modules = []
        self.before = root.files()

    def step(self, name, function, *arguments):
        """Runs one step and says how long it took."""
        started = time.monotonic()
        function(*arguments)
        say(f"ok: Debian {self.debian.number}: {name}, {time.monotonic() - started:.0f} s")

    def put_sources(self):
        """Copies the project into the root, as a clone of it would be."""
        folder = self.root.upper / "changes/tmp"
        folder.mkdir(exist_ok=True)
        folder.chmod(0o1777)
        for name in sources.files():
            target = self.root.upper / f"changes{SOURCES}" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(REPO / name, target, follow_symlinks=False)

    def put(self, debs):
        """Copies packages into the root; their paths there."""
        names = []
        for deb in debs:
            folder = self.root.upper / "changes/root"
            folder.mkdir(mode=0o700, exist_ok=True)
            shutil.copy2(deb, folder / deb.name)
            names.append(f"/root/{deb.name}")
        return names

    def take(self, debs):
        """apt installs packages; all that they depend on is there."""
        names = self.put(debs)
        said = self.root.run(apt_install(*names))
        others = set(re.findall(r"^Setting up ([^ :]+)", said, re.M))
        others = {o for o in others if not o.startswith("flash-iosched")}
        expect(not others, f"they brought {others}: add that to INCLUDE")
        self.root.run("rm -f " + " ".join(names))
        return said

    def built(self, release):
        """Are all modules there for a kernel, and right?"""
        folder = f"/lib/modules/{release}/updates/dkms"
        there = self.root.run(f"cd {folder} && ls").split()
        # Packed where the kernel's own are.
        expect(sorted(re.sub(r"\.ko(\.[gx]z|\.zst)?$", "", name)
                      for name in there) == sorted(self.modules),
               f"{folder} has {there}, not {self.modules}")
        for name in self.modules:
            shown = self.root.run(
                f"modprobe -S {release} --show-depends {name}-iosched")
            expect(f"{folder}/{name}.ko" in shown,
                   f"the alias {name}-iosched leads to {shown}")
            facts = self.root.run(f"modinfo -k {release} {name}")
            expect(re.search(rf"^vermagic: +{re.escape(release)} ", facts, re.M),
                   f"{name} is not for {release}:\n{facts}")
            expect(re.search(r"^layout: +(tested|reviewed)",
                             facts, re.M), f"{name} tells no layout:\n{facts}")
            expect(re.search(r"^signer: +DKMS", facts, re.M),
                   f"{name} is not signed:\n{facts}")

    def versions(self):
        """The state of our modules in dkms: {(version, kernel or "", state)}."""
        found = set()
        for line in self.root.run("dkms status flash-iosched").splitlines():
            match = re.match(r"flash-iosched/([^,:]+)(?:, ([^,]+), [^:]+)?: (.*)",
                             line)
            if match:
                found.add((match[1], match[2] or "", match[3]))
        return found

    def copied(self, version):
        """Checks the modules after their source has been installed in some way."""
        self.version = version
        self.modules = re.findall(
            r'^BUILT_MODULE_NAME\[\d+\]="(\w+)"', self.root.run(
                f"cat /usr/src/flash-iosched-{version}/dkms.conf"), re.M)
        expect(self.modules, "dkms.conf has no modules")
        expect(self.versions() == {(version, self.first, "installed")},
               f"dkms has {self.versions()}")
        self.built(self.first)

    def nothing_left(self):
        """All files are those that were there at the beginning."""
        after = self.root.files()
        left, gone = sorted(after - self.before), sorted(self.before - after)
        expect(not left, f"{len(left)} files are left: {' '.join(left[:10])}")
        expect(not gone, f"{len(gone)} files that are not ours have gone: "
               f"{' '.join(gone[:10])}")

    def from_sources(self, version):
        """make dkms-install and dkms-uninstall, without packages."""
        self.put_sources()
        self.root.run(f"make -C {SOURCES} dkms-install KVER={self.first}")
        self.copied(version)
        self.root.run(f"make -C {SOURCES} dkms-uninstall")
        expect(not self.versions(), f"dkms has {self.versions()}")
        self.nothing_left()

    def installed(self, debs, version):
        """Installs the packages; make dkms-install then refuses."""
        self.take(debs)
        self.copied(version)
        if self.root.run(f"test ! -d {SOURCES} || echo yes"):
            said = self.root.run(f"make -C {SOURCES} dkms-install VERSION={version} "
                                 f"KVER={self.first}", (2,))
            expect("is of the package" in said, f"make dkms-install says {said}")

    def tools_run(self):
        """The tools, and what their package says about others."""
        links = self.root.run("dpkg -L flash-iosched-tools | grep /sbin/")
        names = [line.split("/")[-1] for line in links.split()]
        expect(len(names) >= 5, f"the tools are {names}")
        for name in names:
            said = self.root.run(f"{name} --help")
            expect("usage:" in said, f"{name} --help says {said}")
        self.root.run("cd /tmp && flash-trace2fio --help >/dev/null")
        fields = self.root.run(
            "dpkg-query -W -f '${Depends} ${Recommends}' flash-iosched-tools")
        for other in ("kmod", "fio", "blktrace", "lttng-tools"):
            expect(re.search(rf"(^|\s){other}(,|\s|$)", fields),
                   f"flash-iosched-tools does not name {other}: {fields}")

    def refuses(self):
        """A kernel of another layout: no module, a message, no error."""
        head = f"/usr/src/linux-headers-{STRANGER}"
        made = f"/lib/modules/{STRANGER}"
        self.root.run(f"""set -e
            mkdir -p {made}
            cp -a /usr/src/linux-headers-{self.first} {head}
            cp /lib/modules/{self.first}/modules.[ob]* {made}/
            ln -s {head} {made}/build
            sed -i 's/{self.first}/{STRANGER}/' \\
                {head}/include/generated/utsrelease.h
            cd /tmp
            echo 'struct elevator_type {{ int odd; }} odd;' >odd.c
            {self.debian.compiler} -g -c odd.c
            pahole -J --btf_encode_detached=odd.btf odd.o
            objcopy --add-section .BTF=odd.btf odd.o {head}/vmlinux""")
        for hook in ("header_postinst.d", "postinst.d"):
            said = self.root.run(
                f"run-parts --exit-on-error --regex '^dkms$' --arg={STRANGER} "
                f"--arg=/boot/vmlinuz-{STRANGER} /etc/kernel/{hook}")
            expect("abi-check: refused" in said and
                   f"no modules for kernel {STRANGER}" in said,
                   f"{hook} does not say that it refuses:\n{said}")
        said = self.root.run(
            f"dkms install flash-iosched/{self.version} -k {STRANGER}", (77,))
        expect("elevator_type" in said, f"dkms does not say what differs:\n{said}")
        # A build by hand is refused, too.
        self.root.run(f"cd /usr/src/flash-iosched-{self.version} && "
                      f"! make -s KVER={STRANGER} && rm -rf build")
        left = self.root.run(f"find {made} -name '*.ko*'")
        expect(not left, f"it has modules: {left}")
        expect(not [v for v in self.versions() if v[1] == STRANGER],
               f"dkms has {self.versions()}")
        self.root.run(f"rm -rf {head} {made} /tmp/odd.*")

    def kernel_comes(self):
        """A kernel upgrade: modules for both."""
        self.root.run(apt_install("--no-download", packages_of(self.newer),
                                  suite=self.debian.suite))
        expect(self.versions() == {(self.version, release, "installed")
                                   for release in (self.first, self.newer)},
               f"dkms has {self.versions()}")
        self.built(self.first)
        self.built(self.newer)

    def upgraded(self, debs, version):
        """A newer release: nothing of the older one stays.

        If none of these kernels runs, as in a chroot, dkms of Debian 12 builds for the
        newest one only; the other one gets its modules as it does when it is booted.
        """
        old = self.version
        self.take(debs)
        self.root.run(f"dkms autoinstall -k {self.first}")
        self.version = version
        expect(self.versions() == {(version, release, "installed")
                                   for release in (self.first, self.newer)},
               f"dkms has {self.versions()}")
        self.built(self.first)
        self.built(self.newer)
        left = [name for name in self.root.files()
                if re.search(rf"flash-iosched[-/]{re.escape(old)}(/|$)", name)]
        expect(not left, f"of {old} there is still {left[:5]}")

    def kernel_goes(self):
        """The newer kernel is removed, and our modules with it."""
        self.root.run("apt-get purge -q -y --allow-change-held-packages "
                      + packages_of(self.newer))
        self.root.run("apt-get autoremove --purge -q -y")
        left = self.root.run(
            f"find /lib/modules/{self.newer} -name '*.ko*' 2>/dev/null", (0, 1))
        expect(not left, f"the kernel has gone, these have not: {left}")
        expect(self.versions() == {(self.version, self.first, "installed")},
               f"dkms has {self.versions()}")

    def removed(self):
        """No module is left; then purged: no file either."""
        self.root.run("apt-get remove -q -y flash-iosched-dkms "
                      "flash-iosched-tools")
        names = " -o ".join(f"-name '{m}.ko*'" for m in self.modules)
        left = self.root.run(f"find /lib/modules /var/lib/dkms {names}")
        expect(not left, f"removed, but there is still {left}")
        # apt does not know a package of no archive that has no settings.
        self.root.run("dpkg --purge flash-iosched-dkms flash-iosched-tools")
        said = self.root.run("dpkg -l 'flash-iosched*' 2>/dev/null | grep ^.[^n] "
                             "| grep flash-iosched", (0, 1))
        expect(not said, f"dpkg still knows of {said}")
        self.nothing_left()


# --- in a virtual machine -------------------------------------------------

def rule_for(model, scheduler, values):
    """The example of a udev rule, for another model and other values."""
    text = (REPO / "packaging" / "65-flash-iosched.rules").read_text("utf-8")
    lines = [line for line in text.splitlines() if "EXAMPLE" not in line]
    match = f'ATTRS{{model}}=="{model}"'
    select = next(i for i, line in enumerate(lines)
                  if "ATTR{queue/scheduler}=" in line and "$env" in line)
    lines[select:select] = [f'{match}, ENV{{.SCHED}}="{scheduler}"']
    mark = next(i for i, line in enumerate(lines)
                if line.endswith('ENV{FLASH_IOSCHED}="1"'))
    lines[mark:mark] = [f'{match}, ATTR{{queue/iosched/{name}}}="{value}"'
                        for name, value in values.items()]
    return "\n".join(lines) + "\n"


def in_guest(root, life, timeout):
    """Boots the first kernel on the root; the status of scripts/vm."""
    rules = root.upper / "changes/etc/udev/rules.d"
    rules.mkdir(parents=True, exist_ok=True)
    name = life.modules[0]
    rules.joinpath("65-flash-iosched.rules").write_text(
        rule_for("QEMU NVMe Ctrl*", name, {"max_inflight": 7}), "utf-8")
    command = [str(REPO / "scripts" / "vm"), "--kernel", life.debian.first, "--no-modules",
               "--timeout", str(timeout), "--share", str(root.top), "--files",
               str(GUEST.parent), "--",
               f"bash /files/{GUEST.name} {' '.join(life.modules)}"]
    return root.outside("exec " + " ".join(map(shlex.quote, command)))


def on(debian, args, debs, version):
    """All steps on one release of Debian; the exit status."""
    cache = kernel.cache_dir()
    store = kernel.Store(cache)
    first, newer = (store.get(series)["release"]
                    for series in (debian.first, debian.newer))
    lower = base(cache, debian, first, newer)
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="life-", dir=cache / "roots"))
    try:
        life = Life(Root(lower, scratch), debian, first, newer)
        if args.vm:
            life.step(f"{version} is installed for {first}",
                      life.installed, debs[""], version)
            return in_guest(life.root, life, args.timeout)
        life.step(f"make dkms-install for {first}, and dkms-uninstall",
                  life.from_sources, version)
        life.step(f"{version} is installed for {first}",
                  life.installed, debs[""], version)
        life.step("the tools run", life.tools_run)
        life.step("a kernel of another layout is refused", life.refuses)
        life.step(f"kernel {newer} comes", life.kernel_comes)
        life.step("upgraded", life.upgraded, debs[NEXT], NEXT)
        life.step(f"kernel {newer} goes", life.kernel_goes)
        life.step("removed and purged: no file is left", life.removed)
        say(f"Debian {debian.number}: passed, with {len(life.modules)} modules: "
            f"{' '.join(life.modules)}")
        return 0
    except Failed as error:
        say(f"Debian {debian.number}: FAILED: {error}")
        return 1
    finally:
        if args.keep:
            say(f"kept: {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)


def run(args):
    """The packages on each release of Debian; the worst exit status."""
    found = []
    with tempfile.TemporaryDirectory(prefix="packages-") as folder:
        debs = {version: package.build(f"{folder}/{version or 'this'}", version)
                for version in (("",) if args.vm else ("", NEXT))}
        version = re.search(r"_([^_]+)_all", debs[""][0].name)[1]
        for number in args.debian:
            try:
                found.append(on(DEBIANS[number], args, debs, version))
            except kernel.Unavailable as error:
                say(f"Debian {number}: no kernel to be had: {error}")
                found.append(vm.NO_KERNEL)
    return worst(found)


def worst(found):
    """One exit status of several: a failure counts more than a missing kernel."""
    return next((status for status in found if status not in (0, vm.NO_KERNEL)),
                max(found))


def main(argv=None):
    """Command line of scripts/package-test."""
    parser = options.Parser(
        "package-test", description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 passed; 1 failed; 77 no such kernel to be had here; "
        "with --vm that of scripts/vm.")
    parser.add_argument("--debian", choices=tuple(DEBIANS), action="append",
                        help="only this release of Debian; may be repeated "
                        "(default: all of them)")
    parser.add_argument("--vm", action="store_true",
                        help="load the modules that DKMS has built by writing "
                        "their names into the disk's scheduler, and by a udev "
                        "rule, in a virtual machine; nothing else")
    parser.add_argument("--timeout", type=options.number(60, 86400),
                        default=900, metavar="S",
                        help="seconds for the virtual machine (default 900)")
    parser.add_argument("--keep", action="store_true",
                        help="leave the changed files of the root")
    args = parser.parse_args(argv)
    # Each once, in the order of DEBIANS.
    args.debian = [n for n in DEBIANS if n in (args.debian or DEBIANS)]
    if os.geteuid():
        say("wants root, for chroot and mounts: sudo scripts/package-test")
        return 1
    options.need("build", "deb", "package")
    return vm.guarded("package-test", say, "of a release", lambda: run(args),
                      "ended by a signal")


if __name__ == "__main__":
    sys.exit(main())
