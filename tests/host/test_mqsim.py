# SPDX-License-Identifier: GPL-2.0
"""scripts/trace2fio --to mqsim: what MQSim would read of a trace."""

import importlib
import pathlib
import sys
from xml.etree import ElementTree

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

mqsim = importlib.import_module("mqsim")
trace2fio = importlib.import_module("trace2fio")

ISSUE = ("fio-1  [000] d..1.  {:.6f}: block_rq_{}: 259,{} {} 4096 () {} + 8 "
         "[fio]\n")
# Two at once, one that is issued twice, another disk.
TRACE = ("# tracer: nop\n" + "".join(ISSUE.format(*row) for row in (
    (2.5, "issue", 0, "R", 800), (2.5, "issue", 0, "WS", 80),
    (2.50001, "issue", 1, "R", 8), (2.6, "issue", 0, "RM", 8000000),
    (2.7, "requeue", 0, "RM", 8000000), (2.8, "issue", 0, "RM", 8000000))))


def convert(tmp_path, *argv, text=TRACE):
    """(lines that MQSim gets, summary)."""
    source, out = tmp_path / "trace", tmp_path / "out"
    source.write_text(text)
    summary = trace2fio.convert(trace2fio.parse(
        [str(source), "--to", "mqsim", "--out", str(out), *argv]))
    return out.read_text().splitlines(), summary


def refused(capsys, *argv):
    """The one line of a refusal."""
    with pytest.raises(SystemExit) as stop:
        trace2fio.parse(list(argv))
    err = capsys.readouterr().err
    assert stop.value.code == 2
    assert err.startswith("trace2fio: ") and err.count("\n") == 1, err
    return err


def test_lines_are_what_mqsim_takes(tmp_path):
    """ns, device, sector, sectors, 0 for a write; times never decrease."""
    lines, summary = convert(tmp_path, "--device-filter", "259:0")
    assert lines == ["1 0 800 8 1", "1 0 80 8 0", "100000001 0 8000000 8 1",
                     "300000001 0 8000000 8 1"]
    assert summary["other_device"] == 1 and summary["format"] == "ftrace"
    assert "1 requests handed back" in summary["notes"][0]


def test_nothing_but_requests_is_in_it(tmp_path):
    """A line of another kind would end the trace there."""
    lines, summary = convert(tmp_path, "--compress", "16", "--size", "1M",
                             "--fold", "modulo")
    assert len(lines) == summary["requests"] == 5
    for line in lines:
        words = line.split(" ")
        assert len(words) == 5 and all(word.isdigit() for word in words)
        assert int(words[2]) + int(words[3]) <= 2048


def test_lost_events_are_said(tmp_path):
    """Events that the tracer had no room for."""
    _, summary = convert(tmp_path, text="CPU:0 [LOST 12 EVENTS]\n" + TRACE)
    assert "lost 12 events" in "\n".join(summary["notes"])
    assert not summary["bad_lines"]


def test_a_part_keeps_its_times(tmp_path):
    """Two flows of one trace fit together."""
    first, _ = convert(tmp_path, "--range", "0-1M")
    second, summary = convert(tmp_path, "--range", "1M-1T")
    assert first == ["1 0 800 8 1", "1 0 80 8 0", "10001 0 8 8 1"]
    assert second == ["100000001 0 8000000 8 1", "300000001 0 8000000 8 1"]
    assert summary["outside"] == 3


def test_a_part_of_what_is_not_in_order(tmp_path):
    """flashsim's log is in order of completion: the earliest request is not first."""
    text = ("arrival_ns,done_ns,op,sector,sectors\n900,1000,R,8,8\n"
            "-100,1100,W,4096,8\n950,1200,R,16,8\n")
    lines, _ = convert(tmp_path, "--range", "0-1M", text=text)
    assert lines == ["1001 0 8 8 1", "1051 0 16 8 1"]


def test_nothing_in_the_range(tmp_path):
    with pytest.raises(trace2fio.TraceError, match="none of 5 requests"):
        convert(tmp_path, "--range", "1G-2G", "--size", "1M")


def test_workload(tmp_path):
    """One flow that names the trace and the whole device."""
    path = tmp_path / "w & x.xml"
    convert(tmp_path, "--xml", str(path), "--geometry", "2x3x1x4",
            "--compress", "2")
    text = path.read_text()
    assert "times divided by 2" in text
    flow = ElementTree.fromstring(text).find(
        "IO_Scenario/IO_Flow_Parameter_Set_Trace_Based")
    found = {part.tag: part.text for part in flow}
    assert found["File_Path"] == str(tmp_path / "out")
    assert [found[f"{part}_IDs"] for part in mqsim.PARTS] == \
        ["0,1", "0,1,2", "0", "0,1,2,3"]
    assert found["Time_Unit"] == "NANOSECOND"
    assert found["Relay_Count"] == "1"
    assert found["Percentage_To_Be_Executed"] == "100"


def test_names_are_escaped():
    """A name must not end the comment, or the element."""
    text = mqsim.workload("/a/<b>&c", mqsim.GEOMETRY, "x--y", "z-->")
    root = ElementTree.fromstring(text)
    assert root.find(".//File_Path").text == "/a/<b>&c"


@pytest.mark.parametrize("argv, said", [
    (("--to", "mqsim"), "want --out"),
    (("--to", "mqsim", "--out", "o", "--closed"), "--closed"),
    (("--to", "what"), "'what': want one of iolog, csv, mqsim"),
    (("--xml", "x"), "--xml: only with --to mqsim"),
    (("--to", "mqsim", "--out", "o", "--geometry", "1x1x1x1"), "--xml"),
    (("--geometry", "8x4x2"), "'8x4x2': want four whole numbers from 1 to 64"),
    (("--geometry", "0x4x2x2"), "'0x4x2x2'"),
    (("--geometry", "65x4x2x2"), "'65x4x2x2'"),
    (("--to", "mqsim", "--out", "o", "--xml", "o"), "different files"),
    (("--range", "64M-1M"), "'64M-1M': want FROM-TO"),
    (("--range", "1M"), "'1M': want FROM-TO"),
    (("--range", "x-1M"), "'x-1M': want FROM-TO")])
def test_bad_options(tmp_path, monkeypatch, capsys, argv, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t").write_text(TRACE)
    assert said in refused(capsys, "t", *argv)


def test_a_log_without_its_columns(tmp_path):
    with pytest.raises(trace2fio.TraceError, match="trace:1: .*want arrival_ns"):
        convert(tmp_path, text="arrival_ns,done_ns,op\n1,2,R\n")


def test_a_clock_that_only_counts(tmp_path):
    """ftrace's counter is no time."""
    with pytest.raises(trace2fio.TraceError, match="the trace's clock counts"):
        convert(tmp_path, text=ISSUE.format(1, "issue", 0, "R", 8).replace(
            "1.000000", "1000"))
