// SPDX-License-Identifier: GPL-2.0
/*
 * debugfs.c - files of flashsim's devices in debugfs
 */
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "dev.h"

/* The largest number that can be written to the file hold. */
#define FS_MAX_HOLD		65535

/* Statistics */

static void fs_word_line(struct seq_file *m, const char *key,
			 enum fs_param_id id)
{
	const char *w = fs_word(id);

	seq_printf(m, "%s %.*s\n", key, (int)strcspn(w, " "), w);
}

static void fs_line(struct seq_file *m, const char *key, u64 value)
{
	seq_printf(m, "%s %llu\n", key, value);
}

static void fs_stats_device(struct seq_file *m, const struct sim *s)
{
	const struct ftl_cfg *f = &s->ftl.cfg;

	fs_word_line(m, "profile", FS_profile);
	fs_word_line(m, "order", FS_order);
	fs_word_line(m, "alloc", FS_alloc);
	fs_word_line(m, "gc", FS_gc);
	fs_word_line(m, "service", FS_service);
	fs_line(m, "time_scale", fs_value(FS_time_scale));
	fs_line(m, "seed", fs_value(FS_seed));
	fs_line(m, "channels", s->cfg.nand.channels);
	fs_line(m, "ways", s->cfg.nand.ways);
	fs_line(m, "dies", s->cfg.nand.dies);
	fs_line(m, "chips", s->nand.chips);
	fs_line(m, "page_bytes", s->cfg.page);
	fs_line(m, "map_bytes", s->cfg.unit);
	fs_line(m, "size_bytes", s->cfg.sectors * SIM_SECTOR);
	fs_line(m, "flash_bytes", s->ftl.map ? ftl_places(f) * s->cfg.unit :
		(u64)f->units * s->cfg.unit);
	fs_line(m, "block_bytes", (u64)f->per_block * s->cfg.unit);
}

static u64 fs_milli(u64 part, u64 whole)
{
	/* Integrals of days would overflow when multiplied first. */
	while (part >> 50) {
		part >>= 1;
		whole >>= 1;
	}
	return whole ? div64_u64(part * 1000 + whole / 2, whole) : 0;
}

static void fs_stats_sums(struct seq_file *m, const struct sim *s)
{
	const struct sim_stats *st = &s->stats;
	const struct nand_stats *ns = &s->nand.stats;

	fs_line(m, "elapsed_ns", s->now - s->start);
	fs_line(m, "reads", st->requests[SIM_READ]);
	fs_line(m, "writes", st->requests[SIM_WRITE]);
	fs_line(m, "flushes", st->requests[SIM_FLUSH]);
	fs_line(m, "discards", st->requests[SIM_DISCARD]);
	fs_line(m, "zeroes", st->requests[SIM_ZEROES]);
	fs_line(m, "read_bytes", st->bytes[0]);
	fs_line(m, "write_bytes", st->bytes[1]);
	fs_line(m, "read_latency_ns", st->latency[0]);
	fs_line(m, "write_latency_ns", st->latency[1]);
	fs_line(m, "outstanding", s->outstanding);
	fs_line(m, "outstanding_max", st->outstanding_max);
	fs_line(m, "active_ns", ns->active);
	fs_line(m, "busy_chip_ns", ns->busy);
	fs_line(m, "utilisation_milli", fs_milli(ns->busy, ns->active));
	fs_line(m, "conflict_rr", ns->conflicts[0][0]);
	fs_line(m, "conflict_ww", ns->conflicts[1][1]);
	fs_line(m, "conflict_rw", ns->conflicts[0][1] + ns->conflicts[1][0]);
	fs_line(m, "conflict_reads", st->conflict_requests[0]);
	fs_line(m, "conflict_writes", st->conflict_requests[1]);
	fs_line(m, "wait_read_ns", ns->wait[0]);
	fs_line(m, "wait_write_ns", ns->wait[1]);
	fs_line(m, "nand_reads", st->nand_reads);
	fs_line(m, "nand_programs", st->nand_programs);
	fs_line(m, "nand_erases", s->ftl.erases);
	fs_line(m, "gc_copies", s->ftl.copies);
	fs_line(m, "gc_erases", s->ftl.erases);
	fs_line(m, "gc_ns", st->gc_ns);
	fs_line(m, "host_units", s->ftl.host);
	fs_line(m, "flash_units", s->ftl.flash);
	fs_line(m, "wa_milli", fs_milli(s->ftl.flash, s->ftl.host));
	fs_line(m, "buffer_hits", st->buffer_hits);
	fs_line(m, "buffer_bytes", (u64)s->buffered * s->cfg.unit);
	fs_line(m, "slc_bytes", s->slc_all * s->ftl.cfg.per_prog * s->cfg.unit);
	fs_line(m, "slc_programs", st->slc_programs);
	fs_line(m, "slc_folds", st->slc_folds);
	fs_line(m, "free_blocks", s->ftl.free);
	fs_line(m, "free_blocks_min", s->ftl.free_min);
	fs_line(m, "suspends", ns->suspends);
	fs_line(m, "register_hits", ns->kept);
}

