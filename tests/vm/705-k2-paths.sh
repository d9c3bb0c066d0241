# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2153
# for: k2
# takes: 150 s
# limit: 900 s
#
# Proves: which ways of I/O bring a real-time priority to the scheduler, and which bring
# the control group. Each way is tried three times: by an ordinary task, by a task with
# real-time priority, and by one in a listed group; each time k2 reports how many requests
# were real-time. The expected results are the table of docs/where.md. That io alone is
# enabled for the group is part of it: writeback is charged to the group nevertheless, as
# the kernel then enables memory, too. The case also checks that a write to
# queue/scheduler of a disk without requests is ignored or fails, that a kprobe finds the
# program that writes to one, and that virtio disks claim to rotate.
# Fails if: policy_bio_class() and policy_rq_class() look at neither a bio's priority nor
# its group, or at the task that runs; or a kernel does otherwise than the table says.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need

nqn=nqn.2026-11.lab:k2
nvmet=/sys/kernel/config/nvmet
crypt_del() { dmsetup remove --noudevsync labcrypt 2>/dev/null; }
target_del() {
	local file
	for file in /sys/class/nvme/nvme*/subsysnqn; do
		[[ -e $file && $(<"$file") == "$nqn" ]] || continue
		echo 1 >"${file%/*}/delete_controller"
	done
	rm -f $nvmet/ports/1/subsystems/$nqn
	rmdir $nvmet/ports/1 $nvmet/subsystems/$nqn/namespaces/1 \
		$nvmet/subsystems/$nqn 2>/dev/null
}
loop_del() { [[ -z ${loop-} ]] || losetup -d "$loop"; loop=; }
all_gone() {
	loop_del
	crypt_del
	[[ ! -e $nvmet ]] || target_del
}
trap all_gone EXIT

# The ways. $1 is the disk; each moves 64 blocks or so.
dd_() { dd "$@" status=none; }
fio_() {
	fio_quiet --filename="/dev/$1" --bs=4k --number_ios=64 --size=1m --name=way "${@:2}"
}
cold() {
	blockdev --flushbufs "/dev/$1"
	echo 3 >/proc/sys/vm/drop_caches
}
direct_read() { dd_ if="/dev/$1" of=/dev/null bs=4k count=64 iflag=direct; }
direct_write() { dd_ if=/dev/zero of="/dev/$1" bs=4k count=64 oflag=direct; }
buffered_read() { dd_ if="/dev/$1" of=/dev/null bs=4k count=64; }
buffered_fsync() { dd_ if=/dev/zero of="/dev/$1" bs=4k count=64 conv=fsync,notrunc; }
buffered_osync() { dd_ if=/dev/zero of="/dev/$1" bs=4k count=64 oflag=dsync; }
# Written back after the writer has ended, see go().
buffered_later() {
	exec {kept}<"/dev/$1"
	dd_ if=/dev/zero of="/dev/$1" bs=4k count=64 conv=notrunc
}
mapped_read() { fio_ "$1" --ioengine=mmap --rw=randread; }
libaio() { fio_ "$1" --ioengine=libaio --direct=1 --rw=randread --iodepth=8 "${@:2}"; }
uring() { fio_ "$1" --ioengine=io_uring --direct=1 --rw=randread --iodepth=8 "${@:2}"; }

# go TOP DISK HOW COMMAND... - runs COMMAND on TOP, and sets CAME to the class of
# its requests at DISK: all real-time, none, or some; HOW is plain, prio or group
CAME=
go() {
	local top=$1 disk=$2 how=$3 rt nrt kept status=0
	shift 3
	cold "$top"
	assert_idle "$disk" >/dev/null
	rt=$(stat_of "$disk" served_rt) nrt=$(stat_of "$disk" served_nrt)
	# The last close writes back.
	exec {kept}<"/dev/$top"
	(
		case $how in
		prio)
			if [[ $1 == per_request ]]; then
				set -- "$2" "${@:3}" --cmdprio_class=1 \
					--cmdprio_percentage=100
			else
				ionice -c1 -n2 -p "$BASHPID" || exit
			fi ;;
		group) echo "$BASHPID" >"$GROUPS_DIR/labA/cgroup.procs" || exit ;;
		esac
		[[ $1 != per_request ]] || shift
		"$1" "$top" "${@:2}"
	) || status=1
	# Another task writes the rest back.
	sync
	exec {kept}<&-
	((status == 0)) || fail "$*: it cannot be done"
	assert_idle "$disk" >/dev/null
	rt=$(($(stat_of "$disk" served_rt) - rt))
	nrt=$(($(stat_of "$disk" served_nrt) - nrt))
	case $((rt > 0))$((nrt > 0)) in
	10) CAME=yes ;;
	01) CAME=no ;;
	11) CAME="$rt of $((rt + nrt))" ;;
	*) CAME=nothing ;;
	esac
}

