# SPDX-License-Identifier: GPL-2.0
"""scripts/report: one page of everything that was measured.

Reads all results below the given directories (build/results/ without one) and
writes index.html, which holds its pictures and needs no other file, and the
pictures as plots/*.png. Nothing is left out for how it looks: each run is in a
table, or is named among what was skipped, with the reason.

What counts as a result: runs of suites (schema 2) and the summary.json beside
them; runs of the correctness bench (schema 1), of which only the verdicts and
plot.png are shown; summaries of cost measurements (kind "cost"); rows of the
model's physics (kind "physics"); counts of locks (kind "locks"). Directories
named raw are not looked into.
"""

# reportdata reads, Page here and reporttables turn what it read into HTML,
# reportplots into pictures.

import argparse
import base64
import collections
import datetime
import pathlib
import re
import struct
import sys

import claims
import options
from reportdata import (
    REPO, claims_of, cost_lines, facts_of, made_by, read, scale_pairs,
    shown)
from reporthtml import CSS, Html, bullets, esc, join, slug, table, tag
from reporttables import (
    DOWN, UP, circumstances, cost_panels, cost_table, cost_unknown,
    group_table, jobs_table, locks_table, ours, scale_row, setting_title,
    tenants_table)
from reporttext import (
    DASH, figure, natural, number, part, plural, ranges, text, texts,
    unique)

GENERATOR = "flash-iosched scripts/report"

# Measured with 480 runs on two cores.
SECONDS_PLOT = 0.5


# --- the page ---------------------------------------------------------------

