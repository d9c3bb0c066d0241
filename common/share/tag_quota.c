// SPDX-License-Identifier: GPL-2.0
/*
 * tag_quota.c - the scheduler tags that a tenant's next request may use
 *
 * Called when tags are short only. The rules are at the head of tag_quota.h.
 */
#include "tag_quota.h"

/* One tag in this many belongs to no quota, so that new tenants find one. */
#define FLASH_TAGS_SPARE	16

/* With fewer tags shares do not follow weights well, whatever the limits are. */
#define FLASH_TAGS_FEW		8

/* Tags that each tenant needs on average for its share to follow its weight */
#define FLASH_TAGS_EACH		2

/*
 * Number of spare tags, which belong to no quota. One of four tags would be a quarter of
 * what the quotas are made of, so where tags are too few there are no spare ones.
 */
static u32 flash_tags_spare(u32 all)
{
	if (all < FLASH_TAGS_FEW)
		return 0;
	return all < FLASH_TAGS_SPARE ? 1 : all / FLASH_TAGS_SPARE;
}

/**
 * flash_tags_quota - a tenant's quota
 * @all: number of tags
 * @claim: the tenant's claim
 * @others: sum of the claims of the other tenants that hold tags
 *
 * From FLASH_TAGS_FEW tags on, the quotas leave the spare tags. Below that quotas are
 * rounded to nearest.
 *
 * Return: the quota, at least 1.
 */
u32 flash_tags_quota(u32 all, u64 claim, u64 others)
{
	u32 spare = flash_tags_spare(all);
	u64 claims = claim + others;
	u64 quota = ((all - spare) * claim + (spare ? 0 : claims / 2)) / claims;

	return quota ? (u32)quota : 1;
}

/*
 * Least number of first places for a tenant beyond its @quota. Tasks that are awake use
 * first places as well, each time a request ends, so the number must not be small. It
 * must not be the whole first quarter either, which tenants below their quotas need. With
 * fewer than two places all sleepers would wait for the same tag.
 */
static u32 flash_tags_least(u32 all, u32 quota)
{
	u32 spare = flash_tags_spare(all), least = 4 * quota;
	u32 most = all / FLASH_TAGS_SHORT;

	if (most < 2)
		most = all / 2 < 2 ? 1 : 2;
	if (least < spare)
		least = spare;
	return least < most ? least : most;
}

/**
 * flash_tags_limit - the tags that a tenant's next request may use
 * @g: the set of tags
 * @tenant: index of the tenant
 * @claim: its claim, as for flash_tags_get(); 0: unknown, the claim of its latest request
 *	is used
 * @known: the sender belongs to the tenant; false: the sender is a worker, and the
 *	request may belong to any tenant
 * @all: number of tags
 * @free: number of free tags
 *
 * The tags that @tenant holds say little about a worker's requests, so a worker leaves the
 * last tags to others.
 *
 * Return: the number of first places, at least 1; 0: any tag.
 */
u32 flash_tags_limit(const struct flash_tags *g, u32 tenant, u64 claim, bool known, u32 all,
		     u32 free)
{
	const struct flash_tags_hold *h = &g->hold[tenant];
	u64 others = g->claims - (h->held ? h->claim : 0);
	u32 spare = flash_tags_spare(all), most = all - spare, quota, least;

	if (!flash_tags_short(all, free))
		return 0;
	if (!claim)
		claim = h->held ? h->claim : 1;
	/* A worker that serves the only tenant takes no other tenant's quota. */
	if (!known && g->tenants < 2)
		others = 0;
	quota = flash_tags_quota(all, claim, others);
	/* The spare tags are for tenants that hold hardly any. */
	if (known && h->held < quota)
		return free > spare || h->held < spare ? 0 : most;
	/*
	 * Confined only well beyond the quota: a tenant of one task sleeps with the limit
	 * of its last attempt, which had better be a wide one.
	 */
	if (!others || (known && h->held < quota + spare))
		return most;
	if (h->held >= quota)
		most = quota;
	else if (most > all - all / FLASH_TAGS_SHORT)
		most = all - all / FLASH_TAGS_SHORT;
	/* A worker's request may belong to a tenant that is below its quota. */
	least = known ? flash_tags_least(all, quota) : all / FLASH_TAGS_SHORT;
	return most > least ? most : least;
}

/**
 * flash_tags_urgent_limit - the tags that an urgent request may use
 * @g: the set of tags
 * @tenant: index of its tenant
 * @all: number of tags
 *
 * Return: 0: any tag; a tenant that holds half of all tags leaves a quarter to others.
 */
u32 flash_tags_urgent_limit(const struct flash_tags *g, u32 tenant, u32 all)
{
	u32 most = all - all / FLASH_TAGS_SHORT;

	return g->hold[tenant].held < all - all / 2 ? 0 : most;
}

/**
 * flash_tags_shallow - a number of first places, in the block layer's unit
 * @all: number of tags
 * @unit: number of tags that one limit applies to: a word of the bitmap, or all
 * @places: number of places, at least 1, of all tags
 *
 * Return: number of places in each @unit, at least 1.
 */
u32 flash_tags_shallow(u32 all, u32 unit, u32 places)
{
	u32 full = all / unit, rest = all % unit;
	u32 depth = places / (full + (rest ? 1 : 0));

	/* The last word may be shorter than that. */
	if (rest && depth > rest)
		depth = (places - rest) / full;
	return depth ? depth : 1;
}

/**
 * flash_tags_too_few - are there too few tags for shares to follow weights?
 * @all: number of tags
 * @tenants: number of tenants that hold tags
 *
 * The scheduler chooses among requests that wait, and each of them holds a tag. The driver
 * has one or two tags' requests already, so with two tags there is no choice: the block
 * layer wakes sleepers in their order, and shares follow the numbers of tasks.
 */
bool flash_tags_too_few(u32 all, u32 tenants)
{
	return all < FLASH_TAGS_FEW || all < FLASH_TAGS_EACH * tenants;
}
