// SPDX-License-Identifier: GPL-2.0
/*
 * The heap compared with a search through an array: the first node after any
 * deletions, and that no path in the heap is longer than log n.
 */
#include <linux/types.h>

#include "common/heap.h"
#include "tap.h"

#define NODES	2000

static struct flash_node node[NODES];
static bool in[NODES];
static struct flash_node *heap;
static unsigned long long seed = 1;

static u32 any(u32 n)
{
	return (u32)(tap_rand(&seed) % n);
}

/* The number of nodes, or -1 if a rule of the heap is broken. */
static int sound(const struct flash_node *n, const struct flash_node *parent)
{
	int left, right;

	if (!n)
		return 0;
	left = sound(n->left, n);
	right = sound(n->right, n);
	if (left < 0 || right < 0 || n->parent != parent)
		return -1;
	if (parent && flash_node_before(n, parent))
		return -1;
	if (n->rank != (n->right ? n->right->rank : 0) + 1)
		return -1;
	if (n->right && (!n->left || n->left->rank < n->right->rank))
		return -1;
	return left + right + 1;
}

static struct flash_node *least(void)
{
	struct flash_node *best = NULL;
	u32 i;

	for (i = 0; i < NODES; i++) {
		if (in[i] && (!best || flash_node_before(&node[i], best)))
			best = &node[i];
	}
	return best;
}

static void random_use(void)
{
	u32 n, i, nr = 0, wrong = 0, torn = 0, deep = 0;

	for (n = 0; n < 40000; n++) {
		/* The heap grows and shrinks. */
		bool add = any(8) < (n / 4000 % 2 ? 3 : 5);

		i = any(NODES);
		if (add && !in[i]) {
			node[i].key = any(50);
			node[i].tie = i;
			in[i] = true;
			flash_heap_add(&heap, &node[i]);
			nr++;
		} else if (!add && nr) {
			if (any(2) && in[i])
				flash_heap_del(&heap, &node[i]);
			else {
				i = (u32)(heap - node);
				flash_heap_del(&heap, heap);
			}
			in[i] = false;
			nr--;
		}
		if (n % 16 == 0)
			wrong += heap != least();
		if (n % 64 == 0) {
			torn += sound(heap, NULL) != (int)nr;
			deep += heap && (heap->rank > 31 ||
					 (1U << heap->rank) - 1 > nr);
		}
	}
	eq(wrong, 0, "40000 steps: the first one is the least");
	eq(torn, 0, "the rules of the heap hold, and nobody is lost");
	eq(deep, 0, "the way down right is at most log2(n + 1)");
	while (heap) {
		i = (u32)(heap - node);
		wrong += heap != least();
		flash_heap_del(&heap, heap);
		in[i] = false;
	}
	eq(wrong, 0, "emptied in order");
}

/* The worst case: long left paths. */
static void sorted_use(void)
{
	u32 i, wrong = 0;

	for (i = 0; i < NODES; i++) {
		node[i].key = NODES - i;
		node[i].tie = 0;
		flash_heap_add(&heap, &node[i]);
	}
	eq(sound(heap, NULL), NODES, "falling keys");
	/* From the end of the left path. */
	for (i = 0; i < NODES / 2; i++)
		flash_heap_del(&heap, &node[i]);
	eq(sound(heap, NULL), NODES / 2, "half of them leave from the end");
	for (i = NODES; i > NODES / 2; i--) {
		wrong += heap != &node[i - 1];
		flash_heap_del(&heap, heap);
	}
	eq(wrong, 0, "the others in order");
	eq(!heap, 1, "and no node is left");
}

int main(void)
{
	random_use();
	sorted_use();
	return tap_done();
}
