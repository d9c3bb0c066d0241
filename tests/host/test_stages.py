# SPDX-License-Identifier: GPL-2.0
"""scripts/stages: stages and classes from synthetic traces of each format."""

import importlib
import json
import pathlib
import re
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

blocktrace = importlib.import_module("blocktrace")
stages = importlib.import_module("stages")

# Steps of a request: microseconds from its bio on.
US = {"Q": 0, "I": 10, "i": 10, "d": 110, "D": 130, "C": 630, "c": 635}
NAMES = {"Q": "block_bio_queue", "I": "block_rq_insert",
         "D": "block_rq_issue", "C": "block_rq_complete",
         "M": "block_bio_backmerge", "F": "block_bio_frontmerge",
         "R": "block_rq_requeue", "A": "block_rq_merge"}
FLASH = {"i": ("flash_insert", "order"), "d": ("flash_dispatch", "order"),
         "c": ("flash_complete", "done")}


def ftrace(time, kind, sector, sectors=8, who="fio", **more):
    """A line of the kernel's own trace."""
    head = f"{more.get('task', 'fio')}-4711    [001] d..1.  {time / 1e6:.6f}: "
    dev = more.get("dev", "259,0")
    if kind in FLASH:
        name, why = FLASH[kind]
        why = more.get("why", why)
        return (f"{head}{name}: {dev} op 0 {sector} + "
                f"{0 if kind == 'c' else sectors} hctx 0 tag "
                f"{more.get('tag', 3)} class {more.get('klass', 9)} prio "
                f"{more.get('prio', 2)} bound 4 inflight 1 queued 0 why {why}")
    prio = f" {more['new']},4,0" if "new" in more else ""
    size = f"{sectors * 512} " if kind in "IDA" else ""
    cmd = "" if kind in "QMF" else "() "
    end = "0" if kind in "CR" else who
    return (f"{head}{NAMES[kind]}: {dev} R {size}{cmd}{sector} + {sectors}"
            f"{prio} [{end}]")


def blktrace(time, kind, sector, sectors=8, who="fio"):
    """A line of blkparse."""
    end = "0" if kind in "CR" else who
    return (f"259,0    1       17     {time / 1e6:.9f}  4711  {kind}   R "
            f"{sector} + {sectors} [{end}]")


def lttng(time, kind, sector, sectors=8, who="fio", day=36000):
    """A line of babeltrace."""
    seconds, us = divmod(time + day * 10**6, 10**6)
    seconds %= 86400
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    end = "" if kind in "CR" else f', tid = 4711, comm = "{who}"'
    return (f"[{clock}.{us:06}000] (+0.000001000) lab {NAMES[kind]}: "
            f"{{ cpu_id = 1 }}, {{ dev = {259 << 20}, sector = {sector}, "
            f"nr_sector = {sectors}, rwbs = 4{end} }}")


def life(how, at, sector, kinds="QIDC", **more):
    """All lines of one request."""
    return [how(at + US[kind], kind, sector, **more) for kind in kinds]


def measured(tmp_path, lines, *argv):
    """The classes of a trace, and what is noted."""
    path = tmp_path / "trace"
    path.write_text("\n".join(lines) + "\n")
    args = stages.parse([str(path), *argv])
    tracker, lost = stages.measure(args)
    classes = stages.summarise(tracker)
    return classes, stages.notes(tracker, lost, classes)


def means(classes, label):
    """{stage: mean} of a class."""
    return {name: round(row["mean_us"], 3)
            for name, row in classes[label].items()}


WHOLE = {"submission": 10, "queueing": 100, "dispatch": 20, "device": 500,
         "completion": 5, "total": 635}
COARSE = {"submission": 10, "queueing": 120, "device": 500, "total": 630}


@pytest.mark.parametrize("how", (ftrace, blktrace, lttng))
def test_the_block_layers_events_alone(tmp_path, how):
    """Each format gives the same; the task's name decides the class."""
    lines = life(how, 1000, 800, who="rt") + life(how, 5000, 1600)
    classes, noted = measured(tmp_path, lines, "--real-time", "rt")
    assert means(classes, "real-time") == COARSE
    assert means(classes, "best effort") == COARSE
    assert any("no flash_dispatch events" in note for note in noted)
    classes, noted = measured(tmp_path, lines)
    assert list(classes) == ["all"]
    assert classes["all"]["total"]["requests"] == 2
    assert any("--real-time" in note for note in noted)


def test_our_events_split_further(tmp_path):
    """Dispatch and completion, and the classes without a name."""
    lines = []
    for n, (prio, klass) in enumerate(((1, 0), (2, 9), (0, 8), (3, 9))):
        lines += life(ftrace, 1000 + n * 2000, 800 * (n + 1),
                      "QIidDCc", prio=prio, klass=klass, tag=n)
    classes, noted = measured(tmp_path, lines)
    assert list(classes) == ["real-time", "metadata", "best effort", "idle"]
    for label in classes:
        assert means(classes, label) == WHOLE
    assert not noted


