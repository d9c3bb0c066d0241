# SPDX-License-Identifier: GPL-2.0
"""A suite's conclusions from a run's raw files. No I/O but reading.

The device was `time_scale` times slower than it stands for. All resulting times
are divided by it, except those of the CPU.
"""

import bisect
import itertools
import json
import math
import operator
import re
import statistics

import benchdata
import suitedb
import suitefs
import suiteplan
import suiteshare
import suitetarget

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99,
             "p99_9": 0.999, "p99_99": 0.9999}
# From the furthest out.
TAILS = ("p99_99", "p99_9", "p99", "p95", "p90", "p50")
# Samples that have to lie beyond a percentile.
SAMPLES_BEYOND = benchdata.SAMPLES_BEYOND
CDF_POINTS = 200
# A guest that is busier than this under none measures its CPU as well.
CPU_SHARE_MAX = 0.25
# Largest relative difference between two runs of the same seed.
REPEAT_LIMIT = 0.005
# Files that the guest leaves of every run, without which checks would find
# nothing wrong: those that may be empty, and those that may not.
MAY_BE_EMPTY = ("settings", "dmesg")
NOT_EMPTY = ("inflight", "stat-before", "stat-after", "device-stats")
# The range of a value in a file that rounds.
SETTING_TOLERANCE = 0.01


# --- percentiles -------------------------------------------------------------

def quantile(ordered, share):
    """The smallest sample that `share` of the samples do not exceed."""
    # 0.99 * 5000 is 4950, whatever floating point says.
    rank = math.ceil(share * len(ordered) - 1e-9)
    return ordered[max(0, rank - 1)]


def given(count, share):
    """Are there enough samples beyond this quantile to speak of it?"""
    return count > 0 and \
        count - math.ceil(share * count - 1e-9) >= SAMPLES_BEYOND


def interval(ordered, share):
    """[low, high]: where a quantile is, with 95 %, were samples independent.

    By order statistics. They are not quite independent, so it is rather more.
    """
    count = len(ordered)
    reach = 1.96 * math.sqrt(count * share * (1 - share))
    low, high = math.floor(share * count - reach), math.ceil(
        share * count + reach)
    return [ordered[max(0, low - 1)], ordered[min(count, high) - 1]]


def latency(samples):
    """The latency_s of a job, from its raw latencies in seconds."""
    ordered = sorted(samples)
    count = len(ordered)
    return {
        "count": count,
        "mean": statistics.fmean(ordered) if count else None,
        "max": ordered[-1] if count else None,
        **{name: quantile(ordered, share) if given(count, share) else None
           for name, share in QUANTILES.items()},
        "intervals": {name: interval(ordered, share)
                      for name, share in QUANTILES.items()
                      if given(count, share)},
    }


def histogram(ends, counts, total):
    """latency() of latencies that were counted by classes, and their deviation.

    ends: upper ends of the classes, s; total: the sum of all, s. A percentile and the
    largest are the upper end of their class.
    """
    count = sum(counts)
    found = {"count": count, "mean": None, "max": None, "stddev": None,
             **dict.fromkeys(QUANTILES), "intervals": {}}
    if not count:
        return found
    sums = list(itertools.accumulate(counts))
    middles = [(low + high) / 2 for low, high in zip([0.0, *ends], ends)]
    centre = sum(map(operator.mul, middles, counts)) / count
    found.update({
        "mean": total / count,
        "stddev": math.sqrt(sum(number * (middle - centre) ** 2 for middle, number in
                                zip(middles, counts)) / count),
        "max": ends[bisect.bisect_left(sums, count)],
        **{name: ends[bisect.bisect_left(sums, math.ceil(share * count - 1e-9))]
           for name, share in QUANTILES.items() if given(count, share)}})
    return found


def cdf(samples):
    """[[quantile, seconds]], as far out as samples allow."""
    ordered = sorted(samples)
    count = len(ordered)
    shares = [n / CDF_POINTS for n in range(1, CDF_POINTS)]
    shares += [1 - 10 ** -(2.5 + n / 8) for n in range(16)]
    return [[round(share, 7), quantile(ordered, share)] for share in shares
            if given(count, share)] or None


