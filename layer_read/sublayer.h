/* SPDX-License-Identifier: GPL-2.0 */
/* sublayer.h - types of Layer_Read, and the contracts of sublayer.c and select.c */
#ifndef LAYER_SUBLAYER_H
#define LAYER_SUBLAYER_H

#include <linux/cache.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/rbtree.h>

#include "../common/estimate/pace.h"
#include "../common/flash/occupancy.h"

/* Largest number of sub-layers: of 128 chips, or one for each chip of a layout */
#define LAYER_MAX		FLASH_MAX_CHIPS

/*
 * Requests count in pieces. Writes of 256 KiB and more use all chips anyway, so they count
 * as 256 KiB. A read completes with the slowest of its chips and leaves others idle, so
 * many have to be in flight: a read counts as at most 64 KiB.
 */
#define LAYER_PIECE_SECTORS	32
#define LAYER_READ_PIECES	4
#define LAYER_WRITE_PIECES	16

/* Limits of mode auto for each direction in flight, in pieces of 16 KiB */
#define LAYER_LIMIT_START	64
#define LAYER_LIMIT_MAX		1024

enum layer_mode {
	LAYER_AUTO,
	LAYER_PAPER,
	LAYER_NR_MODES
};

/* Order of the reads of a sub-layer; section III.B of the paper compares them. */
enum layer_sort {
	LAYER_SECTOR,
	LAYER_FIFO,
	LAYER_SMALL,
	LAYER_BIG,
	LAYER_NR_SORTS
};

/**
 * struct layer_part - a request's part in the order
 * @fifo:	link in layer_waiting.fifo of its direction, by arrival
 * @line:	a read's link in layer_one.line, unless it is late
 * @late_node:	a late read's node in layer_one.late
 * @sort_node:	node in layer_one.sorted, or in layer_waiting.writes
 * @vec:	chips on which it is counted, while it is in flight; valid if @counted
 * @key:	sort key, of a request in a sorted tree; requests with equal keys are sorted
 *		by @seq
 * @seq:	sequence number of its insertion, or of an older request that it absorbed
 * @arrived:	time of that insertion, ns
 * @sector:	first sector, or FLASH_NO_SECTOR
 * @sectors:	length, sectors
 * @layer:	a read's sub-layer
 * @pieces:	share of the limit of mode auto, in pieces; 0 unless it was selected or is
 *		in flight
 * @dir:	direction of its queues; writes, if it moves no data
 * @data:	it moves data
 * @late:	it waits in layer_one.late
 * @counted:	its start counted it in layer_flight.occ
 *
 * A copy of what the order needs to know of a request: sub-layers and order know no
 * struct request, so that the unit tests run them as they are.
 */
struct layer_part {
	struct list_head fifo;
	union {
		struct {
			union {
				struct list_head line;
				struct rb_node late_node;
			};
			struct rb_node sort_node;
		};
		struct flash_chipvec vec;
	};
	u64 key;
	u64 seq;
	u64 arrived;
	u64 sector;
	u32 sectors;
	u32 layer;
	u32 pieces;
	u8 dir;
	bool data;
	bool late;
	bool counted;
};

/**
 * struct layer_tunables - the user's settings; changed by layer_set() only
 * @layout:	map from pages to chips, or none
 * @offset:	start of the device on the drive, sectors
 * @expire:	age at which a request has expired, ns; 0: never
 * @batch:	requests of a direction in a row while the other one waits
 * @per_layer:	reads of a sub-layer in a row
 * @max_inflight: limit of requests in flight; 0: mode auto finds its own limits
 * @chips:	the paper's N; 0: one sub-layer
 * @mode:	scheduling mode
 * @sort:	order of the reads of a sub-layer
 * @sort_writes: writes are sorted, too, instead of a FIFO
 */
struct layer_tunables {
	struct flash_geometry layout;
	u64 offset;
	u64 expire[FLASH_NR_DIRS];
	u32 batch[FLASH_NR_DIRS];
	u32 per_layer;
	u32 max_inflight;
	u32 chips;
	enum layer_mode mode;
	enum layer_sort sort;
	bool sort_writes;
};

