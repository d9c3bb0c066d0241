// SPDX-License-Identifier: GPL-2.0
/*
 * Everything that the block layer and the user can do to tenants, at random:
 * requests arrive, end, merge, are requeued, polled, bypass the queues; tenants change
 * weights, and every rule changes under load. All counts are checked after each event.
 * Arguments: steps, seed.
 */
#include <stdlib.h>

#include "common/share/fairqueue.c"
#include "modes.h"
#include "tap.h"

#define RECS	300
#define IDS	400

enum state { FREE, WAITS, OUT };

struct rec {
	struct fair_rq it;
	enum state state;
	bool urgent;
	u64 id, seq;
};

static struct {
	struct fair_queue s;
	struct flash_tags tags;
	struct rec rec[RECS];
	struct fair_rq *next;
	u64 armed;		/* the timer */
	u64 now, seq, came, went, passed, sum;
	unsigned long long seed;
	bool queues;		/* a request that may pass is queued, and chosen */
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
	f.next = fair_next(&f.s, f.now);
	if (f.s.wake)
		f.armed = f.s.wake;
	if (f.next || !f.s.waiting)
		return;
	/* For a tenant that lags, and only while the device is busy */
	if (fair_lags(&f.s)) {
		must(f.s.out >= FAIR_LIMIT, "held back with few out");
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

/* Compare all counts with the requests. */
static void check(void)
{
	u32 i, nr = 0, waiting = 0, out = 0, busy = 0, named = 0, idle = 0;
	u32 of[FLASH_TENANTS + 1] = { 0 }, gone[FLASH_TENANTS + 1] = { 0 };
	u32 urgent[FLASH_TENANTS + 1] = { 0 }, some = 0;
	u32 backlog = 0, dry = 0;
	const struct rb_node *node;
	const struct list_head *link;
	const struct tenant *t;
	u64 weights = 0, last = 0;

	for (i = 0; i < RECS; i++) {
		const struct rec *r = &f.rec[i];

		if (r->state == FREE) {
			must(!r->it.tenant, "a request that is done has a tenant");
			continue;
		}
		nr = r->it.tenant->index;
		must(r->it.tenant->weight, "the tenant of a request is nobody");
		of[nr] += r->state == WAITS;
		gone[nr] += r->state == OUT;
		waiting += r->state == WAITS;
		out += r->state == OUT;
		must(r->it.urgent == (r->urgent && r->state == WAITS), "urgent");
		urgent[nr] += r->it.urgent;
	}
	for (i = 0; i <= FLASH_TENANTS; i++) {
		t = &f.s.table.t[i];
		must(t->nr == of[i] && t->out == gone[i], "a tenant's requests");
		must(t->busy == (t->nr || t->out), "busy");
		for (link = t->urgent.next; link != &t->urgent; link = link->next)
			urgent[i]--;
		must(!urgent[i], "a tenant's urgent requests");
		must(list_empty(&t->urgent) == list_empty(&t->urge),
		     "who has urgent requests");
		some += !list_empty(&t->urgent);
		backlog += t->nr && t != f.s.active;
		dry += i && t->busy && !t->nr;
		must(hlist_unhashed(&t->think.pause) || !t->busy,
		     "who is busy is not waited for");
		busy += t->busy;
		weights += t->busy ? t->weight : 0;
		named += i && t->weight;
		idle += t->weight && !t->busy;
		must(!i || !t->weight || tenant_find(&f.s.table, &t->key) == t,
		     "a tenant is not found");
	}
	list_for_each_entry(t, &f.s.table.lru, lru) {
		must(t->weight, "a free entry among the tenants");
		must(t->busy || last <= t->think.ended, "the order of idle tenants");
		last = t->busy ? last : t->think.ended;
		idle -= !t->busy;
	}
	must(!idle, "the number of idle tenants in the list");
	must(!f.s.backlog.lone || backlog == 1, "a tenant that is not alone");
	must(!f.s.backlog.lone || f.s.backlog.lone->nr, "the only tenant has no request");
	backlog -= !!f.s.backlog.lone;
	last = 0;
	for (node = rb_first_cached(&f.s.backlog.later); node; node = rb_next(node)) {
		t = rb_entry(node, struct tenant, place.node);
		must(t->nr && t->place.tree == &f.s.backlog.later, "the backlog");
		must(!last || !flash_vtime_before(t->vtime, last), "order by virtual time");
		last = t->vtime;
		backlog--;
	}
	for (node = rb_first_cached(&f.s.backlog.eligible); node; node = rb_next(node)) {
		t = rb_entry(node, struct tenant, place.node);
		must(t->nr && t->place.tree == &f.s.backlog.eligible, "eligible tenants");
		must(!flash_vtime_before(f.s.vtime, t->vtime), "the virtual start");
		backlog--;
	}
	must(!backlog, "the number of tenants in the backlog");
	hlist_for_each_entry(t, &f.s.dry.fresh, place.dry) {
		must(t->out && !t->nr, "a dry tenant");
		dry -= t != &f.s.table.t[0];
	}
	for (node = rb_first_cached(&f.s.dry.sorted); node; node = rb_next(node)) {
		t = rb_entry(node, struct tenant, place.node);
		must(t->out && !t->nr && t->place.tree == &f.s.dry.sorted, "a dry tenant");
		dry -= t != &f.s.table.t[0];
	}
	must(!dry, "dry tenants");
	hlist_for_each_entry(t, &f.s.paused.list, think.pause)
		must(f.s.paused.earliest <= t->think.until, "the earliest end of a wait");
	for (link = f.s.urgent.tenants.next; link != &f.s.urgent.tenants; link = link->next)
		some--;
	must(!some, "those with urgent requests");
	must(f.s.waiting == waiting && f.s.out == out, "waiting and out");
	must(f.s.busy == busy && f.s.weights == weights, "weights");
	must(f.s.table.nr == named, "the number of tenants");
	must(!f.s.active || f.s.active->weight, "whose turn it is is gone");
}

static void give(struct rec *r, bool ended)
{
	fair_release(&f.s, &r->it, ended, f.now);
	r->state = FREE;
	r->urgent = false;
}

static void dispatch(void)
{
	while (f.next && f.s.out < fair_limit(&f.s)) {
		struct rec *r = (struct rec *)f.next;

		must(r->state == WAITS, "who is chosen does not wait");
		must(!f.s.rules.exclusive || !f.s.active ||
		     (r->it.urgent && f.s.urgent.ahead) ||
		     f.s.active == r->it.tenant, "it is another one's turn");
		fair_issue(&f.s, &r->it, f.now);
		r->state = OUT;
		f.went++;
		if (!any(32))
			give(r, false);
		choose();
	}
}

static void count(u64 value)
{
	f.sum = (f.sum ^ value) * 0x9e3779b97f4a7c15ULL;
}

/* All that later choices depend on */
static void sum_up(void)
{
	u32 i;

	for (i = 0; i <= FLASH_TENANTS; i++) {
		const struct tenant *t = &f.s.table.t[i];
		const u64 values[] = {
			t->key.id, t->vtime, t->part, t->usual, t->claim, t->passed, t->weight,
			t->think.issued, t->think.ended, t->think.until, t->think.misses,
			t->think.gap.ns, t->think.think.ns, t->think.held, t->think.sync,
			t->second.seen, t->second.received, t->second.due, t->stats.requests,
			t->stats.sectors, t->stats.cost, t->stats.waits, t->turn.begun,
			t->turn.used, t->turn.budget, t->busy, !!t->place.tree,
			!hlist_unhashed(&t->think.pause), f.tags.hold[i].held,
		};
		u32 n;

		if (!t->weight)
			continue;
		for (n = 0; n < ARRAY_SIZE(values); n++)
			count(values[n]);
	}
	count(f.s.vtime);
	count(f.s.latest);
	count(f.s.weights);
	count(f.s.wake);
	count(f.s.dev.work);
	count(f.s.second.charged);
	count(f.s.urgent.since);
	count(f.s.active ? f.s.active->index : ~0U);
	count(f.s.stats.turns);
	count(f.tags.claims);
}

/* A request that waits alone is issued a little later. */
static void pass(struct rec *r, struct tenant *t)
{
	u64 arrived = f.now;

	f.now += any(3) * any(300);
	if (f.queues) {
		fair_add(&f.s, &r->it, t, &f.tags, false, arrived);
		must(fair_next(&f.s, f.now) == &r->it, "who may pass is not the next one");
		fair_issue(&f.s, &r->it, f.now);
	} else {
		fair_pass(&f.s, &r->it, t, &f.tags, arrived, f.now);
	}
	r->state = OUT;
	f.went++;
	f.passed++;
}

static void arrive(void)
{
	static const u32 sizes[] = { 0, 1, 8, 8, 8, 64, 500, 4096 };
	struct tenant_key key = { .kind = FLASH_BY_CGROUP };
	struct rec *r = one(FREE);
	enum flash_dir dir = (enum flash_dir)any(FLASH_NR_DIRS + 1);
	struct tenant *t;

	if (!r)
		return;
	f.came++;
	memset(&r->it, 0, sizeof(r->it));
	if (!any(40)) {
		fair_describe(&r->it, dir, false, any(1000), 8);
		fair_bypass(&f.s, &r->it, &f.tags, f.now);
		r->state = OUT;
		return;
	}
	r->id = any(any(8) ? 6 : IDS);
	key.id = r->id + 1;
	if (!r->id)
		key.kind = FLASH_BY_ALL;
	t = fair_tenant(&f.s, &key, 1 + any(1000), f.now);
	r->seq = ++f.seq;
	fair_describe(&r->it, dir, any(3), any(10000), sizes[any(8)]);
	r->urgent = !any(5);
	if (!r->urgent && f.s.out < fair_limit(&f.s) && fair_may_pass(&f.s, t)) {
		pass(r, t);
		return;
	}
	fair_add(&f.s, &r->it, t, &f.tags, r->urgent, f.now);
	r->state = WAITS;
}

static void merge(void)
{
	struct rec *a = one(WAITS), *b = one(WAITS);

	if (!a || a == b)
		return;
	if (a->it.tenant != b->it.tenant || a->urgent != b->urgent) {
		fair_grow(&f.s, &a->it, a->it.sector, a->it.sectors + 8);
		return;
	}
	fair_absorb(&f.s, &a->it, &b->it, b->seq < a->seq, a->it.sector,
		    a->it.sectors + b->it.sectors);
	a->seq = min(a->seq, b->seq);
	b->state = FREE;
	f.went++;
}

static void rules(void)
{
	struct fair_rules r = {
		.antic = any(3), .antic_max = any(3000), .depth = any(20),
	};
	struct flash_queue tun = {
		.TUN_slice_ms = 1,
		.TUN_max_gap_us = 1 + any(9),
		.TUN_default_budget_sectors = 1 + any(20000),
		.TUN_min_budget_sectors = any(3) * any(500),
		.TUN_exhausted_budget_sectors = any(2) * any(2000),
	};
	enum fair_charge charge = (enum fair_charge)any(FAIR_CHARGE_AUTO);

	if (any(2))
		acfq_set_rules(&tun, any(ACFQ_NR_MODES), charge, &r);
	else
		hbfq_set_rules(&tun, any(HBFQ_NR_MODES), charge, &r);
	/* Shorter than a tunable can say, so that turns end often */
	if (r.slice)
		r.slice = 1 + any(20000);
	fair_set_rules(&f.s, &r);
	f.s.table.max = 1 + any(any(2) ? 4 : FLASH_TENANTS);
}

static void layout(void)
{
	static const char * const words[] = {
		"none", "page=4096 chips=4", "page=512 chips=64",
		"page=4096 chips=256",
	};
	struct flash_geometry geo = { 0 };

	flash_geometry_parse(words[any(4)], &geo);
	fair_set_layout(&f.s, &geo, any(100));
	while (!fair_sort_next(&f.s))
		;
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
			f.s.rules.limit = any(2) ? 0 : 1 + any(any(2) ? 4 : 64);
		break;
	case 13:
		r = one(WAITS);
		if (r && any(2))
			fair_set_weight(&f.s, r->it.tenant, 1 + any(1000));
		else if (r)
			fair_note_prio(&f.s, r->it.tenant, 1 + any(1000));
		break;
	case 14:
		if (!any(100))
			fair_prune(&f.s, f.now, ~0U);
		break;
	default:
		f.now += any(10) ? any(500) : any(100) ? any(100000) :
			 FAIR_SECOND / 2 * any(5);
	}
	/* The timer expires, and chooses. */
	if (f.armed && f.now >= f.armed)
		f.armed = 0;
	choose();
	dispatch();
	check();
	sum_up();
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
			/* Only the timer can continue. */
			must(f.armed >= f.now, "nothing is out, and no timer");
			f.now = f.armed;
		}
		choose();
		dispatch();
		check();
	}
}

