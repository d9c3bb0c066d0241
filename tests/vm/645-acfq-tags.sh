# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091,SC2034,SC2153
# for: acfq
# takes: 60 s
# limit: 400 s
#
# Proves: beside a tenant with 64 tasks, four times as many as there are scheduler
# tags, one with 6 tasks gets its part of the device, at weights 1 to 1 and 3 to 1,
# give or take 15 percent; and before it starts, the first one has nearly all tags.
# Fails if: policy_shallow() sets no limit (it gets about 9 percent),
# flash_tags_limit() limits every tenant that holds any, or tags of tenants are not
# given back.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
groups_need
shares_of_crowds
