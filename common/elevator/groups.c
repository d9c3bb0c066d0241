// SPDX-License-Identifier: GPL-2.0
/*
 * groups.c - a table of numbers, one for each of some control groups
 *
 * The table is sorted by the number of the group. The kernel gives the number to no other
 * group later, so an entry holds no reference, and has no effect once its group has been
 * removed. The caller guards the table.
 */
#include <linux/errno.h>
#include <linux/string.h>

#include "groups.h"

/* Index of the first entry with a number of at least @id; @nr if there is none */
static u32 flash_groups_at(const struct flash_group *g, u32 nr, u64 id)
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
 * flash_groups_get - the value of a group
 * @g: the table
 * @nr: number of its entries
 * @id: number of the control group
 *
 * Return: the value, or FLASH_GROUP_NONE.
 */
u32 flash_groups_get(const struct flash_group *g, u32 nr, u64 id)
{
	u32 at = flash_groups_at(g, nr, id);

	return at < nr && g[at].id == id ? g[at].value : FLASH_GROUP_NONE;
}

/**
 * flash_groups_set - set or remove an entry
 * @g: the table
 * @nr: number of its entries
 * @max: largest number of entries
 * @id: number of the control group
 * @value: the value, or FLASH_GROUP_NONE to remove the entry
 *
 * Return: 0, or -ENOSPC if the table is full.
 */
int flash_groups_set(struct flash_group *g, u32 *nr, u32 max, u64 id, u32 value)
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
 * flash_groups_parse - parse an entry
 * @text: "GROUP VALUE": GROUP is a path that begins with / or a number, VALUE a number or
 *	"default"; a path may contain blanks, as the last blank separates the two
 * @min: smallest VALUE
 * @max: largest VALUE, below a tenth of the largest u32
 * @len: set to the length of GROUP
 * @id: set to the number of the group; 0: GROUP is a path
 * @value: set to VALUE, or to FLASH_GROUP_NONE for "default"
 *
 * Return: 0; -EINVAL if @text is no such entry, -ERANGE for a number out of range. After
 * an error nothing is set.
 */
int flash_groups_parse(const char *text, u32 min, u32 max, size_t *len, u64 *id,
		       u32 *value)
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
	*len = (size_t)(last - text);
	*id = number;
	*value = v;
	return 0;
}
