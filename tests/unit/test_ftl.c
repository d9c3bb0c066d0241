// SPDX-License-Identifier: GPL-2.0
/*
 * The translation layer: layouts, and three invariants for any writes: tables agree,
 * room never runs out, and garbage collection chooses the cheapest victim.
 */
#include "flashsim.h"

static unsigned int lun_of(const struct ftl_layout *l, unsigned int luns,
			   u32 page)
{
	return ftl_layout_lun(l, luns, page);
}

/* Stripes */

static void stripes(void)
{
	static const char *const orders[] = {
		"CWD", "CDW", "WCD", "WDC", "DCW", "DWC"
	};
	const struct nand_cfg n = { .channels = 3, .ways = 5, .dies = 2 };
	unsigned int o;

	for (o = 0; o < 6; o++) {
		struct ftl_layout l = { 0 };
		unsigned int bad = 0, page;

		drive_stripe(&l, orders[o], &n);
		eq(ftl_layout_check(&l, 30), 0, "3 x 5 x 2, %s: valid",
		   orders[o]);
		for (page = 0; page < 200; page++) {
			unsigned int at[3], rest = page, i;

			/* at[]: channel, way, die, by counting */
			for (i = 0; i < 3; i++) {
				unsigned int which = orders[o][i] == 'C' ? 0 :
					orders[o][i] == 'W' ? 1 : 2;
				static const unsigned int nr[] = { 3, 5, 2 };

				at[which] = rest % nr[which];
				rest /= nr[which];
			}
			bad += lun_of(&l, 30, page) !=
				at[0] + 3 * (at[1] + 5 * at[2]);
		}
		eq(bad, 0, "%s: 200 pages, by counting", orders[o]);
	}
}

static void layouts(void)
{
	/* NVMeVirt's 970 PRO: 32 pages of 4 KiB a flash page, 4 x 4 dies */
	struct ftl_layout pro = {
		.nr_terms = 2, .term = { { 1, 4, 1 }, { 32, 4, 4 } },
	}, l;
	static const unsigned int want[][2] = {
		{ 0, 0 }, { 1, 1 }, { 3, 3 }, { 4, 0 }, { 31, 3 }, { 32, 4 },
		{ 33, 5 }, { 63, 7 }, { 64, 8 }, { 127, 15 }, { 128, 0 },
	};
	unsigned int i, page, bad;
	u32 count[32];

	eq(ftl_layout_check(&pro, 16), 0, "1:4:1,32:4:4 is valid");
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		eq(lun_of(&pro, 16, want[i][0]), want[i][1], "page %u is on %u",
		   want[i][0], want[i][1]);

	l = (struct ftl_layout){ .nr_terms = 1, .term = { { 1, 8, 1 } },
				 .nr_xors = 2, .xor = { 3, 6 } };
	eq(ftl_layout_check(&l, 8), 0, "8 dies, xor 3 and 6: valid");
	bad = 0;
	for (page = 0; page < 1024; page++)
		bad += lun_of(&l, 8, page) !=
			((page & 7) ^ (page >> 3 & 7) ^ (page >> 6 & 7));
	eq(bad, 0, "1024 pages fold");
	l.xor[1] = 31;
	eq(lun_of(&l, 8, 0x80000000u), 1, "a shift by 31");

	/* The greatest share, not the mean */
	memset(&l, 0, sizeof(l));
	drive_stripe(&l, "CWD", &(struct nand_cfg){ .channels = 3, .ways = 1,
						    .dies = 1 });
	eq(ftl_share_max(&(struct ftl_cfg){ .luns = 3, .units = 10,
			 .alloc = FTL_STATIC, .layout = l }, count), 4,
	   "10 pages on 3 dies: 4 on the first");
	l = (struct ftl_layout){ .nr_terms = 1, .term = { { 1, 2, 1 } } };
	eq(ftl_share_max(&(struct ftl_cfg){ .luns = 8, .units = 100,
			 .alloc = FTL_STATIC, .layout = l }, count), 50,
	   "a layout that uses 2 of 8 dies");
	eq(ftl_share_max(&(struct ftl_cfg){ .luns = 8, .units = 101,
			 .alloc = FTL_DYNAMIC }, NULL), 13,
	   "dynamic: the mean");
}

