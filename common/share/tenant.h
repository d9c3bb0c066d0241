/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tenant.h - who shares a device, and by which weights
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * A tenant is known by a number (of a control group, a task, a priority), never
 * by a pointer: nothing outside is kept alive for it, and nothing outside has to
 * say when it goes. All tenants of a device are one block of memory that is
 * there from the start, so that one can come while the lock is held. The first
 * one is everybody's: it takes whoever finds no room.
 */
#ifndef FLASH_TENANT_H
#define FLASH_TENANT_H

#include "budget.h"
#include "think_time.h"
#include "../elevator/groups.h"
#include "../ring.h"

/* Tenants of a device at a time, and lists that they are looked up in */
#define FLASH_TENANTS		256
#define FLASH_TENANT_LISTS	256
#define FLASH_NO_TENANT		0xffffU
#define FLASH_NO_PRIO		0xffffffffU

/* Weights that are set by hand, for control groups */
#define FLASH_WEIGHTS		1024

/**
 * enum flash_tenant_kind - what a tenant is
 * @FLASH_BY_ALL: everybody's tenant
 * @FLASH_BY_CGROUP: a control group of version 2
 * @FLASH_BY_CGROUP1: a control group of version 1, whose numbers are separate
 * @FLASH_BY_TASK: a process, or a kernel thread
 * @FLASH_BY_PRIO: an I/O priority
 */
enum flash_tenant_kind {
	FLASH_BY_ALL,
	FLASH_BY_CGROUP,
	FLASH_BY_CGROUP1,
	FLASH_BY_TASK,
	FLASH_BY_PRIO,
};

/**
 * struct flash_key - whose request it is
 * @kind: of what kind its tenant is
 * @id: and which one
 */
struct flash_key {
	enum flash_tenant_kind kind;
	u64 id;
};

/**
 * struct flash_tenant - one tenant of a device
 * @key:	who it is
 * @queue:	what waits, by arrival
 * @backlog:	its place among those with something waiting
 * @rest:	its place among those with nothing to do, or that nobody is
 * @pause:	its place among those that are about to send the next request
 * @urgent:	its urgent requests that wait, by arrival
 * @urge:	its place among those that have some
 * @chain:	the next one in its list, for the lookup
 * @weight:	1 to 1000; 0: nobody is this tenant
 * @prio:	I/O priority of its latest request in this second, as the caller codes
 *		it, or FLASH_NO_PRIO
 * @asks:	largest weight that a request of this second had by its priority; 0:
 *		there was none, or priorities do not count
 * @nr:		requests that wait
 * @out:	requests in the device
 * @passed:	requests that passed the first one that waits, for their chips
 * @vtime:	virtual time at which its next request starts
 * @part:	what was too little for one more unit of that
 * @turn:	when its turn began, ns
 * @used:	what it has used of its turn
 * @usual:	moving average of what its requests are charged, in 1/256
 * @budget:	what it may use at a stretch; 0: not set yet
 * @issued:	when its last request was handed over, ns; 0: none was, or @gap knows
 * @ended:	when its last one ended, ns
 * @until:	until when it is waited for, ns
 * @wanted:	when it last had to look for a tag among some of them only, ns; 0: never
 * @gap:	mean time between two dispatches
 * @think:	mean time from an end to the next request
 * @misses:	waits in a row that were in vain
 * @sync:	somebody waits for its last request
 * @waited:	somebody was held back for it since it paused
 * @busy:	something waits or is in the device
 * @seen:	the clock of flash_share when @due was last brought up to date
 * @got:	charged in this second
 * @due:	its part of what was charged to all in this second, while it was busy
 * @last_got:	the same of the last second
 * @last_due:	and of this
 * @sectors:	sectors handed over
 * @cost:	charged
 * @requests:	requests handed over
 * @waits:	times that others were held back for it
 * @why:	how its turns ended
 */
