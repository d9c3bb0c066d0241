# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 30 s
#
# Proves: drivers of other kinds work: tags shared by the hardware queues or by
# several disks, a driver that sleeps, polled queues, a driver queue shorter
# than the bound, zones.
# Fails if: flash_hctx_rec() uses rq->tag, which is -1 here; or
# elv_insert_requests() keeps its lock over blk_mq_run_hw_queue().

smoke() {
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 3
	sched_new "$DISK"
	run_fio --filename="/dev/$DISK" --direct=1 --rw=randrw --bs=4k \
		--size=2m --ioengine=libaio --iodepth=32 "$@" \
		--name=a --name=b --offset=8m
	assert_idle "$DISK"
	holds "$(stat_of "$DISK" inserted) > 0"
	is "untracked" "$(stat_of "$DISK" untracked)" 0
	holds "$(stat_of "$DISK" peak_inflight) <= 3"
}

verify=(--verify=crc32c --verify_fatal=1)
has() { [[ -e $NULLB/probe/$1 ]]; }
modprobe null_blk nr_devices=0 || skip "this kernel has no null_blk"
mkdir "$NULLB/probe"

if has shared_tags; then
	null_add shared1 shared_tags=1 size=64
	smoke
	first=$DISK
	null_add shared2 shared_tags=1 size=64
	smoke
	DISK=$first
	smoke
fi
if has shared_tag_bitmap; then
	null_add bitmap shared_tag_bitmap=1 submit_queues=2 memory_backed=1 \
		size=64
	smoke "${verify[@]}"
	# Both queues share one set of scheduler tags: it is allocated again, too.
	load_start "$DISK" --size=1m
	for depth in 4 100 16 128 5; do
		echo $depth >"/sys/block/$DISK/queue/nr_requests" ||
			fail "nr_requests refuses $depth"
		pause 0.1
		load_alive
		sched_new "$DISK"
	done
	load_stop
	assert_idle "$DISK"
	is "untracked" "$(stat_of "$DISK" untracked)" 0
fi
null_add sleeps blocking=1 submit_queues=2 memory_backed=1 size=64
smoke "${verify[@]}"
null_add shallow hw_queue_depth=1 submit_queues=2 memory_backed=1 size=64 \
	irqmode=2 completion_nsec=200000
smoke "${verify[@]}"
if has poll_queues; then
	null_add polled poll_queues=1 submit_queues=2 memory_backed=1 size=64
	# null_blk allocates a page that is written first under an RCU lock.
	dd if=/dev/zero of="/dev/$DISK" bs=1M oflag=direct status=none 2>/dev/null
	if has_uring; then
		smoke --ioengine=io_uring --hipri=1
		holds "$(stat_of "$DISK" polled) > 0" "they were polled"
	fi
	smoke "${verify[@]}"
fi
null_add zoned zoned=1 memory_backed=1 size=64 zone_size=4
if kernel_at_least 6.10; then
	smoke --ioengine=psync --rw=write --zonemode=zbd --size=4m
else
	{ echo "$SCHED" >"/sys/block/$DISK/queue/scheduler"; } 2>/dev/null &&
		fail "selected for a zoned disk, whose writes it would reorder"
	say "ok: refused for a zoned disk"
fi
