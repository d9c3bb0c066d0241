/* SPDX-License-Identifier: GPL-2.0 */
/*
 * elvdrive.h - the files of common/elevator/ with a policy, a device of QUEUES
 * hardware queues with TAGS tags each, and SUBMITTERS threads that insert requests
 *
 * The test defines these three constants, and the function that runs a hardware queue.
 * REAL_POLICY: the test includes a scheduler's files, instead of the policy below.
 */
#ifndef ELVDRIVE_H
#define ELVDRIVE_H

#include "blkmq.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wformat"
static bool try_merge(struct request_queue *q);
#include "common/elevator/pending.c"
static struct request *elv_rb_find(struct rb_root *root, u64 sector);
static void elv_rb_add(struct rb_root *root, struct request *rq);
static void elv_rb_del(struct rb_root *root, struct request *rq);
static void elv_rqhash_add(struct request_queue *q, struct request *rq);
static void elv_rqhash_del(struct request_queue *q, struct request *rq);
#include "common/elevator/merge.c"
#include "common/elevator/queue.c"
#include "common/elevator/inflight.c"
#include "common/elevator/round.c"
#include "common/elevator/rqtable.c"
#include "common/elevator/elevator.c"
#pragma GCC diagnostic pop

#ifndef REAL_POLICY
/*
 * The policy: one queue, in order of arrival. An urgent request is issued before another one
 * is chosen. While it watches, it may hold all requests back, and it checks the hooks: each
 * request starts once and ends once, and its record is not another's.
 */

/* Which requests wait for what? */
enum holding {
	HOLD_NONE,
	HOLD_ALL,	/* for the test */
	HOLD_FULL,	/* while @full are in flight */
	HOLD_ONE,	/* after each fourth one, until it has ended */
	HOLD_TIME,	/* after each third one, for 200 us */
};

static enum holding holding;

/* For HOLD_FULL, until half of that are in flight or a request is added */
static unsigned int full = 2;

/* Does the in-flight limit change with each end? Are all sorted again after each one? */
static bool limit_moves, sorts;

/* May tasks claim the last tags? Then requests are chosen one by one. */
static bool claims;

#define FATES		1024
enum fate { UNKNOWN, STARTED, ENDED };

struct fifo_rq {
	struct flash_rq fr;
	unsigned int by;
	unsigned long nth;
};

struct fifo {
	struct flash_queue fq;
	struct list_head list, again;
	unsigned long last[SUBMITTERS];
	unsigned int out, ends, starts;
	struct flash_rq *one;
	struct hrtimer timer;
	u64 until, armed, now;
	bool asked;
	unsigned char fate[SUBMITTERS][FATES];
	/* The latest insertions (i) and completions (c) */
	char heard[3];
};

/* Faults of common/elevator/ */
static int none_to_choose, out_of_order, not_asked, held_chosen, mixed_up, time_back;

static struct fifo *to_fifo(struct flash_queue *fq)
{
	return container_of(fq, struct fifo, fq);
}

static struct fifo_rq *to_fifo_rq(struct flash_rq *fr)
{
	return container_of(fr, struct fifo_rq, fr);
}

static enum hrtimer_restart fifo_timer(struct hrtimer *timer)
{
	struct fifo *fifo = container_of(timer, struct fifo, timer);

	WRITE_ONCE(fifo->armed, 0);
	flash_ask_again(&fifo->fq);
	return HRTIMER_NORESTART;
}

static int fifo_init(struct flash_queue *fq)
{
	INIT_LIST_HEAD(&to_fifo(fq)->list);
	INIT_LIST_HEAD(&to_fifo(fq)->again);
	compat_hrtimer_setup(&to_fifo(fq)->timer, fifo_timer, HRTIMER_MODE_ABS);
	return 0;
}

static void fifo_exit(struct flash_queue *fq)
{
	hrtimer_cancel(&to_fifo(fq)->timer);
	WARN_ON_ONCE(!list_empty(&to_fifo(fq)->list) || !list_empty(&to_fifo(fq)->again));
	WARN_ON_ONCE(to_fifo(fq)->out);
}

