# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2004
#
# once: about flashsim, whatever the scheduler
# limit: 400 s
# takes: 70 s
# fast: no
#
# Proves: flashsim keeps data, in every mode of its flash translation layer:
# requests of all sizes and alignments, overwrites until blocks are collected,
# discards, zeroes, flushes, FUA; and a file system lives on it.
# Fails if: fs_copy() leaves out writes of part of a page, or fs_forget() does
# nothing, or forgets a whole page for a part of it.

# Small and fast, so that the flash is overwritten several times over.
MB=4
base=("size_mb=$MB" channels=2 ways=1 pages_per_block=8 t_read_ns=2000
      t_prog_ns=4000 t_erase_ns=20000 fw_read_ns=1000 fw_write_ns=1000)

# The mirror has the data that the device should have.
mirror=$TMP/mirror
head -c ${MB}M /dev/urandom >"$TMP/first"
head -c ${MB}M /dev/urandom >"$TMP/second"

# zeroed SECTOR SECTORS - as the device after a discard
zeroed() {
	dd if=/dev/zero of="$mirror" bs=512 seek="$1" count="$2" conv=notrunc \
		status=none
}

same() {	# WHAT
	dd if="/dev/$DISK" bs=512k iflag=direct status=none |
		cmp - "$mirror" || fail "other data after $1"
	say "ok: the data after $1"
}

# fio verifies on its own: mixed sizes twice over, reads in between, O_DSYNC
# with fsync, trims before writes.
load() {
	run_fio --filename="/dev/$DISK" --direct=1 --verify=crc32c --thread=1 \
		--verify_fatal=1 --do_verify=1 --ioengine=libaio --iodepth=16 \
		--bssplit=512/10:1536/10:4k/30:20k/20:128k/20:512k/10 \
		--name=mixed --rw=randwrite --size=1536k --loops=2 \
		--name=both --rw=randrw --offset=1536k --size=1m \
		--name=sync --rw=randwrite --offset=2560k --size=128k \
		--sync=dsync --fsync=16 --ioengine=psync --bssplit=512/50:6k/50 \
		--name=trim --rw=trimwrite --offset=3m --size=1m --bs=32k
}

# The rest against the mirror.
mirrored() {
	local dev=/dev/$DISK
	cp "$TMP/first" "$mirror"
	dd if="$mirror" of="$dev" bs=256k oflag=direct status=none ||
		fail "cannot write"
	blkdiscard -o $((1 << 20)) -l $((512 << 10)) "$dev" || fail "discard"
	zeroed 2048 1024
	# Neither begins nor ends with a page of anything.
	blkdiscard -o $((4099 * 512)) -l $((77 * 512)) "$dev" || fail "discard"
	zeroed 4099 77
	blkdiscard -z -o $((6001 * 512)) -l $((513 * 512)) "$dev" ||
		fail "write zeroes"
	zeroed 6001 513
	fallocate -z -n -o $((7001 * 512)) -l $((3 * 512)) "$dev" ||
		fail "fallocate -z"
	zeroed 7001 3
	fallocate -p -o $((8000 * 512)) -l $((192 * 512)) "$dev" ||
		fail "fallocate -p"
	zeroed 8000 192
	# Into what was discarded, half of a page, straight to the flash.
	dd if="$TMP/second" of="$dev" bs=512 seek=4101 count=5 conv=notrunc \
		oflag=direct,dsync status=none || fail "cannot write"
	dd if="$TMP/second" of="$mirror" bs=512 seek=4101 count=5 \
		conv=notrunc status=none
	same "a direct copy with holes"

	# Through the page cache: sizes as the kernel likes them, and a flush.
	cp "$TMP/second" "$mirror"
	dd if="$mirror" of="$dev" bs=10000 conv=fsync status=none ||
		fail "cannot write"
	same "a buffered copy"
}

# No garbage collection nor folding runs in the background, nor is anything left
# to fold, which begins when the device has been idle for a while.
calm() {
	local before n
	(($(flashsim_stat slc_bytes) == 0)) || return 1
	before=$(flashsim_stat nand_reads)
	for ((n = 0; n < 5; n++)); do nap; done
	(($(flashsim_stat nand_reads) == before))
}

