# SPDX-License-Identifier: GPL-2.0
"""The lab's host side, without booting anything."""

import importlib
import io
import os
import pathlib
import subprocess
import sys

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

aptroot = importlib.import_module("aptroot")
initramfs = importlib.import_module("initramfs")
kernel = importlib.import_module("kernel")
qemu = importlib.import_module("qemu")
reports = importlib.import_module("reports")
vm = importlib.import_module("vm")


def console(*messages, start=10.0, step=0.001):
    """A console log with these messages, stamped as the kernel does it."""
    return "".join(f"[{start + i * step:12.6f}] {message}\r\n"
                   for i, message in enumerate(messages))


CLEAN = console(
    "Linux version 6.1.0-56-amd64 (debian-kernel@lists.example.org)",
    "Kernel command line: console=ttyS0 panic=-1 oops=panic",
    "clocksource: Marking clocksource 'tsc' as unstable",
    "clocksource: timekeeping watchdog on CPU1: Marking clocksource",
    "rcu: Hierarchical RCU implementation.",
    "rcu: RCU calculated value of scheduler-enlistment delay is 25 jiffies.",
    "Spectre V2 : WARNING: Unprivileged eBPF is enabled",
    "[Firmware Bug]: TSC ADJUST differs",
    "loading out-of-tree module taints kernel.",
    "piq: module verification failed: signature and/or required key missing",
    "nvme nvme0: 2/0/0 default/read/poll queues",
    "debug: unmapping init memory",
    "I/O error, dev nvme0n1, sector 8 op 0x0:(READ) flags 0x0",
    "traps: prog[99] general protection fault ip:4005 sp:7ffc error:0",
    "workqueue: blk_mq_run_work_fn hogged CPU for >10000us 4 times",
    "sysrq: Show Blocked State",
    "NMI backtrace for cpu 0",
    "INFO: NMI handler (nmi_cpu_backtrace_handler) took too long to run",
    "kmemleak: Kernel memory leak detector initialized",
)

COMPLAINTS = [
    ("panic", "Kernel panic - not syncing: sysrq triggered crash"),
    ("sleeping in atomic",
     "BUG: sleeping function called from invalid context at mm.c:1"),
    ("BUG", "kernel BUG at block/elevator.c:123!"),
    ("BUG", "BUG kmalloc-64 (Tainted: G  O ): Redzone overwritten"),
    ("workqueue lockup",
     "BUG: workqueue lockup - pool cpus=0 node=0 stuck for 33s!"),
    ("oops", "Oops: 0000 [#1] PREEMPT SMP NOPTI"),
    ("oops", "BUG: unable to handle page fault for address: ffffc90000"),
    ("oops", "BUG: kernel NULL pointer dereference, address: 00000000; "
             "unable to handle kernel paging request"),
    ("BUG", "BUG: kernel NULL pointer dereference, address: 0000000000000000"),
    ("general protection",
     "general protection fault, probably for non-canonical address 0xdead"),
    ("WARNING", "WARNING: CPU: 1 PID: 77 at block/blk-mq.c:99 f+0x1/0x2"),
    ("WARNING", "WARNING: block/elevator.c:520 at elv_register+0x1, CPU#0"),
    ("hung task", "INFO: task fio:123 blocked for more than 60 seconds."),
    ("panic", "Kernel panic - not syncing: hung_task: blocked tasks"),
    ("lockdep", "WARNING: possible circular locking dependency detected"),
    ("lockdep", "WARNING: possible recursive locking detected"),
    ("lockdep", "WARNING: inconsistent lock state"),
    ("lockdep", "WARNING: HARDIRQ-safe -> HARDIRQ-unsafe lock order detected"),
    ("lockdep", "WARNING: bad unlock balance detected!"),
    ("lockdep", "INFO: trying to register non-static key."),
    ("lockdep", "[ BUG: Invalid wait context ]"),
    ("suspicious RCU", "WARNING: suspicious RCU usage"),
    ("KASAN", "BUG: KASAN: use-after-free in k2_dispatch+0x1/0x2 [k2]"),
    ("KCSAN", "BUG: KCSAN: data-race in piq_insert / piq_dispatch"),
    ("KFENCE", "BUG: KFENCE: out-of-bounds read in piq_merge+0x1/0x2"),
    ("UBSAN", "UBSAN: shift-out-of-bounds in common/geometry.c:12:3"),
    ("soft lockup", "watchdog: BUG: soft lockup - CPU#1 stuck for 41s!"),
    ("RCU stall", "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:"),
    ("RCU stall", "rcu: INFO: rcu_preempt self-detected stall on CPU"),
    ("list corruption", "list_add corruption. prev->next should be next"),
    ("list corruption", "list_del corruption, ffff88->next is LIST_POISON1"),
    ("refcount", "refcount_t: underflow; use-after-free."),
    ("object debugging", "ODEBUG: free active (active state 0) object: x"),
    ("kmemleak", "kmemleak: 3 new suspected memory leaks"),
    ("sysfs or kobject",
     "sysfs: cannot create duplicate filename '/devices/x/iosched'"),
    ("unhandled interrupt", "irq 11: nobody cared (try booting with irqpoll)"),
]


