# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: acfq
# takes: 20 s
# limit: 240 s
#
# Proves: weights takes one entry at a time by path or number, and refuses invalid text
# without a change; has room for 1024 entries, all of which are seen page by page; they
# persist across a switch to other schedulers, and are removed when the user takes them
# back.
# Fails if: flash_groups_parse() does not look at the range, flash_groups_set() does
# not keep the order, or flash_groups_print() begins each page at the start.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
flashsim_add size_mb=16 data=none
sched_set "$DISK" "$SCHED"
file=/sys/block/$DISK/queue/iosched/weights
group_add labA
a=$GROUP
group_add "lab B"
b=$GROUP

weight labA 10
weight "lab B" 20
is "by path" "$(sort -n "$file")" "$(printf '%s 10\n%s 20\n' "$a" "$b" | sort -n)"
echo "$a 30" >"$file" || fail "a number is refused"
is "by number" "$(grep -c "^$a 30$" "$file")" 1

# refused TEXT MESSAGE - writing it fails that way and changes nothing
refused() {
	local before out
	before=$(<"$file")
	out=$({ printf '%s\n' "$1" >"$file"; } 2>&1) && fail "weights takes '$1'"
	[[ $out == *"$2"* ]] || fail "'$1' gives: ${out##*: }, want: $2"
	[[ $(<"$file") == "$before" ]] || fail "'$1' has changed something"
}
einval='Invalid argument' erange='Numerical result out of range'
for text in "" " " abc 5 "5 " " 5" "/labA" "/nowhere 5" "labA 5" "-1 5" "5 -5" "5 x" \
	    "5 5x" "0x5 5" "5 5 5" "more" "more " "more x" "more -1"; do
	refused "$text" "$einval"
done
for text in "5 0" "5 1001" "0 5" "/labA 0" "/labA 99999999999999999999" \
	    "99999999999999999999 5" "more 1025"; do
	refused "$text" "$erange"
done

for ((n = 0; n < 1022; n++)); do
	echo "$((1000000000 + n * 5 % 1022)) $((n % 1000 + 1))" >"$file" ||
		fail "no room for entry $n"
done
refused "999999999 5" "No space left on device"
sched_set "$DISK" none
sched_set "$DISK" "$SCHED"

# every - all entries, page by page
every() {
	local page="more 0"
	while [[ -n $page ]]; do
		echo "$page" >"$file" || fail "weights refuses '$page'"
		grep -v more "$file"
		page=$(grep more "$file")
	done
	echo "more 0" >"$file"
}
every >"$TMP/all"
is "entries" "$(wc -l <"$TMP/all")" 1024
is "in their order, each once" "$(sort -nu "$TMP/all" | diff - "$TMP/all" | wc -l)" 0
while read -r id _; do
	echo "$id default" >"$file" || fail "entry $id cannot be taken back"
done <"$TMP/all"
is "entries that are left" "$(wc -l <"$file")" 0
sched_set "$DISK" none
flashsim_del
rmdir "$GROUPS_DIR/labA" "$GROUPS_DIR/lab B" || fail "a control group is used"
