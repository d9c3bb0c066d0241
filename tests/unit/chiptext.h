/* SPDX-License-Identifier: GPL-2.0 */
/*
 * chiptext.h - chips and layouts as text and numbers, for the tests
 */
#ifndef CHIPTEXT_H
#define CHIPTEXT_H

#include <stdio.h>

#include "common/flash/chipvec.h"

/**
 * flash_chipvec_number - the vector as a number, as in the paper
 * @v: the vector, of at most 64 chips
 *
 * Return: the number; chip 0 is the most significant of nr_chips bits.
 */
static inline u64 flash_chipvec_number(const struct flash_chipvec *v)
{
	u64 number = 0;
	u32 chip;

	flash_for_each_chip(chip, v)
		number |= 1ULL << (v->nr_chips - 1 - chip);
	return number;
}

/**
 * flash_chipvec_print - print a digit for each chip, chip 0 first
 * @v: the vector
 * @buf: set to the digits and a NUL
 * @size: its size; FLASH_MAX_CHIPS + 1 is always enough, further digits are cut off
 *
 * Return: the number of digits.
 */
static inline int flash_chipvec_print(const struct flash_chipvec *v, char *buf,
				      size_t size)
{
	u32 chip;

	if (!size)
		return 0;
	for (chip = 0; chip < v->nr_chips && chip + 1 < size; chip++)
		buf[chip] = flash_chipvec_test(v, chip) ? '1' : '0';
	buf[chip] = '\0';
	return (int)chip;
}

/**
 * flash_geometry_print - print a layout as text for flash_geometry_parse()
 * @geo: the layout
 * @buf: set to the text, without a newline
 * @size: its size, at least FLASH_LAYOUT_LEN
 *
 * Return: their length.
 */
static inline int flash_geometry_print(const struct flash_geometry *geo,
				       char *buf, size_t size)
{
	u32 i;
	int len;

	if (!geo->nr_chips)
		return snprintf(buf, size, "none");
	len = snprintf(buf, size, "page=%u ", 1U << geo->page_shift);
	if (geo->simple)
		return len + snprintf(buf + len, size - (size_t)len, "chips=%u",
				      geo->nr_chips);
	for (i = 0; i < geo->nr_terms; i++)
		len += snprintf(buf + len, size - (size_t)len, "%s%u:%u:%u",
				i ? "," : "terms=", geo->term[i].div,
				geo->term[i].mod, geo->term[i].mul);
	return len;
}

#endif /* CHIPTEXT_H */
