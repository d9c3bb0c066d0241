# SPDX-License-Identifier: GPL-2.0
"""common/flash/layout.h, chipvec.h and batch.h against another implementation.

The other one follows the definitions, page by page and with plain lists, and
shares no idea with the headers. tests/unit/oracle_chips.c answers for them.
"""

import importlib
import random
import sys

import pytest

sys.dont_write_bytecode = True

oracle = importlib.import_module("oracle")

CASES = 100_000


@pytest.fixture(name="ask", scope="module")
def _ask():
    ask = oracle.made()
    return lambda lines: ask("chips", lines)


# The other implementation


class Layout:
    """Pages on chips, by the formula."""

    def __init__(self, page, terms):
        self.page, self.terms = page, terms
        self.chips = 1 + sum(mul * (mod - 1) for _, mod, mul in terms)
        # Nothing is new after all values of the slowest digit.
        self.period = max(div * mod for div, mod, _ in terms)

    def text(self, rng):
        """Its words, the terms in any order."""
        if len(self.terms) == 1 and self.terms[0][0] == 1:
            return f"page={self.page} chips={self.chips}"
        terms = rng.sample(self.terms, len(self.terms))
        return f"page={self.page} terms=" + ",".join(
            ":".join(map(str, term)) for term in terms)

    def chip(self, lpn):
        """The chip of a page."""
        chip = 0
        for div, mod, mul in self.terms:
            chip += lpn // div % mod * mul
        return chip

    def touched(self, sector, sectors, offset=0):
        """The chips of a request."""
        if not sectors:
            return set()
        begin = (sector + offset) * 512
        first = begin // self.page
        last = (begin + sectors * 512 - 1) // self.page
        last = min(last, first + self.period - 1)
        return {self.chip(lpn) for lpn in range(first, last + 1)}


def some_layout(rng, most=256):
    """A layout of up to `most` chips, plain or of one to four digits."""
    page = 512 << rng.randrange(8)
    if rng.random() < 0.4:
        chips = rng.choice([1, 2, 3, 7, 8, 12, 63, 64, 65, 100, 128, 255, 256])
        if chips > most:
            chips = rng.randint(1, most)
        return Layout(page, [(1, chips, 1)])
    mods, chips = [], 1
    while len(mods) < rng.randint(1, 4):
        mod = rng.choice([2, 3, 4, 5, 7, 8, 16, 17])
        if chips * mod > most:
            break
        mods.append(mod)
        chips *= mod
    mods = mods or [2]
    # The digits' places in the chip number are in any order.
    place, mul = [0] * len(mods), 1
    for i in rng.sample(range(len(mods)), len(mods)):
        place[i] = mul
        mul *= mods[i]
    div, terms = rng.choice([1, 1, 2, 3, 4, 8]), []
    for i, mod in enumerate(mods):
        terms.append((div, mod, place[i]))
        div *= mod * rng.choice([1, 1, 2, 3, 8])
    return Layout(page, terms)


class Batches:
    """The paper's lists, and joining what is out."""

    def __init__(self, room):
        self.room = room
        self.lists = {0: [], 1: []}

    def add(self, who, side, chips):
        """Number of batches of that side, or None: no room."""
        for batch in self.lists[side]:
            if not batch["chips"] & chips:
                break
        else:
            if len(self.lists[0]) + len(self.lists[1]) == self.room:
                return None
            batch = {"chips": set(), "wait": [], "out": []}
            self.lists[side].append(batch)
        batch["chips"] |= chips
        batch["wait"].append(who)
        return len(self.lists[side])

    def issue(self, side):
        """The request to issue, or None: the first batch has to end before the next one."""
        if not self.lists[side] or not self.lists[side][0]["wait"]:
            return None
        batch = self.lists[side][0]
        who = batch["wait"].pop(0)
        batch["out"].append(who)
        return who

    def remove(self, who):
        """Done, or merged away."""
        for side in (0, 1):
            for batch in self.lists[side]:
                for state in ("wait", "out"):
                    if who in batch[state]:
                        batch[state].remove(who)
                        if not batch["wait"] and not batch["out"]:
                            self.lists[side].remove(batch)
                        return


# Tests


