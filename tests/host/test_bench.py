# SPDX-License-Identifier: GPL-2.0
"""scripts/bench: what it concludes from raw files, without booting anything."""

import importlib
import io
import json
import pathlib
import subprocess
import sys

import pytest
import rich.console

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

bench = importlib.import_module("bench")
benchdata = importlib.import_module("benchdata")
benchreport = importlib.import_module("benchreport")

BYTES = 1 << 30
RT = BYTES * 3 // 4 // 512
MACHINE = {"dev": "259:0", "bytes": str(BYTES)}


# --- material ---------------------------------------------------------------

class Trace:
    """Writes a trace as ftrace does, with the counting clock."""

    def __init__(self, form="259,0 RS 4096 () {s} + {n} [fio]"):
        self.lines = []
        self.form = form

    def add(self, event, sector, sectors=8, cpu=0, dev=None):
        """An event; "take" is the probe in k2."""
        at = len(self.lines) + 1000
        rest = self.form.format(s=sector, n=sectors)
        if event == "complete":
            rest = f"259,0 RS () {sector} + {sectors} [0]"
        if dev:
            rest = rest.replace("259,0", dev)
        name = f"block_rq_{event}"
        if event == "take":
            name, rest = "k2take", f"(flash_take+0x0/0x40 [k2]) sector={sector}"
        self.lines.append(f"             fio-133     [{cpu:03d}] d..1. "
                          f"{at:12d}: {name}: {rest}")
        return self

    def steps(self, text):
        """"i10 t10 d10 c10": insert, take, issue, complete of block 10;
        r5 is block 5 of the real-time region, so "ir5" inserts that."""
        names = {"i": "insert", "t": "take", "d": "issue", "c": "complete",
                 "q": "requeue"}
        for word in text.split():
            real_time = word[1] == "r"
            block = int(word[2 if real_time else 1:])
            self.add(names[word[0]], block * 8 + (RT if real_time else 0))
        return self

    def text(self, lost=0):
        """The whole file."""
        count = len(self.lines)
        head = (f"# tracer: nop\n#\n# entries-in-buffer/entries-written: "
                f"{count}/{count + lost}   #P:2\n#\n")
        return head + "\n".join(self.lines) + "\n"


def judged(steps, bound=None, taken=None, **kind):
    """order()'s result for these steps."""
    return benchdata.order(Trace(**kind).steps(steps).text(), "259:0", BYTES,
                           bound, taken)


def latency(count, **values):
    """fio's clat_ns."""
    return {"N": count, "mean": 2e6, "max": 9e6,
            "percentile": {"50.000000": 1500000, "99.000000": 5000000,
                           "99.900000": 7000000}, **values}


def fio_text(rt=60, best_effort=1000, completed=None, **changes):
    """fio's output: a warning, then JSON."""
    jobs = []
    for name in ("rt", "be0", "be1", "be2"):
        count = rt if name == "rt" else best_effort
        done = count if completed is None or name != "be0" else completed
        part = {"total_ios": count, "short_ios": 0, "drop_ios": 0,
                "io_bytes": 4096 * count, "bw_bytes": 1000 * count,
                "clat_ns": latency(done), **changes}
        none = {"total_ios": 0, "short_ios": 0, "drop_ios": 0, "io_bytes": 0,
                "bw_bytes": 0, "clat_ns": latency(0)}
        jobs.append({"jobname": name, "error": 0, "job_runtime": 900,
                     "read": part, "write": none})
    return "fio: a warning\n" + json.dumps({"jobs": jobs})


STATS = ("queued 0\ninflight 0\npeak_inflight {peak}\ninserted {n}\n"
         "dispatched {n}\nabsorbed 0\nserved_rt {rt}\nserved_nrt 0\n")
STAT = "{reads} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"


