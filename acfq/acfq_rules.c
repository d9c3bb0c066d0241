// SPDX-License-Identifier: GPL-2.0
#include "acfq.h"

/**
 * acfq_rules - the rules of a mode
 * @mode: the mode
 * @slice: length of a turn at the default weight, ns
 * @charge: what is charged; FAIR_CHARGE_AUTO: sectors, as in the paper
 * @rules: the rules, with the members set that follow from common tunables
 */
void acfq_rules(enum acfq_mode mode, u64 slice, enum fair_charge charge,
		struct fair_rules *rules)
{
	rules->exclusive = mode != ACFQ_AUTO;
	rules->budgets = false;
	rules->fixed = false;
	rules->slice = rules->exclusive ? slice : 0;
	rules->charge = charge == FAIR_CHARGE_AUTO ? FAIR_CHARGE_SECTORS : charge;
	rules->max_gap = 0;
	if (mode == ACFQ_CFQ)
		rules->antic = false;
}
