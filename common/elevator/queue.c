// SPDX-License-Identifier: GPL-2.0
/*
 * queue.c - requests enter the queues of a device, and the policy chooses
 *
 * The device's lock is taken by flash_lock(), which drains arrivals and ends first
 * (pending.c). So the lock's holder finds all requests that were submitted before in the
 * policy's queues, and no caller can forget to drain. Only code that touches no request
 * (a counter, a tunable) may use the spin lock itself.
 *
 * No run of a hardware queue has to follow a drain: the run of the task that added the
 * request to the pending list is on its way, and each end runs a hardware queue where
 * necessary.
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
	flash_waits_add(fq, FLASH_WAITS_ONE);
}

/**
 * flash_rq_begin - a request arrives
 * @fq: the device
 * @fr: its record, which still has the state of the tag's previous request
 * @rq: the request
 *
 * No lock.
 */
__always_inline void flash_rq_begin(struct flash_queue *fq, struct flash_rq *fr,
				    struct request *rq)
{
	fr->watched = READ_ONCE(fq->watches);
	fr->rq = rq;
	fr->slot = FLASH_SLOT_IDLE;
	fr->seq = 0;
	fr->class = 0;
	fr->lookup = FLASH_LOOKUP_NONE;
	fr->seam.begin = 0;
	/* A request that follows a flush was allocated before that. */
	fr->time = unlikely(rq->rq_flags & RQF_FLUSH_SEQ) ? ktime_get_ns() :
							    rq->start_time_ns;
	fr->by = current;
	flash_hook_arrived(fq, fr);
}

/**
 * flash_identify - a request gets its record, sequence number and class
 * @fq: the device, locked
 * @fr: its record
 */
__always_inline void flash_identify(struct flash_queue *fq, struct flash_rq *fr)
{
	fr->rq->elv.priv[0] = fr;
	fr->seq = ++fq->seq;
	fr->class = flash_hook_rq_class(fq, fr->rq);
}

/**
 * flash_enter - a request enters the policy's queues
 * @fq: the device, locked
 * @fr: its record, after flash_identify()
 *
 * It is not counted as waiting here.
 */
__always_inline void flash_enter(struct flash_queue *fq, struct flash_rq *fr)
{
	flash_policy.insert(fq, fr);
	if (flash_watches(fq))
		flash_change(fq);
}

/* flash_enter(), not inline */
static noinline void flash_enter_one(struct flash_queue *fq, struct flash_rq *fr)
{
	flash_identify(fq, fr);
	flash_enter(fq, fr);
}

/* A request is inserted that has a slot; see flash_slot_insert(). */
static noinline void flash_insert_again(struct flash_queue *fq, struct flash_rq *fr)
{
	if (flash_watched(fr)) {
		flash_policy.completed(fq, fr, false);
		fq->out--;
		flash_change(fq);
	}
	atomic_dec(&fq->inflight);
}

/**
 * flash_insert_tracked - add a request with a record to the policy's queues
 * @fq: the device, locked
 * @fh: the request's hardware queue
 * @fr: the record, prepared by flash_rq_begin()
 * @rq: the request
 * @at_head: before everything
 */
__always_inline void flash_insert_tracked(struct flash_queue *fq, struct flash_hctx *fh,
					  struct flash_rq *fr, struct request *rq,
					  bool at_head)
{
	lockdep_assert_held(&fq->lock);

	fq->stats.inserted++;
	if (WARN_ON_ONCE(flash_slot_insert(&fr->slot)))
		flash_insert_again(fq, fr);

	if (unlikely(at_head)) {
		fq->stats.head++;
		rq->elv.priv[0] = fr;
		flash_insert_head(fq, rq, true);
		trace_flash_insert(fq, rq, NULL, FLASH_WHY_HEAD);
		return;
	}
	flash_enter_one(fq, fr);
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
	struct flash_rq *fr = compat_rq_ours(rq) ? flash_rq_of(rq) : NULL;

	if (!fr && compat_rq_ours(rq)) {
		fr = flash_hctx_rec(fh, rq);
		if (fr)
			flash_rq_begin(fq, fr, rq);
	}
	if (likely(fr)) {
		if (flash_watches(fq))
			flash_update_now(fq);
		flash_insert_tracked(fq, fh, fr, rq, at_head);
		if (!at_head)
			flash_store_add(fq, fr);
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
 * What may change it sets flash_queue.changed. The policy chooses when a choice is needed
 * (flash_settle()): in elv_dispatch_request() before the choice, and in has_work() while
 * all requests were held back. So it chooses once a request, however many events there
 * were.
 *
 * Until then readers without the lock see the previous value. If it is false, has_work()
 * may be true too early, and a run finds nothing to dispatch and sets @held. If it is true,
 * a reader that sees @changed or a pending event lets the policy choose: it may never hide
 * work.
 *
 * So a context that may clear @held has to schedule a run if none is scheduled: after an
 * insertion the block layer runs the hardware queue, after flash_policy.select() the round
 * continues, after an end flash_release() kicks (see flash_needs_run()), after a merge
 * elv_bio_merge() kicks, and a change of a tunable calls flash_resume(). A policy that holds
 * all requests while none is in flight, and has no timer armed, stalls the device.
 */
void flash_ask_holds(struct flash_queue *fq)
{
	bool held;

	lockdep_assert_held(&fq->lock);

	held = flash_watches(fq) && fq->queued && flash_hook_holds(fq);
	if (fq->held != held)
		/* After @left of flash_ready_settled(). Pairs with flash_needs_run(). */
		smp_store_release(&fq->held, held);
	/* After @held. Pairs with flash_slot_for_any(). */
	smp_store_release(&fq->changed, false);
	/*
	 * @held before the lists: elv_dispatch_request() or flash_ready_settled() sees an
	 * end or an arrival that has not seen @held. Pairs with the barriers in
	 * flash_pending_add(), flash_release() and flash_ask_again().
	 */
	if (held)
		smp_mb();
}
