/* SPDX-License-Identifier: GPL-2.0 */
/*
 * chips.h - which best-effort request K2 serves next, if the layout is known
 *
 * chips.c explains it. All of it is guarded by flash_queue.lock.
 */
#ifndef K2_CHIPS_H
#define K2_CHIPS_H

#include <linux/list.h>

#include "../common/flash/occupancy.h"

/**
 * struct k2_chips_rq - a request's part of this
 * @node: link in one of the lists of struct k2_chips, while the request waits
 * @place: its position in the order of insertion, counted from the time when the layout
 *	was set
 * @chip: chip of the list in which it waits; FLASH_NO_CHIP: the list of several chips
 * @vec: chips that it needs
 * @vec_valid: k2_chips_dispatch() has just taken the request out of a list, where @vec
 *	follows merges and layouts
 * @dir: its direction, from dispatch to completion
 */
struct k2_chips_rq {
	struct list_head node;
	u64 place;
	u32 chip;
	struct flash_chipvec vec;
	bool vec_valid;
	enum flash_dir dir;
};

/**
 * struct k2_chips - the lists of one device, and how busy its chips are
 * @geo: the layout
 * @offset: start of the device on the drive, in sectors
 * @max_pass: most later requests that may pass one; 0: first in, first out
 * @occ: requests of all classes in the device, by chip
 * @listed: chips with a list that is not empty
 * @cursor: chip of the latest dispatched request
 * @waiting: requests in the lists
 * @departures: requests that left the lists since the layout was set
 * @idle_picks: of the dispatched requests, those that found all their chips idle
 * @passes: dispatched requests that passed an older one
 * @aged_picks: dispatched requests that had been passed @max_pass times
 * @wide: requests that need several chips, or none, in order of insertion
 * @chip: requests that need one chip, by chip, in order of insertion
 */
struct k2_chips {
	struct flash_geometry geo;
	u64 offset;
	u32 max_pass;
	struct flash_occupancy occ;
	struct flash_chipvec listed;
	u32 cursor;
	u32 waiting;
	u64 departures;
	u64 idle_picks;
	u64 passes;
	u64 aged_picks;
	struct list_head wide;
	struct list_head chip[FLASH_MAX_CHIPS];
};

void k2_chips_init(struct k2_chips *c);
void k2_chips_set_layout(struct k2_chips *c, const struct flash_geometry *geo, u64 offset);
void k2_chips_insert(struct k2_chips *c, struct k2_chips_rq *cr, u64 sector, u64 sectors);
void k2_chips_grow(struct k2_chips *c, struct k2_chips_rq *cr, u64 sector, u64 sectors);
void k2_chips_absorb(struct k2_chips *c, struct k2_chips_rq *cr, struct k2_chips_rq *gone);
struct k2_chips_rq *k2_chips_pick(const struct k2_chips *c, struct k2_chips_rq *oldest);
void k2_chips_dispatch(struct k2_chips *c, struct k2_chips_rq *cr,
		       const struct k2_chips_rq *oldest);

/**
 * k2_chips_charge - a request of any class has been dispatched to the device
 * @c: the chips
 * @cr: the request, which is in no list
 * @dir: its direction
 * @sector: its first sector, or FLASH_NO_SECTOR
 * @sectors: its length; 0: it moves no data
 */
static inline void k2_chips_charge(struct k2_chips *c, struct k2_chips_rq *cr,
				   enum flash_dir dir, u64 sector, u64 sectors)
{
	if (!cr->vec_valid)
		flash_chipvec_fill(&cr->vec, &c->geo, sector, sectors, c->offset);
	cr->vec_valid = false;
	cr->dir = dir;
	flash_occupancy_take(&c->occ, &cr->vec, dir);
}

/** k2_chips_release - a request of any class has left the device */
static inline void k2_chips_release(struct k2_chips *c, struct k2_chips_rq *cr)
{
	flash_occupancy_release(&c->occ, &cr->vec, cr->dir);
}

/** k2_chips_has_layout - are requests chosen by their chips? */
static inline bool k2_chips_has_layout(const struct k2_chips *c)
{
	return c->geo.nr_chips;
}

/** k2_chips_nr_passes - how many later requests have passed @oldest, the oldest one */
static inline u64 k2_chips_nr_passes(const struct k2_chips *c, const struct k2_chips_rq *oldest)
{
	return c->departures > oldest->place ? c->departures - oldest->place : 0;
}

/**
 * k2_chips_is_aged - has @oldest been passed @max_pass times?
 * @c: the chips
 * @oldest: the oldest request that waits
 *
 * Return: false with @max_pass 0, where no request is ever passed.
 */
static inline bool k2_chips_is_aged(const struct k2_chips *c, const struct k2_chips_rq *oldest)
{
	return c->max_pass && k2_chips_nr_passes(c, oldest) >= c->max_pass;
}

#endif /* K2_CHIPS_H */
