# SPDX-License-Identifier: GPL-2.0
"""docs/where.md says of each way of I/O what the case that goes it wants."""

import pathlib
import re

REPO = pathlib.Path(__file__).resolve().parents[2]
PAGE = REPO / "docs" / "where.md"
CASE = REPO / "tests" / "vm" / "705-k2-paths.sh"


def documented():
    """Rows of the page's table: way, own priority, listed group."""
    text = PAGE.read_text(encoding="utf-8")
    section = re.search(r"^## Which paths deliver a class$.*?(?=^## )", text,
                        re.M | re.S)[0]
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|"))
            for line in section.split("\n") if line.startswith("|")]
    assert rows[:2] == [("way", "own priority", "listed group"),
                        ("---", "---", "---")]
    return rows[2:]


def asserted():
    """The same of the case; "6.1:no 6.12:yes" is "6.1: no, 6.12: yes" on the page."""
    text = CASE.read_text(encoding="utf-8").replace("\\\n", " ")
    rows = re.findall(r'^\s*way "([^"]+)"\s+\S+\s+\S+\s+("[^"]+"|\w+)'
                      r'\s+("[^"]+"|\w+)\s', text, re.M)
    assert len(rows) == len(re.findall(r"^\s*way ", text, re.M))
    return [(name.replace(" ($kind)", ""),
             *(want.strip('"').replace(" ", ", ").replace(":", ": ")
               for want in wants)) for name, *wants in rows]


def test_the_table_is_what_the_case_wants():
    """Each row, in their order."""
    assert documented() == asserted()


def test_each_answer_is_one_that_can_be_had():
    """Yes or no, for all kernels or for each."""
    for row in asserted():
        for want in row[1:]:
            for one in want.split(", "):
                assert re.fullmatch(r"(\d\.\d+: )?(yes|no)", one), row
