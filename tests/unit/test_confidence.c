// SPDX-License-Identifier: GPL-2.0
/* Whether a layout pays: six standard errors and a tenth, never by luck. */
#include "piq/learn.c"
#include "tap.h"

#include <math.h>

static bool trusts(const struct piq_evidence *c)
{
	return piq_evidence_pct(c) == 100;
}

static struct piq_evidence c;

/* Exponential times with this mean in ns: as scattered as latencies are. */
static u64 exponential(unsigned long long *seed, double mean)
{
	return (u64)(-mean * log((tap_rand(seed) + 1.0) / 2147483649.0));
}

static void too_little(void)
{
	int i;

	piq_evidence_reset(&c);
	eq(piq_evidence_pct(&c), 0, "nothing is known: no confidence");
	for (i = 0; i < PIQ_TRUST_MIN; i++)
		piq_evidence_note(&c, false, 50000);
	for (i = 0; i < PIQ_TRUST_MIN - 1; i++)
		piq_evidence_note(&c, true, 100000);
	eq(trusts(&c), 0, "63 conflicts are too few");
	piq_evidence_note(&c, true, 100000);
	eq(trusts(&c), 1, "64 that take twice as long are not");
	piq_evidence_reset(&c);
	eq(piq_evidence_pct(&c), 0, "another layout: all is forgotten");
}

/* Times without scatter: only the effect counts. */
static void effect(void)
{
	static const struct {
		u64 none, some;
		u32 pct;
	} want[] = {
		{ 1024000, 1024000, 0 }, { 1024000, 900000, 0 },
		{ 1024000, 1024000 * 105 / 100, 50 },
		{ 1024000, 1024000 * 109 / 100, 90 },
		{ 1024000, 1024000 * 110 / 100, 100 },
		{ 1024000, 2048000, 100 }, { 0, 0, 0 }, { 0, 51200, 100 },
	};
	unsigned int i;
	int n;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		piq_evidence_reset(&c);
		for (n = 0; n < 1000; n++) {
			piq_evidence_note(&c, false, want[i].none);
			piq_evidence_note(&c, true, want[i].some);
		}
		eq(piq_evidence_pct(&c), want[i].pct,
		   "%llu ns without and %llu ns with a conflict",
		   (unsigned long long)want[i].none,
		   (unsigned long long)want[i].some);
		eq(trusts(&c), want[i].pct == 100,
		   "trusted or not");
	}
}

/* The integers against doubles, for means and scatters of many sizes. */
static void against_doubles(void)
{
	unsigned long long seed = 1;
	int bad = 0, round, i, k;

	for (round = 0; round < 300; round++) {
		double sum[2] = { 0 }, squares[2] = { 0 }, mean[2], error = 0;
		/* From 30 us to 1 s */
		double base = 30000.0 * (1 << round % 16), z, part, want;
		int n[2] = { 64 + (int)(tap_rand(&seed) % 3000),
			     64 + (int)(tap_rand(&seed) % 3000) };

		piq_evidence_reset(&c);
		for (k = 0; k < 2; k++) {
			double m = base * (1 + k * 0.01 *
					   (tap_rand(&seed) % 40));

			for (i = 0; i < n[k]; i++) {
				u64 ns = (u64)m + exponential(&seed, m / 3);
				double us = fmin((double)(ns >> 10), 1 << 23);

				piq_evidence_note(&c, k, ns);
				sum[k] += us;
				squares[k] += us * us;
			}
			mean[k] = sum[k] / n[k];
			error += (squares[k] / n[k] - mean[k] * mean[k]) / n[k];
		}
		z = (mean[1] - mean[0]) / sqrt(error);
		part = (mean[1] - mean[0]) / mean[0];
		want = z / 6 < part / 0.1 ? z / 6 : part / 0.1;
		want = want < 0 ? 0 : want > 1 ? 100 : 100 * want;
		if (fabs(want - piq_evidence_pct(&c)) > 2)
			bad++;
	}
	eq(bad, 0, "300 pairs of kinds: within 2 points of the formula");
}

