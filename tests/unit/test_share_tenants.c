// SPDX-License-Identifier: GPL-2.0
/* Tenants are created, idle and forgotten, and their weights change. */
#include "modes.h"
#include "share.h"

/* An idle tenant is forgotten; its place is used again. */
static void come_and_go(void)
{
	struct tenant_key key = { .kind = FLASH_BY_CGROUP, .id = 7 };
	struct fair_rq *it;
	u32 i;

	model_init(&sfq);
	for (i = 0; i < FLASH_TENANTS; i++)
		sends(100 + i, 100, 8, false);
	eq(m.s.table.nr, FLASH_TENANTS, "as many as there may be");
	it = sends(7, 100, 8, false);
	eq(it->tenant == &m.s.table.t[0], 1, "one more is everybody's");
	eq(m.s.table.refused, 1, "which is counted");
	eq(tenant_expect(&m.s.table, &key) == it->tenant, 1,
	   "and so is its next bio, which that may take");
	key.id = 100;
	eq(tenant_expect(&m.s.table, &key) == tenant(100, 0), 1,
	   "who is there is itself");
	key.id = 7;
	while ((it = goes()))
		ends(it);
	m.now += FAIR_SECOND;
	fair_prune(&m.s, m.now, ~0U);
	eq(m.s.table.nr, 0, "a second later all are forgotten");
	eq(tenant_expect(&m.s.table, &key) == NULL, 1,
	   "who comes has no request to merge with");
	it = sends(7, 100, 8, false);
	eq(it->tenant != &m.s.table.t[0], 1, "there is room again");
	ends(goes());
}

/* The longest idle tenants are debtors: another tenant makes room. */
static void debtors(void)
{
	struct fair_rq *it;
	u32 i;

	model_init(&sfq);
	m.s.table.max = 40;
	m.s.table.t[0].weight = 1000;
	/* A busy tenant, so that the device's time does not jump */
	bypasses(&m.it[MAX_RQ - 1], FLASH_READ, 8);
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
	eq(it->tenant == &m.s.table.t[0], 0, "who owes nothing makes room behind twenty who do");
	eq(m.s.table.refused, 0, "nobody was refused");
	eq(tenant(20, 1)->stats.requests, 1, "and those are still known");
}

/* A tenant makes room once the wait for it has expired, without another choice. */
static void late(void)
{
	struct fair_rules rules = sfq;
	u32 i;

	rules.antic = true;
	rules.antic_max = 2000;
	model_init(&rules);
	m.s.table.max = 1;
	for (i = 0; i < 20; i++) {
		struct fair_rq *it;

		sends(1, 100, 8, true);
		it = goes();
		m.now += 400;
		ends(it);
		m.now += 100;
	}
	eq(hlist_unhashed(&m.s.table.t[1].think.pause), 0, "it will be waited for");
	eq(sends(2, 100, 8, true)->tenant == &m.s.table.t[0], 1,
	   "as long as it is nobody makes it go");
	ends(goes());
	m.now += 2000;
	eq(sends(2, 100, 8, true)->tenant == &m.s.table.t[0], 0, "after that it goes");
}

/* So many requests of one, as large as can be and of the least weight, pass by */
static void ages(u64 id, u32 n)
{
	while (n--) {
		sends(id, 1, ~0U, false);
		while (m.s.waiting)
			ends(goes());
		m.now += FAIR_SECOND / 8;
		m.nr = 100;
	}
}

