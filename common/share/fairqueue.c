// SPDX-License-Identifier: GPL-2.0
/*
 * fairqueue.c - the queues of tenants: which request is next, charges and turns
 *
 * First virtual time, weights and seconds of shares, and requests that are issued ahead of
 * their turn. Then the functions stand in the order of a request's life: it is added to its
 * tenant's queue, chosen by fair_next(), issued and charged, and released when it has
 * completed. At the end tenants are created and forgotten, and rules and layout are set.
 *
 * A tenant is charged at the dispatch of each request, or, where fair_timed(), at the end
 * of its turn. Its virtual time advances by the charge divided by its weight, at once in a
 * window and at the end of an exclusive turn.
 *
 * Each step takes O(log tenants): the backlog is a tree by virtual time. With budgets,
 * tenants that have reached their virtual start are in a second tree, by virtual finish. A
 * virtual finish is as of the choice that found the tenant eligible, as in B-WF2Q+: later
 * changes of other tenants' weights or of measured device times do not move the tenant. No
 * tree has fair_queue.active, or a tenant that is alone in the backlog.
 */
#include <linux/string.h>

#include "fairqueue.h"

/*
 * Limits of the number of requests in the device: the least one, which keeps the device
 * busy while a tenant lags; the first one, on the ladder of depth_search.h; the largest
 */
#define FAIR_LIMIT		64
#define FAIR_LIMIT_FIRST	216
/*
 * While a tenant lags, and submits none, requests of others are issued, up to FAIR_LIMIT, when
 * no more than this number are in the device. So a run is scheduled for each eighth end.
 */
#define FAIR_ENOUGH		(FAIR_LIMIT - FAIR_LIMIT / 8)
#define FAIR_LIMIT_MAX		1024

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

/* Throughput that a step of the in-flight limit may cost: 1 %; see depth_search.h */
#define FAIR_GAIN		41

/* Fractional bits of a weight that is divided by tenant.usual */
#define FAIR_CLAIM_SHIFT	36

/* Fractional bits of fair_device.work */
#define FAIR_WORK_SHIFT		8

/* Number of vain waits in a row after which a tenant is not waited for */
#define FAIR_MISSES		2

/*
 * Number of requests that are compared: of the tenant that is next, and of each other
 * tenant, in search of idle chips. The second one is at most the first.
 */
#define FAIR_CHOICE		16
#define FAIR_SCAN		8

/*
 * Number of other tenants that are compared, in order of virtual time. With FAIR_SCAN
 * requests each that is 128 requests: most likely one has an idle chip, if any chip is idle.
 */
#define FAIR_OTHERS		16

/*
 * Tenants that a choice finds eligible. More are seldom eligible at once; those with later
 * virtual starts are found by the next choices. So a choice does not take long.
 */
#define FAIR_ELIGIBLE		4

/*
 * Largest distance of two virtual times, at the end of a second. The service of a second
 * adds little to it, and virtual times that are 2^63 apart cannot be compared.
 */
#define FAIR_AGE		(1ULL << 62)

/* Beyond FAIR_DEBT, urgent requests get one part in this many of all charges. */
#define FAIR_ASIDE		16

/* The first waiting request of @t, which has one */
static inline struct fair_rq *fair_head(const struct tenant *t)
{
	return list_first_entry(&t->queue, struct fair_rq, link);
}

/* Is the length of a turn charged, when the turn ends? */
static inline bool fair_timed(const struct fair_queue *q)
{
	return q->rules.exclusive && q->rules.charge == FAIR_CHARGE_TIME;
}

/* The direction as which @rq is accounted: one without data is a write */
static inline enum flash_dir fair_write_dir(const struct fair_rq *rq)
{
	return rq->dir == FLASH_NR_DIRS ? FLASH_WRITE : rq->dir;
}

/* The sectors that @rq is charged */
static inline u64 fair_sectors(const struct fair_rq *rq)
{
	return rq->sectors ? rq->sectors : FAIR_NO_DATA;
}

/* The charge of @rq at its dispatch */
static __always_inline u64 fair_charge(const struct fair_queue *q, const struct fair_rq *rq)
{
	u64 sectors = fair_sectors(rq), ns;

	if (q->rules.charge != FAIR_CHARGE_TIME)
		return q->rules.charge == FAIR_CHARGE_REQUESTS ? 1 : sectors;
	ns = flash_cost_ns(&q->dev.cost, fair_write_dir(rq), sectors);
	return ns ? ns : FAIR_BASE + sectors * FAIR_SLOPE;
}

/*
 * The charge of each request that a turn of @t has to have room for; @charge: of its next
 * request. It is the usual charge, because the next request may be a cheap write between
 * expensive reads; but not less than the next request, which would end the turn alone.
 *
 * fair_start() does not use the larger one of the two: a large request would let a tenant
 * catch up with 64 times as much in small requests.
 */
static inline u64 fair_usual(const struct tenant *t, u64 charge)
{
	u64 usual = t->usual >> FAIR_USUAL_SHIFT;

	return charge > usual ? charge : usual;
}

/* Update what is due to @t. */
static inline void fair_due(struct fair_queue *q, struct tenant *t)
{
	if (t->busy)
		t->second.due += ((q->second.charged - t->second.seen) * t->weight) >>
				 FLASH_VTIME_SHIFT;
	t->second.seen = q->second.charged;
}

/* A tenant has reached the virtual time @vtime. */
static inline void fair_advance(struct fair_queue *q, u64 vtime)
{
	if (flash_vtime_before(q->latest, vtime))
		q->latest = vtime;
}

/* The first urgent request of @t, which has one */
static inline struct fair_rq *fair_urgent_first(const struct tenant *t)
{
	return list_first_entry(&t->urgent, struct fair_rq, urge);
}

/* Advance the virtual time of @t by the service @used. */
static inline void tenant_charge(struct tenant *t, u64 used)
{
	if (used > FLASH_CHARGE_MAX)
		used = FLASH_CHARGE_MAX;
	used = (used << FLASH_VTIME_SHIFT) + t->part;
	t->vtime += used / t->weight;
	t->part = used % t->weight;
}

/* The backlog and dry tenants */

static bool fair_starts_before(struct rb_node *a, const struct rb_node *b)
{
	const struct tenant *t = rb_entry(a, struct tenant, place.node);
	const struct tenant *other = rb_entry(b, struct tenant, place.node);

	return t->vtime == other->vtime ? t < other : flash_vtime_before(t->vtime, other->vtime);
}

static bool fair_finishes_before(struct rb_node *a, const struct rb_node *b)
{
	const struct tenant *t = rb_entry(a, struct tenant, place.node);
	const struct tenant *other = rb_entry(b, struct tenant, place.node);

	return t->place.finish == other->place.finish ? t < other :
	       flash_vtime_before(t->place.finish, other->place.finish);
}

/* The tenant of @node, or NULL */
static inline struct tenant *fair_of_node(struct rb_node *node)
{
	return node ? rb_entry(node, struct tenant, place.node) : NULL;
}

