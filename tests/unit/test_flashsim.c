// SPDX-License-Identifier: GPL-2.0
/*
 * The whole drive: times of single requests to the nanosecond, what theory says
 * of many, the write buffer, the SLC buffer, the counters, and random drives
 * under random requests.
 */
#include "flashsim.h"

#define PAGE_SECTORS	8u
#define T_BUS		5120u		/* drive_plain(): a page on the bus, */
#define T_LINK		1217u		/* on the host link */
#define T_READ		36000u
#define T_PROG		185000u
#define FW_READ		20000u
#define FW_WRITE	10000u

/* All that is due until @t happens first. */
static void until(struct drive *d, u64 t)
{
	while (sim_next(d->s) <= t)
		drive_step(d);
	drive_until(d, t);
}

static struct sim_rq *page_at(struct drive *d, u64 t, enum sim_op op, u64 page,
			      u32 nr)
{
	until(d, t);
	return drive_send(d, op, page * PAGE_SECTORS, nr * PAGE_SECTORS);
}

static struct sim_rq *flush_at(struct drive *d, u64 t)
{
	until(d, t);
	return drive_send(d, SIM_FLUSH, 0, 0);
}

/* A write that ends in the flash. */
static struct sim_rq *fua_at(struct drive *d, u64 t, u64 page, u32 nr)
{
	until(d, t);
	return drive_send_fua(d, SIM_WRITE, page * PAGE_SECTORS,
			      nr * PAGE_SECTORS, true);
}

/* A drive with a write buffer of @units and programs of @per_prog. */
static struct drive_cfg drive_buffer(u32 channels, u32 units, u32 per_prog)
{
	struct drive_cfg c = drive_plain(channels, 1, 1);

	c.sim.buffer = units;
	c.ftl.alloc = FTL_DYNAMIC;
	c.ftl.gc = FTL_GC_CHIP;
	c.ftl.per_prog = per_prog;
	c.ftl.per_block = 16 * per_prog;
	c.sim.sectors = 512 * 8 * channels;
	c.spare = 64;
	return c;
}

/* Exact times */

static void one_request(void)
{
	struct drive_cfg c = drive_plain(8, 2, 1);
	struct sim_rq *rq, *rq2;
	struct drive d;

	drive_open(&d, &c);
	rq = page_at(&d, 1000, SIM_READ, 5, 1);
	drive_drain(&d);
	eq(rq->done - rq->arrival, FW_READ + T_READ + T_BUS + T_LINK,
	   "a read: firmware, sensing, bus, link");
	eq(rq->begun, 1000 + FW_READ, "it begins behind the firmware");
	eq(rq->chips, 1, "on one chip");
	eq(rq->chip, 5, "the fifth");

	rq = page_at(&d, d.now, SIM_WRITE, 5, 1);
	drive_drain(&d);
	eq(rq->done - rq->arrival, FW_WRITE + T_LINK + T_BUS + T_PROG,
	   "a write: firmware, link, bus, program");
	eq(rq->begun, rq->arrival + FW_WRITE + T_LINK, "begun behind the link");

	rq = drive_send(&d, SIM_READ, 5 * PAGE_SECTORS + 3, 1);
	drive_drain(&d);
	eq(rq->done - rq->arrival, FW_READ + T_READ + 640 + 152,
	   "one sector: a page is sensed, a sector moved");
	rq = drive_send(&d, SIM_READ, 5 * PAGE_SECTORS + 7, 2);
	drive_drain(&d);
	eq(rq->chips, 2, "two sectors of two pages: two chips");
	eq(rq->done - rq->arrival, FW_READ + T_READ + 640 + 2 * 152, "at once");
	rq = drive_send(&d, SIM_WRITE, 5 * PAGE_SECTORS + 3, 1);
	drive_drain(&d);
	eq(rq->done - rq->arrival, FW_WRITE + 152 + T_READ + 2 * T_BUS + T_PROG,
	   "one sector written: its page is read first");
	rq = drive_send(&d, SIM_WRITE, 5 * PAGE_SECTORS + 3, 16);
	drive_drain(&d);
	eq(rq->chips, 3, "two pages' worth across three");
	eq(rq->done - rq->arrival,
	   FW_WRITE + 2433 + T_READ + 2 * T_BUS + T_PROG,
	   "both ends are read at the same time");
	rq = flush_at(&d, d.now);
	drive_drain(&d);
	eq(rq->done - rq->arrival, FW_WRITE,
	   "a flush without buffer: firmware");
	rq = drive_send(&d, SIM_DISCARD, 0, 64);
	drive_drain(&d);
	eq(rq->done - rq->arrival, FW_WRITE, "a discard: firmware");
	drive_close(&d);

	c.sim.fw_4k = 460;
	drive_open(&d, &c);
	rq = page_at(&d, 0, SIM_READ, 0, 8);
	rq2 = page_at(&d, 1000000, SIM_WRITE, 0, 1);
	drive_drain(&d);
	eq(rq->done - rq->arrival, FW_READ + 8 * 460 + T_READ + T_BUS +
	   8 * T_LINK, "firmware for each 4 KiB, too");
	eq(rq2->done - rq2->arrival, FW_WRITE + 460 + T_LINK + T_BUS + T_PROG,
	   "of writes as well");
	rq = drive_send(&d, SIM_READ, 0, 9);
	drive_drain(&d);
	eq(rq->begun - rq->arrival, FW_READ + 2 * 460, "begun ones count");
	drive_close(&d);

	c = drive_buffer(4, 16, 1);
	drive_open(&d, &c);
	rq = page_at(&d, 0, SIM_WRITE, 5, 1);
	drive_drain(&d);
	eq(rq->done - rq->arrival, FW_WRITE + T_LINK,
	   "a write with a buffer: firmware, link");
	eq(d.s->nand.since, FW_WRITE + T_LINK + T_BUS + T_PROG,
	   "the flash works on");
	drive_close(&d);
}

static void parallel(void)
{
	struct drive_cfg c = drive_plain(8, 2, 1);
	struct sim_rq *a, *b;
	struct drive d;

	drive_open(&d, &c);
	a = page_at(&d, 0, SIM_READ, 0, 8);
	drive_drain(&d);
	eq(a->done, FW_READ + T_READ + T_BUS + 8 * T_LINK,
	   "8 pages on 8 channels: only the link is shared");
	eq(a->chips, 8, "8 chips");
	drive_reap(&d);
	a = page_at(&d, 1000000, SIM_READ, 0, 16);
	drive_drain(&d);
	eq(a->done - a->arrival, FW_READ + T_READ + T_BUS + 16 * T_LINK,
	   "16 on 8 x 2: the second bus turn hides behind the link");
	drive_reap(&d);
	a = page_at(&d, 2000000, SIM_READ, 0, 32);
	drive_drain(&d);
	/*
	 * The first ways have their second page sensed when the buses have long
	 * been free, and it ends 8 at a time on two turns of the buses.
	 */
	eq(a->done - a->arrival, FW_READ + 2 * (T_READ + T_BUS) + 16 * T_LINK,
	   "32: a second round of sensing");
	drive_close(&d);

	drive_open(&d, &c);
	a = page_at(&d, 0, SIM_READ, 3, 1);
	b = page_at(&d, 0, SIM_READ, 19, 1);
	drive_drain(&d);
	eq(a->done, FW_READ + T_READ + T_BUS + T_LINK, "one die, two reads");
	eq(b->begun, FW_READ + T_READ + T_BUS, "one begins as the other ends");
	eq(b->done, FW_READ + 2 * (T_READ + T_BUS) + T_LINK,
	   "and ends so later");
	eq(b->conflict, 1, "that is a conflict");
	drive_close(&d);

	drive_open(&d, &c);
	a = page_at(&d, 0, SIM_READ, 3, 1);
	b = page_at(&d, 0, SIM_READ, 11, 1);
	drive_drain(&d);
	eq(b->begun, FW_READ, "two chips: both begin at once");
	eq(b->done, FW_READ + T_READ + 2 * T_BUS + T_LINK,
	   "and share their bus");
	eq(b->conflict, 0, "which is none");
	drive_close(&d);

	drive_open(&d, &c);
	a = page_at(&d, 0, SIM_READ, 3, 1);
	b = page_at(&d, 0, SIM_READ, 4, 1);
	drive_drain(&d);
	eq(a->done, FW_READ + T_READ + T_BUS + T_LINK, "two channels");
	eq(b->done, a->done + T_LINK, "share the link only");
	drive_close(&d);
}

