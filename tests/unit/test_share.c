// SPDX-License-Identifier: GPL-2.0
/* Who goes next: the paper's two schedulers, and the windows. */
#include <string.h>

#include "acfq/acfq_rules.h"
#include "hbfq/hbfq_rules.h"
#include "share.h"

static const struct flash_share_rules cfq = {
	.exclusive = true, .slice = 0, .charge = FLASH_CHARGE_SECTORS,
};

static const struct flash_share_rules sfq = {
	.charge = FLASH_CHARGE_SECTORS, .depth = 4,
};

/* A+CFQ, weights 1:2:5, turns of 8 sectors: by the least virtual time. */
static void least_first(void)
{
	struct flash_share_rules rules = cfq;
	char order[32] = "";
	u64 at = 16ULL << FLASH_VTIME_SHIFT;
	u32 i;

	rules.slice = 1000;
	model_init(&rules);
	for (i = 0; i < 17; i++) {
		sends(1, 1, 8, false);
		sends(2, 2, 8, false);
		sends(3, 5, 8, false);
	}
	for (i = 0; i < 16; i++) {
		struct flash_share_item *it = goes();

		order[i] = (char)('A' + it->tenant->key.id - 1);
		ends(it);
		/* Longer than any slice of these weights */
		m.now += 1000;
	}
	eq(strcmp(order, "ABCCCBCCABCCCBCC"), 0, "turns are %s", order);
	sends(4, 1, 8, false);
	/* What C has used is counted, but rounded down. */
	eq(at - tenant(4, 1)->vtime <= 1, 1,
	   "a newcomer starts where the others are");
	ends(goes());
	eq(tenant(1, 1)->vtime, at, "A");
	eq(tenant(2, 1)->vtime, at, "B");
	eq(tenant(3, 1)->vtime, at, "C");
	eq(tenant(1, 1)->why[FLASH_EXPIRED], 2, "A had two turns");
}

/*
 * Beside a naive sharer, which knows what everybody got and compares fractions:
 * the order of turns, and that of the window, is the same for any weights whose
 * products are below the precision of virtual time.
 */
static u32 naive_differs(const struct flash_share_rules *rules, u32 tenants,
			 unsigned long long *seed)
{
	u64 used[8] = { 0 };
	u32 weight[8], sectors[8], i, n, differs = 0;

	model_init(rules);
	for (i = 0; i < tenants; i++) {
		weight[i] = 1 + tap_rand(seed) % 200;
		sectors[i] = 1 + tap_rand(seed) % 1000;
		for (n = 0; n < 200; n++)
			sends(i + 1, weight[i], sectors[i], false);
	}
	for (n = 0; n < 200; n++) {
		struct flash_share_item *it = goes();
		u32 best = 0;

		for (i = 1; i < tenants; i++) {
			if (used[i] * weight[best] < used[best] * weight[i])
				best = i;
		}
		used[best] += sectors[best];
		differs += it->tenant->key.id != best + 1;
		ends(it);
		/* Longer than any slice */
		m.now += 100000;
	}
	return differs;
}

static void naive(void)
{
	struct flash_share_rules rules = cfq;
	unsigned long long seed = 11;
	u32 i, differs = 0;

	rules.slice = 1000;
	for (i = 0; i < 30; i++)
		differs += naive_differs(&rules, 2 + i % 7, &seed);
	eq(differs, 0, "turns of 30 sets of tenants");
	for (i = 0; i < 30; i++)
		differs += naive_differs(&sfq, 2 + i % 7, &seed);
	eq(differs, 0, "and their requests in a window");
}

/* SFQ: A0 B0 B2 A4 B4 B6 A8 by weights 1 and 2, unit cost 4. */
static void start_tags(void)
{
	static const u64 tags[] = { 0, 0, 2, 4, 4, 6, 8 };
	char order[8] = "";
	u32 i, right = 0;

	model_init(&sfq);
	for (i = 0; i < 8; i++) {
		sends(1, 1, 4, false);
		sends(2, 2, 4, false);
	}
	for (i = 0; i < 7; i++) {
		struct flash_share_item *it = flash_share_next(&m.s, m.now);

		order[i] = (char)('A' + it->tenant->key.id - 1);
		right += it->tenant->vtime == tags[i] << FLASH_VTIME_SHIFT;
		flash_share_issue(&m.s, it, m.now);
	}
	eq(strcmp(order, "ABBABBA"), 0, "order is %s", order);
	eq(right, 7, "start tags");
}