static void refused(const char *what, struct ftl_layout l, unsigned int luns)
{
	eq(ftl_layout_check(&l, luns), -1, "refused: %s", what);
}

static void bad_layouts(void)
{
#define L(...) ((struct ftl_layout){ __VA_ARGS__ })
	refused("no terms", L(0), 8);
	refused("nine terms", L(.nr_terms = 9), 8);
	refused("div 0", L(.nr_terms = 1, .term = { { 0, 8, 1 } }), 8);
	refused("mod 0", L(.nr_terms = 1, .term = { { 1, 0, 1 } }), 8);
	refused("mod over the dies", L(.nr_terms = 1, .term = { { 1, 9, 1 } }),
		8);
	refused("beyond the last die", L(.nr_terms = 1,
					 .term = { { 1, 4, 3 } }), 8);
	refused("a die twice", L(.nr_terms = 2,
				 .term = { { 1, 2, 1 }, { 2, 2, 1 } }), 8);
	refused("all on one die", L(.nr_terms = 1, .term = { { 1, 2, 0 } }), 8);
	refused("more combinations than dies",
		L(.nr_terms = 2, .term = { { 1, 4, 1 }, { 4, 4, 2 } }), 8);
	refused("huge products", L(.nr_terms = 2, .term = {
		{ 1, 2, 0xffffffffu }, { 1, 2, 0xffffffffu } }), 8);
	refused("xor without a power of two",
		L(.nr_terms = 1, .term = { { 1, 6, 1 } }, .nr_xors = 1,
		  .xor = { 3 }), 6);
	refused("xor 0", L(.nr_terms = 1, .term = { { 1, 8, 1 } },
			   .nr_xors = 1, .xor = { 0 }), 8);
	refused("xor 32", L(.nr_terms = 1, .term = { { 1, 8, 1 } },
			    .nr_xors = 1, .xor = { 32 }), 8);
	refused("five folds", L(.nr_terms = 1, .term = { { 1, 8, 1 } },
				.nr_xors = 5, .xor = { 1, 2, 3, 4 }), 8);
	eq(ftl_layout_check(&L(.nr_terms = 1, .term = { { 1, 2, 7 } }), 8), 0,
	   "dies 0 and 7 of 8 are a layout");
#undef L
}

/* Tables */

struct bench {
	struct drive d;			/* for its memory only */
	struct ftl f;
	unsigned long long seed;
	int bad;
	u64 host, flash, erases, copies;
};

static struct ftl_cfg ftl_plain(enum ftl_alloc alloc, enum ftl_gc gc,
				u32 units)
{
	struct ftl_cfg c = {
		.luns = 4, .units = units, .per_page = 1, .per_prog = 1,
		.per_block = 8, .low = 2, .alloc = alloc, .gc = gc,
		.layout = { .nr_terms = 1, .term = { { 1, 4, 1 } } },
	};

	return c;
}

static void bench_open(struct bench *b, struct ftl_cfg c, u32 spare)
{
	memset(b, 0, sizeof(*b));
	b->seed = 11;
	ftl_mem(&b->d, &b->f, &c, spare);
}

static void bench_close(struct bench *b)
{
	while (b->d.nr_mem)
		free(b->d.mem[--b->d.nr_mem]);
}

