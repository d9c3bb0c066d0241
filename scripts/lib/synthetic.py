# SPDX-License-Identifier: GPL-2.0
"""Stand-ins: synthetic traces with stated statistics, for where none is at hand."""

import array
import bisect
import itertools
import random

import standin
from tracefile import SECTOR

# The unit of hot regions and of what is kept for each touched place; the
# resolution of footprints.
REGION, BLOCK = 1 << 20, 4096


class StandIn:
    """The parameters of a synthetic trace. Sizes: ((sectors, weight), ...).

    Arrivals alternate between bursts, `burst_s` long in the mean with
    `burst_iops`, and what is between; the share `in_bursts` of the requests
    falls into bursts. Places: the share `sequential_...` begins where the one
    before of its kind ended; others fall into regions of 1 MiB, the i-th
    hottest of `footprint_mib` with a weight of i ** -skew.
    """

    def __init__(self, title, source, **values):
        self.title, self.source = title, source
        # Other beginnings of the real trace's file names, in lower case.
        self.files = values.pop("files", ())
        self.iops = values.pop("iops")
        self.read_share = values.pop("read_share")
        self.read_sizes = values.pop("read_sizes")
        self.write_sizes = values.pop("write_sizes")
        self.sequential_read_share = values.pop("sequential_read_share")
        self.sequential_write_share = values.pop("sequential_write_share")
        self.footprint_mib = values.pop("footprint_mib")
        self.skew = values.pop("skew")
        self.burst_iops = values.pop("burst_iops")
        self.in_bursts = values.pop("in_bursts")
        self.burst_s = values.pop("burst_s")
        # Share of a million requests; None where it is not known.
        self.rewritten_share = values.pop("rewritten_share", None)
        # Parameters by which standin.py draws places; None: as described above.
        self.calibrated = values.pop("calibrated", None)
        assert not values, values

    def stated(self):
        """The statistics that a long enough stand-in has."""
        return {
            "mean_iops": self.iops, "read_share": self.read_share,
            "mean_read_bytes": SECTOR * mean_of(self.read_sizes),
            "mean_write_bytes": SECTOR * mean_of(self.write_sizes),
            "sequential_read_share": self.sequential_read_share,
            "sequential_write_share": self.sequential_write_share,
            "footprint_bytes_at_most": self.footprint_mib * REGION,
            "skew": self.skew, "burst_iops": self.burst_iops,
            "share_in_bursts": self.in_bursts, "burst_s": self.burst_s,
            "rewritten_share_of_a_million": self.rewritten_share,
        }


def mean_of(sizes):
    """The mean of ((size, weight), ...)."""
    return sum(size * weight for size, weight in sizes) / \
        sum(weight for _, weight in sizes)


def sizes_of_mean(mean):
    """A mix of powers of two from 4 KiB up with this mean, in sectors.

    Weights are a power of the rank: 4 KiB leads, as it does in the volumes of
    MSR Cambridge, where the largest request is 64 KiB but for some volumes with
    long means.
    """
    sectors = [8 << n for n in range(8 if mean > 64 else 5)]
    low, high = 0.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        mix = tuple((size, middle**n) for n, size in enumerate(sectors))
        low, high = (middle, high) if mean_of(mix) < mean else (low, middle)
    return mix


