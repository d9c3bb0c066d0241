# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091
# for: hbfq
# takes: 40 s
# limit: 300 s
#
# Proves: a control group of weight 1 that creates files beside one of weight 1000 reads
# the metadata that it needs under a directory's lock at once, so another task that
# creates a file in the same directory waits for at most 300 requests of others; also
# when the light group's readers have all scheduler tags that it may have.
# Fails if: fair_choose() does not ask fair_urgent_pick(), or
# fairshare_class() or policy_urgency() does not look at the flags.

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
# shellcheck source=tests/vm/lib/tenants.sh
. lib/tenants.sh
light_metadata
