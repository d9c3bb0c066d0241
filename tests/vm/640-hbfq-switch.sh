# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: hbfq
# takes: 30 s
# limit: 240 s
#
# Proves: the same as 630 with budgets, where the scheduler waits for every tenant as
# long as that may be.
# Fails if: the same is broken.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
seeded
switch_with_timers
