// SPDX-License-Identifier: GPL-2.0
/*
 * acfq.c - A+CFQ, fair queueing with anticipation for SSDs
 *
 * J. Kim, E. Lee, S. H. Noh: "I/O Schedulers for Proportionality and Stability
 * on Flash-Based SSDs in Multi-Tenant Environments", IEEE Access 8, 2020.
 *
 * A fast device empties a tenant's queue before the tenant can fill it again. A scheduler
 * that then switches to another tenant gives shares that have little to do with weights.
 * A+CFQ counts the sectors that each tenant received, serves the tenant with the least
 * service for its weight, and waits for a tenant without requests as long as the tenant
 * usually takes to send the next one.
 *
 * The choice of the next request is in common/share/fairqueue.c, Algorithm 1 in
 * common/share/think_time.h, and the hooks are in common/share/fairshare.c.
 */
#include "../common/share/fairshare.h"

#define ACFQ_TUNABLES(X)					\
	FAIRSHARE_TUNABLES(X)						\
	X(slice_ms, 1, 1000, 20,					\
	  "length of a turn at weight 100 in modes paper and cfq, in ms")

#define FAIRSHARE_MODES	"one of auto paper cfq"

FLASH_DEFINE_ATTRS(ACFQ_TUNABLES, FAIRSHARE_TEXTS, FLASH_NONE, FAIRSHARE_STORED);

/**
 * enum acfq_mode - the modes of acfq
 * @ACFQ_AUTO: start-time fair queueing in a window over all tenants
 * @ACFQ_PAPER: A+CFQ: one tenant at a time, which is waited for by Algorithm 1
 * @ACFQ_CFQ: CFQ, which the paper compares with: A+CFQ without waiting
 * @ACFQ_NR_MODES: number of modes
 */
enum acfq_mode {
	ACFQ_AUTO,
	ACFQ_PAPER,
	ACFQ_CFQ,
	ACFQ_NR_MODES
};

static const char * const acfq_modes[] = {
	[ACFQ_AUTO]	= "auto",
	[ACFQ_PAPER]	= "paper",
	[ACFQ_CFQ]	= "cfq",
};

/* Unless the user sets the charge, sectors are charged, as in the paper. */
static void acfq_set_rules(struct flash_queue *fq, unsigned int mode,
			   enum fair_charge charge, struct fair_rules *rules)
{
	rules->exclusive = mode != ACFQ_AUTO;
	rules->budgets = false;
	rules->fixed = false;
	rules->slice = rules->exclusive ?
		       flash_tun(fq, TUN_slice_ms) * (u64)NSEC_PER_MSEC : 0;
	rules->charge = charge == FAIR_CHARGE_AUTO ? FAIR_CHARGE_SECTORS : charge;
	rules->max_gap = 0;
	if (mode == ACFQ_CFQ)
		rules->antic = false;
}

static const struct fairshare acfq_fairshare = {
	.modes		= acfq_modes,
	.nr_modes	= ACFQ_NR_MODES,
	.set_rules	= acfq_set_rules,
};

const struct flash_policy flash_policy = {
	.name		= "acfq",
	.data		= &acfq_fairshare,
	FLASH_ATTRS,
	FAIRSHARE_HOOKS,
};

MODULE_ALIAS("acfq-iosched");
MODULE_DESCRIPTION("A+CFQ I/O scheduler: shares by weight, with anticipation");
MODULE_LICENSE("GPL");
