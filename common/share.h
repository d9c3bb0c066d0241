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
 * Two rules keep a device alive. While something waits there is always one that
 * may go, or a time at which there will be, or the tenant whose turn it is has
 * requests in the device, whose end asks again. And nobody is waited for
 * longer than antic_max at a time.
 */
#ifndef FLASH_SHARE_H
#define FLASH_SHARE_H

#include "chipvec.h"
#include "cost.h"
#include "occupancy.h"
#include "pace.h"
#include "tenant.h"

/* A second of shares, and how long one without requests is remembered, ns */
#define FLASH_SHARE_SECOND	1000000000ULL

/* Virtual times are never further apart than a second's use more than this */
#define FLASH_SHARE_AGE		(1ULL << 62)

/*
 * Requests in the device: so many whoever is behind, so many at first, on the ladder
 * of climb.h, and at most
 */
#define FLASH_SHARE_BOUND	64
#define FLASH_SHARE_BOUND_FIRST	216
#define FLASH_SHARE_BOUND_MAX	1024

/* What a step of it may cost, see climb.h: 1 %, as there may be three down */
#define FLASH_SHARE_GAIN	41

/* So many requests may be caught up by who was in the device all the time. */
#define FLASH_SHARE_CATCH_UP	64

/* Bits behind the point of what a request is usually charged */
#define FLASH_SHARE_USUAL_SHIFT	8

/* Requests of a tenant that are looked at for idle chips */
#define FLASH_SHARE_SCAN	8

/* Requests that may pass the first one of their tenant */
#define FLASH_SHARE_PASS	32

/* In vain so often in a row, and a tenant is not waited for */
#define FLASH_SHARE_MISSES	2

/* What is charged for requests without data, in sectors */
#define FLASH_SHARE_NOTHING	8

/* Device time until some was learned: of a request and of a sector, ns */
#define FLASH_SHARE_BASE	20000
#define FLASH_SHARE_SLOPE	500

/* Bits behind the point of the device's work */
#define FLASH_SHARE_WORK_SHIFT	8

/**
 * enum flash_charge - what is charged
 * @FLASH_CHARGE_SECTORS: sectors
 * @FLASH_CHARGE_REQUESTS: requests
 * @FLASH_CHARGE_TIME: of a turn that is exclusive how long it lasted, else what
 *	the device usually works on such a request; ns
 * @FLASH_NR_CHARGES: their number
 */
enum flash_charge {
	FLASH_CHARGE_SECTORS,
	FLASH_CHARGE_REQUESTS,
	FLASH_CHARGE_TIME,
	FLASH_NR_CHARGES,
};

/**
 * struct flash_share_rules - how tenants take turns
 * @exclusive: see the top
 * @budgets: see the top
 * @antic: the next request of a tenant may be waited for
 * @fixed: exclusive: for antic_max, and not for the mean gap
 * @charge: what is charged
 * @antic_max: nobody is waited for longer, ns
 * @slice: how long a turn of the default weight lasts, ns; 0: for ever
 * @depth: requests that a tenant may be ahead of the slowest
 * @bound: requests in the device; 0: as many as it needs, or, if a turn is
 *	exclusive, any number
 * @budget: sizes of budgets
 * @max_gap: the longest time between two turns, for which budgets are made
 *	smaller; 0: any
 */
struct flash_share_rules {
	bool exclusive;
	bool budgets;
	bool antic;
	bool fixed;
	enum flash_charge charge;
	u64 antic_max;
	u64 slice;
	u32 depth;
	u32 bound;
	struct flash_budgets budget;
	u64 max_gap;
};

/**
 * struct flash_share_item - one request
 * @link:	its place among those of its tenant
 * @tenant:	whose it is; NULL: it is neither waiting nor in the device
 * @seq:	its place in the order of arrival
 * @work:	flash_share.work when it was handed over
 * @sectors:	its length
 * @sector:	its first sector
 * @dir:	FLASH_NR_DIRS: neither a read nor a write
 * @sync:	somebody waits for it
 * @queued:	it waits
 * @out:	it is in the device
 * @chips:	those that it needs, if a layout is known
 */
