# SPDX-License-Identifier: GPL-2.0
"""Measures of the service that each tenant gets, and when. No I/O.

Weights, results and samples are sequences, one entry a tenant or a request, in
any one unit. A measure without a value is None.
"""

import numpy

# Requests in a window, of the tenant that has fewest.
WINDOW_REQUESTS = 50
# Fewer windows than that are no distribution.
WINDOWS_MIN = 4
COURSE_BINS = 240
PAGE = 4096


# --- a whole run -------------------------------------------------------------

def pv(weights, results):
    """Proportionality variation: mean |ideal - result| over the tenants.

    Both are relative to the tenant with the smallest weight, of several the
    first: with weights 1:2:4:5 the ideal is 1, 2, 4, 5. None if that tenant
    got nothing.
    """
    first = int(numpy.argmin(weights))
    if not len(weights) or results[first] <= 0:
        return None
    ideal = numpy.asarray(weights, float) / weights[first]
    result = numpy.asarray(results, float) / results[first]
    return float(numpy.abs(ideal - result).mean())


def jain(weights, results):
    """Weighted Jain index: 1 if each has its share, 1/n if one has all."""
    each = numpy.asarray(results, float) / numpy.asarray(weights, float)
    squares = (each * each).sum()
    return float(each.sum() ** 2 / len(each) / squares) if squares else None


def shares(values):
    """Each one's part of the whole; None if there is nothing."""
    total = float(sum(values))
    return [value / total for value in values] if total else None


def filled(weights, asked, total):
    """Parts of a total by weight, none larger than what is asked for.

    What a tenant does not ask for is shared by the others.
    """
    found, left = [0.0] * len(weights), set(range(len(weights)))
    while left:
        unit = total / sum(weights[n] for n in left)
        full = {n for n in left if asked[n] <= unit * weights[n]}
        for n in full or left:
            found[n] = min(asked[n], unit * weights[n])
            total -= found[n]
        left -= full or left
    return found


def slowdown(weights, results, alone):
    """How far each is from its share of what it gets alone.

    1: exactly its share (weight over all weights) of its throughput alone; 2:
    half of that. (list, Jain index of results / alone by weights); both None if
    one of them has nothing alone or here.
    """
    if min(alone, default=0) <= 0 or min(results, default=0) <= 0:
        return None, None
    due = shares(weights)
    return ([part * one / result for part, one, result
             in zip(due, alone, results)],
            jain(weights, [result / one for result, one
                           in zip(results, alone)]))


def inversions(weights, results):
    """Pairs of tenants of which the one with more weight got less."""
    weights, results = (numpy.asarray(one, float)
                        for one in (weights, results))
    heavier = weights[:, None] > weights[None, :]
    less = results[:, None] < results[None, :]
    return int((heavier & less).sum())


# --- windows -----------------------------------------------------------------

def smallest(who, tenants):
    """The tenant with the fewest requests, of several the first."""
    return int(numpy.argmin(numpy.bincount(who, minlength=tenants)))


def windows(when, who, amount, tenants, requests):
    """(lengths, amounts: a row a window, a column a tenant).

    A window ends with each `requests`-th request of the tenant that has fewest,
    so it holds exactly this number of them, however long they take: one in
    which it starves is long, and includes the service of the others in that
    time. `when` rises; requests after the last whole window are left out.
    """
    ends = numpy.flatnonzero(numpy.asarray(who) == smallest(who, tenants))
    ends = ends[requests - 1::requests]
    if not len(ends):
        return numpy.empty(0), numpy.empty((0, tenants))
    sums = numpy.zeros((len(ends) + 1, tenants))
    for tenant in range(tenants):
        sums[1:, tenant] = numpy.cumsum(
            numpy.where(numpy.asarray(who) == tenant, amount, 0))[ends]
    moments = numpy.concatenate(([when[0]], numpy.asarray(when)[ends]))
    return numpy.diff(moments), numpy.diff(sums, axis=0)


def window_pvs(weights, sums):
    """pv() of each row; infinite where the first tenant got nothing."""
    weights = numpy.asarray(weights, float)
    first = int(numpy.argmin(weights))
    with numpy.errstate(divide="ignore", invalid="ignore"):
        result = sums / sums[:, first:first + 1]
    found = numpy.abs(weights / weights[first] - result).mean(axis=1)
    return numpy.where(sums[:, first] > 0, found, numpy.inf)


def pv_by_window(weights, when, who, amount):
    """PV against window length: a dict for each length.

    From WINDOW_REQUESTS requests on, doubling, as long as there are
    WINDOWS_MIN windows.
    """
    found, requests = [], WINDOW_REQUESTS
    while True:
        lengths, sums = windows(when, who, amount, len(weights), requests)
        if len(lengths) < WINDOWS_MIN:
            return found
        values = window_pvs(weights, sums)
        turned = [inversions(weights, row) for row in sums]
        found.append({
            "requests": requests, "windows": len(lengths),
            "window_s": float(lengths.mean()),
            "pv_median": finite(numpy.median(values)),
            "pv_p90": finite(numpy.quantile(values, 0.9, method="higher")),
            "pv_max": finite(values.max()),
            "inversions": sum(turned),
            "windows_with": sum(count > 0 for count in turned)})
        requests *= 2


def finite(value):
    """The value as a float, or None if JSON cannot hold it."""
    return float(value) if numpy.isfinite(value) else None


