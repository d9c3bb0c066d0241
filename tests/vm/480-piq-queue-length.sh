# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: piq
# takes: 45 s
# limit: 240 s
#
# Proves: the paper's modes look at no more than queue_length waiting requests: one
# beyond it does not join a batch with chips that it would fit. Those that are out do
# not count, and all are served.
# Fails if: piq_turns_admit() does not look at queue_length, or piq_turns_dispatch()
# does not count down the requests inside (nothing is dispatched any more).

order() {
	local length=$1 want=$2 n=0 chip got
	hold_add channels=4 ways=1 dies=1 page_kb=4
	sched_set "$DISK" "$SCHED"
	tun "$DISK" layout "page=4096 chips=4"
	tun "$DISK" mode piq
	tun "$DISK" queue_length "$length"
	sched_new "$DISK"
	trace_start block_rq_issue "$DISK"
	# Three for chip 0, then one for chip 1; the block identifies the number.
	for chip in 0 0 0 1; do
		read_one "$DISK" $((4 * n + chip))
		await "$DISK" inserted $((n + 1))
		n=$((n + 1))
	done
	is "finished so far" "$(stat_of "$DISK" completed)" 0
	let_go -1
	readers_done
	trace_stop "$TMP/trace"
	assert_idle "$DISK"
	sched_set "$DISK" none
	flashsim_del
	got=$(issued 32 "$TMP/trace")
	is "order of issue with queue_length $length" "$got" "$want "
}
# Inside it joins the batch that is out; outside it waits for one that is inside to go,
# or for all.
order 3 "0 3 1 2"
order 2 "0 1 3 2"
order 1 "0 1 2 3"

flashsim_add size_mb=16 channels=8 ways=2 page_kb=4 t_read_ns=500000 \
	t_prog_ns=1000000
sched_set "$DISK" "$SCHED"
tun "$DISK" layout "page=4096 chips=16"
for mode in noop rws piq_r piq_w piq; do
	tun "$DISK" mode $mode
	for length in 1 5 512; do
		tun "$DISK" queue_length $length
		sched_new "$DISK"
		run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio \
			--iodepth=32 --thread=1 --rw=randrw --bs=4k --size=256k \
			--verify=crc32c --verify_fatal=1 --name=a \
			--name=b --offset=8m
		assert_idle "$DISK"
		# What is out does not count.
		holds "$(stat_of "$DISK" peak_inflight) > 1" \
			"mode $mode, queue_length $length: in flight"
		is "stuck" "$(stat_of "$DISK" stuck)" 0
	done
done
sched_set "$DISK" none
flashsim_del
