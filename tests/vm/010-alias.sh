# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: yes
# takes: 6 s, 30 s if slow
#
# Proves: the echo alone loads the module, insmod alone does too (it depends on
# no other module), and sysfs then shows the scheduler as selected.
# Fails if: MODULE_ALIAS("<name>-iosched") is removed from the policy.

main_disk
is "loaded modules of this name" "$(grep -c "^$SCHED " /proc/modules)" 0
sched_set "$DISK" "$SCHED"
is "loaded by the echo" "$(grep -c "^$SCHED " /proc/modules)" 1
is "in brackets" "$(grep -o '\[.*\]' "/sys/block/$DISK/queue/scheduler")" \
	"[$SCHED]"
run_fio --name=r --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k \
	--size=1m
assert_idle "$DISK"
holds "$(stat_of "$DISK" inserted) > 0" "it saw the requests"

sched_set "$DISK" none
rmmod "$SCHED" || fail "cannot unload"
insmod "/lib/modules/$(uname -r)/updates/$SCHED.ko" || fail "insmod alone fails"
is "offered" "$(grep -cw "$SCHED" "/sys/block/$DISK/queue/scheduler")" 1
is "still not selected" "$(sched_get "$DISK")" none
is "layout" "$(modinfo -F layout "$SCHED" |
	grep -cxE 'tested|reviewed, not tested')" 1
