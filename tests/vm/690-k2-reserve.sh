# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: k2
# takes: 20 s
# limit: 180 s
#
# Proves: with a slot reserved, best effort takes all others and no more, a real-time
# request is dispatched at once although nothing has ended, and its slot is reserved again
# after it; lowering the reserve dispatches waiting requests at once; by cost, requests of
# equal size take the same as by number until costs are known; best effort waits while a
# real-time request is in the device, if that is set, and is dispatched when it ends, though
# nothing else happens; and a cap on starvation lets best effort be dispatched under
# real-time requests that wait. On one hardware queue and on two.
# Fails if: k2_admit_only_rt() does not look at the reserve, flash_resume() runs nothing,
# k2_watch_insert() does not clear fq->held, k2_holds() does not call k2_be_waits(),
# k2_admit_release() leaves a request's slots in load, or k2_watch_pick() never calls
# k2_admit_be_due().

kept() {
	local queues=$1 n
	hold_add nr_hw_queues="$queues"
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 4
	tun "$DISK" reserve 1
	tun "$DISK" bound_unit "$2"
	sched_new "$DISK"
	for ((n = 0; n < 7; n++)); do
		read_one "$DISK" $((n * 100)) taskset -c $((n % $(cpus)))
	done
	await "$DISK" inserted 7
	stays "$DISK" dispatched 3
	read_one "$DISK" 5000 ionice -c1 -n0
	await "$DISK" dispatched 4
	is "real-time requests that went" "$(stat_of "$DISK" served_rt)" 1
	is "finished so far" "$(reads_done "$DISK")" 0
	# The next real-time request has to wait now, whatever the submitter.
	read_one "$DISK" 5100 ionice -c1 -n0
	await "$DISK" inserted 9
	stays "$DISK" dispatched 4
	let_go 1
	await "$DISK" dispatched 5
	is "real-time requests that went" "$(stat_of "$DISK" served_rt)" 2
	let_go 1
	# Best effort's are less than three now.
	await "$DISK" dispatched 6
	tun "$DISK" max_inflight 8
	await "$DISK" dispatched 9
	let_go -1
	readers_done
	assert_idle "$DISK"
	is "slots taken at rest" "$(stat_of "$DISK" load_x16)" 0
	flashsim_del
}
kept 1 requests
kept 2 requests
kept 2 cost

# A lower reserve.
hold_add nr_hw_queues=2
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 4
tun "$DISK" bound_unit requests
tun "$DISK" reserve 3
sched_new "$DISK"
for ((n = 0; n < 6; n++)); do
	read_one "$DISK" $((n * 100)) taskset -c $((n % $(cpus)))
done
await "$DISK" inserted 6
stays "$DISK" dispatched 1
tun "$DISK" reserve 1
await "$DISK" dispatched 3
tun "$DISK" reserve 0
await "$DISK" dispatched 4
stays "$DISK" dispatched 4
let_go -1
readers_done
assert_idle "$DISK"

# Alone in the device: one request of best effort waits for its end, then two, then three.
tun "$DISK" max_inflight 8
tun "$DISK" rt_alone 1
sched_new "$DISK"
let_go 0
inserted=0
for waiting in 1 2 3; do
	read_one "$DISK" 0 ionice -c1 -n0
	await "$DISK" dispatched $((++inserted))
	for ((n = 1; n <= waiting; n++)); do
		read_one "$DISK" $((n * 100)) taskset -c $((n % $(cpus)))
	done
	await "$DISK" inserted $((inserted + waiting))
	stays "$DISK" dispatched "$inserted"
	let_go 1
	await "$DISK" dispatched $((inserted += waiting))
	let_go "$waiting"
	readers_done
done
is "best effort that went" "$(stat_of "$DISK" served_nrt)" 6
is "slots taken at rest" "$(stat_of "$DISK" load_x16)" 0
tun "$DISK" rt_alone 0

# The cap on starvation: one real-time request in the device, others and one of best
# effort wait, which has done so for long when a slot is free.
tun "$DISK" max_inflight 1
tun "$DISK" nrt_wait_ms 50
sched_new "$DISK"
let_go 0
trace_start block_rq_issue "$DISK"
echo 1 >"$TRACING/events/$SCHED/flash_dispatch/enable"
read_one "$DISK" 0 ionice -c1 -n0
await "$DISK" dispatched 1
read_one "$DISK" 100
await "$DISK" inserted 2
for ((n = 2; n < 5; n++)); do
	read_one "$DISK" $((n * 100)) ionice -c1 -n0
done
await "$DISK" inserted 5
for ((n = 0; n < 10; n++)); do
	nap
done
let_go 1
await "$DISK" dispatched 2
is "best effort that went" "$(stat_of "$DISK" served_nrt)" 1
is "its turns" "$(stat_of "$DISK" nrt_turns)" 1
let_go -1
readers_done
trace_stop "$TMP/trace"
echo 0 >"$TRACING/events/$SCHED/flash_dispatch/enable"
is "reason nrt_turn" "$(grep -c ' flash_dispatch: .* why nrt_turn$' "$TMP/trace")" 1
assert_idle "$DISK"
flashsim_del
