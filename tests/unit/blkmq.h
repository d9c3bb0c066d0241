/* SPDX-License-Identifier: GPL-2.0 */
/*
 * blkmq.h - the parts of the kernel that the hooks need in user space: common/elevator/ with
 * real threads (elvdrive.h), and K2 (k2drive.h)
 *
 * A thread may lose the processor before and after each access to shared data. That finds
 * races between orders of steps. Memory ordering is as strict as the machine's, or
 * stricter, so missing barriers are not found.
 *
 * Under ThreadSanitizer each access has at most the ordering that the kernel promises:
 * READ_ONCE() and WRITE_ONCE() order nothing, an RMW that returns a value orders both ways,
 * and only through its own variable. So plain data that one context writes and another one
 * reads is reported, unless a lock, a release and an acquire, or such an RMW is between them.
 */
#ifndef BLKMQ_H
#define BLKMQ_H

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>


#define FLASH_COMPAT_H
#define FLASH_TRACE_H

#include <linux/blk_types.h>
#include <linux/cache.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/math64.h>
#include <linux/rbtree.h>
#include "common/elevator/seam.h"
#include "tap.h"

typedef u32 blk_opf_t;
typedef bool blk_insert_t;
typedef int compat_init_arg_t, compat_depth_arg_t;
typedef struct { long counter; } atomic_long_t;

#define __weak			__attribute__((weak))
#define __init			__attribute__((unused))
#define __exit			__attribute__((unused))
#ifndef ____cacheline_aligned_in_smp
#define ____cacheline_aligned_in_smp __attribute__((aligned(64)))
#endif
#define SMP_CACHE_BYTES	64
#define __rcu
#define IS_ENABLED(option)	0

/* Memory ordering, see above */
#ifdef __SANITIZE_THREAD__
#define ONCE			__ATOMIC_RELAXED
#define ACQUIRE			__ATOMIC_ACQUIRE
#define RELEASE			__ATOMIC_RELEASE
/* Of libtsan: the current thread's reads are not checked. */
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#define data_race(x) ({							\
	AnnotateIgnoreReadsBegin(__FILE__, __LINE__);			\
	__typeof__(x) raced = (x);					\
	AnnotateIgnoreReadsEnd(__FILE__, __LINE__);			\
	raced; })
/*
 * libtsan ignores fences, so a barrier is an RMW of a variable of the thread: a full barrier
 * of the machine, which orders no plain data for libtsan. That hides no race. It would report
 * plain data that only a barrier protects, which common/elevator/ does not have: there
 * barriers order atomic variables.
 */
static __thread int barriers;
#define smp_mb()		((void)__atomic_fetch_add(&barriers, 1, __ATOMIC_SEQ_CST))
/* Number of reports. libtsan calls the function for each. */
static int races;
void __tsan_on_report(const void *report);
__attribute__((no_sanitize("thread"))) void __tsan_on_report(const void *report)
{
	races += !!report;
}
#else
#define ONCE			__ATOMIC_SEQ_CST
#define ACQUIRE			__ATOMIC_SEQ_CST
#define RELEASE			__ATOMIC_SEQ_CST
#define data_race(x)		(x)
#define smp_mb()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define races			0
#endif

/* Counters of the test */
#define COUNT(x)		((void)__atomic_fetch_add(&(x), 1, ONCE))
#define __acquires(lock)
#define __releases(lock)

static __thread unsigned long long turns = 1;

/* A test with one thread has no races, and need not wait. */
static bool one_thread;

/* Sleeps for 3 ms, one time in @odds, to widen races. */
static inline void nap(unsigned int odds)
{
	const struct timespec some = { 0, 3000000 };

	if (!one_thread && tap_rand(&turns) % odds == 0)
		nanosleep(&some, NULL);
}

/* Lets other threads run, sometimes for long. */
static inline void others(void)
{
	if (one_thread)
		return;
	if (tap_rand(&turns) % 32 == 0)
		sched_yield();
	nap(4096);
}

/* Points in the code at which a test injects an event, once. */
enum moment { NEVER, FOUND_EMPTY, ADDING, ADDED, TAKING_OUT, TAKEN_OUT, EXCHANGED,
	      UNLOCKED, ACCESS };
static __thread enum moment moment;
static void (*event)(void);

static inline void meanwhile(enum moment now)
{
	if (now != moment)
		return;
	moment = NEVER;
	event();
}

