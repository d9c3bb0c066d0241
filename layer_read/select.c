// SPDX-License-Identifier: GPL-2.0
/*
 * select.c - which request is dispatched next, and how many may be in flight
 *
 * Problem: reads wait for writes in a flash drive, and each change of direction costs
 * time. The paper serves long runs of one direction, and spreads reads over sub-layers.
 *
 * Directions take turns. A turn ends when no request of its direction waits, or after
 * batch_read or batch_write requests in a row if the other direction waits. If the other
 * one does not wait, the turn continues and its count restarts.
 *
 * Reads: sub-layers take turns of at most per_layer reads, round-robin; empty ones are
 * skipped. The current sub-layer and its count are kept over a turn of writes. The first
 * read in the order of the sub-layer is dispatched.
 *
 * Mode paper: before each read the oldest one of the current sub-layer is checked, and
 * dispatched if it has expired. A read that expires in another sub-layer waits for the turn
 * of that sub-layer. So with L sub-layers the oldest read of a sub-layer is dispatched after
 * at most (L - 1) * per_layer other reads, and batch_write writes for each batch_read of
 * them. Writes need no deadline as they are a FIFO: at most batch_read reads are
 * dispatched between two of them. Reads without a deadline, and sorted writes, have no
 * upper bound of their wait.
 *
 * Mode auto differs in this:
 * - The oldest request of all sub-layers is checked, by deadline. Reads precede writes,
 *   unless a write expired before any read.
 * - A turn that began as the other direction's was full ("due") lasts until it is full,
 *   too, even if requests of the other direction have expired. Otherwise a direction under
 *   overload would end all turns of the other one. So an expired request waits for
 *   older requests of its direction, and for the turns between them. A turn of writes is
 *   also full once it has filled the device: more writes would only delay reads.
 * - If sub-layers are chips, those of idle chips precede all others.
 * - No read waits for its deadline just because others have lower addresses or idle
 *   chips: a sub-layer's turn begins with its oldest read, and the oldest of all
 *   reads is dispatched after a round of full turns. Sorted writes need their deadline.
 * - Each direction has a limit in flight, which overrides turns and deadlines. While
 *   only the other direction is below its limit, it has the turn.
 *
 * Limits are in pieces of 16 KiB, the size of the paper's requests, see layer_pieces().
 * Each direction has its own limit: reads that wait in the device for busy chips must
 * not keep writes from idle ones. But the room for writes shrinks with reads in
 * flight. The search of common/estimate/pace.c finds the limit.
 *
 * Invariants: while both directions may dispatch, at most batch_write writes and at
 * most batch_read reads are dispatched in a row. A request is always dispatched if one
 * waits, unless both directions are at their limits; then one is in flight, and
 * its completion allows a dispatch. All state is guarded by flash_queue.lock.
 *
 * Entry points, in the order of a request's life: layer_select(), layer_start(),
 * layer_complete(); layer_holds() between them.
 */
#include <linux/kernel.h>
#include <linux/limits.h>

#include "sublayer.h"

/* The oldest waiting request of a direction, or NULL */
static inline struct layer_part *layer_oldest(struct layer_sched *s,
					      enum flash_dir dir)
{
	return list_first_entry_or_null(&s->wait.fifo[dir], struct layer_part, fifo);
}

/* The first request by layer_part.key; there is one */
static inline struct layer_part *layer_first_sorted(const struct rb_root_cached *tree)
{
	return rb_entry(rb_first_cached(tree), struct layer_part, sort_node);
}

/*
 * Requests count in pieces. Writes of 256 KiB and more use all chips anyway, so they count
 * as 256 KiB. A read completes with the slowest of its chips and leaves others idle, so
 * many have to be in flight: a read counts as at most 64 KiB.
 */
#define LAYER_PIECE_SECTORS	32
#define LAYER_READ_PIECES	4
#define LAYER_WRITE_PIECES	16

static enum flash_dir layer_other(enum flash_dir dir)
{
	return dir == FLASH_READ ? FLASH_WRITE : FLASH_READ;
}

static u32 layer_pieces(const struct layer_part *part)
{
	if (!part->data)
		return 1;
	return min_t(u32, DIV_ROUND_UP(part->sectors, LAYER_PIECE_SECTORS),
		     part->dir == FLASH_READ ? LAYER_READ_PIECES :
					       LAYER_WRITE_PIECES);
}

/*
 * Is a direction at its limit? Writes leave reads twice the room that reads take, and at
 * least half of the limit, but one long write may always be in flight.
 */
static bool layer_at_limit(const struct layer_sched *s, enum flash_dir dir)
{
	u32 limit, room, reads = s->flight.pieces[FLASH_READ];
	u32 writes = s->flight.pieces[FLASH_WRITE];

	if (s->tun.mode == LAYER_PAPER || s->tun.max_inflight)
		return false;
	limit = flash_pace_limit(&s->flight.pace);
	if (dir == FLASH_READ)
		return reads >= limit;
	room = reads ? max(2 * reads, limit / 2) : 0;
	return writes + room >= limit && writes >= LAYER_WRITE_PIECES;
}

