// SPDX-License-Identifier: GPL-2.0
/*
 * piq.c - PIQ, parallel issue queuing: the hooks of the block layer
 *
 * C. Gao, L. Shi, M. Zhao, C. J. Xue, K. Wu, E. H.-M. Sha: "Exploiting Parallelism in I/O
 * Scheduling for Access Conflict Minimization in Flash-based Solid State Drives", MSST 2014.
 *
 * Problem: a flash device has many chips, and two requests for one chip are served one after
 * the other. If the map from pages to chips is known, requests can be dispatched in an order
 * in which they meet as seldom as possible.
 *
 * batch.c has the schemes of the paper, auto.c has ours, learn.c finds out whether the map
 * can be trusted and what the device needs. The hooks here connect them with the block layer.
 * piq_holds() runs after each event and chooses the request that piq_select() returns, but for
 * a FIFO without a layout and urgent requests, which needs neither events nor a limit.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>

#include "../common/elevator/iosched.h"
#include "sched.h"

/*
 * queue_length: the paper's N_piq, which the paper varies from 1 to 512.
 * batch_overlap: see batch.c; 0 is the paper's algorithm to the letter.
 * max_wait_ms, max_pass, scan_depth: see auto.c.
 * lba_offset_sectors: only its remainder modulo the layout's period matters.
 * inline_dispatch: see elevator.c.
 */
#define PIQ_TUNABLES(X)					\
	X(chip_depth, 0, 64, 0,						\
	  "requests on a chip at once in mode auto, 0 = by search")	\
	X(max_inflight, 0, 65535, 0,					\
	  "requests in the device at once, 0 = as many as it needs")	\
	X(queue_length, 1, 512, 64,					\
	  "waiting requests that the paper's modes order")	\
	X(batch_overlap, 0, 1, 0,					\
	  "batches of the paper's modes one at a time (0) or overlapping (1)") \
	X(max_wait_ms, 1, 10000, 50,					\
	  "wait after which a request's chips are kept free for it, in ms") \
	X(max_pass, 1, 65535, 32,					\
	  "younger requests after which a request's chips are kept free for it") \
	X(scan_depth, 1, 1024, 64,					\
	  "requests of several chips looked at in a choice")		\
	X(lba_offset_sectors, 0, 2147483647, 0,				\
	  "start of this device on the drive, in sectors of 512 bytes, for layout") \
	X(inline_dispatch, 0, 1, 1,					\
	  "issue by the submitting task (1) or left to the block layer (0)")

#define PIQ_TEXTS(X)						\
	X(mode, piq_check_mode, "auto",				\
	  "one of auto noop rws piq_r piq_w piq",		\
	  "scheduling mode")					\
	X(layout, flash_layout_check, "none",			\
	  "none, page=BYTES chips=N or page=BYTES terms=DIV:MOD:MUL,...",	\
	  "map from pages to flash chips")

#define PIQ_SHOWN(X)						\
	X(layout_confidence, piq_confidence_show)

static const char * const piq_modes[PIQ_NR_MODES] = {
	[PIQ_AUTO]	= "auto",
	[PIQ_NOOP]	= "noop",
	[PIQ_RWS]	= "rws",
	[PIQ_R]		= "piq_r",
	[PIQ_W]		= "piq_w",
	[PIQ_PIQ]	= "piq",
};

static int piq_check_mode(const char *text)
{
	return flash_word_check(piq_modes, PIQ_NR_MODES, text);
}

static ssize_t piq_confidence_show(struct elevator_queue *eq, char *page);

FLASH_DEFINE_ATTRS(PIQ_TUNABLES, PIQ_TEXTS, PIQ_SHOWN, FLASH_NONE);

static_assert(FLASH_LAYOUT_LEN <= FLASH_TEXT_LEN);

/* Classes of requests: mode auto dispatches real-time ones first. */
enum {
	PIQ_CLASS_USUAL,
	PIQ_CLASS_URGENT,
};

/**
 * struct piq_record - PIQ's record of a request
 * @fr:		part of all policies
 * @req:	part in PIQ's order
 */
