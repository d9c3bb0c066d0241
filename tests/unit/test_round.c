// SPDX-License-Identifier: GPL-2.0
/*
 * Requests that are chosen together (round.c): how many, when not, who takes them, and that
 * none is forgotten when a round ends early. The real code, step by step.
 */
#define TAGS		32
#define QUEUES		2
#define SUBMITTERS	1

#include "elvdrive.h"
#include "elvkicks.h"

static unsigned long nth;
static struct flash_queue *fq;
static struct request *out[TAGS];
static unsigned int nr_out;

void blk_mq_run_hw_queue(struct blk_mq_hw_ctx *hctx, bool async)
{
	hctx->pending |= async;
}

static struct request *insert_one(void)
{
	struct request *rq = get(0, ++nth);
	LIST_HEAD(list);

	list_add_tail(&rq->queuelist, &list);
	the_task.plug = &the_task;
	elv_insert_requests(&hctxs[0], &list, false);
	the_task.plug = NULL;
	return rq;
}

static void insert(unsigned int nr)
{
	while (nr--)
		insert_one();
}

/* Requests of the array */
static unsigned int chosen(void)
{
	return fq->round.left & FLASH_ROUND_NR;
}

/* A round of hardware queue @n dispatches up to @most requests; which is the last one? */
static unsigned int dispatch_of(unsigned int n, unsigned int most)
{
	struct request *rq;
	unsigned int nr = 0;

	while (nr < most && elv_has_work(&hctxs[n])) {
		rq = elv_dispatch_request(&hctxs[n]);
		if (!rq)
			break;
		rq->started = true;
		out[nr_out++] = rq;
		nr++;
	}
	return nr;
}

static unsigned int dispatch(unsigned int most)
{
	return dispatch_of(0, most);
}

/* The request that was dispatched first ends. */
static void finish(void)
{
	struct request *rq = out[0];

	memmove(out, out + 1, --nr_out * sizeof(out[0]));
	elv_completed_request(rq, ktime_get_ns());
	elv_finish_request(rq);
	busy[rq->mq_hctx->queue_num][rq->internal_tag] = 0;
	percpu_ref_put(&queue.q_usage_counter);
}

/* The driver hands back @rq, which has been taken off @out. */
static void hand_back(struct request *rq)
{
	LIST_HEAD(list);

	elv_requeue_request(rq);
	rq->started = false;
	rq->again = true;
	list_add_tail(&rq->queuelist, &list);
	elv_insert_requests(&hctxs[0], &list, true);
}

static void anew(unsigned int bound)
{
	fq = begin(bound);
	nth = 0;
}

static void all_end(void)
{
	while (dispatch(TAGS) || nr_out)
		while (nr_out)
			finish();
	eq_quiet(fq->queued || chosen(), 0);
	end();
}

static void how_many(void)
{
	anew(TAGS);
	insert(1);
	dispatch(1);
	eq(fq->stats.together, 0, "how many: none together with a lone one");
	insert(3);
	dispatch(1);
	eq(chosen(), 2, "all that wait");
	eq(atomic_read(&fq->inflight), 4, "they are in flight");
	eq(fq->queued || fq->waits & ~FLASH_WAITS_CHOSEN, 0, "and in no queue");
	dispatch(2);
	eq(chosen() || elv_has_work(&hctxs[0]), 0, "until they are taken");
	insert(20);
	dispatch(1);
	eq(chosen(), FLASH_ROUND_MOST, "at most so many");
	eq(fq->queued, 20 - 1 - FLASH_ROUND_MOST, "the others wait");
	eq(dispatch(TAGS), 19, "a round goes on with the next set");
	eq(fq->stats.together, 2 + 5 * 3, "statistics count them");
	all_end();

	anew(4);
	insert(10);
	dispatch(1);
	eq(chosen(), 3, "as many as slots are free");
	dispatch(TAGS);
	eq(nr_out, 4, "which are dispatched");
	finish();
	dispatch(TAGS);
	eq(nr_out == 4 && fq->stats.together == 3, 1, "one slot, one request");
	all_end();

	anew(TAGS);
	WRITE_ONCE(fq->watches, true);
	holding = HOLD_FULL;
	insert(5);
	eq(dispatch(1), 1, "the policy holds all but two");
	eq(chosen(), 1, "it was asked before the choice of each");
	dispatch(TAGS);
	eq(nr_out, 2, "two are dispatched");
	holding = HOLD_NONE;
	all_end();

	anew(2);
	WRITE_ONCE(fq->watches, true);
	insert(5);
	dispatch(1);
	eq(chosen() == 1 && !to_fifo(fq)->asked, 1, "it is not asked while the limit is reached");
	all_end();
	eq(not_asked || held_chosen, 0, "it is asked before each choice");

	driver_takes = 2;
	anew(TAGS);
	insert(5);
	dispatch(1);
	eq(chosen(), 1, "as many as the driver takes");
	dispatch(1);
	dispatch(1);
	eq(chosen(), 0, "and none while it takes no more");
	driver_takes = 0;
	all_end();
}

static void others_choose(void)
{
	dispatch(1);
}

