# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: layer_read
# takes: 8 s
#
# Proves: with front_merges=0 a read joins the waiting one that it follows, and
# never the one that it precedes, not even one that has just merged another read;
# with 1 it does, and the merged request then lies where it starts, in another
# sub-layer. A merged request is dispatched once, and by its address.
# Fails if: flash_allow_merge() does not ask policy_front_merges(), or layer_grow()
# leaves a request in the sub-layer that it was in.

# joins BLOCK QUEUED MERGED - the numbers after that read
joins() {
	read_one "$DISK" "$1"
	await "$DISK" queued "$2"
	await "$DISK" merged "$3"
	say "ok: block $1: $2 queued, $3 merged"
}

hold_add
sched_set "$DISK" "$SCHED"
tun "$DISK" chips 2
tun "$DISK" max_inflight 1
tun "$DISK" read_expire_ms 0
tun "$DISK" write_expire_ms 0
tun "$DISK" mode paper
sched_new "$DISK"
trace_start block_rq_issue "$DISK"
read_one "$DISK" 0
await "$DISK" inflight 1
joins 100 1 0
joins 99 2 0		# before 100
joins 101 2 1		# behind 100
joins 98 3 1		# before 99
joins 102 3 2		# behind 101, which was merged last
joins 97 4 2
tun "$DISK" front_merges 1
joins 96 4 3		# before 97
# The second sub-layer begins in the middle of block 4096.
joins 4097 5 3
is "layer 1" "$(arrays "$DISK" | grep -c '^layer1 waiting 1 ')" 1
joins 4096 5 4
is "layer 1" "$(arrays "$DISK" | grep -c '^layer1 waiting 0 ')" 1
is "finished so far" "$(reads_done "$DISK")" 0
let_go -1
readers_done
trace_stop "$TMP/trace"
is "issued" "$(issued_sizes 8 "$TMP/trace")" "0+1 96+2 98+1 99+1 100+3 4096+2 "
assert_idle "$DISK"
