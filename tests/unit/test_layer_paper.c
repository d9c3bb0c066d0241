// SPDX-License-Identifier: GPL-2.0
/*
 * Mode paper: sub-layers by address, turns of sub-layers and of directions, deadlines,
 * merges across boundaries, changes of the capacity, and the longest wait
 */
#include "layer.h"

#define R	FLASH_READ
#define W	FLASH_WRITE

static struct dev d;

static void start(u64 capacity, const struct layer_tunables *tun)
{
	struct layer_tunables usual = layer_usual();

	dev_init(&d, LAYER_PAPER, "none", capacity, tun ? tun : &usual);
}

static void index_is(u64 sector, u32 want)
{
	eq(layer_index(&d.s.map, sector), want, "sector %llu of %llu is in layer %u",
	   (unsigned long long)sector, (unsigned long long)d.s.map.capacity, want);
}

static void indexes(void)
{
	struct layer_tunables tun = layer_usual();
	u64 m = 117231408, s;
	u32 chips, bad = 0;

	start(1000, NULL);
	eq(d.s.map.nr_layers, 4, "two chips: four layers");
	eq(d.s.map.span, 251, "1000 sectors: 251 in each");
	index_is(0, 0);
	index_is(250, 0);
	index_is(251, 1);
	index_is(501, 1);
	index_is(502, 2);
	index_is(752, 2);
	index_is(753, 3);
	index_is(999, 3);

	tun.chips = 8;
	start(m, &tun);
	eq(d.s.map.span, 7326964, "the paper's drive: R");
	index_is(7326963, 0);
	index_is(7326964, 1);
	index_is(m - 1, 15);

	/* The last sub-layer is shorter; no sector is beyond it. */
	for (chips = 1; chips <= 128; chips++) {
		tun.chips = chips;
		for (m = 1; m < 3000; m += 1 + m / 7) {
			dev_set(&d, LAYER_PAPER, "none", m, &tun);
			bad += d.s.map.span * (2 * chips - 1) > m &&
			       layer_index(&d.s.map, m - 1) >= 2 * chips;
			for (s = 0; s < m; s += 1 + m / 50)
				bad += layer_index(&d.s.map, s) !=
				       s / (m / (2 * chips) + 1);
			bad += d.s.map.span * d.s.map.nr_layers <= m - 1;
		}
	}
	eq(bad, 0, "128 drives of many sizes: each sector is in its layer");
	dev_set(&d, LAYER_PAPER, "none", 0, &tun);
	index_is(5, 5);
	index_is(1ULL << 40, 255);
}

/* Insert reads 5, 3, 9, 300, 260, then writes W1 and W2: numbers 0 to 6. */
static void some(const struct layer_tunables *tun)
{
	start(1000, tun);
	insert(&d, R, 5, 8);
	insert(&d, R, 3, 8);
	insert(&d, R, 9, 8);
	insert(&d, R, 300, 8);
	insert(&d, R, 260, 8);
	insert(&d, W, 100, 8);
	insert(&d, W, 50, 8);
}

