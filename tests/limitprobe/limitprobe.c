// SPDX-License-Identifier: GPL-2.0
/*
 * limitprobe.c - call a scheduler's limit_depth() with and without a queue
 *
 * Linux 6.1 before 6.1.105 calls limit_depth() before it chooses the hardware
 * queue, with blk_mq_alloc_data.hctx == NULL. Those kernels are not available
 * everywhere, so this module makes the same call on any kernel:
 *
 *	insmod limitprobe.ko disk=/dev/nullb0
 *
 * It prints one line for each operation, with the shallow_depth that the
 * scheduler set with the hardware queue and without it, and loads only if each
 * call returned. The user must not change the disk's scheduler in between.
 */
#include <linux/fs.h>
#include <linux/smp.h>

#include "../../common/elevator/compat.h"

static char *disk = "";
module_param(disk, charp, 0444);
MODULE_PARM_DESC(disk, "path of a block device that has a scheduler");

/* shallow_depth that the scheduler of @q sets for an allocation; 0: no limit */
static unsigned int limit_of(struct request_queue *q, blk_opf_t opf,
			     struct blk_mq_hw_ctx *hctx)
{
	struct blk_mq_alloc_data data = {
		.q		= q,
		.cmd_flags	= opf,
		.hctx		= hctx,
	};

	q->elevator->type->ops.limit_depth(opf, &data);
	return data.shallow_depth;
}

static int limit_probe(struct request_queue *q)
{
	static const struct {
		const char *name;
		blk_opf_t opf;
	} ops[] = {
		{ "read",	REQ_OP_READ },
		{ "write",	REQ_OP_WRITE },
		{ "sync_write",	REQ_OP_WRITE | REQ_SYNC },
		{ "polled_read", REQ_OP_READ | REQ_POLLED },
		{ "discard",	REQ_OP_DISCARD },
	};
	struct blk_mq_hw_ctx *hctx;
	unsigned long n;
	unsigned int i;

	if (!q->elevator || !q->elevator->type->ops.limit_depth)
		return -EINVAL;
	queue_for_each_hw_ctx(q, hctx, n)
		if (cpumask_test_cpu(raw_smp_processor_id(), hctx->cpumask))
			break;
	for (i = 0; i < ARRAY_SIZE(ops); i++)
		pr_info("limitprobe: %s %u %u\n", ops[i].name,
			limit_of(q, ops[i].opf, hctx),
			limit_of(q, ops[i].opf, NULL));
	return 0;
}

static int __init limitprobe_init(void)
{
	struct file *file = filp_open(disk, O_RDONLY, 0);
	struct inode *inode;
	int ret = -ENOTBLK;

	if (IS_ERR(file))
		return PTR_ERR(file);
	inode = file->f_mapping->host;
	if (S_ISBLK(inode->i_mode)) {
		/* The two calls for one operation see one CPU's queue. */
		migrate_disable();
		ret = limit_probe(bdev_get_queue(I_BDEV(inode)));
		migrate_enable();
	}
	filp_close(file, NULL);
	return ret;
}

static void __exit limitprobe_exit(void)
{
}

module_init(limitprobe_init);
module_exit(limitprobe_exit);

MODULE_DESCRIPTION("Test: limit_depth() without a hardware queue");
MODULE_LICENSE("GPL");
