# SPDX-License-Identifier: GPL-2.0
"""Kernels of the lab: which one is taken, from where, and how it is built for.

Nothing is downloaded; the archive and its packages are made up here.
"""

import importlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

aptroot = importlib.import_module("aptroot")
check = importlib.import_module("check")
kernel = importlib.import_module("kernel")
toolchain = importlib.import_module("toolchain")
vm = importlib.import_module("vm")

NEW = kernel.SERIES["7.3"]
MAKE = "CC=/tools/gcc-14 CHECK=/k/sparse CONFIG_DEBUG_INFO_BTF_MODULES="


# Which series are meant

def test_default_series_are_the_two():
    """The newer ones are run by who asks for them."""
    assert kernel.DEFAULT == ("6.12", "6.1")
    assert kernel.USUAL == "6.12"

    def series(*words):
        return [leg.series for leg in check.parse(list(words)).legs]
    assert series() == ["6.12", "6.1", "debug"]
    assert series("--case", "unload") == ["6.1", "6.12"]
    assert series("--kernel", "7.3") == ["7.3"]
    assert series("--kernel", "rt", "--kernel", "6.1") == ["6.1", "rt"]
    assert series("--all") == list(kernel.SERIES)
    makefile = (REPO / "Makefile").read_text()
    assert re.search(r"^SERIES \?= 6\.12 6\.1$", makefile, re.M)
    assert vm.parse(["--", "true"]).kernel == "6.12"
    assert vm.parse(["--kernel", "rt", "--", "true"]).kernel == "rt"


def test_what_it_costs_follows_the_series(capsys):
    args = check.parse(["--case", "unload", "--kernel", "7.3"])
    check.announce(args)
    few = capsys.readouterr().out
    args = check.parse(["--case", "unload"])
    check.announce(args)
    both = capsys.readouterr().out
    assert "206 MB to download" in few and "0.6 GB" in few
    assert "218 MB to download" in both and "1.0 GB" in both


# The series as data

ROW = """
[series."7.4"]
release = '7\\.4\\.\\d+-flash-7\\.4-[0-9a-f]{8}'
begin = "7.4."
maker = "sourcekernel"
codename = "trixie"
fragments = ["lab.config", "since-6.10.config", "btf.config"]
core_only = true
"""


def listed(tmp_path, more):
    """The lab's series and one more."""
    path = tmp_path / "series.toml"
    path.write_text((kernel.KERNELS / "series.toml").read_text() + more)
    return kernel.load_series(path)


def test_another_series_is_one_table(tmp_path, monkeypatch, capsys):
    """7.4, made up: known to every script by a table, and built by its fragments."""
    series, default = listed(tmp_path, ROW)
    assert default == kernel.DEFAULT
    monkeypatch.setattr(kernel, "SERIES", series)
    assert vm.parse(["--kernel", "7.4", "--", "true"]).kernel == "7.4"
    legs = check.parse(["--all"]).legs
    assert {leg.series: leg.which for leg in legs}["7.4"] == "core"
    assert [leg.which for leg in check.parse(["--kernel", "7.4"]).legs] == \
        ["all"]
    assert kernel.main(["--list"]) == 0
    assert "\n7.4\t-\n" in capsys.readouterr().out
    sourcekernel = importlib.import_module("sourcekernel")
    local = sourcekernel.local_version(
        series["7.4"], "7.4.1", sourcekernel.fragments(series["7.4"]), "gcc")
    assert re.fullmatch(series["7.4"].release, "7.4.1" + local)


def test_a_wrong_field_is_named(tmp_path):
    with pytest.raises(ValueError, match="series 7.4: .*'fragment'"):
        listed(tmp_path, ROW.replace("fragments", "fragment"))


def test_tools_have_no_series(tmp_path):
    """Installed tools load this module without the lab's files."""
    assert kernel.load_series(tmp_path / "series.toml") == ({}, ())


# Which kernel is taken

