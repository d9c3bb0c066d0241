/* SPDX-License-Identifier: GPL-2.0 */
/*
 * iosched.h - what a scheduling policy is built from
 *
 * elevator.c implements the kernel's elevator interface once. A policy is a folder
 * whose .c file supplies the policy_*() functions below and reads like its
 * paper: which queue a request joins, which one goes next. common/ is linked
 * into each module, so these calls are bound at link time; no indirect call
 * stands on a hot path.
 */
#ifndef FLASH_IOSCHED_H
#define FLASH_IOSCHED_H

#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/llist.h>
#include <linux/spinlock.h>

#include "tunables.h"
#include "compat.h"
#include "op.h"
#include "../pure.h"
#include "merge.h"
#include "slot.h"

/* One scheduler tag in this many is kept, from FLASH_PATIENT tasks for instance. */
#define FLASH_TAGS_KEPT		4

/* One scheduler tag in this many is kept from FLASH_BACKGROUND tasks. */
#define FLASH_TAGS_BACKGROUND		2

/**
 * struct flash_rq - what we know of one request
 * @rq:		the request
 * @seq:	its place in the order of arrival on the device
 * @slot:	where it stands in in-flight accounting
 * @class:	the policy's class; requests of different classes never merge
 * @watched:	the policy is told what becomes of it; as flash_queue.watches was
 *		when it first came
 * @inbox:	in flash_queue.inbox, from insertion until it is taken in
 * @nth:	how many were in the inbox with it; only of the newest of those that came
 *		together
 * @by:		the task that inserted it, for comparison only; of policies with
 *		policy_inbox
 * @seam:	where the store expects bios that join it, while it waits
 *
 * Preallocated per hardware queue and scheduler tag; elv.priv[0] of the request
 * points here from insert to finish. @slot changes hands with the request: the
 * block layer never runs two hooks of one request at once.
 *
 * A policy may embed it as the first member of a record of its own
 * (policy_rec_size). What follows is then the policy's. If @watched, it is all
 * zeroes when a request is queued for the first time; it stays over a requeue.
 */
struct flash_rq {
	struct request *rq;
	u64 seq;
	enum flash_slot slot;
	unsigned int class;
	bool watched;
	struct llist_node inbox;
	unsigned int nth;
	const struct task_struct *by;
	struct flash_seam seam;
};

/**
 * struct flash_hctx - what we know of one hardware queue
 * @hctx:	the hardware queue
 * @queued:	its requests in the policy's queues; written under
 *		flash_queue.lock, read without
 * @nr_recs:	size of @recs; changes only while the queue is frozen
 * @recs:	a record of policy_rec_size bytes for each scheduler tag; queues
 *		that share their tags share the records
 */
struct flash_hctx {
	struct blk_mq_hw_ctx *hctx;
	unsigned int queued;
	unsigned int nr_recs;
	void *recs;
};

/**
 * struct flash_stats - counters since the scheduler was selected
 * @inserted:	requests handed to us, requeued ones again
 * @dispatched:	requests handed to the driver
 * @merged:	bios that a queued request has taken
 * @absorbed:	queued requests swallowed whole by a neighbour
 * @head:	inserted at the head of the dispatch order (not bounded)
 * @untracked:	inserted without a record: growing the table had failed
 * @polled:	dispatched to a poll queue (not bounded)
 * @first_expired: times that a request which had to be issued first was not in time,
 *		so that others passed it
 * @peak:	largest number in flight at once
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
	u64 first_expired;
	unsigned int peak;
};

/**
 * struct flash_inbox - requests that have come without the lock; see pending.c
 * @list:	they, the newest one first. Anybody adds; who holds the lock takes all
 * @taking:	some were taken out and may be in no queue yet; written under the lock
 * @hctx:	number of a hardware queue that one of the newest is of
 */
struct flash_inbox {
	struct llist_head list;
	bool taking;
	unsigned int hctx;
};

