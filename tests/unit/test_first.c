// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that must be issued before another request is chosen (flash_issue_first()): which
 * requests they hold back, for how long, and which tasks may issue them. Also: which
 * completions schedule a run (flash_needs_run()). The real code, step by step.
 */
#define TAGS		16
#define QUEUES		2
#define SUBMITTERS	4

#include "elvdrive.h"
#include "elvkicks.h"

static unsigned long nth[SUBMITTERS];
static struct task_struct worker = { .nice = -20, .flags = PF_KTHREAD | PF_WQ_WORKER };
static int inlined;

void blk_mq_run_hw_queue(struct blk_mq_hw_ctx *hctx, bool async)
{
	(void)hctx;
	inlined += !async;
}

/* The current task inserts a request. */
static struct request *insert_with(unsigned int by, bool urgent, unsigned int flags)
{
	struct request *rq = get(by, nth[by] + 1);
	LIST_HEAD(list);

	nth[by]++;
	rq->urgent = urgent;
	rq->cmd_flags |= flags;
	list_add_tail(&rq->queuelist, &list);
	elv_insert_requests(&hctxs[by % QUEUES], &list, false);
	return rq;
}

static struct request *insert(unsigned int by, bool urgent)
{
	return insert_with(by, urgent, 0);
}

/* Another task than the current one inserts a request. */
static struct request *insert_from(struct task_struct *task, unsigned int by,
				   bool urgent)
{
	struct request *rq = insert(by, urgent);

	flash_hctx_rec(rq->mq_hctx->sched_data, rq)->by = task;
	return rq;
}

/* A run in the current context chooses a request, and does not issue it yet. */
static struct request *choose(void)
{
	return elv_has_work(&hctxs[0]) ? elv_dispatch_request(&hctxs[0]) : NULL;
}

static struct request *worker_chooses(void)
{
	struct task_struct task = the_task;
	struct request *rq;

	the_task = worker;
	rq = choose();
	the_task = task;
	return rq;
}

static void issue(struct request *rq)
{
	rq->started = true;
}

static void finish(struct request *rq)
{
	elv_completed_request(rq, ktime_get_ns());
	elv_finish_request(rq);
	busy[rq->mq_hctx->queue_num][rq->internal_tag] = 0;
	percpu_ref_put(&queue.q_usage_counter);
}

static void issue_and_finish(struct request *rq)
{
	issue(rq);
	finish(rq);
}

/* FLASH_FIRST_NS pass, and the timer expires. */
static void time_passes(struct flash_queue *fq)
{
	hrtimer_expire(&fq->first.timer);
}

static struct flash_queue *anew(unsigned int bound)
{
	memset(nth, 0, sizeof(nth));
	memset(&the_task, 0, sizeof(the_task));
	timers_set = inlined = 0;
	return begin(bound);
}

static void in_time(void)
{
	struct flash_queue *fq = anew(4);
	struct request *a, *b;

	a = insert(0, true);
	eq(choose() == a, 1, "in time: an urgent request is chosen");
	eq(elv_has_work(&hctxs[0]), 0, "nothing else waits");
	eq(timers_set, 0, "so no timer is set");
	b = insert(1, false);
	eq(elv_has_work(&hctxs[0]), 0, "another one is inserted, and held back");
	eq(elv_has_work(&hctxs[1]), 0, "on all hardware queues");
	eq(timers_set, 1, "for which one timer is set");
	eq(fq->first.timer.in >= 1000000 && fq->first.timer.in <= 10000000, 1,
	   "of some milliseconds");
	issue(a);
	eq(elv_has_work(&hctxs[0]), 1, "issued: the round continues");
	time_passes(fq);
	eq(fq->first.rq == a, 1, "the timer does not look at it");
	run_pending();
	eq(choose() == b, 1, "the other one is chosen");
	finish(a);
	issue_and_finish(b);
	eq(fq->first.expired, 0, "nothing was late");
	end();
}

static void late(void)
{
	struct flash_queue *fq = anew(4);
	struct request *a, *b, *c;

	a = insert(0, true);
	choose();
	b = insert(1, false);
	eq(choose() == NULL, 1, "late: the first one keeps others back");
	time_passes(fq);
	eq(run_pending(), 1, "until the timer starts a run");
	eq(choose() == b, 1, "others pass");
	eq(fq->first.expired, 1, "which is counted");
	c = insert(0, true);
	eq(choose() == c, 1, "urgent ones as well");
	insert(1, false);
	eq(choose() == NULL, 1, "which keep others back in their turn");
	issue_and_finish(a);
	eq(choose() == NULL, 1, "whatever becomes of the late one");
	issue(c);
	issue_and_finish(choose());
	finish(c);
	issue_and_finish(b);
	eq(atomic_read(&fq->inflight), 0, "no slot is lost");
	end();
}

