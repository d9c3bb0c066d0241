# SPDX-License-Identifier: GPL-2.0
"""docs/design.md is an index: it links to each design page, and each page is short."""

import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = ("design", "request-life", "liveness", "sharing", "urgent", "tags", "k2-limit",
         "adding-a-scheduler", "terms", "pending", "scale",
         "cache-lines")
RESULTS = ("k2-results", "piq-results", "layer_read-results", "share-results",
           "share-living-results")
MOST = 1500


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_short(name):
    """Code included: a reader searches for one subject."""
    assert len((DOCS / f"{name}.md").read_text("utf-8").split()) <= MOST


def prose(text):
    """The words of a page of results without headings, tables, commands, pictures and lines
    on runs.
    """
    return [word for line in text.splitlines()
            if not re.match(r"#|\||    |!|<!--|Form \w+, \d+ of|Kernel |Model:", line)
            for word in line.split()]


@pytest.mark.parametrize("name", RESULTS)
def test_a_page_of_results_has_little_prose(name):
    found = len(prose((DOCS / f"{name}.md").read_text("utf-8")))
    assert 200 < found <= MOST


def test_the_index_has_each_page():
    """A paragraph each; and no page links to a section of the index instead."""
    index = (DOCS / "design.md").read_text("utf-8")
    linked = re.findall(r"^- \[[^\]]*\]\(([\w-]+)\.md\)", index, re.M)
    assert set(PAGES) - {"design"} <= set(linked)
    for path in (*DOCS.glob("*.md"), *DOCS.parent.glob("*/README.md")):
        assert "design.md#" not in path.read_text("utf-8"), path.name


def test_the_folders_exist():
    """The folders that the index lists at the left margin."""
    index = (DOCS / "design.md").read_text("utf-8")
    block = re.search(r"^```\n(.*?)^```", index, re.M | re.S)[1]
    found = [name for line in block.splitlines() if line[:1].strip()
             for name in re.findall(r"([\w/]+/)(?=[, ])", line)]
    assert len(found) > 15
    for name in found:
        assert (DOCS.parent / name).is_dir(), name