/* Algorithm 1 on a device: waits as long as the mean gap, and no longer. */
static void anticipates(void)
{
	struct flash_share_rules rules = cfq;
	struct flash_share_item *it;
	u32 i;

	rules.antic = true;
	rules.antic_max = 2000;
	rules.slice = 1000000;
	model_init(&rules);
	for (i = 0; i < 40; i++) {
		it = sends(1, 100, 8, true);
		goes();
		m.now += 600;
		ends(it);
		m.now += 200;
	}
	eq(tenant(1, 100)->gap.ns, 800, "mean gap");
	sends(1, 100, 8, true);
	it = goes();
	sends(2, 100, 8, true);
	eq(!flash_share_next(&m.s, m.now), 1,
	   "one with a request in the device keeps it");
	eq(m.s.wake > m.now, 1, "until its time is up");
	m.now += 600;
	ends(it);
	eq(!flash_share_next(&m.s, m.now), 1, "and when it is done");
	eq(m.s.wake, m.now + 800, "until the mean gap is over");
	m.now += 799;
	eq(!flash_share_next(&m.s, m.now), 1, "not before");
	m.now += 1;
	it = goes();
	eq(it ? it->tenant->key.id : 0, 2, "then it is another one's turn");
	eq(tenant(1, 100)->why[FLASH_IDLE], 1, "the reason");
	eq(tenant(1, 100)->waits, 1, "one wait was counted");

	/* The request that comes in time. */
	sends(1, 100, 8, true);
	m.now += 100;
	ends(it);
	eq(!flash_share_next(&m.s, m.now), 1, "the other one is waited for");
	sends(2, 100, 8, true);
	it = goes();
	eq(it ? it->tenant->key.id : 0, 2, "and goes on");
	/* Nobody waits for one that wrote in the background. */
	it->tenant->sync = false;
	ends(it);
	it = goes();
	eq(it ? it->tenant->key.id : 0, 1, "nobody waits after such a one");
	ends(it);

	rules.antic = false;
	flash_share_set(&m.s, &rules);
	sends(2, 100, 8, true);
	it = goes();
	eq(it ? it->tenant->key.id : 0, 2, "CFQ goes on at once");
}

/* H+BFQ: budgets and B-WF2Q+ */
static void budgets(void)
{
	struct flash_share_rules rules = {
		.exclusive = true, .budgets = true,
		.charge = FLASH_CHARGE_SECTORS,
		.budget = { .standard = 64 },
	};
	char order[40] = "";
	u32 i;

	model_init(&rules);
	for (i = 0; i < 40; i++) {
		sends(1, 100, 8, false);
		sends(2, 300, 8, false);
	}
	for (i = 0; i < 32; i++) {
		struct flash_share_item *it = goes();

		order[i] = (char)('A' + it->tenant->key.id - 1);
		ends(it);
	}
	/* B's first budget of 64 finishes first; 32 each after exhaustion. */
	eq(strcmp(order, "BBBBBBBBAAAAAAAABBBBBBBBBBBBBBBB"), 0,
	   "order is %s", order);
	eq(tenant(1, 1)->budget, 32, "half of the default for each of two");
	eq(tenant(1, 1)->why[FLASH_EXHAUSTED], 1, "the reason");
	rules.budget.exhausted = 8;
	flash_share_set(&m.s, &rules);
	for (i = 0; i < 30; i++)
		ends(goes());
	eq(tenant(2, 1)->budget, 8, "the budget that is set");
}

