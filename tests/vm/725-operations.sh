# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 15 s
# limit: 240 s
#
# Proves: docs/operations.md, for requests that a real device has. A discard and a
# write-zeroes of 1 MiB are charged as operations without data, a write of 128 KiB by
# its size; only the write is on the chips of its sector. On a zoned disk (Linux 6.10
# and later) a zone append is charged by its size and is on no chip, and a reset of the
# zone moves no data: an NVMe target issues both, as no program can send them. On 6.1 a
# driver's own commands that it issues in a batch are charged by their size, and are on
# no chip; on later kernels schedulers never see any.
# Fails if: flash_op_dir() takes a zone append or passthrough for none, or a discard for
# data; or a policy hands on blk_rq_pos() instead of flash_sector_of().

nqn=nqn.2026-11.lab:zns
nvmet=/sys/kernel/config/nvmet
target_del() {
	local file
	[[ -e $nvmet ]] || return 0
	for file in /sys/class/nvme/nvme*/subsysnqn; do
		[[ -e $file && $(<"$file") == "$nqn" ]] || continue
		echo 1 >"${file%/*}/delete_controller"
	done
	rm -f $nvmet/ports/1/subsystems/$nqn
	rmdir $nvmet/ports/1 $nvmet/subsystems/$nqn/namespaces/1 \
		$nvmet/subsystems/$nqn 2>/dev/null
}
trap target_del EXIT

# begin - selects the scheduler again, with a layout, and with charges that can be counted
begin() {
	sched_set "$DISK" "$SCHED"
	has_tun "$DISK" charge && tun "$DISK" charge sectors
	has_tun "$DISK" layout && tun "$DISK" layout "page=4096 chips=4"
	sched_new "$DISK"
}

# cost - of all tenants so far
cost() {
	arrays "$DISK" | sed -n 's/^tenant .* cost \([0-9]*\) .*/\1/p' |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# moved - sectors of all tenants so far
moved() {
	arrays "$DISK" | sed -n 's/^tenant .* sectors \([0-9]*\) .*/\1/p' |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# on_chips - requests that are counted on chips, each on each of its chips
on_chips() {
	arrays "$DISK" | awk '
		/^chip/ { n += $3 + $5 }
		/^layer/ { n += $NF }
		END { print n + 0 }'
}

# charged WHAT SECTORS PIECES CHIPS - of the only request, which the device has: acfq
# and hbfq charge SECTORS sectors, layer_read counts PIECES pieces; 8 is nothing
charged() {
	local what=$1 sectors=$2 pieces=$3 chips=$4
	await "$DISK" inflight 1
	case $SCHED in
	acfq | hbfq)
		is "cost of $what" "$(cost)" "$sectors"
		is "sectors of $what" "$(moved)" \
			"$((sectors == 8 ? 0 : sectors))" ;;
	layer_read)
		is "pieces of $what" "$(($(stat_of "$DISK" read_pieces) +
			$(stat_of "$DISK" write_pieces)))" "$pieces" ;;&
	k2 | piq | layer_read)
		is "chips of $what" "$(on_chips)" "$chips" ;;
	esac
}

# held SECTORS PIECES CHIPS COMMAND... - a request of the command, which is held
held() {
	local said=$TMP/said pid
	begin
	let_go 0
	"${@:4}" >"$said" 2>&1 &
	pid=$!
	charged "${*:4}" "$1" "$2" "$3"
	let_go -1
	wait $pid || fail "${*:4}: $(<"$said")"
	assert_idle "$DISK"
}

flashsim_add size_mb=64 data=none
held 8 1 0 blkdiscard -f -o 4M -l 1M "/dev/$DISK"
held 8 1 0 blkdiscard -fz -o 4M -l 1M "/dev/$DISK"
held 256 8 4 dd if=/dev/zero of="/dev/$DISK" bs=128k count=1 seek=1 oflag=direct \
	conv=notrunc status=none
held 256 4 4 dd if="/dev/$DISK" of=/dev/null bs=128k count=1 iflag=direct status=none
sched_set "$DISK" none
flashsim_del