/* The tenant with the least virtual time in the backlog, or NULL; of @later, with budgets */
static inline struct tenant *fair_first(const struct fair_queue *q)
{
	const struct fair_backlog *b = &q->backlog;

	return b->lone ? b->lone : fair_of_node(rb_first_cached(&b->later));
}

/* Insert @t into @tree, which is sorted by virtual time. */
static void fair_plant(struct tenant *t, struct rb_root_cached *tree)
{
	t->place.tree = tree;
	rb_add_cached(&t->place.node, tree, fair_starts_before);
}

/* fair_join() where @t is not alone. */
static noinline void fair_join_others(struct fair_queue *q, struct tenant *t)
{
	if (q->backlog.lone)
		fair_plant(q->backlog.lone, &q->backlog.later);
	q->backlog.lone = NULL;
	fair_plant(t, &q->backlog.later);
}

/* Add @t, which is in no place, to the backlog. */
static inline void fair_join(struct fair_queue *q, struct tenant *t)
{
	struct fair_backlog *b = &q->backlog;

	if (b->lone || rb_first_cached(&b->later) || rb_first_cached(&b->eligible))
		fair_join_others(q, t);
	else
		b->lone = t;
}

/* Remove @t from its tree. */
static noinline void fair_uproot(struct tenant *t)
{
	rb_erase_cached(&t->place.node, t->place.tree);
	t->place.tree = NULL;
}

/* Remove @t from the backlog or from the dry tenants, if it is there. */
static inline void fair_unplace(struct fair_queue *q, struct tenant *t)
{
	if (q->backlog.lone == t)
		q->backlog.lone = NULL;
	else if (t->place.tree)
		fair_uproot(t);
	else
		hlist_del_init(&t->place.dry);
}

/*
 * The virtual time of @t, in a tree, or what its virtual finish depends on has changed. The
 * next choice moves it to the eligible tenants again.
 */
static noinline void fair_replant(struct fair_queue *q, struct tenant *t)
{
	struct rb_root_cached *tree = t->place.tree;

	fair_uproot(t);
	fair_plant(t, tree == &q->backlog.eligible ? &q->backlog.later : tree);
}

/* Sort all trees. */
static void fair_sort(struct fair_queue *q)
{
	u32 i;

	q->backlog.later = RB_ROOT_CACHED;
	q->backlog.eligible = RB_ROOT_CACHED;
	q->dry.sorted = RB_ROOT_CACHED;
	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct tenant *t = &q->table.t[i];

		if (t->place.tree)
			fair_plant(t, t->place.tree == &q->dry.sorted ?
				   &q->dry.sorted : &q->backlog.later);
	}
}

/* Virtual time, weights, and seconds of shares */

/*
 * Virtual time wraps: within three days, on a device that serves one tenant of weight 1 and
 * charges time. A tenant that is behind by half of all virtual time would seem ahead, so
 * no virtual time stays that far behind.
 */
static void fair_age(struct fair_queue *q)
{
	bool moved = false;
	u32 i;

	if (flash_vtime_before(q->vtime + FAIR_AGE, q->latest))
		q->vtime = q->latest - FAIR_AGE;
	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct tenant *t = &q->table.t[i];

		if (flash_vtime_before(t->vtime + FAIR_AGE, q->vtime)) {
			t->vtime = q->vtime - FAIR_AGE;
			moved |= !!t->place.tree;
		}
	}
	if (unlikely(moved))
		fair_sort(q);
}

/*
 * fair_update_vtime() for exclusive turns without budgets. Such turns do not advance the
 * device's virtual time. It is the least virtual time of the tenants with requests, now
 * and not at the latest choice.
 */
static noinline void fair_update_turns(struct fair_queue *q)
{
	const struct tenant *t = fair_first(q);
	u64 least;

	if (q->active) {
		least = q->active->vtime;
		if (!fair_timed(q))
			least += flash_vtime_of(q->active->turn.used, q->active->weight);
		if (t && flash_vtime_before(t->vtime, least))
			least = t->vtime;
	} else if (t) {
		least = t->vtime;
	} else {
		return;
	}
	q->vtime = flash_vtime_max(q->vtime, least);
}

/* Bring the device's virtual time up to date. */
static inline void fair_update_vtime(struct fair_queue *q)
{
	if (q->rules.exclusive && !q->rules.budgets)
		fair_update_turns(q);
}

/* The distance @far of two virtual times of @t, if it is to be worth the same at @weight */
static u64 fair_rescale(const struct tenant *t, u64 far, u32 weight)
{
	u64 most = flash_vtime_of((t->usual >> FAIR_USUAL_SHIFT) * FAIR_CATCH_UP, weight);

	if (most < far)
		most = far;
	/* A long turn at a large weight would be an age at a small one. */
	if (far / weight >= most / t->weight && weight < t->weight)
		return most;
	return far / weight * t->weight + far % weight * t->weight / weight;
}

/* Change the weight of @t while the device's virtual time is up to date. */
static void fair_change_weight(struct fair_queue *q, struct tenant *t, u32 weight)
{
	fair_due(q, t);
	if (flash_vtime_before(q->vtime, t->vtime))
		t->vtime = q->vtime + fair_rescale(t, t->vtime - q->vtime, weight);
	else
		t->vtime = q->vtime - fair_rescale(t, q->vtime - t->vtime, weight);
	fair_advance(q, t->vtime);
	if (t->busy) {
		q->weights -= t->weight;
		q->weights += weight;
	}
	t->weight = weight;
	t->claim = 0;
	if (t->place.tree)
		fair_replant(q, t);
}

/**
 * fair_set_weight - change a tenant's weight
 * @q: the queues, at any time
 * @t: the tenant
 * @weight: its new weight
 *
 * Its distance from the device's virtual time is rescaled. A debt that is small at a large
 * weight is large at a small one. Unscaled, one request at weight 1 would make the tenant
 * wait for a thousand requests of others, whatever it weighs by then.
 */
void fair_set_weight(struct fair_queue *q, struct tenant *t, u32 weight)
{
	if (t->weight == weight)
		return;
	fair_update_vtime(q);
	fair_change_weight(q, t, weight);
}

/* A second of shares has ended by @now. */
static noinline void fair_next_second(struct fair_queue *q, u64 now)
{
	/* Shares of a second that ended long ago are not shown. */
	bool old = now - q->second.begun >= 2 * FAIR_SECOND;
	u32 i;

	fair_age(q);
	fair_update_vtime(q);
	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct tenant *t = &q->table.t[i];

		fair_due(q, t);
		t->second.last_received = old ? 0 : t->second.received;
		t->second.last_due = old ? 0 : t->second.due;
		t->second.received = 0;
		t->second.due = 0;
		if (t->second.prio_weight && t->second.prio_weight < t->weight)
			fair_change_weight(q, t, t->second.prio_weight);
		t->second.prio_weight = 0;
		t->second.prio = FLASH_NO_PRIO;
	}
	q->second.begun = now;
}

/* End the second of shares if it is over by @now. */
static inline void fair_check_second(struct fair_queue *q, u64 now)
{
	if (now - q->second.begun >= FAIR_SECOND)
		fair_next_second(q, now);
}

