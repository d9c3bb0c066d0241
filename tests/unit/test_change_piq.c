// SPDX-License-Identifier: GPL-2.0
/* PIQ's settings change while many requests wait: see policytest.h */
#include "policydrive.h"
#include "common/flash/op.c"
#include "common/flash/layout.c"
#include "common/flash/chipvec.c"
#include "common/flash/occupancy.c"
#include "common/flash/batch.c"
#include "common/estimate/depth_search.c"
#include "common/estimate/pace.c"
#include "common/estimate/service_time.c"
#include "piq/auto.c"
#include "piq/batch.c"
#include "piq/learn.c"
#include "piq/piq.c"
#include "policytest.h"

/* A new layout is trusted only after many requests. */
static void after_change(struct flash_queue *fq)
{
	flash_lock(fq);
	piq_trust(piq_sched_of(fq));
	flash_unlock(fq);
}

#define CHIPS	{ TEXT_layout, 0, "page=4096 chips=16" }
#define PIQ	{ TEXT_mode, 0, "piq" }

static const struct change_case cases[] = {
	{ "a first layout", { { 0 } }, CHIPS },
	{ "layout", { CHIPS }, { TEXT_layout, 0, "page=8192 chips=7" } },
	{ "no layout", { CHIPS }, { TEXT_layout, 0, "none" } },
	{ "layout of mode piq", { CHIPS, PIQ }, { TEXT_layout, 0, "page=8192 chips=7" } },
	{ "lba_offset_sectors", { CHIPS }, { TUN_lba_offset_sectors, 24, NULL } },
	{ "mode auto", { CHIPS, PIQ }, { TEXT_mode, 0, "auto" } },
	{ "mode piq", { CHIPS }, PIQ },
	{ "mode rws", { CHIPS, PIQ }, { TEXT_mode, 0, "rws" } },
	{ "mode noop", { CHIPS }, { TEXT_mode, 0, "noop" } },
	{ "queue_length", { CHIPS, PIQ }, { TUN_queue_length, 512, NULL } },
	{ "a smaller queue_length",
	  { CHIPS, PIQ, { TUN_queue_length, 512, NULL } }, { TUN_queue_length, 3, NULL } },
	{ "batch_overlap", { CHIPS, PIQ }, { TUN_batch_overlap, 1, NULL } },
	{ "max_pass", { CHIPS }, { TUN_max_pass, 4, NULL } },
	{ "scan_depth", { CHIPS }, { TUN_scan_depth, 4, NULL } },
	{ "chip_depth", { CHIPS }, { TUN_chip_depth, 4, NULL } },
};

int main(void)
{
	return test_changes(cases, ARRAY_SIZE(cases));
}
