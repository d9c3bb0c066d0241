// SPDX-License-Identifier: GPL-2.0
/*
 * Random sequences of all that the block layer and the user can do to Layer_Read. Some
 * requests are polled, requeued or bypass the queues. Requests grow and merge, and settings
 * change under load. A naive model, which searches all requests, computes the next
 * request of each dispatch. After each event all counts and queues are checked against
 * the model. Arguments: steps, seed.
 */
#include <stdlib.h>
#include <string.h>

#include "layerhooks.h"
#include "tap.h"

#define RECS	120

enum state { FREE, WAITS, OUT, NR_STATES };

struct rec {
	struct layer_part part;
	enum state state;
	/* The model's copy */
	u64 seq, arrived, sector;
	u32 sectors, pieces;
	enum flash_dir dir;	/* FLASH_NR_DIRS: no data */
	bool chip[FLASH_MAX_CHIPS];
};

static struct {
	struct layer_sched s;
	struct rec rec[RECS];
	u64 now, seq, nr_new, nr_done, late, passing;
	bool held;
	unsigned long long seed;
	/* The model */
	enum flash_dir dir;
	u32 run, run_pieces, cursor, in_layer, passed, row[FLASH_NR_DIRS];
	bool due;
} f;

static u32 any(u32 n)
{
	return (u32)(tap_rand(&f.seed) % n);
}

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	printf("Bail out! %s; mode %d layers %u reads %u writes %u out %u, "
	       "request %llu of %llu\n", what, f.s.tun.mode, f.s.map.nr_layers,
	       f.s.wait.nr[0], f.s.wait.nr[1], f.s.flight.out,
	       (unsigned long long)f.nr_done, (unsigned long long)f.nr_new);
	exit(EXIT_FAILURE);
}

static struct rec *one(enum state state)
{
	u32 i, n = any(RECS);

	for (i = 0; i < RECS; i++, n = (n + 1) % RECS) {
		if (f.rec[n].state == state)
			return &f.rec[n];
	}
	return NULL;
}

/* The naive model */

static bool paper(void)
{
	return f.s.tun.mode == LAYER_PAPER;
}

static bool mapped(void)
{
	return !paper() && f.s.tun.layout.nr_chips;
}

static u32 layers(void)
{
	if (mapped())
		return f.s.tun.layout.nr_chips;
	return f.s.tun.chips ? 2 * f.s.tun.chips : 1;
}

static enum flash_dir queue_of(const struct rec *r)
{
	return r->dir == FLASH_READ ? FLASH_READ : FLASH_WRITE;
}

static u32 pieces_of(const struct rec *r)
{
	u32 pieces = 0, most = r->dir == FLASH_READ ? 4 : 16;

	if (r->dir == FLASH_NR_DIRS)
		return 1;
	while (pieces < most && pieces * 32 < r->sectors)
		pieces++;
	return pieces;
}

static u32 chip_of(u64 page)
{
	u32 chip = 0, i;

	for (i = 0; i < f.s.tun.layout.nr_terms; i++)
		chip += f.s.tun.layout.term[i].mul *
			(u32)(page / f.s.tun.layout.term[i].div %
			      f.s.tun.layout.term[i].mod);
	return chip;
}

static u64 page_of(u64 sector)
{
	return (sector + f.s.tun.offset) * 512 >> f.s.tun.layout.page_shift;
}

static u32 layer_of(const struct rec *r)
{
	u64 n;

	if (mapped())
		return chip_of(page_of(r->sector));
	n = r->sector / (f.s.map.capacity / layers() + 1);
	return n < layers() ? (u32)n : layers() - 1;
}

static bool waits(const struct rec *r, enum flash_dir dir)
{
	return r->state == WAITS && queue_of(r) == dir;
}

static bool some(enum flash_dir dir)
{
	u32 i;

	for (i = 0; i < RECS; i++) {
		if (waits(&f.rec[i], dir))
			return true;
	}
	return false;
}

static bool idle(u32 chip)
{
	u32 i;

	for (i = 0; i < RECS; i++) {
		if (f.rec[i].state == OUT && f.rec[i].chip[chip])
			return false;
	}
	return true;
}

static struct rec *oldest(enum flash_dir dir, u32 layer)
{
	struct rec *best = NULL;
	u32 i;

