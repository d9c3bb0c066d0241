/* SPDX-License-Identifier: GPL-2.0 */
/*
 * budget.h - virtual time, and the budgets of Algorithm 2 of the H+BFQ paper
 *
 * Virtual time is the service that a tenant received, divided by the tenant's weight,
 * with FLASH_VTIME_SHIFT fractional bits. It may wrap, so two virtual times are compared
 * by their difference.
 */
#ifndef FLASH_BUDGET_H
#define FLASH_BUDGET_H

#include <linux/kernel.h>
#include <linux/types.h>

#define FLASH_VTIME_SHIFT	16
#define FLASH_WEIGHT_MIN	1
#define FLASH_WEIGHT_MAX	1000
#define FLASH_WEIGHT_DEFAULT	100

/* Limit of a single charge, so that products with it fit into 64 bits */
#define FLASH_CHARGE_MAX	(1ULL << 40)

/** flash_vtime_before - is @a earlier than @b? */
static inline bool flash_vtime_before(u64 a, u64 b)
{
	return (s64)(a - b) < 0;
}

/** flash_vtime_max - the later one of two virtual times */
static inline u64 flash_vtime_max(u64 a, u64 b)
{
	return flash_vtime_before(a, b) ? b : a;
}

/**
 * flash_vtime_of - the virtual time of some service
 * @used: the service, in the unit that is charged
 * @weight: the weight of the tenant, or a sum of weights
 */
static inline u64 flash_vtime_of(u64 used, u64 weight)
{
	if (used > FLASH_CHARGE_MAX)
		used = FLASH_CHARGE_MAX;
	return (used << FLASH_VTIME_SHIFT) / (weight ? weight : 1);
}

/**
 * enum flash_reason - why a tenant's turn ended
 * @FLASH_KEEPS: it has not ended
 * @FLASH_EXPIRED: its time slice is over
 * @FLASH_IDLE: the tenant had no requests
 * @FLASH_EXHAUSTED: its budget is used up
 * @FLASH_NR_REASONS: number of reasons
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
 * @exhausted: budget after exhaustion, which may be below @least; 0: the formula
 */
struct flash_budgets {
	u64 standard;
	u64 least;
	u64 exhausted;
};

u64 flash_budget_next(const struct flash_budgets *b, u64 budget, u64 used,
		      enum flash_reason why, u32 n);

/**
 * flash_budget_gap - the budget that limits the time between two turns of a tenant
 * @gap: longest time between two turns, ns, at most FLASH_CHARGE_MAX
 * @weight: the tenant's weight
 * @weights: sum of the weights of the tenants that take turns
 *
 * All budgets, in device time, add up to half of @gap. So each tenant has one turn in each
 * half, and at worst its turn is the first of one half and the last of the next half. With
 * equal budgets a tenant would have to wait the longer the less it weighs.
 *
 * Return: the budget, ns, at least 1.
 */
static inline u64 flash_budget_gap(u64 gap, u32 weight, u64 weights)
{
	u64 budget = weights > weight ? gap / 2 * weight / weights : gap;

	return budget ? budget : 1;
}

/**
 * flash_slice_of - the length of a tenant's time slice
 * @slice: the slice of a tenant of the default weight
 * @weight: the tenant's weight
 */
static inline u64 flash_slice_of(u64 slice, u32 weight)
{
	return slice * weight / FLASH_WEIGHT_DEFAULT;
}

#endif /* FLASH_BUDGET_H */