struct flash_tenant {
	struct flash_key key;
	struct flash_link queue;
	struct flash_link backlog;
	struct flash_link rest;
	struct flash_link pause;
	struct flash_link urgent;
	struct flash_link urge;
	u32 chain;
	u32 weight;
	u32 prio;
	u32 asks;
	u32 nr;
	u32 out;
	u32 passed;
	u64 vtime;
	u64 part;
	u64 turn;
	u64 used;
	u64 usual;
	u64 budget;
	u64 issued;
	u64 ended;
	u64 until;
	u64 wanted;
	struct flash_gap gap;
	struct flash_gap think;
	u32 misses;
	bool sync;
	bool waited;
	bool busy;
	u64 seen;
	u64 got;
	u64 due;
	u64 last_got;
	u64 last_due;
	u64 sectors;
	u64 cost;
	u64 requests;
	u64 waits;
	u64 why[FLASH_NR_REASONS];
};

/**
 * struct flash_tenants - the tenants of a device
 * @list:	the first of each list, for the lookup
 * @resting:	those with nothing to do, the longest first
 * @free:	those that nobody is
 * @nr:		tenants, everybody's not among them
 * @max:	as many as there may be
 * @refused:	requests that went to everybody's tenant as there was no room
 * @dropped:	tenants that have been forgotten
 * @t:		all of them; the first one is everybody's
 */
struct flash_tenants {
	u32 list[FLASH_TENANT_LISTS];
	struct flash_link resting;
	struct flash_link free;
	u32 nr;
	u32 max;
	u64 refused;
	u64 dropped;
	struct flash_tenant t[FLASH_TENANTS + 1];
};

/** flash_tenants_init - there is only everybody's; all is zero */
static inline void flash_tenants_init(struct flash_tenants *p, u32 weight)
{
	u32 i;

	flash_ring_init(&p->resting);
	flash_ring_init(&p->free);
	for (i = 0; i < FLASH_TENANT_LISTS; i++)
		p->list[i] = FLASH_NO_TENANT;
	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct flash_tenant *t = &p->t[i];

		flash_ring_init(&t->queue);
		flash_ring_init(&t->backlog);
		flash_ring_init(&t->rest);
		flash_ring_init(&t->pause);
		flash_ring_init(&t->urgent);
		flash_ring_init(&t->urge);
		t->chain = FLASH_NO_TENANT;
		if (i)
			flash_ring_add(&t->rest, &p->free);
	}
	p->t[0].weight = weight;
	p->max = FLASH_TENANTS;
}

/** flash_tenant_index - its place in flash_tenants.t */
static inline u32 flash_tenant_index(const struct flash_tenants *p,
				     const struct flash_tenant *t)
{
	return (u32)(t - p->t);
}

static inline u32 *flash_tenant_list(struct flash_tenants *p,
				     const struct flash_key *key)
{
	u64 hash = (key->id * 8 + (u64)key->kind) * 0x9e3779b97f4a7c15ULL;

	return &p->list[hash >> 56];
}

/** flash_tenant_charge - @t has used so much */
static inline void flash_tenant_charge(struct flash_tenant *t, u64 used)
{
	if (used > FLASH_CHARGE_MAX)
		used = FLASH_CHARGE_MAX;
	used = (used << FLASH_VTIME_SHIFT) + t->part;
	t->vtime += used / t->weight;
	t->part = used % t->weight;
}

/**
 * flash_tenant_find - look a tenant up
 * @p: the tenants
 * @key: whom
 *
 * Return: the tenant, or NULL if there is none of that name.
 */
static inline struct flash_tenant *flash_tenant_find(struct flash_tenants *p,
						     const struct flash_key *key)
{
	u32 i;

	if (key->kind == FLASH_BY_ALL)
		return &p->t[0];
	for (i = *flash_tenant_list(p, key); i != FLASH_NO_TENANT;
	     i = p->t[i].chain) {
		if (p->t[i].key.id == key->id && p->t[i].key.kind == key->kind)
			return &p->t[i];
	}
	return NULL;
}

