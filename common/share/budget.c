// SPDX-License-Identifier: GPL-2.0
#include "budget.h"

/* Min_budget of Algorithm 2, as a fraction of Default_budget */
#define FLASH_BUDGET_PARTS	32

/**
 * flash_budget_next - Algorithm 2: a tenant's budget for its next turn
 * @b: the sizes
 * @budget: the budget of the turn that has ended
 * @used: the service of that turn; its last request may have exceeded @budget
 * @why: why the turn ended
 * @n: tenants with requests that wait or are in the device
 *
 * Return: the budget, at least 1.
 */
u64 flash_budget_next(const struct flash_budgets *b, u64 budget, u64 used,
		      enum flash_reason why, u32 n)
{
	u64 least = b->least ? b->least : b->standard / FLASH_BUDGET_PARTS;
	u64 left = used < budget ? budget - used : 0;

	if (why == FLASH_EXHAUSTED) {
		left = b->exhausted ? b->exhausted : b->standard / (n ? n : 1);
		if (!b->exhausted && left < least)
			left = least;
	} else if (left <= least) {
		left = b->standard;
	}
	return left ? left : 1;
}
