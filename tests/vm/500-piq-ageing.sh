# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: piq
# takes: 60 s
# limit: 400 s
#
# Proves: with a layout that it trusts, among 48 tasks that read pages as fast as they
# can, a read of all chips, a write of one and a write of all chips are served before a
# multiple (WANTED) of the reads that can be outstanding; and a layout that is wrong is
# not trusted. Counted in requests, not in time.
# Fails if: piq_learn_order() heeds no chip_depth; piq_reserve() keeps no chips free and
# piq_fits() lets no request queue up (the wide ones), piq_charge() never begins an epoch
# and max_wait is not looked at (the writes), or piq_learn_trust() compares nothing.

TASKS=48 WANTED=20
# So slow that the guest can keep all of its chips at work.
page_ns=$((2000000 * ${LAB_SLOW:-1}))
flashsim_add size_mb=64 channels=4 ways=2 page_kb=4 t_read_ns=$page_ns \
	t_prog_ns=$((2 * page_ns)) nr_hw_queues=2 gc=none data=none max_kb=512
sched_set "$DISK" "$SCHED"
events_set 1 block_rq_insert

# flood - starts them and sets FLOOD
flood() {
	fio --output="$TMP/flood" --eta=never --filename="/dev/$DISK" \
		--direct=1 --ioengine=psync --thread=1 --bs=4k --size=32m \
		--norandommap=1 --rw=randread --time_based=1 --runtime=3600 \
		--name=flood --numjobs=$TASKS >/dev/null 2>&1 &
	FLOOD=$!
}
ebb() {
	kill -INT $FLOOD
	wait $FLOOD
	! grep -q 'error=' "$TMP/flood" || { cat "$TMP/flood"; fail "errors"; }
}

# A layout that is wrong; then the right one.
tun "$DISK" layout "page=4096 terms=8:8:1"
sched_new "$DISK"
flood
begun=$(reads_done "$DISK")
# shellcheck disable=SC2317  # soon calls it
enough() { (($(reads_done "$DISK") > begun + 2500)); }
soon 90 enough || fail "the flood is too slow"
is "trusted though wrong" "$(stat_of "$DISK" trusted)" 0
holds "$(tun "$DISK" layout_confidence) < 100" "confidence"
tun "$DISK" layout "page=4096 chips=8"
# shellcheck disable=SC2317  # soon calls it
trusted() { counter_is "$DISK" trusted 1; }
soon 90 trusted || fail "never trusted, confidence" \
	"$(tun "$DISK" layout_confidence)"
tun_is "confidence" "$DISK" layout_confidence 100
# All are reads and nothing is bounded: each chip serves its own in order anyway.
soon 30 counter_is "$DISK" by_layout 0 || fail "goes by the layout for nobody"
tun "$DISK" chip_depth 1
soon 30 counter_is "$DISK" by_layout 1 || fail "does not go by the layout"

# lone NAME LIMIT ARGUMENTS... - while one of its requests waits, fewer reads of others
# are issued
lone() {
	local name=$1 limit=$2 seen most
	shift 2
	trace_from 65536 "$DISK"
	run_fio --filename="/dev/$DISK" --direct=1 --ioengine=psync --thread=1 \
		--offset=32m --size=32m --number_ios=$WANTED --name="$name" "$@"
	trace_stop "$TMP/trace"
	stats "$DISK"
	read -r seen most < <(overtaken 65536 "$TMP/trace")
	is "requests seen from insert to issue" "$seen" $WANTED
	holds "$most < $limit" "reads issued while a $name waited"
}
lone page-read $((4 * TASKS)) --rw=randread --bs=4k
lone wide-read $((8 * TASKS)) --rw=randread --bs=128k
lone page-write $((8 * TASKS)) --rw=randwrite --bs=4k
lone wide-write $((32 * TASKS)) --rw=randwrite --bs=128k
# Age counts, too, when passes and cost do not.
tun "$DISK" max_pass 65535
tun "$DISK" max_wait_ms 1
before=$(stat_of "$DISK" aged)
lone old-read $((8 * TASKS)) --rw=randread --bs=128k
holds "$(stat_of "$DISK" aged) > $before" "chips were kept free"
ebb
assert_idle "$DISK"
is "stuck" "$(stat_of "$DISK" stuck)" 0
sched_set "$DISK" none
flashsim_del
