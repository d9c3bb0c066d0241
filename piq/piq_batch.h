/* SPDX-License-Identifier: GPL-2.0 */
/*
 * piq_batch.h - the order of the PIQ paper, scheme by scheme
 *
 * Pure logic, shared with the user-space unit tests: no kernel header.
 *
 *   noop	one FIFO. Its head goes when no chip of it is busy, and nobody goes
 *		before it (Figure 6).
 *   rws	reads and writes apart, each a FIFO with that rule.
 *   piq_r	rws with reads in batches of requests that share no chip.
 *   piq_w	rws with writes in batches.
 *   piq	both in batches: Algorithm 1.
 *
 * Reads and writes have turns. A turn serves what its direction had when the
 * turn began; what comes later belongs to the next turn, unless it joins a batch
 * of this one. So reads go before writes, but only those that wait at that
 * moment. The head of a FIFO needs its own chips, and its turn is over when the
 * last request of it has gone.
 *
 * A batch begins when the one before it in its list has ended and all of its
 * chips are free, and ends when all of it is done: only "Batch_List.Head" is
 * ever issued. With batch_overlap a turn's batches are an order and no more: a
 * request goes when those before it have gone and its own chips are free, as in
 * a FIFO. The paper's words allow that, too.
 *
 * A request of a FIFO is a batch of its own that nobody can join, so both sorts
 * of lists are one, and a turn ends with the number of a batch.
 *
 * Only queue_length requests at a time are looked at, those that are out among
 * them; what is beyond waits outside, in order of arrival. Requests without a
 * place on the chips go between two turns, those that wait at that moment.
 */
#ifndef PIQ_BATCH_H
#define PIQ_BATCH_H

#include "piq_order.h"

/** piq_batched - does the mode put requests of this direction into batches? */
static inline bool piq_batched(enum piq_mode mode, enum flash_dir dir)
{
	return mode == PIQ_PIQ ||
	       mode == (dir == FLASH_READ ? PIQ_R : PIQ_W);
}

/* Into a batch; false: no memory for one, which cannot be. */
static inline bool piq_join(struct piq_sched *s, struct piq_item *it)
{
	enum flash_dir dir = piq_dir(it);
	u64 ids = s->b.ids;

	if (!flash_batches_add(&s->b, &it->part, dir))
		return false;
	if (piq_batched(s->mode, dir)) {
		s->stats.batches += s->b.ids != ids;
		s->stats.batched++;
	} else {
		/* Nobody else gets into the batch of a FIFO's request. */
		flash_chipvec_range(&it->part.batch->vec, 0, s->geo.nr_chips);
	}
	return true;
}

/* From outside into queue_length. */
static inline bool piq_admit_one(struct piq_sched *s, struct piq_item *it)
{
	if (!piq_join(s, it))
		return false;
	flash_unlink(&it->line);
	it->window = true;
	s->inside++;
	return true;
}

/* Lets in whom queue_length has room for. */
static inline void piq_admit(struct piq_sched *s)
{
	while (s->inside < s->tun.queue_length &&
	       !flash_ring_empty(&s->outside)) {
		if (!piq_admit_one(s, piq_of_line(s->outside.next)))
			return;
	}
}

/* Takes a request out of the paper's queues, whatever its state. */
static inline void piq_batch_leave(struct piq_sched *s, struct piq_item *it)
{
	flash_unlink(&it->line);
	if (it->part.batch && !it->part.issued &&
	    piq_batched(s->mode, piq_dir(it)))
		s->stats.batched--;
	flash_batches_remove(&s->b, &it->part);
	if (!it->window)
		return;
	it->window = false;
	s->inside--;
}

/* A request that waits has got other chips. */
static inline void piq_batch_grow(struct piq_sched *s, struct piq_item *it,
				  const struct flash_chipvec *v)
{
	struct flash_batch_item *part = &it->part;

	if (!part->batch || !piq_batched(s->mode, piq_dir(it))) {
		part->vec = *v;
	} else if (flash_batch_grows(part, v)) {
		flash_batch_grow(part, v);
	} else {
		/* No batch may hold two that share a chip: it moves. */
		flash_batches_remove(&s->b, part);
		part->vec = *v;
		s->stats.batched--;
		if (!piq_join(s, it)) {
			/* All outside came later. */
			it->window = false;
			s->inside--;
			flash_link_after(&it->line, &s->outside);
		}
	}
}

/*
 * A request takes the place of an older one that it is about to swallow, which
 * gets its own. In a FIFO that place is a batch, whose number may be what keeps
 * the turn from being over.
 */