	for (i = 0; i < RECS; i++) {
		struct rec *r = &f.rec[i];

		if (waits(r, dir) && (layer == LAYER_MAX || layer_of(r) == layer) &&
		    (!best || r->seq < best->seq))
			best = r;
	}
	return best;
}

static u64 sort_key(const struct rec *r)
{
	switch (f.s.tun.sort) {
	case LAYER_SECTOR:
		return r->sector;
	case LAYER_SMALL:
		return r->sectors;
	case LAYER_BIG:
		return (1ULL << 40) - r->sectors;
	default:
		return r->seq;
	}
}

static struct rec *least(enum flash_dir dir, u32 layer)
{
	struct rec *best = NULL;
	u32 i;

	for (i = 0; i < RECS; i++) {
		struct rec *r = &f.rec[i];

		if (!waits(r, dir) || (layer != LAYER_MAX && layer_of(r) != layer))
			continue;
		if (!best || sort_key(r) < sort_key(best) ||
		    (sort_key(r) == sort_key(best) && r->seq < best->seq))
			best = r;
	}
	return best;
}

static bool old(const struct rec *r)
{
	u64 expire = r ? f.s.tun.expire[queue_of(r)] : 0;

	if (!expire || (paper() && queue_of(r) == FLASH_WRITE))
		return false;
	return f.now - r->arrived >= expire;
}

static u64 due_at(const struct rec *r)
{
	return r->arrived + f.s.tun.expire[queue_of(r)];
}

/* Does a request of a direction wait, which is below its in-flight limit? */
static bool may(enum flash_dir dir)
{
	u32 i, pieces[FLASH_NR_DIRS] = { 0 }, limit, out = 0;

	for (i = 0; i < RECS; i++) {
		if (f.rec[i].state != OUT)
			continue;
		pieces[queue_of(&f.rec[i])] += f.rec[i].pieces;
		out++;
	}
	limit = flash_pace_limit(&f.s.flight.pace);
	if (dir == FLASH_WRITE && pieces[FLASH_READ]) {
		u32 room = 2 * pieces[FLASH_READ];

		if (room < limit / 2)
			room = limit / 2;
		limit = room + 16 < limit ? limit - room : 16;
	}
	return some(dir) && (paper() || f.s.tun.max_inflight || !out || pieces[dir] < limit);
}

static void turn_to(bool due)
{
	f.dir = !f.dir;
	f.run = 0;
	f.run_pieces = 0;
	f.due = due;
}

static struct rec *expected(void)
{
	struct rec *r = oldest(FLASH_READ, LAYER_MAX);
	struct rec *w = oldest(FLASH_WRITE, LAYER_MAX), *it;
	bool other = may(!f.dir), full, write_due, can[LAYER_MAX];
	bool any_idle = false;
	u32 n, i, step;

	if (!other && !may(f.dir))
		return NULL;
	full = f.run >= f.s.tun.batch[f.dir] ||
	       (!paper() && f.dir == FLASH_WRITE &&
		f.run_pieces >= flash_pace_limit(&f.s.flight.pace));
	write_due = old(w) && !(old(r) && due_at(r) <= due_at(w));
	if (!may(f.dir))
		turn_to(false);
	else if (full && other)
		turn_to(true);
	else if (full && !some(!f.dir))
		f.run = f.run_pieces = 0;
	else if (full)
		;
	else if (!paper() && other && !f.due &&
		 write_due != (f.dir == FLASH_WRITE))
		turn_to(false);
	f.run++;
	if (f.dir == FLASH_WRITE)
		return old(w) || !f.s.tun.sort_writes ? w :
		       least(FLASH_WRITE, LAYER_MAX);
	n = layers();
	if (!paper() && (old(r) || f.passed >= n * f.s.tun.per_layer))
		return r;
	for (i = 0; i < n; i++) {
		can[i] = oldest(FLASH_READ, i);
		any_idle = any_idle || (can[i] && mapped() && idle(i));
	}
	for (i = 0; i < n; i++)
		can[i] = can[i] && (!any_idle || idle(i));
	for (step = 0; step <= n; step++) {
		if (can[f.cursor] && f.in_layer < f.s.tun.per_layer)
			break;
		f.cursor = (f.cursor + 1) % n;
		f.in_layer = 0;
	}
	it = oldest(FLASH_READ, f.cursor);
	if (!f.in_layer++ && !paper())
		return it;
	return paper() && old(it) ? it : least(FLASH_READ, f.cursor);
}

