/* SPDX-License-Identifier: GPL-2.0 */
/* changeshare.h - what the tests of acfq and hbfq need of common/share/ */
#ifndef CHANGESHARE_H
#define CHANGESHARE_H

#include "policydrive.h"
#include "common/elevator/groups.c"
#include "common/flash/op.c"
#include "common/flash/layout.c"
#include "common/flash/chipvec.c"
#include "common/flash/occupancy.c"
#include "common/estimate/depth_search.c"
#include "common/estimate/pace.c"
#include "common/estimate/service_time.c"
#include "common/share/fairshare.c"
#include "common/share/tenant.c"
#include "common/share/budget.c"
#include "common/share/think_time.c"
#include "common/share/tag_quota.c"

static void after_change(struct flash_queue *fq)
{
	(void)fq;
}

#define CHIPS	{ FAIRSHARE_TEXT_layout, 0, "page=4096 chips=16" }
#define PRIO	{ FAIRSHARE_TEXT_tenant_by, 0, "ioprio" }
#define PAPER	{ FAIRSHARE_TEXT_mode, 0, "paper" }

#define SHARE_CASES							\
	{ "a first layout", { PRIO }, CHIPS },				\
	{ "layout", { PRIO, CHIPS }, { FAIRSHARE_TEXT_layout, 0, "page=8192 chips=7" } }, \
	{ "no layout", { PRIO, CHIPS }, { FAIRSHARE_TEXT_layout, 0, "none" } }, \
	{ "layout, one tenant", { CHIPS }, { FAIRSHARE_TEXT_layout, 0, "page=8192 chips=7" } }, \
	{ "lba_offset_sectors", { PRIO, CHIPS },			\
	  { FAIRSHARE_TUN_lba_offset_sectors, 24, NULL } },		\
	{ "mode paper", { PRIO, CHIPS }, PAPER },			\
	{ "mode auto", { PRIO, CHIPS, PAPER }, { FAIRSHARE_TEXT_mode, 0, "auto" } }, \
	{ "charge", { PRIO, CHIPS }, { FAIRSHARE_TEXT_charge, 0, "requests" } }, \
	{ "window_depth", { PRIO, CHIPS }, { FAIRSHARE_TUN_window_depth, 2, NULL } }, \
	{ "shared_weight", { CHIPS }, { FAIRSHARE_TUN_shared_weight, 7, NULL } }

#endif /* CHANGESHARE_H */
