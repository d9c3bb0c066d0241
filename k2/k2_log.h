/* SPDX-License-Identifier: GPL-2.0 */
/*
 * k2_log.h - logarithms of bounds and bandwidths, without floating point
 *
 * Pure logic, shared with the user-space unit tests: no kernel header.
 */
#ifndef K2_LOG_H
#define K2_LOG_H

#include <linux/log2.h>
#include <linux/types.h>

/* Logarithms have 2^24 to an octave; the bound is from 2^0 to 2^16 - 1. */
#define K2_OCTAVE		(1 << 24)
#define K2_LEVEL_MAX		(16 * (s64)K2_OCTAVE - 1)
#define K2_BOUND_MAX		65535

/** k2_log - the logarithm of @v, no more than 1/110 of an octave off */
static inline s64 k2_log(u64 v)
{
	u32 octave;
	u64 part;

	if (v <= 1)
		return 0;
	octave = (u32)ilog2(v);
	part = octave < 24 ? v << (24 - octave) : v >> (octave - 24);
	part -= K2_OCTAVE;
	/* A parabola through both ends of the octave. */
	part += (part * (K2_OCTAVE - part) >> 24) * 11 / 32;
	return (s64)octave * K2_OCTAVE + (s64)part;
}

/* 2^@level in parts of 65536. */
static inline u64 k2_exp_parts(s64 level)
{
	u64 part;

	if (level <= 0)
		return 65536;
	if (level > K2_LEVEL_MAX)
		level = K2_LEVEL_MAX;
	part = ((u64)level & (K2_OCTAVE - 1)) >> 8;
	part = 65536 + (part * (43024 + (22512 * part >> 16)) >> 16);
	return part << ((u64)level >> 24);
}

/** k2_exp - the bound whose logarithm is @level, rounded */
static inline u32 k2_exp(s64 level)
{
	u64 bound = (k2_exp_parts(level) + 32768) >> 16;

	return bound < K2_BOUND_MAX ? (u32)bound : K2_BOUND_MAX;
}

/**
 * k2_exp_up - the least bound that is not below the one whose logarithm is @level
 *
 * But for a twentieth: logarithms are no more exact than that.
 */
static inline u32 k2_exp_up(s64 level)
{
	u64 bound = (k2_exp_parts(level) + 65535 - 3277) >> 16;

	return bound < K2_BOUND_MAX ? (u32)bound : K2_BOUND_MAX;
}

#endif /* K2_LOG_H */
