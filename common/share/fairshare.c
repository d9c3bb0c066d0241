// SPDX-License-Identifier: GPL-2.0
/*
 * fairshare.c - a device that tenants share: whose request is it, and timers
 *
 * Who goes next is in share.h. Here is what connects that with the block layer:
 * whenever something happens to a request fairshare_holds() chooses the next one;
 * and if there will be one as time passes, it sets a timer.
 *
 * A tenant is a number: a control group's, a process's, a priority. No reference to
 * any of them is held. A request's bio keeps its control group until it has been
 * asked for its number, which no other group gets later on. So a group can be
 * removed at any time; its tenant drains and is forgotten a second later. A process
 * that gets the number of one which has just ended keeps that one's virtual time.
 *
 * Outside of control groups the tenant is the process, not the thread or its I/O
 * context: Linux gives each thread with an I/O priority another context, and a
 * process of 64 threads would have 64 shares. Threads of io_uring belong to the
 * process.
 *
 * Memory for all tenants is there from the start. A tenant comes while the lock
 * is held, in a context that must not sleep, and a request cannot be refused.
 *
 * Before there is a request there is a task that wants a scheduler tag. Whose bio
 * it is about to send cannot be seen there; it is taken for the task's own.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#define FLASH_COMPAT_TIMER
#include "../elevator/cgroup.h"
#include "tag_quota.h"
#include "fairshare.h"

/* nr_requests that the kernel log suggests where tags are too few */
#define TENANCY_TAGS_ENOUGH	64

/* The tables of every such scheduler begin alike. */
enum { TENANCY_TUNABLES(FLASH_TUN_INDEX) };
enum { TENANCY_TEXTS(FLASH_TEXT_INDEX) };

static_assert(FLASH_LAYOUT_LEN <= FLASH_TEXT_LEN);

/* In a class, beside the tenant's place: it is urgent */
#define TENANCY_URGENT_CLASS	1000

static_assert(TENANCY_URGENT_CLASS > FLASH_TENANTS);

static const char * const tenancy_bys[TENANCY_NR_BYS] = {
	[TENANCY_BY_AUTO]	= "auto",
	[TENANCY_BY_CGROUP]	= "cgroup",
	[TENANCY_BY_TASK]	= "task",
	[TENANCY_BY_IOPRIO]	= "ioprio",
};

static const char * const tenancy_charges[TENANCY_NR_CHARGES] = {
	[TENANCY_AUTO]		= "auto",
	[TENANCY_SECTORS]	= "sectors",
	[TENANCY_REQUESTS]	= "requests",
	[TENANCY_TIME]		= "time",
};

static struct tenancy_queue *to_tq(struct flash_queue *fq)
{
	return container_of(fq, struct tenancy_queue, fq);
}

static struct tenancy_rq *to_tr(struct flash_rq *fr)
{
	return container_of(fr, struct tenancy_rq, fr);
}

static struct flash_rq *tenancy_fr(struct flash_share_item *it)
{
	return &container_of(it, struct tenancy_rq, it)->fr;
}

/* The scheduler that this is built into. */
static const struct fairshare *tenancy_scheduler(void)
{
	return flash_policy.data;
}

static int tenancy_mode(const char *text)
{
	const struct fairshare *scheduler = tenancy_scheduler();

	return match_string(scheduler->modes, scheduler->nr_modes, text);
}

/** tenancy_check_mode - is it one of the scheduler's modes? */
int tenancy_check_mode(const char *text)
{
	return flash_word_check(tenancy_scheduler()->modes,
				tenancy_scheduler()->nr_modes, text);
}

/** tenancy_check_by - is it something that a tenant can be? */
int tenancy_check_by(const char *text)
{
	return flash_word_check(tenancy_bys, TENANCY_NR_BYS, text);
}

/** tenancy_check_charge - is it something that can be charged? */
int tenancy_check_charge(const char *text)
{
	return flash_word_check(tenancy_charges, TENANCY_NR_CHARGES, text);
}

