# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: fast
# takes: 11 s
#
# Proves: with one request in the device and others waiting, real-time level 0 is dispatched
# before level 5, both before the rest (best effort, no priority and, with idle_wait_ms=0, idle
# are one FIFO), and a class is served in order of arrival, whatever the hardware queue of a
# request.
# Fails if: k2_pick() ignores real-time queues, or takes the highest level first,
# or policy_insert() adds at the head.

order() {
	local queues=$1 n=1 want got spec
	hold_add nr_hw_queues="$queues"
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 1
	tun "$DISK" idle_wait_ms 0
	sched_new "$DISK"
	trace_start block_rq_issue "$DISK"
	read_one "$DISK" 0
	await "$DISK" inserted 1
	# Block number: in the order of arrival. The expected order of issue stands below.
	for spec in "-c2 -n7" "-c1 -n5" "-c3" "-c1 -n5" "-c1 -n0" "-c2 -n0" \
		    "-c1 -n0"; do
		# shellcheck disable=SC2086
		read_one "$DISK" $((n * 100)) taskset -c $((n % $(cpus))) \
			ionice $spec
		n=$((n + 1))
		await "$DISK" inserted $n
	done
	is "finished so far" "$(reads_done "$DISK")" 0
	let_go -1
	readers_done
	trace_stop "$TMP/trace"
	# "8,0 R 4096 () SECTOR + 8 [dd]"
	got=$(issued 800 "$TMP/trace" 8)
	want="0 5 7 2 4 1 3 6 "
	is "order of issue with $queues hardware queues" "$got" "$want"
	assert_idle "$DISK"
	is "real-time requests" "$(stat_of "$DISK" served_rt)" 4
	is "others" "$(stat_of "$DISK" served_nrt)" 3
	is "idle ones" "$(stat_of "$DISK" served_idle)" 1
	is "level 0 in the arrays" "$(arrays "$DISK" |
		grep -c '^rt0 .*served 2$')" 1
	is "level 5 in the arrays" "$(arrays "$DISK" |
		grep -c '^rt5 .*served 2$')" 1
	flashsim_del
}

order 1
order 2

# Priority request by request, from one task.
main_disk
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 2
for engine in libaio io_uring; do
	[[ $engine == libaio ]] || has_uring || continue
	sched_new "$DISK"
	run_fio --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k \
		--size=256m --number_ios=400 --ioengine=$engine --iodepth=16 \
		--cmdprio_class=1 --cmdprio=3 --cmdprio_percentage=50 --name=mix
	assert_idle "$DISK"
	rt=$(stat_of "$DISK" served_rt) rest=$(stat_of "$DISK" served_nrt)
	holds "$rt > 100 && $rest > 100 && $rt + $rest <= 400" \
		"$engine: half of the requests were real-time"
	is "$engine: all of them at level 3" "$(sed -n \
		's/^rt3 .*served //p' <(arrays "$DISK"))" "$rt"
done