/* Number of accesses to shared data until ACCESS, without the lock */
static __thread unsigned int accesses;
static __thread bool locked, any_access;

static inline void shared(void)
{
	if (accesses && (any_access || !locked) && !--accesses)
		meanwhile(ACCESS);
	others();
}

#define LOAD(x, order) \
	({ shared(); __atomic_load_n(&(x), order); })
#define STORE(x, v, order) \
	({ shared(); __atomic_store_n(&(x), v, order); others(); })
#define READ_ONCE(x)		LOAD(x, ONCE)
#define WRITE_ONCE(x, v)	STORE(x, v, ONCE)
#define smp_load_acquire(p)	LOAD(*(p), ACQUIRE)
#define smp_store_release(p, v)	STORE(*(p), v, RELEASE)
#define smp_rmb()		smp_mb()
/* Used to take an entry that no one else has taken, and for flash_first.rq. */
#define cmpxchg(p, from, to) ({						\
	__typeof__(*(p)) was = (from);					\
	meanwhile(TAKING_OUT);						\
	others();							\
	if (__atomic_compare_exchange_n(p, &was, to, false,		\
					__ATOMIC_SEQ_CST, ONCE))		\
		meanwhile(TAKEN_OUT);					\
	others();							\
	was; })
/* Used only for additions to a list. */
#define try_cmpxchg(p, from, to) ({					\
	bool done;							\
	meanwhile(ADDING);						\
	others();							\
	done = __atomic_compare_exchange_n(p, from, to, false,		\
					   __ATOMIC_SEQ_CST, ONCE);	\
	if (done) {							\
		/* The additions may be freed now. */			\
		meanwhile(ADDED);					\
		nap(32);						\
	}								\
	done; })
#define xchg(p, v) ({							\
	__typeof__(*(p)) was = __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST); \
	meanwhile(EXCHANGED);						\
	was; })
#define atomic_dec_return(v)	__atomic_sub_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST)
#define atomic_inc_return(v)	__atomic_add_fetch(&(v)->counter, 1, __ATOMIC_SEQ_CST)
#define atomic_long_inc(v)	COUNT((v)->counter)
#define atomic_long_read(v)	READ_ONCE((v)->counter)

static inline bool test_bit(unsigned int n, const unsigned long *map)
{
	return READ_ONCE(map[BIT_WORD(n)]) & BIT_MASK(n);
}

/* Number of WARN_ON() that fired. */
static int warned;
#define WARN_ON_ONCE(x) ({						\
	bool bad = !!(x);						\
	if (bad)							\
		COUNT(warned);						\
	bad; })
#define WARN_ONCE(x, ...) \
	({ if (WARN_ON_ONCE(x)) printf("# " __VA_ARGS__); })

#define llist_entry(p, type, m)	container_of(p, type, m)
#define llist_for_each_entry_safe(pos, n, first, m)			\
	for (struct llist_node *at = (first), *then;			\
	     at && (pos = n = llist_entry(at, __typeof__(*pos), m),	\
		    then = at->next, true); at = then)

static inline bool llist_empty(const struct llist_head *h)
{
	bool empty = !READ_ONCE(h->first);

	/* The result may already be outdated. */
	if (empty) {
		meanwhile(FOUND_EMPTY);
		nap(64);
	}
	return empty;
}

static inline struct llist_node *llist_del_all(struct llist_head *h)
{
	struct llist_node *all = __atomic_exchange_n(&h->first, NULL,
						     __ATOMIC_SEQ_CST);

	meanwhile(TAKEN_OUT);
	others();
	return all;
}

static inline struct llist_node *llist_reverse_order(struct llist_node *from)
{
	struct llist_node *to = NULL, *next;

	for (; from; from = next) {
		next = from->next;
		from->next = to;
		to = from;
	}
	return to;
}

/* The context: interrupts are threads here. */
static __thread bool in_irq;
static __thread int irqs_off;
#define cond_resched()		others()
#define in_task()		(!in_irq)
#define in_interrupt()		in_irq
#define irqs_disabled()		(in_irq || irqs_off)

/*
 * Locks. The device's lock may be held with interrupts enabled, so a task that takes it with
 * interrupts disabled may wait for an interrupt that waits for a lock of that task.
 */
