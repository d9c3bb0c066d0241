// SPDX-License-Identifier: GPL-2.0
/*
 * cgroups.c - control groups with a real-time level
 *
 * A task can only ask for real-time priority itself, and needs the capability for it. The
 * administrator of a container wants to set the priority from outside, for all of the
 * container's tasks. So the attribute rt_cgroups gives control groups a real-time level.
 * A group without a level has that of the nearest group above it. A request is served at
 * its own level or at its group's, whichever is more urgent.
 *
 * The list is written under flash_queue.lock and read without it where a task allocates a
 * scheduler tag. So readers use a copy that does not change, under RCU; without groups
 * there is no copy, and a request costs one branch.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "k2.h"

/**
 * struct k2_table - a copy of k2_disk.groups, which does not change
 * @rcu: frees it
 * @groups: the copy
 */
struct k2_table {
	struct rcu_head rcu;
	struct k2_groups groups;
};

/* Replace the copy. @table becomes the new one, or is freed if there is no group. */
static void k2_groups_publish(struct k2_queue *k2, struct k2_table *table)
{
	const struct k2_groups *groups = &k2_disk(k2)->groups;
	struct k2_table *old;

	table->groups = *groups;
	old = rcu_replace_pointer(k2->table, groups->nr ? table : NULL,
				  lockdep_is_held(&k2->fq.lock));
	if (!groups->nr) {
		kfree(table);
		/* Tasks with real-time priority of their own set it again. */
		WRITE_ONCE(k2->fq.urgent_seen, false);
	}
	kfree_rcu(old, rcu);
}

/* Set a group's level, or remove it with FLASH_GROUP_NONE. */
static int k2_group_set(struct flash_queue *fq, u64 id, u32 level)
{
	struct k2_queue *k2 = to_k2(fq);
	struct k2_groups *groups = &k2_disk(k2)->groups;
	struct k2_table *table;
	int ret;

	table = kmalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	flash_lock(fq);
	/* Requests that were inserted before keep their class. */
	ret = flash_groups_set(groups->g, &groups->nr, K2_GROUPS, id, level);
	if (ret)
		kfree(table);
	else
		k2_groups_publish(k2, table);
	flash_unlock(fq);
	return ret;
}

/**
 * k2_groups_init - publish the groups that the disk has from an earlier selection
 * @k2: the device
 *
 * Return: 0 or -ENOMEM.
 */
int k2_groups_init(struct k2_queue *k2)
{
	struct k2_table *table;

	table = kmalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	flash_lock(&k2->fq);
	k2_groups_publish(k2, table);
	flash_unlock(&k2->fq);
	return 0;
}

/** k2_groups_exit - undo k2_groups_init(); the queue is frozen, so no reader is left */
void k2_groups_exit(struct k2_queue *k2)
{
	kfree(rcu_dereference_protected(k2->table, true));
}

/* The level of a group, or FLASH_GROUP_NONE; under RCU, or with the lock held */
static u32 k2_group_lookup(const struct k2_queue *k2, const struct cgroup_subsys_state *css)
{
	const struct k2_table *table;

	table = rcu_dereference_check(k2->table, lockdep_is_held(&k2->fq.lock));
	/* The last entry may have been removed since k2_has_groups(). */
	return table ? flash_groups_near(table->groups.g, table->groups.nr, css) :
		       FLASH_GROUP_NONE;
}

/* The more urgent one of two levels; K2_RT_LEVELS and FLASH_GROUP_NONE are none. */
static unsigned int k2_urgent(unsigned int own, u32 group)
{
	return min(own, group);
}

/**
 * k2_group_level - the level at which a request is served
 * @k2: the device, locked
 * @own: the request's own level; K2_RT_LEVELS: none
 * @css: the group that is charged for it, or NULL
 */
unsigned int k2_group_level(const struct k2_queue *k2, unsigned int own,
			    const struct cgroup_subsys_state *css)
{
	return k2_urgent(own, k2_group_lookup(k2, css));
}

/**
 * k2_task_has_group - does the current task's group have a level?
 * @k2: the device; no lock held
 *
 * Which group will be charged for its next bio is not known yet.
 */
bool k2_task_has_group(const struct k2_queue *k2)
{
	bool found;

	rcu_read_lock();
	found = k2_group_lookup(k2, flash_task_css()) != FLASH_GROUP_NONE;
	rcu_read_unlock();
	return found;
}

static const struct flash_group_attr k2_rt_cgroups = {
	.name		= "rt_cgroups",
	.min		= 0,
	.max		= K2_RT_LEVELS - 1,
	.entries	= K2_GROUPS,
	.set		= k2_group_set,
};

/** k2_groups_store - the attribute rt_cgroups is written */
ssize_t k2_groups_store(struct elevator_queue *eq, const char *page, size_t count)
{
	return flash_groups_store(eq, page, count, &k2_rt_cgroups);
}

/** k2_groups_show - the attribute rt_cgroups is read */
ssize_t k2_groups_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = eq->elevator_data;
	const struct k2_groups *groups = &k2_disk(to_k2(fq))->groups;
	ssize_t len;

	flash_lock(fq);
	len = flash_groups_print(groups->g, groups->nr, 0, page);
	flash_unlock(fq);
	return len;
}
