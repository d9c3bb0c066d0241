// SPDX-License-Identifier: GPL-2.0
/*
 * flashsim.c - a block device that behaves like an SSD in time
 *
 * This file is the glue between the block layer and the model in sim.c: it
 * hands requests over, lets an hrtimer stand for the model's next event, keeps
 * the data and injects faults. Data is copied when a request is issued and the
 * request ends when the model says so; in between the device has both.
 *
 * One lock a device guards the model. The data has no lock: what a read sees
 * of a write that is under way at the same time is nobody's promise.
 */
#include <linux/blk-mq.h>
#include <linux/debugfs.h>
#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>

#define FLASH_COMPAT_LAB
#include "../../common/compat.h"
#include "params.h"
#include "sim.h"

/* A discard is worked through under the lock, so it is bounded. */
#define FS_DISCARD_SECTORS	16384
/* Commands for collection on other dies than the one written to. */
#define FS_GC_CMDS		1024
/* Idle time after which the SLC buffer is folded. */
#define FS_SLC_IDLE_NS		(200 * NSEC_PER_MSEC)
/* fs_dev.may_end: no limit; and the largest one. */
#define FS_ALL			UINT_MAX
#define FS_MAX_HOLD		65535

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

static struct fs_dev **fs_devs;
static unsigned int fs_nr_devs;
static DEFINE_MUTEX(fs_mutex);		/* guards the two, and fs_dev.removed */
static struct dentry *fs_debugfs;

/* Time */

/*
 * In hard interrupt context, but not at any price: on PREEMPT_RT, where a spin
 * lock sleeps, it is a softirq then.
 */
#define FS_TIMER_MODE		HRTIMER_MODE_ABS

/* Keeps @ended back, and returns what may go, in the order in which it ended. */
static struct sim_rq *fs_let_go(struct fs_dev *dev, struct sim_rq *ended)
{
	struct sim_rq *first, **last = &dev->kept;

	*dev->kept_end = ended;
	for (; ended; ended = ended->next) {
		dev->kept_end = &ended->next;
		dev->nr_kept++;
	}
	while (*last && dev->may_end) {
		last = &(*last)->next;
		dev->nr_kept--;
		if (dev->may_end != FS_ALL)
			dev->may_end--;
	}
	if (last == &dev->kept)
		return NULL;
	first = dev->kept;
	dev->kept = *last;
	*last = NULL;
	if (!dev->kept)
		dev->kept_end = &dev->kept;
	return first;
}

/* Lets everything happen that is due; the requests that are to be ended. */
static struct sim_rq *fs_run(struct fs_dev *dev)
{
	struct sim_rq *ended;

	lockdep_assert_held(&dev->lock);

	ended = sim_run(&dev->sim, max(ktime_get_ns(), dev->sim.now));
	if (likely(dev->may_end == FS_ALL && !dev->kept))
		return ended;
	return fs_let_go(dev, ended);
}

static void fs_arm(struct fs_dev *dev)
{
	u64 next = sim_next(&dev->sim);

	lockdep_assert_held(&dev->lock);

	if (next >= dev->armed)
		return;
	dev->armed = next;
	hrtimer_start(&dev->timer, ns_to_ktime(next), FS_TIMER_MODE);
}

static void fs_end(struct sim_rq *ended)
{
	struct sim_rq *next;

	for (; ended; ended = next) {
		struct fs_rq *fr = container_of(ended, struct fs_rq, rq);

		next = ended->next;
		/* One that is to time out waits for the block layer to ask. */
		if (fr->fate == FS_TIMEOUT)
			WRITE_ONCE(fr->ended, true);
		else
			blk_mq_complete_request(blk_mq_rq_from_pdu(fr));
	}
}

static enum hrtimer_restart fs_timer(struct hrtimer *timer)
{
	struct fs_dev *dev = container_of(timer, struct fs_dev, timer);
	struct sim_rq *ended;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	dev->armed = SIM_NEVER;
	ended = fs_run(dev);
	fs_arm(dev);
	spin_unlock_irqrestore(&dev->lock, flags);
	fs_end(ended);
	return HRTIMER_NORESTART;
}

