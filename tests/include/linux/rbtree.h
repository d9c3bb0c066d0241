/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rbtree.h - the kernel's <linux/rbtree.h> in user space, for the unit tests
 *
 * The same calls, with O(log n) steps on average, on another tree: a treap, which is a
 * search tree by the caller's order and a heap by a random number in each node.
 */
#ifndef TESTS_LINUX_RBTREE_H
#define TESTS_LINUX_RBTREE_H

#include <linux/kernel.h>

struct rb_node {
	struct rb_node *rb_left, *rb_right, *parent;
	u32 random;
};

struct rb_root {
	struct rb_node *rb_node;
};

struct rb_root_cached {
	struct rb_root rb_root;
	struct rb_node *rb_leftmost;
};

#define RB_ROOT			(struct rb_root){ NULL }
#define RB_ROOT_CACHED		(struct rb_root_cached){ { NULL }, NULL }
#define RB_EMPTY_ROOT(root)	(!(root)->rb_node)
#define RB_CLEAR_NODE(node)	((node)->parent = (node))
#define RB_EMPTY_NODE(node)	((node)->parent == (node))
#define rb_entry(p, type, m)	container_of(p, type, m)
#define rb_first_cached(root)	((root)->rb_leftmost)

/* Where the tree points to @node */
static inline struct rb_node **rb_place(struct rb_node *node, struct rb_root *root)
{
	if (!node->parent)
		return &root->rb_node;
	return node->parent->rb_left == node ? &node->parent->rb_left :
					       &node->parent->rb_right;
}

/* @node takes its parent's place; the order stays. */
static inline void rb_rotate(struct rb_node *node, struct rb_root *root)
{
	struct rb_node *above = node->parent, **place = rb_place(above, root), *child;

	if (above->rb_left == node) {
		child = above->rb_left = node->rb_right;
		node->rb_right = above;
	} else {
		child = above->rb_right = node->rb_left;
		node->rb_left = above;
	}
	if (child)
		child->parent = above;
	node->parent = above->parent;
	above->parent = node;
	*place = node;
}

static inline void rb_link_node(struct rb_node *node, struct rb_node *parent,
				struct rb_node **place)
{
	static u64 state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	node->random = (u32)(state >> 32);
	node->rb_left = node->rb_right = NULL;
	node->parent = parent;
	*place = node;
}

static inline void rb_insert_color(struct rb_node *node, struct rb_root *root)
{
	while (node->parent && node->parent->random < node->random)
		rb_rotate(node, root);
}

static inline void rb_erase(struct rb_node *node, struct rb_root *root)
{
	while (node->rb_left && node->rb_right)
		rb_rotate(node->rb_left->random > node->rb_right->random ?
			  node->rb_left : node->rb_right, root);

	struct rb_node *child = node->rb_left ? node->rb_left : node->rb_right;

	*rb_place(node, root) = child;
	if (child)
		child->parent = node->parent;
}

static inline struct rb_node *rb_next(const struct rb_node *node)
{
	if (node->rb_right) {
		node = node->rb_right;
		while (node->rb_left)
			node = node->rb_left;
		return (struct rb_node *)node;
	}
	while (node->parent && node == node->parent->rb_right)
		node = node->parent;
	return node->parent;
}

static inline void rb_insert_color_cached(struct rb_node *node,
					  struct rb_root_cached *root, bool leftmost)
{
	if (leftmost)
		root->rb_leftmost = node;
	rb_insert_color(node, &root->rb_root);
}

static inline void rb_erase_cached(struct rb_node *node, struct rb_root_cached *root)
{
	if (root->rb_leftmost == node)
		root->rb_leftmost = rb_next(node);
	rb_erase(node, &root->rb_root);
}

static inline void rb_add_cached(struct rb_node *node, struct rb_root_cached *tree,
				 bool (*less)(struct rb_node *, const struct rb_node *))
{
	struct rb_node **place = &tree->rb_root.rb_node, *parent = NULL;
	bool leftmost = true;

	while (*place) {
		parent = *place;
		if (less(node, parent)) {
			place = &parent->rb_left;
		} else {
			place = &parent->rb_right;
			leftmost = false;
		}
	}
	rb_link_node(node, parent, place);
	rb_insert_color_cached(node, tree, leftmost);
}

#endif /* TESTS_LINUX_RBTREE_H */
