/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dev.h - a device of flashsim, for the files of the module
 *
 * flashsim.c sets devices up and takes them away, config.c turns parameters
 * into what the model is given, serve.c serves requests, debugfs.c shows what
 * happened.
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
 * struct fs_rq - what a request needs in the device
 * @fate: what shall become of it
 * @ended: the model has done with it
 * @rq: the model's part
 */
struct fs_rq {
	u8 fate;
	u8 ended;
	struct sim_rq rq;
};

/**
 * struct fs_dev - a device
 * @lock: guards @sim, @armed, @faults, @injected and what is kept back
 * @sim: the model
 * @timer: fires at the model's next event
 * @armed: when that is; SIM_NEVER: it is not armed
 * @faults: which requests are hit
 * @injected: how many, by fate; [FS_SERVE]: those refused
 * @kept: requests that the model has done with and that are kept back
 * @kept_end: where the next one is linked to
 * @nr_kept: how many there are
 * @may_end: so many more may end; FS_ALL: nothing is kept back
 * @closing: nothing is any more, the device goes
 * @nr: its number
 * @data: what its data is
 * @pages: it, by page of the kernel; absent ones are zero
 * @nr_pages: how many there are
 * @max_pages: how many there may be
 * @mem: all that was allocated for the model
 * @nr_mem: in so many pieces
 * @set: its tags
 * @disk: it, for the block layer
 * @removed: @disk is gone
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
