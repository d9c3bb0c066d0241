// SPDX-License-Identifier: GPL-2.0
/*
 * k2.c - K2, the work-constraining I/O scheduler
 *
 * T. Miemietz, H. Weisbach, M. Roitzsch, H. Haertig: "K2: Work-Constraining Scheduling of
 * NVMe-Attached Storage", RTSS 2019, and the analysis of its queue length bound
 * (Electronics 2021).
 *
 * An NVMe device serves the requests that it holds in any order, so a real-time
 * request that is submitted late waits behind all requests in the device. K2 allows at
 * most max_inflight requests in the device at once, the paper's queue length bound, and
 * keeps the others in staging queues, where priority counts: a FIFO for each of the eight
 * real-time levels, and one for all other requests. Level 0 is served first, and the other
 * requests when no real-time request waits. A small limit shortens the tail of real-time
 * requests, and costs bandwidth, as the device overlaps less work. The paper writes K2-x
 * for limit x.
 *
 * Two more staging queues are ours:
 *
 *   metadata	Strict order lets a real-time task starve itself: its fsync waits for a
 *		journal commit that a kernel thread writes without real-time priority,
 *		behind the task's own reads. So requests that other tasks are likely to
 *		wait for (file-system metadata, swap, parts of a flush sequence) are served
 *		at the latest after every meta_every real-time requests. With meta_every 0
 *		the order is the paper's.
 *   idle	The I/O priority class "idle", which the paper does not mention, is served
 *		last. While no real-time request waits, one idle request is served instead
 *		of another non-real-time one after idle_wait_ms without an idle request, so
 *		that it does not wait for ever. It is one request at a time, or a backlog
 *		of idle requests would overtake best effort as a whole. With idle_wait_ms 0
 *		idle requests are best effort.
 *
 * While no real-time request waits, metadata and best effort are one FIFO, as in the paper.
 *
 * Everything else is off by default: a limit that is searched for (autolimit.c), other
 * reasons to keep requests waiting (admit.c), and a choice of best-effort requests by
 * their chips (chips.c). Only with one of them does K2 watch which requests are in flight
 * (flash_queue.watches). Insert, merge and select have one branch for that; the hooks
 * started, completed and holds are called only while K2 watches.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "../common/elevator/trace.h"
#include "k2.h"

#define K2_RT_MASK	((1U << K2_RT_LEVELS) - 1)

/* Best effort and the idle class */
#define K2_BE_IDLE_MASK	(1U << K2_BE | 1U << K2_IDLE)

/*
 * max_inflight: the paper's queue length bound. 32 is the default of the original code; the
 *	paper measured 1 to 64.
 * meta_every: 16 costs a real-time flood one slot in 17, and only while a metadata request
 *	waits. 0 is the paper's strict order.
 * idle_wait_ms: one idle request in 200 ms costs best effort next to nothing, and an idle
 *	task that holds a lock of a file system keeps others waiting for no longer than
 *	that for each of its requests.
 * inline_dispatch: see elevator.c.
 * target_us, target_pct, target_quantile, bw_floor_pct, rt_hold_ms: see struct
 *	autolimit_config.
 * reserve, rt_alone, nrt_wait_ms: see admit.c. 0 is the paper.
 * observe: watch with policy static and the defaults, too, so that there are measurements.
 * lba_offset_sectors: only its remainder modulo the layout's period matters.
 * max_pass: see chips.c. With 16 chips and 128 waiting requests, 256 costs 2 % of the
 *	throughput that no limit has; 32 would cost 23 %.
 */
