/* SPDX-License-Identifier: GPL-2.0 */
/* list.h - the kernel's <linux/list.h> in user space, for the unit tests */
#ifndef TESTS_LINUX_LIST_H
#define TESTS_LINUX_LIST_H

#include <linux/kernel.h>

#define LIST_HEAD_INIT(name)	{ &(name), &(name) }
#define LIST_HEAD(name)		struct list_head name = LIST_HEAD_INIT(name)

#define list_entry(p, type, m)	container_of(p, type, m)
#define list_first_entry(h, type, m) list_entry((h)->next, type, m)
#define list_last_entry(h, type, m) list_entry((h)->prev, type, m)
#define list_next_entry(pos, m)	list_entry((pos)->m.next, __typeof__(*(pos)), m)
#define list_prev_entry(pos, m)	list_entry((pos)->m.prev, __typeof__(*(pos)), m)
#define list_first_entry_or_null(h, type, m) \
	(list_empty(h) ? NULL : list_first_entry(h, type, m))
#define list_entry_is_head(pos, h, m) (&(pos)->m == (h))
#define list_for_each(pos, h) \
	for (pos = (h)->next; pos != (h); pos = pos->next)
#define list_for_each_entry(pos, h, m)					\
	for (pos = list_first_entry(h, __typeof__(*pos), m);		\
	     !list_entry_is_head(pos, h, m);				\
	     pos = list_next_entry(pos, m))
#define list_for_each_entry_safe(pos, n, h, m)				\
	for (pos = list_first_entry(h, __typeof__(*pos), m),		\
	     n = list_next_entry(pos, m);				\
	     !list_entry_is_head(pos, h, m);				\
	     pos = n, n = list_next_entry(n, m))

static inline void INIT_LIST_HEAD(struct list_head *h)
{
	h->next = h->prev = h;
}

static inline bool list_empty(const struct list_head *h)
{
	return h->next == h;
}
#define list_empty_careful(h)	list_empty(h)

static inline bool list_is_singular(const struct list_head *h)
{
	return !list_empty(h) && h->next == h->prev;
}

static inline bool list_is_last(const struct list_head *e, const struct list_head *h)
{
	return e->next == h;
}

static inline bool list_is_first(const struct list_head *e, const struct list_head *h)
{
	return e->prev == h;
}

static inline void list_add(struct list_head *e, struct list_head *h)
{
	e->next = h->next;
	e->prev = h;
	h->next->prev = e;
	h->next = e;
}

static inline void list_add_tail(struct list_head *e, struct list_head *h)
{
	list_add(e, h->prev);
}

static inline void __list_del(struct list_head *prev, struct list_head *next)
{
	next->prev = prev;
	prev->next = next;
}

/* The kernel writes poison; here ASan reports the use of a null pointer. */
static inline void list_del(struct list_head *e)
{
	__list_del(e->prev, e->next);
	e->next = e->prev = NULL;
}

static inline void list_del_init(struct list_head *e)
{
	list_del(e);
	INIT_LIST_HEAD(e);
}

static inline void list_move(struct list_head *e, struct list_head *h)
{
	list_del(e);
	list_add(e, h);
}

static inline void list_move_tail(struct list_head *e, struct list_head *h)
{
	list_del(e);
	list_add_tail(e, h);
}

static inline void list_replace(struct list_head *old, struct list_head *e)
{
	*e = *old;
	e->next->prev = e;
	e->prev->next = e;
}

static inline size_t list_count_nodes(const struct list_head *h)
{
	const struct list_head *e;
	size_t count = 0;

	list_for_each(e, h)
		count++;
	return count;
}

/* Hash lists, which the kernel's CONFIG_DEBUG_LIST does not check */

static inline bool hlist_empty(const struct hlist_head *h)
{
	return !h->first;
}

static inline bool hlist_unhashed(const struct hlist_node *n)
{
	return !n->pprev;
}

static inline void hlist_add_head(struct hlist_node *n, struct hlist_head *h)
{
	n->next = h->first;
	if (n->next)
		n->next->pprev = &n->next;
	h->first = n;
	n->pprev = &h->first;
}

static inline void hlist_del_init(struct hlist_node *n)
{
	if (hlist_unhashed(n))
		return;
	*n->pprev = n->next;
	if (n->next)
		n->next->pprev = n->pprev;
	n->next = NULL;
	n->pprev = NULL;
}

#define hlist_entry_safe(p, type, m) \
	({ __typeof__(p) p_ = (p); p_ ? container_of(p_, type, m) : NULL; })
#define hlist_for_each_entry(pos, h, m)					\
	for (pos = hlist_entry_safe((h)->first, __typeof__(*pos), m); pos; \
	     pos = hlist_entry_safe((pos)->m.next, __typeof__(*pos), m))
#define hlist_for_each_entry_safe(pos, n, h, m)				\
	for (pos = hlist_entry_safe((h)->first, __typeof__(*pos), m);	\
	     pos && ({ n = pos->m.next; 1; });				\
	     pos = hlist_entry_safe(n, __typeof__(*pos), m))

#endif /* TESTS_LINUX_LIST_H */