# Less than one program unit stays in the write buffer until a flush.
buffered() {
	dd if="$mirror" of="/dev/$DISK" bs=4k count=1 oflag=direct conv=notrunc \
		status=none || fail "cannot write"
	soon 30 calm || fail "the device is never done"
	flashsim_reset
	holds "$(flashsim_stat buffer_bytes) > 0" "in the buffer"
	dd if="/dev/$DISK" bs=4k count=1 iflag=direct status=none |
		cmp -n 4096 - "$mirror" || fail "other data in the buffer"
	flashsim_get
	is "reads from the buffer, from the flash" \
		"$((${FS[buffer_hits]} * ${FS[map_bytes]})) ${FS[nand_reads]}" "4096 0"
	blockdev --flushbufs "/dev/$DISK"
	dd if=/dev/null of="/dev/$DISK" conv=fsync,notrunc status=none
	is "in the buffer after a flush" "$(flashsim_stat buffer_bytes)" 0
}

sets=0
try() {	# NAME PARAM=VALUE...
	local name=$1 gc schedulers=(none mq-deadline)
	shift
	say "--- $name"
	flashsim_add "${base[@]}" "$@"
	sched_set "$DISK" "${schedulers[sets++ % 2]}"
	load
	mirrored
	flashsim_get
	is "requests that are left" "${FS[outstanding]}" 0
	gc=${FS[gc]}
	[[ $gc == none ]] || holds "${FS[gc_erases]} > 0" "collection ran"
	if [[ " $* " == *" wbuf_kb="* ]]; then
		holds "${FS[flushes]} > 0" "flushes came"
		is "left in the buffer after them" "${FS[buffer_bytes]}" 0
	fi
	if [[ " $* " == *" slc_mb="* ]]; then
		holds "${FS[slc_programs]} > 0" "the SLC buffer was used"
	fi
	holds "${FS[read_bytes]} > 2 * $MB << 20 && ${FS[discards]} > 0 &&
		${FS[zeroes]} > 0"
	[[ " $* " != *" prog_pages="* ]] || buffered
	flashsim_del
}

try static
try static-whole gc_step=whole order=in_order nr_hw_queues=2
try static-buffer wbuf_kb=64 order=read_first suspend_us=20
try static-2k page_kb=2 dies=2 max_kb=4 pages_per_block=4 stripe=DWC
try static-layout ways=2 layout=1:2:2,7:2:1 offset_sectors=63 max_kb=1024
try static-xor ways=2 dies=2 xor=3,5 page_kb=16 order=read_first
try in-place gc=none queue_depth=1
try in-place-xor gc=none channels=4 xor=2 offset_sectors=9 suspend_us=20
try dynamic alloc=dynamic max_kb=1024 page_register=1 vary_permille=500
try dynamic-whole alloc=dynamic gc_step=whole wbuf_kb=256 service=exponential
try device alloc=dynamic gc=device nr_hw_queues=2
try device-whole alloc=dynamic gc=device gc_step=whole order=in_order \
	queue_depth=1 service=exponential
try device-buffer alloc=dynamic gc=device page_kb=16 map_kb=4 prog_pages=2 \
	wbuf_kb=128 order=read_first suspend_us=20 nr_hw_queues=2 \
	page_register=1 rewrite_pct=50
try programs alloc=dynamic page_kb=8 map_kb=2 prog_pages=4 wbuf_kb=64 \
	order=in_order max_kb=4 overwrite_pct=100
try slc alloc=dynamic gc=device gc_step=whole page_kb=16 map_kb=4 prog_pages=3 \
	pages_per_block=24 wbuf_kb=512 slc_mb=2 service=exponential
say "$sets sets of parameters"

# file_system PARAM=VALUE...
file_system() {
	local n
	flashsim_add "${base[@]}" size_mb=24 "$@"
	mkfs.ext4 -q "/dev/$DISK" || fail "mkfs.ext4"
	mount -t ext4 -o discard "/dev/$DISK" /mnt || fail "mount"
	for ((n = 0; n < 24; n++)); do
		head -c $((n * 11000 + 1)) /dev/urandom >"/mnt/$n" || fail "write"
	done
	sync -f /mnt
	rm /mnt/?
	cp /mnt/23 /mnt/a || fail "copy"
	cp /mnt/22 /mnt/b || fail "copy"
	(cd /mnt && sha1sum -- [0-9a-z] [0-9][0-9]) >"$TMP/sums"
	umount /mnt || fail "umount"
	e2fsck -fn "/dev/$DISK" || fail "e2fsck finds something"
	echo 3 >/proc/sys/vm/drop_caches
	mount -t ext4 "/dev/$DISK" /mnt || fail "mount again"
	(cd /mnt && sha1sum -s -c "$TMP/sums") || fail "files differ"
	umount /mnt || fail "umount again"
	holds "$(flashsim_stat discards) > 0" "the file system discards"
	is "files compared" "$(wc -l <"$TMP/sums")" 16
	flashsim_del
}

file_system
file_system alloc=dynamic gc=device page_kb=16 map_kb=4 prog_pages=2 \
	wbuf_kb=128 nr_hw_queues=2