static unsigned int fifo_rq_class(struct flash_queue *fq, const struct request *rq)
{
	return fq && rq ? 0 : 1;
}

static enum flash_urgency fifo_urgency(const struct flash_queue *fq, blk_opf_t opf)
{
	return fq && opf && claims ? FLASH_URGENT : FLASH_PATIENT;
}

static void fifo_hears(struct fifo *fifo, char what)
{
	fifo->heard[0] = fifo->heard[1];
	fifo->heard[1] = what;
}

/* Something has happened. */
static void fifo_event(struct fifo *fifo)
{
	fifo->asked = false;
	time_back += fifo->fq.now < fifo->now;
	fifo->now = fifo->fq.now;
}

static void fifo_arrived(struct flash_queue *fq, struct flash_rq *fr)
{
	struct fifo_rq *rec = to_fifo_rq(fr);

	if (!fr->watched || !fq)
		return;
	rec->by = fr->rq->by;
	rec->nth = fr->rq->nth;
}

static void fifo_insert(struct flash_queue *fq, struct flash_rq *fr)
{
	fifo_event(to_fifo(fq));
	fifo_hears(to_fifo(fq), 'i');
	list_add_tail(&fr->rq->queuelist, &to_fifo(fq)->list);
}

static struct flash_rq *fifo_select(struct flash_queue *fq)
{
	struct fifo *fifo = to_fifo(fq);
	struct request *rq;

	not_asked += fq->watches && !fifo->asked;
	held_chosen += fq->held;
	fifo_event(fifo);
	if (list_empty(&fifo->list)) {
		none_to_choose++;
		return NULL;
	}
	rq = list_first_entry(&fifo->list, struct request, queuelist);
	if (rq->urgent && !flash_may_issue(flash_rq_of(rq))) {
		fq->pass_on = true;
		return NULL;
	}
	list_del_init(&rq->queuelist);
	/* The driver may have requeued one before. */
	if (!rq->again)
		out_of_order += rq->nth != ++fifo->last[rq->by];
	if (rq->urgent)
		flash_issue_first(fq, flash_rq_of(rq));
	return flash_rq_of(rq);
}

/* The next event in the life of a request, which has its own record */
static void fifo_becomes(struct fifo *fifo, struct flash_rq *fr, enum fate from,
			 enum fate to)
{
	struct fifo_rq *rec = to_fifo_rq(fr);
	unsigned char *fate = &fifo->fate[rec->by % SUBMITTERS][rec->nth % FATES];

	mixed_up += *fate != from || rec->by >= SUBMITTERS || !rec->nth;
	*fate = (unsigned char)to;
}

static void fifo_started(struct flash_queue *fq, struct flash_rq *fr)
{
	struct fifo *fifo = to_fifo(fq);

	fifo_event(fifo);
	fifo_becomes(fifo, fr, UNKNOWN, STARTED);
	fifo->out++;
	fifo->starts++;
	if (holding == HOLD_ONE && fifo->starts % 4 == 0)
		fifo->one = fr;
	if (holding == HOLD_TIME && fifo->starts % 3 == 0)
		fifo->until = fq->now + 200000;
}

static void fifo_completed(struct flash_queue *fq, struct flash_rq *fr, bool ended)
{
	struct fifo *fifo = to_fifo(fq);

	fifo_event(fifo);
	fifo_hears(fifo, 'c');
	/* One that was handed back may start again. */
	fifo_becomes(fifo, fr, STARTED, ended ? ENDED : UNKNOWN);
	fifo->out--;
	if (fifo->one == fr)
		fifo->one = NULL;
	if (limit_moves)
		flash_set_bound(fq, 1 + fifo->ends++ % 3);
	if (sorts)
		flash_resort(fq);
}

