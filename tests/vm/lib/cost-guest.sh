#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of scripts/bench-cost and scripts/lock-holds: makes the cells of its
# plan, one after the other, and prints what the clock says. Everything is decided,
# computed and judged by scripts/lib/benchcost.py and lockholds.py, which also start
# this, in virtual time.
#
# COST_PLAN: a line a cell:
#	ID DISK DISK-OPTIONS DEPTH[xPROCESSES] SCHEDULER SETTINGS
#   with commas between options and settings, which may have blanks, and "-" for
#   none. PROCESSES share the depth, at least 1 each. An option with values A/B/C makes a disk for each, which gets half of the
#   reads, and there is an answer for each. A setting is
#   NAME=VALUE for a file in iosched/, read-stats, or if-NAME: not for a
#   scheduler without such a file. warm: many reads at a time before.
# COST_TASK: time, locks, or holds (one load of COST_LONG, with a watch of the locks that
#   the scheduler takes). COST_SHORT, COST_LONG, COST_LOCKS: I/Os of a run.
# COST_SEED: of the offsets. COST_BATCH: reads that are submitted at once (default 1).
# COST_PROFILER: a program to run before and after each timed load, or empty. If it is set,
#   the kernel's functions are written to /out/symbols, those of modules to
#   /out/symbols.ID after each cell.
#
# Answers on stdout, one line each, begin with "cost: ".

set -u

NULLB=/sys/kernel/config/nullb
TRACING=/sys/kernel/tracing
TMP=$(mktemp -d)
STATS_PERIOD=0.01

answer() { printf 'cost: %s\n' "$*"; }

# nap SECONDS - without a process
exec {NAP}<> <(:)
nap() { read -rt "$1" -u "$NAP" _ || :; }

# Disks: each is made once and stays, but flashsim has one set of parameters.

declare -A DISKS=()
DISK='' MADE=0 MARKS=0

# expand OPTIONS - a line for each combination of values
expand() {
	local value values before after
	if [[ $1 =~ ^([^/]*=)([^,=/]*/[^,=]*)(.*)$ ]]; then
		before=${BASH_REMATCH[1]} after=${BASH_REMATCH[3]}
		IFS=/ read -ra values <<<"${BASH_REMATCH[2]}"
		for value in "${values[@]}"; do
			expand "$before$value$after"
		done
	else
		echo "$1"
	fi
}

flashsim_gone() {
	local key
	restore
	for key in "${!DISKS[@]}"; do
		[[ $key == flashsim* ]] || continue
		echo none >"/sys/block/${DISKS[$key]}/queue/scheduler"
		unset "DISKS[$key]"
		rmmod flashsim || return
	done
}

# disk KIND OPTIONS - sets DISK; status 1 and WHY if there is none
disk() {
	local key="$1 $2" file before pair
	WHY=
	if [[ -n ${DISKS[$key]:-} ]]; then
		DISK=${DISKS[$key]}
		return
	fi
	DISK=
	[[ $1 != flashsim ]] || flashsim_gone || return
	before=" $(echo /sys/block/*) "
	case $1 in
	null)
		[[ -d $NULLB ]] || modprobe null_blk nr_devices=0 || {
			WHY="no module null_blk"
			return 1
		}
		file=$NULLB/d$((++MADE))
		mkdir "$file" || return 1
		for pair in ${2//,/ }; do
			echo "${pair#*=}" >"$file/${pair%%=*}" || {
				WHY="null_blk refuses $pair"
				return 1
			}
		done
		echo 1 >"$file/power" ;;
	flashsim)
		modinfo flashsim >"$TMP/modinfo" 2>&1 || {
			WHY="no module flashsim"
			return 1
		}
		# shellcheck disable=SC2086 # one word an option
		modprobe flashsim ${2//,/ } || {
			WHY="flashsim cannot be loaded with $2"
			return 1
		} ;;
	esac
	# The name of a null_blk disk differs from kernel to kernel.
	nap 0.5
	for file in /sys/block/*; do
		[[ $before == *" $file "* ]] || DISK=${file##*/}
	done
	[[ -b /dev/$DISK ]] || {
		WHY="no /dev/$DISK"
		return 1
	}
	DISKS[$key]=$DISK
	# The first fio of all has its own files to bring in, and the first long one
	# memory: on the first disk 1 % of a cell at depth 1.
	load 1 $((MADE > 1 ? 100 : COST_LONG))
}

