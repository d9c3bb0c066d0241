# SPDX-License-Identifier: GPL-2.0
"""docs/where.md says of each way and device what the case that tries it wants."""

import pathlib
import re

REPO = pathlib.Path(__file__).resolve().parents[2]
PAGE = REPO / "docs" / "where.md"
CASE = REPO / "tests" / "vm" / "705-k2-paths.sh"


def documented(title, head):
    """Rows of the table of a section."""
    text = PAGE.read_text(encoding="utf-8")
    section = re.search(rf"^## {title}$.*?(?=^## )", text, re.M | re.S)[0]
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|"))
            for line in section.split("\n") if line.startswith("|")]
    assert rows[:2] == [head, ("---",) * len(head)]
    return rows[2:]


def asserted(function, count):
    """Calls of a function of the case: the name, and what is wanted.

    "6.1:no 6.12:yes" is "6.1: no, 6.12: yes" on the page.
    """
    text = CASE.read_text(encoding="utf-8").replace("\\\n", " ")
    # Two arguments behind the name of a way are disks, one behind that of a device.
    disks = {"way": 2, "pass_on": 1}[function]
    rows = re.findall(rf'^\s*{function} "([^"]+)"' + r"\s+\S+" * disks
                      + r'\s+("[^"]+"|\w+)' * count + r"\s", text, re.M)
    assert len(rows) == len(re.findall(rf"^\s*{function} ", text, re.M))
    return [(name.replace(" ($kind)", ""),
             *(want.strip('"').replace(" ", ", ").replace(":", ": ")
               for want in wants)) for name, *wants in rows]


WAYS = asserted("way", 2)
DEVICES = asserted("pass_on", 1)


def test_the_tables_are_what_the_case_wants():
    """Each row, in their order."""
    assert documented("Which paths deliver a class",
                      ("way", "own priority", "listed group")) == WAYS
    assert documented("Devices without a scheduler", ("device", "a write")) == DEVICES


def test_each_answer_is_one_that_can_be_had():
    """An answer is one of two words, for all kernels or for each."""
    for rows, words in (WAYS, "yes|no"), (DEVICES, "ignored|absent"):
        assert len(rows) > 3
        for row in rows:
            for want in row[1:]:
                for one in want.split(", "):
                    assert re.fullmatch(rf"(\d\.\d+: )?({words})", one), row
