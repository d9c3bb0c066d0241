# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# once: about flashsim, whatever the scheduler
# limit: 300 s
# takes: 105 s
# fast: no
#
# Proves: flashsim refuses values that are out of range, no number or no such
# word, and combinations that are not possible, with one message that names the
# value and the accepted ones; a refused device leaves nothing behind. It
# accepts the limits themselves.
# Fails if: the range check in fs_param_set() is removed, any of the checks in
# fs_config(), fs_units_cfg() or fs_layout_cfg() is, one of FS_NUMBERS changes,
# GENHD_FL_NO_PART is not set (6.12: a crash when a later device fails), or
# fs_available() is always true (the kernel may kill a process for want of
# memory).

einval='Invalid argument' erange='Numerical result out of range'

# From docs/flashsim.md, so that nothing changes by accident: least, most,
# default.
numbers='channels 1 64 8
ways 1 256 2
dies 1 8 1
page_kb 2 128 4
map_kb 2 128 4
prog_pages 1 16 1
pages_per_block 4 8192 64
size_mb 1 1048576 256
op_permille 20 1000 70
t_read_ns 0 1000000000 36000
t_prog_ns 0 1000000000 185000
t_erase_ns 0 1000000000 3500000
bus_mbps 1 100000 800
link_mbps 1 100000 3360
link_duplex 0 1 1
fw_read_ns 0 1000000000 20000
fw_write_ns 0 1000000000 10000
fw_per4k_ns 0 1000000000 0
cmd_read_ns 0 1000000 0
cmd_write_ns 0 1000000 0
turn_ns 0 10000000 0
jump_ns 0 10000000 0
suspend_us 0 10000 0
page_register 0 1 0
vary_permille 0 500 0
offset_sectors 0 1048576 0
gc_permille 1 500 100
wbuf_kb 0 1048576 0
slc_mb 0 1048576 0
t_prog_slc_ns 0 1000000000 110000
fill_pct 0 100 100
overwrite_pct 0 1000 0
rewrite_pct 0 100 0
seed 0 4294967295 1
nr_devices 1 16 1
nr_hw_queues 1 64 1
queue_depth 1 1023 256
max_kb 4 1024 512
data_mb 1 1048576 1024
time_scale 1 4096 1
shrink 1 4096 1
ranges 1 64 8
series_ms 1 1000 10
series_len 0 65536 0
log_len 0 4194304 0
rq_timeout_ms 100 600000 30000
error_ppm 0 1000000 0
timeout_ppm 0 1000000 0
requeue_ppm 0 900000 0
busy_ppm 0 900000 0
fault_sector 0 1099511627776 0
fault_sectors 0 1099511627776 0'
words='profile none A B C D E F
order chip_fifo read_first in_order
alloc static dynamic
stripe CWD CDW WCD WDC DCW DWC
gc chip device none
gc_step paced whole
service fixed exponential
data memory pattern none
fault_ops r w rw'
declare -A LOW=() HIGH=() DEFAULT=() WORDS=() USED=()
while read -r name low high default; do
	LOW[$name]=$low HIGH[$name]=$high DEFAULT[$name]=$default
done <<<"$numbers"
while read -r name text; do
	WORDS[$name]=$text
done <<<"$words"

