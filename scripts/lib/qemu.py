# SPDX-License-Identifier: GPL-2.0
"""Runs one guest in QEMU, from its start to its end.

The guest's three serial ports are socket pairs: the kernel's console, the
command's output, and control lines from init. Disk and initramfs are files
without a name, so nothing is left behind, however this process ends.
"""

import fcntl
import json
import os
import selectors
import shlex
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

import children

QEMU = "qemu-system-x86_64"

# How long a kernel may take to reach init before the boot counts as dead. A
# TCG boot takes about 5 s alone and ten times that on a crowded host.
BOOT_SECONDS = 180
# This long before the time-out the kernel is asked where it hangs.
SYSRQ_SECONDS = 20


@dataclass
class Machine:
    """The parts of a guest."""
    kernel: str                 # vmlinux (booted by PVH) or vmlinuz
    initramfs: tuple
    cpus: int = 2
    nvme_queues: int = 2
    memory: int = 1 << 30
    disk: int = 1 << 30
    accel: str = "tcg"
    virtual_time: bool = False  # with tcg and one CPU only
    kaslr: bool = False         # addresses as the kernel chooses them; a vmlinuz only
    mitigations: bool = False   # as the kernel has them
    slow: int = 1               # how many times longer its boot may take
    nvme: bool = True
    share: str = ""
    out: str = ""
    append: str = ""            # more parameters for the kernel
    options: str = ""
    scratch: str = ""


@dataclass
class Result:
    """How a guest ended."""
    console: bytearray = field(default_factory=bytearray)
    userspace: float = None     # seconds from the start of QEMU
    command: float = None
    status: int = None          # of the command; None: it never ended
    ended: float = None
    timed_out: bool = False
    qemu_said: str = ""
    qemu_status: int = None     # None: it had to be killed
    marks: dict = field(default_factory=dict)


# One instruction is 1 ns; when the CPU idles, the clock jumps to the next timer.
# With record, QEMU's threads take turns at fixed points. Without it, whether the
# main thread sees an idle guest a moment earlier or later moves the guest's clock
# by a few instructions, and after a second two runs have only their means in
# common. The recording itself is discarded.
# Two runs with the same initramfs are then the same to the last instruction,
# unless the guest sees the host's date or its random numbers (-seed does not
# reach RDRAND). Without RDRAND the kernel makes do with its own jitter.
VIRTUAL_TIME = ("-accel", "tcg,thread=single",
                "-cpu", "max,rdrand=off,rdseed=off",
                "-icount", "shift=0,sleep=off,rr=record,rrfile=/dev/null",
                "-rtc", "base=2024-01-01T00:00:00,clock=vm")
_VIRTUAL_TIME_WORDS = (
    # The TSC counts instructions: it cannot be wrong, and a watchdog that
    # compares it with another clock only costs time.
    "clocksource=tsc", "tsc=reliable",
    # Where a program's stack and heap lie decides how many instructions it
    # takes, by a few.
    "norandmaps",
)


# The trace events that most tests use are on from the start, while there is one CPU;
# init stops the recording. The event of insertions is not on: while it is traced, a
# submitter that inserts without a lock has to take it. Switching an event rewrites
# kernel code that other CPUs run, and QEMU before 8.1 can then keep a stale
# translation of it: a CPU meets the breakpoint of the rewriting again and again, long
# after it was removed.
# Task names are not recorded, as the hottest events of all would record them.
# Neither may the watchdog of clocks find the TSC wanting, which a host that lets a
# virtual CPU stand still makes it: that rewrites code of the scheduler's clock.
_HOST_TIME_WORDS = (
    "trace_options=norecord-cmd",
    "trace_event=" + ",".join(f"block:block_rq_{name}" for name in (
        "issue", "complete", "requeue")),
    "tsc=nowatchdog",
)


