# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# for: k2
# takes: 30 s
# limit: 240 s
#
# Proves: policies, the unit of the bound, its reserve, real-time requests alone in the
# device, the cap on starvation and layouts can be changed under load that includes real-time
# requests, calibrations begun and given up and the scheduler created again, in any order:
# nothing stands still, nothing is lost, each file shows the written value; and with policy
# static and the defaults the bound is max_inflight again, and is kept to. The operations are
# drawn at random; the case prints the seed.
# Fails if: fq->watches decides in elv_finish_request() instead of the request's own
# fr->watched, flash_resume() runs nothing, or k2_holds() does not clear
# fq->held when K2 watches no more.

main_disk
sched_set "$DISK" "$SCHED"
seeded
load_start "$DISK"
fio --output="$TMP/rt" --eta=never --filename="/dev/$DISK" --direct=1 \
	--rw=randread --bs=4k --offset=256m --size=64m --ioengine=psync \
	--prioclass=1 --prio=0 --thinktime=1000 --time_based=1 --runtime=3600 \
	--name=rt >/dev/null 2>&1 &
rt=$!
# shellcheck disable=SC2317  # soon calls it
served() {
	stat_get "$DISK" served_rt
	((STAT > 20))
}
soon 30 served || fail "the real-time task does not start"

declare -A wrote=()
for name in policy bound_unit reserve rt_alone nrt_wait_ms observe max_inflight \
	    target_us target_quantile bw_floor_pct rt_hold_ms layout max_pass \
	    lba_offset_sectors; do
	wrote[$name]=$(tun "$DISK" "$name")
done
policies=(static latency bandwidth) units=(requests cost)
layouts=(none "page=4096 chips=4" "page=16384 chips=200"
	 "page=4096 terms=1:4:1,32:4:4")
for ((n = 0; n < 200; n++)); do
	name='' value=''
	case $((RANDOM % 16)) in
	0 | 1 | 2) name=policy value=${policies[RANDOM % 3]} ;;
	3) name=bound_unit value=${units[RANDOM % 2]} ;;
	4) name=reserve value=$((RANDOM % 4)) ;;
	5) name=nrt_wait_ms value=$((RANDOM % 20)) ;;
	6) name=observe value=$((RANDOM % 2)) ;;
	7) name=max_inflight value=$((RANDOM % 8 + 1)) ;;
	8) name=target_us value=$((RANDOM * (RANDOM % 2))) ;;
	9) name=rt_hold_ms value=$((RANDOM % 50)) ;;
	10) name=bw_floor_pct value=$((RANDOM % 100 + 1)) ;;
	11) name=layout value=${layouts[RANDOM % 4]} ;;
	12) name=max_pass value=$((RANDOM % 40)) ;;
	13) name=lba_offset_sectors value=$RANDOM ;;
	14) name=rt_alone value=$((RANDOM % 2)) ;;
	15) tun "$DISK" calibrate $((RANDOM % 2)) ;;
	esac
	if [[ -n $name ]]; then
		tun "$DISK" "$name" "$value"
		wrote[$name]=$value
	fi
	bound=$(tun "$DISK" bound)
	((bound >= 1 && bound <= 65535)) || fail "the bound is $bound"
	if ((n % 40 == 39)); then
		sched_new "$DISK"
		for name in "${!wrote[@]}"; do
			[[ $(tun "$DISK" "$name") == "${wrote[$name]}" ]] ||
				fail "$name is $(tun "$DISK" "$name")," \
					"should be ${wrote[$name]}"
		done
	fi
	nap
	if ((n % 20 == 0)); then
		load_alive
		before=$(ios "$DISK")
		# shellcheck disable=SC2317  # soon calls it
		goes_on() { (($(ios "$DISK") > before)); }
		soon 20 goes_on || fail "nothing ends any more"
	fi
done
stats "$DISK"
tun "$DISK" calibrate 0
kill -INT $rt
wait $rt
! grep -q 'error=' "$TMP/rt" || { cat "$TMP/rt"; fail "errors"; }
load_stop
assert_idle "$DISK"
is "slots taken at rest" "$(stat_of "$DISK" load_x16)" 0

# As it was before.
tun "$DISK" policy static
tun "$DISK" bound_unit requests
tun "$DISK" layout none
for name in reserve rt_alone nrt_wait_ms observe; do
	tun "$DISK" $name 0
done
tun "$DISK" max_inflight 3
tun_is "the bound" "$DISK" bound 3
sched_new "$DISK"
run_fio --name=r --filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k \
	--size=64m --number_ios=500 --ioengine=libaio --iodepth=32
assert_idle "$DISK"
is "peak" "$(stat_of "$DISK" peak_inflight)" 3
is "watched" "$(stat_of "$DISK" steps)" 0
