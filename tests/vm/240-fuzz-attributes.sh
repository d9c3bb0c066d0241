# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2153
# core: yes
# takes: 15 s, 40 s if slow
#
# Proves: a write to a tunable or a module parameter under load, while other
# processes read all files, sets the value if it is legal; otherwise the value
# stays as it was and the writer gets EINVAL or ERANGE. No other tunable changes,
# and the load sees no error. The written texts are drawn from legal and illegal
# ones; the case prints the seed.
# Fails if: flash_number() does not look at the range or at the first character,
# flash_tunable_store() sets the value before it has looked at it, or one index
# of the table is that of its neighbour.

main_disk
sched_set "$DISK" "$SCHED"
tunables
seeded
dir=/sys/block/$DISK/queue/iosched
params=/sys/module/$SCHED/parameters

# Files with their ranges and the values that they should have.
files=() texts=()
declare -A least=() most=() value=()
for name in "${TEXTS[@]}"; do
	texts+=("$dir/$name" "$params/$name")
	read -r "value[$dir/$name]" <"$dir/$name"
	read -r "value[$params/$name]" <"$params/$name"
done
for name in "${TUNABLES[@]}"; do
	for file in "$dir/$name" "$params/$name"; do
		files+=("$file")
		least[$file]=${LOW[$name]} most[$file]=${HIGH[$name]}
		read -r "value[$file]" <"$file"
	done
done

# text_for FILE - sets TEXT to something that might be written to it
odd=("" " " abc -1 +1 0x10 1e3 1.5 "1 2" "1,2" $'5\t' " 5" "5 " x5 5x
     4294967295 4294967296 18446744073709551615 18446744073709551616
     99999999999999999999999 $'\x01' 000000000000000000000000000000005 007 none
     "$(printf '%0400d' 3)" "$(printf '%0400d' 3)x" '*' "%s%s%n" "../../x" "''")
text_for() {
	local l=${least[$1]} h=${most[$1]} n
	case $((RANDOM % 8)) in
	0) TEXT=${odd[RANDOM % ${#odd[@]}]} ;;
	1)	# Characters of numbers, and what is often taken for one
		TEXT=
		for ((n = RANDOM % 8; n; n--)); do
			TEXT+=${chars:RANDOM % ${#chars}:1}
		done ;;
	2) TEXT=$((h + RANDOM % 4)) ;;
	3) TEXT=$((l - RANDOM % 3)) ;;
	4) draw 0 1073741823; TEXT=$DRAWN ;;
	5) TEXT=$((l + RANDOM % (h - l < 8 ? h - l + 1 : 8))) ;;
	*) draw "$l" "$h"; TEXT=$DRAWN ;;
	esac
}
chars='0123456789 -+.xeE'

# wanted FILE TEXT - sets WANT to what becomes of it: ok, EINVAL or ERANGE
wanted() {
	local digits
	WANT=EINVAL
	[[ $2 =~ ^[0-9]+$ ]] || return
	WANT=ERANGE
	digits=${2#"${2%%[!0]*}"}
	digits=${digits:-0}
	((${#digits} <= 10 && digits >= least[$1] && digits <= most[$1])) || return
	WANT=ok
	TEXT=$digits
}

# check FILE - it has the value that it should have
check() {
	local now
	read -r now <"$1"
	[[ $now == "${value[$1]}" ]] ||
		fail "${1#/sys/} is '$now', should be '${value[$1]}' $2"
}

# refused WHAT WANT - what it was refused with, in $TMP/said
refused() {
	local said got
	said=$(<"$TMP/said")
	case $said in
	*"Invalid argument") got=EINVAL ;;
	*"Numerical result out of range") got=ERANGE ;;
	*) got=$said ;;
	esac
	[[ $got == "$2" ]] || fail "$1 gives $got, want $2"
}

(
	while [[ ! -e $TMP/written ]]; do
		cat "$dir"/* "$params"/* "$ARRAYS" >/dev/null || exit 1
	done
) &
reader=$!
load_start "$DISK"
declare -A count=([ok]=0 [EINVAL]=0 [ERANGE]=0)
for ((n = 0; n < 500 / ${LAB_SLOW:-1}; n++)); do
	file=${files[RANDOM % ${#files[@]}]}
	text_for "$file"
	text=$TEXT
	wanted "$file" "$text"
	count[$WANT]=$((count[$WANT] + 1))
	if printf '%s\n' "$text" 2>"$TMP/said" >"$file"; then
		[[ $WANT == ok ]] ||
			fail "${file#/sys/} takes '$text', want $WANT"
		value[$file]=$TEXT
	else
		refused "${file#/sys/}: '$text'" "$WANT"
	fi
	check "$file" "after '$text'"
	if ((n % 20 == 0)); then
		for other in "${files[@]}" "${texts[@]}"; do
			check "$other" "after '$text' to ${file#/sys/}"
		done
		load_alive
	fi
	# No number is a good text, and no text a good number.
	((${#texts[@]} && n % 5 == 0)) || continue
	file=${texts[RANDOM % ${#texts[@]}]}
	text_values "${file##*/}"
	if ((RANDOM % 2)); then
		text=${GOOD[RANDOM % ${#GOOD[@]}]}
		echo "$text" >"$file" || fail "${file#/sys/} refuses '$text'"
		value[$file]=$text
	else
		bad=("${EINVAL[@]}" "${ERANGE[@]}")
		draw 0 $((${#bad[@]} - 1))
		text=${bad[DRAWN]}
		{ echo "$text" >"$file"; } 2>"$TMP/said" &&
			fail "${file#/sys/} takes '$text'"
		want=EINVAL
		((DRAWN < ${#EINVAL[@]})) || want=ERANGE
		refused "${file#/sys/}: '$text'" $want
	fi
	check "$file" "after '$text'"
done
: >"$TMP/written"
wait $reader || fail "a file could not be read"
say "${count[ok]} were taken, ${count[EINVAL]} no numbers, ${count[ERANGE]} out" \
    "of range"
holds "${count[ok]} > n / 10 && ${count[EINVAL]} > n / 25 &&
	${count[ERANGE]} > n / 25"
load_stop
assert_idle "$DISK"
