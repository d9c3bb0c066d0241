# SPDX-License-Identifier: GPL-2.0
"""Functions for the cases of tests/vm, as far as they need no guest."""

import pathlib
import subprocess
import sys

import pytest

LIB = pathlib.Path(__file__).resolve().parents[2] / "tests/vm/lib/common.sh"


def case(text, tmp_path, **environment):
    """(status, log, reason) of a case that is just this text."""
    done = subprocess.run(
        ["bash", "-c", f". {LIB}\n{text}\necho the end"], check=False,
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={"PATH": "/usr/bin:/bin", "SCHED": "k2", "TMP": str(tmp_path),
             **environment})
    reason = tmp_path / ".reason"
    return (done.returncode, done.stdout,
            reason.read_text() if reason.exists() else "")


def test_disk_that_nobody_adds_is_just_not_there(tmp_path):
    status, log, _ = case("lab_disk 0 lab-none || echo without", tmp_path)
    assert status == 0 and "without\nthe end" in log
    assert case("extra_disk lab-none", tmp_path)[0] == 77


@pytest.mark.parametrize("text", ["lab_disk 0 lab-none || echo without",
                                  "extra_disk lab-none", "two_disks"])
def test_disk_that_is_added_must_be_there(text, tmp_path):
    status, log, reason = case(text, tmp_path, LAB_DISKS="1")
    assert status == 1 and "the end" not in log
    assert "which scripts/check adds" in reason


def test_counter_that_is_not_there_is_no_zero(tmp_path):
    text = 'stats_get() {{ STATS="queued 3"; }}\nholds "{} <= 7"'.format
    assert case(text('$(stat_of sda queued)'), tmp_path)[0] == 0
    status, log, _ = case(text('$(stat_of sda peak)'), tmp_path)
    assert status == 1 and "the end" not in log
    # The text that tests/vm/run looks for where no check fails.
    status, log, _ = case(
        'stats_get() { STATS=; }\nf() {\nx=$(($(stat_of sda peak) + 1))\n'
        'is x $x 1\n}\nf', tmp_path)
    assert status == 0 and "syntax error in expression" in log
    assert "syntax error in expression" in \
        (LIB.parents[1] / "run").read_text()


@pytest.mark.parametrize("release,want", [
    ("6.1.0-9", "no"), ("6.12.3", "yes"), ("7.3.0", "late"),
    ("7.4.1", "late"), ("8.0.0", "late")])
def test_what_paths_want_holds_for_later_kernels(release, want, tmp_path):
    whole = (LIB.parents[1] / "705-k2-paths.sh").read_text()
    begin = whole.index("wanted() {")
    wanted = whole[begin:whole.index("\n}", begin) + 2]
    status, log, _ = case(
        f"uname() {{ echo {release}; }}\n{wanted}\n"
        "wanted '6.1:no 6.12:yes 7.3:late'\necho \"want $WANTED\"", tmp_path)
    assert status == 0 and f"want {want}\n" in log


def test_what_a_case_leaves_running_is_killed(tmp_path):
    """This includes other process groups of the case's session."""
    run = (LIB.parents[1] / "run").read_text()
    begin = run.index("exec {NEVER}")
    functions = run[begin:run.index("\n}\n", run.index("in_time() {")) + 3]
    # Not what runs on this machine, and nothing of its kernel
    functions = functions.replace("(fio", "(none").replace(
        "/proc/sysrq-trigger", "/dev/null")
    # It does not hold our pipe: the test would wait for its end.
    command = f"timeout 60 sleep 59 >/dev/null & echo $! >{tmp_path}/pid; exit 7"
    done = subprocess.run(
        ["bash", "-c", f"""{functions}
sleep 58 & other=$!
in_time 20 bash -c '{command}'
echo status $?
end_session $SESSION
in_time 0 sleep 57
echo status $?
kill $other && echo other"""], check=True, text=True, stdout=subprocess.PIPE)
    assert done.stdout == "status 7\nstatus 124\nother\n"
    pid = (tmp_path / "pid").read_text().strip()
    stat = pathlib.Path("/proc", pid, "stat")
    assert not stat.exists() or stat.read_text().rsplit(") ")[1][0] == "Z"


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
