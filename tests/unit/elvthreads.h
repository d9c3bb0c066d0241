/* SPDX-License-Identifier: GPL-2.0 */
/*
 * elvthreads.h - threads that use common/elevator/ as the block layer and a device do
 *
 * A round selects the scheduler. Threads submit requests, dispatch, complete and requeue them
 * and expire timers, until all requests have ended. A request that waits for ever is found.
 * The test, which includes elvdrive.h first, defines the three functions below.
 */
#ifndef ELVTHREADS_H
#define ELVTHREADS_H

/* Select the scheduler, and decide what is different in each round. */
static struct flash_queue *begin_round(unsigned int round);

/* A new request of the current task, before it is inserted */
static void describe(struct request *rq);

/* A thread that uses a device during a round, for as long as looks() */
static void *looker(void *arg);

/* The block layer, and a device. */

static struct request *device[QUEUES * TAGS];
static bool device_locked;
static unsigned int in_device;
static int ended, over, each, in_vain, in_earnest, firsts, overtaken, together, left_free;
static bool hands_back, restarts, asks_twice, hurries, stalls, slow;
static unsigned long long seed;

/*
 * ThreadSanitizer does not see the device and its lock: a device orders the memory accesses
 * of a request's submission and its completion, and not those of different requests.
 */
#define UNSEEN		noinline __attribute__((no_sanitize("thread")))

static UNSEEN void device_lock(void)
{
	while (__atomic_exchange_n(&device_locked, true, __ATOMIC_SEQ_CST))
		sched_yield();
}

static UNSEEN void device_unlock(void)
{
	__atomic_store_n(&device_locked, false, __ATOMIC_SEQ_CST);
}

static UNSEEN void device_add(struct request *rq)
{
	device_lock();
	device[in_device++] = rq;
	device_unlock();
}

/* One that is in the device, or NULL */
static UNSEEN struct request *device_take(unsigned int random)
{
	struct request *rq = NULL;

	device_lock();
	if (in_device) {
		rq = device[random % in_device];
		device[random % in_device] = device[in_device - 1];
		in_device--;
	}
	device_unlock();
	return rq;
}

static void to_device(struct request *rq)
{
	SET(rq->in_device, true);
	device_add(rq);
}

static struct request *from_device(void)
{
	struct request *rq = device_take(tap_rand(&turns));

	return rq && GET(rq->in_device) ? rq : NULL;
}

/* A dispatch round of one hardware queue: it dispatches what it can, and then issues that. */
static unsigned int round_of_run(struct blk_mq_hw_ctx *hctx, bool first)
{
	struct request *chosen[8];
	unsigned int nr = 0, n;

	while (nr < ARRAY_SIZE(chosen) && elv_has_work(hctx)) {
		chosen[nr] = elv_dispatch_request(hctx);
		if (!chosen[nr]) {
			/*
			 * The block layer would poll; here a lost wake-up is a hang. A task leaves
			 * requests that hurry to a worker, which is not in vain.
			 */
			if (first && !nr && !hurries)
				COUNT(in_vain);
			break;
		}
		if (first && !nr && !hurries)
			COUNT(in_earnest);
		nr++;
		/* The driver is busy, and runs the queue later. */
		if (stalls && tap_rand(&turns) % 4 == 0) {
			SET(hctx->pending, true);
			break;
		}
	}
	for (n = 0; n < nr; n++) {
		others();
		SET(chosen[n]->started, true);
		to_device(chosen[n]);
	}
	return nr;
}

static void run(struct blk_mq_hw_ctx *hctx)
{
	bool first = true;

	while (round_of_run(hctx, first))
		first = false;
}

static bool may_run(struct blk_mq_hw_ctx *hctx)
{
	return !hctx->queue->quiesced;
}

/* As 6.12 does: a second time under a lock that interrupts take, too. 6.1 does not. */
static bool needs_run(struct blk_mq_hw_ctx *hctx)
{
	bool work;

	if (may_run(hctx) && elv_has_work(hctx))
		return true;
	if (!asks_twice)
		return false;
	pthread_mutex_lock(&queue.queue_lock);
	irqs_off++;
	work = may_run(hctx) && elv_has_work(hctx);
	irqs_off--;
	pthread_mutex_unlock(&queue.queue_lock);
	return work;
}

