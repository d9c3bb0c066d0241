// SPDX-License-Identifier: GPL-2.0
/*
 * queue.c - requests enter and leave the queues of a device
 *
 * The device's lock is taken by flash_lock() and flash_lock_save(), which drain the
 * pending list first. So the lock's holder finds all requests that were submitted
 * before in the policy's queues, and no caller can forget to drain. flash_unlock() and
 * flash_unlock_restore() update flash_queue.held if it may have changed. Only code that
 * touches no request (a counter, a tunable) may use the spin lock itself.
 *
 * No run of a hardware queue has to follow a drain: the run of the task that added the
 * request to the pending list is on its way.
 */
#include "iosched.h"
#include "trace.h"

/* Add @rq to the list that precedes all queues, as its first or last request. */
static void flash_insert_head(struct flash_queue *fq, struct request *rq,
			      bool first)
{
	if (first)
		list_add(&rq->queuelist, &fq->head);
	else
		list_add_tail(&rq->queuelist, &fq->head);
	WRITE_ONCE(fq->nr_head, fq->nr_head + 1);
}

/* Add @rq with the record @fr. */
static void flash_insert_tracked(struct flash_queue *fq, struct flash_hctx *fh,
				 struct flash_rq *fr, struct request *rq, bool at_head)
{
	fq->stats.inserted++;

	/* The record still has the state of the tag's previous request. */
	if (rq->elv.priv[0] != fr) {
		if (fq->watches)
			memset(fr + 1, 0, flash_policy.rq_size - sizeof(*fr));
		fr->watched = fq->watches;
		fr->slot = FLASH_SLOT_IDLE;
		fr->seq = 0;
		fr->class = 0;
		fr->rq = rq;
		rq->elv.priv[0] = fr;
	}
	if (WARN_ON_ONCE(flash_slot_insert(&fr->slot))) {
		if (fr->watched) {
			static_call(flash_hook_completed)(fq, fr, false);
			fq->changed = true;
		}
		atomic_dec(&fq->inflight);
	}

	if (unlikely(at_head)) {
		fq->stats.head++;
		flash_insert_head(fq, rq, true);
		trace_flash_insert(fq, rq, NULL, FLASH_WHY_HEAD);
		return;
	}
	fr->seq = ++fq->seq;
	fr->class = static_call(flash_hook_rq_class)(fq, rq);
	static_call(flash_hook_insert)(fq, fr);
	if (fq->watches)
		fq->changed = true;
	flash_store_add(fq, rq);
	flash_queued_add(fq, fh);
	trace_flash_insert(fq, rq, fr, FLASH_WHY_ORDER);
}

/**
 * flash_insert - add a request to the policy's queues
 * @fq: the device, locked
 * @fh: the request's hardware queue
 * @rq: the request
 * @at_head: before everything
 */
void flash_insert(struct flash_queue *fq, struct flash_hctx *fh,
		  struct request *rq, bool at_head)
{
	struct flash_rq *fr = flash_hctx_rec(fh, rq);

	if (likely(fr && compat_rq_ours(rq))) {
		flash_insert_tracked(fq, fh, fr, rq, at_head);
		return;
	}
	/* Without a record its end cannot be accounted: not counted, dispatched at once. */
	fq->stats.inserted++;
	fq->stats.untracked++;
	flash_insert_head(fq, rq, at_head);
	trace_flash_insert(fq, rq, NULL, FLASH_WHY_UNTRACKED);
}

/**
 * flash_ask_holds - let the policy say whether it holds back all waiting requests
 * @fq: the device, locked
 *
 * flash_queue.held is a level, like the limit, which has_work() reads without the lock.
 * The hooks that may change it set flash_queue.changed, as do a policy's timers and
 * tunables. Drains and unlocking then call this function (flash_settle()): once, however
 * many requests were inserted or dispatched.
 *
 * Between a hook and this function readers without the lock may see the previous value,
 * which costs at most a run that dispatches nothing.
 *
 * A context that clears @held has to schedule a run if none is scheduled: after
 * flash_policy.insert() the block layer runs the hardware queue, after
 * flash_policy.select() the round continues, after flash_policy.completed()
 * flash_rq_ends() kicks, after a merge elv_bio_merge() kicks, and a change of a tunable
 * calls flash_resume(). A policy that holds all requests while none is in flight, and has
 * no timer armed, stalls the device.
 */
void flash_ask_holds(struct flash_queue *fq)
{
	bool held;

	lockdep_assert_held(&fq->lock);

	fq->changed = false;
	held = fq->watches && static_call(flash_hook_holds)(fq);
	if (fq->held != held)
		WRITE_ONCE(fq->held, held);
}

/**
 * flash_drain_pending - flash_drain(), if the pending list is not empty
 * @fq: the device, locked
 */
void flash_drain_pending(struct flash_queue *fq)
{
	struct llist_node *oldest;
	struct flash_rq *fr, *next;

	lockdep_assert_held(&fq->lock);

	oldest = flash_pending_take(fq);
	llist_for_each_entry_safe(fr, next, oldest, pending)
		flash_insert_tracked(fq, fr->rq->mq_hctx->sched_data, fr, fr->rq, false);
	flash_pending_taken(fq);
	flash_settle(fq);
}
