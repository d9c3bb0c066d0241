# SPDX-License-Identifier: GPL-2.0
"""docs/sysfs.md and each scheduler's README have every attribute, as the code has it."""

import pathlib
import re

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
POLICIES = sorted(p.parent.name for p in REPO.glob("*/*.c")
                  if p.stem == p.parent.name
                  and "FLASH_DEFINE_" in p.read_text(encoding="utf-8"))


def source(name):
    """The code of a scheduler's .c file, and what it has in common with others."""
    text = (REPO / name / f"{name}.c").read_text(encoding="utf-8")
    if "TENANCY_TUNABLES(X)" not in text:
        return text
    shared = (REPO / "common" / "tenancy.h").read_text(encoding="utf-8") + \
        (REPO / "common" / "tenancy.c").read_text(encoding="utf-8")
    # The list begins with all that these have.
    first = re.search(r"#define TENANCY_TUNABLES\(X\)((?:.*\\\n)*.*)", shared)[1]
    return re.sub(r"\tTENANCY_TUNABLES\(X\)[^\n]*", lambda _: first.lstrip(" \t\\\n")
                  + "\t\\", text) + shared.replace("TENANCY_TUNABLES", "")


def rows(text, kind):
    """The rows X(...) of a list such as K2_TUNABLES, as lists of arguments."""
    match = re.search(rf"#define \w+_{kind}\(X\)((?:.*\\\n)*.*)", text)
    if not match:
        return []
    body = match[1].replace("\\\n", " ")
    return [[arg.strip().strip('"') for arg in re.split(r",\s*", row)]
            for row in re.findall(r"X\(((?:[^()\"]|\"[^\"]*\")*)\)", body)]


def section(name):
    """What docs/sysfs.md says about a scheduler."""
    page = (REPO / "docs" / "sysfs.md").read_text(encoding="utf-8")
    return re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", page, re.M | re.S)[1]


def tables(name):
    """What its tables of attributes say; hbfq's goes on where acfq's ends."""
    found = table(section(name).split("### ")[0])
    if name == "hbfq":
        shared = set(wanted(source("acfq"))) & set(wanted(source("hbfq")))
        shared |= {"inflight", "stats"}
        found = {attribute: cells for attribute, cells in tables("acfq").items()
                 if attribute in shared} | found
    return found


def counters(name):
    """Where the page explains statistics."""
    return section(name) + (section("hbfq") if name == "acfq" else "")


def table(text):
    """{attribute: cells} of the tables whose first cells name attributes."""
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
    for name, low, high, default in rows(text, "TUNABLES"):
        found[name] = (int(low), int(high), int(default))
    for kind in ("TEXTS", "SHOWN", "COMMANDS", "STORED"):
        for row in rows(text, kind):
            found[row[0]] = None
    return found


@pytest.mark.parametrize("name", POLICIES)
def test_each_attribute_is_on_the_page(name):
    """With its range and its default."""
    there = tables(name)
    code = wanted(source(name))
    assert code
    assert set(there) == set(code) | {"inflight", "stats"}
    for attribute, numbers in code.items():
        if numbers is None:
            continue
        low, high, default = numbers
        assert re.fullmatch(rf"{low}( to |, | or ){high}", there[attribute][0]), \
            attribute
        assert there[attribute][1] == str(default), attribute


@pytest.mark.parametrize("name", POLICIES)
def test_each_text_has_its_default(name):
    """The first of what it may be."""
    there = tables(name)
    for row in rows(source(name), "TEXTS"):
        assert there[row[0]][1] == f"`{row[2]}`"


@pytest.mark.parametrize("name", POLICIES)
def test_the_readme_agrees(name):
    """As far as it has them."""
    readme = table((REPO / name / "README.md").read_text(encoding="utf-8"))
    for attribute, numbers in wanted(source(name)).items():
        if attribute not in readme or numbers is None:
            continue
        low, high, default = numbers
        cells = readme[attribute]
        assert re.match(rf"{low}( to |, | or ){high}$", cells[0]), attribute
        assert cells[1] == str(default), attribute


