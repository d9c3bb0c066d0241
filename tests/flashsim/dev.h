/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dev.h - a device of flashsim, for the files of the module
 *
 * flashsim.c creates and removes devices, config.c converts parameters for the
 * model, serve.c serves requests, debugfs.c shows statistics.
 */
#ifndef FLASHSIM_DEV_H
#define FLASHSIM_DEV_H

#include <linux/blk-mq.h>
#include <linux/hrtimer.h>
#include <linux/spinlock.h>
#include <linux/xarray.h>

#include "params.h"
#include "sim.h"

/* fs_dev.may_end: no limit */
#define FS_ALL			UINT_MAX

enum fs_fate { FS_SERVE, FS_ERROR, FS_TIMEOUT, FS_REQUEUE };

/**
 * struct fs_rq - a request's data in the device
 * @fate: outcome that was drawn for it
 * @ended: the model has completed it
 * @rq: the model's part
 */
struct fs_rq {
	u8 fate;
	u8 ended;
	struct sim_rq rq;
};

/**
 * struct fs_dev - a device
 * @lock: protects @sim, @armed, @faults, @injected and the held requests
 * @sim: the model
 * @timer: fires at the model's next event
 * @armed: time for which @timer is armed; SIM_NEVER: it is not armed
 * @faults: random numbers for faults
 * @injected: number of faults, by fate; [FS_SERVE]: refused requests
 * @kept: requests that the model has completed and that are held back
 * @kept_end: link for the next one
 * @nr_kept: number of held requests
 * @may_end: number of requests that may complete; FS_ALL: no request is held
 * @closing: requests are not held any more, the device is being removed
 * @nr: its number
 * @data: kind of its data
 * @pages: the data, by page of the kernel; absent ones are zero
 * @nr_pages: number of pages
 * @max_pages: maximum of @nr_pages
 * @mem: memory allocated for the model
 * @nr_mem: number of allocations in @mem
 * @set: its tags
 * @disk: its disk
 * @removed: @disk was removed
 */
struct fs_dev {
	spinlock_t lock;
	struct sim sim;
	struct hrtimer timer;
	u64 armed;
	struct sim_rand faults;
	u64 injected[4];
	struct sim_rq *kept;
	struct sim_rq **kept_end;
	unsigned int nr_kept;
	unsigned int may_end;
	bool closing;
	unsigned int nr;
	unsigned int data;
	struct xarray pages;
	atomic_long_t nr_pages;
	long max_pages;
	void *mem[16];
	unsigned int nr_mem;
	struct blk_mq_tag_set set;
	struct gendisk *disk;
	bool removed;
};

struct dentry;

/* config.c */
int fs_config(struct sim_cfg *c, struct ftl_cfg *f);

/* serve.c */
extern const struct blk_mq_ops fs_mq_ops;
void fs_serve_init(struct fs_dev *dev);
struct sim_rq *fs_run(struct fs_dev *dev);
void fs_arm(struct fs_dev *dev);
void fs_end(struct sim_rq *ended);
int fs_hold(struct fs_dev *dev, unsigned int nr, bool closing);

/* debugfs.c */
void fs_debugfs_add(struct fs_dev *dev, struct dentry *parent);

#endif /* FLASHSIM_DEV_H */
