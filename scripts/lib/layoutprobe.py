# SPDX-License-Identifier: GPL-2.0
"""Which reads wait for each other? The analysis of scripts/probe-layout.

All that it knows of a device is how long small reads take that are submitted
together. Two reads of one chip take longer than two of different chips. From
that it derives, one after the other: the times of a short and of a long pair;
the stripe, which is as long as neighbours share a chip; the number of stripes
until the first chip repeats; and whether that pattern continues for ever or
only within a larger stripe, which then has another number of chips. The result
has to predict fresh pairs before it is reported.

A device is an object with `sectors`, its size; `block`, the sectors of the
smallest read; `time(addresses)`, the ns that these reads take together; and
`clock()`, ns.
"""

import collections
import math
import random

# The values of descriptors: chips, and stripes in sectors.
MAX_CHIPS = 256
MAX_STRIPE = 2048
MAX_LEVELS = 4
# The least that a flash page has, and what candidates for it are multiples of.
GRAIN = 4

# Least ratio of a long pair's time to a short one's.
EFFECT = 0.10
# Standard errors between the means of long and short pairs.
SIGMAS = 6
# Shares of fresh pairs: predicted to wait and do; predicted not to and do all
# the same, beside a single one. Reads that a cache answers cost the first,
# nothing the second. A map of twice the chips that there are has eight such
# strays or more among the pairs that are tried.
HITS = 0.80
STRAYS = 0.0005
# Least confidence with which a map is reported.
CONFIDENCE = 0.85

Level = collections.namedtuple("Level", "unit mod")
Found = collections.namedtuple(
    "Found", "layout offset chips confidence sigmas effect hits strays reads")


class NoMap(Exception):
    """The device has no map that we could find; why."""


class NoStripes(NoMap):
    """These reads fit no stripes; other reads may."""


class OutOfTime(NoMap):
    """There was no time left to find it."""


