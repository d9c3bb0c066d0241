# SPDX-License-Identifier: GPL-2.0
"""Packages: what they hold, what dkms.conf answers, and the examples in them."""

import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import test_sysfs_docs as docs

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))

sys.dont_write_bytecode = True

kernel = importlib.import_module("kernel")
package = importlib.import_module("package")
packagetest = importlib.import_module("packagetest")
sources = importlib.import_module("sources")

DONE = [name for name in docs.POLICIES
        if not (REPO / name / "experimental").exists()]
BUILT = re.compile(r'^BUILT_MODULE_NAME\[(\d+)\]="(\w+)"$', re.M)


def make(*words, **environment):
    """make in the tree, quietly; what it says."""
    env = {k: v for k, v in os.environ.items()
           if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "EXPERIMENTAL")}
    return subprocess.run(["make", "-s", "-C", REPO, *words], check=True,
                          env=env | environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True).stdout


@pytest.fixture(scope="module", name="tree")
def fixture_tree(tmp_path_factory):
    """A tree for dkms."""
    folder = tmp_path_factory.mktemp("dkms") / "flash-iosched-1.2"
    make("dkms-source", "VERSION=1.2", f"DKMS_DIR={folder}")
    return folder


@pytest.mark.parametrize("experimental", ["", "1"])
def test_the_modules_are_those_that_make_builds(tmp_path, experimental):
    """By discovery: those that are there and are not left out."""
    folder = tmp_path / "tree"
    make("dkms-source", "VERSION=1.2", f"DKMS_DIR={folder}",
         EXPERIMENTAL=experimental)
    found = BUILT.findall((folder / "dkms.conf").read_text("utf-8"))
    wanted = docs.POLICIES if experimental else DONE
    assert [name for _, name in found] == wanted
    assert [int(index) for index, _ in found] == list(range(len(wanted)))
    # Or the build on the other machine would leave them out again.
    assert not list(folder.glob("*/experimental"))
    for name in wanted:
        assert (folder / name / f"{name}.c").exists()
    assert not (folder / "tests").exists()


def test_the_tree_is_complete(tree):
    """Scripts that look at kernels run in it, and write nothing there."""
    before = sorted(tree.rglob("*"))
    for command in (["scripts/abi-check", "--help"],
                    ["/usr/bin/python3", "-B", "scripts/lib/kernel.py", "--help"]):
        subprocess.run(command, cwd=tree, check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"PYTHONPATH": ""})
    assert sorted(tree.rglob("*")) == before


@pytest.mark.parametrize("version", ["", "a1", "1 2", '1"; reboot; "', "1/2"])
def test_odd_versions_are_refused(version):
    """They would be part of a shell script and of a path."""
    with pytest.raises(ValueError):
        package.dkms_conf(version, ["k2"])


def test_a_tree_without_modules_is_refused():
    """dkms would say that it is bad, on every machine that has it."""
    with pytest.raises(ValueError):
        package.dkms_conf("1.0", [])


# As dkms of Debian 12 does it: the file is sourced in a subshell of a function,
# where kernelver is that of a function that called it.
DKMS = r"""
set -u
safe_source() {
	(
		. "$1" >/dev/null
		echo "exclusive=${BUILD_EXCLUSIVE_KERNEL:-}"
		echo "auto=${AUTOINSTALL:-}"
		echo "version=${PACKAGE_VERSION:-}"
		echo "make=${MAKE[0]}"
	)
}
read_conf() {
	local kernelver=$1
	local kernel_source_dir=$HEADERS
	safe_source "$CONF"
}
action=$1
kernelver[0]=$2
read_conf "$3"
"""