static void link_ways(void)
{
	struct drive_cfg c = drive_plain(8, 1, 1);
	unsigned int duplex;
	struct sim_rq *r, *w;
	struct drive d;

	for (duplex = 0; duplex < 2; duplex++) {
		/* A read's 8 pages go up while a write comes down. */
		const u64 up = FW_READ + T_READ + T_BUS;
		const u64 wait = duplex ? 0 : 8 * T_LINK - 100;

		c.sim.duplex = duplex;
		drive_open(&d, &c);
		r = page_at(&d, 0, SIM_READ, 0, 8);
		w = page_at(&d, up + 100 - FW_WRITE, SIM_WRITE, 8, 1);
		drive_drain(&d);
		eq(r->done, up + 8 * T_LINK, "duplex %u: the read", duplex);
		eq(w->done, up + 100 + wait + T_LINK + T_BUS + T_PROG,
		   "duplex %u: the write's data %s", duplex,
		   duplex ? "passes it" : "waits");
		drive_close(&d);

		/* And the other way round: 8 pages come down before it. */
		drive_open(&d, &c);
		r = page_at(&d, 0, SIM_READ, 1, 1);
		w = page_at(&d, up - 100 - FW_WRITE, SIM_WRITE, 8, 8);
		drive_drain(&d);
		eq(r->done, (duplex ? up : up - 100 + 9732) + T_LINK,
		   "duplex %u: the read's data %s", duplex,
		   duplex ? "passes it" : "waits");
		eq(w->begun, up - 100 + 9732, "the write's does not");
		drive_close(&d);
	}
}

/* Theory */

static void saturation(void)
{
	static const struct {
		const char *what;
		u32 channels, ways, dies;
		u64 ps_bus, ps_link;
		enum sim_op op;
		double ns;		/* of a request, at best */
	} is[] = {
		{ "dies, 8 x 1", 8, 1, 1, 1250, 100, SIM_READ,
		  (T_READ + T_BUS) / 8. },
		{ "dies, 8 x 2", 8, 2, 1, 1250, 100, SIM_READ,
		  (T_READ + T_BUS) / 16. },
		{ "dies, 4 x 2 x 2", 4, 2, 2, 1250, 100, SIM_READ,
		  (T_READ + T_BUS) / 16. },
		{ "programs, 8 x 4", 8, 4, 1, 1250, 100, SIM_WRITE,
		  (T_PROG + T_BUS) / 32. },
		{ "buses, 8 x 8", 8, 8, 1, 10000, 10, SIM_READ, 40960 / 8. },
		{ "buses, 2 x 4 x 4", 2, 4, 4, 5000, 10, SIM_READ, 20480 / 2. },
		{ "buses, programs", 2, 64, 1, 10000, 10, SIM_WRITE,
		  40960 / 2. },
		{ "the link", 8, 4, 1, 1250, 2000, SIM_READ, 8192 },
		{ "the link, programs", 8, 32, 1, 1250, 2000, SIM_WRITE, 8192 },
	};
	unsigned int i;

	for (i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		struct drive_cfg c = drive_plain(is[i].channels, is[i].ways,
						 is[i].dies);
		struct load l = { .op = is[i].op, .sectors = PAGE_SECTORS,
				  .sequential = true };
		u64 from, nr;
		struct drive d;

		c.sim.nand.ps_per_byte = is[i].ps_bus;
		c.sim.ps_link = is[i].ps_link;
		drive_open(&d, &c);
		drive_loop(&d, &l, 512, 1024);
		from = d.now;
		nr = d.ended;
		while (d.ended < nr + 4096) {
			u64 more = d.ended;

			drive_step(&d);
			drive_reap(&d);
			for (; more < d.ended; more++)
				load_send(&d, &l);
		}
		near((double)(d.now - from) / (double)(d.ended - nr), is[i].ns,
		     20000, "saturated: %s", is[i].what);
		eq(d.bad, 0, "in order of time");
		drive_close(&d);
	}
}

static void bursts(void)
{
	static const u32 sizes[][2] = {
		{ 16, 4 }, { 16, 16 }, { 8, 64 }, { 64, 32 }, { 128, 128 },
		{ 30, 10 },
	};
	unsigned int i, k;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		u32 chips = sizes[i][0], nr = sizes[i][1];
		struct drive_cfg c = chips == 30 ? drive_plain(3, 5, 2) :
			drive_plain(8, chips / 8, 1);
		struct load l = { .seed = 9, .op = SIM_READ,
				  .sectors = PAGE_SECTORS };
		double want = 1, sum = 0;
		struct drive d;

		if (chips == 30)
			chips = 15;		/* of two dies each */
		for (k = 0; k < nr; k++)
			want *= 1 - 1. / chips;
		want = chips * (1 - want);
		drive_open(&d, &c);
		for (k = 0; k < 2000; k++) {
			bool seen[128] = { false };
			struct sim_rq *rq;

			drive_burst(&d, &l, nr);
			for (rq = d.done; rq; rq = rq->next) {
				sum += !seen[rq->chip];
				seen[rq->chip] = true;
			}
		}
		near(sum / 2000, want, 30000,
		     "%u reads at once touch %.2f of %u chips", nr, want,
		     chips);
		eq(drive_rest(&d), 0, "at rest");
		drive_close(&d);
	}
}

static void queueing(void)
{
	static const u32 depth[] = { 16, 4, 64, 1 };
	unsigned int i, k;

	for (k = 0; k < 2; k++)
		for (i = 0; i < 4; i++) {
			/* The buses take no time, so places do not matter. */
			struct drive_cfg c = k ? drive_bare(4, 4, 1) :
				drive_bare(16, 1, 1);
			struct load l = { .seed = 4, .op = SIM_READ,
					  .sectors = PAGE_SECTORS };
			const struct nand_stats *st;
			struct drive d;

			c.sim.exponential = true;
			drive_open(&d, &c);
			st = &d.s->nand.stats;
			drive_loop(&d, &l, depth[i], 2000);
			sim_reset_stats(d.s, d.now);
			drive_loop(&d, &l, 0, 60000);
			near((double)st->busy / (double)st->active / 16,
			     depth[i] / (16. + depth[i] - 1), 30000,
			     "%u exponential reads on 16 chips (%s)", depth[i],
			     k ? "4 x 4" : "16 x 1");
			eq(st->active, d.now - d.s->start,
			   "something was always outstanding");
			drive_close(&d);
		}
}

static void exponential(void)
{
	double sum = 0, squares = 0;
	u64 above = 0, least = SIM_NEVER;
	const unsigned int nr = 1000000;
	struct sim_rand r = { 0 };
	unsigned int i;

	sim_rand_init(&r, 3);
	for (i = 0; i < nr; i++) {
		u64 t = sim_rand_exp(&r, 36000);
		double x = (double)t;

		sum += x;
		squares += x * x;
		above += t > 36000;
		if (t < least)
			least = t;
	}
	sum /= nr;
	squares = squares / nr - sum * sum;
	near(sum, 36000, 5000, "exponential times: the mean");
	near(squares, 36000. * 36000, 15000, "the variance");
	near((double)above / nr, 0.36788, 10000, "1 / e are above the mean");
	eq(least < 10, 1, "some are very short");
	/* The greatest that there may be: nothing overflows. */
	r.state = 1;
	for (sum = 0, i = 0; i < 100000; i++)
		sum += (double)sim_rand_exp(&r, 1ULL << 40);
	near(sum / 100000, (double)(1ULL << 40), 20000, "a mean of 2^40");
	eq(sim_rand_exp(&r, 0), 0, "a mean of 0");
	/* ln of the least u there is, 2^-32 */
	r.state = 0;
	near((double)sim_rand_exp(&r, 65536), 65536 * 22.1807, 100,
	     "the greatest: 32 ln 2 times the mean");
}

