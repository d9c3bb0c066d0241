/* SPDX-License-Identifier: GPL-2.0 */
/*
 * piq_sched.h - PIQ in one piece: what becomes of a request
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. The
 * caller's lock guards all of it.
 *
 *   piq_add() -> piq_next() -> piq_issue() -> piq_take() -> piq_give()
 *
 * A request can leave before it is issued (piq_absorb()), get other chips while
 * it waits (piq_grow()), or be taken without ever having been added: what goes
 * to the driver past every queue occupies chips, too. After each call except
 * piq_next() the caller calls piq_reserve().
 *
 * Everything that the user sets can change at any time: what waits is sorted
 * anew if need be, what is out keeps the chips that it has taken, and its batch.
 */
#ifndef PIQ_SCHED_H
#define PIQ_SCHED_H

#include "piq_batch.h"
#include "piq_pick.h"

/* Into the queues of the mode, as the youngest. */
static inline void piq_enqueue(struct piq_sched *s, struct piq_item *it)
{
	if (it->kind == PIQ_OTHER || s->mode == PIQ_NOOP)
		return;
	if (s->mode == PIQ_AUTO) {
		piq_pick_add(s, it);
		return;
	}
	flash_ring_add(&it->line, &s->outside);
	piq_admit(s);
}

/* Out of them, without being issued. */
static inline void piq_dequeue(struct piq_sched *s, struct piq_item *it)
{
	if (it->kind == PIQ_OTHER)
		return;
	if (s->mode == PIQ_AUTO)
		piq_pick_leave(s, it);
	else
		piq_batch_leave(s, it);
}

/* What the request is, as the block layer sees it now. */
static inline void piq_describe(struct piq_item *it, enum piq_kind kind,
				u64 sector, u32 sectors)
{
	it->kind = kind;
	it->sector = sector;
	it->sectors = sectors;
}

/**
 * piq_add - a request arrives
 * @s: the device
 * @it: its item, which belongs to no request that is not done; its @urgent is set
 * @seq: its place in the order of arrival
 * @kind: what it is
 * @sector: its first sector
 * @sectors: its length
 * @now: the time, ns
 */
static inline void piq_add(struct piq_sched *s, struct piq_item *it, u64 seq,
			   enum piq_kind kind, u64 sector, u32 sectors, u64 now)
{
	flash_ring_init(&it->line);
	flash_ring_init(&it->rush);
	piq_describe(it, kind, sector, sectors);
	it->seq = seq;
	it->arrived = now;
	it->base = s->left[kind] + s->waiting[kind];
	it->part.batch = NULL;
	it->queued = true;
	it->kept = false;
	it->chip = FLASH_NO_CHIP;
	s->last_seq = seq;
	piq_vec(s, it, &it->part.vec);
	it->conflicts = false;
	if (kind != PIQ_OTHER)
		piq_meet(s, it);
	flash_link_after(&it->order, s->order[kind].prev);
	s->waiting[kind]++;
	piq_enqueue(s, it);
}

/* It waits no more. */
static inline void piq_unwait(struct piq_sched *s, struct piq_item *it)
{
	flash_unlink(&it->order);
	s->waiting[it->kind]--;
	s->left[it->kind]++;
	it->queued = false;
	/* Pointers to it must not stay. */
	s->nr_reserved = 0;
}

/**
 * piq_next - the request that goes next
 * @s: the device
 *
 * Return: the request, or NULL: nothing may go before others are done. Never
 * NULL if something waits and nothing is out.
 */
static inline struct piq_item *piq_next(struct piq_sched *s)
{
	struct piq_item *it;

	if (s->mode != PIQ_AUTO)
		it = piq_batch_next(s);
	else if (piq_waiting(s))
		it = piq_pick_next(s);
	else
		return NULL;
	if (!it && !s->out && piq_waiting(s)) {
		/* Nobody's end would bring us back here. */
		s->stats.stuck++;
		it = piq_oldest_of_all(s);
	}
	return it;
}

/**
 * piq_issue - a request leaves the queues for the driver
 * @s: the device
 * @it: what piq_next() has returned
 * @now: the time, ns
 */
static inline void piq_issue(struct piq_sched *s, struct piq_item *it, u64 now)
{
	enum flash_dir dir = piq_dir(it);
	struct piq_item *write = piq_oldest(s, PIQ_WRITE);

	if (it->kind == PIQ_READ && write && write->seq < it->seq)
		s->stats.prioritised++;
	if (it != piq_oldest(s, it->kind))
		s->stats.passes++;
	if (it->conflicts) {
		s->stats.waited[dir]++;
		s->stats.wait_ns[dir] += now - it->arrived;
	}
	piq_unwait(s, it);
	if (s->mode == PIQ_AUTO) {
		piq_pick_issue(s, it);
		if (piq_aware(s))
			piq_pay(s, it);
	} else {
		piq_batch_issue(s, it);
	}
}

