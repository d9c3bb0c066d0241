/* SPDX-License-Identifier: GPL-2.0 */
/*
 * structs.h - the private elevator interface of kernels that nobody can fetch
 *
 * A file structs-*.c says in macros what its kernel has and includes this one. Without
 * any it is a 6.12. tests/host/madekernel.py compiles it and makes BTF of it. Written
 * from what changed between versions, not from compat.h: it is compared with that.
 *
 * One of SWAPPED, ADDED, RETYPED, PROTOTYPE, RESERVED_INSIDE, RESERVED_FIRST, ONLY_FREE
 * and ENUMERATOR makes a kernel that has to be refused. The types INIT_ARG, INSERT_ARG,
 * LIMIT and ICQ_ARG and the member CACHED may be others, too.
 */

typedef _Bool bool;
typedef unsigned char u8;
typedef unsigned short umode_t;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u64 sector_t;
typedef long long loff_t;
typedef unsigned long size_t;
typedef long ssize_t;
typedef u32 blk_opf_t;
typedef u32 blk_mq_req_flags_t;
typedef u32 req_flags_t;
typedef u32 blk_insert_t;

/* Public types: only their sizes count. */

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node;

struct hlist_head {
	struct hlist_node *first;
};

struct rb_node;

struct rb_root {
	struct rb_node *rb_node;
};

struct attribute {
	const char *name;
	umode_t mode;
};

struct kobject {
	u64 words[8];
};

#ifndef MUTEX_WORDS
# define MUTEX_WORDS	4
#endif

struct mutex {
	u64 words[MUTEX_WORDS];
};

struct bio;
struct blk_mq_alloc_data;
struct blk_mq_ctx;
struct blk_mq_hw_ctx;
struct elevator_queue;
struct elevator_tags;
struct elevator_type;
struct gendisk;
struct io_cq;
struct kmem_cache;
struct module;
struct request;
struct rq_list;
struct seq_file;
struct seq_operations;

struct request_queue {
	struct elevator_queue *elevator;
	unsigned long nr_requests;
#ifdef ASYNC_DEPTH
	unsigned int async_depth;
#endif
};

/* Room at the end of a struct, as distributions with a stable ABI leave it */
#ifndef OPS_TAIL
# define OPS_TAIL
#endif
#ifndef TYPE_TAIL
# define TYPE_TAIL
#endif

enum elv_merge {
	ELEVATOR_NO_MERGE,
	ELEVATOR_FRONT_MERGE,
	ELEVATOR_BACK_MERGE,
#ifdef ENUMERATOR
	ELEVATOR_SIDE_MERGE,
#endif
	ELEVATOR_DISCARD_MERGE,
};

#ifndef INIT_ARG
# ifdef CORE_QUEUE
#  define INIT_ARG	struct elevator_queue
# else
#  define INIT_ARG	struct elevator_type
# endif
#endif

#ifdef DEPTH_OF_QUEUE
# define DEPTH_ARG	struct request_queue
#else
# define DEPTH_ARG	struct blk_mq_hw_ctx
#endif

#ifndef INSERT_ARG
# ifdef INSERT_BOOL
#  define INSERT_ARG	bool
# else
#  define INSERT_ARG	blk_insert_t
# endif
#endif

#ifndef ICQ_ARG
# define ICQ_ARG	struct io_cq *
#endif

#ifndef LIMIT
# define LIMIT		unsigned int
#endif

#ifndef CACHED
# ifdef CACHED_RQ_PTR
#  define CACHED	struct request **cached_rq
# else
#  define CACHED	struct rq_list *cached_rqs
# endif
#endif

struct elevator_mq_ops {
	int (*init_sched)(struct request_queue *q, INIT_ARG *arg);
	void (*exit_sched)(struct elevator_queue *e);
	int (*init_hctx)(struct blk_mq_hw_ctx *hctx, unsigned int index);
	void (*exit_hctx)(struct blk_mq_hw_ctx *hctx, unsigned int index);
	void (*depth_updated)(DEPTH_ARG *arg);
#ifdef SCHED_DATA
	void *(*alloc_sched_data)(struct request_queue *q);
#endif
#if defined SCHED_DATA || defined ONLY_FREE
	void (*free_sched_data)(void *data);
#endif
#ifdef RESERVED_FIRST
	unsigned long rh_reserved1;
#endif
	bool (*allow_merge)(struct request_queue *q, struct request *rq,
			    struct bio *bio);
	bool (*bio_merge)(struct request_queue *q, struct bio *bio,
			  unsigned int segments);
	int (*request_merge)(struct request_queue *q, struct request **rq,
			     struct bio *bio);
	void (*request_merged)(struct request_queue *q, struct request *rq,
			       enum elv_merge how);
	void (*requests_merged)(struct request_queue *q, struct request *rq,
				struct request *next);
	void (*limit_depth)(blk_opf_t opf, struct blk_mq_alloc_data *data);
#ifdef SWAPPED
	void (*finish_request)(struct request *rq);
	void (*prepare_request)(struct request *rq);
#else
	void (*prepare_request)(struct request *rq);
	void (*finish_request)(struct request *rq);
#endif
	void (*insert_requests)(struct blk_mq_hw_ctx *hctx,
				struct list_head *list, INSERT_ARG how);
	struct request *(*dispatch_request)(struct blk_mq_hw_ctx *hctx);
	bool (*has_work)(struct blk_mq_hw_ctx *hctx);
#ifdef ADDED
	bool (*has_more_work)(struct blk_mq_hw_ctx *hctx);
#endif
	void (*completed_request)(struct request *rq, u64 now);
	void (*requeue_request)(struct request *rq);
	struct request *(*former_request)(struct request_queue *q,
					  struct request *rq);
	struct request *(*next_request)(struct request_queue *q,
					struct request *rq);
	void (*init_icq)(ICQ_ARG icq);
	void (*exit_icq)(struct io_cq *icq);
	OPS_TAIL
};

