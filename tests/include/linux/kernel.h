/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernel.h - the kernel's small macros in user space, for the unit tests
 *
 * For a single thread; tests/unit/blkmq.h has the accesses of several threads.
 */
#ifndef TESTS_LINUX_KERNEL_H
#define TESTS_LINUX_KERNEL_H

#include <limits.h>
#include <stdio.h>

#include <linux/types.h>

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define noinline		__attribute__((noinline))
#define fallthrough		__attribute__((fallthrough))
#define static_assert		_Static_assert

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))

/* Each argument is evaluated once and has the same type, as in the kernel */
#define min(a, b)		({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); \
				   a_ < b_ ? a_ : b_; })
#define max(a, b)		({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); \
				   a_ > b_ ? a_ : b_; })
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp(v, low, high)	min(max(v, low), high)
#define clamp_t(type, v, low, high) clamp((type)(v), (type)(low), (type)(high))
#define min_not_zero(a, b)	((b) && (!(a) || (b) < (a)) ? (b) : (a))
#define swap(a, b)		do { __typeof__(a) a_ = (a); (a) = (b); (b) = a_; } while (0)
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define NSEC_PER_USEC		1000L
#define NSEC_PER_MSEC		1000000L
#define round_down(x, y)	((x) / (y) * (y))

#define BITS_PER_LONG		64
#define BIT_WORD(n)		((n) / BITS_PER_LONG)
#define BIT_MASK(n)		(1UL << ((n) % BITS_PER_LONG))
#define __ffs(word)		((unsigned int)__builtin_ctzl(word))
#define hweight64(word)		((unsigned int)__builtin_popcountll(word))

#endif /* TESTS_LINUX_KERNEL_H */
