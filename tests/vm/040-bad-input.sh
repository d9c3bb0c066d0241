# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Proves: every tunable refuses what is no number (EINVAL) and what is outside
# its range (ERANGE), keeps its value then, and takes both its limits; the
# module parameters likewise; what is read-only cannot be written.
# Fails if: the range check in flash_parse() is removed, or its test for a
# leading digit, or a tunable's limits are changed without its description.

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
einval='Invalid argument' erange='Numerical result out of range'

tunables=0
while IFS=: read -r name text; do
	[[ $text =~ ([0-9]+)\ to\ ([0-9]+)\ \(([0-9]+)\) ]] ||
		fail "the description of parameter $name has no range: $text"
	low=${BASH_REMATCH[1]} high=${BASH_REMATCH[2]} default=${BASH_REMATCH[3]}
	tunables=$((tunables + 1))
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
done < <(modinfo -p "$SCHED" | sed 's/ (uint)$//')
holds "$tunables > 0" "tunables were tried"

for file in "$dir"/*; do
	[[ $(stat -c %a "$file") == 444 ]] || continue
	before=$(<"$file")
	{ echo 0 >"$file"; } 2>/dev/null && fail "${file##*/} can be written"
	is "${file##*/} after a write" "$(<"$file")" "$before"
done
assert_idle "$DISK"
sched_set "$DISK" none

# The same at load time.
while IFS=: read -r name text; do
	[[ $text =~ ([0-9]+)\ to\ ([0-9]+)\ \(([0-9]+)\) ]]
	low=${BASH_REMATCH[1]} high=${BASH_REMATCH[2]}
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
done < <(modinfo -p "$SCHED" | sed 's/ (uint)$//')
