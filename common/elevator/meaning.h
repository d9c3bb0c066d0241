/* SPDX-License-Identifier: GPL-2.0 */
/*
 * meaning.h - what a kernel means by a value, where its BTF does not show it
 *
 * Stable updates changed two meanings without a change of a structure or a prototype, so
 * neither the version nor the features of compat.h show them:
 *
 * - blk_mq_alloc_data.shallow_depth limits the tags of each word of the tag bitmap, or of all
 *   of the bitmap. 6.12.43 is one of the updates that changed it. compat_meaning_init() tries it.
 * - blk_mq_alloc_data.hctx in limit_depth() is NULL before 6.1.105, which chooses the hardware
 *   queue later. A limit_depth() that needs the queue calls compat_limit_early() then.
 *
 * Part of compat.h. The unit tests include it with stand-ins for the kernel.
 */
#ifndef FLASH_MEANING_H
#define FLASH_MEANING_H

/* Unit of shallow_depth: a word of the bitmap. Constant after the module was loaded. */
extern bool compat_shallow_per_word;

int compat_meaning_init(void);
void compat_limit_early(blk_opf_t opf, struct blk_mq_alloc_data *data,
			void (*limit)(blk_opf_t opf, struct blk_mq_alloc_data *data));

/* compat_shallow_unit - number of tags that shallow_depth counts */
static inline unsigned int compat_shallow_unit(const struct blk_mq_hw_ctx *hctx)
{
	unsigned int all = compat_hctx_depth(hctx);

	/* Words keep the size that the largest nr_requests so far had needed. */
	if (compat_shallow_per_word)
		all = min(all, 1U << hctx->sched_tags->bitmap_tags.sb.shift);
	return all;
}

#endif /* FLASH_MEANING_H */
