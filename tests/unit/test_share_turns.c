// SPDX-License-Identifier: GPL-2.0
/* Which request is next when there are turns: the paper's two schedulers. */
#include "modes.h"
#include "share.h"

/* What the modes are */
static void modes(void)
{
	struct flash_queue tun = hbfq_defaults;
	struct fair_rules r = { .antic = true };

	acfq_set_rules(&acfq_defaults, ACFQ_AUTO, FAIR_CHARGE_AUTO, &r);
	eq(r.exclusive || r.budgets || r.slice, 0, "acfq auto has no turns");
	eq(r.charge, FAIR_CHARGE_SECTORS, "and charges sectors");
	acfq_set_rules(&acfq_defaults, ACFQ_PAPER, FAIR_CHARGE_REQUESTS, &r);
	eq(r.exclusive && r.antic && r.slice == 20000000 && !r.fixed, 1,
	   "acfq paper: slices, and the mean gap");
	eq(r.charge, FAIR_CHARGE_REQUESTS, "what is charged");
	acfq_set_rules(&acfq_defaults, ACFQ_CFQ, FAIR_CHARGE_AUTO, &r);
	eq(r.exclusive && !r.antic, 1, "cfq waits for nobody");

	r.antic = true;
	tun.TUN_exhausted_budget_sectors = 128;
	hbfq_set_rules(&tun, HBFQ_PAPER, FAIR_CHARGE_AUTO, &r);
	eq(r.exclusive && r.budgets && r.fixed && !r.max_gap, 1,
	   "hbfq paper: one at a time, by budgets");
	eq(r.slice == 125000000 && r.charge == FAIR_CHARGE_SECTORS, 1,
	   "of sectors, no longer than a slice");
	eq(r.budget.standard == 16384 && r.budget.exhausted == 128, 1,
	   "as they are set");
	hbfq_set_rules(&tun, HBFQ_AUTO, FAIR_CHARGE_AUTO, &r);
	eq(!r.exclusive && r.budgets && r.max_gap == 4000000, 1, "hbfq auto");
	eq(r.budget.standard == 4000000 && !r.budget.exhausted, 1,
	   "with budgets of time");
	hbfq_set_rules(&tun, HBFQ_AUTO, FAIR_CHARGE_SECTORS, &r);
	eq(r.budget.standard == 16384 && !r.max_gap, 1, "or of sectors");
}

/* Turns are charged the time that they last, but not the time after. */
static void timed(void)
{
	struct fair_rules rules = cfq;
	struct fair_rq *it;
	u32 i;

	rules.charge = FAIR_CHARGE_TIME;
	model_init(&rules);
	it = sends(1, 100, 8, false);
	goes();
	m.now += 3000;
	ends(it);
	m.now += 50000;
	it = sends(2, 100, 8, false);
	goes();
	eq(tenant(1, 0)->vtime, flash_vtime_of(3000, 100), "3 us of use");
	eq(tenant(1, 0)->stats.cost, 3000, "were charged");
	ends(it);

	/* A turn is not charged for time in which no tenant had requests. */
	rules.slice = 20000;
	model_init(&rules);
	for (i = 0; i < 2; i++) {
		it = sends(1, 100, 8, false);
		goes();
		m.now += 3000;
		ends(it);
		m.now += 60ULL * FAIR_SECOND;
	}
	it = sends(2, 100, 8, false);
	goes();
	eq(tenant(1, 0)->stats.cost, 6000, "of a minute without requests nothing");
	ends(it);

	/* A discard is no more than a page. */
	rules.charge = FAIR_CHARGE_SECTORS;
	model_init(&rules);
	it = &m.it[0];
	adds(it, tenant(1, 100), FLASH_NR_DIRS, false, 0, 1 << 30);
	goes();
	eq(tenant(1, 0)->stats.cost, FAIR_NO_DATA, "a large discard");
	ends(it);
}

/* A+CFQ, weights 1:2:5, turns of 8 sectors: by the least virtual time. */
static void least_first(void)
{
	struct fair_rules rules = cfq;
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
		struct fair_rq *it = goes();

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
	eq(tenant(1, 1)->turn.ended[FLASH_EXPIRED], 2, "A had two turns");
}

/*
 * Compared with a naive scheduler, which adds up the service of each tenant and compares
 * fractions: the order of turns, and that of the window, is the same for any weights with
 * products below the precision of virtual time.
 */
