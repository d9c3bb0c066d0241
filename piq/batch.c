// SPDX-License-Identifier: GPL-2.0
/*
 * batch.c - the modes of the PIQ paper
 *
 * Problem: two requests for one chip are served one after the other while other chips are
 * idle. The paper's schemes dispatch requests so that they meet seldom:
 *
 *   noop	one FIFO. Its first request is dispatched when none of its chips is busy,
 *		and no request passes it (Figure 6).
 *   rws	reads and writes apart, each a FIFO with that rule
 *   piq_r	rws with reads in batches of requests that share no chip
 *   piq_w	rws with writes in batches
 *   piq	both in batches: Algorithm 1
 *
 * Reads and writes have turns. A turn serves the requests of its direction that waited when
 * it began. Later requests belong to the next turn, unless they join a batch of this one.
 * So reads precede only the writes that wait at the same moment. A FIFO's first request
 * needs its own chips free; the turn is over when its last request is dispatched.
 *
 * A batch begins when the batch before it in its list has ended and all of its chips are
 * free: the paper issues only "Batch_List.Head". With batch_overlap = 1 a turn's batches are
 * only an order: a request is dispatched when those before it are dispatched and its own
 * chips are free, as in a FIFO. The paper's text allows this reading, too.
 *
 * Invariants:
 * - At most queue_length waiting requests are in batches. The others wait outside, in order
 *   of arrival. Outstanding requests do not count: the paper varies the length of the
 *   scheduler's queue (Figure 11). With a length of 1 reads and writes are dispatched in
 *   order of arrival. Mode noop does not reorder, so it does not look at queue_length.
 * - Each outstanding request of a batch has a chip that no other request is given, so there
 *   are at most FLASH_MAX_CHIPS batches without waiting requests. Only data without an
 *   address has no chips, and can use up all batches. Then the others wait outside until
 *   one of it ends.
 * - A request of a FIFO is a batch that no other request can join. So both sorts of lists
 *   are one, and the id of a batch marks the end of a turn.
 * - Requests without chips (discards) are dispatched between two turns, if they waited when
 *   the turn before ended.
 *
 * Entry points: piq_turns_add() to piq_turns_release(), called by auto.c.
 */
#include "sched.h"

/* Does the mode put requests of this direction into batches? */
static bool piq_batched(enum piq_mode mode, enum flash_dir dir)
{
	return mode == PIQ_PIQ ||
	       mode == (dir == FLASH_READ ? PIQ_R : PIQ_W);
}

/**
 * piq_turns_init - no request yet
 * @t: the turns
 * @pool: memory for PIQ_NR_BATCHES batches, which stays the caller's
 */
void piq_turns_init(struct piq_turns *t, struct flash_batch *pool)
{
	INIT_LIST_HEAD(&t->outside);
	flash_batches_init(&t->batches, pool, PIQ_NR_BATCHES);
}

/**
 * piq_turns_reset - the next turn is one of reads, if reads wait
 * @s: the device
 */
void piq_turns_reset(struct piq_sched *s)
{
	s->turns.dir = FLASH_NR_DIRS;
	s->turns.last_dir = FLASH_WRITE;
	s->turns.last_other = s->last_seq;
}

/* Add a request to a batch; false if there is no unused one. */
static bool piq_batch_join(struct piq_sched *s, struct piq_req *req)
{
	struct flash_batches *b = &s->turns.batches;
	enum flash_dir dir = piq_dir(req);
	u64 last_id = b->last_id;

	if (!piq_batched(s->mode, dir)) {
		if (!flash_batches_begin(b, &req->part, dir))
			return false;
		/* No other request can join the batch of a FIFO's request. */
		flash_chipvec_range(&req->part.batch->vec, 0, s->geo.nr_chips);
		return true;
	}
	if (!flash_batches_add(b, &req->part, dir))
		return false;
	s->stats.batches += b->last_id != last_id;
	s->stats.batched++;
	return true;
}

/**
 * piq_turns_admit - let requests into queue_length while there is room
 * @s: the device
 */
