// SPDX-License-Identifier: GPL-2.0
/*
 * Everything that the block layer and the user can do to PIQ, at random: records
 * are used again, some requests are polled, handed back or go past the queues,
 * and everything is changed under load. What PIQ keeps is counted anew now and
 * then. Arguments: steps, seed.
 */
#include <stdlib.h>

#include "piq/piq_learn.h"
#include "tap.h"

#define RECS	400

enum state { FREE, WAITS, OUT, NR_STATES };

struct rec {
	struct piq_item it;
	bool issued;		/* as piq.c keeps it */
	enum state state;
};

static struct {
	struct piq_sched s;
	struct piq_learn l;
	struct flash_batch pool[PIQ_QUEUE_MAX];
	struct rec rec[RECS];
	u32 by[NR_STATES][RECS], at[RECS], nr[NR_STATES];
	struct piq_item *next;
	u32 bound, max, busy, calm;
	u64 now, seq, came, went, chosen;
	u64 flips, found, first, only, late;	/* what is to be seen at all */
	unsigned long long seed;
} f;

static u32 any(u32 n)
{
	return (u32)(tap_rand(&f.seed) % n);
}

static void bad(const char *what)
{
	printf("# seed and step: see below; mode %d chips %u aware %d out %u waiting %u\n",
	       f.s.mode, f.s.geo.nr_chips, piq_aware(&f.s), f.s.out,
	       piq_waiting(&f.s));
	printf("Bail out! %s, request %llu of %llu\n", what,
	       (unsigned long long)f.went, (unsigned long long)f.came);
	exit(EXIT_FAILURE);
}

static void must(bool holds, const char *what)
{
	if (!holds)
		bad(what);
}

static struct rec *rec_of(struct piq_item *it)
{
	return (struct rec *)((char *)it - offsetof(struct rec, it));
}

static void move(struct rec *r, enum state to)
{
	u32 i = (u32)(r - f.rec), last, at = f.at[i];
	u32 *from = f.by[r->state];

	last = from[--f.nr[r->state]];
	from[at] = last;
	f.at[last] = at;
	f.at[i] = f.nr[to]++;
	f.by[to][f.at[i]] = i;
	r->state = to;
}

static struct rec *one(enum state state)
{
	return f.nr[state] ? &f.rec[f.by[state][any(f.nr[state])]] : NULL;
}

static bool meet(const struct piq_item *a, const struct piq_item *b)
{
	return flash_chipvec_conflict(&a->part.vec, &b->part.vec);
}

static bool is_old(const struct piq_item *it)
{
	return f.now >= it->arrived + f.s.tun.max_wait;
}

/* Is a request out on one of its chips? By any layout that there has been. */
static bool meets_out(const struct piq_item *it)
{
	u32 i;

	for (i = 0; i < f.nr[OUT]; i++) {
		if (meet(&f.rec[f.by[OUT][i]].it, it))
			return true;
	}
	return false;
}

/*
 * In mode auto the oldest of all, when it is old, is held back by what is out on its
 * chips and by nothing else: with check_age() that is max_wait and a drain.
 */
static void check_wait(void)
{
	struct piq_item *old = piq_oldest_of_all(&f.s);

	if (f.s.mode != PIQ_AUTO || !old || f.next == old)
		return;
	must(old->kind != PIQ_OTHER, "the oldest has no chips, and does not go");
	if (!piq_aware(&f.s)) {
		must(!is_old(old), "the FIFO passes an old one");
		must(f.next && f.next->urgent && !old->urgent,
		     "the FIFO is none");
		must(f.next == piq_of_rush(f.s.rush.next),
		     "of the urgent ones it is not the first");
		f.first++;
		return;
	}
	must(!is_old(old) || meets_out(old), "an old one is held back");
}

/* Who is not urgent goes while one that is would not find more than it may. */
static void check_urgent(void)
{
	struct flash_link *link;

	if (!piq_aware(&f.s) || f.s.nr_reserved || !f.next || f.next->urgent ||
	    f.next->kind == PIQ_OTHER)
		return;
	for (link = f.s.rush.next; link != &f.s.rush; link = link->next) {
		struct piq_item *it = piq_of_rush(link);

		must(it->chip == FLASH_NO_CHIP ||
		     flash_occupancy_load(&f.s.occ, &it->part.vec) > f.s.depth,
		     "an urgent one waits");
	}
}

