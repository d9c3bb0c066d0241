// SPDX-License-Identifier: GPL-2.0
/*
 * layer_read.c - Layer_Read, reads in sub-layers by address
 *
 * L. Han, Y. Lin, W. Jia: "A New I/O Scheduler Designed for SSD through Exploring
 * Performance Characteristics".
 *
 * The address range of a flash drive is divided into sub-layers, two for each of
 * its chips. Reads wait in that of their first sector and go from one after the
 * other, some of each, in order of address, or at once if they have waited too
 * long; writes wait in one FIFO. Long runs of one direction keep reads and writes
 * from getting into each other's way, and front merges are not worth their cost.
 *
 * Who waits where is in layer_order.h, who goes next in layer_pick.h: the paper's
 * order, and mode auto, which is ours. Here is what connects that with the block
 * layer.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "../common/elevator/iosched.h"
#include "layer_pick.h"

/*
 * chips: the paper's N; its drive has 8. 0 is for comparisons.
 * per_layer, batch_read, batch_write: the paper's parameters and values.
 * read_expire_ms, write_expire_ms: the paper gives no value; these are Deadline's.
 * max_inflight: 0: mode auto follows the device, mode paper has no bound.
 * lba_offset_sectors: only its remainder modulo the layout's period matters.
 * front_merges, sort_writes: the schedulers that the paper compares with have them.
 * inline_dispatch: see elevator.c.
 */
#define LAYER_TUNABLES(X)					\
	X(chips, 0, 128, 8,						\
	  "chips of the drive, with two sub-layers each, 0 = one sub-layer") \
	X(per_layer, 1, 65535, 8,					\
	  "reads of a sub-layer in a row")				\
	X(batch_read, 1, 65535, 16,					\
	  "reads in a row while writes wait")				\
	X(batch_write, 1, 65535, 20,					\
	  "writes in a row while reads wait")				\
	X(read_expire_ms, 0, 600000, 500,				\
	  "wait after which a read is served first, in ms, 0 = never")	\
	X(write_expire_ms, 0, 600000, 5000,				\
	  "wait after which a write is served first in mode auto, in ms, 0 = never") \
	X(max_inflight, 0, 65535, 0,					\
	  "requests in the device at once, 0 = by mode")		\
	X(lba_offset_sectors, 0, 2147483647, 0,				\
	  "start of this device on the drive, in sectors of 512 bytes, for layout") \
	X(front_merges, 0, 1, 0,					\
	  "merges in front of a request (1 = on)")			\
	X(sort_writes, 0, 1, 0,						\
	  "order of writes: by arrival (0) or by sort (1)")		\
	X(inline_dispatch, 0, 1, 1,					\
	  "issue by the submitting task (1) or left to the block layer (0)")

#define LAYER_TEXTS(X)						\
	X(mode, layer_check_mode, "auto", "one of auto paper",	\
	  "scheduling mode")					\
	X(layout, flash_layout_check, "none",			\
	  "none, page=BYTES chips=N or page=BYTES terms=DIV:MOD:MUL,...",	\
	  "map from pages to flash chips")				\
	X(sort, layer_check_sort, "sector",			\
	  "one of sector fifo small big",				\
	  "order of the requests of a sub-layer")

static const char * const layer_modes[LAYER_NR_MODES] = {
	[LAYER_AUTO]	= "auto",
	[LAYER_PAPER]	= "paper",
};

static const char * const layer_sorts[LAYER_NR_SORTS] = {
	[LAYER_SECTOR]	= "sector",
	[LAYER_FIFO]	= "fifo",
	[LAYER_SMALL]	= "small",
	[LAYER_BIG]	= "big",
};

static int layer_check_mode(const char *text)
{
	return flash_word_check(layer_modes, LAYER_NR_MODES, text);
}

static int layer_check_sort(const char *text)
{
	return flash_word_check(layer_sorts, LAYER_NR_SORTS, text);
}

FLASH_DEFINE_ATTRS(LAYER_TUNABLES, LAYER_TEXTS, FLASH_NONE, FLASH_NONE);

static_assert(FLASH_LAYOUT_LEN <= FLASH_TEXT_LEN);

/**
 * struct layer_rq - Layer_Read's record of a request
 * @fr: what every policy has
 * @it: its item
 */
struct layer_rq {
	struct flash_rq fr;
	struct layer_item it;
};

/**
 * struct layer_queue - Layer_Read on one device; all under flash_queue.lock
 * @fq: what every policy has
 * @s: who waits, and who goes next
 * @mode: the mode that the user has set; read without the lock
 * @sort: what the user wants sub-layers sorted by
 * @given: the layout that the user has set
 * @max: and how many requests may be in the device; 0: we find out
 */
struct layer_queue {
	struct flash_queue fq;
	struct layer_sched *s;
	enum layer_mode mode;
	enum layer_sort sort;
	struct flash_geometry given;
	unsigned int max;
};

static struct layer_queue *to_layer(struct flash_queue *fq)
{
	return container_of(fq, struct layer_queue, fq);
}

static struct layer_item *layer_it(struct flash_rq *fr)
{
	return &container_of(fr, struct layer_rq, fr)->it;
}