/* One tenant that is due half of the turns does not take them all at once. */
static void worst_case_fair(void)
{
	struct flash_share_rules rules = {
		.budgets = true, .charge = FLASH_CHARGE_SECTORS,
		.budget = { .standard = 8, .exhausted = 8 },
	};
	u32 i, id, twice = 0, first = 0;
	u64 last = 0;

	model_init(&rules);
	for (i = 0; i < 30; i++) {
		for (id = 1; id <= 11; id++)
			sends(id, id == 1 ? 1000 : 100, 8, false);
	}
	for (i = 0; i < 40; i++) {
		struct flash_share_item *it = goes();

		twice += last == 1 && it->tenant->key.id == 1;
		last = it->tenant->key.id;
		first += last == 1;
		ends(it);
	}
	eq(first >= 19 && first <= 21, 1, "half of the turns: %u of 40", first);
	eq(twice <= 1, 1, "one now and one then: %u times two in a row", twice);
}

/* One request larger than the budget. */
static void overshoot(void)
{
	struct flash_share_rules rules = {
		.exclusive = true, .budgets = true,
		.charge = FLASH_CHARGE_SECTORS,
		.budget = { .standard = 16 },
	};
	struct flash_share_item *it;

	model_init(&rules);
	sends(1, 100, 1000, false);
	sends(1, 100, 1000, false);
	sends(2, 100, 8, false);
	it = goes();
	eq(it->tenant->key.id, 1, "a request above the budget goes");
	ends(it);
	it = goes();
	eq(it->tenant->key.id, 2, "it is all that its tenant gets");
	eq(tenant(1, 1)->vtime, flash_vtime_of(1000, 100), "and is charged whole");
	ends(it);
}

/* Those who are behind are waited for; those who are ahead are not. */
static void waits_for_the_slow(void)
{
	struct flash_share_rules rules = sfq;
	struct flash_share_item *it, *other;
	u32 i;

	rules.antic = true;
	rules.antic_max = 2000;
	model_init(&rules);
	for (i = 0; i < 3; i++) {
		it = sends(1, 1000, 8, true);
		goes();
		m.now += 500;
		ends(it);
		m.now += 100;
	}
	eq(tenant(1, 1000)->think.ns, 100, "it thinks so long");
	for (i = 0; i < 8; i++)
		sends(2, 1, 8, false);
	it = sends(1, 1000, 8, true);
	other = goes();
	eq(other == it || other->tenant->key.id == 2, 1, "both may go");
	other = goes();
	m.now += 500;
	ends(it);
	eq(!flash_share_next(&m.s, m.now), 1,
	   "who is behind is waited for, even by one with a free slot");
	eq(m.s.wake, m.now + 200, "twice as long as it thinks");
	it = sends(1, 1000, 8, true);
	eq(flash_share_next(&m.s, m.now) == it, 1, "and goes first");
	goes();
	m.now += 500;
	ends(it);
	eq(!flash_share_next(&m.s, m.now), 1, "again");
	m.now += 200;
	eq(!!flash_share_next(&m.s, m.now), 1, "in vain, the others go on");
	eq(tenant(1, 1)->misses, 1, "which is remembered");
	(void)other;

	/* The same of one that is ahead. */
	model_init(&rules);
	for (i = 0; i < 3; i++) {
		it = sends(1, 100, 8, true);
		goes();
		m.now += 500;
		ends(it);
		m.now += 100;
	}
	it = sends(1, 100, 64, true);
	goes();
	sends(2, 1000, 8, false);
	m.now += 500;
	ends(it);
	eq(!!flash_share_next(&m.s, m.now), 1, "who is ahead is not waited for");

	/* And of one whose part of the device is not worth it. */
	model_init(&rules);
	for (i = 0; i < 3; i++) {
		it = sends(1, 10, 8, true);
		goes();
		m.now += 500;
		ends(it);
		m.now += 100;
	}
	it = sends(1, 10, 8, true);
	goes();
	for (i = 0; i < 8; i++)
		sends(2, 1000, 8, false);
	m.now += 500;
	ends(it);
	eq(!!flash_share_next(&m.s, m.now), 1,
	   "a pause that is long for a small part is not waited for");
}

