// SPDX-License-Identifier: GPL-2.0
/* PIQ's settings change while many requests wait: see policytest.h */
#include "policydrive.h"
#include "common/flash/op.c"
#include "common/flash/layout.c"
#include "common/flash/chipvec.c"
#include "common/flash/occupancy.c"
#include "common/flash/batch.c"
#include "common/estimate/depth_search.c"
#include "common/estimate/pace.c"
#include "common/estimate/service_time.c"
#include "piq/auto.c"
#include "piq/batch.c"
#include "piq/learn.c"
#include "piq/piq.c"
#include "policytest.h"

/* A new layout is trusted only after many requests. */
static void after_change(struct flash_queue *fq)
{
	flash_lock(fq);
	piq_trust(piq_sched_of(fq));
	flash_unlock(fq);
}

#define CHIPS	{ TEXT_layout, 0, "page=4096 chips=16" }
#define PIQ	{ TEXT_mode, 0, "piq" }

static const struct change_case cases[] = {
	{ "a first layout", { { 0 } }, CHIPS },
	{ "layout", { CHIPS }, { TEXT_layout, 0, "page=8192 chips=7" } },
	{ "no layout", { CHIPS }, { TEXT_layout, 0, "none" } },
	{ "layout of mode piq", { CHIPS, PIQ }, { TEXT_layout, 0, "page=8192 chips=7" } },
	{ "lba_offset_sectors", { CHIPS }, { TUN_lba_offset_sectors, 24, NULL } },
	{ "mode auto", { CHIPS, PIQ }, { TEXT_mode, 0, "auto" } },
	{ "mode piq", { CHIPS }, PIQ },
	{ "mode rws", { CHIPS, PIQ }, { TEXT_mode, 0, "rws" } },
	{ "mode noop", { CHIPS }, { TEXT_mode, 0, "noop" } },
	{ "queue_length", { CHIPS, PIQ }, { TUN_queue_length, 512, NULL } },
	{ "a smaller queue_length",
	  { CHIPS, PIQ, { TUN_queue_length, 512, NULL } }, { TUN_queue_length, 3, NULL } },
	{ "batch_overlap", { CHIPS, PIQ }, { TUN_batch_overlap, 1, NULL } },
	{ "max_pass", { CHIPS }, { TUN_max_pass, 4, NULL } },
	{ "scan_depth", { CHIPS }, { TUN_scan_depth, 4, NULL } },
	{ "chip_depth", { CHIPS }, { TUN_chip_depth, 4, NULL } },
};

static const struct change_case fifo = { .what = "the FIFO" };

/* PIQ hears of all arrivals and ends. */
static void hear(struct flash_queue *fq)
{
	flash_lock(fq);
	flash_unlock(fq);
}

/* Ends are watched, and the limit is searched for, only where requests precede others. */
static void test_watching(void)
{
	static const struct change chips = CHIPS, none = { TEXT_layout, 0, "none" },
		limit = { TUN_max_inflight, 7, NULL }, paper = PIQ;
	struct flash_queue *fq = begin_case(&fifo, SOME_TAGS);

	eq(fq->watches, 0, "the FIFO watches nothing");
	eq(fq->bound, UINT_MAX, "and has no limit");
	change(fq, &limit);
	eq(fq->bound, 7, "but the user's");
	change(fq, &chips);
	eq(fq->watches, 1, "a layout needs the ends");
	change(fq, &none);
	eq(fq->watches, 0, "until it is removed");
	change(fq, &paper);
	eq(fq->watches, 1, "and so do the modes of the paper");
	end_case(fifo.what);

	fq = begin_case(&fifo, SOME_TAGS);
	while (!fq->one_by_one && inserted < SOME) {
		insert(1);
		hear(fq);
	}
	eq(inserted > 20 && inserted < SOME, 1, "real-time is request %u", inserted);
	eq(fq->watches, 1, "from the first such request on ends are watched");
	eq(fq->bound, PIQ_BOUND_START, "and the limit is searched for");
	dispatch();
	eq(order[0], inserted - 1, "it is dispatched first");
	drain(SOME);
	hear(fq);
	eq(fq->out, 0, "none is left");
	eq(piq_sched_of(fq)->out, 0, "nor in PIQ's count");
	change(fq, &none);
	eq(fq->watches, 1, "a setting changes nothing of that");
	end_case(fifo.what);
}

/* Requests of before a layout meet on chips like later ones. */
static void test_waited(void)
{
	static const struct change chips = CHIPS;
	struct flash_queue *fq = begin_case(&fifo, SOME_TAGS);
	struct request *grows;
	unsigned int n;

	insert(20);
	for (n = 0; n < 4; n++)
		dispatch();
	eq(fq->out, 0, "four are in flight, unwatched");
	grows = request_at(inserted - 1);
	flash_lock(fq);
	grows->sectors += 64;
	elv_request_merged(&queue, grows, ELEVATOR_NO_MERGE);
	flash_unlock(fq);
	change_now(fq, &chips);
	eq(piq_req_of(flash_rq_of(grows))->sectors, grows->sectors,
	   "one has grown, and PIQ knows its chips");
	for (n = 0; n < 4; n++)
		dispatch();
	eq(piq_sched_of(fq)->out, 4, "four that waited are watched");
	drain(SOME);
	hear(fq);
	eq(piq_sched_of(fq)->out, 0, "each end counts once");
	end_case(fifo.what);
}

/* A request was described before a layout was set, and is in the pending list after that. */
static void test_passes(void)
{
	static const struct change chips = CHIPS;
	struct flash_queue *fq = begin_case(&fifo, SOME_TAGS);

	change(fq, &chips);
	insert(1);
	llist_entry(fq->pending.list.first, struct flash_rq, pending)->watched = false;
	dispatch();
	eq(fq->queued, 0, "it passes");
	eq(piq_sched_of(fq)->out, 1, "PIQ knows that it is in the device");
	eq(fq->out, 1, "and will hear of its end");
	drain(SOME);
	hear(fq);
	eq(piq_sched_of(fq)->out, 0, "which frees its chips");
	end_case(fifo.what);
}

int main(void)
{
	test_watching();
	test_waited();
	test_passes();
	return test_changes(cases, ARRAY_SIZE(cases));
}
