# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# All that can be set changes under load. A case of a scheduler with texts sources it
# itself.

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

# changes_under_load - two devices with verified load, each with its own values; sets
# DISKS, which are idle afterwards
changes_under_load() {
	local disk key n before
	local -A value=()
	flashsim_add nr_devices=2 size_mb=32 channels=4 ways=2 page_kb=4 \
		t_read_ns=200000 t_prog_ns=400000 nr_hw_queues=2
	DISKS=(flashsim0 flashsim1)
	for disk in "${DISKS[@]}"; do
		soon 5 test -b "/dev/$disk" || fail "no /dev/$disk"
		wbt_off "$disk"
		sched_set "$disk" "$SCHED"
	done
	tunables
	seeded
	for disk in "${DISKS[@]}"; do
		load_start "$disk" --size=1m --thread=1
	done
	for ((n = 0; n < 200; n++)); do
		disk=${DISKS[RANDOM % 2]}
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
	assert_idle "${DISKS[@]}"
}
