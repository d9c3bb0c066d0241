// SPDX-License-Identifier: GPL-2.0
/*
 * Mode auto on a model of a device: idle chips first, reads before writes, write epochs,
 * waits, wide requests, and layouts that are not trusted.
 */
#include "piq.h"

static struct dev d;

#define CHIPS	16
#define MAP	"page=4096 chips=16"

static void start(const struct piq_tunables *tun)
{
	struct piq_tunables usual = piq_usual();

	dev_init(&d, PIQ_AUTO, MAP, tun ? tun : &usual);
}

/* A page on a chip. */
static u32 page(enum piq_kind kind, u32 chip)
{
	return insert(&d, kind, chip * 8, 8);
}

static u64 wait_of(u32 i)
{
	return d.issued[i] - d.req[i].arrived;
}

static void idle_chips_first(void)
{
	u32 a, b, c;

	start(NULL);
	a = page(PIQ_READ, 3);
	b = page(PIQ_READ, 3);
	c = page(PIQ_READ, 4);
	eq(d.issued[a] && d.issued[c], 1, "two chips, two reads at once");
	eq(d.issued[b], 0, "the second one for a chip waits");
	eq(d.s.stats.passes, 1, "and has been passed");
	finish(&d, a);
	eq(d.issued[b], d.now, "until the chip is idle");
	drain(&d);
	at_rest(&d, "three reads");
}

static void depth_per_chip(void)
{
	struct piq_tunables tun = piq_usual();
	u32 i;

	tun.chip_depth = 3;
	start(&tun);
	for (i = 0; i < 10; i++)
		page(PIQ_READ, 7);
	eq(d.nr_out, 3, "chip_depth 3: three on a chip");
	tun.chip_depth = 5;
	dev_set(&d, PIQ_AUTO, MAP, &tun);
	dispatch(&d);
	eq(d.nr_out, 5, "raised to 5: two more at once");
	tun.chip_depth = 1;
	dev_set(&d, PIQ_AUTO, MAP, &tun);
	for (i = 0; i < 4; i++)
		step(&d);
	eq(d.nr_out, 1, "lowered to 1: none before the chip has drained");
	drain(&d);
	at_rest(&d, "depth");
}

static void round_robin(void)
{
	u32 i, limit, bad;

	/* The in-flight limit is smaller than the number of chips. */
	for (limit = 1; limit <= 4; limit += 3) {
		start(NULL);
		d.user_limit = limit;
		for (i = 0; i < 40 * CHIPS; i++)
			arrive(&d, PIQ_READ, i / 40 * 8, 8);
		dispatch(&d);
		drain(&d);
		bad = 0;
		for (i = 0; i < d.nr_trace; i++)
			bad += d.req[d.trace[i]].sector / 8 !=
			       (d.req[d.trace[0]].sector / 8 + i) % CHIPS;
		eq(bad, 0, "limit %u: each chip in its turn", limit);
		at_rest(&d, "round robin");
	}
}

static void reads_first(void)
{
	u32 w, r, w2, r2;

	start(NULL);
	page(PIQ_READ, 0);
	w = page(PIQ_WRITE, 0);
	r = page(PIQ_READ, 0);
	w2 = page(PIQ_WRITE, 1);
	eq(d.issued[w2], d.now, "a write goes to an idle chip");
	finish(&d, 0);
	eq(d.issued[r], d.now, "a read goes before an older write");
	eq(d.issued[w], 0, "which waits");
	eq(d.s.stats.prioritised, 1, "counted");
	r2 = page(PIQ_READ, 1);
	eq(d.issued[r2], d.now, "a read does not wait here for a write");
	drain(&d);
	at_rest(&d, "reads first");
}

