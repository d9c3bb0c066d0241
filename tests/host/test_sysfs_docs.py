# SPDX-License-Identifier: GPL-2.0
"""docs/ABI and each scheduler's README have every attribute, as the code has it."""

import pathlib
import re

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
ABI = REPO / "docs" / "ABI"
FIELDS = ("Range", "Default", "Unit", "Note")
POLICIES = sorted(p.parent.name for p in REPO.glob("*/*.c")
                  if p.stem == p.parent.name
                  and "FLASH_DEFINE_" in p.read_text(encoding="utf-8"))


def source(name):
    """The code of a scheduler's .c files, and what it has in common with others."""
    text = "".join(path.read_text(encoding="utf-8")
                   for path in sorted((REPO / name).glob("*.c")))
    if "FAIRSHARE_TUNABLES(X)" not in text:
        return text
    shared = (REPO / "common" / "share" / "fairshare.h").read_text(encoding="utf-8") + \
        (REPO / "common" / "share" / "fairshare.c").read_text(encoding="utf-8")
    # The list begins with all that these have.
    first = re.search(r"#define FAIRSHARE_TUNABLES\(X\)((?:.*\\\n)*.*)", shared)[1]
    return re.sub(r"\tFAIRSHARE_TUNABLES\(X\)[^\n]*", lambda _: first.lstrip(" \t\\\n")
                  + "\t\\", text) + shared.replace("FAIRSHARE_TUNABLES", "")


def rows(text, kind):
    """The rows X(...) of a list such as K2_TUNABLES, as lists of arguments."""
    match = re.search(rf"#define \w+_{kind}\(X\)((?:.*\\\n)*.*)", text)
    if not match:
        return []
    body = match[1].replace("\\\n", " ")
    return [[arg.strip().strip('"')
             for arg in re.findall(r'(?:[^,"]|"[^"]*")+', row)]
            for row in re.findall(r"X\(((?:[^()\"]|\"[^\"]*\")*)\)", body)]


def entries(name):
    """{attribute: fields} of a scheduler's page in docs/ABI, and of no other line.

    Fields: "what", a list, and those of FIELDS that stand there.
    """
    text = (ABI / f"sysfs-iosched-{name}").read_text(encoding="utf-8")
    head, *blocks = re.split(r"(?m)^(?=What:)", text)
    assert re.fullmatch(r"# SPDX-License-Identifier: GPL-2.0\n\n", head)
    found, whats = {}, []
    for block in blocks:
        whats.append(re.match(r"What:\t\t(\S+)\n", block)[1])
        if "Description:" not in block:
            assert block.count("\n") == 1, block
            continue
        fields = {"what": whats, "text": block}
        body = block.split("Description:\n", 1)[1]
        assert re.search(r"^Date:\t\t\w+ \d{4}$", block, re.M), block
        fields["access"] = re.match(r"\t\t\((RO|RW)\) ", body)[1]
        for field in FIELDS:
            match = re.search(rf"^\t\t{field}:\t+(.+)$", body, re.M)
            if match:
                fields[field] = match[1]
        # Nothing but tags begins a line.
        assert all(line.startswith("\t\t") or not line
                   for line in body.split("\n")), block
        attribute = re.fullmatch(r"/sys/block/<disk>/queue/iosched/(\w+)",
                                 whats[0])[1]
        assert attribute not in found, attribute
        found[attribute] = fields
        whats = []
    assert not whats
    return found


def table(text):
    """{attribute: cells} of the tables with names of attributes in their first cells."""
    found = {}
    for line in text.split("\n"):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if line.startswith("| `") and len(cells) >= 3:
            for attribute in re.findall(r"`(\w+)`", cells[0]):
                found[attribute] = cells[1:]
    return found


def wanted(text):
    """{attribute: (range, default) or None} that the code has."""
    found = {}
    for name, low, high, default, _ in rows(text, "TUNABLES"):
        found[name] = (int(low), int(high), int(default))
    for kind in ("TEXTS", "SHOWN", "COMMANDS", "STORED"):
        for row in rows(text, kind):
            found[row[0]] = None
    return found


def meanings(name):
    """{attribute: what modinfo says it is}: the last word of a table's row."""
    return {row[0]: row[-1] for kind in ("TUNABLES", "TEXTS")
            for row in rows(source(name), kind)}


