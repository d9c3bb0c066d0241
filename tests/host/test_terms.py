# SPDX-License-Identifier: GPL-2.0
"""docs/terms.md: each term is defined once, by a name that its folder has."""

import pathlib
import re

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
TERMS = (REPO / "docs" / "terms.md").read_text("utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `([^`]+)`, `([^`]+)` \|$", TERMS, re.M)


def lines():
    """Rows of tables, without heads."""
    return [line for line in TERMS.splitlines()
            if line.startswith("| ") and not line.startswith("| term |")]


def test_each_row_has_a_term_a_sentence_and_a_name():
    """Each row has this form, and a table is in alphabetical order."""
    assert len(ROWS) == len(lines()) > 40
    for term, meaning, _, _ in ROWS:
        assert re.fullmatch(r"[A-Z].*[^.]\.", meaning), term
        assert ". " not in meaning, term
    for table in TERMS.split("\n## ")[1:]:
        terms = re.findall(r"^\| (?!term \|)([a-z][^|]*) \|", table, re.M)
        assert terms == sorted(terms)


def test_a_term_is_defined_once():
    """A term is in one table only."""
    terms = [word for row in ROWS for word in row[0].split(", ")]
    assert len(terms) == len(set(terms))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_code_has_the_name(row):
    """In that folder, and not in comments alone; a member is looked for by its own name."""
    name = re.sub(r"\(\)$", "", row[2])
    name = re.sub(r"^(struct|enum) ", "", name).split(".")[-1]
    folder = REPO / row[3]
    assert folder.is_dir()
    text = "".join(path.read_text("utf-8") for path in sorted(folder.glob("*.[ch]")))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    assert re.search(rf"\b{name}\b", text), f"{row[0]}: {row[2]} is not in {row[3]}"
