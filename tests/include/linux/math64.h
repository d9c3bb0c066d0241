/* SPDX-License-Identifier: GPL-2.0 */
/* math64.h - the kernel's <linux/math64.h> in user space, for the unit tests */
#ifndef TESTS_LINUX_MATH64_H
#define TESTS_LINUX_MATH64_H

#include <linux/types.h>

static inline u64 div_u64(u64 dividend, u32 divisor)
{
	return dividend / divisor;
}

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}

/* The largest number with a square of at most @x */
static inline u32 int_sqrt64(u64 x)
{
	u64 low = 0, high = 1ULL << 32;

	while (high - low > 1) {
		u64 middle = (low + high) / 2;

		if (middle * middle <= x)
			low = middle;
		else
			high = middle;
	}
	return (u32)low;
}

#endif /* TESTS_LINUX_MATH64_H */