def median(values):
    """The middle one; of an even number, the higher of the two."""
    return sorted(values)[len(values) // 2]


def lower_bound(good, number):
    """The share of successes that is exceeded with 97.5 % (Wilson)."""
    z, share = 1.96, good / number
    mid = share + z * z / (2 * number)
    spread = z * math.sqrt((share * (1 - share) + z * z / (4 * number))
                           / number)
    return (mid - spread) / (1 + z * z / number)


class Map:
    """Which chip an address is on, up to the chips' names."""

    def __init__(self, phase, levels):
        self.phase = phase
        self.levels = levels

    def chip(self, sector):
        """The number of its chip."""
        at, chip = sector + self.phase, 0
        for unit, mod in self.levels:
            chip = chip * mod + at // unit % mod
        return chip

    def chips(self):
        """Number of chips."""
        return math.prod(level.mod for level in self.levels)

    def period(self):
        """The sectors after which the map repeats."""
        return math.lcm(*(level.unit * level.mod for level in self.levels))

    def descriptor(self):
        """The map in the syntax of the attribute `layout`."""
        unit = self.levels[0].unit
        page = unit & -unit
        if len(self.levels) == 1 and page == unit:
            return f"page={512 * page} chips={self.levels[0].mod}"
        terms, mul = [], 1
        for level in self.levels:
            terms.append(f"{level.unit // page}:{level.mod}:{mul}")
            mul *= level.mod
        return f"page={512 * page} terms={','.join(terms)}"


def fit_at(unit, seen):
    """The phases of a stripe that agree with most of what was seen.

    `seen` has (position, distance, shared). A boundary lies between a pair or
    not: each one says of a range of phases that it is right or wrong.
    Returns how many agree, and ranges of phases.
    """
    change = collections.defaultdict(int)
    score = 0
    for at, distance, shared in seen:
        if distance >= unit:
            score += not shared
            continue
        score += shared
        value = -1 if shared else 1
        # A boundary is between them with phases from here on.
        begin = (unit - distance - at) % unit
        end = begin + distance
        change[begin] += value
        if end > unit:
            change[0] += value
            end -= unit
        if end < unit:
            change[end] -= value
    points = sorted({0, *change})
    best, ranges = -1, []
    for here, there in zip(points, points[1:] + [unit]):
        score += change[here]
        if score > best:
            best, ranges = score, []
        if score == best:
            ranges.append((here, there))
    return best, ranges


def fit(units, seen):
    """The stripe and phases that agree best: (agree, unit, ranges)."""
    best = (-1, 0, [])
    for unit in units:
        agree, ranges = fit_at(unit, seen)
        if agree > best[0]:
            best = (agree, unit, ranges)
    return best


def promising(units, seen):
    """The few stripes that agree best with what was seen."""
    return sorted(units, key=lambda unit: -fit_at(unit, seen)[0])[:6]


class Probe:
    """One search on one device."""

    def __init__(self, device, seconds=60, seed=1, say=lambda text: None):
        self.device = device
        self.random = random.Random(seed)
        self.say = say
        self.end = device.clock() + seconds * 10**9
        self.blocks = device.sectors // device.block
        self.reads = 0
        self.limit = 0
        self.votes = 1
        self.base = 0

    # --- reading ------------------------------------------------------------

    def time(self, *sectors):
        """How long these reads take together."""
        if self.device.clock() > self.end:
            raise OutOfTime("time is up")
        self.reads += len(sectors)
        return self.device.time(sectors)

    def shared(self, one, other):
        """Do two reads wait for each other?"""
        slow, need = 0, self.votes // 2 + 1
        for i in range(self.votes):
            # In either order: the device may depend on which one is first.
            slow += self.time(*((one, other) if i % 2 else (other, one))) \
                > self.limit
            if slow >= need or i + 1 - slow >= need:
                break
        return slow >= need

    def any_block(self, low=0, high=None):
        """A random block that begins in these sectors."""
        block = self.device.block
        first = -(-low // block)
        last = self.blocks if high is None else high // block
        return (first + int(self.random.random() * (last - first))) * block

    def far_pair(self):
        """Two random addresses."""
        return self.any_block(), self.any_block()

    def near_pair(self):
        """Two that are neighbours, so mostly of one page."""
        at = self.any_block(0, self.device.sectors - 2 * self.device.block)
        return at, at + self.device.block

    def stride_pair(self, stride):
        """Two that are so far apart."""
        at = self.any_block(0, self.device.sectors - stride
                            - self.device.block)
        return at, at + stride

    # --- short and long -----------------------------------------------------

    def calibrate(self):
        """How does waiting show in the times?"""
        if self.device.sectors < 4096 * self.device.block:
            raise NoMap("the device is too small to tell")
        self.say("short and long pairs")
        for _ in range(20):
            self.time(*self.far_pair())
        near = [self.time(*self.near_pair()) for _ in range(300)]
        far = [self.time(*self.far_pair()) for _ in range(300)]
        # Three quarters of neighbours share a page at least, and half of the
        # others no chip. Nothing here minds what is far out.
        short, long = sorted(far)[len(far) // 3], median(near)
        self.limit = (short + long) / 2
        apart = sum(t > self.limit for t in near) \
            - sum(t > self.limit for t in far)
        if apart < 0.2 * 300 or long < (1 + EFFECT) * short:
            self.calibrate_far(near + far)
        self.choose_votes()

    def calibrate_far(self, seen):
        """Neighbours say nothing: is there a distance that does?

        A die may answer a second read of its page from a register, and a
        block may be as large as a page.
        """
        step = max(GRAIN, self.device.block)
        self.say("no sharing among neighbours, trying distances")
        typical = median(seen)
        most = min(MAX_CHIPS * 32 // step, self.device.sectors // 4 // step)
        means = []
        for i in range(1, most + 1):
            # The least of four is long only if all are.
            times = sorted(self.time(*self.stride_pair(i * step))
                           for _ in range(4))
            means.append((times[0] + times[1], i * step))
        best = []
        for _, stride in sorted(means, reverse=True)[:12]:
            times = [self.time(*self.stride_pair(stride)) for _ in range(40)]
            long = median(times)
            if long > (1 + EFFECT) * typical:
                over = sum(t > (typical + long) / 2 for t in times)
                best.append((over, -stride, long))
        if not best or max(best)[0] < 30:
            alone = median([self.time(self.any_block()) for _ in range(40)])
            if typical > 1.6 * alone:
                raise NoMap("any two reads wait for each other: one chip, a "
                            "device that does one thing at a time, or times "
                            "as good as drawn")
            raise NoMap("no two reads wait for each other: nothing was ever "
                        "written there, a cache answers, or the device hides "
                        "its chips")
        # The shortest of those that are as good as the best.
        good = [b for b in best if b[0] >= max(best)[0] - 3]
        _, stride, long = max(good, key=lambda b: (b[1], b[0]))
        self.base = -stride
        self.limit = (typical + long) / 2

    def choose_votes(self):
        """How often must a pair be read until its answer can be relied on?"""
        pairs = [self.far_pair() if i % 2 else
                 self.stride_pair(self.base) if self.base else
                 self.near_pair() for i in range(200)]
        differ = sum((self.time(*p) > self.limit) != (self.time(*p)
                                                      > self.limit)
                     for p in pairs)
        if differ > 90:
            raise NoMap("whether two reads wait for each other changes all "
                        "the time")
        self.votes = next(v for most, v in ((4, 1), (20, 3), (50, 5), (90, 9))
                          if differ <= most)

    # --- stripes ------------------------------------------------------------

    def share(self, number, pair):
        """The share of such pairs that wait for each other."""
        return sum(self.shared(*pair()) for _ in range(number)) / number

    def ladder(self, pair, step, most):
        """Shares at growing distances, until there are few.

        Beyond the stripe they may grow again, if there are few chips.
        """
        seen = []
        distance = step
        while distance <= most:
            seen.append((distance,
                         self.share(60, lambda: pair(None, distance))))
            if seen[-1][1] <= 0.5:
                break
            distance *= 2
        return seen

    @staticmethod
    def estimate(seen, least):
        """The stripe that such shares speak of, roughly; not below `least`."""
        def likelihood(unit):
            total = 0.0
            for distance, share in seen:
                p = min(max(abs(1 - distance / unit), 0.04), 0.96)
                total += share * math.log(p) + (1 - share) * math.log(1 - p)
            return total
        units = [least]
        while units[-1] < 4 * seen[-1][0]:
            units.append(units[-1] * 1.04)
        return max(units, key=likelihood)

    def stripe(self, pair, step, most, least, units_near):
        """Stripe and phase, or None if sharing never ends.

        pair(at, distance): two addresses `distance` positions apart, and the
        position of the first, which is near a random boundary of stripes `at` =
        (unit, offset) or anywhere if that is None. Distances are multiples of
        `step` up to `most`.
        """
        shares = self.ladder(lambda at, distance: pair(at, distance)[:2],
                             step, most)
        if not shares or min(share for _, share in shares) > 0.7:
            return None
        rough = self.estimate(shares, least)
        units = units_near(rough)
        seen = []

        def look(at, distance):
            one, other, where = pair(at, distance)
            seen.append((where, distance, self.shared(one, other)))
        steps = max(1, min(int(rough * 0.6), most) // step)
        for _ in range(240):
            look(None, step * self.random.randint(1, steps))
        units = promising(units, seen)
        if not units:
            raise NoStripes("some reads wait for each other, but not by "
                            "stripes")
        agree, unit, ranges = fit(units, seen)
        for _ in range(20):
            old = unit, ranges
            for _ in range(30):
                # Around both ends of where a boundary would be between them.
                begin, end = self.random.choice(ranges)
                distance = step * self.random.randint(
                    1, max(1, min(4, (unit - 1) // step, steps)))
                width = max(2, end - begin)
                look((unit, -self.random.choice((begin, end))
                      - self.random.choice((0, distance))
                      + self.random.randint(-width, width)), distance)
            agree, unit, ranges = fit(units, seen)
            if sum(b - a for a, b in ranges) == 1 and old == (unit, ranges):
                break
        if agree < 0.85 * len(seen) or sum(b - a for a, b in ranges) > 1:
            raise NoStripes("some reads wait for each other, but not by "
                            "stripes")
        return unit, ranges[0][0]

    def place(self, at, room):
        """A position below `room`: any one, or one near a boundary."""
        if at is None:
            return self.random.randrange(room)
        unit, offset = at
        where = offset % unit
        return where + unit * self.random.randrange(
            max(1, (room - where) // unit))

    def first_stripe(self):
        """Within which distance do neighbours share a chip?"""
        block = self.device.block
        grain = max(GRAIN // block, 1)
        room = self.blocks - self.base // block - 1

        def pair(at, distance):
            where = min(self.place(at, room - distance), room - distance)
            one = where * block
            return one, one + self.base + distance * block, where

        def near(rough):
            return range(max(grain, int(rough * 0.5) // grain * grain),
                         max(int(rough * 2), grain) + 1, grain)
        self.say("stripe")
        found = self.stripe(pair, 1, min(MAX_STRIPE // block, room // 4), 1,
                            near)
        if not found:
            raise NoMap("neighbours wait for each other however far apart "
                        "they are: one chip, or far larger stripes than a "
                        "descriptor can be of use for")
        return found[0] * block, found[1] * block

    def in_unit(self, known, number):
        """A random block of a stripe of the first level."""
        unit = known.levels[0].unit
        low = number * unit - known.phase
        return self.any_block(low, low + unit)

    def next_stripe(self, known):
        """Within which distance does the map repeat? None: for ever."""
        unit = known.levels[0].unit
        step = known.period() // unit
        # The first one that the device has all of, and how many it has.
        first = -(-known.phase // unit)
        room = (self.device.sectors + known.phase) // unit - first

        def pair(at, distance):
            last = room - distance - 1
            where = first + min(last, self.place(
                at and (at[0], at[1] - first), last + 1))
            return (self.in_unit(known, where),
                    self.in_unit(known, where + distance), where)

        def near(rough):
            low, high = max(2, int(rough * 0.5)), int(rough * 2) + 1
            if high - low <= 300:
                return range(low, high)
            round_ones = {
                times * odd << k for k in range(40) for odd in (1, 3, 5, 7, 9)
                for times in (1, step) if low <= times * odd << k < high}
            if (high - low) // step <= 300:
                round_ones.update(range(-(-low // step) * step, high, step))
            return sorted(round_ones)
        self.say("does it repeat for ever?")
        # Within less than that the first chip would not have been used again.
        return self.stripe(pair, step, max(room // 2, 1), 1.25 * step, near)

    def modulus(self, known, unit):
        """After how many stripes of this size is the chip used again?

        `known` has all levels below, and the phase.
        """
        self.say(f"chips, by stripes of {unit // 2} KiB")
        base = known.levels[0].unit if known.levels else unit
        ground = Map(known.phase, known.levels or [Level(unit, 1)])
        step = ground.period() // base if known.levels else 1
        size = unit // base
        room = (self.device.sectors + known.phase) // unit - 1
        limit = min(MAX_CHIPS // known.chips() if known.levels
                    else MAX_CHIPS, room - 1)

        def pair(j):
            stripe = self.random.randrange(1, max(2, room - j))
            inside = self.random.randrange(size)
            # There the levels below have the same chips as here.
            rest = (inside - j * size) % step
            rest += step * self.random.randrange(
                max(1, (size - 1 - rest) // step + 1))
            return (self.in_unit(ground, stripe * size + inside),
                    self.in_unit(ground, (stripe + j) * size + rest))
        for j in range(1, limit + 1):
            # Of two stripes in a larger one every second pair crosses over.
            if self.share(7, lambda: pair(j)) and \
                    self.share(30, lambda: pair(j)) > 0.25 and \
                    self.share(60, lambda: pair(j)) > 0.3:
                return j
        if limit == room - 1 and known.levels:
            return room + 1
        raise NoMap(f"no chip comes again within {limit} stripes of "
                    f"{unit // 2} KiB")

    def search(self):
        """The map, not yet proven."""
        unit, phase = self.first_stripe()
        levels = [Level(unit, self.modulus(Map(phase, []), unit))]
        while True:
            known = Map(phase, levels)
            if known.chips() > MAX_CHIPS:
                raise NoMap(f"more than {MAX_CHIPS} chips would be wanted")
            found = self.next_stripe(known)
            if not found:
                return known
            if len(levels) == MAX_LEVELS:
                raise NoMap("stripes within stripes without end")
            unit = found[0] * levels[0].unit
            phase += found[1] * levels[0].unit
            levels = levels + [Level(unit, self.modulus(
                Map(phase, levels), unit))]

    # --- proof --------------------------------------------------------------

    def fresh(self, found, same):
        """A pair that should share a chip, or should not, and no stripe."""
        unit, period = found.levels[0].unit, found.period()
        near = min(4 * period, self.device.sectors // 2)
        for _ in range(100):
            one = self.any_block()
            if self.random.random() < 0.5:
                low = max(0, one - near)
                high = min(self.device.sectors, one + near)
            else:
                low, high = 0, self.device.sectors
            for _ in range(4 * MAX_CHIPS):
                other = self.any_block(low, high)
                if (found.chip(one) == found.chip(other)) == same and \
                        (one + found.phase) // unit != \
                        (other + found.phase) // unit:
                    return one, other
        raise NoMap(f"it looked like {found.descriptor()}, but the device is "
                    "too small to prove that")

    def prove(self, found):
        """Does the map hold for pairs that it was not made from?"""
        self.say("does it hold for fresh pairs?")
        if found.chips() < 2:
            raise NoMap("one chip only")
        number = {True: 200, False: max(400, 8 * found.chips())}
        times = {True: [], False: []}
        waited = {True: 0, False: 0}
        for same, count in number.items():
            for _ in range(count):
                pair = self.fresh(found, same)
                times[same].append(self.time(*pair))
                # A short one that was held up once is no stray.
                if (times[same][-1] > self.limit) != same or self.votes > 1:
                    waited[same] += all(
                        self.shared(*pair) for _ in range(1 if same else 3))
                else:
                    waited[same] += same
        mean = {k: sum(v) / len(v) for k, v in times.items()}
        error = math.sqrt(sum(
            sum((t - mean[k]) ** 2 for t in v) / len(v) / (len(v) - 1)
            for k, v in times.items()))
        apart = mean[True] - mean[False]
        result = Found(
            found.descriptor(), found.phase, found.chips(),
            (lower_bound(waited[True], number[True])
             + lower_bound(number[False] - waited[False], number[False])) / 2,
            apart / error if error else math.inf * apart,
            apart / mean[False], waited[True] / number[True],
            waited[False] / number[False], self.reads)
        about = (f"{result.layout}: of pairs that should wait for each other "
                 f"{100 * result.hits:.1f} % do, of others "
                 f"{100 * result.strays:.1f} %")
        if result.hits < HITS or result.confidence < CONFIDENCE or \
                waited[False] > 1 + STRAYS * number[False]:
            raise NoMap(f"it looked like {about}")
        if result.sigmas < SIGMAS or result.effect < EFFECT:
            raise NoMap(f"{about}, but that makes {100 * result.effect:.0f} % "
                        f"of the time, {result.sigmas:.1f} standard errors")
        return result

    def run(self):
        """Found, or NoMap."""
        self.calibrate()
        for _ in range(2):
            try:
                return self.prove(self.search())
            except NoStripes:
                self.say("no stripes: once more, elsewhere")
        return self.prove(self.search())
