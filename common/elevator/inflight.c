// SPDX-License-Identifier: GPL-2.0
/*
 * inflight.c - in-flight accounting, and who is woken when a slot is free
 *
 * The rule that keeps a bounded device alive: whenever something is queued and
 * a slot is free, either a run of a hardware queue is on its way, or the
 * context that made it so starts one. Five things make it so:
 *
 *   - a request is queued, or put into the inbox (pending.c): the block layer runs
 *     the hardware queue next;
 *   - a slot is given back: flash_release() kicks, or for a policy that watches
 *     who gives it back in elevator.c, unless a run is on its way: flash_needs_run();
 *   - the bound is raised: flash_resume() kicks;
 *   - the policy lets go of what it held back: see flash_hold(); if that is so
 *     because time has passed, its timer kicks;
 *   - what had to go first has been issued, or has waited too long for that: see
 *     flash_issue_first().
 *
 * Counting down takes no lock, but for a policy that watches, and the kick after
 * it never does. The race "the dispatcher saw the last slot taken and stops"
 * against "the slot is given back by one who saw nothing queued" is closed by
 * full barriers: who queues writes the inbox or @queued, then reads @inflight; who
 * releases writes @inflight, then reads the inbox and @queued. One of the two sees
 * the other's write.
 */
#include <linux/preempt.h>

#define FLASH_COMPAT_TIMER
#include "iosched.h"

/*
 * A request that must be issued first keeps all others back for this long at least,
 * and for twice as long at most, ns. It has to exceed a time slice of the kernel's
 * scheduler, 3 ms by default: a task that loses the CPU once between choice and
 * issue then still keeps the order.
 */
#define FLASH_FIRST_NS		(4 * NSEC_PER_MSEC)

/*
 * Returns of slots in a row that start no run although a request waits. Between its
 * insertion and its dispatch few requests end; if its submitter has lost the CPU, this
 * many ends bring it help.
 */
#define FLASH_NO_RUNS		8

/* Is a request that must go first still on its way to the driver? */
static bool flash_first_pending(const struct flash_queue *fq)
{
	const struct request *rq = READ_ONCE(fq->first);

	return rq && !blk_mq_request_started((struct request *)rq);
}

/*
 * Requests wait because @first is pending: limit that time. If the timer is set
 * already, and for an earlier @first, it sets itself again. It stays on this CPU: that
 * of the task which does not run may be a virtual one that does not run either.
 */
static void flash_first_watch(struct flash_queue *fq)
{
	/* A task preempted between the two would leave the flag without a timer. */
	preempt_disable();
	if (!xchg(&fq->first_armed, 1)) {
		WRITE_ONCE(fq->first_asked, READ_ONCE(fq->first_nth));
		hrtimer_start(&fq->first_timer, ns_to_ktime(FLASH_FIRST_NS),
			      HRTIMER_MODE_REL_PINNED);
	}
	preempt_enable();
}

/* The same, and whether it is so: has_work() says no then. */
static bool flash_first_refuses(struct flash_queue *fq)
{
	if (!flash_first_pending(fq))
		return false;
	flash_first_watch(fq);
	return true;
}

/**
 * flash_issue_first - choose nothing more until this request has been issued
 * @fq: the device, locked
 * @fr: the request that flash_policy.select() is about to return
 *
 * The core takes as many requests as it can get in one round, sorts them by
 * hardware queue and then issues them, so a request may be overtaken by others
 * that were chosen after it. With this, has_work() says no from the choice of
 * @fr until the driver has started it, which ends the round.
 *
 * Nobody calls us when the driver starts it. Whoever runs the round goes on
 * with another one after issuing @fr. If @fr could not be issued it is on its
 * hardware queue's dispatch list, whose later run goes on with a round. If the
 * round cannot go on because its own hardware queue is blocked, elv_has_work()
 * sends another one. And at the latest the end of @fr kicks; so this must not
 * be used for what ends only when somebody polls.
 *
 * The task that runs the round may be preempted or throttled before it issues @fr.
 * Until the task runs again @fr waits, and without a limit all other requests of
 * the device would wait, too. So the first request that is refused because of @fr
 * arms a timer, which ends the refusals: flash_first_expire(). No timer is armed
 * while nothing is refused.
 */
void flash_issue_first(struct flash_queue *fq, struct flash_rq *fr)
{
	lockdep_assert_held(&fq->lock);

	if (fr->rq->mq_hctx->type == HCTX_TYPE_POLL)
		return;
	WRITE_ONCE(fq->first, fr->rq);
	/* Behind @first: a timer that is set for this number is not set too early. */
	WRITE_ONCE(fq->first_nth, fq->first_nth + 1);
}

/**
 * flash_first_done - a request has finished or was handed back
 * @fq: the device
 * @rq: the request
 *
 * Return: true if it was to go first and others may go now. The caller kicks,
 * by giving back its slot or, if it holds none, itself; cmpxchg() is the full
 * barrier that a kick needs before it.
 */
bool flash_first_done(struct flash_queue *fq, struct request *rq)
{
	/* A later request may be first by now. */
	return READ_ONCE(fq->first) == rq && cmpxchg(&fq->first, rq, NULL) == rq;
}

