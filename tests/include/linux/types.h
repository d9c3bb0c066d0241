/* SPDX-License-Identifier: GPL-2.0 */
/* types.h - the kernel's types in user space, for the unit tests */
#ifndef TESTS_LINUX_TYPES_H
#define TESTS_LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include_next <linux/types.h>

typedef uint64_t u64;
typedef int64_t s64;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint16_t u16;
typedef uint8_t u8;
typedef u64 sector_t;

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

#endif /* TESTS_LINUX_TYPES_H */
