# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: layer_read
# takes: 15 s
# limit: 120 s
#
# Proves: with more tasks that write than there are scheduler tags, in mode auto a read
# finds a tag at once, and is dispatched next; in mode paper, which has no such rule,
# writes take all of them. And reads alone may take all.
# Fails if: policy_shallow() sets no limit for writes, or sets one for reads.

# write_some FROM TO - writes these blocks, each from a separate task
write_some() {
	local n
	for ((n = $1; n < $2; n++)); do
		dd if=/dev/zero of="/dev/$DISK" bs=4k count=1 seek=$((n * 100)) \
			oflag=direct conv=notrunc status=none &
		READERS+=($!)
	done
}

# begin MODE - one write is in the device, which has 16 tags
begin() {
	hold_add queue_depth=16
	sched_set "$DISK" "$SCHED"
	tun "$DISK" mode "$1"
	tun "$DISK" max_inflight 1
	sched_new "$DISK"
	echo 16 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests"
	write_some 0 1
	await "$DISK" inflight 1
}

over() {
	let_go -1
	readers_done
	assert_idle "$DISK"
	sched_set "$DISK" none
	flashsim_del
}

begin auto
write_some 1 21
await "$DISK" queued 11
stays "$DISK" queued 11
read_one "$DISK" 5000
await "$DISK" queued 12
is "reads that wait" "$(arrays "$DISK" | grep -c '^read queued 1$')" 1
let_go 1
await "$DISK" served_reads 1
is "writes served before it" "$(stat_of "$DISK" served_writes)" 1
over

begin paper
write_some 1 21
await "$DISK" queued 15
over

begin auto
for ((n = 1; n <= 20; n++)); do
	read_one "$DISK" $((n * 100))
done
await "$DISK" queued 15
over
