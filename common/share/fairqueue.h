/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fairqueue.h - requests of tenants that share a device by weight
 *
 *   fair_tenant() -> fair_add() -> fair_next() -> fair_issue() -> fair_release()
 *
 * A waiting request may also grow (fair_grow()) or disappear in another one
 * (fair_absorb()), and the device may get a request that was never added (fair_bypass()).
 * After each of these calls, the caller asks fair_next() again. If that returns NULL and
 * sets fair_queue.wake, the caller has to ask once more at that time, whatever happens
 * until then.
 *
 * The rules say how tenants take turns:
 *
 *   - exclusive: one tenant has the device until its turn ends, and may be waited for.
 *     Otherwise several tenants have requests in the device at a time.
 *   - budgets: a turn ends when a budget is used up, and B-WF2Q+ chooses the next tenant:
 *     the earliest virtual finish among tenants that have reached their virtual start.
 *     Otherwise the tenant with the least virtual time is next.
 *   - neither: start-time fair queueing. There are no turns, each request is chosen on its
 *     own, and a tenant may be ahead of the slowest one by some requests with idle chips.
 *
 * Two invariants keep a device alive. While requests wait, one of them can be issued, or
 * @wake is set, or a tenant with requests in the device is waited for, and the completion
 * of one of these asks again. And no single wait is longer than fair_rules.antic_max.
 *
 * The caller's lock guards all of it.
 */
#ifndef FLASH_FAIRQUEUE_H
#define FLASH_FAIRQUEUE_H

#include "../flash/chipvec.h"
#include "../flash/occupancy.h"
#include "../estimate/pace.h"
#include "../estimate/service_time.h"
#include "tag_quota.h"
#include "tenant.h"

/*
 * Limits of the number of requests in the device: the least one, which keeps the device
 * busy while a tenant lags; the first one, on the ladder of depth_search.h; the largest
 */
#define FAIR_LIMIT		64
#define FAIR_LIMIT_FIRST	216
#define FAIR_LIMIT_MAX		1024

/* Fractional bits of tenant.usual */
#define FAIR_USUAL_SHIFT	8

/* Requests by which a tenant that was busy all the time may be behind */
#define FAIR_CATCH_UP		64

/* Requests that may pass the first waiting request of their tenant */
#define FAIR_PASS		32

/* Debt up to which urgent requests are issued at once, in usual requests */
#define FAIR_DEBT		16

/* Charge of a request without data, in sectors */
#define FAIR_NO_DATA		8

/* Device time of a request and of a sector until some was measured, ns */
#define FAIR_BASE		20000
#define FAIR_SLOPE		500

/* A second of tenant_second, and how long an idle tenant is remembered, ns */
#define FAIR_SECOND		1000000000ULL

/**
 * enum fair_charge - what a tenant is charged
 * @FAIR_CHARGE_SECTORS: sectors
 * @FAIR_CHARGE_REQUESTS: requests
 * @FAIR_CHARGE_TIME: the length of an exclusive turn, else the device time that such a
 *	request usually needs; ns
 * @FAIR_CHARGE_AUTO: the mode decides; not in struct fair_rules
 */
enum fair_charge {
	FAIR_CHARGE_SECTORS,
	FAIR_CHARGE_REQUESTS,
	FAIR_CHARGE_TIME,
	FAIR_CHARGE_AUTO,
};

/**
 * struct fair_rules - how tenants take turns
 * @exclusive: see the head of this file
 * @budgets: likewise
 * @antic: the next request of a tenant may be waited for
 * @fixed: if @exclusive, for @antic_max instead of the tenant's mean gap
 * @charge: what is charged
 * @antic_max: longest single wait, ns
 * @slice: length of a turn at the default weight, ns; 0: unlimited
 * @depth: requests by which a tenant may be ahead of the slowest one
 * @limit: requests in the device; 0: searched for, or unlimited if @exclusive
 * @budget: sizes of budgets
 * @max_gap: longest time between two turns of a tenant, which limits budgets, ns; 0: any
 */
