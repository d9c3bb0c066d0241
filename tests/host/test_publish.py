# SPDX-License-Identifier: GPL-2.0
"""scripts/publish-results: what is kept, replaced, refused."""

import importlib
import json
import pathlib
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

benchall = importlib.import_module("benchall")
publish = importlib.import_module("publish")
readmetable = importlib.import_module("readmetable")
resultspage = importlib.import_module("resultspage")

COMMIT = "0123456789ab"
COST = {"id": "null-1.k2", "scheduler": "k2", "label": "k2", "disk": "null",
        "depth": 32, "busy_ns_per_io": 9, "over_none_ns": 7}
LOCKS = {"scheduler": "k2", "cpus": 1, "own_taken": 3}


def cell(name, value=1):
    """A cell of a suite."""
    workload, label, variant = name.split(".")
    return {"cell": name, "workload": workload, "label": label,
            "variant": variant, "scheduler": label, "profile": "E",
            "tunables": {}, "by_seed": {}, "metrics": {
                "ios": dict.fromkeys(("median", "min", "max"), value)}}


def suite(name, *names, value=1, **more):
    """A summary.json."""
    return {
        "schema": 2, "kind": "suite", "suite": name, "form": "full",
        "title": f"all of {name}", "commit": COMMIT, "kernel": "6.1.0-x",
        "bench_command": f"scripts/bench {name} --form full --vms 1 --keep "
        "--out /some/where --only 'x.*'", "vm_command": "scripts/vm", "began": "2026-01-01T00",
        "runs_planned": 2, "runs_done": 2, "interrupted": False, "failed": {},
        "seed_uses": {"report": [101]}, "clock": "virtual",
        "commits": [more.get("commit", COMMIT)],
        "claims": [{"id": "P1", "holds": False}], "trouble": [],
        "cells": [cell(one, value) for one in names],
        "runs": [{"id": f"{one}.s101", "cell": one, "seed": 101,
                  "passed": True, "metrics": {"iops": 1}} for one in names],
        **more}


