/* SPDX-License-Identifier: GPL-2.0 */
/* occupancy.h - number of requests outstanding on each chip */
#ifndef FLASH_OCCUPANCY_H
#define FLASH_OCCUPANCY_H

#include "chipvec.h"

/**
 * struct flash_occupancy - the chips of a device
 * @out:	requests outstanding, by direction and chip
 * @depth:	number of requests from which a chip counts as full
 * @busy:	number of chips with at least one request, whatever @depth is
 * @idle:	chips with fewer than @depth requests
 */
struct flash_occupancy {
	u32 out[FLASH_NR_DIRS][FLASH_MAX_CHIPS];
	u32 depth;
	u32 busy;
	struct flash_chipvec idle;
};

/** flash_occupancy_on - requests outstanding on @chip */
static inline u32 flash_occupancy_on(const struct flash_occupancy *o, u32 chip)
{
	return o->out[FLASH_READ][chip] + o->out[FLASH_WRITE][chip];
}

void flash_occupancy_set(struct flash_occupancy *o, const struct flash_geometry *geo,
			 u32 depth);

/** flash_occupancy_take_one - flash_occupancy_take() for one chip */
static inline void flash_occupancy_take_one(struct flash_occupancy *o, u32 chip,
					    enum flash_dir dir)
{
	u32 on;

	o->out[dir][chip]++;
	on = flash_occupancy_on(o, chip);
	o->busy += on == 1;
	if (on >= o->depth)
		flash_chipvec_unset(&o->idle, chip);
}

/**
 * flash_occupancy_take - count a request on its chips, when it is dispatched
 * @o: the chips
 * @v: chips of the request
 * @dir: its direction
 */
static inline void flash_occupancy_take(struct flash_occupancy *o,
					const struct flash_chipvec *v,
					enum flash_dir dir)
{
	u32 chip;

	flash_for_each_chip(chip, v)
		flash_occupancy_take_one(o, chip, dir);
}

/** flash_occupancy_release_one - flash_occupancy_release() for one chip */
static inline void flash_occupancy_release_one(struct flash_occupancy *o,
					       u32 chip, enum flash_dir dir)
{
	u32 on;

	o->out[dir][chip]--;
	on = flash_occupancy_on(o, chip);
	o->busy -= !on;
	/* The current layout may have fewer chips. */
	if (on < o->depth && chip < o->idle.nr_chips)
		flash_chipvec_set(&o->idle, chip);
}

/**
 * flash_occupancy_release - a request has completed, or the driver requeued it
 * @o: the chips
 * @v: the vector passed to flash_occupancy_take()
 * @dir: its direction
 */
static inline void flash_occupancy_release(struct flash_occupancy *o,
					   const struct flash_chipvec *v,
					   enum flash_dir dir)
{
	u32 chip;

	flash_for_each_chip(chip, v)
		flash_occupancy_release_one(o, chip, dir);
}

/** flash_occupancy_free - have all chips of @v fewer than @o->depth requests? */
static inline bool flash_occupancy_free(const struct flash_occupancy *o,
					const struct flash_chipvec *v)
{
	return flash_chipvec_inside(v, &o->idle);
}

u32 flash_occupancy_load(const struct flash_occupancy *o, const struct flash_chipvec *v);

#endif /* FLASH_OCCUPANCY_H */
