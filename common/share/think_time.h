/* SPDX-License-Identifier: GPL-2.0 */
/*
 * think_time.h - is it worth waiting for the next request of a tenant?
 *
 * Pure logic, shared with the user-space unit tests.
 *
 * Algorithm 1 of the A+CFQ paper: a tenant that has nothing to do keeps the
 * device as long as it has waited less than its mean time between two
 * dispatches. The mean is a moving average in integers; what is far longer than
 * usual, or longer than anybody is waited for, says nothing and is left out. But if
 * nothing else comes any more it is usual now: many requests at once, from which the
 * mean is next to nothing, may be followed by one at a time.
 */
#ifndef FLASH_THINK_TIME_H
#define FLASH_THINK_TIME_H

#include <linux/kernel.h>
#include <linux/types.h>

/* A new sample weighs 1/8; one above 8 times the average does not count. */
#define FLASH_GAP_WEIGHT	8
#define FLASH_GAP_STRAY		8

/* So many of those in a row are what is usual now. */
#define FLASH_GAP_STRAYS	8

/**
 * struct flash_gap - a mean gap
 * @known: there was a sample
 * @strays: samples in a row that did not count, as they were far above the mean
 * @ns: the mean, if @known
 */
struct flash_gap {
	bool known;
	u32 strays;
	u64 ns;
};

/** flash_gap_average - one step of the moving average, rounded down */
static inline u64 flash_gap_average(u64 avg, u64 sample)
{
	return (avg * (FLASH_GAP_WEIGHT - 1) + sample) / FLASH_GAP_WEIGHT;
}

/**
 * flash_gap_add - there was a gap
 * @gap: the mean
 * @ns: how long it was
 * @cap: the longest that counts
 */
static inline void flash_gap_add(struct flash_gap *gap, u64 ns, u64 cap)
{
	if (ns > cap)
		return;
	if (!gap->known) {
		gap->known = true;
		gap->ns = ns;
		return;
	}
	/* From 0 it could never rise. */
	if (gap->ns && ns / FLASH_GAP_STRAY > gap->ns) {
		if (++gap->strays < FLASH_GAP_STRAYS)
			return;
		gap->ns = ns;
	}
	gap->strays = 0;
	gap->ns = flash_gap_average(gap->ns, ns);
}

/**
 * flash_gap_wait - how long a tenant is waited for
 * @gap: its mean gap
 * @cap: the longest wait, and what stands for a mean that is not known yet
 */
static inline u64 flash_gap_wait(const struct flash_gap *gap, u64 cap)
{
	return gap->known && gap->ns < cap ? gap->ns : cap;
}

/**
 * flash_gap_switch - Algorithm 1, lines 6 to 11
 * @idle: the tenant has nothing that waits and nothing in the device
 * @wait: time since its last completion
 * @avg: its mean time between two dispatches
 *
 * Return: true to go on with another tenant.
 */
static inline bool flash_gap_switch(bool idle, u64 wait, u64 avg)
{
	return idle && wait >= avg;
}

#endif /* FLASH_THINK_TIME_H */
