#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of scripts/bench-scale: random reads from a disk that takes no time,
# while the disk gets one scheduler after another. Lines for the host begin with "scale: ".
#
# SCALE_ROUNDS: a line a round, the schedulers in their order. SCALE_SECONDS: of a pass.
# SCALE_DEPTH: of each job; there are as many as CPUs. SCALE_BOUND: max_inflight of k2.

set -u
export LC_ALL=C
NULLB=/sys/kernel/config/nullb
TMP=$(mktemp -d)

answer() { printf 'scale: %s\n' "$*"; }
die() { answer "trouble $*"; exit 1; }

cpus=$(nproc)
modprobe null_blk nr_devices=0 || die "no null_blk"
before=" $(echo /sys/block/*) "
mkdir $NULLB/scale || die "no null_blk disk"
# Completes at once, in softirq.
for pair in irqmode=1 queue_mode=2 "submit_queues=$cpus" hw_queue_depth=256; do
	echo "${pair#*=}" >"$NULLB/scale/${pair%%=*}" || die "null_blk refuses $pair"
done
echo 1 >$NULLB/scale/power || die "null_blk does not start"
disk=
for file in /sys/block/*; do
	[[ $before == *" $file "* ]] || disk=${file##*/}
done
for ((n = 0; n < 250; n++)); do
	[[ -b /dev/$disk ]] && break
	sleep 0.02
done
[[ -b /dev/$disk ]] || die "no /dev/$disk"
queue=/sys/block/$disk/queue
answer "machine $(uname -r) $cpus"

# The load, until it is killed. QEMU finds some addresses of code faster than others; a new
# process in each round has others.
load() {
	exec fio --output="$TMP/fio" --output-format=json --name=scale \
		--filename="/dev/$disk" --rw=randread --bs=4k --direct=1 \
		--ioengine=libaio --iodepth="$SCALE_DEPTH" --thread \
		--numjobs="$cpus" --group_reporting --time_based --runtime=86400 \
		--norandommap --randrepeat=1 --gtod_reduce=1 --disk_util=0 \
		--cpus_allowed="0-$((cpus - 1))" --cpus_allowed_policy=split \
		--aux-path="$TMP"
}

# rate SECONDS - sets RATE, reads a second during this time
rate() {
	local before after from to
	read -r before _ <"/sys/block/$disk/stat"
	from=${EPOCHREALTIME/./}
	sleep "$1"
	read -r after _ <"/sys/block/$disk/stat"
	to=${EPOCHREALTIME/./}
	RATE=$(((after - before) * 1000000 / (to - from)))
}

# scheduler NAME - selects it
scheduler() {
	local module bound=$queue/iosched/max_inflight
	for module in "$1" "$1-iosched"; do
		[[ -n ${LOADED[$1]:-} ]] || modprobe -q "$module" && break
	done
	LOADED[$1]=1
	[[ $1 == none ]] || echo "$1" 2>"$TMP/error" >"$queue/scheduler" || return
	[[ $1 != none ]] || echo none >"$queue/scheduler"
	[[ $1 != k2 ]] || echo "$SCALE_BOUND" >"$bound"
}

declare -A MISSING=() LOADED=()
round=0
while read -ra names; do
	((++round))
	load &
	fio=$!
	# Until both jobs run
	rate 1.5
	((RATE)) || die "fio: $(tail -n 1 "$TMP/fio")"
	for sched in "${names[@]}"; do
		[[ -z ${MISSING[$sched]:-} ]] || continue
		scheduler "$sched" || {
			MISSING[$sched]=1
			answer "missing $sched"
			continue
		}
		sleep 0.05
		rate "$SCALE_SECONDS"
		((RATE)) || die "no reads with $sched: $(tail -n 1 "$TMP/fio")"
		answer "pass $round $sched $RATE"
	done
	kill $fio
	wait $fio 2>"$TMP/error"
done <<<"$SCALE_ROUNDS"
echo none >"$queue/scheduler"
answer "done"