struct piq_record {
	struct flash_rq fr;
	struct piq_req req;
};

/**
 * struct piq_state - the large part of a device's state
 * @s:		requests and their order
 * @pool:	batches of @s
 */
struct piq_state {
	struct piq_sched s;
	struct flash_batch pool[PIQ_NR_BATCHES];
};

/**
 * struct piq_queue - PIQ on one device; all of it under flash_queue.lock
 * @fq:		part of all policies
 * @state:	the large part
 * @learn:	what is learned
 * @next:	request that piq_select() returns, or NULL; while requests are watched
 * @mode:	mode set by the user
 * @given:	layout set by the user
 */
struct piq_queue {
	struct flash_queue fq;
	struct piq_state *state;
	struct piq_learn *learn;
	struct piq_req *next;
	enum piq_mode mode;
	struct flash_geometry given;
};

static struct piq_queue *to_piq(struct flash_queue *fq)
{
	return container_of(fq, struct piq_queue, fq);
}

static struct piq_sched *piq_sched_of(struct flash_queue *fq)
{
	return &to_piq(fq)->state->s;
}

static struct piq_req *piq_req_of(struct flash_rq *fr)
{
	return &container_of(fr, struct piq_record, fr)->req;
}

static enum piq_kind piq_kind_of(const struct request *rq)
{
	return (enum piq_kind)flash_dir_of(rq);
}

/*
 * Put the in-flight limit into force. A search for it needs each end of a request, and is of
 * use where some requests precede others. Without a layout and urgent requests none does.
 */
static void piq_update_limit(struct piq_queue *pq)
{
	unsigned int max = flash_tun(&pq->fq, TUN_max_inflight);

	if (pq->fq.watches)
		max = piq_learn_settings(&pq->state->s, pq->learn, max);
	flash_set_bound(&pq->fq, max ? max : UINT_MAX);
}

/*
 * The mode, the layout or @one_by_one has changed: is each request watched from now on? The
 * caller has the policy choose again.
 */
static void piq_watch(struct piq_queue *pq)
{
	struct flash_queue *fq = &pq->fq;
	bool watches = pq->mode != PIQ_AUTO || pq->given.nr_chips || fq->one_by_one;

	if (fq->watches != watches)
		WRITE_ONCE(fq->watches, watches);
}

/* Put all settings of the user in force. */
static void piq_apply(struct piq_queue *pq)
{
	struct flash_queue *fq = &pq->fq;
	struct piq_tunables tun = {
		.chip_depth	= flash_tun(fq, TUN_chip_depth),
		.scan_depth	= flash_tun(fq, TUN_scan_depth),
		.max_pass	= flash_tun(fq, TUN_max_pass),
		.queue_length	= flash_tun(fq, TUN_queue_length),
		.batch_overlap	= flash_tun(fq, TUN_batch_overlap),
		.max_wait	= flash_tun(fq, TUN_max_wait_ms) * (u64)NSEC_PER_MSEC,
	};

	lockdep_assert_held(&fq->lock);

	piq_watch(pq);
	if (piq_set(&pq->state->s, pq->mode, &pq->given,
		    flash_tun(fq, TUN_lba_offset_sectors), &tun))
		flash_resort(fq);
	else
		piq_update_limit(pq);
	flash_change(fq);
}

/* The last call puts what follows from the settings into force. */
static bool piq_resort(struct flash_queue *fq)
{
	struct piq_queue *pq = to_piq(fq);

	if (!piq_sort_next(&pq->state->s))
		return false;
	piq_update_limit(pq);
	return true;
}

