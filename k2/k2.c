// SPDX-License-Identifier: GPL-2.0
/*
 * k2.c - K2, the work-constraining I/O scheduler
 *
 * T. Miemietz, H. Weisbach, M. Roitzsch, H. Haertig: "K2: Work-Constraining
 * Scheduling of NVMe-Attached Storage", RTSS 2019, and the analysis of its
 * queue length bound (Electronics 2021).
 *
 * An NVMe device serves what it holds in an order of its own, so a real-time
 * request that arrives late waits behind everything that is in the device
 * already. K2 lets at most max_inflight requests into the device at once and
 * keeps the rest in staging queues, where priority still counts: eight FIFO
 * queues for the real-time levels and one for the rest. The smaller the bound,
 * the shorter the tail of a real-time request and the less work the device can
 * overlap. The bound is the whole trade-off; the paper writes K2-x for bound x.
 *
 * Who waits for whom is in k2_order.h; how the paper chooses a bound from
 * measurements is in k2_guide.h.
 */
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "../common/elv.h"
#include "k2_order.h"

/*
 * max_inflight: the paper's queue length bound. 32 is the default of the
 *	original code; the paper's sweep is 1 to 64.
 * meta_every: see k2_order.h. 16 costs a real-time flood one slot in 17 and
 *	only while a metadata request waits. 0 is the paper's strict order.
 * inline_dispatch: see elv.c. 0 leaves dispatch to the block layer's worker.
 */
#define K2_TUNABLES(X)				\
	X(max_inflight, 1, 65535, 32)		\
	X(meta_every, 0, 65535, 16)		\
	X(inline_dispatch, 0, 1, 1)

FLASH_DEFINE_TUNABLES(K2_TUNABLES);

/**
 * struct k2_queue - K2 on one device; all under flash_queue.lock
 * @fq: what every policy has
 * @fifo: the staging queues, by class
 * @order: which of them is busy, and how long metadata has been passed over
 * @nr: requests in each staging queue
 * @served: requests dispatched from each staging queue
 * @meta_turns: times that metadata went before a waiting real-time request
 */
struct k2_queue {
	struct flash_queue fq;
	struct list_head fifo[K2_NR_CLASSES];
	struct k2_order order;
	unsigned int nr[K2_NR_CLASSES];
	u64 served[K2_NR_CLASSES];
	u64 meta_turns;
};

const char policy_name[] = "k2";
const size_t policy_queue_size = sizeof(struct k2_queue);
const size_t policy_rec_size = sizeof(struct flash_rq);
const bool policy_watches;
const unsigned int policy_inline_tunable = TUN_inline_dispatch;

static struct k2_queue *to_k2(struct flash_queue *fq)
{
	return container_of(fq, struct k2_queue, fq);
}

int policy_init(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	unsigned int class;

	for (class = 0; class < K2_NR_CLASSES; class++)
		INIT_LIST_HEAD(&k2->fifo[class]);
	fq->bound = flash_tun(fq, TUN_max_inflight);
	return 0;
}

void policy_exit(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	unsigned int class;

	for (class = 0; class < K2_NR_CLASSES; class++)
		WARN_ON_ONCE(!list_empty(&k2->fifo[class]));
}

static unsigned int k2_class(unsigned short ioprio, bool meta)
{
	return k2_classify(IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_RT,
			   elv_ioprio_level(ioprio), meta);
}

/* What a real-time task may find itself waiting for. */
#define K2_META_FLAGS	(REQ_META | REQ_PRIO | REQ_SWAP)

unsigned int policy_bio_class(struct flash_queue *fq, const struct bio *bio)
{
	return k2_class(bio->bi_ioprio, bio->bi_opf & K2_META_FLAGS);
}

unsigned int policy_rq_class(struct flash_queue *fq, const struct request *rq)
{
	bool meta = rq->rq_flags & RQF_FLUSH_SEQ;
	const struct bio *bio;

	/* Bios that met in a plug were merged without asking us: look at all. */
	for (bio = rq->bio; bio && !meta; bio = bio->bi_next)
		meta = bio->bi_opf & K2_META_FLAGS;
	return k2_class(req_get_ioprio((struct request *)rq), meta);
}