/**
 * piq_take - the driver gets a request that counts as in flight
 * @s: the device
 * @it: the request
 * @now: the time, ns
 */
static inline void piq_take(struct piq_sched *s, struct piq_item *it, u64 now)
{
	u32 chip;

	/* Among requests that avoid each other, those that did not. */
	it->busy = piq_aware(s) ?
		   piq_load(s, it) >= s->depth :
		   piq_load(s, it) * s->geo.nr_chips > s->out;
	it->load = s->out;
	it->taken = now;
	it->nth = ++s->nth;
	it->out = true;
	s->out++;
	if (it->kind == PIQ_OTHER)
		return;
	piq_demand(s, it, true);
	flash_for_each_chip(chip, &it->part.vec) {
		flash_occupancy_take_one(&s->occ, chip, piq_dir(it));
		piq_chip_set(s, chip);
		s->stats.served[chip]++;
	}
}

/**
 * piq_take_head - the same of one that went past all queues
 * @s: the device
 * @it: its item
 * @kind: what it is
 * @sector: its first sector
 * @sectors: its length
 * @now: the time, ns
 */
static inline void piq_take_head(struct piq_sched *s, struct piq_item *it,
				 enum piq_kind kind, u64 sector, u32 sectors,
				 u64 now)
{
	piq_describe(it, kind, sector, sectors);
	it->part.batch = NULL;
	it->chip = FLASH_NO_CHIP;
	it->window = false;
	it->conflicts = false;
	it->urgent = false;
	flash_ring_init(&it->line);
	flash_ring_init(&it->rush);
	piq_vec(s, it, &it->part.vec);
	piq_take(s, it, now);
}

/**
 * piq_give - a request is done, or the driver has handed it back
 * @s: the device
 * @it: the request, which was issued; taken or, if it does not count, not
 */
static inline void piq_give(struct piq_sched *s, struct piq_item *it)
{
	enum flash_dir dir = piq_dir(it);
	u32 chip;

	if (it->out) {
		it->out = false;
		s->out--;
		it->counted = false;
		/* Others than reads and writes have none. */
		flash_for_each_chip(chip, &it->part.vec) {
			s->demand[dir][chip]--;
			flash_occupancy_release_one(&s->occ, chip, dir);
			piq_chip_set(s, chip);
		}
	} else {
		piq_demand(s, it, false);
	}
	/* Its batch may be of another mode than the one now. */
	flash_batches_remove(&s->b, &it->part);
	if (it->window) {
		it->window = false;
		s->inside--;
	}
	if (s->mode != PIQ_AUTO)
		piq_admit(s);
}

/**
 * piq_grow - a request that waits has taken a neighbour
 * @s: the device
 * @it: the request
 * @sector: where it starts now
 * @sectors: its length now
 */
static inline void piq_grow(struct piq_sched *s, struct piq_item *it,
			    u64 sector, u32 sectors)
{
	struct flash_chipvec v;

	piq_describe(it, it->kind, sector, sectors);
	if (it->kind == PIQ_OTHER)
		return;
	piq_demand(s, it, false);
	piq_vec(s, it, &v);
	if (s->mode == PIQ_AUTO)
		piq_pick_grow(s, it, &v);
	else
		piq_batch_grow(s, it, &v);
	piq_demand(s, it, true);
}

/* In the queues of the mode it takes the place of @gone, which waits there still. */
static inline void piq_replace(struct piq_sched *s, struct piq_item *it,
			       struct piq_item *gone)
{
	struct flash_chipvec v;

	flash_unlink(&it->order);
	flash_link_after(&it->order, &gone->order);
	if (it->kind == PIQ_OTHER || s->mode == PIQ_NOOP)
		return;
	if (s->mode == PIQ_AUTO) {
		piq_demand(s, it, false);
		piq_vec(s, it, &v);
		piq_pick_replace(s, it, gone, &v);
		piq_demand(s, it, true);
		return;
	}
	piq_batch_swap(s, it, gone);
	if (it->window)
		return;
	flash_unlink(&it->line);
	/* The oldest outside is the next one to be let in, when @gone has left. */
	flash_link_after(&it->line, gone->window ? &s->outside : &gone->line);
}

/**
 * piq_absorb - a request that waits has swallowed another one that waits
 * @s: the device
 * @it: the request; it inherits the place of @gone if that was first
 * @gone: the other one, of the same kind, and urgent if @it is
 * @sector: where @it starts now
 * @sectors: its length now
 *
 * Takes the same time however many wait, but for a heap of those that are late.
 */
static inline void piq_absorb(struct piq_sched *s, struct piq_item *it,
			      struct piq_item *gone, u64 sector, u32 sectors)
{
	piq_describe(it, it->kind, sector, sectors);
	if (gone->seq < it->seq) {
		it->seq = gone->seq;
		it->base = gone->base;
		it->arrived = gone->arrived;
		piq_replace(s, it, gone);
	}
	piq_demand(s, gone, false);
	piq_dequeue(s, gone);
	piq_unwait(s, gone);
	piq_grow(s, it, sector, sectors);
	piq_admit(s);
}

