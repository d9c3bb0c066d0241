# SPDX-License-Identifier: GPL-2.0
"""scripts/lib/sharecost.py against common/estimate/service_time.c and fairqueue.c themselves.

tests/unit/oracle_cost.c answers for them, to the last ns.
"""

import bisect
import importlib
import pathlib
import random
import sys

import numpy
import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

oracle = importlib.import_module("oracle")
sharecost = importlib.import_module("sharecost")


@pytest.fixture(name="ask", scope="module")
def _ask():
    ask = oracle.made()
    return lambda lines: ask("cost", lines)


# --- the time of a request, learned ------------------------------------------

def some_sectors(rng):
    """Usual, tiny and huge sizes, and those next to a class's limits."""
    return rng.choice([
        0, 1, 8, rng.randint(1, 64), rng.randint(1, 4096),
        max(0, (1 << rng.randint(0, 23)) + rng.randint(-1, 1)),
        rng.randint(1 << 21, 1 << 24)])


def some_time(rng):
    """Usual times, none at all, and stalls."""
    return rng.choice([0, rng.randint(0, 2000), rng.randint(50000, 90000),
                       rng.randint(10**6, 10**9), 1 << rng.randint(0, 36)])


@pytest.mark.parametrize("seed", range(20))
def test_what_is_learned(ask, seed):
    rng = random.Random(seed)
    cost, lines, wanted = sharecost.Cost(), [], []
    for _ in range(3000):
        way, sectors = rng.randrange(2), some_sectors(rng)
        if seed % 2 or rng.random() < 0.4:
            # With few different sizes classes stay empty.
            sectors = [8, 64, 256, 8, 2048, 1][sectors % (1 + seed % 6)]
        if rng.random() < 0.5:
            lines.append(f"time {way} {sectors}")
            wanted.append(str(cost.time(way, sectors)))
        else:
            time = some_time(rng)
            lines.append(f"learn {way} {sectors} {time}")
            wanted.append("ok")
            cost.learn(way, sectors, time)
    assert ask(lines) == wanted


# --- what requests are charged -----------------------------------------------

def some_run(rng, count):
    """(tenants, issued, done, writes, sectors) of a drive's work."""
    now, depth = rng.randint(1, 10**6), rng.randint(1, 40)
    sizes = rng.choice([[8], [8, 64], [1, 8, 17, 64, 300, 2048, 5000]])
    writes = rng.choice([0, 0.3, 1])
    issued, done, ends = [], [], []
    for n in range(count):
        now += rng.choice([0, 1, rng.randint(0, 3000), rng.randint(0, 90000)])
        if n >= depth:
            now = max(now, ends[n - depth])
        issued.append(now)
        done.append(now + rng.choice([1, rng.randint(1, 2000),
                                      rng.randint(20000, 4 * 10**6)]))
        bisect.insort(ends, done[-1])
    return ([rng.randrange(4) for _ in range(count)], issued, done,
            [rng.random() < writes for _ in range(count)],
            [rng.choice(sizes) for _ in range(count)])


def lines_of(who, issued, done, writes, sectors):
    """A run as input lines of the oracle, and (line, request) of each handover."""
    events = sorted([(at, 1, n) for n, at in enumerate(issued)] +
                    [(at, 0, n) for n, at in enumerate(done)])
    lines, handed = ["reset"], []
    for now, kind, n in events:
        if kind:
            handed.append((len(lines), n))
            lines.append(f"issue {n} {who[n]} {int(writes[n])} {sectors[n]} "
                         f"{now}")
        else:
            lines.append(f"end {n} {now}")
    return lines, handed


@pytest.mark.parametrize("seed", range(40))
def test_what_is_charged(ask, seed):
    rng = random.Random(seed)
    who, *run = some_run(rng, rng.choice([1, 2, 30, 400, 1500]))
    lines, handed = lines_of(who, *run)
    answers = ask(lines + [f"cost {n}" for n in range(4)])
    charges, since = sharecost.replay(*run)
    for line, n in handed:
        gone = since is not None and run[0][n] < since
        assert charges[n] == (0 if gone else int(answers[line]))
    # A tenant's final charge is the scheduler's own figure.
    assert [int(text) for text in answers[len(lines):]] == [
        sum(charge for charge, one in zip(charges, who) if one == n)
        for n in range(4)]


def test_by_hand():
    """Two at a time from 0 to 40, then one of them alone."""
    issued, done = [0, 0, 50000, 90000], [40000, 60000, 80000, 95000]
    charges, since = sharecost.replay(issued, done, [False] * 4, [8] * 4)
    # Until 40 a guess, forgiven; then 40 / 2, and for the last one (20 + 10 +
    # 5 + 20 + 5 + 20) / 3 of what each had for itself.
    assert since == 40000
    assert charges == [0, 0, 20000, (20000 + 35000 + 25000) // 3 + 1]


def test_a_direction_that_comes_later_forgives_again():
    issued, done = [0, 20000, 40000, 60000], [10000, 30000, 50000, 70000]
    writes = [False, False, True, False]
    charges, since = sharecost.replay(issued, done, writes, [8, 8, 16, 8])
    assert since == 50000 and charges == [0, 0, 0, 10000]
    assert sharecost.replay(issued[:2], done[:2], writes[:2], [8, 8]) == (
        [0, 10000], 10000)
    assert sharecost.replay([], [], [], []) == ([], None)
    # A request that took no time at all counts as 1 ns.
    assert sharecost.replay([7], [7], [True], [8]) == ([0], 7)


def test_a_log_is_the_device_s_time():
    log = {"issued": numpy.array([0.0, 1e-3, 2e-3]),
           "done": numpy.array([0.5e-3, 1.5e-3, 2.25e-3]),
           "write": numpy.zeros(3, bool), "sectors": numpy.full(3, 8)}
    for scale in (1, 32):
        charges, since = sharecost.of_log(log, scale, False)
        assert charges.tolist() == [0, scale * 500000, scale * 500000]
        assert since == pytest.approx(0.5e-3)
    empty = {key: values[:0] for key, values in log.items()}
    for refused in (False, True):
        assert sharecost.of_log(empty, 32, refused)[1] == -numpy.inf


def test_who_waits_in_front_of_a_full_drive_was_given_up_before():
    """Two at a time: the third and fourth are handed over when the one before got in."""
    issued, done = [0, 10, 40, 60, 97, 98], [40, 60, 80, 81, 110, 111]
    given = [0, 10, 10, 40, 60, 98]
    assert sharecost.handed_over(issued, done) == given
    # Never full but with the last one
    assert sharecost.handed_over([0, 5], [9, 8]) == [0, 5]
    # By their times of issue, whatever their order here
    assert sharecost.handed_over([40, 10, 0], [80, 60, 40]) == [10, 10, 0]
    log = {"issued": numpy.array(issued) / 1e9,
           "done": numpy.array(done) / 1e9,
           "write": numpy.zeros(6, bool), "sectors": numpy.full(6, 8)}
    assert sharecost.of_log(log, 1, True)[0].tolist() == sharecost.replay(
        given, done, [False] * 6, [8] * 6)[0]
    assert sharecost.of_log(log, 1, False)[0].tolist() == sharecost.replay(
        issued, done, [False] * 6, [8] * 6)[0]