/* The look at the only one that waits finds what the whole look would. */
static void check_only(void)
{
	struct piq_item *only;

	if (!piq_aware(&f.s) || piq_waiting(&f.s) != 1 ||
	    f.s.waiting[PIQ_OTHER])
		return;
	only = piq_pick_only(&f.s);
	must(!only || only == piq_pick_aware(&f.s), "the only one may not go");
	f.only += only != NULL;
}

/* What piq.c does after each event. */
static void choose(void)
{
	piq_reserve(&f.s, f.now);
	f.next = piq_next(&f.s);
	f.chosen = f.now;
	must(f.next || !piq_waiting(&f.s) || f.s.out,
	     "all is held back and nothing is out");
	must(!f.next || f.next->queued, "who goes next does not wait");
	must(f.s.nr_reserved <= PIQ_MAX_RESERVED, "too many are kept free for");
	check_only();
	check_wait();
	check_urgent();
}

static void set_bound(void)
{
	piq_follow_depth(&f.s, &f.l);
	f.bound = piq_bound(&f.s, &f.l, f.max);
	must(f.bound, "no bound");
}

/* Nobody may go before the oldest of all, on its chips, once that is old. */
static void check_age(const struct piq_item *it)
{
	struct piq_item *r = piq_oldest(&f.s, PIQ_READ);
	struct piq_item *w = piq_oldest(&f.s, PIQ_WRITE);
	struct piq_item *old = !r || (w && w->seq < r->seq) ? w : r;

	if (!piq_aware(&f.s) || !old || old == it || it->kind == PIQ_OTHER)
		return;
	must(f.chosen < old->arrived + f.s.tun.max_wait || !meet(old, it),
	     "an old request was passed on its chips");
}

/* As much goes as may, as in a round of dispatch. */
static void dispatch(void)
{
	while (piq_waiting(&f.s) && f.next && f.s.out < f.bound) {
		struct piq_item *it = f.next;
		struct rec *r = rec_of(it);

		must(r->state == WAITS, "who is chosen does not wait");
		check_age(it);
		f.next = NULL;
		piq_issue(&f.s, it, f.now);
		if (!any(32)) {
			/* To a poll queue. */
			piq_give(&f.s, it);
			f.went++;
			move(r, FREE);
		} else {
			r->issued = true;
			piq_take(&f.s, it, f.now);
			move(r, OUT);
		}
		choose();
	}
	must(!piq_waiting(&f.s) || f.s.out, "something waits, nothing is out");
}

static void take_head(struct rec *r)
{
	piq_take_head(&f.s, &r->it, r->it.kind, r->it.sector, r->it.sectors,
		      f.now);
	move(r, OUT);
	choose();
}

static void add(struct rec *r, enum piq_kind kind, u64 sector, u32 sectors)
{
	piq_add(&f.s, &r->it, ++f.seq, kind, sector, sectors, f.now);
	move(r, WAITS);
	choose();
}

static void arrive(void)
{
	static const u32 sizes[] = { 1, 8, 8, 8, 8, 16, 64, 500, 2048 };
	struct rec *r = one(FREE);
	u32 kind = any(20), sectors = sizes[any(9)];
	u64 sector = any(3) ? any(1 << 16) : any(8);

	if (!r)
		return;
	/* What the last user of the record has left is gone. */
	memset(&r->it, 0, sizeof(r->it));
	r->issued = false;
	r->it.urgent = !any(f.calm);
	f.came++;
	kind = !kind ? PIQ_OTHER : kind < 10 ? PIQ_WRITE : PIQ_READ;
	if (any(50)) {
		add(r, (enum piq_kind)kind, sector, sectors);
		return;
	}
	r->it.kind = (enum piq_kind)kind;
	r->it.sector = sector;
	r->it.sectors = sectors;
	take_head(r);
}

