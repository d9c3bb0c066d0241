// SPDX-License-Identifier: GPL-2.0
#include <linux/string.h>

#include "depth_search.h"

/* The neighbour above: half as much again. */
u32 flash_climb_above(const struct flash_climb *c, u32 bound)
{
	u32 above = bound + (bound + 1) / 2;

	return above < c->max ? above : c->max;
}

/* The neighbour below, on the same ladder from the start. */
u32 flash_climb_below(const struct flash_climb *c, u32 bound)
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
void flash_climb_try(struct flash_climb *c)
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
 * flash_climb_init - begin to search
 * @c: the search
 * @start: the least bound, at least 1
 * @max: the largest, not below @start
 */
void flash_climb_init(struct flash_climb *c, u32 start, u32 max)
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
void flash_climb_from(struct flash_climb *c, u32 bound)
{
	c->bound = bound;
	c->gain = FLASH_CLIMB_LITTLE;
	c->down = true;
	flash_climb_try(c);
}

/*
 * Does the higher bound move more, as far as this look can tell? t^2 is
 * sum^2 (n - 1) / (n squares - sum^2). The limits are a t of 8.0, 5.5 and 4.5
 * for 7, 15 and 31 degrees of freedom: normal noise passes one trial in 8000,
 * and seldom shows 3 % as well. A bound that is open already has to show but
 * 2.0 in the end, or one of a small gain would open and close for ever.
 */
static bool flash_climb_gains(const struct flash_climb *c)
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
static bool flash_climb_hopeless(const struct flash_climb *c, u64 t2)
{
	u64 n = c->pairs, scatter;
	s64 off = c->sum - (s64)(n * c->gain);

	if (off >= 0)
		return false;
	scatter = n * c->squares - (u64)(c->sum * c->sum) + n * n;
	return (u64)(off * off) * (n - 1) >= t2 * scatter;
}

/* A trial is over. */
static void flash_climb_end(struct flash_climb *c, bool gains)
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
static void flash_climb_rested(struct flash_climb *c, u64 moved)
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
u32 flash_climb_window(struct flash_climb *c, u64 moved, bool full, bool dry)
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