# File: its value before the cell set it. A disk keeps its values, whatever
# scheduler is selected next.
declare -A BEFORE=()

restore() {
	local file
	for file in "${!BEFORE[@]}"; do
		echo "${BEFORE[$file]}" >"$file"
	done
	BEFORE=()
}

# scheduler NAME SETTINGS - selects it again; status 1 and WHY if it cannot be
# selected, 2 if there is nothing to be measured
scheduler() {
	local queue=/sys/block/$DISK/queue setting settings file
	WHY="no scheduler $1"
	READ_STATS=
	restore
	echo none >"$queue/scheduler"
	[[ $1 == none ]] || echo "$1" 2>"$TMP/error" >"$queue/scheduler" ||
		return 1
	[[ $2 == - ]] && return 0
	IFS=, read -ra settings <<<"$2"
	for setting in "${settings[@]}"; do
		case $setting in
		read-stats)
			WHY="$1 has no stats"
			READ_STATS=$queue/iosched/stats
			[[ -r $READ_STATS ]] || return 1 ;;
		if-*)
			WHY="$1 has no ${setting#if-}"
			[[ -e $queue/iosched/${setting#if-} ]] || return 2 ;;
		warm)
			WHY="fio fails"
			load 32 8000 || return 1 ;;
		*)
			WHY="$1 refuses $setting"
			file=$queue/iosched/${setting%%=*}
			BEFORE[$file]=$(<"$file")
			echo "${setting#*=}" 2>"$TMP/error" >"$file" ||
				return 1 ;;
		esac
	done
}

