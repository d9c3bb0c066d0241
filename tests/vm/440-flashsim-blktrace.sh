# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2004
#
# once: about flashsim, and one scheduler that certainly traces inserts
# takes: 15 s
#
# Proves: blktrace sees each step of a request on flashsim: queued, got a
# request, inserted, issued, completed, each as often as fio has asked, with
# completion behind issue by at least the time that the device takes.
# Fails if: sim_submit() leaves out the firmware's time, so that requests end too
# early.

command -v blktrace >/dev/null || skip "no blktrace"
cd "$TMP" || exit 1
flashsim_add size_mb=16 fw_read_ns=300000 fw_write_ns=300000

for scheduler in mq-deadline "$SCHED"; do
	sched_set "$DISK" "$scheduler"
	# Two bios in one request would be completed once.
	echo 2 >"/sys/block/$DISK/queue/nomerges"
	rm -f bt.*
	blktrace -d "/dev/$DISK" -o bt >/dev/null &
	tracer=$!
	soon 10 test -e bt.blktrace.0 || fail "blktrace does not start"
	sleep "${LAB_SLOW:-1}"
	flashsim_reset
	run_fio --filename="/dev/$DISK" --direct=1 --rw=randrw --bs=4k \
		--number_ios=400 --size=16m --ioengine=libaio --iodepth=8 \
		--thread=1 --output-format=terse --name=traced
	flashsim_get
	kill -INT $tracer
	wait $tracer || fail "blktrace failed"
	# Reads that complete, from fio: number 6 of a terse line from its
	# total of KiB on.
	fio_ios=$(awk -F';' '$1 == 3 { print ($6 + $47) / 4 }' fio.*."$FIO_RUNS")
	is "requests of fio" "$fio_ios" 400
	blkparse -q -i bt -f '%a %d %S %n %T.%9t\n' >parsed ||
		fail "blkparse failed"
	for action in Q G I D C; do
		is "action $action" \
			"$(grep -cE "^$action (R|W)[SF]* [0-9]+ 8 " parsed)" 400
	done
	is "requests that the device counts" $((${FS[reads]} + ${FS[writes]})) 400
	# One sector may be read twice: its last issue counts.
	awk '$1 == "D" { at[$3] = $5 }
	     $1 == "C" && $4 == 8 && $5 - at[$3] < 0.000299 { bad++ }
	     END { exit bad > 0 }' parsed ||
		fail "completed earlier than the device can"
	[[ $scheduler != "$SCHED" ]] || assert_idle "$DISK"
done
flashsim_del
