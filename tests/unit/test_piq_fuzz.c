// SPDX-License-Identifier: GPL-2.0
/*
 * All that the block layer and the user can do to PIQ, at random: records are reused, some
 * requests are polled, requeued or bypass the queues, and all settings change under load. An
 * audit recounts PIQ's state now and then. Arguments: steps, seed.
 */
#include <stdlib.h>

#include "piq/auto.c"
#include "piq/learn.c"
#include "tap.h"

#define RECS	400

enum state { FREE, WAITS, OUT, NR_STATES };

struct rec {
	struct piq_req req;
	enum state state;
};

static struct {
	struct piq_sched s;
	struct piq_learn l;
	struct flash_batch pool[PIQ_NR_BATCHES];
	struct rec rec[RECS];
	u32 by[NR_STATES][RECS], at[RECS], nr[NR_STATES];
	struct piq_req *next;
	u32 limit, max, busy, calm;
	u64 now, seq, came, went, chosen;
	u64 flips, found, first, only, late;	/* events that have to occur */
	u64 passed, sum;
	unsigned long long seed;
	bool queues;		/* a request that may pass is queued, and chosen */
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

static struct rec *rec_of(struct piq_req *req)
{
	return (struct rec *)((char *)req - offsetof(struct rec, req));
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

static bool meet(const struct piq_req *a, const struct piq_req *b)
{
	return flash_chipvec_conflict(&a->part.vec, &b->part.vec);
}

static bool is_old(const struct piq_req *req)
{
	return f.now >= req->arrived + f.s.tun.max_wait;
}

/* Is a request outstanding on one of its chips, by any layout so far? */
static bool meets_out(const struct piq_req *req)
{
	u32 i;

	for (i = 0; i < f.nr[OUT]; i++) {
		if (meet(&f.rec[f.by[OUT][i]].req, req))
			return true;
	}
	return false;
}

/*
 * In mode auto the oldest request of all, once it has waited max_wait, is held back only by
 * outstanding requests of its chips. With check_age() this limits its wait by max_wait and
 * the time that its chips need to drain.
 */
static void check_wait(void)
{
	struct piq_req *old = piq_oldest_of_all(&f.s);

	if (f.s.mode != PIQ_AUTO || !old || f.next == old)
		return;
	must(old->kind != PIQ_OTHER, "the oldest has no chips, and does not go");
	if (!piq_aware(&f.s)) {
		must(!is_old(old), "the FIFO passes an old one");
		must(f.next && f.next->urgent && !old->urgent,
		     "the FIFO is none");
		must(f.next == list_first_entry(&f.s.pick.urgent, struct piq_req, rush),
		     "of the urgent ones it is not the first");
		f.first++;
		return;
	}
	must(!is_old(old) || meets_out(old), "an old one is held back");
}

/* No other request is chosen while an urgent one could be sent to its chip. */
static void check_urgent(void)
{
	struct piq_req *req;

	if (!piq_aware(&f.s) || f.s.pick.nr_reserved || !f.next || f.next->urgent ||
	    f.next->kind == PIQ_OTHER)
		return;
	list_for_each_entry(req, &f.s.pick.urgent, rush) {
		must(req->chip == FLASH_NO_CHIP ||
		     flash_occupancy_load(&f.s.chips.occ, &req->part.vec) > f.s.depth,
		     "an urgent one waits");
	}
}

/* The short choice of the only waiting request agrees with the full one. */
static void check_only(void)
{
	struct piq_req *only;

	if (!piq_aware(&f.s) || piq_waiting(&f.s) != 1 ||
	    f.s.waiting[PIQ_OTHER])
		return;
	only = piq_pick_only(&f.s);
	must(!only || only == piq_pick_aware(&f.s), "the only one may not go");
	f.only += only != NULL;
}

/* As piq.c does after each event */
static void choose(void)
{
	f.next = piq_choose(&f.s, f.now);
	f.chosen = f.now;
	must(f.next || !piq_waiting(&f.s) || f.s.out,
	     "all is held back and nothing is out");
	must(!f.next || rec_of(f.next)->state == WAITS, "who goes next does not wait");
	must(f.s.pick.nr_reserved <= PIQ_MAX_RESERVED, "too many are kept free for");
	check_only();
	check_wait();
	check_urgent();
}

static void set_limit(void)
{
	piq_follow_depth(&f.s, &f.l);
	f.limit = piq_limit(&f.s, &f.l, f.max);
	must(f.limit, "no limit");
}

/* No request passes the oldest of all on its chips, once that has waited max_wait. */
static void check_age(const struct piq_req *req)
{
	struct piq_req *r = piq_oldest(&f.s, PIQ_READ);
	struct piq_req *w = piq_oldest(&f.s, PIQ_WRITE);
	struct piq_req *old = !r || (w && w->seq < r->seq) ? w : r;

	if (!piq_aware(&f.s) || !old || old == req || req->kind == PIQ_OTHER)
		return;
	must(f.chosen < old->arrived + f.s.tun.max_wait || !meet(old, req),
	     "an old request was passed on its chips");
}

/* Dispatch all that may be dispatched. */
static void dispatch(void)
{
	while (piq_waiting(&f.s) && f.next && f.s.out < f.limit) {
		struct piq_req *req = f.next;
		struct rec *r = rec_of(req);

		must(r->state == WAITS, "who is chosen does not wait");
		check_age(req);
		f.next = NULL;
		if (!any(32)) {
			/* To a poll queue. */
			piq_dispatch(&f.s, req, false, f.now);
			f.went++;
			move(r, FREE);
		} else {
			piq_dispatch(&f.s, req, true, f.now);
			move(r, OUT);
		}
		choose();
	}
	must(!piq_waiting(&f.s) || f.s.out, "something waits, nothing is out");
}

static void take_head(struct rec *r)
{
	piq_start_head(&f.s, &r->req, r->req.kind, r->req.sector, r->req.sectors,
		      f.now);
	move(r, OUT);
	choose();
}

static void add(struct rec *r, enum piq_kind kind, u64 sector, u32 sectors)
{
	piq_add(&f.s, &r->req, ++f.seq, kind, sector, sectors, f.now);
	move(r, WAITS);
	choose();
}

static void count(u64 value)
{
	f.sum = (f.sum ^ value) * 0x9e3779b97f4a7c15ULL;
}

/* What later choices depend on, and the counters */
static void sum_up(void)
{
	u32 chip;

	for (chip = 0; chip < f.s.geo.nr_chips; chip++) {
		count(f.s.chips.demand[FLASH_READ][chip]);
		count(f.s.chips.demand[FLASH_WRITE][chip]);
		count(flash_occupancy_on(&f.s.chips.occ, chip));
		count(f.s.stats.served[chip]);
	}
	count(f.s.out);
	count(f.s.nth * f.s.geo.nr_chips);
	count(f.s.left[PIQ_READ]);
	count(f.s.left[PIQ_WRITE]);
	count(f.s.pick.cursor);
	count(f.s.pick.since_probe);
	count((u64)f.s.pick.deficit);
	count(f.s.stats.rrc + f.s.stats.wwc);
	count(f.s.stats.rwc);
	count(f.s.stats.wait_ns[FLASH_READ] + f.s.stats.waited[FLASH_READ]);
	count(f.s.trusted + 2ULL * f.s.blind);
}

/* A request that waits alone, and may pass, is dispatched a little later. */
static void pass(struct rec *r, enum piq_kind kind, u64 sector, u32 sectors)
{
	u64 arrived = f.now;

	f.now += any(3) * any(3000);
	if (f.queues) {
		piq_add(&f.s, &r->req, ++f.seq, kind, sector, sectors, arrived);
		must(piq_choose(&f.s, f.now) == &r->req, "who may pass is not the next one");
		piq_dispatch(&f.s, &r->req, true, f.now);
	} else {
		piq_pass(&f.s, &r->req, ++f.seq, kind, sector, sectors, arrived, f.now);
	}
	f.passed++;
	move(r, OUT);
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
	/* Nothing is left of the record's last request. */
	memset(&r->req, 0, sizeof(r->req));
	r->req.urgent = !any(f.calm);
	f.came++;
	kind = !kind ? PIQ_OTHER : kind < 10 ? PIQ_WRITE : PIQ_READ;
	if (kind != PIQ_OTHER && !r->req.urgent && !piq_waiting(&f.s) &&
	    f.s.out < f.limit && piq_in_order(&f.s)) {
		pass(r, (enum piq_kind)kind, sector, sectors);
		return;
	}
	if (any(50)) {
		add(r, (enum piq_kind)kind, sector, sectors);
		return;
	}
	r->req.kind = (enum piq_kind)kind;
	r->req.sector = sector;
	r->req.sectors = sectors;
	take_head(r);
}

static void finish(bool ended)
{
	struct rec *r = one(OUT);

	if (!r)
		return;
	if (ended)
		piq_learn_completion(&f.s, &f.l, &r->req, f.max, f.now);
	piq_release(&f.s, &r->req);
	set_limit();
	choose();
	if (ended || !any(4)) {
		/* Or the driver runs it again without the scheduler. */
		f.went++;
		move(r, FREE);
	} else if (any(2)) {
		take_head(r);
	} else {
		add(r, r->req.kind, r->req.sector, r->req.sectors);
	}
	dispatch();
}

static void grow(void)
{
	struct rec *r = one(WAITS);
	u32 more = 1 + any(64), front;

	if (!r)
		return;
	front = any(2) && r->req.sector >= more ? more : 0;
	piq_grow(&f.s, &r->req, r->req.sector - front, r->req.sectors + more);
	choose();
}

static void absorb(void)
{
	struct rec *r = one(WAITS), *gone = one(WAITS);
	u64 first, end;

	if (!r || r == gone || r->req.kind != gone->req.kind ||
	    r->req.urgent != gone->req.urgent)
		return;
	first = gone->req.sector < r->req.sector ? gone->req.sector : r->req.sector;
	/* It keeps all chips that it has. */
	end = r->req.sector + r->req.sectors;
	if (gone->req.sector + gone->req.sectors > end)
		end = gone->req.sector + gone->req.sectors;
	piq_absorb(&f.s, &r->req, &gone->req, first, (u32)(end - first));
	f.went++;
	move(gone, FREE);
	memset(&gone->req, 0xa5, sizeof(gone->req));
	choose();
}

/* The layout and the FIFO are compared, or one of them has won, at any time. */
static void compare(void)
{
	struct flash_climb *c = &f.l.pays.climb;
	bool blind = f.s.blind;

	c->limit = any(2) ? PIQ_BY_LAYOUT : PIQ_BY_FIFO;
	c->down = c->limit == PIQ_BY_FIFO;
	if (any(2)) {
		c->high = 0;
		c->rest = 1 + any(8);
	} else {
		flash_climb_try(c);
		c->pairs = any(8);
	}
	if (piq_trusts(&f.s))
		piq_set_blind(&f.s, flash_pace_limit(&f.l.pays) == PIQ_BY_FIFO);
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
	if (piq_set(&f.s, mode, &geo, f.s.offset, &tun))
		while (!piq_sort_next(&f.s))
			;
	/* Under load, as when trust is learned */
	if (!any(2))
		piq_trust(&f.s);
	set_limit();
	choose();
	dispatch();
}

static void check_list(const struct list_head *list, size_t offset, u32 *nr)
{
	const struct list_head *link;
	u64 seq = 0;

	list_for_each(link, list) {
		struct piq_req *req = (struct piq_req *)((char *)link - offset);

		must(link->next->prev == link, "a list is torn");
		must(req->seq > seq, "a list is out of order");
		must(rec_of(req)->state == WAITS, "a request in a list does not wait");
		seq = req->seq;
		(*nr)++;
	}
}

/* Number of late requests of a row */
static u32 late_ones(u32 row)
{
	struct rb_node *node = rb_first_cached(&f.s.pick.late[row]);
	u64 seq = 0;
	u32 nr = 0;

	for (; node; node = rb_next(node), nr++) {
		struct piq_req *req = rb_entry(node, struct piq_req, aged);

		must(req->late && rec_of(req)->state == WAITS && piq_row(req) == row &&
		     req->chip == FLASH_NO_CHIP && req->seq > seq, "a late request");
		seq = req->seq;
	}
	return nr;
}

/* A walk over the wide ones of a row finds all of them by arrival. */
static void check_walk(u32 row)
{
	struct piq_req *req = piq_wide_first(&f.s.pick, row);
	u64 seq = 0;

	while (req) {
		must(req->seq > seq && !req->late, "a walk is out of order");
		seq = req->seq;
		req = piq_wide_after(&f.s.pick, row, &req->line);
	}
	must(!rb_first_cached(&f.s.pick.late[row]), "a walk leaves some out");
}

/* Recount all that PIQ counts, from the state of each request. */
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
		struct piq_req *req = &f.rec[i].req;
		bool waiting = f.rec[i].state == WAITS;