static int piq_init(struct flash_queue *fq)
{
	static const struct piq_tunables any = { .chip_depth = 1, .queue_length = 1 };
	struct piq_queue *pq = to_piq(fq);
	struct piq_state *st;

	st = kvzalloc_node(sizeof(*st), GFP_KERNEL, fq->q->node);
	pq->learn = kvzalloc_node(piq_learn_size, GFP_KERNEL, fq->q->node);
	if (!st || !pq->learn) {
		kvfree(st);
		kvfree(pq->learn);
		return -ENOMEM;
	}
	pq->state = st;
	flash_lock(fq);
	piq_sched_init(&st->s, st->pool, &any);
	piq_learn_init(&st->s, pq->learn);
	/* Both texts were checked when they were set. */
	pq->mode = match_string(piq_modes, PIQ_NR_MODES, fq->disk->text[TEXT_mode]);
	flash_geometry_parse(fq->disk->text[TEXT_layout], &pq->given);
	piq_apply(pq);
	flash_unlock(fq);
	return 0;
}

static void piq_exit(struct flash_queue *fq)
{
	struct piq_sched *s = piq_sched_of(fq);

	WARN_ON_ONCE(piq_waiting(s) || s->out || s->turns.inside || s->chips.occ.busy);
	WARN_ON_ONCE(s->stats.stuck);
	kvfree(to_piq(fq)->learn);
	kvfree(to_piq(fq)->state);
}

static __always_inline enum flash_urgency piq_urgency(const struct flash_queue *fq, blk_opf_t opf)
{
	return IOPRIO_PRIO_CLASS(get_current_ioprio()) == IOPRIO_CLASS_RT ?
	       FLASH_URGENT : FLASH_PATIENT;
}

static unsigned int piq_class(unsigned short ioprio)
{
	return IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_RT ?
	       PIQ_CLASS_URGENT : PIQ_CLASS_USUAL;
}

static unsigned int piq_bio_class(struct flash_queue *fq, const struct bio *bio)
{
	return piq_class(bio->bi_ioprio);
}

static __always_inline unsigned int piq_rq_class(struct flash_queue *fq, const struct request *rq)
{
	return piq_class(req_get_ioprio((struct request *)rq));
}

/* The device's first urgent request */
static noinline void piq_sees_urgent(struct piq_queue *pq)
{
	WRITE_ONCE(pq->fq.one_by_one, true);
	piq_watch(pq);
	piq_update_limit(pq);
}

static __always_inline void piq_insert_rq(struct flash_queue *fq, struct flash_rq *fr)
{
	enum piq_kind kind = piq_kind_of(fr->rq);
	u64 sector = flash_sector_of(fr->rq);
	u32 sectors = blk_rq_sectors(fr->rq);
	struct piq_req *req = piq_req_of(fr);

	req->urgent = fr->class == PIQ_CLASS_URGENT;
	if (unlikely(req->urgent && !fq->one_by_one))
		piq_sees_urgent(to_piq(fq));
	piq_add(piq_sched_of(fq), req, fr->seq, kind, sector, sectors, fq->now);
}

/* Insert a request that is neither read nor write; not inlined, as they are few. */
static noinline void piq_insert_other(struct flash_queue *fq, struct flash_rq *fr)
{
	piq_insert_rq(fq, fr);
}

static __always_inline void piq_insert(struct flash_queue *fq, struct flash_rq *fr)
{
	if (likely(flash_op_placed(req_op(fr->rq))))
		piq_insert_rq(fq, fr);
	else
		piq_insert_other(fq, fr);
}

/* Issue a request that waits alone. */
static __always_inline bool piq_pass_rq(struct flash_queue *fq, struct flash_rq *fr)
{
	struct piq_sched *s = piq_sched_of(fq);
	struct request *rq = fr->rq;

	if (fr->class == PIQ_CLASS_URGENT)
		return false;
	if (likely(!fq->watches)) {
		fr->watched = false;
		return true;
	}
	/* The end of a polled request is not reported. */
	if (!piq_in_order(s) || !flash_op_placed(req_op(rq)) || !blk_rq_sectors(rq) ||
	    rq->mq_hctx->type == HCTX_TYPE_POLL)
		return false;
	fr->watched = true;
	piq_pass(s, piq_req_of(fr), fr->seq, piq_kind_of(rq), flash_sector_of(rq),
		 blk_rq_sectors(rq), fr->time, flash_update_now(fq));
	return true;
}

