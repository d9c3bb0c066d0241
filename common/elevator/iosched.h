/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iosched.h - types of the schedulers, and the contract of a policy
 *
 * elevator.c implements the kernel's elevator interface once. A policy is a folder whose
 * .c file reads like its paper, which queue a request is added to and which one is
 * dispatched next, and ends with a table of its hooks, struct flash_policy. common/ is
 * linked into each module, so each module has one table.
 */
#ifndef FLASH_IOSCHED_H
#define FLASH_IOSCHED_H

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/llist.h>
#include <linux/percpu.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>

#include "tunables.h"
#include "compat.h"
#include "../flash/op.h"
#include "merge.h"
#include "slot.h"

/* One scheduler tag in this many is kept from FLASH_PATIENT tasks. */
#define FLASH_TAGS_KEPT		4

/* One scheduler tag in this many is kept from FLASH_BACKGROUND tasks. */
#define FLASH_TAGS_BACKGROUND		2

/**
 * struct flash_rq - the record of a request
 * @rq:		the request
 * @seq:	sequence number of its insertion on the device
 * @slot:	state of its slot of the in-flight limit
 * @class:	the policy's class; requests of different classes never merge
 * @watched:	the policy gets its @started and @completed hooks; the value of
 *		flash_queue.watches at its first insertion, or what the policy has set in
 *		@pass or @select
 * @lookup:	an enum flash_lookup; with the lock from drain to dispatch
 * @ended:	it has completed; false: the driver has requeued it. Of records in
 *		flash_pending.ends
 * @busy:	it is in flash_pending.ends, and not drained yet
 * @time:	time of its arrival, then of its end, ns
 * @pending:	link in flash_pending.list or flash_pending.ends, until it is drained
 * @nth:	length of the pending list when the request was added; valid only in the
 *		newest entry of a batch
 * @by:		the task that inserted it, for comparison only
 * @seam:	sectors at which the merge lookup expects bios, if it waits for longer
 *
 * Preallocated, two for each hardware queue and scheduler tag; elv.priv[0] of the request
 * points here from insertion to completion. @slot needs no lock: the block layer never
 * runs two hooks of one request at once.
 *
 * A policy may embed it as the first member of its own record (flash_policy.rq_size). The
 * rest is zero at first, and then as an earlier request of the tag has left it.
 *
 * One cache line, and aligned, so that no two records share a line. See docs/cache-lines.md.
 */
struct flash_rq {
	struct request *rq;
	u64 seq;
	enum flash_slot slot;
	unsigned int class;
	bool watched;
	u8 lookup;
	bool ended;
	bool busy;
	unsigned int nth;
	u64 time;
	struct llist_node pending;
	const struct task_struct *by;
	struct flash_seam seam;
} ____cacheline_aligned_in_smp;

/**
 * struct flash_hctx - one hardware queue
 * @hctx:	the hardware queue
 * @queued:	number of its requests in the policy's queues; written under
 *		flash_queue.lock, read without
 * @nr_recs:	number of tags in @recs; changes only while the queue is frozen
 * @recs:	two records of flash_policy.rq_size bytes for each scheduler tag; queues
 *		that share their tags share the records
 * @rcu:	a timer may look at the structure while it is freed
 *
 * Each submission reads the first line, each request that waits writes @queued.
 */
struct flash_hctx {
	struct blk_mq_hw_ctx *hctx;
	void *recs;
	unsigned int nr_recs;
	struct rcu_head rcu;

	unsigned int queued ____cacheline_aligned_in_smp;
};

/**
 * struct flash_stats - counters since the scheduler was selected
 * @inserted:	inserted requests; a requeued one counts again
 * @dispatched:	requests dispatched to the driver
 * @merged:	bios merged into waiting requests
 * @absorbed:	waiting requests absorbed by a neighbour
 * @head:	requests inserted before all others; dispatched even above the in-flight
 *		limit, and counted as in flight
 * @untracked:	requests inserted without a record, as the table could not grow
 * @polled:	requests dispatched to a poll queue, which ignore the in-flight limit
 * @together:	requests that were chosen together with an earlier one, see round.c
 * @peak:	largest number of requests in flight
 *
 * All under flash_queue.lock. At rest inserted = dispatched + absorbed.
 */
struct flash_stats {
	u64 inserted;
	u64 dispatched;
	u64 merged;
	u64 absorbed;
	u64 head;
	u64 untracked;
	u64 polled;
	u64 together;
	unsigned int peak;
};

