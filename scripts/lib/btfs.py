# SPDX-License-Identifier: GPL-2.0
"""BTF of kernels that the lab compares with and does not boot.

The list is tests/vm/kernels/btfs.toml. fetch() downloads one image package,
takes the BTF out of the kernel in it and keeps that alone, packed, 1 to 2 MB
each: `btf/RELEASE.btf.xz` in the cache.
"""

import contextlib
import lzma
import pathlib
import subprocess
import tempfile
from dataclasses import dataclass

import aptroot
import kernel
from btf import btf_section

LIST = kernel.KERNELS / "btfs.toml"
# The kernel in a package, in Debian's releases so far
_PLACES = ("./boot/vmlinuz-*", "./lib/modules/*/vmlinuz*",
           "./usr/lib/modules/*/vmlinuz*")


@dataclass(frozen=True)
class Image:
    """A kernel of the list."""
    release: str
    # Of its package
    version: str
    # The Debian release that has it
    codename: str
    # Name of a row of features
    features: str
    # MB
    download: int
    # make check fetches it.
    telling: bool = False
    # No module may be built for it.
    refused: bool = False


def read(path=LIST):
    """({release: Image}, {row: {feature: value}}) of the list."""
    import tomllib  # pylint: disable=import-outside-toplevel
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    rows = {row: {**data["default"], **{name: 1 for name in have}}
            for row, have in data["features"].items()}
    return {release: Image(release, **fields)
            for release, fields in data["image"].items()}, rows


def find(images, name):
    """The image of this release, or the only one that begins so; or None."""
    if name in images:
        return images[name]
    found = [image for release, image in images.items()
             if release.startswith(name)]
    return found[0] if len(found) == 1 else None


# --- the BTF in a kernel ----------------------------------------------------

def of_vmlinuz(data):
    """The BTF of a bzImage; Broken without one."""
    found = btf_section(kernel.decompress(kernel.payload(data)), "the kernel in the package")
    if not found:
        raise kernel.Broken("the kernel in the package has no BTF")
    return found


def of_package(deb):
    """The BTF of the kernel in a package."""
    with tempfile.TemporaryDirectory(dir=deb.parent) as scratch:
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb],
                              stdout=subprocess.PIPE) as source:
            done = subprocess.run(
                ["tar", "-x", "-C", scratch, "--wildcards", *_PLACES],
                stdin=source.stdout, check=False, stderr=subprocess.DEVNULL)
        # tar fails for the patterns that match nothing.
        found = [path for path in sorted(pathlib.Path(scratch).rglob("vmlinuz*"))
                 if path.is_file() and not path.is_symlink()]
        if not found:
            raise kernel.Broken(f"{deb.name} has no vmlinuz where this script "
                                f"knows one (tar: {done.returncode})")
        return of_vmlinuz(found[0].read_bytes())


# --- the cache --------------------------------------------------------------

