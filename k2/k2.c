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
 * queues for the real-time levels and one for the rest. (Two more queues are ours,
 * for metadata and for the idle class: see k2_order.h.) The smaller the bound,
 * the shorter the tail of a real-time request and the less work the device can
 * overlap. The bound is the whole trade-off; the paper writes K2-x for bound x.
 *
 * Who waits for whom is in k2_order.h; how the paper chooses a bound from
 * measurements is in k2_guide.h.
 *
 * That is policy "static", which is all there is unless the user asks for more:
 * for a bound that is found at run time (k2_control.h), for what else lets a
 * request in or keeps it out (k2_admit.h), or by a layout for a choice among
 * best-effort requests (k2_chips.h). Only then does K2 watch what is in flight
 * (flash_queue.watches), and functions named k2_watch_*() run.
 */
#include <linux/ktime.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "../common/elevator/cgroup.h"
#include "../common/elevator/trace.h"
#include "k2.h"

/*
 * max_inflight: the paper's queue length bound. 32 is the default of the
 *	original code; the paper's sweep is 1 to 64.
 * meta_every: see k2_order.h. 16 costs a real-time flood one slot in 17 and
 *	only while a metadata request waits. 0 is the paper's strict order.
 * idle_wait_ms: see k2_order.h. One request of the idle class in 200 ms costs best
 *	effort next to nothing, and an idle task that holds a lock of a file system
 *	keeps others waiting for no longer than that for each of its requests.
 * inline_dispatch: see elevator.c.
 * target_us, target_pct, target_quantile, bw_floor_pct, rt_hold_ms: see struct
 *	k2_target.
 * reserve, nrt_wait_ms: see k2_admit.h. 0 is the paper.
 * lba_offset_sectors: only its remainder modulo the layout's period matters.
 * max_pass: see k2_chips.h. With 16 chips and 128 requests that wait, 256 costs
 *	2 % of what no limit does; 32 would cost 23 %.
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
	  "time without real-time requests that lifts the bound, in ms, 0 = never") \
	X(reserve, 0, 1024, 0,						\
	  "slots of the bound kept for real-time requests")		\
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
	  "choice of the bound on requests in the device")	\
	X(bound_unit, k2_check_unit, "requests",		\
	  "one of requests cost",				\
	  "unit of the bound")					\
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
	[K2_STATIC]	= "static",
	[K2_LATENCY]	= "latency",
	[K2_BANDWIDTH]	= "bandwidth",
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

static ssize_t k2_calibrate_store(struct elevator_queue *eq, const char *page,
				  size_t count);
static ssize_t k2_groups_store(struct elevator_queue *eq, const char *page,
			       size_t count);

FLASH_DEFINE_ATTRS(K2_TUNABLES, K2_TEXTS, K2_SHOWN, K2_COMMANDS);

static_assert(FLASH_LAYOUT_LEN <= FLASH_TEXT_LEN);

/**
 * struct k2_rq - K2's record of a request; of the rest nothing is touched unless
 *	it is watched
 * @fr: what every policy has
 * @in: what it takes of the device
 * @it: what it takes of the chips; also of one that is not watched, while it waits
 * @arrived: when it first came, ns; 0: it went before everything
 * @returned: see k2_control_arrived()
 */
struct k2_rq {
	struct flash_rq fr;
	struct k2_admit_rq in;
	struct k2_chips_item it;
	u64 arrived;
	bool returned;
};

/**
 * struct k2_table - a copy of k2_kept.groups that does not change any more
 * @rcu: frees it
 * @groups: the copy
 */
struct k2_table {
	struct rcu_head rcu;
	struct k2_groups groups;
};

static struct k2_rq *to_k2_rq(struct flash_rq *fr)
{
	return container_of(fr, struct k2_rq, fr);
}

static struct k2_chips_item *k2_it(struct flash_rq *fr)
{
	return &to_k2_rq(fr)->it;
}

