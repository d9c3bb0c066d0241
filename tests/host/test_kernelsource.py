# SPDX-License-Identifier: GPL-2.0
"""Sources of kernels that are built here; nothing is downloaded."""

import importlib
import pathlib
import re
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

aptroot = importlib.import_module("aptroot")
kernel = importlib.import_module("kernel")
kernelsource = importlib.import_module("kernelsource")

ARCHIVE = kernelsource.source_of(kernel.SERIES["6.18"])
PACKAGE = kernelsource.source_of(kernel.SERIES["debug"])


def stanza(version, size):
    """Of a list of sources."""
    upstream = version.partition("-")[0]
    return {"package": "linux", "version": version, "checksums-sha256":
            f"\n 00ff 3100 linux_{version}.dsc"
            f"\n 11ff {size} linux_{upstream}.orig.tar.xz"}


STANZAS = [stanza("6.18.9-1~bpo13+1", 9), stanza("6.18.15-1~bpo13+1", 15),
           stanza("6.19.6-2~bpo13+1", 6), stanza("6.1.180-1", 1),
           stanza("6.180.1-1", 1), {"package": "linux", "version": "6.18.20-1"}]


def test_kinds():
    assert isinstance(ARCHIVE, kernelsource.Archive)
    assert isinstance(PACKAGE, kernelsource.Package)
    assert ARCHIVE.name == "linux" and PACKAGE.name == "linux-source-6.1"


def test_versions_of_a_series():
    """By upstream's version; one without its archive does not count."""
    assert ARCHIVE.versions(STANZAS) == {
        "6.18.9": ("6.18.9-1~bpo13+1", 9),
        "6.18.15": ("6.18.15-1~bpo13+1", 15)}


def test_a_version_alone():
    """6.12.8 is not 6.12.88."""
    one = kernelsource.Archive(kernel.Series("old", begin="6.12.8"))
    assert one.versions([stanza("6.12.88-1", 1), stanza("6.12.8-1", 2),
                         stanza("6.12.107-1", 3)]) == {
        "6.12.8": ("6.12.8-1", 2)}


class Apt:
    """Stands for an AptRoot."""

    def __init__(self, stanzas=STANZAS):
        self.stanzas, self.calls = stanzas, []

    @staticmethod
    def update():
        """The lists."""
        return "", False

    def sources(self, name):
        """Control fields."""
        assert name == "linux"
        return self.stanzas

    @staticmethod
    def show(name):
        """Control fields of a package."""
        return {"package": name, "version": "6.1:192-2", "size": "139"}

    def download_tar(self, name, version, folder):
        """An archive."""
        self.calls.append((name, version))
        (pathlib.Path(folder) / "linux_x.orig.tar.xz").write_text(version)

    def download(self, packages, folder):
        """A package."""
        self.calls.append(packages)
        (pathlib.Path(folder) / "x.deb").touch()


@pytest.fixture(name="store")
def fixture_store(tmp_path, monkeypatch):
    """An empty cache."""
    store = kernel.Store(tmp_path)
    store.apt, store.asked = Apt(), []

    def apt_root(codename="", kind="deb"):
        store.asked.append((codename, kind))
        return store.apt, codename
    monkeypatch.setattr(store, "apt_root", apt_root)
    monkeypatch.setattr(kernel, "say", lambda text: None)
    return store


def test_the_newest_archive_is_kept(store):
    """Older ones of the series are removed, others stay."""
    folder = store.cache / "source"
    folder.mkdir()
    for name in ("6.18.9", "6.19.6", "6.1.4"):
        (folder / f"linux_{name}.orig.tar.xz").touch()
    offers, passing = ARCHIVE.offers(store)
    assert [version for version, _ in offers] == ["6.18.15", "6.18.9"]
    assert not passing
    fetch = offers[0][1]
    assert store.asked == [("trixie", "deb-src")]
    path = fetch()
    assert path.read_text() == "6.18.15-1~bpo13+1"
    assert sorted(p.name for p in folder.iterdir()) == [
        f"linux_{name}.orig.tar.xz" for name in ("6.1.4", "6.18.15", "6.19.6")]
    fetch()
    assert store.apt.calls == [("linux", "6.18.15-1~bpo13+1")]
    assert ARCHIVE.kept(store) == {"6.18.15": path}


def test_the_package_is_kept(store):
    ((version, fetch),), _ = PACKAGE.offers(store)
    path = fetch()
    assert version == "6.1:192-2" and PACKAGE.kept(store) == {version: path}
    assert path.name == "linux-source-6.1_6.1_192-2.deb"
    assert store.asked == [("bookworm", "deb")]
    assert store.apt.calls == [["linux-source-6.1=6.1:192-2"]]


def test_an_archive_without_the_series(store):
    store.apt.stanzas = STANZAS[2:4]
    with pytest.raises(kernel.Unavailable, match="source of 6.18"):
        ARCHIVE.offers(store)


def test_unpacking(tmp_path):
    """Without the first folder and what is left out; paths may have spaces."""
    top = tmp_path / "linux-6.18.15"
    (top / "arch/arm").mkdir(parents=True)
    for name in ("Makefile", "arch/arm/a.c"):
        (top / name).touch()
    path, tree = tmp_path / "an archive.tar.xz", tmp_path / "a tree"
    tree.mkdir()
    subprocess.run(["tar", "-cJf", path, "-C", tmp_path, top.name], check=True)
    subprocess.run(["bash", "-c", ARCHIVE.unpack(
        path, tree, "--exclude='*/arch/arm/*'")], check=True)
    assert (tree / "Makefile").exists()
    assert not (tree / "arch/arm/a.c").exists()
    assert re.match(r"dpkg-deb --fsys-tarfile '/a b' \| .*/linux-source-6.1"
                    r"\.tar\.xz \| .*-C /t ", PACKAGE.unpack("/a b", "/t", ""))


def test_lists_of_sources(tmp_path):
    """deb-src lines, in a root of their own."""
    listed = aptroot.parse_list("deb http://example.org/debian sid main\n")
    root = aptroot.AptRoot(tmp_path)
    root.prepare(listed, "deb-src")
    assert "Types: deb-src\n" in (tmp_path / "debian.sources").read_text()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