def put(path, data):
    """Writes JSON; the directory."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))
    return path.parent


def change(folder, file, **values):
    """Other values in a JSON file."""
    path = folder / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.fixture(name="run")
def finished_run(tmp_path, monkeypatch):
    """A directory as scripts/bench-all leaves it."""
    folder = tmp_path / "all-full-1"
    for name in benchall.SUITES:
        put(folder / name / "summary.json", suite(name, "tail.none.x"))
    put(folder / "cost" / "summary.json", {
        "schema": 1, "commit": COMMIT, "kernel": "6.1.0-x", "cells": [COST],
        "command": "scripts/bench-cost --out /some/where"})
    put(folder / "locks" / "locks.json", {
        "schema": 1, "kind": "locks", "commit": COMMIT, "kernel": "6.1",
        "cells": [LOCKS], "when": 1.7e9, "verdicts": [
            {"claim": "one lock", "holds": False}],
        "command": "scripts/locks --out /some/where/locks.json"})
    put(folder / "parts", {
        "schema": 1, "form": "full", "full": [], "commit": COMMIT,
        "began": "then", "finished": True, "wanted": list(benchall.PARTS),
        "parts": {name: {"status": 0, "seconds": 61, "ended": "now"}
                  for name in benchall.PARTS}})
    monkeypatch.setattr(publish, "page", lambda *_: f"{REPO}/build: a page\n")
    return folder


@pytest.fixture(name="out")
def where_to(tmp_path):
    """A folder like docs/results."""
    return tmp_path / "docs" / "results"


def published(out, *folders):
    """{name: data} of the files in `out` after these folders were published."""
    assert publish.main([*map(str, folders), "--out", str(out)]) == 0
    return {path.stem: json.loads(path.read_text())
            for path in out.glob("*.json")}


def figures(data):
    """{cell: (its figure, the commit that it is of)}."""
    return {one["cell"]: (one["metrics"]["ios"]["median"], run["commit"])
            for run in data["made_of"] for one in run["cells"]}


def rows(out):
    """Rows of the table in the list."""
    return [line for line in (out / "README.md").read_text().splitlines()
            if line.startswith("| [")]


def test_a_whole_run(run, out, capsys):
    """Each part a file, the page, and where all is from."""
    found = published(out, run)
    assert set(found) == {*(f"{name}-full" for name in benchall.SUITES),
                          "cost", "locks"}
    assert (out / "index.html").read_text().startswith("build: a page\n")
    text = (out / "README.md").read_text()
    assert "`make bench-all FORM=full`, begun then, of commit " \
        f"`{COMMIT}`" in text
    assert "| [k2-full.json](k2-full.json) | all of k2 | `scripts/bench k2 " \
        f"--form full --only 'x.*'` | `{COMMIT}` | 6.1.0-x | 2026-01-01 | " \
        "2 of 2 | 1 | – |" in text
    assert f"| `scripts/locks` | `{COMMIT}` | 6.1 | 2023-11-14 | – | 1 | " \
        "missed: one lock |" in text
    one, = found["k2-full"]["made_of"]
    assert "vm_command" not in one and "claims" not in one
    assert one["runs"] == [{"id": "tail.none.x.s101", "cell": "tail.none.x",
                            "seed": 101, "passed": True}]
    assert not any("/some/where" in path.read_text() for path in out.iterdir())
    assert "next: scripts/k2-results" in capsys.readouterr().out
    # Once more is no change.
    before = {path.name: path.read_text() for path in out.iterdir()}
    published(out, run)
    assert before == {path.name: path.read_text() for path in out.iterdir()}
    assert [path.name for path in out.parent.iterdir()] == ["results"]


def test_finished_parts_of_a_run(run, out):
    """Parts that are not finished, or had no kernel, are left out."""
    change(run, "parts", finished=False, parts={
        "k2": {"status": 1}, "locks": {"status": benchall.NO_KERNEL}})
    assert set(published(out, run)) == {"k2-full"}
    # That it is not finished yet is no reason for a page of it.
    assert not (out / "index.html").exists()
    change(run, "parts", parts={})
    assert publish.main([str(run), "--out", str(out)]) == 1


def test_some_cells_again(out, tmp_path):
    """New cells replace the published ones; each stays with its run."""
    first = put(tmp_path / "1/summary.json", suite(
        "k2", "a.k2.x", "b.k2.x", began="1", failed={
            "a.k2.x.s101": ["bound_kept"], "b.k2.x.s101": ["latency"]}))
    second = put(tmp_path / "2/summary.json", suite(
        "k2", "b.k2.x", value=2, began="2", commit="c2", kernel="6.12"))
    published(out, first)
    data = published(out, second)["k2-full"]
    assert figures(data) == {"a.k2.x": (1, COMMIT), "b.k2.x": (2, "c2")}
    old, new = data["made_of"]
    assert [one["id"] for one in old["runs"]] == ["a.k2.x.s101"]
    assert list(old["failed"]) == ["a.k2.x.s101"] and new["kernel"] == "6.12"
    one, two = rows(out)
    assert f"`{COMMIT}` | 6.1.0-x | 1 | 2 of 2 | 1 | a.k2.x.s101: bound_kept |" \
        in one
    assert "`c2` | 6.12 | 2 | 2 of 2 | 1 | – |" in two
    # In whatever order they are published; and a run without a cell is dropped.
    assert published(tmp_path / "o", second, first)["k2-full"] == data
    third = put(tmp_path / "3/summary.json", suite(
        "k2", "a.k2.x", "b.k2.x", value=3, began="3", commit="c3"))
    assert figures(published(out, third)["k2-full"]) == {
        "a.k2.x": (3, "c3"), "b.k2.x": (3, "c3")}
    assert len(rows(out)) == 1
    # An older one has nothing to add then.
    assert publish.main([str(first), "--out", str(out)]) == 1


def test_pages_are_made_of_it(out, tmp_path, monkeypatch):
    """The scripts of the pages find the published data, run by run."""
    published(out, put(tmp_path / "1/summary.json", suite(
        "k2", "a.k2.x", "b.k2.x", began="1")))
    published(out, put(tmp_path / "2/summary.json", suite(
        "k2", "b.k2.x", value=2, began="2", commit="c2")))
    monkeypatch.setattr(resultspage, "RESULTS", tmp_path / "none")
    monkeypatch.setattr(resultspage, "PUBLISHED", out)
    one = resultspage.together(resultspage.summaries(), "k2")
    assert [cell["metrics"]["ios"]["median"] for cell in one["cells"]] == [1, 2]
    said = resultspage.facts(one)
    assert f"commit {COMMIT}" in said and "commit c2" in said
    assert "`scripts/bench k2 --form full --only 'x.*'`" in said


def test_costs_of_two_kernels(out, tmp_path):
    """Are two; of one the later one counts."""
    def cost(name, kernel, value):
        return put(tmp_path / name / "summary.json", {
            "commit": name, "kernel": kernel, "command": "scripts/bench-cost",
            "cells": [{**COST, "busy_ns_per_io": value}]})
    published(out, cost("1", "6.1", 1), cost("2", "6.12", 2))
    data = published(out, cost("3", "6.1", 3))["cost"]
    assert [(run["commit"], run["cells"][0]["busy_ns_per_io"])
            for run in data["made_of"]] == [("2", 2), ("3", 3)]


def test_the_page_of_a_run_stays(run, out, tmp_path):
    """A single part does not make it another one, and the list says what it is of."""
    published(out, run)
    page = (out / "index.html").read_text()
    published(out, put(tmp_path / "2/summary.json", suite(
        "k2", "b.k2.x", commit="c2")))
    assert (out / "index.html").read_text() == page
    assert f"of commit `{COMMIT}`. What was published since is not in there" \
        in (out / "README.md").read_text()


def test_the_page_names_no_place_of_this_machine(tmp_path, monkeypatch):
    """Also for a run in another clone."""
    clone = tmp_path / "clone"
    folder = clone / "build" / "results" / "all-short-1"
    folder.mkdir(parents=True)

    def report(command, cwd, **_):
        text = pathlib.Path(command[3])
        assert cwd == clone and text.is_absolute()
        out = pathlib.Path(command[command.index("--out") + 1])
        out.mkdir()
        (out / "index.html").write_text(f"of {text}/k2, {text.relative_to(cwd)}")
        return subprocess.CompletedProcess(command, 0, "")

    monkeypatch.setattr(publish.subprocess, "run", report)
    monkeypatch.chdir(clone)
    short = "build/results/all-short-1"
    for given in folder, pathlib.Path(short):
        assert publish.page(given, tmp_path / str(len(str(given)))) == \
            f"of {short}/k2, {short}"


def test_a_run_that_was_resumed(out, tmp_path):
    """Its command is the original one, not that of the resumed rest."""
    folder = put(tmp_path / "1/summary.json", suite(
        "k2", "a.k2.x", bench_command="scripts/bench --resume /some/where"))
    assert publish.main([str(folder), "--out", str(out)]) == 1
    put(folder / "plan", {"only": ["a.*", "b"], "seeds": [101, 102],
                           "kernel": "7.3"})
    data = published(out, folder)["k2-full"]
    assert data["made_of"][0]["bench_command"] == \
        "scripts/bench k2 --form full --seeds 101,102 --kernel 7.3 " \
        "--only 'a.*' --only b"


def test_runs_that_are_missing_are_said(out, tmp_path):
    """An uninterrupted run may lack some: then there is no sense in waiting."""
    published(out, put(tmp_path / "1/summary.json", suite(
        "k2", "a.k2.x", runs_planned=9, trouble=["x: why", "y"])))
    row, = rows(out)
    assert "| 2 of 9 | 1 | 2 not made or not understood |" in row


def test_of_what_was_interrupted_whole_cells_count(out, tmp_path):
    run = suite("k2", "a.k2.x", "b.k2.x", "c.k2.x", interrupted=True)
    for cell, runs in zip(run["cells"], (2, 1, 2)):
        cell["runs"] = runs
    folder = put(tmp_path / "1/summary.json", run)
    data = published(tmp_path / "o", folder)["k2-full"]
    assert [cell["cell"] for cell in data["made_of"][0]["cells"]] == \
        ["a.k2.x", "c.k2.x"]
    # The plan knows better, if it is there.
    put(folder / "plan", {"runs": [
        {"cell": name} for name, runs in (("a.k2.x", 3), ("b.k2.x", 1),
                                          ("c.k2.x", 2)) for _ in range(runs)]})
    data = published(out, folder)["k2-full"]
    assert [cell["cell"] for cell in data["made_of"][0]["cells"]] == \
        ["b.k2.x", "c.k2.x"]


@pytest.mark.parametrize("values, said", [
    ({"commit": COMMIT + "-dirty"}, "all in a commit"),
    ({"commit": "unknown"}, "all in a commit"), ({"commit": None}, "commit"),
    ({"clock": "real"}, "of a real device"),
    ({"commits": ["a", COMMIT]}, "runs of it are of a: "),
    ({"commits": [COMMIT + "-dirty"]}, "results of one commit"),
    ({"kind": "locks", "interrupted": True}, "interrupted"),
    ({"cells": []}, "nothing was"),
    ({"seed_uses": {"report": [101], "tuning": [1, 5]}}, "of seeds 1, 5, "),
    ({"suite": "none-such"}, "none-such"), ({"kind": "probe"}, "no results of"),
    ({"title": f"{pathlib.Path.home()}/x"}, "which is of this machine")])
def test_refused(out, tmp_path, capsys, values, said):
    """The error is one line, and nothing is written, not even of the other folders."""
    good = put(tmp_path / "1/summary.json", suite("k2", "a.k2.x"))
    bad = put(tmp_path / "2/summary.json", suite("k2", "a.k2.x", **values))
    assert publish.main([str(good), str(bad), "--out", str(out)]) == 1
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1 and not out.exists()


def test_missing_and_broken_files(run, out, tmp_path, capsys):
    (run / "share" / "summary.json").write_text("{")
    assert publish.main([str(run), "--out", str(out)]) == 1
    (run / "share" / "summary.json").unlink()
    assert publish.main([str(run), "--out", str(out)]) == 1
    (run / "parts").write_text("[]")
    assert publish.main([str(run), "--out", str(out)]) == 1
    assert publish.main([str(tmp_path), "--out", str(out)]) == 1
    (tmp_path / "x.json").write_text("[]")
    assert publish.main([str(tmp_path / "x.json"), "--out", str(out)]) == 1
    assert capsys.readouterr().err.count("\n") == 5 and not out.exists()


def test_what_is_not_ours_stays(run, out, tmp_path, capsys):
    out.mkdir(parents=True)
    (out / "letter").write_text("dear")
    assert publish.main([str(run), "--out", str(out)]) == 1
    assert (out / "letter").read_text() == "dear"
    (out / "letter").unlink()
    published(out, run)
    put(out / "mine.json", {"a": 1})
    assert publish.main([str(run), "--out", str(out)]) == 1
    assert (out / "mine.json").exists()
    assert capsys.readouterr().err.count("not ours") == 2
    assert {path.name for path in tmp_path.iterdir()} == {"docs", run.name}


def test_the_front_page_gets_the_table(run, out, tmp_path):
    """Without a place for the table it stays as it is, and nothing is written."""
    front = tmp_path / "README.md"
    front.write_text("# Head\n")
    with pytest.raises(publish.Refused, match="README.md: want one line"):
        publish.publish([run], out, front)
    assert front.read_text() == "# Head\n" and not out.exists()
    front.write_text(f"# Head\n{readmetable.BEGIN}\n{readmetable.NOTHING}\n"
                     f"{readmetable.END}\n## Tail\n")
    publish.publish([run / "k2"], out, front)
    publish.publish([run / "cost"], out, front)
    text = front.read_text()
    assert readmetable.NOTHING not in text and text.endswith("## Tail\n")
    assert "[cost](cost.json), `scripts/bench-cost` |" in \
        (out / "summary.md").read_text()
    # Files published before stay in the list.
    assert "[k2-full.json](k2-full.json)" in (out / "README.md").read_text()
    assert "| k2, bound 8 | – | – | –, – | – | 7 |" in text and "piq" not in text


def test_only_the_pages(run, out, tmp_path):
    """Without a directory, from the files in docs/results."""
    front = tmp_path / "README.md"
    front.write_text(f"{readmetable.BEGIN}\n{readmetable.END}\n")
    publish.publish([run / "cost"], out, front)
    before = {path.name: path.read_text() for path in out.iterdir()}
    (out / "summary.md").unlink()
    front.write_text(f"{readmetable.BEGIN}\n{readmetable.END}\n")
    assert publish.publish([], out, front)[1] == []
    assert before == {path.name: path.read_text() for path in out.iterdir()}


def test_the_report_names_the_verdicts_that_count(run, out, monkeypatch):
    """Once, however often its file is written."""
    monkeypatch.setattr(publish, "page", lambda *_: "<body class=x><p>a</p>")
    published(out, run)
    published(out, run)
    text = (out / "index.html").read_text()
    assert text.startswith(f"<body class=x>{publish.NOTE}<p>")
    assert text.count(publish.NOTE) == 1
