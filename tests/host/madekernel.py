# SPDX-License-Identifier: GPL-2.0
"""Kernels of our own: BTF with the private elevator interface of any kernel.

The structures are written down here a second time, by what the kernels' sources have,
so that nothing of common/elevator/compat.h is compared with itself.
"""

import subprocess

PUBLIC = """
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u32 blk_opf_t;
typedef u32 req_flags_t, blk_mq_req_flags_t, blk_insert_t;
typedef u64 sector_t;
typedef long ssize_t;
typedef unsigned long size_t;
typedef unsigned short umode_t;
struct list_head { struct list_head *next, *prev; };
struct hlist_head { struct hlist_node *first; };
struct attribute { const char *name; umode_t mode; };
struct kobject { const char *name; char rest[56]; };
struct mutex { long owner; char rest[24]; };
struct rb_root { struct rb_node *rb_node; };
"""

OPS = """
	void (*exit_sched)(struct elevator_queue *);
	int (*init_hctx)(struct blk_mq_hw_ctx *, unsigned int);
	void (*exit_hctx)(struct blk_mq_hw_ctx *, unsigned int);
	void (*depth_updated)({depth} *);
	{sched_data}
	_Bool (*allow_merge)(struct request_queue *, struct request *, struct bio *);
	_Bool (*bio_merge)(struct request_queue *, struct bio *, unsigned int);
	int (*request_merge)(struct request_queue *, struct request **, struct bio *);
	void (*request_merged)(struct request_queue *, struct request *, enum elv_merge);
	void (*requests_merged)(struct request_queue *, struct request *,
				struct request *);
	void (*limit_depth)(blk_opf_t, struct blk_mq_alloc_data *);
	void (*prepare_request)(struct request *);
	void (*finish_request)(struct request *);
	void (*insert_requests)(struct blk_mq_hw_ctx *, struct list_head *, {insert});
	struct request *(*dispatch_request)(struct blk_mq_hw_ctx *);
	_Bool (*has_work)(struct blk_mq_hw_ctx *);
	void (*completed_request)(struct request *, u64);
	void (*requeue_request)(struct request *);
	struct request *(*former_request)(struct request_queue *, struct request *);
	struct request *(*next_request)(struct request_queue *, struct request *);
	void (*init_icq)(struct io_cq *);
	void (*exit_icq)(struct io_cq *);
	{ops_end}
"""

TEXT = """
enum elv_merge {{ ELEVATOR_NO_MERGE, ELEVATOR_FRONT_MERGE, ELEVATOR_BACK_MERGE,
		 ELEVATOR_DISCARD_MERGE }};
struct elevator_mq_ops {{
	int (*init_sched)(struct request_queue *, {init} *);
	{ops}
}};
struct elv_fs_entry {{
	struct attribute attr;
	ssize_t (*show)(struct elevator_queue *, char *);
	ssize_t (*store)(struct elevator_queue *, const char *, size_t);
}};
struct elevator_type {{
	struct kmem_cache *icq_cache;
	struct elevator_mq_ops ops;
	size_t icq_size;
	size_t icq_align;
	{const} struct elv_fs_entry *elevator_attrs;
	const char *elevator_name;
	const char *elevator_alias;
	{features}
	struct module *elevator_owner;
	{debugfs}
	char icq_cache_name[22];
	struct list_head list;
	{type_end}
}};
struct elevator_queue {{
	struct elevator_type *type;
	{tags}
	void *elevator_data;
	struct kobject kobj;
	struct mutex sysfs_lock;
	{flags}
	struct hlist_head hash[64];
}};
struct blk_mq_alloc_data {{
	struct request_queue *q;
	blk_mq_req_flags_t flags;
	{limit} shallow_depth;
	blk_opf_t cmd_flags;
	req_flags_t rq_flags;
	unsigned int nr_tags;
	{cached};
	struct blk_mq_ctx *ctx;
	struct blk_mq_hw_ctx *hctx;
}};
struct request_queue {{ void *queuedata; {async_depth} }};

struct {{
	struct elevator_queue queue;
	struct blk_mq_alloc_data data;
	struct request_queue disk;
	struct elv_fs_entry entry;
	enum elv_merge merge;
}} all;

{alloc}
int elv_register(struct elevator_type *e) {{ return !e; }}
void elv_unregister(struct elevator_type *e) {{ }}
_Bool elv_bio_merge_ok(struct request *r, struct bio *b) {{ return !r; }}
void elv_rqhash_add(struct request_queue *q, struct request *r) {{ }}
void elv_rqhash_del(struct request_queue *q, struct request *r) {{ }}
void elv_rb_add(struct rb_root *t, struct request *r) {{ }}
void elv_rb_del(struct rb_root *t, struct request *r) {{ }}
struct request *elv_rb_find(struct rb_root *t, {sector} s) {{ return (void *)0; }}
struct request *elv_rb_former_request(struct request_queue *q, struct request *r)
{{ return r; }}
struct request *elv_rb_latter_request(struct request_queue *q, struct request *r)
{{ return r; }}
_Bool blk_mq_sched_try_merge(struct request_queue *q, struct bio *b, unsigned int n,
			    struct request **r) {{ return !q; }}
"""

