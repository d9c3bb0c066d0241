/* SPDX-License-Identifier: GPL-2.0 */
/*
 * env.h - helpers of the model, in the kernel and in user space
 *
 * nand.c, ftl.c and sim.c are pure logic: they read no clock and allocate
 * no memory, so the unit tests run them under sanitizers in user space.
 */
#ifndef FLASHSIM_ENV_H
#define FLASHSIM_ENV_H

#ifdef __KERNEL__
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef uint64_t u64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline u64 div_u64_rem(u64 a, u32 b, u32 *rest)
{
	*rest = (u32)(a % b);
	return a / b;
}
#endif

#define SIM_NEVER	(~0ULL)

/* Lets other tasks run, in loops over a whole device; never with a lock held. */
static inline void sim_breathe(u32 turn)
{
#ifdef __KERNEL__
	if (turn % 4096 == 0)
		cond_resched();
#else
	(void)turn;
#endif
}

/**
 * struct sim_rand - a seeded stream of random numbers
 * @state: never 0
 */
struct sim_rand {
	u64 state;
};

static inline void sim_rand_init(struct sim_rand *r, u32 seed)
{
	/* Neighbouring seeds must not give neighbouring streams. */
	r->state = (seed + 1ULL) * 0x9e3779b97f4a7c15ULL;
	if (!r->state)
		r->state = 1;
}

/* Marsaglia's xorshift with Vigna's multiplier: 32 good bits a call. */
static inline u32 sim_rand(struct sim_rand *r)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return (u32)((r->state * 0x2545f4914f6cdd1dULL) >> 32);
}

/* A number from 0 to @n - 1; the bias of n / 2^32 does not matter here. */
static inline u32 sim_rand_below(struct sim_rand *r, u32 n)
{
	return (u32)(((u64)sim_rand(r) * n) >> 32);
}

/**
 * sim_rand_exp - an exponentially distributed time
 * @r: the stream
 * @mean: its mean, at most 2^40
 *
 * -ln(u) for u uniform in (0, 1], in 1/65536: log2 bit by bit by squaring, so
 * that no floating point and no table is needed.
 */
static inline u64 sim_rand_exp(struct sim_rand *r, u64 mean)
{
	/* ln(2) * 65536 * 65536 / 65536, rounded */
	const u64 ln2 = 45426;
	u64 u = (u64)sim_rand(r) + 1;		/* 1 to 2^32 */
	unsigned int whole = 0, i;
	u64 log, m;

	while (u >> (whole + 1))
		whole++;
	/* u = 2^whole * m / 2^31, m from 2^31 to 2^32 - 1 */
	m = whole > 31 ? u >> (whole - 31) : u << (31 - whole);
	log = 0;
	for (i = 0; i < 16; i++) {
		m = (m * m) >> 31;
		log <<= 1;
		if (m >> 32) {
			log |= 1;
			m >>= 1;
		}
	}
	log += (u64)whole << 16;
	/* (32 - log2 u) * ln 2, both in 1/65536 */
	return (((((32ULL << 16) - log) * ln2) >> 16) * mean) >> 16;
}

#endif /* FLASHSIM_ENV_H */
