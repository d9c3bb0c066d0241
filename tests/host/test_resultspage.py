# SPDX-License-Identifier: GPL-2.0
"""Functions that the pages of results share."""

import importlib
import json
import pathlib
import re
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

claims = importlib.import_module("claims")
claimcommands = importlib.import_module("claimcommands")
resultspage = importlib.import_module("resultspage")
verdicts = importlib.import_module("verdicts")
# A test sees an empty folder.
PUBLISHED = resultspage.PUBLISHED


def summary(suite, commit, **cells):
    """Results of a suite: a figure for each cell."""
    return {"schema": 2, "suite": suite, "form": "short", "commit": commit,
            "seed_uses": {"report": [101]}, "runs_done": len(cells),
            "runs_planned": len(cells), "kernel": "6.1", "clock": "virtual",
            "bench_command": f"scripts/bench {suite} --out /x --vms 2",
            "cells": [{"cell": name, "value": value}
                      for name, value in cells.items()]}


def test_several_of_a_suite():
    """Each cell once, from the last run; and the page says how each run was made."""
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
    for name, data in (
            ("one", {**summary("a", "c1", x=1, y=1), "began": "2"}),
            ("two", {**summary("a", "c2", y=2), "began": "1"})):
        (tmp_path / name).mkdir()
        (tmp_path / name / "summary.json").write_text(json.dumps(data))
    args = resultspage.parser(
        "test", "A\n\ntest", REPO / "docs" / "x.md", ("a", "b")).parse_args(
            [str(tmp_path / "one"), str(tmp_path / "two")])
    found = resultspage.chosen(args, ("a", "b"))
    # In whatever order they are named the newest counts.
    assert values(found[0]) == {"x": 1, "y": 1} and found[1] is None
    put(tmp_path / "one", [])
    with pytest.raises(ValueError, match="no summary.json of a suite"):
        resultspage.chosen(args, ("a", "b"))
    put(tmp_path / "one", {**summary("a", "c1", x=1), "clock": "real"})
    with pytest.raises(ValueError, match="of a real device"):
        resultspage.chosen(args, ("a", "b"))


def test_a_long_command_is_shortened():
    short = "scripts/bench a" + "".join(f" --only c{n}" for n in range(12, 0, -1))
    assert resultspage.plain(short + " --out DIR --vms 1") == short
    assert resultspage.plain(short + " --only c0 --seeds 1") == \
        short.partition(" --only c6")[0] + " --seeds 1 ... # 13 in all"


PART = {"text": "d", "holds": False, "ours": "0.0 %", "paper": "+15.7 %"}


def claim(source, holds, *parts):
    """A claim with these parts."""
    judged = sum(one["holds"] is not None for one in parts)
    return {"id": "X", "text": "x", "paper": source, "holds": holds,
            "judged": judged, "wanted": len(parts), "parts": list(parts)}


@pytest.mark.parametrize("source, title, head, said", [
    ("as above", "The paper's claims:", "paper", "as above | {} | **Not reproduced**"),
    ("aim", "Our own aims:", "aim", "– | {} | **Missed**"),
    ("aim: 95 %", "Our own aims:", "aim", "95 % | {} | **Missed**"),
    ("other: SFQ", "Claims of other papers:", "other paper",
     "SFQ | {} | **Not reproduced**"),
    ("inputs: Table I", "Fit of our inputs:", "fitted to",
     "Table I | {} | **Not fitted**")])
def test_whose_a_claim_is(source, title, head, said):
    """An aim or a fit of ours is never a paper's claim; a verdict has both figures."""
    here = "**d: paper +15.7 %, here 0.0 %**"
    assert list(resultspage.claim_list([claim(source, False, PART)])) == [
        title, "", f"| claim | {head} | here | verdict |", "|---|---|---|---|",
        f"| **X**: x | {said.format(here)} |", ""]


def test_papers_claims_stand_apart_from_our_aims():
    """In any order of claims."""
    rows = [claim("aim: 1", True, {**PART, "holds": True}),
            claim("p", False, PART), claim("q", None, {**PART, "holds": None})]
    said = "\n".join(resultspage.claim_list(rows))
    paper, ours = said.split("Our own aims:")
    assert paper.startswith("The paper's claims:")
    assert paper.count("\n| **") == 2 and ours.count("\n| **") == 1
    assert "| aim |" not in paper and "| **X**: x | 1 | " in ours