struct elv_fs_entry {
	struct attribute attr;
	ssize_t (*show)(struct elevator_queue *e, char *page);
	ssize_t (*store)(struct elevator_queue *e, const char *page,
			 size_t length);
};

struct blk_mq_debugfs_attr {
	const char *name;
	umode_t mode;
	int (*show)(void *data, struct seq_file *file);
	ssize_t (*write)(void *data, const char *text, size_t length,
			 loff_t *position);
	const struct seq_operations *seq_ops;
};

struct elevator_type {
	struct kmem_cache *icq_cache;
	struct elevator_mq_ops ops;
	size_t icq_size;
	size_t icq_align;
#ifdef CONST_ATTRS
	const struct elv_fs_entry *elevator_attrs;
#else
	struct elv_fs_entry *elevator_attrs;
#endif
	const char *elevator_name;
	const char *elevator_alias;
#ifdef HAS_FEATURES
	const unsigned int elevator_features;
#endif
	struct module *elevator_owner;
#ifndef NO_DEBUGFS
	const struct blk_mq_debugfs_attr *queue_debugfs_attrs;
	const struct blk_mq_debugfs_attr *hctx_debugfs_attrs;
#endif
#ifdef RESERVED_INSIDE
	unsigned long rh_reserved0;
#endif
	char icq_cache_name[22];
	struct list_head list;
	TYPE_TAIL
};

struct elevator_queue {
	struct elevator_type *type;
#ifdef CORE_QUEUE
	struct elevator_tags *et;
#endif
	void *elevator_data;
	struct kobject kobj;
	struct mutex sysfs_lock;
#ifdef QUEUE_REGISTERED
	unsigned int registered:1;
#else
	unsigned long flags;
#endif
	struct hlist_head hash[64];
};

struct blk_mq_alloc_data {
	struct request_queue *q;
	blk_mq_req_flags_t flags;
	LIMIT shallow_depth;
	blk_opf_t cmd_flags;
	req_flags_t rq_flags;
#ifdef RETYPED
	unsigned long nr_tags;
#else
	unsigned int nr_tags;
#endif
	CACHED;
	struct blk_mq_ctx *ctx;
	struct blk_mq_hw_ctx *hctx;
};

/* Functions that modules call; BTF has a function that is defined. */

int elv_register(struct elevator_type *e)
{
	return !e;
}

void elv_unregister(struct elevator_type *e)
{
	e->icq_size = 0;
}

#ifndef CORE_QUEUE
struct elevator_queue *elevator_alloc(struct request_queue *q,
				      struct elevator_type *e)
{
	return e ? q->elevator : 0;
}
#endif

bool elv_bio_merge_ok(struct request *rq, struct bio *bio)
{
	return rq && bio;
}

void elv_rqhash_add(struct request_queue *q, struct request *rq)
{
	q->nr_requests += !!rq;
}

void elv_rqhash_del(struct request_queue *q, struct request *rq)
{
	q->nr_requests -= !!rq;
}

void elv_rb_add(struct rb_root *root, struct request *rq)
{
	root->rb_node = (void *)rq;
}

void elv_rb_del(struct rb_root *root, struct request *rq)
{
	root->rb_node = rq ? 0 : root->rb_node;
}

#ifdef PROTOTYPE
struct request *elv_rb_find(struct rb_root *root, unsigned int sector)
#else
struct request *elv_rb_find(struct rb_root *root, sector_t sector)
#endif
{
	return sector ? (void *)root->rb_node : 0;
}

struct request *elv_rb_former_request(struct request_queue *q,
				      struct request *rq)
{
	return q ? rq : 0;
}

struct request *elv_rb_latter_request(struct request_queue *q,
				      struct request *rq)
{
	return q ? rq : 0;
}

bool blk_mq_sched_try_merge(struct request_queue *q, struct bio *bio,
			    unsigned int segments, struct request **merged)
{
	return q && bio && segments && merged;
}

/* BTF has a type that a variable has. */
struct elevator_queue the_queue;
struct elevator_type the_type;
struct elv_fs_entry the_entry;
struct blk_mq_alloc_data the_data;
struct blk_mq_debugfs_attr the_attribute;
struct request_queue the_request_queue;
