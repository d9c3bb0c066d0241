# SPDX-License-Identifier: GPL-2.0
"""common/elevator/pending.c and who wakes whom: models of all orders of their steps.

Requests come to two hardware queues of a device with a bound of 1 or 2 that has one in
it, while somebody reads statistics. Whatever the order, all of them go. A step is one access
to what others see; that each sees the others' in their order is what the barriers are
for, and taken for granted here. Without one of the things that the code does a
request is forgotten in some order, or the policy is asked for one when it has none.

A second model has a policy that holds all requests back while another one is in flight.
Its end, reported without the lock, has to make the policy choose again.
"""

import collections

import pytest

State = collections.namedtuple(
    "State", "pending taking hand queued bits locked inflight runs none tasks")
Task = collections.namedtuple("Task", "at what")

def set_at(row, place, value):
    """A tuple with another value at a place."""
    return row[:place] + (value,) + row[place + 1:]


class Model:
    """The code, without what @without names."""

    def __init__(self, without="", bound=1):
        self.without = without
        self.bound = bound

    def step(self, now, task):
        """One task's next step: (what changes, the task afterwards or None).

        None if it waits for the lock. A third member: tasks that begin.
        """
        return getattr(self, task.at)(now, task.what)

    # elv_insert_requests(): the core asks has_work() next

    def add(self, now, what):
        """flash_pending_add()"""
        return {"pending": now.pending + (int(what),)}, Task("work", "")

    # flash_any_waits(), flash_ready(); @what: who asks, the core, a kick or an end

    def work(self, now, what):
        """The pending list"""
        seen = now.pending and self.without != "pending"
        return {}, Task(self.waits(what) if seen else "work2", what)

    def waits(self, what):
        """flash_any_waits() is true: what is asked next?"""
        return "needs" if what in ("full", "free") else "slot"

    def work2(self, now, what):
        """Is a drain under way?"""
        seen = now.taking and self.without != "taking"
        return {}, Task(self.waits(what) if seen else "work3", what)

    def work3(self, now, what):
        """The queues"""
        return {}, Task(self.waits(what), what) if sum(now.queued) else None

    def slot(self, now, what):
        """A free slot"""
        if now.inflight >= self.bound:
            return {}, None
        return {}, Task("come" if what == "kick" else "lock",
                        "" if what == "kick" else "dispatch")

    # Under the lock: who dispatches, who looks

    def lock(self, now, what):
        """spin_lock()"""
        return None if now.locked else ({"locked": 1}, Task("take", what))

    def take(self, now, what):
        """flash_drain() begins"""
        if not now.pending:
            return {}, Task("decide", what)
        return {"taking": 1}, Task("empty", what)

    def empty(self, now, what):
        """llist_del_all()"""
        return {"hand": now.pending, "pending": ()}, Task("bit", what)

    def bit(self, now, what):
        """flash_work_set()"""
        return {"bits": set_at(now.bits, now.hand[0], 1)}, Task("queue", what)

    def queue(self, now, what):
        """flash_queued_add()"""
        first, *rest = now.hand
        return ({"hand": tuple(rest),
                 "queued": set_at(now.queued, first, now.queued[first] + 1)},
                Task("bit" if rest else "taken", what))

    def taken(self, _now, what):
        """It ends"""
        return {"taking": 0}, Task("decide", what)

    def decide(self, now, what):
        """What the lock was taken for"""
        if what == "look" or now.inflight >= self.bound:
            return {"locked": 0}, None
        if not sum(now.queued):
            # For flash_ready() what has come since is work, too.
            asks = now.pending and self.without == "queued"
            return {"locked": 0, "none": now.none + bool(asks)}, None
        first = 0 if now.queued[0] else 1
        left = now.queued[first] - 1
        return ({"queued": set_at(now.queued, first, left),
                 "bits": set_at(now.bits, first, int(left > 0)),
                 "inflight": now.inflight + 1},
                Task("unlock", what), (Task("end", ""),))

    def unlock(self, _now, _what):
        """The round goes on"""
        return {"locked": 0}, Task("work", "")

    # flash_release(), flash_run()

    def end(self, now, _what):
        """A slot is given back"""
        full = now.inflight >= self.bound and self.without != "full"
        return ({"inflight": now.inflight - 1},
                Task("work", "full" if full else "free"))

    def needs(self, now, what):
        """flash_needs_run()"""
        runs = what == "full" or sum(now.queued) > 1
        return {}, Task("work", "kick") if runs else None

    def come(self, now, _what):
        """flash_pending_any(), once more"""
        return {}, Task("find", "come") if now.pending else Task("come2", "")

    def come2(self, now, _what):
        """Is a drain under way?"""
        seen = now.taking and self.without != "taking"
        return {}, Task("find", "come" if seen else "")

    def find(self, now, what):
        """flash_find(), or flash_find_pending(): a worker runs the queue"""
        runs = any(now.bits) or (what and self.without != "find")
        return {"runs": now.runs + bool(runs)}, None

    def following(self, now):
        """All states that may be next."""
        if now.runs:
            yield now._replace(runs=now.runs - 1, tasks=tuple(sorted(
                now.tasks + (Task("work", ""),))))
        for place, task in enumerate(now.tasks):
            done = self.step(now, task)
            if not done:
                continue
            changes, after, *begin = done
            tasks = now.tasks[:place] + now.tasks[place + 1:]
            tasks += (after,) if after else ()
            tasks += begin[0] if begin else ()
            yield now._replace(tasks=tuple(sorted(tasks)), **changes)

    def forgotten(self, come, looks):
        """(ends that are wrong, all ends) of all orders: see the top."""
        tasks = [Task("add", place) for place in come]
        tasks += [Task("lock", "look")] * looks + [Task("end", "")]
        first = State((), 0, (), (0, 0), (0, 0), 0, 1, 0, 0,
                      tuple(sorted(tasks)))
        seen, todo, left, ends = {first}, [first], 0, 0
        while todo:
            now = todo.pop()
            last = True
            for after in self.following(now):
                last = False
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
            if last:
                ends += 1
                assert not now.tasks and not now.locked and not now.taking
                left += bool(now.pending or now.hand or sum(now.queued) or
                             now.none)
                assert now.inflight == 0
        return left, ends


@pytest.mark.parametrize("bound, come, looks", [
    (1, "0", 1), (1, "0", 2), (1, "01", 0),
    (2, "0", 1), (2, "01", 0), (2, "00", 0)])
def test_all_go(bound, come, looks):
    """Whatever the order."""
    left, ends = Model(bound=bound).forgotten(come, looks)
    assert (left, ends > 0) == (0, True)


@pytest.mark.parametrize("without, come, looks", [
    ("pending", "0", 1), ("taking", "0", 1), ("find", "0", 1), ("queued", "00", 0),
    ("full", "0", 0)])
def test_what_it_takes(without, come, looks):
    """Each of these is needed."""
    assert Model(without).forgotten(come, looks)[0] > 0