static void piq_grown(struct flash_queue *fq, struct flash_rq *fr)
{
	piq_grow(piq_sched_of(fq), piq_req_of(fr), flash_sector_of(fr->rq),
		 blk_rq_sectors(fr->rq));
}

static void piq_merged(struct flash_queue *fq, struct flash_rq *fr,
		       struct flash_rq *gone)
{
	struct piq_req *req = piq_req_of(fr);

	piq_absorb(piq_sched_of(fq), req, piq_req_of(gone), flash_sector_of(fr->rq),
		   blk_rq_sectors(fr->rq));
	fr->seq = req->seq;
}

/* Choose the next request; not inlined, as the FIFO's choice is shorter. */
static noinline bool piq_holds_any(struct flash_queue *fq)
{
	struct piq_queue *pq = to_piq(fq);
	struct piq_sched *s = &pq->state->s;

	pq->next = piq_choose(s, fq->now);
	return !pq->next && piq_waiting(s);
}

/* Choose the next request, after something has changed; at least one request waits. */
static __always_inline bool piq_holds(struct flash_queue *fq)
{
	struct piq_queue *pq = to_piq(fq);
	struct piq_sched *s = &pq->state->s;

	if (!piq_in_order(s))
		return piq_holds_any(fq);
	pq->next = piq_oldest_of_all(s);
	return false;
}

static __always_inline struct flash_rq *piq_select(struct flash_queue *fq)
{
	struct piq_queue *pq = to_piq(fq);
	struct piq_sched *s = &pq->state->s;
	struct piq_req *req = likely(!fq->watches) ? piq_oldest_of_all(s) : pq->next;
	struct flash_rq *fr;

	if (WARN_ON_ONCE(!req))
		return NULL;
	fr = &container_of(req, struct piq_record, req)->fr;
	pq->next = NULL;
	/* It may have waited since before the change of a setting. */
	fr->watched = fq->watches;
	/* The end of a polled request is not reported. */
	piq_dispatch(s, req, fr->watched && fr->rq->mq_hctx->type != HCTX_TYPE_POLL, fq->now);
	return fr;
}

static __always_inline void piq_started(struct flash_queue *fq, struct flash_rq *fr)
{
	struct piq_req *req = piq_req_of(fr);
	struct request *rq = fr->rq;

	/* Called at once after piq_select(), see elv_dispatch_request(). */
	if (req->out)
		return;
	piq_start_head(piq_sched_of(fq), req, piq_kind_of(rq), flash_sector_of(rq),
		       blk_rq_sectors(rq), fq->now);
}

static __always_inline void piq_completed(struct flash_queue *fq, struct flash_rq *fr, bool ended)
{
	struct piq_req *req = piq_req_of(fr);
	struct piq_queue *pq = to_piq(fq);
	struct piq_sched *s = &pq->state->s;

	if (ended && fq->watches)
		flash_set_bound(fq, piq_learn_completion(s, pq->learn, req,
							 flash_tun(fq, TUN_max_inflight),
							 fq->now));
	piq_release(s, req);
}

/* Forget what was learned on chips that the new layout does not have. */
static void piq_forget(struct piq_queue *pq, bool costs)
{
	struct piq_sched *s = &pq->state->s;

	if (costs)
		memset(&s->cost, 0, sizeof(s->cost));
	piq_learn_forget(s, pq->learn);
}

static void piq_tuned(struct flash_queue *fq, unsigned int idx)
{
	struct piq_queue *pq = to_piq(fq);

	if (idx == TUN_inline_dispatch)
		return;
	flash_lock(fq);
	if (idx == TUN_lba_offset_sectors)
		piq_forget(pq, true);
	if (idx == TUN_max_inflight)
		piq_update_limit(pq);
	else
		piq_apply(pq);
	flash_change(fq);
	flash_unlock(fq);
	flash_resume(fq);
}

static void piq_text_tuned(struct flash_queue *fq, unsigned int idx,
			   const char *text)
{
	struct piq_queue *pq = to_piq(fq);

	flash_lock(fq);
	if (idx == TEXT_mode)
		pq->mode = match_string(piq_modes, PIQ_NR_MODES, text);
	else
		flash_geometry_parse(text, &pq->given);
	piq_forget(pq, idx != TEXT_mode);
	piq_apply(pq);
	flash_unlock(fq);
	flash_resume(fq);
}

