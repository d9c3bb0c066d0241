// SPDX-License-Identifier: GPL-2.0
/* Which request is next in a window, and how many are in the device. */
#include "share.h"

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
		struct fair_rq *it = fair_next(&m.s, m.now);

		order[i] = (char)('A' + it->tenant->key.id - 1);
		right += it->tenant->vtime == tags[i] << FLASH_VTIME_SHIFT;
		fair_issue(&m.s, it, m.now);
	}
	eq(strcmp(order, "ABBABBA"), 0, "order is %s", order);
	eq(right, 7, "start tags");
}

/* Tenants that are behind are waited for; tenants that are ahead are not. */
static void waits_for_the_slow(void)
{
	struct fair_rules rules = sfq;
	struct fair_rq *it, *other;
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
	eq(tenant(1, 1000)->think.think.ns, 100, "it thinks so long");
	for (i = 0; i < 8; i++)
		sends(2, 1, 8, false);
	it = sends(1, 1000, 8, true);
	other = goes();
	eq(other == it || other->tenant->key.id == 2, 1, "both may go");
	other = goes();
	m.now += 500;
	ends(it);
	eq(!fair_next(&m.s, m.now), 1,
	   "who is behind is waited for, even by one with a free slot");
	eq(m.s.wake, m.now + 200, "twice as long as it thinks");
	it = sends(1, 1000, 8, true);
	eq(fair_next(&m.s, m.now) == it, 1, "and goes first");
	goes();
	m.now += 500;
	ends(it);
	eq(!fair_next(&m.s, m.now), 1, "again");
	m.now += 200;
	eq(!!fair_next(&m.s, m.now), 1, "in vain, the others go on");
	eq(tenant(1, 1)->think.misses, 1, "which is remembered");
	(void)other;

	/* A tenant that is ahead */
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
	eq(!!fair_next(&m.s, m.now), 1, "who is ahead is not waited for");

	/* A tenant with a part of the device that is not worth the wait */
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
	eq(!!fair_next(&m.s, m.now), 1,
	   "a pause that is long for a small part is not waited for");
}

/* A neighbour that is merged keeps the earlier place. */
static void merges(void)
{
	struct fair_rq *a, *b, *c;

	model_init(&sfq);
	a = sends(1, 100, 8, false);
	b = sends(1, 100, 8, true);
	c = sends(1, 100, 8, false);
	fair_absorb(&m.s, c, a, true, c->sector, 16);
	eq(fair_next(&m.s, m.now) == c, 1, "it has the first place");
	fair_absorb(&m.s, c, b, false, c->sector, 24);
	eq(c->sync, 1, "somebody waits for it now");
	eq(m.s.waiting, 1, "one is left");
	ends(goes());
	eq(m.s.waiting + m.s.out + m.s.busy, 0, "none is left");
}

/* Requests that bypass the queues are in the device, too. */
static void head(void)
{
	struct fair_rq *it = &m.it[1000];

	model_init(&sfq);
	bypasses(it, FLASH_NR_DIRS, 0);
	eq(m.s.out, 1, "it counts");
	eq(m.s.table.t[0].stats.cost, 0, "and costs nothing");
	fair_release(&m.s, it, true, m.now);
	eq(m.s.out + m.s.busy, 0, "until it ends");
}

/* Requests with idle chips are issued first, within the window. */
static void chips(void)
{
	struct flash_geometry geo = { 0 };
	struct fair_rules rules = sfq;
	struct fair_rq *it[8], *got;
	u32 i;

	model_init(&rules);
	flash_geometry_parse("page=4096 chips=4", &geo);
	lays_out(&geo);
	for (i = 0; i < 8; i++) {
		it[i] = &m.it[i];
		/* A's all on chip 0, B's one after the other */
		adds(it[i], tenant(i < 4 ? 1 : 2, 100), FLASH_READ, false,
		     i < 4 ? 32 * i : 8 * i, 8);
	}
	got = goes();
	eq(got == it[0], 1, "A's first");
	got = goes();
	eq(got == it[5], 1, "B's second, as its first one's chip is busy");
	eq(goes() == it[6], 1, "A's turn, but chip 2 is idle");
	eq(goes() == it[7], 1, "and chip 3");
	eq(goes() == it[1], 1, "none is idle: by virtual time");
	flash_geometry_parse("none", &geo);
	lays_out(&geo);
	eq(goes()->tenant->key.id, 1, "without a layout, too");
	for (i = 0; i < 8; i++) {
		if (it[i]->tenant && list_empty(&it[i]->link))
			ends(it[i]);
	}
	while ((got = goes()))
		ends(got);
	eq(m.s.dev.occ.busy, 0, "all chips were given back");
}