/* Reads and writes want all chips all the time: the share of each */
static void shares(u32 write_sectors, u32 epochs)
{
	u64 time[2] = { 0 }, worst[2] = { 0 };
	u32 i, n, count[2] = { 0 };
	unsigned long long seed = 5;
	struct piq_tunables tun = piq_usual();

	tun.max_wait = 10000000000;
	tun.max_pass = 65535;
	start(&tun);
	d.learning = true;
	for (i = 0; i < 64; i++)
		insert(&d, PIQ_READ, tap_rand(&seed) % 4096 * 8, 8);
	for (i = 0; i < 32; i++)
		insert(&d, PIQ_WRITE, tap_rand(&seed) % 4096 * 8,
		       write_sectors);
	for (n = 0; n < 12000; n++) {
		i = step(&d);
		piq_trust(&d.s);
		/* The first costs are learned. */
		if (n >= 2000) {
			count[d.req[i].kind]++;
			time[d.req[i].kind] += d.ns[d.req[i].kind] *
					      (d.req[i].sectors / 8);
		}
		if (wait_of(i) > worst[d.req[i].kind])
			worst[d.req[i].kind] = wait_of(i);
		insert(&d, d.req[i].kind, tap_rand(&seed) % 4096 * 8,
		       d.req[i].sectors);
	}
	printf("# writes of %u sectors: %u reads, %u writes, %llu%% for writes, "
	       "worst wait %llu and %llu us, %llu epochs, %llu aged\n",
	       write_sectors, count[0], count[1],
	       (unsigned long long)(100 * time[1] / (time[0] + time[1])),
	       (unsigned long long)worst[0] / 1000,
	       (unsigned long long)worst[1] / 1000,
	       (unsigned long long)d.s.stats.epochs,
	       (unsigned long long)d.s.stats.aged);
	eq(100 * time[1] / (time[0] + time[1]) >= 18, 1,
	   "writes of %u sectors get their share", write_sectors);
	eq(100 * time[0] / (time[0] + time[1]) >= 60, 1, "and so do reads");
	eq(d.s.stats.epochs >= epochs, 1, "in epochs, if they need any");
	drain(&d);
	at_rest(&d, "shares");
}

/*
 * Writes that all want one chip wait while reads have the others. They did not use what they
 * could, so this is no deficit that writes to all chips are paid later.
 */
static void no_old_debts(void)
{
	unsigned long long seed = 5;
	u64 time[2] = { 0 };
	u32 i, n;

	start(NULL);
	d.learning = true;
	for (i = 0; i < 8; i++)
		page(PIQ_WRITE, 0);
	for (i = 0; i < 64; i++)
		page(PIQ_READ, 1 + tap_rand(&seed) % (CHIPS - 1));
	for (n = 0; n < 15000; n++) {
		i = step(&d);
		piq_trust(&d.s);
		page(d.req[i].kind, d.req[i].sector ?
		     1 + tap_rand(&seed) % (CHIPS - 1) : 0);
	}
	for (i = 0; i < 64; i++) {
		page(PIQ_WRITE, tap_rand(&seed) % 4096);
		page(PIQ_READ, tap_rand(&seed) % 4096);
	}
	for (n = 0; n < 12000; n++) {
		i = step(&d);
		piq_trust(&d.s);
		time[d.req[i].kind] += d.ns[d.req[i].kind];
		page(d.req[i].kind, tap_rand(&seed) % 4096);
	}
	n = (u32)(100 * time[0] / (time[0] + time[1]));
	eq(n >= 45, 1, "reads have %u %% after writes of one chip", n);
	drain(&d);
	at_rest(&d, "old debts");
}

/* Urgent requests are first, and a busy chip may get one of them. */
static u32 rush(enum piq_kind kind, u32 chip)
{
	d.req[d.nr].urgent = true;
	return page(kind, chip);
}

