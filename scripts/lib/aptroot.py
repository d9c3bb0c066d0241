# SPDX-License-Identifier: GPL-2.0
"""A private apt root: Debian's archive as this machine reaches it.

Kernels of the lab are looked up and downloaded without root and without
touching the machine's package lists. The sources are derived from the
machine's own, so mirrors and proxies keep working and no host is named here.
"""

import os
import pathlib
import re
import subprocess
from dataclasses import dataclass, field


class AptError(Exception):
    """apt could not do what it was asked for; the text says what."""


@dataclass(frozen=True)
class Source:
    """One archive (a URI) with the suites of it that the machine lists."""
    uri: str
    suites: tuple
    # Options as deb822 fields, e.g. {"Signed-By": "/usr/share/..."}.
    options: dict = field(default_factory=dict, hash=False)


# One-line options that say how to trust or reach an archive, and their
# deb822 names; the rest (architectures, languages, targets) is ours to say.
_KEPT = {
    "signed-by": "Signed-By",
    "trusted": "Trusted",
    "check-valid-until": "Check-Valid-Until",
    "allow-insecure": "Allow-Insecure",
    "allow-weak": "Allow-Weak",
}

_ONE_LINE = re.compile(r"^deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)(?:\s+(.*))?$")


def parse_list(text):
    """Sources of a one-line-style file (`deb [options] uri suite comp...`)."""
    found = []
    for line in text.splitlines():
        match = _ONE_LINE.match(line.split("#", 1)[0].strip())
        if not match:
            continue
        options = {}
        for word in (match[1] or "").split():
            key, _, value = word.partition("=")
            if key.lower() in _KEPT:
                options[_KEPT[key.lower()]] = value.replace(",", " ")
        found.append(Source(match[2], (match[3],), options))
    return found


