/* SPDX-License-Identifier: GPL-2.0 */
/*
 * pure.h - the few names that the pure headers need, in the kernel and in user
 * space
 */
#ifndef FLASH_PURE_H
#define FLASH_PURE_H

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef uint16_t u16;
typedef uint8_t u8;
#endif

/* A function that is seldom called: kept out of line, away from hot paths */
#define FLASH_SELDOM	__attribute__((__noinline__, __cold__, __unused__))

/**
 * enum flash_dir - what a request does to chips
 * @FLASH_READ:	reads
 * @FLASH_WRITE: writes
 * @FLASH_NR_DIRS: the number of directions; also: none
 */
enum flash_dir {
	FLASH_READ,
	FLASH_WRITE,
	FLASH_NR_DIRS,
};

/* The sector of a request whose data have no address, or that moves none. */
#define FLASH_NO_SECTOR		(~0ULL)

/** flash_log2 - the place of the highest bit of @v, which is not 0 */
static inline u32 flash_log2(u64 v)
{
	return 63U - (u32)__builtin_clzll(v);
}

/** flash_sqrt - the largest number whose square is not above @v */
static inline u64 flash_sqrt(u64 v)
{
	u64 root = 0, bit = 1ULL << 62;

	while (bit > v)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (v >= root + bit) {
			v -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return root;
}

#endif /* FLASH_PURE_H */
