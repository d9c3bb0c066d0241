# SPDX-License-Identifier: GPL-2.0
"""Verdicts on claims: one for each claim, read from the pages of results.

A page docs/*-results.md judges the longest forms of its suites; the figures behind some
pages were measured before docs/results existed, so the page is the only complete record.
docs/results/summary.md repeats the page's verdict and names its form. A short form in
docs/results judges fewer parts of a claim, or shorter runs, and can differ from the page:
differing() finds these cases, and the summary lists each one.

of_page() parses a page. merged() makes one verdict of several forms on one page: a claim
holds only if it holds in each form that judges it. of_file() judges one published file.
"""

import re

import benchall
import claims
import resultspage
import suiteplan

COST = "cost"
HOLDS = {word: holds for words in claims.WORDS.values()
         for holds, word in words.items()} | {
             claims.DIRECTION: False, **{
                 words[True] + claims.IN_PART: True for words in claims.WORDS.values()}}
VERDICT = re.compile(r"\**([\w ]+?)\**(, [\d.]+(?: to [\d.]+)? of the size)?(?: \((\d+) of (\d+) parts"
                     r"(?:, (\d+) not measured)?\))?")
FACTS = re.compile(r"Form (\S+), \d+ of \d+ runs, .*, commit (\w+), .*"
                   r"`scripts/bench\b ?([\w-]*)")
TITLES = {f"{title}:": kind for kind, title in claims.TITLES.items()}


def of_row(line):
    """A claim of a row that resultspage.claim_list() has made."""
    name, wants, here, *_, said = (
        text.replace("\\|", "|") for text in line[2:-2].split(" | "))
    found = VERDICT.fullmatch(said)
    holds = HOLDS[found[1].lower()]
    title = re.fullmatch(r"\*\*(.+?)\*\*: (.*)", name)
    judged = int(found[4] or holds is not None)
    return {"id": title[1], "text": title[2], "holds": holds,
            "wants": "" if wants == resultspage.DASH else wants, "judged": judged,
            "said": found[1] + (found[2] or ""),
            "wanted": judged + int(found[5] or 0),
            "missed": judged - int(found[3]) if found[3] else int(holds is False),
            # What fails comes first.
            "first": here.split("<br>")[0].replace("**", "") if holds is False else ""}


def of_page(text):
    """Each claim on a page, in order, as a dict.

    suite and form are those of the list of runs above the claim, owner (see claims.whose())
    follows from the line above its table.
    "model": judged by a model instead of measured.
    """
    suite, runs, fresh, model, owner, inside = None, [], True, False, None, False
    for line in text.splitlines():
        facts, owner = FACTS.match(line), TITLES.get(line, owner)
        inside = line.startswith("|") and (inside or line.startswith("| claim | "))
        if line.startswith("#"):
            fresh, model = True, False
        elif facts:
            if fresh:
                runs, fresh = [], False
            suite = facts[3] or benchall.SUITES[0]
            runs.append((facts[1], facts[2]))
        elif line.startswith("`scripts/bench-cost"):
            suite, runs, fresh = COST, [], True
        elif line.startswith("By the model"):
            model = True
        elif inside and line.startswith("| **"):
            yield {**of_row(line), "suite": suite, "owner": owner, "model": model,
                   "forms": list(dict.fromkeys(form for form, _ in runs))}


def merged(found):
    """{(suite, id): the verdict} of the measured claims of a page.

    The text and the parts are those of the form that decides: the one that does not
    hold, else the one that judges most parts.
    """
    groups = {}
    for claim in found:
        if not claim["model"]:
            groups.setdefault((claim["suite"], claim["id"]), []).append(claim)

    def rank(claim):
        return claim["holds"] is False, claim["holds"] is True, \
            claim["judged"]
    return {key: {**max(group, key=rank), "all": group}
            for key, group in groups.items()}


def of_file(data):
    """{(suite, id): claim} as claims.py judges the cells of one published file."""
    cells = resultspage.together(data["made_of"], data["suite"])["cells"]
    return {(data["suite"], str(row["id"])): row for row in claims.evaluate(
        suiteplan.load(data["suite"]).claims, cells)}


def differing(pages, published):
    """[(page's claim, file name, the file's claim)] where the two verdicts differ.

    pages: {(suite, id): claim} of merged(). A claim that the file does not judge does
    not differ.
    """
    return [(pages[key], name, row) for name, data in published.items()
            if data["kind"] == "suite" for key, row in of_file(data).items()
            if key in pages and row["holds"] is not None
            and pages[key]["holds"] is not None
            and row["holds"] is not pages[key]["holds"]]
