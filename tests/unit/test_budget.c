// SPDX-License-Identifier: GPL-2.0
/* Algorithms 1 and 2 of the paper, averages, weights and virtual time. */
#include <string.h>

#include "common/share/tenant.h"
#include "tap.h"

static void algorithm2(void)
{
	static const struct {
		u64 budget, used;
		enum flash_reason why;
		u32 n;
		u64 next;
	} v[] = {
		{ 16384, 16384, FLASH_EXHAUSTED, 1, 16384 },
		{ 16384, 16384, FLASH_EXHAUSTED, 4, 4096 },
		{ 16384, 16384, FLASH_EXHAUSTED, 31, 528 },
		{ 16384, 16384, FLASH_EXHAUSTED, 32, 512 },
		{ 16384, 16384, FLASH_EXHAUSTED, 64, 512 },
		{ 4096, 4096, FLASH_EXHAUSTED, 4, 4096 },
		{ 16384, 16000, FLASH_EXPIRED, 4, 16384 },
		{ 16384, 10000, FLASH_IDLE, 4, 6384 },
		{ 16384, 15872, FLASH_IDLE, 4, 16384 },
		{ 16384, 15871, FLASH_IDLE, 4, 513 },
		{ 4096, 3000, FLASH_EXPIRED, 4, 1096 },
		{ 1096, 600, FLASH_IDLE, 4, 16384 },
		/* The last request needed more than there was. */
		{ 4096, 5000, FLASH_EXHAUSTED, 4, 4096 },
		{ 4096, 5000, FLASH_EXPIRED, 4, 16384 },
	};
	struct flash_budgets b = { .standard = 16384 };
	u32 i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		eq(flash_budget_next(&b, v[i].budget, v[i].used, v[i].why,
				     v[i].n), v[i].next,
		   "budget %llu, used %llu, reason %d, %u tenants",
		   (unsigned long long)v[i].budget,
		   (unsigned long long)v[i].used, v[i].why, v[i].n);
	b.exhausted = 128;
	eq(flash_budget_next(&b, 16384, 16384, FLASH_EXHAUSTED, 4), 128,
	   "a budget after exhaustion that is set may be below the least one");
	eq(flash_budget_next(&b, 16384, 16000, FLASH_IDLE, 4), 16384,
	   "and counts after nothing else");
	b.least = 1000;
	eq(flash_budget_next(&b, 16384, 15384, FLASH_IDLE, 4), 16384,
	   "a least budget that is set");
	b.standard = 1;
	b.least = 0;
	b.exhausted = 0;
	eq(flash_budget_next(&b, 1, 1, FLASH_EXHAUSTED, 9), 1,
	   "never without a budget");
}

static void algorithm1(void)
{
	static const struct {
		bool idle;
		u64 wait, avg;
		bool ends;
	} v[] = {
		{ false, 99, 10, false }, { true, 5, 10, false },
		{ true, 10, 10, true }, { true, 11, 10, true },
		{ true, 0, 0, true }, { false, 0, 0, false },
	};
	struct flash_gap g = { .known = false };
	u32 i;

	for (i = 0; i < sizeof(v) / sizeof(v[0]); i++)
		eq(flash_gap_switch(v[i].idle, v[i].wait, v[i].avg), v[i].ends,
		   "idle %d, has waited %llu, mean %llu", v[i].idle,
		   (unsigned long long)v[i].wait, (unsigned long long)v[i].avg);

	eq(flash_gap_average(0, 800), 100, "the mean after one of 800");
	eq(flash_gap_average(100, 800), 187, "after two");
	eq(flash_gap_average(187, 800), 263, "after three");
	eq(flash_gap_average(800, 100), 712, "and down again");
	eq(flash_gap_average(712, 100), 635, "once more");

	eq(flash_gap_wait(&g, 2000), 2000, "before the first gap: the cap");
	flash_gap_add(&g, 2001, 2000);
	eq(g.known, 0, "one above the cap does not count");
	flash_gap_add(&g, 800, 2000);
	eq(flash_gap_wait(&g, 2000), 800, "the first gap sets it");
	flash_gap_add(&g, 100, 2000);
	eq(g.ns, 712, "the next one moves it");
	eq(flash_gap_wait(&g, 500), 500, "nobody is waited for beyond the cap");
	g.ns = 100;
	flash_gap_add(&g, 800, 2000);
	eq(g.ns, 187, "eight times as long still counts");
	g.ns = 100;
	flash_gap_add(&g, 908, 2000);
	eq(g.ns, 100, "longer does not");
	g.ns = 0;
	flash_gap_add(&g, 80, 2000);
	eq(g.ns, 10, "a mean of nothing can rise");

	g = (struct flash_gap){ .known = true, .ns = 100 };
	for (i = 0; i < 100; i++)
		flash_gap_add(&g, i % 8 ? 1900 : 100, 2000);
	eq(g.ns, 100, "seven long ones between two others do not count");
	for (i = 0; i < 7; i++)
		flash_gap_add(&g, 1900, 2000);
	eq(g.ns, 1900, "but eight in a row are the mean");
	g.ns = 100;
	for (i = 0; i < 7; i++)
		flash_gap_add(&g, 1900, 2000);
	eq(g.ns, 100, "and eight more the next one");
}

