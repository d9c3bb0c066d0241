/* SPDX-License-Identifier: GPL-2.0 */
/*
 * compat.h - the one place that knows how kernels differ
 *
 * A blk-mq elevator is built against interfaces that live in block/ of the
 * kernel tree: block/elevator.h, block/blk-mq.h, block/blk-mq-sched.h and
 * block/blk.h. Header packages do not ship them, so this file restates the
 * few structures and functions that we need, and hides every difference between
 * kernels behind a wrapper.
 *
 * Stable updates and distributions change these interfaces in the middle of a
 * series, so no version is tested here or elsewhere. Each difference is a feature,
 * a macro ELV_<NAME> with a value for the kernel that is built for.
 * scripts/abi-check finds the values: in the kernel's BTF for private interfaces,
 * by compilation for public headers. Neither vermagic nor symbol CRCs notice a
 * structure restated wrongly, so it then compiles this file with these values and
 * compares every structure and prototype below with the BTF. It refuses values
 * and combinations of values that are not in scripts/lib/elvfeatures.py.
 *
 * BTF does not show the meaning of a value: meaning.h. It does not show the
 * pairing of hooks either; a comment at the wrapper concerned states it.
 *
 * A new feature: add it to elvfeatures.py with the combinations that have it,
 * restate it here, run scripts/abi-check, then the test suite on that kernel.
 */
#ifndef FLASH_COMPAT_H
#define FLASH_COMPAT_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/hashtable.h>
#include <linux/hrtimer.h>
#include <linux/ioprio.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sbitmap.h>
#include <linux/sched/isolation.h>

/*
 * Features
 *
 * In the kernel's BTF:
 *
 * ELV_INSERT_BOOL	insert_requests() takes bool at_head, no flags
 * ELV_HAS_FEATURES	elevator_type.elevator_features
 * ELV_QUEUE_REGISTERED	elevator_queue.registered, not flags
 * ELV_CACHED_RQ_PTR	blk_mq_alloc_data.cached_rq, not cached_rqs
 * ELV_CONST_ATTRS	elevator_attrs points to const
 * ELV_CORE_QUEUE	init_sched() gets an elevator_queue that the core made
 * ELV_QUEUE_TAGS	elevator_queue.et
 * ELV_DEPTH_OF_QUEUE	depth_updated() once for the device
 * ELV_SCHED_DATA	the hooks alloc_sched_data() and free_sched_data()
 * ELV_ASYNC_DEPTH	request_queue.async_depth
 * ELV_DEBUGFS_ATTRS	elevator_type.queue_debugfs_attrs, hctx_debugfs_attrs
 * ELV_RESERVED_*	reserved members that end a struct, in units of 8 bytes
 *
 * In public headers:
 *
 * ELV_LIMITS_AT_ALLOC	blk_mq_alloc_disk() takes limits
 * ELV_HRTIMER_SETUP	hrtimer_setup(), not hrtimer_init()
 * ELV_CPU_IS_ISOLATED	cpu_is_isolated()
 * ELV_SHOULD_MERGE	BLK_MQ_F_SHOULD_MERGE; without it every disk merges
 *
 * Their combination:
 *
 * ELV_STATUS		2: tested, 1: reviewed, 0: not reviewed
 *
 * With ELV_RESTATED_ONLY, scripts/abi-check compiles the restated part for a
 * kernel without its headers.
 */
#ifndef ELV_CORE_QUEUE
# error "features of this kernel are missing: build with the top Makefile, it runs scripts/abi-check"
#endif

#if ELV_STATUS == 2
# define ELV_LAYOUT_STATUS	"tested"
#elif ELV_STATUS == 1
# define ELV_LAYOUT_STATUS	"reviewed, not tested"
#else
# define ELV_LAYOUT_STATUS	"not reviewed"
#endif

/* block/elevator.h */

enum elv_merge {
	ELEVATOR_NO_MERGE	= 0,
	ELEVATOR_FRONT_MERGE	= 1,
	ELEVATOR_BACK_MERGE	= 2,
	ELEVATOR_DISCARD_MERGE	= 3,
};

struct blk_mq_alloc_data;
struct blk_mq_debugfs_attr;
struct elevator_queue;
struct elevator_tags;
struct elevator_type;
struct io_cq;

#if ELV_INSERT_BOOL
typedef bool blk_insert_t;
# define BLK_MQ_INSERT_AT_HEAD	true
#else
typedef unsigned int __bitwise blk_insert_t;
# define BLK_MQ_INSERT_AT_HEAD	((__force blk_insert_t)0x01)
#endif