def test_clean_log_has_no_report():
    assert reports.scan(CLEAN) == []


@pytest.mark.parametrize("kind,message", COMPLAINTS)
def test_each_complaint_is_found_once(kind, message):
    log = CLEAN + console(message, "Call Trace:", " f+0x1/0x2", start=20) \
        + console("nvme nvme0: later and unrelated", start=30)
    found = reports.scan(log)
    assert [report.kind for report in found] == [kind]
    assert message in found[0].text()
    assert " f+0x1/0x2" in found[0].text()
    assert "unrelated" not in found[0].text()


def test_complaint_behind_a_caller_id():
    log = "[   11.000000][  T123] BUG: KASAN: use-after-free in f\n"
    assert [r.kind for r in reports.scan(log)] == ["KASAN"]


def test_report_has_the_whole_block():
    log = CLEAN + console(
        "------------[ cut here ]------------",
        "WARNING: CPU: 0 PID: 1 at x.c:1 f+0x1/0x2 [piq]",
        "Modules linked in: piq(OE)", "Call Trace:", " g+0x3/0x4",
        "---[ end trace 0000000000000000 ]---",
        "nvme nvme0: goes on", start=20)
    (report,) = reports.scan(log)
    text = report.text()
    assert "cut here" in text and "end trace" in text and "g+0x3" in text
    assert "goes on" not in text and "\r" not in text


def test_two_reports_stay_two():
    log = console("WARNING: CPU: 0 PID: 1 at a.c:1 f", "Call Trace:",
                  " f", " g", "---[ end trace 0 ]---", start=20) \
        + console("INFO: task a:1 blocked for more than 60 seconds.",
                  start=99)
    assert [r.kind for r in reports.scan(log)] == ["WARNING", "hung task"]


def test_allowed_message_is_no_report():
    log = console("WARNING: CPU: 0 PID: 1 at tsc.c:9 sync_tsc+0x1/0x2")
    assert reports.scan(log)
    assert not reports.scan(log, allowed=((r"sync_tsc", "why it is fine"),))


def ended(**facts):
    """A Result of a guest that reached init."""
    result = qemu.Result(console=bytearray(CLEAN.encode()), userspace=4.0)
    for key, value in facts.items():
        setattr(result, key, value)
    return result


WARNED = [reports.Report("WARNING", ("WARNING: x",))]


@pytest.mark.parametrize("result,found,status", [
    (ended(status=0), [], 0),
    (ended(status=7), [], 7),
    (ended(status=0), WARNED, vm.REPORTED),
    (ended(status=7), WARNED, vm.REPORTED),
    (ended(timed_out=True), [], vm.TIMED_OUT),
    (ended(timed_out=True), WARNED, vm.REPORTED),
    (ended(), [], vm.REPORTED),
    (ended(), WARNED, vm.REPORTED),
])
def test_verdict(result, found, status):
    assert vm.verdict(result, found, 600)[0] == status


@pytest.mark.parametrize("found", [[], WARNED])
def test_what_qemu_said_of_a_guest_that_died(found):
    assert "out of memory" in vm.verdict(
        ended(qemu_said="qemu: out of memory"), found, 600)[1]
    assert "QEMU" not in vm.verdict(ended(), found, 600)[1]
    assert vm.verdict(ended(status=0, qemu_said="hm"), [], 600)[1] == ""


