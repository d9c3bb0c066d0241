/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tag_quota.h - scheduler tags, shared by what each needs for its share
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * A request holds a scheduler tag from before we see it until it is done, and a
 * hardware queue has nr_requests of them. Who finds none sleeps where no scheduler
 * knows of it. So when tags run short,
 *
 *   - the last of them are for tenants that have hardly any;
 *   - who holds more than its part is confined to the first places of the bitmap, as
 *     many as are its part or, if that is more, four times as many up to a quarter of
 *     all. What it holds behind them goes to others as it ends.
 *
 * Parts go by claims: a tenant's weight, divided by what a request of it is usually
 * charged. All requests that wait in one place for as long as each other bring their
 * tenants shares that are their numbers times their charges (Little's law), so with
 * these parts shares come out as the weights are, however few tags there are. By
 * weight alone who sends small requests would have too few of them.
 *
 * To places, and not to few: a task that sleeps for a tag keeps the limit that it
 * came with, however long it sleeps and whatever becomes of the others meanwhile, and
 * each end of a request wakes one. Confined to one place of each word, which
 * others who are woken take, too, it would sleep for thousands of requests.
 */
#ifndef FLASH_TAG_QUOTA_H
#define FLASH_TAG_QUOTA_H

#include "tenant.h"

/* Tags are short when less than one in so many is free */
#define FLASH_TAGS_SHORT	4

/* One in so many is nobody's part, and for who comes */
#define FLASH_TAGS_SPARE	16

/* With fewer tags weights do not hold well, whatever limits are set */
#define FLASH_TAGS_FEW		8

/* Tags that each tenant needs on average for its weight to hold */
#define FLASH_TAGS_EACH		2

/* No claim is larger: all of them times all tags fit into 64 bits. */
#define FLASH_TAGS_CLAIM	(1ULL << 40)

/**
 * struct flash_tags_hold - what a tenant holds
 * @claim: its part of flash_tags.claims, if @held
 * @held: tags of its requests that wait or are in the device
 */
struct flash_tags_hold {
	u64 claim;
	u32 held;
};

/**
 * struct flash_tags - one set of tags: a hardware queue's, or the device's
 * @tenants: how many hold some
 * @claims: the sum of their claims, each as it was when it last took one
 * @hold: what each of them holds, by its place in flash_tenants.t
 */
struct flash_tags {
	u32 tenants;
	u64 claims;
	struct flash_tags_hold hold[FLASH_TENANTS + 1];
};

/**
 * flash_tags_take - a request has come
 * @g: the tags
 * @who: its tenant
 * @claim: the tenant's claim, 1 to FLASH_TAGS_CLAIM
 */
static inline void flash_tags_take(struct flash_tags *g, u32 who, u64 claim)
{
	struct flash_tags_hold *h = &g->hold[who];

	if (h->held++)
		g->claims -= h->claim;
	else
		g->tenants++;
	g->claims += claim;
	h->claim = claim;
}

/** flash_tags_give - a request of tenant @who has gone */
static inline void flash_tags_give(struct flash_tags *g, u32 who)
{
	struct flash_tags_hold *h = &g->hold[who];

	if (--h->held)
		return;
	g->tenants--;
	g->claims -= h->claim;
}

/** flash_tags_short - are so few of @all tags @free that it matters who takes them? */
static inline bool flash_tags_short(u32 all, u32 free)
{
	return free <= all / FLASH_TAGS_SHORT;
}

/*
 * Tags of @all that are in no tenant's part. Of four tags one would be a quarter of what
 * the parts are made of, so there are none where tags are too few anyway.
 */
static inline u32 flash_tags_spare(u32 all)
{
	if (all < FLASH_TAGS_FEW)
		return 0;
	return all < FLASH_TAGS_SPARE ? 1 : all / FLASH_TAGS_SPARE;
}

/**
 * flash_tags_part - how many are a tenant's part
 * @all: tags that there are
 * @claim: the tenant's
 * @others: the claims of those who hold some besides
 *
 * Return: at least 1. From FLASH_TAGS_FEW tags on the parts leave some for new tenants.
 * Below that they are rounded to nearest.
 */
static inline u32 flash_tags_part(u32 all, u64 claim, u64 others)
{
	u32 spare = flash_tags_spare(all);
	u64 claims = claim + others;
	u64 part = ((all - spare) * claim + (spare ? 0 : claims / 2)) / claims;

	return part ? (u32)part : 1;
}

/*
 * How many places who holds more than its @part may take at least: others who are awake
 * take first places, too, each time one ends. Some of the first quarter are for those
 * who are due more. All sleepers would wait for the same one if it were fewer than two.
 */
static inline u32 flash_tags_least(u32 all, u32 part)
{
	u32 spare = flash_tags_spare(all), least = 4 * part;
	u32 most = all / FLASH_TAGS_SHORT;

	if (most < 2)
		most = all / 2 < 2 ? 1 : 2;
	if (least < spare)
		least = spare;
	return least < most ? least : most;
}

/**
 * flash_tags_limit - which tags may a tenant's next request take?
 * @g: the tags
 * @who: the tenant
 * @claim: its claim, as for flash_tags_take(); 0: not known, that with which it last
 *	took one
 * @known: it is who sends; else it only stands for a worker that sends for others
 * @all: tags that there are
 * @free: how many of them are free
 *
 * A worker's requests will be somebody else's, so what @who holds says little of
 * them; they leave those that are short to others.
 *
 * Return: the number of first places, at least 1; 0: any.
 */
static inline u32 flash_tags_limit(const struct flash_tags *g, u32 who,
				   u64 claim, bool known, u32 all, u32 free)
{
	const struct flash_tags_hold *h = &g->hold[who];
	u64 others = g->claims - (h->held ? h->claim : 0);
	u32 spare = flash_tags_spare(all), most = all - spare, part, least;

	if (!flash_tags_short(all, free))
		return 0;
	if (!claim)
		claim = h->held ? h->claim : 1;
	/* A worker that serves the only tenant there is takes nobody's part. */
	if (!known && g->tenants < 2)
		others = 0;
	part = flash_tags_part(all, claim, others);
	/* The last ones are for those who have hardly any. */
	if (known && h->held < part)
		return free > spare || h->held < spare ? 0 : most;
	/*
	 * Not at once: who has one task sleeps with the limit at which it was the
	 * last to be refused, and better with a wide one.
	 */
	if (!others || (known && h->held < part + spare))
		return most;
	if (h->held >= part)
		most = part;
	else if (most > all - all / FLASH_TAGS_SHORT)
		most = all - all / FLASH_TAGS_SHORT;
	/* What a worker sends may be due to anybody. */
	least = known ? flash_tags_least(all, part) : all / FLASH_TAGS_SHORT;
	return most > least ? most : least;
}

/**
 * flash_tags_few - are there too few tags for weights to hold?
 * @all: tags that there are
 * @tenants: tenants that hold some
 *
 * The scheduler chooses among requests that wait, and those have a tag each. The driver
 * has one or two tags' requests already, so with two tags there is no choice at all:
 * the block layer wakes sleepers in their order, and shares are numbers of tasks.
 */
static inline bool flash_tags_few(u32 all, u32 tenants)
{
	return all < FLASH_TAGS_FEW || all < FLASH_TAGS_EACH * tenants;
}

/**
 * flash_tags_urgent - the same for a request that other tenants may wait for
 * @g: the tags
 * @who: the tenant
 * @all: tags that there are
 *
 * Return: 0: any; but a tenant that holds half of all tags leaves a quarter to others.
 */
static inline u32 flash_tags_urgent(const struct flash_tags *g, u32 who, u32 all)
{
	u32 most = all - all / FLASH_TAGS_SHORT;

	return g->hold[who].held < all - all / 2 ? 0 : most;
}

/**
 * flash_tags_shallow - some first places, in the block layer's unit
 * @all: tags that there are
 * @unit: how many of them are limited at a time: those of a word of the bitmap, or
 *	all
 * @places: how many may be taken, at least 1, of all
 *
 * Return: how many may be taken of each @unit, at least 1.
 */
static inline u32 flash_tags_shallow(u32 all, u32 unit, u32 places)
{
	u32 full = all / unit, rest = all % unit;
	u32 depth = places / (full + (rest ? 1 : 0));

	/* The last word may be shorter than that. */
	if (rest && depth > rest)
		depth = (places - rest) / full;
	return depth ? depth : 1;
}

#endif /* FLASH_TAG_QUOTA_H */
