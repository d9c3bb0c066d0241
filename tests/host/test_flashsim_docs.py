# SPDX-License-Identifier: GPL-2.0
"""docs/flashsim.md and the suites' table say of each parameter what params.h says."""

import importlib
import pathlib
import re
import sys

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "scripts" / "lib"))
sys.dont_write_bytecode = True

suitetables = importlib.import_module("suitetables")

PARAMS = (TOP / "tests/flashsim/params.h").read_text(encoding="utf-8")
PAGE = (TOP / "docs/flashsim.md").read_text(encoding="utf-8")
# Parameters that a suite may not give: the engine sets them, for each run.
ENGINE = {"seed", "series_ms", "series_len", "nr_devices"}
# Parameters with a default that depends on another parameter.
FOLLOWS = {"map_kb": "`page_kb`"}


def number(text):
    """1ULL << 40, 10^9, 2^32 - 1, 4294967295ULL and plain ones."""
    text = text.strip().replace("ULL", "")
    match = re.fullmatch(r"(\d+) << (\d+)", text)
    if match:
        return int(match[1]) << int(match[2])
    match = re.fullmatch(r"(\d+)\^(\d+)(?: - (\d+))?", text)
    if match:
        return int(match[1]) ** int(match[2]) - int(match[3] or 0)
    return int(text)


def numbers():
    """(name, least, most, default) of every number."""
    return [(m[1], number(m[2]), number(m[3]), number(m[4]))
            for m in re.finditer(
                r'X\((\w+),\s*([^,"]+),\s*([^,"]+),\s*([^)"]+)\)', PARAMS)]


def words():
    """(name, [accepted]) of every word."""
    return [(m[1], m[2].split())
            for m in re.finditer(r'X\((\w+),\s*"([^"]+)"\)', PARAMS)]


def rows():
    """{parameter: (place in its row, names in it, meaning, range, default)}"""
    found = {}
    for line in PAGE.splitlines():
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 4:
            continue
        names = re.findall(r"`(\w+)`", cells[0])
        for place, name in enumerate(names):
            assert name not in found, f"{name} stands in two rows"
            found[name] = (place, len(names), *cells[1:])
    return found


ROWS = rows()


def part(text, place, count):
    """The text for one of `count` names in a cell; a single word is for all."""
    parts = re.split(r"; |, ", text)
    return parts[place] if count > 1 and len(parts) >= count else parts[0]


@pytest.mark.parametrize("name,least,most,default", numbers())
def test_number(name, least, most, default):
    place, count, _, limits, usual = ROWS[name]
    said = part(limits, place, count)
    if said in ("0", "1"):
        # "0, 1": a switch
        said = "0 to 1"
    low, _, high = said.partition(" to ")
    high = high.split(",")[0]
    assert number(low) == least
    assert (high if high == FOLLOWS.get(name) else number(high)) == \
        (FOLLOWS[name] if high == FOLLOWS.get(name) else most)
    usual = usual.split("; ")[0] if count == 1 else usual
    value = part(usual, place, count)
    assert value == FOLLOWS[name] if name in FOLLOWS \
        else number(value) == default


@pytest.mark.parametrize("name,accepted", words())
def test_word(name, accepted):
    _, _, meaning, limits, usual = ROWS[name]
    if name == "stripe":
        # Every order of its three letters.
        assert len(accepted) == 6
        assert limits == "C, W, D in any order"
    else:
        said = re.findall(r"`(\w+)`", meaning) if not limits \
            else limits.split()
        assert set(accepted) <= set(said)
    assert usual == accepted[0]


def test_all_are_found():
    text = PARAMS.split("enum fs_param_id")[0]
    assert len(numbers()) + len(words()) == len(re.findall(r"\bX\(\w+,", text))
    assert len(numbers()) > 40 and len(words()) == 8


# --- scripts/lib/suitetables.py ---------------------------------------------

def for_suites():
    """Names of the parameters that a suite may give."""
    faults = set(re.findall(r"X\((\w+),", re.search(
        r"#define FS_FAULTS.*?\n\n", PARAMS, re.S)[0]))
    strings = set(re.findall(r"^module_param_string\((\w+),", (
        TOP / "tests/flashsim/params.c").read_text(encoding="utf-8"), re.M))
    assert len(faults) == 6 and strings == {"layout", "xor"}
    names = {name for name, *_ in [*numbers(), *words()]}
    assert ENGINE < names
    return (names | strings) - faults - ENGINE


def test_suites_may_give_all_parameters():
    """Neither more nor fewer than the module has."""
    assert set(suitetables.DEVICE) == for_suites()


@pytest.mark.parametrize("name,least,most,default", [
    row for row in numbers() if row[0] in for_suites()])
def test_a_suite_has_the_range_of_the_module(name, least, most, default):
    """Both ends are accepted, and nothing beyond."""
    kind = suitetables.DEVICE[name]
    assert (kind.low, kind.high) == (least, most)
    assert kind.accepts(str(default)) and kind.accepts(str(most))
    assert not kind.accepts(str(most + 1))
    assert isinstance(kind, suitetables.Power) == (
        "a power of two" in ROWS[name][3] or name == "time_scale")


@pytest.mark.parametrize("name,accepted", words())
def test_a_suite_has_the_words_of_the_module(name, accepted):
    """Each of them, and no other."""
    kind = suitetables.DEVICE[name]
    assert all(kind.accepts(word) for word in accepted)
    assert not kind.accepts("nonsense") and not kind.accepts("")
    if name != "stripe":
        assert sorted(kind.words) == sorted(accepted)
