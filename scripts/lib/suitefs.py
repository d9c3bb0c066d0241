# SPDX-License-Identifier: GPL-2.0
"""Suites with jobs that use files: the suite's settings, and the guest's.

Each run has an ext4 that was just made. Its files have blocks that count as
written but never were: a read of them is the device's work, and making them
costs nothing. A job is fio's or, as a file of commands, PostMark's.
"""

import re

from suitetables import Int, Text, words

# Where the guest mounts it
MOUNT = "/mnt/suite"
# Keys of a workload
KEYS = {
    "fs": words("ext4"), "files": Int(1, 64), "file_mb": Int(1, 65536),
    "memory": Text(r"\d{1,5}[MG]", "a size such as 2G"),
    "order_log": Int(1, 4194304)}
POSTMARK = ".postmark"
# The page cache may have answered some reads, where places are drawn with
# repetitions; and have gathered some writes.
MOVED_MIN = 0.8
# Requests, or sectors, counted twice or not at all while the files are released: a
# share, and a number
ACCOUNTED = (0.01, 8)
# A scheduler's counters: selected before the files are made, it has counted
# that, too. Values that are not listed here are of one moment.
COUNTERS = {"layer_read": (
    "rebuilt", "served_reads", "served_writes", "expired_reads",
    "expired_writes", "switches", "moves")}
# Settings that no time scale changes
UNSCALED = ("the kernel's writeback measures a disk's speed every 200 ms and "
            "lets writers wait for 200 ms at most",)
_SUFFIX = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "": 1}
# For the estimate of how long PostMark takes: operations on each file of its
# pool, what one is in requests of 16 KiB, and bytes
POSTMARK_OPS, POSTMARK_COST, POSTMARK_BYTES = 2, 5, 30720


# --- the suite ---------------------------------------------------------------

def check(found, needed):
    """A pair of settings that exclude each other: (key, what is wanted), or None."""
    if "MOUNT" in needed and "fs" not in found:
        return "fs", "ext4, as the job file uses ${MOUNT}"
    if "fs" in found and "MOUNT" not in needed:
        return "fs", "a job file that uses ${MOUNT} with it"
    for one, other in (("files", "file_mb"), ("file_mb", "files")):
        if one in found and other not in found:
            return other, f"a number, as there is {one}"
    if "files" in found and "fs" not in found:
        return "fs", "ext4, as there are files"
    return None


def described(found):
    """The run's record of it; {} if it has none."""
    result = {}
    if "fs" in found:
        result["fs"] = {"type": found["fs"],
                        "files": int(found.get("files", 0)),
                        "file_mb": int(found.get("file_mb", 0))}
    if "memory" in found:
        result["memory"] = found["memory"]
    if "order_log" in found:
        result["order_log"] = int(found["order_log"])
    return result


def size(text):
    """Bytes of fio's 512k."""
    match = re.fullmatch(r"(\d+)([kmg]?)", text.lower())
    return int(match[1]) * _SUFFIX[match[2]] if match else None


def mean_size(section, fill):
    """Mean bytes of a job's requests, None if it does not say."""
    split = fill(section.get("bssplit", "")).split(",")[0]
    if split:
        parts = [part.split("/") for part in split.split(":")]
        sizes = [(size(part[0]), part[1]) for part in parts if len(part) == 2]
        if len(sizes) < len(parts) or any(
                one is None or not share.isdigit() for one, share in sizes):
            return None
        return sum(one * int(share) for one, share in sizes) / 100
    return size(fill(section.get("bs", "4k")))


def expected(sections, env, postmark):
    """[requests, bytes] of a run, None if that is not known."""
    def fill(text):
        return re.sub(r"\$\{(\w+)\}", lambda m: str(env.get(m[1], m[0])), text)
    if postmark:
        ops = int(env["FILES"]) * POSTMARK_OPS + int(env["TRANSACTIONS"])
        return [ops * POSTMARK_COST, ops * POSTMARK_BYTES]
    if len(sections) != 1:
        return None
    section, = sections.values()
    count, jobs = (fill(section.get(key, default)) for key, default in
                   (("number_ios", ""), ("numjobs", "1")))
    each = mean_size(section, fill)
    if not count.isdigit() or not jobs.isdigit() or each is None:
        return None
    return [int(count) * int(jobs), int(count) * int(jobs) * each]


def run_files(run):
    """{name: text} for the guest."""
    found = {}
    if run.get("fs"):
        fs = run["fs"]
        found["fs"] = f"{fs['files']} {fs['file_mb']} {run['time_scale']}\n"
    if run.get("postmark"):
        env = {**run["env"], "SEED": run["seed"], "MOUNT": MOUNT}
        found["job.postmark"] = re.sub(
            r"\$\{(\w+)\}", lambda m: str(env[m[1]]), run["job_text"])
    if run.get("order_log"):
        found["order"] = ""
    return found


# --- a run -------------------------------------------------------------------

_SAID = {
    "seconds": r"(\d+) seconds total",
    "transaction_seconds": r"(\d+) seconds of transactions",
    "created": r"(\d+) created \(", "read": r"(\d+) read \(",
    "appended": r"(\d+) appended \(", "deleted": r"(\d+) deleted \(",
    "read_mb": r"([\d.]+) (mega|kilo)?bytes read \(",
    "written_mb": r"([\d.]+) (mega|kilo)?bytes written \("}
_UNITS = {"mega": 1 << 20, "kilo": 1 << 10, None: 1}


