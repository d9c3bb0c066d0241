# SPDX-License-Identifier: GPL-2.0
"""Kernels that are built here, and what they report; nothing is built."""

import importlib
import json
import pathlib
import re
import subprocess
import sys
import time

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "scripts" / "lib"))
sys.dont_write_bytecode = True

aptroot = importlib.import_module("aptroot")
check = importlib.import_module("check")
kernel = importlib.import_module("kernel")
qemu = importlib.import_module("qemu")
reports = importlib.import_module("reports")
sourcekernel = importlib.import_module("sourcekernel")
vm = importlib.import_module("vm")

BUILT = [s for s in kernel.SERIES.values() if s.fragments]


# --- configuration --------------------------------------------------------

BASE = """\
#
# Automatically generated file; DO NOT EDIT.
#
CONFIG_SLOB=y
# CONFIG_SLUB is not set
CONFIG_NR_CPUS=64
CONFIG_LOCALVERSION=""
"""


def test_config_is_read():
    assert sourcekernel.parse_config(BASE) == {
        "CONFIG_SLOB": "y", "CONFIG_SLUB": "n", "CONFIG_NR_CPUS": "64",
        "CONFIG_LOCALVERSION": '""'}


@pytest.mark.parametrize("line", ["CONFIG_KASAN", "KASAN=y", "config_x=y"])
def test_line_that_is_no_option_is_refused(line):
    with pytest.raises(kernel.Broken, match=line):
        sourcekernel.parse_config("CONFIG_A=y\n" + line + "\n")


def test_later_fragments_have_the_last_word():
    wanted = sourcekernel.asked(["CONFIG_A=y\nCONFIG_B=m\n",
                                 "# CONFIG_A is not set\n"])
    assert wanted == {"CONFIG_A": "n", "CONFIG_B": "m"}


def test_merging_leaves_one_line_an_option():
    text = sourcekernel.merged(BASE, {
        "CONFIG_SLUB": "y", "CONFIG_SLOB": "n", "CONFIG_NEW": "m"})
    assert text.count("CONFIG_SLUB") == text.count("CONFIG_SLOB") == 1
    assert sourcekernel.parse_config(text) == {
        "CONFIG_SLOB": "n", "CONFIG_SLUB": "y", "CONFIG_NR_CPUS": "64",
        "CONFIG_LOCALVERSION": '""', "CONFIG_NEW": "m"}


@pytest.mark.parametrize("wanted,words", [
    ({"CONFIG_KASAN": "y"}, ["CONFIG_KASAN=y (is not set)"]),
    ({"CONFIG_SLUB": "y"}, ["CONFIG_SLUB=y (is not set)"]),
    ({"CONFIG_NR_CPUS": "16"}, ["CONFIG_NR_CPUS=16 (is 64)"]),
    ({"CONFIG_SLOB": "n"}, ["CONFIG_SLOB=n (is y)"]),
    ({"CONFIG_SLOB": "m", "CONFIG_X": "y", "CONFIG_NR_CPUS": "64"},
     ["CONFIG_SLOB=m (is y)", "CONFIG_X=y (is not set)"]),
])
def test_each_option_that_did_not_take_is_named(wanted, words):
    with pytest.raises(kernel.Broken) as refusal:
        sourcekernel.check_config(kernel.SERIES["debug"], wanted, BASE)
    said = str(refusal.value)
    assert said.count("\n") == 0 and "debug.config" in said
    for word in words:
        assert word in said
    assert said.count(" (is ") == len(words)


def test_what_did_take_is_not_named():
    sourcekernel.check_config(kernel.SERIES["debug"], {
        "CONFIG_SLOB": "y", "CONFIG_SLUB": "n", "CONFIG_ABSENT": "n",
        "CONFIG_NR_CPUS": "64"}, BASE)


@pytest.mark.parametrize("series", BUILT, ids=lambda s: s.name)
def test_fragments_hold_together(series):
    texts = sourcekernel.fragments(series)
    wanted = sourcekernel.asked(texts)
    # What the initramfs offers for loading and the cases unload.
    for name in ("BLK_DEV_NULL_BLK", "SCSI_DEBUG", "MQ_IOSCHED_KYBER",
                 "IOSCHED_BFQ", "ZRAM", "BLK_DEV_NVME"):
        assert wanted[f"CONFIG_{name}"] == "m"
    # An option that is asked for twice would be a contradiction one day.
    options = [option for text in texts
               for option in sourcekernel.parse_config(text)]
    assert len(options) == len(set(options))
    assert "CONFIG_LOCALVERSION" not in wanted


