# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# once: about flashsim, whatever the scheduler
# takes: 25 s
#
# Proves: flashsim holds no more data than data_mb says, writes beyond end in
# ENOSPC and harm nothing, memory is given back; data=pattern reads as its own
# byte address, data=none keeps nothing.
# Fails if: fs_new_page() allows one page more than max_pages, fs_free() does not
# free the pages, or fs_data() does not advance pos after a segment.

free_kb() {
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^MemFree/ { print $2 }' /proc/meminfo
}

# copy FIRST_MB MB - from the file to the device; what dd says
copy() {
	dd if="$TMP/file" of="/dev/$DISK" bs=256k skip=$(($1 * 4)) \
		seek=$(($1 * 4)) count=$(($2 * 4)) oflag=direct conv=notrunc 2>&1
}
same() {	# FIRST_MB MB
	dd if="/dev/$DISK" bs=1M skip="$1" count="$2" iflag=direct status=none |
		cmp - <(dd if="$TMP/file" bs=1M skip="$1" count="$2" \
			status=none) || fail "other data in MB $1 to $(($1 + $2))"
	say "ok: $2 MB from MB $1"
}

head -c 13M /dev/urandom >"$TMP/file"
for bound in 1 9; do
	flashsim_add size_mb=16 data_mb=$bound t_prog_ns=1000 fill_pct=0
	is "pages before the first write" "$(flashsim_stat data_pages)" 0
	out=$(copy 0 "$bound") || fail "writing within the bound: $out"
	is "pages" "$(flashsim_stat data_pages)" $((bound * 256))
	out=$(copy "$bound" 4) && fail "writing beyond the bound"
	[[ $out == *"No space left on device"* ]] || fail "beyond it: $out"
	is "pages" "$(flashsim_stat data_pages)" $((bound * 256))
	same 0 $bound
	# There is room for what is there already, also after a discard.
	blkdiscard -o 0 -l 524288 "/dev/$DISK" || fail "discard"
	out=$(copy 0 "$bound") || fail "overwriting: $out"
	is "pages" "$(flashsim_stat data_pages)" $((bound * 256))
	same 0 $bound
	is "reads beyond" "$(dd if="/dev/$DISK" bs=1M skip=$((bound + 4)) count=1 \
		iflag=direct status=none | tr -d '\0' | wc -c)" 0
	flashsim_del
done

# Several writers at the bound count no page twice.
flashsim_add size_mb=64 data_mb=8 nr_hw_queues=2 t_prog_ns=1000 fill_pct=0
fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio --iodepth=16 --bs=2k \
	--rw=randwrite --size=12m --thread=1 --continue_on_error=write \
	--ignore_error=,28 --randseed=3 --output="$TMP/bound" --name=a --name=b \
	>/dev/null 2>&1 || fail "fio gave up"
grep -q "first_error=28" "$TMP/bound" || fail "no ENOSPC from fio"
is "pages" "$(flashsim_stat data_pages)" 2048
flashsim_del

# All of it is freed. CPUs keep some tens of MiB of pages for themselves, so
# much more is written.
before=$(free_kb)
for ((n = 0; n < 4; n++)); do
	flashsim_add size_mb=64 t_prog_ns=1000 bus_mbps=10000 fill_pct=0
	dd if=/dev/zero of="/dev/$DISK" bs=512k count=120 oflag=direct \
		status=none || fail "cannot write"
	is "pages" "$(flashsim_stat data_pages)" 15360
	flashsim_del
done
after=$(free_kb)
holds "$after > $before - 80 * 1024" "KiB free, afterwards and before"

# words SECTOR SECTORS - compares with addresses that od has counted
words() {
	dd if="/dev/$DISK" bs=512 skip="$1" count="$2" iflag=direct status=none |
		od -An -v -t u8 -w8 | tr -d ' ' >"$TMP/words"
	seq -f %.0f $(($1 * 512)) 8 $((($1 + $2) * 512 - 8)) |
		cmp - "$TMP/words" || fail "other words in sector $1"
	say "ok: words of $2 sectors from sector $1"
}
flashsim_add data=pattern size_mb=1048576 gc=none data_mb=1
words 0 1
words 2047 3
words 2147483000 200
words 2147483647 1
# In one request of many segments, and through the page cache.
dd if="/dev/$DISK" bs=512k count=1 skip=3 status=none |
	od -An -v -t u8 -w8 | tr -d ' ' >"$TMP/words"
seq -f %.0f $((3 << 19)) 8 $(((4 << 19) - 8)) | cmp - "$TMP/words" ||
	fail "other words through the page cache"
dd if=/dev/zero of="/dev/$DISK" bs=4k count=1000 oflag=direct status=none ||
	fail "cannot write"
words 8 8
is "pages" "$(flashsim_stat data_pages)" 0
flashsim_del

flashsim_add data=none size_mb=64 data_mb=1
run_fio --filename="/dev/$DISK" --direct=1 --ioengine=libaio --iodepth=8 \
	--bs=64k --rw=randrw --size=4m --name=none
is "pages" "$(flashsim_stat data_pages)" 0
holds "$(flashsim_stat write_bytes) > 1 << 20"
flashsim_del
