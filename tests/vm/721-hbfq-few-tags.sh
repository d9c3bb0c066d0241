# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: hbfq
# takes: 50 s
# limit: 400 s
#
# Proves: on a device with two scheduler tags, `stats` and the kernel log say that these
# are too few for weights, the log once for each number of tags. With the number that
# the log suggests weights 300 and 100 give 2.2 to 4 times as much; with four tags 2.2 to
# 5 times. The limit in flight is what the driver takes.
# Fails if: flash_tags_few() is false, policy_tags_changed() does nothing, a switch of the
# scheduler repeats the line, or flash_tags_spare() keeps one of four.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
shares_of_few_tags
