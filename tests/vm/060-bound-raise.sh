# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 7 s
#
# Proves: raising the bound dispatches what waits at once, exactly as many as
# there are new slots, before anything has finished; lowering it takes nothing
# back and is kept to; and all requests finish. On one hardware queue and on
# two. The original K2 hangs here.
# Fails if: flash_resume() runs no hardware queue.

raise() {
	local queues=$1 n now
	hold_add nr_hw_queues="$queues"
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 1
	sched_new "$DISK"
	for ((n = 0; n < 9; n++)); do
		read_one "$DISK" $((n * 100)) taskset -c $((n % $(cpus)))
	done
	await "$DISK" inserted 9
	stats_get "$DISK"
	now=" ${STATS//$'\n'/ } "
	[[ $now == *" queued 8 inflight 1 "* ]] ||
		fail "$queues queues, nine requests, a bound of one: $now"
	say "ok: $queues queues: $now"

	# Exactly three more, with nothing finished so far.
	tun "$DISK" max_inflight 4
	await "$DISK" inflight 4
	stays "$DISK" dispatched 4
	is "finished so far" "$(reads_done "$DISK")" 0

	# A lowered bound does not recall requests in flight; nothing is
	# dispatched until there are fewer than two.
	tun "$DISK" max_inflight 2
	is "in flight with the bound lowered to 2" \
		"$(stat_of "$DISK" inflight)" 4
	let_go 2
	await "$DISK" inflight 2
	stays "$DISK" dispatched 4
	let_go 1
	await "$DISK" dispatched 5
	stays "$DISK" inflight 2
	let_go -1
	readers_done
	assert_idle "$DISK"
	is "finished" "$(reads_done "$DISK")" 9
	is "peak" "$(stat_of "$DISK" peak_inflight)" 4
	flashsim_del
}

raise 1
raise 2
