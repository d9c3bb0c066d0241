# SPDX-License-Identifier: GPL-2.0
"""The table of results in README.md."""

import importlib
import pathlib
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

readmetable = importlib.import_module("readmetable")
suiteplan = importlib.import_module("suiteplan")


def cell(workload, label, variant, **metrics):
    return {"cell": f"{workload}.{label}.{variant}", "workload": workload,
            "label": label, "variant": variant,
            "metrics": {name: {"median": value} if value is not None else None
                        for name, value in metrics.items()}}


def command(name):
    return f"scripts/bench {name}"


SPEC = ("piq", "tail.x", "reads", readmetable.BANDWIDTH,
        {"bfq": "bfq-noidle", "ours": "piq-8"}, "1.5 times")


def row(*cells, spec=SPEC):
    return readmetable.row(spec, {"piq": {"cells": list(cells)}}, "do it")


def test_a_row():
    """Each column has its own cell's figure; the best one is bold."""
    found = row(cell("tail", "none", "x", bandwidth_bytes_per_s=2e6),
                cell("tail", "kyber", "x", bandwidth_bytes_per_s=5e6),
                cell("tail", "bfq", "x", bandwidth_bytes_per_s=99e6),
                cell("tail", "bfq-noidle", "x", bandwidth_bytes_per_s=4e6),
                cell("tail", "piq-8", "y", bandwidth_bytes_per_s=99e6),
                cell("tail", "piq-8", "x", bandwidth_bytes_per_s=3e6))
    assert found == "| reads | MB/s | 2 | – | **5** | 4 | 3 | `piq-8` | " \
        "1.5 times | [piq](docs/results/piq.json), `do it` |"


def test_less_is_better_for_times():
    spec = ("piq", "tail.x", "reads", readmetable.READS, {"ours": "piq"}, "")
    found = row(cell("tail", "none", "x", read_latency_p99_s=3e-4),
                cell("tail", "piq", "x", read_latency_p99_s=2.5e-6), spec=spec)
    assert "| 300 | – | – | – | **2.5** |" in found


@pytest.mark.parametrize("cells", [
    (), (cell("tail", "none", "x", bandwidth_bytes_per_s=1e6),),
    (cell("tail", "piq-8", "x", bandwidth_bytes_per_s=None),),
    ({**cell("tail", "piq-8", "x", bandwidth_bytes_per_s=1e6),
      "cell": "tail.piq-8.x.x1"},)])
def test_no_row_without_our_figure(cells):
    assert row(*cells) is None


def test_costs():
    spec = next(one for one in readmetable.ROWS if one[0] == "cost")
    line = {"disk": "null", "depth": 1, "label": "k2", "over_none_ns": 7.4}
    found = {"cost": {"cells": [
        line, {**line, "label": "mq-deadline", "over_none_ns": 20},
        {**line, "label": "kyber", "depth": 32, "over_none_ns": 3}]}}
    assert "| – | 20 | – | – | **7** | `k2` |" in readmetable.row(
        spec, found, "do it")


def test_verdicts():
    claims = [{"id": "R1", "holds": True}, {"id": "R2", "holds": False},
              {"id": "W1", "holds": None}, {"id": "W2", "holds": True}]
    text = "\n".join(readmetable.table(
        {"k2": {"claims": claims}, "piq": {"claims": []}, "locks": None},
        command))
    assert "| k2 | R1, W2 | R2 | W1 | [k2](docs/results/k2.json), " \
        "`scripts/bench k2` |" in text
    assert "piq.json" not in text


def test_rows_are_of_workloads_that_there_are():
    """A row that no suite can fill would never be missed."""
    for suite, place, _, what, labels, _ in readmetable.ROWS:
        if suite == "cost":
            continue
        form = suiteplan.runs(suiteplan.load(suite), "short")
        have = {(run["workload"], run["variant"], run["label"]) for run in form}
        assert (*place.split(".", 1), labels["ours"]) in have, place
        assert (*place.split(".", 1), "none") in have, place


def test_readme_has_its_place():
    text = (REPO / "README.md").read_text("utf-8")
    new = readmetable.put(text, ["| a |"])
    assert "| a |" in new and readmetable.put(new, ["| b |"]).count("| a |") == 0
    assert new.partition(readmetable.BEGIN)[0] == \
        text.partition(readmetable.BEGIN)[0]


@pytest.mark.parametrize("text", [
    "", readmetable.BEGIN, readmetable.END + readmetable.BEGIN,
    readmetable.BEGIN * 2 + readmetable.END])
def test_no_place_no_table(text):
    with pytest.raises(ValueError, match="want one line"):
        readmetable.put(text, [])