/* A request that takes the place of the first one by a merge was passed as often. */
static void merges_passed(void)
{
	struct flash_geometry geo = { 0 };
	u32 i;

	model_init(&sfq);
	flash_geometry_parse("page=4096 chips=4", &geo);
	lays_out(&geo);
	/* Two on chip 0, where the second waits; then two on others, and the merged one. */
	for (i = 0; i < 5; i++)
		adds(&m.it[i], tenant(1, 100), FLASH_READ, false,
		     i < 2 ? 32 * i : 32 * 8 + 8 * (i - 1), 8);
	goes();
	eq(goes() == &m.it[2] && goes() == &m.it[3], 1, "two pass the first one");
	eq(tenant(1, 0)->passed, 2, "which is counted");
	fair_absorb(&m.s, &m.it[4], &m.it[1], true, m.it[1].sector, 16);
	eq(tenant(1, 0)->passed, 2, "and stays so for who takes its place");
	eq(fair_head(tenant(1, 0)) == &m.it[4], 1, "as that is first now");
}

/* If no chips are idle, those with least before them; with and without budgets. */
static void soonest(void)
{
	static const u32 chip[] = { 0, 0, 1, 2, 3, 3, 0, 3, 1, 2 };
	static const u32 order[] = { 8, 9, 6, 7 };
	struct flash_geometry geo = { 0 };
	struct fair_rules rules = sfq;
	u32 i, k;

	for (k = 0; k < 2; k++) {
		rules.budgets = k;
		rules.budget.standard = 1000;
		model_init(&rules);
		flash_geometry_parse("page=4096 chips=4", &geo);
		lays_out(&geo);
		for (i = 0; i < 10; i++)
			adds(&m.it[i], tenant(1, 100), FLASH_READ, false,
			     8 * (chip[i] + 4 * i), 8);
		for (i = 0; i < 6; i++)
			goes();
		eq(m.s.waiting == 4 && m.s.dev.occ.busy == 4, 1,
		   "two on chips 0 and 3, one on 1 and 2");
		for (i = 0; i < 4; i++)
			eq(goes() == &m.it[order[i]], 1,
			   "budgets %u: request %u", k, order[i]);
	}

	/* But no request is passed for ever. */
	model_init(&sfq);
	lays_out(&geo);
	for (i = 0; i < 4; i++) {
		adds(&m.it[i], tenant(1, 100), FLASH_READ, false, 8 * i, 8);
		goes();
	}
	adds(&m.it[4], tenant(2, 100), FLASH_READ, false, 32, 8);
	goes();
	adds(&m.it[5], tenant(2, 100), FLASH_READ, false, 64, 8);
	for (i = 0; i < 80; i++) {
		struct fair_rq *it = &m.it[10 + i];

		adds(it, tenant(2, 100), FLASH_READ, false, 8 * (1 + i % 3), 8);
		if (goes() == &m.it[5])
			break;
		ends(it);
	}
	eq(i, FAIR_PASS, "the first one is passed by so many");
}

/* Learned cost: a larger request costs more, and time is not counted twice. */
static void learned(void)
{
	struct fair_rules rules = sfq;
	struct fair_rq *a, *b;
	u32 i;

	rules.charge = FAIR_CHARGE_TIME;
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
	eq(flash_cost_ns(&m.s.dev.cost, FLASH_READ, 8), 50000,
	   "two at a time cost half of it each");
	a = sends(1, 100, 8, false);
	ends(goes());
	eq(a->tenant ? 1 : 0, 0, "it is done");
}

/* The price of a request is a guess until one has ended: what it was is forgotten. */
static void guesses(void)
{
	struct fair_rules rules = sfq;
	struct fair_rq *it;
	u32 i;

	rules.charge = FAIR_CHARGE_TIME;
	rules.budgets = true;
	rules.budget.standard = 4000000;
	rules.max_gap = 4000000;
	model_init(&rules);
	for (i = 0; i < 32; i++) {
		sends(1, 100, 8, false);
		sends(2, 200, 8, false);
	}
	it = goes();
	for (i = 0; i < 20; i++)
		goes();
	m.now += 21 * 1000;
	ends(it);
	eq(flash_cost_ns(&m.s.dev.cost, FLASH_READ, 8), 1000, "so little it costs");
	eq(tenant(1, 0)->vtime | tenant(2, 0)->vtime | m.s.vtime, 0,
	   "nobody owes what was a guess");
	eq(tenant(1, 0)->stats.cost + tenant(2, 0)->stats.cost, 0, "nor was it charged");
	/* A turn is four requests at the new price, and not what 80 cost. */
	goes();
	eq(m.s.active->turn.budget, 4000, "turns are as long as they should be");
	it = sends(1, 100, 8, false);
	eq(it->tenant->vtime <= flash_vtime_of(4000, 100), 1, "and nobody is late");

	/* Sectors are no guess. */
	model_init(&sfq);
	sends(1, 100, 8, false);
	sends(1, 100, 8, false);
	it = goes();
	m.now += 1000;
	ends(it);
	eq(tenant(1, 0)->vtime, flash_vtime_of(8, 100), "what is counted counts");
}

