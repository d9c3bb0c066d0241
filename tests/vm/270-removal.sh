# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: fast
# takes: 30 s
# limit: 240 s
#
# Proves: a disk that is removed while the scheduler holds requests back for it,
# under a bound of one and while other processes read its debugfs file, ends them
# all and releases the scheduler's module: null_blk switched off, flashsim's
# remove, a SCSI disk deleted, an NVMe controller with two disks and a virtio disk
# removed from the PCI bus. A disk that is added again is a new disk with default
# values and works.
# Fails if: elv_exit_sched() does not take the device out of the list; or
# flash_kick() is removed from flash_release(), when removing waits for ever; or
# flash_disk_get() gives a disk the values of another one.

# removal NAME COMMAND - COMMAND removes the disks in DISKS. Their users get
# errors; afterwards none of these disks uses the scheduler's module.
victims=()
removal() {
	local what=$1 disk pid failed=0
	shift
	for disk in "${DISKS[@]}"; do
		wbt_off "$disk"
		sched_set "$disk" "$SCHED"
		tun "$disk" max_inflight 1
		sched_new "$disk"
		fio --filename="/dev/$disk" --direct=1 --ioengine=libaio \
			--iodepth=32 --rw=randrw --bs=4k --size=16m \
			--time_based=1 --runtime=600 --thread=1 --eta=never \
			--output="$TMP/victim.$disk" --name=a --name=b \
			>/dev/null 2>&1 &
		victims+=($!)
	done
	for disk in "${DISKS[@]}"; do
		# shellcheck disable=SC2317  # soon calls it
		waiting() {
			stats_get "$disk"
			[[ $STATS =~ queued\ ([0-9]+) ]] &&
				((BASH_REMATCH[1] > 8)) &&
				(($(ios "$disk") > 50))
		}
		soon 30 waiting || fail "$what: nothing waits in $disk"
		stats "$disk"
	done
	soon 20 users_are ${#DISKS[@]} || fail "$what: $USERS users of the module"
	rmmod "$SCHED" 2>/dev/null && fail "$what: unloaded while selected"
	"$@" || fail "$what: cannot be removed"
	for disk in "${DISKS[@]}"; do
		soon 20 test ! -e "/sys/block/$disk" || fail "$disk is still there"
	done
	for pid in "${victims[@]}"; do
		wait "$pid" || failed=$((failed + 1))
	done
	is "$what: users of the disks that have an error" $failed ${#victims[@]}
	victims=()
	for disk in "${DISKS[@]}"; do
		is "lines of a disk that has gone" "$(arrays "$disk" | wc -l)" 0
	done
	soon 20 users_are 0 || fail "$what: $USERS users of the module are left"
	say "ok: $what"
}

# users_are NUMBER - number of users of the module: disks, and readers of its file
users_are() {
	users
	((USERS == $1))
}

# back DISK... - disks that were added again work, with default values
back() {
	local disk name
	for disk; do
		sched_set "$disk" "$SCHED"
		for name in "${TUNABLES[@]}" "${TEXTS[@]}"; do
			tun_is "$name of $disk" "$disk" "$name" \
				"${DEFAULT[$name]}"
		done
		run_fio --filename="/dev/$disk" --direct=1 --ioengine=libaio \
			--iodepth=16 --rw=randrw --bs=4k --size=512k \
			--verify=crc32c --verify_fatal=1 --thread=1 --name=back
		assert_idle "$disk"
		sched_set "$disk" none
	done
}

modprobe "$SCHED" || fail "cannot load the module"
tunables
(
	while [[ ! -e $TMP/removed ]]; do
		cat "$ARRAYS" >/dev/null
	done
) &
reader=$!

null_add gone memory_backed=1 size=64 submit_queues=2 irqmode=2 completion_nsec=2000000
DISKS=("$DISK")
# shellcheck disable=SC2317  # removal calls it
off() { echo 0 >"$NULLB/gone/power"; }
removal "null_blk" off
echo 1 >"$NULLB/gone/power" || fail "cannot be switched on"
soon 5 test -b "/dev/$DISK" || fail "no /dev/$DISK"
back "$DISK"

flashsim_add nr_devices=2 size_mb=16 nr_hw_queues=2 t_prog_ns=1000000
DISKS=(flashsim0)
flashsim_fault requeue_ppm 50000
flashsim_fault busy_ppm 20000
# shellcheck disable=SC2317  # removal calls it
off() { echo 0 >"$FLASHSIM_PARAMS/remove"; }
removal "flashsim" off
flashsim_fault requeue_ppm 0
flashsim_fault busy_ppm 0
back flashsim1
flashsim_del

if modprobe scsi_debug dev_size_mb=32 ndelay=2000000 max_queue=16 \
	submit_queues=2 2>/dev/null; then
	modprobe sd_mod
	soon 10 debug_disk || fail "scsi_debug has no disk"
	DISKS=("$DISK")
	victim=$(readlink -f "/sys/block/${DISKS[0]}/device")
	# shellcheck disable=SC2317  # removal calls it
	off() { echo 1 >"$victim/delete"; }
	removal "SCSI disk" off
	rmmod scsi_debug || fail "cannot remove scsi_debug"
fi

# from_bus SERIAL NUMBER - removes the PCI device with these disks and adds it again
from_bus() {
	local slot
	slot=$(pci_of "${DISKS[0]}") || fail "$1 is behind no PCI device"
	# shellcheck disable=SC2317  # removal calls it
	off() { echo 1 >"$slot/remove"; }
	: >"$TMP/.removed"
	removal "$1" off
	echo 1 >/sys/bus/pci/rescan
	soon 20 find_disk "$1" "$2" || fail "$1 does not come back"
	back "${DISKS[@]}"
}
if lab_disk 5 lab-two 2; then
	from_bus lab-two 2
fi
modprobe -a virtio_pci virtio_blk 2>/dev/null
if lab_disk 5 lab-virtio; then
	from_bus lab-virtio 1
fi
: >"$TMP/removed"
wait $reader
