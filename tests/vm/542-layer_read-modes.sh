# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2153,SC2154
# for: layer_read
# core: yes
# takes: 60 s
# limit: 300 s
#
# Proves: all tunables change under verified load on two devices at once, each with
# its own, also while schedulers are switched: nothing is lost, no request waits
# without a cause, each request gives back what it took, and the files show the
# written values. And among 48 tasks that read as fast as they can, in both modes, a
# read of the last address, a write, and a long read are served before a multiple of
# the reads that can be outstanding. Counted in requests, not in time.
# Fails if: layer_give() computes the chips again, layer_set() does not sort waiting
# requests again, policy_text_tuned() does not call flash_resume(), or layer_expired()
# is never true and layer_turn() continues with reads for ever.

# shellcheck source=tests/vm/lib/changes.sh
. lib/changes.sh
changes_under_load
for disk in "${DISKS[@]}"; do
	is "pieces of $disk" "$(stat_of "$disk" read_pieces) $(stat_of \
		"$disk" write_pieces)" "0 0"
	is "layers of $disk with something to do" "$(arrays "$disk" |
		grep -cE '^layer.* (waiting|out) [1-9]')" 0
	sched_set "$disk" none
done
flashsim_del

TASKS=48 WANTED=20
events_set 1 block_rq_insert
# So slow that the flood leaves the CPU to other tasks, on a slow kernel, too.
scale=$((${LAB_SLOW:-1} * ${LAB_SLOW:-1}))
flashsim_add time_scale=$scale size_mb=64 channels=4 ways=2 page_kb=4 \
	t_read_ns=2000000 t_prog_ns=4000000 nr_hw_queues=2 gc=none data=none max_kb=512
sched_set "$DISK" "$SCHED"
for name in "${TUNABLES[@]}" "${TEXTS[@]}"; do
	tun "$DISK" "$name" "${DEFAULT[$name]}"
done
tun "$DISK" max_inflight 8
tun "$DISK" read_expire_ms $((20 * scale))
sched_new "$DISK"
# It ends before 32 MiB: nothing from there on becomes a part of its requests.
fio --output="$TMP/flood" --eta=never --filename="/dev/$DISK" --direct=1 \
	--ioengine=psync --thread=1 --bs=4k --size=32764k --norandommap=1 \
	--rw=randread --time_based=1 --runtime=3600 --name=flood \
	--numjobs=$TASKS >/dev/null 2>&1 &
flood=$!
before=$(ios "$DISK")
# shellcheck disable=SC2317  # soon calls it
flooding() { (($(ios "$DISK") > before + 500)); }
soon 60 flooding || fail "no flood"

# lone NAME LIMIT ARGUMENTS... - while one of its requests waits, fewer reads of others
# are issued
lone() {
	local name=$1 limit=$2 seen most
	shift 2
	trace_from 65536 "$DISK"
	run_fio --filename="/dev/$DISK" --direct=1 --ioengine=psync --thread=1 \
		--number_ios=$WANTED --io_size=16m --norandommap=1 --name="$name" "$@"
	trace_stop "$TMP/trace"
	stats "$DISK"
	read -r seen most < <(overtaken 65536 "$TMP/trace")
	is "requests seen from insert to issue" "$seen" $WANTED
	holds "$most < $limit" "reads issued while a $name waited"
}
# The last read is that of the highest address in the sub-layer that the flood is in:
# of two sub-layers the first has one sector more than 32 MiB.
for mode in paper auto; do
	tun "$DISK" mode $mode
	tun "$DISK" chips 1
	lone last-read $((8 * TASKS)) --rw=randread --bs=4k --offset=32m --size=4k
	lone write $((2 * TASKS)) --rw=randwrite --bs=4k --offset=32m --size=32m
	lone long-read $((8 * TASKS)) --rw=randread --bs=128k --offset=32m \
		--size=32m
done
kill -INT $flood
wait $flood
! grep -q 'error=' "$TMP/flood" || { cat "$TMP/flood"; fail "errors"; }
assert_idle "$DISK"
sched_set "$DISK" none
flashsim_del