#define K2_TUNABLES(X)					\
	X(max_inflight, 1, 65535, 32,					\
	  "requests in the device at once, over all hardware queues")	\
	X(meta_every, 0, 65535, 16,					\
	  "real-time requests per waiting metadata request, 0 = strict order") \
	X(idle_wait_ms, 0, 60000, 200,					\
	  "longest time without an idle-class request, in ms, 0 = no idle class") \
	X(inline_dispatch, 0, 1, 1,					\
	  "issue by the submitting task (1) or left to the block layer (0)") \
	X(target_us, 0, 60000000, 0,					\
	  "latency target of real-time requests, in us, 0 = by target_pct") \
	X(target_pct, 1, 100, 50,					\
	  "latency target, in % of the calibrated tail")		\
	X(target_quantile, 500000, 999999, 990000,			\
	  "real-time requests to meet the target, in parts of a million") \
	X(bw_floor_pct, 1, 100, 10,					\
	  "bandwidth to keep, in % of the calibrated bandwidth")	\
	X(rt_hold_ms, 0, 60000, 1000,					\
	  "time without real-time requests that lifts the limit, in ms, 0 = never") \
	X(reserve, 0, 1024, 0,						\
	  "slots of the limit kept for real-time requests")		\
	X(rt_alone, 0, 1, 0,						\
	  "best effort waits while a real-time request is in the device (1 = on)") \
	X(nrt_wait_ms, 0, 60000, 0,					\
	  "longest time without a best-effort request, in ms, 0 = unlimited") \
	X(observe, 0, 1, 0,						\
	  "measurements with policy static, too (1 = on)")		\
	X(lba_offset_sectors, 0, 2147483647, 0,				\
	  "start of this device on the drive, in sectors of 512 bytes, for layout") \
	X(max_pass, 0, 65535, 256,					\
	  "later requests that may pass one for their chips, 0 = none")

#define K2_TEXTS(X)						\
	X(policy, k2_check_policy, "static",			\
	  "one of static latency bandwidth",			\
	  "choice of the in-flight limit")	\
	X(bound_unit, k2_check_unit, "requests",		\
	  "one of requests cost",				\
	  "unit of the in-flight limit")					\
	X(layout, flash_layout_check, "none",			\
	  "none, page=BYTES chips=N or page=BYTES terms=DIV:MOD:MUL,...",	\
	  "map from pages to flash chips")

#define K2_SHOWN(X)						\
	X(bound, k2_bound_show)					\
	X(observed_tail_us, k2_tail_show)			\
	X(bw_share_pct, k2_share_show)				\
	X(infeasible, k2_infeasible_show)

#define K2_COMMANDS(X)						\
	X(calibrate, k2_calibrate_show, k2_calibrate_store)	\
	X(rt_cgroups, k2_groups_show, k2_groups_store)

static const char * const k2_policies[K2_NR_POLICIES] = {
	[K2_STATIC] = "static", [K2_LATENCY] = "latency", [K2_BANDWIDTH] = "bandwidth",
};

static const char * const k2_units[] = { "requests", "cost" };

static int k2_check_policy(const char *text)
{
	return flash_word_check(k2_policies, K2_NR_POLICIES, text);
}

static int k2_check_unit(const char *text)
{
	return flash_word_check(k2_units, ARRAY_SIZE(k2_units), text);
}

static ssize_t k2_calibrate_store(struct elevator_queue *eq, const char *page, size_t count);

FLASH_DEFINE_ATTRS(K2_TUNABLES, K2_TEXTS, K2_SHOWN, K2_COMMANDS);

static_assert(FLASH_LAYOUT_LEN <= FLASH_TEXT_LEN);

/**
 * struct k2_rq - the record of a request
 * @fr: the part of all policies
 * @admit: its charge of the in-flight limit; only if flash_rq.watched
 * @chips: its chips. While it waits in the best-effort queue and a layout is set, valid
 *	for each request; in flight only if flash_rq.watched
 * @inserted: time of its first insertion, ns; 0: it was inserted at the head; only if
 *	flash_rq.watched
 * @behind_excess: result of autolimit_insert(); only if flash_rq.watched
 */
struct k2_rq {
	struct flash_rq fr;
	struct k2_admit_rq admit;
	struct k2_chips_rq chips;
	u64 inserted;
	bool behind_excess;
};

static struct k2_rq *to_k2_rq(struct flash_rq *fr)
{
	return container_of(fr, struct k2_rq, fr);
}

/* Settings */

/* The reason of the limit in force, for the trace */
static enum flash_why k2_limit_why(const struct autolimit *al)
{
	if (al->measure.on)
		return FLASH_WHY_CALIBRATE;
	if (al->open)
		return FLASH_WHY_OPEN;
	return autolimit_searches(al) ? FLASH_WHY_SEARCH : FLASH_WHY_SET;
}

/* The search may have another limit. */
static inline void k2_apply_limit(struct k2_queue *k2)
{
	struct flash_queue *fq = &k2->fq;
	u32 limit = autolimit_get(k2->al);

	lockdep_assert_held(&fq->lock);

	if (fq->bound == limit)
		return;
	trace_flash_bound(fq, limit, k2_limit_why(k2->al));
	flash_set_bound(fq, limit);
}

