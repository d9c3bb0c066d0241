// SPDX-License-Identifier: GPL-2.0
/*
 * rqtable.c - two records for each scheduler tag
 *
 * A request needs a place for the scheduler's own data from insertion to completion,
 * in contexts that cannot allocate. Each hardware queue has a table with two records for
 * each of its scheduler tags: one for the latest request, and one for the request before
 * it: its end may not be drained yet (pending.c). Hardware queues with shared tags share
 * the table. The table changes only while the device is frozen, so no record is in use then.
 */
#include <linux/mm.h>
#include <linux/slab.h>

#include "iosched.h"

static void *flash_recs_alloc(struct blk_mq_hw_ctx *hctx)
{
	return kvzalloc_node(array3_size(compat_hctx_tags(hctx), 2, flash_policy.rq_size),
			     GFP_KERNEL, hctx->numa_node);
}

/* The table of another hardware queue that has the same tags, or NULL */
static void *flash_recs_shared(struct flash_queue *fq,
					  struct blk_mq_hw_ctx *hctx)
{
	unsigned int n;

	for (n = 0; n < fq->nr_hctx; n++)
		if (fq->hctx[n] && fq->hctx[n]->hctx != hctx &&
		    fq->hctx[n]->hctx->sched_tags == hctx->sched_tags)
			return fq->hctx[n]->recs;
	return NULL;
}

/**
 * flash_hctx_init - set up one hardware queue
 * @fq: the device
 * @hctx: the hardware queue; its sched_data is set
 *
 * The device is frozen. Return: 0 or -ENOMEM.
 */
int flash_hctx_init(struct flash_queue *fq, struct blk_mq_hw_ctx *hctx)
{
	struct flash_hctx *fh;

	if (WARN_ON_ONCE(hctx->queue_num >= fq->nr_hctx))
		return -EINVAL;
	fh = kzalloc_node(sizeof(*fh), GFP_KERNEL, hctx->numa_node);
	if (!fh)
		return -ENOMEM;
	fh->recs = flash_recs_shared(fq, hctx);
	if (!fh->recs)
		fh->recs = flash_recs_alloc(hctx);
	if (!fh->recs) {
		kfree(fh);
		return -ENOMEM;
	}
	compat_shallow_prepare(hctx, flash_policy.tags_kept);
	fh->nr_recs = compat_hctx_tags(hctx);
	fh->hctx = hctx;
	/* The module's debugfs file shows this device already. */
	spin_lock(&fq->lock);
	WRITE_ONCE(fq->hctx[hctx->queue_num], fh);
	spin_unlock(&fq->lock);
	hctx->sched_data = fh;
	if (flash_policy.tags_changed)
		flash_policy.tags_changed(fq);
	return 0;
}

/**
 * flash_hctx_exit - undo flash_hctx_init()
 * @fq: the device, frozen
 * @hctx: the hardware queue
 */
void flash_hctx_exit(struct flash_queue *fq, struct blk_mq_hw_ctx *hctx)
{
	struct flash_hctx *fh = hctx->sched_data;

	WARN_ON_ONCE(fh->queued);
	/* The debugfs file shows the device until exit_sched(). */
	flash_lock(fq);
	WRITE_ONCE(fq->hctx[hctx->queue_num], NULL);
	flash_unlock(fq);
	hctx->sched_data = NULL;
	/* The last one that shares the table frees it. */
	if (!flash_recs_shared(fq, hctx))
		kvfree(fh->recs);
	/* A timer may run at this moment, see flash_find(). */
	kfree_rcu(fh, rcu);
}

/**
 * flash_hctx_resize - follow a change of nr_requests
 * @hctx: a hardware queue of a frozen device
 *
 * Nothing is in flight, so no record is in use. A failure cannot be reported: the old
 * table stays, and requests without a record are not accounted. Shared tags have their
 * largest number from the start.
 */
void flash_hctx_resize(struct blk_mq_hw_ctx *hctx)
{
	struct flash_hctx *fh = hctx->sched_data;
	void *recs;

	if (!fh)
		return;
	compat_shallow_prepare(hctx, flash_policy.tags_kept);
	if (compat_hctx_tags(hctx) <= fh->nr_recs)
		return;
	recs = flash_recs_alloc(hctx);
	if (!recs)
		return;
	/* The latest ends are drained before their records are freed. */
	flash_lock(compat_queue_data(hctx->queue));
	flash_unlock(compat_queue_data(hctx->queue));
	kvfree(fh->recs);
	fh->recs = recs;
	fh->nr_recs = compat_hctx_tags(hctx);
}
