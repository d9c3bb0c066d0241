/* SPDX-License-Identifier: GPL-2.0 */
/*
 * depth_search.h - how many requests in flight a device needs
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * Without a layout the bound on what is in flight has to be found: the one at
 * which throughput stops rising. The caller counts what a device moves in
 * windows of time that are long compared with a request, and asks for the bound
 * of the next window at the end of each.
 *
 * Two neighbouring bounds are compared by pairs of windows, one at each, in the
 * order low high, high low, low high, ... so that a load that drifts favours
 * none. A pair counts by its difference relative to its sum. After 8, 16 and 32
 * pairs the mean of that is compared with its scatter (Student's t): the bound
 * opens if the difference is more than luck and at least 3 %. Else, or as soon as
 * that has become unlikely, the device does not need the higher bound, and the
 * next lower one is tried; it is taken if it moves about as much, but never one
 * below the start. Between trials the bound rests, twice as long each time that
 * nothing has changed.
 *
 * A window in which the device ran out of requests says nothing, and neither
 * does one at the lower bound that had not to hold anything back.
 */
#ifndef FLASH_DEPTH_SEARCH_H
#define FLASH_DEPTH_SEARCH_H

#include "../pure.h"

/* Pairs after which a trial looks; the last look decides. */
#define FLASH_CLIMB_LOOKS	3
#define FLASH_CLIMB_PAIRS	8U

/* Windows without evidence after which a trial is given up. */
#define FLASH_CLIMB_PATIENCE	64

/* Shortest and longest rest, in windows with evidence. */
#define FLASH_CLIMB_REST	8
#define FLASH_CLIMB_REST_MAX	512

/* Windows in a row that differ by a third: the load is another one. */
#define FLASH_CLIMB_STEP	4

/* A pair's difference is in 1/8192 of its sum; 3 % more is 1.5 % of that. */
#define FLASH_CLIMB_SCALE	8192
#define FLASH_CLIMB_GAIN	123

/* 2 %: for who begins far up, where each step down may cost as much. */
#define FLASH_CLIMB_LITTLE	82

/* More would wrap the arithmetic; nothing moves that much in a window. */
#define FLASH_CLIMB_MOST	(1ULL << 48)

/**
 * struct flash_climb - the search on one device
 * @start:	the bound never falls below it
 * @max:	nor rises above it
 * @bound:	the best one known
 * @gain:	what the higher bound of a trial has to move more; see
 *		FLASH_CLIMB_GAIN
 * @sure:	a lower bound is taken only if it surely moves as much
 * @early:	a trial that costs much may be over after four pairs
 * @rest_min:	shortest rest, see FLASH_CLIMB_REST
 * @rest_max:	longest rest
 * @low:	lower bound of the trial
 * @high:	upper bound of the trial, 0: the bound rests
 * @looks:	looks at this trial so far
 * @pairs:	pairs of this trial
 * @sum:	of their differences
 * @squares:	of their differences
 * @second:	the first window of a pair is over
 * @first:	what it has moved
 * @barren:	windows of this trial without evidence
 * @down:	the next trial, or this one, is the one with the lower neighbour
 * @rest:	windows to rest still
 * @rests:	length of the next rest
 * @usual:	what a window at @bound usually moves, 0: not known
 * @odd:	windows in a row that moved much more or less
 * @opened:	times that the bound rose
 * @closed:	times that it fell
 * @trials:	comparisons that came to an end
 */
struct flash_climb {
	u32 start;
	u32 max;
	u32 bound;
	u32 gain;
	bool sure;
	bool early;
	u32 rest_min;
	u32 rest_max;
	u32 low;
	u32 high;
	u32 looks;
	u32 pairs;
	s64 sum;
	u64 squares;
	bool second;
	u64 first;
	u32 barren;
	bool down;
	u32 rest;
	u32 rests;
	u64 usual;
	u32 odd;
	u32 opened;
	u32 closed;
	u32 trials;
};

