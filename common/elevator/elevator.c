// SPDX-License-Identifier: GPL-2.0
/*
 * elevator.c - the hooks that the block layer calls, once for all policies
 *
 * All requests of a device, of whatever hardware queue, are in one set of queues, as a
 * policy decides for the device as a whole. A run of any hardware queue may dispatch any
 * request; QUEUE_FLAG_SQ_SCHED announces that to the block layer. The life of a request:
 *
 *	elv_bio_merge()		a bio joins a waiting request, or
 *	elv_limit_depth()	its task waits for a scheduler tag,
 *	elv_prepare_request()	and it becomes a request,
 *	elv_insert_requests()	which is added to the pending list (pending.c),
 *	elv_has_work()		says that a request may be dispatched (inflight.c)
 *	elv_dispatch_request()	takes the lock, drains the pending list to the policy's
 *				queues (queue.c), asks the policy for the next request,
 *				or several (round.c), and counts them as in flight
 *	elv_requeue_request()	if the driver hands it back: it is not in flight any more
 *	elv_finish_request()	when it has completed: its slot of the limit is free, its
 *				end is added to a list that is drained likewise, and a
 *				hardware queue is run if requests wait for the slot
 *
 * Which hook runs for which request differs from kernel to kernel, so nothing is counted
 * by hook: the record of a request (rqtable.c) says what the request holds.
 *
 * On 6.1 a lone request under any elevator is issued by a worker, which costs two context
 * switches; from 6.9 on each request has a plug, which is flushed in the submitter's
 * context. Without a plug, where a request may be dispatched at once, and none could be
 * before it, flash_insert_alone() runs the hardware queue itself (flash_may_inline()). The
 * block layer's own run finds has_work() false then.
 */
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/rt.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <trace/events/block.h>

#include "iosched.h"
#include "trace.h"

/*
 * Devices with this scheduler, for the module's debugfs file. A device is added and
 * removed while it is frozen, so the mutex must not be held while waiting for I/O. So
 * there is one file for the module, which prints into a buffer that exists already; the
 * removal of a file for each disk would wait for its readers.
 */
static LIST_HEAD(flash_queues);
static DEFINE_MUTEX(flash_queues_lock);
static struct dentry *flash_debugfs_dir;

/*
 * Is the current task likely to lose the CPU for long when it is preempted, as its CPU
 * share is below the default? SCHED_BATCH does not matter: such a task has the share of
 * its nice value. CPU bandwidth limits of control groups are not known here.
 */
static bool flash_task_yields(void)
{
	/* Other tasks may change both at any time. */
	return data_race(task_nice(current) > 0 ||
			 current->policy == SCHED_IDLE);
}

/* May this context issue requests itself? No lock held. */
static bool flash_may_inline(const struct blk_mq_hw_ctx *hctx)
{
	/*
	 * Not with interrupts or softirqs off, not from the plug that schedule()
	 * flushes (the task is about to sleep and its stack may be deep), not for
	 * drivers that sleep in queue_rq(). On a CPU that the hardware queue does
	 * not serve the core would use a worker anyway. A task that may lose the CPU
	 * for long would keep the slots of the requests that it has dispatched.
	 */
	return !in_interrupt() && !irqs_disabled() &&
	       task_is_running(current) && !flash_task_yields() &&
	       !(hctx->flags & BLK_MQ_F_BLOCKING) &&
	       cpumask_test_cpu(raw_smp_processor_id(), hctx->cpumask);
}

/**
 * flash_may_issue - may the current task issue a request that blocks others?
 * @fr: a request that was inserted by flash_pending_add()
 *
 * Between choice and issue the task may be preempted, or throttled by its control group,
 * and the request waits until the task runs again. A task may do that to its own requests
 * only. Kernel threads are not throttled. Workers issue any request, whatever their nice
 * value: a request that a worker left would be left to the next worker. Tasks of a
 * real-time CPU class are not throttled unless they use up the CPU; if such a task left
 * the request to a worker, the worker might wait for the task's CPU.
 */
bool flash_may_issue(const struct flash_rq *fr)
{
	return (current->flags & PF_WQ_WORKER) ||
	       (!flash_task_yields() &&
		(fr->by == current || (current->flags & PF_KTHREAD) || rt_task(current)));
}

