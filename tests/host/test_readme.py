# SPDX-License-Identifier: GPL-2.0
"""Commands, links and states in the documents are those that there are."""

import pathlib
import re
import shlex
import subprocess

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
README = (REPO / "README.md").read_text("utf-8")
MAKEFILE = (REPO / "Makefile").read_text("utf-8")
PAGES = sorted([REPO / "README.md", *(REPO / "docs").glob("*.md"),
                *REPO.glob("*/README.md")])
TARGETS = set(re.findall(r"^\.PHONY: (\S+)$", MAKEFILE, re.M))
# Between targets: rules that call each other.
INNER = {"locked-modules", "abi-verdict", "mirror", "headers", "compiler"}
SCHEDULERS = sorted(p.parent.name for p in REPO.glob("*/*.c")
                    if p.stem == p.parent.name)


def name_of(path):
    """A file's path in the project, for messages."""
    return str(path.relative_to(REPO))


def commands(text):
    """Command lines: those of blocks, and what stands between backquotes."""
    found = []
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.M | re.S)
    blocks += ["\n".join(re.findall(r"^    (\S.*)$", text, re.M))]
    for block in blocks:
        found += block.replace("\\\n", " ").split("\n")
    found += re.findall(r"`([^`\n]+)`", text)
    return [re.sub(r"^(sudo( -E)? |[A-Z_]+=\S+ )+", "", re.split(
        r"\s#|;|&&", line.strip())[0]).strip() for line in found]


def source_of(script):
    """A script, and the programs that it starts."""
    text = (REPO / "scripts" / script).read_text("utf-8")
    for name in re.findall(r"lib/(\w+\.(?:py|sh))", text):
        text += (REPO / "scripts/lib" / name).read_text("utf-8")
    return text


def all_commands(first):
    """[(page, words)] of commands that begin so."""
    found = []
    for path in PAGES:
        for line in commands(path.read_text("utf-8")):
            if not line.startswith(first):
                continue
            try:
                words = shlex.split(line, comments=True)
            except ValueError:
                # Continues over several lines, within quotes
                words = line.split()
            found.append((name_of(path), words))
    return found


def test_make_has_what_the_pages_say():
    """Each target, and each variable somewhere in the Makefiles."""
    found = [c for c in all_commands("make") if c[1][0] == "make"]
    assert len(found) > 20
    own = MAKEFILE + (REPO / "Kbuild").read_text("utf-8")
    for page, words in found:
        if "-C" in words:
            folder = words[words.index("-C") + 1]
            assert folder.isupper() or (REPO / folder / "Makefile").exists()
            continue
        for word in words[1:]:
            if re.fullmatch(r"[\w-]+", word):
                if not word.startswith("-"):
                    assert word in TARGETS - INNER, f"{page}: {words}"
            elif re.match(r"[A-Z_]+=", word):
                name = word.split("=")[0]
                assert re.search(rf"\b{name}\b", own), f"{page}: {words}"


def test_scripts_are_what_the_pages_say():
    """There, to be run, and with these options."""
    found = all_commands("scripts/")
    assert len(found) > 30
    for page, words in found:
        script = words[0].removeprefix("scripts/")
        if script.startswith("lib") or not script:
            continue
        path = REPO / "scripts" / script
        assert path.exists(), f"{page}: {words}"
        assert path.stat().st_mode & 0o100, f"{page}: {words}"
        text = source_of(script)
        for word in words[1:words.index("--") if "--" in words else None]:
            if re.match(r"--[a-z]", word):
                option = word.split("=")[0]
                assert option in text, f"{page}: {words}"


@pytest.mark.parametrize("page", ["k2", "piq", "layer_read", "share"])
def test_a_page_that_stays_is_no_failure(page):
    """Status 3 of a page's script; any other one is."""
    rule = re.search(rf"^bench-{page}: deps\n((?:\t.*\n)+)", MAKEFILE, re.M)[1]
    assert f"$(call results-page,scripts/{page}-results);" in rule
    assert re.search(r"\(call results-page,\S+-results\); exit \$\$status\n$",
                     rule)
    macro = re.search(r"^results-page = (.*?[^\\])$", MAKEFILE, re.M | re.S)[1]
    for code, status in ((0, 0), (3, 0), (1, 1), (2, 2)):
        shell = macro.replace("$$", "$").replace(
            "$(1)", f"(exit {code})").replace("\\\n", "\n")
        assert subprocess.run(
            ["sh", "-c", f"status=0; {shell}; exit $status"],
            check=False).returncode == status


def test_the_readme_has_each_command_of_help():
    """And `make help` each target that is for people."""
    said = set(re.findall(r"'make \[?([\w-]+)", MAKEFILE))
    said |= set(re.findall(r"(uninstall-tools)", MAKEFILE))
    assert said - {"help"} <= TARGETS
    assert TARGETS - INNER - {"install-docs"} <= said | {"help"}


def anchors(path):
    """Names in a page that a link may have as its target."""
    text = path.read_text("utf-8")
    found = set(re.findall(r'<a name="([^"]+)">', text))
    for title in re.findall(r"^#+ (.*)$", text, re.M):
        title = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()
        found.add(re.sub(r"[^\w\- ]", "", title).replace(" ", "-"))
    return found


@pytest.mark.parametrize("path", [
    *PAGES, *(REPO / "docs/results").glob("*.md")], ids=name_of)