/**
 * struct flash_queue - one device with this scheduler selected
 * @q:		its request queue
 * @disk:	the disk's tunables, which outlive this structure
 * @lock:	guards @head, @store, @stats, @seq, @watches, each flash_hctx.queued, all
 *		writes to @queued, @nr_head, @held and @work, and the policy's
 *		queues
 * @inbox:	what has come and is not queued yet, of policies with policy_inbox
 * @inflight:	requests handed to the driver and not finished, lockless
 * @bound:	most requests that may be in flight; read without the lock
 * @queued:	requests in the policy's queues; read without the lock
 * @nr_head:	requests in @head; read without the lock
 * @held:	the policy wants none of the @queued requests to go now; read
 *		without the lock, see flash_hold()
 * @head:	goes before everything and ignores the bound: what the driver
 *		handed back, and what the flush machinery waits for
 * @store:	merge lookup over the policy's queues
 * @seq:	last flash_rq.seq given out
 * @watches:	the policy wants to know what is in flight of the requests that
 *		come from now on; policy_watches at first
 * @stats:	see there
 * @why:	why the request was chosen that policy_select() returns, an enum flash_why;
 *		written only while that is traced, see flash_tell_why()
 * @first:	dispatched, and to be issued before anything else is chosen
 * @first_nth:	how many there were so far; written under the lock
 * @first_asked: @first_nth when @first_timer was armed
 * @first_armed: @first_timer is set and has not gone off
 * @pass_on:	policy_select() leaves the next request to a worker, and returns NULL;
 *		under the lock
 * @first_timer: ends what @first keeps back, see flash_issue_first()
 * @urgent_seen: policy_urgency() was FLASH_URGENT once on this device; a policy may
 *	set that back
 * @requeued:	requests in flight that the driver handed back
 * @completed:	requests in flight that ended; at rest dispatched = completed +
 *		requeued + what was never in flight (polled, untracked)
 * @bypassed:	requests of this device that the block layer never showed us
 *		(on 6.1: flushes, FUA writes, passthrough)
 * @kicks:	hardware queues run because a slot became free
 * @inlined:	hardware queues run in the context that submitted a request
 * @node:	in the list of devices with this scheduler
 * @nr_hctx:	size of @hctx
 * @hctx:	hardware queues by number
 * @work:	bit n set: hctx[n] has requests in the policy's queues
 *
 * A policy embeds it as the first member of its own structure.
 */
struct flash_queue {
	struct request_queue *q;
	struct flash_disk *disk;

	spinlock_t lock ____cacheline_aligned_in_smp;
	struct list_head head;
	struct flash_store store;
	u64 seq;
	bool watches;
	struct flash_stats stats;
	unsigned int why;

	struct flash_inbox inbox ____cacheline_aligned_in_smp;

	atomic_t inflight ____cacheline_aligned_in_smp;
	unsigned int bound;
	unsigned int queued;
	unsigned int nr_head;
	bool held;
	struct request *first;
	unsigned int first_nth;
	unsigned int first_asked;
	unsigned int first_armed;
	bool pass_on;
	bool urgent_seen;

	atomic_long_t requeued;
	atomic_long_t completed;
	atomic_long_t bypassed;
	atomic_long_t kicks;
	atomic_long_t inlined;

	struct hrtimer first_timer;
	struct list_head node;
	unsigned int nr_hctx;
	struct flash_hctx **hctx;
	unsigned long *work;
};

/**
 * flash_rq_of - the record of a request, or NULL
 * @rq: a request for which elv_rq_ours() holds
 */
static inline struct flash_rq *flash_rq_of(const struct request *rq)
{
	return rq->elv.priv[0];
}

/**
 * flash_tun - a tunable's value now
 * @fq: the device
 * @idx: which one, an index into policy_tunables
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
void flash_insert(struct flash_queue *fq, struct flash_hctx *fh,
		  struct request *rq, bool at_head);

/* pending.c */
bool flash_inbox_waits(const struct flash_queue *fq);
bool flash_inbox_add(struct flash_queue *fq, struct flash_hctx *fh,
		     struct list_head *list);
void flash_take_in(struct flash_queue *fq);

