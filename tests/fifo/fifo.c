// SPDX-License-Identifier: GPL-2.0
/*
 * fifo.c - the smallest possible I/O scheduler
 *
 * A list and a lock for each hardware queue, no merging, and the order of
 * arrival. scripts/bench-cost compares real schedulers with it: the
 * block layer uses another path as soon as any scheduler is selected, and the
 * cost of that path must not count as a policy's.
 */
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../../common/elevator/compat.h"

/**
 * struct fifo_hctx - one hardware queue
 * @lock: protects @requests
 * @requests: in the order of dispatch
 */
struct fifo_hctx {
	spinlock_t lock;
	struct list_head requests;
};

static void fifo_insert_requests(struct blk_mq_hw_ctx *hctx,
				 struct list_head *list, blk_insert_t how)
{
	struct fifo_hctx *fh = hctx->sched_data;

	spin_lock(&fh->lock);
	if (how & BLK_MQ_INSERT_AT_HEAD)
		list_splice_init(list, &fh->requests);
	else
		list_splice_tail_init(list, &fh->requests);
	spin_unlock(&fh->lock);
}

static struct request *fifo_dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct fifo_hctx *fh = hctx->sched_data;
	struct request *rq;

	spin_lock(&fh->lock);
	rq = list_first_entry_or_null(&fh->requests, struct request, queuelist);
	if (rq)
		list_del_init(&rq->queuelist);
	spin_unlock(&fh->lock);
	return rq;
}

static bool fifo_has_work(struct blk_mq_hw_ctx *hctx)
{
	struct fifo_hctx *fh = hctx->sched_data;

	return !list_empty_careful(&fh->requests);
}

/* Newer kernels register no scheduler without this hook. */
static void fifo_finish_request(struct request *rq)
{
}

static int fifo_init_sched(struct request_queue *q, compat_init_arg_t *arg)
{
	struct elevator_queue *eq;
	unsigned int noio;

	/* The queue is frozen: reclaim must not wait for I/O to this device. */
	noio = memalloc_noio_save();
	eq = compat_queue_get(q, arg);
	memalloc_noio_restore(noio);
	if (!eq)
		return -ENOMEM;

	/* Each hardware queue has its own list, so each has to be run. */
	blk_queue_flag_clear(QUEUE_FLAG_SQ_SCHED, q);
	compat_queue_attach(q, eq, NULL);
	return 0;
}

static int fifo_init_hctx(struct blk_mq_hw_ctx *hctx, unsigned int idx)
{
	unsigned int noio = memalloc_noio_save();
	struct fifo_hctx *fh;

	fh = kzalloc_node(sizeof(*fh), GFP_KERNEL, hctx->numa_node);
	memalloc_noio_restore(noio);
	if (!fh)
		return -ENOMEM;
	spin_lock_init(&fh->lock);
	INIT_LIST_HEAD(&fh->requests);
	hctx->sched_data = fh;
	return 0;
}

static void fifo_exit_hctx(struct blk_mq_hw_ctx *hctx, unsigned int idx)
{
	struct fifo_hctx *fh = hctx->sched_data;

	WARN_ON_ONCE(!list_empty(&fh->requests));
	hctx->sched_data = NULL;
	kfree(fh);
}

static struct elevator_type fifo_elevator = {
	.ops = {
		.init_sched		= fifo_init_sched,
		.init_hctx		= fifo_init_hctx,
		.exit_hctx		= fifo_exit_hctx,
		.insert_requests	= fifo_insert_requests,
		.dispatch_request	= fifo_dispatch_request,
		.has_work		= fifo_has_work,
		.finish_request		= fifo_finish_request,
	},
	.elevator_name	= "fifo",
	.elevator_owner	= THIS_MODULE,
};

static int __init fifo_init(void)
{
	return elv_register(&fifo_elevator);
}

static void __exit fifo_exit(void)
{
	elv_unregister(&fifo_elevator);
}

module_init(fifo_init);
module_exit(fifo_exit);

MODULE_DESCRIPTION("FIFO I/O scheduler, for measurements");
MODULE_ALIAS("fifo-iosched");
MODULE_LICENSE("GPL");
