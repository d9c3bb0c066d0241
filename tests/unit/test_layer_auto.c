// SPDX-License-Identifier: GPL-2.0
/*
 * Mode auto: reads before writes, deadlines, turns, the longest wait, sub-layers that are
 * chips, and in-flight limits
 */
#include "layer.h"

#define R	FLASH_READ
#define W	FLASH_WRITE

static struct dev d;

static void setup(const char *layout, const struct layer_tunables *tun)
{
	struct layer_tunables usual = layer_usual();

	dev_init(&d, LAYER_AUTO, layout, 1000, tun ? tun : &usual);
}

static void start(u32 i)
{
	layer_start(&d.s, &d.part[i]);
}

static void complete(u32 i)
{
	hook_completed(&d.s, &d.part[i], true, d.now);
}

static void turns(void)
{
	struct layer_tunables tun = layer_usual();
	u32 i, r, w;

	setup("none", NULL);
	for (i = 0; i < 4; i++)
		insert(&d, W, i, 1);
	dispatch(&d);
	r = insert(&d, R, 0, 1);
	dispatch(&d);
	dispatch(&d);
	order_is(&d, "a read ends a turn of writes", 0, (int)r, 1);

	/* A batch counts only requests that the other direction had to wait for. */
	tun.batch[R] = 3;
	tun.batch[W] = 2;
	setup("none", &tun);
	for (i = 0; i < 12; i++)
		insert(&d, R, i, 1);
	for (i = 0; i < 5; i++)
		dispatch(&d);
	for (i = 0; i < 5; i++)
		insert(&d, W, i, 1);
	dispatch_all(&d);
	order_is(&d, "3 reads once writes wait, 2 writes, 3 reads, 2, 1, 1",
		 0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 8, 9, 10, 14, 15, 11, 16);

	/* A turn that is due lasts until it is full. */
	setup("none", &tun);
	for (i = 0; i < 9; i++)
		insert(&d, R, i, 1);
	for (i = 0; i < 2; i++)
		insert(&d, W, i, 1);
	for (i = 0; i < 4; i++)
		dispatch(&d);
	eq(d.part[d.trace[3]].dir, W, "the first write of a turn that is due");
	r = insert(&d, R, 0, 1);
	dispatch(&d);
	eq(d.part[d.trace[4]].dir, W, "the second one, though reads wait");
	dispatch(&d);
	eq(d.trace[5], r, "then reads");

	/* Four writes of 512 KiB fill the device, which ends their turn. */
	tun.batch[R] = 3;
	tun.batch[W] = 20;
	setup("none", &tun);
	for (i = 0; i < 8; i++)
		insert(&d, R, i, 1024);
	for (i = 0; i < 8; i++)
		insert(&d, W, i, 1024);
	dispatch_all(&d);
	order_is(&d, "3 reads, 4 writes, 3 reads, 4 writes, 2 reads",
		 0, 1, 2, 8, 9, 10, 11, 3, 4, 5, 12, 13, 14, 15, 6, 7);

	/* An expired write is dispatched at once, and does not start a run. */
	tun = layer_usual();
	tun.expire[W] = 1000;
	setup("none", &tun);
	w = insert(&d, W, 7, 1);
	d.now += 500;
	for (i = 0; i < 4; i++)
		insert(&d, R, i, 1);
	insert(&d, W, 8, 1);
	dispatch(&d);
	d.now += 500;
	dispatch_all(&d);
	order_is(&d, "read, expired write, reads, write", 1, (int)w, 2, 3, 4, 5);
	eq(d.s.stats.expired[W], 1, "one write has expired");
	tun.expire[W] = 0;
	setup("none", &tun);
	insert(&d, W, 7, 1);
	d.now += 1ULL << 50;
	insert(&d, R, 1, 1);
	dispatch_all(&d);
	order_is(&d, "no deadline: the read first", 1, 0);

	/* The earliest deadline is first, in any sub-layer and direction. */
	tun = layer_usual();
	tun.expire[R] = 2000;
	tun.expire[W] = 1500;
	setup("none", &tun);
	r = insert(&d, R, 999, 1);
	d.now += 400;
	w = insert(&d, W, 0, 1);
	d.now += 200;
	insert(&d, R, 0, 1);
	insert(&d, R, 1, 1);
	d.now += 1400;
	dispatch_all(&d);
	order_is(&d, "write by 1900, read by 2000, and those of layer 0",
		 (int)w, (int)r, 2, 3);
	eq(d.s.stats.expired[R] == 1 && d.s.stats.expired[W] == 1, 1,
	   "one of each has expired");
	eq(d.s.wait.expired[3], 1, "the read's layer knows");

	/* An expired read does not change the sub-layer that has its turn. */
	tun.expire[R] = 1000;
	setup("none", &tun);
	insert(&d, R, 999, 1);
	d.now += 1000;
	insert(&d, R, 0, 1);
	dispatch(&d);
	eq(d.s.turn.cursor, 0, "layer 0 still has its turn");
}