static noinline bool flash_try_merge(struct flash_queue *fq, struct bio *bio,
				     unsigned int nr_segs)
{
	struct request_queue *q = fq->q;
	struct request *gone = NULL;
	bool merged, kick;

	flash_lock(fq);
	flash_store_all(fq);
	merged = blk_mq_sched_try_merge(q, bio, nr_segs, &gone);
	fq->stats.merged += merged;
	kick = merged && fq->held && fq->changed;
	flash_unlock(fq);

	/* The merge may have made a request eligible; the core runs no queue for it. */
	if (unlikely(kick))
		flash_kick(fq, fq->nr_hctx);

	/* Calls finish_request() and wakes waiters: not under the lock. */
	if (gone)
		blk_mq_free_request(gone);
	return merged;
}

/* A new bio: may it join a waiting request? Submission context. */
static bool elv_bio_merge(struct request_queue *q, struct bio *bio,
			  unsigned int nr_segs)
{
	struct flash_queue *fq = compat_queue_data(q);

	return flash_any_unchosen(fq) && flash_store_may(fq, bio) &&
	       flash_try_merge(fq, bio, nr_segs);
}

/*
 * The core calls the hooks from here to elv_next_request() from inside
 * blk_mq_sched_try_merge(), with the lock held by elv_bio_merge().
 */

static bool elv_allow_merge(struct request_queue *q, struct request *rq,
			    struct bio *bio)
{
	struct flash_queue *fq = compat_queue_data(q);

	/*
	 * A poll queue has no interrupt, and only the first bio of a request knows
	 * where to poll: no task would poll for another bio.
	 */
	if ((rq->cmd_flags | bio->bi_opf) & REQ_POLLED)
		return false;
	/* Here, as the core tries the last merged request without elv_request_merge(). */
	if (flash_policy.front_merges && bio_end_sector(bio) == blk_rq_pos(rq) &&
	    !flash_policy.front_merges(fq))
		return false;
	return flash_rq_of(rq)->class == flash_hook_bio_class(fq, bio);
}

/* A request that starts where @bio ends */
static int elv_request_merge(struct request_queue *q, struct request **rq,
			     struct bio *bio)
{
	struct request *next = flash_store_find(compat_queue_data(q), bio);

	if (!next || !elv_bio_merge_ok(next, bio))
		return ELEVATOR_NO_MERGE;
	*rq = next;
	return compat_discard_mergeable(next) ? ELEVATOR_DISCARD_MERGE :
					     ELEVATOR_FRONT_MERGE;
}

/* @rq has taken a bio. */
static void elv_request_merged(struct request_queue *q, struct request *rq,
			       enum elv_merge type)
{
	struct flash_queue *fq = compat_queue_data(q);

	flash_store_grown(fq, flash_rq_of(rq));
	if (type == ELEVATOR_FRONT_MERGE)
		flash_store_move(fq, rq);
	if (flash_policy.grown)
		flash_policy.grown(fq, flash_rq_of(rq));
	if (flash_watches(fq))
		flash_change(fq);
}

/* @rq has absorbed @next, which the core is about to free. */
static void elv_requests_merged(struct request_queue *q, struct request *rq,
				struct request *next)
{
	struct flash_queue *fq = compat_queue_data(q);
	struct flash_rq *fr = flash_rq_of(rq), *gone = flash_rq_of(next);

	lockdep_assert_held(&fq->lock);

	flash_store_del(fq, gone);
	flash_store_grown(fq, fr);
	flash_policy.merged(fq, fr, gone);
	if (flash_watches(fq))
		flash_change(fq);
	flash_queued_del(fq, next->mq_hctx->sched_data);
	flash_slot_finish(&gone->slot);
	fq->stats.absorbed++;
}

/* A neighbour in the tree, unless it may not merge with @rq: see elv_allow_merge(). */
static struct request *flash_same_class(struct request *rq, struct request *other)
{
	if (!other || flash_rq_of(rq)->class != flash_rq_of(other)->class ||
	    (rq->cmd_flags | other->cmd_flags) & REQ_POLLED)
		return NULL;
	return other;
}

static struct request *elv_former_request(struct request_queue *q,
					  struct request *rq)
{
	return flash_same_class(rq, elv_rb_former_request(q, rq));
}