/* The second argument of init_sched() */
#if ELV_CORE_QUEUE
typedef struct elevator_queue compat_init_arg_t;
#else
typedef struct elevator_type compat_init_arg_t;
#endif

/* The argument of depth_updated() */
#if ELV_DEPTH_OF_QUEUE
typedef struct request_queue compat_depth_arg_t;
#else
typedef struct blk_mq_hw_ctx compat_depth_arg_t;
#endif

struct elevator_mq_ops {
	int (*init_sched)(struct request_queue *q, compat_init_arg_t *arg);
	void (*exit_sched)(struct elevator_queue *eq);
	int (*init_hctx)(struct blk_mq_hw_ctx *hctx, unsigned int idx);
	void (*exit_hctx)(struct blk_mq_hw_ctx *hctx, unsigned int idx);
	void (*depth_updated)(compat_depth_arg_t *arg);
#if ELV_SCHED_DATA
	/* Not used: what init_sched() and exit_sched() do is enough. */
	void *(*alloc_sched_data)(struct request_queue *q);
	void (*free_sched_data)(void *data);
#endif

	bool (*allow_merge)(struct request_queue *q, struct request *rq, struct bio *bio);
	bool (*bio_merge)(struct request_queue *q, struct bio *bio, unsigned int nr_segs);
	int (*request_merge)(struct request_queue *q, struct request **rq, struct bio *bio);
	void (*request_merged)(struct request_queue *q, struct request *rq, enum elv_merge type);
	void (*requests_merged)(struct request_queue *q, struct request *rq,
				struct request *next);
	void (*limit_depth)(blk_opf_t opf, struct blk_mq_alloc_data *data);
	void (*prepare_request)(struct request *rq);
	void (*finish_request)(struct request *rq);
	void (*insert_requests)(struct blk_mq_hw_ctx *hctx,
				struct list_head *list, blk_insert_t flags);
	struct request *(*dispatch_request)(struct blk_mq_hw_ctx *hctx);
	bool (*has_work)(struct blk_mq_hw_ctx *hctx);
	void (*completed_request)(struct request *rq, u64 now);
	void (*requeue_request)(struct request *rq);
	struct request *(*former_request)(struct request_queue *q, struct request *rq);
	struct request *(*next_request)(struct request_queue *q, struct request *rq);
	void (*init_icq)(struct io_cq *icq);
	void (*exit_icq)(struct io_cq *icq);
#if ELV_RESERVED_OPS
	unsigned long elv_reserved[ELV_RESERVED_OPS];
#endif
};

struct elv_fs_entry {
	struct attribute attr;
	ssize_t (*show)(struct elevator_queue *eq, char *page);
	ssize_t (*store)(struct elevator_queue *eq, const char *page, size_t count);
};

/* Longest elevator name, with its terminating zero. */
#define ELV_NAME_MAX	16

struct elevator_type {
	struct kmem_cache *icq_cache;
	struct elevator_mq_ops ops;
	size_t icq_size;
	size_t icq_align;
#if ELV_CONST_ATTRS
	const struct elv_fs_entry *elevator_attrs;
#else
	struct elv_fs_entry *elevator_attrs;
#endif
	const char *elevator_name;
	const char *elevator_alias;
#if ELV_HAS_FEATURES
	const unsigned int elevator_features;
#endif
	struct module *elevator_owner;
#if ELV_DEBUGFS_ATTRS
	const struct blk_mq_debugfs_attr *queue_debugfs_attrs;
	const struct blk_mq_debugfs_attr *hctx_debugfs_attrs;
#endif
	char icq_cache_name[ELV_NAME_MAX + 6];
	struct list_head list;
#if ELV_RESERVED_TYPE
	unsigned long elv_reserved[ELV_RESERVED_TYPE];
#endif
};

#define ELV_HASH_BITS	6

struct elevator_queue {
	struct elevator_type *type;
#if ELV_QUEUE_TAGS
	struct elevator_tags *et;
#endif
	void *elevator_data;
	struct kobject kobj;
	struct mutex sysfs_lock;
#if ELV_QUEUE_REGISTERED
	unsigned int registered:1;
#else
	unsigned long flags;
#endif
	DECLARE_HASHTABLE(hash, ELV_HASH_BITS);
#if ELV_RESERVED_QUEUE
	unsigned long elv_reserved[ELV_RESERVED_QUEUE];
#endif
};