/* Data */

static struct page *fs_new_page(struct fs_dev *dev, unsigned long idx)
{
	struct page *page;

	if (atomic_long_inc_return(&dev->nr_pages) > dev->max_pages)
		goto full;
	page = alloc_page(GFP_NOWAIT | __GFP_ZERO | __GFP_HIGHMEM |
			  __GFP_NOWARN);
	if (!page)
		goto full;
	/* Another CPU may have been faster. */
	if (xa_insert(&dev->pages, idx, page, GFP_NOWAIT | __GFP_NOWARN)) {
		__free_page(page);
		page = xa_load(&dev->pages, idx);
		if (page)
			atomic_long_dec(&dev->nr_pages);
		else
			goto full;
	}
	return page;
full:
	atomic_long_dec(&dev->nr_pages);
	return NULL;
}

/* Copies @len bytes at @pos of the device from or to @page at @off. */
static blk_status_t fs_copy(struct fs_dev *dev, bool write, u64 pos,
			    struct page *page, unsigned int off,
			    unsigned int len)
{
	for (; len; ) {
		unsigned int at = offset_in_page(pos);
		unsigned int part = min_t(unsigned int, len, PAGE_SIZE - at);
		unsigned long idx = pos >> PAGE_SHIFT;
		struct page *data = xa_load(&dev->pages, idx);

		if (write && !data) {
			data = fs_new_page(dev, idx);
			if (!data)
				return BLK_STS_NOSPC;
		}
		if (write)
			memcpy_page(data, at, page, off, part);
		else if (data)
			memcpy_page(page, off, data, at, part);
		else
			memzero_page(page, off, part);
		pos += part;
		off += part;
		len -= part;
	}
	return BLK_STS_OK;
}

static void fs_pattern(u64 pos, struct page *page, unsigned int off,
		       unsigned int len)
{
	char *map = kmap_local_page(page);
	__le64 *word = (__le64 *)(map + off);

	for (; len; len -= 8, pos += 8)
		*word++ = cpu_to_le64(pos);
	flush_dcache_page(page);
	kunmap_local(map);
}

static blk_status_t fs_data(struct fs_dev *dev, struct request *rq)
{
	bool write = op_is_write(req_op(rq));
	u64 pos = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	struct req_iterator iter;
	struct bio_vec bv;

	if (dev->data == FS_DATA_NONE ||
	    (dev->data == FS_DATA_PATTERN && write))
		return BLK_STS_OK;
	rq_for_each_segment(bv, rq, iter) {
		if (dev->data == FS_DATA_PATTERN) {
			fs_pattern(pos, bv.bv_page, bv.bv_offset, bv.bv_len);
		} else {
			blk_status_t status = fs_copy(dev, write, pos,
						      bv.bv_page, bv.bv_offset,
						      bv.bv_len);

			if (status != BLK_STS_OK)
				return status;
		}
		pos += bv.bv_len;
	}
	return BLK_STS_OK;
}

/*
 * What was discarded or zeroed reads as zero. Its pages stay: a read on another
 * CPU may be copying them.
 */
static void fs_forget(struct fs_dev *dev, struct request *rq)
{
	u64 pos = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	u64 end = pos + blk_rq_bytes(rq);

	while (dev->data == FS_DATA_MEMORY && pos < end) {
		unsigned int at = offset_in_page(pos);
		unsigned int part = min_t(u64, end - pos, PAGE_SIZE - at);
		struct page *page = xa_load(&dev->pages, pos >> PAGE_SHIFT);

		if (page)
			memzero_page(page, at, part);
		pos += part;
	}
}

/* Requests */

static bool fs_hit(struct fs_dev *dev, enum fs_param_id id)
{
	u32 ppm = (u32)fs_value(id);

	return ppm && sim_rand_below(&dev->faults, 1000000) < ppm;
}

