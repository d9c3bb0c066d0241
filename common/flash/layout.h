/* SPDX-License-Identifier: GPL-2.0 */
/* layout.h - which flash chip holds a page */
#ifndef FLASH_LAYOUT_H
#define FLASH_LAYOUT_H

#include <linux/types.h>

/* Limits of a layout: chips, terms, log2 of a page in bytes, flash_term.div */
#define FLASH_MAX_CHIPS		256
#define FLASH_MAX_TERMS		4
#define FLASH_PAGE_SHIFT_MAX	24
#define FLASH_MAX_DIV		(1U << 28)

/* log2 of a sector in bytes */
#define FLASH_SECTOR_SHIFT	9

/* Size of the longest layout as text, with its terminating NUL */
#define FLASH_LAYOUT_LEN	160

/* Value of flash_term.div_shift if div is not a power of two */
#define FLASH_NO_SHIFT		0xff

/**
 * struct flash_term - one digit of the page number
 * @div:	pages that share a value of the digit
 * @mod:	number of its values
 * @mul:	difference of the chip numbers of two consecutive values
 * @div_shift:	log2 of @div, or FLASH_NO_SHIFT
 * @mod_mask:	@mod - 1 if @mod is a power of two, or 0
 */
struct flash_term {
	u32 div;
	u32 mod;
	u32 mul;
	u32 div_shift;
	u32 mod_mask;
};

/**
 * struct flash_geometry - the layout of a device
 * @generation:	number of the layout, stored with results computed from it
 * @nr_chips:	1 to FLASH_MAX_CHIPS; 0: the layout is unknown
 * @page_shift:	log2 of the bytes of a page
 * @simple:	the chip is the page modulo @nr_chips
 * @nr_terms:	size of @term
 * @term:	ordered by div
 */
struct flash_geometry {
	u32 generation;
	u32 nr_chips;
	u32 page_shift;
	bool simple;
	u32 nr_terms;
	struct flash_term term[FLASH_MAX_TERMS];
};

/**
 * flash_term_digit - the value of a digit, and the pages until it changes
 * @t: the term
 * @lpn: a page
 * @left: set to the number of pages until the digit changes, from 1 to @t->div
 *
 * Return: the value.
 */
static inline u32 flash_term_digit(const struct flash_term *t, u64 lpn,
				   u32 *left)
{
	u64 quot;

	if (t->div_shift != FLASH_NO_SHIFT)
		quot = lpn >> t->div_shift;
	else
		quot = lpn / t->div;
	*left = t->div - (u32)(lpn - quot * t->div);
	if (t->mod_mask)
		return (u32)quot & t->mod_mask;
	return (u32)(quot % t->mod);
}

/**
 * flash_chip_of - the chip of a page
 * @geo: a layout with chips
 * @lpn: the page
 *
 * Return: the number of its chip.
 */
static inline u32 flash_chip_of(const struct flash_geometry *geo, u64 lpn)
{
	u32 chip = 0, left, i;

	for (i = 0; i < geo->nr_terms; i++)
		chip += geo->term[i].mul *
			flash_term_digit(&geo->term[i], lpn, &left);
	return chip;
}

/**
 * flash_geometry_span - the pages that a request touches
 * @geo: a layout with chips
 * @sector: its first sector
 * @sectors: its length
 * @offset: sectors of the drive before sector 0 of the device
 * @first: set to the first page
 * @pages: set to the number of pages; 0 if @sectors is 0
 */
static inline void flash_geometry_span(const struct flash_geometry *geo,
				       u64 sector, u64 sectors, u64 offset,
				       u64 *first, u64 *pages)
{
	u32 shift = geo->page_shift - FLASH_SECTOR_SHIFT;
	u64 end = sector + offset + sectors;

	*first = (sector + offset) >> shift;
	*pages = sectors ? ((end - 1) >> shift) - *first + 1 : 0;
}

int flash_geometry_parse(const char *text, struct flash_geometry *geo);
int flash_layout_check(const char *text);
bool flash_geometry_same(const struct flash_geometry *a, const struct flash_geometry *b);

#endif /* FLASH_LAYOUT_H */
