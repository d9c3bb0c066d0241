# SPDX-License-Identifier: GPL-2.0
"""scripts/physics: does flashsim do what a device of its shape must do?

Boots one machine in virtual time, lets fio load flashsim in ways that have a
known answer, and compares the device's own stamps and sums with it: the cost
of one request, saturation, bursts, a closed queueing network, and write
amplification beside an independent simulation (tests/physics/wa_model.py).
Each row says what was expected, what was measured, and how far apart they may
be; a row beyond that makes the status 1.
"""

import collections
import csv
import json
import math
import pathlib
import re
import sys
import tempfile
import time

import kernel
import options
import vm

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "tests" / "physics"))
import wa_model  # pylint: disable=wrong-import-position

# Seconds on two quiet cores without KVM.
ESTIMATE = 150

Row = collections.namedtuple(
    "Row", "name expected measured unit tolerance")
Experiment = collections.namedtuple("Experiment", "name device fio judge")


def error_of(row):
    """How far a measurement is from what was expected, as a share."""
    if not row.expected:
        return 0.0 if not row.measured else math.inf
    return abs(row.measured - row.expected) / abs(row.expected)


def passed(row):
    """Is a row within its tolerance?"""
    return error_of(row) <= row.tolerance


# --- what the guest left ----------------------------------------------------

def stats_of(text):
    """Lines `key value` as a dict, numbers as numbers."""
    pairs = (line.split(None, 1) for line in text.splitlines() if " " in line)
    return {key: int(value) if value.isdigit() else value
            for key, value in pairs}


def log_of(text):
    """The device's log as a list of dicts, numbers as numbers."""
    return [{key: value if key == "op" else int(value)
             for key, value in row.items()}
            for row in csv.DictReader(text.splitlines())]


def middle(log):
    """The log without its first and last tenth: what runs in and out."""
    cut = len(log) // 10
    return log[cut:len(log) - cut]


def rate(log):
    """Requests a ns in the middle of a run."""
    part = middle(log)
    return (len(part) - 1) / (part[-1]["done_ns"] - part[0]["done_ns"])


def bursts(log, size):
    """Requests that arrived together, as lists of `size`."""
    groups = []
    last = -1
    for row in sorted(log, key=lambda r: r["arrival_ns"]):
        # A burst finds an idle device: nothing of the last one is left.
        if not groups or len(groups[-1]) == size or \
                row["arrival_ns"] > last:
            groups.append([])
        groups[-1].append(row)
        last = max(last, row["done_ns"])
    return [group for group in groups if len(group) == size]


# --- experiments ------------------------------------------------------------

def single(name, device, fio, cost):
    """One request at a time: what does each one cost?"""
    def judge(stats, log, _):
        scale = stats["time_scale"]
        mean = sum(r["done_ns"] - r["arrival_ns"] for r in log) / len(log)
        yield Row(f"{name}: one request", cost / 1000, mean / scale / 1000,
                  "us", 0.02)
    return Experiment(name, device, f"--iodepth=1 --number_ios=200 {fio}",
                      judge)


def saturation(name, device, per_second):
    """The largest rate that a device can serve."""
    def judge(stats, log, _):
        yield Row(f"{name}: saturated", per_second / 1000,
                  rate(log) * 1e9 * stats["time_scale"] / 1000,
                  "kIOPS", 0.02)
    return Experiment(
        name, device, "--bs=4k --rw=randread --iodepth=512 --number_ios=12000 "
        "--io_size=1t", judge)


def burst(name, device, chips, size):
    """`size` random one-page reads at once on an idle device."""
    def judge(_, log, __):
        groups = bursts(log, size)[:2000]
        if len(groups) < 2000:
            raise ValueError(f"{name}: {len(groups)} bursts, want 2000")
        mean = sum(len({r["chip"] for r in group})
                   for group in groups) / len(groups)
        yield Row(f"{name}: chips touched by {size} reads on {chips} chips",
                  chips * (1 - (1 - 1 / chips) ** size), mean, "chips", 0.03)
    return Experiment(
        name, device, f"--bs=4k --rw=randread --iodepth={size} "
        f"--iodepth_batch_submit={size} --iodepth_batch_complete_min={size} "
        f"--iodepth_batch_complete_max={size} --iodepth_low=1 "
        f"--number_ios={2010 * size} --io_size=1t", judge)


