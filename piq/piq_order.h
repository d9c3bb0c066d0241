/* SPDX-License-Identifier: GPL-2.0 */
/*
 * piq_order.h - what PIQ keeps of a device, and who waits
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. The
 * caller's lock guards all of it. piq_batch.h has the order of the paper,
 * piq_pick.h that of mode auto, piq_sched.h is what the module calls.
 */
#ifndef PIQ_ORDER_H
#define PIQ_ORDER_H

#include "../common/flash/batch.h"
#include "../common/flash/chipvec.h"
#include "confidence.h"
#include "../common/estimate/service_time.h"
#include "../common/flash/layout.h"
#include "../common/heap.h"
#include "../common/flash/occupancy.h"
#include "../common/ring.h"

/* Largest queue_length, and so the most batches that there can be. */
#define PIQ_QUEUE_MAX	512

/* Requests of a direction for which chips are kept free at a time. */
#define PIQ_RESERVED	4

/* And a wide one of each row. */
#define PIQ_MAX_RESERVED	(FLASH_NR_DIRS * PIQ_RESERVED + PIQ_NR_ROWS)

/* One request in so many goes to a busy chip: does it take longer there? */
#define PIQ_PROBE_NTH	256

enum piq_mode {
	PIQ_AUTO,
	PIQ_NOOP,
	PIQ_RWS,
	PIQ_R,
	PIQ_W,
	PIQ_PIQ,
	PIQ_NR_MODES
};

/* Reads and writes are FLASH_READ and FLASH_WRITE. */
enum piq_kind {
	PIQ_READ = FLASH_READ,
	PIQ_WRITE = FLASH_WRITE,
	/* Discards and the like have no place on the chips. */
	PIQ_OTHER = FLASH_NR_DIRS,
	PIQ_NR_KINDS
};

/* Lines of mode auto: of reads, of writes, and of both if they are urgent. */
enum piq_row {
	PIQ_URGENT = FLASH_NR_DIRS,
	PIQ_NR_ROWS
};

/**
 * struct piq_item - one request
 * @part:	its chips and its batch; the chips do not change while it is out,
 *		so what it took is what it gives back
 * @order:	its place among all that wait, of its kind
 * @line:	its place in the line of its chip, among the wide ones, or outside;
 *		unused if @late
 * @aged:	a late request's place in piq_sched.late
 * @rush:	its place among all that are urgent, in mode auto
 * @seq:	its place in the order of arrival
 * @base:	requests of its kind that have left when all older ones have
 * @arrived:	when it was inserted, ns
 * @taken:	when it was handed to the driver, ns
 * @nth:	its place among all that were
 * @sector:	its first sector
 * @sectors:	its length
 * @chip:	its only chip, or FLASH_NO_CHIP
 * @load:	requests outstanding when it was handed to the driver
 * @kind:	what it is
 * @urgent:	mode auto lets it go first; the caller's, see piq_add()
 * @queued:	it waits
 * @late:	it joined the wide ones out of the order of arrival
 * @window:	it is one of queue_length
 * @counted:	it is in piq_sched.demand
 * @kept:	chips have been kept free for it
 * @conflicts:	it arrived while one that it conflicts with was not done
 * @busy:	a chip of it had more than its share of what was out when it was
 *		handed to the driver
 * @out:	the driver has it
 */
struct piq_item {
	struct flash_batch_item part;
	struct flash_link order;
	union {
		struct flash_link line;
		struct flash_node aged;
	};
	struct flash_link rush;
	u64 seq;
	u64 base;
	u64 arrived;
	u64 taken;
	u64 nth;
	u64 sector;
	u32 sectors;
	u32 chip;
	u32 load;
	enum piq_kind kind;
	bool urgent;
	bool queued;
	bool late;
	bool window;
	bool counted;
	bool kept;
	bool conflicts;
	bool busy;
	bool out;
};

