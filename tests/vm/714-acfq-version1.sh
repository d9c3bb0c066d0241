# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC1091
# for: acfq
# takes: 5 s
# limit: 120 s
#
# Proves: a control group of version 1 is a separate tenant with the default weight,
# whatever was set for the group of version 2 that has its number.
# Fails if: fairshare_group_key() does not ask flash_css_cgroup().

# shellcheck source=tests/vm/lib/share.sh
. lib/share.sh
# shellcheck source=tests/vm/lib/tenants.sh
. lib/tenants.sh
version1_has_no_weight
