// SPDX-License-Identifier: GPL-2.0
/*
 * build.c - k2.ko as one compilation unit
 *
 * So the compiler sees the table of hooks and the code that calls them: hooks are called
 * directly, and small functions are inlined whatever file they are in.
 */
#define FLASH_COMPAT_TIMER
#include "../common/flash/op.c"
#include "../common/flash/layout.c"
#include "../common/flash/chipvec.c"
#include "../common/flash/occupancy.c"
#include "../common/estimate/service_time.c"
#include "../common/estimate/histogram.c"

#include "admit.c"
#include "autolimit.c"
#include "cgroups.c"
#include "chips.c"
#include "k2.c"
#include "show.c"

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