def test_what_a_row_of_a_claim_has():
    """What fails comes first; a long list is cut; pictures; conditions."""
    parts = [{"text": "d", "holds": True, "ours": "1"},
             {"text": "e", "holds": False, "ours": "a|b" + "x" * 200},
             {"text": "c", "holds": None, "ours": "not measured"}]
    row = {**claim("p", False, *parts), "where": "here and there"}
    said = list(resultspage.claim_list([row], {"X": "Picture 3."}))
    assert said[2].endswith("| here | conditions | verdict |")
    _, _, here, where, verdict = said[4][2:-2].split(" | ")
    first, second = here.split("<br>")
    assert first.startswith("**e: here a\\|bxxx") and first.endswith("x ...**")
    assert len(first) < 180 and second == "d: here 1 Picture 3."
    assert where == "here and there"
    assert verdict == "**Not reproduced** (1 of 2 parts, 1 not measured)"
    row = claim("p", True, *[{"text": str(n), "holds": True, "ours": "1"}
                             for n in range(7)])
    assert "3: here 1<br>3 more parts | Reproduced (7 of 7 parts) |" in \
        "\n".join(resultspage.claim_list([row]))
    row = claim("p", True, parts[0], parts[2], parts[2])
    assert list(resultspage.claim_list([row]))[4].endswith(
        "| Reproduced in part (1 of 1 parts, 2 not measured) |")
    # A claim without any measurement has a row, too.
    said = list(resultspage.claim_list([claim("p", None, parts[2])]))
    assert said[4] == "| **X**: x | p | – | Not measured |"


def papers_and_aims():
    """[(suite, claim)] of all suites, without cells."""
    return [(name, row) for name in claims.SETS
            for row in claims.evaluate(name, [])]


def run_of(form, command, *names, kernel="6.12.117"):
    return {"suite": "no-such", "form": form, "bench_command": command, "kernel": kernel,
            "cells": [{"cell": name, "metrics": {}} for name in names]}


def commands(suite, cells, *runs):
    return claimcommands.commands({"cells": cells}, suite, resultspage.counted(runs)).split(
        "<br>")


