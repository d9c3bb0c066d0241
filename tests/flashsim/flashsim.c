// SPDX-License-Identifier: GPL-2.0
/*
 * flashsim.c - a block device with the timing of an SSD
 *
 * The module, and creation and removal of its devices. serve.c connects the
 * block layer with the model in sim.c.
 *
 * One lock a device protects the model.
 */
#include <linux/blk-mq.h>
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>

#include "dev.h"
#include "disk.h"

/* A discard is processed under the lock, so its size is limited. */
#define FS_DISCARD_SECTORS	16384
/* Commands for garbage collection on other dies than the written one. */
#define FS_GC_CMDS		1024

static struct fs_dev **fs_devs;
static unsigned int fs_nr_devs;
static DEFINE_MUTEX(fs_mutex);		/* protects these two, and fs_dev.removed */
static struct dentry *fs_debugfs;

/*
 * Is there memory for this? Checked first, because an allocation that fails
 * only at the last page leaves no memory to other processes in the meantime,
 * and the OOM killer may end one. A sixteenth of the memory remains free.
 */
static bool fs_available(u64 bytes)
{
	long left = si_mem_available() - (long)(totalram_pages() / 16);

	return left > 0 && bytes >> PAGE_SHIFT < (u64)left;
}

/*
 * Zeroed memory that is freed with the device; NULL if there is none. The size may
 * exceed the machine's memory, which must not wake the OOM killer. vmalloc() accepts
 * no other flag for that on all kernels: 6.19 warns of __GFP_RETRY_MAYFAIL.
 */
static void *fs_alloc(struct fs_dev *dev, u64 nr, size_t size)
{
	void *mem = NULL;

	if (dev->nr_mem < ARRAY_SIZE(dev->mem) && nr <= SIZE_MAX / size &&
	    fs_available(nr * size))
		mem = __vmalloc(max_t(size_t, nr * size, 1),
				GFP_KERNEL | __GFP_ZERO | __GFP_NORETRY);
	if (mem)
		dev->mem[dev->nr_mem++] = mem;
	return mem;
}

/* Number of blocks in a die, and when to collect. */
static int fs_blocks(struct fs_dev *dev, struct ftl_cfg *f)
{
	u32 *count = kvcalloc(f->luns, sizeof(*count), GFP_KERNEL);
	u64 share, blocks, full;

	if (!count)
		return -ENOMEM;
	share = ftl_share_max(f, count);
	kvfree(count);
	full = div64_u64(share + f->per_block - 1, f->per_block);
	blocks = div64_u64(share * (1000 + fs_value(FS_op_permille)) +
			   1000ULL * f->per_block - 1, 1000ULL * f->per_block);
	/* Two open blocks, one for copies, and one to collect. */
	blocks = max(blocks, full + 4);
	f->low = max_t(u64, 2, div64_u64((blocks - full) *
					 fs_value(FS_gc_permille), 1000));
	if (blocks * f->luns * f->per_block >= FTL_NONE) {
		pr_err(FS_NAME ": the flash has too many pages: want fewer than 2^31, see shrink\n");
		return -ERANGE;
	}
	f->blocks = blocks;
	return 0;
}

static int fs_setup_ftl(struct fs_dev *dev, struct ftl_cfg *f)
{
	struct ftl *ftl = &dev->sim.ftl;
	int ret;

	ftl->lun = fs_alloc(dev, f->luns, sizeof(*ftl->lun));
	if (!ftl->lun)
		return -ENOMEM;
	if (f->gc == FTL_GC_NONE) {
		ftl_init(ftl, f);
		return 0;
	}
	/* Allocated first: computing with a map that does not fit takes long. */
	ftl->map = fs_alloc(dev, f->units, sizeof(*ftl->map));
	if (!ftl->map)
		return -ENOMEM;
	ret = fs_blocks(dev, f);
	if (ret)
		return ret;
	ftl->rev = fs_alloc(dev, ftl_places(f), sizeof(*ftl->rev));
	ftl->block = fs_alloc(dev, (u64)f->luns * f->blocks,
			      sizeof(*ftl->block));
	if (!ftl->rev || !ftl->block)
		return -ENOMEM;
	ftl_init(ftl, f);
	return 0;
}

