/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fairqueue.h - requests of tenants that share a device by weight
 *
 *   fair_tenant() -> fair_add() -> fair_next() -> fair_issue() -> fair_release()
 *
 * Each request calls all of these but the first one. So that the compiler can inline them,
 * they are static in fairqueue.c, which its caller includes.
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

/* Fractional bits of tenant.usual */
#define FAIR_USUAL_SHIFT	8

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
 * enum fair_ahead - is an urgent request issued ahead of its turn?
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
 * struct fair_backlog - tenants with requests that wait, except fair_queue.active
 * @lone: the only such tenant; NULL: there is none, or they are in the trees
 * @later: by virtual time; with budgets only those that are not in @eligible
 * @eligible: with budgets, those that have reached their virtual start, by virtual finish
 */
struct fair_backlog {
	struct tenant *lone;
	struct rb_root_cached later;
	struct rb_root_cached eligible;
};

/**
 * struct fair_dry - tenants with no request that waits, but with requests in the device
 * @fresh: those that have joined since fair_lags() last looked at them
 * @sorted: the others, by virtual time
 */
struct fair_dry {
	struct hlist_head fresh;
	struct rb_root_cached sorted;
};

/**
 * struct fair_paused - tenants that are expected to send a request
 * @list: the tenants. They are few: the longest wait of a tenant is twice its part of the
 *	time of fair_rules.depth requests.
 * @earliest: no wait in @list ends before this time, ns
 */
struct fair_paused {
	struct hlist_head list;
	u64 earliest;
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
 * @work: time during which requests were in the device, divided by their number, in ns
 *	with FAIR_WORK_SHIFT fractional bits
 * @worked: time of the latest update of @work, ns
 * @pace: search for the limit of requests in the device
 * @cost: measured device time of requests
 * @geo: its layout
 * @offset: sectors of the drive before the device
 * @occ: requests in the device on each chip
 */
struct fair_device {
	u64 work;
	u64 worked;
	struct flash_pace pace;
	struct flash_cost cost;
	struct flash_geometry geo;
	u64 offset;
	struct flash_occupancy occ;
};

/**
 * struct fair_unsorted - requests that have the chips of an earlier layout
 * @tenant: index of the tenant of the next one
 * @at: link of the next one in the tenant's queue; the queue's head: none
 */
struct fair_unsorted {
	u32 tenant;
	struct list_head *at;
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
 * @backlog: tenants with requests that wait
 * @paused: tenants that are expected to send a request
 * @active: the tenant that has the turn, or NULL
 * @dry: tenants with requests in the device only
 * @urgent: urgent requests
 * @last: the tenant of the latest dispatch, or NULL
 * @wake: time at which fair_next() has to be asked again, ns; 0: at the next event
 * @enough: after fair_next() has returned NULL: as long as more requests than this are in the
 *	device, it need not be asked after ends; INT_MAX: after each
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
 * @unsorted: what fair_set_layout() has begun, and fair_sort_next() continues
 * @table: the tenants
 *
 * It has more than 20 fields as it is the device. @rules changes with tunables only. Each
 * request writes the lines from @dry to @dev; see docs/cache-lines.md.
 */
struct fair_queue {
	struct fair_rules rules;

	struct fair_backlog backlog ____cacheline_aligned_in_smp;
	struct fair_paused paused;
	struct tenant *active;

	struct fair_dry dry;
	struct fair_urgent urgent;
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
	int enough;
	struct fair_second second;
	struct fair_stats stats;
	struct fair_device dev;
	struct fair_unsorted unsorted;
	struct tenant_table table;
};

/** fair_limit - limit of the number of requests in the device now */
static inline u32 fair_limit(const struct fair_queue *q)
{
	if (q->rules.limit)
		return q->rules.limit;
	if (q->rules.exclusive)
		return ~0U;
	return flash_pace_limit(&q->dev.pace);
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

struct tenant *fair_tenant(struct fair_queue *q, const struct tenant_key *key, u32 weight,
			   u64 now);
void fair_bypass(struct fair_queue *q, struct fair_rq *rq, struct flash_tags *tags, u64 now);
void fair_grow(struct fair_queue *q, struct fair_rq *rq, u64 sector, u32 sectors);
void fair_absorb(struct fair_queue *q, struct fair_rq *rq, struct fair_rq *merged, bool earlier,
		 u64 sector, u32 sectors);
u64 fair_claim(const struct fair_queue *q, struct tenant *t, const struct fair_rq *rq);
void fair_prune(struct fair_queue *q, u64 now, u32 most);
void fair_set_weight(struct fair_queue *q, struct tenant *t, u32 weight);
void fair_note_prio(struct fair_queue *q, struct tenant *t, u32 weight);
void fair_init(struct fair_queue *q, const struct fair_rules *rules, u32 most);
void fair_set_rules(struct fair_queue *q, const struct fair_rules *rules);
bool fair_set_layout(struct fair_queue *q, const struct flash_geometry *geo, u64 offset);
bool fair_sort_next(struct fair_queue *q);

#endif /* FLASH_FAIRQUEUE_H */
