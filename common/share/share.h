/* SPDX-License-Identifier: GPL-2.0 */
/*
 * share.h - a device that tenants share by weight: what becomes of a request
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. The
 * caller's lock guards all of it.
 *
 *   flash_share_tenant() -> flash_share_add() -> flash_share_next() ->
 *	flash_share_issue() -> flash_share_give()
 *
 * A request can leave before it is issued (flash_share_absorb()), or be in the
 * device without having been added (flash_share_take_head()). After each call
 * the caller asks flash_share_next() again. If that holds everything back, it
 * sets @wake: the caller has to ask once more then, whatever happens meanwhile.
 *
 * Rules say how tenants take turns:
 *
 *   - exclusive: one tenant has the device until its turn ends. It may be waited
 *     for. Without it, several have requests in the device at a time.
 *   - budgets: a turn ends when a budget is used up, and who is next is found by
 *     B-WF2Q+: the earliest virtual finish among those whose virtual start has
 *     come. Without them, the least virtual time is next.
 *   - neither: start-time fair queueing. There are no turns, each request is
 *     chosen anew, and a tenant may be ahead of the slowest by some requests if
 *     their chips are idle.
 *
 * The state of a device is in share_state.h, arrival and rest of tenants in
 * share_tenant.h, the choice of the next request in share_pick.h, turns in
 * share_turn.h, the window's waiting in share_wait.h, and requests that are issued
 * before their turn in share_urgent.h.
 *
 * Two rules keep a device alive. While something waits there is always one that
 * may go, or a time at which there will be, or the tenant whose turn it is has
 * requests in the device, whose end asks again. And nobody is waited for
 * longer than antic_max at a time.
 */
#ifndef FLASH_SHARE_H
#define FLASH_SHARE_H

#include "share_pick.h"
#include "share_tenant.h"

/**
 * flash_share_add - a request arrives
 * @s: the device
 * @it: its item, which belongs to no request that is not done
 * @t: whose it is
 * @seq: its place in the order of arrival
 * @dir: its direction, or FLASH_NR_DIRS
 * @sync: somebody waits for it
 * @sector: its first sector
 * @sectors: its length
 * @now: the time, ns
 */
static inline void flash_share_add(struct flash_share *s,
				   struct flash_share_item *it,
				   struct flash_tenant *t, u64 seq,
				   enum flash_dir dir, bool sync, u64 sector,
				   u32 sectors, u64 now)
{
	flash_share_second(s, now);
	flash_share_describe(it, dir, sync, sector, sectors);
	flash_share_chips(s, it);
	it->tenant = t;
	it->seq = seq;
	it->queued = true;
	it->out = false;
	if (!t->nr)
		flash_share_start(s, t, it, now);
	if (!t->busy && t->issued && t->sync) {
		u64 cap = s->rules.antic_max;

		flash_gap_add(&t->think, now - t->ended, cap);
		if (t->think.known && now - t->ended <= cap &&
		    now - t->ended <= 2 * t->think.ns)
			t->misses = 0;
	}
	/* Nobody wanted the device meanwhile: the turn has stood still. */
	if (!t->busy && t == s->active && !s->waiting)
		t->turn += now - t->ended;
	/*
	 * Had it been waited for it would go now. What others do in between is no gap
	 * of its own, and so long that it would teach nothing.
	 */
	if (!t->busy && t->issued && t != s->active) {
		flash_gap_add(&t->gap, now - t->issued, s->rules.antic_max);
		t->issued = 0;
	}
	flash_share_unpause(t);
	flash_share_enter(s, t);
	if (!t->nr) {
		flash_unlink(&t->backlog);
		flash_ring_add(&t->backlog, &s->backlog);
	}
	flash_ring_add(&it->link, &t->queue);
	t->nr++;
	s->waiting++;
}

/* It waits no more. */
static inline void flash_share_unwait(struct flash_share *s,
				      struct flash_share_item *it)
{
	struct flash_tenant *t = it->tenant;

	if (it == flash_share_head(t))
		t->passed = 0;
	if (it->urgent)
		flash_share_unurge(it);
	flash_unlink(&it->link);
	it->queued = false;
	s->waiting--;
	if (!--t->nr)
		flash_unlink(&t->backlog);
}

