// SPDX-License-Identifier: GPL-2.0
/*
 * Arrival and completion without the lock, with the real code and threads that submit,
 * dispatch, complete, requeue, watch and switch the scheduler, while the policy holds requests
 * back in several ways. No request is lost, forgotten, out of order or used after it was freed,
 * and few runs find nothing to dispatch. Some requests have to be issued first.
 *
 * Under ThreadSanitizer: no plain access races with another one (blkmq.h says how).
 */
#define TAGS		96
#define QUEUES		2
#define SUBMITTERS	3
#ifdef __SANITIZE_THREAD__
#define ROUNDS		300
#else
#define ROUNDS		90
#endif

#include "elvdrive.h"
#include "elvthreads.h"

static bool sets;

static void describe(struct request *rq)
{
	rq->urgent = hurries && tap_rand(&turns) % 4 == 0;
}

/*
 * Also reads statistics, offers bios to waiting requests or sets tunables, while requests hold
 * the scheduler.
 */
static void *looker(void *arg)
{
	struct flash_queue *fq = arg;
	struct bio bio = { .bi_next = NULL };

	turns = seed + 300;
	while (looks()) {
		if (tap_rand(&turns) % 2) {
			flash_lock(fq);
			if (sets && tap_rand(&turns) % 4 == 0) {
				WRITE_ONCE(fq->watches, !fq->watches);
				flash_change(fq);
			}
			if (sets && tap_rand(&turns) % 4 == 0)
				flash_set_bound(fq, 1 + tap_rand(&turns) % 4);
			if (sets && tap_rand(&turns) % 4 == 0)
				flash_resort(fq);
			flash_unlock(fq);
			if (sets) {
				WRITE_ONCE(the_disk.val[0], tap_rand(&turns) % 2);
				flash_resume(fq);
			}
		} else {
			elv_bio_merge(&queue, &bio, 1);
		}
		idle(20);
	}
	return NULL;
}

/* Single steps, without threads. */

static unsigned long nth[QUEUES];
static bool ready;
static long held;

/* begin(), with a policy that watches */
static struct flash_queue *begin_watching(unsigned int bound)
{
	struct flash_queue *fq = begin(bound);

	nth[0] = 0;
	WRITE_ONCE(fq->watches, true);
	return fq;
}

static void insert_one(unsigned int by)
{
	LIST_HEAD(list);

	list_add_tail(&get(by, ++nth[by])->queuelist, &list);
	elv_insert_requests(&hctxs[by], &list, false);
}

static void insert_first(void)
{
	insert_one(0);
}

static bool dispatch_one(void)
{
	struct request *rq = elv_dispatch_request(&hctxs[0]);

	if (!rq)
		return false;
	SET(rq->started, true);
	device[in_device++] = rq;
	return true;
}

static void complete_one(void)
{
	struct request *rq;

	if (!in_device)
		return;
	rq = device[--in_device];
	elv_completed_request(rq, ktime_get_ns());
	elv_finish_request(rq);
	SET(busy[rq->mq_hctx->queue_num][rq->internal_tag], 0);
	percpu_ref_put(&queue.q_usage_counter);
}

static void insert_five(void)
{
	unsigned int n;

	for (n = 0; n < 5; n++)
		insert_one(0);
}

static void dispatch_and_complete_one(void)
{
	if (dispatch_one())
		complete_one();
	held = GET(queue.q_usage_counter.count);
}

static void is_it_ready(void)
{
	ready = elv_has_work(&hctxs[0]);
}

/* Which contexts drain the pending list, apart from dispatch? */
static void takes_in(void)
{
	struct flash_queue *fq = begin(1);
	unsigned int n;

	nth[0] = 0;
	insert_one(0);
	eq(dispatch_one(), 1, "the device is full");
	for (n = 1; n < FLASH_PENDING_MOST; n++)
		insert_one(0);
	eq(fq->queued, 0, "%u are added and none is drained", n - 1);
	insert_one(0);
	eq(fq->queued, n, "who comes when there are so many takes all in");
	insert_one(0);
	eq(fq->queued, n, "and the next one does not");
	flash_lock(fq);
	WRITE_ONCE(fq->watches, true);
	flash_change(fq);
	spin_unlock(&fq->lock);
	n = fq->queued;
	insert_one(0);
	eq(fq->queued, n, "nor does one that comes while the policy watches");
	flash_lock(fq);
	eq(fq->queued, n + 1, "the lock's next holder takes it in");
	flash_unlock(fq);
	for (n = 0; n < nth[0]; n++) {
		complete_one();
		dispatch_one();
	}
	eq(fq->queued || in_device, 0, "all are dispatched");
	WRITE_ONCE(fq->watches, false);
	end();
}

