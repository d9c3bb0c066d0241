/* SPDX-License-Identifier: GPL-2.0 */
/*
 * modes.h - acfq.c and hbfq.c: their modes, rules and defaults
 *
 * Stands in for fairshare.h, which needs the block layer. A device has only tunables here, by
 * name.
 */
#ifndef MODES_H
#define MODES_H

#define FLASH_FAIRSHARE_H

#include "common/share/fairqueue.h"

struct flash_queue {
	unsigned int TUN_slice_ms, TUN_max_gap_us, TUN_default_budget_sectors,
		     TUN_min_budget_sectors, TUN_exhausted_budget_sectors;
};

struct fairshare {
	const char * const *modes;
	unsigned int nr_modes;
	void (*set_rules)(struct flash_queue *fq, unsigned int mode,
			  enum fair_charge charge, struct fair_rules *rules);
};

#define flash_tun(fq, tun)	((fq)->tun)
#define TUN_DEFAULT(tun, min, max, def, what)	.TUN_##tun = def,
#define FLASH_DEFINE_ATTRS(TABLE, TEXTS, SHOWN, COMMANDS) \
	struct flash_queue flash_defaults = { TABLE(TUN_DEFAULT) }
#define FAIRSHARE_TUNABLES(X)
#define FLASH_ATTRS		.attrs = NULL
#define FAIRSHARE_HOOKS		.hooks = NULL
#define FLASH_POLICY \
	struct flash_policy { const char *name; const void *data, *attrs, *hooks; }
#define MODULE_ALIAS(text)		_Static_assert(1, "")
#define MODULE_DESCRIPTION(text)	_Static_assert(1, "")
#define MODULE_LICENSE(text)		_Static_assert(1, "")

/* Both files define these names. */
#define flash_policy	acfq_policy
#define flash_defaults	acfq_defaults
FLASH_POLICY;
#include "acfq/acfq.c"

#undef FAIRSHARE_MODES
#undef flash_policy
#undef flash_defaults
#define flash_policy	hbfq_policy
#define flash_defaults	hbfq_defaults
FLASH_POLICY;
#include "hbfq/hbfq.c"

#endif /* MODES_H */
