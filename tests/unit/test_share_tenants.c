// SPDX-License-Identifier: GPL-2.0
/* Tenants come, rest, are forgotten, and have other weights. */
#include "acfq/acfq_rules.h"
#include "share.h"

/* A tenant that is gone is forgotten; its place is another one's. */
static void come_and_go(void)
{
	struct flash_key key = { .kind = FLASH_BY_CGROUP, .id = 7 };
	struct flash_share_item *it;
	u32 i;

	model_init(&sfq);
	for (i = 0; i < FLASH_TENANTS; i++)
		sends(100 + i, 100, 8, false);
	eq(m.p.nr, FLASH_TENANTS, "as many as there may be");
	it = sends(7, 100, 8, false);
	eq(it->tenant == &m.p.t[0], 1, "one more is everybody's");
	eq(m.p.refused, 1, "which is counted");
	eq(flash_tenant_or_all(&m.p, &key) == it->tenant, 1,
	   "and so is its next bio, which that may take");
	key.id = 100;
	eq(flash_tenant_or_all(&m.p, &key) == tenant(100, 0), 1,
	   "who is there is itself");
	key.id = 7;
	while ((it = goes()))
		ends(it);
	m.now += FLASH_SHARE_SECOND;
	flash_share_prune(&m.s, m.now, ~0U);
	eq(m.p.nr, 0, "a second later all are forgotten");
	eq(flash_tenant_or_all(&m.p, &key) == NULL, 1,
	   "who comes has no request to merge with");
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

/* What a request is charged is known from the first one on, also if each costs one. */
static void usual(void)
{
	struct flash_share_rules rules = sfq;
	struct flash_tenant *t;
	u32 i;

	model_init(&sfq);
	for (i = 0; i < 3; i++)
		sends(1, 100, 8, false);
	t = goes()->tenant;
	for (i = 0; i < 2; i++) {
		eq(t->usual, 8 << FLASH_SHARE_USUAL_SHIFT, "eight sectors");
		goes();
	}

	rules.charge = FLASH_CHARGE_REQUESTS;
	model_init(&rules);
	for (i = 0; i < 40; i++)
		sends(1, 1000, 8, false);
	for (i = 0; i < 40; i++)
		ends(goes());
	t = tenant(1, 0);
	eq(t->usual, 1 << FLASH_SHARE_USUAL_SHIFT, "one request");
	/* Ten requests at weight 1000 are as many at weight 10. */
	eq(flash_share_reweigh(t, flash_vtime_of(10, 1000), 10),
	   flash_vtime_of(10, 1000) * 100, "ten requests stay ten");
}

/* Of a tenant that always has something waiting; the places of others are free. */
static void keeps(u64 id, u32 sectors)
{
	struct flash_tenant *t = tenant(id, 100);

	while (t->nr < 20) {
		struct flash_share_item *it = &m.it[m.nr++ % 100];

		if (it->tenant)
			continue;
		flash_share_add(&m.s, it, t, m.nr, FLASH_READ, true, 0, sectors,
				m.now);
	}
}

/* Tenant 1 had weight @from, beside one of 1000. How long is one of them away? */
static u64 away(const struct flash_share_rules *rules, u32 from, u32 to,
		u32 sectors, u32 before)
{
	u64 gap = 0, most = 0, last = 0;
	u32 i;

	model_init(rules);
	tenant(1, from);
	tenant(2, 1000);
	for (i = 0; i < before + 3000; i++) {
		struct flash_share_item *it;

		keeps(1, sectors);
		keeps(2, 8);
		if (i == before) {
			flash_share_weight(&m.s, tenant(1, 0), to);
			gap = 0;
		}
		it = goes();
		if (it->tenant->key.id != last)
			gap = 0;
		last = it->tenant->key.id;
		gap += it->sectors;
		if (i >= before && gap > most)
			most = gap;
		m.now += 10000;
		ends(it);
	}
	return most;
}

/*
 * A weight that is raised counts at once, and not when what was used with the old
 * one has been made up for by others; and a debt does not become ages.
 */
static void raised(void)
{
	static const struct flash_share_rules wf2q = {
		.budgets = true, .budget = { .standard = 64 },
	};
	static const struct flash_share_rules turns = {
		.exclusive = true, .budgets = true,
		.budget = { .standard = 512 },
	};
	static const struct flash_share_rules slices = {
		.exclusive = true, .slice = 1000000,
	};
	u32 before;
	u64 n;

	for (before = 100; before < 2000; before += 633) {
		n = away(&sfq, 1, 1000, 2048, before);
		eq(n <= 2048 + 8, 1, "a window, raised: %llu sectors of one",
		   (unsigned long long)n);
		n = away(&wf2q, 1, 1000, 8, before);
		eq(n <= 4 * 64, 1, "budgets in a window, raised: %llu",
		   (unsigned long long)n);
		n = away(&turns, 1, 1000, 8, before);
		eq(n <= 4 * 512, 1, "budgets one at a time, raised: %llu",
		   (unsigned long long)n);
	}
	/* A turn of 1000 requests is some for weight 1, and not all of them. */
	away(&slices, 1000, 1000, 8, 900);
	while (m.s.active != &m.p.t[2])
		ends(goes());
	flash_share_weight(&m.s, tenant(1, 0), 1);
	n = tenant(1, 0)->vtime - m.s.vtime;
	eq(n <= flash_vtime_of(FLASH_SHARE_CATCH_UP * 8, 1) &&
	   n > flash_vtime_of(8, 1), 1, "after slices, lowered: %llu",
	   (unsigned long long)n);

	/* There and back is no way to lose what one owes. */
	model_init(&sfq);
	sends(2, 100, 8, false);
	sends(2, 100, 8, false);
	sends(1, 100, 800, false);
	sends(1, 100, 800, false);
	goes();
	goes();
	n = tenant(1, 0)->vtime - m.s.vtime;
	for (before = 0; before < 50; before++) {
		flash_share_weight(&m.s, tenant(1, 0), 7);
		flash_share_weight(&m.s, tenant(1, 0), 1000);
	}
	flash_share_weight(&m.s, tenant(1, 0), 100);
	eq(n - (tenant(1, 0)->vtime - m.s.vtime) < 100, 1,
	   "it owes %llu of %llu",
	   (unsigned long long)(tenant(1, 0)->vtime - m.s.vtime),
	   (unsigned long long)n);
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

/*
 * Who rests on purpose, says that it wanted tags, and begins with one large request,
 * catches up no more of the others, which are small.
 */
static void rests(void)
{
	struct flash_share_rules rules = { .depth = 8, .bound = 1 };
	struct flash_share_item *it;
	u32 i, row = 0, most = 0;

	acfq_rules(ACFQ_AUTO, 0, FLASH_CHARGE_SECTORS, &rules);
	model_init(&rules);
	for (i = 0; i < 50; i++) {
		sends(1, 100, 8, true);
		ends(goes());
	}
	for (i = 0; i < 2000; i++)
		sends(2, 100, 8, true);
	for (i = 0; i < 900; i++) {
		m.now += 1000000;
		if (i == 100)
			flash_share_wants(tenant(1, 100), m.now);
		ends(goes());
	}
	sends(1, 100, 2048, true);
	for (i = 0; i < 500; i++)
		sends(1, 100, 8, true);
	while (tenant(1, 100)->nr) {
		it = goes();
		row = it->tenant == tenant(1, 100) && it->sectors == 8 ? row + 1 : 0;
		most = row > most ? row : most;
		ends(it);
	}
	eq(most <= FLASH_SHARE_CATCH_UP, 1, "%u in a row of who has rested", most);
}

/* A request of @id whose priority is worth @weight */
static void asks(u64 id, u32 weight)
{
	flash_share_asks(&m.s, tenant(id, weight), weight);
	sends(id, weight, 8, true);
}

/*
 * Two processes have four requests waiting for three seconds; of the first one's each
 * @every-th has a priority that is worth @high, the others @low; the second one's are
 * worth 100. What the first one gets of 1000; sets how often its weight changed.
 */
static u32 threads(u32 high, u32 low, u32 every, u32 *changes)
{
	struct flash_tenant *a, *b;
	u32 i, n, weight;

	model_init(&sfq);
	a = tenant(1, low);
	b = tenant(2, 100);
	weight = low;
	*changes = 0;
	for (i = 0, n = 0; i < 3000; i++) {
		while (a->nr < 4) {
			asks(1, ++n % every ? low : high);
			*changes += a->weight != weight;
			weight = a->weight;
		}
		while (b->nr < 4)
			asks(2, 100);
		ends(goes());
		m.now += FLASH_SHARE_SECOND / 1000;
		*changes += a->weight != weight;
		weight = a->weight;
	}
	return (u32)(1000 * a->sectors / (a->sectors + b->sectors));
}

/*
 * A process weighs what the highest priority of its threads is worth, that it has used
 * lately: to lower some gains nothing, and the weight does not follow each request.
 */
static void priorities(void)
{
	u32 of, changes, i;

	of = threads(25, 25, 1, &changes);
	eq(of >= 195 && of <= 205, 1, "all threads lowered: %u of 1000", of);
	eq(changes, 0, "which is one weight");
	of = threads(200, 200, 1, &changes);
	eq(of >= 660 && of <= 672, 1, "all raised: %u", of);
	for (i = 2; i < 64; i *= 2) {
		of = threads(200, 1, i, &changes);
		eq(of <= 672, 1, "one request in %u raised: %u", i, of);
		eq(changes <= 6, 1, "its weight changes %u times in 3 s",
		   changes);
	}

	/* What was high is forgotten in the second after the next. */
	model_init(&sfq);
	asks(1, 200);
	asks(1, 25);
	eq(tenant(1, 0)->weight, 200, "the highest of two");
	for (i = 0; i < 3; i++) {
		m.now += FLASH_SHARE_SECOND;
		asks(1, 25);
		goes();
		eq(tenant(1, 0)->weight, i ? 25 : 200, "%u s later", i + 1);
	}
	asks(1, 1000);
	eq(tenant(1, 0)->weight, 1000, "raised it counts at once");
	m.now += 3 * FLASH_SHARE_SECOND;
	goes();
	m.now += 3 * FLASH_SHARE_SECOND;
	goes();
	eq(tenant(1, 0)->weight, 1000, "and stays while nothing comes");

	/* A control group's weight does not follow from priorities. */
	model_init(&sfq);
	sends(1, 700, 8, true);
	m.now += FLASH_SHARE_SECOND;
	goes();
	eq(tenant(1, 0)->weight, 700, "a weight that was set stays");
}

int main(void)
{
	priorities();
	come_and_go();
	debtors();
	late();
	wraps();
	debts();
	shared();
	reweighed();
	usual();
	raised();
	seconds();
	rests();
	return tap_done();
}
