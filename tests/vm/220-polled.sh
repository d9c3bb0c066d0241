# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 20 s
#
# Requests to poll queues complete only when their owner polls. They must hold
# no slot, or a task that stops polling stops the device; and they must not
# merge, because only the first bio of a request learns where to poll.
#
# Fails if flash_take() counts requests of poll queues, if flash_issue_first()
# waits for them, or if elv_dispatch_request() does not kick after one (first
# part); or if flash_allow_merge() lets REQ_POLLED pass (second part).

has_uring || skip "fio cannot use io_uring here"

# A poller that is stopped with requests in flight; with fewer driver tags than
# requests some of them are stuck between the scheduler and the driver.
stopped() {
	local poller block tags=$1
	shift
	null_add stopped irqmode=2 completion_nsec=1000000 size=64 \
		poll_queues=1 hw_queue_depth="$tags"
	sched_new "$DISK"
	tun "$DISK" max_inflight 2
	# A poll finishes all that the driver has; there must be more behind it.
	echo 64 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests"
	fio --output="$TMP/poller" --eta=never --name=p \
		--filename="/dev/$DISK" --ioengine=io_uring --hipri --direct=1 \
		--rw=randread --bs=4k --iodepth=48 --time_based --runtime=60 "$@" &
	poller=$!
	soon 30 polling || fail "no request went to the poll queue"
	pkill -STOP fio
	pause 0.2
	say "stopped, $(tr -s ' ' <"/sys/block/$DISK/inflight") in the driver"
	stats "$DISK"
	for block in 1 2 3 4; do
		timeout $((10 * ${LAB_SLOW:-1})) dd if="/dev/$DISK" of=/dev/null bs=4k count=1 \
			skip=$((block * 999)) iflag=direct status=none ||
			fail "read $block waits for a task that does not poll"
	done
	pkill -CONT fio
	pkill -INT fio
	wait "$poller"
	assert_idle "$DISK"
	null_del stopped
}
# shellcheck disable=SC2317  # soon calls it
polling() { (($(stat_of "$DISK" polled) > 100)); }
stopped 64
stopped 8
stopped 8 --prioclass=1 --prio=0

# A polled read waits; the block before it is read the ordinary way. How long the
# disk has to take depends on how busy the machine is.
# shellcheck disable=SC2317  # soon calls it
waiting() { counter_is "$DISK" queued "$1" || counter_is "$DISK" inflight 0; }
merging() {
	local ms=$1 p late=0
	hold_timed held "$ms" poll_queues=1
	sched_new "$DISK"
	tun "$DISK" max_inflight 1
	read_one "$DISK" 1000
	await "$DISK" inflight 1
	fio --output="$TMP/polled" --eta=never --name=p --filename="/dev/$DISK" \
		--ioengine=io_uring --hipri --direct=1 --rw=read --bs=4k \
		--offset=4k --size=4k --io_size=4k --iodepth=1 &
	p=$!
	soon $((ms / 1000 + 2)) waiting 1
	counter_is "$DISK" queued 1 || late=1
	# A merge leaves it at one, too; else the first read was over.
	((late)) || read_one "$DISK" 0
	((late)) || soon 10 waiting 2
	((late)) || counter_is "$DISK" queued 2 || late=1
	is "polled requests merged" "$(stat_of "$DISK" merged)" 0
	readers_done
	wait "$p" || fail "the polled read failed: $(tail -n 3 "$TMP/polled")"
	assert_idle "$DISK"
	null_del held
	((late == 0))
}
for ms in 1500 4500 12000 30000; do
	merging "$ms" && break
	say "$ms ms were too short"
	((ms < 30000)) || fail "the machine is too slow"
done
