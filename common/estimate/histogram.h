/* SPDX-License-Identifier: GPL-2.0 */
/*
 * histogram.h - how often something took how long
 *
 * Pure logic, shared with the user-space unit tests. No lock: a histogram has
 * one writer, such as a CPU, and who reads adds them up.
 *
 * Log-linear: times below 16 ns have a bucket each, each octave above has 16 of
 * the same width. A quantile is the longest time of its bucket, so it is never
 * too small and at most 1/16 (6.25 %) too large.
 */
#ifndef FLASH_HISTOGRAM_H
#define FLASH_HISTOGRAM_H

#include "../pure.h"

#define FLASH_LAT_SUB_SHIFT	4
#define FLASH_LAT_SUB		(1U << FLASH_LAT_SUB_SHIFT)

/* Times from 2^40 ns (18 minutes) on count as the last bucket's. */
#define FLASH_LAT_BITS		40
#define FLASH_LAT_BUCKETS	((FLASH_LAT_BITS - FLASH_LAT_SUB_SHIFT + 1) * \
				 FLASH_LAT_SUB)

/**
 * struct flash_latency - a histogram of times
 * @nr: by bucket
 */
struct flash_latency {
	u64 nr[FLASH_LAT_BUCKETS];
};

/** flash_latency_bucket - the bucket of a time in ns */
static inline u32 flash_latency_bucket(u64 ns)
{
	u32 octave;

	if (ns < FLASH_LAT_SUB)
		return (u32)ns;
	octave = flash_log2(ns);
	if (octave >= FLASH_LAT_BITS)
		return FLASH_LAT_BUCKETS - 1;
	octave -= FLASH_LAT_SUB_SHIFT;
	/* The top bit counts one, so that octaves follow each other. */
	return octave * FLASH_LAT_SUB + (u32)(ns >> octave);
}

/** flash_latency_top - the longest time in ns that @bucket stands for */
static inline u64 flash_latency_top(u32 bucket)
{
	u32 octave = bucket / FLASH_LAT_SUB;

	if (!octave)
		return bucket;
	octave--;
	return ((bucket % FLASH_LAT_SUB + FLASH_LAT_SUB + 1ULL) << octave) - 1;
}

/** flash_latency_note - something took @ns */
static inline void flash_latency_note(struct flash_latency *h, u64 ns)
{
	h->nr[flash_latency_bucket(ns)]++;
}

/** flash_latency_add - add what @from has counted */
static inline void flash_latency_add(struct flash_latency *h,
				     const struct flash_latency *from)
{
	u32 i;

	for (i = 0; i < FLASH_LAT_BUCKETS; i++)
		h->nr[i] += from->nr[i];
}

/** flash_latency_total - how many times were noted */
static inline u64 flash_latency_total(const struct flash_latency *h)
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
static inline u64 flash_latency_quantile(const struct flash_latency *h, u32 ppm)
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

#endif /* FLASH_HISTOGRAM_H */