# Three mixes as measured on public traces, rare sizes put together so that
# the mean stays: MSN storage file server (disk 5, 150,000 requests, 143 s);
# TPC-C (Microsoft Enterprise, 6,999 requests, 0.14 s, on 16 disks); Postmark
# (delivered with the SSD extension of DiskSim, 62,257 requests, 490 s).
# Shares of sizes, reads, sequential requests and the rate are those of the
# trace. Bursts: two states with an index of dispersion that follows the trace's
# between 10 ms and 10 s. Footprint and skew: fitted to the number of regions
# touched and to the share that the hottest 1, 10 and 20 % of them get.
STAND_INS = {
    "msn": StandIn(
        "MSN storage file server",
        "measured on the public trace, disk 5",
        files=("msps_msnfs", "msnfs", "msnstoragefileserver"),
        iops=1048, read_share=0.870,
        read_sizes=((16, 826), (32, 16), (48, 7), (64, 7), (80, 6), (96, 7),
                    (112, 12), (128, 105), (256, 5), (320, 3), (640, 3),
                    (1024, 2)),
        write_sizes=((8, 2), (16, 966), (32, 24), (48, 2), (64, 1), (128, 2),
                     (512, 3)),
        sequential_read_share=0.049, sequential_write_share=0.001,
        footprint_mib=57344, skew=0.55,
        burst_iops=3500, in_bursts=0.667, burst_s=1.25),
    "tpcc": StandIn(
        "TPC-C, its disks put together to one",
        "measured on the public trace, 16 disks together",
        files=("ms_enterprise_tpcc", "tpcc-small", "tpc-c"),
        iops=51300, read_share=0.626,
        read_sizes=((16, 998), (120, 2)),
        write_sizes=((8, 22), (16, 916), (32, 47), (48, 4), (64, 4), (96, 2),
                     (120, 5)),
        sequential_read_share=0.0, sequential_write_share=0.033,
        footprint_mib=221952, skew=0.4,
        burst_iops=57500, in_bursts=0.56, burst_s=0.1),
    "postmark": StandIn(
        "Postmark",
        "measured on the trace that the SSD extension of DiskSim brings",
        files=("disksim_ssd_postmark", "ssd-postmark"),
        iops=127, read_share=0.832,
        read_sizes=((8, 12), (16, 22), (24, 11), (40, 14), (64, 160),
                    (80, 9), (128, 714), (192, 30), (512, 6), (2048, 10),
                    (8192, 8)),
        write_sizes=((8, 172), (16, 28), (32, 62), (64, 71), (96, 69),
                     (128, 48), (256, 33), (512, 68), (1024, 70), (2048, 192),
                     (4096, 84), (8192, 98)),
        sequential_read_share=0.88, sequential_write_share=0.296,
        footprint_mib=6050, skew=0.2,
        burst_iops=363, in_bursts=0.98, burst_s=0.38),
}

# The fifteen volumes of PIQ's Table I (MSR Cambridge). Reads and writes are
# Table I's, of its 500,000. Mean gap in ms, mean sectors of a read and of a
# write, and the share of written sectors that rewrite others, are published
# statistics of the first million requests of each volume. MiB: fitted, so
# that a million requests of the stand-in rewrite that share.
PIQ_TABLE_1 = """
hm_0     129066 370933  195.2  23.2  22.4  0.90   852
hm_1     484454  15445  528.0  36.3  45.7  0.70   304
prn_0     75305 424694  119.0  53.1  27.9  0.78  3403
prn_1    346001 153995   22.1  36.6  27.6  0.59  4670
proj_1   486780  13219   13.6  86.9  44.5  0.22 20998
proj_3   419058  80930  120.1  30.1  60.3  0.33 66129
proj_4   465194  34806  367.9  20.7  29.6  0.60   886
prxy_0    15385 484614   48.1  19.4  12.6  0.97   182
rsrch_0   49400 450596  441.1  31.4  25.4  0.98   222
src1_2    71500 428498  170.7  33.9  89.2  0.98   757
src2_0    97924 402069  481.0  25.3  22.0  0.95   435
src2_2    19469 480530  260.8 176.5 115.6 0.49 164256
stg_0    197403 302594  336.0  67.1  25.4  0.97   222
wdev_0    99000 400992      -     -     -     -     -
usr_0    148822 351165      -     -     -     -     -
"""
# For what no source states: the medians of the other thirteen.
ASSUMED = ("195.2", "33.9", "27.9", "0.78", "852")
# None of the sources says more about the single volumes. Three windows of
# 1,000 to 10,000 requests of such volumes have: 1 to 43 % of a kind
# sequential; bursts of some 1,500 IOPS and a few dozen requests in two of
# them; 50 to 86 % of the requests in the hottest 10 % of the regions.
MSR_SHAPE = {"sequential_read_share": 0.3, "sequential_write_share": 0.3,
             "skew": 0.85, "burst_iops": 1500, "in_bursts": 0.8,
             "burst_s": 0.04}


def _add_piq():
    for line in PIQ_TABLE_1.split("\n")[1:-1]:
        name, reads, writes, *rest = line.split()
        known = "-" not in rest
        gap, read_mean, write_mean, rewritten, mib = \
            map(float, rest if known else ASSUMED)
        STAND_INS[name] = StandIn(
            f"MSR Cambridge, volume {name}",
            "mix of reads and writes: PIQ, Table I; "
            + ("rate, sizes, footprint: from published statistics of its "
               "first million requests" if known else "rate, sizes, "
               "footprint: assumed, the medians of the other volumes")
            + "; bursts, skew, sequential share: assumed, alike for all",
            files=(f"msr_{name}", f"msr-cambridge_{name}"),
            iops=round(1000 / gap, 3),
            read_share=round(int(reads) / (int(reads) + int(writes)), 4),
            read_sizes=sizes_of_mean(read_mean),
            write_sizes=sizes_of_mean(write_mean),
            footprint_mib=int(mib),
            rewritten_share=rewritten if known else None, **MSR_SHAPE)


