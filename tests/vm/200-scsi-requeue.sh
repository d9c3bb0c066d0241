# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# takes: 20 s
#
# Proves: three kinds of requests are counted once each and none is lost, under
# a small bound: those that the SCSI layer hands back after an aborted command
# or a time-out, those with a rest that it inserts at the head after a short
# transfer, and those that its host is too busy for.
# Fails if: elv_requeue_request() is emptied (requeued stays 0), or
# elv_insert_requests() ignores that a request belongs at the head (head does).

modprobe scsi_debug dev_size_mb=32 ndelay=200000 max_queue=16 submit_queues=2 \
	every_nth=20 opts=0 2>/dev/null || skip "this kernel has no scsi_debug"
modprobe sd_mod
params=/sys/bus/pseudo/drivers/scsi_debug
soon 10 debug_disk || fail "scsi_debug has no disk"
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 4
sched_new "$DISK"

# try WHAT OPTS [EVERY_NTH]
try() {
	echo "${3:-20}" >$params/every_nth || fail "scsi_debug refuses every_nth"
	echo "$2" >$params/opts || fail "scsi_debug refuses opts $2"
	run_fio --filename="/dev/$DISK" --direct=1 --rw=randrw --bs=16k \
		--size=6m --ioengine=libaio --iodepth=16 --verify=crc32c \
		--verify_fatal=1 --name=a --offset=0 --name=b --offset=8m
	echo 0 >$params/opts
	assert_idle "$DISK"
	say "$1: requeued $(stat_of "$DISK" requeued), head $(stat_of "$DISK" head)"
}

# Aborted commands are tried again, host busy is not even accepted.
try "aborted commands" 0x10
holds "$(stat_of "$DISK" requeued) > 0"
try "host busy" 0x8000
tun "$DISK" max_inflight 1
try "aborted commands with a bound of one" 0x10
try "host busy with a bound of one" 0x8000
# The device reads less than was requested: the rest is dispatched first.
before=$(stat_of "$DISK" head)
try "short transfers with a bound of one" 0x100
holds "$(stat_of "$DISK" head) > $before" "the rest was inserted at the head"
# Commands that are never answered: the error handler aborts them.
echo 1 >"/sys/block/$DISK/device/timeout" || fail "no time-out of a second"
before=$(stat_of "$DISK" requeued)
try "time-outs" 4 300
holds "$(stat_of "$DISK" requeued) > $before" "they were tried again"
is "untracked" "$(stat_of "$DISK" untracked)" 0
sched_set "$DISK" none
rmmod scsi_debug || fail "cannot remove scsi_debug"
