/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tenant.h - the tenants of a device, and their weights
 *
 * A tenant is identified by a number (of a control group, a process or an I/O priority),
 * never by a pointer. So no reference is held, and a control group or a process may
 * disappear at any time. The table of a device has a fixed size and is allocated with the
 * device's state, because tenants are created with the lock held. Its first entry is the
 * shared tenant: requests without a tenant of their own belong to it, as do requests of
 * tenants that the table has no room for.
 *
 * The caller's lock guards all of it.
 */
#ifndef FLASH_TENANT_H
#define FLASH_TENANT_H

#include <linux/cache.h>
#include <linux/list.h>
#include <linux/rbtree.h>

#include "budget.h"
#include "think_time.h"
#include "../elevator/groups.h"

/* Tenants of a device, not counting the shared one, and chains of the lookup */
#define FLASH_TENANTS		256
#define FLASH_TENANT_CHAINS	256
#define FLASH_NO_TENANT		0xffffU
#define FLASH_NO_PRIO		0xffffffffU

/* Number of weights of control groups that can be set for a disk */
#define FLASH_WEIGHTS		1024

/**
 * enum tenant_kind - what a tenant is
 * @FLASH_BY_ALL: the shared tenant
 * @FLASH_BY_CGROUP: a control group of version 2
 * @FLASH_BY_CGROUP1: a control group of version 1, with separate numbers
 * @FLASH_BY_TASK: a process, or a kernel thread
 * @FLASH_BY_PRIO: an I/O priority
 */
enum tenant_kind {
	FLASH_BY_ALL,
	FLASH_BY_CGROUP,
	FLASH_BY_CGROUP1,
	FLASH_BY_TASK,
	FLASH_BY_PRIO,
};

/**
 * struct tenant_key - the identity of a tenant
 * @kind: what it is
 * @id: its number among tenants of this kind
 */
struct tenant_key {
	enum tenant_kind kind;
	u64 id;
};

/**
 * struct tenant_place - where fairqueue.c finds a tenant
 * @node: link in @tree
 * @tree: a tree of fair_queue.backlog or fair_queue.dry, or NULL
 * @finish: virtual finish of its next turn, in fair_backlog.eligible
 * @dry: link in fair_dry.fresh
 */
struct tenant_place {
	struct rb_node node;
	struct rb_root_cached *tree;
	u64 finish;
	struct hlist_node dry;
};

/**
 * struct tenant_turn - the turns of a tenant
 * @used: service in the current turn, in the unit of budgets
 * @budget: limit of @used; 0: not set yet
 * @begun: start of the current turn, ns
 * @ended: number of turns that ended, by reason
 */
struct tenant_turn {
	u64 used;
	u64 budget;
	u64 begun;
	u64 ended[FLASH_NR_REASONS];
};

/**
 * struct tenant_think - when a tenant sends requests, and whether to wait for the next one
 * @until: end of the wait for its next request, ns
 * @issued: time of the latest dispatch, ns; 0: none, or @gap has counted the gap already
 * @ended: time of the latest completion, ns
 * @think: mean time from a completion to the next request, learned while turns are
 *	not exclusive
 * @misses: number of vain waits in a row
 * @sync: a task waits for the latest request
 * @held: others were held back for the tenant since its latest request
 * @no_tag: time of the latest search for a tag that was limited by a quota, ns; 0: none
 * @gap: mean time between two dispatches, learned while turns are exclusive
 * @pause: link in fair_paused.list while the next request is expected
 */
struct tenant_think {
	u64 until;
	u64 issued;
	u64 ended;
	struct flash_gap think;
	u32 misses;
	bool sync;
	bool held;
	u64 no_tag;
	struct flash_gap gap;
	struct hlist_node pause;
};

/**
 * struct tenant_second - the share and the priority of a tenant in a second
 * @seen: fair_second.charged when @due was last updated
 * @received: charges in this second
 * @due: its part, by weight, of the charges of all tenants while it was busy
 * @prio: I/O priority of its latest request, in the caller's encoding, or FLASH_NO_PRIO
 * @prio_weight: largest weight that the priority of a request had; 0: none, or weights do
 *	not depend on priorities
 * @last_received: @received of the second before
 * @last_due: @due of the second before
 */
struct tenant_second {
	u64 seen;
	u64 received;
	u64 due;
	u32 prio;
	u32 prio_weight;
	u64 last_received;
	u64 last_due;
};

/**
 * struct tenant_stats - counters since the tenant was created
 * @requests: dispatched requests
 * @sectors: sectors of these
 * @cost: charges
 * @waits: number of times that others were held back for the tenant
 */
struct tenant_stats {
	u64 requests;
	u64 sectors;
	u64 cost;
	u64 waits;
};

