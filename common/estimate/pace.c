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
 * flash_pace_end - a request that counts has ended
 * @p: the bound
 * @last: the device has nothing to do now
 * @rules: it is this bound that holds now
 * @now: the time, ns
 *
 * Its sectors have been added to @moved.
 */
void flash_pace_end(struct flash_pace *p, bool last, bool rules, u64 now)
{
	p->ends++;
	if (last)
		p->dry = true;
	if (!p->begun || !rules) {
		p->climb.second = false;
		flash_pace_window(p, now);
	} else if (now - p->begun >= FLASH_PACE_NS &&
		   p->ends >= p->least) {
		/* Windows differ in length. */
		u64 us = (now - p->begun) / 1024;

		flash_climb_window(&p->climb, (p->moved << 20) / us, p->full,
				   p->dry);
		flash_pace_window(p, now);
	}
}