int elv_register(struct elevator_type *e);
void elv_unregister(struct elevator_type *e);
#if !ELV_CORE_QUEUE
struct elevator_queue *elevator_alloc(struct request_queue *q,
				      struct elevator_type *e);
#endif
bool elv_bio_merge_ok(struct request *rq, struct bio *bio);
void elv_rqhash_add(struct request_queue *q, struct request *rq);
void elv_rqhash_del(struct request_queue *q, struct request *rq);
void elv_rb_add(struct rb_root *root, struct request *rq);
void elv_rb_del(struct rb_root *root, struct request *rq);
struct request *elv_rb_find(struct rb_root *root, sector_t sector);
struct request *elv_rb_former_request(struct request_queue *q,
				      struct request *rq);
struct request *elv_rb_latter_request(struct request_queue *q,
				      struct request *rq);

/* block/blk-mq.h: only limit_depth() sees it */

struct blk_mq_ctx;

struct blk_mq_alloc_data {
	struct request_queue *q;
	blk_mq_req_flags_t flags;
	unsigned int shallow_depth;
	blk_opf_t cmd_flags;
	req_flags_t rq_flags;
	unsigned int nr_tags;
#if ELV_CACHED_RQ_PTR
	struct request **cached_rq;
#else
	struct rq_list *cached_rqs;
#endif
	struct blk_mq_ctx *ctx;
	struct blk_mq_hw_ctx *hctx;
#if ELV_RESERVED_ALLOC
	unsigned long elv_reserved[ELV_RESERVED_ALLOC];
#endif
};

/* block/blk-mq-sched.h */

bool blk_mq_sched_try_merge(struct request_queue *q, struct bio *bio,
			    unsigned int nr_segs, struct request **merged);

#ifndef ELV_RESTATED_ONLY

/* Wrappers: what the rest of the project uses */

/*
 * Life of an elevator_queue
 *
 * Without ELV_CORE_QUEUE, init_sched() allocates it. Before exit_sched() the core removes
 * the attributes from sysfs and waits for tasks that read one.
 *
 * With it, the core makes it, and gives it back if init_sched() fails. The
 * attributes appear after init_sched() and stay beyond exit_sched(), which the
 * core calls with elevator_queue.sysfs_lock held. It calls the attributes'
 * functions under the same lock, and no more once exit_sched() has run. The
 * elevator's debugfs attributes have no such protection, so we have none.
 */

/*
 * compat_queue_get - the elevator_queue that init_sched() has to fill
 *
 * Call it before anything that can fail: without ELV_CORE_QUEUE the module reference that
 * the core took is given back by the release of this object and by nothing else.
 * NULL when out of memory.
 */
static inline struct elevator_queue *compat_queue_get(struct request_queue *q,
						   compat_init_arg_t *arg)
{
#if ELV_CORE_QUEUE
	return arg;
#else
	return elevator_alloc(q, arg);
#endif
}

/* compat_queue_put - release it when init_sched() fails later on */
static inline void compat_queue_put(struct elevator_queue *eq)
{
#if !ELV_CORE_QUEUE
	kobject_put(&eq->kobj);
#endif
}

/* compat_queue_attach - let @q use @eq, which is ready, from now on */
static inline void compat_queue_attach(struct request_queue *q,
				    struct elevator_queue *eq, void *data)
{
	eq->elevator_data = data;
	q->elevator = eq;
#if ELV_ASYNC_DEPTH
	/* Otherwise the limit of the previous scheduler stays in force. */
	q->async_depth = q->nr_requests;
#endif
}

/*
 * compat_depth_for_each_hctx - iterate over the hardware queues of a depth_updated()
 * @arg: the argument of depth_updated()
 * @hctx: loop variable, a hardware queue
 * @i: loop variable, an unsigned long
 */
#if ELV_DEPTH_OF_QUEUE
# define compat_depth_for_each_hctx(arg, hctx, i) \
	queue_for_each_hw_ctx(arg, hctx, i)
#else
# define compat_depth_for_each_hctx(arg, hctx, i) \
	for ((i) = 0, (hctx) = (arg); !(i); (i)++)
#endif

/* Private data of the elevator attached to @q (the caller holds it there). */
static inline void *compat_queue_data(struct request_queue *q)
{
	return q->elevator->elevator_data;
}

#ifdef RQF_USE_SCHED
# define ELV_RQF_OURS	RQF_USE_SCHED
#else
# define ELV_RQF_OURS	RQF_ELVPRIV
#endif