struct flash_share_item {
	struct flash_link link;
	struct flash_tenant *tenant;
	u64 seq;
	u64 work;
	u64 sector;
	u32 sectors;
	enum flash_dir dir;
	bool sync;
	bool queued;
	bool out;
	struct flash_chipvec chips;
};

/**
 * struct flash_share_stats - counters
 * @turns:	turns that ended, or, where there are none, changes of tenant
 * @holds:	times that everything was held back for somebody
 * @idle_chips:	requests that went before others as their chips were idle
 */
struct flash_share_stats {
	u64 turns;
	u64 holds;
	u64 idle_chips;
};

/**
 * struct flash_share - tenants on one device
 * @rules:	see there
 * @p:		the tenants
 * @backlog:	those with something waiting
 * @dry:	those with nothing waiting, but requests in the device
 * @paused:	those that are waited for
 * @active:	whose turn it is
 * @wake:	when flash_share_next() is to be asked again; 0: at the next event
 * @vtime:	the device's virtual time
 * @least:	the least of those with something waiting
 * @latest:	the latest that there was
 * @clock:	charged to all, divided by the weights of those that were busy
 * @weights:	sum of the weights of those that are busy
 * @busy:	how many are
 * @mean:	a moving average of that, in 1/256
 * @waiting:	requests that wait
 * @out:	requests in the device
 * @work:	time in which the device had something to do, divided by how much
 * @worked:	when that was last brought up to date, ns
 * @second:	when this second of shares has begun, ns
 * @geo:	the layout
 * @offset:	sectors of the drive before the device
 * @occ:	what is in the device on each chip
 * @cost:	the device's time, learned
 * @pace:	requests that the device needs
 * @last:	whom the last request was of
 * @stats:	see there
 */
struct flash_share {
	struct flash_share_rules rules;
	struct flash_tenants *p;
	struct flash_link backlog;
	struct flash_link dry;
	struct flash_link paused;
	struct flash_tenant *active;
	u64 wake;
	u64 vtime;
	u64 least;
	u64 latest;
	u64 clock;
	u64 weights;
	u32 busy;
	u32 mean;
	u32 waiting;
	u32 out;
	u64 work;
	u64 worked;
	u64 second;
	struct flash_geometry geo;
	u64 offset;
	struct flash_occupancy occ;
	struct flash_cost cost;
	struct flash_pace pace;
	struct flash_tenant *last;
	struct flash_share_stats stats;
};

#define flash_for_each_backlog(t, s)					\
	for ((t) = flash_link_of((s)->backlog.next, struct flash_tenant, \
				 backlog);				\
	     &(t)->backlog != &(s)->backlog;				\
	     (t) = flash_link_of((t)->backlog.next, struct flash_tenant, \
				 backlog))

/** flash_share_head - the first request of a tenant that waits */
static inline struct flash_share_item *
flash_share_head(const struct flash_tenant *t)
{
	return flash_link_of(t->queue.next, struct flash_share_item, link);
}

/* Are there turns at all? */
static inline bool flash_share_turns(const struct flash_share *s)
{
	return s->rules.exclusive || s->rules.budgets;
}

/* Is the time of a turn charged, when it ends? */
static inline bool flash_share_timed(const struct flash_share *s)
{
	return s->rules.exclusive && s->rules.charge == FLASH_CHARGE_TIME;
}

/* The sectors that count: a discard of gigabytes moves no data. */
static inline u64 flash_share_sectors(const struct flash_share_item *it)
{
	return it->dir == FLASH_NR_DIRS || !it->sectors ? FLASH_SHARE_NOTHING :
	       it->sectors;
}