/* Overload by reads and writes: all requests have expired. */
static void overload(u64 read_ns, u64 write_ns)
{
	struct layer_tunables tun = layer_usual();
	u32 n, i, row = 0, way = W, worst[FLASH_NR_DIRS] = { 0 };
	u32 count[FLASH_NR_DIRS] = { 0 };

	tun.expire[R] = read_ns;
	tun.expire[W] = write_ns;
	setup("none", &tun);
	for (i = 0; i < 100; i++) {
		insert(&d, R, i * 9, 1);
		insert(&d, W, i, 1);
	}
	for (n = 0; n < 6000; n++) {
		d.now += 1000;
		i = dispatch(&d);
		row = d.part[i].dir == way ? row + 1 : 1;
		way = d.part[i].dir;
		if (row > worst[way])
			worst[way] = row;
		count[way]++;
		insert(&d, (enum flash_dir)way, d.part[i].sector, 1);
	}
	printf("# expire %llu %llu: %u reads, %u writes, rows of %u and %u\n",
	       (unsigned long long)read_ns, (unsigned long long)write_ns,
	       count[R], count[W], worst[R], worst[W]);
	eq(worst[R] <= 16, 1, "at most 16 reads in a row while writes wait");
	eq(worst[W] <= 20, 1, "at most 20 writes in a row while reads wait");
	eq(count[R] > 2000 && count[W] > 2000, 1, "both get their share");
}

/* One old request among many younger ones, which arrive as fast as they are dispatched */
static void one_expires(enum flash_dir dir, u32 limit)
{
	struct layer_tunables tun = layer_usual();
	u32 n, i, old, passed = 0, when, worst = 0;

	for (when = 0; when < 40; when++) {
		tun.expire[!dir] = 0;
		tun.expire[dir] = 5000 + when;
		/* Writes are sorted, too: the old request has the highest address. */
		tun.sort_writes = true;
		tun.per_layer = 65535;
		setup("none", &tun);
		old = insert(&d, dir, 998, 1);
		for (i = 0; i < 100; i++)
			insert(&d, i % 2 ? R : W, i * 9, 1);
		passed = 0;
		for (n = 0; n < 9000; n++) {
			d.now++;
			i = dispatch(&d);
			if (i == old)
				break;
			passed += d.now > d.part[old].arrived + 5000 + when;
			/* Younger requests of its direction never expire. */
			insert(&d, d.part[i].dir, d.part[i].sector, 1);
		}
		eq(i, old, "it is dispatched");
		if (passed > worst)
			worst = passed;
	}
	printf("# %s: %u have passed it\n", dir == R ? "read" : "write", worst);
	eq(worst <= limit, 1, "at most %u pass an expired %s", limit,
	   dir == R ? "read" : "write");
	eq(worst > 0, 1, "and some do");
}

