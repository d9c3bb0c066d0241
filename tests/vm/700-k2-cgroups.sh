# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2153
# for: k2
# takes: 80 s
# limit: 300 s
#
# Proves: requests of a control group in rt_cgroups and of the groups below it are served
# at the group's level, whatever task sends them, and no other requests are; the nearest
# listed group decides, and the more urgent one of group and own priority; its tasks get
# the last scheduler tags; after a change of class a bio merges with no request of the
# old class. Invalid entries change nothing and are reported, there is room for 32, the
# shown text can be written again, and all entries persist across other schedulers. A
# listed group can be removed, and a new group at its path is another one. Entries are
# added and removed under verified load.
# Fails if: policy_rq_class() or policy_bio_class() does not look at the table,
# flash_groups_near() looks at the group alone or begins at the root, k2_urgent() returns
# the group's level, k2_task_urgent() looks at the priority alone, k2_group_set() sets the
# table before it knows that there is room, or policy_init() does not apply what was kept.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need

# They are in each other, which lab_reset does not expect.
groups_gone() {
	rmdir $GROUPS_DIR/labA/in/deep $GROUPS_DIR/labA/in $GROUPS_DIR/lab* 2>/dev/null
}
trap groups_gone EXIT

# served - "RT0 ... RT7 META NRT": what each class was served
served() { arrays "$DISK" | sed -n 's/^\(rt.\|meta\|nrt\) .*served //p' | tr '\n' ' '; }

# class_of GROUP COMMAND... - prints the only class that the command's 20 reads were
# served in, 0 to 9; GROUP - is the root
class_of() {
	local -a before after
	local n found=
	read -ra before < <(served)
	(
		[[ $1 == - ]] || echo $BASHPID >"$GROUPS_DIR/$1/cgroup.procs" || exit
		shift
		exec "$@" dd if="/dev/$DISK" of=/dev/null bs=4k count=20 \
			iflag=direct status=none
	) || say "failed"
	soon 10 at_rest "$DISK" || say "unrest"
	read -ra after < <(served)
	for ((n = 0; n < 10; n++)); do
		((after[n] == before[n])) && continue
		found="$found$n"
		((after[n] == before[n] + 20)) || found+="(of $((after[n] - before[n])))"
	done
	say "$found"
}

# entry TEXT - writes it
entry() { echo "$1" >"$file" || fail "rt_cgroups refuses '$1'"; }

flashsim_add size_mb=64 nr_hw_queues=2
sched_set "$DISK" "$SCHED"
file=/sys/block/$DISK/queue/iosched/rt_cgroups
group_add labA
a=$GROUP
echo +io >$GROUPS_DIR/labA/cgroup.subtree_control || fail "no io in labA"
group_add labA/in
in=$GROUP
echo +io >$GROUPS_DIR/labA/in/cgroup.subtree_control || fail "no io in labA/in"
group_add labA/in/deep
group_add labB
b=$GROUP
mkdir $GROUPS_DIR/labB/plain || fail "no control group labB/plain"
none=9

# Class of each group.
is "entries at first" "$(<"$file")" ""
is "class without an entry" "$(class_of labA/in/deep)" $none
entry "/labA 3"
is "the entry" "$(<"$file")" "$a 3"
is "class two groups below" "$(class_of labA/in/deep)" 3
is "class of another group" "$(class_of labB)" $none
is "class of the root" "$(class_of -)" $none
is "class of a more urgent task" "$(class_of labA/in/deep ionice -c1 -n1)" 1
is "class of a less urgent one" "$(class_of labA/in/deep ionice -c1 -n6)" 3
is "class of an idle one" "$(class_of labA/in/deep ionice -c3)" 3
is "class of a real-time task elsewhere" "$(class_of labB ionice -c1 -n6)" 6
entry "$in 5"
is "class, a nearer group being listed" "$(class_of labA/in/deep)" 5
entry "/labA/in 0"
is "class, that one being changed" "$(class_of labA/in/deep)" 0
entry "/labA/in default"
is "class, that one being taken back" "$(class_of labA/in/deep)" 3
entry "/labB 7"
is "class below where io ends" "$(class_of labB/plain)" 7
entry "/ 6"
is "class of the root, that being listed" "$(class_of -)" 6
is "class below" "$(class_of labB)" 7
entry "/ default"
is "class of the root again" "$(class_of -)" $none
assert_idle "$DISK"
so_far=$(stat_of "$DISK" rt_by_cgroup)
is "class" "$(class_of labB)$(class_of labB ionice -c1 -n7)" 77
is "more that are so by their group" $(($(stat_of "$DISK" rt_by_cgroup) - so_far)) 20