/* May any of what waits go? Nothing else holds requests back but the bound. */
static bool k2_holds(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	bool rt = k2->order.busy & K2_RT_MASK;

	return fq->watches && k2->order.busy &&
	       (k2_admit_full(&k2->admit, fq->bound) ||
		(!rt && k2_admit_kept(&k2->admit, fq->bound)));
}

/* Why the bound is what it is. */
static enum flash_why k2_watch_why(const struct k2_control *c)
{
	if (c->calibrating)
		return FLASH_WHY_CALIBRATE;
	if (c->open)
		return FLASH_WHY_OPEN;
	return k2_control_rules(c) ? FLASH_WHY_SEARCH : FLASH_WHY_SET;
}

/* What was found, or set, is in force. Whoever calls this kicks after it. */
static void k2_watch_follow(struct k2_queue *k2)
{
	struct flash_queue *fq = &k2->fq;
	bool watches = k2_control_watches(k2->control) ||
		       k2_admit_watches(&k2->admit) ||
		       k2_chips_known(k2->chips) ||
		       flash_tun(fq, TUN_observe);

	lockdep_assert_held(&fq->lock);

	if (fq->watches != watches)
		WRITE_ONCE(fq->watches, watches);
	if (fq->bound != k2->control->bound) {
		trace_flash_bound(fq, k2->control->bound,
				  k2_watch_why(k2->control));
		WRITE_ONCE(fq->bound, k2->control->bound);
	}
	fq->changed = true;
}

/* What the user wants of the search. */
static struct k2_target k2_target(const struct k2_queue *k2)
{
	const struct flash_queue *fq = &k2->fq;
	struct k2_target t = {
		.policy		= k2->policy,
		.start		= flash_tun(fq, TUN_max_inflight),
		.quantile	= flash_tun(fq, TUN_target_quantile),
		.target_ns	= flash_tun(fq, TUN_target_us) *
				  (u64)NSEC_PER_USEC,
		.target_pct	= flash_tun(fq, TUN_target_pct),
		.floor_pct	= flash_tun(fq, TUN_bw_floor_pct),
		.hold_ns	= flash_tun(fq, TUN_rt_hold_ms) *
				  (u64)NSEC_PER_MSEC,
	};

	return t;
}

/* What the user wants of what lets requests in; the unit is known. */
static void k2_admit_set(struct k2_queue *k2)
{
	const struct flash_queue *fq = &k2->fq;

	k2->admit.reserve = flash_tun(fq, TUN_reserve);
	k2->admit.wait_ns = flash_tun(fq, TUN_nrt_wait_ms) * (u64)NSEC_PER_MSEC;
}

/* Sectors of data that a request moves. */
static unsigned int k2_sectors(const struct request *rq)
{
	return flash_dir_of(rq) == FLASH_NR_DIRS ? 0 : blk_rq_sectors(rq);
}

/* The layout that was set is in force: all of best effort that waits sorts by it. */
static void k2_chips_apply(struct k2_queue *k2)
{
	struct k2_chips *chips = k2->chips;
	struct request *rq;

	lockdep_assert_held(&k2->fq.lock);

	k2_chips_set(chips, &k2->given,
		     flash_tun(&k2->fq, TUN_lba_offset_sectors));
	if (!k2_chips_known(chips))
		return;
	list_for_each_entry(rq, &k2->fifo[K2_NRT], queuelist)
		k2_chips_add(chips, k2_it(flash_rq_of(rq)), flash_sector_of(rq),
			     k2_sectors(rq));
}

/*
 * These groups have a level, for what comes from now on. @table is given away: none
 * is needed if there is no such group.
 */
static void k2_groups_apply(struct k2_queue *k2, const struct k2_groups *groups,
			    struct k2_table *table)
{
	struct k2_table *old;

	table->groups = *groups;
	old = rcu_replace_pointer(k2->table, groups->nr ? table : NULL,
				  lockdep_is_held(&k2->fq.lock));
	if (!groups->nr) {
		kfree(table);
		/* Whoever asks for a tag tells whether there is somebody else. */
		WRITE_ONCE(k2->fq.urgent_seen, false);
	}
	/* Who asks for a tag reads it without the lock. */
	kfree_rcu(old, rcu);
}

