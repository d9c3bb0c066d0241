#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of scripts/crash. With --share, so /share has this file, the
# program writers and the promises to look for.
#
#   guest.sh write SCHEDULER BOUND TAG[:loop]...   until killed
#   guest.sh check SCHEDULER NAME...               disks with serial cut-NAME,
#                                                  promises in /share/acks-NAME

mode=$1
export SCHED=$2 TMP=/tmp/crash
shift 2
mkdir -p "$TMP"
# shellcheck source=/dev/null
. /tests/vm/lib/common.sh

# The host reads this; a case's "fail" would end with its log.
fail() {
	say "error $*"
	exit 1
}

# ready SERIAL - sets DISK and selects the scheduler
ready() {
	soon 20 find_disk "$1" || fail "no disk with serial $1"
	wbt_off "$DISK"
	sched_set "$DISK" "$SCHED"
}

modprobe -aq virtio_pci virtio_blk virtio_scsi sd_mod ext4 loop
cp /share/writers "$TMP/writers" || fail "no /share/writers"

write_all() {
	local bound=$1 disk tag
	shift
	for disk; do
		tag=${disk%:*}
		ready "crash-$tag"
		if [[ $bound != - ]] && has_tun "$DISK" max_inflight; then
			tun "$DISK" max_inflight "$bound"
		fi
		say "disk $tag $DISK write_cache" \
			"$(<"/sys/block/$DISK/queue/write_cache"), fua" \
			"$(<"/sys/block/$DISK/queue/fua")"
		if [[ $disk == *:loop ]]; then
			# A loop device has no FUA: its flushes and writes
			# become plain ones of the disk below.
			DISK=$(losetup --find --show --direct-io=on \
				--sector-size=4096 "/dev/$DISK") ||
				fail "losetup"
			DISK=${DISK#/dev/}
		fi
		mkdir -p "$TMP/$tag"
		mount -t ext4 "/dev/$DISK" "$TMP/$tag" || fail "mount $DISK"
	done
	for disk; do
		tag=${disk%:*}
		"$TMP/writers" write "$tag" "$TMP/$tag" &
	done
	# They end only if something is wrong, and have said what.
	wait -n
	fail "a writer has ended"
}

# check_one NAME - its journal is replayed by mounting, as after a power cut
check_one() {
	local name=$1 out status
	ready "cut-$name"
	if ! mount -t ext4 "/dev/$DISK" /mnt; then
		say "image $name BAD cannot be mounted: $(dmesg | tail -n 1)"
		return
	fi
	out=$("$TMP/writers" check "${name%%[0-9]*}" /mnt "/share/acks-$name")
	status=$?
	umount /mnt || fail "umount $name"
	say "$out"
	if ((status > 1)) || [[ $out != *"checked "* ]]; then
		say "image $name BAD the check ended with status $status"
		return
	fi
	if ! out=$(e2fsck -fn "/dev/$DISK" 2>&1); then
		say "$out"
		say "image $name BAD e2fsck finds errors"
		return
	fi
	if ((status)); then
		say "image $name LOST"
	else
		say "image $name KEPT"
	fi
}

case $mode in
write) write_all "$@" ;;
check)
	for name; do
		check_one "$name"
	done
	say "checked all" ;;
esac
