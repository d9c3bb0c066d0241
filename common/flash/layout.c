// SPDX-License-Identifier: GPL-2.0
/*
 * layout.c - which flash chip holds a page
 *
 * Problem: a drive stripes its pages over chips, and the user describes the map as text.
 *
 * Algorithm: the number of a page is written in mixed radix, and some of its digits are the
 * number of the chip:
 *
 *   chip = sum over the terms of mul * ((page / div) mod mod)
 *
 * The simple case, page mod chips, is the single term 1:chips:1.
 *
 * Invariants: the terms are digits of one number. Ordered by div, each div is a
 * multiple of div * mod of the term before. Ordered by mul, each mul is the product of
 * the mods before. So each chip number from 0 on has exactly one combination of digits,
 * all chips have equally many pages, and most typing errors are refused.
 *
 * Entry points: flash_geometry_parse(), flash_layout_check(); then flash_chip_of() and
 * flash_geometry_span().
 */
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "layout.h"

/*
 * Parse a decimal number from 1 to @max at @text, and advance @text.
 * Return: 0, -EINVAL if it is not a number, -ERANGE if it is not in the range.
 */
static int flash_layout_number(const char **text, u64 max, u64 *number)
{
	const char *s = *text;
	u64 n = 0;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	for (; *s >= '0' && *s <= '9'; s++) {
		/* Larger than any limit: further digits must not overflow. */
		if (n <= 1ULL << 32)
			n = n * 10 + (u64)(*s - '0');
	}
	/* The NUL counts. First, as 4k is not a number, whatever its size. */
	if (!memchr(" \t\n:,", *s, 6))
		return -EINVAL;
	*text = s;
	if (!n || n > max)
		return -ERANGE;
	*number = n;
	return 0;
}

/* Add a term; terms are ordered by div. */
static void flash_geometry_add(struct flash_geometry *geo, u32 div, u32 mod, u32 mul)
{
	u32 i = geo->nr_terms++;

	for (; i && geo->term[i - 1].div > div; i--)
		geo->term[i] = geo->term[i - 1];
	geo->term[i].div = div;
	geo->term[i].mod = mod;
	geo->term[i].mul = mul;
	geo->term[i].div_shift = div & (div - 1) ? FLASH_NO_SHIFT :
			(u32)ilog2(div);
	geo->term[i].mod_mask = mod & (mod - 1) ? 0 : mod - 1;
}

/* Check that the terms are digits of one number; set the number of chips. */
static int flash_geometry_check(struct flash_geometry *geo)
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

/* Parse the terms after "terms=" at @text, and advance @text. */
static int flash_layout_terms(const char **text, struct flash_geometry *geo)
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
		/* A digit of one value distinguishes no chips. */
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

/* Is @word at @text? If so, advance @text. */
static bool flash_layout_word(const char **text, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(*text, word, len))
		return false;
	*text += len;
	return true;
}

/**
 * flash_geometry_parse - parse a layout
 * @text: "none", or "page=BYTES chips=N", or
 *	"page=BYTES terms=DIV:MOD:MUL,DIV:MOD:MUL..."; blanks and newlines between
 *	words are ignored; terms may have any order
 * @geo: set to the layout, with the next generation; unchanged after an error
 *
 * The size of a page is a power of two and at least 512 bytes. There are at most
 * FLASH_MAX_CHIPS chips and FLASH_MAX_TERMS terms.
 *
 * Return: 0, -EINVAL if @text is not a layout, -ERANGE if a number is not in its range.
 */
int flash_geometry_parse(const char *text, struct flash_geometry *geo)
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
			new.page_shift = (u32)ilog2(number);
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

/** flash_layout_check - check a layout; returns the same as flash_geometry_parse() */
int flash_layout_check(const char *text)
{
	struct flash_geometry geo = { .generation = 0 };

	return flash_geometry_parse(text, &geo);
}

/**
 * flash_geometry_same - do two layouts put each page on the same chip?
 * @a: a layout that flash_geometry_parse() has set
 * @b: another one; generations are not compared
 *
 * Return: true if they are equal; false may be wrong, as two texts can describe one map.
 */
bool flash_geometry_same(const struct flash_geometry *a, const struct flash_geometry *b)
{
	return a->nr_chips == b->nr_chips && a->page_shift == b->page_shift &&
	       a->simple == b->simple && a->nr_terms == b->nr_terms &&
	       !memcmp(a->term, b->term, a->nr_terms * sizeof(a->term[0]));
}