/* Number of late reads of a sub-layer */
static u32 late_ones(u32 layer, struct rb_node *node)
{
	u32 nr = 0;
	u64 seq = 0;

	for (; node; node = rb_next(node), nr++) {
		const struct layer_part *part =
			rb_entry(node, struct layer_part, late_node);

		must(part->late && part->layer == layer && part->seq > seq,
		     "a late one");
		seq = part->seq;
	}
	return nr;
}

/* Check all counts and queues against the model. */
static void audit(void)
{
	u32 i, n, waiting[FLASH_NR_DIRS] = { 0 }, out = 0, busy = 0;
	u32 pieces[FLASH_NR_DIRS] = { 0 };
	static u32 in[LAYER_MAX];
	static bool on[LAYER_MAX];

	memset(in, 0, sizeof(in));
	memset(on, 0, sizeof(on));
	for (i = 0; i < RECS; i++) {
		const struct rec *r = &f.rec[i];

		must(r->part.pieces == (r->state == OUT ? r->pieces : 0), "pieces");
		if (r->state == WAITS) {
			waiting[queue_of(r)]++;
			if (queue_of(r) == FLASH_READ)
				in[layer_of(r)]++;
			must(r->part.seq == r->seq && r->part.sector == r->sector &&
			     r->part.sectors == r->sectors &&
			     r->part.arrived == r->arrived, "what it is");
			must(queue_of(r) == FLASH_WRITE ||
			     r->part.layer == layer_of(r), "its sub-layer");
		}
		if (r->state == OUT) {
			out++;
			pieces[queue_of(r)] += r->pieces;
			for (n = 0; n < LAYER_MAX; n++)
				on[n] = on[n] || r->chip[n];
		}
	}
	must(!memcmp(waiting, f.s.wait.nr, sizeof(waiting)), "waiting");
	must(out == f.s.flight.out && !memcmp(pieces, f.s.flight.pieces, sizeof(pieces)),
	     "out or pieces");
	must(f.s.map.nr_layers == layers(), "number of sub-layers");
	for (n = 0; n < LAYER_MAX; n++) {
		const struct layer_one *l = &f.s.wait.layer[n];
		const struct layer_part *part;
		u32 nr = late_ones(n, rb_first_cached(&l->late));
		u64 seq = 0;

		f.late += nr;

		list_for_each_entry(part, &l->line, line) {
			must(part->line.next->prev == &part->line, "a list is torn");
			must(part->seq > seq && part->layer == n && !part->late,
			     "a line");
			seq = part->seq;
			nr++;
		}
		must(nr == in[n] && nr == l->waiting, "in a sub-layer");
		must(rb_first_cached(&l->sorted) ? nr : nr <= 1, "what is sorted");
		must(flash_chipvec_test(&f.s.wait.nonempty, n) == !!nr, "some");
		busy += on[n];
	}
	must(busy == f.s.flight.occ.busy, "busy chips");
	f.held = layer_nr_waiting(&f.s) && !may(FLASH_READ) && !may(FLASH_WRITE);
	must(f.held == layer_holds(&f.s), "held");
	must(!f.held || out, "held, and nothing is out");
}

/* What the started hook of layer_read.c does */
static void start(struct rec *r)
{
	u64 page;

	if (!r->part.pieces) {
		layer_describe(&r->part, r->dir, r->sector, r->sectors);
		layer_bypass(&r->part);
	}
	layer_start(&f.s, &r->part);
	r->state = OUT;
	r->pieces = pieces_of(r);
	memset(r->chip, 0, sizeof(r->chip));
	if (!mapped() || r->dir == FLASH_NR_DIRS)
		return;
	for (page = page_of(r->sector);
	     page <= page_of(r->sector + r->sectors - 1); page++)
		r->chip[chip_of(page)] = true;
}