# --- names and the cache --------------------------------------------------

SERIES = kernel.SERIES["debug"]
PARTS = ("6.1.192-2", ("CONFIG_A=y\n", "CONFIG_B=m\n"), "gcc-12 12.2.0")


def test_key_changes_with_each_part():
    version, texts, cc = PARTS
    keys = {sourcekernel.key(*parts) for parts in (
        PARTS, ("6.1.193-1", texts, cc), (version, texts, "gcc-12 12.3.0"),
        (version, ("CONFIG_A=y\n", "CONFIG_B=y\n"), cc),
        (version, ("CONFIG_A=y\n",), cc))}
    assert len(keys) == 5


def test_key_changes_with_the_recipe(monkeypatch):
    before = sourcekernel.key(*PARTS)
    monkeypatch.setattr(sourcekernel, "RECIPE", sourcekernel.RECIPE + 1)
    assert sourcekernel.key(*PARTS) != before


def test_key_does_not_change_with_a_comment():
    version, texts, cc = PARTS
    assert sourcekernel.key(*PARTS) == sourcekernel.key(
        version, ("# why\n" + texts[0], texts[1]), cc)


@pytest.mark.parametrize("series", BUILT, ids=lambda s: s.name)
def test_release_names_the_series(series):
    local = sourcekernel.local_version(series, *PARTS)
    assert local.startswith(f"-flash-{series.name}-")
    begin = series.begin or "6.1."
    release = begin + ("192" if begin.endswith(".") else "") + local
    assert re.fullmatch(series.release, release)
    # The kernel's limit for the whole release.
    assert len(release) < 64


def stored(store, release, version):
    """A kernel in a cache, as far as that looks."""
    folder = store.directory(release, version)
    folder.mkdir(parents=True)
    facts = {"series": "debug", "release": release, "version": version}
    for name in ("kdir", "vmlinuz", "vmlinux", "root", "btf"):
        (folder / name).touch()
        facts[name] = str(folder / name)
    (folder / "facts.json").write_text(json.dumps(facts))
    return facts


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A cache with a debug kernel of today's fragments and an older one."""
    monkeypatch.setattr(sourcekernel, "compiler", lambda: "gcc-12 12.2.0")
    found = kernel.Store(tmp_path)
    found.now = "6.1.192" + sourcekernel.local_version(
        SERIES, "6.1.192-2", sourcekernel.fragments(SERIES), "gcc-12 12.2.0")
    stored(found, "6.1.192-flash-debug-00000000", "6.1.192-2")
    stored(found, found.now, "6.1.192-2")
    return found


def test_kernel_of_other_fragments_is_not_taken(store):
    assert sourcekernel.have(store, SERIES)["release"] == store.now
    assert sourcekernel.have(store, SERIES, "6.1.192-2")["release"] == \
        store.now
    assert sourcekernel.have(store, SERIES, "6.1.193-1") is None


def test_kernel_of_another_compiler_is_not_taken(store, monkeypatch):
    monkeypatch.setattr(sourcekernel, "compiler", lambda: "gcc-12 12.3.0")
    assert sourcekernel.have(store, SERIES) is None


def test_fresh_kernel_is_taken_without_asking(store, monkeypatch):
    monkeypatch.setattr(sourcekernel, "_choose", lambda *_: 1 / 0)
    store._remember("debug", store.now, "6.1.192-2")
    assert store.get("debug")["release"] == store.now


def offline(monkeypatch):
    """No archive answers, and nothing is installed."""
    def refuse(*_):
        raise kernel.Unavailable("no network")
    monkeypatch.setattr(sourcekernel, "_offers", refuse)
    monkeypatch.setattr(sourcekernel, "compiler", lambda: "gcc-12 12.2.0")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__:
                        subprocess.CompletedProcess((), 0))


def test_offline_what_is_there_is_used(store, monkeypatch):
    offline(monkeypatch)
    monkeypatch.setattr(kernel, "newer", lambda a, b: a > b)
    assert store.get("debug")["release"] == store.now
    # The archive is asked again before the day is over.
    assert store._memory()["debug"]["time"] < time.time() - 3600


def test_offline_with_nothing_is_unavailable(tmp_path, monkeypatch):
    offline(monkeypatch)
    with pytest.raises(kernel.Unavailable, match="no network"):
        kernel.Store(tmp_path).get("debug")


