# SPDX-License-Identifier: GPL-2.0
"""scripts/crash: cuts the power of a guest whose writers were promised things.

In a first guest several programs write files through the scheduler, on ext4 on
NVMe, virtio-blk and SCSI disks with a volatile write cache, and say what fsync
and its like have promised. QEMU is killed, and what no flush had asked for is
lost, or half of it. A second guest has to replay the journals, find all that
was promised, and satisfy e2fsck. docs/crash.md says what that proves.
"""

import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field

import kernel
import options
import schedulers
import vm
import volatiledisk

REPO = pathlib.Path(__file__).resolve().parents[2]
SOURCES = REPO / "tests" / "crash"
KEPT = REPO / "build" / "crash"

# Seconds of a round on two quiet cores without KVM, for the estimate only.
ROUND_SECONDS = 60
DISK_MEGABYTES = 500
SIZE = 192 << 20
# The journal is as small as it may be: it has to wrap, and be written back, or
# the order of that is not tested.
MKFS = ("mke2fs", "-q", "-F", "-t", "ext4", "-b", "4096", "-J", "size=4",
        "-E", "lazy_itable_init=0,lazy_journal_init=0")
# Number of promises before the power is cut, over all disks.
FEWEST, MOST = 150, 700
# Seconds for boot and writing, and for boot and looking.
WRITE_LIMIT, CHECK_LIMIT = 240, 300
BOUNDS = ("-", "1", "4")
LONGEST_SOCKET = 100

_BLOCKS = "logical_block_size=4096,physical_block_size=4096"


@dataclass(frozen=True)
class Kind:
    """A kind of disk; %s stands for its drive and its serial."""
    tag: str
    name: str
    device: str
    controller: str = ""
    # How the file system gets there: "" or "loop".
    through: str = ""


KINDS = (
    # QEMU's NVMe controller takes FUA for a plain write, which this disk may
    # lose. A loop device on top has no FUA: it sends flushes.
    Kind("n", "NVMe", "nvme,drive=%s,serial=%s,max_ioqpairs=2," + _BLOCKS,
         through="loop"),
    Kind("v", "virtio", "virtio-blk-pci,drive=%s,serial=%s,num-queues=2,"
         "write-cache=on," + _BLOCKS),
    # Here FUA is a write and a flush to QEMU.
    Kind("s", "SCSI", "scsi-hd,drive=%s,serial=%s,dpofua=on,write-cache=on,"
         + _BLOCKS, controller="virtio-scsi-pci,num_queues=2"),
)


class Failed(Exception):
    """A round found what it looks for, or could not be made."""


@dataclass
class Cut:
    """The disks after one power cut, and what was promised before it."""
    number: int
    images: dict = field(default_factory=dict)
    acks: dict = field(default_factory=dict)
    lost: int = 0


def say(text):
    """One line of progress."""
    print(f"crash: {text}", file=sys.stderr, flush=True)


def parse(argv):
    """The options."""
    parser = options.Parser(
        "crash", description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 all promises were kept; 1 one was not, or the "
        "machine failed; 2 bad options; 77 no such kernel; 130 interrupted.")
    add = parser.add_argument
    options.add_kernel(add)
    add("--scheduler", action="append", metavar="NAME",
        help="may be repeated; also the kernel's own "
        f"{', '.join(schedulers.STOCK)} (default: each one of ours)")
    add("--rounds", type=options.number(1, 1000), default=2, metavar="N",
        help="for each scheduler (default 2)")
    add("--cuts", type=options.number(1, 8), default=3, metavar="N",
        help="power cuts a round, 1 to 8 (default 3): at all but the last "
        "the guest runs on and only the disks are copied")
    add("--seed", type=options.number(0, 2**32 - 1), metavar="N",
        help="(default: from the clock; it is printed)")
    add("--control", action="store_true",
        help="disks that take flushes and do nothing: promises must be broken "
        "then, and it is a failure if none is")
    args = parser.parse_args(argv)
    if args.seed is None:
        args.seed = int(time.time()) & 0xffffffff
    return args


# --- what a guest said ------------------------------------------------------

def reported(said):
    """The kernel's complaint, "" if nothing."""
    found = re.findall(r"^vm: the kernel reported: (.*)$", said, re.M)
    return ", ".join(found)


