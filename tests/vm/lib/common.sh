# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Functions for the cases in tests/vm. tests/vm/run sources this file before a
# case, in the case's own bash; the scheduler under test is $SCHED, and $TMP is
# a directory that is empty when the case begins.
#
# A case passes when it reaches its end. fail and skip end it, from the case's
# own shell only: in $(...) or behind a | they would end just that part.

SCHED=${SCHED:?the scheduler under test}
TMP=${TMP:?a scratch directory}
DISK=
DISKS=()
NULLB=/sys/kernel/config/nullb
FIO_SECONDS=${FIO_SECONDS:-120}

say() { printf '%s\n' "$*"; }

# fail REASON - ends the case; its result line has the reason
fail() {
	say "FAIL: $*"
	printf '%s' "$*" >"$TMP/.reason"
	exit 1
}

# skip REASON - ends the case, which cannot be run here
skip() {
	say "SKIP: $*"
	printf '%s' "$*" >"$TMP/.reason"
	exit 77
}

# is WHAT GOT WANT - fails unless both are equal
is() {
	[[ $2 == "$3" ]] || fail "$1 is '$2', want '$3'"
	say "ok: $1 is $2"
}

# holds EXPRESSION - fails unless the arithmetic expression is true
holds() {
	(($1)) || fail "does not hold: $1${2:+ ($2)}"
	say "ok: $1${2:+ ($2)}"
}

# pause SECONDS - a sleep without a process, which takes long under TCG; nap: a short one
exec {NAP}<> <(:)
pause() { read -rt "$1" -u "$NAP" _ || :; }
nap() { pause 0.02; }

# soon SECONDS COMMAND... - waits until the command succeeds; status 1 if never.
# On a slow kernel it waits longer.
soon() {
	local end=$((SECONDS + $1 * ${LAB_SLOW:-1} + 1))
	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		nap
	done
}

# Disks