# wanted WANT - sets WANTED to what is wanted of this kernel: one word for all, or
# "6.1:WORD 6.12:WORD ...", each for its kernel and later ones, the oldest first
WANTED=
wanted() {
	local one
	WANTED=$1
	for one in $1; do
		[[ $one != *:* ]] || ! kernel_at_least "${one%%:*}" ||
			WANTED=${one#*:}
	done
}

# way NAME TOP DISK PRIO GROUP COMMAND... - a row of the table
wrong=() rows=()
way() {
	local name=$1 top=$2 disk=$3 prio=$4 group=$5 how got row="| $1 |"
	shift 5
	for how in plain prio group; do
		if [[ -n ${fresh-} ]]; then
			null_add way memory_backed=1 size=64 >/dev/null
			wbt_off "$DISK"
			sched_set "$DISK" "$SCHED"
			top=$DISK disk=$DISK
		fi
		tun "$disk" rt_cgroups "/labA 2"
		go "$top" "$disk" $how "$@"
		tun "$disk" rt_cgroups "/labA default"
		[[ -z ${fresh-} ]] || null_del way
		case $how in
		plain) WANTED=no ;;
		prio) wanted "$prio" ;;
		group) wanted "$group" ;;
		esac
		[[ $CAME == "$WANTED" ]] ||
			wrong+=("$name, $how: $CAME, want $WANTED;")
		[[ $how == plain ]] || row+=" $CAME |"
	done
	rows+=("$row")
	say "$row"
}

# pass_on NAME DISK WANT - a write to queue/scheduler of a disk that passes bios on is
# ignored, or the file is absent: then a shell, which tries to create it, gets EACCES,
# other programs ENOENT
passing=()
pass_on() {
	local file=/sys/block/$2/queue/scheduler shell other
	if [[ -e $file ]]; then
		echo "$SCHED" >"$file" && echo nonsense >"$file" &&
			CAME=$(<"$file")
		[[ $CAME != none ]] || CAME=ignored
	else
		shell=$({ echo "$SCHED" >"$file"; } 2>&1)
		other=$(echo "$SCHED" | dd of="$file" conv=nocreat 2>&1)
		CAME="$shell, $other"
		[[ $CAME != *"Permission denied"*", "*"No such file"* ]] || CAME=absent
	fi
	wanted "$3"
	[[ $CAME == "$WANTED" ]] || wrong+=("$1: $CAME, want $WANTED;")
	passing+=("| $1 | $CAME |")
	say "| $1 | $CAME |"
}

group_add labA
null_add base memory_backed=1 size=64
base=$DISK
wbt_off "$base"
sched_set "$base" "$SCHED"

way "direct read" "$base" "$base" yes yes direct_read
way "direct write" "$base" "$base" yes yes direct_write
way "libaio" "$base" "$base" yes yes libaio
way "libaio, priority of each request" "$base" "$base" yes yes per_request libaio
if has_uring; then
	way "io_uring" "$base" "$base" yes yes uring
	way "io_uring, priority of each request" "$base" "$base" yes yes \
		per_request uring
	way "io_uring, sqthread_poll" "$base" "$base" yes yes uring --sqthread_poll=1
	way "io_uring, force_async" "$base" "$base" yes yes uring --force_async=1
else
	say "skipped: io_uring, which this kernel or this fio does not have"
fi
way "buffered read" "$base" "$base" yes yes buffered_read
way "mapped read" "$base" "$base" yes yes mapped_read
fresh=1
way "buffered write, fsync" - - yes yes buffered_fsync
way "buffered write, O_DSYNC" - - yes yes buffered_osync
way "buffered write, written back later" - - no yes buffered_later
fresh=

# Disks without requests
if modprobe zram 2>/dev/null; then
	pass_on "zram" zram0 "6.1:ignored 6.12:absent 7.3:absent"
fi
if modprobe brd rd_nr=1 2>/dev/null; then
	pass_on "brd (RAM disk)" ram0 "6.1:ignored 6.12:absent 7.3:absent"
	rmmod brd
fi

# The reason for a rule of packaging/65-flash-iosched.rules that has no rotational==0
if modprobe -a virtio_pci virtio_blk 2>/dev/null && lab_disk 5 lab-virtio; then
	is "rotational of a virtio disk" "$(<"/sys/block/${DISKS[0]}/queue/rotational")" 1
fi

# The program that sets a scheduler, found as docs/where.md does it; guests begin with
# tracing off
if [[ -e $TRACING/kprobe_events ]]; then
	echo 1 >"$TRACING/tracing_on"
	# The name is fetched by the probe: of a program that ends soon the kernel
	# keeps none.
	echo "p:flash_who elv_iosched_store by=\$comm" >>"$TRACING/kprobe_events" ||
		fail "no probe at elv_iosched_store"
	echo 1 >"$TRACING/events/kprobes/flash_who/enable"
	echo "$SCHED" | tee "/sys/block/$base/queue/scheduler"
	echo 0 >"$TRACING/events/kprobes/flash_who/enable"
	echo 0 >"$TRACING/tracing_on"
	grep -q ' flash_who: .* by="tee"' "$TRACING/trace" ||
		fail "the trace does not name tee: $(tail -n 5 "$TRACING/trace")"
	echo "-:flash_who" >>"$TRACING/kprobe_events"
	echo >"$TRACING/trace"
