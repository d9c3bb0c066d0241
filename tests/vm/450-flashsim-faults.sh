# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2004
#
# once: about flashsim, and the first scheduler
# limit: 300 s
# takes: 40 s
#
# Proves: flashsim injects faults at the rate and at the place that its
# parameters name, and counts them; requests end with the right error; requeued
# requests lose or change no data; a request that is just slow, or times out
# while the device has it, harms nothing.
# Fails if: fs_hit() halves its rate, fs_target() ignores where the sectors end,
# fs_timeout_rq() completes a request that the model still has or that is only
# slow, a request to be given back ends instead, or one that fails writes.

fast=(size_mb=16 t_read_ns=5000 t_prog_ns=5000 t_erase_ns=20000 fw_read_ns=1000
      fw_write_ns=1000)

# errors ERRNO ARGUMENTS... - sets ERRORS to fio's count; no other error may occur
errors() {
	local want=$1 log=$TMP/errors.$((++FIO_RUNS)) line
	shift
	timeout -k 5 "$FIO_SECONDS" fio --filename="/dev/$DISK" --direct=1 \
		--ioengine=libaio --iodepth=32 --thread=1 --bs=4k --size=16m \
		--continue_on_error=all --ignore_error=61:110,61:110 \
		--output="$log" --name=faulty "$@" \
		>/dev/null 2>&1 || { cat "$log"; fail "fio gave up"; }
	line=$(grep -oE 'errors *: total=[0-9]+, first_error=[0-9]+' "$log")
	ERRORS=${line#*total=}
	ERRORS=${ERRORS%,*}
	[[ -n $ERRORS ]] || { cat "$log"; fail "fio counts no errors"; }
	((ERRORS == 0)) || is "the error" "${line##*=}" "$want"
}
ENODATA=61 ETIMEDOUT=110

quiet() {
	local file
	for file in error timeout requeue busy; do
		flashsim_fault ${file}_ppm 0
	done
	flashsim_fault fault_sector 0
	flashsim_fault fault_sectors 0
	flashsim_fault fault_ops rw
	flashsim_reset
}

# The share: 3000 tries at 5 % are 150, and 12 is their standard deviation.
flashsim_add "${fast[@]}"
echo 2 >"/sys/block/$DISK/queue/nomerges"
for rw in randread randwrite; do
	quiet
	flashsim_fault error_ppm 50000
	errors $ENODATA --rw=$rw --number_ios=3000
	is "errors injected" "$(flashsim_stat injected_errors)" "$ERRORS"
	holds "$ERRORS > 150 - 72 && $ERRORS < 150 + 72" "of 3000 at 5 %"
done
quiet
errors $ENODATA --rw=randrw --number_ios=200
is "errors without faults" "$ERRORS$(flashsim_stat injected_errors)" 00

# Where: sectors 801 to 810 are in requests 100 and 101 of 4 KiB.
flashsim_fault error_ppm 1000000
flashsim_fault fault_sector 801
flashsim_fault fault_sectors 10
errors $ENODATA --rw=read --size=1m
is "errors in these sectors" "$ERRORS" 2
errors $ENODATA --rw=read --offset=1m --size=1m
is "errors elsewhere" "$ERRORS" 0
flashsim_fault fault_sector 808
flashsim_fault fault_sectors 1
errors $ENODATA --rw=write --size=1m
is "errors in this sector" "$ERRORS" 1
is "errors injected" "$(flashsim_stat injected_errors)" 3

# Which: and a write that fails changes nothing.
quiet
dd if=/dev/urandom of="$TMP/old" bs=4k count=16 status=none
dd if="$TMP/old" of="/dev/$DISK" bs=4k oflag=direct status=none || fail "write"
flashsim_fault error_ppm 1000000
flashsim_fault fault_ops w
out=$(dd if=/dev/zero of="/dev/$DISK" bs=64k count=1 oflag=direct 2>&1) &&
	fail "a write succeeds"
[[ $out == *"No data available"* ]] || fail "a write: $out"
blkdiscard "/dev/$DISK" 2>/dev/null && fail "a discard succeeds"
errors $ENODATA --rw=read --size=64k
is "errors of reads" "$ERRORS" 0
dd if="/dev/$DISK" bs=4k count=16 iflag=direct status=none |
	cmp - "$TMP/old" || fail "a failed write has changed something"
flashsim_fault fault_ops r
errors $ENODATA --rw=read --size=64k
is "errors of reads" "$ERRORS" 16
errors $ENODATA --rw=write --size=64k
is "errors of writes" "$ERRORS" 0
flashsim_del

# A flush is none of the reads.
flashsim_add "${fast[@]}" wbuf_kb=64 error_ppm=1000000 fault_ops=w
dd if=/dev/null of="/dev/$DISK" conv=fsync,notrunc status=none 2>/dev/null &&
	fail "a flush succeeds"
flashsim_fault fault_ops r
dd if=/dev/null of="/dev/$DISK" conv=fsync,notrunc status=none ||
	fail "a flush is taken for a read"
flashsim_del

# Requests that never end by themselves.
flashsim_add "${fast[@]}" rq_timeout_ms=200 queue_depth=128
echo 2 >"/sys/block/$DISK/queue/nomerges"
flashsim_fault timeout_ppm 100000
begin=$SECONDS
errors $ETIMEDOUT --rw=randrw --number_ios=300 --iodepth=128
is "timeouts injected" "$(flashsim_stat injected_timeouts)" "$ERRORS"
holds "$ERRORS > 30 - 30 && $ERRORS < 30 + 31" "of 300 at 10 %"
holds "$SECONDS - begin < 40" "seconds"
quiet
is "requests that are left" "$(flashsim_stat outstanding)" 0
flashsim_del

# Slow is no fault; and what times out before the device is done with it stays
# until then: 2.4 s, with a timeout of 100 ms that is asked after once a second.
flashsim_add "${fast[@]}" rq_timeout_ms=100 time_scale=4 fw_write_ns=600000000
begin=$EPOCHREALTIME
run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio --iodepth=16 \
	--bs=4k --rw=randwrite --size=64k --thread=1 --name=slow
holds "${EPOCHREALTIME/./} - ${begin/./} > 2400000" "us for slow writes"
flashsim_fault fault_ops w
flashsim_fault timeout_ppm 1000000
begin=$EPOCHREALTIME
errors $ETIMEDOUT --rw=write --size=64k
is "timeouts" "$ERRORS" 16
holds "${EPOCHREALTIME/./} - ${begin/./} > 2400000" "us for those that time out"
quiet
run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio --iodepth=16 \
	--bs=4k --rw=randwrite --size=128k --thread=1 --verify=crc32c --name=after
is "requests that are left" "$(flashsim_stat outstanding)" 0
flashsim_del

# Requests are requeued many times: nothing is lost.
again() {	# SCHEDULER FAULT SIZE PARAM=VALUE...
	local scheduler=$1 fault=$2 size=$3 n
	shift 3
	say "--- $scheduler $fault $*"
	flashsim_add "${fast[@]}" "$@"
	sched_set "$DISK" "$scheduler"
	[[ $scheduler != "$SCHED" ]] || tun "$DISK" max_inflight 4
	flashsim_reset
	flashsim_fault "$fault"_ppm 300000
	run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio \
		--iodepth=16 --thread=1 --rw=randrw --bssplit=4k/70:512/10:16k/20 \
		--size="$size" --verify=crc32c --verify_fatal=1 \
		--name=a --name=b --offset=8m
	flashsim_fault "$fault"_ppm 0
	flashsim_get
	n=${FS[injected_busy]}
	[[ $fault == busy ]] || n=${FS[injected_requeues]}
	is "requests that are left" "${FS[outstanding]}" 0
	# Of 10 tries 3 fail, so for 7 requests that end there are 3 others.
	total=$((${FS[reads]} + ${FS[writes]}))
	[[ $fault == busy ]] || total=$((total - n))
	holds "$n * 7 > $total && $n * 7 < $total * 6" \
		"injected, of $total requests"
	is "other faults" $((${FS[injected_errors]} + ${FS[injected_timeouts]} +
		${FS[injected_busy]} + ${FS[injected_requeues]})) "$n"
	if [[ $scheduler == "$SCHED" ]]; then
		assert_idle "$DISK"
		if [[ $fault == requeue ]]; then
			is "requeued" "$(stat_of "$DISK" requeued)" "$n"
			holds "$(stat_of "$DISK" head) > 0" \
				"insertions at the head"
		fi
	fi
	flashsim_del
}
for scheduler in mq-deadline "$SCHED"; do
	again "$scheduler" requeue 768k nr_hw_queues=2
	again "$scheduler" busy 128k
done
again "$SCHED" requeue 384k queue_depth=2 wbuf_kb=64