static struct request *elv_next_request(struct request_queue *q, struct request *rq)
{
	return flash_same_class(rq, elv_rb_latter_request(q, rq));
}

/* Insert the requests of @list with the lock held. */
static noinline void flash_insert_list(struct flash_queue *fq, struct flash_hctx *fh,
				       struct list_head *list, bool at_head)
{
	struct request *rq, *next;

	flash_lock(fq);
	if (trace_block_rq_insert_enabled()) {
		list_for_each_entry(rq, list, queuelist)
			trace_block_rq_insert(rq);
		if (!at_head) {
			flash_pending_add(fq, fh, list);
			flash_drain(fq);
		}
	}
	list_for_each_entry_safe(rq, next, list, queuelist) {
		list_del_init(&rq->queuelist);
		flash_insert(fq, fh, rq, at_head);
	}
	flash_unlock(fq);
	/*
	 * @queued before @inflight, which has_work() reads next: pairs with the barriers in
	 * flash_release(), flash_limit_changed() and flash_resume(). So does the one in
	 * flash_pending_add().
	 */
	smp_mb();
}

static __always_inline void flash_insert_any(struct flash_queue *fq, struct flash_hctx *fh,
					     struct list_head *list, bool at_head)
{
	/*
	 * A trace of insertions has to show each by its submitter, in order with other
	 * events: that needs the lock.
	 */
	if (at_head || trace_block_rq_insert_enabled() || flash_pending_add(fq, fh, list))
		flash_insert_list(fq, fh, list, at_head);
}

/*
 * Insert requests outside of a plug. The block layer would leave the run to a worker (6.1),
 * so run the hardware queue here, if a request can be dispatched now that could not before.
 */
static noinline void flash_insert_alone(struct blk_mq_hw_ctx *hctx, struct list_head *list,
					bool at_head)
{
	struct flash_queue *fq = compat_queue_data(hctx->queue);
	bool run = !at_head && list_is_singular(list) &&
		   flash_tun(fq, flash_policy.inline_tunable) &&
		   flash_may_inline(hctx);
	struct request_queue *q = hctx->queue;

	/*
	 * The requests keep the scheduler attached only until they are inserted:
	 * they may complete before this function returns.
	 */
	percpu_ref_get(&q->q_usage_counter);
	/*
	 * If a request may be dispatched already, its run is scheduled, unless completions have
	 * left slots free.
	 */
	run = run && (flash_slot_above(atomic_read(&fq->inflight), READ_ONCE(fq->bound)) ||
		      !flash_ready(fq));
	flash_insert_any(fq, hctx->sched_data, list, at_head);
	run = run && flash_ready(fq);
	if (run) {
		flash_count(fq, inlined);
		blk_mq_run_hw_queue(hctx, false);
	}
	percpu_ref_put(&q->q_usage_counter);
}

static void elv_insert_requests(struct blk_mq_hw_ctx *hctx,
				struct list_head *list, blk_insert_t how)
{
	bool at_head = !!(how & BLK_MQ_INSERT_AT_HEAD);

	/*
	 * A plug is flushed: the block layer keeps the scheduler attached, and runs the
	 * hardware queue next in this context.
	 */
	if (likely(current->plug))
		flash_insert_any(compat_queue_data(hctx->queue), hctx->sched_data, list,
				 at_head);
	else
		flash_insert_alone(hctx, list, at_head);
}

/* A request is dispatched: update what flash_needs_run() reads. */
static void flash_dispatched(struct flash_queue *fq)
{
	bool left = fq->queued || fq->nr_head;

	if (READ_ONCE(fq->left) != left)
		WRITE_ONCE(fq->left, left);
	if (READ_ONCE(fq->no_runs))
		WRITE_ONCE(fq->no_runs, 0);
}

/* A request that flash_pass() has inserted has to wait. */
static noinline void flash_pass_waits(struct flash_queue *fq, struct flash_rq *fr)
{
	fr->slot = FLASH_SLOT_QUEUED;
	flash_queued_add(fq, fr->rq->mq_hctx->sched_data);
	flash_fresh_add(fq, fr);
	if (likely(!fq->pending.resort))
		smp_store_release(&fq->waits, fq->waits - FLASH_WAITS_TAKING);
}