static void urgent(void)
{
	struct piq_tunables tun = piq_usual();
	unsigned long long seed = 2;
	u32 i, n, one = 0, a, b;
	u64 worst = 0;

	start(NULL);
	page(PIQ_READ, 3);
	n = page(PIQ_READ, 3);
	a = rush(PIQ_WRITE, 3);
	b = rush(PIQ_READ, 3);
	eq(d.issued[a] == d.now && !d.issued[n], 1, "the next one of its chip");
	eq(d.issued[b], 0, "but there is one such place only");
	finish(&d, 0);
	eq(d.issued[b] && !d.issued[n], 1, "and the next is urgent again");
	drain(&d);
	at_rest(&d, "urgent");

	/* In a flood of other requests */
	for (n = 0; n < 2; n++) {
		start(NULL);
		/* The second time the map is not trusted. */
		d.s.trusted = !n;
		d.user_limit = n ? CHIPS : 0;
		flash_geometry_parse(MAP, &d.real);
		worst = 0;
		for (i = 0; i < 128; i++)
			page(PIQ_READ, tap_rand(&seed) % 4096);
		one = rush(PIQ_READ, 0);
		for (i = 0; i < 5000; i++) {
			if (step(&d) != one) {
				page(PIQ_READ, tap_rand(&seed) % 4096);
				continue;
			}
			if (wait_of(one) > worst)
				worst = wait_of(one);
			one = rush(PIQ_READ, tap_rand(&seed) % 4096);
		}
		eq(worst <= d.ns[FLASH_READ], 1, "%s: waits %llu us at most",
		   n ? "no map" : "a flood", (unsigned long long)worst / 1000);
		drain(&d);
	}

	/* In a flood of urgent requests another one is dispatched after max_wait. */
	for (n = 0; n < 2; n++) {
		tun.max_wait = 5000000;
		start(&tun);
		d.s.trusted = !n;
		d.user_limit = n ? CHIPS : 0;
		for (i = 0; i < 1000; i++)
			rush(PIQ_READ, tap_rand(&seed) % 4096);
		one = page(PIQ_WRITE, 5);
		for (i = 0; i < 5000; i++) {
			step(&d);
			rush(PIQ_READ, tap_rand(&seed) % 4096);
		}
		eq(d.issued[one] && wait_of(one) < 6000000, 1,
		   "%s: a write waits %llu us", n ? "no map" : "urgent ones",
		   (unsigned long long)wait_of(one) / 1000);
		drain(&d);
		at_rest(&d, "a flood of urgent ones");
	}
}

/*
 * The longest wait of urgent requests of half the chips, one at a time, beside @urgent other
 * urgent pages, @writes writes of a page, and reads of a page
 */
static void urgent_wide(u32 urgent, u32 writes, u64 limit)
{
	unsigned long long seed = 5;
	u32 i, n, wide, served = 0;
	u64 worst = 0;

	start(NULL);
	for (i = 0; i < urgent; i++)
		rush(PIQ_READ, tap_rand(&seed) % 4096);
	for (; i < 128; i++)
		page(i < urgent + writes ? PIQ_WRITE : PIQ_READ,
		     tap_rand(&seed) % 4096);
	d.req[d.nr].urgent = true;
	wide = insert(&d, PIQ_READ, 0, CHIPS / 2 * 8);
	for (n = 0; n < 20000; n++) {
		i = step(&d);
		d.req[d.nr].urgent = d.req[i].urgent;
		if (i != wide) {
			page(d.req[i].kind, tap_rand(&seed) % 4096);
			continue;
		}
		served++;
		if (wait_of(wide) > worst)
			worst = wait_of(wide);
		wide = insert(&d, PIQ_READ, tap_rand(&seed) % 4096 * 8,
			      CHIPS / 2 * 8);
	}
	printf("# %u wide ones, %llu us at most\n", served,
	       (unsigned long long)worst / 1000);
	eq(served > 20 && worst <= limit, 1,
	   "urgent and wide beside %u urgent pages, %u writes: at most %llu us",
	   urgent, writes, (unsigned long long)limit / 1000);
	drain(&d);
	at_rest(&d, "urgent and wide");
}

/* A chip that reads want has one write at a time. */
static void one_write(void)
{
	struct piq_tunables tun = piq_usual();
	u32 a, b, r;

	tun.chip_depth = 3;
	start(&tun);
	a = page(PIQ_WRITE, 2);
	b = page(PIQ_WRITE, 2);
	eq(d.issued[a] && d.issued[b], 1, "no read: writes in depth");
	drain(&d);
	start(&tun);
	r = page(PIQ_READ, 2);
	a = page(PIQ_WRITE, 2);
	b = page(PIQ_WRITE, 2);
	eq(d.issued[a] && !d.issued[b], 1, "beside a read: one write");
	finish(&d, r);
	eq(d.issued[b], d.now, "until the reads are done");
	drain(&d);
	at_rest(&d, "one write");
}