def test_choices_of_the_newer_series():
    unsigned = "linux-binary-unsigned-"
    assert kernel.choices(NEW, {
        unsigned + "7.2.12+deb13-amd64": "7.2.12-1~bpo13+1",
        unsigned + "7.3.4+deb13-amd64": "7.3.4-1~bpo13+1",
        unsigned + "7.3.12+deb13-amd64": "7.3.12-1~bpo13+1",
        unsigned + "7.3.14+deb13-rt-amd64": "7.3.14-1~bpo13+1",
        unsigned + "7.3.14+deb13-cloud-amd64": "7.3.14-1~bpo13+1",
        unsigned + "7.3.14+deb14-amd64": "7.3.14-1",
        unsigned + "7.10.1+deb13-amd64": "7.10.1-1~bpo13+1",
        unsigned + "8.0.2+deb13-amd64": "8.0.2-1~bpo13+1",
        unsigned + "6.12.117+deb13-amd64": "6.12.117-1",
        "linux-image-7.3.20+deb13-amd64": "7.3.20-1~bpo13+1",
    }) == [("8.0.2+deb13-amd64", "8.0.2-1~bpo13+1"),
           ("7.10.1+deb13-amd64", "7.10.1-1~bpo13+1"),
           ("7.3.12+deb13-amd64", "7.3.12-1~bpo13+1"),
           ("7.3.4+deb13-amd64", "7.3.4-1~bpo13+1")]


def test_flavours_are_kept_apart():
    names = {"linux-image-6.1.0-56-amd64": "6.1.192-2",
             "linux-image-6.1.0-57-rt-amd64": "6.1.195-1",
             "linux-image-6.1.0-58-rt-amd64-dbg": "6.1.199-1"}
    assert kernel.pick(kernel.SERIES["rt"], names) == \
        ("6.1.0-57-rt-amd64", "6.1.195-1")
    assert kernel.pick(kernel.SERIES["6.1"], names) == \
        ("6.1.0-56-amd64", "6.1.192-2")


def test_every_series_has_its_packages_listed():
    """What apt is asked for has to begin what a release may look like."""
    examples = {"6.1": "6.1.0-56-amd64", "6.12": "6.12.117+deb12-amd64",
                "debian13": "6.12.118+deb13-amd64",
                "7.3": "7.3.4+deb13-amd64", "rt": "6.1.0-56-rt-amd64"}
    for name, release in examples.items():
        series = kernel.SERIES[name]
        assert re.fullmatch(series.release, release)
        assert release.startswith(series.begin)


@pytest.fixture(name="store")
def fixture_store(tmp_path, monkeypatch):
    """A store in which every kernel is at hand once it is fetched."""
    store = kernel.Store(tmp_path)
    store.kernels.mkdir()
    store.fetched = []
    monkeypatch.setattr(kernel, "say", lambda text: None)

    def fetch(series, _, release, version):
        store.fetched.append(release)
        return place(store, series.name, release, version)
    monkeypatch.setattr(store, "_fetch", fetch)
    return store


def place(store, series, release, version):
    """Facts of a kernel that is in the store from now on."""
    folder = store.directory(release, version)
    folder.mkdir()
    for name in ("kdir", "vmlinuz", "vmlinux", "root"):
        (folder / name).touch()
    facts = {name: str(folder / name)
             for name in ("kdir", "vmlinuz", "vmlinux", "root")}
    facts |= {"series": series, "release": release, "version": version,
              "btf": "", "make": "", "tools": ""}
    (folder / "facts.json").write_text(json.dumps(facts))
    return facts


def knows(store, monkeypatch, *minors):
    """compat.h knows these and no others."""
    monkeypatch.setattr(
        store, "known",
        lambda facts: kernel.minor(facts["release"]) in minors)


FOUND = [(f"{n}+deb13-amd64", f"{n}-1") for n in
         ("7.4.2", "7.4.1", "7.3.9", "7.3.4")]


def test_newest_that_is_known_is_taken(store, monkeypatch):
    knows(store, monkeypatch, "7.3", "7.4")
    facts = store._newest_known(NEW, None, FOUND)
    assert facts["release"] == "7.4.2+deb13-amd64"
    assert store.fetched == ["7.4.2+deb13-amd64"]


