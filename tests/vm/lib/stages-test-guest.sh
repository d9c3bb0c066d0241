#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of scripts/stages-test: the same load on flashsim under K2, once
# for each tracer that is named; their recordings are left in /out. LTTng's programs
# and modules are in a directory, as a guest has none.

set -u
export LC_ALL=C
DISK=flashsim0
IOS=${1:?requests} scale=${2:?time scale} lttng=${3:?LTTng, or none}
shift 3

die() { printf 'stages-test: %s\n' "$*" >&2; exit 1; }

modprobe flashsim "time_scale=$scale" page_kb=4 data=none size_mb=256 \
	t_read_ns=55000 seed=1 || die "no flashsim"
modprobe k2 || die "no k2"
echo k2 >/sys/block/$DISK/queue/scheduler || die "no k2"
echo 8 >/sys/block/$DISK/queue/iosched/max_inflight || die "no bound"
# Tracers that know no priority know names.
cp "$(command -v fio)" /tmp/rt-task

# Best effort at full speed, until the real-time task has made its requests.
load() {
	local rest
	fio --name=be --filename=/dev/$DISK --direct=1 --rw=randread --bs=4k \
		--size=75% --ioengine=libaio --iodepth=32 --randseed=2 \
		--norandommap --time_based --runtime=600 \
		--output=/dev/null &
	rest=$!
	ionice -c1 -n0 /tmp/rt-task --name=rt --filename=/dev/$DISK --direct=1 \
		--rw=randread --bs=4k --offset=75% --size=25% --ioengine=psync \
		--randseed=1 --norandommap --thinktime=$((200 * scale)) \
		--number_ios="$IOS" --output=/dev/null || return 1
	kill -INT $rest
	wait $rest
	return 0
}

with_ftrace() {
	declare -fx load
	export DISK IOS scale
	stages-record $DISK /out/ftrace bash -c load
}

with_blktrace() {
	local tracer
	# Where it writes is memory; the default of 512 KiB a buffer loses events.
	cd /tmp || return 1
	blktrace -d /dev/$DISK -o bt -b 4096 -n 8 >/dev/null &
	tracer=$!
	until [[ -e bt.blktrace.0 ]]; do sleep 0.1; done
	sleep 0.5
	load || return 1
	kill -INT $tracer
	wait $tracer
	blkparse -q -i bt >/out/blktrace
}

# Once: everything where the session daemon looks for it.
lttng_install() {
	local modules file
	modules=/lib/modules/$(uname -r)/extra
	mkdir -p "$modules" /root /var/run /usr/lib/x86_64-linux-gnu
	cp "$lttng"/modules/*.ko "$modules" || return 1
	depmod -a || return 1
	cp -R "$lttng"/root/. / || return 1
	for file in "$lttng"/lib/*; do
		# The guest's own programs keep what they have.
		[[ -e /usr/lib/x86_64-linux-gnu/${file##*/} ]] ||
			cp "$file" /usr/lib/x86_64-linux-gnu/
	done
	ip link set lo up
	export HOME=/root
}

with_lttng() {
	lttng_install || return 1
	{
		lttng-sessiond --daemonize && lttng create s --output=/root/trace &&
		lttng enable-channel -k c --subbuf-size=4M --num-subbuf=8 &&
		lttng enable-event -k 'block_*' -c c && lttng start
	} || return 1
	load || return 1
	{ lttng stop && lttng destroy; } || return 1
	cp -R /root/trace /out/lttng-trace
}

for tracer; do
	echo "stages-test: $tracer"
	"with_$tracer" >/tmp/said 2>&1 </dev/null || {
		cat /tmp/said >&2
		die "$tracer failed"
	}
done
echo "stages-test: end"
