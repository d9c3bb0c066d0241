// SPDX-License-Identifier: GPL-2.0
#include <linux/log2.h>

#include "histogram.h"

/** flash_latency_bucket - the bucket of a time in ns */
u32 flash_latency_bucket(u64 ns)
{
	u32 octave;

	if (ns < FLASH_LAT_SUB)
		return (u32)ns;
	octave = (u32)ilog2(ns);
	if (octave >= FLASH_LAT_BITS)
		return FLASH_LAT_BUCKETS - 1;
	octave -= FLASH_LAT_SUB_SHIFT;
	/* The top bit counts one, so that octaves follow each other. */
	return octave * FLASH_LAT_SUB + (u32)(ns >> octave);
}

/** flash_latency_top - the longest time in ns that @bucket stands for */
u64 flash_latency_top(u32 bucket)
{
	u32 octave = bucket / FLASH_LAT_SUB;

	if (!octave)
		return bucket;
	octave--;
	return ((bucket % FLASH_LAT_SUB + FLASH_LAT_SUB + 1ULL) << octave) - 1;
}

/** flash_latency_add - add what @from has counted */
void flash_latency_add(struct flash_latency *h, const struct flash_latency *from)
{
	u32 i;

	for (i = 0; i < FLASH_LAT_BUCKETS; i++)
		h->nr[i] += from->nr[i];
}

/** flash_latency_total - how many times were noted */
u64 flash_latency_total(const struct flash_latency *h)
{
	u64 total = 0;
	u32 i;

	for (i = 0; i < FLASH_LAT_BUCKETS; i++)
		total += h->nr[i];
	return total;
}

/**
 * flash_latency_quantile - a time that so many are not above
 * @h: the histogram, of less than 2^44 times
 * @ppm: how many, in parts of a million: 990000 is p99, 1000000 the longest
 *
 * Return: the time in ns, 0 of an empty histogram.
 */
u64 flash_latency_quantile(const struct flash_latency *h, u32 ppm)
{
	u64 want = (flash_latency_total(h) * ppm + 999999) / 1000000;
	u64 seen = 0;
	u32 i;

	for (i = 0; i < FLASH_LAT_BUCKETS; i++) {
		seen += h->nr[i];
		if (seen && seen >= want)
			return flash_latency_top(i);
	}
	return 0;
}
