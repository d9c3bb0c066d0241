# SPDX-License-Identifier: GPL-2.0
"""The conclusions of scripts/bench from a run's raw files. No I/O but reading.

Two kinds of results, kept apart throughout: counts and orders, which are exact
whatever the machine was doing, and wall-clock times, which on an emulated
machine compare nothing.
"""

import collections
import json
import re
from dataclasses import dataclass, field

import reports

# A percentile read from fewer samples beyond it is an anecdote.
SAMPLES_BEYOND = 50
# No completion for this long, in guest time, with requests outstanding ...
STALL_SECONDS = 1.0
# ... seen by this many samples: with fewer the guest itself did not get to
# run, and about the scheduler nothing is known.
STALL_SAMPLES = 5

# The job files give the real-time job the last quarter of the device.
RT_OFFSET_PCT = 75


def pairs(text):
    """{key: number} of "key value" lines."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) != 2 or not re.fullmatch(r"-?\d+", words[1]):
            raise ValueError(f"no 'key number' line: {line!r}")
        found[words[0]] = int(words[1])
    return found


def tunables(text):
    """{name: value as text} of "name value" lines."""
    return dict(line.split(" ", 1) for line in text.splitlines()
                if re.match(r"\w+ .", line))


def percentile(latency, percent):
    """Seconds, or None where fewer than SAMPLES_BEYOND samples lie beyond."""
    beyond = latency["N"] * (100 - percent) / 100
    # 5000 * 1 % is 50, whatever floating point says.
    if beyond + 1e-6 < SAMPLES_BEYOND:
        return None
    value = latency.get("percentile", {}).get(f"{percent:.6f}")
    return None if value is None else value / 1e9


def fio_jobs(text):
    """The parts of fio's JSON that are judged, one entry a job.

    fio prints warnings into its output file too, before the JSON.
    """
    data = json.loads(text[text.index("{"):])
    jobs = []
    for job in data["jobs"]:
        way = "write" if job["write"]["total_ios"] else "read"
        part = job[way]
        jobs.append({
            "name": job["jobname"],
            "operation": way,
            "error": job["error"],
            "issued": part["total_ios"],
            "completed": part["clat_ns"].get("N", 0),
            "short": part["short_ios"],
            "dropped": part["drop_ios"],
            "bytes": part["io_bytes"],
            "runtime_ms": job["job_runtime"],
            "wall_clock": {
                "bandwidth_bytes_per_s": part["bw_bytes"],
                "latency_mean_s": part["clat_ns"]["mean"] / 1e9,
                "latency_max_s": part["clat_ns"]["max"] / 1e9,
                "latency_p50_s": percentile(part["clat_ns"], 50),
                "latency_p99_s": percentile(part["clat_ns"], 99),
                "latency_p99_9_s": percentile(part["clat_ns"], 99.9),
            },
        })
    return jobs


def disk_requests(text):
    """Requests that a disk has finished, merged ones too, from its stat."""
    words = [int(word) for word in text.split()]
    # reads, reads merged; writes, writes merged
    return words[0] + words[1] + words[4] + words[5]


# --- stalls ---------------------------------------------------------------

@dataclass
class Pauses:
    """Times without a completion while the load ran, in guest seconds."""
    longest: float = 0.0
    stalls: list = field(default_factory=list)
    # Longest time between two samples: the guest stood still, not the disk.
    blind: float = 0.0
    samples: int = 0


def pauses(text, ended):
    """Judges samples ("time stat..." lines) of a run.

    From the first completion to the last one there is always a request
    outstanding: three jobs keep 96 of them. Where fio had to be killed
    (not `ended`) that holds to the last sample.
    """
    series = []
    for line in text.splitlines():
        when, _, stat = line.partition(" ")
        words = stat.split()
        # The last line may be half written: the sampler is killed.
        if len(words) >= 11:
            series.append((float(when), disk_requests(stat)))
    found = Pauses(samples=len(series))
    if not series:
        return found
    changes = [n for n in range(1, len(series))
               if series[n][1] != series[n - 1][1]]
    if not changes:
        if not ended:
            found.longest = series[-1][0] - series[0][0]
            found.stalls.append((series[0][0], found.longest))
        return found
    last = changes[-1] if ended else len(series) - 1
    begin = changes[0]
    for n in range(changes[0] + 1, last + 1):
        found.blind = max(found.blind, series[n][0] - series[n - 1][0])
        if series[n][1] == series[n - 1][1] and n < last:
            continue
        # Samples begin .. n-1 saw the same count: that long, at least.
        same = n if series[n][1] == series[n - 1][1] else n - 1
        length = series[same][0] - series[begin][0]
        found.longest = max(found.longest, length)
        if length > STALL_SECONDS and same - begin + 1 >= STALL_SAMPLES:
            found.stalls.append((series[begin][0], length))
        begin = n
    return found


# --- the order of requests ------------------------------------------------

_EVENT = re.compile(
    r"\[(\d+)\] \S+ +(\d+): (block_rq_(?:insert|issue|complete|requeue)|"
    r"k2take): (.*)")
_REQUEST = re.compile(r"^(\d+),(\d+) ([A-Z]+) .*?(\d+) \+ (\d+) ")
_WRITTEN = re.compile(r"entries-in-buffer/entries-written: (\d+)/(\d+)")


@dataclass
class Order:
    """The order of requests in a trace; all counts are exact."""
    events: int = 0
    # False: a buffer ran full, the rest of the run was not judged.
    whole: bool = True
    rt_inserted: int = 0
    rt_issued: int = 0
    # By which rule violations were counted: "take" knows when the scheduler
    # chose, "issue" has to allow for what is between that and the driver.
    rule: str = ""
    violations: int = 0
    examples: list = field(default_factory=list)
    # Best-effort requests issued while one real-time request was inserted
    # and not issued; None where the scheduler has no queue (none).
    overtaken_max: int = None
    overtaken_mean: float = None
    # Those of them that were issued when k2 had already chosen the real-time
    # one: what the block layer's batching and the CPUs' timing add.
    overtaken_chosen_max: int = None
    # Real-time requests that reached the driver after a best-effort one that
    # k2 had chosen later.
    undone: int = None
    # Requests in the device at the time a real-time one got there.
    ahead_max: int = None
    ahead_mean: float = None
    inflight_max: int = 0
    requeued: int = 0
    taken: int = 0
    taken_rt: int = 0


def events(text, dev):
    """(events, whole) of a trace; an event is (name, sector, sectors, line).

    A CPU's buffer that overflowed ends earlier than the others'; later events
    are left out.
    """
    major, minor = dev.split(":")
    found, last = [], {}
    written = _WRITTEN.search(text)
    for line in text.splitlines():
        match = _EVENT.search(line)
        if not match:
            continue
        cpu, count, name, rest = match.groups()
        last[cpu] = int(count)
        if name == "k2take":
            sector, sectors = rest.rpartition("sector=")[2], 0
        else:
            request = _REQUEST.match(rest)
            # Flushes and passthrough commands have neither R nor W.
            if not request or request[1] != major or request[2] != minor or \
                    not set("RW") & set(request[3]):
                continue
            sector, sectors = request[4], request[5]
        found.append((int(count), name, int(sector), int(sectors), line))
    found.sort(key=lambda event: event[0])
    whole = bool(written) and written[1] == written[2]
    if not whole and last:
        end = min(last.values())
        found = [event for event in found if event[0] <= end]
    return [event[1:] for event in found], whole


@dataclass
class _Waiting:
    """A real-time request between insert and issue."""
    at: int                 # its place in the trace
    issued: int = 0         # best-effort requests issued since
    taken: bool = False     # chosen by the scheduler
    chosen: int = 0         # when that was
    late: int = 0           # best-effort requests issued since then
    undone: bool = False    # one of them was chosen after it


def order(text, dev, disk_bytes, bound=None, taken=None):
    """Judges a trace. `bound`: of k2, else None and no rule is applied.

    The rule, if k2's own choices were traced and add up to `taken`, the
    requests it says it has dispatched: none of best effort is chosen while a
    real-time one is queued. Both events are recorded under k2's lock, so there
    is nothing to tolerate.

    Without them the rule has to allow for requests that were chosen before the
    real-time request was inserted and that reach the driver after it. It is a
    violation if
      - a best-effort request issued between insert and issue of a real-time
        one had itself been inserted later than that, or
      - more than `bound` were issued in between.
    """
    seen, whole = events(text, dev)
    result = Order(events=len(seen), whole=whole)
    border = disk_bytes * RT_OFFSET_PCT // 100 // 512
    takes = [event for event in seen if event[0] == "k2take"]
    result.taken = len(takes)
    result.taken_rt = sum(event[1] >= border for event in takes)
    inserts_rt = sum(event[0] == "block_rq_insert" and event[1] >= border
                     for event in seen)
    exact = bound is not None and bool(takes) and (
        not whole or (result.taken == taken and
                      result.taken_rt == inserts_rt))
    if bound is not None:
        result.rule = "take" if exact else "issue"

    inflight = 0
    undone = 0
    ahead, overtaken, late = [], [], []
    chosen = {}                                 # sector: place of the choice
    waiting = {}                                # sector: _Waiting
    pending = collections.defaultdict(list)     # sector: places of inserts
    origin = {}                                 # sector: place, once issued
    excused = collections.Counter()             # requeued: issued at once

    def violation(line):
        result.violations += 1
        if len(result.examples) < 5:
            result.examples.append(line.strip())

    for place, (name, sector, sectors, line) in enumerate(seen):
        real_time = sector >= border
        if name == "block_rq_insert":
            if real_time:
                result.rt_inserted += 1
                waiting[sector] = _Waiting(place)
            else:
                pending[sector].append(place)
        elif name == "k2take":
            if real_time:
                if sector in waiting:
                    waiting[sector].taken = True
                    waiting[sector].chosen = place
                continue
            chosen[sector] = place
            if excused[sector]:
                excused[sector] -= 1
            elif exact and any(not rt.taken for rt in waiting.values()):
                violation(line)
        elif name == "block_rq_issue":
            if real_time:
                result.rt_issued += 1
                ahead.append(inflight)
                rt = waiting.pop(sector, None)
                if rt:
                    overtaken.append(rt.issued)
                    late.append(rt.late)
                    undone += rt.undone
                    if result.rule == "issue" and rt.issued > bound:
                        violation(line)
            else:
                # A request may hold several that were inserted: it stands
                # where the first of them stood.
                own = [pending[at].pop(0)
                       for at in range(sector, sector + sectors, 8)
                       if pending.get(at)]
                first = min(own, default=None)
                if first is None:
                    first = origin.get(sector)
                origin[sector] = first
                for rt in waiting.values():
                    rt.issued += 1
                    rt.late += rt.taken
                    if rt.taken and chosen.get(sector, 0) > rt.chosen:
                        rt.undone = True
                    if result.rule == "issue" and first is not None and \
                            first > rt.at:
                        violation(line)
            inflight += 1
            result.inflight_max = max(result.inflight_max, inflight)
        elif name == "block_rq_complete":
            inflight -= 1
        elif name == "block_rq_requeue":
            inflight -= 1
            result.requeued += 1
            if not real_time:
                excused[sector] += 1
    # Under "none" most requests are issued to the driver without ever being
    # queued: the figures of the few others mean nothing.
    if overtaken and len(overtaken) == result.rt_issued:
        result.overtaken_max = max(overtaken)
        result.overtaken_mean = sum(overtaken) / len(overtaken)
        if exact:
            result.overtaken_chosen_max = max(late)
            result.undone = undone
    if ahead:
        result.ahead_max = max(ahead)
        result.ahead_mean = sum(ahead) / len(ahead)
    return result


# --- the kernel's log -----------------------------------------------------

def log_errors(text):
    """Lines of `dmesg -r` that are errors, and reports like a WARN."""
    errors, plain = [], []
    for line in text.splitlines():
        match = re.match(r"<(\d+)>(.*)", line)
        level, message = (int(match[1]) & 7, match[2]) if match else (7, line)
        plain.append(message)
        if level <= 3:
            errors.append(message.strip())
    for report in reports.scan("\n".join(plain)):
        errors.append(f"{report.kind}: {report.lines[0].strip()}")
    return errors


# --- a run ----------------------------------------------------------------

def _check(passed, text, **figures):
    return {"passed": bool(passed), "text": text, **figures}


def checks(raw, jobs, requests, pause, seen, bound):
    """{name: check} of a run; a check has passed, text and its figures."""
    found = {}
    rt = next((job for job in jobs if job["name"] == "rt"), None)
    open_jobs = [job["name"] for job in jobs
                 if job["error"] or job["issued"] != job["completed"] or
                 job["short"] or job["dropped"] or not job["completed"]]
    issued = sum(job["issued"] for job in jobs)
    done = sum(job["completed"] for job in jobs)
    found["completed"] = _check(
        raw["status"] == 0 and rt and rt["completed"] == requests and
        len(jobs) == 4 and not open_jobs,
        "fio got back each request it asked for, and the real-time job all it "
        "was to do", fio_status=raw["status"],
        rt_requested=requests, rt_completed=rt["completed"] if rt else 0,
        issued=issued, completed=done)
    counted = disk_requests(raw["stat-after"]) - \
        disk_requests(raw["stat-before"])
    found["accounted"] = _check(
        counted == issued, "the block layer has counted as many requests, "
        "merged ones included, as fio has issued", counted=counted,
        issued=issued)
    found["no_stall"] = _check(
        not pause.stalls and pause.samples > 1,
        f"no time over {STALL_SECONDS:g} s (guest) without a completion while "
        "requests were outstanding", stalls=pause.stalls,
        longest_pause_s=round(pause.longest, 3),
        longest_without_sample_s=round(pause.blind, 3),
        samples=pause.samples)
    outstanding = sum(map(int, raw["inflight"].split()))
    errors = log_errors(raw["dmesg"])
    found["log_clean"] = _check(not errors, "no error in the kernel's log",
                                errors=errors[:20])
    if bound is None:
        found["drained"] = _check(outstanding == 0, "nothing in flight "
                                  "afterwards", inflight=outstanding)
        return found
    before = pairs(raw["stats-before"])
    after = collections.defaultdict(lambda: -1, pairs(raw["stats-after"]))

    def delta(key):
        return after[key] - before.get(key, 0)

    found["drained"] = _check(
        outstanding == 0 and after["inflight"] == 0 == after["queued"] and
        delta("inserted") == delta("dispatched") + delta("absorbed"),
        "nothing in flight or queued afterwards, and inserted = dispatched + "
        "absorbed", inflight=outstanding, k2_inflight=after["inflight"],
        k2_queued=after["queued"], inserted=delta("inserted"),
        dispatched=delta("dispatched"), absorbed=delta("absorbed"))
    # Requests inserted at the head ignore the bound; none are expected here.
    found["bound_kept"] = _check(
        0 < after["peak_inflight"] <= bound and
        0 < seen.inflight_max <= bound,
        "never more in flight than the bound, by k2's own count and by the "
        "trace", bound=bound, peak_inflight=after["peak_inflight"],
        traced_inflight_max=seen.inflight_max)
    found["order_kept"] = _check(
        seen.violations == 0 and seen.rt_inserted > 0 and
        (seen.rt_issued == requests or not seen.whole),
        "no best-effort request went before a real-time one that waited"
        + ("" if seen.rule == "take" else " (judged by what was issued, which "
           "a busy host can upset: k2's choices were not traced, is there "
           "still a flash_take()?)"),
        rule=seen.rule, violations=seen.violations,
        rt_requests_traced=seen.rt_issued, whole_run=seen.whole,
        examples=seen.examples)
    if seen.undone is not None:
        found["issue_kept"] = _check(
            seen.undone == 0,
            "no best-effort request that k2 chose after a real-time one reached "
            "the driver before it", rt_issued_after_later_choice=seen.undone)
    found["class_kept"] = _check(
        rt and delta("served_rt") == rt["completed"],
        "k2 has served as many real-time requests as the real-time job has "
        "sent", served_rt=delta("served_rt"))
    return found


def evaluate(raw, bound, requests, machine):
    """Everything that is concluded from a run's raw files ({name: text})."""
    raw = {name: "" for name in (
        "fio", "trace", "samples", "dmesg", "inflight", "stat-before",
        "stat-after", "stats-before", "stats-after", "tunables")} | raw
    raw["status"] = int(raw.get("status") or -1)
    try:
        jobs = fio_jobs(raw["fio"])
    except (ValueError, KeyError):
        # fio was killed, or failed before it began.
        jobs = []
    taken = None
    if bound is not None:
        taken = pairs(raw["stats-after"]).get("dispatched", 0) - \
            pairs(raw["stats-before"]).get("dispatched", 0)
    seen = order(raw["trace"], machine["dev"], int(machine["bytes"]), bound,
                 taken)
    pause = pauses(raw["samples"], 0 <= raw["status"] < 124)
    judged = checks(raw, jobs, requests, pause, seen, bound)
    rt = next((job for job in jobs if job["name"] == "rt"), None)
    return {
        "passed": all(check["passed"] for check in judged.values()),
        "checks": judged,
        "exact": {
            "rt_overtaken_max": seen.overtaken_max,
            "rt_overtaken_mean": seen.overtaken_mean,
            "rt_overtaken_when_chosen_max": seen.overtaken_chosen_max,
            "rt_issued_after_later_choice": seen.undone,
            "rt_ahead_in_device_max": seen.ahead_max,
            "rt_ahead_in_device_mean": seen.ahead_mean,
            "inflight_max": seen.inflight_max,
            "requeued": seen.requeued,
            "trace_events": seen.events,
            "trace_whole_run": seen.whole,
        },
        "wall_clock": {
            "comparable": False,
            "rt_latency_mean_s": rt and rt["wall_clock"]["latency_mean_s"],
            "rt_latency_p99_s": rt and rt["wall_clock"]["latency_p99_s"],
            "rt_latency_p99_9_s": rt and rt["wall_clock"]["latency_p99_9_s"],
            "bandwidth_bytes_per_s": sum(
                job["wall_clock"]["bandwidth_bytes_per_s"] for job in jobs),
        },
        "jobs": jobs,
        "scheduler_tunables": tunables(raw["tunables"]),
        "scheduler_stats_before": pairs(raw["stats-before"])
        if bound is not None else {},
        "scheduler_stats_after": pairs(raw["stats-after"])
        if bound is not None else {},
    }