/* Requests that others add before a submitter's addition must count. */
static void all_count(void)
{
	struct flash_queue *fq = begin(1);
	unsigned long n;

	nth[0] = nth[1] = 0;
	insert_one(0);
	dispatch_one();
	while (!fq->queued && nth[0] < TAGS - 5) {
		on(ADDING, insert_five);
		insert_one(1);
	}
	eq(fq->queued, FLASH_PENDING_MOST,
	   "the same who comes when there are so many that come at once");
	for (n = nth[0] + nth[1]; n; n--) {
		complete_one();
		dispatch_one();
	}
	end();
}

static void moments(void)
{
	nth[0] = nth[1] = 0;
	begin(1);
	eq(elv_has_work(&hctxs[0]), 0, "no work");
	on(FOUND_EMPTY, insert_first);
	eq(dispatch_one(), 0, "one added after the drain is not dispatched");
	eq(none_to_choose, 0, "nor is the policy, which has none, asked for one");
	eq(elv_has_work(&hctxs[0]), 1, "it is work");
	on(TAKEN_OUT, is_it_ready);
	eq(dispatch_one(), 1, "the drained one is dispatched");
	eq(ready, 1, "and was work while it was taken in");
	insert_one(1);
	eq(elv_has_work(&hctxs[1]), 0, "another one, and the device is full");
	eq(hctxs[0].pending || hctxs[1].pending, 0, "no run is scheduled");
	complete_one();
	eq(hctxs[1].pending, 1, "a slot is given back: its queue is run");
	eq(dispatch_one(), 1, "and it is dispatched");
	complete_one();
	on(ADDED, dispatch_and_complete_one);
	insert_one(0);
	eq(held, 1, "a submitter holds the scheduler after the request was freed");
	eq(GET(queue.q_usage_counter.count), 0, "but no longer");
	end();
}

static struct flash_queue *device_queue;

static void drain(struct flash_queue *fq)
{
	flash_lock(fq);
	flash_unlock(fq);
}

static void drain_device(void)
{
	drain(device_queue);
}

/* Makes the @nth access to a shared variable from now on the moment of an event. */
static void on_access(unsigned int n, void (*what)(void))
{
	accesses = n;
	on(ACCESS, what);
}

/*
 * A context that runs no hardware queue drains the lists, at each moment of a look for work by
 * a submitter or an interrupt. The look finds the work.
 */
static void drained_during_a_look(void)
{
	unsigned int n, lost_arrival = 0, lost_held = 0, lost_end = 0, lost_ask = 0;
	struct flash_queue *fq;

	for (n = 1; n <= 30; n++) {
		nth[0] = 0;
		fq = device_queue = begin(4);
		/* The first request of all */
		insert_one(0);
		on_access(n, drain_device);
		lost_arrival += !elv_has_work(&hctxs[0]);
		on(NEVER, NULL);

		WRITE_ONCE(fq->watches, true);
		flash_change(fq);
		dispatch_one();
		insert_one(0);
		dispatch_one();
		insert_one(0);
		holding = HOLD_ALL;
		eq_quiet(dispatch_one(), 0);
		eq_quiet(fq->held, 1);
		/* Insert another one, which is not held back. */
		insert_one(0);
		holding = HOLD_NONE;
		on_access(n, drain_device);
		lost_held += !elv_has_work(&hctxs[0]);
		on(NEVER, NULL);

		holding = HOLD_ALL;
		insert_one(0);
		eq_quiet(dispatch_one(), 0);
		holding = HOLD_NONE;
		hctxs[0].pending = false;
		on_access(n, drain_device);
		complete_one();
		on(NEVER, NULL);
		lost_end += !hctxs[0].pending;

		holding = HOLD_ALL;
		flash_ask_again(fq);
		eq_quiet(dispatch_one(), 0);
		holding = HOLD_NONE;
		on_access(n, drain_device);
		flash_ask_again(fq);
		lost_ask += !elv_has_work(&hctxs[0]);
		on(NEVER, NULL);
		while (dispatch_one())
			complete_one();
		complete_one();
		eq_quiet(fq->queued || in_device, 0);
		WRITE_ONCE(fq->watches, false);
		end();
	}
	eq(lost_arrival, 0, "an arrival that is drained while its submitter looks for work");
	eq(lost_held, 0, "the same while others are held back");
	eq(lost_end, 0, "an end that is drained while it looks for work");
	eq(lost_ask, 0, "a timer of the policy, the same");
}