/* Array times that vary around what is configured */
static void varying(void)
{
	static const u32 vary[] = { 1, 100, 500 };
	unsigned int i, k;

	for (i = 0; i < 3; i++) {
		struct drive_cfg c = drive_bare(1, 1, 1);
		const double w = 1e9 * vary[i] / 1000;
		double sum = 0, squares = 0;
		u64 least = SIM_NEVER, most = 0;
		struct drive d;

		c.sim.vary = vary[i];
		c.sim.t_read = 1000000000;
		drive_open(&d, &c);
		for (k = 0; k < 20000; k++) {
			struct sim_rq *rq = page_at(&d, d.now, SIM_READ, 0, 1);
			double x;
			u64 ns;

			drive_drain(&d);
			ns = rq->done - rq->arrival;
			x = (double)ns - 1e9;
			sum += x;
			squares += x * x;
			if (ns < least)
				least = ns;
			if (ns > most)
				most = ns;
			drive_reap(&d);
		}
		near(1e9 + sum / k, 1e9, 10 * vary[i],
		     "vary %u: the mean stays", vary[i]);
		/* All is in 1/65536 of the time. */
		eq((double)least >= 1e9 - w - 2 * 1e9 / 65536 &&
		   (double)most <= 1e9 + w + 2 * 1e9 / 65536, 1,
		   "vary %u: within its bounds", vary[i]);
		near(squares / k, w * w / 3, vary[i] == 1 ? 60000 : 30000,
		     "vary %u: evenly", vary[i]);
		drive_close(&d);
	}
}

/* The firmware's processor does one command at a time, in order of arrival. */
static void commands(void)
{
	struct drive_cfg c = drive_bare(4, 2, 1);
	struct sim_rq *rq[4];
	struct drive d;

	c.sim.cmd_read = 4000;
	c.sim.cmd_write = 1000;
	c.sim.fw_read = 16000;
	c.sim.fw_write = 9000;
	drive_open(&d, &c);
	rq[0] = drive_send(&d, SIM_READ, 0, 8);
	rq[1] = drive_send(&d, SIM_READ, 8, 8);
	rq[2] = drive_send(&d, SIM_WRITE, 16, 8);
	drive_drain(&d);
	eq(rq[0]->done, 4000 + 16000 + 36000, "first command");
	eq(rq[1]->done, 8000 + 16000 + 36000, "the second waits for it");
	eq(rq[2]->done, 9000 + 9000 + 185000, "a write takes its own time");
	rq[3] = drive_send(&d, SIM_READ, 0, 8);
	drive_drain(&d);
	eq(rq[3]->done - rq[3]->arrival, 4000 + 16000 + 36000, "an idle processor owes nothing");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);
}

/* What it costs to turn from reads to writes and back */
static void turns(void)
{
	struct drive_cfg c = drive_bare(4, 2, 1);
	struct sim_rq *rq[4];
	struct drive d;

	c.sim.cmd_read = 4000;
	c.sim.cmd_write = 1000;
	c.sim.fw_read = 16000;
	c.sim.fw_write = 9000;
	c.sim.turn = 50000;
	drive_open(&d, &c);
	rq[0] = drive_send(&d, SIM_READ, 0, 8);
	rq[1] = drive_send(&d, SIM_READ, 8, 8);
	rq[2] = drive_send(&d, SIM_WRITE, 16, 8);
	rq[3] = drive_send(&d, SIM_WRITE, 24, 8);
	drive_drain(&d);
	eq(rq[0]->done, 4000 + 16000 + 36000, "the first one does not turn");
	eq(rq[1]->done, 8000 + 16000 + 36000, "nor does one like it");
	eq(rq[2]->done, 59000 + 9000 + 185000, "a write after a read does");
	eq(rq[3]->done, 60000 + 9000 + 185000, "the next one does not");
	rq[0] = drive_send(&d, SIM_READ, 0, 8);
	drive_drain(&d);
	eq(rq[0]->done - rq[0]->arrival, 50000 + 4000 + 16000 + 36000,
	   "a read after a write does, however long that was ago");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);
}

/* A page in the register, as seen from outside */
static void page_register(void)
{
	unsigned int mapped;

	for (mapped = 0; mapped < 2; mapped++) {
		struct drive_cfg c = drive_plain(2, 1, 1);
		struct sim_rq *rq;
		struct drive d;

		c.sim.nand.keep = true;
		if (mapped) {
			c.ftl.gc = FTL_GC_CHIP;
			c.sim.sectors = 512 * 8;
			c.fill = 512;
			c.spare = 16;
		}
		drive_open(&d, &c);
		page_at(&d, 0, SIM_READ, 6, 1);
		rq = page_at(&d, 1000000, SIM_READ, 6, 1);
		drive_drain(&d);
		eq(rq->done - rq->arrival, FW_READ + T_BUS + T_LINK,
		   "map %u: a page that is in the register", mapped);
		rq = drive_send(&d, SIM_READ, 6 * PAGE_SECTORS + 1, 1);
		drive_drain(&d);
		eq(rq->done - rq->arrival, FW_READ + 640 + 152,
		   "map %u: a part of it", mapped);
		rq = page_at(&d, 2000000, SIM_READ, 8, 1);
		drive_drain(&d);
		eq(rq->done - rq->arrival, FW_READ + T_READ + T_BUS + T_LINK,
		   "map %u: another one of its die", mapped);
		page_at(&d, 3000000, SIM_WRITE, 8, 1);
		rq = page_at(&d, 4000000, SIM_READ, 8, 1);
		drive_drain(&d);
		eq(rq->done - rq->arrival, FW_READ + T_READ + T_BUS + T_LINK,
		   "map %u: after it was written", mapped);
		eq(d.s->nand.stats.kept, 2, "two hits");
		drive_close(&d);
	}
}

/* Orders */

/*
 * A drive in which nothing but the arrays takes time, against a queue that is
 * worked through from its head with a clock for each die.
 */
static void in_order(void)
{
	unsigned int round;

	for (round = 0; round < 40; round++) {
		struct drive_cfg c = drive_bare(4, 1 + round % 2, 1);
		unsigned long long seed = round;
		u64 begun[200], done[200], start = 0, t = 0;
		struct sim_rq *rq[200];
		u64 idle[8] = { 0 };
		unsigned int i, k, bad = 0, luns = 4 * (1 + round % 2);
		struct drive d;

		c.sim.nand.order = NAND_IN_ORDER;
		c.log_len = 200;
		drive_open(&d, &c);
		for (i = 0; i < 200; i++) {
			bool write = tap_rand(&seed) % 3 == 0;
			u32 nr = 1 + tap_rand(&seed) % 4 *
				(tap_rand(&seed) % 2);
			u64 page = tap_rand(&seed) % 1000;
			u64 each = write ? T_PROG : T_READ;

			t += tap_rand(&seed) % (round % 5 * 20000 + 1);
			rq[i] = page_at(&d, t, write ? SIM_WRITE : SIM_READ,
					page, nr);
			/* The other one */
			if (start < t)
				start = t;
			for (k = 0; k < nr; k++)
				if (idle[(page + k) % luns] > start)
					start = idle[(page + k) % luns];
			begun[i] = done[i] = start;
			for (k = 0; k < nr; k++) {
				u64 *die = &idle[(page + k) % luns];

				if (*die < start)
					*die = start;
				*die += each;
				if (*die > done[i])
					done[i] = *die;
			}
		}
		drive_drain(&d);
		for (i = 0; i < 200; i++)
			bad += rq[i]->begun != begun[i] ||
				rq[i]->done != done[i];
		eq(bad, 0, "in order: 200 requests, %u dies, round %u", luns,
		   round);
		eq(drive_rest(&d), 0, "at rest");
		drive_close(&d);
	}
}

