# SPDX-License-Identifier: GPL-2.0
"""Builds the contents of the packages.

  needs FILE...       the modules of scripts/lib that Python files import, and
                      what these import, one path a line
  dkms VERSION DIR... packaging/dkms.conf.in with the version and the modules
                      of these folders
  linked PAGE...      the files of the tree that these pages link to, and those
                      that linked pages link to, the pages left out
  man NAME            a manual page, out of what NAME --help prints
  build [--version V] DIR
                      the Debian packages, into DIR
"""

import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

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


def links(path):
    """The files and folders that a .md or .html page names by relative links."""
    text = path.read_text("utf-8")
    if path.suffix == ".md":
        text = re.sub(r"^\s*```.*?^\s*```", "", text, flags=re.M | re.S)
    found = re.findall(r"\]\(([^)\s]+)\)", text) if path.suffix == ".md" else []
    found += re.findall(r"""\b(?:href|src)=["']([^"']+)["']""", text)
    names = (link.split("#")[0] for link in found
             if not re.match(r"[a-z]+:", link))
    return sorted({path.parent / urllib.parse.unquote(n) for n in names if n})


def linked(pages):
    """Files that pages link to, directly or through other pages, without them."""
    pages = {pathlib.Path(p).resolve() for p in pages}
    found, left = set(pages), list(pages)
    while left:
        page = left.pop()
        if page.suffix not in (".md", ".html"):
            continue
        for target in links(page):
            target = target.resolve()
            new = {p for p in (target.rglob("*") if target.is_dir() else [target])
                   if p.is_file()} - found
            found |= new
            left += new
    return sorted(found - pages)


def dead_links(folder):
    """["page: link"] of pages in a folder with links that lead nowhere in it."""
    folder = pathlib.Path(folder).resolve()
    return [f"{page.relative_to(folder)}: {os.path.relpath(link, page.parent)}"
            for page in sorted(folder.rglob("*"))
            if page.suffix in (".md", ".html") and page.is_file()
            for link in links(page)
            if not link.exists() or folder not in link.resolve().parents]


def contents(debs, folder):
    """Unpacks packages into a folder, without installing them."""
    for deb in debs:
        subprocess.run(["dpkg-deb", "-x", deb, folder], check=True)


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
    """A changelog with this version in its newest entry."""
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
    # An install of *.deb then gets one version of each.
    for old in folder.glob("flash-iosched-*.deb"):
        old.unlink()
    with tempfile.TemporaryDirectory(dir=work) as root:
        contents(sorted(work.glob("*.deb")), root)
        dead = dead_links(root)
    if dead:
        raise RuntimeError(f"{len(dead)} links of the packages lead nowhere:\n"
                           + "\n".join(dead))
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
    """Command line; the caller is Makefile."""
    try:
        if argv[:1] == ["needs"]:
            for path in needs(argv[1:]):
                print(path.relative_to(REPO))
        elif argv[:1] == ["dkms"] and len(argv) > 1:
            print(dkms_conf(argv[1], argv[2:]), end="")
        elif argv[:1] == ["linked"] and len(argv) > 1:
            for path in linked(argv[1:]):
                print(path.relative_to(REPO))
        elif argv[:1] == ["man"] and len(argv) == 2:
            print(man_page(argv[1], sys.stdin.read()), end="")
        elif argv[:1] == ["build"]:
            packages(argv[1:])
        else:
            raise ValueError("want: needs FILE..., dkms VERSION DIR..., linked "
                             "PAGE..., man NAME or build [--version V] DIR")
    except (OSError, ValueError, RuntimeError) as error:
        print(f"package: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