		if (f.rec[i].state == FREE)
			continue;
		must(req->out == (f.rec[i].state == OUT), "out");
		waits += waiting;
		out += req->out;
		inside += waiting && req->part.batch;
		part += req->part.batch != NULL;
		ranked += waiting && req->kind != PIQ_OTHER;
		urgent += waiting && req->kind != PIQ_OTHER && req->urgent;
		flash_for_each_chip(chip, &req->part.vec) {
			demand[piq_dir(req)][chip]++;
			on[piq_dir(req)][chip] += req->out;
		}
	}
	must(waits == piq_waiting(s) && waits == f.nr[WAITS], "waiting");
	must(out == s->out && out == f.nr[OUT], "number out");
	must(inside == s->turns.inside, "inside");
	must(!memcmp(demand, s->chips.demand, sizeof(demand)), "demand");
	for (chip = 0; chip < FLASH_MAX_CHIPS; chip++) {
		u32 all = on[FLASH_READ][chip] + on[FLASH_WRITE][chip];
		bool have = chip < s->geo.nr_chips;

		for (dir = 0; dir < FLASH_NR_DIRS; dir++)
			must(on[dir][chip] == s->chips.occ.out[dir][chip], "occupancy");
		for (row = 0; row < PIQ_NR_ROWS; row++) {
			check_list(&s->pick.queue[row][chip],
				   offsetof(struct piq_req, line), &lines);
			must(flash_chipvec_test(&s->pick.filled[row], chip) ==
			     !list_empty(&s->pick.queue[row][chip]), "some");
		}
		busy += all > 0;
		must(flash_chipvec_test(&s->chips.occ.idle, chip) ==
		     (have && all < s->depth), "idle");
		if (!s->trusted || s->blind)
			continue;
		must(flash_chipvec_test(&s->chips.readable, chip) ==
		     (have && on[FLASH_READ][chip] < s->depth), "readable");
		must(flash_chipvec_test(&s->chips.writable, chip) ==
		     (have && (!on[FLASH_WRITE][chip] ||
			       !demand[FLASH_READ][chip])), "writable");
		must(flash_chipvec_test(&s->chips.empty, chip) == (have && !all),
		     "empty");
		must(flash_chipvec_test(&s->chips.eager, chip) ==
		     (have && all <= s->depth), "eager");
	}
	must(s->tun.chip_depth ? s->depth == s->tun.chip_depth :
	     s->depth >= 1 && s->depth <= PIQ_DEPTH_MAX, "depth");
	must(busy == s->chips.occ.busy, "busy");
	for (dir = 0; dir < FLASH_NR_DIRS; dir++) {
		u64 last = 0;

		list_for_each_entry(b, &s->turns.batches.list[dir], link) {
			u32 nr = (u32)list_count_nodes(&b->waiting) + b->outstanding;

			must(nr, "an empty batch");
			must(b->id > last, "batch order");
			last = b->id;
			parts += nr;
		}
	}
	for (row = 0; row < PIQ_NR_ROWS; row++) {
		u32 late = late_ones(row);

		check_list(&s->pick.wide[row], offsetof(struct piq_req, line), &lines);
		lines += late;
		f.late += late;
		check_walk(row);
	}
	must(parts == part, "parts of batches");
	check_list(&s->turns.outside, offsetof(struct piq_req, line), &lines);
	check_list(&s->pick.urgent, offsetof(struct piq_req, rush), &rush);
	must(rush == (s->mode == PIQ_AUTO ? urgent : 0), "who is urgent");
	must(s->mode == PIQ_AUTO ? lines == (s->geo.nr_chips ? ranked : 0) :
	     lines <= ranked && (s->mode != PIQ_NOOP || !lines), "lines");
	must(list_empty(&s->turns.outside) || s->turns.inside >= s->tun.queue_length,
	     "room inside, and somebody is outside");
	for (kind = 0; kind < PIQ_NR_KINDS; kind++)
		check_list(&s->order[kind], offsetof(struct piq_req, order), &order);
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
	must(!f.s.out && !f.s.turns.inside && !f.s.chips.occ.busy &&
	     list_empty(&f.s.turns.batches.list[FLASH_READ]) &&
	     list_empty(&f.s.turns.batches.list[FLASH_WRITE]), "something is left");
	must(!f.s.stats.stuck, "stuck");
}

