// SPDX-License-Identifier: GPL-2.0
/*
 * inflight.c - the in-flight limit, and which hardware queue is run
 *
 * A limit on requests in flight stalls the device for ever if a wake-up is lost. The
 * invariant against that: whenever a request waits and a slot is free, a run of a
 * hardware queue is scheduled, or the context that made both true schedules one, or
 * enough requests are in flight that one of those which end schedules it (the mark of
 * slot.h, flash_queue.held_above). These events make both true:
 *
 *   - a request is added to the pending list (pending.c), or inserted: the block layer
 *     runs its hardware queue next;
 *   - a request ends and frees its slot: flash_release() kicks, unless flash_needs_run()
 *     finds that a run is scheduled, or that others in flight will end and kick then;
 *   - the limit changes: flash_unlock() runs a hardware queue, see flash_set_bound();
 *   - the policy stops holding requests back: see flash_ask_holds(). If it does so because
 *     time has passed, its timer calls flash_ask_again();
 *   - the request that had to be issued first has been issued, or its time is over: see
 *     flash_issue_first().
 *
 * A slot is freed without the lock, and neither a kick nor a timer takes it. Full barriers
 * close two races. A dispatcher finds no free slot, and a completion no waiting request:
 * insertion writes the pending list or @queued and then reads @inflight and @bound;
 * completion writes @inflight, and flash_set_bound() @bound, and then reads both. A
 * dispatcher lets the policy hold all requests, and a completion finds that none are held:
 * one writes @held and then reads the list of ends, the other adds to the list and then
 * reads @held. At least one of the two sees the other's write.
 *
 * Entry points: flash_ready() is has_work(); flash_kick() schedules a run;
 * flash_take() and flash_release() count.
 */
#include <linux/preempt.h>

#include "iosched.h"

/*
 * A request that must be issued first blocks all others for at least this time and at
 * most twice this time, ns. The value exceeds a time slice of the CPU scheduler, 3 ms by
 * default, so the order holds if the task is preempted once between choice and issue.
 */
#define FLASH_FIRST_NS		(4 * NSEC_PER_MSEC)

/*
 * Completions in a row, below the mark, that schedule no run although a request waits. Few
 * complete between the insertion of a request and its dispatch; if the submitter has
 * lost the CPU, the next completion schedules a run.
 */
#define FLASH_NO_RUNS		8

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

/**
 * flash_first_refuses - does a request that must be issued first block all others?
 * @fq: the device
 *
 * Then has_work() is false, and the timer is armed. Not if its time is over: others may
 * overtake it from now on. It keeps its slot, and is issued when its task runs again.
 */