/**
 * fair_note_prio - a request with an I/O priority arrives
 * @q: the queues
 * @t: its tenant, with a weight that depends on priorities
 * @weight: weight of the request's priority
 *
 * Threads of a process may have different priorities. The process has the weight of the
 * highest priority of its requests in this second or the one before. A request of lower
 * priority changes nothing, so a process gains nothing by such requests, and the weight
 * does not change with each request. It falls once a second at most.
 */
void fair_note_prio(struct fair_queue *q, struct tenant *t, u32 weight)
{
	if (weight <= t->second.prio_weight)
		return;
	t->second.prio_weight = weight;
	if (weight > t->weight)
		fair_set_weight(q, t, weight);
}

/*
 * Urgent requests. A file system reads metadata, and the kernel swaps, with locks held or
 * with little free memory. In virtual-time order such a request of a light tenant waits for
 * a thousand requests of each heavy one, and so does every task that needs the lock. So an
 * urgent request is issued out of order and charged to its tenant. The tenant's virtual time
 * runs ahead of the device's. That distance is its debt, which its other requests pay by
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
 * An urgent request of another tenant neither ends a turn nor begins one. These functions are
 * not inline, because few requests are urgent.
 */

/* @rq, which was just added, is urgent. */
static noinline void fair_urgent_add(struct fair_queue *q, struct fair_rq *rq)
{
	struct tenant *t = rq->tenant;

	rq->urgent = true;
	if (list_empty(&t->urgent))
		list_add_tail(&t->urge, &q->urgent.tenants);
	list_add_tail(&rq->urge, &t->urgent);
}

/* The urgent request @rq does not wait any more. */
static noinline void fair_urgent_del(struct fair_rq *rq)
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

/*
 * Choose an urgent request to issue ahead of its turn, or NULL. Sets fair_urgent.ahead, which
 * applies to any urgent request that is issued next. Urgent requests of an exclusive turn's
 * tenant are left to that turn, which may be over.
 */
static noinline struct fair_rq *fair_urgent_pick(struct fair_queue *q)
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

/*
 * An urgent request of @t is issued ahead of its turn. The tenant becomes the last of the
 * debtors if its debt is large.
 */
static noinline void fair_urgent_issued(struct fair_queue *q, struct tenant *t)
{
	q->stats.ahead++;
	if (q->urgent.ahead != FAIR_IN_DEBT)
		return;
	q->urgent.since = 0;
	list_move_tail(&t->urge, &q->urgent.tenants);
}