def test_a_version_that_is_only_listed_is_passed_over(tmp_path, monkeypatch):
    """The next older one is built."""
    store = kernel.Store(tmp_path)
    source = tmp_path / "source.deb"

    def missing():
        raise aptroot.AptError("404 Not Found")
    offers = [("6.1.193-1", missing), ("6.1.192-2", lambda: source)]
    monkeypatch.setattr(sourcekernel, "_offers", lambda *_: (offers, False))
    monkeypatch.setattr(sourcekernel, "compiler", lambda: "gcc-12 12.2.0")
    assert sourcekernel._choose(store, SERIES) == (
        "6.1.192-2", None, source, 0)
    del offers[1]
    with pytest.raises(kernel.Unavailable, match="404"):
        sourcekernel._choose(store, SERIES)


def test_nothing_is_built_unasked():
    """What has to be built first is not among what make vm-modules means."""
    made = (REPO / "Makefile").read_text().split("\nSERIES ?=")[1]
    for built in BUILT:
        assert built.name not in made.split("\n")[0].split()


@pytest.mark.parametrize("line,counts", [
    ("  CC      block/elevator.o", 1),
    ("  CC [M]  drivers/nvme/host/pci.o", 1),
    ("  AS      arch/x86/entry/entry_64.o", 1),
    ("  LD      vmlinux.o", 0),
    ("  HOSTCC  scripts/basic/fixdep", 0),
    ("block/x.c:1: warning: CC  is no object", 0),
])
def test_objects_are_counted(line, counts):
    assert sourcekernel.objects(f"make: x\n{line}\n  AR  a\n") == counts


def test_limits_of_slow_kernels():
    plain, slow = vm.parse(["--", "x"]), \
        vm.parse(["--kernel", "debug", "--", "x"])
    assert plain.timeout == 600 and plain.memory == 1 << 30
    assert slow.timeout == 600 * SERIES.slow and slow.memory == 2 << 30
    own = vm.parse(["--kernel", "debug", "--timeout", "77", "--memory", "3G",
                    "--", "x"])
    assert own.timeout == 77 and own.memory == 3 << 30


# --- reports --------------------------------------------------------------

def console(text, start=20.0):
    """A console log: each line stamped as the kernel does it."""
    return "".join(f"[{start + i * 0.0005:12.6f}] {line}\r\n"
                   for i, line in enumerate(text.strip("\n").split("\n")))


CALL_TRACE = """\
CPU: 1 PID: 212 Comm: fio Tainted: G           O       6.1.192-flash-debug #1
Call Trace:
 <TASK>
 dump_stack_lvl+0x5b/0x77
 k2_insert+0x44/0x1f0 [k2]
 blk_mq_sched_insert_requests+0xd0/0x2a0
 </TASK>
"""

SAMPLES = {
    "KASAN": """\
==================================================================
BUG: KASAN: use-after-free in k2_select+0x12c/0x340 [k2]
Read of size 8 at addr ffff888006e1a010 by task fio/212

""" + CALL_TRACE + """\

Allocated by task 211:
 kasan_save_stack+0x1e/0x40
==================================================================
Disabling lock debugging due to kernel taint
""",
    "UBSAN": """\
================================================================================
UBSAN: array-index-out-of-bounds in tests/flashsim/nand.c:88:12
index 16 is out of range for type 'unsigned int [16]'
""" + CALL_TRACE + """\
================================================================================
""",
    "lockdep": """\
======================================================
WARNING: possible circular locking dependency detected
6.1.192-flash-debug-1a2b3c4d #1 Tainted: G           O
------------------------------------------------------
fio/212 is trying to acquire lock:
ffff888006e1a0d8 (&rq->lock){+.+.}-{2:2}, at: k2_insert+0x44/0x1f0 [k2]

but task is already holding lock:
ffff888006e1a158 (&q->lock){+.+.}-{2:2}, at: k2_select+0x22/0x340 [k2]

which lock already depends on the new lock.
""" + CALL_TRACE,
    "suspicious RCU": """\
=============================
WARNING: suspicious RCU usage
6.1.192-flash-debug-1a2b3c4d #1 Tainted: G           O
-----------------------------
common/elevator/elevator.c:101 RCU-list traversed in non-reader section!!
""" + CALL_TRACE,
    "object debugging": """\
------------[ cut here ]------------
ODEBUG: free active (active state 0) object type: timer_list hint: x+0x0/0x10
WARNING: CPU: 1 PID: 99 at lib/debugobjects.c:505 debug_print_object+0xda/0x120
""" + CALL_TRACE + "---[ end trace 0000000000000000 ]---\n",
    "sleeping in atomic": """\
BUG: sleeping function called from invalid context at mm/slab.h:274
in_atomic(): 1, irqs_disabled(): 0, non_block: 0, pid: 212, name: fio
preempt_count: 1, expected: 0
INFO: lockdep is turned off.
""" + CALL_TRACE,
    "list corruption": """\
list_del corruption. prev->next should be ffff88800, but was dead000000000100
------------[ cut here ]------------
kernel BUG at lib/list_debug.c:59!
""" + CALL_TRACE,
    "workqueue lockup": """\
BUG: workqueue lockup - pool cpus=1 node=0 flags=0x0 nice=0 stuck for 64s!
Showing busy workqueues and worker pools:
workqueue events: flags=0x0
""",
    "hung task": """\
INFO: task fio:212 blocked for more than 241 seconds.
      Tainted: G           O       6.1.192-flash-debug-1a2b3c4d #1
""" + CALL_TRACE,
    "soft lockup": """\
watchdog: BUG: soft lockup - CPU#1 stuck for 121s! [fio:212]
""" + CALL_TRACE,
    "RCU stall": """\
rcu: INFO: rcu_preempt self-detected stall on CPU
rcu: \t1-....: (15000 ticks this GP) idle=c2d/1/0x4000000000000000
""" + CALL_TRACE,
}