def clean_raw(**changes):
    """Raw files of a successful k2 run of one real-time request."""
    trace = Trace().steps("i1 t1 d1 i2 ir1 c1 tr1 dr1 cr1 t2 d2 c2 "
                          "i3 t3 d3 c3").text()
    files = {
        "status": "0\n", "trace": trace, "fio": fio_text(1, 1),
        "samples": "".join(f"{10 + n / 10:.2f} " + STAT.format(reads=n)
                           for n in range(5)),
        "stat-before": STAT.format(reads=0),
        "stat-after": STAT.format(reads=4),
        "inflight": "       0        0\n", "dmesg": "<6>[  1.0] fine\n",
        "stats-before": STATS.format(peak=0, n=0, rt=0),
        "stats-after": STATS.format(peak=1, n=4, rt=1),
        "tunables": "inline_dispatch 1\nmax_inflight 1\n",
    }
    return {**files, **changes}


def failed(raw, bound=1):
    """Names of the checks that do not pass."""
    result = benchdata.evaluate(raw, bound, 1, MACHINE)
    names = {name for name, check in result["checks"].items()
             if not check["passed"]}
    assert result["passed"] == (not names)
    return names


# --- parsing ----------------------------------------------------------------

def test_pairs():
    assert benchdata.pairs("queued 0\nkicks 12\n") == {"queued": 0,
                                                       "kicks": 12}
    assert benchdata.pairs("") == {}
    for bad in ("queued", "queued x", "a b 3"):
        with pytest.raises(ValueError):
            benchdata.pairs(bad)


def test_fio_jobs():
    jobs = benchdata.fio_jobs(fio_text(60, 1000))
    assert [(job["name"], job["issued"], job["completed"], job["operation"])
            for job in jobs] == [("rt", 60, 60, "read"),
                                 ("be0", 1000, 1000, "read"),
                                 ("be1", 1000, 1000, "read"),
                                 ("be2", 1000, 1000, "read")]
    assert jobs[0]["wall_clock"]["latency_mean_s"] == pytest.approx(0.002)
    assert jobs[0]["wall_clock"]["latency_p99_s"] is None


def test_disk_requests_counts_merged_ones():
    assert benchdata.disk_requests("10 2 80 5 7 1 64 3 0 9 9") == 20


@pytest.mark.parametrize("count, percent, there", [
    (4999, 99, False), (5000, 99, True), (49999, 99.9, False),
    (50000, 99.9, True), (99, 50, False), (100, 50, True)])
def test_percentile_needs_50_samples_beyond(count, percent, there):
    value = benchdata.percentile(latency(count), percent)
    assert (value is not None) == there
    assert benchreport._text(value) == ("-" if not there else
                                        f"{value:.0f}")


# --- order ------------------------------------------------------------------

CLEAN = "i1 t1 d1 i2 ir1 c1 tr1 dr1 cr1 t2 d2 c2"


def test_clean_trace_passes_by_both_rules():
    seen = judged(CLEAN, bound=1, taken=3)
    assert (seen.rule, seen.violations, seen.whole) == ("take", 0, True)
    assert (seen.rt_inserted, seen.rt_issued, seen.inflight_max) == (1, 1, 1)
    assert seen.overtaken_max == 0 == seen.ahead_max
    without = " ".join(w for w in CLEAN.split() if w[0] != "t")
    seen = judged(without, bound=1, taken=3)
    assert (seen.rule, seen.violations) == ("issue", 0)


def test_choosing_best_effort_past_a_queued_real_time_request():
    seen = judged("i1 i2 ir1 t2 d2 tr1 dr1 t1 d1", bound=4, taken=3)
    assert (seen.rule, seen.violations) == ("take", 1)
    assert "sector=16" in seen.examples[0]


