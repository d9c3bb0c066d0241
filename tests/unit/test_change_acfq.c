// SPDX-License-Identifier: GPL-2.0
/* The settings of acfq change while many requests wait: see policytest.h */
#include "changeshare.h"
#include "acfq/acfq.c"
#include "policytest.h"

static const struct change_case cases[] = {
	SHARE_CASES,
	{ "slice_ms", { PRIO, CHIPS, PAPER }, { TUN_slice_ms, 5, NULL } },
};

/* Is a run of a hardware queue scheduled? Clears it. */
static bool runs(void)
{
	bool any = false;
	unsigned int n;

	for (n = 0; n < QUEUES; n++) {
		any |= hctxs[n].pending;
		hctxs[n].pending = false;
	}
	return any;
}

/* Insert a request from a plug. */
static void insert_plugged(struct request *rq)
{
	LIST_HEAD(list);

	list_add_tail(&rq->queuelist, &list);
	the_task.plug = &the_task;
	elv_insert_requests(rq->mq_hctx, &list, false);
	the_task.plug = NULL;
}

/* Urgent requests that wait get the next slots, although others leave an eighth of them free. */
static void urgent_ones(void)
{
	static const struct change_case none = {
		.what = "urgent requests",
		.before = { { FAIRSHARE_TUN_max_inflight, 32, NULL } },
	};
	struct bio bio = { .bi_opf = REQ_PRIO };
	struct request *rq;
	unsigned int n;

	begin_case(&none, 32);
	insert(40);
	while (dispatch())
		;
	runs();
	complete();
	eq(runs(), 0, "of a limit of 32 one slot is free: an end starts no run");
	dispatch();
	for (n = 0; n < 2; n++) {
		rq = make();
		rq->bio = &bio;
		rq->cmd_flags |= REQ_PRIO;
		insert_plugged(rq);
	}
	for (n = 0; n < 2; n++) {
		complete();
		eq(runs(), 1, "an end starts a run for the %u. urgent request", n + 1);
		dispatch();
		eq(order[orders - 1], inserted - 2 + n, "which is dispatched");
	}
	complete();
	eq(runs(), 0, "and none for those that are not urgent");
	drain(32);
	end();
	free(the_disk.policy_data);
}

/* What a driver would hand back waits in the tenants' queues, and not in order of arrival. */
static void few_driver_tags(void)
{
	static const struct change_case none = {
		.what = "few tags of the driver",
		.before = { { FAIRSHARE_TUN_max_inflight, 32, NULL } },
	};
	struct flash_queue *fq;
	unsigned int nr = 0;

	driver_takes = 2;
	fq = begin_case(&none, 32);
	insert(20);
	while (dispatch())
		nr++;
	eq(nr, 2, "a driver that takes two requests gets two");
	eq(fq->bound, 2, "which is the limit");
	runs();
	complete();
	eq(runs(), 1, "an end starts a run");
	eq(dispatch() && !dispatch(), 1, "which dispatches one");
	driver_takes = 0;
	drain(32);
	end();
	free(the_disk.policy_data);
}

/* A ring of the requests in flight, in the order in which they were dispatched */
#define RING		1500
static struct request *ring[RING];
static unsigned int ring_to, ring_from;

static void dispatch_all(void)
{
	struct request *rq;

	while (elv_has_work(&hctxs[0])) {
		rq = elv_dispatch_request(&hctxs[0]);
		if (!rq)
			return;
		rq->started = true;
		ring[ring_to++ % RING] = rq;
	}
}

/* The first of the ring completes, @ns after the last one. */
static struct request *complete_first(unsigned int ns)
{
	struct request *rq = ring[ring_from++ % RING];

	drive_now += ns;
	elv_completed_request(rq, drive_now);
	elv_finish_request(rq);
	return rq;
}

/* Insert @rq, a read of 4 KiB, again if it has completed. */
static void send(struct request *rq)
{
	rq->started = false;
	rq->op = REQ_OP_READ;
	rq->cmd_flags = 0;
	rq->sectors = 8;
	rq->ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 4);
	rq->start_time_ns = drive_now;
	elv_prepare_request(rq);
	insert_plugged(rq);
}

/*
 * The limit after 200 000 requests on a device that is as fast with one request as with many.
 * If @deep, after as many on one that is the faster the more it has.
 */
static unsigned int limit_found(unsigned int takes, bool deep)
{
	static const struct change_case none = { .what = "search" };
	unsigned int i, n, bound;
	struct flash_queue *fq;

	driver_takes = takes;
	fq = begin_case(&none, SOME_TAGS);
	ring_to = ring_from = 0;
	for (i = 0; i < RING; i++)
		send(make());
	for (i = deep ? 0 : 200000; i < 400000; i++) {
		dispatch_all();
		n = ring_to - ring_from;
		send(complete_first(i < 200000 ? 2000000 / n : 20000));
	}
	bound = fq->bound;
	driver_takes = 0;
	for (dispatch_all(); ring_to != ring_from; dispatch_all())
		complete_first(20000);
	end();
	free(the_disk.policy_data);
	return bound;
}

/* The search measures while its limit is reached, so it tries none that cannot be. */
static void limit_falls(void)
{
	static const unsigned int takes[] = { 0, 128, 200 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(takes); i++)
		eq(limit_found(takes[i], false) <= 96, 1, "a driver that takes %u: the limit falls",
		   takes[i]);
	eq(limit_found(200, true) <= 96, 1, "also after a load that needed more");
}

int main(void)
{
	limit_falls();
	few_driver_tags();
	urgent_ones();
	return test_changes(cases, ARRAY_SIZE(cases));
}
