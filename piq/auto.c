// SPDX-License-Identifier: GPL-2.0
/*
 * auto.c - the order of requests: mode auto, and what all modes share
 *
 * Problem: a modern flash device has a queue for each chip. The paper's batches would make
 * it wait for the slowest request of a batch. Instead it is sent requests for idle chips; the
 * others are kept here, where their order can still be chosen.
 *
 * Algorithm: one-page requests wait in a queue for their chip, and bitmaps say which chips
 * have a queue and are idle. So a choice takes the same time however many requests wait. It
 * serves the chips in turn. Requests of several chips (wide ones) have another queue, of
 * which a choice looks at scan_depth.
 *
 * - Reads precede writes, except in write epochs: where both want the chips writes get at
 *   least a fifth of the device time. An epoch begins when the deficit of writes is
 *   enough for a write on each chip; it ends when the deficit is paid.
 *   Writes are dispatched at any time to idle chips that no read wants.
 * - A read does not wait here for a write that is outstanding on its chip: the device may
 *   serve the read first, or suspend the write.
 * - Urgent requests precede all others. They may be sent to a chip that has one request
 *   more than others would find there, so the chip serves them next.
 * - The oldest request of its direction, if it is wide, may find one request more on each
 *   chip, too. Otherwise it would wait for a moment at which all of its chips are idle, and
 *   the device would be idle then.
 * - No request starves: chips are reserved for the oldest requests of each direction after
 *   max_wait, and for the oldest wide one when max_pass younger requests have passed it,
 *   when it is a write and writes have their epoch, or when it is the oldest urgent one.
 *   They are dispatched when their chips have drained.
 * - A chip is given chip_depth requests at a time, or as many as learn.c finds: a device
 *   that takes time before and after the chip's part needs two or more to keep the chip
 *   busy. A chip gets only one write while reads want the chip.
 * - A full chip is given one request more now and then, if nothing else can be dispatched.
 *   This delays no request, and its service time says whether the layout is still right.
 *
 * Without a layout, or with one that does not pay (learn.c), all of this is one FIFO, which
 * urgent requests pass unless its first request has waited for max_wait.
 *
 * Invariants:
 * - If a request waits and none is outstanding, piq_choose() returns one. So requests only
 *   wait for the end of another one, and no timer is needed.
 * - piq_chips.demand counts each waiting or outstanding request on its chips, and
 *   piq_chips.occ each outstanding one. The chips of an outstanding request do not change.
 * - All that the user sets may change at any time: waiting requests are sorted again if
 *   need be, outstanding ones keep their chips and their batch.
 *
 * Entry points, in the order of a request's life: piq_add_queued(), piq_grow(),
 * piq_absorb(), piq_choose_waiting(), piq_dispatch_queued(), piq_pass(), piq_start_head(),
 * piq_release_chips(); piq_set(), piq_sort_next(). sched.h handles the FIFO's usual requests itself.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "sched.h"

/* Functions that only a trusted layout needs are not inlined: the FIFO is to be fast. */

/* Device times that are assumed before any is learned, ns */
#define PIQ_READ_NS	100000
#define PIQ_WRITE_NS	500000

/* Device time of reads for each unit that writes are promised */
#define PIQ_READ_SHARE	4

/* Largest deficit or surplus of a direction, in writes on each chip */
#define PIQ_DEFICIT_MAX	4

/* A new sample's part in the average device time of writes is 1 in this many */
#define PIQ_WRITE_WEIGHT	16

/* Chips */

/* Compute the chips of a request. */
static void piq_fill(const struct piq_sched *s, const struct piq_req *req,
		     struct flash_chipvec *v)
{
	if (req->kind == PIQ_OTHER || !s->geo.nr_chips)
		flash_chipvec_clear(v, &s->geo);
	else
		flash_chipvec_fill(v, &s->geo, req->sector, req->sectors, s->offset);
}

/* Set or clear a bit, without a branch: it is done for every chip of every request. */
static void piq_chip_assign(struct flash_chipvec *v, u32 chip, bool on)
{
	u64 *word = &v->word[chip / 64];
	u32 bit = chip % 64;

	*word = (*word & ~(1ULL << bit)) | (u64)on << bit;
}

/* Are the sets of struct piq_chips valid, and does the layout have this chip? */
static bool piq_chip_known(const struct piq_sched *s, u32 chip)
{
	return s->trusted && !s->blind && chip < s->geo.nr_chips;
}

static void piq_chip_set_writable(struct piq_chips *c, u32 chip)
{
	piq_chip_assign(&c->writable, chip, !c->occ.out[FLASH_WRITE][chip] ||
			!c->demand[FLASH_READ][chip]);
}

/* Update the sets of struct piq_chips for a known chip. */
static void piq_chip_update(struct piq_sched *s, u32 chip)
{
	struct piq_chips *c = &s->chips;
	u32 on = flash_occupancy_on(&c->occ, chip);

	piq_chip_assign(&c->readable, chip, c->occ.out[FLASH_READ][chip] < s->depth);
	piq_chip_set_writable(c, chip);
	piq_chip_assign(&c->empty, chip, !on);
	piq_chip_assign(&c->eager, chip, on <= s->depth);
}