static bool fifo_holds(struct flash_queue *fq)
{
	struct fifo *fifo = to_fifo(fq);

	fifo_event(fifo);
	fifo->asked = true;
	WRITE_ONCE(fq->held_above, holding == HOLD_FULL ? (int)full / 2 : INT_MAX);
	switch (holding) {
	case HOLD_ALL:
		return true;
	case HOLD_FULL:
		return fifo->out >= full;
	case HOLD_ONE:
		return fifo->one;
	case HOLD_TIME:
		if (fq->now >= fifo->until)
			return false;
		if (READ_ONCE(fifo->armed) != fifo->until) {
			WRITE_ONCE(fifo->armed, fifo->until);
			hrtimer_start(&fifo->timer, ns_to_ktime(fifo->until),
				      HRTIMER_MODE_ABS);
		}
		return true;
	default:
		return false;
	}
}

/* Take one request out; after the last one, all return in the same order. */
static bool fifo_resort(struct flash_queue *fq)
{
	struct fifo *fifo = to_fifo(fq);

	if (!list_empty(&fifo->list)) {
		list_move_tail(fifo->list.next, &fifo->again);
		return false;
	}
	while (!list_empty(&fifo->again))
		list_move_tail(fifo->again.next, &fifo->list);
	return true;
}

const struct flash_policy flash_policy = {
	.name		= "fifo",
	.queue_size	= sizeof(struct fifo),
	.rq_size	= sizeof(struct fifo_rq),
	.tags_kept	= FLASH_TAGS_KEPT,

	.init		= fifo_init,
	.exit		= fifo_exit,
	.urgency	= fifo_urgency,
	.arrived	= fifo_arrived,
	.rq_class	= fifo_rq_class,
	.insert		= fifo_insert,
	.select		= fifo_select,
	.started	= fifo_started,
	.completed	= fifo_completed,
	.holds		= fifo_holds,
	.resort		= fifo_resort,
};
#endif /* REAL_POLICY */

/*
 * The core's part of the merge lookup: no bio joins a request here, but a request is added
 * once, while it is in no other list, and is removed before it is issued.
 */
static struct hlist_head hashed;
static unsigned int sorted;

static void elv_rqhash_add(struct request_queue *q, struct request *rq)
{
	WARN_ON_ONCE(!q || !hlist_unhashed(&rq->hash));
	hlist_add_head(&rq->hash, &hashed);
}

static void elv_rqhash_del(struct request_queue *q, struct request *rq)
{
	WARN_ON_ONCE(!q || hlist_unhashed(&rq->hash));
	hlist_del_init(&rq->hash);
}

static void elv_rb_add(struct rb_root *root, struct request *rq)
{
	WARN_ON_ONCE(!root || flash_rq_of(rq)->slot != FLASH_SLOT_QUEUED);
	sorted++;
}

static void elv_rb_del(struct rb_root *root, struct request *rq)
{
	WARN_ON_ONCE(!root || !rq || !sorted);
	sorted--;
}

static struct request *elv_rb_find(struct rb_root *root, u64 sector)
{
	(void)root;
	(void)sector;
	return NULL;
}

#ifdef REAL_POLICY
static bool try_merge(struct request_queue *q)
{
	return !q;
}
#else
/* The lookup has to have all waiting requests. */
static bool try_merge(struct request_queue *q)
{
	struct fifo *fifo = to_fifo(q->elevator->elevator_data);
	struct request *rq;

	list_for_each_entry(rq, &fifo->list, queuelist)
		WARN_ON_ONCE(flash_rq_of(rq)->lookup != FLASH_LOOKUP_STORED);
	return false;
}
#endif

static struct flash_disk the_disk;

struct flash_disk *flash_disk_get(struct request_queue *q)
{
	return q ? &the_disk : NULL;
}

void flash_disk_put(struct flash_disk *disk, struct request_queue *q)
{
	(void)disk;
	(void)q;
}

void flash_disks_free(void)
{
}

/* The block layer. */

static struct gendisk gendisk = { "disk" };
static struct request_queue queue;
static struct blk_mq_ops mq_ops;
static struct elevator_queue elevator;
static struct blk_mq_hw_ctx hctxs[QUEUES];
static struct request rqs[QUEUES][TAGS];
static int busy[QUEUES][TAGS];
static int deaf;

#define GET(x)		__atomic_load_n(&(x), ACQUIRE)
#define SET(x, v)	__atomic_store_n(&(x), v, RELEASE)