/* A tenant that is gone is forgotten; its place is another one's. */
static void come_and_go(void)
{
	struct flash_share_item *it;
	u32 i;

	model_init(&sfq);
	for (i = 0; i < FLASH_TENANTS; i++)
		sends(100 + i, 100, 8, false);
	eq(m.p.nr, FLASH_TENANTS, "as many as there may be");
	it = sends(7, 100, 8, false);
	eq(it->tenant == &m.p.t[0], 1, "one more is everybody's");
	eq(m.p.refused, 1, "which is counted");
	while ((it = goes()))
		ends(it);
	m.now += FLASH_SHARE_SECOND;
	flash_share_prune(&m.s, m.now, ~0U);
	eq(m.p.nr, 0, "a second later all are forgotten");
	it = sends(7, 100, 8, false);
	eq(it->tenant != &m.p.t[0], 1, "there is room again");
	ends(goes());
}

/* Who rests longest and owes something keeps nobody else's place. */
static void debtors(void)
{
	struct flash_share_item *it;
	u32 i;

	model_init(&sfq);
	m.p.max = 40;
	m.p.t[0].weight = 1000;
	/* All along: the device's time does not jump. */
	flash_share_take_head(&m.s, &m.it[MAX_RQ - 1], FLASH_READ, 0, 8, m.now);
	for (i = 1; i <= 40; i++) {
		sends(i, i <= 20 ? 1 : 1000, 4096, false);
		ends(goes());
		m.now += 10;
	}
	/* The device's time is beyond what the last twenty owe. */
	sends(40, 1000, 8, false);
	ends(goes());
	sends(40, 1000, 8, false);
	ends(goes());
	it = sends(41, 100, 8, false);
	eq(it->tenant == &m.p.t[0], 0, "who owes nothing makes room behind twenty who do");
	eq(m.p.refused, 0, "nobody was refused");
	eq(tenant(20, 1)->requests, 1, "and those are still known");
}

/* Whoever was waited for in vain keeps nobody's place, though nobody has asked since. */
static void late(void)
{
	struct flash_share_rules rules = sfq;
	u32 i;

	rules.antic = true;
	rules.antic_max = 2000;
	model_init(&rules);
	m.p.max = 1;
	for (i = 0; i < 20; i++) {
		struct flash_share_item *it;

		sends(1, 100, 8, true);
		it = goes();
		m.now += 400;
		ends(it);
		m.now += 100;
	}
	eq(flash_ring_empty(&m.p.t[1].pause), 0, "it will be waited for");
	eq(sends(2, 100, 8, true)->tenant == &m.p.t[0], 1,
	   "as long as it is nobody makes it go");
	ends(goes());
	m.now += 2000;
	eq(sends(2, 100, 8, true)->tenant == &m.p.t[0], 0, "after that it goes");
}

/* So many requests of one, as large as can be and of the least weight, pass by */
static void ages(u64 id, u32 n)
{
	while (n--) {
		sends(id, 1, ~0U, false);
		while (m.s.waiting)
			ends(goes());
		m.now += FLASH_SHARE_SECOND / 8;
		m.nr = 100;
	}
}

/* Of the next ones, how many are of @id? */
static u32 next_of(u64 id, u32 n)
{
	struct flash_share_item *it;
	u32 of = 0;

	while (n--) {
		it = goes();
		of += it->tenant->key.id == id;
		ends(it);
		m.now += 1000000;
	}
	return of;
}

/*
 * Virtual time wraps. Who had nothing to do while half of all of it went by, as it
 * does in two days if a tenant of weight 1 is charged for time, is not ahead.
 */