/**
 * struct flash_pending - what has happened since the latest drain, see pending.c
 * @list:	the pending list: requests that have arrived, the newest first
 * @ends:	records of watched requests that have ended, the newest first
 * @asks:	time has passed, and the policy may not hold requests back any more
 * @resort:	waiting requests have to be sorted again (flash_resort()); under the lock
 * @hctx:	number of the hardware queue of one of the newest requests in @list
 * @arrived:	drained from @list, and in no queue yet, the oldest first; under the lock
 * @ended:	drained from @ends, and not reported yet, the oldest first; under the lock
 * @pad:	up to the cache line that an end writes, with flash_queue.inflight
 *
 * Any context adds to @list and @ends, the lock's holder drains them.
 */
struct flash_pending {
	struct llist_head list;
	unsigned int hctx;
	u8 pad[SMP_CACHE_BYTES - sizeof(struct llist_head) - sizeof(unsigned int)];
	struct llist_head ends;
	bool asks;
	bool resort;
	struct llist_node *arrived, *ended;
};

/**
 * struct flash_first - the request that must be issued first, see flash_issue_first()
 * @rq:		dispatched, and to be issued before any other request is dispatched; or NULL
 * @nth:	number of such requests so far; written under the lock
 * @asked:	@nth when @timer was armed
 * @due:	@nth of a request that may be overtaken; 0: none
 * @armed:	@timer is armed
 * @expired:	number of such requests that others have overtaken, as they were not
 *		issued in time
 * @timer:	limits the time for which @rq blocks other requests
 *
 * Without the lock unless noted.
 */
struct flash_first {
	struct request *rq;
	unsigned int nth;
	unsigned int asked;
	unsigned int due;
	unsigned int armed;
	unsigned long expired;
	struct hrtimer timer;
};

/**
 * struct flash_counts - counters that need no lock, for each CPU
 * @requeued:	requests in flight that the driver requeued
 * @completed:	requests in flight that completed; at rest flash_stats.dispatched =
 *		@completed + @requeued + flash_stats.polled + flash_stats.untracked
 * @bypassed:	requests of this device that never reached the scheduler (on 6.1 flushes,
 *		FUA writes, passthrough)
 * @kicks:	hardware queues run by flash_kick()
 * @inlined:	hardware queues run in the submitter's context
 */
struct flash_counts {
	unsigned long requeued;
	unsigned long completed;
	unsigned long bypassed;
	unsigned long kicks;
	unsigned long inlined;
};

/* Requests that are chosen for a round at once, after the first one */
#define FLASH_ROUND_MOST	3

/* Of flash_round.left: the number of requests, and what is added with each new set */
#define FLASH_ROUND_NR		0x3UL
#define FLASH_ROUND_SET		(FLASH_ROUND_NR + 1)

/**
 * struct flash_round - requests that were chosen for the rest of a round, see round.c
 * @left:	how many are left, and a count of the sets so far; without the lock
 * @rq:		the requests, the last one first; written under the lock while none is left
 *
 * They are in flight already.
 */
struct flash_round {
	unsigned long left;
	struct request *rq[FLASH_ROUND_MOST];
};

/* Add one to a counter of struct flash_counts. */
#define flash_count(fq, what)	this_cpu_inc((fq)->counts->what)

/* A counter of struct flash_counts, of all CPUs */
#define flash_counted(fq, what) ({					\
	unsigned long sum_ = 0;						\
	int cpu_;							\
									\
	for_each_possible_cpu(cpu_)					\
		sum_ += READ_ONCE(per_cpu_ptr((fq)->counts, cpu_)->what); \
	sum_;								\
})

/* Of flash_queue.waits: requests are being moved to the queues; one request in a queue */
#define FLASH_WAITS_TAKING	1
#define FLASH_WAITS_ONE		2

/* Of flash_queue.waits: a set of requests was chosen, see flash_round.left */
#define FLASH_WAITS_CHOSEN	(1U << 31)

