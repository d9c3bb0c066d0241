# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Proves: tracing tools see each request enter the scheduler once: trace event
# block_rq_insert, and action I of blktrace.
# Fails if: trace_block_rq_insert() is removed from flash_insert().

main_disk
sched_new "$DISK"
trace_start block_rq_insert "$DISK"
before=$(stat_of "$DISK" inserted)
run_fio --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k --size=32m \
	--number_ios=300 --ioengine=libaio --iodepth=8 --name=traced
assert_idle "$DISK"
trace_stop "$TMP/trace"
is "block_rq_insert events" "$(grep -c 'block_rq_insert' "$TMP/trace")" \
	$(($(stat_of "$DISK" inserted) - before))
holds "$(stat_of "$DISK" inserted) - before >= 300"

command -v blktrace >/dev/null || exit 0
cd "$TMP" || exit 1
blktrace -d "/dev/$DISK" -o bt -a issue -a queue >/dev/null &
tracer=$!
soon 10 test -e bt.blktrace.0 || fail "blktrace does not start"
sleep "${LAB_SLOW:-1}"
before=$(stat_of "$DISK" inserted)
run_fio --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k --size=32m \
	--number_ios=100 --ioengine=psync --name=traced
after=$(stat_of "$DISK" inserted)
kill -INT $tracer
wait $tracer || fail "blktrace failed"
blkparse -q -i bt -f '%a %C\n' >parsed || fail "blkparse failed"
is "action I of blktrace" "$(grep -c '^I fio' parsed)" $((after - before))
assert_idle "$DISK"