def tail_of(latency_s):
    """(name, value) of the furthest percentile there is; (None, None)."""
    for name in TAILS:
        if latency_s.get(name) is not None:
            return name, latency_s[name]
    return None, None


# --- raw files ---------------------------------------------------------------

def lat_log(text, way=None):
    """Latencies in guest ns of a fio latency log, of one direction or all."""
    found = []
    for line in text.splitlines():
        words = line.split(",")
        if len(words) < 4:
            raise ValueError(f"no line of a latency log: {line!r}")
        if way is None or words[2].strip() == ("0" if way == "read" else "1"):
            found.append(int(words[1]))
    return found


def device_stats(text, scale):
    """flashsim's stats; times of the device, not of the guest."""
    found = {}
    for line in text.splitlines():
        key, _, value = line.partition(" ")
        if not re.fullmatch(r"-?\d+", value):
            found[key] = value
        elif key.endswith("_ns"):
            found[key] = int(value) // scale
        else:
            found[key] = int(value)
    return found


def series(text, scale):
    """(series, chips) of flashsim's series, (None, None) where it has none."""
    lines = text.split()
    if len(lines) < 3:
        return None, None
    names = lines[0].split(",")
    rows = [[int(word) for word in line.split(",")] for line in lines[1:]]
    rows = [dict(zip(names, row)) for row in rows if len(row) == len(names)]
    # t_ms is where a row begins or ends; how long it is, the difference.
    period = (rows[1]["t_ms"] - rows[0]["t_ms"]) / 1e3 / scale \
        if len(rows) > 1 else 0
    if period <= 0:
        return None, None

    def rate(key):
        return [round(row[key] / period, 3) for row in rows]
    result = {
        "period_s": period,
        "t_s": [round(row["t_ms"] / 1e3 / scale, 6) for row in rows],
        "read_bytes_per_s": rate("read_bytes"),
        "write_bytes_per_s": rate("write_bytes"),
        "read_iops": rate("reads"), "write_iops": rate("writes"),
        "gc_copies": [row["gc_copies"] for row in rows],
    }
    chips = sorted((n for n in names if re.fullmatch(r"c\d+", n)),
                   key=lambda n: int(n[1:]))
    return result, {"period_s": period, "busy_permille": [
        [row[name] for name in chips] for row in rows]} if chips else None


def jobs(fio, raw, run):
    """The jobs of a record, from fio's JSON and the latency logs."""
    scale, found = run["time_scale"], []
    for number, job in enumerate(fio["jobs"], 1):
        critical = job["jobname"] in run["latency"]
        parts = [(way, job[way]) for way in ("read", "write")
                 if job[way]["total_ios"]]
        operation = "+".join(way for way, _ in parts) or "none"
        ios = sum(part["total_ios"] for _, part in parts)
        size = sum(part["io_bytes"] for _, part in parts)
        runtime = max((part["runtime"] for _, part in parts), default=0) / 1e3
        samples = None
        if critical:
            name = f"{job['jobname']}_lat.{number}.log"
            text = raw.get(name)
            if text is None:
                raise ValueError(f"no {name}")
            samples = [value / 1e9 / scale for value in lat_log(text)]
            summary = latency(samples)
        else:
            count = sum(part["lat_ns"]["N"] for _, part in parts)
            mean = sum(part["lat_ns"]["mean"] * part["lat_ns"]["N"]
                       for _, part in parts) / count if count else None
            # From fio's buckets no percentile is taken.
            summary = {
                "count": count,
                "mean": mean / 1e9 / scale if count else None,
                "max": max(p["lat_ns"]["max"] for _, p in parts) / 1e9 / scale
                if count else None, **dict.fromkeys(QUANTILES),
                "intervals": {}}
        found.append({
            "name": job["jobname"],
            "role": "latency" if critical else "throughput",
            "operation": operation, "ios": ios, "bytes": size,
            "runtime_s": runtime / scale,
            "iops": ios * scale / runtime if runtime else 0.0,
            "bandwidth_bytes_per_s":
                size * scale / runtime if runtime else 0.0,
            "latency_s": summary,
            "cdf": cdf(samples) if samples else None,
            **({"by_way": {way: part["io_bytes"] for way, part in parts}}
               if run.get("fs") else {}),
        })
    return found