void piq_turns_admit(struct piq_sched *s)
{
	struct piq_turns *t = &s->turns;
	struct piq_req *req;

	while (t->inside < s->tun.queue_length && !list_empty(&t->outside)) {
		req = list_first_entry(&t->outside, struct piq_req, line);
		if (!piq_batch_join(s, req))
			return;
		list_del_init(&req->line);
		t->inside++;
	}
}

/**
 * piq_turns_add - add a request with data as the youngest one
 * @s: the device
 * @req: the request
 */
void piq_turns_add(struct piq_sched *s, struct piq_req *req)
{
	INIT_LIST_HEAD(&req->line);
	if (s->mode == PIQ_NOOP)
		return;
	list_add_tail(&req->line, &s->turns.outside);
	piq_turns_admit(s);
}

/**
 * piq_turns_leave - take out a waiting request
 * @s: the device
 * @req: the request
 */
void piq_turns_leave(struct piq_sched *s, struct piq_req *req)
{
	list_del_init(&req->line);
	if (!req->part.batch)
		return;
	if (piq_batched(s->mode, piq_dir(req)))
		s->stats.batched--;
	flash_batches_remove(&s->turns.batches, &req->part);
	s->turns.inside--;
}

/**
 * piq_turns_grow - a waiting request has got other chips
 * @s: the device
 * @req: the request
 * @v: its chips now
 */
void piq_turns_grow(struct piq_sched *s, struct piq_req *req,
		    const struct flash_chipvec *v)
{
	struct flash_batch_part *part = &req->part;

	if (!part->batch || !piq_batched(s->mode, piq_dir(req))) {
		part->vec = *v;
		return;
	}
	if (flash_batch_grow(part, v))
		return;
	/* No batch may hold two requests that share a chip, so it moves. */
	flash_batches_remove(&s->turns.batches, part);
	part->vec = *v;
	s->stats.batched--;
	if (piq_batch_join(s, req))
		return;
	s->turns.inside--;
	list_add(&req->line, &s->turns.outside);
}

/* Two waiting requests of a FIFO exchange their batches, each of which has one request. */
static void piq_batch_swap(struct piq_req *req, struct piq_req *absorbed)
{
	struct flash_batch *batch = req->part.batch;

	if (batch)
		list_del(&req->part.link);
	list_replace(&absorbed->part.link, &req->part.link);
	req->part.batch = absorbed->part.batch;
	absorbed->part.batch = batch;
	if (batch)
		list_add(&absorbed->part.link, &batch->waiting);
}

/**
 * piq_turns_replace - a waiting request gets the place of an older one
 * @s: the device
 * @req: the request
 * @absorbed: the older request, which @req absorbs; it waits still
 */
void piq_turns_replace(struct piq_sched *s, struct piq_req *req, struct piq_req *absorbed)
{
	if (s->mode == PIQ_NOOP)
		return;
	/* The place in a FIFO is a batch, and its id may mark the end of the turn. */
	if (absorbed->part.batch && !piq_batched(s->mode, piq_dir(req))) {
		list_del_init(&req->line);
		piq_batch_swap(req, absorbed);
	}
	if (req->part.batch)
		return;
	/* The first one outside is let in as soon as @absorbed has left. */
	list_move(&req->line, absorbed->part.batch ? &s->turns.outside : &absorbed->line);
}

/* Are the chips free that a batch, or its first request, needs? */
static bool piq_batch_may_begin(const struct piq_sched *s, struct flash_batch *batch)
{
	bool all = !batch->outstanding && !s->tun.batch_overlap;

	return !flash_occupancy_load(&s->chips.occ, all ? &batch->vec :
				     &flash_batch_first(batch)->vec);
}

/* The next request of a turn in batches; sets @over if the turn is over. */
static struct piq_req *piq_turn_of_batches(struct piq_sched *s, bool *over)
{
	struct flash_batch *batch;