static void orders(void)
{
	static const struct {
		enum nand_order order;
		u64 done[4];
	} is[] = {
		/* W 0, W 0, R 0, R 1 arrive together on two dies */
		{ NAND_CHIP_FIFO, { T_PROG, 2 * T_PROG, 2 * T_PROG + T_READ,
				    T_READ } },
		{ NAND_READ_FIRST, { T_PROG, 2 * T_PROG + T_READ,
				     T_PROG + T_READ, T_READ } },
		{ NAND_IN_ORDER, { T_PROG, 2 * T_PROG, 2 * T_PROG + T_READ,
				   2 * T_PROG + T_READ } },
	};
	unsigned int i, k;

	for (i = 0; i < 3; i++) {
		struct drive_cfg c = drive_bare(2, 1, 1);
		struct sim_rq *rq[4];
		struct drive d;

		c.sim.nand.order = is[i].order;
		drive_open(&d, &c);
		rq[0] = page_at(&d, 0, SIM_WRITE, 0, 1);
		rq[1] = page_at(&d, 0, SIM_WRITE, 2, 1);
		/* Writes cross the link before they get to a die. */
		drive_until(&d, 0);
		rq[2] = page_at(&d, 0, SIM_READ, 4, 1);
		rq[3] = page_at(&d, 0, SIM_READ, 1, 1);
		drive_drain(&d);
		for (k = 0; k < 4; k++)
			eq(rq[k]->done, is[i].done[k], "order %u: request %u",
			   i, k);
		drive_close(&d);
	}
}

static void suspension(void)
{
	unsigned int on;

	for (on = 0; on < 2; on++) {
		struct drive_cfg c = drive_plain(1, 1, 1);
		struct sim_rq *r, *w;
		struct drive d;

		c.sim.nand.suspend = on * 7000;
		drive_open(&d, &c);
		w = page_at(&d, 0, SIM_WRITE, 0, 1);
		r = page_at(&d, 50000, SIM_READ, 1, 1);
		drive_drain(&d);
		if (on) {
			eq(r->done, 50000 + FW_READ + 7000 + T_READ + T_BUS +
			   T_LINK, "suspend: the read");
			eq(w->done, FW_WRITE + T_LINK + T_BUS + T_PROG + 7000 +
			   T_READ + T_BUS, "suspend: the write keeps its time");
		} else {
			eq(w->done, FW_WRITE + T_LINK + T_BUS + T_PROG,
			   "no suspend: the write");
			eq(r->done, w->done + T_READ + T_BUS + T_LINK,
			   "no suspend: the read");
		}
		eq(d.s->nand.stats.suspends, on, "counted");
		eq(d.s->nand.stats.wait[0], on ? 0 : w->done - 50000 - FW_READ,
		   "and what the read waited");
		eq(r->conflict, 1, "a conflict either way");
		drive_close(&d);
	}
}

static void conflicts(void)
{
	struct drive_cfg c = drive_plain(4, 1, 1);
	const struct nand_stats *n;
	const struct sim_stats *st;
	struct drive d;

	drive_open(&d, &c);
	n = &d.s->nand.stats;
	st = &d.s->stats;
	page_at(&d, 0, SIM_READ, 0, 1);
	page_at(&d, 0, SIM_READ, 4, 1);
	page_at(&d, 0, SIM_READ, 1, 1);
	page_at(&d, 0, SIM_READ, 2, 8);		/* 2 3 0 1 2 3 0 1 */
	page_at(&d, 30000, SIM_WRITE, 0, 1);
	page_at(&d, 30000, SIM_WRITE, 4, 1);
	drive_drain(&d);
	eq(n->conflicts[0][0], 3, "reads behind others' reads");
	eq(n->conflicts[0][1], 1, "a write behind a read");
	eq(n->conflicts[1][1], 1, "a write behind a write");
	eq(n->conflicts[1][0], 0, "no read behind a write");
	eq(st->conflict_requests[0], 2, "two reads with a conflict");
	eq(st->conflict_requests[1], 2, "and two writes");
	drive_close(&d);
}

/* Counters */

static void counters(void)
{
	struct drive_cfg c = drive_plain(4, 2, 2);
	unsigned int round;

	for (round = 0; round < 6; round++) {
		u64 chip_time = 0, busy = 0, active = 0, t = 0, sum = 0;
		u64 reads = 0, writes = 0, latency[2] = { 0 }, ended[2] = { 0 };
		u64 before[8] = { 0 }, from = 0, rows_r = 0, rows_w = 0;
		u64 rows_busy = 0, rows_bytes = 0, rows_copies = 0;
		u64 range_time = 0, row_most = 0, in_flight;
		unsigned long long seed = round + 1;
		unsigned int i, k, logged, bad = 0;
		const struct sim_stats *st;
		struct drive d;
		struct sim *s;

		if (round & 1) {
			c.ftl.gc = FTL_GC_CHIP;
			c.sim.sectors = 1024 * 8;
			c.fill = 1024;
			c.overwrites = 2048;
		} else {
			c.ftl.gc = FTL_GC_NONE;
		}
		c.sim.nand.order = round % 3;
		c.log_len = 300;
		c.row_len = 40000;
		c.sim.series = 100000;
		drive_open(&d, &c);
		s = d.s;
		st = &s->stats;
		for (i = 0; i < 1200 || sim_next(s) != SIM_NEVER; ) {
			bool send = i < 1200 && (tap_rand(&seed) % 4 == 0 ||
						 sim_next(s) == SIM_NEVER);
			u64 then = sim_next(s), dt;
			struct sim_rq *rq;

			if (send && t + tap_rand(&seed) % 40000 < then)
				then = t + tap_rand(&seed) % 9000;
			if (then > sim_next(s))
				then = sim_next(s);
			if (then == SIM_NEVER)
				then = t + 50000;
			dt = then - t;
			for (k = 0; k < 8; k++) {
				bool works = s->nand.lun[k].cur ||
					s->nand.lun[k + 8].cur;

				chip_time += works * dt;
				busy += (works && s->outstanding) * dt;
			}
			active += !!s->outstanding * dt;
			t = then;
			drive_until(&d, t);
			for (rq = d.done; rq; rq = rq->next) {
				ended[rq->op]++;
				latency[rq->op] += rq->done - rq->arrival;
				reads += (rq->op == SIM_READ) * rq->sectors;
				writes += (rq->op == SIM_WRITE) * rq->sectors;
			}
			drive_reap(&d);
			if (i == 200 && send) {
				/* In the middle of work all begins anew. */
				sim_reset_stats(s, t);
				from = t;
				chip_time = busy = active = reads = writes = 0;
				memset(latency, 0, sizeof(latency));
				memset(ended, 0, sizeof(ended));
				eq(st->outstanding_max, s->outstanding,
				   "reset with %u requests outstanding",
				   s->outstanding);
				eq(s->log_nr + s->row_nr, 0, "no rows");
				for (k = 0; k < 8; k++)
					before[k] = nand_chip_busy(&s->nand, k,
								   t);
				for (k = 0; k < 8; k++)
					sum += before[k];
				eq(sum, 0, "chips begin anew");
				sum = 0;
			}
			if (send) {
				u32 nr = 1 + tap_rand(&seed) % 32;

				i++;
				drive_send(&d, tap_rand(&seed) % 2 ? SIM_READ :
					   SIM_WRITE, tap_rand(&seed) %
					   (c.sim.sectors - nr), nr);
			}
		}
		for (k = 0; k < 8; k++)
			sum += nand_chip_busy(&s->nand, k, t);
		eq(sum, chip_time, "round %u: time of the chips", round);
		eq(s->nand.stats.busy, busy, "their time with requests");
		eq(s->nand.stats.active, active, "time with requests");
		eq(s->now - s->start, t - from, "elapsed");
		eq(st->requests[SIM_READ], ended[0], "reads");
		eq(st->requests[SIM_WRITE], ended[1], "writes");
		eq(st->bytes[0], reads * 512, "bytes read");
		eq(st->bytes[1], writes * 512, "bytes written");
		eq(st->latency[0], latency[0], "latency of reads");
		eq(st->latency[1], latency[1], "latency of writes");
		for (k = 0; k < 8; k++)
			range_time += st->range_ns[k][0] + st->range_ns[k][1];
		eq(range_time > 0, 1, "ranges");

		/* Rows: the last one is not yet closed. */
		in_flight = 0;
		drive_until(&d, t + c.sim.series);
		eq(s->row_nr, (d.now - from) / c.sim.series, "rows");
		for (i = 0; i < s->row_nr; i++) {
			rows_r += s->row[i].reads;
			rows_w += s->row[i].writes;
			rows_bytes += s->row[i].read_bytes +
				s->row[i].write_bytes;
			rows_copies += s->row[i].copies;
			if (s->row[i].outstanding > row_most)
				row_most = s->row[i].outstanding;
			for (k = 0; k < 8; k++) {
				u16 share = s->row_chip[i * 8 + k];

				rows_busy += share;
				bad += share > 1000;
			}
			in_flight = s->row[i].outstanding;
		}
		eq(rows_r, ended[0], "rows: reads");
		eq(rows_w, ended[1], "rows: writes");
		eq(rows_bytes, (reads + writes) * 512, "rows: bytes");
		eq(rows_copies, s->ftl.copies, "rows: copies");
		eq(in_flight, 0, "nothing outstanding in the last");
		eq(row_most > 0 && row_most <= st->outstanding_max, 1,
		   "but before");
		eq(bad, 0, "no chip is busy for more than all the time");
		/* Each share is rounded down. */
		eq(rows_busy * c.sim.series / 1000 <= chip_time &&
		   (rows_busy + 8 * s->row_nr) * c.sim.series / 1000 >=
		   chip_time, 1, "rows: time of the chips");

		logged = s->log_nr;
		eq(logged, 300, "the log is full");
		for (bad = i = 0; i < logged; i++) {
			const struct sim_log *l = &s->log[i];

			bad += l->begun < l->arrival || l->done < l->begun ||
				!l->sectors || l->op > SIM_WRITE ||
				(!(round & 1) && l->chips !=
				 (l->sector % 8 + l->sectors + 7) / 8);
			bad += i && l->done < l[-1].done;
		}
		eq(bad, 0, "the log is in order");
		eq(drive_rest(&d), 0, "at rest");
		drive_close(&d);
	}
}

