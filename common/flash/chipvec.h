/* SPDX-License-Identifier: GPL-2.0 */
/* chipvec.h - sets of chips: the location vectors of the PIQ paper */
#ifndef FLASH_CHIPVEC_H
#define FLASH_CHIPVEC_H

#include <linux/string.h>

#include "layout.h"
#include "op.h"

#define FLASH_VEC_WORDS		(FLASH_MAX_CHIPS / 64)

/* No chip: the end of a walk */
#define FLASH_NO_CHIP		FLASH_MAX_CHIPS

/**
 * struct flash_chipvec - a set of chips
 * @word:	a bit for each chip; bits from @nr_chips on are 0. Words beyond the first one
 *		are undefined after flash_chipvec_none()
 * @nr_chips:	number of chips of its layout
 * @generation:	generation of its layout
 *
 * A request stores its vector, because the layout may change while it is in flight.
 */
struct flash_chipvec {
	u64 word[FLASH_VEC_WORDS];
	u32 nr_chips;
	u32 generation;
};

/* Number of words in use */
static inline u32 flash_chipvec_words(const struct flash_chipvec *v)
{
	return v->nr_chips <= 64 ? 1 : FLASH_VEC_WORDS;
}

/**
 * flash_chipvec_clear - make the set empty
 * @v: the vector
 * @geo: its layout
 */
static inline void flash_chipvec_clear(struct flash_chipvec *v,
				       const struct flash_geometry *geo)
{
	memset(v->word, 0, sizeof(v->word));
	v->nr_chips = geo->nr_chips;
	v->generation = geo->generation;
}

/** flash_chipvec_none - make the set empty; its layout is unknown and has no chips */
static inline void flash_chipvec_none(struct flash_chipvec *v)
{
	v->word[0] = 0;
	v->nr_chips = 0;
	v->generation = 0;
}

/** flash_chipvec_set - add @chip, which is below @v->nr_chips */
static inline void flash_chipvec_set(struct flash_chipvec *v, u32 chip)
{
	v->word[chip / 64] |= 1ULL << (chip % 64);
}

/** flash_chipvec_unset - remove @chip */
static inline void flash_chipvec_unset(struct flash_chipvec *v, u32 chip)
{
	v->word[chip / 64] &= ~(1ULL << (chip % 64));
}

/** flash_chipvec_test - is @chip in the set? */
static inline bool flash_chipvec_test(const struct flash_chipvec *v, u32 chip)
{
	return v->word[chip / 64] >> (chip % 64) & 1;
}

void flash_chipvec_range(struct flash_chipvec *v, u32 from, u32 to);
void flash_chipvec_fill(struct flash_chipvec *v, const struct flash_geometry *geo,
			u64 sector, u64 sectors, u64 offset);

/** flash_chipvec_conflict - do two requests share a chip? */
static inline bool flash_chipvec_conflict(const struct flash_chipvec *a,
					  const struct flash_chipvec *b)
{
	u32 i, words = flash_chipvec_words(a);

	for (i = 0; i < words; i++) {
		if (a->word[i] & b->word[i])
			return true;
	}
	return false;
}

/** flash_chipvec_inside - are all chips of @a in @b? */
static inline bool flash_chipvec_inside(const struct flash_chipvec *a,
					const struct flash_chipvec *b)
{
	u32 i, words = flash_chipvec_words(a);

	for (i = 0; i < words; i++) {
		if (a->word[i] & ~b->word[i])
			return false;
	}
	return true;
}

/** flash_chipvec_union - add the chips of @from, of the same layout, to @v */
static inline void flash_chipvec_union(struct flash_chipvec *v,
				       const struct flash_chipvec *from)
{
	u32 i, words = flash_chipvec_words(from);

	for (i = 0; i < words; i++)
		v->word[i] |= from->word[i];
}

/** flash_chipvec_empty - is the set empty? */
static inline bool flash_chipvec_empty(const struct flash_chipvec *v)
{
	u32 i, words = flash_chipvec_words(v);

	for (i = 0; i < words; i++) {
		if (v->word[i])
			return false;
	}
	return true;
}

u32 flash_chipvec_weight(const struct flash_chipvec *v);
u32 flash_chipvec_from(const struct flash_chipvec *v, u32 chip);

/** flash_chipvec_first - the first chip, or FLASH_NO_CHIP */
static inline u32 flash_chipvec_first(const struct flash_chipvec *v)
{
	return flash_chipvec_from(v, 0);
}

/** flash_chipvec_next - the first chip after @chip, or FLASH_NO_CHIP */
static inline u32 flash_chipvec_next(const struct flash_chipvec *v, u32 chip)
{
	return flash_chipvec_from(v, chip + 1);
}

/**
 * flash_chipvec_after - the next chip round-robin
 * @v: at least one chip
 * @chip: the chip before, of the same layout
 *
 * Return: the first chip after @chip, or the first one of all if there is none.
 */
static inline u32 flash_chipvec_after(const struct flash_chipvec *v, u32 chip)
{
	u32 next;
	u64 after;

	if (v->nr_chips <= 64) {
		after = v->word[0] & (~1ULL << chip);
		return (u32)__builtin_ctzll(after ? after : v->word[0]);
	}
	next = flash_chipvec_next(v, chip);
	return next != FLASH_NO_CHIP ? next : flash_chipvec_first(v);
}

/**
 * struct flash_chip_walk - position of flash_for_each_chip()
 * @left:	remaining chips of the current word
 * @at:		number of its first bit
 */
struct flash_chip_walk {
	u64 left;
	u32 at;
};

/* The next chip of a walk, or FLASH_NO_CHIP. */
static inline u32 flash_chip_step(struct flash_chip_walk *walk,
				  const struct flash_chipvec *v)
{
	u64 left;

	for (left = walk->left; !left; left = v->word[walk->at / 64]) {
		walk->at += 64;
		if (walk->at >= v->nr_chips)
			return FLASH_NO_CHIP;
	}
	walk->left = left & (left - 1);
	return walk->at + (u32)__builtin_ctzll(left);
}

/*
 * Walk the chips of @v, which must not change during the walk. Each request is walked
 * several times and most have one chip, so the position is kept as a word of bits.
 */
#define flash_for_each_chip(chip, v)					\
	for (struct flash_chip_walk walk_ = { .left = (v)->word[0] };	\
	     ((chip) = flash_chip_step(&walk_, v)) != FLASH_NO_CHIP; )

/** flash_chipvec_single - the only chip, or FLASH_NO_CHIP if there is not exactly one */
static inline u32 flash_chipvec_single(const struct flash_chipvec *v)
{
	struct flash_chip_walk walk = { .left = v->word[0] };
	u32 chip = flash_chip_step(&walk, v);

	return flash_chip_step(&walk, v) == FLASH_NO_CHIP ? chip :
							    FLASH_NO_CHIP;
}

#endif /* FLASH_CHIPVEC_H */