# A driver's own commands
main_disk
begin
if has_uring && fio --enghelp | grep -qw io_uring_cmd; then
	run_fio --filename="/dev/ng${DISK#nvme}" --ioengine=io_uring_cmd \
		--cmd_type=nvme --rw=read --bs=64k --size=8m --iodepth=16 \
		--iodepth_batch=16 --iodepth_batch_complete_min=16 --name=own
	assert_idle "$DISK"
	if kernel_at_least 6.4; then
		is "inserted" "$(stat_of "$DISK" inserted)" 0
	else
		count=$(stat_of "$DISK" dispatched)
		holds "$count > 64" "most of 128 came in batches"
		case $SCHED in
		acfq | hbfq)
			is "cost of each" "$(($(cost) / count))" 128 ;;
		piq)
			is "on chips" "$(arrays "$DISK" | awk '
				/^chip/ { n += $NF } END { print n }')" 0 ;;
		esac
	fi
fi
sched_set "$DISK" none

kernel_at_least 6.10 || { say "no zoned disk has this scheduler"; exit 0; }

# The zone append stays in the device for so long that it can be looked at.
null_add zoned zoned=1 size=64 zone_size=4 blocksize=4096 irqmode=2 \
	completion_nsec=3000000000
echo 120000 >"/sys/block/$DISK/queue/io_timeout" || fail "io_timeout"
modprobe -a nvmet nvme-fabrics nvme-loop || skip "no NVMe target"
mkdir $nvmet/subsystems/$nqn $nvmet/subsystems/$nqn/namespaces/1 $nvmet/ports/1 ||
	fail "no target"
echo 1 >$nvmet/subsystems/$nqn/attr_allow_any_host
echo "/dev/$DISK" >$nvmet/subsystems/$nqn/namespaces/1/device_path
echo loop >$nvmet/ports/1/addr_trtype
echo 1 >$nvmet/subsystems/$nqn/namespaces/1/enable ||
	fail "the target refuses a zoned disk"
ln -s $nvmet/subsystems/$nqn $nvmet/ports/1/subsystems/$nqn
echo "transport=loop,nqn=$nqn" >/dev/nvme-fabrics || fail "no controller"
# shellcheck disable=SC2317  # soon calls it
zns_there() {
	local file path
	for file in /sys/class/nvme/nvme*/subsysnqn; do
		[[ $(<"$file") == "$nqn" ]] || continue
		path=$(compgen -G "${file%/*}/nvme*n1") || return 1
		# A path of several has the controller's number in its name.
		[[ ${path##*/} =~ ^(nvme[0-9]+)(c[0-9]+)?(n1)$ ]] || return 1
		ZNS=/dev/${BASH_REMATCH[1]}${BASH_REMATCH[3]}
		[[ -b $ZNS ]] && return 0
	done
	return 1
}
ZNS=
soon 30 zns_there || fail "the target has no disk"
say "the zoned disk is $ZNS of an NVMe target"
# The target does not take more at a time.
head -c 64k /dev/urandom >"$TMP/data"

# zoned SECTORS PIECES COMMAND... - the same, of an append or a reset
zoned() {
	local said=$TMP/said pid
	begin
	{ "${@:3}" >"$said" 2>&1 || say "failed" >>"$said"; } &
	pid=$!
	if ! soon 20 counter_is "$DISK" inflight 1; then
		fail "$3 $4 $5 sends nothing: $(<"$said")"
	fi
	charged "$3 $4 $5" "$1" "$2" 0
	wait $pid
	! grep -q failed "$said" || fail "$3 $4 $5: $(<"$said")"
	assert_idle "$DISK"
	is "inserted" "$(stat_of "$DISK" inserted)" 1
}
zoned 128 4 nvme zns zone-append "$ZNS" -s 0 -z 65536 -d "$TMP/data"
zoned 8 1 nvme zns reset-zone "$ZNS" -s 0
sched_set "$DISK" none
target_del
