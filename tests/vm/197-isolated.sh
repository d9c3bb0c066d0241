# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# once: no scheduler makes a difference
# takes: 6 s
#
# Proves: requests that end on an isolated CPU wake no worker there, and dispatching continues.
# Fails if: flash_run() asks the block layer whatever the CPU: that has workers of the
# CPUs that were not isolated when the disk was made.

kernel_at_least 6.12 || skip "no CPU can be isolated after boot before 6.12"
(($(cpus) > 1)) || skip "needs two CPUs"
GROUP=/sys/fs/cgroup/lab-isolated

null_add one irqmode=2 completion_nsec=300000 submit_queues=1 size=64
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1
sched_new "$DISK"

echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control ||
	skip "this kernel has no cpusets"
mkdir $GROUP || fail "no control group"
echo 1 >$GROUP/cpuset.cpus
echo isolated >$GROUP/cpuset.cpus.partition
[[ $(<$GROUP/cpuset.cpus.partition) == isolated ]] ||
	skip "CPU 1 cannot be isolated: $(<$GROUP/cpuset.cpus.partition)"

echo 0 >"$TRACING/tracing_on"
echo nop >"$TRACING/current_tracer"
echo >"$TRACING/trace"
echo 1 >"$TRACING/events/workqueue/workqueue_execute_start/enable"
echo 1 >"$TRACING/events/timer/timer_expire_entry/enable"
echo 1 >"$TRACING/tracing_on"
before=$(stat_of "$DISK" kicks)
(
	echo $BASHPID >$GROUP/cgroup.procs
	run_fio --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k \
		--size=32m --ioengine=psync --thread=1 --numjobs=4 \
		--number_ios=100 --name=pinned
) || fail "fio"
echo 0 >"$TRACING/tracing_on"
echo 0 >"$TRACING/events/workqueue/workqueue_execute_start/enable"
echo 0 >"$TRACING/events/timer/timer_expire_entry/enable"
later=$(grep -c '\[001\].*function=delayed_work_timer_fn' "$TRACING/trace")
grep 'blk_mq_run_work_fn' "$TRACING/trace" >"$TMP/runs"
echo >"$TRACING/trace"
assert_idle "$DISK"
stats "$DISK"
head -3 "$TMP/runs"
kicks=$(($(stat_of "$DISK" kicks) - before))
holds "$kicks >= 50" "kicks"
holds "$(grep -c '\[000\]' "$TMP/runs") > 0" "runs on CPU 0"
# Dispatch that has run dry asks the block layer for a run later, on the task's CPU: one or
# two of 390 on 6.12, 26 on a very busy host. A timer begins each of these. From 7.x on some
# of what a task sends does. If kicks did they would be half of all.
limit=$((kicks / 50))
! kernel_at_least 7.0 || limit=$((kicks / 10))
holds "$(grep -c '\[001\]' "$TMP/runs") <= $limit + $later" "runs on CPU 1"
echo member >$GROUP/cpuset.cpus.partition
rmdir $GROUP
sched_set "$DISK" none
null_del one
