# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions for the cases of schedulers that share a device. A case sources this
# file itself.

GROUPS_DIR=/sys/fs/cgroup

# shellcheck disable=SC2120  # cases give it something
# groups_need [CONTROLLER] - control groups with io, and another one, or skips
groups_need() {
	local one
	# Groups that a failed case has left behind
	rmdir $GROUPS_DIR/lab* 2>/dev/null
	for one in io "$@"; do
		grep -qsw "$one" $GROUPS_DIR/cgroup.controllers ||
			skip "no control groups with $one"
		echo "+$one" >$GROUPS_DIR/cgroup.subtree_control ||
			fail "the controller $one is refused"
	done
}

# group_add NAME - a control group; sets GROUP to its number
GROUP=
group_add() {
	mkdir "$GROUPS_DIR/$1" || fail "no control group $1"
	GROUP=$(stat -c %i "$GROUPS_DIR/$1")
}

# within NAME COMMAND... - runs it in this shell's place, in the group
within() {
	echo $BASHPID >"$GROUPS_DIR/$1/cgroup.procs" || exit 1
	shift
	exec "$@"
}

# send GROUP BLOCK - reads one block of 4 KiB in the background
send() {
	(within "$1" dd if="/dev/$DISK" of=/dev/null bs=4k count=1 skip="$2" \
		iflag=direct status=none) &
	READERS+=($!)
	SENT=$((SENT + 1))
	await "$DISK" inserted $SENT
}

# of_tenants WORDS NUMBER... - what debugfs says of control groups, all at one moment: for
# each word that of every group; 0: it is not there
of_tenants() {
	local words=$1
	shift
	arrays "$DISK" | awk -v of="$*" -v words="$words" '
		$1 == "tenant" && sub("^cgroup:", "", $2) {
			for (i = 3; i < NF; i += 2)
				found[$i, $2] = $(i + 1)
		}
		END {
			n = split(of, who)
			m = split(words, word)
			for (j = 1; j <= m; j++)
				for (i = 1; i <= n; i++)
					printf "%s%s", found[word[j], who[i]] + 0,
						i < n || j < m ? " " : "\n"
		}'
}

# of_tenant NUMBER WORD - the same of one
of_tenant() { of_tenants "$2" "$1"; }

# weight GROUP WEIGHT - sets it
weight() {
	echo "/$1 $2" >"/sys/block/$DISK/queue/iosched/weights" ||
		fail "weights refuses '/$1 $2'"
}