typedef pthread_mutex_t spinlock_t;
#define spin_lock_init(l)	pthread_mutex_init(l, NULL)
#define spin_lock_irq(l)	pthread_mutex_lock(l)
#define spin_unlock_irq(l)	pthread_mutex_unlock(l)

static inline void spin_lock(spinlock_t *l)
{
	WARN_ON_ONCE(irqs_disabled());
	pthread_mutex_lock(l);
	locked = true;
	others();
}

static inline void spin_unlock(spinlock_t *l)
{
	locked = false;
	pthread_mutex_unlock(l);
	meanwhile(UNLOCKED);
	others();
}

#define lockdep_assert_held(l)	((void)(l))
#define lockdep_is_held(l)	((void)(l), true)
#define DEFINE_MUTEX(m)		pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER
#define mutex_lock(m)		pthread_mutex_lock(m)
#define mutex_unlock(m)		pthread_mutex_unlock(m)

/* RCU */
struct rcu_head { int unused; };
#define rcu_access_pointer(p)	__atomic_load_n(&(p), ONCE)
#define rcu_dereference_check(p, c) __atomic_load_n(&(p), ACQUIRE)
#define rcu_dereference_protected(p, c) (p)
#define rcu_replace_pointer(p, new, c) \
	({ __typeof__(p) old_ = (p); (void)(c); __atomic_store_n(&(p), new, RELEASE); old_; })

#ifdef __SANITIZE_THREAD__
/* The memory is not freed: a wait would order readers after the writer. */
#define rcu_read_lock()		((void)0)
#define rcu_read_unlock()	((void)0)
#define kfree_rcu(p, rcu)	((void)(p))
#else
static pthread_rwlock_t rcu_readers = PTHREAD_RWLOCK_INITIALIZER;
#define rcu_read_lock()		((void)pthread_rwlock_rdlock(&rcu_readers))
#define rcu_read_unlock()	((void)pthread_rwlock_unlock(&rcu_readers))

/* Waits for the readers, which the kernel does later. */
#define kfree_rcu(p, rcu) ({						\
	pthread_rwlock_wrlock(&rcu_readers);				\
	pthread_rwlock_unlock(&rcu_readers);				\
	free(p); })
#endif

/* The calling task, and its depth of preempt_disable(). */
struct task_struct {
	void *plug, *io_context;
	int nice, policy, tgid;
	bool rt;
	unsigned int flags;
};
static __thread struct task_struct the_task __attribute__((unused));
static __thread int unpreemptible;
#ifndef SCHED_IDLE
#define SCHED_NORMAL		0
#define SCHED_BATCH		3
#define SCHED_IDLE		5
#endif
#define PF_KTHREAD		2U
#define PF_WQ_WORKER		4U
#define preempt_disable()	((void)unpreemptible++)
#define preempt_enable()	((void)unpreemptible--)

/* Time */
static inline u64 ktime_get_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
}

/* Timers, which the test expires. */
enum hrtimer_restart { HRTIMER_NORESTART };
enum hrtimer_mode { HRTIMER_MODE_REL_PINNED, HRTIMER_MODE_ABS };
#define ns_to_ktime(ns)		((long long)(ns))
struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *);
	enum hrtimer_mode mode;
	bool set;
	long long in;
};
/* The timer of the policy, which a test's clock expires */
static struct hrtimer *policy_timer;
/* That of flash_issue_first() */
static struct hrtimer *first_timer;
static int timers_set, timers_cancelled, timers_preemptible;
static pthread_mutex_t timers_run = PTHREAD_MUTEX_INITIALIZER;

static inline void compat_hrtimer_setup(struct hrtimer *t,
				     enum hrtimer_restart (*f)(struct hrtimer *),
				     enum hrtimer_mode mode)
{
	t->mode = mode;
	t->function = f;
	if (mode == HRTIMER_MODE_ABS)
		policy_timer = t;
	else
		first_timer = t;
}

static inline void hrtimer_start(struct hrtimer *t, long long in,
				 enum hrtimer_mode mode)
{
	__atomic_store_n(&t->in, in, __ATOMIC_SEQ_CST);
	__atomic_store_n(&t->set, true, __ATOMIC_SEQ_CST);
	COUNT(timers_set);
	if (mode == HRTIMER_MODE_REL_PINNED && !unpreemptible)
		COUNT(timers_preemptible);
}