/* Recompute all sets after a change of layout or depth, or when they become valid. */
static void piq_chips_update(struct piq_sched *s)
{
	struct piq_chips *c = &s->chips;
	u32 chip;

	flash_occupancy_set(&c->occ, &s->geo, s->depth);
	flash_chipvec_clear(&c->empty, &s->geo);
	flash_chipvec_clear(&c->readable, &s->geo);
	flash_chipvec_clear(&c->writable, &s->geo);
	flash_chipvec_clear(&c->eager, &s->geo);
	for (chip = 0; s->trusted && !s->blind && chip < s->geo.nr_chips; chip++)
		piq_chip_update(s, chip);
}

/**
 * piq_trust - from now on the layout is trusted
 * @s: the device
 */
void piq_trust(struct piq_sched *s)
{
	s->trusted = true;
	piq_chips_update(s);
}

/**
 * piq_set_depth - change the number of requests that a chip is given at a time
 * @s: the device
 * @depth: the number, at least 1
 */
void piq_set_depth(struct piq_sched *s, u32 depth)
{
	s->depth = depth;
	piq_chips_update(s);
}

/**
 * piq_change_blind - change piq_sched.blind, which is mostly false with reads and writes
 * @s: the device
 */
void piq_change_blind(struct piq_sched *s)
{
	s->blind = !s->blind;
	piq_chips_update(s);
}

/* Add @by (1 or -1) to the demand of the request's chips. */
static void piq_demand_add(struct piq_sched *s, const struct piq_req *req, int by)
{
	enum flash_dir dir = piq_dir(req);
	u32 chip;

	flash_for_each_chip(chip, &req->part.vec) {
		s->chips.demand[dir][chip] += by;
		if (dir == FLASH_READ && piq_chip_known(s, chip))
			piq_chip_set_writable(&s->chips, chip);
	}
}

/*
 * Count a new request's demand for a chip. @same and @other: set to whether requests of its
 * direction, and of the other one, that are not done have that chip; else unchanged.
 */
static __always_inline void piq_demand_new(struct piq_sched *s, enum flash_dir dir,
					   u32 chip, u32 *same, u32 *other)
{
	*same |= s->chips.demand[dir][chip]++;
	*other |= s->chips.demand[!dir][chip];
	if (dir == FLASH_READ && piq_chip_known(s, chip))
		piq_chip_set_writable(&s->chips, chip);
}

/* Count the paper's conflicts of a new request, as piq_demand_new() has found them. */
static void piq_count_conflicts(struct piq_sched *s, struct piq_req *req, u32 same,
				u32 other)
{
	if (!same && !other)
		return;
	req->conflicts = true;
	if (req->kind == PIQ_READ)
		s->stats.rrc += same != 0;
	else
		s->stats.wwc += same != 0;
	s->stats.rwc += other != 0;
}

/* Requests outstanding on the fullest of the request's chips */
static u32 piq_load(const struct piq_sched *s, const struct piq_req *req)
{
	return req->chip == FLASH_NO_CHIP ?
	       flash_occupancy_load(&s->chips.occ, &req->part.vec) :
	       flash_occupancy_on(&s->chips.occ, req->chip);
}

/* Queues of mode auto: unused without a layout, when it is a FIFO */

static u32 piq_row(const struct piq_req *req)
{
	return req->urgent ? PIQ_URGENT : (u32)piq_dir(req);
}

static bool piq_aged_before(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct piq_req, aged)->seq <
	       rb_entry(b, struct piq_req, aged)->seq;
}

/*
 * Add a wide request, nearly always as the youngest. A request that has grown beyond its
 * chip is older than some others. Its place is not searched in the list, as the lock is
 * held: it waits in a tree until piq_wide_after() gets to its place.
 */
static void piq_wide_add(struct piq_pick *p, u32 row, struct piq_req *req)
{
	struct list_head *wide = &p->wide[row];

	if (list_empty(wide) ||
	    list_last_entry(wide, struct piq_req, line)->seq < req->seq) {
		list_add_tail(&req->line, wide);
		return;
	}
	req->late = true;
	rb_add_cached(&req->aged, &p->late[row], piq_aged_before);
}

/* Is there no wide request of this row? */
static bool piq_wide_empty(const struct piq_pick *p, u32 row)
{
	return list_empty(&p->wide[row]) && !rb_first_cached(&p->late[row]);
}

/*
 * The wide request of a row behind @at, or NULL. A walk from &p->wide[row] on finds them by
 * arrival.
 */
static struct piq_req *piq_wide_after(struct piq_pick *p, u32 row, struct list_head *at)
{
	struct piq_req *next = list_entry(at->next, struct piq_req, line), *late;
	struct rb_node *node = rb_first_cached(&p->late[row]);

	if (at->next == &p->wide[row])
		next = NULL;
	if (!node)
		return next;
	late = rb_entry(node, struct piq_req, aged);
	if (next && next->seq < late->seq)
		return next;
	rb_erase_cached(node, &p->late[row]);
	late->late = false;
	list_add(&late->line, at);
	return late;
}

/* The oldest wide request of a row, or NULL */
static struct piq_req *piq_wide_first(struct piq_pick *p, u32 row)
{
	return piq_wide_after(p, row, &p->wide[row]);
}

/* Add a request to the queue of its only chip; no request there is younger. */
static __always_inline void piq_line_add(struct piq_sched *s, struct piq_req *req, u32 chip)
{
	u32 row = piq_row(req);

	req->chip = chip;
	list_add_tail(&req->line, &s->pick.queue[row][chip]);
	flash_chipvec_set(&s->pick.filled[row], chip);
}

