# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 20 s
#
# Proves: whatever the bound is changed to under load, no more than the largest
# one is ever in flight, no request is lost and nothing hangs; on one and on two
# hardware queues.
# Fails if: flash_slot_free() uses <= instead of <; or flash_kick() is removed
# from flash_release().

storm() {
	local disk=${1:?} n bound max=1 peak
	sched_set "$disk" "$SCHED"
	tun "$disk" max_inflight 1
	sched_new "$disk"
	load_start "$disk"
	for ((n = 0; n < 80; n++)); do
		# Now and then leave it alone for a while.
		bound=$((RANDOM % (n % 10 ? 8 : 48) + 1))
		((bound > max)) && max=$bound
		tun "$disk" max_inflight $bound
		((n % 8)) || pause 0.1
		peak=$(stat_of "$disk" peak_inflight)
		((peak <= max)) || fail "$peak in flight, the bound was $max at most"
	done
	load_stop
	assert_idle "$disk"
	holds "$(stat_of "$disk" peak_inflight) <= $max" "peak on $disk"
	holds "$(stat_of "$disk" peak_inflight) > 1" "the load fills the bound"
	is "head insertions" "$(stat_of "$disk" head)" 0
}

null_add q1 memory_backed=1 size=64 submit_queues=1 irqmode=2 \
	completion_nsec=2000000
storm "${DISK:?}"
null_add q2 memory_backed=1 size=64 submit_queues=2 irqmode=2 \
	completion_nsec=2000000
storm "${DISK:?}"
main_disk
storm "${DISK:?}"
# One bound from end to end, with all queues busy: exact.
for bound in 1 2 5; do
	tun "$DISK" max_inflight $bound
	sched_new "$DISK"
	run_fio --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k \
		--size=64m --number_ios=150 --ioengine=libaio --iodepth=32 \
		--name=a --cpus_allowed=0 --name=b --cpus_allowed=1
	assert_idle "$DISK"
	is "peak under bound $bound" "$(stat_of "$DISK" peak_inflight)" $bound
done