static inline void piq_batch_swap(struct piq_sched *s, struct piq_item *it,
				  struct piq_item *gone)
{
	struct flash_batch *batch = it->part.batch;
	bool window = it->window;

	if (s->mode <= PIQ_NOOP || it->kind == PIQ_OTHER || !gone->window ||
	    piq_batched(s->mode, piq_dir(it)))
		return;
	/* From outside, if that is where it was. */
	flash_unlink(&it->line);
	it->part.batch = gone->part.batch;
	it->part.batch->first = &it->part;
	it->part.batch->last = &it->part;
	it->window = true;
	gone->part.batch = batch;
	gone->window = window;
	if (batch) {
		batch->first = &gone->part;
		batch->last = &gone->part;
	}
}

/* Are the chips free that the first request of a batch, or all of it, needs? */
static inline bool piq_may_begin(const struct piq_sched *s,
				 const struct flash_batch *batch)
{
	bool all = !batch->outstanding && !s->tun.batch_overlap;

	return !flash_occupancy_load(&s->occ, all ? &batch->vec :
						    &batch->first->vec);
}

/* The next request of the turn of @dir; sets @over if the turn is over. */
static inline struct piq_item *piq_turn(struct piq_sched *s, enum flash_dir dir,
					bool *over)
{
	struct flash_batch *batch = s->b.head[dir];
	struct piq_item *it;

	*over = false;
	if (piq_batched(s->mode, dir)) {
		while (s->tun.batch_overlap && batch && !batch->first)
			batch = batch->next;
		if (!batch || batch->id > s->until) {
			*over = true;
			return NULL;
		}
		if (!batch->first || !piq_may_begin(s, batch))
			return NULL;
		return flash_link_of(batch->first, struct piq_item, part);
	}
	it = piq_oldest(s, (enum piq_kind)dir);
	if (!it || !it->part.batch || it->part.batch->id > s->until) {
		*over = true;
		return NULL;
	}
	return flash_occupancy_load(&s->occ, &it->part.vec) ? NULL : it;
}

/* Is there a request of @dir that could have a turn? The oldest is inside first. */
static inline bool piq_has_turn(struct piq_sched *s, enum flash_dir dir)
{
	struct piq_item *it = piq_oldest(s, (enum piq_kind)dir);

	return it && it->part.batch;
}

/**
 * piq_batch_next - the request that goes next
 * @s: the device, in a mode of the paper
 *
 * Return: the request, or NULL: nothing may go before others are done.
 */
static inline struct piq_item *piq_batch_next(struct piq_sched *s)
{
	struct piq_item *it;
	enum flash_dir dir;
	bool over;
	int turns;

	if (s->mode == PIQ_NOOP) {
		it = piq_oldest_of_all(s);
		if (!it || (it->kind != PIQ_OTHER &&
			    (s->inside >= s->tun.queue_length ||
			     flash_occupancy_load(&s->occ, &it->part.vec))))
			return NULL;
		return it;
	}
	for (turns = 0; turns < 3; turns++) {
		if (s->phase != FLASH_NR_DIRS) {
			it = piq_turn(s, s->phase, &over);
			if (!over)
				return it;
			s->before = s->phase;
			s->phase = FLASH_NR_DIRS;
			s->others_until = s->last_seq;
		}
		it = piq_oldest(s, PIQ_OTHER);
		if (it && (it->seq <= s->others_until ||
			   !(s->waiting[PIQ_READ] + s->waiting[PIQ_WRITE])))
			return it;
		dir = s->before == FLASH_READ ? FLASH_WRITE : FLASH_READ;
		if (!piq_has_turn(s, dir))
			dir = !dir;
		if (!piq_has_turn(s, dir)) {
			/* Who comes to an idle device begins anew. */
			if (!s->out)
				s->before = FLASH_WRITE;
			return NULL;
		}
		s->phase = dir;
		s->until = s->b.tail[dir]->id;
	}
	return NULL;
}

/* Takes out the request that piq_batch_next() has returned. */
static inline void piq_batch_issue(struct piq_sched *s, struct piq_item *it)
{
	if (it->kind == PIQ_OTHER)
		return;
	if (s->mode == PIQ_NOOP) {
		it->window = true;
		s->inside++;
		return;
	}
	if (!it->part.batch) {
		flash_unlink(&it->line);
		return;
	}
	flash_batch_issue(&it->part);
}

#endif /* PIQ_BATCH_H */