static struct flash_rq *layer_fr(struct layer_item *it)
{
	return &container_of(it, struct layer_rq, it)->fr;
}

/* Nobody tells of a change; one that is missed is seen at the next request. */
static u64 layer_capacity(const struct flash_queue *fq)
{
	struct gendisk *disk = fq->q->disk;

	return disk ? data_race(get_capacity(disk)) : 0;
}

static bool layer_read_holds(struct flash_queue *fq)
{
	struct layer_queue *lq = to_layer(fq);

	return layer_held(lq->s, lq->max);
}

/* Everything that the user has set is in force from here on. */
static void layer_apply(struct layer_queue *lq)
{
	struct flash_queue *fq = &lq->fq;
	struct layer_tunables tun = {
		.chips		= flash_tun(fq, TUN_chips),
		.per_layer	= flash_tun(fq, TUN_per_layer),
		.batch		= {
			[FLASH_READ]	= flash_tun(fq, TUN_batch_read),
			[FLASH_WRITE]	= flash_tun(fq, TUN_batch_write),
		},
		.expire		= {
			[FLASH_READ]	= flash_tun(fq, TUN_read_expire_ms) *
					  (u64)NSEC_PER_MSEC,
			[FLASH_WRITE]	= flash_tun(fq, TUN_write_expire_ms) *
					  (u64)NSEC_PER_MSEC,
		},
		.sort		= lq->sort,
		.sort_writes	= flash_tun(fq, TUN_sort_writes),
	};

	lockdep_assert_held(&fq->lock);

	layer_set(lq->s, lq->mode, &lq->given,
		  flash_tun(fq, TUN_lba_offset_sectors), layer_capacity(fq),
		  &tun);
	lq->max = flash_tun(fq, TUN_max_inflight);
	WRITE_ONCE(fq->bound, lq->max ? lq->max : UINT_MAX);
	fq->changed = true;
}

/* The sub-layers are parts of the device, which may have grown or shrunk. */
static void layer_look(struct layer_queue *lq)
{
	if (unlikely(layer_capacity(&lq->fq) != lq->s->capacity))
		layer_apply(lq);
}

/* Texts are legal before they are stored. */
static void layer_take_text(struct layer_queue *lq, unsigned int idx,
			    const char *text)
{
	switch (idx) {
	case TEXT_mode:
		WRITE_ONCE(lq->mode,
			   match_string(layer_modes, LAYER_NR_MODES, text));
		break;
	case TEXT_sort:
		lq->sort = match_string(layer_sorts, LAYER_NR_SORTS, text);
		break;
	default:
		flash_geometry_parse(text, &lq->given);
	}
}

static int layer_read_init(struct flash_queue *fq)
{
	struct layer_queue *lq = to_layer(fq);
	static const struct layer_tunables any = { .chips = 1 };
	unsigned int idx;

	lq->s = kvzalloc_node(sizeof(*lq->s), GFP_KERNEL, fq->q->node);
	if (!lq->s)
		return -ENOMEM;
	flash_lock(fq);
	layer_init(lq->s, &any);
	for (idx = 0; idx < NR_TEXT; idx++)
		layer_take_text(lq, idx, fq->disk->text[idx]);
	layer_apply(lq);
	lq->s->stats.rebuilt = 0;
	flash_unlock(fq);
	return 0;
}

static void layer_read_exit(struct flash_queue *fq)
{
	struct layer_queue *lq = to_layer(fq);
	const struct layer_sched *s = lq->s;

	WARN_ON_ONCE(layer_waiting(s) || s->out || s->pieces[FLASH_READ] ||
		     s->pieces[FLASH_WRITE] || s->occ.busy);
	kvfree(s);
}

static unsigned int layer_read_bio_class(struct flash_queue *fq, const struct bio *bio)
{
	return 0;
}

static unsigned int layer_read_rq_class(struct flash_queue *fq, const struct request *rq)
{
	return 0;
}

static enum flash_urgency layer_read_urgency(const struct flash_queue *fq, blk_opf_t opf)
{
	return FLASH_PATIENT;
}

/*
 * Writes that wait hold tags. With none left a read would sleep behind all who want
 * one to write, and there is no order of ours there. The paper's mode has no such
 * rule.
 */
static unsigned int layer_read_tag_limit(struct flash_queue *fq,
					 const struct blk_mq_hw_ctx *hctx, blk_opf_t opf)
{
	if (!op_is_write(opf) || READ_ONCE(to_layer(fq)->mode) == LAYER_PAPER)
		return 0;
	return elv_shallow_depth(hctx, FLASH_TAGS_KEPT);
}

static bool layer_read_front_merges(const struct flash_queue *fq)
{
	return flash_tun(fq, TUN_front_merges);
}

static void layer_read_insert(struct flash_queue *fq, struct flash_rq *fr)
{
	struct layer_queue *lq = to_layer(fq);
	struct request *rq = fr->rq;

	layer_look(lq);
	layer_add(lq->s, layer_it(fr), fr->seq, flash_dir_of(rq),
		  flash_sector_of(rq), blk_rq_sectors(rq), ktime_get_ns());
}