def pairs(name, device, channels, service):
    """Two reads at once: on one chip, on two."""
    def judge(stats, log, _):
        scale = stats["time_scale"]
        same, other = [], []
        for first, second in bursts(log, 2):
            if first["chip"] == second["chip"]:
                same.append((second["done_ns"] - first["begin_ns"]) / scale)
            elif first["chip"] % channels != second["chip"] % channels:
                # On one channel they would share a bus.
                other.append((max(r["done_ns"] - r["arrival_ns"]
                                  for r in (first, second))) / scale)
        yield Row(f"{name}: two reads on one chip serialise",
                  2 * service / 1000, sum(same) / len(same) / 1000, "us", 0.02)
        yield Row(f"{name}: two reads on two chips overlap",
                  service / 1000, sum(other) / len(other) / 1000, "us", 0.02)
    return Experiment(
        name, device, "--bs=4k --rw=randread --iodepth=2 "
        "--iodepth_batch_submit=2 --iodepth_batch_complete_min=2 "
        "--iodepth_batch_complete_max=2 --iodepth_low=1 --number_ios=1000 "
        "--io_size=1t", judge)


def network(name, device, chips, depth):
    """Exponential service, a constant number of requests for ever: how busy are chips?"""
    def judge(stats, _, __):
        yield Row(f"{name}: busy share of {chips} chips with {depth} requests",
                  depth / (chips + depth - 1),
                  stats["utilisation_milli"] / 1000 / chips, "", 0.03)
    return Experiment(
        name, device, f"--bs=4k --rw=randread --iodepth={depth} "
        "--number_ios=40000 --io_size=1t", judge)


