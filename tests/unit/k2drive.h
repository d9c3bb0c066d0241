/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2drive.h - K2's own hooks (k2.c, cgroups.c), on a device with one hardware queue
 *
 * As much of the kernel as the two files and iosched.h need, for one thread. The driver
 * does what elevator.c does: it inserts a request, dispatches while a slot is free and
 * nothing is held, and completes it.
 */
#ifndef K2DRIVE_H
#define K2DRIVE_H

#include <errno.h>
#include <limits.h>

/* Headers with block-layer or kernel types that the stand-ins below replace */
#define FLASH_COMPAT_H
#define FLASH_TRACE_H

#include <linux/blk_types.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/math64.h>
#include <linux/rbtree.h>
#include "common/elevator/seam.h"
#include "common/flash/layout.h"
#include "tap.h"

/* The compiler, locks and memory */
#define ____cacheline_aligned_in_smp
#define __rcu
#define __acquires(lock)
#define __releases(lock)
#define READ_ONCE(x)		(x)
#define WRITE_ONCE(x, v)	((x) = (v))
#define smp_store_release(p, v)	(*(p) = (v))
#define smp_load_acquire(p)	(*(p))
#define smp_rmb()		((void)0)
#define llist_empty(h)		(!(h)->first)
#define llist_del_all(h)	((h)->first)
#define llist_reverse_order(n)	(n)
#define lockdep_assert_held(l)	((void)(l))
#define lockdep_is_held(l)	((void)(l), true)
#define spin_lock_irq(l)	((void)(l))
#define spin_lock_irqsave(l, flags) ((void)(l), (flags) = 0)
#define spin_unlock_irq(l)	((void)(l))
#define spin_unlock_irqrestore(l, flags) ((void)(l), (void)(flags))
#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)
#define rcu_access_pointer(p)	(p)
#define rcu_dereference_check(p, c) (p)
#define rcu_dereference_protected(p, c) (p)
#define rcu_replace_pointer(p, new, c) \
	({ __typeof__(p) old_ = (p); (void)(c); (p) = (new); old_; })
#define kfree_rcu(p, rcu)	free(p)
#define kmalloc(size, flags)	malloc(size)
#define kvzalloc(size, flags)	calloc(1, size)
#define kvzalloc_node(size, flags, node) ((void)(node), calloc(1, size))
#define kfree(p)		free(p)
#define kvfree(p)		free(p)
#define IS_ENABLED(option)	0
#define DECLARE_STATIC_CALL(name, func)
#define NSEC_PER_USEC		1000L
#define NSEC_PER_MSEC		1000000L

typedef int spinlock_t;
typedef struct { long counter; } atomic_long_t;
struct rcu_head { int unused; };
struct hrtimer { int unused; };
struct task_struct;
struct dentry;
struct seq_file;

static int warned;
#define WARN_ON_ONCE(x)		((void)(warned += !!(x)))

/* The time, ns */
static u64 drive_now = 1000000;
#define ktime_get_ns()		drive_now

/* The block layer */
typedef u32 blk_opf_t;
struct request_queue { int node; };
struct blk_mq_hw_ctx { unsigned int queue_num; };
struct elevator_queue { void *elevator_data; };
struct cgroup_subsys_state { u64 id; };
struct kernel_param_ops { int unused; };

struct bio {
	blk_opf_t bi_opf;
	unsigned short bi_ioprio;
	struct bio *bi_next;
};

struct request {
	struct list_head queuelist;
	struct {
		void *priv[2];
	} elv;
	struct bio *bio;
	enum req_op op;
	u64 sector;
	u32 sectors;
	u32 rq_flags;
	unsigned short ioprio;
	unsigned int internal_tag;
};

#define RQF_FLUSH_SEQ		1U
#define REQ_META		1U
#define REQ_PRIO		2U
#define REQ_SWAP		4U
#define IOPRIO_CLASS_RT		1
#define IOPRIO_CLASS_BE		2
#define IOPRIO_CLASS_IDLE	3
#define IOPRIO_PRIO_VALUE(class, level) ((unsigned short)((class) << 13 | (level)))
#define IOPRIO_PRIO_CLASS(prio)	((prio) >> 13)
#define compat_ioprio_level(prio)	((prio) & 7U)
#define req_get_ioprio(rq)	((rq)->ioprio)
#define get_current_ioprio()	((unsigned short)0)
#define blk_rq_sectors(rq)	((rq)->sectors)
#define blk_rq_pos(rq)		((rq)->sector)
#define req_op(rq)		((rq)->op)
#define bio_blkcg_css(bio)	((struct cgroup_subsys_state *)(void *)(bio))