def test_chosen_before_and_issued_after_is_no_violation():
    seen = judged("i1 t1 ir1 d1 tr1 dr1", bound=4, taken=2)
    assert (seen.violations, seen.overtaken_max) == (0, 1)
    assert (seen.overtaken_chosen_max, seen.undone) == (0, 0)
    # The real-time one was chosen; the block layer took its time.
    seen = judged("ir1 tr1 i1 t1 d1 dr1", bound=4, taken=2)
    assert (seen.violations, seen.overtaken_chosen_max) == (0, 1)
    assert seen.undone == 1
    # Chosen before the real-time one: late, but in order.
    seen = judged("i1 t1 ir1 tr1 d1 dr1", bound=4, taken=2)
    assert (seen.overtaken_chosen_max, seen.undone) == (1, 0)


def test_takes_that_do_not_add_up_are_not_trusted():
    # As with a wrong offset: the probe shows other sectors.
    seen = judged("i1 t1 d1 ir1 t7 dr1", bound=4, taken=2)
    assert seen.rule == "issue"
    assert judged(CLEAN, bound=1, taken=4).rule == "issue"


def test_issue_rule_inserted_later():
    seen = judged("ir1 i1 d1 dr1", bound=4)
    assert (seen.rule, seen.violations) == ("issue", 1)
    assert judged("i1 ir1 d1 dr1", bound=4).violations == 0


def test_issue_rule_more_than_the_bound():
    assert judged("i1 i2 i3 ir1 d1 d2 dr1", bound=2).violations == 0
    assert judged("i1 i2 i3 ir1 d1 d2 d3 dr1", bound=2).violations == 1


def test_a_merged_request_is_as_old_as_its_oldest_part():
    trace = Trace().steps("i2 ir1 i1")
    trace.add("issue", 8, 16).steps("dr1")
    seen = benchdata.order(trace.text(), "259:0", BYTES, 4)
    assert seen.violations == 0
    trace = Trace().steps("ir1 i1 i2")
    trace.add("issue", 8, 16).steps("dr1")
    assert benchdata.order(trace.text(), "259:0", BYTES, 4).violations == 1


def test_requeued_requests_may_go_first():
    seen = judged("i1 t1 d1 q1 ir1 t1 d1 tr1 dr1", bound=4, taken=3)
    assert (seen.rule, seen.violations, seen.requeued) == ("take", 0, 1)
    assert seen.inflight_max == 2


def test_no_rule_for_other_schedulers_but_figures():
    seen = judged("i1 i2 d1 ir1 d2 dr1")
    assert (seen.rule, seen.violations) == ("", 0)
    assert (seen.overtaken_max, seen.ahead_max) == (1, 2)


def test_none_has_no_queue_to_be_overtaken_in():
    seen = judged("d1 d2 dr1 cr1 ir2 d3 dr2")
    assert seen.overtaken_max is None
    assert (seen.ahead_max, seen.ahead_mean) == (3, 2.5)


def test_newer_kernels_print_the_priority():
    seen = judged(CLEAN, bound=1, taken=3,
                  form="259,0 RS 4096 () {s} + {n} none,0,0 [fio]")
    assert (seen.rule, seen.rt_issued, seen.violations) == ("take", 1, 0)


def test_other_devices_and_flushes_are_left_out():
    trace = Trace().steps("i1 d1")
    trace.add("issue", 800, dev="8,0")
    trace.lines.append(trace.lines[-1].replace("8,0 RS", "259,0 FF"))
    assert benchdata.order(trace.text(), "259:0", BYTES).inflight_max == 1


def test_order_goes_by_the_clock_not_by_the_line():
    trace = Trace().steps("i1 d1 c1 ir1 dr1")
    trace.lines.reverse()
    seen = benchdata.order(trace.text(), "259:0", BYTES, 1)
    assert (seen.inflight_max, seen.overtaken_max) == (1, 0)


def test_a_full_buffer_ends_what_is_judged():
    trace = Trace()
    trace.add("insert", 8, cpu=1).add("issue", 8, cpu=1)
    # From here on CPU 1 is missing.
    trace.add("insert", RT).add("insert", 16).add("issue", 16)
    seen = benchdata.order(trace.text(lost=7), "259:0", BYTES, 4)
    assert (seen.whole, seen.events, seen.violations) == (False, 2, 0)
    seen = benchdata.order(trace.text() + "", "259:0", BYTES, 4)
    assert (seen.whole, seen.events, seen.violations) == (True, 5, 1)


