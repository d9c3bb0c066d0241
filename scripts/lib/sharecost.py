# SPDX-License-Identifier: GPL-2.0
"""A scheduler's charge for each request, if it charges time. No I/O.

The scheduler reports sums only. But the charge follows from when each request arrived at the
device and when it ended, which the device's log has. So this file repeats the same
arithmetic, in whole numbers: that of common/estimate/service_time.h and of fair_work(),
fair_charge(), fair_learn() in common/share/. tests/host compares it with that code.

Times are ns as the scheduler counts them: the guest's.
"""

import numpy

# service_time.h
CLASSES = 12
WEIGHT = 8
SHIFT = 8
STALL, STALL_MIN = 4, 1000
LONGEST = 1 << 33
LARGEST = 1 << 22
# common/share/fairqueue.h and fairqueue.c
NOTHING = 8
BASE, SLOPE = 20000, 500
WORK_SHIFT = 8


def moved(average, sample, weight):
    """flash_cost_move()"""
    sample <<= SHIFT
    if sample >= average:
        return average + (sample - average + weight // 2) // weight
    return average - (average - sample + weight // 2) // weight


class Cost:
    """struct flash_cost: what is known of a device."""

    def __init__(self):
        # By direction and size: samples, average size, average time
        self.classes = [[[0, 0, 0] for _ in range(CLASSES)]
                        for _ in range(2)]

    def learn(self, way, sectors, time):
        """flash_cost_learn()"""
        if not sectors:
            return
        sectors, time = min(sectors, LARGEST), min(time, LONGEST)
        one = self.classes[way][min(sectors.bit_length(), CLASSES) - 1]
        if one[0] < WEIGHT:
            one[0] += 1
        else:
            time = min(time, max((one[2] >> SHIFT) * STALL, STALL_MIN))
        one[1] = moved(one[1], sectors, one[0])
        one[2] = moved(one[2], time, one[0])

    def known(self, way):
        """flash_cost_known()"""
        return any(one[0] for one in self.classes[way])

    def time(self, way, sectors):
        """flash_cost_ns()"""
        size = min(sectors, LARGEST) << SHIFT
        low = high = None
        for one in self.classes[way]:
            if not one[0]:
                continue
            low, high = high, one
            if one[1] >= size:
                break
        if not high:
            return 0
        found = high[2]
        if low:
            run = (high[1] - low[1]) >> SHIFT
            found = low[2]
            if run:
                found += max(0, high[2] - low[2]) * \
                    ((size - low[1]) >> SHIFT) // run
        if size > high[1]:
            found = min(found, high[2] * size // high[1])
        return (found + (1 << (SHIFT - 1))) >> SHIFT


def handed_over(issued, done):
    """When the scheduler gave up each request, to a device that refused some.

    Without a tag of the device a request that the scheduler has given up waits
    in front of it, and the scheduler is asked for no other. So while the device
    holds as many as it can, the next one that it gets has been given up since
    it got the one before. (If there always is a next one. Where there is not, the
    sums show how far this is off.)
    """
    inside, came = 0, []
    for _, step, n in sorted([(at, 1, n) for n, at in enumerate(issued)] +
                             [(at, -1, n) for n, at in enumerate(done)]):
        inside += step
        if step > 0:
            came.append((n, inside))
    found, most = list(issued), max((held for _, held in came), default=0)
    for (before, held), (n, _) in zip(came, came[1:]):
        if held == most:
            found[n] = issued[before]
    return found


def replay(issued, done, writes, sectors):
    """(what each request is charged, when that began) of one run.

    A request is charged when it is handed over, by what is known then. As soon
    as anything is known of a direction all is forgiven that was charged before
    (fair_restart()): that is 0, and the moment is the last such one; None
    if there was none. Sequences of whole numbers, an entry a request, all that
    the device got. issued: when the scheduler gave it up.
    """
    count = len(issued)
    # At one moment completions precede arrivals, as they release slots; no request ends before
    # it arrived.
    order = sorted([(issued[n], 1, n) for n in range(count)] +
                   [(done[n], 2 if done[n] <= issued[n] else 0, n)
                    for n in range(count)])
    cost, charges, begun, since = Cost(), [0] * count, [0] * count, None
    work = worked = inside = 0
    handed = []
    for now, kind, n in order:
        # fair_work()
        if inside and now > worked:
            work += ((now - worked) << WORK_SHIFT) // inside
        worked = now
        way = int(writes[n])
        if kind == 1:
            size = sectors[n] or NOTHING
            charges[n] = cost.time(way, size) or BASE + size * SLOPE
            begun[n] = work
            handed.append(n)
            inside += 1
            continue
        # fair_learn()
        guess = not cost.known(way)
        cost.learn(way, sectors[n], max(1, (work - begun[n]) >> WORK_SHIFT))
        if guess and cost.known(way):
            for one in handed:
                charges[one] = 0
            since = now
        inside -= 1
    return charges, since


def of_log(log, scale, refused):
    """replay() of a device_log(); (array, s of the device).

    Its times are s of the device, which runs `scale` times slower for a guest.
    refused: the scheduler has given up more than the device ever held.
    """
    issued, done = (numpy.rint(log[key] * scale * 1e9).astype(numpy.int64)
                    .tolist() for key in ("issued", "done"))
    if refused:
        issued = handed_over(issued, done)
    charges, since = replay(issued, done, log["write"].tolist(),
                            log["sectors"].tolist())
    return (numpy.array(charges, float),
            -numpy.inf if since is None else since / 1e9 / scale)
