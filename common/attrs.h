/* SPDX-License-Identifier: GPL-2.0 */
/*
 * attrs.h - tunables: one table per policy, range checks, kept per disk
 *
 * A policy lists its tunables once, as an X-macro of
 *	X(name, minimum, maximum, default)
 * From that list come the index of each tunable, its sysfs attribute, the
 * module parameter of the same name that sets the default for disks seen later,
 * and the range that both refuse to leave.
 *
 * The kernel destroys and re-creates an elevator when a driver changes its
 * number of hardware queues, and also on a switch to another scheduler and
 * back. A disk's values therefore live apart from the elevator, keyed by the
 * disk's sequence number, until the disk is removed or the module unloaded.
 */
#ifndef FLASH_ATTRS_H
#define FLASH_ATTRS_H

#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/types.h>

#include "compat.h"

struct flash_queue;

/* Most tunables that one policy may have. */
#define FLASH_TUNABLES_MAX	24

/**
 * struct flash_tunable - one line of a policy's table
 * @name: attribute and module parameter
 * @min: smallest legal value
 * @max: largest legal value
 */
struct flash_tunable {
	const char *name;
	unsigned int min;
	unsigned int max;
};

/**
 * struct flash_disk - a disk's tunables
 * @list: in the module's list of disks
 * @seq: the disk's sequence number; never used again for another disk
 * @attached: an elevator uses it now
 * @val: the values, indexed like policy_tunables
 */
struct flash_disk {
	struct list_head list;
	u64 seq;
	bool attached;
	unsigned int val[FLASH_TUNABLES_MAX];
};

/* The policy's table, its length and the defaults (set at load time). */
extern const struct flash_tunable policy_tunables[];
extern const unsigned int policy_nr_tunables;
extern unsigned int policy_defaults[];

struct flash_disk *flash_disk_get(struct request_queue *q);
void flash_disk_put(struct flash_disk *disk, struct request_queue *q);
void flash_disks_free(void);

ssize_t flash_tunable_show(struct elevator_queue *eq, char *page,
			   unsigned int idx);
ssize_t flash_tunable_store(struct elevator_queue *eq, const char *page,
			    size_t count, unsigned int idx);
ssize_t flash_inflight_show(struct elevator_queue *eq, char *page);
ssize_t flash_stats_show(struct elevator_queue *eq, char *page);

extern const struct kernel_param_ops flash_param_ops;

/* Building blocks of FLASH_DEFINE_TUNABLES(). */
#define FLASH_TUN_INDEX(tun, lo, hi, def)	TUN_##tun,
#define FLASH_TUN_ROW(tun, lo, hi, def)	{ #tun, lo, hi },
#define FLASH_TUN_DEFAULT(tun, lo, hi, def)	def,
#define FLASH_TUN_FUNCS(tun, lo, hi, def)				\
	static ssize_t tun_##tun##_show(struct elevator_queue *eq, char *page) \
	{								\
		return flash_tunable_show(eq, page, TUN_##tun);	\
	}								\
	static ssize_t tun_##tun##_store(struct elevator_queue *eq,	\
					  const char *page, size_t count) \
	{								\
		return flash_tunable_store(eq, page, count, TUN_##tun);	\
	}								\
	module_param_cb(tun, &flash_param_ops,				\
			&policy_defaults[TUN_##tun], 0644);		\
	MODULE_PARM_DESC(tun, "default for disks seen later, " #lo " to " #hi \
			 " (" #def ")");
#define FLASH_TUN_ATTR(tun, lo, hi, def)				\
	{ .attr = { .name = #tun, .mode = 0644 },			\
	  .show = tun_##tun##_show, .store = tun_##tun##_store },

/**
 * FLASH_DEFINE_TUNABLES - everything that follows from a policy's list
 * @TABLE: the X-macro
 *
 * Defines the enum of TUN_<name> indices, the table, its defaults, the module
 * parameters and policy_attrs[], which also gets the read-only attributes
 * "inflight" and "stats" that every policy has.
 */
#define FLASH_DEFINE_TUNABLES(TABLE)					\
	enum { TABLE(FLASH_TUN_INDEX) NR_TUN };				\
	static_assert((int)NR_TUN <= FLASH_TUNABLES_MAX);		\
	const struct flash_tunable policy_tunables[] = { TABLE(FLASH_TUN_ROW) }; \
	const unsigned int policy_nr_tunables = NR_TUN;			\
	unsigned int policy_defaults[] = { TABLE(FLASH_TUN_DEFAULT) };	\
	TABLE(FLASH_TUN_FUNCS)						\
	struct elv_fs_entry policy_attrs[] = {				\
		TABLE(FLASH_TUN_ATTR)					\
		{ .attr = { .name = "inflight", .mode = 0444 },		\
		  .show = flash_inflight_show },			\
		{ .attr = { .name = "stats", .mode = 0444 },		\
		  .show = flash_stats_show },				\
		{ }							\
	}

#endif /* FLASH_ATTRS_H */