/**
 * struct piq_tunables - what the user says
 * @chip_depth:	requests that a chip is given at a time; 0: we find it
 * @scan_depth:	wide requests that are looked at for one that can go
 * @max_pass:	younger ones that may pass a wide request, of its own kind
 * @queue_length: requests that the paper's modes look at
 * @batch_overlap: their batches need not wait for each other
 * @max_wait:	ns after which a request's chips are kept free for it
 */
struct piq_tunables {
	u32 chip_depth;
	u32 scan_depth;
	u32 max_pass;
	u32 queue_length;
	u32 batch_overlap;
	u64 max_wait;
};

/**
 * struct piq_stats - counters
 * @rrc:	reads that arrived while another read of their chips was not done
 * @wwc:	the same of writes
 * @rwc:	arrived while one of the other direction was not done
 * @prioritised: reads that went before an older write
 * @waited:	requests of each direction that had such a conflict and have gone
 * @wait_ns:	what these have waited for their turn
 * @batches:	batches that have ended or been joined to their end
 * @batched:	requests that were in a batch
 * @passes:	requests that passed the oldest one of their kind
 * @aged:	requests that their chips were kept free for
 * @epochs:	write epochs
 * @stuck:	requests taken because nothing was out and nothing could go: never
 * @served:	requests handed to the driver for each chip
 */
struct piq_stats {
	u64 rrc;
	u64 wwc;
	u64 rwc;
	u64 prioritised;
	u64 waited[FLASH_NR_DIRS];
	u64 wait_ns[FLASH_NR_DIRS];
	u64 batches;
	u64 batched;
	u64 passes;
	u64 aged;
	u64 epochs;
	u64 stuck;
	u64 served[FLASH_MAX_CHIPS];
};

/**
 * struct piq_sched - PIQ on one device
 * @mode:	see there
 * @tun:	see there
 * @given:	the layout that the user has set
 * @geo:	the one that chips are computed by; its generation is ours
 * @offset:	sectors of the drive before the device
 * @trusted:	the layout is right, so mode auto goes by it; see piq_trust()
 * @blind:	but not now: it is compared with the FIFO, costs throughput, or is
 *		of no use
 * @occ:	what is out on each chip
 * @depth:	requests that a chip is given at a time, at least 1
 * @empty:	chips with none out; this and the next three while @trusted
 * @readable:	chips with less than @depth reads out
 * @writable:	chips with no write out, or which no read wants
 * @eager:	chips with less than @depth + 1 out
 * @probe:	requests issued since one went to a chip that had @depth
 * @out:	requests that the driver has
 * @ended:	when the last request of each chip has ended, ns
 * @ended_nth: its piq_item.nth
 * @nth:	requests handed to the driver so far
 * @demand:	requests of each direction not done, by chip
 * @order:	what waits, of each kind, by arrival
 * @waiting:	how many that are
 * @left:	how many have left, to the driver or into another request
 * @last_seq:	of the last request that arrived
 * @line:	mode auto: one-page requests that wait for a chip, by arrival
 * @wide:	those that need several chips, by arrival, without those of @late
 * @late:	oldest of the wide ones that joined when there were younger ones, or
 *		NULL
 * @some:	chips whose line is not empty
 * @rush:	all that are urgent, by arrival
 * @cursor:	chip that was served last
 * @reserved:	requests that chips are kept free for, by arrival
 * @nr_reserved: how many
 * @epoch:	writes go before reads
 * @lead:	device time that writes had less than their share while both waited, ns
 * @write_ns:	moving average of the device time of a write, on each chip
 * @cost:	device time learned
 * @pool:	memory for batches, PIQ_QUEUE_MAX of them
 * @b:		the batches of the paper's modes
 * @phase:	whose turn it is; FLASH_NR_DIRS: between two turns
 * @before:	whose turn it was before
 * @until:	last batch of the turn
 * @others_until: last request without chips that goes between two turns
 * @outside:	what waits beyond queue_length, by arrival
 * @inside:	requests within queue_length
 * @stats:	see there
 */
struct piq_sched {
	enum piq_mode mode;
	struct piq_tunables tun;
	struct flash_geometry given;
	struct flash_geometry geo;
	u64 offset;
	bool trusted;
	bool blind;

