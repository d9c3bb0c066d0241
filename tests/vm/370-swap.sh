# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 15 s
# limit: 300 s
#
# Proves: memory is swapped out to the disk and in from it under pressure, with
# the scheduler, a bound of one and more, while schedulers and nr_requests are
# changed, which allocates memory itself: no task waits for ever, and pages that
# are swapped in have the contents that were swapped out.
# Fails if: memalloc_noio_save() is taken out of elv_init_sched() and
# elv_init_hctx() (a switch may wait for memory that waits for it), or
# flash_kick() out of flash_release().

group=/sys/fs/cgroup
grep -qw memory $group/cgroup.controllers 2>/dev/null ||
	skip "this kernel has no memory controller"
echo +memory >$group/cgroup.subtree_control || fail "no memory controller"
mkdir $group/lab || fail "no control group"
[[ -e $group/lab/memory.swap.max ]] || skip "this kernel does not count swap"
[[ ! -e /sys/module/zswap ]] || echo N >/sys/module/zswap/parameters/enabled

main_disk
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1
sched_new "$DISK"
mkswap "/dev/$DISK" >/dev/null || fail "mkswap"
[[ -e /proc/swaps ]] || skip "this kernel has no swap"
swapon "/dev/$DISK" || fail "swapon"
# Not memory.max: with a slow disk the kernel would soon kill a process.
echo 20M >$group/lab/memory.high || fail "memory.high"

# Each holds all of the file in its memory, then compares.
head -c 16M /dev/urandom >"$TMP/image"
rm -f "$TMP/swapped"
hogs=()
for ((n = 0; n < 3; n++)); do
	(
		echo $BASHPID >$group/lab/cgroup.procs || exit 1
		rounds=0
		until [[ -e $TMP/swapped ]] && ((rounds)); do
			dd if="$TMP/image" bs=16M count=1 iflag=fullblock \
				status=none | cmp - "$TMP/image" || exit 1
			rounds=$((rounds + 1))
		done
		echo "hog: $rounds rounds"
	) &
	hogs+=($!)
done
# swapped - number of pages swapped out and in
swapped() { awk '/^pswp(in|out) / { n += $2 } END { print n }' /proc/vmstat; }
alive() {
	local pid
	for pid in "${hogs[@]}"; do
		kill -0 "$pid" 2>/dev/null || fail "a task with data has gone"
	done
}
before=$(swapped)
# shellcheck disable=SC2317  # soon calls it
swapping() { (($(swapped) > before + 2000)); }
soon 60 swapping || fail "nothing is swapped"
alive
stats "$DISK"
holds "$(stat_of "$DISK" inserted) > 20" "by this scheduler"
if [[ $SCHED == k2 ]]; then
	holds "$(stat_of "$DISK" served_meta) > 0" "swap counts as metadata"
fi

rivals "$DISK"
seeded
for ((n = 0; n < 40; n++)); do
	sched_set "$DISK" "${RIVALS[RANDOM % ${#RIVALS[@]}]}"
	draw 8 1000
	echo "$DRAWN" >"/sys/block/$DISK/queue/nr_requests" ||
		fail "nr_requests refuses $DRAWN"
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight $((RANDOM % 8 + 1))
	((n % 4)) || pause 0.1
	alive
done
before=$(swapped)
soon 60 swapping || fail "nothing is swapped any more"
: >"$TMP/swapped"
for pid in "${hogs[@]}"; do
	wait "$pid" || fail "other data has come back from swap, or a task was killed"
done
is "killed for want of memory" \
	"$(sed -n 's/^oom_kill //p' $group/lab/memory.events)" 0
say "$(swapped) pages swapped"
swapoff "/dev/$DISK" || fail "swapoff"
assert_idle "$DISK"
depth_reset "$DISK"
rmdir $group/lab || fail "the control group is still used"