def test_unknown_layout_falls_back_to_an_older_one(store, monkeypatch):
    """One of each refused series is downloaded, not all of them."""
    knows(store, monkeypatch, "7.3")
    facts = store._newest_known(NEW, None, FOUND)
    assert facts["release"] == "7.3.9+deb13-amd64"
    assert store.fetched == ["7.4.2+deb13-amd64", "7.3.9+deb13-amd64"]


def test_kernel_that_the_archive_has_no_more(store, monkeypatch):
    """One in the cache is as good as one in the archive."""
    knows(store, monkeypatch, "7.3")
    place(store, "7.3", "7.3.4+deb13-amd64", "7.3.4-1")
    facts = store._newest_known(NEW, None, FOUND[:2])
    assert facts["release"] == "7.3.4+deb13-amd64"
    assert store.fetched == ["7.4.2+deb13-amd64"]


def test_no_kernel_that_is_known(store, monkeypatch):
    """That is a kernel that cannot be had: skipped, and it is said why."""
    knows(store, monkeypatch)
    with pytest.raises(kernel.Unavailable, match="moved on to 7.4.2"):
        store._newest_known(NEW, None, FOUND)


def test_offline_only_a_known_one_counts(store, monkeypatch):
    knows(store, monkeypatch, "7.3")
    place(store, "7.3", "7.4.2+deb13-amd64", "7.4.2-1")

    def offline(_):
        raise aptroot.AptError("no network")
    monkeypatch.setattr(store, "_resolve", offline)
    with pytest.raises(kernel.Unavailable, match="no network"):
        store.get("7.3")
    place(store, "7.3", "7.3.4+deb13-amd64", "7.3.4-1")
    assert store.get("7.3")["release"] == "7.3.4+deb13-amd64"


def test_abi_check_decides(store, monkeypatch):
    """known() is what scripts/abi-check says, asked once."""
    facts = place(store, "7.3", "7.4.2+deb13-amd64", "7.4.2-1")
    facts["make"] = MAKE
    asked = []

    def run(command, **_):
        asked.append([str(word) for word in command])
        return types.SimpleNamespace(returncode=len(asked) - 1, stdout="x")
    monkeypatch.setattr(kernel.subprocess, "run", run)
    assert store.known(facts) and store.known(facts)
    assert len(asked) == 1 and asked[0][0].endswith("scripts/abi-check")
    assert "--make=CC=/tools/gcc-14" in asked[0]
    facts["release"] = "7.5.1+deb13-amd64"
    assert not store.known(facts) and not store.known(facts)
    facts["release"] = "7.6.1+deb13-amd64"
    with pytest.raises(kernel.Broken):
        store.known(facts)


def test_tools_that_are_gone_make_a_kernel_useless(store, tmp_path):
    facts = place(store, "7.3", "7.3.4+deb13-amd64", "7.3.4-1")
    facts["tools"] = str(tmp_path / "tools")
    (store.directory(facts["release"], facts["version"])
     / "facts.json").write_text(json.dumps(facts))
    assert store.cached("7.3") == []
    (tmp_path / "tools").mkdir()
    assert store.cached("7.3") == [facts]


def test_series_with_a_maker(store, monkeypatch):
    """It replaces the archive, and decides itself what is new enough."""
    calls = []

    def get(_, series, refresh):
        calls.append((series.name, refresh))
        return {"release": "6.1.192-debug"}
    monkeypatch.setitem(sys.modules, "debugmaker",
                        types.SimpleNamespace(get=get))
    monkeypatch.setitem(kernel.SERIES, "debug",
                        kernel.Series("debug", maker="debugmaker"))
    assert store.get("debug")["release"] == "6.1.192-debug"
    store.get("debug", refresh=True)
    assert calls == [("debug", False), ("debug", True)]


# Where it comes from

LISTED = """\
deb [signed-by=/k.gpg] http://example.org/debian bookworm main
deb http://example.org/debian bookworm-updates main
deb https://vendor.example.org/apt stable main
"""


@pytest.mark.parametrize("security", [
    "", "deb http://example.org/debian-security bookworm-security main\n",
    "deb http://sec.example.org/x/ bookworm-security main\n"])
