# SPDX-License-Identifier: GPL-2.0
"""A suite with tenants to try things with."""

import suitecase

GOOD = """
[suite]
title = a suite
device = flashsim
optional = acfq hbfq
[device]
profile = D
time_scale = 32
[workload same]
job = share-same
tenants = grp1:100@one grp2:200 grp4:400 grp5:500
nomerges = 2
READS = 51
SIZES = 4k/50:8k/50
DEPTH = 8
RUNTIME_MS = 300
[workload one]
job = share-alone
tenants = alone:100
READS = 51
SIZES = 4k/50:8k/50
DEPTH = 8
RUNTIME_MS = 300
[schedulers]
list =
    none
    bfq
    acfq
    acfq mode=cfq charge=time anticipation=0 as cfq-time
    acfq tenant_by=task as acfq-task
    hbfq
    hbfq mode=paper as hbfq-paper
    io.cost rlat=5000 wlat=9000 rbps=800000000 rseqiops=160000 \
rrandiops=140000 wbps=400000000 wseqiops=100000 wrandiops=80000 as iocost
[form short]
seeds = 101
RUNTIME_MS@one.* = 100
"""


def plan(text=GOOD, form="short"):
    """The runs of a form by cell."""
    return suitecase.by_cell(text, form)
