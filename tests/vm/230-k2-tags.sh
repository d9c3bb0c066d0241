# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Best-effort requests that wait in the scheduler hold its tags. A real-time
# task that submits I/O then must find a free tag, not sleep in the tag
# allocator, which knows no priority.
#
# Fails if elv_limit_depth() returns without setting shallow_depth, or if
# policy_urgency() is never FLASH_URGENT.

# With 16 tags a quarter is kept: 12 best-effort requests get one, the others
# sleep.
hold_add queue_depth=16
sched_new "$DISK"
echo 16 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests"
tun "$DISK" max_inflight 1
# From now on the device knows that there are urgent tasks.
read_one "$DISK" 6000 ionice -c1 -n0
let_go 1
readers_done
tags_taken "$DISK"
read_one "$DISK" 5000 ionice -c1 -n0
soon 10 grep -q '^rt0 queued 1 ' /sys/kernel/debug/k2/queues ||
	fail "the real-time request found no tag"
is "finished so far" "$(reads_done "$DISK")" 1
let_go -1
readers_done
is "served real-time" "$(stat_of "$DISK" served_rt)" 2
assert_idle "$DISK"
