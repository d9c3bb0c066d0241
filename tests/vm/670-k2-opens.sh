# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: k2
# takes: 30 s
# limit: 240 s
#
# Proves: without real-time requests the bound opens after rt_hold_ms and waiting requests
# are dispatched, while tasks do nothing but best effort; the first real-time request
# brings the bound back; without a hold it never opens; and policy static does not do any
# of that.
# Fails if: autolimit_open() is not called at the end of a request, autolimit_insert()
# does not close the bound, or a raised bound kicks no queue.

# Slower than the guest, on a slow kernel, too: 24 reads have to be in the drive.
flashsim_add time_scale="${LAB_SLOW:-1}" size_mb=64 channels=4 ways=2 page_kb=4 \
	t_read_ns=4000000 t_prog_ns=4000000 nr_hw_queues=2 gc=none data=none max_kb=512
sched_set "$DISK" "$SCHED"
tun "$DISK" max_inflight 2
tun "$DISK" target_us 1000000
fio --output="$TMP/load" --eta=never --filename="/dev/$DISK" --direct=1 \
	--rw=randread --bs=4k --norandommap=1 --time_based=1 --runtime=3600 \
	--thread=1 --size=32m --name=be --ioengine=libaio --iodepth=24 \
	>/dev/null 2>&1 &
load=$!
# shellcheck disable=SC2317  # soon calls it
goes() {
	stat_get "$DISK" served_nrt
	((STAT > $1))
}
soon 30 goes 50 || fail "the load does not start"
tun_is "bound, policy static" "$DISK" bound 2
holds "$(stat_of "$DISK" inflight) <= 2" "in flight"

tun "$DISK" rt_hold_ms 0
tun "$DISK" policy latency
seen=$(stat_of "$DISK" served_nrt)
soon 60 goes $((seen + 1000)) || fail "nothing goes any more"
is "opened without a hold" "$(stat_of "$DISK" opened)" 0

# shellcheck disable=SC2317  # soon calls it
bound_is() { [[ $(tun "$DISK" bound) == "$1" ]]; }
# shellcheck disable=SC2317  # soon calls it
deep() {
	stat_get "$DISK" inflight
	((STAT >= 20))
}
for policy in latency bandwidth; do
	tun "$DISK" policy $policy
	tun "$DISK" rt_hold_ms 300
	soon 20 bound_is 65535 || fail "$policy: the bound stays $(tun "$DISK" bound)"
	soon 20 deep || fail "$policy: what waits does not go"
	say "ok: $policy: the bound opens"
	# Long enough for a reader to see it.
	tun "$DISK" rt_hold_ms 60000
	run_fio --name=rt --filename="/dev/$DISK" --direct=1 --rw=randread \
		--bs=4k --offset=32m --size=16m --number_ios=3 \
		--ioengine=psync --prioclass=1 --prio=0
	holds "$(tun "$DISK" bound) < 65535" "$policy: a real-time request closes it"
	tun "$DISK" policy static
	tun_is "bound, policy static again" "$DISK" bound 2
done
kill -INT $load
wait $load
! grep -q 'error=' "$TMP/load" || { cat "$TMP/load"; fail "errors"; }
assert_idle "$DISK"
sched_set "$DISK" none
flashsim_del
