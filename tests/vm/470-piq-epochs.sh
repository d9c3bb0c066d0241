# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: piq
# takes: 30 s
#
# Proves: the order of issue in each mode of the paper, on a device of four chips
# that ends nothing until all requests are there: batches, turns of reads and
# writes, and FIFOs with a head that waits for its chips.
# The requests are those of the paper's figures 6 and 7 behind one on all chips;
# tests/unit/test_piq_batch.c has the same on a model.
# Fails if: flash_batches_add() joins the last batch instead of the first one that
# fits, piq_turn() looks at the last batch of its list instead of last_batch, or
# piq_turns_next() begins with the direction that had its turn before.

# one r|w NUMBER FIRST CHIPS - a request on CHIPS chips; its sector identifies its number
one() {
	local at=$(((4 * $2 + $3) * 4096))
	if [[ $1 == r ]]; then
		dd if="/dev/$DISK" of=/dev/null bs=$(($4 * 4096)) count=1 \
			iflag=direct,skip_bytes skip=$at status=none &
	else
		dd if=/dev/zero of="/dev/$DISK" bs=$(($4 * 4096)) count=1 \
			oflag=direct,seek_bytes seek=$at conv=notrunc status=none &
	fi
	READERS+=($!)
	await "$DISK" inserted $(($2 + 1))
}

order() {
	local mode=$1 want=$2 got
	hold_add channels=4 ways=1 dies=1 page_kb=4 t_read_ns=1000000 \
		t_prog_ns=1000000
	sched_set "$DISK" "$SCHED"
	tun "$DISK" layout "page=4096 chips=4"
	tun "$DISK" mode "$mode"
	sched_new "$DISK"
	trace_start block_rq_issue "$DISK"
	one r 0 0 4
	one r 1 2 2
	one r 2 1 2
	one r 3 0 2
	one w 4 2 2
	one w 5 1 2
	one w 6 0 2
	is "issued while the first one is held" "$(stat_of "$DISK" dispatched)" 1
	let_go -1
	readers_done
	trace_stop "$TMP/trace"
	assert_idle "$DISK"
	is "stuck" "$(stat_of "$DISK" stuck)" 0
	arrays "$DISK"
	sched_set "$DISK" none
	flashsim_del
	got=$(issued 32 "$TMP/trace")
	is "order of issue, mode $mode" "$got" "$want "
}

order noop "0 1 2 3 4 5 6"
order rws "0 1 4 5 6 2 3"
order piq_r "0 4 5 6 1 3 2"
order piq_w "0 1 4 6 5 2 3"
order piq "0 4 6 5 1 3 2"
