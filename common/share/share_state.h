/* SPDX-License-Identifier: GPL-2.0 */
/*
 * share_state.h - a device that tenants share: what is known of it
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. The
 * caller's lock guards all of it. What it is for is in share.h.
 *
 * The rules, the requests, what one of them is charged, and how many the device
 * may have.
 */
#ifndef FLASH_SHARE_STATE_H
#define FLASH_SHARE_STATE_H

#include "../flash/chipvec.h"
#include "../estimate/service_time.h"
#include "../flash/occupancy.h"
#include "../estimate/pace.h"
#include "tag_quota.h"
#include "tenant.h"

/*
 * Requests in the device: so many whoever is behind, so many at first, on the ladder
 * of depth_search.h, and at most
 */
#define FLASH_SHARE_BOUND	64
#define FLASH_SHARE_BOUND_FIRST	216
#define FLASH_SHARE_BOUND_MAX	1024

/* What a step of it may cost, see depth_search.h: 1 %, as there may be three down */
#define FLASH_SHARE_GAIN	41

/* Bits behind the point of what a request is usually charged */
#define FLASH_SHARE_USUAL_SHIFT	8

/* So many requests may be caught up by who was in the device all the time. */
#define FLASH_SHARE_CATCH_UP	64

/* Bits behind the point of a weight that is divided by that */
#define FLASH_SHARE_CLAIM_SHIFT	36

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
 * enum flash_ahead - is a request issued before its turn? See share_urgent.h
 * @FLASH_IN_ORDER: no
 * @FLASH_AT_ONCE: yes, and its tenant owes little
 * @FLASH_IN_DEBT: yes, although its tenant owes a lot
 */
enum flash_ahead {
	FLASH_IN_ORDER,
	FLASH_AT_ONCE,
	FLASH_IN_DEBT,
};

/**
 * struct flash_share_rules - how tenants take turns
 * @exclusive: see the head of share.h
 * @budgets: the same
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
 * @urge:	its place among the urgent ones of its tenant, if @urgent
 * @tenant:	whose it is; NULL: it is neither waiting nor in the device
 * @seq:	its place in the order of arrival
 * @work:	flash_share.work when it was handed over
 * @sectors:	of data that it moves: 0 for a discard of gigabytes
 * @sector:	the first of them, or FLASH_NO_SECTOR
 * @dir:	the direction in which it moves data, or FLASH_NR_DIRS
 * @sync:	somebody waits for it
 * @queued:	it waits
 * @urgent:	it waits, and other tenants may wait for it
 * @out:	it is in the device
 * @chips:	those that it needs, if a layout is known
 */
struct flash_share_item {
	struct flash_link link;
	struct flash_link urge;
	struct flash_tenant *tenant;
	u64 seq;
	u64 work;
	u64 sector;
	u32 sectors;
	enum flash_dir dir;
	bool sync;
	bool queued;
	bool urgent;
	bool out;
	struct flash_chipvec chips;
};

/**
 * struct flash_share_stats - counters
 * @turns:	turns that ended, or, where there are none, changes of tenant
 * @holds:	times that everything was held back for somebody
 * @idle_chips:	requests that went before others as their chips were idle
 * @ahead:	urgent requests that were issued before their turn
 */
struct flash_share_stats {
	u64 turns;
	u64 holds;
	u64 idle_chips;
	u64 ahead;
};

/**
 * struct flash_share - tenants on one device
 * @rules:	see there
 * @p:		the tenants
 * @backlog:	those with something waiting
 * @dry:	those with nothing waiting, but requests in the device
 * @paused:	those that are waited for
 * @urgent:	those with urgent requests that wait
 * @ahead:	whether the urgent request that flash_share_next() has returned is
 *		issued before its turn; of no meaning if the request is not urgent
 * @since:	charged in order since the last request that was issued
 *		FLASH_IN_DEBT
 * @active:	whose turn it is
 * @wake:	when flash_share_next() is to be asked again; 0: at the next event
 * @vtime:	the device's virtual time
 * @least:	the least of those with something waiting
 * @latest:	the latest that there was
 * @clock:	charged to all, divided by the weights of those that were busy
 * @weights:	sum of the weights of those that are busy
 * @mean:	a moving average of that, in 1/256
 * @busy:	how many are
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
	struct flash_link urgent;
	enum flash_ahead ahead;
	u64 since;
	struct flash_tenant *active;
	u64 wake;
	u64 vtime;
	u64 least;
	u64 latest;
	u64 clock;
	u64 weights;
	u64 mean;
	u32 busy;
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

/* The sectors that are charged. */
static inline u64 flash_share_sectors(const struct flash_share_item *it)
{
	return it->sectors ? it->sectors : FLASH_SHARE_NOTHING;
}

