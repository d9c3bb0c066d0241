#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of a suite (scripts/bench SUITE): works through a plan, one
# fio run after the other, each on a flashsim device that is made for it, and
# leaves raw measurements for the host to judge.
#
# /run/suite holds the plan (a run's name a line) and for each run a directory
# with its settings. Results are written to standard output, packed, after each
# run: an interruption costs no more than the run under way. Nothing here may
# ask the host for anything, as the host's speed would show in the guest's time.
# Lines for the host begin with "suite: "; packed files with "=".

set -u
export LC_ALL=C

DIR=/run/suite
WORK=/dev/shm/suite
OUT=$WORK/out
DISK=flashsim0
SYS=/sys/block/$DISK
DEBUG=/sys/kernel/debug/flashsim/$DISK
CGROUP=/sys/fs/cgroup
# scripts/lib/suitefs.py knows it, too.
MOUNT=/mnt/suite

exec {HOST}>&1
tell() { printf 'suite: %s\n' "$*" >&"$HOST"; }
die() { tell "trouble $*"; exit 1; }

for module in kyber-iosched bfq mq-deadline k2 piq layer_read acfq hbfq; do
	modprobe $module 2>/dev/null
done
tell "fact release $(uname -r)"
read -r version </proc/version
tell "fact version $version"
tell "fact cpus $(nproc)"
tell "fact fio $(fio --version | sed 's/^fio-//')"
VM=/proc/sys/vm
read -r WRITEBACK <$VM/dirty_writeback_centisecs
read -r EXPIRE <$VM/dirty_expire_centisecs

# Sets what a run wants, and notes it: file and value, a tab between them.
setup() {
	local verb file value now
	while read -r verb file value; do
		case $verb in
		off)
			[[ -e $SYS/$file ]] || continue
			echo "$value" >"$SYS/$file" 2>/dev/null
			continue ;;
		select)
			echo "$value" >"$SYS/$file" 2>/dev/null
			[[ $(<"$SYS/$file") == *"[$value]"* ]] || return 1
			continue ;;
		times)
			now=$(<"$SYS/$file")
			value=$(( now * value )) ;;
		esac
		echo "$value" >"$SYS/$file"
		printf '%s\t%s\n' "$file" "$value"
	done <$WORK/setup >$WORK/wanted 2>>$OUT/said
}

# Present values in sysfs, for the host to compare, as some files round: name,
# wanted, got, with tabs between them, since texts have blanks.
settings() {
	local file value
	while IFS=$'\t' read -r file value; do
		printf '%s\t%s\t%s\n' "${file##*/}" "$value" "$(<"$SYS/$file")"
	done <$WORK/wanted 2>>$OUT/said
}

iocost() {
	local dev qos model weight
	dev=$(<$SYS/dev)
	{ read -r qos; read -r model; read -r weight; } <$WORK/iocost
	if [[ ! -e $WORK/groups ]]; then
		mkdir -p $CGROUP/critical $CGROUP/other || return 1
	fi
	echo +io >$CGROUP/cgroup.subtree_control &&
		echo "$dev $model" >$CGROUP/io.cost.model &&
		echo "$dev $qos" >$CGROUP/io.cost.qos || return 1
	if [[ ! -e $WORK/groups ]]; then
		echo "default $weight" >$CGROUP/critical/io.weight &&
			echo "default 100" >$CGROUP/other/io.weight || return 1
	fi
	[[ $(<$CGROUP/io.cost.qos) == *"enable=1"* ]] &&
		grep -h "^$dev" $CGROUP/io.cost.qos $CGROUP/io.cost.model \
			>$OUT/iocost
}