/**
 * flash_share_next - the request that goes next
 * @s: the device
 * @now: the time, ns
 *
 * Return: the request, or NULL: none may go now. If something waits then, it is
 * either for the end of a request of @active, or until @wake, or for whichever
 * comes first.
 */
static inline struct flash_share_item *flash_share_next(struct flash_share *s,
							u64 now)
{
	enum flash_reason why;
	struct flash_tenant *t;

	s->wake = 0;
	if (!flash_ring_empty(&s->urgent)) {
		struct flash_share_item *it = flash_share_pick_urgent(s);

		if (it)
			return it;
	}
	if (!s->waiting || flash_share_lags(s))
		return NULL;
	if (s->active) {
		why = flash_share_over(s, s->active, now);
		if (!why)
			return s->active->nr ?
			       flash_share_pick_item(s, s->active) : NULL;
		flash_share_end_turn(s, why, now);
	}
	t = flash_share_pick_least(s);
	if (s->rules.budgets)
		t = flash_share_pick_wf2q(s);
	if (!s->rules.exclusive && s->rules.antic &&
	    flash_share_waits(s, t, now))
		return NULL;
	return flash_share_pick_item(s, t);
}

/* The device gets a request. */
static inline void flash_share_take(struct flash_share *s,
				    struct flash_share_item *it, u64 now)
{
	struct flash_tenant *t = it->tenant;

	flash_share_work(s, now);
	it->work = s->work;
	it->out = true;
	t->out++;
	s->out++;
	flash_occupancy_take(&s->occ, &it->chips,
			     it->dir == FLASH_NR_DIRS ? FLASH_WRITE : it->dir);
}

/* A request of @t was charged @charge, in the unit of @usual. */
static inline void flash_share_usually(struct flash_tenant *t, u64 charge)
{
	/* From 0 it would be far too little for a while, and stay 0 if all cost one. */
	t->usual = t->usual ? flash_gap_average(t->usual, charge) : charge;
}

/* A request of @t is issued in order: its turn begins or continues. */
static inline void flash_share_turn(struct flash_share *s,
				    struct flash_tenant *t, u64 now)
{
	if (flash_share_turns(s)) {
		if (!s->active)
			flash_share_begin_turn(s, t, now);
	} else {
		s->vtime = flash_vtime_max(s->vtime, s->least);
		if (s->last != t)
			s->stats.turns++;
	}
	s->last = t;
}

/* A request of @t is issued before its turn. Debtors take turns. */
static noinline __cold __maybe_unused void flash_share_ahead(struct flash_share *s,
					   struct flash_tenant *t)
{
	s->stats.ahead++;
	if (s->ahead != FLASH_IN_DEBT)
		return;
	s->since = 0;
	flash_unlink(&t->urge);
	flash_ring_add(&t->urge, &s->urgent);
}

/**
 * flash_share_issue - a request leaves the queues for the driver
 * @s: the device
 * @it: what flash_share_next() has returned
 * @now: the time, ns
 */
static inline void flash_share_issue(struct flash_share *s,
				     struct flash_share_item *it, u64 now)
{
	struct flash_tenant *t = it->tenant;
	u64 charge = flash_share_charge(s, it);
	bool ahead = it->urgent && s->ahead;
	/* In the turn of @t it counts as a part of that turn. */
	bool aside = ahead && t != s->active;

	flash_share_second(s, now);
	if (ahead)
		flash_share_ahead(s, t);
	else
		s->since += charge;
	if (!aside)
		flash_share_turn(s, t, now);
	if (it != flash_share_head(t)) {
		t->passed++;
		s->stats.idle_chips += !it->urgent;
	}
	flash_share_unwait(s, it);
	if (!t->nr)
		flash_ring_add(&t->backlog, &s->dry);
	if (t->issued)
		flash_gap_add(&t->gap, now - t->issued, s->rules.antic_max);
	t->issued = now;
	t->sync = it->sync;
	t->waited = false;
	flash_share_usually(t, charge << FLASH_SHARE_USUAL_SHIFT);
	t->requests++;
	t->sectors += it->sectors;
	if (aside || !flash_share_timed(s)) {
		u64 all = flash_vtime_of(charge, s->weights);

		if (!aside)
			t->used += charge;
		t->cost += charge;
		t->got += charge;
		s->clock += all;
		if (s->rules.budgets)
			s->vtime += all;
	} else {
		/* Budgets are in sectors still. */
		t->used += flash_share_sectors(it);
	}
	if (aside && s->ahead == FLASH_AT_ONCE)
		flash_share_owe(s, t, it, charge);
	else if (!aside && !s->rules.exclusive)
		flash_tenant_charge(t, charge);
	if (flash_vtime_before(s->latest, t->vtime))
		s->latest = t->vtime;
	flash_share_take(s, it, now);
}