/* The layout that chips are computed by. */
static inline void piq_set_geometry(struct piq_sched *s)
{
	u32 generation = s->geo.generation;

	s->geo = s->given;
	/* The paper's modes need one: if none is known, all share a chip. */
	if (s->mode != PIQ_AUTO && !s->geo.nr_chips)
		flash_geometry_parse("page=4096 chips=1", &s->geo);
	s->geo.generation = generation + 1;
}

/* Merges two rings by arrival: the first one of both, or NULL. */
static inline struct piq_item *piq_first_of(struct flash_link **at,
					    struct flash_link *rings)
{
	struct piq_item *best = NULL;
	u32 dir, best_dir = 0;

	for (dir = 0; dir < FLASH_NR_DIRS; dir++) {
		struct piq_item *it;

		if (at[dir] == &rings[dir])
			continue;
		it = piq_of_order(at[dir]);
		if (!best || it->seq < best->seq) {
			best = it;
			best_dir = dir;
		}
	}
	if (best)
		at[best_dir] = at[best_dir]->next;
	return best;
}

/* Does what waits lie as it has to, however it is chosen from then? */
static inline bool piq_sorted(const struct piq_sched *s, enum piq_mode mode,
			      const struct flash_geometry *given, u64 offset,
			      const struct piq_tunables *tun)
{
	return s->mode == mode && s->offset == offset &&
	       flash_geometry_same(&s->given, given) &&
	       (mode <= PIQ_NOOP ||
		s->tun.queue_length == tun->queue_length);
}

/**
 * piq_set - change anything that the user can set, at any time
 * @s: the device
 * @mode: the mode
 * @given: the layout
 * @offset: sectors of the drive before the device
 * @tun: the tunables
 *
 * Only another mode, layout, offset or, in the paper's modes, queue_length takes
 * time that grows with what waits.
 */
static inline void piq_set(struct piq_sched *s, enum piq_mode mode,
			   const struct flash_geometry *given, u64 offset,
			   const struct piq_tunables *tun)
{
	struct flash_link *at[FLASH_NR_DIRS];
	struct piq_item *it;
	u32 dir;

	s->nr_reserved = 0;
	if (tun->chip_depth)
		s->depth = tun->chip_depth;
	if (piq_sorted(s, mode, given, offset, tun)) {
		s->tun = *tun;
		piq_chips_set(s);
		return;
	}
	for (dir = 0; dir < FLASH_NR_DIRS; dir++)
		at[dir] = s->order[dir].next;
	while ((it = piq_first_of(at, s->order))) {
		piq_demand(s, it, false);
		piq_dequeue(s, it);
		it->chip = FLASH_NO_CHIP;
	}
	s->mode = mode;
	s->given = *given;
	s->offset = offset;
	s->tun = *tun;
	piq_set_geometry(s);
	piq_chips_set(s);
	s->epoch = false;
	s->lead = 0;
	s->phase = FLASH_NR_DIRS;
	s->before = FLASH_WRITE;
	s->others_until = s->last_seq;
	for (dir = 0; dir < FLASH_NR_DIRS; dir++)
		at[dir] = s->order[dir].next;
	for (dir = 0; dir < PIQ_NR_ROWS; dir++)
		flash_chipvec_clear(&s->some[dir], &s->geo);
	while ((it = piq_first_of(at, s->order))) {
		piq_vec(s, it, &it->part.vec);
		piq_demand(s, it, true);
		piq_enqueue(s, it);
	}
}

/**
 * piq_sched_init - nothing waits, nothing is out
 * @s: the device, all zeroes
 * @pool: memory for PIQ_QUEUE_MAX batches, which stays the caller's
 * @tun: any tunables that are legal
 *
 * Mode auto without a layout; piq_set() changes that.
 */
static inline void piq_sched_init(struct piq_sched *s, struct flash_batch *pool,
				  const struct piq_tunables *tun)
{
	static const struct flash_geometry none;
	u32 dir, chip, kind;

	for (kind = 0; kind < PIQ_NR_KINDS; kind++)
		flash_ring_init(&s->order[kind]);
	flash_ring_init(&s->rush);
	s->depth = 1;
	for (dir = 0; dir < PIQ_NR_ROWS; dir++) {
		flash_ring_init(&s->wide[dir]);
		for (chip = 0; chip < FLASH_MAX_CHIPS; chip++)
			flash_ring_init(&s->line[dir][chip]);
	}
	flash_ring_init(&s->outside);
	s->pool = pool;
	flash_batches_init(&s->b, pool, PIQ_QUEUE_MAX);
	s->phase = FLASH_NR_DIRS;
	s->before = FLASH_WRITE;
	piq_set(s, PIQ_AUTO, &none, 0, tun);
}

#endif /* PIQ_SCHED_H */
