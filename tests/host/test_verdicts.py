# SPDX-License-Identifier: GPL-2.0
"""A claim has one verdict: the summary, the pages and the files agree."""

import importlib
import pathlib
import re
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

benchall = importlib.import_module("benchall")
publish = importlib.import_module("publish")
claims = importlib.import_module("claims")
resultspage = importlib.import_module("resultspage")
summary = importlib.import_module("summary")
verdicts = importlib.import_module("verdicts")

PAGES = {name: (REPO / "docs" / f"{name}.md").read_text("utf-8")
         for name in benchall.PAGES}
SUMMARY = (REPO / "docs/results/summary.md").read_text("utf-8")
PUBLISHED = publish.published(REPO / "docs" / "results")
HOLDS = {word.capitalize(): holds for word, holds in verdicts.HOLDS.items()}


def of_summary(text):
    """{(page, suite, claim): holds} as the tables of the summary have it."""
    found, place = {}, None
    for line in text.partition("\n## Verdicts\n")[2].partition("\n## ")[0] \
            .splitlines():
        head = re.match(r"### ([\w-]+): \[([\w-]+)\.md\]", line)
        row = re.match(r"\| ([^:|]+): .*? \| (\w[\w ]*?)(?:[,:;] .*?)? \| ", line)
        if head:
            place = head[2], head[1]
        elif row:
            found[(*place, row[1])] = HOLDS[row[2]]
    return found


def of_pages(pages):
    """{(page, suite, claim): [verdict in each form on the page]}."""
    found = {}
    for name, text in pages.items():
        for claim in verdicts.of_page(text):
            if not claim["model"]:
                found.setdefault((name, claim["suite"], claim["id"]), []).append(
                    claim["holds"])
    return found


def contradictions(summary, pages):
    """Claims with one verdict in the summary and another on their page."""
    ours, theirs = of_summary(summary), of_pages(pages)
    found = [f"{key}: only in one of both" for key in ours.keys() ^ theirs.keys()]
    for key in ours.keys() & theirs.keys():
        known = [holds for holds in theirs[key] if holds is not None]
        wanted = all(known) if known else None
        if ours[key] is not wanted:
            found.append(f"{key}: {ours[key]} in the summary, {wanted} on its page")
    return sorted(found)


def test_the_summary_has_the_verdicts_of_the_pages():
    """Each claim of each page, and no other."""
    assert len(of_summary(SUMMARY)) > 80
    assert not contradictions(SUMMARY, PAGES)


def test_a_contradiction_is_seen():
    """The test above can fail, on either side."""
    row = re.search(r"^\| PV: .*$", SUMMARY, re.M)[0]
    said = "('share-results', 'share', 'PV'): "
    assert contradictions(SUMMARY.replace(row, row.replace("| Met", "| Missed")),
                          PAGES) == [f"{said}False in the summary, True on its page"]
    assert contradictions(SUMMARY.replace(row, ""), PAGES) == [
        f"{said}only in one of both"]
    page = PAGES["share-results"]
    line = re.search(r"^\| \*\*PV\*\*: .*$", page, re.M)[0]
    flipped = line.replace("| Met (", "| **Missed** (").replace("| PV", "| **PV**", 1)
    assert flipped != line
    assert contradictions(SUMMARY, {
        **PAGES, "share-results": page.replace(line, flipped)}) == [
            f"{said}True in the summary, False on its page"]


def test_a_form_on_the_page_that_disagrees_is_named():
    """Such as a short form that meets what the full one misses."""
    for key, found in of_pages(PAGES).items():
        if {True, False} <= set(found):
            row = re.search(rf"^\| {re.escape(key[2])}: .*$", SUMMARY, re.M)[0]
            assert re.search(r"\w+: met; .*\w+: missed|\w+: missed; .*\w+: met",
                             row), key


