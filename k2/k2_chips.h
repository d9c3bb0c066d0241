/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2_chips.h - which best-effort request K2 serves next, if the layout is known
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. The
 * caller's lock guards all of it.
 *
 * The paper's queue of best effort is a FIFO, whatever chips its requests are on.
 * Under a bound that wastes slots: two requests of one chip take two of them and
 * the time of both, one after the other. Here one goes whose chips are idle, so a
 * bound of as many requests as there are chips keeps all chips busy, and a
 * real-time request finds one other at most on its chip for most of the time.
 *
 *   - Requests of one chip wait in a line for it, those of several in a line of
 *     their own, of which the first few are looked at. A bitmap says which chips
 *     have a line, another which are idle: the choice goes round the chips and
 *     takes the same time however many wait.
 *   - If nobody's chips are idle, it is the chip with the least in it. A slot that
 *     is free is used: nothing is held back, so a layout that is wrong makes another
 *     order and nothing worse.
 *   - Nobody is passed by more than max_pass that came later. The oldest counts how
 *     many have passed it, and when it is that many it goes. Who passes a request
 *     also passes all that are older; so if it was passed max_pass times, all of
 *     these were, too, and they and it go in order of arrival.
 *
 * Real-time requests and metadata are counted on their chips, and not chosen here.
 */
#ifndef K2_CHIPS_H
#define K2_CHIPS_H

#include "../common/flash/occupancy.h"
#include "../common/ring.h"

/* Of the requests of several chips, so many are looked at. */
#define K2_WIDE_SCAN		8

/**
 * struct k2_chips_item - a request
 * @line:	its place in a line, while it waits
 * @place:	where it would be in the order in which all go, were it a FIFO
 * @chip:	the chip in whose line it waits; FLASH_NO_CHIP: it needs several
 * @vec:	the chips that it needs
 * @dir:	its direction, when it is in the device
 */
struct k2_chips_item {
	struct flash_link line;
	u64 place;
	u32 chip;
	struct flash_chipvec vec;
	enum flash_dir dir;
};

/**
 * struct k2_chips - best effort and the chips
 * @geo:	the layout
 * @offset:	sectors of the drive before sector 0 of the device
 * @max_pass:	so many that came later go before a request; 0: none, it is a FIFO
 * @occ:	what is in the device, of all classes
 * @some:	chips with a line
 * @cursor:	the chip that was chosen last
 * @waiting:	requests in the lines
 * @gone:	requests that have left them since the layout was set
 * @idle:	of those that went, how many found all their chips idle
 * @passed:	how many went before an older one
 * @aged:	how many were passed max_pass times before
 * @wide:	the line of those that need several chips, or none
 * @chip:	the lines of the others
 */
struct k2_chips {
	struct flash_geometry geo;
	u64 offset;
	u32 max_pass;
	struct flash_occupancy occ;
	struct flash_chipvec some;
	u32 cursor;
	u32 waiting;
	u64 gone;
	u64 idle;
	u64 passed;
	u64 aged;
	struct flash_link wide;
	struct flash_link chip[FLASH_MAX_CHIPS];
};

#define k2_chips_of(link) flash_link_of(link, struct k2_chips_item, line)

/** k2_chips_known - is there a layout to choose by? */
static inline bool k2_chips_known(const struct k2_chips *c)
{
	return c->geo.nr_chips;
}

/**
 * k2_chips_set - another layout
 * @c: the chips
 * @geo: the layout, or none
 * @offset: sectors of the drive before sector 0 of the device
 *
 * All lines are empty afterwards. The caller adds what waits, in order of arrival.
 * What is in the device stays where it was counted.
 */
static inline void k2_chips_set(struct k2_chips *c,
				const struct flash_geometry *geo, u64 offset)
{
	u32 chip;

	c->geo = *geo;
	c->offset = offset;
	c->cursor = 0;
	c->waiting = 0;
	c->gone = 0;
	flash_occupancy_set(&c->occ, geo, 1);
	flash_chipvec_clear(&c->some, geo);
	flash_ring_init(&c->wide);
	for (chip = 0; chip < geo->nr_chips; chip++)
		flash_ring_init(&c->chip[chip]);
}