/* Of the next ones, how many are of @id? */
static u32 next_of(u64 id, u32 n)
{
	struct fair_rq *it;
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
 * Virtual time wraps. A tenant that was idle during half of all virtual time (two days, if
 * a tenant of weight 1 is charged for time) is not ahead.
 */
static void wraps(void)
{
	static const struct fair_rules turns = {
		.exclusive = true, .slice = 1000,
	};
	static const struct fair_rules wf2q = {
		.budgets = true, .budget = { .standard = 64 },
	};
	static const struct fair_rules *rules[] = { &sfq, &turns, &wf2q };
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
	/* A third tenant starts after two have been busy for an age. */
	for (i = 0; i < 3; i++) {
		model_init(rules[i]);
		sends(1, 1, 8, false);
		sends(2, 1, 8, false);
		for (n = 0; n < 33000; n++) {
			struct fair_rq *a, *b;

			/* The places of those that have long ended */
			m.nr = 100 + 2 * n % 1000;
			sends(1, 1, ~0U, false);
			sends(2, 1, ~0U, false);
			a = goes();
			m.now += FAIR_SECOND / 8;
			b = goes();
			m.now += FAIR_SECOND / 8;
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

/* A tenant does not lose its debt by being forgotten. */
static void debts(void)
{
	struct fair_rq *it;

	model_init(&sfq);
	m.s.table.max = 1;
	sends(1, 1, 4096, false);
	/* The shared tenant is busy, so that the device's time does not jump. */
	m.s.table.t[0].weight = 1000;
	it = &m.it[MAX_RQ - 1];
	bypasses(it, FLASH_READ, 8);
	ends(goes());
	m.now += 10;
	sends(2, 100, 8, false);
	eq(m.s.table.nr, 1, "who owes something stays");
	eq(m.s.table.t[0].nr, 1, "and another one has to share");
	m.now += 2 * FAIR_SECOND;
	fair_prune(&m.s, m.now, ~0U);
	eq(m.s.table.nr, 1, "also when it has had nothing to do for long");
	ends(goes());
	ends(it);
	fair_prune(&m.s, m.now, ~0U);
	eq(m.s.table.nr, 0, "until all have");
}

static void shared(void)
{
	struct fair_rq *it;

	model_init(&sfq);
	m.s.table.max = 1;
	it = sends(1, 100, 8, false);
	sends(2, 100, 8, false);
	sends(3, 100, 8, false);
	eq(it->tenant == &m.s.table.t[0], 0, "the first has its own");
	eq(m.s.table.t[0].nr, 2, "the others share");
	ends(goes());
	ends(goes());
	ends(goes());
	eq(m.s.waiting + m.s.out + m.s.busy, 0, "nothing is left");
	it = sends(2, 100, 8, false);
	eq(it->tenant == &m.s.table.t[0], 0, "who rests makes room");
	eq(m.s.table.nr, 1, "one at a time");
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
		struct fair_rq *it = goes();

		n += it->tenant->key.id == 1;
		ends(it);
	}
	eq(n, 100, "equal weights");
	fair_set_weight(&m.s, tenant(1, 0), 300);
	eq(m.s.weights, 400, "the sum follows");
	for (i = 0, n = 0; i < 200; i++) {
		struct fair_rq *it = goes();

		n += it->tenant->key.id == 1;
		ends(it);
	}
	eq(n >= 149 && n <= 151, 1, "three to one: %u of 200", n);
}

/* What a request is charged is known from the first one on, also if each costs one. */
static void usual(void)
{
	struct fair_rules rules = sfq;
	struct tenant *t;
	u32 i;

	model_init(&sfq);
	for (i = 0; i < 3; i++)
		sends(1, 100, 8, false);
	t = goes()->tenant;
	for (i = 0; i < 2; i++) {
		eq(t->usual, 8 << FAIR_USUAL_SHIFT, "eight sectors");
		goes();
	}

	rules.charge = FAIR_CHARGE_REQUESTS;
	model_init(&rules);
	for (i = 0; i < 40; i++)
		sends(1, 1000, 8, false);
	for (i = 0; i < 40; i++)
		ends(goes());
	t = tenant(1, 0);
	eq(t->usual, 1 << FAIR_USUAL_SHIFT, "one request");
	/* Ten requests at weight 1000 are as many at weight 10. */
	eq(fair_rescale(t, flash_vtime_of(10, 1000), 10),
	   flash_vtime_of(10, 1000) * 100, "ten requests stay ten");
}

/* Of a tenant that always has something waiting; the places of others are free. */
static void keeps(u64 id, u32 sectors)
{
	struct tenant *t = tenant(id, 100);

	while (t->nr < 20) {
		struct fair_rq *it = &m.it[m.nr++ % 100];

		if (it->tenant)
			continue;
		adds(it, t, FLASH_READ, true, 0, sectors);
	}
}

/* Tenant 1 had weight @from, beside one of 1000. How long is one of them away? */
static u64 away(const struct fair_rules *rules, u32 from, u32 to,
		u32 sectors, u32 before)
{
	u64 gap = 0, most = 0, last = 0;
	u32 i;

	model_init(rules);
	tenant(1, from);
	tenant(2, 1000);
	for (i = 0; i < before + 3000; i++) {
		struct fair_rq *it;

		keeps(1, sectors);
		keeps(2, 8);
		if (i == before) {
			fair_set_weight(&m.s, tenant(1, 0), to);
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
	static const struct fair_rules wf2q = {
		.budgets = true, .budget = { .standard = 64 },
	};
	static const struct fair_rules turns = {
		.exclusive = true, .budgets = true,
		.budget = { .standard = 512 },
	};
	static const struct fair_rules slices = {
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
	while (m.s.active != &m.s.table.t[2])
		ends(goes());
	fair_set_weight(&m.s, tenant(1, 0), 1);
	n = tenant(1, 0)->vtime - m.s.vtime;
	eq(n <= flash_vtime_of(FAIR_CATCH_UP * 8, 1) &&
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
		fair_set_weight(&m.s, tenant(1, 0), 7);
		fair_set_weight(&m.s, tenant(1, 0), 1000);
	}
	fair_set_weight(&m.s, tenant(1, 0), 100);
	eq(n - (tenant(1, 0)->vtime - m.s.vtime) < 100, 1,
	   "it owes %llu of %llu",
	   (unsigned long long)(tenant(1, 0)->vtime - m.s.vtime),
	   (unsigned long long)n);
}

/* What was received in a second, and what was due. */
static void seconds(void)
{
	struct tenant *a, *b;
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
	eq(a->second.last_received, 2000, "a quarter of 8000 sectors");
	eq(b->second.last_received, 6000, "the rest");
	eq(a->second.last_due >= 1990 && a->second.last_due <= 2010, 1, "due %llu",
	   (unsigned long long)a->second.last_due);
	eq(b->second.last_due >= 5990 && b->second.last_due <= 6010, 1, "due %llu",
	   (unsigned long long)b->second.last_due);
}

/*
 * A tenant that pauses, has searched for tags, and begins with one large request does not
 * catch up more of its other requests, which are small.
 */
static void rests(void)
{
	struct fair_rules rules = { .depth = 8, .limit = 1 };
	struct fair_rq *it;
	u32 i, row = 0, most = 0;

	acfq_set_rules(&acfq_defaults, ACFQ_AUTO, FAIR_CHARGE_SECTORS, &rules);
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
			tenant_wants_tag(tenant(1, 100), m.now);
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
	eq(most <= FAIR_CATCH_UP, 1, "%u in a row of who has rested", most);
}

/* A request of @id with a priority of weight @weight */
static void asks(u64 id, u32 weight)
{
	fair_note_prio(&m.s, tenant(id, weight), weight);
	sends(id, weight, 8, true);
}

/*
 * Two processes have four requests waiting for three seconds; of the first one's each
 * @every-th has a priority that is worth @high, the others @low; the second one's are
 * worth 100. Return: the part of the first one, of 1000; sets how often its weight changed.
 */
static u32 threads(u32 high, u32 low, u32 every, u32 *changes)
{
	struct tenant *a, *b;
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
		m.now += FAIR_SECOND / 1000;
		*changes += a->weight != weight;
		weight = a->weight;
	}
	return (u32)(1000 * a->stats.sectors / (a->stats.sectors + b->stats.sectors));
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
		m.now += FAIR_SECOND;
		asks(1, 25);
		goes();
		eq(tenant(1, 0)->weight, i ? 25 : 200, "%u s later", i + 1);
	}
	asks(1, 1000);
	eq(tenant(1, 0)->weight, 1000, "raised it counts at once");
	m.now += 3 * FAIR_SECOND;
	goes();
	m.now += 3 * FAIR_SECOND;
	goes();
	eq(tenant(1, 0)->weight, 1000, "and stays while nothing comes");

	/* A control group's weight does not follow from priorities. */
	model_init(&sfq);
	sends(1, 700, 8, true);
	m.now += FAIR_SECOND;
	goes();
	eq(tenant(1, 0)->weight, 700, "a weight that was set stays");
}

/* Tenants that are all eligible at once: a choice looks at few, and each is served. */
static void many_eligible(void)
{
	const struct fair_rules budgets = {
		.charge = FAIR_CHARGE_SECTORS, .budgets = true, .depth = 4,
		.budget = { .standard = 8 },
	};
	const struct rb_node *node;
	u32 i, n, before = 0, most = 0, served = 0;
	struct fair_rq *it;

	model_init(&budgets);
	for (i = 1; i <= FLASH_TENANTS; i++) {
		tenant(i, 100)->vtime = i;
		sends(i, 100, 8, false);
	}
	m.s.vtime = FLASH_TENANTS;
	while ((it = goes())) {
		n = 0;
		for (node = rb_first_cached(&m.s.backlog.eligible); node; node = rb_next(node))
			n++;
		most = max(most, n + 1 - before);
		before = n;
		served++;
		ends(it);
	}
	eq(most, FAIR_ELIGIBLE, "a choice sorts at most %u of %u eligible tenants", most,
	   FLASH_TENANTS);
	eq(served, FLASH_TENANTS, "and all are served");
}

int main(void)
{
	priorities();
	many_eligible();
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
