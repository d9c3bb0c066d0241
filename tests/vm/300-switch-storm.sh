# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# takes: 40 s
# limit: 420 s
# fast: no
#
# Proves: 500 switches among the scheduler under test and the kernel's
# own, in every order of two, under verified load: no error, no hang, no request
# left in the scheduler that is replaced.
# Fails if: elv_init_sched() does not set QUEUE_FLAG_SQ_SCHED and flash_kick()
# is removed from flash_release(); or flash_hctx_exit() does not free.

main_disk
rivals "$DISK"
names=("${RIVALS[@]}")
count=${#names[@]}
file=/sys/block/$DISK/queue/scheduler
load_start "$DISK"
start=$SECONDS
now=0 switches=0 step=1
# With steps of 1 to count - 1 every scheduler follows every other one.
while ((switches < 500)); do
	now=$(((now + step) % count))
	echo "${names[now]}" >"$file" || fail "cannot select ${names[now]}"
	read -r line <"$file"
	[[ $line == *"[${names[now]}]"* ]] || fail "selected ${names[now]}: $line"
	switches=$((switches + 1))
	((switches % count)) || step=$((step % (count - 1) + 1))
	((switches % 50)) || load_alive
	# Let it work for a moment now and then.
	((switches % 25)) || pause 0.2
done
say "$switches switches in $((SECONDS - start)) s"
load_stop
sched_new "$DISK"
run_fio --filename="/dev/$DISK" --direct=1 --rw=randrw --bs=4k --size=2m \
	--ioengine=libaio --iodepth=16 --verify=crc32c --name=after
assert_idle "$DISK"
