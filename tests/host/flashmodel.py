# SPDX-License-Identifier: GPL-2.0
"""Devices for tests/host/test_probe.py: how long do reads take together?

A small model, apart from flashsim: dies that do one read at a time, channels
that move one at a time, a fixed delay, and what disturbs a measurement.
"""

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]
                       / "scripts" / "lib"))
import probetest  # pylint: disable=wrong-import-position


def mixed(value, seed):
    """A number that depends on both and looks drawn."""
    value = (value * 0x9E3779B97F4A7C15 + seed * 0xD1B54A32D192ED03 + 1) \
        & 0xFFFFFFFFFFFFFFFF
    value ^= value >> 29
    value = value * 0xBF58476D1CE4E5B9 & 0xFFFFFFFFFFFFFFFF
    return value ^ value >> 32


class Static(probetest.Layout):
    """The address decides; folds (`xors`) are what no descriptor can say."""

    def unit(self, sector):
        """The flash page of a sector."""
        return (sector + self.offset) // self.page


class Log:
    """Where a page is depends on when it was written last."""

    def __init__(self, page, chips, seed, moved=1.0, run=1):
        self.page = page
        self.chips = chips
        self.seed = seed
        self.moved = moved
        self.run = run

    def unit(self, sector):
        """The mapping unit of a sector."""
        return sector // self.page

    def chip(self, sector):
        """Its chip: that of its turn, unless it was overwritten since."""
        turn = sector // self.page // self.run
        if mixed(turn, self.seed) % 1000 >= 1000 * self.moved:
            return turn % self.chips
        return mixed(turn, self.seed + 1) % self.chips


class Device:
    """The probe's view of a device."""

    def __init__(self, place, seed, *, sectors=1 << 19, block=1, sense=50000,
                 sector_ns=640, channels=8, delay=15000, vary=0.0, jitter=0,
                 spikes=0.0, hits=0.0, register=False, alike=False,
                 exponential=False):
        self.place = place
        self.sectors = sectors
        self.block = block
        self.sense = sense
        self.bus = sector_ns * block
        self.channels = channels
        self.delay = delay
        self.vary = vary
        self.jitter = jitter
        self.spikes = spikes
        self.hits = hits
        self.register = register
        self.alike = alike
        self.exponential = exponential
        self.seed = seed
        self.random = random.Random(seed)
        self.page_of = {}
        self.now = 0
        self.reads = 0

    def clock(self):
        """ns since the device was made."""
        return self.now

    def time(self, sectors):
        """ns that these reads take together."""
        draw = self.random.random
        dies, buses, last = {}, {}, 0
        for i, sector in enumerate(sectors):
            assert 0 <= sector <= self.sectors - self.block
            assert sector % self.block == 0
            self.reads += 1
            at = 1500 * i + self.delay
            page = self.place.unit(sector)
            if self.hits and mixed(page, self.seed) % 10000 < \
                    10000 * self.hits:
                last = max(last, at + 2000)
                continue
            # On one that is alike, no read ever waits for another.
            chip = (i, 0) if self.alike else self.place.chip(sector)
            begin = max(at, dies.get(chip, 0))
            if not self.register or self.page_of.get(chip) != page:
                begin += self.random.expovariate(1 / self.sense) \
                    if self.exponential else \
                    self.sense * (1 + self.vary * (2 * draw() - 1))
            self.page_of[chip] = page
            bus = i if self.alike else chip % self.channels
            end = max(begin, buses.get(bus, 0)) + self.bus
            buses[bus] = dies[chip] = end
            last = max(last, end)
        if self.jitter:
            last += self.random.expovariate(1 / self.jitter)
        if self.spikes and draw() < self.spikes:
            last += 300000 * draw()
        self.now += int(last) + 5000
        return int(last)


def random_static(seed):
    """A device with a map that a descriptor can say."""
    rand = random.Random(f"static {seed}")
    page = rand.choice((4, 8, 16, 32))
    kind = rand.random()
    terms = []
    if kind < 0.65:
        terms = [(1, rand.choice((rand.randint(2, 64), rand.randint(65, 256),
                                  2 ** rand.randint(1, 8))), 1)]
    else:
        div, mul = 1, 1
        for most in (8, 8, 4)[:rand.choice((2, 2, 3))]:
            mod = rand.choice([n for n in (2, 3, 4, 5, 8) if n <= most])
            terms.append((div, mod, mul))
            mul *= mod
            div *= mod * rand.choice((2, 3, 4, 8))
        if kind > 0.9:
            # The larger stripe is no whole number of rounds of the smaller.
            terms = [(1, 3, 1), (rand.choice((16, 32)), rand.choice((2, 5)),
                                 3)]
    offset = rand.choice((0, rand.randrange(8), rand.randrange(1 << 20)))
    return Device(Static(page, terms, offset), seed, **_manners(rand))


def random_other(seed):
    """A device that no descriptor describes."""
    rand = random.Random(f"other {seed}")
    page = rand.choice((4, 8, 16, 32))
    kind = rand.randrange(4)
    manners = _manners(rand)
    if kind == 0:
        return Device(Static(page, [(1, 4, 1)]), seed, alike=True, **manners)
    if kind < 3:
        return Device(Log(page, rand.randint(3, 128), seed,
                          rand.choice((1, 1, 0.6, 0.3)),
                          rand.choice((1, 1, 2, 6))), seed, **manners)
    # On two chips a fold by one is a stripe of twice the size: a map.
    bits = rand.randint(2, 7)
    shifts = {rand.randint(1, 9) for _ in range(rand.randint(1, 2))}
    return Device(Static(page, [(1, 2 ** bits, 1)], rand.randrange(1 << 20),
                         tuple(shifts)), seed, **manners)


def _manners(rand):
    """Parameters for a device's size, speed and noise."""
    return {
        "sectors": rand.choice((1 << 18, 1 << 20, 3 << 20, 1 << 27)),
        "sense": rand.choice((20000, 36000, 50000, 90000)),
        "sector_ns": rand.choice((400, 640, 1300, 3000)),
        "channels": rand.choice((2, 4, 8)),
        "delay": rand.choice((5000, 20000)),
        "vary": rand.choice((0, 0.05, 0.1)),
        "jitter": rand.choice((0, 2000, 5000)),
        "spikes": rand.choice((0, 0.005, 0.02)),
        "hits": rand.choice((0, 0, 0.01, 0.04)),
    }