static void log_row(void)
{
	struct drive_cfg c = drive_plain(4, 1, 1);
	const struct sim_log *l;
	struct drive d;

	c.log_len = 2;
	drive_open(&d, &c);
	page_at(&d, 1000, SIM_READ, 6, 3);
	flush_at(&d, 500000);
	flush_at(&d, 600000);
	drive_drain(&d);
	l = d.s->log;
	eq(d.s->log_nr, 2, "a log of two rows");
	eq(l->arrival, 1000, "arrival");
	eq(l->begun, 1000 + FW_READ, "begin");
	eq(l->done, 1000 + FW_READ + T_READ + T_BUS + 3 * T_LINK, "end");
	eq(l->sector, 48, "sector");
	eq(l->sectors, 24, "sectors");
	eq(l->chip, 2, "first chip");
	eq(l->chips, 3, "chips");
	eq(l->op, SIM_READ, "a read");
	eq(l[1].op, SIM_FLUSH, "a flush");
	eq(l[1].begun, l[1].done, "begins when it ends, as it has no chip");
	drive_close(&d);

	/* Ranges: an eighth of the capacity each */
	c = drive_plain(4, 1, 1);
	drive_open(&d, &c);
	page_at(&d, 0, SIM_READ, 0, 1);
	page_at(&d, 1000000, SIM_READ, 2047, 2);
	page_at(&d, 2000000, SIM_WRITE, 16383, 1);
	drive_drain(&d);
	eq(d.s->stats.range_ns[0][0], 3 * (T_READ + T_BUS),
	   "range 0: what begins there");
	eq(d.s->stats.range_ns[1][0], 0, "range 1: nothing");
	eq(d.s->stats.range_ns[7][1], T_BUS + T_PROG, "range 7: a write");
	drive_close(&d);

	/* An offset moves pages among the dies, not among the ranges. */
	c.sim.offset = 8;
	drive_open(&d, &c);
	page_at(&d, 0, SIM_READ, 0, 1);
	drive_drain(&d);
	eq(d.done->chip, 1, "offset: a page further");
	drive_reap(&d);
	page_at(&d, d.now, SIM_READ, 16383, 1);
	drive_drain(&d);
	eq(d.done->chip, 0, "and so at the end");
	eq(d.s->stats.range_ns[7][0], T_READ + T_BUS, "the last range");
	drive_close(&d);
	c.sim.offset = 3;
	drive_open(&d, &c);
	page_at(&d, 0, SIM_READ, 1, 1);
	drive_drain(&d);
	eq(d.done->chips, 2, "an offset across pages: two chips");
	drive_close(&d);
}

/* Write buffer */

static void buffer(void)
{
	struct drive_cfg c = drive_buffer(1, 4, 1);
	const u64 in = FW_WRITE, prog = T_BUS + T_PROG;
	struct sim_rq *w[8], *f, *r;
	struct drive d;
	unsigned int i;

	drive_open(&d, &c);
	for (i = 0; i < 6; i++)
		w[i] = page_at(&d, 0, SIM_WRITE, i, 1);
	drive_drain(&d);
	for (i = 0; i < 4; i++)
		eq(w[i]->done, in + (i + 1) * T_LINK, "write %u of 4: in", i);
	eq(w[4]->done, in + T_LINK + prog, "the fifth waits for a program");
	eq(w[5]->done, in + T_LINK + 2 * prog, "the sixth for two");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* More than the buffer at once */
	drive_open(&d, &c);
	w[0] = page_at(&d, 0, SIM_WRITE, 0, 10);
	drive_drain(&d);
	eq(w[0]->done, in + 12165 + 6 * prog, "10 pages through a buffer of 4");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* Programs of four, and never four together */
	c = drive_buffer(1, 6, 4);
	drive_open(&d, &c);
	w[0] = page_at(&d, 0, SIM_WRITE, 0, 3);
	drive_drain(&d);
	eq(w[0]->done, in + 3 * T_LINK - 1, "three pages of a program of four");
	eq(d.s->stats.nand_programs, 0, "wait in the buffer");
	eq(d.s->ring_nr, 3, "as long as nobody wants more");
	f = flush_at(&d, 500000);
	drive_drain(&d);
	eq(f->done, 500000 + FW_WRITE + 4 * T_BUS + T_PROG,
	   "a flush wants it: a whole program for three");
	eq(d.s->ftl.flash, 4, "padded");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* A program of two ranges: each has the time of its units. */
	c = drive_buffer(1, 8, 4);
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 100, 1);
	page_at(&d, 0, SIM_WRITE, 0, 3);
	drive_drain(&d);
	eq(drive_rest(&d), 0, "at rest");
	eq(d.s->stats.nand_programs, 1, "one program");
	eq(d.s->stats.range_ns[1][1], (4 * T_BUS + T_PROG) / 4,
	   "a quarter of it");
	eq(d.s->stats.range_ns[0][1],
	   4 * T_BUS + T_PROG - (4 * T_BUS + T_PROG) / 4, "and the rest");
	drive_close(&d);

	/* Less room than a write takes, and less than a program in the rest */
	for (i = 0; i < 3; i++) {
		c = drive_buffer(1, 4 + i, 4);
		drive_open(&d, &c);
		w[0] = page_at(&d, 0, SIM_WRITE, 0, 11);
		w[1] = page_at(&d, 0, SIM_WRITE, 100, 1);
		w[2] = fua_at(&d, 0, 200, 11);
		drive_drain(&d);
		eq(w[0]->done != SIM_NEVER && w[1]->done != SIM_NEVER, 1,
		   "11 pages, a buffer of %u, programs of 4", 4 + i);
		eq(w[2]->done != SIM_NEVER, 1, "with FUA, too");
		eq(drive_rest(&d), 0, "at rest");
		drive_close(&d);
	}
	c = drive_buffer(1, 3, 4);
	drive_open(&d, &c);
	w[0] = page_at(&d, 0, SIM_WRITE, 0, 9);
	drive_drain(&d);
	eq(w[0]->done, in + 10949 + 2 * (4 * T_BUS + T_PROG),
	   "a buffer smaller than a program: it is programmed in part");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* Reads of what is in there */
	c = drive_buffer(1, 4, 1);
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 7, 1);
	r = page_at(&d, 20000, SIM_READ, 7, 1);
	drive_drain(&d);
	eq(r->done, 20000 + FW_READ + T_LINK,
	   "a read of what is being programmed");
	eq(r->chips, 0, "needs no chip");
	eq(d.s->stats.buffer_hits, 1, "a hit");
	r = page_at(&d, 500000, SIM_READ, 7, 1);
	drive_drain(&d);
	eq(r->done, 500000 + FW_READ + T_READ + T_BUS + T_LINK,
	   "afterwards it comes from the flash");
	page_at(&d, 1000000, SIM_WRITE, 8, 1);
	r = page_at(&d, 1020000, SIM_READ, 7, 2);
	drive_drain(&d);
	/* Die 0 programs page 8 until then. */
	eq(r->done, 1000000 + in + T_LINK + prog + T_READ + T_BUS + T_LINK,
	   "one page from the buffer, one from the flash");
	r = page_at(&d, 2000000, SIM_READ, 300, 2);
	drive_drain(&d);
	eq(r->done, 2000000 + FW_READ + 2 * T_LINK - 1,
	   "what was never written");
	eq(d.s->stats.buffer_hits, 2, "is no hit");
	eq(d.s->stats.nand_reads, 2, "and no read");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);
}

