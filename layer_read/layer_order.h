/* SPDX-License-Identifier: GPL-2.0 */
/*
 * layer_order.h - what Layer_Read keeps of a device, and who waits where
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. The
 * caller's lock guards all of it. layer_pick.h says who goes next.
 *
 * Reads wait in sub-layers, each sorted and a FIFO as well; writes in one FIFO.
 * What moves no data (discards and the like) waits among the writes.
 *
 * Mode paper: a drive of N chips has 2N sub-layers, as a chip has two dies; each
 * is a range of R = capacity / 2N + 1 sectors, the last one shorter, and a
 * request belongs to where it starts. Mode auto has those, too, if it is not
 * known which chip holds what: on a drive that stripes pages over its chips a
 * range is no chip. With a layout a sub-layer is a chip, that of the request's
 * first page.
 */
#ifndef LAYER_ORDER_H
#define LAYER_ORDER_H

#include "../common/heap.h"
#include "../common/flash/occupancy.h"
#include "../common/estimate/pace.h"
#include "../common/ring.h"

/* Sub-layers: of 128 chips, or as many chips as a layout can have */
#define LAYER_MAX		FLASH_MAX_CHIPS

/*
 * Mode auto bounds what is in flight by pieces of 16 KiB, the paper's request.
 * A write from 256 KiB on counts no more: it keeps all chips busy anyway. A read
 * ends with the slowest of its chips, and while it waits there, others are idle: so
 * many of them have to be out, and one counts as 64 KiB at most.
 */
#define LAYER_PIECE_SECTORS	32
#define LAYER_READ_PIECES	4
#define LAYER_WRITE_PIECES	16

/* The bound of each direction: no smaller, no larger. */
#define LAYER_BOUND_START	64
#define LAYER_BOUND_MAX		1024

enum layer_mode {
	LAYER_AUTO,
	LAYER_PAPER,
	LAYER_NR_MODES
};

/* Which read of a sub-layer is first; the paper's section III.B. */
enum layer_sort {
	LAYER_SECTOR,
	LAYER_FIFO,
	LAYER_SMALL,
	LAYER_BIG,
	LAYER_NR_SORTS
};

/**
 * struct layer_item - one request
 * @order:	its place among all of its direction that wait, by arrival
 * @line:	a read's place in its sub-layer, by arrival; unused if @late
 * @node:	its place in what is sorted
 * @aged:	a late read's place in layer_one.late, while it waits
 * @vec:	the chips that it has taken, while the driver has it
 * @seq:	its place in the order of arrival
 * @arrived:	when it was inserted, ns
 * @sector:	its first sector
 * @sectors:	its length
 * @layer:	a read's sub-layer
 * @pieces:	what it has taken of the bound
 * @dir:	which queue it belongs to
 * @data:	it reads or writes
 * @queued:	it waits
 * @late:	a read that joined its sub-layer out of the order of arrival
 * @out:	the driver has it
 */
struct layer_item {
	struct flash_link order;
	struct flash_link line;
	struct flash_node node;
	union {
		struct flash_node aged;
		struct flash_chipvec vec;
	};
	u64 seq;
	u64 arrived;
	u64 sector;
	u32 sectors;
	u32 layer;
	u32 pieces;
	enum flash_dir dir;
	bool data;
	bool queued;
	bool late;
	bool out;
};

/**
 * struct layer_tunables - what the user says
 * @chips:	the paper's N; 0: one sub-layer is all there is
 * @per_layer:	reads in a row from one sub-layer
 * @batch:	requests in a row of one direction, if the other one waits
 * @expire:	ns after which a request has expired; 0: never
 * @sort:	which read of a sub-layer is first
 * @sort_writes: writes are sorted likewise, and are no FIFO
 */
struct layer_tunables {
	u32 chips;
	u32 per_layer;
	u32 batch[FLASH_NR_DIRS];
	u64 expire[FLASH_NR_DIRS];
	enum layer_sort sort;
	bool sort_writes;
};

/**
 * struct layer_stats - counters
 * @served:	requests that have gone, by direction
 * @expired:	those that went because they had expired
 * @switches:	changes of direction
 * @moves:	times that another sub-layer had its turn
 * @rebuilt:	times that the sub-layers were made anew
 */
struct layer_stats {
	u64 served[FLASH_NR_DIRS];
	u64 expired[FLASH_NR_DIRS];
	u64 switches;
	u64 moves;
	u64 rebuilt;
};

/**
 * struct layer_one - a sub-layer
 * @line:	its reads, by arrival, without those of @late
 * @late:	oldest of the reads that joined it when it had younger ones, or NULL
 * @first:	of its reads, as they are sorted; or NULL
 * @waiting:	how many that are
 * @served:	how many have gone
 * @expired:	how many of these because they had expired
 */