def parameters(name):
    """Attributes of a scheduler that are module parameters as well."""
    text = source(name)
    return {row[0] for kind in ("TUNABLES", "TEXTS") for row in rows(text, kind)}


def same_range(text, low, high):
    """Does the page's text say this range?"""
    return re.fullmatch(rf"{low}( to |, | or ){high}", text)


def test_each_scheduler_has_a_page():
    """And no page of a removed one."""
    assert sorted(p.name for p in ABI.iterdir()) == \
        [f"sysfs-iosched-{name}" for name in POLICIES]
    page = (REPO / "docs" / "sysfs.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\(ABI/sysfs-iosched-(\w+)\)", page)) == POLICIES


@pytest.mark.parametrize("name", POLICIES)
def test_each_attribute_is_on_the_page(name):
    """With its range, its default, its unit and its permissions."""
    there = entries(name)
    code = wanted(source(name))
    assert code
    assert set(there) == set(code) | {"inflight", "stats"}
    shown = {row[0] for row in rows(source(name), "SHOWN")} | {"inflight", "stats"}
    for attribute, fields in there.items():
        assert fields["access"] == ("RO" if attribute in shown else "RW"), attribute
        if attribute == "stats":
            continue
        # A text that is no more than a heading says nothing.
        assert len(fields["text"].split("Description:")[1].split()) > 3, attribute
        assert "Unit" in fields, attribute
        assert ("Default" in fields) == (attribute not in shown), attribute
        assert "Range" in fields or attribute in shown, attribute
        if code.get(attribute):
            low, high, default = code[attribute]
            assert same_range(fields["Range"], low, high), attribute
            assert fields["Default"] == str(default), attribute


@pytest.mark.parametrize("name", POLICIES)
def test_each_parameter_is_on_the_page(name):
    """A default for later disks is the module's, and nothing else is."""
    known = parameters(name)
    for attribute, fields in entries(name).items():
        also = [f"/sys/module/{name}/parameters/{attribute}"]
        assert fields["what"][1:] == (also if attribute in known else []), attribute


@pytest.mark.parametrize("name", POLICIES)
def test_units_follow_from_names(name):
    """An attribute's unit agrees with the end of its name."""
    for attribute, fields in entries(name).items():
        for end, unit in (("_us", "us"), ("_ms", "ms"), ("_pct", "%"),
                          ("_sectors", "sectors of 512 bytes")):
            if attribute.endswith(end):
                assert fields["Unit"].startswith(unit), attribute


@pytest.mark.parametrize("name", POLICIES)
def test_the_page_begins_with_what_modinfo_says(name):
    """One meaning for both, with the unit."""
    there = entries(name)
    for attribute, what in meanings(name).items():
        assert len(what.split()) > 1 and what[-1] not in ".;", attribute
        described = re.sub(r"\s+", " ", there[attribute]["text"].split(") ", 1)[1])
        begins = f"{what[0].upper()}{what[1:]}."
        assert described.startswith(begins), \
            f"{attribute}: want '{begins}', have '{described[:90]}'"
        unit = there[attribute]["Unit"].split()[0]
        assert unit == "none" or unit in what.split(" ") or \
            unit in re.findall(r"\w+", what), f"{attribute}: no {unit} in '{what}'"


@pytest.mark.parametrize("name", POLICIES)
def test_each_text_has_its_default(name):
    """The first of what it may be."""
    there = entries(name)
    for row in rows(source(name), "TEXTS"):
        assert there[row[0]]["Default"] == row[2]


# make's own, and those of scripts/check
BUILT = sorted(path for place in ("modules", "check/tree-*/build/modules")
               for path in (REPO / "build").glob(f"{place}/*/*.ko")
               if path.stem in POLICIES)


def newer(path):
    """Was a module built after its code was last changed?"""
    code = [p for folder in (path.stem, "common")
            for p in (REPO / folder).rglob("*.[ch]")]
    return path.stat().st_mtime >= max(p.stat().st_mtime for p in code)


@pytest.mark.parametrize("path", BUILT or [None],
                         ids=lambda p: f"{p.parent.name}-{p.stem}" if p else "none")
