/* SPDX-License-Identifier: GPL-2.0 */
/*
 * seam.h - a counting filter: can a new bio merge with a waiting request?
 *
 * A bio merges with a request that ends where the bio begins, or begins where the bio ends.
 * Each of these places is a seam. The filter counts the two seams of each waiting request
 * in a table; seams may share a counter. If the counters of a bio's two ends are 0, no
 * waiting request can merge with it, and the submitter need not take the lock. The filter
 * has no false negatives for requests that were added before the test.
 *
 * No lock: submitters add requests. A request's record has the indices of its counters, so
 * the same counters are decremented even if the request has grown.
 */
#ifndef FLASH_SEAM_H
#define FLASH_SEAM_H

#include <linux/atomic.h>
#include <linux/types.h>

/* Smallest and largest table: log2 of the number of counters */
#define FLASH_SEAM_BITS_MIN	12
#define FLASH_SEAM_BITS_MAX	15

/**
 * struct flash_seams - the table
 * @count: number of requests by index
 * @bits: log2 of the number of counters
 */
struct flash_seams {
	atomic_t *count;
	u32 bits;
};

/**
 * struct flash_seam - the counters of a request
 * @begin: index for its first sector, plus 1; 0: none
 * @end: index for the sector after its last one, plus 1; 0: none
 */
struct flash_seam {
	u32 begin;
	u32 end;
};

/**
 * flash_seams_bits - size of the table
 * @queues: number of hardware queues of the device
 *
 * Two counters for each seam of the 256 requests of a usual hardware queue, of which few
 * wait; more for fewer than four hardware queues, less for more than 32. Seams that share
 * a counter by chance cost a lookup under the lock.
 */
static inline u32 flash_seams_bits(u32 queues)
{
	u32 bits = FLASH_SEAM_BITS_MIN;

	while (bits < FLASH_SEAM_BITS_MAX &&
	       (1U << bits) < (u64)queues << 10)
		bits++;
	return bits;
}

/* Index for a sector. The same sector as a begin and as an end has two indices. */
static inline u32 flash_seam_place(const struct flash_seams *s, u64 sector,
				   bool end)
{
	return (u32)((((sector << 1) | end) * 0x9e3779b97f4a7c15ULL) >>
		     (64 - s->bits));
}

/**
 * flash_seams_del - remove a request from the counters
 * @s: the table
 * @seam: counters of the request; may be none
 */
static inline void flash_seams_del(struct flash_seams *s,
				   struct flash_seam *seam)
{
	if (!seam->begin)
		return;
	atomic_dec(&s->count[seam->begin - 1]);
	atomic_dec(&s->count[seam->end - 1]);
	seam->begin = 0;
	seam->end = 0;
}

/**
 * flash_seams_add - count a request that waits
 * @s: the table
 * @seam: counters of the request
 * @from: its first sector
 * @to: the sector after its last one
 */
static inline void flash_seams_add(struct flash_seams *s,
				   struct flash_seam *seam, u64 from, u64 to)
{
	u32 begin = flash_seam_place(s, from, false), end = flash_seam_place(s, to, true);

	atomic_inc(&s->count[begin]);
	atomic_inc(&s->count[end]);
	seam->begin = begin + 1;
	seam->end = end + 1;
}

/**
 * flash_seams_set - flash_seams_add() for a request that has grown
 * @s: the table
 * @seam: counters of the request
 * @from: its first sector
 * @to: the sector after its last one
 */
static inline void flash_seams_set(struct flash_seams *s,
				   struct flash_seam *seam, u64 from, u64 to)
{
	struct flash_seam was = *seam;

	/* Increment first, so that a seam that has not changed is counted all the time. */
	flash_seams_add(s, seam, from, to);
	flash_seams_del(s, &was);
}

/**
 * flash_seams_may - can a bio merge with a waiting request?
 * @s: the table
 * @from: first sector of the bio
 * @to: the sector after its last one
 *
 * Return: false only if no waiting request ends at @from or begins at @to.
 */
static inline bool flash_seams_may(const struct flash_seams *s, u64 from,
				   u64 to)
{
	return atomic_read(&s->count[flash_seam_place(s, from, true)]) ||
	       atomic_read(&s->count[flash_seam_place(s, to, false)]);
}

/** flash_seams_left - number of counters that are not 0; 0 at rest */
static inline u32 flash_seams_left(const struct flash_seams *s)
{
	u32 place, left = 0;

	for (place = 0; place < 1U << s->bits; place++)
		left += atomic_read(&s->count[place]) != 0;
	return left;
}

#endif /* FLASH_SEAM_H */
