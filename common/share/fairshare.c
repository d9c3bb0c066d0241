// SPDX-License-Identifier: GPL-2.0
/*
 * fairshare.c - the hooks of schedulers that share a device by weight
 *
 * fairqueue.h has the queues. This file connects them with the block layer: it identifies
 * the tenant of a request, lets fair_next() choose after each event (fairshare_holds()),
 * and arms a timer if a request can be chosen as time passes.
 *
 * A tenant is the number of a control group, a process or an I/O priority. No reference is
 * held. A request's bio holds its control group while the group's number is read, and no
 * later group gets the same number. So a group can be removed at any time; its tenant
 * drains and is forgotten a second later. A process that gets the number of a process
 * that has just ended inherits its virtual time.
 *
 * Outside of control groups the tenant is the process, not the thread or its I/O context:
 * Linux gives each thread with an I/O priority its own context, and a process of 64
 * threads would have 64 shares. Threads of io_uring belong to the process.
 *
 * Memory for all tenants is allocated at the start. Tenants are created with the lock held,
 * in a context that must not sleep, and a request cannot be refused.
 *
 * Before there is a request, a task asks for a scheduler tag. The bio that the task is
 * about to submit is not visible there, and is assumed to be the task's own.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include "../elevator/cgroup.h"
#include "fairshare.h"

/* Not linked: each request calls its functions, and the compiler inlines them. */
#include "fairqueue.c"

/* nr_requests that the kernel log suggests where tags are too few */
#define FAIRSHARE_TAGS_ENOUGH	64

/* The tables of every such scheduler begin alike. */
#define FAIRSHARE_TUN(name, ...)	FAIRSHARE_TUN_##name,
#define FAIRSHARE_TEXT(name, ...)	FAIRSHARE_TEXT_##name,
enum { FAIRSHARE_TUNABLES(FAIRSHARE_TUN) };
enum { FAIRSHARE_TEXTS(FAIRSHARE_TEXT) };

static_assert(FLASH_LAYOUT_LEN <= FLASH_TEXT_LEN);

/* Added to the tenant's index in the class of an urgent request */
#define FAIRSHARE_URGENT_CLASS	1000

static_assert(FAIRSHARE_URGENT_CLASS > FLASH_TENANTS);

static const char * const fairshare_bys[] = {
	[FAIRSHARE_BY_AUTO]	= "auto",
	[FAIRSHARE_BY_CGROUP]	= "cgroup",
	[FAIRSHARE_BY_TASK]	= "task",
	[FAIRSHARE_BY_IOPRIO]	= "ioprio",
};

static const char * const fairshare_charges[] = {
	[FAIR_CHARGE_SECTORS]	= "sectors",
	[FAIR_CHARGE_REQUESTS]	= "requests",
	[FAIR_CHARGE_TIME]	= "time",
	[FAIR_CHARGE_AUTO]	= "auto",
};

static struct fairshare_queue *to_fsq(struct flash_queue *fq)
{
	return container_of(fq, struct fairshare_queue, fq);
}

static struct fairshare_rq *to_fsr(struct flash_rq *fr)
{
	return container_of(fr, struct fairshare_rq, fr);
}

/* The scheduler that this file is linked into */
static const struct fairshare *fairshare_scheduler(void)
{
	return flash_policy.data;
}

/** fairshare_check_mode - is @text one of the scheduler's modes? */
int fairshare_check_mode(const char *text)
{
	return flash_word_check(fairshare_scheduler()->modes,
				fairshare_scheduler()->nr_modes, text);
}

/** fairshare_check_by - is @text a value of "tenant_by"? */
int fairshare_check_by(const char *text)
{
	return flash_word_check(fairshare_bys, ARRAY_SIZE(fairshare_bys), text);
}

/** fairshare_check_charge - is @text a value of "charge"? */
int fairshare_check_charge(const char *text)
{
	return flash_word_check(fairshare_charges, ARRAY_SIZE(fairshare_charges), text);
}