/* A timer armed for an earlier request must not end the wait for a later one. */
static void another(void)
{
	struct flash_queue *fq = anew(4);
	struct request *a, *b, *c;

	a = insert(0, true);
	choose();
	c = insert(1, true);
	b = insert(1, false);
	choose();
	issue_and_finish(a);
	eq(choose() == c, 1, "another: the second urgent request");
	eq(choose() == NULL, 1, "keeps the third one back");
	eq(timers_set, 1, "under the timer of the first one");
	time_passes(fq);
	eq(fq->first.expired, 0, "which does not count for it");
	eq(timers_set, 2, "but is set again");
	eq(choose() == NULL, 1, "the third one still waits");
	time_passes(fq);
	eq(choose() == b, 1, "until it expires again");
	issue_and_finish(c);
	issue_and_finish(b);
	end();
}

/* Two urgent requests in a row: the end of the first one must not end the wait for the second. */
static void two_in_a_row(void)
{
	struct flash_queue *fq = anew(8);
	struct request *a, *b, *c;

	a = insert(0, true);
	choose();
	issue(a);
	c = insert(1, true);
	eq(choose() == c, 1, "two in a row: the second urgent request is chosen");
	b = insert(0, false);
	eq(choose() == NULL, 1, "and keeps another one back");
	finish(a);
	eq(fq->first.rq == c, 1, "the end of the first one does not change that");
	eq(run_pending(), 0, "and starts no run");
	eq(choose() == NULL, 1, "the other one still waits");
	issue(c);
	eq(choose() == b, 1, "until the second one is issued");
	issue_and_finish(b);
	finish(c);
	time_passes(fq);
	eq(fq->first.timer.set, 0, "the timer expires, and is not set again for nothing");

	/* Both are late. */
	a = insert(0, true);
	choose();
	c = insert(1, true);
	choose();
	time_passes(fq);
	eq(choose() == c, 1, "the first one is late, and the second one overtakes it");
	b = insert(0, false);
	eq(choose() == NULL, 1, "the second one keeps another one back");
	time_passes(fq);
	eq(choose() == b, 1, "until it is late as well");
	eq(fq->first.expired, 2, "each is counted");
	issue_and_finish(a);
	issue_and_finish(c);
	issue_and_finish(b);
	end();
}

/* The driver requeues a request, and the block layer inserts it again, before all others. */
static void requeue(struct request *rq)
{
	elv_requeue_request(rq);
	rq->started = false;
	rq->again = true;
}

static void insert_again(struct request *rq)
{
	LIST_HEAD(list);

	list_add_tail(&rq->queuelist, &list);
	elv_insert_requests(rq->mq_hctx, &list, true);
}

static void requeued(void)
{
	struct flash_queue *fq = anew(8);
	struct request *a, *b, *c;

	a = insert(0, true);
	choose();
	b = insert(1, false);
	eq(choose() == NULL, 1, "requeued: the first one keeps another one back");
	requeue(a);
	eq(fq->first.rq == NULL, 1, "until the driver requeues it");
	eq(run_pending(), 1, "which starts a run");
	insert_again(a);
	eq(choose() == a, 1, "inserted again, it precedes all others");
	eq(choose() == b, 1, "and keeps none back");
	time_passes(fq);
	eq(fq->first.expired, 0, "so it is not late");
	issue_and_finish(a);
	issue_and_finish(b);

	/* One that is late is requeued while another one is first. */
	a = insert(0, true);
	choose();
	b = insert(1, true);
	choose();
	time_passes(fq);
	eq(choose() == b, 1, "another urgent request overtakes a late one");
	c = insert(1, false);
	requeue(a);
	eq(fq->first.rq == b, 1, "which is requeued, and does not end the wait for the other");
	eq(choose() == NULL, 1, "a third one is still kept back");
	insert_again(a);
	eq(choose() == a, 1, "but the requeued one is not");
	issue(b);
	eq(choose() == c, 1, "issued: the third one is chosen");
	issue_and_finish(a);
	finish(b);
	issue_and_finish(c);
	eq(atomic_read(&fq->inflight), 0, "no slot is lost");
	end();
}

