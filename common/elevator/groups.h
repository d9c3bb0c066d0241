/* SPDX-License-Identifier: GPL-2.0 */
/*
 * groups.h - a table of numbers, one for each of some control groups
 */
#ifndef FLASH_GROUPS_H
#define FLASH_GROUPS_H

#include <linux/types.h>

/* The value of a group without an entry */
#define FLASH_GROUP_NONE	0xffffffffU

/**
 * struct flash_group - an entry of a table, which is sorted by @id
 * @id: number of the control group
 * @value: the value that the user has set
 */
struct flash_group {
	u64 id;
	u32 value;
};

u32 flash_groups_get(const struct flash_group *g, u32 nr, u64 id);
int flash_groups_set(struct flash_group *g, u32 *nr, u32 max, u64 id, u32 value);
int flash_groups_parse(const char *text, u32 min, u32 max, size_t *len, u64 *id,
		       u32 *value);

#endif /* FLASH_GROUPS_H */
