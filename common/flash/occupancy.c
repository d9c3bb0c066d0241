// SPDX-License-Identifier: GPL-2.0
#include "occupancy.h"

/**
 * flash_occupancy_set - another layout or depth, at any time
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

/** flash_occupancy_load - requests outstanding on the fullest chip of @v */
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