static void complete_all_and_exit(void)
{
	while (in_device)
		complete_one();
	exit_queues();
}

/*
 * A reader of statistics drains many events, and has to release the lock in between. At this
 * moment more requests end, and the records are freed.
 */
static void freed_during_drain(void)
{
	struct flash_queue *fq = begin_watching(TAGS);
	unsigned int n, most = FLASH_DRAIN_MOST;

	for (n = 0; n < most + 20; n++) {
		insert_one(0);
		dispatch_one();
	}
	for (n = 0; n < most + 10; n++)
		complete_one();
	on(UNLOCKED, complete_all_and_exit);
	flash_lock(fq);
	eq(fq->out, 0, "ends that are not drained when the records are freed");
	eq(in_device, 0, "and all have ended");
	flash_unlock(fq);
	for (n = 0; n < QUEUES; n++)
		elv_init_hctx(&hctxs[n], n);
	end();
}

static void tags_grow(void)
{
	hctx_tags = TAGS;
	flash_hctx_resize(&hctxs[0]);
}

/* The ends of requests that used the table which nr_requests replaces */
static void resized_before_drain(void)
{
	struct flash_queue *fq;
	unsigned int n;

	hctx_tags = TAGS / 2;
	fq = begin_watching(TAGS);
	for (n = 0; n < 5; n++) {
		insert_one(0);
		dispatch_one();
	}
	while (in_device)
		complete_one();
	eq(llist_empty(&fq->pending.ends), 0, "requests have ended, and that is not drained");
	tags_grow();
	eq(fq->out, 0, "it is when nr_requests grows");
	insert_one(0);
	eq(dispatch_one(), 1, "and the new table is used");
	complete_one();
	end();
}

static void requeue_one(void)
{
	struct request *rq = device[--in_device];
	LIST_HEAD(list);

	elv_requeue_request(rq);
	rq->started = false;
	rq->again = true;
	list_add_tail(&rq->queuelist, &list);
	elv_insert_requests(rq->mq_hctx, &list, true);
}

/* The next request of a tag, and a requeued one, while the end is not drained */
static void tags_again(void)
{
	struct flash_queue *fq = begin_watching(4);
	unsigned int n;

	for (n = 0; n < 6; n++) {
		insert_one(0);
		dispatch_one();
		complete_one();
		eq_quiet(fq->out, 1);
		eq_quiet(llist_empty(&fq->pending.ends), 0);
	}
	drain(fq);
	eq(fq->out, 0, "each end is known of a tag that each request uses");
	insert_one(0);
	dispatch_one();
	requeue_one();
	eq(fq->nr_head == 1 && !fq->out, 1, "a requeued one has ended before it waits again");
	dispatch_one();
	eq(fq->out, 1, "and starts again");
	eq(fq->changed, 1, "after which the policy has to choose again");
	elv_requeue_request(device[0]);
	complete_one();
	drain(fq);
	eq(fq->out, 0, "one that ends after it was requeued has ended once");
	end();
}

static void complete_and_insert_one(void)
{
	complete_one();
	insert_one(0);
}

