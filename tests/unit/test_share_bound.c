// SPDX-License-Identifier: GPL-2.0
/*
 * How far shares stray from weights: tenants that always have something waiting,
 * on a device of some slots that serves at random speed. For each pair of tenants
 * and each interval the difference of what they got, by weight, has a bound; and
 * over a run each gets what a naive sharer would give it. Arguments: runs, seed.
 */
#include "acfq/acfq.h"
#include "hbfq/hbfq.h"
#include "share.h"

#define MAX_TENANTS	12
#define BACKLOG		40
#define MAX_OUT		(MAX_TENANTS * BACKLOG)
#define SLOTS		32

static struct {
	bool closed;		/* a tenant has BACKLOG requests, and no more */
	u32 tenants, slots, weight[MAX_TENANTS], size[MAX_TENANTS];
	u64 got[MAX_TENANTS], total;
	double low[MAX_TENANTS][MAX_TENANTS], high[MAX_TENANTS][MAX_TENANTS];
	u32 nr[MAX_TENANTS], free[MAX_RQ], nr_free;
	struct fair_rq *out[MAX_OUT];
	u32 nr_out;
	unsigned long long seed;
} b;

static u32 any(u32 n)
{
	return tap_rand(&b.seed) % n;
}

static void refill(u32 i)
{
	struct fair_rq *it = &m.it[b.free[--b.nr_free]];

	memset(it, 0, sizeof(*it));
	adds(it, tenant(i + 1, b.weight[i]), FLASH_READ, true, 0,
	     1 + any(b.size[i]));
	b.nr[i]++;
}

/* What @i and all others got, by weight, and how far that has ever strayed. */
static void note(u32 i)
{
	u32 j;

	for (j = 0; j < b.tenants; j++) {
		double d = (double)b.got[i] / b.weight[i] -
			   (double)b.got[j] / b.weight[j];

		if (d < b.low[i][j])
			b.low[i][j] = d;
		if (d > b.high[i][j])
			b.high[i][j] = d;
		if (-d < b.low[j][i])
			b.low[j][i] = -d;
		if (-d > b.high[j][i])
			b.high[j][i] = -d;
	}
}

static void begin(const struct fair_rules *rules, u32 tenants, u32 slots)
{
	u32 i;

	memset(&b.got, 0, sizeof(b.got));
	memset(&b.low, 0, sizeof(b.low));
	memset(&b.high, 0, sizeof(b.high));
	memset(&b.nr, 0, sizeof(b.nr));
	b.total = 0;
	b.nr_out = 0;
	b.tenants = tenants;
	b.slots = slots;
	model_init(rules);
	for (i = 0, b.nr_free = 0; i < MAX_TENANTS * BACKLOG + MAX_OUT; i++)
		b.free[b.nr_free++] = i;
	for (i = 0; i < tenants; i++) {
		while (b.nr[i] < BACKLOG)
			refill(i);
	}
}

/* Hands over as much as there is room for, ends one, and so on. */
static void serve(u32 requests)
{
	while (requests) {
		struct fair_rq *it = NULL;
		u32 i, n;

		while (b.nr_out < (b.closed ? fair_limit(&m.s) :
				   b.slots) && (it = goes())) {
			i = (u32)it->tenant->key.id - 1;
			b.out[b.nr_out++] = it;
			b.got[i] += it->sectors;
			b.total += it->sectors;
			b.nr[i]--;
			note(i);
			if (!b.closed)
				refill(i);
		}
		if (!b.nr_out) {
			printf("Bail out! a backlog, free slots and nothing goes\n");
			exit(EXIT_FAILURE);
		}
		i = any(b.nr_out);
		it = b.out[i];
		b.out[i] = b.out[--b.nr_out];
		m.now += 1 + any(1000);
		n = (u32)it->tenant->key.id - 1;
		ends(it);
		b.free[b.nr_free++] = (u32)(it - m.it);
		if (b.closed)
			refill(n);
		requests--;
	}
}

/* The worst pair, in per cent of what it may be: @extra of each one's own. */
static u32 worst(u32 extra)
{
	double most = 0;
	u32 i, j;

	for (i = 0; i < b.tenants; i++) {
		for (j = 0; j < i; j++) {
			double may = (double)(b.size[i] + extra) / b.weight[i] +
				     (double)(b.size[j] + extra) / b.weight[j];
			double is = (b.high[i][j] - b.low[i][j]) / may;

			if (is > most)
				most = is;
		}
	}
	return (u32)(most * 100 + 0.999);
}