/* Without deadlines: a read at a high address, or on a chip that is always busy */
static void no_deadline(const char *layout, bool busy)
{
	struct layer_tunables tun = layer_usual();
	u32 n, i, old, limit, w;

	tun.expire[R] = 0;
	tun.expire[W] = 0;
	setup(layout, &tun);
	limit = d.s.map.nr_layers * tun.per_layer;
	if (busy) {
		w = insert(&d, W, 31, 1);
		dispatch(&d);
		start(w);
	}
	for (i = 0; i < 100; i++)
		insert(&d, R, i % 3 * 8, 1);
	for (n = 0; n < 50; n++) {
		i = dispatch(&d);
		insert(&d, R, d.part[i].sector, 1);
	}
	old = insert(&d, R, 30, 1);
	for (n = 0; n < 9000; n++) {
		i = dispatch(&d);
		if (i == old)
			break;
		insert(&d, R, d.part[i].sector, 1);
	}
	printf("# %s%s: %u have passed it\n", layout, busy ? ", busy" : "", n);
	/* Older reads precede it, each of which may wait as long. */
	eq(i, old, "it is dispatched");
	eq(n <= 101 * (limit + 1), 1, "at most one round for each older read");
	eq(n > 0, 1, "and waits");
}

static void oldest_first(void)
{
	struct layer_tunables tun = layer_usual();

	tun.per_layer = 3;
	setup("none", &tun);
	insert(&d, R, 40, 1);
	insert(&d, R, 300, 1);
	insert(&d, R, 30, 1);
	insert(&d, R, 50, 1);
	insert(&d, R, 20, 1);
	insert(&d, R, 10, 1);
	dispatch_all(&d);
	order_is(&d, "40 10 20, 300, 30 50: a turn begins with the oldest",
		 0, 5, 4, 1, 2, 3);
}

static void chips(void)
{
	struct layer_tunables tun = layer_usual();
	u32 i, n, bad = 0;

	setup("page=4096 chips=4", NULL);
	eq(d.s.map.nr_layers, 4, "four chips: four layers");
	for (i = 0; i < 12; i++)
		insert(&d, R, i / 3 * 8 + i % 3, 1);
	/* All in flight: each chip in its turn. */
	for (i = 0; i < 4; i++) {
		n = dispatch(&d);
		start(n);
		bad += d.part[n].sector / 8 != i;
	}
	eq(bad, 0, "four idle chips: one read each");
	eq(d.s.turn.in_layer, 1, "the last one's turn has begun");
	n = dispatch(&d);
	eq(d.part[n].sector / 8, 3, "all are busy: its turn goes on");
	start(n);
	complete(d.trace[1]);
	n = dispatch(&d);
	eq(d.part[n].sector / 8, 1, "chip 1 is idle: it is next");
	start(n);
	eq(d.s.flight.occ.busy, 4, "all are busy");
	for (i = 0; i < d.nr_trace; i++) {
		if (d.part[d.trace[i]].pieces)
			complete(d.trace[i]);
	}
	dispatch_all(&d);
	eq(d.nr_trace, 12, "all have gone");
	eq(d.s.flight.occ.busy + d.s.flight.out + d.s.flight.pieces[R], 0,
	   "and nothing is counted");

	/* per_layer limits a turn of a chip, too; no chip is busy. */
	tun.per_layer = 2;
	setup("page=4096 chips=4", &tun);
	for (i = 0; i < 12; i++)
		insert(&d, R, i / 3 * 8 + i % 3, 1);
	dispatch_all(&d);
	order_is(&d, "two of each chip, then the rest", 0, 1, 3, 4, 6, 7, 9, 10,
		 2, 5, 8, 11);

	/* The offset, and terms. */
	tun = layer_usual();
	setup("page=4096 terms=1:2:1,8:2:2", NULL);
	eq(layer_index(&d.s.map, 8), 1, "page 1 is on chip 1");
	eq(layer_index(&d.s.map, 8 * 9), 3, "page 9 on chip 3");
	tun.offset = 8;
	dev_set(&d, LAYER_AUTO, "page=4096 terms=1:2:1,8:2:2", 1000, &tun);
	eq(layer_index(&d.s.map, 0), 1, "sector 0 of the device is on page 1");

	tun.offset = 0;
	/* Mode paper uses no chips; requests in flight release the chips of before. */
	setup("page=4096 chips=4", NULL);
	i = insert(&d, R, 24, 8);
	insert(&d, R, 600, 8);
	dispatch(&d);
	start(i);
	eq(flash_occupancy_on(&d.s.flight.occ, 3), 1, "chip 3 is busy");
	dev_set(&d, LAYER_PAPER, "page=4096 chips=4", 1000, &tun);
	eq(d.s.map.nr_layers, 4, "mode paper: four ranges");
	eq(d.s.wait.layer[2].waiting, 1, "the other one waits in the third");
	dev_set(&d, LAYER_AUTO, "page=4096 chips=200", 1000, &tun);
	eq(d.s.wait.layer[75].waiting, 1, "200 chips: it waits for chip 75");
	complete(i);
	eq(d.s.flight.occ.busy, 0, "chip 3 is idle again");
	dispatch_all(&d);
	eq(d.nr_trace, 2, "both have gone");
}