class Page:
    """Collects markup and pictures."""

    def __init__(self, out, folders, skipped, said=lambda text_: None):
        self.out, self.folders, self.skipped = out, folders, skipped
        self.said = said
        self.plots = []
        self.total = 0
        self.style = {}
        self.started = datetime.datetime.now(datetime.timezone.utc)

    def picture(self, draw, name, alt, caption):
        """A <figure>, or a line that says why there is none."""
        from plotting import Nothing
        self.said(len(self.plots))
        folder = self.out / "plots"
        taken, base, n = set(self.plots), name, 1
        while f"{name}.png" in taken:
            n += 1
            name = f"{base}-{n}"
        path = folder / f"{name}.png"
        folder.mkdir(parents=True, exist_ok=True)
        try:
            draw(path)
        except Nothing as reason:
            if not any(folder.iterdir()):
                folder.rmdir()
            return Html(""), str(reason)
        except (ValueError, ArithmeticError, LookupError) as error:
            # One picture less is better than no page.
            return Html(""), f"cannot be drawn: {error!r}"
        self.plots.append(path.name)
        return self.embed(path, alt, join(
            [caption, " File: ", tag("code", f"plots/{path.name}"), "."],
            "")), None

    @staticmethod
    def embed(path, alt, caption):
        """A PNG as a <figure>; the page has to work without the file."""
        data = path.read_bytes()
        if data[:8] != b"\x89PNG\r\n\x1a\n" or len(data) < 24:
            return Html("")
        width, height = struct.unpack(">II", data[16:24])
        image = Html(
            f'<img src="data:image/png;base64,'
            f'{base64.b64encode(data).decode()}" alt="{esc(alt)}" '
            f'width="{width}" height="{height}">')
        return tag("figure", image, tag("figcaption", caption),
                   data_file=path.name)

    # Parts of the page, from top to bottom

    def head(self):
        """Title, and what one wants to know before all else."""
        suites = [f for f in self.folders if f.runs]
        runs = [run for folder in suites for run in folder.runs]
        checked = [run for f in self.folders for run in f.checked]
        failed = sum(bool(run.failed) for run in runs) + sum(
            run["passed"] is not True for run in checked)
        claims = [claim for f in suites for claim in claims_of(f)]
        facts = [
            ("made", self.started.isoformat(timespec="seconds")),
            ("read", counts(self.folders, self.skipped)),
            ("commit", unique(c for f in self.folders
                              for c in facts_of(f, "commit"))),
            ("kernel", unique(k for f in self.folders
                              for k in facts_of(f, "kernel"))),
        ]
        if claims:
            held = collections.Counter(
                claim.get("holds") if isinstance(claim.get("holds"), bool)
                else None for claim in claims)
            facts.append(("claims and aims",
                          f"hold: {held[True]}, do not hold: {held[False]}, "
                          f"open: {held[None]}"))
        facts.append(("runs with a failed check", join(
            [tag("span", failed, class_="fail" if failed else None),
             *([" ", tag("a", "which", href="#failed")] if failed else [])],
            "")))
        parts_ = [tag("h1", "Flash I/O schedulers: results"),
                  table(None, facts, "text facts")]
        return join(parts_)

    def contents(self, sections):
        """Links to the sections."""
        return tag("nav", tag("ul", *(
            tag("li", tag("a", title, href=f"#{anchor}"))
            for anchor, title in sections)))

    def suite(self, folder, anchor):
        """Everything about one directory of suite runs."""
        names = unique(g.setting.suite for g in folder.groups)
        title = f"Suite {', '.join(names) or 'without a name'}"
        parts_ = [tag("h2", title, id=anchor)]
        if folder.summary.get("title"):
            parts_.append(tag("p", folder.summary["title"]))
        parts_.append(self.suite_facts(folder))
        if any(g.setting.clock == "real" for g in folder.groups):
            parts_.append(tag(
                "p", "Runs marked with the real clock took their times from "
                "the machine that emulated the device: they depend on what "
                "else it did and compare nothing.", class_="warn"))
        parts_ += self.claims(folder)
        parts_.append(tag(
            "p", "All times are in the device's time: the time scale is "
            "divided out; only those of the CPU are not. Figures are medians "
            "over the seeds, below them the range unless all agree. Of the "
            "schedulers whose checks passed, the best median of a column has "
            f"{UP} and the worst {DOWN}. Ratios are of medians. {DASH}: not "
            "measured, or fewer than 50 samples beyond the percentile. Rows "
            "keep the order of the suite.",
            class_="note"))
        for setting, groups in folder.settings():
            parts_.append(tag("h3", setting_title(setting)))
            if setting.seed_use == "tuning":
                parts_.append(tag(
                    "p", "These seeds served to tune; they are no result.",
                    class_="warn"))
            for group in groups:
                parts_ += self.group(folder, group)
        return join(parts_)

    @staticmethod
    def suite_facts(folder):
        """Circumstances of a directory."""
        when = sorted(unique(run.facts["time"] for run in folder.runs))
        facts = [
            ("directory", tag("code", folder.shown)),
            ("runs", plural(len(folder.runs), "run")),
            ("commit", facts_of(folder, "commit")),
            ("kernel", facts_of(folder, "kernel")),
            ("when", " to ".join(unique(when[:1] + when[-1:]))),
        ]
        made = made_by(folder)
        if made:
            facts.append(("made by", tag("code", made)))
        facts += [("note", note) for note in folder.notes]
        rows = []
        for setting, groups in folder.settings():
            seeds = ranges([run.seed for g in groups for run in g.runs])
            device = {}
            for group in groups:
                for run in group.runs:
                    device.update(run.device)
            rows.append([
                join([setting.profile or DASH, tag("small", setting.variant)],
                     ""),
                setting.order, setting.alloc, setting.map,
                setting.time_scale, setting.clock, seeds, setting.seed_use,
                str(sum(len(g.runs) for g in groups)),
                ", ".join(f"{k} {text(v)}" for k, v in device.items()
                          if k not in ("profile", "order", "alloc", "map",
                                       "time_scale", "seed"))])
        rows = [[tag("td", cell) for cell in row] for row in rows]
        return join([
            table(None, facts, "text facts"),
            table(["profile", "order", "alloc", "map", "time scale", "clock",
                   "seeds", "their use", "runs", "device"], rows, "text")])

    @staticmethod
    def claims(folder):
        """The papers' claims and our aims, beside the results here."""
        rows = []
        for claim in claims_of(folder):
            holds = claim.get("holds")
            source = {"paper": text(claim.get("paper"))}
            judged = holds if isinstance(holds, bool) else None
            verdict = tag("td", claims.word(source, judged),
                          class_={True: "yes", False: "fail", None: "open"}[judged])
            cells = texts(claim.get("cells"))
            more = [tag("small", "from " + ", ".join(cells[:6]) + (
                f" and {len(cells) - 6} more" if len(cells) > 6 else ""))] \
                if cells else []
            more += [tag("small", claim["note"])] if claim.get("note") else []
            wanted, judged = (number(claim.get(key))
                              for key in ("wanted", "judged"))
            if wanted and judged is not None and judged < wanted:
                more.append(tag("small", f"{judged:.0f} of {wanted:.0f} parts "
                                "were measured"))
            rows.append([
                text(claim.get("id")) or DASH,
                tag("td", claim.get("text"), *more),
                claims.SOURCES[claims.whose(source)],
                claims.wants(source) or DASH, ours(claim, source), verdict])
        return rows and [tag("h3", "Claims and aims"), table(
            ["", "claim", "whose", "wanted", "here", "verdict"], rows, "text")]

    def group(self, folder, group):
        """Table and pictures of a workload."""
        import reportplots
        tail = reportplots.tail_key(group)
        setting = group.setting
        parts_ = [tag("h4", f"{group.workload}"),
                  group_table(group, tail, "failed"),
                  tag("p", f"Percentiles and mean: {group.latency_of}."
                      + (" They are those of the job that waited longest."
                         if "slowest" in group.latency_of else ""),
                      class_="note"),
                  jobs_table(group), tenants_table(group)]
        prefix = slug(folder.path.name, *setting[:4], f"x{setting.time_scale}"
                      if setting.time_scale != "1" else "",
                      setting.seed_use if setting.seed_use != "report" else "",
                      group.workload)
        left_out = []
        for kind, draw, what in self.kinds(group, tail):
            markup, reason = self.picture(
                lambda path, draw=draw: draw(path, group, self.style),
                f"{prefix}-{kind}", f"{kind} of {group.workload}",
                join([tag("b", f"{kind.capitalize()}, {group.workload}. "),
                      what + " ", circumstances(folder, group, kind)], ""))
            parts_.append(markup)
            if reason:
                left_out.append(f"{kind} ({reason})")
        # A lone scheduler has nothing to be compared with; no need to say.
        if left_out and len(group.cells) > 1:
            parts_.append(tag("p", "Pictures left out: "
                              + "; ".join(left_out) + ".", class_="note"))
        return parts_

    @staticmethod
    def kinds(group, tail):
        """(name, how to draw it, what it shows) of a group's pictures."""
        import reportplots
        bars = ("Bars and points are medians, whiskers the range over the "
                "seeds.")
        broken = " The broken line is none." if group.base else ""
        thin = (" Whiskers near 50, 90, 99 and 99.9 %: the range over the "
                "seeds. Dotted: fewer than 50 samples beyond.")
        front = (" Whiskers: the range over the seeds. The grey band, "
                 "the Pareto front, joins those that none beats in both. "
                 "Numbers are values of the tunable that was swept; the "
                 "legend names it. What failed a check is hollow and not on "
                 "the front.")
        panels = "All panels have the same axes."
        more = ()
        if any(cell.share for cell in group.cells):
            import shareplots
            more = (
                ("shares", shareplots.shares, "Shares received; broken "
                 "lines: where they are due. Medians over the seeds."),
                ("windows", shareplots.windows, "PV against the length of a "
                 "window that holds 50, 100, 200, ... requests of the tenant "
                 "with fewest, one seed; dotted: the worst window; broken "
                 "line: 0.1. Below 0.001 it is drawn there."),
                ("tenants", shareplots.course, "Bandwidth of each tenant "
                 "over time, one seed; the numbers are weights. " + panels))
        return (
            ("overview", reportplots.overview, bars + broken),
            ("latency", reportplots.cdf,
             "Median over the seeds of the latency at each quantile." + thin),
            ("trade-off", reportplots.tradeoff,
             (f"{reportplots.percentile_name(tail)} against bandwidth; right "
              "and down is better." if tail else "") + front),
            ("course", reportplots.series,
             "Bandwidth over time of one seed and, below it, what the "
             "device's garbage collection copied, in mapping units. "
             + panels),
            ("chips", reportplots.chips,
             "How busy each chip was over time, one seed; right above each "
             "panel the mean. " + panels),
            *more,
        )

    def cost(self, folder, anchor):
        """A measurement of cost."""
        parts_ = [tag("h2", "Cost", id=anchor)]
        summary = folder.summary
        facts = [("directory", tag("code", folder.shown)),
                 ("runs", plural(folder.cost_runs, "run"))]
        facts += [(key, text(summary[key])) for key in
                  ("commit", "kernel", "time", "began", "emulator")
                  if summary.get(key)]
        made = made_by(folder)
        if made:
            facts.append(("made by", tag("code", made)))
        facts += [("note", note) for note in folder.notes]
        parts_.append(table(None, facts, "text facts"))
        lines = cost_lines(summary)
        if not lines:
            parts_ += cost_unknown(summary)
            return join(parts_)
        parts_.append(tag(
            "p", "CPU time of an I/O, and what that is more than with no "
            "scheduler (none); means of the boots, each with another seed. "
            "The range of the boots is below them. Locks: spin locks that "
            "the scheduler's own functions take for an I/O.", class_="note"))
        import reportplots
        style = reportplots.styles(unique(
            (text(line.get("scheduler")), text(line["label"]))
            for line in lines))
        for disk in unique(text(line.get("disk")) for line in lines):
            mine = [line for line in lines if text(line.get("disk")) == disk]
            parts_ += [tag("h3", f"Disk {disk}"), cost_table(mine)]
            picture, reason = self.picture(
                lambda path, mine=mine, disk=disk: reportplots.cost(
                    path, disk, cost_panels(mine), style),
                slug(folder.path.name, "cost", disk), f"cost, {disk}",
                join([tag("b", f"Cost, {disk}. "), "Bars are means over the "
                      "boots, whiskers their range; broken line: fifo, what "
                      "any scheduler costs at least. Disk ", disk, ", "
                      "options ", tag("code", "; ".join(unique(
                          text(line.get("options")) for line in mine))),
                      ". To make it again: ", tag("code", made or
                                                  "scripts/bench-cost"),
                      ", then ", tag("code", f"scripts/report {folder.shown}"),
                      "."], ""))
            parts_.append(picture if not reason else
                          tag("p", f"No picture: {reason}.", class_="note"))
        return join(parts_)

    @staticmethod
    def physics(folders):
        """The model beside what it has to agree with."""
        parts_ = [tag("h2", "Physics of the simulated drive", id="physics"),
                  tag("p", "What flashsim's own stamps say beside closed "
                      "forms and an independent simulation "
                      "(scripts/physics). A figure that suites rest on is "
                      "worth what these rows are.", class_="note")]
        for folder in folders:
            parts_.append(tag("h3", tag("code", folder.shown)))
            rows = []
            for row in folder.physics:
                held = row.get("passed") is True
                error, most = (number(row.get(key))
                               for key in ("error", "tolerance"))
                rows.append([
                    text(row["name"]), figure(number(row.get("expected"))),
                    figure(number(row.get("measured"))),
                    text(row.get("unit")) or DASH,
                    figure(None if error is None else 100 * error),
                    figure(None if most is None else 100 * most),
                    tag("td", "holds" if held else "does not hold",
                        class_="yes" if held else "fail")])
            parts_.append(table(["", "expected", "measured", "unit", "off %",
                                 "allowed %", "verdict"], rows))
        return join(parts_)

    @staticmethod
    def locks(folders):
        """How often schedulers took their own locks."""
        parts_ = [tag("h2", "Locks", id="locks"), tag(
            "p", "How often a scheduler took its own locks for an I/O, and how "
            "often it had to wait for one (scripts/locks). These are counts; "
            "times of that machine compare nothing.", class_="note")]
        for folder in folders:
            found = folder.locks
            parts_.append(tag("h3", tag("code", folder.shown)))
            parts_.append(tag("p", "; ".join(unique([
                f"commit {text(found.get('commit')) or 'unknown'}",
                f"kernel {text(found.get('kernel')) or 'unknown'}",
                text(found.get("command")), *texts(found.get("trouble"))])),
                class_="note"))
            parts_.append(locks_table(found))
            parts_.append(bullets(
                join([text(one.get("claim")), ": ", tag(
                    "span", "holds" if one.get("holds") is True
                    else "does not hold",
                    class_="yes" if one.get("holds") is True else "fail")], "")
                for one in found.get("verdicts") or ()
                if isinstance(one, dict)))
        return join(parts_)

    def correctness(self, folders):
        """Schema 1: verdicts, and a picture that exists already."""
        parts_ = [tag("h2", "Correctness", id="correctness"), tag(
            "p", "Runs on an emulated disk in the emulating machine's time: "
            "their counts and orders are exact, their times compare nothing.",
            class_="warn")]
        for folder in folders:
            parts_.append(tag("h3", tag("code", folder.shown)))
            parts_.append(tag("p", join(unique([
                "commit " + ", ".join(facts_of(folder, "commit")),
                "kernel " + ", ".join(facts_of(folder, "kernel")),
                made_by(folder), *folder.notes]), "; "), class_="note"))
            found = {}
            for run in folder.checked:
                found.setdefault(text(run["workload"]), []).append(run)
            parts_.append(table(
                ["workload", "runs", "passed", "failed", "failed runs"],
                [[name, str(len(runs)),
                  str(sum(run["passed"] is True for run in runs)),
                  tag("td", sum(run["passed"] is not True for run in runs),
                      class_="fail" if any(run["passed"] is not True
                                           for run in runs) else None),
                  ", ".join(text(run["id"]) for run in runs
                            if run["passed"] is not True) or DASH]
                 for name, runs in found.items()]))
            plot = folder.path / "plot.png"
            if plot.is_file():
                parts_.append(self.embed(
                    plot, f"counts of {folder.shown}", join(
                        ["Left: exact counts. Right, grey: times compare "
                         "nothing. ", "Made by ", tag("code", made_by(folder)
                                                      or "scripts/bench"),
                         "."], "")))
        return join(parts_)

    def unscaled(self):
        """The reasons for which the device's time is not exact."""
        found = {}
        for folder in self.folders:
            for run in folder.runs:
                for line in run.unscaled:
                    found.setdefault(line, []).append(run.label)
            for line in texts(folder.summary.get("unscaled")):
                found.setdefault(line, [])
        parts_ = [tag("h2", "What could not be scaled", id="unscaled")]
        if found:
            parts_.append(tag(
                "p", "Where the device runs slower by the time scale, every "
                "time constant of the system has to be slower by as much. "
                "These are not:", class_="note"))
            parts_.append(table(
                ["what", "runs", "of"],
                [[line, str(len(labels)) if labels else "the suite",
                  ", ".join(unique(labels)) or DASH]
                 for line, labels in found.items()], "text"))
        else:
            parts_.append(tag("p", "Nothing was reported."))
        rows = [row for folder in self.folders
                for row in map(scale_row, scale_pairs(folder))]
        if rows:
            parts_.append(tag(
                "p", "What the scaling changes: the same run with the device "
                "at its own speed (or at a smaller time scale).",
                class_="note"))
            parts_.append(table(
                ["workload", "scheduler", "variant", "time scales",
                 "bandwidth MB/s", "ratio", "latency", "µs", "ratio",
                 "CPU busy %"], rows))
        return join(parts_)

    def failures(self):
        """Each run with a failed check, and its other errors."""
        rows = [[tag("code", folder.shown), run.id, name, said]
                for folder in self.folders for run in folder.runs
                for name, said in run.failed]
        for folder in self.folders:
            for run in folder.checked:
                bad = [(name, check) for name, check
                       in part(run, "checks").items()
                       if isinstance(check, dict) and not check.get("passed")]
                if run["passed"] is not True:
                    rows += [[tag("code", folder.shown), text(run["id"]),
                              name, text(check.get("text"))]
                             for name, check in bad or [("passed", {})]]
            rows += [[tag("code", folder.shown), "physics",
                      text(row["name"]),
                      f"off by {figure(100 * number(row['error']))} %"
                      if number(row.get("error")) is not None else ""]
                     for row in folder.physics if row.get("passed") is not True]
        troubles = [(folder.shown, line) for folder in self.folders
                    for line in texts(folder.summary.get("trouble"))]
        parts_ = [tag("h2", "Checks that failed", id="failed")]
        parts_.append(table(["directory", "run", "check", "what it says"],
                            rows, "text") if rows else
                      tag("p", "None."))
        if troubles:
            parts_ += [tag("h3", "Trouble"), bullets(
                join([tag("code", place), ": ", line], "")
                for place, line in troubles)]
        return join(parts_)

    def left_out(self):
        """Files that are not on the page."""
        parts_ = [tag("h2", "Files that were skipped", id="skipped")]
        parts_.append(table(
            ["file", "why"], [[tag("code", path), why]
                              for path, why in self.skipped], "text")
            if self.skipped else tag("p", "None."))
        return join(parts_)

    def render(self):
        """The whole page."""
        import reportplots
        self.style = reportplots.styles(sorted(
            {(run.scheduler, run.label) for f in self.folders
             for run in f.runs}, key=lambda pair: natural(pair[1])))
        sections, parts_ = [], []

        def add(anchor, title, markup):
            sections.append((anchor, title))
            parts_.append(markup)
        suites = [f for f in self.folders if f.runs]
        for n, folder in enumerate(suites, 1):
            anchor = f"suite-{n}"
            names = unique(g.setting.suite for g in folder.groups)
            add(anchor, f"Suite {', '.join(names)}, {folder.shown}",
                self.suite(folder, anchor))
        for n, folder in enumerate((f for f in self.folders if f.is_cost), 1):
            add(f"cost-{n}", f"Cost, {folder.shown}",
                self.cost(folder, f"cost-{n}"))
        physics = [f for f in self.folders if f.physics]
        if physics:
            add("physics", "Physics of the simulated drive",
                self.physics(physics))
        counted = [f for f in self.folders if f.locks]
        if counted:
            add("locks", "Locks", self.locks(counted))
        checked = [f for f in self.folders if f.checked]
        if checked:
            add("correctness", "Correctness", self.correctness(checked))
        add("unscaled", "What could not be scaled", self.unscaled())
        add("failed", "Checks that failed", self.failures())
        add("skipped", "Files that were skipped", self.left_out())
        head = join([
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, '
                 'initial-scale=1">'),
            Html(f'<meta name="generator" content="{GENERATOR}">'),
            tag("title", "Flash I/O schedulers: results"),
            tag("style", Html(CSS))])
        body = join([self.head(), self.contents(sections), *parts_,
                     tag("footer", "Made by ", tag("code", "scripts/report"),
                         "; docs/report.md says how to read it.")])
        return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>' \
            f"\n<body>\n{body}\n</body>\n</html>\n"