def amplification(name, device, scope, chips, multiple=3):
    """Uniform overwrites: how much does collection add?"""
    def judge(stats, _, args):
        pages = stats["block_bytes"] // stats["page_bytes"]
        blocks = stats["flash_bytes"] // stats["block_bytes"]
        op = round((stats["flash_bytes"] / stats["size_bytes"] - 1) * 1000)
        # Collection begins when 2 blocks a die are left, or a tenth of the
        # spare ones; a pool is what it can choose from.
        spare = blocks / chips - stats["size_bytes"] / chips / \
            stats["block_bytes"]
        low = max(2, int(spare * 0.1))
        pools = chips if scope == "chip" else 1
        wa, _ = wa_model.write_amplification(
            blocks, pages, op, scope=scope, chips=chips, frontiers=2,
            free_blocks=low * (chips // pools), overwrites=3, seed=args.seed)
        yield Row(f"{name}: write amplification, {op / 10:.1f} % spare, "
                  f"{scope}", wa, stats["wa_milli"] / 1000, "", 0.10)
    size = int(re.search(r"size_mb=(\d+)", device)[1])
    # Without any time: what is written matters here, not when.
    device = (f"{device} t_read_ns=0 t_prog_ns=0 t_erase_ns=0 fw_write_ns=0 "
              "bus_mbps=100000 link_mbps=100000 data=none overwrite_pct=400")
    return Experiment(
        name, device, "--bs=4k --rw=randwrite --iodepth=16 "
        f"--number_ios={size * 256 * multiple} --io_size=1t", judge)


def transfer(size, mbps):
    """ns that a transfer of `size` bytes takes."""
    return size * 1000 / mbps


def experiments():
    """All of them; those on the same device are neighbours."""
    found = []
    scale = "time_scale=32 log_len=200000"
    base = (f"channels=4 ways=2 page_kb=4 gc=none size_mb=64 t_read_ns=50000 "
            f"bus_mbps=400 link_mbps=2000 fw_read_ns=10000 {scale}")
    link = transfer(4096, 2000)
    read = 10000 + 50000 + transfer(4096, 400) + link
    found.append(single("plain-read", base, "--bs=4k --rw=randread", read))
    found.append(pairs("pairs", base + " link_mbps=100000 fw_read_ns=0", 4,
                       50000 + transfer(4096, 400)
                       + transfer(4096, 100000)))
    found.append(single(
        "plain-write", f"{base} t_prog_ns=200000 fw_write_ns=5000",
        "--bs=4k --rw=randwrite",
        5000 + link + transfer(4096, 400) + 200000))
    found.append(single(
        "wide-read", base, "--bs=32k --rw=randread",
        # Eight chips on four buses: each bus moves two pages after t_read, and
        # the second four of them cross the link, which the first have left.
        10000 + 50000 + 2 * transfer(4096, 400) + 4 * link))
    found.append(single(
        "buffered-write", f"{base.replace('gc=none', 'alloc=dynamic')} "
        "wbuf_kb=1024 fw_write_ns=5000", "--bs=4k --rw=randwrite",
        5000 + link))
    # The profiles, with their own numbers.
    sums = {
        "A": ("2k", 20000 + transfer(2048, 40) + transfer(2048, 300)),
        "B": ("4k", 20000 + 75000 + transfer(4096, 166)
              + transfer(4096, 550)),
        "C": ("4k", 75000 + transfer(4096, 333) + transfer(4096, 550)),
        "D": ("4k", 21460 + 36000 + transfer(4096, 800)
              + transfer(4096, 3360)),
        "E": ("4k", 20000 + 55000 + transfer(4096, 800)
              + transfer(4096, 3500)),
        "F": ("4k", 10000 + 45000 + transfer(4096, 1200)
              + transfer(4096, 8000)),
    }
    for profile, (block, cost) in sums.items():
        found.append(single(
            f"profile-{profile}", f"profile={profile} shrink=1024 {scale} "
            "data=none", f"--bs={block} --rw=randread", cost))
    chip = f"channels=4 ways=1 page_kb=4 gc=none size_mb=64 data=none {scale}"
    found.append(saturation(
        "chip-bound", f"{chip} t_read_ns=50000 bus_mbps=1000 "
        "link_mbps=100000 queue_depth=1023",
        4 * 1e9 / (50000 + transfer(4096, 1000))))
    found.append(saturation(
        "bus-bound", "channels=2 ways=8 page_kb=4 gc=none size_mb=64 "
        f"data=none {scale} t_read_ns=20000 bus_mbps=100 link_mbps=100000 "
        "queue_depth=1023", 2 * 1e9 / transfer(4096, 100)))
    found.append(saturation(
        "link-bound", "channels=8 ways=4 page_kb=4 gc=none size_mb=64 "
        f"data=none {scale} t_read_ns=20000 bus_mbps=1000 link_mbps=200 "
        "queue_depth=1023", 1e9 / transfer(4096, 200)))
    many = ("page_kb=4 gc=none size_mb=256 data=none t_read_ns=50000 "
            f"bus_mbps=100000 link_mbps=100000 fw_read_ns=0 {scale}")
    found.append(burst("burst-16", f"channels=16 ways=1 {many}", 16, 16))
    found.append(burst("burst-64", f"channels=8 ways=8 {many}", 64, 32))
    many = many.replace(scale, "time_scale=128 service=exponential")
    for depth in (4, 16, 64):
        found.append(network(f"network-{depth}", f"channels=16 ways=1 {many}",
                             16, depth))
    wide = "page_kb=4 pages_per_block=32 size_mb=64"
    found.append(amplification(
        "wa-whole", f"channels=4 ways=1 {wide} op_permille=150 gc_step=whole",
        "chip", 4))
    found.append(amplification(
        "wa-paced", f"channels=4 ways=1 {wide} op_permille=150", "chip", 4))
    found.append(amplification(
        "wa-spare", f"channels=4 ways=1 {wide} op_permille=300", "chip", 4))
    found.append(amplification(
        "wa-device", f"channels=4 ways=2 {wide} op_permille=200 "
        "alloc=dynamic gc=device", "device", 8))
    return found


# --- running ----------------------------------------------------------------

def parse(argv):
    """The options."""
    parser = options.Parser(
        "physics", description=__doc__.split("\n", 1)[1].strip(),
        epilog="Status: 0 all rows hold; 1 one does not, or the machine "
        "failed; 2 bad options; 77 no such kernel; 130 interrupted.")
    add = parser.add_argument
    options.add_kernel(add)
    add("--only", metavar="REGEX", default="",
        help="experiments whose name matches")
    add("--seed", type=options.number(0, 2**32 - 1), default=1, metavar="N",
        help="of the independent simulation (default 1)")
    add("--out", type=pathlib.Path, metavar="DIR",
        default=REPO / "build" / "results" / "physics",
        help="for rows.json (default build/results/physics)")
    args = parser.parse_args(argv)
    try:
        args.only = re.compile(args.only)
    except re.error as error:
        parser.error(f"argument --only: '{args.only}': want a regular "
                     f"expression: {error}")
    return args


def measure(args, chosen, folder):
    """Runs the guest; the status of scripts/vm."""
    share, out = folder / "share", folder / "out"
    share.mkdir()
    (share / "plan").write_text("".join(
        f"{e.name}|{e.device}|{e.fio}\n" for e in chosen))
    return vm.measured(args.kernel, 1800, share, out,
                       "cp /share/plan /tmp/plan && "
                       "bash /tests/vm/lib/physics-guest.sh /tmp/plan")


def judge(args, chosen, out):
    """The rows of all experiments; what could not be judged is a message."""
    rows, trouble = [], []
    for experiment in chosen:
        try:
            stats = stats_of((out / f"{experiment.name}.stats").read_text())
            log = log_of((out / f"{experiment.name}.log").read_text())
            rows += experiment.judge(stats, log, args)
        except (OSError, KeyError, ValueError, ZeroDivisionError,
                IndexError) as error:
            trouble.append(f"{experiment.name}: {error!r}")
    return rows, trouble


def show(rows):
    """A line a row, which scripts/check counts."""
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        print(f"{'ok  ' if passed(row) else 'FAIL'} {row.name:{width}}  "
              f"expected {row.expected:10.4g}  measured {row.measured:10.4g} "
              f"{row.unit:5}  off {100 * error_of(row):5.2f} %  allowed "
              f"{100 * row.tolerance:.0f} %")


def main(argv=None):
    """Command line of scripts/physics."""
    args = parse(sys.argv[1:] if argv is None else argv)
    chosen = [e for e in experiments() if args.only.search(e.name)]
    if not chosen:
        print("physics: no experiment has such a name: want some of "
              + ", ".join(e.name for e in experiments()), file=sys.stderr)
        return 2
    options.need("build", "vm", "bench")
    options.catch_signals()
    started = time.monotonic()
    print(f"physics: {len(chosen)} experiments in virtual time, about "
          f"{ESTIMATE * len(chosen) // len(experiments()) + 15} s, 50 MB for "
          "a while", flush=True)
    try:
        with tempfile.TemporaryDirectory(prefix="flash-physics-") as folder:
            folder = pathlib.Path(folder)
            status = measure(args, chosen, folder)
            if status == 77:
                return 77
            rows, trouble = judge(args, chosen, folder / "out")
    except options.Interrupted as error:
        print("physics: interrupted; nothing is kept", file=sys.stderr)
        return 128 + error.number
    show(rows)
    for text in trouble:
        print(f"FAIL {text}")
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "rows.json").write_text(json.dumps({
        "schema": 2, "kind": "physics", "kernel": args.kernel,
        "rows": [{**row._asdict(), "error": error_of(row),
                  "passed": passed(row)} for row in rows],
        "trouble": trouble}, indent=1) + "\n")
    bad = sum(not passed(row) for row in rows) + len(trouble)
    print(f"physics: {len(rows) - sum(not passed(r) for r in rows)} of "
          f"{len(rows) + len(trouble)} hold, "
          f"{time.monotonic() - started:.0f} s")
    if status:
        print(f"physics: scripts/vm ended with status {status}; next: read "
              "its report above")
    return 1 if bad or status else 0


if __name__ == "__main__":
    sys.exit(main())