/**
 * struct flash_queue - one device with this scheduler selected
 * @q:		its request queue
 * @disk:	the disk's tunables, which outlive this structure
 * @lock:	guards @head, @sort, @noted, @fresh, @now, @stats, @seq, @watches, @pass_on, each
 *		flash_hctx.queued, all writes to @bound, @waits, @queued, @nr_head, @held, @changed
 *		and @work, and the policy's queues. A plain spin lock of process context
 * @pending:	arrivals and ends since the latest drain
 * @inflight:	requests in flight; without the lock
 * @out:	watched requests in flight, and those that have ended since the latest drain
 * @bound:	the in-flight limit, in requests; read without the lock
 * @waits:	FLASH_WAITS_ONE for each request in @queued and @nr_head, FLASH_WAITS_TAKING
 *		while requests are moved from the pending list, and FLASH_WAITS_CHOSEN from
 *		the choice of a set until the lock's holder finds none of it left; read
 *		without the lock
 * @queued:	requests in the policy's queues; read without the lock
 * @nr_head:	requests in @head; read without the lock
 * @held:	the policy held back all @queued requests when it was last asked; read
 *		without the lock, see flash_settle()
 * @changed:	@held has to be computed again before the next choice; read without the lock
 * @left:	requests waited when the latest request was dispatched, or has_work() has
 *		let the policy choose since; read without the lock
 * @hurry:	a request with FLASH_ROOT_FLAGS has arrived since the latest choice, or one waits
 *		that flash_policy.select() wants to have the next slot; without the lock
 * @no_runs:	completions in a row below the mark (slot.h), since the latest dispatch, that
 *		scheduled no run although a request waited; approximate, without the lock
 * @depth:	requests that the driver takes at a time, see compat_queue_depth()
 * @round:	requests that were chosen and that a run takes without the lock
 * @head:	requests that precede all others, and are dispatched even above the limit:
 *		requeued by the driver, or needed by the flush machinery
 * @seams:	sectors at which a bio could join a waiting or pending request; without the
 *		lock
 * @sort:	merge lookup: waiting reads and writes by start sector
 * @noted:	requests that wait, and that the merge lookup does not know yet, linked by
 *		request.hash
 * @nr_noted:	length of @noted
 * @fresh:	requests that were drained, of which those that still wait are noted or enter
 *		the lookup; empty without the lock
 * @now:	while the policy watches, the time of the event that a hook reports, ns; never
 *		decreases
 * @seq:	the latest flash_rq.seq
 * @watches:	value of flash_rq.watched for requests inserted from now on
 * @limit_changed: @bound has changed since the lock was taken
 * @stats:	counters
 * @why:	reason of the latest choice, an enum flash_why; written only while it is
 *		traced, see flash_tell_why()
 * @pass_on:	flash_policy.select() returned NULL, as a worker has to dispatch the next
 *		request; under the lock
 * @one_by_one:	requests are chosen one by one, as urgent ones would have to wait for the rest
 *		of a set, and each completion runs a hardware queue; set by the policy under
 *		the lock, read without it
 * @held_above:	while @held, ends do not change that as long as more than this number are in
 *		flight; set by flash_policy.holds(), read without the lock
 * @urgent_seen: flash_policy.urgency() has returned FLASH_URGENT on this device; a policy
 *		may clear it
 * @first:	the request that must be issued first
 * @counts:	counters without the lock, for each CPU
 * @node:	link in the list of devices with this scheduler
 * @nr_hctx:	size of @hctx
 * @hctx:	hardware queues by number
 * @work:	bit n set: hctx[n] has requests in the policy's queues
 *
 * A policy embeds it as the first member of its structure. It has more than 20 fields
 * as it is the device; they stand by cache line: what every CPU reads and few write; what
 * the lock's holder writes; what each arrival, each end, and each dispatch write.
 * See docs/cache-lines.md.
 */
struct flash_queue {
	struct flash_disk *disk;
	unsigned long *work;
	unsigned int nr_hctx;
	unsigned int bound;
	struct flash_hctx **hctx;
	struct flash_seams seams;
	struct flash_counts __percpu *counts;
	bool watches;
	bool held;
	bool urgent_seen;
	bool one_by_one;
	int held_above;

	struct flash_first first ____cacheline_aligned_in_smp;

	spinlock_t lock ____cacheline_aligned_in_smp;
	bool limit_changed;
	bool pass_on;
	unsigned int out;
	unsigned int why;
	u64 now;
	u64 seq;
	struct llist_node *fresh;
	/* Its first three counters are on the line of @lock. */
	struct flash_stats stats;
	struct list_head head;
	struct rb_root sort[2];
	struct hlist_head noted;
	unsigned int nr_noted;
	struct request_queue *q;
	struct list_head node;

