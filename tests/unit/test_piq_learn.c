// SPDX-License-Identifier: GPL-2.0
/*
 * What PIQ learns on a model of a device: whether a layout pays, how many requests a device
 * without a layout needs, and how many each chip.
 */
#include "piq.h"

static struct dev d;

#define READS	30000

/*
 * Random one-page reads in a closed loop, @burst of them at a time. Returns the
 * number of the first one that ended while the layout was trusted; 0: none did.
 */
static u32 load(const char *map, const char *real, u32 backlog, u32 burst,
		u32 limit)
{
	struct piq_tunables tun = piq_usual();
	unsigned long long seed = 21;
	u32 i, n, first = 0;

	dev_init(&d, PIQ_AUTO, map, &tun);
	flash_geometry_parse(real, &d.real);
	d.s.trusted = false;
	d.learning = true;
	d.user_limit = limit;
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

/*
 * Requests that were dispatched by the layout, those of them sent to a full chip, and the
 * number of reviews of the layout, at each of which piq_learn.since is reset.
 */
static u32 nr_aware, nr_probes, nr_looks;

/* @reads in a closed loop; returns how many completed while the map was distrusted. */
static u32 go_on(u32 reads)
{
	unsigned long long seed = 4;
	u32 i, n, since = 0, blind = 0, compared;

	drain(&d);
	d.nr = d.done = d.nr_trace = nr_probes = nr_aware = nr_looks = 0;
	for (i = 0; i < 64; i++)
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	for (n = 0; n < reads; n++) {
		compared = d.l.since;
		i = step(&d);
		blind += !d.s.trusted;
		nr_looks += d.l.since < compared;
		/* Outstanding requests were dispatched before the change. */
		since = piq_aware(&d.s) ? since + 1 : 0;
		nr_aware += since > 64;
		nr_probes += since > 64 && d.req[i].start.busy;
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	}
	return blind;
}

/* A right layout is reviewed repeatedly and stays trusted. */
static void again(void)
{
	u32 blind;

	load("page=4096 chips=16", "page=4096 chips=16", 64, 1, 0);
	d.rush = true;
	blind = go_on(70000);
	printf("# %u of %u reads to a busy chip\n", nr_probes, nr_aware);
	eq(nr_looks >= 2, 1, "looked at %u times", nr_looks);
	eq(blind, 0, "it stays trusted");
	eq(nr_aware > 20000, 1, "and is gone by");
	eq(nr_probes > nr_aware / PIQ_PROBE_NTH / 2 &&
	   nr_probes <= 2 * nr_aware / PIQ_PROBE_NTH + 64, 1,
	   "about one in %d goes to a busy chip", PIQ_PROBE_NTH);
	/* As after a change of mode or offset. */
	eq(piq_learn_pct(&d.s, &d.l), 100, "and sure");
	piq_learn_forget(&d.s, &d.l);
	eq(piq_learn_pct(&d.s, &d.l), 0, "what is forgotten is not sure");
}

/* A layout that becomes wrong is distrusted after some reviews. */
static void turns_wrong(void)
{
	load("page=4096 chips=16", "page=4096 chips=16", 64, 1, 0);
	eq(d.s.trusted, 1, "a right map");
	d.rush = true;
	flash_geometry_parse("page=4096 terms=16:16:1", &d.real);
	/* The evidence for it has to be outweighed. */
	go_on(70000);
	go_on(70000);
	eq(piq_aware(&d.s), 0, "that turned wrong is given up");
}

/* Sectors of every other 32 KiB */
static u64 every_other(u32 n)
{
	return (n / 8 * 16 + n % 8) * 8;
}

/*
 * 16 slow chips, and a layout of the chips or of larger parts. A window is 80 requests, so
 * the test is short.
 */
static void slow_chips(const char *map)
{
	struct piq_tunables tun = piq_usual();

	tun.chip_depth = 0;
	dev_init(&d, PIQ_AUTO, map, &tun);
	flash_geometry_parse("page=4096 chips=16", &d.real);
	d.learning = true;
	d.ns[FLASH_READ] = 800000;
}

/*
 * A layout of large parts of the device, and all requests of a time want one part: with a
 * depth of 1 one is outstanding. The device is not idle then, as others wait.
 */
static void one_out(void)
{
	u32 i, n, low = 0;

	slow_chips("page=32768 chips=2");
	d.rush = true;
	/* 1 was enough for another load. */
	d.l.deep.climb.limit = 1;
	d.l.deep.climb.down = false;
	d.l.deep.climb.rests = FLASH_CLIMB_REST_MAX;
	flash_climb_rest(&d.l.deep.climb);
	piq_follow_depth(&d.s, &d.l);
	for (i = 0; i < 64; i++)
		insert(&d, PIQ_READ, every_other(i), 8);
	for (n = 0; n < 60000; n++) {
		piq_trust(&d.s);
		step(&d);
		low += n >= 50000 && d.s.depth == 1;
		insert(&d, PIQ_READ, every_other(i++), 8);
	}
	eq(low < 1000, 1, "one at a time is not for ever: %u of 10000", low);
	drain(&d);
	at_rest(&d, "one out");
}

/*
 * The chip depth that is found, and the part of the time that chips are busy, if the device
 * takes @firmware ns before a chip begins
 */
static void depth(u64 firmware, u32 least, u32 most)
{
	unsigned long long seed = 3;
	u64 begun = 0, busy;
	u32 i, n;

	slow_chips("page=4096 chips=16");
	d.firmware = firmware;
	d.rush = true;
	for (i = 0; i < 256; i++)
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	for (n = 0; n < 40000; n++) {
		if (n == 20000)
			begun = d.now;
		step(&d);
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	}
	busy = 20000 * d.ns[FLASH_READ] * 100 / 16 / (d.now - begun);
	eq(d.s.depth >= least && d.s.depth <= most, 1,
	   "%llu us before the chip: %u on each",
	   (unsigned long long)firmware / 1000, d.s.depth);
	eq(busy >= 92, 1, "which work %llu %% of the time",
	   (unsigned long long)busy);
	drain(&d);
	at_rest(&d, "depths");
}

/* No layout: 256 chips need more than the first limit, 2 chips do not. */
static void limits(void)
{
	u32 few, many;

	load("none", "page=4096 chips=256", 1000, 1, 0);
	many = piq_limit(&d.s, &d.l, 0);
	load("none", "page=4096 chips=2", 1000, 1, 0);
	few = piq_limit(&d.s, &d.l, 0);
	printf("# limit %u for 256 chips, %u for 2\n", many, few);
	eq(many > PIQ_BOUND_START, 1, "256 chips: it opens");
	eq(few < 2 * PIQ_BOUND_START, 1, "2 chips: it does not need to");
	eq(piq_limit(&d.s, &d.l, 7), 7, "what the user says counts");
}

/* A permanent backlog of one request shows that the in-flight limit holds some back. */
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
		eq(d.l.pace.full, extra, "%u more than the limit: it %s", extra,
		   extra ? "binds" : "does not bind");
		drain(&d);
	}
}

