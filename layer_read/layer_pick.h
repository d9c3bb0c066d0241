/* SPDX-License-Identifier: GPL-2.0 */
/*
 * layer_pick.h - who goes next, and how many may be in the device
 *
 * Pure logic, shared with the user-space unit tests: no kernel header. The
 * caller's lock guards all of it.
 *
 *   layer_add() -> layer_next() -> layer_take() -> layer_give()
 *
 * Directions have turns. A turn ends when nothing of its direction waits, or
 * when it has had batch_read or batch_write requests in a row and the other
 * direction waits; if that does not, it goes on and the count begins anew.
 *
 * Reads: sub-layers have turns, round and round, of per_layer reads at most;
 * empty ones are left out. Whose turn it is, and how much of it is over, stays
 * while writes have theirs. The first of a sub-layer as it is sorted goes.
 *
 * Mode paper: before each read the oldest one of the sub-layer is looked at, and
 * goes if it has expired. One that expires elsewhere waits until its sub-layer
 * has its turn. So with L sub-layers a read that is the oldest of its own goes
 * at the latest after (L - 1) * per_layer other reads, and the writes between
 * them: batch_write for each batch_read. Writes have no deadline, and need none as
 * a FIFO: at most batch_read reads go between two of them. Reads without a deadline,
 * and sorted writes, may wait as long as others come that are sorted before them.
 *
 * Mode auto: the oldest request of all is looked at, by deadline. Reads go
 * before writes, unless a write has expired, and before any expired read.
 * A direction that has its turn because the other one's batch was full keeps it
 * until its own is, whatever has expired: else one that has more to do than the
 * device can would never let the other one have a turn. So an expired request
 * goes at the latest after those of its direction that have expired before it,
 * and the turns between them. A turn of writes is full, too, when it has filled the
 * device once: more of it would only make reads wait.
 * If sub-layers are chips, one whose chip has nothing to do goes before one whose
 * chip has. Nobody waits for a deadline only because others have lower addresses or
 * idle chips: the turn of a sub-layer begins with its oldest read, and the oldest of
 * all goes when as many have passed it as go in a round of full turns. Sorted writes
 * do, and need their deadline.
 * Each direction has a bound on what of it is in the device; one that has enough
 * there may not go, whoever's turn it is and whatever has expired, and the other one
 * does; then that turn is over.
 *
 * In both modes, while reads wait at most batch_write writes go in a row, and at
 * most batch_read reads while writes wait, unless the others may not go. As long as
 * anything waits, something goes, unless mode auto holds both directions back because
 * enough is in the device: then something is out, whose end lets it go.
 */
#ifndef LAYER_PICK_H
#define LAYER_PICK_H

#include "layer_order.h"

/* When a request has expired, ns; 0: never. */
static inline u64 layer_deadline(const struct layer_sched *s,
				 const struct layer_item *it)
{
	u64 expire = s->tun.expire[it->dir];

	if (!expire || (s->mode == LAYER_PAPER && it->dir == FLASH_WRITE))
		return 0;
	return it->arrived + expire;
}

static inline bool layer_expired(const struct layer_sched *s,
				 const struct layer_item *it, u64 now)
{
	u64 deadline = layer_deadline(s, it);

	return deadline && now >= deadline;
}

/* The direction whose oldest request has expired before the other's, if any. */
static inline enum flash_dir layer_due(struct layer_sched *s, u64 now)
{
	struct layer_item *r = layer_oldest(s, FLASH_READ);
	struct layer_item *w = layer_oldest(s, FLASH_WRITE);
	bool read = r && layer_expired(s, r, now);
	bool write = w && layer_expired(s, w, now);

	if (read && write)
		return layer_deadline(s, w) < layer_deadline(s, r) ?
		       FLASH_WRITE : FLASH_READ;
	if (read)
		return FLASH_READ;
	return write ? FLASH_WRITE : FLASH_NR_DIRS;
}

static inline enum flash_dir layer_other(enum flash_dir dir)
{
	return dir == FLASH_READ ? FLASH_WRITE : FLASH_READ;
}

static inline void layer_switch(struct layer_sched *s, bool by_right)
{
	s->dir = layer_other(s->dir);
	s->run = 0;
	s->run_pieces = 0;
	s->by_right = by_right;
	s->stats.switches++;
}