/* Add a request to the queue of its chips; no request of a chip's queue is younger. */
static void piq_line_join(struct piq_sched *s, struct piq_req *req)
{
	req->chip = flash_chipvec_single(&req->part.vec);
	if (req->chip != FLASH_NO_CHIP)
		piq_line_add(s, req, req->chip);
	else
		piq_wide_add(&s->pick, piq_row(req), req);
}

/* Take a request out of that queue. */
static void piq_line_leave(struct piq_sched *s, struct piq_req *req)
{
	struct piq_pick *p = &s->pick;
	u32 row = piq_row(req);

	if (req->late) {
		rb_erase_cached(&req->aged, &p->late[row]);
		req->late = false;
		return;
	}
	list_del(&req->line);
	if (req->chip != FLASH_NO_CHIP && list_empty(&p->queue[row][req->chip]))
		flash_chipvec_unset(&p->filled[row], req->chip);
}

static void piq_pick_add(struct piq_sched *s, struct piq_req *req)
{
	if (req->urgent)
		list_add_tail(&req->rush, &s->pick.urgent);
	if (s->geo.nr_chips)
		piq_line_join(s, req);
}

static void piq_pick_leave(struct piq_sched *s, struct piq_req *req)
{
	if (req->urgent)
		list_del(&req->rush);
	if (s->geo.nr_chips)
		piq_line_leave(s, req);
}

/* A waiting request needs the chips @v now, which include its chips so far. */
static void piq_pick_grow(struct piq_sched *s, struct piq_req *req,
			  const struct flash_chipvec *v)
{
	bool moves = s->geo.nr_chips && flash_chipvec_single(v) != req->chip;

	if (moves)
		piq_line_leave(s, req);
	req->part.vec = *v;
	if (moves)
		piq_line_join(s, req);
}

/* A waiting request gets the place of @absorbed, which it absorbs and which waits still. */
static void piq_pick_replace(struct piq_sched *s, struct piq_req *req,
			     struct piq_req *absorbed)
{
	if (req->urgent)
		list_move(&req->rush, &absorbed->rush);
	if (!s->geo.nr_chips)
		return;
	piq_demand_add(s, req, -1);
	piq_line_leave(s, req);
	piq_fill(s, req, &req->part.vec);
	if (flash_chipvec_single(&req->part.vec) == absorbed->chip && !absorbed->late) {
		req->chip = absorbed->chip;
		list_add(&req->line, &absorbed->line);
	} else {
		piq_line_join(s, req);
	}
	piq_demand_add(s, req, 1);
}

/* A request arrives, and may change while it waits */

/* Add a request to the queues of the mode, as the youngest. */
static void piq_enqueue(struct piq_sched *s, struct piq_req *req)
{
	if (req->kind == PIQ_OTHER)
		return;
	if (s->mode == PIQ_AUTO)
		piq_pick_add(s, req);
	else
		piq_turns_add(s, req);
}

/* Take a request out of the queues of the mode. */
static void piq_dequeue(struct piq_sched *s, struct piq_req *req)
{
	if (req->kind == PIQ_OTHER)
		return;
	if (s->mode == PIQ_AUTO)
		piq_pick_leave(s, req);
	else
		piq_turns_leave(s, req);
}

/* The chips of a new request */
static noinline void piq_find_chips(struct piq_sched *s, struct piq_req *req)
{
	u32 same = 0, other = 0, chip;

	flash_chipvec_fill(&req->part.vec, &s->geo, req->sector, req->sectors, s->offset);
	flash_for_each_chip(chip, &req->part.vec)
		piq_demand_new(s, piq_dir(req), chip, &same, &other);
	piq_count_conflicts(s, req, same, other);
}

/* Add a request that may have several chips, or to the queues of a mode of the paper. */
static noinline void piq_add_wide(struct piq_sched *s, struct piq_req *req)
{
	piq_find_chips(s, req);
	piq_enqueue(s, req);
}

/*
 * The chip of a new request of mode auto that has one page, as most have. False: it may have
 * several.
 */
static __always_inline bool piq_find_chip(struct piq_sched *s, struct piq_req *req)
{
	u32 same = 0, other = 0;
	u64 page, pages;

	flash_geometry_span(&s->geo, req->sector, req->sectors, s->offset, &page, &pages);
	if (s->mode != PIQ_AUTO || pages != 1 || req->sector == FLASH_NO_SECTOR)
		return false;
	req->chip = flash_chip_of(&s->geo, page);
	flash_chipvec_set(&req->part.vec, req->chip);
	piq_demand_new(s, piq_dir(req), req->chip, &same, &other);
	piq_count_conflicts(s, req, same, other);
	return true;
}

/**
 * piq_add_queued - piq_add(), unless it is a request of the FIFO that is not urgent
 * @s: the device
 * @req: its part in the order
 */
void piq_add_queued(struct piq_sched *s, struct piq_req *req)
{
	flash_chipvec_clear(&req->part.vec, &s->geo);
	if (!s->geo.nr_chips || req->kind == PIQ_OTHER) {
		piq_enqueue(s, req);
	} else if (piq_find_chip(s, req)) {
		if (req->urgent)
			list_add_tail(&req->rush, &s->pick.urgent);
		piq_line_add(s, req, req->chip);
	} else {
		piq_add_wide(s, req);
	}
}