/* Dispatch up to @most requests. */
static void dispatch(u32 most)
{
	while (most-- && layer_nr_waiting(&f.s) &&
	       (!f.s.tun.max_inflight || f.s.flight.out < f.s.tun.max_inflight) &&
	       !layer_holds(&f.s)) {
		bool both = may(FLASH_READ) && may(FLASH_WRITE);
		struct rec *first = oldest(FLASH_READ, LAYER_MAX);
		struct rec *want = expected();
		struct layer_part *part = layer_select(&f.s, f.now);
		struct rec *r = (struct rec *)part;

		must(part, "a request waits, none is selected");
		f.run_pieces += pieces_of(r);
		must(r == want, "the model selects another one");
		if (queue_of(r) == FLASH_READ)
			f.passed = r == first ? 0 : f.passed + 1;
		must(f.s.turn.cursor == f.cursor && f.s.turn.in_layer == f.in_layer,
		     "whose turn it is");
		/* No starvation: requests in a row while the other direction waits */
		f.row[!queue_of(r)] = 0;
		f.row[queue_of(r)] = both ? f.row[queue_of(r)] + 1 : 0;
		must(f.row[queue_of(r)] <= f.s.tun.batch[queue_of(r)],
		     "too many in a row");
		if (any(32)) {
			start(r);
		} else {
			/* Polled: no more hooks are called for it. */
			r->part.pieces = 0;
			r->state = FREE;
			f.nr_done++;
		}
		if (!paper() && !some(!queue_of(r))) {
			f.run = f.run_pieces = 0;
			f.due = false;
		}
		audit();
	}
	must(!layer_nr_waiting(&f.s) || f.s.flight.out || !most || most == ~0U,
	     "something waits, nothing is out");
}

static void insert(struct rec *r)
{
	r->state = WAITS;
	r->seq = ++f.seq;
	r->arrived = f.now;
	hook_insert(&f.s, &r->part, r->seq, r->dir, r->sector, r->sectors, f.now);
}

/* Is a request dispatched at once, as no other waits? */
static bool passes(struct rec *r)
{
	struct rec *want;

	if (some(FLASH_READ) || some(FLASH_WRITE) ||
	    (f.s.tun.max_inflight && f.s.flight.out >= f.s.tun.max_inflight))
		return false;
	r->state = WAITS;
	r->seq = ++f.seq;
	r->arrived = f.now;
	layer_describe(&r->part, r->dir, r->sector, r->sectors);
	if (!layer_pass(&f.s, &r->part)) {
		must(paper() || r->dir != FLASH_READ || f.dir != FLASH_READ ||
		     !may(FLASH_READ), "one could have passed");
		return false;
	}
	want = expected();
	must(r == want && f.s.turn.cursor == f.cursor && f.s.turn.in_layer == f.in_layer &&
	     f.s.turn.dir == f.dir, "whose turn it is after one that passed");
	f.passed = 0;
	f.row[FLASH_WRITE] = f.row[FLASH_READ] = 0;
	f.run = f.run_pieces = 0;
	f.due = false;
	f.passing++;
	return true;
}

static void arrive(void)
{
	static const u32 sizes[] = { 1, 8, 8, 8, 32, 33, 64, 500, 2048 };
	struct rec *r = one(FREE);

	if (!r)
		return;
	memset(&r->part, 0, sizeof(r->part));
	r->dir = any(12) ? (enum flash_dir)any(2) : FLASH_NR_DIRS;
	r->sectors = sizes[any(9)];
	/* Equal ones, boundaries, and beyond the capacity */
	r->sector = any(3) ? any(4000) : any(4) * (f.s.map.span ?: 1);
	f.nr_new++;
	if (!any(40) || (f.nr_new % 2 && passes(r)))
		start(r);
	else
		insert(r);
}

static void finish(bool ended)
{
	struct rec *r = one(OUT);

	if (!r)
		return;
	hook_completed(&f.s, &r->part, ended, f.now);
	r->state = FREE;
	if (ended || !any(4)) {
		f.nr_done++;
		return;
	}
	if (any(2))
		start(r);
	else
		insert(r);
}

static void grow(void)
{
	struct rec *r = one(WAITS);
	u32 more = 1 + any(64);

	if (!r)
		return;
	if (any(2) && r->sector >= more)
		r->sector -= more;
	r->sectors += more;
	layer_grow(&f.s, &r->part, r->sector, r->sectors);
}