/**
 * flash_share_take_head - the device gets a request that was past all queues
 * @s: the device
 * @it: its item
 * @dir: its direction, or FLASH_NR_DIRS
 * @sector: its first sector
 * @sectors: its length
 * @now: the time, ns
 *
 * It is everybody's, and charged to nobody: most of them were handed over
 * before, and are again.
 */
static inline void flash_share_take_head(struct flash_share *s,
					 struct flash_share_item *it,
					 enum flash_dir dir, u64 sector,
					 u32 sectors, u64 now)
{
	flash_share_describe(it, dir, false, sector, sectors);
	flash_share_chips(s, it);
	flash_ring_init(&it->link);
	it->tenant = &s->p->t[0];
	it->queued = false;
	it->urgent = false;
	flash_share_enter(s, it->tenant);
	flash_share_take(s, it, now);
}

/* All virtual times begin anew: they were of something else. */
static inline void flash_share_anew(struct flash_share *s)
{
	u32 i;

	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct flash_tenant *t = &s->p->t[i];

		flash_share_due(s, t);
		t->vtime = 0;
		t->used = 0;
		t->cost = 0;
		t->usual = 0;
		t->budget = 0;
		t->got = 0;
		t->due = 0;
		t->last_got = 0;
		t->last_due = 0;
		flash_share_unpause(t);
	}
	s->vtime = 0;
	s->least = 0;
	s->latest = 0;
	s->active = NULL;
}

/*
 * A request has ended, which says how long such ones take. What was charged until
 * then was a guess, many times too much if the device works on many at a time. Debts
 * would be worth as much more than what is used from now on, so nobody has any.
 */
static inline void flash_share_learn(struct flash_share *s,
				     const struct flash_share_item *it)
{
	u64 ns = (s->work - it->work) >> FLASH_SHARE_WORK_SHIFT;
	bool guess = !flash_cost_ns(&s->cost, it->dir, it->sectors);

	flash_cost_learn(&s->cost, it->dir, it->sectors, ns);
	if (guess && s->rules.charge == FLASH_CHARGE_TIME &&
	    !s->rules.exclusive && flash_cost_ns(&s->cost, it->dir, it->sectors))
		flash_share_anew(s);
}

/**
 * flash_share_give - a request is done, or the driver has handed it back
 * @s: the device
 * @it: the request, which is in the device
 * @ended: it is done
 * @now: the time, ns
 */
static inline void flash_share_give(struct flash_share *s,
				    struct flash_share_item *it, bool ended,
				    u64 now)
{
	enum flash_dir dir = it->dir == FLASH_NR_DIRS ? FLASH_WRITE : it->dir;
	struct flash_tenant *t = it->tenant;

	flash_share_work(s, now);
	if (ended && it->dir != FLASH_NR_DIRS)
		flash_share_learn(s, it);
	if (s->rules.bound || s->rules.exclusive) {
		flash_pace_break(&s->pace);
	} else if (ended) {
		/* Whoever was held back is so until a request ends. */
		if (s->waiting && s->out >= flash_pace_bound(&s->pace))
			s->pace.full = true;
		if (it->dir != FLASH_NR_DIRS)
			s->pace.moved += it->sectors;
		flash_pace_end(&s->pace, s->out == 1, true, now);
	}
	flash_occupancy_release(&s->occ, &it->chips, dir);
	it->tenant = NULL;
	it->out = false;
	t->out--;
	s->out--;
	t->ended = now;
	if (t->nr || t->out)
		return;
	flash_unlink(&t->backlog);
	flash_share_leave(s, t);
	if (ended && it->dir != FLASH_NR_DIRS && t != &s->p->t[0])
		flash_share_pause(s, t, flash_cost_ns(&s->cost, dir,
						      it->sectors), now);
}

