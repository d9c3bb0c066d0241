# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: acfq
# core: fast
# limit: 240 s
#
# Proves: two control groups with weights 1 to 3 that always have something waiting
# are served 1 to 3 all along, and 3 to 1 from the moment on at which the weights are
# exchanged under load; weights stay over a switch.
# Fails if: tenant_charge() does not divide by the weight, fairshare_set_weight() does
# not change the tenant that is there already, or fair_pick_least() takes the
# first of the backlog.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
shares_in_order 8
