# SPDX-License-Identifier: GPL-2.0
"""docs/results/summary.md, and the short table in README.md."""

import importlib
import pathlib
import re
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

locks = importlib.import_module("locks")
publish = importlib.import_module("publish")
readmetable = importlib.import_module("readmetable")
suiteplan = importlib.import_module("suiteplan")
summary = importlib.import_module("summary")
verdicts = importlib.import_module("verdicts")

PUBLISHED = publish.published(REPO / "docs" / "results")


def cell(workload, label, variant, **metrics):
    return {"cell": f"{workload}.{label}.{variant}", "workload": workload,
            "label": label, "variant": variant,
            "metrics": {name: {"median": value} if value is not None else None
                        for name, value in metrics.items()}}


def file(suite, form, *cells, **run):
    """A published file of one run."""
    return {"kind": "suite", "suite": suite, "form": form, "made_of": [{
        "suite": suite, "form": form, "commit": "c1", "cells": list(cells),
        **run}]}


SPEC = ("piq", "tail.x", "reads", summary.BANDWIDTH,
        {"bfq": "bfq-noidle", "ours": "piq-8"}, "1.5 times")


def row(*cells, spec=SPEC):
    return summary.row(spec, {"piq-full": file("piq", "full", *cells)})


def test_a_row():
    """Each column has its own cell's figure; the best one is bold."""
    found = row(cell("tail", "none", "x", bandwidth_bytes_per_s=2e6),
                cell("tail", "kyber", "x", bandwidth_bytes_per_s=5e6),
                cell("tail", "bfq", "x", bandwidth_bytes_per_s=99e6),
                cell("tail", "bfq-noidle", "x", bandwidth_bytes_per_s=4e6),
                cell("tail", "piq-8", "y", bandwidth_bytes_per_s=99e6),
                cell("tail", "piq-8", "x", bandwidth_bytes_per_s=3e6))
    assert found == "| reads | MB/s | 2 | – | **5** | 4 | 3 | `piq-8` | " \
        "1.5 times | [piq-full](piq-full.json), " \
        "`scripts/bench piq --form full` |"


def test_less_is_better_for_times():
    spec = ("piq", "tail.x", "reads", summary.READS, {"ours": "piq"}, "")
    found = row(*(cell("tail", name, "x", read_latency_p99_s=3e-4)
                  for name in ("none", "kyber", "bfq")),
                cell("tail", "piq", "x", read_latency_p99_s=2.5e-6), spec=spec)
    assert "| 300 | – | 300 | 300 | **2.5** |" in found


@pytest.mark.parametrize("cells", [
    (), (cell("tail", "none", "x", bandwidth_bytes_per_s=1e6),),
    (cell("tail", "piq-8", "x", bandwidth_bytes_per_s=None),),
    ({**cell("tail", "piq-8", "x", bandwidth_bytes_per_s=1e6),
      "cell": "tail.piq-8.x.x1"},)])
def test_no_row_without_our_figure(cells):
    assert row(*cells) is None


def test_the_form_with_most_requests():
    """All columns are of it, even what another file has; then the later one."""
    spec = ("piq", "tail.x", "reads", summary.BANDWIDTH, {"ours": "piq"}, "")

    def forms(short, full, none=""):
        def of(form, ios, speed):
            cells = [cell("tail", "piq", "x", ios=ios,
                          bandwidth_bytes_per_s=speed)]
            if form == none:
                cells.append(cell("tail", "none", "x",
                                  bandwidth_bytes_per_s=2e6))
            return file("piq", form, *cells, began=form[0])
        return {"piq-short": of("short", short, 3e6),
                "piq-full": of("full", full, 4e6)}
    found = summary.row(spec, forms(10, 20, none="short"))
    assert "| – | – | – | – | 4 |" in found and "piq-full.json" in found
    assert "piq-short.json" in summary.row(spec, forms(20, 10))
    # Began later, by its name here
    assert "piq-short.json" in summary.row(spec, forms(10, 10))


def test_costs():
    """From the latest run: the cost is relative to none on its kernel."""
    spec = next(one for one in summary.ROWS if one[0] == "cost")
    line = {"disk": "null", "depth": 1, "label": "k2", "over_none_ns": 7.4}
    found = {"cost": {"kind": "cost", "made_of": [
        {"began": "1", "kernel": "6.1", "cells": [
            {**line, "over_none_ns": 1}, {**line, "label": "bfq"}]},
        {"began": "2", "kernel": "6.12", "cells": [
            line, {**line, "label": "mq-deadline", "over_none_ns": 20},
            {**line, "label": "kyber", "depth": 32, "over_none_ns": 3}]},
        {"began": "3", "kernel": "6.12", "cells": [
            {**line, "label": "bfq", "over_none_ns": 9}]}]}}
    assert "| – | 20 | – | – | 7 | `k2` |" in summary.row(spec, found)
    # The command is the run's.
    assert summary.row(spec, found).endswith(", `scripts/bench-cost` |")
    found["cost"]["made_of"][1]["command"] = "scripts/bench-cost --depths 1"
    assert summary.row(spec, found).endswith(
        ", `scripts/bench-cost --depths 1` |")