/* The policy hears of events in the order in which they happened. */
static void in_order(void)
{
	struct flash_queue *fq = begin_watching(4);
	struct bio bio = { .bi_next = NULL };
	unsigned int n;

	for (n = 0; n < 3; n++) {
		insert_one(0);
		dispatch_one();
	}
	complete_one();
	insert_one(0);
	drain(fq);
	eq(strcmp(to_fifo(fq)->heard, "ci"), 0, "an end, and then a request");
	insert_one(0);
	complete_one();
	drain(fq);
	eq(strcmp(to_fifo(fq)->heard, "ic"), 0, "a request, and then an end");
	dispatch_one();
	dispatch_one();
	complete_one();
	on(TAKEN_OUT, complete_and_insert_one);
	drain(fq);
	eq(fq->queued && fq->out > in_device, 0,
	   "a request that follows an end does not come before it");
	insert_one(0);
	drain(fq);
	eq(list_last_entry(&to_fifo(fq)->list, struct request, queuelist)->elv.priv[0] &&
	   flash_rq_of(list_last_entry(&to_fifo(fq)->list, struct request,
				       queuelist))->lookup != FLASH_LOOKUP_NONE, 1,
	   "one that still waits after a drain can merge");
	insert_one(0);
	elv_bio_merge(&queue, &bio, 1);
	while (in_device || dispatch_one())
		complete_one();
	end();
}

/* @n requests are added and dispatched. */
static void start(unsigned int n)
{
	while (n--) {
		insert_one(0);
		dispatch_one();
	}
}

/* The only request that waits is dispatched without a drain. */
static void passes(void)
{
	struct flash_queue *fq = begin_watching(4);

	start(2);
	eq(in_device == 2 && !fq->waits && !fq->fresh, 1, "none waits, none did");
	complete_one();
	insert_one(0);
	dispatch_one();
	eq(strcmp(to_fifo(fq)->heard, "ci") || fq->out != 2, 0, "an end, then one that passes");
	insert_one(0);
	complete_one();
	dispatch_one();
	eq(strcmp(to_fifo(fq)->heard, "ic") || fq->out != 2, 0,
	   "an end that is later is heard later");
	complete_one();
	insert_one(0);
	complete_one();
	dispatch_one();
	eq(strcmp(to_fifo(fq)->heard, "ic") || fq->out != 1, 0, "an end on each side");
	start(2);
	complete_one();
	complete_one();
	insert_one(0);
	dispatch_one();
	eq(strcmp(to_fifo(fq)->heard, "ci") || fq->out != 2, 0,
	   "two ends before one that passes are both heard");
	start(1);
	complete_one();
	complete_one();
	complete_one();
	insert_one(0);
	dispatch_one();
	eq(fq->out, 1, "so are three, by a drain");
	start(1);

	/* When it comes no slot is free, so bios may join it. */
	fq->bound = 2;
	insert_one(0);
	fq->bound = 3;
	dispatch_one();
	complete_one();
	eq(flash_seams_left(&fq->seams), 0, "no bio joins one that has passed");

	fq->bound = 2;
	insert_one(0);
	eq(dispatch_one(), 0, "none passes while no slot is free");
	eq(fq->queued == 1 && fq->waits == FLASH_WAITS_ONE, 1, "it waits");
	insert_one(0);
	complete_one();
	dispatch_one();
	eq(fq->queued == 1 && fq->waits == FLASH_WAITS_ONE, 1,
	   "and is dispatched before the next one, which waits");
	complete_one();
	dispatch_one();
	holding = HOLD_ALL;
	complete_one();
	insert_one(0);
	eq(dispatch_one(), 0, "none passes while all are held back");
	eq(fq->queued == 1 && fq->held, 1, "it waits");
	holding = HOLD_NONE;
	complete_one();
	dispatch_one();
	eq(in_device == 1 && !fq->waits, 1, "until they are not");
	sorts = true;
	complete_one();
	insert_one(0);
	dispatch_one();
	eq(in_device == 1 && !fq->pending.resort, 1, "none passes before all are sorted again");
	sorts = false;
	complete_one();
	end();
}

