# SPDX-License-Identifier: GPL-2.0
"""Logs for the workloads of a suite that replay a trace.

TRACES in the environment names a folder of real traces; what is not in there
is replaced by its stand-in. A log has the guest's times: the input's own,
multiplied by the time scale.
"""

import gzip
import pathlib
import re
import shutil
import tempfile

import suiteplan
import trace2fio

# Seconds of the device that a replay may take; all inputs stay far below.
LIMIT_S = 40000
# A million requests of a real trace are used: the first half warms up the
# paper's device, the second half is measured.
REAL_SKIP = 500000
# Us of the device without a request: whatever was there has ended long ago,
# and an idle guest still costs the host something.
MAX_GAP_US = 20000
# fio's memory is depth times this.
LONGEST = "512K"


def provide_real(name, log, count, wanted):
    """The second half of the first million, or what there is."""
    try:
        return trace2fio.provide(name, out=log, skip=REAL_SKIP,
                                 max_requests=count, **wanted)
    except trace2fio.TraceError as error:
        if "has only" not in str(error):
            raise
    return trace2fio.provide(name, out=log, max_requests=count, **wanted)


def missing(runs):
    """What to say of real traces that runs want and TRACES does not have; or ""."""
    names = {found[1] for run in runs
             if (found := suiteplan.PIECE.fullmatch(run["env"].get("TRACE", "")))}
    lacking = sorted(name for name in names if not trace2fio.real(name))
    return "TRACES: want a directory with " + ", ".join(lacking) if lacking else ""


class Store:
    """Makes each log once; a folder for each, as a guest gets one."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.made = {}

    @staticmethod
    def key(run):
        """The inputs of the log."""
        env = run["env"]
        return re.sub(r"[^\w.-]", "_", "-".join((
            env["TRACE"], env["TRACE_IOS"], f"s{run['seed']}",
            f"x{run['time_scale']}",
            str(suiteplan.device_bytes(run["params"]) >> 20))))

    def get(self, run):
        """(folder with trace.log.gz, facts about it)."""
        key = self.key(run)
        if key not in self.made:
            self.made[key] = self.make(run, self.folder / key)
        return self.made[key]

    @staticmethod
    def make(run, folder):
        """Writes it."""
        env = run["env"]
        name, count = env["TRACE"], int(env["TRACE_IOS"])
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as scratch:
            log = pathlib.Path(scratch, "log")
            wanted = {"size": str(suiteplan.device_bytes(run["params"])),
                      "fold": "modulo", "max_length": LONGEST,
                      "max_gap": MAX_GAP_US,
                      "time_scale": run["time_scale"],
                      "seed": run["seed"]}
            piece = suiteplan.PIECE.fullmatch(name)
            if piece:
                summary = trace2fio.provide(piece[1], out=log, max_requests=count,
                                            compress=piece[2], **wanted)
            elif trace2fio.real(name):
                summary = provide_real(name, log, count, wanted)
            else:
                summary = trace2fio.provide(name, out=log, requests=count,
                                            **wanted)
            with open(log, "rb") as source, gzip.GzipFile(
                    folder / "trace.log.gz", "wb", mtime=0) as packed:
                shutil.copyfileobj(source, packed)
        kept = ("source", "stand_in", "stand_in_seed", "stand_in_source",
                "requests", "reads", "writes", "bytes", "mean_read_bytes",
                "mean_write_bytes", "rewritten_share", "span_s", "compress",
                "time_scale", "split", "moved", "skipped", "cut")
        return folder, {"name": name,
                        **{key: summary[key] for key in kept}}