static void idle(long us)
{
	const struct timespec some = { 0, us * 1000 };

	nanosleep(&some, NULL);
}

/* A check without a line in the output, unless it fails */
static inline void eq_quiet(long long got, long long want)
{
	if (got != want)
		eq(got, want, "what a test needs");
}

static inline void on(enum moment when, void (*what)(void))
{
	if (when == NEVER)
		accesses = 0;
	moment = when;
	event = what;
}

static struct request *get(unsigned int by, unsigned long nth)
{
	struct blk_mq_hw_ctx *hctx = &hctxs[by % QUEUES];
	struct request *rq;
	unsigned int n;
	int free;

	for (n = 0;; n = (n + 1) % TAGS) {
		free = 0;
		if (__atomic_compare_exchange_n(&busy[hctx->queue_num][n], &free,
						1, false, ACQUIRE, ONCE))
			break;
		idle(20);
		if (GET(deaf))
			return NULL;
	}
	percpu_ref_get(&queue.q_usage_counter);
	rq = &rqs[hctx->queue_num][n];
	rq->q = &queue;
	rq->mq_hctx = hctx;
	rq->internal_tag = n;
	rq->sectors = 8;
	rq->sector = n * 8;
	/* As the core leaves it: not in a list of ours any more */
	WARN_ON_ONCE(!hlist_unhashed(&rq->hash));
	rq->start_time_ns = ktime_get_ns();
	SET(rq->started, false);
	rq->urgent = rq->again = false;
	rq->by = by;
	rq->nth = nth;
	elv_prepare_request(rq);
	return rq;
}

/* begin() selects the scheduler, with an in-flight limit; end() another one. */
static struct flash_queue *begin(unsigned int bound)
{
	struct flash_queue *fq;
	unsigned int n;

	memset(hctxs, 0, sizeof(hctxs));
	if (!hctx_tags)
		hctx_tags = TAGS;
	queue.elevator = &elevator;
	queue.disk = &gendisk;
	queue.nr_hw_queues = QUEUES;
	queue.quiesced = false;
	queue.mq_ops = &mq_ops;
#ifdef REAL_POLICY
	for (n = 0; n < flash_policy.nr_tunables; n++)
		if (bound != UINT_MAX &&
		    !strcmp(flash_policy.tunables[n].name, "max_inflight"))
			the_disk.val[n] = bound;
#else
	the_disk.val[flash_policy.inline_tunable] = 0;
#endif
	pthread_rwlock_init(&queue.running, NULL);
	pthread_mutex_init(&queue.queue_lock, NULL);
	if (elv_init_sched(&queue, NULL))
		return NULL;
	fq = elevator.elevator_data;
#ifndef REAL_POLICY
	WRITE_ONCE(fq->bound, bound);
#endif
	for (n = 0; n < QUEUES; n++) {
		hctxs[n].queue = &queue;
		hctxs[n].queue_num = n;
		hctxs[n].sched_tags = &hctxs[n];
		INIT_LIST_HEAD(&hctxs[n].dispatch);
		elv_init_hctx(&hctxs[n], n);
	}
	return fq;
}

#ifndef REAL_POLICY
/* Faults that a policy sees */
static inline void eq_faults(void)
{
	eq(none_to_choose, 0, "times that a policy with none is asked for one");
	eq(not_asked, 0, "times that it is asked for one before it has chosen");
	eq(held_chosen, 0, "times that it is asked for one while it holds all");
	eq(out_of_order, 0, "requests out of the order of their insertion");
	eq(mixed_up, 0, "starts and ends of another request");
	eq(time_back, 0, "events before the one before");
	eq(warned, 0, "things that the code wonders about");
}
#endif

static inline void exit_queues(void)
{
	unsigned int n;

	for (n = 0; n < QUEUES; n++)
		elv_exit_hctx(&hctxs[n], n);
}

static void end(void)
{
	pthread_rwlock_wrlock(&queue.running);
	queue.quiesced = true;
	pthread_rwlock_unlock(&queue.running);
	exit_queues();
	elv_exit_sched(&elevator);
	elevator.elevator_data = NULL;
}

#endif /* ELVDRIVE_H */
