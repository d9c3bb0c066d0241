# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 5 s
#
# Proves: requests that the NVMe driver retries after a media error give their
# slot back exactly once, a read that cannot be recovered ends in an error, and
# nothing leaks in either case. scripts/check adds the disk: a read of sectors
# 8000, 8008, ... 8504 fails once each, sector 16000 fails for ever. Each scheduler
# that is tested in this guest reads eight of them.
# Fails if: elv_requeue_request() is emptied (requeued stays 0), or releases a
# slot whatever flash_slot_requeue() says.

extra_disk lab-errors
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1
sched_new "$DISK"
used=$(cat /run/lab-errors 2>/dev/null || echo 0)
((used < 64)) || fail "all errors of the disk have been had"
echo $((used + 8)) >/run/lab-errors
for ((n = 0; n < 8; n++)); do
	dd if="/dev/$DISK" of=/dev/null bs=4k count=1 skip=$((1000 + used + n)) \
		iflag=direct status=none || fail "an error that should recover"
done
assert_idle "$DISK"
is "requeued" "$(stat_of "$DISK" requeued)" 8

out=$(dd if="/dev/$DISK" of=/dev/null bs=4k count=1 skip=2000 iflag=direct \
	2>&1) && fail "read what cannot be read"
# An error of the medium is ENODATA in the block layer's language.
[[ $out == *"Input/output error"* || $out == *"No data available"* ]] ||
	fail "dd says: $out"
assert_idle "$DISK"
holds "$(stat_of "$DISK" requeued) > 8" "it was tried again"

# Errors in the midst of load: only the bad sector suffers.
run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio --iodepth=32 \
	--name=ok --rw=randread --bs=4k --offset=16m --size=8m &
good=$!
for ((n = 0; n < 3; n++)); do
	dd if="/dev/$DISK" of=/dev/null bs=4k count=1 skip=2000 iflag=direct \
		2>/dev/null && fail "read what cannot be read"
done
wait $good || fail "an error hit another request"
assert_idle "$DISK"