struct layer_one {
	struct flash_link line;
	struct flash_node *late;
	struct flash_node *first;
	u32 waiting;
	u64 served;
	u64 expired;
};

/**
 * struct layer_sched - Layer_Read on one device
 * @mode:	see there
 * @tun:	see there
 * @given:	the layout that the user has set
 * @geo:	the one that sub-layers are made by, or none; its generation is ours
 * @offset:	sectors of the drive before the device
 * @capacity:	of the device, sectors
 * @nr_layers:	sub-layers
 * @span:	sectors of one, if they are ranges
 * @layer:	the sub-layers
 * @some:	those with reads; a bit for each
 * @order:	what waits, of each direction, by arrival
 * @waiting:	how many that are
 * @writes:	first of the writes as they are sorted, if @tun says so; or NULL
 * @cursor:	sub-layer whose turn it is
 * @in_layer:	reads in a row that it has had
 * @passed:	mode auto: reads in a row that have passed the oldest one of all
 * @dir:	direction whose turn it is
 * @run:	requests in a row that it has had
 * @run_pieces:	what these are of the bound
 * @by_right:	mode auto: it has its turn because the other one's run was full
 * @occ:	what is out on each chip of the layout
 * @out:	requests that the driver has
 * @pieces:	what they have taken of the bound, by direction
 * @pace:	the bound
 * @stats:	see there
 */
struct layer_sched {
	enum layer_mode mode;
	struct layer_tunables tun;
	struct flash_geometry given;
	struct flash_geometry geo;
	u64 offset;
	u64 capacity;

	u32 nr_layers;
	u64 span;
	struct layer_one layer[LAYER_MAX];
	struct flash_chipvec some;
	struct flash_link order[FLASH_NR_DIRS];
	u32 waiting[FLASH_NR_DIRS];
	struct flash_node *writes;

	u32 cursor;
	u32 in_layer;
	u32 passed;
	enum flash_dir dir;
	u32 run;
	u32 run_pieces;
	bool by_right;

	struct flash_occupancy occ;
	u32 out;
	u32 pieces[FLASH_NR_DIRS];
	struct flash_pace pace;

	struct layer_stats stats;
};

static inline struct layer_item *layer_of_order(struct flash_link *link)
{
	return flash_link_of(link, struct layer_item, order);
}

static inline struct layer_item *layer_of_line(struct flash_link *link)
{
	return flash_link_of(link, struct layer_item, line);
}

static inline struct layer_item *layer_of_node(struct flash_node *node)
{
	return flash_link_of(node, struct layer_item, node);
}

static inline struct layer_item *layer_of_aged(struct flash_node *node)
{
	return flash_link_of(node, struct layer_item, aged);
}

/* The oldest one of a direction that waits, or NULL. */
static inline struct layer_item *layer_oldest(struct layer_sched *s,
					      enum flash_dir dir)
{
	struct flash_link *ring = &s->order[dir];

	return flash_ring_empty(ring) ? NULL : layer_of_order(ring->next);
}

/* The oldest read of a sub-layer that has one. */
static inline struct layer_item *layer_oldest_in(const struct layer_one *l)
{
	struct flash_link *first = l->line.next;

	if (l->late && (first == &l->line ||
			l->late->key < layer_of_line(first)->seq))
		return layer_of_aged(l->late);
	return layer_of_line(first);
}

/** layer_waiting - how many requests wait */
static inline u32 layer_waiting(const struct layer_sched *s)
{
	return s->waiting[FLASH_READ] + s->waiting[FLASH_WRITE];
}

/** layer_mapped - is a sub-layer a chip? */
static inline bool layer_mapped(const struct layer_sched *s)
{
	return s->geo.nr_chips;
}

/**
 * layer_index - the sub-layer of a sector
 * @s: the device
 * @sector: the first one of a request; FLASH_NO_SECTOR: the last sub-layer
 */
static inline u32 layer_index(const struct layer_sched *s, u64 sector)
{
	u64 index, pages;

	if (layer_mapped(s) && sector != FLASH_NO_SECTOR) {
		flash_geometry_span(&s->geo, sector, 1, s->offset, &index,
				    &pages);
		return flash_chip_of(&s->geo, index);
	}
	index = sector / s->span;
	/* Beyond the capacity that we know of: it may be growing. */
	return index < s->nr_layers ? (u32)index : s->nr_layers - 1;
}

