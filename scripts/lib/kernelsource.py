# SPDX-License-Identifier: GPL-2.0
"""Where the source of a kernel that is built here comes from.

Two kinds, with the same functions: a binary package such as linux-source-6.1,
and the upstream archive of Debian's source package linux, of which the archive
keeps older versions, too. Sources stay in the cache.
"""

import functools
import pathlib
import re
import shlex
import tempfile

import kernel


def source_of(series):
    """The Package or the Archive that a series is built from."""
    return Package(series) if series.package else Archive(series)


class _Source:
    """What both have in common; `name` is how messages call it."""

    def __init__(self, series):
        self.series = series

    def keep(self, store, version, fetch):
        """Path of the source, which fetch(folder) downloads if it is missing.

        Older ones of the same series are removed.
        """
        there = self.kept(store)
        if version in there:
            return there[version]
        folder = store.cache / "source"
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            fetch(scratch)
            found, = pathlib.Path(scratch).glob("*.*")
            path = found.rename(folder / self.file(version))
        for other in there.values():
            other.unlink()
        return path

    def announce(self, version, size, store):
        """The cost of a download, before it begins."""
        kernel.say(f"fetching {self.name} {version}: {size / 1e6:.0f} MB to "
                   f"download and to keep in {store.cache / 'source'}")


class Package(_Source):
    """A binary package with the source in it."""

    @property
    def name(self):
        """The package."""
        return self.series.package

    def file(self, version):
        """Its name in the cache."""
        return f"{self.name}_{version.replace(':', '_')}.deb"

    def kept(self, store):
        """Those in the cache, {version: path}."""
        return {deb.name[len(self.name) + 1:-4].replace("_", ":"): deb
                for deb in (store.cache / "source").glob(f"{self.name}_*.deb")}

    def offers(self, store):
        """([(version, fetch() -> path)], may the lists be old?), newest first."""
        apt, codename = store.apt_root(self.series.codename)
        kernel.say(f"looking up Debian's newest {self.name} (about 10 MB of "
                   "package lists, 5 to 30 s)")
        trouble, passing = apt.update()
        fields = apt.show(self.name)
        _complain(self.name, codename, trouble, fields.get("version"))
        version, size = fields["version"], int(fields.get("size", 0))

        def fetch():
            if version not in self.kept(store):
                self.announce(version, size, store)
            return self.keep(store, version, lambda folder: apt.download(
                [f"{self.name}={version}"], folder))
        return [(version, fetch)], passing

    def unpack(self, path, tree, options):
        """A shell command that unpacks it into `tree`."""
        return (f"dpkg-deb --fsys-tarfile {shlex.quote(str(path))} | "
                f"tar -xO ./usr/src/{self.name}.tar.xz | nice -n 10 tar -xJ "
                f"-C {shlex.quote(str(tree))} --strip-components=1 {options}")


class Archive(_Source):
    """linux_VERSION.orig.tar.xz; the version is upstream's."""

    name = "linux"

    def file(self, version):
        """Its name in the cache."""
        return f"linux_{version}.orig.tar.xz"

    def of_series(self, version):
        """Is an upstream version of the series? One without a dot behind is it."""
        begin = self.series.begin
        return version.startswith(begin) if begin.endswith(".") \
            else version == begin

    def kept(self, store):
        """Those of the series in the cache, {version: path}."""
        found = {path.name[len("linux_"):-len(".orig.tar.xz")]: path
                 for path in (store.cache / "source").glob(
                     "linux_*.orig.tar.xz")}
        return {version: path for version, path in found.items()
                if self.of_series(version)}

    def versions(self, stanzas):
        """{upstream version: (Debian's version, size)} of the series."""
        found = {}
        for fields in stanzas:
            version = fields.get("version", "")
            upstream = version.partition("-")[0]
            size = re.search(rf" (\d+) {re.escape(self.file(upstream))}$",
                             fields.get("checksums-sha256", ""), re.M)
            if self.of_series(upstream) and size:
                found[upstream] = version, int(size[1])
        return found

    def offers(self, store):
        """([(version, fetch() -> path)], may the lists be old?), newest first.

        Mirrors may list a version and lack its archive: hence more than one.
        """
        apt, codename = store.apt_root(self.series.codename, "deb-src")
        kernel.say(f"looking up Debian's newest source of {self.series.name} "
                   "(about 15 MB of lists, 5 to 30 s)")
        trouble, passing = apt.update()
        found = self.versions(apt.sources(self.name))
        versions = [version for version, _ in kernel.newest_first(
            (key, key) for key in found)]
        _complain(f"source of {self.series.name}", codename, trouble,
                  versions[0] if versions else "")

        def fetch(version):
            full, size = found[version]
            if version not in self.kept(store):
                self.announce(version, size, store)
            return self.keep(store, version, lambda folder: apt.download_tar(
                self.name, full, folder))
        return [(version, functools.partial(fetch, version))
                for version in versions], passing

    @staticmethod
    def unpack(path, tree, options):
        """A shell command that unpacks it into `tree`."""
        return (f"nice -n 10 tar -xJf {shlex.quote(str(path))} "
                f"-C {shlex.quote(str(tree))} --strip-components=1 {options}")


def _complain(what, codename, trouble, version):
    """Unavailable without a version; a message if the lists may be old."""
    if not version:
        raise kernel.Unavailable(
            f"Debian '{codename}' as this machine sees it has no {what}"
            + (f" ({trouble})" if trouble else ""))
    if trouble:
        kernel.say(f"the archive could not be asked in full ({trouble}): "
                   f"{version} is the newest known")
