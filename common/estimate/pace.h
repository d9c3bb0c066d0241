/* SPDX-License-Identifier: GPL-2.0 */
/* pace.h - the windows of time in which depth_search.c compares limits */
#ifndef FLASH_PACE_H
#define FLASH_PACE_H

#include "depth_search.h"

/* Completions of the shortest window, and its length, ns */
#define FLASH_PACE_ENDS		64
#define FLASH_PACE_NS		4000000

/**
 * struct flash_pace - the search for a limit, and its window
 * @begun:	start of the window, ns; 0: none
 * @moved:	sectors that its completions have read or written
 * @ends:	completions in it
 * @least:	completions that a window has at least
 * @full:	the limit held a request back in it
 * @dry:	the device was idle in it at some time
 * @climb:	the search; a completion mostly uses only what precedes it
 */
struct flash_pace {
	u64 begun;
	u64 moved;
	u32 ends;
	u32 least;
	bool full;
	bool dry;
	struct flash_climb climb;
};

void flash_pace_init(struct flash_pace *p, u32 start, u32 max);

/** flash_pace_break - abandon the window and its pair: the load will be another one */
static inline void flash_pace_break(struct flash_pace *p)
{
	p->begun = 0;
	p->climb.second = false;
}

/** flash_pace_limit - the limit in force */
static inline u32 flash_pace_limit(const struct flash_pace *p)
{
	return flash_climb_limit(&p->climb);
}

/**
 * flash_pace_count - count a completion
 * @p: the search
 * @last: no other request is in flight
 * @rules: this limit is in force
 * @now: the time, ns
 *
 * Its sectors have been added to @moved.
 *
 * Return: flash_pace_judge() has to be called.
 */
static inline bool flash_pace_count(struct flash_pace *p, bool last, bool rules,
				    u64 now)
{
	p->ends++;
	if (last)
		p->dry = true;
	return !rules || !p->begun ||
	       (p->ends >= p->least && now - p->begun >= FLASH_PACE_NS);
}

void flash_pace_judge(struct flash_pace *p, bool rules, u64 now);

/* Start a window. */
static inline void flash_pace_window(struct flash_pace *p, u64 now)
{
	p->begun = now;
	p->ends = 0;
	p->moved = 0;
	p->full = false;
	p->dry = false;
}

/** flash_pace_skip - a completion while another limit is in force: end the pair */
static inline void flash_pace_skip(struct flash_pace *p, u64 now)
{
	p->climb.second = false;
	flash_pace_window(p, now);
}

/** flash_pace_end - flash_pace_count(), and flash_pace_judge() if necessary */
static inline void flash_pace_end(struct flash_pace *p, bool last, bool rules,
				  u64 now)
{
	if (flash_pace_count(p, last, rules, now))
		flash_pace_judge(p, rules, now);
}

#endif /* FLASH_PACE_H */
