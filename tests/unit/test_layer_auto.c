// SPDX-License-Identifier: GPL-2.0
/*
 * Mode auto: reads before writes, who has expired, runs and how long anybody can
 * wait, sub-layers that are chips, and what is held back.
 */
#include "layer.h"

#define R	FLASH_READ
#define W	FLASH_WRITE

static struct dev d;

static void start(const char *layout, const struct layer_tunables *tun)
{
	struct layer_tunables usual = layer_usual();

	dev_init(&d, LAYER_AUTO, layout, 1000, tun ? tun : &usual);
}

/* To the driver, and back. */
static void take(u32 i)
{
	layer_start(&d.s, &d.part[i]);
}

static void give(u32 i)
{
	hook_completed(&d.s, &d.part[i], true, d.now);
}

static void turns(void)
{
	struct layer_tunables tun = layer_usual();
	u32 i, r, w;

	start("none", NULL);
	for (i = 0; i < 4; i++)
		arrive(&d, W, i, 1);
	go(&d);
	r = arrive(&d, R, 0, 1);
	go(&d);
	go(&d);
	order_is(&d, "a read ends a turn of writes", 0, (int)r, 1);

	/* Batches of those that made others wait. */
	tun.batch[R] = 3;
	tun.batch[W] = 2;
	start("none", &tun);
	for (i = 0; i < 12; i++)
		arrive(&d, R, i, 1);
	for (i = 0; i < 5; i++)
		go(&d);
	for (i = 0; i < 5; i++)
		arrive(&d, W, i, 1);
	all_go(&d);
	order_is(&d, "3 reads once writes wait, 2 writes, 3 reads, 2, 1, 1",
		 0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 8, 9, 10, 14, 15, 11, 16);

	/* A turn by right is not cut short. */
	start("none", &tun);
	for (i = 0; i < 9; i++)
		arrive(&d, R, i, 1);
	for (i = 0; i < 2; i++)
		arrive(&d, W, i, 1);
	for (i = 0; i < 4; i++)
		go(&d);
	eq(d.part[d.trace[3]].dir, W, "the first write of a turn by right");
	r = arrive(&d, R, 0, 1);
	go(&d);
	eq(d.part[d.trace[4]].dir, W, "the second one, though reads wait");
	go(&d);
	eq(d.trace[5], r, "then reads");

	/* Long ones fill the device: four of 512 KiB. */
	tun.batch[R] = 3;
	tun.batch[W] = 20;
	start("none", &tun);
	for (i = 0; i < 8; i++)
		arrive(&d, R, i, 1024);
	for (i = 0; i < 8; i++)
		arrive(&d, W, i, 1024);
	all_go(&d);
	order_is(&d, "3 reads, 4 writes, 3 reads, 4 writes, 2 reads",
		 0, 1, 2, 8, 9, 10, 11, 3, 4, 5, 12, 13, 14, 15, 6, 7);

	/* An expired write goes at once, and by itself. */
	tun = layer_usual();
	tun.expire[W] = 1000;
	start("none", &tun);
	w = arrive(&d, W, 7, 1);
	d.now += 500;
	for (i = 0; i < 4; i++)
		arrive(&d, R, i, 1);
	arrive(&d, W, 8, 1);
	go(&d);
	d.now += 500;
	all_go(&d);
	order_is(&d, "read, expired write, reads, write", 1, (int)w, 2, 3, 4, 5);
	eq(d.s.stats.expired[W], 1, "one write has expired");
	tun.expire[W] = 0;
	start("none", &tun);
	arrive(&d, W, 7, 1);
	d.now += 1ULL << 50;
	arrive(&d, R, 1, 1);
	all_go(&d);
	order_is(&d, "no deadline: the read first", 1, 0);

	/* The earliest deadline, whatever the sub-layer or direction. */
	tun = layer_usual();
	tun.expire[R] = 2000;
	tun.expire[W] = 1500;
	start("none", &tun);
	r = arrive(&d, R, 999, 1);
	d.now += 400;
	w = arrive(&d, W, 0, 1);
	d.now += 200;
	arrive(&d, R, 0, 1);
	arrive(&d, R, 1, 1);
	d.now += 1400;
	all_go(&d);
	order_is(&d, "write by 1900, read by 2000, and those of layer 0",
		 (int)w, (int)r, 2, 3);
	eq(d.s.stats.expired[R] == 1 && d.s.stats.expired[W] == 1, 1,
	   "one of each has expired");
	eq(d.s.wait.layer[3].expired, 1, "the read's layer knows");

	/* An expired read does not move the turn of the sub-layers. */
	tun.expire[R] = 1000;
	start("none", &tun);
	arrive(&d, R, 999, 1);
	d.now += 1000;
	arrive(&d, R, 0, 1);
	go(&d);
	eq(d.s.turn.cursor, 0, "layer 0 still has its turn");
}

