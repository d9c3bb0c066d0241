/* SPDX-License-Identifier: GPL-2.0 */
/*
 * think_time.h - Algorithm 1 of the A+CFQ paper: how long to wait for a tenant
 *
 * A tenant without requests keeps the device until it has waited for the tenant's mean
 * time between two dispatches. The mean is an integer moving average. Gaps above a
 * maximum, and gaps far above the mean (strays), are left out. FLASH_GAP_STRAYS strays in
 * a row replace the mean: the gaps of a burst are nearly 0, and after it all gaps of a
 * tenant that sends one request at a time would be strays.
 */
#ifndef FLASH_THINK_TIME_H
#define FLASH_THINK_TIME_H

#include <linux/types.h>

/* Weight of a new sample: 1/8. A sample above 8 times the mean is a stray. */
#define FLASH_GAP_WEIGHT	8
#define FLASH_GAP_STRAY		8

/**
 * struct flash_gap - a mean gap
 * @known: there was a sample
 * @strays: number of strays since the latest sample that counted
 * @ns: the mean, ns, if @known
 */
struct flash_gap {
	bool known;
	u32 strays;
	u64 ns;
};

void flash_gap_add_stray(struct flash_gap *gap, u64 ns);

/** flash_gap_average - one step of the moving average, rounded down */
static inline u64 flash_gap_average(u64 avg, u64 sample)
{
	return (avg * (FLASH_GAP_WEIGHT - 1) + sample) / FLASH_GAP_WEIGHT;
}

/**
 * flash_gap_add - add a sample
 * @gap: the mean
 * @ns: the sample, ns
 * @cap: largest sample that counts, ns
 */
static inline void flash_gap_add(struct flash_gap *gap, u64 ns, u64 cap)
{
	if (ns > cap)
		return;
	/* A mean of 0 has no strays, or it could never rise. */
	if (!gap->known || (gap->ns && ns / FLASH_GAP_STRAY > gap->ns)) {
		flash_gap_add_stray(gap, ns);
		return;
	}
	gap->strays = 0;
	gap->ns = flash_gap_average(gap->ns, ns);
}

/**
 * flash_gap_wait - how long to wait for a tenant, ns
 * @gap: the tenant's mean gap
 * @cap: the longest wait, and the wait while the mean is unknown, ns
 */
static inline u64 flash_gap_wait(const struct flash_gap *gap, u64 cap)
{
	return gap->known && gap->ns < cap ? gap->ns : cap;
}

/**
 * flash_gap_switch - Algorithm 1, lines 6 to 11: switch to another tenant?
 * @idle: the tenant has no request that waits or is in the device
 * @wait: time since the tenant's latest completion, ns
 * @avg: the tenant's mean time between two dispatches, ns
 */
static inline bool flash_gap_switch(bool idle, u64 wait, u64 avg)
{
	return idle && wait >= avg;
}

#endif /* FLASH_THINK_TIME_H */