/* flash_pass() without flash_policy.pass: the request enters the policy's queues. */
static __always_inline bool flash_pass_queued(struct flash_queue *fq, struct flash_rq *fr)
{
	flash_enter(fq, fr);
	flash_drain_ends(fq, U64_MAX);
	if (flash_watches(fq))
		flash_update_now(fq);
	flash_tell_why(fq, FLASH_WHY_ORDER);
	if (likely(!fq->pending.resort &&
		   flash_slot_free(atomic_read(&fq->inflight), fq->bound) &&
		   !(flash_watches(fq) && flash_hook_holds(fq)) && flash_policy.select(fq)))
		return true;
	flash_pass_waits(fq, fr);
	return false;
}

/* flash_policy.pass */
static __always_inline bool flash_pass_alone(struct flash_queue *fq, struct flash_rq *fr)
{
	if (!flash_policy.pass || (fq->pending.ended && !flash_policy.ends_first) ||
	    !flash_slot_free(atomic_read(&fq->inflight), fq->bound))
		return false;
	flash_drain_ends(fq, U64_MAX);
	flash_tell_why(fq, FLASH_WHY_ORDER);
	if (!flash_policy.pass(fq, fr))
		return false;
	if (flash_watches(fq))
		flash_change(fq);
	return true;
}

/* flash_pass_queued(), not inline for policies that seldom need it */
static noinline bool flash_pass_rarely(struct flash_queue *fq, struct flash_rq *fr)
{
	return flash_pass_queued(fq, fr);
}

/*
 * Dispatch the only request that waits, if nothing holds it back, as a drain and a choice
 * would do. Most requests of a device that keeps up are dispatched here: they enter no
 * queue but the policy's, for a moment. NULL: see flash_dispatch_queued().
 */
static __always_inline struct flash_rq *flash_pass(struct flash_queue *fq)
{
	struct flash_rq *fr;

	if (unlikely(fq->held || READ_ONCE(fq->first.rq)))
		return NULL;
	fr = flash_pending_lone(fq);
	if (!fr)
		return NULL;
	fq->now = max(fq->now, fr->time);
	fq->stats.inserted++;
	flash_identify(fq, fr);
	if (!flash_pass_alone(fq, fr) &&
	    !(flash_policy.pass ? flash_pass_rarely(fq, fr) : flash_pass_queued(fq, fr)))
		return NULL;
	flash_store_del(fq, fr);
	flash_take(fq, fr);
	trace_flash_dispatch(fq, fr->rq, fr, fq->why);
	fr->rq->rq_flags |= RQF_STARTED;
	smp_store_release(&fq->waits, 0);
	flash_dispatched(fq);
	return fr;
}

/*
 * @rq is dispatched. If its queue is a poll queue and full, the round of @hctx ends, and the
 * queue accepts requests again only when a task polls: others need another round.
 */
static void flash_round_ends(struct flash_queue *fq, const struct blk_mq_hw_ctx *hctx,
			     const struct request *rq)
{
	if (unlikely(rq->mq_hctx->type == HCTX_TYPE_POLL))
		flash_kick(fq, hctx->type == HCTX_TYPE_POLL ? fq->nr_hctx :
							      hctx->queue_num);
}

/* Take the next request of a set that was chosen. With or without the lock */
static noinline struct request *flash_dispatch_chosen(struct flash_queue *fq)
{
	struct request *rq = flash_round_take(fq);

	/* As in flash_dispatched() */
	if (rq && flash_any_unchosen(fq) && !READ_ONCE(fq->left))
		WRITE_ONCE(fq->left, true);
	return rq;
}

/* Choose among the requests that wait. With the lock, which is not released in between */
static struct request *flash_dispatch_best(struct flash_queue *fq,
					   const struct blk_mq_hw_ctx *hctx)
{
	struct request *rq;
	struct flash_rq *fr;

	if (flash_watches(fq))
		flash_update_now(fq);
	flash_settle(fq);
	if (likely(!fq->nr_head)) {
		rq = flash_choose(fq);
		if (rq && fq->queued)
			flash_round_choose(fq, hctx);
		return rq;
	}
	rq = list_first_entry(&fq->head, struct request, queuelist);
	list_del_init(&rq->queuelist);
	WRITE_ONCE(fq->nr_head, fq->nr_head - 1);
	flash_waits_add(fq, -FLASH_WAITS_ONE);
	fr = compat_rq_ours(rq) ? flash_rq_of(rq) : NULL;
	if (fr)
		flash_take(fq, fr);
	else
		fq->stats.dispatched++;
	if (flash_watches(fq))
		flash_change(fq);
	trace_flash_dispatch(fq, rq, NULL, FLASH_WHY_HEAD);
	rq->rq_flags |= RQF_STARTED;
	return rq;
}