# Tenants: one group each, and the file that sets its weight in the scheduler or the kernel.
groups() {
	local name weight file
	echo +io >$CGROUP/cgroup.subtree_control || return 1
	# Then writeback of a page is the I/O of the group that has written to it.
	[[ ! -e $WORK/fs ]] ||
		echo +memory >$CGROUP/cgroup.subtree_control || return 1
	while read -r name weight file; do
		mkdir -p "$CGROUP/$name" || return 1
		echo "$name $(stat -c %i "$CGROUP/$name")"
	done <$WORK/groups >$OUT/groups
}

weights() {
	local name weight file number got
	while read -r name weight file; do
		case $file in
		-)
			continue ;;
		weights)
			file=$SYS/queue/iosched/weights
			number=$(stat -c %i "$CGROUP/$name")
			echo "/$name $weight" >"$file"
			got=$(awk -v number="$number" \
				'$1 == number { print $2 }' "$file") ;;
		*)
			file=$CGROUP/$name/$file
			echo "$weight" >"$file"
			read -r _ got <"$file" ;;
		esac
		printf '%s\t%s\t%s\n' "${file##*/}/$name" "$weight" "$got"
	done <$WORK/groups >>$OUT/settings 2>>$OUT/said
}

# The scheduler's figures for each tenant, where it has any.
tenants() {
	local name
	name=$(sed 's/.*\[\(.*\)\].*/\1/' $SYS/queue/scheduler)
	[[ -e /sys/kernel/debug/$name/queues ]] || return 0
	awk -v disk=$DISK '$1 == "disk" { on = $2 == disk }
		on && $1 == "tenant"' "/sys/kernel/debug/$name/queues"
}

# An ext4 that was just made. Its files' blocks count as written and are not: they
# cost nothing, and a read of them is the device's work. The kernel's periodic
# work runs as much slower as the device is; its limits for dirty pages are those
# of 256 MiB of memory, which is as much smaller than a real machine as the device
# is than a real drive. Each tenant has one, on a part of the device.
make_fs() {
	local count mb scale
	read -r count mb scale <$WORK/fs
	cat >$WORK/mke2fs.conf <<-END
		[defaults]
		base_features = sparse_super,large_file,filetype,dir_index,ext_attr
		blocksize = 4096
		inode_size = 256
		inode_ratio = 16384
		[fs_types]
		ext4 = {
		features = has_journal,extent,huge_file,flex_bg,metadata_csum,64bit,dir_nlink,extra_isize
		}
		files = {
		make_hugefiles = true
		hugefiles_dir = /
		hugefiles_name = file.
		hugefiles_digits = 1
		hugefiles_size = ${mb}M
		num_hugefiles = $count
		zero_hugefiles = false
		}
	END
	echo $(( WRITEBACK * scale )) >$VM/dirty_writeback_centisecs
	echo $(( EXPIRE * scale )) >$VM/dirty_expire_centisecs
	echo $(( 256 * 1048576 / 10 )) >$VM/dirty_background_bytes
	echo $(( 256 * 1048576 / 5 )) >$VM/dirty_bytes
	# Names hash alike in each run.
	local types=ext4 id=6c61796c-6572-4000-8000-726561640001 mkfs
	(( !count )) || types=ext4,files
	mkfs=(mke2fs -q -F -t ext4 -T "$types" -U "$id"
		-E "hash_seed=$id,nodiscard,lazy_itable_init=1,lazy_journal_init=1")
	mkdir -p $MOUNT
	export MKE2FS_CONFIG=$WORK/mke2fs.conf
	if [[ ! -e $WORK/groups ]]; then
		"${mkfs[@]}" /dev/$DISK && mount_fs /dev/$DISK $MOUNT "$scale"
	else
		tenants_fs "$scale" "${mkfs[@]}"
	fi && echo 3 >$VM/drop_caches
}

mount_fs() {	# DEVICE DIRECTORY SCALE
	mount -t ext4 -o noatime,noinit_itable,commit=$(( 5 * $3 )) "$1" "$2" &&
		sync -f "$2"
}