def postmark(raw, run):
    """Times of the device by PostMark and by the clock.

    Its own seconds are whole ones of the guest; `elapsed_s` is from its start
    to its end. ValueError if it did not complete.
    """
    text = raw.get("postmark", "")
    found = {}
    for key, pattern in _SAID.items():
        match = re.search(pattern, text)
        if not match:
            raise ValueError(f"PostMark does not say {key}")
        found[key] = int(match[1]) if match.lastindex == 1 else \
            float(match[1]) * _UNITS[match[2]]
    begin, end = (float(line.split()[0]) for line in
                  raw["cpu"].splitlines()[:2])
    scale = run["time_scale"]
    wanted = int(run["env"]["TRANSACTIONS"])
    elapsed = (end - begin) / scale
    return {
        "files": int(run["env"]["FILES"]), "transactions": wanted,
        **{key: found[key] for key in ("created", "read", "appended",
                                       "deleted")},
        "read_bytes": round(found["read_mb"]),
        "written_bytes": round(found["written_mb"]),
        "elapsed_s": elapsed,
        "said_s": found["seconds"] / scale,
        "said_transactions_s": found["transaction_seconds"] / scale,
        "transactions_per_s": wanted / elapsed if elapsed > 0 else None}


def as_fio(found, scale):
    """PostMark's work, in fio's terms."""
    runtime = round(found["elapsed_s"] * scale * 1000)
    none = {"N": 0, "mean": 0.0, "max": 0}
    return {"jobs": [{
        "jobname": "postmark", "error": 0,
        "read": {"total_ios": found["read"], "io_bytes": found["read_bytes"],
                 "runtime": runtime, "lat_ns": none},
        "write": {"total_ios": found["created"] + found["appended"],
                  "io_bytes": found["written_bytes"], "runtime": runtime,
                  "lat_ns": none}}]}


def blocks(raw):
    """{direction: requests, merged, sectors}: the block layer's, over a run."""
    before, after = ([int(word) for word in raw[key].split()]
                     for key in ("stat-before", "stat-after"))
    return {way: {"requests": after[at] - before[at],
                  "merged": after[at + 1] - before[at + 1],
                  "sectors": after[at + 2] - before[at + 2]}
            for way, at in (("read", 0), ("write", 4))}


def issue(text):
    """The order in which the device got its requests, None without a log.

    turns: requests with another direction than the one before; adjacent: those
    that begin where the one before of their direction ended.
    """
    words_ = text.split()
    if len(words_) != 3:
        return None
    return dict(zip(("requests", "turns", "adjacent"), map(int, words_)))


def scheduler_stats(name, before, after):
    """A scheduler's stats of the run alone."""
    return {key: value - before.get(key, 0)
            if key in COUNTERS.get(name, ()) else value
            for key, value in after.items()}


def checks(raw, found, stats, run):
    """{name: (passed, text, figures)} in place of those of a bare device."""
    result = {}
    unit = "requests"
    counted = sum(one["requests"] for one in blocks(raw).values())
    served = stats.get("reads", 0) + stats.get("writes", 0)
    if stats.get("flushes"):
        # The block layer counts a flush without data as a write.
        unit = "sectors"
        counted = sum(one["sectors"] for one in blocks(raw).values())
        served = (stats["read_bytes"] + stats["write_bytes"]) // 512
    share, few = ACCOUNTED
    result["accounted"] = (
        abs(counted - served) <= share * served + few,
        f"the block layer has counted as many {unit} as the device",
        {"counted": counted, "served": served})
    moved = {way: stats.get(f"{way}_bytes", 0) for way in ("read", "write")}
    asked = {"read": 0, "write": 0}
    for job in found:
        for way in asked:
            asked[way] += job.get("by_way", {}).get(way, 0)
    held = run.get("postmark")
    result["device"] = (
        not stats.get("outstanding") and (held or all(
            moved[way] >= MOVED_MIN * asked[way] for way in asked)),
        "the device holds no request" + ("" if held else
                                         f", and has moved {MOVED_MIN:.0%} "
                                         "of what fio has, or more"),
        {"device_bytes": moved, "fio_bytes": asked,
         "outstanding": stats.get("outstanding")})
    return result


def metrics(record):
    """{metric: value or None} of a record; {} where nothing is known."""
    found = {}
    device = record.get("device_stats") or {}
    order, layer = record.get("issue"), record.get("block_layer")
    for way in ("read", "write"):
        if layer or order:
            count = device.get(f"{way}s")
            found[f"{way}_request_bytes"] = \
                device[f"{way}_bytes"] / count if count else None
            found[f"{way}_die_wait_s"] = \
                device[f"wait_{way}_ns"] / 1e9 / count \
                if count and f"wait_{way}_ns" in device else None
        if layer:
            one = layer[way]
            everyone = one["requests"] + one["merged"]
            found[f"{way}_merged_share"] = one["merged"] / everyone \
                if everyone else None
        split = record["directions"][way].get("latency_s") \
            if record.get("directions") else None
        if split:
            found.update({f"{way}_latency_{key}_s": split[key]
                          for key in ("p50", "p95", "p99", "max")})
    if layer or order:
        found["outstanding_max"] = device.get("outstanding_max")
        # Including I/O that fio does not ask for: readahead, the file system's own
        found["active_bytes_per_s"] = \
            sum(device.get(f"{way}_bytes", 0) for way in ("read", "write")) \
            * 1e9 / device["active_ns"] if device.get("active_ns") else None
    if order and order["requests"]:
        found["turns_per_1000"] = 1000 * order["turns"] / order["requests"]
        found["adjacent_share"] = order["adjacent"] / order["requests"]
    if record.get("postmark"):
        found["transactions_per_s"] = record["postmark"]["transactions_per_s"]
    stats = record.get("scheduler_stats") or {}
    if record.get("scheduler") == "layer_read" and stats:
        served = stats["served_reads"] + stats["served_writes"]
        for key in ("switches", "moves", "expired_reads", "expired_writes"):
            found[f"{key}_per_1000"] = 1000 * stats[key] / served \
                if served else None
    return found