def console_log(said):
    """The log that scripts/vm kept, or None."""
    match = re.search(r"^vm: console log: (.*)$", said, re.M)
    return pathlib.Path(match[1]) if match else None


def last_lines(text, count=12):
    """The end of a text, indented."""
    return "\n".join("     | " + line
                     for line in text.strip().split("\n")[-count:])


# --- a round ----------------------------------------------------------------

class Round:
    """Two guests, and the disks between them."""

    def __init__(self, args, scheduler, number, folder):
        self.args = args
        self.scheduler = scheduler
        self.number = number
        self.folder = folder
        self.rng = random.Random(f"{args.seed} {scheduler} {args.kernel} "
                                 f"{number}")
        self.slow = kernel.SERIES[args.kernel].slow
        self.bound = self.rng.choice(BOUNDS)
        self.disks = {}
        self.cuts = []
        self.retried = 0
        self.child = None

    def disk(self, kind, drive, serial):
        """QEMU's options for one device."""
        return ["-device", kind.device % (drive, serial)]

    def controllers(self, kinds):
        """QEMU's options for what these disks hang on."""
        return [word for kind in kinds if kind.controller
                for word in ("-device", kind.controller)]

    def start(self, command, qemu, limit, errors):
        """scripts/vm with a command."""
        self.child = subprocess.Popen(
            [REPO / "scripts" / "vm", "--kernel", self.args.kernel,
             "--timeout", str(limit * self.slow), "--share",
             self.folder / "share", "--qemu", shlex.join(map(str, qemu)),
             "--", command],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
            text=True, errors="replace", start_new_session=True)
        return self.child

    def close(self):
        """Ends whatever still runs."""
        if self.child and self.child.poll() is None:
            os.killpg(self.child.pid, signal.SIGTERM)
            self.child.wait()
        for disk in self.disks.values():
            disk.stop()
        self.disks = {}

    def prepare(self):
        """File systems, and the disks that serve them."""
        share = self.folder / "share"
        share.mkdir()
        shutil.copy(SOURCES / "guest.sh", share)
        shutil.copy(self.folder.parent / "writers", share)
        for kind in KINDS:
            image = self.folder / f"disk-{kind.tag}"
            with open(image, "wb") as file:
                file.truncate(SIZE)
            subprocess.run([*MKFS, image], check=True,
                           stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL)
            self.disks[kind.tag] = volatiledisk.Disk(
                image, self.folder / kind.tag,
                random.Random(self.rng.random()), self.args.control)
            self.disks[kind.tag].start()

    def cut(self, tag, acks):
        """Copies the state that this disk would have after a power cut now."""
        if not self.cuts or tag in self.cuts[-1].images:
            self.cuts.append(Cut(len(self.cuts)))
        cut = self.cuts[-1]
        cut.acks[tag] = list(acks)
        cut.images[tag] = self.folder / f"cut-{tag}{cut.number}"
        cut.lost += self.disks[tag].cut(self.rng, cut.images[tag])

    def kill_qemu(self):
        """SIGKILL, with no word to anyone."""
        pid = int((self.folder / "pid").read_text())
        name = pathlib.Path(f"/proc/{pid}/comm").read_text()
        if not name.startswith("qemu"):
            raise Failed(f"process {pid} is {name.strip()}, not QEMU")
        os.kill(pid, signal.SIGKILL)

    def write(self):
        """The first guest, until its power is cut."""
        qemu = self.controllers(KINDS)
        for kind in KINDS:
            drive = f"crash-{kind.tag}"
            qemu += ["-blockdev", f"driver=nbd,node-name={drive},"
                     f"server.type=unix,server.path={self.folder / kind.tag},"
                     "cache.direct=off,cache.no-flush=off",
                     *self.disk(kind, drive, drive)]
        qemu += ["-pidfile", self.folder / "pid"]
        tags = [kind.tag + (":loop" if kind.through else "")
                for kind in KINDS]
        when = sorted(self.rng.sample(range(FEWEST, MOST), self.args.cuts))
        acks, other, killed, left = [], [], False, set()
        with open(self.folder / "said", "w+", encoding="utf-8") as errors:
            child = self.start(
                f"bash /share/guest.sh write {self.scheduler} {self.bound} "
                + " ".join(tags), qemu, WRITE_LIMIT, errors)
            for line in child.stdout:
                # A printed line is a promise, whether or not QEMU is dead by now.
                if not re.fullmatch(r"ack \w+ [\w-]+ \d+\n", line):
                    other.append(line)
                    continue
                acks.append(line)
                # Each disk is cut right after one of its promises: a later
                # flush would make up for one that was missing.
                if line.split()[1] in left:
                    left.remove(line.split()[1])
                    self.cut(line.split()[1], acks)
                if killed or left or not when or len(acks) < when[0]:
                    continue
                when.pop(0)
                if when:
                    left = set(self.disks)
                    continue
                try:
                    self.kill_qemu()
                    killed = True
                except OSError:
                    # The guest ended before the cut: judge_end() says why.
                    pass
            status = child.wait()
            errors.seek(0)
            said = errors.read()
        self.retried += vm.boots_retried(said)
        self.judge_end(killed, status, said, other)
        time.sleep(0.1)
        # Only now: what QEMU had sent is in the disks' sockets until then.
        for kind in KINDS:
            self.cut(kind.tag, acks)
            if self.disks[kind.tag].trouble:
                raise Failed(f"{kind.name}: {self.disks[kind.tag].trouble}")

    def judge_end(self, killed, status, said, other):
        """Fails unless the first guest ended as it should."""
        complaint = reported(said)
        log = console_log(said)
        text = "".join(line for line in other)
        errors = re.findall(r"^error (.*)$", text, re.M)
        if status == 77:
            raise kernel.Unavailable(said.strip().split("\n")[-1])
        if complaint:
            raise Failed(f"the kernel reported: {complaint}\n"
                         + last_lines(said))
        if errors:
            raise Failed(f"in the guest: {errors[0]}")
        if not killed:
            raise Failed(f"too few promises before the guest ended (status "
                         f"{status} of scripts/vm)\n"
                         + last_lines(text + said))
        # The guest was killed, so its log is of no use.
        if log and log.exists():
            log.unlink()

    def check(self):
        """The second guest; {name: verdict} of the images, and its output."""
        qemu, names = self.controllers(KINDS), []
        for cut in self.cuts:
            for kind in KINDS:
                name = f"{kind.tag}{cut.number}"
                names.append(name)
                (self.folder / "share" / f"acks-{name}").write_text(
                    "".join(cut.acks[kind.tag]))
                qemu += ["-drive", f"if=none,id=cut-{name},format=raw,"
                         f"cache=unsafe,file={cut.images[kind.tag]}",
                         *self.disk(kind, f"cut-{name}", f"cut-{name}")]
        with open(self.folder / "said", "w+", encoding="utf-8") as errors:
            child = self.start(
                f"bash /share/guest.sh check {self.scheduler} "
                + " ".join(names), qemu, CHECK_LIMIT, errors)
            out = child.stdout.read()
            status = child.wait()
            errors.seek(0)
            said = errors.read()
        self.retried += vm.boots_retried(said)
        complaint = reported(said)
        if complaint:
            raise Failed(f"after the cut the kernel reported: {complaint}\n"
                         + last_lines(out + said))
        found = dict(re.findall(r"^image (\w+) (.*)$", out, re.M))
        if status or set(found) != set(names) or "checked all" not in out:
            raise Failed(f"the second guest ended with status {status}\n"
                         + last_lines(out + said))
        return found, out

    def run(self):
        """Returns one line about the round; raises Failed with the cause."""
        self.prepare()
        self.write()
        flushes = {kind.tag: self.disks[kind.tag].cache.count["flush"]
                   for kind in KINDS}
        for disk in self.disks.values():
            disk.stop()
        self.disks = {}
        verdicts, out = self.check()
        lost = sum(cut.lost for cut in self.cuts)
        acks = max(map(len, self.cuts[-1].acks.values()))
        facts = (f"{acks} promises, {len(self.cuts)} cuts, "
                 f"{sum(flushes.values())} flushes, {lost} blocks lost"
                 + ("" if self.bound == "-" else f", bound {self.bound}"))
        broken = [(name, text) for name, text in verdicts.items()
                  if text != "KEPT"]
        for kind in KINDS:
            if not flushes[kind.tag]:
                raise Failed(f"{kind.name}: not one flush came")
        if not lost:
            raise Failed(f"no cut lost anything, so nothing was at stake: "
                         f"{facts}")
        if self.args.control:
            if not any(text == "LOST" for _, text in broken):
                raise Failed("the disks ignored all flushes, and no promise "
                             f"was broken: {facts}")
            return f"{len(broken)} of {len(verdicts)} images have broken " \
                f"promises, as they must; {facts}"
        if broken:
            name, text = broken[0]
            kind = next(k for k in KINDS if name.startswith(k.tag))
            raise Failed(
                f"{len(broken)} of {len(verdicts)} images are broken, the "
                f"first is {kind.name}, cut {name[1:]}: {text}; {facts}\n"
                + last_lines(out, 30))
        return facts

    def keep(self):
        """Leaves the files of a round that failed where they can be found."""
        place = KEPT / f"{self.args.kernel}-{self.scheduler}-{self.number}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        for path in self.folder.iterdir():
            if path.is_file() and not path.name.startswith("disk-"):
                subprocess.run(["cp", "--sparse=always", path, place],
                               check=True)
        for path in (self.folder / "share").glob("acks-*"):
            shutil.copy(path, place)
        return options.shown(place)