# 6.12.25 to 6.13
BASE = {
    "init": "struct elevator_type", "depth": "struct blk_mq_hw_ctx",
    "sched_data": "", "insert": "blk_insert_t", "ops": OPS, "ops_end": "",
    "const": "", "features": "", "type_end": "", "tags": "",
    "flags": "unsigned long flags;", "cached": "struct rq_list *cached_rqs",
    "async_depth": "", "limit": "unsigned int", "sector": "sector_t",
    "debugfs": "const struct blk_mq_debugfs_attr *queue_debugfs_attrs,\n"
               "\t\t*hctx_debugfs_attrs;",
    "alloc": "struct elevator_queue *elevator_alloc(struct request_queue *q,"
             "\n\tstruct elevator_type *e) { return (void *)0; }",
}
_FEATURES = {"features": "const unsigned int elevator_features;"}
_CACHED = {"cached": "struct request **cached_rq"}
_CONST = {"const": "const"}
_CORE = _CONST | {"init": "struct elevator_queue", "alloc": "",
                  "tags": "struct elevator_tags *et;"}
_DEPTH = _CORE | {"depth": "struct request_queue"}
_DATA = _DEPTH | {"sched_data": "void *(*alloc_sched_data)(struct request_queue *);"
                                "\n\tvoid (*free_sched_data)(void *);"}
# RH_KABI_RESERVE(1) to (4)
KABI = "\n\t".join(f"unsigned long rh_reserved{n};" for n in range(1, 5))

# {kernel: (what differs from BASE, the features that are 1)}
KERNELS = {
    "6.1": (_FEATURES | _CACHED | {"insert": "_Bool",
                                   "flags": "unsigned int registered:1;"},
            "INSERT_BOOL HAS_FEATURES QUEUE_REGISTERED CACHED_RQ_PTR"),
    "6.2": (_FEATURES | _CACHED | {"insert": "_Bool"},
            "INSERT_BOOL HAS_FEATURES CACHED_RQ_PTR"),
    "6.6": (_FEATURES | _CACHED, "HAS_FEATURES CACHED_RQ_PTR"),
    "6.8": (_FEATURES | _CACHED, "HAS_FEATURES CACHED_RQ_PTR"),
    "6.11": (_CACHED, "CACHED_RQ_PTR"),
    "6.12": ({}, ""),
    "6.14": (_CONST, "CONST_ATTRS"),
    "6.16.12": (_CORE, "CONST_ATTRS CORE_QUEUE QUEUE_TAGS"),
    "6.17.8": (_DEPTH, "CONST_ATTRS CORE_QUEUE QUEUE_TAGS DEPTH_OF_QUEUE"),
    "6.18": (_DATA,
             "CONST_ATTRS CORE_QUEUE QUEUE_TAGS DEPTH_OF_QUEUE SCHED_DATA"),
    "7.0": (_DATA | {"async_depth": "unsigned int async_depth;"},
            "CONST_ATTRS CORE_QUEUE QUEUE_TAGS DEPTH_OF_QUEUE SCHED_DATA "
            "ASYNC_DEPTH"),
    "RHEL 10": (_CORE | {"ops_end": KABI, "type_end": KABI},
                "CONST_ATTRS CORE_QUEUE QUEUE_TAGS"),
    "no debugfs": ({"debugfs": ""}, ""),
}


def source(**changes):
    """C of a kernel that differs from BASE in this."""
    words = BASE | changes
    words["ops"] = words["ops"].format(**words)
    return PUBLIC + TEXT.format(**words)


def compiled(folder):
    """A file with the BTF of made.c in this folder."""
    subprocess.run(["gcc", "-g", "-O0", "-w", "-fno-builtin", "-c", "made.c"],
                   cwd=folder, check=True)
    subprocess.run(["pahole", "-J", "--btf_encode_detached=made.btf", "made.o"],
                   cwd=folder, check=True)
    return folder / "made.btf"


def btf(folder, **changes):
    """A file with the BTF of such a kernel."""
    (folder / "made.c").write_text(source(**changes), encoding="ascii")
    return compiled(folder)
