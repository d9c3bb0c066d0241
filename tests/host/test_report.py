# SPDX-License-Identifier: GPL-2.0
"""scripts/report: the page, from results that were made up.

    /usr/bin/python3 -B tests/host/test_report.py DIR

leaves a large set of such results in DIR, for a look at what becomes of it:
scripts/report DIR --out OTHER.
"""

import html.parser
import importlib
import json
import math
import pathlib
import random
import re
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

report = importlib.import_module("report")
reportdata = importlib.import_module("reportdata")
reporttext = importlib.import_module("reporttext")
reportshare = importlib.import_module("reportshare")
reportplots = importlib.import_module("reportplots")

# A one-pixel PNG.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f64540"
    "0000000049454e44ae426082")


# --- material ---------------------------------------------------------------

# (scheduler, tunables, label, bandwidth and tail beside those of none)
SCHEDULERS = (
    ("none", {}, "none", 1.0, 1.0),
    ("mq-deadline", {}, "mq-deadline", 0.97, 0.85),
    ("kyber", {"read_lat_nsec": "500000"}, "kyber-500000", 0.83, 0.5),
    ("kyber", {"read_lat_nsec": "2000000"}, "kyber-2000000", 0.93, 0.7),
    ("bfq", {}, "bfq", 0.62, 0.35),
    ("none", {"rlat": "200"}, "io.cost", 0.88, 0.42),
    *(("k2", {"max_inflight": str(n)}, f"k2-{n}",
       1 - 0.75 / n ** 0.7, 0.06 + 0.94 * (n / 64) ** 0.8)
      for n in (1, 2, 4, 8, 16, 32, 64)),
)
WORKLOADS = ("seq-read", "rand-read", "rand-write", "mixed")
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99,
             "p99_9": 0.999, "p99_99": 0.9999}


def quantile(share, middle, tail):
    """A latency that is `middle` at 0.5 and `tail` at 0.999."""
    far = (-math.log10(1 - share) - 0.301) / 2.699
    # Flat at first, then a knee, as queues have it.
    return middle * (tail / middle) ** (far * abs(far) ** 0.7)


def latency(count, middle, tail):
    """A job's latency_s, with null where 50 samples beyond are missing."""
    return {"count": count, "mean": middle * 1.1, "max": tail * 2,
            **{key: quantile(q, middle, tail)
               if count * (1 - q) >= 50 - 1e-6 else None
               for key, q in QUANTILES.items()}}


def distribution(count, middle, tail):
    """A job's cdf."""
    shares = [n / 40 for n in range(1, 40)]
    shares += [1 - 10 ** -(1.7 + n / 8) for n in range(20)]
    return [[q, quantile(q, middle, tail)] for q in shares
            if count * (1 - q) >= 50 - 1e-6] or None


