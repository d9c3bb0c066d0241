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
 * Entry points, in the order of a request's life: layer_pass() or layer_select(),
 * layer_start(), layer_complete(); layer_holds() between them.
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

static enum flash_dir layer_other(enum flash_dir dir)
{
	return dir == FLASH_READ ? FLASH_WRITE : FLASH_READ;
}

static u32 layer_pieces(const struct layer_part *part, enum flash_dir dir)
{
	if (!part->data)
		return 1;
	return min_t(u32, DIV_ROUND_UP(part->sectors, LAYER_PIECE_SECTORS),
		     dir == FLASH_READ ? LAYER_READ_PIECES : LAYER_WRITE_PIECES);
}

/**
 * layer_limit_reached - is a direction at its limit?
 * @s: the device
 * @dir: the direction
 *
 * Writes leave reads twice the room that reads take, and at
 * least half of the limit, but one long write may always be in flight.
 */
bool layer_limit_reached(const struct layer_sched *s, enum flash_dir dir)
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

/* Time at which a request expires, ns; U64_MAX: never */
static u64 layer_deadline(const struct layer_sched *s, const struct layer_part *part,
			  enum flash_dir dir)
{
	u64 expire = s->tun.expire[dir];

	if (!expire || (s->tun.mode == LAYER_PAPER && dir == FLASH_WRITE))
		return U64_MAX;
	return part->arrived + expire;
}

static bool layer_expired(const struct layer_sched *s, const struct layer_part *part,
			  enum flash_dir dir, u64 now)
{
	return now >= layer_deadline(s, part, dir);
}