# Invalid entries.
refusals=0
refused() {
	local was out mark
	was=$(<"$file")
	# tests/vm/run reads the log, too: nothing in it is deleted.
	mark="lab: refusal $((++refusals))"
	[[ -z ${3-} ]] || echo "$mark" >/dev/kmsg
	out=$({ printf '%s\n' "$1" >"$file"; } 2>&1) && fail "rt_cgroups takes '$1'"
	[[ $out == *"$2"* ]] || fail "'$1' gives: ${out##*: }, want: $2"
	[[ $(<"$file") == "$was" ]] || fail "'$1' has changed something"
	[[ -n ${3-} ]] || return 0
	dmesg | sed "1,/$mark\$/d" |
		grep -qF "$SCHED: $DISK: rt_cgroups: '$1' is refused, $3" ||
		fail "'$1': the kernel's log does not say so: $(dmesg | tail -1)"
}
einval='Invalid argument' erange='Numerical result out of range'
for text in "" " " abc 5 "5 " " 5" "/labA" "/nowhere 5" "labA 5" "-1 5" "5 -5" "5 x" \
	    "5 5x" "0x5 5" "5 5 5" "more 0" "/labA none" "/labA  default " "/labA 1,2"; do
	refused "$text" "$einval"
done
# The log takes no more than ten of them in five seconds.
sleep 6
refused "/labA 8" "$erange" "want a control group and 0 to 7 or default"
refused "/nowhere 5" "$einval" "want a control group and 0 to 7 or default"
for text in "5 8" "0 5" "/labA 99999999999999999999" "99999999999999999999 5"; do
	refused "$text" "$erange"
done
is "class after all that" "$(class_of labA/in/deep)" 3

# As many as fit.
for ((n = 2; n < 32; n++)); do
	entry "$((1000000000 + n)) $((n % 8))"
done
is "entries" "$(wc -l <"$file")" 32
sleep 6
refused "999999999 5" "No space left on device" "there are 32 already"
entry "/labA 2"
is "class, an entry of a full table being changed" "$(class_of labA/in/deep)" 2
cp "$file" "$TMP/all"
sched_set "$DISK" none
is "scheduler" "$(sched_get "$DISK")" none
sched_set "$DISK" "$SCHED"
is "what a switch has changed" "$(diff "$file" "$TMP/all")" ""
is "class after a switch" "$(class_of labA/in/deep)" 2
while read -r id _; do
	entry "$id default"
done <"$TMP/all"
is "entries that are left" "$(<"$file")" ""
is "class without them" "$(class_of labA/in/deep)" $none
while read -r line; do
	entry "$line"
done <"$TMP/all"
is "what is written again" "$(diff "$file" "$TMP/all")" ""
is "class" "$(class_of labA/in/deep)" 2
for ((n = 2; n < 32; n++)); do
	entry "$((1000000000 + n)) default"
done
# Taking back what is not there is no error.
entry "77 default"

# A listed group is removed.
rmdir $GROUPS_DIR/labB/plain $GROUPS_DIR/labB || fail "a listed group cannot be removed"
is "its entry" "$(grep -c "^$b 7$" "$file")" 1
group_add labB
holds "$GROUP != $b" "another number"
is "class of another group at its place" "$(class_of labB)" $none
entry "$b default"
is "entries" "$(<"$file")" "$a 2"
assert_idle "$DISK"
sched_set "$DISK" none
flashsim_del