/** k2_chips_init - nothing is known, nothing waits, nothing is in the device */
static inline void k2_chips_init(struct k2_chips *c)
{
	const struct flash_geometry none = { .nr_chips = 0 };

	memset(c, 0, sizeof(*c));
	k2_chips_set(c, &none, 0);
}

/* Into the line of its chips. */
static inline void k2_chips_join(struct k2_chips *c, struct k2_chips_item *it)
{
	it->chip = flash_chipvec_single(&it->vec);
	if (it->chip == FLASH_NO_CHIP) {
		flash_ring_add(&it->line, &c->wide);
		return;
	}
	flash_ring_add(&it->line, &c->chip[it->chip]);
	flash_chipvec_set(&c->some, it->chip);
}

/* Out of it. */
static inline void k2_chips_leave(struct k2_chips *c, struct k2_chips_item *it)
{
	flash_unlink(&it->line);
	if (it->chip != FLASH_NO_CHIP && flash_ring_empty(&c->chip[it->chip]))
		flash_chipvec_unset(&c->some, it->chip);
}

/**
 * k2_chips_add - a best-effort request waits
 * @c: the chips, of a layout that is known
 * @it: the request
 * @sector: its first sector
 * @sectors: its length; 0 if it moves no data
 */
static inline void k2_chips_add(struct k2_chips *c, struct k2_chips_item *it,
				u64 sector, u64 sectors)
{
	flash_chipvec_fill(&it->vec, &c->geo, sector, sectors, c->offset);
	it->place = c->gone + c->waiting++;
	k2_chips_join(c, it);
}

/**
 * k2_chips_grow - a request that waits has grown
 * @c: the chips
 * @it: the request
 * @sector: its first sector now
 * @sectors: its length now
 *
 * It needs no chip less than before, so it moves to another line once at most.
 */
static inline void k2_chips_grow(struct k2_chips *c, struct k2_chips_item *it,
				 u64 sector, u64 sectors)
{
	flash_chipvec_fill(&it->vec, &c->geo, sector, sectors, c->offset);
	if (it->chip == flash_chipvec_single(&it->vec))
		return;
	k2_chips_leave(c, it);
	k2_chips_join(c, it);
}

/**
 * k2_chips_absorb - a request that waits has swallowed another one, and grown
 * @c: the chips
 * @it: the one that stays
 * @gone: the other one
 *
 * It has the earlier of the two places. Those between the two count one pass that
 * was none; nobody counts one too few.
 */
static inline void k2_chips_absorb(struct k2_chips *c,
				   struct k2_chips_item *it,
				   struct k2_chips_item *gone)
{
	if (gone->place < it->place)
		it->place = gone->place;
	k2_chips_leave(c, gone);
	c->waiting--;
	c->gone++;
}

/** k2_chips_passes - how many have passed @oldest, of which none is older */
static inline u64 k2_chips_passes(const struct k2_chips *c,
				  const struct k2_chips_item *oldest)
{
	return c->gone > oldest->place ? c->gone - oldest->place : 0;
}

/** k2_chips_aged - has @oldest been passed as often as may be? */
static inline bool k2_chips_aged(const struct k2_chips *c,
				 const struct k2_chips_item *oldest)
{
	return k2_chips_passes(c, oldest) >= c->max_pass;
}

/** k2_chips_waited - is that why @oldest goes? Where none may pass it always does. */
static inline bool k2_chips_waited(const struct k2_chips *c,
				   const struct k2_chips_item *oldest)
{
	return c->max_pass && k2_chips_aged(c, oldest);
}

/* The first of those that need several chips, and all are idle; or NULL. */
static inline struct k2_chips_item *k2_chips_wide(const struct k2_chips *c)
{
	struct flash_link *link = c->wide.next;
	u32 n;

	for (n = 0; link != &c->wide && n < K2_WIDE_SCAN; n++) {
		struct k2_chips_item *it = k2_chips_of(link);

		if (flash_occupancy_free(&c->occ, &it->vec))
			return it;
		link = link->next;
	}
	return NULL;
}