# paced NUMBER ORDER SLACK A B - in an order of issue where blocks from 1000 on are
# B's: after each of the first requests B has had b/a of what A had, give or take
paced() {
	local -a order
	local n a=0 b=0 off worst=0
	read -ra order <<<"$2"
	((${#order[@]} >= $1)) || fail "only ${#order[@]} requests were issued"
	for ((n = 0; n < $1; n++)); do
		if ((order[n] >= 1000)); then
			b=$((b + 1))
		else
			a=$((a + 1))
		fi
		off=$((a * $5 - b * $4))
		((off >= 0)) || off=$((-off))
		((off <= worst)) || worst=$off
	done
	say "of the first $1: $a and $b; never further off than $worst"
	holds "$worst <= $3" "shares of $4 to $5"
}

# shares_in_order SLACK [TUNABLE VALUE]... - two tenants with 24 requests each wait for
# a device that takes one at a time; the weights change while it serves them
shares_in_order() {
	local n order a b slack=$1
	shift
	hold_add channels=4 ways=1 dies=1 page_kb=4 t_read_ns=10000
	group_add labA
	group_add labB
	sched_set "$DISK" "$SCHED"
	weight labA 100
	weight labB 300
	tun "$DISK" charge sectors
	tun "$DISK" max_inflight 1
	tun "$DISK" anticipation 0
	while (($#)); do
		tun "$DISK" "$1" "$2"
		shift 2
	done
	sched_new "$DISK"
	is "weights after a switch" "$(wc -l <"/sys/block/$DISK/queue/iosched/weights")" 2
	SENT=0
	trace_start block_rq_issue "$DISK"
	for ((n = 0; n < 24; n++)); do
		# No neighbours: these would merge.
		send labA $((2 * n))
		send labB $((1000 + 2 * n))
	done
	is "handed over while the first one is held" "$(stat_of "$DISK" dispatched)" 1
	let_go 16
	await "$DISK" dispatched 17
	# Now, as a second after its last request a tenant may be forgotten
	a=$(of_tenant "$(stat -c %i $GROUPS_DIR/labA)" sectors)
	b=$(of_tenant "$(stat -c %i $GROUPS_DIR/labB)" sectors)
	is "sectors of both, labA $a" $((a + b)) $((17 * 8))
	weight labA 300
	weight labB 100
	let_go -1
	readers_done
	trace_stop "$TMP/trace"
	assert_idle "$DISK"
	arrays "$DISK"
	order=$(issued 8 "$TMP/trace")
	say "order: $order"
	is "requests issued" "$(wc -w <<<"$order")" 48
	paced 17 "$order" "$slack" 1 3
	paced 20 "$(cut -d' ' -f18- <<<"$order")" "$slack" 3 1
	sched_set "$DISK" none
	flashsim_del
	rmdir $GROUPS_DIR/labA $GROUPS_DIR/labB || fail "a control group is used"
}

# dying - control groups that were removed and that something still keeps
dying() { awk '$1 == "nr_dying_descendants" { print $2 }' $GROUPS_DIR/cgroup.stat; }

# groups_come_and_go - forty groups, one after the other, each removed while others
# load the device; first with room for one tenant only
groups_come_and_go() {
	local n max before refused
	flashsim_add size_mb=64 channels=4 ways=2 page_kb=4 t_read_ns=100000 \
		t_prog_ns=200000 nr_hw_queues=2
	sched_set "$DISK" "$SCHED"
	before=$(dying)
	for max in 1 256; do
		tun "$DISK" max_tenants $max
		sched_new "$DISK"
		load_start "$DISK" --size=1m --thread=1
		for ((n = 0; n < 20; n++)); do
			group_add "lab$n"
			weight "lab$n" $((n * 50 + 1))
			(within "lab$n" fio --output="$TMP/grouped" --eta=never \
				--filename="/dev/$DISK" --direct=1 \
				--ioengine=libaio --iodepth=8 --rw=randread \
				--bs=4k --offset=32m --size=16m --number_ios=200 \
				--name="g$n" >/dev/null 2>&1) || {
				cat "$TMP/grouped"
				fail "the load of group $n failed"
			}
			# The kernel charges what it holds to the group.
			rm -f "$TMP/grouped"
			rmdir "$GROUPS_DIR/lab$n" || fail "group $n cannot go"
			echo "$GROUP default" >"/sys/block/$DISK/queue/iosched/weights" ||
				fail "the weight of a group that is gone stays"
		done
		load_stop
		assert_idle "$DISK"
		refused=$(stat_of "$DISK" refused_tenants)
		if ((max == 1)); then
			holds "$refused > 0" "some found no room"
		else
			is "who found no room" "$refused" 0
		fi
	done
	# Neither the scheduler nor the kernel keeps a removed group; the kernel
	# keeps the first one for itself, under none as well.
	# shellcheck disable=SC2317  # soon calls it
	forgotten() {
		run_fio --filename="/dev/$DISK" --direct=1 --rw=read --bs=4k \
			--size=64k --name=one
		arrays "$DISK" >/dev/null
		(($(stat_of "$DISK" tenants) <= 8))
	}
	soon 20 forgotten || fail "$(stat_of "$DISK" tenants) tenants stay"
	holds "$(stat_of "$DISK" forgotten_tenants) >= 20" "tenants were forgotten"
	# shellcheck disable=SC2317  # soon calls it
	dead() {
		(($(dying) <= before + 1))
	}
	soon 30 dead ||
		fail "$(dying) removed control groups stay in the kernel, $before before"
	sched_set "$DISK" none
	flashsim_del
}

# switch_with_timers - schedulers are switched while tasks that think wait for each
# other, one at a time: the timer does not outlive what it belongs to
switch_with_timers() {
	local n held=0 pids=() pid
	flashsim_add size_mb=64 channels=4 ways=2 page_kb=4 t_read_ns=100000 \
		t_prog_ns=200000 nr_hw_queues=2 data=none
	rivals "$DISK"
	sched_set "$DISK" "$SCHED"
	tun "$DISK" mode paper
	tun "$DISK" antic_max_us 50000
	rm -f "$TMP/enough"
	for ((n = 0; n < 4; n++)); do
		group_add "lab$n"
		(
			echo $BASHPID >"$GROUPS_DIR/lab$n/cgroup.procs" || exit 1
			until [[ -e $TMP/enough ]]; do
				fio_quiet --filename="/dev/$DISK" --direct=1 \
					--ioengine=psync --rw=randread --bs=4k \
					--thinktime=500 --size=8m --number_ios=100 \
					--name="t$n" || exit 1
			done
		) &
		pids+=($!)
	done
	for ((n = 0; n < 40; n++)); do
		nap
		if has_sched "$DISK"; then
			stat_get "$DISK" holds
			held=$((held + STAT))
		fi
		sched_set "$DISK" "${RIVALS[RANDOM % ${#RIVALS[@]}]}"
		nap
		sched_set "$DISK" "$SCHED"
	done
	: >"$TMP/enough"
	for pid in "${pids[@]}"; do
		wait "$pid" || fail "a task failed, see the log"
	done
	holds "$held > 0" "tasks were waited for"
	assert_idle "$DISK"
	sched_set "$DISK" none
	flashsim_del
	for ((n = 0; n < 4; n++)); do
		rmdir "$GROUPS_DIR/lab$n" || fail "a control group is used"
	done
}

# crowd GROUP TASKS - TASKS tasks of the group read one random block after the
# other, until crowds_go; sets CROWD to the process
CROWDS=() CROWD=
crowd() {
	(within "$1" fio --output="$TMP/crowd-$1" --eta=never --aux-path="$TMP" \
		--filename="/dev/$DISK" --direct=1 --thread --numjobs="$2" \
		--group_reporting --ioengine=psync --rw=randread --bs=4k \
		--size=64m --norandommap --randrepeat=0 --time_based \
		--runtime=3600 --name="$1" >/dev/null 2>&1) &
	CROWD=$!
	CROWDS+=("$CROWD")
}

# crowds_go - ends all of them
crowds_go() {
	local pid
	kill "${CROWDS[@]}" || fail "a crowd has gone"
	for pid in "${CROWDS[@]}"; do
		wait "$pid" || :
	done
	CROWDS=()
}

# crowd_part A B [REQUESTS] - what A gets in 1000 of the next REQUESTS (3000) requests of 8
# sectors of both groups; sets PART
PART=
crowd_part() {
	local a=$1 b=$2 all=$((8 * ${3:-3000})) a0 b0 got
	a0=$(of_tenant "$a" sectors)
	b0=$(of_tenant "$b" sectors)
	# shellcheck disable=SC2317  # soon calls it
	served() {
		got=$(($(of_tenant "$a" sectors) - a0))
		(($(of_tenant "$b" sectors) - b0 + got >= all))
	}
	soon 90 served || fail "the crowds do not get on"
	b0=$(($(of_tenant "$b" sectors) - b0))
	PART=$((1000 * got / (got + b0)))
}

# shellcheck disable=SC2120  # cases give it something
# shares_of_crowds [TUNABLE VALUE]... - a tenant with four times as many tasks as there
# are scheduler tags, and one with few: the second one gets its part
shares_of_crowds() {
	local few many weight want
	# So slow that tasks which a busy guest wakes late are back in time
	flashsim_add size_mb=64 channels=4 ways=1 dies=1 page_kb=4 \
		t_read_ns=10000000 data=none
	group_add labA
	many=$GROUP
	group_add labB
	few=$GROUP
	sched_set "$DISK" "$SCHED"
	tun "$DISK" tenant_by cgroup
	tun "$DISK" max_inflight 4
	tun "$DISK" anticipation 0
	while (($#)); do
		tun "$DISK" "$1" "$2"
		shift 2
	done
	sched_new "$DISK"
	echo 16 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests"
	crowd labA 64
	# shellcheck disable=SC2317  # soon calls it
	going() { (($(of_tenant "$1" requests) >= $2)); }
	soon 60 going "$many" 200 || fail "the large crowd does not get on"
	holds "$(stat_of "$DISK" queued) + $(stat_of "$DISK" inflight) >= 12" \
		"one tenant alone has nearly all tags"
	crowd labB 6
	soon 60 going "$few" 40 || fail "the small crowd does not get on"
	for weight in 100 300; do
		weight labB $weight
		want=$((1000 * weight / (100 + weight)))
		crowd_part "$few" "$many"
		stats "$DISK"
		say "weight $weight: $PART of 1000, due are $want"
		holds "$PART >= $want * 85 / 100 && $PART <= $want * 115 / 100" \
			"the share of who has few tasks"
	done
	holds "$(stat_of "$DISK" limited_tags) > 0" "the other one was limited"
	crowds_go
	# No task sleeps for ever.
	assert_idle "$DISK"
	sched_set "$DISK" none
	flashsim_del
	rmdir $GROUPS_DIR/labA $GROUPS_DIR/labB || fail "a control group is used"
}

# paper_device - the emulated NVMe device, for paper_load
paper_device() {
	groups_need
	main_disk
	sched_set "$DISK" "$SCHED"
	export DEV=/dev/$DISK RUNTIME=6 DEPTH=32 SEED=7 THINKTIME_US=2000
}

# paper_load NAME TENANT:WEIGHT... - a load of tests/fio for this scheduler, in each of
# its modes, where fio puts each tenant into a control group. The first has the least
# weight, the last has the largest one. LIKE: all send the same. Weights are for those
# that wait, so the drive has to be slower than the guest; on a slow kernel it may not be
paper_load() {
	local name=$1 mode one modes=(auto paper) of got first last pid n looks wait idle
	shift
	[[ $SCHED != acfq ]] || modes+=(cfq)
	# One at once, so that all wait here and the drive is slower than a busy guest.
	tun "$DISK" max_inflight 1
	for mode in "${modes[@]}"; do
		tun "$DISK" mode "$mode"
		# With exclusive turns, the tenant that has the turn may be thinking.
		idle=1
		[[ $mode != auto ]] || idle=0
		of=()
		for one; do
			group_add "lab-${one%:*}"
			of+=("$GROUP")
			weight "lab-${one%:*}" "${one#*:}"
		done
		sched_new "$DISK"
		GROUP=lab fio_quiet "/tests/fio/$SCHED-$name.fio" &
		pid=$!
		first=() last=() looks=0 wait=0
		# Charges of each tenant since all of them were seen. The last tenant to
		# start starts late, and a second after its end a tenant is forgotten. The
		# load leaves little time to look.
		while kill -0 $pid 2>/dev/null; do
			read -ra got < <(of_tenants "sectors queued" "${of[@]}")
			[[ " ${got[*]::$#} " != *" 0 "* ]] || continue
			((${#first[@]})) || first=("${got[@]::$#}")
			last=("${got[@]::$#}")
			looks=$((looks + 1))
			(($(grep -cx 0 <(printf '%s\n' "${got[@]:$#}")) > idle)) ||
				wait=$((wait + 1))
		done
		wait $pid || fail "fio failed, see the log"
		say "$name, mode $mode: $*: sectors from ${first[*]} to ${last[*]};" \
			"all but $idle waited in $wait of $looks looks"
		((${#first[@]})) || fail "not all tenants were seen"
		for ((n = 0; n < $#; n++)); do
			holds "${last[n]} > ${first[n]}" "somebody was left out"
		done
		if [[ -n ${LIKE-} ]] && ((${LAB_SLOW:-1} == 1 || wait * 2 > looks)); then
			holds "$wait * 2 > $looks" "the drive is slower than the guest"
			holds "${last[-1]} - ${first[-1]} > ${last[0]} - ${first[0]}" \
				"largest and least weight"
		fi
		assert_idle "$DISK"
		for one; do
			rmdir "$GROUPS_DIR/lab-${one%:*}" ||
				fail "a control group is used"
		done
	done
}

# too_few TAGS - number of lines in the kernel log that call TAGS scheduler tags too few
too_few() {
	dmesg | grep -c "$SCHED: $DISK: $1 scheduler tags are too few for weights; "
}

# shellcheck disable=SC2317  # soon calls it
told_few() { (($(too_few "$1") == 1)); }

# shares_of_few_tags - a device that takes one request at a time has two scheduler tags.
# The kernel log reports this, and the command in the log is enough to mend it
shares_of_few_tags() {
	local a b n line attr=queue/nr_requests
	# So slow that tasks which a busy guest wakes late are back in time
	hold_timed few 20 hw_queue_depth=1 submit_queues=1
	group_add labA
	a=$GROUP
	group_add labB
	b=$GROUP
	sched_set "$DISK" "$SCHED"
	attr=/sys/block/$DISK/$attr
	is "nr_requests" "$(<"$attr")" 2
	is "tags_too_few" "$(stat_of "$DISK" tags_too_few)" 1
	soon 20 told_few 2 || fail "the kernel log has $(too_few 2) lines about two tags"
	weight labA 300
	weight labB 100
	# Each value is reported once, and those that are set for a moment not at all.
	sched_new "$DISK"
	echo 64 >"$attr" || fail "nr_requests 64"
	echo 6 >"$attr" || fail "nr_requests 6"
	echo 4 >"$attr" || fail "nr_requests 4"
	soon 20 told_few 4 || fail "the kernel log has $(too_few 4) lines about four tags"
	sched_new "$DISK"
	is "nr_requests, selected again" "$(<"$attr")" 2
	echo 8 >"$attr" || fail "nr_requests 8"
	is "tags_too_few with eight" "$(stat_of "$DISK" tags_too_few)" 0
	echo 4 >"$attr" || fail "nr_requests 4"
	is "tags_too_few with four" "$(stat_of "$DISK" tags_too_few)" 1
	sleep 3
	is "lines about two, four, six and eight tags" \
		"$(too_few 2) $(too_few 4) $(too_few 6) $(too_few 8)" "1 1 0 0"
	line=$(dmesg | grep "$SCHED: $DISK: 2 scheduler tags are too few")
	for n in 4 64; do
		# The log contains the command.
		((n == 4)) || eval "${line##*; }" || fail "refused: ${line##*; }"
		is "nr_requests" "$(<"$attr")" $n
		crowd labA 8
		crowd labB 8
		# shellcheck disable=SC2317  # soon calls it
		going() {
			(($(of_tenant "$a" queued) + $(of_tenant "$a" inflight) &&
			  $(of_tenant "$b" queued) + $(of_tenant "$b" inflight)))
		}
		soon 60 going || fail "a crowd does not get on"
		# Until each crowd has all of its tasks
		sleep 3
		crowd_part "$a" "$b" 600
		stats "$DISK"
		crowds_go
		# 2.2 to 1, and 4 to 1 or with four tags 5 to 1
		holds "$PART > 687 && $PART < (n == 4 ? 833 : 800)" \
			"shares with weights 300 and 100, $n tags"
		assert_idle "$DISK"
	done
	is "tags_too_few" "$(stat_of "$DISK" tags_too_few)" 0
	is "the limit of a driver with one tag" "$(stat_of "$DISK" bound)" 1
	sched_set "$DISK" none
	rmdir $GROUPS_DIR/labA $GROUPS_DIR/labB || fail "a control group is used"
	# Without a scheduler nr_requests is the number of the driver's tags
	null_add four hw_queue_depth=64 submit_queues=1
	sched_set "$DISK" none
	echo 4 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests 4, none"
	sched_set "$DISK" "$SCHED"
	is "the limit of a driver with four tags" "$(stat_of "$DISK" bound)" 4
	sched_set "$DISK" none
}