static void flushes(void)
{
	struct drive_cfg c = drive_buffer(1, 16, 4);
	const u64 prog = 4 * T_BUS + T_PROG, in = FW_WRITE + 4866;
	struct sim_rq *f[3], *w;
	struct drive d;

	/* A, flush, B: the flush does not wait for B. */
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 4);
	f[0] = flush_at(&d, 20000);
	page_at(&d, 25000, SIM_WRITE, 4, 8);
	f[1] = flush_at(&d, 50000);
	drive_drain(&d);
	eq(f[0]->done, in + prog, "a flush waits for what was there before");
	eq(f[1]->done, in + 3 * prog, "the next one for the rest");
	f[2] = flush_at(&d, d.now);
	drive_drain(&d);
	eq(f[2]->done - f[2]->arrival, FW_WRITE,
	   "nothing there: firmware only");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* One program at a time: both halves meet in the buffer. */
	c.progs = 1;
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 4);
	page_at(&d, 1, SIM_WRITE, 4, 2);
	f[0] = flush_at(&d, 40000);
	page_at(&d, 50000, SIM_WRITE, 6, 2);
	f[1] = flush_at(&d, 60000);
	page_at(&d, 70000, SIM_WRITE, 8, 4);
	drive_drain(&d);
	eq(f[0]->done, in + 2 * prog,
	   "a program does not reach across a flush");
	eq(f[1]->done, in + 3 * prog, "but begins anew behind it");
	eq(d.s->stats.nand_programs, 4, "four programs");
	eq(d.s->ftl.flash, 16, "two of them padded");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* FUA is a flush behind the write, and does not hold others up. */
	c = drive_buffer(1, 16, 1);
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 1);
	w = fua_at(&d, 0, 1, 1);
	f[0] = page_at(&d, 0, SIM_WRITE, 2, 1);
	drive_drain(&d);
	eq(w->done, FW_WRITE + T_LINK + 2 * (T_BUS + T_PROG),
	   "FUA: when it is in the flash");
	eq(f[0]->done, FW_WRITE + 3 * T_LINK,
	   "a write behind it is not held up");
	eq(w->chips, 0, "its chips are the buffer's matter");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);
}

/* What happens to a unit that is in the buffer */
static void in_buffer(void)
{
	struct drive_cfg c = drive_buffer(1, 16, 4);
	struct sim_rq *r;
	struct drive d;
	unsigned int i;

	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 3);
	for (i = 0; i < 10; i++)
		page_at(&d, 100000 + i * 100000, SIM_WRITE, 2, 1);
	drive_drain(&d);
	eq(d.s->buffered, 3,
	   "overwritten in the buffer: it takes no more room");
	flush_at(&d, d.now);
	drive_drain(&d);
	eq(d.s->ftl.host, 13, "but the host has written it");
	eq(d.s->ftl.flash, 4, "one program");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* One copy is on the way to the flash, another in the buffer. */
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 4);
	page_at(&d, 100000, SIM_WRITE, 3, 1);
	page_at(&d, 101000, SIM_WRITE, 3, 1);
	page_at(&d, 300000, SIM_WRITE, 3, 1);
	r = page_at(&d, 500000, SIM_READ, 3, 1);
	drive_drain(&d);
	eq(r->chips, 0, "the newest data is in the buffer, and read there");
	eq(d.s->buffered, 1, "once");
	page_at(&d, d.now, SIM_WRITE, 4, 3);
	drive_drain(&d);
	r = page_at(&d, d.now, SIM_READ, 3, 1);
	drive_drain(&d);
	eq(r->chips, 1, "then it is in the flash");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* Programs of one, but only one at a time: many copies at once */
	c = drive_buffer(1, 16, 1);
	c.progs = 1;
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 9, 1);
	for (i = 0; i < 3; i++)
		page_at(&d, 20000 + i, SIM_WRITE, 5, 1);
	for (i = 0; i < 3; i++) {
		r = page_at(&d, 210000 + i * 50000, SIM_READ, 5, 1);
		drive_until(&d, 210000 + i * 50000 + FW_READ + T_LINK);
		eq(r->done, 210000 + i * 50000 + FW_READ + T_LINK,
		   "a read while a copy is still in the buffer");
	}
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* Discarded: gone, and it stays so. */
	c = drive_buffer(1, 16, 4);
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 3);
	page_at(&d, 100000, SIM_DISCARD, 1, 1);
	flush_at(&d, 200000);
	drive_drain(&d);
	eq(d.s->ftl.map[1], FTL_NONE, "discarded in the buffer: nowhere");
	eq(d.s->ftl.map[0] < FTL_NONE && d.s->ftl.map[2] < FTL_NONE, 1,
	   "its neighbours are in the flash");
	r = page_at(&d, d.now, SIM_READ, 1, 1);
	drive_drain(&d);
	eq(r->chips, 0, "and it is no work to read it");
	page_at(&d, d.now, SIM_WRITE, 1, 1);
	page_at(&d, d.now + 50000, SIM_DISCARD, 1, 1);
	page_at(&d, d.now + 100000, SIM_WRITE, 1, 1);
	drive_drain(&d);
	r = page_at(&d, d.now, SIM_READ, 1, 1);
	drive_drain(&d);
	eq(r->chips, 0, "discarded and written again: in the buffer");
	flush_at(&d, d.now);
	drive_drain(&d);
	eq(d.s->ftl.map[1] < FTL_NONE, 1, "and then in the flash");
	drive_send(&d, SIM_DISCARD, 1, 14);
	drive_drain(&d);
	eq(d.s->ftl.map[0] < FTL_NONE && d.s->ftl.map[1] < FTL_NONE, 1,
	   "a part of a unit is not discarded");
	drive_send(&d, SIM_ZEROES, 7, 10);
	drive_drain(&d);
	eq(d.s->ftl.map[0] < FTL_NONE && d.s->ftl.map[1] == FTL_NONE &&
	   d.s->ftl.map[2] < FTL_NONE, 1, "zeroes: what lies in them wholly");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);
}

