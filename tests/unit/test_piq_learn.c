// SPDX-License-Identifier: GPL-2.0
/*
 * What PIQ finds out on a model of a device: whether a layout pays, and how many
 * requests a device without one needs.
 */
#include "piq.h"

static struct dev d;

#define READS	30000

/*
 * Random one-page reads in a closed loop, @burst of them at a time. Returns the
 * number of the first one that ended while the layout was trusted; 0: none did.
 */
static u32 load(const char *map, const char *real, u32 backlog, u32 burst,
		u32 bound)
{
	struct piq_tunables tun = piq_usual();
	unsigned long long seed = 21;
	u32 i, n, first = 0;

	dev_init(&d, PIQ_AUTO, map, &tun);
	flash_geometry_parse(real, &d.real);
	d.s.trusted = false;
	d.learning = true;
	d.user_bound = bound;
	for (i = 0; i < backlog; i++)
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	for (n = 0; n < READS; n++) {
		step(&d);
		if (!first && d.s.trusted)
			first = n + 1;
		if (burst == 1 || !d.nr_out) {
			for (i = 0; i < burst; i++)
				insert(&d, PIQ_READ,
				       tap_rand(&seed) % 65536 * 8, 8);
		}
		if (d.nr + burst > MAX_RQ)
			break;
	}
	return first;
}

static void right(const char *map, u32 backlog, u32 burst)
{
	u32 first = load(map, map, backlog, burst, 0);

	printf("# trusted after %u\n", first);
	eq(first > 0 && first < 3000, 1,
	   "%s is right: trusted with %u waiting, by %u", map, backlog, burst);
	drain(&d);
	at_rest(&d, "a right map");
}

static void wrong(const char *map, const char *real, u32 backlog, u32 burst)
{
	eq(load(map, real, backlog, burst, 0), 0,
	   "%s is wrong: never trusted with %u waiting, by %u", map, backlog,
	   burst);
	eq(piq_learn_pct(&d.s, &d.l) < 100, 1, "and not sure");
	drain(&d);
	at_rest(&d, "a wrong map");
}

/* A right layout is put to the test again, and stays. */
static void again(void)
{
	u32 i, n, tests = 0, blind = 0;
	unsigned long long seed = 4;
	bool was;

	load("page=4096 chips=16", "page=4096 chips=16", 64, 1, 0);
	drain(&d);
	d.nr = d.done = d.nr_trace = 0;
	was = d.s.trusted;
	for (i = 0; i < 64; i++)
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	for (n = 0; n < READS; n++) {
		step(&d);
		tests += was && !d.s.trusted;
		was = d.s.trusted;
		blind += !was;
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	}
	printf("# %u tests, %u of %u reads in them\n", tests, blind, READS);
	eq(tests >= 1 && tests <= 2, 1, "tested again every 16384 requests");
	eq(blind < READS / 20, 1, "which costs little");
}

/* It turns wrong: given up at the next test. */
static void turns_wrong(void)
{
	unsigned long long seed = 6;
	u32 i, n;

	load("page=4096 chips=16", "page=4096 chips=16", 64, 1, 0);
	eq(d.s.trusted, 1, "a right map");
	drain(&d);
	d.nr = d.done = d.nr_trace = 0;
	flash_geometry_parse("page=4096 terms=16:16:1", &d.real);
	for (i = 0; i < 64; i++)
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	for (n = 0; n < READS; n++) {
		step(&d);
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	}
	eq(d.s.trusted, 0, "that turned wrong is given up");
}

/* No layout: 256 chips want more than the start, one wants no more. */
static void bounds(void)
{
	u32 few, many;

	load("none", "page=4096 chips=256", 1000, 1, 0);
	many = piq_bound(&d.s, &d.l, 0);
	load("none", "page=4096 chips=2", 1000, 1, 0);
	few = piq_bound(&d.s, &d.l, 0);
	printf("# bound %u for 256 chips, %u for 2\n", many, few);
	eq(many > PIQ_BOUND_START, 1, "256 chips: it opens");
	eq(few < 2 * PIQ_BOUND_START, 1, "2 chips: it does not need to");
	eq(piq_bound(&d.s, &d.l, 7), 7, "what the user says counts");
}

