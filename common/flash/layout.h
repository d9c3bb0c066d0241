/* SPDX-License-Identifier: GPL-2.0 */
/*
 * layout.h - which flash chip holds a page
 *
 * Pure logic, shared with the user-space unit tests.
 *
 * A drive that places pages by their address writes the number of a page in
 * mixed radix and takes some of the digits as the number of the chip:
 *
 *   chip = sum over the terms of mul * ((page / div) mod mod)
 *
 * The plain case, page mod chips, is the one term 1:chips:1. The terms have to
 * be digits of one number: ordered by div, each div is a multiple of the div *
 * mod before it; and ordered by mul, each mul is the product of the mods before
 * it. So every chip number from 0 on has exactly one combination of digits,
 * all chips hold equally many pages, and a typing error is mostly refused.
 */
#ifndef FLASH_LAYOUT_H
#define FLASH_LAYOUT_H

#include "../pure.h"

#define FLASH_MAX_CHIPS		256
#define FLASH_MAX_TERMS		4
#define FLASH_SECTOR_SHIFT	9
#define FLASH_PAGE_SHIFT_MAX	24
#define FLASH_MAX_DIV		(1U << 28)

/* Room for the longest layout in words, and for its end. */
#define FLASH_LAYOUT_LEN	160

/* flash_term.div_shift of a div that is no power of two */
#define FLASH_NO_SHIFT		0xff

/**
 * struct flash_term - one digit of the page number
 * @div:	pages before the digit changes
 * @mod:	values that it has
 * @mul:	chips between two of its values
 * @div_shift:	log2 of @div, or FLASH_NO_SHIFT
 * @mod_mask:	@mod - 1 if that is a mask, or 0
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
 * @generation:	changes with the layout; what was computed by another one is
 *		told apart by it
 * @nr_chips:	1 to FLASH_MAX_CHIPS, or 0: no layout is known
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
 * flash_term_digit - the value of a digit, and how long it lasts
 * @t: the term
 * @lpn: a page
 * @left: set to the pages until the digit changes, from 1 to @t->div
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
 * flash_chip_of - where a page is
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
 * @pages: set to their number; 0 if @sectors is
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

/*
 * A decimal number from 1 to @max at @text, which then moves behind it.
 * Return: 0, -EINVAL if there is none, -ERANGE if it is another one.
 */
static inline int flash_layout_number(const char **text, u64 max, u64 *number)
{
	const char *s = *text;
	u64 n = 0;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	for (; *s >= '0' && *s <= '9'; s++) {
		/* More than any limit; further digits must not wrap it. */
		if (n <= 1ULL << 32)
			n = n * 10 + (u64)(*s - '0');
	}
	/* Before its size: 4k is no number at all. The end is among them. */
	if (!memchr(" \t\n:,", *s, 6))
		return -EINVAL;
	*text = s;
	if (!n || n > max)
		return -ERANGE;
	*number = n;
	return 0;
}

/* Adds a term and keeps them ordered by div. */
static inline void flash_geometry_add(struct flash_geometry *geo, u32 div,
				      u32 mod, u32 mul)
{
	u32 i = geo->nr_terms++;

	for (; i && geo->term[i - 1].div > div; i--)
		geo->term[i] = geo->term[i - 1];
	geo->term[i].div = div;
	geo->term[i].mod = mod;
	geo->term[i].mul = mul;
	geo->term[i].div_shift = div & (div - 1) ? FLASH_NO_SHIFT :
			flash_log2(div);
	geo->term[i].mod_mask = mod & (mod - 1) ? 0 : mod - 1;
}

/* Are the terms digits of one number? See the top; sets the number of chips. */
static inline int flash_geometry_check(struct flash_geometry *geo)
{
	u64 chips = 1;
	u32 i, used = 0;

	for (i = 0; i + 1 < geo->nr_terms; i++) {
		const struct flash_term *t = &geo->term[i];

		if (t[1].div % ((u64)t->div * t->mod))
			return -EINVAL;
	}
	while (used != (1U << geo->nr_terms) - 1) {
		for (i = 0; i < geo->nr_terms; i++) {
			if (!(used & (1U << i)) && geo->term[i].mul == chips)
				break;
		}
		if (i == geo->nr_terms)
			return -EINVAL;
		used |= 1U << i;
		chips *= geo->term[i].mod;
		if (chips > FLASH_MAX_CHIPS)
			return -ERANGE;
	}
	geo->nr_chips = (u32)chips;
	geo->simple = geo->nr_terms == 1 && geo->term[0].div == 1;
	return 0;
}

