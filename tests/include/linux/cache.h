/* SPDX-License-Identifier: GPL-2.0 */
/*
 * cache.h - the kernel's <linux/cache.h> in user space, for the unit tests
 *
 * No padding: UBSan would complain of list_for_each_entry(), which computes the address of
 * an entry from the list's head, too.
 */
#ifndef TESTS_LINUX_CACHE_H
#define TESTS_LINUX_CACHE_H

#define ____cacheline_aligned_in_smp

#endif /* TESTS_LINUX_CACHE_H */
