# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: hbfq
# takes: 60 s
# limit: 400 s
#
# Proves: the same as 570 with budgets, where a tenant's turn ends with the
# tenant.
# Fails if: fair_prune() forgets the tenant in service without ending its turn.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
groups_come_and_go
