#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of scripts/physics: works through the experiments in the
# file that it is given, lines `name|flashsim parameters|fio options`, and leaves the
# device's own stamps for the host to judge. Lines with the same parameters use
# the same device one after the other.

set -u
export LC_ALL=C
STATS=/sys/kernel/debug/flashsim/flashsim0
loaded=

while IFS='|' read -r name params fio; do
	echo "physics: $name"
	if [[ $params != "$loaded" ]]; then
		rmmod flashsim 2>/dev/null
		# shellcheck disable=SC2086 # words are wanted
		modprobe flashsim $params || exit 1
		loaded=$params
		echo none >/sys/block/flashsim0/queue/scheduler || exit 1
	fi
	echo 1 >$STATS/reset
	# shellcheck disable=SC2086
	fio --name=x --filename=/dev/flashsim0 --direct=1 --norandommap \
		--ioengine=libaio --output-format=json $fio \
		>"/out/$name.fio" </dev/null || exit 1
	cat $STATS/stats >"/out/$name.stats"
	cat $STATS/log >"/out/$name.log"
done <"${1:?the plan}"
rmmod flashsim
echo "physics: end"