def test_built_modules_agree(path):
    """The page has each module's descriptions of its parameters."""
    if path is None:
        pytest.skip("no module has been built")
    if not newer(path):
        pytest.skip("built before its code was changed")
    there = entries(path.stem)
    said = dict(re.findall(rb"\0parm=(\w+):([^\0]*)", path.read_bytes()))
    said = {name.decode(): text.decode() for name, text in said.items()}
    assert set(said) == parameters(path.stem)
    for name, text in said.items():
        what, default = re.fullmatch(
            r"(.*); .*, default (\S+), for new disks", text).groups()
        assert what == meanings(path.stem)[name], name
        assert there[name]["Default"] == default, name
        numbers = re.search(r"; (\d+) to (\d+), default ", text)
        assert bool(numbers) == bool(wanted(source(path.stem))[name]), name
        if numbers:
            assert same_range(there[name]["Range"], *numbers.groups()), name


@pytest.mark.parametrize("name", POLICIES)
def test_the_readme_agrees(name):
    """Ranges and defaults agree for the attributes that the README lists."""
    readme = table((REPO / name / "README.md").read_text(encoding="utf-8"))
    for attribute, numbers in wanted(source(name)).items():
        if attribute not in readme or numbers is None:
            continue
        low, high, default = numbers
        cells = readme[attribute]
        assert re.match(rf"{low}( to |, | or ){high}$", cells[0]), attribute
        assert cells[1] == str(default), attribute


def test_k2_has_all_in_its_readme():
    """K2's README is the page for users."""
    readme = table((REPO / "k2" / "README.md").read_text(encoding="utf-8"))
    assert set(wanted(source("k2"))) <= set(readme)


@pytest.mark.parametrize("name", POLICIES)
def test_each_counter_is_on_the_page(name):
    """The page names each counter that the hook @stats prints."""
    printed = re.search(r"^(?:static )?int \w+_stats\([^;]*?\n{.*?^}",
                        source(name), re.M | re.S)[0]
    if name == "k2":
        # All have these; the pages of others say that they are here.
        common = (REPO / "common" / "elevator" / "tunables.c").read_text(encoding="utf-8")
        printed += body_of(common, "flash_stats_show")
    else:
        assert "up to kicks" in entries("acfq")["stats"]["text"]
    keys = re.findall(r"(\w+) %", printed.replace("\\n", " "))
    assert keys
    there = entries(name)["stats"]["text"]
    if "As for acfq" in there:
        there = entries("acfq")["stats"]["text"]
    named = set(re.findall(r"\w+", " ".join(
        re.findall(r"^\t\t(\w+(?:, \w+)*)$", there, re.M))))
    for key in keys:
        assert key in named, key


def test_each_reason_is_on_the_page():
    """The page names each reason that trace events print."""
    text = (REPO / "common" / "elevator" / "trace.h").read_text(encoding="utf-8")
    reasons = re.findall(r"X\(FLASH_WHY_\w+, \"(\w+)\"\)", text)
    assert len(reasons) > 10
    page = (REPO / "docs" / "sysfs.md").read_text(
        encoding="utf-8").split("## Trace events")[1]
    for reason in reasons:
        assert f"`{reason}`" in page, reason
    for event in re.findall(r"(?:DEFINE_EVENT\(flash_request, |TRACE_EVENT\()(\w+),",
                            text):
        assert f"`{event}`" in page, event


def test_each_module_has_its_own_events():
    """common/elevator/ with its trace events is a part of each module."""
    for name in POLICIES:
        text = (REPO / name / "build.c").read_text(encoding="utf-8")
        assert '#include "../common/elevator/build.c"\n' in text
    text = (REPO / "common/elevator/build.c").read_text(encoding="utf-8")
    assert '#include "trace.c"\n' in text


def body_of(text, function):
    """A function of the kernel's style, from its name to its closing brace."""
    return re.search(rf"^[^\n]*\b{function}\([^;]*?^{{\n(.*?)^}}", text,
                     re.M | re.S)[1]


def test_k2_static_is_what_it_was():
    """The default, and what is beyond it stands behind one flag."""
    text = source("k2")
    assert ["policy", "k2_check_policy", "static"] == rows(text, "TEXTS")[0][:3]
    table = re.search(r"^const struct flash_policy .*?^};", text, re.M | re.S)[0]
    assert ".watches" not in table
    numbers = wanted(text)
    for beyond in ("reserve", "rt_alone", "nrt_wait_ms", "observe"):
        assert numbers[beyond][2] == 0
    assert rows(text, "TEXTS")[1][2] == "requests"
    assert rows(text, "TEXTS")[2][:3] == ["layout", "flash_layout_check", "none"]
