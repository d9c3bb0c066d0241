# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: acfq
# takes: 60 s
# limit: 400 s
#
# Proves: control groups are created, do I/O under verified load and are removed, forty
# times; those that find no room share a queue; a second later nothing is left of them,
# in the scheduler and in the kernel.
# Fails if: tenant_forget() leaves the tenant in its list, fair_prune() forgets no
# tenant, or fairshare.c keeps a reference to a control group.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
groups_come_and_go