/* One request that waits at each completion shows that the limit holds it back. */
static void one_waits(void)
{
	u32 extra, i, n;

	for (extra = 0; extra < 2; extra++) {
		setup("none", NULL);
		for (i = 0; i < LAYER_LIMIT_START + extra; i++)
			insert(&d, R, i, 8);
		for (n = 0; n < LAYER_LIMIT_START; n++)
			start(dispatch(&d));
		for (i = 0; i < 10; i++) {
			complete(d.trace[i]);
			if (extra)
				start(dispatch(&d));
			insert(&d, R, 1000 + i, 8);
			if (!extra)
				start(dispatch(&d));
		}
		eq(d.s.flight.pace.full, extra, "%u more than the limit: it %s", extra,
		   extra ? "holds" : "does not hold");
	}
}

/* A read that no other request precedes is dispatched at once, up to the limit. */
static void passes(void)
{
	u32 i;

	setup("none", NULL);
	for (i = 0; i < LAYER_LIMIT_START; i++) {
		layer_describe(&d.part[i], R, 8 * i, 8);
		if (!layer_pass(&d.s, &d.part[i]))
			break;
		start(i);
	}
	eq(i, LAYER_LIMIT_START, "reads pass up to the limit");
	layer_describe(&d.part[i], R, 8, 8);
	eq(layer_pass(&d.s, &d.part[i]), 0, "none passes above it");
	complete(0);
	eq(layer_pass(&d.s, &d.part[i]), 1, "one does when another has ended");
	layer_describe(&d.part[i], W, 8, 8);
	eq(layer_pass(&d.s, &d.part[i]), 0, "no write does");
}

