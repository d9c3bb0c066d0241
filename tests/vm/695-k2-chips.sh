# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034
# for: k2
# takes: 40 s
# limit: 240 s
#
# Proves: with a layout best effort is dispatched by its chips: round those that are idle,
# and to the one with the least before it if none is; no request is passed by more than
# max_pass later ones; real-time requests are dispatched first, on whatever chip; metadata
# keeps its place; a layout that is set, moved or removed also holds for waiting requests;
# and the bound is used in full. A trace says of each request whether its chips or its age
# chose it. On one hardware queue and on two, on a device that ends nothing until all
# requests are there.
# Fails if: k2_chips_apply() adds no waiting request, k2_started() or k2_completed() does
# not count on the chips, k2_watch_pick() does not take the picked request or does not
# record why, or k2_chips_pick() does not look at the oldest.

# shellcheck source=tests/vm/lib/order.sh
. lib/order.sh

# begin [LAYOUT] - one request is in the device, on chip 0
begin() {
	hold_add nr_hw_queues="${QUEUES:-1}"
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 1
	tun "$DISK" max_pass "${PASS:-256}"
	tun "$DISK" layout "${1:-page=4096 chips=4}"
	sched_new "$DISK"
	trace_start block_rq_issue "$DISK"
	echo 1 >"$TRACING/events/$SCHED/flash_dispatch/enable"
	read_one "$DISK" 0
	await "$DISK" inflight 1
	COUNT=1
}

# whys CHIPS AGED - numbers of requests dispatched for their chips, and for having been passed
whys() {
	is "reason chips" "$(grep -c ' flash_dispatch: .* why chips$' "$TMP/trace")" "$1"
	is "reason aged" "$(grep -c ' flash_dispatch: .* why aged$' "$TMP/trace")" "$2"
}

# By arrival: two of chip 0, two of chip 1, one of chip 2.
some() { arrive r 4 12 1 9 6; }

for QUEUES in 1 2; do
	begin
	is "reads on chip 0" "$(arrays "$DISK" | grep -c '^chip0 reads 1 ')" 1
	some
	finish "$QUEUES hardware queues, by the layout" "1 6 4 9 12"
	whys 3 0
done
QUEUES=1

for PASS in 0 1; do
	begin
	some
	if ((PASS)); then
		finish "max_pass 1" "1 4 12 9 6"
		whys 1 2
	else
		finish "max_pass 0" "4 12 1 9 6"
		# None may pass: none is late for that.
		whys 0 0
	fi
done
PASS=256

# The layout was not known when these were inserted, and K2 did not watch them.
begin none
some
tun "$DISK" layout "page=4096 chips=4"
finish "a layout for what waits" "1 6 4 9 12"

begin
some
tun "$DISK" layout none
finish "no layout any more" "4 12 1 9 6"
whys 0 0

# Four blocks further on the drive all is as it was, one further it is not: 4 and 12 are
# on chip 1, 1 and 9 on chip 2, 6 on chip 3.
begin
some
tun "$DISK" lba_offset_sectors 32
tun "$DISK" lba_offset_sectors 8
finish "on another place of the drive" "4 1 6 12 9"

# Real-time requests, by level and not by chip.
begin
some
n=$COUNT
for level in 3 1; do
	read_one "$DISK" $((12 + level * 4)) ionice -c1 -n$level
	n=$((n + 1))
	await "$DISK" inserted $n
done
finish "real-time requests first" "16 24 1 6 4 9 12"

# More slots than one: nothing is held back, and a request for an idle chip is dispatched first.
hold_add nr_hw_queues=2
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 4
tun "$DISK" layout "page=4096 chips=4"
sched_new "$DISK"
trace_start block_rq_issue "$DISK"
COUNT=0
arrive r 0 4 8 12
await "$DISK" dispatched 4
is "reads on chip 0" "$(arrays "$DISK" | grep -c '^chip0 reads 4 ')" 1
arrive r 16 1
stays "$DISK" dispatched 4
let_go 1
await "$DISK" dispatched 5
is "on chip 0 and 1" "$(arrays "$DISK" | grep -c '^chip[01] reads [13] ')" 2
is "idle chips found" "$(stat_of "$DISK" idle_chips)" 2
is "went before an older one" "$(stat_of "$DISK" passes)" 1
let_go -1
readers_done
trace_stop "$TMP/trace"
assert_idle "$DISK"
is "order of issue" "$(issued 8 "$TMP/trace")" "0 4 8 12 1 16 "
is "peak" "$(stat_of "$DISK" peak_inflight)" 4
is "busy chips at rest" "$(arrays "$DISK" | grep -c '^chip[0-3] reads 0 writes 0$')" 4
echo 0 >"$TRACING/events/$SCHED/flash_dispatch/enable"
flashsim_del