/* The neighbour above: half as much again. */
static inline u32 flash_climb_above(const struct flash_climb *c, u32 bound)
{
	u32 above = bound + (bound + 1) / 2;

	return above < c->max ? above : c->max;
}

/* The neighbour below, on the same ladder from the start. */
static inline u32 flash_climb_below(const struct flash_climb *c, u32 bound)
{
	u32 below = c->start, next;

	for (;;) {
		next = flash_climb_above(c, below);
		if (next >= bound || next == below)
			return below;
		below = next;
	}
}

/* Begins the trial that is due, or a rest if there is none. */
static inline void flash_climb_try(struct flash_climb *c)
{
	c->looks = 0;
	c->pairs = 0;
	c->sum = 0;
	c->squares = 0;
	c->second = false;
	c->barren = 0;
	c->high = 0;
	if (!c->down && c->bound < c->max) {
		c->low = c->bound;
		c->high = flash_climb_above(c, c->bound);
	} else if (c->bound > c->start) {
		c->down = true;
		c->low = flash_climb_below(c, c->bound);
		c->high = c->bound;
	}
}

/* Rests, and next time begins with the neighbour above. */
static inline void flash_climb_rest(struct flash_climb *c)
{
	c->high = 0;
	c->down = false;
	c->usual = 0;
	c->odd = 0;
	c->rest = c->rests;
	if (c->rests < c->rest_max)
		c->rests *= 2;
}

/**
 * flash_climb_init - begin to search
 * @c: the search
 * @start: the least bound, at least 1
 * @max: the largest, not below @start
 */
static inline void flash_climb_init(struct flash_climb *c, u32 start, u32 max)
{
	memset(c, 0, sizeof(*c));
	c->start = start;
	c->max = max;
	c->bound = start;
	c->gain = FLASH_CLIMB_GAIN;
	c->rest_min = FLASH_CLIMB_REST;
	c->rest_max = FLASH_CLIMB_REST_MAX;
	c->rests = c->rest_min;
	flash_climb_try(c);
	if (!c->high)
		flash_climb_rest(c);
}

/**
 * flash_climb_from - begin the search at a bound that nearly always suffices
 * @c: the search, which has just begun
 * @bound: that one, on the ladder from the least one
 *
 * The next lower one is tried first, so that little is lost while it lasts.
 */
static inline void flash_climb_from(struct flash_climb *c, u32 bound)
{
	c->bound = bound;
	c->gain = FLASH_CLIMB_LITTLE;
	c->down = true;
	flash_climb_try(c);
}

/**
 * flash_climb_bound - what holds for the window that runs now
 * @c: the search
 *
 * Return: the bound.
 */
static inline u32 flash_climb_bound(const struct flash_climb *c)
{
	bool low;

	if (!c->high)
		return c->bound;
	/* low high, high low, ... */
	low = !(c->pairs & 1) != c->second;
	return low ? c->low : c->high;
}

/*
 * Does the higher bound move more, as far as this look can tell? t^2 is
 * sum^2 (n - 1) / (n squares - sum^2). The limits are a t of 8.0, 5.5 and 4.5
 * for 7, 15 and 31 degrees of freedom: normal noise passes one trial in 8000,
 * and seldom shows 3 % as well. A bound that is open already has to show but
 * 2.0 in the end, or one of a small gain would open and close for ever.
 */
static inline bool flash_climb_gains(const struct flash_climb *c)
{
	static const u32 limit[FLASH_CLIMB_LOOKS] = { 256, 121, 81 };
	u64 n = c->pairs, square, scatter, t2x4 = limit[c->looks];

	if (c->sum < (s64)(n * c->gain))
		return false;
	if (c->down && c->looks == FLASH_CLIMB_LOOKS - 1)
		t2x4 = 16;
	square = (u64)(c->sum * c->sum);
	/* Each difference is rounded, which is scatter, too. */
	scatter = n * c->squares - square + n * n;
	return 4 * square * (n - 1) >= t2x4 * scatter;
}