def counts(folders, skipped):
    """Numbers of the results that were read, as phrases."""
    suites = [f for f in folders if f.runs]
    checked = [f for f in folders if f.checked]
    costs = sum(f.is_cost for f in folders)

    def places(found):
        return plural(len(found), "directory", "directories")
    said = []
    if suites:
        said.append(f"{plural(sum(len(f.runs) for f in suites), 'suite run')} "
                    f"in {places(suites)}")
    if checked:
        said.append(plural(sum(len(f.checked) for f in checked),
                           "correctness run") + f" in {places(checked)}")
    if costs:
        said.append(plural(costs, "cost measurement"))
    rows = sum(len(f.physics) for f in folders)
    if rows:
        said.append(plural(rows, "row") + " of physics")
    locks = sum(bool(f.locks) for f in folders)
    if locks:
        said.append(plural(locks, "count") + " of locks")
    return (", ".join(said) or "nothing") + \
        (f"; {plural(len(skipped), 'file')} skipped" if skipped else "")


# --- command line -----------------------------------------------------------

def _folder(name):
    path = pathlib.Path(name)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(
            f"'{name}': want a directory with results, such as those below "
            "build/results")
    return path


def _target(name):
    path = pathlib.Path(name)
    page = path / "index.html"
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(
            f"'{name}': want a directory, or a name that is free")
    if page.exists() and GENERATOR not in page.read_text(
            encoding="utf-8", errors="replace")[:2000]:
        raise argparse.ArgumentTypeError(
            f"'{name}': holds an index.html that is not ours; want another "
            "directory")
    return path


