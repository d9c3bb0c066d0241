# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153
# for: piq
# core: yes
# takes: 40 s
# limit: 300 s
#
# Proves: mode, layout, offset and all bounds change under verified load on two
# devices at once, each with its own, also while schedulers are switched: each
# request gives back the chips that it took, nothing is lost, nothing waits for
# nobody, and what was set stands there.
# Fails if: piq_give() computes the chips anew instead of those that were taken,
# piq_set() does not sort what waits anew, or policy_text_tuned() does not call
# flash_resume().

flashsim_add nr_devices=2 size_mb=32 channels=4 ways=2 page_kb=4 \
	t_read_ns=200000 t_prog_ns=400000 nr_hw_queues=2
disks=(flashsim0 flashsim1)
for disk in "${disks[@]}"; do
	soon 5 test -b "/dev/$disk" || fail "no /dev/$disk"
	wbt_off "$disk"
	sched_set "$disk" "$SCHED"
done
tunables
seeded

# change DISK - one value of one disk, drawn; sets WHAT and VALUE
change() {
	if ((RANDOM % 2)); then
		WHAT=${TEXTS[RANDOM % ${#TEXTS[@]}]}
		text_values "$WHAT"
		VALUE=${GOOD[RANDOM % ${#GOOD[@]}]}
	else
		WHAT=${TUNABLES[RANDOM % ${#TUNABLES[@]}]}
		draw "${LOW[$WHAT]}" "${HIGH[$WHAT]}"
		((RANDOM % 2)) || draw "${LOW[$WHAT]}" $((${LOW[$WHAT]} + 1))
		VALUE=$DRAWN
	fi
	tun "$1" "$WHAT" "$VALUE"
}

for disk in "${disks[@]}"; do
	load_start "$disk" --size=1m --thread=1
done
declare -A value=()
for ((n = 0; n < 200; n++)); do
	disk=${disks[RANDOM % 2]}
	change "$disk"
	value[$disk.$WHAT]=$VALUE
	if ((n % 10 == 0)); then
		load_alive
		for key in "${!value[@]}"; do
			[[ $(tun "${key%%.*}" "${key#*.}") == "${value[$key]}" ]] ||
				fail "$key is not ${value[$key]}"
		done
		before=$(ios "$disk")
		# shellcheck disable=SC2317  # soon calls it
		further() { (($(ios "$disk") > before + 5)); }
		soon 30 further || fail "$disk stands still, mode" \
			"$(tun "$disk" mode), layout $(tun "$disk" layout)"
	fi
	if ((n % 50 == 49)); then
		sched_set "$disk" none
		sched_set "$disk" "$SCHED"
	fi
done
load_stop
assert_idle "${disks[@]}"
for disk in "${disks[@]}"; do
	is "stuck on $disk" "$(stat_of "$disk" stuck)" 0
	is "chips of $disk with something to do" "$(arrays "$disk" |
		grep -c '^chip.* todo [1-9]')" 0
	sched_set "$disk" none
done
flashsim_del

# A request that waits for its chip goes when the layout says that it is another
# one, and when the mode does not care: nothing else happens meanwhile.
hold_add channels=4 ways=1 page_kb=4
sched_set "$DISK" "$SCHED"
tun "$DISK" mode noop
tun "$DISK" layout "page=4096 chips=4"
sched_new "$DISK"
read_one "$DISK" 0
await "$DISK" inserted 1
read_one "$DISK" 4
await "$DISK" inserted 2
stays "$DISK" inflight 1
tun "$DISK" layout "page=4096 chips=5"
await "$DISK" inflight 2
read_one "$DISK" 10
await "$DISK" inserted 3
stays "$DISK" inflight 2
tun "$DISK" mode auto
await "$DISK" inflight 3
is "finished so far" "$(stat_of "$DISK" completed)" 0
let_go -1
readers_done
assert_idle "$DISK"
sched_set "$DISK" none
flashsim_del
