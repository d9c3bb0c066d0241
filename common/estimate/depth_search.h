/* SPDX-License-Identifier: GPL-2.0 */
/* depth_search.h - how many requests in flight a device needs */
#ifndef FLASH_DEPTH_SEARCH_H
#define FLASH_DEPTH_SEARCH_H

#include <linux/types.h>

/* Pairs of windows before the first look at a trial, and number of looks */
#define FLASH_CLIMB_PAIRS	8U
#define FLASH_CLIMB_LOOKS	3

/* Windows without evidence after which a trial is abandoned */
#define FLASH_CLIMB_PATIENCE	64

/* Shortest and longest rest, in windows with evidence */
#define FLASH_CLIMB_REST	8
#define FLASH_CLIMB_REST_MAX	512

/* Windows in a row that differ by a third, after which a rest ends: another load */
#define FLASH_CLIMB_STEP	4

/*
 * Unit of a pair's difference, relative to its sum, and the difference that a higher
 * limit has to show: 3 % more throughput is 1.5 % of the sum.
 */
#define FLASH_CLIMB_SCALE	8192
#define FLASH_CLIMB_GAIN	123

/* 2 %, for a search that starts at a high limit, where each step down may cost as much */
#define FLASH_CLIMB_LITTLE	82

/* Largest amount that a window counts; more would overflow the arithmetic. */
#define FLASH_CLIMB_MOST	(1ULL << 48)

/**
 * struct flash_climb_trial - evidence of a trial; changes with each window
 * @low:	lower limit of the trial
 * @looks:	looks at this trial so far
 * @sum:	sum of the differences of its pairs, in 1/FLASH_CLIMB_SCALE
 * @squares:	sum of the squares of these differences
 * @first:	amount moved in the first window of the pair
 * @barren:	windows of this trial without evidence
 */
struct flash_climb_trial {
	u32 low;
	u32 looks;
	s64 sum;
	u64 squares;
	u64 first;
	u32 barren;
};

/**
 * struct flash_climb - the search on one device
 * @start:	least value of @limit
 * @max:	largest value of @limit
 * @limit:	the best limit known, requests or the caller's unit
 * @gain:	difference that the higher limit of a trial has to show, see
 *		FLASH_CLIMB_GAIN
 * @sure:	choose a lower limit only if it was shown to move as much
 * @early:	a trial that costs much throughput may end after four pairs
 * @rest_min:	shortest rest, see FLASH_CLIMB_REST
 * @rest_max:	longest rest
 * @high:	upper limit of the trial, 0: rest
 * @second:	the first window of a pair has ended
 * @pairs:	pairs of windows of the trial so far
 * @trial:	the trial
 * @down:	this trial, or the next one, is the one with the lower neighbour
 * @rest:	remaining windows of the rest
 * @rests:	length of the next rest, windows
 * @usual:	moving average of the amount moved in a window at @limit, 0: unknown
 * @odd:	windows in a row that moved much more or less than @usual
 * @opened:	number of times that @limit rose
 * @closed:	number of times that @limit fell
 * @trials:	number of trials that ended
 */
struct flash_climb {
	u32 start;
	u32 max;
	u32 limit;
	u32 gain;
	bool sure;
	bool early;
	u32 rest_min;
	u32 rest_max;
	u32 high;
	bool second;
	u32 pairs;
	struct flash_climb_trial trial;
	bool down;
	u32 rest;
	u32 rests;
	u64 usual;
	u32 odd;
	u32 opened;
	u32 closed;
	u32 trials;
};

u32 flash_climb_above(const struct flash_climb *c, u32 limit);
u32 flash_climb_below(const struct flash_climb *c, u32 limit);
void flash_climb_try(struct flash_climb *c);
void flash_climb_rest(struct flash_climb *c);
void flash_climb_init(struct flash_climb *c, u32 start, u32 max);
void flash_climb_from(struct flash_climb *c, u32 limit);
u32 flash_climb_window(struct flash_climb *c, u64 moved, bool full, bool dry);

/**
 * flash_climb_limit - the limit in force in the current window
 * @c: the search
 */
static inline u32 flash_climb_limit(const struct flash_climb *c)
{
	bool low;

	if (!c->high)
		return c->limit;
	/* low high, high low, ... */
	low = !(c->pairs & 1) != c->second;
	return low ? c->trial.low : c->high;
}

#endif /* FLASH_DEPTH_SEARCH_H */
