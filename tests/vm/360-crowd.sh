# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 20 s
# limit: 240 s
#
# Proves: 256 tasks of all priority classes and levels, in 16 control groups of
# different weight, wait at once for a device under a small bound; all of them
# finish, each with the data that it wrote, and every request is accounted for.
# Fails if: flash_kick() is removed from flash_release(), or k2_pick() forgets the
# class of what waits longest (a class is never served).

group=/sys/fs/cgroup
[[ -e $group/cgroup.controllers ]] || skip "this kernel has no control groups"
grep -qw io $group/cgroup.controllers || skip "no io controller"
echo +io >$group/cgroup.subtree_control || fail "the io controller is refused"

null_add crowd memory_backed=1 size=128 submit_queues=2 irqmode=2 \
	completion_nsec=$((5000000 * ${LAB_SLOW:-1}))
sched_set "$DISK" "$SCHED"
# So slow that they all are there before the first ones have finished.
tun "$DISK" max_inflight 1
sched_new "$DISK"

# Sixteen tasks: classes 1 to 3 and none.
jobs=()
n=0
for prio in "1 0" "1 3" "1 7" "2 0" "2 2" "2 4" "2 7" "3 0"; do
	jobs+=(--name="p$((n++))" --prioclass="${prio% *}" --prio="${prio#* }")
done
for ((n = 0; n < 8; n++)); do
	jobs+=(--name="q$n")
done
start=$(ios "$DISK")
pids=()
for ((g = 0; g < 16; g++)); do
	mkdir "$group/lab$g" || fail "no control group"
	weight=$((g * g * 40 + 1))
	if [[ -e $group/lab$g/io.weight ]]; then
		echo "default $weight" >"$group/lab$g/io.weight" ||
			fail "no weight $weight"
	fi
	(
		echo $BASHPID >"$group/lab$g/cgroup.procs" || exit 1
		offset=0
		where=()
		for job in "${jobs[@]}"; do
			where+=("$job")
			[[ $job == --name=* ]] || continue
			where+=(--offset=$((g * 4096 + offset))k)
			offset=$((offset + 256))
		done
		fio_quiet --filename="/dev/$DISK" --direct=1 --ioengine=psync \
			--thread=1 --bs=4k --size=64k --rw=randwrite \
			--verify=crc32c --verify_fatal=1 --do_verify=1 \
			"${where[@]}"
	) &
	pids+=($!)
done
# shellcheck disable=SC2317  # soon calls it
crowded() {
	stat_get "$DISK" queued
	((STAT > 100))
}
soon 60 crowded || fail "no more than $STAT wait at once"
tun "$DISK" max_inflight 48
for pid in "${pids[@]}"; do
	wait "$pid" || fail "a group's tasks failed, see the log"
done
assert_idle "$DISK"
# 16 blocks of 256 tasks, written and read back
holds "$(ios "$DISK") - $start >= 256 * 32" "all finished"
holds "$(stat_of "$DISK" peak_inflight) <= 48"
for ((g = 0; g < 16; g++)); do
	rmdir "$group/lab$g" || fail "a control group is still used"
done