def test_a_file_that_disagrees_is_listed():
    """Each one that another form of the suite contradicts, with form and size."""
    merged = {}
    for text in PAGES.values():
        merged.update(verdicts.merged(verdicts.of_page(text)))
    rows = re.findall(r"^\| ([\w-]+) \| ([^|]+) \| [^|]+ \| \[([\w-]+)\]\(",
                      SUMMARY.partition("\n## Files whose form alone")[2], re.M)
    assert sorted(rows) == sorted(
        (claim["suite"], claim["id"], name) for claim, name, _ in
        verdicts.differing({key: claim for key, claim in merged.items()
                            if key[0] != verdicts.COST}, PUBLISHED))


def test_the_readme_judges_nothing():
    """It links to the verdicts."""
    text = (REPO / "README.md").read_text("utf-8")
    assert "does not hold" not in text
    assert not [word for word in HOLDS
                if re.search(rf"\b{re.escape(word)}\b", text)]
    assert "](docs/results/summary.md)" in text


@pytest.mark.parametrize("holds", [True, False, None])
def test_what_a_page_writes_is_read_back(holds):
    """claim_list() of resultspage.py, with its facts above it."""
    parts = [{"text": "a: b", "holds": holds, "ours": "1: 2 us"},
             {"text": "c", "holds": None, "ours": "not measured"}]
    row = {"id": "Fig 1, x", "text": "less: more", "paper": "aim: 3: 4", "holds": holds,
           "judged": 1 if holds is not None else 0, "wanted": 2, "parts": parts}
    facts = resultspage.facts({
        "form": "full", "runs_done": 1, "runs_planned": 1, "kernel": "6.1",
        "commit": "0123456789ab", "clock": "virtual",
        "seed_uses": {"report": [101]}, "bench_command": "scripts/bench share -x"})
    text = "\n".join(["# A", "", facts, "", *resultspage.claim_list([row]),
                      "By the model:", "", *resultspage.claim_list([row])])
    one, other = verdicts.of_page(text)
    assert (one["suite"], one["id"], one["text"], one["holds"], one["forms"]) == (
        "share", "Fig 1, x", "less: more", holds, ["full"])
    assert holds is None or (one["judged"], one["wanted"]) == (1, 2)
    assert (one["owner"], one["wants"]) == ("ours", "3: 4")
    assert one["missed"] == (holds is False)
    assert one["first"] == ("a: b: here 1: 2 us" if holds is False else "")
    assert other["model"] and not one["model"]
    assert verdicts.merged([one, other])["share", "Fig 1, x"]["all"] == [one]


def test_a_direction_without_its_size():
    """Each part that fails has a tenth of the paper's change, or the claim just fails."""
    def of(*shares):
        parts = [claims.Part("a", []).judge(share is True, "1", None if share is True
                                            else share) for share in shares]
        return list(resultspage.claim_list([claims.claim("A", "x", "p", parts)]))
    lines = of(0.25, True, 0.5)
    assert lines[4].endswith(
        "| **Direction only**, 0.25 to 0.50 of the size (1 of 3 parts) |")
    assert lines[6].startswith("*Direction only*: ")
    found, = verdicts.of_page("\n".join(lines))
    assert found["holds"] is False and found["missed"] == 2
    assert summary.size(found, "paper") == \
        "Direction only, 0.25 to 0.50 of the size: 2 of 3 parts missed"
    assert of(0.25)[4].endswith("| **Direction only**, 0.25 of the size |")
    for shares in ((0.25, 0.09), (0.25, None), (-1,)):
        assert "**Not reproduced**" in of(*shares)[4], shares


def test_the_form_that_decides():
    """One that does not hold, else the one that judges most parts."""
    def claim(form, holds, *parts):
        return {"suite": "piq", "id": "A", "holds": holds, "model": False,
                "forms": [form], "judged": len(parts)}

    def decides(*found):
        return verdicts.merged(found)["piq", "A"]["forms"]
    short, full = claim("short", True, True), claim("full", True, True, True)
    assert decides(short, full) == decides(full, short) == ["full"]
    assert decides(full, claim("harm", False, False)) == ["harm"]
    assert decides(claim("harm", None), short) == ["short"]
