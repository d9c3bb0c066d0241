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
Table I also became a fit of the inputs; without them {others_sets} of {rest} hold. The table has
the parts that do not hold on the second set. {others} of them hold under another condition;
{nowhere} hold nowhere. All conditions right of *second set* were chosen after the results were
known. A number is a share of the paper's figure; *no*: a comparison of inputs does not hold.
Figure 2(b) holds up to twice the paper's figure. `–`: not measured, or not judged there.

*Overlap*: with `batch_overlap` = 1. *Large batches*: the inputs of the second set with two or
more requests [in a batch](#what-decides-a-gain), most of them writes. *Pieces*: the pieces of
real traces, judged alone against the paper's mean, and loads where the part holds, of {pieces}.

Three columns are of the model alone, on the second set. *Chips ignored*: a request is
dispatched when those of the batches before are, whatever its chips do, against [the paper's
text](figures.md#when-a-batch-begins-model-alone). [*More
load*](figures.md#more-load-model-alone), [*two
sizes*](figures.md#two-sizes-of-requests-model-alone): by what times are divided where the part
holds, of {loads}."""


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


def held(own):
    """The keys of the parts that hold, and None if Figures 8 and 12 hold at once."""
    found = [key for key, part in own.items() if part["holds"]]
    return found + [None] * (sum(key[0] in AT_ONCE for key in found) == 3)


def of_pieces(cells, overlap):
    """{(claim, part): {piece: [load]}} of the parts that hold on pieces of real traces;
    None: Figures 8 and 12 at once.
    """
    found = {}
    for workload in piqclaims.Replays(cells).distinct():
        own = parts([one for one in cells if one["workload"] == workload], "", overlap)
        name, load = workload.rsplit("-", 1)
        for key in held({key: part for key, part in own.items() if "mean" in part}):
            found.setdefault(key, {}).setdefault(name, []).append(load)
    return found


def of_loads(loads):
    """{(claim, part): {rule: [load]}} of the parts that hold in the model on the second set;
    loads: {load: its cells}.
    """
    found = {}
    for rule in ("default", "overlap"):
        for load, cells in loads.items():
            for key in held(parts(cells, standin.HEAD, rule == "overlap")):
                found.setdefault(key, {}).setdefault(rule, []).append(load)
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
    set that are mostly writes and have large batches. Of the model's second set, rules:
    {column: cells}, and loads: {column: {load: cells}}.
    """
    sets = {end: [one for one in paper if standin.set_of(one["workload"]) == end]
            for end in ("", standin.HEAD)}
    head = sets[standin.HEAD]
    columns = {"first set": parts(sets[""]), "second set": parts(head, standin.HEAD),
               "second set, overlap": parts(head, standin.HEAD, True),
               "large batches": {
                   key: part for key, part in parts(
                       [one for one in head if one["workload"] in writes],
                       standin.HEAD).items() if "mean" in part},
               **{name: parts(cells, standin.HEAD) for name, cells in rules.items()}}
    real = {f"pieces{', overlap' if overlap else ''}": of_pieces(pieces, overlap)
            for overlap in (False, True)}
    real.update({name: of_loads(cells) for name, cells in loads.items()})
    rows = []
    count = dict.fromkeys(("sets", "again", "others", "nowhere"), 0)
    judged = []
    for key in columns["first set"]:
        cells = [part_text(found.get(key)) for found in columns.values()]
        places = [places_text(found.get(key)) for found in real.values()]
        if set(cells + places) == {DASH}:
            continue
        judged.append(key)
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
    yield TEXT.format(**count, all=len(judged), others_sets=count["sets"] - count["again"],
                      rest=sum(key[0] != "Section VI" for key in judged), pieces=len(piqclaims.Replays(pieces).distinct()),
                      loads=", ".join(next(iter(loads.values()), ())))
    yield ""
    yield from table(["part", *columns, *real], rows)


def places_text(loads):
    """Pieces with their loads, as a cell."""
    return "; ".join(f"{name} {', '.join(found)}" for name, found in (
        loads or {}).items()) or DASH