def test_links_lead_somewhere(path):
    """Files and the places in them."""
    text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.M | re.S)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_states_are_those_of_the_build():
    """README names each scheduler, and those that are experimental, alone."""
    rows = dict((name, line) for line in README.splitlines()
                for name in re.findall(r"^\|.*\| \[(\w+)\]\(\w+/README.md\) \|",
                                       line))
    assert sorted(rows) == SCHEDULERS
    for name, line in rows.items():
        state = (REPO / name / "experimental").exists()
        assert ("experimental" in line) == state
        readme = (REPO / name / "README.md").read_text("utf-8")
        assert ("**Experimental**" in readme) == state
        for part in ("## When to use it", "\nWhen not:", "## Limits",
                     "## Production ready?", "## Tunables"):
            assert part in readme, f"{name}: {part}"


def test_the_readme_is_short():
    """At most 900 words, comments aside, and 15 lines of shell in a block."""
    text = re.sub(r"<!--.*?-->", "", README, flags=re.S)
    assert len(text.split()) <= 900
    for block in re.findall(r"^```\n(.*?)^```", text, re.M | re.S):
        assert len(block.strip().splitlines()) <= 15


def test_the_first_screens_have_what_a_user_asks_first():
    """Undo, support of this kernel, what was never tested."""
    for said in ("make abi-check", "sudo rmmod", "apt purge", "in brackets",
                 "never on a real drive", "docs/kernels.md#results",
                 "make bench", "make check", "](docs/results/k2-tail.svg)"):
        assert said in README, said


def test_times_of_the_commands_agree():
    """Those of `make help`, of README and of docs/lab.md."""
    lab = (REPO / "docs/lab.md").read_text("utf-8")
    for command in ("bench", "check"):
        times = {re.search(r"\d+(?:\.\d)? minutes", line)[0]
                 for text in (README, lab, MAKEFILE) for line in text.splitlines()
                 if re.search(rf"(\| `|')make {command}[ `].*\d minutes", line)}
        assert len(times) == 1, times


def untraced(text, folder):
    """Rows of the table below "Figures" that lead to no file of results."""
    found = []
    part = text.partition("\n## Figures\n")[2].partition("\n## ")[0]
    # Below the line that ends the head of the table
    for table in re.findall(r"^\|[-|: ]+\|\n((?:\|.*\n?)+)", part, re.M):
        for row in table.splitlines():
            files = re.findall(r"\]\(([^)#/]+\.json)\)", row)
            commands = [line for line in commands_of(row)
                        if line.startswith(("make ", "scripts/"))]
            if not commands or not files or \
                    not all((folder / name).is_file() for name in files):
                found.append(row)
    return found


def commands_of(row):
    """Commands between backquotes, without assignments before them."""
    return [re.sub(r"^([A-Z_]+=\S+ )+", "", word)
            for word in re.findall(r"`([^`]+)`", row)]


def test_figures_lead_to_files():
    """Each row of the summary to a file in docs/results, and to a command."""
    folder = REPO / "docs/results"
    text = (folder / "summary.md").read_text("utf-8")
    assert text.count("](cost.json)") >= 10 and not untraced(text, folder)


def test_a_figure_without_a_file_is_seen(tmp_path):
    """The test above can fail."""
    (tmp_path / "k2.json").write_text("{}")
    good = "| tail | 3 | [k2](k2.json) | `A=1 scripts/bench k2` |"
    rows = [good, good.replace("k2.json", "k3.json"),
            "| tail | 3 | | `make bench` |", good.replace("scripts/", "")]
    text = "# A\n\n## Figures\n\n| what | x | file | again |\n|---|---|---|---|\n" + \
        "\n".join(rows) + "\n\n## Else\n| a |\n|---|\n| b |\n"
    assert untraced(text, tmp_path) == rows[1:]


def test_each_script_is_in_a_page():
    """A page mentions each script, or make runs it."""
    text = MAKEFILE + "\n".join(path.read_text("utf-8") for path in PAGES)
    for path in (REPO / "scripts").iterdir():
        if path.is_file():
            assert f"scripts/{path.name}" in text, path.name


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_status_names_the_kernels_page(name):
    """A README leaves to one table what passed on which kernel."""
    text = (REPO / name / "README.md").read_text("utf-8")
    status = text.split("\n## Production ready?\n")[1].split("\n## ")[0]
    assert status.strip().startswith("No: ") and "(../docs/kernels.md#results)" in status


@pytest.mark.parametrize("name", SCHEDULERS)
def test_a_readme_begins_with_the_problem_and_the_commands(name):
    """When to use it, then at most 12 lines of shell that load, check and undo."""
    text = (REPO / name / "README.md").read_text("utf-8")
    heads = re.findall(r"^## (.*)$", text, re.M)
    assert heads[:4] == ["When to use it", "Production ready?", "How it works",
                         "Tunables"]
    shell = re.findall(r"^```\n(.*?)^```", text.split("## Production ready?")[0],
                       re.M | re.S)
    assert len(shell) == 1 and shell[0].count("\n") <= 12
    assert f"echo {name} | sudo tee $q/scheduler" in shell[0]
    assert "# check" in shell[0] and f"sudo rmmod {name}\n" in shell[0]
    for attribute in re.findall(r"\$q/iosched/(\w+)", shell[0]):
        page = (REPO / "docs/ABI" / f"sysfs-iosched-{name}").read_text("utf-8")
        assert f"/queue/iosched/{attribute}\n" in page
