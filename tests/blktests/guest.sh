#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of scripts/blktests. /share has this file, the checkout
# (blktests), what is to be added to the guest (root), and its config.
#
#   guest.sh RULE LIMIT "MODULE..." TEST...
#
# RULE is the scheduler of all disks until a test chooses another one; LIMIT is
# in seconds for each test. Prints what the tests print, and between that lines
#   BLKTEST begin TEST
#   BLKTEST end TEST STATUS SECONDS

rule=$1 limit=$2 modules=$3
shift 3

trouble() {
	echo "BLKTEST trouble $*"
	exit 1
}

# -n: libraries that are in use must not be written over.
cp -an /share/root/. / || trouble "cannot add the tools"
depmod -a || trouble "depmod"
mkdir -p /boot /tmp/results /tmp/blktests
cp /share/config-kernel "/boot/config-$(uname -r)"
# It is there to be asked about that file, which is not packed.
ln -s /usr/bin/grep /usr/local/bin/zgrep
cp -a /share/blktests/. /tmp/blktests || trouble "cannot copy the checkout"
cd /tmp/blktests || exit 1

# What a kernel has built in or lacks is passed over. sd_mod: udev would load it
# when there is a disk for it.
for module in sd_mod $modules; do
	modprobe "$module" 2>/dev/null
done
disk=
for file in /sys/block/nvme*/device/serial; do
	[[ $(tr -dc '[:graph:]' <"$file") == flash-iosched ]] || continue
	disk=${file#/sys/block/} disk=${disk%%/*}
done
[[ -n $disk ]] || trouble "no NVMe disk"
read -r known <"/sys/block/$disk/queue/scheduler"
echo "BLKTEST schedulers ${known//[][]/}"
echo "$rule" >"/sys/block/$disk/queue/scheduler" ||
	trouble "cannot select $rule for $disk"
export LAB_RULE=$rule
# It ends when more happens than it can be told.
while :; do
	busybox uevent /usr/local/bin/udevadm settle
	sleep 0.1
done >/dev/null 2>&1 &
cat >config <<-END
	TEST_DEVS=(/dev/$disk)
	TIMEOUT=$TIMEOUT
END

for name; do
	echo "BLKTEST begin $name"
	echo "blktests: $name" >/dev/kmsg
	# Each test finds its disk as the rule says.
	echo "$rule" >"/sys/block/$disk/queue/scheduler"
	begin=$SECONDS end=$((SECONDS + limit))
	setsid ./check -o /tmp/results "$name" </dev/null 2>&1 &
	pid=$!
	status=
	while kill -0 $pid 2>/dev/null; do
		if ((SECONDS >= end)); then
			status=124
			echo w >/proc/sysrq-trigger
			pkill -KILL -s $pid
			break
		fi
		sleep 0.5
	done
	wait $pid || status=${status:-$?}
	for bad in /tmp/results/*/"$name".{full,out.bad,dmesg}; do
		[[ -e $bad && ${status:-0} != 0 ]] || continue
		echo "BLKTEST file ${bad#/tmp/results/}"
		tail -n 60 "$bad"
	done
	echo "BLKTEST end $name ${status:-0} $((SECONDS - begin))"
	# What hangs would make the next test a test of something else.
	if [[ $status == 124 ]] && grep -qs '^State:.D' /proc/[0-9]*/status; then
		trouble "$name hangs, the others need a new guest"
	fi
done