static u32 fairshare_prio(unsigned short ioprio)
{
	switch (IOPRIO_PRIO_CLASS(ioprio)) {
	case IOPRIO_CLASS_RT:
		return flash_prio(FLASH_PRIO_RT, compat_ioprio_level(ioprio));
	case IOPRIO_CLASS_BE:
		return flash_prio(FLASH_PRIO_BE, compat_ioprio_level(ioprio));
	case IOPRIO_CLASS_IDLE:
		return flash_prio(FLASH_PRIO_IDLE, 0);
	default:
		return flash_prio(FLASH_PRIO_BE, IOPRIO_BE_NORM);
	}
}

/* Set @key to the running process, if the request is its own. */
static __always_inline void fairshare_task_key(struct tenant_key *key)
{
	/*
	 * Workers submit for others: they write back, continue a flush or an earlier
	 * attempt, or serve a stacked device.
	 */
	if (!in_task() || (current->flags & PF_WQ_WORKER))
		return;
	key->kind = FLASH_BY_TASK;
	key->id = current->tgid;
}

/* Set @key to the tenant of control group @css, if control groups are tenants. */
static __always_inline void fairshare_group_key(enum fairshare_by by,
						const struct cgroup_subsys_state *css,
						blk_opf_t opf, struct tenant_key *key)
{
	bool root = !css || css == blkcg_root_css;

	if (by == FAIRSHARE_BY_CGROUP || !root) {
		if (!css)
			return;
		key->kind = flash_css_cgroup(css) ? FLASH_BY_CGROUP : FLASH_BY_CGROUP1;
		key->id = cgroup_id(css->cgroup);
		return;
	}
	/* Asynchronous writes may be on behalf of any process. */
	if (op_is_sync(opf))
		fairshare_task_key(key);
}

/* Set @key to the tenant of a request with first bio @bio. */
static __always_inline void fairshare_bio_key(const struct fairshare_queue *fsq,
					      const struct bio *bio, blk_opf_t opf,
					      unsigned short ioprio,
					      struct tenant_key *key)
{
	enum fairshare_by by = READ_ONCE(fsq->by);

	key->kind = FLASH_BY_ALL;
	key->id = 0;
	switch (by) {
	case FAIRSHARE_BY_IOPRIO:
		key->kind = FLASH_BY_PRIO;
		key->id = fairshare_prio(ioprio);
		return;
	case FAIRSHARE_BY_TASK:
		fairshare_task_key(key);
		return;
	default:
		fairshare_group_key(by, flash_bio_css(bio), opf, key);
	}
}

/*
 * Set @key to the tenant of the request that the running task is about to submit. False:
 * the task is a worker, and the request may belong to any tenant.
 */
static bool fairshare_sender_key(const struct fairshare_queue *fsq, blk_opf_t opf,
				 struct tenant_key *key)
{
	enum fairshare_by by = READ_ONCE(fsq->by);

	key->kind = FLASH_BY_ALL;
	key->id = 0;
	if (current->flags & PF_WQ_WORKER)
		return false;
	switch (by) {
	case FAIRSHARE_BY_IOPRIO:
		key->kind = FLASH_BY_PRIO;
		key->id = fairshare_prio(get_current_ioprio());
		break;
	case FAIRSHARE_BY_TASK:
		fairshare_task_key(key);
		break;
	default:
		rcu_read_lock();
		fairshare_group_key(by, flash_task_css(), opf, key);
		rcu_read_unlock();
	}
	return true;
}

static u32 fairshare_weight(const struct fairshare_queue *fsq, const struct tenant_key *key,
			    unsigned short ioprio)
{
	switch (key->kind) {
	case FLASH_BY_CGROUP:
		return flash_weights_get(fsq->weights, key->id);
	case FLASH_BY_TASK:
	case FLASH_BY_PRIO:
		return flash_prio_weight(fairshare_prio(ioprio));
	default:
		return FLASH_WEIGHT_DEFAULT;
	}
}

