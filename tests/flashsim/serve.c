// SPDX-License-Identifier: GPL-2.0
/*
 * serve.c - requests of flashsim's devices, from the block layer and back
 *
 * Submits requests to the model in sim.c, arms an hrtimer for its next event,
 * copies the data and injects faults. Data are copied when a request is issued;
 * the request completes at the model's time.
 *
 * Block devices do not define the result of a read concurrent with a write to the same
 * sectors, so the data have no lock.
 */
#include <linux/blk-mq.h>
#include <linux/highmem.h>
#include <linux/hrtimer.h>
#include <linux/xarray.h>

#include "../../common/elevator/compat.h"
#include "dev.h"

/* Time */

/*
 * In hard interrupt context, except on PREEMPT_RT, where spin locks sleep and
 * the timer runs in a softirq.
 */
#define FS_TIMER_MODE		HRTIMER_MODE_ABS

/* Appends @ended to the held requests, and returns those that may complete, in order. */
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

/**
 * fs_run - process all events that are due
 * @dev: the device, locked
 *
 * Return: the requests to complete, without the lock.
 */
struct sim_rq *fs_run(struct fs_dev *dev)
{
	struct sim_rq *ended;

	lockdep_assert_held(&dev->lock);

	ended = sim_run(&dev->sim, max(ktime_get_ns(), dev->sim.now));
	if (likely(dev->may_end == FS_ALL && !dev->kept))
		return ended;
	return fs_let_go(dev, ended);
}

/**
 * fs_arm - arm the timer for the model's next event
 * @dev: the device, locked
 */
void fs_arm(struct fs_dev *dev)
{
	u64 next = sim_next(&dev->sim);

	lockdep_assert_held(&dev->lock);

	if (next >= dev->armed)
		return;
	dev->armed = next;
	hrtimer_start(&dev->timer, ns_to_ktime(next), FS_TIMER_MODE);
}

/**
 * fs_end - complete requests
 * @ended: requests returned by fs_run()
 */
void fs_end(struct sim_rq *ended)
{
	struct sim_rq *next;

	for (; ended; ended = next) {
		struct fs_rq *fr = container_of(ended, struct fs_rq, rq);

		next = ended->next;
		/* A request that shall time out waits for the block layer's timeout. */
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
 * Discarded or zeroed sectors read as zero. Their pages stay allocated, because
 * a read on another CPU may be copying them.
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

/* Whether faults apply to this request. */
static bool fs_target(struct request *rq)
{
	u64 first = fs_value(FS_fault_sector), nr = fs_value(FS_fault_sectors);
	u64 pos = blk_rq_pos(rq);

	if (!(fs_fault_ops() & (req_op(rq) == REQ_OP_READ ? 1 : 2)))
		return false;
	return !nr || (pos < first + nr && pos + blk_rq_sectors(rq) > first);
}

/* Draws the fate of a request; false: it is refused for now. */
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
	/* A request that will fail changes no data. */
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
	 * A slow request is no fault: with time_scale it may take this long.
	 * A request that shall time out cannot complete while the model has it.
	 */
	if (fr->fate != FS_TIMEOUT || !READ_ONCE(fr->ended))
		return BLK_EH_RESET_TIMER;
	blk_mq_complete_request(rq);
	return BLK_EH_DONE;
}

const struct blk_mq_ops fs_mq_ops = {
	.queue_rq	= fs_queue_rq,
	.complete	= fs_complete_rq,
	.timeout	= fs_timeout_rq,
};

/**
 * fs_hold - hold back requests at completion
 * @dev: the device
 * @nr: number of requests that may still complete; FS_ALL: all
 * @closing: never hold requests again, because the device is being removed
 *
 * Return: 0, or -ENODEV if the device is already being removed.
 */
int fs_hold(struct fs_dev *dev, unsigned int nr, bool closing)
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

/**
 * fs_serve_init - initialise a device's state for requests
 * @dev: the device, all zero
 */
void fs_serve_init(struct fs_dev *dev)
{
	spin_lock_init(&dev->lock);
	xa_init(&dev->pages);
	dev->armed = SIM_NEVER;
	dev->kept_end = &dev->kept;
	dev->may_end = FS_ALL;
	compat_hrtimer_setup(&dev->timer, fs_timer, FS_TIMER_MODE);
}
