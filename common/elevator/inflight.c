// SPDX-License-Identifier: GPL-2.0
/*
 * inflight.c - the in-flight limit, and which hardware queue is run
 *
 * A limit on requests in flight stalls the device for ever if a wake-up is lost. The
 * invariant against that: whenever a request waits and a slot is free, a run of a
 * hardware queue is scheduled, or the context that made both true schedules one. These
 * events make both true:
 *
 *   - a request is inserted, or added to the pending list (pending.c): the block layer
 *     runs its hardware queue next;
 *   - a request ends and frees its slot: flash_release() kicks, or flash_rq_ends() in
 *     elevator.c if the policy watches, unless flash_needs_run() finds that a run is
 *     scheduled;
 *   - the limit is raised: flash_resume() kicks;
 *   - the policy stops holding requests back: see flash_settle(). If it does so because
 *     time has passed, its timer kicks;
 *   - the request that had to be issued first has been issued, or its time is over: see
 *     flash_issue_first().
 *
 * A slot is freed without the lock, unless the policy watches, and the kick never takes
 * it. Full barriers close the race of a dispatcher that finds no free slot against a
 * completion that finds no waiting request: insertion writes the pending list or @queued
 * and then reads @inflight; completion writes @inflight and then reads both. At least one
 * of the two sees the other's write.
 *
 * Entry points: flash_ready() is has_work(); flash_kick() schedules a run;
 * flash_take() and flash_release() count.
 */
#include <linux/preempt.h>

#define FLASH_COMPAT_TIMER
#include "iosched.h"

/*
 * A request that must be issued first blocks all others for at least this time and at
 * most twice this time, ns. The value exceeds a time slice of the CPU scheduler, 3 ms by
 * default, so the order holds if the task is preempted once between choice and issue.
 */
#define FLASH_FIRST_NS		(4 * NSEC_PER_MSEC)

/*
 * Completions in a row that schedule no run although a request waits. Few requests
 * complete between the insertion of a request and its dispatch; if the submitter has
 * lost the CPU, the next completion schedules a run.
 */
#define FLASH_NO_RUNS		8

/* Has the request that must be issued first not reached the driver yet? */
static bool flash_first_pending(const struct flash_queue *fq)
{
	const struct request *rq = READ_ONCE(fq->first.rq);

	return rq && !blk_mq_request_started((struct request *)rq);
}

/*
 * Limit the time for which @first blocks other requests. A timer that was armed for an
 * earlier @first arms itself again. It is pinned to this CPU: the CPU of the preempted
 * task may be a virtual one that does not run either.
 */
static void flash_first_watch(struct flash_queue *fq)
{
	/* A task preempted after xchg() would leave the flag set without a timer. */
	preempt_disable();
	if (!xchg(&fq->first.armed, 1)) {
		WRITE_ONCE(fq->first.asked, READ_ONCE(fq->first.nth));
		hrtimer_start(&fq->first.timer, ns_to_ktime(FLASH_FIRST_NS),
			      HRTIMER_MODE_REL_PINNED);
	}
	preempt_enable();
}

/* Does @first block other requests? Then has_work() is false, and the timer is armed. */
static bool flash_first_refuses(struct flash_queue *fq)
{
	if (!flash_first_pending(fq))
		return false;
	flash_first_watch(fq);
	return true;
}

/**
 * flash_issue_first - dispatch no other request until this one has been issued
 * @fq: the device, locked
 * @fr: the request that flash_policy.select() is about to return
 *
 * In one round the core dispatches as many requests as it can get, sorts them by
 * hardware queue and then issues them, so requests that were chosen later may be issued
 * earlier. After this call has_work() is false until the driver has started @fr, which
 * ends the round.
 *
 * No hook reports the start. The task that runs the round continues with another round
 * after issuing @fr. If @fr could not be issued, it is on the dispatch list of its
 * hardware queue, whose later run continues with a round. If the round cannot continue
 * because its own hardware queue is blocked, elv_has_work() kicks another one. At the
 * latest the completion of @fr kicks, so requests that complete only when a task polls
 * are not issued first.
 *
 * The task that runs the round may be preempted or throttled before it issues @fr.
 * Without a limit all other requests of the device would wait until the task runs
 * again. So the first request that is refused because of @fr arms a timer, which ends
 * the refusals: flash_first_expire(). No timer is armed while no request is refused.
 */
