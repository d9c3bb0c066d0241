// SPDX-License-Identifier: GPL-2.0
/*
 * chipvec.c - sets of chips: the location vectors of the PIQ paper
 *
 * Problem: find the chips that a request needs, and compare those of two requests.
 *
 * Algorithm: formula 1 of the paper, a bit for each chip. Bit 0 of word 0 is chip 0; the
 * paper prints chip 0 as the most significant bit. With up to 64 chips only the first
 * word is used.
 *
 * Departure: the paper sets the chips "from first to last". That is the empty set if the
 * pages wrap past the last chip, and a single chip if a request has one page more than
 * there are chips. Here the number of pages decides.
 *
 * Invariants: bits from flash_chipvec.nr_chips on are 0. The number of steps is bounded by
 * the number of chips, however long a request is.
 *
 * Entry points: flash_chipvec_fill(), flash_for_each_chip(), and the set operations.
 */
#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/string.h>

#include "chipvec.h"

/** flash_chipvec_range - add the chips from @from to @to - 1 */
void flash_chipvec_range(struct flash_chipvec *v, u32 from, u32 to)
{
	u32 end;

	for (; from < to; from = end) {
		end = (from / 64 + 1) * 64;
		if (end > to)
			end = to;
		v->word[from / 64] |= ~0ULL >> (64 - (end - from)) <<
				      (from % 64);
	}
}

/* Add the chips of @pages pages from page @lpn on, digit by digit. */
static void flash_chipvec_walk(struct flash_chipvec *v,
			       const struct flash_geometry *geo, u64 lpn, u64 pages)
{
	u32 digit[FLASH_MAX_TERMS], left[FLASH_MAX_TERMS];
	u32 whole[FLASH_MAX_TERMS] = { 0 };
	u32 i, k, step;

	for (i = 0; i < geo->nr_terms; i++)
		digit[i] = flash_term_digit(&geo->term[i], lpn, &left[i]);
	for (;;) {
		u32 chip = 0;

		for (i = 0; i < geo->nr_terms; i++)
			chip += digit[i] * geo->term[i].mul;
		flash_chipvec_set(v, chip);
		/*
		 * After digit k had each of its values with all values of the
		 * digits below, no new chip is found before digit k + 1 changes.
		 */
		for (k = 0; k < geo->nr_terms; k++) {
			if (++whole[k] < geo->term[k].mod)
				break;
			whole[k] = 0;
		}
		if (k == geo->nr_terms)
			return;
		step = left[k];
		if (pages <= step)
			return;
		pages -= step;
		/* The digits below restart whenever a digit changes. */
		for (i = 0; i < k; i++) {
			digit[i] = 0;
			left[i] = geo->term[i].div;
		}
		for (; i < geo->nr_terms; i++) {
			left[i] -= step;
			if (left[i])
				continue;
			left[i] = geo->term[i].div;
			if (++digit[i] == geo->term[i].mod)
				digit[i] = 0;
			if (i)
				whole[i - 1] = 0;
		}
	}
}

/* Add the chips of several pages; not inlined, as most requests have one page. */
static noinline void flash_chipvec_add_pages(struct flash_chipvec *v,
					     const struct flash_geometry *geo,
					     u64 lpn, u64 pages)
{
	u32 chip, end;

	if (!geo->simple) {
		flash_chipvec_walk(v, geo, lpn, pages);
		return;
	}
	if (pages >= geo->nr_chips) {
		flash_chipvec_range(v, 0, geo->nr_chips);
		return;
	}
	chip = flash_chip_of(geo, lpn);
	end = chip + (u32)pages;
	if (end > geo->nr_chips) {
		flash_chipvec_range(v, 0, end - geo->nr_chips);
		end = geo->nr_chips;
	}
	flash_chipvec_range(v, chip, end);
}

/**
 * flash_chipvec_fill - find the chips of a request
 * @v: set to them; empty if the layout is unknown
 * @geo: the layout
 * @sector: the request's first sector; FLASH_NO_SECTOR: the set is empty
 * @sectors: its length
 * @offset: sectors of the drive before sector 0 of the device
 */
void flash_chipvec_fill(struct flash_chipvec *v, const struct flash_geometry *geo,
			u64 sector, u64 sectors, u64 offset)
{
	u64 lpn, pages;

	flash_chipvec_clear(v, geo);
	if (!geo->nr_chips || !sectors || sector == FLASH_NO_SECTOR)
		return;
	flash_geometry_span(geo, sector, sectors, offset, &lpn, &pages);
	if (pages == 1)
		flash_chipvec_set(v, flash_chip_of(geo, lpn));
	else
		flash_chipvec_add_pages(v, geo, lpn, pages);
}

/** flash_chipvec_weight - the number of chips */
u32 flash_chipvec_weight(const struct flash_chipvec *v)
{
	u32 i, words = flash_chipvec_words(v), weight = 0;

	for (i = 0; i < words; i++)
		weight += (u32)hweight64(v->word[i]);
	return weight;
}

/**
 * flash_chipvec_from - the first chip at or after one
 * @v: the vector
 * @chip: the first candidate, at most FLASH_NO_CHIP
 *
 * Return: the chip, or FLASH_NO_CHIP.
 */
u32 flash_chipvec_from(const struct flash_chipvec *v, u32 chip)
{
	u32 i = chip / 64, words = flash_chipvec_words(v);
	u64 w;

	if (i >= words)
		return FLASH_NO_CHIP;
	w = v->word[i] & (~0ULL << (chip % 64));
	while (!w) {
		if (++i >= words)
			return FLASH_NO_CHIP;
		w = v->word[i];
	}
	return i * 64 + (u32)__builtin_ctzll(w);
}
