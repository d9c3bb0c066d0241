# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: fast
# takes: 20 s
#
# Proves: reads return the data that was written, for all request sizes and
# engines, with and without the page cache, on two hardware queues, while requests
# are merged; the data is read back through the scheduler and again without it.
# Neighbours are really merged inside the scheduler.
# Fails if: flash_requests_merged() does not remove from the store the request
# that was merged into another one or, for the count of merges, if
# flash_bio_merge() returns false at once.

main_disk
sched_new "$DISK"

common=(--filename="/dev/$DISK" --direct=1 --verify=crc32c --verify_fatal=1
	--bssplit=512/15:1536/5:4k/40:12k/5:64k/25:256k/7:1m/3 --size=12m
	--randseed=7)
jobs=(--name=a --ioengine=libaio --iodepth=64 --rw=randwrite --offset=0
      --name=b --ioengine=libaio --iodepth=64 --rw=randrw --offset=16m
      --name=c --ioengine=psync --rw=randwrite --offset=32m --size=4m
      --name=e --ioengine=psync --rw=randwrite --offset=96m --size=4m
      --direct=0 --fsync=8)
if has_uring; then
	jobs+=(--name=d --ioengine=io_uring --iodepth=64 --rw=randwrite
	       --offset=48m)
fi
run_fio "${common[@]}" --do_verify=1 "${jobs[@]}"
assert_idle "$DISK"

# Deep sequential I/O in small pieces under a small bound has to queue up.
tun "$DISK" max_inflight 1
sched_new "$DISK"
run_fio --filename="/dev/$DISK" --direct=1 --bs=4k --size=8m --iodepth=64 \
	--ioengine=libaio --verify=crc32c --verify_fatal=1 --do_verify=1 \
	--name=s --rw=write --offset=64m --name=t --rw=write --offset=80m
assert_idle "$DISK"
holds "$(stat_of "$DISK" merged) > 0" "bios merged into queued requests"

# The blocks of a small area in any order: they meet at both ends and in the
# middle.
sched_new "$DISK"
for n in 1 2 3; do
	run_fio --filename="/dev/$DISK" --direct=1 --bs=4k --size=256k \
		--iodepth=64 --ioengine=libaio --rw=randwrite --name=u \
		--numjobs=8 --offset=112m --offset_increment=256k \
		--verify=crc32c --verify_fatal=1 --do_verify=1 --randseed=$n
done
assert_idle "$DISK"
holds "$(stat_of "$DISK" absorbed) > 0" "requests joined by a bio between them"

sched_set "$DISK" none
run_fio "${common[@]}" --verify_only "${jobs[@]}"
