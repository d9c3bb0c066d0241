/* SPDX-License-Identifier: GPL-2.0 */
/*
 * share_turn.h - turns of tenants, for which each has a slice or a budget
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * The paper's modes are nothing else; of the windows only the one with budgets
 * has turns.
 */
#ifndef FLASH_SHARE_TURN_H
#define FLASH_SHARE_TURN_H

#include "share_state.h"

/* The turn ends: what was used is charged, and Algorithm 2 says what is next. */
static inline void flash_share_end_turn(struct flash_share *s,
					enum flash_reason why, u64 now)
{
	struct flash_tenant *t = s->active;
	u64 used = t->used, all;

	if (flash_share_timed(s)) {
		/* Not the time in which it had nothing to do. */
		if (!t->nr && !t->out)
			now = flash_vtime_max(t->turn, t->ended);
		used = now - t->turn;
		if (used > FLASH_CHARGE_MAX)
			used = FLASH_CHARGE_MAX;
		t->cost += used;
		t->got += used;
		all = flash_vtime_of(used, s->weights ? s->weights : t->weight);
		s->clock += all;
		if (s->rules.budgets)
			s->vtime += all;
	}
	if (s->rules.exclusive)
		flash_tenant_charge(t, used);
	if (flash_vtime_before(s->latest, t->vtime))
		s->latest = t->vtime;
	if (s->rules.budgets)
		t->budget = flash_budget_next(&s->rules.budget, t->budget,
					      t->used, why, s->busy + !t->busy);
	s->mean = flash_gap_average(s->mean, s->weights << 8);
	t->why[why]++;
	t->used = 0;
	s->active = NULL;
	s->stats.turns++;
}

/* What a tenant may use at a stretch. */
static inline u64 flash_share_budget(const struct flash_share *s,
				     const struct flash_tenant *t)
{
	u64 budget = t->budget ? t->budget : s->rules.budget.standard;
	u64 most, window, weights = s->mean >> 8;

	if (!s->rules.max_gap)
		return budget;
	/* Some have nothing to do for a moment, but who comes counts at once. */
	if (weights < s->weights)
		weights = s->weights;
	most = flash_budget_gap(s->rules.max_gap, t->weight, weights);
	window = flash_share_usual(s, t, flash_share_head(t)) *
		 (s->rules.depth ? s->rules.depth : 1);
	if (most > window)
		most = window;
	return budget < most ? budget : most;
}

/* A turn begins. */
static inline void flash_share_begin_turn(struct flash_share *s,
					  struct flash_tenant *t, u64 now)
{
	s->active = t;
	t->turn = now;
	t->used = 0;
	t->budget = flash_share_budget(s, t);
}

/* Does the turn of @t go on? If it is waited for, until when at most. */
static inline enum flash_reason flash_share_over(struct flash_share *s,
						 struct flash_tenant *t, u64 now)
{
	u64 slice = s->rules.slice, wait, end = 0;

	if (s->rules.budgets && t->used >= t->budget)
		return FLASH_EXHAUSTED;
	if (!s->rules.budgets)
		slice = flash_slice_of(slice, t->weight);
	if (slice) {
		end = t->turn + slice;
		if (now >= end)
			return FLASH_EXPIRED;
	}
	if (t->nr)
		return FLASH_KEEPS;
	if (!s->rules.exclusive)
		return FLASH_IDLE;
	if (t->out) {
		s->wake = end;
		return FLASH_KEEPS;
	}
	wait = 0;
	if (s->rules.antic && t->sync)
		wait = s->rules.fixed ? s->rules.antic_max :
		       flash_gap_wait(&t->gap, s->rules.antic_max);
	if (flash_gap_switch(true, now - t->ended, wait))
		return FLASH_IDLE;
	s->wake = t->ended + wait;
	if (end && end < s->wake)
		s->wake = end;
	if (!t->waited) {
		t->waited = true;
		t->waits++;
		s->stats.holds++;
	}
	return FLASH_KEEPS;
}

#endif /* FLASH_SHARE_TURN_H */
