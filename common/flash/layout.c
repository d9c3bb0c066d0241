// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/string.h>

#include "layout.h"

/*
 * A decimal number from 1 to @max at @text, which then moves behind it.
 * Return: 0, -EINVAL if there is none, -ERANGE if it is another one.
 */
static int flash_layout_number(const char **text, u64 max, u64 *number)
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

/* Are the terms digits of one number? See the top; sets the number of chips. */
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

/* What stands behind "terms="; @text then moves behind it. */
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
static bool flash_layout_word(const char **text, const char *word)
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

/** flash_layout_check - 0 if @text is a layout, else as flash_geometry_parse() */
int flash_layout_check(const char *text)
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
bool flash_geometry_same(const struct flash_geometry *a, const struct flash_geometry *b)
{
	return a->nr_chips == b->nr_chips && a->page_shift == b->page_shift &&
	       a->simple == b->simple && a->nr_terms == b->nr_terms &&
	       !memcmp(a->term, b->term, a->nr_terms * sizeof(a->term[0]));
}
