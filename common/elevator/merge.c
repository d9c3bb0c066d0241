// SPDX-License-Identifier: GPL-2.0
/*
 * merge.c - finding and merging neighbours among queued requests
 *
 * The hooks below run under flash_queue.lock, which flash_bio_merge() takes:
 * the core calls them from inside blk_mq_sched_try_merge(). Insertion does not
 * look for merges a second time: every bio was offered to the queued requests
 * before it became a request, and the core's insert-time merge asks no hook
 * whether two requests may merge, so that it could cross a class.
 *
 * Most bios join nobody. Where requests come without the lock (pending.c) it is not
 * taken to find that out, either: see seam.h.
 */
#include <linux/mm.h>

#include "iosched.h"

static struct rb_root *flash_sort_root(struct flash_queue *fq,
				       const struct request *rq)
{
	return &fq->store.sort[rq_data_dir(rq)];
}

/**
 * flash_store_init - an empty store
 * @fq: the device, which has its hardware queues counted
 *
 * Return: 0 or -ENOMEM.
 */
int flash_store_init(struct flash_queue *fq)
{
	struct flash_seams *seams = &fq->store.seams;

	fq->store.sort[READ] = RB_ROOT;
	fq->store.sort[WRITE] = RB_ROOT;
	if (!flash_policy.lockless_insert)
		return 0;
	seams->bits = flash_seams_bits(fq->nr_hctx);
	seams->count = kvzalloc_node(sizeof(*seams->count) << seams->bits,
				     GFP_KERNEL, fq->q->node);
	return seams->count ? 0 : -ENOMEM;
}

/** flash_store_free - undo flash_store_init(), also if it has failed */
void flash_store_free(struct flash_queue *fq)
{
	kvfree(fq->store.seams.count);
}

/**
 * flash_store_expect - bios may join a request that is about to come
 * @fq: the device
 * @fr: its record, of which only flash_rq.rq is set
 *
 * No lock. Until flash_store_del().
 */
void flash_store_expect(struct flash_queue *fq, struct flash_rq *fr)
{
	const struct request *rq = fr->rq;

	if (elv_rq_mergeable(rq))
		flash_seams_set(&fq->store.seams, &fr->seam, blk_rq_pos(rq),
				blk_rq_pos(rq) + blk_rq_sectors(rq));
}

/* Could @bio join anything that waits? No lock. */
static bool flash_store_may(const struct flash_queue *fq, struct bio *bio)
{
	if (!flash_inbox_waits(fq) && !READ_ONCE(fq->queued))
		return false;
	/* These need not touch each other. */
	return bio_op(bio) == REQ_OP_DISCARD ||
	       flash_seams_may(&fq->store.seams, bio->bi_iter.bi_sector,
			       bio_end_sector(bio));
}

/**
 * flash_store_add - let later bios find @rq
 * @fq: the device, locked
 * @rq: a request in the policy's queues
 */
void flash_store_add(struct flash_queue *fq, struct request *rq)
{
	struct request_queue *q = fq->q;

	lockdep_assert_held(&fq->lock);

	RB_CLEAR_NODE(&rq->rb_node);
	INIT_HLIST_NODE(&rq->hash);
	if (!elv_rq_mergeable(rq))
		return;
	elv_rb_add(flash_sort_root(fq, rq), rq);
	elv_rqhash_add(q, rq);
	if (!q->last_merge)
		q->last_merge = rq;
}

/**
 * flash_store_del - @rq leaves the policy's queues
 * @fq: the device, locked
 * @rq: the request
 */
void flash_store_del(struct flash_queue *fq, struct request *rq)
{
	struct request_queue *q = fq->q;

	lockdep_assert_held(&fq->lock);

	if (!RB_EMPTY_NODE(&rq->rb_node))
		elv_rb_del(flash_sort_root(fq, rq), rq);
	elv_rqhash_del(q, rq);
	flash_seams_del(&fq->store.seams, &flash_rq_of(rq)->seam);
	if (q->last_merge == rq)
		q->last_merge = NULL;
}

/**
 * flash_bio_merge - merge a new bio into a queued request
 * @q: the request queue
 * @bio: the bio
 * @nr_segs: its segments
 *
 * Submission context. Return: true if a request has taken the bio.
 */
