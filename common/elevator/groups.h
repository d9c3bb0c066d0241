/* SPDX-License-Identifier: GPL-2.0 */
/*
 * groups.h - a number that was set for each of some control groups
 *
 * Pure logic, shared with the user-space unit tests. The caller guards the table.
 *
 * A group is known by its number, which no other one gets later: an entry keeps no
 * group alive, and means nobody when its group has gone.
 */
#ifndef FLASH_GROUPS_H
#define FLASH_GROUPS_H

#include <linux/errno.h>
#include <linux/string.h>
#include <linux/types.h>

/* In the place of what is set: nothing is */
#define FLASH_GROUP_NONE	0xffffffffU

/**
 * struct flash_group - an entry of a table, which is sorted by @id
 * @id: number of the control group
 * @value: what was set
 */
struct flash_group {
	u64 id;
	u32 value;
};

/* The place of the first of @nr entries whose number is not below @id. */
static inline u32 flash_groups_at(const struct flash_group *g, u32 nr, u64 id)
{
	u32 low = 0, high = nr;

	while (low < high) {
		u32 mid = (low + high) / 2;

		if (g[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/**
 * flash_groups_get - what was set for a group
 * @g: the table
 * @nr: its entries
 * @id: number of the control group
 *
 * Return: that, or FLASH_GROUP_NONE.
 */
static inline u32 flash_groups_get(const struct flash_group *g, u32 nr, u64 id)
{
	u32 at = flash_groups_at(g, nr, id);

	return at < nr && g[at].id == id ? g[at].value : FLASH_GROUP_NONE;
}

/**
 * flash_groups_set - set an entry, or take it back
 * @g: the table
 * @nr: its entries
 * @max: as many as there may be
 * @id: number of the control group
 * @value: what is set for it, or FLASH_GROUP_NONE
 *
 * Return: 0, or -ENOSPC if there are too many.
 */
static inline int flash_groups_set(struct flash_group *g, u32 *nr, u32 max,
				   u64 id, u32 value)
{
	u32 at = flash_groups_at(g, *nr, id);
	bool there = at < *nr && g[at].id == id;

	if (value == FLASH_GROUP_NONE) {
		if (there) {
			--*nr;
			memmove(&g[at], &g[at + 1], (*nr - at) * sizeof(g[0]));
		}
		return 0;
	}
	if (!there) {
		if (*nr == max)
			return -ENOSPC;
		memmove(&g[at + 1], &g[at], (*nr - at) * sizeof(g[0]));
		++*nr;
		g[at].id = id;
	}
	g[at].value = value;
	return 0;
}

/**
 * flash_groups_parse - an entry from its words
 * @text: "WHO VALUE", WHO a path from / on or a number, VALUE a number or
 *	"default"; WHO may have blanks in it, as the last one counts
 * @min: the least VALUE
 * @max: the largest, below a tenth of what fits into a u32
 * @who: set to the length of WHO
 * @id: set to its number; 0: it is a path
 * @value: set to VALUE, to FLASH_GROUP_NONE for the default
 *
 * Return: 0, -EINVAL for what is no such entry, -ERANGE for a number beyond its
 * limits. Nothing is set after an error.
 */
static inline int flash_groups_parse(const char *text, u32 min, u32 max,
				     size_t *who, u64 *id, u32 *value)
{
	u64 number = 0;
	u32 v = 0;
	const char *s, *last = NULL;
	size_t i;

	for (s = text; *s; s++) {
		if (*s == ' ')
			last = s;
	}
	if (!last || last == text || !last[1])
		return -EINVAL;
	if (text[0] != '/') {
		for (s = text; s < last; s++) {
			if (*s < '0' || *s > '9')
				return -EINVAL;
			if (number > ~0ULL / 10 - 1)
				return -ERANGE;
			number = number * 10 + (u64)(*s - '0');
		}
		if (!number)
			return -ERANGE;
	}
	if (strcmp(last + 1, "default")) {
		for (i = 1; last[i]; i++) {
			if (last[i] < '0' || last[i] > '9')
				return -EINVAL;
			if (v <= max)
				v = v * 10 + (u32)(last[i] - '0');
		}
		if (v < min || v > max)
			return -ERANGE;
	} else {
		v = FLASH_GROUP_NONE;
	}
	*who = (size_t)(last - text);
	*id = number;
	*value = v;
	return 0;
}

#endif /* FLASH_GROUPS_H */
