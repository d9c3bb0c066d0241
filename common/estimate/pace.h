/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pace.h - the windows in which depth_search.h compares bounds
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * The caller tells when something ends, and when the bound held something back;
 * a window has at least so much time and so many ends.
 */
#ifndef FLASH_PACE_H
#define FLASH_PACE_H

#include "depth_search.h"

#define FLASH_PACE_NS		4000000
#define FLASH_PACE_ENDS		64

/**
 * struct flash_pace - a bound that is looked for
 * @climb:	the search
 * @least:	ends that a window has at least
 * @begun:	when the window began, ns; 0: none has
 * @ends:	requests that ended in it
 * @moved:	sectors that they have read or written
 * @full:	the bound held something back in it
 * @dry:	there was nothing to do in it for a time
 */
struct flash_pace {
	struct flash_climb climb;
	u32 least;
	u64 begun;
	u32 ends;
	u64 moved;
	bool full;
	bool dry;
};

void flash_pace_init(struct flash_pace *p, u32 start, u32 max);

/** flash_pace_break - what comes between the two windows of a pair is no evidence */
static inline void flash_pace_break(struct flash_pace *p)
{
	p->begun = 0;
	p->climb.second = false;
}

/** flash_pace_bound - what holds now */
static inline u32 flash_pace_bound(const struct flash_pace *p)
{
	return flash_climb_bound(&p->climb);
}

/**
 * flash_pace_count - a request that counts has completed
 * @p: the search
 * @last: no other request is in flight
 * @rules: this limit is in force
 *
 * Its sectors have been added to @moved.
 *
 * Return: flash_pace_judge() has to be called.
 */
static inline bool flash_pace_count(struct flash_pace *p, bool last, bool rules)
{
	p->ends++;
	p->dry |= last;
	return !p->begun || !rules || p->ends >= p->least;
}

void flash_pace_judge(struct flash_pace *p, bool rules, u64 now);

/** flash_pace_end - flash_pace_count(), and flash_pace_judge() if necessary */
static inline void flash_pace_end(struct flash_pace *p, bool last, bool rules,
				  u64 now)
{
	if (flash_pace_count(p, last, rules))
		flash_pace_judge(p, rules, now);
}

#endif /* FLASH_PACE_H */