/* The user sets a limit between two windows: these are no pair. */
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
	piq_learn_completion(&d.s, &d.l, &d.req[d.out[0]], 7, d.now);
	eq(d.l.pace.climb.second, false, "is no pair with what comes after a limit");
	drain(&d);
}

/*
 * Two reads at a time on 256 chips, of which one in @every conflicts with the other; returns
 * how many there are until a right map is trusted, 0: it never is.
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
		/* Otherwise both would always begin at the same time. */
		d.now += tap_rand(&seed) % 20000;
		chip = d.req[d.out[0]].chip;
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

/*
 * The layout is right, but by it all requests of a time are for one chip, while the device
 * could use more: as if the layout was right for some pages only.
 */
static void costs(void)
{
	u32 i, n, blind = 0;

	slow_chips("page=524288 chips=2");
	d.user_limit = 48;
	for (i = 0; i < 64; i++)
		insert(&d, PIQ_READ, i * 8, 8);
	for (n = 0; n < 30000; n++) {
		/* It stays trusted whatever is learned. */
		piq_trust(&d.s);
		step(&d);
		blind += n >= 20000 && d.s.blind;
		insert(&d, PIQ_READ, i++ * 8, 8);
	}
	eq(blind > 9000, 1, "a layout that costs throughput is left: %u of 10000",
	   blind);
	eq(d.l.pays.climb.opened, 1, "by comparison");
	drain(&d);
	at_rest(&d, "a layout that costs");
}