static void fs_stats_arrays(struct seq_file *m, const struct sim *s)
{
	unsigned int i;

	for (i = 0; i < s->nand.chips; i++) {
		const struct nand_chip *c = &s->nand.chip[i];

		seq_printf(m, "chip%u_busy_ns %llu\n", i,
			   nand_chip_busy(&s->nand, i, s->now));
		seq_printf(m, "chip%u_reads %llu\n", i, c->ops[NAND_READ]);
		seq_printf(m, "chip%u_programs %llu\n", i, c->ops[NAND_PROG]);
		seq_printf(m, "chip%u_erases %llu\n", i, c->erases);
	}
	for (i = 0; i < s->cfg.nand.channels; i++)
		seq_printf(m, "channel%u_busy_ns %llu\n", i,
			   s->nand.chan[i].busy);
	for (i = 0; i < s->cfg.ranges; i++) {
		seq_printf(m, "range%u_read_ns %llu\n", i,
			   s->stats.range_ns[i][0]);
		seq_printf(m, "range%u_write_ns %llu\n", i,
			   s->stats.range_ns[i][1]);
	}
}

static int fs_stats_show(struct seq_file *m, void *unused)
{
	struct fs_dev *dev = m->private;
	struct sim_rq *ended;

	spin_lock_irq(&dev->lock);
	ended = fs_run(dev);
	fs_stats_device(m, &dev->sim);
	fs_stats_sums(m, &dev->sim);
	fs_line(m, "injected_busy", dev->injected[FS_SERVE]);
	fs_line(m, "injected_errors", dev->injected[FS_ERROR]);
	fs_line(m, "injected_timeouts", dev->injected[FS_TIMEOUT]);
	fs_line(m, "injected_requeues", dev->injected[FS_REQUEUE]);
	fs_line(m, "held", dev->nr_kept);
	fs_line(m, "data_pages", atomic_long_read(&dev->nr_pages));
	fs_stats_arrays(m, &dev->sim);
	fs_arm(dev);
	spin_unlock_irq(&dev->lock);
	/*
	 * Requests complete in a context that cannot sleep in between; seq_file
	 * calls this again with a bigger buffer, which is harmless.
	 */
	local_bh_disable();
	fs_end(ended);
	local_bh_enable();
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(fs_stats);

static ssize_t fs_reset_write(struct file *file, const char __user *buf,
			      size_t len, loff_t *pos)
{
	struct fs_dev *dev = file->private_data;
	struct sim_rq *ended;

	spin_lock_irq(&dev->lock);
	ended = fs_run(dev);
	sim_reset_stats(&dev->sim, dev->sim.now);
	memset(dev->injected, 0, sizeof(dev->injected));
	fs_arm(dev);
	spin_unlock_irq(&dev->lock);
	local_bh_disable();
	fs_end(ended);
	local_bh_enable();
	return len;
}

static const struct file_operations fs_reset_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= fs_reset_write,
};

static ssize_t fs_hold_write(struct file *file, const char __user *buf,
			     size_t len, loff_t *pos)
{
	int nr, ret = kstrtoint_from_user(buf, len, 10, &nr);

	if (!ret && (nr < -1 || nr > FS_MAX_HOLD))
		ret = -ERANGE;
	if (!ret)
		ret = fs_hold(file->private_data, nr < 0 ? FS_ALL : nr, false);
	return ret ? ret : len;
}

