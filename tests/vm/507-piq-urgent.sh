# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: piq
#
# Proves: in mode auto a read of a task with real-time priority is dispatched before
# requests that were inserted before it, and these keep their order.
# Fails if: piq_class() does not look at the priority, or policy_insert() not at the
# class; tests/unit/test_piq_pick.c has the order among urgent items.

# shellcheck source=tests/vm/lib/order.sh
. lib/order.sh

hold_add
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1
tun "$DISK" max_wait_ms 10000
sched_new "$DISK"
tun_is "mode" "$DISK" mode auto
trace_start block_rq_issue "$DISK"
read_one "$DISK" 0
await "$DISK" inflight 1
COUNT=1
arrive r 50 30
read_one "$DISK" 90 ionice -c1 -n0
await "$DISK" inserted 4
finish "real time first" "90 50 30"
