/* SPDX-License-Identifier: GPL-2.0 */
/* service_time.h - learns the time that a device needs for a request */
#ifndef FLASH_SERVICE_TIME_H
#define FLASH_SERVICE_TIME_H

#include <linux/types.h>

#include "../flash/op.h"

/* Number of classes of size; the last one has all sizes from 2^11 sectors (1 MiB) */
#define FLASH_COST_CLASSES	12

/* Largest time (8.6 s) and size (2 GiB) that count; products fit 64 bits. */
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
 * struct flash_cost - service times of a device
 * @known: by direction, a bit for each class with samples
 * @class: by direction and size; all 0 at first
 */
struct flash_cost {
	u32 known[FLASH_NR_DIRS];
	struct flash_cost_class class[FLASH_NR_DIRS][FLASH_COST_CLASSES];
};

/** flash_cost_known - is there a sample of direction @dir? */
static inline bool flash_cost_known(const struct flash_cost *c, enum flash_dir dir)
{
	return c->known[dir];
}

void flash_cost_learn(struct flash_cost *c, enum flash_dir dir, u64 sectors, u64 ns);
u64 flash_cost_ns(const struct flash_cost *c, enum flash_dir dir, u64 sectors);

#endif /* FLASH_SERVICE_TIME_H */
