// SPDX-License-Identifier: GPL-2.0
/*
 * fairqueue.c - the queues of tenants: which request is next, charges and turns
 *
 * The functions stand in the order of a request's life: it is added to its tenant's queue,
 * chosen by fair_next(), issued and charged, and released when it has completed. At the end
 * tenants are created and forgotten, and rules and layout are set. urgent.c has requests
 * that are issued ahead of their turn, tenant.c weights and seconds of shares.
 *
 * A tenant is charged at the dispatch of each request, or, where fair_timed(), at the end
 * of its turn. Its virtual time advances by the charge divided by its weight, at once in a
 * window and at the end of an exclusive turn.
 */
#include <linux/string.h>

#include "fairqueue.h"

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

/* Set the chips of @rq by the current layout. */
static void fair_set_chips(const struct fair_queue *q, struct fair_rq *rq)
{
	/* Without a layout, now and when the chips were set last, there are none. */
	if (q->dev.geo.nr_chips | rq->chips.nr_chips)
		flash_chipvec_fill(&rq->chips, &q->dev.geo, rq->sector, rq->sectors,
				   q->dev.offset);
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

/* fair_claim(), for fair_add() */
static __always_inline u64 fair_claim_for(const struct fair_queue *q, const struct tenant *t,
					  const struct fair_rq *rq)
{
	u64 usual = t->usual, claim;

	if (!usual && rq)
		usual = fair_charge(q, rq) << FAIR_USUAL_SHIFT;
	if (!usual)
		return 0;
	claim = ((u64)t->weight << FAIR_CLAIM_SHIFT) / usual;
	claim += claim * fair_behind(q, t, usual) / FAIR_CATCH_UP;
	if (claim > FLASH_TAGS_CLAIM)
		return FLASH_TAGS_CLAIM;
	return claim ? claim : 1;
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
u64 fair_claim(const struct fair_queue *q, const struct tenant *t, const struct fair_rq *rq)
{
	return fair_claim_for(q, t, rq);
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

/* Set the virtual time of @t, which had no request that waited, for its request @rq. */
static void fair_start(struct fair_queue *q, struct tenant *t, const struct fair_rq *rq,
		       u64 now)
{
	u64 usual = t->usual >> FAIR_USUAL_SHIFT, floor;

	/* Its turn continues; the service of that turn is still to be charged. */
	if (q->rules.exclusive && t == q->active)
		return;
	fair_update_vtime(q);
	floor = q->vtime;
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

/* @t becomes busy. */
static void fair_enter(struct fair_queue *q, struct tenant *t)
{
	t->second.seen = q->second.charged;
	t->busy = true;
	q->busy++;
	q->weights += t->weight;
}

/* @t, which was idle, sends a request at @now: learn its think time. */
static void fair_wakes(struct fair_queue *q, struct tenant *t, u64 now)
{
	struct tenant_think *think = &t->think;
	u64 cap = q->rules.antic_max, idle = now - think->ended;

	if (think->issued && think->sync) {
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
	if (think->issued && t != q->active) {
		flash_gap_add(&think->gap, now - think->issued, cap);
		think->issued = 0;
	}
	hlist_del_init(&think->pause);
	fair_enter(q, t);
}

/* Move @t to another list. */
static void fair_place(struct tenant *t, struct hlist_head *list)
{
	hlist_del_init(&t->place);
	hlist_add_head(&t->place, list);
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
void fair_add(struct fair_queue *q, struct fair_rq *rq, struct tenant *t,
	      struct flash_tags *tags, bool urgent, u64 now)
{
	fair_check_second(q, now);
	fair_set_chips(q, rq);
	rq->tenant = t;
	rq->tags = tags;
	if (!t->nr)
		fair_start(q, t, rq, now);
	if (!t->busy)
		fair_wakes(q, t, now);
	t->think.held = false;
	if (!t->nr++)
		fair_place(t, &q->backlog);
	list_add_tail(&rq->link, &t->queue);
	q->waiting++;
	if (urgent)
		fair_urgent_add(q, rq);
	flash_tags_get(tags, tenant_index(&q->table, t), fair_claim_for(q, t, rq));
}

/* @rq does not wait any more. */
static void fair_dequeue(struct fair_queue *q, struct fair_rq *rq)
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
	q->stats.turns++;
}

/* Why the turn of @t is over at @now, or FLASH_KEEPS; sets @wake if @t is waited for. */
static enum flash_reason fair_turn_over(struct fair_queue *q, struct tenant *t, u64 now)
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
	if (t->nr)
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
	struct hlist_node *next;
	struct tenant *t;

	hlist_for_each_entry_safe(t, next, &q->paused, think.pause) {
		if (now < t->think.until)
			continue;
		t->think.misses += t->think.held;
		t->think.held = false;
		hlist_del_init(&t->think.pause);
	}
}

/*
 * Anticipation in a window: is the next request of a tenant expected that is behind @t,
 * the next tenant? Sets @wake to the end of that wait. For exclusive turns see
 * fair_turn_over().
 */
static bool fair_waits(struct fair_queue *q, const struct tenant *t, u64 now)
{
	struct tenant *a;
	bool waits = false;

	fair_expire(q, now);
	hlist_for_each_entry(a, &q->paused, think.pause) {
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
static struct tenant *fair_pick_wf2q(struct fair_queue *q)
{
	struct tenant *t, *best = NULL;
	u64 finish, first = 0;

	q->vtime = flash_vtime_max(q->vtime, q->least);
	hlist_for_each_entry(t, &q->backlog, place) {
		if (flash_vtime_before(q->vtime, t->vtime))
			continue;
		finish = t->vtime + flash_vtime_of(fair_needs(q, t), t->weight);
		if (!best || flash_vtime_before(finish, first) ||
		    (finish == first && t < best)) {
			best = t;
			first = finish;
		}
	}
	return best;
}

/* The tenant with the least virtual time in the backlog */
static struct tenant *fair_pick_least(struct fair_queue *q)
{
	struct tenant *t, *best = NULL;

	hlist_for_each_entry(t, &q->backlog, place) {
		if (!best || flash_vtime_before(t->vtime, best->vtime) ||
		    (t->vtime == best->vtime && t < best))
			best = t;
	}
	q->least = best->vtime;
	return best;
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
 * virtual time, of equals the first one that joined the backlog.
 */
static struct fair_rq *fair_pick_by_chips(struct fair_queue *q, struct tenant *best)
{
	struct fair_rq *rq, *soonest, *idle = NULL;
	struct tenant *t;
	u32 load;

	soonest = fair_pick_soonest(q, best, &load);
	if (!load || q->rules.budgets)
		return soonest;
	hlist_for_each_entry(t, &q->backlog, place) {
		u64 lead;

		/* No chips of its first requests are idle, see @load. */
		if (t == best)
			continue;
		lead = fair_charge(q, fair_head(t)) * q->rules.depth;
		if (flash_vtime_before(best->vtime + flash_vtime_of(lead, t->weight),
				       t->vtime) ||
		    (idle && flash_vtime_before(idle->tenant->vtime, t->vtime)))
			continue;
		rq = fair_pick_idle(q, t);
		if (rq)
			idle = rq;
	}
	return idle ? idle : soonest;
}

/* The next request, if @best is the tenant that is due */
static struct fair_rq *fair_pick_rq(struct fair_queue *q, struct tenant *best)
{
	if (!list_empty(&best->urgent) && best->passed < FAIR_PASS)
		return fair_urgent_first(best);
	if (!q->dev.geo.nr_chips || q->rules.exclusive || q->waiting == 1)
		return fair_head(best);
	return fair_pick_by_chips(q, best);
}

/*
 * Does a tenant lag behind its share although all of its requests are in the device? The
 * fewer requests of others are there, the more of the device it gets. So no request is
 * issued then beyond those that keep the device busy.
 */
static bool fair_lags(const struct fair_queue *q)
{
	const struct tenant *t;

	if (q->out < FAIR_LIMIT || q->rules.exclusive || q->rules.limit)
		return false;
	hlist_for_each_entry(t, &q->dry, place) {
		if (flash_vtime_before(t->vtime, q->vtime))
			return true;
	}
	return false;
}

/**
 * fair_choose - fair_next(), while requests wait
 * @q: the queues
 * @now: the time, ns
 */
struct fair_rq *fair_choose(struct fair_queue *q, u64 now)
{
	enum flash_reason why;
	struct tenant *t;

	if (!list_empty(&q->urgent.tenants)) {
		struct fair_rq *rq = fair_urgent_pick(q);

		if (rq)
			return rq;
	}
	if (fair_lags(q))
		return NULL;
	if (q->active) {
		why = fair_turn_over(q, q->active, now);
		if (!why)
			return q->active->nr ? fair_pick_rq(q, q->active) : NULL;
		fair_end_turn(q, why, now);
	}
	t = fair_pick_least(q);
	if (q->rules.budgets)
		t = fair_pick_wf2q(q);
	if (!q->rules.exclusive && q->rules.antic && fair_waits(q, t, now))
		return NULL;
	return fair_pick_rq(q, t);
}

/* Update the device's work: each request gets an equal part of the time. */
static void fair_work(struct fair_queue *q, u64 now)
{
	if (q->out && now > q->dev.worked)
		q->dev.work += ((now - q->dev.worked) << FAIR_WORK_SHIFT) / q->out;
	q->dev.worked = now;
}

/* @rq is in the device from now on. */
static __always_inline void fair_started(struct fair_queue *q, struct fair_rq *rq, u64 now)
{
	fair_work(q, now);
	rq->work = q->dev.work;
	rq->tenant->out++;
	q->out++;
	if (rq->chips.nr_chips)
		flash_occupancy_take(&q->dev.occ, &rq->chips, fair_write_dir(rq));
}

/* A request of @t is issued in order: its turn begins or continues. */
static void fair_turn(struct fair_queue *q, struct tenant *t, struct fair_rq *rq, u64 charge,
		      u64 now)
{
	if (q->rules.exclusive || q->rules.budgets) {
		const struct fair_rq *head = fair_head(t);

		if (!q->active) {
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
static void fair_account(struct fair_queue *q, struct tenant *t, const struct fair_rq *rq,
			 u64 charge, bool aside)
{
	if (aside || !fair_timed(q)) {
		u64 all = flash_vtime_of(charge, q->weights);

		if (!aside)
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

/**
 * fair_issue - issue a request that waits
 * @q: the queues
 * @rq: the request that fair_next() returned
 * @now: the time, ns
 */
void fair_issue(struct fair_queue *q, struct fair_rq *rq, u64 now)
{
	struct tenant *t = rq->tenant;
	u64 charge = fair_charge(q, rq), usual = charge << FAIR_USUAL_SHIFT;
	bool ahead = rq->urgent && q->urgent.ahead;
	/* In its tenant's turn the request is a part of that turn. */
	bool aside = ahead && t != q->active;

	fair_check_second(q, now);
	if (ahead)
		fair_urgent_issued(q, t);
	else
		q->urgent.since += charge;
	if (!aside)
		fair_turn(q, t, rq, charge, now);
	if (rq != fair_head(t)) {
		t->passed++;
		q->stats.idle_chips += !rq->urgent;
	}
	fair_dequeue(q, rq);
	if (!t->nr)
		fair_place(t, &q->dry);
	if (t->think.issued)
		flash_gap_add(&t->think.gap, now - t->think.issued, q->rules.antic_max);
	t->think.issued = now;
	t->think.sync = rq->sync;
	t->think.held = false;
	/* An average from 0 would be too small, and stay 0 if each charge is 1. */
	t->usual = t->usual ? flash_gap_average(t->usual, usual) : usual;
	t->stats.requests++;
	t->stats.sectors += rq->sectors;
	fair_account(q, t, rq, charge, aside);
	fair_started(q, rq, now);
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
	fair_started(q, rq, now);
	flash_tags_get(tags, tenant_index(&q->table, t), fair_claim(q, t, rq));
}

/* All virtual times and budgets start again, because the unit of charges has changed. */
static void fair_restart(struct fair_queue *q)
{
	u32 i;

	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct tenant *t = &q->table.t[i];

		fair_due(q, t);
		t->vtime = 0;
		t->usual = 0;
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
	q->active = NULL;
}

/*
 * Learn the device time of @rq, which has completed. The first measurement replaces a
 * guess, which was many times too large if the device works on many requests at once.
 * Debts of guessed charges would take many times as long to pay, so they are forgotten.
 */
static void fair_learn(struct fair_queue *q, const struct fair_rq *rq)
{
	u64 ns = (q->dev.work - rq->work) >> FAIR_WORK_SHIFT;
	bool guess = q->rules.charge == FAIR_CHARGE_TIME && !q->rules.exclusive &&
		     !flash_cost_ns(&q->dev.cost, rq->dir, rq->sectors);

	flash_cost_learn(&q->dev.cost, rq->dir, rq->sectors, ns);
	if (guess && flash_cost_ns(&q->dev.cost, rq->dir, rq->sectors))
		fair_restart(q);
}

/* A request has left the device: feed the search for the limit. */
static void fair_pace(struct fair_queue *q, const struct fair_rq *rq, bool ended, u64 now)
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

/*
 * @t is idle after its request @rq: is its next request worth waiting for, in a window? Not
 * if its part of the window is over by then: the device would lose the time of that part.
 */
static void fair_pause(struct fair_queue *q, struct tenant *t, const struct fair_rq *rq,
		       u64 now)
{
	struct tenant_think *think = &t->think;
	u64 ns, wait = 2 * think->think.ns;

	if (q->rules.exclusive || !q->rules.antic || !think->sync ||
	    !think->think.known || think->misses >= FAIR_MISSES)
		return;
	ns = flash_cost_ns(&q->dev.cost, rq->dir, rq->sectors);
	if (think->think.ns > ns * q->rules.depth * t->weight / (q->weights + t->weight))
		return;
	/* Twice the mean: half of all gaps are longer than the mean. */
	if (wait > q->rules.antic_max)
		wait = q->rules.antic_max;
	think->until = now + wait;
	hlist_add_head(&think->pause, &q->paused);
}

/* The last request of @t has left the device. */
static void fair_leave(struct fair_queue *q, struct tenant *t)
{
	fair_due(q, t);
	t->busy = false;
	q->busy--;
	q->weights -= t->weight;
	hlist_del_init(&t->place);
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
void fair_release(struct fair_queue *q, struct fair_rq *rq, bool ended, u64 now)
{
	bool data = rq->dir != FLASH_NR_DIRS;
	struct tenant *t = rq->tenant;

	flash_tags_put(rq->tags, tenant_index(&q->table, t));
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
	fair_describe(rq, rq->dir, rq->sync, sector, sectors);
	fair_set_chips(q, rq);
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

	flash_tags_put(merged->tags, tenant_index(&q->table, t));
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
}

/**
 * fair_set_layout - change the layout
 * @q: the queues, at any time
 * @geo: the layout
 * @offset: sectors of the drive before the device
 */
void fair_set_layout(struct fair_queue *q, const struct flash_geometry *geo, u64 offset)
{
	u32 generation = q->dev.geo.generation;
	struct tenant *t;
	struct fair_rq *rq;

	q->dev.geo = *geo;
	q->dev.geo.generation = generation + 1;
	q->dev.offset = offset;
	flash_occupancy_set(&q->dev.occ, &q->dev.geo, 1);
	hlist_for_each_entry(t, &q->backlog, place) {
		list_for_each_entry(rq, &t->queue, link)
			fair_set_chips(q, rq);
	}
}

/**
 * fair_init - initialize the queues of a device
 * @q: the queues, all zero
 * @rules: the rules
 */
void fair_init(struct fair_queue *q, const struct fair_rules *rules)
{
	static const struct flash_geometry none;

	INIT_LIST_HEAD(&q->urgent.tenants);
	tenant_table_init(&q->table, FLASH_WEIGHT_DEFAULT);
	flash_pace_init(&q->dev.pace, FAIR_LIMIT, FAIR_LIMIT_MAX);
	flash_climb_from(&q->dev.pace.climb, FAIR_LIMIT_FIRST);
	q->dev.pace.climb.gain = FAIR_GAIN;
	q->dev.pace.climb.sure = true;
	fair_set_layout(q, &none, 0);
	fair_set_rules(q, rules);
	fair_restart(q);
}
