#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of scripts/locks: what /proc/lock_stat counts while fio reads from
# a disk that takes no time, for one scheduler after the other. Lines for the host
# begin with "locks: ".
#
# LOCKS_SCHEDULERS: names, blanks between. LOCKS_IOS: reads of each job; there are as
# many as CPUs. LOCKS_BOUND: max_inflight of those that have one.

set -u
export LC_ALL=C
STAT=/proc/lock_stat
NULLB=/sys/kernel/config/nullb
TMP=$(mktemp -d)

answer() { printf 'locks: %s\n' "$*"; }
die() { answer "trouble $*"; exit 1; }

[[ -w $STAT ]] || die "this kernel does not count locks: CONFIG_LOCK_STAT"
echo 1 >/proc/sys/kernel/lock_stat || die "locks cannot be counted"
cpus=$(nproc)
modprobe null_blk nr_devices=0 || die "no null_blk"
before=" $(echo /sys/block/*) "
mkdir $NULLB/locks || die "no null_blk disk"
# Completes at once, in softirq: nothing but the CPUs is in the way.
for pair in irqmode=1 queue_mode=2 "submit_queues=$cpus" hw_queue_depth=64 \
	    size=64; do
	echo "${pair#*=}" >"$NULLB/locks/${pair%%=*}" ||
		die "null_blk refuses $pair"
done
echo 1 >$NULLB/locks/power || die "null_blk does not start"
disk=
for file in /sys/block/*; do
	[[ $before == *" $file "* ]] || disk=${file##*/}
done
for ((n = 0; n < 250; n++)); do
	[[ -b /dev/$disk ]] && break
	sleep 0.02
done
[[ -b /dev/$disk ]] || die "no /dev/$disk"
answer "machine $(uname -r) $cpus"

load() {
	fio --output="$TMP/fio" --name=locks --filename="/dev/$disk" --rw=randread \
		--bs=4k --direct=1 --ioengine=libaio --iodepth=32 --thread \
		--numjobs="$cpus" --number_ios="$1" --norandommap --randrepeat=1 \
		--gtod_reduce=1 --disk_util=0 --cpus_allowed="0-$((cpus - 1))" \
		--cpus_allowed_policy=split --aux-path="$TMP"
}
reads() {
	local -a now
	read -ra now <"/sys/block/$disk/stat"
	echo "${now[0]}"
}

load 50 || die "fio"
for sched in $LOCKS_SCHEDULERS; do
	for module in "$sched" "$sched-iosched"; do
		modprobe -q "$module" && break
	done
	echo none >/sys/block/"$disk"/queue/scheduler
	[[ $sched == none ]] ||
		echo "$sched" 2>/dev/null >/sys/block/"$disk"/queue/scheduler || {
			answer "missing $sched"
			continue
		}
	bound=/sys/block/$disk/queue/iosched/max_inflight
	[[ ! -e $bound ]] || echo "$LOCKS_BOUND" >"$bound"
	load 50 || die "fio with $sched"
	ios=$(reads)
	echo 0 >$STAT
	load "$LOCKS_IOS" || die "fio with $sched"
	cat $STAT >"$TMP/stat"
	answer "begin $sched $(($(reads) - ios))"
	# Of each lock one line; the others say where it was waited for.
	grep -E ':( *[0-9.]+)( +[0-9.]+){11} *$' "$TMP/stat" | sed 's/^/locks: line /'
	# How each lock was ever taken: lockdep's four letters, and its class.
	[[ ! -r /proc/lockdep ]] ||
		grep -oE ' [-+.?]{4}: &.*$' /proc/lockdep | sed 's/^/locks: use/'
	answer "end $sched"
done
echo none >/sys/block/"$disk"/queue/scheduler
answer "done"
