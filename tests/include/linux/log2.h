/* SPDX-License-Identifier: GPL-2.0 */
/* log2.h - the kernel's <linux/log2.h> in user space, for the unit tests */
#ifndef TESTS_LINUX_LOG2_H
#define TESTS_LINUX_LOG2_H

#include <linux/types.h>

/* @n must not be 0; int, as in the kernel */
static inline int ilog2(u64 n)
{
	return 63 - __builtin_clzll(n);
}

#endif /* TESTS_LINUX_LOG2_H */