/* What a request is charged, when it is handed over. */
static inline u64 flash_share_charge(const struct flash_share *s,
				     const struct flash_share_item *it)
{
	u64 sectors = flash_share_sectors(it);
	enum flash_dir dir = it->dir == FLASH_NR_DIRS ? FLASH_WRITE : it->dir;
	u64 ns;

	switch (s->rules.charge) {
	case FLASH_CHARGE_REQUESTS:
		return 1;
	case FLASH_CHARGE_TIME:
		ns = flash_cost_ns(&s->cost, dir, sectors);
		if (!ns)
			ns = FLASH_SHARE_BASE + sectors * FLASH_SHARE_SLOPE;
		return ns;
	default:
		return sectors;
	}
}

/*
 * What a request of @t is usually charged, of which @it is the next: that may be a
 * write which costs next to nothing, between reads that cost much.
 */
static inline u64 flash_share_usual(const struct flash_share *s,
				    const struct flash_tenant *t,
				    const struct flash_share_item *it)
{
	u64 charge = flash_share_charge(s, it);
	u64 usual = t->usual >> FLASH_SHARE_USUAL_SHIFT;

	return charge > usual ? charge : usual;
}

/** flash_share_bound - how many requests may be in the device now, at most */
static inline u32 flash_share_bound(const struct flash_share *s)
{
	if (s->rules.bound)
		return s->rules.bound;
	if (s->rules.exclusive)
		return ~0U;
	return flash_pace_bound(&s->pace);
}

/* The device's work up to now: each request has a part of the time it is in. */
static inline void flash_share_work(struct flash_share *s, u64 now)
{
	if (s->out && now > s->worked)
		s->work += ((now - s->worked) << FLASH_SHARE_WORK_SHIFT) /
			   s->out;
	s->worked = now;
}

/* What is due to a tenant, up to now. */
static inline void flash_share_due(struct flash_share *s, struct flash_tenant *t)
{
	if (t->busy)
		t->due += ((s->clock - t->seen) * t->weight) >>
			  FLASH_VTIME_SHIFT;
	t->seen = s->clock;
}

/*
 * Virtual time wraps, in two days of a device that works for one tenant of weight 1
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

/* A second of shares is over. */
static inline void flash_share_second(struct flash_share *s, u64 now)
{
	u32 i;

	if (now - s->second < FLASH_SHARE_SECOND)
		return;
	flash_share_age(s);
	/* One that was too long ago has nothing to say. */
	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct flash_tenant *t = &s->p->t[i];
		bool old = now - s->second >= 2 * FLASH_SHARE_SECOND;

		flash_share_due(s, t);
		t->last_got = old ? 0 : t->got;
		t->last_due = old ? 0 : t->due;
		t->got = 0;
		t->due = 0;
	}
	s->second = now;
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

/** flash_share_weight - another weight for a tenant, at any time */
static inline void flash_share_weight(struct flash_share *s,
				      struct flash_tenant *t, u32 weight)
{
	if (t->weight == weight)
		return;
	flash_share_due(s, t);
	if (t->busy) {
		s->weights -= t->weight;
		s->weights += weight;
	}
	t->weight = weight;
}

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

/* The turn ends: what was used is charged, and Algorithm 2 says what is next. */
static inline void flash_share_end_turn(struct flash_share *s,
					enum flash_reason why, u64 now)
{
	struct flash_tenant *t = s->active;
	u64 used = t->used, all;

	if (flash_share_timed(s)) {
		/* Not the time in which it had nothing to do. */
		if (!t->nr && !t->out)
			now = flash_vtime_max(t->turn, t->ended);
		used = now - t->turn;
		if (used > FLASH_CHARGE_MAX)
			used = FLASH_CHARGE_MAX;
		t->cost += used;
		t->got += used;
		all = flash_vtime_of(used, s->weights ? s->weights : t->weight);
		s->clock += all;
		if (s->rules.budgets)
			s->vtime += all;
	}
	if (s->rules.exclusive)
		flash_tenant_charge(t, used);
	if (flash_vtime_before(s->latest, t->vtime))
		s->latest = t->vtime;
	if (s->rules.budgets)
		t->budget = flash_budget_next(&s->rules.budget, t->budget,
					      t->used, why, s->busy + !t->busy);
	s->mean = (u32)flash_gap_average(s->mean, (u64)s->busy << 8);
	t->why[why]++;
	t->used = 0;
	s->active = NULL;
	s->stats.turns++;
}

