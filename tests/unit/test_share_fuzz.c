// SPDX-License-Identifier: GPL-2.0
/*
 * Everything that the block layer and the user can do to tenants, at random:
 * they come and go, merge, are handed back, polled, past all queues, change their
 * weights, and every rule changes under load. What is kept is counted anew after
 * each event. Arguments: steps, seed.
 */
#include <stdlib.h>

#include "acfq/acfq_rules.h"
#include "hbfq/hbfq_rules.h"
#include "tap.h"

#define RECS	300
#define IDS	400

enum state { FREE, WAITS, OUT };

struct rec {
	struct flash_share_item it;
	enum state state;
	bool urgent;
	u64 id;
};

static struct {
	struct flash_share s;
	struct flash_tenants p;
	struct rec rec[RECS];
	struct flash_share_item *next;
	u64 armed;		/* the timer */
	u64 now, seq, came, went;
	unsigned long long seed;
} f;

static u32 any(u32 n)
{
	return tap_rand(&f.seed) % n;
}

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	printf("# request %llu of %llu, exclusive %d budgets %d antic %d, %u wait, %u out\n",
	       (unsigned long long)f.went, (unsigned long long)f.came,
	       f.s.rules.exclusive, f.s.rules.budgets, f.s.rules.antic,
	       f.s.waiting, f.s.out);
	printf("Bail out! %s\n", what);
	exit(EXIT_FAILURE);
}

static struct rec *one(enum state state)
{
	u32 n, i = any(RECS);

	for (n = 0; n < RECS; n++, i = (i + 1) % RECS) {
		if (f.rec[i].state == state)
			return &f.rec[i];
	}
	return NULL;
}

/* What fairshare.c does after each event. */
static void choose(void)
{
	f.next = flash_share_next(&f.s, f.now);
	if (f.s.wake)
		f.armed = f.s.wake;
	if (f.next || !f.s.waiting)
		return;
	/* For who is behind and in the device, and only if that is busy */
	if (flash_share_lags(&f.s)) {
		must(f.s.out >= FLASH_SHARE_BOUND, "held back with few out");
		return;
	}
	/* Held back: there is a timer, or an end that asks again. */
	must(f.s.wake || (f.s.rules.exclusive && f.s.active &&
			  f.s.active->out), "held back for nobody");
	must(!f.s.wake || f.s.wake > f.now, "held back until what is over");
	must(!f.s.wake || (f.s.active && f.s.active->out) ||
	     f.s.wake <= f.now + f.s.rules.antic_max, "held back too long");
	must(f.s.rules.antic || (f.s.active && f.s.active->out),
	     "held back though nobody is to be waited for");
}

