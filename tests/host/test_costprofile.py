# SPDX-License-Identifier: GPL-2.0
"""scripts/bench-cost --profile without a virtual machine: counts to tables."""

import importlib
import json
import pathlib
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

benchcost = importlib.import_module("benchcost")
costprofile = importlib.import_module("costprofile")

KALLSYMS = """\
ffffffff81000000 T _stext
ffffffff81000000 T _text_begin
ffffffff81000010 t __pfx_dd_has_work
ffffffff81000020 t dd_has_work
ffffffff81000080 T blk_mq_run_hw_queue
ffffffff81000080 W alias_with_a_longer_name
ffffffff81000100 D no_function
ffffffffc0000000 t k2_select\t[k2]
ffffffffc0000040 t flash_ready\t[k2]
ffffffffc0001000 t flash_ready\t[piq]
"""
# Two runs of a cell, 100 and 1100 I/Os: marks 2 and 4 end them.
COUNTS = """\
mark 1
0 9 9999 0
mark 2
0 9 1000 0
ffffffff81000020 50 500 0
ffffffff81000080 100 1000 200
mark 3
ffffffffc0000000 1 7 7
mark 4
0 99 21000 0
ffffffff81000020 50 500 0
ffffffff81000080 3100 21000 10200
ffffffff81000090 500 0 5000
ffffffffc0000000 1000 0 86000
ffffffffc0000044 1000 155000 0
ffffffffc0000048 1000 0 20000
"""
PARTS = [("short", 100, 2), ("long", 1100, 4)]


def symbols():
    return costprofile.Symbols(KALLSYMS)


def profile(parts=None):
    return costprofile.per_io(dict(costprofile.marks(COUNTS.splitlines(True))),
                              parts or PARTS, symbols())


def test_addresses_are_functions_of_modules():
    known = symbols()
    assert known.at(0xffffffff81000021) == ("dd_has_work", "kernel")
    assert known.at(0xffffffffc000003f) == ("k2_select", "k2")
    assert known.at(0xffffffffc0000040) == ("flash_ready", "k2")
    assert known.at(0xffffffffc0001fff) == ("flash_ready", "piq")
    assert known.at(0) == ("user space", "user space")
    # Of two names of an address the shorter one, but no section's boundary.
    assert known.at(0xffffffff81000081) == ("blk_mq_run_hw_queue", "kernel")
    assert costprofile.Symbols("0f0 T a_rather_long_name\n0f0 T __x_end\n").at(0xf0)[0] == \
        "a_rather_long_name"


def test_without_addresses_there_is_no_profile():
    for text in ("", "0000000000000000 T _text\n", "nonsense\n"):
        with pytest.raises(costprofile.ProfileError, match="as root"):
            costprofile.Symbols(text)


def test_counts_since_a_mark():
    found = dict(costprofile.marks(COUNTS.splitlines(True)))
    assert set(found) == {1, 2, 3, 4}
    assert found[2][0xffffffff81000080] == (100, 1000, 200)
    # A block that was translated twice.
    assert list(costprofile.marks(["mark 1\n", "ff 1 2 3\n", "ff 10 20 30\n"])) == [
        (1, {0xff: (11, 22, 33)})]
    assert not list(costprofile.marks([]))
    for bad in ("ff 1 2 3", "mark 1\nff 1 2", "mark 1\nff x 2 3", "mark 1\nff 1 2 3 4", "mark 1\n\n",
                "mark x"):
        with pytest.raises(costprofile.ProfileError, match="no line of a profile"):
            list(costprofile.marks(bad.splitlines(True)))


def test_an_io_takes_what_the_longer_run_took_more():
    found = profile()
    assert found[("user space", "user space")] == [20, 0, 0]
    assert found[("flash_ready", "k2")] == [175, 20, 0]
    assert found[("k2_select", "k2")] == [86, 86, 1]
    # Two blocks of one function; only the first one is a call of it.
    assert found[("blk_mq_run_hw_queue", "kernel")] == [35, 15, 3]
    # Work that each run does once is no I/O's.
    assert found[("dd_has_work", "kernel")] == [0, 0, 0]
    # The sum over several disks.
    assert profile(PARTS * 2) == found


@pytest.mark.parametrize("parts,words", [
    ([("short", 100, 2)], "1 short and 0 long"),
    ([], "0 short and 0 long"),
    ([("short", 100, 2), ("long", 1100, 9)], "no counts of mark 9"),
    ([("short", 100, 2), ("long", 100, 4)], "not the longer ones"),
])
def test_runs_that_do_not_fit(parts, words):
    with pytest.raises(costprofile.ProfileError, match=words):
        costprofile.per_io(dict(costprofile.marks(COUNTS.splitlines(True))), parts, symbols())