/* Attributes and parameters: their tables are compiled, and no more */
struct elv_fs_entry {
	struct {
		const char *name;
		int mode;
	} attr;
	ssize_t (*show)(struct elevator_queue *eq, char *page);
	ssize_t (*store)(struct elevator_queue *eq, const char *page, size_t count);
};
#define module_param_cb(name, ops, arg, mode) _Static_assert(1, "")
#define MODULE_PARM_DESC(name, text)	_Static_assert(1, "")
#define MODULE_ALIAS(text)		_Static_assert(1, "")
#define MODULE_DESCRIPTION(text)	_Static_assert(1, "")
#define MODULE_LICENSE(text)		_Static_assert(1, "")
#define match_string(words, nr, text)	(0 * (int)(nr) * !(words)[0] * !*(text))

enum flash_why {
	FLASH_WHY_META_TURN, FLASH_WHY_NRT_TURN, FLASH_WHY_IDLE_TURN, FLASH_WHY_CHIPS,
	FLASH_WHY_AGED, FLASH_WHY_SET, FLASH_WHY_SEARCH, FLASH_WHY_OPEN, FLASH_WHY_CALIBRATE,
};
#define trace_flash_bound(fq, limit, reason)	((void)(reason))
#define flash_tell_why(fq, reason)		((fq)->why = (reason))

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "common/elevator/cgroup.h"
#include "common/elevator/iosched.h"
#pragma GCC diagnostic pop

#define NONE(attr) \
	{ (void)eq; (void)page; return attr; }

/* What the core supplies; no test reads or writes an attribute */
const struct kernel_param_ops flash_param_ops, flash_text_param_ops;
ssize_t flash_tunable_show(struct elevator_queue *eq, char *page, unsigned int idx) NONE(idx)
ssize_t flash_text_show(struct elevator_queue *eq, char *page, unsigned int idx) NONE(idx)
ssize_t flash_inflight_show(struct elevator_queue *eq, char *page) NONE(0)
ssize_t flash_stats_show(struct elevator_queue *eq, char *page) NONE(0)
ssize_t flash_tunable_store(struct elevator_queue *eq, const char *page, size_t count,
			    unsigned int idx) NONE((ssize_t)(count + idx))
ssize_t flash_text_store(struct elevator_queue *eq, const char *page, size_t count,
			 unsigned int idx) NONE((ssize_t)(count + idx))
ssize_t flash_groups_store(struct elevator_queue *eq, const char *page, size_t count,
			   const struct flash_group_attr *attr) NONE((ssize_t)(count * !attr))
#undef NONE
#define flash_groups_near(g, nr, css) \
	((void)(g), (void)(nr), (void)(css), FLASH_GROUP_NONE)
#define flash_groups_print(g, nr, from, page) ((void)(g), (void)(page), (ssize_t)(nr))
#define flash_disk_name(fq)			((void)(fq), "disk")
#define flash_has_no_nul(page, count, who, name)	((void)(page), (void)(who), (count) > 0)
#define flash_number(text, who, name, min, max, val) \
	((void)(text), (void)(who), *(val) = (max), 0)
#define flash_word_check(words, nr, text)	((void)(words), (void)(text), (int)(nr))
#define flash_may_issue(fr)			((void)(fr), true)
#define flash_issue_first(fq, fr)		((void)(fq), (void)(fr))
#define flash_resume(fq)			((void)(fq))
#define flash_lock(fq)				((void)(fq))
#define flash_unlock(fq)			flash_ask_holds(fq)

void flash_ask_holds(struct flash_queue *fq)
{
	fq->held = flash_policy.holds(fq);
}

#include "k2/k2.h"

#define SHOWN(name) \
	ssize_t name(struct elevator_queue *eq, char *page) { (void)eq; (void)page; return 0; }
SHOWN(k2_bound_show)
SHOWN(k2_tail_show)
SHOWN(k2_share_show)
SHOWN(k2_infeasible_show)
SHOWN(k2_calibrate_show)
#undef SHOWN

int k2_stats(struct flash_queue *fq, char *page, int len)
{
	(void)fq;
	(void)page;
	return len;
}

