# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: fast
# takes: 20 s
# limit: 240 s
#
# Proves: discards from several tasks at once (which may merge into requests of many
# ranges), write-zeroes, flushes, FUA writes and passthrough commands mixed with
# reads and writes under a small bound: the ranges that were discarded or zeroed
# read so, their neighbours are unchanged, and nothing is lost. On NVMe and on
# flashsim.
# Fails if: flash_store_del() leaves a request in the tree, policy_merged() leaves
# the merged request in its queue, or elv_finish_request() releases a slot without
# asking flash_slot_finish().

# The even chunks of 64 KiB are discarded or zeroed.
MB=4
head -c ${MB}M /dev/urandom >"$TMP/image"
cp "$TMP/image" "$TMP/want"
for ((n = 0; n < MB * 16; n += 2)); do
	dd if=/dev/zero of="$TMP/want" bs=64k seek=$n count=1 conv=notrunc \
		status=none
done

# chunks COMMAND... - of 64 KiB, every other one, from four tasks in turns
chunks() {
	local task n pids=() pid
	for task in 0 1 2 3; do
		(
			for ((n = 2 * task; n < MB * 16; n += 8)); do
				"$@" -o $((BASE + n * 65536)) -l 65536 \
					"/dev/$DISK" 2>/dev/null || exit 1
			done
		) &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || fail "$* failed"
	done
}

# compare WHAT must|may - the even chunks are zero, or may be as they were, and the
# odd ones are as they were
compare() {
	local n
	dd if="/dev/$DISK" bs=1M skip=$((BASE >> 20)) count=$MB iflag=direct \
		status=none >"$TMP/got" || fail "cannot read"
	cmp -s "$TMP/want" "$TMP/got" && { say "ok: $1"; return; }
	# A device need not do what a discard asks for; what it does has to be
	# in the right place.
	[[ $2 == may ]] || fail "other data after $1"
	for ((n = 0; n < MB * 16; n++)); do
		cmp -s -n 65536 -i $((n * 65536)) "$TMP/image" "$TMP/got" &&
			continue
		((n % 2 == 0)) && cmp -s -n 65536 -i $((n * 65536)) \
			"$TMP/want" "$TMP/got" && continue
		fail "chunk $n is wrong after $1"
	done
	say "ok: $1 (not all of it was done)"
}

# ops must|may - on DISK; discards must or may have an effect there
ops() {
	local op flusher
	BASE=$((32 << 20))
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 2
	sched_new "$DISK"
	say "$DISK: discard $(<"/sys/block/$DISK/queue/discard_max_bytes")," \
	    "$(cat "/sys/block/$DISK/queue/max_discard_segments") ranges," \
	    "$(<"/sys/block/$DISK/queue/write_zeroes_max_bytes") zeroes," \
	    "$(<"/sys/block/$DISK/queue/write_cache")"
	load_start "$DISK" --size=1m --name=fua --offset=16m --sync=dsync \
		--size=256k --name=flush --offset=20m --size=256k \
		--ioengine=psync --fsync=1
	(
		while [[ ! -e $TMP/done ]]; do
			blockdev --flushbufs "/dev/$DISK"
			dd if=/dev/null of="/dev/$DISK" conv=fsync,notrunc \
				status=none || exit 1
			[[ $DISK != nvme* ]] || passthrough || exit 1
			pause 0.1
		done
	) &
	flusher=$!
	# -f: more than one at a time
	for op in "blkdiscard -f" "blkdiscard -fz"; do
		dd if="$TMP/image" of="/dev/$DISK" bs=1M \
			seek=$((BASE >> 20)) oflag=direct conv=notrunc \
			status=none || fail "cannot write"
		# shellcheck disable=SC2086
		chunks $op
		if [[ $op == *z ]]; then
			compare "$op" must
		else
			compare "$op" "$1"
		fi
		load_alive
	done
	: >"$TMP/done"
	wait $flusher || fail "a flush or a passthrough command failed"
	rm "$TMP/done"
	load_stop
	assert_idle "$DISK"
}

passthrough() {
	command -v nvme >/dev/null || return 0
	nvme flush "/dev/$DISK" >/dev/null &&
		nvme read "/dev/$DISK" --start-block=0 --block-count=7 \
			--data-size=4096 --data="$TMP/raw" >/dev/null 2>&1
}

if lab_disk 5 lab-two 2; then
	ops may
else
	main_disk
	ops may
fi
flashsim_add size_mb=48 nr_hw_queues=2 wbuf_kb=256 t_prog_ns=20000
ops must
flashsim_del
