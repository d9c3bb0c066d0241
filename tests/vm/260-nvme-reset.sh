# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# core: fast
# takes: 15 s
#
# Proves: a reset of an NVMe controller with two namespaces, under load on both with
# different bounds: the driver ends or hands back its requests, the kernel creates the
# scheduler again; no request is lost, no data is wrong, and each disk has its scheduler
# and its tunables again.
# Fails if: elv_requeue_request() does not give the slot back, or flash_disk_put()
# frees the values whatever happens to the disk.

kernel_at_least 6.12 ||
	skip "on $(uname -r) QEMU's controller loses I/O in a reset without us, too"
two_disks
controller=$(readlink -f "/sys/block/${DISKS[0]}/device")
[[ -w $controller/reset_controller ]] || skip "no reset_controller"
bounds=(1 6)
for n in 0 1; do
	sched_set "${DISKS[n]}" "$SCHED"
	tun "${DISKS[n]}" max_inflight "${bounds[n]}"
	sched_new "${DISKS[n]}"
	load_start "${DISKS[n]}" --size=2m
done
trace_start block_rq_requeue "${DISKS[0]}"
requeued=0
for ((round = 0; round < 6; round++)); do
	before=("$(ios "${DISKS[0]}")" "$(ios "${DISKS[1]}")")
	for n in 0 1; do
		stats "${DISKS[n]}"
	done
	# shellcheck disable=SC2317  # soon calls it
	live() { [[ $(<"$controller/state") == live ]]; }
	echo 1 >"$controller/reset_controller" || fail "no reset, round $round"
	soon 20 live || fail "the controller stays $(<"$controller/state")"
	for n in 0 1; do
		is "scheduler of ${DISKS[n]}" "$(sched_get "${DISKS[n]}")" \
			"$SCHED"
		tun_is "its bound" "${DISKS[n]}" max_inflight \
				"${bounds[n]}"
		# shellcheck disable=SC2317  # soon calls it
		further() { (($(ios "${DISKS[n]}") > before[n] + 20)); }
		soon 30 further || fail "${DISKS[n]} stands still after a reset"
		stat_get "${DISKS[n]}" requeued
		requeued=$((requeued + STAT))
	done
	load_alive
done
say "$round resets, $requeued requeued since each disk's last one"
load_stop
trace_stop "$TMP/trace"
# QEMU's controller mostly lets what it has end first.
say "$(grep -c block_rq_requeue "$TMP/trace") requests handed back"
assert_idle "${DISKS[@]}"
