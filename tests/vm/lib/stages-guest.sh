#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Records what scripts/stages reads, while a command runs: the block layer's events
# of one disk, and its scheduler's own. For a virtual machine and for a real one, as
# root: stages-guest.sh DISK FILE COMMAND...

set -u
export LC_ALL=C
TRACING=/sys/kernel/tracing
BUFFER_KB=${BUFFER_KB:-16384}

die() { printf 'stages-guest: %s\n' "$*" >&2; exit 1; }

(($# >= 3)) || die "want DISK FILE COMMAND..."
disk=$1 file=$2
shift 2
[[ -r /sys/block/$disk/dev ]] || die "no disk /sys/block/$disk"
[[ -w $TRACING/tracing_on ]] || die "cannot write to $TRACING: not root?"
: >"$file" || die "cannot write $file"
IFS=: read -r major minor <"/sys/block/$disk/dev"
read -r sched <"/sys/block/$disk/queue/scheduler"
sched=${sched#*[} sched=${sched%]*}

events=(block/block_bio_queue block/block_bio_backmerge
	block/block_bio_frontmerge block/block_rq_merge block/block_rq_insert
	block/block_rq_issue block/block_rq_complete block/block_rq_requeue)
for event in insert dispatch complete; do
	# Other schedulers have none.
	[[ -d $TRACING/events/$sched/flash_$event ]] &&
		events+=("$sched/flash_$event")
done

echo 0 >"$TRACING/tracing_on"
before=$(<$TRACING/buffer_size_kb)
clock=$(sed 's/.*\[\(.*\)\].*/\1/' $TRACING/trace_clock)
# shellcheck disable=SC2317  # the trap calls it
stop() {
	local event
	echo 0 >"$TRACING/tracing_on"
	for event in "${events[@]}"; do
		echo 0 >"$TRACING/events/$event/enable"
		echo 0 >"$TRACING/events/$event/filter"
	done
	echo "$clock" >"$TRACING/trace_clock"
}
trap stop EXIT
echo mono >$TRACING/trace_clock || die "no clock mono"
echo "$BUFFER_KB" >$TRACING/buffer_size_kb || die "no $BUFFER_KB KiB a CPU"
for event in "${events[@]}"; do
	echo "dev == $((major << 20 | minor))" >"$TRACING/events/$event/filter" ||
		die "cannot filter $event"
	echo 1 >"$TRACING/events/$event/enable" || die "cannot record $event"
done
echo >$TRACING/trace
echo 1 >$TRACING/tracing_on
"$@"
status=$?
echo 0 >"$TRACING/tracing_on"
cat $TRACING/trace >"$file"
echo >$TRACING/trace
[[ ${before%% *} =~ ^[0-9]+$ ]] && echo "${before%% *}" >$TRACING/buffer_size_kb
exit $status