/* @ends completions of reads, and writes if @both; returns how many were by the layout. */
static u32 by_layout(u32 ends, bool both)
{
	static unsigned long long seed = 6;
	u32 n, aware = 0;

	for (n = 0; n < ends; n++) {
		enum piq_kind kind = d.req[step(&d)].kind;

		piq_trust(&d.s);
		aware += piq_aware(&d.s);
		if (both)
			kind = n & 1 ? PIQ_READ : PIQ_WRITE;
		else
			kind = PIQ_READ;
		insert(&d, kind, tap_rand(&seed) % 65536 * 8, 8);
	}
	return aware;
}

/* If no request is preferred, the device's own queues are enough. */
static void matters(void)
{
	struct piq_tunables tun = piq_usual();
	unsigned long long seed = 5;
	u32 i, n;

	tun.chip_depth = 0;
	dev_init(&d, PIQ_AUTO, "page=4096 chips=16", &tun);
	d.learning = true;
	for (i = 0; i < 64; i++)
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	by_layout(1000, false);
	eq(by_layout(3000, false), 0, "reads only: not by the layout");
	by_layout(1000, true);
	n = by_layout(10000, true);
	eq(n > 7000, 1, "reads and writes: by the layout, %u of 10000", n);
	by_layout(12000, false);
	eq(by_layout(1000, false), 0, "reads only again");
	d.req[d.nr].urgent = true;
	insert(&d, PIQ_READ, 0, 8);
	by_layout(64, false);
	eq(by_layout(1000, false), 1000, "a real-time request: by the layout");
	d.now += PIQ_URGENT_NS;
	by_layout(64, false);
	eq(by_layout(1000, false), 0, "a second later no more");
	d.s.tun.chip_depth = 2;
	by_layout(64, false);
	eq(by_layout(1000, false), 1000, "the user has set a depth");
	drain(&d);
	at_rest(&d, "what matters");
}

/* @ends completions of a closed loop; returns how many were at a chip depth of 1. */
static u32 given_one(u32 ends, bool both)
{
	u32 n, one = 0;

	for (n = 0; n < ends; n++) {
		by_layout(1, both && n & 1);
		one += d.s.depth == 1;
	}
	return one;
}

/* A depth of 1 is enough here; with reads and writes it is never used. */
static void depth_mixed(void)
{
	struct piq_tunables tun = piq_usual();
	unsigned long long seed = 9;
	u32 i, one;

	tun.chip_depth = 0;
	dev_init(&d, PIQ_AUTO, "page=4096 chips=16", &tun);
	d.learning = true;
	d.ns[FLASH_READ] = d.ns[FLASH_WRITE] = 200000;
	for (i = 0; i < 64; i++)
		insert(&d, i & 1 ? PIQ_READ : PIQ_WRITE,
		       tap_rand(&seed) % 65536 * 8, 8);
	given_one(1000, true);
	eq(d.l.mixed && d.l.deep.climb.start == 2, 1, "reads and writes");
	one = given_one(25000, true);
	eq(d.l.deep.climb.trials >= 1, 1, "depths are tried: %u times",
	   d.l.deep.climb.trials);
	eq(one, 0, "but never one for each chip");
	eq(d.l.deep.climb.limit, 2, "of which two are enough");
	d.rush = true;
	one = given_one(15000, true);
	eq(one > 0, 1, "real-time ones beside them: one is tried, %u of 15000",
	   one);
	given_one(12000, false);
	eq(!d.l.mixed && d.l.deep.climb.start == 1, 1, "reads only");
	one = given_one(20000, false);
	eq(one > 10000, 1, "one is enough for these: %u of 20000", one);
	drain(&d);
	at_rest(&d, "depths of a mixed load");
}

