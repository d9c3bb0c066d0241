// SPDX-License-Identifier: GPL-2.0
/*
 * tenant.c - the table of tenants, their weights, and seconds of shares
 *
 * Rare paths: tenants are added and removed, weights change, a second of shares ends. The
 * first part of the file, up to flash_prio_weight(), does not use the queues.
 */
#include <linux/string.h>

#include "fairqueue.h"

/*
 * Largest distance of two virtual times, at the end of a second. The service of a second
 * adds little to it, and virtual times that are 2^63 apart cannot be compared.
 */
#define FAIR_AGE	(1ULL << 62)

static void tenant_init_lists(struct tenant *t)
{
	INIT_LIST_HEAD(&t->queue);
	INIT_LIST_HEAD(&t->urgent);
	INIT_LIST_HEAD(&t->urge);
}

/**
 * tenant_table_init - initialize the table of a device
 * @p: the table, all zero
 * @weight: weight of the shared tenant
 */
void tenant_table_init(struct tenant_table *p, u32 weight)
{
	u32 i;

	INIT_LIST_HEAD(&p->lru);
	INIT_LIST_HEAD(&p->free);
	for (i = 0; i < FLASH_TENANT_CHAINS; i++)
		p->chain[i] = FLASH_NO_TENANT;
	for (i = 0; i <= FLASH_TENANTS; i++) {
		tenant_init_lists(&p->t[i]);
		p->t[i].chain = FLASH_NO_TENANT;
		list_add_tail(&p->t[i].lru, i ? &p->free : &p->lru);
	}
	p->t[0].weight = weight;
	p->max = FLASH_TENANTS;
}

/**
 * tenant_create - add a tenant to the table
 * @p: the table
 * @key: the tenant's identity, which is not in the table yet
 *
 * Return: the tenant, which is idle; NULL if there is no room.
 */
struct tenant *tenant_create(struct tenant_table *p, const struct tenant_key *key)
{
	struct tenant *t;
	u32 *chain;

	if (p->nr >= p->max || list_empty(&p->free))
		return NULL;
	t = list_first_entry(&p->free, struct tenant, lru);
	list_del(&t->lru);
	memset(t, 0, sizeof(*t));
	tenant_init_lists(t);
	list_add_tail(&t->lru, &p->lru);
	t->key = *key;
	t->second.prio = FLASH_NO_PRIO;
	t->weight = FLASH_WEIGHT_DEFAULT;
	chain = tenant_chain(p, key);
	t->chain = *chain;
	*chain = tenant_index(p, t);
	p->nr++;
	return t;
}

/**
 * tenant_forget - remove a tenant from the table
 * @p: the table
 * @t: the tenant, which is idle and not waited for
 */
void tenant_forget(struct tenant_table *p, struct tenant *t)
{
	u32 *at = tenant_chain(p, &t->key);

	while (*at != tenant_index(p, t))
		at = &p->t[*at].chain;
	*at = t->chain;
	t->weight = 0;
	list_move_tail(&t->lru, &p->free);
	p->nr--;
	p->forgotten++;
}

/** flash_weights_get - the weight of the control group with number @id */
u32 flash_weights_get(const struct flash_weights *w, u64 id)
{
	u32 weight = flash_groups_get(w->w, w->nr, id);

	return weight == FLASH_GROUP_NONE ? FLASH_WEIGHT_DEFAULT : weight;
}

/**
 * flash_weights_set - set or reset the weight of a control group
 * @w: the weights
 * @id: number of the control group
 * @weight: its weight; FLASH_GROUP_NONE: the default again
 *
 * Return: 0, or -ENOSPC if there are too many.
 */
int flash_weights_set(struct flash_weights *w, u64 id, u32 weight)
{
	return flash_groups_set(w->w, &w->nr, FLASH_WEIGHTS, id, weight);
}

/**
 * flash_prio_weight - the weight of an I/O priority
 * @prio: from flash_prio()
 *
 * Proportional to 8 - level, with the default weight at the default level. Real-time
 * levels weigh five times as much, up to the largest weight.
 */
u32 flash_prio_weight(u32 prio)
{
	u32 part = FLASH_WEIGHT_DEFAULT / 4 *
		   (FLASH_PRIO_LEVELS - prio % FLASH_PRIO_LEVELS);

	switch (prio / FLASH_PRIO_LEVELS) {
	case FLASH_PRIO_RT:
		return part * 5;
	case FLASH_PRIO_BE:
		return part;
	default:
		return FLASH_WEIGHT_MIN;
	}
}

/*
 * Virtual time wraps: within three days, on a device that serves one tenant of weight 1 and
 * charges time. A tenant that is behind by half of all virtual time would seem ahead, so
 * no virtual time stays that far behind.
 */
static void fair_age(struct fair_queue *q)
{
	u32 i;

	if (flash_vtime_before(q->vtime + FAIR_AGE, q->latest))
		q->vtime = q->latest - FAIR_AGE;
	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct tenant *t = &q->table.t[i];

		if (flash_vtime_before(t->vtime + FAIR_AGE, q->vtime))
			t->vtime = q->vtime - FAIR_AGE;
	}
}

/**
 * fair_update_turns - fair_update_vtime() for exclusive turns without budgets
 * @q: the queues
 *
 * Such turns do not advance the device's virtual time. It is the least virtual time of
 * the tenants with requests, now and not at the latest choice.
 */
void fair_update_turns(struct fair_queue *q)
{
	struct tenant *other;
	bool any = false;
	u64 least = 0;

	if (q->active) {
		least = q->active->vtime;
		if (!fair_timed(q))
			least += flash_vtime_of(q->active->turn.used, q->active->weight);
		any = true;
	}
	hlist_for_each_entry(other, &q->backlog, place) {
		if (other == q->active)
			continue;
		if (!any || flash_vtime_before(other->vtime, least))
			least = other->vtime;
		any = true;
	}
	if (any)
		q->vtime = flash_vtime_max(q->vtime, least);
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

/**
 * fair_next_second - end a second of shares
 * @q: the queues
 * @now: the time, ns
 */
void fair_next_second(struct fair_queue *q, u64 now)
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