static void orders(void)
{
	struct layer_tunables tun = layer_usual();
	u64 later;

	some(NULL);
	dispatch_all(&d);
	order_is(&d, "3 5 9 260 300 W1 W2", 1, 0, 2, 4, 3, 5, 6);
	eq(d.s.stats.moves, 1, "one change of layer");
	tun.batch[R] = 4;
	some(&tun);
	dispatch_all(&d);
	order_is(&d, "batch_read 4: 3 5 9 260 W1 W2 300", 1, 0, 2, 4, 5, 6, 3);
	tun = layer_usual();
	tun.per_layer = 2;
	some(&tun);
	dispatch_all(&d);
	order_is(&d, "per_layer 2: 3 5 260 300 9 W1 W2", 1, 0, 4, 3, 2, 5, 6);

	/* 9 arrives first and has expired: 9 3 5 260 300 W1. */
	start(1000, NULL);
	insert(&d, R, 9, 8);
	later = d.now + 500000000;
	d.now += 1000;
	insert(&d, R, 3, 8);
	insert(&d, R, 5, 8);
	insert(&d, R, 300, 8);
	insert(&d, R, 260, 8);
	insert(&d, W, 0, 8);
	d.now = later;
	dispatch_all(&d);
	order_is(&d, "9 has expired: 9 3 5 260 300 W1", 0, 1, 2, 4, 3, 5);
	eq(d.s.stats.expired[R], 1, "one has expired");
	eq(d.s.wait.expired[0], 1, "in layer 0");

	/* A nanosecond earlier it has not expired. */
	start(1000, NULL);
	insert(&d, R, 9, 8);
	insert(&d, R, 3, 8);
	d.now = later - 1;
	dispatch_all(&d);
	order_is(&d, "9 has nearly expired: 3 9", 1, 0);

	/* Only the current sub-layer is checked for an expired read. */
	tun = layer_usual();
	tun.expire[R] = 1000;
	start(1000, &tun);
	insert(&d, R, 260, 8);
	d.now += 500;
	insert(&d, R, 5, 8);
	d.now += 600;
	insert(&d, R, 3, 8);
	dispatch_all(&d);
	order_is(&d, "260 has expired in another layer: it waits", 2, 1, 0);
	eq(d.s.stats.expired[R], 1, "and then goes by its deadline");

	/* read_expire 0: never. */
	tun.expire[R] = 0;
	start(1000, &tun);
	insert(&d, R, 9, 8);
	d.now += 1ULL << 50;
	insert(&d, R, 3, 8);
	dispatch_all(&d);
	order_is(&d, "no deadline: 3 9", 1, 0);
}

static void batches(void)
{
	u32 i, bad = 0;
	static const char want[] =
		"rrrrrrrrrrrrrrrrWWWWWWWWWWWWWWWWWWWWrrrrWWWWW";

	start(1000, NULL);
	for (i = 0; i < 20; i++)
		insert(&d, R, i, 1);
	for (i = 0; i < 25; i++)
		insert(&d, W, i, 1);
	dispatch_all(&d);
	for (i = 0; i < 45; i++)
		bad += (d.part[d.trace[i]].dir == R) != (want[i] == 'r');
	eq(bad, 0, "20 reads, 25 writes: 16 20 4 5");
	eq(d.s.stats.switches, 3, "three changes of direction");

	/* No request of the other direction waits: the count restarts. */
	start(1000, NULL);
	for (i = 0; i < 40; i++)
		insert(&d, R, i, 1);
	for (i = 0; i < 20; i++)
		dispatch(&d);
	i = insert(&d, W, 0, 1);
	dispatch_all(&d);
	eq(d.trace[32], i, "a write that arrives after 20 reads waits for 12");

	/* The current sub-layer and its count are kept over a turn of writes. */
	start(1000, NULL);
	for (i = 0; i < 12; i++)
		insert(&d, R, i, 1);
	for (i = 0; i < 12; i++)
		insert(&d, R, 300 + i, 1);
	insert(&d, W, 0, 1);
	dispatch_all(&d);
	bad = 0;
	for (i = 0; i < 25; i++) {
		static const u32 layer[] = { 0, 0, 0, 0, 0, 0, 0, 0,
			1, 1, 1, 1, 1, 1, 1, 1, 9, 0, 0, 0, 0, 1, 1, 1, 1 };
		const struct layer_part *part = &d.part[d.trace[i]];

		bad += (part->dir == R ? layer_index(&d.s.map, part->sector) : 9) !=
		       layer[i];
	}
	eq(bad, 0, "8 of layer 0, 8 of 1, the write, 4 of 0, 4 of 1");
}