# disk_of SERIAL - the disks with this serial number, one a line; a controller's
# namespaces share it
disk_of() {
	local file serial LC_ALL=C
	local -a parts
	# SATA disks have it in their vital product data, behind a few bytes of others.
	for file in /sys/block/*/device/serial /sys/block/*/serial \
		    /sys/block/*/device/vpd_pg80; do
		[[ -r $file ]] || continue
		mapfile -d '' -t parts <"$file"
		serial=${parts[*]}
		if [[ ${serial//[![:graph:]]/} == "$1" ]]; then
			file=${file#/sys/block/}
			say "${file%%/*}"
		fi
	done
}

# find_disk SERIAL [NUMBER] - sets DISK to the disk, or DISKS to NUMBER of them,
# if they are there
find_disk() {
	mapfile -t DISKS < <(disk_of "$1")
	DISK=${DISKS[0]-}
	((${#DISKS[@]} >= ${2:-1})) && [[ -b /dev/${DISKS[-1]} ]]
}

# lab_disk SECONDS SERIAL [NUMBER] - find_disk, for as long; status 1 if they are not
# there, but the case fails if they must be: scripts/check, which adds them to its
# machine, sets LAB_DISKS
lab_disk() {
	soon "$1" find_disk "${@:2}" && return
	[[ -z ${LAB_DISKS-} ]] ||
		fail "the disk with serial $2, which scripts/check adds, is not there"
	return 1
}

# main_disk - sets DISK to the lab's NVMe disk
main_disk() {
	# NVMe controllers are probed side by side: its number is not always 0.
	find_disk flash-iosched || fail "the lab's NVMe disk is not there"
	wbt_off "$DISK"
}

# extra_disk SERIAL [MODULE...] - sets DISK to a disk that only the machine of
# scripts/check has, or skips
extra_disk() {
	local serial=$1
	shift
	(($# == 0)) || modprobe -a "$@" || skip "this kernel has no $*"
	lab_disk 5 "$serial" ||
		skip "no disk with serial $serial: scripts/check adds it"
	wbt_off "$DISK"
}

# Throttling of buffered writes sits above the scheduler and would hide it.
wbt_off() {
	echo 0 2>/dev/null >"/sys/block/$1/queue/wbt_lat_usec" || :
}

# null_add NAME KEY=VALUE... - a null_blk disk; sets DISK to its block device
null_add() {
	local name=$1 pair before after
	shift
	[[ -d $NULLB ]] || modprobe null_blk nr_devices=0 ||
		skip "this kernel has no null_blk"
	mkdir "$NULLB/$name" || fail "null_blk: cannot add $name"
	for pair in irqmode=0 "$@"; do
		if [[ ! -e $NULLB/$name/${pair%%=*} ]]; then
			skip "this kernel's null_blk has no ${pair%%=*}"
		fi
		echo "${pair#*=}" >"$NULLB/$name/${pair%%=*}" ||
			fail "null_blk: cannot set $pair"
	done
	before=$(echo /sys/block/*)
	echo 1 >"$NULLB/$name/power" || fail "null_blk: cannot start $name"
	# Its name is nullbN on some kernels, that of the directory on others.
	for after in /sys/block/*; do
		[[ " $before " == *" $after "* ]] && continue
		DISK=${after#/sys/block/}
	done
	soon 5 test -b "/dev/$DISK" || fail "null_blk: no /dev/$DISK"
	say "null_blk $name is $DISK: $*"
}

# two_disks - sets DISKS to the namespaces of the lab's second NVMe controller
two_disks() {
	lab_disk 5 lab-two 2 ||
		skip "no controller with serial lab-two: scripts/check adds it"
	wbt_off "${DISKS[0]}"
	wbt_off "${DISKS[1]}"
}

# debug_disk - sets DISK to the disk of scsi_debug, if it is there
debug_disk() {
	local file
	for file in /sys/block/sd*/device/model; do
		[[ -e $file && $(<"$file") == scsi_debug* ]] || continue
		file=${file#/sys/block/}
		DISK=${file%%/*}
		[[ -b /dev/$DISK ]] && return 0
	done
	return 1
}

# pci_of DISK - the directory of the PCI device that it is behind
pci_of() {
	local path
	path=$(readlink -f "/sys/block/$1")
	while [[ $path == /sys/devices/* && ! -e $path/subsystem_vendor ]]; do
		path=${path%/*}
	done
	[[ -e $path/remove ]] && say "$path"
}

# null_del NAME - removes it
null_del() { rmdir "$NULLB/$1" || fail "null_blk: cannot remove $1"; }

# flashsim, the device of tests/flashsim; docs/flashsim.md

FLASHSIM=/sys/kernel/debug/flashsim
FLASHSIM_PARAMS=/sys/module/flashsim/parameters

# flashsim_add PARAM=VALUE... - loads it; sets DISK to its first device
flashsim_add() {
	modprobe flashsim "$@" || fail "flashsim does not load: $*"
	DISK=flashsim0
	soon 5 test -b "/dev/$DISK" || fail "flashsim: no /dev/$DISK"
	wbt_off "$DISK"
	say "flashsim: $*"
}

# flashsim_del - unloads it, with all its devices
flashsim_del() {
	rmmod flashsim || fail "flashsim cannot be unloaded"
	[[ ! -e /sys/block/flashsim0 && ! -e $FLASHSIM ]] ||
		fail "flashsim has left something behind"
}

# flashsim_get [DISK] - sets FS[KEY] to its statistics at one moment
declare -A FS=()
flashsim_get() {
	local text key value
	IFS= read -r -d '' text <"$FLASHSIM/${1:-$DISK}/stats" || :
	FS=()
	while read -r key value; do
		[[ -z $key ]] || FS[$key]=$value
	done <<<"$text"
	((${#FS[@]})) || fail "flashsim: no statistics of ${1:-$DISK}"
}

# flashsim_stat KEY [DISK] - prints one of them
flashsim_stat() {
	flashsim_get "${2:-$DISK}"
	say "${FS[$1]}"
}

# flashsim_fault NAME VALUE - sets a fault parameter
flashsim_fault() {
	echo "$2" >"$FLASHSIM_PARAMS/$1" || fail "flashsim refuses $1=$2"
}

# flashsim_reset [DISK] - resets its statistics
flashsim_reset() {
	echo 1 >"$FLASHSIM/${1:-$DISK}/reset" || fail "flashsim: no reset"
}

# Schedulers

# sched_now DISK - sets NOW to the selected scheduler, the one in [brackets]
NOW=
sched_now() {
	read -r NOW <"/sys/block/$1/queue/scheduler"
	NOW=${NOW#*[}
	NOW=${NOW%]*}
}

# sched_get DISK - prints it
sched_get() {
	local NOW
	sched_now "$1"
	say "$NOW"
}

# sched_set DISK NAME - selects it and looks whether that is so
sched_set() {
	sched_try "$1" "$2" || fail "cannot select $2 for $1: $TRY_SAID"
	sched_now "$1"
	[[ $NOW == "$2" ]] || fail "selected $2 for $1, but it has $NOW"
}

# sched_try DISK NAME - selects it, or sets TRY_SAID to what the kernel says.
# From 6.19 on the kernel does not wait for another task that changes the disk's queues
# or depth, but returns EBUSY: there it is tried again.
TRY_SAID=
sched_try() {
	local said=$TMP/tried.$BASHPID n
	for ((n = 0; n < 200; n++)); do
		{ echo "$2" >"/sys/block/$1/queue/scheduler"; } 2>"$said" &&
			return 0
		TRY_SAID=$(<"$said")
		TRY_SAID=${TRY_SAID##*: }
		[[ $TRY_SAID == *busy* ]] && kernel_at_least 6.19 || return 1
		nap
	done
	return 1
}

# sched_new DISK - selects the scheduler under test; its counters are zero then
sched_new() {
	sched_set "$1" none
	sched_set "$1" "$SCHED"
}

# rivals DISK - sets RIVALS to the schedulers it can have, the one under test
# and none first
RIVALS=()
rivals() {
	local name
	RIVALS=("$SCHED" none)
	for name in mq-deadline kyber bfq; do
		modprobe $name 2>/dev/null || modprobe $name-iosched 2>/dev/null
		grep -qw $name "/sys/block/$1/queue/scheduler" &&
			RIVALS+=("$name")
	done
	((${#RIVALS[@]} >= 3)) || fail "schedulers to switch among: ${RIVALS[*]}"
	say "among ${RIVALS[*]}"
}

# has_sched DISK - does it have the scheduler under test? Without a process.
has_sched() {
	local line
	{ read -r line <"/sys/block/$1/queue/scheduler"; } 2>/dev/null &&
		[[ $line == *"[$SCHED]"* ]]
}

# users - sets USERS to how many disks hold the scheduler's module
USERS=
# shellcheck disable=SC2034  # for cases
users() { read -r USERS <"/sys/module/$SCHED/refcnt"; }

# tunables - sets TUNABLES to what the module's parameters say that there is, and
# LOW, HIGH and DEFAULT of each; TEXTS to those that are no numbers, and DEFAULT
TUNABLES=() TEXTS=()
declare -A LOW=() HIGH=() DEFAULT=()
# shellcheck disable=SC2034  # for cases
tunables() {
	local name text
	TUNABLES=() TEXTS=()
	while IFS=: read -r name text; do
		if [[ $name =~ ^(mode|layout|sort|policy|bound_unit|tenant_by|charge)$ && $text =~ ', default '([a-z]+)', for new disks'$ ]]; then
			TEXTS+=("$name")
			DEFAULT[$name]=${BASH_REMATCH[1]}
			continue
		fi
		[[ $text =~ '; '([0-9]+)' to '([0-9]+)', default '([0-9]+)', for new disks'$ ]] ||
			fail "the description of parameter $name has no range: $text"
		TUNABLES+=("$name")
		LOW[$name]=${BASH_REMATCH[1]}
		HIGH[$name]=${BASH_REMATCH[2]}
		DEFAULT[$name]=${BASH_REMATCH[3]}
	done < <(modinfo -p "$SCHED" | sed 's/ (uint)$//')
	((${#TUNABLES[@]})) || fail "the module has no parameters"
}

# text_values NAME - sets GOOD to texts that such a tunable takes, EINVAL and
# ERANGE to some that it refuses with that
GOOD=() EINVAL=() ERANGE=()
# shellcheck disable=SC2034  # for cases
text_values() {
	local long
	printf -v long '%0300d' 1
	EINVAL=("" " " "abc" "-1" "0" "none none" "$long" $'\x01')
	ERANGE=()
	case $1 in
	mode)
		case $SCHED in
		acfq) GOOD=(auto paper cfq) ;;
		piq) GOOD=(auto noop rws piq_r piq_w piq) ;;
		*) GOOD=(auto paper) ;;
		esac
		EINVAL+=(none AUTO "auto " " auto" auto2 aut piq_x "auto noop"
			 1) ;;
	sort)
		GOOD=(sector fifo small big)
		EINVAL+=(none SECTOR "sector " " fifo" sectors bi "small big"
			 1) ;;
	layout)
		GOOD=(none "page=2048 chips=64" "page=4096 chips=256"
		      "page=512 chips=1" "page=4096 terms=1:4:1,32:4:4"
		      "page=16384 chips=3")
		EINVAL+=("page=2048" "chips=4" "page=3000 chips=4"
			 "page=4096 chips=4 x" "page=4096 chips=-1"
			 "page=4096 terms=1:4" "page=4096 chips=4 chips=4"
			 "page=4096 terms=1:4:1,2:4:4" "none chips=4"
			 "page=4096,chips=4" "page=x chips=4")
		ERANGE+=("page=256 chips=4" "page=4096 chips=257"
			 "page=4096 chips=0" "page=33554432 chips=4"
			 "page=4096 terms=1:1:1"
			 "page=4096 chips=18446744073709551617") ;;
	policy)
		GOOD=(static latency bandwidth)
		EINVAL+=(none STATIC "static " " static" static2 lat
			 "static latency" 1) ;;
	bound_unit)
		GOOD=(requests cost)
		EINVAL+=(none COST "cost " " cost" costs cos "requests cost"
			 1) ;;
	tenant_by)
		GOOD=(auto cgroup task ioprio)
		EINVAL+=(none AUTO "task " cgroups "auto task" 1) ;;
	charge)
		GOOD=(auto sectors requests time)
		EINVAL+=(none AUTO "time " sector "auto time" 1) ;;
	*) fail "which texts does $1 take?" ;;
	esac
}

# seeded - seeds $RANDOM and prints the seed: SEED=N in the environment repeats the
# draws of a run
seeded() {
	RANDOM=${SEED:=$((SRANDOM & 32767))}
	say "seed $SEED"
}

# draw LOW HIGH - sets DRAWN to a number from LOW to HIGH
DRAWN=
# shellcheck disable=SC2034  # for cases
draw() { DRAWN=$(($1 + (RANDOM << 15 | RANDOM) % ($2 - $1 + 1))); }

# depth_reset DISK - gives the driver its tags back, which nr_requests takes away
# when it is written while there is no scheduler
depth_reset() {
	local file=/sys/block/$1/queue/nr_requests depth
	# From another one, so that what is shown is the driver's depth again.
	[[ $(sched_get "$1") != none ]] || sched_set "$1" mq-deadline
	sched_set "$1" none
	read -r depth <"$file"
	# Written only if it differs from what is shown.
	{ echo $((depth - 1)) && echo "$depth"; } >"$file" ||
		fail "nr_requests refuses $depth"
}

# has_tun DISK NAME - false if its scheduler, which may be one of the kernel's, has
# no such tunable
has_tun() { [[ -e /sys/block/$1/queue/iosched/$2 ]]; }

# tun DISK NAME [VALUE] - reads or sets a tunable
tun() {
	local file=/sys/block/$1/queue/iosched/$2 value
	if (($# > 2)); then
		echo "$3" >"$file" || fail "$1: cannot set $2 to $3"
		return
	fi
	read -r value <"$file" && say "$value"
}

# tun_is WHAT DISK NAME WANT - is, for a tunable and without a process
tun_is() {
	local value=
	{ read -r value <"/sys/block/$2/queue/iosched/$3"; } 2>/dev/null
	is "$1" "$value" "$4"
}

# stats_get DISK - sets STATS to iosched/stats as it is at one moment, without a
# process. In one read: a "read" for each line seeks back behind it, and the kernel
# then prints the file again, under load with numbers of other lengths.
STATS=
stats_get() {
	STATS=
	IFS= read -r -d '' STATS <"/sys/block/$1/queue/iosched/stats" || :
}

# stat_get DISK KEY - sets STAT to one of these counters, or to what is no number
# and no expression if there is none: bash says so, and tests/vm/run looks for that
stat_get() {
	local key value
	STAT="no $2"
	stats_get "$1"
	while read -r key value; do
		[[ $key == "$2" ]] && STAT=$value
	done <<<"$STATS"
}

# stat_of DISK KEY - prints it
stat_of() {
	stat_get "$@"
	say "$STAT"
}

# stats DISK - all counters in one line, for the log
stats() {
	stats_get "$1"
	say "$1 $(sched_get "$1"): ${STATS//$'\n'/ }"
}

# arrays DISK - its part of the scheduler's debugfs file
ARRAYS=/sys/kernel/debug/$SCHED/queues
arrays() { awk -v disk="$1" '$1 == "disk" { on = $2 == disk } on' "$ARRAYS"; }

# at_rest DISK - nothing waits, nothing is in flight, and none was lost: inserted
# requests were dispatched or merged, dispatched ones have completed or were requeued
at_rest() {
	local key value
	local -A s=()
	stats_get "$1"
	while read -r key value; do
		[[ -z $key ]] || s[$key]=$value
	done <<<"$STATS"
	[[ -n ${s[inflight]-} && -n ${s[completed]-} ]] || return 1
	((s[queued] == 0 && s[inflight] == 0 &&
	  s[inserted] == s[dispatched] + s[absorbed] &&
	  s[dispatched] == s[completed] + s[requeued] + s[polled] +
			   s[untracked]))
}

# assert_idle DISK... - each is at rest soon; leaves nothing to be said for
# a disk that has another scheduler by now
assert_idle() {
	local disk
	for disk; do
		sched_now "$disk"
		[[ $NOW == "$SCHED" ]] || continue
		if ! soon 10 at_rest "$disk"; then
			stats "$disk"
			fail "$disk does not come to rest: $(stat_of "$disk" queued)" \
				"queued, $(stat_of "$disk" inflight) in flight," \
				"$(stat_of "$disk" inserted) inserted," \
				"$(stat_of "$disk" dispatched) dispatched," \
				"$(stat_of "$disk" completed) completed"
		fi
		stats "$disk"
	done
}

# Load

FIO_RUNS=0

# fio_quiet ARGUMENTS... - status of fio; what it said if that is not 0
fio_quiet() {
	local log status=0
	log=$TMP/fio.$BASHPID.$((++FIO_RUNS))
	# A separate directory: fio leaves state files of failed verifies.
	timeout -k 5 "$FIO_SECONDS" fio --output="$log" --aux-path="$TMP" \
		--eta=never "$@" >"$log.said" 2>&1 || status=$?
	# A job that dies of a signal does not make its status another.
	((status == 0)) && ! grep -qE 'verify: bad|error=|got signal' \
		"$log" "$log.said" && return 0
	say "fio $* (status $status):"
	tail -n 40 "$log" "$log.said"
	return 1
}

# has_uring - can fio use io_uring here?
has_uring() {
	fio --enghelp | grep -qw io_uring &&
		[[ $(cat /proc/sys/kernel/io_uring_disabled 2>/dev/null) != 2 ]]
}

# run_fio ARGUMENTS... - fails if fio does
run_fio() { fio_quiet "$@" || fail "fio failed, see the log"; }

# load_start DISK [ARGUMENTS...] - verified mixed load until load_stop; several
# disks may have one
LOADS=()
load_start() {
	local disk=$1 before
	shift
	((${#LOADS[@]})) || rm -f "$TMP/.load-stop" "$TMP/.load-failed"
	before=$(ios "$disk")
	(
		runs=0
		while [[ ! -e $TMP/.load-stop ]]; do
			fio_quiet --filename="/dev/$disk" --direct=1 \
				--ioengine=libaio --iodepth=16 --size=4m \
				--verify=crc32c --verify_fatal=1 \
				--randseed=$((++runs)) --rw=randrw \
				--bssplit=4k/70:512/10:16k/20 \
				--name=a --offset=0 --name=b --offset=8m "$@" || {
				: >"$TMP/.load-failed"
				exit 1
			}
		done
		say "load: $runs runs of fio"
	) &
	LOADS+=($!)
	# shellcheck disable=SC2317  # soon calls it
	busy() {
		ios_get "$disk"
		((IOS > before))
	}
	soon 30 busy || fail "the load on $disk does not start"
}

# ios_get DISK - sets IOS to the reads and writes that it has completed
IOS=
ios_get() {
	local -a now
	read -ra now <"/sys/block/$1/stat"
	IOS=$((now[0] + now[4]))
}

# ios DISK - prints it
ios() {
	ios_get "$1"
	say "$IOS"
}

load_alive() {
	[[ ! -e $TMP/.load-failed ]] || fail "the load failed, see the log"
}

# load_stop - ends all loads, none of which must have seen an error
load_stop() {
	local pid
	: >"$TMP/.load-stop"
	for pid in "${LOADS[@]}"; do
		wait "$pid" || fail "the load failed, see the log"
	done
	LOADS=()
}

# Requests one by one: a disk that holds its requests back, so that the scheduler's
# work during that time can be counted.

# hold_add PARAM=VALUE... - a flashsim disk on which nothing ends until let_go says so
hold_add() {
	flashsim_add size_mb=64 data=none "$@"
	let_go 0
}

# let_go NUMBER - from now on NUMBER requests of the disk end; -1: all of them
let_go() {
	echo "$1" >"$FLASHSIM/$DISK/hold" || fail "flashsim refuses to hold $1"
}

# hold_timed NAME MILLISECONDS KEY=VALUE... - a null_blk disk that takes so long for
# everything, where flashsim cannot serve: it has no poll queues
hold_timed() {
	local name=$1 ms=$2
	shift 2
	null_add "$name" irqmode=2 completion_nsec=$((ms * 1000000)) size=64 "$@"
	# It would give requests up after five seconds.
	echo 120000 >"/sys/block/$DISK/queue/io_timeout" || fail "io_timeout"
}

# read_one DISK BLOCK [COMMAND...] - reads one 4 KiB block in the background,
# through e.g. ionice or taskset
READERS=()
read_one() {
	local disk=$1 block=$2
	shift 2
	"$@" dd if="/dev/$disk" of=/dev/null bs=4k count=1 skip="$block" \
		iflag=direct status=none &
	READERS+=($!)
}

# readers_done - waits for all of them; fails if one had an error
readers_done() {
	local pid
	for pid in "${READERS[@]}"; do
		wait "$pid" || fail "a reader failed"
	done
	READERS=()
}

# tags_taken DISK - 20 best-effort readers take all tags that they may: of 16 a quarter
# is kept, one request is in the device and eleven wait
tags_taken() {
	local n
	for ((n = 0; n < 20; n++)); do
		read_one "$1" $((n * 100))
	done
	await "$1" queued 11
	stays "$1" queued 11
}

# reads_done DISK - reads that have completed
reads_done() {
	local reads
	read -r reads _ <"/sys/block/$1/stat"
	say "$reads"
}

# await DISK KEY VALUE - the counter reaches the value soon
counter_is() {
	stat_get "$1" "$2"
	[[ $STAT == "$3" ]]
}
await() {
	if ! soon 20 counter_is "$@"; then
		stats "$1"
		fail "$1: $2 is $(stat_of "$1" "$2"), want $3"
	fi
}

# stays DISK KEY VALUE - the counter does not leave the value: for the time in which
# it would have
stays() {
	local n
	for ((n = 0; n < 10; n++)); do
		nap
		counter_is "$@" ||
			fail "$1: $2 is $(stat_of "$1" "$2"), want it to stay $3"
	done
	say "ok: $2 stays $3"
}

# Kernel

kernel_at_least() {
	[[ $(printf '%s\n' "$1" "$(uname -r)" | sort -V | head -1) == "$1" ]]
}

cpus() { nproc --all; }

TRACING=/sys/kernel/tracing

# events_set 0|1 EVENT... - switches block events while there is one CPU, for the reason
# that scripts/lib/qemu.py has. Not under load: that would move to that CPU, and stay.
events_set() {
	local value=$1 event file
	local -a files=() away=()
	shift
	for event; do
		file=$TRACING/events/block/$event/enable
		[[ $(<"$file") == "$value"* ]] || files+=("$file")
	done
	((${#files[@]})) || return 0
	for file in /sys/devices/system/cpu/cpu[1-9]*/online; do
		[[ -e $file && $(<"$file") == 1 ]] || continue
		echo 0 >"$file" || fail "cannot take a processor offline: $file"
		away+=("$file")
	done
	for file in "${files[@]}"; do
		echo "$value" >"$file" || fail "cannot switch $file"
	done
	for file in "${away[@]}"; do
		echo 1 >"$file" || fail "a processor stays offline: $file"
	done
}

# trace_start EVENT[,EVENT] DISK - records block events of one disk. Events stay
# enabled until the end of the case; it is their filters that let nothing through. Under
# load, events_set has to precede it.
trace_start() {
	local major minor event file
	IFS=: read -r major minor <"/sys/block/$2/dev"
	echo 0 >$TRACING/tracing_on
	grep -q '^nop' $TRACING/current_tracer ||
		echo nop >$TRACING/current_tracer
	echo 8192 >$TRACING/buffer_size_kb
	echo >$TRACING/trace
	for file in "$TRACING"/events/block/*/enable; do
		[[ $(<"$file") == 0* ]] ||
			echo "dev == 1" >"${file%enable}filter"
	done
	for event in ${1//,/ }; do
		file=$TRACING/events/block/$event
		echo "dev == $((major << 20 | minor))" >"$file/filter" ||
			fail "cannot filter trace event $event"
	done
	# shellcheck disable=SC2086
	events_set 1 ${1//,/ }
	echo 1 >$TRACING/tracing_on
}

# trace_from SECTOR DISK - records inserts and issues of one disk from the first insert
# at that sector or behind it on, until it has some thousands of them: a flood before
# it and after it would only take time to print. Before the flood: events_set 1
# block_rq_insert.
trace_from() {
	trace_start block_rq_insert,block_rq_issue "$2"
	echo 0 >$TRACING/tracing_on
	echo 0 >$TRACING/options/overwrite
	echo 1024 >$TRACING/buffer_size_kb
	echo "traceon:1 if sector >= $1 && $(<$TRACING/events/block/block_rq_insert/filter)" \
		>$TRACING/events/block/block_rq_insert/trigger ||
		fail "no trigger for block_rq_insert"
	echo >$TRACING/trace
}

# trace_stop FILE - ends it and writes what was recorded
trace_stop() {
	echo 0 >$TRACING/tracing_on
	trace_free
	grep -v '^#' $TRACING/trace >"$1"
	echo >$TRACING/trace
}

# issued SECTORS FILE [LENGTH] - of a trace with block_rq_issue: the index of the piece
# of SECTORS sectors in which each request (of that length) begins, in their order
issued() {
	sed -n "s/.* block_rq_issue: .* \([0-9]*\) + ${3:-[0-9]*} .*/\1/p" "$2" |
		while read -r sector; do echo $((sector / $1)); done | tr '\n' ' '
}

# issued_sizes SECTORS FILE - the same, each with its length: "BLOCK+BLOCKS"
issued_sizes() {
	sed -n 's/.* \([0-9]*\) + \([0-9]*\) .*/\1 \2/p' "$2" |
		while read -r sector count; do
			echo "$((sector / $1))+$((count / $1))"
		done | tr '\n' ' '
}

# overtaken SECTOR FILE - of a trace of block_rq_insert and block_rq_issue: how many
# requests at that sector or behind it were issued, and the most others that were issued
# while one of them waited. They must be inserted one after the other.
overtaken() {
	awk -v from="$1" '
		{ event = ""
		  for (i = 1; i < NF; i++)
			if ($i ~ /^block_rq_(insert|issue):$/) {
				event = $i
				mine = $(i + 5) + 0 >= from
			} }
		event ~ /insert/ && mine { waits = 1; passed = 0 }
		event ~ /issue/ && !mine { passed++ }
		event ~ /issue/ && mine && waits {
			waits = 0
			seen++
			if (passed > most) most = passed
		}
		END { print seen + 0, most + 0 }' "$2"
}

# trace_free - takes back what trace_from has set
trace_free() {
	echo 1 >$TRACING/options/overwrite
	echo '!traceon' 2>/dev/null >$TRACING/events/block/block_rq_insert/trigger
}

# conserved - called behind each case: every disk that has the scheduler under
# test has given back what it got
conserved() {
	local file disk
	for file in /sys/block/*/queue/iosched/stats; do
		disk=${file#/sys/block/}
		disk=${disk%%/*}
		[[ -e $file ]] && assert_idle "$disk"
	done
	return 0
}

# unloaded - is the module of the scheduler under test unloaded, or can it be?
unloaded() {
	[[ ! -e /sys/module/$SCHED ]] || rmmod "$SCHED" 2>/dev/null
}

# lab_reset - what a case may have left behind; also used between cases. Fails if
# something keeps the scheduler's module.
lab_reset() {
	local file line
	local -a lines
	for file in /sys/devices/system/cpu/cpu*/online; do
		echo 1 >"$file" 2>/dev/null
	done
	echo 0 >$TRACING/tracing_on
	file=$TRACING/events/workqueue/enable
	[[ ! -e $file || $(<"$file") == 0 ]] || echo 0 >"$file"
	trace_free
	echo local >$TRACING/trace_clock
	echo 8 >/proc/sys/kernel/printk
	mapfile -t lines </proc/swaps
	((${#lines[@]} < 2)) || swapoff -a
	mapfile -t lines </proc/mounts
	[[ "${lines[*]}" != *" /mnt "* ]] || umount /mnt 2>/dev/null
	for file in /sys/fs/cgroup/lab*/; do
		[[ -d $file ]] || continue
		echo 1 2>/dev/null >"$file/cgroup.kill"
		soon 5 rmdir "$file" 2>/dev/null
	done
	for file in /sys/kernel/debug/fail{slab,_io_timeout,_make_request}/; do
		[[ -d $file ]] && echo 0 >"$file/probability"
	done
	# Disks that were taken out of their slots
	if [[ -e $TMP/.removed ]]; then
		echo 1 >/sys/bus/pci/rescan
		soon 5 find_disk lab-two 2
	fi
	for file in "$FLASHSIM"/*/hold; do
		[[ -e $file ]] && echo -1 >"$file"
	done
	for file in /sys/block/*/queue/scheduler; do
		read -r line <"$file"
		[[ $line == *"[none]"* ]] || echo none >"$file"
		echo 0 >"${file%scheduler}nomerges"
	done
	if [[ -d $NULLB ]]; then
		for file in "$NULLB"/*/; do
			[[ -d $file ]] && rmdir "$file"
		done
		# It may have been loaded with faults.
		rmmod null_blk 2>/dev/null
	fi
	[[ ! -e /sys/module/scsi_debug ]] || rmmod scsi_debug 2>/dev/null
	# A request that a fault keeps from ending would keep the device, too.
	for file in "$FLASHSIM_PARAMS"/*_ppm; do
		[[ -e $file ]] && echo 0 >"$file"
	done
	# Lock-free insertion takes the lock while they are on.
	events_set 0 block_rq_insert
	[[ ! -e /sys/module/flashsim ]] || rmmod flashsim 2>/dev/null
	# A process that still wrote to a removed disk has made a file of it.
	for file in /dev/flashsim*; do
		[[ ! -f $file ]] || rm "$file"
	done
	soon 10 unloaded || fail "something keeps the module $SCHED"
}