static void gaps(void)
{
	eq(flash_budget_gap(4000000, 100, 400), 500000, "an eighth of 4 ms");
	eq(flash_budget_gap(4000000, 500, 1200), 833333, "by weight");
	eq(flash_budget_gap(1000, 100, 100), 1000, "alone: the gap itself");
	eq(flash_budget_gap(1000, 100, 0), 1000, "nobody");
	eq(flash_budget_gap(3, 1, 2000), 1, "never nothing");
	eq(flash_budget_gap(1000000000, 1000, 256000), 1953125, "as many as can be");
	eq(flash_slice_of(20, 100), 20, "a slice of the default weight");
	eq(flash_slice_of(20, 500), 100, "of five times that");
}

static void virtual_time(void)
{
	eq(flash_vtime_of(8, 2), 4 << FLASH_VTIME_SHIFT, "8 by weight 2");
	eq(flash_vtime_of(~0ULL, 1), (u64)FLASH_CHARGE_MAX << FLASH_VTIME_SHIFT,
	   "no charge overflows");
	eq(flash_vtime_before(~0ULL - 5, 3), 1, "virtual time may wrap");
	eq(flash_vtime_max(~0ULL - 5, 3), 3, "the later one has wrapped");
	eq(flash_vtime_before(7, 7), 0, "not before itself");
}

static void prios(void)
{
	eq(flash_prio_weight(flash_prio(FLASH_PRIO_BE, 4)), 100, "BE 4");
	eq(flash_prio_weight(flash_prio(FLASH_PRIO_BE, 0)), 200, "BE 0");
	eq(flash_prio_weight(flash_prio(FLASH_PRIO_BE, 7)), 25, "BE 7");
	eq(flash_prio_weight(flash_prio(FLASH_PRIO_RT, 0)), 1000, "RT 0");
	eq(flash_prio_weight(flash_prio(FLASH_PRIO_RT, 7)), 125, "RT 7");
	eq(flash_prio_weight(flash_prio(FLASH_PRIO_IDLE, 0)), 1, "idle");
}

static int parse(const char *text, size_t *who, u64 *id, u32 *weight)
{
	*who = 77;
	*id = 77;
	*weight = 77;
	return flash_groups_parse(text, FLASH_WEIGHT_MIN, FLASH_WEIGHT_MAX, who,
				  id, weight);
}

static void weights(void)
{
	static struct flash_weights w;
	static const char * const bad[] = {
		"", " ", "5", "/a", "/a ", " 5", "x 5", "5 x", "5 5x", "-5 5",
		"5 -5", "5 +5", "5 0x5", "5 1.5", "a/b 5", "5 5 5", "1 Default",
	};
	static const char * const far[] = {
		"5 0", "5 1001", "0 5", "99999999999999999999 5",
		"5 99999999999999999999", "/a 0", "/a b 1001",
	};
	size_t who;
	u64 id;
	u32 weight, i, seen = 0;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		eq(parse(bad[i], &who, &id, &weight), -EINVAL,
		   "'%s' is no entry", bad[i]);
		seen += who == 77 && id == 77 && weight == 77;
	}
	eq(seen, sizeof(bad) / sizeof(bad[0]), "nothing is set after errors");
	for (i = 0; i < sizeof(far) / sizeof(far[0]); i++)
		eq(parse(far[i], &who, &id, &weight), -ERANGE,
		   "'%s' is beyond the limits", far[i]);
	eq(parse("42 1000", &who, &id, &weight), 0, "a number");
	eq(id, 42, "its number");
	eq(weight, 1000, "its weight");
	eq(parse("/a b/c 1", &who, &id, &weight), 0, "a path with a blank");
	eq(who, 6, "its length");
	eq(id, 0, "and no number");
	eq(parse("/ default", &who, &id, &weight), 0, "the root");
	eq(weight, FLASH_GROUP_NONE, "gets its default back");

	for (i = 0; i < FLASH_WEIGHTS; i++)
		seen = (u32)flash_weights_set(&w, (i * 389ULL) % FLASH_WEIGHTS +
					      10, i % 1000 + 1);
	eq(w.nr, FLASH_WEIGHTS, "as many as fit");
	for (i = 1, seen = 1; i < w.nr; i++)
		seen += w.w[i - 1].id < w.w[i].id;
	eq(seen, FLASH_WEIGHTS, "in their order");
	eq(flash_weights_get(&w, (5 * 389) % FLASH_WEIGHTS + 10), 6, "one of them");
	eq(flash_weights_set(&w, 5, 5), -ENOSPC, "one more");
	eq(flash_weights_get(&w, 5), 100, "has the default");
	eq(flash_weights_set(&w, 5, FLASH_GROUP_NONE), 0, "which can be set");
	eq(flash_weights_set(&w, 10, 7), 0, "one that is there can change");
	eq(flash_weights_get(&w, 10), 7, "and does");
	eq(flash_weights_set(&w, 500, FLASH_GROUP_NONE), 0, "and go");
	eq(flash_weights_get(&w, 500), 100, "then it has the default");
	eq(w.nr, FLASH_WEIGHTS - 1, "there is room again");
	eq(flash_weights_get(&w, FLASH_WEIGHTS + 9), w.w[w.nr - 1].value,
	   "the last one is where it was");
	eq(flash_weights_set(&w, ~0ULL, 3), 0, "the largest number");
	eq(flash_weights_get(&w, ~0ULL), 3, "is found");
}

int main(void)
{
	algorithm2();
	algorithm1();
	gaps();
	virtual_time();
	prios();
	weights();
	return tap_done();
}
