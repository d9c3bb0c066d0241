# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: acfq
# takes: 60 s
# limit: 300 s
#
# Proves: the paper's loads (tests/fio/acfq-*.fio) run to their end on the emulated NVMe
# device in each mode, each tenant in a separate control group: no tenant starves, and
# of tenants that all send the same the largest weight gets more than the least.
# Fails if: fair_next() passes over a tenant for good, or fairshare_bio_key() takes all that
# fio starts for one tenant.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
paper_device
LIKE=1 paper_load reads grp-1:100 grp-2:200 grp-4:400 grp-5:500
LIKE=1 paper_load same grp-1:100 grp-2:200 grp-4:400 grp-5:500
sched_set "$DISK" none
