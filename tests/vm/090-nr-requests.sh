# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: fast
# takes: 20 s
#
#
# Proves: nr_requests changes under load lose no request, also between switches
# and while another task switches; and every request has its record however many
# scheduler tags there are.
# Fails if: flash_hctx_resize() returns at once (untracked is not 0 then), or frees
# the old records but keeps to use them.

main_disk
sched_new "$DISK"
file=/sys/block/$DISK/queue/nr_requests
before=$(<"$file")
load_start "$DISK"
n=0
for depth in 4 1023 8 256 1000 5 64 512 16 900 4 300 128 768 32 1023; do
	echo $depth >"$file" || fail "nr_requests refuses $depth"
	is "nr_requests" "$(<"$file")" $depth
	pause 0.1
	load_alive
	n=$((n + 1))
done
load_stop
assert_idle "$DISK"
is "untracked after $n changes" "$(stat_of "$DISK" untracked)" 0

# Use the highest tags as well.
echo 1023 >"$file"
tun "$DISK" max_inflight 1
run_fio --filename="/dev/$DISK" --direct=1 --rw=randread --bs=512 --size=256m \
	--number_ios=1500 --ioengine=libaio --iodepth=1000 --name=deep
assert_idle "$DISK"
is "untracked with deep queues" "$(stat_of "$DISK" untracked)" 0
echo "$before" >"$file" || fail "nr_requests refuses its old value $before"

# With switches, each of which makes new tags: one after the other, then at the
# same time, when a depth may be refused or last for a moment only.
seeded
rivals "$DISK"
load_start "$DISK"
for ((n = 0; n < 10; n++)); do
	sched_set "$DISK" "${RIVALS[RANDOM % ${#RIVALS[@]}]}"
	draw 4 1000
	echo "$DRAWN" >"$file" || fail "nr_requests refuses $DRAWN"
	is "nr_requests" "$(<"$file")" "$DRAWN"
	sched_set "$DISK" "$SCHED"
	draw 4 1000
	echo "$DRAWN" >"$file" || fail "nr_requests refuses $DRAWN"
	stat_get "$DISK" untracked
	is "untracked" "$STAT" 0
	load_alive
done
(
	changes=0
	while [[ ! -e $TMP/switched ]]; do
		# From 6.19 on no switch succeeds during a change.
		nap
		draw 4 1000
		echo "$DRAWN" >"$file" && changes=$((changes + 1))
	done 2>/dev/null
	echo $changes >"$TMP/changes"
) &
changer=$!
for ((n = 0; n < 20; n++)); do
	sched_set "$DISK" "${RIVALS[RANDOM % ${#RIVALS[@]}]}"
	((n % 4)) || pause 0.05
done
: >"$TMP/switched"
wait $changer
load_alive
sched_set "$DISK" "$SCHED"
load_stop
assert_idle "$DISK"
is "untracked after switches" "$(stat_of "$DISK" untracked)" 0
holds "$(<"$TMP/changes") > 0" "nr_requests was changed meanwhile"
depth_reset "$DISK"