def test_another_release_from_the_same_archives(security):
    derived = aptroot.derive(aptroot.parse_list(LISTED + security),
                             "bookworm", "trixie")
    where = security.split()[1].rstrip("/") if security else \
        "http://example.org/debian-security"
    assert {(s.uri, suite) for s in derived for suite in s.suites} == {
        ("http://example.org/debian", "trixie"),
        ("http://example.org/debian", "trixie-updates"),
        ("http://example.org/debian", "trixie-backports"),
        (where, "trixie-security")}
    assert "bookworm" not in aptroot.render(derived)
    assert derived[0].options == {"Signed-By": "/k.gpg"}


def test_another_release_wants_our_own_archives():
    """What the machine lists for a third release is no source for it."""
    listed = aptroot.parse_list("deb http://example.org/debian sid main\n")
    assert aptroot.derive(listed, "bookworm", "trixie") == []


def test_each_release_has_its_lists(tmp_path, monkeypatch):
    monkeypatch.setattr(aptroot, "codename", lambda: "bookworm")
    monkeypatch.setattr(aptroot, "machine_sources",
                        lambda: aptroot.parse_list(LISTED))
    store = kernel.Store(tmp_path)
    own, name = store.apt_root()
    assert name == "bookworm" and own.root == tmp_path / "apt"
    other, name = store.apt_root("trixie")
    assert name == "trixie" and other.root == tmp_path / "apt-trixie"
    assert "trixie-backports" in (other.root / "debian.sources").read_text()
    assert "trixie" not in (own.root / "debian.sources").read_text()
    # On a machine of that release there is nothing to tell apart.
    monkeypatch.setattr(aptroot, "codename", lambda: "trixie")
    monkeypatch.setattr(aptroot, "machine_sources", lambda: [
        aptroot.Source("http://example.org/debian", ("trixie",))])
    assert store.apt_root("trixie")[0].root == tmp_path / "apt"


def test_packages_of_newer_headers():
    fields = {"depends": "gcc-14-for-host, linux-base (>= 4.12~), "
                         "linux-base-7.3.4+deb13-amd64 (= 7.3.4-1~bpo13+1), "
                         "linux-headers-7.3.4+deb13-common (= 7.3.4-1), "
                         "linux-kbuild-7.3.4+deb13"}
    assert kernel.header_packages(fields) == [
        "linux-headers-7.3.4+deb13-common", "linux-kbuild-7.3.4+deb13"]
    assert kernel.compiler_package(fields) == "gcc-14"
    for text, compiler in (("linux-kbuild-6.1, linux-compiler-gcc-12-x86", "gcc-12"),
                           ("linux-kbuild-6.12, gcc-14", "gcc-14"),
                           ("linux-kbuild-6.12, gcc, libgcc-s1", "")):
        assert kernel.compiler_package({"depends": text}) == compiler


def test_what_a_machine_lacks_for_headers(tmp_path, monkeypatch):
    """The compiler by its name; programs by libraries that are missing or old."""
    tool = tmp_path / "usr/lib/linux-kbuild-9.9/scripts/basic/fixdep"
    tool.parent.mkdir(parents=True)
    shutil.copy("/usr/bin/true", tool)
    assert kernel.lacking(tmp_path, "gcc-99") == "gcc-99"
    assert kernel.lacking(tmp_path, "sh") == ""
    monkeypatch.setattr(toolchain, "starts", lambda path: path != tool)
    assert kernel.lacking(tmp_path, "sh") == "fixdep"
    # A program that no build of modules starts does not count.
    tool.rename(tool.with_name("sign-file"))
    monkeypatch.setattr(toolchain, "starts", lambda path: False)
    assert kernel.lacking(tmp_path, "sh") == ""


def test_programs_that_start():
    assert toolchain.starts("/usr/bin/true")
    assert not toolchain.starts("/nonexistent")


def test_a_library_that_is_too_old(monkeypatch):
    """The loader complains and returns 0."""
    monkeypatch.setattr(toolchain.subprocess, "run", lambda *_, **__:
                        types.SimpleNamespace(returncode=0, stdout=(
                            "x: libc.so.6: version `GLIBC_2.38' not found")))
    assert not toolchain.starts("/usr/bin/true")