/* More to do than can be done, from both sides: everything has expired. */
static void overload(u64 read_ns, u64 write_ns)
{
	struct layer_tunables tun = layer_usual();
	u32 n, i, row = 0, way = W, worst[FLASH_NR_DIRS] = { 0 };
	u32 count[FLASH_NR_DIRS] = { 0 };

	tun.expire[R] = read_ns;
	tun.expire[W] = write_ns;
	start("none", &tun);
	for (i = 0; i < 100; i++) {
		arrive(&d, R, i * 9, 1);
		arrive(&d, W, i, 1);
	}
	for (n = 0; n < 6000; n++) {
		d.now += 1000;
		i = go(&d);
		row = d.part[i].dir == way ? row + 1 : 1;
		way = d.part[i].dir;
		if (row > worst[way])
			worst[way] = row;
		count[way]++;
		arrive(&d, (enum flash_dir)way, d.part[i].sector, 1);
	}
	printf("# expire %llu %llu: %u reads, %u writes, rows of %u and %u\n",
	       (unsigned long long)read_ns, (unsigned long long)write_ns,
	       count[R], count[W], worst[R], worst[W]);
	eq(worst[R] <= 16, 1, "at most 16 reads in a row while writes wait");
	eq(worst[W] <= 20, 1, "at most 20 writes in a row while reads wait");
	eq(count[R] > 2000 && count[W] > 2000, 1, "both get their share");
}

/* One old request in a flood of young ones. */
static void one_expires(enum flash_dir dir, u32 limit)
{
	struct layer_tunables tun = layer_usual();
	u32 n, i, old, passed = 0, when, worst = 0;

	for (when = 0; when < 40; when++) {
		tun.expire[!dir] = 0;
		tun.expire[dir] = 5000 + when;
		/* Sorted, writes, too: the old one is always the last. */
		tun.sort_writes = true;
		tun.per_layer = 65535;
		start("none", &tun);
		old = arrive(&d, dir, 998, 1);
		for (i = 0; i < 100; i++)
			arrive(&d, i % 2 ? R : W, i * 9, 1);
		passed = 0;
		for (n = 0; n < 9000; n++) {
			d.now++;
			i = go(&d);
			if (i == old)
				break;
			passed += d.now > d.part[old].arrived + 5000 + when;
			/* Those of its direction are never old. */
			arrive(&d, d.part[i].dir, d.part[i].sector, 1);
		}
		eq(i, old, "it goes");
		if (passed > worst)
			worst = passed;
	}
	printf("# %s: %u have passed it\n", dir == R ? "read" : "write", worst);
	eq(worst <= limit, 1, "at most %u pass an expired %s", limit,
	   dir == R ? "read" : "write");
	eq(worst > 0, 1, "and some do");
}

