# SPDX-License-Identifier: GPL-2.0
"""common/elevator/pending.c and its wakeups: models of all orders of their steps.

Submitters insert requests into two hardware queues of a device with a bound of 1 or 2 and
one request in flight, while a task reads statistics. In every order all of them are
dispatched. A step is one access to shared memory; that each task sees the others' accesses
in their order is the purpose of the barriers, and taken for granted here. If one of the
code's measures is left out, a request is forgotten in some order, or the policy is asked for
one when it has none.

A second model has a policy that holds all requests back while another one is in flight.
Its end, reported without the lock, has to make the policy choose again.

A third model has requests that are chosen together and taken without the lock.
"""

import collections

import pytest

State = collections.namedtuple(
    "State", "pending taking hand queued bits locked inflight runs none tasks")
Task = collections.namedtuple("Task", "at what")

def set_at(row, place, value):
    """A tuple with another value at a place."""
    return row[:place] + (value,) + row[place + 1:]


class Orders:
    """All orders of the steps of several tasks."""

    def step(self, now, task):
        """One task's next step: (what changes, the task afterwards or None).

        None if it waits for the lock. A third member: tasks that begin.
        """
        return getattr(self, task.at)(now, task.what)

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

    def ends(self, first):
        """All states without a runnable step."""
        seen, todo = {first}, [first]
        while todo:
            now = todo.pop()
            after = set(self.following(now))
            todo += after - seen
            seen |= after
            if not after:
                assert not now.tasks and not now.locked and not now.taking
                yield now


class Model(Orders):
    """The code, without what @without names."""

    def __init__(self, without="", bound=1):
        self.without = without
        self.bound = bound

    # elv_insert_requests(): the core asks has_work() next

    def add(self, now, what):
        """flash_pending_add()"""
        return {"pending": now.pending + (int(what),)}, Task("work", "")

    # flash_any_waits(), flash_ready(); @what: the caller: the core, a kick or an end

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

    # Under the lock: dispatchers and readers

    def lock(self, now, what):
        """spin_lock()"""
        return None if now.locked else ({"locked": 1}, Task("take", what))

    def take(self, now, what):
        """flash_drain() begins"""
        if not now.pending:
            return {}, Task("decide", what)
        if what == "dispatch" and len(now.pending) == 1 and not sum(now.queued):
            return {"taking": 1}, Task("alone", what)
        return {"taking": 1}, Task("empty", what)

    def alone(self, now, what):
        """flash_pending_lone(): cmpxchg(), which fails if there are more by now"""
        if len(now.pending) > 1:
            return {"taking": 0}, Task("take", what)
        return {"hand": now.pending, "pending": ()}, Task("pass_", what)

    def pass_(self, now, what):
        """flash_pass(): a slot, or flash_pass_waits()"""
        if now.inflight >= self.bound:
            return {}, Task("bit", what)
        return ({"hand": (), "inflight": now.inflight + 1}, Task("passed", what),
                (Task("end", ""),))

    def passed(self, _now, what):
        """The request is dispatched"""
        return {"taking": 0}, Task("unlock", what)

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
        """flash_drain() ends"""
        return {"taking": 0}, Task("decide", what)

    def decide(self, now, what):
        """The action for which the task took the lock"""
        if what == "look" or now.inflight >= self.bound:
            return {"locked": 0}, None
        if not sum(now.queued):
            # flash_ready() also counts requests submitted since the drain.
            asks = now.pending and self.without == "queued"
            return {"locked": 0, "none": now.none + bool(asks)}, None
        first = 0 if now.queued[0] else 1
        left = now.queued[first] - 1
        return ({"queued": set_at(now.queued, first, left),
                 "bits": set_at(now.bits, first, int(left > 0)),
                 "inflight": now.inflight + 1},
                Task("unlock", what), (Task("end", ""),))

    def unlock(self, _now, _what):
        """The round continues"""
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

    def forgotten(self, come, looks):
        """(ends that are wrong, all ends) of all orders: see the top."""
        tasks = [Task("add", place) for place in come]
        tasks += [Task("lock", "look")] * looks + [Task("end", "")]
        first = State((), 0, (), (0, 0), (0, 0), 0, 1, 0, 0,
                      tuple(sorted(tasks)))
        ends = [bool(now.pending or now.hand or sum(now.queued) or now.none or now.inflight)
                for now in self.ends(first)]
        return sum(ends), len(ends)


