# SPDX-License-Identifier: GPL-2.0
"""docs/sysfs.md and the READMEs say of each tunable what its module says."""

import pathlib
import re

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
POLICIES = sorted(p.parent.name for p in TOP.glob("*/*.c")
                  if p.stem == p.parent.name)


def numbers(policy):
    """[(name, least, most, default)] of its table."""
    text = (TOP / policy / f"{policy}.c").read_text(encoding="utf-8")
    return [(m[1], int(m[2]), int(m[3]), int(m[4])) for m in re.finditer(
        r"X\((\w+), (\d+), (\d+), (\d+)\)", text)]


def texts(policy):
    """[(name, default)] of its texts."""
    text = (TOP / policy / f"{policy}.c").read_text(encoding="utf-8")
    return [(m[1], m[2]) for m in re.finditer(
        r'X\((\w+), \w+, "(\w+)",', text)]


def rows(text, columns):
    """{name: (its range, its default)} of the tables of a page."""
    found = {}
    for line in text.splitlines():
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != columns:
            continue
        names = re.findall(r"`(\w+)`", cells[0])
        defaults = cells[2].split(", ")
        for place, name in enumerate(names):
            default = defaults[place if len(defaults) > 1 else 0]
            found[name] = cells[1], default.strip("`")
    return found


def section(policy):
    """What docs/sysfs.md says of it."""
    text = (TOP / "docs/sysfs.md").read_text(encoding="utf-8")
    match = re.search(rf"^## {policy}$(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert match, f"docs/sysfs.md has no part on {policy}"
    return match[1]


def pages(policy):
    """{page: its rows}"""
    readme = (TOP / policy / "README.md").read_text(encoding="utf-8")
    return {"docs/sysfs.md": rows(section(policy), 4),
            f"{policy}/README.md": rows(readme, 4)}


def test_there_are_some():
    """The tables are found at all."""
    assert {"k2", "piq", "layer_read"} <= set(POLICIES)
    assert ("max_inflight", 1, 65535, 32) in numbers("k2")
    assert ("sort", "sector") in texts("layer_read")


@pytest.mark.parametrize("policy", POLICIES)
def test_numbers(policy):
    """Range and default of each, and nothing that is not there."""
    for page, said in pages(policy).items():
        for name, least, most, default in numbers(policy):
            assert name in said, f"{page}: no {name}"
            limits = [int(n) for n in re.findall(r"\d+", said[name][0])]
            assert limits[:2] == [least, most], f"{page}: {name}"
            assert said[name][1] == str(default), f"{page}: {name}"
        known = [n for n, *_ in numbers(policy)] + \
            [n for n, *_ in texts(policy)]
        for name, (_, default) in said.items():
            assert name in known or not default, f"{page}: {name} is not there"


@pytest.mark.parametrize("policy", POLICIES)
def test_texts(policy):
    """Their defaults."""
    for page, said in pages(policy).items():
        for name, default in texts(policy):
            assert said.get(name, ("", ""))[1] == default, f"{page}: {name}"


@pytest.mark.parametrize("policy", POLICIES)
def test_statistics(policy):
    """Each key of stats is explained."""
    text = (TOP / policy / f"{policy}.c").read_text(encoding="utf-8")
    stats = text[text.index("int policy_stats("):]
    stats = stats[:stats.index("\n}")]
    keys = re.findall(r"(\w+) %\w+\\n", stats)
    page = (TOP / "docs/sysfs.md").read_text(encoding="utf-8")
    assert keys
    for key in keys:
        assert f"`{key}`" in page, key