static void wraps(void)
{
	static const struct flash_share_rules turns = {
		.exclusive = true, .slice = 1000,
	};
	static const struct flash_share_rules wf2q = {
		.budgets = true, .budget = { .standard = 64 },
	};
	static const struct flash_share_rules *rules[] = { &sfq, &turns, &wf2q };
	u32 i, n;

	for (i = 0; i < 3; i++) {
		model_init(rules[i]);
		sends(1, 1, 8, false);
		ends(goes());
		ages(2, 33000);
		for (n = 0; n < 40; n++) {
			sends(1, 1, 8, false);
			sends(2, 1, 8, false);
		}
		n = next_of(1, 40);
		/* A budget of a turn at most */
		eq(n >= 16, 1, "rules %u: back after an age it gets %u of 40",
		   i, n);
	}
	/* Both have had something to do all along when another one comes. */
	for (i = 0; i < 3; i++) {
		model_init(rules[i]);
		sends(1, 1, 8, false);
		sends(2, 1, 8, false);
		for (n = 0; n < 33000; n++) {
			struct flash_share_item *a, *b;

			/* The places of those that have long ended */
			m.nr = 100 + 2 * n % 1000;
			sends(1, 1, ~0U, false);
			sends(2, 1, ~0U, false);
			a = goes();
			m.now += FLASH_SHARE_SECOND / 8;
			b = goes();
			m.now += FLASH_SHARE_SECOND / 8;
			ends(a);
			ends(b);
		}
		m.nr = 2000;
		for (n = 0; n < 40; n++) {
			sends(3, 1, 8, false);
			sends(1, 1, 8, false);
			sends(2, 1, 8, false);
		}
		n = next_of(3, 60);
		eq(n >= 12, 1, "rules %u: who comes after an age gets %u of 60",
		   i, n);
	}
}

/* Nobody gets rid of what it owes by a new name. */
static void debts(void)
{
	struct flash_share_item *it;

	model_init(&sfq);
	m.p.max = 1;
	sends(1, 1, 4096, false);
	/* Everybody's, and all along: the device's time does not jump. */
	m.p.t[0].weight = 1000;
	it = &m.it[MAX_RQ - 1];
	flash_share_take_head(&m.s, it, FLASH_READ, 0, 8, m.now);
	ends(goes());
	m.now += 10;
	sends(2, 100, 8, false);
	eq(m.p.nr, 1, "who owes something stays");
	eq(m.p.t[0].nr, 1, "and another one has to share");
	m.now += 2 * FLASH_SHARE_SECOND;
	flash_share_prune(&m.s, m.now, ~0U);
	eq(m.p.nr, 1, "also when it has had nothing to do for long");
	ends(goes());
	ends(it);
	flash_share_prune(&m.s, m.now, ~0U);
	eq(m.p.nr, 0, "until all have");
}

static void shared(void)
{
	struct flash_share_item *it;

	model_init(&sfq);
	m.p.max = 1;
	it = sends(1, 100, 8, false);
	sends(2, 100, 8, false);
	sends(3, 100, 8, false);
	eq(it->tenant == &m.p.t[0], 0, "the first has its own");
	eq(m.p.t[0].nr, 2, "the others share");
	ends(goes());
	ends(goes());
	ends(goes());
	eq(m.s.waiting + m.s.out + m.s.busy, 0, "nothing is left");
	it = sends(2, 100, 8, false);
	eq(it->tenant == &m.p.t[0], 0, "who rests makes room");
	eq(m.p.nr, 1, "one at a time");
	ends(goes());
}

/* A weight that changes counts from then on. */
static void reweighed(void)
{
	u32 i, n = 0;

	model_init(&sfq);
	for (i = 0; i < 400; i++) {
		sends(1, 100, 8, false);
		sends(2, 100, 8, false);
	}
	for (i = 0; i < 200; i++) {
		struct flash_share_item *it = goes();

		n += it->tenant->key.id == 1;
		ends(it);
	}
	eq(n, 100, "equal weights");
	flash_share_weight(&m.s, tenant(1, 0), 300);
	eq(m.s.weights, 400, "the sum follows");
	for (i = 0, n = 0; i < 200; i++) {
		struct flash_share_item *it = goes();

		n += it->tenant->key.id == 1;
		ends(it);
	}
	eq(n >= 149 && n <= 151, 1, "three to one: %u of 200", n);
}