/* Charge @t for its urgent request @rq, outside of its turn. */
static noinline void fair_urgent_charge(const struct fair_queue *q, struct tenant *t,
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

/* A request's life */

/* Set the chips of @rq by the current layout. */
static noinline void fair_fill_chips(const struct fair_queue *q, struct fair_rq *rq)
{
	flash_chipvec_fill(&rq->chips, &q->dev.geo, rq->sector, rq->sectors, q->dev.offset);
}

static inline void fair_set_chips(const struct fair_queue *q, struct fair_rq *rq)
{
	/* Without a layout, now and when the chips were set last, there are none. */
	if (q->dev.geo.nr_chips | rq->chips.nr_chips)
		fair_fill_chips(q, rq);
}

/*
 * The number of requests, each charged @usual, by which @t is behind the device's virtual
 * time, at most FAIR_CATCH_UP. Only a tenant that is often dry is behind: others are
 * served before.
 */
static u32 fair_behind(const struct fair_queue *q, const struct tenant *t, u64 usual)
{
	u64 one, behind;

	if (q->rules.exclusive || !flash_vtime_before(t->vtime, q->vtime))
		return 0;
	one = flash_vtime_of(usual, t->weight) >> FAIR_USUAL_SHIFT;
	behind = (q->vtime - t->vtime) / (one ? one : 1);
	return behind < FAIR_CATCH_UP ? (u32)behind : FAIR_CATCH_UP;
}

/**
 * fair_claim - a tenant's claim to scheduler tags, see tag_quota.h
 * @q: the queues
 * @t: the tenant
 * @rq: its next request, or NULL
 *
 * Return: its weight divided by the usual charge of its requests, and up to twice that
 * if it is behind, 1 to FLASH_TAGS_CLAIM; 0 if the usual charge is unknown.
 */
noinline u64 fair_claim(const struct fair_queue *q, struct tenant *t, const struct fair_rq *rq)
{
	u64 usual = t->usual, claim;

	if (!usual && rq)
		usual = fair_charge(q, rq) << FAIR_USUAL_SHIFT;
	if (!usual)
		return 0;
	claim = ((u64)t->weight << FAIR_CLAIM_SHIFT) / usual;
	if (t->usual)
		t->claim = clamp_t(u64, claim, 1, FLASH_TAGS_CLAIM);
	claim += claim * fair_behind(q, t, usual) / FAIR_CATCH_UP;
	return clamp_t(u64, claim, 1, FLASH_TAGS_CLAIM);
}

/* fair_claim(), for each request */
static inline u64 fair_next_claim(const struct fair_queue *q, struct tenant *t,
				  const struct fair_rq *rq)
{
	/* With exclusive turns no tenant is behind. */
	if (!t->claim || (!q->rules.exclusive && flash_vtime_before(t->vtime, q->vtime)))
		return fair_claim(q, t, rq);
	return t->claim;
}

/* The usual charge of @t has changed: is its claim wrong by more than a 16th? */
static inline void fair_check_claim(struct tenant *t)
{
	u64 exact = (u64)t->weight << FAIR_CLAIM_SHIFT;

	if (t->claim * t->usual - exact + exact / 16 > exact / 8)
		t->claim = 0;
}

/*
 * Was @t here all the time, although none of its requests waited? A request is in the
 * device, or its tasks sleep for tags, or its next request is expected.
 */
static bool fair_stayed(const struct tenant *t, u64 now)
{
	return t->out ||
	       (t->think.no_tag && now - t->think.no_tag < FAIR_SECOND) ||
	       (!hlist_unhashed(&t->think.pause) && now < t->think.until);
}

/* fair_start() for @t, which is behind the device's virtual time */
static noinline void fair_catch_up(const struct fair_queue *q, struct tenant *t,
				   const struct fair_rq *rq, u64 now)
{
	u64 usual = t->usual >> FAIR_USUAL_SHIFT, floor = q->vtime;

	if (!q->rules.exclusive && fair_stayed(t, now)) {
		/*
		 * It is owed what it is behind, up to some usual requests. A large
		 * request is no reason for more of these.
		 */
		if (!usual)
			usual = fair_charge(q, rq);
		floor -= flash_vtime_of(usual * FAIR_CATCH_UP, t->weight);
	}
	t->vtime = flash_vtime_max(t->vtime, floor);
}

/* Set the virtual time of @t, which had no request that waited, for its request @rq. */
static inline void fair_start(struct fair_queue *q, struct tenant *t,
			      const struct fair_rq *rq, u64 now)
{
	/* Its turn continues; the service of that turn is still to be charged. */
	if (q->rules.exclusive && t == q->active)
		return;
	fair_update_vtime(q);
	if (flash_vtime_before(t->vtime, q->vtime))
		fair_catch_up(q, t, rq, now);
}

/* @t becomes busy. */
static void fair_enter(struct fair_queue *q, struct tenant *t)
{
	t->second.seen = q->second.charged;
	t->busy = true;
	q->busy++;
	q->weights += t->weight;
}

/* @t, which was idle, sends a request at @now: learn its think time. */
static __always_inline void fair_wakes(struct fair_queue *q, struct tenant *t, u64 now)
{
	struct tenant_think *think = &t->think;
	u64 cap = q->rules.antic_max, idle = now - think->ended;

	if (!q->rules.exclusive && think->issued && think->sync) {
		flash_gap_add(&think->think, idle, cap);
		if (think->think.known && idle <= cap && idle <= 2 * think->think.ns)
			think->misses = 0;
	}
	/* No other tenant had a request since then: its turn stood still. */
	if (t == q->active && !q->waiting)
		t->turn.begun += idle;
	/*
	 * If it had been waited for, the request would be issued now: the gap ends here.
	 * Until the dispatch other tenants are served.
	 */
	if (q->rules.exclusive && think->issued && t != q->active) {
		flash_gap_add(&think->gap, now - think->issued, cap);
		think->issued = 0;
	}
	hlist_del_init(&think->pause);
	fair_enter(q, t);
}

/* @rq of @t arrives. */
static inline void fair_arrives(struct fair_queue *q, struct fair_rq *rq, struct tenant *t,
				struct flash_tags *tags)
{
	fair_set_chips(q, rq);
	rq->tenant = t;
	rq->tags = tags;
}

/* @t, of which no request waited, has a request. */
static __always_inline void fair_returns(struct fair_queue *q, struct tenant *t,
					 struct fair_rq *rq, u64 now)
{
	fair_start(q, t, rq, now);
	if (t->busy)
		fair_unplace(q, t);
	else
		fair_wakes(q, t, now);
	t->think.held = false;
}

/**
 * fair_add - add a request to its tenant's queue
 * @q: the queues
 * @rq: the request, described by fair_describe()
 * @t: its tenant
 * @tags: the set of scheduler tags that its tag belongs to
 * @urgent: other tenants may wait for it
 * @now: the time, ns
 */
static __always_inline void fair_add(struct fair_queue *q, struct fair_rq *rq,
				     struct tenant *t, struct flash_tags *tags, bool urgent,
				     u64 now)
{
	fair_check_second(q, now);
	fair_arrives(q, rq, t, tags);
	if (!t->nr) {
		fair_returns(q, t, rq, now);
		if (t != q->active)
			fair_join(q, t);
	}
	t->nr++;
	list_add_tail(&rq->link, &t->queue);
	q->waiting++;
	if (urgent)
		fair_urgent_add(q, rq);
	flash_tags_get(tags, t->index, fair_next_claim(q, t, rq));
}

/* @rq does not wait any more. */
static __always_inline void fair_dequeue(struct fair_queue *q, struct fair_rq *rq)
{
	struct tenant *t = rq->tenant;

	if (rq == fair_head(t))
		t->passed = 0;
	if (rq->urgent)
		fair_urgent_del(rq);
	list_del_init(&rq->link);
	q->waiting--;
	t->nr--;
}

/*
 * The budget of the next turn of @t; @charge: charge of its first request. A tenant may be
 * without requests for a moment, so the limit by max_gap uses the mean sum of weights, or
 * the current sum if that is larger, so that a new tenant counts at once.
 */
static u64 fair_budget(const struct fair_queue *q, const struct tenant *t, u64 charge)
{
	u64 budget = t->turn.budget ? t->turn.budget : q->rules.budget.standard;
	u64 most, window, weights = q->mean >> 8;

	if (!q->rules.max_gap)
		return budget;
	if (weights < q->weights)
		weights = q->weights;
	most = flash_budget_gap(q->rules.max_gap, t->weight, weights);
	window = fair_usual(t, charge) * (q->rules.depth ? q->rules.depth : 1);
	if (most > window)
		most = window;
	return budget < most ? budget : most;
}

/* End the turn of @active for the reason @why, and charge it. */
static void fair_end_turn(struct fair_queue *q, enum flash_reason why, u64 now)
{
	struct tenant *t = q->active;
	u64 used = t->turn.used, all;

	if (fair_timed(q)) {
		/* Not charged: the time since its last request, if none is left. */
		if (!t->busy)
			now = flash_vtime_max(t->turn.begun, t->think.ended);
		used = now - t->turn.begun;
		if (used > FLASH_CHARGE_MAX)
			used = FLASH_CHARGE_MAX;
		t->stats.cost += used;
		t->second.received += used;
		all = flash_vtime_of(used, q->weights ? q->weights : t->weight);
		q->second.charged += all;
		if (q->rules.budgets)
			q->vtime += all;
	}
	if (q->rules.exclusive)
		tenant_charge(t, used);
	fair_advance(q, t->vtime);
	if (q->rules.budgets)
		t->turn.budget = flash_budget_next(&q->rules.budget, t->turn.budget,
						   t->turn.used, why,
						   q->busy + !t->busy);
	q->mean = flash_gap_average(q->mean, q->weights << 8);
	t->turn.ended[why]++;
	t->turn.used = 0;
	q->active = NULL;
	if (t->nr)
		fair_join(q, t);
	q->stats.turns++;
}

/*
 * Why the turn of @t, of which @nr requests wait, is over at @now, or FLASH_KEEPS; sets @wake
 * if @t is waited for.
 */
static __always_inline enum flash_reason fair_turn_over(struct fair_queue *q,
							struct tenant *t, u32 nr, u64 now)
{
	u64 slice = q->rules.slice, wait = 0, end = 0;

	if (q->rules.budgets && t->turn.used >= t->turn.budget)
		return FLASH_EXHAUSTED;
	if (!q->rules.budgets)
		slice = flash_slice_of(slice, t->weight);
	if (slice) {
		end = t->turn.begun + slice;
		if (now >= end)
			return FLASH_EXPIRED;
	}
	if (nr)
		return FLASH_KEEPS;
	if (!q->rules.exclusive)
		return FLASH_IDLE;
	if (t->out) {
		q->wake = end;
		return FLASH_KEEPS;
	}
	if (q->rules.antic && t->think.sync)
		wait = q->rules.fixed ? q->rules.antic_max :
		       flash_gap_wait(&t->think.gap, q->rules.antic_max);
	if (flash_gap_switch(true, now - t->think.ended, wait))
		return FLASH_IDLE;
	q->wake = t->think.ended + wait;
	if (end && end < q->wake)
		q->wake = end;
	if (!t->think.held) {
		t->think.held = true;
		t->stats.waits++;
		q->stats.holds++;
	}
	return FLASH_KEEPS;
}

/* End the waits for requests that did not arrive in time. */
static void fair_expire(struct fair_queue *q, u64 now)
{
	u64 earliest = ~0ULL;
	struct hlist_node *next;
	struct tenant *t;

	if (now < q->paused.earliest)
		return;
	hlist_for_each_entry_safe(t, next, &q->paused.list, think.pause) {
		if (now < t->think.until) {
			earliest = min(earliest, t->think.until);
			continue;
		}
		t->think.misses += t->think.held;
		t->think.held = false;
		hlist_del_init(&t->think.pause);
	}
	q->paused.earliest = earliest;
}

/*
 * Anticipation in a window: is the next request of a tenant expected that is behind @t,
 * the next tenant? Sets @wake to the end of that wait. For exclusive turns see
 * fair_turn_over().
 */
static noinline bool fair_waits(struct fair_queue *q, const struct tenant *t, u64 now)
{
	struct tenant *a;
	bool waits = false;

	fair_expire(q, now);
	hlist_for_each_entry(a, &q->paused.list, think.pause) {
		if (!flash_vtime_before(a->vtime, t->vtime))
			continue;
		if (!q->wake || a->think.until < q->wake)
			q->wake = a->think.until;
		if (!a->think.held) {
			a->think.held = true;
			a->stats.waits++;
			q->stats.holds++;
		}
		waits = true;
	}
	return waits;
}

/* The service that the next turn of @t uses at least: a request is never split. */
static u64 fair_needs(const struct fair_queue *q, const struct tenant *t)
{
	const struct fair_rq *rq = fair_head(t);
	u64 charge = fair_charge(q, rq);
	u64 budget = fair_budget(q, t, charge);
	u64 first = fair_timed(q) ? fair_sectors(rq) : charge;

	return budget > first ? budget : first;
}

/* B-WF2Q+: the earliest virtual finish among tenants that have reached their virtual start */
static noinline struct tenant *fair_pick_wf2q(struct fair_queue *q)
{
	struct fair_backlog *b = &q->backlog;
	struct tenant *t = fair_of_node(rb_first_cached(&b->later));
	u32 most = FAIR_ELIGIBLE;

	if (!rb_first_cached(&b->eligible))
		q->vtime = flash_vtime_max(q->vtime, t->vtime);
	while (t && most-- && !flash_vtime_before(q->vtime, t->vtime)) {
		fair_uproot(t);
		t->place.finish = t->vtime + flash_vtime_of(fair_needs(q, t), t->weight);
		t->place.tree = &b->eligible;
		rb_add_cached(&t->place.node, &b->eligible, fair_finishes_before);
		t = fair_of_node(rb_first_cached(&b->later));
	}
	return fair_of_node(rb_first_cached(&b->eligible));
}

/* The tenant of the backlog that is next */
static inline struct tenant *fair_pick(struct fair_queue *q)
{
	struct tenant *t = q->backlog.lone;

	if (q->rules.budgets) {
		if (!t)
			return fair_pick_wf2q(q);
		q->vtime = flash_vtime_max(q->vtime, t->vtime);
		return t;
	}
	t = fair_first(q);
	q->least = t->vtime;
	return t;
}

/* Number of requests of @t that may be compared, at most @most */
static u32 fair_scan(const struct tenant *t, u32 most)
{
	return t->passed < FAIR_PASS ? most : 1;
}

/*
 * The first of the requests of @t with the least load on its chips, which @load is set to.
 * While few requests are in the device, chips are seldom idle, but their loads differ.
 */
static struct fair_rq *fair_pick_soonest(const struct fair_queue *q, const struct tenant *t,
					 u32 *load)
{
	u32 n = fair_scan(t, FAIR_CHOICE);
	struct fair_rq *rq, *best = NULL;

	*load = 1;
	list_for_each_entry(rq, &t->queue, link) {
		u32 on;

		if (!n-- || !*load)
			break;
		on = flash_occupancy_load(&q->dev.occ, &rq->chips);
		if (!best || on < *load) {
			best = rq;
			*load = on;
		}
	}
	return best;
}

/* A request with idle chips among the first ones of @t, or NULL */
static struct fair_rq *fair_pick_idle(const struct fair_queue *q, const struct tenant *t)
{
	u32 n = fair_scan(t, FAIR_SCAN);
	struct fair_rq *rq;

	list_for_each_entry(rq, &t->queue, link) {
		if (!n--)
			break;
		if (flash_occupancy_free(&q->dev.occ, &rq->chips))
			return rq;
	}
	return NULL;
}

/*
 * fair_pick_rq() by chips. In a window it may be a request of another tenant with idle
 * chips, unless that tenant is too far ahead: of such tenants the one with the least
 * virtual time, among the next FAIR_OTHERS ones.
 */
static noinline struct fair_rq *fair_pick_by_chips(struct fair_queue *q, struct tenant *best)
{
	struct fair_rq *rq, *soonest;
	u32 load, n = FAIR_OTHERS;
	struct tenant *t;

	soonest = fair_pick_soonest(q, best, &load);
	/* If no chips of its first requests are idle, those of others may be. */
	if (!load || q->rules.budgets || q->backlog.lone)
		return soonest;
	for (t = fair_of_node(rb_next(&best->place.node)); t && n;
	     t = fair_of_node(rb_next(&t->place.node)), n--) {
		u64 lead = fair_charge(q, fair_head(t)) * q->rules.depth;

		if (flash_vtime_before(best->vtime + flash_vtime_of(lead, t->weight), t->vtime))
			continue;
		rq = fair_pick_idle(q, t);
		if (rq)
			return rq;
	}
	return soonest;
}

/* The next request, if @best is the tenant that is due */
static inline struct fair_rq *fair_pick_rq(struct fair_queue *q, struct tenant *best)
{
	if (unlikely(!list_empty(&best->urgent)) && best->passed < FAIR_PASS)
		return fair_urgent_first(best);
	if (!q->dev.geo.nr_chips || q->rules.exclusive || q->waiting == 1)
		return fair_head(best);
	return fair_pick_by_chips(q, best);
}

/* fair_lags(), while enough requests are in the device */
static noinline bool fair_dry_lags(struct fair_queue *q)
{
	struct hlist_node *next;
	struct tenant *t;

	hlist_for_each_entry_safe(t, next, &q->dry.fresh, place.dry) {
		hlist_del_init(&t->place.dry);
		fair_plant(t, &q->dry.sorted);
	}
	t = fair_of_node(rb_first_cached(&q->dry.sorted));
	return t && flash_vtime_before(t->vtime, q->vtime);
}

/*
 * Does a tenant lag behind its share although all of its requests are in the device? The
 * fewer requests of others are there, the more of the device it gets. So no request is
 * issued then beyond those that keep the device busy.
 */
static inline bool fair_lags(struct fair_queue *q)
{
	if (q->out < FAIR_LIMIT || q->rules.exclusive || q->rules.limit)
		return false;
	return fair_dry_lags(q);
}

/* Choose while fair_queue.active has the turn. Ends the turn if it is over. */
static noinline struct fair_rq *fair_pick_active(struct fair_queue *q, u64 now)
{
	struct tenant *t = q->active;
	enum flash_reason why = fair_turn_over(q, t, t->nr, now);

	if (!why)
		return t->nr ? fair_pick_rq(q, t) : NULL;
	fair_end_turn(q, why, now);
	return NULL;
}

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
	struct fair_rq *rq;
	struct tenant *t;

	q->wake = 0;
	q->enough = INT_MAX;
	if (!q->waiting)
		return NULL;
	if (unlikely(!list_empty(&q->urgent.tenants))) {
		rq = fair_urgent_pick(q);
		if (rq)
			return rq;
	}
	if (fair_lags(q)) {
		q->enough = FAIR_ENOUGH;
		return NULL;
	}
	if (q->active) {
		rq = fair_pick_active(q, now);
		if (q->active)
			return rq;
	}
	t = fair_pick(q);
	if (!q->rules.exclusive && q->rules.antic && q->paused.list.first &&
	    fair_waits(q, t, now))
		return NULL;
	return fair_pick_rq(q, t);
}