/* What a tenant may use at a stretch. */
static inline u64 flash_share_budget(const struct flash_share *s,
				     const struct flash_tenant *t)
{
	u64 budget = t->budget ? t->budget : s->rules.budget.standard;
	u64 most, window;

	if (!s->rules.max_gap)
		return budget;
	most = flash_budget_gap(s->rules.max_gap, (s->mean + 128) >> 8);
	window = flash_share_usual(s, t, flash_share_head(t)) *
		 (s->rules.depth ? s->rules.depth : 1);
	if (most > window)
		most = window;
	return budget < most ? budget : most;
}

/* A turn begins. */
static inline void flash_share_begin_turn(struct flash_share *s,
					  struct flash_tenant *t, u64 now)
{
	s->active = t;
	t->turn = now;
	t->used = 0;
	t->budget = flash_share_budget(s, t);
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

/* Where a tenant starts that had nothing waiting until now. */
static inline void flash_share_start(struct flash_share *s,
				     struct flash_tenant *t,
				     const struct flash_share_item *it, u64 now)
{
	u64 floor;

	/* Its turn goes on, and what it has used of that is still to come. */
	if (s->rules.exclusive && t == s->active)
		return;
	if (s->rules.exclusive && !s->rules.budgets) {
		struct flash_tenant *other;
		bool any = false;
		u64 least = 0;

		/* The least of those that take part, not of the last choice. */
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
	floor = s->vtime;
	if (!s->rules.exclusive &&
	    (t->out || (!flash_ring_empty(&t->pause) && now < t->until))) {
		/* It was never gone: what it is behind by is its due. */
		floor -= flash_vtime_of(flash_share_usual(s, t, it) *
					FLASH_SHARE_CATCH_UP, t->weight);
	}
	t->vtime = flash_vtime_max(t->vtime, floor);
}

/* The chips that a request needs, by the layout now. */
static inline void flash_share_chips(const struct flash_share *s,
				     struct flash_share_item *it)
{
	flash_chipvec_clear(&it->chips, &s->geo);
	if (s->geo.nr_chips && it->dir != FLASH_NR_DIRS)
		flash_chipvec_fill(&it->chips, &s->geo, it->sector,
				   it->sectors, s->offset);
}

static inline void flash_share_describe(struct flash_share_item *it,
					enum flash_dir dir, bool sync,
					u64 sector, u32 sectors)
{
	it->dir = dir;
	it->sync = sync;
	it->sector = sector;
	it->sectors = sectors;
}

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
	flash_unlink(&it->link);
	it->queued = false;
	s->waiting--;
	if (!--t->nr)
		flash_unlink(&t->backlog);
}

/* Does the turn of @t go on? If it is waited for, until when at most. */
static inline enum flash_reason flash_share_over(struct flash_share *s,
						 struct flash_tenant *t, u64 now)
{
	u64 slice = s->rules.slice, wait, end = 0;

