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
 */
#ifndef K2_ORDER_H
#define K2_ORDER_H

#define K2_RT_LEVELS	8

enum k2_class {
	/* 0 to 7: real-time levels, 0 served first */
	K2_META = K2_RT_LEVELS,
	K2_NRT,
	K2_NR_CLASSES,
};

#define K2_RT_MASK	((1U << K2_RT_LEVELS) - 1)

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
 * k2_pick - the class to serve next
 * @o: the state; at least one class is busy
 * @meta_first: the head of K2_META arrived before the head of K2_NRT (read only
 *	if both are busy)
 * @meta_every: see above
 *
 * Return: the class, whose head the caller takes.
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

#endif /* K2_ORDER_H */