/* fairshare_tag_limit(), where tags may be short */
static noinline unsigned int fairshare_short_limit(struct flash_queue *fq,
						   const struct blk_mq_hw_ctx *hctx,
						   blk_opf_t opf)
{
	unsigned int all = compat_hctx_depth(hctx), free, places = 0;
	struct fairshare_queue *fsq = to_fsq(fq);
	struct flash_tags *tags;
	struct tenant_key key;
	struct tenant *t;
	bool known;
	u32 who;

	free = compat_hctx_free(hctx);
	if (!flash_tags_short(all, free))
		return 0;
	known = fairshare_sender_key(fsq, opf, &key);
	flash_lock(fq);
	t = tenant_expect(&fsq->fair->table, &key);
	/* A new tenant holds no tags yet. */
	if (t) {
		tags = &fsq->tags[compat_hctx_set(hctx)];
		who = t->index;
		places = flash_tags_limit(tags, who, fair_claim(fsq->fair, t, NULL),
					  known, all, free);
		if (places && (opf & FLASH_ROOT_FLAGS))
			places = flash_tags_urgent_limit(tags, who, all);
	}
	fsq->limited += !!places;
	if (t && known && places)
		tenant_wants_tag(t, flash_update_now(fq));
	flash_unlock(fq);
	return places ? flash_tags_shallow(all, compat_shallow_unit(hctx), places) : 0;
}

/** fairshare_tag_limit - hook: which tags may the current task take? */
unsigned int fairshare_tag_limit(struct flash_queue *fq,
				 const struct blk_mq_hw_ctx *hctx, blk_opf_t opf)
{
	/* Usually there are plenty of free tags, and the sender does not matter. */
	if (likely(READ_ONCE(fq->queued) + atomic_read(&fq->inflight) <
		   compat_hctx_depth(hctx) / 2))
		return 0;
	return fairshare_short_limit(fq, hctx, opf);
}

/* The class of a request of @t: its index, and whether the request is urgent */
static inline unsigned int fairshare_class(const struct tenant *t, bool urgent)
{
	return t->index + (urgent ? FAIRSHARE_URGENT_CLASS : 0);
}

/** fairshare_bio_class - hook: the class of a bio as a request */
unsigned int fairshare_bio_class(struct flash_queue *fq, const struct bio *bio)
{
	struct fairshare_queue *fsq = to_fsq(fq);
	struct tenant_table *p = &fsq->fair->table;
	struct tenant_key key;
	struct tenant *t;

	fairshare_bio_key(fsq, bio, bio->bi_opf, bio->bi_ioprio, &key);
	t = tenant_expect(p, &key);
	return t ? fairshare_class(t, bio->bi_opf & FLASH_ROOT_FLAGS) : FLASH_NO_TENANT;
}

/** fairshare_arrived - hook: identify the tenant of a request, in its context */
__always_inline void fairshare_arrived(struct flash_queue *fq, struct flash_rq *fr)
{
	struct request *rq = fr->rq;

	fairshare_bio_key(to_fsq(fq), rq->bio, rq->cmd_flags, req_get_ioprio(rq),
			  &to_fsr(fr)->key);
}

/* The tenant of @fsr is not in the table. */
static noinline struct tenant *fairshare_new_tenant(struct fairshare_queue *fsq,
						    const struct fairshare_rq *fsr,
						    unsigned short ioprio)
{
	return fair_tenant(fsq->fair, &fsr->key, fairshare_weight(fsq, &fsr->key, ioprio),
			   fsq->fq.now);
}

/* A request of process @t has another priority than the request before. */
static noinline void fairshare_note_prio(struct fair_queue *q, struct tenant *t,
					 unsigned short ioprio)
{
	t->second.prio = ioprio;
	fair_note_prio(q, t, flash_prio_weight(fairshare_prio(ioprio)));
}