/* Without deadlines: a high address, or a chip that is always busy. */
static void no_deadline(const char *layout, bool busy)
{
	struct layer_tunables tun = layer_usual();
	u32 n, i, old, limit, w;

	tun.expire[R] = 0;
	tun.expire[W] = 0;
	start(layout, &tun);
	limit = d.s.map.nr_layers * tun.per_layer;
	if (busy) {
		w = arrive(&d, W, 31, 1);
		go(&d);
		take(w);
	}
	for (i = 0; i < 100; i++)
		arrive(&d, R, i % 3 * 8, 1);
	for (n = 0; n < 50; n++) {
		i = go(&d);
		arrive(&d, R, d.part[i].sector, 1);
	}
	old = arrive(&d, R, 30, 1);
	for (n = 0; n < 9000; n++) {
		i = go(&d);
		if (i == old)
			break;
		arrive(&d, R, d.part[i].sector, 1);
	}
	printf("# %s%s: %u have passed it\n", layout, busy ? ", busy" : "", n);
	/* Those that are older go first, each as late. */
	eq(i, old, "it goes");
	eq(n <= 101 * (limit + 1), 1, "at most so many rounds as are older");
	eq(n > 0, 1, "and waits");
}

static void oldest_first(void)
{
	struct layer_tunables tun = layer_usual();

	tun.per_layer = 3;
	start("none", &tun);
	arrive(&d, R, 40, 1);
	arrive(&d, R, 300, 1);
	arrive(&d, R, 30, 1);
	arrive(&d, R, 50, 1);
	arrive(&d, R, 20, 1);
	arrive(&d, R, 10, 1);
	all_go(&d);
	order_is(&d, "40 10 20, 300, 30 50: a turn begins with the oldest",
		 0, 5, 4, 1, 2, 3);
}

static void chips(void)
{
	struct layer_tunables tun = layer_usual();
	u32 i, n, bad = 0;

	start("page=4096 chips=4", NULL);
	eq(d.s.map.nr_layers, 4, "four chips: four layers");
	for (i = 0; i < 12; i++)
		arrive(&d, R, i / 3 * 8 + i % 3, 1);
	/* All of them in the device: each chip in its turn. */
	for (i = 0; i < 4; i++) {
		n = go(&d);
		take(n);
		bad += d.part[n].sector / 8 != i;
	}
	eq(bad, 0, "four idle chips: one read each");
	eq(d.s.turn.in_layer, 1, "the last one's turn has begun");
	n = go(&d);
	eq(d.part[n].sector / 8, 3, "all are busy: its turn goes on");
	take(n);
	give(d.trace[1]);
	n = go(&d);
	eq(d.part[n].sector / 8, 1, "chip 1 is idle: it is next");
	take(n);
	eq(d.s.flight.occ.busy, 4, "all are busy");
	for (i = 0; i < d.nr_trace; i++) {
		if (d.part[d.trace[i]].pieces)
			give(d.trace[i]);
	}
	all_go(&d);
	eq(d.nr_trace, 12, "all have gone");
	eq(d.s.flight.occ.busy + d.s.flight.out + d.s.flight.pieces[R], 0, "and nothing is counted");

	/* per_layer bounds a turn there, too; nothing is busy. */
	tun.per_layer = 2;
	start("page=4096 chips=4", &tun);
	for (i = 0; i < 12; i++)
		arrive(&d, R, i / 3 * 8 + i % 3, 1);
	all_go(&d);
	order_is(&d, "two of each chip, then the rest", 0, 1, 3, 4, 6, 7, 9, 10,
		 2, 5, 8, 11);

	/* The offset, and terms. */
	tun = layer_usual();
	start("page=4096 terms=1:2:1,8:2:2", NULL);
	eq(layer_index(&d.s.map, 8), 1, "page 1 is on chip 1");
	eq(layer_index(&d.s.map, 8 * 9), 3, "page 9 on chip 3");
	tun.offset = 8;
	dev_set(&d, LAYER_AUTO, "page=4096 terms=1:2:1,8:2:2", 1000, &tun);
	eq(layer_index(&d.s.map, 0), 1, "sector 0 of the device is on page 1");

	tun.offset = 0;
	/* Mode paper knows no chips; what is out gives back what it took. */
	start("page=4096 chips=4", NULL);
	i = arrive(&d, R, 24, 8);
	arrive(&d, R, 600, 8);
	go(&d);
	take(i);
	eq(flash_occupancy_on(&d.s.flight.occ, 3), 1, "chip 3 is busy");
	dev_set(&d, LAYER_PAPER, "page=4096 chips=4", 1000, &tun);
	eq(d.s.map.nr_layers, 4, "mode paper: four ranges");
	eq(d.s.wait.layer[2].waiting, 1, "the other one waits in the third");
	dev_set(&d, LAYER_AUTO, "page=4096 chips=200", 1000, &tun);
	eq(d.s.wait.layer[75].waiting, 1, "200 chips: it waits for chip 75");
	give(i);
	eq(d.s.flight.occ.busy, 0, "chip 3 is idle again");
	all_go(&d);
	eq(d.nr_trace, 2, "both have gone");
}

