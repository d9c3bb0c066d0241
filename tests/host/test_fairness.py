# SPDX-License-Identifier: GPL-2.0
"""Fairness measures: vectors by hand, and slow versions of the same."""

import importlib
import itertools
import math
import pathlib
import random
import sys

import numpy
import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

fairness = importlib.import_module("fairness")


# --- a whole run -------------------------------------------------------------

@pytest.mark.parametrize("weights, results, want", [
    ((1, 2, 4, 5), (100, 190, 420, 480), 0.125),
    ((1, 2, 4, 5), (7, 7, 7, 7), 2.0),
    ((1, 2, 4, 5), (10, 20, 40, 50), 0.0),
    # Weights of any size, and the smallest anywhere
    ((100, 200, 500), (3, 6, 15), 0.0),
    ((5, 2, 1), (6, 2, 1), 1 / 3),
    ((5, 2, 1), (5, 2, 2), (2.5 + 1 + 0) / 3),
    # Of equal ones the first is what others are held against.
    ((1, 1, 1), (2, 4, 2), 1 / 3),
    ((1, 2), (0, 5), None),
])
def test_proportionality_variation(weights, results, want):
    found = fairness.pv(weights, results)
    assert found is want if want is None else found == pytest.approx(want)


def test_jain():
    assert fairness.jain((1, 2, 5), (3, 6, 15)) == pytest.approx(1)
    assert fairness.jain((1, 1), (8, 0)) == pytest.approx(0.5)
    # (1 + 3)^2 / 2 / (1 + 9)
    assert fairness.jain((1, 2), (1, 6)) == pytest.approx(0.8)
    assert fairness.jain((1, 2), (0, 0)) is None


def test_shares():
    assert fairness.shares((1, 2, 5)) == [0.125, 0.25, 0.625]
    assert fairness.shares((0, 0)) is None


def test_slowdown_is_one_at_the_share_of_what_one_gets_alone():
    found, index = fairness.slowdown((1, 3), (25, 150), (100, 200))
    assert found == pytest.approx([1, 1])
    assert index == pytest.approx(1)
    found, index = fairness.slowdown((1, 3), (12.5, 150), (100, 200))
    assert found == pytest.approx([2, 1])
    # 1/8 and 1/4 of their weights: (3/8)^2 / 2 / (5/64)
    assert index == pytest.approx(0.9)
    assert fairness.slowdown((1, 3), (1, 2), (0, 2)) == (None, None)


@pytest.mark.parametrize("weights, results, want", [
    ((1, 2, 4, 5), (1, 2, 4, 5), 0), ((1, 2, 4, 5), (5, 4, 2, 1), 6),
    ((1, 2, 4, 5), (1, 2, 5, 4), 1), ((1, 1, 1), (3, 2, 1), 0),
    ((1, 2), (3, 3), 0), ((5, 2, 1), (4, 5, 1), 1),
])
def test_inversions(weights, results, want):
    assert fairness.inversions(weights, results) == want


# --- windows -----------------------------------------------------------------

def naive_windows(when, who, amount, tenants, requests):
    """Request by request."""
    counts = [list(who).count(tenant) for tenant in range(tenants)]
    small = counts.index(min(counts))
    begin, seen, sums, found = when[0], 0, [0] * tenants, []
    for at, tenant, size in zip(when, who, amount):
        sums[tenant] += size
        seen += tenant == small
        if tenant == small and seen % requests == 0:
            found.append((at - begin, tuple(sums)))
            begin, sums = at, [0] * tenants
    return found


def test_windows_by_hand():
    who = numpy.array([0, 1, 1, 0, 1, 0, 1, 1, 0, 1])
    when = numpy.arange(10.0)
    lengths, sums = fairness.windows(when, who, numpy.full(10, 2), 2, 2)
    assert lengths.tolist() == [3, 5]
    assert sums.tolist() == [[4, 4], [4, 6]]


def test_windows_like_request_by_request():
    rng = random.Random(1)
    for _ in range(100):
        tenants, count = rng.randint(1, 4), rng.randint(1, 200)
        weights = [rng.random() for _ in range(tenants)]
        who = numpy.array(rng.choices(range(tenants), weights, k=count))
        when = numpy.cumsum([rng.random() for _ in range(count)])
        amount = numpy.array([rng.randint(1, 9) for _ in range(count)])
        for requests in (1, 3, 50):
            lengths, sums = fairness.windows(when, who, amount, tenants,
                                             requests)
            want = naive_windows(when, who, amount, tenants, requests)
            assert lengths == pytest.approx([one for one, _ in want])
            assert [tuple(row) for row in sums] == [row for _, row in want]