_add_piq()


def _add_calibrated():
    rows, fits = standin.filled(), standin.fitted()
    for name, fit in fits.items():
        volume = standin.base(name)
        row = rows[volume]
        kind = STAND_INS[f"piq15-{name}"] = StandIn(
            f"MSR Cambridge, volume {volume}, as PIQ's Table I has it"
            + ("; conflicts counted at the head" if name != volume else ""),
            "PIQ, Table I: reads, writes; conflicts and busy chips under "
            "noop " + ("fitted" if fit["calibrated"] else "not fitted")
            + ("; rate, sizes, rewritten share: published statistics of its "
               "first million requests" if standin.known(standin.published()[
                   volume]) else "; rate, sizes, rewritten share and what is "
               "fitted: the medians of the others")
            + "; clusters, direction, repeated places: as in public pieces "
            "of such volumes, alike for all",
            files=(volume, f"msr_{volume}", f"msr-cambridge_{volume}"),
            iops=round(1000 / row["gap_ms"], 3),
            read_share=round(row["reads"] / (row["reads"] + row["writes"]), 4),
            read_sizes=standin.sizes(row["read_sectors"]),
            write_sizes=standin.sizes(row["write_sectors"]),
            footprint_mib=int(fit["footprint_mib"]),
            rewritten_share=row["rewritten_share"],
            calibrated={"reads": row["reads"], "writes": row["writes"],
                        **{key: fit[key] for key in
                           ("lean_read", "lean_write", "cluster")},
                        **standin.shape(name)},
            **{**MSR_SHAPE, "sequential_read_share": 0.0,
               "sequential_write_share": 0.0})
        assert kind.skew == standin.SKEW


_add_calibrated()


def arrivals(kind, count, rng):
    """Times in seconds from 0, with the mean rate exactly as stated."""
    busy = kind.in_bursts * kind.iops / kind.burst_iops
    lull_s = kind.burst_s * (1 - busy) / busy
    lull_iops = kind.iops * (1 - kind.in_bursts) / (1 - busy)
    times = array.array("d")
    now, burst = 0.0, rng.random() < busy
    while len(times) < count:
        end = now + rng.expovariate(1 / (kind.burst_s if burst else lull_s))
        rate = kind.burst_iops if burst else lull_iops
        while len(times) < count:
            now += rng.expovariate(rate)
            if now > end:
                break
            times.append(now)
        # Without memory, a new draw after the change is as good as the rest
        # of the old one.
        now, burst = min(now, end), not burst
    first, last = times[0], times[-1]
    stretch = count / kind.iops / (last - first) if last > first else 0.0
    for index, value in enumerate(times):
        times[index] = (value - first) * stretch
    return times


def synthesize(name, count, seed):
    """Requests of a stand-in: (ns, device, is a read, offset, length)."""
    kind = STAND_INS[name]
    # Two sources, so that a longer one begins as a shorter one does but for
    # the scale of its times.
    rng = random.Random(f"{name} {seed} times")
    if kind.calibrated:
        yield from standin.requests(kind, standin.arrivals(kind, count, rng),
                                    seed, name)
        return
    times = arrivals(kind, count, rng)
    rng = random.Random(f"{name} {seed} places")
    regions = kind.footprint_mib
    weights = list(itertools.accumulate(
        (n + 1) ** -kind.skew for n in range(regions)))
    # Not the same order: in these traces what is read often is mostly not
    # what is written often.
    parts = {}
    for read, sizes, run in (
            (True, kind.read_sizes, kind.sequential_read_share),
            (False, kind.write_sizes, kind.sequential_write_share)):
        order = array.array("q", range(regions))
        rng.shuffle(order)
        parts[read] = ([size * SECTOR for size, _ in sizes],
                       list(itertools.accumulate(w for _, w in sizes)),
                       run, order)
    total, end_of_all = weights[-1], regions * REGION
    ends = {True: end_of_all, False: end_of_all}
    draw, find = rng.random, bisect.bisect
    for at in times:
        read = draw() < kind.read_share
        lengths, shares, run, order = parts[read]
        length = lengths[find(shares, draw() * shares[-1])]
        offset = ends[read]
        if draw() >= run or offset + length > end_of_all:
            offset = order[find(weights, draw() * total)] * REGION + \
                int(draw() * (REGION // BLOCK)) * BLOCK
            offset = min(offset, end_of_all - length)
        ends[read] = offset + length
        yield int(at * 1e9), "0", read, offset, length