@pytest.mark.parametrize("function,module,scheduler,own", [
    ("flash_ready", "k2", "k2", True),
    ("flash_ready", "piq", "k2", False),
    ("kyber_dispatch_request", "kyber_iosched", "kyber", True),
    ("__dd_dispatch_request", "kernel", "mq-deadline", True),
    ("dd_has_work", "kernel", "k2", False),
    ("add_wait_queue", "kernel", "mq-deadline", False),
    ("blk_mq_run_hw_queue", "kernel", "none", False),
])
def test_whose_function(function, module, scheduler, own):
    assert costprofile.is_own(function, module, scheduler) is own


def cell(base=None):
    return {"id": "null-32.k2", "disk": "null", "depth": 32, "scheduler": "k2",
            "settings": "-", "busy_ns_per_io": 314.4,
            **costprofile.result(profile(), base, "k2")}


def test_result_has_sums_and_differences():
    base = {("blk_mq_run_hw_queue", "kernel"): [30, 10, 1],
            ("null_queue_rqs", "null_blk"): [51, 0, 1], ("noise", "kernel"): [0.01, 0, 0]}
    found = cell(base)
    assert found["instructions_per_io"] == 316
    assert found["interrupts_off_per_io"] == 121
    assert found["own_per_io"] == 261 and found["own_interrupts_off_per_io"] == 106
    assert found["modules"] == {"k2": 261, "kernel": 35, "user space": 20}
    functions = {f["function"]: f for f in found["functions"]}
    assert list(functions) == ["flash_ready", "k2_select", "blk_mq_run_hw_queue",
                               "user space", "null_queue_rqs"]
    assert functions["blk_mq_run_hw_queue"]["over_none"] == 5
    # A function that only `none` calls.
    assert functions["null_queue_rqs"]["over_none"] == -51
    assert functions["flash_ready"] == {
        "function": "flash_ready", "module": "k2", "instructions_per_io": 175,
        "interrupts_off_per_io": 20, "calls_per_io": 0, "share": round(175 / 316, 6), "over_none": 175,
        "own": True}
    json.dumps(found)


def test_table_has_own_functions_first_then_the_largest_differences():
    base = {("blk_mq_run_hw_queue", "kernel"): [30, 10, 1],
            ("null_queue_rqs", "null_blk"): [51, 0, 1],
            ("user space", "user space"): [20, 0, 0]}
    text = costprofile.table(cell(base), 101)
    rows = [line.split() for line in text]
    assert rows[0][:5] == ["k2", "on", "null,", "depth", "32:"] and "314" in rows[0]
    assert rows[2] == ["316.0", "100.00", "121.0", "+215.0", "-", "all"]
    assert rows[3] == ["121.0", "38.29", "121.0", "-", "-", "with", "interrupts", "off"]
    assert rows[4] == ["261.0", "82.59", "106.0", "+261.0", "-", "own"]
    assert [row[-2:] for row in rows[5:7]] == [["flash_ready", "[k2]"],
                                               ["k2_select", "[k2]"]]
    assert "difference from none" in text[7]
    assert [row[4:] for row in rows[8:]] == [
        ["-", "null_queue_rqs", "[null_blk]"],
        ["3.00", "blk_mq_run_hw_queue", "[kernel]"], ["-", "user", "space"]]
    assert rows[8][:4] == ["0.0", "0.00", "0.0", "-51.0"]


def test_negative_counts_are_in_no_table():
    made = {**profile(), ("clear_page_erms", "kernel"): [-70, 0, 0]}
    found = {**cell(), **costprofile.result(made, {}, "k2")}
    assert "clear_page_erms" in [f["function"] for f in found["functions"]]
    assert "clear_page_erms" not in "\n".join(costprofile.table(found, 101))


def test_table_of_none_has_what_takes_most():
    none = {**cell(), "scheduler": "none",
            **costprofile.result(profile(), profile(), "none")}
    text = costprofile.table(none, 316)
    assert not any(line.split()[-1] == "own" for line in text)
    assert "flash_ready" in text[5]


def test_every_cell_has_a_picture_and_a_text(tmp_path):
    costprofile.plot(tmp_path / "x.png", cell({}), {"kernel": "6.12", "commit": "abc"})
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
    assert list(costprofile.texts([cell()])) == ["null-32.k2"]


def arguments(*argv):
    return benchcost.parse(["--profile", "--disks", "null", "--depths", "32", *argv])