/* Update the device's work: each request gets an equal part of the time. */
static __always_inline void fair_work(struct fair_queue *q, u64 now)
{
	if (q->out && now > q->dev.worked)
		q->dev.work += ((now - q->dev.worked) << FAIR_WORK_SHIFT) / q->out;
	q->dev.worked = now;
}

/* @rq of @t is in the device from now on. */
static __always_inline void fair_started(struct fair_queue *q, struct tenant *t,
					 struct fair_rq *rq, u64 now)
{
	fair_work(q, now);
	rq->work = q->dev.work;
	t->out++;
	q->out++;
	if (rq->chips.nr_chips)
		flash_occupancy_take(&q->dev.occ, &rq->chips, fair_write_dir(rq));
}

/*
 * A request of @t is issued in order: its turn begins or continues; @head: its first waiting
 * request, perhaps @rq.
 */
static __always_inline void fair_turn(struct fair_queue *q, struct tenant *t,
				      const struct fair_rq *rq, const struct fair_rq *head,
				      u64 charge, u64 now)
{
	if (q->rules.exclusive || q->rules.budgets) {
		if (!q->active) {
			fair_unplace(q, t);
			q->active = t;
			t->turn.begun = now;
			t->turn.used = 0;
			t->turn.budget = fair_budget(q, t, rq == head ? charge :
						     fair_charge(q, head));
		}
	} else {
		q->vtime = flash_vtime_max(q->vtime, q->least);
		if (q->last != t)
			q->stats.turns++;
	}
	q->last = t;
}

