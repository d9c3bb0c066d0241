# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034
# for: layer_read
# core: fast
# takes: 15 s
# limit: 240 s
#
# Proves: mode auto dispatches reads before writes, in batches, an expired write
# before reads, the oldest of a sub-layer first when that begins its turn, and with a
# layout each chip in its turn. It holds requests back when enough are in the device,
# and then dispatches one when one ends, when the mode changes and when the user sets
# another number: nothing else happens in that time.
# Fails if: layer_turn() continues with writes while reads wait, layer_deadline() is
# that of reads only, layer_held() is not asked when a request ends, or
# policy_tuned() does not call flash_resume().

# shellcheck source=tests/vm/lib/order.sh
. lib/order.sh

begin() {
	hold_add
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 1
	tun "$DISK" read_expire_ms 0
	tun "$DISK" write_expire_ms 0
	sched_new "$DISK"
	trace_start block_rq_issue "$DISK"
	read_one "$DISK" 0
	await "$DISK" inflight 1
	COUNT=1
}

begin
arrive w 10000 9000
arrive r 50 30
finish "reads first" "30 50 10000 9000"

begin
tun "$DISK" batch_read 3
tun "$DISK" batch_write 2
arrive w 10000 9000 8800
arrive r 50 30 90 70 10
finish "three reads, two writes" "50 10 30 10000 9000 70 90 8800"

begin
tun "$DISK" write_expire_ms 1
arrive w 10000
arrive r 50 30
pause 0.1
finish "the write has expired" "10000 50 30"

# Pages of 4 KiB on four chips. The request in the device is on none: it was there before the
# layout.
begin
tun "$DISK" layout "page=4096 chips=4"
tun "$DISK" per_layer 1
is "layers" "$(stat_of "$DISK" layers)" 4
arrive r 4 8 12 2 6 15
finish "chips in turn" "4 2 15 8 6 12"

# 18 reads of 512 KiB, each of which counts as 64: 16 are in the device, as 64 pieces of
# 16 KiB.
hold_add max_kb=512
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 0
sched_new "$DISK"
for ((n = 0; n < 18; n++)); do
	dd if="/dev/$DISK" of=/dev/null bs=512k count=1 skip=$((2 * n)) \
		iflag=direct status=none &
	READERS+=($!)
done
await "$DISK" inserted 18
await "$DISK" inflight 16
is "pieces" "$(stat_of "$DISK" read_pieces)" 64
is "bound" "$(stat_of "$DISK" pieces_bound)" 64
stays "$DISK" dispatched 16
# A write of 512 KiB has room beside them.
dd if=/dev/zero of="/dev/$DISK" bs=512k count=1 seek=40 oflag=direct \
	status=none &
READERS+=($!)
await "$DISK" dispatched 17
is "pieces of writes" "$(stat_of "$DISK" write_pieces)" 16
let_go 1
await "$DISK" dispatched 18
stays "$DISK" inflight 17
tun "$DISK" mode paper
await "$DISK" inflight 18
is "finished so far" "$(stat_of "$DISK" completed)" 1
let_go -1
readers_done
assert_idle "$DISK"

let_go 0
tun "$DISK" mode auto
for ((n = 0; n < 18; n++)); do
	dd if="/dev/$DISK" of=/dev/null bs=512k count=1 skip=$((2 * n)) \
		iflag=direct status=none &
	READERS+=($!)
done
await "$DISK" inflight 16
await "$DISK" queued 2
tun "$DISK" max_inflight 17
await "$DISK" inflight 17
let_go -1
readers_done
assert_idle "$DISK"
sched_set "$DISK" none
flashsim_del
