# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: piq
# takes: 60 s
# limit: 400 s
#
# Proves: the workloads of tests/fio/piq-*.fio run to their end on the emulated NVMe
# device in mode auto, with a layout and without, and in the paper's: without an error,
# with all their requests served, and none taken because no other could be dispatched.
# Fails if: piq_choose() returns none of the waiting requests while nothing is out
# (stuck), or piq_release() does not count down the requests inside (the load stands
# still).

main_disk
sched_set "$DISK" "$SCHED"
export DEV=/dev/$DISK RUNTIME=200 SEED=7 IOS=300 RT_IOS=40 THINKTIME_US=500

# workload NAME LEAST - at least LEAST requests have been served
workload() {
	local name=$1 mode layout
	for mode in auto piq noop; do
		for layout in "page=4096 chips=16" none; do
			# Without a layout the paper's modes are one chip: as slow
			# as one request at a time.
			[[ $mode != auto && $layout == none ]] && continue
			tun "$DISK" mode $mode
			tun "$DISK" layout "$layout"
			sched_new "$DISK"
			run_fio "/tests/fio/piq-$name.fio"
			sync "$DEV"
			assert_idle "$DISK"
			holds "$(stat_of "$DISK" completed) +
				$(stat_of "$DISK" merged) >= $2" \
				"$name, mode $mode, layout $layout"
			is "stuck" "$(stat_of "$DISK" stuck)" 0
		done
	done
}

workload rand-read 40
workload mixed 300
workload even-rand 300
IOS=100 workload even-seq 50
# This one ends by time alone.
RUNTIME=2 workload wide 1
sched_set "$DISK" none
