// SPDX-License-Identifier: GPL-2.0
/*
 * pending.c - arrival and completion without the device's lock
 *
 * Submitters add requests to the pending list. Completions add the records of requests
 * that the policy watches to a second list. Neither needs a lock. The next holder of the
 * lock drains both (flash_lock()) before it looks at the policy's queues. So each decision
 * is made with the same knowledge as if every submitter and every completion had taken the
 * lock, and a request needs the lock once, when it is dispatched. The lock is never taken
 * in interrupt context.
 *
 * A record is in one list at most, as it is drained between arrival and dispatch. Both
 * lists are drained in order, and merged by time. The end of a request is in the list
 * before its tag and its slot are free; a task that waits for its bio may be woken earlier.
 *
 * A request in the pending list counts as waiting: flash_ready() looks there. While a
 * request is moved from the list to a queue it is in neither; FLASH_WAITS_TAKING is set then.
 *
 * If insertions are traced or the list has become long, the submitter takes the lock and
 * drains. A long drain releases the lock now and then (FLASH_DRAIN_MOST).
 *
 * A change of a setting may have all waiting requests sorted again (flash_resort()). That is
 * done in the same way, before anything else is drained: in parts, by any holder of the lock.
 */
#include <linux/sched.h>

#include "iosched.h"
#include "trace.h"

/*
 * Length of the list at which the submitter drains it, in requests. It costs one
 * submission in 64 the lock.
 */
#define FLASH_PENDING_MOST	64

/* Events that are drained before the lock is released for a moment */
#define FLASH_DRAIN_MOST	32

/*
 * The length of the list that begins with @newest; approximate if it is drained at the
 * same time. The record stays valid, as the caller has a request of this device.
 */
static unsigned int flash_pending_length(struct llist_node *newest)
{
	return newest ?
	       data_race(llist_entry(newest, struct flash_rq, pending)->nth) : 0;
}

/* The record of a request that may be added to the pending list; NULL for others, rare */
static struct flash_rq *flash_pending_rec(struct flash_hctx *fh, struct request *rq)
{
	/* A requeued request has its record. */
	return likely(compat_rq_ours(rq) && !flash_rq_of(rq)) ? flash_hctx_rec(fh, rq) : NULL;
}

/*
 * Will a request that is added now wait? Then bios may join it in the pending list, which
 * may be drained late. An approximation: if it is wrong, a merge is missed.
 */
static bool flash_pending_waits(struct flash_queue *fq)
{
	return READ_ONCE(fq->waits) ||
	       !flash_slot_free(atomic_read(&fq->inflight), READ_ONCE(fq->bound));
}

/* Prepare a request for the pending list. NULL: it may not be added. */
static __always_inline struct flash_rq *flash_pending_begin(struct flash_queue *fq,
							    struct flash_hctx *fh,
							    struct request *rq)
{
	struct flash_rq *fr = flash_pending_rec(fh, rq);

	if (unlikely(!fr))
		return NULL;
	INIT_LIST_HEAD(&rq->queuelist);
	flash_rq_begin(fq, fr, rq);
	/*
	 * If a run clears it before the request is in the list, the request waits for the mark
	 * of slot.h at worst.
	 */
	if (unlikely(rq->cmd_flags & FLASH_ROOT_FLAGS))
		WRITE_ONCE(fq->hurry, true);
	if (unlikely(flash_pending_waits(fq)))
		flash_store_expect(fq, fr);
	return fr;
}

/*
 * Add @nr requests, which are linked from @newest to @oldest. Returns whether the caller has
 * to take the lock and drain.
 */
static __always_inline bool flash_pending_push(struct flash_queue *fq, struct flash_hctx *fh,
					       struct flash_rq *newest,
					       struct flash_rq *oldest, unsigned int nr)
{
	struct llist_node *first;
	unsigned int nth;

	/* Before the requests: flash_find_pending() reads it after the list. */
	if (READ_ONCE(fq->pending.hctx) != fh->hctx->queue_num)
		WRITE_ONCE(fq->pending.hctx, fh->hctx->queue_num);
	/*
	 * llist_add_batch(), but with the length of the list, which several concurrent
	 * submitters would not see otherwise.
	 *
	 * A full barrier: the list before @inflight, @bound, @held and @first, which
	 * has_work() reads next (see elv_insert_requests()).
	 */
	first = READ_ONCE(fq->pending.list.first);
	do {
		oldest->pending.next = first;
		nth = flash_pending_length(first) + nr;
		newest->nth = nth;
	} while (!try_cmpxchg(&fq->pending.list.first, &first, &newest->pending));
	return nth >= FLASH_PENDING_MOST || trace_flash_insert_enabled();
}

