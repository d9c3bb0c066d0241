# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 6 s
#
# Proves: a disk keeps its own values over other schedulers, until the disk is
# removed or the module unloaded; defaults are back then.
# Fails if: flash_disk_put() always frees the disk's values, or never does
# (the re-created disk), or flash_disk_get() does not look at the sequence
# number.

null_add one memory_backed=1 size=16
one=$DISK
null_add two memory_backed=1 size=16
two=$DISK
sched_set "$one" "$SCHED"
sched_set "$two" "$SCHED"
default=$(tun "$one" max_inflight)
tun "$one" max_inflight 7
tun "$two" max_inflight 9
for other in none mq-deadline kyber none; do
	sched_set "$one" "$other"
	sched_set "$two" "$other"
	sched_set "$two" "$SCHED"
	sched_set "$one" "$SCHED"
	tun_is "first disk's bound after $other" "$one" max_inflight 7
	tun_is "second disk's bound after $other" "$two" max_inflight 9
done
# Not only shown, but in force.
run_fio --name=r --filename="/dev/$one" --direct=1 --rw=randread --bs=4k \
	--size=4m --ioengine=libaio --iodepth=64
assert_idle "$one" "$two"
holds "$(stat_of "$one" peak_inflight) <= 7"

# Removed while selected, and while another scheduler is.
null_del one
null_add one memory_backed=1 size=16
sched_set "$DISK" "$SCHED"
tun_is "bound of a new disk of the same name" "$DISK" max_inflight \
	"$default"
tun "$DISK" max_inflight 11
sched_set "$DISK" none
null_del one
null_add one memory_backed=1 size=16
one=$DISK
sched_set "$one" "$SCHED"
tun_is "bound of yet another one" "$one" max_inflight "$default"
tun_is "bound of the disk that stayed" "$two" max_inflight 9

# A default changed at run time is for disks seen later.
echo 13 >"/sys/module/$SCHED/parameters/max_inflight"
tun_is "bound of a known disk" "$one" max_inflight "$default"
null_add three size=16
sched_set "$DISK" "$SCHED"
tun_is "bound of a disk seen later" "$DISK" max_inflight 13
null_del three

sched_set "$one" none
sched_set "$two" none
rmmod "$SCHED" || fail "cannot unload"
modprobe "$SCHED" || fail "cannot load"
sched_set "$one" "$SCHED"
sched_set "$two" "$SCHED"
tun_is "bound after reloading" "$one" max_inflight "$default"
tun_is "second disk's bound after reloading" "$two" max_inflight \
	"$default"
assert_idle "$one" "$two"