	struct flash_occupancy occ;
	u32 depth;
	struct flash_chipvec empty;
	struct flash_chipvec readable;
	struct flash_chipvec writable;
	struct flash_chipvec eager;
	u32 probe;
	u32 out;
	u64 ended[FLASH_MAX_CHIPS];
	u64 ended_nth[FLASH_MAX_CHIPS];
	u64 nth;
	u32 demand[FLASH_NR_DIRS][FLASH_MAX_CHIPS];

	struct flash_link order[PIQ_NR_KINDS];
	u32 waiting[PIQ_NR_KINDS];
	u64 left[PIQ_NR_KINDS];
	u64 last_seq;

	struct flash_link line[PIQ_NR_ROWS][FLASH_MAX_CHIPS];
	struct flash_link wide[PIQ_NR_ROWS];
	struct flash_node *late[PIQ_NR_ROWS];
	struct flash_chipvec some[PIQ_NR_ROWS];
	struct flash_link rush;
	u32 cursor;
	struct piq_item *reserved[PIQ_MAX_RESERVED];
	u32 nr_reserved;
	bool epoch;
	s64 lead;
	u64 write_ns;
	struct flash_cost cost;

	struct flash_batch *pool;
	struct flash_batches b;
	enum flash_dir phase;
	enum flash_dir before;
	u64 until;
	u64 others_until;
	struct flash_link outside;
	u32 inside;

	struct piq_stats stats;
};

/* Rings */

static inline struct piq_item *piq_of_order(struct flash_link *link)
{
	return flash_link_of(link, struct piq_item, order);
}

static inline struct piq_item *piq_of_line(struct flash_link *link)
{
	return flash_link_of(link, struct piq_item, line);
}

static inline struct piq_item *piq_of_rush(struct flash_link *link)
{
	return flash_link_of(link, struct piq_item, rush);
}

static inline struct piq_item *piq_of_aged(struct flash_node *node)
{
	return flash_link_of(node, struct piq_item, aged);
}

/* The oldest one of a kind that waits, or NULL. */
static inline struct piq_item *piq_oldest(struct piq_sched *s,
					  enum piq_kind kind)
{
	struct flash_link *ring = &s->order[kind];

	return flash_ring_empty(ring) ? NULL : piq_of_order(ring->next);
}

/* The oldest one of all that waits, or NULL. */
static inline struct piq_item *piq_oldest_of_all(struct piq_sched *s)
{
	struct piq_item *best = NULL, *it;
	u32 kind;

	for (kind = 0; kind < PIQ_NR_KINDS; kind++) {
		it = piq_oldest(s, (enum piq_kind)kind);
		if (it && (!best || it->seq < best->seq))
			best = it;
	}
	return best;
}

static inline u32 piq_waiting(const struct piq_sched *s)
{
	return s->waiting[PIQ_READ] + s->waiting[PIQ_WRITE] +
	       s->waiting[PIQ_OTHER];
}

/**
 * piq_passes - how many younger requests of its kind have passed a request
 * @s: the device
 * @it: the request, which waits
 *
 * All that have left since it arrived, less those that were waiting then. If one
 * of those waits still, it is one more.
 */
static inline u64 piq_passes(const struct piq_sched *s,
			     const struct piq_item *it)
{
	u64 left = s->left[it->kind];

	return left > it->base ? left - it->base : 0;
}

/* Chips */

static inline enum flash_dir piq_dir(const struct piq_item *it)
{
	return it->kind == PIQ_WRITE ? FLASH_WRITE : FLASH_READ;
}

/* Computes the chips of a request. */
static inline void piq_vec(const struct piq_sched *s, struct piq_item *it,
			   struct flash_chipvec *v)
{
	if (it->kind == PIQ_OTHER)
		flash_chipvec_clear(v, &s->geo);
	else
		flash_chipvec_fill(v, &s->geo, it->sector, it->sectors,
				   s->offset);
}