/* A setting has changed, or a calibration has its result. */
static void k2_apply(struct k2_queue *k2)
{
	struct flash_queue *fq = &k2->fq;
	bool watches = autolimit_watches(k2->al) || k2_admit_watches(&k2->admit) ||
		       k2_chips_has_layout(k2->chips) || flash_tun(fq, TUN_observe);

	if (fq->watches != watches)
		WRITE_ONCE(fq->watches, watches);
	k2_apply_limit(k2);
	flash_change(fq);
}

static struct autolimit_config k2_autolimit_config(const struct k2_queue *k2)
{
	const struct flash_queue *fq = &k2->fq;

	return (struct autolimit_config) {
		.policy		= k2->policy,
		.start		= flash_tun(fq, TUN_max_inflight),
		.quantile	= flash_tun(fq, TUN_target_quantile),
		.target_ns	= flash_tun(fq, TUN_target_us) * (u64)NSEC_PER_USEC,
		.target_pct	= flash_tun(fq, TUN_target_pct),
		.floor_pct	= flash_tun(fq, TUN_bw_floor_pct),
		.hold_ns	= flash_tun(fq, TUN_rt_hold_ms) * (u64)NSEC_PER_MSEC,
	};
}

/* Numbers that the other files read under the lock, but those of the search */
static void k2_numbers_apply(struct k2_queue *k2)
{
	const struct flash_queue *fq = &k2->fq;

	k2->admit.reserve = flash_tun(fq, TUN_reserve);
	k2->admit.rt_alone = flash_tun(fq, TUN_rt_alone);
	k2->admit.wait_ns = flash_tun(fq, TUN_nrt_wait_ms) * (u64)NSEC_PER_MSEC;
	k2->chips->max_pass = flash_tun(fq, TUN_max_pass);
}

/* Data that a request moves, in sectors */
static inline unsigned int k2_sectors(const struct request *rq)
{
	return flash_dir_of(rq) == FLASH_NR_DIRS ? 0 : blk_rq_sectors(rq);
}

/* Sort the oldest best-effort request by the layout that is not sorted yet. */
static bool k2_resort(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	struct request *rq = list_entry(k2->unsorted, struct request, queuelist);

	k2_chips_insert(k2->chips, &to_k2_rq(flash_rq_of(rq))->chips, flash_sector_of(rq),
			k2_sectors(rq));
	k2->unsorted = rq->queuelist.next;
	return k2->unsorted == &k2->fifo[K2_BE];
}

/* Sort waiting best-effort requests by the layout that is set. */
static void k2_chips_apply(struct k2_queue *k2)
{
	struct list_head *be = &k2->fifo[K2_BE];

	lockdep_assert_held(&k2->fq.lock);

	k2_chips_set_layout(k2->chips, &k2->layout, flash_tun(&k2->fq, TUN_lba_offset_sectors));
	if (!k2_chips_has_layout(k2->chips) || list_empty(be))
		return;
	k2->unsorted = be->next;
	flash_resort(&k2->fq);
}

static int k2_init(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	struct autolimit_config cfg;
	unsigned int class;

	for (class = 0; class < K2_NR_CLASSES; class++)
		INIT_LIST_HEAD(&k2->fifo[class]);
	if (!fq->disk->policy_data)
		fq->disk->policy_data = kvzalloc(sizeof(struct k2_disk), GFP_KERNEL);
	k2->al = kvzalloc_node(sizeof(*k2->al), GFP_KERNEL, fq->q->node);
	k2->chips = kvzalloc_node(sizeof(*k2->chips), GFP_KERNEL, fq->q->node);
	if (!fq->disk->policy_data || !k2->al || !k2->chips || k2_groups_init(k2)) {
		kvfree(k2->chips);
		kvfree(k2->al);
		return -ENOMEM;
	}
	flash_lock(fq);
	/* All texts were checked when they were set. */
	k2->policy = match_string(k2_policies, K2_NR_POLICIES, fq->disk->text[TEXT_policy]);
	k2->admit.by_cost = match_string(k2_units, ARRAY_SIZE(k2_units),
					 fq->disk->text[TEXT_bound_unit]);
	k2_chips_init(k2->chips);
	k2_numbers_apply(k2);
	flash_geometry_parse(fq->disk->text[TEXT_layout], &k2->layout);
	k2_chips_apply(k2);
	cfg = k2_autolimit_config(k2);
	autolimit_init(k2->al, &cfg, &k2_disk(k2)->device, flash_update_now(fq));
	k2_apply(k2);
	flash_unlock(fq);
	return 0;
}