# Equal parts of the device, in the tenants' order. The parts are linear mappings:
# the requests of all of them pass through the device's one scheduler.
tenants_fs() {	# SCALE MKE2FS...
	local scale=$1 name part number=0 dev
	shift
	modprobe dm-mod || return 1
	part=$(( $(<$SYS/size) / $(wc -l <$WORK/groups) ))
	while read -r name _; do
		dmsetup create --noudevsync --noudevrules "$name" --table \
			"0 $part linear /dev/$DISK $(( part * number++ ))" || return 1
		dev=/dev/$(dmsetup info -c --noheadings -o blkdevname "$name")
		mkdir -p "$MOUNT/$name" && "$@" "$dev" &&
			mount_fs "$dev" "$MOUNT/$name" "$scale" || return 1
	done <$WORK/groups
}

# A command for each file system's directory
each_fs() {	# COMMAND...
	local dir
	for dir in "$MOUNT" "$MOUNT"/*; do
		! mountpoint -q "$dir" || "$@" "$dir" || return 1
	done
}

leave_fs() {
	local name
	each_fs umount || return 1
	[[ ! -e $WORK/groups ]] || while read -r name _; do
		[[ ! -e $MOUNT/$name ]] ||
			dmsetup remove --noudevsync "$name" || return 1
		rm -rf "${MOUNT:?}/$name"
	done <$WORK/groups
}

# db_bench in a tenant's control group, with the options of a phase. It and its libraries
# are in /files: only guests with databases have them.
database() {	# NAME PHASE
	local seconds
	read -r seconds <$WORK/database
	(
		echo "$BASHPID" >"$CGROUP/$1/cgroup.procs" || exit
		export LD_LIBRARY_PATH=/files
		exec timeout -k 5 "$seconds" /files/db_bench \
			--flagfile="$WORK/db.$1.$2" </dev/null
	)
}

# Fills the database of each tenant, before there is a scheduler to be measured.
fill_databases() {
	local name
	while read -r name _; do
		if ! database "$name" fill >$WORK/filled 2>&1; then
			tr '\r' '\n' <$WORK/filled | tail -n 3
			return 1
		fi
	done <$WORK/groups
	each_fs sync -f && echo 3 >$VM/drop_caches
}

# The kernel counts the latencies of each tenant's requests, by classes. The program
# that names the areas is left out: there is one.
count_latencies() {
	local name
	while read -r name _; do
		dmsetup message "$name" 0 @stats_create - /1 2 precise_timestamps \
			"histogram:$(<$WORK/edges)" || return 1
	done <$WORK/groups
}

latencies() {
	local name
	while read -r name _; do
		dmsetup message "$name" 0 @stats_print 0 >"$OUT/latency.$name"
	done <$WORK/groups
}

# The load of all tenants at once.
run_databases() {
	local name number status result=0 pids=()
	local names=()
	mapfile -t names < <(cut -d' ' -f1 $WORK/groups)
	for name in "${names[@]}"; do
		database "$name" run >"$OUT/db.$name" 2>"$OUT/db.$name.said" &
		pids+=($!)
	done
	for number in "${!pids[@]}"; do
		wait "${pids[number]}"
		status=$?
		echo "${names[number]} $status" >>$OUT/db-status
		# From 124 on a status of the run means that it hangs.
		(( status <= 124 || status == 137 )) || status=1
		(( status <= result )) || result=$status
	done
	latencies 2>>$OUT/said
	return $result
}

# In what order the device got its requests: how many, how often the direction
# changed, how many began where the one before of their direction had ended.
order() {
	sed 1d $DEBUG/log | sort -s -t, -k1,1n | awk -F, '
		$4 != "R" && $4 != "W" { next }
		count++ && $4 != last { turns++ }
		$4 in end && end[$4] == $5 { adjacent++ }
		{ last = $4; end[$4] = $5 + $6 }
		END { print count + 0, turns + 0, adjacent + 0 }'
}

# Something to wait at without starting a program.
exec {IDLE}<> <(:)

# Under this load, but with other draws: what the device does without a bound.
calibrate() {
	local file=$SYS/queue/iosched/calibrate on=1 turn load
	echo 1 >$file || return
	RT_IOS=0 SEED=$(( SEED + 2000003 )) timeout -k 5 "$LIMIT" \
		fio --output=/dev/null $WORK/job.fio >/dev/null 2>&1 &
	load=$!
	for (( turn = 0; on && turn < 400; turn++ )); do
		read -rt 0.1 -u "$IDLE"
		read -r on <$file
	done
	kill $load
	wait $load 2>/dev/null
	rm -f $OUT/*.log
	(( !on )) || echo "it did not come to its end"
}

# Samples of a scheduler's search, from time to time, until the run is over.
course() {
	local dir=$SYS/queue/iosched up bound tail share bad
	until [[ -e $WORK/over ]]; do
		read -r up _ </proc/uptime
		read -r bound <$dir/bound
		read -r tail <$dir/observed_tail_us
		read -r share <$dir/bw_share_pct
		read -r bad <$dir/infeasible
		echo "$up $bound $tail $share $bad"
		read -rt "$SAMPLE" -u "$IDLE"
	done
}

# Guest time and what the CPUs have idled, without forking.
cpu() {
	local up idle
	read -r up _ </proc/uptime
	read -r _ _ _ _ idle iowait _ </proc/stat
	echo "$up $(( idle + iowait ))"
}

show_tunables() {
	local file
	for file in "$SYS"/queue/iosched/* $SYS/queue/nr_requests; do
		case ${file##*/} in
		stats|inflight|weights|rt_cgroups) ;;
		*) [[ -r $file ]] && echo "${file##*/} $(<"$file")" ;;
		esac
	done
}