def build_writers(place):
    """Compiles the guest's program."""
    done = subprocess.run(
        ["gcc", "-O2", "-Wall", "-Wextra", "-o", place,
         SOURCES / "writers.c"], check=False, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)
    if done.returncode:
        raise RuntimeError("tests/crash/writers.c does not build:\n"
                           + done.stdout)


def choose(args, facts):
    """The schedulers to try."""
    vm.build_modules(facts)
    ours = schedulers.built(REPO / "build" / "modules" / facts["release"])
    for name in args.scheduler or ():
        if name not in ours and name not in schedulers.STOCK:
            say(f"argument --scheduler: '{name}': want one of "
                + ", ".join([*ours, *schedulers.STOCK]))
            sys.exit(2)
    if not args.scheduler and not ours:
        raise RuntimeError("no scheduler was built")
    return args.scheduler or ours


def rounds(args, names, folder):
    """All of them; how many failed."""
    build_writers(folder / "writers")
    failed = retried = 0
    for name in names:
        for number in range(1, args.rounds + 1):
            place = folder / f"{name}-{number}"
            place.mkdir()
            one = Round(args, name, number, place)
            title = (f"crash {name} round {number}"
                     + (" without flushes" if args.control else ""))
            started = time.monotonic()
            try:
                facts = one.run()
                print(f"ok   {title}: {facts} "
                      f"({time.monotonic() - started:.0f} s)", flush=True)
            except Failed as error:
                failed += 1
                # The list must not change under the copy.
                one.close()
                first, _, rest = str(error).partition("\n")
                print(f"FAIL {title}: {first}; files in {one.keep()}/"
                      + (f"\n{rest}" if rest else ""), flush=True)
            finally:
                one.close()
                retried += one.retried
                shutil.rmtree(place, ignore_errors=True)
    if retried:
        print(f"boots retried: {retried}")
    return failed


