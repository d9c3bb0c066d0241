/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cgroup.h - control groups: whose a bio is, and attributes that name them
 *
 * What blk-cgroup keeps to itself is not needed: a bio says which group pays for
 * it, and a group has a number.
 */
#ifndef FLASH_CGROUP_H
#define FLASH_CGROUP_H

#include <linux/blk-cgroup.h>
#include <linux/cgroup.h>

#include "iosched.h"
#include "groups.h"

/**
 * struct flash_group_attr - an attribute with a number for each of some groups
 * @name: its name
 * @min: the least of these numbers
 * @max: the largest
 * @entries: as many groups as there may be
 * @set: sets one, or takes it back (FLASH_GROUP_NONE); process context, no lock
 *	held, reclaim starts no I/O. 0 or an error
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
 * flash_bio_css - the control group that pays for a bio
 * @bio: the bio, or NULL
 *
 * The bio holds it. Return: NULL if nobody knows.
 */
static inline struct cgroup_subsys_state *flash_bio_css(const struct bio *bio)
{
	if (IS_ENABLED(CONFIG_BLK_CGROUP) && bio)
		return bio_blkcg_css((struct bio *)bio);
	return NULL;
}

/** flash_task_css - the control group of the task that runs; under RCU */
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
 * What is set for groups is set by numbers of version 2. Each hierarchy counts for
 * itself, so a group of version 1 may have the same number.
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