# --- stalls -----------------------------------------------------------------

def samples(*points):
    """Samples of (time, requests done)."""
    return "".join(f"{t:.2f} " + STAT.format(reads=n) for t, n in points)


def flat(start, end, count, step=0.1):
    """Points with the same count."""
    number = int(round((end - start) / step)) + 1
    return [(start + n * step, count) for n in range(number)]


def test_stall_is_found():
    found = benchdata.pauses(samples((1, 0), (1.1, 5), *flat(1.2, 3, 9),
                                     (3.1, 20)), True)
    assert len(found.stalls) == 1
    assert found.longest == pytest.approx(1.8)


def test_short_pause_is_none():
    found = benchdata.pauses(samples((1, 0), (1.1, 5), *flat(1.2, 2, 9),
                                     (2.1, 20)), True)
    assert not found.stalls
    assert found.longest == pytest.approx(0.8)


def test_start_and_end_are_no_stalls():
    found = benchdata.pauses(samples(*flat(0, 3, 7), (3.1, 9), (3.2, 12),
                                     *flat(3.3, 6, 12)), True)
    assert not found.stalls and found.longest < 0.2


def test_not_ended_is_a_stall():
    points = [(1, 0), (1.1, 5), *flat(1.2, 9, 9)]
    assert benchdata.pauses(samples(*points), False).stalls
    assert not benchdata.pauses(samples(*points), True).stalls
    assert benchdata.pauses(samples(*flat(0, 9, 0)), False).stalls


def test_a_guest_that_stood_still_proves_nothing():
    found = benchdata.pauses(samples((1, 0), (1.1, 5), (1.2, 9), (4, 9),
                                     (4.1, 20)), True)
    assert not found.stalls
    assert found.blind == pytest.approx(2.8)


def test_half_a_line_at_the_end():
    assert benchdata.pauses(samples((1, 0), (1.1, 5)) + "1.2 7 0",
                            True).samples == 2


# --- checks of a run ----------------------------------------------------------

def test_a_clean_run_passes():
    result = benchdata.evaluate(clean_raw(), 1, 1, MACHINE)
    assert result["passed"]
    assert result["checks"]["order_kept"]["rule"] == "take"
    assert result["scheduler_tunables"]["max_inflight"] == "1"
    assert result["wall_clock"]["comparable"] is False


@pytest.mark.parametrize("name, changes", [
    ("completed", {"fio": fio_text(1, 1, completed=0)}),
    ("completed", {"status": "1\n"}),
    ("completed", {"fio": ""}),
    ("accounted", {"stat-after": STAT.format(reads=5)}),
    ("no_stall", {"samples": samples((1, 0), *flat(1.1, 3, 2), (3.1, 4))}),
    ("no_stall", {"samples": ""}),
    ("drained", {"inflight": "       1        0\n"}),
    ("drained", {"stats-after": STATS.format(peak=1, n=4, rt=1).replace(
        "queued 0", "queued 1")}),
    ("drained", {"stats-after": STATS.format(peak=1, n=4, rt=1).replace(
        "absorbed 0", "absorbed 1")}),
    ("drained", {"stats-after": ""}),
    ("bound_kept", {"stats-after": STATS.format(peak=2, n=4, rt=1)}),
    ("bound_kept", {"trace": Trace().steps(
        "ir1 tr1 dr1 i1 t1 d1 cr1 c1").text()}),
    ("order_kept", {"trace": Trace().steps(
        "i1 i2 ir1 t1 d1 c1 tr1 dr1 cr1 t2 d2 c2 i3 t3 d3 c3").text()}),
    ("order_kept", {"trace": ""}),
    ("issue_kept", {"trace": Trace().steps(
        "ir1 tr1 i1 t1 d1 c1 dr1 cr1 i2 t2 d2 c2 i3 t3 d3 c3").text()}),
    ("class_kept", {"stats-after": STATS.format(peak=1, n=4, rt=0)}),
    ("log_clean", {"dmesg": "<4>[    1.0] WARNING: CPU: 0 PID: 1 at k2.c:1\n"}),
    ("log_clean", {"dmesg": "<3>[    1.0] nvme nvme0: I/O 1 timeout\n"}),
])
def test_each_check_can_fail(name, changes):
    assert name in failed(clean_raw(**changes))