static void finish(bool ended)
{
	struct rec *r = one(OUT);

	if (!r)
		return;
	if (ended)
		piq_learn_done(&f.s, &f.l, &r->it, f.max, f.now);
	piq_give(&f.s, &r->it);
	r->issued = false;
	set_bound();
	choose();
	if (ended || !any(4)) {
		/* Or the driver runs it again and we do not see it. */
		f.went++;
		move(r, FREE);
	} else if (any(2)) {
		take_head(r);
	} else {
		add(r, r->it.kind, r->it.sector, r->it.sectors);
	}
	dispatch();
}

static void grow(void)
{
	struct rec *r = one(WAITS);
	u32 more = 1 + any(64), front;

	if (!r)
		return;
	front = any(2) && r->it.sector >= more ? more : 0;
	piq_grow(&f.s, &r->it, r->it.sector - front, r->it.sectors + more);
	choose();
}

static void absorb(void)
{
	struct rec *r = one(WAITS), *gone = one(WAITS);
	u64 first, end;

	if (!r || r == gone || r->it.kind != gone->it.kind ||
	    r->it.urgent != gone->it.urgent)
		return;
	first = gone->it.sector < r->it.sector ? gone->it.sector : r->it.sector;
	/* It keeps all chips that it had. */
	end = r->it.sector + r->it.sectors;
	if (gone->it.sector + gone->it.sectors > end)
		end = gone->it.sector + gone->it.sectors;
	piq_absorb(&f.s, &r->it, &gone->it, first, (u32)(end - first));
	f.went++;
	move(gone, FREE);
	memset(&gone->it, 0xa5, sizeof(gone->it));
	choose();
}

/* The layout and the FIFO are compared, or one of them has won, at any time. */
static void compare(void)
{
	struct flash_climb *c = &f.l.pays.climb;
	bool blind = f.s.blind;

	c->bound = any(2) ? PIQ_BY_LAYOUT : PIQ_BY_FIFO;
	c->down = c->bound == PIQ_BY_FIFO;
	if (any(2)) {
		c->high = 0;
		c->rest = 1 + any(8);
	} else {
		flash_climb_try(c);
		c->pairs = any(8);
	}
	if (piq_trusts(&f.s))
		f.s.blind = piq_by_fifo(&f.l);
	f.flips += f.s.blind != blind && piq_waiting(&f.s) && f.s.out;
}

static void change(void)
{
	static const char * const layouts[] = {
		"none", "page=4096 chips=1", "page=4096 chips=4",
		"page=4096 chips=16", "page=2048 chips=64", "page=512 chips=200",
		"page=4096 terms=1:4:1,32:4:4", "page=4096 chips=256",
	};
	struct flash_geometry geo = f.s.given;
	struct piq_tunables tun = f.s.tun;
	enum piq_mode mode = f.s.mode;

	switch (any(8)) {
	case 0:
		mode = any(2) ? PIQ_AUTO : (enum piq_mode)any(PIQ_NR_MODES);
		piq_learn_forget(&f.s, &f.l);
		break;
	case 1:
		flash_geometry_parse(layouts[any(8)], &geo);
		piq_learn_forget(&f.s, &f.l);
		break;
	case 2:
		tun.queue_length = any(3) ? 1 + any(PIQ_QUEUE_MAX) : 1 + any(3);
		tun.batch_overlap = any(2);
		break;
	case 3:
		tun.chip_depth = any(3) ? any(4) : 1 + any(64);
		f.found += !tun.chip_depth;
		break;
	case 4:
		tun.max_wait = 1000000ULL * (1 + any(50));
		tun.max_pass = 1 + any(40);
		tun.scan_depth = 1 + any(64);
		break;
	case 5:
		f.max = any(2) ? 0 : 1 + any(100);
		break;
	default:
		compare();
	}
	piq_set(&f.s, mode, &geo, f.s.offset, &tun);
	/* In the middle of a load, as when it is found out. */
	if (!any(2))
		piq_trust(&f.s);
	set_bound();
	choose();
	dispatch();
}

static void check_ring(struct flash_link *ring,
		       struct piq_item *(*of)(struct flash_link *), u32 *nr)
{
	struct flash_link *link;
	u64 seq = 0;