/* flash_pending_add() for several requests */
static noinline bool flash_pending_add_all(struct flash_queue *fq, struct flash_hctx *fh,
					   struct list_head *list)
{
	struct flash_rq *fr, *newest = NULL, *oldest = NULL;
	struct request *rq, *next;
	unsigned int nr = 0;

	list_for_each_entry_safe(rq, next, list, queuelist) {
		fr = flash_pending_begin(fq, fh, rq);
		if (unlikely(!fr))
			break;
		if (newest)
			fr->pending.next = &newest->pending;
		else
			oldest = fr;
		newest = fr;
		nr++;
	}
	/* The rest */
	__list_del(list, &rq->queuelist);
	return (newest && flash_pending_push(fq, fh, newest, oldest, nr)) ||
	       unlikely(!list_empty(list));
}

/**
 * flash_pending_add - add requests to the pending list
 * @fq: the device
 * @fh: their hardware queue
 * @list: the requests; those that were added are removed
 *
 * No lock, any context. The caller holds a reference that keeps the device from being
 * frozen: the requests may have completed on return.
 * Return: true if the caller has to take the lock, drain, and insert the rest of @list.
 */
__always_inline bool flash_pending_add(struct flash_queue *fq, struct flash_hctx *fh,
				       struct list_head *list)
{
	struct flash_rq *fr;

	if (unlikely(!list_is_singular(list)))
		return flash_pending_add_all(fq, fh, list);
	fr = flash_pending_begin(fq, fh, list_first_entry(list, struct request, queuelist));
	if (unlikely(!fr))
		return true;
	INIT_LIST_HEAD(list);
	return flash_pending_push(fq, fh, fr, fr, 1);
}

/**
 * flash_pending_end - a watched request gives its slot back
 * @fq: the device
 * @fr: its record
 * @ended: it has completed; false: the driver has requeued it
 *
 * No lock, any context. A full barrier: the list before @inflight, @held and the queues.
 */
__always_inline void flash_pending_end(struct flash_queue *fq, struct flash_rq *fr,
				       bool ended)
{
	struct llist_node *first = READ_ONCE(fq->pending.ends.first);

	fr->ended = ended;
	/* Before the tag is freed: the tag's next request sees it. */
	WRITE_ONCE(fr->busy, true);
	/* llist_add(), without a call */
	do {
		fr->pending.next = first;
	} while (!try_cmpxchg(&fq->pending.ends.first, &first, &fr->pending));
}

/* Move what has happened to the lists of the lock's holder, which are empty. */
static void flash_pending_take(struct flash_queue *fq)
{
	struct flash_pending *p = &fq->pending;

	WRITE_ONCE(fq->waits, fq->waits | FLASH_WAITS_TAKING);
	if (READ_ONCE(p->asks)) {
		/* @waits before @asks: pairs with flash_pending_events(). */
		smp_store_release(&p->asks, false);
		flash_change(fq);
	}
	/*
	 * A full barrier on both sides. Before it: see flash_pending_any(). After it the
	 * caller reads @inflight, while a completion writes @inflight and reads @waits;
	 * one of the two sees the other's write. And what a context wrote before it set
	 * @asks is seen by the policy's next choice.
	 *
	 * Arrivals before ends: a request that has the tag or the slot of another one is
	 * not inserted before that one's end is known.
	 */
	p->arrived = llist_reverse_order(llist_del_all(&p->list));
	if (!llist_empty(&p->ends))
		p->ended = llist_reverse_order(llist_del_all(&p->ends));
}

static struct flash_rq *flash_pending_rq(struct llist_node *node)
{
	return node ? llist_entry(node, struct flash_rq, pending) : NULL;
}

/* The request of @fr has left the device. */
static __always_inline void flash_drain_end(struct flash_queue *fq, struct flash_rq *fr)
{
	fq->now = max(fq->now, fr->time);
	flash_policy.completed(fq, fr, fr->ended);
	fq->out--;
	flash_change(fq);
	/* The tag's next request but one may use the record. */
	smp_store_release(&fr->busy, false);
}

/* Report the ends that were taken, up to a time. */
static __always_inline void flash_drain_ends(struct flash_queue *fq, u64 until)
{
	struct flash_rq *fr;

	while ((fr = flash_pending_rq(fq->pending.ended)) && fr->time <= until) {
		fq->pending.ended = fr->pending.next;
		flash_drain_end(fq, fr);
	}
}

/**
 * flash_pending_lone - take the only request of the device that waits
 * @fq: the device, locked by spin_lock()
 *
 * Also takes the ends so far, and reports those that precede it; the caller reports the others
 * with flash_drain_ends(). Sets FLASH_WAITS_TAKING.
 * Return: NULL if requests wait in queues, or if there are more events than a few;
 * flash_drain() knows how to take them.
 */