# Titles that have the rest of their report in common with one of the above.
TITLES = [
    ("lockdep", "WARNING: possible recursive locking detected"),
    ("lockdep", "WARNING: possible irq lock inversion dependency detected"),
    ("lockdep", "WARNING: inconsistent lock state"),
    ("lockdep", "WARNING: HARDIRQ-safe -> HARDIRQ-unsafe lock order detected"),
    ("lockdep", "[ BUG: Invalid wait context ]"),
    ("lockdep", "WARNING: bad unlock balance detected!"),
    ("lockdep", "WARNING: held lock freed!"),
    ("lockdep", "WARNING: fio/212 still has locks held!"),
    ("lockdep", "BUG: MAX_LOCKDEP_ENTRIES too low!"),
    ("lockdep", "BUG: MAX_LOCKDEP_CHAINS too low!"),
    ("lockdep", "BUG: MAX_LOCK_DEPTH too low!"),
    ("lockdep", "BUG: MAX_STACK_TRACE_ENTRIES too low!"),
    ("lockdep", "lab: lockdep is off, it gave up at some point"),
    ("sleeping in atomic", "BUG: scheduling while atomic: fio/212/0x00000002"),
    ("object debugging", "ODEBUG: Out of memory. ODEBUG disabled"),
    ("kmemleak", "kmemleak: Kernel memory leak detector disabled"),
    ("kmemleak", "kmemleak: Cannot insert 0xffff888006e1a000 into the object "
                 "search tree (overlaps existing)"),
    ("kmemleak", "lab: kmemleak is off, leaks were not looked for"),
    ("BUG", "BUG: using smp_processor_id() in preemptible [00000000] code: x"),
    ("refcount", "refcount_t: addition on 0; use-after-free."),
]


@pytest.mark.parametrize("kind", SAMPLES)
def test_report_is_found_once_and_whole(kind):
    found = reports.scan(console("nvme nvme0: before\n" + SAMPLES[kind])
                         + console("nvme nvme0: unrelated", start=40))
    assert [r.kind for r in found] == [kind]
    assert "before" not in found[0].text()
    assert "unrelated" not in found[0].text()
    if CALL_TRACE in SAMPLES[kind]:
        assert "k2_insert+0x44" in found[0].text()
    # These count wherever they come from.
    assert reports.ours(found, ()) == (found, 0)


@pytest.mark.parametrize("kind,title", TITLES)
def test_title_alone_is_a_report(kind, title):
    assert [r.kind for r in reports.scan(console(title))] == [kind]


LEAK = """\
kmemleak: 1 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
"""
# As /init copies it to the console: not stamped.
LEAK_DETAILS = """\
unreferenced object 0xffff888006e1a000 (size 64):
  comm "modprobe", pid 99, jiffies 4294940000 (age 7.000s)
  hex dump (first 32 bytes):
    6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b 6b  kkkkkkkkkkkkkkkk
  backtrace:
    [<ffffffff81234567>] kmalloc_trace+0x27/0x50
    [<ffffffffc0000123>] flash_queue_init+0x33/0x100 [k2]
"""