/** fairshare_rq_class - hook: the class of a request; creates its tenant if necessary */
__always_inline unsigned int fairshare_rq_class(struct flash_queue *fq, const struct request *rq)
{
	unsigned short ioprio = req_get_ioprio((struct request *)rq);
	struct fairshare_rq *fsr = to_fsr(flash_rq_of(rq));
	struct fairshare_queue *fsq = to_fsq(fq);
	struct tenant *t;

	t = tenant_find(&fsq->fair->table, &fsr->key);
	if (unlikely(!t))
		t = fairshare_new_tenant(fsq, fsr, ioprio);
	if (t->key.kind == FLASH_BY_TASK && t->second.prio != ioprio)
		fairshare_note_prio(fsq->fair, t, ioprio);
	fsr->fair.tenant = t;
	return fairshare_class(t, flash_rq_root(rq));
}

/** fairshare_urgency - hook: fairshare_tag_limit() alone limits tags */
__always_inline enum flash_urgency fairshare_urgency(const struct flash_queue *fq, blk_opf_t opf)
{
	return FLASH_PATIENT;
}

/* The set of scheduler tags that the tag of @fr belongs to */
static struct flash_tags *fairshare_tags(struct fairshare_queue *fsq, const struct flash_rq *fr)
{
	return &fsq->tags[compat_hctx_set(fr->rq->mq_hctx)];
}

/*
 * The limit may be another one: after an end, or a change of a tunable. Not in
 * fairshare_holds(), which is not called while the limit is reached.
 *
 * What the driver has no tag for is put on a list of the block layer, which is served in the
 * order of arrival. Shares would follow the number of each tenant's tasks.
 */
static __always_inline void fairshare_set_limit(struct fairshare_queue *fsq)
{
	flash_set_bound(&fsq->fq, min(fair_limit(fsq->fair), fsq->fq.depth));
}

/** fairshare_insert - hook: add a request to its tenant's queue */
__always_inline void fairshare_insert(struct flash_queue *fq, struct flash_rq *fr)
{
	struct fairshare_queue *fsq = to_fsq(fq);
	struct fair_rq *fair = &to_fsr(fr)->fair;
	struct request *rq = fr->rq;

	fair_describe(fair, flash_dir_of(rq), op_is_sync(rq->cmd_flags),
		      flash_sector_of(rq), blk_rq_sectors(rq));
	fair_add(fsq->fair, fair, fair->tenant, fairshare_tags(fsq, fr),
		 fr->class >= FAIRSHARE_URGENT_CLASS, fq->now);
}

/** fairshare_pass - hook: issue a request that waits alone */
__always_inline bool fairshare_pass(struct flash_queue *fq, struct flash_rq *fr)
{
	struct fairshare_queue *fsq = to_fsq(fq);
	struct fair_rq *fair = &to_fsr(fr)->fair;
	struct request *rq = fr->rq;
	u64 arrived = fq->now;

	/* The end of a polled request is not reported. */
	if (!fair_may_pass(fsq->fair, fair->tenant) || fr->class >= FAIRSHARE_URGENT_CLASS ||
	    rq->mq_hctx->type == HCTX_TYPE_POLL)
		return false;
	fair_describe(fair, flash_dir_of(rq), op_is_sync(rq->cmd_flags),
		      flash_sector_of(rq), blk_rq_sectors(rq));
	fair_pass(fsq->fair, fair, fair->tenant, fairshare_tags(fsq, fr), arrived,
		  flash_update_now(fq));
	return true;
}

/** fairshare_grown - hook: a waiting request has merged with a bio */
void fairshare_grown(struct flash_queue *fq, struct flash_rq *fr)
{
	struct fairshare_queue *fsq = to_fsq(fq);

	fair_grow(fsq->fair, &to_fsr(fr)->fair, flash_sector_of(fr->rq),
		  blk_rq_sectors(fr->rq));
}

/** fairshare_merged - hook: a waiting request has absorbed another one */
void fairshare_merged(struct flash_queue *fq, struct flash_rq *fr, struct flash_rq *gone)
{
	struct fairshare_queue *fsq = to_fsq(fq);
	bool earlier = gone->seq < fr->seq;

	if (earlier)
		fr->seq = gone->seq;
	fair_absorb(fsq->fair, &to_fsr(fr)->fair, &to_fsr(gone)->fair, earlier,
		    flash_sector_of(fr->rq), blk_rq_sectors(fr->rq));
}

