/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hbfq_rules.h - what the modes of H+BFQ are
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. How the
 * rules work is in common/share/share.h, Algorithm 2 is in common/share/budget.h.
 */
#ifndef HBFQ_RULES_H
#define HBFQ_RULES_H

#include "../common/share/share.h"

enum hbfq_mode {
	/* Budgets in the device's time, several tenants in the device */
	HBFQ_AUTO,
	/* Budgets in sectors, one tenant at a time */
	HBFQ_PAPER,
	HBFQ_NR_MODES
};

/**
 * hbfq_rules - the rules of a mode
 * @mode: the mode
 * @slice: how long a turn lasts at most, ns
 * @max_gap: longest time between two turns of a tenant, ns
 * @budget: sizes of budgets, in what is charged; sectors if that is a turn's time
 * @charge: what is charged
 * @rules: @antic is what the user says
 *
 * If mode auto charges the device's time, no budget is larger than what @max_gap
 * allows, so that is what Algorithm 2 begins with there.
 */
static inline void hbfq_rules(enum hbfq_mode mode, u64 slice, u64 max_gap,
			      const struct flash_budgets *budget,
			      enum flash_charge charge,
			      struct flash_share_rules *rules)
{
	rules->exclusive = mode == HBFQ_PAPER;
	rules->budgets = true;
	rules->fixed = mode == HBFQ_PAPER;
	rules->slice = slice;
	rules->budget = *budget;
	rules->max_gap = 0;
	rules->charge = charge;
	if (mode == HBFQ_AUTO && charge == FLASH_CHARGE_TIME) {
		rules->budget.standard = max_gap;
		rules->budget.least = 0;
		rules->budget.exhausted = 0;
		rules->max_gap = max_gap;
	}
}

#endif /* HBFQ_RULES_H */