	for (link = ring->next; link != ring; link = link->next) {
		struct piq_item *it = of(link);

		must(link->next->prev == link, "a ring is torn");
		must(it->seq > seq, "a ring is out of order");
		must(it->queued, "who does not wait is in a ring");
		seq = it->seq;
		(*nr)++;
	}
}

/* How many wide ones of a row are late, from @node down. */
static u32 late_ones(u32 row, struct flash_node *node)
{
	struct piq_item *it;

	if (!node)
		return 0;
	it = piq_of_aged(node);
	must(it->late && it->queued && piq_row(it) == row &&
	     it->chip == FLASH_NO_CHIP && node->key == it->seq, "a late one");
	return 1 + late_ones(row, node->left) + late_ones(row, node->right);
}

/* A walk over the wide ones of a row finds all of them by arrival. */
static void check_walk(u32 row)
{
	struct piq_item *it = piq_wide_first(&f.s, row);
	u64 seq = 0;

	while (it) {
		must(it->seq > seq && !it->late, "a walk is out of order");
		seq = it->seq;
		it = piq_wide_after(&f.s, row, &it->line);
	}
	must(!f.s.late[row], "a walk leaves some out");
}

/* Everything that is counted, from what every request says. */
static void audit(void)
{
	static u32 demand[FLASH_NR_DIRS][FLASH_MAX_CHIPS];
	static u32 on[FLASH_NR_DIRS][FLASH_MAX_CHIPS];
	u32 i, kind, dir, chip, waits = 0, out = 0, inside = 0, busy = 0;
	u32 part = 0, parts = 0, lines = 0, order = 0, ranked = 0, row;
	u32 urgent = 0, rush = 0;
	struct piq_sched *s = &f.s;
	struct flash_batch *b;

	memset(demand, 0, sizeof(demand));
	memset(on, 0, sizeof(on));
	for (i = 0; i < RECS; i++) {
		struct piq_item *it = &f.rec[i].it;

		if (f.rec[i].state == FREE)
			continue;
		must(it->queued == (f.rec[i].state == WAITS), "queued");
		must(it->out == (f.rec[i].state == OUT), "out");
		waits += it->queued;
		out += it->out;
		inside += it->window;
		part += it->part.batch != NULL;
		must(it->kind == PIQ_OTHER || it->counted, "not counted");
		ranked += it->queued && it->kind != PIQ_OTHER;
		urgent += it->queued && it->kind != PIQ_OTHER && it->urgent;
		flash_for_each_chip(chip, &it->part.vec) {
			demand[piq_dir(it)][chip]++;
			on[piq_dir(it)][chip] += it->out;
		}
	}
	must(waits == piq_waiting(s) && waits == f.nr[WAITS], "waiting");
	must(out == s->out && out == f.nr[OUT], "number out");
	must(inside == s->inside, "inside");
	must(!memcmp(demand, s->demand, sizeof(demand)), "demand");
	for (chip = 0; chip < FLASH_MAX_CHIPS; chip++) {
		u32 all = on[FLASH_READ][chip] + on[FLASH_WRITE][chip];
		bool have = chip < s->geo.nr_chips;

		for (dir = 0; dir < FLASH_NR_DIRS; dir++)
			must(on[dir][chip] == s->occ.out[dir][chip], "occupancy");
		for (row = 0; row < PIQ_NR_ROWS; row++) {
			check_ring(&s->line[row][chip], piq_of_line, &lines);
			must(flash_chipvec_test(&s->some[row], chip) ==
			     !flash_ring_empty(&s->line[row][chip]), "some");
		}
		busy += all > 0;
		must(flash_chipvec_test(&s->occ.idle, chip) ==
		     (have && all < s->depth), "idle");
		if (!s->trusted)
			continue;
		must(flash_chipvec_test(&s->readable, chip) ==
		     (have && on[FLASH_READ][chip] < s->depth), "readable");
		must(flash_chipvec_test(&s->writable, chip) ==
		     (have && (!on[FLASH_WRITE][chip] ||
			       !demand[FLASH_READ][chip])), "writable");
		must(flash_chipvec_test(&s->empty, chip) == (have && !all),
		     "empty");
		must(flash_chipvec_test(&s->eager, chip) ==
		     (have && all <= s->depth), "eager");
	}
	must(s->tun.chip_depth ? s->depth == s->tun.chip_depth :
	     s->depth >= 1 && s->depth <= PIQ_DEPTH_MAX, "depth");
	must(busy == s->occ.busy, "busy");
	for (dir = 0; dir < FLASH_NR_DIRS; dir++) {
		for (b = s->b.head[dir]; b; b = b->next) {
			must(b->waiting + b->outstanding, "an empty batch");
			must(!b->next || b->next->id > b->id, "batch order");
			parts += b->waiting + b->outstanding;
		}
	}
	for (row = 0; row < PIQ_NR_ROWS; row++) {
		u32 late = late_ones(row, s->late[row]);

		check_ring(&s->wide[row], piq_of_line, &lines);
		lines += late;
		f.late += late;
		check_walk(row);
	}
	must(parts == part, "parts of batches");
	check_ring(&s->outside, piq_of_line, &lines);
	check_ring(&s->rush, piq_of_rush, &rush);
	must(rush == (s->mode == PIQ_AUTO ? urgent : 0), "who is urgent");
	must(s->mode == PIQ_AUTO ? lines == ranked :
	     lines <= ranked && (s->mode != PIQ_NOOP || !lines), "lines");
	must(flash_ring_empty(&s->outside) || s->inside >= s->tun.queue_length,
	     "room inside, and somebody is outside");
	for (kind = 0; kind < PIQ_NR_KINDS; kind++)
		check_ring(&s->order[kind], piq_of_order, &order);
	must(order == waits, "order");
}