static u32 tenancy_prio(unsigned short ioprio)
{
	switch (IOPRIO_PRIO_CLASS(ioprio)) {
	case IOPRIO_CLASS_RT:
		return flash_prio(FLASH_PRIO_RT, elv_ioprio_level(ioprio));
	case IOPRIO_CLASS_BE:
		return flash_prio(FLASH_PRIO_BE, elv_ioprio_level(ioprio));
	case IOPRIO_CLASS_IDLE:
		return flash_prio(FLASH_PRIO_IDLE, 0);
	default:
		return flash_prio(FLASH_PRIO_BE, IOPRIO_BE_NORM);
	}
}

/* The process that sends a request, if it is the one that runs. */
static void tenancy_task(struct flash_key *key)
{
	/*
	 * Workers do what others have told them: they write back, go on with a
	 * flush or an earlier attempt, or serve a stacked device.
	 */
	if (!in_task() || (current->flags & PF_WQ_WORKER))
		return;
	key->kind = FLASH_BY_TASK;
	key->id = current->tgid;
}

/* Whose is what @css pays for, if control groups are tenants? */
static void tenancy_group(enum tenancy_by by,
			  const struct cgroup_subsys_state *css, blk_opf_t opf,
			  struct flash_key *key)
{
	bool root = !css || css == blkcg_root_css;

	if (by == TENANCY_BY_CGROUP || !root) {
		if (!css)
			return;
		key->kind = flash_css_cgroup(css) ? FLASH_BY_CGROUP :
						    FLASH_BY_CGROUP1;
		key->id = cgroup_id(css->cgroup);
		return;
	}
	/* What is written behind everybody's back is everybody's. */
	if (op_is_sync(opf))
		tenancy_task(key);
}

/* Whose request is it that @bio is the first one of? */
static void tenancy_key(const struct tenancy_queue *tq, const struct bio *bio,
			blk_opf_t opf, unsigned short ioprio,
			struct flash_key *key)
{
	key->kind = FLASH_BY_ALL;
	key->id = 0;
	switch (tq->by) {
	case TENANCY_BY_IOPRIO:
		key->kind = FLASH_BY_PRIO;
		key->id = tenancy_prio(ioprio);
		return;
	case TENANCY_BY_TASK:
		tenancy_task(key);
		return;
	default:
		tenancy_group(tq->by, flash_bio_css(bio), opf, key);
	}
}

/*
 * Whose will the request be that the running task is about to send? False: of
 * whoever has told this worker to send it.
 */
static bool tenancy_sender(const struct tenancy_queue *tq, blk_opf_t opf,
			   struct flash_key *key)
{
	enum tenancy_by by = READ_ONCE(tq->by);

	key->kind = FLASH_BY_ALL;
	key->id = 0;
	if (current->flags & PF_WQ_WORKER)
		return false;
	switch (by) {
	case TENANCY_BY_IOPRIO:
		key->kind = FLASH_BY_PRIO;
		key->id = tenancy_prio(get_current_ioprio());
		break;
	case TENANCY_BY_TASK:
		tenancy_task(key);
		break;
	default:
		rcu_read_lock();
		tenancy_group(by, flash_task_css(), opf, key);
		rcu_read_unlock();
	}
	return true;
}

static u32 tenancy_weight(const struct tenancy_queue *tq,
			  const struct flash_key *key, unsigned short ioprio)
{
	switch (key->kind) {
	case FLASH_BY_CGROUP:
		return flash_weights_get(tq->weights, key->id);
	case FLASH_BY_TASK:
	case FLASH_BY_PRIO:
		return flash_prio_weight(tenancy_prio(ioprio));
	default:
		return FLASH_WEIGHT_DEFAULT;
	}
}

/* Something has happened: which request is next, and if none, until when? */
bool fairshare_holds(struct flash_queue *fq)
{
	struct tenancy_queue *tq = to_tq(fq);
	struct flash_share *s = &tq->state->share;

	/* It rises only where a run follows, or where the caller starts one. */
	if (fq->bound != flash_share_bound(s))
		WRITE_ONCE(fq->bound, flash_share_bound(s));
	tq->next = flash_share_next(s, tq->now);
	/* One that is not needed any more may go off: it chooses, too. */
	if (s->wake && s->wake != tq->armed) {
		tq->armed = s->wake;
		hrtimer_start(&tq->timer, ns_to_ktime(s->wake),
			      HRTIMER_MODE_ABS);
	}
	return !tq->next && s->waiting;
}

