# SPDX-License-Identifier: GPL-2.0
"""The keys of devices and schedulers in a suite: kinds of values, tables."""

import re
from dataclasses import dataclass

# --- values -----------------------------------------------------------------

@dataclass(frozen=True)
class Int:
    """A whole number from low to high."""
    low: int
    high: int

    def __str__(self):
        return f"a whole number from {self.low} to {self.high}"

    def accepts(self, text):
        """Is this one?"""
        return bool(re.fullmatch(r"\d{1,12}", text)) and \
            self.low <= int(text) <= self.high


@dataclass(frozen=True)
class Power(Int):
    """A power of two from low to high."""

    def __str__(self):
        return f"a power of two from {self.low} to {self.high}"

    def accepts(self, text):
        return super().accepts(text) and bin(int(text)).count("1") == 1


@dataclass(frozen=True)
class Word:
    """One of some words."""
    words: tuple

    def __str__(self):
        return "one of " + ", ".join(self.words)

    def accepts(self, text):
        """Is this one?"""
        return text in self.words


@dataclass(frozen=True)
class Text:
    """The names that a pattern matches."""
    pattern: str
    what: str

    def __str__(self):
        return self.what

    def accepts(self, text):
        """Is this one?"""
        return bool(re.fullmatch(self.pattern, text))


def words(text):
    """A Word of these."""
    return Word(tuple(text.split()))


# flashsim's parameters that a suite may give, with the ranges of
# tests/flashsim/params.h: a typo fails here and not half an hour later. The
# engine sets seed, series_ms, series_len and nr_devices; suites have no faults.
# tests/host/test_flashsim_docs.py compares this table with the module's.
DEVICE = {
    "profile": words("none A B C D E F"),
    "channels": Int(1, 64), "ways": Int(1, 256), "dies": Int(1, 8),
    "page_kb": Power(2, 128), "map_kb": Power(2, 128),
    "prog_pages": Int(1, 16), "pages_per_block": Int(4, 8192),
    "size_mb": Int(1, 1048576), "op_permille": Int(20, 1000),
    "t_read_ns": Int(0, 10**9), "t_prog_ns": Int(0, 10**9),
    "t_erase_ns": Int(0, 10**9), "t_prog_slc_ns": Int(0, 10**9),
    "bus_mbps": Int(1, 100000), "link_mbps": Int(1, 100000),
    "link_duplex": Int(0, 1),
    "fw_read_ns": Int(0, 10**9), "fw_write_ns": Int(0, 10**9),
    "fw_per4k_ns": Int(0, 10**9),
    "cmd_read_ns": Int(0, 10**6), "cmd_write_ns": Int(0, 10**6),
    "turn_ns": Int(0, 10**7), "jump_ns": Int(0, 10**7),
    "page_register": Int(0, 1),
    "service": words("fixed exponential"), "suspend_us": Int(0, 10000),
    "vary_permille": Int(0, 500),
    "order": words("chip_fifo read_first in_order"),
    "alloc": words("static dynamic"),
    "stripe": Text("CWD|CDW|WCD|WDC|DCW|DWC",
                   "C, W and D in any order, such as CWD"),
    "layout": Text(r"\d+:\d+:\d+(,\d+:\d+:\d+)*",
                   "terms div:mod:mul, commas between"),
    "xor": Text(r"\d+(,\d+){0,3}", "one to four shifts, commas between"),
    "offset_sectors": Int(0, 1048576),
    "gc": words("chip device none"), "gc_step": words("whole paced"),
    "gc_permille": Int(1, 500), "wbuf_kb": Int(0, 1048576),
    "slc_mb": Int(0, 1048576), "fill_pct": Int(0, 100),
    "overwrite_pct": Int(0, 1000), "rewrite_pct": Int(0, 100),
    "nr_hw_queues": Int(1, 64),
    "queue_depth": Int(1, 1023), "max_kb": Power(4, 1024),
    "data": words("memory pattern none"), "data_mb": Int(1, 1048576),
    "time_scale": Power(1, 4096), "shrink": Int(1, 4096),
    "ranges": Int(1, 64), "rq_timeout_ms": Int(100, 600000),
    "log_len": Int(0, 4194304),
}