/* What stands behind "terms="; @text then moves behind it. */
static inline int flash_layout_terms(const char **text,
				     struct flash_geometry *geo)
{
	u64 div, mod, mul;
	int err;

	for (;;) {
		err = flash_layout_number(text, FLASH_MAX_DIV, &div);
		if (!err && *(*text)++ != ':')
			return -EINVAL;
		if (!err)
			err = flash_layout_number(text, FLASH_MAX_CHIPS, &mod);
		if (!err && *(*text)++ != ':')
			return -EINVAL;
		if (!err)
			err = flash_layout_number(text, FLASH_MAX_CHIPS, &mul);
		if (err)
			return err;
		/* A digit of one value says nothing. */
		if (mod < 2)
			return -ERANGE;
		if (geo->nr_terms == FLASH_MAX_TERMS)
			return -ERANGE;
		flash_geometry_add(geo, (u32)div, (u32)mod, (u32)mul);
		if (**text != ',')
			return 0;
		(*text)++;
	}
}

/* Is @word at @text? Then @text moves behind it. */
static inline bool flash_layout_word(const char **text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*text, word, len))
		return false;
	*text += len;
	return true;
}

/**
 * flash_geometry_parse - a layout from its words
 * @text: "none", or "page=BYTES chips=N", or
 *	"page=BYTES terms=DIV:MOD:MUL,DIV:MOD:MUL..."; blanks and the end of
 *	the line around the words do not matter, nor does the order of terms
 * @geo: set to it, with the next generation; unchanged after an error
 *
 * A page has a power of two of bytes from 512 on. There are at most
 * FLASH_MAX_CHIPS chips and FLASH_MAX_TERMS terms.
 *
 * Return: 0, -EINVAL for what is no layout, -ERANGE for a number beyond its
 * limits.
 */
static inline int flash_geometry_parse(const char *text,
				       struct flash_geometry *geo)
{
	struct flash_geometry new = { .generation = geo->generation + 1 };
	bool none = false;
	u64 number;
	int err;

	for (;;) {
		while (*text == ' ' || *text == '\t' || *text == '\n')
			text++;
		if (!*text)
			break;
		if (none)
			return -EINVAL;
		if (!new.page_shift && flash_layout_word(&text, "page=")) {
			err = flash_layout_number(&text,
						  1ULL << FLASH_PAGE_SHIFT_MAX,
						  &number);
			if (err)
				return err;
			if (number & (number - 1))
				return -EINVAL;
			if (number < 1U << FLASH_SECTOR_SHIFT)
				return -ERANGE;
			new.page_shift = flash_log2(number);
		} else if (!new.nr_terms &&
			   flash_layout_word(&text, "chips=")) {
			err = flash_layout_number(&text, FLASH_MAX_CHIPS,
						  &number);
			if (err)
				return err;
			flash_geometry_add(&new, 1, (u32)number, 1);
		} else if (!new.nr_terms &&
			   flash_layout_word(&text, "terms=")) {
			err = flash_layout_terms(&text, &new);
			if (err)
				return err;
		} else if (!new.page_shift && !new.nr_terms &&
			   flash_layout_word(&text, "none")) {
			none = true;
		} else {
			return -EINVAL;
		}
		if (*text && *text != ' ' && *text != '\t' && *text != '\n')
			return -EINVAL;
	}
	if (!none) {
		if (!new.page_shift || !new.nr_terms)
			return -EINVAL;
		err = flash_geometry_check(&new);
		if (err)
			return err;
	}
	*geo = new;
	return 0;
}

/** flash_layout_check - 0 if @text is a layout, else as flash_geometry_parse() */
static inline int flash_layout_check(const char *text)
{
	struct flash_geometry geo = { .generation = 0 };

	return flash_geometry_parse(text, &geo);
}

/**
 * flash_geometry_same - do two layouts put each page on the same chip?
 * @a: one
 * @b: the other one; generations do not matter
 *
 * Both as flash_geometry_parse() has made them. False may be wrong: two texts can
 * mean the same.
 */
static inline bool flash_geometry_same(const struct flash_geometry *a,
				       const struct flash_geometry *b)
{
	return a->nr_chips == b->nr_chips && a->page_shift == b->page_shift &&
	       a->simple == b->simple && a->nr_terms == b->nr_terms &&
	       !memcmp(a->term, b->term, a->nr_terms * sizeof(a->term[0]));
}

#endif /* FLASH_LAYOUT_H */
