// SPDX-License-Identifier: GPL-2.0
/*
 * sublayer.c - sub-layers, and the waiting requests in them
 *
 * Problem: find the next read of a sub-layer by address and by age, in O(log n) steps,
 * while requests are inserted, dispatched and merged under a lock.
 *
 * Mode paper: a drive of N chips has 2N sub-layers, as a chip has two dies. Each is a range
 * of R = capacity / 2N + 1 sectors; the last one is shorter. Mode auto uses the same ranges
 * unless the user has set a layout: on a drive that stripes pages over its chips a range is
 * not on one chip. With a layout each chip is a sub-layer. A request belongs to the
 * sub-layer of its first sector.
 *
 * Each direction has a FIFO of its requests. Each read is also sorted in its sub-layer
 * (rb-tree) and has a place there by age (list). Writes are sorted only if the user
 * wants that. Requests that move no data (discards and the like) wait among the writes.
 *
 * A read that absorbs an older read inherits its age, and a merge can move a read to
 * another sub-layer. There it may be older than reads at the end of the list. Finding its
 * place in the list could take a step for each waiting read, so such late reads are in an
 * rb-tree by age. The oldest read of a sub-layer is the older one of the first of both.
 *
 * Invariants: a waiting request is in the FIFO of its direction. A waiting read is in
 * layer_one.sorted, unless it is the only one there, and either in layer_one.line or
 * layer_one.late of its sub-layer; both are ordered by layer_part.seq. A bit of
 * layer_waiting.nonempty is set exactly if that sub-layer has reads. All state is guarded by flash_queue.lock.
 *
 * Entry points: layer_init(), layer_set() and layer_sort_next() configure, layer_insert() and layer_remove()
 * queue and dequeue, layer_grow() and layer_absorb() follow merges.
 */
#include <linux/string.h>

#include "sublayer.h"

static u64 layer_key(const struct layer_sched *s, const struct layer_part *part)
{
	switch (s->tun.sort) {
	case LAYER_SMALL:
		return part->sectors;
	case LAYER_BIG:
		return ~(u64)part->sectors;
	case LAYER_FIFO:
		/* Equal keys are sorted by arrival. */
		return 0;
	default:
		/* FLASH_NO_SECTOR wraps to 0: a request without an address is first. */
		return part->sector + 1;
	}
}

static bool layer_key_less(struct rb_node *a, const struct rb_node *b)
{
	const struct layer_part *x = rb_entry(a, struct layer_part, sort_node);
	const struct layer_part *y = rb_entry(b, struct layer_part, sort_node);

	return x->key != y->key ? x->key < y->key : x->seq < y->seq;
}

static bool layer_late_less(struct rb_node *a, const struct rb_node *b)
{
	return rb_entry(a, struct layer_part, late_node)->seq <
	       rb_entry(b, struct layer_part, late_node)->seq;
}

/* The sorted tree that a request is in, or NULL */
static struct rb_root_cached *layer_tree(struct layer_sched *s,
					 const struct layer_part *part)
{
	struct rb_root_cached *tree = part->dir == FLASH_READ ?
				      &s->wait.layer[part->layer].sorted : &s->wait.writes;

	return RB_EMPTY_ROOT(&tree->rb_root) ? NULL : tree;
}

/* Add a request to a sorted tree. */
static void layer_sort(struct layer_sched *s, struct rb_root_cached *tree,
		       struct layer_part *part)
{
	part->key = layer_key(s, part);
	rb_add_cached(&part->sort_node, tree, layer_key_less);
}

/* Count and sort a read that joins others, which are in the line or late already. */
static void layer_sort_among(struct layer_sched *s, struct layer_one *l,
			     struct layer_part *part)
{
	/* Most sub-layers have one read at a time, which need not be sorted. */
	if (RB_EMPTY_ROOT(&l->sorted.rb_root))
		layer_sort(s, &l->sorted, layer_oldest_in(l));
	layer_sort(s, &l->sorted, part);
	l->waiting++;
}

/* Add a read to a sub-layer that has others. */
static noinline void layer_join_read(struct layer_sched *s, struct layer_one *l,
				     struct layer_part *part)
{
	layer_sort_among(s, l, part);
	part->late = !list_empty(&l->line) &&
		     list_last_entry(&l->line, struct layer_part, line)->seq > part->seq;
	if (part->late)
		rb_add_cached(&part->late_node, &l->late, layer_late_less);
	else
		list_add_tail(&part->line, &l->line);
}