/* A request that crosses a boundary belongs to the sub-layer of its first sector. */
static void boundaries(void)
{
	u32 a, b, c;

	start(1000, NULL);
	a = insert(&d, R, 250, 8);
	b = insert(&d, R, 251, 8);
	c = insert(&d, R, 999, 1);
	eq(d.s.wait.layer[0].waiting, 1, "sectors 250 to 257 are in layer 0");
	eq(d.s.wait.layer[1].waiting, 1, "251 to 258 in layer 1");
	eq(d.s.wait.layer[3].waiting, 1, "the last one in the last layer");

	/* A back merge keeps the sub-layer, a front merge may change it. */
	layer_grow(&d.s, &d.part[b], 251, 16);
	eq(d.part[b].layer, 1, "grown at its end it stays");
	layer_grow(&d.s, &d.part[b], 243, 24);
	eq(d.part[b].layer, 0, "grown at its front it is in layer 0");
	eq(d.s.wait.layer[1].waiting, 0, "and no more in layer 1");
	dispatch_all(&d);
	order_is(&d, "in order of address", (int)b, (int)a, (int)c);

	/* A read that absorbs an older one inherits its age. */
	start(1000, NULL);
	a = insert(&d, R, 600, 8);
	b = insert(&d, R, 260, 8);
	d.now += 500000000;
	c = insert(&d, R, 252, 8);
	insert(&d, R, 251, 1);
	layer_absorb(&d.s, &d.part[c], &d.part[b], 252, 16);
	eq(d.part[c].seq, b + 1, "the place of the older one");
	eq(layer_nr_waiting(&d.s), 3, "which waits no more");
	dispatch_all(&d);
	order_is(&d, "it has expired as the older one had", (int)c, (int)c + 1,
		 (int)a);

	/* The older one was in another sub-layer. */
	start(1000, NULL);
	b = insert(&d, R, 251, 8);
	a = insert(&d, R, 10, 8);
	c = insert(&d, R, 243, 8);
	layer_absorb(&d.s, &d.part[c], &d.part[b], 243, 16);
	eq(d.s.wait.layer[1].waiting, 0, "layer 1 is empty");
	eq(rb_first_cached(&d.s.wait.layer[0].late) == &d.part[c].late_node, 1,
	   "and it is the oldest of layer 0");
	dispatch_all(&d);
	order_is(&d, "by address all the same", (int)a, (int)c);

	/* An old read that grows keeps its place before younger ones. */
	start(1000, NULL);
	a = insert(&d, R, 10, 8);
	b = insert(&d, R, 120, 8);
	c = insert(&d, R, 100, 8);
	layer_grow(&d.s, &d.part[a], 10, 16);
	layer_grow(&d.s, &d.part[a], 9, 17);
	eq(d.s.wait.layer[0].line.next == &d.part[a].line, 1,
	   "the oldest one grows where it is");
	eq(rb_first_cached(&d.s.wait.layer[0].late) == NULL, 1, "and is not late there");
	dispatch_all(&d);
	order_is(&d, "and is dispatched by its new first sector", (int)a, (int)c, (int)b);
}

static void capacity(void)
{
	struct layer_tunables tun = layer_usual();
	u32 i;

	start(1000, NULL);
	for (i = 0; i < 10; i++)
		insert(&d, R, i * 100, 8);
	insert(&d, W, 0, 8);
	eq(d.s.wait.layer[0].waiting, 3, "0 100 200 are in layer 0");
	for (i = 0; i < 9; i++)
		dispatch(&d);
	eq(d.s.turn.cursor, 3, "the last layer has its turn");
	/* The device has grown: sector 900 is in layer 0 now. */
	insert(&d, R, 2000, 8);
	dev_set(&d, LAYER_PAPER, "none", 4000, &tun);
	eq(d.s.map.span, 1001, "grown to 4000: 1001 in each");
	eq(d.s.wait.layer[0].waiting, 1, "900 is in layer 0");
	eq(d.s.wait.layer[1].waiting, 1, "2000 is in layer 1");
	eq(d.s.wait.layer[3].waiting, 0, "nothing is left in layer 3");
	/* It has shrunk: sectors beyond its end are in the last layer. */
	dev_set(&d, LAYER_PAPER, "none", 400, &tun);
	eq(d.s.wait.layer[3].waiting, 2, "shrunk to 400: both are in the last layer");
	tun.chips = 1;
	dev_set(&d, LAYER_PAPER, "none", 400, &tun);
	eq(d.s.turn.cursor < 2, 1, "two layers: one of them has its turn");
	dispatch_all(&d);
	eq(d.nr_trace, 12, "each was dispatched");
	eq(layer_nr_waiting(&d.s), 0, "none waits");
}