STALE = (
    "watchdog: BUG: soft lockup - CPU#0 stuck for 45s! [bash:123]",
    "Modules linked in: k2(OE) nvme nvme_core",
    "Call Trace:", " <TASK>",
    " on_each_cpu_cond_mask+0x20/0x40",
    " text_poke_bp_batch+0x29f/0x300",
    " __static_call_transform+0xbc/0x1d0",
    "Sending NMI from CPU 0 to CPUs 1:",
    "NMI backtrace for cpu 1",
    " irqentry_nmi_exit+0x5/0x30",
    " asm_exc_int3+0x35/0x40",
    "RIP: 0010:__schedule+0x1bc/0xa00",
    " schedule+0x5a/0xd0",
    "Kernel panic - not syncing: softlockup: hung tasks",
)


@pytest.mark.parametrize("change,lost", [
    ({}, True),
    # It is our own code that a CPU is in.
    ({" schedule+0x5a/0xd0": " elv_dispatch_request+0x5a/0xd0 [k2]"}, False),
    # No other CPU is trapped, or no CPU waits for one.
    ({" asm_exc_int3+0x35/0x40": " asm_exc_page_fault+0x35/0x40"}, False),
    ({" text_poke_bp_batch+0x29f/0x300": " vfs_write+0x29f/0x300"}, False),
])
def test_guest_lost_to_qemu(change, lost):
    log = CLEAN + console(*(change.get(line, line) for line in STALE),
                          start=180)
    assert bool(reports.lost_to_qemu(log, ["k2", "flashsim"])) == lost
    assert not reports.lost_to_qemu(CLEAN, ["k2"])
    # Another error was reported before.
    log = console("WARNING: CPU: 0 PID: 1 at block/blk-mq.c:1") + log
    assert not reports.lost_to_qemu(log, ["k2", "flashsim"])


def lost_with(dump, line, changed):
    """Is a guest that died with this dump, changed in a line, lost to QEMU?"""
    log = CLEAN + console(*(text.replace(line, changed) for text in dump),
                          start=180)
    return bool(reports.lost_to_qemu(log, ["k2", "flashsim"]))


# RDI | 0x202: QEMU took the operand of a comparison for its result.
FLAGS = (
    "Oops: double fault: 0000 [#1] PREEMPT SMP NOPTI",
    "CPU: 1 UID: 0 PID: 4366 Comm: fio Tainted: G           OE",
    "RIP: 0010:kmem_cache_alloc_noprof+0x6b/0x2f0",
    "RSP: 0018:ffffc90000663a50 EFLAGS: 36d6d382",
    "RAX: ffff888036d6d600 RBX: ffff888036d6d540 RCX: 000000004bdfc001",
    "RDX: 000000004bdfc001 RSI: 000000000003d2a0 RDI: ffff888036d6d180",
    "Call Trace:", " <TASK>",
    " io_submit_one+0x89/0x870",
    "Kernel panic - not syncing: Fatal exception in interrupt",
)


@pytest.mark.parametrize("line,changed,lost", [
    ("", "", True),
    # Flags that a CPU can have, and others that are no register's
    ("36d6d382", "00010206", False),
    ("36d6d382", "76d6d382", False),
    ("io_submit_one+0x89/0x870", "k2_insert+0x89/0x870 [k2]", False),
    ("Call Trace:", "BUG: KASAN: use-after-free in k2", False),
])
def test_flags_that_no_cpu_has(line, changed, lost):
    assert lost_with(FLAGS, line, changed) == lost


# A breakpoint that the kernel has already replaced by a jump (e9) in memory
GONE = (
    "Oops: int3: 0000 [#1] PREEMPT SMP NOPTI",
    "CPU: 0 UID: 0 PID: 3808 Comm: mkdir Tainted: G           OE",
    "RIP: 0010:get_page_from_freelist+0xa1/0x1700",
    "Code: 48 89 44 24 78 4c 89 84 24 a8 00 00 00 4d 89 f4 e9 <22> 12 00 00 48",
    "RSP: 0018:ffffc9000082f6f8 EFLAGS: 00000282",
    "Call Trace:", " <TASK>",
    " __alloc_pages_noprof+0x169/0x310",
    "Kernel panic - not syncing: Fatal exception",
)