struct fair_rules {
	bool exclusive;
	bool budgets;
	bool antic;
	bool fixed;
	enum fair_charge charge;
	u64 antic_max;
	u64 slice;
	u32 depth;
	u32 limit;
	struct flash_budgets budget;
	u64 max_gap;
};

/**
 * struct fair_rq - a request's part in the queues
 * @link: link in tenant.queue while it waits
 * @urge: link in tenant.urgent if @urgent
 * @tenant: its tenant; NULL: it neither waits nor is in the device
 * @tags: the set of scheduler tags that its tag belongs to
 * @work: fair_device.work at its dispatch
 * @sector: first sector of its data, or FLASH_NO_SECTOR
 * @sectors: length of its data, 0 for a discard. A copy, like @dir and @sector: the length
 *	of a request that has completed is 0, and layouts can change while it waits
 * @dir: direction of its data, or FLASH_NR_DIRS
 * @sync: a task waits for it
 * @urgent: it waits, and other tenants may wait for it
 * @chips: the chips of its data, if a layout is known
 */
struct fair_rq {
	struct list_head link;
	struct list_head urge;
	struct tenant *tenant;
	struct flash_tags *tags;
	u64 work;
	u64 sector;
	u32 sectors;
	enum flash_dir dir;
	bool sync;
	bool urgent;
	struct flash_chipvec chips;
};

/**
 * enum fair_ahead - is an urgent request issued ahead of its turn? See urgent.c
 * @FAIR_IN_ORDER: no
 * @FAIR_AT_ONCE: yes, and the debt of its tenant is small
 * @FAIR_IN_DEBT: yes, although the debt of its tenant is large
 */
enum fair_ahead {
	FAIR_IN_ORDER,
	FAIR_AT_ONCE,
	FAIR_IN_DEBT,
};

/**
 * struct fair_urgent - urgent requests
 * @tenants: tenants with urgent requests that wait
 * @ahead: how the request that fair_next() returned is issued, if it is urgent
 * @since: charges in order since the latest dispatch with FAIR_IN_DEBT
 */
struct fair_urgent {
	struct list_head tenants;
	enum fair_ahead ahead;
	u64 since;
};

/**
 * struct fair_device - what is known of the device
 * @geo: its layout
 * @offset: sectors of the drive before the device
 * @occ: requests in the device on each chip
 * @cost: measured device time of requests
 * @pace: search for the limit of requests in the device
 * @work: time during which requests were in the device, divided by their number, in ns
 *	with FAIR_WORK_SHIFT fractional bits
 * @worked: time of the latest update of @work, ns
 */
struct fair_device {
	struct flash_geometry geo;
	u64 offset;
	struct flash_occupancy occ;
	struct flash_cost cost;
	struct flash_pace pace;
	u64 work;
	u64 worked;
};

/**
 * struct fair_second - shares of a second
 * @begun: start of the second, ns
 * @charged: charges of all tenants, each divided by the sum of weights of busy tenants
 */
struct fair_second {
	u64 begun;
	u64 charged;
};

/**
 * struct fair_stats - counters
 * @turns: turns that ended; without turns, changes of tenant
 * @holds: number of times that all requests were held back for a tenant
 * @idle_chips: requests that were issued before others as their chips were idle
 * @ahead: urgent requests that were issued ahead of their turn
 */
struct fair_stats {
	u64 turns;
	u64 holds;
	u64 idle_chips;
	u64 ahead;
};