static inline void hrtimer_cancel(struct hrtimer *t)
{
	/* A function that runs ends first. */
	pthread_mutex_lock(&timers_run);
	__atomic_store_n(&t->set, false, __ATOMIC_SEQ_CST);
	timers_cancelled += t->mode == HRTIMER_MODE_REL_PINNED;
	if (policy_timer == t)
		policy_timer = NULL;
	if (first_timer == t)
		first_timer = NULL;
	pthread_mutex_unlock(&timers_run);
}

static inline void hrtimer_run(struct hrtimer *t)
{
	bool was = in_irq;

	in_irq = true;
	if (__atomic_exchange_n(&t->set, false, __ATOMIC_SEQ_CST))
		t->function(t);
	in_irq = was;
}

/* The time of a timer is over, if it is set. */
static inline void hrtimer_expire(struct hrtimer *t)
{
	pthread_mutex_lock(&timers_run);
	hrtimer_run(t);
	pthread_mutex_unlock(&timers_run);
}

/* The policy's timer, if it is due */
static inline void hrtimer_tick(void)
{
	struct hrtimer *t;

	pthread_mutex_lock(&timers_run);
	t = policy_timer;
	if (t && __atomic_load_n(&t->set, __ATOMIC_SEQ_CST) &&
	    (u64)__atomic_load_n(&t->in, __ATOMIC_SEQ_CST) <= ktime_get_ns())
		hrtimer_run(t);
	pthread_mutex_unlock(&timers_run);
}

/* The time of flash_issue_first()'s timer is over, if it is set. */
static inline void hrtimer_first(void)
{
	pthread_mutex_lock(&timers_run);
	if (first_timer)
		hrtimer_run(first_timer);
	pthread_mutex_unlock(&timers_run);
}

/* Memory */
#define GFP_KERNEL		0
#define kmalloc(size, f)	malloc(size)
#define kvzalloc(size, f)	aligned_zeroed(size)
#define kzalloc_node(size, f, n) aligned_zeroed(size)
#define kvzalloc_node(size, f, n) aligned_zeroed(size)
#define kvcalloc(nr, size, f)	aligned_zeroed((nr) * (size))
#define kcalloc(nr, size, f)	aligned_zeroed((nr) * (size))
#define kvcalloc(nr, size, f)	aligned_zeroed((nr) * (size))
#define bitmap_zalloc(nr, f)	aligned_zeroed(BIT_WORD((nr) + 63) * 8UL)
#define array_size(nr, size)	((nr) * (size))
#define array3_size(nr, of, size) ((size_t)(nr) * (of) * (size))
#define kfree(p)		free(p)
#define kvfree(p)		free(p)
/* One CPU has all counters, which threads share. */
#define __percpu
#define alloc_percpu(type)	((type *)aligned_zeroed(sizeof(type)))
#define free_percpu(p)		free(p)
#define per_cpu_ptr(p, cpu)	((void)(cpu), p)
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < 1; (cpu)++)
#define this_cpu_inc(n)		((void)__atomic_add_fetch(&(n), 1, __ATOMIC_RELAXED))
#define bitmap_free(p)		free(p)
#define memalloc_noio_save()	0
#define memalloc_noio_restore(f) ((void)(f))

static inline void *aligned_zeroed(size_t size)
{
	size_t all = (size + 63) / 64 * 64;
	void *p = aligned_alloc(64, all);

	return p ? memset(p, 0, all) : NULL;
}

/* The block layer */
struct flash_queue;
struct request_queue;

struct percpu_ref {
	long count;
};
#define percpu_ref_get(r)	COUNT((r)->count)
#define percpu_ref_put(r)	((void)__atomic_sub_fetch(&(r)->count, 1, RELEASE))

struct gendisk {
	const char *disk_name;
};

struct elevator_queue {
	void *elevator_data;
};

struct request_queue {
	struct percpu_ref q_usage_counter;
	struct elevator_queue *elevator;
	struct gendisk *disk;
	unsigned int nr_hw_queues, nr_requests;
	int node;
	const struct blk_mq_ops *mq_ops;
	bool quiesced;
	pthread_mutex_t queue_lock;
	pthread_rwlock_t running;
	struct request *last_merge;
};

/* Drivers without budgets have none. */
struct blk_mq_ops {
	bool get_budget;
};