static void all(u32 steps, unsigned long long seed, bool queues)
{
	static const struct fair_rules none;
	u32 n;

	memset(&f, 0, sizeof(f));
	f.seed = seed;
	f.queues = queues;
	f.now = 1000000;
	fair_init(&f.s, &none, ~0U);
	f.s.second.begun = f.now;
	for (n = 0; n < steps; n++) {
		event();
		if (!any(2000))
			drain();
	}
	drain();
	/* No turn is left that ends with a debt. */
	fair_set_rules(&f.s, &none);
	f.now += 2 * FAIR_SECOND;
	fair_prune(&f.s, f.now, ~0U);
	check();
}

int main(int argc, char **argv)
{
	u32 steps = argc > 1 ? (u32)atoi(argv[1]) : 150000;
	unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	u64 sum;

	all(steps, seed, true);
	sum = f.sum;
	all(steps, seed, false);
	eq(f.sum == sum && f.passed > steps / 100, 1,
	   "%llu requests that pass leave all as if they were queued and chosen",
	   (unsigned long long)f.passed);
	eq(f.went <= f.came, 1, "%llu of %llu requests went, seed %llu",
	   (unsigned long long)f.went, (unsigned long long)f.came, seed);
	eq(f.s.table.nr, 0, "all tenants are forgotten");
	eq(f.s.dev.occ.busy + f.s.busy, 0, "nothing is kept");
	eq(f.s.table.refused > 0 && f.s.table.forgotten > 100, 1,
	   "they came and went, and some found no room");
	return tap_done();
}
