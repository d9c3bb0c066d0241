// SPDX-License-Identifier: GPL-2.0
/*
 * policy.c - the hooks that each I/O needs, as direct calls
 *
 * An indirect call costs a load more, and tens of cycles where the kernel defends itself
 * against speculation. struct flash_policy documents the hooks.
 */
#include "iosched.h"

/* For policies that let all tasks have the same tags */
static unsigned int flash_no_tag_limit(struct flash_queue *fq,
				       const struct blk_mq_hw_ctx *hctx, blk_opf_t opf)
{
	return 0;
}

DEFINE_STATIC_CALL_NULL(flash_hook_urgency, *flash_policy.urgency);
DEFINE_STATIC_CALL(flash_hook_tag_limit, flash_no_tag_limit);
DEFINE_STATIC_CALL_NULL(flash_hook_bio_class, *flash_policy.bio_class);
DEFINE_STATIC_CALL_NULL(flash_hook_rq_class, *flash_policy.rq_class);
DEFINE_STATIC_CALL_NULL(flash_hook_insert, *flash_policy.insert);
DEFINE_STATIC_CALL_NULL(flash_hook_select, *flash_policy.select);
DEFINE_STATIC_CALL_NULL(flash_hook_started, *flash_policy.started);
DEFINE_STATIC_CALL_NULL(flash_hook_completed, *flash_policy.completed);

/** flash_bind_hooks - bind them to the module's table, at load time */
void __init flash_bind_hooks(void)
{
	static_call_update(flash_hook_urgency, flash_policy.urgency);
	if (flash_policy.tag_limit)
		static_call_update(flash_hook_tag_limit, flash_policy.tag_limit);
	static_call_update(flash_hook_bio_class, flash_policy.bio_class);
	static_call_update(flash_hook_rq_class, flash_policy.rq_class);
	static_call_update(flash_hook_insert, flash_policy.insert);
	static_call_update(flash_hook_select, flash_policy.select);
	static_call_update(flash_hook_started, flash_policy.started);
	static_call_update(flash_hook_completed, flash_policy.completed);
}