/* Nobody has to be waited for any longer. */
static enum hrtimer_restart tenancy_timer(struct hrtimer *timer)
{
	struct tenancy_queue *tq = container_of(timer, struct tenancy_queue,
						timer);
	struct flash_queue *fq = &tq->fq;
	unsigned long flags;

	flags = flash_lock_save(fq);
	tq->armed = 0;
	if (fq->queued) {
		tq->now = ktime_get_ns();
		flash_settle(fq);
		/* held before inflight: pairs with the barrier in flash_release(). */
		smp_mb();
		/*
		 * Under the lock, as nothing else keeps the hardware queues here:
		 * with it held what is queued stays so, and so does the device.
		 * A kick only queues work.
		 */
		flash_kick(fq, fq->nr_hctx);
	}
	flash_unlock_restore(fq, flags);
	return HRTIMER_NORESTART;
}

/* Say once for each disk and number of tags that weights do not hold. */
static void tenancy_few_report(struct work_struct *work)
{
	struct tenancy_queue *tq = container_of(to_delayed_work(work),
						struct tenancy_queue, few_work);
	struct flash_queue *fq = &tq->fq;
	unsigned int tags = READ_ONCE(fq->q->nr_requests);

	if (!flash_tags_few(tags, 0) || fq->disk->few_told & BIT(tags))
		return;
	fq->disk->few_told |= BIT(tags);
	pr_notice("%s: %s: %u scheduler tags are too few for weights; echo %u > /sys/block/%s/queue/nr_requests\n",
		  flash_policy.name, flash_disk_name(fq), tags, TENANCY_TAGS_ENOUGH,
		  flash_disk_name(fq));
}

/*
 * Not at once: udev rules and scripts select the scheduler first and set nr_requests
 * next, and 6.x calls depth_updated() before nr_requests has its new value.
 */
void fairshare_tags_changed(struct flash_queue *fq)
{
	kblockd_mod_delayed_work_on(WORK_CPU_UNBOUND, &to_tq(fq)->few_work, HZ);
}

/* Everything that the user has set is in force from here on. */
static void tenancy_apply(struct tenancy_queue *tq)
{
	struct flash_share *s = &tq->state->share;
	struct flash_queue *fq = &tq->fq;
	struct flash_share_rules rules = {
		.antic		= flash_tun(fq, TUN_anticipation),
		.antic_max	= flash_tun(fq, TUN_antic_max_us) *
				  (u64)NSEC_PER_USEC,
		.depth		= flash_tun(fq, TUN_window_depth),
		.bound		= flash_tun(fq, TUN_max_inflight),
	};

	lockdep_assert_held(&fq->lock);

	tenancy_scheduler()->set_rules(fq, tq->mode, tq->charge, &rules);
	flash_share_set(s, &rules);
	flash_share_weight(s, &s->p->t[0], flash_tun(fq, TUN_shared_weight));
	s->p->max = flash_tun(fq, TUN_max_tenants);
	tq->now = ktime_get_ns();
	fq->changed = true;
}

static void tenancy_text(struct tenancy_queue *tq, unsigned int idx,
			 const char *text)
{
	switch (idx) {
	case TEXT_mode:
		tq->mode = tenancy_mode(text);
		break;
	case TEXT_tenant_by:
		/* tenancy_sender() reads it without the lock. */
		WRITE_ONCE(tq->by, match_string(tenancy_bys, TENANCY_NR_BYS,
						text));
		break;
	case TEXT_charge:
		tq->charge = match_string(tenancy_charges, TENANCY_NR_CHARGES,
					  text);
		break;
	default:
		flash_geometry_parse(text, &tq->given);
		flash_share_layout(&tq->state->share, &tq->given,
				   flash_tun(&tq->fq, TUN_lba_offset_sectors));
	}
}