/* inflight.c */
bool flash_ready(struct flash_queue *fq);
void flash_kick(struct flash_queue *fq, unsigned int prefer);
bool flash_needs_run(const struct flash_queue *fq, int inflight, unsigned int bound);
void flash_release(struct flash_queue *fq, unsigned int idx, bool was_first);
void flash_hold(struct flash_queue *fq, bool held);
void flash_resume(struct flash_queue *fq);
void flash_queued_add(struct flash_queue *fq, struct flash_hctx *fh);
void flash_queued_del(struct flash_queue *fq, struct flash_hctx *fh);
void flash_issue_first(struct flash_queue *fq, struct flash_rq *fr);
bool flash_first_done(struct flash_queue *fq, struct request *rq);
void flash_first_init(struct flash_queue *fq);
void flash_first_exit(struct flash_queue *fq);
void flash_take(struct flash_queue *fq, struct flash_rq *fr);

/* rqtable.c */
int flash_hctx_init(struct flash_queue *fq, struct blk_mq_hw_ctx *hctx);
void flash_hctx_exit(struct flash_queue *fq, struct blk_mq_hw_ctx *hctx);
void flash_hctx_resize(struct blk_mq_hw_ctx *hctx);
struct flash_rq *flash_hctx_rec(struct flash_hctx *fh, struct request *rq);

/*
 * The policy. Unless noted, functions run under flash_queue.lock, with
 * interrupts off, and must neither sleep nor allocate.
 */

/** policy_name - the elevator's name, at most 15 characters */
extern const char policy_name[];

/** policy_inline_tunable - index of the tunable "inline_dispatch" */
extern const unsigned int policy_inline_tunable;

/** policy_queue_size - size of the structure that begins with flash_queue */
extern const size_t policy_queue_size;

/** policy_rec_size - size of the structure that begins with flash_rq */
extern const size_t policy_rec_size;

/**
 * policy_watches - does the policy want to know what is in flight?
 *
 * If so policy_taken() and policy_finished() are called, and the lock is taken
 * once more a request, for the latter; with policy_inbox also for its coming. This is
 * how it begins; a policy may change its mind (flash_queue.watches), which holds for
 * requests that come later. One that never watches supplies neither.
 */
extern const bool policy_watches;

/**
 * policy_inbox - may requests come without the lock while nothing is watched?
 *
 * policy_insert() is called later then, before anything is decided. It must not
 * matter to the policy when that is, nor in whose context, and it must hold
 * nothing back (flash_hold()) unless it watches. Where it takes the lock itself to
 * change what waits it calls flash_take_in(); where it begins to watch it calls
 * flash_resume() after that.
 */
extern const bool policy_inbox;

/**
 * policy_init - prepare the policy's queues
 * @fq: the device
 *
 * Process context, device frozen, no lock held; may allocate.
 * Return: 0 or a negative errno.
 */
int policy_init(struct flash_queue *fq);

/** policy_exit - undo policy_init(); the queues are empty, no lock held */
void policy_exit(struct flash_queue *fq);

/** policy_rq_class - class of a request about to be queued */
unsigned int policy_rq_class(struct flash_queue *fq, const struct request *rq);

/** policy_bio_class - class that a bio would have as a request of its own */
unsigned int policy_bio_class(struct flash_queue *fq, const struct bio *bio);

/**
 * policy_front_merges - may a bio join the queued request that starts behind it?
 * @fq: the device
 *
 * A policy that does not supply it says yes.
 */
bool policy_front_merges(const struct flash_queue *fq);

/**
 * enum flash_urgency - a task's claim on the last scheduler tags
 * @FLASH_PATIENT: none
 * @FLASH_RELATED: has one, because urgent tasks may wait for it
 * @FLASH_URGENT: has one; from its first request on the last tags are kept
 * @FLASH_BACKGROUND: none, and requests of it may wait for long, with the tags that they
 *	hold: half of the tags are kept from it
 */
enum flash_urgency {
	FLASH_PATIENT,
	FLASH_RELATED,
	FLASH_URGENT,
	FLASH_BACKGROUND,
};

/**
 * policy_urgency - the current task's claim on the last scheduler tags
 * @fq: the device
 * @opf: operation and flags of the bio it is about to submit
 *
 * Submission context, no lock held.
 */
