// SPDX-License-Identifier: GPL-2.0
/*
 * abi.c - instances of all that compat.h restates, for scripts/abi-check
 *
 * Never linked into a module: only its debug information is read.
 */
#include "compat.h"

struct elevator_mq_ops layout_elevator_mq_ops;
struct elevator_queue layout_elevator_queue;
struct blk_mq_alloc_data layout_blk_mq_alloc_data;
struct elv_fs_entry layout_elv_fs_entry;
struct elevator_type *layout_elevator_type;
enum elv_merge layout_elv_merge;

/*
 * A pointer to each restated function: the type behind the pointer is compared
 * with the function's own type in the kernel. The name says which one.
 */
#define LAYOUT_FN(name) \
	struct layout_fn_##name { typeof(name) *fn; } layout_fn_##name = { name }

LAYOUT_FN(elv_register);
LAYOUT_FN(elv_unregister);
#if !ELV_CORE_QUEUE
LAYOUT_FN(elevator_alloc);
#endif
LAYOUT_FN(elv_bio_merge_ok);
LAYOUT_FN(elv_rqhash_add);
LAYOUT_FN(elv_rqhash_del);
LAYOUT_FN(elv_rb_add);
LAYOUT_FN(elv_rb_del);
LAYOUT_FN(elv_rb_find);
LAYOUT_FN(elv_rb_former_request);
LAYOUT_FN(elv_rb_latter_request);
LAYOUT_FN(blk_mq_sched_try_merge);

/*
 * Members that no code of ours reads, writes or calls. Their offset and size are
 * compared, their type is not.
 */
#define LAYOUT_UNTOUCHED(type, member) \
	static_assert(sizeof(((struct type *)NULL)->member))

LAYOUT_UNTOUCHED(elevator_mq_ops, init_icq);
LAYOUT_UNTOUCHED(elevator_mq_ops, exit_icq);
#if ELV_SCHED_DATA
LAYOUT_UNTOUCHED(elevator_mq_ops, alloc_sched_data);
LAYOUT_UNTOUCHED(elevator_mq_ops, free_sched_data);
#endif

LAYOUT_UNTOUCHED(elevator_type, icq_cache);
LAYOUT_UNTOUCHED(elevator_type, icq_size);
LAYOUT_UNTOUCHED(elevator_type, icq_align);
LAYOUT_UNTOUCHED(elevator_type, elevator_alias);
#if ELV_HAS_FEATURES
LAYOUT_UNTOUCHED(elevator_type, elevator_features);
#endif
#if ELV_DEBUGFS_ATTRS
LAYOUT_UNTOUCHED(elevator_type, queue_debugfs_attrs);
LAYOUT_UNTOUCHED(elevator_type, hctx_debugfs_attrs);
#endif
LAYOUT_UNTOUCHED(elevator_type, icq_cache_name);
LAYOUT_UNTOUCHED(elevator_type, list);

#if ELV_QUEUE_TAGS
LAYOUT_UNTOUCHED(elevator_queue, et);
#endif
LAYOUT_UNTOUCHED(elevator_queue, sysfs_lock);
LAYOUT_UNTOUCHED(elevator_queue, hash);

LAYOUT_UNTOUCHED(blk_mq_alloc_data, flags);
LAYOUT_UNTOUCHED(blk_mq_alloc_data, rq_flags);
LAYOUT_UNTOUCHED(blk_mq_alloc_data, nr_tags);
LAYOUT_UNTOUCHED(blk_mq_alloc_data, ctx);
#if ELV_CACHED_RQ_PTR
LAYOUT_UNTOUCHED(blk_mq_alloc_data, cached_rq);
#else
LAYOUT_UNTOUCHED(blk_mq_alloc_data, cached_rqs);
#endif
