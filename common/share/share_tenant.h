/* SPDX-License-Identifier: GPL-2.0 */
/*
 * share_tenant.h - tenants come, rest and are forgotten
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * Where they start, what is due to them, and that virtual time wraps.
 */
#ifndef FLASH_SHARE_TENANT_H
#define FLASH_SHARE_TENANT_H

#include "share_turn.h"
#include "share_wait.h"

/* A second of shares, and how long one without requests is remembered, ns */
#define FLASH_SHARE_SECOND	1000000000ULL

/* Virtual times are never further apart than a second's use more than this */
#define FLASH_SHARE_AGE		(1ULL << 62)

/* What is due to a tenant, up to now. */
static inline void flash_share_due(struct flash_share *s, struct flash_tenant *t)
{
	if (t->busy)
		t->due += ((s->clock - t->seen) * t->weight) >>
			  FLASH_VTIME_SHIFT;
	t->seen = s->clock;
}

/*
 * Virtual time wraps, in three days of a device that works for one tenant of weight 1
 * and charges its time. Half of that behind would be ahead, so nobody stays so far
 * behind. In what is left a second is nothing.
 */
static inline void flash_share_age(struct flash_share *s)
{
	u32 i;

	if (flash_vtime_before(s->vtime + FLASH_SHARE_AGE, s->latest))
		s->vtime = s->latest - FLASH_SHARE_AGE;
	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct flash_tenant *t = &s->p->t[i];

		if (flash_vtime_before(t->vtime + FLASH_SHARE_AGE, s->vtime))
			t->vtime = s->vtime - FLASH_SHARE_AGE;
	}
}

/*
 * Without budgets an exclusive turn does not move the device's virtual time. It is the
 * least of those that take part, not of the last choice.
 */
static noinline __cold __maybe_unused void flash_share_join_turns(struct flash_share *s)
{
	struct flash_tenant *other;
	bool any = false;
	u64 least = 0;

	if (s->active) {
		least = s->active->vtime;
		if (!flash_share_timed(s))
			least += flash_vtime_of(s->active->used,
						s->active->weight);
		any = true;
	}
	flash_for_each_backlog(other, s) {
		if (other == s->active)
			continue;
		if (!any || flash_vtime_before(other->vtime, least))
			least = other->vtime;
		any = true;
	}
	if (any)
		s->vtime = flash_vtime_max(s->vtime, least);
}

/* The device's virtual time is up to date from here on. */
static inline void flash_share_join(struct flash_share *s)
{
	if (s->rules.exclusive && !s->rules.budgets)
		flash_share_join_turns(s);
}

/* Some virtual time of @t, if it weighs @weight and what it is worth stays. */
static inline u64 flash_share_reweigh(const struct flash_tenant *t, u64 far,
				      u32 weight)
{
	u64 most = flash_vtime_of((t->usual >> FLASH_SHARE_USUAL_SHIFT) *
				  FLASH_SHARE_CATCH_UP, weight);

	if (most < far)
		most = far;
	/* A long turn of a large weight would be ages for a small one. */
	if (far / weight >= most / t->weight && weight < t->weight)
		return most;
	return far / weight * t->weight + far % weight * t->weight / weight;
}

/* Another weight for @t, while the device's virtual time is up to date. */
static noinline __cold __maybe_unused void flash_share_weigh(struct flash_share *s,
					   struct flash_tenant *t, u32 weight)
{
	flash_share_due(s, t);
	if (flash_vtime_before(s->vtime, t->vtime))
		t->vtime = s->vtime + flash_share_reweigh(t, t->vtime - s->vtime,
							  weight);
	else
		t->vtime = s->vtime - flash_share_reweigh(t, s->vtime - t->vtime,
							  weight);
	if (flash_vtime_before(s->latest, t->vtime))
		s->latest = t->vtime;
	if (t->busy) {
		s->weights -= t->weight;
		s->weights += weight;
	}
	t->weight = weight;
}

/**
 * flash_share_weight - another weight for a tenant, at any time
 * @s: the device
 * @t: the tenant
 * @weight: its weight from now on
 *
 * What it owes, or is owed, was little for a large weight and is much for a small one,
 * or the other way round. If its virtual time stayed, one request of weight 1 would
 * keep it waiting for a thousand of all others, whatever it weighs by then.
 */
static noinline __cold __maybe_unused void flash_share_weight(struct flash_share *s,
					    struct flash_tenant *t, u32 weight)
{
	if (t->weight == weight)
		return;
	flash_share_join(s);
	flash_share_weigh(s, t, weight);
}

/* A second of shares is over. */
static noinline __cold __maybe_unused void flash_share_next_second(struct flash_share *s, u64 now)
{
	u32 i;

	flash_share_age(s);
	flash_share_join(s);
	/* One that was too long ago has nothing to say. */
	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct flash_tenant *t = &s->p->t[i];
		bool old = now - s->second >= 2 * FLASH_SHARE_SECOND;

		flash_share_due(s, t);
		t->last_got = old ? 0 : t->got;
		t->last_due = old ? 0 : t->due;
		t->got = 0;
		t->due = 0;
		if (t->asks && t->asks < t->weight)
			flash_share_weigh(s, t, t->asks);
		t->asks = 0;
		t->prio = FLASH_NO_PRIO;
	}
	s->second = now;
}

/* Is one? */
static inline void flash_share_second(struct flash_share *s, u64 now)
{
	if (now - s->second >= FLASH_SHARE_SECOND)
		flash_share_next_second(s, now);
}