static void k2_exit(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	unsigned int class;

	for (class = 0; class < K2_NR_CLASSES; class++)
		WARN_ON_ONCE(!list_empty(&k2->fifo[class]));
	WARN_ON_ONCE(k2->admit.nr || k2->admit.load || k2->admit.load_not_rt);
	WARN_ON_ONCE(k2->chips->occ.busy);
	WARN_ON_ONCE(k2_chips_has_layout(k2->chips) && k2->chips->waiting);
	k2_groups_exit(k2);
	kvfree(k2->chips);
	kvfree(k2->al);
}

/* Classes */

/* The real-time level of a priority; K2_RT_LEVELS: none */
static unsigned int k2_level(unsigned short ioprio)
{
	return IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_RT ? compat_ioprio_level(ioprio) :
							      K2_RT_LEVELS;
}

static bool k2_ioprio_idle(unsigned short ioprio)
{
	return IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_IDLE;
}

/* @meta: other tasks are likely to wait for the request */
static unsigned int k2_class(unsigned int level, bool meta, unsigned short ioprio)
{
	if (level < K2_RT_LEVELS)
		return level;
	if (meta)
		return K2_META;
	return k2_ioprio_idle(ioprio) ? K2_IDLE : K2_BE;
}

/* Does any control group have a real-time level? Without the lock */
static inline bool k2_has_groups(const struct k2_queue *k2)
{
	return unlikely(rcu_access_pointer(k2->table));
}

/* The current task's I/O priority. The level of one that is not real-time does not matter. */
static __always_inline unsigned short k2_task_ioprio(void)
{
	/* It has set none, and its CPU class gives it best effort: most tasks. */
	if (likely(!current->io_context && current->policy == SCHED_NORMAL))
		return IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 0);
	return get_current_ioprio();
}

static __always_inline enum flash_urgency k2_urgency(const struct flash_queue *fq, blk_opf_t opf)
{
	const struct k2_queue *k2 = container_of(fq, const struct k2_queue, fq);
	unsigned short ioprio = k2_task_ioprio();

	if (k2_level(ioprio) < K2_RT_LEVELS || (k2_has_groups(k2) && k2_task_has_group(k2)))
		return FLASH_URGENT;
	if (opf & FLASH_ROOT_FLAGS)
		return FLASH_RELATED;
	/* Idle requests wait for best effort, which must find a tag. */
	return k2_ioprio_idle(ioprio) && flash_tun(fq, TUN_idle_wait_ms) ?
	       FLASH_BACKGROUND : FLASH_PATIENT;
}

static unsigned int k2_bio_class(struct flash_queue *fq, const struct bio *bio)
{
	unsigned int level = k2_level(bio->bi_ioprio);

	if (k2_has_groups(to_k2(fq)))
		level = k2_group_level(to_k2(fq), level, flash_bio_css(bio));
	return k2_class(level, bio->bi_opf & FLASH_ROOT_FLAGS, bio->bi_ioprio);
}

static __always_inline unsigned int k2_rq_class(struct flash_queue *fq, const struct request *rq)
{
	unsigned short ioprio = req_get_ioprio((struct request *)rq);
	bool meta = (rq->rq_flags & RQF_FLUSH_SEQ) || flash_rq_root(rq);
	unsigned int own = k2_level(ioprio), level = own;
	struct k2_queue *k2 = to_k2(fq);

	/* All bios of a request are of one group. */
	if (k2_has_groups(k2)) {
		level = k2_group_level(k2, own, flash_bio_css(rq->bio));
		k2->rt_by_group += level < own;
	}
	return k2_class(level, meta, ioprio);
}

/* Insert and merge */

static __always_inline void k2_arrived(struct flash_queue *fq, struct flash_rq *fr)
{
	if (unlikely(fr->watched))
		memset(fr + 1, 0, sizeof(struct k2_rq) - sizeof(*fr));
}