/* Checks that ftl_check() lacks: each block's number, fronts, room. */
static int inspect(const struct ftl *f)
{
	const struct ftl_cfg *c = &f->cfg;
	u32 l, b, i;
	u64 all = 0;

	if (ftl_check(f))
		return ftl_check(f);
	for (l = 0; l < c->luns; l++) {
		const struct ftl_lun *lun = &f->lun[l];
		unsigned int open = 0, victims = 0;

		for (b = 0; b < c->blocks; b++) {
			const struct ftl_block *blk =
				&f->block[l * c->blocks + b];
			u32 valid = 0;

			for (i = 0; i < c->per_block; i++) {
				u32 place = ftl_place(f, l, b, i);
				u32 unit = f->rev[place];

				valid += unit < c->units &&
					(f->map[unit] & ~FTL_BUFFERED) == place;
			}
			if (valid != blk->valid)
				return 20;
			open += blk->state == FTL_OPEN;
			victims += blk->state == FTL_VICTIM;
			if ((blk->state == FTL_OPEN) !=
			    (b == lun->front[0].block ||
			     b == lun->front[1].block))
				return 21;
			if (blk->state == FTL_VICTIM && b != lun->victim)
				return 22;
		}
		if (open > 2 || victims > 1 ||
		    victims != (lun->victim != FTL_NO_BLOCK))
			return 23;
		if (lun->front[0].block != FTL_NO_BLOCK &&
		    lun->front[0].used % c->per_prog)
			return 24;
		/*
		 * One free block is there for copies, unless copies have it;
		 * then the victim gives it back. Across dies: one of all.
		 */
		if (c->gc == FTL_GC_CHIP && !lun->free && !victims)
			return 25;
		all += lun->free + victims;
	}
	return all ? 0 : 26;
}

static u64 bench_least(const struct ftl *f, unsigned int from, unsigned int to)
{
	u64 least = SIM_NEVER;
	u32 i;

	for (i = from * f->cfg.blocks; i < to * f->cfg.blocks; i++)
		if (f->block[i].state == FTL_FULL && f->block[i].valid < least)
			least = f->block[i].valid;
	return least;
}

static void bench_write(struct bench *b, unsigned int lun, const u32 *units,
			u32 nr)
{
	struct ftl *f = &b->f;
	const struct ftl_cfg *c = &f->cfg;
	bool device = c->gc == FTL_GC_DEVICE;
	unsigned int from = device ? 0 : lun, to = device ? c->luns : lun + 1;
	u64 least = bench_least(f, from, to);
	struct ftl_block *was;
	struct ftl_work w;
	u32 i, all = c->luns * c->blocks, place, victim = FTL_NO_BLOCK;
	u32 left = 0;

	was = malloc(all * sizeof(*was));
	memcpy(was, f->block, all * sizeof(*was));
	for (i = from * c->blocks; i < to * c->blocks; i++)
		if (was[i].state == FTL_VICTIM)
			left = was[i].valid;
	place = ftl_write(f, lun, units, nr, 0, &w);
	b->host += nr;
	b->flash += c->per_prog + w.gc_units;
	b->erases += w.gc_erases;
	b->copies += w.gc_units;
	for (i = 0; i < nr; i++)
		b->bad += (f->map[units[i]] & ~FTL_BUFFERED) >= place + nr;
	b->bad += ftl_lun_of(f, place) != w.lun;
	b->bad += c->gc != FTL_GC_DEVICE && w.lun != lun;
	b->bad += w.gc_units && (w.gc_reads > w.gc_units ||
				 w.gc_reads * c->per_page < w.gc_units);
	/* A new victim has the fewest valid units; no other block leaves FTL_FULL here. */
	for (i = from * c->blocks; i < to * c->blocks; i++)
		if (was[i].state == FTL_FULL && f->block[i].state != FTL_FULL)
			victim = victim == FTL_NO_BLOCK ? i : FTL_NO_BLOCK - 1;
	if (victim < all) {
		b->bad += was[victim].valid != least;
		if (w.gc_erases == 1 && !left && c->whole)
			b->bad += w.gc_units != least;
	}
	free(was);
}