def by_way(fio, raw, run):
    """{direction: {"latency_s"}} of jobs that read and write, from their logs."""
    found = {"read": [], "write": []}
    for number, job in enumerate(fio["jobs"], 1):
        if job["jobname"] in run["latency"] and all(
                job[way]["total_ios"] for way in found):
            text = raw[f"{job['jobname']}_lat.{number}.log"]
            for way, samples in found.items():
                samples += [value / 1e9 / run["time_scale"]
                            for value in lat_log(text, way)]
    return {way: {"latency_s": latency(samples)} if samples else {}
            for way, samples in found.items()}


def mean_of(fio, way, scale):
    """Mean latency of all reads or writes, s of the device; None: none."""
    parts = [job[way]["lat_ns"] for job in fio["jobs"]
             if job[way].get("total_ios") and "lat_ns" in job[way]]
    count = sum(part["N"] for part in parts)
    return sum(part["mean"] * part["N"] for part in parts) / count / 1e9 / \
        scale if count else None


def disk_means(raw, scale):
    """{direction: mean latency} by the block layer, s of the device.

    From a request's arrival to its end, as /sys/block/DISK/stat sums it up,
    milliseconds of the guest: for a replay, where fio does not look when a
    request ends.
    """
    before, after = ([int(word) for word in raw[key].split()]
                     for key in ("stat-before", "stat-after"))
    found = {}
    for way, at in (("read", 0), ("write", 4)):
        count = after[at] - before[at]
        found[way] = {"latency_mean_s": (after[at + 3] - before[at + 3]) /
                      count / 1e3 / scale if count else None}
    return found


def total(fio, found):
    """The total of a record."""
    rates = {}
    for way in ("read", "write"):
        rates[way] = 0.0
        for job, own in zip(fio["jobs"], found):
            if own["runtime_s"]:
                rates[way] += job[way]["io_bytes"] / own["runtime_s"]
    return {
        "ios": sum(job["ios"] for job in found),
        "bytes": sum(job["bytes"] for job in found),
        "iops": sum(job["iops"] for job in found),
        "bandwidth_bytes_per_s": rates["read"] + rates["write"],
        "read_bandwidth_bytes_per_s": rates["read"],
        "write_bandwidth_bytes_per_s": rates["write"],
    }


def cpu(text, cpus, ios):
    """The cpu of a record: what the guest did not idle away."""
    points = [[float(word) for word in line.split()]
              for line in text.splitlines()]
    if len(points) != 2:
        return {"busy_share": None, "busy_ns_per_io": None}
    elapsed = points[1][0] - points[0][0]
    # Ticks of 10 ms, of all CPUs together.
    busy = elapsed * cpus - (points[1][1] - points[0][1]) / 100
    if elapsed <= 0:
        return {"busy_share": None, "busy_ns_per_io": None}
    busy = max(0.0, busy)
    return {"busy_share": round(busy / elapsed / cpus, 6),
            "busy_ns_per_io": round(busy * 1e9 / ios) if ios else None}


def fio_json(text):
    """fio's own JSON; warnings may stand before it."""
    return json.loads(text[text.index("{"):])


def without_bulk(fio):
    """fio's JSON without the parts that are long and not used."""
    if isinstance(fio, dict):
        return {key: without_bulk(value) for key, value in fio.items()
                if key not in ("bins", "percentile", "latency_ns",
                               "latency_us", "latency_ms", "iodepth_level",
                               "iodepth_submit", "iodepth_complete",
                               "trim", "sync")}
    if isinstance(fio, list):
        return [without_bulk(value) for value in fio]
    return fio


# --- checks ------------------------------------------------------------------

def _check(passed, text, **figures):
    return {"passed": bool(passed), "text": text, **figures}


