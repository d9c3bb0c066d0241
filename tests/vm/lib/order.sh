# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Checks the order of issue of requests that are inserted while the held device has
# the first one. A case sources this file itself, and sets COUNT to 1 when the first
# one is there.

# arrive r|w BLOCK... - one after the other, from all processors in turn
arrive() {
	local way=$1 block
	shift
	for block; do
		if [[ $way == r ]]; then
			read_one "$DISK" "$block" taskset -c $((COUNT % $(cpus)))
		else
			dd if=/dev/zero of="/dev/$DISK" bs=4k count=1 \
				seek="$block" oflag=direct conv=notrunc \
				status=none &
			READERS+=($!)
		fi
		COUNT=$((COUNT + 1))
		await "$DISK" inserted $COUNT
	done
}

# finish WHAT WANT - dispatches all of them and compares their order of issue with WANT
finish() {
	local got
	is "issued while the first one is held" "$(stat_of "$DISK" dispatched)" 1
	let_go -1
	readers_done
	trace_stop "$TMP/trace"
	assert_idle "$DISK"
	arrays "$DISK"
	got=$(issued 8 "$TMP/trace")
	is "order of issue, $1" "$got" "0 $2 "
	sched_set "$DISK" none
	flashsim_del
}
