// SPDX-License-Identifier: GPL-2.0
/*
 * urgent.c - requests that other tenants may wait for
 *
 * A file system reads metadata, and the kernel swaps, with locks held or with little free
 * memory. In virtual-time order such a request of a light tenant waits for a thousand
 * requests of each heavy one, and so does every task that needs the lock. So an urgent
 * request is issued out of order and charged to its tenant. The tenant's virtual time runs
 * ahead of the device's. That distance is its debt, which its other requests pay by
 * waiting. The rules:
 *
 *   - An urgent request is issued as soon as a slot is free, as long as its tenant's debt
 *     is at most FAIR_DEBT of its usual requests.
 *   - With a larger debt, its urgent requests are issued in virtual-time order. In
 *     addition, one is issued whenever requests in order were charged FAIR_ASIDE - 1 times
 *     its charge since the last such one. Tenants with large debts take turns at that.
 *     Together they get one part in FAIR_ASIDE of the device beyond their shares, and no
 *     urgent request starves. This part does not add to debts: a tenant with enough urgent
 *     requests would never pay, and its other requests would starve.
 *   - An urgent request does not raise a debt beyond FAIR_CATCH_UP usual requests.
 *   - In its tenant's turn an urgent request is issued before the tenant's others, until
 *     FAIR_PASS requests have passed the first of these.
 *
 * An urgent request of another tenant neither ends a turn nor begins one.
 */
#include "fairqueue.h"

/* Beyond that debt, urgent requests get one part in this many of all charges. */
#define FAIR_ASIDE	16

/**
 * fair_urgent_add - a request that was just added is urgent
 * @q: the queues
 * @rq: the request
 */
void fair_urgent_add(struct fair_queue *q, struct fair_rq *rq)
{
	struct tenant *t = rq->tenant;

	rq->urgent = true;
	if (list_empty(&t->urgent))
		list_add_tail(&t->urge, &q->urgent.tenants);
	list_add_tail(&rq->urge, &t->urgent);
}

/** fair_urgent_del - the urgent request @rq does not wait any more */
void fair_urgent_del(struct fair_rq *rq)
{
	struct tenant *t = rq->tenant;

	rq->urgent = false;
	list_del_init(&rq->urge);
	if (list_empty(&t->urgent))
		list_del_init(&t->urge);
}

/* Does the debt of @t exceed @most usual requests, or @most times the charge of @rq? */
static bool fair_owes(const struct fair_queue *q, const struct tenant *t,
		      const struct fair_rq *rq, u32 most)
{
	u64 debt = flash_vtime_of(fair_usual(t, fair_charge(q, rq)) * most, t->weight);

	return flash_vtime_before(q->vtime + debt, t->vtime);
}

/**
 * fair_urgent_pick - choose an urgent request to issue ahead of its turn
 * @q: the queues, with urgent requests that wait
 *
 * Sets fair_urgent.ahead, which applies to any urgent request that is issued next. Urgent
 * requests of an exclusive turn's tenant are left to that turn, which may be over.
 *
 * Return: the request, or NULL.
 */
struct fair_rq *fair_urgent_pick(struct fair_queue *q)
{
	struct fair_rq *rq, *late = NULL;
	struct tenant *t;

	q->urgent.ahead = FAIR_IN_ORDER;
	fair_update_vtime(q);
	list_for_each_entry(t, &q->urgent.tenants, urge) {
		rq = fair_urgent_first(t);
		if (q->rules.exclusive && t == q->active)
			continue;
		if (t->passed < FAIR_PASS && !fair_owes(q, t, rq, FAIR_DEBT)) {
			q->urgent.ahead = FAIR_AT_ONCE;
			return rq;
		}
		/* The first debtor stays first until its charge is reached. */
		if (!late)
			late = rq;
	}
	if (!late || q->urgent.since / (FAIR_ASIDE - 1) < fair_charge(q, late))
		return NULL;
	q->urgent.ahead = FAIR_IN_DEBT;
	return late;
}

/**
 * fair_urgent_issued - an urgent request is issued ahead of its turn
 * @q: the queues
 * @t: its tenant, which becomes the last of the debtors if its debt is large
 */
void fair_urgent_issued(struct fair_queue *q, struct tenant *t)
{
	q->stats.ahead++;
	if (q->urgent.ahead != FAIR_IN_DEBT)
		return;
	q->urgent.since = 0;
	list_move_tail(&t->urge, &q->urgent.tenants);
}

/**
 * fair_urgent_charge - charge a tenant for an urgent request outside of its turn
 * @q: the queues
 * @t: the tenant
 * @rq: the request
 * @charge: its charge
 */
void fair_urgent_charge(const struct fair_queue *q, struct tenant *t,
			const struct fair_rq *rq, u64 charge)
{
	u64 usual = fair_usual(t, fair_charge(q, rq));
	u64 most = q->vtime + flash_vtime_of(usual * FAIR_CATCH_UP, t->weight);
	u64 before = t->vtime;

	tenant_charge(t, charge);
	/* After a long turn the debt may have been larger already. */
	if (flash_vtime_before(most, t->vtime))
		t->vtime = flash_vtime_max(before, most);
}