/*
 * elv_dispatch_request(), unless a request waits alone. With the lock. Afterwards
 * flash_queue.pass_on says whether to kick.
 */
static noinline struct request *flash_dispatch_queued(struct flash_queue *fq,
						      struct blk_mq_hw_ctx *hctx)
{
	struct request *rq = NULL;
	bool hurry = READ_ONCE(fq->hurry);

	/* Before the drain, which finds the request that has set it. */
	if (unlikely(hurry))
		WRITE_ONCE(fq->hurry, false);
	/* First, as it may release the lock. */
	if (flash_pending_events(fq))
		flash_drain(fq);
	if (unlikely(fq->waits & FLASH_WAITS_CHOSEN)) {
		/* Chosen while this task waited for the lock, or all are taken by now */
		rq = flash_dispatch_chosen(fq);
		if (!rq)
			WRITE_ONCE(fq->waits, fq->waits & ~FLASH_WAITS_CHOSEN);
	}
	if (!rq) {
		rq = flash_dispatch_best(fq, hctx);
		hurry &= !rq;
		if (rq)
			flash_dispatched(fq);
	}
	if (unlikely(hurry))
		WRITE_ONCE(fq->hurry, true);
	fq->pass_on |= fq->held && flash_pending_events(fq);
	return rq;
}

static struct request *elv_dispatch_request(struct blk_mq_hw_ctx *hctx)
{
	struct flash_queue *fq = compat_queue_data(hctx->queue);
	struct request *rq;
	struct flash_rq *fr;
	bool kick = false;

	if (unlikely(flash_round_any(fq))) {
		rq = flash_dispatch_chosen(fq);
		if (rq) {
			flash_round_ends(fq, hctx, rq);
			return rq;
		}
	}
	spin_lock(&fq->lock);
	fr = flash_pass(fq);
	if (likely(fr)) {
		flash_unlock(fq);
		return fr->rq;
	}
	rq = flash_dispatch_queued(fq, hctx);
	swap(kick, fq->pass_on);
	flash_unlock(fq);

	if (rq)
		flash_round_ends(fq, hctx, rq);
	if (unlikely(kick))
		flash_kick(fq, hctx->queue_num);
	return rq;
}

/*
 * With an in-flight limit the backlog waits here and holds scheduler tags. A task that
 * finds no tag sleeps in the tag allocator, which knows no priority. So after the first
 * urgent task all others leave some tags free. Not before, because a limit prevents the
 * core from allocating in batches.
 *
 * queue/async_depth limits the same tasks. The smaller of the two limits applies.
 */
static void elv_limit_depth(blk_opf_t opf, struct blk_mq_alloc_data *data)
{
	struct flash_queue *fq = compat_queue_data(data->q);
	struct blk_mq_hw_ctx *hctx = data->hctx;
	unsigned int depth = 0;

	if (unlikely(!hctx)) {
		compat_limit_early(opf, data, elv_limit_depth);
		return;
	}
	switch (flash_hook_urgency(fq, opf)) {
	case FLASH_URGENT:
		if (!READ_ONCE(fq->urgent_seen))
			WRITE_ONCE(fq->urgent_seen, true);
		return;
	case FLASH_RELATED:
		return;
	case FLASH_BACKGROUND:
		depth = compat_shallow_depth(hctx, FLASH_TAGS_BACKGROUND);
		break;
	case FLASH_PATIENT:
		if (READ_ONCE(fq->urgent_seen))
			depth = compat_shallow_depth(hctx, FLASH_TAGS_KEPT);
		else
			depth = flash_hook_tag_limit(fq, hctx, opf);
		break;
	}
	depth = min_not_zero(depth, compat_async_depth(data->q, opf));
	if (depth)
		data->shallow_depth = depth;
}

