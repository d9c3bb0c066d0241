// SPDX-License-Identifier: GPL-2.0
/*
 * pending.c - insertion without the device's lock
 *
 * Submitters add requests to the pending list, which needs no lock. The next holder of
 * the lock drains it in order (flash_lock()) before it looks at the policy's queues. So
 * each decision is made with the same requests as if every submitter had taken the lock,
 * and a request needs the lock once, when it is dispatched.
 *
 * A request in the pending list counts as waiting: flash_ready() looks there. While a
 * request is moved from the list to a queue it is in neither; @taking is set then.
 *
 * A policy that watches needs the time of an insertion, and an insertion may end a hold of
 * other requests. Then, and if the event is traced or the list has become long, the
 * submitter takes the lock and drains.
 */
#include "iosched.h"
#include "trace.h"

/*
 * Length of the list at which the submitter drains it, in requests. It limits the work
 * with interrupts off, and costs one submission in 64 the lock.
 */
#define FLASH_PENDING_MOST	64

/*
 * The length of the list that begins with @newest; approximate if it is drained at the
 * same time. The record stays valid, as the caller has a request of this device.
 */
static unsigned int flash_pending_length(struct llist_node *newest)
{
	return newest ?
	       data_race(llist_entry(newest, struct flash_rq, pending)->nth) : 0;
}

/**
 * flash_pending_add - add requests to the pending list
 * @fq: the device
 * @fh: their hardware queue
 * @list: the requests; those without a record remain on it
 *
 * No lock, any context. The caller holds a reference that keeps the device from being
 * frozen: the requests may have completed on return.
 * Return: true if the caller has to take the lock, drain, and insert the rest of @list.
 */
bool flash_pending_add(struct flash_queue *fq, struct flash_hctx *fh,
		     struct list_head *list)
{
	struct llist_node *first, *newest = NULL, *oldest = NULL;
	unsigned int nr = 0, nth = 0;
	struct request *rq, *next;

	list_for_each_entry_safe(rq, next, list, queuelist) {
		struct flash_rq *fr = compat_rq_ours(rq) ? flash_hctx_rec(fh, rq) :
							NULL;

		if (unlikely(!fr))
			continue;
		list_del_init(&rq->queuelist);
		fr->rq = rq;
		fr->by = current;
		nr++;
		flash_store_expect(fq, fr);
		fr->pending.next = newest;
		newest = &fr->pending;
		if (!oldest)
			oldest = newest;
	}
	if (newest) {
		/* Before the requests: flash_find_pending() reads it after the list. */
		if (READ_ONCE(fq->pending.hctx) != fh->hctx->queue_num)
			WRITE_ONCE(fq->pending.hctx, fh->hctx->queue_num);
		/*
		 * llist_add_batch(), but with the length of the list, which several
		 * concurrent submitters would not see otherwise.
		 *
		 * A full barrier: the list before @inflight and @first, which
		 * has_work() reads next (see elv_insert_requests()), and before
		 * @watches, which pairs with flash_resume().
		 */
		first = READ_ONCE(fq->pending.list.first);
		do {
			oldest->next = first;
			nth = flash_pending_length(first) + nr;
			llist_entry(newest, struct flash_rq, pending)->nth = nth;
		} while (!try_cmpxchg(&fq->pending.list.first, &first, newest));
	}
	return !list_empty(list) || nth >= FLASH_PENDING_MOST ||
	       READ_ONCE(fq->watches) || trace_flash_insert_enabled();
}
