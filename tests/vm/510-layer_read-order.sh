# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034
# for: layer_read
# takes: 45 s
# limit: 300 s
#
# Proves: the order of issue in mode paper, one request at a time, on a device that
# ends nothing until all requests are there: sub-layers in turns of per_layer reads,
# each by address, batches of reads and of writes, writes in order of arrival,
# deadlines; whatever the hardware queue of a request.
# The requests are those of tests/unit/test_layer_paper.c, farther apart: of two chips
# there are four sub-layers, blocks 0 to 4096 are in the first, 4097 to 8192 in the
# second.
# Fails if: layer_choose() does not look at per_layer, layer_turn_full() not at batch, or
# layer_paper_read() does not look at the oldest read of the sub-layer.

# shellcheck source=tests/vm/lib/order.sh
. lib/order.sh

# The first request is in the device and counts in no turn: a change of mode resets
# the turns.
begin() {
	hold_add nr_hw_queues="${QUEUES:-1}"
	sched_set "$DISK" "$SCHED"
	tun "$DISK" chips 2
	tun "$DISK" max_inflight 1
	tun "$DISK" read_expire_ms 0
	tun "$DISK" write_expire_ms 0
	sched_new "$DISK"
	trace_start block_rq_issue "$DISK"
	read_one "$DISK" 0
	await "$DISK" inflight 1
	tun "$DISK" mode paper
	is "layers" "$(stat_of "$DISK" layers)" 4
	is "sectors of a layer" "$(stat_of "$DISK" layer_sectors)" 32769
	COUNT=1
}

some() {
	arrive r 50 30 90 5000 4500
	arrive w 10000 9000
}

for QUEUES in 1 2; do
	begin
	some
	is "reads that wait in layer 0" "$(arrays "$DISK" |
		grep -c '^layer0 waiting 3 ')" 1
	is "reads that wait in layer 1" "$(arrays "$DISK" |
		grep -c '^layer1 waiting 2 ')" 1
	finish "$QUEUES hardware queues" "30 50 90 4500 5000 10000 9000"
done
QUEUES=1

begin
tun "$DISK" batch_read 4
some
finish "batch_read 4" "30 50 90 4500 10000 9000 5000"

begin
tun "$DISK" per_layer 2
some
finish "per_layer 2" "30 50 4500 5000 90 10000 9000"

begin
tun "$DISK" sort big
some
finish "big ones first, all alike" "50 30 90 5000 4500 10000 9000"

# All have expired: order of arrival within each sub-layer.
begin
tun "$DISK" read_expire_ms 1
some
pause 0.1
finish "all have expired" "50 30 90 5000 4500 10000 9000"

# Only the first one has.
late=$((8000 * ${LAB_SLOW:-1}))
((late <= 60000)) || late=60000
begin
tun "$DISK" read_expire_ms $late
arrive r 90
sleep $((late / 1000 + 1))
arrive r 30 50 5000 4500
arrive w 10000
finish "90 has expired" "90 30 50 4500 5000 10000"

# 20 reads of one sub-layer and 25 writes.
begin
reads=() writes=()
for ((n = 1; n <= 20; n++)); do reads+=($((n * 10))); done
for ((n = 1; n <= 25; n++)); do writes+=($((16000 - n * 10))); done
arrive r "${reads[@]}"
arrive w "${writes[@]}"
finish "16 reads, 20 writes, 4 reads, 5 writes" \
	"${reads[*]:0:16} ${writes[*]:0:20} ${reads[*]:16} ${writes[*]:20}"