/*
 * elv_has_work() in rare cases.
 *
 * Something may have happened while the policy held all requests back. Where the lock may
 * not be taken the answer may be wrong then: it leads to a run in process context. That is
 * in interrupts, and in tasks that exclude interrupts: 6.12 asks a second time under a lock
 * that interrupts take, too.
 *
 * The core calls has_work() with a dispatch list that is not empty only within a round,
 * which it then ends, as the dispatch list precedes all other requests. The list may be
 * stuck while other hardware queues accept requests.
 */
static noinline bool flash_has_work(struct flash_queue *fq, struct blk_mq_hw_ctx *hctx)
{
	bool ready = flash_ready(fq);

	if (ready && READ_ONCE(fq->held) && !flash_precedes(fq) && !in_interrupt() &&
	    !irqs_disabled())
		ready = flash_ready_settled(fq);
	if (ready && !list_empty_careful(&hctx->dispatch))
		flash_kick(fq, fq->nr_hctx);
	return ready;
}

/* The block layer asks several times for each request, mostly when none waits. */
static bool elv_has_work(struct blk_mq_hw_ctx *hctx)
{
	struct flash_queue *fq = compat_queue_data(hctx->queue);

	if (unlikely(READ_ONCE(fq->first.rq)))
		return flash_has_work(fq, hctx);
	if (!flash_any_waits(fq))
		return false;
	if (unlikely(READ_ONCE(fq->held) || flash_precedes(fq) ||
		     !list_empty(&hctx->dispatch)))
		return flash_has_work(fq, hctx);
	return flash_slot_free(atomic_read(&fq->inflight), READ_ONCE(fq->bound));
}

/*
 * A request has been allocated, and may never be inserted. Without this hook 6.1 calls
 * neither finish_request() nor requeue_request().
 */
static void elv_prepare_request(struct request *rq)
{
	rq->elv.priv[0] = NULL;
}

/* @rq has completed, or was requeued by the driver, and frees @slots, 0 or 1. */
static __always_inline void flash_rq_ends(struct flash_queue *fq, struct flash_rq *fr,
					  struct request *rq, int slots, bool ended)
{
	bool was_first = flash_first_done(fq, rq);

	trace_flash_complete(fq, rq, fr, !slots ? FLASH_WHY_FREED :
			     ended ? FLASH_WHY_DONE : FLASH_WHY_REQUEUED);
	if (slots) {
		/* Before the slot: the policy knows of the end whenever the slot is free. */
		if (flash_watched(fr))
			flash_pending_end(fq, fr, ended);
		flash_release(fq, rq->mq_hctx->queue_num, was_first);
	} else if (was_first) {
		flash_kick(fq, rq->mq_hctx->queue_num);
	}
}

static void elv_finish_request(struct request *rq)
{
	struct flash_queue *fq = compat_queue_data(rq->q);
	struct flash_rq *fr = flash_rq_of(rq);
	int slots;

	if (!fr)
		return;
	rq->elv.priv[0] = NULL;
	slots = flash_slot_finish(&fr->slot);
	/* Before the slot is freed, so that the sums agree when none is in flight. */
	if (slots)
		flash_count(fq, completed);
	flash_rq_ends(fq, fr, rq, slots, true);
}

static void elv_requeue_request(struct request *rq)
{
	struct flash_queue *fq = compat_queue_data(rq->q);
	struct flash_rq *fr = flash_rq_of(rq);
	int slots;

	if (!fr)
		return;
	if (fr->slot == FLASH_SLOT_INFLIGHT)
		fr->time = ktime_get_ns();
	slots = flash_slot_requeue(&fr->slot);
	/* Once: a driver may run and requeue a request that is not inserted again. */
	if (slots)
		flash_count(fq, requeued);
	flash_rq_ends(fq, fr, rq, slots, false);
}

/*
 * Called for all requests of the device that complete, before finish_request(); counts
 * those that never reached the scheduler.
 */
static void elv_completed_request(struct request *rq, u64 now)
{
	struct flash_rq *fr = compat_rq_ours(rq) ? flash_rq_of(rq) : NULL;

	if (likely(fr)) {
		if (fr->slot == FLASH_SLOT_INFLIGHT)
			fr->time = now;
	} else {
		struct flash_queue *fq = compat_queue_data(rq->q);

		flash_count(fq, bypassed);
	}
}