def setting(line):
    """(name, wanted, got) of a line that the guest has written, with tabs."""
    name, wanted, got = (line.split("\t") + ["", ""])[:3]
    return name, wanted, got


def settings_kept(text):
    """[what was not kept] of lines "name wanted got".

    Each setting has two: read when the run began, and when it was over.
    """
    wrong = []
    for line in text.splitlines():
        name, wanted, got = setting(line)
        try:
            near = abs(float(got) - float(wanted)) <= \
                SETTING_TOLERANCE * abs(float(wanted))
        except ValueError:
            near = got == wanted
        if not near:
            wrong.append(f"{name}: {got or 'nothing'} instead of {wanted}")
    return list(dict.fromkeys(wrong))


def weights_missing(text, run):
    """[weight of a tenant that was not read back at all] of such lines."""
    there = {setting(line)[:2] for line in text.splitlines()}
    found = []
    for name, weight, where in map(str.split, run.get("groups", [])):
        if where != "-" and (f"{where}/{name}", weight) not in there:
            found.append(f"{where}/{name}: nothing instead of {weight}")
    return found


def checks(raw, fio, found, stats, run):
    """{name: check} of a run."""
    result = {}
    status = int(raw.get("status") or -1)
    errors = [job["jobname"] for job in fio["jobs"] if job["error"]]
    wanted = int(run["env"].get("RT_IOS", 0) or 0)
    short = [job["name"] for job in found if job["role"] == "latency" and
             wanted and job["ios"] != wanted]
    missing = [job["name"] for job in found if job["role"] == "latency" and
               job["latency_s"]["count"] != job["ios"]]
    paused = [job["name"] for job in found if job["role"] == "latency" and
              job["latency_s"]["count"] > suiteplan.LOG_ENTRIES]
    result["completed"] = _check(
        status == 0 and found and not errors and not short and not missing
        and all(job["ios"] for job in found),
        "fio ended well, the latency-critical job made all its requests and "
        "has a raw latency for each", fio_status=status,
        requests_wanted=wanted, errors=errors)
    result["unpaused"] = _check(
        not paused, f"no job whose latencies are logged made more than "
        f"{suiteplan.LOG_ENTRIES} requests: fio pauses it then", paused=paused)
    issued = sum(job["ios"] for job in found)
    if "stat-before" in raw and "stat-after" in raw:
        counted = benchdata.disk_requests(raw["stat-after"]) - \
            benchdata.disk_requests(raw["stat-before"])
        result["accounted"] = _check(
            counted == issued, "the block layer has counted as many requests, "
            "merged ones included, as fio has issued", counted=counted,
            issued=issued)
    if stats:
        size = sum(job["bytes"] for job in found)
        moved = stats.get("read_bytes", 0) + stats.get("write_bytes", 0)
        result["device"] = _check(
            moved == size and not stats.get("outstanding"),
            "the device has moved as many bytes as fio, and holds no request",
            device_bytes=moved, fio_bytes=size,
            outstanding=stats.get("outstanding"))
    text = raw.get("settings", "")
    wrong = settings_kept(text) + weights_missing(text, run)
    result["settings"] = _check(
        not wrong, "the tunables read back as set, before the run and after "
        "it, and so do tenants' weights", wrong=wrong)
    trouble = benchdata.log_errors(raw.get("dmesg", ""))
    result["log_clean"] = _check(not trouble, "no error in the kernel's log",
                                 errors=trouble[:20])
    inflight = sum(map(int, raw.get("inflight", "0").split()))
    result["drained"] = _check(inflight == 0, "nothing in flight afterwards",
                               inflight=inflight)
    bound = benchdata.tunables(raw.get("tunables", "")).get("max_inflight")
    if run["scheduler"] == "k2" and bound and raw.get("stats-after") and \
            run["tunables"].get("policy", "static") == "static":
        own = benchdata.pairs(raw["stats-after"])
        peak, head = own.get("peak_inflight", 0), own.get("head", 0)
        # Parts of a flush are inserted at the head and ignore the bound, see
        # docs/liveness.md. A bare device gets none.
        result["bound_kept"] = _check(
            0 < peak <= int(bound) + (head if run.get("fs") else 0),
            "k2 never had more in flight than the bound and, with a file "
            "system, the requests inserted at the head", bound=int(bound),
            peak_inflight=peak, head=head)
    return result