int fairshare_init(struct flash_queue *fq)
{
	struct tenancy_queue *tq = to_tq(fq);
	static const struct flash_share_rules any;
	struct flash_share *s;
	unsigned int idx;

	if (!fq->disk->kept)
		fq->disk->kept = kvzalloc(sizeof(*tq->weights), GFP_KERNEL);
	tq->weights = fq->disk->kept;
	tq->state = kvzalloc_node(sizeof(*tq->state), GFP_KERNEL, fq->q->node);
	tq->tags = kvcalloc(fq->nr_hctx, sizeof(*tq->tags), GFP_KERNEL);
	if (!tq->weights || !tq->state || !tq->tags) {
		kvfree(tq->state);
		kvfree(tq->tags);
		return -ENOMEM;
	}
	elv_hrtimer_setup(&tq->timer, tenancy_timer, HRTIMER_MODE_ABS);
	INIT_DELAYED_WORK(&tq->few_work, tenancy_few_report);
	flash_lock(fq);
	s = &tq->state->share;
	flash_share_init(s, &tq->state->tenants, &any);
	s->second = ktime_get_ns();
	/* All were legal when they were set. */
	for (idx = 0; idx < flash_policy.nr_texts; idx++)
		tenancy_text(tq, idx, fq->disk->text[idx]);
	tenancy_apply(tq);
	flash_unlock(fq);
	return 0;
}

void fairshare_exit(struct flash_queue *fq)
{
	struct tenancy_queue *tq = to_tq(fq);
	struct flash_share *s = &tq->state->share;
	unsigned int n;

	cancel_delayed_work_sync(&tq->few_work);
	/* Nothing is queued, so it does not set itself again. */
	hrtimer_cancel(&tq->timer);
	WARN_ON_ONCE(s->waiting || s->out || s->busy || s->occ.busy);
	for (n = 0; n < fq->nr_hctx; n++)
		WARN_ON_ONCE(tq->tags[n].tenants);
	kvfree(tq->state);
	kvfree(tq->tags);
}

/* The tags that @fr has one of. */
static struct flash_tags *tenancy_tags(struct tenancy_queue *tq,
				       const struct flash_rq *fr)
{
	return &tq->tags[elv_hctx_set(fr->rq->mq_hctx)];
}

/* @fr, which is somebody's, waits or goes to the device. */
static void tenancy_tag_take(struct tenancy_queue *tq, struct flash_rq *fr)
{
	const struct flash_share_item *it = &to_tr(fr)->it;
	const struct flash_share *s = &tq->state->share;

	flash_tags_take(tenancy_tags(tq, fr),
			flash_tenant_index(s->p, it->tenant),
			flash_share_claim(s, it->tenant, it));
}

/* It is about to be nobody's. */
static void tenancy_tag_give(struct tenancy_queue *tq, struct flash_rq *fr)
{
	flash_tags_give(tenancy_tags(tq, fr),
			flash_tenant_index(tq->state->share.p,
					   to_tr(fr)->it.tenant));
}

unsigned int fairshare_tag_limit(struct flash_queue *fq,
				 const struct blk_mq_hw_ctx *hctx, blk_opf_t opf)
{
	unsigned int all = elv_hctx_depth(hctx), free, places = 0;
	struct tenancy_queue *tq = to_tq(fq);
	struct flash_tenants *p = &tq->state->tenants;
	struct flash_tags *tags;
	struct flash_tenant *t;
	struct flash_key key;
	unsigned long flags;
	bool known;
	u32 who;

	/* Usually there are plenty, and nobody needs to be asked for. */
	if (READ_ONCE(fq->queued) + atomic_read(&fq->inflight) < all / 2)
		return 0;
	free = elv_hctx_free(hctx);
	if (!flash_tags_short(all, free))
		return 0;
	known = tenancy_sender(tq, opf, &key);
	flags = flash_lock_save(fq);
	t = flash_tenant_or_all(p, &key);
	/* A new tenant holds no tags yet. */
	if (t) {
		tags = &tq->tags[elv_hctx_set(hctx)];
		who = flash_tenant_index(p, t);
		places = flash_tags_limit(tags, who,
					  flash_share_claim(&tq->state->share,
							    t, NULL),
					  known, all, free);
		if (places && (opf & FLASH_ROOT_FLAGS))
			places = flash_tags_urgent(tags, who, all);
	}
	tq->limited += !!places;
	if (t && known && places)
		flash_share_wants(t, ktime_get_ns());
	flash_unlock_restore(fq, flags);
	return places ? flash_tags_shallow(all, elv_shallow_unit(hctx), places) :
			0;
}

