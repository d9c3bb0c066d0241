/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fairshare.h - what acfq and hbfq are built from
 *
 * fairshare.c has the hooks of struct flash_policy for schedulers that share a device by
 * weight. Such a scheduler adds a table of tunables that begins with FAIRSHARE_TUNABLES,
 * the texts FAIRSHARE_TEXTS, and struct fairshare: its modes and their rules.
 */
#ifndef FLASH_FAIRSHARE_H
#define FLASH_FAIRSHARE_H

#include <linux/hrtimer.h>
#include <linux/workqueue.h>

#include "../elevator/iosched.h"
#include "fairqueue.h"

/*
 * window_depth has three uses. With a layout, a tenant may be ahead of the slowest
 *	one by this many of its requests if their chips are idle. Where time is
 *	charged, a turn has at most this many. A tenant with a think time above its part
 *	of the time of this many is not anticipated.
 * lba_offset_sectors: only its remainder modulo the layout's period matters.
 * inline_dispatch: see elevator.c.
 */
#define FAIRSHARE_TUNABLES(X)					\
	X(max_inflight, 0, 65535, 0,					\
	  "requests in the device at once, 0 = as many as it needs")	\
	X(window_depth, 0, 1024, 8,					\
	  "requests of a tenant's lead (with a layout) or turn (time charged)") \
	X(max_tenants, 1, 256, 256,					\
	  "tenants with a queue of their own, the others share one")	\
	X(shared_weight, 1, 1000, 100,					\
	  "weight of the shared queue")					\
	X(anticipation, 0, 1, 1,					\
	  "hold of the device for a tenant about to send more (1 = on)") \
	X(antic_max_us, 0, 100000, 2000,				\
	  "longest hold of the device for a tenant, in us")		\
	X(lba_offset_sectors, 0, 2147483647, 0,				\
	  "start of this device on the drive, in sectors of 512 bytes, for layout") \
	X(inline_dispatch, 0, 1, 1,					\
	  "issue by the submitting task (1) or left to the block layer (0)")

#define FAIRSHARE_TEXTS(X)						\
	X(mode, fairshare_check_mode, "auto", FAIRSHARE_MODES,		\
	  "scheduling mode")						\
	X(tenant_by, fairshare_check_by, "auto",			\
	  "one of auto cgroup task ioprio",				\
	  "identity of a request's tenant")				\
	X(charge, fairshare_check_charge, "auto",			\
	  "one of auto sectors requests time",				\
	  "quantity charged to a tenant")				\
	X(layout, flash_layout_check, "none",				\
	  "none, page=BYTES chips=N or page=BYTES terms=DIV:MOD:MUL,...",	\
	  "map from pages to flash chips")

#define FAIRSHARE_STORED(X)						\
	X(weights, fairshare_weights_show, fairshare_weights_store)

int fairshare_check_mode(const char *text);
int fairshare_check_by(const char *text);
int fairshare_check_charge(const char *text);
ssize_t fairshare_weights_show(struct elevator_queue *eq, char *page);
ssize_t fairshare_weights_store(struct elevator_queue *eq, const char *page,
				size_t count);

/**
 * struct fairshare - what a scheduler adds to its table, as flash_policy.data
 * @modes: names of its modes, "auto" first
 * @nr_modes: number of modes
 * @set_rules: sets the members of @rules that do not follow from FAIRSHARE_TUNABLES, for
 *	mode number @mode and the attribute "charge"; called with the device locked
 */
struct fairshare {
	const char * const *modes;
	unsigned int nr_modes;
	void (*set_rules)(struct flash_queue *fq, unsigned int mode,
			  enum fair_charge charge, struct fair_rules *rules);
};

/** enum fairshare_by - the attribute "tenant_by" */
enum fairshare_by {
	FAIRSHARE_BY_AUTO,
	FAIRSHARE_BY_CGROUP,
	FAIRSHARE_BY_TASK,
	FAIRSHARE_BY_IOPRIO,
	FAIRSHARE_NR_BYS
};

/**
 * struct fairshare_rq - the record of a request
 * @fr: the record of every policy
 * @fair: its part in the queues
 * @key: identity of its tenant
 */
struct fairshare_rq {
	struct flash_rq fr;
	struct fair_rq fair;
	struct tenant_key key;
};