/* The driver fails a request before it starts it. */
static void fails_unstarted(void)
{
	struct flash_queue *fq = anew(8);
	struct request *a, *b;

	a = insert(0, true);
	choose();
	b = insert(1, false);
	choose();
	run_pending();
	finish(a);
	eq(fq->first.rq == NULL && run_pending(), 1,
	   "an urgent request that ends without a start starts a run");
	eq(choose() == b, 1, "for the one that it kept back");
	issue_and_finish(b);
	end();
}

/* A request of a poll queue completes only when its task polls. */
static void poll_queue(void)
{
	struct flash_queue *fq = anew(8);
	struct request *a, *b;

	hctxs[0].type = HCTX_TYPE_POLL;
	a = insert(0, true);
	b = insert(1, false);
	eq(choose() == a, 1, "poll queue: an urgent request is chosen");
	eq(fq->first.rq == NULL && !fq->first.nth, 1, "and is not issued first");
	eq(choose() == b, 1, "another one need not wait");
	eq(timers_set, 0, "and no timer is set");
	issue_and_finish(b);
	issue_and_finish(a);
	eq(fq->stats.polled, 1, "it takes no slot");
	end();
}

static void is_refused(void)
{
	eq(elv_has_work(&hctxs[1]), 0, "while the timer expires a request is refused");
}

/* A refusal while the timer expires arms it again, and must not count as an earlier one. */
static void meanwhile_refused(void)
{
	struct flash_queue *fq = anew(4);
	struct request *a, *b, *c;

	a = insert(0, true);
	choose();
	c = insert(1, true);
	b = insert(1, false);
	choose();
	issue_and_finish(a);
	choose();
	on(EXCHANGED, is_refused);
	time_passes(fq);
	eq(fq->first.expired, 0, "no time has passed since that was chosen");
	eq(fq->first.timer.set, 1, "the timer is set for it");
	time_passes(fq);
	eq(choose() == b, 1, "and lets others pass later");
	issue_and_finish(c);
	issue_and_finish(b);
	end();
}

/* A request that is inserted while the timer expires; a device that is full. */
static void liveness(void)
{
	struct flash_queue *fq = anew(2);
	struct request *a, *b, *c;

	a = insert(0, true);
	choose();
	b = insert(1, false);
	choose();
	eq(fq->queued, 0, "liveness: the new request is in the pending list");
	time_passes(fq);
	eq(run_pending(), 1, "and the timer sees it there");
	choose();
	c = insert(1, false);
	eq(choose() == NULL, 1, "the device is full");
	eq(fq->first.timer.set, 0, "for which no timer is set");
	issue_and_finish(b);
	eq(run_pending(), 1, "a slot given back starts a run");
	eq(choose() == c, 1, "although the late request is not issued");
	issue_and_finish(c);

	/* The late request completes before the others are released. */
	b = insert(1, true);
	choose();
	c = insert(0, false);
	choose();
	elv_requeue_request(b);
	eq(run_pending(), 1, "handed back: it keeps nothing back");
	eq(choose() == c, 1, "others are dispatched");
	issue_and_finish(c);
	time_passes(fq);
	eq(fq->first.expired, 1, "and it was not late");
	finish(b);
	issue_and_finish(a);

	end();
}

static void one_more_comes(void)
{
	insert(1, false);
}

/* One request must be issued first, and is; the policy holds the others back. */
static void first_and_held(void)
{
	struct flash_queue *fq = anew(8);
	struct request *a;

	fq->watches = true;
	a = insert(0, true);
	choose();
	issue(a);
	insert(1, false);
	holding = HOLD_ALL;
	on(TAKEN_OUT, one_more_comes);
	eq(elv_dispatch_request(&hctxs[0]) == NULL, 1,
	   "held: a request that comes meanwhile changes no choice");
	eq(run_pending(), 1, "but starts a run, which asks again");
	holding = HOLD_NONE;
	finish(a);
	issue_and_finish(choose());
	issue_and_finish(choose());
	end();
}

static void at_exit(void)
{
	struct flash_queue *fq = anew(4);
	struct request *a;

	a = insert(0, true);
	choose();
	insert(0, false);
	choose();
	issue_and_finish(a);
	issue_and_finish(choose());
	eq(fq->first.timer.set, 1, "exit: a timer is set that nothing needs");
	timers_cancelled = 0;
	end();
	eq(timers_cancelled, 1, "and does not outlive the scheduler");
}