/** fairshare_holds - hook: choose the next request after an event, or hold all back */
__always_inline bool fairshare_holds(struct flash_queue *fq)
{
	struct fairshare_queue *fsq = to_fsq(fq);
	struct fair_queue *q = fsq->fair;

	fsq->next = fair_next(q, fq->now);
	if (fq->held_above != q->enough)
		WRITE_ONCE(fq->held_above, q->enough);
	/* A timer that is not needed any more may expire: it chooses, too. */
	if (q->wake && q->wake != READ_ONCE(fsq->armed)) {
		WRITE_ONCE(fsq->armed, q->wake);
		hrtimer_start(&fsq->timer, ns_to_ktime(q->wake), HRTIMER_MODE_ABS);
	}
	return !fsq->next && q->waiting;
}

/* A tenant has been waited for long enough. */
static enum hrtimer_restart fairshare_timer(struct hrtimer *timer)
{
	struct fairshare_queue *fsq = container_of(timer, struct fairshare_queue, timer);

	WRITE_ONCE(fsq->armed, 0);
	flash_ask_again(&fsq->fq);
	return HRTIMER_NORESTART;
}

/** fairshare_select - hook: issue the request that fairshare_holds() has chosen */
__always_inline struct flash_rq *fairshare_select(struct flash_queue *fq)
{
	struct fairshare_queue *fsq = to_fsq(fq);
	struct fair_rq *fair = fsq->next;
	struct flash_rq *fr;

	if (WARN_ON_ONCE(!fair))
		return NULL;
	fsq->next = NULL;
	fr = &container_of(fair, struct fairshare_rq, fair)->fr;
	fair_issue(fsq->fair, fair, fq->now);
	if (unlikely(!list_empty(&fsq->fair->urgent.tenants)))
		WRITE_ONCE(fq->hurry, true);
	/* The completion of a polled request is not reported. */
	if (unlikely(fr->rq->mq_hctx->type == HCTX_TYPE_POLL))
		fairshare_completed(fq, fr, false);
	return fr;
}

/* A request has a slot without fairshare_select(). */
static noinline void fairshare_bypass(struct fairshare_queue *fsq, struct flash_rq *fr)
{
	struct fair_rq *fair = &to_fsr(fr)->fair;

	fair_describe(fair, flash_dir_of(fr->rq), false, flash_sector_of(fr->rq),
		      blk_rq_sectors(fr->rq));
	fair_bypass(fsq->fair, fair, fairshare_tags(fsq, fr), fsq->fq.now);
}

/** fairshare_started - hook: a request has a slot, with or without fairshare_select() */
__always_inline void fairshare_started(struct flash_queue *fq, struct flash_rq *fr)
{
	if (unlikely(!to_fsr(fr)->fair.tenant))
		fairshare_bypass(to_fsq(fq), fr);
}

/** fairshare_completed - hook: a request gives its slot back */
__always_inline void fairshare_completed(struct flash_queue *fq, struct flash_rq *fr, bool ended)
{
	struct fairshare_queue *fsq = to_fsq(fq);

	fair_release(fsq->fair, &to_fsr(fr)->fair, ended, fq->now);
	fairshare_set_limit(fsq);
}

/* Report, once for each disk and number of tags, that shares do not follow weights. */
static void fairshare_report_few(struct work_struct *work)
{
	struct fairshare_queue *fsq = container_of(to_delayed_work(work),
						   struct fairshare_queue, few_work);
	struct flash_queue *fq = &fsq->fq;
	unsigned int tags = READ_ONCE(fq->q->nr_requests);

	if (!flash_tags_too_few(tags, 0) || fq->disk->few_tags_logged & BIT(tags))
		return;
	fq->disk->few_tags_logged |= BIT(tags);
	pr_notice("%s: %s: %u scheduler tags are too few for weights; echo %u > /sys/block/%s/queue/nr_requests\n",
		  flash_policy.name, flash_disk_name(fq), tags, FAIRSHARE_TAGS_ENOUGH,
		  flash_disk_name(fq));
}

