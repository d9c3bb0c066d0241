# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 20 s
#
# Proves: commands that user space sends straight to the NVMe disk pass while
# the scheduler keeps requests back under a bound of one, and do not disturb
# its accounts.
# Fails if: elv_finish_request() releases a slot without looking at the record.

command -v nvme >/dev/null || skip "no nvme-cli"
main_disk
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1
sched_new "$DISK"
dd if=/dev/urandom of="$TMP/data" bs=4k count=1 status=none
dd if="$TMP/data" of="/dev/$DISK" bs=4k seek=50000 oflag=direct status=none
load_start "$DISK"
for ((n = 0; n < 25; n++)); do
	nvme id-ctrl "/dev/${DISK%n*}" >/dev/null || fail "id-ctrl failed"
	nvme id-ns "/dev/$DISK" >/dev/null || fail "id-ns failed"
	nvme read "/dev/$DISK" --start-block=400000 --block-count=7 \
		--data-size=4096 --data="$TMP/got" >/dev/null 2>&1 ||
		fail "nvme read failed"
	cmp "$TMP/data" "$TMP/got" || fail "nvme read got other data"
	nvme flush "/dev/$DISK" >/dev/null || fail "nvme flush failed"
	load_alive
done
load_stop
assert_idle "$DISK"
is "peak" "$(stat_of "$DISK" peak_inflight)" 1