/* Everything counted anew */
static void check(void)
{
	u32 i, nr = 0, waiting = 0, out = 0, busy = 0, named = 0, resting = 0;
	u32 of[FLASH_TENANTS + 1] = { 0 }, gone[FLASH_TENANTS + 1] = { 0 };
	u32 urgent[FLASH_TENANTS + 1] = { 0 }, some = 0;
	const struct flash_link *link;
	u64 weights = 0;

	for (i = 0; i < RECS; i++) {
		const struct rec *r = &f.rec[i];

		if (r->state == FREE) {
			must(!r->it.tenant, "a request that is done has a tenant");
			continue;
		}
		nr = flash_tenant_index(&f.p, r->it.tenant);
		must(r->it.tenant->weight, "the tenant of a request is nobody");
		of[nr] += r->state == WAITS;
		gone[nr] += r->state == OUT;
		waiting += r->state == WAITS;
		out += r->state == OUT;
		must(r->it.queued == (r->state == WAITS), "queued");
		must(r->it.urgent == (r->urgent && r->state == WAITS), "urgent");
		urgent[nr] += r->it.urgent;
	}
	for (i = 0; i <= FLASH_TENANTS; i++) {
		struct flash_tenant *t = &f.p.t[i];

		must(t->nr == of[i] && t->out == gone[i], "a tenant's requests");
		must(t->busy == (t->nr || t->out), "busy");
		for (link = t->urgent.next; link != &t->urgent; link = link->next)
			urgent[i]--;
		must(!urgent[i], "a tenant's urgent requests");
		must(flash_ring_empty(&t->urgent) == flash_ring_empty(&t->urge),
		     "who has urgent requests");
		some += !flash_ring_empty(&t->urgent);
		must(!flash_ring_empty(&t->backlog) || !t->nr, "the backlog");
		must(flash_ring_empty(&t->backlog) || t->busy,
		     "who is in no list is not busy");
		must(!t->weight || t->busy == flash_ring_empty(&t->rest),
		     "who rests is not busy");
		must(flash_ring_empty(&t->pause) || !t->busy,
		     "who is busy is not waited for");
		busy += t->busy;
		weights += t->busy ? t->weight : 0;
		named += i && t->weight;
		must(!i || !t->weight || flash_tenant_find(&f.p, &t->key) == t,
		     "a tenant is not found");
	}
	for (link = f.p.resting.next; link != &f.p.resting; link = link->next)
		resting++;
	must(resting == named + 1 - busy, "those that rest");
	for (link = f.s.urgent.next; link != &f.s.urgent; link = link->next)
		some--;
	must(!some, "those with urgent requests");
	must(f.s.waiting == waiting && f.s.out == out, "waiting and out");
	must(f.s.busy == busy && f.s.weights == weights, "weights");
	must(f.p.nr == named, "the number of tenants");
	must(!f.s.active || f.s.active->weight, "whose turn it is is gone");
}

static void give(struct rec *r, bool ended)
{
	flash_share_give(&f.s, &r->it, ended, f.now);
	r->state = FREE;
	r->urgent = false;
}

static void dispatch(void)
{
	while (f.next && f.s.out < flash_share_bound(&f.s)) {
		struct rec *r = (struct rec *)f.next;

		must(r->state == WAITS, "who is chosen does not wait");
		must(!f.s.rules.exclusive || !f.s.active ||
		     (r->it.urgent && f.s.ahead) ||
		     f.s.active == r->it.tenant, "it is another one's turn");
		flash_share_issue(&f.s, &r->it, f.now);
		r->state = OUT;
		f.went++;
		if (!any(32))
			give(r, false);
		choose();
	}
}

static void arrive(void)
{
	static const u32 sizes[] = { 0, 1, 8, 8, 8, 64, 500, 4096 };
	struct flash_key key = { .kind = FLASH_BY_CGROUP };
	struct rec *r = one(FREE);
	enum flash_dir dir = (enum flash_dir)any(FLASH_NR_DIRS + 1);
	struct flash_tenant *t;

	if (!r)
		return;
	f.came++;
	memset(&r->it, 0, sizeof(r->it));
	if (!any(40)) {
		flash_share_take_head(&f.s, &r->it, dir, any(1000), 8, f.now);
		r->state = OUT;
		return;
	}
	r->id = any(any(8) ? 6 : IDS);
	key.id = r->id + 1;
	if (!r->id)
		key.kind = FLASH_BY_ALL;
	t = flash_share_tenant(&f.s, &key, 1 + any(1000), f.now);
	flash_share_add(&f.s, &r->it, t, ++f.seq, dir, any(3), any(10000),
			sizes[any(8)], f.now);
	r->urgent = !any(5);
	if (r->urgent)
		flash_share_urge(&f.s, &r->it);
	r->state = WAITS;
}

static void merge(void)
{
	struct rec *a = one(WAITS), *b = one(WAITS);

	if (!a || a == b)
		return;
	if (a->it.tenant != b->it.tenant || a->urgent != b->urgent) {
		flash_share_grow(&f.s, &a->it, a->it.sector, a->it.sectors + 8);
		return;
	}
	flash_share_absorb(&f.s, &a->it, &b->it, a->it.sector,
			   a->it.sectors + b->it.sectors);
	b->state = FREE;
	f.went++;
}