def test_locks():
    """From the latest run, at the number of CPUs of the row."""
    spec = next(one for one in summary.ROWS if one[0] == "locks")
    cpus = int(spec[1])

    def run(began, **taken):
        return {"began": began, "cells": [
            {"scheduler": name.replace("_", "-"), "cpus": one,
             "own_per_io": value + one - cpus}
            for name, value in taken.items() for one in (1, cpus)]}
    found = {"locks": {"kind": "locks", "made_of": [
        run("1", k2=4, kyber=4),
        run("2", none=0, mq_deadline=3.016, bfq=5, k2=1.011)]}}
    assert "| **0.000** | 3.016 | – | 5.000 | 1.011 | `k2` |" in \
        summary.row(spec, found)
    found["locks"]["made_of"][1]["cells"] = []
    assert "| – | – | 4.000 | – | 4.000 | `k2` |" in \
        summary.row(spec, found)


def test_the_size_of_a_verdict():
    """The number of parts missed and not judged."""
    claim = {"holds": False, "judged": 3, "wanted": 5, "missed": 2}
    assert summary.size(claim, "paper") == \
        "Not reproduced: 2 of 3 parts missed; 2 not measured"
    assert summary.size({"holds": True, "judged": 1, "wanted": 1, "missed": 0},
                        "ours") == "Met: 1 part"
    assert summary.size({**claim, "holds": None}, "ours") == "Not measured"


def test_a_tail_without_judged_parts_has_no_verdict():
    """Though its conditions do."""
    cells = [cell("mix-111", label, "d", bandwidth_bytes_per_s=1,
                  utilisation_milli=1) for label in ("hbfq", "bfq")]
    found = verdicts.of_file(file("share", "short", *cells))
    assert found["share", "Tails"]["holds"] is None


def test_nothing_is_the_best_of_few():
    found = row(cell("tail", "none", "x", bandwidth_bytes_per_s=2e6),
                cell("tail", "kyber", "x", bandwidth_bytes_per_s=5e6),
                cell("tail", "piq-8", "x", bandwidth_bytes_per_s=6e6))
    assert "| 2 | – | 5 | – | 6 | `piq-8` |" in found


def test_nothing_published():
    assert list(readmetable.table({})) == [readmetable.NOTHING]
    readme = (REPO / "README.md").read_text("utf-8")
    assert (readmetable.NOTHING in readme) == (not PUBLISHED)


def test_the_pages_are_those_of_the_files():
    """Both tables are what scripts/publish-results makes of docs/results."""
    again = "next: scripts/publish-results"
    assert (REPO / "docs/results/summary.md").read_text("utf-8") == "\n".join(
        summary.page(PUBLISHED, summary.pages())).rstrip() + "\n", again
    readme = (REPO / "README.md").read_text("utf-8")
    assert readmetable.put(readme, readmetable.table(PUBLISHED)) == readme, again


def test_the_short_table_agrees_with_the_long_one():
    """A cost of one kernel is the same figure in both."""
    table = list(readmetable.table(PUBLISHED))
    for name, _, label in readmetable.ROWS:
        if label not in ("k2", "piq", "layer_read", "acfq", "hbfq"):
            continue
        short = next(line for line in table if line.startswith(f"| {name} |"))
        for suite, place, _, what, labels, _ in summary.ROWS:
            series, _, depth = place.partition("/null.")
            if suite == "cost" and labels["ours"] == label and \
                    int(depth) in readmetable.SERIES[series]:
                long = summary.row((suite, place, "", what, labels, ""), PUBLISHED)
                if long:
                    assert long.split(" | ")[6] in re.findall(r"\d+", short)


def test_a_row_without_its_figures_is_left_out():
    """Costs of one kernel are in a separate column."""
    line = {"disk": "null", "depth": 1, "label": "bfq", "over_none_ns": 7.4}
    found = {"cost": {"kind": "cost", "made_of": [
        {"began": "1", "kernel": "6.12.1-x", "cells": [line]},
        {"began": "2", "kernel": "6.1.0-x", "cells": [
            {**line, "depth": 32, "over_none_ns": 9}]}]}}
    assert list(readmetable.table(found))[2:] == ["| bfq |  |  | 7, – | – | 9 |"]
    found["cost"]["made_of"][0]["cells"] = [{**line, "label": "k2"}]
    assert list(readmetable.table(found))[2] == \
        "| k2, bound 8 | – | – | 7, – | – | – |"


def test_rows_are_of_workloads_that_there_are():
    """A row that no suite can fill would never be missed."""
    for suite, place, _, what, labels, _ in summary.ROWS:
        if suite == "cost":
            continue
        if suite == "locks":
            counted = locks.parse([])
            assert int(place) in counted.cpus
            assert labels["ours"] in counted.chosen
            continue
        have = {(run["workload"], run["variant"], run["label"])
                for form in ("short", "baselines")
                if form in suiteplan.load(suite).forms
                for run in suiteplan.runs(suiteplan.load(suite), form)}
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