SCHEDULERS = {
    "none": {},
    "mq-deadline": {
        "read_expire": Int(1, 10**6), "write_expire": Int(1, 10**6),
        "prio_aging_expire": Int(0, 10**6), "writes_starved": Int(0, 10**6),
        "front_merges": Int(0, 1), "fifo_batch": Int(0, 10**6),
        "async_depth": Int(1, 10**6)},
    "kyber": {
        "read_lat_nsec": Int(0, 10**12), "write_lat_nsec": Int(0, 10**12)},
    "bfq": {
        "slice_idle": Int(0, 10**6), "slice_idle_us": Int(0, 10**9),
        "low_latency": Int(0, 1), "strict_guarantees": Int(0, 1),
        "max_budget": Int(0, 10**6), "back_seek_max": Int(0, 10**6),
        "back_seek_penalty": Int(1, 10**6), "timeout_sync": Int(1, 10**6),
        "fifo_expire_sync": Int(1, 10**6),
        "fifo_expire_async": Int(1, 10**6)},
    "k2": {
        "max_inflight": Int(1, 65535), "meta_every": Int(0, 65535),
        "policy": words("static latency bandwidth"),
        "target_us": Int(0, 60000000), "target_pct": Int(1, 100),
        "target_quantile": Int(500000, 999999), "bw_floor_pct": Int(1, 100),
        "rt_hold_ms": Int(0, 60000), "bound_unit": words("requests cost"),
        "reserve": Int(0, 1024), "rt_alone": Int(0, 1),
        "nrt_wait_ms": Int(0, 60000), "idle_wait_ms": Int(0, 60000),
        "observe": Int(0, 1), "layout": words("right wrong none"),
        "max_pass": Int(0, 65535), "inline_dispatch": Int(0, 1)},
    "piq": {
        "mode": words("auto noop rws piq_r piq_w piq"),
        "layout": words("right wrong none"),
        "chip_depth": Int(1, 64), "max_inflight": Int(0, 65535),
        "queue_length": Int(1, 512), "batch_overlap": Int(0, 1),
        "max_wait_ms": Int(1, 10000),
        "max_pass": Int(1, 65535), "scan_depth": Int(1, 1024),
        "inline_dispatch": Int(0, 1)},
    "layer_read": {
        "mode": words("auto paper"), "chips": Int(0, 128),
        "layout": words("right wrong none"), "per_layer": Int(1, 65535),
        "batch_read": Int(1, 65535), "batch_write": Int(1, 65535),
        "read_expire_ms": Int(0, 600000), "write_expire_ms": Int(0, 600000),
        "max_inflight": Int(0, 65535), "front_merges": Int(0, 1),
        "sort": words("sector fifo small big"), "sort_writes": Int(0, 1),
        "inline_dispatch": Int(0, 1)},
    "acfq": {
        "mode": words("auto paper cfq"),
        "tenant_by": words("auto cgroup task ioprio"),
        "charge": words("auto sectors requests time"),
        "anticipation": Int(0, 1), "antic_max_us": Int(0, 100000),
        "slice_ms": Int(1, 1000), "max_inflight": Int(1, 65535),
        "window_depth": Int(0, 1024), "shared_weight": Int(1, 1000),
        "layout": words("right wrong none"), "inline_dispatch": Int(0, 1)},
    "hbfq": {
        "mode": words("auto paper"),
        "tenant_by": words("auto cgroup task ioprio"),
        "charge": words("auto sectors requests time"),
        "default_budget_sectors": Int(1, 1048576),
        "min_budget_sectors": Int(0, 1048576),
        "exhausted_budget_sectors": Int(0, 1048576),
        "max_gap_us": Int(1, 1000000), "slice_ms": Int(0, 10000),
        "anticipation": Int(0, 1), "antic_max_us": Int(0, 100000),
        "max_inflight": Int(1, 65535), "window_depth": Int(0, 1024),
        "shared_weight": Int(1, 1000), "layout": words("right wrong none"),
        "inline_dispatch": Int(0, 1)},
}
# Schedulers with statistics to keep, which have to be present
OURS = ("k2", "piq", "layer_read", "acfq", "hbfq")

