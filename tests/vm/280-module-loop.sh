# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 25 s
#
# Proves: the module is loaded and unloaded in a loop while two tasks select the
# scheduler by name, which loads it, too, and then another one, for two disks
# under verified load, and a third task reads the module's files: each load and
# unload succeeds, or is refused as busy, and nothing else happens.
# Fails if: .elevator_owner is taken out of flash_elevator, or elv_unregister()
# or the removal of the debugfs directory out of flash_module_exit().

main_disk
one=$DISK
null_add two memory_backed=1 size=64 submit_queues=2 irqmode=2 \
	completion_nsec=500000
two=$DISK
module=/lib/modules/$(uname -r)/updates/$SCHED.ko
load_start "$one"
load_start "$two"

# switcher DISK OTHER NAP - until the end; a line each time it had the scheduler
switcher() {
	local file=/sys/block/$1/queue/scheduler
	while [[ ! -e $TMP/looped ]]; do
		# It may be unloaded between its loading and now.
		echo "$SCHED" >"$file" && echo >>"$TMP/had.$1"
		sleep "$3"
		echo "$2" >"$file" || { echo "$1 refuses $2" >"$TMP/bad"; exit 1; }
		sleep "$3"
	done 2>/dev/null
}
had() { wc -l <"$TMP/had.$1"; }
: >"$TMP/had.$one"
: >"$TMP/had.$two"
switcher "$one" none 0.05 &
pids=($!)
switcher "$two" mq-deadline 0.08 &
pids+=($!)
(
	while [[ ! -e $TMP/looped ]]; do
		cat "$ARRAYS" "/sys/block/$one/queue/iosched/stats" \
			"/sys/module/$SCHED/parameters"/*
	done >/dev/null 2>&1
) &
pids+=($!)

gone=0 refused=0
for ((n = 0; n < 400; n++)); do
	((gone < 8 || refused < 8)) ||
		(($(had "$one") < 8 || $(had "$two") < 8)) || break
	out=$(LC_ALL=C busybox rmmod "$SCHED" 2>&1)
	status=$?
	case "$status $out" in
	0*) gone=$((gone + 1)) ;;
	*"temporarily unavailable"*|*busy*) refused=$((refused + 1)) ;;
	*"No such file"*|*"not found"*|*"unknown symbol"*) ;;
	*) fail "rmmod says: $out" ;;
	esac
	((n % 3)) || out=$(LC_ALL=C busybox insmod "$module" 2>&1) ||
		[[ $out == *"File exists"* || $out == *busy* ]] ||
		fail "insmod says: $out"
	((n % 20)) || load_alive
done
: >"$TMP/looped"
wait "${pids[@]}"
[[ ! -e $TMP/bad ]] || fail "$(<"$TMP/bad")"
say "$n rounds: unloaded $gone times, refused $refused times"
say "selected $(had "$one") and $(had "$two") times"
holds "$gone > 3 && $refused > 3"
holds "$(had "$one") > 3 && $(had "$two") > 3"
load_alive
sched_set "$one" "$SCHED"
sched_set "$two" "$SCHED"
load_stop
assert_idle "$one" "$two"
