# SPDX-License-Identifier: GPL-2.0
"""common/ has no circle and nothing in it points up: its includes and its symbols."""

import pathlib
import re
import subprocess

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
COMMON = REPO / "common"
# What each room may include besides itself and the files of common/ itself.
BELOW = {"elevator": {"flash"}, "flash": set(), "estimate": {"flash"},
         "share": {"elevator", "flash", "estimate"}}
# Defined by the policy: the table that its module has.
CONTRACT = {"flash_policy"}


def circle(edges):
    """A circle in {name: names}, as a list; or None."""
    done, path = set(), []

    def walk(name):
        if name in path:
            return path[path.index(name):] + [name]
        if name in done:
            return None
        path.append(name)
        for other in sorted(edges.get(name, ())):
            found = walk(other)
            if found:
                return found
        done.add(path.pop())
        return None

    for name in sorted(edges):
        found = walk(name)
        if found:
            return found
    return None


def includes():
    """{file of common/: the files that it includes}."""
    found = {}
    for path in sorted(COMMON.rglob("*.[ch]")):
        names = re.findall(r'^#include "([^"]+)"', path.read_text("utf-8"), re.M)
        found[str(path.relative_to(COMMON))] = {
            str((path.parent / name).resolve().relative_to(COMMON))
            for name in names}
    return found


def test_a_circle_is_found():
    """And a row is none."""
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) is None


def test_includes_have_no_circle():
    """Each file can be read after those that it includes."""
    assert circle(includes()) is None


def test_no_room_includes_one_above():
    """The block layer's side knows no chips and no tenants, and so on."""
    for name, others in includes().items():
        room, _, rest = name.rpartition("/")
        for other in others:
            place = other.rpartition("/")[0]
            assert place in {room, ""} | BELOW.get(room, set()) if rest else \
                not place, f"{name} includes {other}"


def symbols(path):
    """(symbols that an object defines, those that it needs)."""
    text = subprocess.run(["nm", "-g", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    found = re.findall(r"^(?:[0-9a-f]{16}| {16}) ([A-Za-z]) (\S+)$", text, re.M)
    return {name for kind, name in found if kind != "U"}, \
        {name for kind, name in found if kind == "U"}


OBJECTS = sorted((REPO / "build").glob("obj/*/*/common-elevator.o")) + \
    sorted((REPO / "build").glob("check/tree-*/build/obj/*/*/common-elevator.o"))


@pytest.mark.parametrize("one", OBJECTS or [None], ids=lambda p: "none" if p is None
                         else "-".join(p.parts[-3:-1]))
def test_objects_have_no_circle(one):
    """Of each module that has been built: what is linked into it from common/."""
    if one is None:
        pytest.skip("no module has been built")
    # A build folder may have objects of deleted files.
    objects = {path.stem: symbols(one.with_name(f"common-{path.stem}.o"))
               for path in COMMON.glob("*/*.c")
               if one.with_name(f"common-{path.stem}.o").exists()}
    owner = {name: place for place, (has, _) in objects.items() for name in has}
    edges = {place: {owner[name] for name in needs if name in owner} - {place}
             for place, (_, needs) in objects.items()}
    assert circle(edges) is None
    # Upwards there is only the table.
    policy = set().union(*(symbols(path)[0] for path in one.parent.glob("*.o")
                           if not path.name.startswith("common-") and
                           path.stem != one.parent.name + ".mod" and
                           path.with_suffix(".c").exists()))
    for place, (_, needs) in objects.items():
        assert needs & policy <= CONTRACT, place
