# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034
# takes: 15 s
# limit: 150 s
#
# Proves: queue/async_depth, which Linux has from 7.0 on, limits the scheduler tags of
# writes, also under a reserve or a share of the tags that would leave more. Reads take
# what is left, and so do real-time tasks where the scheduler knows these. nr_requests
# scales it; selecting the scheduler sets it back to no limit.
# Fails if: elv_limit_depth() does not ask compat_async_depth(), limits reads, too, or limits
# urgent tasks; or if compat_shallow_prepare() announces a larger value, which the kernel
# reports.

# write_some FROM TO [COMMAND...] - writes TO - FROM blocks, each from a separate task
write_some() {
	local n from=$1 to=$2
	shift 2
	for ((n = from; n < to; n++)); do
		"$@" dd if=/dev/zero of="/dev/$DISK" bs=4k count=1 seek=$((n * 100)) \
			oflag=direct conv=notrunc status=none &
		READERS+=($!)
	done
}

hold_add queue_depth=16
attr=/sys/block/$DISK/queue/async_depth
[[ -e $attr ]] || skip "this kernel has no queue/async_depth"
sched_set "$DISK" "$SCHED"
[[ ! -e /sys/block/$DISK/queue/iosched/max_inflight ]] ||
	tun "$DISK" max_inflight 1
echo 16 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests"
is "async_depth, unlimited" "$(<"$attr")" 16
echo 4 >"$attr" || fail "async_depth 4"
write_some 0 12
await "$DISK" inserted 4
stays "$DISK" inserted 4
for ((n = 0; n < 20; n++)); do
	read_one "$DISK" $((5000 + n * 100))
done
await "$DISK" inserted 16
stays "$DISK" inserted 16
let_go -1
readers_done
assert_idle "$DISK"
is "inserted in the end" "$(stat_of "$DISK" inserted)" 32
echo 32 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests"
is "async_depth with twice the tags" "$(<"$attr")" 8
let_go 0
write_some 0 20
await "$DISK" inserted 40
stays "$DISK" inserted 40
if [[ $SCHED == k2 || $SCHED == piq ]]; then
	write_some 20 21 ionice -c1
	await "$DISK" inserted 41
fi
let_go -1
readers_done
assert_idle "$DISK"
sched_set "$DISK" none
sched_set "$DISK" "$SCHED"
is "async_depth, selected again" "$(<"$attr")" \
	"$(<"/sys/block/$DISK/queue/nr_requests")"
sched_set "$DISK" none
flashsim_del