def run(args):
    """Everything between the options and the exit status."""
    facts = kernel.Store(kernel.cache_dir()).get(args.kernel)
    names = choose(args, facts)
    count = len(names) * args.rounds
    slow = kernel.SERIES[args.kernel].slow
    say(f"{' '.join(names)} on {facts['release']}, {args.rounds} rounds each,"
        f" seed {args.seed}: about "
        f"{options.minutes(count * ROUND_SECONDS * slow)}, "
        f"{DISK_MEGABYTES} MB of disk for a while")
    with tempfile.TemporaryDirectory(prefix="flash-crash-") as folder:
        if len(folder) > LONGEST_SOCKET - 40 or re.search(r"[\s,]", folder):
            raise RuntimeError(
                f"'{folder}': want a TMPDIR with a shorter name, without "
                "spaces and commas: QEMU is given sockets there")
        failed = rounds(args, names, pathlib.Path(folder))
    print(f"crash: {count - failed} of {count} rounds passed, seed "
          f"{args.seed}", flush=True)
    return 1 if failed else 0


def main(argv=None):
    """Command line of scripts/crash."""
    args = parse(sys.argv[1:] if argv is None else argv)
    options.need("build", "vm")
    return vm.guarded("crash", say, args.kernel, lambda: run(args),
                      "interrupted; nothing is kept")


if __name__ == "__main__":
    sys.exit(main())
