# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: hbfq
# core: fast
# limit: 240 s
#
# Proves: the same of budgets, which are one request here: 1 to 3 all along, and 3 to
# 1 from the moment on at which the weights are exchanged.
# Fails if: fair_pick_wf2q() looks at the start instead of the finish, or
# fair_set_weight() does not change the sum of weights.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
shares_in_order 16 default_budget_sectors 8 exhausted_budget_sectors 8