# --- service while backlogged ------------------------------------------------

def _at_least(moments, steps, low):
    """[(begin, end)] in which the sum of steps so far is at least `low`."""
    order = numpy.argsort(moments, kind="stable")
    moments = numpy.asarray(moments)[order]
    level = numpy.cumsum(numpy.asarray(steps)[order])
    # Events of one moment happen together.
    last = numpy.append(moments[1:] != moments[:-1], True)
    moments, inside = moments[last], level[last] >= low
    turns = moments[numpy.flatnonzero(numpy.diff(
        inside.astype(int), prepend=0))].tolist()
    if len(turns) % 2:
        turns.append(numpy.inf)
    return list(zip(turns[::2], turns[1::2]))


def waiting(arrived, issued):
    """[(begin, end)] in which a request has arrived and is not issued."""
    return _at_least(
        numpy.concatenate((arrived, issued)),
        numpy.repeat([1, -1], [len(arrived), len(issued)]), 1)


def backlogged(issued, done, depth):
    """Like waiting(), for a load that always keeps `depth` requests outstanding.

    Requests that are not in the device wait in front of it, from the load's
    first request to its last.
    """
    if not len(issued):
        return []
    first, last = min(issued), max(issued)
    spans = _at_least(
        numpy.concatenate(([first], issued, done)),
        numpy.concatenate(([depth], numpy.repeat(
            [-1, 1], [len(issued), len(done)]))), 1)
    return [(begin, min(end, last)) for begin, end in spans if begin < last]


def both(one, other):
    """The common parts of two rising lists of spans."""
    found, a, b = [], 0, 0
    while a < len(one) and b < len(other):
        begin = max(one[a][0], other[b][0])
        end = min(one[a][1], other[b][1])
        if begin < end:
            found.append((begin, end))
        if one[a][1] <= other[b][1]:
            a += 1
        else:
            b += 1
    return found


def service_gap(one, other, weights, spans):
    """max |S_i / w_i - S_j / w_j| over all intervals within the spans.

    one, other: (moments, amounts), rising. S of an interval is the service in
    it, its begin excluded. Within a span the largest difference between two
    moments is the range of S_i / w_i - S_j / w_j there.
    """
    moments = numpy.concatenate((one[0], other[0]))
    order = numpy.argsort(moments, kind="stable")
    moments = moments[order]
    total = numpy.concatenate(([0.0], numpy.cumsum(numpy.concatenate((
        numpy.asarray(one[1], float) / weights[0],
        -numpy.asarray(other[1], float) / weights[1]))[order])))
    # No interval divides the service of one moment.
    whole = numpy.append(True, numpy.append(
        moments[1:] != moments[:-1], True)[:len(moments)])
    if not len(spans):
        return 0.0
    low, high = numpy.searchsorted(moments, numpy.asarray(spans, float).T,
                                   side="right")
    # Each span's part of total, the next one's begin between two of them.
    cuts = numpy.stack((low, high + 1), axis=1).ravel()
    least, most = (
        way.reduceat(numpy.append(numpy.where(whole, total, none), none),
                     cuts)[::2]
        for way, none in ((numpy.minimum, numpy.inf),
                          (numpy.maximum, -numpy.inf)))
    return float((most - least).max())


def allowed_gap(largest, weights, depth):
    """The bound of start-time fair queueing with `depth` requests in the device.

    largest: the most that a request of either tenant is charged.
    """
    return (depth + 1) * sum(most / weight
                             for most, weight in zip(largest, weights))


# --- the rest ----------------------------------------------------------------

def course(done, who, amount, tenants, begin, end, bins=COURSE_BINS):
    """(period, a row a tenant): amounts a second over time."""
    period = (end - begin) / bins
    if period <= 0:
        return 0.0, []
    return period, [(numpy.histogram(
        done[who == tenant], bins, (begin, end),
        weights=amount[who == tenant])[0] / period).tolist()
        for tenant in range(tenants)]


def depths(issued, done, begin, end):
    """{requests in the device: share of the time}."""
    moments = numpy.concatenate((issued, done))
    order = numpy.argsort(moments, kind="stable")
    moments = numpy.clip(moments[order], begin, end)
    level = numpy.cumsum(numpy.repeat(
        [1, -1], [len(issued), len(done)])[order])
    times = numpy.diff(numpy.append(moments, end))
    share = numpy.bincount(level, weights=times) / \
        (end - begin)
    share[0] += max(0.0, 1 - share.sum())
    return {str(count): round(float(part), 6)
            for count, part in enumerate(share) if part > 0}


def deviation(samples):
    """Standard deviation of all samples, None without one."""
    return float(numpy.std(samples)) if len(samples) else None


def model_cost(writes, sectors, model):
    """The charge of io.cost's linear model: seconds of a request, at random.

    model: rbps, rrandiops, wbps, wrandiops. A request costs a fixed amount a
    page, plus the extra cost of a random one of one page.
    """
    pages = -(-numpy.asarray(sectors) * 512 // PAGE)
    found = numpy.zeros(len(pages))
    for way, mine in (("r", ~numpy.asarray(writes)), ("w", numpy.asarray(
            writes))):
        page = PAGE / model[f"{way}bps"]
        fixed = max(0.0, 1 / model[f"{way}randiops"] - page)
        found[mine] = fixed + pages[mine] * page
    return found
