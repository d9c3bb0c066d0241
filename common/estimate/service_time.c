// SPDX-License-Identifier: GPL-2.0
/*
 * service_time.c - learns the time that a device needs for a request
 *
 * Problem: predict the service time of a request from earlier requests.
 *
 * Algorithm: each direction and class of size (an octave of sectors) has a moving average of
 * the size and of the time. Between two classes with samples, the time is on the line
 * through their averages. So a service time of base + slope * sectors is learned exactly.
 * A stall counts as a few times the average only.
 *
 * Invariant: the line between two classes never falls. The caller's lock guards all state.
 *
 * Entry points: flash_cost_learn(), flash_cost_ns().
 */
#include <linux/log2.h>

#include "service_time.h"

/* A new sample weighs 1/8; the first eight weigh equally. */
#define FLASH_COST_WEIGHT	8

/* Fractional bits of the averages */
#define FLASH_COST_SHIFT	8

/*
 * A longer time than this multiple of the average is a stall, and counts as the multiple.
 * The multiple is at least 1 us, or an average of 0 could never rise.
 */
#define FLASH_COST_STALL	4
#define FLASH_COST_STALL_MIN	1000

/* The class of requests of @sectors, at least 1 */
static inline u32 flash_cost_class(u64 sectors)
{
	u32 idx = (u32)ilog2(sectors);

	return idx < FLASH_COST_CLASSES ? idx : FLASH_COST_CLASSES - 1;
}

/* Move an average towards a sample by 1/@weight of the distance, rounded. */
static __always_inline void flash_cost_move(u64 *avg, u64 sample, u32 weight)
{
	sample <<= FLASH_COST_SHIFT;
	if (sample >= *avg)
		*avg += (sample - *avg + weight / 2) / weight;
	else
		*avg -= (*avg - sample + weight / 2) / weight;
}

/* One of the first samples of @class */
static noinline void flash_cost_begin(struct flash_cost_class *class, u64 sectors, u64 ns)
{
	class->nr++;
	flash_cost_move(&class->sectors, sectors, class->nr);
	flash_cost_move(&class->ns, ns, class->nr);
}

/**
 * flash_cost_learn - add the service time of a request
 * @c: service times
 * @dir: its direction
 * @sectors: its size; 0 is ignored
 * @ns: its service time, without its wait for other requests
 */
__always_inline void flash_cost_learn(struct flash_cost *c, enum flash_dir dir, u64 sectors, u64 ns)
{
	struct flash_cost_class *class;
	u64 most;
	u32 idx;

	if (!sectors)
		return;
	if (sectors > FLASH_COST_LARGEST)
		sectors = FLASH_COST_LARGEST;
	if (ns > FLASH_COST_LONGEST)
		ns = FLASH_COST_LONGEST;
	idx = flash_cost_class(sectors);
	class = &c->class[dir][idx];
	if (unlikely(class->nr < FLASH_COST_WEIGHT)) {
		c->known[dir] |= 1U << idx;
		flash_cost_begin(class, sectors, ns);
		return;
	}
	most = (class->ns >> FLASH_COST_SHIFT) * FLASH_COST_STALL;
	if (most < FLASH_COST_STALL_MIN)
		most = FLASH_COST_STALL_MIN;
	if (ns > most)
		ns = most;
	if (class->sectors != sectors << FLASH_COST_SHIFT)
		flash_cost_move(&class->sectors, sectors, FLASH_COST_WEIGHT);
	flash_cost_move(&class->ns, ns, FLASH_COST_WEIGHT);
}

/* flash_cost_ns() for any size */
static noinline u64 flash_cost_between(const struct flash_cost *c, enum flash_dir dir,
				       u64 sectors)
{
	const struct flash_cost_class *class = c->class[dir], *low, *high;
	u32 known = c->known[dir], idx, below;
	u64 size, ns, most;

	if (!known)
		return 0;
	if (sectors > FLASH_COST_LARGEST)
		sectors = FLASH_COST_LARGEST;
	size = sectors << FLASH_COST_SHIFT;
	/* The first known class with an average size of at least @sectors, or the last one */
	idx = sectors ? flash_cost_class(sectors) : 0;
	if (known >> idx & 1 && class[idx].sectors < size)
		idx++;
	if (!(known >> idx))
		idx = (u32)ilog2(known);
	else
		idx += (u32)__builtin_ctz(known >> idx);
	high = &class[idx];
	ns = high->ns;
	below = known & ((1U << idx) - 1);
	if (below) {
		u64 run, rise, way;

		low = &class[ilog2(below)];
		run = (high->sectors - low->sectors) >> FLASH_COST_SHIFT;
		rise = high->ns > low->ns ? high->ns - low->ns : 0;
		way = (size - low->sectors) >> FLASH_COST_SHIFT;
		ns = low->ns;
		if (run && way == run)
			ns += rise;
		else if (run)
			ns += rise / run * way + rise % run * way / run;
	}
	if (size > high->sectors) {
		most = high->ns / high->sectors * size +
		       high->ns % high->sectors * size / high->sectors;
		if (ns > most)
			ns = most;
	}
	return (ns + (1U << (FLASH_COST_SHIFT - 1))) >> FLASH_COST_SHIFT;
}

/**
 * flash_cost_ns - predict the service time of a request
 * @c: service times
 * @dir: its direction
 * @sectors: its size
 *
 * Between two classes, and beyond the largest one, the result is on the line through the
 * two nearest; below the smallest one it is the time of the smallest. A line never
 * falls, and beyond the largest class a sector costs no more than in that class.
 *
 * Return: ns, or 0 if there is no sample of this direction.
 */
__always_inline u64 flash_cost_ns(const struct flash_cost *c, enum flash_dir dir, u64 sectors)
{
	u32 idx = flash_cost_class(sectors | 1);
	const struct flash_cost_class *class = &c->class[dir][idx];

	/* The smallest class with samples, all of this size */
	if (likely((c->known[dir] & ((2U << idx) - 1)) == 1U << idx &&
		   class->sectors == sectors << FLASH_COST_SHIFT))
		return (class->ns + (1U << (FLASH_COST_SHIFT - 1))) >> FLASH_COST_SHIFT;
	return flash_cost_between(c, dir, sectors);
}