/* Tasks that may issue a request for which others wait. */
static void issuers(void)
{
	static struct task_struct other;
	struct flash_queue *fq = anew(8);
	struct request *a;

	a = insert_from(&other, 0, true);
	eq(choose() == NULL, 1, "issuers: another task's urgent request is left");
	eq(run_pending(), 1, "to a worker, which is started");
	eq(fq->pass_on, 0, "once");
	eq(worker_chooses() == a, 1, "and issues it");
	issue_and_finish(a);

	a = insert(0, true);
	the_task.nice = 1;
	eq(choose() == NULL, 1, "a nice task's own one is, too");
	eq(run_pending(), 1, "left to a worker");
	the_task.nice = 0;
	the_task.policy = SCHED_IDLE;
	eq(choose() == NULL && run_pending(), 1, "that of SCHED_IDLE as well");
	the_task.policy = SCHED_BATCH;
	eq(choose() == a, 1, "but not that of SCHED_BATCH");
	issue_and_finish(a);

	the_task.policy = 0;
	a = insert_from(&other, 0, true);
	the_task.flags = PF_KTHREAD;
	eq(choose() == a, 1, "kernel threads issue any");
	issue_and_finish(a);
	a = insert_from(&other, 0, true);
	the_task.nice = 19;
	eq(choose() == NULL && run_pending(), 1, "unless they are nice");
	eq(worker_chooses() == a, 1, "the block layer's workers do");
	issue_and_finish(a);
	a = insert_from(&other, 0, true);
	worker.nice = 19;
	eq(worker_chooses() == a && !run_pending(), 1, "nice ones, too: no other task would");
	worker.nice = -20;
	issue_and_finish(a);
	the_task.nice = the_task.flags = 0;
	a = insert_from(&other, 0, true);
	the_task.rt = true;
	eq(choose() == a, 1, "a task of a real-time CPU class issues any");
	issue_and_finish(a);
	the_task.rt = false;
	a = insert_from(&other, 0, false);
	eq(choose() == a, 1, "what is not urgent any task issues");
	issue_and_finish(a);
	end();
}

static void inline_dispatch(void)
{
	anew(8);
	the_disk.val[0] = 1;
	the_task.plug = &worker;
	issue_and_finish((insert(0, false), choose()));
	eq(inlined, 0, "inline: not from a plug, which the block layer flushes");
	the_task.plug = NULL;
	issue_and_finish((insert(0, false), choose()));
	eq(inlined, 1, "inline: a task issues its request itself");
	the_task.nice = -20;
	issue_and_finish((insert(0, false), choose()));
	the_task.nice = 0;
	the_task.policy = SCHED_BATCH;
	issue_and_finish((insert(0, false), choose()));
	eq(inlined, 3, "so do those of a low nice value, and of SCHED_BATCH");
	the_task.policy = SCHED_IDLE;
	issue_and_finish((insert(0, false), choose()));
	the_task.policy = 0;
	the_task.nice = 1;
	issue_and_finish((insert(0, false), choose()));
	eq(inlined, 3, "but not nice ones, nor those of SCHED_IDLE");
	end();
}

/* A completion between the insertion of a single request and its dispatch */
static void end_before_dispatch(void)
{
	struct request *out[10], *lone;
	unsigned int n, runs = 0;

	anew(16);
	for (n = 0; n < 10; n++) {
		insert(0, false);
		out[n] = choose();
		issue(out[n]);
	}
	lone = insert(1, false);
	run_pending();
	for (n = 0; n < 8; n++) {
		finish(out[n]);
		runs += run_pending();
	}
	eq(runs, 0, "a lone request's submitter runs a queue: ends before that do not");
	finish(out[8]);
	eq(run_pending(), 1, "unless it has not done so after 8 of them");
	eq(choose() == lone, 1, "it is dispatched");
	insert(0, false);
	finish(out[9]);
	eq(run_pending(), 0, "and their count restarts");
	issue_and_finish(choose());
	issue_and_finish(lone);
	end();
}

/* A busy driver ends a round early, and a request is left behind. */
static void end_after_short_round(void)
{
	struct flash_queue *fq = anew(16);
	struct request *out, *busy_one, *behind;

	/* Else the other one would be chosen together with it. */
	fq->one_by_one = true;
	insert(1, false);
	out = choose();
	issue(out);
	busy_one = insert(0, false);
	behind = insert(1, false);
	eq(choose() == busy_one, 1, "of two requests one is dispatched, and not issued");
	run_pending();
	finish(out);
	eq(run_pending(), 1, "an end starts a run for the other one");
	eq(choose() == behind, 1, "which is dispatched");
	issue_and_finish(behind);
	issue_and_finish(busy_one);
	end();
}

