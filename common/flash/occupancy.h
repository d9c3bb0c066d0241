/* SPDX-License-Identifier: GPL-2.0 */
/*
 * occupancy.h - how many requests are outstanding on each chip
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * What is taken by a vector is released by the same one, which the request
 * keeps: a layout that changes in between moves the count of old requests to
 * chips where they are not, until they end, but never loses one.
 */
#ifndef FLASH_OCCUPANCY_H
#define FLASH_OCCUPANCY_H

#include "chipvec.h"

/**
 * struct flash_occupancy - the chips of a device
 * @out:	requests outstanding, by direction and chip
 * @depth:	requests that a chip takes before it counts as busy
 * @busy:	chips with at least one request, whatever @depth
 * @idle:	chips with less than @depth
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

/** flash_occupancy_take_one - flash_occupancy_take() of one of its chips */
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
 * flash_occupancy_take - a request is handed to the driver
 * @o: the chips
 * @v: its vector
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

/** flash_occupancy_release_one - flash_occupancy_release() of one of its chips */
static inline void flash_occupancy_release_one(struct flash_occupancy *o,
					       u32 chip, enum flash_dir dir)
{
	u32 on;

	o->out[dir][chip]--;
	on = flash_occupancy_on(o, chip);
	o->busy -= !on;
	/* The chip may be one that the layout has no more. */
	if (on < o->depth && chip < o->idle.nr_chips)
		flash_chipvec_set(&o->idle, chip);
}

/**
 * flash_occupancy_release - a request has ended or was handed back
 * @o: the chips
 * @v: the vector that it was taken by
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

/** flash_occupancy_free - are all chips of @v below the depth? */
static inline bool flash_occupancy_free(const struct flash_occupancy *o,
					const struct flash_chipvec *v)
{
	return flash_chipvec_inside(v, &o->idle);
}

u32 flash_occupancy_load(const struct flash_occupancy *o, const struct flash_chipvec *v);

#endif /* FLASH_OCCUPANCY_H */