/**
 * piq_grow - a waiting request has been merged with a neighbour
 * @s: the device
 * @req: the request
 * @sector: its first sector now
 * @sectors: its length now
 */
void piq_grow(struct piq_sched *s, struct piq_req *req, u64 sector, u32 sectors)
{
	struct flash_chipvec v;

	req->sector = sector;
	req->sectors = sectors;
	if (req->kind == PIQ_OTHER)
		return;
	piq_demand_add(s, req, -1);
	piq_fill(s, req, &v);
	if (s->mode == PIQ_AUTO)
		piq_pick_grow(s, req, &v);
	else
		piq_turns_grow(s, req, &v);
	piq_demand_add(s, req, 1);
}

/* A waiting request inherits the place of an older one that it absorbs. */
static void piq_replace(struct piq_sched *s, struct piq_req *req, struct piq_req *absorbed)
{
	req->seq = absorbed->seq;
	req->base = absorbed->base;
	req->arrived = absorbed->arrived;
	list_move(&req->order, &absorbed->order);
	if (req->kind == PIQ_OTHER)
		return;
	if (s->mode == PIQ_AUTO)
		piq_pick_replace(s, req, absorbed);
	else
		piq_turns_replace(s, req, absorbed);
}

/**
 * piq_absorb - a waiting request absorbs another waiting one
 * @s: the device
 * @req: the request; it inherits the place of @absorbed if that is older
 * @absorbed: the other one, of the same kind and urgency
 * @sector: first sector of @req now
 * @sectors: length of @req now
 *
 * Takes at most O(log n) steps for n waiting requests.
 */
void piq_absorb(struct piq_sched *s, struct piq_req *req, struct piq_req *absorbed,
		u64 sector, u32 sectors)
{
	req->sector = sector;
	req->sectors = sectors;
	if (absorbed->seq < req->seq)
		piq_replace(s, req, absorbed);
	piq_demand_add(s, absorbed, -1);
	piq_dequeue(s, absorbed);
	piq_stop_waiting(s, absorbed);
	piq_grow(s, req, sector, sectors);
	if (s->mode != PIQ_AUTO)
		piq_turns_admit(s);
}

/* The choice of the next request: first the chips that are reserved */

/*
 * How many younger requests of its kind have passed a waiting request: all that have left
 * since it arrived, less those that waited then. It is one more for each of these that
 * still waits.
 */
static u64 piq_passes(const struct piq_sched *s, const struct piq_req *req)
{
	u64 left = s->left[req->kind];

	return left > req->base ? left - req->base : 0;
}

/* Reserve the chips of a request; requests are served by arrival, of any direction. */
static void piq_reserve_for(struct piq_sched *s, struct piq_req *req)
{
	struct piq_req **reserved = s->pick.reserved;
	u32 at = s->pick.nr_reserved++;

	for (; at && reserved[at - 1]->seq > req->seq; at--)
		reserved[at] = reserved[at - 1];
	reserved[at] = req;
	s->stats.aged += !req->reserved;
	req->reserved = true;
}

static bool piq_is_reserved(const struct piq_pick *p, const struct piq_req *req)
{
	u32 i;

	for (i = 0; i < p->nr_reserved; i++) {
		if (p->reserved[i] == req)
			return true;
	}
	return false;
}

/* For the oldest wide request of a row, if it is its turn or it was passed too often */
static void piq_reserve_wide(struct piq_sched *s, u32 row, bool turn)
{
	struct piq_req *req = piq_wide_first(&s->pick, row);

	/* One that is old may still wait behind others that are older. */
	if (req && !piq_is_reserved(&s->pick, req) &&
	    (turn || piq_passes(s, req) >= s->tun.max_pass))
		piq_reserve_for(s, req);
}

/* Reserve the chips of the oldest requests, by the layout. */
static noinline void piq_reserve_aware(struct piq_sched *s, u64 now)
{
	struct piq_pick *p = &s->pick;
	struct piq_req *req;
	unsigned int dir;

	for (dir = 0; dir < FLASH_NR_DIRS; dir++) {
		u32 nth = 0;

		list_for_each_entry(req, &s->order[dir], order) {
			if (now < req->arrived + s->tun.max_wait)
				break;
			piq_reserve_for(s, req);
			if (++nth == PIQ_RESERVED)
				break;
		}
		piq_reserve_wide(s, dir, dir == FLASH_WRITE && p->epoch);
	}
	/* Without this, other urgent requests reach a chip as soon as one leaves it. */
	req = piq_wide_first(p, PIQ_URGENT);
	piq_reserve_wide(s, PIQ_URGENT, req && p->urgent.next == &req->rush);
}

/* Reserve the chips of the oldest requests. */
static void piq_reserve(struct piq_sched *s, u64 now)
{
	struct piq_req *req;

	s->pick.nr_reserved = 0;
	/* No other request could be sent to these chips. */
	if (piq_waiting(s) < 2)
		return;
	if (piq_aware(s)) {
		piq_reserve_aware(s, now);
	} else if (!list_empty(&s->pick.urgent)) {
		req = piq_oldest_of_all(s);
		if (now >= req->arrived + s->tun.max_wait)
			piq_reserve_for(s, req);
	}
}

/* May a request be sent to chips that each have less than their depth + @more? */
static bool piq_fits(const struct piq_sched *s, const struct piq_req *req, u32 more)
{
	if (flash_occupancy_free(&s->chips.occ, &req->part.vec))
		return true;
	return more && piq_load(s, req) < s->depth + more;
}

