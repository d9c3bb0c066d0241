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

#include <linux/types.h>

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

u32 flash_latency_bucket(u64 ns);
u64 flash_latency_top(u32 bucket);

/** flash_latency_note - something took @ns */
static inline void flash_latency_note(struct flash_latency *h, u64 ns)
{
	h->nr[flash_latency_bucket(ns)]++;
}

void flash_latency_add(struct flash_latency *h, const struct flash_latency *from);
u64 flash_latency_total(const struct flash_latency *h);
u64 flash_latency_quantile(const struct flash_latency *h, u32 ppm);

#endif /* FLASH_HISTOGRAM_H */
