# SPDX-License-Identifier: GPL-2.0
"""Patches that break the project: their heads, and the page about them."""

import pathlib
import re
from dataclasses import dataclass

REPO = pathlib.Path(__file__).resolve().parents[2]


# The results of a test, and those that a head may name.
FAIL, HANG, REPORT, DIED = "fail", "hang", "report", "died"


class BadHead(Exception):
    """A patch without a valid head; one line."""


class Trouble(RuntimeError):
    """Nothing can be said about any mutant; one line."""


@dataclass(frozen=True)
class Mutant:
    """One patch, by its head."""
    name: str
    path: pathlib.Path
    broken: str
    recreates: str
    # "vm", "unit" or "host", and the case, program or test
    room: str
    test: str
    # Text that the kernel has to report, "" if any way of `shows` will do
    report: str
    # Ways to notice: pairs of a word and a part of the message
    shows: tuple
    # Series, "" if none is booted
    kernel: str

    @property
    def caught_by(self):
        """The test as the head has it."""
        if self.report:
            return f"kernel {self.kernel}: {self.report} in vm {self.test}"
        return f"{self.room} {self.test}"

    @property
    def job(self):
        """Tests that have to pass without the mutant: (room, kernel, test)."""
        return self.room, self.kernel, self.test

    def expects(self):
        """How it shows, in words."""
        if self.report:
            return f"the kernel reports {self.report}"
        words = {FAIL: "fails", HANG: "hangs", REPORT: "the kernel reports",
                 DIED: "the guest dies"}
        return " or ".join(words[way] + (f' "{text}"' if text else "")
                           for way, text in self.shows)


_FIELDS = ("Broken", "Re-creates", "Caught-by", "Shows", "Kernel")


def _head(text):
    """{field: [values]} of what stands above the first file."""
    found, last = {}, None
    for line in text.split("\n--- ", 1)[0].split("\n"):
        match = re.match(r"([A-Z][\w-]*): *(.*)$", line)
        if match:
            last = match[1]
            if last not in (*_FIELDS, "SPDX-License-Identifier"):
                raise BadHead(f"'{last}': want one of {', '.join(_FIELDS)}")
            found.setdefault(last, []).append(match[2].strip())
        elif line.startswith(" ") and last:
            found[last][-1] += " " + line.strip()
        elif line.strip():
            raise BadHead(f"'{line}': want a field such as 'Broken: TEXT', or "
                          "its next line, which begins with a blank")
    return found


def _one(found, field):
    if len(found.get(field, ())) != 1 or not found[field][0]:
        raise BadHead(f"{len(found.get(field, ()))} times '{field}:' with a "
                      "text, want it once")
    return found[field][0]


def _ways(found, report):
    shows = []
    for line in found.get("Shows", ()):
        way, _, text = line.partition(":")
        if way not in (FAIL, HANG, REPORT, DIED):
            raise BadHead(f"'Shows: {line}': want {FAIL}, {HANG}, {REPORT} or "
                          f"{DIED}, and behind a colon what is said")
        shows.append((way, text.strip()))
    if bool(shows) == bool(report):
        raise BadHead("want 'Shows:' if 'Caught-by:' names no report of the "
                      "kernel, and only then")
    return tuple(shows)


def read(path):
    """The mutant that a patch is; BadHead if it cannot be used."""
    try:
        found = _head(path.read_text(encoding="utf-8"))
        caught = _one(found, "Caught-by")
        match = re.fullmatch(r"(vm|unit|host) (\S+)", caught)
        inside = re.fullmatch(r"kernel ([\w.]+): (.+) in vm (\S+)", caught)
        if not match and not inside:
            raise BadHead(
                f"'Caught-by: {caught}': want 'vm CASE', 'unit PROGRAM', "
                "'host FILE', 'host FILE::TEST' or 'kernel SERIES: KIND in vm "
                "CASE'")
        room = match[1] if match else "vm"
        series = _one(found, "Kernel") if room == "vm" else ""
        if room != "vm" and "Kernel" in found:
            raise BadHead(f"'Kernel:' for a test that boots none ({caught})")
        if inside and inside[1] != series:
            raise BadHead(f"'Caught-by: {caught}' and 'Kernel: {series}'")
        report = inside[2] if inside else ""
        return Mutant(path.stem, path, _one(found, "Broken"),
                      _one(found, "Re-creates"), room,
                      inside[3] if inside else match[2], report,
                      _ways(found, report), series)
    except BadHead as error:
        raise BadHead(f"{path.name}: {error}") from None


def all_mutants():
    """Every patch of tests/mutants, cheap tests first."""
    order = {"unit": 0, "host": 1, "vm": 2}
    found = [read(path) for path in sorted(
        (REPO / "tests" / "mutants").glob("*.patch"))]
    return sorted(found, key=lambda m: (order[m.room], m.kernel == "debug"))


# The page


_BEGIN, _END = "<!-- made by scripts/mutants --table -->", "<!-- end -->"


def table(mutants):
    """The mutants as a table, in the order of their numbers."""
    cell = lambda text: text.replace("|", "\\|")
    rows = ["| mutant | what is broken | real bug | caught by | how it shows "
            "|", "|---|---|---|---|---|"]
    for m in sorted(mutants, key=lambda m: m.name):
        real = "" if m.recreates == "nothing known" else m.recreates
        series = f" ({m.kernel})" if m.kernel and not m.report else ""
        rows.append(f"| {m.name} | {cell(m.broken)} | {cell(real)} | "
                    f"{m.caught_by}{series} | {cell(m.expects())} |")
    return "\n".join(rows)


def page(text, mutants):
    """docs/mutants.md with an updated table."""
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise Trouble(f"docs/mutants.md: no lines '{_BEGIN}' and '{_END}' for "
                      "the table between them")
    real = sum(m.recreates != "nothing known" for m in mutants)
    return (f"{before}{begin}\n\n{len(mutants)} mutants, {real} of which "
            f"re-create a real bug.\n\n{table(mutants)}\n\n{end}{after}")
