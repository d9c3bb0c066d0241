// SPDX-License-Identifier: GPL-2.0
/* K2's settings change while many requests wait: see policytest.h */
#include "policydrive.h"
#include "k2/k2.h"

SHOWN(k2_bound_show)
SHOWN(k2_tail_show)
SHOWN(k2_share_show)
SHOWN(k2_infeasible_show)
SHOWN(k2_calibrate_show)
int k2_stats(struct flash_queue *fq, char *page, int len) { return len; }
void k2_arrays(struct flash_queue *fq, struct seq_file *m) { }

#include "common/elevator/groups.c"
#include "common/flash/op.c"
#include "common/flash/layout.c"
#include "common/flash/chipvec.c"
#include "common/flash/occupancy.c"
#include "common/estimate/service_time.c"
#include "common/estimate/histogram.c"
#include "k2/admit.c"
#include "k2/autolimit.c"
#include "k2/cgroups.c"
#include "k2/chips.c"
#include "k2/k2.c"
#include "policytest.h"

static void after_change(struct flash_queue *fq)
{
	(void)fq;
}

#define LIMIT	{ TUN_max_inflight, 64, NULL }
#define CHIPS	{ TEXT_layout, 0, "page=4096 chips=16" }

static const struct change_case cases[] = {
	{ "a first layout", { LIMIT, { TUN_observe, 1, NULL } }, CHIPS },
	{ "layout", { LIMIT, CHIPS }, { TEXT_layout, 0, "page=8192 chips=7" } },
	{ "no layout", { LIMIT, CHIPS }, { TEXT_layout, 0, "none" } },
	{ "lba_offset_sectors", { LIMIT, CHIPS }, { TUN_lba_offset_sectors, 24, NULL } },
	{ "max_pass", { LIMIT, CHIPS }, { TUN_max_pass, 16, NULL } },
	{ "max_inflight", { LIMIT, CHIPS }, { TUN_max_inflight, 48, NULL } },
	{ "policy", { LIMIT, CHIPS }, { TEXT_policy, 0, "bandwidth" } },
	{ "bound_unit", { LIMIT, CHIPS }, { TEXT_bound_unit, 0, "cost" } },
	{ "observe", { LIMIT }, { TUN_observe, 1, NULL } },
	{ "reserve", { LIMIT }, { TUN_reserve, 4, NULL } },
	{ "rt_alone", { LIMIT }, { TUN_rt_alone, 1, NULL } },
	{ "nrt_wait_ms", { LIMIT }, { TUN_nrt_wait_ms, 4, NULL } },
};

int main(void)
{
	return test_changes(cases, ARRAY_SIZE(cases));
}
