/* SPDX-License-Identifier: GPL-2.0 */
/*
 * sched.h - the requests of a device in PIQ's order: types and contracts
 *
 * A request's life:
 *
 *   piq_add() -> piq_choose() -> piq_dispatch() -> piq_release()
 *
 * The four are here for the FIFO of mode auto without a layout. For the rest, and where ends are
 * reported to that FIFO, they call auto.c. Without such reports the FIFO may dispatch a request
 * that piq_oldest_of_all() returns, or that never was added: it is in no counter then.
 *
 * A waiting request can be absorbed by another one (piq_absorb()) and can get other
 * chips (piq_grow()). A request that bypasses the queues occupies chips, too: it starts
 * with piq_start_head(). piq_choose() follows each of the other calls before the next
 * request is dispatched.
 *
 * auto.c has these calls and mode auto, batch.c the modes of the paper, learn.c what is
 * learned about the device. The device's lock (flash_queue.lock) guards all of it.
 */
#ifndef PIQ_SCHED_H
#define PIQ_SCHED_H

#include <linux/list.h>
#include <linux/rbtree.h>

#include "../common/estimate/service_time.h"
#include "../common/flash/batch.h"
#include "../common/flash/occupancy.h"

/* Largest queue_length */
#define PIQ_QUEUE_MAX	512

/* A batch for each waiting request, and one for each chip with an outstanding one */
#define PIQ_NR_BATCHES	(PIQ_QUEUE_MAX + FLASH_MAX_CHIPS)

/* Requests of a direction for which chips are reserved at a time */
#define PIQ_RESERVED	4

/* And one request of several chips of each row */
#define PIQ_MAX_RESERVED	(FLASH_NR_DIRS * PIQ_RESERVED + PIQ_NR_ROWS)

/* One request in this many is sent to a busy chip, to measure what a conflict costs */
#define PIQ_PROBE_NTH	256

/* The user's modes: ours, then the schemes of the paper */
enum piq_mode {
	PIQ_AUTO,
	PIQ_NOOP,
	PIQ_RWS,
	PIQ_R,
	PIQ_W,
	PIQ_PIQ,
	PIQ_NR_MODES
};

/**
 * enum piq_kind - kinds of requests
 * @PIQ_READ:	a read
 * @PIQ_WRITE:	a write
 * @PIQ_OTHER:	a request that moves no data, such as a discard: it has no chips
 * @PIQ_NR_KINDS: number of kinds
 */
enum piq_kind {
	PIQ_READ = FLASH_READ,
	PIQ_WRITE = FLASH_WRITE,
	PIQ_OTHER = FLASH_NR_DIRS,
	PIQ_NR_KINDS
};

/* Rows of queues of mode auto: reads, writes, and urgent requests of both directions */
enum piq_row {
	PIQ_URGENT = FLASH_NR_DIRS,
	PIQ_NR_ROWS
};

/**
 * struct piq_start - the state of the device when a request was dispatched
 * @taken:	time, ns
 * @nth:	sequence number of the dispatch
 * @load:	requests outstanding in the device
 * @busy:	one of the request's chips had more than its share of them
 */
struct piq_start {
	u64 taken;
	u64 nth;
	u32 load;
	bool busy;
};

/**
 * struct piq_req - a request in PIQ's order
 * @part:	its chips, which do not change while it is outstanding, and its batch
 * @order:	link in piq_sched.order, while it waits
 * @line:	link in the queue of its chip, in piq_pick.wide or in piq_turns.outside,
 *		while it waits; unused if @late
 * @aged:	node in piq_pick.late, while it waits, if @late
 * @start:	the device when it was dispatched, while it is outstanding
 * @rush:	link in piq_pick.urgent, in mode auto if @urgent
 * @seq:	place in the order of arrival; inherited from an absorbed older request
 * @base:	value of piq_sched.left at which all older requests of its kind have left
 * @arrived:	time of its insertion, ns
 * @sector:	first sector, or FLASH_NO_SECTOR
 * @sectors:	length; kept here because a completed request has none
 * @chip:	its only chip, or FLASH_NO_CHIP
 * @kind:	its kind
 * @urgent:	real-time: dispatched first in mode auto; set by the caller of piq_add()
 * @late:	it joined the requests of several chips out of the order of arrival
 * @reserved:	chips have been reserved for it
 * @conflicts:	it arrived while a request of one of its chips was not done
 * @out:	it is outstanding
 *
 * Nothing in it has to be zero before piq_add() or piq_start_head(): a request that leaves
 * resets its flags. @line and @start share memory, as the core clears each record.
 */