static void mix(const char *what, struct ftl_cfg c, u32 spare, u32 steps)
{
	static struct bench b;
	u64 cleared = 0;
	u32 step, units[FTL_MAX_PROG], i, checks = 0;
	int ret = 0;

	bench_open(&b, c, spare);
	for (step = 0; step < steps && !ret && !b.bad; step++) {
		u32 r = tap_rand(&b.seed) % 16, nr = c.per_prog;

		if (r == 0) {
			u32 unit = tap_rand(&b.seed) % c.units;

			cleared += b.f.map[unit] != FTL_NONE;
			ftl_discard(&b.f, unit);
			b.bad += b.f.map[unit] != FTL_NONE;
			continue;
		}
		if (r == 1)
			nr = 1 + tap_rand(&b.seed) % nr;
		/* Half of the writes are in an eighth of the space. */
		for (i = 0; i < nr; i++)
			units[i] = tap_rand(&b.seed) %
				(r % 2 ? c.units : c.units / 8 + 1);
		bench_write(&b, c.alloc == FTL_STATIC ?
			    lun_of(&c.layout, c.luns, units[0]) :
			    ftl_choose(&b.f, NULL), units, nr);
		if (step % 7 == 0 || step < 500) {
			ret = inspect(&b.f);
			checks++;
		}
	}
	eq(ret, 0, "%s: %u times all tables agree", what, checks);
	eq(b.bad, 0, "%s: every victim has least in it", what);
	eq(b.f.host, b.host, "%s: units of the host", what);
	eq(b.f.flash, b.flash, "%s: units of the flash", what);
	eq(b.f.erases, b.erases, "%s: erases", what);
	eq(b.f.copies, b.copies, "%s: copies", what);
	eq(b.f.erases > steps / c.per_block / 2 && cleared > 0, 1,
	   "%s: a device well used", what);
	bench_close(&b);
}

static void mixes(void)
{
	static const struct {
		enum ftl_alloc alloc;
		enum ftl_gc gc;
		const char *name;
	} kind[] = {
		{ FTL_STATIC, FTL_GC_CHIP, "static, chip" },
		{ FTL_DYNAMIC, FTL_GC_CHIP, "dynamic, chip" },
		{ FTL_DYNAMIC, FTL_GC_DEVICE, "dynamic, device" },
	};
	unsigned int k, whole, spare;
	char what[128];

	for (k = 0; k < 3; k++)
		for (whole = 0; whole < 2; whole++)
			for (spare = 0; spare < 9; spare += 4) {
				struct ftl_cfg c = ftl_plain(kind[k].alloc,
							     kind[k].gc, 500);

				c.whole = whole;
				c.low = spare / 2 + 1;
				snprintf(what, sizeof(what), "%s, %s, spare %u",
					 kind[k].name,
					 whole ? "whole" : "paced", spare);
				mix(what, c, spare, 6000);
				if (kind[k].alloc == FTL_STATIC)
					continue;
				c.per_page = 2;
				c.per_prog = 6;
				c.per_block = 24;
				c.units = 1000;
				strcat(what, ", 6 a program");
				mix(what, c, spare, 3000);
			}

	/* The limits of the configuration */
	for (k = 0; k < 3; k++) {
		struct ftl_cfg c = ftl_plain(kind[k].alloc, kind[k].gc, 37);

		c.luns = 1;
		c.layout.term[0].mod = 1;
		c.per_block = 4;
		snprintf(what, sizeof(what), "%s, one die", kind[k].name);
		mix(what, c, 0, 4000);
		c.low = 1000;
		snprintf(what, sizeof(what), "%s, always collecting",
			 kind[k].name);
		mix(what, c, 0, 4000);
		c.low = 0;
		snprintf(what, sizeof(what), "%s, collecting when it must",
			 kind[k].name);
		mix(what, c, 0, 4000);
	}
}

/*
 * Idle dies get the writes; a die may get more than its share of the data, and only
 * valid data.
 */
static void skewed(void)
{
	static struct bench b;
	static struct nand n;
	static struct nand_cmd busy;
	unsigned int k, l, round;

	for (k = 0; k < 4; k++) {
		struct ftl_cfg c = ftl_plain(FTL_DYNAMIC, k & 1 ?
					     FTL_GC_DEVICE : FTL_GC_CHIP, 500);
		int ret = 0;
		u32 unit;

		c.whole = k & 2;
		bench_open(&b, c, 0);
		for (round = 0; round < 40 && !ret; round++) {
			/* One die is idle for a long time, then all in turn. */
			for (l = 0; l < 4; l++)
				n.lun[l].cur = l == round % 4 ? NULL : &busy;
			for (unit = 0; unit < 500; unit++) {
				u32 u = round % 3 ?
					tap_rand(&b.seed) % 500 : unit;

				bench_write(&b, ftl_choose(&b.f, &n), &u, 1);
			}
			ret = inspect(&b.f);
		}
		eq(ret, 0, "one die idle, the others busy, gc %u, whole %u",
		   c.gc, c.whole);
		eq(b.bad, 0, "and it is greedy");
		bench_close(&b);
	}
}

