# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: acfq
# takes: 20 s
# limit: 240 s
#
# Proves: the data that a control group has written into the page cache is charged
# to it when another task triggers the writeback; with tenant_by=task it is charged
# to no task's tenant; and a tenant by priority is one for all tasks of that
# priority.
# Fails if: fairshare_bio_key() asks the task before the control group, or takes a worker
# for a tenant.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need memory
flashsim_add size_mb=64 channels=4 ways=2 page_kb=4 t_read_ns=20000 \
	t_prog_ns=20000 data=none
group_add lab
sched_set "$DISK" "$SCHED"

# look - adds the debugfs file to $TMP/queues. No process starts between a request and
# this: on a slow kernel that takes a second, after which an idle tenant is forgotten.
look() {
	local lines
	mapfile -t lines <"$ARRAYS"
	printf '%s\n' "${lines[@]}" >>"$TMP/queues"
}
# dirty MEGABYTES AT - written by the group, written back by us
dirty() {
	(within lab dd if=/dev/zero of="/dev/$DISK" bs=1M count="$1" seek="$2" \
		conv=notrunc status=none) || fail "dd failed"
	sync "/dev/$DISK" || fail "sync failed"
	look
}
# charged - sets SECTORS to what the group's tenant had by then
charged() {
	local ARRAYS=$TMP/queues
	arrays "$DISK"
	SECTORS=$(of_tenant "$GROUP" sectors)
	: >"$ARRAYS"
}
sched_new "$DISK"
dirty 8 0
charged
holds "$SECTORS >= 8 * 2048" "sectors charged to the writer"

tun "$DISK" tenant_by task
sched_new "$DISK"
dirty 8 16
charged
is "charged to the group by task" "$SECTORS" 0

tun "$DISK" tenant_by ioprio
sched_new "$DISK"
for level in 0 4 7; do
	ionice -c 2 -n $level dd if="/dev/$DISK" of=/dev/null bs=4k count=8 \
		iflag=direct status=none || fail "dd failed"
	look
done
ionice -c 3 dd if="/dev/$DISK" of=/dev/null bs=4k count=8 iflag=direct \
	status=none || fail "dd failed"
look
# A tenant may be in several looks, but only once in each.
awk '/^disk/ { looks++ }
	/^tenant prio/ { print $2, seen[looks, $2]++ ? "twice" : $4 }' \
	"$TMP/queues" >"$TMP/prios"
cat "$TMP/prios"
is "weights of BE 0, 4, 7 and idle" \
	"$(sort -u "$TMP/prios" | tr '\n' ' ')" \
	"prio:12 100 prio:15 25 prio:16 1 prio:8 200 "
assert_idle "$DISK"
sched_set "$DISK" none
flashsim_del
rmdir $GROUPS_DIR/lab || fail "a control group is used"
echo -memory 2>/dev/null >$GROUPS_DIR/cgroup.subtree_control || :
