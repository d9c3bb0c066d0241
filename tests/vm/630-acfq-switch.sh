# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: acfq
# takes: 30 s
# limit: 240 s
#
# Proves: schedulers are switched while the scheduler waits for one tenant and others
# wait for the timer: no request is left behind, and the timer does not fire on freed
# memory.
# Fails if: hrtimer_cancel() is taken out of policy_exit(), or fairshare_timer() does
# not kick (the switch waits for ever).

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
seeded
switch_with_timers