/* The class of a request of @t: its place, and whether the request is urgent. */
static unsigned int tenancy_class(const struct flash_tenants *p,
				  const struct flash_tenant *t, bool urgent)
{
	unsigned int class = flash_tenant_index(p, t);

	return urgent ? class + TENANCY_URGENT_CLASS : class;
}

unsigned int fairshare_bio_class(struct flash_queue *fq, const struct bio *bio)
{
	struct tenancy_queue *tq = to_tq(fq);
	struct flash_tenants *p = &tq->state->tenants;
	struct flash_tenant *t;
	struct flash_key key;

	tenancy_key(tq, bio, bio->bi_opf, bio->bi_ioprio, &key);
	t = flash_tenant_or_all(p, &key);
	return t ? tenancy_class(p, t, bio->bi_opf & FLASH_ROOT_FLAGS) : FLASH_NO_TENANT;
}

unsigned int fairshare_rq_class(struct flash_queue *fq, const struct request *rq)
{
	unsigned short ioprio = req_get_ioprio((struct request *)rq);
	struct tenancy_rq *tr = to_tr(flash_rq_of(rq));
	struct tenancy_queue *tq = to_tq(fq);
	struct flash_share *s = &tq->state->share;
	struct flash_tenant *t;

	/* Whoever puts it in a second time is not who has sent it. */
	if (!tr->named)
		tenancy_key(tq, rq->bio, rq->cmd_flags, ioprio, &tr->key);
	tr->named = true;
	t = flash_tenant_find(s->p, &tr->key);
	if (!t)
		t = flash_share_tenant(s, &tr->key,
				       tenancy_weight(tq, &tr->key, ioprio),
				       ktime_get_ns());
	/* Usually it is that of the request before. */
	if (t->key.kind == FLASH_BY_TASK && t->prio != ioprio) {
		t->prio = ioprio;
		flash_share_asks(s, t, flash_prio_weight(tenancy_prio(ioprio)));
	}
	return tenancy_class(s->p, t, flash_rq_root(rq));
}

enum flash_urgency fairshare_urgency(const struct flash_queue *fq, blk_opf_t opf)
{
	return FLASH_PATIENT;
}

void fairshare_insert(struct flash_queue *fq, struct flash_rq *fr)
{
	struct tenancy_queue *tq = to_tq(fq);
	struct flash_share *s = &tq->state->share;
	bool urgent = fr->class >= TENANCY_URGENT_CLASS;
	u32 who = urgent ? fr->class - TENANCY_URGENT_CLASS : fr->class;
	struct flash_share_item *it = &to_tr(fr)->it;
	struct request *rq = fr->rq;

	tq->now = ktime_get_ns();
	flash_share_add(s, it, &s->p->t[who], fr->seq, flash_dir_of(rq),
			op_is_sync(rq->cmd_flags), flash_sector_of(rq),
			blk_rq_sectors(rq), tq->now);
	if (urgent)
		flash_share_urge(s, it);
	tenancy_tag_take(tq, fr);
}

struct flash_rq *fairshare_select(struct flash_queue *fq)
{
	struct tenancy_queue *tq = to_tq(fq);
	struct flash_share *s = &tq->state->share;
	struct flash_share_item *it = tq->next;
	struct flash_rq *fr;

	if (WARN_ON_ONCE(!it))
		return NULL;
	tq->now = ktime_get_ns();
	fr = tenancy_fr(it);
	tq->next = NULL;
	flash_share_issue(s, it, tq->now);
	if (fr->rq->mq_hctx->type == HCTX_TYPE_POLL) {
		/* Nobody tells us of its end. */
		tenancy_tag_give(tq, fr);
		flash_share_give(s, it, false, tq->now);
	} else {
		to_tr(fr)->issued = true;
	}
	return fr;
}

