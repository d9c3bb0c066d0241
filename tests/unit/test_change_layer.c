// SPDX-License-Identifier: GPL-2.0
/* Layer_Read's settings change while many requests wait: see policytest.h */
#include "policydrive.h"
#include "common/flash/op.c"
#include "common/flash/layout.c"
#include "common/flash/chipvec.c"
#include "common/flash/occupancy.c"
#include "common/estimate/depth_search.c"
#include "common/estimate/pace.c"
#include "layer_read/layer_read.c"
#include "layer_read/select.c"
#include "layer_read/sublayer.c"
#include "policytest.h"

static void after_change(struct flash_queue *fq)
{
	(void)fq;
}

#define PAPER	{ TEXT_mode, 0, "paper" }
#define CHIPS	{ TEXT_layout, 0, "page=4096 chips=16" }

static const struct change_case cases[] = {
	{ "chips", { PAPER }, { TUN_chips, 3, NULL } },
	{ "per_layer", { PAPER }, { TUN_per_layer, 3, NULL } },
	{ "mode auto", { PAPER, CHIPS }, { TEXT_mode, 0, "auto" } },
	{ "mode paper", { CHIPS }, PAPER },
	{ "layout", { CHIPS }, { TEXT_layout, 0, "page=8192 chips=7" } },
	{ "no layout", { CHIPS }, { TEXT_layout, 0, "none" } },
	{ "lba_offset_sectors", { CHIPS }, { TUN_lba_offset_sectors, 24, NULL } },
	{ "sort", { PAPER }, { TEXT_sort, 0, "small" } },
	{ "sort_writes", { PAPER }, { TUN_sort_writes, 1, NULL } },
	{ "no sort_writes", { PAPER, { TUN_sort_writes, 1, NULL } }, { TUN_sort_writes, 0, NULL } },
};

/* A request finds that the disk has another size. */
static void check_capacity(void)
{
	static const struct change_case paper = { "capacity", { PAPER }, { 0 } };
	struct flash_queue *fq = begin_case(&paper, TAGS);
	u64 rebuilt;

	insert(MANY - 8 * TAGS);
	flash_lock(fq);
	flash_unlock(fq);
	rebuilt = to_layer(fq)->s->stats.rebuilt;
	drive_capacity /= 2;
	insert(TAGS);
	longest = hold = 0;
	dispatch();
	insert(7 * TAGS);
	printf("# capacity: %lu steps\n", longest);
	eq(longest <= PART_STEPS, 1, "another capacity: short holds");
	eq(to_layer(fq)->s->map.capacity, drive_capacity, "which counts from now on");
	eq(to_layer(fq)->s->stats.rebuilt, rebuilt + 1, "after one change");
	drain(64);
	end_case("capacity");
}

int main(void)
{
	check_capacity();
	return test_changes(cases, ARRAY_SIZE(cases));
}