/* Is it a read for a chip with room for reads? It waits for no write there. */
static bool piq_ignores_writes(const struct piq_sched *s, const struct piq_req *req)
{
	return req->kind == PIQ_READ && req->chip != FLASH_NO_CHIP &&
	       flash_chipvec_test(&s->chips.readable, req->chip);
}

/*
 * The first request of the queue of a chip in @may and not in @taken, or NULL. Chips are
 * served in turn; of chips that may have several requests, empty ones are served first.
 */
static struct piq_req *piq_pick_line(struct piq_sched *s, u32 row,
				     const struct flash_chipvec *may,
				     const struct flash_chipvec *taken)
{
	const struct flash_chipvec *filled = &s->pick.filled[row];
	const u64 *empty = s->chips.empty.word;
	u32 i, words = flash_chipvec_words(may), chip;
	struct flash_chipvec found = *may;
	u64 any = 0, any_empty = 0;

	for (i = 0; i < words; i++) {
		found.word[i] &= filled->word[i] & ~taken->word[i];
		any |= found.word[i];
		any_empty |= found.word[i] & empty[i];
	}
	if (!any)
		return NULL;
	for (i = 0; any_empty && i < words; i++)
		found.word[i] &= empty[i];
	chip = flash_chipvec_from(&found, s->pick.cursor + 1);
	if (chip == FLASH_NO_CHIP)
		chip = flash_chipvec_first(&found);
	return list_first_entry(&s->pick.queue[row][chip], struct piq_req, line);
}

/* A wide request, or NULL; @more: see piq_fits() */
static struct piq_req *piq_pick_wide(struct piq_sched *s, u32 row, u32 more,
				     const struct flash_chipvec *taken)
{
	struct piq_req *req = piq_wide_first(&s->pick, row);
	u32 n;

	for (n = 0; req && n < s->tun.scan_depth;
	     req = piq_wide_after(&s->pick, row, &req->line), n++) {
		if (row == FLASH_WRITE &&
		    !flash_chipvec_inside(&req->part.vec, &s->chips.writable))
			continue;
		if (piq_fits(s, req, more) &&
		    !flash_chipvec_conflict(taken, &req->part.vec))
			return req;
	}
	return NULL;
}

/*
 * A request of one direction for idle chips, or NULL. @turn: it is not the turn of the other
 * direction, which the oldest request would delay if it found one request more.
 */
static struct piq_req *piq_pick_dir(struct piq_sched *s, enum flash_dir dir, bool turn,
				    const struct flash_chipvec *taken)
{
	struct piq_req *req = piq_oldest(s, (enum piq_kind)dir);
	struct flash_chipvec idle = s->chips.occ.idle;
	u32 i;

	if (!req)
		return NULL;
	if (req->chip == FLASH_NO_CHIP && piq_fits(s, req, turn) &&
	    !flash_chipvec_conflict(taken, &req->part.vec))
		return req;
	for (i = 0; dir == FLASH_WRITE && i < flash_chipvec_words(&idle); i++)
		idle.word[i] &= s->chips.writable.word[i];
	req = piq_pick_line(s, dir, &idle, taken);
	return req ? req : piq_pick_wide(s, dir, 0, taken);
}

/* An urgent request, or NULL */
static struct piq_req *piq_pick_urgent(struct piq_sched *s,
				       const struct flash_chipvec *taken)
{
	struct piq_req *req;

	if (list_empty(&s->pick.urgent))
		return NULL;
	req = piq_pick_line(s, PIQ_URGENT, &s->chips.eager, taken);
	return req ? req : piq_pick_wide(s, PIQ_URGENT, 1, taken);
}

/* A request for a busy chip, if it is time to measure one, or NULL */
static struct piq_req *piq_pick_probe(struct piq_sched *s,
				      const struct flash_chipvec *taken)
{
	struct piq_req *req;

	if (s->pick.since_probe < PIQ_PROBE_NTH)
		return NULL;
	req = piq_pick_line(s, FLASH_READ, &s->chips.eager, taken);
	return req ? req : piq_pick_line(s, FLASH_WRITE, &s->chips.eager, taken);
}

/*
 * Is it plain that no request can be dispatched? Most looks at a busy device end here, and
 * leave out the many steps of piq_pick_aware().
 */
static bool piq_all_wait(const struct piq_sched *s)
{
	u32 i, row, words = flash_chipvec_words(&s->chips.occ.idle);
	const struct piq_chips *c = &s->chips;
	const struct piq_pick *p = &s->pick;
	u64 can = 0;

	if (p->nr_reserved || p->since_probe >= PIQ_PROBE_NTH)
		return false;
	for (row = 0; row < PIQ_NR_ROWS; row++) {
		if (!piq_wide_empty(p, row))
			return false;
	}
	for (i = 0; i < words; i++) {
		can |= p->filled[PIQ_URGENT].word[i] & c->eager.word[i];
		can |= p->filled[FLASH_READ].word[i] & c->readable.word[i];
		can |= p->filled[FLASH_WRITE].word[i] & c->occ.idle.word[i] &
		       c->writable.word[i];
	}
	return !can;
}

/*
 * The only waiting request, if its chips are idle, or NULL. The many steps of
 * piq_pick_aware() would find the same: this is the path of a load of one request at a time.
 */