/* Charge @t for @rq at its dispatch; @aside: outside of a turn, or in another's turn. */
static __always_inline void fair_account(struct fair_queue *q, struct tenant *t,
					 const struct fair_rq *rq, u64 charge, bool aside)
{
	if (aside || !fair_timed(q)) {
		u64 all = flash_vtime_of(charge, q->weights);

		if (!aside && q->active)
			t->turn.used += charge;
		t->stats.cost += charge;
		t->second.received += charge;
		q->second.charged += all;
		if (q->rules.budgets)
			q->vtime += all;
	} else {
		/* The time is charged when the turn ends; budgets are in sectors. */
		t->turn.used += fair_sectors(rq);
	}
	if (aside && q->urgent.ahead == FAIR_AT_ONCE)
		fair_urgent_charge(q, t, rq, charge);
	else if (!aside && !q->rules.exclusive)
		tenant_charge(t, charge);
	fair_advance(q, t->vtime);
}

/* @rq of @t, which does not wait any more, is charged; @aside: see fair_account(). */
static __always_inline void fair_issued(struct fair_queue *q, struct tenant *t,
					const struct fair_rq *rq, u64 charge, bool aside,
					u64 now)
{
	u64 usual = charge << FAIR_USUAL_SHIFT;

	if (q->rules.exclusive && t->think.issued)
		flash_gap_add(&t->think.gap, now - t->think.issued, q->rules.antic_max);
	t->think.issued = now;
	t->think.sync = rq->sync;
	/* An average from 0 would be too small, and stay 0 if each charge is 1. */
	if (t->usual)
		usual = flash_gap_average(t->usual, usual);
	if (t->usual != usual) {
		t->usual = usual;
		fair_check_claim(t);
	}
	t->stats.requests++;
	t->stats.sectors += rq->sectors;
	fair_account(q, t, rq, charge, aside);
}

/**
 * fair_issue - issue a request that waits
 * @q: the queues
 * @rq: the request that fair_next() returned
 * @now: the time, ns
 */
static __always_inline void fair_issue(struct fair_queue *q, struct fair_rq *rq, u64 now)
{
	struct tenant *t = rq->tenant;
	u64 charge = fair_charge(q, rq);
	bool ahead = rq->urgent && q->urgent.ahead;
	/* In its tenant's turn the request is a part of that turn. */
	bool aside = ahead && t != q->active;

	fair_check_second(q, now);
	if (ahead)
		fair_urgent_issued(q, t);
	else
		q->urgent.since += charge;
	if (!aside)
		fair_turn(q, t, rq, fair_head(t), charge, now);
	if (rq != fair_head(t)) {
		t->passed++;
		q->stats.idle_chips += !rq->urgent;
	}
	fair_dequeue(q, rq);
	fair_issued(q, t, rq, charge, aside, now);
	if (!t->nr) {
		fair_unplace(q, t);
		hlist_add_head(&t->place.dry, &q->dry.fresh);
	} else if (t->place.tree) {
		fair_replant(q, t);
	}
	fair_started(q, t, rq, now);
}

/**
 * fair_may_pass - may a request that is about to be added be issued at once?
 * @q: the queues
 * @t: its tenant
 *
 * If no request waits, and nothing holds it back. An approximation: false may be wrong.
 */
static inline bool fair_may_pass(const struct fair_queue *q, const struct tenant *t)
{
	const struct hlist_node *paused = q->paused.list.first;

	if (q->waiting || !list_empty(&q->urgent.tenants))
		return false;
	if (q->rules.exclusive)
		return !q->active || q->active == t;
	return (q->out < FAIR_LIMIT || q->rules.limit) &&
	       (!paused || (paused == &t->think.pause && !paused->next));
}

/**
 * fair_pass - add a request, and issue it
 * @q: the queues
 * @rq: the request, described by fair_describe() and not urgent
 * @t: its tenant, and fair_may_pass()
 * @tags: the set of scheduler tags that its tag belongs to
 * @arrived: the time of its arrival, ns
 * @now: the time, ns
 *
 * fair_add(), fair_next() and fair_issue() without a queue.
 */
static __always_inline void fair_pass(struct fair_queue *q, struct fair_rq *rq,
				      struct tenant *t, struct flash_tags *tags, u64 arrived,
				      u64 now)
{
	u64 charge;

	fair_check_second(q, arrived);
	fair_arrives(q, rq, t, tags);
	rq->urgent = false;
	fair_returns(q, t, rq, arrived);
	flash_tags_get(tags, t->index, fair_next_claim(q, t, rq));

	q->wake = 0;
	if (q->active) {
		/* In a window the turn of another tenant is over, as none of its requests waits. */
		enum flash_reason why = fair_turn_over(q, q->active, q->active == t, now);

		if (why)
			fair_end_turn(q, why, now);
	}
	if (!q->active) {
		if (q->rules.budgets)
			q->vtime = flash_vtime_max(q->vtime, t->vtime);
		else
			q->least = t->vtime;
	}

	charge = fair_charge(q, rq);
	fair_check_second(q, now);
	q->urgent.since += charge;
	fair_turn(q, t, rq, rq, charge, now);
	t->passed = 0;
	fair_issued(q, t, rq, charge, false, now);
	hlist_add_head(&t->place.dry, &q->dry.fresh);
	fair_started(q, t, rq, now);
}