void fairshare_started(struct flash_queue *fq, struct flash_rq *fr)
{
	struct tenancy_queue *tq = to_tq(fq);
	struct tenancy_rq *tr = to_tr(fr);

	if (tr->issued)
		return;
	tq->now = ktime_get_ns();
	flash_share_take_head(&tq->state->share, &tr->it, flash_dir_of(fr->rq),
			      flash_sector_of(fr->rq), blk_rq_sectors(fr->rq),
			      tq->now);
	tenancy_tag_take(tq, fr);
}

void fairshare_completed(struct flash_queue *fq, struct flash_rq *fr, bool ended)
{
	struct tenancy_queue *tq = to_tq(fq);
	struct tenancy_rq *tr = to_tr(fr);

	tq->now = ktime_get_ns();
	tenancy_tag_give(tq, fr);
	flash_share_give(&tq->state->share, &tr->it, ended, tq->now);
	tr->issued = false;
}

void fairshare_grown(struct flash_queue *fq, struct flash_rq *fr)
{
	struct tenancy_queue *tq = to_tq(fq);

	flash_share_grow(&tq->state->share, &to_tr(fr)->it, flash_sector_of(fr->rq),
			 blk_rq_sectors(fr->rq));
	tq->now = ktime_get_ns();
}

void fairshare_merged(struct flash_queue *fq, struct flash_rq *fr,
		      struct flash_rq *gone)
{
	struct tenancy_queue *tq = to_tq(fq);

	tenancy_tag_give(tq, gone);
	flash_share_absorb(&tq->state->share, &to_tr(fr)->it, &to_tr(gone)->it,
			   flash_sector_of(fr->rq), blk_rq_sectors(fr->rq));
	fr->seq = to_tr(fr)->it.seq;
	tq->now = ktime_get_ns();
}

void fairshare_tuned(struct flash_queue *fq, unsigned int idx)
{
	struct tenancy_queue *tq = to_tq(fq);

	if (idx == TUN_inline_dispatch)
		return;
	flash_lock(fq);
	if (idx == TUN_lba_offset_sectors)
		flash_share_layout(&tq->state->share, &tq->given,
				   flash_tun(fq, TUN_lba_offset_sectors));
	tenancy_apply(tq);
	flash_unlock(fq);
	flash_resume(fq);
}

void fairshare_text_tuned(struct flash_queue *fq, unsigned int idx,
			  const char *text)
{
	struct tenancy_queue *tq = to_tq(fq);

	flash_lock(fq);
	tenancy_text(tq, idx, text);
	tenancy_apply(tq);
	flash_unlock(fq);
	flash_resume(fq);
}

/**
 * tenancy_weights_show - the weights that were set, as far as a page goes
 * @eq: the elevator
 * @page: where to print "NUMBER WEIGHT" lines; the last one is "more N" if
 *	there are more, which is what to write to see those
 */
ssize_t tenancy_weights_show(struct elevator_queue *eq, char *page)
{
	struct flash_queue *fq = eq->elevator_data;
	struct tenancy_queue *tq = to_tq(fq);
	ssize_t len;

	flash_lock(fq);
	len = flash_groups_print(tq->weights->w, tq->weights->nr, tq->from,
				 page);
	flash_unlock(fq);
	return len;
}

/* A weight was set, or taken back. */
static int tenancy_weigh(struct flash_queue *fq, u64 id, u32 weight)
{
	struct tenancy_queue *tq = to_tq(fq);
	struct flash_share *s = &tq->state->share;
	struct flash_key key = { .kind = FLASH_BY_CGROUP, .id = id };
	struct flash_tenant *t;
	int ret;

	flash_lock(fq);
	ret = flash_weights_set(tq->weights, id, weight);
	t = ret ? NULL : flash_tenant_find(s->p, &key);
	if (t)
		flash_share_weight(s, t, flash_weights_get(tq->weights, id));
	flash_unlock(fq);
	return ret;
}

