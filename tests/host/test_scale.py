# SPDX-License-Identifier: GPL-2.0
"""docs/scale.md: its ceilings follow from its formula, its counts and its costs."""

import pathlib
import re

TEXT = (pathlib.Path(__file__).resolve().parents[2] / "docs/scale.md").read_text("utf-8")
FLAT = " ".join(TEXT.split())
# Costs: transfers within and between sockets by CPUs, ns; instructions a ns, and an I/O
TRANSFER = {16: (40, 120), 64: (55, 160), 256: (70, 200)}
SPEED, PATH, BARE = 3, 12000, 10000
# Of acfq and hbfq, in L: lines of the tenant
TENANT = {"acfq": 6, "hbfq": 6}
HEADS = {"A": "| scheduler | A |", "ceilings": "| scheduler | 16", "next": "| step |"}


def table(name):
    """{first cell: the other cells} of a table in HEADS."""
    lines = TEXT[TEXT.index(HEADS[name]):].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in rows}


COUNTS = {name: [int(cell) for cell in row[:4]]
          for name, row in table("A").items()}


def transfer(cpus, sockets):
    """Time of one, ns."""
    within, between = TRANSFER[cpus]
    return within if sockets == 1 else (within + between) / 2


def millions(lines, instructions, time, speed=SPEED):
    """I/Os a second that a lock allows."""
    return 1000 / (lines * time + instructions / speed)


def lines_of(name, chosen=1, other=None):
    """Transfers under a contended lock, an I/O, if a hold chooses `chosen` requests.

    The tenant's lines are fetched for each. @other: R, if not the table's.
    """
    taken, lines, other_lines, _ = COUNTS[name]
    own = TENANT.get(name, 0) if chosen > 1 else 0
    return (2 * taken + lines - own) / chosen + own + (other_lines if other is None else other)


def ceiling(name, cpus, sockets):
    """A scheduler's, in millions of I/Os a second."""
    time = transfer(cpus, sockets)
    cpu = cpus * SPEED * 1000 / (BARE if name == "none" else PATH)
    if name == "none":
        return cpu
    if name == "kyber":
        return min(4000 / time, cpu)
    taken, lines, _, instructions = COUNTS[name]
    return min(millions(2 * taken + lines, instructions, time), cpu)


def test_the_costs_are_those_of_the_page():
    """Each is stated."""
    within, between = zip(*TRANSFER.values())
    for text in ("Within a socket: {} ns with 16 CPUs, {} with 64, {} with 256".format(*within),
                 "Between sockets: {}, {} and {} ns".format(*between),
                 f"{SPEED} instructions a ns", f"{BARE:,} with `none`, otherwise {PATH:,}"):
        assert text.replace(",0", " 0") in FLAT


def test_the_ceilings_follow():
    """Each cell."""
    rows = table("ceilings")
    assert list(rows) == [*COUNTS, "kyber", "none"]
    for name, row in rows.items():
        want = [f"{ceiling(name, cpus, sockets):.2f}" for sockets in (1, 2) for cpus in TRANSFER]
        assert row == want, name
    for name, share in ("k2", 86), ("mq-deadline", 81):
        taken, lines, _, instructions = COUNTS[name]
        time = (2 * taken + lines) * transfer(64, 1)
        assert f"{100 * time / (time + instructions / SPEED):.0f}" == str(share)
        assert f"{share} % " in FLAT


def test_the_ceilings_of_busy_locks_follow():
    """With R, in the text, ours with four in a hold; and those of the published measurement."""
    found = {name: float(value) for value, name in re.findall(r"(\d\.\d\d) \((\w\S*)\)", FLAT)}
    assert found == {
        name: round(millions(lines_of(name, 1 if name in ("mq-deadline", "bfq") else 4),
                             COUNTS[name][3], transfer(64, 1)), 2) for name in COUNTS}
    for name, alone, busy in ("mq-deadline", "1.02", "0.75"), ("bfq", "0.56", "0.49"):
        taken, lines, other, instructions = COUNTS[name]
        assert f"{millions(2 * taken + lines, instructions, 50, 5):.2f}" == alone
        assert f"{millions(2 * taken + lines + other, instructions, 50, 5):.2f}" == busy
        assert re.search(rf"{alone} for {name}, {busy} with \*R\*", FLAT)


def test_the_next_steps_follow():
    """Each step with those before it."""
    time = transfer(64, 2)
    columns = list(zip(*table("next").values()))
    for name, column in zip(("k2", "hbfq"), columns, strict=True):
        instructions = COUNTS[name][3]
        four = lines_of(name, 4, 2)
        want = (millions(lines_of(name), instructions, time),
                millions(lines_of(name, 4), instructions, time),
                millions(four, instructions, time),
                2 * millions(four, instructions, transfer(64, 1)))
        assert list(column) == [f"{value:.2f}" for value in want], name
