// SPDX-License-Identifier: GPL-2.0
/*
 * depth_search.c - how many requests in flight a device needs
 *
 * Problem: without a layout, the limit of requests in flight has to be found by
 * measurement: the smallest one beyond which throughput does not rise.
 *
 * Algorithm: the caller counts what the device moves in windows of time, which are long
 * compared with a request, and asks for the limit of the next window at the end of each.
 *
 * A trial compares two neighbouring limits by pairs of windows, one window at each, in the
 * order low high, high low, low high, ..., so that a drift of the load favours neither. The
 * evidence of a pair is its difference relative to its sum. After 8, 16 and 32 pairs the
 * mean of the evidence is compared with its scatter (Student's t). The limit opens if the
 * difference is significant and at least 3 %. Otherwise, or as soon as a gain has
 * become unlikely, the device does not need the higher limit, and the next trial compares
 * with the lower neighbour. The lower limit is chosen if it moves about as much. Between
 * trials the search rests, twice as long each time that nothing has changed.
 *
 * A window is no evidence if the device ran out of requests in it, or if it was at the lower
 * limit and no request was held back.
 *
 * Invariants: start <= limit <= max; a limit in use is @limit or its neighbour in
 * the trial. The caller's lock guards the search.
 *
 * Entry points: flash_climb_init(), flash_climb_limit() for the limit in force, and
 * flash_climb_window() at the end of each window.
 */
#include <linux/string.h>

#include "depth_search.h"

/** flash_climb_above - the upper neighbour of a limit: larger by half */
u32 flash_climb_above(const struct flash_climb *c, u32 limit)
{
	u32 above = limit + (limit + 1) / 2;

	return above < c->max ? above : c->max;
}

/** flash_climb_below - the lower neighbour of a limit, of those above @c->start */
u32 flash_climb_below(const struct flash_climb *c, u32 limit)
{
	u32 below = c->start, next;

	for (;;) {
		next = flash_climb_above(c, below);
		if (next >= limit || next == below)
			return below;
		below = next;
	}
}

/** flash_climb_try - start the trial that is due, if there is one */
void flash_climb_try(struct flash_climb *c)
{
	c->trial.looks = 0;
	c->pairs = 0;
	c->trial.sum = 0;
	c->trial.squares = 0;
	c->second = false;
	c->trial.barren = 0;
	c->high = 0;
	if (!c->down && c->limit < c->max) {
		c->trial.low = c->limit;
		c->high = flash_climb_above(c, c->limit);
	} else if (c->limit > c->start) {
		c->down = true;
		c->trial.low = flash_climb_below(c, c->limit);
		c->high = c->limit;
	}
}

/** flash_climb_rest - start a rest; the next trial is with the upper neighbour */
void flash_climb_rest(struct flash_climb *c)
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
 * flash_climb_init - start a search
 * @c: the search
 * @start: the smallest limit, at least 1
 * @max: the largest limit, not below @start
 */
void flash_climb_init(struct flash_climb *c, u32 start, u32 max)
{
	memset(c, 0, sizeof(*c));
	c->start = start;
	c->max = max;
	c->limit = start;
	c->gain = FLASH_CLIMB_GAIN;
	c->rest_min = FLASH_CLIMB_REST;
	c->rest_max = FLASH_CLIMB_REST_MAX;
	c->rests = c->rest_min;
	flash_climb_try(c);
	if (!c->high)
		flash_climb_rest(c);
}

/**
 * flash_climb_from - start the search at a limit that is nearly always enough
 * @c: the search, right after flash_climb_init()
 * @limit: the limit, which upper neighbours lead to from the smallest one
 *
 * The first trial is with the lower neighbour, so that the search costs little
 * throughput.
 */
void flash_climb_from(struct flash_climb *c, u32 limit)
{
	c->limit = limit;
	c->gain = FLASH_CLIMB_LITTLE;
	c->down = true;
	flash_climb_try(c);
}

/*
 * Does this look show that the higher limit moves more? t^2 is
 * sum^2 (n - 1) / (n squares - sum^2). The thresholds are a t of 8.0, 5.5 and 4.5 for
 * 7, 15 and 31 degrees of freedom: normal noise passes one trial in 8000, and rarely
 * shows 3 % as well. A limit that is open already has to show only a t of 2.0 at the last
 * look. Otherwise a limit of a small gain would open and close forever.
 */
