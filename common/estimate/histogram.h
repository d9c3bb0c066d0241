/* SPDX-License-Identifier: GPL-2.0 */
/* histogram.h - log-linear histograms of times */
#ifndef FLASH_HISTOGRAM_H
#define FLASH_HISTOGRAM_H

#include <linux/types.h>

/* Buckets of an octave */
#define FLASH_LAT_SUB_SHIFT	4
#define FLASH_LAT_SUB		(1U << FLASH_LAT_SUB_SHIFT)

/* log2 of the first time that counts in the last bucket: 18 minutes, ns */
#define FLASH_LAT_BITS		40
#define FLASH_LAT_BUCKETS	((FLASH_LAT_BITS - FLASH_LAT_SUB_SHIFT + 1) * \
				 FLASH_LAT_SUB)

/**
 * struct flash_latency - a histogram of times
 * @nr: number of times, by bucket
 */
struct flash_latency {
	u64 nr[FLASH_LAT_BUCKETS];
};

u32 flash_latency_bucket(u64 ns);
u64 flash_latency_top(u32 bucket);

/** flash_latency_note - count a time of @ns */
static inline void flash_latency_note(struct flash_latency *h, u64 ns)
{
	h->nr[flash_latency_bucket(ns)]++;
}

void flash_latency_add(struct flash_latency *h, const struct flash_latency *from);
u64 flash_latency_total(const struct flash_latency *h);
u64 flash_latency_quantile(const struct flash_latency *h, u32 ppm);

#endif /* FLASH_HISTOGRAM_H */
