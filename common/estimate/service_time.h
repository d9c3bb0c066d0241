/* SPDX-License-Identifier: GPL-2.0 */
/*
 * service_time.h - the time that a device needs for a request, learned
 *
 * Pure logic, shared with the user-space unit tests. The caller's lock guards
 * all of it.
 *
 * For each direction and class of size (an octave of sectors) a moving average
 * of the size and of the time is kept. Between two classes that have been seen
 * the time follows the line through them, so a device whose time is base +
 * slope * sectors is learned exactly.
 */
#ifndef FLASH_SERVICE_TIME_H
#define FLASH_SERVICE_TIME_H

#include "../pure.h"

/* The last class has everything from 2^11 sectors (1 MiB) on. */
#define FLASH_COST_CLASSES	12

/* A new sample weighs 1/8, the first ones as much as those before. */
#define FLASH_COST_WEIGHT	8

/* Averages have so many bits behind the point. */
#define FLASH_COST_SHIFT	8

/*
 * A time beyond this multiple of the average counts as that: a stall. Never one
 * below 1 us, or an average of nothing would stay that.
 */
#define FLASH_COST_STALL	4
#define FLASH_COST_STALL_MIN	1000

/* Beyond 8.6 s and 2 GiB everything costs the same; products fit 64 bits. */
#define FLASH_COST_LONGEST	(1ULL << 33)
#define FLASH_COST_LARGEST	(1ULL << 22)

/**
 * struct flash_cost_class - requests of about one size
 * @nr:		samples, up to FLASH_COST_WEIGHT
 * @sectors:	average size
 * @ns:		average time
 */
struct flash_cost_class {
	u32 nr;
	u64 sectors;
	u64 ns;
};

/**
 * struct flash_cost - what is known of a device
 * @class: by direction and size; all 0 at first
 */
struct flash_cost {
	struct flash_cost_class class[FLASH_NR_DIRS][FLASH_COST_CLASSES];
};

/* Moves an average towards a sample by 1/@weight of the way, rounded. */
static inline void flash_cost_move(u64 *avg, u64 sample, u32 weight)
{
	sample <<= FLASH_COST_SHIFT;
	if (sample >= *avg)
		*avg += (sample - *avg + weight / 2) / weight;
	else
		*avg -= (*avg - sample + weight / 2) / weight;
}

/**
 * flash_cost_learn - a request has taken so long
 * @c: what is known
 * @dir: its direction
 * @sectors: its size; 0 is ignored
 * @ns: the device's time, without what it waited for others
 */
static inline void flash_cost_learn(struct flash_cost *c, enum flash_dir dir,
				    u64 sectors, u64 ns)
{
	struct flash_cost_class *class;
	u32 idx;

	if (!sectors)
		return;
	if (sectors > FLASH_COST_LARGEST)
		sectors = FLASH_COST_LARGEST;
	if (ns > FLASH_COST_LONGEST)
		ns = FLASH_COST_LONGEST;
	idx = flash_log2(sectors);
	if (idx >= FLASH_COST_CLASSES)
		idx = FLASH_COST_CLASSES - 1;
	class = &c->class[dir][idx];
	if (class->nr < FLASH_COST_WEIGHT) {
		class->nr++;
	} else {
		u64 most = (class->ns >> FLASH_COST_SHIFT) * FLASH_COST_STALL;

		if (most < FLASH_COST_STALL_MIN)
			most = FLASH_COST_STALL_MIN;
		if (ns > most)
			ns = most;
	}
	flash_cost_move(&class->sectors, sectors, class->nr);
	flash_cost_move(&class->ns, ns, class->nr);
}

/**
 * flash_cost_ns - what a request will probably take
 * @c: what is known
 * @dir: its direction
 * @sectors: its size
 *
 * Between two sizes that are known, and beyond the largest, on the line through
 * the two next to it; what is smaller than all of them costs like the smallest.
 * No such line falls, and beyond the largest a sector costs no more than there.
 *
 * Return: ns, or 0 if nothing of this direction was seen yet.
 */
static inline u64 flash_cost_ns(const struct flash_cost *c, enum flash_dir dir,
				u64 sectors)
{
	const struct flash_cost_class *low = NULL, *high = NULL;
	u64 size, ns, most;
	u32 i;

	if (sectors > FLASH_COST_LARGEST)
		sectors = FLASH_COST_LARGEST;
	size = sectors << FLASH_COST_SHIFT;
	for (i = 0; i < FLASH_COST_CLASSES; i++) {
		const struct flash_cost_class *class = &c->class[dir][i];

		if (!class->nr)
			continue;
		low = high;
		high = class;
		if (class->sectors >= size)
			break;
	}
	if (!high)
		return 0;
	ns = high->ns;
	if (low) {
		u64 run = (high->sectors - low->sectors) >> FLASH_COST_SHIFT;
		u64 rise = high->ns > low->ns ? high->ns - low->ns : 0;
		u64 way = (size - low->sectors) >> FLASH_COST_SHIFT;

		ns = low->ns;
		if (run)
			ns += rise / run * way + rise % run * way / run;
	}
	most = high->ns / high->sectors * size +
	       high->ns % high->sectors * size / high->sectors;
	if (size > high->sectors && ns > most)
		ns = most;
	return (ns + (1U << (FLASH_COST_SHIFT - 1))) >> FLASH_COST_SHIFT;
}

#endif /* FLASH_SERVICE_TIME_H */
