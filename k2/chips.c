// SPDX-License-Identifier: GPL-2.0
/*
 * chips.c - which best-effort request K2 serves next, if the layout is known
 *
 * In the paper best effort is one FIFO, whatever chips its requests need. Under an
 * in-flight limit that wastes slots: two requests for one chip hold two slots, and the
 * chip serves them one after the other. With a layout, K2 dispatches a request whose
 * chips are idle. A limit of as many requests as there are chips then keeps all chips
 * busy, and a real-time request finds at most one other request on its chip most of the
 * time.
 *
 * Requests of one chip wait in that chip's list, requests of several chips in one list of
 * which the first K2_WIDE_SCAN are examined. Two bitmaps, of chips with a list and of
 * idle chips, make a choice in constant time, round-robin over the chips. If no waiting
 * request finds its chips idle, the one with the fewest requests before it is
 * dispatched.
 *
 * Invariants:
 *   - No request is held back while a slot is free, so a wrong layout costs order only.
 *   - At most max_pass later requests pass a request. It is enough to count the passes of
 *     the oldest request: a request that passes another one also passes all older ones,
 *     so the oldest was passed at least as often as any other. Requests that were passed
 *     max_pass times are therefore dispatched in order of insertion.
 *
 * Entry points, in the order of a request's life: k2_chips_insert(), k2_chips_grow(),
 * k2_chips_absorb(), k2_chips_pick(), k2_chips_dispatch(), k2_chips_charge(),
 * k2_chips_release(). Real-time requests and metadata are charged to their chips, and
 * not chosen here.
 */
#include "chips.h"

/* Requests of several chips that a choice examines */
#define K2_WIDE_SCAN		8

static struct k2_chips_rq *k2_chips_first(const struct list_head *list)
{
	return list_empty(list) ? NULL : list_first_entry(list, struct k2_chips_rq, node);
}

/**
 * k2_chips_set_layout - set another layout
 * @c: the chips
 * @geo: the layout, or none
 * @offset: start of the device on the drive, in sectors
 *
 * Empties all lists. The caller inserts waiting requests again, in order of insertion.
 * Requests in the device stay charged to the chips of the old layout.
 */
void k2_chips_set_layout(struct k2_chips *c, const struct flash_geometry *geo, u64 offset)
{
	u32 chip;

	c->geo = *geo;
	c->offset = offset;
	c->cursor = 0;
	c->waiting = 0;
	c->departures = 0;
	flash_occupancy_set(&c->occ, geo, 1);
	flash_chipvec_clear(&c->listed, geo);
	INIT_LIST_HEAD(&c->wide);
	for (chip = 0; chip < geo->nr_chips; chip++)
		INIT_LIST_HEAD(&c->chip[chip]);
}

/** k2_chips_init - no layout, no waiting request, none in the device */
void k2_chips_init(struct k2_chips *c)
{
	const struct flash_geometry none = { .nr_chips = 0 };

	memset(c, 0, sizeof(*c));
	k2_chips_set_layout(c, &none, 0);
}

static void k2_chips_list_add(struct k2_chips *c, struct k2_chips_rq *cr)
{
	cr->chip = flash_chipvec_single(&cr->vec);
	if (cr->chip == FLASH_NO_CHIP) {
		list_add_tail(&cr->node, &c->wide);
		return;
	}
	list_add_tail(&cr->node, &c->chip[cr->chip]);
	flash_chipvec_set(&c->listed, cr->chip);
}

static void k2_chips_list_del(struct k2_chips *c, struct k2_chips_rq *cr)
{
	list_del_init(&cr->node);
	if (cr->chip != FLASH_NO_CHIP && list_empty(&c->chip[cr->chip]))
		flash_chipvec_unset(&c->listed, cr->chip);
}

/**
 * k2_chips_insert - add a best-effort request to the lists
 * @c: the chips, with a layout
 * @cr: the request
 * @sector: its first sector, or FLASH_NO_SECTOR
 * @sectors: its length; 0: it moves no data
 */
void k2_chips_insert(struct k2_chips *c, struct k2_chips_rq *cr, u64 sector, u64 sectors)
{
	flash_chipvec_fill(&cr->vec, &c->geo, sector, sectors, c->offset);
	cr->place = c->departures + c->waiting++;
	k2_chips_list_add(c, cr);
}

/**
 * k2_chips_grow - a waiting request has merged with a bio
 * @c: the chips
 * @cr: the request
 * @sector: its first sector now
 * @sectors: its length now
 *
 * It needs all chips that it needed before, so it moves to another list at most once.
 */
