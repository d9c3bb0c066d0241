// SPDX-License-Identifier: GPL-2.0
/*
 * hbfq.c - H+BFQ, budget fair queueing that remembers
 *
 * J. Kim, E. Lee, S. H. Noh: "I/O Schedulers for Proportionality and Stability
 * on Flash-Based SSDs in Multi-Tenant Environments", IEEE Access 8, 2020.
 *
 * Budget fair queueing gives the device to one tenant after the other, for as
 * many sectors as its budget has. H+BFQ keeps what a tenant has left for its
 * next turn, and gives those who use all of it less: one part of the default for
 * each tenant that is there. So nobody is away from the device for long.
 *
 * Who goes next is in common/share.h, Algorithm 2 in common/budget.h, the rest
 * in common/tenancy.c.
 */
#include "../common/tenancy.h"
#include "hbfq_rules.h"

/*
 * default_budget_sectors: Default_budget, and what each tenant starts with.
 * min_budget_sectors: Min_budget; 0: a 32nd of the default.
 * exhausted_budget_sectors: what follows a budget that was used up; 0: the
 *	paper's formula. Its figure 20 studies 128 to 2048.
 * max_gap_us: mode auto makes budgets so small that a tenant is back after it.
 * slice_ms: no turn lasts longer; 0: any.
 */
#define HBFQ_TUNABLES(X)					\
	TENANCY_TUNABLES(X)					\
	X(slice_ms, 0, 10000, 125)				\
	X(default_budget_sectors, 1, 1048576, 16384)		\
	X(min_budget_sectors, 0, 1048576, 0)			\
	X(exhausted_budget_sectors, 0, 1048576, 0)		\
	X(max_gap_us, 1, 1000000, 4000)

#define TENANCY_MODES	"one of auto paper"

FLASH_DEFINE_ATTRS(HBFQ_TUNABLES, TENANCY_TEXTS, FLASH_NONE, TENANCY_STORED);

const char policy_name[] = "hbfq";

const char * const tenancy_modes[] = {
	[HBFQ_AUTO]	= "auto",
	[HBFQ_PAPER]	= "paper",
	[HBFQ_NR_MODES]	= NULL,
};

void tenancy_rules(struct flash_queue *fq, unsigned int mode,
		   enum tenancy_charge charge,
		   struct flash_share_rules *rules)
{
	struct flash_budgets budget = {
		.standard	= flash_tun(fq, TUN_default_budget_sectors),
		.least		= flash_tun(fq, TUN_min_budget_sectors),
		.exhausted	= flash_tun(fq, TUN_exhausted_budget_sectors),
	};

	hbfq_rules(mode, flash_tun(fq, TUN_slice_ms) * (u64)NSEC_PER_MSEC,
		   flash_tun(fq, TUN_max_gap_us) * (u64)NSEC_PER_USEC, &budget,
		   tenancy_charged(charge, mode == HBFQ_AUTO ?
				   FLASH_CHARGE_TIME : FLASH_CHARGE_SECTORS),
		   rules);
}

MODULE_ALIAS("hbfq-iosched");
MODULE_DESCRIPTION("H+BFQ I/O scheduler: shares by weight, budgets with history");
MODULE_LICENSE("GPL");