def course(dice, bandwidth, reads, rows, scale):
    """series and chips."""
    series = {"t_s": [], "read_bytes_per_s": [], "write_bytes_per_s": [],
              "read_iops": [], "write_iops": [], "gc_copies": []}
    chips = []
    for n in range(rows):
        collecting = reads < 1 and n % 40 > 28 and n > 60
        now = bandwidth * dice.uniform(0.95, 1.05) * (
            0.45 if collecting else 1.1)
        series["t_s"].append(n * 0.01 / scale)
        series["read_bytes_per_s"].append(now * reads)
        series["write_bytes_per_s"].append(now * (1 - reads))
        series["read_iops"].append(now * reads / 4096)
        series["write_iops"].append(now * (1 - reads) / 4096)
        series["gc_copies"].append(dice.randrange(30, 60)
                                   if collecting else 0)
        chips.append([min(1000, int(1000 * dice.betavariate(5, 2)))
                      if (chip + n // 25) % 16 > 2 else dice.randrange(300)
                      for chip in range(16)])
    return series, {"period_s": 0.01 / scale, "busy_permille": chips}


def run(workload="rand-read", entry=SCHEDULERS[0], variant="half", seed=101,
        samples=60000, rows=0, **changes):
    """A schema 2 run."""
    scheduler, tunables, label, width, tail = entry
    dice = random.Random(f"{workload} {label} {variant} {seed}")
    noise = lambda: dice.uniform(0.97, 1.03)  # noqa: E731
    writes = {"seq-read": 0, "rand-read": 0, "rand-write": 1,
              "mixed": 0.3}.get(workload, 0)
    bandwidth = {"seq-read": 720e6, "rand-read": 566e6, "rand-write": 270e6,
                 "mixed": 410e6}.get(workload, 500e6) * width * noise()
    if variant == "full" and writes:
        bandwidth *= 0.6
    middle = 250e-6 * (0.3 + tail) * noise()
    far = 4e-3 * tail * noise() * (3 if writes else 1)
    series, chips = course(dice, bandwidth, 1 - writes, rows, 16) \
        if rows else (None, None)
    ios = int(bandwidth / 4096)
    cell = f"{workload}.{label}.{variant}"
    best_effort = [{
        "name": f"be{n}", "role": "throughput", "operation": "read",
        "ios": ios // 3, "bytes": ios // 3 * 4096, "runtime_s": 1.0,
        "iops": ios / 3, "bandwidth_bytes_per_s": bandwidth / 3,
        "latency_s": latency(ios // 3, middle * 3, far * 2), "cdf": None}
        for n in range(3)]
    return {
        "schema": 2, "kind": "suite", "suite": "k2", "form": "full",
        "id": f"{cell}.s{seed}", "cell": cell, "workload": workload,
        "scheduler": scheduler, "label": label, "tunables": tunables,
        "profile": "E", "variant": variant,
        "device": {"profile": "E", "shrink": "64", "data": "none",
                   "fill_pct": "50" if variant == "half" else "100"},
        "order": "chip_fifo", "alloc": "dynamic", "map": "none",
        "seed": seed, "seed_use": "report", "repeat": 1, "time_scale": 16,
        "clock": "virtual", "time": f"2026-11-21T10:{seed % 60:02d}:00+00:00",
        "commit": "0123456789ab", "kernel": "6.1.0-56-amd64",
        "bench_command": "scripts/bench k2",
        "jobs": [{"name": "rt", "role": "latency", "operation": "read",
                  "ios": samples, "bytes": samples * 4096, "runtime_s": 1.0,
                  "iops": samples, "bandwidth_bytes_per_s": samples * 40.0,
                  "latency_s": latency(samples, middle, far),
                  "cdf": distribution(samples, middle, far)}, *best_effort],
        "total": {"ios": ios, "bytes": ios * 4096, "iops": ios,
                  "bandwidth_bytes_per_s": bandwidth,
                  "read_bandwidth_bytes_per_s": bandwidth * (1 - writes),
                  "write_bandwidth_bytes_per_s": bandwidth * writes},
        "device_stats": {"chips": 16, "utilisation_milli":
                         int(14000 * width), "host_units": 1000 * writes,
                         "wa_milli": int(1800 * noise()) if writes else 0},
        "series": series, "chips": chips,
        "cpu": {"busy_share": 0.12 * width,
                "busy_ns_per_io": int(5200 * noise() + 900 * (1 - width))},
        "unscaled": ["kyber adapts its depths every 100 ms"]
        if scheduler == "kyber" else [],
        "checks": {"completed": {"passed": True, "text": "all came back"}},
        "passed": True, **changes}


CLAIMS = [
    {"id": "R1", "text": "occupancy changes neither tail nor bandwidth",
     "paper": "no meaningful difference", "ours": "bandwidth by up to 0.8 %",
     "holds": True, "cells": ["rand-read.none.half", "rand-read.none.full"]},
    {"id": "W1", "text": "bandwidth of writes is flat", "paper": "256 to 288",
     "ours": "none 270, K2-1 68", "holds": False, "cells": [],
     "wanted": 4, "judged": 2, "parts": [
         {"text": "seq-write", "holds": False, "ours": "68 to 270 MB/s"},
         {"text": "rand-write", "holds": None, "ours": "not measured"}]},
    {"id": "W2", "text": "not looked at", "paper": 3.5, "ours": None,
     "holds": None},
]


def leave(folder, runs, /, **summary):
    """Writes runs and their summary."""
    folder.mkdir(parents=True, exist_ok=True)
    for one in runs:
        (folder / f"{one['id']}.json").write_text(json.dumps(one))
    (folder / "summary.json").write_text(json.dumps({
        "schema": 2, "kind": "suite", "suite": "k2",
        "title": "K2: tail and bandwidth over the bound",
        "runs_planned": len(runs), "interrupted": False, "trouble": [],
        "claims": CLAIMS, "runs": [{"id": one["id"]} for one in runs],
        **summary}))
    return folder


def correctness(folder, failed=()):
    """A directory of the correctness bench."""
    folder.mkdir(parents=True)
    for workload in ("seq-read", "rand-read"):
        for label in ("none", "k2-1"):
            name = f"{workload}.{label}"
            (folder / f"{name}.json").write_text(json.dumps({
                "schema": 1, "id": name, "workload": workload,
                "scheduler": label, "passed": name not in failed,
                "commit": "abc", "kernel": "6.1", "checks": {
                    "drained": {"passed": name not in failed,
                                "text": "1 left"}}}))
    (folder / "summary.json").write_text(json.dumps({
        "schema": 1, "bench_command": "scripts/bench nvme",
        "interrupted": False, "trouble": []}))
    (folder / "plot.png").write_bytes(PNG)
    return folder


COSTS = (("none", "none", 0), ("fifo", "fifo", 420),
         ("mq-deadline", "mq-deadline", 900), ("kyber", "kyber", 610),
         ("bfq", "bfq", 2600), ("k2", "k2", 780), ("k2", "k2 bound 4", 1450),
         ("k2", "k2 stats read", 860))


def cost(folder, **changes):
    """A directory of scripts/bench-cost."""
    folder.mkdir(parents=True)
    cells = []
    for disk in ("null", "null-busy", "flashsim"):
        for depth in (1, 32, 256):
            if disk == "null-busy" and depth == 1:
                continue
            for scheduler, label, over in COSTS:
                if "read" in label and depth != 32:
                    continue
                base = 10000 + depth
                boots = [base + over * 0.99, base + over * 1.01]
                cells.append({
                    "id": f"{disk}-{depth}.{label.replace(' ', '-')}",
                    "disk": disk, "depth": depth, "label": label,
                    "scheduler": scheduler, "options": "irqmode=2",
                    "busy_ns_per_io": base + over, "repeats": boots,
                    "spread": 0.02 * over / base,
                    "over_none_ns": over, "over_none": over / base,
                    "locks": {"own_per_io": 2.5}
                    if scheduler == "k2" else None})
    for cell in cells:
        (folder / f"{cell['id']}.1.json").write_text(json.dumps({
            "schema": 1, "id": cell["id"], "repeat": 1,
            "result": {"busy_ns_per_io": cell["busy_ns_per_io"]}}))
    (folder / "summary.json").write_text(json.dumps({
        "schema": 1, "kind": "cost", "commit": "abc", "kernel": "6.1",
        "command": "scripts/bench-cost", "cells": cells, **changes}))
    return folder


def large(top):
    """4 workloads x 13 settings x 2 variants x 5 seeds, and errors: checks that
    failed, percentiles that are null, series that are missing."""
    runs = []
    for seed in range(101, 106):
        for workload in WORKLOADS:
            for variant in ("half", "full"):
                for entry in SCHEDULERS:
                    few = workload == "mixed" and entry[0] == "bfq"
                    one = run(workload, entry, variant, seed,
                              samples=4000 if few else 60000,
                              rows=200 if seed == 101 and
                              workload != "seq-read" else 0)
                    if (entry[2], workload, seed) in (
                            ("kyber-500000", "rand-read", 103),
                            ("k2-64", "rand-write", 101)):
                        one["passed"] = False
                        one["checks"]["no_stall"] = {
                            "passed": False, "text": "1.2 s without a "
                            "completion"}
                    runs.append(one)
    for entry in (SCHEDULERS[0], SCHEDULERS[7]):
        one = run("rand-read", entry, "half", 101)
        one.update(time_scale=1, cell=one["cell"] + ".x1",
                   id=f"{one['cell']}.x1.s101")
        runs.append(one)
    leave(top / "20261121-100000-k2", runs,
          trouble=["rand-read.bfq.half: had to be run twice"])
    correctness(top / "20261121-090000", ("seq-read.k2-1",))
    cost(top / "cost-20261121-110000")
    (top / "20261121-100000-k2" / "broken.json").write_text('{"schema": 2,')


# --- looking at a page ------------------------------------------------------

class Page(html.parser.HTMLParser):
    """Its elements, texts and whether they are nested as they should be."""

    EMPTY = {"meta", "img", "br"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.cells = [], [], []
        self.words, self.wrong = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in self.EMPTY:
            self.open.append(tag)
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th"):
            self.cells[-1].append("")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1][-1] += data

    @property
    def text(self):
        """All of it."""
        return " ".join(self.words)

    def row(self, first):
        """The first row of cells that begins so."""
        return next(cells for cells in self.cells
                    if cells and cells[0] == first)


def made(tmp_path, capsys, *dirs):
    """(Page, its HTML, what was said) of a report that works."""
    out = tmp_path / "page"
    status = report.main([*map(str, dirs), "--out", str(out)])
    said = capsys.readouterr()
    assert status == 0, said
    content = (out / "index.html").read_text()
    page = Page(content)
    assert not page.wrong and not page.open
    return page, content, said.out


@pytest.fixture(name="no_plots")
def _no_plots(monkeypatch):
    """Pictures take most of the time; most tests are not about them."""
    def nothing(*_):
        raise reportplots.Nothing("not now")
    for name in ("overview", "cdf", "tradeoff", "series", "chips", "cost"):
        monkeypatch.setattr(reportplots, name, nothing)


# --- the page ---------------------------------------------------------------

def test_page_with_everything(tmp_path, capsys):
    runs = [run("rand-write", entry, "half", seed, rows=70 * (seed == 101))
            for entry in SCHEDULERS[:2] + SCHEDULERS[6:9]
            for seed in (101, 102)]
    top = tmp_path / "results"
    leave(top / "20261121-1", runs)
    correctness(top / "20261121-0", ("rand-read.none",))
    cost(top / "cost-1")
    page, content, said = made(tmp_path, capsys, top)
    images = [attrs for tag, attrs in page.elements if tag == "img"]
    # Five kinds of pictures, plot.png, a disk each.
    assert len(images) == 5 + 1 + 3
    for attrs in images:
        assert attrs["src"].startswith("data:image/png;base64,")
        assert attrs["alt"] and int(attrs["width"]) > 0
    assert len(list((tmp_path / "page" / "plots").glob("*.png"))) == 8
    for tag, attrs in page.elements:
        assert tag not in ("script", "link", "iframe")
        for key in ("src", "href"):
            assert attrs.get(key, "#").startswith(("#", "data:"))
    assert "http:" not in content and "https:" not in content
    assert "@import" not in content and "url(" not in content
    targets = {attrs["id"] for _, attrs in page.elements if "id" in attrs}
    for tag, attrs in page.elements:
        if tag == "a":
            assert attrs["href"][1:] in targets
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", content, re.S)
    for caption in captions[:5]:
        for word in ("Profile E", "order chip_fifo", "map none",
                     "time scale 16", "seed", "scripts/bench k2",
                     "scripts/report"):
            assert word in caption
    assert "10 suite runs in 1 directory" in said
    assert "4 correctness runs in 1 directory" in said
    assert "1 cost measurement" in said
    assert "index.html" in said
    assert "compare nothing" in page.text
    assert page.row("rand-read")[1:5] == ["2", "1", "1", "rand-read.none"]


def test_medians_ranges_and_ratios(tmp_path, capsys, no_plots):
    runs = []
    for label, bandwidths in (("none", (100e6, 300e6, 200e6)),
                              ("k2-8", (90e6, 150e6, 110e6))):
        entry = next(e for e in SCHEDULERS if e[2] == label)
        for seed, bandwidth in zip((101, 102, 103), bandwidths):
            one = run(entry=entry, seed=seed)
            one["total"]["bandwidth_bytes_per_s"] = bandwidth
            runs.append(one)
    again = run(seed=101, repeat=2)
    again["id"] += ".r2"
    again["total"]["bandwidth_bytes_per_s"] = 900e6
    page, content, _ = made(tmp_path, capsys, leave(tmp_path / "in",
                                                    [*runs, again]))
    none, k2 = page.row("none"), page.row("k2-8")
    assert none[2:4] == ["\u25b2\xa0200", "1.00\xd7"]
    assert k2[2:4] == ["\u25bc\xa0110", "0.550\xd7"]
    assert "<small>90.0\u2013150</small>" in content
    assert none[1] == "ok 4"
    assert "1 run repeated a seed" in page.text


def test_null_is_a_dash_and_never_zero(tmp_path, capsys, no_plots):
    few = run(samples=300)
    few["cpu"] = {"busy_share": None, "busy_ns_per_io": None}
    few["device_stats"] = {}
    assert few["jobs"][0]["latency_s"]["p99"] is None
    page, _, _ = made(tmp_path, capsys, leave(tmp_path / "in", [few]))
    head, row = page.row("scheduler"), page.row("none")
    # The first table with that head is the one of the figures.
    for name in ("p95 \xb5s", "p99 \xb5s", "p99.9 \xb5s", "p99.99 \xb5s",
                 "CPU per I/O \xb5s", "chips busy %"):
        assert row[head.index(name)] == "\u2013"
    assert row[head.index("p50 \xb5s")] != "\u2013"


def test_null_in_some_seeds_is_said(tmp_path, capsys, no_plots):
    runs = [run(seed=101), run(seed=102, samples=300)]
    page, _, _ = made(tmp_path, capsys, leave(tmp_path / "in", runs))
    assert "1 of 2 runs" in page.text


def test_failed_checks_are_flagged_and_not_best(tmp_path, capsys, no_plots):
    fast, slow, last = (run(entry=SCHEDULERS[n]) for n in (0, 1, 4))
    fast["total"]["bandwidth_bytes_per_s"] = 900e6
    fast.update(passed=False, checks={"drained": {
        "passed": False, "text": "3 left in flight"}})
    page, _, _ = made(tmp_path, capsys,
                      leave(tmp_path / "in", [fast, slow, last]))
    assert page.row("none")[2] == "900"
    assert page.row("mq-deadline")[2].startswith("\u25b2")
    assert "FAIL 1 of 1" in page.text
    assert "3 left in flight" in page.text


def test_failed_without_a_check_is_failed(tmp_path, capsys, no_plots):
    page, _, _ = made(tmp_path, capsys, leave(
        tmp_path / "in", [run(passed=False), run(entry=SCHEDULERS[1])]))
    assert "FAIL 1 of 1" in page.text and "names no check" in page.text


def test_rows_keep_their_order(tmp_path, capsys, no_plots):
    order = [SCHEDULERS[n] for n in (12, 0, 6, 4)]
    page, _, _ = made(tmp_path, capsys, leave(
        tmp_path / "in", [run(entry=entry) for entry in order]))
    labels = [cells[0] for cells in page.cells
              if len(cells) > 10][1:]
    assert labels == ["k2-64", "none", "k2-1", "bfq"]


def test_order_without_a_summary(tmp_path, capsys, no_plots):
    folder = leave(tmp_path / "in", [run(entry=e) for e in SCHEDULERS])
    (folder / "summary.json").unlink()
    page, _, _ = made(tmp_path, capsys, folder)
    labels = [cells[0] for cells in page.cells if len(cells) > 10][1:]
    assert labels[0] in ("io.cost", "none")
    assert labels[-3:] == ["k2-16", "k2-32", "k2-64"]
    assert "did not come to its end" in page.text


def test_tuning_seeds_stay_apart(tmp_path, capsys, no_plots):
    runs = [run(seed=1, seed_use="tuning"), run(seed=101)]
    page, _, _ = made(tmp_path, capsys, leave(tmp_path / "in", runs))
    assert page.text.index("report seeds") < page.text.index("tuning seeds")
    assert "they are no result" in page.text
    assert len([c for c in page.cells if c[:2] == ["none", "ok 1"]]) == 2


def test_claims(tmp_path, capsys, no_plots):
    page, _, _ = made(tmp_path, capsys, leave(tmp_path / "in", [run()]))
    assert page.row("R1")[2:] == ["paper", "no meaningful difference",
                                  "bandwidth by up to 0.8 %", "reproduced"]
    assert page.row("W1")[5] == "not reproduced"
    assert page.row("W2")[2:] == ["paper", "3.50", "\u2013", "not measured"]
    assert "2 of 4 parts" in page.text
    assert "hold: 1, do not hold: 1, open: 1" in page.text


def test_unscaled_trouble_and_two_time_scales(tmp_path, capsys, no_plots):
    slow = run(unscaled=["kyber adapts every 100 ms"])
    real = run(time_scale=1)
    real["id"] += ".x1"
    page, _, _ = made(tmp_path, capsys, leave(
        tmp_path / "in", [slow, real], trouble=["a machine died"],
        interrupted=True, left_out={"no such scheduler": 3}))
    assert page.row("kyber adapts every 100 ms")[1:] == ["1", "none"]
    assert "16, 1" in page.row("rand-read")
    for said in ("a machine died", "interrupted: not all", "no such "
                 "scheduler: 3"):
        assert said in page.text


def test_text_is_escaped(tmp_path, capsys, no_plots):
    bad = "<script>alert('x')</script>&\""
    one = run(workload=f"w{bad}", label=bad, kernel=bad, variant=bad,
              unscaled=[bad], tunables={bad: bad}, passed=False,
              checks={bad: {"passed": False, "text": bad}})
    one["id"] = "one"
    folder = leave(tmp_path / "in", [one], title=bad, trouble=[bad],
                   bench_command=bad,
                   claims=[{"id": bad, "text": bad, "holds": True}])
    page, content, _ = made(tmp_path, capsys, folder)
    assert "<script" not in content
    assert "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;&quot;" \
        in content
    assert bad in page.text


def test_cost_table(tmp_path, capsys, no_plots):
    page, _, _ = made(tmp_path, capsys, cost(tmp_path / "cost-1"))
    row = page.row("bfq")
    assert row[1].startswith("12") and row[2:4] == ["2\u202f600", "26.0"]
    assert page.row("k2")[-1] == "2.50, 2.50, 2.50"
    # Not known to this version: shown as it is.
    odd = tmp_path / "cost-2"
    odd.mkdir()
    (odd / "summary.json").write_text(json.dumps(
        {"kind": "cost", "rows": [{"name": "k2", "ns": 12.5}]}))
    page, _, _ = made(tmp_path, capsys, odd)
    assert page.row("k2") == ["k2", "12.5"]


def test_physics(tmp_path, capsys, no_plots):
    folder = tmp_path / "physics"
    folder.mkdir()
    row = {"expected": 100.0, "measured": 101.0, "unit": "us",
           "tolerance": 0.02, "error": 0.01, "passed": True}
    (folder / "rows.json").write_text(json.dumps({
        "schema": 2, "kind": "physics", "kernel": "6.1", "rows": [
            {"name": "one read", **row},
            {"name": "two <reads>", **row, "measured": 150.0, "error": 0.5,
             "passed": False}],
        "trouble": ["burst: no log"]}))
    page, out, _ = made(tmp_path, capsys, folder)
    assert "3 rows of physics" in out
    assert page.row("one read") == ["one read", "100", "101", "us", "1.00",
                                    "2.00", "holds"]
    assert page.row("two <reads>")[-1] == "does not hold"
    assert page.row("burst: no log")[-1] == "does not hold"
    # ... and stand among what failed, too.
    failed = [cells for cells in page.cells if cells[1:2] == ["physics"]]
    assert [cells[2] for cells in failed] == ["two <reads>", "burst: no log"]
    assert failed[0][3] == "off by 50.0 %"
    (folder / "rows.json").write_text('{"schema": 2, "kind": "physics"}')
    assert report.main([str(folder), "--out", str(tmp_path / "none")]) == 1
    assert "physics without a row" in capsys.readouterr().out


def test_locks(tmp_path, capsys, no_plots):
    """Counts of scripts/locks, verdicts and errors."""
    folder = tmp_path / "locks"
    folder.mkdir()
    row = {"scheduler": "k2", "cpus": 2, "own_per_io": 1.5,
           "contended_per_io": 0.25, "all_per_io": 30.0}
    (folder / "locks.json").write_text(json.dumps({
        "schema": 1, "kind": "locks", "kernel": "debug", "commit": "abc",
        "command": "scripts/locks", "trouble": ["k9 cannot be had"],
        "cells": [row, {"scheduler": "none"}, 5],
        "verdicts": [{"claim": "half of it", "holds": False}]}))
    page, out, _ = made(tmp_path, capsys, folder)
    assert "1 count of locks" in out
    assert page.row("k2") == ["k2", "2", "1.50", "0.250", "30.0"]
    words = " ".join(page.words)
    assert "does not hold" in words and "k9 cannot be had" in words
    assert not page.wrong
    (folder / "locks.json").write_text('{"schema": 1, "kind": "locks"}')
    assert report.main([str(folder), "--out", str(tmp_path / "none")]) == 1
    assert "locks without a count" in capsys.readouterr().out


# --- files that are no results ----------------------------------------------

def test_what_is_skipped_is_named(tmp_path, capsys, no_plots):
    folder = leave(tmp_path / "in", [run()])
    files = {
        "broken.json": ('{"schema": 2,', "broken JSON"),
        "empty.json": ("", "empty file"),
        "binary.json": (b"\xff\xfe\0", "broken JSON"),
        "list.json": ("[]", "no JSON object"),
        "future.json": ('{"schema": 3, "kind": "suite"}',
                        "unknown schema 3"),
        "other.json": ('{"name": "x"}', "names no schema"),
        "half.json": ('{"schema": 2, "kind": "suite", "workload": "w"}',
                      '"scheduler"'),
        "jobless.json": (json.dumps(run(jobs=[])), '"jobs"'),
        "twice.json": (json.dumps(run()), "the same run as"),
    }
    for name, (content, _) in files.items():
        (folder / name).write_bytes(
            content if isinstance(content, bytes) else content.encode())
    (folder / "raw").mkdir()
    (folder / "raw" / "fio.json").write_text("{")
    (folder / "notes.txt").write_text("not JSON")
    page, _, said = made(tmp_path, capsys, folder)
    assert f"{len(files)} files skipped" in said
    for name, (_, why) in files.items():
        line = next(l for l in said.splitlines() if name in l)
        assert why in line
        row = next(c for c in page.cells if c and len(c) == 2
                   and why in c[1] and c[0] == "")
        assert row
        assert name in page.text
    assert "raw" not in said and "1 suite run in" in said


def test_all_runs_are_accounted_for(tmp_path, capsys, no_plots):
    runs = [run(w, e, v, s) for w in ("rand-read", "seq-read")
            for e in SCHEDULERS[:3] for v in ("half", "full")
            for s in (101, 102)]
    folder = leave(tmp_path / "in", runs)
    gone = folder / f"{runs[0]['id']}.json"
    gone.unlink()
    page, _, said = made(tmp_path, capsys, folder)
    assert "23 suite runs" in said
    shown = sum(int(c[1].split()[-1]) for c in page.cells
                if len(c) > 10 and c[1].startswith("ok "))
    assert shown == 23
    assert "names 1 runs whose files are not there" in page.text
    assert runs[0]["id"] in page.text
    assert "23 of 24 planned runs" in page.text


def test_overlapping_directories_count_once(tmp_path, capsys, no_plots):
    folder = leave(tmp_path / "top" / "in", [run()])
    _, _, said = made(tmp_path, capsys, tmp_path / "top", folder)
    assert "1 suite run in 1 directory" in said


@pytest.mark.parametrize("seed", range(30))
def test_rubbish_makes_no_crash(tmp_path, capsys, no_plots, seed):
    dice = random.Random(seed)
    junk = (None, -1, 1e400, float("nan"), 0, "", "x", [], [[]], {}, True,
            {"x": []}, [None], 10**400)
    record = run(rows=20)
    places = []

    def collect(value, depth=0):
        items = value.items() if isinstance(value, dict) else \
            enumerate(value[:5])
        for key, inner in list(items):
            places.append((value, key))
            if isinstance(inner, (dict, list)) and depth < 4:
                collect(inner, depth + 1)
    collect(record)
    for value, key in dice.sample(places, 12):
        value[key] = dice.choice(junk)
    folder = leave(tmp_path / "in", [run(entry=SCHEDULERS[1])], **{
        key: dice.choice(junk) for key in
        ("claims", "trouble", "unscaled", "runs", "runs_planned", "title",
         "cells", "left_out")})
    (folder / "x.json").write_text(json.dumps(record))
    made(tmp_path, capsys, folder)


# --- options ----------------------------------------------------------------

def test_nothing_there(tmp_path, capsys):
    assert report.main([str(tmp_path), "--out", str(tmp_path / "p")]) == 1
    said = capsys.readouterr()
    assert "read nothing" in said.out
    assert said.err.count("\n") == 1 and "next: make bench" in said.err
    assert not (tmp_path / "p").exists()
    (tmp_path / "x.json").write_text("{")
    assert report.main([str(tmp_path), "--out", str(tmp_path / "p")]) == 1
    assert "broken JSON" in capsys.readouterr().out


@pytest.mark.parametrize("argv, value", [
    (["/no/such/place"], "/no/such/place"),
    (["/dev/null"], "/dev/null"),
    (["--out"], "--out"),
    (["--out", "/dev/null"], "/dev/null"),
    (["--frobnicate"], "--frobnicate"),
])
def test_bad_options(capsys, argv, value):
    with pytest.raises(SystemExit) as stop:
        report.parse(argv)
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert value in said and said.count("\n") == 1


def test_only_our_own_page_is_replaced(tmp_path, capsys, no_plots):
    out = tmp_path / "page"
    out.mkdir()
    (out / "index.html").write_text("<p>somebody's diary")
    with pytest.raises(SystemExit):
        report.parse(["--out", str(out)])
    assert "not ours" in capsys.readouterr().err
    (out / "index.html").unlink()
    folder = leave(tmp_path / "in", [run()])
    made(tmp_path, capsys, folder)
    made(tmp_path, capsys, folder)
    assert not (out / "index.html.new").exists()


def test_old_pictures_go_and_others_stay(tmp_path, capsys):
    folder = leave(tmp_path / "in", [run(), run(entry=SCHEDULERS[1])])
    made(tmp_path, capsys, folder)
    plots = tmp_path / "page" / "plots"
    before = set(plots.iterdir())
    assert before
    (plots / "mine.png").write_bytes(PNG)
    other = leave(tmp_path / "other", [run("seq-read")])
    made(tmp_path, capsys, other)
    assert not before & set(plots.iterdir())
    assert (plots / "mine.png").exists()


def test_help(capsys):
    with pytest.raises(SystemExit) as stop:
        report.parse(["--help"])
    assert stop.value.code == 0
    said = capsys.readouterr().out
    assert "DIR" in said and "build/report" in said
    assert all(len(line) < 80 for line in said.splitlines())


def test_wrapper_parses():
    subprocess.run(["bash", "-n", REPO / "scripts" / "report"], check=True)


# --- pieces -----------------------------------------------------------------

@pytest.mark.parametrize("value, text", [
    (None, "\u2013"), (0, "0"), (0.001234, "0.00123"), (9.996, "10.0"),
    (1234.5, "1\u202f234"), (123, "123"), (0.5, "0.500"), (-12.34, "-12.3")])
def test_figure(value, text):
    assert reporttext.figure(value) == text


def test_ranges():
    assert reporttext.ranges([3, 1, 2, 7, 9, 10]) == "1 to 3, 7, 9, 10"
    assert reporttext.ranges([5, 5]) == "5"
    assert reporttext.ranges([None, "x"]) == "x"
    assert reporttext.ranges([]) == "unknown"


def test_pareto_front():
    points = [(1, 5), (2, 5), (2, 7), (3, 9), (4, 8), (0.5, 6)]
    assert reportplots.front(points) == [(2, 5), (4, 8)]
    assert reportplots.front([]) == []


def test_styles_are_stable_and_distinct():
    pairs = [(e[0], e[2]) for e in SCHEDULERS]
    found = reportplots.styles(pairs)
    assert len({style.color for style in found.values()}) == len(pairs)
    assert found["k2-8"].marker == found["k2-1"].marker
    assert found["io.cost"].color != found["none"].color
    assert found["none"] == reportplots.styles([("none", "none")])["none"]
    many = reportplots.styles([(f"new{n}", f"new{n}") for n in range(9)])
    assert len(many) == 9


def test_tail_is_the_one_that_all_have(tmp_path):
    folder = leave(tmp_path / "in", [run(), run(entry=SCHEDULERS[1],
                                                samples=6000)])
    (found,), _ = reportdata.read([folder])
    assert reportplots.tail_key(found.groups[0]) == "p99"


def test_pictures_of_odd_groups(tmp_path, capsys):
    zero = run(entry=SCHEDULERS[1])
    zero["total"]["bandwidth_bytes_per_s"] = 0
    zero["jobs"][0]["latency_s"] = dict.fromkeys(
        zero["jobs"][0]["latency_s"], 0)
    zero["jobs"][0]["cdf"] = [[0.5, 0], [0.9, 0]]
    idle = run("seq-read", rows=3)
    for key in ("read_bytes_per_s", "write_bytes_per_s", "gc_copies"):
        idle["series"][key] = [0, 0, 0]
    idle["total"] = {}
    no_latency = run("seq-write", jobs=[
        {"name": "w", "role": "throughput",
         "bandwidth_bytes_per_s": 1e6, "latency_s": None, "cdf": None}])
    page, _, _ = made(tmp_path, capsys, leave(
        tmp_path / "in", [run(), zero, idle, no_latency]))
    assert "cannot be drawn" not in page.text
    assert "Pictures left out" in page.text


# --- tenants -----------------------------------------------------------------

def of_tenants(received, pv, inversions=0):
    """Fields that only a run with tenants has."""
    total, weights = sum(received), (100, 200, 500)
    return {
        "tenants": [
            {"name": name, "weight": weight, "bytes": size * 4096,
             "latency_s": {"p99": 1e-3 * n, "p99_9": None, "stddev": 2e-4}}
            for n, (name, weight, size) in enumerate(
                zip(("msn", "prj", "prn"), weights, received), 1)],
        "fairness": {
            "unit": "sectors", "due": [0.125, 0.25, 0.625],
            "by_unit": {"sectors": {
                "shares": [one / total for one in received], "pv": pv,
                "jain": 0.97, "service_ratio": 0.4, "windows": [
                    {"window_s": 1e-3 * n, "pv_median": pv / n,
                     "pv_p90": pv, "pv_max": None if n > 1 else 2 * pv,
                     "inversions": inversions, "windows": 8, "requests":
                     50 * n} for n in (1, 2, 4)]}},
            "course": {"period_s": 1e-3, "bytes_per_s": [
                [1e6 * one + n % 3 for n in range(40)]
                for one in received]}}}


def test_tenants(tmp_path, capsys):
    runs = [run("mix", SCHEDULERS[0], seed=seed,
                **of_tenants((4, 4, 4 + seed - 101), 2.0, 7))
            for seed in (101, 102)] + [
        run("mix", SCHEDULERS[4], **of_tenants((10, 20, 50), 0.05)),
        run("mix", SCHEDULERS[1])]
    page, content, _ = made(tmp_path, capsys, leave(tmp_path / "in", runs))
    assert "cannot be drawn" not in page.text
    rows = [cells for cells in page.cells if cells[:2] == ["bfq", "sectors"]]
    assert rows == [["bfq", "sectors", "0.0500", "0.970", "0.400", "0"]]
    row = next(cells for cells in page.cells if cells[:2] == ["bfq", "prn"])
    assert row[2:] == ["500", "62.5", "62.5", "62.5", reporttext.figure(3000),
                       reporttext.DASH, "200"]
    row = next(cells for cells in page.cells if cells[:2] == ["none", "prn"])
    # Medians of 4 of 12 and 5 of 13
    assert row[3:5] == ["62.5", reporttext.figure(100 * (4 / 12 + 5 / 13) / 2)]
    assert not [cells for cells in page.cells
                if cells[:2] == ["mq-deadline", "prn"]]
    for name in ("Shares, mix.", "Windows, mix.", "Tenants, mix."):
        assert name in content


@pytest.mark.parametrize("break_it", [
    lambda d: d.pop("fairness"), lambda d: d.update(tenants=[]),
    lambda d: d.update(fairness=3), lambda d: d["tenants"].pop(),
    lambda d: d["fairness"].update(unit="pounds"),
    lambda d: d["fairness"]["due"].pop(),
    lambda d: d["fairness"]["course"].update(bytes_per_s=[[1], [2], ["x"]]),
    lambda d: d["fairness"]["by_unit"]["sectors"].update(shares=[1]),
    lambda d: d["tenants"][0].update(weight=True)])
def test_tenants_that_are_not_understood_are_left_out(break_it):
    data = of_tenants((1, 2, 5), 0.0)
    assert reportshare.take(data)["shares"] == [0.125, 0.25, 0.625]
    break_it(data)
    assert reportshare.take(data) is None


if __name__ == "__main__":
    large(pathlib.Path(sys.argv[1]))
