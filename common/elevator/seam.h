/* SPDX-License-Identifier: GPL-2.0 */
/*
 * seam.h - where a new bio could join a waiting request
 *
 * Pure logic, shared with the user-space unit tests. No lock: requests are added
 * by whoever submits them.
 *
 * A bio joins a request that ends where the bio begins, or begins where it ends:
 * it needs a seam there. Each waiting request is counted at its two seams, in a
 * table small enough to be shared by chance. So a count of 0 says that no waiting
 * request has a seam there, and saves who asks the lock; another count says that
 * one may have. Nobody is turned away by mistake whose request had been added
 * before he asked. A request keeps where it was counted, and is taken out there,
 * whatever it has become.
 */
#ifndef FLASH_SEAM_H
#define FLASH_SEAM_H

#include <linux/types.h>

#ifdef __KERNEL__
#include <linux/atomic.h>
#else
typedef struct {
	int counter;
} atomic_t;

static inline void atomic_inc(atomic_t *v)
{
	__atomic_fetch_add(&v->counter, 1, __ATOMIC_RELAXED);
}

static inline void atomic_dec(atomic_t *v)
{
	__atomic_fetch_sub(&v->counter, 1, __ATOMIC_RELAXED);
}

static inline int atomic_read(const atomic_t *v)
{
	return __atomic_load_n(&v->counter, __ATOMIC_RELAXED);
}
#endif

/* Sizes of the table, as logarithms. */
#define FLASH_SEAM_BITS_MIN	12
#define FLASH_SEAM_BITS_MAX	15

/**
 * struct flash_seams - the table
 * @count: requests at each place; NULL: there is no table, anything may join
 * @bits: logarithm of its size
 */
struct flash_seams {
	atomic_t *count;
	u32 bits;
};

/**
 * struct flash_seam - where a request is counted
 * @begin: place for its first sector, plus 1; 0: nowhere
 * @end: place for the sector behind it, plus 1; 0: nowhere
 */
struct flash_seam {
	u32 begin;
	u32 end;
};

/**
 * flash_seams_bits - how large a table should be
 * @queues: hardware queues of the device
 *
 * Two places for each seam of a usual hardware queue's 256 requests, of which
 * few wait; more for fewer than four hardware queues, less for more than 32. What
 * shares a place by chance costs a look under the lock.
 */
static inline u32 flash_seams_bits(u32 queues)
{
	u32 bits = FLASH_SEAM_BITS_MIN;

	while (bits < FLASH_SEAM_BITS_MAX &&
	       (1U << bits) < (u64)queues << 10)
		bits++;
	return bits;
}

/* The place of a sector; what begins there is not what ends there. */
static inline u32 flash_seam_place(const struct flash_seams *s, u64 sector,
				   bool end)
{
	return (u32)((((sector << 1) | end) * 0x9e3779b97f4a7c15ULL) >>
		     (64 - s->bits));
}

/**
 * flash_seams_del - a request waits no longer
 * @s: the table
 * @seam: where it was counted; nothing happens if nowhere
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
 * flash_seams_set - a request waits, or has grown while it waited
 * @s: the table
 * @seam: where it was counted; nowhere if it is new
 * @from: its first sector
 * @to: the sector behind it
 */
static inline void flash_seams_set(struct flash_seams *s,
				   struct flash_seam *seam, u64 from, u64 to)
{
	struct flash_seam was = *seam;

	if (!s->count)
		return;
	seam->begin = flash_seam_place(s, from, false) + 1;
	seam->end = flash_seam_place(s, to, true) + 1;
	/* The new places first: an end that stays is never without a count. */
	atomic_inc(&s->count[seam->begin - 1]);
	atomic_inc(&s->count[seam->end - 1]);
	flash_seams_del(s, &was);
}

/**
 * flash_seams_may - could a bio join a waiting request?
 * @s: the table
 * @from: the bio's first sector
 * @to: the sector behind it
 *
 * Return: false only if none of those that wait ends at @from or begins at @to.
 */
static inline bool flash_seams_may(const struct flash_seams *s, u64 from,
				   u64 to)
{
	return !s->count ||
	       atomic_read(&s->count[flash_seam_place(s, from, true)]) ||
	       atomic_read(&s->count[flash_seam_place(s, to, false)]);
}

/** flash_seams_left - places with a count, of which there is none at rest */
static inline u32 flash_seams_left(const struct flash_seams *s)
{
	u32 place, left = 0;

	for (place = 0; s->count && place < 1U << s->bits; place++)
		left += atomic_read(&s->count[place]) != 0;
	return left;
}

#endif /* FLASH_SEAM_H */
