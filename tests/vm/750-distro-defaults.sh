# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# machines: distro
# core: fast
# takes: 15 s
#
# Proves: the module loads, serves verified I/O, is traced, is switched under
# load and unloads on a kernel that booted with its distribution's defaults:
# KASLR, and the mitigations for CPU bugs that rewrite calls and returns.
# Fails if: the machine boots with nokaslr or mitigations=off.

# Its name is sourcekernel.py's; the lab's configuration has neither.
[[ $(uname -r) != *-flash-* ]] || skip "this kernel was built for the lab"
for word in nokaslr mitigations=off; do
	! grep -qw -- "$word" /proc/cmdline || fail "booted with $word"
done
# With KASLR the text starts elsewhere than it was linked.
is "text where it was linked" \
	"$(grep -c '^ffffffff81000000 T _text$' /proc/kallsyms)" 0
is "mitigations of spectre_v2" \
	"$(grep -c '^Mitigation' /sys/devices/system/cpu/vulnerabilities/spectre_v2)" 1

main_disk
sched_new "$DISK"
trace_start block_rq_issue,block_rq_complete "$DISK"
run_fio --filename="/dev/$DISK" --direct=1 --verify=crc32c --verify_fatal=1 \
	--bssplit=4k/60:64k/40 --size=8m --ioengine=libaio --iodepth=32 \
	--name=v --rw=randrw --do_verify=1
assert_idle "$DISK"
echo 0 >"$TRACING/tracing_on"
holds "$(grep -c block_rq_complete: "$TRACING/trace") > 0" "completions traced"

load_start "$DISK"
for _ in 1 2 3; do
	sched_set "$DISK" none
	sched_set "$DISK" "$SCHED"
done
load_stop
assert_idle "$DISK"
sched_set "$DISK" none
rmmod "$SCHED" || fail "cannot unload"
