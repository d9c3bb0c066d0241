# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 12 s
#
# Proves: three devices with the scheduler at the same time, each with different
# values and a load of its own: a bound holds for its own device only, a change
# of it affects no other device, statistics are separate, and each device is in
# the debugfs file.
# Fails if: flash_queue.bound or flash_stats become variables of the module, or
# flash_disk_get() gives every disk the first entry of its list.

main_disk
disks=("$DISK")
null_add fast memory_backed=1 size=64 submit_queues=2 irqmode=2 \
	completion_nsec=1000000
disks+=("$DISK")
flashsim_add size_mb=16 nr_hw_queues=2 t_prog_ns=50000
disks+=("$DISK")
bounds=(2 9 5)
for n in 0 1 2; do
	sched_set "${disks[n]}" "$SCHED"
	tun "${disks[n]}" max_inflight "${bounds[n]}"
done

# Only one of them works: the others count nothing.
for disk in "${disks[@]}"; do
	for other in "${disks[@]}"; do
		sched_new "$other"
	done
	run_fio --filename="/dev/$disk" --direct=1 --rw=randread --bs=4k \
		--size=8m --number_ios=150 --ioengine=libaio --iodepth=32 \
		--thread=1 --name=alone
	assert_idle "${disks[@]}"
	for other in "${disks[@]}"; do
		if [[ $other == "$disk" ]]; then
			holds "$(stat_of "$other" inserted) >= 100" "on $other"
		else
			# Another process may look for partitions.
			holds "$(stat_of "$other" inserted) < 50" "on $other"
		fi
	done
done

# All of them do, and one after the other gets another bound.
for disk in "${disks[@]}"; do
	sched_new "$disk"
	load_start "$disk" --size=2m
done
for round in 1 2 3 4 5 6; do
	n=$((round % 3))
	peaks=()
	for disk in "${disks[@]}"; do
		is "lines of $disk" "$(arrays "$disk" | grep -c "^disk $disk\$")" 1
	done
	bounds[n]=$((bounds[n] + round))
	tun "${disks[n]}" max_inflight "${bounds[n]}"
	pause 0.3
	for n in 0 1 2; do
		tun_is "bound of ${disks[n]}" "${disks[n]}" max_inflight \
			"${bounds[n]}"
		peaks+=("$(stat_of "${disks[n]}" peak_inflight)")
		holds "${peaks[n]} <= ${bounds[n]}" "peak of ${disks[n]}"
	done
	load_alive
done
load_stop
assert_idle "${disks[@]}"
for n in 0 1 2; do
	holds "$(stat_of "${disks[n]}" peak_inflight) > 2" "${disks[n]} was busy"
done