@pytest.mark.parametrize("bound, come, looks", [
    (1, "0", 1), (1, "0", 2), (1, "01", 0),
    (2, "0", 1), (2, "01", 0), (2, "00", 0)])
def test_all_go(bound, come, looks):
    """All are dispatched, in every order."""
    left, ends = Model(bound=bound).forgotten(come, looks)
    assert (left, ends > 0) == (0, True)


@pytest.mark.parametrize("without, come, looks", [
    ("pending", "0", 1), ("taking", "0", 1), ("find", "0", 1), ("queued", "00", 0),
    ("full", "0", 0)])
def test_what_it_takes(without, come, looks):
    """Each of these is needed."""
    assert Model(without).forgotten(come, looks)[0] > 0


HoldState = collections.namedtuple(
    "HoldState", "pending ends taking came gone queued out held changed left locked "
                 "inflight runs tasks")


class Hold(Orders):
    """A policy that holds all back while, as far as it knows, one is in flight.

    One hardware queue, and a limit that is never reached. The code, without what
    @without names.
    """

    def __init__(self, without=""):
        self.without = without

    # flash_pending_add(); the core asks has_work() next

    def add(self, now, _what):
        """llist_add_batch()"""
        return {"pending": now.pending + 1}, Task("work", "")

    # flash_ready(); @what: the caller: the core, a kick, an end

    def work(self, now, what):
        """The pending list"""
        return {}, Task(self.waits(what) if now.pending else "work2", what)

    def waits(self, what):
        """flash_any_waits() is true: what is asked next?"""
        if what == "end":
            return "release"
        return "late" if self.without == "order" else "held"

    def work2(self, now, what):
        """Is a drain under way?"""
        return {}, Task(self.waits(what) if now.taking else "work3", what)

    def work3(self, now, what):
        """The queues"""
        return {}, Task(self.waits(what), what) if now.queued else None

    def ready(self, what):
        """The next step after flash_ready() was true"""
        return Task({"kick": "run", "again": "lock", "": "ask", "asleep": "doze"}[what],
                    "dispatch")

    def held(self, now, what):
        """flash_queue.held"""
        return {}, Task("events", what) if now.held else self.ready(what)

    def events(self, now, what):
        """flash_pending_events(): the list of arrivals"""
        return {}, self.ready(what) if now.pending else Task("events2", what)

    def events2(self, now, what):
        """The list of ends"""
        seen = now.ends and self.without != "ends"
        return {}, self.ready(what) if seen else Task("events3", what)

    def events3(self, now, what):
        """Is a drain under way?"""
        if now.taking:
            return {}, self.ready(what)
        return {}, None if self.without == "order" else Task("changed", what)

    def changed(self, now, what):
        """flash_queue.changed, after the lists"""
        seen = now.changed and self.without != "changed"
        return {}, self.ready(what) if seen else Task("held2", what)

    def held2(self, now, what):
        """flash_queue.held once more"""
        hides = now.held or self.without == "again"
        return {}, None if hides else self.ready(what)

    def late(self, now, what):
        """flash_queue.changed before the lists, which is wrong"""
        return {}, self.ready(what) if now.changed else Task("held", what)

    def ask(self, now, _what):
        """flash_has_work()"""
        return {}, Task("lock", "settle" if now.held else "dispatch")

    def doze(self, now, _what):
        """flash_has_work() of a task that loses the CPU before its run"""
        return {}, Task("lock", "asleep") if now.held else None

    def run(self, now, _what):
        """flash_run(): a worker"""
        return {"runs": now.runs + 1}, None

    # Under the lock: dispatchers, askers of the policy and readers

    def lock(self, now, what):
        """spin_lock()"""
        return None if now.locked else ({"locked": 1}, Task("lock2", what))

    def lock2(self, now, what):
        """flash_pending_events(): the list of arrivals"""
        return {}, Task("take" if now.pending else "lock3", what)

    def lock3(self, now, what):
        """The list of ends"""
        return {}, Task("take" if now.ends else "settle", what)

    def take(self, now, what):
        """flash_pending_take() begins"""
        if what == "dispatch" and now.pending == 1 and not now.queued and now.ends < 3:
            return {"taking": 1}, Task("alone", what)
        return {"taking": 1}, Task("take2", what)

    def alone(self, now, what):
        """flash_pending_lone(): cmpxchg(), which fails if there are more arrivals by now"""
        if now.pending > 1:
            return {"taking": 0}, Task("lock2", what)
        return {"came": 1, "pending": 0}, Task("alone2", what)

    def alone2(self, now, what):
        """llist_del_all() of the ends"""
        return ({"out": now.out - now.ends, "ends": 0, "changed": now.changed or now.ends},
                Task("pass_", what))

    def pass_(self, now, what):
        """flash_pass(): the policy holds it back, or it is dispatched"""
        if now.out or now.held:
            return {}, Task("move", what)
        return ({"came": 0, "out": 1, "changed": 1, "inflight": now.inflight + 1},
                Task("passed", what), (Task("end", ""),))

    def passed(self, _now, what):
        """It is dispatched"""
        return {"taking": 0}, Task("unlock", what)

    def take2(self, now, what):
        """llist_del_all() of the arrivals"""
        return {"came": now.pending, "pending": 0}, Task("take3", what)

    def take3(self, now, what):
        """llist_del_all() of the ends"""
        return {"gone": now.ends, "ends": 0}, Task("move", what)

    def move(self, now, what):
        """flash_drain_end(), then flash_drain_arrival()"""
        return ({"out": now.out - now.gone, "gone": 0, "changed": 1,
                 "queued": now.queued + now.came, "came": 0}, Task("taken", what))

    def taken(self, _now, what):
        """It ends"""
        return {"taking": 0}, Task("settle", what)

    def settle(self, now, what):
        """flash_ready_settled() notes that the next end has to kick"""
        if what == "look" or not now.changed:
            return {}, Task("decide", what)
        left = what in ("settle", "asleep") and self.without != "left"
        return {"left": now.left or int(left)}, Task("settle2", what)

    def settle2(self, now, what):
        """flash_ask_holds() has its answer, and sets @held"""
        return {"held": int(now.queued and now.out)}, Task("settle3", what)

    def settle3(self, _now, what):
        """Clears @changed"""
        return {"changed": 0}, Task("decide", what)

    def decide(self, now, what):
        """The action for which the task took the lock"""
        if what == "dispatch" and now.held and self.without != "missed":
            return {}, Task("missed", what)
        if what != "dispatch" or now.held or not now.queued:
            return {"locked": 0}, Task("work", "again") if what == "settle" else None
        return ({"queued": now.queued - 1, "out": now.out + 1, "changed": 1,
                 "left": int(now.queued > 1), "inflight": now.inflight + 1},
                Task("unlock", what), (Task("end", ""),))

    def missed(self, now, _what):
        """flash_pending_events() once more; which list is read first does not matter"""
        missed = now.pending or now.ends
        return {"locked": 0}, Task("work", "kick") if missed else None

    def unlock(self, _now, _what):
        """The round continues"""
        return {"locked": 0}, Task("work", "")

    # flash_pending_end(), flash_release()

    def end(self, now, _what):
        """llist_add()"""
        return {"ends": now.ends + 1}, Task("slot", "")

    def slot(self, now, _what):
        """The slot is freed"""
        return {"inflight": now.inflight - 1}, Task("work", "end")

    def release(self, now, _what):
        """A kick, if the policy held all back, or others wait, or were left behind"""
        kick = (now.held and self.without != "held") or now.queued > 1 or now.left
        return {}, Task("work", "kick") if kick else None

    def forgotten(self, come, looks, asleep=0):
        """(ends that are wrong, all ends) with one in flight at first"""
        tasks = [Task("add", "")] * come + [Task("lock", "look")] * looks
        tasks += [Task("work", "asleep")] * asleep
        first = HoldState(0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0,
                          tuple(sorted([*tasks, Task("end", "")])))
        ends = [bool(now.pending or now.queued or now.inflight) for now in self.ends(first)]
        return sum(ends), len(ends)


