# SPDX-License-Identifier: GPL-2.0
"""The conclusions from a run with tenants (suiteshare). No I/O.

Times are the device's, in seconds.
"""

import re

import numpy

import benchdata
import fairness
import sharecost
from suiteshare import each_charged, unit_of
from suitetables import IOCOST_MODEL

# Largest relative difference between a tenant's charge, computed again, and the
# scheduler's figure; above it the charges of single requests are not used.
CHARGE_OFF = 0.01
OPS = {"R": "0", "W": "1", "D": "2", "F": "3", "Z": "4"}


def device_log(text, scale):
    """{column: array} of flashsim's log, reads and writes, by completion.

    Times: s of the device since the reset. None without a log.
    """
    head, _, body = text.partition("\n")
    names = head.strip().split(",")
    if "done_ns" not in names or not body.strip():
        return None
    for letter, digit in OPS.items():
        body = body.replace(letter, digit)
    rows = numpy.array(body.replace("\n", ",").strip(",").split(","),
                       dtype=numpy.int64)
    if len(rows) % len(names):
        raise ValueError("a damaged log of the device")
    rows = rows.reshape(-1, len(names))
    found = dict(zip(names, rows.T))
    keep = found["op"] < 2
    rows = rows[keep][numpy.argsort(found["done_ns"][keep], kind="stable")]
    found = dict(zip(names, rows.T))
    return {"issued": found["arrival_ns"] / 1e9 / scale,
            "done": found["done_ns"] / 1e9 / scale,
            "write": found["op"] == 1, "sector": found["sector"],
            "sectors": found["sectors"]}


def owners(sectors, size, tenants):
    """The tenant of each place, -1 if it is no tenant's."""
    found = numpy.full(len(sectors), -1)
    for number, one in enumerate(tenants):
        begin, end = (share * size / 100 for share in one["span_pct"])
        found[(sectors >= begin) & (sectors < end)] = number
    return found


def chip_time(stats, tenants):
    """[[read s, write s]] of each tenant by the device's ranges.

    None where the device's ranges are not those of the tenants.
    """
    count = len([key for key in stats
                 if re.fullmatch(r"range\d+_read_ns", key)])
    found = []
    for one in tenants:
        edges = [share * count / 100 for share in one["span_pct"]]
        if not count or any(abs(edge - round(edge)) > 1e-9 for edge in edges):
            return None
        found.append([sum(stats[f"range{n}_{way}_ns"]
                          for n in range(*map(round, edges))) / 1e9
                      for way in ("read", "write")])
    return found


def charged(text, groups):
    """{name: {word: number}} of a scheduler's lines about its tenants.

    A line is `tenant cgroup:NUMBER`, then words and numbers; groups has lines
    `NAME NUMBER`.
    """
    names = {number: name for name, number in
             (line.split() for line in groups.splitlines())}
    found = {}
    for line in text.splitlines():
        match = re.match(r"tenant cgroup:(\d+) (.*)", line)
        if match and match[1] in names:
            words = match[2].split()
            found[names[match[1]]] = {
                key: int(value) for key, value in zip(words[::2], words[1::2])
                if re.fullmatch(r"-?\d+", value)}
    return found


def amounts(log, who, tenants, chips, model):
    """{unit: what each request is charged}."""
    found = {"sectors": log["sectors"].astype(float),
             "requests": numpy.ones(len(who))}
    if chips:
        # A request's part of its tenant's chip time, by bytes and direction
        cost = numpy.zeros(len(who))
        for number in range(len(tenants)):
            for way in (0, 1):
                mine = (who == number) & (log["write"] == bool(way))
                total = log["sectors"][mine].sum()
                if total:
                    cost[mine] = log["sectors"][mine] * \
                        (chips[number][way] / total)
        found["chip"] = cost
    if model:
        found["model"] = fairness.model_cost(log["write"], log["sectors"],
                                             model)
    return found


def pairs(log, who, tenants):
    """[(a, b, spans, spans)] of each two tenants.

    In which both have requests that wait; in which both have any, waiting or
    in the device. Only pairs that ever wait together.
    """
    spans, whole = [], []
    for number, one in enumerate(tenants):
        mine = who == number
        spans.append(fairness.backlogged(
            log["issued"][mine], log["done"][mine], one["depth"])
            if one["depth"] and mine.any() else [])
        whole.append([(log["issued"][mine].min(), log["issued"][mine].max())]
                     if spans[-1] else [])
    found = []
    for a in range(len(tenants)):
        for b in range(a + 1, len(tenants)):
            common = fairness.both(spans[a], spans[b])
            if common:
                found.append((a, b, common,
                              fairness.both(whole[a], whole[b])))
    return found


