# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 50 s
# limit: 240 s
#
# Proves: one reader among 64 tasks that write as fast as they can, all of one
# priority, gets each request through before twice as many writes as can be
# outstanding have been issued; the other way round likewise. Also when scheduler
# tags are short, so that tasks wait for those, it gets on: that wait is in no event,
# so there the bound is for all its requests together, and a wide one. Counted in
# requests, not in time.
# Fails if: policy_insert() adds at the head of the queue (the oldest request is
# then served last), or policy_select() takes the youngest of a class.

TASKS=64 WANTED=$((40 / ${LAB_SLOW:-1}))
null_add busy size=64 submit_queues=2 irqmode=2 \
	completion_nsec=1000000 hw_queue_depth=128
events_set 1 block_rq_insert

# count FIELD - of the disk's statistics: 0 for reads, 4 for writes
count() {
	local -a now
	read -ra now <"/sys/block/$DISK/stat"
	say "${now[$1]}"
}
# shellcheck disable=SC2317  # soon calls it
begun() { (($(count "$1") > base)); }

# lone ONE OTHERS NR_REQUESTS - what the one does, what the others do
lone() {
	local others lone start left seen most field=0
	[[ $2 != *write ]] || field=4
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 4
	sched_new "$DISK"
	(($3 == 0)) || echo "$3" >"/sys/block/$DISK/queue/nr_requests" ||
		fail "nr_requests refuses $3"
	fio --output="$TMP/others" --eta=never --filename="/dev/$DISK" \
		--direct=1 --ioengine=psync --thread=1 --bs=4k --size=32m \
		--rw="$2" --time_based=1 --runtime=3600 --name=others \
		--numjobs=$TASKS >/dev/null 2>&1 &
	others=$!
	# shellcheck disable=SC2317  # soon calls it
	flooding() {
		stat_get "$DISK" queued
		((STAT > 12)) && (($(ios "$DISK") > base + 300))
	}
	base=$(ios "$DISK")
	soon 60 flooding || fail "no flood"
	base=$(count $((4 - field)))
	trace_from 65536 "$DISK"
	fio_quiet --filename="/dev/$DISK" --direct=1 --ioengine=psync \
		--thread=1 --bs=4k --offset=32m --size=16m --rw="$1" \
		--number_ios=$WANTED --name=lone &
	lone=$!
	# From its first request on: it takes a while to start.
	soon 60 begun $((4 - field)) || fail "it does not start"
	start=$(count $field)
	wait $lone || fail "fio failed, see the log"
	left=$(($(count $field) - start))
	trace_stop "$TMP/trace"
	# Its status then is that of the interrupted process.
	kill -INT $others
	wait $others
	! grep -q 'error=' "$TMP/others" || { cat "$TMP/others"; fail "errors"; }
	assert_idle "$DISK"
	say "$1 among $2, nr_requests $3: $left others meanwhile, that is" \
	    "$((left / WANTED)) a request"
	if (($3)); then
		holds "$left < 32 * $TASKS * $WANTED" "others for $WANTED requests"
		return
	fi
	read -r seen most < <(overtaken 65536 "$TMP/trace")
	is "requests seen from insert to issue" "$seen" $WANTED
	holds "$most <= 2 * $TASKS" "others issued while one request waited"
}

lone randread randwrite 0
lone randwrite randread 0
lone randread randwrite 16
