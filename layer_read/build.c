// SPDX-License-Identifier: GPL-2.0
/*
 * build.c - layer_read.ko as one compilation unit
 *
 * See common/elevator/build.c.
 */
#include "../common/flash/layout.c"
#include "../common/flash/chipvec.c"
#include "../common/flash/occupancy.c"
#include "../common/estimate/depth_search.c"
#include "../common/estimate/pace.c"

#include "layer_read.c"
#include "select.c"
#include "sublayer.c"

#include "../common/elevator/build.c"