def _command_line(machine):
    return " ".join((
        "console=ttyS0,115200", "loglevel=8",
        # A dead guest ends QEMU (-no-reboot) instead of rebooting for ever.
        "panic=-1", "oops=panic", "sysrq_always_enabled",
        # Addresses in reports mean the same in every run; the guest runs nothing that
        # needs protecting, and TCG pays dearly for mitigations.
        *(() if machine.kaslr else ("nokaslr",)),
        *(() if machine.mitigations else ("mitigations=off",)), "audit=0",
        # No guest in the lab is worth waiting for entropy.
        "random.trust_cpu=on",
        # As in guest-init.sh: a virtual CPU can stand still under TCG.
        "rcupdate.rcu_cpu_stall_timeout=60",
        *(_VIRTUAL_TIME_WORDS if machine.virtual_time else
          _HOST_TIME_WORDS),
        # Last, because the kernel uses the last of two equal parameters.
        *machine.append.split(),
    ))


def arguments(machine, fds):
    """QEMU's command line; `fds` numbers the files that it inherits."""
    if machine.virtual_time:
        accel = list(VIRTUAL_TIME)
    elif machine.accel == "kvm":
        accel = ["-accel", "kvm", "-cpu", "host"]
    else:
        accel = ["-accel", "tcg,thread=multi", "-cpu", "max"]
    line = [
        QEMU, *accel, "-machine", "pc", "-nodefaults", "-no-user-config",
        "-no-reboot", "-display", "none", "-smp", str(machine.cpus),
        "-m", f"{machine.memory >> 20}M",
        "-kernel", machine.kernel, "-initrd", f"/dev/fd/{fds['initrd']}",
        "-append", _command_line(machine),
    ]
    # A socket is full after some 280 single bytes, and a guest that has to wait
    # has waited for the host; a pipe takes a megabyte, but has one direction.
    port = "file,id={0},path=/dev/fd/{1}" if machine.virtual_time else \
        "socket,id={0},fd={1}"
    for name in ("console", "output", "control"):
        line += ["-chardev", port.format(name, fds[name]),
                 "-serial", f"chardev:{name}"]
    line += ["-chardev", f"socket,id=qmp,fd={fds['qmp']}",
             "-mon", "chardev=qmp,mode=control"]
    # no-flush: the host's disk is not waited for; a guest's data is worth
    # nothing after the guest has ended.
    line += [] if not machine.nvme else [
        "-add-fd", f"fd={fds['disk']},set=1",
        "-blockdev", "driver=raw,node-name=disk,discard=unmap,"
        "cache.direct=off,cache.no-flush=on,file.driver=file,"
        "file.filename=/dev/fdset/1,file.locking=off",
        "-device", "nvme,serial=flash-iosched,drive=disk,"
        f"max_ioqpairs={machine.nvme_queues}",
    ]
    for tag, folder, mode in (("share", machine.share, ",readonly=on"),
                              ("out", machine.out, "")):
        if folder:
            path = folder.replace(",", ",,")
            line += ["-fsdev", f"local,id={tag},path={path},"
                     f"security_model=none,multidevs=remap{mode}",
                     "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
    return line + shlex.split(machine.options)


def _pipe():
    """(reading end, writing end) of a pipe as large as everyone may have it."""
    ends = [open(fd, mode, buffering=0)
            for fd, mode in zip(os.pipe(), ("rb", "wb"))]
    try:
        fcntl.fcntl(ends[1], fcntl.F_SETPIPE_SZ, 1 << 20)
    except OSError:
        pass
    return ends


class Guest:
    """A running QEMU with its channels."""

    def __init__(self, machine):
        self.machine = machine
        self.process = None
        self.ends = {}

    def __enter__(self):
        machine = self.machine
        theirs, fds = {}, {}
        initrd = os.memfd_create("initramfs", 0)
        disk = tempfile.TemporaryFile(dir=machine.scratch or None)
        errors = tempfile.TemporaryFile(dir=machine.scratch or None)
        try:
            for part in machine.initramfs:
                view = memoryview(part)
                while view:
                    view = view[os.write(initrd, view):]
            disk.truncate(machine.disk)
            for name in ("console", "output", "control", "qmp"):
                if machine.virtual_time and name != "qmp":
                    self.ends[name], theirs[name] = _pipe()
                else:
                    self.ends[name], theirs[name] = socket.socketpair()
                fds[name] = theirs[name].fileno()
            fds.update(initrd=initrd, disk=disk.fileno())
            self.errors = errors
            self.process = subprocess.Popen(
                arguments(machine, fds), stdin=subprocess.DEVNULL,
                stdout=errors, stderr=errors,
                pass_fds=list(fds.values()), start_new_session=True,
                # Not even SIGKILL of this script leaves a QEMU.
                preexec_fn=children.tied(signal.SIGKILL))
        finally:
            os.close(initrd)
            disk.close()
            for end in theirs.values():
                end.close()
        return self

    def __exit__(self, *_):
        if self.process:
            if self.process.poll() is None:
                self.process.kill()
            self.process.wait()
        for end in self.ends.values():
            end.close()

    def sysrq(self, keys):
        """Asks the kernel for a report over its serial console.

        From outside, as a guest that hangs cannot be relied upon to ask for it
        itself: a BREAK on the console and then the key. In virtual time the
        console takes no input, so the key is sent over the keyboard.
        """
        qmp = self.ends["qmp"]
        if self.machine.virtual_time:
            for key in keys:
                for request in ({"execute": "qmp_capabilities"},
                                {"execute": "send-key", "arguments": {"keys": [
                                    {"type": "qcode", "data": code}
                                    for code in ("alt", "sysrq", key)]}}):
                    qmp.sendall(json.dumps(request).encode() + b"\n")
                time.sleep(0.3)
            return
        for key in keys:
            for request in ({"execute": "qmp_capabilities"},
                            {"execute": "chardev-send-break",
                             "arguments": {"id": "console"}}):
                qmp.sendall(json.dumps(request).encode() + b"\n")
            # The key must not arrive before the BREAK.
            time.sleep(0.3)
            self.ends["console"].sendall(key.encode())
            time.sleep(0.3)

    def said(self):
        """QEMU's own output."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace").strip()


def run(machine, timeout, on_output, on_console=None):
    """Boots, waits for the end or the time-out, returns the Result.

    on_output(bytes) gets the command's output during the run, on_console the
    kernel's messages.
    """
    result = Result()
    control = b""
    with Guest(machine) as guest, selectors.DefaultSelector() as selector:
        start = time.monotonic()
        deadline = start + timeout
        asked = False
        for name in ("console", "output", "control", "qmp"):
            fcntl.fcntl(guest.ends[name], fcntl.F_SETFD, fcntl.FD_CLOEXEC)
            selector.register(guest.ends[name], selectors.EVENT_READ, name)
        while len(selector.get_map()) > 0:
            now = time.monotonic()
            if now > deadline:
                result.timed_out = True
                break
            if result.userspace is None and \
                    now - start > BOOT_SECONDS * machine.slow:
                break
            if not asked and result.userspace is not None and \
                    now > deadline - SYSRQ_SECONDS and \
                    now - start > SYSRQ_SECONDS / 4:
                asked = True
                try:
                    guest.sysrq("wl")
                except OSError:
                    pass
            # Once the status is there, only what is already in the sockets
            # is still of interest.
            done = result.status is not None
            ready = selector.select(0 if done else 0.5)
            if done and not ready:
                break
            for key, _ in ready:
                try:
                    data = os.read(key.fd, 1 << 16)
                except ConnectionError:
                    data = b""
                if not data:
                    selector.unregister(key.fileobj)
                elif key.data == "output":
                    on_output(data)
                elif key.data == "console":
                    result.console += data
                    if on_console:
                        on_console(data)
                elif key.data == "control":
                    control += data
                    *lines, control = control.split(b"\n")
                    for line in lines:
                        _control(line.decode(errors="replace"), result,
                                 time.monotonic() - start)
        result.ended = time.monotonic() - start
        if result.status is None and not result.timed_out:
            # The sockets close a moment before the process ends.
            try:
                result.qemu_status = guest.process.wait(2)
            except subprocess.TimeoutExpired:
                pass
        result.qemu_said = guest.said()
    return result


def _control(line, result, now):
    """Takes note of a line from init: `stage [status] guest-uptime`."""
    words = line.split()
    if not words:
        return
    result.marks[words[0]] = words[-1]
    if words[0] == "userspace":
        result.userspace = now
    elif words[0] == "command":
        result.command = now
    elif words[0] == "status" and len(words) > 1 and words[1].isdigit():
        result.status = int(words[1])
