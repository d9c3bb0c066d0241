# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: fast
# takes: 15 s
#
# Proves: when the driver changes its number of hardware queues under load, the
# kernel creates the scheduler again, its tunables keep their values, and no
# request is lost; two disks that change in turns each keep their own values.
# Fails if: flash_disk_put() frees the values whatever happens to the disk, or
# flash_disk_get() does not look at the sequence number (second part).

null_add resize memory_backed=1 size=64 submit_queues=1 irqmode=2 \
	completion_nsec=500000
sched_new "$DISK"
tun "$DISK" max_inflight 7
load_start "$DISK"
for ((n = 0; n < 10; n++)); do
	queues=$(((n + 1) % 2 + 1))
	echo $queues >"$NULLB/resize/submit_queues" ||
		fail "cannot change to $queues queues"
	is "queues" "$(<"$NULLB/resize/submit_queues")" $queues
	is "scheduler" "$(sched_get "$DISK")" "$SCHED"
	tun_is "bound" "$DISK" max_inflight 7
	pause 0.1
	load_alive
done
load_stop
assert_idle "$DISK"
holds "$(stat_of "$DISK" peak_inflight) <= 7" "the bound is in force"

# Two disks, each with different values for all tunables: both change, and one of
# them has another scheduler for that time.
one=$DISK
null_add other memory_backed=1 size=64 submit_queues=2 irqmode=2 \
	completion_nsec=500000
two=$DISK
sched_set "$two" "$SCHED"
tunables
declare -A first=() second=()
for name in "${TUNABLES[@]}"; do
	first[$name]=${LOW[$name]} second[$name]=${HIGH[$name]}
	tun "$one" "$name" "${first[$name]}"
	tun "$two" "$name" "${second[$name]}"
done
for name in "${TEXTS[@]}"; do
	text_values "$name"
	first[$name]=${GOOD[1]} second[$name]=${GOOD[-1]}
	tun "$one" "$name" "${first[$name]}"
	tun "$two" "$name" "${second[$name]}"
done
load_start "$one"
load_start "$two" --size=2m
for ((n = 0; n < 6; n++)); do
	((n % 3)) || sched_set "$one" none
	echo $((n % 2 + 1)) >"$NULLB/resize/submit_queues" ||
		fail "cannot change the first disk's queues"
	((n % 3 != 1)) || sched_set "$two" mq-deadline
	echo $(((n + 1) % 2 + 1)) >"$NULLB/other/submit_queues" ||
		fail "cannot change the second disk's queues"
	sched_set "$two" "$SCHED"
	sched_set "$one" "$SCHED"
	for name in "${TUNABLES[@]}" "${TEXTS[@]}"; do
		tun_is "first disk's $name" "$one" "$name" \
			"${first[$name]}"
		tun_is "second disk's $name" "$two" "$name" \
			"${second[$name]}"
	done
	load_alive
done
load_stop
assert_idle "$one" "$two"
