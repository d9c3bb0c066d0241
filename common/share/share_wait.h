/* SPDX-License-Identifier: GPL-2.0 */
/*
 * share_wait.h - a tenant's next request is about to come: is it waited for?
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * This is the window's anticipation: others are held back for somebody who has
 * nothing to do for a moment and is behind them. What becomes of a turn that is
 * exclusive is in share_turn.h.
 */
#ifndef FLASH_SHARE_WAIT_H
#define FLASH_SHARE_WAIT_H

#include "share_state.h"

/* In vain so often in a row, and a tenant is not waited for */
#define FLASH_SHARE_MISSES	2

/* Nobody waits for it any more. */
static inline void flash_share_unpause(struct flash_tenant *t)
{
	flash_unlink(&t->pause);
	t->waited = false;
}

/* Those whose next request did not come in time. */
static inline void flash_share_expire(struct flash_share *s, u64 now)
{
	struct flash_link *link = s->paused.next;

	while (link != &s->paused) {
		struct flash_tenant *t = flash_link_of(link, struct flash_tenant,
						       pause);

		link = link->next;
		if (now < t->until)
			continue;
		t->misses += t->waited;
		flash_share_unpause(t);
	}
}

/* Is somebody to be waited for, who is behind @t? Sets when that ends. */
static inline bool flash_share_waits(struct flash_share *s,
				     const struct flash_tenant *t, u64 now)
{
	struct flash_link *link;
	bool waits = false;

	flash_share_expire(s, now);
	for (link = s->paused.next; link != &s->paused; link = link->next) {
		struct flash_tenant *a = flash_link_of(link, struct flash_tenant,
						       pause);

		if (!flash_vtime_before(a->vtime, t->vtime))
			continue;
		if (!s->wake || a->until < s->wake)
			s->wake = a->until;
		if (!a->waited) {
			a->waited = true;
			a->waits++;
			s->stats.holds++;
		}
		waits = true;
	}
	return waits;
}

/*
 * It has nothing to do now: will its next request come soon enough? Not if its
 * part of the window is over by then: the device works on requests that take @ns
 * each, and what it does not get meanwhile is lost for all.
 */
static inline void flash_share_pause(struct flash_share *s,
				     struct flash_tenant *t, u64 ns, u64 now)
{
	u64 wait;

	if (s->rules.exclusive || !s->rules.antic || !t->sync ||
	    !t->think.known || t->misses >= FLASH_SHARE_MISSES ||
	    t->think.ns > ns * s->rules.depth * t->weight /
			  (s->weights + t->weight))
		return;
	/* Half of all gaps are longer than the mean. */
	wait = 2 * t->think.ns;
	if (wait > s->rules.antic_max)
		wait = s->rules.antic_max;
	t->until = now + wait;
	flash_ring_add(&t->pause, &s->paused);
}

#endif /* FLASH_SHARE_WAIT_H */