/**
 * fairshare_tags_changed - hook: nr_requests has been set
 * @fq: the device
 *
 * Reports later: udev rules and scripts select the scheduler first and set nr_requests
 * next, and 6.x calls depth_updated() before nr_requests has its new value.
 */
void fairshare_tags_changed(struct flash_queue *fq)
{
	kblockd_mod_delayed_work_on(WORK_CPU_UNBOUND, &to_fsq(fq)->few_work, HZ);
}

/* Apply all tunables and texts. */
static void fairshare_apply(struct fairshare_queue *fsq)
{
	struct flash_queue *fq = &fsq->fq;
	struct fair_queue *q = fsq->fair;
	struct fair_rules rules = {
		.antic		= flash_tun(fq, FAIRSHARE_TUN_anticipation),
		.antic_max	= flash_tun(fq, FAIRSHARE_TUN_antic_max_us) * (u64)NSEC_PER_USEC,
		.depth		= flash_tun(fq, FAIRSHARE_TUN_window_depth),
		.limit		= flash_tun(fq, FAIRSHARE_TUN_max_inflight),
	};

	lockdep_assert_held(&fq->lock);

	fairshare_scheduler()->set_rules(fq, fsq->mode, fsq->charge, &rules);
	fair_set_rules(q, &rules);
	fair_set_weight(q, &q->table.t[0], flash_tun(fq, FAIRSHARE_TUN_shared_weight));
	q->table.max = flash_tun(fq, FAIRSHARE_TUN_max_tenants);
	fairshare_set_limit(fsq);
	flash_change(fq);
}

static void fairshare_set_layout(struct fairshare_queue *fsq)
{
	u64 offset = flash_tun(&fsq->fq, FAIRSHARE_TUN_lba_offset_sectors);

	if (fair_set_layout(fsq->fair, &fsq->geo, offset))
		flash_resort(&fsq->fq);
}

/** fairshare_resort - hook: sort one waiting request again, as the layout has changed */
bool fairshare_resort(struct flash_queue *fq)
{
	return fair_sort_next(to_fsq(fq)->fair);
}

static void fairshare_set_text(struct fairshare_queue *fsq, unsigned int idx,
			       const char *text)
{
	const struct fairshare *scheduler = fairshare_scheduler();

	switch (idx) {
	case FAIRSHARE_TEXT_mode:
		fsq->mode = match_string(scheduler->modes, scheduler->nr_modes, text);
		break;
	case FAIRSHARE_TEXT_tenant_by:
		/* Submitters read it without the lock. */
		WRITE_ONCE(fsq->by, match_string(fairshare_bys, ARRAY_SIZE(fairshare_bys),
						 text));
		break;
	case FAIRSHARE_TEXT_charge:
		fsq->charge = match_string(fairshare_charges,
					   ARRAY_SIZE(fairshare_charges), text);
		break;
	default:
		flash_geometry_parse(text, &fsq->geo);
		fairshare_set_layout(fsq);
	}
}

