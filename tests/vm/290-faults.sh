# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2004
# core: yes
# takes: 25 s, 110 s if slow
# limit: 240 s
#
# Proves: with a device that refuses requests, gives them back, fails them and
# never answers some, under bounds of one and more and while schedulers are
# switched: data is right, each requeue is counted once, errors reach only the
# submitters of the failed requests, and nothing is left in flight.
# Fails if: elv_requeue_request() gives no slot back, or elv_finish_request() does
# not call flash_release(); or elv_dispatch_request() forgets requests at the head.

fast=(size_mb=16 t_read_ns=5000 t_prog_ns=5000 t_erase_ns=20000 fw_read_ns=1000
      fw_write_ns=1000 nr_hw_queues=2)
quiet() {
	local file
	for file in error timeout requeue busy; do
		flashsim_fault ${file}_ppm 0
	done
}

# Given back and refused, one after another.
flashsim_add "${fast[@]}" queue_depth=16
for bound in 1 3; do
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight $bound
	sched_new "$DISK"
	flashsim_reset
	flashsim_fault requeue_ppm 250000
	flashsim_fault busy_ppm 100000
	run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio \
		--iodepth=32 --thread=1 --rw=randrw --size=384k \
		--bssplit=4k/70:512/10:16k/20 --verify=crc32c --verify_fatal=1 \
		--name=a --name=b --offset=8m
	quiet
	assert_idle "$DISK"
	flashsim_get
	holds "${FS[injected_requeues]} > 20 && ${FS[injected_busy]} > 5"
	is "requeued with a bound of $bound" "$(stat_of "$DISK" requeued)" \
		"${FS[injected_requeues]}"
	is "inserted at the head" "$(stat_of "$DISK" head)" \
		"${FS[injected_requeues]}"
	is "untracked" "$(stat_of "$DISK" untracked)" 0
done
flashsim_del

# Flushes and FUA writes that the device gives back.
flashsim_add "${fast[@]}" queue_depth=16 wbuf_kb=64
is "its write cache" "$(<"/sys/block/$DISK/queue/write_cache")" "write back"
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 2
sched_new "$DISK"
flashsim_fault requeue_ppm 250000
flashsim_fault busy_ppm 100000
run_fio --filename="/dev/$DISK" --direct=1 --ioengine=psync --thread=1 \
	--rw=randwrite --bs=4k --size=256k --verify=crc32c --verify_fatal=1 \
	--name=a --sync=dsync --name=b --sync=none --fsync=2 --offset=8m
quiet
assert_idle "$DISK"
flashsim_get
holds "${FS[injected_requeues]} > 20 && ${FS[injected_busy]} > 5"
flashsim_del

# All faults in the upper half of the device; the lower half does not notice.
flashsim_add "${fast[@]}" rq_timeout_ms=200 queue_depth=64
echo 2 >"/sys/block/$DISK/queue/nomerges"
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 8
sched_new "$DISK"
flashsim_reset
flashsim_fault fault_sector $((12 << 11))
flashsim_fault fault_sectors $((4 << 11))
flashsim_fault error_ppm 30000
flashsim_fault timeout_ppm 15000
flashsim_fault requeue_ppm 100000
flashsim_fault busy_ppm 50000
load_start "$DISK" --size=1m --thread=1

# faulty ARGUMENTS... - fio in the upper half; sets ERRORS to what it counts
faulty() {
	local log=$TMP/errors.$((++FIO_RUNS))
	timeout -k 5 "$FIO_SECONDS" fio --filename="/dev/$DISK" --direct=1 \
		--ioengine=libaio --iodepth=32 --thread=1 --bs=4k --offset=12m \
		--size=4m --continue_on_error=all --ignore_error=61:110,61:110 \
		--output="$log" --name=faulty "$@" >/dev/null 2>&1 ||
		{ cat "$log"; fail "fio gave up"; }
	ERRORS=$(sed -n 's/.*errors *: total=\([0-9]*\).*/\1/p' "$log")
	[[ -n $ERRORS ]] || { cat "$log"; fail "fio counts no errors"; }
}

faulty --rw=randrw --number_ios=600
flashsim_get
is "errors and time-outs" "$ERRORS" \
	$((${FS[injected_errors]} + ${FS[injected_timeouts]}))
holds "${FS[injected_errors]} > 0 && ${FS[injected_timeouts]} > 0 &&
	${FS[injected_requeues]} > 0 && ${FS[injected_busy]} > 0"
load_alive
# Nothing was lost by the counting, with all of that going on.
is "requeued" "$(stat_of "$DISK" requeued)" "${FS[injected_requeues]}"

# The same while schedulers are switched, each of which waits for the time-outs.
rivals "$DISK"
before=$((${FS[injected_errors]} + ${FS[injected_timeouts]}))
given=${FS[injected_requeues]}
faulty --rw=randrw --number_ios=600 &
faulty=$!
# shellcheck disable=SC2317  # soon calls it
begun() {
	flashsim_get
	((FS[injected_requeues] > given))
}
soon 30 begun || fail "the load with errors does not start"
for ((n = 0; n < 12; n++)); do
	sched_set "$DISK" "${RIVALS[n % ${#RIVALS[@]}]}"
	nap
done
sched_set "$DISK" "$SCHED"
kill -0 $faulty 2>/dev/null || say "the switches took longer than the load"
wait $faulty || fail "the load with errors failed, see the log"
load_stop
quiet
assert_idle "$DISK"
flashsim_get
holds "${FS[injected_errors]} + ${FS[injected_timeouts]} > $before"
is "requests that are left" "${FS[outstanding]}" 0
run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio --iodepth=32 \
	--thread=1 --rw=randrw --bs=4k --size=1m --offset=12m \
	--verify=crc32c --verify_fatal=1 --name=after
assert_idle "$DISK"
flashsim_del
