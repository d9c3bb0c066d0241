# SPDX-License-Identifier: GPL-2.0
"""What the pages of results have in common."""

import importlib
import json
import pathlib
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

resultspage = importlib.import_module("resultspage")


def summary(suite, commit, **cells):
    """Results of a suite: a figure for each cell."""
    return {"schema": 2, "suite": suite, "form": "short", "commit": commit,
            "seed_uses": {"report": [101]}, "runs_done": len(cells),
            "runs_planned": len(cells), "kernel": "6.1", "clock": "virtual",
            "bench_command": f"scripts/bench {suite} --out /x --vms 2",
            "cells": [{"cell": name, "value": value}
                      for name, value in cells.items()]}


def test_several_of_a_suite():
    """Each cell once, the last one's; and it is said how each was made."""
    first, second = summary("a", "c1", x=1, y=2), summary("a", "c2", y=3, z=4)
    one = resultspage.together([first, summary("b", "c3", x=9), second], "a")
    assert {cell["cell"]: cell["value"] for cell in one["cells"]} == {
        "x": 1, "y": 3, "z": 4}
    said = resultspage.facts(one)
    assert "commit c1" in said and "commit c2" in said and "c3" not in said
    assert "/x" not in said
    assert resultspage.together([first], "a") is first
    assert resultspage.together([first], "b") is None
    assert resultspage.facts(None) == "**Not measured yet.**"


def test_named_directories(tmp_path):
    """All of those, and nothing else."""
    for name, data in (("one", summary("a", "c1", x=1)),
                       ("two", summary("a", "c2", y=2))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "summary.json").write_text(json.dumps(data))
    args = resultspage.parser(
        "test", "A\n\ntest", REPO / "docs" / "x.md", ("a", "b")).parse_args(
            [str(tmp_path / "one"), str(tmp_path / "two")])
    found = resultspage.chosen(args, ("a", "b"))
    assert len(found[0]["cells"]) == 2 and found[1] is None


def test_a_long_command_is_shortened():
    short = "scripts/bench a" + "".join(f" --only c{n}" for n in range(12, 0, -1))
    assert resultspage.plain(short + " --out DIR --vms 1") == short
    assert resultspage.plain(short + " --only c0 --seeds 1") == \
        short.partition(" --only c6")[0] + " --seeds 1 ... # 13 in all"


def test_an_aim_of_ours_is_no_papers():
    row = {"id": "X", "text": "x", "holds": None, "judged": 0, "wanted": 1, "parts": []}
    for paper, said in (("as above", "Paper: as above."), ("aim", "An aim of ours."),
                        ("aim: 95 %", "Our aim: 95 %."), ("3; aim: 2", "Paper: 3; aim: 2."),
                        ("other: SFQ", "From another paper, not the schedulers' own: SFQ.")):
        assert next(resultspage.claim_list([{**row, "paper": paper}])).endswith(
            f"not measured. {said}")


def test_what_is_beside_a_claim():
    """Pictures; and which parts of it were not measured."""
    parts = [{"text": "d", "holds": True, "ours": "1"},
             {"text": "c", "holds": None, "ours": "not measured"}]
    row = {"id": "X", "text": "x", "holds": True, "judged": 1, "wanted": 2,
           "paper": "p", "parts": parts}
    said = list(resultspage.claim_list([row], {"X": "Picture 3."}, every=True))
    assert said[0].endswith("holds (1 of 2 judged). Paper: p. Picture 3.")
    assert said[2] == "  - not measured: c"
    assert len(list(resultspage.claim_list([row]))) == len(said) - 1
    # Of a claim of which nothing was measured that is said once.
    assert len(list(resultspage.claim_list(
        [{**row, "holds": None, "parts": parts[1:]}], every=True))) == 2


def test_one_figure_is_no_range():
    shareclaims = importlib.import_module("shareclaims")
    assert shareclaims.between([26, 26]) == "26"
    assert shareclaims.between([3, 26]) == "3 to 26"


@pytest.mark.parametrize("module", ["k2results", "piqresults", "layerresults",
                                    "shareresults"])
def test_a_page_is_not_lost(module, monkeypatch, tmp_path, capsys):
    """Where nothing was measured the project's own page stays."""
    script = importlib.import_module(module)
    page = tmp_path / script.PAGE.name
    page.write_text("figures")
    folder = page.with_suffix("")
    folder.mkdir()
    (folder / "picture.svg").write_text("")
    monkeypatch.setattr(resultspage, "REPO", tmp_path)
    monkeypatch.setattr(resultspage, "RESULTS", tmp_path)
    monkeypatch.setattr(script, "PAGE", page)
    assert script.main([]) == 1
    assert page.read_text() == "figures" and list(folder.iterdir())
    assert f"next: make bench-{page.stem.removesuffix('-results')}" in \
        capsys.readouterr().err