/* What a request is charged, when it is handed over. */
static __always_inline u64 flash_share_charge(const struct flash_share *s,
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
 * What a turn of @t has to hold for each request, of which @it is the next: what one is
 * usually charged, as @it may be a write which costs next to nothing, between reads that
 * cost much; but no less than @it, or one that is larger than usual would end its turn.
 *
 * flash_share_start() asks for the usual alone, and for the next one only of who is new:
 * with the larger of the two a large request would let a tenant catch up 64 times as
 * much with small ones. And with the usual alone turns would be too short. So both.
 */
static inline u64 flash_share_usual(const struct flash_share *s,
				    const struct flash_tenant *t,
				    const struct flash_share_item *it)
{
	u64 charge = flash_share_charge(s, it);
	u64 usual = t->usual >> FLASH_SHARE_USUAL_SHIFT;

	return charge > usual ? charge : usual;
}

/*
 * How far @t is behind what others have got, in requests that are charged @usual, at
 * most FLASH_SHARE_CATCH_UP. Only of who is dry time and again: who has something
 * waiting is served before it is behind.
 */
static inline u32 flash_share_behind(const struct flash_share *s,
				     const struct flash_tenant *t, u64 usual)
{
	u64 one, behind;

	if (s->rules.exclusive || !flash_vtime_before(t->vtime, s->vtime))
		return 0;
	one = flash_vtime_of(usual, t->weight) >> FLASH_SHARE_USUAL_SHIFT;
	behind = (s->vtime - t->vtime) / (one ? one : 1);
	return behind < FLASH_SHARE_CATCH_UP ? (u32)behind :
					       FLASH_SHARE_CATCH_UP;
}

/**
 * flash_share_claim - what a tenant may claim of the tags (common/share/tag_quota.h)
 * @s: the device
 * @t: the tenant
 * @it: a request of it, or NULL
 *
 * Return: its weight by what a request of it is usually charged, and up to twice that
 * if it is behind, 1 to FLASH_TAGS_CLAIM; 0 if it is not known what one is charged.
 */
static inline u64 flash_share_claim(const struct flash_share *s,
				    const struct flash_tenant *t,
				    const struct flash_share_item *it)
{
	u64 usual = t->usual, claim;

	if (!usual && it)
		usual = flash_share_charge(s, it) << FLASH_SHARE_USUAL_SHIFT;
	if (!usual)
		return 0;
	claim = ((u64)t->weight << FLASH_SHARE_CLAIM_SHIFT) / usual;
	claim += claim * flash_share_behind(s, t, usual) / FLASH_SHARE_CATCH_UP;
	if (claim > FLASH_TAGS_CLAIM)
		return FLASH_TAGS_CLAIM;
	return claim ? claim : 1;
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

/* The chips that a request needs, by the layout now. */
static inline void flash_share_chips(const struct flash_share *s,
				     struct flash_share_item *it)
{
	flash_chipvec_fill(&it->chips, &s->geo, it->sector, it->sectors,
			   s->offset);
}

/* Where the data are that a request of a known direction moves, and how much. */
static inline void flash_share_span(struct flash_share_item *it, u64 sector,
				    u32 sectors)
{
	it->sector = sector;
	it->sectors = it->dir == FLASH_NR_DIRS ? 0 : sectors;
}

static inline void flash_share_describe(struct flash_share_item *it,
					enum flash_dir dir, bool sync,
					u64 sector, u32 sectors)
{
	it->dir = dir;
	it->sync = sync;
	flash_share_span(it, sector, sectors);
}

#endif /* FLASH_SHARE_STATE_H */