@pytest.mark.parametrize("line,changed,lost", [
    ("", "", True),
    ("Oops: int3: 0000", "int3: 0000", True),
    # The breakpoint is there, of unknown origin.
    ("4d 89 f4 e9 <22>", "4d 89 f4 cc <22>", False),
    ("Oops: int3: 0000", "Oops: 0000", False),
    ("__alloc_pages_noprof+0x169/0x310", "k2_insert+0x89/0x870 [k2]", False),
    ("Call Trace:", "BUG: KASAN: use-after-free in k2", False),
])
def test_a_breakpoint_that_is_gone(line, changed, lost):
    assert lost_with(GONE, line, changed) == lost


def test_control_lines():
    result = qemu.Result()
    for line in ("userspace 2.50", "", "noise", "command 3.00",
                 "status 42 9.10"):
        qemu._control(line, result, 5.0)
    assert (result.userspace, result.command, result.status) == (5, 5, 42)


@pytest.mark.parametrize("options,words", [
    (["--cpus", "0"], ["'0'", "1 to 16"]),
    (["--cpus", "17"], ["'17'", "1 to 16"]),
    (["--cpus", "two"], ["'two'", "1 to 16"]),
    (["--nvme-queues", "0"], ["'0'", "1 to 64"]),
    (["--memory", "abc"], ["'abc'", "384M to 32G"]),
    (["--memory", "1M"], ["'1M'", "384M to 32G"]),
    (["--disk=-1"], ["'-1'", "1M to 1024G"]),
    (["--disk", "-1"], ["'-1'", "1M to 1024G"]),
    (["--disk", "0"], ["'0'", "1M to 1024G"]),
    (["--timeout", "1"], ["'1'", "10 to 86400"]),
    (["--kernel", "5.10"], ["'5.10'", "6.1, 6.12"]),
    (["--share", "/nonexistent/x"], ["'/nonexistent/x'", "exists"]),
    (["--qemu", "a 'b"], ["a 'b"]),
    (["--frobnicate"], ["--frobnicate"]),
    (["--virtual-time", "--cpus", "2"], ["--cpus", "'2'", "one CPU"]),
    (["--virtual-time", "--kaslr"], ["--kaslr", "the lab's own boot"]),
    (["--virtual-time", "--distro-boot"], ["--distro-boot", "the lab's own boot"]),
])
def test_bad_options_are_refused(options, words, capsys):
    with pytest.raises(SystemExit) as ending:
        vm.parse([*options, "--", "true"])
    assert ending.value.code == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.count("\n") == 1
    assert said.err.startswith("vm: ")
    for word in words:
        assert word in said.err


@pytest.mark.parametrize("argv", [[], ["--"], ["--", " "], ["--cpus", "2"]])
def test_a_command_is_demanded(argv, capsys):
    with pytest.raises(SystemExit) as ending:
        vm.parse(argv)
    assert ending.value.code == 2
    assert "COMMAND" in capsys.readouterr().err


def test_good_options():
    args = vm.parse(["--memory", "2G", "--disk", "512M", "--cpus", "4",
                     "--", "echo", "a  b", "--", "c"])
    assert args.memory == 2 << 30 and args.disk == 512 << 20
    assert args.nvme_queues == 4 and args.kernel == "6.12"
    assert args.command == "echo a  b -- c"
    assert vm.parse(["--qemu", "-snapshot", "--", "x"]).qemu == "-snapshot"
    assert vm.parse(["--memory", "768", "--", "x"]).memory == 768 << 20


