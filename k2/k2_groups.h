/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2_groups.h - control groups whose requests are real-time ones
 *
 * Pure logic, shared with the user-space unit tests: no kernel header.
 *
 * A task asks for real-time priority itself, if it knows how and may. Whoever runs
 * a container wants to give it that priority from outside, whatever runs in it. So
 * control groups can have a real-time level. A group without one has that of the
 * nearest group above it that has. A request has the more urgent one of two
 * levels: its own, by its I/O priority, and that of its group.
 */
#ifndef K2_GROUPS_H
#define K2_GROUPS_H

#include "../common/elevator/groups.h"
#include "k2_order.h"

/* Groups of a disk that may have a level; each lookup looks at six of them a group. */
#define K2_GROUPS	32

/**
 * struct k2_groups - groups with a real-time level
 * @nr: how many
 * @g: they, the value is the level
 */
struct k2_groups {
	u32 nr;
	struct flash_group g[K2_GROUPS];
};

/**
 * k2_groups_set - give a group a level, or take it back
 * @groups: those that have one
 * @id: number of the group
 * @level: 0 to 7, or FLASH_GROUP_NONE
 *
 * Return: 0, or -ENOSPC if too many have one.
 */
static inline int k2_groups_set(struct k2_groups *groups, u64 id, u32 level)
{
	return flash_groups_set(groups->g, &groups->nr, K2_GROUPS, id, level);
}

/**
 * k2_urgent - the more urgent one of two levels
 * @own: that of a request itself; K2_RT_LEVELS: it is no real-time request
 * @group: that of its group, or FLASH_GROUP_NONE
 */
static inline unsigned int k2_urgent(unsigned int own, u32 group)
{
	return group < own ? group : own;
}

#endif /* K2_GROUPS_H */
