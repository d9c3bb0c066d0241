// SPDX-License-Identifier: GPL-2.0
/*
 * layer_read.c - Layer_Read, reads in sub-layers by address
 *
 * L. Han, Y. Lin, W. Jia: "A New I/O Scheduler Designed for SSD through Exploring
 * Performance Characteristics".
 *
 * Problem: reads wait behind writes in a flash drive, because both need the same chips, and
 * each change of direction costs time.
 *
 * Algorithm: the address range of the drive is divided into sub-layers, two for each of
 * its chips. A read waits in the sub-layer of its first sector. Sub-layers dispatch some
 * reads each, round-robin, in order of address, or at once if a read has waited too
 * long. Writes wait in one FIFO. Long runs of one direction keep reads and writes apart.
 * Front merges are off, as the paper found that they do not pay.
 *
 * This file connects the algorithm with the block layer: tunables, hooks in the order of
 * a request's life, statistics, and the table of hooks. sublayer.c has the sub-layers and
 * their queues. select.c chooses the next request: the paper's order, and mode auto,
 * which is ours.
 *
 * Invariant: each request with a record passes insert, select, started and completed in
 * this order, or only the last two if it bypasses the queues. flash_queue.lock guards all
 * state but the tunables.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "../common/elevator/iosched.h"
#include "sublayer.h"

/*
 * chips: the paper's N; its drive has 8. 0 is for comparisons.
 * per_layer, batch_read, batch_write: the paper's parameters and values.
 * read_expire_ms, write_expire_ms: the paper gives no value; these are Deadline's.
 * max_inflight: with 0, mode auto finds its own limits, and mode paper has none.
 * lba_offset_sectors: only its remainder modulo the layout's period matters.
 * front_merges, sort_writes: for the schedulers that the paper compares with.
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
 * @fr: the record that all policies have
 * @part: its part in the order
 */
struct layer_rq {
	struct flash_rq fr;
	struct layer_part part;
};

/**
 * struct layer_queue - Layer_Read on one device
 * @fq: the structure that all policies have; its lock guards the rest
 * @s: queues and turns
 * @tun: the user's settings; @tun.mode is read without the lock, too
 */
struct layer_queue {
	struct flash_queue fq;
	struct layer_sched *s;
	struct layer_tunables tun;
};

static struct layer_queue *to_layer(struct flash_queue *fq)
{
	return container_of(fq, struct layer_queue, fq);
}

static struct layer_part *layer_part_of(struct flash_rq *fr)
{
	return &container_of(fr, struct layer_rq, fr)->part;
}

/* The disk's size; there is no notice of a change, so each insertion compares it. */
static u64 layer_capacity(const struct flash_queue *fq)
{
	struct gendisk *disk = fq->q->disk;

	return disk ? data_race(get_capacity(disk)) : 0;
}

/* Put the user's settings and the capacity into force. */
static void layer_apply(struct layer_queue *lq)
{
	struct flash_queue *fq = &lq->fq;
	struct layer_tunables *tun = &lq->tun;

	lockdep_assert_held(&fq->lock);

	tun->chips = flash_tun(fq, TUN_chips);
	tun->per_layer = flash_tun(fq, TUN_per_layer);
	tun->batch[FLASH_READ] = flash_tun(fq, TUN_batch_read);
	tun->batch[FLASH_WRITE] = flash_tun(fq, TUN_batch_write);
	tun->expire[FLASH_READ] = flash_tun(fq, TUN_read_expire_ms) *
				  (u64)NSEC_PER_MSEC;
	tun->expire[FLASH_WRITE] = flash_tun(fq, TUN_write_expire_ms) *
				   (u64)NSEC_PER_MSEC;
	tun->max_inflight = flash_tun(fq, TUN_max_inflight);
	tun->offset = flash_tun(fq, TUN_lba_offset_sectors);
	tun->sort_writes = flash_tun(fq, TUN_sort_writes);
	layer_set(lq->s, tun, layer_capacity(fq));
	flash_set_bound(fq, tun->max_inflight ? tun->max_inflight : UINT_MAX);
	flash_change(fq);
}

/* Store a text, which its check has accepted. */
static void layer_store_text(struct layer_queue *lq, unsigned int idx,
			     const char *text)
{
	switch (idx) {
	case TEXT_mode:
		WRITE_ONCE(lq->tun.mode,
			   match_string(layer_modes, LAYER_NR_MODES, text));
		break;
	case TEXT_sort:
		lq->tun.sort = match_string(layer_sorts, LAYER_NR_SORTS, text);
		break;
	default:
		flash_geometry_parse(text, &lq->tun.layout);
	}
}