/* Is a class sorted by chips? */
static bool k2_by_chips(const struct k2_queue *k2, unsigned int class)
{
	return class == K2_BE && k2_chips_has_layout(k2->chips);
}

/* Not inline, so that k2_insert() saves few registers */
static noinline void k2_watch_insert(struct k2_queue *k2, struct flash_rq *fr)
{
	struct k2_rq *kr = to_k2_rq(fr);
	bool rt = fr->class < K2_RT_LEVELS, behind_excess;
	u64 now = k2->fq.now;

	behind_excess = autolimit_insert(k2->al, rt, (int)k2->fq.out, now);
	/* A request that is inserted again keeps the time of its first insertion. */
	if (fr->watched && !kr->inserted) {
		kr->inserted = now;
		kr->behind_excess = behind_excess;
		kr->admit.rt = rt;
	}
	if (fr->class >= K2_BE && k2->nr[K2_BE] + k2->nr[K2_IDLE] == 1)
		k2->admit.be_since = now;
	if (k2_by_chips(k2, fr->class))
		k2_chips_insert(k2->chips, &kr->chips, flash_sector_of(fr->rq),
				k2_sectors(fr->rq));
	k2_apply_limit(k2);
}

static __always_inline void k2_insert(struct flash_queue *fq, struct flash_rq *fr)
{
	struct k2_queue *k2 = to_k2(fq);

	list_add_tail(&fr->rq->queuelist, &k2->fifo[fr->class]);
	k2->nr[fr->class]++;
	k2->order.busy |= 1U << fr->class;
	if (unlikely(fr->class < K2_RT_LEVELS && !fq->one_by_one))
		WRITE_ONCE(fq->one_by_one, true);
	if (unlikely(fr->class == K2_IDLE) && k2->nr[K2_IDLE] == 1)
		k2->idle.since = ktime_get_ns();
	if (unlikely(fq->watches))
		k2_watch_insert(k2, fr);
}

static inline void k2_remove(struct k2_queue *k2, struct flash_rq *fr)
{
	list_del_init(&fr->rq->queuelist);
	if (!--k2->nr[fr->class])
		k2->order.busy &= ~(1U << fr->class);
}

static void k2_grown(struct flash_queue *fq, struct flash_rq *fr)
{
	struct k2_queue *k2 = to_k2(fq);

	if (k2_by_chips(k2, fr->class))
		k2_chips_grow(k2->chips, &to_k2_rq(fr)->chips, flash_sector_of(fr->rq),
			      k2_sectors(fr->rq));
}

static void k2_merged(struct flash_queue *fq, struct flash_rq *fr, struct flash_rq *gone)
{
	struct k2_queue *k2 = to_k2(fq);

	if (unlikely(fq->watches) && k2_by_chips(k2, fr->class)) {
		k2_chips_absorb(k2->chips, &to_k2_rq(fr)->chips, &to_k2_rq(gone)->chips);
		k2_grown(fq, fr);
	}
	/* First in, first out: keep the earlier one of the two places. */
	if (gone->seq < fr->seq) {
		list_move(&fr->rq->queuelist, &gone->rq->queuelist);
		fr->seq = gone->seq;
		if (fr->watched && gone->watched)
			to_k2_rq(fr)->inserted = to_k2_rq(gone)->inserted;
	}
	k2_remove(k2, gone);
}

/* Select */

static struct flash_rq *k2_head(struct k2_queue *k2, unsigned int class)
{
	struct request *rq = list_first_entry_or_null(&k2->fifo[class], struct request,
						      queuelist);

	return rq ? flash_rq_of(rq) : NULL;
}

/* The most urgent real-time level, of which a request waits */
static inline unsigned int k2_pick_rt(struct k2_order *o)
{
	o->nr_passes = o->busy & (1U << K2_META) ? o->nr_passes + 1 : 0;
	return __ffs(o->busy & K2_RT_MASK);
}

/*
 * The class to serve next. @meta_first: the oldest metadata request is older than the
 * oldest best-effort one; read only if both wait. The result is K2_BE, too, if only idle
 * requests wait; k2_pick_idle() has to follow if any idle request waits.
 */
static inline unsigned int k2_pick(struct k2_order *o, bool meta_first, unsigned int meta_every)
{
	unsigned int rt = o->busy & K2_RT_MASK, meta = o->busy & (1U << K2_META);

	if (rt && !(meta && meta_every && o->nr_passes >= meta_every))
		return k2_pick_rt(o);
	if (meta && (rt || !(o->busy & (1U << K2_BE)) || meta_first)) {
		o->nr_passes = 0;
		return K2_META;
	}
	return K2_BE;
}