static void choice(void)
{
	static struct bench b;
	static struct nand n;
	static struct nand_cmd busy;
	u32 unit = 0;

	bench_open(&b, ftl_plain(FTL_DYNAMIC, FTL_GC_CHIP, 64), 8);
	eq(ftl_choose(&b.f, NULL), 0, "dynamic: the dies in turn");
	eq(ftl_choose(&b.f, NULL), 1, "the next one");
	ftl_choose(&b.f, NULL);
	eq(ftl_choose(&b.f, NULL), 3, "to the last");
	eq(ftl_choose(&b.f, NULL), 0, "and again");
	n.lun[1].cur = n.lun[2].cur = &busy;
	eq(ftl_choose(&b.f, &n), 3, "idle dies first");
	n.lun[0].cur = n.lun[3].cur = &busy;
	eq(ftl_choose(&b.f, &n), 0, "none idle: in turn");
	eq(ftl_choose(&b.f, &n), 1, "in turn");
	n.lun[2].cur = NULL;
	/* An idle die without room is not chosen. */
	while (b.f.lun[2].free > 1 ||
	       b.f.lun[2].front[0].used < b.f.cfg.per_block) {
		struct ftl_work w;

		ftl_write(&b.f, 2, &unit, 1, 0, &w);
		unit = (unit + 1) % 64;
		if (b.f.lun[2].free <= 2)
			b.f.cfg.low = 0;
	}
	eq(ftl_choose(&b.f, &n), 3, "a die that is full is passed over");
	bench_close(&b);
}

static void sequential(void)
{
	static struct bench b;
	unsigned int k;
	u32 pass, u;

	for (k = 0; k < 6; k++) {
		struct ftl_cfg c = ftl_plain(k < 2 ? FTL_STATIC : FTL_DYNAMIC,
					     k < 4 ? FTL_GC_CHIP :
					     FTL_GC_DEVICE, 512);

		c.whole = k & 1;
		bench_open(&b, c, 2);
		for (pass = 0; pass < 20; pass++)
			for (u = 0; u < 512; u++)
				bench_write(&b, k < 2 ?
					    lun_of(&c.layout, 4, u) :
					    ftl_choose(&b.f, NULL), &u, 1);
		eq(b.f.flash, b.f.host,
		   "overwritten in order, alloc %u, gc %u, whole %u: WA is 1",
		   c.alloc, c.gc, c.whole);
		eq(b.f.copies, 0, "nothing is copied");
		eq(b.f.erases > 900, 1, "blocks are erased");
		bench_close(&b);
	}
}

static void amplification(void)
{
	static const u32 spares[] = { 0, 4, 12, 40 };
	unsigned int k, i;

	for (k = 0; k < 6; k++) {
		u64 last = SIM_NEVER;

		for (i = 0; i < 4; i++) {
			struct ftl_cfg c = ftl_plain(k < 2 ? FTL_STATIC :
						     FTL_DYNAMIC, k < 4 ?
						     FTL_GC_CHIP :
						     FTL_GC_DEVICE, 2048);
			static struct bench b;
			struct sim_rand r;
			u32 step;

			c.whole = k & 1;
			bench_open(&b, c, spares[i]);
			sim_rand_init(&r, 5);
			ftl_fill(&b.f, 2048, 4096, 0, &r);
			eq(b.f.host + b.f.flash + b.f.copies + b.f.erases, 0,
			   "filling counts for nothing");
			for (step = 0; step < 8000; step++) {
				u32 u = tap_rand(&b.seed) % 2048;

				bench_write(&b, k < 2 ?
					    lun_of(&c.layout, 4, u) :
					    ftl_choose(&b.f, NULL), &u, 1);
			}
			eq(b.f.flash < last, 1,
			   "alloc %u, gc %u, whole %u, spare %u: WA falls to %u.%03u",
			   c.alloc, c.gc, c.whole, spares[i],
			   (unsigned int)(b.f.flash / b.f.host),
			   (unsigned int)(b.f.flash * 1000 / b.f.host % 1000));
			eq(b.f.flash > b.f.host, 1, "and is above 1");
			last = b.f.flash;
			eq(inspect(&b.f) + b.bad, 0, "tables agree");
			bench_close(&b);
		}
	}
}