/* As many in the device as it needs: it serves any number at once. */
static void limits(void)
{
	struct fair_rules rules = sfq;
	static struct fair_rq *out[2048];
	u32 n = 0, i;

	model_init(&rules);
	eq(m.s.dev.pace.climb.limit, FAIR_LIMIT_FIRST, "the limit at first");
	for (i = 0; i < 600; i++) {
		/* More wait than are in the device. */
		while (m.s.waiting < 2 * FAIR_LIMIT_MAX) {
			m.nr %= MAX_RQ / 2;
			sends(1, 100, 8, false);
		}
		while (n < fair_limit(&m.s))
			out[n++] = goes();
		m.now += 2500000;
		/* One stays: it never runs dry. */
		while (n > 1)
			ends(out[--n]);
	}
	eq(fair_limit(&m.s) > 2 * FAIR_LIMIT_FIRST, 1,
	   "it opens: %u", fair_limit(&m.s));
	rules.limit = 7;
	fair_set_rules(&m.s, &rules);
	eq(fair_limit(&m.s), 7, "what is set counts");
	rules = cfq;
	fair_set_rules(&m.s, &rules);
	eq(fair_limit(&m.s), ~0U, "one tenant at a time: any number");
}

/* Number of requests of tenant 2 that are issued beside @n of tenant 1, which has no more */
static u32 beside(u32 n, struct fair_rq *first[])
{
	u32 went = 0;

	while (n--)
		sends(1, 100, 8, false);
	for (n = 0; n < 400; n++)
		sends(2, 100, 8, false);
	while (m.s.out < fair_limit(&m.s)) {
		struct fair_rq *it = goes();

		if (!it)
			break;
		if (it->tenant->key.id == 2)
			went++;
		else
			*first++ = it;
	}
	return went;
}

/* A tenant with all of its requests in the device is not left behind. */
static void lags(void)
{
	struct fair_rules rules = sfq;
	static struct fair_rq *first[64];
	struct fair_rq *it;

	model_init(&rules);
	eq(beside(20, first), FAIR_LIMIT - 20, "the device is kept busy");
	eq(fair_lags(&m.s), true, "but nothing goes beyond that");
	eq(m.s.wake, 0, "until a request ends");
	eq(m.s.enough, FAIR_LIMIT - FAIR_LIMIT / 8, "or, if none is added, an eighth of them");
	it = sends(1, 100, 8, false);
	eq(goes() == it, 1, "who is behind may");
	ends(it);
	eq(goes() == NULL, 1, "and the others may not");
	rules.limit = 100;
	fair_set_rules(&m.s, &rules);
	eq(goes() != NULL, 1, "unless the user says how many");
	eq(m.s.enough, INT_MAX, "and each end counts");

	model_init(&sfq);
	/* As much as the other one has: none is behind. */
	eq(beside(50, first), 52, "as many of each, and two");
	ends(first[0]);
	it = sends(1, 100, 8, false);
	eq(goes() == it, 1, "the one that is behind goes on");
	it = goes();
	eq(it && it->tenant->key.id == 2, 1, "and then the other one");

	/* Requests that bypass the queues do not count as the shared tenant's share. */
	model_init(&sfq);
	bypasses(&m.it[MAX_RQ - 1], FLASH_READ, 8);
	eq(beside(0, first) > FAIR_LIMIT, 1,
	   "one past all queues holds nobody back");
}

/*
 * A queue that is empty for a moment while others are served costs its tenant no share,
 * although the next request is a small one.
 */
static void catches_up(void)
{
	struct fair_rq *it, *kept = NULL;
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
	   flash_vtime_of(64 * FAIR_CATCH_UP, 100), 1,
	   "but never more than that is caught up");
	eq(m.s.vtime - tenant(1, 0)->vtime >=
	   flash_vtime_of(40 * FAIR_CATCH_UP, 100), 1,
	   "in requests as it usually has them");
	goes();
	ends(kept);
}

int main(void)
{
	start_tags();
	waits_for_the_slow();
	merges();
	head();
	chips();
	merges_passed();
	soonest();
	learned();
	guesses();
	limits();
	lags();
	catches_up();
	return tap_done();
}
