# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Proves: at depth one nearly every request is dispatched by its submitter, none
# is with inline_dispatch=0 nor on a driver that sleeps in queue_rq(), and the
# result is the same.
# Fails if: flash_may_inline() returns false, or does not look at
# BLK_MQ_F_BLOCKING, or elv_insert_requests() not at the tunable.
# core: fast

depth_one() {
	run_fio --filename="/dev/$1" --direct=1 --rw=randread --bs=4k --size=32m \
		--number_ios=300 --ioengine=psync --name=one
	assert_idle "$1"
}

# A plug is flushed in the submitter's context, by the block layer.
kernel_at_least 6.9 && skip "each request has a plug from 6.9 on"

main_disk
sched_set "$DISK" "$SCHED"
tun "$DISK" inline_dispatch 1
sched_new "$DISK"
depth_one "$DISK"
all=$(stat_of "$DISK" dispatched)
holds "$all >= 300 && $(stat_of "$DISK" inlined) >= $all * 95 / 100" \
	"inlined $(stat_of "$DISK" inlined)"

tun "$DISK" inline_dispatch 0
sched_new "$DISK"
depth_one "$DISK"
is "inlined with inline_dispatch=0" "$(stat_of "$DISK" inlined)" 0
holds "$(stat_of "$DISK" dispatched) >= 300"

null_add sleeper blocking=1 size=64 memory_backed=1
sched_set "$DISK" "$SCHED"
tun "$DISK" inline_dispatch 1
sched_new "$DISK"
depth_one "$DISK"
is "inlined with a driver that sleeps" "$(stat_of "$DISK" inlined)" 0