/**
 * fair_bypass - the device gets a request that was never added
 * @q: the queues
 * @rq: the request, described by fair_describe()
 * @tags: the set of scheduler tags that its tag belongs to
 * @now: the time, ns
 *
 * The request belongs to the shared tenant and is not charged: most such requests were
 * issued before, and are issued again.
 */
void fair_bypass(struct fair_queue *q, struct fair_rq *rq, struct flash_tags *tags, u64 now)
{
	struct tenant *t = &q->table.t[0];

	fair_set_chips(q, rq);
	rq->tenant = t;
	rq->tags = tags;
	rq->urgent = false;
	/* Not in fair_queue.dry: the shared tenant does not lag. */
	if (!t->busy)
		fair_enter(q, t);
	fair_started(q, t, rq, now);
	flash_tags_get(tags, t->index, fair_claim(q, t, rq));
}

/* All virtual times and budgets start again, because the unit of charges has changed. */
static noinline void fair_restart(struct fair_queue *q)
{
	struct tenant *active = q->active;
	u32 i;

	q->active = NULL;
	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct tenant *t = &q->table.t[i];

		fair_due(q, t);
		t->vtime = 0;
		t->usual = 0;
		t->claim = 0;
		t->turn.used = 0;
		t->turn.budget = 0;
		t->stats.cost = 0;
		t->second.received = 0;
		t->second.due = 0;
		t->second.last_received = 0;
		t->second.last_due = 0;
		t->think.held = false;
		hlist_del_init(&t->think.pause);
	}
	q->vtime = 0;
	q->least = 0;
	q->latest = 0;
	fair_sort(q);
	if (active && active->nr)
		fair_join(q, active);
}

/*
 * Learn the device time of @rq, which has completed. The first measurement replaces a
 * guess, which was many times too large if the device works on many requests at once.
 * Debts of guessed charges would take many times as long to pay, so they are forgotten.
 */
static __always_inline void fair_learn(struct fair_queue *q, const struct fair_rq *rq)
{
	u64 ns = (q->dev.work - rq->work) >> FAIR_WORK_SHIFT;
	bool guess = !flash_cost_known(&q->dev.cost, rq->dir);

	/* At least 1 ns, so that each predicted time is a measured one. */
	flash_cost_learn(&q->dev.cost, rq->dir, rq->sectors, ns ? ns : 1);
	if (unlikely(guess) && flash_cost_known(&q->dev.cost, rq->dir) &&
	    q->rules.charge == FAIR_CHARGE_TIME && !q->rules.exclusive)
		fair_restart(q);
}

/* A request has left the device: feed the search for the limit. */
static __always_inline void fair_pace(struct fair_queue *q, const struct fair_rq *rq, bool ended, u64 now)
{
	struct flash_pace *pace = &q->dev.pace;

	if (q->rules.limit || q->rules.exclusive) {
		flash_pace_break(pace);
	} else if (ended) {
		/* A request that is held back stays so until one ends. */
		if (q->waiting && q->out >= flash_pace_limit(pace))
			pace->full = true;
		if (rq->dir != FLASH_NR_DIRS)
			pace->moved += rq->sectors;
		flash_pace_end(pace, q->out == 1, true, now);
	}
}

/* Has no other tenant had a request for a second? @t has just become the last idle one. */
static inline bool fair_alone(const struct fair_queue *q, const struct tenant *t, u64 now)
{
	const struct tenant *other = list_prev_entry(t, lru);

	return !q->busy && (list_is_first(&t->lru, &q->table.lru) ||
			    now - other->think.ended >= FAIR_SECOND);
}

/*
 * @t is idle after its request @rq: is its next request worth waiting for, in a window? Not
 * if its part of the window is over by then: the device would lose the time of that part.
 */
static inline void fair_pause(struct fair_queue *q, struct tenant *t,
			      const struct fair_rq *rq, u64 now)
{
	struct tenant_think *think = &t->think;
	u64 ns, wait = 2 * think->think.ns;

	if (q->rules.exclusive || !q->rules.antic || !think->sync ||
	    !think->think.known || think->misses >= FAIR_MISSES || fair_alone(q, t, now))
		return;
	ns = flash_cost_ns(&q->dev.cost, rq->dir, rq->sectors);
	if (think->think.ns > ns * q->rules.depth * t->weight / (q->weights + t->weight))
		return;
	/* Twice the mean: half of all gaps are longer than the mean. */
	if (wait > q->rules.antic_max)
		wait = q->rules.antic_max;
	think->until = now + wait;
	if (!q->paused.list.first || think->until < q->paused.earliest)
		q->paused.earliest = think->until;
	hlist_add_head(&think->pause, &q->paused.list);
}

/* The last request of @t has left the device. */
static __always_inline void fair_leave(struct fair_queue *q, struct tenant *t)
{
	fair_due(q, t);
	t->busy = false;
	q->busy--;
	q->weights -= t->weight;
	fair_unplace(q, t);
	if (!list_is_last(&t->lru, &q->table.lru))
		list_move_tail(&t->lru, &q->table.lru);
	/* Debts do not outlast a busy period of the device. */
	if (!q->busy && flash_vtime_before(q->vtime, q->latest))
		q->vtime = q->latest;
}

/**
 * fair_release - a request has left the device
 * @q: the queues
 * @rq: the request
 * @ended: it has completed; else the driver requeued it
 * @now: the time, ns
 */
static __always_inline void fair_release(struct fair_queue *q, struct fair_rq *rq, bool ended, u64 now)
{
	bool data = rq->dir != FLASH_NR_DIRS;
	struct tenant *t = rq->tenant;

	flash_tags_put(rq->tags, t->index);
	fair_work(q, now);
	if (ended && data)
		fair_learn(q, rq);
	fair_pace(q, rq, ended, now);
	if (rq->chips.nr_chips)
		flash_occupancy_release(&q->dev.occ, &rq->chips, fair_write_dir(rq));
	rq->tenant = NULL;
	t->out--;
	q->out--;
	t->think.ended = now;
	if (t->nr || t->out)
		return;
	fair_leave(q, t);
	if (ended && data && t != &q->table.t[0])
		fair_pause(q, t, rq, now);
}

/**
 * fair_grow - a waiting request has merged with a bio
 * @q: the queues
 * @rq: the request
 * @sector: its first sector now, or FLASH_NO_SECTOR
 * @sectors: its length now
 */
void fair_grow(struct fair_queue *q, struct fair_rq *rq, u64 sector, u32 sectors)
{
	struct tenant *t = rq->tenant;

	fair_describe(rq, rq->dir, rq->sync, sector, sectors);
	fair_set_chips(q, rq);
	/* The virtual finish depends on the first request. */
	if (t->place.tree == &q->backlog.eligible && rq == fair_head(t))
		fair_replant(q, t);
}

