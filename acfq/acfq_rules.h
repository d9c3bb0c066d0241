/* SPDX-License-Identifier: GPL-2.0 */
/*
 * acfq_rules.h - what the modes of A+CFQ are
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. How the
 * rules work is in common/share/share.h.
 */
#ifndef ACFQ_RULES_H
#define ACFQ_RULES_H

#include "../common/share/share.h"

enum acfq_mode {
	/* A window over all tenants: start-time fair queueing */
	ACFQ_AUTO,
	/* One tenant at a time, which is waited for by Algorithm 1 */
	ACFQ_PAPER,
	/* The same without waiting: what the paper compares with */
	ACFQ_CFQ,
	ACFQ_NR_MODES
};

/**
 * acfq_rules - the rules of a mode
 * @mode: the mode
 * @slice: how long a turn of the default weight lasts, ns
 * @charge: what is charged
 * @rules: @antic is what the user says, and is changed only by the mode
 */
static inline void acfq_rules(enum acfq_mode mode, u64 slice,
			      enum flash_charge charge,
			      struct flash_share_rules *rules)
{
	rules->exclusive = mode != ACFQ_AUTO;
	rules->budgets = false;
	rules->fixed = false;
	rules->slice = rules->exclusive ? slice : 0;
	rules->charge = charge;
	rules->max_gap = 0;
	if (mode == ACFQ_CFQ)
		rules->antic = false;
}

#endif /* ACFQ_RULES_H */