def test_leak_is_reported_with_its_stack():
    (report,) = reports.scan(console(LEAK) + LEAK_DETAILS)
    assert report.kind == "kmemleak"
    assert "flash_queue_init+0x33" in report.text()


# What the kernel prints when a fault is injected and what follows of it.
INJECTED = """\
FAULT_INJECTION: forcing a failure.
name failslab, interval 1, probability 0, space 0, times 0
CPU: 0 PID: 300 Comm: bash Tainted: G           O       6.1.192-flash-debug #1
Hardware name: QEMU Standard PC (i440FX + PIIX, 1996)
Call Trace:
 <TASK>
 dump_stack_lvl+0x5b/0x77
 should_fail_ex.cold+0x5/0xa
 __should_failslab+0x8c/0xc0
 kmem_cache_alloc_node+0x4d/0x400
 k2_insert+0x44/0x1f0 [k2]
 </TASK>
"""

HARMLESS = [
    INJECTED,
    INJECTED.replace("failslab", "fail_page_alloc"),
    "bash: page allocation failure: order:0, mode:0xcc0(GFP_KERNEL)\n"
    + CALL_TRACE,
    "SLUB: Unable to allocate memory on node -1, gfp=0xcc0(GFP_KERNEL)",
    "kmemleak: Kernel memory leak detector initialized (mem pool available: "
    "15704)",
    "Lock dependency validator: Copyright (c) 2006 Red Hat, Inc.",
    "... MAX_LOCKDEP_SUBCLASSES:  8\n... MAX_LOCK_DEPTH:          48\n"
    "... MAX_LOCKDEP_KEYS:        8192\n... MAX_LOCKDEP_ENTRIES:     65536",
    "kasan: KernelAddressSanitizer initialized (generic)",
    "kcsan: enabled early\nkcsan: strict mode configured",
    "kmemleak: Cannot allocate a scan area, scanning the full object",
    "lab: begin 010-alias.k2",
    "I/O error, dev nullb0, sector 8 op 0x0:(READ) flags 0x0",
]


@pytest.mark.parametrize("text", HARMLESS, ids=range(len(HARMLESS)))
def test_what_must_not_count(text):
    assert reports.scan(console(text)) == []


RACE = """\
==================================================================
BUG: KCSAN: data-race in {0} / {1}

write to 0xffff888006e1a010 of 4 bytes by task 212 on cpu 0:
 {0}
 {2}
 blk_mq_submit_bio+0x1/0x2

read to 0xffff888006e1a010 of 4 bytes by interrupt on cpu 1:
 {1}
 blk_mq_end_request+0x1/0x2

value changed: 0x00000001 -> 0x00000002

Reported by Kernel Concurrency Sanitizer on:
CPU: 1 PID: 0 Comm: swapper/1 Tainted: G           O
==================================================================
"""


def race(first, second="blk_account_io_done+0x5/0x9", below="submit_bio+0x1"):
    """A report of a race between these functions."""
    return console(RACE.format(first, second, below))


@pytest.mark.parametrize("log,counts", [
    (race("k2_insert+0x44/0x1f0 [k2]"), True),
    (race("blk_mq_run+0x1/0x2", "flash_release+0x1/0x2 [k2]"), True),
    (race("sbitmap_get+0x1/0x2", below="sim_done+0x1/0x2 [flashsim]"), True),
    (race("sbitmap_get+0x1/0x2"), False),
    (race("nvme_irq+0x1/0x2 [nvme]"), False),
    (race("fifo_insert+0x1/0x2"), False),
    # What becomes of a bio or a request that we have ended is its owner's affair.
    (race("wbt_done+0x1/0x2", below="blk_mq_end_request+0x1/0x2\n"
          " fs_complete_rq+0x1/0x2 [flashsim]"), False),
    (race("aio_complete+0x1/0x2",
          below="bio_endio+0x1/0x2\n fs_complete_rq+0x1/0x2 [flashsim]"), False),
    (race("aio_complete+0x1/0x2",
          below="fs_timer+0x1/0x2 [flashsim]\n bio_endio+0x1/0x2"), True),
    (race("bio_endio+0x1/0x2", below="fs_complete_rq+0x1/0x2 [flashsim]"), True),
    # A run of a hardware queue is the block layer's; our dispatch in it is ours.
    (race("__blk_mq_delay_run_hw_queue+0x1/0x2", below="blk_mq_run_hw_queue+0x1/0x2\n"
          " k2_insert+0x1/0x2 [k2]"), False),
    (race("__blk_mq_delay_run_hw_queue+0x1/0x2",
          below="blk_mq_delay_run_hw_queue+0x1/0x2\n k2_insert+0x1/0x2 [k2]"), False),
    (race("blk_mq_run_hw_queue+0x1/0x2", below="k2_insert+0x1/0x2 [k2]"), True),
    (race("rb_erase+0x1/0x2", below="k2_dispatch+0x1/0x2 [k2]\n"
          " blk_mq_run_hw_queue+0x1/0x2"), True),
    # An interrupt while we were at work
    (race("tick+0x1/0x2", below="asm_sysvec_apic_timer_interrupt+0x1/0x2\n"
          " k2_insert+0x1/0x2 [k2]"), False),
    (race("tick+0x1/0x2", "k2_insert+0x1/0x2 [k2]",
          "asm_sysvec_apic_timer_interrupt+0x1/0x2"), True),
])
def test_races_count_if_they_are_ours(log, counts):
    found = reports.scan(log)
    assert [r.kind for r in found] == ["KCSAN"]
    mine, others = reports.ours(found, ("k2", "flashsim", "fifo"))
    assert (len(mine), others) == ((1, 0) if counts else (0, 1))