/**
 * flash_ready - is there a request that may go now?
 * @fq: the device
 *
 * This is has_work(): it must be true exactly when dispatch would return a
 * request. If it lied upwards the block layer would poll every 3 ms; if it lied
 * downwards the device would stop. Reads without the lock.
 */
bool flash_ready(struct flash_queue *fq)
{
	/*
	 * Who has just issued @first and asks for more: the driver's write to
	 * its state before our read of what waits. Pairs with the barriers in
	 * elv_insert_requests() and flash_inbox_add().
	 */
	if (READ_ONCE(fq->first))
		smp_mb();

	return READ_ONCE(fq->nr_head) ||
	       ((flash_inbox_waits(fq) || READ_ONCE(fq->queued)) &&
		!READ_ONCE(fq->held) &&
		flash_slot_free(atomic_read(&fq->inflight),
				READ_ONCE(fq->bound)) &&
		!flash_first_refuses(fq));
}

/*
 * A driver that is out of resources stops a queue, or leaves requests on its
 * dispatch list that go before anything else; either way it will run the queue
 * itself later on. Another one may still have room.
 */
static bool flash_blocked(struct blk_mq_hw_ctx *hctx)
{
	return test_bit(BLK_MQ_S_STOPPED, &hctx->state) ||
	       !list_empty_careful(&hctx->dispatch);
}

/* The first hardware queue from @n on with requests of its own; or nr_hctx. */
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
 * A hardware queue with requests of its own that is not blocked, @prefer if it is
 * one. Else one that is; or NULL.
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
 * The same among those whose requests are in the inbox, or were a moment ago. One
 * is known without the lock. If that will not do we look under it.
 */
static struct blk_mq_hw_ctx *flash_find_come(struct flash_queue *fq,
					     unsigned int prefer)
{
	struct blk_mq_hw_ctx *hctx;
	unsigned long flags;

	if (!llist_empty(&fq->inbox.list)) {
		/* The inbox before @hctx, which was written before it. */
		smp_rmb();
		hctx = fq->hctx[READ_ONCE(fq->inbox.hctx)]->hctx;
		if (!flash_blocked(hctx))
			return hctx;
	}
	flags = flash_lock_save(fq);
	hctx = flash_find(fq, prefer);
	flash_unlock_restore(fq, flags);
	return hctx;
}

/*
 * Run a hardware queue that has requests of its own.
 *
 * One run is enough however many slots are free: dispatch takes requests of
 * every hardware queue in the policy's order until no slot is left. Queues
 * without requests of their own are left alone, so the cost does not grow with
 * the number of hardware queues.
 */
static void flash_run(struct flash_queue *fq, unsigned int prefer)
{
	/* Before the bits: if not, they are all there. */
	bool come = flash_inbox_waits(fq);
	struct blk_mq_hw_ctx *hctx;

	/* Pairs with the order in flash_drain(): list, bits, @taking. */
	smp_rmb();
	hctx = flash_find(fq, prefer);
	if (come && (!hctx || flash_blocked(hctx)))
		hctx = flash_find_come(fq, prefer);

	/* Emptied meanwhile: whoever took the last request has seen our slot. */
	if (!hctx)
		return;

	atomic_long_inc(&fq->kicks);
	/*
	 * Always through the worker, and without asking has_work() once more:
	 * blk_mq_run_hw_queue() would, under a lock of the queue, and our own
	 * has_work() comes here.
	 */
	elv_run_hctx(hctx);
}

/**
 * flash_kick - run a hardware queue if there is work that may go
 * @fq: the device
 * @prefer: number of the hardware queue to prefer; nr_hctx for none
 *
 * Any context that keeps requests from going away (a request of this device in
 * hand, or the dispatch path); the caller holds no lock. Or with the lock held
 * and something queued: a timer has nothing else to keep them by. But not so in a
 * policy with flash_policy.lockless_insert, for which this may take it (flash_find_come()).
 */
void flash_kick(struct flash_queue *fq, unsigned int prefer)
{
	if (flash_ready(fq))
		flash_run(fq, prefer);
}

/*
 * A request that had to be issued first has not been issued for FLASH_FIRST_NS:
 * others may pass it now. It keeps its slot, and is issued when its task runs again.
 */
static enum hrtimer_restart flash_first_expire(struct hrtimer *timer)
{
	struct flash_queue *fq = container_of(timer, struct flash_queue,
					      first_timer);
	struct blk_mq_hw_ctx *hctx;
	unsigned long flags;
	unsigned int asked;