/* One that waits, whenever a request ends, is enough to see the bound bind. */
static void one_waits(void)
{
	u32 extra, i, n;

	for (extra = 0; extra < 2; extra++) {
		start("none", NULL);
		for (i = 0; i < LAYER_LIMIT_START + extra; i++)
			arrive(&d, R, i, 8);
		for (n = 0; n < LAYER_LIMIT_START; n++)
			take(go(&d));
		for (i = 0; i < 10; i++) {
			give(d.trace[i]);
			if (extra)
				take(go(&d));
			arrive(&d, R, 1000 + i, 8);
			if (!extra)
				take(go(&d));
		}
		eq(d.s.flight.pace.full, extra, "%u more than the bound: it %s", extra,
		   extra ? "binds" : "does not bind");
	}
}

static void held(void)
{
	struct layer_tunables tun = layer_usual();
	u32 i, n;

	start("none", NULL);
	for (i = 0; i < 100; i++)
		arrive(&d, R, i, 8);
	for (n = 0; !layer_holds(&d.s) && n < 100; n++)
		take(go(&d));
	eq(n, LAYER_LIMIT_START, "so many reads of 4 KiB");
	tun.max_inflight = 200;
	dev_set(&d, LAYER_AUTO, "none", 1000, &tun);
	eq(layer_holds(&d.s), 0, "not if the user says how many");
	tun.max_inflight = 0;
	dev_set(&d, LAYER_AUTO, "none", 1000, &tun);
	/* The first end begins a window. */
	give(d.trace[0]);
	take(go(&d));
	give(d.trace[1]);
	eq(d.s.flight.pace.full, 1, "the bound has held something back");
	eq(layer_holds(&d.s), 0, "one ends: one more may go");
	/* In mode paper nothing is held back. */
	take(go(&d));
	eq(layer_holds(&d.s), 1, "full again");
	dev_set(&d, LAYER_PAPER, "none", 1000, &tun);
	eq(layer_holds(&d.s), 0, "mode paper has no bound");
	dev_set(&d, LAYER_AUTO, "none", 1000, &tun);
	for (i = 2; i < d.nr_trace; i++)
		give(d.trace[i]);
	eq(d.s.flight.pieces[R] + d.s.flight.out, 0, "nothing is out");

	start("none", NULL);
	for (i = 0; i < 20; i++)
		arrive(&d, W, 1024 * i, 1024);
	for (n = 0; !layer_holds(&d.s) && n < 100; n++)
		take(go(&d));
	eq(n, 4, "four writes of 512 KiB");
	eq(d.s.flight.pieces[W], 64, "64 pieces");
	for (i = 0; i < 17; i++)
		arrive(&d, R, 1024 * i, 1024);
	eq(layer_holds(&d.s), 0, "reads may go");
	for (n = 0; !layer_holds(&d.s) && n < 100; n++)
		take(go(&d));
	eq(n, 16, "16 reads of 512 KiB beside them");
	eq(d.s.flight.pieces[R], 64, "64 pieces, too");
	/* Beside so many reads there is one of them. */
	for (i = 0; i < 3; i++)
		give(d.trace[i]);
	eq(layer_holds(&d.s), 1, "one write is enough beside 16 reads");
	give(d.trace[3]);
	n = go(&d);
	eq(d.part[n].dir, W, "it ends: another one, though a read waits");
	take(n);
	eq(layer_holds(&d.s), 1, "and no more");
	/* What reads take counts twice: 16 + 2 * 24 and 16 + 2 * 20 of 64. */
	give(d.trace[4]);
	take(go(&d));
	for (i = 5; i < 15; i++)
		give(d.trace[i]);
	eq(d.s.wait.nr[R], 0, "no read waits");
	eq(layer_holds(&d.s), 1, "six reads are out: one write is enough");
	give(d.trace[15]);
	eq(layer_holds(&d.s), 0, "five: another one may go");
	for (i = 16; i < 20; i++)
		give(d.trace[i]);
	take(go(&d));
	eq(layer_holds(&d.s), 1, "one read is out: two writes are enough");
	start("none", NULL);
	for (i = 0; i < 100; i++)
		arrive(&d, R, i, 33);
	for (n = 0; !layer_holds(&d.s) && n < 100; n++)
		take(go(&d));
	eq(n, 32, "33 sectors are two pieces");

	/* Discards have no data and no chips, whatever their length. */
	start("page=4096 chips=4", NULL);
	i = arrive(&d, FLASH_NR_DIRS, 0, 1 << 20);
	eq(d.s.wait.nr[W], 1, "a discard waits among writes");
	go(&d);
	take(i);
	eq(d.s.flight.pieces[W], 1, "is one piece");
	eq(d.s.flight.occ.busy, 0, "and on no chip");
	give(i);
	eq(d.s.flight.pace.moved, 0, "and moves nothing");

	/* Never with an empty device: even if pieces were counted wrongly. */
	start("none", NULL);
	d.s.flight.pieces[R] = d.s.flight.pieces[W] = 1000;
	arrive(&d, R, 0, 8);
	eq(layer_holds(&d.s), 0, "an empty device is never held");
}