/**
 * struct layer_map - which sub-layer a sector is in; changed by layer_set() only
 * @geo:	the layout, if sub-layers are chips; its generation is our own
 * @offset:	as layer_tunables.offset
 * @capacity:	of the device, sectors
 * @span:	length of a sub-layer that is a range of addresses, sectors
 * @nr_layers:	number of sub-layers
 */
struct layer_map {
	struct flash_geometry geo;
	u64 offset;
	u64 capacity;
	u64 span;
	u32 nr_layers;
};

/**
 * struct layer_one - a sub-layer; changes with each of its reads
 * @line:	its reads by arrival, without late ones
 * @late:	reads that a merge moved here behind younger ones, by @seq
 * @sorted:	all its reads by layer_part.key; or empty, if there is one only that was the
 *		first
 * @waiting:	number of its reads
 * @served:	reads dispatched so far
 *
 * A cache line, and its size a power of two, as each read looks for its sub-layer.
 */
struct layer_one {
	struct list_head line;
	struct rb_root_cached late;
	struct rb_root_cached sorted;
	u32 waiting;
	u64 served;
};

/**
 * struct layer_waiting - requests that wait; changes with insertions and dispatches
 * @fifo:	all of a direction, by arrival
 * @nr:		their number
 * @writes:	writes by layer_part.key, if layer_tunables.sort_writes
 * @nonempty:	sub-layers with reads
 * @layer:	the sub-layers
 * @expired:	reads of each sub-layer that were dispatched because they had expired
 * @unsorted:	links in @fifo of the next requests to sort again; the head of @fifo: none
 */
struct layer_waiting {
	struct list_head fifo[FLASH_NR_DIRS];
	u32 nr[FLASH_NR_DIRS];
	struct rb_root_cached writes;
	struct flash_chipvec nonempty;
	struct layer_one layer[LAYER_MAX];
	u64 expired[LAYER_MAX];
	struct list_head *unsorted[FLASH_NR_DIRS];
};

/**
 * struct layer_turn - turns; changes with each dispatch
 * @dir:	direction that has its turn
 * @run:	requests that it has dispatched in a row
 * @run_pieces:	their pieces
 * @due:	mode auto: it has its turn as the other direction's was full
 * @cursor:	sub-layer that has its turn
 * @in_layer:	reads that it has dispatched in a row
 * @passed:	reads in a row that were dispatched before the oldest one
 */
struct layer_turn {
	enum flash_dir dir;
	u32 run;
	u32 run_pieces;
	bool due;
	u32 cursor;
	u32 in_layer;
	u32 passed;
};

/**
 * struct layer_flight - requests in flight; changes with each start and completion
 * @out:	their number
 * @pieces:	their pieces, by direction
 * @pace:	search for the limit of mode auto
 * @occ:	their number on each chip of the layout
 *
 * Without a layout a cache line of it is used.
 */
struct layer_flight {
	u32 out;
	u32 pieces[FLASH_NR_DIRS];
	struct flash_pace pace;
	struct flash_occupancy occ;
} ____cacheline_aligned_in_smp;

/**
 * struct layer_stats - counters since the scheduler was selected
 * @served:	requests dispatched, by direction
 * @moves:	changes of sub-layer
 * @expired:	requests that were dispatched because they had expired
 * @switches:	changes of direction
 * @rebuilt:	times that the sub-layers were rebuilt
 */
struct layer_stats {
	u64 served[FLASH_NR_DIRS];
	u64 moves;
	u64 expired[FLASH_NR_DIRS];
	u64 switches;
	u64 rebuilt;
};

/**
 * struct layer_sched - Layer_Read on one device; all under flash_queue.lock
 * @tun:	the user's settings
 * @map:	sub-layers and addresses
 * @turn:	direction and sub-layer that have their turn
 * @stats:	counters; the first three are on the cache line of @turn
 * @flight:	requests in flight
 * @wait:	requests that wait
 */
struct layer_sched {
	struct layer_tunables tun;
	struct layer_map map;
	struct layer_turn turn ____cacheline_aligned_in_smp;
	struct layer_stats stats;
	struct layer_flight flight;
	struct layer_waiting wait;
};