struct piq_req {
	struct flash_batch_part part;
	struct list_head order;
	union {
		struct list_head line;
		struct rb_node aged;
		struct piq_start start;
	};
	struct list_head rush;
	u64 seq;
	u64 base;
	u64 arrived;
	u64 sector;
	u32 sectors;
	u32 chip;
	enum piq_kind kind;
	bool urgent;
	bool late;
	bool reserved;
	bool conflicts;
	bool out;
};

/**
 * struct piq_tunables - what the user has set
 * @chip_depth:	requests outstanding on a chip; 0: found by search
 * @scan_depth:	requests of several chips that a choice looks at
 * @max_pass:	younger requests of its kind that may pass a request of several chips
 * @queue_length: waiting requests that the paper's modes look at
 * @batch_overlap: batches do not wait for each other's end
 * @max_wait:	wait after which chips are reserved for a request, ns
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
 * @wwc:	writes that arrived while another write of their chips was not done
 * @rwc:	requests that arrived while one of the other direction was not done
 * @prioritised: reads dispatched before an older write
 * @waited:	dispatched requests of each direction that had such a conflict
 * @wait_ns:	sum of their waits, ns
 * @batches:	batches that were formed
 * @batched:	requests that joined a batch
 * @passes:	requests dispatched before the oldest one of their kind
 * @aged:	requests that chips were reserved for
 * @epochs:	write epochs
 * @stuck:	requests dispatched because nothing was outstanding and no request was
 *		chosen: 0 unless there is a bug
 * @served:	requests dispatched to each chip
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
 * struct piq_chips - what each chip has and what it may be sent; written for each request
 * @occ:	requests outstanding on each chip
 * @demand:	requests of each direction that wait or are outstanding, by chip
 * @empty:	chips without an outstanding request; this set and the next three are
 *		valid while piq_sched.trusted and not piq_sched.blind
 * @readable:	chips with fewer outstanding reads than the depth
 * @writable:	chips that have no write, or that no read wants
 * @eager:	chips with at most as many outstanding requests as the depth
 */
struct piq_chips {
	struct flash_occupancy occ;
	u32 demand[FLASH_NR_DIRS][FLASH_MAX_CHIPS];
	struct flash_chipvec empty;
	struct flash_chipvec readable;
	struct flash_chipvec writable;
	struct flash_chipvec eager;
};

/**
 * struct piq_pick - queues and state of mode auto
 * @queue:	waiting requests of one chip, by row, chip and arrival
 * @wide:	waiting requests of several chips or of none, by row and arrival
 * @late:	such requests that joined after younger ones, sorted by arrival
 * @filled:	chips with a queue that is not empty, by row
 * @urgent:	waiting urgent requests, by arrival
 * @cursor:	chip that was served last
 * @since_probe: requests dispatched since one was sent to a busy chip
 * @reserved:	requests that chips are reserved for, by arrival
 * @nr_reserved: number of them
 * @epoch:	writes precede reads
 * @deficit:	device time that writes had less than their share while requests of both
 *		directions waited, ns
 * @write_ns:	moving average of a write's device time on each chip, ns
 */
struct piq_pick {
	struct list_head queue[PIQ_NR_ROWS][FLASH_MAX_CHIPS];
	struct list_head wide[PIQ_NR_ROWS];
	struct rb_root_cached late[PIQ_NR_ROWS];
	struct flash_chipvec filled[PIQ_NR_ROWS];
	struct list_head urgent;
	u32 cursor;
	u32 since_probe;
	struct piq_req *reserved[PIQ_MAX_RESERVED];
	u32 nr_reserved;
	bool epoch;
	s64 deficit;
	u64 write_ns;
};

