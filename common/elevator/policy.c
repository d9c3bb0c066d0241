// SPDX-License-Identifier: GPL-2.0
/*
 * policy.c - the hooks that each I/O needs, as direct calls
 *
 * An indirect call costs a load more, and tens of cycles where the kernel defends itself
 * against speculation. struct flash_policy documents the hooks.
 */
#include "iosched.h"

/* The optional hooks of a policy that lacks them */

static enum flash_urgency flash_default_urgency(const struct flash_queue *fq,
						blk_opf_t opf)
{
	return FLASH_PATIENT;
}

static unsigned int flash_default_tag_limit(struct flash_queue *fq,
					    const struct blk_mq_hw_ctx *hctx,
					    blk_opf_t opf)
{
	return 0;
}

static unsigned int flash_default_bio_class(struct flash_queue *fq,
					    const struct bio *bio)
{
	return 0;
}

static void flash_default_arrived(struct flash_queue *fq, struct flash_rq *fr)
{
}

static unsigned int flash_default_rq_class(struct flash_queue *fq,
					   const struct request *rq)
{
	return 0;
}

static bool flash_default_holds(struct flash_queue *fq)
{
	return false;
}

#define FLASH_DEFINE_HOOK(hook)						\
	DEFINE_STATIC_CALL_NULL(flash_hook_##hook, *flash_policy.hook);
#define FLASH_DEFINE_DEFAULT(hook)					\
	DEFINE_STATIC_CALL(flash_hook_##hook, flash_default_##hook);
#define FLASH_BIND_HOOK(hook)						\
	if (flash_policy.hook)						\
		static_call_update(flash_hook_##hook, flash_policy.hook);

FLASH_DIRECT_HOOKS(FLASH_DEFINE_HOOK)
FLASH_DIRECT_OPTIONAL_HOOKS(FLASH_DEFINE_DEFAULT)

/** flash_bind_hooks - bind them to the module's table, at load time */
void __init flash_bind_hooks(void)
{
	FLASH_DIRECT_HOOKS(FLASH_BIND_HOOK)
	FLASH_DIRECT_OPTIONAL_HOOKS(FLASH_BIND_HOOK)
}
