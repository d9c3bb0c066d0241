# SPDX-License-Identifier: GPL-2.0
"""scripts/trace2fio: formats, folding, limits, stand-ins; and fio reads it."""

import gzip
import importlib
import json
import lzma
import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

synthetic = importlib.import_module("synthetic")
trace2fio = importlib.import_module("trace2fio")
tracefile = importlib.import_module("tracefile")
tracelog = importlib.import_module("tracelog")

MIB = 1 << 20
CSV = tracefile.CSV_HEADER + "\n"
FTRACE = ("fio-4711    [001] d..1.  {}: block_{}: 259,0 {} 4096 () {} + {} "
          "[fio]\n")
BLKPARSE = "259,0    1       17     {}  4711  {}   {} {} [fio]\n"
LTTNG = ("[{}] (+0.000001000) lab block_rq_issue: {{ cpu_id = 1 }}, {{ dev = "
         f"{259 << 20}, sector = {{}}, nr_sector = {{}}, rwbs = {{}}, tid = 1, "
         "comm = \"fio\" }}\n")
# The same three requests in each format.
SAME = {
    "msr": "128166372003061629,hm,1,Read,383496192,32768,1331\n"
           "128166372003061729,hm,1,Write,2822144,4096,2326\n"
           "128166372013061629,hm,1,Read,383528960,512,83\n",
    "ssdsim": "7000000 0 749016 64 1\n7010000 0 5512 8 0\n"
              "1007000000 0 749080 1 1\n",
    "csv": CSV + "0.0,0,R,749016,64\n10.0,0,W,5512,8\n"
                 "1000000,0,R,749080,1\n",
    "ftrace": "# tracer: nop\nCPU:1 [LOST 7 EVENTS]\n"
              + FTRACE.format("7.000000", "queue", "R", 749016, 64)
              + FTRACE.format("7.000000", "rq_issue", "RA", 749016, 64)
              + FTRACE.format("7.000010", "rq_issue", "FWFS", 5512, 8)
              + FTRACE.format("7.000010", "rq_issue", "FF", 0, 0)
              + FTRACE.format("7.000011", "rq_issue", "DS", 64, 64)
              + FTRACE.format("8.000000", "rq_issue", "RM", 749080, 1)
              + FTRACE.format("8.000000", "rq_complete", "RM", 749080, 1),
    "blktrace": BLKPARSE.format("0.000000000", "Q", "R", "749016 + 64")
                + BLKPARSE.format("0.000001000", "D", "R", "749016 + 64")
                + BLKPARSE.format("0.000011000", "D", "WS", "5512 + 8")
                + BLKPARSE.format("0.000011500", "D", "FN", "")
                + BLKPARSE.format("1.000001000", "D", "R", "749080 + 1")
                + "\nCPU0 (259,0):\n Reads Queued:  2,  32KiB\n",
    "lttng": LTTNG.format("23:59:59.999990000", 749016, 64, 4)
             + LTTNG.format("00:00:00.000000000", 5512, 8, 1 | 16)
             + LTTNG.format("00:00:00.000000000", 64, 64, 1 | 2)
             + LTTNG.format("00:00:00.999990000", 749080, 1, 4 | 8),
    # By completion; the first was under way at the reset.
    "flashsim": "arrival_ns,begin_ns,done_ns,op,sector,sectors,chip,chips\n"
                "5000,5000,20000,W,5512,8,1,1\n30000,30000,30000,F,0,0,0,0\n"
                "-5000,-5000,40000,R,749016,64,2,3\n"
                "999995000,1,1000900000,R,749080,1,0,1\n",
}
WANT = [(1, "read", 383496192, 32768), (11, "write", 2822144, 4096),
        (1000001, "read", 383528960, 512)]


@pytest.fixture(autouse=True)
def no_traces(monkeypatch):
    """The caller's environment must not change these results."""
    monkeypatch.delenv("TRACES", raising=False)


def convert(tmp_path, text, *argv, name="trace"):
    """Requests of the log, and the summary."""
    path = tmp_path / name
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text)
    return run(tmp_path, str(path), *argv)


def run(tmp_path, *argv):
    """Like convert(), without writing a trace first."""
    out = tmp_path / "out"
    summary = trace2fio.convert(trace2fio.parse(
        [*argv, "--out", str(out)]))
    assert not list(tmp_path.glob("*.new"))
    return requests(out), summary


