// SPDX-License-Identifier: GPL-2.0
/*
 * pending.c - requests that come, without the device's lock
 *
 * Who submits a request puts it into the inbox, a list that needs no lock. Who
 * takes the lock next takes out all of it first, in the order in which it came
 * (flash_lock()), and only then looks at the queues: whatever is decided is
 * decided with the same requests at hand as if each had taken the lock to come.
 * So a request needs the lock once, when it is chosen.
 *
 * For the rule in inflight.c a request waits from the moment on that it is in
 * the inbox: flash_ready() looks there, too. Between being taken out and being in
 * a queue it is in neither; meanwhile @taking is set.
 *
 * What may rest there is what nobody needs to know of yet. A policy that watches
 * does: when a request came, whether it lets others go. Then, if the event is
 * traced, or if very many have come since somebody looked, who submits takes the
 * lock and takes in.
 */
#include "iosched.h"
#include "trace.h"

/*
 * After so many the next one takes in, so that nobody finds many more of them, with
 * interrupts off. It is one time in so many that the lock is taken for it.
 */
#define FLASH_INBOX_MOST	64

/**
 * flash_inbox_waits - has anything come that is in no queue of the policy yet?
 * @fq: the device
 *
 * No lock. If not, whatever had been taken out by now is seen in the queues by
 * whoever looks at them next.
 */
bool flash_inbox_waits(const struct flash_queue *fq)
{
	if (!llist_empty(&fq->inbox.list))
		return true;
	/*
	 * Empty since @taking was set: pairs with llist_del_all() in
	 * flash_pending_take(), a full barrier between the two.
	 */
	smp_rmb();
	/* And not set any more: what was taken is queued. Pairs with the release. */
	return smp_load_acquire(&fq->inbox.taking);
}

/*
 * How many there are with the newest one; or about so many, if that has been taken out
 * meanwhile. Records stay as long as who asks has a request.
 */
static unsigned int flash_inbox_nr(struct llist_node *newest)
{
	return newest ?
	       data_race(llist_entry(newest, struct flash_rq, inbox)->nth) : 0;
}

/**
 * flash_inbox_add - put requests into the inbox
 * @fq: the device
 * @fh: their hardware queue
 * @list: they; what has no record remains on it
 *
 * No lock, any context. The caller holds something that keeps the device from
 * being frozen: what is in the inbox may have come to its end on return.
 * Return: whether the caller must take the lock, take in, and see to the rest.
 */
bool flash_inbox_add(struct flash_queue *fq, struct flash_hctx *fh,
		     struct list_head *list)
{
	struct llist_node *first, *newest = NULL, *oldest = NULL;
	unsigned int nr = 0, nth = 0;
	struct request *rq, *next;

	list_for_each_entry_safe(rq, next, list, queuelist) {
		struct flash_rq *fr = elv_rq_ours(rq) ? flash_hctx_rec(fh, rq) :
							NULL;

		if (unlikely(!fr))
			continue;
		list_del_init(&rq->queuelist);
		fr->rq = rq;
		fr->by = current;
		nr++;
		flash_store_expect(fq, fr);
		fr->inbox.next = newest;
		newest = &fr->inbox;
		if (!oldest)
			oldest = newest;
	}
	if (newest) {
		/* Before the requests: who finds these finds a queue to run. */
		if (READ_ONCE(fq->inbox.hctx) != fh->hctx->queue_num)
			WRITE_ONCE(fq->inbox.hctx, fh->hctx->queue_num);
		/*
		 * llist_add_batch(), but each counts all that are there when it
		 * is added. Else those that come at once count one for all.
		 *
		 * A full barrier: the inbox before @inflight and @first, which
		 * has_work() reads next (see elv_insert_requests()), and before
		 * @watches, which pairs with flash_resume().
		 */
		first = READ_ONCE(fq->inbox.list.first);
		do {
			oldest->next = first;
			nth = flash_inbox_nr(first) + nr;
			llist_entry(newest, struct flash_rq, inbox)->nth = nth;
		} while (!try_cmpxchg(&fq->inbox.list.first, &first, newest));
	}
	return !list_empty(list) || nth >= FLASH_INBOX_MOST ||
	       READ_ONCE(fq->watches) || trace_flash_insert_enabled();
}

/**
 * flash_pending_take - empty the pending list
 * @fq: the device, locked
 *
 * Return: the records of its requests, the oldest first, linked by flash_rq.inbox; NULL
 * if there is none. Else the caller adds them to the policy's queues and calls
 * flash_pending_taken(), with the lock held all the time.
 */
struct llist_node *flash_pending_take(struct flash_queue *fq)
{
	if (llist_empty(&fq->inbox.list))
		return NULL;
	WRITE_ONCE(fq->inbox.taking, true);
	/*
	 * A full barrier on both sides. Before: see flash_inbox_waits(). Behind: the
	 * caller reads @inflight next, and who gives a slot back writes that and reads
	 * @taking; one of the two sees the other's write.
	 */
	return llist_reverse_order(llist_del_all(&fq->inbox.list));
}

/**
 * flash_pending_taken - the requests of flash_pending_take() are in the queues
 * @fq: the device, locked
 */
void flash_pending_taken(struct flash_queue *fq)
{
	/* Pairs with flash_inbox_waits(). */
	smp_store_release(&fq->inbox.taking, false);
}