/* sublayer.c */
void layer_init(struct layer_sched *s);
void layer_set(struct layer_sched *s, const struct layer_tunables *tun,
	       u64 capacity);
bool layer_sort_next(struct layer_sched *s);
void layer_insert(struct layer_sched *s, struct layer_part *part);
void layer_remove_sorted(struct layer_sched *s, struct layer_one *l,
			 struct layer_part *part);
void layer_grow(struct layer_sched *s, struct layer_part *part, u64 sector,
		u32 sectors);
void layer_absorb(struct layer_sched *s, struct layer_part *part,
		  struct layer_part *other, u64 sector, u32 sectors);

/* select.c */
bool layer_pass(struct layer_sched *s, struct layer_part *part);
struct layer_part *layer_select(struct layer_sched *s, u64 now);
void layer_bypass(struct layer_part *part);
void layer_start_chips(struct layer_sched *s, struct layer_part *part);
void layer_complete_any(struct layer_sched *s, struct layer_part *part, bool ended,
			u64 now);
bool layer_limit_reached(const struct layer_sched *s, enum flash_dir dir);

/** layer_nr_waiting - number of requests that wait */
static inline u32 layer_nr_waiting(const struct layer_sched *s)
{
	return s->wait.nr[FLASH_READ] + s->wait.nr[FLASH_WRITE];
}

/** layer_unsorted - does layer_sort_next() have a request to sort? */
static inline bool layer_unsorted(const struct layer_sched *s)
{
	return s->wait.unsorted[FLASH_READ] != &s->wait.fifo[FLASH_READ] ||
	       s->wait.unsorted[FLASH_WRITE] != &s->wait.fifo[FLASH_WRITE];
}

/** layer_mapped - is each sub-layer a chip? */
static inline bool layer_mapped(const struct layer_sched *s)
{
	return s->map.geo.nr_chips;
}

/**
 * layer_describe - store what a request is
 * @part: its part
 * @dir: its direction, FLASH_NR_DIRS if it moves no data
 * @sector: its first sector, or FLASH_NO_SECTOR
 * @sectors: its length
 */
static inline void layer_describe(struct layer_part *part, enum flash_dir dir,
				  u64 sector, u32 sectors)
{
	part->data = dir != FLASH_NR_DIRS;
	part->dir = dir == FLASH_READ ? FLASH_READ : FLASH_WRITE;
	part->sector = sector;
	part->sectors = sectors;
}

/* Remove the only read of a sub-layer, which is in its line. */
static inline void layer_remove_only(struct layer_sched *s, struct layer_one *l,
				     struct layer_part *part)
{
	list_del(&part->line);
	l->waiting = 0;
	l->sorted = RB_ROOT_CACHED;
	flash_chipvec_unset(&s->wait.nonempty, part->layer);
}

/* The sub-layer of a request's first sector; FLASH_NO_SECTOR is in the last one. */
static inline u32 layer_index(const struct layer_map *m, u64 sector)
{
	u64 page, pages;

	if (m->geo.nr_chips && sector != FLASH_NO_SECTOR) {
		flash_geometry_span(&m->geo, sector, 1, m->offset, &page, &pages);
		return flash_chip_of(&m->geo, page);
	}
	/* The device may have grown: the last sub-layer has no end. */
	return (u32)min(sector / m->span, (u64)m->nr_layers - 1);
}

/* Remove a request of @dir from all queues but the FIFO of its direction. */
static __always_inline void layer_dequeue(struct layer_sched *s, struct layer_part *part,
					  enum flash_dir dir)
{
	struct layer_one *l = &s->wait.layer[part->layer];

	if (dir == FLASH_WRITE) {
		if (s->tun.sort_writes)
			rb_erase_cached(&part->sort_node, &s->wait.writes);
	} else if (part->late || l->waiting > 1) {
		layer_remove_sorted(s, l, part);
	} else {
		layer_remove_only(s, l, part);
	}
}

/**
 * layer_remove - remove a request from the queues
 * @s: the device
 * @part: the request's part, which waits
 * @dir: its direction, a constant where it is known
 */
