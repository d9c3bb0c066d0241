# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: slow
# takes: 2 s, 190 s if slow
# limit: 300 s
#
# Proves: each allocation that is made on behalf of the scheduler may fail. While
# the scheduler is being selected: the disk then has no scheduler or the old one
# and works, and neither memory nor a reference of the module is kept. When
# nr_requests grows: requests without a record are not counted. When hardware
# queues change: the disk has the scheduler or none, and works.
# Fails if: elv_init_sched() does not give the elevator back or flash_queue_init()
# not the disk's values; flash_hctx_init() continues without memory; or
# flash_hctx_resize() frees the old records before it has new ones.
#
# Which allocations: the first one below each function of ours, found by halving the
# list of functions. /proc/PID/fail-nth would count the block layer's, too; some of
# those lose the module's reference on 6.1, by no fault of ours, and then the case
# could not judge ours.

fault=/sys/kernel/debug/failslab
[[ -e $fault/require-start && -e /proc/self/make-it-fail ]] ||
	skip "needs a kernel that injects faults: scripts/check --kernel debug"

modprobe "$SCHED" || fail "cannot load the module"
read -r _ size _ _ _ base _ < <(grep "^$SCHED " /proc/modules)

# symbol NAME - sets FIRST and BEHIND to where a function of the kernel is
symbol() {
	read -r FIRST BEHIND < <(awk -v name="$1" '
		found && $1 != at { print "0x" at, "0x" $1; exit }
		$3 == name && $4 == "" { at = $1; found = 1 }' /proc/kallsyms)
	[[ -n $FIRST ]]
}

echo 1 >$fault/task-filter
echo 0 >$fault/ignore-gfp-wait
echo 1 >$fault/interval
echo 0 >$fault/verbose
echo 32 >$fault/stacktrace-depth
echo 0 >$fault/reject-start
echo 0 >$fault/reject-end
# 6.1 gives the reference back with the object that this makes, or never.
if ! kernel_at_least 6.2 && symbol elevator_alloc; then
	echo "$FIRST" >$fault/reject-start
	echo "$BEHIND" >$fault/reject-end
fi

# inject FIRST BEHIND PERCENT FILE TEXT - writes TEXT, and the first allocation,
# or one of them, fails that is made below code in that range. Sets HIT to how many
# did, and STATUS to that of the writer.
inject() {
	printf '%#x' "$1" >$fault/require-start
	printf '%#x' "$2" >$fault/require-end
	echo 1 >$fault/times
	echo "$3" >$fault/probability
	(
		echo 1 >/proc/self/make-it-fail
		echo "$5" >"$4"
	) 2>"$TMP/said"
	STATUS=$?
	echo 0 >$fault/probability
	read -r HIT <$fault/times
	HIT=$((1 - HIT))
}

read_some() {
	dd if="/dev/$DISK" of=/dev/null bs=4k count=4 iflag=direct status=none ||
		fail "cannot read $1"
}

# none_left WHAT - the module has no users, nothing of the disk is in its file
none_left() {
	local shown
	users
	((USERS == 0)) || fail "$USERS users of the module are left $1"
	IFS= read -r -d '' shown <"$ARRAYS"
	[[ $'\n'$shown != *$'\n'"disk $DISK"[[:space:]]* ]] ||
		fail "its file shows the disk $1"
}

# selected WHAT OLD - what has to be so after it was selected with a fault
selected() {
	sched_now "$DISK"
	if ((STATUS)); then
		[[ $NOW == none || $NOW == "$2" ]] ||
			fail "$1: failed, and $DISK has $NOW"
		none_left "after $1"
	else
		[[ $NOW == "$SCHED" ]] || fail "$1: succeeded, but $DISK has $NOW"
	fi
}

# So few tags that the records of a hardware queue fit into a page: what does not is
# asked of vmalloc() if it fails. And requests take a while, or one would be over
# before the next one needs a tag, on a slow guest.
add_disk() {
	null_add allocs memory_backed=1 size=64 submit_queues=2 \
		hw_queue_depth=2 irqmode=2 completion_nsec=5000000
}
add_disk
file=/sys/block/$DISK/queue/scheduler
none_left "before the first time"

inject "$base" $((base + size)) 100 "$file" "$SCHED"
holds "$HIT && $STATUS" "the first allocation fails, the switch does"
selected "the very first allocation" none

# A disk that is not known yet needs memory to be remembered.
for ((n = 0; n < 5; n++)); do
	null_del allocs
	add_disk
	file=/sys/block/$DISK/queue/scheduler
	inject "$base" $((base + size)) 40 "$file" "$SCHED"
	selected "an allocation for a new disk" none
	sched_set "$DISK" none
	none_left "after an allocation for a new disk"
done

mapfile -t functions < <(awk -v module="[$SCHED]" \
	'$2 ~ /^[tT]$/ && $4 == module { print "0x" $1, $3 }' /proc/kallsyms | sort)
# They begin at the places AT, the last one being the module's end.
mapfile -t AT < <(printf '%s\n' "${functions[@]%% *}" $((base + size)))
ranges=("0 ${#functions[@]}")
sites=()
for ((tries = 0; ${#ranges[@]}; tries++)); do
	read -r first behind <<<"${ranges[-1]}"
	unset "ranges[-1]"
	inject "${AT[first]}" "${AT[behind]}" 100 "$file" "$SCHED"
	((HIT || STATUS == 0)) || fail "fails without a fault: $(<"$TMP/said")"
	selected "a fault below functions $first to $behind" none
	if ((HIT && behind - first > 1)); then
		middle=$(((first + behind) / 2))
		ranges+=("$middle $behind" "$first $middle")
	elif ((HIT)); then
		sites+=("$first")
		say "below ${functions[first]#* }: status $STATUS"
		read_some "after a fault below ${functions[first]#* }"
	fi
	sched_set "$DISK" none
	none_left "after functions $first to $behind"
done
say "$tries tries among ${#functions[@]} functions"
holds "${#sites[@]} >= 5" "functions of the module below which memory is taken"

# Any of them, and the second hardware queue's, with another scheduler before.
failed=0
for ((n = 0; n < 8; n++)); do
	sched_set "$DISK" mq-deadline
	inject "$base" $((base + size)) 30 "$file" "$SCHED"
	selected "one of the allocations" mq-deadline
	failed=$((failed + (STATUS != 0)))
	sched_set "$DISK" none
	none_left "after one of the allocations"
done
say "$failed of $n switches failed"
holds "$failed > 0"

# The kernel's steps after the scheduler is initialized. Their messages must not
# reach the console, where they would count as a report.
if symbol elv_register_queue; then
	dmesg -n 1
	failed=0
	for ((n = 0; n < 8; n++)); do
		inject "$FIRST" "$BEHIND" 30 "$file" "$SCHED"
		failed=$((failed + (STATUS != 0)))
		selected "the kernel's registration" none
		read_some "after the kernel's registration"
		sched_set "$DISK" none
		none_left "after the kernel's registration"
	done
	dmesg -n 8
	say "$failed of $n switches failed when the kernel registers them"
fi

# nr_requests grows without memory for records. A switch makes the table small
# again, else there would be room.
queue=/sys/block/$DISK/queue
hit=0
untracked=0
for ((n = 0; n < 3; n++)); do
	sched_new "$DISK"
	inject "$base" $((base + size)) $((n % 2 ? 50 : 100)) \
		"$queue/nr_requests" 7
	is "status of a larger nr_requests" $STATUS 0
	before=$(stat_of "$DISK" untracked)
	run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio \
		--iodepth=90 --thread=1 --rw=randrw --bs=4k --size=512k \
		--verify=crc32c --verify_fatal=1 \
		--name=a --cpus_allowed=0 --name=b --cpus_allowed=1 --offset=8m
	assert_idle "$DISK"
	((HIT)) || { is "untracked" "$(stat_of "$DISK" untracked)" 0; continue; }
	hit=$((hit + 1))
	untracked=$((untracked + $(stat_of "$DISK" untracked) - before))
	# The next time there is memory.
	echo $((8 + n)) >"$queue/nr_requests" || fail "nr_requests"
	before=$(stat_of "$DISK" untracked)
	run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio \
		--iodepth=90 --thread=1 --rw=randread --bs=4k --size=1m --name=c
	assert_idle "$DISK"
	is "untracked with records" "$(stat_of "$DISK" untracked)" "$before"
done
holds "$hit > 1" "tables did not grow"
holds "$untracked > 0" "requests without records"

# change_queues INJECT... - the number of hardware queues changes with a fault
change_queues() {
	local now
	sched_set "$DISK" none
	echo 1 >"$NULLB/allocs/submit_queues" || fail "cannot have one queue"
	sched_set "$DISK" "$SCHED"
	"$@" "$NULLB/allocs/submit_queues" 2
	now=$(sched_get "$DISK")
	[[ $now == "$SCHED" || $now == none ]] ||
		fail "$DISK has $now after its queues have changed"
	((HIT)) || is "scheduler without a fault" "$now" "$SCHED"
	read_some "with other queues"
	[[ $now != "$SCHED" ]] || assert_idle "$DISK"
	sched_set "$DISK" none
	none_left "after a change of queues"
}
hit=0
for n in "${sites[@]}"; do
	change_queues inject "${AT[n]}" "${AT[n + 1]}" 100
	hit=$((hit + HIT))
done
holds "$hit > 1" "changes of queues met a fault"
for n in 1 2 3 4; do
	change_queues inject "$base" $((base + size)) 40
done
sched_set "$DISK" "$SCHED"
run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio --iodepth=16 \
	--thread=1 --rw=randrw --bs=4k --size=1m --verify=crc32c --name=after
assert_idle "$DISK"