static void held(void)
{
	struct layer_tunables tun = layer_usual();
	u32 i, n;

	setup("none", NULL);
	for (i = 0; i < 100; i++)
		insert(&d, R, i, 8);
	for (n = 0; !layer_holds(&d.s) && n < 100; n++)
		start(dispatch(&d));
	eq(n, LAYER_LIMIT_START, "reads of 4 KiB up to the limit");
	tun.max_inflight = 200;
	dev_set(&d, LAYER_AUTO, "none", 1000, &tun);
	eq(layer_holds(&d.s), 0, "not if the user sets max_inflight");
	tun.max_inflight = 0;
	dev_set(&d, LAYER_AUTO, "none", 1000, &tun);
	/* The first completion starts a window. */
	complete(d.trace[0]);
	start(dispatch(&d));
	complete(d.trace[1]);
	eq(d.s.flight.pace.full, 1, "the limit has held a request back");
	eq(layer_holds(&d.s), 0, "one completes: one more may be dispatched");
	/* Mode paper has no limit. */
	start(dispatch(&d));
	eq(layer_holds(&d.s), 1, "full again");
	dev_set(&d, LAYER_PAPER, "none", 1000, &tun);
	eq(layer_holds(&d.s), 0, "mode paper has no limit");
	dev_set(&d, LAYER_AUTO, "none", 1000, &tun);
	for (i = 2; i < d.nr_trace; i++)
		complete(d.trace[i]);
	eq(d.s.flight.pieces[R] + d.s.flight.out, 0, "none is in flight");

	setup("none", NULL);
	for (i = 0; i < 20; i++)
		insert(&d, W, 1024 * i, 1024);
	for (n = 0; !layer_holds(&d.s) && n < 100; n++)
		start(dispatch(&d));
	eq(n, 4, "four writes of 512 KiB");
	eq(d.s.flight.pieces[W], 64, "64 pieces");
	for (i = 0; i < 17; i++)
		insert(&d, R, 1024 * i, 1024);
	eq(layer_holds(&d.s), 0, "reads may be dispatched");
	for (n = 0; !layer_holds(&d.s) && n < 100; n++)
		start(dispatch(&d));
	eq(n, 16, "16 reads of 512 KiB beside them");
	eq(d.s.flight.pieces[R], 64, "64 pieces, too");
	/* Beside 16 reads there is one write in flight. */
	for (i = 0; i < 3; i++)
		complete(d.trace[i]);
	eq(layer_holds(&d.s), 1, "one write is enough beside 16 reads");
	complete(d.trace[3]);
	n = dispatch(&d);
	eq(d.part[n].dir, W, "it completes: another one, though a read waits");
	start(n);
	eq(layer_holds(&d.s), 1, "and no more");
	/* Pieces of reads count twice: 16 + 2 * 24 and 16 + 2 * 20 of 64. */
	complete(d.trace[4]);
	start(dispatch(&d));
	for (i = 5; i < 15; i++)
		complete(d.trace[i]);
	eq(d.s.wait.nr[R], 0, "no read waits");
	eq(layer_holds(&d.s), 1, "six reads are out: one write is enough");
	complete(d.trace[15]);
	eq(layer_holds(&d.s), 0, "five: another one may go");
	for (i = 16; i < 20; i++)
		complete(d.trace[i]);
	start(dispatch(&d));
	eq(layer_holds(&d.s), 1, "one read is out: two writes are enough");
	setup("none", NULL);
	for (i = 0; i < 100; i++)
		insert(&d, R, i, 33);
	for (n = 0; !layer_holds(&d.s) && n < 100; n++)
		start(dispatch(&d));
	eq(n, 32, "33 sectors are two pieces");

	/* A discard of any length moves no data and has no chips. */
	setup("page=4096 chips=4", NULL);
	i = insert(&d, FLASH_NR_DIRS, 0, 1 << 20);
	eq(d.s.wait.nr[W], 1, "a discard waits among writes");
	dispatch(&d);
	start(i);
	eq(d.s.flight.pieces[W], 1, "is one piece");
	eq(d.s.flight.occ.busy, 0, "and on no chip");
	complete(i);
	eq(d.s.flight.pace.moved, 0, "and moves nothing");

	/* None is in flight: never held, even if pieces were wrong. */
	setup("none", NULL);
	d.s.flight.pieces[R] = d.s.flight.pieces[W] = 1000;
	insert(&d, R, 0, 8);
	eq(layer_holds(&d.s), 0, "an empty device is never held");
}

/* Throughput rises up to @knee requests of a piece each: the limit must rise so far. */
static void opens(u32 knee, u32 low, u32 high)
{
	unsigned long long seed = 3;
	u32 n, i, head = 0;

	dev_init(&d, LAYER_AUTO, "none", 1 << 20, &(struct layer_tunables){
		.chips = 2, .per_layer = 8, .batch = { 16, 20 },
		.sort = LAYER_FIFO });
	while (d.now < 1500000000) {
		/* By arrival, so that places in the array can be used again. */
		while (d.s.wait.nr[R] < LAYER_LIMIT_MAX) {
			i = d.nr++ % MAX_RQ;
			hook_insert(&d.s, &d.part[i], d.nr, R,
				  tap_rand(&seed) % 4096, 32, d.now);
		}
		while (!layer_holds(&d.s)) {
			i = (u32)(layer_select(&d.s, d.now) - d.part);
			start(i);
			d.trace[d.nr_trace++ % MAX_RQ] = i;
		}
		i = d.s.flight.out < knee ? d.s.flight.out : knee;
		d.now += 400000 / i;
		complete(d.trace[head++ % MAX_RQ]);
	}
	n = flash_pace_limit(&d.s.flight.pace);
	eq(n >= low && n <= high, 1, "a device that needs %u: limit %u", knee, n);
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
	passes();
	one_waits();
	opens(16, 64, 96);
	opens(200, 144, 340);
	return tap_done();
}
