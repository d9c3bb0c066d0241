// SPDX-License-Identifier: GPL-2.0
/*
 * build.c - hbfq.ko as one compilation unit
 *
 * So the compiler sees the table of hooks and the code that calls them: hooks are called
 * directly, and small functions are inlined whatever file they are in.
 */
#define FLASH_COMPAT_TIMER
#include "../common/flash/op.c"
#include "../common/flash/layout.c"
#include "../common/flash/chipvec.c"
#include "../common/flash/occupancy.c"
#include "../common/estimate/depth_search.c"
#include "../common/estimate/pace.c"
#include "../common/estimate/service_time.c"
#include "../common/share/fairshare.c"
#include "../common/share/fairqueue.c"
#include "../common/share/tenant.c"
#include "../common/share/budget.c"
#include "../common/share/think_time.c"
#include "../common/share/tag_quota.c"

#include "hbfq.c"

#include "../common/elevator/elevator.c"
#include "../common/elevator/inflight.c"
#include "../common/elevator/queue.c"
#include "../common/elevator/rqtable.c"
#include "../common/elevator/pending.c"
#include "../common/elevator/merge.c"
#include "../common/elevator/tunables.c"
#include "../common/elevator/trace.c"
#include "../common/elevator/cgroup.c"
#include "../common/elevator/groups.c"