/* The longest wait of requests of another sort in a flood of one-page reads */
static void flood(enum piq_kind kind, u32 sectors, u64 max_wait, u32 max_pass,
		  u32 hot, u64 limit, const char *what)
{
	struct piq_tunables tun = piq_usual();
	unsigned long long seed = 9;
	u32 i, n, ended, one = 0;
	u64 worst = 0, gap = 20000000 / 8 * (1 + sectors / 256);

	tun.max_wait = max_wait;
	tun.max_pass = max_pass;
	start(&tun);
	for (i = 0; i < 64; i++)
		insert(&d, PIQ_READ, tap_rand(&seed) % 4096 * 8, 8);
	for (n = 0; n < 20000; n++) {
		ended = step(&d);
		/* One in @hot is for chip 0. */
		if (!one || ended != one)
			insert(&d, PIQ_READ, tap_rand(&seed) % hot ?
			       tap_rand(&seed) % 4096 * 8 : 0, 8);
		if (one && !d.waits[one] && wait_of(one) > worst)
			worst = wait_of(one);
		/* At intervals, so that these requests do not fill the chip. */
		if (!one || (!d.waits[one] && d.now > d.due[one] + gap))
			one = insert(&d, kind, 0, sectors);
	}
	if (d.waits[one] && d.now - d.req[one].arrived > worst)
		worst = d.now - d.req[one].arrived;
	printf("# %s: worst wait %llu us, %llu aged\n", what,
	       (unsigned long long)worst / 1000,
	       (unsigned long long)d.s.stats.aged);
	eq(worst <= limit, 1, "%s waits at most %llu us", what,
	   (unsigned long long)limit / 1000);
	drain(&d);
	at_rest(&d, what);
}

/* Wide ones only: the device must not be empty between two of them. */
static void wide_only(void)
{
	u32 i;
	u64 took, least;

	start(NULL);
	for (i = 0; i < 400; i++)
		arrive(&d, PIQ_READ, i * 256, 256);
	dispatch(&d);
	eq(d.nr_out, 2, "two wide ones at a time");
	drain(&d);
	took = d.now - MODEL_BASE;
	least = 400 * 2 * d.ns[FLASH_READ];
	eq(took, least, "and all chips are busy all the time");
	at_rest(&d, "wide ones");
}

/*
 * A chip has an old backlog when a wide write arrives. The write has to wait for it, but the
 * other chips must not be kept free for the write all the time.
 */
static void behind_a_backlog(void)
{
	unsigned long long seed = 5;
	u32 i, n, ended = 0, wide = 0;

	start(NULL);
	for (i = 0; i < 300; i++)
		arrive(&d, PIQ_WRITE, 0, 8);
	dispatch(&d);
	for (i = 0; i < 64; i++)
		page(PIQ_READ, 1 + tap_rand(&seed) % (CHIPS - 1));
	for (n = 0; n < 30000 && d.now < MODEL_BASE + 110000000; n++) {
		i = step(&d);
		if (d.now > MODEL_BASE + 70000000)
			ended++;
		if (!wide && d.now > MODEL_BASE + 60000000)
			wide = insert(&d, PIQ_WRITE, 0, 256);
		if (d.req[i].kind == PIQ_READ)
			page(PIQ_READ, 1 + tap_rand(&seed) % (CHIPS - 1));
	}
	/* 40 ms, 50 us a read, 15 chips: 12000 if all are busy. */
	eq(ended >= 8000, 1, "a wide one behind a backlog: %u reads meanwhile",
	   ended);
	drain(&d);
	at_rest(&d, "a wide one behind a backlog");
}

