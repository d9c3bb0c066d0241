# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Tests of the tenant of a request, for acfq and hbfq, and of metadata of a light
# tenant. A case sources this file itself, after share.sh.

# task_words WORD PID... - a figure in debugfs of processes, all at one moment; 0: no tenant
task_words() {
	local word=$1
	shift
	arrays "$DISK" | awk -v of="$*" -v word="$word" '
		$1 == "tenant" && sub("^task:", "", $2) {
			for (i = 3; i < NF; i += 2)
				if ($i == word) found[$2] = $(i + 1)
		}
		END {
			n = split(of, who)
			for (i = 1; i <= n; i++)
				printf "%s%s", found[who[i]] + 0, i < n ? " " : "\n"
		}'
}

# tasks - tenants that are processes, and have requests waiting or have sent some
tasks() {
	arrays "$DISK" | awk '$1 == "tenant" && $2 !~ /^(cgroup1?:|prio:|all$)/ {
		for (i = 3; i < NF; i += 2)
			if ($i == "queued" && $(i + 1) > 0 ||
			    $i == "requests" && $(i + 1) > 50) {
				n++
				break
			}
	} END { print n + 0 }'
}

# reads NAME ARGUMENTS... - a process that reads until reads_stop, through the command
# in AS, if any; sets READS to its number
READS='' AS=()
declare -a ALL_READS=()
reads() {
	local name=$1
	shift
	"${AS[@]}" fio --output="$TMP/reads-$name" --eta=never --aux-path="$TMP" \
		--filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k \
		--norandommap --randrepeat=0 --time_based --runtime=3600 --thread \
		"$@" >/dev/null 2>&1 &
	READS=$!
	ALL_READS+=("$READS")
}

# reads_stop - all of them end
reads_stop() {
	local pid
	kill -INT "${ALL_READS[@]}"
	for pid in "${ALL_READS[@]}"; do
		wait "$pid" || :
	done
	ALL_READS=()
	! grep 'error=' "$TMP"/reads-* || fail "a reader had errors"
}

# all_wait - waits until both processes have nearly all of their 512 requests waiting
all_wait() {
	# shellcheck disable=SC2317  # soon calls it
	waiting() { (($(stat_of "$DISK" queued) >= 460)); }
	soon 60 waiting || { stats "$DISK"; fail "the readers do not begin"; }
}

# task_part A B N - of N requests that both processes get from now on, what A gets
# in 1000; sets PART
task_part() {
	local tasks=("$1" "$2") want=$3 a0 b0 a b
	read -r a0 b0 < <(task_words requests "${tasks[@]}")
	# shellcheck disable=SC2317  # soon calls it
	enough() {
		read -r a b < <(task_words requests "${tasks[@]}")
		((a - a0 + b - b0 >= want))
	}
	soon 60 enough || { arrays "$DISK"; fail "the readers do not get on"; }
	PART=$((1000 * (a - a0) / (a - a0 + b - b0)))
}

# processes_are_tenants - the threads of a process are one tenant, whatever their
# priorities are and whatever task issues their requests
processes_are_tenants() {
	local low plain args

	null_add threads hw_queue_depth=16 submit_queues=1 irqmode=2 \
		completion_nsec=16000000 size=256
	sched_set "$DISK" "$SCHED"
	# Enough to wait for a task that a busy machine keeps from running; tags are not
	# what is asked here.
	echo 1024 >"/sys/block/$DISK/queue/nr_requests" || fail "nr_requests"

	# Linux gives each of these threads a separate I/O context.
	reads plain --ioengine=libaio --iodepth=64 --numjobs=4 --name=plain
	plain=$READS
	AS=(ionice -c2 -n7)
	reads low --ioengine=libaio --iodepth=16 --numjobs=16 --name=low
	AS=()
	low=$READS
	all_wait
	is "processes that are tenants" "$(tasks)" 2
	task_part "$low" "$plain" 3000
	arrays "$DISK" | grep '^tenant task' | cut -d' ' -f-10
	is "weight of the lowered one" "$(task_words weight "$low")" 25
	holds "$PART >= 130 && $PART <= 320" "$PART of 1000 for 16 lowered threads"
	reads_stop
	assert_idle "$DISK"

	# One thread that is raised counts for all, and flips nothing.
	reads plain --ioengine=libaio --iodepth=64 --numjobs=4 --name=plain
	plain=$READS
	reads mixed --ioengine=libaio --iodepth=64 --prioclass=2 --prio=7 --name=a \
		--name=b --name=c --name=d --prio=0
	low=$READS
	all_wait
	is "processes that are tenants" "$(tasks)" 2
	task_part "$low" "$plain" 3000
	is "weight of mixed threads" "$(task_words weight "$low")" 200
	holds "$PART >= 520 && $PART <= 760" "$PART of 1000 for mixed threads"
	reads_stop
	assert_idle "$DISK"

	# Threads of io_uring are threads of the process.
	if has_uring; then
		for args in "--force_async=1" "--sqthread_poll=1"; do
			sched_new "$DISK"
			reads uring --ioengine=io_uring --iodepth=16 "$args" \
				--name=uring
			low=$READS
			# shellcheck disable=SC2317  # soon calls it
			some() { (($(task_words requests "$low") >= 500)); }
			soon 30 some || { arrays "$DISK"; fail "$args: no requests"; }
			is "processes that are tenants, $args" "$(tasks)" 1
			reads_stop
			assert_idle "$DISK"
		done
	fi
	sched_set "$DISK" none
	null_del threads
}

# ios_get - sets IOS to the requests that the disk has completed; without a process, which
# would take longer than what is measured
IOS=
ios_get() {
	local -a now
	read -ra now <"/sys/block/$DISK/stat"
	IOS=$((now[0] + now[4]))
}