class Collection:
    """What of the list is in the cache."""

    def __init__(self, store=None, images=None):
        self.store = store or kernel.Store()
        self.images = read()[0] if images is None else images
        self.folder = self.store.cache / "btf"
        self.updated = {}

    def packed(self, image):
        """Path of the packed BTF, which may not be there."""
        return self.folder / f"{image.release}.btf.xz"

    def cached(self):
        """Those that are there."""
        return [image for image in self.images.values()
                if self.packed(image).exists()]

    def unpacked(self, image, folder=None):
        """Path of a plain file with the BTF."""
        path = (folder or self.folder) / f"{image.release}.btf"
        packed = self.packed(image)
        if not path.exists() or \
                path.stat().st_mtime_ns < packed.stat().st_mtime_ns:
            _write(path, lzma.decompress(packed.read_bytes()))
        return path

    def fetch(self, image):
        """Path of the packed BTF, fetched if it is not there."""
        path = self.packed(image)
        with kernel.locked(self.folder / ".lock",
                           "waiting for another run that fetches a BTF"):
            if not path.exists():
                data = self._of_the_lab(image) or self._download(image)
                _write(path, lzma.compress(data, preset=1))
                kernel.say(f"{image.release}: {len(data) / 1e6:.1f} MB of "
                           f"BTF, {path.stat().st_size / 1e6:.1f} MB in {path}")
        return path

    def wanted(self, images):
        """Says what fetching these costs; those that are not there."""
        missing = [image for image in images if not self.packed(image).exists()]
        if missing:
            size = sum(image.download for image in missing
                       if not self._of_the_lab(image))
            kernel.say(f"fetching {len(missing)} images for their BTF: "
                       f"{size} MB to download, {1.5 * len(missing):.0f} MB "
                       f"in {self.folder}")
        return missing

    def _of_the_lab(self, image):
        """The BTF of a kernel that the lab has unpacked already, or b""."""
        for name in kernel.SERIES:
            for facts in self.store.cached(name):
                if facts["release"] == image.release and facts["btf"]:
                    return btf_section(pathlib.Path(facts["btf"]).read_bytes(),
                                       facts["btf"])
        return b""

    def _package(self, image):
        """(AptRoot, name, fields, apt's complaint) of the image's package."""
        apt, codename = self.store.apt_root(image.codename)
        # The kernel moved to a package of its own in 6.19.
        names = [f"linux-binary-{image.release}", f"linux-image-{image.release}"]

        def look():
            found = apt.show_all(names)
            return next(((name, found[name]) for name in names
                         if found[name]), None)
        found = look()
        if not found and codename not in self.updated:
            kernel.say(f"asking Debian '{codename}' for its packages (about "
                       "10 MB of lists, 5 to 30 s)")
            self.updated[codename] = apt.update()[0]
            found = look()
        if not found:
            raise kernel.Unavailable(
                f"Debian '{codename}' as this machine sees it has no kernel "
                f"{image.release}" + (f" ({self.updated[codename]})"
                                      if self.updated[codename] else ""))
        return (apt, *found)

    def _download(self, image):
        """The BTF of the image in the archive."""
        try:
            apt, name, fields = self._package(image)
            kernel.say(f"{image.release}: {int(fields['size']) / 1e6:.0f} MB to "
                       "download")
            with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
                apt.download([f"{name}={fields['version']}"], scratch)
                deb, = pathlib.Path(scratch).glob("*.deb")
                return of_package(deb)
        except aptroot.AptError as error:
            raise kernel.Unavailable(f"{image.release}: {error}") from error


def _write(path, data):
    """A whole file or none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_bytes(data)
        new.replace(path)
    finally:
        with contextlib.suppress(OSError):
            new.unlink()


# --- scripts/kernel ---------------------------------------------------------

def show_list():
    """The output of --btf-list."""
    collection = Collection()
    for image in collection.images.values():
        here = collection.packed(image).exists()
        print(f"{image.release}\t{image.version}\t{image.codename}\t"
              f"features of {image.features}\t"
              + ("here" if here else f"{image.download} MB to download"))
    return 0


def show_one(name):
    """The output of --btf: the path of a plain file with the BTF."""
    collection = Collection()
    image = find(collection.images, name)
    if not image:
        kernel.say(f"no image '{name}', or more than one: --btf-list shows "
                   "them")
        return 2
    collection.fetch(image)
    print(collection.unpacked(image))
    return 0


def fetch_all(telling):
    """--btf-all and --btf-some: 0, or 77 if some cannot be had."""
    collection = Collection()
    status = 0
    for image in collection.wanted(
            [image for image in collection.images.values()
             if image.telling or not telling]):
        try:
            collection.fetch(image)
        except kernel.Unavailable as error:
            kernel.say(f"{image.release} cannot be had: {error}")
            status = 77
    kernel.say(f"{len(collection.cached())} of {len(collection.images)} BTFs "
               f"are in {collection.folder}")
    return status