/* Without a branch: it is done for every chip of every request. */
static inline void piq_chip_if(struct flash_chipvec *v, u32 chip, bool on)
{
	u64 *word = &v->word[chip / 64];
	u32 bit = chip % 64;

	*word = (*word & ~(1ULL << bit)) | (u64)on << bit;
}

/* Is the chip one of those of which it is kept what they take? */
static inline bool piq_chip_kept(const struct piq_sched *s, u32 chip)
{
	return s->trusted && chip < s->geo.nr_chips;
}

/* Does it take a write? That depends on who wants to read there, too. */
static inline void piq_chip_writable(struct piq_sched *s, u32 chip)
{
	piq_chip_if(&s->writable, chip, !s->occ.out[FLASH_WRITE][chip] ||
		    !s->demand[FLASH_READ][chip]);
}

/* What a chip takes now, beside what flash_occupancy.idle says. */
static inline void piq_chip_set(struct piq_sched *s, u32 chip)
{
	u32 on = flash_occupancy_on(&s->occ, chip);

	if (!piq_chip_kept(s, chip))
		return;
	piq_chip_if(&s->readable, chip,
		    s->occ.out[FLASH_READ][chip] < s->depth);
	piq_chip_writable(s, chip);
	piq_chip_if(&s->empty, chip, !on);
	piq_chip_if(&s->eager, chip, on <= s->depth);
}

/* Counts what the request's chips will have to do, or forgets it. */
static inline void piq_demand(struct piq_sched *s, struct piq_item *it, bool on)
{
	enum flash_dir dir = piq_dir(it);
	u32 chip;

	if (it->counted == on)
		return;
	it->counted = on;
	flash_for_each_chip(chip, &it->part.vec) {
		if (on)
			s->demand[dir][chip]++;
		else
			s->demand[dir][chip]--;
		if (dir == FLASH_READ && s->demand[dir][chip] == on &&
		    piq_chip_kept(s, chip))
			piq_chip_writable(s, chip);
	}
}

/*
 * Who arrives meets requests that are not done: the paper's conflicts. From then on it
 * is one of them.
 */
static inline void piq_meet(struct piq_sched *s, struct piq_item *it)
{
	enum flash_dir dir = piq_dir(it);
	u32 same = 0, other = 0, chip;

	it->counted = true;
	flash_for_each_chip(chip, &it->part.vec) {
		same |= s->demand[dir][chip]++;
		other |= s->demand[!dir][chip];
		if (dir == FLASH_READ && piq_chip_kept(s, chip))
			piq_chip_writable(s, chip);
	}
	it->conflicts = same || other;
	if (dir == FLASH_READ)
		s->stats.rrc += same != 0;
	else
		s->stats.wwc += same != 0;
	s->stats.rwc += other != 0;
}

/* Requests outstanding on the fullest of its chips. */
static inline u32 piq_load(const struct piq_sched *s, const struct piq_item *it)
{
	return it->chip == FLASH_NO_CHIP ?
	       flash_occupancy_load(&s->occ, &it->part.vec) :
	       flash_occupancy_on(&s->occ, it->chip);
}

/* After a change of layout or depth, and when it begins to matter. */
static inline void piq_chips_set(struct piq_sched *s)
{
	u32 chip;

	flash_occupancy_set(&s->occ, &s->geo, s->depth);
	flash_chipvec_clear(&s->empty, &s->geo);
	flash_chipvec_clear(&s->readable, &s->geo);
	flash_chipvec_clear(&s->writable, &s->geo);
	flash_chipvec_clear(&s->eager, &s->geo);
	for (chip = 0; chip < s->geo.nr_chips; chip++)
		piq_chip_set(s, chip);
}

/** piq_trust - from here on the layout is right */
static inline void piq_trust(struct piq_sched *s)
{
	s->trusted = true;
	piq_chips_set(s);
}

/* Another number of requests for each chip. */
static inline void piq_set_depth(struct piq_sched *s, u32 depth)
{
	if (s->depth == depth)
		return;
	s->depth = depth;
	piq_chips_set(s);
}

#endif /* PIQ_ORDER_H */