static int k2_init(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	struct k2_table *table;
	struct k2_kept *kept;
	struct k2_target t;
	unsigned int class;

	for (class = 0; class < K2_NR_CLASSES; class++)
		INIT_LIST_HEAD(&k2->fifo[class]);
	if (!fq->disk->kept)
		fq->disk->kept = kvzalloc(sizeof(struct k2_kept), GFP_KERNEL);
	kept = k2_kept(k2);
	table = kmalloc(sizeof(*table), GFP_KERNEL);
	k2->control = kvzalloc_node(sizeof(*k2->control), GFP_KERNEL,
				    fq->q->node);
	k2->chips = kvzalloc_node(sizeof(*k2->chips), GFP_KERNEL, fq->q->node);
	if (!kept || !table || !k2->control || !k2->chips) {
		kvfree(k2->chips);
		kvfree(k2->control);
		kfree(table);
		return -ENOMEM;
	}
	flash_lock(fq);
	/* All texts were legal when they were set. */
	k2->policy = match_string(k2_policies, K2_NR_POLICIES,
				  fq->disk->text[TEXT_policy]);
	k2->admit.by_cost = match_string(k2_units, ARRAY_SIZE(k2_units),
					 fq->disk->text[TEXT_bound_unit]);
	k2_admit_set(k2);
	k2_chips_init(k2->chips);
	k2->chips->max_pass = flash_tun(fq, TUN_max_pass);
	flash_geometry_parse(fq->disk->text[TEXT_layout], &k2->given);
	k2_chips_apply(k2);
	t = k2_target(k2);
	k2_control_init(k2->control, &t, &kept->cal, ktime_get_ns());
	k2_watch_follow(k2);
	k2_groups_apply(k2, &kept->groups, table);
	flash_unlock(fq);
	return 0;
}

static void k2_exit(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	unsigned int class;

	for (class = 0; class < K2_NR_CLASSES; class++)
		WARN_ON_ONCE(!list_empty(&k2->fifo[class]));
	WARN_ON_ONCE(k2->admit.nr || k2->admit.load || k2->admit.rest);
	WARN_ON_ONCE(k2->chips->occ.busy);
	WARN_ON_ONCE(k2_chips_known(k2->chips) && k2->chips->waiting);
	/* Who could read it would have to be in the device's queue. */
	kfree(rcu_dereference_protected(k2->table, true));
	kvfree(k2->chips);
	kvfree(k2->control);
}

/* The real-time level that a priority has by itself; K2_RT_LEVELS: none. */
static unsigned int k2_level(unsigned short ioprio)
{
	return IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_RT ?
	       elv_ioprio_level(ioprio) : K2_RT_LEVELS;
}

static bool k2_has_groups(const struct k2_queue *k2)
{
	return unlikely(rcu_access_pointer(k2->table));
}

/* The level of a group, or FLASH_GROUP_NONE; under RCU, or with the lock held. */
static u32 k2_group_level(const struct k2_queue *k2,
			  const struct cgroup_subsys_state *css)
{
	const struct k2_table *table;

	table = rcu_dereference_check(k2->table,
				      lockdep_is_held(&k2->fq.lock));
	/* Taken back meanwhile? */
	return table ? flash_groups_near(table->groups.g, table->groups.nr,
					 css) : FLASH_GROUP_NONE;
}

static bool k2_ioprio_idle(unsigned short ioprio)
{
	return IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_IDLE;
}

static unsigned int k2_class(unsigned int level, bool meta, unsigned short ioprio)
{
	return k2_classify_idle(k2_classify(level < K2_RT_LEVELS, level, meta),
				k2_ioprio_idle(ioprio));
}