def test_only_what_is_wrong_fails():
    assert failed(clean_raw(inflight="1 0\n")) == {"drained"}
    assert failed(clean_raw(**{
        "stats-after": STATS.format(peak=2, n=4, rt=1)})) == {"bound_kept"}


def test_other_schedulers_have_no_k2_checks():
    raw = clean_raw(**{"stats-before": "", "stats-after": ""})
    names = set(benchdata.evaluate(raw, None, 1, MACHINE)["checks"])
    assert names == {"completed", "accounted", "no_stall", "log_clean",
                     "drained"}
    assert failed(raw, None) == set()


# --- options ------------------------------------------------------------------

def test_plan():
    args = bench.parse(["--workloads", "rand-read", "--schedulers", "none,k2",
                        "--bounds", "1,8"])
    assert [run["id"] for run in bench.plan(args)] == [
        "rand-read.none", "rand-read.k2-1", "rand-read.k2-8"]
    assert len(bench.plan(bench.parse([]))) == 44
    smoke = bench.parse(["--smoke"])
    assert smoke.requests < bench.REQUESTS
    assert len(bench.plan(smoke)) < 44


@pytest.mark.parametrize("argv, value, accepted", [
    (["--kernel", "5.4"], "5.4", "6.1"),
    (["--schedulers", "none,cfq"], "cfq", "mq-deadline"),
    (["--schedulers", ""], "''", "kyber"),
    (["--workloads", "rand"], "rand", "rand-read"),
    (["--bounds", "0"], "'0'", "1 to 65535"),
    (["--bounds", "1,65536"], "65536", "1 to 65535"),
    (["--bounds", "1,x"], "'x'", "1 to 65535"),
    (["--bounds", ","], "','", "1 to 65535"),
    (["--bounds", "4", "--schedulers", "none"], "--bounds", "k2"),
    (["--seed", "-1"], "-1", "0 to 4294967295"),
    (["--seed", "4294967296"], "4294967296", "0 to 4294967295"),
    (["--requests", "9"], "'9'", "10 to"),
    (["--out", "/dev/null"], "/dev/null", "empty directory"),
    (["--frobnicate"], "--frobnicate", ""),
    (["word"], "word", ""),
])
def test_bad_options(capsys, argv, value, accepted):
    with pytest.raises(SystemExit) as stop:
        bench.parse(argv)
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert value in said and accepted in said
    assert said.count("\n") == 1


def test_out_must_be_free(tmp_path, capsys):
    assert bench.parse(["--out", str(tmp_path)]).out == tmp_path
    (tmp_path / "old").write_text("")
    with pytest.raises(SystemExit):
        bench.parse(["--out", str(tmp_path)])
    assert "free" in capsys.readouterr().err


# --- what is shown --------------------------------------------------------------

def records():
    """Two records as Bench makes them, one of them failed."""
    found = []
    for label, bound, raw in (
            ("none", None, clean_raw(**{"stats-before": "",
                                        "stats-after": ""})),
            ("k2-1", 1, clean_raw(inflight="1 0\n"))):
        found.append({"id": f"rand-read.{label}", "label": label,
                      "workload": "rand-read", "bound": bound,
                      "scheduler": label.split("-")[0],
                      **benchdata.evaluate(raw, bound, 1, MACHINE)})
    return found