static int flash_queues_show(struct seq_file *m, void *unused)
{
	struct flash_queue *fq;
	unsigned int n;

	mutex_lock(&flash_queues_lock);
	list_for_each_entry(fq, &flash_queues, node) {
		seq_printf(m, "disk %s\n",
			   fq->q->disk ? fq->q->disk->disk_name : "-");
		flash_lock(fq);
		for (n = 0; n < fq->nr_hctx; n++)
			if (fq->hctx[n])
				seq_printf(m, "hctx%u queued %u\n", n,
					   fq->hctx[n]->queued);
		if (flash_policy.arrays)
			flash_policy.arrays(fq, m);
		flash_unlock(fq);
	}
	mutex_unlock(&flash_queues_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(flash_queues);

static void flash_queue_free(struct flash_queue *fq)
{
	flash_store_free(fq);
	free_percpu(fq->counts);
	bitmap_free(fq->work);
	kfree(fq->hctx);
	kfree(fq);
}

static struct flash_queue *flash_queue_alloc(struct request_queue *q)
{
	struct flash_queue *fq;

	fq = kzalloc_node(flash_policy.queue_size, GFP_KERNEL, q->node);
	if (!fq)
		return NULL;
	fq->q = q;
	fq->nr_hctx = q->nr_hw_queues;
	fq->hctx = kcalloc(fq->nr_hctx, sizeof(*fq->hctx), GFP_KERNEL);
	fq->work = bitmap_zalloc(fq->nr_hctx, GFP_KERNEL);
	fq->counts = alloc_percpu(struct flash_counts);
	if (!fq->hctx || !fq->work || !fq->counts || flash_store_init(fq)) {
		flash_queue_free(fq);
		return NULL;
	}
	spin_lock_init(&fq->lock);
	INIT_LIST_HEAD(&fq->head);
	flash_first_init(fq);
	fq->bound = UINT_MAX;
	fq->depth = compat_queue_depth(q);
	fq->held_above = INT_MAX;
	fq->watches = flash_policy.watches;
	return fq;
}

static int flash_queue_init(struct request_queue *q, struct elevator_queue *eq)
{
	struct flash_queue *fq;
	int ret = -ENOMEM;

	fq = flash_queue_alloc(q);
	if (!fq)
		return ret;
	fq->disk = flash_disk_get(q);
	if (!fq->disk)
		goto free;
	ret = flash_policy.init(fq);
	if (ret)
		goto put;

	compat_queue_attach(q, eq, fq);
	/* Set or cleared by every scheduler: it survives a direct switch. */
	blk_queue_flag_set(QUEUE_FLAG_SQ_SCHED, q);
	mutex_lock(&flash_queues_lock);
	list_add_tail(&fq->node, &flash_queues);
	mutex_unlock(&flash_queues_lock);
	return 0;
put:
	flash_disk_put(fq->disk, q);
free:
	flash_queue_free(fq);
	return ret;
}

static int elv_init_sched(struct request_queue *q, compat_init_arg_t *arg)
{
	struct elevator_queue *eq;
	unsigned int noio;
	int ret;

	/* The queue is frozen: reclaim must not wait for I/O to this device. */
	noio = memalloc_noio_save();
	eq = compat_queue_get(q, arg);
	ret = eq ? flash_queue_init(q, eq) : -ENOMEM;
	memalloc_noio_restore(noio);
	if (ret) {
		/* Left by the scheduler before us; see elv_exit_sched(). */
		blk_queue_flag_clear(QUEUE_FLAG_SQ_SCHED, q);
		if (eq)
			compat_queue_put(eq);
	}
	return ret;
}

/* What became of the requests that were dispatched, if nothing is in flight. */
static u64 flash_ended(const struct flash_queue *fq)
{
	return flash_counted(fq, completed) +
	       flash_counted(fq, requeued) +
	       fq->stats.polled + fq->stats.untracked;
}

static void elv_exit_sched(struct elevator_queue *eq)
{
	struct flash_queue *fq = eq->elevator_data;

	mutex_lock(&flash_queues_lock);
	list_del(&fq->node);
	mutex_unlock(&flash_queues_lock);
	flash_first_exit(fq);

	WARN_ONCE(fq->queued || fq->nr_head || flash_round_any(fq) || fq->first.rq ||
		  fq->out || atomic_read(&fq->inflight) || flash_pending_any(fq),
		  "%s: at exit %u queued, %u at head, %d chosen, %d first, %d in flight, %d come\n",
		  flash_policy.name, fq->queued, fq->nr_head, flash_round_any(fq),
		  !!fq->first.rq, atomic_read(&fq->inflight), flash_pending_any(fq));
	WARN_ONCE(flash_seams_left(&fq->seams),
		  "%s: at exit bios may join %u times\n", flash_policy.name,
		  flash_seams_left(&fq->seams));
	WARN_ONCE(fq->stats.inserted != fq->stats.dispatched + fq->stats.absorbed,
		  "%s: at exit %llu inserted, %llu dispatched, %llu absorbed\n",
		  flash_policy.name, fq->stats.inserted, fq->stats.dispatched,
		  fq->stats.absorbed);
	WARN_ONCE(fq->stats.dispatched != flash_ended(fq),
		  "%s: at exit %llu dispatched, %llu ended\n",
		  flash_policy.name, fq->stats.dispatched, flash_ended(fq));

	/*
	 * The next scheduler sets the flag as it needs it. If a later step of the
	 * switch has failed there is no next scheduler, and without a scheduler the
	 * flag would leave hardware queues waiting for ever.
	 */
	blk_queue_flag_clear(QUEUE_FLAG_SQ_SCHED, fq->q);

	if (flash_policy.exit)
		flash_policy.exit(fq);
	flash_disk_put(fq->disk, fq->q);
	flash_queue_free(fq);
}

static int elv_init_hctx(struct blk_mq_hw_ctx *hctx, unsigned int idx)
{
	unsigned int noio = memalloc_noio_save();
	int ret;

	ret = flash_hctx_init(compat_queue_data(hctx->queue), hctx);
	memalloc_noio_restore(noio);
	return ret;
}

static void elv_exit_hctx(struct blk_mq_hw_ctx *hctx, unsigned int idx)
{
	flash_hctx_exit(compat_queue_data(hctx->queue), hctx);
}

static void elv_depth_updated(compat_depth_arg_t *arg)
{
	unsigned int noio = memalloc_noio_save();
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	compat_depth_for_each_hctx(arg, hctx, i) {
		flash_hctx_resize(hctx);
		if (flash_policy.tags_changed)
			flash_policy.tags_changed(compat_queue_data(hctx->queue));
	}
	memalloc_noio_restore(noio);
}

static struct elevator_type flash_elevator = {
	.ops = {
		.init_sched		= elv_init_sched,
		.exit_sched		= elv_exit_sched,
		.init_hctx		= elv_init_hctx,
		.exit_hctx		= elv_exit_hctx,
		.depth_updated		= elv_depth_updated,
		.allow_merge		= elv_allow_merge,
		.bio_merge		= elv_bio_merge,
		.request_merge		= elv_request_merge,
		.request_merged		= elv_request_merged,
		.requests_merged	= elv_requests_merged,
		.former_request		= elv_former_request,
		.next_request		= elv_next_request,
		.limit_depth		= elv_limit_depth,
		.prepare_request	= elv_prepare_request,
		.insert_requests	= elv_insert_requests,
		.dispatch_request	= elv_dispatch_request,
		.has_work		= elv_has_work,
		.completed_request	= elv_completed_request,
		.requeue_request	= elv_requeue_request,
		.finish_request		= elv_finish_request,
	},
	.elevator_owner	= THIS_MODULE,
};

static int __init flash_module_init(void)
{
	int ret = compat_meaning_init();

	if (ret)
		return ret;
	flash_elevator.elevator_attrs = flash_policy.attrs;
	flash_elevator.elevator_name = flash_policy.name;
	flash_debugfs_dir = debugfs_create_dir(flash_policy.name, NULL);
	debugfs_create_file("queues", 0444, flash_debugfs_dir, NULL,
			    &flash_queues_fops);
	ret = elv_register(&flash_elevator);
	if (ret)
		debugfs_remove(flash_debugfs_dir);
	return ret;
}

static void __exit flash_module_exit(void)
{
	elv_unregister(&flash_elevator);
	debugfs_remove(flash_debugfs_dir);
	flash_disks_free();
}

module_init(flash_module_init);
module_exit(flash_module_exit);

MODULE_INFO(layout, ELV_LAYOUT_STATUS);