/*
 * Is the idle class served before other non-real-time requests? @first: its oldest request
 * is older than theirs. Never twice in a row (@had_turn): if the time between two choices is
 * longer than idle_wait_ms, all choices would be idle requests.
 */
static bool k2_idle_due(const struct k2_idle *i, u64 now, bool first)
{
	return i->wait_ns ? !i->had_turn && now - i->since >= i->wait_ns : first;
}

/*
 * The class to serve next: @class, or K2_IDLE, of which a request waits. Metadata that is
 * served before waiting real-time requests is not replaced.
 */
static unsigned int k2_pick_idle(const struct k2_order *o, unsigned int class, bool due)
{
	if (class < K2_RT_LEVELS || (class == K2_META && (o->busy & K2_RT_MASK)))
		return class;
	return due || !(o->busy & (1U << class)) ? K2_IDLE : class;
}

/*
 * @class is served while idle requests wait. @instead: another non-real-time request waits.
 * Returns whether an idle request is served because of the limit.
 */
static bool k2_idle_served(struct k2_idle *i, unsigned int class, bool instead, u64 now)
{
	if (class < K2_RT_LEVELS)
		return false;
	i->had_turn = class == K2_IDLE && instead && i->wait_ns;
	if (class == K2_IDLE)
		i->since = now;
	i->turns += i->had_turn;
	return i->had_turn;
}

/* Idle requests wait. Is one served instead of @other, of class @class? */
static noinline unsigned int k2_idle_class(struct k2_queue *k2, unsigned int class,
					   const struct flash_rq *other)
{
	const struct flash_rq *head = k2_head(k2, K2_IDLE);
	struct k2_idle *idle = &k2->idle;
	u64 now = ktime_get_ns();
	bool due;

	idle->wait_ns = flash_tun(&k2->fq, TUN_idle_wait_ms) * (u64)NSEC_PER_MSEC;
	due = k2_idle_due(idle, now, other && head->seq < other->seq);
	class = k2_pick_idle(&k2->order, class, due);
	if (k2_idle_served(idle, class, other, now))
		flash_tell_why(&k2->fq, FLASH_WHY_IDLE_TURN);
	return class;
}

/*
 * By rt_alone: do best effort and the idle class wait for the end of a real-time request in
 * the device? Not if nrt_wait_ms is over, nor while the device is measured without a limit.
 */
static bool k2_be_waits(struct k2_queue *k2)
{
	struct k2_admit *a = &k2->admit;

	return a->rt_alone && a->load > a->load_not_rt && !k2->al->measure.on &&
	       !k2_admit_be_due(a, k2->fq.now);
}

/*
 * k2_pick(), but for the reserve, rt_alone, and nrt_wait_ms, which is about best-effort and
 * idle requests. K2_BE may mean that only idle requests wait, see k2_pick().
 */
static unsigned int k2_watch_class(struct k2_queue *k2, bool meta_first)
{
	unsigned int busy = k2->order.busy, class;
	struct flash_queue *fq = &k2->fq;
	u64 now;

	if ((busy & K2_RT_MASK) && k2_admit_only_rt(&k2->admit, fq->bound))
		return k2_pick_rt(&k2->order);
	class = k2_pick(&k2->order, meta_first || k2_be_waits(k2), flash_tun(fq, TUN_meta_every));
	if (!(busy & K2_BE_IDLE_MASK) || !k2->admit.wait_ns)
		return class;

	now = fq->now;
	if (class < K2_RT_LEVELS && k2_admit_be_due(&k2->admit, now)) {
		class = K2_BE;
		k2->admit.be_turns++;
		flash_tell_why(fq, FLASH_WHY_NRT_TURN);
	}
	if (class == K2_BE)
		k2->admit.be_since = now;
	return class;
}

/*
 * The class to serve next, while K2 watches, and the best-effort request: @be is the oldest
 * one, and with a layout replaced by one for idle chips. It does not pass metadata that is
 * older, so the two classes stay one FIFO where they meet. Not inline, so that k2_select()
 * saves few registers.
 */