/**
 * struct tenant - one tenant of a device
 * @key: its identity
 * @chain: the next tenant in its chain of the lookup, or NULL
 * @weight: weight, 1 to 1000; 0: the entry is free
 * @index: its index in tenant_table.t
 * @vtime: virtual start time of its next request
 * @nr: number of requests that wait
 * @out: number of requests in the device
 * @passed: number of requests that passed the first one of @queue
 * @busy: requests wait or are in the device
 * @part: remainder of the last division by @weight
 * @usual: moving average of the charge of a request, in 1 << FAIR_USUAL_SHIFT
 * @claim: its claim to tags by @weight and about @usual, see fair_claim(); 0: not known yet
 * @think: its think time
 * @queue: requests that wait, in order of arrival
 * @urgent: its urgent requests that wait, in order of arrival
 * @urge: link in fair_urgent.tenants while @urgent is not empty
 * @lru: link in tenant_table.lru, or in tenant_table.free; of a busy tenant, or in none
 * @place: where it is in the queues
 * @second: its share and its priority
 * @stats: its counters
 * @turn: its turns
 *
 * It has more than 20 fields; they stand by cache line, see docs/cache-lines.md. A request that
 * waits for no other mostly uses only what precedes tenant_think.no_tag, and @place, @second
 * and @stats.
 */
struct tenant {
	struct tenant_key key;
	struct tenant *chain;
	u32 weight;
	u32 index;
	u64 vtime;
	u32 nr;
	u32 out;
	u32 passed;
	bool busy;
	u64 part;
	u64 usual;
	u64 claim;
	struct tenant_think think;
	struct list_head queue;
	struct list_head urgent;
	struct list_head urge;
	struct list_head lru;

	struct tenant_place place ____cacheline_aligned_in_smp;
	struct tenant_second second;
	struct tenant_stats stats;
	struct tenant_turn turn;
} ____cacheline_aligned_in_smp;

/**
 * struct tenant_table - the tenants of a device
 * @chain: the first tenant of each chain, or NULL
 * @lru: idle tenants, in order of the start of their idle times; also tenants that have
 *	become busy since the latest walk of the list
 * @free: free entries
 * @nr: number of tenants, not counting the shared one
 * @max: limit of @nr
 * @refused: number of requests that became the shared tenant's for lack of room
 * @forgotten: number of tenants that were removed
 * @t: the entries; the first one is the shared tenant
 */
struct tenant_table {
	struct tenant *chain[FLASH_TENANT_CHAINS];
	struct list_head lru;
	struct list_head free;
	u32 nr;
	u32 max;
	u64 refused;
	u64 forgotten;
	struct tenant t[FLASH_TENANTS + 1];
};

/** tenant_chain - the chain of the lookup for @key */
static inline struct tenant **tenant_chain(struct tenant_table *p,
					   const struct tenant_key *key)
{
	return &p->chain[(key->id * 8 + (u64)key->kind) * 0x9e3779b97f4a7c15ULL >> 56];
}

/** tenant_find - the tenant with identity @key, or NULL */
static inline struct tenant *tenant_find(struct tenant_table *p, const struct tenant_key *key)
{
	struct tenant *t;

	if (key->kind == FLASH_BY_ALL)
		return &p->t[0];
	for (t = *tenant_chain(p, key); t; t = t->chain) {
		if (t->key.id == key->id && t->key.kind == key->kind)
			break;
	}
	return t;
}

/**
 * tenant_expect - the tenant that a request would belong to if it were inserted now
 * @p: the table
 * @key: identity of the sender
 *
 * With a full table that is the shared tenant, although an insertion may first make room.
 *
 * Return: the tenant, or NULL if it would be a new one.
 */
static inline struct tenant *tenant_expect(struct tenant_table *p, const struct tenant_key *key)
{
	struct tenant *t = tenant_find(p, key);

	return t || p->nr < p->max ? t : &p->t[0];
}

/** tenant_wants_tag - at @now, a search for a tag for @t was limited by a quota */
static inline void tenant_wants_tag(struct tenant *t, u64 now)
{
	t->think.no_tag = now;
}

void tenant_table_init(struct tenant_table *p, u32 weight);
struct tenant *tenant_create(struct tenant_table *p, const struct tenant_key *key);
void tenant_forget(struct tenant_table *p, struct tenant *t);

/**
 * struct flash_weights - the weights of a disk's control groups that were set
 * @nr: number of entries
 * @w: the entries, by number of the group
 */
struct flash_weights {
	u32 nr;
	struct flash_group w[FLASH_WEIGHTS];
};

u32 flash_weights_get(const struct flash_weights *w, u64 id);
int flash_weights_set(struct flash_weights *w, u64 id, u32 weight);

/* Levels of a class of I/O priorities, in the encoding of flash_prio() */
#define FLASH_PRIO_LEVELS	8

enum flash_prio_class {
	FLASH_PRIO_RT,
	FLASH_PRIO_BE,
	FLASH_PRIO_IDLE,
};

/** flash_prio - a class and a level of I/O priority as one number */
static inline u32 flash_prio(enum flash_prio_class class, u32 level)
{
	return (u32)class * FLASH_PRIO_LEVELS + level % FLASH_PRIO_LEVELS;
}

u32 flash_prio_weight(u32 prio);

#endif /* FLASH_TENANT_H */