/* A choice looks at scan_depth wide requests. */
static void scanning(void)
{
	struct piq_tunables tun = piq_usual();
	u32 i, last;

	tun.scan_depth = 4;
	start(&tun);
	page(PIQ_READ, 0);
	page(PIQ_READ, 1);
	/* The oldest waits behind the first two, so no other one may. */
	for (i = 0; i < 5; i++)
		insert(&d, PIQ_READ, 0, 16);
	last = insert(&d, PIQ_READ, 64, 16);
	eq(d.issued[last], 0, "the fifth that waits is not looked at");
	tun.scan_depth = 5;
	dev_set(&d, PIQ_AUTO, MAP, &tun);
	dispatch(&d);
	eq(d.issued[last], d.now, "with scan_depth 5 it is");
	drain(&d);
	at_rest(&d, "scanning");
}

/* Random one-page reads in a closed loop, by the layout or in a FIFO, at one limit */
static u64 throughput(u32 backlog, bool trusted, u32 limit)
{
	unsigned long long seed = 3;
	u32 i, n;

	start(NULL);
	d.s.trusted = trusted;
	d.user_limit = limit;
	for (i = 0; i < backlog; i++)
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	for (n = 0; n < 20000; n++) {
		step(&d);
		insert(&d, PIQ_READ, tap_rand(&seed) % 65536 * 8, 8);
	}
	return 20000 * d.ns[FLASH_READ] * 100 / CHIPS / (d.now - MODEL_BASE);
}

static void utilisation(void)
{
	u64 fifo = throughput(128, false, CHIPS);
	u64 aware = throughput(128, true, CHIPS);

	printf("# chips busy: FIFO %llu %%, aware %llu %%\n",
	       (unsigned long long)fifo, (unsigned long long)aware);
	eq(aware >= 90, 1, "chips are busy at least 90 %% of the time");
	eq(aware * 2 >= fifo * 3, 1, "half as much again as a FIFO");
}

static void without_a_map(void)
{
	struct piq_tunables tun = piq_usual();
	u32 i, bad = 0;
	unsigned long long seed = 8;

	dev_init(&d, PIQ_AUTO, "none", &tun);
	d.user_limit = 3;
	for (i = 0; i < 1000; i++)
		arrive(&d, tap_rand(&seed) % 2 ? PIQ_READ : PIQ_WRITE,
		       tap_rand(&seed) % 4096 * 8,
		       8 * (1 + tap_rand(&seed) % 100));
	dispatch(&d);
	drain(&d);
	for (i = 0; i < d.nr_trace; i++)
		bad += d.trace[i] != i;
	eq(bad, 0, "no map: order of arrival");
	at_rest(&d, "no map");
}

/* Endless reads of its chip, too few for an epoch: only max_wait helps. */
static void old_write(void)
{
	struct piq_tunables tun = piq_usual();
	u32 i, w, r, w2;

	tun.max_wait = 4 * 50000;
	start(&tun);
	page(PIQ_READ, 0);
	w = page(PIQ_WRITE, 0);
	for (i = 0; i < 20 && !d.issued[w]; i++) {
		page(PIQ_READ, 0);
		step(&d);
	}
	eq(wait_of(w), tun.max_wait, "a write goes when it has waited max_wait");
	eq(d.s.stats.aged, 1, "which is counted");
	drain(&d);

	/* Its chip drains: not even a read is dispatched to it. */
	start(&tun);
	page(PIQ_WRITE, 0);
	w2 = page(PIQ_WRITE, 0);
	d.now += tun.max_wait;
	r = page(PIQ_READ, 0);
	eq(d.issued[r], 0, "nobody gets to a chip that is kept free");
	step(&d);
	eq(d.issued[w2], d.now, "but who it is kept for");
	drain(&d);
	at_rest(&d, "old ones");
}

/* A wide request behind many for one chip, while others pass it */
static void passed(void)
{
	struct piq_tunables tun = piq_usual();
	u32 i, wide;

	tun.max_pass = 8;
	start(&tun);
	for (i = 0; i < 30; i++)
		page(PIQ_READ, 0);
	wide = insert(&d, PIQ_READ, 0, CHIPS * 8);
	for (i = 1; i < 100 && !d.issued[wide]; i++) {
		page(PIQ_READ, 1 + i % 4);
		step(&d);
	}
	/* Older requests count only when they have left. */
	eq(d.issued[wide] != 0 && d.waits[29], 1,
	   "passed max_pass times it goes before %u older ones", 29 - i / 2);
	drain(&d);

	/* A wide write, behind an older one for a chip, in an epoch. */
	start(NULL);
	for (i = 0; i < CHIPS; i++)
		page(PIQ_READ, i);
	page(PIQ_WRITE, 0);
	wide = insert(&d, PIQ_WRITE, 0, CHIPS * 8);
	page(PIQ_READ, 0);
	eq(d.issued[wide], 0, "a wide write waits for its turn");
	d.s.pick.epoch = true;
	dispatch(&d);
	eq(d.issued[wide], d.now, "and has it in an epoch");
	drain(&d);
	at_rest(&d, "wide ones that were passed");
}

