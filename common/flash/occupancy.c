// SPDX-License-Identifier: GPL-2.0
/*
 * occupancy.c - number of requests outstanding on each chip
 *
 * Problem: know which chips are idle, while the layout and the depth may change.
 *
 * A request is counted on each chip of its vector, from dispatch to completion. It stores
 * the vector, and is released with it. After a change of layout, older requests are
 * counted on chips where they are not until they complete, but no count is lost.
 *
 * Invariants: a chip of the current layout is in flash_occupancy.idle exactly if it has
 * fewer than flash_occupancy.depth requests. The caller's lock guards all state.
 *
 * Entry points: flash_occupancy_set(), flash_occupancy_take(), flash_occupancy_release().
 */
#include "occupancy.h"

/**
 * flash_occupancy_set - change the layout or the depth, at any time
 * @o: the chips
 * @geo: the layout
 * @depth: at least 1
 */
void flash_occupancy_set(struct flash_occupancy *o, const struct flash_geometry *geo,
			 u32 depth)
{
	u32 chip;

	o->depth = depth;
	flash_chipvec_clear(&o->idle, geo);
	for (chip = 0; chip < geo->nr_chips; chip++) {
		if (flash_occupancy_on(o, chip) < depth)
			flash_chipvec_set(&o->idle, chip);
	}
}

/** flash_occupancy_load - number of requests on the fullest chip of @v */
u32 flash_occupancy_load(const struct flash_occupancy *o, const struct flash_chipvec *v)
{
	u32 chip, load = 0;

	flash_for_each_chip(chip, v) {
		u32 on = flash_occupancy_on(o, chip);

		if (on > load)
			load = on;
	}
	return load;
}
