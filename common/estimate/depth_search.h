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

#include <linux/types.h>

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

/** flash_climb_bound - the bound of the current window */
static inline u32 flash_climb_bound(const struct flash_climb *c)
{
	bool low = !(c->pairs & 1) != c->second;

	if (!c->high)
		return c->bound;
	/* low high, high low, ... */
	return low ? c->low : c->high;
}

u32 flash_climb_above(const struct flash_climb *c, u32 bound);
u32 flash_climb_below(const struct flash_climb *c, u32 bound);
void flash_climb_try(struct flash_climb *c);
void flash_climb_rest(struct flash_climb *c);
void flash_climb_init(struct flash_climb *c, u32 start, u32 max);
void flash_climb_from(struct flash_climb *c, u32 bound);
u32 flash_climb_window(struct flash_climb *c, u64 moved, bool full, bool dry);

#endif /* FLASH_DEPTH_SEARCH_H */
