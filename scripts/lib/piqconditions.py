# SPDX-License-Identifier: GPL-2.0
"""Under which conditions each part of the PIQ paper's claims holds. Pure functions.

A condition is a choice of inputs and of the rule for the begin of a batch. Each part is
judged under each of them in the same way, by piqclaims.of_a_set().
"""

import claims
import piqclaims
import standin
from resultspage import DASH, table

# Claims with three parts together
AT_ONCE = ("Fig 8", "Fig 12")
TEXT = """\
### Parts that do not hold on the second set

The claims have {all} parts. {sets} hold on at least one of the two sets, among them Section
VI's {again}, which repeat Figure 8 with smaller sizes. The table has the parts that do not
hold on the second set. {others} of them hold under another condition; {nowhere} hold
nowhere. All conditions right of *second set* were chosen after the results were known. A
number is a share of the paper's figure; *no*: a comparison of inputs does not hold. Figure
2(b) holds up to twice the paper's figure. `–`: not measured, or not judged there.

*Overlap*: with `batch_overlap` = 1. *Large batches*: the inputs of the second set with two or
more requests in a batch, most of them writes ([What decides a gain](#what-decides-a-gain)).
*Pieces*: a piece of a real trace is judged alone against the paper's mean; the cell names the
pieces and loads where the part holds, of {pieces} that were judged."""


def parts(cells, end="", overlap=False):
    """{(claim, part): its piqclaims part as a dict} of a set of inputs.

    overlap: piq-overlap in the place of piq; only the parts that this changes.
    """
    if overlap:
        cells = [{**one, "label": "piq"} if one["label"] == "piq-overlap" else one
                 for one in cells if one["label"] != "piq"]
    found = {}
    for row in piqclaims.of_a_set(cells, end):
        name = row["id"].removesuffix(", at the head")
        if name == "Table I" or claims.whose(row) == claims.OURS:
            continue
        for part in row["parts"]:
            # Cells keep their names.
            changed = any(".piq-overlap." in cell for cell in part["cells"])
            if not overlap or changed:
                found[name, part["text"].replace(standin.HEAD, "")] = part
    return found


def of_pieces(cells, overlap):
    """{(claim, part): {piece: [load]}} of the parts that hold on pieces of real traces;
    None: Figures 8 and 12 at once.
    """
    found = {}
    for workload in piqclaims.Replays(cells).distinct():
        own = parts([one for one in cells if one["workload"] == workload], "", overlap)
        name, load = workload.rsplit("-", 1)
        held = [key for key, part in own.items() if part["holds"] and "mean" in part]
        if sum(key[0] in AT_ONCE for key in held) == 3:
            held.append(None)
        for key in held:
            found.setdefault(key, {}).setdefault(name, []).append(load)
    return found


def part_text(part):
    """A part under a condition, as a cell of the table."""
    if part is None or part["holds"] is None:
        return DASH
    if part["holds"]:
        return "holds"
    return f"{part['share']:.2f}" if "share" in part else "no"


def conditions_table(paper, pieces, writes):
    """The table, and the text before it.

    paper, pieces: cells of suites piq-paper and piq-pieces. writes: the inputs of the second
    set that are mostly writes and have large batches.
    """
    sets = {end: [one for one in paper if standin.set_of(one["workload"]) == end]
            for end in ("", standin.HEAD)}
    head = sets[standin.HEAD]
    columns = {"first set": parts(sets[""]), "second set": parts(head, standin.HEAD),
               "second set, overlap": parts(head, standin.HEAD, True),
               "large batches": {
                   key: part for key, part in parts(
                       [one for one in head if one["workload"] in writes],
                       standin.HEAD).items() if "mean" in part}}
    real = {f"pieces{', overlap' if overlap else ''}": of_pieces(pieces, overlap)
            for overlap in (False, True)}
    rows = []
    count = dict.fromkeys(("all", "sets", "again", "others", "nowhere"), 0)
    for key in columns["first set"]:
        cells = [part_text(found.get(key)) for found in columns.values()]
        places = [places_text(found.get(key)) for found in real.values()]
        if set(cells + places) == {DASH}:
            continue
        count["all"] += 1
        on_sets = "holds" in cells[:2]
        count["again"] += on_sets and key[0] == "Section VI"
        count["sets" if on_sets else "others" if "holds" in cells or
              set(places) != {DASH} else "nowhere"] += 1
        if cells[1] != "holds":
            paper_ = columns["first set"][key].get("paper")
            rows.append([f"**{key[0]}**: {key[1]}" + (f": {paper_}" if paper_ else ""),
                         *cells, *places])
    rows.append(["Figures 8 and 12 at once", *([DASH] * len(columns)),
                 *(places_text(found.get(None)) for found in real.values())])
    yield TEXT.format(**count, pieces=len(piqclaims.Replays(pieces).distinct()))
    yield ""
    yield from table(["part", *columns, *real], rows)


def places_text(loads):
    """Pieces with their loads, as a cell."""
    return "; ".join(f"{name} {', '.join(found)}" for name, found in (
        loads or {}).items()) or DASH