static void absorb(void)
{
	struct rec *r = one(WAITS), *gone = one(WAITS);

	if (!r || r == gone || queue_of(r) != queue_of(gone))
		return;
	if (gone->seq < r->seq) {
		r->seq = gone->seq;
		r->arrived = gone->arrived;
	}
	if (gone->sector < r->sector)
		r->sector = gone->sector;
	r->sectors += gone->sectors;
	layer_absorb(&f.s, &r->part, &gone->part, r->sector, r->sectors);
	gone->state = FREE;
	f.nr_done++;
}

static void change(void)
{
	static const char * const layouts[] = {
		"none", "none", "page=4096 chips=1", "page=4096 chips=4",
		"page=512 chips=200", "page=4096 terms=1:4:1,32:4:4",
		"page=2048 chips=64",
	};
	struct layer_tunables tun = f.s.tun;
	u64 capacity = f.s.map.capacity;

	switch (any(7)) {
	case 0:
		tun.mode = (enum layer_mode)any(LAYER_NR_MODES);
		break;
	case 1:
		flash_geometry_parse(layouts[any(7)], &tun.layout);
		tun.offset = any(2) ? 0 : any(100);
		break;
	case 2:
		capacity = any(3) ? any(5000) : any(3) * (1ULL << 48) + any(2);
		break;
	case 3:
		tun.chips = any(3) ? any(5) : 1 + any(128);
		break;
	case 4:
		tun.per_layer = any(8) ? 1 + any(9) : 65535;
		tun.batch[FLASH_READ] = any(8) ? 1 + any(17) : 65535;
		tun.batch[FLASH_WRITE] = any(8) ? 1 + any(21) : 65535;
		break;
	case 5:
		tun.expire[any(2)] = any(3) ? 1000ULL * any(3000) :
				     any(2) * 600000000000ULL;
		break;
	case 6:
		tun.sort = (enum layer_sort)any(LAYER_NR_SORTS);
		tun.sort_writes = any(2);
		tun.max_inflight = any(3) ? 1 + any(9) : 0;
		break;
	}
	if (tun.mode != f.s.tun.mode) {
		f.run = f.run_pieces = 0;
		f.due = false;
	}
	hook_set(&f.s, &tun, capacity);
	memset(f.row, 0, sizeof(f.row));
	f.cursor = f.cursor < layers() ? f.cursor : 0;
	f.in_layer = 0;
}

static void rest(void)
{
	while (layer_nr_waiting(&f.s) || f.s.flight.out) {
		f.now += any(100000);
		finish(true);
		dispatch(~0U);
	}
	audit();
	must(f.nr_new == f.nr_done, "a request is lost");
}

static void fuzz(u64 steps)
{
	struct layer_tunables tun = {
		.chips = 2, .per_layer = 8, .batch = { 16, 20 },
		.expire = { 500000, 5000000 }, .max_inflight = 4,
	};
	u32 busy = 30;
	u64 n;

	f.now = 1000000;
	layer_init(&f.s);
	hook_set(&f.s, &tun, 0);
	for (n = 0; n < steps; n++) {
		u32 what = any(64);

		if (!(n % 512))
			busy = 15 + any(35);
		f.now += any(64) ? any(20000) : any(2000000);
		if (what < busy)
			arrive();
		else if (what < 57)
			finish(true);
		else if (what == 57)
			finish(false);
		else if (what < 60)
			grow();
		else if (what < 62)
			absorb();
		else if (!any(6))
			change();
		audit();
		if (any(4) || !f.s.flight.out)
			dispatch(any(3) ? ~0U : 1);
		if (!(n % 4096))
			rest();
	}
	rest();
}

int main(int argc, char **argv)
{
	u64 steps = argc > 1 ? strtoull(argv[1], NULL, 0) : 60000;

	f.seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	fuzz(steps);
	eq(f.nr_new, f.nr_done, "%llu steps: each of %llu requests has gone once",
	   (unsigned long long)steps, (unsigned long long)f.nr_new);
	eq(f.late > steps / 20, 1, "some have been late in their sub-layer");
	eq(f.passing > steps / 500, 1, "some have passed");
	printf("# %llu passed, %llu late, %llu expired reads, %llu expired writes, %llu changes of direction\n",
	       (unsigned long long)f.passing, (unsigned long long)f.late,
	       (unsigned long long)f.s.stats.expired[FLASH_READ],
	       (unsigned long long)f.s.stats.expired[FLASH_WRITE],
	       (unsigned long long)f.s.stats.switches);
	return tap_done();
}