/* What a request counts of the bound. */
static inline u32 layer_pieces(const struct layer_item *it)
{
	u32 most = it->dir == FLASH_READ ? LAYER_READ_PIECES :
					   LAYER_WRITE_PIECES;
	u32 pieces = it->data ? (it->sectors + LAYER_PIECE_SECTORS - 1) /
				LAYER_PIECE_SECTORS : 1;

	return pieces < most ? pieces : most;
}

/*
 * Is enough of a direction in the device? Each has a bound of its own: reads that wait
 * there for chips must not keep those from writes, or they would have nothing to do.
 * But writes leave reads twice the room that they take, and half of it at least, as
 * long as one long write may go.
 */
static inline bool layer_enough(const struct layer_sched *s, enum flash_dir dir,
				u32 max)
{
	u32 bound, room, reads = s->pieces[FLASH_READ];

	if (s->mode == LAYER_PAPER || max || !s->out)
		return false;
	bound = flash_pace_bound(&s->pace);
	if (dir == FLASH_READ)
		return reads >= bound;
	room = 2 * reads;
	if (reads && room < bound / 2)
		room = bound / 2;
	return s->pieces[FLASH_WRITE] + room >= bound &&
	       s->pieces[FLASH_WRITE] >= LAYER_WRITE_PIECES;
}

/* May one of a direction go? */
static inline bool layer_may(const struct layer_sched *s, enum flash_dir dir,
			     u32 max)
{
	return s->waiting[dir] && !layer_enough(s, dir, max);
}

/**
 * layer_held - does all that waits wait until something ends?
 * @s: the device
 * @max: how many requests the user allows in it, which then decides; 0: it is us
 *
 * Never with an empty device.
 */
static inline bool layer_held(const struct layer_sched *s, u32 max)
{
	return layer_waiting(s) && !layer_may(s, FLASH_READ, max) &&
	       !layer_may(s, FLASH_WRITE, max);
}

/* Has the direction had all of its turn? */
static inline bool layer_full(const struct layer_sched *s)
{
	return s->run >= s->tun.batch[s->dir] ||
	       (s->mode == LAYER_AUTO && s->dir == FLASH_WRITE &&
		s->run_pieces >= flash_pace_bound(&s->pace));
}

/* Whose turn is it? Something may go. */
static inline void layer_turn(struct layer_sched *s, u32 max, u64 now)
{
	bool other = layer_may(s, layer_other(s->dir), max);
	enum flash_dir want;

	if (!layer_may(s, s->dir, max)) {
		layer_switch(s, false);
	} else if (layer_full(s)) {
		/* Who may not go yet has its turn as soon as it may. */
		if (other) {
			layer_switch(s, true);
		} else if (!s->waiting[layer_other(s->dir)]) {
			s->run = 0;
			s->run_pieces = 0;
		}
	} else if (s->mode == LAYER_AUTO && other && !s->by_right) {
		want = layer_due(s, now) == FLASH_WRITE ? FLASH_WRITE :
							  FLASH_READ;
		if (want != s->dir)
			layer_switch(s, false);
	}
}

/* The sub-layer that has its turn; reads wait. */
static inline struct layer_one *layer_choose(struct layer_sched *s)
{
	const struct flash_chipvec *from = &s->some;
	struct flash_chipvec idle;
	u32 i, next;

	if (layer_mapped(s)) {
		idle = s->some;
		for (i = 0; i < flash_chipvec_words(&idle); i++)
			idle.word[i] &= s->occ.idle.word[i];
		if (!flash_chipvec_empty(&idle))
			from = &idle;
	}
	if (!flash_chipvec_test(from, s->cursor) ||
	    s->in_layer >= s->tun.per_layer) {
		next = flash_chipvec_next(from, s->cursor);
		if (next == FLASH_NO_CHIP)
			next = flash_chipvec_first(from);
		s->stats.moves += next != s->cursor;
		s->cursor = next;
		s->in_layer = 0;
	}
	return &s->layer[s->cursor];
}