	struct flash_pending pending ____cacheline_aligned_in_smp;
	atomic_t inflight;
	unsigned int waits;
	unsigned int queued;
	unsigned int nr_head;
	unsigned int no_runs;
	bool left;
	bool changed;
	bool hurry;
	struct flash_round round;
	unsigned int depth;
};

/**
 * flash_rq_of - the record of a request, or NULL
 * @rq: a request for which compat_rq_ours() holds
 */
static inline struct flash_rq *flash_rq_of(const struct request *rq)
{
	return rq->elv.priv[0];
}

/**
 * flash_tun - a tunable's value now
 * @fq: the device
 * @idx: which one, an index into flash_policy.tunables
 */
static inline unsigned int flash_tun(const struct flash_queue *fq,
				     unsigned int idx)
{
	return READ_ONCE(fq->disk->val[idx]);
}

/**
 * flash_dir_of - the direction in which a request moves data
 * @rq: the request
 *
 * Return: FLASH_NR_DIRS if it moves none: a discard, a flush.
 */
static inline enum flash_dir flash_dir_of(const struct request *rq)
{
	return blk_rq_sectors(rq) ? flash_op_dir(req_op(rq)) : FLASH_NR_DIRS;
}

/* A bio that other tasks may wait for: see bio_issue_as_root_blkg(); and REQ_PRIO */
#define FLASH_ROOT_FLAGS	(REQ_META | REQ_PRIO | REQ_SWAP)

/**
 * flash_rq_root - may other tasks wait for this request?
 * @rq: the request
 *
 * The flags of @rq are those of its first bio, and merges in a plug ask no
 * scheduler, so each bio is looked at.
 */
static inline bool flash_rq_root(const struct request *rq)
{
	const struct bio *bio;

	for (bio = rq->bio; bio; bio = bio->bi_next) {
		if (bio->bi_opf & FLASH_ROOT_FLAGS)
			return true;
	}
	return false;
}

/**
 * flash_sector_of - the address of the data that a request moves
 * @rq: the request
 *
 * Return: its first sector, or FLASH_NO_SECTOR if only the device knows.
 */
static inline u64 flash_sector_of(const struct request *rq)
{
	return flash_op_placed(req_op(rq)) ? blk_rq_pos(rq) : FLASH_NO_SECTOR;
}

/* elevator.c */
bool flash_may_issue(const struct flash_rq *fr);

/**
 * flash_update_now - bring flash_queue.now up to date
 * @fq: the device, locked
 */
static inline u64 flash_update_now(struct flash_queue *fq)
{
	fq->now = max(fq->now, ktime_get_ns());
	return fq->now;
}

/* pending.c */
bool flash_pending_add(struct flash_queue *fq, struct flash_hctx *fh,
		       struct list_head *list);
void flash_pending_end(struct flash_queue *fq, struct flash_rq *fr, bool ended);
void flash_drain(struct flash_queue *fq);
void flash_resort(struct flash_queue *fq);
void flash_resort_rest(struct flash_queue *fq);

/* Add to flash_queue.waits, with the lock. */
static inline void flash_waits_add(struct flash_queue *fq, int waits)
{
	WRITE_ONCE(fq->waits, fq->waits + waits);
}

/**
 * flash_pending_any - are there requests that are in no queue of the policy yet?
 * @fq: the device
 *
 * No lock. If false, the caller sees all requests that were drained before in the queues.
 */
static inline bool flash_pending_any(const struct flash_queue *fq)
{
	if (!llist_empty(&fq->pending.list))
		return true;
	/* The list before @waits. Pairs with the barrier in flash_pending_take(). */
	smp_rmb();
	/* If clear, the drained requests are queued: pairs with flash_drain(). */
	return smp_load_acquire(&fq->waits) & FLASH_WAITS_TAKING;
}

/* Is a request left of those that were chosen for a round? */
static inline bool flash_round_any(const struct flash_queue *fq)
{
	return READ_ONCE(fq->round.left) & FLASH_ROUND_NR;
}

/* Does any request wait to be chosen? No lock. */
static inline bool flash_any_unchosen(const struct flash_queue *fq)
{
	if (!llist_empty(&fq->pending.list))
		return true;
	/* As in flash_pending_any() */
	smp_rmb();
	return READ_ONCE(fq->waits) & ~FLASH_WAITS_CHOSEN;
}

