# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 4 s
#
# Proves: the scheduler's own trace events are there under its name, are filtered by disk,
# and agree with the counts of stats: each request that was inserted, chosen and completed;
# for k2 also each bound that the search sets. The module can be unloaded while they are
# enabled and loaded again.
# Fails if: trace_flash_dispatch() is not called for what policy_select() returns,
# flash_rq_ends() traces nothing, or two modules share a system.

EVENTS=$TRACING/events/$SCHED
main_disk
sched_new "$DISK"
[[ -d $EVENTS ]] || fail "no trace events of $SCHED"
IFS=: read -r major minor <"/sys/block/$DISK/dev"
trace_start block_rq_issue "$DISK"
echo 0 >"$TRACING/events/block/block_rq_issue/enable"
for event in insert dispatch complete; do
	echo "dev == $((major << 20 | minor))" >"$EVENTS/flash_$event/filter" ||
		fail "cannot filter flash_$event"
	echo 1 >"$EVENTS/flash_$event/enable"
done
run_fio --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k --size=32m \
	--number_ios=300 --ioengine=libaio --iodepth=8 --name=traced
assert_idle "$DISK"
trace_stop "$TMP/trace"
head -3 "$TMP/trace"
is "inserted" "$(grep -c ' flash_insert: ' "$TMP/trace")" \
	"$(stat_of "$DISK" inserted)"
is "dispatched" "$(grep -c ' flash_dispatch: ' "$TMP/trace")" \
	"$(stat_of "$DISK" dispatched)"
is "completed" "$(grep -c ' flash_complete: .* why done' "$TMP/trace")" \
	"$(stat_of "$DISK" completed)"
is "lines that say no reason" "$(grep ' flash_' "$TMP/trace" |
	grep -cv ' why [a-z_]*$')" 0
most=$(sed -n 's/.* flash_complete: .* inflight \([0-9]*\) .*/\1/p' "$TMP/trace" |
	sort -n | tail -1)
holds "$most <= $(stat_of "$DISK" peak_inflight)" "in flight at an end"

if [[ $SCHED == k2 ]]; then
	echo 1 >"$EVENTS/flash_bound/enable"
	echo 1 >"$TRACING/tracing_on"
	tun "$DISK" policy bandwidth
	tun "$DISK" calibrate 1
	tun "$DISK" calibrate 0
	tun "$DISK" policy static
	trace_stop "$TMP/trace"
	grep ' flash_bound: ' "$TMP/trace"
	is "lifted" "$(grep -c ' to 65535 .* why calibrate' "$TMP/trace")" 1
	is "and back" "$(grep -c ' bound 65535 to .* why search' "$TMP/trace")" 1
fi
sched_set "$DISK" none
modprobe -r "$SCHED" || fail "$SCHED does not unload"
[[ ! -e $EVENTS ]] || fail "its events stay"
modprobe "$SCHED" || fail "$SCHED does not load again"
[[ -d $EVENTS ]] || fail "its events are not back"