static unsigned int k2_bio_class(struct flash_queue *fq, const struct bio *bio)
{
	unsigned int level = k2_level(bio->bi_ioprio);
	struct k2_queue *k2 = to_k2(fq);

	if (k2_has_groups(k2))
		level = k2_urgent(level,
				  k2_group_level(k2, flash_bio_css(bio)));
	return k2_class(level, bio->bi_opf & FLASH_ROOT_FLAGS, bio->bi_ioprio);
}

static unsigned int k2_rq_class(struct flash_queue *fq, const struct request *rq)
{
	unsigned short ioprio = req_get_ioprio((struct request *)rq);
	unsigned int own = k2_level(ioprio);
	bool meta = (rq->rq_flags & RQF_FLUSH_SEQ) || flash_rq_root(rq);
	struct k2_queue *k2 = to_k2(fq);
	unsigned int level = own;

	/* All bios of a request are of one group. */
	if (k2_has_groups(k2)) {
		level = k2_urgent(own,
				  k2_group_level(k2, flash_bio_css(rq->bio)));
		k2->rt_by_group += level < own;
	}
	return k2_class(level, meta, ioprio);
}

/* The task's own priority, and its group: whose bio it will send nobody knows yet. */
static bool k2_task_urgent(const struct k2_queue *k2, unsigned short ioprio)
{
	bool urgent;

	if (k2_level(ioprio) < K2_RT_LEVELS)
		return true;
	if (!k2_has_groups(k2))
		return false;
	rcu_read_lock();
	urgent = k2_group_level(k2, flash_task_css()) != FLASH_GROUP_NONE;
	rcu_read_unlock();
	return urgent;
}

static enum flash_urgency k2_urgency(const struct flash_queue *fq, blk_opf_t opf)
{
	unsigned short ioprio = get_current_ioprio();

	if (k2_task_urgent(container_of(fq, const struct k2_queue, fq), ioprio))
		return FLASH_URGENT;
	if (opf & FLASH_ROOT_FLAGS)
		return FLASH_RELATED;
	/* Idle requests wait for best effort, which must find a tag. */
	return k2_ioprio_idle(ioprio) && flash_tun(fq, TUN_idle_wait_ms) ?
	       FLASH_BACKGROUND : FLASH_PATIENT;
}

/* A request has come. Not inline, so that k2_insert() saves few registers. */
static noinline void k2_watch_insert(struct k2_queue *k2, struct flash_rq *fr)
{
	struct k2_rq *kr = to_k2_rq(fr);
	bool rt = fr->class < K2_RT_LEVELS, returned;
	u64 now = ktime_get_ns();

	returned = k2_control_arrived(k2->control, rt,
				      atomic_read(&k2->fq.inflight), now);
	/* Not of one that has come back. */
	if (fr->watched && !kr->arrived) {
		kr->arrived = now;
		kr->returned = returned;
		kr->in.rt = rt;
	}
	if (fr->class >= K2_NRT && k2->nr[K2_NRT] + k2->nr[K2_IDLE] == 1)
		k2_admit_waits(&k2->admit, now);
	if (fr->class == K2_NRT && k2_chips_known(k2->chips))
		k2_chips_add(k2->chips, &kr->it, flash_sector_of(fr->rq),
			     k2_sectors(fr->rq));
	k2_watch_follow(k2);
}