def test_apt_answers_in_one_go(monkeypatch, tmp_path):
    apt = aptroot.AptRoot(tmp_path)
    text = "Package: a\nVersion: 1\nSize: 5\n\nPackage: b\nVersion: 2\n"
    monkeypatch.setattr(apt, "_run", lambda *_, **__:
                        types.SimpleNamespace(returncode=100, stdout=text))
    assert apt.show_all(["a", "b", "c"]) == {
        "a": {"package": "a", "version": "1", "size": "5"},
        "b": {"package": "b", "version": "2"}, "c": {}}
    plan = "Inst libc6 (2.41-12 Debian:13/stable [amd64])\n" \
           "Inst gcc-14 (14.2.0-19 Debian:13/stable [amd64])\n" \
           "Conf libc6 (2.41-12 Debian:13/stable [amd64])\n"
    monkeypatch.setattr(apt, "run", lambda *_, **__: plan)
    assert apt.resolve(["gcc-14"]) == {"libc6": "2.41-12",
                                       "gcc-14": "14.2.0-19"}


# What make is told

FACTS = {"series": "7.3", "release": "7.3.4+deb13-amd64", "kdir": "/k",
         "btf": "/k/vmlinux", "make": MAKE}


def test_words_for_make():
    assert kernel.make_words(FACTS) == [
        "KDIR=/k", "BTF=/k/vmlinux", *MAKE.split()]
    # Facts that an older version of the scripts has written.
    old = {key: value for key, value in FACTS.items() if key != "make"}
    assert kernel.make_words(old) == ["KDIR=/k", "BTF=/k/vmlinux"]


def test_vm_builds_with_them(monkeypatch, tmp_path):
    commands = []

    def run(command, **_):
        commands.append([str(word) for word in command])
        return types.SimpleNamespace(returncode=0, stdout="")
    for name in ("Kbuild", "Makefile"):
        (tmp_path / name).touch()
    monkeypatch.setattr(vm, "REPO", tmp_path)
    monkeypatch.setattr(vm.subprocess, "run", run)
    vm.build_modules(FACTS)
    assert set(MAKE.split()) < set(commands[0])
    assert "KDIR=/k" in commands[0]


def test_check_builds_with_them(monkeypatch, tmp_path):
    """Warnings, sparse and the ABI check are all asked of this compiler."""
    commands = []

    class Suite(check.Suite):
        """Runs nothing."""

        def run(self, command):
            commands.append([str(word) for word in command])
            return 0, ""
    monkeypatch.setattr(check, "RESULTS", tmp_path)
    monkeypatch.setattr(check.shutil, "which", lambda name: "/usr/bin/" + name)
    check.check_build(Suite(), "7.3", FACTS)
    assert [command[-1] for command in commands] == ["W=1", "C=2", "abi-check"]
    for command in commands:
        assert set(MAKE.split()) < set(command)


