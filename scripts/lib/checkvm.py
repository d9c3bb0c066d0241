# SPDX-License-Identifier: GPL-2.0
"""Cases in virtual machines: boots them, follows them, replaces a lost guest."""

import pathlib
import re
import shutil
import subprocess
import tempfile

import matrix
import vm
from checkcases import MACHINES

REPO = pathlib.Path(__file__).resolve().parents[2]

RESULTS = REPO / "build" / "check"
# Guests for one list of cases: each one beyond the first had to be replaced.
BOOTS_MAX = 6
# Guests that may be lost to a fault of QEMU's in one run, and be replaced.
LOST_MAX = 2


class Disks:
    """Files of the disks that the cases' machine has in addition to the lab's."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="flash-check-")
        top = pathlib.Path(self.folder.name)
        if re.search(r"[\s,:]", str(top)):
            raise RuntimeError(f"'{top}': want a TMPDIR without spaces, "
                               "commas and colons, for QEMU's options")
        for name in ("errors", "virtio", "sata", "scsi", "two1", "two2"):
            with open(top / name, "wb") as file:
                file.truncate(64 << 20)
        rules = [(8000 + 8 * n, "on") for n in range(64)] + [(16000, "off")]
        (top / "errors.cfg").write_text("".join(
            f'[inject-error]\nevent = "read_aio"\nerrno = "5"\n'
            f'sector = "{sector}"\nonce = "{once}"\n'
            for sector, once in rules))
        self.options = " ".join((
            "-drive if=none,id=errors,format=raw,cache=unsafe,"
            f"file=blkdebug:{top}/errors.cfg:{top}/errors",
            "-device nvme,serial=lab-errors,drive=errors",
            "-drive if=none,id=virtio,format=raw,cache=unsafe,"
            f"file={top}/virtio",
            "-device virtio-blk-pci,serial=lab-virtio,drive=virtio",
            f"-drive if=none,id=sata,format=raw,cache=unsafe,file={top}/sata",
            "-device ich9-ahci,id=ahci",
            "-device ide-hd,bus=ahci.0,serial=lab-sata,drive=sata",
            f"-drive if=none,id=scsi,format=raw,cache=unsafe,file={top}/scsi",
            "-device virtio-scsi-pci,id=vscsi",
            "-device scsi-hd,bus=vscsi.0,serial=lab-scsi,drive=scsi",
            # One controller, two namespaces: disks that share their tags.
            "-device nvme,id=two,serial=lab-two,max_ioqpairs=2",
            *(f"-drive if=none,id=two{n},format=raw,cache=unsafe,"
              f"discard=unmap,file={top}/two{n} "
              f"-device nvme-ns,bus=two,drive=two{n},nsid={n}"
              for n in (1, 2))))

    def close(self):
        """Removes them."""
        self.folder.cleanup()


def _tail_of(folder, case):
    try:
        text = (folder / f"{case}.log").read_text(errors="replace")
    except OSError:
        return ""
    return text.split("--- kernel's messages")[0]


def boot(suite, series, machine, names, number, limit):
    """One guest for these cases; those that it did not get to run, or None."""
    out = RESULTS / f"vm-{series}-{machine}-{number}"
    out.mkdir(parents=True)
    label = label_of(series, machine)
    planned, done, late, stuck = [], [], [], False
    disks = Disks()
    try:
        with open(out / "vm.stderr", "w+", encoding="utf-8",
                  errors="replace") as errors:
            child = suite.start(
                [REPO / "scripts" / "vm", "--kernel", series,
                 *MACHINES[machine], "--timeout", limit, "--out", out,
                 "--qemu", disks.options, "--",
                 "LAB_DISKS=1 /tests/vm/run " + " ".join(names)],
                stdout=subprocess.PIPE, stderr=errors)
            for line in child.stdout:
                words = line.split(None, 4)
                stuck = stuck or line.startswith("run: the guest is stuck")
                if words[:1] == ["CASES"]:
                    planned = line.split()[1:]
                    suite.earlier.plan(series, machine, names, planned)
                elif words[:1] == ["CASE"] and len(words) >= 4:
                    reason = words[4].strip() if len(words) > 4 else ""
                    done.append(words[1])
                    name = f"{label} {words[1]} ({words[3]} s)"
                    # A log is on this side only when the guest has ended.
                    late.append((words[2].lower(), name, reason, words[1]))
                    suite.matrix.add(series, words[1].rpartition(".")[2],
                                     words[2].lower(), int(words[3]))
                    suite.earlier.add(series, machine, words[1],
                                      words[2].lower(), int(words[3]), reason)
                    suite.tell(*late[-1][:3])
            status = child.wait()
            suite.children.discard(child)
            errors.seek(0)
            said = errors.read()
    finally:
        disks.close()
    suite.look_for_retries(said)
    for verdict, name, reason, case in late:
        suite.note(verdict, name, reason, _tail_of(out, case), told=True)
    for name in names if planned else ():
        if not any(name in (case, case.rpartition(".")[0])
                   for case in planned):
            suite.matrix.add(series, name.partition(".")[2] or matrix.MACHINE,
                             "fail")
            suite.note("fail", f"{label} {name}",
                       "the guest has no such case or scheduler")
    left = [case for case in planned if case not in done]
    if not planned:
        suite.matrix.add(series, matrix.MACHINE, "fail")
        suite.note("fail", f"{label} virtual machine", f"status {status}", said)
        return []
    # The cause has been reported by then, which hides status 3.
    if status == 3 or stuck:
        return left
    if left and vm.LOST in said and suite.lost < LOST_MAX:
        suite.lost += 1
        print(f"  {label} {left[0]}: QEMU lost this guest, {suite.lost} of "
              f"{LOST_MAX} that may be replaced (docs/lab.md)", flush=True)
        return left
    if left:
        suite.matrix.add(series, left[0].rpartition(".")[2], "fail")
        suite.note("fail", f"{label} {left[0]}", "the guest died or hung "
                   f"(status {status} of scripts/vm)", said)
        return left[1:]
    if status == 125 and not any(v == "fail" for v, *_ in late):
        # The report names no case.
        suite.earlier.drop(series, machine, done)
        suite.matrix.add(series, matrix.MACHINE, "fail")
        suite.note("fail", f"{label} kernel", "it reported something", said)
    elif status not in (0, 1, 125):
        suite.earlier.drop(series, machine, done)
        suite.matrix.add(series, matrix.MACHINE, "fail")
        suite.note("fail", f"{label} virtual machine", f"status {status}", said)
    return []


def label_of(series, machine):
    """A kernel, and the machine if that is not the usual one."""
    return series if machine == "default" else f"{series} {machine}"


def without_earlier(suite, series, machine, names):
    """Names of cases without those that --resume leaves out, which count."""
    left = []
    for name in names:
        found = suite.earlier.done(series, machine, name)
        if not found:
            left.append(name)
        for case, verdict, seconds, reason in found:
            suite.matrix.add(series, case.rpartition(".")[2], verdict, seconds)
            suite.note(verdict, f"{label_of(series, machine)} {case} "
                       f"({seconds} s, earlier)", reason)
    return left


def check_vm(suite, leg, machine, names, limit):
    """Cases in as few guests as it takes."""
    series = leg.series
    names = without_earlier(suite, series, machine, names)
    if not names:
        return
    for old in RESULTS.glob(f"vm-{series}-{machine}-*"):
        shutil.rmtree(old, ignore_errors=True)
    for number in range(1, BOOTS_MAX + 1):
        names = boot(suite, series, machine, names, number, limit)
        if not names:
            return
        print(f"  a new guest for the other {len(names)}", flush=True)
    for name in names:
        suite.matrix.add(series, name.rpartition(".")[2], "fail")
        suite.note("fail", f"{series} {name}", "not run, too many guests died")