static noinline unsigned int k2_watch_pick(struct k2_queue *k2, const struct flash_rq *meta,
					   struct flash_rq **be)
{
	struct k2_chips_rq *oldest = NULL;
	struct flash_rq *pick;
	unsigned int class;

	if (*be && k2_chips_has_layout(k2->chips)) {
		oldest = &to_k2_rq(*be)->chips;
		pick = &container_of(k2_chips_pick(k2->chips, oldest), struct k2_rq, chips)->fr;
		if (!meta || pick->seq < meta->seq)
			*be = pick;
	}
	class = k2_watch_class(k2, meta && *be && meta->seq < (*be)->seq);
	if (unlikely(k2->order.busy & (1U << K2_IDLE)) &&
	    !(class == K2_META && k2_be_waits(k2)))
		class = k2_idle_class(k2, class, class == K2_META ? meta : *be);
	if (oldest && class == K2_BE) {
		struct k2_chips_rq *cr = &to_k2_rq(*be)->chips;

		/* Before waiting real-time requests the reason is FLASH_WHY_NRT_TURN. */
		if (!(k2->order.busy & K2_RT_MASK)) {
			if (cr != oldest)
				flash_tell_why(&k2->fq, FLASH_WHY_CHIPS);
			else if (k2_chips_is_aged(k2->chips, oldest))
				flash_tell_why(&k2->fq, FLASH_WHY_AGED);
		}
		k2_chips_dispatch(k2->chips, cr, oldest);
	}
	return class;
}

static __always_inline struct flash_rq *k2_select(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	struct flash_rq *meta = k2_head(k2, K2_META);
	struct flash_rq *be = k2_head(k2, K2_BE);
	bool meta_first = meta && be && meta->seq < be->seq;
	unsigned int rt = k2->order.busy & K2_RT_MASK;
	struct flash_rq *fr;
	unsigned int class;

	/* Even if another class had its turn: the worker dispatches that as well. */
	if (rt && !flash_may_issue(k2_head(k2, __ffs(rt)))) {
		fq->pass_on = true;
		return NULL;
	}
	if (likely(!fq->watches)) {
		class = k2_pick(&k2->order, meta_first, flash_tun(fq, TUN_meta_every));
		if (unlikely(k2->order.busy & (1U << K2_IDLE)))
			class = k2_idle_class(k2, class, class == K2_META ? meta : be);
	} else {
		class = k2_watch_pick(k2, meta, &be);
	}
	fr = class == K2_BE ? be : k2_head(k2, class);
	if (class == K2_META && (k2->order.busy & K2_RT_MASK)) {
		k2->meta_turns++;
		flash_tell_why(fq, FLASH_WHY_META_TURN);
	}
	k2->served[class]++;
	k2_remove(k2, fr);
	if (class < K2_RT_LEVELS)
		flash_issue_first(fq, fr);
	return fr;
}

/* Must all waiting requests wait, although a slot is free? */
static bool k2_holds(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	unsigned int busy = k2->order.busy;

	return busy &&
	       (k2_admit_holds(&k2->admit, fq->bound, busy & K2_RT_MASK) ||
		(!(busy & ~K2_BE_IDLE_MASK) && k2_be_waits(k2)));
}

/* Started and completed: of requests that were inserted while K2 watched */

static void k2_started(struct flash_queue *fq, struct flash_rq *fr)
{
	struct k2_queue *k2 = to_k2(fq);
	struct k2_rq *kr = to_k2_rq(fr);
	const struct request *rq = fr->rq;
	enum flash_dir dir = flash_dir_of(rq);

	/* With bound_unit=cost, a request that moves no data costs one slot. */
	kr->admit.dir = dir == FLASH_READ ? FLASH_READ : FLASH_WRITE;
	kr->admit.sectors = dir == FLASH_NR_DIRS ? 0 : blk_rq_sectors(rq);
	k2_admit_charge(&k2->admit, &kr->admit, fq->now);
	k2_chips_charge(k2->chips, &kr->chips, dir, flash_sector_of(rq), kr->admit.sectors);
}

