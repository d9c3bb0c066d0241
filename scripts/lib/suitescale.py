# SPDX-License-Identifier: GPL-2.0
"""scripts/bench --find-scale PROFILE: how slow a device has to be.

The guest's CPU spends 10 to 30 us on an I/O. A device that does more than it
can submit would show the CPU's speed. So the device is made slower by the
smallest power of two at which the CPU is busy for a quarter of the time.
"""

import options
import suite as engine
import suitedata
import suiteplan

# Slow enough at first that the device is the limit, else once more.
FIRST_SCALE, STEP = 64, 8
BUSY_MAX = 0.6

_TEXT = """
[suite]
title = what an I/O costs on a device that is never idle, profile {profile}
device = flashsim
[device]
profile = {profile}
data = none
slc_mb = 0
time_scale = {scale}
[variant full]
fill_pct = 100
[variant empty]
fill_pct = 0
[workload rand-read]
job = saturate
variants = full
RW = randread
RUNTIME = 1
[workload seq-read]
job = saturate
variants = full
RW = read
RUNTIME = 1
[workload rand-write]
job = saturate
variants = empty
RW = randwrite
RUNTIME = 1
[schedulers]
list = none
[form probe]
seeds = 1
"""


def probe(profile, scale, args):
    """(status, records) of saturating the device at this scale."""
    text = _TEXT.format(profile=profile, scale=scale)
    suite = suiteplan.parse(text, "--find-scale", "find-scale")
    args.form = "probe"
    session = engine.Session(
        suite, args, engine.results_folder(f"find-scale-{profile}-x{scale}"),
        suiteplan.runs(suite, "probe"))
    return engine.carry_out(session), session.records


def judge(records):
    """[(workload, IOPS of the device, ns an I/O, share at scale 1, scale)]."""
    found = []
    for record in records:
        iops, cost = record["total"]["iops"], record["cpu"]["busy_ns_per_io"]
        found.append((record["workload"], iops, cost, iops * cost / 1e9,
                      suitedata.scale_for(iops, cost)))
    return found


def main(args):
    """Measures and prints the number for the suite."""
    profile, scale = args.find_scale, FIRST_SCALE
    while True:
        status, records = probe(profile, scale, args)
        if status or not records:
            return status or 1
        if max(r["cpu"]["busy_share"] for r in records) <= BUSY_MAX or \
                scale * STEP > 4096:
            break
        scale *= STEP
        print(f"bench: the CPU was the limit; again at scale {scale}")
    rows = judge(records)
    for workload, iops, cost, share, needed in rows:
        print(f"bench: profile {profile}, {workload}: {iops:.0f} IOPS of the "
              f"device, {cost / 1e3:.1f} us of CPU an I/O: busy {share:.2f} "
              f"of the time at scale 1, {share / needed:.2f} at {needed}")
    print(f"bench: time_scale = {max(row[4] for row in rows)} for profile "
          f"{profile} (kernel {args.kernel}, commit {options.commit()})")
    return 0