def replayed(fio, trace):
    """The check of a run that replays a trace."""
    seen = {way: sum(job[way]["total_ios"] for job in fio["jobs"])
            for way in ("read", "write")}
    return _check(
        seen["read"] == trace["reads"] and seen["write"] == trace["writes"],
        "fio has made as many reads and writes as the log has", **{
            f"{way}s_wanted": trace[f"{way}s"] for way in seen}, **{
            f"{way}s": count for way, count in seen.items()})


def open_loop(stats, run):
    """The check that a replay does not wait for its own requests.

    Of none alone: a scheduler may well give a drive one at a time.
    """
    most = stats.get("outstanding_max", 0)
    return _check(run["scheduler"] != "none" or most > 1,
                  "under none more than one request was in the drive at once",
                  outstanding_max=most)


# --- a run -------------------------------------------------------------------

def evaluate(raw, run, machine, trace=None):
    """Everything that is concluded from a run's raw files ({name: text}).

    ValueError or KeyError where there is nothing to conclude from.
    """
    missing = [name for name in MAY_BE_EMPTY if name not in raw]
    missing += [name for name in NOT_EMPTY if not raw.get(name)]
    if missing and run["profile"] != "real":
        raise ValueError(f"no {', '.join(missing)}")
    scale = run["time_scale"]
    files = {}
    if run.get("postmark"):
        files["postmark"] = suitefs.postmark(raw, run)
        fio = suitefs.as_fio(files["postmark"], scale)
    elif run.get("database"):
        databases = suitedb.evaluate(raw, run)
        files["database"] = suitedb.recorded(databases)
        fio = suitedb.as_fio(databases, scale)
    else:
        fio = fio_json(raw.get("fio", ""))
    found = jobs(fio, raw, run)
    stats = device_stats(raw.get("device-stats", ""), scale)
    rows, chips = series(raw.get("series", ""), scale)
    judged = checks(raw, fio, found, stats, run)
    if run.get("fs"):
        files["block_layer"] = suitefs.blocks(raw)
        judged.update({name: _check(*verdict[:2], **verdict[2]) for
                       name, verdict in suitefs.checks(
                           raw, found, stats, run).items()})
    if run.get("order_log"):
        files["issue"] = suitefs.issue(raw.get("order", ""))
    share = {}
    if run.get("tenants"):
        # Here, not above: what has no tenants needs no numpy.
        import sharedata  # pylint: disable=import-outside-toplevel
        each = suiteshare.of_counts(found, {
            name: histogram(*suitedb.latencies(one, scale))
            for name, one in databases.items()}) if run.get("database") else \
            suiteshare.of_tenants(found, [
                [value / 1e9 / scale for value in lat_log(
                    raw[f"{job['jobname']}_lat.{number}.log"])]
                for number, job in enumerate(fio["jobs"], 1)],
                run["tenants"], latency)
        share, more = sharedata.evaluate(raw, run, stats, *each)
        judged.update(more)
    if trace:
        judged["replayed"] = replayed(fio, trace)
        judged["open_loop"] = open_loop(stats, run)
        # fio does not count what it has not looked at when the log ends.
        moved = stats.get("read_bytes", 0) + stats.get("write_bytes", 0)
        judged["device"] = _check(
            moved == trace["bytes"] and not stats.get("outstanding"),
            "the device has moved as many bytes as the log has, and holds no "
            "request", device_bytes=moved, log_bytes=trace["bytes"],
            outstanding=stats.get("outstanding"))
    sums = total(fio, found)
    own = suitefs.scheduler_stats(
        run["scheduler"], *(benchdata.pairs(raw.get(key, "")) for key in
                            ("stats-before", "stats-after"))) \
        if run["scheduler"] in suiteplan.OURS and raw.get("stats-after") \
        else {}
    if run.get("calibrate"):
        passed, text, figures = suitetarget.calibrated(raw, own, run)
        judged["calibrated"] = _check(passed, text, **figures)
    if run.get("target"):
        share["target"] = suitetarget.evaluate(raw, run, fio, rows, own)
    return {
        "jobs": found, "total": sums,
        "directions": disk_means(raw, scale) if trace else {
            way: {"latency_mean_s": mean_of(fio, way, scale), **more}
            for way, more in by_way(fio, raw, run).items()},
        "device_stats": stats,
        "series": rows, "chips": chips,
        "cpu": cpu(raw.get("cpu", ""), int(machine.get("cpus", 1)),
                   sums["ios"]),
        "scheduler_tunables": benchdata.tunables(raw.get("tunables", "")),
        "scheduler_stats": own,
        **share, **files,
        "checks": judged,
        "passed": all(check["passed"] for check in judged.values()),
        "fio": without_bulk(fio),
    }