CIRCUMSTANCES = {
    "kernel": "6.1.0", "commit": "abc-dirty", "seed": 1, "requests": 1,
    "device": {"model": "A disk", "bytes": BYTES, "hw_queues": 2},
    "emulator": {"accelerator": "TCG", "cpus": 2, "qemu": ""}}


def test_summary():
    found = benchreport.summary(records(), CIRCUMSTANCES)
    assert found["failed"] == {"rand-read.k2-1": ["drained"]}
    assert found["passed"] is False and found["runs_done"] == 2
    good = benchreport.summary(records()[:1], CIRCUMSTANCES)
    assert good["failed"] == {} and good["passed"] is True
    assert benchreport.summary([], CIRCUMSTANCES)["passed"] is False
    json.dumps(found)


def test_table_leads_with_exact_and_warns():
    out = io.StringIO()
    console = rich.console.Console(file=out, width=160, color_system=None)
    found = records()
    benchreport.table(console, found,
                      benchreport.summary(found, CIRCUMSTANCES))
    text = out.getvalue().strip()
    assert benchreport.NOT_COMPARABLE in text.splitlines()[0]
    assert "FAIL" in text and "1/1" in text
    lines = [line for line in text.splitlines() if line.startswith("k2-1")]
    assert len(lines) == 1
    assert lines[0].index("FAIL") < lines[0].index("|")


def test_table_on_a_narrow_terminal():
    out = io.StringIO()
    console = rich.console.Console(file=out, width=80, color_system=None)
    found = records()
    benchreport.table(console, found,
                      benchreport.summary(found, CIRCUMSTANCES))
    text = out.getvalue()
    assert "\N{HORIZONTAL ELLIPSIS}" not in text
    assert all(len(line.rstrip()) <= 80 for line in text.splitlines())
    assert text.index("exact") < text.index(benchreport.NOT_COMPARABLE)
    assert sum(line.startswith("k2-1") for line in text.splitlines()) == 2


def test_table_shows_no_thin_percentile():
    cells, walls = benchreport.row(records()[0])
    assert walls[1:3] == ["-", "-"]
    assert cells[2] == "1/1"


def test_plot(tmp_path):
    found = records()
    path = tmp_path / "plot.png"
    benchreport.plot(path, found, benchreport.summary(found, CIRCUMSTANCES))
    assert path.read_bytes().startswith(b"\x89PNG")


# --- the other files ------------------------------------------------------------

def test_guest_script_parses():
    subprocess.run(["bash", "-n", REPO / "tests/vm/lib/bench-guest.sh"],
                   check=True)


def test_what_the_probe_relies_on():
    # p:k2take k2:flash_take sector=+0x30(+0(%si)): renamed or reordered, the
    # bench would fall back to a rule that a busy host can upset.
    header = (REPO / "common/elevator/iosched.h").read_text()
    assert "void flash_take(struct flash_queue *fq, struct flash_rq *fr);" \
        in header
    assert "struct flash_rq {\n\tstruct request *rq;" in header
    assert "k2:flash_take sector=+0x30(+0(%si))" in \
        (REPO / "tests/vm/lib/bench-guest.sh").read_text()


@pytest.mark.parametrize("workload", bench.WORKLOADS)
def test_job_files(workload):
    text = (REPO / f"tests/fio/k2-{workload}.fio").read_text()
    pattern, operation = workload.split("-")
    active = [line for line in text.splitlines()
              if line and not line.startswith(";")]
    assert f"rw={'rand' if pattern == 'rand' else ''}{operation}" in active
    assert active.count("iodepth=32") == 3
    assert not any(line.startswith("thread") for line in active)
    real_time = active[active.index("[rt]"):active.index("[be0]")]
    assert "prioclass=1" in real_time and "prio=0" in real_time
    # The offset distinguishes real-time requests in the trace.
    assert f"offset={benchdata.RT_OFFSET_PCT}%" in real_time