static void rest(void)
{
	while (f.nr[OUT] || f.nr[WAITS]) {
		f.now += any(100000);
		finish(true);
	}
	audit();
	must(f.came == f.went, "somebody is lost");
	must(!f.s.out && !f.s.inside && !f.s.occ.busy &&
	     flash_batches_empty(&f.s.b), "something is left");
	must(!f.s.stats.stuck, "stuck");
}

static void fuzz(u64 steps, unsigned long long seed)
{
	struct piq_tunables tun = {
		.chip_depth = 1, .scan_depth = 64, .max_pass = 32,
		.queue_length = 64, .max_wait = 50000000,
	};
	u64 n;
	u32 i;

	memset(&f, 0, sizeof(f));
	f.seed = seed;
	f.now = 1000000;
	for (i = 0; i < RECS; i++) {
		f.by[FREE][i] = i;
		f.at[i] = i;
	}
	f.nr[FREE] = RECS;
	piq_sched_init(&f.s, f.pool, &tun);
	piq_learn_init(&f.s, &f.l);
	set_bound();
	for (n = 0; n < steps; n++) {
		u32 what = any(64);

		/* How many come is not always how many can go. */
		if (!(n % 1024)) {
			f.busy = 10 + any(40);
			/* Many of them urgent, few, or nearly none. */
			f.calm = 1 << any(8);
		}
		f.now += any(64) ? any(20000) : any(20000000);
		if (what < f.busy) {
			arrive();
			if (any(4))
				dispatch();
			else if (!f.s.out)
				dispatch();
		} else if (what < 58) {
			finish(true);
		} else if (what == 58) {
			finish(false);
		} else if (what < 61) {
			grow();
		} else if (what == 61) {
			absorb();
		} else if (what == 62 && !any(4)) {
			change();
		} else if (what == 63 && !any(8)) {
			compare();
			choose();
			dispatch();
		}
		if (!any(128))
			audit();
		if (!(n % 4096))
			rest();
	}
	rest();
}

int main(int argc, char **argv)
{
	u64 steps = argc > 1 ? strtoull(argv[1], NULL, 0) : 300000;
	unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

	fuzz(steps, seed);
	eq(f.came, f.went, "%llu steps: each of %llu requests is done once",
	   (unsigned long long)steps, (unsigned long long)f.came);
	printf("# under load to the FIFO and back %llu times, depth 0 %llu times, %llu late\n",
	       (unsigned long long)f.flips, (unsigned long long)f.found,
	       (unsigned long long)f.late);
	eq(f.flips && f.found && f.first && f.only && f.late, 1,
	   "to the FIFO and back, to a depth that is found, with urgent, late and lone ones");
	return tap_done();
}