static void fuzz(u64 steps, unsigned long long seed, bool queues)
{
	struct piq_tunables tun = {
		.chip_depth = 1, .scan_depth = 64, .max_pass = 32,
		.queue_length = 64, .max_wait = 50000000,
	};
	u64 n;
	u32 i;

	memset(&f, 0, sizeof(f));
	f.seed = seed;
	f.queues = queues;
	f.now = 1000000;
	for (i = 0; i < RECS; i++) {
		f.by[FREE][i] = i;
		f.at[i] = i;
	}
	f.nr[FREE] = RECS;
	piq_sched_init(&f.s, f.pool, &tun);
	piq_learn_init(&f.s, &f.l);
	set_limit();
	for (n = 0; n < steps; n++) {
		u32 what = any(64);

		/* Sometimes more requests arrive than can be dispatched, sometimes fewer. */
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
		sum_up();
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
	u64 sum;

	fuzz(steps, seed, true);
	sum = f.sum;
	fuzz(steps, seed, false);
	eq(f.sum == sum && f.passed > steps / 1000, 1,
	   "%llu requests that pass leave all as if they were queued and chosen",
	   (unsigned long long)f.passed);
	eq(f.came, f.went, "%llu steps: each of %llu requests is done once",
	   (unsigned long long)steps, (unsigned long long)f.came);
	printf("# under load to the FIFO and back %llu times, depth 0 %llu times, %llu late\n",
	       (unsigned long long)f.flips, (unsigned long long)f.found,
	       (unsigned long long)f.late);
	eq(f.flips && f.found && f.first && f.only && f.late, 1,
	   "to the FIFO and back, to a depth that is found, with urgent, late and lone ones");
	return tap_done();
}