def requests(path):
    """Requests in a log."""
    lines = path.read_text().splitlines()
    assert lines[0].startswith("fio version 3 iolog")
    device = lines[1].split()[1]
    assert lines[1:3] == [f"0 {device} add", f"0 {device} open"]
    assert lines[-1].split()[1:] == [device, "close"]
    found = []
    for line in lines[3:-1]:
        when, name, kind, offset, length = line.split()
        assert name == device
        found.append((int(when), kind, int(offset), int(length)))
    assert found == sorted(found, key=lambda request: request[0])
    return found


def refused(capsys, *argv, status=2):
    """The one line of a refusal."""
    try:
        got = trace2fio.main(list(argv))
    except SystemExit as stop:
        got = stop.code
    err = capsys.readouterr().err
    assert got == status, err
    assert err.startswith("trace2fio: ") and err.count("\n") == 1, err
    return err


def rows(*lines):
    """CSV of (us, op, sector, sectors)."""
    return CSV + "".join(f"{when},0,{op},{sector},{count}\n"
                         for when, op, sector, count in lines)


# --- formats ----------------------------------------------------------------

@pytest.mark.parametrize("form", tracefile.FORMATS)
@pytest.mark.parametrize("given", [False, True])
def test_format(tmp_path, form, given):
    argv = ["--format", form] if given else []
    found, summary = convert(tmp_path, SAME[form], *argv)
    assert found == WANT
    assert summary["format"] == form
    assert not summary["stand_in"] and summary["bad_lines"] == 0
    assert (summary["reads"], summary["writes"]) == (2, 1)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed(tmp_path, pack):
    assert convert(tmp_path, pack(SAME["msr"].encode()))[0] == WANT


def test_windows_line_ends(tmp_path):
    text = SAME["msr"].replace("\n", "\r\n")
    assert convert(tmp_path, text.encode())[0] == WANT


def test_stdin_packed(tmp_path):
    out = tmp_path / "out"
    subprocess.run([REPO / "scripts" / "trace2fio", "-", "--out", out],
                   input=gzip.compress(SAME["csv"].encode()), check=True,
                   stdout=subprocess.DEVNULL)
    assert requests(out) == WANT


def test_wrong_format_given(tmp_path, capsys):
    path = tmp_path / "t"
    path.write_text(SAME["msr"])
    err = refused(capsys, str(path), "--format", "csv", status=1)
    assert tracefile.CSV_HEADER in err
    assert "2 bad lines" in refused(
        capsys, str(path), "--format", "ssdsim", "--max-bad", "2", status=1)


def test_no_known_format(tmp_path, capsys):
    path = tmp_path / "t"
    path.write_bytes(b"\x00\x1b[31mwhat is this\n")
    err = refused(capsys, str(path), status=1)
    assert "t:1:" in err and "msr, ssdsim, csv" in err and "\x1b" not in err


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_cut_off(tmp_path, capsys, pack):
    path = tmp_path / "t.packed"
    path.write_bytes(pack(SAME["csv"].encode() * 1000)[:-20])
    out = tmp_path / "o"
    assert "t.packed" in refused(capsys, str(path), "--out", str(out),
                                 status=1)
    assert [p.name for p in tmp_path.iterdir()] == ["t.packed"]


# --- bad lines --------------------------------------------------------------

