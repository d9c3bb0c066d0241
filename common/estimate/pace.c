// SPDX-License-Identifier: GPL-2.0
/*
 * pace.c - the windows of time in which depth_search.c compares limits
 *
 * Problem: the search for the limit of requests in flight needs windows that are long
 * compared with a request, with the sectors that the device moved in each.
 *
 * The caller reports completions, and sets @full when the limit has held a request back. A
 * window lasts at least FLASH_PACE_NS and has at least @least completions. All but the
 * last completion of a window only change counters.
 *
 * Entry points: flash_pace_init(), flash_pace_limit(), and at each completion
 * flash_pace_end(), or its halves flash_pace_count() and flash_pace_judge(). The
 * caller's lock guards all state.
 */
#include <linux/string.h>

#include "pace.h"

/**
 * flash_pace_init - start a search
 * @p: the search
 * @start: the smallest limit, at least 1
 * @max: the largest limit, not below @start
 */
void flash_pace_init(struct flash_pace *p, u32 start, u32 max)
{
	memset(p, 0, sizeof(*p));
	p->least = FLASH_PACE_ENDS;
	flash_climb_init(&p->climb, start, max);
}

/**
 * flash_pace_judge - end the window
 * @p: the search; flash_pace_count() was true
 * @rules: this limit is in force
 * @now: the time, ns
 */
void flash_pace_judge(struct flash_pace *p, bool rules, u64 now)
{
	u64 us;

	if (!p->begun || !rules) {
		flash_pace_skip(p, now);
	} else {
		/* Windows differ in length: compare rates. */
		us = (now - p->begun) / 1024;
		flash_climb_window(&p->climb, (p->moved << 20) / us, p->full,
				   p->dry);
		flash_pace_window(p, now);
	}
}