/* All waiting requests are sorted again, which ends a hold. */
static void sorted_again(void)
{
	struct flash_queue *fq = begin_watching(4);
	unsigned int n;

	for (n = 0; n < 40; n++)
		insert_one(0);
	holding = HOLD_ALL;
	eq(dispatch_one(), 0, "all requests are held back");
	holding = HOLD_NONE;
	flash_lock(fq);
	flash_resort(fq);
	flash_unlock(fq);
	in_irq = true;
	eq(elv_has_work(&hctxs[0]), 1, "has_work() before all are sorted");
	in_irq = false;
	hctxs[0].pending = false;
	flash_resume(fq);
	eq(hctxs[0].pending, 1, "a run is scheduled");
	eq(fq->waits & FLASH_WAITS_TAKING || !list_empty(&to_fifo(fq)->again), 0, "all are sorted");
	eq(dispatch_one(), 1, "the policy chooses again");
	while (in_device || dispatch_one())
		complete_one();
	end();
}

static void one_ends_in_interrupt(void)
{
	in_irq = true;
	complete_one();
	in_irq = false;
}

/* One request is in the device, and while it is, the policy holds back the one that waits. */
static struct flash_queue *begin_one_and_one(unsigned int bound)
{
	struct flash_queue *fq = begin(bound);

	nth[0] = 0;
	WRITE_ONCE(fq->watches, true);
	holding = HOLD_ONE;
	to_fifo(fq)->starts = 3;
	insert_one(0);
	dispatch_one();
	insert_one(0);
	return fq;
}

/* Ends at the moments at which a run decides that all are held back */
static void ends_while_held(void)
{
	unsigned int n, lost = 0, lost_run = 0;
	struct flash_queue *fq;

	for (n = 1; n <= 40; n++) {
		fq = begin_one_and_one(4);
		hctxs[0].pending = false;
		/* The lock is held in some of these moments. */
		any_access = true;
		on_access(n, one_ends_in_interrupt);
		if (n % 2)
			lost_run += !dispatch_one() && in_device == 0 && !hctxs[0].pending;
		else
			lost += !elv_has_work(&hctxs[0]) && in_device == 0 &&
				!hctxs[0].pending;
		any_access = false;
		on(NEVER, NULL);
		holding = HOLD_NONE;
		flash_ask_again(fq);
		while (in_device || dispatch_one())
			complete_one();
		end();
	}
	eq(lost, 0, "an end while has_work() asks the policy");
	eq(lost_run, 0, "an end while a run finds that all are held back");
}

static bool has_asked, may_go;

static void asks_only(void)
{
	has_asked = true;
	may_go |= elv_has_work(&hctxs[0]);
}

/*
 * A task finds that requests are not held back any more, and loses the CPU before it
 * dispatches one, at each moment of the end of the only request in the device.
 */
static void asks_and_loses_the_cpu(void)
{
	unsigned int n, lost = 0, yes = 0, held = 0;
	struct flash_queue *fq;

	for (n = 1; n <= 40; n++) {
		fq = begin_one_and_one(TAGS);
		held += !dispatch_one() && fq->held;
		hctxs[0].pending = has_asked = may_go = false;
		on_access(n, asks_only);
		complete_one();
		on(NEVER, NULL);
		yes += may_go;
		lost += has_asked && !hctxs[0].pending;
		holding = HOLD_NONE;
		while (in_device || dispatch_one())
			complete_one();
		end();
	}
	eq(held == 40 && yes > 0, 1, "a task asks between an end and its kick");
	eq(lost, 0, "ends that leave the next run to a task that asks and loses the CPU");
}

static void limit_is(unsigned int bound)
{
	flash_lock(device_queue);
	flash_set_bound(device_queue, bound);
	flash_unlock(device_queue);
}