/* Add a write to its sorted tree. */
static noinline void layer_sort_write(struct layer_sched *s, struct layer_part *part)
{
	layer_sort(s, &s->wait.writes, part);
}

/* Add a request to all queues but the FIFO of its direction. */
static __always_inline void layer_enqueue(struct layer_sched *s, struct layer_part *part)
{
	struct layer_one *l;

	if (part->dir == FLASH_WRITE) {
		if (s->tun.sort_writes)
			layer_sort_write(s, part);
		return;
	}
	part->layer = layer_index(&s->map, part->sector);
	l = &s->wait.layer[part->layer];
	if (l->waiting) {
		layer_join_read(s, l, part);
		return;
	}
	l->waiting = 1;
	part->late = false;
	list_add_tail(&part->line, &l->line);
	flash_chipvec_set(&s->wait.nonempty, part->layer);
}

/**
 * layer_insert - add a request to the queues
 * @s: the device
 * @part: the request's part, in no queue; layer_describe() was called for it, and
 *	@part.seq, which is higher than any before, and @part.arrived are set
 */
void layer_insert(struct layer_sched *s, struct layer_part *part)
{
	list_add_tail(&part->fifo, &s->wait.fifo[part->dir]);
	s->wait.nr[part->dir]++;
	layer_enqueue(s, part);
}

/**
 * layer_remove_sorted - remove a read from a sub-layer that has others, or from late ones
 * @s: the device
 * @l: the sub-layer
 * @part: the read
 */
void layer_remove_sorted(struct layer_sched *s, struct layer_one *l,
			 struct layer_part *part)
{
	if (part->late)
		rb_erase_cached(&part->late_node, &l->late);
	else
		list_del(&part->line);
	if (--l->waiting) {
		rb_erase_cached(&part->sort_node, &l->sorted);
		return;
	}
	l->sorted = RB_ROOT_CACHED;
	flash_chipvec_unset(&s->wait.nonempty, part->layer);
}

/* The sort key of a request may have changed; its sub-layer and age have not. */
static void layer_resort(struct layer_sched *s, struct layer_part *part)
{
	struct rb_root_cached *tree = layer_tree(s, part);
	u64 key = layer_key(s, part);

	if (!tree || key == part->key)
		return;
	rb_erase_cached(&part->sort_node, tree);
	part->key = key;
	rb_add_cached(&part->sort_node, tree, layer_key_less);
}

/**
 * layer_grow - a bio was merged into a waiting request
 * @s: the device
 * @part: the request's part
 * @sector: its new first sector, perhaps in another sub-layer
 * @sectors: its new length
 *
 * A read that stays in its sub-layer keeps its place by age. One that moves is late
 * unless it is younger than all reads in the line of its new sub-layer.
 */
void layer_grow(struct layer_sched *s, struct layer_part *part, u64 sector,
		u32 sectors)
{
	bool moves = part->dir == FLASH_READ && sector != part->sector &&
		     layer_index(&s->map, sector) != part->layer;

	if (moves)
		layer_dequeue(s, part, part->dir);
	part->sector = sector;
	part->sectors = sectors;
	if (moves)
		layer_enqueue(s, part);
	else
		layer_resort(s, part);
}

/**
 * layer_absorb - a waiting request has absorbed another one
 * @s: the device
 * @part: the request's part; it inherits the age of @other if that is older
 * @other: the absorbed one's part, which waits in the same direction and is removed
 * @sector: the first sector of both
 * @sectors: the length of both
 */
void layer_absorb(struct layer_sched *s, struct layer_part *part,
		  struct layer_part *other, u64 sector, u32 sectors)
{
	if (other->seq > part->seq) {
		layer_remove(s, other, other->dir);
		layer_grow(s, part, sector, sectors);
		return;
	}
	layer_dequeue(s, part, part->dir);
	part->seq = other->seq;
	part->arrived = other->arrived;
	part->sector = sector;
	part->sectors = sectors;
	list_move(&part->fifo, &other->fifo);
	if (part->dir == FLASH_READ && !other->late &&
	    layer_index(&s->map, sector) == other->layer) {
		/* The place of @other is the right one by age. */
		part->layer = other->layer;
		part->late = false;
		layer_sort_among(s, &s->wait.layer[part->layer], part);
		list_add(&part->line, &other->line);
	} else {
		layer_enqueue(s, part);
	}
	layer_remove(s, other, other->dir);
}

