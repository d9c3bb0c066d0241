# SPDX-License-Identifier: GPL-2.0
"""The report's part for runs with tenants: pure, without pictures."""

import math
import statistics


def _number(value):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or \
            not math.isfinite(value):
        raise ValueError("no number")
    return float(value)


def _maybe(value):
    return None if value is None else _number(value)


def take(data):
    """A run's shares; None where there are none, or not in this form.

    {"names", "weights", "due", "unit", "shares", "pv", "windows", "period",
    "rows", "latency"}; lists run over the tenants.
    """
    try:
        share = data["fairness"]
        tenants = data["tenants"]
        one = share["by_unit"][share["unit"]]
        found = {
            "names": [str(t["name"]) for t in tenants],
            "weights": [_number(t["weight"]) for t in tenants],
            "due": [_number(part) for part in share["due"]],
            "unit": str(share["unit"]),
            "shares": [_number(part) for part in one["shares"]]
            if one.get("shares") else None,
            "bytes": [_number(t["bytes"]) for t in tenants],
            "pv": _maybe(one.get("pv")), "jain": _maybe(one.get("jain")),
            "ratio": _maybe(one.get("service_ratio")),
            "windows": [{key: _maybe(row[key]) for key in
                         ("window_s", "pv_median", "pv_p90", "pv_max",
                          "inversions", "windows", "requests")}
                        for row in one.get("windows") or []],
            "period": _number(share["course"]["period_s"]),
            "rows": [[_number(value) for value in row]
                     for row in share["course"]["bytes_per_s"]],
            "latency": [{key: _maybe(t["latency_s"][key])
                         for key in ("p99", "p99_9", "stddev")}
                        for t in tenants]}
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    count = len(found["names"])
    if not count or any(len(found[key]) != count
                        for key in ("due", "rows", "latency")) or \
            found["shares"] and len(found["shares"]) != count:
        return None
    return found


def middle(values):
    """The median of what is known, None if anything is not."""
    values = list(values)
    return None if not values or None in values else \
        statistics.median(values)


def rows(cell):
    """(head, [[text or number]]) of a cell's tenants, medians over seeds.

    Columns: tenant, weight, share due, received, of the bytes, p99, p99.9 and
    standard deviation in s.
    """
    runs = [run.share for run in cell.counted if run.share]
    found = []
    for n, name in enumerate(runs[0]["names"] if runs else ()):
        total = [sum(run["bytes"]) for run in runs]
        found.append([
            name, runs[0]["weights"][n], runs[0]["due"][n],
            middle(run["shares"][n] if run["shares"] else None
                   for run in runs),
            middle(run["bytes"][n] / whole if whole else None
                   for run, whole in zip(runs, total)),
            *(middle(run["latency"][n][key] for run in runs)
              for key in ("p99", "p99_9", "stddev"))])
    return found


def figures(cell):
    """(unit, PV, Jain, service over its bound, inversions in the shortest
    windows) of a cell, medians; None if it has no tenants."""
    runs = [run.share for run in cell.counted if run.share]
    if not runs:
        return None
    return (runs[0]["unit"],
            *(middle(run[key] for run in runs)
              for key in ("pv", "jain", "ratio")),
            middle(run["windows"][0]["inversions"] if run["windows"] else None
                   for run in runs))
