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
		LIST_HEAD(list);

		rq = make();
		rq->bio = &bio;
		rq->cmd_flags |= REQ_PRIO;
		list_add_tail(&rq->queuelist, &list);
		the_task.plug = &the_task;
		elv_insert_requests(rq->mq_hctx, &list, false);
		the_task.plug = NULL;
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

int main(void)
{
	few_driver_tags();
	urgent_ones();
	return test_changes(cases, ARRAY_SIZE(cases));
}