static struct flash_rq *layer_read_select(struct flash_queue *fq)
{
	struct layer_queue *lq = to_layer(fq);
	struct layer_item *it = layer_next(lq->s, lq->max, ktime_get_ns());

	return WARN_ON_ONCE(!it) ? NULL : layer_fr(it);
}

static void layer_read_started(struct flash_queue *fq, struct flash_rq *fr)
{
	struct layer_queue *lq = to_layer(fq);
	struct request *rq = fr->rq;

	layer_take(lq->s, layer_it(fr), flash_dir_of(rq), flash_sector_of(rq),
		   blk_rq_sectors(rq));
}

static void layer_read_completed(struct flash_queue *fq, struct flash_rq *fr, bool ended)
{
	struct layer_queue *lq = to_layer(fq);

	layer_give(lq->s, layer_it(fr), ended, lq->max, ktime_get_ns());
}

static void layer_read_grown(struct flash_queue *fq, struct flash_rq *fr)
{
	layer_grow(to_layer(fq)->s, layer_it(fr), flash_sector_of(fr->rq),
		   blk_rq_sectors(fr->rq));
}

static void layer_read_merged(struct flash_queue *fq, struct flash_rq *fr,
			      struct flash_rq *gone)
{
	struct layer_item *it = layer_it(fr);

	layer_absorb(to_layer(fq)->s, it, layer_it(gone), flash_sector_of(fr->rq),
		     blk_rq_sectors(fr->rq));
	fr->seq = it->seq;
}

static void layer_read_tuned(struct flash_queue *fq, unsigned int idx)
{
	struct layer_queue *lq = to_layer(fq);

	if (idx == TUN_inline_dispatch || idx == TUN_front_merges)
		return;
	flash_lock(fq);
	layer_apply(lq);
	flash_unlock(fq);
	flash_resume(fq);
}

static void layer_read_text_tuned(struct flash_queue *fq, unsigned int idx,
				  const char *text)
{
	struct layer_queue *lq = to_layer(fq);

	flash_lock(fq);
	layer_take_text(lq, idx, text);
	layer_apply(lq);
	flash_unlock(fq);
	flash_resume(fq);
}

static int layer_read_stats(struct flash_queue *fq, char *page, int len)
{
	const struct layer_sched *s = to_layer(fq)->s;
	const struct layer_stats *st = &s->stats;

	len += sysfs_emit_at(page, len,
			     "layers %u\nlayer_sectors %llu\nrebuilt %llu\n"
			     "served_reads %llu\nserved_writes %llu\n"
			     "expired_reads %llu\nexpired_writes %llu\n"
			     "switches %llu\nmoves %llu\n",
			     s->nr_layers, layer_mapped(s) ? 0 : s->span,
			     st->rebuilt, st->served[FLASH_READ],
			     st->served[FLASH_WRITE], st->expired[FLASH_READ],
			     st->expired[FLASH_WRITE], st->switches, st->moves);
	len += sysfs_emit_at(page, len,
			     "read_pieces %u\nwrite_pieces %u\npieces_bound %u\n",
			     s->pieces[FLASH_READ], s->pieces[FLASH_WRITE],
			     flash_pace_bound(&s->pace));
	return len;
}

static void layer_read_arrays(struct flash_queue *fq, struct seq_file *m)
{
	const struct layer_sched *s = to_layer(fq)->s;
	unsigned int n;

	for (n = 0; n < s->nr_layers; n++)
		seq_printf(m, "layer%u waiting %u served %llu expired %llu out %u\n",
			   n, s->layer[n].waiting, s->layer[n].served,
			   s->layer[n].expired, flash_occupancy_on(&s->occ, n));
	seq_printf(m, "read queued %u\nwrite queued %u\n",
		   s->waiting[FLASH_READ], s->waiting[FLASH_WRITE]);
}

const struct flash_policy flash_policy = {
	.name		= "layer_read",
	.queue_size	= sizeof(struct layer_queue),
	.rq_size	= sizeof(struct layer_rq),
	.watches	= true,
	.tags_kept	= FLASH_TAGS_KEPT,
	FLASH_ATTRS,

	.init		= layer_read_init,
	.exit		= layer_read_exit,
	.urgency	= layer_read_urgency,
	.tag_limit	= layer_read_tag_limit,
	.bio_class	= layer_read_bio_class,
	.front_merges	= layer_read_front_merges,
	.rq_class	= layer_read_rq_class,
	.insert		= layer_read_insert,
	.grown		= layer_read_grown,
	.merged		= layer_read_merged,
	.select		= layer_read_select,
	.started	= layer_read_started,
	.completed	= layer_read_completed,
	.holds		= layer_read_holds,
	.tuned		= layer_read_tuned,
	.text_tuned	= layer_read_text_tuned,
	.stats		= layer_read_stats,
	.arrays		= layer_read_arrays,
};

MODULE_ALIAS("layer_read-iosched");
MODULE_DESCRIPTION("Layer_Read I/O scheduler: reads in sub-layers by address");
MODULE_LICENSE("GPL");