def test_script_refuses_unknown_series():
    done = subprocess.run(
        [sys.executable, REPO / "scripts/lib/kernel.py", "9.9"], text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2 and done.stdout == ""
    assert "'9.9'" in done.stderr and "6.1, 6.12" in done.stderr


@pytest.mark.parametrize("args", [["nonsense"], [], ["--frob", "vm"]])
def test_deps_refuses_unknown_groups(args):
    done = subprocess.run([REPO / "scripts/deps", *args], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False)
    assert done.returncode == 2
    assert "build, unit, vm, bench, check" in done.stderr


def test_qemu_gets_what_was_asked_for():
    machine = qemu.Machine(kernel="/k", initramfs=(), cpus=3, nvme_queues=1,
                           memory=2 << 30, share="/a,b", options="-foo 'x y'")
    line = qemu.arguments(machine, dict(initrd=3, console=4, output=5,
                                        control=6, qmp=7, disk=8))
    joined = " ".join(line)
    assert "-smp 3" in joined and "-m 2048M" in joined
    assert "max_ioqpairs=1" in joined and "thread=multi" in joined
    assert "path=/a,,b," in joined and "readonly=on" in joined
    assert line[-2:] == ["-foo", "x y"]
    assert "mount_tag=out" not in joined


def test_virtual_time_has_nothing_of_the_host():
    args = vm.parse(["--virtual-time", "--", "x"])
    assert args.virtual_time and args.cpus == 1
    assert vm.parse(["--virtual-time", "--cpus", "1", "--", "x"]).cpus == 1
    usual = vm.parse(["--", "x"])
    assert not usual.virtual_time
    assert (usual.cpus, usual.nvme_queues, usual.disk) == (2, 2, 1 << 30)

    fds = dict(initrd=3, console=4, output=5, control=6, qmp=7, disk=8)
    machine = qemu.Machine(kernel="/k", initramfs=(), cpus=1, accel="kvm",
                           virtual_time=True, nvme=args.nvme)
    joined = " ".join(qemu.arguments(machine, fds))
    assert "thread=single" in joined and "-smp 1" in joined
    assert "-icount shift=0,sleep=off" in joined
    for word in ("kvm", "nvme", "id=output,fd=", "thread=multi"):
        assert word not in joined
    assert "rdrand=off" in joined and "clock=vm" in joined
    # An explicit disk is added, whatever that does to the clock.
    assert vm.parse(["--virtual-time", "--disk", "1G", "--", "x"]).nvme
    assert vm.parse(["--virtual-time", "--nvme-queues", "1", "--", "x"]).nvme
    machine.nvme = True
    assert "nvme" in " ".join(qemu.arguments(machine, fds))
    machine.virtual_time = False
    machine.accel = "tcg"
    joined = " ".join(qemu.arguments(machine, fds))
    assert "icount" not in joined and "nvme" in joined
    assert "norandmaps" not in joined and "rdrand" not in joined
    # Or the guest's kernel rewrites its code while it runs.
    assert "tsc=nowatchdog" in joined and "tsc=reliable" not in joined


@pytest.mark.parametrize("kaslr, mitigations", [(False, False), (True, False), (True, True)])
def test_the_lab_turns_off_what_is_not_asked_for(kaslr, mitigations):
    machine = qemu.Machine(kernel="/k", initramfs=(), kaslr=kaslr, mitigations=mitigations)
    words = " ".join(qemu.arguments(machine, dict.fromkeys(
        ("initrd", "console", "output", "control", "qmp", "disk"), 3))).split()
    assert ("nokaslr" in words) is not kaslr
    assert ("mitigations=off" in words) is not mitigations


@pytest.mark.parametrize("virtual_time", [False, True])
def test_words_for_the_kernel_are_the_last_ones(virtual_time):
    args = vm.parse(["--append", "memmap=1G$1G  isolcpus=2,3", "--", "x"])
    machine = qemu.Machine(kernel="/k", initramfs=(), virtual_time=virtual_time,
                           append=args.append)
    line = qemu.arguments(machine, dict.fromkeys(
        ("initrd", "console", "output", "control", "qmp", "disk"), 3))
    words = line[line.index("-append") + 1]
    assert words.startswith("console=ttyS0")
    assert words.endswith(" memmap=1G$1G isolcpus=2,3")
    machine.append = vm.parse(["--", "x"]).append
    assert words == " ".join((qemu._command_line(machine), "memmap=1G$1G isolcpus=2,3"))


def test_sysrq_in_virtual_time_comes_from_the_keyboard():
    class Wire:
        sent = b""

        def sendall(self, data):
            self.sent += data

    guest = qemu.Guest(qemu.Machine(kernel="", initramfs=(),
                                    virtual_time=True))
    guest.ends = {"qmp": Wire()}
    guest.sysrq("w")
    assert b"send-key" in guest.ends["qmp"].sent
    assert b'"data": "w"' in guest.ends["qmp"].sent


def test_pipes_take_much_more_than_a_console_says():
    reading, writing = qemu._pipe()
    with reading, writing:
        os.set_blocking(writing.fileno(), False)
        for _ in range(60000):
            assert writing.write(b"x") == 1


ONE_LINE = """\
# deb http://example.org/debian buster main
deb http://example.org/debian bookworm main contrib # the main one
deb-src http://example.org/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg] \
http://example.org/debian/ bookworm-updates main
deb [signed-by=/k.gpg] https://vendor.example.org/apt stable main
"""

DEB822 = """\
Types: deb deb-src
# a comment
URIs: http://example.org/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian.gpg

Types: deb
URIs: http://example.org/sec
Suites: bookworm-security
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc

Types: deb
Enabled: no
URIs: http://off.example.org/debian
Suites: bookworm

Types: deb
URIs: https://vendor.example.org/node
Suites: nodistro
Components: main
"""


def wanted(sources):
    return {(source.uri, suite) for source in sources
            for suite in source.suites}


def test_sources_from_list():
    parsed = aptroot.parse_list(ONE_LINE)
    assert [s.suites for s in parsed] == [
        ("bookworm",), ("bookworm-updates",), ("stable",)]
    assert parsed[1].options == {"Signed-By": "/usr/share/keyrings/a.gpg"}
    # The security archive is assumed beside the main one.
    assert wanted(aptroot.derive(parsed, "bookworm")) == {
        ("http://example.org/debian", "bookworm"),
        ("http://example.org/debian", "bookworm-updates"),
        ("http://example.org/debian", "bookworm-backports"),
        ("http://example.org/debian-security", "bookworm-security"),
    }


def test_sources_from_deb822():
    parsed = aptroot.parse_deb822(DEB822)
    assert [s.uri for s in parsed] == [
        "http://example.org/debian", "http://example.org/sec",
        "https://vendor.example.org/node"]
    derived = aptroot.derive(parsed, "bookworm")
    assert wanted(derived) == {
        ("http://example.org/debian", "bookworm"),
        ("http://example.org/debian", "bookworm-updates"),
        ("http://example.org/debian", "bookworm-backports"),
        ("http://example.org/sec", "bookworm-security"),
    }
    # parse_deb822() reads render()'s output, keys included.
    again = aptroot.parse_deb822(aptroot.render(derived))
    assert wanted(again) == wanted(derived)
    assert {s.options["Signed-By"].split("\n")[0] for s in again} == {
        "/usr/share/keyrings/debian.gpg", ""}
    assert "abc" in aptroot.render(derived)


def test_sources_of_another_release_are_not_ours():
    assert aptroot.derive(aptroot.parse_deb822(DEB822), "trixie") == []


def test_machine_sources_reads_both_styles(tmp_path):
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(ONE_LINE)
    (tmp_path / "sources.list.d/a.sources").write_text(DEB822)
    (tmp_path / "sources.list.d/b.sources.off").write_text(DEB822)
    assert len(aptroot.machine_sources(tmp_path)) == 3 + 3


def test_newest_version_is_picked():
    assert kernel.pick(kernel.SERIES["6.1"], {
        "linux-image-6.1.0-9-amd64": "6.1.27-1",
        "linux-image-6.1.0-56-amd64": "6.1.192-2",
        "linux-image-6.1.0-100-rt-amd64": "6.1.999-1",
        "linux-image-6.1.0-100-cloud-amd64": "6.1.999-1",
        "linux-image-6.1.0-100-amd64-unsigned": "6.1.999-1",
        "linux-image-6.1.0-100-amd64-dbg": "6.1.999-1",
    }) == ("6.1.0-56-amd64", "6.1.192-2")
    assert kernel.pick(kernel.SERIES["6.12"], {
        "linux-image-6.12.95+deb12-amd64": "6.12.95-1~bpo12+1",
        "linux-image-6.12.117+deb12-amd64": "6.12.117-1~deb12u1",
        "linux-image-6.12.9+bpo-amd64": "6.12.9-1~bpo12+1",
        "linux-image-6.12.200+deb12-rt-amd64": "6.12.200-1",
        "linux-image-6.1.0-56-amd64": "6.1.192-2",
    }) == ("6.12.117+deb12-amd64", "6.12.117-1~deb12u1")
    assert kernel.pick(kernel.SERIES["6.12"], {}) is None


def test_header_packages():
    assert kernel.header_packages({
        "depends": "linux-headers-6.1.0-56-common (= 6.1.192-2), "
                   "linux-kbuild-6.1 (>= 6.1.192-2), "
                   "linux-compiler-gcc-12-x86, gcc-12 | gcc"
    }) == ["linux-headers-6.1.0-56-common", "linux-kbuild-6.1"]


@pytest.mark.parametrize("tool", ["xz", "gzip", "zstd"])
def test_kernel_is_unpacked(tool):
    elf = b"\x7fELF" + bytes(range(256)) * 40 + b"\0.BTF\0"
    packed = subprocess.run([tool, "-c"], input=elf, check=True,
                            stdout=subprocess.PIPE).stdout
    packed += len(elf).to_bytes(4, "little")
    image = bytearray(4 * 512)
    image[0x1f1] = 3
    image[0x202:0x206] = b"HdrS"
    image[0x248:0x24c] = (100).to_bytes(4, "little")
    image[0x24c:0x250] = len(packed).to_bytes(4, "little")
    image += b"\0" * 100 + packed + b"what follows"
    assert kernel.payload(bytes(image)) == packed
    assert kernel.decompress(packed) == elf


def test_trouble_of_this_machine_is_no_skip():
    # scripts/check skips a series that is Unavailable, and says so.
    assert not issubclass(kernel.Broken, kernel.Unavailable)
    assert "/usr/sbin" in os.environ["PATH"]


def test_what_is_no_kernel_is_refused():
    with pytest.raises(kernel.Broken):
        kernel.payload(b"\0" * 4096)
    with pytest.raises(kernel.Broken):
        kernel.decompress(b"plain text, packed with nothing")


def read_newc(data):
    """(name, mode, data) of each entry of concatenated newc archives."""
    stream, entries = io.BytesIO(data), []
    while header := stream.read(110):
        if not header.startswith(b"070701"):
            # Zeros, in fours, may stand between two archives.
            assert header[:4] == b"\0" * 4
            stream.seek(4 - len(header), os.SEEK_CUR)
            continue
        field = [int(header[6 + 8 * i:14 + 8 * i], 16) for i in range(13)]
        name = stream.read(field[11])[:-1].decode()
        stream.seek(-stream.tell() % 4, os.SEEK_CUR)
        content = stream.read(field[6])
        stream.seek(-stream.tell() % 4, os.SEEK_CUR)
        entries.append((name, field[1], content))
    return entries


def test_archives_can_be_joined():
    first, second = initramfs.Archive(), initramfs.Archive()
    first.file("a/b/c", b"12345", 0o755)
    first.symlink("a/l", "b/c")
    second.file("init", b"x")
    entries = read_newc(first.close() + second.close())
    assert [e[0] for e in entries] == [
        "a", "a/b", "a/b/c", "a/l", "TRAILER!!!", "init", "TRAILER!!!"]
    assert entries[2][1:] == (0o100755, b"12345")
    assert entries[3][1:] == (0o120777, b"b/c")


def test_no_retry_after_userspace(monkeypatch, tmp_path):
    """A boot that dies before init is tried again; one that dies later not."""
    runs = []

    def fake(results):
        def run(machine, *_):
            runs.append(machine.kernel)
            return results[len(runs) - 1]
        return run

    args = vm.parse(["--", "true"])
    args.vmlinuz = "/vmlinuz"
    early = qemu.Result(console=bytearray(b"[ 0.1] int3: 0000\n"))
    log = tmp_path / "log"

    monkeypatch.setattr(qemu, "run", fake([early, ended(status=4)]))
    machine = qemu.Machine(kernel="/vmlinux", initramfs=())
    assert vm.boot(machine, args, log) == 4
    assert runs == ["/vmlinux", "/vmlinuz"]

    runs.clear()
    monkeypatch.setattr(qemu, "run", fake([early] * 5))
    assert vm.boot(machine, args, log) == vm.REPORTED
    assert len(runs) == 1 + vm.RETRIES

    runs.clear()
    monkeypatch.setattr(qemu, "run", fake([ended(), ended(status=0)]))
    assert vm.boot(machine, args, log) == vm.REPORTED
    assert len(runs) == 1


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
