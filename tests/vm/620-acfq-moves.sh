# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: acfq
# takes: 30 s
# limit: 240 s
#
# Proves: a task with many threads of io_uring that is moved between control groups
# under load is served and charged where it is, while modes, tenants, charges and
# weights change; its data stays right and nothing is lost.
# Fails if: policy_bio_class() and policy_rq_class() name a request differently, or
# fair_set_rules() leaves a turn of another mode.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
flashsim_add size_mb=64 channels=4 ways=2 page_kb=4 t_read_ns=100000 \
	t_prog_ns=200000 nr_hw_queues=2
group_add labA
a=$GROUP
group_add labB
b=$GROUP
sched_new "$DISK"
tunables
seeded
load_start "$DISK" --size=2m --numjobs=1
engine=libaio
! has_uring || engine=io_uring
fio --output="$TMP/mover" --eta=never --filename="/dev/$DISK" --direct=1 \
	--ioengine=$engine --iodepth=16 --thread=1 --numjobs=4 --bs=4k \
	--rw=randread --offset=32m --size=16m --time_based=1 --runtime=3600 \
	--name=mover >/dev/null 2>&1 &
mover=$!
for ((n = 0; n < 60; n++)); do
	group=lab$( ((n % 2)) && echo A || echo B)
	echo $mover >"$GROUPS_DIR/$group/cgroup.procs" || fail "cannot move"
	weight labA $((RANDOM % 1000 + 1))
	weight labB $((RANDOM % 1000 + 1))
	if ((n >= 20)); then
		name=${TEXTS[RANDOM % ${#TEXTS[@]}]}
		text_values "$name"
		tun "$DISK" "$name" "${GOOD[RANDOM % ${#GOOD[@]}]}"
		name=${TUNABLES[RANDOM % ${#TUNABLES[@]}]}
		draw "${LOW[$name]}" "${HIGH[$name]}"
		tun "$DISK" "$name" "$DRAWN"
	fi
	load_alive
	before=$(ios "$DISK")
	# shellcheck disable=SC2317  # soon calls it
	further() { (($(ios "$DISK") > before + 5)); }
	soon 30 further || fail "$DISK stands still, mode $(tun "$DISK" mode)"
	# At once: a second later it may have been forgotten.
	((n == 18 || n == 19)) || continue
	number=$a
	[[ $group == labA ]] || number=$b
	# shellcheck disable=SC2317  # soon calls it
	charged() { (($(of_tenant "$number" sectors) > 0)); }
	soon 10 charged || { arrays "$DISK"; fail "nothing is charged to $group"; }
done
tun "$DISK" slice_ms 20
kill -INT $mover
wait $mover
! grep -q 'error=' "$TMP/mover" || { cat "$TMP/mover"; fail "errors"; }
load_stop
assert_idle "$DISK"
sched_set "$DISK" none
flashsim_del
# shellcheck disable=SC2317  # soon calls it
gone() { rmdir $GROUPS_DIR/labA $GROUPS_DIR/labB 2>/dev/null; }
soon 5 gone || fail "a control group is used"