/* Units of 4 KiB in pages of 16 */
static void small_units(void)
{
	struct drive_cfg c = drive_buffer(2, 32, 8);
	struct sim_rq *r;
	struct drive d;

	c.ftl.per_page = 4;
	c.sim.page = 16384;
	drive_open(&d, &c);
	page_at(&d, 0, SIM_WRITE, 0, 8);
	r = page_at(&d, 1000000, SIM_READ, 0, 8);
	drive_drain(&d);
	eq(d.s->stats.nand_programs, 1, "8 units: one program");
	eq(d.s->stats.nand_reads, 2, "two pages");
	eq(r->chips, 1, "on one chip");
	/* Two transfers; the first one's link hides in the second. */
	eq(r->done - r->arrival, FW_READ + 2 * (T_READ + 4 * T_BUS) + 4866,
	   "read one by one");
	r = page_at(&d, 2000000, SIM_READ, 3, 1);
	drive_drain(&d);
	eq(r->done - r->arrival, FW_READ + T_READ + T_BUS + T_LINK,
	   "one unit: only it is moved");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);
}

/* Collection on the dies: what it costs who writes */
static void collection(void)
{
	struct drive_cfg c = drive_plain(1, 1, 1);
	struct sim_rq *w;
	struct drive d;
	u64 copies, most = 0;
	unsigned int i;
	struct load l = { .seed = 1, .op = SIM_WRITE, .sectors = PAGE_SECTORS };

	c.ftl.gc = FTL_GC_CHIP;
	c.ftl.whole = true;
	c.sim.sectors = 512 * 8;
	c.fill = 512;
	c.overwrites = 1024;
	c.spare = 4;
	drive_open(&d, &c);
	for (i = 0; i < 200; i++) {
		u64 erases = d.s->ftl.erases, want;

		copies = d.s->ftl.copies;
		w = page_at(&d, d.now, SIM_WRITE, tap_rand(&l.seed) % 512, 1);
		drive_drain(&d);
		copies = d.s->ftl.copies - copies;
		erases = d.s->ftl.erases - erases;
		want = FW_WRITE + T_LINK + copies * (T_READ + T_PROG +
						     2 * T_BUS) +
			T_BUS + T_PROG + erases * 3500000;
		if (w->done - w->arrival != want)
			break;
		if (copies > most)
			most = copies;
		drive_reap(&d);
	}
	eq(i, 200, "each write takes what it collects, and no more");
	eq(most > 4, 1, "blocks were collected");
	eq(d.s->stats.gc_ns, d.s->ftl.copies * (T_READ + T_PROG) +
	   d.s->ftl.erases * 3500000, "time of it");
	eq(d.s->stats.nand_programs, 200 + d.s->ftl.copies, "programs");
	eq(d.s->stats.nand_reads, d.s->ftl.copies, "reads");
	eq(d.s->nand.chip[0].erases, d.s->ftl.erases, "erases");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* Across dies: commands of its own, also when there are none left. */
	for (i = 0; i < 3; i++) {
		c = drive_buffer(4, 16, 1);
		c.ftl.gc = FTL_GC_DEVICE;
		c.sim.sectors = 512 * 8;
		c.fill = 512;
		c.overwrites = 2048;
		c.spare = 2;
		c.gcs = i == 2 ? 3 : i;
		drive_open(&d, &c);
		drive_loop(&d, &l, 32, 2000);
		eq(d.s->ftl.copies > 100, 1, "device, %u commands: it collects",
		   c.gcs);
		eq(drive_rest(&d), 0, "at rest");
		drive_close(&d);
	}
}

static void slc(void)
{
	struct drive_cfg c = drive_buffer(2, 8, 2);
	const u64 in = FW_WRITE + 2433;
	struct sim_rq *f;
	struct drive d;
	unsigned int i;
	u64 t, idle;

	c.sim.slc = 3;			/* programs a die: 6 in all */
	drive_open(&d, &c);
	for (i = 0; i < 9; i++) {
		/* A flush behind each write: the program's own time */
		page_at(&d, i * 300000, SIM_WRITE, i * 2, 2);
		f = flush_at(&d, i * 300000 + 5000);
		drive_until(&d, i * 300000 + 290000);
		eq(f->done, i * 300000 + in + 2 * T_BUS +
		   (i < 6 ? 30000 : T_PROG), "write %u: %s", i,
		   i < 6 ? "into the SLC buffer" : "it is full");
	}
	idle = f->done;
	eq(d.s->slc_all, 6, "six programs in it");
	eq(d.s->stats.slc_programs, 6, "counted");
	drive_until(&d, idle + 999999);
	eq(d.s->folding, 0, "not yet idle for long");
	drive_until(&d, idle + 1000000);
	eq(d.s->folding, 2, "now both dies fold");
	drive_until(&d, idle + 1000000 + 2 * T_READ + T_PROG);
	eq(d.s->stats.slc_folds, 2, "two reads and a program each");
	eq(d.s->folding, 2, "and go on");

	/* A read comes: what folds ends, and no more. */
	t = d.now + 100000;
	f = page_at(&d, t, SIM_READ, 0, 1);
	drive_until(&d, t + 400000);
	eq(f->done, idle + 1000000 + 2 * (2 * T_READ + T_PROG) + T_READ +
	   T_BUS + T_LINK, "a request waits for the fold under way");
	eq(d.s->stats.slc_folds, 4, "which are the last");
	eq(d.s->folding, 0, "for now");
	drive_until(&d, f->done + 999999);
	eq(d.s->folding, 0, "until it is idle again");
	drive_drain(&d);
	eq(d.s->slc_all, 0, "in the end all is folded");
	eq(d.s->stats.slc_folds, 6, "six");
	page_at(&d, d.now, SIM_WRITE, 0, 2);
	t = d.now;
	f = flush_at(&d, d.now + 5000);
	drive_drain(&d);
	eq(f->done, t + in + 2 * T_BUS + 30000, "and writes are fast again");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/* A request that came and went during a fold has stopped it, too. */
	drive_open(&d, &c);
	for (i = 0; i < 4; i++)
		page_at(&d, i * 100000, SIM_WRITE, i * 2, 2);
	idle = 300000 + in;
	f = page_at(&d, idle + 1000000 + 1000, SIM_READ, 900, 1);
	drive_until(&d, idle + 1000000 + 500000);
	eq(f->done, f->arrival + FW_READ + T_LINK, "a read that needs no die");
	eq(d.s->stats.slc_folds, 2, "one fold each has ended");
	eq(d.s->folding, 0, "then the device is not idle for long enough");
	drive_until(&d, f->done + 1000000);
	eq(d.s->folding, 2, "then it is");
	drive_drain(&d);
	eq(d.s->slc_all, 0, "all folded");
	eq(drive_rest(&d), 0, "at rest");
	drive_close(&d);

	/*
	 * Idle for the host, but one die still programs: it folds later, when
	 * the time to look is long past.
	 */
	for (i = 0; i < 2; i++) {
		c = drive_buffer(2, 64, 2);
		c.sim.slc = 8;
		c.sim.slc_idle = i * 1000;
		drive_open(&d, &c);
		page_at(&d, 0, SIM_WRITE, 0, 6);
		drive_drain(&d);
		eq(d.bad, 0, "idle after %u ns: time goes on", i * 1000);
		eq(d.s->slc_all, 0, "all folded");
		eq(drive_rest(&d), 0, "at rest");
		drive_close(&d);
	}
}

/* The same seed is the same run, another is not. */
static void seeds(void)
{
	static const u32 seed[] = { 1, 1, 2 };
	u64 now[3];
	unsigned int i;

	for (i = 0; i < 3; i++) {
		struct drive_cfg c = drive_buffer(4, 16, 2);
		struct load l = { .seed = 1, .op = SIM_WRITE, .sectors = 24 };
		struct drive d;

		c.sim.exponential = true;
		c.sim.seed = seed[i];
		c.fill = 1024;
		drive_open(&d, &c);
		drive_loop(&d, &l, 8, 2000);
		now[i] = d.now;
		eq(drive_rest(&d), 0, "seed %u", seed[i]);
		drive_close(&d);
	}
	eq(now[0], now[1], "the same to the nanosecond");
	eq(now[0] != now[2], 1, "another seed, another time");
}

