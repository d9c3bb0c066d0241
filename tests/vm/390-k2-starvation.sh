# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 25 s
# limit: 240 s
#
# Proves: under a flood of real-time reads that always has more waiting, at most
# meta_every of them are dispatched while a metadata request waits, then the metadata
# request, each time; within a class requests are issued in order of arrival, whatever
# their hardware queue; best effort gets nothing while the flood lasts, but is served
# again as soon as it pauses. Counted in the kernel's events, with a clock that
# counts.
# Fails if: k2_pick() dispatches one real-time request more before metadata, or never
# resets o->nr_passes; policy_insert() adds at the head; or real-time queues are not
# served before the rest.

echo counter >/sys/kernel/tracing/trace_clock || skip "no clock that counts"
main_disk
mkfs.ext4 -q -F -N 4096 "/dev/$DISK" 128M || fail "mkfs.ext4"
mount -t ext4 "/dev/$DISK" /mnt || skip "this kernel has no ext4"
for ((n = 0; n < 40; n++)); do
	mkdir "/mnt/$n" || fail "mkdir"
	: >"/mnt/$n/file" || fail "cannot write"
done
umount /mnt || fail "umount"
# Read-only, so that nothing is written. No readahead of inode tables: it is no
# metadata request, and a task that needs such a block would wait for best effort.
mount -t ext4 -o ro,inode_readahead_blks=0 "/dev/$DISK" /mnt || fail "mount"
echo 2 >"/sys/block/$DISK/queue/nomerges"
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1

# flood LEVEL - real-time reads of a part without a file system, until flood_stop
flood() {
	fio --output="$TMP/flood" --eta=never --filename="/dev/$DISK" --direct=1 \
		--rw=randread --bs=4k --offset=256m --size=256m \
		--ioengine=libaio --iodepth=12 --time_based=1 --runtime=3600 \
		--prioclass=1 --prio="$1" --thread=1 \
		--name=a --cpus_allowed=0 --name=b --cpus_allowed=1 \
		>/dev/null 2>&1 &
	FLOOD=$!
	soon 60 flooded || fail "the flood does not start"
}
# shellcheck disable=SC2317  # soon calls it
flooded() {
	stat_get "$DISK" served_rt
	((STAT > 50))
}
flood_stop() {
	kill -INT "$FLOOD"
	# Its status then is that of the interrupted process.
	wait "$FLOOD"
	! grep -q 'error=' "$TMP/flood" || { cat "$TMP/flood"; fail "errors"; }
}

for every in 3 7; do
	tun "$DISK" meta_every $every
	sched_new "$DISK"
	trace_start block_rq_insert,block_rq_issue "$DISK"
	flood 4
	for ((n = 0; n < 16; n++)); do
		# Metadata is read again only if it is no longer in any cache.
		echo 2 >/proc/sys/vm/drop_caches
		echo 1 >/proc/sys/vm/drop_caches
		stat /mnt/$n/file >/dev/null || fail "stat"
	done
	flood_stop
	trace_stop "$TMP/trace"
	assert_idle "$DISK"
	# Counts the real-time reads that are dispatched while metadata waits.
	# Occasionally one more is, which was chosen before the metadata was
	# inserted.
	result=$(awk -v every=$every '
		{ event = ""
		  for (i = 1; i < NF; i++)
			if ($i ~ /^block_rq_(insert|issue):$/) {
				event = $i; kind = $(i + 2)
			} }
		event == "" { next }
		event ~ /insert/ && kind ~ /M/ { if (!waits++) passed = 0; all++ }
		event ~ /issue/ && kind ~ /M/ {
			if (waits) waits--
			full += passed == every
			over += passed > every
			passed = 0 }
		event ~ /issue/ && kind !~ /M/ && waits {
			if (++passed > most) most = passed }
		END { print all + 0, most + 0, full + 0, over + 0 }' "$TMP/trace")
	read -r all most full over <<<"$result"
	say "meta_every $every: $all metadata requests, $full behind as many" \
	    "others, $over behind more, $most at most"
	holds "$all >= 10" "metadata requests"
	holds "$full >= 4" "had others before them"
	holds "$most <= $every + 1" "real-time requests while metadata waits"
	holds "$over * 2 < $full" "one too many is the exception"
	holds "$(stat_of "$DISK" meta_turns) >= 4" "turns of metadata"
done
umount /mnt || fail "umount"

# Order of arrival within a class.
for class in 1 2; do
	sched_new "$DISK"
	trace_start block_rq_insert,block_rq_issue "$DISK"
	run_fio --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k \
		--offset=256m --size=256m --ioengine=libaio --iodepth=24 \
		--number_ios=300 --prioclass=$class --prio=2 --thread=1 \
		--name=a --cpus_allowed=0 \
		--name=b --cpus_allowed=1 --offset=512m
	trace_stop "$TMP/trace"
	assert_idle "$DISK"
	for event in insert issue; do
		sed -n "s/.*block_rq_$event: .* \\([0-9]*\\) + 8 .*/\\1/p" \
			"$TMP/trace" >"$TMP/$event"
	done
	holds "$(wc -l <"$TMP/insert") >= 600" "requests of class $class"
	cmp "$TMP/insert" "$TMP/issue" ||
		fail "class $class: issued in another order than they came"
	say "ok: class $class is served in the order of arrival"
done

# Best effort under the flood, and after it.
sched_new "$DISK"
trace_start block_rq_insert,block_rq_issue "$DISK"
flood 0
fio_quiet --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k --size=64m \
	--ioengine=libaio --iodepth=4 --number_ios=100 --prioclass=2 --prio=0 \
	--thread=1 --name=be &
patient=$!
# shellcheck disable=SC2317  # soon calls it
there() { arrays "$DISK" | grep -q '^nrt queued [1-9]' ; }
soon 30 there || fail "no best effort waits"
rt=$(stat_of "$DISK" served_rt)
# shellcheck disable=SC2317  # soon calls it
enough() {
	stat_get "$DISK" served_rt
	((STAT >= rt + 600))
}
soon 60 enough || fail "the flood stands still"
trace_stop "$TMP/trace"
# On a slow machine the flood occasionally has no waiting request; best effort is
# then dispatched. The script counts which class passes which.
read -r rt be over < <(awk '
	{ event = ""
	  for (i = 1; i < NF; i++) {
		if ($i ~ /^block_rq_(insert|issue):$/)
			event = $i
		if ($i == "+")
			flood = $(i - 1) >= 524288
	  } }
	event ~ /insert/ { waits[flood]++ }
	event ~ /issue/ {
		waits[flood]--
		all += !flood
		passed[flood] += waits[!flood] > 0 }
	END { print passed[1] + 0, all + 0, passed[0] + 0 }' "$TMP/trace")
say "$rt real-time reads while best effort waited; $be best-effort reads," \
    "$over while real time waited"
holds "$rt >= 500" "real-time reads"
# None while a real-time request waits; occasionally one that was chosen before that one was
# inserted.
holds "$over * 20 <= $rt" "best effort while real time waits"
flood_stop
wait $patient || fail "best effort failed"
assert_idle "$DISK"
holds "$(stat_of "$DISK" served_nrt) >= 100" "best effort after it"
