#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of scripts/bench: works through a plan, one fio run after
# the other, and leaves raw measurements for the host to judge. Judges nothing
# itself: Python on the host is faster and has tests.
#
# The directory that QEMU exports as "bench" holds the plan (id workload
# scheduler bound, "-" for no bound) and env; each run gets a directory there.
# Results are written during the bench, so that an interrupted one keeps the
# finished runs. Lines for the host begin with "bench: ".

set -u
export LC_ALL=C

DISK=nvme0n1
SYS=/sys/block/$DISK
TRACING=/sys/kernel/tracing
DIR=/run/bench
# Where a trace is formatted: the kernel hands it out page by page, which over
# 9p would be one message a page.
SCRATCH=/dev/shm/bench

exec {HOST}>&1
tell() { printf 'bench: %s\n' "$*" >&"$HOST"; }
die() { tell "trouble $*"; exit 1; }

modprobe -a virtio_pci 9pnet_virtio 9p
mkdir -p $DIR $SCRATCH
mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 bench $DIR ||
	die "the results directory cannot be mounted"
# shellcheck source=/dev/null
. $DIR/env
export DEV=/dev/$DISK RUNTIME RT_IOS THINKTIME_US SEED

for module in kyber-iosched bfq mq-deadline k2; do
	modprobe $module 2>/dev/null
done

{
	echo "release $(uname -r)"
	read -r version </proc/version
	echo "version $version"
	read -r model <$SYS/device/model
	echo "model $model"
	echo "bytes $(( $(<$SYS/size) * 512 ))"
	echo "dev $(<$SYS/dev)"
	echo "cpus $(nproc)"
	queues=("$SYS"/mq/*)
	echo "hw_queues ${#queues[@]}"
	fio --version | sed 's/^fio-/fio /'
} >$DIR/machine

# A clock that only counts gives all CPUs one order of events, which is what
# the host checks; times it takes from elsewhere. When a buffer is full its
# begin is worth more than its end, as it says what was queued.
echo 0 >$TRACING/tracing_on
echo counter >$TRACING/trace_clock
echo 0 >$TRACING/options/overwrite
echo 32768 >$TRACING/buffer_size_kb
for event in insert issue complete requeue; do
	echo 1 >$TRACING/events/block/block_rq_$event/enable ||
		die "no trace event block_rq_$event"
done
# Requests that k2 takes from its queues, seen under k2's own lock:
# flash_take(fq, fr) with fr->rq->__sector. Inserts are traced under that lock
# too. The host finds out whether the offset fits this kernel, and does without
# otherwise.
# As a breakpoint: making a jump of it would rewrite running code once more.
echo 0 >/proc/sys/debug/kprobes-optimization
echo 'p:k2take k2:flash_take sector=+0x30(+0(%si)):u64' \
	>$TRACING/kprobe_events 2>/dev/null &&
	echo 1 >$TRACING/events/kprobes/k2take/enable

show_tunables() {	# "name value" lines
	local file
	for file in "$SYS"/queue/iosched/*; do
		case ${file##*/} in
		stats|inflight|rt_cgroups) ;;
		*) [[ -r $file ]] && echo "${file##*/} $(<"$file")" ;;
		esac
	done
}

# Every 100 ms: guest time, block statistics, without forking: a process costs
# more here than what is measured.
# shellcheck disable=SC2094 # a copy of what is there so far is wanted
sample() {	# FILE DIRECTORY
	local up stat idle last='' since=0 noted=''
	exec {idle}<><(:)
	while :; do
		read -r up _ </proc/uptime
		read -r -a stat <$SYS/stat
		echo "$up ${stat[*]}"
		if [[ ${stat[0]}/${stat[4]} != "$last" ]]; then
			last=${stat[0]}/${stat[4]}
			since=${up%.*}
		# It hangs. In 40 s more the kernel will panic over it, and nothing
		# in here will be left: note the state while there is time.
		elif [[ -z $noted ]] && (( ${up%.*} - since > 20 )); then
			noted=1
			{
				cat $SYS/inflight
				cat $SYS/queue/iosched/stats /sys/kernel/debug/k2/queues
			} >"$2/hung" 2>/dev/null
			cat "$1" >"$2/samples"
			tell "note no completion for 20 s: state noted"
		fi
		read -r -t 0.1 -u $idle _
	done >"$1"
}

choose() {	# SCHEDULER BOUND
	# Selected again each time: counters begin at 0, nothing is left over.
	echo none >$SYS/queue/scheduler &&
		echo "$1" >$SYS/queue/scheduler || return 1
	[[ $(<$SYS/queue/scheduler) == *"[$1]"* ]] || return 1
	[[ $2 == - ]] && return 0
	echo "$2" >$SYS/queue/iosched/max_inflight &&
		[[ $(<$SYS/queue/iosched/max_inflight) == "$2" ]]
}

run() {	# ID WORKLOAD SCHEDULER BOUND
	local dir=$DIR/$1 sampler status limit=$(( RUNTIME + 30 ))
	mkdir -p "$dir"
	dmesg -C
	if ! choose "$3" "$4" 2>"$dir/choose"; then
		dmesg -r >"$dir/dmesg"
		tell "unavailable $1"
		return 0
	fi
	show_tunables >"$dir/tunables"
	cat $SYS/queue/iosched/stats >"$dir/stats-before" 2>/dev/null
	cp $SYS/stat "$dir/stat-before"

	echo >$TRACING/trace
	echo 1 >$TRACING/tracing_on
	sample $SCRATCH/samples "$dir" &
	sampler=$!
	timeout -k 5 $limit fio --output-format=json \
		--output="$SCRATCH/fio" "/tests/fio/k2-$2.fio" >"$dir/fio-said" 2>&1
	status=$?
	kill $sampler
	wait $sampler 2>/dev/null
	echo 0 >$TRACING/tracing_on

	cp $SYS/stat "$dir/stat-after"
	cp $SYS/inflight "$dir/inflight"
	cat $SYS/queue/iosched/stats >"$dir/stats-after" 2>/dev/null
	cat $TRACING/trace >$SCRATCH/trace
	dmesg -r >"$dir/dmesg"
	cp $SCRATCH/* "$dir/"
	rm -f ${SCRATCH:?}/*
	echo $status >"$dir/status"
	tell "done $1"
	# A hung run keeps its hold on the queue: no scheduler could be chosen.
	(( status < 124 ))
}

tell "ready"
while read -r id workload scheduler bound; do
	tell "begin $id"
	run "$id" "$workload" "$scheduler" "$bound" </dev/null ||
		die "$id did not end; the rest cannot run on this device"
done <$DIR/plan
tell "end"
