# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Best-effort requests that wait in the scheduler hold its tags. A real-time
# task that comes then must find one, not sleep in the tag allocator, which
# knows no priority.
#
# Fails if elv_limit_depth() returns without setting shallow_depth, or if
# policy_urgency() is never FLASH_URGENT.

# With 16 tags a quarter is kept: 12 best-effort requests get one, the others
# sleep. Every request is held long enough to count.
tags() {
	local ms=$1 late=0 n
	hold_add "hold" "$ms" submit_queues=1 hw_queue_depth=16
	sched_new "$DISK"
	echo 16 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests"
	tun "$DISK" max_inflight 1
	# From now on the device knows that there are urgent tasks.
	read_one "$DISK" 6000 ionice -c1 -n0
	readers_done
	for ((n = 0; n < 20; n++)); do
		read_one "$DISK" $((n * 100))
	done
	soon 2 counter_is "$DISK" queued 11 || late=1
	if ((!late)) && [[ $(stat_of "$DISK" queued) != 11 ]]; then
		late=1
	fi
	# More would have come by now.
	((late)) || sleep 0.2
	[[ $(stat_of "$DISK" queued) == 11 ]] || late=1
	read_one "$DISK" 5000 ionice -c1 -n0
	soon 1 grep -q '^rt0 queued 1 ' /sys/kernel/debug/k2/queues || late=1
	(($(reads_done "$DISK") == 1)) || late=1
	stats "$DISK"
	tun "$DISK" max_inflight 64
	readers_done
	((late)) || is "served real-time" "$(stat_of "$DISK" served_rt)" 2
	assert_idle "$DISK"
	null_del hold
	((!late))
}
patiently tags