struct blk_mq_hw_ctx {
	struct request_queue *queue;
	struct list_head dispatch;
	unsigned long state;
	unsigned int queue_num, flags, type, dispatch_busy;
	int numa_node;
	void *sched_data, *sched_tags, *cpumask;
	bool pending;
};

struct request {
	struct list_head queuelist;
	struct hlist_node hash;
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	struct {
		void *priv[2];
	} elv;
	unsigned int internal_tag, rq_flags;
	u64 start_time_ns;
	bool started, urgent, again, in_device;
	unsigned int by;
	unsigned long nth;
	struct bio *bio;
	blk_opf_t cmd_flags;
	enum req_op op;
	u64 sector;
	u32 sectors;
	unsigned short ioprio;
};

struct bio {
	struct bio *bi_next;
	blk_opf_t bi_opf;
	unsigned short bi_ioprio;
	struct {
		u64 bi_sector;
	} bi_iter;
};

struct cgroup { u64 id; };
struct cgroup_subsys_state { u64 id; struct cgroup *cgroup; };
#define bio_blkcg_css(bio)	((struct cgroup_subsys_state *)(void *)(bio))

#define IOPRIO_CLASS_RT		1
#define IOPRIO_CLASS_BE		2
#define IOPRIO_CLASS_IDLE	3
#define IOPRIO_BE_NORM		4
#define IOPRIO_PRIO_VALUE(class, level) ((unsigned short)((class) << 13 | (level)))
#define IOPRIO_PRIO_CLASS(prio)	((prio) >> 13)
#define compat_ioprio_level(prio)	((prio) & 7U)
#define req_get_ioprio(rq)	((rq)->ioprio)
#define get_current_ioprio()	((unsigned short)0)

#define REQ_META		1U
#define REQ_PRIO		2U
#define REQ_SWAP		4U

struct seq_file;
enum elv_merge { ELEVATOR_NO_MERGE, ELEVATOR_DISCARD_MERGE, ELEVATOR_FRONT_MERGE };

#define REQ_POLLED		8U
#define bio_end_sector(bio)	((void)(bio), 0ULL)
#define READ			0
#define WRITE			1
/* Always looked up */
#define bio_op(bio)		((void)(bio), REQ_OP_DISCARD)
#define bio_data_dir(bio)	((void)(bio), READ)
#define rq_data_dir(rq)		((void)(rq), READ)
#define compat_rq_mergeable(rq)	((void)(rq), true)
#define blk_mq_sched_try_merge(q, bio, nr, gone) \
	((void)(bio), (void)(nr), (void)(gone), try_merge(q))
#define blk_mq_free_request(rq)	((void)(rq))
#define elv_bio_merge_ok(rq, bio) ((void)(rq), (void)(bio), false)
#define compat_discard_mergeable(rq) ((void)(rq), false)
#define elv_rb_former_request(q, rq) ((void)(q), (rq))
#define elv_rb_latter_request(q, rq) ((void)(q), (rq))
enum { HCTX_TYPE_DEFAULT, HCTX_TYPE_POLL };

struct blk_mq_alloc_data {
	struct request_queue *q;
	struct blk_mq_hw_ctx *hctx;
	unsigned int shallow_depth;
};

struct elv_fs_entry {
	struct {
		const char *name;
		int mode;
	} attr;
	ssize_t (*show)(struct elevator_queue *eq, char *page);
	ssize_t (*store)(struct elevator_queue *eq, const char *page, size_t count);
};
struct elevator_type {
	struct {
		void *init_sched, *exit_sched, *init_hctx, *exit_hctx,
		     *depth_updated, *allow_merge, *bio_merge, *request_merge,
		     *request_merged, *requests_merged, *former_request,
		     *next_request, *limit_depth, *prepare_request,
		     *insert_requests, *dispatch_request, *has_work,
		     *completed_request, *requeue_request, *finish_request;
	} ops;
	struct elv_fs_entry *elevator_attrs;
	const char *elevator_name;
	void *elevator_owner;
};

#define RQF_STARTED		1U
#define RQF_FLUSH_SEQ		2U
#define BLK_MQ_F_BLOCKING	1U
#define BLK_MQ_S_STOPPED	0
#define QUEUE_FLAG_SQ_SCHED	0
#define blk_queue_flag_set(f, q) ((void)(q))
#define blk_queue_flag_clear(f, q) ((void)(q))
#define blk_mq_request_started(rq) READ_ONCE((rq)->started)
#define blk_rq_sectors(rq)	((rq)->sectors)
#define blk_rq_pos(rq)		((rq)->sector)
#define req_op(rq)		((rq)->op)
#define current			(&the_task)
#define task_is_running(t)	((void)(t), true)
#define task_nice(t)		((t)->nice)
#define rt_task(t)		((t)->rt)
#define raw_smp_processor_id()	0
#define cpumask_test_cpu(cpu, mask) ((mask) == NULL)