def gaps(log, who, amount, tenants, depth, both):
    """[{tenants, completed, issued, outstanding, allowed}] of each pair.

    Differences of service, see fairness: by completions and by dispatches
    while both have requests that wait; by completions while both have any.
    `ratio`: of the first to what is allowed.
    """
    sides = {}
    for key in ("done", "issued"):
        order = numpy.argsort(log[key], kind="stable")
        for n in range(len(tenants)):
            mine = order[who[order] == n]
            sides[key, n] = (log[key][mine], amount[mine])
    found = []
    for a, b, common, whole in both:
        weights = [tenants[n]["weight"] / 100 for n in (a, b)]

        def gap(key, spans, a=a, b=b, weights=weights):
            return fairness.service_gap(sides[key, a], sides[key, b], weights,
                                        spans)
        row = {"tenants": [tenants[n]["name"] for n in (a, b)],
               "both_backlogged_s": sum(end - begin for begin, end in common),
               "completed": gap("done", common),
               "issued": gap("issued", common),
               "outstanding": gap("done", whole),
               "allowed": fairness.allowed_gap(
                   [float(sides["done", n][1].max()) for n in (a, b)],
                   weights, depth)}
        row["ratio"] = row["completed"] / row["allowed"]
        found.append(row)
    return found


def together(log, who, tenants):
    """(begin, end) of the time in which every tenant was there and sent.

    From the last tenant's first request until one of them has nothing more to
    send, which it has not when no more requests are missing than it keeps
    outstanding.
    """
    begin, end = -numpy.inf, numpy.inf
    for number, one in enumerate(tenants):
        done = numpy.sort(log["done"][who == number])
        if one["depth"] and len(done):
            begin = max(begin, log["issued"][who == number].min())
            end = min(end, done[max(0, len(done) - one["depth"] - 1)])
    return begin, end


def of_each(found, who, tenants):
    """A mask; all of them if that leaves nothing of a tenant."""
    kept = [(found & (who == number)).any() for number in range(len(tenants))]
    return found if all(kept) else numpy.ones(len(who), bool)


def all_send(log, who, tenants):
    """The requests that ended while every tenant was there and sent: a mask.

    The first tenant to start has the device to itself, and when a load stops all
    its outstanding requests still end, an equal number for each tenant, whatever
    its weight. All of them if that leaves nothing of one of them.
    """
    begin, end = together(log, who, tenants)
    return of_each((log["done"] > begin) & (log["done"] <= end), who, tenants)


def chosen(log, who, tenants, since=-numpy.inf):
    """The requests that windows are made of: a mask.

    Those that the device got after the last tenant's first one, and that ended
    while all still sent. Requests from before are there because no other tenant
    was: all that the first tenant keeps outstanding, which ends in the first
    window, and which no scheduler can take back. None that it got before
    `since`. All of them if that leaves nothing of a tenant.
    """
    begin, end = together(log, who, tenants)
    return of_each((log["issued"] >= max(begin, since)) &
                   (log["done"] <= end), who, tenants)


def by_unit(unit, log, who, amount, tenants, depth, both, since=-numpy.inf):
    """The record of the shares in one unit.

    since: before that nothing was charged.
    """
    weights = [one["weight"] for one in tenants]
    totals = [float(amount[who == n].sum()) for n in range(len(tenants))]
    sending = all_send(log, who, tenants)
    inside = chosen(log, who, tenants, since)
    ours = gaps(log, who, amount, tenants, depth, both)
    return {
        "unit": unit, "received": totals,
        "shares": fairness.shares(totals), "pv": fairness.pv(weights, totals),
        "jain": fairness.jain(weights, totals),
        "pv_sending": fairness.pv(weights, [
            float(amount[sending & (who == n)].sum())
            for n in range(len(tenants))]),
        "windows": fairness.pv_by_window(
            weights, log["done"][inside], who[inside], amount[inside]),
        "service": ours,
        "service_ratio": max((row["ratio"] for row in ours), default=None),
        "outstanding_ratio": max((row["outstanding"] / row["allowed"]
                                  for row in ours), default=None)}


def of_cost(log, who, costs, replayed, tenants, depth, both, amount, chip):
    """The record of the shares in the time that the scheduler charges.

    costs: the scheduler's charge for each tenant. It reports none for a single
    request, so windows and service are by sharecost's figures, replayed (None:
    there are none). If the sum of these differs for a tenant they are by the
    chips' time, chip, of which each request had `amount`.
    """
    weights = [one["weight"] for one in tenants]
    if None in costs or not len(who):
        return {**chip, "windows_by": "chip"}
    said = {"unit": "cost", "received": costs,
            "shares": fairness.shares(costs),
            "pv": fairness.pv(weights, costs),
            "jain": fairness.jain(weights, costs)}
    if replayed:
        charge, since = replayed
        sums = [float(charge[who == n].sum()) for n in range(len(tenants))]
        off = [found / cost - 1 if cost else None
               for found, cost in zip(sums, costs)]
        said.update(replayed=sums, replay_off=off)
        if None not in off and max(map(abs, off)) <= CHARGE_OFF:
            # Charges before its begin are forgiven, so that no tenant owed them.
            both = [(a, b, *(fairness.both(one, [(since, numpy.inf)])
                             for one in spans)) for a, b, *spans in both]
            return {**by_unit("cost", log, who, charge, tenants, depth,
                              [pair for pair in both if pair[2]], since),
                    **said, "windows_by": "charge"}
    # The part of the sums while all were there: by the chips' time
    sending = all_send(log, who, tenants)
    parts = [cost * float(amount[sending & (who == n)].sum()) /
             (float(amount[who == n].sum()) or 1)
             for n, cost in enumerate(costs)]
    return {**chip, **said, "pv_sending": fairness.pv(weights, parts),
            "windows_by": "chip"}