noinline bool flash_first_refuses(struct flash_queue *fq)
{
	/* Pairs with flash_issue_first(): @nth is not older. */
	struct request *rq = smp_load_acquire(&fq->first.rq);

	if (!rq || blk_mq_request_started(rq))
		return false;
	if (READ_ONCE(fq->first.due) == READ_ONCE(fq->first.nth)) {
		if (cmpxchg(&fq->first.rq, rq, NULL) == rq)
			WRITE_ONCE(fq->first.expired, READ_ONCE(fq->first.expired) + 1);
		return false;
	}
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
 * the refusals: flash_first_refuses(). No timer is armed while no request is refused.
 */
void flash_issue_first(struct flash_queue *fq, struct flash_rq *fr)
{
	lockdep_assert_held(&fq->lock);

	if (fr->rq->mq_hctx->type == HCTX_TYPE_POLL)
		return;
	WRITE_ONCE(fq->first.nth, fq->first.nth + 1);
	/* Pairs with flash_first_refuses(). */
	smp_store_release(&fq->first.rq, fr->rq);
}

/**
 * flash_first_done - a request has completed or was requeued by the driver
 * @fq: the device
 * @rq: the request
 *
 * Return: true if it was @first and blocked others until now. The caller kicks;
 * cmpxchg() is the full barrier that a kick needs before it.
 */
__always_inline bool flash_first_done(struct flash_queue *fq, struct request *rq)
{
	/* A later request may be first by now. */
	return READ_ONCE(fq->first.rq) == rq && cmpxchg(&fq->first.rq, rq, NULL) == rq;
}

/* flash_ready() while requests wait, but for those that precede all others, and for @first */
static inline bool flash_slot_for_any(struct flash_queue *fq)
{
	/*
	 * The events before @changed, which says that they were drained. Then @held once
	 * more, as the policy may have chosen since. Pairs with flash_ask_holds().
	 */
	return flash_slot_free(atomic_read(&fq->inflight), READ_ONCE(fq->bound)) &&
	       (likely(!READ_ONCE(fq->held)) || flash_pending_events(fq) ||
		smp_load_acquire(&fq->changed) || !READ_ONCE(fq->held));
}

/**
 * flash_ready - may a waiting request be dispatched now?
 * @fq: the device
 *
 * This is has_work(), but that a policy that held all requests back may still do so after
 * what has happened since, see flash_ready_settled(). A false negative stalls the device.
 * After a false positive, a run finds that the policy holds all requests, and the block
 * layer runs the hardware queues 3 ms later, in vain, unless the run had dispatched
 * another request before. Reads without the lock.
 */
__always_inline bool flash_ready(struct flash_queue *fq)
{
	/*
	 * A task that has just issued @first may ask for more: the driver's write to
	 * the state of @first before our reads of the queues. Pairs with the barriers
	 * in elv_insert_requests() and flash_pending_add().
	 */
	if (unlikely(READ_ONCE(fq->first.rq)))
		smp_mb();

	if (!flash_any_waits(fq))
		return false;
	if (unlikely(flash_precedes(fq)))
		return true;
	return flash_slot_for_any(fq) &&
	       !(unlikely(READ_ONCE(fq->first.rq)) && flash_first_refuses(fq));
}

/**
 * flash_ready_settled - flash_ready(), after the policy has chosen again
 * @fq: the device
 *
 * For has_work() while the policy held all requests back. Takes the lock; process context,
 * interrupts enabled.
 */
bool flash_ready_settled(struct flash_queue *fq)
{
	flash_lock(fq);
	/*
	 * Before @held is cleared: this task may lose the CPU before its run, so the next
	 * end kicks, see flash_needs_run().
	 */
	WRITE_ONCE(fq->left, true);
	flash_update_now(fq);
	flash_settle(fq);
	flash_unlock(fq);
	return flash_ready(fq);
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

/* Hardware queue @n; NULL while the scheduler is set up or removed */
static struct blk_mq_hw_ctx *flash_hctx_at(const struct flash_queue *fq, unsigned int n)
{
	const struct flash_hctx *fh = READ_ONCE(fq->hctx[n]);

	return fh ? fh->hctx : NULL;
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
	struct blk_mq_hw_ctx *hctx = NULL, *other;
	unsigned int n;

	if (prefer < fq->nr_hctx && test_bit(prefer, fq->work))
		hctx = flash_hctx_at(fq, prefer);

	if (!hctx || flash_blocked(hctx)) {
		for (n = flash_next_work(fq, 0); n < fq->nr_hctx;
		     n = flash_next_work(fq, n + 1)) {
			other = flash_hctx_at(fq, n);
			if (!other)
				continue;
			hctx = other;
			if (!flash_blocked(hctx))
				break;
		}
	}
	return hctx;
}

/*
 * The hardware queue of one of the latest pending requests; or, if that one is blocked, any
 * that is not: a run of it drains the list, and dispatches requests of all.
 */
static struct blk_mq_hw_ctx *flash_find_pending(struct flash_queue *fq)
{
	unsigned int last = READ_ONCE(fq->pending.hctx), n;
	struct blk_mq_hw_ctx *hctx = flash_hctx_at(fq, last), *other;

	for (n = 0; n < fq->nr_hctx && hctx && flash_blocked(hctx); n++) {
		other = flash_hctx_at(fq, n);
		if (other && !flash_blocked(other))
			return other;
	}
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
	/*
	 * Before the bits: if the list is empty, the bits are complete, but for requests
	 * that precede all others.
	 */
	bool pending = flash_pending_any(fq) || flash_precedes(fq);
	struct blk_mq_hw_ctx *hctx;

	/* Pairs with the order in flash_drain(): list, bits, @waits. */
	smp_rmb();
	hctx = flash_find(fq, prefer);
	if (pending && (!hctx || flash_blocked(hctx)))
		hctx = flash_find_pending(fq);

	/* No request is left: the dispatcher of the last one has seen the free slot. */
	if (!hctx)
		return;

	flash_count(fq, kicks);
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
 * this device, or dispatches, or holds a lock of the sysfs files; and holds no lock of ours.
 */
void flash_kick(struct flash_queue *fq, unsigned int prefer)
{
	if (flash_ready(fq))
		flash_run(fq, prefer);
}

/*
 * flash_run() from a context that has no request: the device may be about to change.
 * Does not look at @first, the memory of which may be freed.
 */
static void flash_run_unheld(struct flash_queue *fq)
{
	/* Keeps each flash_hctx, see flash_hctx_exit(). */
	rcu_read_lock();
	if (flash_any_waits(fq))
		flash_run(fq, fq->nr_hctx);
	rcu_read_unlock();
}

/**
 * flash_ask_again - time has passed, and the policy may not hold requests back any more
 * @fq: the device
 *
 * For a policy's timer. The policy is asked in the context of the run.
 */
void flash_ask_again(struct flash_queue *fq)
{
	WRITE_ONCE(fq->pending.asks, true);
	/* @asks before @queued. Pairs with the barrier in flash_ask_holds(). */
	smp_mb();
	flash_run_unheld(fq);
}

/*
 * @first has not been issued for FLASH_FIRST_NS. It is not looked at here: its memory may be
 * freed while nr_requests changes. The run calls has_work(), where it is safe.
 */
static enum hrtimer_restart flash_first_expire(struct hrtimer *timer)
{
	struct flash_queue *fq = container_of(timer, struct flash_queue,
					      first.timer);
	/* Before the flag is cleared: then another context may arm the timer. */
	unsigned int asked = READ_ONCE(fq->first.asked);

	/*
	 * A full barrier between the flag and the queues. Pairs with the barriers in
	 * elv_insert_requests() and flash_pending_add(): a request that is inserted from
	 * here on is seen below, or its submitter's has_work() arms the timer.
	 */
	xchg(&fq->first.armed, 0);
	if (!flash_any_waits(fq) || !READ_ONCE(fq->first.rq))
		return HRTIMER_NORESTART;
	if (READ_ONCE(fq->first.nth) != asked) {
		/* The timer was armed for an earlier request. */
		flash_first_watch(fq);
		return HRTIMER_NORESTART;
	}
	WRITE_ONCE(fq->first.due, asked);
	/* Before the run's has_work() */
	smp_mb();
	flash_run_unheld(fq);
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
 * @inflight: slots in use after this completion
 * @bound: the in-flight limit, at least 1
 *
 * While requests wait. Above the mark (flash_slot_mark()) free slots are left to the completion
 * that reaches it. One does: more requests will end, a completion lowers @inflight by one, and a
 * change of the limit runs a hardware queue. No slot is left free on a device that has seen
 * requests that its policy calls urgent, or while flash_queue.hurry is set.
 *
 * Below the mark, a single request has just been inserted, and its submitter's run is scheduled.
 * Completion interrupts often arrive between insertion and dispatch; a kick there would wake a
 * worker that finds no work. Several may have been left behind by a round that ended early
 * because a driver was busy, or by a task that has ended a hold (@left). And the submitter may
 * lose the CPU before its run, so at most FLASH_NO_RUNS completions in a row schedule none.
 *
 * If the policy holds all requests back, a completion lets it choose again, unless the policy
 * has said that enough are in flight (@held_above), and knows all that has arrived or changed.
 */
bool flash_needs_run(struct flash_queue *fq, int inflight, unsigned int bound)
{
	if (flash_precedes(fq))
		return true;
	/* Pairs with flash_ask_holds(): before @left. */
	if (smp_load_acquire(&fq->held))
		return inflight <= READ_ONCE(fq->held_above) || flash_pending_any(fq) ||
		       READ_ONCE(fq->changed);
	if (flash_slot_above(inflight, bound))
		return (unsigned int)inflight == flash_slot_mark(bound) ||
		       READ_ONCE(fq->urgent_seen) || READ_ONCE(fq->one_by_one) ||
		       READ_ONCE(fq->hurry);
	if (READ_ONCE(fq->left) || READ_ONCE(fq->queued) > 1)
		return true;
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
__always_inline void flash_release(struct flash_queue *fq, unsigned int idx,
				   bool was_first)
{
	/*
	 * A full barrier. Pairs with the barriers in elv_insert_requests(),
	 * flash_pending_add() and flash_ask_holds().
	 */
	int inflight = atomic_dec_return(&fq->inflight);

	if (flash_any_waits(fq) &&
	    (was_first || flash_needs_run(fq, inflight, READ_ONCE(fq->bound))))
		flash_kick(fq, idx);
}

/**
 * flash_set_bound - change the in-flight limit
 * @fq: the device, locked
 * @bound: the limit, in requests
 *
 * If it changes, flash_unlock() runs a hardware queue: a submitter may have compared
 * @inflight with the old limit. That includes a lower limit: the end that has freed the
 * slot may have compared with the higher one, see flash_needs_run().
 */
__always_inline void flash_set_bound(struct flash_queue *fq, unsigned int bound)
{
	lockdep_assert_held(&fq->lock);

	if (likely(bound == fq->bound))
		return;
	fq->limit_changed = true;
	WRITE_ONCE(fq->bound, bound);
}

/**
 * flash_limit_changed - flash_unlock(), after a change of the in-flight limit
 * @fq: the device
 *
 * Not flash_kick(): a task that reads statistics has no request.
 */
void flash_limit_changed(struct flash_queue *fq)
{
	/* Pairs with the barriers in elv_insert_requests() and flash_pending_add(). */
	smp_mb();
	if (flash_slot_for_any(fq))
		flash_run_unheld(fq);
}

/**
 * flash_take - count a request that is dispatched to the driver
 * @fq: the device, locked
 * @fr: the request's record
 *
 * Requests of poll queues take no slot: they complete only when their task polls, and a
 * task that stops polling must not stop the device.
 */
__always_inline void flash_take(struct flash_queue *fq, struct flash_rq *fr)
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
	if (flash_watched(fr)) {
		fq->out++;
		flash_policy.started(fq, fr);
	}
}

/**
 * flash_resume - run a hardware queue after a change of a tunable
 * @fq: the device
 *
 * Process context, no lock held; may sleep.
 */
void flash_resume(struct flash_queue *fq)
{
	flash_resort_rest(fq);
	/* Pairs with the barriers in elv_insert_requests() and flash_pending_add(). */
	smp_mb();
	/*
	 * Not flash_kick(): the memory of @first may be freed while nr_requests
	 * changes. The run calls has_work(), where it is safe.
	 */
	flash_run(fq, fq->nr_hctx);
}