/* Both directions wait: does the oldest write have to be dispatched before reads? */
static bool layer_write_first(struct layer_sched *s, u64 now)
{
	u64 write = layer_deadline(s, layer_oldest(s, FLASH_WRITE), FLASH_WRITE);

	return now >= write &&
	       write < layer_deadline(s, layer_oldest(s, FLASH_READ), FLASH_READ);
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

/* Sub-layers with reads for idle chips; without any, all sub-layers with reads */
static noinline const struct flash_chipvec *layer_idle(const struct layer_sched *s,
							struct flash_chipvec *idle)
{
	u32 i;

	*idle = s->wait.nonempty;
	for (i = 0; i < flash_chipvec_words(idle); i++)
		idle->word[i] &= s->flight.occ.idle.word[i];
	return flash_chipvec_empty(idle) ? &s->wait.nonempty : idle;
}

/* The sub-layer that dispatches the next read; a read waits. */
static __always_inline struct layer_one *layer_choose(struct layer_sched *s)
{
	const struct flash_chipvec *from = &s->wait.nonempty;
	struct flash_chipvec idle;
	struct layer_turn *t = &s->turn;
	u32 next;

	if (layer_mapped(s))
		from = layer_idle(s, &idle);
	if (t->in_layer >= s->tun.per_layer || !flash_chipvec_test(from, t->cursor)) {
		next = flash_chipvec_after(from, t->cursor);
		s->stats.moves += next != t->cursor;
		t->cursor = next;
		t->in_layer = 0;
	}
	return &s->wait.layer[t->cursor];
}

/* The first read of a sub-layer in its order; there is one */
static struct layer_part *layer_first_in(struct layer_one *l)
{
	return RB_EMPTY_ROOT(&l->sorted.rb_root) ? layer_oldest_in(l) :
						   layer_first_sorted(&l->sorted);
}

/* Choose the next read, by the paper; @expired: set to whether it has expired. */
static struct layer_part *layer_paper_read(struct layer_sched *s, u64 now,
					   bool *expired)
{
	struct layer_one *l = layer_choose(s);
	struct layer_part *part = layer_oldest_in(l);

	s->turn.in_layer++;
	*expired = layer_expired(s, part, FLASH_READ, now);
	return *expired ? part : layer_first_in(l);
}

/* Choose the next read, in mode auto. */
static __always_inline struct layer_part *layer_auto_read(struct layer_sched *s,
							  struct layer_part *oldest,
							  bool expired)
{
	struct layer_one *l;

	if (expired || s->turn.passed >= s->map.nr_layers * s->tun.per_layer)
		return oldest;
	l = layer_choose(s);
	return s->turn.in_layer++ ? layer_first_in(l) : layer_oldest_in(l);
}

/* Count a read that was chosen. */
static __always_inline struct layer_part *layer_count(struct layer_sched *s,
						      struct layer_part *part,
						      const struct layer_part *oldest,
						      bool expired)
{
	s->turn.passed = part == oldest ? 0 : s->turn.passed + 1;
	s->wait.layer[part->layer].served++;
	if (expired) {
		s->stats.expired[FLASH_READ]++;
		s->wait.expired[part->layer]++;
	}
	return part;
}

static __always_inline struct layer_part *layer_select_read(struct layer_sched *s, u64 now)
{
	struct layer_part *oldest = list_first_entry(&s->wait.fifo[FLASH_READ],
						     struct layer_part, fifo);
	bool expired = layer_expired(s, oldest, FLASH_READ, now);

	return layer_count(s, layer_auto_read(s, oldest, expired), oldest, expired);
}

static struct layer_part *layer_select_paper_read(struct layer_sched *s, u64 now)
{
	struct layer_part *oldest = layer_oldest(s, FLASH_READ), *part;
	bool expired;

	part = layer_paper_read(s, now, &expired);
	return layer_count(s, part, oldest, expired);
}

static __always_inline struct layer_part *layer_select_write(struct layer_sched *s, u64 now)
{
	struct layer_part *oldest = list_first_entry(&s->wait.fifo[FLASH_WRITE],
						     struct layer_part, fifo);
	bool expired = layer_expired(s, oldest, FLASH_WRITE, now);

	s->stats.expired[FLASH_WRITE] += expired;
	return expired || !s->tun.sort_writes ? oldest :
	       layer_first_sorted(&s->wait.writes);
}

/* Remove a request that was chosen from the queues. */
static __always_inline void layer_take(struct layer_sched *s, struct layer_part *part,
				       enum flash_dir dir)
{
	layer_remove(s, part, dir);
	part->pieces = layer_pieces(part, dir);
	s->stats.served[dir]++;
}

/* layer_select() in mode paper, or while both directions wait */
static noinline struct layer_part *layer_select_turn(struct layer_sched *s, u64 now)
{
	struct layer_turn *t = &s->turn;
	bool may = layer_may_dispatch(s, t->dir);
	bool other = layer_may_dispatch(s, layer_other(t->dir));
	struct layer_part *part;

	if (!may && !other)
		return NULL;
	layer_choose_dir(s, may, other, now);
	if (t->dir == FLASH_WRITE)
		part = layer_select_write(s, now);
	else if (s->tun.mode == LAYER_PAPER)
		part = layer_select_paper_read(s, now);
	else
		part = layer_select_read(s, now);
	layer_take(s, part, t->dir);
	t->run++;
	t->run_pieces += part->pieces;
	/* Mode auto counts only requests that the other direction had to wait for. */
	if (s->tun.mode == LAYER_AUTO && !s->wait.nr[layer_other(t->dir)]) {
		layer_restart_run(t);
		t->due = false;
	}
	return part;
}

/* layer_select() in mode auto, while only requests of direction @dir wait */
static __always_inline struct layer_part *layer_select_alone(struct layer_sched *s,
							     enum flash_dir dir, u64 now)
{
	struct layer_part *part;

	if (!layer_may_dispatch(s, dir))
		return NULL;
	if (s->turn.dir != dir)
		layer_switch(s, false);
	part = dir == FLASH_READ ? layer_select_read(s, now) : layer_select_write(s, now);
	layer_take(s, part, dir);
	/* The other direction does not wait, so this one may have many turns. */
	layer_restart_run(&s->turn);
	s->turn.due = false;
	return part;
}

/* layer_select_alone() for reads */
static noinline struct layer_part *layer_select_reads(struct layer_sched *s, u64 now)
{
	return layer_select_alone(s, FLASH_READ, now);
}

/**
 * layer_pass - choose a read that arrives while no request waits
 * @s: the device
 * @part: the request's part, in no queue; layer_describe() was called for it
 *
 * As layer_insert() and layer_select() would do: it has its sub-layer's turn, whatever the
 * turn was. Return: false if it has to be inserted; then nothing has changed.
 */
bool layer_pass(struct layer_sched *s, struct layer_part *part)
{
	struct layer_turn *t = &s->turn;

	if (part->dir != FLASH_READ || s->tun.mode == LAYER_PAPER || t->dir != FLASH_READ ||
	    (s->flight.out && layer_at_limit(s, FLASH_READ)))
		return false;
	part->layer = layer_index(&s->map, part->sector);
	if (t->cursor != part->layer) {
		t->cursor = part->layer;
		t->in_layer = 0;
		s->stats.moves++;
	} else if (t->in_layer >= s->tun.per_layer) {
		t->in_layer = 0;
	}
	t->in_layer++;
	t->passed = 0;
	layer_restart_run(t);
	t->due = false;
	s->wait.layer[part->layer].served++;
	part->pieces = layer_pieces(part, FLASH_READ);
	s->stats.served[FLASH_READ]++;
	return true;
}

/* layer_select_alone() for writes */
static noinline struct layer_part *layer_select_writes(struct layer_sched *s, u64 now)
{
	return layer_select_alone(s, FLASH_WRITE, now);
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
	if (s->tun.mode == LAYER_PAPER)
		return layer_select_turn(s, now);
	if (!s->wait.nr[FLASH_WRITE])
		return layer_select_reads(s, now);
	return s->wait.nr[FLASH_READ] ? layer_select_turn(s, now) :
					layer_select_writes(s, now);
}

/**
 * layer_bypass - compute the pieces of a request that was not selected
 * @part: its part; layer_describe() was called for it
 */
void layer_bypass(struct layer_part *part)
{
	part->pieces = layer_pieces(part, part->dir);
}

/**
 * layer_start_chips - layer_start(), if sub-layers are chips
 * @s: the device
 * @part: its part
 */
void layer_start_chips(struct layer_sched *s, struct layer_part *part)
{
	if (part->data)
		flash_chipvec_fill(&part->vec, &s->map.geo, part->sector,
				   part->sectors, s->map.offset);
	else
		flash_chipvec_clear(&part->vec, &s->map.geo);
	flash_occupancy_take(&s->flight.occ, &part->vec, part->dir);
}

/**
 * layer_complete_any - layer_complete() for any request and mode
 * @s: the device
 * @part: its part
 * @ended: it has completed
 * @now: the time, ns
 */
void layer_complete_any(struct layer_sched *s, struct layer_part *part, bool ended, u64 now)
{
	struct flash_pace *p = &s->flight.pace;
	u32 dir;

	if (ended && s->tun.mode == LAYER_AUTO) {
		/* A direction that has been held back is so until a completion. */
		for (dir = 0; dir < FLASH_NR_DIRS; dir++)
			p->full |= s->wait.nr[dir] && layer_at_limit(s, dir);
		if (layer_count_end(s, part, now))
			flash_pace_judge(p, !s->tun.max_inflight, now);
	}
	layer_stop(s, part);
	if (part->counted)
		flash_occupancy_release(&s->flight.occ, &part->vec, part->dir);
}
