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
VI's {again}, which repeat Figure 8 with smaller sizes. These were added after the results, when
Table I also became a fit of the inputs; without them {without} of {rest} hold. The table has the
parts that do not hold on the second set. Of those that hold on neither, {measured} hold under a
measured condition, {model} in the model alone, {nowhere} nowhere. Conditions right of *second
set* were chosen after the results. A number is a share of the paper's figure. Figure 2(b) holds
up to twice the paper's figure. `–`: not judged there.

*Overlap*: with `batch_overlap` = 1. *Large batches*: the inputs of the second set with two or
more requests [in a batch](#what-decides-a-gain), most of them writes. *Pieces*: the pieces of
real traces, judged alone against the paper's mean, and loads where the part holds, of {pieces}.

The last columns are of the model, on the second set. *Chips ignored*, which contradicts [the
paper's text](figures.md#when-a-batch-begins-model-alone): a request is dispatched when those of
earlier batches are, even if its chips are busy. [*More load*](figures.md#more-load-model-alone),
[*two sizes*](figures.md#two-sizes-of-requests-model-alone) of requests: the rule, and the numbers
that times are divided by, of {loads}, where the part holds."""


def parts(cells, end="", overlap=False):
    """{(claim, part): its piqclaims part as a dict} of a set of inputs.

    overlap: piq-overlap in the place of piq; only the parts that this changes.
    """
    cells = [one for one in cells if standin.set_of(one["workload"]) == end]
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


def at_once(own):
    """The parts, and under None one for Figures 8 and 12 at once."""
    held = [part["holds"] for key, part in own.items() if key[0] in AT_ONCE]
    return {**own, None: {"holds": all(held) if len(held) == 3 and None not in held else None}}


def note(found, own, name, load):
    """Adds the load, under the name, to the judged parts that hold."""
    for key, part in at_once(own).items():
        if part["holds"] is not None:
            places = found.setdefault(key, {})
            if part["holds"]:
                places.setdefault(name, []).append(load)


def of_pieces(cells, overlap):
    """{(claim, part): {piece: [load]}} of the parts that were judged on pieces of real
    traces, and where they hold.
    """
    found = {}
    for workload in piqclaims.Replays(cells).distinct():
        own = parts([one for one in cells if one["workload"] == workload], "", overlap)
        note(found, {key: part for key, part in own.items() if "mean" in part},
             *workload.rsplit("-", 1))
    return found


def of_loads(loads):
    """{(claim, part): {rule: [load]}} of the parts that were judged in the model on the second
    set, and where they hold; loads: {load: its cells}.
    """
    found = {}
    for rule in ("default", "overlap"):
        for load, cells in loads.items():
            note(found, parts(cells, standin.HEAD, rule == "overlap"), rule, load)
    return found


def part_text(part):
    """A part under a condition, as a cell of the table."""
    if part is None or part["holds"] is None:
        return DASH
    if part["holds"]:
        return "holds"
    return f"{part['share']:.2f}" if "share" in part else "no"


def conditions_table(paper, pieces, writes, rules, loads):
    """The table, and the text before it.

    paper, pieces: cells of suites piq-paper and piq-pieces. writes: the inputs of the second
    set that are mostly writes and have large batches. rules: {column: cells} and loads:
    {column: {load: cells}} are the model's.
    """
    columns = {"first set": parts(paper), "second set": parts(paper, standin.HEAD),
               "second set, overlap": parts(paper, standin.HEAD, True),
               "large batches": {
                   key: part for key, part in parts(
                       [one for one in paper if one["workload"] in writes],
                       standin.HEAD).items() if "mean" in part}}
    measured = {name: {key: part_text(part) for key, part in at_once(found).items()}
                for name, found in columns.items()}
    for name, overlap in (("pieces", False), ("pieces, overlap", True)):
        measured[name] = {key: places_text(found)
                          for key, found in of_pieces(pieces, overlap).items()}
    model = {name: {key: part_text(part) for key, part in at_once(
        parts(cells, standin.HEAD)).items()} for name, cells in rules.items()}
    for name, cells in loads.items():
        model[name] = {key: places_text(found) for key, found in of_loads(cells).items()}
    rows, judged = [], []
    count = dict.fromkeys(("sets", "again", "measured", "model", "nowhere"), 0)
    for key in (*columns["first set"], None):
        lab, other = ([found.get(key, DASH) for found in some.values()]
                      for some in (measured, model))
        if set(lab + other) == {DASH}:
            continue
        if key is None:
            rows.append(["Figures 8 and 12 at once", *lab, *other])
            continue
        judged.append(key)
        on_sets = "holds" in lab[:2]
        count["again"] += on_sets and key[0] == "Section VI"
        count["sets" if on_sets else "measured" if any(map(holds, lab)) else
              "model" if any(map(holds, other)) else "nowhere"] += 1
        if lab[1] != "holds":
            paper_ = columns["first set"][key].get("paper")
            rows.append([f"**{key[0]}**: {key[1]}" + (f": {paper_}" if paper_ else ""),
                         *lab, *other])
    yield TEXT.format(
        **count, all=len(judged), without=count["sets"] - count["again"],
        rest=sum(key[0] != "Section VI" for key in judged),
        pieces=len(piqclaims.Replays(pieces).distinct()),
        loads=", ".join(next(iter(loads.values()), ())))
    yield ""
    yield from table(["part", *measured, *model], rows)


def holds(text):
    """Is a cell of the table that of a condition under which the part holds?"""
    return text[:1].isalpha() and text != "no"


def places_text(found):
    """Pieces, or rules, with their loads, as a cell."""
    return "; ".join(f"{name} {', '.join(loads)}" for name, loads in found.items()) or "no"
