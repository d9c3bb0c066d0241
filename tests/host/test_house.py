# SPDX-License-Identifier: GPL-2.0
"""Sizes of the modules' code: lines of a module, share of .c files, functions, structs."""

import pathlib
import re

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
POLICIES = ("acfq", "hbfq", "k2", "layer_read", "piq")
SOURCES = [path for folder in ("common", "common/*", *POLICIES)
           for path in sorted(REPO.glob(f"{folder}/*.[ch]"))]
# Their present sizes, rounded up. docs/design.md explains the sizes.
MOST_LINES = {"acfq": 6700, "hbfq": 6700, "k2": 5760, "layer_read": 4950, "piq": 6300}
LEAST_IN_C = 72
MOST_FUNCTION = 60
MOST_INLINE = 12
MOST_FIELDS = 20
# Structs and functions of the kernel, restated
RESTATED = REPO / "common/elevator/compat.h"


def code_lines(text):
    """Lines that are neither empty nor comments."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return [line for line in re.sub(r"//.*", "", text).splitlines() if line.strip()]


def count(path):
    """Number of code lines of a file."""
    return len(code_lines(path.read_text("utf-8")))


def functions(text):
    """[(name, lines)] of the functions of a source in kernel style."""
    found, lines = [], text.splitlines()
    start = None
    for number, line in enumerate(lines):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            head = " ".join(lines[max(0, start - 6):start])
            name = re.findall(r"(\w+)\(", head)
            found.append((name[-1] if name else "?", number - start + 1))
            start = None
    return found


def structs(text):
    """[(name, number of fields, its kernel-doc)] of the structs that a source defines."""
    found = []
    for match in re.finditer(r"(?m)^struct (\w+) \{\n(.*?)^\}", text, re.S):
        body = re.sub(r"/\*.*?\*/", "", match[2], flags=re.S)
        body = re.sub(r"\([^()]*\)", "", re.sub(r"\([^()]*\)", "", body))
        fields = sum(len(one.split(",")) for one in body.split(";") if one.strip())
        doc = re.search(rf"/\*\*\n \* struct {match[1]} - (.*?)\*/\n",
                        text[:match.start()] + "\n", re.S)
        found.append((match[1], fields, doc[1] if doc else ""))
    return found


def module_files(name):
    """All files that a module's build.c includes."""
    todo = [REPO / name / "build.c"]
    found = set()
    while todo:
        path = todo.pop()
        if path in found:
            continue
        found.add(path)
        for other in re.findall(r'(?m)^#\s*include "([^"]+)"', path.read_text("utf-8")):
            todo += [place for place in ((path.parent / other).resolve(),)
                     if place.exists()]
    return found


def test_what_is_counted():
    """Comments and empty lines are not; a function has its braces."""
    text = "/* a\n * b */\nint f(int a)\n{\n\treturn a; // c\n}\n\nstruct s {\n\tint a, b;\n" \
           "\tint (*c)(int d, int e);\n};\n"
    assert len(code_lines(text)) == 8
    assert functions(text) == [("f", 3)]
    assert structs(text) == [("s", 3, "")]


def test_most_code_is_in_c_files():
    """A header has types, contracts and short inline functions."""
    all_lines = {path: count(path) for path in SOURCES}
    in_c = sum(lines for path, lines in all_lines.items() if path.suffix == ".c")
    assert in_c * 100 >= LEAST_IN_C * sum(all_lines.values()), \
        f"{in_c} of {sum(all_lines.values())} lines"


@pytest.mark.parametrize("name", POLICIES)
def test_a_module_is_small(name):
    """The code lines of all that is linked into it."""
    lines = sum(count(path) for path in module_files(name))
    assert lines <= MOST_LINES[name]


def test_the_paper_of_k2_reads_alone():
    """k2.c has at most 600 code lines."""
    assert count(REPO / "k2/k2.c") <= 600


@pytest.mark.parametrize("path", [path for path in SOURCES if path != RESTATED],
                         ids=lambda path: str(path.relative_to(REPO)))
def test_functions_and_structs_are_short(path):
    """Ten lines between its braces for a function in a header."""
    text = path.read_text("utf-8")
    for name, lines in functions(text):
        assert lines <= (MOST_INLINE if path.suffix == ".h" else MOST_FUNCTION), name
    for name, fields, doc in structs(text):
        assert fields <= MOST_FIELDS or f"more than {MOST_FIELDS} fields" in doc, name