@pytest.fixture(name="project")
def fixture_project(tmp_path):
    """The Makefile beside a scripts/kernel that says what the tests want."""
    shutil.copy(REPO / "Makefile", tmp_path)
    (tmp_path / "scripts").mkdir()

    def answer(status, **facts):
        script = tmp_path / "scripts/kernel"
        script.write_text("#!/bin/sh\n" + "".join(
            f"echo '{key}={value}'\n" for key, value in facts.items())
            + f"exit {status}\n")
        script.chmod(0o755)
        environment = {k: v for k, v in os.environ.items()
                       if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        return subprocess.run(
            ["make", "-n", "vm-modules", "SERIES=7.3"], cwd=tmp_path,
            env=environment, check=False, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return answer


def test_make_vm_modules_passes_them_on(project, tmp_path):
    """The line of the facts arrives as make variables, whole."""
    kdir = tmp_path / "kdir"
    (kdir / "include/generated").mkdir(parents=True)
    (kdir / "include/generated/utsrelease.h").write_text(
        '#define UTS_RELEASE "7.3.4+deb13-amd64"\n')
    done = project(0, kdir=kdir, btf="/b", make="CC=/none/such-cc X=1")
    # The compiler that is looked for is the one of the facts.
    assert "wants the compiler" not in done.stdout
    assert "command -v /none/such-cc" in done.stdout, done.stdout


def test_make_vm_modules_skips_what_cannot_be_had(project):
    done = project(77)
    assert "7.3 left out" in done.stdout
    assert "nothing to build for" in done.stdout


# Another release's compiler

LOADER = "/lib64/ld-linux-x86-64.so.2"
LIBRARIES = "/usr/lib/x86_64-linux-gnu"


def own_tools(root):
    """Tools whose loader and libraries are this machine's."""
    for name in ("lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
    (root / "usr/lib64/ld-linux-x86-64.so.2").symlink_to(LOADER)
    (root / "usr/lib/x86_64-linux-gnu").symlink_to(LIBRARIES)
    return toolchain.Tools(root)


def test_programs_run_with_their_own_loader(tmp_path):
    """A program becomes a script, all else stays as it is."""
    tools = own_tools(tmp_path / "tools")
    work, final = tmp_path / "work", tmp_path / "final name"
    (work / "bin").mkdir(parents=True)
    shutil.copy("/usr/bin/printf", work / "bin/say")
    (work / "bin/link").symlink_to("say")
    shutil.copy(os.path.realpath(f"{LIBRARIES}/libc.so.6"),
                work / "bin/libc.so.6")
    (work / "bin/libc.so.6").chmod(0o755)
    (work / "bin/script").write_text("#!/bin/sh\n")
    (work / "bin/script").chmod(0o755)
    (work / "bin/data").write_bytes(b"\x7fELF\x02" + bytes(40))
    (work / "bin/data").chmod(0o755)
    before = {p.name: p.read_bytes() for p in (work / "bin").iterdir()}
    tools.adopt(work, final)
    work.rename(final)
    assert (final / "bin/say").read_text().startswith("#!/bin/sh\n")
    assert (final / "bin/.say.elf").read_bytes() == before["say"]
    for name in ("libc.so.6", "script", "data"):
        assert (final / "bin" / name).read_bytes() == before[name]
    for name in ("say", "link"):
        done = subprocess.run([final / "bin" / name, "%s|", "a b", "$c"],
                              check=True, stdout=subprocess.PIPE, text=True)
        assert done.stdout == "a b|$c|"
    done = subprocess.run([final / "bin/link"], check=False,
                          stderr=subprocess.PIPE, text=True)
    # It knows itself by the name that it was called by.
    assert f"{final}/bin/link" in done.stderr
    # Twice does no harm: a script is no program.
    tools.adopt(final, final)
    assert (final / "bin/say").read_text().count("exec") == 1


class Archive:
    """Stands for an AptRoot: one package, made up."""

    def __init__(self, compiler="for last; do :; done\n: >\"$last\"\n"):
        self.compiler = compiler
        self.version = "14.2.0-19"
        self.downloads = 0

    def resolve(self, packages):
        """apt's plan."""
        assert packages[0] == "gcc-14" and "libelf1t64" in packages
        return {"gcc-14": self.version, "libasan8": "1", "libubsan1": "1"}

    @staticmethod
    def show_all(names):
        """Control fields."""
        return {name: {"size": "1000000", "installed-size": "2000"}
                for name in names}

    def download(self, packages, folder):
        """Makes the package."""
        assert packages == [f"gcc-14={self.version}"]
        self.downloads += 1
        tree = folder.parent / "tree"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN/control").write_text(
            "Package: gcc-14\nVersion: 1\nArchitecture: amd64\n"
            "Maintainer: nobody <nobody@example.org>\nDescription: none\n")
        (tree / "usr/bin").mkdir(parents=True)
        (tree / "usr/share/doc").mkdir(parents=True)
        for name in ("gcc-14", "ld"):
            path = tree / f"usr/bin/x86_64-linux-gnu-{name}"
            path.write_text("#!/bin/sh\n" + self.compiler)
            path.chmod(0o755)
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree,
                        folder / "a.deb"], check=True,
                       stdout=subprocess.DEVNULL)
        shutil.rmtree(tree)