void k2_arrays(struct flash_queue *fq, struct seq_file *m)
{
	(void)fq;
	(void)m;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wconversion"
#include "k2/cgroups.c"
#include "k2/k2.c"
#pragma GCC diagnostic pop

/* The device */

#define DRIVE_RQS	4096

/* A request: its place in the array is its place in the order of insertion. */
struct drive_rq {
	struct request rq;
	struct bio bio;
	struct k2_rq rec;
	bool gone, out;
};

static struct flash_disk drive_disk;
static struct request_queue drive_q;
static struct k2_queue k2;
static struct drive_rq drive_rqs[DRIVE_RQS];
static unsigned int drive_nr, drive_inflight;
/* Dispatched requests, in order */
static unsigned int drive_trace[DRIVE_RQS], drive_dispatches;

static inline void drive_set(unsigned int tunable, unsigned int value)
{
	drive_disk.val[tunable] = value;
	k2_tuned(&k2.fq, tunable);
}

/* Undo drive_init(); all requests have completed. */
static inline void drive_exit(void)
{
	if (!k2.al)
		return;
	k2_exit(&k2.fq);
	free(drive_disk.policy_data);
	drive_disk.policy_data = NULL;
	k2.al = NULL;
}

/* Select K2 with its defaults and an in-flight limit; a wait of 0: no idle class */
static inline void drive_init(unsigned int limit)
{
	unsigned int i;

	/* Requests of the test before are dropped with their queues. */
	if (k2.al) {
		kvfree(k2.chips);
		kvfree(k2.al);
		k2_groups_exit(&k2);
		free(drive_disk.policy_data);
	}
	memset(&k2, 0, sizeof(k2));
	memset(&drive_disk, 0, sizeof(drive_disk));
	for (i = 0; i < NR_TUN; i++)
		drive_disk.val[i] = flash_defaults[i];
	drive_disk.val[TUN_max_inflight] = limit;
	strcpy(drive_disk.text[TEXT_layout], "none");
	drive_nr = drive_dispatches = drive_inflight = 0;
	k2.fq.q = &drive_q;
	k2.fq.disk = &drive_disk;
	if (k2_init(&k2.fq)) {
		printf("Bail out! no memory\n");
		exit(EXIT_FAILURE);
	}
}

/* Make a request of a class, as its submitter would, and insert it. */
static inline unsigned int drive_insert(unsigned int class, enum req_op op, u64 sector, u32 sectors)
{
	struct drive_rq *d = &drive_rqs[drive_nr];
	struct flash_rq *fr = &d->rec.fr;

	memset(d, 0, sizeof(*d));
	d->rq.bio = &d->bio;
	d->rq.op = op;
	d->rq.sector = sector;
	d->rq.sectors = sectors;
	if (class < K2_RT_LEVELS)
		d->rq.ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, class);
	else if (class == K2_IDLE)
		d->rq.ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0);
	d->bio.bi_opf = class == K2_META ? REQ_META : 0;
	fr->rq = &d->rq;
	fr->watched = k2.fq.watches;
	fr->seq = ++k2.fq.seq;
	d->rq.elv.priv[0] = fr;
	fr->class = k2_rq_class(&k2.fq, &d->rq);
	flash_slot_insert(&fr->slot);
	k2_insert(&k2.fq, fr);
	k2.fq.queued++;
	flash_ask_holds(&k2.fq);
	return drive_nr++;
}

static inline bool drive_dispatch_one(void)
{
	struct flash_queue *fq = &k2.fq;
	struct flash_rq *fr;
	struct drive_rq *d;

	if (!fq->queued || fq->held || !flash_slot_free((int)drive_inflight, fq->bound))
		return false;
	fr = k2_select(fq);
	d = container_of(fr, struct drive_rq, rec.fr);
	d->gone = d->out = true;
	drive_inflight += flash_slot_dispatch(&fr->slot);
	fq->inflight.counter = (int)drive_inflight;
	if (fr->watched)
		k2_started(fq, fr);
	fq->queued--;
	flash_ask_holds(fq);
	drive_trace[drive_dispatches++ % DRIVE_RQS] = (unsigned int)(d - drive_rqs);
	return true;
}

static inline unsigned int drive_dispatch(void)
{
	unsigned int n = 0;

	while (drive_dispatch_one())
		n++;
	return n;
}

/* The latest dispatched request */
static inline unsigned int drive_last(void)
{
	return drive_trace[(drive_dispatches - 1) % DRIVE_RQS];
}

/* A request leaves the device: it completes, or is requeued and never inserted again. */
static inline void drive_end(unsigned int i, bool completed)
{
	struct flash_rq *fr = &drive_rqs[i].rec.fr;

	drive_rqs[i].out = false;
	if (fr->watched)
		k2_completed(&k2.fq, fr, completed);
	drive_inflight -= completed ? flash_slot_finish(&fr->slot) : flash_slot_requeue(&fr->slot);
	k2.fq.inflight.counter = (int)drive_inflight;
	flash_ask_holds(&k2.fq);
}

#endif /* K2DRIVE_H */