void flash_issue_first(struct flash_queue *fq, struct flash_rq *fr)
{
	lockdep_assert_held(&fq->lock);

	if (fr->rq->mq_hctx->type == HCTX_TYPE_POLL)
		return;
	WRITE_ONCE(fq->first.rq, fr->rq);
	/* After @first, so that no timer is armed for this number too early. */
	WRITE_ONCE(fq->first.nth, fq->first.nth + 1);
}

/**
 * flash_first_done - a request has completed or was requeued by the driver
 * @fq: the device
 * @rq: the request
 *
 * Return: true if it was @first and blocked others until now. The caller kicks;
 * cmpxchg() is the full barrier that a kick needs before it.
 */
bool flash_first_done(struct flash_queue *fq, struct request *rq)
{
	/* A later request may be first by now. */
	return READ_ONCE(fq->first.rq) == rq && cmpxchg(&fq->first.rq, rq, NULL) == rq;
}

/**
 * flash_ready - may a waiting request be dispatched now?
 * @fq: the device
 *
 * This is has_work(). A false positive makes the block layer poll every 3 ms; a false
 * negative stalls the device. Reads without the lock.
 */
bool flash_ready(struct flash_queue *fq)
{
	/*
	 * A task that has just issued @first may ask for more: the driver's write to
	 * the state of @first before our reads of the queues. Pairs with the barriers
	 * in elv_insert_requests() and flash_pending_add().
	 */
	if (READ_ONCE(fq->first.rq))
		smp_mb();

	return READ_ONCE(fq->nr_head) ||
	       ((flash_pending_any(fq) || READ_ONCE(fq->queued)) &&
		!READ_ONCE(fq->held) &&
		flash_slot_free(atomic_read(&fq->inflight),
				READ_ONCE(fq->bound)) &&
		!flash_first_refuses(fq));
}

/*
 * Is a hardware queue out of resources? Then the driver has stopped it, or requests wait
 * on its dispatch list, which precede all others; in both cases the driver runs the queue
 * later. Another hardware queue may still accept requests.
 */
static bool flash_blocked(struct blk_mq_hw_ctx *hctx)
{
	return test_bit(BLK_MQ_S_STOPPED, &hctx->state) ||
	       !list_empty_careful(&hctx->dispatch);
}

/* The number of the first hardware queue from @n on with waiting requests; or nr_hctx */
static unsigned int flash_next_work(const struct flash_queue *fq,
				    unsigned int n)
{
	while (n < fq->nr_hctx) {
		unsigned long word = READ_ONCE(fq->work[BIT_WORD(n)]) >>
				     (n % BITS_PER_LONG);

		if (word)
			return n + __ffs(word);
		n = round_down(n, BITS_PER_LONG) + BITS_PER_LONG;
	}
	return fq->nr_hctx;
}

/*
 * A hardware queue with waiting requests that is not blocked, if possible @prefer. If all
 * are blocked, one of these; NULL if no request waits.
 */
static struct blk_mq_hw_ctx *flash_find(const struct flash_queue *fq,
					unsigned int prefer)
{
	struct blk_mq_hw_ctx *hctx = NULL;
	unsigned int n;

	if (prefer < fq->nr_hctx && test_bit(prefer, fq->work))
		hctx = fq->hctx[prefer]->hctx;

	if (!hctx || flash_blocked(hctx)) {
		for (n = flash_next_work(fq, 0); n < fq->nr_hctx;
		     n = flash_next_work(fq, n + 1)) {
			hctx = fq->hctx[n]->hctx;
			if (!flash_blocked(hctx))
				break;
		}
	}
	return hctx;
}

/*
 * A hardware queue with requests in the pending list; the list may have been drained in the
 * meantime. flash_pending.hctx is one without the lock. If that one is blocked, drain and
 * search.
 */