/* A neighbour that is merged keeps the earlier place. */
static void merges(void)
{
	struct flash_share_item *a, *b, *c;

	model_init(&sfq);
	a = sends(1, 100, 8, false);
	b = sends(1, 100, 8, true);
	c = sends(1, 100, 8, false);
	flash_share_absorb(&m.s, c, a, c->sector, 16);
	eq(flash_share_next(&m.s, m.now) == c, 1, "it has the first place");
	flash_share_absorb(&m.s, c, b, c->sector, 24);
	eq(c->sync, 1, "somebody waits for it now");
	eq(m.s.waiting, 1, "one is left");
	ends(goes());
	eq(m.s.waiting + m.s.out + m.s.busy, 0, "none is left");
}

/* What goes past the queues is in the device, too. */
static void head(void)
{
	struct flash_share_item *it = &m.it[1000];

	model_init(&sfq);
	flash_share_take_head(&m.s, it, FLASH_NR_DIRS, 0, 0, m.now);
	eq(m.s.out, 1, "it counts");
	eq(m.p.t[0].cost, 0, "and costs nothing");
	flash_share_give(&m.s, it, true, m.now);
	eq(m.s.out + m.s.busy, 0, "until it ends");
}

/* Requests whose chips are idle go first, within the window. */
static void chips(void)
{
	struct flash_geometry geo = { 0 };
	struct flash_share_rules rules = sfq;
	struct flash_share_item *it[8], *got;
	u32 i;

	model_init(&rules);
	flash_geometry_parse("page=4096 chips=4", &geo);
	flash_share_layout(&m.s, &geo, 0);
	for (i = 0; i < 8; i++) {
		it[i] = &m.it[i];
		/* A's all on chip 0, B's one after the other */
		flash_share_add(&m.s, it[i], tenant(i < 4 ? 1 : 2, 100), i + 1,
				FLASH_READ, false, i < 4 ? 32 * i : 8 * i, 8,
				m.now);
	}
	got = goes();
	eq(got == it[0], 1, "A's first");
	got = goes();
	eq(got == it[5], 1, "B's second, as its first one's chip is busy");
	eq(goes() == it[6], 1, "A's turn, but chip 2 is idle");
	eq(goes() == it[7], 1, "and chip 3");
	eq(goes() == it[1], 1, "none is idle: by virtual time");
	flash_geometry_parse("none", &geo);
	flash_share_layout(&m.s, &geo, 0);
	eq(goes()->tenant->key.id, 1, "without a layout, too");
	for (i = 0; i < 8; i++) {
		if (it[i]->out)
			ends(it[i]);
	}
	while ((got = goes()))
		ends(got);
	eq(m.s.occ.busy, 0, "all chips were given back");
}

/* Learned cost: a larger request costs more, and time is not counted twice. */
static void learned(void)
{
	struct flash_share_rules rules = sfq;
	struct flash_share_item *a, *b;
	u32 i;

	rules.charge = FLASH_CHARGE_TIME;
	model_init(&rules);
	for (i = 0; i < 100; i++) {
		a = sends(1, 100, 8, false);
		b = sends(2, 100, 8, false);
		goes();
		goes();
		m.now += 100000;
		ends(a);
		ends(b);
	}
	eq(flash_cost_ns(&m.s.cost, FLASH_READ, 8), 50000,
	   "two at a time cost half of it each");
	a = sends(1, 100, 8, false);
	ends(goes());
	eq(a->tenant ? 1 : 0, 0, "it is done");
}

/* As many in the device as it needs: it serves any number at once. */
static void bounds(void)
{
	struct flash_share_rules rules = sfq;
	static struct flash_share_item *out[2048];
	u32 n = 0, i;

	model_init(&rules);
	eq(m.s.pace.climb.bound, FLASH_SHARE_BOUND_FIRST, "the bound at first");
	for (i = 0; i < 600; i++) {
		/* More wait than are in the device. */
		while (m.s.waiting < 2 * FLASH_SHARE_BOUND_MAX) {
			m.nr %= MAX_RQ / 2;
			sends(1, 100, 8, false);
		}
		while (n < flash_share_bound(&m.s))
			out[n++] = goes();
		m.now += 2500000;
		/* One stays: it never runs dry. */
		while (n > 1)
			ends(out[--n]);
	}
	eq(flash_share_bound(&m.s) > 2 * FLASH_SHARE_BOUND_FIRST, 1,
	   "it opens: %u", flash_share_bound(&m.s));
	rules.bound = 7;
	flash_share_set(&m.s, &rules);
	eq(flash_share_bound(&m.s), 7, "what is set counts");
	rules = cfq;
	flash_share_set(&m.s, &rules);
	eq(flash_share_bound(&m.s), ~0U, "one tenant at a time: any number");
}