/*
 * A wide request is old, but more than four are older and wait for a chip that
 * it does not need: max_pass holds for it all the same.
 */
static void old_and_passed(void)
{
	struct piq_tunables tun = piq_usual();
	u32 i, wide, ended;
	u64 backlog;

	tun.max_pass = 8;
	tun.max_wait = 100000;
	start(&tun);
	for (i = 0; i < 200; i++)
		page(PIQ_READ, 0);
	backlog = 200 * d.ns[FLASH_READ];
	for (i = 0; i < 4; i++)
		page(PIQ_READ, 2 + i % 2);
	wide = insert(&d, PIQ_READ, 2 * 8, 16);
	while (!d.issued[wide]) {
		ended = step(&d);
		if (d.req[ended].chip)
			page(PIQ_READ, d.req[ended].chip);
	}
	eq(wait_of(wide) < backlog / 2, 1,
	   "old and passed: it goes after %llu us, not when chip 0 has drained",
	   (unsigned long long)wait_of(wide) / 1000);
	drain(&d);
	at_rest(&d, "old and passed");
}

/* An old read behind a write is dispatched together with it. */
static void old_read(void)
{
	struct piq_tunables tun = piq_usual();
	u32 first, second, read;

	tun.max_wait = 100000;
	start(&tun);
	first = page(PIQ_WRITE, 0);
	second = page(PIQ_WRITE, 0);
	d.now += 150000;
	read = page(PIQ_READ, 0);
	eq(d.issued[read], 0, "a read waits behind a write that is old");
	d.now += 150000;
	finish(&d, first);
	eq(d.issued[second] == d.now && d.issued[read] == d.now, 1,
	   "and goes when that has gone");
	drain(&d);
	at_rest(&d, "an old read");
}

static void others(void)
{
	u32 x, i;

	start(NULL);
	for (i = 0; i < 5; i++)
		page(PIQ_READ, 0);
	x = insert(&d, PIQ_OTHER, 0, 100000);
	eq(d.issued[x], d.now, "a discard goes if nothing else can");
	drain(&d);
	at_rest(&d, "discards");
}

int main(void)
{
	idle_chips_first();
	depth_per_chip();
	round_robin();
	reads_first();
	shares(8, 0);
	shares(512, 5);
	no_old_debts();
	flood(PIQ_WRITE, 8, 50000000, 32, 4, 20000000, "a write to a hot chip");
	flood(PIQ_WRITE, 8, 50000000, 32, 1000, 2000000, "a write");
	flood(PIQ_WRITE, 2048, 50000000, 32, 1000, 2000000,
	      "a write to all chips");
	flood(PIQ_READ, 2048, 50000000, 32, 1000, 2000000,
	      "a read of all chips");
	/* Only max_wait helps; add outstanding requests, and reads of the same age. */
	flood(PIQ_WRITE, 8, 1000000, 65535, 1000, 1500000, "an old write");
	flood(PIQ_READ, 2048, 1000000, 65535, 1000, 1100000,
	      "an old wide read");
	flood(PIQ_WRITE, 2048, 1000000, 65535, 1000, 1100000,
	      "an old wide write");
	urgent();
	urgent_wide(32, 0, 1000000);
	urgent_wide(64, 0, 1000000);
	urgent_wide(0, 64, 1000000);
	one_write();
	old_write();
	passed();
	wide_only();
	behind_a_backlog();
	scanning();
	utilisation();
	without_a_map();
	old_and_passed();
	old_read();
	others();
	return tap_done();
}
