# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: k2
# takes: 25 s
# limit: 180 s
#
# Proves: a calibration under load completes and leaves a bandwidth, a tail and an age;
# these and all tunables stay with the disk when its number of hardware queues changes
# under load, and over another scheduler; another disk has none of it; and an invalid
# command is refused and begins nothing.
# Fails if: k2_completed() does not keep the results, k2_init() does not read them,
# or flash_disk_put() frees them.

null_add resize memory_backed=1 size=64 submit_queues=1 irqmode=2 \
	completion_nsec=500000
sched_new "$DISK"
for text in "" " " abc -1 +1 0x1 "1 1" on; do
	{ echo "$text" >"/sys/block/$DISK/queue/iosched/calibrate"; } 2>/dev/null &&
		fail "calibrate takes '$text'"
done
{ echo 2 >"/sys/block/$DISK/queue/iosched/calibrate"; } 2>"$TMP/said" &&
	fail "calibrate takes 2"
is "what it says" "$(sed 's/.*: //' "$TMP/said")" "Numerical result out of range"
tun_is "calibrating" "$DISK" calibrate 0
is "age before" "$(stat_of "$DISK" calibration_age_s)" -1

load_start "$DISK"
tun "$DISK" max_inflight 5
tun "$DISK" calibrate 1
tun_is "bound while it is measured" "$DISK" bound 65535
tun "$DISK" calibrate 0
tun_is "bound when it was given up" "$DISK" bound 5
tun "$DISK" calibrate 1
# shellcheck disable=SC2317  # soon calls it
calibrated() { [[ $(tun "$DISK" calibrate) == 0 ]]; }
soon 60 calibrated || { stats "$DISK"; fail "it does not come to its end"; }
tun_is "bound after it" "$DISK" bound 5
rate=$(stat_of "$DISK" calibrated_kib_s) tail=$(stat_of "$DISK" calibrated_tail_us)
holds "$rate > 0" "bandwidth"
holds "$tail >= 500" "tail"
holds "$(stat_of "$DISK" calibration_age_s) >= 0" "age"

tun "$DISK" target_pct 60
tun "$DISK" policy latency
tun "$DISK" bound_unit cost
tun "$DISK" reserve 1
# The tail is shown in microseconds, but the target is made of nanoseconds.
want=$((tail * 60 / 1000))
got=$(($(stat_of "$DISK" target_ns) / 10000))
holds "$got == $want || $got == $want + 1" "target"
for ((n = 0; n < 6; n++)); do
	echo $(((n + 1) % 2 + 1)) >"$NULLB/resize/submit_queues" ||
		fail "cannot change the queues"
	((n % 3)) || sched_set "$DISK" mq-deadline
	sched_set "$DISK" "$SCHED"
	tun_is "policy" "$DISK" policy latency
	tun_is "unit" "$DISK" bound_unit cost
	tun_is "reserve" "$DISK" reserve 1
	is "bandwidth" "$(stat_of "$DISK" calibrated_kib_s)" "$rate"
	is "tail" "$(stat_of "$DISK" calibrated_tail_us)" "$tail"
	pause 0.1
	load_alive
done
load_stop
assert_idle "$DISK"

null_add other size=16
sched_set "$DISK" "$SCHED"
is "another disk's bandwidth" "$(stat_of "$DISK" calibrated_kib_s)" 0
tun_is "another disk's policy" "$DISK" policy static
null_del other
