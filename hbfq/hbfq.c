// SPDX-License-Identifier: GPL-2.0
/*
 * hbfq.c - H+BFQ, budget fair queueing that remembers
 *
 * J. Kim, E. Lee, S. H. Noh: "I/O Schedulers for Proportionality and Stability
 * on Flash-Based SSDs in Multi-Tenant Environments", IEEE Access 8, 2020.
 *
 * Budget fair queueing gives the device to one tenant after the other, each for as many
 * sectors as its budget has. H+BFQ keeps what is left of a budget for the tenant's next
 * turn. A tenant that has used its whole budget gets a smaller one: the default budget
 * divided by the number of tenants. So no tenant is away from the device for long.
 *
 * The choice of the next request is in common/share/fairqueue.c, Algorithm 2 in
 * common/share/budget.c, and the hooks are in common/share/fairshare.c.
 */
#include "../common/share/fairshare.h"

/* exhausted_budget_sectors: the paper's figure 20 varies it from 128 to 2048. */
#define HBFQ_TUNABLES(X)					\
	FAIRSHARE_TUNABLES(X)						\
	X(slice_ms, 0, 10000, 125,					\
	  "longest turn, in ms, 0 = unlimited")				\
	X(default_budget_sectors, 1, 1048576, 16384,			\
	  "default budget of Algorithm 2, in sectors of 512 bytes")	\
	X(min_budget_sectors, 0, 1048576, 0,				\
	  "least budget of Algorithm 2, in sectors of 512 bytes, 0 = default / 32") \
	X(exhausted_budget_sectors, 0, 1048576, 0,			\
	  "budget after a used-up one, in sectors of 512 bytes, 0 = Algorithm 2's") \
	X(max_gap_us, 1, 1000000, 4000,					\
	  "longest time between a tenant's turns in mode auto, in us")

#define FAIRSHARE_MODES	"one of auto paper"

FLASH_DEFINE_ATTRS(HBFQ_TUNABLES, FAIRSHARE_TEXTS, FLASH_NONE, FAIRSHARE_STORED);

/**
 * enum hbfq_mode - the modes of hbfq
 * @HBFQ_AUTO: budgets of device time, requests of several tenants in the device
 * @HBFQ_PAPER: H+BFQ: budgets of sectors, one tenant at a time
 * @HBFQ_NR_MODES: number of modes
 */
enum hbfq_mode {
	HBFQ_AUTO,
	HBFQ_PAPER,
	HBFQ_NR_MODES
};

static const char * const hbfq_modes[] = {
	[HBFQ_AUTO]	= "auto",
	[HBFQ_PAPER]	= "paper",
};

/*
 * Unless the user sets the charge, mode auto charges device time, and mode paper sectors.
 * With charges of device time, mode auto begins with the largest budget that max_gap_us
 * allows.
 */
static void hbfq_set_rules(struct flash_queue *fq, unsigned int mode,
			   enum fair_charge charge, struct fair_rules *rules)
{
	if (charge == FAIR_CHARGE_AUTO)
		charge = mode == HBFQ_AUTO ? FAIR_CHARGE_TIME : FAIR_CHARGE_SECTORS;
	rules->exclusive = mode == HBFQ_PAPER;
	rules->budgets = true;
	rules->fixed = mode == HBFQ_PAPER;
	rules->slice = flash_tun(fq, TUN_slice_ms) * (u64)NSEC_PER_MSEC;
	rules->charge = charge;
	rules->max_gap = 0;
	rules->budget = (struct flash_budgets){
		.standard	= flash_tun(fq, TUN_default_budget_sectors),
		.least		= flash_tun(fq, TUN_min_budget_sectors),
		.exhausted	= flash_tun(fq, TUN_exhausted_budget_sectors),
	};
	if (mode == HBFQ_AUTO && charge == FAIR_CHARGE_TIME) {
		rules->max_gap = flash_tun(fq, TUN_max_gap_us) * (u64)NSEC_PER_USEC;
		rules->budget = (struct flash_budgets){ .standard = rules->max_gap };
	}
}

static const struct fairshare hbfq_fairshare = {
	.modes		= hbfq_modes,
	.nr_modes	= HBFQ_NR_MODES,
	.set_rules	= hbfq_set_rules,
};

const struct flash_policy flash_policy = {
	.name		= "hbfq",
	.data		= &hbfq_fairshare,
	FLASH_ATTRS,
	FAIRSHARE_HOOKS,
};

MODULE_ALIAS("hbfq-iosched");
MODULE_DESCRIPTION("H+BFQ I/O scheduler: shares by weight, budgets with history");
MODULE_LICENSE("GPL");