void blk_mq_run_hw_queue(struct blk_mq_hw_ctx *hctx, bool async)
{
	pthread_rwlock_rdlock(&queue.running);
	if (needs_run(hctx)) {
		if (async)
			SET(hctx->pending, true);
		else
			run(hctx);
	}
	pthread_rwlock_unlock(&queue.running);
}

void compat_run_hctx(struct blk_mq_hw_ctx *hctx)
{
	SET(hctx->pending, true);
}

static void *worker(void *arg)
{
	struct blk_mq_hw_ctx *hctx = arg;

	turns = seed + hctx->queue_num + 100;
	the_task.flags = PF_KTHREAD | PF_WQ_WORKER;
	while (!GET(over)) {
		if (!__atomic_exchange_n(&hctx->pending, false, __ATOMIC_SEQ_CST)) {
			idle(50);
			continue;
		}
		pthread_rwlock_rdlock(&queue.running);
		if (may_run(hctx))
			run(hctx);
		pthread_rwlock_unlock(&queue.running);
	}
	return NULL;
}

/*
 * The driver hands a request back. Later a worker inserts it again, or the driver, which has
 * kept it prepared, issues it without the scheduler.
 */
static void hand_back(struct request *rq)
{
	struct blk_mq_hw_ctx *hctx = rq->mq_hctx;
	LIST_HEAD(list);

	elv_requeue_request(rq);
	rq->again = true;
	if (tap_rand(&turns) % 2) {
		to_device(rq);
		return;
	}
	in_irq = false;
	SET(rq->started, false);
	list_add_tail(&rq->queuelist, &list);
	elv_insert_requests(hctx, &list, tap_rand(&turns) % 2);
	blk_mq_run_hw_queue(hctx, true);
	in_irq = true;
}

/* Has the end of a request left slots free while others wait? */
static bool leaves_slots(struct flash_queue *fq)
{
	unsigned int bound = READ_ONCE(fq->bound);
	int inflight = atomic_read(&fq->inflight);

	return flash_slot_above(inflight, bound) && flash_slot_free(inflight, bound) &&
	       flash_any_waits(fq);
}

static void *interrupt(void *arg)
{
	struct request *rq;

	turns = seed + (size_t)arg;
	in_irq = true;
	while (!GET(over)) {
		if (slow)
			idle(20);
		rq = from_device();
		if (!rq) {
			idle(50);
			continue;
		}
		if (hands_back && tap_rand(&turns) % 8 == 0) {
			hand_back(rq);
			continue;
		}
		elv_completed_request(rq, ktime_get_ns());
		elv_finish_request(rq);
		if (leaves_slots(compat_queue_data(rq->q)))
			COUNT(left_free);
		if (restarts && tap_rand(&turns) % 4 == 0)
			blk_mq_run_hw_queue(rq->mq_hctx, true);
		COUNT(ended);
		SET(busy[rq->mq_hctx->queue_num][rq->internal_tag], 0);
		percpu_ref_put(&queue.q_usage_counter);
	}
	return NULL;
}

static unsigned int tags_limit;

/* A bio of the current task: may it merge with a waiting request, and which tags may it take? */
static void offer_bio(unsigned int by)
{
	struct blk_mq_alloc_data data = { .q = &queue, .hctx = &hctxs[by % QUEUES] };
	struct bio bio = { .bi_next = NULL };

	elv_bio_merge(&queue, &bio, 1);
	elv_limit_depth(tap_rand(&turns) % 2, &data);
	/* Used, or the compiler would leave out what computes it. */
	SET(tags_limit, data.shallow_depth);
}