def tools_of(cache, apt, said):
    """The tools, with what was said appended to `said`."""
    return toolchain.get(cache, apt, ["libelf1t64"], "gcc-14", said.append)


def test_tools_are_kept_by_version(tmp_path):
    apt, said = Archive(), []
    tools = tools_of(tmp_path / "a", apt, said)
    assert pathlib.Path(tools.compiler("gcc-14")).exists()
    assert not (tools.root / "usr/share").exists()
    # What is not needed is neither downloaded nor counted.
    assert len(said) == 1 and "1 MB to download" in said[0]
    assert tools_of(tmp_path / "a", apt, said).root == tools.root
    assert apt.downloads == 1 and len(said) == 1
    apt.version = "14.3.0-1"
    assert tools_of(tmp_path / "a", apt, said).root != tools.root
    assert apt.downloads == 2


def test_tools_of_a_cache_that_moved_are_made_anew(tmp_path):
    apt, said = Archive(), []
    tools_of(tmp_path / "a", apt, said)
    (tmp_path / "a").rename(tmp_path / "b")
    tools = tools_of(tmp_path / "b", apt, said)
    assert apt.downloads == 2
    assert tools.root.is_relative_to(tmp_path / "b")


def test_tools_that_do_not_work_are_not_kept(tmp_path):
    apt, said = Archive("echo no good; exit 3\n"), []
    for _ in range(2):
        with pytest.raises(toolchain.ToolsError, match="no good"):
            tools_of(tmp_path, apt, said)
    assert apt.downloads == 2
    assert list((tmp_path / "tools").iterdir()) == []


def test_unpacked_headers_use_the_tools(tmp_path):
    """.kernelvariables, sparse and the make words, as kbuild will see them."""
    tools = own_tools(tmp_path / "tools")
    work, final = tmp_path / "work", tmp_path / "final"
    head = work / "root/usr/src/linux-headers-7.3.4+deb13-amd64"
    common = work / "root/usr/src/linux-headers-7.3.4+deb13-common"
    tool = work / "root/usr/lib/linux-kbuild-7.3.4+deb13/scripts/true"
    for folder in (head, common / "scripts", tool.parent):
        folder.mkdir(parents=True)
    shutil.copy("/usr/bin/true", tool)
    (head / ".kernelvariables").write_text(
        "CC = $(CROSS_COMPILE)gcc-14\n"
        "override CROSS_COMPILE = x86_64-linux-gnu-\n")
    (head / ".config").write_text("CONFIG_PAHOLE_VERSION=130\n")
    facts = {"release": "7.3.4+deb13-amd64",
             "kdir": str(final / head.relative_to(work))}
    assert kernel.Store._checker(work, final, facts) == []
    (common / "Makefile").write_text("$(srctree)/scripts/checker-valid.sh\n")
    assert kernel.Store._checker(work, final, facts) == [
        f"CHECK={final}/sparse"]
    assert kernel.Store._adopt(tools, "gcc-14", work, final, facts) == [
        f"CC={tools.root}/usr/bin/x86_64-linux-gnu-gcc-14",
        "CONFIG_DEBUG_INFO_BTF_MODULES=", "PAHOLE_VERSION=130"]
    work.rename(final)
    text = (final / (head / ".kernelvariables").relative_to(work)).read_text()
    assert f"override CROSS_COMPILE = {tools.root}/usr/bin/" in text
    assert os.access(final / "sparse", os.X_OK)
    valid = final / (common / "scripts/checker-valid.sh").relative_to(work)
    assert subprocess.run([valid, "sparse"], check=True,
                          stdout=subprocess.PIPE).stdout == b"1\n"
    moved = final / tool.relative_to(work)
    assert moved.read_bytes()[:2] == b"#!"
    subprocess.run([moved], check=True)
    # Headers arranged in another way are not taken for these.
    (head.parent / head.name).mkdir(parents=True)
    (head / ".kernelvariables").write_text("CC = gcc\n")
    with pytest.raises(kernel.Broken, match="CROSS_COMPILE"):
        kernel.Store._adopt(tools, "gcc-14", work, final, facts)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
