#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# /init of the lab's guest: mounts, the NVMe driver, the command, its status.
# Run by busybox' sh. ttyS0 is the kernel's console; ttyS1 carries the
# command's output, alone; ttyS2 tells the host what stage we are at.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root TERM=dumb LANG=C

mount -t devtmpfs -o mode=0755 dev /dev
mount -t proc proc /proc
exec 3>/dev/ttyS1 4>/dev/ttyS2
# raw: no LF -> CRLF. The speed matters only for how long the driver thinks
# that a drain takes.
stty -F /dev/ttyS1 115200 raw -echo
stty -F /dev/ttyS2 115200 raw -echo
read -r uptime _ </proc/uptime
echo "userspace $uptime" >&4

mount -t sysfs sys /sys
mkdir -p /dev/pts /dev/shm
mount -t devpts -o mode=0620,ptmxmode=0666 devpts /dev/pts
mount -t tmpfs -o mode=1777 tmpfs /dev/shm
mount -t tmpfs -o mode=1777 tmpfs /tmp
mount -t tmpfs -o mode=0755 tmpfs /run
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
mount -t cgroup2 cgroup2 /sys/fs/cgroup 2>/dev/null
ln -s /proc/self/fd /dev/fd
ln -s /proc/self/fd/0 /dev/stdin
ln -s /proc/self/fd/1 /dev/stdout
ln -s /proc/self/fd/2 /dev/stderr
ip link set lo up 2>/dev/null
hostname lab

# shellcheck source=/dev/null
. /etc/lab/env
# Debug kernels take several times as long for everything.
slow=${LAB_SLOW:-1}

# Whatever gets stuck has to end the run, with a report, well before its
# time-out. The limits allow for TCG on a busy host: there a virtual CPU can
# stand still for many seconds through no fault of the guest.
cd /proc/sys/kernel || exit 1
echo 1 >sysrq
echo $((60 * slow)) >hung_task_timeout_secs
echo 10 >hung_task_check_interval_secs
echo 1 >hung_task_panic
# The kernel takes no more than 60.
echo $((slow > 3 ? 60 : 20 * slow)) >watchdog_thresh
echo 1 >softlockup_panic
# Which CPU is stuck is one half of it; for what, another one knows.
echo 1 >softlockup_all_cpu_backtrace
cd /sys/module || exit 1
echo $((slow > 5 ? 300 : 60 * slow)) >rcupdate/parameters/rcu_cpu_stall_timeout
[ ! -e workqueue/parameters/watchdog_thresh ] ||
	echo $((60 * slow)) >workqueue/parameters/watchdog_thresh
cd /root || exit 1

modprobe configfs 2>/dev/null
mount -t configfs configfs /sys/kernel/config 2>/dev/null

# Events are on from the start, see qemu.py, but record nothing until asked to.
[ -n "$VIRTUAL_TIME" ] || echo 0 >/sys/kernel/tracing/tracing_on 2>/dev/null

if [ -n "$VIRTUAL_TIME" ]; then
	# Idle time costs nothing there, and models of slow disks are slow. A
	# task that waits for the host sees the clock jump from timer to timer,
	# hours in a moment: with 9p nothing can be said about hanging tasks.
	limit=600
	[ -z "$LAB_SHARE$LAB_OUT$LAB_NVME" ] || limit=0
	echo $limit >/proc/sys/kernel/hung_task_timeout_secs
fi
if [ -n "$LAB_NVME" ]; then
	modprobe nvme
	# A second of the guest may be none of the host, where the disk is.
	most=600
	[ -z "$VIRTUAL_TIME" ] || most=100000
	tries=0
	until [ -b /dev/nvme0n1 ]; do
		tries=$((tries + 1))
		if [ $tries -gt $most ]; then
			echo "lab: no /dev/nvme0n1 after 60 s" >&3
			break
		fi
		sleep 0.1
	done
fi

# Debug kernels only: memory that nobody knows of any more. The first scan takes
# note of what looks lost, the second reports what still does; kmemleak does not
# judge objects that are younger than 5 s.
kmemleak=/sys/kernel/debug/kmemleak
look_for_leaks() {
	if ! echo scan 2>/dev/null >$kmemleak; then
		# Without memory for its own records it ends itself.
		echo "lab: kmemleak is off, leaks were not looked for" >/dev/kmsg
		return
	fi
	sleep 6
	echo scan >$kmemleak
	head -n 400 $kmemleak >/dev/console
}

nine_p() {
	modprobe -a virtio_pci 9pnet_virtio 9p &&
		mount -t 9p -o trans=virtio,version=9p2000.L,msize=131072"$3" "$1" "$2"
}

mkdir -p /out
if [ -n "$LAB_SHARE" ]; then
	mkdir -p /share
	nine_p share /share ,ro || echo "lab: /share could not be mounted" >&3
fi

read -r uptime _ </proc/uptime
echo "command $uptime" >&4
# Through a pipe: with a terminal as its stdout fio draws a progress line and
# ls makes columns, and the output is there to be read by programs.
mkfifo /run/lab-output
cat </run/lab-output >&3 4>&- &
relay=$!
# A session of its own: signals to its process group stay off init, and what
# it leaves behind can be found.
# shellcheck disable=SC2016 # the inner shell is the one to expand that
setsid sh -c 'echo $$ >/run/lab-session; exec bash -c "$(cat /etc/lab/command)"' \
	</dev/null >/run/lab-output 2>&1 3>&- 4>&-
status=$?
read -r uptime _ </proc/uptime
# The relay ends when nobody has the pipe open any more. Give what the command
# left running the time to be killed, and no more.
pkill -KILL -s "$(cat /run/lab-session)"
tries=0
while kill -0 $relay 2>/dev/null && [ $tries -lt 100 ]; do
	tries=$((tries + 1))
	sleep 0.1
done

[ ! -e $kmemleak ] || look_for_leaks
if grep -qs '^ debug_locks: *0' /proc/lockdep_stats; then
	echo "lab: lockdep is off, it gave up at some point" >/dev/kmsg
fi

if [ -n "$LAB_OUT" ]; then
	mkdir -p /run/out
	if ! { nine_p out /run/out "" && cp -R /out/. /run/out/ &&
	       umount /run/out; }; then
		echo "lab: /out could not be copied to the host" >&3
		[ $status -ne 0 ] || status=1
	fi
fi

# stty waits until all output has left the UART before it sets anything.
stty -F /dev/ttyS1 raw -echo
echo "status $status $uptime" >&4
stty -F /dev/ttyS2 raw -echo
# The host ends QEMU on that line; this is for guests started by other means.
sleep 10
poweroff -f