	list_for_each_entry(batch, &s->turns.batches.list[s->turns.dir], link) {
		if (batch->id > s->turns.last_batch)
			break;
		if (!flash_batch_first(batch)) {
			if (s->tun.batch_overlap)
				continue;
			return NULL;
		}
		if (!piq_batch_may_begin(s, batch))
			return NULL;
		return container_of(flash_batch_first(batch), struct piq_req, part);
	}
	*over = true;
	return NULL;
}

/* The next request of the turn, or NULL; sets @over if the turn is over. */
static struct piq_req *piq_turn(struct piq_sched *s, bool *over)
{
	struct piq_req *req;

	if (piq_batched(s->mode, s->turns.dir))
		return piq_turn_of_batches(s, over);
	req = piq_oldest(s, (enum piq_kind)s->turns.dir);
	if (!req || !req->part.batch || req->part.batch->id > s->turns.last_batch) {
		*over = true;
		return NULL;
	}
	return flash_occupancy_load(&s->chips.occ, &req->part.vec) ? NULL : req;
}

/* Begin a turn of the other direction than the last one, if requests of it are inside. */
static bool piq_turn_begin(struct piq_sched *s)
{
	struct piq_turns *t = &s->turns;
	enum flash_dir dir = !t->last_dir;
	unsigned int i;

	for (i = 0; i < FLASH_NR_DIRS; i++, dir = !dir) {
		struct piq_req *oldest = piq_oldest(s, (enum piq_kind)dir);

		/* The oldest one is let in first. */
		if (!oldest || !oldest->part.batch)
			continue;
		t->dir = dir;
		t->last_batch = list_last_entry(&t->batches.list[dir],
						struct flash_batch, link)->id;
		return true;
	}
	/* On an idle device reads have the first turn again. */
	if (!s->out)
		t->last_dir = FLASH_WRITE;
	return false;
}

/* The first request of the FIFO of mode noop, if it may be dispatched, or NULL. */
static struct piq_req *piq_noop_next(struct piq_sched *s)
{
	struct piq_req *req = piq_oldest_of_all(s);

	if (!req || req->kind == PIQ_OTHER)
		return req;
	return flash_occupancy_load(&s->chips.occ, &req->part.vec) ? NULL : req;
}

/**
 * piq_turns_next - the request to dispatch next
 * @s: the device, in a mode of the paper
 *
 * Return: the request, or NULL if none may be dispatched before others are done.
 */
struct piq_req *piq_turns_next(struct piq_sched *s)
{
	struct piq_turns *t = &s->turns;
	struct piq_req *req;
	unsigned int turns;

	if (s->mode == PIQ_NOOP)
		return piq_noop_next(s);
	for (turns = 0; turns < 3; turns++) {
		if (t->dir != FLASH_NR_DIRS) {
			bool over = false;

			req = piq_turn(s, &over);
			if (!over)
				return req;
			t->last_dir = t->dir;
			t->dir = FLASH_NR_DIRS;
			t->last_other = s->last_seq;
		}
		req = piq_oldest(s, PIQ_OTHER);
		if (req && (req->seq <= t->last_other ||
			    !(s->waiting[PIQ_READ] + s->waiting[PIQ_WRITE])))
			return req;
		if (!piq_turn_begin(s))
			return NULL;
	}
	return NULL;
}

/**
 * piq_turns_dispatch - take out a request that is dispatched
 * @s: the device
 * @req: the request, with data
 */
void piq_turns_dispatch(struct piq_sched *s, struct piq_req *req)
{
	if (s->mode == PIQ_NOOP)
		return;
	list_del_init(&req->line);
	if (req->part.batch) {
		flash_batch_dispatch(&req->part);
		s->turns.inside--;
	}
	piq_turns_admit(s);
}

/**
 * piq_turns_release - a dispatched request is done, or was requeued by the driver
 * @s: the device
 * @req: the request; its batch may be of an earlier mode
 */
void piq_turns_release(struct piq_sched *s, struct piq_req *req)
{
	flash_batches_remove(&s->turns.batches, &req->part);
	/* It may have had the last batch. */
	if (s->mode > PIQ_NOOP)
		piq_turns_admit(s);
}