enum flash_urgency policy_urgency(const struct flash_queue *fq, blk_opf_t opf);

/**
 * policy_shallow - which scheduler tags may the current task take?
 * @fq: the device
 * @hctx: the hardware queue that its request will be of
 * @opf: operation and flags of the bio it is about to submit
 *
 * Submission context, no lock held; only asked where policy_urgency() sets no
 * limit. A task that finds none sleeps, and is not asked for again.
 * Return: what limit_depth() sets, see elv_shallow_unit(); 0: any.
 */
unsigned int policy_shallow(struct flash_queue *fq,
			    const struct blk_mq_hw_ctx *hctx, blk_opf_t opf);

/**
 * policy_shallow_part - the least that limit_depth() sets, for elv_shallow_prepare()
 *
 * Return: the largest part of the tags that is kept from a task, as for
 * elv_shallow_depth(); 0: policy_shallow() may return any number. A policy that does
 * not supply it sets no less than elv_shallow_depth() with FLASH_TAGS_KEPT.
 */
unsigned int policy_shallow_part(void);

/**
 * policy_tags_changed - nr_requests has been set, or is about to be
 * @fq: the device, frozen
 *
 * Process context, no lock held; called for each hardware queue, and when the scheduler
 * is selected. A policy that does not supply it does nothing.
 */
void policy_tags_changed(struct flash_queue *fq);

/** policy_insert - queue @fr; its class and arrival number are set */
void policy_insert(struct flash_queue *fq, struct flash_rq *fr);

/**
 * policy_select - take the request that goes next out of the policy's queues
 * @fq: the device
 *
 * Called only when something is queued, a slot is free and nothing is held. A
 * policy that holds requests back says so with flash_hold(), and not first here,
 * or the block layer polls.
 * Return: its record, or NULL if the policy wants nothing to go now, or (with
 * flash_queue.pass_on set) not by the current task.
 */
struct flash_rq *policy_select(struct flash_queue *fq);

/**
 * policy_taken - a request has taken a slot
 * @fq: the device
 * @fr: its record
 *
 * After policy_select(), or without it for what goes before everything. Requests
 * that take no slot (to poll queues, without a record) are not reported.
 */
void policy_taken(struct flash_queue *fq, struct flash_rq *fr);

/**
 * policy_finished - a request gives its slot back
 * @fq: the device
 * @fr: its record
 * @ended: it has completed; else the driver handed it back
 *
 * Exactly once for each policy_taken(), in any context, hard interrupts included,
 * and before anybody is woken for the slot.
 */
void policy_finished(struct flash_queue *fq, struct flash_rq *fr, bool ended);

/**
 * policy_grown - a queued request has taken a bio at one of its ends
 * @fq: the device
 * @fr: the request, which may start elsewhere now
 *
 * Only while flash_queue.watches is set, as the two before.
 */
void policy_grown(struct flash_queue *fq, struct flash_rq *fr);

/**
 * policy_merged - a request has swallowed another one
 * @fq: the device
 * @fr: the request that stays; it inherits the place of @gone if that was first
 * @gone: the other one, to be taken out of the queues
 */
void policy_merged(struct flash_queue *fq, struct flash_rq *fr,
		   struct flash_rq *gone);

/** policy_tuned - tunable @idx changed; process context, no lock held */
void policy_tuned(struct flash_queue *fq, unsigned int idx);

/**
 * policy_text_tuned - text @idx is to change
 * @fq: the device
 * @idx: which one, an index into policy_texts
 * @text: the new one, which its check has passed
 *
 * Process context, no lock held. Only policies with texts supply it.
 */
void policy_text_tuned(struct flash_queue *fq, unsigned int idx,
		       const char *text);

/** policy_stats - append the policy's own "key value" lines at @len */
int policy_stats(struct flash_queue *fq, char *page, int len);

/** policy_arrays - print the policy's arrays into the module's debugfs file */
void policy_arrays(struct flash_queue *fq, struct seq_file *m);

/** policy_attrs - sysfs attributes, ended by an empty entry */
extern struct elv_fs_entry policy_attrs[];

#endif /* FLASH_IOSCHED_H */