static struct piq_req *piq_pick_only(struct piq_sched *s)
{
	struct piq_req *req;

	req = piq_oldest(s, s->waiting[PIQ_READ] ? PIQ_READ : PIQ_WRITE);
	if (!flash_occupancy_free(&s->chips.occ, &req->part.vec))
		return NULL;
	if (req->kind == PIQ_WRITE && req->chip != FLASH_NO_CHIP &&
	    !flash_chipvec_test(&s->chips.writable, req->chip))
		return NULL;
	return req;
}

/* A request with chips, by the layout, or NULL; the head of this file has the rules. */
static noinline struct piq_req *piq_pick_aware(struct piq_sched *s)
{
	enum flash_dir first = s->pick.epoch ? FLASH_WRITE : FLASH_READ;
	struct flash_chipvec taken;
	struct piq_req *req;
	u32 i;

	if (piq_all_wait(s))
		return NULL;
	flash_chipvec_clear(&taken, &s->geo);
	for (i = 0; i < s->pick.nr_reserved; i++) {
		req = s->pick.reserved[i];
		/* Behind an older one; its other chips work until that is dispatched. */
		if (flash_chipvec_conflict(&taken, &req->part.vec))
			continue;
		if (piq_fits(s, req, req->chip == FLASH_NO_CHIP) ||
		    piq_ignores_writes(s, req))
			return req;
		flash_chipvec_union(&taken, &req->part.vec);
	}
	req = piq_pick_urgent(s, &taken);
	if (!req)
		req = piq_pick_dir(s, first, true, &taken);
	if (!req)
		req = piq_pick_dir(s, !first, !s->waiting[first], &taken);
	if (!req)
		req = piq_pick_line(s, FLASH_READ, &s->chips.readable, &taken);
	return req ? req : piq_pick_probe(s, &taken);
}

/* The next request of mode auto, or NULL; at least one request waits. */
static struct piq_req *piq_pick_next(struct piq_sched *s)
{
	struct piq_pick *p = &s->pick;
	struct piq_req *req;
	bool aware = piq_aware(s);

	if (!aware || s->waiting[PIQ_OTHER]) {
		req = piq_oldest_of_all(s);
		if (req->kind == PIQ_OTHER)
			return req;
		if (!aware)
			return p->nr_reserved || list_empty(&p->urgent) ? req :
			       list_first_entry(&p->urgent, struct piq_req, rush);
	} else if (piq_waiting(s) == 1) {
		req = piq_pick_only(s);
		if (req)
			return req;
	}
	req = piq_pick_aware(s);
	return req ? req : piq_oldest(s, PIQ_OTHER);
}

/**
 * piq_choose_waiting - piq_choose(), unless mode auto has no waiting request
 * @s: the device
 * @now: the time, ns
 *
 * Return: see piq_choose().
 */
struct piq_req *piq_choose_waiting(struct piq_sched *s, u64 now)
{
	struct piq_req *req;

	if (s->mode == PIQ_AUTO) {
		piq_reserve(s, now);
		req = piq_pick_next(s);
	} else {
		req = piq_turns_next(s);
	}
	if (!req && !s->out && piq_waiting(s)) {
		/* No end of a request would bring us back here. */
		s->stats.stuck++;
		req = piq_oldest_of_all(s);
	}
	return req;
}

/* A request is dispatched */

/* Number of chips that a request needs: without an address as many as it has pages */
static u32 piq_width(const struct piq_sched *s, const struct piq_req *req)
{
	u64 pages;

	if (req->sector != FLASH_NO_SECTOR)
		return flash_chipvec_weight(&req->part.vec);
	pages = (((u64)req->sectors << FLASH_SECTOR_SHIFT) +
		 (1U << s->geo.page_shift) - 1) >> s->geo.page_shift;
	return (u32)min_t(u64, pages, s->geo.nr_chips);
}

/* Device time of a request on each of its chips, ns */
static u64 piq_chip_ns(const struct piq_sched *s, const struct piq_req *req)
{
	u64 ns = flash_cost_ns(&s->cost, piq_dir(req), req->sectors);

	if (ns)
		return ns;
	return req->kind == PIQ_WRITE ? PIQ_WRITE_NS : PIQ_READ_NS;
}

/* Charge the device time @work, and begin or end a write epoch. */
static void piq_charge_ns(struct piq_sched *s, enum piq_kind kind, u64 work)
{
	struct piq_pick *p = &s->pick;
	u64 quantum = (p->write_ns ? p->write_ns : PIQ_WRITE_NS) * s->geo.nr_chips;
	/* A direction that missed its turn, as its chips were busy, saves no more. */
	s64 most = (s64)(PIQ_DEFICIT_MAX * quantum + work);

	if (kind == PIQ_READ)
		p->deficit += (s64)(work / PIQ_READ_SHARE);
	else
		p->deficit -= (s64)work;
	p->deficit = clamp(p->deficit, -most, most);
	if (!p->epoch && p->deficit >= (s64)quantum) {
		p->epoch = true;
		s->stats.epochs++;
	} else if (p->deficit <= 0) {
		p->epoch = false;
	}
}