static int fs_setup_sim(struct fs_dev *dev, const struct sim_cfg *c)
{
	const struct ftl_cfg *f = &dev->sim.ftl.cfg;
	struct sim *s = &dev->sim;
	struct sim_prog *progs;
	struct nand_cmd *gc;
	u64 fill;
	u32 nr;

	s->log_len = fs_value(FS_log_len);
	s->row_len = fs_value(FS_series_len);
	s->log = fs_alloc(dev, s->log_len, sizeof(*s->log));
	s->row = fs_alloc(dev, s->row_len, sizeof(*s->row));
	s->row_chip = fs_alloc(dev, (u64)s->row_len * s->nand.chips,
			       sizeof(*s->row_chip));
	s->chip_was = fs_alloc(dev, s->nand.chips, sizeof(*s->chip_was));
	s->ring = fs_alloc(dev, c->buffer, sizeof(*s->ring));
	nr = c->buffer ? c->buffer / f->per_prog + f->luns : 0;
	progs = fs_alloc(dev, nr, sizeof(*progs));
	gc = fs_alloc(dev, FS_GC_CMDS, sizeof(*gc));
	s->slc_used = fs_alloc(dev, f->luns, sizeof(*s->slc_used));
	s->fold = fs_alloc(dev, f->luns, sizeof(*s->fold));
	if (!s->log || !s->row || !s->row_chip || !s->chip_was || !s->ring ||
	    !progs || !gc || !s->slc_used || !s->fold)
		return -ENOMEM;
	sim_add_progs(s, progs, nr);
	sim_add_gc(s, gc, FS_GC_CMDS);

	sim_rand_init(&s->rand, c->seed + dev->nr);
	sim_rand_init(&dev->faults, ~(c->seed + dev->nr));
	if (s->ftl.map) {
		fill = div64_u64((u64)f->units * fs_value(FS_fill_pct), 100);
		ftl_fill(&s->ftl, fill,
			 div64_u64(fill * fs_value(FS_overwrite_pct), 100),
			 div64_u64(fill * fs_value(FS_rewrite_pct), 100),
			 &s->rand);
	}
	sim_init(s, c, ktime_get_ns());
	return 0;
}

static const struct block_device_operations fs_fops = {
	.owner		= THIS_MODULE,
};

static void fs_free(struct fs_dev *dev)
{
	struct page *page;
	unsigned long idx;

	xa_for_each(&dev->pages, idx, page)
		__free_page(page);
	xa_destroy(&dev->pages);
	while (dev->nr_mem)
		vfree(dev->mem[--dev->nr_mem]);
	kvfree(dev);
}

static int fs_add_disk(struct fs_dev *dev, const struct sim_cfg *c)
{
	int ret;

	dev->set.ops = &fs_mq_ops;
	dev->set.nr_hw_queues = fs_value(FS_nr_hw_queues);
	dev->set.queue_depth = fs_value(FS_queue_depth);
	dev->set.numa_node = NUMA_NO_NODE;
	/* Not struct_size_t(), which 6.1 got in a later update. */
	dev->set.cmd_size = struct_size((struct fs_rq *)NULL, rq.cmd,
					sim_max_cmds(c, fs_value(FS_max_kb) << 10));
	dev->set.flags = LAB_TAG_SET_FLAGS;
	dev->set.timeout = msecs_to_jiffies(fs_value(FS_rq_timeout_ms));
	ret = blk_mq_alloc_tag_set(&dev->set);
	if (ret)
		return ret;
	dev->disk = lab_alloc_disk(&dev->set, c->unit,
				   c->page * dev->sim.ftl.cfg.luns,
				   fs_value(FS_max_kb) << 1, FS_DISCARD_SECTORS,
				   c->buffer, dev);
	if (IS_ERR(dev->disk)) {
		ret = PTR_ERR(dev->disk);
		goto free_tags;
	}
	dev->disk->fops = &fs_fops;
	/*
	 * After a scan for partitions, newer kernels close the disk when the
	 * caller returns to user space. A module that failed to load is
	 * already freed then.
	 */
	dev->disk->flags |= GENHD_FL_NO_PART;
	snprintf(dev->disk->disk_name, DISK_NAME_LEN, FS_NAME "%u", dev->nr);
	set_capacity(dev->disk, c->sectors);
	ret = add_disk(dev->disk);
	if (ret)
		goto put_disk;
	return 0;

put_disk:
	put_disk(dev->disk);
free_tags:
	blk_mq_free_tag_set(&dev->set);
	return ret;
}