static void rules(void)
{
	struct flash_share_rules r = {
		.antic = any(3), .antic_max = any(3000), .depth = any(20),
	};
	struct flash_budgets b = {
		.standard = 1 + any(20000), .least = any(3) * any(500),
		.exhausted = any(2) * any(2000),
	};
	enum flash_charge charge = (enum flash_charge)any(FLASH_NR_CHARGES);

	if (any(2))
		acfq_rules((enum acfq_mode)any(ACFQ_NR_MODES), 1 + any(20000),
			   charge, &r);
	else
		hbfq_rules((enum hbfq_mode)any(HBFQ_NR_MODES), 1 + any(20000),
			   1 + any(9000), &b, charge, &r);
	flash_share_set(&f.s, &r);
	f.p.max = 1 + any(any(2) ? 4 : FLASH_TENANTS);
}

static void layout(void)
{
	static const char * const words[] = {
		"none", "page=4096 chips=4", "page=512 chips=64",
		"page=4096 chips=256",
	};
	struct flash_geometry geo = { 0 };

	flash_geometry_parse(words[any(4)], &geo);
	flash_share_layout(&f.s, &geo, any(100));
}

static void event(void)
{
	struct rec *r;

	switch (any(16)) {
	case 0: case 1: case 2: case 3: case 4: case 5:
		arrive();
		break;
	case 6: case 7: case 8: case 9: case 10:
		r = one(OUT);
		if (r)
			give(r, any(20));
		break;
	case 11:
		merge();
		break;
	case 12:
		if (!any(50))
			rules();
		if (!any(200))
			layout();
		if (any(2))
			f.s.rules.bound = any(2) ? 0 : 1 + any(any(2) ? 4 : 64);
		break;
	case 13:
		r = one(WAITS);
		if (r && any(2))
			flash_share_weight(&f.s, r->it.tenant, 1 + any(1000));
		else if (r)
			flash_share_asks(&f.s, r->it.tenant, 1 + any(1000));
		break;
	case 14:
		if (!any(100))
			flash_share_prune(&f.s, f.now, ~0U);
		break;
	default:
		f.now += any(10) ? any(500) : any(100) ? any(100000) :
			 FLASH_SHARE_SECOND / 2 * any(5);
	}
	/* The timer goes off, and chooses. */
	if (f.armed && f.now >= f.armed)
		f.armed = 0;
	choose();
	dispatch();
	check();
}

static void drain(void)
{
	struct rec *r;
	u32 n;

	for (n = 0; f.s.waiting || f.s.out; n++) {
		must(n < 10 * RECS, "does not drain");
		r = one(OUT);
		if (r) {
			give(r, true);
		} else {
			/* Nothing but the timer can go on. */
			must(f.armed >= f.now, "nothing is out, and no timer");
			f.now = f.armed;
		}
		choose();
		dispatch();
		check();
	}
}

int main(int argc, char **argv)
{
	u32 steps = argc > 1 ? (u32)atoi(argv[1]) : 150000, n;
	unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	static const struct flash_share_rules none;

	f.seed = seed;
	f.now = 1000000;
	flash_share_init(&f.s, &f.p, &none);
	f.s.second = f.now;
	for (n = 0; n < steps; n++) {
		event();
		if (!any(2000))
			drain();
	}
	drain();
	f.now += 2 * FLASH_SHARE_SECOND;
	flash_share_prune(&f.s, f.now, ~0U);
	check();
	eq(f.went <= f.came, 1, "%llu of %llu requests went, seed %llu",
	   (unsigned long long)f.went, (unsigned long long)f.came, seed);
	eq(f.p.nr, 0, "all tenants are forgotten");
	eq(f.s.occ.busy + f.s.busy, 0, "nothing is kept");
	eq(f.p.refused > 0 && f.p.dropped > 100, 1,
	   "they came and went, and some found no room");
	return tap_done();
}
