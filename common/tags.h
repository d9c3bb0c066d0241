/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tags.h - scheduler tags, shared by weight
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * A request holds a scheduler tag from before we see it until it is done, and a
 * hardware queue has nr_requests of them. Who finds none sleeps where no scheduler
 * knows of it. So when tags run short a tenant that holds its part of them already
 * is confined to the first ones of the bitmap, as many as are its part; what it
 * holds behind them goes to others as it ends.
 *
 * To places, and not to so few that it has to wait for its own: a task that sleeps
 * for a tag keeps the limit that it came with, however long it sleeps and whatever
 * becomes of the others meanwhile. With these it goes on at the next end of one of
 * its own requests.
 */
#ifndef FLASH_TAGS_H
#define FLASH_TAGS_H

#include "tenant.h"

/* Tags are short when less than one in so many is free */
#define FLASH_TAGS_SHORT	4

/* One in so many is for who comes to a tenant that is alone */
#define FLASH_TAGS_SPARE	16

/**
 * struct flash_tags_hold - what a tenant holds
 * @held: tags of its requests that wait or are in the device
 * @weight: its part of flash_tags.weights, if @held
 */
struct flash_tags_hold {
	u32 held;
	u32 weight;
};

/**
 * struct flash_tags - one set of tags: a hardware queue's, or the device's
 * @tenants: how many hold some
 * @weights: the sum of their weights, each as it was when it last took one
 * @hold: what each of them holds, by its place in flash_tenants.t
 */
struct flash_tags {
	u32 tenants;
	u64 weights;
	struct flash_tags_hold hold[FLASH_TENANTS + 1];
};

/** flash_tags_take - a request of tenant @who, of @weight, has come */
static inline void flash_tags_take(struct flash_tags *g, u32 who, u32 weight)
{
	struct flash_tags_hold *h = &g->hold[who];

	if (h->held++)
		g->weights -= h->weight;
	else
		g->tenants++;
	g->weights += weight;
	h->weight = weight;
}

/** flash_tags_give - a request of tenant @who has gone */
static inline void flash_tags_give(struct flash_tags *g, u32 who)
{
	struct flash_tags_hold *h = &g->hold[who];

	if (--h->held)
		return;
	g->tenants--;
	g->weights -= h->weight;
}

/** flash_tags_short - are so few of @all tags @free that it matters who takes them? */
static inline bool flash_tags_short(u32 all, u32 free)
{
	return free <= all / FLASH_TAGS_SHORT;
}

/* Of @all, how many nobody's part has */
static inline u32 flash_tags_spare(u32 all)
{
	u32 spare = all / FLASH_TAGS_SPARE;

	return !spare && all > 1 ? 1 : spare;
}

/**
 * flash_tags_part - how many are a tenant's part
 * @all: tags that there are
 * @weight: the tenant's
 * @others: the weights of those who hold some besides
 *
 * Return: at least 1, and not the last ones, for who comes next.
 */
static inline u32 flash_tags_part(u32 all, u32 weight, u64 others)
{
	u32 part = (u32)((u64)all * weight / (weight + others));
	u32 most = all - flash_tags_spare(all);

	if (part > most)
		part = most;
	return part ? part : 1;
}

/**
 * flash_tags_limit - which tags may a tenant's next request take?
 * @g: the tags
 * @who: the tenant
 * @weight: its weight
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
				   u32 weight, bool known, u32 all, u32 free)
{
	const struct flash_tags_hold *h = &g->hold[who];
	u64 others = g->weights - (h->held ? h->weight : 0);
	u32 part, places;

	if (!flash_tags_short(all, free))
		return 0;
	/* A worker that serves the only tenant there is takes nobody's part. */
	if (!known && g->tenants < 2)
		others = 0;
	part = flash_tags_part(all, weight, others);
	/* So many at least, or whoever is faster would have the few each time. */
	places = flash_tags_spare(all);
	if (places < part)
		places = part;
	if (h->held < part) {
		if (known)
			return 0;
		if (others && places < all - all / FLASH_TAGS_SHORT)
			places = all - all / FLASH_TAGS_SHORT;
	}
	return places;
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

#endif /* FLASH_TAGS_H */
