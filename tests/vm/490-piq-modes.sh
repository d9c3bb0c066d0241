# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2153,SC2154
# for: piq
# core: yes
# takes: 90 s
# limit: 300 s
#
# Proves: mode, layout, offset and all bounds change under verified load on two
# devices at once, each with its own, also while schedulers are switched: each
# request gives back the chips that it took, nothing is lost, no request waits
# without a cause, and the files show the written values.
# Fails if: piq_release() computes the chips again instead of those that were
# taken, piq_set() does not sort waiting requests again, or policy_text_tuned()
# does not call flash_resume().

# shellcheck source=tests/vm/lib/changes.sh
. lib/changes.sh
changes_under_load
for disk in "${DISKS[@]}"; do
	is "stuck on $disk" "$(stat_of "$disk" stuck)" 0
	is "chips of $disk with something to do" "$(arrays "$disk" |
		grep -c '^chip.* todo [1-9]')" 0
	sched_set "$disk" none
done
flashsim_del

# A request that waits for its chip is dispatched when a new layout puts it on
# another chip, and when the new mode does not look at chips: nothing else
# happens in that time.
hold_add channels=4 ways=1 page_kb=4
sched_set "$DISK" "$SCHED"
tun "$DISK" mode noop
tun "$DISK" layout "page=4096 chips=4"
sched_new "$DISK"
read_one "$DISK" 0
await "$DISK" inserted 1
read_one "$DISK" 4
await "$DISK" inserted 2
stays "$DISK" inflight 1
tun "$DISK" layout "page=4096 chips=5"
await "$DISK" inflight 2
read_one "$DISK" 10
await "$DISK" inserted 3
stays "$DISK" inflight 2
tun "$DISK" mode auto
await "$DISK" inflight 3
is "finished so far" "$(stat_of "$DISK" completed)" 0
let_go -1
readers_done
assert_idle "$DISK"
sched_set "$DISK" none
flashsim_del