bool flash_bio_merge(struct request_queue *q, struct bio *bio,
		     unsigned int nr_segs)
{
	struct flash_queue *fq = elv_queue_data(q);
	struct request *gone = NULL;
	unsigned long flags;
	bool merged, held;

	if (!flash_store_may(fq, bio))
		return false;

	spin_lock_irqsave(&fq->lock, flags);
	flash_take_in(fq);
	held = fq->held;
	merged = blk_mq_sched_try_merge(q, bio, nr_segs, &gone);
	fq->stats.merged += merged;
	held = held && !fq->held;
	spin_unlock_irqrestore(&fq->lock, flags);

	/* A request that has grown may go where it could not; nobody runs for that. */
	if (unlikely(held))
		flash_kick(fq, fq->nr_hctx);

	/* Ends in finish_request() and wakes waiters: not under the lock. */
	if (gone)
		blk_mq_free_request(gone);
	return merged;
}

/**
 * flash_allow_merge - may @rq take @bio?
 * @q: the request queue, its flash_queue locked
 * @rq: a queued request
 * @bio: the bio
 */
bool flash_allow_merge(struct request_queue *q, struct request *rq,
		       struct bio *bio)
{
	struct flash_queue *fq = elv_queue_data(q);

	/*
	 * Only the first bio of a request learns where to poll, and a poll queue
	 * has no interrupt: whoever joined or was pushed back would be waited
	 * for by nobody.
	 */
	if ((rq->cmd_flags | bio->bi_opf) & REQ_POLLED)
		return false;
	/* Here, as the core looks at the last request that took one by itself. */
	if (flash_policy.front_merges && bio_end_sector(bio) == blk_rq_pos(rq) &&
	    !flash_policy.front_merges(fq))
		return false;
	return flash_rq_of(rq)->class == static_call(flash_hook_bio_class)(fq, bio);
}

/**
 * flash_request_merge - find a request that starts where @bio ends
 * @q: the request queue, its flash_queue locked
 * @rq: where to put it
 * @bio: the bio
 */
int flash_request_merge(struct request_queue *q, struct request **rq,
			struct bio *bio)
{
	struct flash_queue *fq = elv_queue_data(q);
	struct request *next;

	next = elv_rb_find(&fq->store.sort[bio_data_dir(bio)],
			   bio_end_sector(bio));
	if (!next || !elv_bio_merge_ok(next, bio))
		return ELEVATOR_NO_MERGE;
	*rq = next;
	return elv_discard_mergeable(next) ? ELEVATOR_DISCARD_MERGE :
					     ELEVATOR_FRONT_MERGE;
}

/**
 * flash_request_merged - @rq has taken a bio
 * @q: the request queue, its flash_queue locked
 * @rq: the request
 * @type: at which end
 */
void flash_request_merged(struct request_queue *q, struct request *rq,
			  enum elv_merge type)
{
	struct flash_queue *fq = elv_queue_data(q);

	flash_store_expect(fq, flash_rq_of(rq));
	if (type == ELEVATOR_FRONT_MERGE) {
		elv_rb_del(flash_sort_root(fq, rq), rq);
		elv_rb_add(flash_sort_root(fq, rq), rq);
	}
	if (fq->watches)
		flash_policy.grown(fq, flash_rq_of(rq));
}

/**
 * flash_requests_merged - @rq has taken the whole of @next
 * @q: the request queue, its flash_queue locked
 * @rq: the request that stays queued
 * @next: the one that the core is about to free
 */
void flash_requests_merged(struct request_queue *q, struct request *rq,
			   struct request *next)
{
	struct flash_queue *fq = elv_queue_data(q);
	struct flash_rq *fr = flash_rq_of(rq), *gone = flash_rq_of(next);

	lockdep_assert_held(&fq->lock);

	flash_store_del(fq, next);
	flash_store_expect(fq, fr);
	flash_policy.merged(fq, fr, gone);
	flash_queued_del(fq, next->mq_hctx->sched_data);
	flash_slot_finish(&gone->slot);
	fq->stats.absorbed++;
}

/* A neighbour in the tree, unless it may not merge with @rq (see above). */
static struct request *flash_same_class(struct request *rq,
					struct request *other)
{
	if (!other || flash_rq_of(rq)->class != flash_rq_of(other)->class ||
	    (rq->cmd_flags | other->cmd_flags) & REQ_POLLED)
		return NULL;
	return other;
}

/**
 * flash_former_request - the queued request that starts before @rq
 * @q: the request queue, its flash_queue locked
 * @rq: a queued request
 */
struct request *flash_former_request(struct request_queue *q,
				     struct request *rq)
{
	return flash_same_class(rq, elv_rb_former_request(q, rq));
}

/**
 * flash_next_request - the queued request that starts after @rq
 * @q: the request queue, its flash_queue locked
 * @rq: a queued request
 */
struct request *flash_next_request(struct request_queue *q, struct request *rq)
{
	return flash_same_class(rq, elv_rb_latter_request(q, rq));
}