/**
 * struct piq_turns - batches and turns of the paper's modes
 * @batches:	the batches
 * @dir:	direction that has its turn; FLASH_NR_DIRS: between two turns
 * @last_dir:	direction that had the turn before
 * @last_batch:	id of the last batch of the turn
 * @last_other:	seq of the last request without chips that may be dispatched between two
 *		turns
 * @outside:	waiting requests beyond queue_length, by arrival
 * @inside:	waiting requests within queue_length, each in a batch
 */
struct piq_turns {
	struct flash_batches batches;
	enum flash_dir dir;
	enum flash_dir last_dir;
	u64 last_batch;
	u64 last_other;
	struct list_head outside;
	u32 inside;
};

/**
 * struct piq_change - waiting requests are sorted again, as settings have changed
 * @mode:	the new mode
 * @leaving:	requests still leave their queues, and the old mode and layout are in force
 * @at:		link of the next read and write in piq_sched.order
 */
struct piq_change {
	enum piq_mode mode;
	bool leaving;
	struct list_head *at[FLASH_NR_DIRS];
};

/**
 * struct piq_sched - PIQ on one device
 * @mode:	the mode, set by the user
 * @tun:	tunables, set by the user
 * @given:	layout, set by the user
 * @offset:	sectors of the drive before the device, set by the user
 * @geo:	layout that chips are computed by, with another generation
 * @fifo:	mode auto without a layout: no request has chips
 * @trusted:	learn.c: the layout is right, so mode auto may use it; see piq_trust()
 * @blind:	learn.c: but does not use it now, because a FIFO moves more or is measured
 * @depth:	requests that a chip is given at a time, at least 1
 * @out:	outstanding requests
 * @nth:	requests dispatched so far
 * @order:	waiting requests by kind and arrival
 * @waiting:	number of them
 * @left:	requests of each kind that were dispatched or absorbed
 * @last_seq:	seq of the latest request
 * @cost:	device time of requests, learned by learn.c
 * @chips:	state of the chips
 * @pick:	queues and state of mode auto
 * @turns:	batches and turns of the paper's modes
 * @stats:	counters
 * @change:	what piq_set() has begun, and piq_sort_next() continues
 *
 * It has more than 20 fields as it is the device.
 */
struct piq_sched {
	enum piq_mode mode;
	struct piq_tunables tun;
	struct flash_geometry given;
	u64 offset;
	struct flash_geometry geo;
	bool fifo;
	bool trusted;
	bool blind;
	u32 depth;
	u32 out;
	u64 nth;
	struct list_head order[PIQ_NR_KINDS];
	u32 waiting[PIQ_NR_KINDS];
	u64 left[PIQ_NR_KINDS];
	u64 last_seq;
	struct flash_cost cost;
	struct piq_chips chips;
	struct piq_pick pick;
	struct piq_turns turns;
	struct piq_stats stats;
	struct piq_change change;
};

/** piq_dir - the direction of a request; of those that move no data, any */
static inline enum flash_dir piq_dir(const struct piq_req *req)
{
	return req->kind == PIQ_WRITE ? FLASH_WRITE : FLASH_READ;
}

/** piq_waiting - number of waiting requests */
static inline u32 piq_waiting(const struct piq_sched *s)
{
	return s->waiting[PIQ_READ] + s->waiting[PIQ_WRITE] +
	       s->waiting[PIQ_OTHER];
}

/** piq_oldest - the oldest waiting request of a kind, or NULL */
static inline struct piq_req *piq_oldest(struct piq_sched *s, enum piq_kind kind)
{
	return list_first_entry_or_null(&s->order[kind], struct piq_req, order);
}

/** piq_oldest_of_all - the oldest waiting request, or NULL */
static inline struct piq_req *piq_oldest_of_all(struct piq_sched *s)
{
	struct piq_req *best = piq_oldest(s, PIQ_READ), *req;
	unsigned int kind;

	for (kind = PIQ_WRITE; kind < PIQ_NR_KINDS; kind++) {
		req = piq_oldest(s, (enum piq_kind)kind);
		if (req && (!best || req->seq < best->seq))
			best = req;
	}
	return best;
}

