# SPDX-License-Identifier: GPL-2.0
"""How long a suite will take, from how long each cell took before."""

import contextlib
import json
import os

import kernel
import suiteplan
import suiteshare
import suitetarget

# Host seconds, measured on two cores without KVM; the cache corrects them.
SECONDS_BOOT, SECONDS_RUN, SECONDS_UNIT = 10.0, 3.0, 0.022
# Beside the unit, which has a whole load around it: a replayed request, for
# which fio sleeps, and one of a load without other requests
UNITS_TRACE, UNITS_IO = 0.1, 0.02
# And a flash page of it, all that becomes of it; a fresh file system
UNITS_PAGE, UNITS_FS = 0.004, 60
# How fast the estimates follow what is measured.
SPEED_WEIGHT = 0.5


def units(run):
    """The measure of a run's length: its real-time requests."""
    env = run["env_device"]
    if run.get("tenants"):
        return suiteshare.units(run) * UNITS_IO
    if run.get("expects"):
        count, size = run["expects"]
        page = suiteplan.geometry(run["params"])["page_kb"] << 10
        return count * UNITS_IO + size / page * UNITS_PAGE + (
            UNITS_FS if run.get("fs") else 0)
    if "TRACE" in env:
        # Two sorts of work with one measure: a request of a trace is as long as
        # a fixed number of those.
        return int(env["TRACE_IOS"]) * UNITS_TRACE + run["warmup"]
    if "IOS" in env:
        # Its own reads are the load, with the others' beside them.
        return 2 * int(env["IOS"]) * UNITS_IO + run["warmup"]
    if suitetarget.searching(run):
        return suitetarget.units(run) * UNITS_IO
    count = int(env.get("RT_IOS") or 0)
    if not count:
        # Ends by time: as many as the usual pause would make.
        count = int(float(env.get("RUNTIME", 1)) * 400)
    return count + run["warmup"]


class Speeds:
    """Host seconds a unit, by cell, remembered from earlier results."""

    def __init__(self, path=None):
        self.path = path or kernel.cache_dir() / "bench-speed.json"
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
            self.known = {str(key): float(value)
                          for key, value in known.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            self.known = {}

    @staticmethod
    def key(run):
        """The key of runs with equal speed."""
        return f"{run['suite']}/{run['cell']}/x{run['time_scale']}"

    def seconds(self, run):
        """The estimate for a run."""
        each = self.known.get(self.key(run))
        if each is None:
            # A cell not made yet: like others of its workload, else any; but
            # first those with the same unit, a request of such a load.
            for begin in (f"{run['suite']}/{run['workload']}.",
                          f"{run['suite']}/",
                          *(("share",) if suitetarget.searching(run)
                            else ()), ""):
                alike = sorted(value for key, value in self.known.items()
                               if key.startswith(begin))
                if alike:
                    each = alike[len(alike) // 2]
                    break
        if each is None:
            each = SECONDS_UNIT
        return SECONDS_RUN + each * units(run)

    def learn(self, run, seconds):
        """A run took so long."""
        each = max(0.0, seconds - SECONDS_RUN) / max(1, units(run))
        key = self.key(run)
        old = self.known.get(key, each)
        self.known[key] = old + (each - old) * SPEED_WEIGHT

    def save(self):
        """Keeps it; that it cannot is no reason to fail."""
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            new = self.path.with_suffix(f".{os.getpid()}")
            new.write_text(json.dumps(self.known, indent=0, sort_keys=True))
            new.replace(self.path)


def total_seconds(runs, speeds, machines):
    """The estimate for all runs on this number of machines."""
    if not runs:
        return 0.0
    return suiteplan.makespan(
        [SECONDS_BOOT + sum(map(speeds.seconds, batch))
         for batch in suiteplan.batches(runs)], machines)