/**
 * struct fair_queue - the tenants of a device and their requests
 * @rules: the rules
 * @backlog: tenants with requests that wait, the latest one first
 * @dry: tenants with no request that waits, but with requests in the device
 * @paused: tenants that are expected to send a request
 * @urgent: urgent requests
 * @active: the tenant that has the turn, or NULL
 * @last: the tenant of the latest dispatch, or NULL
 * @wake: time at which fair_next() has to be asked again, ns; 0: at the next event
 * @vtime: virtual time of the device
 * @least: least virtual time in @backlog at the latest choice
 * @latest: latest virtual time of any tenant
 * @weights: sum of the weights of busy tenants
 * @mean: moving average of @weights, in 1/256
 * @busy: number of busy tenants
 * @waiting: number of requests that wait
 * @out: number of requests in the device
 * @second: shares
 * @stats: counters
 * @dev: what is known of the device
 * @table: the tenants
 *
 * @rules changes with tunables only. Each request writes the lines from @backlog to
 * @stats.
 */
struct fair_queue {
	struct fair_rules rules;

	struct hlist_head backlog ____cacheline_aligned_in_smp;
	struct hlist_head dry;
	struct hlist_head paused;
	struct fair_urgent urgent;
	struct tenant *active;
	struct tenant *last;
	u64 wake;
	u64 vtime;
	u64 least;
	u64 latest;
	u64 weights;
	u64 mean;
	u32 busy;
	u32 waiting;
	u32 out;
	struct fair_second second;
	struct fair_stats stats;
	struct fair_device dev;
	struct tenant_table table;
};

/** fair_head - the first waiting request of @t, which has one */
static inline struct fair_rq *fair_head(const struct tenant *t)
{
	return list_first_entry(&t->queue, struct fair_rq, link);
}

/** fair_timed - is the length of a turn charged, when the turn ends? */
static inline bool fair_timed(const struct fair_queue *q)
{
	return q->rules.exclusive && q->rules.charge == FAIR_CHARGE_TIME;
}

/** fair_write_dir - the direction as which @rq is accounted: one without data is a write */
static inline enum flash_dir fair_write_dir(const struct fair_rq *rq)
{
	return rq->dir == FLASH_NR_DIRS ? FLASH_WRITE : rq->dir;
}

/** fair_sectors - the sectors that @rq is charged */
static inline u64 fair_sectors(const struct fair_rq *rq)
{
	return rq->sectors ? rq->sectors : FAIR_NO_DATA;
}

/** fair_charge - the charge of @rq at its dispatch */
static __always_inline u64 fair_charge(const struct fair_queue *q, const struct fair_rq *rq)
{
	u64 sectors = fair_sectors(rq), ns;

	if (q->rules.charge != FAIR_CHARGE_TIME)
		return q->rules.charge == FAIR_CHARGE_REQUESTS ? 1 : sectors;
	ns = flash_cost_ns(&q->dev.cost, fair_write_dir(rq), sectors);
	return ns ? ns : FAIR_BASE + sectors * FAIR_SLOPE;
}

/**
 * fair_usual - the charge of each request that a turn of @t has to have room for
 * @t: the tenant
 * @charge: charge of its next request
 *
 * The usual charge, because the next request may be a cheap write between expensive
 * reads; but not less than the next request, which would end the turn alone.
 *
 * fair_start() does not use the larger one of the two: a large request would let a tenant
 * catch up with 64 times as much in small requests.
 */
static inline u64 fair_usual(const struct tenant *t, u64 charge)
{
	u64 usual = t->usual >> FAIR_USUAL_SHIFT;

	return charge > usual ? charge : usual;
}

/** fair_limit - limit of the number of requests in the device now */
static inline u32 fair_limit(const struct fair_queue *q)
{
	if (q->rules.limit)
		return q->rules.limit;
	if (q->rules.exclusive)
		return ~0U;
	return flash_pace_limit(&q->dev.pace);
}

/** fair_due - update what is due to @t */
static inline void fair_due(struct fair_queue *q, struct tenant *t)
{
	if (t->busy)
		t->second.due += ((q->second.charged - t->second.seen) * t->weight) >>
				 FLASH_VTIME_SHIFT;
	t->second.seen = q->second.charged;
}

/** fair_advance - the virtual time @vtime was reached by a tenant */
static inline void fair_advance(struct fair_queue *q, u64 vtime)
{
	if (flash_vtime_before(q->latest, vtime))
		q->latest = vtime;
}

