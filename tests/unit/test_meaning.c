// SPDX-License-Identifier: GPL-2.0
/* What a kernel means by shallow_depth is found, and an allocation without a queue gets one. */
#define FLASH_COMPAT_H
#include <linux/kernel.h>
#include "tap.h"

#define __init
#define __ro_after_init
#define GFP_KERNEL		0
#define NUMA_NO_NODE		(-1)
#define REQ_OP_MASK		0xffU
#define REQ_OP_READ		0U
#define REQ_OP_WRITE		1U
#define REQ_POLLED		(1U << 20)
#define raw_smp_processor_id()	this_cpu
typedef u32 blk_opf_t;
enum { HCTX_TYPE_DEFAULT, HCTX_TYPE_READ, HCTX_TYPE_POLL, HCTX_TYPES };

/* A bitmap that grants as kernels with either unit do */
struct sbitmap { unsigned int depth, shift; };
struct sbitmap_queue {
	struct sbitmap sb;
	unsigned int least, granted;
};

static bool per_word;
static int init_fails, below_least, freed;

static int sbitmap_queue_init_node(struct sbitmap_queue *sbq, unsigned int depth, int shift,
				   bool round_robin, int flags, int node)
{
	*sbq = (struct sbitmap_queue) {
		.sb = { .depth = depth, .shift = (unsigned int)shift },
		.least = UINT_MAX,
	};
	(void)round_robin, (void)flags, (void)node;
	return init_fails;
}

static void sbitmap_queue_min_shallow_depth(struct sbitmap_queue *sbq, unsigned int least)
{
	sbq->least = least;
}

static int sbitmap_queue_get_shallow(struct sbitmap_queue *sbq, unsigned int limit)
{
	unsigned int word = 1U << sbq->sb.shift, words = sbq->sb.depth / word;
	unsigned int all = per_word ? words * min(limit, word) : limit;

	below_least += limit < sbq->least;
	return sbq->granted < all ? (int)sbq->granted++ : -1;
}

static void sbitmap_queue_free(struct sbitmap_queue *sbq)
{
	(void)sbq;
	freed++;
}

/* A disk */
struct blk_mq_queue_map {
	unsigned int *mq_map, nr_queues;
};
struct blk_mq_tag_set {
	struct blk_mq_queue_map map[HCTX_TYPES];
	unsigned int nr_maps;
};
struct blk_mq_tags {
	struct sbitmap_queue bitmap_tags;
};
struct blk_mq_hw_ctx {
	struct blk_mq_tags *sched_tags;
};
struct request_queue {
	struct blk_mq_tag_set *tag_set;
	struct blk_mq_hw_ctx *hctx[4];
	unsigned int nr_hw_queues;
};
struct blk_mq_alloc_data {
	struct request_queue *q;
	unsigned int cmd_flags, shallow_depth;
	struct blk_mq_hw_ctx *hctx;
};

static unsigned int this_cpu;

#define queue_for_each_hw_ctx(q, hctx, i) \
	for ((i) = 0; (i) < (q)->nr_hw_queues && ((hctx) = (q)->hctx[i]); (i)++)

static unsigned int compat_hctx_depth(const struct blk_mq_hw_ctx *hctx)
{
	return hctx->sched_tags->bitmap_tags.sb.depth;
}

#include "common/elevator/meaning.h"
#include "common/elevator/meaning.c"

static struct blk_mq_tags tags = { .bitmap_tags.sb = { .depth = 200, .shift = 5 } };
static struct blk_mq_hw_ctx queues[4] = { { &tags }, { &tags }, { &tags }, { &tags } };

static void unit_of_a_limit(void)
{
	per_word = true;
	eq(compat_meaning_init(), 0, "the trial ends");
	eq(compat_shallow_per_word, true, "each word grants the limit: it is a word's");
	eq(compat_shallow_unit(&queues[0]), 32, "the unit is a word");
	tags.bitmap_tags.sb.depth = 20;
	eq(compat_shallow_unit(&queues[0]), 20, "or all tags, if they are fewer");
	tags.bitmap_tags.sb.depth = 200;

	per_word = false;
	eq(compat_meaning_init(), 0, "the trial ends");
	eq(compat_shallow_per_word, false, "all words together grant the limit: it is the bitmap's");
	eq(compat_shallow_unit(&queues[0]), 200, "the unit is the bitmap");
	eq(freed, 2, "the bitmaps are freed");
	eq(below_least, 0, "no limit is below the one that was announced");

	init_fails = -ENOMEM;
	eq(compat_meaning_init(), -ENOMEM, "without memory the trial fails");
	eq(freed, 2, "and frees nothing");
}

/* Number of the queue for which limit_depth() was called, -1: it was not */
static long limited;

static void limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	if (!data->hctx) {
		compat_limit_early(opf, data, limit_depth);
		return;
	}
	limited = data->hctx - queues;
	data->shallow_depth = 10 + opf;
}

static long queue_of(struct blk_mq_alloc_data *data)
{
	limited = -1;
	limit_depth(data->cmd_flags & REQ_OP_MASK, data);
	return limited;
}

static void queue_of_an_allocation(void)
{
	unsigned int plain[] = { 0, 1 }, reads[] = { 2, 2 }, polls[] = { 3, 3 };
	struct blk_mq_tag_set set = {
		.map = { { plain, 2 }, { reads, 1 }, { polls, 1 } },
		.nr_maps = HCTX_TYPES,
	};
	struct request_queue q = {
		.tag_set = &set, .nr_hw_queues = 4,
		.hctx = { &queues[0], &queues[1], &queues[2], &queues[3] },
	};
	struct blk_mq_alloc_data data = { .q = &q, .cmd_flags = REQ_OP_WRITE };

	this_cpu = 1;
	eq(queue_of(&data), 1, "without a queue, that of the CPU");
	eq(data.shallow_depth, 11, "and its limit");
	eq(data.hctx == NULL, true, "the core still has to choose");
	data.cmd_flags = REQ_OP_READ;
	eq(queue_of(&data), 2, "of reads, if they have their own");
	data.cmd_flags = REQ_OP_READ | REQ_POLLED;
	eq(queue_of(&data), 3, "of polled requests, if they have their own");
	set.nr_maps = 1;
	eq(queue_of(&data), 1, "otherwise the default one");
	set.nr_maps = HCTX_TYPES;
	set.map[HCTX_TYPE_POLL].nr_queues = 0;
	eq(queue_of(&data), 1, "also if their map is empty");
	q.nr_hw_queues = 1;
	data.shallow_depth = 0;
	eq(queue_of(&data), -1, "none if there is no such queue");
	eq(data.shallow_depth, 0, "and no limit");
}

int main(void)
{
	unit_of_a_limit();
	queue_of_an_allocation();
	return tap_done();
}
