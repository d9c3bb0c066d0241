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

#include <linux/types.h>

#include "../flash/op.h"

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

void flash_cost_learn(struct flash_cost *c, enum flash_dir dir, u64 sectors, u64 ns);
u64 flash_cost_ns(const struct flash_cost *c, enum flash_dir dir, u64 sectors);

#endif /* FLASH_SERVICE_TIME_H */