/**
 * flash_share_asks - a request with a priority arrives
 * @s: the device
 * @t: its tenant, whose weight follows from priorities
 * @weight: the weight of that priority
 *
 * Threads of a process may have different priorities. The process has the weight of
 * the highest priority that its requests had in this second or the one before. A
 * request of lower priority changes nothing, so sending some gains nothing, and the
 * weight does not change with every request. It falls once a second at most.
 */
static inline void flash_share_asks(struct flash_share *s,
				    struct flash_tenant *t, u32 weight)
{
	if (weight <= t->asks)
		return;
	t->asks = weight;
	if (weight > t->weight)
		flash_share_weight(s, t, weight);
}

/* It has requests now, and had none before. */
static inline void flash_share_enter(struct flash_share *s,
				     struct flash_tenant *t)
{
	if (t->busy)
		return;
	flash_unlink(&t->rest);
	t->seen = s->clock;
	t->busy = true;
	s->busy++;
	s->weights += t->weight;
}

/* Its last request has gone. */
static inline void flash_share_leave(struct flash_share *s,
				     struct flash_tenant *t)
{
	if (!t->busy || t->nr || t->out)
		return;
	flash_share_due(s, t);
	t->busy = false;
	s->busy--;
	s->weights -= t->weight;
	flash_ring_add(&t->rest, &s->p->resting);
	/* Between two busy times of the device nobody owes anything. */
	if (!s->busy && flash_vtime_before(s->vtime, s->latest))
		s->vtime = s->latest;
}

/* Forget those that have had nothing to do for a second and owe nothing. */
static inline void flash_share_prune(struct flash_share *s, u64 now, u32 most)
{
	struct flash_link *link = s->p->resting.next;

	while (most-- && link != &s->p->resting) {
		struct flash_tenant *t = flash_link_of(link, struct flash_tenant,
						       rest);

		link = link->next;
		if (t == &s->p->t[0])
			continue;
		if (now - t->ended < FLASH_SHARE_SECOND)
			return;
		flash_share_expire(s, now);
		/* Others may be held back for it. */
		if (t == s->active && s->waiting)
			continue;
		if (t == s->active)
			flash_share_end_turn(s, FLASH_IDLE, now);
		/* Or it would begin anew without its debts. */
		if (flash_vtime_before(s->vtime, t->vtime))
			continue;
		if (s->last == t)
			s->last = NULL;
		flash_share_unpause(t);
		flash_tenant_drop(s->p, t);
	}
}

/* One that may be forgotten now, as its place is needed; else false. */
static inline bool flash_share_evict(struct flash_share *s, u64 now)
{
	struct flash_link *link = s->p->resting.next;

	flash_share_expire(s, now);
	while (link != &s->p->resting) {
		struct flash_tenant *t = flash_link_of(link, struct flash_tenant,
						       rest);

		link = link->next;
		if (t == &s->p->t[0] || t == s->active ||
		    !flash_ring_empty(&t->pause) ||
		    flash_vtime_before(s->vtime, t->vtime))
			continue;
		if (s->last == t)
			s->last = NULL;
		flash_tenant_drop(s->p, t);
		return true;
	}
	return false;
}

/**
 * flash_share_tenant - the tenant of a request that is about to be added
 * @s: the device
 * @key: who it is
 * @weight: its weight, if it is not known yet
 * @now: the time, ns
 *
 * Return: the tenant; everybody's if there is no room for one of its own.
 */
static inline struct flash_tenant *
flash_share_tenant(struct flash_share *s, const struct flash_key *key,
		   u32 weight, u64 now)
{
	struct flash_tenant *t = flash_tenant_find(s->p, key);

	if (t)
		return t;
	flash_share_prune(s, now, 2);
	if (s->p->nr >= s->p->max)
		flash_share_evict(s, now);
	t = flash_tenant_new(s->p, key);
	if (!t) {
		s->p->refused++;
		return &s->p->t[0];
	}
	t->weight = weight;
	t->vtime = s->vtime;
	t->seen = s->clock;
	t->ended = now;
	return t;
}

/**
 * flash_share_wants - a tenant has more to send than there are tags for it
 * @t: the tenant
 * @now: the time, ns
 *
 * It may sleep until one is free, and have nothing in the device by then. That is
 * not its own choice.
 */
static inline void flash_share_wants(struct flash_tenant *t, u64 now)
{
	t->wanted = now;
}

/* Was it here all the time, although nothing of it waited? */
static inline bool flash_share_stayed(const struct flash_tenant *t, u64 now)
{
	return t->out ||
	       (t->wanted && now - t->wanted < FLASH_SHARE_SECOND) ||
	       (!flash_ring_empty(&t->pause) && now < t->until);
}

/* Where a tenant starts that had nothing waiting until now. */
static inline void flash_share_start(struct flash_share *s,
				     struct flash_tenant *t,
				     const struct flash_share_item *it, u64 now)
{
	u64 usual = t->usual >> FLASH_SHARE_USUAL_SHIFT, floor;

	/* Its turn goes on, and what it has used of that is still to come. */
	if (s->rules.exclusive && t == s->active)
		return;
	flash_share_join(s);
	floor = s->vtime;
	if (!s->rules.exclusive && flash_share_stayed(t, now)) {
		/*
		 * What it is behind by is its due: so many requests as it usually
		 * sends. One that is large is no reason for more of them.
		 */
		if (!usual)
			usual = flash_share_charge(s, it);
		floor -= flash_vtime_of(usual * FLASH_SHARE_CATCH_UP, t->weight);
	}
	t->vtime = flash_vtime_max(t->vtime, floor);
}

#endif /* FLASH_SHARE_TENANT_H */