/**
 * flash_any_waits - does any request wait, or is one chosen that no run has taken?
 * @fq: the device
 *
 * No lock.
 */
static inline bool flash_any_waits(const struct flash_queue *fq)
{
	unsigned int waits;

	if (!llist_empty(&fq->pending.list))
		return true;
	/* As in flash_pending_any() */
	smp_rmb();
	waits = READ_ONCE(fq->waits);
	return waits && (waits != FLASH_WAITS_CHOSEN || flash_round_any(fq));
}

/**
 * flash_precedes - is there a request that precedes all others, and has or needs no slot?
 * @fq: the device
 *
 * No lock.
 */
static inline bool flash_precedes(const struct flash_queue *fq)
{
	return READ_ONCE(fq->nr_head) || flash_round_any(fq);
}

/**
 * flash_pending_events - has something happened that the policy does not know yet?
 * @fq: the device
 *
 * No lock. If false, the caller sees flash_queue.changed as the latest drain left it.
 */
static inline bool flash_pending_events(const struct flash_queue *fq)
{
	if (!llist_empty(&fq->pending.list) || !llist_empty(&fq->pending.ends) ||
	    READ_ONCE(fq->pending.asks))
		return true;
	/* As in flash_pending_any() */
	smp_rmb();
	return smp_load_acquire(&fq->waits) & FLASH_WAITS_TAKING;
}

/* queue.c */
void flash_rq_begin(struct flash_queue *fq, struct flash_rq *fr, struct request *rq);
void flash_enter(struct flash_queue *fq, struct flash_rq *fr);
void flash_identify(struct flash_queue *fq, struct flash_rq *fr);
void flash_insert_tracked(struct flash_queue *fq, struct flash_hctx *fh,
			  struct flash_rq *fr, struct request *rq, bool at_head);
void flash_insert(struct flash_queue *fq, struct flash_hctx *fh,
		  struct request *rq, bool at_head);
void flash_ask_holds(struct flash_queue *fq);

/**
 * flash_settle - let the policy choose, if something has changed since it last did
 * @fq: the device, locked
 */
static inline void flash_settle(struct flash_queue *fq)
{
	if (fq->changed)
		flash_ask_holds(fq);
}

/** flash_change - the policy has to choose again before the next dispatch */
static inline void flash_change(struct flash_queue *fq)
{
	if (!fq->changed)
		WRITE_ONCE(fq->changed, true);
}

/* Written under the lock, read without it, a word at a time */
static inline void flash_work_set(struct flash_queue *fq, unsigned int n, bool any)
{
	unsigned long *word = &fq->work[BIT_WORD(n)];

	WRITE_ONCE(*word, any ? *word | BIT_MASK(n) : *word & ~BIT_MASK(n));
}

/**
 * flash_queued_add - one more request in the policy's queues
 * @fq: the device, locked
 * @fh: the request's hardware queue
 */
static inline void flash_queued_add(struct flash_queue *fq, struct flash_hctx *fh)
{
	lockdep_assert_held(&fq->lock);

	if (!fh->queued)
		flash_work_set(fq, fh->hctx->queue_num, true);
	WRITE_ONCE(fh->queued, fh->queued + 1);
	WRITE_ONCE(fq->queued, fq->queued + 1);
	flash_waits_add(fq, FLASH_WAITS_ONE);
}

/**
 * flash_queued_del - one request less in the policy's queues
 * @fq: the device, locked
 * @fh: the request's hardware queue
 */
static inline void flash_queued_del(struct flash_queue *fq, struct flash_hctx *fh)
{
	lockdep_assert_held(&fq->lock);

	WRITE_ONCE(fh->queued, fh->queued - 1);
	if (!fh->queued)
		flash_work_set(fq, fh->hctx->queue_num, false);
	WRITE_ONCE(fq->queued, fq->queued - 1);
	flash_waits_add(fq, -FLASH_WAITS_ONE);
}

/* A request was drained and waits; see flash_queue.fresh. With the lock */
static inline void flash_fresh_add(struct flash_queue *fq, struct flash_rq *fr)
{
	fr->pending.next = fq->fresh;
	fq->fresh = &fr->pending;
}

