// SPDX-License-Identifier: GPL-2.0
/*
 * The whole drive: times of single requests to the nanosecond, and of many requests by
 * theory.
 */
#include "flashdrive.h"

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
		/* A read's 8 pages are transferred while a write is received. */
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

		/* The opposite: 8 pages are written before it. */
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
	/* The largest values: nothing overflows. */
	r.state = 1;
	for (sum = 0, i = 0; i < 100000; i++)
		sum += (double)sim_rand_exp(&r, 1ULL << 40);
	near(sum / 100000, (double)(1ULL << 40), 20000, "a mean of 2^40");
	eq(sim_rand_exp(&r, 0), 0, "a mean of 0");
	/* ln of the smallest u, 2^-32 */
	r.state = 0;
	near((double)sim_rand_exp(&r, 65536), 65536 * 22.1807, 100,
	     "the greatest: 32 ln 2 times the mean");
}

/* Array times that vary around the configured ones */
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

/* A drive with firmware time for commands, and @turn for a change of direction. */
static struct drive_cfg drive_commands(u64 turn)
{
	struct drive_cfg c = drive_bare(4, 2, 1);

	c.sim.cmd_read = 4000;
	c.sim.cmd_write = 1000;
	c.sim.fw_read = 16000;
	c.sim.fw_write = 9000;
	c.sim.turn = turn;
	return c;
}

/* The firmware's processor serves one command at a time, in order of arrival. */
static void commands(void)
{
	struct drive_cfg c = drive_commands(0);
	struct sim_rq *rq[4];
	struct drive d;

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

/* Cost of a change from reads to writes and back */
static void turns(void)
{
	struct drive_cfg c = drive_commands(50000);
	struct sim_rq *rq[4];
	struct drive d;

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

/* Cost of a command that does not continue the one before of its direction */
static void jumps(void)
{
	struct drive_cfg c = drive_commands(0);
	struct sim_rq *rq[5];
	struct drive d;

	c.sim.jump = 30000;
	drive_open(&d, &c);
	rq[0] = drive_send(&d, SIM_READ, 8, 8);
	rq[1] = drive_send(&d, SIM_WRITE, 32, 8);
	rq[2] = drive_send(&d, SIM_READ, 16, 8);
	rq[3] = drive_send(&d, SIM_WRITE, 48, 8);
	rq[4] = drive_send(&d, SIM_READ, 16, 8);
	drive_drain(&d);
	eq(rq[0]->done, 4000 + 16000 + 36000, "the first one does not jump");
	eq(rq[1]->done, 5000 + 9000 + 185000, "nor does the first write");
	eq(rq[2]->done, 9000 + 16000 + 36000, "a write between is no jump");
	eq(rq[3]->done, 40000 + 9000 + 185000, "a write elsewhere is one");
	eq(rq[4]->done, 74000 + 16000 + 36000, "so is a read of the same place again");
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

int main(void)
{
	/* A test that hangs must not block the other tests. */
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
	jumps();
	page_register();
	return tap_done();
}