	spin_lock_irqsave(&fq->lock, flags);
	/* Before the flag: another context may arm the timer as soon as that is clear. */
	asked = READ_ONCE(fq->first_asked);
	/*
	 * A full barrier between the flag and what waits. Pairs with the barriers in
	 * elv_insert_requests() and flash_inbox_add(): a request that is inserted
	 * from here on is seen below, or its submitter's has_work() arms the timer.
	 */
	xchg(&fq->first_armed, 0);
	flash_drain(fq);
	/* With a queued request and the lock held, no hardware queue can go away. */
	if (!fq->queued || !flash_first_pending(fq))
		goto out;
	if (fq->first_nth != asked) {
		/* Another request than the timer was set for. */
		flash_first_watch(fq);
		goto out;
	}
	fq->stats.first_expired++;
	WRITE_ONCE(fq->first, NULL);
	/* Before @inflight: pairs with the barrier in flash_release(). */
	smp_mb();
	if (flash_ready(fq)) {
		/* Not flash_run(), which takes the lock if there is an inbox. */
		hctx = flash_find(fq, fq->nr_hctx);
		atomic_long_inc(&fq->kicks);
		elv_run_hctx(hctx);
	}
out:
	flash_unlock_restore(fq, flags);
	return HRTIMER_NORESTART;
}

/** flash_first_init - nothing had to be issued first so far */
void flash_first_init(struct flash_queue *fq)
{
	elv_hrtimer_setup(&fq->first_timer, flash_first_expire,
			  HRTIMER_MODE_REL_PINNED);
}

/**
 * flash_first_exit - undo flash_first_init()
 * @fq: the device, frozen: nothing is refused any more that would set the timer
 */
void flash_first_exit(struct flash_queue *fq)
{
	hrtimer_cancel(&fq->first_timer);
}

/**
 * flash_needs_run - does the return of a slot have to start a run?
 * @fq: the device
 * @inflight: slots in use before the return
 * @bound: the in-flight limit
 *
 * A single waiting request that had a free slot before was inserted a moment ago:
 * its submitter's run is on its way. A kick would wake a worker, which finds nothing
 * to do, and a completion interrupt often falls between insertion and dispatch.
 *
 * Other requests may have lacked this slot, or were left behind by a round that ended
 * early because a driver was busy (@left). And the submitter may have lost the CPU
 * before its run: so only some returns in a row start none.
 *
 * Whoever changes the limit, up or down, runs or kicks a hardware queue afterwards:
 * a submitter may compare an old @inflight with the new limit.
 */
bool flash_needs_run(struct flash_queue *fq, int inflight, unsigned int bound)
{
	unsigned int queued = READ_ONCE(fq->queued);

	if (!flash_slot_free(inflight, bound) || READ_ONCE(fq->nr_head) ||
	    READ_ONCE(fq->left) || queued > 1)
		return true;
	if (!queued && !flash_inbox_waits(fq))
		return false;
	/* Two that count at once may count one: the next one does so, too. */
	WRITE_ONCE(fq->no_runs, READ_ONCE(fq->no_runs) + 1);
	return READ_ONCE(fq->no_runs) > FLASH_NO_RUNS;
}

/**
 * flash_release - give one slot back
 * @fq: the device
 * @idx: hardware queue of the request that held it
 * @was_first: flash_first_done() said that others may go now
 *
 * Hard interrupt context included.
 */
void flash_release(struct flash_queue *fq, unsigned int idx, bool was_first)
{
	/*
	 * A full barrier. Pairs with the barriers in elv_insert_requests() and
	 * flash_inbox_add().
	 */
	int inflight = atomic_fetch_dec(&fq->inflight);

	if (was_first || flash_needs_run(fq, inflight, READ_ONCE(fq->bound)))
		flash_kick(fq, idx);
}

/**
 * flash_take - count a request as handed to the driver
 * @fq: the device, locked
 * @fr: the request's record
 *
 * What goes to a poll queue is not counted: it completes only when its owner
 * chooses to poll, and a task that stops polling must not stop the device.
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
	if (fr->watched)
		static_call(flash_hook_started)(fq, fr);
}

/**
 * flash_resume - run a hardware queue after a tunable let something go
 * @fq: the device
 *
 * Process context, no lock held.
 */
void flash_resume(struct flash_queue *fq)
{
	unsigned long flags;

	/*
	 * Pairs with the barriers in elv_insert_requests() and flash_inbox_add():
	 * who has put a request into the inbox has seen that the policy watches
	 * now, and takes it in, or we see the request.
	 */
	smp_mb();
	if (flash_inbox_waits(fq)) {
		flags = flash_lock_save(fq);
		flash_unlock_restore(fq, flags);
	}
	/*
	 * Not flash_kick(): nothing keeps @first's memory here while
	 * nr_requests changes. The run asks has_work(), where it is safe.
	 */
	flash_run(fq, fq->nr_hctx);
}

/**
 * flash_hold - does the policy hold back all that is queued?
 * @fq: the device, locked
 * @held: it does
 *
 * A level, like the bound. Who clears it while nobody is about to run a hardware
 * queue starts a run: in flash_policy.insert() the block layer does, after
 * flash_policy.select() the round goes on, after flash_policy.completed() the slot's return
 * kicks, after a merge flash_bio_merge() does, and a change of a tunable calls
 * flash_resume(). A policy that holds
 * everything while nothing is in flight, and no timer of it is set, stops the
 * device.
 */
void flash_hold(struct flash_queue *fq, bool held)
{
	lockdep_assert_held(&fq->lock);

	if (fq->held != held)
		WRITE_ONCE(fq->held, held);
}
