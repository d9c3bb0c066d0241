# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 25 s
# limit: 180 s
#
# Proves: a real-time task's fsync completes under a flood of real-time reads. A
# kernel thread without real-time priority writes its journal commit, and
# metadata has its turn; with meta_every=0 metadata has none, as in the paper.
# Fails if: k2_pick() never gives K2_META a turn before real-time requests, or
# gives it one with meta_every = 0.

main_disk
mkfs.ext4 -q -F "/dev/$DISK" 128M || fail "mkfs.ext4"
mount -t ext4 "/dev/$DISK" /mnt || skip "this kernel has no ext4"
# The first writes allocate; that is not what is asked here.
dd if=/dev/zero of=/mnt/file bs=4k count=64 conv=fsync status=none
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1

flood_start() {
	rm -f "$TMP/flood-end"
	fio_quiet --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k \
		--offset=256m --size=256m --ioengine=libaio --iodepth=8 \
		--prioclass=1 --prio=4 --time_based --runtime="$1" \
		--name=a --name=b &
	FLOOD=$!
	flooded() { (($(stat_of "$DISK" served_rt) > 50)); }
	soon 30 flooded || fail "the flood does not start"
}

# syncs SECONDS - how many fsyncs a real-time task gets done
syncs() {
	# shellcheck disable=SC2016
	timeout "$1" ionice -c1 -n4 bash -c '
		while echo x >>/mnt/log && sync /mnt/log; do echo; done' |
		wc -l
}

tun "$DISK" meta_every 16
sched_new "$DISK"
flood_start $((12 * ${LAB_SLOW:-1}))
n=$(syncs $((8 * ${LAB_SLOW:-1})))
stats "$DISK"
turns=$(stat_of "$DISK" meta_turns) meta=$(stat_of "$DISK" served_meta)
wait "$FLOOD" || fail "the flood failed"
assert_idle "$DISK"
holds "$meta > 0" "metadata was seen"
holds "$turns > 0" "metadata went before waiting real-time requests"
holds "$n >= 5" "fsyncs under the flood"

tun "$DISK" meta_every 0
sched_new "$DISK"
flood_start 8
strict=$(syncs 4)
say "strict order: $strict fsyncs"
wait "$FLOOD" || fail "the flood failed"
assert_idle "$DISK"
is "turns of metadata in strict order" "$(stat_of "$DISK" meta_turns)" 0
umount /mnt || fail "umount"
e2fsck -fn "/dev/$DISK" >/dev/null || fail "e2fsck finds errors"
assert_idle "$DISK"