/* The line to serve next of those whose chip is idle, or FLASH_NO_CHIP. */
static inline u32 k2_chips_idle(const struct k2_chips *c)
{
	struct flash_chipvec can = c->occ.idle;
	u32 i, words = flash_chipvec_words(&can), chip;

	for (i = 0; i < words; i++)
		can.word[i] &= c->some.word[i];
	chip = flash_chipvec_from(&can, c->cursor + 1);
	return chip != FLASH_NO_CHIP ? chip : flash_chipvec_first(&can);
}

/* Nobody's chips are idle: who has least before it? */
static inline struct k2_chips_item *k2_chips_least(const struct k2_chips *c)
{
	struct k2_chips_item *wide = NULL, *it;
	u32 chip, on, best = FLASH_NO_CHIP, least = ~0U, after = 0;

	/* Going round: of those alike, the first behind the last one chosen. */
	flash_for_each_chip(chip, &c->some) {
		on = flash_occupancy_on(&c->occ, chip);
		if (on > least || (on == least && (after || chip <= c->cursor)))
			continue;
		least = on;
		after = chip > c->cursor;
		best = chip;
	}
	if (!flash_ring_empty(&c->wide))
		wide = k2_chips_of(c->wide.next);
	if (best == FLASH_NO_CHIP)
		return wide;
	it = k2_chips_of(c->chip[best].next);
	if (!wide)
		return it;
	on = flash_occupancy_load(&c->occ, &wide->vec);
	if (on < least || (on == least && wide->place < it->place))
		return wide;
	return it;
}

/**
 * k2_chips_pick - the best-effort request to serve next
 * @c: the chips, of a layout that is known
 * @oldest: of those that wait, the one that came first
 *
 * Changes nothing: it is also asked for what then does not go.
 *
 * Return: the request.
 */
static inline struct k2_chips_item *k2_chips_pick(const struct k2_chips *c,
						  struct k2_chips_item *oldest)
{
	struct k2_chips_item *it;
	u32 chip;

	if (k2_chips_aged(c, oldest))
		return oldest;
	it = k2_chips_wide(c);
	if (it)
		return it;
	chip = k2_chips_idle(c);
	if (chip != FLASH_NO_CHIP)
		return k2_chips_of(c->chip[chip].next);
	return k2_chips_least(c);
}

/**
 * k2_chips_go - a best-effort request waits no longer
 * @c: the chips
 * @it: the request
 * @oldest: as for k2_chips_pick()
 */
static inline void k2_chips_go(struct k2_chips *c, struct k2_chips_item *it,
			       const struct k2_chips_item *oldest)
{
	c->idle += flash_occupancy_free(&c->occ, &it->vec);
	c->passed += it != oldest;
	c->aged += it == oldest && k2_chips_waited(c, it);
	if (it->chip != FLASH_NO_CHIP)
		c->cursor = it->chip;
	k2_chips_leave(c, it);
	c->waiting--;
	c->gone++;
}

/**
 * k2_chips_take - a request of any class goes to the device
 * @c: the chips
 * @it: the request, which waits in no line
 * @dir: its direction
 * @sector: its first sector
 * @sectors: its length; 0 if it moves no data
 */
static inline void k2_chips_take(struct k2_chips *c, struct k2_chips_item *it,
				 enum flash_dir dir, u64 sector, u64 sectors)
{
	flash_chipvec_fill(&it->vec, &c->geo, sector, sectors, c->offset);
	it->dir = dir;
	flash_occupancy_take(&c->occ, &it->vec, dir);
}

/** k2_chips_give - a request leaves the device */
static inline void k2_chips_give(struct k2_chips *c, struct k2_chips_item *it)
{
	flash_occupancy_release(&c->occ, &it->vec, it->dir);
}

#endif /* K2_CHIPS_H */