/* The largest error of a share over the run, in 1/1000 of the share. */
static u32 error(void)
{
	u32 i, sum = 0;
	double most = 0;

	for (i = 0; i < b.tenants; i++)
		sum += b.weight[i];
	for (i = 0; i < b.tenants; i++) {
		double due = (double)b.total * b.weight[i] / sum;
		double is = ((double)b.got[i] - due) / due;

		if (is < 0)
			is = -is;
		if (is > most)
			most = is;
	}
	return (u32)(most * 1000);
}

static void random_tenants(void)
{
	u32 i;

	b.tenants = 2 + any(MAX_TENANTS - 1);
	for (i = 0; i < b.tenants; i++) {
		b.weight[i] = any(3) ? 50 + any(300) : 1 + any(1000);
		b.size[i] = any(2) ? 8 : 1 + any(2048);
	}
}

int main(int argc, char **argv)
{
	u32 runs = argc > 1 ? (u32)atoi(argv[1]) : 60, n, most = 0, least = 0;
	static const u32 paper[] = { 100, 200, 400, 500 };
	struct fair_rules window = { .antic = true, .antic_max = 2000000 };
	struct fair_rules turns = window, one;
	struct flash_budgets sizes = { .standard = 256 };

	b.seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 7;
	acfq_rules(ACFQ_AUTO, 0, FAIR_CHARGE_SECTORS, &window);
	hbfq_rules(HBFQ_AUTO, 0, 0, &sizes, FAIR_CHARGE_SECTORS, &turns);
	one = turns;
	hbfq_rules(HBFQ_PAPER, 0, 0, &sizes, FAIR_CHARGE_SECTORS, &one);

	for (n = 0; n < runs; n++) {
		u32 is;

		random_tenants();
		begin(&window, b.tenants, 1 + any(SLOTS));
		serve(4000);
		is = worst(0);
		most = is > most ? is : most;
	}
	eq(most <= 100, 1,
	   "a window: nobody strays from the others by more than one request of each (%u %%)",
	   most);
	for (n = 0, most = 0; n < runs; n++) {
		u32 is;

		random_tenants();
		begin(&turns, b.tenants, 1 + any(SLOTS));
		serve(4000);
		is = worst((u32)sizes.standard);
		most = is > most ? is : most;
	}
	eq(most <= 200, 1,
	   "budgets in a window: ahead or behind by one budget and one request (%u %%)",
	   most);
	for (n = 0; n < runs; n++) {
		u32 is;

		random_tenants();
		begin(&one, b.tenants, 1 + any(SLOTS));
		serve(4000);
		is = worst((u32)sizes.standard + (b.slots + 1) * 2048);
		least = is > least ? is : least;
	}
	eq(least <= 100, 1, "budgets, one at a time (%u %%)", least);

	b.tenants = 4;
	for (n = 0; n < 4; n++) {
		b.weight[n] = paper[n];
		b.size[n] = n % 2 ? 8 : 256;
	}
	begin(&window, 4, 16);
	serve(20000);
	eq(error() <= 15, 1, "1:2:4:5 in a window, %u/1000 off", error());
	begin(&turns, 4, 16);
	serve(20000);
	eq(error() <= 10, 1, "1:2:4:5 by budgets, %u/1000 off", error());
	begin(&one, 4, 16);
	serve(20000);
	eq(error() <= 30, 1, "1:2:4:5 by budgets, one at a time, %u/1000 off",
	   error());
	/* Deep queues that are not deep enough for any limit */
	b.closed = true;
	for (n = 0; n < 4; n++)
		b.size[n] = 16;
	for (n = 0; n < 2; n++) {
		begin(n ? &turns : &window, 4, 0);
		m.s.dev.pace.climb.limit = FAIR_LIMIT_MAX;
		serve(20000);
		eq(error() <= 10, 1, "1:2:4:5, %u requests each, %u/1000 off",
		   BACKLOG, error());
	}
	b.closed = false;
	acfq_rules(ACFQ_PAPER, 5000, FAIR_CHARGE_SECTORS, &window);
	begin(&window, 4, 16);
	serve(40000);
	eq(error() <= 60, 1, "1:2:4:5 by slices, %u/1000 off", error());
	return tap_done();
}