static void k2_insert(struct flash_queue *fq, struct flash_rq *fr)
{
	struct k2_queue *k2 = to_k2(fq);

	list_add_tail(&fr->rq->queuelist, &k2->fifo[fr->class]);
	k2->nr[fr->class]++;
	k2->order.busy |= 1U << fr->class;
	if (unlikely(fr->class == K2_IDLE) && k2->nr[K2_IDLE] == 1)
		k2->idle.since = ktime_get_ns();
	if (unlikely(fq->watches))
		k2_watch_insert(k2, fr);
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

/* An idle request waits. Does it go in the place of @other, of class @class? */
static noinline unsigned int k2_idle_class(struct k2_queue *k2, unsigned int class,
				  const struct flash_rq *other)
{
	const struct flash_rq *head = k2_head(k2, K2_IDLE);
	struct k2_idle *idle = &k2->idle;
	u64 now = ktime_get_ns();
	bool due;

	idle->wait_ns = flash_tun(&k2->fq, TUN_idle_wait_ms) *
			(u64)NSEC_PER_MSEC;
	due = k2_idle_due(idle, now, other && head->seq < other->seq);
	class = k2_pick_idle(&k2->order, class, due);
	if (k2_idle_served(idle, class, !!other, now))
		flash_tell_why(&k2->fq, FLASH_WHY_IDLE_TURN);
	return class;
}

/* The class to serve next: k2_pick(), but for a reserve and a cap on starvation. */
static unsigned int k2_watch_class(struct k2_queue *k2, bool meta_first)
{
	struct flash_queue *fq = &k2->fq;
	struct k2_order *o = &k2->order;
	unsigned int class;
	u64 now;

	if (!(o->busy & K2_RT_MASK))
		class = k2_pick(o, meta_first, 0);
	else if (k2_admit_kept(&k2->admit, fq->bound))
		return k2_pick_rt(o);
	else
		class = k2_pick(o, meta_first, flash_tun(fq, TUN_meta_every));
	if (!(o->busy & K2_REST_MASK) || !k2->admit.wait_ns)
		return class;

	now = ktime_get_ns();
	if (class < K2_RT_LEVELS && k2_admit_due(&k2->admit, now)) {
		class = K2_NRT;
		k2->admit.turns++;
		flash_tell_why(fq, FLASH_WHY_NRT_TURN);
	}
	if (class == K2_NRT)
		k2_admit_waits(&k2->admit, now);
	return class;
}

/*
 * The same, and which request that is of best effort: @nrt is the oldest one. None
 * passes metadata that came before it; the two go in order of arrival then, so
 * neither starves the other. Not inline, so that k2_select() saves few registers.
 */
static noinline unsigned int k2_watch_pick(struct k2_queue *k2,
				  const struct flash_rq *meta,
				  struct flash_rq **nrt)
{
	struct k2_chips *chips = k2->chips;
	struct k2_chips_item *oldest = NULL;
	struct flash_rq *pick;
	unsigned int class;

	if (*nrt && k2_chips_known(chips)) {
		oldest = k2_it(*nrt);
		pick = &container_of(k2_chips_pick(chips, oldest),
				     struct k2_rq, it)->fr;
		if (!meta || pick->seq < meta->seq)
			*nrt = pick;
	}
	class = k2_watch_class(k2, meta && *nrt && meta->seq < (*nrt)->seq);
	if (unlikely(k2->order.busy & (1U << K2_IDLE)))
		class = k2_idle_class(k2, class, class == K2_META ? meta : *nrt);
	if (oldest && class == K2_NRT) {
		if (k2->order.busy & K2_RT_MASK)
			; /* Said already: it goes before real-time ones. */
		else if (k2_it(*nrt) != oldest)
			flash_tell_why(&k2->fq, FLASH_WHY_CHIPS);
		else if (k2_chips_waited(chips, oldest))
			flash_tell_why(&k2->fq, FLASH_WHY_AGED);
		k2_chips_go(chips, k2_it(*nrt), oldest);
	}
	return class;
}

static struct flash_rq *k2_select(struct flash_queue *fq)
{
	struct k2_queue *k2 = to_k2(fq);
	struct flash_rq *meta = k2_head(k2, K2_META);
	struct flash_rq *nrt = k2_head(k2, K2_NRT);
	bool meta_first = meta && nrt && meta->seq < nrt->seq;
	unsigned int rt = k2->order.busy & K2_RT_MASK;
	struct flash_rq *fr;
	unsigned int class;

	if (rt && !flash_may_issue(k2_head(k2, __ffs(rt)))) {
		fq->pass_on = true;
		return NULL;
	}
	if (likely(!fq->watches)) {
		class = k2_pick(&k2->order, meta_first,
				flash_tun(fq, TUN_meta_every));
		if (unlikely(k2->order.busy & (1U << K2_IDLE)))
			class = k2_idle_class(k2, class,
					      class == K2_META ? meta : nrt);
	} else {
		class = k2_watch_pick(k2, meta, &nrt);
	}
	fr = class == K2_NRT ? nrt : k2_head(k2, class);
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

/* The next two are called for requests that came while K2 was watching, only. */
static void k2_started(struct flash_queue *fq, struct flash_rq *fr)
{
	struct k2_queue *k2 = to_k2(fq);
	struct k2_admit_rq *in = &to_k2_rq(fr)->in;
	const struct request *rq = fr->rq;
	enum flash_dir dir = flash_dir_of(rq);

	/* What moves no data costs one slot, as if it took no time. */
	in->dir = dir == FLASH_READ ? FLASH_READ : FLASH_WRITE;
	in->sectors = dir == FLASH_NR_DIRS ? 0 : blk_rq_sectors(rq);
	k2_admit_take(&k2->admit, in, ktime_get_ns());
	k2_chips_take(k2->chips, k2_it(fr), dir, flash_sector_of(rq),
		      in->sectors);
}

static void k2_completed(struct flash_queue *fq, struct flash_rq *fr, bool ended)
{
	struct k2_queue *k2 = to_k2(fq);
	struct k2_control *c = k2->control;
	struct k2_rq *kr = to_k2_rq(fr);
	int inflight = atomic_read(&fq->inflight);
	struct k2_end end = {
		.now		= ktime_get_ns(),
		.arrived	= kr->arrived,
		.sectors	= kr->in.sectors,
		.inflight	= inflight > 0 ? inflight : 0,
		.rt		= kr->in.rt,
		.returned	= kr->returned,
		.refused	= fq->queued &&
				  (fq->held ||
				   !flash_slot_free(inflight, fq->bound)),
	};

	k2_admit_give(&k2->admit, &kr->in, ended, end.now);
	k2_chips_give(k2->chips, &kr->it);
	if (ended && k2_control_done(c, &end))
		k2_kept(k2)->cal = c->cal;
	/* The slot that is given back next kicks. */
	k2_watch_follow(k2);
}

static void k2_grown(struct flash_queue *fq, struct flash_rq *fr)
{
	struct k2_chips *chips = to_k2(fq)->chips;

	if (fr->class == K2_NRT && k2_chips_known(chips))
		k2_chips_grow(chips, k2_it(fr), flash_sector_of(fr->rq),
			      k2_sectors(fr->rq));
}

/* @fr has swallowed @gone; both still wait where they were. */
static void k2_watch_merged(struct k2_queue *k2, struct flash_rq *fr,
			    struct flash_rq *gone)
{
	if (fr->class != K2_NRT || !k2_chips_known(k2->chips))
		return;
	k2_chips_absorb(k2->chips, k2_it(fr), k2_it(gone));
	k2_chips_grow(k2->chips, k2_it(fr), flash_sector_of(fr->rq),
		      k2_sectors(fr->rq));
}

static void k2_merged(struct flash_queue *fq, struct flash_rq *fr,
		      struct flash_rq *gone)
{
	struct k2_queue *k2 = to_k2(fq);

	if (unlikely(fq->watches))
		k2_watch_merged(k2, fr, gone);
	/* FIFO by first arrival: keep the earlier of the two places. */
	if (gone->seq < fr->seq) {
		list_move(&fr->rq->queuelist, &gone->rq->queuelist);
		fr->seq = gone->seq;
		if (fr->watched && gone->watched)
			to_k2_rq(fr)->arrived = to_k2_rq(gone)->arrived;
	}
	k2_remove(k2, gone);
}

static void k2_tuned(struct flash_queue *fq, unsigned int idx)
{
	struct k2_queue *k2 = to_k2(fq);
	struct k2_target t;

	switch (idx) {
	case TUN_meta_every:
	case TUN_idle_wait_ms:
	case TUN_inline_dispatch:
		return;
	}
	flash_lock(fq);
	switch (idx) {
	case TUN_nrt_wait_ms:
		/* Nobody may have looked since when best effort waits. */
		k2_admit_waits(&k2->admit, ktime_get_ns());
		fallthrough;
	case TUN_reserve:
		k2_admit_set(k2);
		break;
	case TUN_lba_offset_sectors:
		k2_chips_apply(k2);
		break;
	case TUN_max_pass:
		k2->chips->max_pass = flash_tun(fq, TUN_max_pass);
		break;
	case TUN_observe:
		break;
	default:
		t = k2_target(k2);
		k2_control_set(k2->control, &t, ktime_get_ns());
	}
	k2_watch_follow(k2);
	flash_unlock(fq);
	flash_resume(fq);
}

static void k2_text_tuned(struct flash_queue *fq, unsigned int idx,
			  const char *text)
{
	struct k2_queue *k2 = to_k2(fq);
	struct k2_target t;

	flash_lock(fq);
	switch (idx) {
	case TEXT_policy:
		k2->policy = match_string(k2_policies, K2_NR_POLICIES, text);
		t = k2_target(k2);
		k2_control_set(k2->control, &t, ktime_get_ns());
		break;
	case TEXT_bound_unit:
		k2->admit.by_cost = match_string(k2_units, ARRAY_SIZE(k2_units),
						 text);
		break;
	default:
		flash_geometry_parse(text, &k2->given);
		k2_chips_apply(k2);
	}
	k2_watch_follow(k2);
	flash_unlock(fq);
	flash_resume(fq);
}

static ssize_t k2_calibrate_store(struct elevator_queue *eq, const char *page,
				  size_t count)
{
	struct flash_queue *fq = eq->elevator_data;
	struct k2_queue *k2 = to_k2(fq);
	const char *who = flash_disk_name(fq);
	unsigned int on;
	int ret;

	if (!flash_whole(page, count, who, "calibrate"))
		return -EINVAL;
	ret = flash_number(page, who, "calibrate", 0, 1, &on);
	if (ret)
		return ret;
	flash_lock(fq);
	k2_control_calibrate(k2->control, on, ktime_get_ns());
	k2_watch_follow(k2);
	flash_unlock(fq);
	flash_resume(fq);
	return count;
}

/* A group gets a level, or has none any more. */
static int k2_group_set(struct flash_queue *fq, u64 id, u32 level)
{
	struct k2_queue *k2 = to_k2(fq);
	struct k2_groups *groups = &k2_kept(k2)->groups;
	struct k2_table *table;
	int ret;

	table = kmalloc(sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;
	flash_lock(fq);
	/* What has come before is not of the class that it would have now. */
	ret = k2_groups_set(groups, id, level);
	if (ret)
		kfree(table);
	else
		k2_groups_apply(k2, groups, table);
	flash_unlock(fq);
	return ret;
}

static const struct flash_group_attr k2_rt_cgroups = {
	.name		= "rt_cgroups",
	.min		= 0,
	.max		= K2_RT_LEVELS - 1,
	.entries	= K2_GROUPS,
	.set		= k2_group_set,
};

static ssize_t k2_groups_store(struct elevator_queue *eq, const char *page,
			       size_t count)
{
	return flash_groups_store(eq, page, count, &k2_rt_cgroups);
}

const struct flash_policy flash_policy = {
	.name		= "k2",
	.queue_size	= sizeof(struct k2_queue),
	.rq_size	= sizeof(struct k2_rq),
	.lockless_insert = true,
	.tags_kept	= FLASH_TAGS_BACKGROUND,
	FLASH_ATTRS,

	.init		= k2_init,
	.exit		= k2_exit,
	.urgency	= k2_urgency,
	.bio_class	= k2_bio_class,
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
	.stats		= k2_stats,
	.arrays		= k2_arrays,
};

MODULE_ALIAS("k2-iosched");
MODULE_DESCRIPTION("K2 work-constraining I/O scheduler");
MODULE_LICENSE("GPL");