@pytest.mark.parametrize("come, looks, asleep", [
    (1, 0, 0), (1, 1, 0), (1, 2, 0), (1, 0, 1), (1, 1, 1), (1, 0, 2)])
def test_held_ones_go(come, looks, asleep):
    """All are dispatched, in every order, whether or not a task that asks runs again."""
    left, ends = Hold().forgotten(come, looks, asleep)
    assert (left, ends > 0) == (0, True)


@pytest.mark.parametrize("without, looks, asleep", [
    ("ends", 0, 0), ("changed", 1, 0), ("missed", 0, 0), ("held", 0, 0), ("order", 1, 0),
    ("again", 0, 1), ("left", 0, 1)])
def test_what_a_hold_takes(without, looks, asleep):
    """Each of these is needed."""
    assert Hold(without).forgotten(1, looks, asleep)[0] > 0


RoundState = collections.namedtuple(
    "RoundState", "queued left slots gone taking locked inflight runs tasks")


class Round(Orders):
    """Requests that are chosen together, the first and up to @most more (round.c).

    A round is "busy" if its driver takes one request, and does not run the queue
    again. The code, without what @without names.
    """

    def __init__(self, without="", bound=4, most=1):
        self.without = without
        self.bound = bound
        self.most = most

    def waits(self, now, of):
        """flash_any_waits()"""
        return now.queued or (now.left[1] and self.without != of)

    def work(self, now, what):
        """elv_has_work()"""
        if not self.waits(now, "work"):
            return {}, None
        return {}, Task("top", (what,)) if now.inflight < self.bound or now.left[1] else None

    def top(self, now, what):
        """flash_round_take(): the number of those that are left"""
        return {}, Task("request", (*what, now.left)) if now.left[1] else Task("lock", what)

    def request(self, now, what):
        """The top"""
        return {}, Task("swap", (*what, now.slots[what[1][1] - 1]))

    def swap(self, now, what):
        """cmpxchg()"""
        kind, left, request = what
        if left != now.left:
            return {}, Task("top", (kind,))
        return ({"left": (left[0], left[1] - 1), "gone": (*now.gone, request)},
                *self.goes_on(kind))

    @staticmethod
    def goes_on(kind):
        """The round after a request, which may end from now on"""
        after = None if kind == "busy" else Task("work", kind)
        return after, (Task("end", ""),)

    def lock(self, now, what):
        """spin_lock()"""
        return None if now.locked else ({"locked": 1}, Task("choose", what))

    def choose(self, now, what):
        """flash_choose(), flash_round_choose()"""
        nr = min(len(now.queued), self.bound - now.inflight)
        if nr <= 0:
            return {"locked": 0}, None
        if now.left[1]:
            nr = 1
        nr = min(nr, 1 + self.most)
        set_, ahead = now.queued[:nr], now.queued[1:nr]
        changes = {"queued": now.queued[nr:], "inflight": now.inflight + nr}
        return changes, Task("fill", (*what, set_[0], ahead))

    def fill(self, now, what):
        """The array"""
        kind, first, ahead = what
        slots = tuple(reversed(ahead)) + now.slots[len(ahead):]
        changes = {"slots": slots} if ahead else {}
        return changes, Task("publish", (kind, first, len(ahead)))

    def publish(self, now, what):
        """The number, and the lock is released"""
        kind, first, nr = what
        sets = now.left[0] + (self.without != "sets")
        changes = {"left": (sets, nr)} if nr else {}
        return ({**changes, "locked": 0, "gone": (*now.gone, first)}, *self.goes_on(kind))

    def end(self, now, _what):
        """flash_release()"""
        full = now.inflight >= self.bound
        return {"inflight": now.inflight - 1}, Task("needs", "full" if full else "free")

    def needs(self, now, what):
        """flash_needs_run(): the queues, and requests that are left"""
        if not self.waits(now, "needs"):
            return {}, None
        runs = what == "full" or now.queued or now.left[1]
        return {"runs": now.runs + bool(runs)}, None

    def wrong(self, requests, *rounds):
        """(ends that are wrong, all ends): each request is dispatched once"""
        first = RoundState(tuple(range(requests)), (0, 0), (-1,) * self.most, (), 0, 0, 0, 0,
                           tuple(sorted(Task("work", kind) for kind in rounds)))
        ends = [sorted(now.gone) != list(range(requests)) for now in self.ends(first)]
        return sum(ends), len(ends)


@pytest.mark.parametrize("bound, most, requests, rounds", [
    (4, 1, 2, ["busy"]), (2, 1, 3, ["busy"]), (4, 2, 3, ["busy", "busy"]),
    (9, 1, 4, ["go", "go"])])
def test_chosen_ones_go(bound, most, requests, rounds):
    """All are dispatched, in every order, and each once."""
    wrong, ends = Round(bound=bound, most=most).wrong(requests, *rounds)
    assert (wrong, ends > 0) == (0, True)


@pytest.mark.parametrize("without, bound, requests, rounds", [
    ("needs", 4, 2, ["busy"]), ("work", 4, 2, ["busy"]),
    ("sets", 9, 4, ["go", "go"])])
def test_what_a_choice_of_several_takes(without, bound, requests, rounds):
    """Each of these is needed."""
    assert Round(without, bound=bound).wrong(requests, *rounds)[0] > 0
