// SPDX-License-Identifier: GPL-2.0
#include <linux/string.h>

#include "pace.h"

/**
 * flash_pace_init - begin to search
 * @p: the bound
 * @start: the least one, at least 1
 * @max: the largest, not below @start
 */
void flash_pace_init(struct flash_pace *p, u32 start, u32 max)
{
	memset(p, 0, sizeof(*p));
	p->least = FLASH_PACE_ENDS;
	flash_climb_init(&p->climb, start, max);
}

/* A window begins. */
static void flash_pace_window(struct flash_pace *p, u64 now)
{
	p->begun = now;
	p->ends = 0;
	p->moved = 0;
	p->full = false;
	p->dry = false;
}

/**
 * flash_pace_judge - end the window if it has lasted long enough
 * @p: the search
 * @rules: this limit is in force
 * @now: the time, ns
 */
void flash_pace_judge(struct flash_pace *p, bool rules, u64 now)
{
	u64 us;

	if (!p->begun || !rules) {
		p->climb.second = false;
		flash_pace_window(p, now);
	} else if (now - p->begun >= FLASH_PACE_NS) {
		/* Windows differ in length. */
		us = (now - p->begun) / 1024;
		flash_climb_window(&p->climb, (p->moved << 20) / us, p->full,
				   p->dry);
		flash_pace_window(p, now);
	}
}