def parse(argv):
    """The options."""
    parser = options.Parser(
        "report", usage="scripts/report [DIR...] [--out DIR]",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 the page is written, whatever the results say; "
        "1 there is nothing\nto report, or the page cannot be written; 2 bad "
        "options. docs/report.md says\nhow to read the page.")
    add = parser.add_argument
    add("dirs", nargs="*", type=_folder, metavar="DIR",
        help="results, looked for in all below (default build/results)")
    add("--out", type=_target, metavar="DIR",
        default=REPO / "build" / "report",
        help="for the page (default build/report); an earlier page there is "
        "replaced")
    return parser.parse_args(argv)


def _clean(out):
    """Removes what an earlier report left; nothing but that."""
    try:
        page = (out / "index.html").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    for name in re.findall(r'<figure data-file="([\w.-]+\.png)">', page):
        (out / "plots" / name).unlink(missing_ok=True)


def _progress(total):
    if not sys.stdout.isatty():
        return lambda done: None
    return lambda done: print(
        f"\rreport: pictures, {done} of about {total} \x1b[K", end="",
        flush=True)


def say(line):
    """A message."""
    print(f"report: {line}", flush=True)


def write(page):
    """Writes the page of a Page; how many bytes."""
    page.out.mkdir(parents=True, exist_ok=True)
    _clean(page.out)
    content = page.render().encode()
    # All of the page or nothing: a browser may be reading the old one.
    new = page.out / "index.html.new"
    new.write_bytes(content)
    new.replace(page.out / "index.html")
    return len(content)