def test_priorities_of_newer_kernels(tmp_path):
    """Newer kernels have them in the block layer's events."""
    lines = life(ftrace, 1000, 800, "IDC", new="rt") + \
        life(ftrace, 3000, 800, "IDC", new="none")
    classes, _ = measured(tmp_path, lines)
    assert list(classes) == ["real-time", "best effort"]
    assert means(classes, "real-time") == {"queueing": 120, "device": 500,
                                           "total": 620}


def test_no_scheduler(tmp_path):
    """Nothing is inserted: submission lasts until the issue."""
    classes, noted = measured(tmp_path, life(ftrace, 1000, 800, "QDC"))
    assert means(classes, "all") == {"submission": 130, "device": 500,
                                     "total": 630}
    assert any("nothing was inserted" in note for note in noted)


@pytest.mark.parametrize("how", (ftrace, blktrace))
def test_merges(tmp_path, how):
    """A request grows at both ends, and swallows one that waits."""
    lines = [how(0, "Q", 808), how(5, "I", 808),
             how(6, "Q", 816), how(7, "M", 816),
             how(8, "Q", 800), how(9, "F", 800),
             how(10, "Q", 832), how(11, "I", 832),
             how(12, "Q", 824), how(13, "M", 824),
             how(13, "A" if how is ftrace else "M", 832),
             how(105, "D", 800, 40), how(605, "C", 800, 40)]
    classes, noted = measured(tmp_path, lines)
    assert means(classes, "all") == {"submission": 5, "queueing": 100,
                                     "device": 500, "total": 605}
    assert any(note.startswith("1 requests that merged") for note in noted)
    assert not any("without an end" in note for note in noted)


def test_parts(tmp_path):
    """A request that ends in two parts has ended with the second."""
    lines = [ftrace(0, "I", 800, 16), ftrace(10, "D", 800, 16),
             ftrace(100, "C", 800, 8), ftrace(300, "C", 808, 8)]
    classes, _ = measured(tmp_path, lines)
    assert means(classes, "all")["device"] == 290


def test_handed_back(tmp_path):
    """Requests that the driver has handed back give no times, and are counted."""
    lines = [ftrace(0, "I", 800), ftrace(1, "i", 800), ftrace(2, "d", 800),
             ftrace(3, "D", 800), ftrace(4, "c", 800, why="requeued"),
             ftrace(5, "R", 800), ftrace(6, "I", 800),
             ftrace(6, "i", 800, why="head"), ftrace(7, "d", 800, why="head"),
             ftrace(8, "D", 800), ftrace(20, "C", 800), ftrace(21, "c", 800)]
    lines += life(ftrace, 1000, 1600, "QIidDCc")
    classes, noted = measured(tmp_path, lines)
    assert means(classes, "best effort") == WHOLE
    assert classes["best effort"]["total"]["requests"] == 1
    assert any(note.startswith("1 requests left out: the driver")
               for note in noted)


def test_flushes_and_the_rest_are_passed_over(tmp_path):
    """Events without a sector, without an end, lost ones, and other lines."""
    lines = ["# tracer: nop", "CPU:1 [LOST 17 EVENTS]",
             ftrace(0, "D", 0, 0), ftrace(9, "C", 0, 0),
             *life(ftrace, 1000, 800), ftrace(5000, "I", 80),
             "fio-1 [000] ..... 1.5: sched_switch: prev_comm=x"]
    classes, noted = measured(tmp_path, lines)
    assert classes["all"]["total"]["requests"] == 1
    assert any("17 events were lost" in note for note in noted)
    assert any(note.startswith("1 requests without an end") for note in noted)


def test_head_of_a_saved_ftrace(tmp_path):
    """Events overwritten in the buffer are lost; the rest count."""
    lines = ["# tracer: nop", "#",
             "# entries-in-buffer/entries-written: 100/117   #P:2",
             ftrace(100, "D", 8), ftrace(600, "C", 8), *life(ftrace, 1000, 800)]
    classes, noted = measured(tmp_path, lines)
    assert any("17 events were lost" in note for note in noted)
    assert classes["all"]["device"]["requests"] == 2
    assert classes["all"]["queueing"]["requests"] == 1
    lines[2] = lines[2].replace("117", "100")
    assert not any("lost" in note for note in measured(tmp_path, lines)[1])


def test_quantiles(tmp_path):
    """The smallest value that this share of requests does not exceed."""
    lines = []
    for n in range(1000):
        lines += [ftrace(n * 9000, "D", n * 8),
                  ftrace(n * 9000 + n + 1, "C", n * 8)]
    row = measured(tmp_path, lines)[0]["all"]["device"]
    assert (row["p50_us"], row["p99_us"], row["p99.9_us"], row["max_us"]) == \
        (500, 990, 999, 1000)


def test_midnight(tmp_path):
    """babeltrace says the time of the day."""
    lines = life(lttng, 0, 800, day=86399) + life(lttng, 999900, 800, day=86399)
    classes, _ = measured(tmp_path, lines)
    assert means(classes, "all") == COARSE