# Nothing is missing above, and modinfo says the same.
while IFS=: read -r name text; do
	text=${text% (*}
	case $name in
	layout|xor|remove) ;;
	fault_ops) ;;
	*)
		if [[ -n ${WORDS[$name]:-} ]]; then
			is "description of $name" "$text" "one of ${WORDS[$name]}"
			continue
		fi
		text=${text//1ULL << 40/1099511627776}
		is "description of $name" "${text//ULL/}" \
			"${LOW[$name]:-} to ${HIGH[$name]:-}" ;;
	esac
done < <(modinfo -p flashsim | sed 's/ (string)$//')
is "parameters" "$(modinfo -p flashsim | wc -l)" \
	$((${#LOW[@]} + ${#WORDS[@]} + 3))

# Messages that flashsim should have printed since the last look, in this order.
SAID=()
heard=0
said() {
	local line n=0
	local -a lines
	mapfile -t lines < <(dmesg | sed -n 's/^\[[^]]*\] flashsim: //p' |
		grep -vE "^(\`|loading out-of-tree|module verification)")
	lines=("${lines[@]:heard}")
	for line in "${lines[@]}"; do
		((n < ${#SAID[@]})) || fail "said without being asked: $line"
		[[ $line == *"${SAID[n]}"* ]] ||
			fail "said '$line', want '${SAID[n]}'"
		n=$((n + 1))
	done
	((n == ${#SAID[@]})) || fail "said nothing about '${SAID[n]}'"
	say "ok: ${#SAID[@]} messages"
	heard=$((heard + n))
	SAID=()
}
heard=$(dmesg | sed -n 's/^\[[^]]*\] flashsim: //p' |
	grep -cvE "^(\`|loading out-of-tree|module verification)")

# refused STATUS MESSAGE PARAM=VALUE... - does not load
tried=0
refused() {
	local want=$1 message=$2 out
	shift 2
	out=$(modprobe flashsim "$@" 2>&1) && fail "loads with $*"
	[[ $out == *"$want"* ]] || fail "$*: ${out##*: }, want: $want"
	[[ ! -e /sys/module/flashsim && ! -e /sys/block/flashsim0 &&
	   ! -e $FLASHSIM ]] || fail "$*: half loaded"
	SAID+=("$message")
	tried=$((tried + 1))
	# Leftovers of refused loads would make this fail.
	((tried % 40)) || works
}

works() {
	flashsim_add size_mb=4
	dd if=/dev/zero of="/dev/$DISK" bs=4k count=4 oflag=direct status=none ||
		fail "cannot write"
	flashsim_del
}

# Memory of unloaded modules has a bare address as its owner.
orphans() { awk '$3 ~ /^0x/' /proc/vmallocinfo | wc -l; }
available() { awk '/^MemAvailable/ { print $2 }' /proc/meminfo; }

works
before=$(available)
is "vmalloc memory of no module" "$(orphans)" 0

# One by one: beyond both limits, and what is no number at all.
odd=(x -1 "" 1.5 0x8 1e3 "1 2" " " 5x)
n=0
while read -r name low high _; do
	want="want a number from $low to $high"
	refused "$erange" "$name: '$((high + 1))': $want" "$name=$((high + 1))"
	((low == 0)) ||
		refused "$erange" "$name: '$((low - 1))': $want" "$name=$((low - 1))"
	text=${odd[n++ % ${#odd[@]}]}
	refused "$einval" "$name: '$text': $want" "$name=$text"
done <<<"$numbers"
said
for name in size_mb error_ppm; do
	want="want a number from ${LOW[$name]} to ${HIGH[$name]}"
	for text in "${odd[@]}" "$(printf '%040d' 1)x"; do
		refused "$einval" "$name: '${text:0:32}': $want" "$name=$text"
	done
	for text in 18446744073709551615 18446744073709551616 \
		    99999999999999999999; do
		refused "$erange" "$name: '$text': $want" "$name=$text"
	done
done
said
while read -r name text; do
	first=${text%% *}
	for wrong in "" "${first}x" "$text" "${first:0:-1}"; do
		# The beginning of a word may be another one.
		[[ " $text " != *" $wrong "* || $wrong == "$text" ]] || continue
		refused "$einval" "$name: '${wrong:0:32}': want one of $text" \
			"$name=$wrong"
	done
done <<<"$words"
refused "No such device" "remove: '0': want the number of a device" remove=0
said

# Combinations that are refused.
buffered=(alloc=dynamic wbuf_kb=1024)
refused "$erange" "channels * ways is 260: want at most 256 chips" \
	channels=52 ways=5
want="want powers of two, map_kb at most page_kb"
refused "$einval" "page_kb 4, map_kb 8: $want" "${buffered[@]}" map_kb=8
refused "$einval" "page_kb 12, map_kb 12: $want" page_kb=12
refused "$einval" "page_kb 16, map_kb 6: $want" "${buffered[@]}" page_kb=16 \
	map_kb=6
want="want page_kb and 1 without alloc=dynamic and wbuf_kb"
refused "$einval" "map_kb 4, prog_pages 1: $want" page_kb=8 map_kb=4
refused "$einval" "map_kb 4, prog_pages 2: $want" prog_pages=2
refused "$einval" "map_kb 4, prog_pages 2: $want" prog_pages=2 alloc=dynamic
refused "$einval" "map_kb 4, prog_pages 2: $want" prog_pages=2 wbuf_kb=1024
refused "$einval" "page_kb / map_kb * prog_pages is 512: want at most 256" \
	"${buffered[@]}" page_kb=64 map_kb=2 prog_pages=16
refused "$einval" \
	"pages_per_block 64: want a multiple of prog_pages, which is 3" \
	"${buffered[@]}" prog_pages=3
want="want a power of two from map_kb"
refused "$einval" "max_kb 24: $want (4) to 1024" max_kb=24
refused "$einval" "max_kb 16: $want (32) to 1024" max_kb=16 page_kb=32
refused "$erange" "too many pages: want fewer than 2^31" "${buffered[@]}" \
	page_kb=128 map_kb=2 pages_per_block=8192 channels=64 ways=4 dies=8
refused "$einval" "gc device: want alloc=dynamic" gc=device
refused "$einval" "gc none: want alloc=static" gc=none alloc=dynamic
refused "$einval" "wbuf_kb 2: want 0 or at least what a program takes, 4" \
	wbuf_kb=2
refused "$einval" "wbuf_kb 31: want 0 or at least what a program takes, 32" \
	alloc=dynamic page_kb=16 map_kb=4 prog_pages=2 wbuf_kb=31
refused "$einval" "wbuf_kb 64: want 0 with gc=none" gc=none wbuf_kb=64
refused "$einval" "slc_mb 1: want 0 without a write buffer" slc_mb=1
said

dies=(channels=2 ways=2)
for text in x 1 1:2 1:2: :2:1 "1:2:1," ",1:2:1" 1:2:1:1 "1:2:1;2:2:2" -1:2:1 \
	    " 1:2:1" 1:2:4294967295 1:2:99999999999999999999 \
	    1:1:0,1:1:0,1:1:0,1:1:0,1:1:0,1:1:0,1:1:0,1:1:0,1:1:0; do
	refused "$einval" "layout: '$text': want 1 to 8 terms div:mod:mul" \
		"${dies[@]}" "layout=$text"
done
# No division, no digits, beyond the dies, twice the same one.
for text in 0:2:1 1:0:1 1:5:1 1:2:5 1:4:2 1:4:0 1:2:1,2:2:1 1:2:1,2:2:2,4:2:1 \
	    1:4:1,9:2:4; do
	refused "$einval" "layout '$text', xor '': must give each of 4 dies" \
		"${dies[@]}" layout=$text
done
for text in x "1," ",1" "1;2" "1 2" 1,2,3,4,5 -1 99999999999; do
	refused "$einval" "xor: '$text': want at most 4 shifts from 1 to 31" \
		"${dies[@]}" "xor=$text"
done
for text in 0 32 1,0 5,4294967294; do
	refused "$einval" "xor '$text': must give each of 4 dies" \
		"${dies[@]}" xor=$text
done
refused "$einval" "xor '3': must give each of 6 dies" channels=3 xor=3
refused "$einval" "layout '1:2:1', xor '': want alloc=static" alloc=dynamic \
	"${dies[@]}" layout=1:2:1
refused "$einval" "layout '', xor '3': want alloc=static" alloc=dynamic xor=3
said
out=$(modprobe flashsim layout="$(printf '%0128d' 0)" 2>&1) &&
	fail "loads with a layout that is too long"
[[ ! -e /sys/module/flashsim ]] || fail "half loaded"

is "vmalloc memory of no module" "$(orphans)" 0
# The kernel gives memory back in the background.
for ((n = 0; n < 20 && $(available) + 16384 <= before; n++)); do
	pause 0.5
done
holds "$(available) + 16384 > $before" "KiB that are available, now and before"

# More than there is memory for: at once, halfway through, at a later device.
refused "Cannot allocate memory" "no memory for a map of 536870912 units" \
	size_mb=1048576 page_kb=2
units=$(($(available) * 1024 * 6 / 40))
if ((units < 1 << 28)); then
	refused "Cannot allocate memory" "no memory for a map of" \
		size_mb=$((units >> 8)) alloc=dynamic
fi
refused "Cannot allocate memory" "no memory for a map of" size_mb=1 \
	nr_devices=16 log_len=4194304
# This much memory is available, but not without starving other users.
total=$(awk '/^MemTotal/ { print $2 }' /proc/meminfo)
devices=8
rows=$((($(available) - total / 32) * 1024 / 48 / devices))
while ((rows > HIGH[log_len])); do
	rows=$((rows / 2)) devices=$((devices * 2))
done
refused "Cannot allocate memory" "no memory for a map of" size_mb=1 \
	nr_devices=$devices "log_len=$rows"
said
dmesg | grep "Out of memory" &&
	fail "somebody was killed for it"

is "vmalloc memory of no module" "$(orphans)" 0
works
# Of such an amount CPUs keep some pages for themselves.
holds "$(available) + 65536 > $before" "KiB that are available, now and before"

# accepted PARAM=VALUE... - and works
accepted() {
	local pair
	flashsim_add "$@"
	for pair; do
		[[ $(<"$FLASHSIM_PARAMS/${pair%%=*}") == "${pair#*=}" ]] ||
			fail "$pair is $(<"$FLASHSIM_PARAMS/${pair%%=*}")"
		USED[$pair]=1
	done
	dd if="/dev/$DISK" of=/dev/null bs=4k count=1 iflag=direct status=none ||
		fail "cannot read"
	flashsim_del
}
least=()
while read -r name low _; do
	case $name in
	bus_mbps|link_mbps) ;;
	*) least+=("$name=$low") ;;
	esac
done <<<"$numbers"
accepted "${least[@]}"
accepted bus_mbps=1 link_mbps=1 size_mb=1
accepted channels=64 ways=4 dies=8 size_mb=1 op_permille=1000 max_kb=1024 \
	order=in_order
accepted channels=1 ways=256 dies=8 size_mb=1 ranges=64 gc_permille=500 \
	order=read_first
accepted page_kb=128 map_kb=128 overwrite_pct=1000 size_mb=64 fill_pct=100 \
	rewrite_pct=100 page_register=1 vary_permille=500
accepted alloc=dynamic wbuf_kb=1048576 page_kb=128 prog_pages=2 size_mb=16 \
	slc_mb=1048576 gc=device
accepted alloc=dynamic wbuf_kb=1024 prog_pages=16 size_mb=16
accepted pages_per_block=8192 page_kb=2 channels=1 ways=1 size_mb=1
accepted size_mb=1048576 gc=none offset_sectors=1048576
accepted size_mb=1048576 page_kb=128 max_kb=1024 bus_mbps=100000 \
	link_mbps=100000 link_duplex=1 suspend_us=10000 fill_pct=0
accepted fw_read_ns=1000000000 fw_write_ns=1000000000 size_mb=1 fill_pct=0 \
	t_read_ns=1000000000 t_prog_ns=1000000000 t_erase_ns=1000000000 \
	t_prog_slc_ns=1000000000 fw_per4k_ns=1000000000
accepted time_scale=4096 fw_read_ns=100 size_mb=4 t_read_ns=100 \
	service=exponential
accepted nr_devices=16 nr_hw_queues=64 queue_depth=1023 max_kb=4 size_mb=1
accepted seed=4294967295 data_mb=1048576 series_ms=1000 series_len=65536 \
	log_len=4194304 rq_timeout_ms=600000 channels=1 ways=1 size_mb=1 \
	gc_step=whole
accepted error_ppm=1000000 timeout_ppm=1000000 requeue_ppm=900000 \
	busy_ppm=900000 fault_sector=1099511627776 fault_sectors=1099511627776 \
	fault_ops=w size_mb=1
accepted shrink=4096 profile=E
for text in A B C D F; do
	accepted "profile=$text" shrink=4096
done
for text in ${WORDS[stripe]}; do
	accepted "stripe=$text" size_mb=1 dies=2
done
accepted data=pattern size_mb=1
accepted data=none size_mb=1
accepted layout= xor= size_mb=1
accepted layout=3:2:2,1:2:1 xor=1,31,7,8 "${dies[@]}" size_mb=1
for name in "${!LOW[@]}"; do
	for text in "$name=${LOW[$name]}" "$name=${HIGH[$name]}"; do
		[[ -n ${USED[$text]:-} ]] || accepted "$text" size_mb=1
	done
done

# While it is loaded: faults may change, and are checked as before.
flashsim_add size_mb=1
# unwritable FILE TEXT STATUS - changes nothing
unwritable() {
	local before out
	before=$(<"$FLASHSIM_PARAMS/$1")
	out=$({ echo "$2" >"$FLASHSIM_PARAMS/$1"; } 2>&1) && fail "$1 takes '$2'"
	[[ $out == *"$3"* ]] || fail "$1: '$2' gives ${out##*: }, want: $3"
	[[ $(<"$FLASHSIM_PARAMS/$1") == "$before" ]] || fail "$1 has changed"
}
writable=0
for name in "${!DEFAULT[@]}" "${!WORDS[@]}"; do
	[[ -z ${DEFAULT[$name]:-} || $name == size_mb ]] ||
		[[ $(<"$FLASHSIM_PARAMS/$name") == "${DEFAULT[$name]}" ]] ||
		fail "$name is $(<"$FLASHSIM_PARAMS/$name"), want the default"
	case $name in
	*_ppm|fault_sector*) ;;
	fault_ops)
		is "fault_ops" "$(<"$FLASHSIM_PARAMS/fault_ops")" rw
		for text in "" x wr R "r w" rwx; do
			unwritable "$name" "$text" "$einval"
			SAID+=("fault_ops: '$text': want one of r w rw")
		done
		for text in r w rw; do
			flashsim_fault "$name" "$text"
			is "$name" "$(<"$FLASHSIM_PARAMS/$name")" "$text"
		done
		continue ;;
	*)
		unwritable "$name" 1 "Permission denied"
		continue ;;
	esac
	writable=$((writable + 1))
	for text in "" x -1 5x; do
		unwritable "$name" "$text" "$einval"
		SAID+=("$name: '$text': want a number from 0 to ${HIGH[$name]}")
	done
	text=$((HIGH[$name] + 1))
	unwritable "$name" "$text" "$erange"
	SAID+=("$name: '$text': want a number from 0 to ${HIGH[$name]}")
	for text in "${HIGH[$name]}" 0; do
		flashsim_fault "$name" "$text"
		[[ $(<"$FLASHSIM_PARAMS/$name") == "$text" ]] ||
			fail "$name is not $text"
	done
done
is "faults that may change" $writable 6
for text in "" x -1 1 99999999999; do
	{ echo "$text" >"$FLASHSIM_PARAMS/remove"; } 2>/dev/null &&
		fail "removes '$text'"
	SAID+=("remove: '$text': want the number of a device that is there")
done
text=$(printf '%0100d' 1)
{ echo "$text" >"$FLASHSIM_PARAMS/remove"; } 2>/dev/null && fail "removes $text"
SAID+=("remove: '${text:0:32}': want the number of a device that is there")
{ : <"$FLASHSIM_PARAMS/remove"; } 2>/dev/null && fail "remove can be read"
said
flashsim_del