static struct blk_mq_hw_ctx *flash_find_pending(struct flash_queue *fq,
					     unsigned int prefer)
{
	struct blk_mq_hw_ctx *hctx;
	unsigned long flags;

	if (!llist_empty(&fq->pending.list)) {
		/* Read the list before @hctx, which is written before the list. */
		smp_rmb();
		hctx = fq->hctx[READ_ONCE(fq->pending.hctx)]->hctx;
		if (!flash_blocked(hctx))
			return hctx;
	}
	flags = flash_lock_save(fq);
	hctx = flash_find(fq, prefer);
	flash_unlock_restore(fq, flags);
	return hctx;
}

/*
 * Run a hardware queue that has waiting requests.
 *
 * One run is enough however many slots are free: dispatch takes requests of all hardware
 * queues in the policy's order until no slot is left. So the cost does not grow with the
 * number of hardware queues.
 */
static void flash_run(struct flash_queue *fq, unsigned int prefer)
{
	/* Before the bits: if the list is empty, the bits are complete. */
	bool pending = flash_pending_any(fq);
	struct blk_mq_hw_ctx *hctx;

	/* Pairs with the order in flash_drain(): list, bits, @taking. */
	smp_rmb();
	hctx = flash_find(fq, prefer);
	if (pending && (!hctx || flash_blocked(hctx)))
		hctx = flash_find_pending(fq, prefer);

	/* No request is left: the dispatcher of the last one has seen the free slot. */
	if (!hctx)
		return;

	atomic_long_inc(&fq->counts.kicks);
	/*
	 * Always in the worker, and without has_work(): blk_mq_run_hw_queue() calls
	 * it, under a lock of the queue, and our has_work() calls this function.
	 */
	compat_run_hctx(hctx);
}

/**
 * flash_kick - run a hardware queue if a request may be dispatched
 * @fq: the device
 * @prefer: number of the preferred hardware queue; nr_hctx for none
 *
 * Any context in which the hardware queues cannot be freed: the caller has a request of
 * this device, or dispatches, and holds no lock. Or, from a timer, the caller holds the
 * lock while requests wait; but not in a policy with flash_policy.lockless_insert, for
 * which this function may take the lock (flash_find_pending()).
 */
void flash_kick(struct flash_queue *fq, unsigned int prefer)
{
	if (flash_ready(fq))
		flash_run(fq, prefer);
}

/*
 * @first has not been issued for FLASH_FIRST_NS: others may overtake it from now on. It
 * keeps its slot, and is issued when its task runs again.
 */
static enum hrtimer_restart flash_first_expire(struct hrtimer *timer)
{
	struct flash_queue *fq = container_of(timer, struct flash_queue,
					      first.timer);
	struct blk_mq_hw_ctx *hctx;
	unsigned long flags;
	unsigned int asked;

	spin_lock_irqsave(&fq->lock, flags);
	/* Before the flag is cleared: then another context may arm the timer. */
	asked = READ_ONCE(fq->first.asked);
	/*
	 * A full barrier between the flag and the queues. Pairs with the barriers in
	 * elv_insert_requests() and flash_pending_add(): a request that is inserted from
	 * here on is seen below, or its submitter's has_work() arms the timer.
	 */
	xchg(&fq->first.armed, 0);
	flash_drain(fq);
	/* While requests wait and the lock is held, no hardware queue is freed. */
	if (!fq->queued || !flash_first_pending(fq))
		goto out;
	if (fq->first.nth != asked) {
		/* The timer was armed for an earlier request. */
		flash_first_watch(fq);
		goto out;
	}
	fq->stats.first_expired++;
	WRITE_ONCE(fq->first.rq, NULL);
	/* Before @inflight: pairs with the barrier in flash_release(). */
	smp_mb();
	if (flash_ready(fq)) {
		/* Not flash_run(), which may take the lock. */
		hctx = flash_find(fq, fq->nr_hctx);
		atomic_long_inc(&fq->counts.kicks);
		compat_run_hctx(hctx);
	}
out:
	flash_unlock_restore(fq, flags);
	return HRTIMER_NORESTART;
}

/** flash_first_init - set up the timer of requests that are issued first */
void flash_first_init(struct flash_queue *fq)
{
	compat_hrtimer_setup(&fq->first.timer, flash_first_expire,
			  HRTIMER_MODE_REL_PINNED);
}

