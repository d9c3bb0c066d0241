// SPDX-License-Identifier: GPL-2.0
/*
 * Urgent requests, those that other tenants may wait for, in each mode of acfq and hbfq
 * and with each charge: when they are issued, what their tenant owes for them, and
 * what a tenant gets that sends nothing else.
 */
#include "modes.h"
#include "share.h"

#define LIGHT		1
#define HEAVY		10
#define SECTORS		64
#define NR_MODES	(ACFQ_NR_MODES + HBFQ_NR_MODES)

static const char * const charges[FAIR_CHARGE_AUTO] = {
	[FAIR_CHARGE_SECTORS]	= "sectors",
	[FAIR_CHARGE_REQUESTS]	= "requests",
	[FAIR_CHARGE_TIME]	= "time",
};

static const char * const modes[NR_MODES] = {
	"acfq auto", "acfq paper", "acfq cfq", "hbfq auto", "hbfq paper",
};

static u32 mode;
static enum fair_charge charge;

/* A result, of this mode and this charge */
#define is(got, want, fmt, ...)						\
	eq(got, want, "%s, %s: " fmt, modes[mode], charges[charge],	\
	   ##__VA_ARGS__)

static void rules_set(bool antic)
{
	struct fair_rules r = {
		.antic = antic, .antic_max = 2000000, .depth = 8,
	};

	if (mode < ACFQ_NR_MODES)
		acfq_set_rules(&acfq_defaults, mode, charge, &r);
	else
		hbfq_set_rules(&hbfq_defaults, mode - ACFQ_NR_MODES, charge, &r);
	model_init(&r);
}

static struct fair_rq *urgent(u64 id, u32 weight, u32 sectors)
{
	struct fair_rq *it = sends(id, weight, sectors, true);

	fair_urgent_add(&m.s, it);
	return it;
}

/* Three tenants of weight 1000 have eight requests waiting, always. */
static void heavy(void)
{
	u32 i;

	for (i = 0; i < 3; i++) {
		while (tenant(HEAVY + i, 1000)->nr < 8)
			sends(HEAVY + i, 1000, SECTORS, true);
	}
}

/* The next request is issued and ends after 100 us. */
static struct fair_rq *serves(u64 *id)
{
	struct fair_rq *it = goes();

	if (!it) {
		printf("Bail out! nothing is issued\n");
		exit(EXIT_FAILURE);
	}
	*id = it->tenant->key.id;
	m.now += 100000;
	ends(it);
	return it;
}

static void begin(void)
{
	u32 i;
	u64 id;

	rules_set(true);
	heavy();
	for (i = 0; i < 300; i++) {
		serves(&id);
		heavy();
	}
}

/* How many requests are issued before @it, up to @most? */
static u32 before(const struct fair_rq *it, u32 most)
{
	u32 n;
	u64 id;

	for (n = 0; n < most && serves(&id) != it; n++)
		heavy();
	return n;
}

/* So many usual requests does @t owe. */
static u64 debt(const struct tenant *t)
{
	u64 one = flash_vtime_of(t->usual >> FAIR_USUAL_SHIFT, t->weight) | 1;

	return flash_vtime_before(m.s.vtime, t->vtime) ?
	       (t->vtime - m.s.vtime + one - 1) / one : 0;
}

/* Metadata of a light tenant is issued at once. Its data pays for that. */
static void at_once(void)
{
	struct fair_rq *data, *meta;
	struct tenant *was;
	u64 turns;

	begin();
	was = m.s.active;
	data = sends(LIGHT, 1, 8, true);
	meta = urgent(LIGHT, 1, 8);
	turns = m.s.stats.turns;
	is(before(meta, 200), 0, "nothing is issued before an urgent request");
	is(m.s.active == was && (!was || m.s.stats.turns == turns), 1,
	   "it neither ends a turn nor begins one");
	is(debt(tenant(LIGHT, 1)), 1, "its tenant owes one request");
	is(m.s.stats.ahead, 1, "it is counted");
	is(before(data, 200), 200, "what the tenant sent before it waits for long");
}

/* A tenant of weight 1 sends nothing else, as many as it can. */
static void flood(u32 sectors)
{
	struct tenant *t;
	u64 mine = 0, all = 0, id;
	u32 i, n, most = 0;

	begin();
	t = tenant(LIGHT, 1);
	for (i = 0; i < 64; i++)
		urgent(LIGHT, 1, sectors);
	for (n = 0; n < 64; n++) {
		serves(&id);
		heavy();
		if (id != LIGHT)
			break;
	}
	is(n > FAIR_DEBT && n <= FAIR_DEBT + 4, 1,
	   "%u urgent requests of %u sectors in a row", n, sectors);
	for (i = 0; i < 6000; i++) {
		struct fair_rq *it = fair_next(&m.s, m.now);
		u64 cost = it ? fair_charge(&m.s, it) : 0;

		serves(&id);
		mine += id == LIGHT ? cost : 0;
		all += cost;
		if (debt(t) > most)
			most = (u32)debt(t);
		urgent(LIGHT, 1, sectors);
		heavy();
		/* Records can be used again, except those of waiting requests. */
		if (t->nr > 8)
			fair_dequeue(&m.s, fair_head(t));
	}
	is(mine * 1000 / all >= 45 && mine * 1000 / all <= 64, 1,
	   "after that they get %u of 1000 of what is charged",
	   (u32)(mine * 1000 / all));
	is(most <= FAIR_CATCH_UP + 1, 1, "it owes %u requests at most",
	   most);
}

/* A debtor does not wait for ever, and not behind another debtor. */
static void debtors(void)
{
	struct fair_rq *it;
	u64 id, a, b;
	u32 i, n;

	begin();
	for (i = 0; i < 300; i++) {
		urgent(LIGHT, 1, SECTORS);
		if (i % 3 == 0)
			urgent(LIGHT + 1, 1, SECTORS);
	}
	for (i = 0; i < 200; i++) {
		serves(&id);
		heavy();
	}
	a = tenant(LIGHT, 1)->stats.requests;
	b = tenant(LIGHT + 1, 1)->stats.requests;
	for (i = 0; i < 320; i++) {
		serves(&id);
		heavy();
	}
	a = tenant(LIGHT, 1)->stats.requests - a;
	b = tenant(LIGHT + 1, 1)->stats.requests - b;
	is(a + b >= 18 && a + b <= 22 && a <= b + 2 && b <= a + 2, 1,
	   "two debtors take turns: %u and %u of 320", (u32)a, (u32)b);
	it = urgent(LIGHT + 2, 1, SECTORS);
	n = before(it, 200);
	is(n, 0, "a third tenant, which owes nothing, does not wait");
}

/* Some tenants of weight 1 have a request waiting, always. */
static void crowd(u32 tenants)
{
	u32 i;

	for (i = 0; i < tenants; i++) {
		while (tenant(HEAVY + i, 1)->nr < 2)
			sends(HEAVY + i, 1, SECTORS, true);
	}
}

/*
 * A tenant always has an urgent request waiting, such as swap, beside many others of its
 * weight. Its data waits longer, and not for ever.
 */
static void pays(void)
{
	enum { DATA = 4 };
	struct fair_rq *data[DATA];
	u32 i, n, left = DATA;
	u64 id;

	rules_set(false);
	/* A budget of 16384 requests is a turn longer than this test. */
	if (charge == FAIR_CHARGE_REQUESTS)
		m.s.rules.budget.standard /= SECTORS;
	for (i = 0; i < DATA; i++)
		data[i] = sends(LIGHT, 1, SECTORS, true);
	for (n = 0; n < 20000 && left; n++) {
		struct fair_rq *it;

		crowd(24);
		if (tenant(LIGHT, 1)->nr < left + 1)
			urgent(LIGHT, 1, SECTORS);
		it = serves(&id);
		for (i = 0; i < DATA; i++)
			left -= it == data[i];
	}
	is(left, 0, "data beside urgent requests without end is served in %u", n);
}

/* Of two debtors one has large urgent requests: it waits for its turn all the same. */
static void unlike_debtors(void)
{
	u32 n, large = 0, small = 0;
	u64 id;

	rules_set(false);
	for (n = 0; n < 20000; n++) {
		struct fair_rq *it;

		crowd(20);
		if (tenant(LIGHT, 1)->nr < 2)
			urgent(LIGHT, 1, 256);
		if (tenant(LIGHT + 1, 1)->nr < 2)
			urgent(LIGHT + 1, 1, 8);
		it = fair_next(&m.s, m.now);
		id = it ? it->tenant->key.id : 0;
		large += id == LIGHT && m.s.urgent.ahead == FAIR_IN_DEBT;
		small += id == LIGHT + 1 && m.s.urgent.ahead == FAIR_IN_DEBT;
		serves(&id);
	}
	is(large + 1 >= small, 1, "debtors of 256 and 8 sectors: %u and %u", large,
	   small);
}

/* Within a tenant data is not passed for ever, nor is metadata behind it. */
static void within(void)
{
	struct fair_rq *data, *meta;
	u64 id;
	u32 n, i;

	rules_set(false);
	data = sends(LIGHT, 100, 8, true);
	for (i = 0; i < 400; i++)
		urgent(LIGHT, 100, 8);
	for (n = 0; n < 400 && serves(&id) != data; n++)
		;
	is(n >= FAIR_PASS && n <= 2 * FAIR_PASS, 1,
	   "%u urgent requests pass the data of their tenant", n);

	/* Both wait for their turn, urgent ones first. */
	begin();
	for (i = 0; i < 40; i++)
		urgent(LIGHT, 100, SECTORS);
	for (i = 0; i < 20; i++) {
		serves(&id);
		heavy();
	}
	data = sends(LIGHT, 100, SECTORS, true);
	meta = urgent(LIGHT, 100, SECTORS);
	for (n = 0; n < 20000 && meta->tenant && data->tenant; n++) {
		serves(&id);
		heavy();
	}
	is(!meta->tenant && !list_empty(&data->link), 1,
	   "of a tenant in debt urgent requests go first (%u)", n);
}

/* Nothing is issued, for the sake of a tenant, but for what is urgent. */
static void held(void)
{
	struct fair_rq *it, *meta;
	u64 wake;
	u32 i;

	rules_set(true);
	for (i = 0; i < 20; i++) {
		it = sends(HEAVY, 1000, SECTORS, true);
		goes();
		m.now += 500000;
		ends(it);
		m.now += 1000;
		fair_next(&m.s, m.now);
	}
	sends(HEAVY + 1, 1, SECTORS, true);
	sends(HEAVY + 1, 1, SECTORS, true);
	/* In a window one of them is issued. */
	goes();
	it = sends(HEAVY, 1000, SECTORS, true);
	goes();
	m.now += 500000;
	ends(it);
	it = fair_next(&m.s, m.now);
	wake = m.s.wake;
	if (mode != ACFQ_CFQ && mode != ACFQ_NR_MODES + HBFQ_AUTO)
		is(!it && wake, 1, "nothing is issued for a while");
	meta = urgent(LIGHT, 1, 8);
	is(goes() == meta, 1, "but what is urgent");
	ends(meta);
	is(fair_next(&m.s, m.now) == it && m.s.wake == wake, 1,
	   "and the wait goes on");
}

/* The same while a tenant is behind that has all of its requests in the device */
static void lags(void)
{
	struct fair_rq *it;
	u32 i;

	rules_set(false);
	for (i = 0; i < 400; i++)
		sends(HEAVY, 1000, 8, false);
	for (i = 0; i < 8; i++)
		sends(HEAVY + 1, 1000, 8, false);
	while (m.s.out < 400 && (it = goes()))
		;
	if (mode == ACFQ_AUTO)
		is(m.s.out < 400, 1, "%u are in the device", m.s.out);
	it = urgent(LIGHT, 1, 8);
	is(goes() == it, 1, "what is urgent is issued");
}

/* Merged, handed back: nothing urgent is left behind. */
static void leaves(void)
{
	struct fair_rq *a, *b, *c, *d;

	begin();
	a = urgent(LIGHT, 1, 8);
	b = urgent(LIGHT, 1, 8);
	c = urgent(LIGHT, 1, 8);
	fair_absorb(&m.s, c, a, true, c->sector, 16);
	is(goes() == c, 1, "it has the place of the one that it has swallowed");
	fair_release(&m.s, c, false, m.now);
	d = goes();
	is(d == b, 1, "the next one");
	ends(d);
	is(list_empty(&m.s.urgent.tenants) &&
	   list_empty(&tenant(LIGHT, 1)->urgent), 1, "none is left");
	is(goes() != NULL, 1, "and others go on");
}

int main(void)
{
	for (mode = 0; mode < NR_MODES; mode++) {
		for (charge = 0; charge < FAIR_CHARGE_AUTO; charge++) {
			at_once();
			flood(8);
			flood(2048);
			debtors();
			pays();
			unlike_debtors();
			within();
			held();
			lags();
			leaves();
		}
	}
	return tap_done();
}
