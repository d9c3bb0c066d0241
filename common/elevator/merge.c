// SPDX-License-Identifier: GPL-2.0
/*
 * merge.c - finding and merging neighbours among queued requests
 *
 * Bios are offered to the waiting requests by elv_bio_merge() in elevator.c. Insertion
 * does not look for merges a second time: every bio was offered before it became a
 * request, and the core's insert-time merge asks no hook whether two requests may merge,
 * so it could cross a class.
 *
 * Most bios merge with no request, which is found out without the lock: see seam.h. And
 * most requests are dispatched soon after they are drained. So a request costs nothing here
 * unless it still waits when the lock is released (flash_store_fresh()). Its bios are
 * expected from then on, or earlier if it is likely to wait in the pending list
 * (flash_pending_waits()). It enters the lookup when a bio has to be looked up; until then
 * up to FLASH_NOTED_MOST requests are in a list, which is cheaper to enter and to leave.
 */
#include <linux/mm.h>

#include "iosched.h"

/* It limits the time for which the lock is held when a bio is looked up. */
#define FLASH_NOTED_MOST	16

static struct rb_root *flash_sort_root(struct flash_queue *fq,
				       const struct request *rq)
{
	return &fq->sort[rq_data_dir(rq)];
}

/**
 * flash_store_init - an empty store
 * @fq: the device, which has its hardware queues counted
 *
 * Return: 0 or -ENOMEM.
 */
int flash_store_init(struct flash_queue *fq)
{
	struct flash_seams *seams = &fq->seams;

	fq->sort[READ] = RB_ROOT;
	fq->sort[WRITE] = RB_ROOT;
	seams->bits = flash_seams_bits(fq->nr_hctx);
	seams->count = kvzalloc_node(sizeof(*seams->count) << seams->bits,
				     GFP_KERNEL, fq->q->node);
	return seams->count ? 0 : -ENOMEM;
}

/** flash_store_free - undo flash_store_init(), also if it has failed */
void flash_store_free(struct flash_queue *fq)
{
	kvfree(fq->seams.count);
}

/**
 * flash_store_expect - bios may join a request that is about to be added
 * @fq: the device
 * @fr: its record
 *
 * No lock. Until flash_store_del().
 */
__always_inline void flash_store_expect(struct flash_queue *fq, struct flash_rq *fr)
{
	const struct request *rq = fr->rq;

	if (compat_rq_mergeable(rq))
		flash_seams_add(&fq->seams, &fr->seam, blk_rq_pos(rq),
				blk_rq_pos(rq) + blk_rq_sectors(rq));
}

/**
 * flash_store_grown - a waiting request has taken a bio
 * @fq: the device, locked
 * @fr: its record
 */
void flash_store_grown(struct flash_queue *fq, struct flash_rq *fr)
{
	const struct request *rq = fr->rq;

	flash_seams_set(&fq->seams, &fr->seam, blk_rq_pos(rq),
			blk_rq_pos(rq) + blk_rq_sectors(rq));
}

/**
 * flash_store_may - could a bio join a request that waits?
 * @fq: the device
 * @bio: the bio
 *
 * No lock. A false "no" does not occur.
 */
__always_inline bool flash_store_may(const struct flash_queue *fq, struct bio *bio)
{
	/* These need not touch each other. */
	return bio_op(bio) == REQ_OP_DISCARD ||
	       flash_seams_may(&fq->seams, bio->bi_iter.bi_sector,
			       bio_end_sector(bio));
}

/* @fr enters the lookup. */
static noinline void flash_store_enter(struct flash_queue *fq, struct flash_rq *fr)
{
	struct request_queue *q = fq->q;
	struct request *rq = fr->rq;

	fr->lookup = FLASH_LOOKUP_STORED;
	elv_rb_add(flash_sort_root(fq, rq), rq);
	elv_rqhash_add(q, rq);
	if (!q->last_merge)
		q->last_merge = rq;
}

/**
 * flash_store_add - let later bios find a request
 * @fq: the device, locked
 * @fr: its record; the request is in the policy's queues
 */
void flash_store_add(struct flash_queue *fq, struct flash_rq *fr)
{
	struct request *rq = fr->rq;

	lockdep_assert_held(&fq->lock);

	if (fr->lookup || !compat_rq_mergeable(rq))
		return;
	if (!fr->seam.begin)
		flash_store_expect(fq, fr);
	if (fq->nr_noted == FLASH_NOTED_MOST) {
		flash_store_enter(fq, fr);
		return;
	}
	fr->lookup = FLASH_LOOKUP_NOTED;
	hlist_add_head(&rq->hash, &fq->noted);
	fq->nr_noted++;
}

/**
 * flash_store_fresh - flash_store_add() for the requests that were drained and still wait
 * @fq: the device, locked
 */
void flash_store_fresh(struct flash_queue *fq)
{
	struct llist_node *node = fq->fresh;
	struct flash_rq *fr;

	fq->fresh = NULL;
	while (node) {
		fr = llist_entry(node, struct flash_rq, pending);
		node = node->next;
		if (fr->slot == FLASH_SLOT_QUEUED)
			flash_store_add(fq, fr);
	}
}

/**
 * flash_store_all - complete the lookup, before a bio is looked up
 * @fq: the device, locked
 */
void flash_store_all(struct flash_queue *fq)
{
	struct hlist_node *next;
	struct request *rq;

	flash_store_fresh(fq);
	hlist_for_each_entry_safe(rq, next, &fq->noted, hash) {
		hlist_del_init(&rq->hash);
		flash_store_enter(fq, flash_rq_of(rq));
	}
	fq->nr_noted = 0;
}

/* The lookup forgets @fr. */
static noinline void flash_store_forget(struct flash_queue *fq, struct flash_rq *fr)
{
	struct request_queue *q = fq->q;
	struct request *rq = fr->rq;

	elv_rb_del(flash_sort_root(fq, rq), rq);
	elv_rqhash_del(q, rq);
	if (q->last_merge == rq)
		q->last_merge = NULL;
}

/**
 * flash_store_del - a request leaves the policy's queues
 * @fq: the device, locked
 * @fr: its record
 */
__always_inline void flash_store_del(struct flash_queue *fq, struct flash_rq *fr)
{
	lockdep_assert_held(&fq->lock);

	flash_seams_del(&fq->seams, &fr->seam);
	if (likely(!fr->lookup))
		return;
	if (fr->lookup == FLASH_LOOKUP_STORED) {
		flash_store_forget(fq, fr);
	} else {
		hlist_del_init(&fr->rq->hash);
		fq->nr_noted--;
	}
	fr->lookup = FLASH_LOOKUP_NONE;
}

/**
 * flash_store_find - the request that starts where a bio ends, or NULL
 * @fq: the device, locked
 * @bio: the bio
 */
struct request *flash_store_find(struct flash_queue *fq, const struct bio *bio)
{
	return elv_rb_find(&fq->sort[bio_data_dir(bio)], bio_end_sector(bio));
}

/**
 * flash_store_move - a request starts at another sector now
 * @fq: the device, locked
 * @rq: the request
 */
void flash_store_move(struct flash_queue *fq, struct request *rq)
{
	lockdep_assert_held(&fq->lock);

	elv_rb_del(flash_sort_root(fq, rq), rq);
	elv_rb_add(flash_sort_root(fq, rq), rq);
}