	if (s->rules.budgets && t->used >= t->budget)
		return FLASH_EXHAUSTED;
	if (!s->rules.budgets)
		slice = flash_slice_of(slice, t->weight);
	if (slice) {
		end = t->turn + slice;
		if (now >= end)
			return FLASH_EXPIRED;
	}
	if (t->nr)
		return FLASH_KEEPS;
	if (!s->rules.exclusive)
		return FLASH_IDLE;
	if (t->out) {
		s->wake = end;
		return FLASH_KEEPS;
	}
	wait = 0;
	if (s->rules.antic && t->sync)
		wait = s->rules.fixed ? s->rules.antic_max :
		       flash_gap_wait(&t->gap, s->rules.antic_max);
	if (flash_gap_switch(true, now - t->ended, wait))
		return FLASH_IDLE;
	s->wake = t->ended + wait;
	if (end && end < s->wake)
		s->wake = end;
	if (!t->waited) {
		t->waited = true;
		t->waits++;
		s->stats.holds++;
	}
	return FLASH_KEEPS;
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
		finish = t->vtime + flash_vtime_of(flash_share_budget(s, t),
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

/* A request of @t whose chips are idle, among the first ones; or NULL. */
static inline struct flash_share_item *
flash_share_idle(const struct flash_share *s, const struct flash_tenant *t)
{
	const struct flash_link *link = t->queue.next;
	u32 n = t->passed < FLASH_SHARE_PASS ? FLASH_SHARE_SCAN : 1;

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
	struct flash_share_item *it, *idle = NULL;
	struct flash_tenant *t;

	if (!s->geo.nr_chips || s->rules.exclusive)
		return flash_share_head(best);
	it = flash_share_idle(s, best);
	if (it)
		return it;
	/* A turn is not passed on. */
	if (s->rules.budgets)
		return flash_share_head(best);
	flash_for_each_backlog(t, s) {
		u64 lead = flash_share_charge(s, flash_share_head(t)) *
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
	return idle ? idle : flash_share_head(best);
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
	struct flash_tenant *t;

	enum flash_reason why;

	s->wake = 0;
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

	flash_share_second(s, now);
	if (flash_share_turns(s)) {
		if (!s->active)
			flash_share_begin_turn(s, t, now);
	} else {
		s->vtime = flash_vtime_max(s->vtime, s->least);
		if (s->last != t)
			s->stats.turns++;
	}
	s->last = t;
	if (it != flash_share_head(t)) {
		t->passed++;
		s->stats.idle_chips++;
	}
	flash_share_unwait(s, it);
	if (!t->nr)
		flash_ring_add(&t->backlog, &s->dry);
	if (t->issued)
		flash_gap_add(&t->gap, now - t->issued, s->rules.antic_max);
	t->issued = now;
	t->sync = it->sync;
	t->waited = false;
	t->usual = flash_gap_average(t->usual,
				     charge << FLASH_SHARE_USUAL_SHIFT);
	t->requests++;
	t->sectors += it->sectors;
	if (!flash_share_timed(s)) {
		u64 all = flash_vtime_of(charge, s->weights);

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
	if (!s->rules.exclusive) {
		flash_tenant_charge(t, charge);
		if (flash_vtime_before(s->latest, t->vtime))
			s->latest = t->vtime;
	}
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
	flash_share_enter(s, it->tenant);
	flash_share_take(s, it, now);
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
	flash_share_second(s, now);
	if (ended && it->dir != FLASH_NR_DIRS)
		flash_cost_learn(&s->cost, dir, it->sectors,
				 (s->work - it->work) >> FLASH_SHARE_WORK_SHIFT);
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
	it->sector = sector;
	it->sectors = sectors;
	flash_share_chips(s, it);
}

/**
 * flash_share_absorb - a request that waits has swallowed another one
 * @s: the device
 * @it: the request; it inherits the place of @gone if that was first
 * @gone: the other one, of the same tenant
 * @sector: where @it starts now
 * @sectors: its length now
 */
static inline void flash_share_absorb(struct flash_share *s,
				      struct flash_share_item *it,
				      struct flash_share_item *gone, u64 sector,
				      u32 sectors)
{
	if (gone->seq < it->seq) {
		it->seq = gone->seq;
		flash_unlink(&it->link);
		flash_link_after(&it->link, &gone->link);
	}
	it->sync |= gone->sync;
	flash_share_unwait(s, gone);
	gone->tenant = NULL;
	flash_share_grow(s, it, sector, sectors);
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
	flash_pace_init(&s->pace, FLASH_SHARE_BOUND, FLASH_SHARE_BOUND_MAX);
	flash_climb_from(&s->pace.climb, FLASH_SHARE_BOUND_FIRST);
	s->pace.climb.gain = FLASH_SHARE_GAIN;
	s->pace.climb.sure = true;
	flash_share_layout(s, &none, 0);
	flash_share_set(s, rules);
	flash_share_anew(s);
}

#endif /* FLASH_SHARE_H */
