# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: layer_read
# takes: 35 s
# limit: 300 s
#
# Proves: the paper's workloads (tests/fio/layer_read-*.fio) run to their end on the
# emulated NVMe device in both modes: without an error, with all that they ask for
# served, and with reads and writes where there are to be some.
# Fails if: layer_next() loses a request, or layer_held() holds an empty device.

main_disk
sched_set "$DISK" "$SCHED"
export DEV=/dev/$DISK RUNTIME=100 SEED=7 IOS READ_PCT DEPTH RW

# workload NAME READS WRITES - at least READS reads and WRITES writes have been
# served. Readahead reads more at once than a program asks for, and neighbours are
# merged.
workload() {
	local name=$1 mode
	for mode in paper auto; do
		tun "$DISK" mode $mode
		sched_new "$DISK"
		run_fio "/tests/fio/layer_read-$name.fio"
		sync "$DEV"
		assert_idle "$DISK"
		holds "$(stat_of "$DISK" served_reads) >= $2 &&
			$(stat_of "$DISK" served_writes) >= $3" "$name, mode $mode"
	done
}

IOS=40
workload seq-read 16 0
IOS=120
for READ_PCT in 50 70; do
	workload mixed 40 20
done
for DEPTH in 8 32; do
	workload interference 30 30
done
IOS=8
for RW in read randread; do
	workload sizes 16 0
done
for RW in write randwrite; do
	workload sizes 0 16
done
sched_set "$DISK" none
