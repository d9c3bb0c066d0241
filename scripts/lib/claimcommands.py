# SPDX-License-Identifier: GPL-2.0
"""The commands that measure the cells of a claim again."""

import functools
import re

import kernel
import suiteplan

SEEDS = re.compile(r"--seeds[ =](\S+)")
# Patterns that a command has at most
FEW = 4


@functools.lru_cache(None)
def planned(suite):
    """{form: its cells} as the suite has them today; {} without such a suite."""
    try:
        plan = suiteplan.load(suite)
    except suiteplan.Bad:
        return {}
    return {form: {run["cell"] for run in suiteplan.runs(plan, form)}
            for form in plan.forms}


def options_of(suite, cell, run):
    """The options of a command that measures a cell as this run did; None if no form of
    the suite has the cell any more.
    """
    forms = planned(suite)
    form = run.get("form")
    if forms and cell not in forms.get(form, ()):
        form = next((name for name, cells in forms.items() if cell in cells), None)
        if form is None:
            return None
    seeds = SEEDS.search(str(run.get("bench_command")))
    series = ".".join(str(run.get("kernel")).split(".")[:2])
    return (f"--form {form}", *([f"--seeds {seeds[1]}"] if seeds else ()),
            *([f"--kernel {series}"] if series in kernel.SERIES and
              series != kernel.USUAL else ()))


def patterns(cells):
    """Patterns of --only that select these cells, and few others; none if many are needed."""
    parts = [cell.split(".") for cell in cells]
    for found in (cells, [f"{one[0]}.*.{one[-1]}" for one in parts],
                  [f"{one[0]}.*" for one in parts]):
        found = list(dict.fromkeys(found))
        if len(found) <= FEW:
            return found
    return []


def commands(row, suite, found):
    """The commands for a claim's cells, as a cell of a table.

    found: {cell: (its figures, the run that they are of)}.
    """
    groups = {}
    for name in row["cells"]:
        chosen = name in found and options_of(suite, name, found[name][1])
        if chosen:
            groups.setdefault(chosen, []).append(name)
    return "<br>".join(" ".join([
        f"`scripts/bench {suite}", *chosen, *(f"--only '{one}'" for one in patterns(cells))])
        + "`" for chosen, cells in groups.items())