#define BLK_MQ_INSERT_AT_HEAD	true
#define compat_queue_data(q)	((struct flash_queue *)(q)->elevator->elevator_data)
#define compat_rq_ours(rq)		true
#define compat_queue_get(q, arg)	((q)->elevator)
#define compat_queue_put(eq)	((void)(eq))
#define compat_queue_attach(q, eq, fq) ((void)(q), (eq)->elevator_data = (fq))
#define compat_depth_for_each_hctx(arg, hctx, i) \
	for ((hctx) = NULL, (i) = 0; (hctx) && (arg) && !(i); (i)++)
#define compat_meaning_init()	0
#define compat_shallow_depth(hctx, part) 1U
#define compat_async_depth(q, opf)	((void)(q), 0U)
#define compat_limit_early(opf, data, limit) ((void)(data))
#define compat_shallow_prepare(hctx, part) ((void)(hctx))
/* Number of tags of each hardware queue */
static unsigned int hctx_tags __attribute__((unused));
#define compat_hctx_tags(hctx)	((void)(hctx), hctx_tags)
/* Number of requests that the driver takes at a time; 0: any */
static unsigned int driver_takes __attribute__((unused));
#define compat_queue_depth(q)	((void)(q), driver_takes ? driver_takes : UINT_MAX)
#define elv_register(e)		((void)(e), 0)
#define elv_unregister(e)	((void)(e))

/* Definitions for modules */
#define THIS_MODULE		NULL
#define debugfs_create_dir(n, p) NULL
#define debugfs_create_file(n, m, p, d, o) ((void)(o))
#define debugfs_remove(d)	((void)(d))
#define DEFINE_SHOW_ATTRIBUTE(n) \
	static __attribute__((unused)) int (*n##_fops)(struct seq_file *, void *) = n##_show
#define seq_printf(m, ...)	((void)(m))
#define seq_puts(m, text)	((void)(m))
#define module_init(f)
#define module_exit(f)
#define MODULE_INFO(a, b)	_Static_assert(1, "")
#define MODULE_ALIAS(text)	_Static_assert(1, "")
#define MODULE_DESCRIPTION(text) _Static_assert(1, "")
#define MODULE_LICENSE(text)	_Static_assert(1, "")
#define MODULE_PARM_DESC(name, text) _Static_assert(1, "")
#define module_param_cb(name, ops, arg, mode) _Static_assert(1, "")
#define match_string(words, nr, text) (0 * (int)(nr) * !(words)[0] * !*(text))
struct dentry;
struct kernel_param_ops { int unused; };

/* Trace events are disabled. */
enum flash_why {
	FLASH_WHY_ORDER, FLASH_WHY_HEAD, FLASH_WHY_UNTRACKED, FLASH_WHY_DONE,
	FLASH_WHY_REQUEUED, FLASH_WHY_FREED, FLASH_WHY_META_TURN, FLASH_WHY_NRT_TURN,
	FLASH_WHY_IDLE_TURN, FLASH_WHY_CHIPS, FLASH_WHY_AGED, FLASH_WHY_SET,
	FLASH_WHY_SEARCH, FLASH_WHY_OPEN, FLASH_WHY_CALIBRATE,
};
#define trace_flash_bound(fq, limit, why)	((void)(why))
#define trace_block_rq_insert(rq)		((void)(rq))
#define trace_block_rq_insert_enabled()		false
#define trace_flash_insert(fq, rq, fr, why)	((void)(why))
#define trace_flash_dispatch(fq, rq, fr, why)	((void)(why))
#define trace_flash_complete(fq, rq, fr, why)	((void)(why))
#define trace_flash_insert_enabled()		false
#define flash_tell_why(fq, reason)		((fq)->why = (reason))

void blk_mq_run_hw_queue(struct blk_mq_hw_ctx *hctx, bool async);
void compat_run_hctx(struct blk_mq_hw_ctx *hctx);

#endif /* BLKMQ_H */
