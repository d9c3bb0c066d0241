/* SPDX-License-Identifier: GPL-2.0 */
/* Relaxed counters; not the kernel's text */
#ifndef TEST_LINUX_ATOMIC_H
#define TEST_LINUX_ATOMIC_H

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