fi

# loop
if modprobe loop; then
	loop=$(losetup --find --show --direct-io=on "/dev/$base") ||
		fail "no loop device"
	way "loop, direct read" "${loop#/dev/}" "$base" yes yes direct_read
	way "loop, direct write" "${loop#/dev/}" "$base" yes yes direct_write
	loop_del
fi

# dm-crypt
key=$(printf '%064d' 7)
crypt() {
	dmsetup create --noudevsync --noudevrules labcrypt --table \
		"0 $(<"/sys/block/$base/size") crypt aes-xts-plain64 $key 0 /dev/$base 0 $*" ||
		fail "no dm-crypt"
	top=$(dmsetup info -c --noheadings -o blkdevname labcrypt)
	soon 5 test -b "/dev/$top" || fail "no /dev/$top"
}
if modprobe dm-crypt 2>/dev/null; then
	crypt
	pass_on "dm-crypt" "$top" "6.1:ignored 6.12:absent 7.3:absent"
	way "dm-crypt, direct read" "$top" "$base" yes yes direct_read
	way "dm-crypt, direct write" "$top" "$base" \
		"6.1:no 6.12:yes 7.3:yes" yes direct_write
	crypt_del
	crypt 2 no_read_workqueue no_write_workqueue
	way "dm-crypt without its queues, direct read" "$top" "$base" yes yes \
		direct_read
	way "dm-crypt without its queues, direct write" "$top" "$base" \
		"6.1:no 6.12:yes 7.3:yes" yes direct_write
	crypt_del
else
	say "skipped: dm-crypt, which this kernel does not have"
fi

# NVMe over fabrics, initiator and target in one machine
file_set() { echo "$2" >"$1" || fail "$1 refuses $2"; }
target_add() {
	local dir=$nvmet/subsystems/$nqn port=$nvmet/ports/1 file where=$1
	modprobe -a nvmet nvme-fabrics || fail "no nvmet"
	mkdir "$dir" "$dir/namespaces/1" "$port" || fail "no target"
	file_set "$dir/attr_allow_any_host" 1
	file_set "$dir/namespaces/1/device_path" "/dev/$base"
	file_set "$dir/namespaces/1/enable" 1
	file_set "$port/addr_trtype" "$1"
	if [[ $1 == tcp ]]; then
		file_set "$port/addr_adrfam" ipv4
		file_set "$port/addr_traddr" 127.0.0.1
		file_set "$port/addr_trsvcid" 4420
		where+=,traddr=127.0.0.1,trsvcid=4420
	fi
	ln -s "$dir" "$port/subsystems/$nqn" || fail "the target does not start"
	file_set /dev/nvme-fabrics "transport=$where,nqn=$nqn"
	for file in /sys/class/nvme/nvme*/subsysnqn; do
		[[ $(<"$file") == "$nqn" ]] || continue
		# shellcheck disable=SC2317  # soon calls it
		path_there() { compgen -G "${file%/*}/nvme*n1" >/dev/null; }
		soon 10 path_there || fail "no namespace"
		path=$(compgen -G "${file%/*}/nvme*n1")
		path=${path##*/}
	done
	[[ $path =~ ^(nvme[0-9]+)(c[0-9]+)?(n1)$ ]] || fail "no path"
	top=${BASH_REMATCH[1]}${BASH_REMATCH[3]}
	soon 10 test -b "/dev/$top" || fail "no /dev/$top"
	wbt_off "$path"
	sched_set "$path" "$SCHED"
}
some=
for kind in loop tcp; do
	driver=nvme-$kind
	[[ $kind == loop ]] || driver+=" nvmet-tcp"
	# shellcheck disable=SC2086
	modprobe -a $driver 2>/dev/null || continue
	target_add $kind
	[[ -n $some || $top == "$path" ]] ||
		pass_on "head of NVMe multipath" "$top" "6.1:ignored 6.12:absent 7.3:absent"
	way "NVMe-oF ($kind), at the initiator, direct read" "$top" "$path" yes yes \
		direct_read
	way "NVMe-oF ($kind), at the initiator, direct write" "$top" "$path" yes yes \
		direct_write
	way "NVMe-oF ($kind), at the target, direct read" "$top" "$base" no no direct_read
	way "NVMe-oF ($kind), at the target, direct write" "$top" "$base" no no \
		direct_write
	assert_idle "$path"
	target_del
	some=1
done
[[ -n $some ]] || say "skipped: NVMe over fabrics, which this kernel does not have"

say "$(uname -r):" "| way | own priority | listed group |" "${rows[@]}"
say "$(uname -r):" "| disk | a write |" "${passing[@]}"
all_gone
sched_set "$base" none
null_del base
((${#wrong[@]} == 0)) || fail "${wrong[*]}"