# clock - sets NOW and IDLE, both in ns since boot. The kernel books a CPU's idle
# time under one of two names, depending on what sleeps on it.
clock() {
	local line
	mapfile -t LINES </proc/timer_list
	NOW='' IDLE=0
	for line in "${LINES[@]}"; do
		case $line in
		"now at "*)
			NOW=${line//[!0-9]/} ;;
		*.idle_sleeptime*|*.iowait_sleeptime*)
			line=${line#*:}
			IDLE=$((IDLE + ${line//[!0-9]/})) ;;
		esac
	done
}

# tells DISK-KIND DEPTH - status 1 and WHY if the CPU's busy time is unknown: 7.3 no
# longer reports its idle time. On null_blk such a load leaves the CPU never idle.
tells() {
	WHY="this kernel does not say how long it was idle"
	[[ $1 == null && ${2%x*} -ge 32 ]] || grep -q idle_sleeptime /proc/timer_list
}

# switches - sets SWITCHES, of tasks since boot
switches() {
	local line
	mapfile -t LINES </proc/stat
	for line in "${LINES[@]}"; do
		[[ $line == ctxt* ]] && SWITCHES=${line#ctxt }
	done
}

# load DEPTH[xPROCESSES] IOS - status of fio
load() {
	local jobs=${1#*x} depth=${1%x*} ios=$2
	local -a mode=(--thread)
	if [[ $1 == *x* ]]; then
		depth=$((depth > jobs ? depth / jobs : 1)) ios=$(((ios + jobs - 1) / jobs))
		mode=(--numjobs="$jobs" --group_reporting)
	fi
	fio --name=cost --filename="/dev/$DISK" --rw=randread --bs=4k --direct=1 \
		--ioengine=libaio --iodepth="$depth" --number_ios="$ios" "${mode[@]}" \
		--iodepth_batch_submit="${COST_BATCH:-1}" \
		--iodepth_batch_complete_min="${COST_BATCH:-1}" \
		--norandommap --randrepeat=1 --randseed="$COST_SEED" \
		--gtod_reduce=1 --disk_util=0 --invalidate=0 \
		--output-format=json --output="$TMP/fio" --aux-path="$TMP"
}

# fio_ios - reads that fio has completed, all of them without an error
fio_ios() {
	local errors
	errors=$(grep -c '"error" : 0,' "$TMP/fio")
	((errors == 1)) || return
	awk -F '[:,]' '/"total_ios"/ { print $2 + 0; exit }' "$TMP/fio"
}

# mark - starts or ends a count of the guest's instructions
mark() {
	[[ -n ${COST_PROFILER:-} ]] || return 0
	"$COST_PROFILER"
	((++MARKS))
}

# symbols PATTERN FILE - writes the functions in /proc/kallsyms that match to /out/FILE
symbols() {
	[[ -z ${COST_PROFILER:-} ]] || grep " [tTwW] .*$1" /proc/kallsyms >"/out/$2"
}

# time_runs ID DEPTH DISKS - a short and a long run: what is done once for each run is
# in both, so the difference has only what is done for each I/O.
time_runs() {
	local part ios now idle switches status reader got
	for part in short long; do
		ios=$COST_SHORT
		[[ $part == long ]] && ios=$COST_LONG
		(($3 == 1)) || ios=$((ios / 2))
		reader=
		if [[ -n $READ_STATS ]]; then
			while :; do
				IFS= read -r -d '' _ <"$READ_STATS"
				nap $STATS_PERIOD
			done &
			reader=$!
		fi
		# A scheduler forgets the tenants of the previous run after a second.
		[[ $2 != *x* ]] || nap 2.5
		switches
		switches=$SWITCHES
		clock
		now=$NOW idle=$IDLE
		mark
		load "$2" "$ios"
		status=$?
		mark
		clock
		switches
		[[ -z $reader ]] || {
			kill $reader
			wait $reader 2>"$TMP/error"
		}
		got=$(fio_ios)
		[[ -n $got && $status == 0 ]] || {
			answer "failed $1 fio: status $status," \
				"$(tail -n 1 "$TMP/fio")"
			return 1
		}
		answer "part $1 $part $got $((NOW - now)) $((IDLE - idle))" \
			"$((SWITCHES - switches))"
		((MARKS == 0)) || answer "mark $1 $part $got $MARKS"
	done
}

# time_cell ID KIND OPTIONS DEPTH SCHEDULER SETTINGS - status and WHY as scheduler()
time_cell() {
	local kinds kind
	mapfile -t kinds < <(expand "$3")
	for kind in "${kinds[@]}"; do
		disk "$2" "$kind" && scheduler "$5" "$6" || return
		time_runs "$1" "$4" ${#kinds[@]} || return 0
	done
	symbols '\]$' "symbols.$1"
	answer "done $1"
}

# own_symbols SCHEDULER - lines of its functions
own_symbols() {
	local module
	module=$(modprobe --resolve-alias "$1-iosched" | head -n 1)
	module=${module//-/_}
	if grep -q "^$module " /proc/modules; then
		grep " [tT] .*\\[$module\\]\$" /proc/kallsyms
	elif [[ $1 == mq-deadline ]]; then
		# Debian has it built in.
		grep -E ' [tT] (dd|deadline)_[^ ]*$' /proc/kallsyms
	fi
}

# functions SCHEDULER - the file with the names of its functions
functions() {
	local file=$TMP/functions.$1
	echo "$file"
	[[ ! -e $file ]] || return
	own_symbols "$1" | awk '{ print $3 }' >"$file"
}

# watch SCHEDULER - sends the profiler the addresses of the scheduler's code, and those of
# functions that take and release locks
watch() {
	local kind first last lock locks=() addr hook
	own_symbols "$1" | sort >"$TMP/own"
	# Other code of the kernel has such names, too: only functions near this one count.
	hook=$(awk '$3 == "dd_dispatch_request" { print $1 }' "$TMP/own")
	while read -r addr _; do
		((${hook:+(0x$addr - 0x$hook) ** 2 >> 30} + 0)) || echo "$addr"
	done <"$TMP/own" >"$TMP/addresses"
	first=$(head -n 1 "$TMP/addresses") last=$(tail -n 1 "$TMP/addresses")
	# The last function is shorter than a page.
	[[ -n $last ]] && last=$(printf '%x' $((0x$last + 4096))) || return
	for kind in '' _irq _irqsave _bh; do
		lock=$(awk -v "lock=_raw_spin_lock$kind" \
			-v "unlock=_raw_spin_unlock${kind/save/restore}" '
			$3 == lock { a = $1 }
			$3 == unlock { b = $1 }
			END { if (a != "" && b != "") print a, b }' /proc/kallsyms)
		[[ -z $lock ]] || locks+=("$lock")
	done
	# shellcheck disable=SC2048,SC2086 # two words a lock
	"$COST_PROFILER" "$first" "$last" ${locks[*]}
}

# waiting ID - says from time to time how many requests the scheduler holds back: those
# with a tag of the scheduler that have none of the device
waiting() {
	local line folder=/sys/kernel/debug/block/$DISK/hctx0 file busy
	while nap 0.05; do
		busy=()
		for file in sched_tags tags; do
			while read -r line; do
				[[ $line != busy=* ]] || busy+=("${line#busy=}")
			done <"$folder/$file"
		done
		answer "waiting $1 $((${busy[0]:-0} - ${busy[${#busy[@]} / 2]:-0}))"
	done
}

# holds_cell ID KIND OPTIONS DEPTH SCHEDULER SETTINGS - locked sections of one load
holds_cell() {
	local got status waiting
	disk "$2" "$3" && scheduler "$5" "$6" || return
	WHY="no addresses of its functions"
	watch "$5" || return
	mark
	waiting "$1" &
	waiting=$!
	load "$4" "$COST_LONG"
	status=$?
	kill $waiting
	wait $waiting 2>"$TMP/error"
	mark
	got=$(fio_ios)
	[[ -n $got && $status == 0 ]] || {
		answer "failed $1 fio: status $status, $(tail -n 1 "$TMP/fio")"
		return 0
	}
	answer "mark $1 long $got $MARKS"
	symbols '\]$' "symbols.$1"
	answer "done $1"
}

# locks_cell ID KIND OPTIONS DEPTH SCHEDULER SETTINGS - which functions take how many spin locks.
# The tracer names the function that called the lock function: the one that asked for the lock, or
# the one into which the compiler has inlined that.
locks_cell() {
	local status ios lost lock own kind
	kind=$(expand "$3" | head -n 1)
	disk "$2" "$kind" && scheduler "$5" "$6" || return
	own=$(functions "$5")
	echo nop >$TRACING/current_tracer
	echo 0 >$TRACING/tracing_on
	echo 8192 >$TRACING/buffer_size_kb
	for lock in _raw_spin_lock{,_irq,_irqsave,_bh} _raw_spin_trylock{,_bh}; do
		echo "$lock"
	done >$TRACING/set_ftrace_filter
	echo function >$TRACING/current_tracer
	echo >$TRACING/trace
	echo 1 >$TRACING/tracing_on
	load "$4" "$COST_LOCKS"
	status=$?
	echo 0 >$TRACING/tracing_on
	ios=$(fio_ios)
	[[ -n $ios && $status == 0 ]] || {
		answer "failed $1 fio: status $status"
		return 0
	}
	lost=$(awk '/entries-in-buffer/ { split($3, n, "/"); print n[2] - n[1] }' \
		$TRACING/trace)
	((lost == 0)) || {
		answer "failed $1 the trace lost $lost events"
		return 0
	}
	# "task-pid [cpu] flags time: _raw_spin_lock <-caller"
	awk -v id="$1" -v ios="$ios" '
		FNR == NR { own[$1] = 1; next }
		/^#/ { next }
		{ all++; caller = substr($NF, 3) }
		caller in own { count[caller]++; mine++ }
		END {
			printf "cost: locks %s %d %d %d", id, ios, all, mine
			for (caller in count)
				printf " %s=%d", caller, count[caller]
			print ""
		}' "$own" $TRACING/trace
	echo nop >$TRACING/current_tracer
	answer "done $1"
}

answer "machine release $(uname -r)"
answer "machine version $(uname -v)"
answer "machine fio $(fio --version)"
answer "machine clocksource" \
	"$(</sys/devices/system/clocksource/clocksource0/current_clocksource)"

symbols '[^]]$' symbols
while read -r id kind options depth name settings; do
	[[ -n $id ]] || continue
	answer "begin $id"
	if [[ $COST_TASK == time ]] && ! tells "$kind" "$depth"; then
		answer "missing $id $WHY"
		continue
	fi
	"${COST_TASK}_cell" "$id" "$kind" "$options" "$depth" "$name" "$settings"
	case $? in
	0) ;;
	2) answer "absent $id $WHY" ;;
	*) answer "missing $id ${WHY:-no disk}" ;;
	esac
done <<<"$COST_PLAN"
rm -rf "$TMP"
answer "end"