def some_span(rng, layout):
    """(sector, sectors, offset) of a request, long ones being rare."""
    per_page = layout.page // 512
    sector = rng.randrange(1 << rng.randint(1, 40))
    offset = rng.choice([0, 0, 1, 63, rng.randrange(1 << 20)])
    pages = rng.choice([1, 1, 2, 3, rng.randint(1, 20), rng.randint(1, 20)])
    kind = rng.random()
    if kind < 0.04:
        pages = rng.randint(1, 2 * layout.chips)
    elif kind < 0.05 and layout.period < 1000:
        pages = rng.choice([layout.period, layout.period - 1 or 1, 1 << 30])
    sectors = pages * per_page - rng.randrange(per_page)
    return sector, 0 if kind > 0.999 else sectors, offset


def test_vectors_are_those_of_the_definition(ask):
    rng = random.Random(1)
    lines, wanted, wrapped, wide, whole = [], [], 0, 0, 0
    for _ in range(CASES // 100):
        layout = some_layout(rng)
        lines.append("layout " + layout.text(rng))
        wanted.append(str(layout.chips))
        for _ in range(100):
            span = some_span(rng, layout)
            chips = layout.touched(*span)
            full = len(chips) == layout.chips
            wrapped += not full and {0, layout.chips - 1} <= chips
            wide += layout.chips > 64
            whole += full and layout.chips > 1
            lines.append("span {} {} {}".format(*span))
            bits = bytearray(b"0" * layout.chips)
            for chip in chips:
                bits[chip] = ord("1")
            wanted.append(bits.decode())
    answers = ask(lines)
    bad = [(line, want, got) for line, want, got in
           zip(lines, wanted, answers) if want != got]
    assert not bad, bad[:3]
    # It has to have met what is difficult.
    assert len(lines) > CASES
    assert min(wrapped, wide, whole) > 1000, (wrapped, wide, whole)


def test_bad_layouts_leave_the_old_one(ask):
    rng = random.Random(2)
    lines, wanted = ["layout page=4096 chips=8"], ["8"]
    for _ in range(3000):
        text = list(some_layout(rng).text(rng))
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text))
            text[at] = rng.choice("0123456789:,= pagechipsterms-x\t")
        lines += ["layout " + "".join(text), "layout page=4096 chips=0",
                  "span 56 16 0"]
        wanted += [None, "-34", None]
    answers = ask(lines)
    chips = 8
    for line, want, got in zip(lines, wanted, answers):
        if want:
            assert got == want, line
        elif line.startswith("layout"):
            # Refused, or another layout by luck.
            assert got in ("-22", "-34") or 0 <= int(got) <= 256, line
            chips = chips if got.startswith("-") else int(got)
        else:
            assert len(got) == chips, line


def test_batches_are_those_of_the_rules(ask):
    rng = random.Random(3)
    lines, wanted, held, refused = [], [], 0, 0
    for _ in range(300):
        layout = some_layout(rng, rng.choice([4, 16, 64, 256]))
        room = rng.choice([2, 5, 64, 512])
        lines += ["layout " + layout.text(rng), f"reset {room}"]
        wanted += [str(layout.chips), "ok"]
        rules, waits, out, fresh = Batches(room), [], [], 0
        weights = rng.choice([(4, 4, 3, 0.2), (6, 3, 3, 0.2), (2, 5, 5, 0.2)])
        for _ in range(200):
            what = rng.choices(("add", "issue", "end", "merge"), weights)[0]
            if what == "add":
                sector, sectors = rng.randrange(1 << 20), rng.randint(1, 24)
                side = int(rng.random() < 0.4)
                got = rules.add(fresh, side, layout.touched(sector, sectors))
                lines.append(f"add {fresh} {side} {sector} {sectors}")
                wanted.append("full" if got is None else str(got))
                refused += got is None
                if got is not None:
                    waits.append(fresh)
                fresh += 1
            elif what == "issue":
                side = int(rng.random() < 0.4)
                who = rules.issue(side)
                held += who is None and len(rules.lists[side]) > 1
                lines.append(f"issue {side}")
                wanted.append("-" if who is None else str(who))
                if who is not None:
                    waits.remove(who)
                    out.append(who)
            elif waits if what == "merge" else out:
                some = waits if what == "merge" else out
                who = some.pop(rng.randrange(len(some)))
                rules.remove(who)
                lines.append(f"remove {who}")
                wanted.append("ok")
    answers = ask(lines)
    bad = [(number, line, want, got) for number, (line, want, got) in
           enumerate(zip(lines, wanted, answers)) if want != got]
    assert not bad, bad[:3]
    assert held > 500 and refused > 100, (held, refused)