@pytest.mark.parametrize("log,status,says", [
    (race("sbitmap_get+0x1/0x2") + race("a+0x1/0x2").replace("[", "[9", 40),
     0, "counted only: 2"),
    (race("k2_insert+0x44/0x1f0 [k2]"), vm.REPORTED, "reported: KCSAN"),
    (console(SAMPLES["lockdep"]), vm.REPORTED, "reported: lockdep"),
    (console(INJECTED), 0, ""),
])
def test_run_fails_by_what_counts(log, status, says, monkeypatch, tmp_path,
                                  capsys):
    result = qemu.Result(console=bytearray(log.encode()), userspace=4.0,
                         status=0)
    monkeypatch.setattr(qemu, "run", lambda *_: result)
    args = vm.parse(["--kernel", "kcsan", "--", "true"])
    args.vmlinuz, args.own = "", ["k2"]
    machine = qemu.Machine(kernel="/vmlinux", initramfs=())
    assert vm.boot(machine, args, tmp_path / "log") == status
    assert says in capsys.readouterr().err


def cases_verdict(kernel_log, own):
    """The part of the kernel's log that tests/vm/run keeps, and its report."""
    text = (REPO / "tests/vm/run").read_text()
    begin = text.index("REPORTS='")
    patterns = text[begin:text.index("\n\n", begin)]
    begin = text.index("kernel_messages() {")
    function = text[begin:text.index("\n}\n", begin) + 3]
    scratch = kernel_log.parent
    done = subprocess.run(
        ["bash", "-c", f'{patterns}\n{function}\ndmesg() {{ cat "$0"; }}\n'
         "kernel_messages 010-case.k2", kernel_log], text=True, check=True,
        stdout=subprocess.PIPE, env={"PATH": "/usr/bin:/bin",
                                     "LAB_OWN": own, "TMP": str(scratch)})
    report = scratch / ".report"
    return done.stdout, report.read_text() if report.exists() else ""


@pytest.mark.parametrize("text,words", [
    *((sample, "") for sample in HARMLESS),
    (SAMPLES["KASAN"], "KASAN: use-after-free"),
    (SAMPLES["UBSAN"], "UBSAN: array-index"),
    (SAMPLES["lockdep"], "possible circular"),
    (SAMPLES["object debugging"], "ODEBUG: free active"),
    (RACE.format("k2_a [k2]", "b", "c"), "KCSAN: data-race in k2_a [k2]"),
    (RACE.format("a", "b", "c"), ""),
    (RACE.format("a", "b", "c") + SAMPLES["UBSAN"], "UBSAN: "),
])
def test_guest_judges_the_same(text, words, tmp_path):
    log = tmp_path / "dmesg"
    mine = "lab: begin 010-case.k2\n" + console(text).replace("\r", "")
    # Messages from before the case do not count.
    log.write_text(f"lab: begin 010-case\n{SAMPLES['KASAN']}\n{mine}")
    kept, said = cases_verdict(log, "k2 flashsim")
    assert kept.rstrip("\n") == mine.rstrip("\n")
    assert words in said and bool(words) == bool(said)
    assert said.count("\n") == bool(said)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q"]))