/** fairshare_init - hook: allocate and initialize the queues */
int fairshare_init(struct flash_queue *fq)
{
	struct fairshare_queue *fsq = to_fsq(fq);
	static const struct fair_rules any;
	unsigned int idx;

	if (!fq->disk->policy_data)
		fq->disk->policy_data = kvzalloc(sizeof(*fsq->weights), GFP_KERNEL);
	fsq->weights = fq->disk->policy_data;
	fsq->fair = kvzalloc_node(sizeof(*fsq->fair), GFP_KERNEL, fq->q->node);
	fsq->tags = kvcalloc(fq->nr_hctx, sizeof(*fsq->tags), GFP_KERNEL);
	if (!fsq->weights || !fsq->fair || !fsq->tags) {
		kvfree(fsq->fair);
		kvfree(fsq->tags);
		return -ENOMEM;
	}
	compat_hrtimer_setup(&fsq->timer, fairshare_timer, HRTIMER_MODE_ABS);
	INIT_DELAYED_WORK(&fsq->few_work, fairshare_report_few);
	flash_lock(fq);
	fair_init(fsq->fair, &any, fq->depth);
	fsq->fair->second.begun = flash_update_now(fq);
	/* All texts were valid when they were set. */
	for (idx = 0; idx < flash_policy.nr_texts; idx++)
		fairshare_set_text(fsq, idx, fq->disk->text[idx]);
	fairshare_apply(fsq);
	flash_unlock(fq);
	return 0;
}

/** fairshare_exit - hook: free the queues, which are empty */
void fairshare_exit(struct flash_queue *fq)
{
	struct fairshare_queue *fsq = to_fsq(fq);
	struct fair_queue *q = fsq->fair;
	unsigned int n;

	cancel_delayed_work_sync(&fsq->few_work);
	/* No request waits, so the timer does not arm itself again. */
	hrtimer_cancel(&fsq->timer);
	WARN_ON_ONCE(q->waiting || q->out || q->busy || q->dev.occ.busy);
	for (n = 0; n < fq->nr_hctx; n++)
		WARN_ON_ONCE(fsq->tags[n].tenants);
	kvfree(fsq->fair);
	kvfree(fsq->tags);
}

/** fairshare_tuned - hook: tunable @idx has changed */
void fairshare_tuned(struct flash_queue *fq, unsigned int idx)
{
	struct fairshare_queue *fsq = to_fsq(fq);

	if (idx == FAIRSHARE_TUN_inline_dispatch)
		return;
	flash_lock(fq);
	if (idx == FAIRSHARE_TUN_lba_offset_sectors)
		fairshare_set_layout(fsq);
	fairshare_apply(fsq);
	flash_unlock(fq);
	flash_resume(fq);
}

/** fairshare_text_tuned - hook: text @idx is about to change to @text */
void fairshare_text_tuned(struct flash_queue *fq, unsigned int idx, const char *text)
{
	struct fairshare_queue *fsq = to_fsq(fq);

	flash_lock(fq);
	fairshare_set_text(fsq, idx, text);
	fairshare_apply(fsq);
	flash_unlock(fq);
	flash_resume(fq);
}

/**
 * fairshare_weights_show - print the weights that were set, up to a page
 * @eq: the elevator
 * @page: where to print "NUMBER WEIGHT" lines. If there are more, the last line is
 *	"more N", which is also what to write to see the next ones.
 */
ssize_t fairshare_weights_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = eq->elevator_data;
	struct fairshare_queue *fsq = to_fsq(fq);
	ssize_t len;

	flash_lock(fq);
	len = flash_groups_print(fsq->weights->w, fsq->weights->nr, fsq->from, page);
	flash_unlock(fq);
	return len;
}

/* Set or reset the weight of control group @id. */
static int fairshare_set_weight(struct flash_queue *fq, u64 id, u32 weight)
{
	struct fairshare_queue *fsq = to_fsq(fq);
	struct tenant_key key = { .kind = FLASH_BY_CGROUP, .id = id };
	struct tenant *t;
	int ret;

	flash_lock(fq);
	ret = flash_weights_set(fsq->weights, id, weight);
	t = ret ? NULL : tenant_find(&fsq->fair->table, &key);
	if (t)
		fair_set_weight(fsq->fair, t, flash_weights_get(fsq->weights, id));
	flash_unlock(fq);
	return ret;
}

static const struct flash_group_attr fairshare_weights = {
	.name		= "weights",
	.min		= FLASH_WEIGHT_MIN,
	.max		= FLASH_WEIGHT_MAX,
	.entries	= FLASH_WEIGHTS,
	.set		= fairshare_set_weight,
};