/* Charge a request that is dispatched to its direction. */
static noinline void piq_charge(struct piq_sched *s, const struct piq_req *req)
{
	bool alone = !s->waiting[!piq_dir(req)];
	struct piq_pick *p = &s->pick;
	u64 ns;

	if (req->kind == PIQ_OTHER)
		return;
	/* A direction without waiting requests has no deficit. */
	if (alone) {
		p->deficit = 0;
		p->epoch = false;
		if (req->kind == PIQ_READ)
			return;
	}
	ns = piq_chip_ns(s, req);
	if (req->kind == PIQ_WRITE) {
		if (!p->write_ns)
			p->write_ns = ns;
		p->write_ns += ns / PIQ_WRITE_WEIGHT - p->write_ns / PIQ_WRITE_WEIGHT;
	}
	if (!alone)
		piq_charge_ns(s, req->kind, ns * piq_width(s, req));
}

/* The chip of a request has its turn. */
static inline void piq_pick_turn(struct piq_sched *s, const struct piq_req *req)
{
	struct piq_pick *p = &s->pick;

	if (req->chip == FLASH_NO_CHIP || !s->trusted)
		return;
	p->cursor = req->chip;
	p->since_probe++;
	if (piq_load(s, req) >= s->depth)
		p->since_probe = 0;
}

/* Take a request out of the queues of mode auto, as it is dispatched. */
static void piq_pick_dispatch(struct piq_sched *s, struct piq_req *req)
{
	if (req->kind != PIQ_OTHER) {
		piq_pick_leave(s, req);
		piq_pick_turn(s, req);
	}
	if (piq_aware(s))
		piq_charge(s, req);
}

/* A request counts as outstanding from now on. */
static __always_inline void piq_start(struct piq_sched *s, struct piq_req *req, u64 now)
{
	struct piq_start *start = &req->start;
	u32 chip, nr_chips = s->geo.nr_chips;
	enum flash_dir dir = piq_dir(req);

	/* Of requests that avoid each other, those that did not */
	start->busy = nr_chips &&
		      (piq_aware(s) ? piq_load(s, req) >= s->depth :
				      piq_load(s, req) * nr_chips > s->out);
	start->load = s->out;
	start->taken = now;
	start->nth = ++s->nth;
	req->out = true;
	s->out++;
	flash_for_each_chip(chip, &req->part.vec) {
		flash_occupancy_take_one(&s->chips.occ, chip, dir);
		if (piq_chip_known(s, chip))
			piq_chip_update(s, chip);
		s->stats.served[chip]++;
	}
}

/**
 * piq_dispatch_queued - piq_dispatch(), but for requests of the FIFO that are not tracked
 * @s: the device
 * @req: the request
 * @tracked: its end will be reported by piq_release()
 * @now: the time, ns
 */
void piq_dispatch_queued(struct piq_sched *s, struct piq_req *req, bool tracked, u64 now)
{
	if (s->mode == PIQ_AUTO)
		piq_pick_dispatch(s, req);
	else if (req->kind != PIQ_OTHER)
		piq_turns_dispatch(s, req);
	if (tracked) {
		piq_start(s, req, now);
	} else {
		piq_demand_add(s, req, -1);
		if (req->part.batch)
			piq_turns_release(s, req);
	}
}

/**
 * piq_pass - piq_add() and piq_dispatch() of the only request that waits, without a queue
 * @s: the device, and piq_in_order()
 * @req: its part in the order, a read or a write that is not urgent
 * @seq: its place in the order of arrival
 * @kind: its kind
 * @sector: its first sector
 * @sectors: its length
 * @arrived: the time of its arrival, ns
 * @now: the time, ns
 */
void piq_pass(struct piq_sched *s, struct piq_req *req, u64 seq, enum piq_kind kind,
	      u64 sector, u32 sectors, u64 arrived, u64 now)
{
	piq_arrive(s, req, seq, kind, sector, sectors, arrived);
	s->left[kind]++;
	req->urgent = false;
	s->pick.nr_reserved = 0;
	flash_chipvec_clear(&req->part.vec, &s->geo);
	if (s->geo.nr_chips && !piq_find_chip(s, req)) {
		piq_find_chips(s, req);
		req->chip = flash_chipvec_single(&req->part.vec);
	}
	piq_count_wait(s, req, now);
	piq_pick_turn(s, req);
	piq_start(s, req, now);
}

/**
 * piq_start_head - a request that bypassed the queues starts
 * @s: the device
 * @req: its part in the order
 * @kind: its kind
 * @sector: its first sector
 * @sectors: its length
 * @now: the time, ns
 */
void piq_start_head(struct piq_sched *s, struct piq_req *req, enum piq_kind kind,
		    u64 sector, u32 sectors, u64 now)
{
	piq_describe(req, kind, sector, sectors);
	req->urgent = false;
	piq_fill(s, req, &req->part.vec);
	piq_demand_add(s, req, 1);
	piq_start(s, req, now);
}

/**
 * piq_release_chips - piq_release(), unless neither the request nor the device has chips
 * @s: the device
 * @req: the request
 */
void piq_release_chips(struct piq_sched *s, struct piq_req *req)
{
	enum flash_dir dir = piq_dir(req);
	u32 chip;

	flash_for_each_chip(chip, &req->part.vec) {
		s->chips.demand[dir][chip]--;
		flash_occupancy_release_one(&s->chips.occ, chip, dir);
		if (piq_chip_known(s, chip))
			piq_chip_update(s, chip);
	}
	if (req->part.batch)
		piq_turns_release(s, req);
}

/* The user changes a setting */