static const struct flash_group_attr tenancy_weights = {
	.name		= "weights",
	.min		= FLASH_WEIGHT_MIN,
	.max		= FLASH_WEIGHT_MAX,
	.entries	= FLASH_WEIGHTS,
	.set		= tenancy_weigh,
};

/**
 * tenancy_weights_store - set one weight
 * @eq: the elevator
 * @page: as for flash_groups_store(); or "more N"
 * @count: its length
 *
 * Return: as there.
 */
ssize_t tenancy_weights_store(struct elevator_queue *eq, const char *page,
			      size_t count)
{
	struct flash_queue *fq = eq->elevator_data;
	unsigned int from;
	int ret;

	if (strlen(page) != count || strncmp(page, "more ", 5))
		return flash_groups_store(eq, page, count, &tenancy_weights);
	ret = flash_number(page + 5, flash_disk_name(fq), "weights: more", 0,
			   FLASH_WEIGHTS, &from);
	if (ret)
		return ret;
	flash_lock(fq);
	to_tq(fq)->from = from;
	flash_unlock(fq);
	return count;
}

/* Too few tags for the tenants that hold tags of the same hardware queue? */
static bool tenancy_few_now(const struct tenancy_queue *tq)
{
	unsigned int n, tenants = 0;

	for (n = 0; n < tq->fq.nr_hctx; n++)
		tenants = max(tenants, tq->tags[n].tenants);
	return flash_tags_few(READ_ONCE(tq->fq.q->nr_requests), tenants);
}

int fairshare_stats(struct flash_queue *fq, char *page, int len)
{
	const struct tenancy_queue *tq = to_tq(fq);
	const struct flash_share *s = &tq->state->share;

	return len + sysfs_emit_at(page, len,
				   "bound %u\ntenants %u\nbusy_tenants %u\n"
				   "refused_tenants %llu\nforgotten_tenants %llu\n"
				   "turns %llu\nholds %llu\nidle_chips %llu\n"
				   "ahead %llu\nlimited_tags %llu\ntags_too_few %d\n",
				   fq->bound, s->p->nr, s->busy, s->p->refused,
				   s->p->dropped, s->stats.turns,
				   s->stats.holds, s->stats.idle_chips,
				   s->stats.ahead, tq->limited,
				   tenancy_few_now(tq));
}

static void tenancy_print(const struct flash_tenant *t, struct seq_file *m)
{
	switch (t->key.kind) {
	case FLASH_BY_CGROUP:
		seq_printf(m, "tenant cgroup:%llu", t->key.id);
		break;
	case FLASH_BY_CGROUP1:
		seq_printf(m, "tenant cgroup1:%llu", t->key.id);
		break;
	case FLASH_BY_TASK:
		seq_printf(m, "tenant task:%llu", t->key.id);
		break;
	case FLASH_BY_PRIO:
		seq_printf(m, "tenant prio:%llu", t->key.id);
		break;
	default:
		seq_puts(m, "tenant all");
	}
	seq_printf(m, " weight %u queued %u inflight %u requests %llu sectors %llu cost %llu",
		   t->weight, t->nr, t->out, t->requests, t->sectors, t->cost);
	seq_printf(m, " vtime %llu received %llu due %llu waits %llu",
		   t->vtime >> FLASH_VTIME_SHIFT, t->last_got, t->last_due,
		   t->waits);
	seq_printf(m, " expired %llu idle %llu exhausted %llu budget %llu\n",
		   t->why[FLASH_EXPIRED], t->why[FLASH_IDLE],
		   t->why[FLASH_EXHAUSTED], t->budget);
}

void fairshare_arrays(struct flash_queue *fq, struct seq_file *m)
{
	struct flash_share *s = &to_tq(fq)->state->share;
	u64 now = ktime_get_ns();
	unsigned int i;

	flash_share_second(s, now);
	flash_share_prune(s, now, UINT_MAX);
	for (i = 0; i <= FLASH_TENANTS; i++) {
		const struct flash_tenant *t = &s->p->t[i];

		/* Those that nobody is have no weight. */
		if (t->weight)
			tenancy_print(t, m);
	}
}