/* The in-flight limit is reached. */
static void end_of_full(void)
{
	struct request *out, *waits;

	anew(1);
	insert(0, false);
	out = choose();
	issue(out);
	waits = insert(1, false);
	eq(elv_has_work(&hctxs[1]), 0, "the limit is reached");
	run_pending();
	finish(out);
	eq(run_pending(), 1, "the end starts a run");
	eq(choose() == waits, 1, "for the one that waited");
	issue_and_finish(waits);
	end();
}

/* The hardware queue with most free tags */
static unsigned int roomy(void)
{
	unsigned int n;
	int used = 0;

	for (n = 0; n < TAGS; n++)
		used += busy[0][n] - busy[1][n];
	return used > 0;
}

/* Insert, choose and issue @nr requests into @out. */
static void fill(struct request **out, unsigned int nr)
{
	unsigned int n;

	for (n = 0; n < nr; n++) {
		insert(roomy(), false);
		out[n] = choose();
		issue(out[n]);
	}
}

/* The lock's holder looks at all that has arrived. */
static void look(struct flash_queue *fq)
{
	flash_lock(fq);
	flash_settle(fq);
	flash_unlock(fq);
}

/* Take what may be dispatched, and let it all end. */
static void rest(struct request **out, unsigned int from, unsigned int to)
{
	struct request *rq;

	while (from < to)
		finish(out[from++]);
	while ((rq = choose()))
		issue_and_finish(rq);
}

/* A limit of many: an eighth of the slots are free before an end starts a run. */
static void ends_of_full(void)
{
	struct flash_queue *fq = anew(24);
	struct request *out[24];
	unsigned int n, runs;

	fill(out, 24);
	for (n = 0; n < 4; n++)
		insert(n % QUEUES, false);
	run_pending();
	for (n = runs = 0; n < 2; n++) {
		finish(out[n]);
		runs += run_pending();
	}
	eq(runs, 0, "of a limit of 24 two slots are free: ends start no run");
	eq(elv_has_work(&hctxs[0]), 1, "but there is work");
	finish(out[2]);
	eq(run_pending(), 1, "three are: it does");
	fill(out, 3);
	look(fq);
	finish(out[0]);
	eq(run_pending(), 0, "one is free again");
	fq->urgent_seen = true;
	finish(out[1]);
	eq(run_pending(), 1, "a device that has seen urgent tasks waits for no third one");
	fq->urgent_seen = false;
	fill(out, 2);
	look(fq);
	fq->one_by_one = true;
	finish(out[0]);
	eq(run_pending(), 1, "nor does one that has seen urgent requests");
	fq->one_by_one = false;
	fill(out, 1);
	finish(out[0]);
	eq(run_pending(), 0, "one is free again");
	fill(out, 1);
	insert_with(roomy(), false, REQ_META);
	finish(out[0]);
	eq(run_pending(), 1, "a request that others may wait for waits for no other end");
	fill(out, 1);
	insert_with(roomy(), false, REQ_META);
	eq(elv_dispatch_request(&hctxs[0]) == NULL, 1, "a run that has found no slot");
	finish(out[0]);
	eq(run_pending(), 1, "does not make one wait for other ends");
	fill(out, 1);
	finish(out[0]);
	eq(run_pending(), 0, "but once a run has looked at it");
	rest(out, 1, 24);
	end();

	fq = anew(32);
	fill(out, 17);
	for (n = 0; n < 4; n++)
		insert(n % QUEUES, false);
	flash_lock(fq);
	flash_set_bound(fq, 16);
	flash_unlock(fq);
	run_pending();
	for (n = runs = 0; n < 2; n++) {
		finish(out[n]);
		runs += run_pending();
	}
	eq(runs, 0, "after the limit was lowered ends start no run until a part of it is free");
	finish(out[2]);
	eq(run_pending(), 1, "the one does that reaches the mark of the new limit");
	rest(out, 3, 17);
	end();
}

/* A task that has no plug dispatches itself if slots were left free. */
static void inline_above(void)
{
	struct request *out[16];

	anew(16);
	the_disk.val[0] = 1;
	fill(out, 16);
	insert(0, false);
	finish(out[0]);
	inlined = 0;
	insert(0, false);
	eq(inlined, 1, "a submitter takes a slot that an end has left free");
	rest(out, 1, 16);
	end();
}

