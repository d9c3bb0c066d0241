#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs a test that was built with ThreadSanitizer: $0.bin. $0.probe is an empty program that
# was built in the same way. Neither exists if the compiler cannot build such a program.
# ThreadSanitizer needs certain addresses; where the kernel randomizes more (vm.mmap_rnd_bits is
# 32) it runs only under setarch -R. Where it does not run at all the test is skipped.

skip() {
	echo "1..0 # SKIP $1"
	exit 0
}

[ -x "$0.bin" ] || skip "the compiler has no ThreadSanitizer"
"$0.probe" 2>/dev/null && exec "$0.bin"
setarch -R "$0.probe" 2>/dev/null && exec setarch -R "$0.bin"
skip "ThreadSanitizer does not run on this machine"
