# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: acfq
# takes: 40 s
# limit: 240 s
#
# Proves: in the paper's mode one tenant has the device to itself, the scheduler waits
# for it when it has nothing to do, and it loses its turn when that was in vain: only
# a timer releases the other tenant's requests. Mode cfq waits for no tenant. In each
# mode a tenant that is alone has as much in the device as it sends.
# Fails if: fairshare_holds() sets no timer, fairshare_timer() does not kick, or
# fair_turn_over() waits without anticipation.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
hold_add channels=4 ways=1 dies=1 page_kb=4 t_read_ns=10000
group_add labA
group_add labB
sched_set "$DISK" "$SCHED"
# Ten seconds
tun "$DISK" slice_ms 1000
weight labA 1000
tun "$DISK" antic_max_us 100000

turn() {
	let_go 0
	tun "$DISK" mode "$1"
	sched_new "$DISK"
	SENT=0
	send labA 0
	await "$DISK" inflight 1
	send labB 1000
	stays "$DISK" inflight 1
	let_go 1
	# A's has ended, and B's is there.
	await "$DISK" dispatched 2
	is "times that somebody was waited for, mode $1" \
		"$(stat_of "$DISK" holds)" "$2"
	let_go -1
	readers_done
	assert_idle "$DISK"
}
turn paper 1
turn cfq 0

for mode in auto paper cfq; do
	let_go 0
	tun "$DISK" mode $mode
	sched_new "$DISK"
	SENT=0
	for ((n = 0; n < 16; n++)); do
		send labA $((2 * n))
	done
	say "mode $mode: 16 from one tenant"
	await "$DISK" inflight 16
	is "times that anybody was waited for" "$(stat_of "$DISK" holds)" 0
	let_go -1
	readers_done
	assert_idle "$DISK"
done
sched_set "$DISK" none
flashsim_del
rmdir $GROUPS_DIR/labA $GROUPS_DIR/labB || fail "a control group is used"