def test_k2_has_all_in_its_readme():
    """K2's README is the page for who uses it."""
    readme = table((REPO / "k2" / "README.md").read_text(encoding="utf-8"))
    assert set(wanted(source("k2"))) <= set(readme)


@pytest.mark.parametrize("name", POLICIES)
def test_each_counter_is_on_the_page(name):
    """What policy_stats() prints."""
    body = re.search(r"^int policy_stats\(.*?^}", source(name), re.M | re.S)[0]
    keys = re.findall(r"(\w+) %", body.replace("\\n", " "))
    assert keys
    there = counters(name)
    for key in keys:
        assert f"`{key}`" in there, key


def test_each_reason_is_on_the_page():
    """What trace events say why."""
    text = (REPO / "common" / "tracepoints.h").read_text(encoding="utf-8")
    reasons = re.findall(r"X\(FLASH_WHY_\w+, \"(\w+)\"\)", text)
    assert len(reasons) > 10
    page = section("k2").split("### Trace events")[1]
    for reason in reasons:
        assert f"`{reason}`" in page, reason
    for event in re.findall(r"(?:DEFINE_EVENT\(flash_request, |TRACE_EVENT\()(\w+),",
                            text):
        assert f"`{event}`" in page, event


def test_each_module_has_its_own_events():
    """Where common/ is linked in."""
    kbuild = (REPO / "Kbuild").read_text(encoding="utf-8")
    lists = dict(re.findall(r"^common-(\w+)\s*:= (.*)$", kbuild, re.M))
    assert set(POLICIES) <= set(lists)
    assert all("tracepoints" in lists[name].split() for name in POLICIES)


def body_of(text, function):
    """A function of the kernel's style, from its name to its closing brace."""
    return re.search(rf"^[^\n]*\b{function}\([^;]*?^{{\n(.*?)^}}", text,
                     re.M | re.S)[1]


def test_k2_static_is_what_it_was():
    """The default, and what is beyond it stands behind one flag."""
    text = source("k2")
    assert ["policy", "k2_check_policy", "static"] == rows(text, "TEXTS")[0][:3]
    assert re.search(r"^const bool policy_watches;$", text, re.M)
    numbers = wanted(text)
    for beyond in ("reserve", "nrt_wait_ms", "observe"):
        assert numbers[beyond][2] == 0
    assert rows(text, "TEXTS")[1][2] == "requests"
    assert rows(text, "TEXTS")[2][:3] == ["layout", "flash_layout_check", "none"]

    beyond = r"k2_(watch|control|admit|chips)\w*\(|ktime_get"
    insert = body_of(text, "policy_insert")
    assert re.findall(r"if \(unlikely\(fq->watches\)\)\n\t\tk2_watch_insert\("
                      , insert)
    assert len(re.findall(beyond, insert)) == 1
    select = body_of(text, "policy_select")
    plain = re.search(r"if \(likely\(!fq->watches\)\)\n(.*?)\telse\n(.*?);\n",
                      select, re.S)
    assert re.fullmatch(r"\t\tclass = k2_pick\(&k2->order, meta_first,\n"
                        r"\t+flash_tun\(fq, TUN_meta_every\)\);\n", plain[1])
    assert "k2_watch_pick(" in plain[2]
    assert re.search(r"if \(unlikely\(fq->watches\)\)\n\t\tk2_watch_hold\(",
                     select)
    assert len(re.findall(beyond, select)) == 2
    merged = body_of(text, "policy_merged")
    assert re.search(r"if \(unlikely\(fq->watches\)\)\n\t\tk2_watch_merged\(", merged)
    assert len(re.findall(beyond, merged)) == 1
    for untouched in ("policy_rq_class", "policy_bio_class", "policy_urgency"):
        assert not re.findall(beyond, body_of(text, untouched))
    # What only a layout wants is called where nobody is without one.
    store = (REPO / "common" / "rqstore.c").read_text(encoding="utf-8")
    assert re.search(r"if \(fq->watches\)\n\t\tpolicy_grown\(", store)