/*
 * Is it as good as certain that the higher bound will not be shown to gain? Then
 * the other looks only take time. The limit is a t of 2; of 6 before the first look,
 * if the higher bound is much worse.
 */
static inline bool flash_climb_hopeless(const struct flash_climb *c, u64 t2)
{
	u64 n = c->pairs, scatter;
	s64 off = c->sum - (s64)(n * c->gain);

	if (off >= 0)
		return false;
	scatter = n * c->squares - (u64)(c->sum * c->sum) + n * n;
	return (u64)(off * off) * (n - 1) >= t2 * scatter;
}

/* A trial is over. */
static inline void flash_climb_end(struct flash_climb *c, bool gains)
{
	c->trials++;
	if (!c->down) {
		if (gains) {
			c->bound = c->high;
			c->opened++;
			c->rests = c->rest_min;
		} else {
			/* Not needed; but is the one in use? */
			c->down = true;
		}
	} else {
		if (gains) {
			flash_climb_rest(c);
			return;
		}
		c->bound = c->low;
		c->closed++;
		c->rests = c->rest_min;
	}
	flash_climb_try(c);
	if (!c->high)
		flash_climb_rest(c);
}

/* A window of a rest is over. */
static inline void flash_climb_rested(struct flash_climb *c, u64 moved)
{
	bool odd = c->usual && (moved * 3 < c->usual * 2 ||
				moved * 2 > c->usual * 3);

	c->odd = odd ? c->odd + 1 : 0;
	if (!odd)
		c->usual = c->usual ? (7 * c->usual + moved) / 8 : moved;
	if (c->odd == FLASH_CLIMB_STEP) {
		c->rests = c->rest_min;
		c->rest = 1;
	}
	if (!--c->rest)
		flash_climb_try(c);
	if (!c->rest && !c->high)
		flash_climb_rest(c);
}

/**
 * flash_climb_window - a window is over
 * @c: the search
 * @moved: what the device moved in it; not what was discarded, for that takes
 *	no time
 * @full: the bound had to hold requests back
 * @dry: the device had nothing to do at some time
 *
 * Return: the bound for the next window.
 */
static inline u32 flash_climb_window(struct flash_climb *c, u64 moved,
				     bool full, bool dry)
{
	bool low;
	s64 diff;

	if (moved > FLASH_CLIMB_MOST)
		moved = FLASH_CLIMB_MOST;
	if (!c->high) {
		if (full && !dry && moved)
			flash_climb_rested(c, moved);
		return flash_climb_bound(c);
	}
	low = flash_climb_bound(c) == c->low;
	if (dry || !moved || (low && !full)) {
		/* What came before was another load: the pair begins anew. */
		c->second = false;
		if (++c->barren == FLASH_CLIMB_PATIENCE)
			flash_climb_rest(c);
		return flash_climb_bound(c);
	}
	if (!c->second) {
		c->first = moved;
		c->second = true;
		return flash_climb_bound(c);
	}
	c->second = false;
	diff = (s64)moved - (s64)c->first;
	if (low)
		diff = -diff;
	diff = diff * FLASH_CLIMB_SCALE / (s64)(moved + c->first);
	c->sum += diff;
	c->squares += (u64)(diff * diff);
	if (++c->pairs == FLASH_CLIMB_PAIRS << c->looks) {
		if (flash_climb_gains(c))
			flash_climb_end(c, true);
		else if (flash_climb_hopeless(c, 4))
			flash_climb_end(c, false);
		else if (++c->looks == FLASH_CLIMB_LOOKS)
			flash_climb_end(c, c->sure && c->down);
	} else if (c->early && c->pairs == FLASH_CLIMB_PAIRS / 2 &&
		   flash_climb_hopeless(c, 36)) {
		flash_climb_end(c, false);
	}
	return flash_climb_bound(c);
}

#endif /* FLASH_DEPTH_SEARCH_H */