def _stanzas(text):
    """deb822 paragraphs as {lower-case field: value}, comments dropped."""
    fields, name = {}, None
    for line in text.splitlines() + [""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if fields:
                yield fields
            fields, name = {}, None
        elif line[0] in " \t":
            if name:
                fields[name] += "\n" + line
        elif ":" in line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()


def parse_deb822(text):
    """Sources of a deb822-style (`.sources`) file."""
    found = []
    for stanza in _stanzas(text):
        if "deb" not in stanza.get("types", "").split():
            continue
        if stanza.get("enabled", "yes").lower() in ("no", "false", "0", "off"):
            continue
        options = {_KEPT[key]: value for key, value in stanza.items()
                   if key in _KEPT}
        suites = tuple(stanza.get("suites", "").split())
        for uri in stanza.get("uris", "").split():
            found.append(Source(uri, suites, options))
    return found


def derive(sources, codename, wanted_codename=""):
    """The suites of a Debian release that a kernel may come from.

    The machine runs `codename`; `wanted_codename` is another release to be had
    from the same archives. Only archives that the machine already uses for its
    own release count; other vendors' entries are left alone. Where the machine
    has no security archive, it is assumed beside the main one, as Debian's
    mirrors have it.
    """
    name = wanted_codename or codename

    def ours(source, security):
        return any(
            (suite == codename or suite.startswith(codename + "-"))
            and suite.rstrip("/").endswith("-security") == security
            for suite in source.suites)

    wanted = {}
    for source in sources:
        uri = source.uri.rstrip("/")
        if ours(source, False):
            wanted.setdefault(uri, Source(uri, tuple(
                name + tail for tail in ("", "-updates", "-backports")
            ), source.options))
        elif ours(source, True):
            wanted.setdefault(
                uri, Source(uri, (name + "-security",), source.options))
    if not any(s.suites[0].endswith("-security") for s in wanted.values()):
        for source in list(wanted.values()):
            uri, changed = re.subn(r"/debian$", "/debian-security", source.uri)
            if changed:
                wanted.setdefault(uri, Source(
                    uri, (name + "-security",), source.options))
    return list(wanted.values())


def render(sources, kind="deb"):
    """A deb822 sources file for `sources`, one stanza a suite.

    kind: deb for packages, deb-src for their sources.
    """
    # A stanza a suite: one that the archive lacks does not take the
    # others of its stanza with it.
    text = []
    for source in sources:
        for suite in source.suites:
            fields = {"Types": kind, "URIs": source.uri, "Suites": suite,
                      "Components": "main", "Architectures": "amd64",
                      **source.options}
            text.append("".join(f"{k}: {v}\n" for k, v in fields.items()))
    return "\n".join(text)


def machine_sources(etc=pathlib.Path("/etc/apt")):
    """Every source that the machine's apt reads."""
    found = []
    main = etc / "sources.list"
    if main.is_file():
        found += parse_list(main.read_text(errors="replace"))
    for path in sorted((etc / "sources.list.d").glob("*")):
        if path.suffix == ".list":
            found += parse_list(path.read_text(errors="replace"))
        elif path.suffix == ".sources":
            found += parse_deb822(path.read_text(errors="replace"))
    return found


def codename(path="/etc/os-release"):
    """VERSION_CODENAME of the machine, "" where it has none."""
    try:
        text = pathlib.Path(path).read_text()
    except OSError:
        return ""
    match = re.search(r'^VERSION_CODENAME="?([a-z]+)"?\s*$', text, re.M)
    return match[1] if match else ""


_CONF = """\
#clear APT::Update;
#clear DPkg::Post-Invoke;
#clear Acquire::IndexTargets::deb::DEP-11;
#clear Acquire::IndexTargets::deb::DEP-11-icons;
#clear Acquire::IndexTargets::deb::DEP-11-icons-small;
#clear Acquire::IndexTargets::deb::DEP-11-icons-large;
#clear Acquire::IndexTargets::deb::DEP-11-icons-hidpi;
#clear Acquire::IndexTargets::deb::DEP-11-icons-large-hidpi;
#clear Acquire::IndexTargets::deb::Contents-deb;
Dir::State "{root}/state/";
Dir::State::lists "{root}/lists/";
Dir::State::status "{root}/status";
Dir::Cache "{root}/cache/";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Dir::Etc::sourcelist "{root}/debian.sources";
Dir::Etc::sourceparts "{root}/none/";
Dir::Etc::preferences "{root}/none/preferences";
Dir::Etc::preferencesparts "{root}/none/";
APT::Architecture "amd64";
APT::Architectures "amd64";
APT::Sandbox::User "root";
Acquire::GzipIndexes "true";
Acquire::Languages "none";
Acquire::Retries "2";
"""


class AptRoot:
    """apt-get and apt-cache on lists of our own, under `root`."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.conf = self.root / "apt.conf"

    def prepare(self, sources, kind="deb"):
        """Writes the configuration; any earlier lists stay usable."""
        for name in ("state", "lists/partial", "cache/archives/partial",
                     "none"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        (self.root / "status").touch()
        (self.root / "debian.sources").write_text(render(sources, kind))
        self.conf.write_text(_CONF.format(root=self.root))

    def _run(self, *command, cwd=None):
        return subprocess.run(
            [command[0], "-c", str(self.conf), *command[1:]],
            cwd=cwd, stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "LC_ALL": "C"}, check=False)

    @staticmethod
    def _words(done):
        words = [line for line in done.stderr.splitlines()
                 if line.startswith(("E:", "W:"))]
        return "; ".join(words[:2]) or done.stderr.strip()

    def run(self, *command, cwd=None):
        """Output of an apt command; AptError with its words if it fails."""
        done = self._run(*command, cwd=cwd)
        if done.returncode:
            raise AptError(self._words(done))
        return done.stdout

    def update(self):
        """Fetches the lists: (apt's complaint or "", may it pass?).

        apt fails for a suite that the archive does not have, but only warns
        where the network did not let it ask; then it uses older lists.
        """
        done = self._run("apt-get", "update", "-q")
        if done.returncode:
            return self._words(done), False
        if re.search(r"^[EW]: (Failed to fetch|Some index)", done.stderr,
                     re.M):
            return self._words(done), True
        return "", False

    def names(self, prefix):
        """Names of all known packages that begin with `prefix`."""
        return self.run("apt-cache", "pkgnames", prefix).split()

    def show(self, name):
        """Control fields of a package's candidate, {} where unknown."""
        try:
            text = self.run("apt-cache", "--no-all-versions", "show", name)
        except AptError:
            return {}
        return next(_stanzas(text), {})

    def show_all(self, names):
        """{name: show(name)} of several packages, for the time of one."""
        names = list(names)
        found = {name: {} for name in names}
        if names:
            text = self._run("apt-cache", "--no-all-versions", "show",
                             *names).stdout
            found.update((fields["package"], fields)
                         for fields in _stanzas(text)
                         if fields.get("package") in found)
        return found

    def resolve(self, packages):
        """{name: version} of these packages and of all that they depend on."""
        plan = self.run("apt-get", "install", "-s", "-q",
                        "--no-install-recommends", *packages)
        return dict(re.findall(r"^Inst (\S+) \((\S+)", plan, re.M))

    def download(self, packages, directory):
        """Downloads name=version specifications into `directory`."""
        self.run("apt-get", "download", "-q", *packages, cwd=directory)

    def sources(self, name):
        """Control fields of all known versions of a source package."""
        try:
            text = self.run("apt-cache", "showsrc", "--only-source", name)
        except AptError:
            return []
        return [fields for fields in _stanzas(text)
                if fields.get("package") == name]

    def download_tar(self, name, version, directory):
        """Downloads a source package's main archive, and does not unpack it."""
        self.run("apt-get", "source", "-q", "--download-only", "--tar-only",
                 f"{name}={version}", cwd=directory)
