// SPDX-License-Identifier: GPL-2.0
/*
 * round.c - which requests are dispatched in a round
 *
 * In one round of a hardware queue the block layer dispatches as many requests as it can get,
 * and calls elv_dispatch_request() for each. If several requests wait in the policy's queues,
 * as after the flush of a plug, the first call chooses up to FLASH_ROUND_MOST others while it
 * has the lock, in the policy's order. The calls that follow take them from an array, without
 * the lock. They differ from requests that are chosen one by one in this alone: what arrives
 * or ends in the meantime is known to the policy a few requests later.
 *
 * Chosen requests are in flight: each has its slot, and the policy has seen its start. A round
 * may end before all of them are taken, as the driver is busy. So they belong to the device and
 * not to the task: any round of any hardware queue takes them, before it chooses. They count as
 * waiting that precede all others (flash_any_waits(), flash_precedes()), so has_work() is true,
 * and completions kick.
 *
 * An urgent request does not wait for them: once a task or a request of a device was urgent, its
 * requests are chosen one by one (@one_by_one). So are those of drivers that hand out a
 * budget for each command, and of hardware queues that are busy, as the rounds of these may end
 * after any request. Nothing else is chosen while a set is left.
 *
 * @left and @rq are a stack of which the lock's holder fills a whole set when it is empty, while
 * any context takes its top with a compare-and-exchange. The count of sets in @left makes a
 * context that has read the top of an older set fail.
 */
#include "iosched.h"
#include "trace.h"

/**
 * flash_may_choose - may a request of the policy's queues be chosen?
 * @fq: the device, locked, with requests in its queues
 *
 * As flash_ready(), but events since the drain do not count: requests that were added to the
 * pending list are left to their submitter's run, and requests that are held stay held until the
 * policy is asked.
 */
static __always_inline bool flash_may_choose(struct flash_queue *fq)
{
	return !fq->held && flash_slot_free(atomic_read(&fq->inflight), fq->bound) &&
	       !(unlikely(READ_ONCE(fq->first.rq)) && flash_first_refuses(fq));
}

/**
 * flash_choose - let the policy choose the next request of its queues
 * @fq: the device, locked, and settled
 *
 * Return: NULL if none may be dispatched; then flash_queue.pass_on may be set.
 */
struct request *flash_choose(struct flash_queue *fq)
{
	struct flash_rq *fr;

	if (!fq->queued || !flash_may_choose(fq))
		return NULL;
	flash_tell_why(fq, FLASH_WHY_ORDER);
	fr = flash_policy.select(fq);
	if (flash_watches(fq))
		flash_change(fq);
	if (!fr)
		return NULL;
	flash_store_del(fq, fr);
	flash_take(fq, fr);
	flash_queued_del(fq, fr->rq->mq_hctx->sched_data);
	trace_flash_dispatch(fq, fr->rq, fr, fq->why);
	fr->rq->rq_flags |= RQF_STARTED;
	return fr->rq;
}

/* Is the block layer about to issue several requests at once? */
static bool flash_round_goes_on(const struct flash_queue *fq, const struct blk_mq_hw_ctx *hctx)
{
	return !READ_ONCE(hctx->dispatch_busy) && !fq->q->mq_ops->get_budget &&
	       !READ_ONCE(fq->urgent_seen) && !fq->one_by_one;
}

/**
 * flash_round_choose - choose the requests of a round that follow the first one
 * @fq: the device, locked; no request of an earlier set is left
 * @hctx: the hardware queue of the round
 */
void flash_round_choose(struct flash_queue *fq, const struct blk_mq_hw_ctx *hctx)
{
	struct flash_round *round = &fq->round;
	struct request *rqs[FLASH_ROUND_MOST];
	unsigned long left = READ_ONCE(round->left);
	unsigned int nr, n;

	lockdep_assert_held(&fq->lock);

	if (WARN_ON_ONCE(left & FLASH_ROUND_NR) || !flash_round_goes_on(fq, hctx))
		return;
	/*
	 * The policy is not asked for more while the limit is reached, nor for requests that
	 * the driver would hand back: they would be served in the order of this moment.
	 */
	for (nr = 0; nr < FLASH_ROUND_MOST && fq->queued &&
	     flash_slot_free(atomic_read(&fq->inflight), min(fq->bound, fq->depth)); nr++) {
		if (flash_watches(fq))
			flash_update_now(fq);
		flash_settle(fq);
		rqs[nr] = flash_choose(fq);
		if (!rqs[nr])
			break;
	}
	if (!nr)
		return;
	/* Their records must not be in the list of @fresh ones when they are issued. */
	if (fq->fresh)
		flash_store_fresh(fq);
	for (n = 0; n < nr; n++)
		WRITE_ONCE(round->rq[n], rqs[nr - 1 - n]);
	fq->stats.together += nr;
	WRITE_ONCE(fq->waits, fq->waits | FLASH_WAITS_CHOSEN);
	/* The requests before their number: pairs with flash_round_take(). */
	smp_store_release(&round->left, left + FLASH_ROUND_SET + nr);
}

/**
 * flash_round_take - take the next of the requests that were chosen
 * @fq: the device
 *
 * With or without the lock. Return: NULL if none is left.
 */
struct request *flash_round_take(struct flash_queue *fq)
{
	struct flash_round *round = &fq->round;
	unsigned long left;
	struct request *rq;

	do {
		left = smp_load_acquire(&round->left);
		if (!(left & FLASH_ROUND_NR))
			return NULL;
		rq = READ_ONCE(round->rq[(left & FLASH_ROUND_NR) - 1]);
	} while (cmpxchg(&round->left, left, left - 1) != left);
	return rq;
}