/* A policy holds all back until few are in flight, and says so. */
static void held_until_few(void)
{
	struct flash_queue *fq = anew(16);
	struct request *out[8], *waits;
	unsigned int n, runs = 0;

	fq->watches = true;
	holding = HOLD_FULL;
	full = 8;
	fill(out, 8);
	waits = insert(0, false);
	eq(choose() == NULL && fq->held, 1, "a request is held back while 8 are in flight");
	run_pending();
	for (n = 0; n < 3; n++) {
		finish(out[n]);
		runs += run_pending();
	}
	eq(runs, 0, "ends start no run while more than 4 are");
	finish(out[3]);
	eq(run_pending(), 1, "the fourth does");
	eq(choose() == waits, 1, "and the request is dispatched");
	issue_and_finish(waits);
	holding = HOLD_NONE;
	rest(out, 4, 8);
	end();

	fq = anew(8);
	fq->watches = true;
	fill(out, 8);
	holding = HOLD_FULL;
	full = 4;
	insert(0, false);
	eq(elv_dispatch_request(&hctxs[0]) == NULL && fq->held, 1,
	   "held back, while the limit is reached, too");
	run_pending();
	insert(1, false);
	finish(out[0]);
	eq(run_pending(), 1, "an end starts a run for a request that the policy does not know");
	look(fq);
	finish(out[1]);
	eq(run_pending(), 0, "and none once it does");
	flash_lock(fq);
	flash_change(fq);
	flash_unlock(fq);
	finish(out[2]);
	eq(run_pending(), 1, "nor is a changed setting left to a later end");
	holding = HOLD_NONE;
	rest(out, 3, 8);
	full = 2;
	end();
}

/* What a policy holds back while it watches */
static void held_back(void)
{
	struct flash_queue *fq = anew(4);
	struct request *out, *waits;

	fq->watches = true;
	insert(1, false);
	out = choose();
	issue(out);
	holding = HOLD_ALL;
	waits = insert(0, false);
	eq(choose() == NULL, 1, "a request is held back");
	eq(fq->held, 1, "which the policy says when it is asked for one");
	eq(elv_has_work(&hctxs[0]), 0, "and then there is no work");
	run_pending();
	holding = HOLD_NONE;
	eq(elv_has_work(&hctxs[0]), 0, "nor is the policy asked while nothing happens");
	finish(out);
	eq(run_pending(), 1, "a completion starts a run");
	eq(fq->held && !fq->changed, 1, "and asks nothing itself");
	holding = HOLD_ALL;
	eq(elv_has_work(&hctxs[0]), 0, "the run asks, and the request is still held back");
	flash_ask_again(fq);
	eq(run_pending(), 1, "a timer of the policy starts a run as well");
	eq(elv_has_work(&hctxs[0]), 0, "which asks again");
	holding = HOLD_NONE;
	flash_ask_again(fq);
	eq(choose() == waits, 1, "in the end it is dispatched");
	eq(fq->held, 0, "and nothing is held");
	holding = HOLD_ALL;
	out = waits;
	waits = insert(0, false);
	eq(choose() == NULL, 1, "another one is held back");
	holding = HOLD_NONE;
	in_irq = true;
	issue_and_finish(out);
	eq(elv_has_work(&hctxs[0]), 1, "an interrupt does not ask, and may see work");
	in_irq = false;
	irqs_off++;
	eq(elv_has_work(&hctxs[0]), 1, "so does a task that has disabled interrupts");
	irqs_off--;
	eq(fq->held, 1, "while it is still held");
	holding = HOLD_ALL;
	eq(elv_has_work(&hctxs[0]), 0, "which a task finds out");
	flash_lock(fq);
	fq->watches = false;
	flash_change(fq);
	flash_unlock(fq);
	eq(elv_has_work(&hctxs[0]), 1, "a policy that stops watching holds nothing");
	eq(choose() == waits, 1, "and it is dispatched");
	issue_and_finish(waits);
	holding = HOLD_NONE;
	end();
}

int main(void)
{
	in_time();
	late();
	another();
	two_in_a_row();
	requeued();
	fails_unstarted();
	poll_queue();
	meanwhile_refused();
	liveness();
	first_and_held();
	at_exit();
	issuers();
	inline_dispatch();
	end_before_dispatch();
	end_after_short_round();
	end_of_full();
	ends_of_full();
	inline_above();
	held_until_few();
	held_back();
	eq(timers_preemptible, 0, "timers are set where no task is preempted");
	eq_faults();
	return tap_done();
}
