# SPDX-License-Identifier: GPL-2.0
"""docs/k2-front.md: its tables, its pictures, and that no figure is lost."""

import importlib
import json
import pathlib
import re
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

frontplots = importlib.import_module("frontplots")
k2autoclaims = importlib.import_module("k2autoclaims")
k2front = importlib.import_module("k2front")
k2results = importlib.import_module("k2results")
resultspage = importlib.import_module("resultspage")


def cell(name, tail, speed, requests=1000, **tunables):
    """A cell with a tail and a bandwidth."""
    workload, label, variant = name.split(".")
    scheduler = "none" if label.startswith(("none", "iocost")) else \
        re.match("mq-deadline|[a-z0-9]+", label)[0]
    return {"cell": name, "workload": workload, "variant": variant,
            "label": label, "scheduler": scheduler,
            "tunables": {key: str(one) for key, one in tunables.items()},
            "metrics": {key: dict.fromkeys(("median", "min", "max"), one)
                        for key, one in (
                            ("settled_tail_s", tail),
                            ("settled_requests", requests),
                            ("settled_bandwidth_bytes_per_s", speed))}}


def cells():
    """Some of two loads."""
    return [cell("rand-read.none.e", 1.7e-3, 520e6),
            cell("pareto.none.e", 1.6e-3, 510e6, 9000),
            cell("pareto.kyber.e", 5e-4, 200e6, 9000),
            cell("pareto.iocost-e.e", 6e-4, 100e6, 9000),
            cell("rand-read.k2-1.e", 1e-4, 50e6, max_inflight=1),
            cell("rand-read.k2-8.e", 3e-4, 300e6, max_inflight=8),
            cell("rand-read.k2-lat50.e", 4e-4, 320e6, policy="latency"),
            cell("op-rand-read.k2-8.e-op", 3e-4, 300e6, max_inflight=8),
            cell("op-rand-read.k2-8-map.e-op", 2e-4, 310e6, max_inflight=8,
                 layout="x"),
            cell("big-read.k2-8.e", 3e-4, 300e6, max_inflight=8),
            cell("big-read.k2-16.e", 4e-4, 400e6, max_inflight=16)]


def summary(found, **more):
    """A summary.json."""
    return {"suite": "k2-auto", "form": "full", "runs_done": len(found),
            "runs_planned": len(found), "seed_uses": {"report": [101]},
            "kernel": "6.1", "commit": "abc", "clock": "virtual",
            "bench_command": "scripts/bench k2-auto", "cells": found, **more}


def test_a_load_with_its_baselines():
    """Under one name, each label once, the longer run; by tail."""
    found = k2front.loads(k2autoclaims.Cells(cells()))
    assert list(found) == [("rand-read", "e"), ("op-rand-read", "e-op"),
                           ("big-read", "e")]
    assert [one["cell"] for one in found["rand-read", "e"]] == [
        "rand-read.k2-1.e", "rand-read.k2-8.e", "rand-read.k2-lat50.e",
        "pareto.kyber.e", "pareto.iocost-e.e", "pareto.none.e"]
    text = "\n".join(k2front.fronts(found))
    assert "| **k2-8** | 300 |" in text and "| kyber | 500 |" in text
    assert "| 200 | 39% |" in text


def test_two_pages(tmp_path):
    """Claims and searches on one, fronts and scans on the other, with pictures."""
    (tmp_path / "r").mkdir()
    (tmp_path / "r/summary.json").write_text(json.dumps(summary(cells())))
    out = tmp_path / "docs.md"
    assert k2results.main([str(tmp_path / "r"), "--out", str(out)]) == 0
    first, front = out.read_text(), (tmp_path / "k2-front.md").read_text()
    assert "(k2-front.md)" in first and "(k2-results.md)" in front
    assert "| **O1**: " in first and "| **O1**: " not in front
    assert "by tail; bold" in front and "by tail; bold" not in first
    assert "## O1: policy latency" in front and "## The scan" in front
    assert "commit abc" in first and "commit abc" in front
    pictures = re.findall(r"!\[.*\]\((k2-front/[\w-]+\.svg)\)", front)
    assert pictures == ["k2-front/rand-read-e.svg",
                        "k2-front/op-rand-read-e-op.svg"]
    drawn = [(tmp_path / name).read_text() for name in pictures]
    # Text, as in all pictures of pages
    for name in ("kyber", "io.cost", ">k2-1<", "tail and bandwidth"):
        assert name in drawn[0], name
    assert "k2-8-map" in drawn[1] and "k2-8<" not in drawn[1]
    # The same figures make the same files.
    assert k2results.main([str(tmp_path / "r"), "--out", str(out)]) == 0
    assert [(tmp_path / name).read_text() for name in pictures] == drawn
    assert k2results.main(["--out", str(tmp_path / "k2-front.md")]) == 2


