# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 3 s, 135 s if slow
# limit: 240 s
#
# Proves: the kernel's own injected faults, as its debug builds have them, pass
# through the scheduler without a loss: null_blk that gives requests back or
# refuses them, and that lets them time out; completions that the block layer
# drops; bios that fail before they get to the scheduler.
# Fails if: elv_requeue_request() gives no slot back, or elv_finish_request() does
# not call flash_release() for a request that failed.

timeouts=/sys/kernel/debug/fail_io_timeout
bios=/sys/kernel/debug/fail_make_request
modprobe null_blk nr_devices=0 || skip "this kernel has no null_blk"
own=$(modinfo -p null_blk | grep -cE '^(timeout|requeue):')
[[ -d $timeouts || -d $bios || $own == 2 ]] ||
	skip "needs a kernel that injects faults: scripts/check --kernel debug"

# device NULL_BLK_PARAMETERS -- KEY=VALUE... - sets DISK to one
device() {
	local params=()
	while [[ $1 != -- ]]; do
		params+=("$1")
		shift
	done
	shift
	! [[ -d $NULLB/faulty ]] || null_del faulty
	rmmod null_blk || fail "null_blk is still used"
	modprobe null_blk nr_devices=0 "${params[@]}" || fail "null_blk"
	null_add faulty size=64 submit_queues=2 "$@"
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 3
	sched_new "$DISK"
	echo 1000 >"/sys/block/$DISK/queue/io_timeout" || fail "io_timeout"
}

# errors - sets ERRORS to those of fio
errors() {
	local log=$TMP/errors.$((++FIO_RUNS))
	timeout -k 5 "$FIO_SECONDS" fio --filename="/dev/$DISK" --direct=1 \
		--ioengine=libaio --iodepth=32 --thread=1 --bs=4k --size=16m \
		--rw=randrw --number_ios="$1" --continue_on_error=all \
		--ignore_error=5:110,5:110 --output="$log" --name=faulty \
		>/dev/null 2>&1 || { cat "$log"; fail "fio gave up"; }
	ERRORS=$(sed -n 's/.*errors *: total=\([0-9]*\).*/\1/p' "$log")
	say "errors: ${ERRORS:=0}"
	assert_idle "$DISK"
}

verified() {
	run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio \
		--iodepth=32 --thread=1 --rw=randrw --bs=4k --size=1m \
		--verify=crc32c --verify_fatal=1 --name=a --name=b --offset=8m
	assert_idle "$DISK"
}

if ((own == 2)); then
	device requeue=1,10,0,-1 -- memory_backed=1
	verified
	holds "$(stat_of "$DISK" requeued) > 10" "null_blk gave some back"
	if has_uring; then
		device requeue=1,10,0,-1 -- memory_backed=1 poll_queues=1
		run_fio --filename="/dev/$DISK" --direct=1 --rw=randread \
			--ioengine=io_uring --hipri=1 --iodepth=16 --bs=4k \
			--size=8m --name=polled
		holds "$(stat_of "$DISK" polled) > 0" "they were polled"
		assert_idle "$DISK"
	fi
	device timeout=1,5,0,-1 --
	errors 300
	holds "$ERRORS > 0" "null_blk let some time out"
fi
if [[ -d $timeouts ]]; then
	device -- irqmode=1
	echo 1 >"/sys/block/$DISK/io-timeout-fail" || fail "io-timeout-fail"
	echo 0 >$timeouts/verbose
	echo -1 >$timeouts/times
	echo 5 >$timeouts/probability
	errors 300
	holds "$ERRORS > 0" "the block layer dropped some"
	echo 0 >$timeouts/probability
	errors 300
	is "errors without faults" "$ERRORS" 0
fi
if [[ -d $bios ]]; then
	device -- memory_backed=1
	echo 1 >"/sys/block/$DISK/make-it-fail" || fail "make-it-fail"
	echo 0 >$bios/verbose
	echo -1 >$bios/times
	echo 10 >$bios/probability
	errors 300
	holds "$ERRORS > 0" "bios failed"
	echo 0 >$bios/probability
	verified
fi
null_del faulty
rmmod null_blk || fail "null_blk is still used"