/**
 * fair_describe - set what a request is, before fair_add() or fair_bypass()
 * @rq: the request
 * @dir: direction of its data, or FLASH_NR_DIRS
 * @sync: a task waits for it
 * @sector: first sector, or FLASH_NO_SECTOR
 * @sectors: length, whether it moves data or not
 */
static inline void fair_describe(struct fair_rq *rq, enum flash_dir dir, bool sync, u64 sector,
				 u32 sectors)
{
	rq->dir = dir;
	rq->sync = sync;
	rq->sector = sector;
	rq->sectors = dir == FLASH_NR_DIRS ? 0 : sectors;
}

/* fairqueue.c */
struct tenant *fair_tenant(struct fair_queue *q, const struct tenant_key *key, u32 weight,
			   u64 now);
void fair_add(struct fair_queue *q, struct fair_rq *rq, struct tenant *t,
	      struct flash_tags *tags, bool urgent, u64 now);
struct fair_rq *fair_choose(struct fair_queue *q, u64 now);
void fair_issue(struct fair_queue *q, struct fair_rq *rq, u64 now);
void fair_bypass(struct fair_queue *q, struct fair_rq *rq, struct flash_tags *tags, u64 now);
void fair_release(struct fair_queue *q, struct fair_rq *rq, bool ended, u64 now);
void fair_grow(struct fair_queue *q, struct fair_rq *rq, u64 sector, u32 sectors);
void fair_absorb(struct fair_queue *q, struct fair_rq *rq, struct fair_rq *merged, bool earlier,
		 u64 sector, u32 sectors);
u64 fair_claim(const struct fair_queue *q, const struct tenant *t, const struct fair_rq *rq);
void fair_prune(struct fair_queue *q, u64 now, u32 most);
void fair_init(struct fair_queue *q, const struct fair_rules *rules);
void fair_set_rules(struct fair_queue *q, const struct fair_rules *rules);
void fair_set_layout(struct fair_queue *q, const struct flash_geometry *geo, u64 offset);

/**
 * fair_next - choose the next request
 * @q: the queues
 * @now: the time, ns
 *
 * Return: the request, which stays in its queue; or NULL. If requests wait then, they
 * wait for a completion, or until @wake, whichever is first.
 */
static inline struct fair_rq *fair_next(struct fair_queue *q, u64 now)
{
	q->wake = 0;
	return q->waiting ? fair_choose(q, now) : NULL;
}

/* tenant.c */
void fair_set_weight(struct fair_queue *q, struct tenant *t, u32 weight);
void fair_note_prio(struct fair_queue *q, struct tenant *t, u32 weight);
void fair_next_second(struct fair_queue *q, u64 now);
void fair_update_turns(struct fair_queue *q);

/** fair_update_vtime - bring the device's virtual time up to date */
static inline void fair_update_vtime(struct fair_queue *q)
{
	if (q->rules.exclusive && !q->rules.budgets)
		fair_update_turns(q);
}

/** fair_check_second - has a second of shares ended by @now? */
static inline void fair_check_second(struct fair_queue *q, u64 now)
{
	if (now - q->second.begun >= FAIR_SECOND)
		fair_next_second(q, now);
}

/* urgent.c */
void fair_urgent_add(struct fair_queue *q, struct fair_rq *rq);
void fair_urgent_del(struct fair_rq *rq);
struct fair_rq *fair_urgent_pick(struct fair_queue *q);
void fair_urgent_issued(struct fair_queue *q, struct tenant *t);
void fair_urgent_charge(const struct fair_queue *q, struct tenant *t,
			const struct fair_rq *rq, u64 charge);

/** fair_urgent_first - the first urgent request of @t, which has one */
static inline struct fair_rq *fair_urgent_first(const struct tenant *t)
{
	return list_first_entry(&t->urgent, struct fair_rq, urge);
}

#endif /* FLASH_FAIRQUEUE_H */