/* inflight.c */
bool flash_ready(struct flash_queue *fq);
bool flash_ready_settled(struct flash_queue *fq);
void flash_set_bound(struct flash_queue *fq, unsigned int bound);
void flash_limit_changed(struct flash_queue *fq);
void flash_ask_again(struct flash_queue *fq);
void flash_kick(struct flash_queue *fq, unsigned int prefer);
bool flash_needs_run(struct flash_queue *fq, int inflight, unsigned int bound);
void flash_release(struct flash_queue *fq, unsigned int idx, bool was_first);
void flash_resume(struct flash_queue *fq);
void flash_issue_first(struct flash_queue *fq, struct flash_rq *fr);
bool flash_first_done(struct flash_queue *fq, struct request *rq);
bool flash_first_refuses(struct flash_queue *fq);
void flash_first_init(struct flash_queue *fq);
void flash_first_exit(struct flash_queue *fq);
void flash_take(struct flash_queue *fq, struct flash_rq *fr);

/**
 * flash_lock - take the device's lock, and drain arrivals and ends
 * @fq: the device
 *
 * Process context.
 */
static inline void flash_lock(struct flash_queue *fq) __acquires(&fq->lock)
{
	spin_lock(&fq->lock);
	if (flash_pending_events(fq))
		flash_drain(fq);
}

/** flash_unlock - undo flash_lock() */
static inline void flash_unlock(struct flash_queue *fq) __releases(&fq->lock)
{
	bool limit_changed = fq->limit_changed;

	fq->limit_changed = false;
	if (fq->fresh)
		flash_store_fresh(fq);
	spin_unlock(&fq->lock);
	if (unlikely(limit_changed))
		flash_limit_changed(fq);
}

/* round.c */
struct request *flash_choose(struct flash_queue *fq);
void flash_round_choose(struct flash_queue *fq, const struct blk_mq_hw_ctx *hctx);
struct request *flash_round_take(struct flash_queue *fq);

/* rqtable.c */
int flash_hctx_init(struct flash_queue *fq, struct blk_mq_hw_ctx *hctx);
void flash_hctx_exit(struct flash_queue *fq, struct blk_mq_hw_ctx *hctx);
void flash_hctx_resize(struct blk_mq_hw_ctx *hctx);

/**
 * enum flash_urgency - a task's claim on the last scheduler tags
 * @FLASH_PATIENT: none
 * @FLASH_RELATED: a claim, because urgent tasks may wait for the request
 * @FLASH_URGENT: a claim; from the first such request on, the last tags are kept
 * @FLASH_BACKGROUND: none, and its requests may wait for long while they hold tags: half
 *	of the tags are kept from it
 */
enum flash_urgency {
	FLASH_PATIENT,
	FLASH_RELATED,
	FLASH_URGENT,
	FLASH_BACKGROUND,
};

