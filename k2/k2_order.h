/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2_order.h - which class K2 serves next
 *
 * Pure logic, shared with the user-space unit tests: no kernel header.
 *
 * K2 (RTSS'19; analysis paper, section 3.1) has a FIFO queue for each of the
 * eight real-time priority levels and one for everything else. Real-time
 * queues go first, level 0 before level 7; the rest goes when all of them are
 * empty.
 *
 * Departure: strict order lets a real-time task starve itself. Its fsync waits
 * for a journal commit that a kernel thread writes without real-time priority,
 * behind the task's own reads. Requests that others are likely to wait for
 * (file-system metadata, swap, parts of a flush sequence) therefore have a
 * class of their own and go at the latest after every meta_every real-time
 * requests. meta_every = 0 is the paper's strict order. Either way the two
 * non-real-time classes together are one FIFO, as in the paper, whenever no
 * real-time request waits.
 *
 * The I/O priority class "idle", which the paper does not mention, has a queue that
 * goes last. To bound how long it is kept waiting, one of its requests goes in the
 * place of another non-real-time request after idle_wait_ms without an idle request
 * served. Only one, and not each that has waited for so long: a backlog would
 * otherwise overtake best effort as a whole. Metadata is never in this queue.
 */
#ifndef K2_ORDER_H
#define K2_ORDER_H

#include <linux/types.h>

#define K2_RT_LEVELS	8

enum k2_class {
	/* 0 to 7: real-time levels, 0 served first */
	K2_META = K2_RT_LEVELS,
	K2_NRT,
	K2_IDLE,
	K2_NR_CLASSES,
};

#define K2_RT_MASK	((1U << K2_RT_LEVELS) - 1)

/* Best effort and idle: those that have nothing but their turn. */
#define K2_REST_MASK	(1U << K2_NRT | 1U << K2_IDLE)

/**
 * struct k2_order - state of the decision
 * @busy: bit per class: its queue is not empty
 * @passed: real-time requests served while a K2_META request has waited
 */
struct k2_order {
	unsigned int busy;
	unsigned int passed;
};

/**
 * k2_classify - the class of a request
 * @rt: it has real-time priority
 * @level: priority level, 0 to 7, if @rt
 * @meta: others are likely to wait for it
 */
static inline unsigned int k2_classify(int rt, unsigned int level, int meta)
{
	if (rt)
		return level < K2_RT_LEVELS ? level : K2_RT_LEVELS - 1;
	return meta ? K2_META : K2_NRT;
}

/**
 * k2_classify_idle - the class of a request, by its idle priority
 * @class: what k2_classify() returns
 * @idle: it has I/O priority class idle
 */
static inline unsigned int k2_classify_idle(unsigned int class, int idle)
{
	return idle && class == K2_NRT ? K2_IDLE : class;
}

/**
 * k2_pick - the class to serve next
 * @o: the state; at least one class is busy
 * @meta_first: the head of K2_META arrived before the head of K2_NRT (read only
 *	if both are busy)
 * @meta_every: see above
 *
 * Return: the class, whose head the caller takes. If K2_IDLE is busy the caller asks
 * k2_pick_idle() which class has the place of K2_NRT.
 */
static inline unsigned int k2_pick(struct k2_order *o, int meta_first,
				   unsigned int meta_every)
{
	unsigned int rt = o->busy & K2_RT_MASK;
	int meta = !!(o->busy & (1U << K2_META));

	if (rt && !(meta && meta_every && o->passed >= meta_every)) {
		o->passed = meta ? o->passed + 1 : 0;
		return (unsigned int)__builtin_ctz(rt);
	}
	if (meta && (rt || !(o->busy & (1U << K2_NRT)) || meta_first)) {
		o->passed = 0;
		return K2_META;
	}
	return K2_NRT;
}

/**
 * k2_pick_rt - the class to serve next, if nothing but real-time requests may go
 * @o: the state; a real-time class is busy
 *
 * Metadata that is passed over meanwhile has its turn later.
 */
static inline unsigned int k2_pick_rt(struct k2_order *o)
{
	o->passed = o->busy & (1U << K2_META) ? o->passed + 1 : 0;
	return (unsigned int)__builtin_ctz(o->busy & K2_RT_MASK);
}

/**
 * struct k2_idle - the limit on how long K2_IDLE is kept waiting
 * @wait_ns: that limit; 0: idle requests are best-effort ones, in order of arrival
 * @since: since when an idle request has waited, or when one was last served, ns
 * @turns: idle requests served in the place of others because of the limit
 * @owed: an idle request was served in the place of another one, and no metadata
 *	or best-effort request since
 */
struct k2_idle {
	u64 wait_ns;
	u64 since;
	u64 turns;
	bool owed;
};

/**
 * k2_idle_due - does K2_IDLE go before other non-real-time requests?
 * @i: the limit
 * @now: the time, ns
 * @first: its head arrived before the request that is served otherwise
 */
static inline int k2_idle_due(const struct k2_idle *i, u64 now, int first)
{
	/*
	 * At most every other one, or where each choice takes longer than the
	 * limit, idle requests would be served alone.
	 */
	return i->wait_ns ? !i->owed && now - i->since >= i->wait_ns : first;
}

/**
 * k2_idle_served - a class was served while K2_IDLE was busy
 * @i: the limit
 * @class: the class
 * @instead: another non-real-time request waited, and could have been served
 * @now: the time, ns
 *
 * Return: whether the limit was the reason.
 */
static inline int k2_idle_served(struct k2_idle *i, unsigned int class,
				 int instead, u64 now)
{
	if (class < K2_RT_LEVELS)
		return 0;
	if (class != K2_IDLE) {
		i->owed = false;
		return 0;
	}
	i->since = now;
	i->owed = instead && i->wait_ns;
	i->turns += i->owed;
	return i->owed;
}

/**
 * k2_pick_idle - does an idle request go instead?
 * @o: the state; K2_IDLE is busy
 * @class: the class to serve next without it
 * @due: what k2_idle_due() says
 *
 * Metadata that is served before waiting real-time requests keeps its turn.
 *
 * Return: the class, whose head the caller takes.
 */
static inline unsigned int k2_pick_idle(const struct k2_order *o,
					unsigned int class, int due)
{
	if (class < K2_RT_LEVELS ||
	    (class == K2_META && (o->busy & K2_RT_MASK)))
		return class;
	return due || !(o->busy & (1U << class)) ? K2_IDLE : class;
}

#endif /* K2_ORDER_H */