/* Whether faults are for this request. */
static bool fs_target(struct request *rq)
{
	u64 first = fs_value(FS_fault_sector), nr = fs_value(FS_fault_sectors);
	u64 pos = blk_rq_pos(rq);

	if (!(fs_fault_ops() & (req_op(rq) == REQ_OP_READ ? 1 : 2)))
		return false;
	return !nr || (pos < first + nr && pos + blk_rq_sectors(rq) > first);
}

/* What shall become of a request; false: it is refused for now. */
static bool fs_choose_fate(struct fs_dev *dev, struct request *rq,
			   struct fs_rq *fr)
{
	unsigned long flags;
	bool take = true;

	fr->fate = FS_SERVE;
	if (!fs_target(rq))
		return true;
	spin_lock_irqsave(&dev->lock, flags);
	if (fs_hit(dev, FS_busy_ppm))
		take = false;
	else if (fs_hit(dev, FS_error_ppm))
		fr->fate = FS_ERROR;
	else if (fs_hit(dev, FS_timeout_ppm))
		fr->fate = FS_TIMEOUT;
	else if (fs_hit(dev, FS_requeue_ppm))
		fr->fate = FS_REQUEUE;
	if (!take || fr->fate != FS_SERVE)
		dev->injected[fr->fate]++;
	spin_unlock_irqrestore(&dev->lock, flags);
	return take;
}