/* Any change of the limit starts a run: a submitter may have compared with the old one. */
static void limit_changes(void)
{
	struct bio bio = { .bi_next = NULL };

	device_queue = begin(1);
	nth[0] = 0;
	insert_one(0);
	dispatch_one();
	insert_one(0);
	eq(elv_has_work(&hctxs[0]), 0, "the limit is reached");
	hctxs[0].pending = false;
	limit_is(1);
	eq(hctxs[0].pending, 0, "setting the same changes nothing");
	limit_is(3);
	eq(hctxs[0].pending, 1, "a higher one starts a run");
	hctxs[0].pending = false;
	limit_is(2);
	eq(hctxs[0].pending, 1, "a lower one does if a slot is free");
	dispatch_one();
	complete_one();
	complete_one();

	/* The policy changes it when it hears of an end: from 1 to 2, to 3, to 1. */
	limit_is(1);
	flash_lock(device_queue);
	WRITE_ONCE(device_queue->watches, true);
	flash_unlock(device_queue);
	limit_moves = true;
	to_fifo(device_queue)->ends = 1;
	insert_one(0);
	dispatch_one();
	complete_one();
	/* This end is not drained yet. */
	insert_one(0);
	insert_one(0);
	insert_one(0);
	hctxs[0].pending = false;
	elv_bio_merge(&queue, &bio, 1);
	eq(device_queue->bound, 2, "a bio that looks for a merge drains an end");
	eq(hctxs[0].pending, 1, "which raises the limit: it starts a run");
	dispatch_one();
	dispatch_one();
	eq(dispatch_one(), 0, "the limit is reached");
	complete_one();
	hctxs[0].pending = false;
	drain_device();
	eq(device_queue->bound, 3, "who reads statistics drains an end");
	eq(hctxs[0].pending, 1, "and starts a run as well");
	dispatch_one();
	limit_moves = false;
	limit_is(4);
	while (in_device || dispatch_one())
		complete_one();
	end();
}

/* Few requests wait outside of the merge lookup, so that a bio's lookup is short. */
static void few_are_noted(void)
{
	struct flash_queue *fq = begin_watching(TAGS);
	unsigned int n;

	holding = HOLD_ALL;
	for (n = 0; n < TAGS / 2; n++)
		insert_one(0);
	drain(fq);
	eq(fq->nr_noted == FLASH_NOTED_MOST && sorted == TAGS / 2 - FLASH_NOTED_MOST, 1,
	   "a few that wait are noted, the lookup has the others");
	holding = HOLD_NONE;
	flash_change(fq);
	while (in_device || dispatch_one())
		complete_one();
	eq(fq->nr_noted || sorted || !hlist_empty(&fq->noted), 0, "all were removed");
	end();
}

/* What is different in each round */
static struct flash_queue *begin_round(unsigned int round)
{
	static const enum holding ways[] = { HOLD_NONE, HOLD_FULL, HOLD_ONE, HOLD_TIME };
	struct flash_queue *fq;

	ended = over = 0;
	each = round % 9 ? 1 + (int)round % 5 : 60;
	sets = round % 4 == 3;
	seed = round * 1000ULL;
	hands_back = round / 2 % 3 == 1;
	restarts = round % 7 == 5;
	asks_twice = round / 4 % 2;
	hurries = round % 5 < 2;
	claims = round % 5 < 3;
	stalls = round % 2;
	mq_ops.get_budget = round % 8 == 7;
	holding = ways[round / 3 % ARRAY_SIZE(ways)];
	full = round % 4 == 2 ? 9 : 2;
	limit_moves = round % 11 < 3;
	/* What holds requests back is the limit, or the policy. */
	slow = round % 4 == 2;
	if (slow)
		each = 40;
	fq = begin(slow ? 16 + round % 3 : holding && round % 2 ? TAGS :
		   round % 9 ? 1 : 1 + round % 3);
	if (!fq)
		return NULL;
	the_disk.val[0] = round % 3 == 0;
	WRITE_ONCE(fq->watches, holding || round % 5 == 0);
	return fq;
}

int main(void)
{
	unsigned int round;

	moments();
	takes_in();
	all_count();
	drained_during_a_look();
	freed_during_drain();
	resized_before_drain();
	tags_again();
	in_order();
	passes();
	few_are_noted();
	sorted_again();
	ends_while_held();
	asks_and_loses_the_cpu();
	limit_changes();
	round = rounds_of(ROUNDS);
	eq(round, ROUNDS, "rounds");
	eq(forgotten, 0, "requests without a scheduled run");
	eq_faults();
	eq(races, 0, "data races that ThreadSanitizer reports");
	eq(in_vain * 3 < in_earnest, 1, "few runs find nothing to dispatch");
	eq(together > 100, 1, "many requests are chosen together");
	eq(left_free > 100, 1, "many ends leave slots free while requests wait");
	printf("# %d of %d runs in vain; %d requests issued first, %d of them overtaken;\n"
	       "# %d chosen together; %d ends left slots free\n",
	       in_vain, in_vain + in_earnest, firsts, overtaken, together, left_free);
	return tap_done();
}
