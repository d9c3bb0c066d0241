# SPDX-License-Identifier: GPL-2.0
"""Suites of schedulers that hold a target: settings, setup and conclusions.

A scheduler that searches needs to know the device's performance without it and has
to be given time. It is judged by the requests from the SETTLE-th real-time one on,
and after a change of the load by those from the STEP_SETTLE-th one after it.
"""

import math

from suitetables import Int

# Keys of a workload
KEYS = {"calibrate": Int(0, 1), "sample_ms": Int(1, 1000)}
# Of its capitals these are the engine's own, not the job file's. Forms may
# have other values, as with the job file's.
ENV = ("SETTLE", "STEP_SETTLE")
# And this is the job file's: when the load becomes another one
STEP = "STEP_MS"
COUNT = Int(0, 10**7)

# Schedulers that search if a tunable is not one of these
SEARCHES = {"k2": ("policy", ("static",))}
QUANTILE = 0.99
MILLION = 1000000

# A window of bandwidth: a second of the device, and one of the clock that a
# scheduler has, which the time scale does not reach
WINDOW_S = 1.0
# Share of the windows that may be below the stated figure; of less than 20
# windows none may, and with fewer than the least number there is no figure
WINDOWS_BELOW, WINDOWS_LEAST = 0.05, 10

# For the estimate of how long a run takes, as long as none was made: requests of
# 4 KiB in a second of a device that is never idle, and how long a real-time one
# takes then
IOPS_GUESS, IOPS_OTHERS = {"D": 280000, "E": 105000}, 100000
LATENCY_US, LATENCY_OTHERS = {"D": 130, "E": 250}, 200


# --- the suite ---------------------------------------------------------------

def searches(scheduler):
    """Does it search for a limit itself?"""
    key, values = SEARCHES.get(scheduler.name, ("", ()))
    return key in scheduler.tunables and \
        scheduler.tunables[key] not in values


def described(workload, scheduler, env):
    """The run's record of it; {} if it has none.

    env: as the suite has it, in the device's time.
    """
    found = {}
    if workload.calibrate and searches(scheduler):
        found["calibrate"] = True
    if workload.sample_ms and searches(scheduler):
        found["sample_ms"] = workload.sample_ms
    if "SETTLE" in env:
        found["target"] = {
            "quantile": int(scheduler.tunables.get(
                "target_quantile", QUANTILE * MILLION)) / MILLION,
            "settle": int(env["SETTLE"]),
            "step_ms": int(env[STEP]) if STEP in env else None,
            "step_settle": int(env.get("STEP_SETTLE", env["SETTLE"]))}
    return found


def guest_env(run):
    """{variable: value} for the guest's script."""
    found = {}
    if run.get("calibrate"):
        found["CALIBRATE"] = 1
    if run.get("sample_ms"):
        found["SAMPLE"] = f"{run['sample_ms'] * run['time_scale'] / 1e3:.3f}"
    return found


def searching(run):
    """Is it of a suite of schedulers that search?"""
    return bool(run.get("target") or run.get("sample_ms") or
                "RUNTIME_MS" in run["env_device"])


def units(run):
    """The largest number of requests of a run, of all jobs."""
    env = run["env_device"]
    iops = IOPS_GUESS.get(run["profile"], IOPS_OTHERS)
    if "RT_IOS" not in env:
        return int(int(env["RUNTIME_MS"]) / 1e3 * iops)
    each = (int(env.get("THINKTIME_US", 0)) +
            LATENCY_US.get(run["profile"], LATENCY_OTHERS)) / 1e6
    # Of large ones there are fewer, and they take longer.
    size = math.sqrt(int(env.get("BE_BS", 4096)) / 4096)
    return int((int(env["RT_IOS"]) + run["warmup"]) * each / size * iops)


# --- a run -------------------------------------------------------------------

def log_rows(text):
    """[(ms since the job began, ns)] of a latency log, the guest's."""
    rows = []
    for line in text.splitlines():
        words = line.split(",")
        rows.append((int(words[0]), int(words[1])))
    return rows


def course(text, cpu, scale):
    """The scheduler's samples of its search, {} if there are none.

    text: lines "uptime bound tail_us share_pct infeasible"; cpu: begins with
    the uptime at which the run began. clock_s is the guest's time, which is
    the scheduler's.
    """
    rows = [[float(word) for word in line.split()]
            for line in text.splitlines()]
    rows = [row for row in rows if len(row) == 5]
    if not rows or not cpu.split():
        return {}
    begin = float(cpu.split()[0])
    return {
        "clock_s": [round(row[0] - begin, 3) for row in rows],
        "t_s": [round((row[0] - begin) / scale, 6) for row in rows],
        "bound": [int(row[1]) for row in rows],
        "tail_s": [row[2] / 1e6 / scale for row in rows],
        "share_pct": [int(row[3]) for row in rows],
        "infeasible": [int(row[4]) for row in rows]}


def windows(rates, length):
    """The mean of each `length` rates that follow on another."""
    total, found = sum(rates[:length]), []
    for end in range(length, len(rates) + 1):
        found.append(total / length)
        if end < len(rates):
            total += rates[end] - rates[end - length]
    return found


def low_of(found):
    """The value that all but WINDOWS_BELOW of some windows reach; None: too few."""
    if len(found) < WINDOWS_LEAST:
        return None
    return sorted(found)[math.floor(len(found) * WINDOWS_BELOW)]