static int layer_read_init(struct flash_queue *fq)
{
	struct layer_queue *lq = to_layer(fq);
	unsigned int idx;

	lq->s = kvzalloc_node(sizeof(*lq->s), GFP_KERNEL, fq->q->node);
	if (!lq->s)
		return -ENOMEM;
	flash_lock(fq);
	layer_init(lq->s);
	for (idx = 0; idx < NR_TEXT; idx++)
		layer_store_text(lq, idx, fq->disk->text[idx]);
	layer_apply(lq);
	lq->s->stats.rebuilt = 0;
	flash_unlock(fq);
	return 0;
}

static void layer_read_exit(struct flash_queue *fq)
{
	struct layer_sched *s = to_layer(fq)->s;
	const struct layer_flight *f = &s->flight;

	WARN_ON_ONCE(layer_nr_waiting(s) || f->out || f->pieces[FLASH_READ] ||
		     f->pieces[FLASH_WRITE] || f->occ.busy);
	kvfree(s);
}

/*
 * Waiting writes hold scheduler tags. If they held all of them, a read would sleep behind
 * the tasks that wait for a tag to write, out of our order. Mode paper has no such rule.
 */
static unsigned int layer_read_tag_limit(struct flash_queue *fq,
					 const struct blk_mq_hw_ctx *hctx, blk_opf_t opf)
{
	if (!op_is_write(opf) || READ_ONCE(to_layer(fq)->tun.mode) == LAYER_PAPER)
		return 0;
	return compat_shallow_depth(hctx, FLASH_TAGS_KEPT);
}

static bool layer_read_front_merges(const struct flash_queue *fq)
{
	return flash_tun(fq, TUN_front_merges);
}

static __always_inline void layer_read_arrived(struct flash_queue *fq, struct flash_rq *fr)
{
	layer_part_of(fr)->pieces = 0;
}

static __always_inline void layer_describe_rq(struct layer_part *part,
					      const struct request *rq)
{
	layer_describe(part, flash_dir_of(rq), flash_sector_of(rq),
		       blk_rq_sectors(rq));
}

static __always_inline void layer_insert_rq(struct flash_queue *fq, struct flash_rq *fr)
{
	struct layer_part *part = layer_part_of(fr);

	layer_describe_rq(part, fr->rq);
	part->seq = fr->seq;
	part->arrived = fq->now;
	layer_insert(to_layer(fq)->s, part);
}

/* Insert a request that is neither read nor write, or after the disk's size has changed. */
static noinline void layer_insert_other(struct flash_queue *fq, struct flash_rq *fr)
{
	if (layer_capacity(fq) != to_layer(fq)->s->map.capacity)
		flash_resort(fq);
	layer_insert_rq(fq, fr);
}

static __always_inline void layer_read_insert(struct flash_queue *fq, struct flash_rq *fr)
{
	if (likely(flash_op_placed(req_op(fr->rq)) &&
		   layer_capacity(fq) == to_layer(fq)->s->map.capacity))
		layer_insert_rq(fq, fr);
	else
		layer_insert_other(fq, fr);
}

/* Issue a read that waits alone. */
static __always_inline bool layer_read_pass(struct flash_queue *fq, struct flash_rq *fr)
{
	struct layer_sched *s = to_layer(fq)->s;
	struct layer_part *part = layer_part_of(fr);

	/* Others may change the sub-layers. */
	if (req_op(fr->rq) != REQ_OP_READ || layer_capacity(fq) != s->map.capacity)
		return false;
	layer_describe_rq(part, fr->rq);
	return layer_pass(s, part);
}

static void layer_read_grown(struct flash_queue *fq, struct flash_rq *fr)
{
	layer_grow(to_layer(fq)->s, layer_part_of(fr), flash_sector_of(fr->rq),
		   blk_rq_sectors(fr->rq));
}

static void layer_read_merged(struct flash_queue *fq, struct flash_rq *fr,
			      struct flash_rq *gone)
{
	struct layer_part *part = layer_part_of(fr);

	layer_absorb(to_layer(fq)->s, part, layer_part_of(gone),
		     flash_sector_of(fr->rq), blk_rq_sectors(fr->rq));
	fr->seq = part->seq;
}

static __always_inline struct flash_rq *layer_read_select(struct flash_queue *fq)
{
	struct layer_part *part = layer_select(to_layer(fq)->s, fq->now);

	if (WARN_ON_ONCE(!part))
		return NULL;
	return &container_of(part, struct layer_rq, part)->fr;
}

