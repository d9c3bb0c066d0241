/* SPDX-License-Identifier: GPL-2.0 */
/*
 * heap.h - requests sorted by a key, of which only the first one is wanted
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. The
 * caller's lock guards all of it.
 *
 * Any node may be added or deleted at any time. A leftist heap does both in
 * O(log n) steps, in the worst case too, because the lock is held meanwhile. It
 * is short enough to be the same code in the kernel and in the tests; the
 * kernel's rbtree would need a replacement there.
 *
 * Rank: nodes on the way right, always right, until there is none. No right
 * child has a higher rank than its left sibling, so that way is at most
 * log2(n + 1) long, and merging two heaps walks down theirs only.
 */
#ifndef FLASH_HEAP_H
#define FLASH_HEAP_H

#include <linux/types.h>

/**
 * struct flash_node - a request's place in a heap
 * @parent:	NULL for the first one
 * @left:	or NULL
 * @right:	or NULL
 * @rank:	see above; at least 1
 * @key:	what it is sorted by, least first
 * @tie:	among equal keys, least first; no two are equal in both
 */
struct flash_node {
	struct flash_node *parent;
	struct flash_node *left;
	struct flash_node *right;
	u32 rank;
	u64 key;
	u64 tie;
};

static inline bool flash_node_before(const struct flash_node *a,
				     const struct flash_node *b)
{
	return a->key != b->key ? a->key < b->key : a->tie < b->tie;
}

/* Its children have changed: who is left, and the rank. Has that changed? */
static inline bool flash_node_mend(struct flash_node *node)
{
	struct flash_node *left = node->left, *right = node->right;
	u32 rank;

	if (right && (!left || left->rank < right->rank)) {
		node->left = right;
		node->right = left;
	}
	rank = node->right ? node->right->rank + 1 : 1;
	if (rank == node->rank)
		return false;
	node->rank = rank;
	return true;
}

/* One heap of two, either of which may be empty. */
static inline struct flash_node *flash_heap_merge(struct flash_node *a,
						  struct flash_node *b)
{
	struct flash_node *first = NULL, *parent = NULL, **at = &first, *rest;

	while (a && b) {
		if (flash_node_before(b, a)) {
			rest = a;
			a = b;
			b = rest;
		}
		*at = a;
		a->parent = parent;
		parent = a;
		at = &a->right;
		a = a->right;
	}
	rest = a ? a : b;
	*at = rest;
	if (rest)
		rest->parent = parent;
	for (; parent; parent = parent->parent)
		flash_node_mend(parent);
	return first;
}

/**
 * flash_heap_add - put a node into a heap
 * @heap: its first node, or NULL
 * @node: in no heap; its key and tie are set
 */
static inline void flash_heap_add(struct flash_node **heap,
				  struct flash_node *node)
{
	node->left = NULL;
	node->right = NULL;
	node->rank = 1;
	*heap = flash_heap_merge(*heap, node);
}

/**
 * flash_heap_del - take a node out, whether it is first or not
 * @heap: its first node
 * @node: the node
 */
static inline void flash_heap_del(struct flash_node **heap,
				  struct flash_node *node)
{
	struct flash_node *parent = node->parent;
	struct flash_node *rest = flash_heap_merge(node->left, node->right);

	if (rest)
		rest->parent = parent;
	if (!parent)
		*heap = rest;
	else if (parent->left == node)
		parent->left = rest;
	else
		parent->right = rest;
	/* A rank that falls is that of the right child + 1: log n steps. */
	while (parent && flash_node_mend(parent))
		parent = parent->parent;
}

#endif /* FLASH_HEAP_H */