def test_a_starved_tenant_makes_one_long_window():
    """The service of others in that time is not hidden between windows."""
    turn = [0, 1, 1] * 50
    who = numpy.array(turn * 3 + [1] * 1000 + turn * 3)
    found = fairness.pv_by_window((1, 2), numpy.arange(len(who)) / 1e3, who,
                                  numpy.ones(len(who)))
    assert [row["requests"] for row in found] == [50]
    assert found[0]["windows"] == 6
    # 100 + 1000 of the second to 50 of the first
    assert found[0]["pv_max"] == pytest.approx((22 - 2) / 2, abs=0.1)
    assert found[0]["pv_median"] == pytest.approx(0, abs=0.02)
    assert found[0]["inversions"] == found[0]["windows_with"] == 0


def test_pv_by_window():
    """Right over the run, wrong in each window: longer ones are better."""
    who = numpy.array(([0] * 100 + [1] * 200) * 8)
    found = fairness.pv_by_window((1, 2), numpy.arange(2400.0), who,
                                  numpy.ones(2400))
    assert [row["requests"] for row in found] == [50, 100, 200]
    assert [row["windows"] for row in found] == [16, 8, 4]
    # By turns none and 200 of the second to 50 of the first
    assert found[0]["pv_median"] == pytest.approx(1.0)
    assert found[0]["pv_p90"] == found[0]["pv_max"] == pytest.approx(1.0)
    # Every second one, and the first
    assert found[0]["windows_with"] == found[0]["inversions"] == 9
    # The last 100 of the first end a window before the second's begin.
    assert found[1]["pv_max"] == pytest.approx(1.0)
    assert found[1]["windows_with"] == 1
    assert found[2]["pv_median"] == pytest.approx(0)
    assert found[0]["window_s"] < found[1]["window_s"] < found[2]["window_s"]


def test_a_window_without_the_lightest_has_no_end():
    found = fairness.window_pvs((2, 1), numpy.array([[5, 0], [0, 5]]))
    assert found.tolist() == [math.inf, 1.0]
    assert fairness.finite(found[0]) is None


def test_too_few_requests_make_no_window():
    who = numpy.array([0] * 199 + [1] * 400)
    assert not fairness.pv_by_window((1, 2), numpy.arange(599.0), who,
                                     numpy.ones(599))


# --- service while backlogged ------------------------------------------------

def test_waiting():
    assert fairness.waiting([0, 1, 8], [3, 5, 8]) == [(0, 5)]
    assert fairness.waiting([0, 4], [2, 9]) == [(0, 2), (4, 9)]
    assert fairness.waiting([0, 4], [2]) == [(0, 2), (4, math.inf)]


def test_backlogged():
    # Two outstanding: one in the device until 1, two until 4, then one.
    assert fairness.backlogged([0, 1, 6], [4, 7, 8], 2) == [(0, 1), (4, 6)]
    # More outstanding than the device ever has
    assert fairness.backlogged([0, 1, 6], [4, 7, 8], 3) == [(0, 6)]
    assert fairness.backlogged([0, 4, 8], [4, 8, 9], 1) == []
    assert fairness.backlogged([], [], 4) == []


def test_both():
    assert fairness.both([(0, 4), (6, 9)], [(2, 7), (8, 20)]) == [
        (2, 4), (6, 7), (8, 9)]
    assert not fairness.both([(0, 4)], [(4, 9)])


def naive_gap(one, other, weights, spans):
    """Every interval between two moments that matter."""
    most = 0
    for begin, end in spans:
        moments = sorted({begin, end, *(t for t in (*one[0], *other[0])
                                        if begin <= t <= end)})
        for low, high in itertools.combinations(moments, 2):
            served = [sum(a for t, a in zip(*side) if low < t <= high)
                      for side in (one, other)]
            most = max(most, abs(served[0] / weights[0] -
                                 served[1] / weights[1]))
    return most