def order_of(params):
    """(order, alloc, map) that a device was given or has by default."""
    mapping = "none"
    if params.get("alloc", "static") == "static":
        mapping = params.get("layout") or params.get("stripe", "CWD")
        if params.get("xor"):
            mapping += f" xor {params['xor']}"
        if params.get("offset_sectors", "0") != "0":
            mapping += f" offset {params['offset_sectors']}"
    return params.get("order", "chip_fifo"), params.get("alloc", "static"), \
        mapping


# --- over runs ---------------------------------------------------------------

# A scheduler's counts for each direction, by the names that they may have
WAITED = "waited_{}s"
WAIT_US = "wait_{}_us"


def direction_metrics(record):
    """{metric: value or None}: reads and writes apart, and what piq counts.

    Conflicts: the share of requests that found one ahead of them on one of
    their chips. Wait: the time that these waited in the scheduler, over all
    requests of their direction; s of the device.
    """
    found = {}
    stats = record.get("scheduler_stats") or {}
    device = record.get("device_stats") or {}
    for way in ("read", "write"):
        count = device.get(f"{way}s")
        mean = record.get("directions", {}).get(way, {}).get(
            "latency_mean_s")
        waited = stats.get(WAITED.format(way))
        wait_us = stats.get(WAIT_US.format(way))
        found[f"{way}_latency_mean_s"] = mean
        found[f"{way}_conflict_share"] = waited / count \
            if waited is not None and count else None
        found[f"{way}_wait_mean_s"] = wait_us / 1e6 / count / \
            record["time_scale"] if wait_us is not None and count else None
    first = stats.get("prioritised_reads")
    found["prioritised_share"] = first / device["reads"] \
        if first is not None and device.get("reads") else None
    batches, batched = stats.get("batches"), stats.get("batched")
    found["batch_size"] = batched / batches if batches and batched else None
    return found


def metrics(record):
    """{metric: value or None} of a record, the ones that cells compare."""
    critical = [job for job in record["jobs"] if job["role"] == "latency"]
    found = {
        "ios": record["total"].get("ios"),
        "iops": record["total"]["iops"],
        "bandwidth_bytes_per_s": record["total"]["bandwidth_bytes_per_s"],
        "busy_share": record["cpu"]["busy_share"],
        "busy_ns_per_io": record["cpu"]["busy_ns_per_io"],
        "wa_milli": record["device_stats"].get("wa_milli"),
        "utilisation_milli": record["device_stats"].get("utilisation_milli"),
    }
    found.update(direction_metrics(record))
    found.update({f"{way}_bandwidth_bytes_per_s": record["total"].get(
        f"{way}_bandwidth_bytes_per_s") for way in ("read", "write")})
    found.update(suiteshare.metrics(record))
    found.update(suitefs.metrics(record))
    found.update(suitetarget.metrics(record))
    # With several critical jobs it is the worst that counts.
    for name in ("count", "mean", "max", *QUANTILES):
        values = [job["latency_s"][name] for job in critical]
        found[f"latency_{name}" + ("" if name == "count" else "_s")] = \
            (min if name == "count" else max)(values) \
            if values and None not in values else None
    for name in QUANTILES:
        known = [job["latency_s"].get("intervals", {}).get(name)
                 for job in critical]
        for n, end in enumerate(("low", "high")):
            found[f"latency_{name}_{end}_s"] = max(
                known, key=lambda pair: pair[1])[n] \
                if known and None not in known else None
    return found


