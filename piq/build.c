// SPDX-License-Identifier: GPL-2.0
/*
 * build.c - piq.ko as one compilation unit
 *
 * See common/elevator/build.c.
 */
#include "../common/flash/layout.c"
#include "../common/flash/chipvec.c"
#include "../common/flash/occupancy.c"
#include "../common/flash/batch.c"
#include "../common/estimate/depth_search.c"
#include "../common/estimate/pace.c"
#include "../common/estimate/service_time.c"

#include "auto.c"
#include "batch.c"
#include "learn.c"
#include "piq.c"

#include "../common/elevator/build.c"