/* A request that bypasses the queues is new to us, or may have changed. */
static noinline void layer_start_bypassing(struct flash_queue *fq, struct flash_rq *fr)
{
	struct layer_part *part = layer_part_of(fr);

	layer_describe_rq(part, fr->rq);
	layer_bypass(part);
	layer_start(to_layer(fq)->s, part);
}

static __always_inline void layer_read_started(struct flash_queue *fq, struct flash_rq *fr)
{
	struct layer_part *part = layer_part_of(fr);

	if (likely(part->pieces))
		layer_start(to_layer(fq)->s, part);
	else
		layer_start_bypassing(fq, fr);
}

static __always_inline void layer_read_completed(struct flash_queue *fq, struct flash_rq *fr, bool ended)
{
	layer_complete(to_layer(fq)->s, layer_part_of(fr), ended, fq->now);
}

static __always_inline bool layer_read_holds(struct flash_queue *fq)
{
	return layer_holds(to_layer(fq)->s);
}

/* The first call after flash_resort() puts the settings and the capacity into force. */
static bool layer_read_resort(struct flash_queue *fq)
{
	struct layer_queue *lq = to_layer(fq);

	if (!layer_unsorted(lq->s))
		layer_apply(lq);
	return layer_sort_next(lq->s);
}

static void layer_read_tuned(struct flash_queue *fq, unsigned int idx)
{
	/* The core, and layer_read_front_merges(), read these themselves. */
	if (idx == TUN_inline_dispatch || idx == TUN_front_merges)
		return;
	flash_lock(fq);
	flash_resort(fq);
	flash_unlock(fq);
	flash_resume(fq);
}

static void layer_read_text_tuned(struct flash_queue *fq, unsigned int idx,
				  const char *text)
{
	struct layer_queue *lq = to_layer(fq);

	flash_lock(fq);
	layer_store_text(lq, idx, text);
	flash_resort(fq);
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
			     s->map.nr_layers, layer_mapped(s) ? 0 : s->map.span,
			     st->rebuilt, st->served[FLASH_READ],
			     st->served[FLASH_WRITE], st->expired[FLASH_READ],
			     st->expired[FLASH_WRITE], st->switches, st->moves);
	len += sysfs_emit_at(page, len,
			     "read_pieces %u\nwrite_pieces %u\npieces_bound %u\n",
			     s->flight.pieces[FLASH_READ],
			     s->flight.pieces[FLASH_WRITE],
			     flash_pace_limit(&s->flight.pace));
	return len;
}

static void layer_read_arrays(struct flash_queue *fq, struct seq_file *m)
{
	const struct layer_sched *s = to_layer(fq)->s;
	const struct layer_one *l = s->wait.layer;
	unsigned int n;

	for (n = 0; n < s->map.nr_layers; n++)
		seq_printf(m, "layer%u waiting %u served %llu expired %llu out %u\n",
			   n, l[n].waiting, l[n].served, s->wait.expired[n],
			   flash_occupancy_on(&s->flight.occ, n));
	seq_printf(m, "read queued %u\nwrite queued %u\n",
		   s->wait.nr[FLASH_READ], s->wait.nr[FLASH_WRITE]);
}

const struct flash_policy flash_policy = {
	.name		= "layer_read",
	.queue_size	= sizeof(struct layer_queue),
	.rq_size	= sizeof(struct layer_rq),
	.watches	= true,
	.ends_first	= true,
	.tags_kept	= FLASH_TAGS_KEPT,
	FLASH_ATTRS,

	.init		= layer_read_init,
	.exit		= layer_read_exit,
	.tag_limit	= layer_read_tag_limit,
	.front_merges	= layer_read_front_merges,
	.arrived	= layer_read_arrived,
	.pass		= layer_read_pass,
	.insert		= layer_read_insert,
	.grown		= layer_read_grown,
	.merged		= layer_read_merged,
	.select		= layer_read_select,
	.started	= layer_read_started,
	.completed	= layer_read_completed,
	.holds		= layer_read_holds,
	.tuned		= layer_read_tuned,
	.text_tuned	= layer_read_text_tuned,
	.resort		= layer_read_resort,
	.stats		= layer_read_stats,
	.arrays		= layer_read_arrays,
};

MODULE_ALIAS("layer_read-iosched");
MODULE_DESCRIPTION("Layer_Read I/O scheduler: reads in sub-layers by address");
MODULE_LICENSE("GPL");
