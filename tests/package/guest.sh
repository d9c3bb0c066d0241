#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/package-test --vm runs this in a guest: guest.sh MODULE... The Debian that
# has the packages is in /share, read-only; the guest itself has none of our modules.
#
# Proves: writing a scheduler's name loads the module that DKMS has built; a udev rule
# made from the example selects it and sets a tunable when the disk is added; a change
# event afterwards leaves what was set by hand, an add event sets all again, and for a
# disk that the rule has not seen a change event is enough.

root=/share
queue=/sys/block/nvme0n1/queue

fail() {
	echo "package-test: $*" >&2
	[[ ! -e $root/run/udevd.log ]] || tail -n 20 $root/run/udevd.log >&2
	exit 1
}

is() {
	[[ $2 == "$3" ]] || fail "$1 is '$2', not '$3'"
	echo "ok: $1: $2"
}

selected() { sed -E 's/.*\[(.*)\].*/\1/' $queue/scheduler; }

mount --bind /dev $root/dev || fail "cannot mount below $root"
mount --bind /sys $root/sys
mount -t proc proc $root/proc
mount -t tmpfs tmpfs $root/run

# The kernel calls Debian's modprobe, in Debian.
printf '#!/bin/sh\nexec chroot %s /sbin/modprobe "$@"\n' $root >/run/modprobe
chmod +x /run/modprobe
echo /run/modprobe >/proc/sys/kernel/modprobe

echo none >$queue/scheduler
for name; do
	is "$name before" "$(grep -c "^$name " /proc/modules)" 0
	echo "$name" >$queue/scheduler || fail "$name cannot be selected"
	is "selected" "$(selected)" "$name"
	is "$name after" "$(grep -c "^$name " /proc/modules)" 1
	dd if=/dev/nvme0n1 of=/dev/null bs=64k count=64 iflag=direct 2>/dev/null ||
		fail "cannot read with $name"
	inserted=$(sed -n 's/^inserted //p' $queue/iosched/stats)
	((inserted > 0)) || fail "$name saw no requests"
	echo none >$queue/scheduler
	rmmod "$name" || fail "$name cannot be unloaded"
done

# udev in a chroot thinks that it must not do anything.
export SYSTEMD_IGNORE_CHROOT=1 SYSTEMD_LOG_LEVEL=debug SYSTEMD_LOG_TARGET=console
# A link that leads somewhere in Debian only.
udevd=/usr/lib/systemd/systemd-udevd
chroot $root test -x $udevd || fail "no udevd in $root"
chroot $root $udevd >$root/run/udevd.log 2>&1 &
daemon=$!
for ((try = 0; try < 100; try++)); do
	[[ ! -S $root/run/udev/control ]] || break
	sleep 0.2
done
[[ -S $root/run/udev/control ]] || fail "udevd does not start"
# event ACTION - an event for the disk, and the end of its rules
event() {
	chroot $root udevadm trigger "--action=$1" --settle /sys/block/nvme0n1 ||
		fail "no $1 event can be made"
}
by_rule() {
	is "by the rule at $1" "$(selected)" "$name"
	is "its max_inflight" "$(<$queue/iosched/max_inflight)" 7
}
marked() { chroot $root udevadm info /sys/block/nvme0n1 | grep -c 'FLASH_IOSCHED=1$'; }

name=$1
is "before the event" "$(selected)" none
event add
by_rule add
is "mark in udev's database" "$(marked)" 1
echo 9 >$queue/iosched/max_inflight
event change
is "max_inflight set by hand, after change" "$(<$queue/iosched/max_inflight)" 9
echo none >$queue/scheduler
event change
event change
is "scheduler set by hand, after change" "$(selected)" none
event add
by_rule "the next add"
echo none >$queue/scheduler
rm "$root/run/udev/data/b$(<$queue/../dev)" || fail "the disk is not in udev's database"
event change
by_rule "the first change"
kill $daemon
wait $daemon 2>/dev/null
echo none >$queue/scheduler
rmmod "$name" || fail "$name cannot be unloaded"
echo "package-test: passed in the guest"
