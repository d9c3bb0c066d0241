# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: fast
# takes: 7 s
#
# Proves: limit_depth() works where the core has not chosen a hardware queue
# yet, as Linux 6.1 before 6.1.105 calls it; tests/limitprobe makes that call.
# The limit equals the one with the queue.
# Fails if: elv_limit_depth() does not call compat_limit_early() without a
# hardware queue.

# limits - "OPERATION WITH WITHOUT" lines for the disk as it is now
limits() {
	dmesg -C
	modprobe limitprobe disk="/dev/$DISK" || fail "limitprobe does not load"
	rmmod limitprobe || fail "limitprobe stays"
	dmesg | sed -n 's/.*limitprobe: //p'
}

# judge AT_LEAST - no call failed, and at least AT_LEAST operations are limited
judge() {
	local name with without lines=0 limited=0
	while read -r name with without; do
		say "$name: $with with the queue, $without without"
		lines=$((lines + 1))
		((with == 0)) || limited=$((limited + 1))
		is "$name without" "$without" "$with"
	done < <(limits)
	is "operations" "$lines" 5
	holds "$limited >= $1" "limited operations"
}

# Of 16 tags 12 are taken, most of them by tasks of the prober's own priority.
hold_add queue_depth=16
sched_new "$DISK"
[[ ! -e /sys/block/$DISK/queue/iosched/tenant_by ]] ||
	tun "$DISK" tenant_by ioprio
echo 16 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests"
[[ ! -e /sys/block/$DISK/queue/iosched/max_inflight ]] ||
	tun "$DISK" max_inflight 1
read_one "$DISK" 6000 ionice -c1 -n0
await "$DISK" inflight 1
for ((n = 0; n < 11; n++)); do
	read_one "$DISK" $((n * 100))
done
await "$DISK" queued 11
judge 1
let_go -1
readers_done
assert_idle "$DISK"

# Several hardware queues, and queues for reads and polling of their own.
null_add nohctx submit_queues="$(cpus)" irqmode=0
sched_set "$DISK" "$SCHED"
judge 0
null_add nohctxpoll submit_queues="$(cpus)" poll_queues=1 irqmode=0
sched_set "$DISK" "$SCHED"
judge 0
