# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153
# core: fast
# takes: 15 s
#
# Proves: flushes, FUA writes and the three steps of a flush sequence get
# through under a bound of one, on disks with FUA (NVMe) and without it
# (virtio-blk, SATA), and leave the accounts balanced.
# Fails if: elv_completed_request() counts nothing (bypassed on 6.1), or
# elv_finish_request() releases a slot without asking flash_slot_finish().

heavy() {
	local disk=$1
	sched_set "$disk" "$SCHED"
	tun "$disk" max_inflight 1
	sched_new "$disk"
	say "$disk: $(<"/sys/block/$disk/queue/write_cache")," \
	    "fua $(<"/sys/block/$disk/queue/fua")"
	run_fio --filename="/dev/$disk" --rw=randwrite --bs=4k --size=1m \
		--offset_increment=4m --verify=crc32c --do_verify=1 \
		--name=dsync --direct=1 --sync=dsync --numjobs=2 \
		--name=fsync --offset=16m --fsync=1 --numjobs=2 \
		--name=deep --offset=32m --direct=1 --sync=dsync \
		--ioengine=libaio --iodepth=16 \
		--name=plain --offset=40m --direct=1 --ioengine=libaio \
		--iodepth=16 --rw=randrw
	assert_idle "$disk"
}

main_disk
is "FUA of the NVMe disk" "$(<"/sys/block/$DISK/queue/fua")" 1
heavy "$DISK"
if ! kernel_at_least 6.4; then
	holds "$(stat_of "$DISK" bypassed) > 0" \
		"this kernel hides FUA writes and flushes from schedulers"
fi

modprobe -a virtio_pci virtio_blk ahci sd_mod 2>/dev/null
tried=1
for serial in lab-virtio lab-sata; do
	lab_disk 3 "$serial" || { say "no disk with serial $serial"; continue; }
	is "write cache of $DISK" "$(<"/sys/block/$DISK/queue/write_cache")" \
		"write back"
	heavy "$DISK"
	tried=$((tried + 1))
done
say "$tried kinds of disk"