# create FILE - sets TOOK to the number of requests that the disk completes in this time
TOOK=
create() {
	local began
	ios_get
	began=$IOS
	: >"$1" || fail "cannot create $1"
	ios_get
	TOOK=$((IOS - began))
}

# light_metadata - a light group creates files in directories that no task has read
# yet, beside a heavy group; another task wants the same directories
light_metadata() {
	local dirs=24 n longest=0 ahead heavy creator before

	groups_need
	# Four requests at a time, 4 ms each
	null_add meta memory_backed=1 size=192 hw_queue_depth=64 submit_queues=1 \
		irqmode=2 completion_nsec=4000000
	mkfs.ext4 -q -F -b 4096 -N 8192 -g 2048 -E lazy_itable_init=0,nodiscard \
		"/dev/$DISK" 128M || fail "mkfs.ext4"
	mount -t ext4 "/dev/$DISK" /mnt || skip "this kernel has no ext4"
	for ((n = 0; n < dirs; n++)); do
		mkdir "/mnt/$n" || fail "mkdir"
		: >"/mnt/$n/file" || fail "cannot write"
	done
	umount /mnt || fail "umount"
	mount -t ext4 -o inode_readahead_blks=0 "/dev/$DISK" /mnt || fail "mount"
	group_add labHeavy
	group_add labLight
	sched_set "$DISK" "$SCHED"
	tun "$DISK" max_inflight 4
	weight labHeavy 1000
	weight labLight 1
	sched_new "$DISK"
	(within labHeavy fio --output="$TMP/heavy" --eta=never --aux-path="$TMP" \
		--filename="/dev/$DISK" --direct=1 --rw=randread --bs=4k \
		--offset=128m --size=64m --norandommap --ioengine=libaio \
		--iodepth=64 --time_based --runtime=3600 --name=heavy \
		>/dev/null 2>&1) &
	heavy=$!
	before=$(ios "$DISK")
	# shellcheck disable=SC2317  # soon calls it
	going() { (($(ios "$DISK") > before + 200)); }
	soon 60 going || fail "the heavy tenant does not get on"
	mkfifo "$TMP/go"
	(
		echo $BASHPID >"$GROUPS_DIR/labLight/cgroup.procs" || exit 1
		# No end of file: readers that start later hold the other end, too.
		while read -r n && [[ $n != end ]]; do
			: >"/mnt/$n/light" || exit 1
		done <"$TMP/go"
	) &
	creator=$!
	exec {GO}>"$TMP/go"
	for ((n = 0; n < dirs; n++)); do
		if ((n == dirs / 2)); then
			holds "$longest <= 300" "requests of others while a file is created"
			longest=0
			# Readers of the light group take all tags that it may take.
			echo 16 >"/sys/block/$DISK/queue/nr_requests" ||
				fail "nr_requests"
			crowd labLight 12
			sleep 1
		fi
		echo 2 >/proc/sys/vm/drop_caches
		echo 1 >/proc/sys/vm/drop_caches
		echo $n >&"$GO"
		nap
		create "/mnt/$n/third"
		say "directory $n: $TOOK requests while a file is created"
		((TOOK <= longest)) || longest=$TOOK
		((longest <= 300)) || fail "$longest requests of others while a" \
			"file is created in directory $n"
	done
	echo end >&"$GO"
	exec {GO}>&-
	wait $creator || fail "no file was created"
	stats "$DISK"
	arrays "$DISK" | grep '^tenant' | cut -d' ' -f-14
	ahead=$(stat_of "$DISK" ahead)
	kill -INT $heavy
	wait $heavy || :
	! grep 'error=' "$TMP/heavy" || fail "the heavy tenant had errors"
	crowds_go
	holds "$longest <= 300" "the same while tags are short"
	holds "$ahead > 0" "metadata was issued before its turn"
	umount /mnt || fail "umount"
	e2fsck -fn "/dev/$DISK" >/dev/null || fail "e2fsck finds errors"
	assert_idle "$DISK"
	sched_set "$DISK" none
	null_del meta
	rmdir "$GROUPS_DIR/labHeavy" "$GROUPS_DIR/labLight" || fail "a group is used"
}

# v1_mount DIRECTORY - the io controller in a hierarchy of version 1, mounted there
v1_mount() { mount -t cgroup -o blkio none "$1" 2>/dev/null; }

# version1_has_no_weight - a control group of version 1 does not get the weight of the
# group of version 2 that has the same number
version1_has_no_weight() {
	local number other

	rmdir "$GROUPS_DIR"/lab* 2>/dev/null
	echo -io 2>/dev/null >"$GROUPS_DIR/cgroup.subtree_control"
	mkdir -p "$TMP/v1"
	soon 20 v1_mount "$TMP/v1" || skip "no control groups of version 1"
	mkdir "$TMP/v1/lab" || fail "no control group"
	number=$(stat -c %i "$TMP/v1/lab")
	null_add v1 size=64
	sched_set "$DISK" "$SCHED"
	echo "$number 900" >"/sys/block/$DISK/queue/iosched/weights" ||
		fail "weights refuses '$number 900'"
	(
		echo $BASHPID >"$TMP/v1/lab/cgroup.procs" || exit
		exec dd if="/dev/$DISK" of=/dev/null bs=4k count=64 iflag=direct \
			status=none
	) || fail "dd failed"
	# Once: a second later it has been forgotten.
	other=$(arrays "$DISK" | grep "^tenant cgroup1*:$number ")
	sched_set "$DISK" none
	null_del v1
	rmdir "$TMP/v1/lab" || fail "the group of version 1 is used"
	umount "$TMP/v1" || fail "the hierarchy of version 1 is used"
	is "the tenant" "$(cut -d' ' -f2-4 <<<"$other")" "cgroup1:$number weight 100"
}
