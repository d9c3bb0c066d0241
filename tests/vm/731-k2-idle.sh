# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: k2
# takes: 40 s
# limit: 240 s
#
# Proves: requests of the I/O priority class "idle" are dispatched when nothing else
# waits, and one of them in each idle_wait_ms when something does; with idle_wait_ms=0
# they are best-effort requests. They do not merge with best effort. Metadata that an idle
# task reads is metadata. A flood of idle requests leaves half of the scheduler tags to
# others.
# Fails if: k2_classify_idle() returns the class as it is, or K2_IDLE for metadata;
# k2_idle_due() is always false; or policy_urgency() never returns FLASH_BACKGROUND.

# waiting WAIT - a disk that holds the first request, and then has idle requests 1 and 3,
# best-effort ones 2 and 4, and real-time one 5; recorded
waiting() {
	local n=1 spec
	hold_add nr_hw_queues=2
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 1
	tun "$DISK" idle_wait_ms "$1"
	sched_new "$DISK"
	trace_start block_rq_issue "$DISK"
	echo 1 >"$TRACING/events/$SCHED/flash_dispatch/enable"
	read_one "$DISK" 0
	await "$DISK" inserted 1
	for spec in -c3 -c2 -c3 "-c2 -n7" -c1; do
		# shellcheck disable=SC2086
		read_one "$DISK" $((n * 100)) taskset -c $((n % $(cpus))) \
			ionice $spec
		n=$((n + 1))
		await "$DISK" inserted $n
	done
	is "idle requests in the arrays" \
		"$(arrays "$DISK" | sed -n 's/^idle queued \(.*\) served.*/\1/p')" 2
}

# served WHAT ORDER IDLE_TURNS - all are dispatched
served() {
	let_go -1
	readers_done
	trace_stop "$TMP/trace"
	echo 0 >"$TRACING/events/$SCHED/flash_dispatch/enable"
	grep block_rq_issue "$TMP/trace" >"$TMP/issues"
	is "order of issue, $1" "$(issued 800 "$TMP/issues" 8)" "$2 "
	assert_idle "$DISK"
	is "idle requests served" "$(stat_of "$DISK" served_idle)" 2
	is "best effort served" "$(stat_of "$DISK" served_nrt)" 3
	is "turns before others" "$(stat_of "$DISK" idle_turns)" "$3"
	is "reason idle_turn" \
		"$(grep -c ' class 10 .* why idle_turn$' "$TMP/trace")" "$3"
	flashsim_del
}

waiting 60000
served "a minute's limit" "0 5 2 4 1 3" 0
waiting 0
served "no limit: one class" "0 5 1 2 3 4" 0
waiting 60000
let_go 1
await "$DISK" dispatched 2
# The limit is over, and not for the next one.
tun "$DISK" idle_wait_ms 1
let_go 1
await "$DISK" dispatched 3
is "an idle one went after the real-time one" "$(stat_of "$DISK" served_idle)" 1
tun "$DISK" idle_wait_ms 60000
served "after the limit one, then best effort" "0 5 1 2 4 3" 1

# A flood of best effort that always has something waiting.
hold_timed slow 1
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1
tun "$DISK" idle_wait_ms 100
sched_new "$DISK"
fio --output="$TMP/be" --eta=never --filename="/dev/$DISK" --direct=1 \
	--rw=randread --bs=4k --ioengine=libaio --iodepth=16 --time_based=1 \
	--runtime=600 --thread=1 \
	--prioclass=2 --name=be --cpus_allowed=1 >/dev/null 2>&1 &
flood=$!
# shellcheck disable=SC2317  # soon calls it
flooded() {
	stat_get "$DISK" served_nrt
	((STAT > 100))
}
soon 60 flooded || fail "the flood does not start"
fio --output="$TMP/idle" --eta=never --filename="/dev/$DISK" --direct=1 \
	--rw=randread --bs=4k --ioengine=libaio --iodepth=16 --time_based=1 \
	--runtime=600 --thread=1 \
	--prioclass=3 --name=idle >/dev/null 2>&1 &
idle=$!
# shellcheck disable=SC2317  # soon calls it
served_some() {
	stat_get "$DISK" served_idle
	((STAT > 0))
}
soon 60 served_some || fail "the idle reader does not start"
few=$(stat_of "$DISK" served_idle) turns=$(stat_of "$DISK" idle_turns)
be=$(stat_of "$DISK" served_nrt)
sleep 2
stats "$DISK"
few=$(($(stat_of "$DISK" served_idle) - few))
turns=$(($(stat_of "$DISK" idle_turns) - turns))
be=$(($(stat_of "$DISK" served_nrt) - be))
kill -INT $flood $idle
wait $idle $flood
assert_idle "$DISK"
holds "$few >= 5 && $turns >= 5" "idle requests are served under a flood"
holds "$few <= 60 && $few * 10 < $be" "one in 100 ms"
null_del slow

# Classes do not merge.
hold_add
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1
sched_new "$DISK"
read_one "$DISK" 0
await "$DISK" inflight 1
read_one "$DISK" 100 ionice -c3
await "$DISK" queued 1
read_one "$DISK" 101
await "$DISK" queued 2
read_one "$DISK" 101 ionice -c3
await "$DISK" merged 1
let_go -1
readers_done
assert_idle "$DISK"
flashsim_del

# Blocks that a file system needs to continue.
null_add files irqmode=0 size=64 memory_backed=1
mkfs.ext4 -q -F -N 256 "/dev/$DISK" || fail "mkfs.ext4"
mount -t ext4 "/dev/$DISK" /mnt || skip "this kernel has no ext4"
mkdir /mnt/a
: >/mnt/a/file
umount /mnt || fail "umount"
mount -t ext4 -o ro,inode_readahead_blks=0 "/dev/$DISK" /mnt || fail "mount"
sched_new "$DISK"
ionice -c3 stat /mnt/a/file >/dev/null || fail "stat"
assert_idle "$DISK"
holds "$(stat_of "$DISK" served_meta) >= 1" "metadata that an idle task reads"
is "and that is in the idle queue" "$(stat_of "$DISK" served_idle)" 0
umount /mnt || fail "umount"
null_del files

# Tags.
hold_add queue_depth=16
sched_new "$DISK"
echo 16 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests"
tun "$DISK" max_inflight 1
for ((n = 0; n < 20; n++)); do
	read_one "$DISK" $((n * 100)) ionice -c3
done
await "$DISK" queued 7
stays "$DISK" queued 7
read_one "$DISK" 5000
soon 10 grep -q '^nrt queued 1 ' /sys/kernel/debug/k2/queues ||
	fail "the best-effort request found no tag"
let_go -1
readers_done
assert_idle "$DISK"
