// SPDX-License-Identifier: GPL-2.0
/*
 * abi.c - instances of all that compat.h restates, for scripts/abi-check
 *
 * Never linked into a module: only its debug information is read.
 */
#define FLASH_ABI_CHECK
#include "compat.h"

struct elevator_mq_ops layout_elevator_mq_ops;
struct elevator_queue layout_elevator_queue;
struct blk_mq_alloc_data layout_blk_mq_alloc_data;
struct blk_mq_debugfs_attr layout_blk_mq_debugfs_attr;
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