def of_tenant(one, number, log, who, samples, jobs):
    """The record of a tenant."""
    mine = who == number
    issued = numpy.sort(log["issued"][mine])
    latency = jobs["latency_s"]
    return {
        "name": one["name"], "weight": one["weight"], "alone": one["alone"],
        "ios": jobs["ios"], "bytes": jobs["bytes"],
        "bandwidth_bytes_per_s": jobs["bandwidth_bytes_per_s"],
        "latency_s": {**{key: latency[key] for key in
                         ("count", "mean", "max", "p50", "p99", "p99_9")},
                      "stddev": latency["stddev"] if samples is None else
                      fairness.deviation(samples)},
        # Mean time between two of its dispatches, and its mean size
        "inter_dispatch_s": float((issued[-1] - issued[0]) /
                                  (len(issued) - 1))
        if len(issued) > 1 else None,
        "mean_sectors": float(log["sectors"][mine].mean())
        if mine.any() else None}


def evaluate(raw, run, stats, jobs, samples):
    """(the record's entries, {check: ...}) of a run with tenants.

    jobs: one for each tenant; samples: {tenant: raw latencies, s, or None: then the
    job's latency_s has the deviation}.
    """
    tenants = run["tenants"]
    log = device_log(raw.get("log", ""), run["time_scale"])
    if log is None:
        raise ValueError("no log of the device")
    who = owners(log["sector"], stats["size_bytes"] // 512, tenants)
    foreign, seen = int((who < 0).sum()), len(who)
    wanted = stats["reads"] + stats["writes"]
    checks = {"traced": {
        "passed": seen == wanted and not foreign and
        all((who == n).any() for n in range(len(tenants))),
        "text": "the device's log has all requests, each in a tenant's part, "
        "and some of each tenant", "logged": seen, "requests": wanted,
        "foreign": foreign}}
    unit = unit_of(run)
    # More in flight than it ever held: it has refused some that it got later.
    refused = benchdata.pairs(raw.get("stats-after", "")).get(
        "peak_inflight", 0) > stats.get("outstanding_max", 0)
    # All that the device had counts, whosever it was.
    replayed = sharecost.of_log(log, run["time_scale"], refused) \
        if unit == "cost" and each_charged(run) else None
    keep = who >= 0
    log = {key: values[keep] for key, values in log.items()}
    who = who[keep]
    replayed = replayed and (replayed[0][keep], replayed[1])
    by_name = {job["name"]: job for job in jobs}
    chips = chip_time(stats, tenants)
    tunables = {key: int(value) for key, value in run["tunables"].items()
                if key in IOCOST_MODEL}
    units_ = amounts(log, who, tenants, chips, tunables)
    table = charged(raw.get("tenants", ""), raw.get("groups", ""))
    bound = benchdata.tunables(raw.get("tunables", "")).get("max_inflight")
    depth = int(bound) if bound and re.fullmatch(r"[1-9]\d*", str(bound)) \
        else stats.get("outstanding_max", 1)
    both = pairs(log, who, tenants)
    judged = {name: by_unit(name, log, who, amount, tenants, depth, both)
              for name, amount in units_.items()} if len(who) else {}
    begin, end = (float(one(log["issued"])) if len(who) else 0.0
                  for one in (numpy.min, numpy.max))
    period, rows = fairness.course(
        log["done"], who, log["sectors"] * 512.0, len(tenants), begin, end)
    weights = [one["weight"] for one in tenants]
    if unit == "cost":
        judged["cost"] = of_cost(
            log, who,
            [table.get(one["name"], {}).get("cost") for one in tenants],
            replayed, tenants, depth, both,
            units_.get("chip", units_["sectors"]), judged.get("chip", {}))
    return {
        "tenants": [of_tenant(one, n, log, who, samples[one["name"]],
                              by_name[one["name"]])
                    for n, one in enumerate(tenants)],
        "fairness": {
            "unit": unit, "depth": depth,
            "due": fairness.shares(weights), "by_unit": judged,
            "charged": table,
            "course": {"period_s": period, "bytes_per_s": rows},
            "depths": fairness.depths(log["issued"], log["done"], begin, end)
            if end > begin else {}},
    }, checks
