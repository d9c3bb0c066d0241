# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: k2
# takes: 110 s
# limit: 400 s
#
# Proves: a task that has chosen a real-time request, and then does not run for long, does
# not stop the device: neither a task that its control group throttles, nor one of
# SCHED_IDLE beside a busy loop. Two other tasks read all the time: the longest time in
# which no read of either ended is how long the device stood still. Two, as the task may
# also lose the CPU with a best-effort request of another task in its hand, which delays
# that request alone. Only a preemptible kernel can fail.
# Fails if: flash_first_refuses() never calls flash_first_watch(), or flash_first_expire()
# starts no run.

(($(cpus) > 1)) || skip "needs two CPUs"
GROUP=/sys/fs/cgroup/lab-throttled
SCHED_PREEMPT=/sys/kernel/debug/sched/preempt

# preempt_set MODE - full, voluntary, ...; the kernel rewrites itself for that, which one
# processor alone should do (see events_set)
preempt_set() {
	local file
	local -a away=()
	for file in /sys/devices/system/cpu/cpu[1-9]*/online; do
		[[ $(<"$file") == 1 ]] || continue
		echo 0 >"$file" || fail "cannot take a processor offline: $file"
		away+=("$file")
	done
	echo "$1" >$SCHED_PREEMPT || fail "preempt $1"
	for file in "${away[@]}"; do
		echo 1 >"$file" || fail "a processor stays offline: $file"
	done
}

if [[ -e $SCHED_PREEMPT ]]; then
	was=$(<$SCHED_PREEMPT)
	was=${was#*\(}
	preempt_set full
elif [[ ! -e /sys/kernel/realtime ]]; then
	skip "this kernel is not preemptible"
fi
echo +cpu >/sys/fs/cgroup/cgroup.subtree_control || skip "no cpu controller"
mkdir $GROUP || fail "no control group"
[[ -e $GROUP/cpu.max ]] || skip "no cpu.max"

null_add still irqmode=0 submit_queues=1 size=64
sched_set "$DISK" "$SCHED"

# A stack that is recorded between choice and issue makes that time longer, so that the
# task loses its CPU there more often.
trace_start block_rq_issue "$DISK"
issue=$TRACING/events/block/block_rq_issue
echo "stacktrace if $(<"$issue/filter")" >"$issue/trigger" || fail "no trigger"

# shellcheck disable=SC2317  # soon calls it
reading() {
	stat_get "$DISK" served_rt
	((STAT > 20))
}

# standstills WHAT COMMAND... - real-time reads on CPU 0 by a task to which COMMAND PID is
# applied, and by two others on CPU 1; sets LONGEST to the longest time without an end
# of a read of these, in ms, and MANY to how many such times were 350 ms or more: a busy
# host takes less, a throttled task more
standstills() {
	local what=$1 pid
	shift
	sched_new "$DISK"
	ionice -c1 -n0 fio --output="$TMP/rt" --eta=never --filename="/dev/$DISK" \
		--direct=1 --rw=randread --bs=4k --ioengine=psync --thread=1 \
		--cpus_allowed=0 --time_based=1 --runtime=3600 --name=rt \
		>/dev/null 2>&1 &
	pid=$!
	soon 60 reading || fail "$what: no real-time reads"
	"$@" $pid || fail "$what: $*"
	run_fio --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k \
		--ioengine=psync --thread=1 --cpus_allowed=1 --time_based=1 \
		--runtime=40 --thinktime=1000 --write_lat_log="$TMP/lat" \
		--numjobs=2 --name=others
	kill -INT $pid
	normal $pid
	wait $pid
	read -r LONGEST MANY < <(sort -n "$TMP"/lat_clat.*.log | awk -F, '
		NR > 1 { gap = $1 - last }
		gap > most { most = gap }
		gap >= 350 { many++ }
		{ last = $1 }
		END { print most + 0, many + 0 }')
	say "$what: $LONGEST ms at most without a read, $MANY times 350 ms or more;" \
		"$(awk -F, '$2 >= 350000000' "$TMP"/lat_clat.*.log | wc -l) reads" \
		"took as long; $(stat_of "$DISK" first_expired) times others passed"
	assert_idle "$DISK"
}

throttle() {
	echo "2000 400000" >$GROUP/cpu.max && echo "$1" >$GROUP/cgroup.procs
}

idle() {
	taskset -c 0 bash -c 'while :; do :; done' &
	HOG=$!
	chrt -a -i -p 0 "$1"
}

normal() {
	[[ -z ${HOG-} ]] || kill "$HOG"
	HOG=
	echo "$1" >/sys/fs/cgroup/cgroup.procs || :
	chrt -a -o -p 0 "$1" 2>/dev/null || :
}

standstills throttled throttle
throttled=$MANY
standstills SCHED_IDLE idle
echo '!stacktrace' >"$issue/trigger"
# On PREEMPT_RT a task may be throttled while it holds a lock of the block layer: once.
holds "$throttled + $MANY <= 1" "times that the device stood still"
[[ ! -e $SCHED_PREEMPT ]] || preempt_set "${was%%)*}"
rmdir $GROUP
sched_set "$DISK" none
null_del still
