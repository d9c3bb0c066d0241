// SPDX-License-Identifier: GPL-2.0
/*
 * cgroup.c - attributes that name control groups
 *
 * The user writes one entry at a time, "PATH NUMBER" or "ID NUMBER". The path is looked up
 * then; the table keeps the number of the group and no reference.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "cgroup.h"

/**
 * flash_groups_near - the value of a group, or of its nearest ancestor with an entry
 * @g: the table
 * @nr: its entries
 * @css: the group, to which the caller holds a reference; NULL: the group is unknown
 *
 * A group keeps its ancestors alive. Return: FLASH_GROUP_NONE if there is no entry.
 */
u32 flash_groups_near(const struct flash_group *g, u32 nr,
		      const struct cgroup_subsys_state *css)
{
	u32 value = FLASH_GROUP_NONE;
#ifdef CONFIG_BLK_CGROUP
	struct cgroup *cgroup = flash_css_cgroup(css);
	int level;

	if (!cgroup)
		return value;
	for (level = cgroup->level; level >= 0; level--) {
		value = flash_groups_get(g, nr,
					 cgroup_id(cgroup_ancestor(cgroup,
								   level)));
		if (value != FLASH_GROUP_NONE)
			break;
	}
#endif
	return value;
}

/**
 * flash_groups_print - print as many entries as fit into a page
 * @g: the table
 * @nr: its entries
 * @from: index of the first entry to print
 * @page: where to print "ID NUMBER" lines; the last one is "more N" if there are
 *	more, from place N on
 *
 * Return: the length.
 */
ssize_t flash_groups_print(const struct flash_group *g, u32 nr, u32 from,
			   char *page)
{
	int len = 0;
	u32 n;

	for (n = min(from, nr); n < nr; n++) {
		/* Room for the longest line and for the last one */
		if (len + 48 > PAGE_SIZE) {
			len += sysfs_emit_at(page, len, "more %u\n", n);
			break;
		}
		len += sysfs_emit_at(page, len, "%llu %u\n", g[n].id, g[n].value);
	}
	return len;
}

/*
 * Set @id to the number of the control group at @path, a text of @len characters, and @io
 * to whether the group has the io controller. Without it the kernel charges the group's
 * requests to an ancestor.
 */
static int flash_group_id(const char *path, size_t len, u64 *id, bool *io)
{
#ifdef CONFIG_BLK_CGROUP
	struct cgroup *cgroup;
	char *name;

	name = kmemdup_nul(path, len, GFP_KERNEL);
	if (!name)
		return -ENOMEM;
	cgroup = cgroup_get_from_path(name);
	kfree(name);
	if (IS_ERR(cgroup))
		return -EINVAL;
	*id = cgroup_id(cgroup);
	*io = rcu_access_pointer(cgroup->subsys[io_cgrp_id]);
	cgroup_put(cgroup);
	return 0;
#else
	return -EINVAL;
#endif
}

static int flash_group_set(struct flash_queue *fq, const char *text,
			   const struct flash_group_attr *attr, bool *io)
{
	size_t len;
	u32 value = 0;
	u64 id = 0;
	int ret;

	ret = flash_groups_parse(text, attr->min, attr->max, &len, &id, &value);
	if (!ret && !id)
		ret = flash_group_id(text, len, &id, io);
	/* An entry is removed whatever the group can do. */
	if (value == FLASH_GROUP_NONE)
		*io = true;
	return ret ? ret : attr->set(fq, id, value);
}

/**
 * flash_groups_store - set one entry
 * @eq: the elevator
 * @page: "PATH NUMBER" or "ID NUMBER", NUMBER may be "default"
 * @count: its length
 * @attr: the attribute
 *
 * Return: @count; -EINVAL for another text and for a path without a control group,
 * -ERANGE for a number out of range, -ENOSPC if the table is full. An error changes
 * nothing.
 */
ssize_t flash_groups_store(struct elevator_queue *eq, const char *page,
			   size_t count, const struct flash_group_attr *attr)
{
	struct flash_queue *fq = eq->elevator_data;
	const char *name = flash_disk_name(fq);
	size_t len = strlen(page);
	unsigned int noio;
	bool io = true;
	char *text;
	int ret;

	if (!flash_has_no_nul(page, count, name, attr->name))
		return -EINVAL;
	if (len && page[len - 1] == '\n')
		len--;
	/* A task that removes the elevator has frozen the disk, and waits for this one. */
	noio = memalloc_noio_save();
	text = kmemdup_nul(page, len, GFP_KERNEL);
	ret = text ? flash_group_set(fq, text, attr, &io) : -ENOMEM;
	memalloc_noio_restore(noio);
	if (ret == -ENOSPC)
		pr_notice_ratelimited("%s: %s: %s: '%.64s' is refused, there are %u already\n",
				      flash_policy.name, name, attr->name, text,
				      attr->entries);
	else if (ret && ret != -ENOMEM)
		pr_notice_ratelimited("%s: %s: %s: '%.64s' is refused, want a control group and %u to %u or default\n",
				      flash_policy.name, name, attr->name, text,
				      attr->min, attr->max);
	else if (!ret && !io)
		pr_notice_ratelimited("%s: %s: %s: '%.64s': that group has no io controller, so nothing is its own yet\n",
				      flash_policy.name, name, attr->name, text);
	kfree(text);
	return ret ? ret : count;
}
