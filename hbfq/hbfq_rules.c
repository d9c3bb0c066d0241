// SPDX-License-Identifier: GPL-2.0
#include "hbfq.h"

/**
 * hbfq_rules - the rules of a mode
 * @mode: the mode
 * @slice: longest turn, ns
 * @max_gap: longest time between two turns of a tenant, ns
 * @budget: sizes of budgets, in the unit that is charged; sectors in exclusive turns
 * @charge: what is charged; FAIR_CHARGE_AUTO: time in mode auto, sectors in mode paper
 * @rules: the rules, with the members set that follow from common tunables
 *
 * With charges of device time, mode auto begins with the largest budget that @max_gap
 * allows.
 */
void hbfq_rules(enum hbfq_mode mode, u64 slice, u64 max_gap,
		const struct flash_budgets *budget, enum fair_charge charge,
		struct fair_rules *rules)
{
	if (charge == FAIR_CHARGE_AUTO)
		charge = mode == HBFQ_AUTO ? FAIR_CHARGE_TIME : FAIR_CHARGE_SECTORS;
	rules->exclusive = mode == HBFQ_PAPER;
	rules->budgets = true;
	rules->fixed = mode == HBFQ_PAPER;
	rules->slice = slice;
	rules->budget = *budget;
	rules->max_gap = 0;
	rules->charge = charge;
	if (mode == HBFQ_AUTO && charge == FAIR_CHARGE_TIME) {
		rules->budget = (struct flash_budgets){ .standard = max_gap };
		rules->max_gap = max_gap;
	}
}