def test_names_with_blanks_and_brackets(tmp_path):
    """As kernel threads have them."""
    lines = life(ftrace, 1000, 800, task="kworker/u4:2-ev ent",
                 who="a [b] c-1")
    classes, _ = measured(tmp_path, lines, "--real-time", "a [b] c-1")
    assert list(classes) == ["real-time"]


def test_devices(tmp_path):
    """One of several is to be named."""
    lines = life(ftrace, 1000, 800) + life(ftrace, 1000, 800, dev="8,16")
    with pytest.raises(stages.TraceError, match="8:16, 259:0"):
        measured(tmp_path, lines)
    classes, _ = measured(tmp_path, lines, "--device", "8:16")
    assert means(classes, "all") == COARSE
    with pytest.raises(stages.TraceError, match="no events of 1:1"):
        measured(tmp_path, lines, "--device", "1:1")


@pytest.mark.parametrize("text, said", (
    (b"", "no event of a request"),
    (b"nothing\nof that\n", "no event of a request"),
    (b"\0\1\2\n", "binary"),
    (ftrace(1, "Q", 8).encode(), "no block_rq_issue"),
    (ftrace(1, "D", 8).encode(), "no block_rq_complete"),
    ("\n".join((ftrace(1, "D", 8), ftrace(2, "C", 16))).encode(),
     "no request from its issue to its end"),
    (ftrace(1, "D", 8).replace("0.000001", "4711").encode(), "trace_clock"),
    (None, "No such file"),
))
def test_bad_traces(tmp_path, text, said):
    """One line, and nothing else."""
    path = tmp_path / "trace"
    if text is not None:
        path.write_bytes(text)
    ran = subprocess.run(
        [sys.executable, "-B", str(REPO / "scripts/lib/stages.py"), str(path)],
        capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert ran.stderr.startswith("stages: ") and ran.stderr.count("\n") == 1
    assert said in ran.stderr


@pytest.mark.parametrize("argv", (
    ["x", "--device", "259"], ["x", "--real-time", "a,,b"],
    ["x", "--plot", "x.txt"], ["x", "--format", "perf"], [],
))
def test_bad_options(capsys, argv):
    """Refused in one line."""
    with pytest.raises(SystemExit) as stop:
        stages.parse(argv)
    assert stop.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_comes_out(tmp_path, capsys):
    """A table, figures, and a picture."""
    pytest.importorskip("matplotlib")
    path = tmp_path / "trace"
    lines = []
    for n in range(50):
        lines += life(ftrace, 1000 + n * 2000, 800 * (n + 1), "QIidDCc",
                      prio=n % 2 + 1, tag=n % 4)
    path.write_text("\n".join(lines) + "\n")
    assert not stages.main([str(path), "--json", str(tmp_path / "j"), "--plot",
                            str(tmp_path / "p.png")])
    out = capsys.readouterr().out.splitlines()
    assert any(line.split()[:4] == ["real-time", "device", "25", "500.0"]
               for line in out)
    # 500 of 635
    assert [line.split()[-1] for line in out if " device " in line] == \
        ["78.7", "78.7"]
    found = json.loads((tmp_path / "j").read_text())
    assert found["classes"]["best effort"]["queueing"]["p99_us"] == 100
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert not stages.main([str(path), "--plot", str(tmp_path / "p.svg")])
    assert stages.main([str(path), "--json", str(tmp_path / "no" / "j")])
    assert capsys.readouterr().err.count("\n") == 1


def test_our_events_look_so():
    """As the kernel prints them, by the header's own formats."""
    text = (REPO / "common" / "elevator" / "trace.h").read_text(encoding="utf-8")
    printed = next(form for form in re.findall(r'TP_printk\("(.*?)"', text)
                   if " tag " in form)
    numbers = iter(range(1, 20))
    printed = re.sub(r"%(u|d|llu)", lambda _: str(next(numbers)), printed)
    found = blocktrace.FLASH.fullmatch(printed.replace("%s", "nrt_turn"))
    assert found.groupdict() == {
        "major": "1", "minor": "2", "sector": "4", "sectors": "5", "hctx": "6",
        "tag": "7", "class": "8", "prio": "9", "why": "nrt_turn"}
    for name in ("flash_insert", "flash_dispatch", "flash_complete"):
        assert f"DEFINE_EVENT(flash_request, {name}," in text
        assert name in blocktrace.KINDS
    order = (REPO / "k2" / "k2.h").read_text(encoding="utf-8")
    assert re.search(r"#define K2_RT_LEVELS\t(\d+)", order)[1] == \
        str(blocktrace.K2_META)


def test_a_pipe(tmp_path):
    """Standard input, and a reader that has closed the pipe."""
    text = "\n".join(life(blktrace, 1000, 800)) + "\n"
    ran = subprocess.run(
        [sys.executable, "-B", str(REPO / "scripts/lib/stages.py"), "-"],
        input=text, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and "device" in ran.stdout