static int fs_add(unsigned int nr)
{
	struct sim_cfg c = { };
	struct ftl_cfg f = { };
	struct fs_dev *dev;
	int ret = fs_config(&c, &f);

	if (ret)
		return ret;
	dev = kvzalloc(sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	fs_serve_init(dev);
	dev->nr = nr;
	dev->data = fs_value(FS_data);
	dev->max_pages = fs_value(FS_data_mb) << (20 - PAGE_SHIFT);
	ret = nand_init(&dev->sim.nand, &c.nand) ? -EINVAL : 0;
	if (!ret)
		ret = fs_setup_ftl(dev, &f);
	if (!ret)
		ret = fs_setup_sim(dev, &c);
	if (!ret)
		ret = fs_add_disk(dev, &c);
	if (ret) {
		if (ret == -ENOMEM)
			pr_err(FS_NAME ": no memory for a map of %u units, log and series: want a smaller size_mb, log_len or series_len, or a larger shrink\n",
			       f.units);
		fs_free(dev);
		return ret;
	}
	fs_debugfs_add(dev, fs_debugfs);
	mutex_lock(&fs_mutex);
	fs_devs[nr] = dev;
	fs_nr_devs = nr + 1;
	mutex_unlock(&fs_mutex);
	return 0;
}

static void fs_del_disk(struct fs_dev *dev)
{
	lockdep_assert_held(&fs_mutex);

	if (dev->removed)
		return;
	dev->removed = true;
	/* The removal of the disk waits for its requests. */
	fs_hold(dev, FS_ALL, true);
	del_gendisk(dev->disk);
}

/**
 * fs_remove - remove a device, even if it is in use
 * @nr: its number
 *
 * Its statistics remain until the module is unloaded.
 *
 * Return: 0, or -ENODEV if it is not there.
 */
int fs_remove(unsigned int nr)
{
	int ret = -ENODEV;

	mutex_lock(&fs_mutex);
	if (nr < fs_nr_devs && !fs_devs[nr]->removed) {
		fs_del_disk(fs_devs[nr]);
		ret = 0;
	}
	mutex_unlock(&fs_mutex);
	return ret;
}

static void fs_del_all(void)
{
	debugfs_remove(fs_debugfs);
	mutex_lock(&fs_mutex);
	while (fs_nr_devs) {
		struct fs_dev *dev = fs_devs[--fs_nr_devs];

		fs_del_disk(dev);
		hrtimer_cancel(&dev->timer);
		put_disk(dev->disk);
		blk_mq_free_tag_set(&dev->set);
		fs_free(dev);
	}
	mutex_unlock(&fs_mutex);
	kfree(fs_devs);
}

static int __init fs_init(void)
{
	unsigned int nr = fs_value(FS_nr_devices), i;
	int ret;

	fs_devs = kcalloc(nr, sizeof(*fs_devs), GFP_KERNEL);
	if (!fs_devs)
		return -ENOMEM;
	fs_debugfs = debugfs_create_dir(FS_NAME, NULL);
	for (i = 0; i < nr; i++) {
		ret = fs_add(i);
		if (ret) {
			fs_del_all();
			return ret;
		}
	}
	return 0;
}

static void __exit fs_exit(void)
{
	fs_del_all();
}

module_init(fs_init);
module_exit(fs_exit);

MODULE_DESCRIPTION("An SSD in time, for tests");
MODULE_LICENSE("GPL");
