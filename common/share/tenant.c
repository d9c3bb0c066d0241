// SPDX-License-Identifier: GPL-2.0
/* tenant.c - the table of tenants, and weights of control groups and priorities */
#include <linux/string.h>

#include "tenant.h"

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
	for (i = 0; i <= FLASH_TENANTS; i++) {
		tenant_init_lists(&p->t[i]);
		p->t[i].index = i;
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
	struct tenant **chain;
	u32 index;

	if (p->nr >= p->max || list_empty(&p->free))
		return NULL;
	t = list_first_entry(&p->free, struct tenant, lru);
	list_del(&t->lru);
	index = t->index;
	memset(t, 0, sizeof(*t));
	t->index = index;
	tenant_init_lists(t);
	list_add_tail(&t->lru, &p->lru);
	t->key = *key;
	t->second.prio = FLASH_NO_PRIO;
	t->weight = FLASH_WEIGHT_DEFAULT;
	chain = tenant_chain(p, key);
	t->chain = *chain;
	*chain = t;
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
	struct tenant **at = tenant_chain(p, &t->key);

	while (*at != t)
		at = &(*at)->chain;
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
