# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: yes
# takes: 11 s, 60 s if slow
#
# Proves: the module cannot be unloaded while a disk uses it and can be when
# none does, ten times in a row; a debugfs file that a process holds open, or
# reads all the time, neither crashes nor stays behind.
# Fails if: elv_unregister() or the removal of the debugfs directory is taken
# out of flash_module_exit(), or .elevator_owner out of flash_elevator.

main_disk
for ((n = 1; n <= 10; n++)); do
	sched_set "$DISK" "$SCHED"
	out=$(LC_ALL=C busybox rmmod "$SCHED" 2>&1) &&
		fail "unloaded while selected"
	[[ $out == *"temporarily unavailable"* || $out == *"busy"* ]] ||
		fail "rmmod while selected says: $out"
	dd if="/dev/$DISK" of=/dev/null bs=64k count=8 iflag=direct status=none ||
		fail "read error"
	assert_idle "$DISK"
	sched_set "$DISK" none
	busybox rmmod "$SCHED" || fail "cannot unload, round $n"
	[[ ! -e /sys/kernel/debug/$SCHED ]] || fail "debugfs directory is left"
	grep -qw "$SCHED" "/sys/block/$DISK/queue/scheduler" &&
		fail "still offered after unloading"
done
say "ok: $((n - 1)) cycles"

sched_set "$DISK" "$SCHED"
exec {held}<"$ARRAYS" || fail "no debugfs file"
[[ -n $(arrays "$DISK") ]] || fail "$DISK is not in the debugfs file"
sched_set "$DISK" none
# The disk has no elevator any more: the file must not read freed memory.
is "lines of a disk that has gone" "$(arrays "$DISK" | wc -l)" 0
grep -w "$DISK" <&"$held" && fail "an open file shows a disk that has gone"
busybox rmmod "$SCHED" 2>/dev/null && say "unloaded under an open file"
cat <&"$held"
exec {held}<&-
gone() { ! grep -q "^$SCHED " /proc/modules || busybox rmmod "$SCHED" 2>/dev/null; }
soon 10 gone || fail "an open debugfs file pins the module for ever"
[[ ! -e /sys/kernel/debug/$SCHED ]] || fail "debugfs directory is left"

# Read the arrays and the counters all the time while switching.
(until [[ -e $TMP/stop ]]; do
	cat "$ARRAYS" \
	    "/sys/block/$DISK/queue/iosched/stats" >/dev/null 2>&1
done) &
for ((n = 0; n < 20; n++)); do
	sched_new "$DISK"
done
: >"$TMP/stop"
wait
assert_idle "$DISK"