run() {	# ID
	local status name tries reads writes
	leave_fs || return 1
	rm -rf $WORK
	mkdir -p $OUT
	cp "$DIR/$1"/* $WORK/ || return 1
	if [[ -e /files/trace.log.gz ]]; then
		gzip -dc /files/trace.log.gz >$WORK/trace.log || return 1
	fi
	rmmod flashsim 2>/dev/null
	dmesg -C
	# shellcheck disable=SC2046 # parameters are words
	if ! modprobe flashsim $(<$WORK/params) 2>>$OUT/said; then
		dmesg -r >$OUT/dmesg
		hand_over
		tell "failed $1 flashsim could not be loaded"
		return 0
	fi
	if [[ -e $WORK/groups ]] && ! groups 2>>$OUT/said; then
		hand_over
		tell "failed $1 the control groups could not be made"
		return 0
	fi
	if [[ -e $WORK/fs ]] && ! make_fs >>$OUT/said 2>&1; then
		dmesg -r >$OUT/dmesg
		hand_over
		tell "failed $1 the file system could not be made"
		return 0
	fi
	if [[ -e $WORK/database ]] && ! fill_databases >>$OUT/said 2>&1; then
		dmesg -r >$OUT/dmesg
		hand_over
		tell "failed $1 the databases could not be filled; see [fill] of the" \
			"job file, and whether the tenants' parts of the drive are too small"
		return 0
	fi
	if ! setup; then
		dmesg -r >$OUT/dmesg
		hand_over
		tell "unavailable $1 this kernel has no such scheduler, or it refused"
		return 0
	fi
	if [[ -e $WORK/iocost ]] && ! iocost 2>>$OUT/said; then
		hand_over
		tell "unavailable $1 this kernel has no such scheduler, or it refused"
		return 0
	fi
	[[ ! -e $WORK/groups ]] || weights
	(
		set -a
		# shellcheck source=/dev/null
		. $WORK/env
		set +a
		export DEV=/dev/$DISK MOUNT
		# Shares of the region in use, in whole MiB.
		size=$(( $(<$SYS/size) * REGION / 204800 ))
		while read -r share; do
			export "$share=$(( size * ${share#PCT_} / 100 ))M"
		done < <(grep -so 'PCT_[0-9]*' $WORK/job.fio | sort -u)
		if [[ -n ${WARMUP:-} ]]; then
			RT_IOS=$WARMUP SEED=$(( SEED + 1000003 )) timeout -k 5 "$LIMIT" \
				fio --output=/dev/null $WORK/job.fio >/dev/null 2>&1
			rm -f $OUT/*.log
		fi
		if [[ -n ${CALIBRATE:-} ]]; then
			calibrate >$OUT/calibration 2>&1
		fi
		show_tunables >$OUT/tunables
		settings >>$OUT/settings
		cat $SYS/queue/iosched/stats >$OUT/stats-before 2>/dev/null
		if [[ -e $WORK/database ]]; then
			count_latencies >>$OUT/said 2>&1
		fi
		cp $SYS/stat $OUT/stat-before
		echo 1 >$DEBUG/reset
		cpu >$OUT/cpu
		if [[ -n ${SAMPLE:-} ]]; then
			course >$OUT/course 2>>$OUT/said &
		fi
		if [[ -e $WORK/job.postmark ]]; then
			timeout -k 5 "$LIMIT" postmark $WORK/job.postmark \
				>$OUT/postmark 2>>$OUT/said
		elif [[ -e $WORK/database ]]; then
			run_databases
		else
			timeout -k 5 "$LIMIT" fio --output-format=json \
				--output=$OUT/fio $WORK/job.fio >>$OUT/said 2>&1
		fi
		status=$?
		cpu >>$OUT/cpu
		if [[ -n ${SAMPLE:-} ]]; then
			: >$WORK/over
			wait
		fi
		exit $status
	)
	status=$?
	# At once: a tenant that has nothing to do is soon forgotten.
	[[ ! -e $WORK/groups ]] || tenants >$OUT/tenants
	if [[ -e $WORK/fs ]]; then
		each_fs sync -f
		# Readahead that no reader waits for may still be under way.
		for ((tries = 0; tries < 100; tries++)); do
			read -r reads writes <$SYS/inflight
			(( reads + writes )) || break
			sleep 0.001
		done
	fi
	cat $DEBUG/stats >$OUT/device-stats
	cat $DEBUG/series >$OUT/series 2>/dev/null
	cp $SYS/stat $OUT/stat-after
	settings >>$OUT/settings
	cp $SYS/inflight $OUT/inflight
	cat $SYS/queue/iosched/stats >$OUT/stats-after 2>/dev/null
	if [[ -e $WORK/order ]]; then
		order >$OUT/order
	elif [[ $(<$WORK/params) == *log_len=* ]]; then
		# The columns about chips are half of the log, and the path to the host is slow.
		awk -F, -v OFS=, '{ print $1, $3, $4, $5, $6 }' \
			$DEBUG/log >$OUT/log
	fi
	dmesg -r >$OUT/dmesg
	if [[ -e $WORK/iocost ]]; then
		echo "$(<$SYS/dev) enable=0" >$CGROUP/io.cost.qos
		[[ -e $WORK/groups ]] || rmdir $CGROUP/critical $CGROUP/other
	fi
	if [[ -e $WORK/groups ]]; then
		while read -r name _; do
			rmdir "$CGROUP/$name"
		done <$WORK/groups
	fi
	echo $status >$OUT/status
	hand_over
	tell "done $1"
	# A hung run keeps its hold on the device: no other could be made.
	(( status < 124 ))
}

hand_over() {
	tar -C $OUT -cf - . | gzip -1 | base64 -w 1000 | sed 's/^/=/' >&"$HOST"
}

mapfile -t plan <$DIR/plan
for id in "${plan[@]}"; do
	tell "begin $id"
	run "$id" </dev/null ||
		die "$id did not end; the rest cannot run on this device"
done
tell "end"