/**
 * flash_tenant_or_all - whose would a request be that came now?
 * @p: the tenants
 * @key: who sends it
 *
 * Who finds no room is everybody's. That somebody may be forgotten to make some is
 * left for when there is a request.
 *
 * Return: the tenant, or NULL if it would be one that is not there yet.
 */
static inline struct flash_tenant *
flash_tenant_or_all(struct flash_tenants *p, const struct flash_key *key)
{
	struct flash_tenant *t = flash_tenant_find(p, key);

	return t || p->nr < p->max ? t : &p->t[0];
}

/**
 * flash_tenant_new - a tenant comes
 * @p: the tenants
 * @key: who; not there yet
 *
 * Return: the tenant, which rests and of which nothing is known; NULL if there
 * is no room.
 */
static inline struct flash_tenant *flash_tenant_new(struct flash_tenants *p,
						    const struct flash_key *key)
{
	struct flash_tenant *t;
	u32 *list;

	if (p->nr >= p->max || flash_ring_empty(&p->free))
		return NULL;
	t = flash_link_of(p->free.next, struct flash_tenant, rest);
	flash_unlink(&t->rest);
	memset(t, 0, sizeof(*t));
	flash_ring_init(&t->queue);
	flash_ring_init(&t->backlog);
	flash_ring_init(&t->pause);
	flash_ring_init(&t->urgent);
	flash_ring_init(&t->urge);
	flash_ring_init(&t->rest);
	flash_ring_add(&t->rest, &p->resting);
	t->key = *key;
	t->prio = FLASH_NO_PRIO;
	t->weight = FLASH_WEIGHT_DEFAULT;
	list = flash_tenant_list(p, key);
	t->chain = *list;
	*list = flash_tenant_index(p, t);
	p->nr++;
	return t;
}

/** flash_tenant_drop - forget a tenant that rests and is not waited for */
static inline void flash_tenant_drop(struct flash_tenants *p,
				     struct flash_tenant *t)
{
	u32 *at = flash_tenant_list(p, &t->key);

	while (*at != flash_tenant_index(p, t))
		at = &p->t[*at].chain;
	*at = t->chain;
	/* Nobody has none. */
	t->weight = 0;
	flash_unlink(&t->rest);
	flash_ring_add(&t->rest, &p->free);
	p->nr--;
	p->dropped++;
}

/**
 * struct flash_weights - the weights that were set, by number
 * @nr: how many
 * @w: the weights
 */
struct flash_weights {
	u32 nr;
	struct flash_group w[FLASH_WEIGHTS];
};

/** flash_weights_get - the weight of @id */
static inline u32 flash_weights_get(const struct flash_weights *w, u64 id)
{
	u32 weight = flash_groups_get(w->w, w->nr, id);

	return weight == FLASH_GROUP_NONE ? FLASH_WEIGHT_DEFAULT : weight;
}

/**
 * flash_weights_set - set a weight, or take it back
 * @w: the weights
 * @id: number of the control group
 * @weight: its weight; FLASH_GROUP_NONE: the default again
 *
 * Return: 0, or -ENOSPC if there are too many.
 */
static inline int flash_weights_set(struct flash_weights *w, u64 id, u32 weight)
{
	return flash_groups_set(w->w, &w->nr, FLASH_WEIGHTS, id, weight);
}

/* Levels of an I/O priority, as they are in struct flash_key */
#define FLASH_PRIO_LEVELS	8

enum flash_prio_class {
	FLASH_PRIO_RT,
	FLASH_PRIO_BE,
	FLASH_PRIO_IDLE,
};

/** flash_prio - a class and a level as one number */
static inline u32 flash_prio(enum flash_prio_class class, u32 level)
{
	return (u32)class * FLASH_PRIO_LEVELS + level % FLASH_PRIO_LEVELS;
}

/**
 * flash_prio_weight - the weight of an I/O priority
 * @prio: from flash_prio()
 *
 * 8 - level, such that the level that tasks have by default gets the default
 * weight; real-time levels get five times as much, up to the largest weight.
 */
static inline u32 flash_prio_weight(u32 prio)
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

#endif /* FLASH_TENANT_H */
