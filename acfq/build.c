// SPDX-License-Identifier: GPL-2.0
/*
 * build.c - acfq.ko as one compilation unit
 *
 * See common/elevator/build.c.
 */
#include "../common/elevator/cgroup.c"
#include "../common/elevator/groups.c"
#include "../common/flash/layout.c"
#include "../common/flash/chipvec.c"
#include "../common/flash/occupancy.c"
#include "../common/estimate/depth_search.c"
#include "../common/estimate/pace.c"
#include "../common/estimate/service_time.c"
#include "../common/share/fairshare.c"
#include "../common/share/tenant.c"
#include "../common/share/budget.c"
#include "../common/share/think_time.c"
#include "../common/share/tag_quota.c"

#include "acfq.c"

#include "../common/elevator/build.c"
