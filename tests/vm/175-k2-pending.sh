# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2317
# for: k2
# core: yes
# takes: 30 s
# limit: 420 s
#
# Proves: requests are inserted without the scheduler's lock and lose nothing by it.
# - Requests inserted while the device is full are dispatched in order of arrival within
#   their class, real-time ones first, although the list was not drained before.
# - A freed slot dispatches one of them, also during a drain, and also with a part of
#   them on each hardware queue; one that may be dispatched at once is.
# - Bios join them.
# - While K2 watches, a real-time request beside held-back best effort is issued at once.
# - Switches, watching that begins and ends, statistics and nr_requests beside verified load
#   lose nothing.
# - On a kernel that counts locks, the lock is taken at most half as often as
#   mq-deadline's.
# Fails if: flash_ready() does not ask flash_pending_any(), flash_pending_take() does not reverse
# the list, elv_dispatch_request() or elv_bio_merge() does not call it, flash_pending_any()
# does not look at taking, flash_run() does not call flash_find_pending(), flash_pending_add()
# does not look at watches, flash_store_del() leaves a request's seams, or one that has
# grown is not expected to be joined where it ends now.
#
# Reading stats drains the pending list: so only trace events and values that are read
# without the lock show here how far it is.

# come NUMBER - until NUMBER requests have a tag: they reach the pending list soon after.
# Events of insertion would have the lock taken.
come() {
	has_come() { (($(grep -c ' block_getrq: ' "$TRACING/trace") >= $1)); }
	soon 20 has_come "$1" || fail "request $1 does not come"
	nap
}
# gone NUMBER - until NUMBER requests have been issued
gone() {
	has_gone() { (($(grep -c ' block_rq_issue: ' "$TRACING/trace") >= $1)); }
	soon 20 has_gone "$1" || fail "request $1 does not come to the device, $2"
}
# device QUEUES [NOMERGES] - one that is held, with a bound of 1, and a request in it, for
# which a write to its attributes would wait (from 6.12 on)
device() {
	hold_add nr_hw_queues="$1"
	echo "${2-2}" >"/sys/block/$DISK/queue/nomerges"
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 1
	sched_new "$DISK"
	trace_start block_getrq,block_rq_issue,block_bio_backmerge,block_bio_frontmerge "$DISK"
	read_one "$DISK" 0
	gone 1 "which is empty"
}
# end - all of them end
end() {
	let_go -1
	readers_done
	assert_idle "$DISK"
}

# Order: two tasks send 24 each from lower to higher addresses, best effort first.
for queues in 1 2; do
	device "$queues"
	n=1
	for class in "-c2 -n4" "-c1 -n2"; do
		# shellcheck disable=SC2086
		ionice $class fio --output="$TMP/order.$n" --name=order \
			--filename="/dev/$DISK" --rw=read --bs=4k --direct=1 \
			--ioengine=libaio --iodepth=24 --number_ios=24 --thread \
			--offset=$((n * 16))m --size=16m --aux-path="$TMP" &
		READERS+=($!)
		come $((1 + n * 24))
		n=$((n + 1))
	done
	let_go -1
	readers_done
	trace_stop "$TMP/trace"
	# Block numbers of 4 KiB: best effort's begin at 4096, real-time ones at 8192.
	grep " block_rq_issue: " "$TMP/trace" >"$TMP/issue"
	issued 8 "$TMP/issue" | tr ' ' '\n' | grep . >"$TMP/issue.all"
	awk '$1 >= 8192' "$TMP/issue.all" >"$TMP/issue.rt"
	awk '$1 >= 4096 && $1 < 8192' "$TMP/issue.all" >"$TMP/issue.be"
	for class in rt be; do
		is "$class requests that were issued" "$(wc -l <"$TMP/issue.$class")" 24
		is "order of issue of $class, $queues hardware queues" \
			"$(tr '\n' ' ' <"$TMP/issue.$class")" \
			"$(sort -n "$TMP/issue.$class" | tr '\n' ' ')"
	done
	is "order of issue of classes" "$(awk '
		$1 { class = $1 < 4096 ? "first" : $1 < 8192 ? "be" : "rt"
		     if (class != last) printf "%s ", class
		     last = class }
		$1 == 0 { printf "first "; last = "first" }' "$TMP/issue.all")" \
		"first rt be "
	assert_idle "$DISK"
	flashsim_del
done

# Slots are released one by one: each lets a waiting request be dispatched that no drain
# has seen yet, from each processor in turn; every other time while statistics are read.
device 2
for ((n = 1; n <= 20; n++)); do
	read_one "$DISK" $((n * 100)) taskset -c $((n % $(cpus)))
	come $((n + 1))
	with=
	if ((n % 2)); then
		with="while it was taken in"
		stat_get "$DISK" inserted &
		looker=$!
		for ((m = 0; m < n % 5; m++)); do nap; done
	fi
	let_go 1
	gone $((n + 1)) "$with"
	[[ -z $with ]] || wait "$looker"