static blk_status_t fs_queue_rq(struct blk_mq_hw_ctx *hctx,
				const struct blk_mq_queue_data *bd)
{
	struct fs_dev *dev = hctx->queue->queuedata;
	struct request *rq = bd->rq;
	struct fs_rq *fr = blk_mq_rq_to_pdu(rq);
	struct sim_rq *ended;
	blk_status_t status = BLK_STS_OK;
	unsigned long flags;

	switch (req_op(rq)) {
	case REQ_OP_READ:
		fr->rq.op = SIM_READ;
		break;
	case REQ_OP_WRITE:
		fr->rq.op = SIM_WRITE;
		break;
	case REQ_OP_FLUSH:
		fr->rq.op = SIM_FLUSH;
		break;
	case REQ_OP_DISCARD:
		fr->rq.op = SIM_DISCARD;
		break;
	case REQ_OP_WRITE_ZEROES:
		fr->rq.op = SIM_ZEROES;
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	if (!fs_choose_fate(dev, rq, fr))
		return BLK_STS_RESOURCE;

	blk_mq_start_request(rq);
	/* One that will fail changes nothing. */
	if (fr->fate == FS_SERVE) {
		if (fr->rq.op <= SIM_WRITE)
			status = fs_data(dev, rq);
		else if (fr->rq.op != SIM_FLUSH)
			fs_forget(dev, rq);
		if (status != BLK_STS_OK)
			return status;
	}
	fr->rq.sector = fr->rq.op == SIM_FLUSH ? 0 : blk_rq_pos(rq);
	fr->rq.sectors = fr->rq.op == SIM_FLUSH ? 0 : blk_rq_sectors(rq);
	fr->rq.fua = !!(rq->cmd_flags & REQ_FUA);
	fr->ended = false;

	spin_lock_irqsave(&dev->lock, flags);
	ended = fs_run(dev);
	sim_submit(&dev->sim, &fr->rq, dev->sim.now);
	fs_arm(dev);
	spin_unlock_irqrestore(&dev->lock, flags);
	fs_end(ended);
	return BLK_STS_OK;
}

static void fs_complete_rq(struct request *rq)
{
	struct fs_rq *fr = blk_mq_rq_to_pdu(rq);

	switch (fr->fate) {
	case FS_REQUEUE:
		blk_mq_requeue_request(rq, true);
		return;
	case FS_ERROR:
		blk_mq_end_request(rq, BLK_STS_MEDIUM);
		return;
	case FS_TIMEOUT:
		blk_mq_end_request(rq, BLK_STS_TIMEOUT);
		return;
	}
	blk_mq_end_request(rq, BLK_STS_OK);
}

static enum blk_eh_timer_return fs_timeout_rq(struct request *rq)
{
	struct fs_rq *fr = blk_mq_rq_to_pdu(rq);

	/*
	 * Slow is no fault: with time_scale a request may well take this long.
	 * One that is to time out cannot go either while the model has it.
	 */
	if (fr->fate != FS_TIMEOUT || !READ_ONCE(fr->ended))
		return BLK_EH_RESET_TIMER;
	blk_mq_complete_request(rq);
	return BLK_EH_DONE;
}

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
	 * Completing is for a context that cannot sleep in between; seq_file
	 * calls this again with a bigger buffer, which does no harm.
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

/* From now on @nr requests may end; FS_ALL: all of them. */
static int fs_hold(struct fs_dev *dev, unsigned int nr, bool closing)
{
	struct sim_rq *ended;
	unsigned long flags;

	spin_lock_irqsave(&dev->lock, flags);
	if (dev->closing) {
		spin_unlock_irqrestore(&dev->lock, flags);
		return -ENODEV;
	}
	dev->closing = closing;
	dev->may_end = nr;
	ended = fs_run(dev);
	fs_arm(dev);
	spin_unlock_irqrestore(&dev->lock, flags);
	local_bh_disable();
	fs_end(ended);
	local_bh_enable();
	return 0;
}

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
	/* What was under way at the reset has come before time began. */
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
	/* Rows only ever get added, except by a reset in the middle of it. */
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

/* Setting up */

/*
 * Is there memory for this? Asked for first, because an allocation that only
 * fails at the last page leaves nothing for the moment to anybody else, who may
 * be killed for it. A sixteenth of the machine is not ours to take.
 */
static bool fs_available(u64 bytes)
{
	long left = si_mem_available() - (long)(totalram_pages() / 16);

	return left > 0 && bytes >> PAGE_SHIFT < (u64)left;
}

/*
 * Zeroed memory that goes with the device; NULL if there is none. It may be
 * more than the machine has, which is no reason to kill anybody.
 */
static void *fs_alloc(struct fs_dev *dev, u64 nr, size_t size)
{
	void *mem = NULL;

	if (dev->nr_mem < ARRAY_SIZE(dev->mem) && nr <= SIZE_MAX / size &&
	    fs_available(nr * size))
		mem = __vmalloc(max_t(size_t, nr * size, 1),
				GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
				__GFP_RETRY_MAYFAIL);
	if (mem)
		dev->mem[dev->nr_mem++] = mem;
	return mem;
}

/* The next number of a list, or false with *at on what is none. */
static bool fs_number(const char **at, u32 *value)
{
	const char *begin = *at;
	u64 v = 0;

	while (**at >= '0' && **at <= '9' && v < U32_MAX)
		v = v * 10 + *(*at)++ - '0';
	*value = v;
	return *at != begin && v < U32_MAX;
}

static int fs_parse_layout(struct ftl_layout *l)
{
	const char *at = fs_layout;

	while (l->nr_terms < FTL_MAX_TERMS) {
		struct ftl_term *t = &l->term[l->nr_terms++];

		if (!fs_number(&at, &t->div) || *at++ != ':' ||
		    !fs_number(&at, &t->mod) || *at++ != ':' ||
		    !fs_number(&at, &t->mul))
			return -EINVAL;
		if (!*at || (*at == '\n' && !at[1]))
			return 0;
		if (*at++ != ',')
			return -EINVAL;
	}
	return -EINVAL;
}

static int fs_parse_xor(struct ftl_layout *l)
{
	const char *at = fs_xor;

	while (*at && *at != '\n') {
		if (l->nr_xors == FTL_MAX_XORS ||
		    !fs_number(&at, &l->xor[l->nr_xors++]))
			return -EINVAL;
		if (*at == ',' && at[1])
			at++;
		else if (*at && *at != '\n')
			return -EINVAL;
	}
	return 0;
}

/* Channel, way and die in the order of the parameter `stripe`. */
static void fs_stripe(struct ftl_layout *l, const struct nand_cfg *n)
{
	const char *order = fs_word(FS_stripe);
	u32 div = 1, i;

	for (i = 0; i < 3; i++) {
		struct ftl_term *t = &l->term[l->nr_terms++];

		t->div = div;
		switch (order[i]) {
		case 'C':
			t->mod = n->channels;
			t->mul = 1;
			break;
		case 'W':
			t->mod = n->ways;
			t->mul = n->channels;
			break;
		case 'D':
			t->mod = n->dies;
			t->mul = n->channels * n->ways;
			break;
		}
		div *= t->mod;
	}
}

static int fs_layout_cfg(struct ftl_cfg *f, const struct nand_cfg *n)
{
	struct ftl_layout *l = &f->layout;

	if (fs_layout[0]) {
		if (fs_parse_layout(l)) {
			pr_err(FS_NAME ": layout: '%s': want 1 to %u terms div:mod:mul, commas between\n",
			       fs_layout, FTL_MAX_TERMS);
			return -EINVAL;
		}
	} else {
		fs_stripe(l, n);
	}
	if (fs_parse_xor(l)) {
		pr_err(FS_NAME ": xor: '%s': want at most %u shifts from 1 to 31, commas between\n",
		       fs_xor, FTL_MAX_XORS);
		return -EINVAL;
	}
	if (ftl_layout_check(l, f->luns)) {
		pr_err(FS_NAME ": layout '%s', xor '%s': must give each of %u dies at most once a round; xor wants a power of two of them and shifts from 1 to 31\n",
		       fs_layout, fs_xor, f->luns);
		return -EINVAL;
	}
	return 0;
}

static u64 fs_time(enum fs_param_id id)
{
	return fs_value(id) * fs_value(FS_time_scale);
}

/* A capacity: what the profile says is divided by `shrink`. */
static u64 fs_capacity(enum fs_param_id id)
{
	u64 value = fs_value(id);

	if (fs_is_set(id) || !value)
		return value;
	return max_t(u64, div64_u64(value, fs_value(FS_shrink)), 1);
}

/*
 * Mapping unit and program. A drive without a write buffer has nowhere to put
 * parts of a page together, so what a profile says about them does not hold.
 */
static int fs_units_cfg(u32 *map_kb, u32 *prog_pages)
{
	u32 page_kb = fs_value(FS_page_kb);
	bool split = fs_value(FS_wbuf_kb) && fs_value(FS_alloc) == FTL_DYNAMIC;

	*map_kb = fs_value(FS_map_kb);
	*prog_pages = fs_value(FS_prog_pages);
	if (!fs_is_set(FS_map_kb) && (!split || *map_kb > page_kb ||
				      fs_value(FS_profile) == FS_PROFILE_NONE))
		*map_kb = page_kb;
	if (!fs_is_set(FS_prog_pages) && !split)
		*prog_pages = 1;
	if (!is_power_of_2(page_kb) || !is_power_of_2(*map_kb) ||
	    *map_kb > page_kb) {
		pr_err(FS_NAME ": page_kb %u, map_kb %u: want powers of two, map_kb at most page_kb\n",
		       page_kb, *map_kb);
		return -EINVAL;
	}
	if (!split && (*map_kb != page_kb || *prog_pages != 1)) {
		pr_err(FS_NAME ": map_kb %u, prog_pages %u: want page_kb and 1 without alloc=dynamic and wbuf_kb\n",
		       *map_kb, *prog_pages);
		return -EINVAL;
	}
	if (page_kb / *map_kb * *prog_pages > FTL_MAX_PROG) {
		pr_err(FS_NAME ": page_kb / map_kb * prog_pages is %u: want at most %u\n",
		       page_kb / *map_kb * *prog_pages, FTL_MAX_PROG);
		return -EINVAL;
	}
	if (fs_value(FS_pages_per_block) % *prog_pages) {
		pr_err(FS_NAME ": pages_per_block %llu: want a multiple of prog_pages, which is %u\n",
		       fs_value(FS_pages_per_block), *prog_pages);
		return -EINVAL;
	}
	return 0;
}

/* Checks what belongs together and fills in both configurations. */
static int fs_config(struct sim_cfg *c, struct ftl_cfg *f)
{
	struct nand_cfg *n = &c->nand;
	u32 map_kb, prog_pages, per_page;
	u64 scale = fs_value(FS_time_scale), units;
	int ret;

	n->channels = fs_value(FS_channels);
	n->ways = fs_value(FS_ways);
	n->dies = fs_value(FS_dies);
	n->ps_per_byte = div64_u64(1000000 * scale, fs_value(FS_bus_mbps));
	n->suspend = fs_time(FS_suspend_us) * NSEC_PER_USEC;
	n->order = fs_value(FS_order);
	n->keep = fs_value(FS_page_register);
	if (n->channels * n->ways > NAND_MAX_CHIPS) {
		pr_err(FS_NAME ": channels * ways is %u: want at most %u chips\n",
		       n->channels * n->ways, NAND_MAX_CHIPS);
		return -ERANGE;
	}
	ret = fs_units_cfg(&map_kb, &prog_pages);
	if (ret)
		return ret;
	if (!is_power_of_2(fs_value(FS_max_kb)) ||
	    fs_value(FS_max_kb) < map_kb) {
		pr_err(FS_NAME ": max_kb %llu: want a power of two from map_kb (%u) to 1024\n",
		       fs_value(FS_max_kb), map_kb);
		return -EINVAL;
	}

	c->t_read = fs_time(FS_t_read_ns);
	c->t_prog = fs_time(FS_t_prog_ns);
	c->t_prog_slc = fs_time(FS_t_prog_slc_ns);
	c->t_erase = fs_time(FS_t_erase_ns);
	c->ps_link = div64_u64(1000000 * scale, fs_value(FS_link_mbps));
	c->duplex = fs_value(FS_link_duplex);
	c->fw_read = fs_time(FS_fw_read_ns);
	c->fw_write = fs_time(FS_fw_write_ns);
	c->fw_4k = fs_time(FS_fw_per4k_ns);
	c->cmd_read = fs_time(FS_cmd_read_ns);
	c->cmd_write = fs_time(FS_cmd_write_ns);
	c->turn = fs_time(FS_turn_ns);
	c->exponential = fs_value(FS_service);
	c->vary = fs_value(FS_vary_permille);
	c->unit = map_kb << 10;
	c->page = (u32)fs_value(FS_page_kb) << 10;
	c->sectors = fs_capacity(FS_size_mb) << 11;
	c->offset = fs_value(FS_offset_sectors);
	c->slc_idle = FS_SLC_IDLE_NS * scale;
	c->ranges = fs_value(FS_ranges);
	c->series = fs_value(FS_series_ms) * NSEC_PER_MSEC;
	c->seed = fs_value(FS_seed);

	f->luns = n->channels * n->ways * n->dies;
	per_page = c->page / c->unit;
	f->per_page = per_page;
	f->per_prog = per_page * prog_pages;
	f->per_block = per_page * (u32)fs_value(FS_pages_per_block);
	f->alloc = fs_value(FS_alloc);
	f->gc = fs_value(FS_gc);
	f->whole = fs_value(FS_gc_step) == FS_STEP_WHOLE;
	units = div64_u64((c->sectors + c->offset) * SIM_SECTOR + c->unit - 1,
			  c->unit);
	if (units >= 1U << 30) {
		pr_err(FS_NAME ": size_mb %llu is %llu mapping units: want less than 2^30, see shrink\n",
		       c->sectors >> 11, units);
		return -ERANGE;
	}
	f->units = units;
	if (f->alloc == FTL_STATIC) {
		if (f->gc == FTL_GC_DEVICE) {
			pr_err(FS_NAME ": gc device: want alloc=dynamic, as it moves pages to other dies\n");
			return -EINVAL;
		}
		ret = fs_layout_cfg(f, n);
		if (ret)
			return ret;
	} else if (f->gc == FTL_GC_NONE) {
		pr_err(FS_NAME ": gc none: want alloc=static, as a log has to be collected\n");
		return -EINVAL;
	} else if (fs_layout[0] || fs_xor[0]) {
		pr_err(FS_NAME ": layout '%s', xor '%s': want alloc=static for them\n",
		       fs_layout, fs_xor);
		return -EINVAL;
	}
	c->buffer = (u32)fs_value(FS_wbuf_kb) / map_kb;
	if (fs_value(FS_wbuf_kb) && c->buffer < f->per_prog) {
		pr_err(FS_NAME ": wbuf_kb %llu: want 0 or at least what a program takes, %u\n",
		       fs_value(FS_wbuf_kb), f->per_prog * map_kb);
		return -EINVAL;
	}
	if (c->buffer && f->gc == FTL_GC_NONE) {
		pr_err(FS_NAME ": wbuf_kb %llu: want 0 with gc=none, which keeps no map\n",
		       fs_value(FS_wbuf_kb));
		return -EINVAL;
	}
	if (fs_capacity(FS_slc_mb) && !c->buffer) {
		pr_err(FS_NAME ": slc_mb %llu: want 0 without a write buffer\n",
		       fs_capacity(FS_slc_mb));
		return -EINVAL;
	}
	c->slc = div64_u64(fs_capacity(FS_slc_mb) << 20,
			   (u64)f->per_prog * c->unit * f->luns);
	return 0;
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
	/* Two open ones, one for copies, and one that there is to collect. */
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
	/* First of all: going through a map that no memory holds takes long. */
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

static const struct blk_mq_ops fs_mq_ops = {
	.queue_rq	= fs_queue_rq,
	.complete	= fs_complete_rq,
	.timeout	= fs_timeout_rq,
};

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
	dev->set.cmd_size = struct_size_t(struct fs_rq, rq.cmd,
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
	 * Newer kernels close what they have looked for partitions in when the
	 * caller returns to user space. A module that could not be loaded is
	 * gone by then.
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

static void fs_debugfs_add(struct fs_dev *dev)
{
	struct dentry *dir = debugfs_create_dir(dev->disk->disk_name,
						fs_debugfs);

	debugfs_create_file("stats", 0444, dir, dev, &fs_stats_fops);
	debugfs_create_file("reset", 0200, dir, dev, &fs_reset_fops);
	debugfs_create_file("hold", 0200, dir, dev, &fs_hold_fops);
	debugfs_create_file("log", 0444, dir, dev, &fs_log_fops);
	debugfs_create_file("series", 0444, dir, dev, &fs_series_fops);
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
	spin_lock_init(&dev->lock);
	xa_init(&dev->pages);
	dev->nr = nr;
	dev->data = fs_value(FS_data);
	dev->max_pages = fs_value(FS_data_mb) << (20 - PAGE_SHIFT);
	dev->armed = SIM_NEVER;
	dev->kept_end = &dev->kept;
	dev->may_end = FS_ALL;
	elv_hrtimer_setup(&dev->timer, fs_timer, FS_TIMER_MODE);
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
	fs_debugfs_add(dev);
	fs_devs[nr] = dev;
	fs_nr_devs = nr + 1;
	return 0;
}

static void fs_del_disk(struct fs_dev *dev)
{
	lockdep_assert_held(&fs_mutex);

	if (dev->removed)
		return;
	dev->removed = true;
	/* Whoever removes the disk waits for what it has. */
	fs_hold(dev, FS_ALL, true);
	del_gendisk(dev->disk);
}

/**
 * fs_remove - take a device away, whatever uses it
 * @nr: which
 *
 * Its statistics stay until the module goes.
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