/**
 * struct flash_policy - what a scheduler supplies: one const table in each module
 *
 * Hooks stand in the order of a request's life. Unless noted, a hook runs under
 * flash_queue.lock in process context, and must neither sleep nor allocate, nor take the
 * lock, nor run a hardware queue. The current task need not be the one that submitted the
 * request. Hooks marked "optional" may be NULL. The struct has more than 20 fields as each
 * is one hook or one constant.
 *
 * @name: the elevator's name, at most 15 characters
 * @queue_size: size of the policy's structure, which begins with a flash_queue, bytes
 * @rq_size: size of its record of a request, which begins with a flash_rq, bytes
 * @watches: initial value of flash_queue.watches: whether the policy gets the hooks
 *	@started, @completed and @holds, and the time of each event in
 *	flash_queue.now. If false, the policy may change flash_queue.watches; the new value
 *	holds for requests that arrive later, see flash_rq.watched.
 * @ends_first: @pass may be called after the report of ends that are later than the request;
 *	the lock is held for a shorter time then
 * @tags_kept: the smallest limit that @tag_limit or the core sets for a task: one in so
 *	many scheduler tags is kept from it, see compat_shallow_depth(); 0: any limit
 * @inline_tunable: index of the tunable "inline_dispatch", which each policy has
 * @data: for code that several policies share, such as struct fairshare
 * @attrs, @tunables, @nr_tunables, @defaults, @texts, @nr_texts, @text_defaults,
 *	@inline_tunable: set by FLASH_ATTRS, see FLASH_DEFINE_ATTRS()
 *
 * @init: prepares the policy's queues. Process context, device frozen, no lock held;
 *	may allocate. Returns 0 or a negative errno.
 * @exit: undoes @init. Optional. The queues are empty. No lock held; may sleep.
 * @tags_changed: nr_requests has been set, or is about to be. Optional. Process context,
 *	device frozen, no lock held; called for each hardware queue, and when the
 *	scheduler is selected.
 *
 * @urgency: the current task's claim on the last scheduler tags; @opf is the operation of
 *	the bio that it is about to submit. Optional: FLASH_PATIENT. No lock held.
 * @tag_limit: which scheduler tags may the current task take? Optional. No lock held; asked
 *	only where @urgency sets no limit. Returns a value for limit_depth(), see
 *	compat_shallow_unit(); 0: all. A task that finds no tag sleeps, and is not asked for
 *	again.
 * @bio_class: the class that a bio would have as a request; requests and bios of
 *	different classes are not merged. Optional, with @rq_class: one class.
 * @front_merges: may a bio be merged in front of a waiting request? Optional: yes.
 *
 * @arrived: the current task is about to add a request to the pending list; the policy may
 *	note the task's identity, and clear its part of the record. Optional. No lock held,
 *	any context. Not for a request that is inserted again.
 * @rq_class: the class of a request that is about to be inserted. Optional.
 * @pass: @insert, @holds and @select in one, of the only request that waits, while a slot is
 *	free. Optional. Returns false if the request has to be inserted; then nothing has
 *	changed. flash_queue.now is the time of its arrival, or with @ends_first perhaps of a
 *	later end; the policy brings it up to date, see flash_update_now().
 * @insert: adds a request to the policy's queues; its class and sequence number are set
 * @grown: a waiting request has grown by a bio at one of its ends, and may start at
 *	another sector. Optional.
 * @merged: @fr has absorbed @gone; the policy removes @gone from its queues, and @fr gets
 *	its place in the order if that was earlier
 *
 * @select: removes the next request from the policy's queues, and returns it. Called only
 *	while requests wait, a slot is free, and @holds has returned false after the latest
 *	change. Returns NULL only with flash_queue.pass_on set: the current task may not
 *	dispatch the next request.
 * @started: a request has taken a slot of the in-flight limit: directly after @select with
 *	the lock held, or without @select for requests that bypass the queues. Requests
 *	without a slot (of poll queues, without a record) are not reported. Only of requests
 *	with flash_rq.watched.
 * @completed: the request has given its slot back, exactly once for each @started, before
 *	the next choice; @ended: it has completed, else the driver requeued it. The request
 *	itself (flash_rq.rq) may be another one by now.
 *
 * @holds: do all waiting requests have to wait? Optional: no. Called while
 *	flash_queue.watches is set and requests wait, after the hooks above have changed
 *	something and before @select, once however many they were; see flash_settle(). A
 *	policy that chooses ahead chooses here the request that @select returns. If it
 *	holds them for some time, its timer calls flash_ask_again(). A policy that may hold
 *	them until few are in flight sets flash_queue.held_above in each call, to INT_MAX if
 *	any end may change the answer. It changes no limit, as it is seldom called while the
 *	limit is reached; see flash_set_bound().
 *
 * @tuned: tunable @idx has its new value. Optional. Process context, no lock held.
 * @text_tuned: text @idx has changed to @text, which its check has accepted.
 *	Optional for policies without texts. Process context, no lock held.
 * @resort: sorts one waiting request again, after flash_resort(). Returns true if none is left
 *	to be sorted. Optional for policies that do not call flash_resort(). The lock may be
 *	released between two calls, but no other hook is called until it has returned true.
 *	The requests stay counted as waiting, and keep flash_rq.seq and their class.
 * @stats: appends "key value" lines to @page at @len and returns the new length. Optional.
 *	The pending list was drained before.
 * @arrays: prints the policy's arrays into the module's debugfs file. Optional.
 */
struct flash_policy {
	const char *name;
	size_t queue_size;
	size_t rq_size;
	bool watches;
	bool ends_first;
	unsigned int tags_kept;
	unsigned int inline_tunable;
	const void *data;

	struct elv_fs_entry *attrs;
	const struct flash_tunable *tunables;
	unsigned int nr_tunables;
	unsigned int *defaults;
	const struct flash_text *texts;
	unsigned int nr_texts;
	char (*text_defaults)[FLASH_TEXT_LEN];

	int (*init)(struct flash_queue *fq);
	void (*exit)(struct flash_queue *fq);
	void (*tags_changed)(struct flash_queue *fq);

