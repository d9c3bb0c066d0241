/* SPDX-License-Identifier: GPL-2.0 */
/*
 * share_urgent.h - requests that other tenants may wait for
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * A file system reads metadata, and the kernel swaps, with locks held or memory
 * short. In virtual-time order such a request of a light tenant waits for a
 * thousand requests of each heavy one, and every task that wants the lock waits,
 * too. So an urgent request is issued out of order and charged to its tenant:
 * the tenant's virtual time runs ahead of the device's. That distance is its debt,
 * which its other requests pay by waiting. The rules:
 *
 *   - An urgent request is issued as soon as a slot is free, as long as its tenant
 *     owes no more than FLASH_SHARE_DEBT of its usual requests.
 *   - If the tenant owes more, its urgent requests are issued in virtual-time order.
 *     In addition one is issued whenever FLASH_SHARE_ASIDE - 1 times its charge was
 *     charged in order since the last such one. All tenants that owe too much take
 *     turns at that. Together they get one part in FLASH_SHARE_ASIDE of the device
 *     beyond their shares, and no urgent request starves. This part adds to no
 *     debt: a tenant with enough urgent requests would otherwise never pay, and its
 *     other requests would starve.
 *   - No urgent request makes its tenant owe more than FLASH_SHARE_CATCH_UP usual
 *     requests.
 *   - In its tenant's turn an urgent request is issued before the tenant's others,
 *     until FLASH_SHARE_PASS requests have passed the first of those.
 *
 * An urgent request of another tenant neither ends a turn nor begins one.
 */
#ifndef FLASH_SHARE_URGENT_H
#define FLASH_SHARE_URGENT_H

#include "share_tenant.h"

/* Requests that may pass the first one of their tenant */
#define FLASH_SHARE_PASS	32

/* Debt up to which urgent requests are issued at once, in usual requests */
#define FLASH_SHARE_DEBT	16

/* Beyond that debt urgent requests get 1 part in FLASH_SHARE_ASIDE of all charges */
#define FLASH_SHARE_ASIDE	16

/**
 * flash_share_urge - a request that waits is urgent
 * @s: the device
 * @it: its item, which flash_share_add() has just added
 */
static noinline __cold __maybe_unused void flash_share_urge(struct flash_share *s,
				    struct flash_share_item *it)
{
	struct flash_tenant *t = it->tenant;

	it->urgent = true;
	if (flash_ring_empty(&t->urgent))
		flash_ring_add(&t->urge, &s->urgent);
	flash_ring_add(&it->urge, &t->urgent);
}

/* An urgent request does not wait any more. */
static noinline __cold __maybe_unused void flash_share_unurge(struct flash_share_item *it)
{
	struct flash_tenant *t = it->tenant;

	it->urgent = false;
	flash_unlink(&it->urge);
	if (flash_ring_empty(&t->urgent))
		flash_unlink(&t->urge);
}

/* The first urgent request of @t, which has one. */
static inline struct flash_share_item *
flash_share_urgent(const struct flash_tenant *t)
{
	return flash_link_of(t->urgent.next, struct flash_share_item, urge);
}

/* Does @t owe more than @most requests such as it usually sends, or as @it? */
static inline bool flash_share_owes(const struct flash_share *s,
				    const struct flash_tenant *t,
				    const struct flash_share_item *it, u32 most)
{
	u64 far = flash_vtime_of(flash_share_usual(s, t, it) * most, t->weight);

	return flash_vtime_before(s->vtime + far, t->vtime);
}

/*
 * The urgent request that is issued before its turn, or NULL; sets @ahead, which tells
 * how for whatever urgent request is issued next.
 *
 * The turn of @active is its own: whether that is over has to be asked.
 */
static noinline __cold __maybe_unused struct flash_share_item *
flash_share_pick_urgent(struct flash_share *s)
{
	struct flash_share_item *late = NULL;
	struct flash_link *link;

	s->ahead = FLASH_IN_ORDER;
	flash_share_join(s);
	for (link = s->urgent.next; link != &s->urgent; link = link->next) {
		struct flash_tenant *t = flash_link_of(link, struct flash_tenant,
						       urge);
		struct flash_share_item *it = flash_share_urgent(t);

		if (s->rules.exclusive && t == s->active)
			continue;
		if (t->passed < FLASH_SHARE_PASS &&
		    !flash_share_owes(s, t, it, FLASH_SHARE_DEBT)) {
			s->ahead = FLASH_AT_ONCE;
			return it;
		}
		/* The first debtor keeps its turn until its charge was charged. */
		if (!late)
			late = it;
	}
	if (!late || s->since / (FLASH_SHARE_ASIDE - 1) <
		     flash_share_charge(s, late))
		return NULL;
	s->ahead = FLASH_IN_DEBT;
	return late;
}

/* @t is charged for an urgent request, which was not in its turn. */
static noinline __cold __maybe_unused void flash_share_owe(const struct flash_share *s,
					 struct flash_tenant *t,
					 const struct flash_share_item *it,
					 u64 charge)
{
	u64 most = s->vtime +
		   flash_vtime_of(flash_share_usual(s, t, it) *
				  FLASH_SHARE_CATCH_UP, t->weight);
	u64 was = t->vtime;

	flash_tenant_charge(t, charge);
	/* It may have owed more before, after a long turn. */
	if (flash_vtime_before(most, t->vtime))
		t->vtime = flash_vtime_max(was, most);
}

#endif /* FLASH_SHARE_URGENT_H */