/**
 * fair_absorb - a waiting request has absorbed another one
 * @q: the queues
 * @rq: the request
 * @merged: the other request, of the same tenant, and urgent if @rq is
 * @earlier: @merged was added earlier than @rq, which inherits its place
 * @sector: the first sector of @rq now, or FLASH_NO_SECTOR
 * @sectors: its length now
 */
void fair_absorb(struct fair_queue *q, struct fair_rq *rq, struct fair_rq *merged, bool earlier,
		 u64 sector, u32 sectors)
{
	struct tenant *t = rq->tenant;
	u32 passed = t->passed;

	flash_tags_put(merged->tags, t->index);
	if (earlier) {
		list_move(&rq->link, &merged->link);
		if (rq->urgent)
			list_move(&rq->urge, &merged->urge);
	}
	rq->sync |= merged->sync;
	fair_dequeue(q, merged);
	/* A request in the place of a first one was passed as often. */
	t->passed = passed;
	merged->tenant = NULL;
	fair_grow(q, rq, sector, sectors);
}

/* Forget @t, which is idle. */
static void fair_forget(struct fair_queue *q, struct tenant *t)
{
	if (q->last == t)
		q->last = NULL;
	t->think.held = false;
	hlist_del_init(&t->think.pause);
	tenant_forget(&q->table, t);
}

/* A busy tenant leaves the list of idle ones when it is seen there, so each walk is short. */
static bool fair_unlist_busy(struct tenant *t)
{
	if (t->busy)
		list_del_init(&t->lru);
	return t->busy;
}

/**
 * fair_prune - forget tenants that have been idle for a second and have no debt
 * @q: the queues
 * @now: the time, ns
 * @most: number of idle tenants that are looked at
 */
void fair_prune(struct fair_queue *q, u64 now, u32 most)
{
	struct tenant *t, *next;

	list_for_each_entry_safe(t, next, &q->table.lru, lru) {
		if (fair_unlist_busy(t))
			continue;
		if (!most--)
			break;
		if (t == &q->table.t[0])
			continue;
		if (now - t->think.ended < FAIR_SECOND)
			return;
		fair_expire(q, now);
		/* Others may be held back for it. */
		if (t == q->active && q->waiting)
			continue;
		if (t == q->active)
			fair_end_turn(q, FLASH_IDLE, now);
		/* A debtor would start again without debt. */
		if (!flash_vtime_before(q->vtime, t->vtime))
			fair_forget(q, t);
	}
}

/* Forget an idle tenant without debt, the longest idle one first, to make room. */
static void fair_evict(struct fair_queue *q, u64 now)
{
	struct tenant *t, *next;

	fair_expire(q, now);
	list_for_each_entry_safe(t, next, &q->table.lru, lru) {
		if (fair_unlist_busy(t) || t == &q->table.t[0] || t == q->active ||
		    !hlist_unhashed(&t->think.pause) ||
		    flash_vtime_before(q->vtime, t->vtime))
			continue;
		fair_forget(q, t);
		return;
	}
}

/**
 * fair_tenant - the tenant of a request that is about to be added
 * @q: the queues
 * @key: the tenant's identity
 * @weight: its weight, if it is new
 * @now: the time, ns
 *
 * Return: the tenant; the shared one if there is no room for a new one.
 */
struct tenant *fair_tenant(struct fair_queue *q, const struct tenant_key *key, u32 weight,
			   u64 now)
{
	struct tenant *t = tenant_find(&q->table, key);

	if (t)
		return t;
	fair_prune(q, now, 2);
	if (q->table.nr >= q->table.max)
		fair_evict(q, now);
	t = tenant_create(&q->table, key);
	if (!t) {
		q->table.refused++;
		return &q->table.t[0];
	}
	t->weight = weight;
	t->vtime = q->vtime;
	t->second.seen = q->second.charged;
	t->think.ended = now;
	return t;
}

/**
 * fair_set_rules - change the rules
 * @q: the queues, at any time
 * @rules: the rules
 */
void fair_set_rules(struct fair_queue *q, const struct fair_rules *rules)
{
	bool restart = rules->exclusive != q->rules.exclusive ||
		       rules->budgets != q->rules.budgets ||
		       rules->charge != q->rules.charge;
	bool sizes = memcmp(&rules->budget, &q->rules.budget, sizeof(rules->budget));
	u32 i;

	q->rules = *rules;
	if (!q->rules.budget.standard)
		q->rules.budget.standard = 1;
	for (i = 0; sizes && i <= FLASH_TENANTS; i++)
		q->table.t[i].turn.budget = 0;
	if (q->active && sizes)
		q->active->turn.budget = q->rules.budget.standard;
	if (restart)
		fair_restart(q);
	else
		fair_sort(q);
}

/**
 * fair_set_layout - change the layout
 * @q: the queues, at any time
 * @geo: the layout
 * @offset: sectors of the drive before the device
 *
 * Return: true if the chips of waiting requests change: the caller calls nothing but
 * fair_sort_next() until that returns true.
 */
bool fair_set_layout(struct fair_queue *q, const struct flash_geometry *geo, u64 offset)
{
	bool any = q->dev.geo.nr_chips | geo->nr_chips;
	u32 generation = q->dev.geo.generation;

	q->dev.geo = *geo;
	q->dev.geo.generation = generation + 1;
	q->dev.offset = offset;
	flash_occupancy_set(&q->dev.occ, &q->dev.geo, 1);
	q->unsorted.tenant = 0;
	q->unsorted.at = q->table.t[0].queue.next;
	return any && q->waiting;
}

/**
 * fair_sort_next - set the chips of one waiting request after fair_set_layout()
 * @q: the queues
 *
 * Return: true if none was left.
 */
bool fair_sort_next(struct fair_queue *q)
{
	struct fair_unsorted *u = &q->unsorted;

	while (u->at == &q->table.t[u->tenant].queue) {
		if (u->tenant == FLASH_TENANTS)
			return true;
		u->at = q->table.t[++u->tenant].queue.next;
	}
	fair_set_chips(q, list_entry(u->at, struct fair_rq, link));
	u->at = u->at->next;
	return false;
}

/**
 * fair_init - initialize the queues of a device
 * @q: the queues, all zero
 * @rules: the rules
 * @most: requests that the driver takes at a time, at least 1: the search tries no larger
 *	limit, as it measures only while the limit is reached
 */
void fair_init(struct fair_queue *q, const struct fair_rules *rules, u32 most)
{
	static const struct flash_geometry none;

	INIT_LIST_HEAD(&q->urgent.tenants);
	tenant_table_init(&q->table, FLASH_WEIGHT_DEFAULT);
	flash_pace_init(&q->dev.pace, min_t(u32, FAIR_LIMIT, most),
			min_t(u32, FAIR_LIMIT_MAX, most));
	flash_climb_from(&q->dev.pace.climb, min_t(u32, FAIR_LIMIT_FIRST, most));
	q->dev.pace.climb.gain = FAIR_GAIN;
	q->dev.pace.climb.sure = true;
	fair_set_layout(q, &none, 0);
	fair_set_rules(q, rules);
	fair_restart(q);
}
