// SPDX-License-Identifier: GPL-2.0
/*
 * build.c - k2.ko as one compilation unit
 *
 * See common/elevator/build.c.
 */
#include "../common/elevator/cgroup.c"
#include "../common/elevator/groups.c"
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

#include "../common/elevator/build.c"
