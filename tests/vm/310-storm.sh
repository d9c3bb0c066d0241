# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2030,SC2031,SC2317
# core: yes
# takes: 30 s, 70 s if slow
# limit: 300 s
#
# Proves: 300 switches among all schedulers by two tasks at once (by one, where that
# crashes the kernel), under verified load of direct, buffered and flushed I/O, while
# other tasks write nr_requests and tunables, read statistics and the module's debugfs
# file, and a processor is taken offline and brought back: no error, no hang, nothing
# left behind.
# Fails if: elv_init_sched() does not set QUEUE_FLAG_SQ_SCHED and flash_kick() is
# removed from flash_release(); elv_exit_sched() does not take the device out of
# the list; or flash_hctx_exit() leaves its entry in flash_queue.hctx.

main_disk
seeded
rivals "$DISK"
tunables
queue=/sys/block/$DISK/queue
file=$queue/scheduler
sched_set "$DISK" "$SCHED"
load_start "$DISK" --name=c --direct=0 --ioengine=psync --fsync=8 --offset=16m \
	--size=1m --name=d --ioengine=psync --sync=dsync --offset=24m --size=512k

# aside NAME COMMAND... - runs it again and again until the storm is over
aside() {
	local name=$1 n=0
	shift
	(
		RANDOM=$((SEED + BASHPID))
		while [[ ! -e $TMP/over ]]; do
			"$@" && n=$((n + 1))
		done 2>/dev/null
		echo $n >"$TMP/aside.$name"
	) &
	asides+=($!)
}
asides=()
switch() { sched_try "$DISK" "${RIVALS[RANDOM % ${#RIVALS[@]}]}"; }
depth() {
	nap
	draw 4 600
	echo "$DRAWN" >"$queue/nr_requests"
}
tune() {
	local name=${TUNABLES[RANDOM % ${#TUNABLES[@]}]}
	nap
	if ((${#TEXTS[@]} && RANDOM % 4 == 0)); then
		name=${TEXTS[RANDOM % ${#TEXTS[@]}]}
		text_values "$name"
		echo "${GOOD[RANDOM % ${#GOOD[@]}]}" >"$queue/iosched/$name"
		return
	fi
	draw "${LOW[$name]}" "${HIGH[$name]}"
	((RANDOM % 3)) || DRAWN=${LOW[$name]}
	echo "$DRAWN" >"$queue/iosched/$name"
}
# Each file is read separately and without a new process for it: the scheduler
# that has these files is selected for a fifth of the time, and each time not
# for long. It worked if the last file was there.
look() {
	local path
	for path in "$ARRAYS" "$file" "$queue"/iosched/{inflight,stats}; do
		[[ -n $(<"$path") ]]
	done
}
plug() {
	pause 0.4
	echo 0 >/sys/devices/system/cpu/cpu1/online && pause 0.2 &&
		echo 1 >/sys/devices/system/cpu/cpu1/online
}
# Two tasks at once crash 6.19 with stock schedulers, too: docs/kernels.md.
two_switch() { ! kernel_at_least 6.19 || kernel_at_least 7.2; }
! two_switch || aside switch switch
aside depth depth
aside tune tune
aside look look
[[ ! -w /sys/devices/system/cpu/cpu1/online ]] || aside plug plug

switches=$((${LAB_SLOW:-1} > 1 ? 75 : 150))
for ((n = 0; n < switches; n++)); do
	switch || fail "a switch failed: $TRY_SAID"
	((n % 10)) || load_alive
	# Let it work for a moment now and then.
	((n % 15)) || pause 0.1
done
: >"$TMP/over"
wait "${asides[@]}"
for name in switch depth tune look plug; do
	[[ -e $TMP/aside.$name ]] || continue
	holds "$(<"$TMP/aside.$name") > 0" "times that it worked: $name"
done
! two_switch ||
	holds "switches + $(<"$TMP/aside.switch") >= switches * 4 / 3" "switches"
load_alive
sched_set "$DISK" "$SCHED"
further=$(ios "$DISK")
goes_on() { (($(ios "$DISK") > further + 50)); }
soon 30 goes_on || fail "the load stands still after the storm"
load_stop
assert_idle "$DISK"
depth_reset "$DISK"
is "users of the module" "$(<"/sys/module/$SCHED/refcnt")" 0
