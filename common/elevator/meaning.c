// SPDX-License-Identifier: GPL-2.0
/*
 * meaning.c - finds out what the kernel means by a value; meaning.h lists these values
 */
#include "compat.h"

/* A tag bitmap of four words with eight tags each, and a limit of four tags */
#define TRIAL_WORDS	4
#define TRIAL_SHIFT	3
#define TRIAL_LIMIT	4

bool compat_shallow_per_word __ro_after_init;

/**
 * compat_meaning_init - find the unit of shallow_depth
 *
 * A private bitmap grants as many tags as its limit allows. If the limit is that of a word,
 * each word grants that number, otherwise the words together grant about that number.
 *
 * Return: 0 or -ENOMEM.
 */
int __init compat_meaning_init(void)
{
	const unsigned int all = TRIAL_WORDS << TRIAL_SHIFT;
	struct sbitmap_queue tags;
	unsigned int granted = 0;
	int ret;

	ret = sbitmap_queue_init_node(&tags, all, TRIAL_SHIFT, false, GFP_KERNEL,
				      NUMA_NO_NODE);
	if (ret)
		return ret;
	sbitmap_queue_min_shallow_depth(&tags, TRIAL_LIMIT);
	while (granted < all && sbitmap_queue_get_shallow(&tags, TRIAL_LIMIT) >= 0)
		granted++;
	sbitmap_queue_free(&tags);
	compat_shallow_per_word = granted >= TRIAL_WORDS * TRIAL_LIMIT;
	return 0;
}

/* The hardware queue that the core would choose on this CPU; NULL while queues change */
static struct blk_mq_hw_ctx *hctx_of_cpu(const struct blk_mq_alloc_data *data)
{
	const struct blk_mq_queue_map *map = data->q->tag_set->map;
	unsigned int type = HCTX_TYPE_DEFAULT, wanted;
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	if (data->cmd_flags & REQ_POLLED)
		type = HCTX_TYPE_POLL;
	else if ((data->cmd_flags & REQ_OP_MASK) == REQ_OP_READ)
		type = HCTX_TYPE_READ;
	if (type >= data->q->tag_set->nr_maps || !map[type].nr_queues)
		type = HCTX_TYPE_DEFAULT;
	wanted = map[type].mq_map[raw_smp_processor_id()];
	/* Kernels keep the queues in an xarray or in a table; a loop works with both. */
	queue_for_each_hw_ctx(data->q, hctx, i) {
		if (i == wanted)
			return hctx;
	}
	return NULL;
}

/**
 * compat_limit_early - limit an allocation for which the core has not chosen a hardware queue
 * @opf: the operation
 * @data: the argument of limit_depth(), without a hardware queue
 * @limit: the function that is limit_depth(); it is called with a hardware queue
 *
 * If the task moves to another CPU before the core chooses, the limit counts the tags of the
 * wrong queue once. Without a queue for this CPU there is no limit.
 *
 * It is not inline and the last thing that limit_depth() does, so that limit_depth() needs no
 * stack frame.
 */
noinline void compat_limit_early(blk_opf_t opf, struct blk_mq_alloc_data *data,
				 void (*limit)(blk_opf_t opf,
					       struct blk_mq_alloc_data *data))
{
	struct blk_mq_alloc_data chosen = *data;

	chosen.hctx = hctx_of_cpu(data);
	if (!chosen.hctx)
		return;
	limit(opf, &chosen);
	data->shallow_depth = chosen.shallow_depth;
}