def test_one_boot_without_locks_and_variants():
    args = arguments()
    assert args.repeats == 1 and args.no_locks
    cells = benchcost.plan(args, ("none", "k2", "piq"), ["k2", "piq"])
    assert [made["label"] for made in cells] == ["none", "k2", "piq"]
    assert benchcost.parse([]).repeats == 2


def test_more_boots_are_refused(capsys):
    with pytest.raises(SystemExit) as ending:
        arguments("--repeats", "3")
    said = capsys.readouterr().err
    assert ending.value.code == 2 and said.count("\n") == 1
    assert "'3'" in said and "want 1" in said


def bench(tmp_path):
    args = arguments("--schedulers", "fifo", "--out", str(tmp_path / "out"))
    made = benchcost.BenchCost(args, benchcost.choose(("fifo",), []), [])
    made.out.mkdir()
    return made


def test_the_virtual_machine_is_counted(tmp_path):
    made = bench(tmp_path)
    line = made.command(made.cells, "time", 1)
    assert "COST_PROFILER=/files/profile-mark" in line[-1]
    assert f"out={made.out.absolute()}/counts" in line[line.index("--qemu") + 1]
    assert line[line.index("--files") + 1].endswith("/profile/files")
    assert costprofile.vm_options(pathlib.Path("/a,b"), "/c,d", "/e")[-1] == \
        "-plugin 'file=/a,,b/plugin.so,out=/c,,d'"


def measured(made, name, busy, marks):
    for text in (f"begin {name}", f"part {name} short 100 1000000 0 0",
                 f"mark {name} short 100 {marks[0]}",
                 f"part {name} long 1100 {1000000 + 1000 * busy} 0 0",
                 f"mark {name} long 1100 {marks[1]}", f"done {name}"):
        made.line("cost: " + text, "time", 1, 1)


def test_a_whole_run(tmp_path, capsys):
    made = bench(tmp_path)
    made.profiler.guest.mkdir()
    made.profiler.counts.write_text(
        COUNTS + COUNTS.replace("mark 2", "mark 6").replace("mark 4", "mark 8"))
    for name in ("symbols", "symbols.null-32.none", "symbols.null-32.fifo"):
        (made.profiler.guest / name).write_text(KALLSYMS)
    measured(made, "null-32.none", 316, (2, 4))
    measured(made, "null-32.fifo", 316, (6, 8))
    assert made.conclude(0) == 0
    found = json.loads((made.out / "profile.json").read_text())
    # scripts/report skips it without a word: summary.json has the costs.
    assert found["kind"] == "cost"
    assert [made["id"] for made in found["cells"]] == ["null-32.none", "null-32.fifo"]
    text = (made.out / "profile.txt").read_text()
    assert "with interrupts off" in text and text in capsys.readouterr().out + text
    # The raw counts are large and are removed.
    assert {path.name for path in made.out.iterdir()} == {
        "null-32.none.1.json", "null-32.fifo.1.json", "summary.json", "plot.png",
        "profile.json", "profile.txt", "profile-null-32.none.png",
        "profile-null-32.fifo.png"}


def test_a_run_without_counts_is_trouble(tmp_path, capsys):
    made = bench(tmp_path)
    made.profiler.counts.write_text(COUNTS)
    measured(made, "null-32.none", 316, (2, 4))
    made.line("cost: mark null-32.none short x", "time", 1, 1)
    assert made.conclude(0) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "no profile: the guest died" in said and "no mark of a part" in said
    assert not made.profiler.counts.exists()


def test_the_programs_build(tmp_path):
    costprofile.build(tmp_path)
    assert (tmp_path / "plugin.so").stat().st_mode & 0o100
    # The program ends at once with status 0 and prints nothing.
    done = subprocess.run([tmp_path / "files" / "profile-mark"], check=False,
                          capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [path.name for path in (tmp_path / "files").iterdir()] == ["profile-mark"]


def test_the_plugin_is_built_for_this_qemu(tmp_path, monkeypatch):
    """Versions are tried until QEMU loads one; else its own words are the error."""
    target, tried = tmp_path / "plugin.so", []
    monkeypatch.setattr(costprofile, "_compile",
                        lambda source, place, words: tried.append(words[-1]))
    monkeypatch.setattr(costprofile, "refusal", lambda plugin:
                        "minimum version of 2" if len(tried) < 2 else "")
    costprofile.build_plugin(target)
    assert tried == ["-DAPI=1", "-DAPI=2"]
    monkeypatch.setattr(costprofile, "refusal", lambda plugin: "no plugins here")
    with pytest.raises(RuntimeError, match="no plugins here"):
        costprofile.build_plugin(target)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