static __always_inline struct flash_rq *flash_pending_lone(struct flash_queue *fq)
{
	/* Acquire: before the record, and arrivals before ends as in flash_pending_take(). */
	struct llist_node *node = smp_load_acquire(&fq->pending.list.first), *end;
	struct flash_rq *fr = flash_pending_rq(node);

	if (!node || node->next || fq->waits || READ_ONCE(fq->pending.asks))
		return NULL;
	end = smp_load_acquire(&fq->pending.ends.first);
	if (end && end->next && end->next->next)
		return NULL;
	WRITE_ONCE(fq->waits, FLASH_WAITS_TAKING);
	/* A full barrier, as in flash_pending_take() */
	if (unlikely(cmpxchg(&fq->pending.list.first, node, NULL) != node)) {
		smp_store_release(&fq->waits, 0);
		return NULL;
	}
	if (end || !llist_empty(&fq->pending.ends)) {
		end = llist_del_all(&fq->pending.ends);
		fq->pending.ended = likely(!end->next) ? end : llist_reverse_order(end);
		flash_drain_ends(fq, fr->time);
	}
	return fr;
}

/* The request of @fr enters the policy's queues. */
static void flash_drain_arrival(struct flash_queue *fq, struct flash_rq *fr)
{
	fq->now = max(fq->now, fr->time);
	flash_insert_tracked(fq, fr->rq->mq_hctx->sched_data, fr, fr->rq, false);
	flash_fresh_add(fq, fr);
}

/**
 * flash_resort - have all waiting requests sorted again
 * @fq: the device, locked
 *
 * A setting has changed that decides where requests wait. flash_policy.resort() sorts them one
 * by one, and the lock is released now and then. No other task finds them partly sorted, as
 * each flash_lock() sorts the rest first. FLASH_WAITS_TAKING makes it do so, and has_work()
 * true. Afterwards the caller calls flash_resume(), unless it inserts a request.
 */
void flash_resort(struct flash_queue *fq)
{
	lockdep_assert_held(&fq->lock);

	WRITE_ONCE(fq->pending.resort, true);
	WRITE_ONCE(fq->waits, fq->waits | FLASH_WAITS_TAKING);
}

/* Sort up to FLASH_DRAIN_MOST requests again. */
static noinline void flash_resort_some(struct flash_queue *fq)
{
	unsigned int n;

	for (n = 0; n < FLASH_DRAIN_MOST; n++) {
		if (flash_policy.resort && !flash_policy.resort(fq))
			continue;
		WRITE_ONCE(fq->pending.resort, false);
		flash_change(fq);
		break;
	}
}

/* Drain up to FLASH_DRAIN_MOST events. True if that was all. */
static bool flash_drain_some(struct flash_queue *fq)
{
	struct flash_pending *p = &fq->pending;
	unsigned int n;

	if (unlikely(p->resort)) {
		flash_resort_some(fq);
		return false;
	}
	if (!p->arrived && !p->ended)
		flash_pending_take(fq);
	for (n = 0; n < FLASH_DRAIN_MOST; n++) {
		struct flash_rq *arrived = flash_pending_rq(p->arrived);
		struct flash_rq *ended = flash_pending_rq(p->ended);

		if (ended && (!arrived || ended->time <= arrived->time)) {
			p->ended = ended->pending.next;
			flash_drain_end(fq, ended);
		} else if (arrived) {
			p->arrived = arrived->pending.next;
			flash_drain_arrival(fq, arrived);
		} else {
			break;
		}
	}
	if (p->arrived || p->ended || unlikely(p->resort))
		return false;
	/* Pairs with flash_pending_any(). */
	smp_store_release(&fq->waits, fq->waits - FLASH_WAITS_TAKING);
	return true;
}

/**
 * flash_resort_rest - sort what is left to be sorted again
 * @fq: the device
 *
 * Process context, no lock held; may sleep. Other tasks that take the lock sort, too.
 */
void flash_resort_rest(struct flash_queue *fq)
{
	while (READ_ONCE(fq->pending.resort)) {
		spin_lock(&fq->lock);
		flash_drain_some(fq);
		flash_unlock(fq);
		cond_resched();
	}
	/* Clears FLASH_WAITS_TAKING. */
	flash_lock(fq);
	flash_unlock(fq);
}

static void flash_drain_all(struct flash_queue *fq)
{
	while (!flash_drain_some(fq)) {
		flash_store_fresh(fq);
		spin_unlock(&fq->lock);
		spin_lock(&fq->lock);
	}
}

/**
 * flash_drain - tell the policy what has happened since the latest drain
 * @fq: the device, locked; the lock may be released and taken again
 */
void flash_drain(struct flash_queue *fq)
{
	lockdep_assert_held(&fq->lock);

	/* Another drain has released the lock, and does not know the newest events. */
	if (unlikely(fq->waits & FLASH_WAITS_TAKING))
		flash_drain_all(fq);
	flash_drain_all(fq);
}