/* With none in flight there is no limit, as no completion would end the wait. */
static bool layer_may_dispatch(const struct layer_sched *s, enum flash_dir dir)
{
	return s->wait.nr[dir] && (!s->flight.out || !layer_at_limit(s, dir));
}

/**
 * layer_throttled - are all directions with waiting requests at their limits?
 * @s: the device, with requests in flight
 */
bool layer_throttled(const struct layer_sched *s)
{
	return !layer_may_dispatch(s, FLASH_READ) &&
	       !layer_may_dispatch(s, FLASH_WRITE);
}

/* Time at which a request expires, ns; U64_MAX: never */
static u64 layer_deadline(const struct layer_sched *s, const struct layer_part *part)
{
	u64 expire = s->tun.expire[part->dir];

	if (!expire || (s->tun.mode == LAYER_PAPER && part->dir == FLASH_WRITE))
		return U64_MAX;
	return part->arrived + expire;
}

static bool layer_expired(const struct layer_sched *s, const struct layer_part *part,
			  u64 now)
{
	return now >= layer_deadline(s, part);
}

/* Both directions wait: does the oldest write have to be dispatched before reads? */
static bool layer_write_first(struct layer_sched *s, u64 now)
{
	u64 write = layer_deadline(s, layer_oldest(s, FLASH_WRITE));

	return now >= write && write < layer_deadline(s, layer_oldest(s, FLASH_READ));
}

static void layer_restart_run(struct layer_turn *t)
{
	t->run = 0;
	t->run_pieces = 0;
}

static void layer_switch(struct layer_sched *s, bool due)
{
	s->turn.dir = layer_other(s->turn.dir);
	layer_restart_run(&s->turn);
	s->turn.due = due;
	s->stats.switches++;
}

/* Has the direction dispatched as much as a turn allows? */
static bool layer_turn_full(const struct layer_sched *s)
{
	const struct layer_turn *t = &s->turn;

	return t->run >= s->tun.batch[t->dir] ||
	       (s->tun.mode == LAYER_AUTO && t->dir == FLASH_WRITE &&
		t->run_pieces >= flash_pace_limit(&s->flight.pace));
}

/* Choose the direction of the next request; @may: it, and the other one, may dispatch. */
static void layer_choose_dir(struct layer_sched *s, bool may, bool other, u64 now)
{
	if (!may) {
		layer_switch(s, false);
	} else if (layer_turn_full(s)) {
		/* A direction at its limit gets its turn once it is below it. */
		if (other)
			layer_switch(s, true);
		else if (!s->wait.nr[layer_other(s->turn.dir)])
			layer_restart_run(&s->turn);
	} else if (s->tun.mode == LAYER_AUTO && other && !s->turn.due) {
		if (layer_write_first(s, now) != (s->turn.dir == FLASH_WRITE))
			layer_switch(s, false);
	}
}

/* The sub-layer that dispatches the next read; a read waits. */
static __always_inline struct layer_one *layer_choose(struct layer_sched *s)
{
	const struct flash_chipvec *from = &s->wait.nonempty;
	struct flash_chipvec idle;
	struct layer_turn *t = &s->turn;
	u32 i, next;

	if (layer_mapped(s)) {
		idle = s->wait.nonempty;
		for (i = 0; i < flash_chipvec_words(&idle); i++)
			idle.word[i] &= s->flight.occ.idle.word[i];
		if (!flash_chipvec_empty(&idle))
			from = &idle;
	}
	if (t->in_layer >= s->tun.per_layer || !flash_chipvec_test(from, t->cursor)) {
		next = flash_chipvec_after(from, t->cursor);
		s->stats.moves += next != t->cursor;
		t->cursor = next;
		t->in_layer = 0;
	}
	return &s->wait.layer[t->cursor];
}

/* The oldest read of a sub-layer that has one */
static struct layer_part *layer_oldest_in(struct layer_one *l)
{
	struct rb_node *node = rb_first_cached(&l->late);
	struct layer_part *late, *first =
		list_first_entry_or_null(&l->line, struct layer_part, line);

	if (likely(!node))
		return first;
	late = rb_entry(node, struct layer_part, late_node);
	return !first || late->seq < first->seq ? late : first;
}

/* Choose the next read, by the paper; @expired: set to whether it has expired. */
static struct layer_part *layer_paper_read(struct layer_sched *s, u64 now,
					   bool *expired)
{
	struct layer_one *l = layer_choose(s);
	struct layer_part *part = layer_oldest_in(l);

	s->turn.in_layer++;
	*expired = layer_expired(s, part, now);
	return *expired ? part : layer_first_sorted(&l->sorted);
}