/* The read that goes next; sets @expired if that is why. Reads wait. */
static inline struct layer_item *layer_pick_read(struct layer_sched *s,
						 u64 now, bool *expired)
{
	struct layer_item *it = layer_oldest(s, FLASH_READ);
	struct layer_one *l;

	*expired = s->mode == LAYER_AUTO && layer_expired(s, it, now);
	if (*expired)
		return it;
	if (s->mode == LAYER_AUTO &&
	    s->passed >= s->nr_layers * s->tun.per_layer)
		return it;
	l = layer_choose(s);
	it = layer_oldest_in(l);
	if (s->mode == LAYER_PAPER)
		*expired = layer_expired(s, it, now);
	if (!*expired && (s->mode == LAYER_PAPER || s->in_layer))
		it = layer_of_node(l->first);
	s->in_layer++;
	return it;
}

/* The write that goes next, likewise. */
static inline struct layer_item *layer_pick_write(struct layer_sched *s,
						  u64 now, bool *expired)
{
	struct layer_item *it = layer_oldest(s, FLASH_WRITE);

	*expired = layer_expired(s, it, now);
	return *expired || !s->tun.sort_writes ? it : layer_of_node(s->writes);
}

/**
 * layer_next - take out the request that goes next
 * @s: the device
 * @max: as for layer_held()
 * @now: the time, ns
 *
 * Return: the request; NULL only if none waits, or all are held.
 */
static inline struct layer_item *layer_next(struct layer_sched *s, u32 max,
					    u64 now)
{
	struct layer_item *it;
	struct layer_one *l;
	bool expired;

	if (!layer_may(s, FLASH_READ, max) && !layer_may(s, FLASH_WRITE, max))
		return NULL;
	layer_turn(s, max, now);
	it = s->dir == FLASH_READ ? layer_pick_read(s, now, &expired) :
				    layer_pick_write(s, now, &expired);
	if (it->dir == FLASH_READ)
		s->passed = it == layer_oldest(s, FLASH_READ) ? 0 :
			    s->passed + 1;
	layer_leave(s, it);
	s->stats.served[it->dir]++;
	s->stats.expired[it->dir] += expired;
	if (it->dir == FLASH_READ) {
		l = &s->layer[it->layer];
		l->served++;
		l->expired += expired;
	}
	s->run++;
	s->run_pieces += layer_pieces(it);
	/* Mode auto counts those that made others wait. */
	if (s->mode == LAYER_AUTO && !s->waiting[layer_other(s->dir)]) {
		s->run = 0;
		s->run_pieces = 0;
		s->by_right = false;
	}
	return it;
}

/**
 * layer_take - the driver gets a request that counts as in flight
 * @s: the device
 * @it: its item; layer_next() has returned it, or it has been in no queue
 * @dir: what it does; FLASH_NR_DIRS: no data
 * @sector: its first sector
 * @sectors: its length
 */
static inline void layer_take(struct layer_sched *s, struct layer_item *it,
			      enum flash_dir dir, u64 sector, u32 sectors)
{
	it->data = dir != FLASH_NR_DIRS;
	it->dir = dir == FLASH_READ ? FLASH_READ : FLASH_WRITE;
	it->sector = sector;
	it->sectors = sectors;
	it->pieces = layer_pieces(it);
	it->out = true;
	s->out++;
	s->pieces[it->dir] += it->pieces;
	if (it->data)
		flash_chipvec_fill(&it->vec, &s->geo, sector, sectors,
				   s->offset);
	else
		flash_chipvec_clear(&it->vec, &s->geo);
	flash_occupancy_take(&s->occ, &it->vec, it->dir);
}

/**
 * layer_give - a request has ended, or the driver has handed it back
 * @s: the device
 * @it: the request, which layer_take() was called for
 * @ended: it has ended
 * @max: as for layer_held()
 * @now: the time, ns
 */
static inline void layer_give(struct layer_sched *s, struct layer_item *it,
			      bool ended, u32 max, u64 now)
{
	u32 dir;

	if (ended && s->mode == LAYER_AUTO) {
		/* Whoever was held back is so until a request ends. */
		for (dir = 0; dir < FLASH_NR_DIRS; dir++)
			s->pace.full |= s->waiting[dir] &&
					layer_enough(s, dir, max);
		if (it->data)
			s->pace.moved += it->sectors;
		flash_pace_end(&s->pace, s->out == 1, !max, now);
	}
	it->out = false;
	s->out--;
	s->pieces[it->dir] -= it->pieces;
	flash_occupancy_release(&s->occ, &it->vec, it->dir);
}

#endif /* LAYER_PICK_H */