/* Set the layout that chips are computed by. */
static void piq_set_geometry(struct piq_sched *s)
{
	u32 generation = s->geo.generation;

	s->geo = s->given;
	/* The paper's modes need one: if none is known, all requests share a chip. */
	if (s->mode != PIQ_AUTO && !s->geo.nr_chips)
		flash_geometry_parse("page=4096 chips=1", &s->geo);
	s->geo.generation = generation + 1;
	s->fifo = s->mode == PIQ_AUTO && !s->geo.nr_chips;
}

/* Begin a walk over all reads and writes by arrival. */
static void piq_walk_begin(struct piq_sched *s)
{
	s->change.at[FLASH_READ] = s->order[FLASH_READ].next;
	s->change.at[FLASH_WRITE] = s->order[FLASH_WRITE].next;
}

/* One step of the walk; NULL at its end */
static struct piq_req *piq_walk_step(struct piq_sched *s)
{
	struct list_head **at = s->change.at;
	struct piq_req *best = NULL;
	unsigned int dir;

	for (dir = 0; dir < FLASH_NR_DIRS; dir++) {
		struct piq_req *req = list_entry(at[dir], struct piq_req, order);

		if (at[dir] != &s->order[dir] && (!best || req->seq < best->seq))
			best = req;
	}
	if (best)
		at[best->kind] = best->order.next;
	return best;
}

/* All waiting requests have left their queues: the new mode and layout are in force. */
static void piq_put_in_force(struct piq_sched *s)
{
	u32 row;

	s->mode = s->change.mode;
	piq_set_geometry(s);
	piq_chips_update(s);
	s->pick.epoch = false;
	s->pick.deficit = 0;
	piq_turns_reset(s);
	for (row = 0; row < PIQ_NR_ROWS; row++)
		flash_chipvec_clear(&s->pick.filled[row], &s->geo);
	s->change.leaving = false;
	piq_walk_begin(s);
}

/* Can waiting requests stay where they are, whatever else the settings change? */
static bool piq_stays_sorted(const struct piq_sched *s, enum piq_mode mode,
			     const struct flash_geometry *given, u64 offset,
			     const struct piq_tunables *tun)
{
	return s->mode == mode && s->offset == offset &&
	       flash_geometry_same(&s->given, given) &&
	       (mode <= PIQ_NOOP || s->tun.queue_length == tun->queue_length);
}

/**
 * piq_set - change any setting of the user, at any time
 * @s: the device
 * @mode: the mode
 * @given: the layout
 * @offset: sectors of the drive before the device
 * @tun: the tunables
 *
 * Another mode, layout, offset or, in the paper's modes, queue_length has all waiting requests
 * sorted again.
 *
 * Return: true if they have to be: the caller calls nothing but piq_sort_next() until that
 * returns true.
 */
bool piq_set(struct piq_sched *s, enum piq_mode mode,
	     const struct flash_geometry *given, u64 offset,
	     const struct piq_tunables *tun)
{
	bool stays = piq_stays_sorted(s, mode, given, offset, tun);

	s->pick.nr_reserved = 0;
	if (tun->chip_depth)
		s->depth = tun->chip_depth;
	s->tun = *tun;
	if (stays) {
		piq_chips_update(s);
		return false;
	}
	s->given = *given;
	s->offset = offset;
	s->change.mode = mode;
	s->change.leaving = true;
	piq_walk_begin(s);
	if (s->waiting[PIQ_READ] + s->waiting[PIQ_WRITE])
		return true;
	piq_put_in_force(s);
	return false;
}

/**
 * piq_sort_next - take one request out of its old queues, or add it to the new ones
 * @s: the device, after piq_set()
 *
 * Return: true if all requests are sorted.
 */
bool piq_sort_next(struct piq_sched *s)
{
	struct piq_req *req = piq_walk_step(s);

	if (!req) {
		if (!s->change.leaving)
			return true;
		piq_put_in_force(s);
	} else if (s->change.leaving) {
		piq_demand_add(s, req, -1);
		piq_dequeue(s, req);
		req->chip = FLASH_NO_CHIP;
	} else {
		piq_fill(s, req, &req->part.vec);
		piq_demand_add(s, req, 1);
		piq_enqueue(s, req);
	}
	return false;
}

/**
 * piq_sched_init - no request waits or is outstanding
 * @s: the device, all zeroes
 * @pool: memory for PIQ_NR_BATCHES batches, which stays the caller's
 * @tun: any valid tunables
 *
 * The mode is auto, without a layout. piq_set() changes that.
 */
void piq_sched_init(struct piq_sched *s, struct flash_batch *pool,
		    const struct piq_tunables *tun)
{
	static const struct flash_geometry none;
	u32 row, chip, kind;

	for (kind = 0; kind < PIQ_NR_KINDS; kind++)
		INIT_LIST_HEAD(&s->order[kind]);
	for (row = 0; row < PIQ_NR_ROWS; row++) {
		INIT_LIST_HEAD(&s->pick.wide[row]);
		s->pick.late[row] = RB_ROOT_CACHED;
		for (chip = 0; chip < FLASH_MAX_CHIPS; chip++)
			INIT_LIST_HEAD(&s->pick.queue[row][chip]);
	}
	INIT_LIST_HEAD(&s->pick.urgent);
	s->depth = 1;
	s->fifo = true;
	piq_turns_init(&s->turns, pool);
	piq_turns_reset(s);
	piq_set(s, PIQ_AUTO, &none, 0, tun);
}
