/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ring.h - rings of requests
 *
 * Pure logic, shared with the user-space unit tests: what <linux/list.h> is to
 * code that only the kernel runs. The caller's lock guards all of it.
 */
#ifndef FLASH_RING_H
#define FLASH_RING_H

#include <linux/types.h>

/**
 * struct flash_link - a place in a ring
 * @prev:	the one before
 * @next:	the one behind; the ring's own link is before the first
 */
struct flash_link {
	struct flash_link *prev;
	struct flash_link *next;
};

/** flash_link_of - what a link, or another member, is a member of */
#define flash_link_of(link, type, member) \
	((type *)((char *)(link) - offsetof(type, member)))

/** flash_ring_init - a ring of none, or a place in no ring */
static inline void flash_ring_init(struct flash_link *ring)
{
	ring->prev = ring;
	ring->next = ring;
}

/** flash_ring_empty - is nobody in it? */
static inline bool flash_ring_empty(const struct flash_link *ring)
{
	return ring->next == ring;
}

/** flash_link_after - put @link behind @at; @link is in no ring */
static inline void flash_link_after(struct flash_link *link,
				    struct flash_link *at)
{
	link->prev = at;
	link->next = at->next;
	at->next->prev = link;
	at->next = link;
}

/** flash_ring_add - put @link behind all others of @ring */
static inline void flash_ring_add(struct flash_link *link,
				  struct flash_link *ring)
{
	flash_link_after(link, ring->prev);
}

/** flash_unlink - take @link out of its ring, if it is in one */
static inline void flash_unlink(struct flash_link *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	flash_ring_init(link);
}

#endif /* FLASH_RING_H */