/* Make the sub-layers, without requests. */
static void layer_rebuild(struct layer_sched *s, u64 capacity)
{
	u32 ranges = s->tun.chips ? 2 * s->tun.chips : 1;
	u32 generation = s->map.geo.generation + 1, n;

	s->map.geo = s->tun.layout;
	/* Sub-layers of mode paper are ranges even if there is a layout. */
	if (s->tun.mode == LAYER_PAPER)
		s->map.geo.nr_chips = 0;
	s->map.geo.generation = generation;
	s->map.offset = s->tun.offset;
	s->map.capacity = capacity;
	s->map.span = capacity / ranges + 1;
	s->map.nr_layers = s->map.geo.nr_chips ? s->map.geo.nr_chips : ranges;
	flash_occupancy_set(&s->flight.occ, &s->map.geo, 1);

	memset(&s->wait.nonempty, 0, sizeof(s->wait.nonempty));
	s->wait.nonempty.nr_chips = s->map.nr_layers;
	s->wait.nonempty.generation = generation;
	s->wait.writes = RB_ROOT_CACHED;
	for (n = 0; n < LAYER_MAX; n++) {
		INIT_LIST_HEAD(&s->wait.layer[n].line);
		s->wait.layer[n].late = RB_ROOT_CACHED;
		s->wait.layer[n].sorted = RB_ROOT_CACHED;
		s->wait.layer[n].waiting = 0;
	}
	if (s->turn.cursor >= s->map.nr_layers)
		s->turn.cursor = 0;
	s->turn.in_layer = 0;
	s->stats.rebuilt++;
}

/**
 * layer_set - change the user's settings or the capacity, at any time
 * @s: the device
 * @tun: the settings
 * @capacity: of the device, sectors
 *
 * All sub-layers are empty afterwards. The caller calls nothing but layer_sort_next() until that
 * has sorted all waiting requests into them. Requests in flight stay counted on the chips of
 * the old layout.
 */
void layer_set(struct layer_sched *s, const struct layer_tunables *tun,
	       u64 capacity)
{
	struct layer_waiting *w = &s->wait;

	if (tun->mode != s->tun.mode) {
		s->turn.run = 0;
		s->turn.run_pieces = 0;
		s->turn.due = false;
		flash_pace_break(&s->flight.pace);
	}
	s->tun = *tun;
	layer_rebuild(s, capacity);
	w->unsorted[FLASH_READ] = w->fifo[FLASH_READ].next;
	w->unsorted[FLASH_WRITE] = tun->sort_writes ? w->fifo[FLASH_WRITE].next :
						      &w->fifo[FLASH_WRITE];
}

/**
 * layer_sort_next - sort one waiting request after layer_set()
 * @s: the device
 *
 * Return: true if none is left.
 */
bool layer_sort_next(struct layer_sched *s)
{
	struct list_head *at;
	u32 dir;

	for (dir = 0; dir < FLASH_NR_DIRS; dir++) {
		at = s->wait.unsorted[dir];
		if (at == &s->wait.fifo[dir])
			continue;
		s->wait.unsorted[dir] = at->next;
		layer_enqueue(s, list_entry(at, struct layer_part, fifo));
		break;
	}
	return !layer_unsorted(s);
}

/**
 * layer_init - prepare a device without requests; layer_set() is next
 * @s: the device, all zeroes
 */
void layer_init(struct layer_sched *s)
{
	INIT_LIST_HEAD(&s->wait.fifo[FLASH_READ]);
	INIT_LIST_HEAD(&s->wait.fifo[FLASH_WRITE]);
	s->wait.unsorted[FLASH_READ] = &s->wait.fifo[FLASH_READ];
	s->wait.unsorted[FLASH_WRITE] = &s->wait.fifo[FLASH_WRITE];
	flash_pace_init(&s->flight.pace, LAYER_LIMIT_START, LAYER_LIMIT_MAX);
}