static const struct file_operations fs_hold_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.write	= fs_hold_write,
};

/* log and series: a header, then one row at a time. */

static void *fs_rows_start(struct seq_file *m, loff_t *pos, u32 nr)
{
	return *pos <= nr ? (void *)(unsigned long)(*pos + 1) : NULL;
}

static u32 fs_log_rows(struct fs_dev *dev)
{
	return READ_ONCE(dev->sim.log_nr);
}

static void *fs_log_start(struct seq_file *m, loff_t *pos)
{
	return fs_rows_start(m, pos, fs_log_rows(m->private));
}

static void *fs_log_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return fs_log_start(m, pos);
}

static void fs_rows_stop(struct seq_file *m, void *v)
{
}

static int fs_log_show(struct seq_file *m, void *v)
{
	static const char ops[SIM_OPS] = { 'R', 'W', 'F', 'D', 'Z' };
	struct fs_dev *dev = m->private;
	unsigned long row = (unsigned long)v - 1;
	struct sim_log log;
	u64 start;

	if (!row) {
		seq_puts(m, "arrival_ns,begin_ns,done_ns,op,sector,sectors,chip,chips\n");
		return 0;
	}
	spin_lock_irq(&dev->lock);
	log = dev->sim.log[row - 1];
	start = dev->sim.start;
	spin_unlock_irq(&dev->lock);
	/* Requests in flight at the reset arrived before the time began. */
	seq_printf(m, "%lld,%lld,%llu,%c,%llu,%u,%u,%u\n",
		   (s64)(log.arrival - start), (s64)(log.begun - start),
		   log.done - start, ops[log.op], log.sector, log.sectors,
		   log.chip, log.chips);
	return 0;
}

static const struct seq_operations fs_log_sops = {
	.start	= fs_log_start,
	.next	= fs_log_next,
	.stop	= fs_rows_stop,
	.show	= fs_log_show,
};
DEFINE_SEQ_ATTRIBUTE(fs_log);

static void *fs_series_start(struct seq_file *m, loff_t *pos)
{
	struct fs_dev *dev = m->private;

	return fs_rows_start(m, pos, READ_ONCE(dev->sim.row_nr));
}

static void *fs_series_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return fs_series_start(m, pos);
}

static int fs_series_show(struct seq_file *m, void *v)
{
	struct fs_dev *dev = m->private;
	const struct sim *s = &dev->sim;
	unsigned long nr = (unsigned long)v - 1;
	const struct sim_row *row = &s->row[nr - 1];
	unsigned int c;

	if (!nr) {
		seq_puts(m, "t_ms,reads,writes,read_bytes,write_bytes,gc_copies,outstanding");
		for (c = 0; c < s->nand.chips; c++)
			seq_printf(m, ",c%u", c);
		seq_putc(m, '\n');
		return 0;
	}
	/* Rows are only added, unless a reset interrupts this. */
	seq_printf(m, "%llu,%u,%u,%llu,%llu,%u,%u",
		   (nr - 1) * fs_value(FS_series_ms), row->reads, row->writes,
		   row->read_bytes, row->write_bytes, row->copies,
		   row->outstanding);
	for (c = 0; c < s->nand.chips; c++)
		seq_printf(m, ",%u", s->row_chip[(nr - 1) * s->nand.chips + c]);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations fs_series_sops = {
	.start	= fs_series_start,
	.next	= fs_series_next,
	.stop	= fs_rows_stop,
	.show	= fs_series_show,
};
DEFINE_SEQ_ATTRIBUTE(fs_series);

/**
 * fs_debugfs_add - make a device's files
 * @dev: the device, which has a disk
 * @parent: parent of its directory
 */
void fs_debugfs_add(struct fs_dev *dev, struct dentry *parent)
{
	struct dentry *dir = debugfs_create_dir(dev->disk->disk_name,
						parent);

	debugfs_create_file("stats", 0444, dir, dev, &fs_stats_fops);
	debugfs_create_file("reset", 0200, dir, dev, &fs_reset_fops);
	debugfs_create_file("hold", 0200, dir, dev, &fs_hold_fops);
	debugfs_create_file("log", 0444, dir, dev, &fs_log_fops);
	debugfs_create_file("series", 0444, dir, dev, &fs_series_fops);
}