static inline u64 layer_key(const struct layer_sched *s,
			    const struct layer_item *it)
{
	switch (s->tun.sort) {
	case LAYER_SMALL:
		return it->sectors;
	case LAYER_BIG:
		return ~(u64)it->sectors;
	case LAYER_FIFO:
		/* Then it is the tie that decides. */
		return 0;
	default:
		/* Wraps for FLASH_NO_SECTOR: what has no address is first. */
		return it->sector + 1;
	}
}

/* Into what is sorted; a read into its sub-layer, too. */
static inline void layer_sort(struct layer_sched *s, struct layer_item *it)
{
	struct layer_one *l;

	it->node.key = layer_key(s, it);
	it->node.tie = it->seq;
	if (it->dir == FLASH_WRITE) {
		if (s->tun.sort_writes)
			flash_heap_add(&s->writes, &it->node);
		return;
	}
	l = &s->layer[it->layer];
	flash_heap_add(&l->first, &it->node);
	if (!l->waiting++)
		flash_chipvec_set(&s->some, it->layer);
}

/*
 * Into a sub-layer's FIFO, nearly always as its last. A merge can make a read join
 * behind younger ones. Its place among them is not searched, as interrupts are off:
 * a heap has such reads by arrival.
 */
static inline void layer_line_up(struct layer_one *l, struct layer_item *it)
{
	struct flash_link *last = l->line.prev;

	if (last == &l->line || layer_of_line(last)->seq < it->seq) {
		flash_link_after(&it->line, last);
		return;
	}
	it->late = true;
	it->aged.key = it->seq;
	it->aged.tie = 0;
	flash_heap_add(&l->late, &it->aged);
}

/* Into all queues of its direction but the order of arrival. */
static inline void layer_enqueue(struct layer_sched *s, struct layer_item *it)
{
	if (it->dir == FLASH_READ) {
		it->layer = layer_index(s, it->sector);
		layer_line_up(&s->layer[it->layer], it);
	}
	layer_sort(s, it);
}

/* Out of them. */
static inline void layer_dequeue(struct layer_sched *s, struct layer_item *it)
{
	struct layer_one *l = &s->layer[it->layer];

	if (it->dir == FLASH_WRITE) {
		if (s->tun.sort_writes)
			flash_heap_del(&s->writes, &it->node);
		return;
	}
	flash_heap_del(&l->first, &it->node);
	if (it->late)
		flash_heap_del(&l->late, &it->aged);
	else
		flash_unlink(&it->line);
	it->late = false;
	if (!--l->waiting)
		flash_chipvec_unset(&s->some, it->layer);
}

/**
 * layer_add - a request arrives
 * @s: the device
 * @it: its item, which belongs to no request that waits
 * @seq: its place in the order of arrival
 * @dir: what it does; FLASH_NR_DIRS: no data
 * @sector: its first sector
 * @sectors: its length
 * @now: the time, ns
 */
static inline void layer_add(struct layer_sched *s, struct layer_item *it,
			     u64 seq, enum flash_dir dir, u64 sector,
			     u32 sectors, u64 now)
{
	it->data = dir != FLASH_NR_DIRS;
	it->dir = dir == FLASH_READ ? FLASH_READ : FLASH_WRITE;
	it->seq = seq;
	it->arrived = now;
	it->sector = sector;
	it->sectors = sectors;
	it->queued = true;
	flash_link_after(&it->order, s->order[it->dir].prev);
	s->waiting[it->dir]++;
	layer_enqueue(s, it);
}

/* It waits no more. */
static inline void layer_leave(struct layer_sched *s, struct layer_item *it)
{
	layer_dequeue(s, it);
	flash_unlink(&it->order);
	s->waiting[it->dir]--;
	it->queued = false;
}

/* What it is sorted by may have changed, its sub-layer and its age have not. */
static inline void layer_resort(struct layer_sched *s, struct layer_item *it)
{
	struct flash_node **heap = it->dir == FLASH_READ ?
				   &s->layer[it->layer].first : &s->writes;
	u64 key = layer_key(s, it);

	if (key == it->node.key ||
	    (it->dir == FLASH_WRITE && !s->tun.sort_writes))
		return;
	flash_heap_del(heap, &it->node);
	it->node.key = key;
	flash_heap_add(heap, &it->node);
}

/**
 * layer_grow - a request that waits has taken a neighbour
 * @s: the device
 * @it: the request
 * @sector: where it starts now, perhaps in another sub-layer
 * @sectors: its length now
 *
 * Old requests grow too, bio by bio: one that stays in its sub-layer keeps its
 * place there. One that moves is late in the other sub-layer unless it is younger
 * than all reads there.
 */
