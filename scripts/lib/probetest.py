# SPDX-License-Identifier: GPL-2.0
"""scripts/probe-test: does scripts/probe-layout find what is there?

Boots one machine in virtual time, makes devices on flashsim whose dies follow
from the address, and as many whose do not, and lets the probe look at each.
The guest knows no more than the device; whether an answer is right is judged
here, by asking both for many pairs of addresses whether they share a die.
"""

import os
import pathlib
import py_compile
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import initramfs
import kernel
import options
import vm

REPO = pathlib.Path(__file__).resolve().parents[2]
LIB = REPO / "scripts" / "lib"

# Seconds a device on two quiet cores without KVM; not measured.
ESTIMATE = 15
# Factor of every time of flashsim, so that the guest's instructions matter
# little beside it; the probe's time limit has the same factor.
SCALE = 32
SECONDS = 60 * SCALE
# Devices of either kind; least number of maps found, and largest number of false ones.
DEVICES, FOUND, FALSE = 20, 19, 1


# --- maps -------------------------------------------------------------------

class Layout:
    """A descriptor and an offset: which die a sector is on."""

    def __init__(self, page, terms, offset=0, xors=()):
        self.page = page
        self.terms = terms
        self.offset = offset
        self.xors = xors
        self.dies = 1
        for _, mod, _ in terms:
            self.dies *= mod

    @classmethod
    def parse(cls, text, offset):
        """From the words of the attribute `layout`."""
        match = re.fullmatch(
            r"page=(\d+) (?:chips=(\d+)|terms=(\d+:\d+:\d+"
            r"(?:,\d+:\d+:\d+)*))", text)
        if not match:
            raise ValueError(f"'{text}' is no descriptor")
        terms = [(1, int(match[2]), 1)] if match[2] else [
            tuple(map(int, term.split(":"))) for term in match[3].split(",")]
        page = int(match[1])
        if page < 512 or page & (page - 1) or not all(t[1] for t in terms):
            raise ValueError(f"'{text}' is out of range")
        return cls(page // 512, terms, offset)

    def chip(self, sector):
        """Its die."""
        page = (sector + self.offset) // self.page
        die = sum(mul * (page // div % mod) for div, mod, mul in self.terms)
        for shift in self.xors:
            die ^= (page >> shift) % self.dies
        return die


def same(one, other, sectors, seed=1, pairs=20000):
    """Do two layouts agree on which addresses share a die, whatever they call it?"""
    rand = random.Random(seed)
    strides = [one.page * div * mod for div, mod, _ in one.terms] + \
        [other.page * div * mod for div, mod, _ in other.terms]
    for i in range(pairs):
        first = rand.randrange(sectors)
        if i % 3 == 0:
            second = rand.randrange(sectors)
        elif i % 3 == 1:
            second = first + rand.randint(1, 1 << rand.randint(1, 16))
        else:
            # Where one of the layouts starts its pattern again.
            second = first + rand.choice(strides) * rand.randint(1, 8) \
                + rand.randint(-2, 2)
        if 0 <= second < sectors and (
                (one.chip(first) == one.chip(second))
                != (other.chip(first) == other.chip(second))):
            return False
    return True


# --- devices ----------------------------------------------------------------

def common(rand, page):
    """The part that devices of all kinds have."""
    # Small pages are for small devices: the guest's memory has the tables.
    size = rand.choice((128, 256, 512)) if page > 2 else 128
    return size, (
        f"page_kb={page} size_mb={size} data=none time_scale={SCALE} "
        f"t_read_ns={rand.choice((36000, 50000, 75000))} "
        f"bus_mbps={rand.choice((200, 400, 800))} "
        f"order={rand.choice(('chip_fifo', 'read_first', 'in_order'))} "
        f"vary_permille={rand.choice((0, 50, 100))} "
        f"seed={rand.randrange(1 << 16)}")


def shape(rand, dies):
    """Channels and ways that make `dies` dies."""
    channels = rand.choice([c for c in range(1, 65) if dies % c == 0
                            and dies // c <= 256])
    return f"channels={channels} ways={dies // channels}"


def static(rand):
    """(parameters, layout, sectors) of a device with a map."""
    page = rand.choice((2, 4, 8, 16))
    size, params = common(rand, page)
    offset = rand.choice((0, rand.randrange(64), rand.randrange(1 << 20)))
    layout = ""
    if rand.random() < 0.6:
        dies = rand.choice((rand.randint(2, 64), 2 * rand.randint(1, 15) + 1,
                            2 ** rand.randint(1, 7)))
        # A prime beyond 64 cannot be had as channels by ways.
        terms = [(1, dies, 1)]
    else:
        first, second = rand.randint(2, 8), rand.randint(2, 8)
        dies = first * second
        terms = [(1, first, 1),
                 (rand.choice((first * rand.randint(2, 8), 32)), second,
                  first)]
        layout = " layout=" + ",".join(
            ":".join(map(str, term)) for term in terms)
    return (f"{params} gc=none {shape(rand, dies)} offset_sectors={offset}"
            f"{layout}", Layout(page * 2, terms, offset), size << 11)


def other(rand):
    """(parameters, None, sectors) of one without."""
    page = rand.choice((4, 8, 16))
    size, params = common(rand, page)
    dies = 2 ** rand.randint(2, 6)
    if rand.random() < 0.5:
        # Folds that reach what a few hundred pages differ in.
        shifts = sorted({rand.randint(1, 9)
                         for _ in range(rand.randint(1, 2))})
        return (f"{params} gc=none {shape(rand, dies)} offset_sectors="
                f"{rand.randrange(1 << 20)} "
                f"xor={','.join(map(str, shifts))}", None, size << 11)
    return (f"{params} alloc=dynamic op_permille=150 "
            f"{shape(rand, rand.randint(4, 32))} "
            f"overwrite_pct={rand.choice((100, 200, 300))}", None, size << 11)


def devices(seed, number):
    """`number` devices of either kind: {name: (parameters, layout, sectors)}."""
    rand = random.Random(seed)
    found = {}
    for i in range(number):
        found[f"static-{i:02d}"] = static(rand)
        found[f"other-{i:02d}"] = other(rand)
    return found


# --- a Python for the guest -------------------------------------------------

# Modules that the probe has loaded when it has refused a device. Its own
# modules and those of the library that it needs are all there then.
_LOADED = """
import os, sys
sys.path.insert(0, sys.argv[1])
import probe
sys.stderr = open(os.devnull, "w")
probe.main(["--quiet", "/dev/null"])
for module in list(sys.modules.values()):
    if getattr(module, "__file__", None):
        print(module.__name__, module.__file__, sep="|")
"""


def python_for_guest(folder):
    """A directory with a Python that can do just what the probe wants.

    Compiled, as a guest without KVM would take longer to compile than to
    probe.
    """
    python = os.path.realpath("/usr/bin/python3")
    done = subprocess.run([python, "-B", "-S", "-E", "-c", _LOADED, str(LIB)],
                          text=True, check=True, stdout=subprocess.PIPE)
    library = folder / "lib" / os.path.basename(python)
    (folder / "bin").mkdir(parents=True)
    (library / "lib-dynload").mkdir(parents=True)
    shutil.copy(python, folder / "bin" / "python3")
    shared = [python]
    for line in done.stdout.splitlines():
        name, path = line.split("|")
        if path.endswith(".so"):
            shutil.copy(path, library / "lib-dynload")
            shared.append(path)
        elif name != "__main__":
            # A package's name is that of its directory.
            inside = name.replace(".", "/")
            if path.endswith("/__init__.py"):
                inside += "/__init__"
            mine = pathlib.Path(path).parent == LIB
            target = (folder / "lib" if mine else library) / f"{inside}.pyc"
            target.parent.mkdir(parents=True, exist_ok=True)
            py_compile.compile(
                path, str(target), doraise=True,
                invalidation_mode=py_compile.PycInvalidationMode
                .UNCHECKED_HASH)
    for path in {lib for item in shared for lib in initramfs.libraries(item)}:
        shutil.copy(path, folder / "lib")


# --- running ----------------------------------------------------------------

def parse(argv):
    """The options."""
    parser = options.Parser(
        "probe-test", description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 enough found and few false; 1 not so, or the "
        "machine failed; 2 bad options; 77 no such kernel; 130 interrupted.")
    add = parser.add_argument
    options.add_kernel(add)
    add("--seed", type=options.number(0, 2**32 - 1), default=1, metavar="N",
        help="of the devices (default 1)")
    add("--devices", type=options.number(1, 100), default=DEVICES,
        metavar="N", help=f"of either kind (default {DEVICES})")
    add("--out", type=pathlib.Path, metavar="DIR",
        default=REPO / "build" / "results" / "probe",
        help="for probe.json (default build/results/probe)")
    return parser.parse_args(argv)


def measure(args, chosen, folder):
    """Runs the guest; the status of scripts/vm."""
    share, out = folder / "share", folder / "out"
    share.mkdir()
    (share / "plan").write_text("".join(
        f"{name}|{params}\n" for name, (params, _, _) in chosen.items()))
    python_for_guest(share / "python")
    return vm.measured(args.kernel, 7200, share, out,
                       "cp /share/plan /tmp/plan && bash "
                       "/tests/vm/lib/probe-guest.sh /tmp/plan /share/python "
                       f"{SECONDS}")


def judge(text, layout, sectors):
    """The probe's result for a device, and whether it is right.

    The verdict is `found`, `refused`, `wrong` (another map than it has),
    `false` (a map where there is none) or `failed`.
    """
    said = dict(line.split(" ", 1) for line in text.splitlines()
                if " " in line)
    verdict = "failed"
    if said.get("status") == "3" and said.get("layout") == "none":
        verdict = "refused"
    elif said.get("status") == "0":
        try:
            got = Layout.parse(said["layout"],
                               int(said["lba_offset_sectors"]))
            verdict = "false" if layout is None else \
                "found" if same(got, layout, sectors) else "wrong"
        except (KeyError, ValueError):
            verdict = "failed"
    return said, verdict


def passes(counts, number):
    """Is that enough? `counts` has each verdict by kind."""
    return (not counts["failed"]
            and counts["found"] * DEVICES >= FOUND * number
            and (counts["false"] + counts["wrong"]) * DEVICES
            <= FALSE * number)


def main(argv=None):
    """Command line of scripts/probe-test."""
    args = parse(sys.argv[1:] if argv is None else argv)
    chosen = devices(args.seed, args.devices)
    options.need("build", "vm", "bench")
    options.catch_signals()
    started = time.monotonic()
    print(f"probe-test: {len(chosen)} devices in virtual time, about "
          f"{options.minutes(ESTIMATE * len(chosen) + 15)}, 50 MB for a "
          "while", flush=True)
    rows = []
    try:
        with tempfile.TemporaryDirectory(prefix="flash-probe-") as folder:
            folder = pathlib.Path(folder)
            status = measure(args, chosen, folder)
            if status == 77:
                return 77
            for name, (params, layout, sectors) in chosen.items():
                path = folder / "out" / f"{name}.probe"
                text = path.read_text() if path.exists() else ""
                said, verdict = judge(text, layout, sectors)
                rows.append({"name": name, "device": params,
                             "verdict": verdict, "said": said})
    except options.Interrupted as error:
        print("probe-test: interrupted; nothing is kept", file=sys.stderr)
        return 128 + error.number
    counts = dict.fromkeys(
        ("found", "refused", "wrong", "false", "failed"), 0)
    for row in rows:
        # A map that is there and not found, or none that is not: either is
        # a refusal, and only the first counts against it.
        counts[row["verdict"]] += 1
        good = row["verdict"] == ("found" if row["name"].startswith("static")
                                  else "refused")
        said = row["said"]
        print(f"{'ok  ' if good else 'FAIL'} {row['name']}  {row['verdict']}"
              f"  {said.get('layout', '?')} "
              f"{said.get('lba_offset_sectors', said.get('reason', ''))}")
        if not good:
            print(f"     {row['device']}")
    args.out.mkdir(parents=True, exist_ok=True)
    options.write_json(args.out / "probe.json", {
        "schema": 2, "kind": "probe", "kernel": args.kernel,
        "seed": args.seed, "devices": args.devices, "counts": counts,
        "rows": rows})
    good = passes(counts, args.devices) and not status
    print(f"probe-test: of {args.devices} maps {counts['found']} found, "
          f"{counts['wrong']} wrong; of {args.devices} devices without one "
          f"{counts['false']} given a map; {counts['failed']} failed; "
          f"{time.monotonic() - started:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
