/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fairshare.h - what a scheduler that shares a device is built from
 *
 * fairshare.c supplies the hooks of struct flash_policy for such schedulers. Each
 * of them adds a table of tunables that begins with TENANCY_TUNABLES, a table of
 * texts that is TENANCY_TEXTS, its modes, and the rules of each.
 */
#ifndef FLASH_FAIRSHARE_H
#define FLASH_FAIRSHARE_H

#include <linux/hrtimer.h>
#include <linux/workqueue.h>

#include "../elevator/iosched.h"
#include "share.h"
#include "tag_quota.h"

/*
 * window_depth has three uses. With a layout, a tenant may be ahead of the slowest
 *	one by this many of its requests if their chips are idle. Where time is
 *	charged, a turn has at most this many. A tenant whose think time exceeds its
 *	part of the time of this many is not anticipated.
 * lba_offset_sectors: only its remainder modulo the layout's period matters.
 * inline_dispatch: see elevator.c.
 */
#define TENANCY_TUNABLES(X)					\
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

#define TENANCY_TEXTS(X)						\
	X(mode, tenancy_check_mode, "auto", TENANCY_MODES,		\
	  "scheduling mode")						\
	X(tenant_by, tenancy_check_by, "auto",				\
	  "one of auto cgroup task ioprio",				\
	  "identity of a request's tenant")				\
	X(charge, tenancy_check_charge, "auto",				\
	  "one of auto sectors requests time",				\
	  "quantity charged to a tenant")				\
	X(layout, flash_layout_check, "none",				\
	  "none, page=BYTES chips=N or page=BYTES terms=DIV:MOD:MUL,...",	\
	  "map from pages to flash chips")

#define TENANCY_STORED(X)						\
	X(weights, tenancy_weights_show, tenancy_weights_store)

/**
 * enum tenancy_charge - what the user says about charges
 * @TENANCY_AUTO: what the mode does by itself
 * @TENANCY_SECTORS: and so on, see enum flash_charge
 */
enum tenancy_charge {
	TENANCY_AUTO,
	TENANCY_SECTORS,
	TENANCY_REQUESTS,
	TENANCY_TIME,
	TENANCY_NR_CHARGES,
};

/** tenancy_charged - what is charged, @own if the user leaves that to the mode */
static inline enum flash_charge tenancy_charged(enum tenancy_charge charge,
						enum flash_charge own)
{
	switch (charge) {
	case TENANCY_SECTORS:
		return FLASH_CHARGE_SECTORS;
	case TENANCY_REQUESTS:
		return FLASH_CHARGE_REQUESTS;
	case TENANCY_TIME:
		return FLASH_CHARGE_TIME;
	default:
		return own;
	}
}

int tenancy_check_mode(const char *text);
int tenancy_check_by(const char *text);
int tenancy_check_charge(const char *text);
ssize_t tenancy_weights_show(struct elevator_queue *eq, char *page);
ssize_t tenancy_weights_store(struct elevator_queue *eq, const char *page,
			      size_t count);

/**
 * struct fairshare - what a scheduler supplies besides its table: flash_policy.data
 * @modes: the names of its modes, "auto" first
 * @nr_modes: their number
 * @set_rules: sets @rules, all but those that follow from the common tunables, for the
 *	mode at place @mode of @modes; @charge is the attribute of that name. The device is
 *	locked.
 */
struct fairshare {
	const char * const *modes;
	unsigned int nr_modes;
	void (*set_rules)(struct flash_queue *fq, unsigned int mode,
			  enum tenancy_charge charge, struct flash_share_rules *rules);
};

enum tenancy_by {
	TENANCY_BY_AUTO,
	TENANCY_BY_CGROUP,
	TENANCY_BY_TASK,
	TENANCY_BY_IOPRIO,
	TENANCY_NR_BYS
};

/**
 * struct tenancy_rq - the record of a request
 * @fr: what every policy has
 * @it: its item
 * @key: whose it is
 * @named: @key is set
 * @issued: it came out of the queues
 */
struct tenancy_rq {
	struct flash_rq fr;
	struct flash_share_item it;
	struct flash_key key;
	bool named;
	bool issued;
};

/**
 * struct tenancy_state - what takes much memory
 * @share: who waits, and who goes next
 * @tenants: of @share
 */
struct tenancy_state {
	struct flash_share share;
	struct flash_tenants tenants;
};

/**
 * struct tenancy_queue - one device; all under flash_queue.lock
 * @fq: what every policy has
 * @state: see there
 * @weights: those that were set, which stay with the disk
 * @from: the first of them that is shown
 * @tags: who holds which scheduler tags, by elv_hctx_set()
 * @limited: tags that were wanted by who holds its part of them
 * @few_work: looks whether there are too few tags; runs a second after their number was
 *	set
 * @next: the request that goes next, or NULL
 * @now: the time of the latest hook, ns
 * @mode: what the user has set, like the two below
 * @by: who is a tenant
 * @charge: what is charged
 * @given: the layout
 * @timer: chooses anew at @armed
 * @armed: when it will do so, ns; 0: it has
 */
struct tenancy_queue {
	struct flash_queue fq;
	struct tenancy_state *state;
	struct flash_weights *weights;
	unsigned int from;
	struct flash_tags *tags;
	u64 limited;
	struct delayed_work few_work;
	struct flash_share_item *next;
	u64 now;
	unsigned int mode;
	enum tenancy_by by;
	enum tenancy_charge charge;
	struct flash_geometry given;
	struct hrtimer timer;
	u64 armed;
};

int fairshare_init(struct flash_queue *fq);
void fairshare_exit(struct flash_queue *fq);
void fairshare_tags_changed(struct flash_queue *fq);
enum flash_urgency fairshare_urgency(const struct flash_queue *fq, blk_opf_t opf);
unsigned int fairshare_tag_limit(struct flash_queue *fq,
				 const struct blk_mq_hw_ctx *hctx, blk_opf_t opf);
unsigned int fairshare_bio_class(struct flash_queue *fq, const struct bio *bio);
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
int fairshare_stats(struct flash_queue *fq, char *page, int len);
void fairshare_arrays(struct flash_queue *fq, struct seq_file *m);

/* The hooks above and what belongs to them, as members of struct flash_policy */
#define FAIRSHARE_HOOKS							\
	.queue_size	= sizeof(struct tenancy_queue),			\
	.rq_size	= sizeof(struct tenancy_rq),			\
	.watches	= true,						\
	.init		= fairshare_init,				\
	.exit		= fairshare_exit,				\
	.tags_changed	= fairshare_tags_changed,			\
	.urgency	= fairshare_urgency,				\
	.tag_limit	= fairshare_tag_limit,				\
	.bio_class	= fairshare_bio_class,				\
	.rq_class	= fairshare_rq_class,				\
	.insert		= fairshare_insert,				\
	.grown		= fairshare_grown,				\
	.merged		= fairshare_merged,				\
	.select		= fairshare_select,				\
	.started	= fairshare_started,				\
	.completed	= fairshare_completed,				\
	.holds		= fairshare_holds,				\
	.tuned		= fairshare_tuned,				\
	.text_tuned	= fairshare_text_tuned,				\
	.stats		= fairshare_stats,				\
	.arrays		= fairshare_arrays

#endif /* FLASH_FAIRSHARE_H */
