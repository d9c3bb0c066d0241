# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153
# limit: 300 s
# takes: 55 s
#
# Proves: every tunable refuses what is no number (EINVAL) and what is outside
# its range (ERANGE), keeps its value then, and takes both its limits; the
# module parameters likewise; so do texts with what they do not know; what is
# read-only cannot be written.
# Fails if: the range check in flash_number() is removed, or its test for a
# leading digit, or a tunable's limits are changed without its description, or
# flash_text_parse() does not look at what its check says, or flash_has_no_nul() is not
# asked.

main_disk
sched_set "$DISK" "$SCHED"
dir=/sys/block/$DISK/queue/iosched
params=/sys/module/$SCHED/parameters

# refused FILE TEXT MESSAGE - writing TEXT fails that way and changes nothing
refused() {
	local before after out
	before=$(<"$1")
	out=$({ printf '%s\n' "$2" >"$1"; } 2>&1) &&
		fail "${1##*/} takes '$2' and is $(<"$1")"
	[[ $out == *"$3"* ]] || fail "${1##*/}: '$2' gives: ${out##*: }, want: $3"
	after=$(<"$1")
	[[ $before == "$after" ]] || fail "${1##*/}: refused '$2' but is $after"
}
# hidden FILE TEXT - a zero byte behind TEXT hides nothing
hidden() {
	local before out
	before=$(<"$1")
	out=$({ printf '%s\0x\n' "$2" >"$1"; } 2>&1) &&
		fail "${1##*/} takes '$2' with a zero byte behind it"
	[[ $out == *"$einval"* ]] || fail "${1##*/}: a zero byte gives: ${out##*: }"
	is "${1##*/} behind a zero byte" "$(<"$1")" "$before"
}
einval='Invalid argument' erange='Numerical result out of range'

tunables
for name in "${TUNABLES[@]}"; do
	low=${LOW[$name]} high=${HIGH[$name]} default=${DEFAULT[$name]}
	is "default of $name" "$(<"$dir/$name")" "$default"
	for file in "$dir/$name" "$params/$name"; do
		for text in "" " " "$low " " $low" abc -1 "-$low" +1 0x1 0x10 1e1 \
			    1.5 5x "5 6" "5,6" x5 $'5\t' "$(printf '%0300d' 1)x"; do
			refused "$file" "$text" "$einval"
		done
		for text in $((high + 1)) 4294967295 4294967296 \
			    18446744073709551616 99999999999999999999; do
			refused "$file" "$text" "$erange"
		done
		((low == 0)) || refused "$file" $((low - 1)) "$erange"
		for text in "$low" "$high" "$default"; do
			echo "$text" >"$file" || fail "$name refuses $text"
			is "$name" "$(<"$file")" "$text"
		done
		printf '%s' "$low" >"$file" || fail "$name wants a newline"
		is "$name without a newline" "$(<"$file")" "$low"
		echo "$default" >"$file"
	done
	# Not of parameters: the kernel ends their text at the zero itself.
	hidden "$dir/$name" "$high"
done
holds "${#TUNABLES[@]} > 0" "tunables were tried"

for name in "${TEXTS[@]}"; do
	is "default of $name" "$(<"$dir/$name")" "${DEFAULT[$name]}"
	text_values "$name"
	hidden "$dir/$name" "${GOOD[0]}"
	for file in "$dir/$name" "$params/$name"; do
		for good in "${GOOD[@]}"; do
			echo "$good" >"$file" || fail "$name refuses '$good'"
			is "$name" "$(<"$file")" "$good"
			for text in "${EINVAL[@]}"; do
				refused "$file" "$text" "$einval"
			done
			for text in "${ERANGE[@]}"; do
				refused "$file" "$text" "$erange"
			done
		done
		printf '%s' "${DEFAULT[$name]}" >"$file" ||
			fail "$name wants a newline"
		is "$name without a newline" "$(<"$file")" "${DEFAULT[$name]}"
	done
done

for file in "$dir"/*; do
	[[ $(stat -c %a "$file") == 444 ]] || continue
	before=$(<"$file")
	{ echo 0 >"$file"; } 2>/dev/null && fail "${file##*/} can be written"
	is "${file##*/} after a write" "$(<"$file")" "$before"
done
assert_idle "$DISK"
sched_set "$DISK" none

# The same at load time.
for name in "${TUNABLES[@]}"; do
	low=${LOW[$name]} high=${HIGH[$name]}
	rmmod "$SCHED"
	for text in $((high + 1)) $((low - 1)) x "" 99999999999999999999; do
		modprobe "$SCHED" "$name=$text" 2>/dev/null &&
			fail "loads with $name=$text"
		grep -q "^$SCHED " /proc/modules && fail "half loaded"
	done
	modprobe "$SCHED" "$name=$high" || fail "does not load with $name=$high"
	sched_set "$DISK" "$SCHED"
	# A disk seen first after loading gets that default.
	is "$name" "$(<"$dir/$name")" "$high"
	sched_set "$DISK" none
done
for name in "${TEXTS[@]}"; do
	text_values "$name"
	rmmod "$SCHED"
	for text in "${EINVAL[1]}" "${EINVAL[2]}" "${EINVAL[-1]}"; do
		modprobe "$SCHED" "$name=\"$text\"" 2>/dev/null &&
			fail "loads with $name=$text"
		grep -q "^$SCHED " /proc/modules && fail "half loaded"
	done
	modprobe "$SCHED" "$name=\"${GOOD[1]}\"" ||
		fail "does not load with $name=${GOOD[1]}"
	sched_set "$DISK" "$SCHED"
	is "$name" "$(<"$dir/$name")" "${GOOD[1]}"
	sched_set "$DISK" none
done