static ssize_t piq_confidence_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = eq->elevator_data;
	struct piq_queue *pq = to_piq(fq);
	u32 pct;

	flash_lock(fq);
	pct = piq_learn_pct(&pq->state->s, pq->learn);
	flash_unlock(fq);
	return sysfs_emit(page, "%u\n", pct);
}

static int piq_stats(struct flash_queue *fq, char *page, int len)
{
	const struct piq_sched *s = piq_sched_of(fq);
	const struct piq_stats *st = &s->stats;
	u64 mean = st->batches ? div64_u64(st->batched * 100, st->batches) : 0;

	len += sysfs_emit_at(page, len,
			     "bound %u\nchip_depth %u\n"
			     "trusted %u\nby_layout %u\n"
			     "conflicts_rrc %llu\nconflicts_wwc %llu\n"
			     "conflicts_rwc %llu\nprioritised_reads %llu\n",
			     fq->bound, s->depth, piq_trusts(s), piq_aware(s),
			     st->rrc, st->wwc, st->rwc, st->prioritised);
	len += sysfs_emit_at(page, len,
			     "waited_reads %llu\nwaited_writes %llu\n"
			     "wait_read_us %llu\nwait_write_us %llu\n",
			     st->waited[FLASH_READ], st->waited[FLASH_WRITE],
			     div_u64(st->wait_ns[FLASH_READ], NSEC_PER_USEC),
			     div_u64(st->wait_ns[FLASH_WRITE], NSEC_PER_USEC));
	len += sysfs_emit_at(page, len,
			     "batches %llu\nbatched %llu\nbatch_size_x100 %llu\n"
			     "passes %llu\naged %llu\nepochs %llu\nstuck %llu\n",
			     st->batches, st->batched, mean, st->passes,
			     st->aged, st->epochs, st->stuck);
	return len;
}

static void piq_arrays(struct flash_queue *fq, struct seq_file *m)
{
	const struct piq_sched *s = piq_sched_of(fq);
	const struct piq_chips *c = &s->chips;
	unsigned int chip;

	for (chip = 0; chip < s->geo.nr_chips; chip++)
		seq_printf(m, "chip%u reads %u writes %u todo %u served %llu\n",
			   chip, c->occ.out[FLASH_READ][chip],
			   c->occ.out[FLASH_WRITE][chip],
			   c->demand[FLASH_READ][chip] + c->demand[FLASH_WRITE][chip],
			   s->stats.served[chip]);
	seq_printf(m, "read queued %u\nwrite queued %u\nother queued %u\n",
		   s->waiting[PIQ_READ], s->waiting[PIQ_WRITE],
		   s->waiting[PIQ_OTHER]);
}

const struct flash_policy flash_policy = {
	.name		= "piq",
	.queue_size	= sizeof(struct piq_queue),
	.rq_size	= sizeof(struct piq_record),
	.ends_first	= true,
	.tags_kept	= FLASH_TAGS_KEPT,
	FLASH_ATTRS,

	.init		= piq_init,
	.exit		= piq_exit,
	.urgency	= piq_urgency,
	.bio_class	= piq_bio_class,
	.rq_class	= piq_rq_class,
	.pass		= piq_pass_rq,
	.insert		= piq_insert,
	.grown		= piq_grown,
	.merged		= piq_merged,
	.select		= piq_select,
	.started	= piq_started,
	.completed	= piq_completed,
	.holds		= piq_holds,
	.tuned		= piq_tuned,
	.text_tuned	= piq_text_tuned,
	.resort		= piq_resort,
	.stats		= piq_stats,
	.arrays		= piq_arrays,
};

MODULE_ALIAS("piq-iosched");
MODULE_DESCRIPTION("PIQ I/O scheduler: parallel issue queuing by flash chip");
MODULE_LICENSE("GPL");