/**
 * struct fairshare_queue - one device; all under flash_queue.lock
 * @fq: the structure of every policy
 * @fair: the queues
 * @tags: tags that tenants hold, for each set of scheduler tags, by compat_hctx_set()
 * @next: the next request, or NULL
 * @timer: chooses again at @armed
 * @armed: expiry of @timer, ns; 0: it has expired; the timer writes it without the lock
 * @limited: number of searches for a tag that were limited by a quota
 * @weights: weights of control groups; they outlive this structure
 * @from: place of the first weight that is shown
 * @few_work: reports too few tags, a second after their number was set
 * @mode: number of the mode
 * @by: the attribute "tenant_by"; read without the lock
 * @charge: the attribute "charge"
 * @geo: the attribute "layout"
 */
struct fairshare_queue {
	struct flash_queue fq;

	struct fair_queue *fair;
	struct flash_tags *tags;
	struct fair_rq *next;
	struct hrtimer timer;
	u64 armed;
	u64 limited;

	struct flash_weights *weights;
	unsigned int from;
	struct delayed_work few_work;
	unsigned int mode;
	enum fairshare_by by;
	enum fair_charge charge;
	struct flash_geometry geo;
};

int fairshare_init(struct flash_queue *fq);
void fairshare_exit(struct flash_queue *fq);
void fairshare_tags_changed(struct flash_queue *fq);
enum flash_urgency fairshare_urgency(const struct flash_queue *fq, blk_opf_t opf);
unsigned int fairshare_tag_limit(struct flash_queue *fq,
				 const struct blk_mq_hw_ctx *hctx, blk_opf_t opf);
unsigned int fairshare_bio_class(struct flash_queue *fq, const struct bio *bio);
bool fairshare_pass(struct flash_queue *fq, struct flash_rq *fr);
void fairshare_arrived(struct flash_queue *fq, struct flash_rq *fr);
unsigned int fairshare_rq_class(struct flash_queue *fq, const struct request *rq);
void fairshare_insert(struct flash_queue *fq, struct flash_rq *fr);
void fairshare_grown(struct flash_queue *fq, struct flash_rq *fr);
void fairshare_merged(struct flash_queue *fq, struct flash_rq *fr,
		      struct flash_rq *gone);
struct flash_rq *fairshare_select(struct flash_queue *fq);
void fairshare_started(struct flash_queue *fq, struct flash_rq *fr);
void fairshare_completed(struct flash_queue *fq, struct flash_rq *fr, bool ended);
bool fairshare_holds(struct flash_queue *fq);
void fairshare_tuned(struct flash_queue *fq, unsigned int idx);
void fairshare_text_tuned(struct flash_queue *fq, unsigned int idx, const char *text);
bool fairshare_resort(struct flash_queue *fq);
int fairshare_stats(struct flash_queue *fq, char *page, int len);
void fairshare_arrays(struct flash_queue *fq, struct seq_file *m);

/* The hooks above and what belongs to them, as members of struct flash_policy */
#define FAIRSHARE_HOOKS							\
	.queue_size	= sizeof(struct fairshare_queue),		\
	.rq_size	= sizeof(struct fairshare_rq),			\
	.watches	= true,						\
	.init		= fairshare_init,				\
	.exit		= fairshare_exit,				\
	.tags_changed	= fairshare_tags_changed,			\
	.urgency	= fairshare_urgency,				\
	.tag_limit	= fairshare_tag_limit,				\
	.bio_class	= fairshare_bio_class,				\
	.arrived	= fairshare_arrived,				\
	.pass		= fairshare_pass,				\
	.rq_class	= fairshare_rq_class,				\
	.insert		= fairshare_insert,				\
	.grown		= fairshare_grown,				\
	.merged		= fairshare_merged,				\
	.select		= fairshare_select,				\
	.started	= fairshare_started,				\
	.completed	= fairshare_completed,				\
	.holds		= fairshare_holds,				\
	.tuned		= fairshare_tuned,				\
	.text_tuned	= fairshare_text_tuned,			\
	.resort		= fairshare_resort,				\
	.stats		= fairshare_stats,				\
	.arrays		= fairshare_arrays

#endif /* FLASH_FAIRSHARE_H */