/** piq_trusts - is there a layout that is right? */
static inline bool piq_trusts(const struct piq_sched *s)
{
	return s->mode == PIQ_AUTO && s->trusted && s->geo.nr_chips;
}

/** piq_aware - does mode auto use the layout now? */
static inline bool piq_aware(const struct piq_sched *s)
{
	return piq_trusts(s) && !s->blind;
}

/** piq_in_order - is the oldest request of all always the next one? */
static inline bool piq_in_order(const struct piq_sched *s)
{
	return (s->fifo || (s->mode == PIQ_AUTO && !piq_aware(s))) &&
	       list_empty(&s->pick.urgent);
}

/* auto.c */
void piq_sched_init(struct piq_sched *s, struct flash_batch *pool,
		    const struct piq_tunables *tun);
bool piq_set(struct piq_sched *s, enum piq_mode mode,
	     const struct flash_geometry *given, u64 offset,
	     const struct piq_tunables *tun);
bool piq_sort_next(struct piq_sched *s);
void piq_set_depth(struct piq_sched *s, u32 depth);
void piq_change_blind(struct piq_sched *s);
void piq_trust(struct piq_sched *s);
void piq_add_queued(struct piq_sched *s, struct piq_req *req);
void piq_pass(struct piq_sched *s, struct piq_req *req, u64 seq, enum piq_kind kind,
	      u64 sector, u32 sectors, u64 arrived, u64 now);
void piq_grow(struct piq_sched *s, struct piq_req *req, u64 sector, u32 sectors);
void piq_absorb(struct piq_sched *s, struct piq_req *req, struct piq_req *absorbed,
		u64 sector, u32 sectors);
struct piq_req *piq_choose_waiting(struct piq_sched *s, u64 now);
void piq_dispatch_queued(struct piq_sched *s, struct piq_req *req, bool tracked,
			 u64 now);
void piq_start_head(struct piq_sched *s, struct piq_req *req, enum piq_kind kind,
		    u64 sector, u32 sectors, u64 now);
void piq_release_chips(struct piq_sched *s, struct piq_req *req);

/**
 * piq_set_blind - whether mode auto is a FIFO although the layout is trusted
 * @s: the device
 * @blind: it is
 */
static inline void piq_set_blind(struct piq_sched *s, bool blind)
{
	if (s->blind != blind)
		piq_change_blind(s);
}

/* Store what a request is. */
static inline void piq_describe(struct piq_req *req, enum piq_kind kind, u64 sector,
				u32 sectors)
{
	req->part.batch = NULL;
	req->sector = sector;
	req->sectors = sectors;
	req->chip = FLASH_NO_CHIP;
	req->kind = kind;
	req->reserved = false;
	req->conflicts = false;
}

/* A request arrives: its place in the order. */
static inline void piq_arrive(struct piq_sched *s, struct piq_req *req, u64 seq,
			      enum piq_kind kind, u64 sector, u32 sectors, u64 now)
{
	piq_describe(req, kind, sector, sectors);
	req->seq = s->last_seq = seq;
	req->base = s->left[kind] + s->waiting[kind];
	req->arrived = now;
}

/**
 * piq_add - a request arrives
 * @s: the device
 * @req: its part in the order; @urgent is set
 * @seq: its place in the order of arrival
 * @kind: its kind
 * @sector: its first sector
 * @sectors: its length
 * @now: the time, ns
 */
static inline void piq_add(struct piq_sched *s, struct piq_req *req, u64 seq,
			   enum piq_kind kind, u64 sector, u32 sectors, u64 now)
{
	piq_arrive(s, req, seq, kind, sector, sectors, now);
	s->waiting[kind]++;
	list_add_tail(&req->order, &s->order[kind]);
	if (s->fifo && !req->urgent)
		flash_chipvec_none(&req->part.vec);
	else
		piq_add_queued(s, req);
}