/*
 * compat_rq_ours - may elv.priv of @rq be used?
 *
 * The core calls prepare_request() and finish_request() for these requests
 * only. For the others elv.priv is not ours to read: on 6.1 it shares its
 * memory with the state of the flush machinery.
 */
static inline bool compat_rq_ours(const struct request *rq)
{
	return !!(rq->rq_flags & ELV_RQF_OURS);
}

/* block/blk.h: rq_mergeable() */
static inline bool compat_rq_mergeable(const struct request *rq)
{
	enum req_op op = req_op(rq);

	return !blk_rq_is_passthrough((struct request *)rq) && op != REQ_OP_FLUSH &&
	       op != REQ_OP_WRITE_ZEROES && op != REQ_OP_ZONE_APPEND &&
	       !(rq->cmd_flags & REQ_NOMERGE_FLAGS) && !(rq->rq_flags & RQF_NOMERGE_FLAGS);
}

/* block/blk.h: blk_discard_mergable() */
static inline bool compat_discard_mergeable(const struct request *rq)
{
	return req_op(rq) == REQ_OP_DISCARD && queue_max_discard_segments(rq->q) > 1;
}

/* True once the disk is being removed for good, not merely re-configured. */
static inline bool compat_disk_dying(const struct gendisk *disk)
{
	return test_bit(GD_DEAD, &disk->state);
}

/*
 * compat_hctx_tags - number of scheduler tags that a hardware queue may ever use
 *
 * Valid in init_hctx() and in depth_updated(), where q->nr_requests still has
 * its old value on 6.x.
 */
static inline unsigned int compat_hctx_tags(const struct blk_mq_hw_ctx *hctx)
{
	return hctx->sched_tags->nr_tags;
}

/*
 * compat_queue_depth - number of requests that the driver takes at a time
 *
 * Poll queues do not count: their requests take no slot. UINT_MAX if several other hardware
 * queues have tags of their own: one may have free tags while requests for another one wait.
 */
static inline unsigned int compat_queue_depth(struct request_queue *q)
{
	unsigned int depth = UINT_MAX;
	struct blk_mq_hw_ctx *hctx;
	unsigned long i;

	queue_for_each_hw_ctx(q, hctx, i) {
		if (hctx->type == HCTX_TYPE_POLL || !hctx->tags)
			continue;
		if (depth != UINT_MAX && !(hctx->flags & BLK_MQ_F_TAG_HCTX_SHARED))
			return UINT_MAX;
		depth = READ_ONCE(hctx->tags->bitmap_tags.sb.depth);
	}
	return depth;
}

/* compat_hctx_depth - number of scheduler tags in use as nr_requests says now */
static inline unsigned int compat_hctx_depth(const struct blk_mq_hw_ctx *hctx)
{
	return READ_ONCE(hctx->sched_tags->bitmap_tags.sb.depth);
}

/* compat_hctx_free - number of these tags that are free */
static inline unsigned int compat_hctx_free(const struct blk_mq_hw_ctx *hctx)
{
	const struct sbitmap *sb = &hctx->sched_tags->bitmap_tags.sb;
	unsigned int all = compat_hctx_depth(hctx), used;

	/* Other tasks allocate and free tags at the same time. */
	used = data_race(sbitmap_weight(sb));
	return all - min(all, used);
}

/*
 * compat_hctx_set - number of the set that a hardware queue's scheduler tags are of
 *
 * Below nr_hw_queues; all hardware queues have the same one if they share tags.
 */
static inline unsigned int compat_hctx_set(const struct blk_mq_hw_ctx *hctx)
{
	return hctx->flags & BLK_MQ_F_TAG_HCTX_SHARED ? 0 : hctx->queue_num;
}

#include "meaning.h"

/*
 * compat_shallow_depth - the value for limit_depth() that leaves 1/@part of the tags free
 *
 * At least one tag remains usable.
 */
static inline unsigned int compat_shallow_depth(const struct blk_mq_hw_ctx *hctx,
					     unsigned int part)
{
	unsigned int all = compat_shallow_unit(hctx);

	return max(all - DIV_ROUND_UP(all, part), 1U);
}

/*
 * compat_async_depth - the limit that queue/async_depth sets for this operation
 *
 * The attribute limits every operation except synchronous reads, which all reads are, as
 * in the kernel's own schedulers. Where it exists, it and shallow_depth count tags of the
 * whole bitmap. Return: a value for limit_depth(); 0: no limit.
 */
static inline unsigned int compat_async_depth(const struct request_queue *q, blk_opf_t opf)
{
#if ELV_ASYNC_DEPTH
	unsigned int depth = READ_ONCE(q->async_depth);

	if (depth < READ_ONCE(q->nr_requests) && (op_is_write(opf) || !op_is_sync(opf)))
		return depth;
#endif
	return 0;
}

