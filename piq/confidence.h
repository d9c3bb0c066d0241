/* SPDX-License-Identifier: GPL-2.0 */
/*
 * confidence.h - does a layout pay?
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * If a layout is right, requests for which it predicts a conflict (a chip of
 * theirs is busy when they are issued) take longer than those for which it
 * predicts none. It is trusted if the two means differ by at least six of their
 * standard errors, so that it is no luck, and by at least a tenth, so that it
 * is worth the trouble. Like is to be compared with like: the caller notes
 * requests of one direction and about one size.
 */
#ifndef FLASH_CONFIDENCE_H
#define FLASH_CONFIDENCE_H

#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>

#define FLASH_TRUST_Z		6
#define FLASH_TRUST_PCT		10

/* Requests of either kind below which nothing is said. */
#define FLASH_TRUST_MIN		64

/* Requests of either kind below which none is forgotten as time goes by. */
#define FLASH_TRUST_KEPT	(4 * FLASH_TRUST_MIN)

/*
 * Times are in units of 1024 ns, at most 2^23 (8.6 s), and a kind counts less
 * than 2^16: the squares add up to less than 2^62.
 */
#define FLASH_TRUST_UNIT_SHIFT	10
#define FLASH_TRUST_LONGEST	(1ULL << 23)
#define FLASH_TRUST_MANY	(1U << 16)

/**
 * struct flash_times - times of one kind of request
 * @nr:		how many
 * @sum:	of the times
 * @squares:	sum of the squares of the times
 */
struct flash_times {
	u32 nr;
	u64 sum;
	u64 squares;
};

/**
 * struct flash_confidence - what speaks for a layout
 * @kind: times without and with a predicted conflict
 */
struct flash_confidence {
	struct flash_times kind[2];
};

/** flash_confidence_reset - nothing is known, as after a change of layout */
static inline void flash_confidence_reset(struct flash_confidence *c)
{
	memset(c, 0, sizeof(*c));
}

/* Half of the evidence is forgotten. */
static inline void flash_times_halve(struct flash_times *t)
{
	t->nr /= 2;
	t->sum /= 2;
	t->squares /= 2;
}

/**
 * flash_confidence_note - a request has ended
 * @c: the evidence
 * @conflict: it was predicted to conflict
 * @ns: what it took
 *
 * When a kind has counted enough, half of its past is forgotten, so that
 * evidence of today outweighs that of long ago. A kind that no longer occurs
 * keeps what is known of it: a scheduler that avoids conflicts sees few.
 */
static inline void flash_confidence_note(struct flash_confidence *c,
					 bool conflict, u64 ns)
{
	struct flash_times *t = &c->kind[conflict];
	u64 time = ns >> FLASH_TRUST_UNIT_SHIFT;

	if (time > FLASH_TRUST_LONGEST)
		time = FLASH_TRUST_LONGEST;
	t->nr++;
	t->sum += time;
	t->squares += time * time;
	if (t->nr == FLASH_TRUST_MANY)
		flash_times_halve(t);
}

/**
 * flash_confidence_age - time has gone by
 * @c: the evidence
 *
 * Half of what is known is forgotten, but not of a kind of which little is: where
 * conflicts are rare, it takes many such times until they are enough.
 */
static inline void flash_confidence_age(struct flash_confidence *c)
{
	u32 kind;

	for (kind = 0; kind < 2; kind++) {
		if (c->kind[kind].nr >= FLASH_TRUST_KEPT)
			flash_times_halve(&c->kind[kind]);
	}
}

/**
 * flash_confidence_fade - what is known counts a quarter from here on
 * @c: the evidence
 */
static inline void flash_confidence_fade(struct flash_confidence *c)
{
	u32 kind;

	for (kind = 0; kind < 2; kind++) {
		flash_times_halve(&c->kind[kind]);
		flash_times_halve(&c->kind[kind]);
	}
}

/* The mean in 1/256 units, below 2^32. */
static inline u64 flash_times_mean(const struct flash_times *t)
{
	return (t->sum << 8) / t->nr;
}

/* The square of the mean's standard error, in 1/4096 square units. */
static inline u64 flash_times_error(const struct flash_times *t)
{
	u64 mean = flash_times_mean(t);
	u64 square = t->squares / t->nr, of_mean = (mean * mean) >> 16;
	/* One more, for times are rounded down to whole units. */
	u64 variance = (square > of_mean ? square - of_mean : 0) + 1;

	return (variance << 12) / t->nr + 1;
}

/**
 * flash_confidence_pct - how sure it is that the layout pays
 * @c: the evidence
 *
 * Return: 100 if both conditions of trust hold; else how near the worse one is,
 * 0 to 99. 0 if too little is known or conflicts are no slower.
 */
static inline u32 flash_confidence_pct(const struct flash_confidence *c)
{
	const struct flash_times *none = &c->kind[0], *some = &c->kind[1];
	u64 fast, slow, diff, z100, pct, effect;

	if (none->nr < FLASH_TRUST_MIN || some->nr < FLASH_TRUST_MIN)
		return 0;
	fast = flash_times_mean(none);
	slow = flash_times_mean(some);
	if (slow <= fast)
		return 0;
	diff = slow - fast;
	/* diff / 2^8 over the root of the errors / 2^12, in per cent */
	z100 = diff * 100 / int_sqrt64((flash_times_error(none) +
					flash_times_error(some)) << 4);
	pct = z100 / FLASH_TRUST_Z;
	/* A mean of nothing: the least unit is a large effect. */
	effect = diff * 10000 / (fast + !fast) / FLASH_TRUST_PCT;
	if (pct > effect)
		pct = effect;
	return pct < 100 ? (u32)pct : 100;
}

#endif /* FLASH_CONFIDENCE_H */
