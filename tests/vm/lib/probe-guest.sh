#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The guest's side of scripts/probe-test: makes the devices of a plan, lines
# `name|flashsim parameters`, and leaves the output of scripts/probe-layout for
# each. The machine has no Python: PYTHON is a directory with one.

set -u
export LC_ALL=C
plan=${1:?the plan} python=${2:?PYTHON} seconds=${3:?seconds}
cp -R "$python" /tmp/python || exit 1

while IFS='|' read -r name params; do
	echo "probe: $name"
	# shellcheck disable=SC2086 # words are wanted
	modprobe flashsim $params || exit 1
	echo none >/sys/block/flashsim0/queue/scheduler || exit 1
	PYTHONHOME=/tmp/python LD_LIBRARY_PATH=/tmp/python/lib \
		/tmp/python/bin/python3 -B -S /tmp/python/lib/probe.pyc \
		--quiet --seconds "$seconds" /dev/flashsim0 \
		>"/out/$name.probe" 2>&1 </dev/null
	echo "status $?" >>"/out/$name.probe"
	rmmod flashsim || exit 1
done <"$plan"
echo "probe: end"