/* Paced: no write has many copies, and blocks are free in time. */
static void pacing(void)
{
	static const u32 shape[][4] = {
		/* per_page, per_prog, per_block; most copies with a program */
		{ 1, 1, 8, 2 }, { 1, 1, 64, 2 }, { 2, 6, 24, 14 },
		{ 4, 8, 64, 12 }, { 1, 12, 48, 20 },
	};
	unsigned int k, whole;

	for (k = 0; k < 2 * sizeof(shape) / sizeof(shape[0]); k++) {
		const u32 *sh = shape[k / 2];
		struct ftl_cfg c = ftl_plain(FTL_DYNAMIC, k % 2 ?
					     FTL_GC_DEVICE : FTL_GC_CHIP,
					     128 * sh[2]);
		u32 most[2] = { 0 }, step, i, units[16];
		static struct bench b;
		u64 least = SIM_NEVER;
		struct sim_rand r;

		c.per_page = sh[0];
		c.per_prog = sh[1];
		c.per_block = sh[2];
		c.low = 4;
		for (whole = 0; whole < 2; whole++) {
			c.whole = whole;
			bench_open(&b, c, 20);
			sim_rand_init(&r, 5);
			ftl_fill(&b.f, c.units, 4 * c.units, 0, &r);
			for (step = 0; step < 3000; step++) {
				u64 before = b.f.copies;

				for (i = 0; i < c.per_prog; i++)
					units[i] = tap_rand(&b.seed) % c.units;
				bench_write(&b, ftl_choose(&b.f, NULL), units,
					    c.per_prog);
				if (b.f.copies - before > most[whole])
					most[whole] = (u32)(b.f.copies -
							    before);
				if (!whole && b.f.free < least)
					least = b.f.free;
			}
			bench_close(&b);
		}
		eq(most[0] <= sh[3], 1,
		   "gc %u, shape %u: at most %u copies with a program",
		   c.gc, k / 2, sh[3]);
		eq(most[1] > most[0] && most[1] < sh[2], 1,
		   "whole: more at once, but only a block's");
		eq(least >= 4 * (c.low - 2), 1, "the reserve is not touched");
	}
}

static void seeds(void)
{
	static struct bench b[3];
	const u32 seed[] = { 1, 1, 2 };
	unsigned int i, k;

	for (k = 0; k < 2; k++) {
		size_t size = 500 * sizeof(u32);

		for (i = 0; i < 3; i++) {
			struct sim_rand r;

			bench_open(&b[i], ftl_plain(FTL_DYNAMIC, k ?
						    FTL_GC_DEVICE : FTL_GC_CHIP,
						    500), 2);
			sim_rand_init(&r, seed[i]);
			ftl_fill(&b[i].f, 400, 3000, 0, &r);
			eq(inspect(&b[i].f), 0, "filled, seed %u", seed[i]);
		}
		eq(memcmp(b[0].f.map, b[1].f.map, size), 0,
		   "the same seed, the same places");
		eq(memcmp(b[0].f.map, b[2].f.map, size) != 0, 1,
		   "another one, others");
		for (i = 400; i < 500; i++)
			if (b[0].f.map[i] != FTL_NONE)
				break;
		eq(i, 500, "the last fifth is empty");
		for (i = 0; i < 400; i++)
			if (b[0].f.map[i] == FTL_NONE)
				break;
		eq(i, 400, "the rest is full");
		for (i = 0; i < 3; i++)
			bench_close(&b[i]);
	}
}

