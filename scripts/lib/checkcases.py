# SPDX-License-Identifier: GPL-2.0
"""Cases of tests/vm, and which of them a kernel and a machine get."""

import pathlib
import re

import kernel
import schedulers

REPO = pathlib.Path(__file__).resolve().parents[2]

CASES = REPO / "tests" / "vm"

# Machines of the cases. A case names those that it wants in its line
# "# machines:"; without one it gets the first.
MACHINES = {
    "default": ["--cpus", "2", "--nvme-queues", "2"],
    "wide": ["--cpus", "4", "--nvme-queues", "4"],
    # As the distribution boots it, with return thunks, CFI and KASLR.
    "distro": ["--cpus", "2", "--nvme-queues", "2", "--distro-boot"],
}

# Seconds on two quiet cores without KVM, for the estimate only.
SECONDS = {"host": 420, "unit": 150, "build": 40, "boot": 20, "physics": 250,
           "crash": 120, "control": 60, "fetch": 60, "make kernel": 660}
# How much longer cases take on kernels that are slow, unless they say so.
PACE = 4.5
# Seconds for a guest, in addition to twice the estimate for its cases. Each
# case has a separate limit.
VM_TIMEOUT = 1200


class Case:
    """A file of tests/vm, by what its head says."""

    def __init__(self, path):
        head = path.read_text(encoding="utf-8")[:4000]
        self.name = path.stem
        machines = re.search(r"^# machines: (.*)$", head, re.M)
        self.machines = machines[1].split() if machines else ["default"]
        self.fast = not re.search(r"^# fast: no\b", head, re.M)
        self.once = bool(re.search(r"^# once:", head, re.M))
        # The only scheduler that it is for, which may not be built
        own = re.search(r"^# for: (\w+)$", head, re.M)
        self.own = own[1] if own else ""
        # Cases that find most faults in the least time; "yes" is for every
        # kernel, "fast" for all but slow ones, "slow" for these.
        core = re.search(r"^# core: (yes|fast|slow)$", head, re.M)
        self.core = core[1] if core else ""
        takes = re.search(r"^# takes: (\d+) s(?:, (\d+) s if slow)?$", head,
                          re.M)
        self.seconds = int(takes[1]) if takes else 8
        self.slow_seconds = int(takes[2]) if takes and takes[2] \
            else PACE * self.seconds

    def takes(self, series):
        """Seconds with one scheduler."""
        return len(self.machines) * (
            self.slow_seconds if kernel.SERIES[series].slow > 1
            else self.seconds)

    def called(self, text):
        """Is this what the user means by `text`?"""
        return text in (self.name, self.name.split("-", 1)[1])

    def of_core(self, series):
        """Does it belong to the core on this kernel?"""
        return self.core in (
            "yes", "slow" if kernel.SERIES[series].slow > 1 else "fast")

    def single(self, names):
        """Does it run with only one of these schedulers anyway?"""
        return self.once or self.own in names or any(
            self.name.split("-", 1)[1].startswith(f"{n}-") for n in names)


class Leg:
    """The work on one kernel."""

    def __init__(self, series, cases, which, build=False):
        self.series = series
        self.cases = cases
        self.which = which      # "all", "core" or "some" of them
        self.build = build
        self.dealt = 0          # see deal()
        self.chosen = False     # the user has named schedulers
        self.slow = kernel.SERIES[series].slow

    def shared(self, case, names):
        """Does each of these schedulers run the case?"""
        return not (case.single(names) or self.dealt > 1 or (
            self.dealt and (self.which == "core" or not case.core)))

    def machines(self, names):
        """{machine: what tests/vm/run is to run}"""
        found, turn = {}, 0
        for case in self.cases:
            chosen = [case.name]
            if case.single(names):
                pass
            elif not self.shared(case, names):
                chosen = [f"{case.name}.{names[turn % len(names)]}"]
                turn += 1
            elif self.chosen:
                chosen = [f"{case.name}.{name}" for name in names]
            for machine in case.machines:
                found.setdefault(machine, []).extend(chosen)
        return {machine: found[machine] for machine in MACHINES
                if machine in found}

    def seconds(self, names):
        """The estimate, with these schedulers."""
        each = sum(
            c.takes(self.series)
            * (len(names) if self.shared(c, names) else 1)
            for c in self.cases)
        boots = SECONDS["boot"] * len(self.machines(names)) * (
            PACE if self.slow > 1 else 1)
        return SECONDS["build"] * self.build + each + boots

    def limit(self, names):
        """Seconds after which one of its guests must have ended."""
        return int(VM_TIMEOUT * self.slow + 2 * self.seconds(names))


def all_cases(there=None, chosen=None):
    """Every case of the schedulers that there are, or of those chosen."""
    there = there or schedulers.in_source(REPO)
    cases = [Case(p) for p in sorted(CASES.glob("[0-9][0-9][0-9]-*.sh"))]
    cases = [case for case in cases if not case.own or case.own in there]
    if not chosen:
        return cases
    return [case for case in cases if not case.once and (
        case.single(chosen) or not case.single(there))]