BAD = {
    "128166372003061629,hm,1,Read,383496192,32768": "6 fields, want 7",
    "128166372003061629,hm,1,Trim,383496192,32768,1": "type 'trim'",
    "1281663720x3061629,hm,1,Read,383496192,32768,1": "timestamp",
    "128166372003061629,hm,1,Read,-4096,32768,1": "offset '-4096'",
    "128166372003061629,hm,1,Read,4096,0,1": "a length of 0",
    "128166372003061629,hm,1,Read,4096,2147483648,1": "a length of 2147",
    "128166372003061629,hm,1,Read,9223372036854775808,512,1": "an offset of",
    "5,hm,1,Read,4096,4096,1": "a year away",
    "y" * 100000: "longer than 65536",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_line(tmp_path, line):
    first, rest = SAME["msr"].split("\n", 1)
    found, summary = convert(tmp_path, f"{first}\n{line}\n{rest}")
    assert found == WANT
    assert summary["bad_lines"] == 1
    assert summary["bad_lines_first"][0].startswith("trace:2: ")
    assert BAD[line] in summary["bad_lines_first"][0]


@pytest.mark.parametrize("form, line", [
    ("ssdsim", "7 0 8 8 2"), ("ssdsim", "7 0 8 8"), ("csv", "1,0,D,8,8"),
    ("csv", "1e3,0,R,8,8"), ("csv", "1,0,R,8"), ("csv", "1.x,0,R,8,8")])
def test_bad_line_others(tmp_path, form, line):
    found, summary = convert(tmp_path, SAME[form] + line)
    assert found == WANT and summary["bad_lines"] == 1


def test_bad_limit(tmp_path, capsys):
    path = tmp_path / "t"
    path.write_text(SAME["msr"] + "what\n" * 3)
    assert trace2fio.main([str(path), "--max-bad", "3"]) == 0
    said = capsys.readouterr()
    assert said.err.count("left out") == 3 and "3 bad lines" in said.out
    err = refused(capsys, str(path), "--max-bad", "2", status=1)
    assert "more than 2 bad lines" in err and "t:4: 1 fields" in err


@pytest.mark.parametrize("text", ["", "\n\n", CSV, CSV + "what\n"])
def test_nothing_good(tmp_path, capsys, text):
    path = tmp_path / "t"
    path.write_text(text)
    assert "no request" in refused(capsys, str(path), status=1)


# --- time -------------------------------------------------------------------

def test_begins_with_first_request(tmp_path):
    found, summary = convert(tmp_path, rows((500, "R", 0, 8),
                                            (700.5, "R", 8, 8)))
    # Not 0: fio would not wait for what follows.
    assert [request[0] for request in found] == [1, 201]
    assert summary["span_s"] == pytest.approx(0.0002005, abs=1e-6)


def test_scale_and_compress(tmp_path):
    text = rows((0, "R", 0, 8), (100, "R", 8, 8), (1001, "W", 8, 8))
    assert [r[0] for r in convert(tmp_path, text, "--time-scale", "8")[0]] \
        == [1, 801, 8009]
    found, summary = convert(tmp_path, text, "--compress", "2.5")
    assert [r[0] for r in found] == [1, 41, 401]
    assert summary["compress"] == 2.5
    assert summary["trace_span_s"] == pytest.approx(0.001001)
    assert "times divided by 2.5" in (tmp_path / "out").read_text() \
        .split("\n", 1)[0]
    assert any("divided by 2.5" in line for line in trace2fio.report(summary))
    found, _ = convert(tmp_path, text, "--compress", "8", "--time-scale", "8")
    assert [r[0] for r in found] == [1, 101, 1002]


def test_closed(tmp_path):
    found, summary = convert(tmp_path, SAME["msr"], "--closed")
    assert [r[0] for r in found] == [0, 0, 0]
    assert [r[1:] for r in found] == [w[1:] for w in WANT]
    assert summary["closed"] and summary["mean_iops"] is None
    assert "times dropped" in "\n".join(trace2fio.report(summary))


@pytest.mark.parametrize("limit", [2, 3, 1000])
def test_sorted(tmp_path, monkeypatch, limit):
    """In memory, and through temporary files."""
    monkeypatch.setattr(tracelog, "SORTED_IN_MEMORY", limit)
    found, summary = convert(tmp_path, rows(
        (30, "R", 1, 1), (10, "R", 2, 1), (20, "R", 3, 1), (20, "W", 4, 1),
        (0, "R", 5, 1), (40, "R", 6, 1)))
    assert [r[2] // 512 for r in found] == [5, 2, 3, 4, 1, 6]
    assert [r[0] for r in found] == [1, 11, 21, 21, 31, 41]
    assert summary["out_of_order"] == 4


@pytest.mark.parametrize("limit", [2, 1000])
def test_in_order_is_not_sorted(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(tracelog, "SORTED_IN_MEMORY", limit)
    text = rows(*((5, "R", n, 1) for n in (9, 3, 7, 1, 8)))
    found, summary = convert(tmp_path, text)
    assert [r[2] // 512 for r in found] == [9, 3, 7, 1, 8]
    assert summary["out_of_order"] == 0


# --- place ------------------------------------------------------------------

def test_modulo(tmp_path):
    found, summary = convert(
        tmp_path, rows((0, "R", 2048 * 5 + 8, 8), (1, "W", 16, 8),
                       (2, "R", 4096 * 3 - 8, 16)),
        "--size", "2M", "--fold", "modulo")
    assert [r[2:] for r in found] == [(MIB + 4096, 4096), (8192, 4096),
                                      (2 * MIB - 8192, 8192)]
    assert (summary["moved"], summary["shifted"]) == (2, 1)
    assert summary["end_bytes"] == 2 * MIB


def test_dense(tmp_path):
    # Regions 100, 7, 8; one request lies across the border of 7 and 8.
    text = rows((0, "R", 2048 * 100 + 8, 8), (1, "W", 2048 * 8 - 8, 16),
                (2, "R", 2048 * 7, 8), (3, "R", 2048 * 101 - 8, 8))
    found, summary = convert(tmp_path, text, "--size", "3M", "--fold",
                             "dense")
    assert [r[2:] for r in found] == [
        (2 * MIB + 4096, 4096), (MIB - 4096, 8192), (0, 4096),
        (3 * MIB - 4096, 4096)]
    assert summary["moved"] == 4 and summary["regions_of_1_mib"] == 3


def test_dense_that_does_not_fit(tmp_path, capsys):
    path = tmp_path / "t"
    path.write_text(rows(*((n, "R", 2048 * 10 * n, 8) for n in range(4))))
    out = tmp_path / "o"
    argv = [str(path), "--fold", "dense", "--out", str(out)]
    err = refused(capsys, *argv, "--size", "3M", status=1)
    assert "4 regions" in err and "has 3" in err
    assert not out.exists() and not list(tmp_path.glob("*.new"))
    assert trace2fio.main([*argv, "--size", "4M"]) == 0
    # A skipped request takes no room, unless it is written, too.
    assert trace2fio.main([*argv, "--size", "3M", "--skip", "1"]) == 0
    refused(capsys, *argv, "--size", "3M", "--skip", "1", "--warmup",
            str(tmp_path / "w"), status=1)


def test_dense_keeps_devices_apart(tmp_path):
    text = CSV + "0,a,R,8,8\n1,b,R,8,8\n"
    assert [r[2] for r in convert(tmp_path, text)[0]] == [4096, 4096]
    found, summary = convert(tmp_path, text, "--size", "2M", "--fold",
                             "dense")
    assert [r[2] for r in found] == [4096, MIB + 4096]
    assert summary["devices"] == {"a": 1, "b": 1}


def test_beyond_size(tmp_path, capsys):
    path = tmp_path / "t"
    path.write_text(rows((0, "R", 2048 - 8, 16)))
    assert "--fold" in refused(capsys, str(path), "--size", "1M", status=1)
    assert trace2fio.main([str(path), "--size", "2M"]) == 0
    path.write_text(rows((0, "R", 2048, 4096)))
    assert "longer than --size" in refused(
        capsys, str(path), "--size", "1M", "--fold", "modulo", status=1)


def test_align(tmp_path):
    found, summary = convert(
        tmp_path, rows((0, "R", 7, 2), (1, "W", 8, 8), (2, "W", 9, 1)),
        "--align", "4096")
    assert [r[2:] for r in found] == [(0, 8192), (4096, 4096), (4096, 4096)]
    assert summary["realigned"] == 2
    # Bytes that are no sectors.
    text = "1,h,0,Read,700,100,1\n"
    assert convert(tmp_path, text)[0] == [(1, "read", 512, 512)]


def test_max_length(tmp_path, capsys):
    text = rows((0, "W", 8, 20), (5, "R", 0, 8))
    found, summary = convert(tmp_path, text, "--max-length", "4K")
    assert found == [(1, "write", 4096, 4096), (1, "write", 8192, 4096),
                     (1, "write", 12288, 2048), (6, "read", 0, 4096)]
    assert summary["split"] == 1 and summary["bytes"] == 28 * 512
    assert "10240" in refused(capsys, str(tmp_path / "trace"), "--long",
                              "refuse", "--max-length", "4K", status=1)


# --- parts ------------------------------------------------------------------

def test_skip_and_warm_up(tmp_path):
    text = rows(*((100 * n, "R", 8 * n, 8) for n in range(6)))
    warm = tmp_path / "warm"
    found, summary = convert(tmp_path, text, "--skip", "2", "--max-requests",
                             "3", "--warmup", str(warm))
    assert [r[2] // 4096 for r in found] == [2, 3, 4]
    assert [r[0] for r in found] == [1, 101, 201]
    assert [r[2] // 4096 for r in requests(warm)] == [0, 1]
    assert summary["skipped"] == 2 and summary["warmup"]["requests"] == 2


def test_skip_too_many(tmp_path, capsys):
    path = tmp_path / "t"
    path.write_text(SAME["csv"])
    assert "only 3" in refused(capsys, str(path), "--skip", "3", status=1)


@pytest.mark.parametrize("word", ["hm_1", "hm1", "1", "1,7"])
def test_device_filter(tmp_path, word):
    other = SAME["msr"].replace(",hm,1,", ",hm,0,")
    found, summary = convert(tmp_path, other + SAME["msr"],
                             "--device-filter", word)
    assert found == WANT
    assert summary["other_device"] == 3
    assert summary["devices"] == {"hm_1": 3}


def test_device_filter_nothing(tmp_path, capsys):
    path = tmp_path / "t"
    path.write_text(SAME["msr"])
    err = refused(capsys, str(path), "--device-filter", "2", status=1)
    assert "hm_1" in err


def test_device_name(tmp_path):
    convert(tmp_path, SAME["csv"], "--device", "/dev/nvme0n1")
    assert "read" in (tmp_path / "out").read_text()
    assert "flashsim" not in (tmp_path / "out").read_text()


def test_csv_out_is_the_same_trace(tmp_path):
    out = tmp_path / "again"
    text = rows((0, "R", 8, 8), (1.5, "W", 16, 24), (7, "R", 0, 1))
    (tmp_path / "t").write_text(text)
    trace2fio.convert(trace2fio.parse(
        [str(tmp_path / "t"), "--to", "csv", "--out", str(out)]))
    assert run(tmp_path, str(out))[0] == run(tmp_path,
                                             str(tmp_path / "t"))[0]


# --- the summary ------------------------------------------------------------

def test_summary(tmp_path):
    path = tmp_path / "s.json"
    _, summary = convert(tmp_path, rows(
        (0, "W", 0, 8), (50000, "W", 8, 8), (60000, "W", 0, 16),
        (1000000, "R", 2048, 8)), "--summary", str(path))
    assert json.loads(path.read_text()) == summary
    want = {"requests": 4, "reads": 1, "writes": 3, "read_share": 0.25,
            "bytes": 40 * 512, "mean_read_bytes": 4096,
            "span_s": 1.0, "mean_iops": 4.0, "peak_iops_in_100_ms": 30,
            "longest_gap_s": 0.94, "largest_bytes": 8192,
            "footprint_bytes": 3 * 4096, "written_footprint_bytes": 8192,
            "rewritten_share": 0.5, "regions_of_1_mib": 2,
            "end_bytes": MIB + 4096, "sequential_read_share": 0.0,
            "sequential_write_share": pytest.approx(1 / 3, abs=1e-6)}
    assert {key: summary[key] for key in want} == want


# --- options ----------------------------------------------------------------

@pytest.mark.parametrize("argv, words", [
    ((), "TRACE"), (("T", "--stand-in", "msn"), "not both"),
    (("/nonexistent",), "/nonexistent"),
    (("T", "--format", "blk"), "'blk': want one of"),
    (("T", "--compress", "0"), "'0': want a number from 0.001 to 1000000"),
    (("T", "--time-scale", "-2"), "0.001"),
    (("T", "--time-scale", "nan"), "'nan'"),
    (("T", "--size", "1K"), "'1K': want bytes from 1048576"),
    (("T", "--size", "1X"), "'1X'"),
    (("T", "--align", "1000"), "'1000': want a power of two from 512"),
    (("T", "--align", "256"), "'256'"),
    (("T", "--fold", "modulo"), "--size"),
    (("T", "--fold", "other", "--size", "1M"), "modulo, dense"),
    (("T", "--size", "1049088", "--align", "4096"), "multiple of --align"),
    (("T", "--max-length", "6K", "--align", "4K"), "multiple of --align"),
    (("T", "--max-requests", "0"), "'0': want a whole number from 1"),
    (("T", "--max-bad", "-1"), "whole number from 0"),
    (("T", "--device", "a b"), "'a b'"),
    (("T", "--device-filter", ","), "','"),
    (("T", "--warmup", "w"), "--skip"),
    (("T", "--verify"), "--out"),
    (("T", "--seed", "1"), "--stand-in"),
    (("T", "--requests", "5"), "--stand-in"),
    (("T", "--closed", "--compress", "2"), "--compress"),
    (("T", "--out", "/nonexistent/o"), "directory that exists"),
    (("T", "--out", "/dev/fd"), "'/dev/fd': want the name of a plain file"),
    (("T", "--out", "T"), "different files"),
    (("--stand-in", "tpch"), "'tpch': want one of msn, tpcc, postmark, hm_0"),
    (("--stand-in", "msn", "--seed", "x"), "'x': want a whole number from 0"),
    (("--stand-in", "msn", "--requests", "0"), "from 1 to 100000000"),
])
def test_bad_option(tmp_path, monkeypatch, capsys, argv, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "T").write_text(SAME["csv"])
    assert words in refused(capsys, *argv)
    assert (tmp_path / "T").read_text() == SAME["csv"]


def test_devices_are_no_targets(tmp_path, capsys):
    """The new file would take the name, and root may do that in /dev."""
    (tmp_path / "T").write_text(SAME["csv"])
    os.mkfifo(tmp_path / "pipe")
    for option in ("--out", "--summary"):
        assert "plain file" in refused(capsys, str(tmp_path / "T"), option,
                                       str(tmp_path / "pipe"))
    assert (tmp_path / "pipe").is_fifo()


# --- stand-ins --------------------------------------------------------------

VOLUMES = ("hm_0 hm_1 prn_0 prn_1 proj_1 proj_3 proj_4 prxy_0 rsrch_0 src1_2 "
           "src2_0 src2_2 stg_0 wdev_0 usr_0").split()


def test_all_stand_ins_are_there():
    assert list(synthetic.STAND_INS) == [
        "msn", "tpcc", "postmark", *VOLUMES,
        *(f"piq15-{name}{end}" for end in ("", "-head") for name in VOLUMES)]


def test_deterministic(tmp_path):
    def text(*argv):
        run(tmp_path, "--stand-in", "hm_0", "--requests", "2000", *argv)
        return (tmp_path / "out").read_text()
    first = text()
    assert text() == first == text("--seed", "1")
    assert text("--seed", "2") != first
    # A longer one begins as a shorter one, but for the scale of its times.
    few = [request[2:] for request in synthetic.synthesize("hm_0", 3, 1)]
    assert few == [request[2:] for request in
                   synthetic.synthesize("hm_0", 300, 1)][:3]
    assert few != [request[2:] for request in
                   synthetic.synthesize("hm_0", 3, 2)]
    # And it is the same on other machines and with other versions of Python.
    assert few == [(False, 62046208, 32768),
                   (False, 809652224, 4096),
                   (False, 396148736, 4096)]


@pytest.mark.parametrize("name", synthetic.STAND_INS)
def test_stand_in_has_the_stated_statistics(name):
    args = trace2fio.parse(["--stand-in", name, "--requests", "20000",
                            "--seed", "7"])
    got = trace2fio.convert(args)
    want = got["stand_in_stated"]
    assert got["stand_in"] is True and got["requests"] == 20000
    assert got["mean_iops"] == pytest.approx(want["mean_iops"], rel=1e-3)
    assert got["read_share"] == pytest.approx(want["read_share"], abs=0.012)
    assert got["end_bytes"] <= want["footprint_bytes_at_most"]
    for kind in ("read", "write"):
        # Few of a kind, or sizes far apart: the mean itself varies.
        count = got[f"{kind}s"]
        sizes = getattr(synthetic.STAND_INS[name], f"{kind}_sizes")
        mean = synthetic.mean_of(sizes)
        square = synthetic.mean_of([(s * s, w) for s, w in sizes])
        tolerance = 4 * ((square - mean**2) / count) ** 0.5 * 512 + 1
        assert got[f"mean_{kind}_bytes"] == pytest.approx(
            want[f"mean_{kind}_bytes"], abs=tolerance)
        share = want[f"sequential_{kind}_share"]
        assert got[f"sequential_{kind}_share"] == pytest.approx(
            # By chance, where there are few places to begin at.
            share, abs=(0.03 if name.startswith("piq15") else 0.01) + 4 * (share * (1 - share) / count) ** 0.5)
    # Requests arrive in bursts as high as stated: not as with the mean rate
    # alone, six standard deviations of it apart.
    peak, mean, burst = (value / 10 for value in (
        got["peak_iops_in_100_ms"], want["mean_iops"], want["burst_iops"]))
    if name != "tpcc":
        assert peak > mean + 6 * mean**0.5
    if want["burst_s"] >= 0.1:
        assert 0.7 * burst < peak < 1.3 * (burst + 5 * burst**0.5)


def test_stand_in_means_are_the_sources():
    """Sizes fitted to a mean have it."""
    for line in synthetic.PIQ_TABLE_1.split("\n")[1:-3]:
        name, reads, writes, gap, read, write, *_ = line.split()
        stated = synthetic.STAND_INS[name].stated()
        assert stated["mean_read_bytes"] == pytest.approx(512 * float(read))
        assert stated["mean_write_bytes"] == pytest.approx(512 * float(write))
        assert stated["mean_iops"] == pytest.approx(1000 / float(gap),
                                                    rel=1e-3)
        assert stated["read_share"] == pytest.approx(
            int(reads) / (int(reads) + int(writes)), abs=1e-4)


def test_rewritten_share_of_a_million():
    """The share on the one volume that the footprint was fitted to; 0.70 is published."""
    out = tracelog.Output(None, "iolog", "x", "")
    for _, _, read, offset, length in synthetic.synthesize("hm_1", 10**6, 5):
        if not read:
            out.add(None, read, offset, length)
    assert out.statistics()["rewritten_share"] == pytest.approx(0.70, abs=.02)


def test_stand_in_is_marked(tmp_path, capsys):
    out, again = tmp_path / "o", tmp_path / "again"
    assert trace2fio.main(["--stand-in", "msn", "--requests", "50", "--to",
                           "csv", "--out", str(out)]) == 0
    assert "stand-in, not a trace" in capsys.readouterr().out
    # It stays one when it is read again as CSV.
    summary = tmp_path / "s"
    assert trace2fio.main([str(out), "--out", str(again), "--summary",
                           str(summary)]) == 0
    assert "stand-in, not a trace" in capsys.readouterr().out
    assert json.loads(summary.read_text())["stand_in"] is True
    assert "not a trace" in again.read_text().split("\n", 1)[0]
    assert len(requests(again)) == 50


def test_stand_in_count(tmp_path):
    found, summary = run(tmp_path, "--stand-in", "prxy_0", "--skip", "30",
                         "--max-requests", "70")
    assert len(found) == 70 and summary["skipped"] == 30


def test_stand_in_folded(tmp_path):
    _, summary = run(tmp_path, "--stand-in", "tpcc", "--requests", "500",
                     "--size", "64M", "--fold", "modulo")
    assert summary["end_bytes"] <= 64 * MIB
    _, summary = run(tmp_path, "--stand-in", "tpcc", "--requests", "500",
                     "--size", "600M", "--fold", "dense")
    assert summary["end_bytes"] <= 600 * MIB


# --- for other programs -----------------------------------------------------

def test_provide(tmp_path, monkeypatch):
    out = tmp_path / "out"
    folder = tmp_path / "traces"
    folder.mkdir()
    got = trace2fio.provide("proj_1", folder, out, max_requests=2, seed=3)
    assert got["stand_in"] and got["stand_in_seed"] == 3
    assert got["requests"] == 2
    (folder / "proj_10.csv").write_text(SAME["csv"])
    (folder / "MANIFEST.md").write_text("")
    assert trace2fio.provide("proj_1", folder, out)["stand_in"]
    (folder / "PROJ_1.csv.gz").write_bytes(
        gzip.compress(SAME["msr"].encode()))
    got = trace2fio.provide("proj_1", folder, out, max_requests=2, seed=3,
                            size="1M", fold="modulo", closed=False)
    assert not got["stand_in"] and got["requests"] == 2
    assert got["source"] == "PROJ_1.csv.gz" and got["size_bytes"] == MIB
    monkeypatch.setenv("TRACES", str(folder))
    assert not trace2fio.provide("proj_1", None, out)["stand_in"]
    (folder / "proj_1.old").write_text("")
    with pytest.raises(tracefile.TraceError, match="several files"):
        trace2fio.provide("proj_1", None, out)


def test_provide_refuses(tmp_path):
    with pytest.raises(tracefile.TraceError, match="'what': no trace"):
        trace2fio.provide("what", tmp_path, tmp_path / "o")
    with pytest.raises(tracefile.TraceError, match="want a directory"):
        trace2fio.provide("msn", tmp_path / "not", tmp_path / "o")
    with pytest.raises(ValueError, match="--compress.*0.001"):
        trace2fio.provide("msn", tmp_path, tmp_path / "o", compress=0)
    with pytest.raises(ValueError, match="--colour"):
        trace2fio.provide("msn", tmp_path, tmp_path / "o", colour=1)


def test_a_reader_that_has_enough(tmp_path):
    """No word of it, and the status that a shell would give."""
    for argv in (["--list"], ["--stand-in", "hm_0", "--requests", "9", "--size", "16M",
                              "--fold", "modulo", "--out", tmp_path / "x"]):
        read, write = os.pipe()
        os.close(read)
        # Buffered, as it is for most users: what is left is written at the end.
        done = subprocess.run([REPO / "scripts" / "trace2fio", *argv], stdout=write,
                              stderr=subprocess.PIPE, check=False,
                              env={**os.environ, "PYTHONUNBUFFERED": ""})
        os.close(write)
        assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


# --- fio --------------------------------------------------------------------

needs_fio = pytest.mark.skipif(not shutil.which("fio"), reason="no fio")


def replay(folder, log, *argv):
    """fio's job after a replay on a file."""
    target = folder / "target"
    with open(target, "wb") as file:
        file.truncate(16 * MIB)
    done = subprocess.run(
        ["fio", "--name=replay", f"--read_iolog={log}",
         f"--replay_redirect={target}", "--output-format=json", *argv],
        cwd=folder, check=True, capture_output=True, text=True)
    assert "iolog" not in done.stderr
    return json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]


@needs_fio
def test_fio_replays_it_on_a_file(tmp_path):
    _, summary = run(tmp_path, "--stand-in", "hm_0", "--requests", "300",
                     "--size", "16M", "--fold", "modulo", "--closed",
                     "--verify")
    job = replay(tmp_path, tmp_path / "out", "--ioengine=psync")
    for kind in ("read", "write"):
        assert job[kind]["total_ios"] == summary[f"{kind}s"]
        assert job[kind]["io_bytes"] == summary[f"{kind}_bytes"]


@needs_fio
def test_fio_keeps_the_times(tmp_path):
    """The first gap, too; and what completes is seen, not only when the
    queue is full. That is bought with a depth of 1, see below."""
    convert(tmp_path, rows((0, "R", 0, 8), (150000, "R", 8, 8),
                           (300000, "W", 16, 8)))
    job = replay(tmp_path, tmp_path / "out", "--ioengine=libaio",
                 "--iodepth=8", "--iodepth_batch_complete_min=0")
    assert job["job_runtime"] >= 300
    assert job["read"]["clat_ns"]["N"] == 2
    assert job["write"]["clat_ns"]["N"] == 1


@needs_fio
@pytest.mark.parametrize("more, overlaps", [
    ((), True), (("--iodepth_batch_complete_min=0",), False)])
def test_what_lets_a_replay_overlap(tmp_path, more, overlaps):
    """Of requests at one time all but the first find others in flight, unless
    an option makes fio look for completions always: then it waits for them."""
    convert(tmp_path, rows(*((n // 50, "R", 8 * n, 8) for n in range(200))))
    job = replay(tmp_path, tmp_path / "out", "--ioengine=libaio",
                 "--iodepth=64", *more)
    assert (job["iodepth_level"]["1"] < 50) == overlaps


@needs_fio
def test_verify_can_fail(tmp_path):
    out = tmp_path / "out"
    _, summary = convert(tmp_path, SAME["csv"])
    assert "2 reads and 1 writes" in trace2fio.verify(out, summary)
    text = out.read_text()
    for broken in (text.replace(" write ", " scribble "),
                   text.replace("fio version", "version"),
                   text.replace("3 iolog", "3 iolog\nwhat")):
        out.write_text(broken)
        with pytest.raises(tracefile.TraceError, match="--verify"):
            trace2fio.verify(out, summary)


def test_head_of_a_saved_ftrace(tmp_path):
    """Events overwritten in the tracer's buffer are lost."""
    path = tmp_path / "trace"
    path.write_text("# tracer: nop\n#\n"
                    "# entries-in-buffer/entries-written: 100/117   #P:2\n"
                    + SAME["ftrace"])
    reader = tracefile.Reader(str(path), "auto", 0)
    assert len(list(reader)) == 3 and reader.lost == 17 + 7


# --- real traces, if there are any ------------------------------------------

REAL = os.environ.get("TRACES")


@pytest.mark.skipif(not REAL, reason="TRACES names no folder of traces")
@pytest.mark.parametrize("name", ["msn", "tpcc", "postmark", *VOLUMES]
                         if REAL else ["all"])
def test_real_trace_beside_its_stand_in(tmp_path, name):
    real = trace2fio.provide(name, REAL, tmp_path / "r", max_requests=150000)
    if real["stand_in"]:
        pytest.skip("this one is not there")
    same = trace2fio.provide(name, tmp_path, tmp_path / "s",
                             max_requests=real["requests"])
    for key in ("mean_iops", "read_share", "mean_read_bytes",
                "mean_write_bytes", "regions_of_1_mib"):
        assert same[key] == pytest.approx(real[key], rel=0.12), key
    for key in ("sequential_read_share", "sequential_write_share"):
        assert same[key] == pytest.approx(real[key], abs=0.03), key
    # Not modelled for these three; a file system that looks for free room,
    # as below Postmark, writes to new places more often.
    assert same["rewritten_share"] == pytest.approx(
        real["rewritten_share"], abs=0.2 if name == "postmark" else 0.05)