/* How many of tenant 2 go beside @n of tenant 1, as heavy, which has no more */
static u32 beside(u32 n, struct flash_share_item *first[])
{
	u32 went = 0;

	while (n--)
		sends(1, 100, 8, false);
	for (n = 0; n < 400; n++)
		sends(2, 100, 8, false);
	while (m.s.out < flash_share_bound(&m.s)) {
		struct flash_share_item *it = goes();

		if (!it)
			break;
		if (it->tenant->key.id == 2)
			went++;
		else
			*first++ = it;
	}
	return went;
}

/* Who has all of its requests in the device is not left behind. */
static void lags(void)
{
	struct flash_share_rules rules = sfq;
	static struct flash_share_item *first[64];
	struct flash_share_item *it;

	model_init(&rules);
	eq(beside(20, first), FLASH_SHARE_BOUND - 20, "the device is kept busy");
	eq(flash_share_lags(&m.s), true, "but nothing goes beyond that");
	eq(m.s.wake, 0, "until a request ends");
	it = sends(1, 100, 8, false);
	eq(goes() == it, 1, "who is behind may");
	ends(it);
	eq(goes() == NULL, 1, "and the others may not");
	rules.bound = 100;
	flash_share_set(&m.s, &rules);
	eq(goes() != NULL, 1, "unless the user says how many");

	model_init(&sfq);
	/* As much as the other one has: nobody is behind. */
	eq(beside(50, first), 52, "as many of each, and two");
	ends(first[0]);
	it = sends(1, 100, 8, false);
	eq(goes() == it, 1, "the one that is behind goes on");
	it = goes();
	eq(it && it->tenant->key.id == 2, 1, "and then the other one");

	/* Everybody's, that have been past the queues, are nobody's share. */
	model_init(&sfq);
	flash_share_take_head(&m.s, &m.it[MAX_RQ - 1], FLASH_READ, 0, 8, m.now);
	eq(beside(0, first) > FLASH_SHARE_BOUND, 1,
	   "one past all queues holds nobody back");
}

/*
 * A queue that runs empty for a moment while others go on costs nobody its share,
 * though the next request is a small one.
 */
static void catches_up(void)
{
	struct flash_share_item *it, *kept = NULL;
	u64 before;
	u32 i;

	model_init(&sfq);
	for (i = 0; i < 40; i++) {
		it = sends(1, 100, i % 8 ? 64 : 8, false);
		if (!i)
			kept = it;
		goes();
		if (i)
			ends(it);
	}
	before = tenant(1, 0)->vtime;
	for (i = 0; i < 400; i++)
		sends(2, 100, 64, false);
	/* From where 1 was */
	for (i = 0; i < 50; i++)
		ends(goes());
	it = sends(1, 100, 8, false);
	eq(tenant(1, 0)->vtime, before, "nothing is lost");
	eq(goes() == it, 1, "and it goes first");
	ends(it);
	/* 100 more are too many. */
	for (i = 0; i < 100; i++)
		ends(goes());
	sends(1, 100, 8, false);
	eq(m.s.vtime - tenant(1, 0)->vtime <=
	   flash_vtime_of(64 * FLASH_SHARE_CATCH_UP, 100), 1,
	   "but never more than that is caught up");
	eq(m.s.vtime - tenant(1, 0)->vtime >=
	   flash_vtime_of(40 * FLASH_SHARE_CATCH_UP, 100), 1,
	   "in requests as it usually has them");
	goes();
	ends(kept);
}