static void sorts(void)
{
	static const struct {
		enum layer_sort sort;
		int want[5];
	} sort[] = {
		{ LAYER_SECTOR, { 1, 0, 3, 2, -1 } },
		{ LAYER_FIFO, { 0, 1, 2, 3, -1 } },
		{ LAYER_SMALL, { 1, 3, 0, 2, -1 } },
		{ LAYER_BIG, { 2, 0, 3, 1, -1 } },
	};
	struct layer_tunables tun = layer_usual();
	u32 i, dir, both;

	for (i = 0; i < 4; i++) {
		for (dir = 0; dir < 3; dir++) {
			/* Reads; writes in one FIFO; writes sorted */
			tun.sort = sort[i].sort;
			tun.sort_writes = dir == 2;
			start(1000, &tun);
			both = dir ? W : R;
			insert(&d, (enum flash_dir)both, 20, 16);
			insert(&d, (enum flash_dir)both, 10, 4);
			insert(&d, (enum flash_dir)both, 200, 32);
			/* As small as 1, as big as 0 */
			insert(&d, (enum flash_dir)both, 100, 8);
			dispatch_all(&d);
			if (dir == 1)
				order_is(&d, "writes by arrival", 0, 1, 2,
					 3);
			else
				order_check(&d, sort[i].want, dir ? "writes, sorted" :
				     "reads, sorted");
		}
	}
	/* One sub-layer: one order for all reads. */
	tun = layer_usual();
	tun.chips = 0;
	tun.batch[R] = 3;
	tun.per_layer = 1;
	tun.sort = LAYER_FIFO;
	start(1000, &tun);
	eq(d.s.map.nr_layers == 1 && layer_index(&d.s.map, 999) == 0, 1, "one layer");
	for (i = 0; i < 5; i++)
		insert(&d, R, 900 - 200 * i, 8);
	insert(&d, W, 0, 8);
	dispatch_all(&d);
	order_is(&d, "two FIFOs, as Deadline_fifo_3", 0, 1, 2, 5, 3, 4);
	tun = layer_usual();

	/* The order changes while requests wait. */
	start(1000, NULL);
	insert(&d, R, 20, 16);
	insert(&d, R, 10, 4);
	insert(&d, R, 200, 32);
	tun.sort = LAYER_BIG;
	tun.sort_writes = false;
	dev_set(&d, LAYER_PAPER, "none", 1000, &tun);
	dispatch_all(&d);
	order_is(&d, "big ones first from now on", 2, 0, 1);
}

/* Reads of all sub-layers and writes never run out: the longest wait of one read */
static void flood(u32 chips, u32 per_layer, u32 mine)
{
	struct layer_tunables tun = layer_usual();
	u32 layers = 2 * chips, n, i, old, reads = 0, writes = 0, row = 0, way = W;
	u32 worst[FLASH_NR_DIRS] = { 0 };
	u64 limit = (u64)(layers - 1) * per_layer;
	bool gone = false;

	tun.chips = chips;
	tun.per_layer = per_layer;
	tun.expire[R] = 1000;
	start(layers * 1000 - 1, &tun);
	/* The read at the highest address of its sub-layer is its oldest one. */
	old = insert(&d, R, mine * 1000 + 999, 1);
	for (n = 0; n < layers * per_layer; n++)
		insert(&d, R, n % layers * 1000 + n / layers, 1);
	for (n = 0; n < 20; n++)
		insert(&d, W, n, 1);
	for (n = 0; n < 3000; n++) {
		u32 was = d.s.wait.nr[R] && d.s.wait.nr[W];

		d.now++;
		i = dispatch(&d);
		if (was) {
			row = d.part[i].dir == way ? row + 1 : 1;
			way = d.part[i].dir;
			if (row > worst[way])
				worst[way] = row;
		}
		if (i == old)
			gone = true;
		if (!gone && d.now > d.part[old].arrived + 1000) {
			reads += d.part[i].dir == R;
			writes += d.part[i].dir == W;
		}
		insert(&d, d.part[i].dir, i == old ? 0 : d.part[i].sector, 1);
	}
	printf("# %u layers, %u each: %u reads and %u writes before it\n",
	       layers, per_layer, reads, writes);
	eq(gone, 1, "it is dispatched");
	eq(reads <= limit, 1, "at most %llu reads before an expired one",
	   (unsigned long long)limit);
	eq(writes <= (reads / 16 + 2) * 20, 1, "and the writes between them");
	eq(reads + writes > 0, 1, "it had to wait");
	eq(worst[R], 16, "16 reads in a row while writes wait");
	eq(worst[W], 20, "20 writes in a row while reads wait");
}

int main(void)
{
	indexes();
	orders();
	batches();
	boundaries();
	capacity();
	sorts();
	flood(2, 8, 3);
	flood(8, 8, 15);
	flood(8, 1, 7);
	return tap_done();
}
