# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: fast
# takes: 11 s
#
#
# Proves: a processor is taken offline and brought back while requests are in
# flight and others wait under a bound of two, then many under a bound of one;
# its own waiting requests are served first, since the kernel waits for them.
# Fails if: flash_kick() is removed from flash_release(): taking the processor
# offline never ends.

cpu=/sys/devices/system/cpu/cpu1/online
[[ -e $cpu ]] || skip "one processor, or it cannot be taken offline"

main_disk
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 2
sched_new "$DISK"
load_start "$DISK"
for ((n = 0; n < 4; n++)); do
	echo 0 >$cpu || fail "cannot take the processor offline"
	pause 0.3
	echo 1 >$cpu || fail "cannot bring the processor back"
	pause 0.3
	load_alive
done
load_stop
assert_idle "$DISK"
nvme=$DISK

hold_add nr_hw_queues=2
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1
sched_new "$DISK"
for ((n = 0; n < 20; n++)); do
	read_one "$DISK" $((n * 100)) taskset -c $((n < 16 ? 1 : 0))
done
await "$DISK" inserted 20
holds "$(stat_of "$DISK" queued) > 0" "requests wait"
# The kernel waits for the processor's requests. Only when it does are slots released.
read -r online <"${cpu%online}hotplug/state"
# shellcheck disable=SC2317  # soon calls it
going() {
	local state
	read -r state <"${cpu%online}hotplug/state"
	((state < online))
}
(
	soon 20 going
	let_go -1
) &
echo 0 >$cpu || fail "cannot take the processor offline"
readers_done
assert_idle "$DISK"
is "finished" "$(reads_done "$DISK")" 20
# Again with the queue's processor away from the start.
for ((n = 0; n < 4; n++)); do
	read_one "$DISK" $((n * 100))
done
readers_done
echo 1 >$cpu
assert_idle "$DISK" "$nvme"
