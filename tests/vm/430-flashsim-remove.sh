# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# once: about flashsim, whatever the scheduler
# limit: 240 s
# takes: 40 s
#
# Proves: a flashsim device that is removed under load ends all its requests,
# whatever its scheduler is and whatever faults are injected; the other device
# continues with right data; statistics stay; afterwards the module can be
# unloaded, which is refused while a device is in use. `hold` keeps requests back
# and releases as many as the user writes, the oldest first; a removal ends it.
# Fails if: fs_remove() takes the next device along, or fs_del_disk() only marks
# the disk as dead, or does not end the hold.

# The removed device has requests in a queue of the scheduler, and it is slow,
# so that others wait inside it for their turn.
slow=(nr_devices=2 size_mb=16 t_prog_ns=$((2000000 * ${LAB_SLOW:-1}))
      fw_read_ns=$((200000 * ${LAB_SLOW:-1})))

round() {	# SCHEDULER PARAM=VALUE...
	local scheduler=$1 out victim status begin few=8
	shift
	# bfq waits for one task's next request while the other's are ready.
	[[ $scheduler != bfq ]] || few=0
	say "--- $scheduler $*"
	flashsim_add "${slow[@]}" "$@"
	sched_set flashsim0 "$scheduler"
	sched_set flashsim1 "$scheduler"
	fio --filename=/dev/flashsim0 --direct=1 --ioengine=libaio \
		--iodepth=32 --rw=randrw --bs=4k --time_based=1 --runtime=3600 \
		--thread=1 --output="$TMP/victim" --eta=never --name=a --name=b \
		>/dev/null 2>&1 &
	victim=$!
	load_start flashsim1 --thread=1 --size=512k
	begun() { (($(ios flashsim0) > 20)); }
	soon 20 begun || fail "fio does not start on the first device"
	# A guest that is slow keeps no device busy.
	((${LAB_SLOW:-1} == 1)) || echo 0 >"$FLASHSIM/flashsim0/hold"
	under_way() {
		(($(flashsim_stat outstanding flashsim0) +
		  $(flashsim_stat held flashsim0) > few))
	}
	soon 20 under_way || fail "no load on the first device"
	rmmod flashsim 2>/dev/null && fail "unloaded while in use"

	begin=$SECONDS
	echo 0 >"$FLASHSIM_PARAMS/remove" || fail "cannot be removed"
	[[ ! -e /sys/block/flashsim0 && ! -e /dev/flashsim0 ]] ||
		fail "still there"
	wait $victim
	status=$?
	holds "$status != 0" "fio fails when its device goes"
	holds "$((SECONDS - begin)) < 30" "seconds until it does"
	grep -qE "err= *[1-9]" "$TMP/victim" ||
		{ cat "$TMP/victim"; fail "fio saw no error"; }
	{ echo 0 >"$FLASHSIM_PARAMS/remove"; } 2>/dev/null && fail "removed twice"
	is "requests of the device that has gone" \
		"$(flashsim_stat outstanding flashsim0)" 0
	holds "$(flashsim_stat writes flashsim0) > 0" "its statistics stay"

	# The other one neither stops nor errs.
	load_alive
	out=$(flashsim_stat writes flashsim1)
	further() { (($(flashsim_stat writes flashsim1) > out + 20)); }
	soon 30 further || fail "the other device has stopped"
	load_stop
	[[ $scheduler != "$SCHED" ]] || assert_idle flashsim1
	flashsim_del
	[[ ! -e /sys/block/flashsim1 ]] || fail "the other one is still there"
}

round none
round mq-deadline nr_hw_queues=2
round kyber requeue_ppm=50000
round bfq alloc=dynamic wbuf_kb=256 gc=device
round "$SCHED" nr_hw_queues=2 requeue_ppm=50000 busy_ppm=20000

# All of them, one after the other, with nothing going on.
flashsim_add nr_devices=3 size_mb=1
for n in 1 0 2; do
	echo $n >"$FLASHSIM_PARAMS/remove" || fail "cannot remove $n"
	[[ ! -e /sys/block/flashsim$n ]] || fail "$n is still there"
done
flashsim_del

# Held requests end one by one, in order of arrival, or when the device is removed.
flashsim_add size_mb=16 data=none
sched_set "$DISK" none
for value in -2 65536 "" x 1.5; do
	{ echo "$value" >"$FLASHSIM/$DISK/hold"; } 2>/dev/null &&
		fail "hold takes '$value'"
done
let_go 0
begin=$(reads_done "$DISK")
for ((n = 0; n < 6; n++)); do
	read_one "$DISK" $((n * 100))
	# shellcheck disable=SC2317  # soon calls it
	held() { [[ $(flashsim_stat held) == "$1" ]]; }
	soon 20 held $((n + 1)) || fail "request $n is not held"
done
pause 0.2
is "finished" "$(($(reads_done "$DISK") - begin))" 0
let_go 2
wait "${READERS[0]}" "${READERS[1]}" || fail "the first two have not ended well"
pause 0.2
is "finished" "$(($(reads_done "$DISK") - begin))" 2
is "held" "$(flashsim_stat held)" 4
echo 0 >"$FLASHSIM_PARAMS/remove" || fail "cannot be removed"
is "held by the device that has gone" "$(flashsim_stat held)" 0
{ echo 0 >"$FLASHSIM/$DISK/hold"; } 2>/dev/null && fail "a device that has gone holds"
for n in 2 3 4 5; do
	wait "${READERS[n]}" || fail "request $n has failed"
done
flashsim_del