static void k2_completed(struct flash_queue *fq, struct flash_rq *fr, bool ended)
{
	struct k2_queue *k2 = to_k2(fq);
	struct k2_rq *kr = to_k2_rq(fr);
	struct autolimit_end end = {
		.now		= fq->now,
		.inserted	= kr->inserted,
		.sectors	= kr->admit.sectors,
		.inflight	= fq->out,
		.rt		= kr->admit.rt,
		.behind_excess	= kr->behind_excess,
		/* By the limit, and not for rt_alone */
		.held_back	= fq->queued && (!flash_slot_free((int)fq->out, fq->bound) ||
						 k2_admit_holds(&k2->admit, fq->bound,
								k2->order.busy & K2_RT_MASK)),
	};

	k2_admit_release(&k2->admit, &kr->admit, ended, end.now);
	k2_chips_release(k2->chips, &kr->chips);
	/* True if a calibration has its result, which stays with the disk. */
	if (ended && autolimit_completed(k2->al, &end)) {
		k2_disk(k2)->device = k2->al->device;
		k2_apply(k2);
	}
	k2_apply_limit(k2);
}

/* Tunables changed */

static void k2_autolimit_apply(struct k2_queue *k2)
{
	struct autolimit_config cfg = k2_autolimit_config(k2);

	autolimit_set(k2->al, &cfg, flash_update_now(&k2->fq));
}

static void k2_tuned(struct flash_queue *fq, unsigned int idx)
{
	struct k2_queue *k2 = to_k2(fq);

	switch (idx) {
	case TUN_meta_every:
	case TUN_idle_wait_ms:
	case TUN_inline_dispatch:
		return;
	}
	flash_lock(fq);
	k2_numbers_apply(k2);
	if (idx == TUN_nrt_wait_ms)
		/* The wait may not have been measured before. */
		k2->admit.be_since = flash_update_now(fq);
	else if (idx == TUN_lba_offset_sectors)
		k2_chips_apply(k2);
	else if (idx <= TUN_rt_hold_ms)
		/* max_inflight or one of the search, which are in front in the list */
		k2_autolimit_apply(k2);
	k2_apply(k2);
	flash_unlock(fq);
	flash_resume(fq);
}

static void k2_text_tuned(struct flash_queue *fq, unsigned int idx, const char *text)
{
	struct k2_queue *k2 = to_k2(fq);

	flash_lock(fq);
	switch (idx) {
	case TEXT_policy:
		k2->policy = match_string(k2_policies, K2_NR_POLICIES, text);
		k2_autolimit_apply(k2);
		break;
	case TEXT_bound_unit:
		k2->admit.by_cost = match_string(k2_units, ARRAY_SIZE(k2_units), text);
		break;
	default:
		flash_geometry_parse(text, &k2->layout);
		k2_chips_apply(k2);
	}
	k2_apply(k2);
	flash_unlock(fq);
	flash_resume(fq);
}

static ssize_t k2_calibrate_store(struct elevator_queue *eq, const char *page, size_t count)
{
	struct flash_queue *fq = eq->elevator_data;
	const char *who = flash_disk_name(fq);
	unsigned int on;
	int ret;

	if (!flash_has_no_nul(page, count, who, "calibrate"))
		return -EINVAL;
	ret = flash_number(page, who, "calibrate", 0, 1, &on);
	if (ret)
		return ret;
	flash_lock(fq);
	autolimit_calibrate(to_k2(fq)->al, on, flash_update_now(fq));
	k2_apply(to_k2(fq));
	flash_unlock(fq);
	flash_resume(fq);
	return count;
}

const struct flash_policy flash_policy = {
	.name		= "k2",
	.queue_size	= sizeof(struct k2_queue),
	.rq_size	= sizeof(struct k2_rq),
	.tags_kept	= FLASH_TAGS_BACKGROUND,
	FLASH_ATTRS,

	.init		= k2_init,
	.exit		= k2_exit,
	.urgency	= k2_urgency,
	.bio_class	= k2_bio_class,
	.arrived	= k2_arrived,
	.rq_class	= k2_rq_class,
	.insert		= k2_insert,
	.grown		= k2_grown,
	.merged		= k2_merged,
	.select		= k2_select,
	.started	= k2_started,
	.completed	= k2_completed,
	.holds		= k2_holds,
	.tuned		= k2_tuned,
	.text_tuned	= k2_text_tuned,
	.resort		= k2_resort,
	.stats		= k2_stats,
	.arrays		= k2_arrays,
};

MODULE_ALIAS("k2-iosched");
MODULE_DESCRIPTION("K2 work-constraining I/O scheduler");
MODULE_LICENSE("GPL");