def spread(values):
    """{median, min, max, of several also values}; None if one of the values is unknown."""
    if not values or None in values:
        return None
    return {"median": statistics.median(values), "min": min(values),
            "max": max(values), **({"values": values} if len(values) > 1 else {})}


# Metrics that are compared by pairs of the same seed
BY_SEED = ("iops", "bandwidth_bytes_per_s", "latency_p99_s")
# and where they are known
BY_SEED_TOO = ("read_bandwidth_bytes_per_s", "write_bandwidth_bytes_per_s",
               "read_latency_p99_s", "transactions_per_s")
CELL_KEYS = ("cell", "workload", "scheduler", "label", "tunables", "profile",
             "variant", "order", "alloc", "map", "time_scale")


def cells(records):
    """A dict a cell: what it is, its seeds, its metrics over the seeds."""
    groups = {}
    for record in records:
        groups.setdefault(record["cell"], []).append(record)
    found = []
    for group in groups.values():
        # Of each seed the first repetition that there is
        first = {record["seed"]: record for record in sorted(
            group, key=lambda record: -record.get("repeat", 1))}
        first = [first[seed] for seed in sorted(first)]
        figures = [metrics(record) for record in first]
        found.append({
            **{key: group[0][key] for key in CELL_KEYS},
            "seeds": sorted({record["seed"] for record in group}),
            "runs": len(group),
            "passed": all(record["passed"] for record in group),
            "by_seed": {str(record["seed"]): {
                **{name: figure[name] for name in BY_SEED},
                **{name: figure[name] for name in BY_SEED_TOO
                   if name in figure}}
                for record, figure in zip(first, figures)},
            "metrics": {name: spread([figure.get(name) for figure in figures])
                        for name in figures[0]},
        })
    return found


# --- the same run twice ------------------------------------------------------

def difference(one, other):
    """Relative difference of two figures; None if one is missing."""
    if one is None or other is None:
        return None
    if one == other:
        return 0.0
    return abs(one - other) / max(abs(one), abs(other))


def differences(first, second):
    """The difference of two records of the same run.

    {id, iops, tail, percentile}; the furthest percentile both have, up to p99.
    """
    one, other = metrics(first), metrics(second)
    percentile = next((name for name in TAILS
                       if name != "p99_99" and name != "p99_9" and
                       one[f"latency_{name}_s"] is not None and
                       other[f"latency_{name}_s"] is not None), None)
    return {
        "id": first["id"], "percentile": percentile,
        "iops": difference(one["iops"], other["iops"]),
        "tail": difference(one[f"latency_{percentile}_s"],
                           other[f"latency_{percentile}_s"])
        if percentile else None,
    }


def repeats(records):
    """Differences between a run and its repetitions."""
    first = {(r["cell"], r["seed"]): r for r in records
             if r.get("repeat", 1) == 1}
    return [differences(first[key], record) for record in records
            if record.get("repeat", 1) > 1 and
            (key := (record["cell"], record["seed"])) in first]


def compare(first, second):
    """Differences between two lists of records, by id."""
    others = {record["id"]: record for record in second}
    return [differences(record, others[record["id"]]) for record in first
            if record["id"] in others]


def largest(found):
    """{"iops": (value, id), "tail": (value, id)} of differences."""
    return {key: max(((d[key], d["id"]) for d in found
                      if d[key] is not None), default=(None, ""))
            for key in ("iops", "tail")}


def scale_for(iops, busy_ns_per_io, share=CPU_SHARE_MAX):
    """The smallest power of two at which the CPU is busy for that share.

    iops: what the device does at scale 1, were there no CPU in its way.
    """
    scale = 1
    while iops * busy_ns_per_io / 1e9 / scale > share and scale < 4096:
        scale *= 2
    return scale