enum flash_urgency policy_urgency(blk_opf_t opf)
{
	if (IOPRIO_PRIO_CLASS(get_current_ioprio()) == IOPRIO_CLASS_RT)
		return FLASH_URGENT;
	return (opf & K2_META_FLAGS) ? FLASH_RELATED : FLASH_PATIENT;
}

void policy_insert(struct flash_queue *fq, struct flash_rq *fr)
{
	struct k2_queue *k2 = to_k2(fq);

	list_add_tail(&fr->rq->queuelist, &k2->fifo[fr->class]);
	k2->nr[fr->class]++;
	k2->order.busy |= 1U << fr->class;
}

static void k2_remove(struct k2_queue *k2, struct flash_rq *fr)
{
	list_del_init(&fr->rq->queuelist);
	if (!--k2->nr[fr->class])
		k2->order.busy &= ~(1U << fr->class);
}

static struct flash_rq *k2_head(struct k2_queue *k2, unsigned int class)
{
	struct request *rq = list_first_entry_or_null(&k2->fifo[class],
						      struct request, queuelist);

	return rq ? flash_rq_of(rq) : NULL;
}

struct flash_rq *policy_select(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	struct flash_rq *meta = k2_head(k2, K2_META);
	struct flash_rq *nrt = k2_head(k2, K2_NRT);
	struct flash_rq *fr;
	unsigned int class;

	class = k2_pick(&k2->order, meta && nrt && meta->seq < nrt->seq,
			flash_tun(fq, TUN_meta_every));
	fr = k2_head(k2, class);
	if (class == K2_META && (k2->order.busy & K2_RT_MASK))
		k2->meta_turns++;
	k2->served[class]++;
	k2_remove(k2, fr);
	if (class < K2_RT_LEVELS)
		flash_issue_first(fq, fr);
	return fr;
}

void policy_merged(struct flash_queue *fq, struct flash_rq *fr,
		   struct flash_rq *gone)
{
	struct k2_queue *k2 = to_k2(fq);

	/* FIFO by first arrival: keep the earlier of the two places. */
	if (gone->seq < fr->seq) {
		list_move(&fr->rq->queuelist, &gone->rq->queuelist);
		fr->seq = gone->seq;
	}
	k2_remove(k2, gone);
}

void policy_tuned(struct flash_queue *fq, unsigned int idx)
{
	if (idx == TUN_max_inflight)
		flash_set_bound(fq, flash_tun(fq, TUN_max_inflight));
}

int policy_stats(struct flash_queue *fq, char *page, int len)
{
	struct k2_queue *k2 = to_k2(fq);
	u64 rt = 0;
	unsigned int class;

	for (class = 0; class < K2_RT_LEVELS; class++)
		rt += k2->served[class];
	return len + sysfs_emit_at(page, len,
				   "served_rt %llu\nserved_meta %llu\n"
				   "served_nrt %llu\nmeta_turns %llu\n",
				   rt, k2->served[K2_META], k2->served[K2_NRT],
				   k2->meta_turns);
}

void policy_arrays(struct flash_queue *fq, struct seq_file *m)
{
	struct k2_queue *k2 = to_k2(fq);
	unsigned int class;

	for (class = 0; class < K2_RT_LEVELS; class++)
		seq_printf(m, "rt%u queued %u served %llu\n", class,
			   k2->nr[class], k2->served[class]);
	seq_printf(m, "meta queued %u served %llu\n", k2->nr[K2_META],
		   k2->served[K2_META]);
	seq_printf(m, "nrt queued %u served %llu\n", k2->nr[K2_NRT],
		   k2->served[K2_NRT]);
}

MODULE_ALIAS("k2-iosched");
MODULE_DESCRIPTION("K2 work-constraining I/O scheduler");
MODULE_LICENSE("GPL");
