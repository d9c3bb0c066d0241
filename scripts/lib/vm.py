# SPDX-License-Identifier: GPL-2.0
"""scripts/vm: boots a kernel with the project's modules, runs a command.

Prints the command's output and ends with its status; what the kernel
complains about is shown, and makes the status 125 whatever the command said.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import children
import initramfs
import kernel
import options
import qemu
import reports

REPO = pathlib.Path(__file__).resolve().parents[2]

TIMED_OUT, REPORTED, NO_KERNEL, TROUBLE = 124, 125, 77, 1
RETRIES = 2
# scripts/check looks for this text.
LOST = "a fault of QEMU's, not of the guest's: "
KVM_PROBE_SECONDS = 20

_UNITS = {"": 1 << 20, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def say(text):
    """One line about the run itself; stdout belongs to the command."""
    print(f"vm: {text}", file=sys.stderr, flush=True)


def _size_text(size):
    return f"{size >> 30}G" if size % (1 << 30) == 0 else f"{size >> 20}M"


def size(low, high):
    """An argparse type: bytes from e.g. 512M or 2G; a bare number is MiB."""
    def convert(text):
        match = re.fullmatch(r"(\d+)([MGT]?)(?:i?B)?", text, re.I)
        value = int(match[1]) * _UNITS[match[2].upper()] if match else -1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(
                f"'{text}': want a size from {_size_text(low)} to "
                f"{_size_text(high)}, such as 512M or 2G")
        return value
    return convert


def _folder(text):
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(
            f"'{text}': want a directory that exists")
    return os.path.abspath(text)


def _new_folder(text):
    if os.path.exists(text) and not os.path.isdir(text):
        raise argparse.ArgumentTypeError(
            f"'{text}': want a directory, or a name that is free")
    return os.path.abspath(text)


def parse(argv):
    """The options, with the command as .command."""
    argv, command = (argv[:argv.index("--")], argv[argv.index("--") + 1:]) \
        if "--" in argv else (argv, None)
    parser = options.Parser(
        "vm",
        usage="scripts/vm [options] -- COMMAND",
        description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: the command's own; 124 time-out; 125 the kernel "
        "reported something, or the guest died; 77 no such kernel to be had "
        "here; 2 bad options; 1 trouble before the guest ran. More in "
        "docs/lab.md.")
    add = parser.add_argument
    options.add_kernel(add)
    add("--cpus", type=options.number(1, 16), metavar="N",
        help="virtual CPUs, 1 to 16 (default 2)")
    add("--nvme-queues", type=options.number(1, 64), metavar="N",
        help="I/O queues of the NVMe disk, 1 to 64 (default: as CPUs)")
    add("--memory", type=size(384 << 20, 32 << 30),
        metavar="SIZE", help="384M to 32G (default 1G; debug kernels 2G)")
    add("--disk", type=size(1 << 20, 1 << 40), metavar="SIZE",
        help="size of /dev/nvme0n1, 1M to 1024G, sparse (default 1G)")
    add("--timeout", type=options.number(10, 86400), metavar="S",
        help="seconds for boot and command, 10 to 86400 (default 600; debug "
        "kernels more)")
    add("--virtual-time", action="store_true",
        help="the guest's clock counts its instructions, whatever the host "
        "does; one CPU, no KVM, and an NVMe disk only with --disk or "
        "--nvme-queues")
    add("--distro-boot", action="store_true",
        help="boot the kernel's own image with the distribution's defaults: "
        "KASLR, and mitigations for CPU bugs (the lab turns both off)")
    add("--kaslr", action="store_true",
        help="boot the kernel's own image at random addresses, without "
        "mitigations: for comparisons that the place of code may decide")
    add("--share", type=_folder, metavar="DIR",
        help="show DIR read-only as /share")
    add("--files", type=_folder, metavar="DIR",
        help="put a copy of DIR into the guest's memory as /files: what is "
        "too long for the command, and nothing waits for the host")
    add("--out", type=_new_folder, metavar="DIR",
        help="copy what the command leaves in /out to DIR")
    add("--append", default="", metavar="WORDS",
        help="more parameters for the guest's kernel, as one word")
    add("--qemu", default="", metavar="OPTS",
        help="more options for QEMU, as one word")
    add("--no-modules", action="store_true",
        help="neither build nor install the project's modules")
    add("--verbose", action="store_true",
        help="show the kernel's console on stderr, keep its log")
    # argparse takes a value such as -snapshot for one of its options.
    if "--qemu" in argv[:-1]:
        at = argv.index("--qemu")
        argv = [*argv[:at], "--qemu=" + argv[at + 1], *argv[at + 2:]]
    args = parser.parse_args(argv)
    if not command or not " ".join(command).strip():
        parser.error("no command: want `-- COMMAND`, one shell string")
    args.command = " ".join(command)
    try:
        shlex.split(args.qemu)
    except ValueError as error:
        parser.error(f"argument --qemu: '{args.qemu}': {error}")
    if args.virtual_time:
        if args.cpus not in (None, 1):
            parser.error(f"argument --cpus: '{args.cpus}': --virtual-time "
                         "wants 1, its clock counts the instructions of one "
                         "CPU")
        for option, given in (("--distro-boot", args.distro_boot),
                              ("--kaslr", args.kaslr)):
            if given:
                parser.error(f"argument {option}: not with --virtual-time, "
                             "whose figures are those of the lab's own boot")
    args.cpus = args.cpus or (1 if args.virtual_time else 2)
    # In virtual time only on request: the disk has the host's time.
    args.nvme = bool(not args.virtual_time or args.disk or args.nvme_queues)
    args.nvme_queues = args.nvme_queues or args.cpus
    args.disk = args.disk or 1 << 30
    series = kernel.SERIES[args.kernel]
    args.timeout = args.timeout or 600 * series.slow
    # Such kernels store their state of each byte beside it.
    args.memory = args.memory or (2 << 30 if series.slow > 1 else 1 << 30)
    args.own = ()
    args.vmlinuz = ""
    return args


def build_modules(facts):
    """Builds the project's modules; {file name: bytes}."""
    if not (REPO / "Kbuild").exists() or not (REPO / "Makefile").exists():
        say("no Kbuild and Makefile here yet: going without own modules")
        return {}
    # Two runs must not build in one tree at once, nor read half a module.
    with kernel.locked(REPO / "build" / ".vm-modules.lock"):
        started = time.monotonic()
        done = subprocess.run(
            ["make", "-s", "-C", REPO, "modules",
             f"KVER={facts['release']}", *kernel.make_words(facts)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            env=children.environment(), check=False)
        if done.returncode:
            sys.stderr.write(done.stdout)
            raise RuntimeError(
                f"the modules do not build for {facts['release']}, see above")
        if time.monotonic() - started > 2:
            say(f"built the modules in {time.monotonic() - started:.0f} s")
        folder = REPO / "build" / "modules" / facts["release"]
        return {p.name: p.read_bytes() for p in sorted(folder.glob("*.ko"))}


def _boot_id():
    return pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def accelerator(cache, facts, parts):
    """"kvm" if a guest really boots with it, else "tcg".

    That /dev/kvm opens proves nothing: on some hosts a guest then aborts or
    spins for ever. So one is booted, once for each boot of the host.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    memory = cache / "kvm-probe"
    boot = _boot_id()
    with kernel.locked(cache / ".kvm-probe.lock"):
        if memory.exists():
            words = memory.read_text().split()
            if len(words) == 2 and words[0] == boot and \
                    words[1] in ("kvm", "tcg"):
                return words[1]
        say(f"trying whether KVM works here (once, {KVM_PROBE_SECONDS} s "
            "at most)")
        tiny = initramfs.project(cache, facts, {}, (), "true", {})
        result = qemu.run(
            qemu.Machine(kernel=facts["vmlinuz"], accel="kvm", cpus=1,
                         memory=1 << 30, initramfs=(*parts, tiny)),
            KVM_PROBE_SECONDS, lambda data: None)
        works = "kvm" if result.status == 0 else "tcg"
        memory.write_text(f"{boot} {works}\n")
    return works


def _show(found):
    for report in found:
        say(f"the kernel reported: {report.kind}")
        sys.stderr.write(report.text() + "\n")
    sys.stderr.flush()


def _qemu(result):
    """QEMU's own messages, as a suffix of another message."""
    return f"\nQEMU said: {result.qemu_said}" if result.qemu_said else ""


def _tail(console, count=15):
    text = console.decode(errors="replace").replace("\r", "").strip()
    return "\n".join(text.split("\n")[-count:])


def _hang(console):
    """The console's end, from where the kernel was asked what it does."""
    lines = _tail(console, 400).split("\n")
    asked = next((i for i, line in enumerate(lines)
                  if "sysrq: Show Blocked State" in line), len(lines))
    return "\n".join(lines[max(0, asked - 15):])


def verdict(result, found, timeout):
    """(exit status, what to say or "") for a guest that reached init."""
    if result.timed_out:
        return (REPORTED if found else TIMED_OUT,
                f"time-out after {timeout} s; the console's last lines:\n"
                + _hang(result.console))
    if result.status is None:
        return REPORTED, ("the guest died before the command ended" if found
                          else "the guest died without a word; the console's "
                          "last lines:\n" + _tail(result.console)) \
            + _qemu(result)
    return (REPORTED if found else result.status), ""


def _write(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _keep_log(console, log):
    if log:
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            log.write_bytes(bytes(console).replace(b"\r", b""))
            say(f"console log: {log}")
        except OSError as error:
            say(f"could not keep the console log: {error}")


def boot(machine, args, log):
    """Runs the guest, once more if it dies before init; the exit status."""
    on_console = None
    if args.verbose:
        def on_console(data):
            sys.stderr.buffer.write(data.replace(b"\r", b""))
            sys.stderr.buffer.flush()
    retries = 0
    while True:
        result = qemu.run(machine, args.timeout, _write, on_console)
        if result.userspace is not None or result.timed_out:
            break
        if result.qemu_status and not result.console:
            raise RuntimeError("QEMU did not start: "
                               + (result.qemu_said or "it said nothing"))
        say("boot died before userspace; the console's last lines:\n"
            + _tail(result.console) + _qemu(result))
        if retries == RETRIES:
            say(f"gave up after {retries} retries")
            _keep_log(result.console, log)
            return REPORTED
        retries += 1
        machine.kernel = args.vmlinuz
        say(f"retry {retries} of {RETRIES}")
    found, foreign = reports.ours(
        reports.scan(result.console.decode(errors="replace")), args.own)
    _show(found)
    if foreign:
        say(f"data races that are not our modules', counted only: {foreign}")
    status, text = verdict(result, found, args.timeout)
    if text:
        say(text)
    why = "" if result.status is not None else reports.lost_to_qemu(
        result.console.decode(errors="replace"), args.own)
    if why:
        say(f"{LOST}{why} (docs/lab.md, faults of QEMU)")
    if retries:
        say(f"boots retried: {retries}")
    if found or status in (TIMED_OUT, REPORTED) or args.verbose:
        _keep_log(result.console, log)
    if args.verbose:
        say("seconds to userspace, command, end: " + ", ".join(
            "-" if t is None else f"{t:.1f}"
            for t in (result.userspace, result.command, result.ended)))
    return status


def run(args):
    """Everything between the options and the exit status."""
    cache = kernel.cache_dir()
    facts = kernel.Store(cache).get(args.kernel)
    own = {} if args.no_modules else build_modules(facts)
    parts = (initramfs.base(cache), initramfs.modules(cache, facts))
    args.own = [pathlib.Path(name).stem.replace("-", "_") for name in own]
    environment = {
        "KERNEL_SERIES": args.kernel,
        "LAB_SLOW": str(kernel.SERIES[args.kernel].slow),
        "LAB_OWN": " ".join(args.own),
        "LAB_SHARE": "1" if args.share else "",
        "LAB_OUT": "1" if args.out else "",
        "LAB_NVME": "1" if args.nvme else "",
        "VIRTUAL_TIME": "1" if args.virtual_time else "",
    }
    trees = [(REPO / "tests/vm", "tests/vm"), (REPO / "tests/fio", "tests/fio"),
             (REPO / "scripts/stages-record", "usr/bin/stages-record")]
    if args.files:
        trees.append((pathlib.Path(args.files), "files"))
    parts += (initramfs.project(cache, facts, own, trees, args.command,
                                environment),)
    accel = "tcg" if args.virtual_time else \
        accelerator(cache, facts, parts[:2])
    if args.out:
        os.makedirs(args.out, exist_ok=True)
    scratch = os.environ.get("TMPDIR") or tempfile.gettempdir()
    kaslr = args.kaslr or args.distro_boot
    machine = qemu.Machine(
        # KASLR is the work of the image's decompressor, which PVH leaves out.
        kernel=facts["vmlinuz" if kaslr else "vmlinux"], kaslr=kaslr,
        mitigations=args.distro_boot, initramfs=parts, cpus=args.cpus,
        nvme_queues=args.nvme_queues, memory=args.memory, disk=args.disk,
        accel=accel, virtual_time=args.virtual_time, nvme=args.nvme,
        slow=kernel.SERIES[args.kernel].slow,
        share=args.share or "",
        out=args.out or "", append=args.append, options=args.qemu,
        scratch=scratch)
    if args.virtual_time and args.nvme:
        say("the NVMe disk completes in the host's time, and now so does the "
            "boot: nothing here is repeatable to the nanosecond")
    shape = "virtual time, 1 CPU" if args.virtual_time else \
        f"{args.cpus} CPUs, {args.nvme_queues} NVMe queues"
    say(f"{facts['release']}, {accel.upper()}, {shape}, {len(own)} own "
        f"modules, initramfs {sum(map(len, parts)) / 1e6:.0f} MB")
    # Options for the repetition of a boot that died: as hardware does it.
    args.vmlinuz = facts["vmlinuz"]
    log = REPO / "build" / "vm" / \
        f"console-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    return boot(machine, args, log)


def boots_retried(said):
    """How often a guest was booted again, from what this wrote on stderr."""
    return len(re.findall(r"^vm: retry \d+ of \d+$", said, re.M))


def measured(series, timeout, share, out, command):
    """The status of scripts/vm for a command in virtual time.

    It runs as a separate process, which does not outlive an exception here; its
    output is printed line by line.
    """
    guest = subprocess.Popen(
        [str(REPO / "scripts" / "vm"), "--kernel", series, "--virtual-time",
         "--timeout", str(timeout), "--share", str(share), "--out", str(out),
         "--", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        text=True, errors="replace", start_new_session=True)
    try:
        for line in guest.stdout:
            print(line.rstrip(), flush=True)
        return guest.wait()
    finally:
        if guest.poll() is None:
            os.killpg(guest.pid, signal.SIGTERM)
            guest.wait()


def guarded(speaker, say_it, series, body, interrupted=None):
    """The exit status of a script that boots guests of one series.

    `body()` returns it; `interrupted` is printed after a signal, else its name.
    """
    kernel.SPEAKER = speaker
    options.catch_signals()
    try:
        return body()
    except options.Interrupted as error:
        say_it(interrupted or
               f"ended by {signal.Signals(error.number).name}")
        return 128 + error.number
    except kernel.Unavailable as error:
        say_it(f"kernel {series} cannot be had: {error}")
        return NO_KERNEL
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        say_it(str(error))
        return TROUBLE


def main(argv=None):
    """Command line of scripts/vm."""
    args = parse(sys.argv[1:] if argv is None else argv)
    # A caller from Python has installed the packages.
    if argv is None:
        options.need("build", "vm")
    if not shutil.which(qemu.QEMU):
        say(f"no {qemu.QEMU}: run scripts/deps vm")
        return TROUBLE

    def body():
        try:
            return run(args)
        except BrokenPipeError:
            return options.reader_gone()
    return guarded("vm", say, args.kernel, body)


if __name__ == "__main__":
    sys.exit(main())