def ask(tree, tmp_path, status, action, asked, conf_of):
    """(variables that dkms gets, what was said, calls of abi-check)"""
    copy = tmp_path / "copy"
    shutil.copytree(tree, copy)
    headers = tmp_path / "lib/modules/x/build/include/generated"
    headers.mkdir(parents=True)
    (headers / "utsrelease.h").touch()
    check = copy / "scripts" / "abi-check"
    check.write_text(f"#!/bin/sh\necho \"$@\" >>{tmp_path}/calls\n"
                     f"echo abi-check: differs\nexit {status}\n", "ascii")
    conf = copy / "dkms.conf"
    conf.write_text(conf.read_text("utf-8").replace(
        "/lib/modules/", f"{tmp_path}/lib/modules/"), "utf-8")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        ["bash", "-c", DKMS, "dkms", action, asked, conf_of], check=True,
        env=os.environ | {"CONF": str(conf), "TMPDIR": str(scratch),
                          "HEADERS": f"{tmp_path}/lib/modules/x/build"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert not list(scratch.iterdir())
    calls = tmp_path / "calls"
    return (dict(line.split("=", 1) for line in done.stdout.splitlines()),
            done.stderr,
            calls.read_text("ascii").splitlines() if calls.exists() else [])


@pytest.mark.parametrize("status", [0, 1, 2])
@pytest.mark.parametrize("action", ["build", "install"])
def test_a_refused_kernel_is_a_skip(tree, tmp_path, status, action):
    """dkms skips the kernel by its own setting, and only if it was refused."""
    has, said, calls = ask(tree, tmp_path, status, action, "x", "x")
    assert bool(has["exclusive"]) == bool(status)
    assert not re.search(has["exclusive"] or "$x", "6.1.0-1-amd64")
    assert has["auto"] == "yes"
    assert ("no modules for kernel x" in said) == bool(status)
    assert ("abi-check: differs" in said) == bool(status)
    assert len(calls) == 1 and "--release x " in calls[0]


@pytest.mark.parametrize("status", [0, 1])
@pytest.mark.parametrize("conf_of", ["", "old", "x"])
def test_a_kernel_that_comes_is_asked_for(tree, tmp_path, status, conf_of):
    """dkms of Debian 12 reads the file for an older kernel, that of Debian 13 for this one."""
    has, said, calls = ask(tree, tmp_path, status, "autoinstall", "x", conf_of)
    assert has["auto"] == ("" if status else "yes")
    assert not has["exclusive"]
    assert ("no modules for kernel x" in said) == bool(status)
    assert len(calls) == 1 and "--release x " in calls[0]


@pytest.mark.parametrize("action", ["add", "remove", "status"])
def test_other_actions_do_not_ask(tree, tmp_path, action):
    """It takes seconds, and a removed kernel has nothing to compare."""
    has, said, calls = ask(tree, tmp_path, 1, action, "x", "x")
    assert not calls and not said and not has["exclusive"]
    assert has["version"] == "1.2"
    assert has["make"] == f"'make' KVER=x KDIR={tmp_path}/lib/modules/x/build"


# It notes how it is called, and knows the module if the file "known" is there.
FAKE_DKMS = """#!/bin/sh
echo "$@" >>$0.calls
case $1 in
status) [ ! -e $0.known ] || echo "flash-iosched/1.2: added" ;;
remove) rm $0.known ;;
install) touch $0.known; exit ${DKMS_STATUS:-0} ;;
esac
"""


def dkms_install(tmp_path, target, *more, status="0"):
    """(status, what was said, calls of dkms) of a target of the Makefile."""
    program = tmp_path / "bin" / "dkms"
    if not program.exists():
        program.parent.mkdir()
        program.write_text(FAKE_DKMS)
        program.chmod(0o755)
    calls = program.with_name("dkms.calls")
    calls.unlink(missing_ok=True)
    (tmp_path / "src").mkdir(exist_ok=True)
    done = subprocess.run(
        ["make", "-s", "-C", REPO, target, "VERSION=1.2", f"DKMS_SRC={tmp_path / 'src'}",
         f"DKMS_DIR={tmp_path / 'made' / 'flash-iosched-1.2'}", *more],
        env={**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}",
             "DKMS_STATUS": status}, text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout, \
        [line.split()[0] for line in calls.read_text().splitlines()]


def test_dkms_install_and_uninstall(tmp_path):
    copy = tmp_path / "src" / "flash-iosched-1.2"
    assert dkms_install(tmp_path, "dkms-install", "KVER=6.1.0-x") == \
        (0, "", ["status", "install"])
    assert (tmp_path / "bin/dkms.calls").read_text().endswith(" -k 6.1.0-x\n")
    assert (copy / "dkms.conf").exists() and (copy / "Makefile").exists()
    (copy / "stale").touch()
    assert dkms_install(tmp_path, "dkms-install") == (0, "", ["status", "remove", "install"])
    assert not (copy / "stale").exists()
    assert dkms_install(tmp_path, "dkms-uninstall") == (0, "", ["status", "remove"])
    assert not copy.exists()
    assert dkms_install(tmp_path, "dkms-uninstall") == (0, "", ["status"])


def test_dkms_that_fails(tmp_path):
    status, said, _ = dkms_install(tmp_path, "dkms-install", status="3")
    assert status and "to undo: make dkms-uninstall" in said


def test_dkms_conf_is_clean():
    """shellcheck, but for what dkms reads."""
    if not shutil.which("shellcheck"):
        pytest.skip("no shellcheck")
    subprocess.run(["shellcheck", "-s", "bash", "-e", "SC2034,SC2154",
                    REPO / "packaging" / "dkms.conf.in"], check=True)


# --- tools, make install --------------------------------------------------

def test_tools_come_and_go(tmp_path):
    """They run where they are put, and leave nothing."""
    where = f"DESTDIR={tmp_path}"
    make("install-tools", where)
    links = sorted((tmp_path / "usr/local/sbin").iterdir())
    assert [p.name for p in links] == [
        "flash-probe-layout", "flash-stages", "flash-stages-record",
        "flash-trace2fio", "flash-weights-sync"]
    names = "|".join(p.name.removeprefix("flash-") for p in links
                     if p.name != "flash-stages")
    for link in links:
        done = subprocess.run([link, "--help"], check=True, text=True,
                              stdout=subprocess.PIPE)
        assert done.stdout.startswith(f"usage: {link.name} ")
        assert not re.search(rf"scripts/|(?<!flash-)\b({names})\b", done.stdout)
        page = (tmp_path / "usr/local/share/man/man8" / f"{link.name}.8").read_text(
            "utf-8")
        assert re.search(rf"^{re.escape(link.name)} .*\\- \w.*\w$", page, re.M)
        for line in done.stdout.splitlines():
            assert line.strip().replace("\\", "\\e").replace("-", "\\-") in page
        done = subprocess.run([link], check=False, text=True,
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert done.returncode
        assert done.stderr.startswith(f"{link.name}: ") and \
            done.stderr.count("\n") == 1
    # A stand-in needs its model.
    subprocess.run([tmp_path / "usr/local/sbin/flash-trace2fio", "--list"],
                   check=False, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    assert not [p for p in tmp_path.rglob("__pycache__")]
    make("uninstall-tools", where)
    assert not [p for p in tmp_path.rglob("*") if not p.is_dir()]
    assert not [p for p in tmp_path.rglob("flash-iosched")]


# --- documentation, and the packages ----------------------------------------

def test_dead_links_are_found(tmp_path):
    """Files that are compressed, left out, or outside of the folder."""
    folder = tmp_path / "doc"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "outside").touch()
    for name in ("there", "sub/a b", "data.json.gz"):
        (folder / name).touch()
    (folder / "page.md").write_text(
        "[1](there) [2](sub) [3](sub/a%20b#x) [4](https://x/y) [5](#page)\n"
        "```\n[6](in-a-block)\n```\n[7](data.json) ![8](no.svg)\n", "ascii")
    (folder / "page.html").write_text(
        "<a href='there'><a href=\"../outside\"><img src='no.png'>", "ascii")
    assert package.dead_links(folder) == [
        "page.html: ../outside", "page.html: no.png",
        "page.md: data.json", "page.md: no.svg"]


def test_no_link_of_installed_pages_is_dead(tmp_path):
    """As `make install-docs` leaves them."""
    make("install-docs", f"DESTDIR={tmp_path}")
    pages = sorted(tmp_path.rglob("*.md"))
    assert len(pages) > 20
    assert sum(len(package.links(page)) for page in pages) > 100
    assert not package.dead_links(tmp_path)


@pytest.fixture(scope="module", name="debs")
def fixture_debs(tmp_path_factory):
    """The packages, which `make deb` would build."""
    if not all(map(shutil.which, ("dpkg-buildpackage", "dh", "dh_dkms"))):
        pytest.skip("no debhelper or dh-dkms: scripts/deps deb")
    return package.build(tmp_path_factory.mktemp("debs"))


def test_no_link_of_the_packages_is_dead(debs, tmp_path):
    """The packages have each page that another of their pages links to."""
    package.contents(debs, tmp_path)
    assert len(list(tmp_path.rglob("*.md"))) > 20
    assert len(list(tmp_path.rglob("*.json"))) > 5
    assert not package.dead_links(tmp_path)


def test_the_maintainer_is_the_same_everywhere(debs):
    """In the sources and the packages, and is none of this machine."""
    control = (REPO / "debian" / "control").read_text("utf-8")
    name = re.search(r"^Maintainer: (.*)$", control, re.M)[1]
    assert re.fullmatch(r"\w[\w. -]+ <[\w.-]+@[\w-]+(\.[\w-]+)+>", name)
    assert not re.search(r"root|localhost|localdomain", name)
    log = (REPO / "debian" / "changelog").read_text("utf-8")
    assert set(re.findall(r"^ -- (.*>)  ", log, re.M)) == {name}
    for deb in debs:
        said = subprocess.run(["dpkg-deb", "-f", deb, "Maintainer"], check=True,
                              text=True, stdout=subprocess.PIPE).stdout
        assert said.strip() == name


def test_lintian_is_content(debs):
    """No error and no warning."""
    if not shutil.which("lintian"):
        pytest.skip("no lintian")
    done = subprocess.run(
        ["lintian", "--allow-root", "--fail-on", "error,warning", *debs],
        check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert not done.returncode, done.stdout + done.stderr


def test_uninstall_takes_what_another_build_installed(tmp_path):
    """Also modules that this build leaves out, and no other project's."""
    kdir = tmp_path / "kdir/include/generated"
    kdir.mkdir(parents=True)
    (kdir / "utsrelease.h").write_text('#define UTS_RELEASE "1.2.3"\n', "ascii")
    updates = tmp_path / "root/lib/modules/1.2.3/updates"
    updates.mkdir(parents=True)
    for name in [*docs.POLICIES, "other"]:
        (updates / f"{name}.ko").touch()
    words = ("uninstall", f"KDIR={tmp_path / 'kdir'}",
             f"DESTDIR={tmp_path / 'root'}")
    make(*words)
    assert [p.name for p in updates.iterdir()] == ["other.ko"]
    (updates / "other.ko").unlink()
    make(*words)
    assert not updates.exists()


@pytest.mark.parametrize("prefix, program, status", [
    ("x86_64-linux-gnu-", "x86_64-linux-gnu-gcc-99", 0), ("x86_64-linux-gnu-", "gcc-99", 0),
    ("x86_64-linux-gnu-", "gcc-98", 2), ("$(shell touch made)-", "-gcc-99", 2)])
def test_the_compiler_of_the_headers(tmp_path, prefix, program, status):
    """Under its own name, or under the longer one that kbuild calls."""
    made = tmp_path / "kdir/include/generated"
    made.mkdir(parents=True)
    (made / "utsrelease.h").write_text('#define UTS_RELEASE "1.2.3"\n', "ascii")
    (tmp_path / "kdir/.kernelvariables").write_text(
        f"CC = $(CROSS_COMPILE)gcc-99\noverride CROSS_COMPILE = {prefix}\n", "ascii")
    path = tmp_path / "bin" / program
    path.parent.mkdir()
    path.write_text("#!/bin/sh\n", "ascii")
    path.chmod(0o755)
    done = subprocess.run(
        ["make", "-s", "-C", REPO, "compiler", f"KDIR={tmp_path / 'kdir'}"], check=False,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"PATH": f"{path.parent}:{os.environ['PATH']}"})
    assert done.returncode == status
    assert bool(status) == ("apt-get install gcc-99" in done.stdout)


def test_uninstall_without_headers(tmp_path):
    """The headers may have been removed before our modules."""
    updates = tmp_path / "lib/modules/1.2.3-none/updates"
    updates.mkdir(parents=True)
    for name in docs.POLICIES:
        (updates / f"{name}.ko").touch()
    make("uninstall", "KVER=1.2.3-none", f"DESTDIR={tmp_path}")
    assert not updates.exists()
    # A folder that is no kernel's does not name its release.
    done = subprocess.run(["make", "uninstall", f"KDIR={tmp_path}",
                           "KVER=1.2.3-none", f"DESTDIR={tmp_path}"], cwd=REPO, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert done.returncode


def test_needs_are_found_wherever_they_are_imported(tmp_path):
    """In functions, and by those that are imported."""
    path = tmp_path / "a.py"
    path.write_text("def f():\n    import kernel\n", "ascii")
    names = [p.name for p in package.needs([path])]
    assert {"kernel.py", "aptroot.py", "toolchain.py"} <= set(names)
    path.write_text("import os\n", "ascii")
    assert not package.needs([path])


def test_the_changelog_gets_the_version():
    """Its first entry, and no other."""
    text = (REPO / "debian" / "changelog").read_text("utf-8")
    new = package.of_version(text + "\n" + text, "9.9")
    assert new.startswith("flash-iosched (9.9) ")
    assert new.count("(9.9)") == 1


def test_packages_name_what_they_want():
    """Programs that the tools run, and that dkms and the check run."""
    text = (REPO / "debian" / "control").read_text("utf-8")
    stanzas = {re.search(r"^Package: (\S+)", s, re.M)[1]: s
               for s in text.split("\n\n")[1:]}
    named = {name: set(re.findall(r"[a-z][\w.+-]+", " ".join(re.findall(
        r"^(?:Depends|Recommends|Suggests):(.*)", s, re.M))))
        for name, s in stanzas.items()}
    assert {"dwarves", "python3", "make", "kmod"} <= named["flash-iosched-dkms"]
    assert {"kmod", "fio", "blktrace", "lttng-tools", "python3"} <= \
        named["flash-iosched-tools"]


# --- scripts/package-test ---------------------------------------------------

def test_releases_of_debian_have_kernels_of_their_own():
    """Two series each, of that release or of the machine's."""
    assert list(packagetest.DEBIANS) == ["12", "13"]
    for number, debian in packagetest.DEBIANS.items():
        assert debian.number == number
        assert debian.first != debian.newer
        for name in (debian.first, debian.newer):
            assert kernel.SERIES[name].codename in ("", debian.codename)


def test_roots_are_kept_apart(tmp_path, monkeypatch):
    """A new root replaces older ones of the same release, and no others."""
    roots = tmp_path / "roots"
    older = roots / f"trixie-{packagetest.FORMAT}-a-b"
    other = roots / f"bookworm-{packagetest.FORMAT}-a-b"
    for path in (older, other):
        path.mkdir(parents=True)
    monkeypatch.setattr(packagetest, "say", lambda text: None)
    debian = packagetest.DEBIANS["13"]
    assert packagetest.base(tmp_path, debian, "a", "b") == older
    calls = []

    def fails(command, **_):
        calls.append(command)
        return subprocess.CompletedProcess(command, 1, "no archive")
    monkeypatch.setattr(packagetest.subprocess, "run", fails)
    with pytest.raises(RuntimeError, match="no archive"):
        packagetest.base(tmp_path, debian, "a", "c")
    assert other.exists() and not older.exists()
    command, = calls
    assert command[0] == "mmdebstrap" and "trixie" in command
    assert any(re.match("--include=gcc-14,dkms,", word) for word in command)


@pytest.mark.parametrize("statuses, status", [
    ((0, 0), 0), ((0, 77), 77), ((77, 1), 1), ((125, 77), 125), ((2, 1), 2)])
def test_a_failure_counts_more_than_a_missing_kernel(tmp_path, monkeypatch, statuses, status):
    """A release without a kernel does not keep the other one from being tested."""
    monkeypatch.setattr(packagetest.package, "build", lambda folder, version:
                        [tmp_path / f"flash-iosched-dkms_{version or '0.1'}_all.deb"])
    monkeypatch.setattr(packagetest.os, "geteuid", lambda: 0)
    monkeypatch.setattr(packagetest.options, "need", lambda *_: None)
    monkeypatch.setattr(packagetest.options, "catch_signals", lambda: None)
    monkeypatch.setattr(kernel, "SPEAKER", kernel.SPEAKER)
    left, seen = list(statuses), []

    def on(debian, _args, debs, version):
        seen.append((debian.number, sorted(debs), version))
        if left[0] == 77:
            left.pop(0)
            raise kernel.Unavailable("none")
        return left.pop(0)
    monkeypatch.setattr(packagetest, "on", on)
    assert packagetest.main([]) == status
    assert seen == [(number, ["", packagetest.NEXT], "0.1") for number in ("12", "13")]


@pytest.mark.parametrize("argv, numbers", [
    (["--debian", "13"], ["13"]), (["--debian", "13", "--debian", "12"], ["12", "13"]),
    (["--debian", "12", "--debian", "12"], ["12"]), ([], ["12", "13"])])
def test_releases_are_chosen(monkeypatch, argv, numbers):
    """Each of them once."""
    monkeypatch.setattr(packagetest.os, "geteuid", lambda: 0)
    monkeypatch.setattr(packagetest.options, "need", lambda *_: None)
    monkeypatch.setattr(packagetest.options, "catch_signals", lambda: None)
    monkeypatch.setattr(kernel, "SPEAKER", kernel.SPEAKER)
    monkeypatch.setattr(packagetest, "run", lambda args: args.debian.copy())
    assert packagetest.main(argv) == numbers


# --- examples -------------------------------------------------------------

def legal(scheduler, attribute, value):
    """Would the scheduler take this?"""
    row = docs.wanted(docs.source(scheduler))
    assert attribute in row, f"{scheduler} has no {attribute}"
    if row[attribute] is None:
        text = docs.entries(scheduler)[attribute]["Range"]
        assert text == "a text" or value in text.split(", ")
    else:
        low, high, _ = row[attribute]
        assert low <= int(value) <= high


def test_the_modprobe_example_is_right():
    """The scheduler would take each of its module parameters."""
    text = (REPO / "packaging/flash-iosched.conf").read_text("utf-8")
    lines = [l.split() for l in text.splitlines() if l and not l.startswith("#")]
    assert lines
    for word, name, *options in lines:
        assert word == "options" and name in DONE and options
        for option in options:
            attribute, value = option.split("=")
            assert attribute in docs.parameters(name)
            legal(name, attribute, value)


@pytest.mark.parametrize("argv, status", [
    (["--help"], 0), (["x", "-h"], 0), ([], 2), (["--bad"], 2), (["a", "b"], 2),
    (["--version"], 2), (["--version", "1"], 2)])
def test_options_are_no_folder(argv, status, tmp_path, monkeypatch, capsys):
    """A call for help, or a wrong one, builds nothing."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(package, "build", lambda *_: pytest.fail("built"))
    assert package.main(["build", *argv]) == status
    said = capsys.readouterr()
    assert "scripts/package" in said.out if not status else "--help" in said.err
    assert not list(tmp_path.iterdir())


def test_a_build_that_fails_is_said_in_one_line(tmp_path, monkeypatch, capsys):
    """So that a script that builds packages can catch the machine's errors, too."""
    monkeypatch.setattr(sources, "files", lambda: [])
    monkeypatch.setattr(package.options, "need", lambda *_: None)
    monkeypatch.setattr(package.subprocess, "run", lambda *_, **__:
                        subprocess.CompletedProcess((), 1))
    with pytest.raises(RuntimeError, match="dpkg-buildpackage failed"):
        package.build(tmp_path)
    assert package.main(["build", str(tmp_path)])
    assert "package: dpkg-buildpackage failed" in capsys.readouterr().err