/**
 * piq_choose - the request to dispatch next
 * @s: the device
 * @now: the time, ns
 *
 * Call it after each event, and only then: between two events nothing else can be
 * dispatched. In the paper's modes a turn may end although no request waits.
 *
 * Return: the request, or NULL if none may be dispatched before others are done. Never NULL
 * if a request waits and none is outstanding.
 */
static inline struct piq_req *piq_choose(struct piq_sched *s, u64 now)
{
	if (piq_in_order(s))
		return piq_oldest_of_all(s);
	if (s->mode == PIQ_AUTO && !piq_waiting(s))
		return NULL;
	return piq_choose_waiting(s, now);
}

/* Count the wait of a request that is dispatched. */
static inline void piq_count_wait(struct piq_sched *s, const struct piq_req *req, u64 now)
{
	if (req->conflicts) {
		s->stats.waited[piq_dir(req)]++;
		s->stats.wait_ns[piq_dir(req)] += now - req->arrived;
	}
}

/* Update the counters of dispatched requests. */
static inline void piq_count_dispatch(struct piq_sched *s, const struct piq_req *req,
				      u64 now)
{
	const struct list_head *writes = &s->order[PIQ_WRITE];

	if (req->kind == PIQ_READ && !list_empty(writes))
		s->stats.prioritised += list_first_entry(writes, struct piq_req,
							 order)->seq < req->seq;
	s->stats.passes += !list_is_first(&req->order, &s->order[req->kind]);
	piq_count_wait(s, req, now);
}

/* A request waits no more: it is dispatched or absorbed. */
static inline void piq_stop_waiting(struct piq_sched *s, struct piq_req *req)
{
	enum piq_kind kind = req->kind;

	list_del(&req->order);
	s->waiting[kind]--;
	s->left[kind]++;
	/* No pointer to it may stay. */
	s->pick.nr_reserved = 0;
}

/**
 * piq_dispatch - a request leaves the queues for the driver
 * @s: the device
 * @req: a request that piq_choose() has returned
 * @tracked: its end will be reported by piq_release()
 * @now: the time, ns
 */
static inline void piq_dispatch(struct piq_sched *s, struct piq_req *req, bool tracked,
				u64 now)
{
	piq_count_dispatch(s, req, now);
	piq_stop_waiting(s, req);
	if (!s->fifo || tracked || req->urgent)
		piq_dispatch_queued(s, req, tracked, now);
}

/**
 * piq_release - an outstanding request is done, or was requeued by the driver
 * @s: the device
 * @req: the request
 */
static inline void piq_release(struct piq_sched *s, struct piq_req *req)
{
	req->out = false;
	s->out--;
	/* Its chips, and its batch, may be of an earlier layout or mode. */
	if (!s->fifo || req->part.vec.nr_chips)
		piq_release_chips(s, req);
}

/* batch.c */
void piq_turns_init(struct piq_turns *t, struct flash_batch *pool);
void piq_turns_reset(struct piq_sched *s);
void piq_turns_add(struct piq_sched *s, struct piq_req *req);
void piq_turns_admit(struct piq_sched *s);
void piq_turns_leave(struct piq_sched *s, struct piq_req *req);
void piq_turns_grow(struct piq_sched *s, struct piq_req *req,
		    const struct flash_chipvec *v);
void piq_turns_replace(struct piq_sched *s, struct piq_req *req, struct piq_req *absorbed);
struct piq_req *piq_turns_next(struct piq_sched *s);
void piq_turns_dispatch(struct piq_sched *s, struct piq_req *req);
void piq_turns_release(struct piq_sched *s, struct piq_req *req);

/* learn.c */
struct piq_learn;

extern const size_t piq_learn_size;

void piq_learn_init(struct piq_sched *s, struct piq_learn *l);
void piq_learn_forget(struct piq_sched *s, struct piq_learn *l);
u32 piq_learn_settings(struct piq_sched *s, const struct piq_learn *l, u32 max);
u32 piq_learn_completion(struct piq_sched *s, struct piq_learn *l,
			 const struct piq_req *req, u32 max, u64 now);
u32 piq_learn_pct(const struct piq_sched *s, const struct piq_learn *l);

#endif /* PIQ_SCHED_H */
