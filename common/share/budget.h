/* SPDX-License-Identifier: GPL-2.0 */
/*
 * budget.h - virtual time, and how much a tenant may use at a stretch
 *
 * Pure logic, shared with the user-space unit tests.
 *
 * Virtual time is what was used, divided by the weight, with FLASH_VTIME_SHIFT
 * bits behind the point. It may wrap: two of them are compared by their
 * difference.
 */
#ifndef FLASH_BUDGET_H
#define FLASH_BUDGET_H

#include <linux/kernel.h>
#include <linux/types.h>

#define FLASH_VTIME_SHIFT	16
#define FLASH_WEIGHT_MIN	1
#define FLASH_WEIGHT_MAX	1000
#define FLASH_WEIGHT_DEFAULT	100

/* More is never charged at once; products with it fit 64 bits. */
#define FLASH_CHARGE_MAX	(1ULL << 40)

/* Min_budget of Algorithm 2, in parts of the default */
#define FLASH_BUDGET_PARTS	32

/** flash_vtime_before - is @a earlier than @b? */
static inline bool flash_vtime_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/** flash_vtime_max - the later one */
static inline u64 flash_vtime_max(u64 a, u64 b)
{
	return flash_vtime_before(a, b) ? b : a;
}

/**
 * flash_vtime_of - the virtual time of some use
 * @used: what was used
 * @weight: by whom; or the sum of several weights
 */
static inline u64 flash_vtime_of(u64 used, u64 weight)
{
	if (used > FLASH_CHARGE_MAX)
		used = FLASH_CHARGE_MAX;
	return (used << FLASH_VTIME_SHIFT) / (weight ? weight : 1);
}

/**
 * enum flash_reason - why a tenant's turn ended
 * @FLASH_KEEPS: it did not
 * @FLASH_EXPIRED: its time was up
 * @FLASH_IDLE: it had no requests
 * @FLASH_EXHAUSTED: its budget was used up
 * @FLASH_NR_REASONS: their number
 */
enum flash_reason {
	FLASH_KEEPS,
	FLASH_EXPIRED,
	FLASH_IDLE,
	FLASH_EXHAUSTED,
	FLASH_NR_REASONS,
};

/**
 * struct flash_budgets - the sizes that Algorithm 2 chooses from
 * @standard: Default_budget, at least 1
 * @least: Min_budget; 0: @standard / FLASH_BUDGET_PARTS
 * @exhausted: what follows exhaustion; 0: the formula. Not limited by @least
 */
struct flash_budgets {
	u64 standard;
	u64 least;
	u64 exhausted;
};

/** flash_budget_least - Min_budget */
static inline u64 flash_budget_least(const struct flash_budgets *b)
{
	return b->least ? b->least : b->standard / FLASH_BUDGET_PARTS;
}

/**
 * flash_budget_next - Algorithm 2
 * @b: the sizes
 * @budget: what the tenant had
 * @used: what it used of it; the last request may have needed more
 * @why: why its turn ended
 * @n: tenants with something waiting or in the device
 *
 * Return: its next budget, at least 1.
 */
static inline u64 flash_budget_next(const struct flash_budgets *b, u64 budget,
				    u64 used, enum flash_reason why, u32 n)
{
	u64 least = flash_budget_least(b);
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

/**
 * flash_budget_gap - the budget with which nobody waits too long for a turn
 * @gap: the longest time between two turns of a tenant, at most FLASH_CHARGE_MAX
 * @weight: the tenant's
 * @weights: of all that take turns
 *
 * With everybody's budget in the device's time, and all of them together half of @gap,
 * each has one turn in that half, but may be the first to have it in one and the last in
 * the next. With equal budgets it would be back the later the less it weighs.
 */
static inline u64 flash_budget_gap(u64 gap, u32 weight, u64 weights)
{
	u64 budget = weights > weight ? gap / 2 * weight / weights : gap;

	return budget ? budget : 1;
}

/**
 * flash_slice_of - how long a turn may last
 * @slice: what a tenant of the default weight gets
 * @weight: the tenant's
 */
static inline u64 flash_slice_of(u64 slice, u32 weight)
{
	return slice * weight / FLASH_WEIGHT_DEFAULT;
}

#endif /* FLASH_BUDGET_H */