static inline void layer_grow(struct layer_sched *s, struct layer_item *it,
			      u64 sector, u32 sectors)
{
	bool moves = it->dir == FLASH_READ && sector != it->sector &&
		     layer_index(s, sector) != it->layer;

	if (moves)
		layer_dequeue(s, it);
	it->sector = sector;
	it->sectors = sectors;
	if (moves)
		layer_enqueue(s, it);
	else
		layer_resort(s, it);
}

/**
 * layer_absorb - a request that waits has swallowed another one that waits
 * @s: the device
 * @it: the request; it inherits the place of @gone if that was first
 * @gone: the other one, of the same direction
 * @sector: where @it starts now
 * @sectors: its length now
 */
static inline void layer_absorb(struct layer_sched *s, struct layer_item *it,
				struct layer_item *gone, u64 sector,
				u32 sectors)
{
	if (gone->seq > it->seq) {
		layer_leave(s, gone);
		layer_grow(s, it, sector, sectors);
		return;
	}
	layer_dequeue(s, it);
	it->seq = gone->seq;
	it->arrived = gone->arrived;
	it->sector = sector;
	it->sectors = sectors;
	flash_unlink(&it->order);
	flash_link_after(&it->order, &gone->order);
	if (it->dir == FLASH_READ && !gone->late &&
	    layer_index(s, sector) == gone->layer) {
		/* No search for the place: @gone has it. */
		it->layer = gone->layer;
		flash_link_after(&it->line, &gone->line);
		layer_sort(s, it);
	} else {
		layer_enqueue(s, it);
	}
	layer_leave(s, gone);
}

/* The sub-layers, empty. */
static inline void layer_make(struct layer_sched *s)
{
	u32 generation = s->geo.generation, ranges, n;

	s->geo = s->given;
	/* The paper's drive is divided into ranges, whatever is known of it. */
	if (s->mode == LAYER_PAPER)
		s->geo.nr_chips = 0;
	s->geo.generation = generation + 1;
	flash_occupancy_set(&s->occ, &s->geo, 1);

	ranges = s->tun.chips ? 2 * s->tun.chips : 1;
	s->nr_layers = s->geo.nr_chips ? s->geo.nr_chips : ranges;
	s->span = s->capacity / ranges + 1;
	memset(&s->some, 0, sizeof(s->some));
	s->some.nr_chips = s->nr_layers;
	s->some.generation = s->geo.generation;
	for (n = 0; n < LAYER_MAX; n++) {
		flash_ring_init(&s->layer[n].line);
		s->layer[n].late = NULL;
		s->layer[n].first = NULL;
		s->layer[n].waiting = 0;
	}
	s->writes = NULL;
	if (s->cursor >= s->nr_layers)
		s->cursor = 0;
	s->in_layer = 0;
	s->stats.rebuilt++;
}

/**
 * layer_set - change anything that the user can set, or the capacity, at any time
 * @s: the device
 * @mode: the mode
 * @given: the layout
 * @offset: sectors of the drive before the device
 * @capacity: of the device, sectors
 * @tun: the tunables
 *
 * What waits is sorted anew; what is out keeps the chips that it has taken.
 */
static inline void layer_set(struct layer_sched *s, enum layer_mode mode,
			     const struct flash_geometry *given, u64 offset,
			     u64 capacity, const struct layer_tunables *tun)
{
	struct flash_link *link;
	u32 dir;

	if (mode != s->mode) {
		s->run = 0;
		s->run_pieces = 0;
		s->by_right = false;
		flash_pace_break(&s->pace);
	}
	s->mode = mode;
	s->given = *given;
	s->offset = offset;
	s->capacity = capacity;
	s->tun = *tun;
	layer_make(s);
	for (dir = 0; dir < FLASH_NR_DIRS; dir++) {
		for (link = s->order[dir].next; link != &s->order[dir];
		     link = link->next) {
			layer_of_order(link)->late = false;
			layer_enqueue(s, layer_of_order(link));
		}
	}
}

/**
 * layer_init - nothing waits, nothing is out
 * @s: the device, all zeroes
 * @tun: any tunables that are legal
 *
 * Mode auto without a layout or a capacity; layer_set() changes that.
 */
static inline void layer_init(struct layer_sched *s,
			      const struct layer_tunables *tun)
{
	static const struct flash_geometry none;

	flash_ring_init(&s->order[FLASH_READ]);
	flash_ring_init(&s->order[FLASH_WRITE]);
	flash_pace_init(&s->pace, LAYER_BOUND_START, LAYER_BOUND_MAX);
	s->dir = FLASH_READ;
	layer_set(s, LAYER_AUTO, &none, 0, 0, tun);
	s->stats.rebuilt = 0;
}

#endif /* LAYER_ORDER_H */
