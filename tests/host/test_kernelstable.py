# SPDX-License-Identifier: GPL-2.0
"""scripts/kernels: the table of kernels."""

import importlib
import json
import pathlib
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))

kernelstable = importlib.import_module("kernelstable")
matrix = importlib.import_module("matrix")


def run(cases="core", commit="0123456789ab", failed=0):
    """An entry of the latest results."""
    return {"cases": cases, "release": "6.18.15-x", "date": "2026-11-26", "commit": commit,
            "schedulers": {"k2": {"passed": 9, "failed": failed, "skipped": 1, "seconds": 7},
                           "piq": {"passed": 8, "failed": 0, "skipped": 0, "seconds": 7}}}


def test_the_page_is_up_to_date():
    page = kernelstable.PAGE.read_text()
    assert kernelstable.update(page, kernelstable.table(
        kernelstable.read(), matrix.load(kernelstable.RESULTS))) == page


def test_every_kernel_has_a_row():
    assert kernelstable.left_out(kernelstable.read()) == []


@pytest.mark.parametrize("line, word", [
    ('series = ["6.99"]', "6.99"), ('btfs = ["9."]', "9."), ('structs = ["x"]', "structs-x.c")])
def test_a_row_names_what_is_there(tmp_path, line, word):
    path = tmp_path / "table.toml"
    path.write_text(f'[[row]]\nkernels = "some"\n{line}\n')
    with pytest.raises(kernelstable.TableError, match=word):
        kernelstable.read(path)


def test_what_counts_is_added():
    old = {"6.17": run(commit="old"), "6.18": run(commit="old")}
    found, refused = kernelstable.add(old, {
        "6.1": run("some"), "6.12": run("all, dealt"), "6.18": run(), "rt": {"absent": "no"},
        "7.3": run(commit="0123456789ab-dirty")})
    assert {name: entry["commit"] for name, entry in found.items()} == {
        "6.12": "0123456789ab", "6.17": "old", "6.18": "0123456789ab"}
    assert found["6.18"]["schedulers"]["k2"] == {"passed": 9, "failed": 0, "skipped": 1}
    assert [line.partition(":")[0] for line in refused] == ["6.1", "7.3"]


def test_cells():
    row = kernelstable.Row("6.18", "somebody", ("6.18",), ("6.18.15",), ("6.6",))
    text = kernelstable.table([row], {"6.18": run(failed=2)})
    assert "| 6.18 | somebody | compiled; BTF of 1 image equal; by structs | " \
        "6.18.15-x: 0+0+9+0+8, 2 failed (core) |" in text
    assert "6.18 0123456789ab 2026-11-26" in text
    assert "| – | – |" in kernelstable.table([kernelstable.Row("9.9")], {})


def test_a_table_takes_the_place_of_the_old_one():
    mark = kernelstable.MARK
    old = f"a\n{mark}\n| x |\n|---|\n\nCases: old.\n\nb\n"
    new = kernelstable.update(old, "| y |\n\nCases: new.\n")
    assert new == f"a\n{mark}\n| y |\n\nCases: new.\n\nb\n"
    with pytest.raises(kernelstable.TableError, match="has no line"):
        kernelstable.update("nothing", "| y |\n")


def test_command(tmp_path, monkeypatch, capsys):
    page, results, latest = (tmp_path / name for name in ("page.md", "k.json", "m.json"))
    page.write_text(f"{kernelstable.MARK}\n")
    latest.write_text(json.dumps({"schema": 1, "series": {"6.18": run(), "6.1": run("some")}}))
    monkeypatch.setattr(kernelstable, "PAGE", page)
    monkeypatch.setattr(kernelstable, "RESULTS", results)
    monkeypatch.setattr(kernelstable, "LATEST", latest)
    assert kernelstable.main(["--add", "--write"]) == 0
    assert "6.18.15-x" in page.read_text() and "6.1: of some cases" in capsys.readouterr().err
    assert list(json.loads(results.read_text())["series"]) == ["6.18"]
    assert kernelstable.main([]) == 0
    assert capsys.readouterr().out in page.read_text()