/* Choose the next read, in mode auto. */
static struct layer_part *layer_auto_read(struct layer_sched *s,
					  struct layer_part *oldest, u64 now,
					  bool *expired)
{
	struct layer_one *l;

	*expired = layer_expired(s, oldest, now);
	if (*expired || s->turn.passed >= s->map.nr_layers * s->tun.per_layer)
		return oldest;
	l = layer_choose(s);
	return s->turn.in_layer++ ? layer_first_sorted(&l->sorted) :
				    layer_oldest_in(l);
}

static struct layer_part *layer_select_read(struct layer_sched *s, u64 now)
{
	struct layer_part *oldest = layer_oldest(s, FLASH_READ), *part;
	bool expired;

	if (s->tun.mode == LAYER_PAPER)
		part = layer_paper_read(s, now, &expired);
	else
		part = layer_auto_read(s, oldest, now, &expired);
	s->turn.passed = part == oldest ? 0 : s->turn.passed + 1;
	s->stats.expired[FLASH_READ] += expired;
	s->wait.layer[part->layer].served++;
	s->wait.layer[part->layer].expired += expired;
	return part;
}

static struct layer_part *layer_select_write(struct layer_sched *s, u64 now)
{
	struct layer_part *oldest = layer_oldest(s, FLASH_WRITE);
	bool expired = layer_expired(s, oldest, now);

	s->stats.expired[FLASH_WRITE] += expired;
	return expired || !s->tun.sort_writes ? oldest :
	       layer_first_sorted(&s->wait.writes);
}

/**
 * layer_select - choose the next request, and remove it from the queues
 * @s: the device
 * @now: the time, ns
 *
 * Return: its part; NULL only if no request waits or layer_holds().
 */
struct layer_part *layer_select(struct layer_sched *s, u64 now)
{
	struct layer_turn *t = &s->turn;
	bool may = layer_may_dispatch(s, t->dir);
	bool other = layer_may_dispatch(s, layer_other(t->dir));
	struct layer_part *part;

	if (!may && !other)
		return NULL;
	layer_choose_dir(s, may, other, now);
	part = t->dir == FLASH_READ ? layer_select_read(s, now) :
				      layer_select_write(s, now);
	layer_remove(s, part);
	part->pieces = layer_pieces(part);
	s->stats.served[part->dir]++;
	t->run++;
	t->run_pieces += part->pieces;
	/* Mode auto counts only requests that the other direction had to wait for. */
	if (s->tun.mode == LAYER_AUTO && !s->wait.nr[layer_other(t->dir)]) {
		layer_restart_run(t);
		t->due = false;
	}
	return part;
}

/**
 * layer_bypass - compute the pieces of a request that was not selected
 * @part: its part; layer_describe() was called for it
 */
void layer_bypass(struct layer_part *part)
{
	part->pieces = layer_pieces(part);
}

/**
 * layer_start - a request is in flight from now on
 * @s: the device
 * @part: its part, of which layer_part.pieces is set
 */
void layer_start(struct layer_sched *s, struct layer_part *part)
{
	s->flight.out++;
	s->flight.pieces[part->dir] += part->pieces;
	if (layer_mapped(s) && part->data)
		flash_chipvec_fill(&part->vec, &s->map.geo, part->sector,
				   part->sectors, s->map.offset);
	else
		flash_chipvec_clear(&part->vec, &s->map.geo);
	flash_occupancy_take(&s->flight.occ, &part->vec, part->dir);
}

/**
 * layer_complete - a request is not in flight any more
 * @s: the device
 * @part: its part, which layer_start() was called for
 * @ended: it has completed, else the driver requeued it
 * @now: the time, ns
 *
 * Return: layer_adjust_limit() has to be called.
 */
bool layer_complete(struct layer_sched *s, struct layer_part *part, bool ended, u64 now)
{
	struct layer_flight *f = &s->flight;
	bool due = false;
	u32 dir;

	if (ended && s->tun.mode == LAYER_AUTO) {
		/* A direction that has been held back is so until a completion. */
		for (dir = 0; dir < FLASH_NR_DIRS; dir++)
			f->pace.full |= s->wait.nr[dir] && layer_at_limit(s, dir);
		if (part->data)
			f->pace.moved += part->sectors;
		due = flash_pace_count(&f->pace, f->out == 1,
				       !s->tun.max_inflight, now);
	}
	f->out--;
	f->pieces[part->dir] -= part->pieces;
	part->pieces = 0;
	flash_occupancy_release(&f->occ, &part->vec, part->dir);
	return due;
}

/**
 * layer_adjust_limit - end a window of the search for the limit of mode auto
 * @s: the device
 * @now: the time, ns
 */
void layer_adjust_limit(struct layer_sched *s, u64 now)
{
	flash_pace_judge(&s->flight.pace, !s->tun.max_inflight, now);
}