def test_marks():
    """A shape for each origin of a bound."""
    shapes = {one["label"]: frontplots.mark(one) for one in cells()}
    assert len({shapes[name] for name in ("kyber", "k2-8", "k2-8-map",
                                          "k2-lat50")}) == 4
    with pytest.raises(frontplots.Nothing):
        frontplots.draw(pathlib.Path("/nowhere/x.svg"), cells()[:1], "x")


def test_neither_page_loses_figures(tmp_path, monkeypatch, capsys):
    """Fewer cells than the page has: both pages stay, unless an option forces them."""
    monkeypatch.setattr(resultspage, "REPO", tmp_path)
    monkeypatch.setattr(resultspage, "RESULTS", tmp_path / "build")
    monkeypatch.setattr(k2results, "PAGE", tmp_path / "k2-results.md")
    folder = tmp_path / "build" / "1"
    folder.mkdir(parents=True)
    file = folder / "summary.json"
    file.write_text(json.dumps(summary(cells())))
    assert k2results.main([]) == 0
    pages = tmp_path / "k2-results.md", tmp_path / "k2-front.md"
    before = [page.read_text() for page in pages]
    file.write_text(json.dumps(summary(cells()[:3], commit="def")))
    assert k2results.main([]) == resultspage.KEPT
    assert [page.read_text() for page in pages] == before
    assert list((tmp_path / "k2-front").iterdir())
    assert "k2-auto 3 of 11" in capsys.readouterr().err
    # With what is published there is all of it.
    resultspage.PUBLISHED.mkdir()
    (resultspage.PUBLISHED / "x.json").write_text(json.dumps(
        {"made_of": [summary(cells(), began="")]}))
    file.write_text(json.dumps(summary(cells()[:3], commit="def", began="1")))
    assert k2results.main([]) == 0
    text = pages[1].read_text()
    assert "commit abc" in text and "commit def" in text
    assert "<!-- cells: k2 0, k2-auto 11, k2-queue 0 -->" in pages[0].read_text()
    (resultspage.PUBLISHED / "x.json").unlink()
    assert k2results.main(["--fewer"]) == 0
    assert "commit abc" not in pages[0].read_text()


def test_the_projects_other_page_stays(tmp_path, monkeypatch, capsys):
    """A page with another name in docs would take its place."""
    monkeypatch.setattr(k2results, "PAGE", tmp_path / "k2-results.md")
    monkeypatch.setattr(resultspage, "RESULTS", tmp_path / "none")
    monkeypatch.setattr(resultspage, "REPO", tmp_path)
    (tmp_path / "k2-front.md").write_text("as it was")
    assert k2results.main(["--out", str(tmp_path / "mine.md")]) == 2
    assert "k2-front.md beside it is the project's" in capsys.readouterr().err
    assert (tmp_path / "k2-front.md").read_text() == "as it was"


def test_the_page_in_docs():
    """Is there, is linked, and has the loads that it is of."""
    text = (REPO / "docs" / "k2-front.md").read_text("utf-8")
    assert text.startswith("\n".join(list(k2front.page(
        None, k2autoclaims.Cells([])))[:10]))
    assert "## The Pareto front" in text and "## The scan" in text
    for page in ("README.md", "k2/README.md"):
        assert "k2-front.md" in (REPO / page).read_text("utf-8")