def run(args):
    """The work of scripts/report; its status."""
    tops = args.dirs or [REPO / "build" / "results"]
    folders, skipped = read(tops)
    # The newest first: the reader most likely looks for it.
    folders.sort(key=lambda f: max(facts_of(f, "time")
                                   + facts_of(f, "began") + [""]),
                 reverse=True)
    say(f"read {counts(folders, skipped)}")
    for path, why in skipped[:20]:
        say(f"skipped {path}: {why}")
    if len(skipped) > 20:
        say(f"skipped {len(skipped) - 20} more"
            + ("; the page names all" if folders else ""))
    if not folders:
        print(f"report: no results in {', '.join(map(shown, tops))}; next: "
              "make bench", file=sys.stderr)
        return 1
    total = 5 * sum(len(f.groups) for f in folders) + \
        3 * sum(f.is_cost for f in folders)
    if total * SECONDS_PLOT > 10:
        say(f"up to {total} pictures, about "
            f"{max(1, round(total * SECONDS_PLOT / 60))} min")
    page = Page(args.out, folders, skipped, _progress(total))
    try:
        size = write(page)
    except OSError as error:
        print(f"report: {error}; next: is there room on the disk, may this "
              "user write here?", file=sys.stderr)
        return 1
    finally:
        if sys.stdout.isatty():
            print("\r\x1b[K", end="")
    say(f"{plural(len(page.plots), 'picture')}; the page: "
        f"{shown(args.out / 'index.html')} ({size / 1e6:.1f} MB, in one "
        "file)")
    return 0


def main(argv=None):
    """Command line of scripts/report."""
    args = parse(sys.argv[1:] if argv is None else argv)
    options.need("bench")
    try:
        return run(args)
    except KeyboardInterrupt:
        print("report: interrupted, the page was not written",
              file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