static bool flash_climb_gains(const struct flash_climb *c)
{
	static const u32 needed[FLASH_CLIMB_LOOKS] = { 256, 121, 81 };
	u64 n = c->pairs, square, scatter, t2x4 = needed[c->trial.looks];

	if (c->trial.sum < (s64)(n * c->gain))
		return false;
	if (c->down && c->trial.looks == FLASH_CLIMB_LOOKS - 1)
		t2x4 = 16;
	square = (u64)(c->trial.sum * c->trial.sum);
	/* Rounding each difference adds scatter, too. */
	scatter = n * c->trial.squares - square + n * n;
	return 4 * square * (n - 1) >= t2x4 * scatter;
}

/*
 * Is a gain of the higher limit so unlikely that further looks only cost time? The threshold
 * is a t of 2, and of 6 before the first look, when the higher limit is much worse.
 */
static bool flash_climb_hopeless(const struct flash_climb *c, u64 t2)
{
	u64 n = c->pairs, scatter;
	s64 off = c->trial.sum - (s64)(n * c->gain);

	if (off >= 0)
		return false;
	scatter = n * c->trial.squares - (u64)(c->trial.sum * c->trial.sum) + n * n;
	return (u64)(off * off) * (n - 1) >= t2 * scatter;
}

/* End a trial. */
static void flash_climb_end(struct flash_climb *c, bool gains)
{
	c->trials++;
	if (!c->down) {
		if (gains) {
			c->limit = c->high;
			c->opened++;
			c->rests = c->rest_min;
		} else {
			/* Is the limit in use needed? The next trial is down. */
			c->down = true;
		}
	} else {
		if (gains) {
			flash_climb_rest(c);
			return;
		}
		c->limit = c->trial.low;
		c->closed++;
		c->rests = c->rest_min;
	}
	flash_climb_try(c);
	if (!c->high)
		flash_climb_rest(c);
}

/* End a window of a rest. */
static void flash_climb_rest_window(struct flash_climb *c, u64 moved)
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
 * flash_climb_window - end a window
 * @c: the search
 * @moved: amount that the device moved in it, without discards, which take no time
 * @full: the limit held requests back
 * @dry: the device was idle at some time
 *
 * Return: the limit for the next window.
 */
u32 flash_climb_window(struct flash_climb *c, u64 moved, bool full, bool dry)
{
	bool low;
	s64 diff;

	if (moved > FLASH_CLIMB_MOST)
		moved = FLASH_CLIMB_MOST;
	if (!c->high) {
		if (full && !dry && moved)
			flash_climb_rest_window(c, moved);
		return flash_climb_limit(c);
	}
	low = flash_climb_limit(c) == c->trial.low;
	if (dry || !moved || (low && !full)) {
		/* The load was another one before: restart the pair. */
		c->second = false;
		if (++c->trial.barren == FLASH_CLIMB_PATIENCE)
			flash_climb_rest(c);
		return flash_climb_limit(c);
	}
	if (!c->second) {
		c->trial.first = moved;
		c->second = true;
		return flash_climb_limit(c);
	}
	c->second = false;
	diff = (s64)moved - (s64)c->trial.first;
	if (low)
		diff = -diff;
	diff = diff * FLASH_CLIMB_SCALE / (s64)(moved + c->trial.first);
	c->trial.sum += diff;
	c->trial.squares += (u64)(diff * diff);
	if (++c->pairs == FLASH_CLIMB_PAIRS << c->trial.looks) {
		if (flash_climb_gains(c))
			flash_climb_end(c, true);
		else if (flash_climb_hopeless(c, 4))
			flash_climb_end(c, false);
		else if (++c->trial.looks == FLASH_CLIMB_LOOKS)
			flash_climb_end(c, c->sure && c->down);
	} else if (c->early && c->pairs == FLASH_CLIMB_PAIRS / 2 &&
		   flash_climb_hopeless(c, 36)) {
		flash_climb_end(c, false);
	}
	return flash_climb_limit(c);
}