def test_service_gap_by_hand():
    one, other = ([1, 2, 3], [4, 4, 4]), ([2, 5], [6, 6])
    # In (2, 3] the first gets 4 of weight 1; in (0, 3] 12 against 6 / 2
    assert fairness.service_gap(one, other, (1, 2), [(0, 9)]) == 9
    assert fairness.service_gap(one, other, (1, 2), [(0, 1.5)]) == 4
    assert fairness.service_gap(one, other, (1, 2), [(2, 2.5)]) == 0
    assert fairness.service_gap(one, other, (1, 2), []) == 0
    # Requests of one moment are counted in one interval.
    assert fairness.service_gap(([1], [4]), ([1], [8]), (1, 2),
                                [(0, 2)]) == 0


def test_service_gap_like_all_intervals():
    rng = random.Random(2)
    for _ in range(150):
        sides = []
        for _ in range(2):
            count = rng.randint(0, 12)
            sides.append((sorted(rng.randint(0, 20) for _ in range(count)),
                          [rng.randint(1, 5) for _ in range(count)]))
        edges = sorted(rng.sample(range(-1, 23), 4))
        spans = [tuple(edges[:2]), tuple(edges[2:])]
        weights = (rng.randint(1, 5), rng.randint(1, 5))
        assert fairness.service_gap(*sides, weights, spans) == \
            pytest.approx(naive_gap(*sides, weights, spans))


def test_start_time_fair_queueing_keeps_the_bound():
    """Models of the algorithm with and without fairness: the measure separates them."""
    def run(weights, sizes, depth, fair):
        tags, now, inside, log = [0.0, 0.0], 0, [], [[], []]
        for _ in range(400):
            while len(inside) < depth:
                who = min((0, 1), key=lambda n: tags[n]) if fair else \
                    int(tags[0] > 0 and tags[1] < tags[0] / 40)
                tags[who] += sizes[who] / weights[who]
                inside.append((who, now))
            now += 1
            who, issued = inside.pop(0)
            log[who].append((issued, now))
        return log
    weights, sizes, depth = (1, 5), (8, 2), 4
    gaps = []
    for fair in (True, False):
        log = run(weights, sizes, depth, fair)
        sides = [([end for _, end in rows], [size] * len(rows))
                 for rows, size in zip(log, sizes)]
        spans = fairness.both(*(fairness.backlogged(*zip(*rows), 100)
                                for rows in log))
        assert spans == [(0, pytest.approx(396, abs=160))]
        gaps.append(fairness.service_gap(*sides, weights, spans))
    bound = fairness.allowed_gap(sizes, weights, depth)
    assert bound == pytest.approx(5 * (8 / 1 + 2 / 5))
    assert gaps[0] <= bound < gaps[1]


# --- the rest ----------------------------------------------------------------

def test_course():
    period, rows = fairness.course(
        numpy.array([0.5, 1.5, 1.6, 3.0]), numpy.array([0, 1, 1, 0]),
        numpy.array([10, 20, 30, 40]), 2, 0, 4, bins=4)
    assert period == 1
    assert rows == [[10, 0, 0, 40], [0, 50, 0, 0]]
    assert fairness.course(numpy.array([]), numpy.array([]),
                           numpy.array([]), 2, 3, 3) == (0.0, [])


def test_depths():
    assert fairness.depths([0, 2, 3], [4, 5, 8], 0, 10) == {
        "0": 0.2, "1": 0.5, "2": 0.2, "3": 0.1}
    assert fairness.depths([0, 2, 3], [4, 5, 8], 3, 5) == {
        "2": 0.5, "3": 0.5}
    assert fairness.depths([0, 2], [4, 5], -5, 5) == {
        "0": 0.5, "1": 0.3, "2": 0.2}


def test_model_cost():
    model = {"rbps": 4096 * 1000, "rrandiops": 400,
             "wbps": 4096 * 500, "wrandiops": 250}
    found = fairness.model_cost(numpy.array([False, False, True]),
                                numpy.array([8, 9, 16]), model)
    # A page takes 1 ms to read, 2 to write; beyond it 1.5 and 2
    assert found == pytest.approx([0.0025, 0.0035, 0.006])


def test_deviation():
    assert fairness.deviation([2, 4, 4, 4, 5, 5, 7, 9]) == pytest.approx(2)
    assert fairness.deviation([]) is None