/**
 * flash_share_grow - a request that waits has taken a neighbour
 * @s: the device
 * @it: the request
 * @sector: where it starts now
 * @sectors: its length now
 */
static inline void flash_share_grow(struct flash_share *s,
				    struct flash_share_item *it, u64 sector,
				    u32 sectors)
{
	flash_share_span(it, sector, sectors);
	flash_share_chips(s, it);
}

/**
 * flash_share_absorb - a request that waits has swallowed another one
 * @s: the device
 * @it: the request; it inherits the place of @gone if that was first
 * @gone: the other one, of the same tenant, and urgent if @it is
 * @sector: where @it starts now
 * @sectors: its length now
 */
static inline void flash_share_absorb(struct flash_share *s,
				      struct flash_share_item *it,
				      struct flash_share_item *gone, u64 sector,
				      u32 sectors)
{
	u32 passed = it->tenant->passed;

	if (gone->seq < it->seq) {
		it->seq = gone->seq;
		flash_unlink(&it->link);
		flash_link_after(&it->link, &gone->link);
		if (it->urgent) {
			flash_unlink(&it->urge);
			flash_link_after(&it->urge, &gone->urge);
		}
	}
	it->sync |= gone->sync;
	flash_share_unwait(s, gone);
	/* Who is first now is so in the place of @gone, which was passed as often. */
	it->tenant->passed = passed;
	gone->tenant = NULL;
	flash_share_grow(s, it, sector, sectors);
}

/**
 * flash_share_set - other rules, at any time
 * @s: the device
 * @rules: the rules
 */
static inline void flash_share_set(struct flash_share *s,
				   const struct flash_share_rules *rules)
{
	bool anew = rules->exclusive != s->rules.exclusive ||
		    rules->budgets != s->rules.budgets ||
		    rules->charge != s->rules.charge;
	bool sizes = memcmp(&rules->budget, &s->rules.budget,
			    sizeof(rules->budget));
	u32 i;

	s->rules = *rules;
	if (!s->rules.budget.standard)
		s->rules.budget.standard = 1;
	for (i = 0; sizes && i <= FLASH_TENANTS; i++)
		s->p->t[i].budget = 0;
	if (s->active && sizes)
		s->active->budget = s->rules.budget.standard;
	if (anew)
		flash_share_anew(s);
}

/**
 * flash_share_layout - another layout, at any time
 * @s: the device
 * @geo: the layout
 * @offset: sectors of the drive before the device
 */
static inline void flash_share_layout(struct flash_share *s,
				      const struct flash_geometry *geo,
				      u64 offset)
{
	u32 generation = s->geo.generation;
	struct flash_tenant *t;

	s->geo = *geo;
	s->geo.generation = generation + 1;
	s->offset = offset;
	flash_occupancy_set(&s->occ, &s->geo, 1);
	flash_for_each_backlog(t, s) {
		struct flash_link *link;

		for (link = t->queue.next; link != &t->queue; link = link->next)
			flash_share_chips(s, flash_link_of(link,
					  struct flash_share_item, link));
	}
}

/**
 * flash_share_init - nobody is there
 * @s: the device, all zeroes
 * @p: memory for its tenants, all zeroes, which stays the caller's
 * @rules: any rules
 */
static inline void flash_share_init(struct flash_share *s,
				    struct flash_tenants *p,
				    const struct flash_share_rules *rules)
{
	static const struct flash_geometry none;

	s->p = p;
	flash_tenants_init(p, FLASH_WEIGHT_DEFAULT);
	flash_ring_add(&p->t[0].rest, &p->resting);
	flash_ring_init(&s->backlog);
	flash_ring_init(&s->dry);
	flash_ring_init(&s->paused);
	flash_ring_init(&s->urgent);
	flash_pace_init(&s->pace, FLASH_SHARE_BOUND, FLASH_SHARE_BOUND_MAX);
	flash_climb_from(&s->pace.climb, FLASH_SHARE_BOUND_FIRST);
	s->pace.climb.gain = FLASH_SHARE_GAIN;
	s->pace.climb.sure = true;
	flash_share_layout(s, &none, 0);
	flash_share_set(s, rules);
	flash_share_anew(s);
}

#endif /* FLASH_SHARE_H */