static void *submitter(void *arg)
{
	unsigned int by = (unsigned int)(size_t)arg, n, nr;
	unsigned long nth = 0;
	struct request *rq = NULL;

	turns = seed + by + 200;
	the_task.tgid = (int)by + 1;
	while (nth < (unsigned long)each) {
		LIST_HEAD(list);

		if (tap_rand(&turns) % 4 == 0)
			offer_bio(by);
		nr = tap_rand(&turns) % 4 ? 1 : 3;
		for (n = 0; n < nr && nth < (unsigned long)each; n++) {
			rq = get(by, nth + 1);
			if (!rq)
				return NULL;
			nth++;
			describe(rq);
			list_add_tail(&rq->queuelist, &list);
		}
		/* A plug keeps the scheduler attached, and runs the hardware queue itself. */
		the_task.plug = tap_rand(&turns) % 2 ? &the_task : NULL;
		if (the_task.plug)
			percpu_ref_get(&queue.q_usage_counter);
		elv_insert_requests(&hctxs[by % QUEUES], &list, false);
		blk_mq_run_hw_queue(&hctxs[by % QUEUES], !the_task.plug);
		if (the_task.plug)
			percpu_ref_put(&queue.q_usage_counter);
		if (tap_rand(&turns) % 8 == 0)
			sched_yield();
	}
	return NULL;
}

/* The policy's timer, and the one that ends the wait for a request that is issued first */
static void *clock_of(void *arg)
{
	turns = seed + 500;
	(void)arg;
	while (!GET(over)) {
		hrtimer_tick();
		if (tap_rand(&turns) % 2)
			hrtimer_first();
		idle(30);
	}
	return NULL;
}

/* Reads the module's debugfs file, also while the scheduler is selected or removed. */
static void *reader(void *arg)
{
	turns = 600;
	while (!GET(*(bool *)arg)) {
		flash_queues_show(NULL, NULL);
		idle(100);
	}
	return NULL;
}

static int forgotten;

/* Do requests hold the scheduler? */
static bool looks(void)
{
	return GET(ended) < SUBMITTERS * each && !GET(deaf);
}

static bool round_of(unsigned int round)
{
	pthread_t submit[SUBMITTERS], work[QUEUES], irq[2], look, ticks;
	struct flash_queue *fq = begin_round(round);
	int before = 0, same = 0;
	size_t n;

	if (!fq)
		return false;
	for (n = 0; n < QUEUES; n++)
		pthread_create(&work[n], NULL, worker, &hctxs[n]);
	for (n = 0; n < 2; n++)
		pthread_create(&irq[n], NULL, interrupt, (void *)(n + 400));
	pthread_create(&ticks, NULL, clock_of, NULL);
	if (round % 2)
		pthread_create(&look, NULL, looker, fq);
	for (n = 0; n < SUBMITTERS; n++)
		pthread_create(&submit[n], NULL, submitter, (void *)n);

	/* The queue is frozen when all requests have completed; submitters may still run. */
	while (GET(ended) < SUBMITTERS * each ||
	       GET(queue.q_usage_counter.count)) {
		idle(GET(ended) < SUBMITTERS * each ? 1000 : 50);
		if (GET(ended) < SUBMITTERS * each) {
			same = GET(ended) == before ? same + 1 : 0;
			before = GET(ended);
		}
		if (same == 5000) {
			forgotten++;
			SET(deaf, 1);
			return false;
		}
	}
	if (round % 2)
		pthread_join(look, NULL);
	firsts += (int)GET(fq->first.nth);
	overtaken += (int)GET(fq->first.expired);
	together += (int)GET(fq->stats.together);
	end();
	for (n = 0; n < SUBMITTERS; n++)
		pthread_join(submit[n], NULL);
	SET(over, 1);
	for (n = 0; n < 2; n++)
		pthread_join(irq[n], NULL);
	pthread_join(ticks, NULL);
	for (n = 0; n < QUEUES; n++)
		pthread_join(work[n], NULL);
	return true;
}

/* All rounds; returns the number of those that ended. */
static unsigned int rounds_of(unsigned int nr)
{
	pthread_t reads;
	bool done = false;
	unsigned int round;

	pthread_create(&reads, NULL, reader, &done);
	for (round = 0; round < nr && round_of(round); round++)
		;
	SET(done, true);
	pthread_join(reads, NULL);
	return round;
}

#endif /* ELVTHREADS_H */