static u32 naive_differs(const struct fair_rules *rules, u32 tenants,
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
		struct fair_rq *it = goes();
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
	struct fair_rules rules = cfq;
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

/* Algorithm 1 on a device: waits as long as the mean gap, and no longer. */
static void anticipates(void)
{
	struct fair_rules rules = cfq;
	struct fair_rq *it;
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
	eq(tenant(1, 100)->think.gap.ns, 800, "mean gap");
	sends(1, 100, 8, true);
	it = goes();
	sends(2, 100, 8, true);
	eq(!fair_next(&m.s, m.now), 1,
	   "one with a request in the device keeps it");
	eq(m.s.wake > m.now, 1, "until its time is up");
	m.now += 600;
	ends(it);
	eq(!fair_next(&m.s, m.now), 1, "and when it is done");
	eq(m.s.wake, m.now + 800, "until the mean gap is over");
	m.now += 799;
	eq(!fair_next(&m.s, m.now), 1, "not before");
	m.now += 1;
	it = goes();
	eq(it ? it->tenant->key.id : 0, 2, "then it is another one's turn");
	eq(tenant(1, 100)->turn.ended[FLASH_IDLE], 1, "the reason");
	eq(tenant(1, 100)->stats.waits, 1, "one wait was counted");

	/* The request arrives in time. */
	sends(1, 100, 8, true);
	m.now += 100;
	ends(it);
	eq(!fair_next(&m.s, m.now), 1, "the other one is waited for");
	sends(2, 100, 8, true);
	it = goes();
	eq(it ? it->tenant->key.id : 0, 2, "and goes on");
	/* A tenant that wrote in the background is not waited for. */
	it->tenant->think.sync = false;
	ends(it);
	it = goes();
	eq(it ? it->tenant->key.id : 0, 1, "nobody waits after such a one");
	ends(it);

	rules.antic = false;
	fair_set_rules(&m.s, &rules);
	sends(2, 100, 8, true);
	it = goes();
	eq(it ? it->tenant->key.id : 0, 2, "CFQ goes on at once");
}

/* Both send one request at a time, after some thought; what does the first get? */
static u32 one_by_one(u64 until)
{
	struct fair_rq *it = NULL;
	u64 at[2] = { m.now, m.now }, end = 0;
	u32 got[2] = { 0 }, i;

	for (; m.now < until; m.now += 1000) {
		if (it && m.now >= end) {
			i = it->tenant->key.id == 2;
			ends(it);
			it = NULL;
			got[i]++;
			at[i] = m.now + 20000;
		}
		for (i = 0; i < 2; i++) {
			if (!at[i] || m.now < at[i])
				continue;
			sends(i + 1, 100, 8, true);
			at[i] = 0;
		}
		if (!it) {
			it = goes();
			end = m.now + 80000;
		}
	}
	return got[0] * 100 / (got[0] + got[1]);
}

/* After a burst, a tenant that sends one request at a time is waited for. */
static void after_a_burst(void)
{
	struct fair_rules rules = { .antic = true, .antic_max = 2000000 };
	struct fair_rq *burst[32];
	u32 i, part;

	acfq_set_rules(&acfq_defaults, ACFQ_PAPER, FAIR_CHARGE_SECTORS, &rules);
	model_init(&rules);
	for (i = 0; i < 32; i++)
		sends(1, 500, 8, true);
	for (i = 0; i < 32; i++, m.now += 500)
		burst[i] = goes();
	for (i = 0; i < 32; i++)
		ends(burst[i]);
	part = one_by_one(m.now + 1200000000);
	eq(part >= 70 && part <= 90, 1,
	   "of 5 to 1 it gets %u of 100, after a burst", part);
}

/* H+BFQ: budgets and B-WF2Q+ */
static void budgets(void)
{
	struct fair_rules rules = {
		.exclusive = true, .budgets = true,
		.charge = FAIR_CHARGE_SECTORS,
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
		struct fair_rq *it = goes();

		order[i] = (char)('A' + it->tenant->key.id - 1);
		ends(it);
	}
	/* B's first budget of 64 finishes first; 32 each after exhaustion. */
	eq(strcmp(order, "BBBBBBBBAAAAAAAABBBBBBBBBBBBBBBB"), 0,
	   "order is %s", order);
	eq(tenant(1, 1)->turn.budget, 32, "half of the default for each of two");
	eq(tenant(1, 1)->turn.ended[FLASH_EXHAUSTED], 1, "the reason");
	rules.budget.exhausted = 8;
	fair_set_rules(&m.s, &rules);
	for (i = 0; i < 30; i++)
		ends(goes());
	eq(tenant(2, 1)->turn.budget, 8, "the budget that is set");
}

/* One tenant that is due half of the turns does not take them all at once. */
static void worst_case_fair(void)
{
	struct fair_rules rules = {
		.budgets = true, .charge = FAIR_CHARGE_SECTORS,
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
		struct fair_rq *it = goes();

		twice += last == 1 && it->tenant->key.id == 1;
		last = it->tenant->key.id;
		first += last == 1;
		ends(it);
	}
	eq(first >= 19 && first <= 21, 1, "half of the turns: %u of 40", first);
	eq(twice <= 1, 1, "one now and one then: %u times two in a row", twice);
}

/* A large request is no small turn because the budget is small. */
/* The virtual finish of a tenant that has reached its virtual start */
static void first_grows(void)
{
	static const struct fair_rules rules = {
		.budgets = true, .charge = FAIR_CHARGE_SECTORS, .budget = { .standard = 1 },
	};
	struct fair_rq *grown;

	model_init(&rules);
	sends(1, 100, 8, false);
	grown = sends(2, 100, 16, false);
	sends(3, 100, 24, false);
	sends(4, 100, 32, false);
	eq(goes()->tenant->key.id, 1, "the earliest virtual finish");
	fair_grow(&m.s, grown, grown->sector, 28);
	eq(goes()->tenant->key.id, 3, "its virtual finish moves when its request grows");
	fair_set_weight(&m.s, tenant(2, 1), 80);
	eq(goes()->tenant->key.id, 4, "and when its weight falls");
	eq(goes()->tenant->key.id, 2, "the latest virtual finish");
}

static void large_first(void)
{
	struct fair_rules rules = {
		.exclusive = true, .budgets = true,
		.charge = FAIR_CHARGE_SECTORS,
		.budget = { .standard = 8, .exhausted = 8 },
	};
	struct fair_rq *it;

	model_init(&rules);
	sends(1, 100, 1000, false);
	sends(2, 100, 8, false);
	it = goes();
	eq(it->tenant->key.id, 2, "who is done sooner goes first");
	ends(it);
	ends(goes());
}

/* Of four tenants that always have something waiting, the longest time without one */
static u64 longest(const struct fair_rules *rules, const u32 *weight)
{
	u64 last[4] = { 0 }, most = 0;
	u32 i, k, n = 0;

	model_init(rules);
	for (i = 0; i < 6000; i++) {
		struct fair_rq *it;

		for (k = 0; k < 4; k++) {
			struct tenant *t = tenant(k + 1, weight[k]);

			while (t->nr < 40) {
				it = &m.it[n++ % 200];
				if (!it->tenant)
					adds(it, t, FLASH_READ, true, 0, 8);
			}
		}
		it = goes();
		k = (u32)it->tenant->key.id - 1;
		if (last[k] && m.now - last[k] > most)
			most = m.now - last[k];
		m.now += 20000;
		ends(it);
		last[k] = m.now;
	}
	return most;
}

/* Each is back in time, however little it weighs. */
static void back_in_time(void)
{
	static const u32 weights[][4] = {
		{ 100, 100, 100, 100 }, { 100, 200, 400, 500 },
		{ 100, 100, 100, 1000 },
	};
	static const u32 gaps[] = { 1000, 2500, 6000 };
	struct fair_rules rules = { .depth = 1024 };
	struct flash_queue tun = { 0 };
	u32 i, n;

	for (i = 0; i < 3; i++) {
		for (n = 0; n < 3; n++) {
			u64 is;

			tun.TUN_max_gap_us = gaps[n];
			hbfq_set_rules(&tun, HBFQ_AUTO, FAIR_CHARGE_TIME, &rules);
			is = longest(&rules, weights[i]);
			/* One request of each is the least. */
			eq(is <= gaps[n] * 1000 + 4 * 20000, 1,
			   "weights %u to %u, back after %llu of %u us",
			   weights[i][0], weights[i][3],
			   (unsigned long long)is / 1000,
			   gaps[n]);
		}
	}
}

/* One request larger than the budget. */
static void overshoot(void)
{
	struct fair_rules rules = {
		.exclusive = true, .budgets = true,
		.charge = FAIR_CHARGE_SECTORS,
		.budget = { .standard = 16 },
	};
	struct fair_rq *it;

	model_init(&rules);
	sends(1, 100, 1000, false);
	sends(1, 100, 1000, false);
	it = goes();
	sends(2, 100, 8, false);
	eq(it->tenant->key.id, 1, "a request above the budget goes");
	ends(it);
	it = goes();
	eq(it->tenant->key.id, 2, "it is all that its tenant gets");
	eq(tenant(1, 1)->vtime, flash_vtime_of(1000, 100), "and is charged whole");
	ends(it);
}

int main(void)
{
	modes();
	timed();
	least_first();
	naive();
	anticipates();
	after_a_burst();
	budgets();
	worst_case_fair();
	first_grows();
	large_first();
	back_in_time();
	overshoot();
	return tap_done();
}
