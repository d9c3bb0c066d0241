# SPDX-License-Identifier: GPL-2.0
"""Which cases of tests/vm passed in earlier runs of the same sources.

A run on all kernels takes hours. scripts/check --resume continues one that was
interrupted, or continues after the one failed case was mended.
"""

import hashlib
import json
import re

import options
import sources

# A case depends on its own file and on everything but the other cases, pages,
# and what tests and mends our scripts.
_ASIDE = re.compile(r"tests/vm/\d\d\d-[^/]*\.sh|tests/(host|mutants)/.*|"
                    r"docs/.*|scripts/(lib/)?mutant.*|.*\.md")


class Earlier:
    """Results in a file, written as soon as they are known."""

    def __init__(self, path, cases, resume):
        self.path = path
        self.cases = cases
        self.key = sources.key(_ASIDE.fullmatch)
        self.resume = resume
        self.series = {}
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["key"] == self.key:
                self.series = found["series"]
        except (OSError, ValueError, KeyError):
            pass

    def _hash(self, name):
        path = self.cases / f"{name.partition('.')[0]}.sh"
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]

    def _guests(self, series, machine):
        return self.series[series]["guests"].setdefault(
            machine, {"planned": {}, "results": {}})

    def begin(self, series, release):
        """Another kernel's result does not count."""
        if self.series.get(series, {}).get("release") != release:
            self.series[series] = {"release": release, "guests": {}}

    def plan(self, series, machine, names, planned):
        """Records which results each name in the list of a guest consists of.

        A case that is tried again has no result until then: a guest may die.
        """
        guests = self._guests(series, machine)
        for name in names:
            guests["planned"][name] = [
                case for case in planned
                if name in (case, case.rpartition(".")[0])]
        self.drop(series, machine, planned)

    def add(self, series, machine, case, verdict, seconds, reason=""):
        """One result."""
        if verdict != "fail":
            self._guests(series, machine)["results"][case] = [
                verdict, seconds, reason, self._hash(case)]
            self._save()

    def drop(self, series, machine, cases):
        """Discards the results of these cases."""
        for case in cases:
            self._guests(series, machine)["results"].pop(case, None)
        self._save()

    def done(self, series, machine, name):
        """[(case, verdict, seconds, reason)], [] if not all of it passed."""
        if not self.resume:
            return []
        guests = self._guests(series, machine)
        found = [(case, guests["results"].get(case))
                 for case in guests["planned"].get(name, ())]
        if any(not result or result[3] != self._hash(case)
               for case, result in found):
            return []
        return [(case, *result[:3]) for case, result in found]

    def _save(self):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        options.write_json(self.path, {"key": self.key, "series": self.series})