static void not_now(void)
{
	struct request *rq;

	anew(TAGS);
	mq_ops.get_budget = true;
	insert(4);
	dispatch(1);
	eq(chosen(), 0, "not now: a driver with budgets");
	mq_ops.get_budget = false;
	hctxs[0].dispatch_busy = 1;
	dispatch(1);
	eq(chosen(), 0, "a hardware queue that was busy");
	hctxs[0].dispatch_busy = 0;
	fq->urgent_seen = true;
	dispatch(1);
	eq(chosen(), 0, "a device with urgent tasks");
	fq->urgent_seen = false;
	fq->one_by_one = true;
	insert(2);
	dispatch(1);
	eq(chosen(), 0, "a device with urgent requests");
	all_end();

	anew(TAGS);
	insert(3);
	dispatch(1);
	insert(2);
	spin_lock(&fq->lock);
	rq = flash_dispatch_queued(fq, &hctxs[1]);
	flash_unlock(fq);
	eq(rq->nth, 2, "who waited for the lock takes from the set");
	eq(fq->left, 1, "and notes that others wait");
	out[nr_out++] = rq;
	rq->started = true;
	eq(chosen() == 1 && atomic_read(&fq->inflight) == 3, 1, "while chosen ones are left");
	dispatch(1);
	eq(fq->waits, FLASH_WAITS_CHOSEN + 2 * FLASH_WAITS_ONE, "the mark of a set stays");
	dispatch(1);
	eq(fq->waits & FLASH_WAITS_ONE, 0, "until another request is dispatched");
	all_end();

	/* A long drain, or one that has to sort, releases the lock. */
	anew(TAGS);
	insert(6);
	spin_lock(&fq->lock);
	flash_resort(fq);
	spin_unlock(&fq->lock);
	on(UNLOCKED, others_choose);
	dispatch(1);
	on(NEVER, NULL);
	eq(nr_out == 2 && out[1]->nth == 2, 1, "or for the lock that a drain has released");
	all_end();

	anew(TAGS);
	insert(3);
	dispatch(1);
	insert(1);
	dispatch_of(1, 1);
	eq(chosen() == 1 && fq->left, 1, "without the lock: others wait");
	all_end();

	anew(TAGS);
	insert(1);
	rq = insert_one();
	rq->urgent = true;
	insert(2);
	dispatch(1);
	eq(chosen(), 1, "none after one that must be issued first");
	eq(fq->first.rq == rq, 1, "which is the last one of the set");
	dispatch(1);
	eq(chosen(), 0, "it is taken");
	eq(dispatch(1), 1, "when it is issued the next one follows");
	all_end();

	anew(TAGS);
	insert(2);
	rq = insert_one();
	rq->urgent = true;
	insert(1);
	flash_hctx_rec(rq->mq_hctx->sched_data, rq)->by = NULL;
	dispatch(1);
	eq(chosen(), 1, "none that another task has to issue");
	eq(run_pending(), 1, "but that one gets a run");
	eq(fq->pass_on, 0, "once");
	the_task.flags = PF_KTHREAD;
	all_end();
	the_task.flags = 0;
}

/* Others take both chosen requests, and choose again so that two are left. */
static void others_go_on(void)
{
	dispatch(2);
	insert(3);
	dispatch(1);
}

static void others_take(void)
{
	struct request *rq;
	LIST_HEAD(list);

	anew(4);
	insert(6);
	dispatch(1);
	eq(chosen() == 3 && fq->queued == 2, 1, "the round ends early");
	eq(elv_has_work(&hctxs[1]), 1, "has_work(), although no slot is free");
	in_irq = true;
	run_pending();
	finish();
	in_irq = false;
	eq(run_pending(), 1, "a completion starts a run");
	list_add(&list, &hctxs[0].dispatch);
	eq(elv_has_work(&hctxs[0]), 1, "a busy hardware queue");
	eq(run_pending(), 1, "starts a run as well");
	list_del_init(&list);
	fq->held = true;
	fq->watches = true;
	flash_change(fq);
	eq(elv_has_work(&hctxs[0]), 1, "held requests do not hide them");
	eq(to_fifo(fq)->asked, 0, "nor is the policy asked");
	fq->watches = false;
	fq->held = false;
	eq(dispatch_of(1, 2), 2, "another hardware queue takes them");
	eq(out[0]->nth == 2 && out[1]->nth == 3, 1, "in their order");
	hand_back(out[--nr_out]);
	dispatch(1);
	eq(out[1]->nth, 4, "one that the driver hands back follows the last chosen one");
	dispatch(1);
	eq(out[2]->nth, 3, "and precedes all others");
	all_end();

	/* No request waits but a chosen one. */
	anew(TAGS);
	insert(2);
	dispatch(1);
	eq(chosen() == 1 && fq->waits == FLASH_WAITS_CHOSEN, 1, "only chosen ones are left");
	run_pending();
	flash_ask_again(fq);
	eq(run_pending(), 1, "a timer starts a run");
	finish();
	eq(run_pending(), 1, "a completion starts a run as well");
	all_end();

	anew(TAGS);
	insert(3);
	dispatch(1);
	eq(chosen(), 2, "two are left");
	on(TAKING_OUT, others_go_on);
	rq = elv_dispatch_request(&hctxs[1]);
	on(NEVER, NULL);
	eq(rq->nth, 5, "who was about to take the top of an older set takes the top of this one");
	eq(chosen(), 1, "one is left");
	out[nr_out++] = rq;
	rq->started = true;
	all_end();
}

/* The driver hands the only request back. */
static void handed_back(void)
{
	anew(1);
	insert(1);
	dispatch(1);
	hand_back(out[--nr_out]);
	eq(elv_has_work(&hctxs[0]), 1, "the only request, handed back, is work");
	eq(dispatch(1), 1, "and is dispatched");
	all_end();
}

static void poll_queue(void)
{
	anew(TAGS);
	hctxs[0].type = HCTX_TYPE_POLL;
	insert(4);
	dispatch(1);
	eq(chosen(), 3, "poll queue: requests are chosen together");
	run_pending();
	dispatch(1);
	eq(run_pending(), 1, "each one starts another round, as this one may end");
	all_end();
}

int main(void)
{
	how_many();
	not_now();
	others_take();
	handed_back();
	poll_queue();
	eq_faults();
	return tap_done();
}