	enum flash_urgency (*urgency)(const struct flash_queue *fq, blk_opf_t opf);
	unsigned int (*tag_limit)(struct flash_queue *fq,
				  const struct blk_mq_hw_ctx *hctx, blk_opf_t opf);
	unsigned int (*bio_class)(struct flash_queue *fq, const struct bio *bio);
	bool (*front_merges)(const struct flash_queue *fq);

	void (*arrived)(struct flash_queue *fq, struct flash_rq *fr);
	unsigned int (*rq_class)(struct flash_queue *fq, const struct request *rq);
	bool (*pass)(struct flash_queue *fq, struct flash_rq *fr);
	void (*insert)(struct flash_queue *fq, struct flash_rq *fr);
	void (*grown)(struct flash_queue *fq, struct flash_rq *fr);
	void (*merged)(struct flash_queue *fq, struct flash_rq *fr,
		       struct flash_rq *gone);

	struct flash_rq *(*select)(struct flash_queue *fq);
	void (*started)(struct flash_queue *fq, struct flash_rq *fr);
	void (*completed)(struct flash_queue *fq, struct flash_rq *fr, bool ended);
	bool (*holds)(struct flash_queue *fq);

	void (*tuned)(struct flash_queue *fq, unsigned int idx);
	void (*text_tuned)(struct flash_queue *fq, unsigned int idx, const char *text);
	bool (*resort)(struct flash_queue *fq);
	int (*stats)(struct flash_queue *fq, char *page, int len);
	void (*arrays)(struct flash_queue *fq, struct seq_file *m);
};

/** flash_policy - the module's table, defined in its policy's .c file */
extern const struct flash_policy flash_policy;

/**
 * flash_hctx_rec - a record for a request that is about to be inserted
 * @fh: the request's hardware queue
 * @rq: the request
 *
 * The end of the previous request with the same tag may not be drained yet; then the
 * other record of the tag is free, as that request was drained when it was dispatched.
 *
 * Return: the record, or NULL if the table is too small because growing it had
 * failed. Such a request is dispatched at once and not accounted.
 */
static inline struct flash_rq *flash_hctx_rec(struct flash_hctx *fh,
					      struct request *rq)
{
	unsigned int tag = rq->internal_tag;
	struct flash_rq *fr;

	if (unlikely(tag >= fh->nr_recs))
		return NULL;
	fr = fh->recs + 2 * tag * flash_policy.rq_size;
	/* Pairs with the drain: it has read all of the record. */
	if (smp_load_acquire(&fr->busy))
		fr = (void *)fr + flash_policy.rq_size;
	return fr;
}

/* Does the policy watch? */
static inline bool flash_watches(const struct flash_queue *fq)
{
	return flash_policy.watches || fq->watches;
}

/* Does the policy get the hooks of this request? See flash_rq.watched */
static inline bool flash_watched(const struct flash_rq *fr)
{
	return flash_policy.watches || fr->watched;
}

/*
 * The optional hooks that each I/O needs. A module is compiled as one file, <name>/build.c,
 * so the compiler knows the table, and calls of hooks are direct or inline.
 */

static inline enum flash_urgency flash_hook_urgency(const struct flash_queue *fq,
						    blk_opf_t opf)
{
	return flash_policy.urgency ? flash_policy.urgency(fq, opf) : FLASH_PATIENT;
}

static inline unsigned int flash_hook_tag_limit(struct flash_queue *fq,
						const struct blk_mq_hw_ctx *hctx,
						blk_opf_t opf)
{
	return flash_policy.tag_limit ? flash_policy.tag_limit(fq, hctx, opf) : 0;
}

static inline unsigned int flash_hook_bio_class(struct flash_queue *fq,
						const struct bio *bio)
{
	return flash_policy.bio_class ? flash_policy.bio_class(fq, bio) : 0;
}

static inline void flash_hook_arrived(struct flash_queue *fq, struct flash_rq *fr)
{
	if (flash_policy.arrived)
		flash_policy.arrived(fq, fr);
}

static inline unsigned int flash_hook_rq_class(struct flash_queue *fq,
					       const struct request *rq)
{
	return flash_policy.rq_class ? flash_policy.rq_class(fq, rq) : 0;
}

static inline bool flash_hook_holds(struct flash_queue *fq)
{
	return flash_policy.holds && flash_policy.holds(fq);
}

#endif /* FLASH_IOSCHED_H */
