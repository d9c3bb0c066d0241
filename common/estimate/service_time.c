// SPDX-License-Identifier: GPL-2.0
#include <linux/log2.h>

#include "service_time.h"

/* Moves an average towards a sample by 1/@weight of the way, rounded. */
static void flash_cost_move(u64 *avg, u64 sample, u32 weight)
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
void flash_cost_learn(struct flash_cost *c, enum flash_dir dir, u64 sectors, u64 ns)
{
	struct flash_cost_class *class;
	u32 idx;

	if (!sectors)
		return;
	if (sectors > FLASH_COST_LARGEST)
		sectors = FLASH_COST_LARGEST;
	if (ns > FLASH_COST_LONGEST)
		ns = FLASH_COST_LONGEST;
	idx = (u32)ilog2(sectors);
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
u64 flash_cost_ns(const struct flash_cost *c, enum flash_dir dir, u64 sectors)
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