static __always_inline void layer_remove(struct layer_sched *s, struct layer_part *part,
					 enum flash_dir dir)
{
	list_del(&part->fifo);
	s->wait.nr[dir]--;
	layer_dequeue(s, part, dir);
}

/* The oldest read of a sub-layer that has one */
static inline struct layer_part *layer_oldest_in(struct layer_one *l)
{
	struct rb_node *node = rb_first_cached(&l->late);
	struct layer_part *late, *first =
		list_first_entry_or_null(&l->line, struct layer_part, line);

	if (likely(!node))
		return first;
	late = rb_entry(node, struct layer_part, late_node);
	return !first || late->seq < first->seq ? late : first;
}

/* May a direction be at its limit? Mostly it is below the smallest limit that it ever has. */
static inline bool layer_near_limit(const struct layer_sched *s, enum flash_dir dir)
{
	return s->flight.pieces[dir] >= (dir == FLASH_READ ? LAYER_LIMIT_START :
							     LAYER_WRITE_PIECES);
}

/* Is a direction at its limit? */
static inline bool layer_at_limit(const struct layer_sched *s, enum flash_dir dir)
{
	return layer_near_limit(s, dir) && layer_limit_reached(s, dir);
}

/* With none in flight there is no limit, as no completion would end the wait. */
static inline bool layer_may_dispatch(const struct layer_sched *s, enum flash_dir dir)
{
	return s->wait.nr[dir] && (!s->flight.out || !layer_at_limit(s, dir));
}

/**
 * layer_start - a request is in flight from now on
 * @s: the device
 * @part: its part, of which layer_part.pieces is set
 */
static inline void layer_start(struct layer_sched *s, struct layer_part *part)
{
	s->flight.out++;
	s->flight.pieces[part->dir] += part->pieces;
	part->counted = layer_mapped(s);
	if (part->counted)
		layer_start_chips(s, part);
}

/* A completion of mode auto counts. Return: the window of the search is over. */
static inline bool layer_count_end(struct layer_sched *s, const struct layer_part *part,
				   u64 now)
{
	struct layer_flight *f = &s->flight;

	if (part->data)
		f->pace.moved += part->sectors;
	return flash_pace_count(&f->pace, f->out == 1, !s->tun.max_inflight, now);
}

/* A request leaves the device; its chips are not released. */
static inline void layer_stop(struct layer_sched *s, struct layer_part *part)
{
	s->flight.out--;
	s->flight.pieces[part->dir] -= part->pieces;
	part->pieces = 0;
}

/* Does the end of a request concern its chips, or requests that may be held back? */
static inline bool layer_end_matters(const struct layer_sched *s,
				     const struct layer_part *part)
{
	return part->counted ||
	       (s->wait.nr[FLASH_READ] && layer_near_limit(s, FLASH_READ)) ||
	       (s->wait.nr[FLASH_WRITE] && layer_near_limit(s, FLASH_WRITE));
}

/**
 * layer_complete - a request is not in flight any more
 * @s: the device
 * @part: its part, which layer_start() was called for
 * @ended: it has completed, else the driver requeued it
 * @now: the time, ns
 */
static inline void layer_complete(struct layer_sched *s, struct layer_part *part,
				  bool ended, u64 now)
{
	bool due;

	if (!ended || s->tun.mode == LAYER_PAPER || layer_end_matters(s, part)) {
		layer_complete_any(s, part, ended, now);
		return;
	}
	due = layer_count_end(s, part, now);
	layer_stop(s, part);
	if (due)
		flash_pace_judge(&s->flight.pace, !s->tun.max_inflight, now);
}

/**
 * layer_holds - do all waiting requests have to wait for a completion?
 * @s: the device
 *
 * Never while none is in flight.
 */
static inline bool layer_holds(const struct layer_sched *s)
{
	return s->flight.out && layer_nr_waiting(s) &&
	       !layer_may_dispatch(s, FLASH_READ) && !layer_may_dispatch(s, FLASH_WRITE);
}

#endif /* LAYER_SUBLAYER_H */
