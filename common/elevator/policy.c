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

DEFINE_STATIC_CALL(flash_hook_tag_limit, flash_no_tag_limit);

/* For policies that hold no request back */
static bool flash_never_holds(struct flash_queue *fq)
{
	return false;
}

DEFINE_STATIC_CALL(flash_hook_holds, flash_never_holds);

#define FLASH_DEFINE_HOOK(hook)						\
	DEFINE_STATIC_CALL_NULL(flash_hook_##hook, *flash_policy.hook);
#define FLASH_BIND_HOOK(hook)						\
	static_call_update(flash_hook_##hook, flash_policy.hook);

FLASH_DIRECT_HOOKS(FLASH_DEFINE_HOOK)

/** flash_bind_hooks - bind them to the module's table, at load time */
void __init flash_bind_hooks(void)
{
	FLASH_DIRECT_HOOKS(FLASH_BIND_HOOK)
	if (flash_policy.tag_limit)
		FLASH_BIND_HOOK(tag_limit)
	if (flash_policy.holds)
		FLASH_BIND_HOOK(holds)
}