/* Units overwritten at random and then in order are placed as in a new drive. */
static void rewritten(void)
{
	static struct bench b;
	struct sim_rand r;
	unsigned int u, bad = 0;

	bench_open(&b, ftl_plain(FTL_DYNAMIC, FTL_GC_CHIP, 512), 4);
	sim_rand_init(&r, 1);
	ftl_fill(&b.f, 512, 2048, 256, &r);
	eq(inspect(&b.f), 0, "rewritten in order: tables agree");
	for (u = 1; u < 256; u++)
		bad += ftl_lun_of(&b.f, b.f.map[u]) !=
			(ftl_lun_of(&b.f, b.f.map[0]) + u) % 4;
	eq(bad, 0, "its pages are on the dies in turn");
	for (bad = 0, u = 257; u < 512; u++)
		bad += ftl_lun_of(&b.f, b.f.map[u]) !=
			(ftl_lun_of(&b.f, b.f.map[256]) + u - 256) % 4;
	eq(bad > 64, 1, "those that were not do not");
	eq(b.f.host + b.f.flash, 0, "it counts for nothing");
	bench_close(&b);
}

/* A simulated used device has whole programs on the dies in turn. */
static void in_programs(void)
{
	struct ftl_cfg c = ftl_plain(FTL_DYNAMIC, FTL_GC_CHIP, 1000);
	static struct bench b;
	struct sim_rand r;
	unsigned int u, bad = 0;

	c.per_page = 2;
	c.per_prog = 6;
	c.per_block = 24;
	bench_open(&b, c, 8);
	sim_rand_init(&r, 1);
	ftl_fill(&b.f, 1000, 0, 0, &r);
	for (u = 0; u < 1000; u++)
		bad += ftl_lun_of(&b.f, b.f.map[u]) != u / 6 % 4;
	eq(bad, 0, "a program of 3 pages on each die, then the next");
	bench_close(&b);
}

/* The map's entry while a unit is in the write buffer */
static void buffered(void)
{
	static struct bench b;
	struct ftl_work w;
	u32 u[4] = { 7, 8, 9, 7 }, place, place2;

	struct ftl_cfg c = ftl_plain(FTL_DYNAMIC, FTL_GC_CHIP, 100);

	c.per_prog = 4;
	bench_open(&b, c, 2);
	ftl_buffer(&b.f, 7);
	eq(b.f.map[7], FTL_NONE | FTL_BUFFERED, "in the buffer, nowhere else");
	place = ftl_write(&b.f, 0, u, 4, FTL_BUFFERED, &w);
	eq(b.f.map[7], (place + 3) | FTL_BUFFERED,
	   "placed: the last one counts");
	eq(b.f.block[place / 8].valid, 3, "three units of four are valid");
	ftl_buffer(&b.f, 8);
	ftl_written(&b.f, place, 4);
	eq(b.f.map[7], place + 3, "written: in the flash only");
	eq(b.f.map[8], FTL_NONE | FTL_BUFFERED,
	   "newer data stays in the buffer");
	eq(b.f.block[place / 8].valid, 2, "and is the only one");
	u[0] = 8;
	u[1] = FTL_NONE;
	place2 = ftl_write(&b.f, 1, u, 2, FTL_BUFFERED, &w);
	eq(b.f.block[place2 / 8].valid, 1, "the rest of a program is padding");
	eq(b.f.lun[1].front[0].used, 4, "which takes room");
	eq(b.f.host, 6, "six units of the host");
	eq(b.f.flash, 8, "eight of the flash");
	ftl_discard(&b.f, 8);
	ftl_written(&b.f, place2, 4);
	eq(b.f.map[8], FTL_NONE, "discarded in between: stays away");
	eq(b.f.map[7], place + 3, "others are not touched");
	eq(inspect(&b.f), 0, "tables agree");
	bench_close(&b);
}

int main(void)
{
	/* Without room the layer would search for ever. */
	alarm(60);
	stripes();
	layouts();
	bad_layouts();
	mixes();
	skewed();
	choice();
	sequential();
	amplification();
	pacing();
	seeds();
	rewritten();
	in_programs();
	buffered();
	return tap_done();
}