# Where a profile puts pages: dies, flash page and capacity in MiB, what it is
# divided by (tests/flashsim/params.c); none: flashsim's defaults. All stripe
# channel, way, die.
GEOMETRY = {
    "none": (8, 2, 1, 4, 256, 1), "A": (8, 8, 1, 2, 131072, 64),
    "B": (8, 1, 2, 16, 61440, 16), "C": (8, 4, 2, 8, 204800, 64),
    "D": (8, 2, 1, 32, 488280, 128), "E": (8, 1, 1, 16, 238418, 64),
    "F": (8, 4, 1, 16, 915527, 256),
}
GEOMETRY_KEYS = ("channels", "ways", "dies", "page_kb", "size_mb", "shrink")
# Those that write a log, one die after the other, and the pages of one program.
LOG_PROG_PAGES = {"C": 2, "D": 1, "E": 6, "F": 12}
# Keys of a variant, not of flashsim: workloads keep to this share of the
# device, from its begin. A device that is half full would else answer reads of
# the empty half without its chips.
REGION = {"region_pct": Int(1, 100)}

# Keys of the device and its queue: with every scheduler.
QUEUE = {"queue_depth": DEVICE["queue_depth"], "nr_requests": Int(1, 10**6),
         "read_ahead_kb": Int(0, 65536)}
# Keys of the io.cost controller, in the words of the kernel's io.cost.qos and
# io.cost.model; lc_weight: io.weight of the latency-critical jobs' group, where
# the others' has 100.
IOCOST_QOS = {"rpct": Int(0, 100), "rlat": Int(1, 10**9),
              "wpct": Int(0, 100), "wlat": Int(1, 10**9),
              "min": Int(1, 10000), "max": Int(1, 10000)}
IOCOST_MODEL = dict.fromkeys(
    "rbps rseqiops rrandiops wbps wseqiops wrandiops".split(),
    Int(1, 10**12))
IOCOST = {**IOCOST_QOS, **IOCOST_MODEL, "lc_weight": Int(1, 10000)}

# Every time constant of a competitor: these are multiplied by time_scale,
# what a suite sets and the kernel's own default alike.
TIMES = {
    "mq-deadline": ("read_expire", "write_expire", "prio_aging_expire"),
    "kyber": ("read_lat_nsec", "write_lat_nsec"),
    "bfq": ("slice_idle_us", "slice_idle", "fifo_expire_sync",
            "fifo_expire_async", "timeout_sync"),
    "io.cost": ("rlat", "wlat"),
    "k2": ("target_us", "rt_hold_ms", "nrt_wait_ms",
           "idle_wait_ms"),
    "piq": ("max_wait_ms",),
    "layer_read": ("read_expire_ms", "write_expire_ms"),
    "acfq": ("slice_ms", "antic_max_us"),
    "hbfq": ("slice_ms", "max_gap_us", "antic_max_us"),
}
# These do nothing by their defaults unless a tunable is given: only what is set
# is scaled then.
ASLEEP = {"k2": "policy"}
# Rates are divided by it.
RATES = {"io.cost": tuple(IOCOST_MODEL)}
# The same value under a second, coarser name.
ALIAS = {"slice_idle": "slice_idle_us"}
# And what cannot be: by scheduler, "" for all.
UNSCALED = {
    "k2 policy": ("k2's calibration of 4 s, its windows of 50 ms and its looks "
                  "every second have no tunable",),
    "": ("blk-mq looks again after 3 ms at a queue that found no resources",),
    "wbt": ("writeback throttling looks at latencies every 100 ms",),
    "kyber": ("kyber adapts its depths every 100 ms",),
    "bfq": ("bfq's weight-raising periods, its 2 ms think-time limit and its "
            "300 ms rate estimate have no tunable",),
    "io.cost": ("io.cost's period follows its latency targets, which are "
                "scaled, but stays between 1 ms and 1 s",),
}
