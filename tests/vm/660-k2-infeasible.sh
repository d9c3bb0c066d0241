# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: k2
# takes: 40 s
# limit: 300 s
#
# Proves: K2 reports a target that no bound can hold as infeasible, while best effort is
# still served; it does not report one that can be held, whatever it reported before; and
# an observed tail is there.
# Fails if: autolimit_judge_target() never sets unmet, or never clears it, or late requests
# are not counted.

flashsim_add size_mb=64 channels=4 ways=2 page_kb=4 t_read_ns=2000000 \
	t_prog_ns=4000000 nr_hw_queues=2 gc=none data=none max_kb=512
sched_set "$DISK" "$SCHED"
tun "$DISK" target_quantile 900000
# Less than one read takes.
tun "$DISK" target_us 500
tun "$DISK" rt_hold_ms 60000
tun "$DISK" policy latency

fio --output="$TMP/load" --eta=never --filename="/dev/$DISK" --direct=1 \
	--rw=randread --bs=4k --norandommap=1 --time_based=1 --runtime=3600 \
	--thread=1 --size=32m \
	--name=be --ioengine=libaio --iodepth=32 \
	--name=rt --ioengine=psync --prioclass=1 --prio=0 --thinktime=2000 \
	--offset=32m >/dev/null 2>&1 &
load=$!
# shellcheck disable=SC2317  # soon calls it
says() { [[ $(tun "$DISK" infeasible) == "$1" ]]; }
soon 60 says 1 || { stats "$DISK"; fail "not said to be infeasible"; }
stats "$DISK"
bound=$(tun "$DISK" bound)
holds "$bound >= 1 && $bound < 32" "the bound has come down"
holds "$(tun "$DISK" observed_tail_us) >= 2000" "the tail that was observed"
before=$(stat_of "$DISK" served_nrt)
# shellcheck disable=SC2317  # soon calls it
more() {
	stat_get "$DISK" served_nrt
	((STAT > before + 100))
}
soon 60 more || fail "best effort stands still"
holds "$(tun "$DISK" bw_share_pct) > 0" "it has a share"

tun "$DISK" target_us 60000000
tun_is "infeasible with another target" "$DISK" infeasible 0
before=$(stat_of "$DISK" rt_ended)
# shellcheck disable=SC2317  # soon calls it
ended() {
	stat_get "$DISK" rt_ended
	((STAT > before + 500))
}
soon 90 ended || fail "real-time requests stand still"
tun_is "infeasible after 500 requests more" "$DISK" infeasible 0
holds "$(tun "$DISK" bound) > $bound" "the bound has opened again"
kill -INT $load
wait $load
! grep -q 'error=' "$TMP/load" || { cat "$TMP/load"; fail "errors"; }
assert_idle "$DISK"
sched_set "$DISK" none
flashsim_del
