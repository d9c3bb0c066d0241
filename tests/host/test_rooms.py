# SPDX-License-Identifier: GPL-2.0
"""common/ has no circle and nothing in it points up: its includes and its functions."""

import pathlib
import re

REPO = pathlib.Path(__file__).resolve().parents[2]
COMMON = REPO / "common"
# Rooms that each room may include, other than itself and the files of common/ itself.
BELOW = {"elevator": {"flash"}, "flash": set(), "estimate": {"flash"},
         "share": {"elevator", "flash", "estimate"}}
POLICIES = ("k2", "piq", "layer_read", "acfq", "hbfq")


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
    """A chain without a cycle is accepted."""
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


def plain(text):
    """A source without comments, strings and the lines of macros."""
    text = re.sub(r'/\*.*?\*/|"(?:\\\\.|[^"\\\\\n])*"', " ", text, flags=re.S)
    return re.sub(r"(?m)^#(?:[^\n]*\\\\\n)*[^\n]*$", "", text)


def symbols(text):
    """(functions that a .c file defines for others, the words in it)."""
    text = plain(text)
    found = re.findall(r"(?m)^(?!static\b|typedef\b|struct \w+ \{)[a-z_][\w \t*]*?\b(\w+)"
                       r"\((?:[^();]|\([^();]*\))*\)\n\{", text)
    return set(found), set(re.findall(r"\w+", text))


def test_what_a_file_defines():
    """Static functions, declarations and comments do not count."""
    text = "/* int no(void)\n{ */\nstatic int hidden(void)\n{\n}\nint one(int a,\n\tint b)\n" \
           "{\n\treturn two();\n}\n\nint three(void);\n__always_inline void four(int (*f)(int))\n{\n}\n"
    assert symbols(text)[0] == {"one", "four"}
    assert "two" in symbols(text)[1] and "no" not in symbols(text)[1]


# A module is one compilation unit, so its objects say nothing of single files.
LISTS = {"build.c", "abi.c"}


def test_functions_have_no_circle():
    """Calls between the files of common/ form no cycle."""
    files = {str(path.relative_to(COMMON)): symbols(path.read_text("utf-8"))
             for path in sorted(COMMON.glob("*/*.c")) if path.name not in LISTS}
    assert sum(len(has) for has, _ in files.values()) > 100
    owner = {name: place for place, (has, _) in files.items() for name in has}
    edges = {place: {owner[name] for name in words if name in owner} - {place}
             for place, (_, words) in files.items()}
    assert circle(edges) is None


def test_no_function_of_a_policy_is_used_below():
    """Upwards there is only the table."""
    policies = set()
    for name in POLICIES:
        for path in (REPO / name).glob("*.c"):
            policies |= symbols(path.read_text("utf-8"))[0]
    assert len(policies) > 40
    for path in COMMON.glob("*/*.c"):
        assert not symbols(path.read_text("utf-8"))[1] & policies, path
