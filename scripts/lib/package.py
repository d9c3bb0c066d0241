# SPDX-License-Identifier: GPL-2.0
"""What packages are made of.

  needs FILE...       the modules of scripts/lib that Python files import, and
                      what these import, one path a line
  dkms VERSION DIR... packaging/dkms.conf.in with the version and the modules
                      of these folders
  man NAME            a manual page, out of what NAME --help prints
  build [--version V] DIR
                      the Debian packages, into DIR
"""

import ast
import pathlib
import re
import shutil
import subprocess
import sys

import children
import options

REPO = pathlib.Path(__file__).resolve().parents[2]
LIB = REPO / "scripts" / "lib"


def imported(text):
    """Names that a Python file imports, wherever it does."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def needs(paths):
    """Files of scripts/lib without which these Python files do not run."""
    found, left = set(), list(paths)
    while left:
        for name in imported(pathlib.Path(left.pop()).read_text("utf-8")):
            path = LIB / f"{name}.py"
            if path.exists() and path not in found:
                found.add(path)
                left.append(path)
    return sorted(found)


def dkms_conf(version, folders):
    """The text of dkms.conf."""
    # It stands between quotes in a shell file, and in the name of a folder.
    if not re.fullmatch(r"[0-9][0-9A-Za-z.+~]*", version):
        raise ValueError(f"version '{version}': want digits, letters and .+~, "
                         "a digit first")
    if not folders:
        raise ValueError("no module to build")
    text = (REPO / "packaging" / "dkms.conf.in").read_text("utf-8")
    text = text.replace("@VERSION@", version)
    for index, name in enumerate(sorted(pathlib.Path(f).name for f in folders)):
        text += (f'BUILT_MODULE_NAME[{index}]="{name}"\n'
                 f'BUILT_MODULE_LOCATION[{index}]="build/modules/$kernelver"\n'
                 f'DEST_MODULE_LOCATION[{index}]="/updates/dkms"\n')
    return text


def man_page(name, usage):
    """A manual page of section 8 with what a tool prints for --help."""
    if not usage.startswith(f"usage: {name} "):
        raise ValueError(f"{name} --help begins with '{usage[:40]}'")
    # After the usage: the first sentence is the summary.
    summary = re.split(r"\.(?:\s|$)", usage.split("\n\n")[1])[0]
    summary = " ".join(summary.split())
    text = usage.replace("\\", "\\e").replace("-", "\\-")
    # No line of it is a request to roff.
    text = re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)
    title = name.replace("-", "\\-")
    return (f'.TH "{title.upper()}" 8 "" flash-iosched\n'
            f".SH NAME\n{name} \\- {summary[0].lower()}{summary[1:]}\n"
            f".SH SYNOPSIS\n.nf\n{text}.fi\n")


def of_version(changelog, version):
    """A changelog whose newest entry has this version."""
    return re.sub(r"\A(\S+ )\([^)]*\)", lambda m: f"{m[1]}({version})",
                  changelog)


def build(folder, version=""):
    """Builds the packages; their paths."""
    import sources  # pylint: disable=import-outside-toplevel
    folder = pathlib.Path(folder).absolute()
    work = folder / "work"
    tree = work / "flash-iosched"
    shutil.rmtree(work, ignore_errors=True)
    for name in sources.files():
        target = tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPO / name, target, follow_symlinks=False)
    log = tree / "debian" / "changelog"
    if version:
        # Refuses what would be no version.
        dkms_conf(version, ["any"])
        log.write_text(of_version(log.read_text("utf-8"), version), "utf-8")
    env = children.environment("VERSION", "DOC", "PREFIX", "DESTDIR",
                               "DKMS_DIR", "DEBS")
    with open(folder / "build.log", "wb") as output:
        done = subprocess.run(
            ["dpkg-buildpackage", "-b", "-us", "-uc"], cwd=tree, check=False,
            env=env, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT)
    if done.returncode:
        said = (folder / "build.log").read_text("utf-8", "replace")
        sys.stderr.write("\n".join(said.splitlines()[-20:]) + "\n")
        raise RuntimeError("dpkg-buildpackage failed, see above and "
                           f"{folder / 'build.log'}")
    # Who installs *.deb gets one version of each.
    for old in folder.glob("flash-iosched-*.deb"):
        old.unlink()
    packages = []
    for path in sorted(work.glob("*.deb")):
        packages.append(folder / path.name)
        path.replace(packages[-1])
    shutil.rmtree(work)
    return packages


USAGE = """usage: scripts/package [--version V] DIR

Builds the Debian packages from what is in the tree, in a copy below DIR, and
leaves them in DIR. `make deb` does that, into build/deb; docs/packages.md says
what is in them."""


def packages(args):
    """The command line of scripts/package."""
    if {"-h", "--help"} & set(args):
        print(USAGE)
        return
    version = ""
    if args[:1] == ["--version"]:
        version, args = "".join(args[1:2]), args[2:]
    if len(args) != 1 or args[0].startswith("-"):
        raise ValueError("want [--version V] DIR, see --help")
    options.need("deb")
    print(*build(args[0], version), sep="\n")


def main(argv):
    """Command line; Makefile is who calls."""
    try:
        if argv[:1] == ["needs"]:
            for path in needs(argv[1:]):
                print(path.relative_to(REPO))
        elif argv[:1] == ["dkms"] and len(argv) > 1:
            print(dkms_conf(argv[1], argv[2:]), end="")
        elif argv[:1] == ["man"] and len(argv) == 2:
            print(man_page(argv[1], sys.stdin.read()), end="")
        elif argv[:1] == ["build"]:
            packages(argv[1:])
        else:
            raise ValueError("want: needs FILE..., dkms VERSION DIR..., man "
                             "NAME or build [--version V] DIR")
    except (OSError, ValueError, RuntimeError) as error:
        print(f"package: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
