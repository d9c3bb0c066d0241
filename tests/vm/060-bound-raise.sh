# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# limit: 240 s
# takes: 20 s
#
# Proves: raising the bound dispatches what waits at once, exactly as many as
# there are new slots, before anything has finished; lowering it takes nothing
# back and is kept to; and all requests finish. On one hardware queue and on
# two. The original K2 hangs here.
# Fails if: flash_kick() is removed from flash_set_bound().

raise() {
	local ms=$1 queues=$2 n start took now
	hold_add "hold$queues" "$ms" submit_queues="$queues"
	sched_set "$DISK" "$SCHED"
	need_tun "$DISK" max_inflight
	tun "$DISK" max_inflight 1
	sched_new "$DISK"
	for ((n = 0; n < 9; n++)); do
		read_one "$DISK" $((n * 100)) taskset -c $((n % $(cpus)))
	done
	await "$DISK" inserted 9
	now=$(stats "$DISK")
	if (($(reads_done "$DISK"))); then
		tun "$DISK" max_inflight 64
		readers_done
		null_del "hold$queues"
		return 1
	fi
	[[ $now == *" queued 8 inflight 1 "* ]] ||
		fail "$queues queues, nine requests, a bound of one: $now"
	say "ok: $queues queues: $now"

	tun "$DISK" max_inflight 4
	start=${EPOCHREALTIME/./}
	# Another processor may have to run the queue, which takes a moment.
	while ! counter_is "$DISK" inflight 4 && (($(reads_done "$DISK") == 0)); do
		:
	done
	took=$(((${EPOCHREALTIME/./} - start) / 1000))
	now=$(stats "$DISK")
	if (($(reads_done "$DISK"))); then
		say "after $took ms: $now"
		((took < 400 * ${LAB_SLOW:-1})) ||
			fail "a raised bound waits for a request to finish ($took ms)"
		tun "$DISK" max_inflight 64
		readers_done
		null_del "hold$queues"
		return 1
	fi
	# Exactly three more, with nothing finished so far.
	[[ $now == *" queued 5 inflight 4 "*" dispatched 4 "* ]] ||
		fail "with the bound raised to 4: $now"
	say "ok: after $took ms: $now"

	# A lowered bound: the four finish and one at a time goes after them.
	tun "$DISK" max_inflight 2
	is "in flight with the bound lowered to 2" \
		"$(stat_of "$DISK" inflight)" 4
	soon 10 counter_is "$DISK" dispatched 6 || fail "nothing goes any more"
	is "in flight after the first four" "$(stat_of "$DISK" inflight)" 2
	tun "$DISK" max_inflight 64
	readers_done
	assert_idle "$DISK"
	is "finished" "$(reads_done "$DISK")" 9
	is "peak" "$(stat_of "$DISK" peak_inflight)" 5
}

patiently raise 1
patiently raise 2