/* A backlog of one, that there always is, is enough to see the bound bind. */
static void one_waits(void)
{
	struct piq_tunables tun = piq_usual();
	u32 i, n, extra;

	for (extra = 0; extra < 2; extra++) {
		dev_init(&d, PIQ_AUTO, "none", &tun);
		flash_geometry_parse("page=4096 chips=16", &d.real);
		d.learning = true;
		for (i = 0; i < PIQ_BOUND_START + extra; i++)
			insert(&d, PIQ_READ, i * 8, 8);
		for (n = 0; n < 32; n++) {
			step(&d);
			insert(&d, PIQ_READ, n * 8, 8);
		}
		eq(d.l.pace.full, extra, "%u more than the bound: it %s", extra,
		   extra ? "binds" : "does not bind");
		drain(&d);
	}
}

/* The user sets a bound between the two windows of a pair: no such pair. */
static void between_windows(void)
{
	struct piq_tunables tun = piq_usual();
	u32 n;

	dev_init(&d, PIQ_AUTO, "none", &tun);
	flash_geometry_parse("page=4096 chips=16", &d.real);
	d.learning = true;
	for (n = 0; n < 100; n++)
		insert(&d, PIQ_READ, n * 8, 8);
	for (n = 0; n < 10000 && !d.l.pace.climb.second; n++) {
		step(&d);
		insert(&d, PIQ_READ, n * 8, 8);
	}
	eq(d.l.pace.climb.second, true, "half of a pair");
	piq_learn_done(&d.s, &d.l, &d.it[d.out[0]], 7, d.now);
	eq(d.l.pace.climb.second, false, "is no pair with what comes after a bound");
	drain(&d);
}

/*
 * Two reads at a time on 256 chips, of which one in @every meets the other: how
 * many until a right map is trusted; 0: it never is.
 */
static u32 rare(u32 every)
{
	struct piq_tunables tun = piq_usual();
	unsigned long long seed = 8;
	u32 n, chip = 0;

	dev_init(&d, PIQ_AUTO, "page=4096 chips=256", &tun);
	d.s.trusted = false;
	d.learning = true;
	insert(&d, PIQ_READ, 0, 8);
	insert(&d, PIQ_READ, 8, 8);
	for (n = 1; n < MAX_RQ - 2; n++) {
		step(&d);
		if (d.s.trusted)
			return n;
		/* Else both would begin at the same time, for ever. */
		d.now += tap_rand(&seed) % 20000;
		chip = d.it[d.out[0]].chip;
		insert(&d, PIQ_READ, (chip + !!(n % every)) % 256 * 8, 8);
	}
	return 0;
}

static void rare_conflicts(void)
{
	static const u32 every[] = { 20, 100, 400 };
	u32 i, n;

	for (i = 0; i < 3; i++) {
		n = rare(every[i]);
		printf("# one conflict in %u: trusted after %u\n", every[i], n);
		eq(n >= 64 * every[i] && n <= 128 * every[i], 1,
		   "one in %u conflicts: trusted after some 64 conflicts",
		   every[i]);
		drain(&d);
	}
}

int main(void)
{
	one_waits();
	between_windows();
	rare_conflicts();
	right("page=4096 chips=16", 128, 1);
	right("page=4096 chips=16", 16, 1);
	right("page=4096 chips=4", 64, 1);
	right("page=2048 chips=64", 64, 1);
	right("page=4096 terms=1:4:1,32:4:4", 64, 1);
	right("page=4096 chips=16", 64, 40);
	wrong("page=4096 chips=16", "page=4096 terms=16:16:1", 128, 1);
	wrong("page=4096 chips=16", "page=4096 chips=13", 64, 1);
	wrong("page=4096 chips=4", "page=4096 terms=4:4:1", 64, 1);
	wrong("page=4096 chips=16", "page=4096 terms=16:16:1", 64, 40);
	wrong("page=4096 chips=16", "page=4096 chips=1", 32, 1);
	again();
	turns_wrong();
	bounds();
	return tap_done();
}