done
end
trace_stop "$TMP/trace"
is "dispatched" "$(stat_of "$DISK" dispatched)" 21
flashsim_del

# joined NUMBER - until NUMBER bios have joined a request
joined() {
	has_joined() { (($(grep -cE ' block_bio_(back|front)merge: ' "$TRACING/trace") >= $1)); }
	soon 20 has_joined "$1" || fail "merged is less than $1"
}

# Bios merge with requests that no drain has seen yet, at both ends and between two.
device 1 0
read_one "$DISK" 100
come 2
read_one "$DISK" 102
come 3
# ... then where one has grown, and where two have become one.
n=0
for block in 103 104 99 98 101 105; do
	read_one "$DISK" $block
	joined $((++n))
done
is "merged" "$(stat_of "$DISK" merged)" 6
is "absorbed" "$(stat_of "$DISK" absorbed)" 1
end
trace_stop "$TMP/trace"
is "issued" "$(issued_sizes 8 <(grep block_rq_issue "$TMP/trace"))" "0+1 98+8 "
flashsim_del

# A real-time request while best effort is held back for it.
device 2
let_go -1
readers_done
assert_idle "$DISK"
let_go 0
tun "$DISK" max_inflight 2
tun "$DISK" reserve 1
trace_start block_getrq,block_rq_issue "$DISK"
read_one "$DISK" 0
gone 1 "which is empty"
read_one "$DISK" 100
come 2
read_one "$DISK" 5000 ionice -c1 -n0
gone 2 "real-time beside what is held back"
is "issued" "$(issued 8 <(grep block_rq_issue "$TRACING/trace"))" "0 5000 "
tun "$DISK" reserve 0
end
trace_stop "$TMP/trace"
flashsim_del

# All at once.
main_disk
rivals "$DISK"
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 4
load_start "$DISK" --name=c --direct=0 --ioengine=psync --fsync=8 --offset=16m \
	--size=1m
queue=/sys/block/$DISK/queue
aside() {
	while [[ ! -e $TMP/over ]]; do "$@"; done 2>/dev/null
}
watch() {
	echo $((RANDOM % 2)) >"$queue/iosched/observe"
	echo $((RANDOM % 3)) >"$queue/iosched/reserve"
	echo "page=4096 chips=$((RANDOM % 8 + 1))" >"$queue/iosched/layout"
	nap
	echo none >"$queue/iosched/layout"
	echo $((RANDOM % 8 + 1)) >"$queue/iosched/max_inflight"
}
look() { [[ -n $(<"$queue/iosched/stats") && -n $(<"$ARRAYS") ]]; }
depth() {
	nap
	echo $((RANDOM % 200 + 8)) >"$queue/nr_requests"
}
asides=()
for name in watch look depth; do
	aside $name &
	asides+=($!)
done
for ((n = 0; n < 60; n++)); do
	sched_try "$DISK" "${RIVALS[n % ${#RIVALS[@]}]}" ||
		fail "a switch failed: $TRY_SAID"
	load_alive
	((n % 3)) || pause 0.1
done
sched_set "$DISK" "$SCHED"
further=$(ios "$DISK")
goes_on() { (($(ios "$DISK") > further + 50)); }
soon 30 goes_on || fail "the load stands still"
: >"$TMP/over"
wait "${asides[@]}"
load_stop
assert_idle "$DISK"
for pair in observe=0 reserve=0 layout=none max_inflight=32; do
	tun "$DISK" "${pair%%=*}" "${pair#*=}"
done
sched_set "$DISK" none
depth_reset "$DISK"

# How often the lock is taken.
if [[ ! -w /proc/lock_stat ]]; then
	say "this kernel does not count locks"
	exit 0
fi
is "events of insertion" "$(<"$TRACING/events/block/block_rq_insert/enable")" 0
LOCKS_SCHEDULERS="mq-deadline $SCHED" LOCKS_IOS=1000 LOCKS_BOUND=32 \
	bash lib/locks-guest.sh >"$TMP/locks" || fail "locks cannot be counted"
declare -A TAKEN=() READS=()
while read -r name taken reads; do
	TAKEN[$name]=$taken READS[$name]=$reads
	say "$name: its own locks $taken times for $reads reads"
done < <(awk '
	$2 == "begin" { name = $3; reads = $4; taken = 0 }
	$2 == "line" && $3 ~ /^&(dd->(zone_)?lock|fq->lock)(#[0-9]+)?:$/ {
		taken += $11
	}
	$2 == "end" { print name, taken, reads }' "$TMP/locks")
is "schedulers" "${#TAKEN[@]}" 2
holds "${TAKEN[$SCHED]} > 0"
holds "2 * ${TAKEN[$SCHED]} * ${READS[mq-deadline]} <=
	${TAKEN[mq-deadline]} * ${READS[$SCHED]}" "at most half of mq-deadline's"
