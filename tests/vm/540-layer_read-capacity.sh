# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: layer_read
# takes: 10 s
# limit: 240 s
#
# Proves: when a disk grows or shrinks under load, in both modes, with requests that
# wait and with a layout or none, its sub-layers are those of the new capacity from
# the next request on, the load sees no error and nothing is lost.
# Fails if: layer_look() does not compare, or layer_set() leaves requests in the
# sub-layers that they were in.

modprobe scsi_debug dev_size_mb=8 virtual_gb=1 ndelay=200000 max_queue=16 \
	submit_queues=2 2>/dev/null || skip "this kernel has no scsi_debug"
modprobe sd_mod
params=/sys/bus/pseudo/drivers/scsi_debug
soon 10 debug_disk || fail "scsi_debug has no disk"

# resize GIGABYTES - the disk learns of it
resize() {
	echo "$1" >$params/virtual_gb || fail "scsi_debug refuses $1 GB"
	echo 1 >"/sys/block/$DISK/device/rescan" || fail "no rescan"
	# shellcheck disable=SC2317  # soon calls it
	size_is() { [[ $(<"/sys/block/$DISK/size") == "$1" ]]; }
	soon 10 size_is $(($1 << 21)) ||
		fail "$1 GB, but the disk has $(<"/sys/block/$DISK/size") sectors"
}

sched_set "$DISK" "$SCHED"
tun "$DISK" chips 3
tun "$DISK" max_inflight 2
sched_new "$DISK"
# Within what there always is; nothing is written, as the disk repeats itself.
fio --output="$TMP/load" --eta=never --filename="/dev/$DISK" --direct=1 \
	--ioengine=libaio --iodepth=24 --thread=1 --bs=4k --size=900m \
	--norandommap=1 --rw=randread --time_based=1 --runtime=3600 --name=a \
	--name=b >/dev/null 2>&1 &
load=$!
before=$(ios "$DISK")
# shellcheck disable=SC2317  # soon calls it
further() { (($(ios "$DISK") > before + 30)); }
soon 30 further || fail "the load does not start"

for mode in paper auto; do
	tun "$DISK" mode $mode
	for gb in 3 1 4 2 1; do
		resize $gb
		await "$DISK" layer_sectors $(((gb << 21) / 6 + 1))
		is "layers" "$(stat_of "$DISK" layers)" 6
		before=$(ios "$DISK")
		soon 30 further || fail "$DISK stands still with $gb GB"
	done
	# A chip is where it is, however large the disk.
	tun "$DISK" layout "page=4096 chips=5"
	resize 2
	before=$(ios "$DISK")
	soon 30 further || fail "$DISK stands still with a layout"
	if [[ $mode == auto ]]; then
		is "layers that are chips" "$(stat_of "$DISK" layers)" 5
	else
		is "layers" "$(stat_of "$DISK" layers)" 6
	fi
	tun "$DISK" layout none
done
stats "$DISK"
kill -INT $load
wait $load
! grep -q 'error=' "$TMP/load" || { cat "$TMP/load"; fail "errors"; }
assert_idle "$DISK"
is "reads that wait" "$(arrays "$DISK" | grep -c '^layer.* waiting [1-9]')" 0
sched_set "$DISK" none
rmmod scsi_debug || fail "cannot remove scsi_debug"