def bandwidth(series, begin, end, scale):
    """Bandwidth from begin to end, s of the device, and its windows.

    The series' rows, each from its time on, that are within; {} where there
    are none.
    """
    if not series:
        return {}
    period = series["period_s"]
    rates = [read + write for at, read, write in zip(
        series["t_s"], series["read_bytes_per_s"],
        series["write_bytes_per_s"])
        if at >= begin and at + period <= end + 1e-9]
    if not rates:
        return {}
    found = {"bandwidth_bytes_per_s": sum(rates) / len(rates)}
    for name, seconds in (("window", WINDOW_S),
                          ("clock_window", WINDOW_S / scale)):
        means = windows(rates, max(1, round(seconds / period)))
        found[f"{name}s"] = len(means)
        found[f"{name}_low_bytes_per_s"] = low_of(means)
    return found


def median_of(values):
    """The middle one, the lower of two."""
    return sorted(values)[(len(values) - 1) // 2] if values else None


def phase(rows, first, target_s, about, scale, series, said):
    """The sums of some requests, the rows from `first` on; None: none."""
    # Here, not above: it knows plans, and plans know this.
    import suitedata  # pylint: disable=import-outside-toplevel
    part = rows[first:]
    if not part:
        return None
    begin = (rows[first - 1][0] if first else 0) / 1e3 / scale
    end = part[-1][0] / 1e3 / scale
    ordered = sorted(ns / 1e9 / scale for _, ns in part)
    low, high = suitedata.interval(ordered, about["quantile"])
    late = None if target_s is None else sum(
        value > target_s for value in ordered)
    within = [n for n, at in enumerate(said.get("t_s", ()))
              if begin <= at <= end]
    return {
        "first": first, "requests": len(part), "late": late,
        "miss_share": None if late is None else late / len(part),
        # Of few requests, too: that it is rough is what the interval says.
        "tail_s": suitedata.quantile(ordered, about["quantile"]),
        "tail_low_s": low, "tail_high_s": high,
        "begin_s": round(begin, 6), "end_s": round(end, 6),
        "bound": median_of([said["bound"][n] for n in within]),
        "infeasible_share": sum(said["infeasible"][n] for n in within)
        / len(within) if within else None,
        **bandwidth(series, begin, end, scale)}


def evaluate(raw, run, fio, series, stats):
    """The result of a run with a target.

    stats: the scheduler's own, of the guest; series: the device's.
    """
    about, scale = run["target"], run["time_scale"]
    number = next(n for n, job in enumerate(fio["jobs"], 1)
                  if job["jobname"] in run["latency"])
    name = fio["jobs"][number - 1]["jobname"]
    rows = log_rows(raw[f"{name}_lat.{number}.log"])
    said = course(raw.get("course", ""), raw.get("cpu", ""), scale)
    # Others have one, too, that they do nothing about.
    target_s = stats["target_ns"] / 1e9 / scale \
        if stats.get("target_ns") and \
        run["tunables"].get("policy") == "latency" else None
    at = len(rows)
    if about["step_ms"] is not None:
        at = sum(ms < about["step_ms"] * scale for ms, _ in rows)
    flagged = [clock for clock, one in zip(
        said.get("clock_s", ()), said.get("infeasible", ())) if one]
    rate = stats.get("calibrated_kib_s") if run.get("calibrate") else None
    tail_us = stats.get("calibrated_tail_us") if run.get("calibrate") else None
    return {
        **about, "target_s": target_s,
        "calibrated_bytes_per_s": rate * 1024 * scale if rate else None,
        "calibrated_tail_s": tail_us / 1e6 / scale if tail_us else None,
        "settled": phase(rows[:at], about["settle"], target_s, about, scale,
                         series, said),
        "stepped": phase(rows, at + about["step_settle"], target_s, about,
                         scale, series, said)
        if about["step_ms"] is not None else None,
        # By the scheduler's clock, as are the periods at which it looks
        "infeasible_after_clock_s": min(flagged) if flagged else None,
        "course": said}


def calibrated(raw, stats, run):
    """(passed, text, figures): was the device measured before?"""
    wanted = run["tunables"].get("policy") == "latency"
    return (stats.get("calibration_age_s", -1) >= 0 and
            (not wanted or stats.get("target_ns", 0) > 0),
            "the scheduler has measured the device before the run, and has a "
            "target that follows",
            {"calibration_age_s": stats.get("calibration_age_s"),
             "target_ns": stats.get("target_ns"),
             "said": raw.get("calibration", "").strip()})


# --- over runs ---------------------------------------------------------------

# Figures of a phase
FIGURES = ("requests", "late", "miss_share", "tail_s", "tail_low_s",
           "tail_high_s", "bandwidth_bytes_per_s", "windows",
           "window_low_bytes_per_s", "clock_windows",
           "clock_window_low_bytes_per_s", "bound", "infeasible_share")
WHOLE = ("target_s", "calibrated_bytes_per_s", "calibrated_tail_s",
         "infeasible_after_clock_s")


def metrics(record):
    """{metric: value or None} of a record; {} where it has no target."""
    data = record.get("target")
    if not data:
        return {}
    found = {name: data[name] for name in WHOLE}
    for name in ("settled", "stepped"):
        if name == "stepped" and data["step_ms"] is None:
            continue
        part = data[name] or {}
        found.update({f"{name}_{key}": part.get(key) for key in FIGURES})
    return found
