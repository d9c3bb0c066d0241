# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Proves: when the driver changes its number of hardware queues under load, the
# kernel makes the scheduler anew, its tunables are still there, and no request
# is lost.
# Fails if: flash_disk_put() frees the values whatever happens to the disk.

null_add resize memory_backed=1 size=64 submit_queues=1 irqmode=2 \
	completion_nsec=500000
sched_new "$DISK"
! has_tun "$DISK" max_inflight || tun "$DISK" max_inflight 7
load_start "$DISK"
for ((n = 0; n < 20; n++)); do
	queues=$(((n + 1) % 2 + 1))
	echo $queues >"$NULLB/resize/submit_queues" ||
		fail "cannot change to $queues queues"
	is "queues" "$(<"$NULLB/resize/submit_queues")" $queues
	is "scheduler" "$(sched_get "$DISK")" "$SCHED"
	! has_tun "$DISK" max_inflight ||
		is "bound" "$(tun "$DISK" max_inflight)" 7
	sleep 0.1
	load_alive
done
load_stop
assert_idle "$DISK"
! has_tun "$DISK" max_inflight ||
	holds "$(stat_of "$DISK" peak_inflight) <= 7" "the bound is in force"
