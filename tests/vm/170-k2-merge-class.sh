# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: fast
# takes: 5 s
#
# Proves: waiting neighbours of one class are merged (at the back, at the front,
# and two requests by a third between them), neighbours of different classes
# never are, and what is merged keeps the earlier place.
# Fails if: flash_allow_merge() returns false; flash_request_merge() returns
# ELEVATOR_NO_MERGE; flash_next_request() returns NULL; or absorbed is not
# counted.

rt="ionice -c1 -n2" be="ionice -c2 -n4"

# waits BLOCK PRIORITY QUEUED MERGED ABSORBED - the numbers after that request
waits() {
	# shellcheck disable=SC2086
	read_one "$DISK" "$1" $2
	# shellcheck disable=SC2317  # soon calls it
	all() {
		counter_is "$DISK" queued "$3" &&
			counter_is "$DISK" merged "$4" &&
			counter_is "$DISK" absorbed "$5"
	}
	if soon 10 all "$@"; then
		say "ok: block $1 ($2): $3 queued, $4 merged, $5 absorbed"
		return
	fi
	stats "$DISK"
	fail "block $1 ($2): queued, merged, absorbed are" \
		"$(stat_of "$DISK" queued) $(stat_of "$DISK" merged)" \
		"$(stat_of "$DISK" absorbed), want $3 $4 $5"
}

hold_add
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1
sched_new "$DISK"
trace_start block_rq_issue "$DISK"
read_one "$DISK" 0
await "$DISK" inflight 1
waits 100 "$be" 1 0 0
waits 101 "$rt" 2 0 0	# another class: its own request
waits 102 "$be" 3 0 0	# not adjacent to its class
waits 102 "$rt" 3 1 0	# at the back of 101
waits 99 "$be" 3 2 0	# at the front of 100
waits 100 "$rt" 3 3 0	# at the front of 101
waits 200 "$be" 4 3 0
waits 202 "$be" 5 3 0
waits 201 "$be" 4 4 1	# joins the two
waits 300 "$be" 5 4 1
waits 302 "$rt" 6 4 1
waits 301 "$be" 6 5 1	# joins 300, must not reach over to 302
waits 402 "$be" 7 5 1
waits 500 "$be" 8 5 1
waits 400 "$be" 9 5 1
waits 401 "$be" 8 6 2	# 400 swallows 402, which was first
is "finished so far" "$(reads_done "$DISK")" 0
let_go -1
readers_done
trace_stop "$TMP/trace"
is "issued" "$(issued_sizes 8 "$TMP/trace")" "0+1 100+3 302+1 99+2 102+1 200+3 300+2 400+3 500+1 "
assert_idle "$DISK"