/**
 * fairshare_weights_store - set one weight
 * @eq: the elevator
 * @page: as for flash_groups_store(); or "more N", see fairshare_weights_show()
 * @count: its length
 *
 * Return: @count or a negative errno.
 */
ssize_t fairshare_weights_store(struct elevator_queue *eq, const char *page, size_t count)
{
	struct flash_queue *fq = eq->elevator_data;
	unsigned int from;
	int ret;

	if (strlen(page) != count || strncmp(page, "more ", 5))
		return flash_groups_store(eq, page, count, &fairshare_weights);
	ret = flash_number(page + 5, flash_disk_name(fq), "weights: more", 0,
			   FLASH_WEIGHTS, &from);
	if (ret)
		return ret;
	flash_lock(fq);
	to_fsq(fq)->from = from;
	flash_unlock(fq);
	return count;
}

/* Are tags too few for the tenants that hold tags of the same hardware queue? */
static bool fairshare_too_few_tags(const struct fairshare_queue *fsq)
{
	unsigned int n, tenants = 0;

	for (n = 0; n < fsq->fq.nr_hctx; n++)
		tenants = max(tenants, fsq->tags[n].tenants);
	return flash_tags_too_few(READ_ONCE(fsq->fq.q->nr_requests), tenants);
}

/** fairshare_stats - hook: append the scheduler's counters to "stats" */
int fairshare_stats(struct flash_queue *fq, char *page, int len)
{
	const struct fairshare_queue *fsq = to_fsq(fq);
	const struct fair_queue *q = fsq->fair;

	return len + sysfs_emit_at(page, len,
				   "bound %u\ntenants %u\nbusy_tenants %u\n"
				   "refused_tenants %llu\nforgotten_tenants %llu\n"
				   "turns %llu\nholds %llu\nidle_chips %llu\n"
				   "ahead %llu\nlimited_tags %llu\ntags_too_few %d\n",
				   fq->bound, q->table.nr, q->busy, q->table.refused,
				   q->table.forgotten, q->stats.turns,
				   q->stats.holds, q->stats.idle_chips,
				   q->stats.ahead, fsq->limited,
				   fairshare_too_few_tags(fsq));
}

static void fairshare_print(const struct tenant *t, struct seq_file *m)
{
	static const char * const kinds[] = {
		[FLASH_BY_CGROUP]	= "cgroup",
		[FLASH_BY_CGROUP1]	= "cgroup1",
		[FLASH_BY_TASK]		= "task",
		[FLASH_BY_PRIO]		= "prio",
	};

	if (t->key.kind == FLASH_BY_ALL)
		seq_puts(m, "tenant all");
	else
		seq_printf(m, "tenant %s:%llu", kinds[t->key.kind], t->key.id);
	seq_printf(m, " weight %u queued %u inflight %u requests %llu sectors %llu cost %llu",
		   t->weight, t->nr, t->out, t->stats.requests, t->stats.sectors,
		   t->stats.cost);
	seq_printf(m, " vtime %llu received %llu due %llu waits %llu",
		   t->vtime >> FLASH_VTIME_SHIFT, t->second.last_received,
		   t->second.last_due, t->stats.waits);
	seq_printf(m, " expired %llu idle %llu exhausted %llu budget %llu\n",
		   t->turn.ended[FLASH_EXPIRED], t->turn.ended[FLASH_IDLE],
		   t->turn.ended[FLASH_EXHAUSTED], t->turn.budget);
}

/** fairshare_arrays - hook: print the tenants into debugfs */
void fairshare_arrays(struct flash_queue *fq, struct seq_file *m)
{
	struct fair_queue *q = to_fsq(fq)->fair;
	u64 now = flash_update_now(fq);
	unsigned int i;

	fair_check_second(q, now);
	fair_prune(q, now, UINT_MAX);
	for (i = 0; i <= FLASH_TENANTS; i++) {
		/* Free entries have no weight. */
		if (q->table.t[i].weight)
			fairshare_print(&q->table.t[i], m);
	}
}