void k2_chips_grow(struct k2_chips *c, struct k2_chips_rq *cr, u64 sector, u64 sectors)
{
	flash_chipvec_fill(&cr->vec, &c->geo, sector, sectors, c->offset);
	if (cr->chip == flash_chipvec_single(&cr->vec))
		return;
	k2_chips_list_del(c, cr);
	k2_chips_list_add(c, cr);
}

/**
 * k2_chips_absorb - a waiting request has merged with another one
 * @c: the chips
 * @cr: the request that stays, with the earlier of the two places from now on
 * @gone: the absorbed request
 *
 * Requests between the two places count one pass that did not happen; no request counts
 * one too few.
 */
void k2_chips_absorb(struct k2_chips *c, struct k2_chips_rq *cr, struct k2_chips_rq *gone)
{
	cr->place = min(cr->place, gone->place);
	k2_chips_list_del(c, gone);
	c->waiting--;
	c->departures++;
}

/* The first of several requests of several chips that are all idle, or NULL */
static struct k2_chips_rq *k2_chips_find_wide(const struct k2_chips *c)
{
	struct k2_chips_rq *cr;
	u32 n = 0;

	list_for_each_entry(cr, &c->wide, node) {
		if (n++ == K2_WIDE_SCAN)
			break;
		if (flash_occupancy_free(&c->occ, &cr->vec))
			return cr;
	}
	return NULL;
}

/* The next idle chip with a list, or FLASH_NO_CHIP */
static u32 k2_chips_find_idle(const struct k2_chips *c)
{
	struct flash_chipvec idle = c->occ.idle;
	u32 i, words = flash_chipvec_words(&idle), chip;

	for (i = 0; i < words; i++)
		idle.word[i] &= c->listed.word[i];
	chip = flash_chipvec_from(&idle, c->cursor + 1);
	return chip != FLASH_NO_CHIP ? chip : flash_chipvec_first(&idle);
}

/* No request finds its chips idle: the one with the fewest requests before it */
static struct k2_chips_rq *k2_chips_find_least(const struct k2_chips *c)
{
	struct k2_chips_rq *wide = k2_chips_first(&c->wide), *cr;
	u32 chip, load, best = FLASH_NO_CHIP, least = ~0U;
	bool after = false;

	/* Round-robin: of equally loaded chips, the first one after the cursor */
	flash_for_each_chip(chip, &c->listed) {
		load = flash_occupancy_on(&c->occ, chip);
		if (load > least || (load == least && (after || chip <= c->cursor)))
			continue;
		least = load;
		after = chip > c->cursor;
		best = chip;
	}
	if (best == FLASH_NO_CHIP)
		return wide;
	cr = k2_chips_first(&c->chip[best]);
	if (!wide)
		return cr;
	load = flash_occupancy_load(&c->occ, &wide->vec);
	return load < least || (load == least && wide->place < cr->place) ? wide : cr;
}

/**
 * k2_chips_pick - the best-effort request to serve next
 * @c: the chips, with a layout
 * @oldest: the oldest request in the lists
 *
 * Changes nothing: the caller may dispatch another request.
 */
struct k2_chips_rq *k2_chips_pick(const struct k2_chips *c, struct k2_chips_rq *oldest)
{
	struct k2_chips_rq *cr;
	u32 chip;

	if (k2_chips_nr_passes(c, oldest) >= c->max_pass)
		return oldest;
	cr = k2_chips_find_wide(c);
	if (cr)
		return cr;
	chip = k2_chips_find_idle(c);
	return chip != FLASH_NO_CHIP ? k2_chips_first(&c->chip[chip]) : k2_chips_find_least(c);
}

/**
 * k2_chips_dispatch - take a request out of the lists
 * @c: the chips
 * @cr: the request
 * @oldest: as for k2_chips_pick()
 */
void k2_chips_dispatch(struct k2_chips *c, struct k2_chips_rq *cr,
		       const struct k2_chips_rq *oldest)
{
	c->idle_picks += flash_occupancy_free(&c->occ, &cr->vec);
	c->passes += cr != oldest;
	c->aged_picks += cr == oldest && k2_chips_is_aged(c, cr);
	if (cr->chip != FLASH_NO_CHIP)
		c->cursor = cr->chip;
	cr->vec_valid = true;
	k2_chips_list_del(c, cr);
	c->waiting--;
	c->departures++;
}
