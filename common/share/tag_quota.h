/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tag_quota.h - scheduler tags, divided by what each tenant needs for its share
 *
 * A request holds a scheduler tag from before its insertion until its completion, and a
 * hardware queue has nr_requests tags. A task that finds no tag sleeps, and the scheduler
 * does not see the request that the task is about to send. So when tags run short,
 *
 *   - the last tags are for tenants that hold hardly any;
 *   - a tenant that holds more than its quota is confined to the first places of the
 *     bitmap: its quota, or, if that is more, four times its quota up to a quarter of all
 *     tags. The tags that it holds beyond these places become free as its requests end.
 *
 * Quotas are proportional to claims. A claim is a tenant's weight, divided by what a
 * request of the tenant is usually charged. If requests of all tenants wait equally long,
 * each tenant's share is its number of requests times their charge (Little's law). So
 * with these quotas shares are as the weights, however few tags there are. By weight
 * alone, a tenant that sends small requests would have too few tags.
 *
 * The limit is a set of places, not a number of tags. A task that sleeps for a tag keeps
 * the limit with which it fell asleep, however long it sleeps, and each completion wakes
 * one sleeper. Confined to one place of each word, which tasks that are awake use as
 * well, a sleeper would wait for thousands of requests.
 *
 * The caller's lock guards all of it.
 */
#ifndef FLASH_TAG_QUOTA_H
#define FLASH_TAG_QUOTA_H

#include "tenant.h"

/* Tags are short when less than one in this many is free. */
#define FLASH_TAGS_SHORT	4

/* Largest claim, so that the sum of claims times the number of tags fits into 64 bits */
#define FLASH_TAGS_CLAIM	(1ULL << 40)

/**
 * struct flash_tags_hold - the tags of a tenant
 * @claim: its part of flash_tags.claims, if @held
 * @held: number of tags of its requests
 */
struct flash_tags_hold {
	u64 claim;
	u32 held;
};

/**
 * struct flash_tags - one set of tags: of a hardware queue, or of the device
 * @tenants: number of tenants that hold tags
 * @claims: sum of these tenants' claims, each as of the tenant's latest request
 * @hold: tags of each tenant, by its index in tenant_table.t
 */
struct flash_tags {
	u32 tenants;
	u64 claims;
	struct flash_tags_hold hold[FLASH_TENANTS + 1];
};

/**
 * flash_tags_get - a request of a tenant holds a tag
 * @g: the set of tags
 * @tenant: index of the tenant
 * @claim: the tenant's claim, 1 to FLASH_TAGS_CLAIM
 */
static inline void flash_tags_get(struct flash_tags *g, u32 tenant, u64 claim)
{
	struct flash_tags_hold *h = &g->hold[tenant];

	if (h->held++)
		g->claims -= h->claim;
	else
		g->tenants++;
	g->claims += claim;
	h->claim = claim;
}

/** flash_tags_put - a request of tenant @tenant holds its tag no more */
static inline void flash_tags_put(struct flash_tags *g, u32 tenant)
{
	struct flash_tags_hold *h = &g->hold[tenant];

	if (--h->held)
		return;
	g->tenants--;
	g->claims -= h->claim;
}

/** flash_tags_short - are @free of @all tags so few that limits apply? */
static inline bool flash_tags_short(u32 all, u32 free)
{
	return free <= all / FLASH_TAGS_SHORT;
}

u32 flash_tags_quota(u32 all, u64 claim, u64 others);
u32 flash_tags_limit(const struct flash_tags *g, u32 tenant, u64 claim, bool known, u32 all,
		     u32 free);
u32 flash_tags_urgent_limit(const struct flash_tags *g, u32 tenant, u32 all);
u32 flash_tags_shallow(u32 all, u32 unit, u32 places);
bool flash_tags_too_few(u32 all, u32 tenants);

#endif /* FLASH_TAG_QUOTA_H */