# Order of service: labB's requests are real-time from the third on.
hold_add nr_hw_queues=2
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 1
sched_new "$DISK"
trace_start block_rq_issue "$DISK"
SENT=0
send labA/in/deep 0
send labA/in/deep 100
send labB 200
entry "/labB 4"
send labB 201	# would join 200
send labB 300
is "waiting" "$(stat_of "$DISK" queued)" 4
is "merged so far" "$(stat_of "$DISK" merged)" 0
read_one "$DISK" 301 within labB
await "$DISK" merged 1
let_go -1
readers_done
trace_stop "$TMP/trace"
is "issued" "$(issued_sizes 8 "$TMP/trace")" "0+1 201+1 300+2 100+1 200+1 "
assert_idle "$DISK"
sched_set "$DISK" none
flashsim_del

# Tags: as 230-k2-tags, for a task with the priority of its group.
hold_add queue_depth=16
sched_new "$DISK"
echo 16 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests"
tun "$DISK" max_inflight 1
entry "/labB 0"
read_one "$DISK" 6000 within labB
let_go 1
readers_done
tags_taken "$DISK"
read_one "$DISK" 5000 within labB
soon 10 grep -q '^rt0 queued 1 ' "$ARRAYS" || fail "a listed group's task found no tag"
is "finished so far" "$(reads_done "$DISK")" 1
let_go -1
readers_done
is "served real-time" "$(stat_of "$DISK" served_rt)" 2
assert_idle "$DISK"
sched_set "$DISK" none
flashsim_del

# All at once.
flashsim_add size_mb=64 channels=4 ways=2 page_kb=4 t_read_ns=50000 t_prog_ns=100000 \
	nr_hw_queues=2
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 4
load_start "$DISK"
(within labB fio --output="$TMP/mine" --eta=never --filename="/dev/$DISK" --direct=1 \
	--rw=randrw --bs=4k --offset=32m --size=16m --ioengine=libaio --iodepth=8 \
	--time_based=1 --runtime=3600 --name=mine >/dev/null 2>&1) &
mine=$!
# A writer finds no file while another scheduler is selected.
for ((n = 1; n <= 2; n++)); do
	(
		k=0
		until [[ -e $TMP/written ]]; do
			k=$((k + 1))
			echo "/labB $((k % 8))" >"$file"
			echo "/labA $((k % 8))" >"$file"
			echo "$((n * 100 + k % 12)) 1" >"$file"
			echo "$((n * 100 + (k + 6) % 12)) default" >"$file"
			read -r _ <"$file"
			((k % 2)) || echo "/labB default" >"$file"
			echo "/labA default" >"$file"
		done 2>/dev/null
		say "writer $n: $k times"
		((k > 20))
	) &
	writers[n]=$!
done
for ((k = 0; k < 40; k++)); do
	load_alive
	nap
	((k % 10 == 9)) || continue
	so_far=$(ios "$DISK")
	# shellcheck disable=SC2317  # soon calls it
	further() { (($(ios "$DISK") > so_far + 5)); }
	soon 30 further || fail "$DISK stands still"
	# shellcheck disable=SC2317  # soon calls it
	some() { (($(stat_of "$DISK" rt_by_cgroup) > 0)); }
	soon 30 some || fail "labB has sent nothing as real-time"
	stats "$DISK"
	sched_set "$DISK" none
	sched_set "$DISK" "$SCHED"
done
: >"$TMP/written"
wait "${writers[1]}" || fail "a writer came to nothing"
wait "${writers[2]}" || fail "a writer came to nothing"
kill -INT $mine
wait $mine
! grep -q 'error=' "$TMP/mine" || { cat "$TMP/mine"; fail "errors"; }
load_stop
assert_idle "$DISK"
while read -r id _; do
	entry "$id default"
done < <(cat "$file")
is "entries at the end" "$(<"$file")" ""
entry "/labB 0"
sched_set "$DISK" none
flashsim_del