/*
 * compat_shallow_prepare - announce the smallest value that limit_depth() will use
 * @hctx: the hardware queue
 * @part: the argument of later calls of compat_shallow_depth(); 0: any value may be used
 *
 * For init_hctx() and depth_updated(). On 6.x, tags shared by all hardware
 * queues change their depth only after depth_updated(), so for those it is 1.
 * The value is the number of freed tags after which one batch of sleepers is woken. With 1
 * each freed tag wakes one sleeper, so a sleeper that may not use the tag delays the others
 * until the next tag is freed and no longer.
 */
static inline void compat_shallow_prepare(struct blk_mq_hw_ctx *hctx,
				       unsigned int part)
{
	bool any = !part || hctx->flags & BLK_MQ_F_TAG_HCTX_SHARED;
	unsigned int least = any ? 1 : compat_shallow_depth(hctx, part);

	least = min_not_zero(least, compat_async_depth(hctx->queue, REQ_OP_WRITE));
	sbitmap_queue_min_shallow_depth(&hctx->sched_tags->bitmap_tags, least);
}

/* Is @cpu isolated: is work of other CPUs kept away from it? */
static inline bool compat_cpu_isolated(int cpu)
{
#if ELV_CPU_IS_ISOLATED
	return cpu_is_isolated(cpu);
#else
	return !housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN) ||
	       !housekeeping_test_cpu(cpu, HK_TYPE_TICK);
#endif
}

/* Would the core use a worker of an isolated CPU, now or after its next change of CPU? */
static inline bool compat_run_disturbs(struct blk_mq_hw_ctx *hctx)
{
	unsigned int cpu;

	if (hctx->queue->nr_hw_queues == 1 || cpumask_empty(hctx->cpumask))
		return compat_cpu_isolated(raw_smp_processor_id());
	/* On kernels so old, no CPU becomes isolated after the queue was made. */
	if (!ELV_CPU_IS_ISOLATED)
		return false;
	if (compat_cpu_isolated(READ_ONCE(hctx->next_cpu)))
		return true;
	/* The core changes to another CPU when next_cpu_batch has reached 0. */
	if (READ_ONCE(hctx->next_cpu_batch) > 1)
		return false;
	for_each_cpu(cpu, hctx->cpumask) {
		if (compat_cpu_isolated(cpu))
			return true;
	}
	return false;
}

/*
 * compat_run_hctx - have a worker run a hardware queue, on no isolated CPU
 *
 * The core excludes isolated CPUs from the workers that run a hardware queue (seen in
 * 6.1.192), but only CPUs that were isolated when the queue was made, and not if there is
 * only one hardware queue or if the queue serves isolated CPUs only. In those cases the
 * worker is on the CPU that asks, which is the one where a request has completed.
 *
 * A run that is queued and has not begun will see all that the caller has written before its
 * last full barrier: workers have one between the mark that a work is pending and its function.
 * Many requests may complete before it begins, and queueing it again costs more than the rest of
 * a completion here. A delayed run may be far away, unless its timer is about to be armed,
 * with interrupts off: then the hardware queue was busy a moment ago, and is run 3 ms later.
 */
static inline void compat_run_hctx(struct blk_mq_hw_ctx *hctx)
{
	int cpu;

	if (work_pending(&hctx->run_work.work) && !timer_pending(&hctx->run_work.timer))
		return;
	if (compat_run_disturbs(hctx) && !test_bit(BLK_MQ_S_STOPPED, &hctx->state)) {
		for_each_cpu_and(cpu, housekeeping_cpumask(HK_TYPE_DOMAIN),
				 cpu_online_mask) {
			if (compat_cpu_isolated(cpu))
				continue;
			kblockd_mod_delayed_work_on(cpu, &hctx->run_work, 0);
			return;
		}
	}
	blk_mq_delay_run_hw_queue(hctx, 0);
}

/* ioprio level, 0 (highest) to 7; newer kernels keep hints above these bits */
static inline unsigned int compat_ioprio_level(unsigned short ioprio)
{
	return ioprio & 7;
}

/* compat_hrtimer_setup - a timer of the monotonic clock */
static inline void compat_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*function)(struct hrtimer *),
				     enum hrtimer_mode mode)
{
#if ELV_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

#endif /* ELV_RESTATED_ONLY */

#endif /* FLASH_COMPAT_H */
