/* SPDX-License-Identifier: GPL-2.0 */
/*
 * share_pick.h - which tenant, and which of its requests, goes next
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 */
#ifndef FLASH_SHARE_PICK_H
#define FLASH_SHARE_PICK_H

#include "share_turn.h"
#include "share_urgent.h"

/*
 * Requests that are looked at: of whose turn it is, and for idle chips of others; the
 * second is no more than the first.
 */
#define FLASH_SHARE_CHOICE	16
#define FLASH_SHARE_SCAN	8

/* What the next turn of @t will use at least: one request goes whole. */
static inline u64 flash_share_needs(const struct flash_share *s,
				    const struct flash_tenant *t)
{
	const struct flash_share_item *it = flash_share_head(t);
	u64 budget = flash_share_budget(s, t);
	u64 first = flash_share_timed(s) ? flash_share_sectors(it) :
		    flash_share_charge(s, it);

	return budget > first ? budget : first;
}

/* B-WF2Q+: the earliest finish among those whose start has come. */
static inline struct flash_tenant *flash_share_pick_wf2q(struct flash_share *s)
{
	struct flash_tenant *t, *best = NULL;
	u64 finish, first = 0;

	s->vtime = flash_vtime_max(s->vtime, s->least);
	flash_for_each_backlog(t, s) {
		if (flash_vtime_before(s->vtime, t->vtime))
			continue;
		finish = t->vtime + flash_vtime_of(flash_share_needs(s, t),
						   t->weight);
		if (!best || flash_vtime_before(finish, first) ||
		    (finish == first && t < best)) {
			best = t;
			first = finish;
		}
	}
	return best;
}

/* Among those with something waiting: who has the least virtual time? */
static inline struct flash_tenant *flash_share_pick_least(struct flash_share *s)
{
	struct flash_tenant *t, *best = NULL;

	flash_for_each_backlog(t, s) {
		if (!best || flash_vtime_before(t->vtime, best->vtime) ||
		    (t->vtime == best->vtime && t < best))
			best = t;
	}
	s->least = best->vtime;
	return best;
}

/* How many requests of @t may be looked at, of the first @most */
static inline u32 flash_share_scan(const struct flash_tenant *t, u32 most)
{
	return t->passed < FLASH_SHARE_PASS ? most : 1;
}

/*
 * The first one of the requests of @t, of which there is one, that has least before
 * it on its chips; @load is set to that. Where few are in the device chips are seldom
 * idle, but some have much more to do than others.
 */
static inline struct flash_share_item *
flash_share_soonest(const struct flash_share *s, const struct flash_tenant *t,
		    u32 *load)
{
	const struct flash_link *link = t->queue.next;
	u32 n = flash_share_scan(t, FLASH_SHARE_CHOICE);
	struct flash_share_item *best = NULL;

	*load = 1;
	for (; n && *load && link != &t->queue; n--, link = link->next) {
		struct flash_share_item *it =
			flash_link_of(link, struct flash_share_item, link);
		u32 on = flash_occupancy_load(&s->occ, &it->chips);

		if (!best || on < *load) {
			best = it;
			*load = on;
		}
	}
	return best;
}

/* A request of @t whose chips are idle, among the first ones; or NULL. */
static inline struct flash_share_item *
flash_share_idle(const struct flash_share *s, const struct flash_tenant *t)
{
	const struct flash_link *link = t->queue.next;
	u32 n = flash_share_scan(t, FLASH_SHARE_SCAN);

	for (; n && link != &t->queue; n--, link = link->next) {
		struct flash_share_item *it =
			flash_link_of(link, struct flash_share_item, link);

		if (flash_occupancy_free(&s->occ, &it->chips))
			return it;
	}
	return NULL;
}

/*
 * The request that goes next of those who have one. @best is who has waited
 * longest for its share; others come into question only as far as they are not
 * too far ahead.
 */
static inline struct flash_share_item *
flash_share_pick_item(struct flash_share *s, struct flash_tenant *best)
{
	struct flash_share_item *it, *soonest, *idle = NULL;
	struct flash_tenant *t;
	u32 load;

	if (!flash_ring_empty(&best->urgent) && best->passed < FLASH_SHARE_PASS)
		return flash_share_urgent(best);
	if (!s->geo.nr_chips || s->rules.exclusive)
		return flash_share_head(best);
	soonest = flash_share_soonest(s, best, &load);
	/* A turn is not passed on. */
	if (!load || s->rules.budgets)
		return soonest;
	flash_for_each_backlog(t, s) {
		u64 lead;

		/* Of its first ones none has idle chips: that has been seen. */
		if (t == best)
			continue;
		lead = flash_share_charge(s, flash_share_head(t)) *
		       s->rules.depth;
		if (flash_vtime_before(best->vtime +
				       flash_vtime_of(lead, t->weight),
				       t->vtime) ||
		    (idle && !flash_vtime_before(t->vtime,
						 idle->tenant->vtime)))
			continue;
		it = flash_share_idle(s, t);
		if (it)
			idle = it;
	}
	return idle ? idle : soonest;
}

/*
 * Has somebody got less than its share, all of whose requests are in the device? Who
 * has so few gets the more of the device the fewer of others are in there with them,
 * so nothing goes then beyond what keeps the device busy.
 */
static inline bool flash_share_lags(const struct flash_share *s)
{
	const struct flash_link *link;

	if (s->out < FLASH_SHARE_BOUND || s->rules.exclusive || s->rules.bound)
		return false;
	for (link = s->dry.next; link != &s->dry; link = link->next) {
		const struct flash_tenant *t =
			flash_link_of(link, struct flash_tenant, backlog);

		if (flash_vtime_before(t->vtime, s->vtime))
			return true;
	}
	return false;
}

#endif /* FLASH_SHARE_PICK_H */
