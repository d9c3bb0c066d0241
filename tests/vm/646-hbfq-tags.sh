# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: hbfq
# takes: 60 s
# limit: 400 s
#
# Proves: the same of budgets, which are two requests here.
# Fails if: policy_shallow() sets no limit, or flash_tags_part() does not ask for
# weights.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
shares_of_crowds charge sectors default_budget_sectors 16 \
	exhausted_budget_sectors 16
