// SPDX-License-Identifier: GPL-2.0
/*
 * histogram.c - log-linear histograms of times
 *
 * Problem: note the time of each request in a few instructions, and find quantiles
 * with a known error.
 *
 * Algorithm: times below 16 ns have a bucket each, and each octave above has 16 buckets of
 * equal width. A quantile is the longest time of its bucket.
 *
 * Invariants: a quantile is never too small, and at most 1/16 (6.25 %) too large. There
 * is no lock: each histogram has one writer, such as a CPU, and a reader adds them up.
 *
 * Entry points: flash_latency_note(), flash_latency_add(), flash_latency_quantile().
 */
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
	/* The top bit of @ns adds one octave, so that octaves adjoin. */
	return octave * FLASH_LAT_SUB + (u32)(ns >> octave);
}

/** flash_latency_top - the longest time of @bucket, ns */
u64 flash_latency_top(u32 bucket)
{
	u32 octave = bucket / FLASH_LAT_SUB;

	if (!octave)
		return bucket;
	octave--;
	return ((bucket % FLASH_LAT_SUB + FLASH_LAT_SUB + 1ULL) << octave) - 1;
}

/** flash_latency_add - add the counts of @from */
void flash_latency_add(struct flash_latency *h, const struct flash_latency *from)
{
	u32 i;

	for (i = 0; i < FLASH_LAT_BUCKETS; i++)
		h->nr[i] += from->nr[i];
}

/** flash_latency_total - number of times counted */
u64 flash_latency_total(const struct flash_latency *h)
{
	u64 total = 0;
	u32 i;

	for (i = 0; i < FLASH_LAT_BUCKETS; i++)
		total += h->nr[i];
	return total;
}

/**
 * flash_latency_quantile - a quantile of the times
 * @h: the histogram, of less than 2^44 times
 * @ppm: the quantile, in parts per million: 990000 is p99, 1000000 the longest time
 *
 * Return: the time, ns; 0 if the histogram is empty.
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
