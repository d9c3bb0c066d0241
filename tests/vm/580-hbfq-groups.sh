# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: hbfq
# takes: 60 s
# limit: 400 s
#
# Proves: the same as 570 with budgets, whose turns end with their tenants.
# Fails if: fair_prune() forgets the tenant whose turn it is without ending
# that turn.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
groups_come_and_go