/* Throughput rises up to @knee requests of a piece: does the bound? */
static void opens(u32 knee, u32 low, u32 high)
{
	unsigned long long seed = 3;
	u32 n, i, head = 0;

	dev_init(&d, LAYER_AUTO, "none", 1 << 20, &(struct layer_tunables){
		.chips = 2, .per_layer = 8, .batch = { 16, 20 },
		.sort = LAYER_FIFO });
	while (d.now < 1500000000) {
		/* First come, first served: places are used again. */
		while (d.s.wait.nr[R] < LAYER_LIMIT_MAX) {
			i = d.nr++ % MAX_RQ;
			hook_insert(&d.s, &d.part[i], d.nr, R,
				  tap_rand(&seed) % 4096, 32, d.now);
		}
		while (!layer_holds(&d.s)) {
			i = (u32)(layer_select(&d.s, d.now) - d.part);
			take(i);
			d.trace[d.nr_trace++ % MAX_RQ] = i;
		}
		i = d.s.flight.out < knee ? d.s.flight.out : knee;
		d.now += 400000 / i;
		give(d.trace[head++ % MAX_RQ]);
	}
	n = flash_pace_bound(&d.s.flight.pace);
	eq(n >= low && n <= high, 1, "a device that needs %u: bound %u", knee, n);
}

int main(void)
{
	turns();
	overload(500000000, 5000000000);
	overload(1000, 1000);
	overload(1000, 2000000);
	overload(2000000, 1000);
	overload(0, 0);
	one_expires(R, 20);
	one_expires(W, 16);
	oldest_first();
	no_deadline("none", false);
	no_deadline("page=4096 chips=4", false);
	no_deadline("page=4096 chips=4", true);
	chips();
	held();
	one_waits();
	opens(16, 64, 96);
	opens(200, 144, 340);
	return tap_done();
}
