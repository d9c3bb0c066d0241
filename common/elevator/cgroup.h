/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cgroup.h - the control group of a bio or task, and attributes that name groups
 *
 * This needs no private interface of blk-cgroup: a bio points to the group that is charged
 * for it, and a group has a number.
 */
#ifndef FLASH_CGROUP_H
#define FLASH_CGROUP_H

#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>

#include "iosched.h"
#include "groups.h"

/**
 * struct flash_group_attr - an attribute that is a table of groups and numbers
 * @name: name of the attribute
 * @min: smallest number
 * @max: largest number
 * @entries: largest number of groups
 * @set: sets an entry, or removes it (FLASH_GROUP_NONE). Process context, no lock held,
 *	reclaim starts no I/O. Returns 0 or a negative errno.
 */
struct flash_group_attr {
	const char *name;
	u32 min;
	u32 max;
	u32 entries;
	int (*set)(struct flash_queue *fq, u64 id, u32 value);
};

ssize_t flash_groups_print(const struct flash_group *g, u32 nr, u32 from,
			   char *page);
u32 flash_groups_near(const struct flash_group *g, u32 nr,
		      const struct cgroup_subsys_state *css);
ssize_t flash_groups_store(struct elevator_queue *eq, const char *page,
			   size_t count, const struct flash_group_attr *attr);

/**
 * flash_bio_css - the control group that is charged for a bio
 * @bio: the bio, or NULL
 *
 * The bio holds a reference. Return: NULL if the group is unknown.
 */
static inline struct cgroup_subsys_state *flash_bio_css(const struct bio *bio)
{
	if (IS_ENABLED(CONFIG_BLK_CGROUP) && bio)
		return bio_blkcg_css((struct bio *)bio);
	return NULL;
}

/** flash_task_css - the control group of the current task; under RCU */
static inline struct cgroup_subsys_state *flash_task_css(void)
{
#ifdef CONFIG_BLK_CGROUP
	return task_css(current, io_cgrp_id);
#else
	return NULL;
#endif
}

/**
 * flash_css_cgroup - a control group of version 2, or NULL
 * @css: a group of either version, or NULL
 *
 * Users name groups of version 2. Each hierarchy numbers its groups, so a group of version
 * 1 may have the same number.
 */
static inline struct cgroup *
flash_css_cgroup(const struct cgroup_subsys_state *css)
{
#ifdef CONFIG_BLK_CGROUP
	if (css && css->cgroup->root == &cgrp_dfl_root)
		return css->cgroup;
#endif
	return NULL;
}

#endif /* FLASH_CGROUP_H */
