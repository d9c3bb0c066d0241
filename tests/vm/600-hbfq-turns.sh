# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: hbfq
# takes: 40 s
# limit: 240 s
#
# Proves: in the paper's mode turns last as long as the budgets of Algorithm 2: the
# default, and after it was used up its half, as there are two tenants; with a budget
# that is set, that one.
# Fails if: fair_end_turn() does not count the tenants that are there,
# flash_budget_next() keeps the default, or fair_turn_over() does not look at the
# budget.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
group_add labA
group_add labB

# turns EXHAUSTED WANT - the lengths of turns of two tenants with equal weights
turns() {
	local n order
	hold_add channels=4 ways=1 dies=1 page_kb=4 t_read_ns=10000
	sched_set "$DISK" "$SCHED"
	tun "$DISK" mode paper
	tun "$DISK" max_inflight 1
	tun "$DISK" slice_ms 0
	tun "$DISK" anticipation 0
	tun "$DISK" default_budget_sectors 64
	tun "$DISK" exhausted_budget_sectors "$1"
	sched_new "$DISK"
	SENT=0
	trace_start block_rq_issue "$DISK"
	for ((n = 0; n < 20; n++)); do
		send labA $((2 * n))
		send labB $((1000 + 2 * n))
	done
	let_go -1
	readers_done
	trace_stop "$TMP/trace"
	assert_idle "$DISK"
	arrays "$DISK"
	# It looks for the number of the disk.
	order=$(issued 8 "$TMP/trace" | tr ' ' '\n' |
		awk '{ print ($1 >= 1000 ? "B" : "A") }' | head -28 | uniq -c |
		awk '{ printf "%s%s ", $1, $2 }')
	sched_set "$DISK" none
	flashsim_del
	is "turns with $1" "$order" "$2"
}
turns 0 "8A 8B 4A 4B 4A "
turns 16 "8A 8B 2A 2B 2A 2B 2A 2B "
rmdir $GROUPS_DIR/labA $GROUPS_DIR/labB || fail "a control group is used"