/* Random drives, random requests */

/* A longer run wants a greater number, and more patience of alarm(). */
#ifndef FUZZ_ROUNDS
#define FUZZ_ROUNDS	1000u
#endif

static u32 one_of(unsigned long long *seed, const u32 *list, unsigned int nr)
{
	return list[tap_rand(seed) % nr];
}
#define pick(...) one_of(&seed, (const u32[]){ __VA_ARGS__ }, \
			 sizeof((const u32[]){ __VA_ARGS__ }) / sizeof(u32))

static struct drive_cfg fuzz_cfg(unsigned long long s)
{
	static const char *const stripes[] = { "CWD", "DWC", "WCD", "DCW" };
	unsigned long long seed = s * 77 + 1;
	struct drive_cfg c = drive_plain(pick(1, 2, 3, 4, 8), pick(1, 2, 3),
					 pick(1, 1, 2));
	u32 luns = c.sim.nand.channels * c.sim.nand.ways * c.sim.nand.dies;
	u32 units;

	c.sim.nand.order = pick(0, 1, 2);
	c.sim.nand.suspend = pick(0, 0, 1, 20000);
	c.sim.nand.ps_per_byte = pick(0, 100, 1250, 25000);
	c.sim.ps_link = pick(0, 297, 3000);
	c.sim.duplex = pick(0, 1);
	c.sim.fw_read = pick(0, 1000, 20000);
	c.sim.fw_write = pick(0, 1000, 10000);
	c.sim.fw_4k = pick(0, 460);
	c.sim.t_read = pick(0, 1, 36000, 36000);
	c.sim.t_prog = pick(0, 1, 185000, 185000);
	c.sim.t_prog_slc = pick(0, 30000);
	c.sim.t_erase = pick(0, 3500000);
	c.sim.exponential = pick(0, 1);
	c.sim.ranges = pick(1, 7, 64);
	c.sim.seed = tap_rand(&seed);
	c.sim.series = pick(1000, 50000, 1000000);
	c.row_len = pick(0, 1, 500);
	c.log_len = pick(0, 1, 50, 5000);
	c.sim.unit = pick(2048, 4096, 16384);
	drive_stripe(&c.ftl.layout, stripes[pick(0, 1, 2, 3)], &c.sim.nand);
	if (pick(0, 1) && !(luns & (luns - 1))) {
		c.ftl.layout.nr_xors = pick(1, 2);
		c.ftl.layout.xor[0] = pick(1, 3, 31);
		c.ftl.layout.xor[1] = pick(2, 5);
	}
	c.ftl.alloc = pick(FTL_STATIC, FTL_DYNAMIC, FTL_DYNAMIC);
	c.ftl.gc = c.ftl.alloc == FTL_STATIC ?
		pick(FTL_GC_NONE, FTL_GC_CHIP) :
		pick(FTL_GC_CHIP, FTL_GC_DEVICE);
	if (c.ftl.alloc == FTL_STATIC)
		c.sim.offset = pick(0, 0, 1, 63);
	c.ftl.whole = pick(0, 1);
	c.ftl.low = pick(0, 1, 2, 5, 1000);
	if (c.ftl.gc != FTL_GC_NONE && pick(0, 1, 1)) {
		if (c.ftl.alloc == FTL_DYNAMIC) {
			c.ftl.per_page = pick(1, 1, 2, 4);
			c.ftl.per_prog = c.ftl.per_page * pick(1, 1, 2, 3);
		}
		c.sim.buffer = c.ftl.per_prog * pick(1, 2, 5, 16) +
			pick(0, 1);
		c.progs = pick(0, 0, 1, 2);
		if (pick(0, 1)) {
			c.sim.slc = pick(1, 4, 1000);
			c.sim.slc_idle = pick(0, 1, 100000, 10000000);
		}
	}
	c.ftl.per_block = c.ftl.per_prog * pick(4, 6, 16);
	c.sim.page = c.sim.unit * c.ftl.per_page;
	units = luns * c.ftl.per_block * pick(1, 3, 8) + pick(0, 1, 5);
	c.sim.sectors = (u64)units * (c.sim.unit / 512) - pick(0, 0, 1, 3);
	c.fill = sim_units(&c.sim) / 4 * pick(0, 2, 4);
	c.overwrites = c.fill * pick(0, 1, 3);
	c.spare = pick(0, 0, 1, 8);
	c.gcs = pick(0, 2, 64);
	c.rewrites = c.fill / 4 * pick(0, 0, 1, 4);
	c.sim.vary = pick(0, 0, 100, 500);
	c.sim.nand.keep = pick(0, 1);
	return c;
}

static void fuzz(void)
{
	u64 requests = 0, gc = 0, hits = 0, suspends = 0, folds = 0, bad = 0;
	unsigned int round;

	for (round = 0; round < FUZZ_ROUNDS; round++) {
		unsigned long long seed = round;
		struct drive_cfg c = fuzz_cfg(round);
		u32 depth = pick(1, 4, 32, 100), nr = pick(100, 300), out = 0;
		u32 gap = pick(1, 1000, 300000), most = pick(1, 8, 64, 256);
		int ret;
		struct drive d;

		drive_open(&d, &c);
		while (d.sent < nr) {
			enum sim_op op = pick(0, 0, 0, 1, 1, 1, 1, 2, 3, 4);
			u32 sectors = 1 + tap_rand(&seed) % most;
			bool fua = op == SIM_WRITE && pick(0, 0, 0, 1);

			if (sectors > c.sim.sectors)
				sectors = (u32)c.sim.sectors;
			if (pick(0, 1) && sectors > 8)
				sectors &= ~7u;
			out = (u32)(d.sent - d.ended);
			if (out >= depth) {
				if (!drive_step(&d))
					break;
				drive_reap(&d);
				continue;
			}
			if (pick(0, 1)) {
				u64 t = d.now + tap_rand(&seed) % gap *
					pick(1, 1, 100);

				drive_until(&d, t);
				drive_reap(&d);
			}
			if (op == SIM_FLUSH)
				drive_send(&d, op, 0, 0);
			else
				drive_send_fua(&d, op, tap_rand(&seed) %
					       (c.sim.sectors - sectors + 1),
					       sectors, fua);
			if (pick(0, 0, 0, 0, 0, 0, 0, 0, 1))
				sim_reset_stats(d.s, d.now);
			bad += d.s->outstanding != d.sent - d.ended;
			bad += d.s->buffered > c.sim.buffer;
		}
		requests += d.ended;
		ret = drive_rest(&d);
		if (ret) {
			printf("# round %u: rule %d\n", round, ret);
			bad++;
		}
		gc += d.s->ftl.erases;
		hits += d.s->stats.buffer_hits;
		suspends += d.s->nand.stats.suspends;
		folds += d.s->stats.slc_folds;
		drive_close(&d);
	}
	eq(bad, 0, "%u random drives, %llu requests: all end, nothing is lost",
	   FUZZ_ROUNDS,
	   (unsigned long long)requests);
	eq(gc > 1000 && hits > 100 && suspends > 100 && folds > 100, 1,
	   "with %llu erases, %llu hits, %llu suspensions, %llu folds",
	   (unsigned long long)gc, (unsigned long long)hits,
	   (unsigned long long)suspends, (unsigned long long)folds);
}

int main(void)
{
	/* What never ends shall not hold everything up. */
	alarm(300);
	one_request();
	parallel();
	link_ways();
	saturation();
	bursts();
	queueing();
	exponential();
	varying();
	commands();
	turns();
	page_register();
	in_order();
	orders();
	suspension();
	conflicts();
	counters();
	log_row();
	buffer();
	flushes();
	in_buffer();
	small_units();
	collection();
	slc();
	seeds();
	fuzz();
	return tap_done();
}