/* A wrong layout: both sorts of requests take the same times. */
static void no_luck(void)
{
	unsigned long long seed = 7;
	int trusted = 0, round, i;

	for (round = 0; round < 300; round++) {
		piq_evidence_reset(&c);
		for (i = 0; i < 5000; i++) {
			piq_evidence_note(&c, tap_rand(&seed) % 4 == 0,
					      exponential(&seed, 100000));
			trusted += trusts(&c);
		}
	}
	eq(trusted, 0, "a wrong layout: never trusted in 1.5 million looks");
}

/* Latencies of seconds, by the million. */
static void slow_device(void)
{
	unsigned long long seed = 3;
	int i, round, trusted = 0;

	/* A fifth longer, but scattered: a few hundred prove nothing. */
	for (round = 0; round < 20; round++) {
		piq_evidence_reset(&c);
		for (i = 0; i < 600; i++)
			piq_evidence_note(&c, i & 1,
				exponential(&seed, i & 1 ? 2.4e9 : 2e9));
		trusted += trusts(&c);
	}
	eq(trusted, 0, "slow device: 600 requests of 2 s are too few");
	piq_evidence_reset(&c);
	for (i = 0; i < 100000; i++)
		piq_evidence_note(&c, i & 1,
			exponential(&seed, i & 1 ? 2.4e9 : 2e9));
	eq(trusts(&c), 1, "slow device: 100000 are enough");
	piq_evidence_reset(&c);
	for (i = 0; i < 3000000; i++)
		piq_evidence_note(&c, i & 1, i & 1 ? 8000000000 :
						  4000000000);
	eq(piq_evidence_pct(&c), 100, "slow device: 4 s against 8 s");
	piq_evidence_reset(&c);
	for (i = 0; i < 3000000; i++)
		piq_evidence_note(&c, i & 1, 8000000000 +
				      exponential(&seed, 5e8));
	eq(trusts(&c), 0, "slow device: all take 8 s");
	piq_evidence_reset(&c);
	for (i = 0; i < 3000000; i++)
		piq_evidence_note(&c, i & 1, ~0ULL);
	eq(piq_evidence_pct(&c), 0, "slow device: as long as can be");
}

/* A layout that becomes wrong, and right again */
static void forgets(void)
{
	int i;

	piq_evidence_reset(&c);
	for (i = 0; i < 1000000; i++)
		piq_evidence_note(&c, i & 1, i & 1 ? 200000 : 100000);
	eq(trusts(&c), 1, "a million requests say it pays");
	for (i = 0; i < 1000000 && trusts(&c); i++)
		piq_evidence_note(&c, i & 1, 100000);
	eq(i > 10000 && i < 500000, 1,
	   "it pays no more: known after %d requests", i);
	for (i = 0; i < 1000000 && !trusts(&c); i++)
		piq_evidence_note(&c, i & 1, i & 1 ? 200000 : 100000);
	eq(i < 500000, 1, "and that it pays again after %d", i);
	for (i = 0; i < 1000000; i++)
		piq_evidence_note(&c, false, 100000);
	eq(trusts(&c), 1,
	   "conflicts that no longer happen are not forgotten");
}

/* With time half of the evidence is forgotten, but not that of rare requests. */
static void ages(void)
{
	u32 i;

	piq_evidence_reset(&c);
	for (i = 0; i < 16384; i++)
		piq_evidence_note(&c, i % 100 == 0, i % 100 ? 50000 : 90000);
	piq_evidence_age(&c);
	eq(c.times[0].nr, (16384 - 164) / 2, "half of the many is forgotten");
	eq(c.times[1].nr, 164, "and none of 164 conflicts");
	for (i = 0; i < PIQ_TRUST_RETAINED - 164; i++)
		piq_evidence_note(&c, true, 90000);
	piq_evidence_age(&c);
	eq(c.times[1].nr, PIQ_TRUST_RETAINED / 2, "but of 256 half");
	eq(trusts(&c), 1, "and it still pays");
}

int main(void)
{
	ages();
	too_little();
	effect();
	against_doubles();
	no_luck();
	slow_device();
	forgets();
	return tap_done();
}