/* What was received in a second, and what was due. */
static void seconds(void)
{
	struct flash_tenant *a, *b;
	u32 i;

	model_init(&sfq);
	for (i = 0; i < 1000; i++) {
		sends(1, 100, 8, false);
		sends(2, 300, 8, false);
	}
	a = tenant(1, 1);
	b = tenant(2, 1);
	for (i = 0; i < 1001; i++) {
		ends(goes());
		m.now += 1000000;
	}
	eq(a->last_got, 2000, "a quarter of 8000 sectors");
	eq(b->last_got, 6000, "the rest");
	eq(a->last_due >= 1990 && a->last_due <= 2010, 1, "due %llu",
	   (unsigned long long)a->last_due);
	eq(b->last_due >= 5990 && b->last_due <= 6010, 1, "due %llu",
	   (unsigned long long)b->last_due);
}

/* What the modes are */
static void modes(void)
{
	struct flash_budgets b = { .standard = 16384, .exhausted = 128 };
	struct flash_share_rules r = { .antic = true };

	acfq_rules(ACFQ_AUTO, 20, FLASH_CHARGE_SECTORS, &r);
	eq(r.exclusive || r.budgets || r.slice, 0, "acfq auto has no turns");
	acfq_rules(ACFQ_PAPER, 20, FLASH_CHARGE_REQUESTS, &r);
	eq(r.exclusive && r.antic && r.slice == 20 && !r.fixed, 1,
	   "acfq paper: slices, and the mean gap");
	eq(r.charge, FLASH_CHARGE_REQUESTS, "what is charged");
	acfq_rules(ACFQ_CFQ, 20, FLASH_CHARGE_SECTORS, &r);
	eq(r.exclusive && !r.antic, 1, "cfq waits for nobody");

	r.antic = true;
	hbfq_rules(HBFQ_PAPER, 125, 4000, &b, FLASH_CHARGE_SECTORS, &r);
	eq(r.exclusive && r.budgets && r.fixed && !r.max_gap, 1,
	   "hbfq paper: one at a time, by budgets");
	eq(r.budget.standard == 16384 && r.budget.exhausted == 128, 1,
	   "as they are set");
	hbfq_rules(HBFQ_AUTO, 125, 4000, &b, FLASH_CHARGE_TIME, &r);
	eq(!r.exclusive && r.budgets && r.max_gap == 4000, 1, "hbfq auto");
	eq(r.budget.standard == 4000 && !r.budget.exhausted, 1,
	   "with budgets of time");
	hbfq_rules(HBFQ_AUTO, 125, 4000, &b, FLASH_CHARGE_SECTORS, &r);
	eq(r.budget.standard == 16384 && !r.max_gap, 1, "or of sectors");
}

/* Turns are charged the time that they last, but not what comes after. */
static void timed(void)
{
	struct flash_share_rules rules = cfq;
	struct flash_share_item *it;

	rules.charge = FLASH_CHARGE_TIME;
	model_init(&rules);
	it = sends(1, 100, 8, false);
	goes();
	m.now += 3000;
	ends(it);
	m.now += 50000;
	it = sends(2, 100, 8, false);
	goes();
	eq(tenant(1, 0)->vtime, flash_vtime_of(3000, 100), "3 us of use");
	eq(tenant(1, 0)->cost, 3000, "were charged");
	ends(it);

	/* A discard is no more than a page. */
	rules.charge = FLASH_CHARGE_SECTORS;
	model_init(&rules);
	it = &m.it[0];
	flash_share_add(&m.s, it, tenant(1, 100), 1, FLASH_NR_DIRS, false, 0,
			1 << 30, m.now);
	goes();
	eq(tenant(1, 0)->cost, FLASH_SHARE_NOTHING, "a large discard");
	ends(it);
}

int main(void)
{
	modes();
	timed();
	least_first();
	naive();
	start_tags();
	anticipates();
	budgets();
	worst_case_fair();
	overshoot();
	waits_for_the_slow();
	come_and_go();
	debts();
	debtors();
	late();
	wraps();
	shared();
	reweighed();
	merges();
	head();
	chips();
	learned();
	bounds();
	lags();
	catches_up();
	seconds();
	return tap_done();
}