/**
 * flash_first_exit - undo flash_first_init()
 * @fq: the device, frozen: no request is refused that could arm the timer
 */
void flash_first_exit(struct flash_queue *fq)
{
	hrtimer_cancel(&fq->first.timer);
}

/**
 * flash_needs_run - does a completion have to schedule a run?
 * @fq: the device
 * @inflight: slots in use before this completion
 * @bound: the in-flight limit
 *
 * A single waiting request that had a free slot before this completion has just been
 * inserted, and its submitter's run is scheduled. Completion interrupts often arrive
 * between insertion and dispatch; a kick there would wake a worker that finds no work.
 *
 * In other cases requests may wait for this slot, or a round ended early because a driver
 * was busy and left them behind (@left). And the submitter may lose the CPU before its
 * run, so at most FLASH_NO_RUNS completions in a row schedule none.
 *
 * A context that changes the limit, up or down, runs or kicks a hardware queue
 * afterwards: a submitter may have compared an old @inflight with the new limit.
 */
bool flash_needs_run(struct flash_queue *fq, int inflight, unsigned int bound)
{
	unsigned int queued = READ_ONCE(fq->queued);

	if (!flash_slot_free(inflight, bound) || READ_ONCE(fq->nr_head) ||
	    READ_ONCE(fq->left) || queued > 1)
		return true;
	if (!queued && llist_empty(&fq->pending.list))
		return false;
	/* Concurrent increments may be lost; a later completion makes up for that. */
	WRITE_ONCE(fq->no_runs, READ_ONCE(fq->no_runs) + 1);
	return READ_ONCE(fq->no_runs) > FLASH_NO_RUNS;
}

/**
 * flash_release - free the slot of a request that has completed or was requeued
 * @fq: the device
 * @idx: number of the request's hardware queue
 * @was_first: the result of flash_first_done()
 *
 * Any context, hard interrupts included.
 */
void flash_release(struct flash_queue *fq, unsigned int idx, bool was_first)
{
	/*
	 * A full barrier. Pairs with the barriers in elv_insert_requests() and
	 * flash_pending_add().
	 */
	int inflight = atomic_fetch_dec(&fq->inflight);

	if (was_first || flash_needs_run(fq, inflight, READ_ONCE(fq->bound)))
		flash_kick(fq, idx);
}

/**
 * flash_take - count a request that is dispatched to the driver
 * @fq: the device, locked
 * @fr: the request's record
 *
 * Requests of poll queues take no slot: they complete only when their task polls, and a
 * task that stops polling must not stop the device.
 */
void flash_take(struct flash_queue *fq, struct flash_rq *fr)
{
	int now;

	lockdep_assert_held(&fq->lock);

	fq->stats.dispatched++;
	if (fr->rq->mq_hctx->type == HCTX_TYPE_POLL) {
		fq->stats.polled++;
		WARN_ON_ONCE(flash_slot_finish(&fr->slot));
		return;
	}
	if (!flash_slot_dispatch(&fr->slot))
		return;
	now = atomic_inc_return(&fq->inflight);
	if (now > (int)fq->stats.peak)
		fq->stats.peak = now;
	if (fr->watched) {
		static_call(flash_hook_started)(fq, fr);
		fq->changed = true;
	}
}

/**
 * flash_resume - run a hardware queue after a change of a tunable
 * @fq: the device
 *
 * Process context, no lock held.
 */
void flash_resume(struct flash_queue *fq)
{
	unsigned long flags;

	/*
	 * Pairs with the barriers in elv_insert_requests() and flash_pending_add(): a
	 * submitter sees that the policy watches now, and drains the pending list, or
	 * its request is seen below.
	 */
	smp_mb();
	if (flash_pending_any(fq)) {
		flags = flash_lock_save(fq);
		flash_unlock_restore(fq, flags);
	}
	/*
	 * Not flash_kick(): the memory of @first may be freed while nr_requests
	 * changes. The run calls has_work(), where it is safe.
	 */
	flash_run(fq, fq->nr_hctx);
}
