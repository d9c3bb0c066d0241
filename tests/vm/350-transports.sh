# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 15 s
# limit: 240 s
#
# Proves: drivers of all kinds at the same time: SATA with command queueing,
# virtio-scsi, virtio-blk, and two NVMe disks that share the tags of their
# controller; each has its bound, and reads return the written data, also without
# the scheduler.
# Fails if: flash_hctx_rec() uses rq->tag, which is -1 here; or flash_release()
# does not kick.

modprobe -a virtio_pci virtio_blk virtio_scsi ahci sd_mod 2>/dev/null
all=()
for serial in lab-sata lab-scsi lab-virtio; do
	lab_disk 5 "$serial" || { say "no disk $serial"; continue; }
	dir=/sys/block/${DISKS[0]}
	all+=("${DISKS[0]}")
	say "$dir is $serial," \
	    "$(find "$dir/mq" -mindepth 1 -maxdepth 1 | wc -l) queues"
	[[ $serial != lab-sata ]] ||
		holds "$(<"$dir/device/queue_depth") > 1" \
			"commands of SATA are queued"
done
lab_disk 5 lab-two 2 && all+=("${DISKS[@]}")
((${#all[@]})) || skip "none of the disks that scripts/check adds"

common=(--direct=1 --verify=crc32c --verify_fatal=1 --size=1m --randseed=11
	--ioengine=libaio --iodepth=32 --thread=1)
mixed=(--bssplit=512/10:4k/50:20k/10:64k/20:256k/10)

# everywhere BOUND ARGUMENTS... - on all disks at once; jobs of three kinds each
everywhere() {
	local bound=$1 disk pids=() pid
	shift
	for disk in "${all[@]}"; do
		wbt_off "$disk"
		if ((bound)); then
			sched_set "$disk" "$SCHED"
			tun "$disk" max_inflight "$bound"
			sched_new "$disk"
		else
			sched_set "$disk" none
		fi
		fio_quiet "${common[@]}" --filename="/dev/$disk" "$@" \
			--name=r --rw=randwrite "${mixed[@]}" \
			--name=m --rw=randrw "${mixed[@]}" --offset=8m \
			--name=s --rw=write --bs=4k --offset=16m &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || fail "fio failed, see the log"
	done
	((bound)) || return 0
	assert_idle "${all[@]}"
	for disk in "${all[@]}"; do
		holds "$(stat_of "$disk" inserted) > 100" "on $disk"
		is "untracked on $disk" "$(stat_of "$disk" untracked)" 0
		holds "$(stat_of "$disk" peak_inflight) <= $bound"
	done
}
everywhere 1 --do_verify=1
everywhere 6 --do_verify=1 --randseed=12
everywhere 0 --verify_only --randseed=12
