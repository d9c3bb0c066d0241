/* SPDX-License-Identifier: GPL-2.0 */
/* layerhooks.h - the hooks of layer_read.c, without struct request */
#ifndef LAYER_HOOKS_H
#define LAYER_HOOKS_H

#include "layer_read/sublayer.h"

static inline void hook_insert(struct layer_sched *s, struct layer_part *part, u64 seq,
			       enum flash_dir dir, u64 sector, u32 sectors, u64 now)
{
	layer_describe(part, dir, sector, sectors);
	part->seq = seq;
	part->arrived = now;
	layer_insert(s, part);
}

/* Change the settings, and sort all waiting requests, which the core does in parts. */
static inline void hook_set(struct layer_sched *s, const struct layer_tunables *tun,
			    u64 capacity)
{
	layer_set(s, tun, capacity);
	while (!layer_sort_next(s))
		;
}

static inline void hook_completed(struct layer_sched *s, struct layer_part *part,
				  bool ended, u64 now)
{
	layer_complete(s, part, ended, now);
}

#endif /* LAYER_HOOKS_H */