/*
 * A real-time request every other second: the search continues where it was each time, or
 * it would never find what this device needs.
 */
static void depth_beside_few(void)
{
	struct piq_tunables tun = piq_usual();
	u32 i, n, times = 0, least = 1;
	unsigned long long seed = 9;
	u64 next;

	tun.chip_depth = 0;
	dev_init(&d, PIQ_AUTO, "page=4096 chips=16", &tun);
	d.learning = true;
	d.firmware = 12000000;
	d.ns[FLASH_READ] = d.ns[FLASH_WRITE] = 2000000;
	for (i = 0; i < 256; i++)
		insert(&d, i & 1 ? PIQ_READ : PIQ_WRITE,
		       tap_rand(&seed) % 65536 * 8, 8);
	next = d.now;
	for (n = 0; n < 40000; n++) {
		piq_trust(&d.s);
		step(&d);
		if (d.now >= next) {
			next = d.now + 2 * (u64)PIQ_URGENT_NS;
			d.req[d.nr].urgent = true;
		}
		insert(&d, n & 1 ? PIQ_READ : PIQ_WRITE,
		       tap_rand(&seed) % 65536 * 8, 8);
		times += d.l.deep.climb.start != least;
		least = d.l.deep.climb.start;
	}
	eq(times >= 8, 1, "real-time requests come and go: %u times", times);
	eq(d.l.deep.climb.limit >= 5 && d.l.aside.climb.limit >= 5, 1,
	   "and %u for each chip are found now, %u for the other case",
	   d.l.deep.climb.limit, d.l.aside.climb.limit);
	drain(&d);
	at_rest(&d, "depths beside few that are urgent");
}

/*
 * Many reads for each chip, then the first write: the learned cost of a read does not
 * include its wait for other reads in the device, from the first one on.
 */
static void cost_of_reads(u32 depth)
{
	struct piq_tunables tun = piq_usual();
	unsigned long long seed = 7;
	u64 most = 0, ns;
	u32 i, n;

	tun.chip_depth = depth;
	dev_init(&d, PIQ_AUTO, "page=4096 chips=16", &tun);
	d.learning = true;
	for (i = 0; i < 256; i++)
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	for (n = 0; n < 2000; n++) {
		if (n == 1000)
			insert(&d, PIQ_WRITE, 0, 8);
		step(&d);
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
		ns = flash_cost_ns(&d.s.cost, FLASH_READ, 8);
		if (ns > most)
			most = ns;
	}
	eq(ns, d.ns[FLASH_READ], "%u on a chip: what a read costs", depth);
	eq(most, d.ns[FLASH_READ], "and never was it more");
	drain(&d);
	at_rest(&d, "the first write");
}

int main(void)
{
	cost_of_reads(1);
	cost_of_reads(8);
	depth_mixed();
	depth_beside_few();
	one_waits();
	costs();
	matters();
	one_out();
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
	wrong("page=4096 chips=16", "page=4096 terms=16:16:1", 64, 16);
	wrong("page=4096 chips=16", "page=4096 chips=13", 64, 16);
	wrong("page=4096 chips=16", "page=4096 terms=16:16:1", 64, 40);
	wrong("page=4096 chips=16", "page=4096 chips=1", 32, 1);
	again();
	turns_wrong();
	depth(0, 1, 2);
	depth(500000, 2, 3);
	depth(1900000, 3, 8);
	limits();
	return tap_done();
}