def cell_of(name, *values, seeds=None, **more):
    """A cell with one metric of several seeds."""
    return {"cell": name, "seeds": seeds or [101 + n for n in range(len(values))],
            "metrics": {"pv": {"median": sorted(values)[len(values) // 2],
                               "values": list(values), **more}}}


def above_one(cells):
    """A claim with one part: the mean of all cells is above 1."""
    found = [claims.figure(cell, "pv") for cell in cells]
    part = claims.Part("above 1", cells)
    return [claims.claim("x", "y", "z", [
        part.judge(sum(found) > len(found), "so") if found else part])]


@pytest.mark.parametrize("cells, seeds", [
    ([cell_of("a", 2., 3., .5)], [2, 3]),
    # All agree; or there is one seed only.
    ([cell_of("a", 2., 3., 4.)], None),
    ([cell_of("a", 2.)], None),
    # A seed that not all cells were run with does not count.
    ([cell_of("a", 2., 3., .5), cell_of("b", 1., 1., seeds=[101, 102])], None),
    ([cell_of("a", 2., 3., .5), cell_of("b", 1., 1., seeds=[102, 103])], [1, 2]),
    # Made before each one's values were kept
    ([cell_of("a", 2., 3., .5, values=None)], None)])
def test_seeds_that_disagree(cells, seeds):
    row, = claims.with_seeds(above_one, cells)
    assert row["parts"][0].get("seeds") == seeds
    assert row["holds"]
    assert ("(holds with" in resultspage.observations(row)) == bool(seeds)


def test_seeds_that_disagree_are_seen():
    """The part that decides may be one of many, of which few are shown."""
    good, bad = ({**PART, "holds": holds, "ours": "so"} for holds in (True, False))
    row = {**claim("paper", True, good), "parts": [
        bad, bad, bad, good, {**good, "seeds": [2, 3]}, {**bad, "seeds": [1, 3]}]}
    said = resultspage.observations(row)
    assert said.count("seeds)") == 1 and "(holds with 1 of 3 seeds)" in said.split("<br>")[0]
    assert said.endswith("2 more parts, 1 of them not with the same verdict for each seed")


def test_the_commands_of_a_claim():
    runs = (run_of("full", "scripts/bench x --form full --seeds 1,2", "a.k.v", "a.l.v"),
            run_of("full", "scripts/bench x --form full", "f.k.v"),
            run_of("short", "scripts/bench x", "b.k.v", kernel="6.1.0-56-amd64"))
    # A cell that was not measured has none.
    assert commands("no-such", ["a.k.v", "f.k.v", "a.l.v", "b.k.v", "z.k.v"], *runs) == [
        "`scripts/bench no-such --form full --seeds 1,2 --only 'a.k.v' --only 'a.l.v'`",
        "`scripts/bench no-such --form full --only 'f.k.v'`",
        "`scripts/bench no-such --form short --kernel 6.1 --only 'b.k.v'`"]
    assert commands("no-such", [], *runs) == [""]
    row = {**claim("paper", True, {**PART, "holds": True}), "cells": ["a.k.v"]}
    lines = list(resultspage.claim_list([row], data={"suite": "x", "made_of": list(runs)}))
    assert lines[2].endswith("| here | command | verdict |")
    found, = verdicts.of_page("\n".join(lines))
    assert found["holds"] is True


@pytest.mark.parametrize("cells, found", [
    (["a.k.v", "a.l.v"], ["a.k.v", "a.l.v"]),
    ([f"a.{n}.v" for n in range(5)], ["a.*.v"]),
    ([f"a.k.{n}" for n in range(5)], ["a.*"]),
    ([f"{n}.k.v" for n in range(5)], [])])
def test_the_patterns_of_a_command(cells, found):
    assert claimcommands.patterns(cells) == found


@pytest.mark.parametrize("path", sorted(PUBLISHED.glob("*-*.json")),
                         ids=lambda path: path.stem)
def test_each_command_has_its_cells(path):
    """Published cells may be of a form that has other cells now."""
    data = json.loads(path.read_text("utf-8"))
    for name in resultspage.counted(data["made_of"]):
        for command in filter(None, commands(data["suite"], [name], *data["made_of"])):
            form = re.search(r"--form (\S+)", command)[1]
            assert name in claimcommands.planned(data["suite"])[form]


@pytest.mark.parametrize("suite", sorted({
    path.stem.rpartition("-")[0] for path in PUBLISHED.glob("*-*.json")}))
def test_a_claim_names_all_cells_that_decide_it(suite):
    """Each part has the same verdict with the cells alone that its claim names, which is what
    the claim's commands measure.
    """
    cells = {}
    for path in sorted(PUBLISHED.glob(f"{suite}-*.json")):
        data = json.loads(path.read_text("utf-8"))
        if data["suite"] == suite:
            cells.update((name, cell) for name, (cell, _) in
                         resultspage.counted(data["made_of"]).items())

    def judged(rows, name):
        return {part["text"]: part["holds"] for row in rows if row["id"] == name
                for part in row["parts"] if part["holds"] is not None}

    rows = claims.evaluate(suite, list(cells.values()))
    for row in rows:
        own = claims.evaluate(suite, [cells[name] for name in row["cells"] if name in cells])
        assert judged(rows, row["id"]).items() <= judged(own, row["id"]).items(), row["id"]


def test_no_claim_of_a_paper_has_an_aim_in_it():
    """A claim has one source, a paper or us."""
    rows = papers_and_aims()
    assert {claims.whose(row) for _, row in rows} == {"paper", "other", "inputs", "ours"}
    for name, row in rows:
        if claims.whose(row) == "inputs":
            assert "fitted" not in row["text"]
        elif claims.whose(row) != "ours":
            assert "overlap" not in row["text"]
            assert not re.search(r"\baim\b|\bours\b", row["paper"] + row["text"]), \
                f"{name}, {row['id']}: {row['paper']}"


@pytest.mark.parametrize("page", sorted((REPO / "docs").glob("*-results.md")),
                         ids=lambda p: p.name)
def test_no_page_calls_an_aim_the_papers(page):
    """Nor verdicts of aims outside of the lists of aims."""
    text = page.read_text("utf-8")
    for part in re.split(r"^(?=The paper's claims:|Fit of our inputs:|Our own aims:|#)", text,
                         flags=re.M):
        if not part.startswith("Our own aims:"):
            assert not re.search(r"[Pp]aper: aim|\baim:|- \**(met|missed)\**:", part), \
                part[:100]
    assert "does not hold**" not in text


def test_one_figure_is_no_range():
    shareclaims = importlib.import_module("shareclaims")
    assert shareclaims.between([26, 26]) == "26"
    assert shareclaims.between([3, 26]) == "3 to 26"


@pytest.mark.parametrize("module", ["k2results", "piqresults", "piqautoresults",
                                    "layerresults", "shareresults"])
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
    assert f"next: make bench-{page.stem.split('-')[0]}\n" in \
        capsys.readouterr().err


def put(folder, data, name="summary.json"):
    """A directory of results."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(data))


def values(one):
    """The figure of each cell."""
    return {cell["cell"]: cell["value"] for cell in one["cells"]}


@pytest.fixture(name="lab")
def results_and_published(tmp_path, monkeypatch):
    """Where this clone's results are, and what is published."""
    monkeypatch.setattr(resultspage, "RESULTS", tmp_path / "build")
    monkeypatch.setattr(resultspage, "PUBLISHED", tmp_path / "docs")
    return tmp_path


def test_a_part_measured_again(lab):
    """Published cells count, except for cells that were measured later."""
    put(lab / "docs", {"kind": "suite", "suite": "a", "made_of": [
        {**summary("a", "c1", x=1, y=1), "began": "1"},
        {**summary("a", "c2", y=2, z=2), "began": "2"},
        {**summary("a", "c3", q=3), "began": "3", "form": "full"}]}, "a-s.json")
    assert values(resultspage.together(resultspage.summaries(), "a")) == {
        "x": 1, "y": 2, "z": 2, "q": 3}
    # Older than what is published, and newer
    put(lab / "build/1", {**summary("a", "c0", x=9, y=9, w=9), "began": "0"})
    one = resultspage.together(resultspage.summaries(), "a")
    assert values(one) == {"x": 1, "y": 2, "z": 2, "q": 3, "w": 9}
    put(lab / "build/2", {**summary("a", "c4", z=4), "began": "4"})
    # On a real device other things were measured.
    put(lab / "build/3", {**summary("a", "c5", z=5), "began": "5",
                          "clock": "real"})
    one = resultspage.together(resultspage.summaries(), "a")
    # Below build/results only the newest run of a form counts
    assert values(one) == {"x": 1, "y": 2, "z": 4, "q": 3}
    assert [run["commit"] for run in one["made_of"]] == ["c1", "c2", "c3", "c4"]
    # The same run here and published is one.
    put(lab / "build/2", {**summary("a", "c2", y=2, z=2), "began": "2"})
    one = resultspage.together(resultspage.summaries(), "a")
    assert [run["commit"] for run in one["made_of"]] == ["c1", "c2", "c3"]


def test_forms_by_requests():
    """Within a form the last run counts, among forms the one with most requests."""
    def of(form, ios, value):
        return {**summary("a", f"{form}{value}"), "form": form, "cells": [
            {"cell": "x", "value": value,
             "metrics": {"ios": {"median": ios}, "latency_count": None}}]}

    def last(*found):
        return values(resultspage.together(found, "a"))["x"]
    assert last(of("full", 90, 1), of("full", 50, 2)) == 2
    assert last(of("full", 50, 1), of("short", 20, 2)) == 1
    assert last(of("full", 20, 1), of("short", 20, 2)) == 2
    assert last(of("full", 20, 1), of("short", 20, 2), of("full", 20, 3)) == 3
    assert last(of("full", 90, 1), of("short", 60, 2), of("full", 50, 3)) == 2


def test_what_else_runs_say():
    """Runs left out of any of them; a cell that was too busy counts."""
    one = resultspage.together([
        {**summary("a", "c1", x=1, y=1), "left_out": ["p"],
         "cpu_too_busy": ["x", "y"]},
        {**summary("a", "c2", y=2), "left_out": ["p", "q"]}], "a")
    assert one["left_out"] == ["p", "q"] and one["cpu_too_busy"] == ["x"]
    assert [run["commit"] for run in one["made_of"]] == ["c1", "c2"]
    assert [data["form"] for data in resultspage.by_form(
        [{**summary("a", "c1", x=1), "form": "full"}, summary("a", "c2", x=1),
         {**summary("a", "c3", x=1), "form": "full"}], "a")] == ["short", "full"]


def test_a_claim_names_its_kernels():
    """Those of the runs that its cells are of."""
    both = {**summary("a", "c1", x=1, y=1), "kernel": "6.1.0-56-amd64"}, \
        {**summary("a", "c2", y=2, z=2), "kernel": "6.12.117+deb12-amd64"}

    def text(*cells, runs=both):
        row = {"text": "cost", "cells": list(cells)}
        return resultspage.on_kernels(row, resultspage.together(runs, "a"))["text"]
    assert text("x") == "cost, Linux 6.1"
    assert text("y") == "cost, Linux 6.12"
    assert text("x", "y") == "cost, Linux 6.1, Linux 6.12"
    assert text("x", runs=()) == text("q") == "cost"


def arguments(page, *more):
    """The options of a script."""
    return resultspage.parser("a-results", "A\n\ntest", page,
                              ("a", "b")).parse_args(list(more))


@pytest.fixture(name="page")
def page_of_three(tmp_path, monkeypatch):
    """A page of two cells of a, and one of b."""
    monkeypatch.setattr(resultspage, "REPO", tmp_path)
    page = tmp_path / "a.md"
    results = (summary("a", "c1", x=1, y=2), [summary("b", "c1", x=1)])
    resultspage.write("a-results", page, ["# A", ""], ("a", "b"), results)
    assert page.read_text() == "# A\n\n<!-- cells: a 2, b 1 -->\n"
    return page


@pytest.mark.parametrize("results, more, status", [
    (([1, 2], [1]), [], 0), (([1, 2, 3], [1, 2]), [], 0), (([1], [1]), [], 3),
    (([1, 2, 3], []), [], 3), (([1], [1]), ["--fewer"], 0),
    (([1], []), ["--out", "elsewhere.md"], 0), (([], []), ["--fewer"], 1)])
def test_a_page_with_more_stays(page, capsys, results, more, status):
    results = [{"cells": cells} if cells else None for cells in results]
    assert resultspage.kept("a-results", arguments(page, *more), page,
                            ("a", "b"), results) == status
    said = capsys.readouterr().err
    assert ("have fewer: " in said) == (status == 3)
    if status == 3:
        assert said.count("\n") == 1 and " of " in said


def test_the_page_by_another_name(page, monkeypatch):
    """A relative --out may be the project's page, too."""
    monkeypatch.chdir(page.parent)
    assert resultspage.kept("a-results", arguments(page, "--out", page.name),
                            page, ("a", "b"), [None, None]) == 1


def test_a_page_of_before_says_its_runs(page):
    """Cells are counted by them, as far as they are known."""
    one = {**summary("a", "c1", x=1, y=1), "runs_done": 10,
           "seed_uses": {"report": [101, 102]}}
    page.write_text(f"{resultspage.facts(one)}\n\n{resultspage.facts(one)}\n")
    assert resultspage.has(page, ("a", "b")) == [10, 0]
    page.unlink()
    assert resultspage.has(page, ("a", "b")) == [0, 0]


def test_forms_that_stand_apart():
    """Each of them counts."""
    one = summary("a", "c1", x=1, y=1)
    assert resultspage.covered((one, [one, one], None, [])) == [2, 4, 0, 0]


def test_only_what_we_made_is_deleted(tmp_path):
    """--out may name a page in a folder with other files."""
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, text in (("a.md", "# Mine"), ("b.svg", "<svg/>"),
                       ("c.md", "<!-- x -->\n<!-- Made by scripts/a -->"),
                       ("d.svg", "<?xml?>\n" + resultspage.MARKS[".svg"])):
        (notes / name).write_text(text)
    (notes / "e.md").mkdir()
    assert resultspage.emptied(tmp_path / "notes.md") == notes
    left = ["a.md", "b.svg", "e.md"]
    assert sorted(path.name for path in notes.iterdir()) == left
    (notes / "d.svg").write_text(resultspage.MARKS[".svg"])
    resultspage.emptied(notes)
    assert (notes / "d.svg").exists()


@pytest.mark.parametrize("name, said", [
    ("notes", "want a name that ends in .md"),
    ("none/x.md", "want a directory that exists")])
def test_where_a_page_may_go(tmp_path, capsys, name, said):
    with pytest.raises(SystemExit):
        arguments(REPO / "a.md", "--out", str(tmp_path / name))
    assert capsys.readouterr().err == \
        f"a-results: argument --out: '{tmp_path / name}': {said}\n"


def test_a_script_with_results_of_its_own(page, capsys):
    """Results beyond those of the suites reach make(), and are no cells of the page."""
    made = []

    def run(collect):
        return resultspage.run("a-results", "A\n\ntest", page, ("a", "b"), [],
                               lambda _, results: made.append(results) or 4, collect)

    def refuse(args, suites):
        raise ValueError(f"{args.out.name}, {len(suites)} suites: refused")
    cost = {"cells": [{}]}
    assert run(lambda *_: [None, None, cost]) == 1 and not made
    results = [{"cells": [1, 2]}, {"cells": [1]}, cost]
    assert run(lambda *_: results) == 4 and made == [results]
    capsys.readouterr()
    assert run(refuse) == 2
    assert capsys.readouterr().err == "a-results: a.md, 2 suites: refused\n"


@pytest.mark.parametrize("module", ["k2results", "piqresults", "piqautoresults",
                                    "shareresults"])
def test_a_page_that_cannot_be_written(module, monkeypatch, tmp_path, capsys):
    script = importlib.import_module(module)
    monkeypatch.setattr(resultspage, "RESULTS", tmp_path)
    (tmp_path / "x.md").mkdir()
    assert script.main(["--out", str(tmp_path / "x.md")]) == 1
    assert capsys.readouterr().err.count("\n") == 1
